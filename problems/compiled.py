"""Compiled loops over rows of integers, floats and CSR matrices.

No float64 copy of the data is made: values become doubles one by one, in registers, and sums are
taken in doubles. `dense_softmin` and `sparse_softmin` read the data once: the rows of a block are
still in the cache when they are added to the pull, and the running minimum of streaming softmax
stands between the two products. Rows are read one after the other, which is the pattern that the
prefetcher of a processor knows.

Importing this module imports Numba, which takes half a second: import it only for large data.
All functions are in one file because Numba looks at no other file to see whether the compiled code
on disk is out of date.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import int32, njit

from gammabar.problems.problem import Array, Floats

#: indptr, indices and data of a canonical CSR matrix.
_Csr: TypeAlias = tuple[Array, Array, Array]

# Sums in the order that is written, a product and its sum perhaps in one rounding.
_in_order: Any = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
# Sums in any order, which is what makes them vectors: the bounds of `rounding` hold for every
# order. No other liberty of fast-math is taken, so infinities and NaN behave.
_reordered: Any = njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"}
)


# --- dense rows -----------------------------------------------------------------------------------


@_reordered
def dense_dot(X: Array, w: Array, out: Floats, lo: int, hi: int) -> None:
    """out[i] = <x_i, w> for lo <= i < hi."""
    for i in range(lo, hi):
        x, total = X[i], 0.0
        for j in range(len(w)):
            total += x[j] * w[j]
        out[i] = total


@_reordered
def dense_add(X: Array, rows: Array, q: Floats, out: Floats) -> None:
    """out += sum of q[r] x_rows[r], four rows at a time to spare passes over out."""
    full = len(rows) - len(rows) % 4
    for r in range(0, full, 4):
        a, b, c, e = X[rows[r]], X[rows[r + 1]], X[rows[r + 2]], X[rows[r + 3]]
        qa, qb, qc, qe = q[r], q[r + 1], q[r + 2], q[r + 3]
        for j in range(len(out)):
            out[j] += (qa * a[j] + qb * b[j]) + (qc * c[j] + qe * e[j])
    for r in range(full, len(rows)):
        a, qa = X[rows[r]], q[r]
        for j in range(len(out)):
            out[j] += qa * a[j]


@_in_order
def dense_softmin(
    X: Array,
    y: Array,
    w: Floats,
    factors: tuple[float, float, float],
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
    block: int,
) -> tuple[float, float]:
    """One stripe of rows: the smallest score and the sum of weights relative to it.

    Fills scores_i = outer y_i <x_i, w> for its rows, and pull = the sum of
    exp((smallest - scores_i) / temperature) inner y_i x_i over them, where factors are inner,
    outer and temperature.
    """
    pull[:] = 0.0
    running, rows, weights = (np.inf, 0.0), np.empty(block, np.int64), np.empty(block)
    for start in range(lo, hi, block):
        stop = min(start + block, hi)
        dense_dot(X, w, scores, start, stop)
        running, some = _weigh(y, factors, scores, start, stop, running, pull, rows, weights)
        dense_add(X, rows[:some], weights[:some], pull)
    return running


# --- sparse rows ----------------------------------------------------------------------------------
# Indices are read as unsigned numbers (`linear` refuses wider matrices), or each access
# would test for an index from the end.


@_in_order
def sparse_dot(csr: _Csr, w: Floats, out: Floats, lo: int, hi: int) -> None:
    """out[i] = <x_i, w> for lo <= i < hi."""
    indptr, indices, data = csr
    for i in range(lo, hi):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[np.uint64(k)] * w[np.uint32(indices[np.uint64(k)])]
        out[i] = total


@_in_order
def sparse_add(csr: _Csr, rows: Array, q: Floats, out: Floats) -> None:
    """out += sum of q[r] x_rows[r]."""
    indptr, indices, data = csr
    for r in range(len(rows)):
        weight, i = q[r], rows[r]
        for k in range(indptr[i], indptr[i + 1]):
            out[np.uint32(indices[np.uint64(k)])] += weight * data[np.uint64(k)]


@_in_order
def sparse_softmin(
    csr: _Csr,
    y: Array,
    w: Floats,
    factors: tuple[float, float, float],
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
    block: int,
) -> tuple[float, float]:
    """One stripe of rows, as `dense_softmin`."""
    pull[:] = 0.0
    running, rows, weights = (np.inf, 0.0), np.empty(block, np.int64), np.empty(block)
    for start in range(lo, hi, block):
        stop = min(start + block, hi)
        sparse_dot(csr, w, scores, start, stop)
        running, some = _weigh(y, factors, scores, start, stop, running, pull, rows, weights)
        sparse_add(csr, rows[:some], weights[:some], pull)
    return running


# --- the softmax between the two products ---------------------------------------------------------


@_in_order
def _weight(score: float, least: float, temperature: float) -> float:
    """exp((least - score) / temperature), also where the difference is no double."""
    gap = least - score
    if gap == -np.inf and np.isfinite(least) and np.isfinite(score):
        return np.exp(2 * ((0.5 * least - 0.5 * score) / temperature))
    return np.exp(gap / temperature)


@_in_order
def _weigh(
    y: Array,
    factors: tuple[float, float, float],
    scores: Floats,
    lo: int,
    hi: int,
    running: tuple[float, float],
    pull: Floats,
    rows: Array,
    weights: Floats,
) -> tuple[tuple[float, float], int]:
    """Turn products into scores, and write down the rows whose weight is not zero; how many?

    `running` is the smallest score so far and the sum of all weights relative to it; it is
    returned with these rows in it. Where they lower the minimum, what was summed is scaled down.
    """
    inner, outer, temperature = factors
    smallest, total = running
    least = smallest
    for i in range(lo, hi):
        scores[i] *= outer * y[i]
        least = min(least, scores[i])
    if least < smallest and total > 0:
        shrink = _weight(smallest, least, temperature)
        total *= shrink
        for j in range(len(pull)):
            pull[j] *= shrink
    count = 0
    for i in range(lo, hi):
        weight = _weight(scores[i], least, temperature)
        total += weight
        if weight != 0:  # also true of NaN
            rows[count], weights[count] = i, weight * inner * y[i]
            count += 1
    return (least, total), count


# --- integers of eight bits -----------------------------------------------------------------------
# A register holds four times as many of these as doubles: a third of the time of `dense_dot`, half
# that of a product of doubles by BLAS. Callers see to it that no sum leaves the 32 bits.


@_in_order
def octet_dot(X: Array, w: Array, out: Floats) -> None:
    """out[i] = <x_i, w> for w of 16 bits, in integers of 32 bits: exactly."""
    for i in range(len(X)):
        x, total = X[i], int32(0)
        for j in range(len(w)):
            total = int32(total + int32(x[j]) * int32(w[j]))
        out[i] = total


@_in_order
def octet_products(A: Array, B: Array, out: Floats) -> None:
    """out[i, j] = <a_i, b_j>, exactly; four rows of B at a time."""
    for i in range(len(A)):
        a = A[i]
        for j in range(0, len(B), 4):
            j1, j2, j3 = min(j + 1, len(B) - 1), min(j + 2, len(B) - 1), min(j + 3, len(B) - 1)
            b0, b1, b2, b3 = B[j], B[j1], B[j2], B[j3]
            s0, s1, s2, s3 = int32(0), int32(0), int32(0), int32(0)
            for k in range(A.shape[1]):
                x = int32(a[k])
                s0, s1 = int32(s0 + x * int32(b0[k])), int32(s1 + x * int32(b1[k]))
                s2, s3 = int32(s2 + x * int32(b2[k])), int32(s3 + x * int32(b3[k]))
            out[i, j], out[i, j1], out[i, j2], out[i, j3] = s0, s1, s2, s3


def octet_room(width: int, dtype: np.dtype) -> int:
    """The largest entry of a vector whose product with any row of so many octets has 31 bits."""
    return (2**31 - 1) // (width * (128 if dtype == np.int8 else 255))


# --- sums of a few multiples of vectors -----------------------------------------------------------
# In one pass and with the square of their length: NumPy makes a vector for every product. The
# error bounds of such sums hold for every order and with or without the rounding of a product.


@_reordered
def sum_of_two(out: Floats, a: float, x: Floats, b: float, y: Floats) -> float:
    """out = a x + b y; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = a * x[j] + b * y[j]
        out[j] = value
        square += value * value
    return square


@_reordered
def sum_of_three(
    out: Floats, a: float, x: Floats, b: float, y: Floats, c: float, z: Floats
) -> float:
    """out = a x + b y + c z; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = (a * x[j] + b * y[j]) + c * z[j]
        out[j] = value
        square += value * value
    return square


@_reordered
def sum_of_four(
    out: Floats, a: float, x: Floats, b: float, y: Floats, c: float, z: Floats, e: float, u: Floats
) -> float:
    """out = a x + b y + c z + e u; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = (a * x[j] + b * y[j]) + (c * z[j] + e * u[j])
        out[j] = value
        square += value * value
    return square
