"""Candidates where the margin is narrow, or zero: a stage between the Gram matrix and rationals.

Doubles see γ̄² in a Gram matrix only down to about 10⁻¹⁴ of the squared radius. Below, two things
are done instead.

*Is there a margin at all?* Σ q_i a_i = 0 does not depend on the coordinates: it holds for the rows
a_i if and only if it holds for the rows s_i Tᵀ a_i, with any regular T and any s_i > 0 (q_i becomes
q_i / s_i). So T is chosen to make the covariance of the rows the identity and s_i to make them of
length one, and the minimum-norm point of these rows is far easier to tell from zero. Rows that
cannot have a weight go first: if the entries of a column are all of one sign, the rows where it is
not zero have none, as Σ q_i a_ij = 0. (Presolving of linear programmes knows this as dual fixing;
making rows isotropic is the rescaling of Dunagan and Vempala [1]_, done once.)

*How wide is it?* The rows themselves are factored (`_orthogonal`), so that γ̄ itself, not its
square, competes with rounding.

Both are the working-set method again, many rows at a time; nothing that comes out is trusted.

References
----------
.. [1] J. Dunagan and S. Vempala (2008), A simple polynomial-time rescaling algorithm for solving
   linear programs. Mathematical Programming 114.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.candidate import BATCH, MAX_SCANS, Candidate
from gammabar.oracle.scans import least_scores, sides_of, spread
from gammabar.oracle.watch import Watch
from gammabar.problems import DenseProblem, Problem, SparseProblem
from gammabar.problems.sparsity import is_sparse

#: Columns up to which dense factors of a full corral are kept (128 MB at 4,000).
COLUMNS = 4000
#: Entries up to which all rows are made isotropic: copies in doubles of 0.5 GB each. Beyond, the
#: first question is left out.
ENTRIES = 1 << 26
#: Share of the largest eigenvalue of the covariance below which another is rounding.
FLAT = 1e-14

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Tell = Callable[[Rows, Floats], None]


def narrow(problem: Problem) -> bool:
    """Whether there is this second way for a problem: rows of not too many coordinates."""
    return isinstance(problem, DenseProblem | SparseProblem) and problem.dimension <= COLUMNS


def narrow_candidate(problem: Problem, first: Candidate, watch: Watch) -> Candidate:
    """A better guess than `first`, which the Gram matrix gave.

    Parameters
    ----------
    problem : DenseProblem or SparseProblem
        With or without free intercept.
    first : Candidate
        Where to start.
    watch : Watch
        Told the bounds on the way.

    Returns
    -------
    Candidate
        Weights with Aᵀq = 0 as far as doubles tell, or a guess at the minimum-norm point.
    """
    assert isinstance(problem, DenseProblem | SparseProblem)
    watch.stage("is there a margin?")
    gordan = _opposed(problem, watch)
    if gordan is not None:
        return Candidate(*gordan, first.scans, "opposed", settled=True)
    watch.stage("narrow margin")
    side, sides = sides_of(problem)
    found = _Search(_Plain(problem), side, sides, problem.radius).run(
        first.support, first.weights, _teller(problem, watch)
    )
    return Candidate(*_sorted(found.rows, found.weights), found.scans, "orthogonal", settled=True)


class _Plain:
    """The rows as they are."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.n, self.width = problem, problem.n, problem.dimension

    def take(self, rows: Rows) -> Floats:
        block = self.problem._rows(rows)
        return np.asarray(block.toarray() if is_sparse(block) else block)

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.problem.scores(w))


class _White:
    """Rows of length one with a covariance close to the identity, in memory."""

    def __init__(self, A: Floats) -> None:
        gram = A.T @ A
        scale = 1 / np.sqrt(np.diag(gram))
        values, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
        real = values > FLAT * values[-1]  # the others are rounding: no row has a part in them
        self.A = A @ (scale[:, None] * vectors[:, real] / np.sqrt(values[real]))
        self.lengths = np.sqrt(np.einsum("ij,ij->i", self.A, self.A))
        self.A /= self.lengths[:, None]
        self.n, self.width = self.A.shape

    def take(self, rows: Rows) -> Floats:
        return self.A[rows]

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.A @ w)


@dataclass
class _Found:
    rows: Rows
    weights: Floats
    zero: bool
    scans: int


class _Search:
    """The working-set method with orthogonal factors on rows of some kind."""

    def __init__(self, rows: Any, side: Rows, sides: int, lift: float) -> None:
        self.rows, self.side, self.sides, self.lift = rows, side, sides, lift

    def _lifted(self, some: Rows) -> Floats:
        out = np.zeros((len(some), self.rows.width + self.sides))
        out[:, : self.rows.width] = self.rows.take(some)
        out[np.arange(len(some)), self.rows.width + self.side[some]] = self.lift
        return out

    def run(self, support: Rows, weights: Floats, tell: Tell, decide: bool = False) -> _Found:
        """From some rows and weights to the minimum-norm point; `tell` hears of those on the way.

        With `decide` it ends as soon as all rows have a positive score: they are separable then.
        """
        from gammabar.oracle._orthogonal import LEVEL, nearest, refactor

        source, sides, c = self.rows, self.sides, self.lift
        width = source.width
        capacity = min(width, source.n) + sides + 2
        order = np.argsort(-weights, kind="stable")[: capacity - 1]
        members = support[order]
        Q, R = np.zeros((capacity, width + sides)), np.zeros((capacity, capacity))
        S, q, rho = np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros(width + sides)
        size = len(members)
        S[:size], q[:size] = np.arange(size), weights[order]
        A = self._lifted(members)
        size = refactor(A, Q, R, S, q, size)
        q[:size] = _shared(q[:size], self.side[members[S[:size]]], sides)
        best, scans = np.inf, 0
        while True:
            scans += 1
            norms = np.sqrt(np.einsum("ij,ij->i", A, A))
            size, norm, zero = nearest(
                A, norms, self.side[members], sides, c, S, q, size, Q, R, rho
            )
            kept = members[S[:size]]
            below = source.scores(rho[:width])
            separates = decide and float(below.max()) < 0
            below += c * rho[width:][self.side]
            tell(kept, q[:size])
            fresh = _highest(below, LEVEL * 10 * c * float(np.linalg.norm(rho)), kept, size)
            if zero or separates or not norm < best or not len(fresh) or scans == MAX_SCANS:
                return _Found(kept, q[:size].copy(), zero, scans)
            best = norm
            A = np.vstack([A[S[:size]], self._lifted(fresh)])
            members = np.concatenate([kept, fresh])
            S[:size] = np.arange(size)


def _teller(problem: Problem, watch: Watch) -> Tell:
    """What tells the watch about weights: the length of their point, and its margin."""
    side, sides = sides_of(problem)

    def tell(rows: Rows, weights: Floats) -> None:
        present = np.bincount(side[rows], weights, sides) > 0
        if not present.all():
            watch.check()
            return
        weights = _shared(weights, side[rows], sides)
        w = problem.combine(spread(problem.n, rows, weights))
        norm, scores = float(np.linalg.norm(w)), problem.scores(w)
        least = float(np.mean(least_scores(scores, side, sides)))
        watch.seen(rows, weights, norm / problem.radius, least / (norm or 1.0) / problem.radius)

    return tell


def _shared(weights: Floats, side: Rows, sides: int) -> Floats:
    """Weights scaled to the same sum on each side, and to the sum one."""
    totals = np.bincount(side, weights, sides)
    return np.asarray(weights / (totals * sides)[side])


def _highest(below: Floats, least: float, kept: Rows, size: int) -> Rows:
    """Rows that are furthest below their level, not yet in the working set."""
    most = min(max(BATCH, size // 2), len(below))
    top = np.argpartition(-below, most - 1)[:most]
    return np.setdiff1d(top[below[top] > least], kept)


def _opposed(problem: Any, watch: Watch) -> tuple[Rows, Floats] | None:
    """Rows and weights with Aᵀq = 0 (and yᵀq = 0, if the intercept is free), or None."""
    A = _Plain(problem).take(np.arange(problem.n)) if _fits(problem) else None
    if A is None:
        return None
    if problem.intercept == "free":
        A = np.hstack([A, problem.radius * np.asarray(problem.y, dtype=np.float64)[:, None]])
    live = possible(A)
    if not len(live):
        return None
    A = A[live]
    A = A[:, (A != 0).any(axis=0)]
    empty = live[~A.any(axis=1)]
    if len(empty):  # a row that is zero is a proof of its own
        return _sorted(empty[:1], np.ones(1))
    white, tell = _White(A), _teller(problem, watch)
    start = np.array([int(white.scores(white.A.mean(axis=0)).argmin())])
    found = _Search(white, np.zeros(len(live), np.int64), 1, 1.0).run(
        start,
        np.ones(1),
        lambda rows, weights: tell(live[rows], weights / white.lengths[rows]),
        decide=True,
    )
    if not found.zero:
        return None
    return _sorted(live[found.rows], found.weights / white.lengths[found.rows])


def _fits(problem: Problem) -> bool:
    return problem.n * problem.dimension <= ENTRIES


def possible(A: Floats) -> Rows:
    """The rows that may have a weight in q ≥ 0 with Aᵀq = 0; the others have none.

    If no entry of a column is negative (or none positive) on the rows that are left, those with
    another entry than zero in it are left out, and so on.
    """
    live = np.arange(len(A))
    while len(live):
        left = A[live]
        lopsided = (left > 0).any(axis=0) ^ (left < 0).any(axis=0)
        if not lopsided.any():
            break
        live = live[~(left[:, lopsided] != 0).any(axis=1)]
    return live


def _sorted(rows: Rows, weights: Floats) -> tuple[Rows, Floats]:
    """Rows with positive weights in increasing order; weights of sum one."""
    order = np.argsort(rows)
    order = order[weights[order] > 0]
    return rows[order], weights[order] / weights[order].sum()
