"""Data as integers times a power of two, and exact products and norms of them.

Integers of 64 bits are used only where a bound on their size, computed in Python's integers, shows
that no negation, sum or product leaves their range; doubles only where every sum stays below 2⁵³.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from gammabar.problems import quiet
from gammabar.problems.points import Points

#: Unit roundoff of doubles, and a factor that covers 1/(1 − k u) and the rounding of the bound.
ROUNDOFF, SAFETY = 2.0**-53, 1.02
#: Columns up to which the slack of `Points.longest` (10⁻⁹) covers the rounding of sums of squares.
MANY = 1 << 22


def integer_rows(X: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Rows of X as integers times a power of two: (integers, exponent).

    The integers are int64 where all of them lie strictly between −2⁶³ and 2⁶³, so that their signs
    may be changed, and Python's otherwise.
    """
    dense = X[rows]
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense)
    if dense.dtype.kind in "bui":
        return dense.astype(np.int64 if largest(dense) < 2**63 else object), 0
    mantissa, exponent = np.frexp(dense.astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    nonzero = whole != 0
    if not nonzero.any():
        return np.zeros(dense.shape, np.int64), 0
    # Trailing zero bits are given back, so that 0.5 or 3.0 do not become 53-bit integers.
    lowest = np.where(nonzero, whole & -whole, 1)
    exponent = exponent - 54 + np.frexp(lowest.astype(np.float64))[1]
    whole = whole // lowest
    smallest = int(exponent[nonzero].min())
    shift = np.where(nonzero, exponent - smallest, 0)
    if int(shift.max()) + 53 < 63:
        return whole << shift, smallest
    wide = [int(v) << int(s) for v, s in zip(whole.flat, shift.flat, strict=True)]
    return np.array(wide, dtype=object).reshape(whole.shape), smallest


def signed_rows(X: Any, y: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Rows y_i x_i, as `integer_rows`."""
    integers, exponent = integer_rows(X, rows)
    return integers * np.asarray(y, dtype=np.int64)[rows][:, None], exponent


def whole_rows(rows: list[list[int]]) -> NDArray[Any] | None:
    """A matrix that holds these integers, exactly: of int64 or of doubles; None if neither does.

    NumPy on its own makes doubles of 2⁶³ beside a negative number, and loses digits.
    """
    size = max((abs(v) for row in rows for v in row), default=0)
    if size < 2**63:
        return np.array(rows, dtype=np.int64)
    if size < 2**1000 and all(int(float(v)) == v for row in rows for v in row):
        return np.array(rows, dtype=np.float64)
    return None


def largest(array: NDArray[Any]) -> int:
    """The largest absolute value of integers of any type, as Python's integer."""
    if not array.size:
        return 0
    return max(-int(array.min()), int(array.max()))


def exponent_of(X: Any) -> int:
    """e with 2ᵉ⁻¹ ≤ max |x| < 2ᵉ, up to rounding, for a dense or sparse matrix; 0 for zero."""
    values = X.data if hasattr(X, "toarray") else X
    top = max(-float(values.min()), float(values.max())) if values.size else 0.0
    return int(np.frexp(top)[1])


def to_fmpz_mat(array: NDArray[Any]) -> fmpz_mat:
    """A two-dimensional array of (NumPy or Python) integers as a flint matrix."""
    return fmpz_mat(array.shape[0], array.shape[1], array.ravel().tolist())


def product(left: NDArray[Any], right: NDArray[Any]) -> fmpz_mat:
    """left @ right.T over the integers; through BLAS where doubles hold every partial sum."""
    # Not less than one each: beside a matrix of zeros the other may be of any size.
    if max(1, largest(left)) * max(1, largest(right)) * left.shape[1] < 2**53:
        exact = quiet.product(left.astype(np.float64), right.astype(np.float64))
        return to_fmpz_mat(exact.astype(np.int64))
    return to_fmpz_mat(left) * to_fmpz_mat(right).transpose()


def combination(numerators: list[int], integers: NDArray[Any]) -> fmpz_mat:
    """Σ_i numerators_i integers_i, as a matrix of one row.

    Where the rows are small, the numerators are taken apart into limbs of 16 bits: a product of
    matrices of doubles, in which no sum reaches 2⁵³, does all of them, and carries are kept for
    the end. (Making large integers of all the small ones takes ten times as long.)
    """
    m, width = integers.shape
    if integers.dtype == object or largest(integers) * m * 2**16 >= 2**53:
        used = np.flatnonzero((integers != 0).any(axis=0))
        vector = fmpz_mat(1, width)
        if len(used):
            head = fmpz_mat(1, m, numerators) * to_fmpz_mat(integers[:, used])
            for j, value in zip(used.tolist(), head.entries(), strict=True):
                vector[0, j] = value
        return vector
    count = max(v.bit_length() for v in numerators) // 16 + 1
    limbs = np.frombuffer(
        b"".join(v.to_bytes(2 * count, "little", signed=True) for v in numerators), "<u2"
    ).reshape(m, count)
    doubles = limbs.astype(np.float64)
    doubles[:, -1] = limbs[:, -1].astype(np.int16)  # the last one has the sign
    sums = quiet.product(
        np.ascontiguousarray(doubles.T), np.ascontiguousarray(integers.T, dtype=np.float64)
    ).astype(np.int64)
    out, carry = np.empty((width, count + 4), "<u2"), np.zeros(width, np.int64)
    for k in range(count + 4):  # four limbs more hold any carry, and the sign
        if k < count:
            carry += sums[k]
        out[:, k] = carry & 0xFFFF
        carry >>= 16
    size, text = 2 * (count + 4), out.tobytes()
    values = [
        int.from_bytes(text[j : j + size], "little", signed=True) for j in range(0, len(text), size)
    ]
    return fmpz_mat(1, width, values)


def squared_norms(X: Any) -> tuple[NDArray[np.float64], int, float]:
    """Squared row norms divided by 4ᵏ in doubles, k, and a relative error bound for them.

    k is zero unless squares would leave the range of doubles. Rows that are far shorter than the
    longest one may lose squares to underflow: an absolute error of at most d 2⁻¹⁰⁷⁴.
    """
    k = exponent_of(X)
    k = k if abs(k) > 300 else 0
    if hasattr(X, "toarray"):
        values = X.astype(np.float64)
        values.data = np.ldexp(values.data, -k)
        squares = np.asarray(values.multiply(values).sum(axis=1)).ravel()
    else:
        squares = np.empty(len(X))
        for start in range(0, len(X), 512):  # blocks that stay in the cache; no copy of the matrix
            block = X[start : start + 512].astype(np.float64)
            block = np.ldexp(block, -k) if k else block
            squares[start : start + 512] = np.einsum("ij,ij->i", block, block)
    return squares, k, (X.shape[1] + 4) * ROUNDOFF * SAFETY


def largest_norm(points: Points) -> Fraction:
    """max_i ‖x_i‖², exactly: doubles leave a few rows, integers decide between them."""
    if points.shape[1] > MANY:
        squares, _, error = squared_norms(points.X)
        return max(_norms(points.X, np.flatnonzero(squares >= squares.max() * (1 - 3 * error))))
    if not len(points.longest):
        points.largest()
    return max(_norms(points.X, points.longest))


def smallest_norm(points: Points) -> Fraction:
    """min_i ‖x_i‖², exactly."""
    squares, _, error = squared_norms(points.X)
    # 1e-290 is more than underflow can take from a sum of fewer than 10³³ squares.
    close = np.flatnonzero(squares <= squares.min() * (1 + 3 * error) + 1e-290)
    return min(_norms(points.X, close))


def _norms(X: Any, rows: NDArray[np.int64]) -> list[Fraction]:
    """Exact squared norms of some rows."""
    integers, exponent = integer_rows(X, rows)
    if integers.dtype != object and largest(integers) ** 2 * X.shape[1] < 2**63:
        squares = np.einsum("ij,ij->i", integers, integers).tolist()
    else:
        squares = [sum(int(v) ** 2 for v in row) for row in integers]
    return [square * Fraction(4) ** exponent for square in set(squares)]
