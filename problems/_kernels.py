"""Loops over integer, single-precision and sparse data that never make a float64 copy of them.

Every function works on the rows lo, ..., hi - 1, so the caller can give stripes of the data to
several threads (the interpreter lock is released). Values are converted to float64 one by one
in registers and sums are taken in float64. Reordering sums is allowed (it is what makes them
vectorise) and changes nothing in the usual error bound d * 2^-53 * |x| |w|; no other liberty of
fast-math is taken, so infinities and NaN behave.

This module imports numba, which takes a moment; import it only when there are such data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from problems.base import Array, Floats

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F) -> F:
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function)
    return cast(F, compiled)


def _gathering(function: F) -> F:
    """For loops over scattered entries: vectorised gathers are slower than plain loads.

    Columns are read as unsigned numbers, or each access would test for an index from the end.
    """
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath={"contract"})(function)
    return cast(F, compiled)


@_compiled
def dense_dot(X: Array, w: Floats, out: Floats, lo: int, hi: int) -> None:
    """out[i] = <x_i, w>, four rows at a time to load w once for them and to overlap their sums."""
    full = lo + (hi - lo) // 4 * 4
    for i in range(lo, full, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(w)):
            s0 += x0[j] * w[j]
            s1 += x1[j] * w[j]
            s2 += x2[j] * w[j]
            s3 += x3[j] * w[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(full, hi):
        x0, s0 = X[i], 0.0
        for j in range(len(w)):
            s0 += x0[j] * w[j]
        out[i] = s0


@_compiled
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


@_compiled
def _open_block(
    scores: Floats,
    lo: int,
    hi: int,
    temperature: float,
    smallest: float,
    total: float,
    pull: Floats,
) -> tuple[float, float]:
    """Lower the running minimum to that of a new block, and what was summed with it."""
    least = smallest
    for i in range(lo, hi):
        least = min(least, scores[i])
    if least < smallest and total > 0:
        shrink = np.exp((least - smallest) / temperature)
        total *= shrink
        for j in range(len(pull)):
            pull[j] *= shrink
    return least, total


@_compiled
def dense_softmin(
    X: Array, y: Array, w: Floats, inner: float, outer: float, temperature: float,
    scores: Floats, pull: Floats, lo: int, hi: int, block: int,
) -> tuple[float, float]:  # fmt: skip
    """Scores, then sum of exp((smallest - score_i) / temperature) y_i inner x_i, block by block."""
    smallest, total = np.inf, 0.0
    rows, weights = np.empty(block, np.int64), np.empty(block)
    for start in range(lo, hi, block):
        stop = min(start + block, hi)
        dense_dot(X, w, scores, start, stop)
        for i in range(start, stop):
            scores[i] *= outer * y[i]
        smallest, total = _open_block(scores, start, stop, temperature, smallest, total, pull)
        count = 0
        for i in range(start, stop):
            weight = np.exp((smallest - scores[i]) / temperature)
            total += weight
            if weight != 0:  # also true of NaN
                rows[count], weights[count] = i, weight * inner * y[i]
                count += 1
        dense_add(X, rows[:count], weights[:count], pull)
    return smallest, total


@_gathering
def sparse_dot(
    indptr: Array, indices: Array, data: Array, w: Floats, out: Floats, lo: int, hi: int
) -> None:
    """out[i] = <x_i, w> for rows in CSR form, in two sums that do not wait for each other."""
    for i in range(lo, hi):
        cols, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        even, odd, pairs = 0.0, 0.0, len(values) // 2
        for p in range(pairs):
            even += values[2 * p] * w[np.uint32(cols[2 * p])]
            odd += values[2 * p + 1] * w[np.uint32(cols[2 * p + 1])]
        if 2 * pairs < len(values):
            even += values[2 * pairs] * w[np.uint32(cols[2 * pairs])]
        out[i] = even + odd


@_gathering
def sparse_add(
    indptr: Array, indices: Array, data: Array, rows: Array, q: Floats, out: Floats
) -> None:
    """out += sum of q[r] x_rows[r] for rows in CSR form."""
    for r in range(len(rows)):
        i, weight = rows[r], q[r]
        cols, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for k in range(len(values)):
            out[np.uint32(cols[k])] += weight * values[k]


@_compiled
def sparse_softmin(
    indptr: Array, indices: Array, data: Array, y: Array, w: Floats, inner: float, outer: float,
    temperature: float, scores: Floats, pull: Floats, lo: int, hi: int, block: int,
) -> tuple[float, float]:  # fmt: skip
    """As dense_softmin, for rows in CSR form."""
    smallest, total = np.inf, 0.0
    rows, weights = np.empty(block, np.int64), np.empty(block)
    for start in range(lo, hi, block):
        stop = min(start + block, hi)
        sparse_dot(indptr, indices, data, w, scores, start, stop)
        for i in range(start, stop):
            scores[i] *= outer * y[i]
        smallest, total = _open_block(scores, start, stop, temperature, smallest, total, pull)
        count = 0
        for i in range(start, stop):
            weight = np.exp((smallest - scores[i]) / temperature)
            total += weight
            if weight != 0:
                rows[count], weights[count] = i, weight * inner * y[i]
                count += 1
        sparse_add(indptr, indices, data, rows[:count], weights[:count], pull)
    return smallest, total
