"""Equations between vectors in doubles, and vectors that a solver claims.

Error bounds travel with vectors (`Vec`) and score arrays (`_ScoreVec`) and hold for any evaluation
in doubles from the delivered w, in any order of summation: for the one made here, and for the one
that a solver made. What "equal up to rounding" allows for is derived in `zero`, for all papers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from gammabar.harness.verify.certified import Floats, Space, Vec, weighted_sum
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import Fault, View, claimed_numbers, claimed_row
from gammabar.harness.verify.numbers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    ZERO,
    Number,
    Relation,
    ball,
    equal,
    fact,
    log,
    nearly,
    number,
    size_of,
    total,
    upper,
    within,
)
from gammabar.oracle.rational import integer_rows, largest
from gammabar.problems import DenseProblem, SparseProblem

# What a solver claims


def pull_of(case: Case, q: Floats, relative: float = 0.0) -> Vec:
    """Aᵀq for doubles q, each off by a relative error at most."""
    off = relative * float(np.abs(q) @ case.space.shares) * SAFETY if relative else 0.0
    return combination(case.space, q, off)


def row_vector(it: View, i: int) -> Vec:
    """a_i."""
    row = it.case.problem.row(i)
    return it.vec(row, 8 * ROUNDOFF * it.space.size(row) + it.space.lost)


def claimed_vector(it: View, values: Any, what: str) -> Vec | Relation:
    """A vector that the solver claims, or the false fact that it is one of this space."""
    found = claimed_numbers(values, (it.space.dimension,))
    if isinstance(found, str):
        return fact(False, f"{what} {found}")
    return Vec(it.space, found, square=float(found.dot(found)))


def claimed_pull(it: View, weights: Any, what: str) -> Vec | Relation:
    """Aᵀq for weights q that the solver claims (one pass over the data), or what is wrong."""
    array = claimed_numbers(weights, (it.n,))
    return fact(False, f"{what} {array}") if isinstance(array, str) else pull_of(it.case, array)


def in_simplex(it: View, weights: Any, what: str) -> Relation:
    """That weights which the solver claims are a distribution, up to the rounding of t sums."""
    array = claimed_numbers(weights, (it.n,))
    if isinstance(array, str):
        return fact(False, f"{what} {array}")
    if not (array >= 0).all():
        return fact(False, f"{what} has weights below 0")
    allowed = 8 * ROUNDOFF * (it.n + 4 * (it.t + 1))
    return equal(total(it.numbers(array)), 1, f"{what} sums to 1", allowance=allowed)


def row_of(it: View) -> int:
    """The row that the solver says it takes at t, if it is one."""
    i = claimed_row(it.claim("i"), it.n)
    if i is None:
        raise Fault(f"i of t = {it.t} is no row: they are 0, …, {it.n - 1}")
    return i


# Equations between vectors


def same(
    left: Vec | Relation, right: Vec | Relation, what: str, more: float = 0.0, factor: float = 1.0
) -> Relation:
    """left = factor · right, where the solver computed one of them in doubles.

    `more` is the rounding that it may do besides. A vector that is none, see `claimed_vector`, is
    returned as the false fact that it is.
    """
    if isinstance(left, Relation):
        return left
    if isinstance(right, Relation):
        return right
    return zero(weighted_sum(1.0, left, -factor, right), left, what, more)


def moved(
    now: Vec, before: Vec, step: Vec, what: str, more: float = 0.0, *, summed: bool = True
) -> Relation:
    """now = before + step, as in `same`; rounding must be small beside the step."""
    return zero(weighted_sum(1.0, now, -1.0, before, -1.0, step), step, what, more, summed=summed)


def zero(gap: Vec, about: Vec, what: str, more: float = 0.0, *, summed: bool = True) -> Relation:
    """A sum of vectors is zero, up to the rounding that a right solver cannot avoid.

    Delivered iterates are among the terms of `gap`. Rounding must be small beside `about` for the
    comparison to tell something: the step, where the others are iterates. `more` is what the solver
    may be off besides: numbers that it has carried along in doubles. `about` is `summed` if it may
    be what is left of a sum over all rows, and not if it is one row or comes of terms of `gap`.

    Write E for ``gap.err``, T for ``gap.terms()`` and u for the unit roundoff. The delivered
    iterates are exactly the numbers they are, so gap is the rounding of the step to the last of
    them. A right solver computes the same terms. Bounds of ours hold for any order of summation, so
    its terms are off by no more than ours: E in sum, and `more`. It then adds at most eight of
    them, in any grouping: w + θ(a − w) as well as (1 − θ)w + θa. Every partial sum is at most 2T
    long, so that these sums lose 8 · 2uT(1 + 8u). Hence ‖gap‖ ≤ E + more + 16uT and a little, and
    it is measured with an error of E. The allowance is twice the sum of both: that covers terms of
    second order, and solvers whose sums have twice as many terms.

    T counts iterates with their whole length also where they cancel. So a step that is lost in w_t
    is not refuted, whatever its length.
    """
    terms = gap.terms()
    allowance = 4 * (gap.err + more) + 32 * ROUNDOFF * (terms + gap.err)
    size = size_of(about.norm(), gap.space.long_sum * summed + terms)
    return Relation(gap.norm(), ZERO, "==", allowance, size, what)


def told(said: Vec | Relation, own: Vec, what: str, more: float = 0.0) -> Relation:
    """That what a solver says is what follows from its iterates.

    A fact, not an equation: how far it is off is nothing that a statement is about.
    """
    if isinstance(said, Relation):
        return said
    equation = same(said, own, what, more)
    return follows(equation.left, equation.allowance, equation.size, what)


def follows(gap: Any, allowed: float, size: float, what: str) -> Relation:
    """That a gap between what is said and what follows is no more than rounding, as a fact."""
    return fact(within(gap, allowed, size), what, said=True)


# Scores


class _ScoreVec:
    """Scores of all rows in doubles, each within `err` of the truth; `reach` bounds the vectors."""

    def __init__(self, case: Case, mid: Floats, err: float, reach: float) -> None:
        self.case, self.mid, self.err, self.reach = case, mid, err, reach

    def __sub__(self, other: _ScoreVec) -> _ScoreVec:
        reach = self.reach + other.reach
        err = self.err + other.err + 4 * ROUNDOFF * self.case.space.radius * other.reach
        return _ScoreVec(self.case, self.mid - other.mid, err, reach)


def scores_of(it: View, vector: Vec | None = None) -> _ScoreVec:
    """A w_t, or A v for a vector with an error bound."""
    if vector is None:
        return _ScoreVec(it.case, it.score_doubles, it.score_error, it.here.size())
    mid, space = it.case.problem.scores(vector.mid), it.space
    error = space.score_error(vector.mid) + space.radius * vector.err
    return _ScoreVec(it.case, mid, error, vector.size())


def constant(rest: _ScoreVec, about: _ScoreVec, what: str) -> Relation:
    """All entries are equal; rounding must be small beside the spread of `about`."""
    space, error = rest.case.space, 2 * SAFETY * rest.err
    parts = (space.n + space.dimension + 128) * space.radius * rest.reach
    size = size_of(float(np.ptp(about.mid)), parts)
    spread = ball(float(np.ptp(rest.mid)), error)
    return equal(spread, 0, what, allowance=4 * error, size=size)


def softmax_of(it: View) -> Floats:
    """q_t = softmax(−A w_t) in doubles."""
    scores = it.score_doubles
    weights = np.exp(scores.min() - scores)
    return np.asarray(weights / weights.sum())


def soft_weights(
    it: View, at: Vec | None = None, factor: float = 1.0, start: Any = None
) -> tuple[Floats, float]:
    """start · exp(−factor · A v), normalised, in doubles, and a bound on its relative errors.

    v is w_t unless it is given, and `start`, weights that the solver claims, is uniform.
    """
    found = scores_of(it, at)
    scores = factor * found.mid
    off = np.expm1(2.2 * factor * found.err) + 8 * softmax_rounding(scores)
    if start is not None:
        weights = claimed_numbers(start, (it.n,))
        if isinstance(weights, str):
            raise Fault(f"weights of t = {it.t} {weights}")
        scores = scores - np.log(np.maximum(weights, TINY))
        off += 8 * softmax_rounding(scores) + 1e-13
    weights = np.exp(scores.min() - scores)
    return weights / weights.sum(), float(off) * SAFETY + 1e-290  # with what underflows


def softmax_pull(it: View, at: Vec | None = None, factor: float = 1.0, start: Any = None) -> Vec:
    """Aᵀq for the weights q of `soft_weights`."""
    return pull_of(it.case, *soft_weights(it, at, factor, start))


def softmax_vector(it: View) -> Vec:
    """q_t with its error bound, as a vector of ℝⁿ where that is the space of w."""
    # Scores off by e change a weight by a factor of at most exp(2e); exponentials and sum the rest.
    error = np.expm1(2 * it.score_error) + (it.n + 16) * ROUNDOFF
    # TINY: exponentials and quotients of fewer than 2^74 rows that underflow lose η each.
    return it.vec(softmax_of(it), float(error) * SAFETY + TINY)


def score_drift(it: View, before: Floats) -> float:
    """How far one step takes A w_t from scores that a solver carries along on its own.

    Rounding of A (w_t − w_{t−1}), and of adding it to either; `before` is w_{t−1}.
    """
    step = it.space.score_error(it.w - before)
    sums = 4 * ROUNDOFF * it.space.radius * it.space.size(it.w)
    return (2 * step + sums) * SAFETY


class Logistic:
    """ψ = ln(exp(Σ ln(1 + e^ξ_i)) − 1) and ∇ψ at ξ = −A w, from scores with an error bound."""

    psi: Number
    #: ∇ψ in doubles, and a bound on Σ_i |error of weight i|, relative to the sum of the weights.
    weights: Floats
    relative: float

    def __init__(self, scores: Floats, error: float) -> None:
        n, xi = scores.size, -scores
        top = float(xi.max())
        if top + np.log(n) < -38:
            self._like_exponential(xi, top, error)
            return
        slopes = expit(xi)
        mass = float(np.logaddexp(0.0, xi).sum())
        # Scores off by e: ln(1 + e^ξ) moves by at most σ(ξ + e) e ≤ σ(ξ) e^e e.
        off = error * float(slopes.sum()) * float(np.exp(error)) * SAFETY
        self.psi = log(ball(mass, mass * (n + 16) * ROUNDOFF * SAFETY + off).expm1())
        self.weights = slopes / -np.expm1(-mass)
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

    @classmethod
    def of(cls, it: View) -> Logistic:
        """At an iterate."""
        return cls(it.score_doubles, it.score_error)

    def pull(self, case: Case) -> Vec:
        """Aᵀ∇ψ."""
        return pull_of(case, self.weights, self.relative)


# Inequalities that right runs attain


def roundoff(reach: Any, steps: float = 1) -> Any:
    """What rounding in so many steps may move a vector of this size by, in a right solver."""
    return 4 * steps * ROUNDOFF * reach


def nearly_after(
    it: View, left: Any, right: Any, what: str, beside: Any, steps: float = 1, **more: Any
) -> Relation:
    """left ≤ right up to what rounding in some steps to w_t may do to scores; see `nearly`.

    `beside` is what that must be small beside.
    """
    reach = it.space.radius * it.here.size()
    size = size_of(beside, reach)
    return nearly(left, right, what, rounding=2 * roundoff(reach, steps), size=size, **more)


def softmax_rounding(scores: Floats) -> float:
    """A bound on the relative errors of a softmax of these scores in doubles, and of its sum."""
    return ROUNDOFF * (float(np.ptp(scores)) + scores.size + 32)


def log_rounding(past: Floats, now: Floats, fall: Number, apart: float) -> float:
    """How far ⟨ln q − ln q′, d⟩ may be from ⟨ξ − ξ′, d⟩ for softmaxes q, q′ of ξ, ξ′ in doubles.

    d is a difference of weights with ‖d‖₁ = `apart`. The sum of a softmax is one only up to
    (n + 8)u, which counts as often as ln q and ξ differ: `fall`, that of the ln-sum-exps.
    """
    worst = max(softmax_rounding(past), softmax_rounding(now))
    return 8 * worst * apart + 2 * roundoff((past.size + 8) * upper(fall))


def carried_scores(it: View, scores: Floats, drift: float, what: str) -> Relation:
    """That scores which a solver carries along, off by `drift` at most, are A w_t."""
    gap = float(np.abs(scores - it.score_doubles).max())
    size = size_of(float(np.abs(it.score_doubles).max()), it.space.least_radius**2)
    return follows(number(gap), 2 * drift + it.score_error, size, what)


def same_masses(said: Any, own: Any, relative: float, what: str) -> Relation:
    """Weights that are what follows, in the ℓ₁ norm, up to an error relative to their sum."""
    size = upper(total(abs(v) for v in own))
    return follows(total(abs(v) for v in said - own), relative * size, size, what)


def gram_rounding(case: Case, q: Floats) -> float:
    """How far a row of A Aᵀq in doubles may be off: a product with Aᵀ, and one with A."""
    space, mass = case.space, float(np.abs(q).sum())
    sums = (space.n + 16) * ROUNDOFF * space.radius * space.radius * mass
    return space.score_error(case.problem.combine(q)) + sums


def pull_sums(case: Case, weights: Floats, off: float) -> tuple[Number, Number]:
    """Σ ‖Aᵀq_j‖ and Σ ‖Aᵀq_j‖² over the rows q_j of a matrix, through the Gram matrix.

    Rows of A have norm at most one; each weight is off by a factor of 1 ± off, and of rounding.
    """
    n, t = case.n, len(weights)
    gram = np.array([float(v.mid()) for v in case.space.gram().entries()]).reshape(n, n)
    squares = np.einsum("ji,ik,jk->j", weights, gram, weights)
    # Entries of the Gram matrix are at most 1, each off by u at most, and so are the products of
    # weights that sum to one, or nearly.
    size = float(np.abs(weights).sum(axis=1).max()) ** 2
    error = ((4 * n + n * n + 48) * ROUNDOFF + 2 * off * (1 + off)) * size * SAFETY
    lengths = np.sqrt(np.maximum(squares, error))
    # √a is off by at most error/√a where a ≥ error, and by √error elsewhere.
    away = float((2 * error / lengths).sum()) * SAFETY
    more = t * ROUNDOFF * SAFETY
    square, length = float(squares.sum()), float(lengths.sum())
    return ball(length, away + length * more), ball(square, t * error * SAFETY + square * more)


def _softmax_drift(it: View, carried: float) -> float:
    """How far ln q_t may be from that of a solver that has added up its scores in t steps.

    `carried` bounds the numbers that it may have added up.
    """
    drift = it.score_error if it.w.any() else 0.0
    size = float(np.abs(it.score_doubles).max()) + carried
    return drift + 4 * ROUNDOFF * it.t * size * (it.space.dimension + 8)


def same_softmax(it: View, given: Any, carried: float) -> Relation:
    """That weights which the solver claims are the softmax of −A w_t, weight by weight."""
    weights, what = softmax_of(it), "q_t is the softmax of −A w_t"
    array = claimed_numbers(given, weights.shape)
    if isinstance(array, str):
        return fact(False, f"q_t {array}")
    # To rows that are hardly ever drawn no other weights belong, either.
    seen = weights > 2.0**-960
    gap = float(np.max(np.abs(array - weights)[seen] / weights[seen], initial=0.0))
    gap = max(gap, float(np.abs(array)[~seen].max(initial=0.0)))
    allowed = 4 * _softmax_drift(it, carried) + 8 * ROUNDOFF * (it.n + 8)
    return equal(gap, 0, what, allowance=allowed, size=1.0)


def log_softmax(it: View, carried: float) -> tuple[Floats, float]:
    """ln q_t, and how far an entry may be from the truth, and from that of a right solver."""
    scores = it.score_doubles
    logs = scores.min() - scores
    off = 4 * _softmax_drift(it, carried) + 8 * softmax_rounding(scores)
    return logs - np.log(np.exp(logs).sum()), off


Mask = NDArray[np.bool_]
#: Data with more than so many entries are not turned into integers to learn how sums round.
_MANY_ENTRIES = 10**6


def has_coordinates(case: Case) -> bool:
    """Whether the rows are vectors of ℝ^d, in the units of the data."""
    return isinstance(case.problem, DenseProblem | SparseProblem) and not case.unit


def per_sum(space: Space) -> float:
    """Relative error of one sum over n rows, with the functions that its terms were made by.

    Logarithms and exponentials in doubles err by a few units in the last place; weights that
    matter are exponentials of numbers of at most 745.
    """
    return ROUNDOFF * (4 * space.n + space.dimension + 2048)


def least(space: Space) -> float:
    """What the norm of the zero vector may be bounded by: numbers below are nothing."""
    return 8 * upper(space.norm(np.zeros(space.dimension)))


def square_off(e: float, length: float) -> float:
    """What ‖v‖² may be off by where v, of this length, is off by e."""
    return e * (2 * length + e)


def combination(space: Space, weights: Floats, off: float = 0.0) -> Vec:
    """Aᵀv for weights in doubles, whose errors move it by at most `off` of R.

    In any order of summation a row is rounded at most n + 64 times, and d times more where a
    geometry adds up entries, relative to |v_i| ‖a_i‖.
    """
    sizes = np.abs(weights)
    mass, lost = float(sizes @ space.shares), space.lost * max(1.0, float(sizes.sum()))
    each = ROUNDOFF * (space.n + space.dimension + 64)
    error = (each * mass + off) * space.radius * SAFETY + lost
    # Rows may cancel: what is rounded are all of them.
    reach = space.radius * mass * SAFETY + error
    return Vec(space, space.problem.combine(weights), error, reach)


class LogisticWeights:
    """σ_i = 1/(1 + exp⟨a_i, w⟩) at an iterate.

    A score that is off by e changes log σ_i by at most e min(1, exp(⟨a_i, w⟩ + e)), for the
    derivative of −log(1 + exp s) is −1/(1 + exp(−s)). Scores are taken to be off by twice their
    error bounds, row by row, which covers the rounding of log σ_i, a number of their size.
    `change` bounds the errors of the log σ_i, but for a few roundoffs.
    """

    def __init__(self, it: View) -> None:
        self.space = it.space
        scores, apart = it.score_doubles, 2 * it.score_errors
        self.logs: Floats = log_expit(-scores)
        self.sigma: Floats = np.exp(self.logs)
        self.change: Floats = apart * np.exp(np.minimum(scores + apart, 0.0))

    def _moved(self, logs: Floats, most: float) -> Floats:
        """How far apart exp(logs) and what it stands for may be: at most `most`, and this."""
        here = np.exp(logs)
        above = np.exp(np.minimum(logs + self.change, most)) - here
        # From exp(l) down to exp(l − c) it is less far than up to exp(l + c), if that is in range.
        below = -here * np.expm1(-self.change)
        moved = np.maximum(above, below) * SAFETY + here * per_sum(self.space)
        # What is not known at all is not NaN, but anything.
        return np.where(np.isfinite(moved), moved, np.inf)

    def sum(self) -> tuple[float, float]:
        """Σ_i σ_i, and a bound on its error; a σ_i that underflows is off by less than u."""
        return float(self.sigma.sum()), self._lost(np.ones(self.space.n))

    def _lost(self, shares: Floats) -> float:
        # No σ_i is further from another than 1, whatever is known of its score.
        each = np.minimum(self._moved(self.logs, 0.0), 1.0) + ROUNDOFF
        return float(each @ shares) * SAFETY

    def pull(self) -> Vec:
        """Σ_i σ_i a_i."""
        return combination(self.space, self.sigma, self._lost(self.space.shares))

    def mean(self) -> Vec:
        """Σ_i σ_i a_i / Σ_i σ_i, also where every σ_i underflows.

        Errors e_i of the weights q_i move this mean m of the rows by Σ e_i (a_i − m), over
        1 − Σ e_i; and two means of the rows are never further apart than 2R.
        """
        top = float(self.logs.max())
        raw = np.exp(self.logs - top)
        total, shares = raw.sum(), self.space.shares
        q, each = raw / total, self._moved(self.logs - top, 700.0) / total
        off = float(each.sum()) * SAFETY
        moved = 2.0
        if off < 0.5:
            moved = float(each @ shares + off * (q @ shares)) * SAFETY / (1 - off)
        return combination(self.space, q, min(moved, 2.0))


def misclassified(it: View) -> tuple[Mask, Mask]:
    """S_t = {i : ⟨a_i, w_t⟩ ≤ 0}, and the rows whose side rounding may change.

    Where a score is too close to 0 for its error bound, it is decided exactly if doubles compute
    it without rounding in whatever order (small integers, or w = 0): then so does every solver.
    Otherwise a solver may see it on either side, and the row is doubtful, and not in S_t.
    """
    scores, error = it.score_doubles, it.score_error
    wrong, doubtful = scores < -error, np.abs(scores) <= error
    if doubtful.any():
        exact = np.zeros(it.n, dtype=bool)
        exact[_free_of_rounding(it, np.flatnonzero(doubtful))] = True
        wrong |= exact & (scores <= 0)
        doubtful &= ~exact
    return wrong, doubtful


def is_misclassified(it: View, row: int, what: str) -> Relation:
    """⟨a_i, w_t⟩ ≤ 0, up to the rounding of scores that a solver may carry along in t steps."""
    space, t = it.space, it.t + 1
    if it.level:
        score: Number = space.exact_scores(it.w, np.array([row]))[0]
    else:
        score = ball(float(it.score_doubles[row]), it.score_error)
    share = float(space.shares[row])
    # t products with a row, and t sums.
    carried = float(space.score_errors(it.case.problem.row(row))[row])
    carried += t * ROUNDOFF * space.radius * space.radius * share
    allowed = 2 * float(it.score_errors[row]) + t * carried
    # So often the products of which the score is a sum are rounded.
    size = space.least_radius * float(np.abs(it.w).max(initial=0.0))
    parts = 8 * (t + 2) * (it.n + space.dimension + 16) * size * share
    about = {"size": size_of(0.0, parts), "magnitude": space.radius * upper(it.norm)}
    return nearly(score, 0, what, where=f"row {row}", rounding=allowed, **about)


def sums_are_exact(it: View) -> bool:
    """Whether doubles hold every sum of t rows: then no right solver has rounded w_t or a score."""
    if not has_coordinates(it.case) or it.n * it.space.dimension > _MANY_ENTRIES:
        return False
    entries, power = integer_rows(it.case.problem.X, np.arange(it.n))
    return -1000 < power < 900 and largest(entries) * max(it.t, 1) < 2**53


def _free_of_rounding(it: View, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the rows for which Σ_j |a_ij w_j| fits into 53 bits of a common unit, a double."""
    if not it.w.any():
        return rows
    if not has_coordinates(it.case):
        return rows[:0]
    w, power = integer_rows(it.w[None, :], np.array([0]))
    sizes = [abs(int(v)) for v in w[0]]
    if sum(sizes) >= 2**53:
        return rows[:0]
    entries, more = integer_rows(it.case.problem.X, rows)
    if not -1000 < power + more < 900:  # products may underflow, or what they are scaled by
        return rows[:0]
    fits = [
        sum(abs(int(a)) * size for a, size in zip(row, sizes, strict=True) if a) < 2**53
        for row in entries
    ]
    return rows[np.array(fits, dtype=bool)]
