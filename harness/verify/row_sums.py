"""Sums over the rows in doubles: logistic weights, misclassified rows, and their error bounds.

A bound on the error of a quantity holds for any evaluation in doubles from the delivered w, in any
order of summation: for the one made here, and for the one that a solver made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from gammabar.harness.verify.certified import Floats, Space, Vec
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import (
    ROUNDOFF,
    SAFETY,
    Number,
    Relation,
    ball,
    nearly,
    size_of,
    upper,
)
from gammabar.oracle.rational import integer_rows, largest
from gammabar.problems import DenseProblem, SparseProblem

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

    Attributes
    ----------
    logs, sigma : arrays
        log σ_i and σ_i.
    change : array
        Bounds of the errors of the log σ_i, but for a few roundoffs.
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
