"""Bounds on the largest ball around the origin in the hull of the rows (see `oracle.signed`).

The programme max ⟨c, y⟩ subject to ⟨a_i, y⟩ ≤ 1 for all i finds at once the facet that the ray
along c meets (its normal is y) and the point where it meets it: with multipliers λ, Aᵀ λ = c, so
q = λ/Σλ is a distribution with Aᵀ q = t c. Repeating it with c = y never shortens y, so it walks
to a facet that is nearest among its neighbours. Floating point is only used to suggest y and q.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Matrix entries times programmes solved: beyond it only plain directions are tried.
WORK = 40_000_000
#: Facets from which the local search starts, and its steps from each.
STARTS, STEPS = 4, 6
#: Bounds are rounded to multiples of 1/_GRID, lest their digits run away.
_GRID = 2**96
#: Largest dimension for the exact inverse of a simplex.
SIMPLEX = 150


def steepest(rows: Floats) -> tuple[list[Floats], list[Floats]]:
    """Directions with a large (negative) margin, and for every half-axis a distribution q.

    The half-axes come in the order +e_0, −e_0, +e_1, …; there are none when that is too much work
    or a programme fails.
    """
    n, d = rows.shape
    mean = rows.mean(axis=0)
    plain = [_sized(v) for v in (mean, *np.eye(d), *-np.eye(d), _thinnest(rows)) if v.any()]
    plain.sort(key=lambda w: -_margin(rows, w))
    if 2 * n * d * d > WORK:
        return plain[:STARTS], []
    met: list[Floats] = []
    reaches: list[Floats] = []
    for axis in np.repeat(np.eye(d), 2, axis=0) * np.tile([[1.0], [-1.0]], (d, 1)):
        answer = _ray(rows, axis)
        if answer is None:
            reaches.clear()
            break
        met.append(_sized(-answer[0]))
        reaches.append(answer[1])
    starts = sorted([*met, *plain], key=lambda w: -_margin(rows, w))[:STARTS]
    return [_walk(rows, w) for w in starts] + starts, reaches


def _sized(w: Floats) -> Floats:
    """The direction with a largest entry of one, so that its norm neither over- nor underflows."""
    return w / np.abs(w).max()


def _margin(rows: Floats, w: Floats) -> float:
    return float((rows @ w).min() / np.linalg.norm(w))


def _thinnest(rows: Floats) -> Floats:
    """The direction in which the rows vary least."""
    return np.asarray(np.linalg.eigh(rows.T @ rows)[1][:, 0])


def _walk(rows: Floats, w: Floats) -> Floats:
    """From facet to nearer facet."""
    for _ in range(STEPS):
        answer = _ray(rows, -w / np.linalg.norm(w))
        if answer is None or _margin(rows, _sized(-answer[0])) <= _margin(rows, w):
            break
        w = _sized(-answer[0])
    return w


def _ray(rows: Floats, direction: Floats) -> tuple[Floats, Floats] | None:
    """The normal y of the facet that the ray meets, and q; None when the programme fails."""
    from scipy.optimize import linprog

    free = (None, None)
    ones = np.ones(len(rows))
    answer = linprog(-direction, A_ub=rows, b_ub=ones, bounds=free, method="highs")
    if answer.status != 0 or not np.any(answer.x) or not np.isfinite(answer.x).all():
        return None
    q = np.maximum(-answer.ineqlin.marginals, 0.0)
    total = float(q.sum())
    return (answer.x, q / total) if 0 < total < math.inf else None


def simplex_bound(matrix: fmpz_mat, rows: list[int]) -> Fraction:
    """ρ² is at least this: the squared distance of the origin to a face of a simplex of rows.

    Column k of the inverse of (a_i, 1)_i holds the k-th barycentric coordinate as a function
    ⟨g, x⟩ + λ; the face where it vanishes is at distance λ/‖g‖. Zero when there is no such simplex.
    """
    d = matrix.ncols()
    if len(rows) != d + 1 or d > SIMPLEX:
        return Fraction(0)
    try:
        inverse: Any = fmpz_mat([[*(matrix[i, j] for j in range(d)), 1] for i in rows]).inv()
    except ZeroDivisionError:
        return Fraction(0)
    numerators, _ = inverse.numer_denom()
    smallest = None
    for column in numerators.transpose().tolist():
        *slope, level = (int(v) for v in column)
        if level <= 0:
            return Fraction(0)
        square = Fraction(level * level, sum(v * v for v in slope))
        smallest = square if smallest is None else min(smallest, square)
    return smallest or Fraction(0)


def axes_bound(matrix: fmpz_mat, largest: int, reaches: list[Floats]) -> Fraction:
    """ρ² is at least this, by points of the hull near the half-axes; zero when they do not suffice.

    Numbers are in units of the largest entry.
    """
    reach: dict[int, Fraction] = {}
    deviation = Fraction(0)
    for index, q in enumerate(reaches):
        j, sign = index // 2, (-1) ** index
        point = _point(matrix, q, largest)
        reach[j] = min(reach.get(j, Fraction(1)), _down(point[j] * sign))
        rest = sum((v * v for k, v in enumerate(point) if k != j), Fraction(0))
        deviation = max(deviation, _root(rest) + Fraction(1, _GRID))
    if not reach or min(reach.values()) <= 0:
        return Fraction(0)
    total = sum((1 / t**2 for t in reach.values()), Fraction(0))
    radius = _root(1 / total) - deviation
    return max(radius, Fraction(0)) ** 2 * largest**2


def _point(matrix: fmpz_mat, q: Floats, largest: int) -> list[Fraction]:
    """Aᵀ q in units of the largest entry, exactly, for q rounded to a distribution of rationals."""
    weights = [round(math.ldexp(v, 60)) for v in q.tolist()]
    entries = (fmpz_mat(1, len(weights), weights) * matrix).entries()
    return [Fraction(int(v), sum(weights) * largest) for v in entries]


def _down(value: Fraction) -> Fraction:
    """The value rounded down to the grid."""
    return Fraction(value.numerator * _GRID // value.denominator, _GRID)


def _root(value: Fraction) -> Fraction:
    """√value rounded down to the grid."""
    return Fraction(math.isqrt(value.numerator * _GRID**2 // value.denominator), _GRID)
