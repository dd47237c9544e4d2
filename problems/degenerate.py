"""Small problems in special position, where careless code goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gammabar.problems.base import ProblemError
from gammabar.problems.draws import Draws, Integers
from gammabar.problems.known import Generated, Known, largest_square, mixed_labels, uniform
from gammabar.problems.options import check_size

_Dual = tuple[tuple[int, Fraction], ...]
_Made = tuple[Integers, Fraction, _Dual]  # rows, gamma^2 and the dual weights


def _ties(draws: Draws, n: int, d: int) -> _Made:
    """Every row is on the margin; the first two balance each other."""
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 3
    A[1, 1:] = -A[0, 1:]
    return A, Fraction(9), uniform([0, 1])


def _dependent(draws: Draws, n: int, d: int) -> _Made:
    """Rows on the margin that all lie in one plane, so their Gram matrix has rank two."""
    if d < 2:
        raise ProblemError("degenerate: d=1 must be at least 2 for kind=dependent")
    along = draws.integers(-4, 4, d - 1)
    along[0] = 1
    steps = np.arange(n) - (n - 1) // 2
    A = np.hstack([np.full((n, 1), 5), steps[:, None] * along])
    balanced = n if n % 2 else n - 1
    return A, Fraction(25), uniform(list(range(balanced)))


def _collinear(draws: Draws, n: int, d: int) -> _Made:
    """Multiples 1, 2, ..., n of one vector."""
    line = draws.integers(-4, 4, d)
    line[0] = 3
    A = np.arange(1, n + 1)[:, None] * line
    return A, Fraction(int(line @ line)), uniform([0])


def _square(draws: Draws, n: int, d: int) -> _Made:
    """The corners (1, +-1, +-1, 0, ...) of a square face, over and over: many dual optima."""
    if d < 3 or n < 4:
        raise ProblemError(f"degenerate: n={n}, d={d} must be at least 4 and 3 for kind=square")
    corners = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])
    A = np.zeros((n, d), dtype=np.int64)
    A[:, :3] = np.resize(corners, (n, 3))
    return A, Fraction(1), uniform([0, 1, 2, 3])


def _simplex(draws: Draws, n: int, d: int) -> _Made:
    """The unit vectors e_1, ..., e_n: every row is needed, and gamma^2 = 1 / n."""
    if d < n:
        raise ProblemError(f"degenerate: d={d} must be at least n={n} for kind=simplex")
    return np.eye(n, d, dtype=np.int64), Fraction(1, n), uniform(list(range(n)))


def _opposite(draws: Draws, n: int, d: int) -> _Made:
    """The same point with both labels, among points that could be separated."""
    if n < 2:
        raise ProblemError(f"degenerate: n={n} must be at least 2 for kind=opposite")
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 5
    A[-1] = -A[0]
    return A, Fraction(0), uniform([0, n - 1])


def _zero_row(draws: Draws, n: int, d: int) -> _Made:
    """A point at the origin, which no hyperplane through the origin can separate."""
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 5
    A[-1] = 0
    return A, Fraction(0), uniform([n - 1])


KINDS: dict[str, Callable[[Draws, int, int], _Made]] = {
    "ties": _ties,
    "dependent": _dependent,
    "collinear": _collinear,
    "square": _square,
    "simplex": _simplex,
    "opposite": _opposite,
    "zero-row": _zero_row,
}


def degenerate(kind: str, n: int, d: int, seed: int) -> Generated:
    """A problem of one of the `KINDS`; all of them are of small integers."""
    check_size("degenerate", n, d)
    if kind == "ties" and n < 2:
        raise ProblemError(f"degenerate: n={n} must be at least 2 for kind=ties")
    draws = Draws(seed)
    A, gamma_squared, q = KINDS[kind](draws, n, d)
    y = mixed_labels(draws, n)
    if kind == "opposite":
        y[-1] = -y[0]
    return Generated(A * y[:, None], y, Known(gamma_squared, largest_square(A), q))
