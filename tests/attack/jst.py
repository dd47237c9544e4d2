"""Ji, Srebro and Telgarsky (2021): Algorithms 1 and 2 of either loss, the baselines, the claims.

Appendix C has everything for a ρ-smooth potential: ρ = 1 for the exponential loss, and ρ = n for
the logistic one. What is reported of g_t, μ_t and ν_t must be what follows from the delivered w.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import count

from .facts import *
from .jst_mirror import APPENDIX_B, divergence

#: θ of Algorithm 2: that of Theorem 4.1 is small, that of the figures one; and one by which w gets
#: so large that rounding decides the weights.
SMALL, GIANT = 0.5, 2.0**45


# The methods


def dual_acceleration(data: Data, rng: Any, logistic: bool = False) -> Iterator[Step]:
    """Algorithm 1 with θ_t = 1, β_t = t/(t+1); rows of A are −z_i.

    With the logistic loss (Section 5.1) the step is that of eq. (C.4): (g_t + Aᵀ∇ψ)/n.
    """
    w = g = zeros(data.dimension)
    for t in count():
        yield Step(w)
        scores = data.scores(w, True)
        pull = data.combine(logistic_weights(scores) if logistic else softmax(scores), True)
        g = fmpq(t, t + 1) * (g + pull)
        w = w + (g + pull) * fmpq(1, data.n if logistic else 1)


def in_doubles(data: Data, rng: np.random.Generator, steps: int) -> np.ndarray:
    """Algorithm 1 by somebody who knows nothing of error bounds: naive sums, in any order."""
    rows = np.array([doubles(data.row(i, True)) for i in range(data.n)])
    order = [int(i) for i in rng.permutation(data.dimension)]
    w = g = [0.0] * data.dimension
    run = [w]
    for t in range(steps):
        scores = [sum(row[j] * w[j] for j in order) for row in rows]
        raw = [float(np.exp(min(scores) - s)) for s in scores]
        q = [v / sum(raw) for v in raw]
        pull = [sum(a * row[j] for a, row in zip(q, rows, strict=True)) for j in range(len(w))]
        g = [t / (t + 1) * (a + b) for a, b in zip(g, pull, strict=True)]
        w = [a + (b + c) for a, b, c in zip(w, g, pull, strict=True)]
        run.append(w)
    return np.array(run)


def mean_weights(scores: Vector, t: int) -> Vector | None:
    """Of gradient descent on the mean exponential loss; None if they are too large."""
    weights = exp(-scores) / len(scores)
    return weights if weights.sum() < 10**6 else None


def sampling(
    theta: float, momentum: bool, unlikely: bool = False
) -> Callable[[Data, Any], Iterator[Step]]:
    """Algorithm 2: i_t ∼ q_t; g_t = β_t (g_{t−1} + a_i); w_{t+1} = w_t + θ (g_t + a_i).

    `unlikely` takes the row of least weight every time.
    """

    def run(data: Data, rng: Any) -> Iterator[Step]:
        w = g = zeros(data.dimension)
        for t in count():
            q = softmax(data.scores(w, True))
            weights = doubles(q)
            rarest = min(range(data.n), key=lambda i, q=q: q[i].mid())
            i = rarest if unlikely else int(rng.choice(data.n, p=weights / weights.sum()))
            yield Step(w, {"i": i, "dual": q})
            row = data.row(i, True)
            g = fmpq(t, t + 1) * momentum * (g + row)
            w = w + arb(theta) * (g + row)

    return run


def cotter(averaged: bool) -> Callable[[Data, Any], Iterator[Step]]:
    """Batch perceptron of Cotter et al.: v_{t+1} = Π(v_t + a_i/√(t+1)), i a row of smallest score.

    w_t is the average of v_1, …, v_t, or v_t.
    """

    def run(data: Data, rng: Any) -> Iterator[Step]:
        v = whole = zeros(data.dimension)
        for t in count():
            scores = data.scores(v, True)
            lowest = [i for i, s in enumerate(scores) if not any(s > other for other in scores)]
            i = int(rng.choice(lowest))
            yield Step(fmpq(1, max(t, 1)) * whole if averaged else v, {"v": v, "i": i})
            v = _projected(data, v + data.row(i, True) / arb(t + 1).sqrt())
            whole = whole + v

    return run


def _projected(data: Data, u: Vector) -> Vector:
    return u / data.norm(u, True).max(arb(1))


def _losses(scores: Vector) -> arb:
    """Σ_i ln(1 + exp(−s_i))."""
    return sum(((-s).exp().log1p() for s in scores), arb(0))


def logistic_weights(scores: Vector) -> Vector:
    """∇ψ by eq. (C.1): ℓ'(−s_i)/ℓ'(ψ), where ℓ'(ℓ⁻¹(L)) = 1 − exp(−L)."""
    return 1 / (1 + exp(scores)) / -(-_losses(scores)).expm1()


class LogisticFacts(Facts):
    """The same for the logistic loss."""

    @property
    def rho(self) -> int:  # type: ignore[override]
        return self.data.n

    @cached_property
    def q(self) -> list[Vector]:
        return [logistic_weights(s) for s in self.scores]

    def psi(self, t: int) -> arb:
        """ℓ⁻¹(Σ ℓ(−s_i)) = ln(exp(Σ …) − 1)."""
        return _losses(self.scores[t]).expm1().log()

    @property
    def start(self) -> arb:
        return (arb(2) ** self.data.n - 1).log()


# What is reported


def momentum_of(f: Facts) -> Extras:
    """Algorithm 1: g_t."""
    return [{"momentum": doubles(g)} for g in f.momentum]


def sequences_of(f: Facts) -> Extras:
    """The dual form: A w_t, q_t, μ_t and ν_t."""
    return [
        {"p": doubles(s), "dual": doubles(q), "mu": doubles(m), "nu": doubles(v)}
        for s, q, m, v in zip(f.scores, f.q, f.mu_weights, f.nu_weights, strict=True)
    ]


def weights_of(f: Facts) -> Extras:
    """Algorithm 2: q_t, beside the rows that were drawn."""
    return [{**extra, "dual": doubles(q)} for extra, q in zip(f.extras, f.q, strict=True)]


def points_of(f: Facts) -> Extras:
    """The batch perceptron that delivers its points: v_t = w_t."""
    return [{**extra, "v": doubles(w)} for extra, w in zip(f.extras, f.w, strict=True)]


def means_of(f: Facts) -> Extras:
    """The points whose averages are delivered: v_t = t w_t − (t − 1) w_{t−1}."""
    later = [{**f.extras[t], "v": doubles(t * f.w[t] - (t - 1) * f.w[t - 1])} for t in f.updates()]
    return [f.extras[0], *later]


def _mass(f: Facts, t: int) -> arb:
    return largest([1, *(q.sum() for q in f.q[: t + 1])])


def _apart(f: Facts, t: int, name: str) -> Side:
    """How far what is reported is from what follows, and how far it may be."""
    values = f.said(t, name)
    if values is None:
        return arb(0), arb(0)
    if values is BAD:
        return arb(1), arb(0)
    own = {"momentum": f.momentum, "mu": f.mu, "nu": f.nu}[name][t]
    vector = values if name == "momentum" else f.combine(values)
    return f.length(vector - own), PART * f.length(own) + FINE * (t + 2) * _mass(f, t)


def in_simplex(f: Facts) -> Iterator[Side]:
    """Where μ_t is reported, it is a distribution."""
    for t in f.updates():
        values = f.said(t, "mu")
        if values is not None:
            yield from ((-v, arb(0)) for v in values)
            yield abs(sum(values, arb(0)) - 1), FINE * (t + f.data.n)


def claiming(truth: Truth, more: Sides | None = None, **names: int) -> Truth:
    """A claim in which each of these, from its t on, is what follows from w where it is reported.

    It is true only if nothing is reported.
    """

    def told(f: Facts) -> Iterator[Side]:
        for name, since in names.items():
            yield from (_apart(f, t, name) for t in range(since, len(f.w)))

    def whole(f: Facts) -> Trit:
        if within(told(f)) is False or (more and within(more(f)) is False):
            return False
        known = truth(f)
        silent = all(extra.get(name) is None for extra in f.extras for name in names)
        return known if silent or known is False else None

    return whole


def momentum_is_a_sum(f: Facts) -> Iterator[Side]:
    """g_t as it is reported, or Aᵀν_t/λ_t − Aᵀq_t, is what follows; something must be reported."""
    for t in range(len(f.w)):
        values = f.said(t, "nu")
        if f.said(t, "momentum") is not None:
            yield _apart(f, t, "momentum")
        elif values is None or values is BAD:
            yield arb(1), arb(0)
        else:
            gap = f.length(f.combine(values) - f.nu[t])
            rounded = FINE * (t + 2) * _mass(f, t)
            yield fmpq(t + 2, 2) * gap, PART * f.length(f.momentum[t]) + rounded


def mu_is_momentum(f: Facts) -> Iterator[Side]:
    """Aᵀμ_t = 2g_t/t, of which one is reported; that is, it is what follows."""
    for t in f.updates():
        name = "mu" if f.said(t, "mu") is not None else "momentum"
        if f.said(t, name) is None:
            yield arb(1), arb(0)
        yield _apart(f, t, name)


# Steps


def primal_step(f: Facts) -> Iterator[Side]:
    """Lemmas 3.4 and C.3: w_{t+1} = w_t + (g_t + Aᵀq_t)/ρ."""
    for t in range(len(f.w) - 1):
        move = (f.momentum[t] + f.pull[t]) * fmpq(1, f.rho)
        yield step_side(f, t, move, sum(f.summed[t], arb(0)) / f.rho)


def _moves(f: Facts, theta: float, momentum: bool) -> Iterator[Side]:
    """Each step of Algorithm 2 is that of the row which is reported to be drawn."""
    g = zeros(f.data.dimension)
    for t in range(len(f.w)):
        row = f.row_said(t)
        if row is None:
            yield arb(1), arb(0)
            return
        g = fmpq(t, t + 1) * momentum * (g + row)
        if t + 1 < len(f.w):
            yield step_side(f, t, arb(theta) * (g + row))


def sampling_step(f: Facts) -> Iterator[Side]:
    """The steps, and that the weights which are reported are the softmax of −A w_t.

    Weights are at most one, so the harness may be wrong about none of them by 1/256; and by less
    where the scores, as they are added up, are known better.
    """
    theta = f.options.get("step", 1.0)
    yield from _moves(f, theta, f.options["momentum"])
    for t, q in enumerate(f.q):
        claimed = f.said(t, "dual")
        if claimed is None or claimed is BAD:
            yield arb(1), arb(0)
            return
        known = 1 + most(f.scores[t]) + (t + 1) ** 2 * arb(theta)
        yield most(claimed - q), PART.min(FINE * (t + 1) * known)


#: With this probability the claim about the draws is false of a right run.
CHANCE = arb(10) ** -9


def draws(f: Facts) -> Iterator[Side]:
    """ln Σ_k Π_{s<t} r_s^k[i_s]/q_s[i_s] ≤ ln(10/δ), where the steps are those of i_s."""
    yield from _moves(f, f.options["step"], False)
    ratios: Any = [arb(1)] * 10
    last, row = [arb(1) / f.data.n] * f.data.n, -1
    for t in f.updates():
        q, i = f.q[t - 1], f.extras[t - 1]["i"]
        ratios = [r * v / q[i] for r, v in zip(ratios, _others(q, last, row, i), strict=True)]
        last, row = q, i
        yield sum(ratios, arb(0)).log(), (10 / CHANCE).log()


def _others(q: Vector, last: Any, row: int, i: int) -> Iterator[arb]:
    """The weight of row i in ten other distributions."""
    for numerator in (0, 5, 9, 11, 15, 20):
        powers = exp(log(q) * numerator / 10)
        yield powers[i] / powers.sum()
    yield q[i] * 9 / 10 + arb(1) / (10 * len(q))
    yield last[i]
    best = max(range(len(q)), key=lambda j: q[j].mid())
    yield (q[i] + int(i == best)) / 2
    yield (q[i] + int(i == row)) / 2


def ascent_step(f: Facts) -> Iterator[Side]:
    """v_t, i and w_t as they are reported: the projected step, the row, the mean."""
    averaged = f.options.get("averaged", True)
    whole, due = zeros(f.data.dimension), None
    for t in range(len(f.w)):
        v, row = f.said(t, "v"), f.row_said(t)
        if v is None and not t:  # judged by w_t alone
            yield arb(0, 1), arb(0)
            return
        if v is None or v is BAD or row is None:
            yield arb(1), arb(0)
            return
        if due is not None:
            # All of v is rounded: of the step it may be off by a part, of v by rounding.
            start, end = due
            rounded = FINE * (_reach(f, start) + _reach(f, v)) + smallest_step(f)
            yield f.length(v - end), PART * f.length(end - start) + (t + 1) * rounded
            whole = whole + v
            mean = fmpq(1, t) * whole if averaged else v
            may = PART * f.length(fmpq(1, t) * v) if averaged else arb(0)
            may += (t + 1) * (FINE * (f.size(t) + _reach(f, mean)) + smallest_step(f))
            yield f.length(f.w[t] - mean), may
        yield from _lowest(f, t, v)
        due = v, _projected(f.data, v + row / arb(t + 1).sqrt())


def _reach(f: Facts, v: Vector) -> arb:
    return f.data.spread(v, True)


def _lowest(f: Facts, t: int, v: Vector) -> Iterator[Side]:
    """No row has a smaller score than that of i, by more than what adding up may do to both."""
    scores, i = f.data.scores(v, True), f.extras[t]["i"]
    norms = [arb(f.data.gram[j, j] / f.data.radius_squared).sqrt() for j in range(f.data.n)]
    for j, s in enumerate(scores):
        yield scores[i] - s, FINE * (t + 1) * (norms[i] + norms[j]) + smallest_step(f)


# Bounds


def each(side: Callable[[Facts, int], Side], since: int = 1) -> Sides:
    """A claim at every t from `since` on."""
    return lambda f: (side(f, t) for t in range(since, len(f.w)))


def at_each(side: Callable[[Facts, int], Side], separable: bool = False, since: int = 1) -> Truth:
    return bound(each(side, since), separable)


def ln(t: int) -> arb:
    return arb(t).log()


def old_rate(f: Facts, t: int, gamma: arb) -> arb:
    """Theorem 3.1(1): γ̄ minus its bound."""
    return gamma - 4 * (1 + f.log_n) * (1 + 2 * ln(t + 1)) / (gamma * (t + 1) ** 2)


def theorem_3_1_2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        top = 4 * f.squared(f.momentum[t]) / t**2
        yield top - 8 * f.log_n / (t + 1) ** 2, f.gamma_squared
        yield arb(f.gamma_squared), top


def gap(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        if f.moved(t):
            least = smallest(f.length(v) for v in f.mu[1 : t + 1])
            yield least - f.margin(t), (f.data.n * largest(f.q[t])).log() / f.norm[t]


def summed(t: int, terms: Any) -> arb:
    """Σ_{j<t} terms[j]/λ_j, with λ_j = 2/(j+2)."""
    return sum((fmpq(j + 2, 2) * terms[j] for j in range(t)), arb(0))


def path(f: Facts, t: int) -> arb:
    """Σ_{j<t} ‖Aᵀν_j‖/(λ_j ρ)."""
    return summed(t, [f.length(v) for v in f.nu]) / f.rho


def _of_mu(f: Facts, t: int) -> arb:
    """‖Aᵀμ_t‖²/λ_{t−1}² + Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²)‖Aᵀμ_j‖²."""
    return fmpq((t + 1) ** 2, 4) * f.mu_squares[t] + sum(f.mu_squares[1:t], arb(0)) / 4


def _of_nu(f: Facts, t: int) -> arb:
    return summed(t, f.nu_squares)


def _of_next(f: Facts, t: int) -> arb:
    """Σ_{j<t} ‖Aᵀμ_{j+1}‖²/λ_j."""
    return summed(t, f.mu_squares[1:])


def equation_3_9(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        middle = _of_nu(f, t) / (2 * path(f, t))
        yield middle * f.norm[t], f.log_n - f.psi(t)
        yield f.gamma / 2, middle


def quarter(f: Facts, since: int = 1) -> tuple[Any, list[Trit]]:
    """γ(w_t) ≥ γ̄/4 for some t ≤ 4√(ln n)/γ̄ (or t ≤ 1)."""
    limit = 4 * f.log_n.sqrt() / f.gamma
    goals = [sign(f.margin(t) - f.gamma / 4, True) for t in range(len(f.w))]
    return limit.max(arb(1)) if since else limit, goals


def multiclass_printed(f: Facts) -> Iterator[Side]:
    """Theorem 5.1 as printed: U_t = −w_t, and everything is √2 as large."""
    top = arb(2).sqrt()
    for t in f.updates():
        if f.moved(t):
            yield old_rate(f, t, top * f.gamma), -top * largest(f.scores[t]) / f.norm[t]


def equation_c10(f: Facts, t: int) -> Side:
    """The step to t."""
    inverse = fmpq(t + 1, 2)
    least = inverse**2 * f.mu_squares[t] - inverse * (inverse - 1) * f.mu_squares[t - 1]
    return (least + inverse * f.nu_squares[t - 1]) / (2 * f.rho), f.psi(t - 1) - f.psi(t)


def lemma_c11(f: Facts) -> Iterator[Side]:
    """The lower bound; the upper one up to a millionth, for it is attained."""
    for t in f.updates():
        yield f.gamma * fmpq(t * (t + 3), 4) / f.rho, f.norm[t]
        yield f.norm[t], path(f, t) + COARSE * (path(f, t) + f.size(t) + t)


def identity_c12(f: Facts, t: int) -> Side:
    """w_t = (Aᵀq_0 − Aᵀq_t + Σ_{j<t} Aᵀμ_{j+1}/λ_j)/ρ."""
    due = (f.pull[0] - f.pull[t] + summed(t, f.mu[1:])) * fmpq(1, f.rho)
    return f.length(f.w[t] - due), COARSE * (f.size(t) + (t + 1) ** 2 * _mass(f, t))


def bounded_length(printed: bool) -> Sides:
    """‖w_t‖ ≤ (‖Aᵀq_0‖ + ‖Aᵀq_t‖ + Σ ‖Aᵀμ_{j+1}‖/λ_j)/ρ ≤ (2 + Σ …)/ρ, the latter if q_t ∈ Δ_n.

    One row attains both up to rounding, so they are false if they are so by a millionth.
    """

    def sides(f: Facts) -> Iterator[Side]:
        for t in f.updates():
            rest = summed(t, [f.length(v) for v in f.mu[1:]])
            ends, rounded = f.length(f.pull[0]) + f.length(f.pull[t]), COARSE * (f.size(t) + t * t)
            yield f.norm[t], (ends + rest) / f.rho + rounded
            if printed or f.rho == 1:
                yield ends, arb(2) + COARSE
            if printed:
                yield f.norm[t], (2 + rest) / f.rho + rounded

    return sides


def lemma_c2(f: Facts) -> Trit:
    """About q̄, of which the harness may have another if there are several."""

    def side(f: Facts, t: int) -> Side:
        right = 4 * f.rho * divergence(f) / (t + 1) ** 2
        return (f.mu_squares[t] - f.gamma_squared) / 2, right

    return at_each(side)(f) if f.data.unique else None


def sum_c12(f: Facts, t: int, start: arb) -> Side:
    return (_of_next(f, t) - _of_mu(f, t)) / (2 * f.rho), 2 * start * ln(t + 1)


def equation_c13(f: Facts, t: int, start: arb) -> Side:
    """Times ‖w_t‖."""
    lost = start * (1 + 2 * ln(t + 1))
    return (_of_next(f, t) + _of_nu(f, t)) / (2 * f.rho) - lost, f.smallest(t)


def half_margin(f: Facts, t: int) -> Side:
    """Proposition 3.7; as printed, from t = 0 on."""
    return f.gamma / 2 - 4 * f.log_n / (f.gamma * (t + 1) ** 2), f.margin(t)


def half_length(f: Facts, t: int) -> Side:
    left = f.gamma / 2 * f.norm[t] - _of_next(f, t) / (2 * f.rho)
    return left, 4 * f.norm[t] / (t + 1) ** 2


def sharp(f: Facts, t: int) -> Side:
    """γ̄ − 4ρψ(0)/(γ̄t(t+3)) ≤ γ(w_t)."""
    return f.gamma - 4 * f.rho * f.start / (f.gamma * t * (t + 3)), f.margin(t)


def mu_printed(f: Facts, t: int) -> Side:
    """Zᵀμ_t = 2q_t/t, for n = d: −Aᵀμ_t on the left."""
    return length(f.mu[t] + fmpq(2, t) * f.q[t]), COARSE * (2 + f.length(f.mu[t]))


def self_certified(f: Facts) -> Iterator[Side]:
    return ((f.gamma - f.margin(t), f.log_n / f.norm[t]) for t in f.updates() if f.moved(t))


# Statement → truth

_LEMMA_3_2 = at_each(
    lambda f, t: ((f.mu_squares[t] - f.gamma_squared) / 2, 4 * f.log_n / (t + 1) ** 2)
)
_LEMMA_3_5 = at_each(lambda f, t: ((_of_mu(f, t) + _of_nu(f, t)) / 2, f.log_n - f.psi(t)))

ALGORITHM_1: dict[str, Truth] = {
    "jst.thm3.1.1": at_each(lambda f, t: (old_rate(f, t, f.gamma), f.margin(t)), True),
    "jst.thm3.1.2": bound(theorem_3_1_2),
    "jst.lem3.2": _LEMMA_3_2,
    "jst.lem3.5": _LEMMA_3_5,
    "jst.lem3.6.lower": at_each(lambda f, t: (f.gamma * fmpq(t * (t + 3), 4), f.norm[t])),
    "jst.lem3.6.upper": equation(
        each(lambda f, t: ((f.norm[t] - path(f, t)).max(arb(0)), path(f, t) + f.size(t) + t))
    ),
    "jst.eq3.8": at_each(lambda f, t: (_of_nu(f, t) / 2, f.log_n - f.psi(t))),
    "jst.eq3.10": at_each(lambda f, t: (f.gamma * (t + 1) ** 2 / 4, f.norm[t]), True),
    "jst.prop3.7.fixed": at_each(half_margin, True),
    "jst.lem3.4.primal": step(primal_step),
    "jst.sec1.quarter.fixed": stop(quarter),
    "gb.sharp": at_each(sharp, True),
    "gb.selfcert": bound(self_certified, True),
    "gb.gap": bound(gap),
}
_LEMMA_C_7 = at_each(
    lambda f, t: ((_of_mu(f, t) + _of_nu(f, t)) / (2 * f.rho), f.psi(0) - f.psi(t))
)
#: Appendix C: of either loss and either form. Its lemmas judge what is reported of μ_t and ν_t.
APPENDIX_C: dict[str, Truth] = {
    "jst.lemC.2": claiming(lemma_c2, mu=1),
    "jst.lemC.3": claiming(step(primal_step), mu=0, nu=0, momentum=0),
    "jst.lemC.7": claiming(_LEMMA_C_7, mu=1, nu=0),
    "jst.eqC.10": claiming(at_each(equation_c10), mu=1, nu=0),
    "jst.lemC.11": claiming(not_true(bound(lemma_c11)), nu=0),
    "jst.lemC.12.identity": claiming(step(each(identity_c12)), mu=1),
    # As printed with ln n, and with ψ(0).
    "jst.lemC.12.sum": claiming(at_each(lambda f, t: sum_c12(f, t, f.log_n)), mu=1),
    "jst.lemC.12.sum.fixed": claiming(at_each(lambda f, t: sum_c12(f, t, f.start)), mu=1),
    "jst.eqC.13": claiming(at_each(lambda f, t: equation_c13(f, t, f.log_n)), mu=1, nu=0),
    "jst.eqC.13.fixed": claiming(at_each(lambda f, t: equation_c13(f, t, f.start)), mu=1, nu=0),
    "jst.appC.length": not_true(bound(bounded_length(True))),
    "jst.appC.length.fixed": not_true(bound(bounded_length(False))),
}
#: Algorithm 1 that reports something beside w, and what is false as it is printed.
REPORTED: dict[str, Truth] = {
    "jst.thm3.1.2": claiming(bound(theorem_3_1_2), momentum=1),
    "jst.lem3.2": claiming(_LEMMA_3_2, in_simplex, mu=1),
    "jst.lem3.4.momentum": step(momentum_is_a_sum),
    "jst.lem3.4.mu.fixed": step(mu_is_momentum),
    "jst.lem3.4.mu": step(each(mu_printed)),
    "jst.lem3.4.primal": step(primal_step),
    "jst.lem3.5": _LEMMA_3_5,
    "jst.eq3.9": bound(equation_3_9, True),
    "jst.prop3.7": at_each(half_margin, True, since=0),
    "jst.prop3.7.charitable": at_each(half_margin, True, since=0),
    "jst.sec1.quarter": stop(partial(quarter, since=0)),
    "jst.sec1.quarter.charitable": stop(partial(quarter, since=0)),
    "jst.thm5.1": not_true(bound(multiclass_printed, True)),
    "jst.appC.half": at_each(half_length, True),
    **APPENDIX_C,
}
_ASCENT = {"gb.jst.cotter.step": step(ascent_step)}


def sampler(theta: float, momentum: bool = False) -> Method:
    """Algorithm 2; with momentum, of the step 1, nothing is claimed of the draws."""
    claims = {"gb.jst.sampling.step": step(sampling_step)}
    claims |= {} if momentum else {"gb.jst.sampling.draws": step(draws)}
    settings = {"momentum": momentum} | ({} if momentum else {"step": theta})
    run = sampling(theta, momentum)
    return Method("adaptive-sampling", run, claims, settings=settings, says=weights_of)


METHODS: dict[str, Method] = {
    "dual_acceleration": Method("dual-acceleration", dual_acceleration, ALGORITHM_1),
    # w_{t+1} = w_t − ∇R(w_t)/R(w_t) for the exponential loss, and w_{t+1} = w_t − ∇R(w_t).
    "normalized_descent": weight_method(
        "normalized-gradient-descent", "gb.jst.ngd.step", lambda scores, t: softmax(scores)
    ),
    "gradient_descent": weight_method("gradient-descent", "gb.jst.gd.step", mean_weights),
    "momentum_said": Method("dual-acceleration", dual_acceleration, REPORTED, says=momentum_of),
    "dual_form": Method(
        "dual-acceleration-dual", dual_acceleration, {**REPORTED, **APPENDIX_B}, says=sequences_of
    ),
    "logistic_acceleration": Method(
        "dual-acceleration",
        partial(dual_acceleration, logistic=True),
        {"jst.sec5.1.rate": at_each(sharp, True), **APPENDIX_C},
        settings={"loss": "logistic"},
        says=momentum_of,
        facts=LogisticFacts,
    ),
    "adaptive_sampling": sampler(SMALL),
    "momentum_sampling": sampler(1.0, momentum=True),
    "giant_sampling": sampler(GIANT),
    "cotter": Method("batch-perceptron-cotter", cotter(True), _ASCENT, says_if_wrong=means_of),
    "cotter_last": Method(
        "batch-perceptron-cotter",
        cotter(False),
        _ASCENT,
        settings={"averaged": False},
        says=points_of,
    ),
}
#: Methods that report something beside w, which may be false.
REPORTING = tuple(METHODS)[3:]
#: What is false as it is printed: of all separable data, of all of several classes (for some U),
#: and of anything.
OF_DATA: dict[str, Truth] = {
    **dict.fromkeys(
        ("jst.sec2.argmax", "jst.sec3.1.align", "jst.lemA.1.vector"),
        lambda f: False if f.separable else None,
    ),
    "jst.sec5.2.risk": lambda f: False if f.data.kind == "multiclass" else None,
    "jst.appE.margin": lambda f: False if f.data.kind == "multiclass" and _lopsided(f) else None,
}


def _lopsided(f: Facts) -> bool:
    """Whether min_i ⟨a_i, U⟩ differs from −max_i ⟨a_i, U⟩ for some row U."""
    return any(min(scores) != -max(scores) for scores in f.data.gram)


def smoothed_margin(f: Facts) -> Trit:
    """Lemma D.1 with δ = 1/2 and ε = 4γ̄ of w_t = 0: Σ_j θ ‖Aᵀq_0‖² + ln n ≤ …"""
    epsilon = arb(round(to_double(4 * f.gamma) * 256)) / 256
    entropy = (32 * f.log_n + 64 * ln(4)) / (f.gamma_squared * epsilon**2)
    steps = entropy.ceil().max((64 / epsilon**2).ceil())
    left = (steps * f.log_n).sqrt() * f.squared(f.pull[0]) + f.log_n
    right = 2 * f.log_n + (8 * ln(4) * f.log_n).sqrt()
    return True if left <= right else False if left > right else None
