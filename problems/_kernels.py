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
from numba.core import cgutils
from numba.extending import intrinsic

from gammabar.problems.base import Array, Floats

F = TypeVar("F", bound=Callable[..., Any])

# Places in the control block of a team of threads, each on a cache line of its own. They are
# defined here because code that is cached on disk is renewed only when this file changes.
_STRIPES, _NEXT, _DONE, _HELPERS, _BACK = 0, 8, 16, 24, 32
# What a thread of a team does: post a pass and lead it, post it only, lead what is posted, or help.
POST, OPEN, GO_ON, HELP = 0, 1, 2, 3
# How often a leader looks whether the last stripes are done before it gives its processor away.
_LEADER_LOOKS = 1 << 21
# How many entries of a CSR matrix ahead of their use are fetched.
_AHEAD = 512
# Doubles in a vector of the dense loop: a register of AVX2, two of NEON, half one of AVX-512.
_LANES = 4


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
    control = np.zeros(40, dtype=np.int64)
    control[_STRIPES] = control[_NEXT] = count
    return control


@_compiled
def _post(
    control: Array,
    helpers: int,
    w: Floats,
    inner: float,
    outer: float,
    temperature: float,
    scaled: Floats,
    factors: Floats,
) -> int:
    """Open a pass: its stripes may be taken. How many helpers are missing?

    A helper that leaves says so and looks once more; here the stripes are posted before the
    helpers are counted. So one of the two notices the other.
    """
    for j in range(len(w)):
        scaled[j] = inner * w[j]
    factors[0], factors[1], factors[2] = inner, outer, temperature
    control[_BACK] = 1 - control[_BACK]
    _atomic_store(control, _DONE, 0)
    _atomic_store(control, _NEXT, 0)
    return max(0, helpers - _atomic_load(control, _HELPERS))


@_compiled
def join(control: Array) -> None:
    """Count a helper that is about to come."""
    _atomic_add(control, _HELPERS, 1)


@_compiled
def _turned(control: Array, place: int) -> int:
    """The stripe at a place in the order of this pass: every other pass goes from last to first.

    What was read last is still in the cache when the next pass begins with it.
    """
    return control[_STRIPES] - 1 - place if control[_BACK] else place


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
                return _turned(control, stripe)
    if looks > 0:
        _atomic_add(control, _HELPERS, -1)
        if _atomic_load(control, _NEXT) < count:
            _atomic_add(control, _HELPERS, 1)
            stripe = _atomic_add(control, _NEXT, 1)
            if stripe < count:
                return _turned(control, stripe)
            _atomic_add(control, _HELPERS, -1)
    return -1


@_compiled
def _join_stripes(
    control: Array,
    outer: float,
    temperature: float,
    found: Floats,
    pulls: Floats,
    sums: Floats,
    scores: Floats,
    pull: Floats,
) -> tuple[int, float, float]:
    """Put together what the stripes found: (0, smallest score, log of the sum of all weights).

    (-1, 0, 0) if some stripes are not done yet. Sums are taken in the order of the stripes.
    """
    count, looks = control[_STRIPES], _LEADER_LOOKS
    while _atomic_load(control, _DONE) < count:
        looks -= 1
        if looks == 0:
            return -1, 0.0, 0.0
    smallest = sums[0, 0]
    for s in range(count):
        smallest = min(smallest, sums[s, 0])
    total = 0.0
    pull[:] = 0.0
    for s in range(count):
        shrink = np.exp((smallest - sums[s, 0]) / temperature)
        total += shrink * sums[s, 1]
        for j in range(len(pull)):
            pull[j] += shrink * pulls[s, j]
    for j in range(len(pull)):
        pull[j] = pull[j] / total * outer
    scores[:] = found
    if np.isnan(total):  # a score that is NaN makes its weight NaN, and may be no minimum
        smallest = np.nan
    return 0, smallest, np.log(total) - smallest / temperature


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


def _build_fetch(builder: Any, pointer: Any, size: int) -> None:
    """Ask for the cache lines of so many bytes; harmless past the end of an array."""
    byte, word = ir.IntType(8), ir.IntType(32)
    prefetch = builder.module.declare_intrinsic(
        "llvm.prefetch",
        [byte.as_pointer()],
        ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word]),
    )
    first = builder.bitcast(pointer, byte.as_pointer())
    for offset in range(0, size, 64):
        line = builder.gep(first, [ir.Constant(ir.IntType(64), offset)])
        builder.call(prefetch, [line, word(0), word(3), word(1)])  # read, keep near, data


@_instruction
def _fetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for the cache lines of 16 entries from `place` on."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = _address(context, builder, signature.args[0], *args)
        _build_fetch(builder, first, 16 * array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp), build


def _build_lanes(builder: Any, kind: Any, pointer: Any) -> Any:
    """Four entries at a pointer as doubles."""
    lanes = ir.VectorType(pointer.type.pointee, _LANES)
    load = builder.load(builder.bitcast(pointer, lanes.as_pointer()))
    load.align = kind.bitwidth // 8
    doubles = ir.VectorType(ir.DoubleType(), _LANES)
    if isinstance(kind, types.Float):
        return load if kind.bitwidth == 64 else builder.fpext(load, doubles)
    return (builder.sitofp if kind.signed else builder.uitofp)(load, doubles)


@_instruction
def _eight_sums(_: Any, X: Any, w: Any, rows: Any, ahead: Any, count: Any, out: Any) -> Any:
    """out[r] = sum of X[rows[r] + j] w[j] over j < count, a multiple of 16, for r < 8.

    Written out because the compiler, where a loop over entries also fetches, adds up the lanes of
    its vectors each time. `rows` and `ahead` are places in the order of memory; four rows of
    `count` entries, each `stride` after the other, are fetched from `ahead` on.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        zero = ir.Constant(ir.IntType(64), 0)
        doubles = ir.VectorType(ir.DoubleType(), _LANES)
        row_places = context.make_array(kinds[2])(context, builder, args[2]).data
        next_places = context.make_array(kinds[3])(context, builder, args[3]).data

        def entry(places: Any, r: int) -> Any:
            return builder.load(builder.gep(places, [ir.Constant(ir.IntType(64), r)]))

        rows = [
            _address(context, builder, kinds[0], args[0], entry(row_places, r)) for r in range(8)
        ]
        nexts = [
            _address(context, builder, kinds[0], args[0], entry(next_places, r)) for r in range(4)
        ]
        weights = _address(context, builder, kinds[1], args[1], zero)
        sums = [cgutils.alloca_once_value(builder, ir.Constant(doubles, None)) for _ in range(8)]
        with cgutils.for_range_slice(builder, zero, args[4], zero.type(16), zero.type) as (
            start,
            _,
        ):
            for fetched in nexts:
                _build_fetch(
                    builder, builder.gep(fetched, [start]), 16 * kinds[0].dtype.bitwidth // 8
                )
            for step in range(0, 16, _LANES):
                j = builder.add(start, zero.type(step))
                weight = _build_lanes(builder, types.float64, builder.gep(weights, [j]))
                for row, total in zip(rows, sums, strict=True):
                    entries = _build_lanes(builder, kinds[0].dtype, builder.gep(row, [j]))
                    product = builder.fmul(entries, weight, flags=("contract",))
                    builder.store(
                        builder.fadd(product, builder.load(total), flags=("contract",)), total
                    )
        result = context.make_array(kinds[5])(context, builder, args[5]).data
        for r, total in enumerate(sums):
            lanes = builder.load(total)
            parts = [
                builder.extract_element(lanes, ir.Constant(ir.IntType(32), k))
                for k in range(_LANES)
            ]
            value = builder.fadd(builder.fadd(parts[0], parts[2]), builder.fadd(parts[1], parts[3]))
            builder.store(value, builder.gep(result, [zero.type(r)]))
        return context.get_dummy_value()

    return types.void(X, w, rows, ahead, types.intp, out), build


@_compiled
def _eight_dots(
    X: Array, w: Floats, i: int, last: int, rows: Array, ahead: Array, out: Floats
) -> None:
    """out[r] = <x_(i + r), w> for r < 8; the row `last` stands for those after it.

    Eight rows share a load of w. Half of the next eight rows is fetched meanwhile, the other half
    when these are added.
    """
    d = len(w)
    for r in range(8):
        rows[r] = min(i + r, last) * d
    for r in range(4):
        ahead[r] = (i + 8 + r) * d
    whole = d - d % 16
    _eight_sums(X, w, rows, ahead, whole, out)
    for r in range(8):
        x = X[min(i + r, last)]
        for j in range(whole, d):
            out[r] += x[j] * w[j]


@_compiled
def _eight_add(X: Array, q: Floats, i: int, last: int, out: Floats) -> None:
    """out += sum of q[r] x_(i + r) over r < 8, where q is zero for rows after `last`."""
    x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
    x4, x5, x6, x7 = (
        X[min(i + 4, last)],
        X[min(i + 5, last)],
        X[min(i + 6, last)],
        X[min(i + 7, last)],
    )
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
    scores: Floats,
    y: Array,
    inner: float,
    temperature: float,
    smallest: float,
    total: float,
    pull: Floats,
    weights: Floats,
    lo: int,
    hi: int,
) -> tuple[float, float, bool]:
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
    X: Array,
    y: Array,
    w: Floats,
    inner: float,
    outer: float,
    temperature: float,
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
) -> tuple[float, float]:
    """Scores, then sum of exp((smallest - score_i) / temperature) y_i inner x_i, by eight rows."""
    smallest, total = np.inf, 0.0
    dots, weights, rows, ahead = (
        np.empty(8),
        np.zeros(8),
        np.empty(8, np.int64),
        np.empty(4, np.int64),
    )
    for i in range(lo, hi, 8):
        stop = min(i + 8, hi)
        _eight_dots(X, w, i, hi - 1, rows, ahead, dots)
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
    control: Array,
    role: int,
    number: int,
    w: Floats,
    inner: float,
    outer: float,
    temperature: float,
    scores: Floats,
    pull: Floats,
    X: Array,
    y: Array,
    factors: Floats,
    scaled: Floats,
    cuts: Array,
    found: Floats,
    pulls: Floats,
    sums: Floats,
) -> tuple[int, float, float]:
    """A whole pass, or the part of a helper in it.

    Returns (0, smallest score, log of the sum of weights) and fills scores and pull. Where helpers
    are missing, (how many, 0, 0); (-1, 0, 0) if those there are not done yet.

    Parameters
    ----------
    role : POST, OPEN, GO_ON or HELP
    number : int
        How many helpers a leader has; how often a helper looks for work.
    """
    if role <= OPEN:
        missing = _post(control, number, w, inner, outer, temperature, scaled, factors)
        if missing or role == OPEN:
            return missing, 0.0, 0.0
    looks = number if role == HELP else 0
    s = take(control, looks)
    while s >= 0:
        part = pulls[s][: len(w)]
        part[:] = 0.0
        sums[s, 0], sums[s, 1] = dense_softmin(
            X, y, scaled, factors[0], factors[1], factors[2], found, part, cuts[s], cuts[s + 1]
        )
        _atomic_add(control, _DONE, 1)  # whoever sees this can read what was written
        s = take(control, looks)
    if role == HELP:
        return 0, 0.0, 0.0
    return _join_stripes(control, outer, temperature, found, pulls, sums, scores, pull)


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
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    w: Floats,
    inner: float,
    outer: float,
    temperature: float,
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
    block: int,
) -> tuple[float, float]:
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
    control: Array,
    role: int,
    number: int,
    w: Floats,
    inner: float,
    outer: float,
    temperature: float,
    scores: Floats,
    pull: Floats,
    block: int,
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    factors: Floats,
    scaled: Floats,
    cuts: Array,
    found: Floats,
    pulls: Floats,
    sums: Floats,
) -> tuple[int, float, float]:
    """As dense_team."""
    if role <= OPEN:
        missing = _post(control, number, w, inner, outer, temperature, scaled, factors)
        if missing or role == OPEN:
            return missing, 0.0, 0.0
    looks = number if role == HELP else 0
    s = take(control, looks)
    while s >= 0:
        part = pulls[s][: len(w)]
        part[:] = 0.0
        sums[s, 0], sums[s, 1] = sparse_softmin(
            indptr,
            indices,
            data,
            y,
            scaled,
            factors[0],
            factors[1],
            factors[2],
            found,
            part,
            cuts[s],
            cuts[s + 1],
            block,
        )
        _atomic_add(control, _DONE, 1)
        s = take(control, looks)
    if role == HELP:
        return 0, 0.0, 0.0
    return _join_stripes(control, outer, temperature, found, pulls, sums, scores, pull)
