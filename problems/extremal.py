"""Data on which the bounds of the papers are nearly attained: they tell a rate from a slower one.

All are so symmetric that their truth is known in closed form, and is exact for the data as they
are made: where a number of the definition is irrational, it is rounded before the truth is taken.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from gammabar.problems.base import ProblemError
from gammabar.problems.known import Generated, Known, largest_square, uniform
from gammabar.problems.options import check_size

_SCALE = 2**20  # the lengths of orthogonal rows are multiples of this part of the unit


def orthogonal(n: int, p: Fraction) -> Generated:
    """Rows r e_1, e_2, ..., e_n: the first has the dual weight p, the others share the rest.

    The optimality of q = (p, c, ..., c) is r^2 p = c, so r^2 = (1 - p) / (p (n - 1)) and
    gamma^2 = r^2 p = (1 - p) / (n - 1). Where r is irrational it is rounded to a multiple of
    2^-20, and the weights are those that follow from it.
    """
    check_size("orthogonal", n, n)
    first, unit = _ratio((1 - p) / (p * (n - 1)))
    if not first:
        raise ProblemError(f"orthogonal: p={p} is too near 1 for n={n} (choose a smaller one)")
    lengths = np.full(n, unit)
    lengths[0] = first
    y = np.where(np.arange(n) % 2, -1, 1)
    inverse = [Fraction(1, int(length) ** 2) for length in lengths]
    gamma_squared = 1 / sum(inverse, Fraction(0))
    q = tuple((i, gamma_squared * weight) for i, weight in enumerate(inverse))
    known = Known(gamma_squared, Fraction(max(first, unit)) ** 2, q)
    return Generated(np.diag(lengths * y), y, known)


def _ratio(square: Fraction) -> tuple[int, int]:
    """Integers whose ratio is the square root, exactly if it is a simple rational number."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if Fraction(top, bottom) ** 2 == square and max(top, bottom) <= _SCALE:
        return top, bottom
    if square * _SCALE**2 >= 2**60:
        raise ProblemError("orthogonal: p is too small (the first row would be too long)")
    return (isqrt(4 * _SCALE**2 * square.numerator // square.denominator) + 1) // 2, _SCALE


def opposed(r: int, copies: int) -> Generated:
    """The row (1, r) several times against a single row (1, -r).

    Mean steps from the origin start beside the axis and cross it to and fro: Normalized Batch
    Perceptron needs about half of the R^2 / gamma^2 = 1 + r^2 iterations that it is allowed.
    """
    check_size("opposed", copies + 1, 2)
    A = np.full((copies + 1, 2), (1, r))
    A[-1, 1] = -r
    y = np.where(np.arange(copies + 1) % 2, -1, 1)
    known = Known(Fraction(1), Fraction(1 + r * r), uniform([0, copies]))
    return Generated(A * y[:, None], y, known)


def crossed(copies: int) -> Generated:
    """Copies of e_1, and the two rows e_2 and -e_2, which alone prove that nothing separates them.

    The dual weights of SNKP start with nearly all of their mass on e_1, as far as can be from those
    of the proof.
    """
    check_size("crossed", copies + 2, 2)
    A = np.zeros((copies + 2, 2), dtype=np.int64)
    A[:copies, 0] = 1
    A[copies:, 1] = 1, -1
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    known = Known(Fraction(0), Fraction(1), uniform([copies, copies + 1]))
    return Generated(A * y[:, None], y, known)


def centred(n: int, copies: int) -> Generated:
    """The corners n e_i - (1, ..., 1) of a regular simplex around the origin, the first repeated.

    Nothing separates them. From any mean of corners the nearest point of the hull is approached
    as slowly as the bound of the von Neumann algorithm allows, as long as few corners were seen.
    """
    check_size("centred", n + copies - 1, n)
    corners = n * np.eye(n, dtype=np.int64) - 1
    A = np.vstack([np.repeat(corners[:1], copies, axis=0), corners[1:]])
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    known = Known(Fraction(0), Fraction(n * (n - 1)), uniform([0, *range(copies, n + copies - 1)]))
    return Generated(A * y[:, None], y, known)


def staggered(d: int, r: int, copies: int) -> Generated:
    """Rows r e_1 (copies), r e_2 - e_1, and r e_j + e_1 - 2 e_(j-1) for j = 3, ..., d.

    Nearly orthogonal, and tilted so that each row is misclassified by the sum of those before it,
    and by no shorter sum: a method that takes all misclassified rows at once gets one at a time.
    All rows have the same score at the best w. That is found from the first coordinate on, and the
    weights from the last one back.
    """
    check_size("staggered", copies + d - 1, d)
    A = r * np.eye(d, dtype=np.int64)
    for j in range(1, d):
        A[j, 0] += -1 if j == 1 else 1
        A[j, j - 1] -= 2 if j > 1 else 0
    w = [Fraction(1, r)]
    for j in range(1, d):
        w.append((1 + w[0]) / r if j == 1 else (1 - w[0] + 2 * w[-1]) / r)
    q = [Fraction(0)] * (d + 1)
    for j in range(d - 1, 0, -1):
        q[j] = (w[j] + 2 * q[j + 1]) / r
    q[0] = (w[0] + (q[1] if d > 1 else 0) - sum(q[2:], Fraction(0))) / r
    if min(q) < 0:
        raise ProblemError(f"staggered: r={r} is too small for d={d} (choose r={4 * d} or more)")
    total = sum(q, Fraction(0))
    weights = ((0 if j == 0 else copies + j - 1, q[j] / total) for j in range(d) if q[j])
    A = np.vstack([np.repeat(A[:1], copies, axis=0), A[1:]])
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    known = Known(1 / total, largest_square(A), tuple(weights))
    return Generated(A * y[:, None], y, known)
