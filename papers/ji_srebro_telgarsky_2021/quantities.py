"""The method on trial: its options as the paper calls them, and what statements assume of them.

λ_t, θ_t, ρ and the loss are those that the solver says it uses (its options ``mixing``, ``step``,
``smoothness`` and ``loss``); a solver without such an option is taken for Algorithm 1 of
Theorem 3.1. Nothing here is shared with the solvers.

Vectors that a solver claims, and equations between vectors in doubles.

Optima in rational arithmetic: the oracle's dual point q̄, and what follows from it.

The potential ψ of eq. (2.1), its gradient and its conjugate, for both losses.

Row by row in balls, and for the logistic loss in doubles with proved error bounds as well.

The sequences of Section 3.2, followed along a run.

    ν_t     = (1 − λ_t) μ_t + λ_t q_t              μ_0 = q_0
    μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}
    g_t     = λ_{t−1}(1 − λ_t)/λ_t (g_{t−1} + Aᵀq_t)        g_0 = 0

with q_t the softmax of −A w_t for the iterates w_t that were delivered, whatever the solver says
about them. Only Aᵀq_t, Aᵀμ_t and Aᵀν_t are needed, vectors as long as w, so that following a run
costs no pass over the data. Rows of A are y_i x_i: all vectors are minus the paper's, where Z = −A.

The sequences of Appendix C along a run, in the space of w: Aᵀq_t, Aᵀμ_t, Aᵀν_t and their sums.

Aᵀq_t with q_t = ∇ψ(Zw_t) comes from w_t itself, and μ_t, ν_t and g_t follow from q_t by their
definitions, eqs. (B.1) and (C.5). So the claims of Appendix C are about any solver, even one that
yields nothing but t and w. What a solver says of these sequences is compared with them, and never
used instead. For the exponential loss and a solver that says nothing of μ_t and ν_t, all that is
what Section 3.2 needs as well, and is taken from there
(`gammabar.papers.ji_srebro_telgarsky_2021.quantities`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from numbers import Rational, Real
from operator import mul
from typing import Any

import numpy as np
from flint import arb
from scipy.special import expit

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Floats,
    Number,
    Relation,
    Unclaimed,
    Vec,
    View,
    ball,
    claimed_entries,
    claimed_numbers,
    equal,
    fact,
    log,
    number,
    option,
    scaled,
    separable,
    size_of,
    sqrt,
    total,
    weighted_sum,
    within,
)
from gammabar.problems import KernelProblem

ALGORITHM_1 = "dual-acceleration"
DUAL_FORM = "dual-acceleration-dual"
#: The primal and the dual form of one method, Section 3.2.
BOTH_FORMS = (ALGORITHM_1, DUAL_FORM)

#: One row, a_1 = 1: everything is known by hand.
ONE_ROW = "degenerate:kind=simplex,n=1,d=1"

#: Rows that may be treated one by one in balls at every iterate.
FEW = 400


def loss_of(case: Case) -> str:
    """ "exponential" or "logistic"."""
    return str(getattr(case.solver, "loss", "exponential"))


def mixing(case: Case, t: int) -> Fraction:
    """λ_t, exactly."""
    value = getattr(case.solver, "mixing", "accelerated")
    if value == "accelerated":
        return _accelerated(t)
    return _exact(_NAMED.get(value, value) if isinstance(value, str) else value, t)


@lru_cache(maxsize=16)
def _accelerated(t: int) -> Fraction:
    """2/(t + 2), which is asked for at t and at t + 1."""
    return Fraction(2, t + 2)


@cache
def _recursive(t: int) -> float:
    """The double that comes of λ²_{t+1} = (1 − λ_{t+1}) λ²_t, λ_0 = 1."""
    if t == 0:
        return 1.0
    square = _recursive(t - 1) ** 2
    return (math.sqrt(square**2 + 4 * square) - square) / 2


#: λ_t by the names that the dual form has for them; each is the double that it is.
_NAMED: dict[str, Callable[[int], float]] = {
    "slower": lambda t: 3 / (t + 3),
    "recursive": _recursive,
    "halved": lambda t: 0.5 if t else 1.0,
}


def step(case: Case, t: int) -> Fraction:
    """θ_t, exactly."""
    value = getattr(case.solver, "step", 1.0)
    return _exact(value, t)


def _exact(value: Any, t: int) -> Fraction:
    """A number, or what a schedule says at t; of any type of floats."""
    try:
        found = value(t) if callable(value) else value
        return Fraction(found if isinstance(found, Rational) else float(found))
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


def logistic(case: Case) -> str | None:
    """The loss is the logistic one."""
    return None if loss_of(case) == "logistic" else "the solver's loss is not the logistic one"


unit_smoothness = option("smoothness", None, 1)


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


def several_rows(case: Case) -> str | None:
    """n ≥ 2, so that ln n is not zero."""
    return None if case.n > 1 else "there is only one row"


def few_rows(case: Case) -> str | None:
    """Few enough rows to treat them one by one."""
    return None if case.n <= FEW else f"more than {FEW} rows are too many to treat one by one"


def exact_dual(case: Case) -> str | None:
    """q̄ is known, and not only approximately."""
    if case.truth.note:  # the Gordan vector of normalised rows is that of the plain ones
        return f"q̄ is not known: {case.truth.note}"
    return None if case.truth.exact else "q̄ is only known approximately"


#: What Section 3 assumes of a solver: the exponential loss, and no ρ.
SECTION_3 = (exponential, unit_smoothness)

#: What Theorem 3.1 assumes.
THEOREM_3_1 = (*SECTION_3, full_step, accelerated, unit_ball)


def combined(case: Case, q: Floats) -> Vec:
    """Aᵀq for doubles q, with a bound on the rounding of one evaluation."""
    mass = float(np.abs(q).sum())
    error = (case.n + 16) * ROUNDOFF * case.space.radius * mass * SAFETY
    return Vec(case.space, case.problem.combine(q), error + case.space.lost * max(1.0, mass))


def score_drift(it: View, before: Floats) -> float:
    """How far one step takes A w_t from scores that a solver carries along on its own.

    Rounding of A (w_t − w_{t−1}), and of adding it to either; `before` is w_{t−1}.
    """
    moved = it.space.score_error(it.w - before)
    sums = 4 * ROUNDOFF * it.space.radius * it.space.size(it.w)
    return (2 * moved + sums) * SAFETY


def claimed_vector(it: View, values: Any, what: str) -> Vec | Relation:
    """A vector that the solver claims, or the fact that it is none of this space."""
    found = claimed_entries(values, it.space.dimension)
    if isinstance(found, str):
        return fact(False, f"{what} {found}")
    return Vec(it.space, found[0], square=found[1])


def claimed_pull(it: View, weights: Any, what: str) -> Vec | Relation:
    """Aᵀq for weights q that the solver claims (one pass over the data), or what is wrong."""
    array = claimed_numbers(weights, (it.n,))
    if isinstance(array, str):
        return fact(False, f"{what} {array}")
    # Sums of n products, scaled: any order of summation is off by at most this.
    error = (it.n + it.space.dimension + 32) * ROUNDOFF * it.space.radius
    mass = float(np.abs(array).sum())
    lost = it.space.lost * max(1.0, mass)
    return it.vec(it.case.problem.combine(array), error * mass * SAFETY + lost)


def in_simplex(it: View, weights: Any, what: str) -> Relation:
    """That weights which the solver claims are a distribution, up to the rounding of t sums."""
    array = claimed_numbers(weights, (it.n,))
    if isinstance(array, str):
        return fact(False, f"{what} {array}")
    if not (array >= 0).all():
        return fact(False, f"{what} has weights below 0")
    allowed = 8 * ROUNDOFF * (it.n + 4 * (it.t + 1))
    return equal(total(it.numbers(array)), 1, f"{what} sums to 1", allowance=allowed)


def follows(gap: Number, allowed: float, size: float, what: str) -> Relation:
    """That what a solver says is no farther from what follows from its iterates than rounding.

    A fact, not an inequality: how far is nothing that the statement is about.
    """
    return fact(within(gap, allowed, size), what, said=True)


def as_said(equation: Relation) -> Relation:
    """An equation about what a solver says, as such a fact."""
    gap = abs(equation.left - equation.right)
    return follows(gap, equation.allowance, equation.size, equation.what)


def same_vector(
    left: Vec, right: Vec, what: str, more: float = 0.0, factor: float = 1.0
) -> Relation:
    """left = factor · right, where one of them is computed in doubles by the solver.

    Our own error bounds hold for any order of summation, so they cover an honest solver's errors as
    well: twice for its errors, twice for ours, and `more` for what it may do besides.
    """
    return no_vector(weighted_sum(1.0, left, -factor, right), left, what, more)


def no_vector(gap: Vec, about: Vec, what: str, more: float = 0.0) -> Relation:
    """gap = 0, as in `same_vector`, for a sum of vectors of which the solver computed some.

    `about` is the one that is on trial: the step, where the others are iterates.
    """
    allowance = 4 * (gap.err + more) + 32 * ROUNDOFF * (gap.terms() + gap.err)
    return equal(gap.norm(), 0, what, allowance=allowance, size=_size(gap, about))


def vanishes(rest: Vec, about: Vec, more: float, what: str) -> Relation:
    """A vector is zero, but for rounding: what this court's own evaluation of it may be off by,
    the same for the solver's evaluation (three times, for it may sum in another order), and
    `more`. `about` as in `no_vector`."""
    return equal(rest.norm(), 0, what, allowance=4 * rest.err + more, size=_size(rest, about))


def _size(gap: Vec, about: Vec) -> float:
    """What rounding must be small beside: the vector on trial, and roundoffs of all of them."""
    space = gap.space
    rows = (space.n + space.dimension) * space.least_radius  # sums of as many numbers
    return size_of(about.norm(), rows + gap.terms())


ABOUT_DATA = "it is about the data, not about a solver"
SEPARABLE = (
    ONE_ROW,
    "planted:n=60,d=6,gamma=0.1,seed=0",
    "degenerate:kind=square,n=8,d=4",
    "iris:0,1",
    "iris:0,1 --kernel poly:degree=2,coef0=1",
    "digits:0,1,2:n=30 --multiclass",
)


def exact_and_separable(case: Case) -> str | None:
    """The data are separable, and inner products of rows are rational; or it brings its own."""
    return None if case.given is None else separable(case) or rational(case)


def rational(case: Case) -> str | None:
    """Inner products of rows are rational numbers, so that optima are exact."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem) and not has_exact_kernel(problem):
        return "the kernel has values that are no rational numbers"
    return None


class Pair:
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

    def in_simplex(self) -> Relation:
        """q̄ ≥ 0 and Σ q̄ = 1."""
        good = min(self.numerators) >= 0 and sum(self.numerators) == self.total > 0
        return fact(good, "q̄ ∈ Δ_n")

    def optimal(self) -> Relation:
        """min_i ⟨a_i, w̄⟩ = ‖w̄‖²."""
        return fact(min(self.scores) == self.square, "min_i ⟨a_i, w̄⟩ = ‖w̄‖² for w̄ = Aᵀq̄")


#: Four rows with many dual optima, γ̄ = 1 and ū = (1, 0, 0): the corners (1, ±1, ±1).
CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))
OPTIMA = ((2, 0, 0, 2), (0, 2, 2, 0), (1, 1, 1, 1))  # times 1/4


def alignment(case: Case, sign: int, optimum: int, what: str) -> Iterator[Relation]:
    """sign · Zᵀq̄ = γ̄u for u = optimum · ū, where ū is the classifier of Section 2."""
    if case.given is None:
        for weights in OPTIMA:
            columns = zip(*CORNERS, strict=True)
            pull = [Fraction(sum(map(mul, weights, column)), -4) for column in columns]  # Zᵀq̄
            gap = [sign * v - optimum * u for v, u in zip(pull, (1, 0, 0), strict=True)]
            yield equal(sqrt(sum(v * v for v in gap)), 0, what, where=f"4q̄ = {weights}")
        return
    pair = Pair(case)
    yield pair.in_simplex()
    yield pair.optimal()
    # Zᵀq̄ = −w̄ and γ̄ū = w̄.
    yield equal(sqrt((sign + optimum) ** 2 * pair.square), 0, what)


def potential(xi: list[Number], loss: str) -> Number:
    """ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), eq. (2.1), row by row in balls."""
    if loss == "exponential":
        top = max(xi, key=lambda x: float(x.mid()))
        return log(total((x - top).exp() for x in xi)) + top
    # ψ(ξ) = ln(exp(Σ ln(1 + e^ξ_i)) − 1); Arb's numbers have no smallest one.
    return log(total(x.exp().log1p() for x in xi).expm1())


def potential_gradient(xi: list[Number], loss: str) -> list[Number]:
    """∇ψ(ξ)_i = ℓ′(ξ_i)/ℓ′(ψ(ξ)), eq. (C.1), row by row in balls."""
    if loss == "exponential":
        value = potential(xi, loss)
        return [(x - value).exp() for x in xi]
    mass = total(x.exp().log1p() for x in xi)
    return [1 / ((-x).exp() + 1) / -(-mass).expm1() for x in xi]


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
    # Once a precision, not at every iterate.
    return case.once("D(q̄, q_0)", partial(_distance, case))


def _distance(case: Case) -> Number:
    truth = case.truth  # its support alone: rows may be many
    support = (Fraction(v, truth.total) for v in truth.numerators)
    return entropy(support) + start_potential(case)


class Logistic:
    """ψ and ∇ψ of the logistic loss at −A w, from scores in doubles with an error bound.

    Attributes
    ----------
    psi : arb
    weights : array
        ∇ψ in doubles.
    relative : float
        A bound on Σ_i |error of weight i|, relative to the sum of the weights.
    """

    def __init__(self, scores: Floats, error: float) -> None:
        n, xi = scores.size, -scores
        top = float(xi.max())
        if top + np.log(n) < -38:
            self._like_exponential(xi, top, error)
            return
        slopes = expit(xi)
        mass = float(np.logaddexp(0.0, xi).sum())
        # Scores off by e: ln(1 + e^ξ) moves by at most σ(ξ + e) e ≤ σ(ξ) e^e e.
        moved = error * float(slopes.sum()) * float(np.exp(error)) * SAFETY
        self.psi = log(ball(mass, mass * (n + 16) * ROUNDOFF * SAFETY + moved).expm1())
        self.weights: Floats = slopes / -np.expm1(-mass)
        # d ln σ ≤ e, and d ln(1 − e^{−S}) = dS/(e^S − 1) ≤ e, since Σ σ(ξ_i) ≤ Σ e^ξ_i ≤ e^S − 1.
        # A relative error of S counts at most as itself.
        self.relative = (float(np.expm1(2 * error)) + (2 * n + 64) * ROUNDOFF) * SAFETY

    def _like_exponential(self, xi: Floats, top: float, error: float) -> None:
        """Where m = Σ e^ξ_i is below e^{−38}: ψ − ln-sum-exp is in [0, m], weights agree to 4m."""
        n, raw = xi.size, np.exp(xi - top)
        mass = float(raw.sum())
        small = mass * float(np.exp(top)) * SAFETY
        # Rounding ξ_i − top by u|ξ_i − top| moves e^{ξ_i − top} by at most u/e.
        off = error + (2 * n + 64 + 8 * abs(top)) * ROUNDOFF
        self.psi = ball(float(np.log(mass)) + top, (off + small) * SAFETY)
        self.weights = raw / mass
        self.relative = (float(np.expm1(2 * error)) + (2 * n + 64) * ROUNDOFF + 4 * small) * SAFETY


def psi_of(it: View) -> Number:
    """ψ(Zw_t) for the loss of the solver."""
    loss = loss_of(it.case)
    if loss == "exponential":
        return it.psi
    if it.level:
        return potential([-s for s in it.scores], loss)
    return Logistic(it.score_doubles, it.score_error).psi


class Schedule:
    """λ_t and θ_t of the solver on trial; those of Algorithm 1 for one that does not say."""

    def __init__(self, case: Case) -> None:
        self._case = case
        varies = callable(getattr(case.solver, "step", 1))
        self._fixed = None if varies else float(step(case, 0))
        self.accelerated = getattr(case.solver, "mixing", "accelerated") == "accelerated"

    def mixing(self, t: int) -> float:
        """λ_t; rounded if it is 2/(t + 2), else the double that it is."""
        if self.accelerated:
            return 2 / (t + 2)
        return float(mixing(self._case, t))

    def reciprocal(self, t: int) -> Number:
        """1/λ_t."""
        return number((t + 2) / 2) if self.accelerated else 1 / number(self.mixing(t))

    def rest(self, t: int) -> float:
        """1 − λ_t, rounded."""
        return t / (t + 2) if self.accelerated else 1 - self.mixing(t)

    def momentum(self, t: int) -> float:
        """λ_{t−1}(1 − λ_t)/λ_t, rounded."""
        if self.accelerated:
            return t / (t + 1)
        return self.mixing(t - 1) * self.rest(t) / self.mixing(t)

    def step(self, t: int) -> float:
        """θ_t."""
        return float(step(self._case, t)) if self._fixed is None else self._fixed


class Sequences:
    """What Lemmas 3.2 to 3.6 speak of, at the iterate heard last.

    Attributes
    ----------
    mu, nu : Vec
        Aᵀμ_t and Aᵀν_t.
    weighted : Vec
        Σ_{j=1}^t j Aᵀq_j.
    mu_square, nu_norm : arb
        ‖Aᵀμ_t‖² and ‖Aᵀν_t‖.
    step : Vec
        θ_t (g_t + Aᵀq_t), which w_{t+1} − w_t should be.
    last_step, last : Vec or None
        The step and w of t − 1; None at t = 0.
    last_reciprocal : arb
        1/λ_{t−1}.
    scale : arb
        Σ_{j<t} 1/λ_j.
    path : arb
        Σ_{j<t} ‖Aᵀν_j‖/λ_j.
    rounding : float
        How far rounding in the steps so far may have moved w_t, at most, in an honest solver.
    mu_squares, nu_squares : arb
        The sums of Lemma 3.5, without the ½: Σ_{j=1}^{t−1} (1/λ_{j−1}² − (1−λ_j)/λ_j²)‖Aᵀμ_j‖² and
        Σ_{j<t} ‖Aᵀν_j‖²/λ_j.
    momentum : Vec, Relation or None
        The g_t that the solver claims (with the sign of the solver); see `claimed_vector`.
    drift : float
        How far Aᵀq_t may be off in a solver that carries the scores A w_t along by addition.
    """

    def __init__(self, case: Case) -> None:
        self.schedule = Schedule(case)
        # Claims about another loss have a history of their own.
        self._silent = getattr(case.solver, "loss", "exponential") != "exponential"
        self._space = case.space
        one = np.ones(case.space.dimension)
        self._score_error = case.space.score_error(one) / case.space.size(one)

    def update(self, it: View) -> None:
        """Take in the next iterate; t = 0 starts afresh."""
        if self._silent:
            return
        t, pull, schedule = it.t, it.pull, self.schedule
        if t == 0:
            self._start(pull)
        else:
            self._advance(t, pull, it.here)
        self._t, self._here, self._reciprocal = t, it.here, schedule.reciprocal(t)
        self.nu = weighted_sum(schedule.rest(t), self.mu, schedule.mixing(t), pull)
        theta, (factor, unscaled) = schedule.step(t), self._momentum(t)
        self.step = weighted_sum(theta * factor, unscaled, theta, pull)
        claimed = it.momentum
        self.momentum = None if claimed is None else claimed_vector(it, claimed, "g_t")
        norm = self.mu.norm()
        self.mu_square = norm * norm
        self.nu_norm = self.nu.norm()

    @property
    def g(self) -> Vec:
        """Minus the paper's g_t."""
        return scaled(*self.unscaled_g)

    @property
    def unscaled_g(self) -> tuple[float, Vec]:
        """A number and a vector of which minus g_t is the product."""
        return self._momentum(self._t)

    def _momentum(self, t: int) -> tuple[float, Vec]:
        """g_t as a number times a vector."""
        # With β_t = t/(t+1) the recursion says (t+1) g_t = t g_{t−1} + t Aᵀq_t: the weighted sum.
        return (1 / (t + 1), self.weighted) if self.schedule.accelerated else (1.0, self._g)

    @property
    def momentum_drift(self) -> float:
        """The same for g_t = Aᵀν_t/λ_t − Aᵀq_t."""
        return self.drift * float(self._reciprocal + 1)

    def _start(self, pull: Vec) -> None:
        zero = Vec(self._space, np.zeros(self._space.dimension))
        self.mu, self._g, self.weighted = pull, zero, zero
        self.scale = self.path = self.last_reciprocal = number(0)
        self.mu_squares = self.nu_squares = number(0)
        self.last_step: Vec | None = None
        self.last: Vec | None = None
        self.drift = self.rounding = 0.0

    def _advance(self, t: int, pull: Vec, here: Vec) -> None:
        """From t − 1 to t: the sums first, while mu and nu are still those of t − 1."""
        now = self._reciprocal
        length = now * self.nu_norm
        self.scale += now
        self.path += length
        self.nu_squares += length * self.nu_norm
        if t > 1:
            factor = self.last_reciprocal * self.last_reciprocal - now * (now - 1)
            self.mu_squares += factor * self.mu_square
        self.last_step, self.last, self.last_reciprocal = self.step, self._here, now
        self.rounding += 4 * self.step.err + 4 * ROUNDOFF * (self.step.size() + here.reach())
        # Scores of a step, and the rounding of the sum; weights change by twice the error.
        error = self._score_error * self.step.reach()
        error += 2 * ROUNDOFF * self._space.radius * here.reach()
        self.drift += 2 * self._space.radius * error * SAFETY
        schedule = self.schedule
        self.mu = weighted_sum(schedule.rest(t - 1), self.mu, schedule.mixing(t - 1), pull)
        self.weighted = weighted_sum(1.0, self.weighted, float(t), pull)
        if not schedule.accelerated:
            beta = schedule.momentum(t)
            self._g = weighted_sum(beta, self._g, beta, pull)


def momentum_follows(it: View, case: Case) -> Relation:
    """That the momentum which the solver claims is Σ_j j/(t+1) Aᵀq_j, for λ_t = 2/(t + 2)."""
    seen: Sequences = case.history(Sequences)
    assert isinstance(seen.momentum, Vec)
    what, drift = "g_t = Σ_j j/(t+1) Zᵀq_j", seen.momentum_drift
    return same_vector(seen.momentum, seen.weighted, what, drift, 1 / (it.t + 1))


@dataclass(slots=True)  # not frozen: that costs microseconds, at every iterate
class Vectors:
    """The vectors at one t: w_t, Aᵀq_t, Aᵀμ_t, Aᵀν_t (A = −Z), and minus the g_t of eq. (C.5).

    And ‖Zᵀμ_t‖². Of g_t there may be a vector and what it is to be multiplied by: few ask for it.
    """

    t: int
    w: Vec
    pull: Vec
    mu: Vec
    nu: Vec
    mu_square: Number
    momentum: Vec | tuple[float, Vec]

    @property
    def g(self) -> Vec:
        """Minus g_t."""
        if not isinstance(self.momentum, Vec):
            self.momentum = scaled(*self.momentum)
        return self.momentum


class Trajectory:
    """Everything at t that the claims of Appendix C need, with error bounds.

    Attributes
    ----------
    now, before : Vectors
        Those at t and at t − 1; `before` is None at t = 0.
    claims : list of Relation
        That μ_t and ν_t, where the solver says them, are those that follow from its iterates.
    shares : bool
        Whether all this comes from the sequences of Section 3.2.
    schedule : Schedule
        λ_t and θ_t.
    rho : float
        ρ.
    start : arb
        ψ(Zw_0).
    first, origin : Vec
        Aᵀq_0 and w_0.
    inverses, nu_lengths, nu_squares : arb
        Σ_{j<t} 1/λ_j, Σ_{j<t} ‖Zᵀν_j‖/λ_j and Σ_{j<t} ‖Zᵀν_j‖²/λ_j.
    mu_squares, next_squares : arb
        Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²) ‖Zᵀμ_j‖² and Σ_{j<t} ‖Zᵀμ_{j+1}‖²/λ_j.
    weighted : Vec
        Σ_{j≤t} j Aᵀq_j.
    rounding : float
        A bound on the rounding of w_1, …, w_t to doubles, all together.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.space = case, case.space
        self.schedule, self.rho = Schedule(case), float(smoothness(case))
        self.now: Vectors | None = None
        self.before: Vectors | None = None
        self.inverses = self.nu_lengths = self.nu_squares = arb(0)
        self.mu_squares = self.next_squares = arb(0)
        self.rounding = self.drift = 0.0
        self.claims: list[Relation] = []
        self._momentum_claims: list[Relation] | None = None
        self._it: View | None = None
        self.shares = False

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        past = self.now
        if past is None:
            gives = any(name in it.extra for name in ("p", "mu", "nu"))
            self.shares = loss_of(self.case) == "exponential" and not gives
        # What is said of t = 0 is part of every sum: heard again where statements begin at t = 1.
        first = self.claims if it.t == 1 else []
        self.claims, self._momentum_claims, self._it = [], None, it
        now = self._shared(it) if self.shares else self._own(it, past)
        self.claims = [*first, *self.claims]
        self.rounding += 4 * ROUNDOFF * now.w.size()
        if past is None:
            self.start, self.first, self.origin = psi_of(it), now.pull, now.w
        else:
            self.next_squares += self.schedule.reciprocal(past.t) * now.mu_square
        self.before, self.now = past, now

    def _shared(self, it: View) -> Vectors:
        """From the sequences of Section 3.2, which have heard this iterate."""
        seen: Sequences = self.case.history(Sequences)
        self.inverses, self.nu_lengths = seen.scale, seen.path
        self.mu_squares, self.nu_squares = seen.mu_squares, seen.nu_squares
        self.weighted = seen.weighted
        g = seen.unscaled_g
        return Vectors(it.t, it.here, it.pull, seen.mu, seen.nu, seen.mu_square, g)

    @property
    def momentum_claims(self) -> list[Relation]:
        """That g_t, where the solver says it, is the one that follows from its iterates."""
        if self._momentum_claims is None:
            assert self._it is not None
            found = self._shared_momentum(self._it) if self.shares else self._own_momentum(self._it)
            self._momentum_claims = [] if found is None else [found]
        return self._momentum_claims

    def _shared_momentum(self, it: View) -> Relation | None:
        seen: Sequences = self.case.history(Sequences)
        if not isinstance(seen.momentum, Vec):
            return seen.momentum
        if self.schedule.accelerated:
            return as_said(it.once(momentum_follows))
        return _same_momentum(seen.momentum, seen.g, seen.momentum_drift)

    def _own_momentum(self, it: View) -> Relation | None:
        if it.momentum is None or self.now is None:
            return None
        momentum = claimed_vector(it, it.momentum, "g_t")
        return momentum if isinstance(momentum, Relation) else _same_momentum(momentum, self.now.g)

    def _own(self, it: View, past: Vectors | None) -> Vectors:
        """From what the solver delivers, or for a loss of its own."""
        if past is not None and "p" in it.extra:
            self.drift += score_drift(it, past.w.mid)
        pull = self._pull(it)
        mu = pull if past is None else self._mixed(past.t, past.mu, pull)
        nu = self._mixed(it.t, mu, pull)
        square_ = square(mu.norm())
        now = Vectors(it.t, it.here, pull, mu, nu, square_, self._momentum(it, past, pull))
        self._compare(it, now)
        if past is None:
            self.weighted = pull * 0.0
        else:
            self._add(past, now)
        return now

    def _pull(self, it: View) -> Vec:
        """Aᵀq_t for q_t = ∇ψ(Zw_t)."""
        radius = self.space.radius * SAFETY
        if loss_of(self.case) == "exponential":
            off = radius * float(np.expm1(2 * self.drift))
            return it.vec(it.pull.mid, it.pull.err + off)
        logistic = Logistic(it.score_doubles, it.score_error + self.drift)
        pull = combined(self.case, logistic.weights)
        off = radius * float(logistic.weights.sum()) * logistic.relative
        return it.vec(pull.mid, pull.err + off)

    def _compare(self, it: View, now: Vectors) -> None:
        """What the solver says of μ_t and ν_t with what follows from its iterates."""
        small = 8 * ROUNDOFF * self.space.radius
        for name, symbol, own in (("mu", "μ_t", now.mu), ("nu", "ν_t", now.nu)):
            if name not in it.extra:
                continue
            said = claimed_pull(it, it.extra[name], symbol)
            if isinstance(said, Vec):
                gap = said - own
                what = f"Zᵀ{symbol} is that of the iterates"
                size = size_of(own.norm(), self.case.n * self.space.least_radius)
                said = follows(gap.norm(), 4 * gap.err + small, size, what)
            self.claims.append(said)

    def _mixed(self, t: int, mu: Vec, q: Vec) -> Vec:
        """(1 − λ_t) μ + λ_t q."""
        return weighted_sum(self.schedule.rest(t), mu, self.schedule.mixing(t), q)

    def _momentum(self, it: View, past: Vectors | None, pull: Vec) -> Vec:
        if past is None:
            return pull * 0.0
        factor = self.schedule.momentum(it.t)
        return weighted_sum(factor, past.g, factor, pull)

    def _add(self, past: Vectors, now: Vectors) -> None:
        inverse, length = self.schedule.reciprocal(past.t), past.nu.norm()
        self.inverses += inverse
        self.nu_lengths += inverse * length
        self.nu_squares += inverse * square(length)
        if past.t:
            last = self.schedule.reciprocal(past.t - 1)
            self.mu_squares += (last * last - inverse * (inverse - 1)) * past.mu_square
        self.weighted = weighted_sum(1.0, self.weighted, float(now.t), now.pull)


def _same_momentum(said: Vec, own: Vec, drift: float = 0.0) -> Relation:
    gap, more = said - own, 8 * ROUNDOFF * said.size() + 4 * drift
    size = size_of(own.norm(), said.reach() + own.space.n * own.space.least_radius)
    return follows(gap.norm(), 4 * gap.err + more, size, "g_t is that of the iterates")


class MixedSum:
    """Σ_{j<t} Aᵀμ_{j+1}/λ_j."""

    value: Vec

    def __init__(self, case: Case) -> None:
        self._path: Trajectory = case.history(Trajectory)

    def update(self, it: View) -> None:
        """Take in the next iterate, which the trajectory has heard."""
        path, now, past = self._path, self._path.now, self._path.before
        assert now is not None
        if past is None:
            self.value = now.pull * 0.0
        else:
            last = float(path.schedule.reciprocal(past.t))
            self.value = weighted_sum(1.0, self.value, last, now.mu)


class MixedLengths:
    """Σ_{j<t} ‖Zᵀμ_{j+1}‖/λ_j."""

    def __init__(self, case: Case) -> None:
        self._path: Trajectory = case.history(Trajectory)
        self.value = arb(0)

    def update(self, it: View) -> None:
        """Take in the next iterate, which the trajectory has heard."""
        path, now, past = self._path, self._path.now, self._path.before
        if now is not None and past is not None:
            self.value += path.schedule.reciprocal(past.t) * root(now.mu_square)


def square(value: Number) -> Number:
    """x², also for a ball around zero, of which Arb's power makes no number."""
    return value * value


def root(value: Number) -> Number:
    """√x, also for a ball around zero that reaches below it."""
    return (value.max(arb(0))).sqrt()


def trajectory(case: Case) -> tuple[Trajectory, Vectors]:
    """The sequences of the run so far, and the vectors at its last iterate."""
    path: Trajectory = case.history(Trajectory)
    assert path.now is not None
    return path, path.now
