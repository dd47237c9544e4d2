"""Loops over integer, single-precision and sparse data that never make a float64 copy of them.

Every function works on the rows lo, ..., hi - 1, so the caller can give stripes of the data to
several threads (the interpreter lock is released). Values are converted to float64 one by one
in registers and sums are taken in float64. Reordering sums is allowed (it is what makes them
vectorise) and changes nothing in the usual error bound d * 2^-53 * |x| |w|; no other liberty of
fast-math is taken, so infinities and NaN behave.

The fused steps read the data once and are bound by memory. While a few rows are added to the
pull from the cache, memory would be idle: they ask for the next rows meanwhile.

This module imports numba, which takes a moment; import it only when there are such data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from problems.base import Array, Floats

F = TypeVar("F", bound=Callable[..., Any])

# Places in the control block of a team of threads, each on a cache line of its own. They are
# defined here because code that is cached on disk is renewed only when this file changes.
_STRIPES, _NEXT, _DONE, _HELPERS = 0, 8, 16, 24
# How many entries of a CSR matrix ahead of their use are fetched.
_AHEAD = 512


def _compiled(function: F) -> F:
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function)
    return cast(F, compiled)


def _gathering(function: F) -> F:
    """For loops over scattered entries: vectorised gathers are slower than plain loads.

    Columns are read as unsigned numbers, or each access would test for an index from the end.
    """
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath={"contract"})(function)
    return cast(F, compiled)


def _instruction(function: Callable[..., Any]) -> Any:
    """A function that writes the instructions of its call itself; `Any`, as its types change."""
    return intrinsic(function)


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Where entry `place` of an array is, counted in the order of memory."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


@_instruction
def _atomic_add(_: Any, array: Any, place: Any, value: Any) -> Any:
    """Add to an entry that several threads change, and return what it was."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", target, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), build


@_instruction
def _atomic_load(_: Any, array: Any, place: Any) -> Any:
    """Read an entry that several threads change."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], *args)
        return builder.load_atomic(target, "seq_cst", 8)

    return types.int64(array, types.intp), build


@_instruction
def _atomic_store(_: Any, array: Any, place: Any, value: Any) -> Any:
    """Write an entry that several threads change."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], target, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), build


def control_block(count: int) -> Array:
    """The control block of a team for so many stripes, before its first pass."""
    control = np.zeros(32, dtype=np.int64)
    control[_STRIPES] = control[_NEXT] = count
    return control


@_compiled
def post(control: Array) -> int:
    """Open a pass: its stripes may be taken. Returns how many helpers are there to see it.

    A helper that leaves says so and looks once more; here the stripes are posted before the
    helpers are counted. So one of the two notices the other.
    """
    _atomic_store(control, _DONE, 0)
    _atomic_store(control, _NEXT, 0)
    return _atomic_load(control, _HELPERS)


@_compiled
def join(control: Array) -> None:
    """Count a helper that is about to come."""
    _atomic_add(control, _HELPERS, 1)


@_compiled
def take(control: Array, looks: int) -> int:
    """The next stripe that nobody has taken, or -1 if there was none for so many looks.

    With `looks` > 0 it is a helper that asks, and -1 means that it leaves.
    """
    count = control[_STRIPES]
    for _ in range(looks + 1):
        if _atomic_load(control, _NEXT) < count:
            stripe = _atomic_add(control, _NEXT, 1)
            if stripe < count:
                return stripe
    if looks > 0:
        _atomic_add(control, _HELPERS, -1)
        if _atomic_load(control, _NEXT) < count:
            _atomic_add(control, _HELPERS, 1)
            stripe = _atomic_add(control, _NEXT, 1)
            if stripe < count:
                return stripe
            _atomic_add(control, _HELPERS, -1)
    return -1


@_compiled
def finish(control: Array) -> None:
    """A stripe is done: what was written for it can be read by whoever sees this."""
    _atomic_add(control, _DONE, 1)


@_compiled
def finished(control: Array, looks: int) -> bool:
    """Is every stripe of the pass done, within so many looks?"""
    while looks > 0 and _atomic_load(control, _DONE) < control[_STRIPES]:
        looks -= 1
    return looks > 0


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


@_instruction
def _fetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for the cache lines of 16 entries from `place` on; harmless past the end of the array."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8), ir.IntType(32)
        prefetch = builder.module.declare_intrinsic(
            "llvm.prefetch",
            [byte.as_pointer()],
            ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word]),
        )
        first = _address(context, builder, signature.args[0], *args)
        first = builder.bitcast(first, byte.as_pointer())
        for offset in range(0, 16 * array.dtype.bitwidth // 8, 64):
            line = builder.gep(first, [ir.Constant(ir.IntType(64), offset)])
            builder.call(prefetch, [line, word(0), word(3), word(1)])  # read, keep near, data
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@_compiled
def _eight_dots(X: Array, w: Floats, i: int, last: int, out: Floats) -> None:
    """out[r] = <x_(i + r), w> for r < 8; the row `last` stands for those after it.

    Eight rows share a load of w. Half of the next eight rows is fetched meanwhile, the other half
    when these are added.
    """
    x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
    x4, x5, x6, x7 = (
        X[min(i + 4, last)], X[min(i + 5, last)], X[min(i + 6, last)], X[min(i + 7, last)]
    )  # fmt: skip
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    d = len(w)
    whole, ahead = d - d % 16, (i + 8) * d
    for start in range(0, whole, 16):
        for r in range(4):
            _fetch(X, ahead + r * d + start)
        for j in range(start, start + 16):
            s0 += x0[j] * w[j]
            s1 += x1[j] * w[j]
            s2 += x2[j] * w[j]
            s3 += x3[j] * w[j]
            s4 += x4[j] * w[j]
            s5 += x5[j] * w[j]
            s6 += x6[j] * w[j]
            s7 += x7[j] * w[j]
    for j in range(whole, d):
        s0 += x0[j] * w[j]
        s1 += x1[j] * w[j]
        s2 += x2[j] * w[j]
        s3 += x3[j] * w[j]
        s4 += x4[j] * w[j]
        s5 += x5[j] * w[j]
        s6 += x6[j] * w[j]
        s7 += x7[j] * w[j]
    out[0], out[1], out[2], out[3] = s0, s1, s2, s3
    out[4], out[5], out[6], out[7] = s4, s5, s6, s7


@_compiled
def _eight_add(X: Array, q: Floats, i: int, last: int, out: Floats) -> None:
    """out += sum of q[r] x_(i + r) over r < 8, where q is zero for rows after `last`."""
    x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
    x4, x5, x6, x7 = (
        X[min(i + 4, last)], X[min(i + 5, last)], X[min(i + 6, last)], X[min(i + 7, last)]
    )  # fmt: skip
    q0, q1, q2, q3, q4, q5, q6, q7 = q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
    d = len(out)
    whole, ahead = d - d % 16, (i + 12) * d
    for start in range(0, whole, 16):
        for r in range(4):
            _fetch(X, ahead + r * d + start)
        for j in range(start, start + 16):
            out[j] += ((q0 * x0[j] + q1 * x1[j]) + (q2 * x2[j] + q3 * x3[j])) + (
                (q4 * x4[j] + q5 * x5[j]) + (q6 * x6[j] + q7 * x7[j])
            )
    for j in range(whole, d):
        out[j] += ((q0 * x0[j] + q1 * x1[j]) + (q2 * x2[j] + q3 * x3[j])) + (
            (q4 * x4[j] + q5 * x5[j]) + (q6 * x6[j] + q7 * x7[j])
        )


@_compiled
def _weigh(
    scores: Floats, y: Array, inner: float, temperature: float, smallest: float, total: float,
    pull: Floats, weights: Floats, lo: int, hi: int,
) -> tuple[float, float, bool]:  # fmt: skip
    """Weights of the rows lo, ..., hi - 1 in the pull; is any of them not zero?

    Where they lower the running minimum, what was summed with the old one is scaled down.
    """
    least = smallest
    for i in range(lo, hi):
        least = min(least, scores[i])
    if least < smallest and total > 0:
        shrink = np.exp((least - smallest) / temperature)
        total *= shrink
        for j in range(len(pull)):
            pull[j] *= shrink
    some = False
    for i in range(lo, hi):
        weight = np.exp((least - scores[i]) / temperature)
        total += weight
        some |= weight != 0  # also true of NaN
        weights[i - lo] = weight * inner * y[i]
    return least, total, some


@_compiled
def dense_softmin(
    X: Array, y: Array, w: Floats, inner: float, outer: float, temperature: float,
    scores: Floats, pull: Floats, lo: int, hi: int,
) -> tuple[float, float]:  # fmt: skip
    """Scores, then sum of exp((smallest - score_i) / temperature) y_i inner x_i, by eight rows."""
    smallest, total = np.inf, 0.0
    dots, weights = np.empty(8), np.zeros(8)
    for i in range(lo, hi, 8):
        stop = min(i + 8, hi)
        _eight_dots(X, w, i, hi - 1, dots)
        for r in range(stop - i):
            scores[i + r] = dots[r] * (outer * y[i + r])
        weights[stop - i :] = 0.0
        smallest, total, some = _weigh(
            scores, y, inner, temperature, smallest, total, pull, weights, i, stop
        )
        if some:
            _eight_add(X, weights, i, hi - 1, pull)
    return smallest, total


@_compiled
def dense_team(
    control: Array, looks: int, X: Array, y: Array, factors: Floats, w: Floats, cuts: Array,
    scores: Floats, pulls: Floats, sums: Floats,
) -> None:  # fmt: skip
    """Take stripes of `dense_softmin`; factors are (inner, outer, temperature)."""
    s = take(control, looks)
    while s >= 0:
        pulls[s] = 0.0
        sums[s, 0], sums[s, 1] = dense_softmin(
            X, y, w, factors[0], factors[1], factors[2], scores, pulls[s], cuts[s], cuts[s + 1]
        )
        finish(control)
        s = take(control, looks)


@_gathering
def sparse_dot(
    indptr: Array, indices: Array, data: Array, w: Floats, out: Floats, lo: int, hi: int
) -> None:
    """out[i] = <x_i, w> for rows in CSR form, in four sums that do not wait for each other."""
    for i in range(lo, hi):
        first, end = indptr[i], indptr[i + 1]
        whole = end - (end - first) % 4
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(first, whole, 4):
            if k % 16 < 4:
                _fetch(indices, k + _AHEAD)
                _fetch(data, k + _AHEAD)
            k0, k1, k2, k3 = np.uint64(k), np.uint64(k + 1), np.uint64(k + 2), np.uint64(k + 3)
            s0 += data[k0] * w[np.uint32(indices[k0])]
            s1 += data[k1] * w[np.uint32(indices[k1])]
            s2 += data[k2] * w[np.uint32(indices[k2])]
            s3 += data[k3] * w[np.uint32(indices[k3])]
        for k in range(whole, end):
            k0 = np.uint64(k)
            s0 += data[k0] * w[np.uint32(indices[k0])]
        out[i] = (s0 + s1) + (s2 + s3)


@_gathering
def sparse_add(
    indptr: Array, indices: Array, data: Array, rows: Array, q: Floats, out: Floats
) -> None:
    """out += sum of q[r] x_rows[r] for rows in CSR form.

    The columns of a row are all different, so four entries are read before any is written.
    """
    for r in range(len(rows)):
        weight = q[r]
        first, end = indptr[rows[r]], indptr[rows[r] + 1]
        whole = end - (end - first) % 4
        for k in range(first, whole, 4):
            k0, k1, k2, k3 = np.uint64(k), np.uint64(k + 1), np.uint64(k + 2), np.uint64(k + 3)
            c0, c1 = np.uint32(indices[k0]), np.uint32(indices[k1])
            c2, c3 = np.uint32(indices[k2]), np.uint32(indices[k3])
            v0, v1 = out[c0] + weight * data[k0], out[c1] + weight * data[k1]
            v2, v3 = out[c2] + weight * data[k2], out[c3] + weight * data[k3]
            out[c0], out[c1], out[c2], out[c3] = v0, v1, v2, v3
        for k in range(whole, end):
            k0 = np.uint64(k)
            out[np.uint32(indices[k0])] += weight * data[k0]


@_compiled
def sparse_softmin(
    indptr: Array, indices: Array, data: Array, y: Array, w: Floats, inner: float, outer: float,
    temperature: float, scores: Floats, pull: Floats, lo: int, hi: int, block: int,
) -> tuple[float, float]:  # fmt: skip
    """As dense_softmin, for rows in CSR form, by blocks of rows."""
    smallest, total = np.inf, 0.0
    rows, weights = np.empty(block, np.int64), np.empty(block)
    for start in range(lo, hi, block):
        stop = min(start + block, hi)
        sparse_dot(indptr, indices, data, w, scores, start, stop)
        for i in range(start, stop):
            scores[i] *= outer * y[i]
        smallest, total, _ = _weigh(
            scores, y, inner, temperature, smallest, total, pull, weights, start, stop
        )
        count = 0
        for r in range(stop - start):
            if weights[r] != 0:
                rows[count], weights[count] = start + r, weights[r]
                count += 1
        sparse_add(indptr, indices, data, rows[:count], weights[:count], pull)
    return smallest, total


@_compiled
def sparse_team(
    control: Array, looks: int, block: int, indptr: Array, indices: Array, data: Array, y: Array,
    factors: Floats, w: Floats, cuts: Array, scores: Floats, pulls: Floats, sums: Floats,
) -> None:  # fmt: skip
    """Take stripes of `sparse_softmin`; factors are (inner, outer, temperature)."""
    s = take(control, looks)
    while s >= 0:
        pulls[s] = 0.0
        sums[s, 0], sums[s, 1] = sparse_softmin(
            indptr, indices, data, y, w, factors[0], factors[1], factors[2], scores, pulls[s],
            cuts[s], cuts[s + 1], block,
        )  # fmt: skip
        finish(control)
        s = take(control, looks)
