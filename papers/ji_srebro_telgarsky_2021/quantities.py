"""Quantities and assumptions that several sections share.

Rows of A are y_i x_i and the paper's Z is −A: Aᵀq_t, Aᵀμ_t, Aᵀν_t and the momentum of a solver are
minus the paper's Zᵀq_t, Zᵀμ_t, Zᵀν_t and g_t, and equations are checked with both sides negated.
λ_t, θ_t, ρ and the loss are those that the solver says it uses (its options ``mixing``, ``step``,
``smoothness`` and ``loss``); a solver without such an option is taken for Algorithm 1 of
Theorem 3.1. Nothing here is shared with the solvers.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from numbers import Rational, Real
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.algorithms import (
    potential as potential,
    potential_gradient as potential_gradient,
)
from gammabar.problems import KernelProblem

#: One row, a_1 = 1: everything is known by hand.
ONE_ROW = "degenerate:kind=simplex,n=1,d=1"
NO_MOMENTUM = "dual-acceleration/no-momentum"
PLAIN_AVERAGE = "dual-acceleration/plain-average"
LAMBDAS = "λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½"
LAMBDAS_3 = LAMBDAS + ", ½"
ALGORITHM_1, DUAL_FORM = "dual-acceleration", "dual-acceleration-dual"


# Options of the solver


def loss_of(case: Case) -> str:
    """ "exponential" or "logistic"."""
    return str(getattr(case.solver, "loss", "exponential"))


@cache
def _recursive(t: int) -> float:
    """The double that comes of λ²_{t+1} = (1 − λ_{t+1}) λ²_t, λ_0 = 1."""
    if t == 0:
        return 1.0
    square = _recursive(t - 1) ** 2
    return (math.sqrt(square**2 + 4 * square) - square) / 2


#: λ_t by the names that the dual form has for them; but for the first, each is the double it is.
_NAMED: dict[str, Callable[[int], Any]] = {
    "accelerated": lru_cache(maxsize=16)(lambda t: Fraction(2, t + 2)),
    "slower": lambda t: 3 / (t + 3),
    "recursive": _recursive,
    "halved": lambda t: 0.5 if t else 1.0,
}


def mixing(case: Case, t: int) -> Fraction:
    """λ_t, exactly."""
    value = getattr(case.solver, "mixing", "accelerated")
    return _exact(_NAMED.get(value, value) if isinstance(value, str) else value, t)


def step(case: Case, t: int) -> Fraction:
    """θ_t, exactly."""
    return _exact(getattr(case.solver, "step", 1.0), t)


_of_double = lru_cache(maxsize=64)(Fraction)


def _exact(value: Any, t: int) -> Fraction:
    """A number, or what a schedule says at t; of any type of floats."""
    try:
        found = value(t) if callable(value) else value
        if isinstance(found, Fraction):
            return found
        return Fraction(found) if isinstance(found, Rational) else _of_double(float(found))
    except Exception:
        what = "what it calls step" if callable(value) else repr(value)
        raise Unclaimed(f"θ_t is not known: {what} is no finite number") from None


def smoothness(case: Case) -> Fraction:
    """ρ: what the solver divides its steps by, by default the smoothness of its loss."""
    value = getattr(case.solver, "smoothness", None)
    return Fraction(_proved_smoothness(case) if value is None else value)


def _proved_smoothness(case: Case) -> int:
    return case.n if loss_of(case) == "logistic" else 1


def rho(case: Case) -> Number:
    """ρ as a ball."""
    return case.once("ρ", lambda: number(smoothness(case)))


# Assumptions

exponential = option("loss", "exponential")
unit_smoothness = option("smoothness", None, 1)


def logistic(case: Case) -> str | None:
    """The loss is the logistic one."""
    return None if loss_of(case) == "logistic" else "the solver's loss is not the logistic one"


def full_step(case: Case) -> str | None:
    """θ_t = 1 for all t."""
    value = getattr(case.solver, "step", 1)
    one = isinstance(value, Real) and value == 1
    return None if one else f"the solver's step is {value!r}, not 1"


def proper_step(case: Case) -> str | None:
    """θ_t ∈ (0, 1]; of a schedule the first one."""
    first = step(case, 0)
    return None if 0 < first <= 1 else f"the solver's step {float(first)!r} is not in (0, 1]"


def accelerated(case: Case) -> str | None:
    """λ_t = 2/(t + 2), or what is the same, β_t = t/(t + 1)."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value == "accelerated" else f"the solver's λ_t is {value!r}, not 2/(t + 2)"


def starts_at_one(case: Case) -> str | None:
    """λ_0 = 1."""
    first = mixing(case, 0)
    return None if first == 1 else f"the solver's λ_0 is {float(first)!r}, not 1"


def smooth(case: Case) -> str | None:
    """ψ is ρ-smooth."""
    if smoothness(case) >= _proved_smoothness(case):
        return None
    return "ψ is not known to be ρ-smooth for the ρ of the solver"


def unit_ball(case: Case) -> str | None:
    """Rows have norm at most one."""
    return None if case.unit or case.radius <= 1 else "some row has a norm above 1"


def exact_dual(case: Case) -> str | None:
    """q̄ is known, and not only approximately."""
    if case.truth.note:  # the Gordan vector of normalised rows is that of the plain ones
        return f"q̄ is not known: {case.truth.note}"
    return None if case.truth.exact else "q̄ is only known approximately"


def rational(case: Case) -> str | None:
    """Inner products of rows are rational numbers, so that optima are exact."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem) and not has_exact_kernel(problem):
        return "the kernel has values that are no rational numbers"
    return None


def exact_and_separable(case: Case) -> str | None:
    """The data are separable, and inner products of rows are rational; or it brings its own."""
    return None if case.given is None else separable(case) or rational(case)


# The potential ψ of eq. (2.1)


def balls(values: Any) -> NDArray[Any]:
    """Numbers as an array of balls."""
    found = np.array(values, dtype=object)
    return np.array([number(v) for v in found.flat], dtype=object).reshape(found.shape)


def entropy(q: Iterable[Any]) -> Number:
    """Σ q_i ln q_i = ψ*(q) for q ∈ Δ_n, for either loss.

    For the logistic loss: ψ is at least ln-sum-exp, and ψ(ξ − s) − lnsumexp(ξ − s) → 0 as s → ∞
    while ⟨ξ − s, q⟩ + s stays the same, so the two conjugates agree where Σ q_i = 1.
    """
    values = [number(v) for v in q if v]
    return total(v * v.log() for v in values)


def start_potential(case: Case) -> Number:
    """ψ(0): ln n, or ln(2ⁿ − 1) for the logistic loss."""
    return case.log_n if loss_of(case) == "exponential" else log(arb(2) ** case.n - 1)


def distance_from_start(case: Case) -> Number:
    """D_{ψ*}(q̄, q_0) = ψ*(q̄) + ψ(0) − ⟨0, q̄⟩, since q_0 = ∇ψ(0)."""
    support = (Fraction(v, case.truth.total) for v in case.truth.numerators)  # rows may be many
    return case.once("D(q̄, q_0)", lambda: entropy(support) + start_potential(case))


def _logistic(it: View, case: Case) -> Logistic:
    return Logistic.of(it)


def psi_of(it: View) -> Number:
    """ψ(Zw_t) for the loss of the solver."""
    if loss_of(it.case) == "exponential":
        return it.psi
    if it.level:
        return potential([-s for s in it.scores], "logistic")
    return it.once(_logistic).psi


# The sequences of Section 3.2


@dataclass(slots=True)  # not frozen: that costs microseconds, at every iterate
class _At:
    """The sequences at one t: w_t, Aᵀq_t, Aᵀμ_t, Aᵀν_t; `inverse` is 1/λ_t, `rest` is 1 − λ_t."""

    it: View
    pull: Vec
    mu: Vec
    nu: Vec
    inverse: Number
    mu_square: Number
    nu_norm: Number
    lam: Fraction
    rest: Fraction
    theta: float


class Sequences:
    """μ_t and ν_t of Section 3.2 and Appendix C, followed along a run.

        ν_t     = (1 − λ_t) μ_t + λ_t q_t              μ_0 = q_0
        μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}

    with q_t = ∇ψ(−A w_t) for the iterates w_t that were delivered, whatever the solver says about
    them. Only Aᵀq_t, Aᵀμ_t and Aᵀν_t are needed, vectors as long as w, so that following a run
    costs no pass over the data.

    `now`, `before` and `first` are the sequences at t, at t − 1 (None at t = 0) and at 0, `start`
    is ψ(Zw_0), and there are these sums over j < t:

        inverses    1/λ_j           lengths       ‖Zᵀν_j‖/λ_j       nu_squares    ‖Zᵀν_j‖²/λ_j
        next_lengths  ‖Zᵀμ_{j+1}‖/λ_j                    next_squares  ‖Zᵀμ_{j+1}‖²/λ_j
        mu_squares  (1/λ_{j−1}² − (1 − λ_j)/λ_j²) ‖Zᵀμ_j‖², for j > 0

    `drift` bounds how far Aᵀq_t may be off in a solver that carries the scores A w_t along by
    addition.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.rho = case, float(smoothness(case))
        self.now: Any = None
        self.before: Any = None
        self.inverses = self.lengths = self.nu_squares = number(0)
        self.mu_squares = self.next_lengths = self.next_squares = number(0)
        self.drift = self._scores = 0.0

    def update(self, it: View) -> None:
        case, t, past = self.case, it.t, self.now
        lam, pull = mixing(case, t), self._pull(it)
        rest, theta = 1 - lam, float(step(case, t))
        if past is None:
            mu, self.start = pull, psi_of(it)
        else:
            mu = weighted_sum(float(past.rest), past.mu, float(past.lam), pull)
        nu = weighted_sum(float(rest), mu, float(lam), pull)
        norm, inverse = mu.norm(), number(1 / lam)
        self.now = _At(it, pull, mu, nu, inverse, norm * norm, nu.norm(), lam, rest, theta)
        if past is None:
            self.first = self.now
        else:
            self._add(past, norm)
        self.before = past

    def _pull(self, it: View) -> Vec:
        """Aᵀ∇ψ(Zw_t), and how far a solver that carries its scores along may be from it."""
        if self.now is not None:
            self._scores += score_drift(it, self.now.it.w)
        mass = 1.0
        if loss_of(self.case) == "exponential":
            found = it.pull
        else:
            found = it.once(_logistic).pull(self.case)
            mass = float(it.once(_logistic).weights.sum())
        self.drift = max(self.drift, 2.2 * self.case.space.radius * mass * self._scores)
        return found

    def _add(self, past: _At, norm: Number) -> None:
        inverse, length = past.inverse, past.inverse * past.nu_norm
        self.inverses += inverse
        self.lengths += length
        self.nu_squares += length * past.nu_norm
        if past.it.t:
            last = self.before.inverse
            self.mu_squares += (last * last - inverse * (inverse - 1)) * past.mu_square
        self.next_lengths += inverse * norm
        self.next_squares += inverse * self.now.mu_square

    def step_drift(self, at: _At) -> float:
        """The drift of θ_t/(ρλ_t) Aᵀν_t, which a step is."""
        return self.drift * at.theta / self.rho * float(at.inverse)

    @property
    def momentum_drift(self) -> float:
        """The drift of g_t = Aᵀν_t/λ_t − Aᵀq_t."""
        return self.drift * float(self.now.inverse + 1)


class Momentum:
    """g_t = β_t (g_{t−1} + Aᵀq_t) with β_t = λ_{t−1}(1 − λ_t)/λ_t and g_0 = 0, beside `Sequences`.

    `last` is g_{t−1}, and `step` is θ_{t−1}/ρ (g_{t−1} + Aᵀq_{t−1}), which w_t − w_{t−1} should be.
    `weighted` is Σ_{j≤t} j Aᵀq_j and `next_sum` is Σ_{j<t} Aᵀμ_{j+1}/λ_j; `rounding` bounds how far
    rounding in the steps may have moved w_t in a right solver.
    """

    def __init__(self, case: Case) -> None:
        self._seen: Sequences = case.history(Sequences)
        self.rounding = 0.0

    def update(self, it: View) -> None:
        seen, now, past = self._seen, self._seen.now, self._seen.before  # `Sequences` comes first
        if past is None:
            self.g = self.weighted = self.next_sum = now.pull * 0.0
            return
        self.beta = past.lam * now.rest / now.lam
        beta, length, self.last = float(self.beta), past.theta / seen.rho, self.g
        self.step = weighted_sum(length, self.last, length, past.pull)
        self.g = weighted_sum(beta, self.last, beta, now.pull)
        self.weighted = weighted_sum(1.0, self.weighted, float(it.t), now.pull)
        self.next_sum = weighted_sum(1.0, self.next_sum, float(past.inverse), now.mu)
        reach = self.step.size() + it.here.reach()
        self.rounding += 4 * (self.step.err + seen.step_drift(past)) + roundoff(reach)


def said(it: View, case: Case) -> list[Relation]:
    """That what the solver says of μ_t and ν_t is what follows from its iterates.

    What it says of t = 0 is part of every sum, and compared at t = 1, where claims begin.
    """
    seen: Sequences = case.history(Sequences)
    points = [seen.first, seen.now] if it.t == 1 else [seen.now]
    return [
        told(claimed_pull(at.it, at.it.extra[name], symbol), own, what, seen.drift)
        for at in points
        for name, symbol, own in (("mu", "μ_t", at.mu), ("nu", "ν_t", at.nu))
        if name in at.it.extra and (what := f"Zᵀ{symbol} is that of the iterates")
    ]


def mu_part(it: View, case: Case) -> Number:
    """‖Zᵀμ_t‖²/λ_{t−1}² + Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²) ‖Zᵀμ_j‖², for t ≥ 1."""
    seen: Sequences = case.history(Sequences)
    last = seen.before.inverse
    return last * last * seen.now.mu_square + seen.mu_squares


def claimed_momentum(it: View, case: Case) -> Vec | Relation | None:
    """The g_t that the solver claims, with its sign; None if it claims none."""
    return None if it.momentum is None else claimed_vector(it, it.momentum, "g_t")


def step_follows(it: View, case: Case) -> Relation:
    """That w_t is the step from w_{t−1}, for t ≥ 1."""
    seen: Sequences = case.history(Sequences)
    past, what = seen.before, "w_t − w_{t−1} = −θ_{t−1}/ρ (g_{t−1} + Zᵀq_{t−1})"
    step = case.history(Momentum).step
    return moved(it.here, past.it.here, step, what, seen.step_drift(past))


# Optima in rational arithmetic


class Optimum:
    """The dual point q̄ of the oracle and w̄ = Aᵀq̄, in the units of the data.

    For every w and every q in the simplex, min_i ⟨a_i, w⟩ ≤ ⟨Aᵀq, w⟩ ≤ ‖Aᵀq‖ ‖w‖. So if
    min_i ⟨a_i, w̄⟩ = ‖w̄‖², then w̄ has the largest margin of all, which is ‖w̄‖, and q̄ the smallest
    ‖Aᵀq‖; and any w with that margin has ⟨w̄, w⟩ = ‖w̄‖ ‖w‖, which makes it a multiple of w̄.
    """

    def __init__(self, case: Case) -> None:
        truth = case.truth
        self.numerators, self.total = truth.numerators, truth.total
        self._rows = exact_rows(case.problem.raw())
        self._point = self._rows.point(truth.support, truth.numerators)
        self._support = truth.support.tolist()

    @cached_property
    def scores(self) -> list[Fraction]:
        """⟨a_i, w̄⟩ for every row."""
        return [self._rows.score(i, self._point) / self.total for i in range(self._rows.n)]

    @cached_property
    def square(self) -> Fraction:
        """‖w̄‖² = Σ_i q̄_i ⟨a_i, w̄⟩."""
        terms = zip(self.numerators, self._support, strict=True)
        return sum((v * self.scores[i] for v, i in terms), Fraction(0)) / self.total

    def proved(self) -> list[Relation]:
        """q̄ ≥ 0 and Σ q̄ = 1, and min_i ⟨a_i, w̄⟩ = ‖w̄‖²."""
        best = min(self.scores) == self.square
        return [self.in_simplex(), fact(best, "min_i ⟨a_i, w̄⟩ = ‖w̄‖² for w̄ = Aᵀq̄")]

    def in_simplex(self) -> Relation:
        good = min(self.numerators) >= 0 and sum(self.numerators) == self.total > 0
        return fact(good, "q̄ ∈ Δ_n")


#: Four rows with many dual optima, γ̄ = 1 and ū = (1, 0, 0): the corners (1, ±1, ±1).
_CORNERS = np.array([(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)])
_OPTIMA = ((2, 0, 0, 2), (0, 2, 2, 0), (1, 1, 1, 1))  # times 1/4


def alignment(case: Case, sign: int, optimum: int, what: str) -> Iterator[Relation]:
    """sign · Zᵀq̄ = γ̄u for u = optimum · ū, where ū is the classifier of Section 2."""
    if case.given is None:
        for weights in _OPTIMA:
            gap = -sign * np.array(weights) @ _CORNERS - 4 * optimum * np.array([1, 0, 0])
            square = Fraction(int(gap @ gap), 16)
            yield equal(sqrt(square), 0, what, where=f"4q̄ = {weights}")
        return
    pair = Optimum(case)
    yield from pair.proved()
    # Zᵀq̄ = −w̄ and γ̄ū = w̄.
    yield equal(sqrt((sign + optimum) ** 2 * pair.square), 0, what)


# What statements have in common

jst = Claims("jst", unit=True)
#: From t = 1 on, about the sequences of Section 3.2.
followed = jst.sharing(Sequences, since=1)
#: About the data alone.
data = jst.sharing(kind="identity", powerless="it is about the data, not about a solver")
SEPARABLE = (
    ONE_ROW,
    "planted:n=60,d=6,gamma=0.1,seed=0",
    "degenerate:kind=square,n=8,d=4",
    "iris:0,1",
    "iris:0,1 --kernel poly:degree=2,coef0=1",
    "digits:0,1,2:n=30 --multiclass",
)

#: −Zᵀq̄ = γ̄ū, also on data with many dual optima.
aligned = data.sharing(exact_and_separable, problems=(*SEPARABLE, ""))

#: The primal and the dual form of one method, Section 3.2.
BOTH = Method(ALGORITHM_1, DUAL_FORM)
#: Section 3: the exponential loss, and no ρ.
SECTION_3 = Method(ALGORITHM_1, DUAL_FORM, assumes=(exponential, unit_smoothness))
THEOREM_3_1 = Method(*BOTH.solvers, assumes=(*SECTION_3.assumes, full_step, accelerated, unit_ball))
#: Appendix C: any ρ-smooth potential.
FULL = Method(*BOTH.solvers, assumes=(full_step,))
SMOOTH = Method(*BOTH.solvers, assumes=(full_step, smooth))
FAST = Method(*BOTH.solvers, assumes=(full_step, accelerated, smooth))
#: Appendix B: the dual form, row by row.
DUAL = Method(DUAL_FORM, assumes=(few_rows,))
