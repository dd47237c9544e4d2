"""Ji, Srebro and Telgarsky (2021), Algorithm 1 of either loss, with claims beside w.

Appendix C has everything for a ρ-smooth potential: ρ = 1 for the exponential loss, and ρ = n for
the logistic one. What is said of g_t, μ_t and ν_t must be what follows from the w that are
delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from .data import Data
from .facts import (
    COARSE,
    PART,
    ROUNDED,
    Facts,
    Judge,
    Side,
    Trit,
    bound,
    size,
    step_side,
    within,
)
from .methods import Step, add, dual_acceleration, times, zero
from .said import BAD, said


def momentum_said(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 1, which says g_t."""
    yield from dual_acceleration(data, rng)


def dual_form(data: Data, rng: Any) -> Iterator[Step]:
    """The same in dual variables: it says A w_t, q_t, μ_t and ν_t."""
    yield from dual_acceleration(data, rng)


def logistic_acceleration(data: Data, rng: Any) -> Iterator[Step]:
    """Section 5.1 with the step of eq. (C.4): w_{t+1} = w_t + (g_t + Aᵀ∇ψ)/n."""
    w = g = zero(data)
    t = 0
    while True:
        yield Step(w)
        pull = data.combine(logistic_weights(data.scores(w, True)), True)
        g = times(fmpq(t, t + 1), add(g, pull))
        w = add(w, times(fmpq(1, data.n), add(g, pull)))
        t += 1


def _losses(scores: list[arb]) -> arb:
    """Σ_i ln(1 + exp(−s_i))."""
    return sum(((-s).exp().log1p() for s in scores), arb(0))


def logistic_weights(scores: list[arb]) -> list[arb]:
    """∇ψ by eq. (C.1): ℓ'(−s_i)/ℓ'(ψ), where ℓ'(ℓ⁻¹(L)) = 1 − exp(−L)."""
    below = -(-_losses(scores)).expm1()
    return [1 / (1 + s.exp()) / below for s in scores]


class LogisticFacts(Facts):
    """The same for the logistic loss."""

    @property
    def rho(self) -> int:
        return self.data.n

    @cached_property
    def q(self) -> list[list[arb]]:
        return [logistic_weights(s) for s in self.scores]

    def psi(self, t: int) -> arb:
        """ℓ⁻¹(Σ ℓ(−s_i)) = ln(exp(Σ …) − 1)."""
        return _losses(self.scores[t]).expm1().log()

    @property
    def start(self) -> arb:
        return (arb(2) ** self.data.n - 1).log()


# What is said, against what follows from w


def _mass(f: Facts, t: int) -> arb:
    most = arb(1)
    for q in f.q[: t + 1]:
        most = most.max(sum(q, arb(0)))
    return most


def _apart(f: Facts, t: int, name: str) -> Side:
    """How far what is said is from what follows, and how far it may be."""
    values = said(f, t, name)
    if values is None:
        return arb(0), arb(0)
    if values is BAD:
        return arb(1), arb(0)
    own = {"momentum": f.momentum, "mu": f.mu, "nu": f.nu}[name][t]
    vector = values if name == "momentum" else f.data.combine(values, f.unit)
    rounded = ROUNDED * (t + 2) * _mass(f, t)
    return f.length(add(vector, own, -1)), PART * f.length(own) + rounded


def told(f: Facts, names: dict[str, int]) -> Iterator[Side]:
    """What is said of each, from the t on that goes with it."""
    for name, since in names.items():
        for t in range(since, len(f.w)):
            yield _apart(f, t, name)


def in_simplex(f: Facts) -> Iterator[Side]:
    """Where μ_t is said, it is a distribution."""
    for t in f.updates():
        values = said(f, t, "mu")
        if values is None:
            continue
        for v in values:
            yield -v, arb(0)
        yield abs(sum(values, arb(0)) - 1), ROUNDED * (t + f.data.n)


def claiming(
    judge: Judge, more: Callable[[Facts], Iterator[Side]] | None = None, **names: int
) -> Judge:
    """A claim in which each of these, from its t on, is what follows from w where it is said.

    It is true only if nothing is said.
    """

    def whole(f: Facts) -> Trit:
        if within(told(f, names)) is False or (more and within(more(f)) is False):
            return False
        known = judge(f)
        silent = all(extra.get(name) is None for extra in f.extras for name in names)
        return known if silent or known is False else None

    return whole


def momentum_is_a_sum(f: Facts) -> Iterator[Side]:
    """g_t as it is said, or Aᵀν_t/λ_t − Aᵀq_t, is what follows; something must be said."""
    for t in range(len(f.w)):
        values = said(f, t, "momentum")
        if values is not None:
            yield _apart(f, t, "momentum")
            continue
        values = said(f, t, "nu")
        if values is None or values is BAD:
            yield arb(1), arb(0)
            continue
        gap = add(f.data.combine(values, f.unit), f.nu[t], -1)
        rounded = ROUNDED * (t + 2) * _mass(f, t)
        yield fmpq(t + 2, 2) * f.length(gap), PART * f.length(f.momentum[t]) + rounded


def mu_is_momentum(f: Facts) -> Iterator[Side]:
    """Aᵀμ_t = 2g_t/t, of which one is said; that is, it is what follows."""
    for t in f.updates():
        name = "mu" if said(f, t, "mu") is not None else "momentum"
        if said(f, t, name) is None:
            yield arb(1), arb(0)
        yield _apart(f, t, name)


# Appendix C


def gap_of(f: Facts) -> arb:
    """D(q̄, q_0) = Σ q̄_i ln q̄_i + ψ(0): on the simplex ψ* is the entropy for either loss."""
    assert f.data.optimum is not None
    entropy = [arb(v) * arb(v).log() for v in f.data.optimum[1] if v != 0]
    return sum(entropy, arb(0)) + f.start


def lemma_c2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        left = (f.mu_squares[t] - f.gamma_squared) / 2
        yield left, 4 * f.rho * gap_of(f) / (t + 1) ** 2


def step_c3(f: Facts) -> Iterator[Side]:
    """w_{t+1} = w_t + (g_t + Aᵀq_t)/ρ."""
    for t in range(len(f.w) - 1):
        step = times(fmpq(1, f.rho), add(f.momentum[t], f.pull[t]))
        yield step_side(f, t, step, sum(f.summed[t], arb(0)) / f.rho)


def _of_mu(f: Facts, t: int) -> arb:
    """‖Aᵀμ_t‖²/λ_{t−1}² + Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²)‖Aᵀμ_j‖²."""
    total = fmpq((t + 1) ** 2, 4) * f.mu_squares[t]
    for j in range(1, t):
        total += (fmpq((j + 1) ** 2, 4) - fmpq(j * (j + 2), 4)) * f.mu_squares[j]
    return total


def _of_nu(f: Facts, t: int) -> arb:
    """Σ_{j<t} ‖Aᵀν_j‖²/λ_j."""
    return sum((fmpq(j + 2, 2) * f.nu_squares[j] for j in range(t)), arb(0))


def _of_next(f: Facts, t: int) -> arb:
    """Σ_{j<t} ‖Aᵀμ_{j+1}‖²/λ_j."""
    return sum((fmpq(j + 2, 2) * f.mu_squares[j + 1] for j in range(t)), arb(0))


def lemma_c7(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield (_of_mu(f, t) + _of_nu(f, t)) / (2 * f.rho), f.psi(0) - f.psi(t)


def equation_c10(f: Facts) -> Iterator[Side]:
    for t in range(len(f.w) - 1):
        inverse = fmpq(t + 2, 2)
        least = inverse**2 * f.mu_squares[t + 1] - inverse * (inverse - 1) * f.mu_squares[t]
        yield (least + inverse * f.nu_squares[t]) / (2 * f.rho), f.psi(t) - f.psi(t + 1)


def lemma_c11(f: Facts) -> Iterator[Side]:
    """The lower bound; the upper one up to a millionth, for it is attained."""
    path = arb(0)
    for t in f.updates():
        yield f.gamma * fmpq(t * (t + 3), 4) / f.rho, f.norm[t]
        path += fmpq(t + 1, 2) * f.length(f.nu[t - 1]) / f.rho
        yield f.norm[t], path + COARSE * (path + size(f, t) + t)


def identity_c12(f: Facts) -> Iterator[Side]:
    """w_t = (Aᵀq_0 − Aᵀq_t + Σ_{j<t} Aᵀμ_{j+1}/λ_j)/ρ."""
    total = zero(f.data)
    for t in f.updates():
        total = add(total, f.mu[t], fmpq(t + 1, 2))
        ends = add(f.pull[0], f.pull[t], -1)
        off = f.length(add(f.w[t], times(fmpq(1, f.rho), add(ends, total)), -1))
        yield off, COARSE * (size(f, t) + (t + 1) ** 2 * _mass(f, t))


def sum_c12(of_start: bool) -> Callable[[Facts], Iterator[Side]]:
    """With ψ(0), or with ln n as it is printed."""

    def sides(f: Facts) -> Iterator[Side]:
        for t in f.updates():
            lost = 2 * (f.start if of_start else f.log_n) * arb(t + 1).log()
            yield (_of_next(f, t) - _of_mu(f, t)) / (2 * f.rho), lost

    return sides


def equation_c13(of_start: bool) -> Callable[[Facts], Iterator[Side]]:
    """Times ‖w_t‖, with ψ(0) or with ln n."""

    def sides(f: Facts) -> Iterator[Side]:
        for t in f.updates():
            lost = (f.start if of_start else f.log_n) * (1 + 2 * arb(t + 1).log())
            yield (_of_next(f, t) + _of_nu(f, t)) / (2 * f.rho) - lost, f.smallest(t)

    return sides


def _lengths(f: Facts, t: int) -> arb:
    return sum((fmpq(j + 2, 2) * f.length(f.mu[j + 1]) for j in range(t)), arb(0))


def length(printed: bool) -> Callable[[Facts], Iterator[Side]]:
    """‖w_t‖ ≤ (‖Aᵀq_0‖ + ‖Aᵀq_t‖ + Σ ‖Aᵀμ_{j+1}‖/λ_j)/ρ ≤ (2 + Σ …)/ρ, the latter if q_t ∈ Δ_n.

    One row attains both up to rounding, so they are false if they are so by a millionth.
    """

    def sides(f: Facts) -> Iterator[Side]:
        for t in f.updates():
            rest, ends = _lengths(f, t), f.length(f.pull[0]) + f.length(f.pull[t])
            yield f.norm[t], (ends + rest) / f.rho + COARSE * (size(f, t) + t * t)
            if printed or f.rho == 1:
                yield ends, arb(2) + COARSE
            if printed:
                yield f.norm[t], (2 + rest) / f.rho + COARSE * (size(f, t) + t * t)

    return sides


def half(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        missing = f.gamma / 2 * f.norm[t] - _of_next(f, t) / (2 * f.rho)
        yield missing, 4 * f.norm[t] / (t + 1) ** 2


def equation_3_9(f: Facts) -> Iterator[Side]:
    path = arb(0)
    for t in f.updates():
        path += fmpq(t + 1, 2) * f.length(f.nu[t - 1])
        middle = _of_nu(f, t) / (2 * path)
        yield middle * f.norm[t], f.log_n - f.psi(t)
        yield f.gamma / 2, middle


def logistic_rate(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma - 4 * f.rho * f.start / (f.gamma * t * (t + 3)), f.margin(t)


def half_margin(f: Facts) -> Iterator[Side]:
    """Proposition 3.7 as printed: from t = 0 on."""
    for t in range(len(f.w)):
        yield f.gamma / 2 - 4 * f.log_n / (f.gamma * (t + 1) ** 2), f.margin(t)


def quarter_printed(f: Facts) -> tuple[Any, list[Trit]]:
    from .jst import quarter

    return 4 * f.log_n.sqrt() / f.gamma, quarter(f)[1]


def mu_is_weights(f: Facts) -> Iterator[Side]:
    """Zᵀμ_t = 2q_t/t as printed, for n = d: −Aᵀμ_t on the left."""
    for t in f.updates():
        gap = add(f.mu[t], f.q[t], fmpq(2, t))
        off = sum((v * v for v in gap), arb(0)).sqrt()
        yield off, COARSE * (2 + f.length(f.mu[t]))


def multiclass_printed(f: Facts) -> Iterator[Side]:
    """Theorem 5.1 as printed: U_t = −w_t, and everything is √2 as large."""
    top = arb(2).sqrt()
    for t in f.updates():
        if not any(v != 0 for v in f.w[t]):
            continue
        most = f.scores[t][0]
        for s in f.scores[t][1:]:
            most = most.max(s)
        rate = 4 * (1 + f.log_n) * (1 + 2 * arb(t + 1).log()) / (top * f.gamma * (t + 1) ** 2)
        yield top * f.gamma - rate, -top * most / f.norm[t]


def not_false(sides: Callable[[Facts], Iterator[Side]], separable: bool = False) -> Judge:
    """A bound that is widened by rounding: false if it is so by more, and never true."""
    judge = bound(sides, separable)
    return lambda f: False if judge(f) is False else None


def of_one_optimum(judge: Judge) -> Judge:
    """A claim about q̄, of which a court may have another if there are several."""
    return lambda f: judge(f) if f.data.unique else None


#: Appendix C: of either loss and either form. Its lemmas judge what is said of μ_t and ν_t.
APPENDIX_C: dict[str, Judge] = {
    "jst.lemC.2": claiming(of_one_optimum(bound(lemma_c2)), mu=1),
    "jst.lemC.3": claiming(lambda f: within(step_c3(f)), mu=0, nu=0, momentum=0),
    "jst.lemC.7": claiming(bound(lemma_c7), mu=1, nu=0),
    "jst.eqC.10": claiming(bound(equation_c10), mu=1, nu=0),
    "jst.lemC.11": claiming(not_false(lemma_c11), nu=0),
    "jst.lemC.12.identity": claiming(lambda f: within(identity_c12(f)), mu=1),
    "jst.lemC.12.sum": claiming(bound(sum_c12(False)), mu=1),
    "jst.lemC.12.sum.fixed": claiming(bound(sum_c12(True)), mu=1),
    "jst.eqC.13": claiming(bound(equation_c13(False)), mu=1, nu=0),
    "jst.eqC.13.fixed": claiming(bound(equation_c13(True)), mu=1, nu=0),
    "jst.appC.length": not_false(length(True)),
    "jst.appC.length.fixed": not_false(length(False)),
}
