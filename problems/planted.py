"""Problems with a planted margin: gamma is known exactly, whatever the seed.

The rows are integers. Before they are hidden by a reflection, every row has a first coordinate of
at least p m, and the rows on the margin balance each other in the other coordinates, so the best
direction is the first axis; one row of length q m on that axis sets the radius. With gamma = p / q
as written ("0.1" is one tenth) the margin in the convention of the papers is gamma, not a double
near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.draws import Draws, Integers
from gammabar.problems.known import Generated, Known, mixed_labels
from gammabar.problems.options import check_size

_SPREAD = 16  # entries of the integer vectors that rows are made of
_MAX_RADIUS = 2**31 - 1  # squares of rows stay within int64


@dataclass(frozen=True)
class _Rows:
    """Integer rows: first those on the margin, with weights, then a longest one, then others."""

    A: Integers
    weights: list[int]
    gamma: int
    radius: int


def _margin_rows(draws: Draws, d: int, support: int) -> tuple[Integers, list[int]]:
    """Vectors v_1, ..., v_s of d integers and positive weights c with sum c_i v_i = 0."""
    if support == 1 or d == 0:
        return np.zeros((support, d), dtype=np.int64), [1] * support
    v = draws.integers(-_SPREAD, _SPREAD, (support - 1, d))
    v[v[:, 0] == 0, 0] = 1  # no vector is zero
    weights = draws.integers(1, 3, support - 1)
    return np.vstack([v, -weights @ v]), [*weights.tolist(), 1]


def _planted_rows(owner: str, draws: Draws, n: int, d: int, gamma: Fraction, support: int) -> _Rows:
    """Rows with first coordinate >= p m, margin p m and radius q m, where gamma = p / q.

    On the margin the other coordinates are vectors that 0 is a convex combination of, so
    (p m, 0, ..., 0) is a convex combination of rows, and no direction can do better than e_1.
    """
    if n == 1 and gamma != 1:
        raise ProblemError(f"{owner}: n=1 has the margin 1 only (choose gamma=1 or a larger n)")
    p, q = gamma.numerator, gamma.denominator
    if gamma == 1:  # every row is as long as the margin: all rows are the same
        A = np.zeros((n, d), dtype=np.int64)
        A[:, 0] = _SPREAD
        return _Rows(A, [1], _SPREAD, _SPREAD)
    v, weights = _margin_rows(draws, d - 1, support)
    longest = int((v * v).sum(axis=1).max(initial=0))
    m = isqrt(max(longest - 1, 0) // (q * q - p * p)) + 1  # (q m)^2 - (p m)^2 >= longest
    radius = q * m
    if radius > _MAX_RADIUS:
        raise ProblemError(f"{owner}: gamma={gamma} has too many digits (at most nine)")
    room = radius**2 - (p * m) ** 2
    A = np.zeros((n, d), dtype=np.int64)
    A[:support, 0] = p * m
    A[:support, 1:] = v * (isqrt(room // longest) if longest else 1)
    A[support, 0] = radius
    _fill_behind(draws, A[support + 1 :], p * m, radius)
    return _Rows(A, weights, p * m, radius)


def _fill_behind(draws: Draws, rows: Integers, gamma: int, radius: int) -> None:
    """Rows in the ball of the radius whose first coordinate is larger than gamma."""
    n, d = rows.shape
    first = draws.integers(gamma + 1, radius, n)
    rest = draws.integers(-_SPREAD, _SPREAD, (n, d - 1))
    length = np.maximum((rest * rest).sum(axis=1), 1)
    room = radius**2 - first * first
    # The square root of a double is the same everywhere; one step back where it was rounded up.
    stretch = np.sqrt(room / length).astype(np.int64)
    stretch -= stretch * stretch * length > room
    stretch = stretch * draws.integers(0, _SPREAD, n) // _SPREAD
    rows[:, 0] = first
    rows[:, 1:] = rest * stretch[:, None]


def _reflect(owner: str, draws: Draws, A: Integers, radius: int) -> tuple[Integers, int]:
    """A times the integer matrix |v|^2 I - 2 v v^T: a reflection that stretches all by |v|^2."""
    d = A.shape[1]
    v = draws.signs(d)
    v[0] *= isqrt(d - 1) + 1  # so that the image of e_1 has no large coordinate
    stretch = int(v @ v)
    if 3 * stretch * radius >= 2**53:
        raise ProblemError(f"{owner}: gamma has too many digits for d={d} (or choose rotate=0)")
    return stretch * A - 2 * (A @ v)[:, None] * v, stretch


def _finish(
    owner: str, draws: Draws, rows: _Rows, y: Integers, rotate: bool, copies: Array | None = None
) -> Generated:
    """Hide the construction: reflect, repeat and shuffle the rows; keep track of the truth."""
    A, stretch = _reflect(owner, draws, rows.A, rows.radius) if rotate else (rows.A, 1)
    original = np.arange(len(A)) if copies is None else copies
    original = original[draws.permutation(len(original))]
    total = sum(rows.weights)
    weights = []
    for i, weight in enumerate(rows.weights):
        place = int(np.flatnonzero(original == i)[0])
        weights.append((place, Fraction(weight, total)))
    y = y[original]
    truth = Known(
        Fraction(rows.gamma * stretch) ** 2,
        Fraction(rows.radius * stretch) ** 2,
        tuple(sorted(weights)),
    )
    return Generated(A[original] * y[:, None], y, truth)


def planted(
    n: int, d: int, gamma: Fraction, seed: int, support: int | None, rotate: bool
) -> Generated:
    """A problem whose margin, divided by its radius, is gamma exactly as written."""
    check_size("planted", n, d)
    draws = Draws(seed)
    most = max(1, min(d, n - 1))
    if support is not None and support > most:
        raise ProblemError(f"planted: support={support} must be at most {most} for n={n}, d={d}")
    rows = _planted_rows("planted", draws, n, d, gamma, support or most)
    return _finish("planted", draws, rows, mixed_labels(draws, n), rotate)


def duplicated(n: int, d: int, copies: int, gamma: Fraction, seed: int) -> Generated:
    """A planted problem in which every row occurs several times."""
    check_size("duplicated", n * copies, d)
    draws = Draws(seed)
    rows = _planted_rows("duplicated", draws, n, d, gamma, max(1, min(d, n - 1)))
    y = mixed_labels(draws, n)
    return _finish("duplicated", draws, rows, y, True, np.repeat(np.arange(n), copies))


def imbalanced(n: int, d: int, ratio: int, gamma: Fraction, seed: int) -> Generated:
    """A few rows of class 1 against `ratio` times as many of class -1 that pull another way.

    Rows of class -1 have a positive second coordinate (before the reflection) and are repeated
    `ratio` times, as in the construction of Tyurin (2024), Appendix E; those of class 1 have a
    negative one.
    """
    check_size("imbalanced", n, d)
    few = n // (ratio + 1)
    if few < 2:
        raise ProblemError(f"imbalanced: n={n} must be at least 2 (ratio + 1) = {2 * (ratio + 1)}")
    many = -(-(n - few) // ratio)
    draws = Draws(seed)
    rows = _planted_rows("imbalanced", draws, few + many, d, gamma, 2)
    A = rows.A
    y = np.ones(len(A), dtype=np.int64)
    y[0 if A[0, 1] > 0 else 1] = -1  # the two rows on the margin lie opposite each other
    y[2 : 1 + many] = -1  # the longest row and others
    A[3:, 1:] *= np.where(A[3:, 1] * y[3:] > 0, -1, 1)[:, None]
    copies = np.concatenate([np.flatnonzero(y > 0), np.resize(np.flatnonzero(y < 0), n - few)])
    return _finish("imbalanced", draws, rows, y, True, copies)
