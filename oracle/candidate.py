"""The untrusted half of the oracle: a support and weights, in floating point, as fast as possible.

A working-set method. Each scan of the data scores every row against the current point w = Aᵀq
and hands the most violated rows, many at once, to Wolfe's minimum-norm-point method on the small
Gram matrix of the working set. MNIST 0/1 (12,665 rows) needs about eight scans.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem, ProblemError

#: Rows added per scan: enough that scans are few, few enough that the Gram matrix stays small.
BATCH = 100
#: Below this share of the radius the point is the origin as far as doubles can tell.
ZERO = 1e-10
#: A scan is one pass over the data; convergence takes tens, so this is a guard, not a limit.
MAX_SCANS = 1000


@dataclass(frozen=True)
class Candidate:
    """A guess at the support rows and their dual weights; nothing about it is proved."""

    support: NDArray[np.int64]
    weights: NDArray[np.float64]
    scans: int
    method: str


def working_set(problem: Problem) -> Candidate:
    """Guess the support of the minimum-norm point of the rows' convex hull.

    Parameters
    ----------
    problem : Problem
        Any geometry; only ``scores``, ``combine`` and ``gram`` are used.

    Returns
    -------
    Candidate
        Rows with positive weights that sum to one.
    """
    from gammabar.oracle._wolfe import minimum_norm

    n, radius2 = problem.n, problem.radius**2
    if radius2 == 0.0:
        return Candidate(np.zeros(1, np.int64), np.ones(1), 0, "working-set")
    scores = problem.scores(problem.combine(np.full(n, 1.0 / n)))
    first = int(np.argmin(scores))
    rows = np.array([first], dtype=np.int64)  # the working set
    gram = problem.gram(rows)
    capacity, size = 256, 1
    S, q, R = _grow(capacity, None, None, None)
    q[0], R[0, 0] = 1.0, np.sqrt(gram[0, 0] + radius2)
    best = np.inf
    scans = 0
    while scans < MAX_SCANS:
        scans += 1
        point = _spread(n, rows[S[:size]], q[:size])
        scores = problem.scores(problem.combine(point))
        square = float(point[rows[S[:size]]] @ scores[rows[S[:size]]])
        fresh = _most_violated(scores, square, rows, max(BATCH, size // 2))
        if len(fresh) == 0 or square <= ZERO**2 * radius2 or not square < best:
            break
        best = square
        gram = _extend(problem, gram, S[:size], rows, fresh)
        rows = np.concatenate([rows[S[:size]], fresh])
        S[:size] = np.arange(size)
        while True:
            size = minimum_norm(gram, radius2, S, q, size, R)
            if size < capacity:
                break
            capacity *= 2
            S, q, R = _grow(capacity, S, q, R)
    keep = np.flatnonzero(q[:size] > 0)
    order = keep[np.argsort(rows[S[keep]])]
    weights = q[order] / q[order].sum()
    return Candidate(rows[S[order]], weights, scans, "working-set")


def cvxpy_working_set(problem: Problem) -> Candidate:
    """The same guess from CVXPY: interior-point solutions of growing working sets.

    Parameters
    ----------
    problem : Problem
        Any geometry; CVXPY sees the Gram matrix of the working set only.

    Returns
    -------
    Candidate
        Rows whose weight is not negligible for an interior-point method.
    """
    from gammabar.oracle.models import kernel_dual

    n = problem.n
    scores = problem.scores(problem.combine(np.full(n, 1.0 / n)))
    rows = np.sort(np.argsort(scores, kind="stable")[: 2 * BATCH]).astype(np.int64)
    scans = 0
    while scans < MAX_SCANS:
        scans += 1
        result = kernel_dual(problem.gram(rows))
        if result.q is None:
            raise ProblemError(f"CVXPY gave no answer ({result.status}); use --method exact")
        weights = np.maximum(result.q, 0.0)
        weights /= weights.sum()
        scores = problem.scores(problem.combine(_spread(n, rows, weights)))
        square = max(float(weights @ scores[rows]), 0.0)
        slack = 1e-7 * problem.radius * (square**0.5 + 1e-7 * problem.radius)
        fresh = _most_violated(scores, square - slack, rows, 2 * BATCH)
        if len(fresh) == 0:
            break
        rows = np.union1d(rows, fresh)
    keep = weights > 1e-6 * weights.max()
    return Candidate(rows[keep], weights[keep] / weights[keep].sum(), scans, "cvxpy")


def _most_violated(
    scores: NDArray[np.float64], square: float, rows: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Rows strictly below the supporting hyperplane and not yet in the working set."""
    most = min(most, len(scores))
    lowest = np.argpartition(scores, most - 1)[:most]
    return np.setdiff1d(lowest[scores[lowest] < square * (1 - 1e-11)], rows)


def _spread(n: int, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    dense = np.zeros(n)
    dense[rows] = weights
    return dense


def _extend(
    problem: Problem,
    gram: NDArray[np.float64],
    kept: NDArray[np.int64],
    rows: NDArray[np.int64],
    fresh: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Gram matrix of the kept support followed by the fresh rows; old entries are reused."""
    s, m = len(kept), len(kept) + len(fresh)
    block = problem.gram(fresh, np.concatenate([rows[kept], fresh]))
    out = np.empty((m, m))
    out[:s, :s] = gram[np.ix_(kept, kept)]
    out[s:] = block
    out[:s, s:] = block[:, :s].T
    return out


def _grow(capacity, S, q, R):  # type: ignore[no-untyped-def]
    """Work arrays of the given capacity, holding what the smaller ones held."""
    new = (np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros((capacity, capacity)))
    if S is not None:
        new[0][: len(S)], new[1][: len(q)] = S, q
        new[2][: len(R), : len(R)] = R
    return new
