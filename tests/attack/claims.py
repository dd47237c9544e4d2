"""What is true of delivered numbers: both sides of every claim in balls of thousands of bits.

Written from the papers, in their order; rows of A are y_i x_i. A claim yields `Side`s; a `False`
among them is a proof that the claim is false, and only certainty about all of them makes it true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from .data import Data
from .methods import add, softmax, times

#: An equation between doubles is false for certain if it is off by so much of what is added.
COARSE = arb(10) ** -6
#: A score of this part of what it is a sum of may be seen on either side of 0.
NEAR = arb(10) ** -12


class Facts:
    """The delivered numbers, and what follows from them."""

    def __init__(self, data: Data, unit: bool, ws: list[list[float]], extras: list[dict[str, Any]]):
        self.data, self.unit, self.extras = data, unit, extras
        self.w = [[arb(v) for v in w] for w in ws]
        self.scores = [data.scores(w, unit) for w in self.w]
        self.norm = [data.norm(w, unit) for w in self.w]
        self.log_n = arb(data.n).log()

    @cached_property
    def gamma_squared(self) -> Any:
        """γ̄² in the convention of the claim; None if it is not known."""
        if self.data.optimum is None:
            return None
        square = self.data.optimum[0]
        return square / self.data.radius_squared if self.unit else square

    @property
    def gamma(self) -> arb:
        return arb(self.gamma_squared).sqrt()

    @property
    def separable(self) -> bool:
        return self.gamma_squared is not None and bool(self.gamma_squared > 0)

    def smallest(self, t: int) -> arb:
        least = self.scores[t][0]
        for s in self.scores[t][1:]:
            least = least.min(s)
        return least

    def margin(self, t: int) -> arb:
        """γ(w_t), which is 0 for w_t = 0."""
        return self.smallest(t) / self.norm[t] if any(v != 0 for v in self.w[t]) else arb(0)

    def psi(self, t: int) -> arb:
        """ln Σ_i exp(−(A w_t)_i)."""
        least = self.smallest(t)
        return sum(((least - s).exp() for s in self.scores[t]), arb(0)).log() - least

    @cached_property
    def q(self) -> list[list[arb]]:
        """The softmax of −A w_t."""
        return [softmax(s) for s in self.scores]

    @cached_property
    def pull(self) -> list[list[arb]]:
        return [self.data.combine(q, self.unit) for q in self.q]

    @cached_property
    def mu(self) -> list[list[arb]]:
        """Aᵀμ_t: μ_0 = q_0, μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}, λ_t = 2/(t+2)."""
        found = [self.pull[0]]
        for t in range(len(self.w) - 1):
            mix = fmpq(2, t + 2)
            found.append(add(times(1 - mix, found[t]), self.pull[t + 1], mix))
        return found

    @cached_property
    def nu(self) -> list[list[arb]]:
        """Aᵀν_t: ν_t = (1 − λ_t) μ_t + λ_t q_t."""
        return [
            add(times(fmpq(t, t + 2), self.mu[t]), self.pull[t], fmpq(2, t + 2))
            for t in range(len(self.w))
        ]

    @cached_property
    def momentum(self) -> list[list[arb]]:
        """g_t = t/(t+1) (g_{t−1} + Aᵀq_t)."""
        found, g = [], [arb(0)] * self.data.dimension
        for t, pull in enumerate(self.pull):
            g = times(fmpq(t, t + 1), add(g, pull))
            found.append(g)
        return found

    def length(self, v: list[arb]) -> arb:
        return self.data.norm(v, self.unit)

    def squared(self, v: list[arb]) -> arb:
        return self.data.square(v, self.unit)

    def updates(self) -> range:
        return range(1, len(self.w))


Side = tuple[Any, Any]
Trit = bool | None


def at_most(sides: Iterator[Side]) -> Trit:
    """Whether left ≤ right for all sides: None if some are too near to tell."""
    known: Trit = True
    for left, right in sides:
        if left > right:
            return False
        if not left <= right:
            known = None
    return known


def equations(sides: Iterator[Side]) -> Trit:
    """For ‖what should be 0‖ and the size of what was added: False if far off, never True."""
    return False if any(gap > COARSE * size for gap, size in sides) else None


def reached(limit: Any, goals: list[Trit]) -> Trit:
    """Whether some goal at t ≤ limit is met, if as many were delivered."""
    known: Trit = False
    for t, goal in enumerate(goals):
        if t > limit:
            return known
        if goal is None or not t <= limit:
            known = None
        elif goal:
            return True
    return None if known is None or len(goals) <= limit else False


# --- Ji, Srebro, Telgarsky 2021: Algorithm 1 ----------------------------------------------------


def theorem_3_1_1(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        rate = 4 * (1 + f.log_n) * (1 + 2 * arb(t + 1).log()) / (f.gamma * (t + 1) ** 2)
        yield f.gamma - rate, f.margin(t)


def theorem_3_1_2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        top = 4 * f.squared(f.momentum[t]) / t**2
        yield top - 8 * f.log_n / (t + 1) ** 2, f.gamma_squared
        yield arb(f.gamma_squared), top


def sharp(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma - 4 * f.log_n / (f.gamma * t * (t + 3)), f.margin(t)


def selfcert(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        if any(v != 0 for v in f.w[t]):
            yield f.gamma - f.margin(t), f.log_n / f.norm[t]


def proposition_3_7(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma / 2 - 4 * f.log_n / (f.gamma * (t + 1) ** 2), f.margin(t)


def lemma_3_2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield (f.squared(f.mu[t]) - f.gamma_squared) / 2, 4 * f.log_n / (t + 1) ** 2


def lemma_3_5(f: Facts) -> Iterator[Side]:
    sums = arb(0)
    for t in f.updates():
        # 1/λ_{t−1} = (t+1)/2
        sums += fmpq(t + 1, 4) * f.squared(f.nu[t - 1])
        if t > 1:
            j = t - 1
            mix = fmpq(2, j + 2)
            factor = fmpq((j + 1) ** 2, 4) - (1 - mix) / mix**2
            sums += factor * f.squared(f.mu[j]) / 2
        yield fmpq((t + 1) ** 2, 8) * f.squared(f.mu[t]) + sums, f.log_n - f.psi(t)


def lemma_3_6_lower(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma * fmpq(t * (t + 3), 4), f.norm[t]


def lemma_3_6_upper(f: Facts) -> Iterator[Side]:
    path = arb(0)
    for t in f.updates():
        path += fmpq(t + 1, 2) * f.length(f.nu[t - 1])
        # Widened by rounding, so that it is false for certain only if it is so by more.
        yield (f.norm[t] - path).max(arb(0)), path + _size(f, t) + t


def equation_3_8(f: Facts) -> Iterator[Side]:
    sums = arb(0)
    for t in f.updates():
        sums += fmpq(t + 1, 4) * f.squared(f.nu[t - 1])
        yield sums, f.log_n - f.psi(t)


def equation_3_10(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma * (t + 1) ** 2 / 4, f.norm[t]


def gap(f: Facts) -> Iterator[Side]:
    least = None
    for t in f.updates():
        length = f.length(f.mu[t])
        least = length if least is None else least.min(length)
        largest = f.q[t][0]
        for v in f.q[t][1:]:
            largest = largest.max(v)
        if any(v != 0 for v in f.w[t]):
            yield least - f.margin(t), (f.data.n * largest).log() / f.norm[t]


def primal_step(f: Facts) -> Iterator[Side]:
    """Lemma 3.4: w_{t+1} = w_t + g_t + Aᵀq_t."""
    yield from _steps(f, [add(g, p) for g, p in zip(f.momentum, f.pull, strict=True)], arb(1))


def descent_step(f: Facts) -> Iterator[Side]:
    yield from _steps(f, f.pull, arb(1))


def _steps(f: Facts, steps: list[list[arb]], unit: arb) -> Iterator[Side]:
    for t in range(len(f.w) - 1):
        off = f.length(add(f.w[t + 1], add(f.w[t], steps[t]), -1))
        # In a kernel's space parts may cancel: what is rounded is each coefficient.
        yield off, unit * (t + 1) + _size(f, t) + _size(f, t + 1)


def _size(f: Facts, t: int) -> arb:
    if f.data.linear:
        return f.norm[t]
    radius = arb(1) if f.unit else arb(f.data.radius_squared).sqrt()
    return sum((abs(v) for v in f.w[t]), arb(0)) * radius


def quarter(f: Facts) -> tuple[Any, list[Trit]]:
    limit = (4 * f.log_n.sqrt() / f.gamma).max(arb(1))
    return limit, [_trit(f.margin(t) - f.gamma / 4, True) for t in range(len(f.w))]


def _trit(value: arb, equal: bool = False) -> Trit:
    if value > 0 or (equal and value >= 0):
        return True
    return False if value < 0 or (not equal and value <= 0) else None


# --- Tyurin 2024 --------------------------------------------------------------------------------


def separated(f: Facts) -> list[Trit]:
    found: list[Trit] = []
    for scores in f.scores:
        signs = [_trit(s) for s in scores]
        found.append(False if False in signs else None if None in signs else True)
    return found


def ratio(f: Facts) -> Any:
    """R²/μ²."""
    return (1 if f.unit else f.data.radius_squared) / f.gamma_squared


def mistakes(f: Facts) -> tuple[Any, list[Trit]]:
    return ratio(f), separated(f)


def batch_bound(f: Facts) -> tuple[Any, list[Trit]]:
    return f.data.n * ratio(f), separated(f)


def our_batch_bound(f: Facts) -> tuple[Any, list[Trit]]:
    n = f.data.n
    return ratio(f) * fmpq((n + 1) ** 2, 4 * n), separated(f)


def theorem_6_1(f: Facts) -> tuple[Any, list[Trit]]:
    extra = 2 * arb(2 * f.data.n - 1).log() / arb(f.gamma_squared)
    return ratio(f) + extra, separated(f)


def _radius(f: Facts) -> arb:
    return arb(f.data.radius_squared).sqrt()


def _sides(f: Facts, t: int) -> list[Trit]:
    """Whether scores are positive; None where rounding may show a solver either side.

    Doubles compute small whole numbers without rounding, and anything at w = 0.
    """
    exact = f.data.whole and all(v.is_integer() and abs(v) < 2**20 for v in f.w[t])
    if exact or all(v == 0 for v in f.w[t]):
        return [_trit(s) for s in f.scores[t]]
    near = NEAR * _radius(f) * _size(f, t)
    return [_trit(s) if abs(s) > near else None for s in f.scores[t]]


def _rows(f: Facts, t: int, first: Any, normalised: bool) -> list[arb] | None:
    """The step of a batch perceptron; None if the side of a row is not known."""
    signs = _sides(f, t)
    if None in signs:
        return None
    wrong = [i for i, s in enumerate(signs) if not s]
    if t == 0 and first is not None:
        q: list[Any] = [first] * f.data.n
    elif not wrong:
        return None
    else:
        q = [fmpq(int(i in wrong), len(wrong) if normalised else f.data.n) for i in range(f.data.n)]
    return f.data.combine(q, False)


def batch_step(f: Facts) -> Iterator[Side]:
    yield from _known_steps(f, lambda t: _rows(f, t, fmpq(1, 2 * f.data.n), False))


def normalized_batch_step(f: Facts) -> Iterator[Side]:
    yield from _known_steps(f, lambda t: _rows(f, t, None, True))


def _known_steps(f: Facts, step: Callable[[int], Any]) -> Iterator[Side]:
    if any(v != 0 for v in f.w[0]):
        yield arb(1), arb(0)
    for t in range(len(f.w) - 1):
        known = step(t)
        if known is not None and "halt" not in f.extras[t]:
            off = f.length(add(f.w[t + 1], add(f.w[t], known), -1))
            yield off, _radius(f) * (t + 1) + _size(f, t) + _size(f, t + 1) + _least(f)


def _least(f: Facts) -> arb:
    """What a subnormal number may be off by, a million times."""
    return arb(2) ** -1074 * 10**9 * (1 + (0 if f.data.linear else _radius(f)))


def row_step(f: Facts) -> Iterator[Side]:
    """The step is one of the rows whose score is not positive."""
    for t in range(len(f.w) - 1):
        signs = _sides(f, t)
        if all(s is not False for s in signs):  # it may have ended
            continue
        best = None
        for i in (i for i, s in enumerate(signs) if not s):
            row = f.data.combine([int(i == j) for j in range(f.data.n)], False)
            off = f.length(add(f.w[t + 1], add(f.w[t], row), -1))
            best = off if best is None else best.min(off)
        yield best, _radius(f) * (t + 1) + _size(f, t) + _size(f, t + 1) + _least(f)


def logistic_step(f: Facts) -> Iterator[Side]:
    yield from _known_steps(f, lambda t: f.data.combine(_weights(f, t, False), False))


def normalized_logistic_step(f: Facts) -> Iterator[Side]:
    yield from _known_steps(f, lambda t: f.data.combine(_weights(f, t, True), False))


def _weights(f: Facts, t: int, normalised: bool) -> list[arb]:
    raw = [1 / (1 + s.exp()) for s in f.scores[t]]
    total = sum(raw, arb(0)) if normalised else f.data.n
    return [v / total for v in raw]


# --- Ramdas, Peña 2015: SNKP --------------------------------------------------------------------


def _temperature(k: int) -> fmpq:
    return fmpq(4, (k + 1) * (k + 2))


def _smoothing(f: Facts, k: int) -> arb:
    """max_p −⟨α, p⟩ − μ d(p) = μ ln(Σ exp(−s_i/μ)/n)."""
    mu, least = _temperature(k), f.smallest(k)
    total = sum((((least - s) / mu).exp() for s in f.scores[k]), arb(0))
    return mu * (total.log() - f.log_n) - least


def lemma_4(f: Facts) -> Iterator[Side]:
    """L_μ ≥ L − μ log n, without the ½‖w‖² that both have."""
    for k in range(len(f.w)):
        yield -f.smallest(k) - _temperature(k) * f.log_n, _smoothing(f, k)


def lemma_5(f: Facts) -> Iterator[Side]:
    for k, extra in enumerate(f.extras):
        p = f.data.combine([arb(v) for v in extra["p"]], f.unit)
        yield f.squared(f.w[k]) / 2 + _smoothing(f, k) + f.squared(p) / 2, arb(0)


def any_data(f: Facts) -> Iterator[Side]:
    for k, extra in enumerate(f.extras):
        if separated(f)[k] is not False:
            return
        p = f.data.combine([arb(v) for v in extra["p"]], f.unit)
        yield f.length(p), (2 * _temperature(k) * f.log_n).sqrt()


def theorem_1(f: Facts) -> tuple[Any, list[Trit]]:
    return 2 * (2 * f.log_n).sqrt() / f.gamma, separated(f)


Judge = Callable[[Facts], Trit]


def of_claims(sides: Callable[[Facts], Iterator[Side]]) -> Judge:
    """The same where something is said beside w, which may be a lie: false or not known."""
    return lambda f: False if at_most(sides(f)) is False else None


def bound(sides: Callable[[Facts], Iterator[Side]], separable: bool = False) -> Judge:
    """A claim about every iterate; on separable data only, if so."""

    def judge(f: Facts) -> Trit:
        if f.gamma_squared is None or (separable and not f.separable):
            return None
        return at_most(sides(f))

    return judge


def equation(sides: Callable[[Facts], Iterator[Side]]) -> Judge:
    """A claim that doubles meet up to rounding only."""
    return lambda f: equations(sides(f))


def stop(goal: Callable[[Facts], tuple[Any, list[Trit]]]) -> Judge:
    """A claim about how soon a goal is reached, on separable data."""
    return lambda f: reached(*goal(f)) if f.separable else None


#: What is asked about the run of a method, and how its truth is found.
CLAIMS: dict[str, dict[str, Judge]] = {
    "dual_acceleration": {
        "jst.thm3.1.1": bound(theorem_3_1_1, True),
        "jst.thm3.1.2": bound(theorem_3_1_2),
        "jst.lem3.2": bound(lemma_3_2),
        "jst.lem3.5": bound(lemma_3_5),
        "jst.lem3.6.lower": bound(lemma_3_6_lower),
        "jst.lem3.6.upper": equation(lemma_3_6_upper),
        "jst.eq3.8": bound(equation_3_8),
        "jst.eq3.10": bound(equation_3_10, True),
        "jst.prop3.7.fixed": bound(proposition_3_7, True),
        "jst.lem3.4.primal": equation(primal_step),
        "jst.sec1.quarter.fixed": stop(quarter),
        "gb.sharp": bound(sharp, True),
        "gb.selfcert": bound(selfcert, True),
        "gb.gap": bound(gap),
    },
    "normalized_descent": {"gb.jst.ngd.step": equation(descent_step)},
    "perceptron": {
        "tyurin.thm5.2": stop(mistakes),
        "rp.perceptron": stop(mistakes),
        "gb.tyurin.perceptron.step": equation(row_step),
    },
    "batch_perceptron": {
        "tyurin.thm3.3": stop(batch_bound),
        "gb.batch": stop(our_batch_bound),
        "gb.tyurin.batch-perceptron.step": equation(batch_step),
    },
    "normalized_batch_perceptron": {
        "tyurin.thm5.3": stop(mistakes),
        "gb.tyurin.normalized-batch-perceptron.step": equation(normalized_batch_step),
    },
    "logistic_descent": {"gb.tyurin.lr-gd.step": equation(logistic_step)},
    "normalized_logistic_descent": {
        "tyurin.thm6.1": stop(theorem_6_1),
        "gb.tyurin.normalized-lr-gd.step": equation(normalized_logistic_step),
    },
    "kernel_perceptron": {"rp.nkp": stop(mistakes)},
    "smoothed_perceptron": {
        "rp.lem4": bound(lemma_4),
        "rp.lem5": of_claims(lemma_5),
        "rp.thm1": stop(theorem_1),
        "gb.snkp.any": of_claims(any_data),
    },
}
#: Claims about one step. Where a score is 0 up to rounding, exactness would ask for another row.
STEPS = tuple(name for claims in CLAIMS.values() for name in claims if name.endswith(".step"))
#: Methods of papers that assume rows of norm at most one.
UNIT = ("dual_acceleration", "normalized_descent", "kernel_perceptron", "smoothed_perceptron")
