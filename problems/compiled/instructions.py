"""What Numba cannot say, in the terms of LLVM: vectors, prefetching and atomic operations.

Everything that depends on llvmlite is here. `plain.eight_sums` is the twin of the vectors; fetching
changes no result; and without atomic operations there is no `team`, only threads that Python joins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Doubles in a vector of the dense loop: a register of AVX2, two of NEON, half one of AVX-512.
_LANES = 4
_INDEX = ir.IntType(64)


def _instruction(function: Callable[..., Any]) -> Any:
    """A function that writes the instructions of its call itself; `Any`, as its types change."""
    return intrinsic(function)


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Where entry `place` of an array is, counted in the order of memory."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


# --- atomic operations -----------------------------------------------------------------------


@_instruction
def atomic_add(_: Any, array: Any, place: Any, value: Any) -> Any:
    """Add to an entry that several threads change, and return what it was."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", target, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), build


@_instruction
def atomic_load(_: Any, array: Any, place: Any) -> Any:
    """Read an entry that several threads change."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], *args)
        return builder.load_atomic(target, "seq_cst", 8)

    return types.int64(array, types.intp), build


@_instruction
def atomic_store(_: Any, array: Any, place: Any, value: Any) -> Any:
    """Write an entry that several threads change."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], target, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), build


# --- prefetching -----------------------------------------------------------------------------


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
        line = builder.gep(first, [_INDEX(offset)])
        builder.call(prefetch, [line, word(0), word(3), word(1)])  # read, keep near, data


@_instruction
def fetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for the cache lines of 16 entries from `place` on, counted in the order of memory."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = _address(context, builder, signature.args[0], *args)
        _build_fetch(builder, first, 16 * array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp), build


# --- vectors ---------------------------------------------------------------------------------


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
def eight_sums(_: Any, X: Any, w: Any, i: Any, last: Any, whole: Any, out: Any) -> Any:
    """out[r] = sum of X[i + r, j] w[j] over j < whole, a multiple of 16, for r < 8.

    The row `last` stands for those after it. Written out because the compiler, where a loop over
    entries also fetches, adds up the lanes of its vectors each time: here four rows are fetched of
    the next eight, while these share a load of w.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0].dtype
        arrays = [context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1)]
        points, weights = (array.data for array in arrays)
        width = builder.extract_value(arrays[1].shape, 0)

        def row(place: Any) -> Any:
            return builder.gep(points, [builder.mul(place, width)])

        places = [builder.add(args[2], _INDEX(r)) for r in range(12)]
        inside = [builder.icmp_signed("<", place, args[3]) for place in places[:8]]
        rows = [
            row(builder.select(less, place, args[3]))
            for less, place in zip(inside, places[:8], strict=True)
        ]
        nexts = [row(place) for place in places[8:]]
        doubles = ir.VectorType(ir.DoubleType(), _LANES)
        sums = [cgutils.alloca_once_value(builder, ir.Constant(doubles, None)) for _ in range(8)]
        steps = cgutils.for_range_slice(builder, _INDEX(0), args[4], _INDEX(16), _INDEX)
        with steps as (start, _):
            for fetched in nexts:
                _build_fetch(builder, builder.gep(fetched, [start]), 16 * kind.bitwidth // 8)
            for step in range(0, 16, _LANES):
                j = builder.add(start, _INDEX(step))
                weight = _build_lanes(builder, types.float64, builder.gep(weights, [j]))
                for begin, total in zip(rows, sums, strict=True):
                    entries = _build_lanes(builder, kind, builder.gep(begin, [j]))
                    product = builder.fmul(entries, weight, flags=("contract",))
                    added = builder.fadd(product, builder.load(total), flags=("contract",))
                    builder.store(added, total)
        result = context.make_array(signature.args[5])(context, builder, args[5]).data
        for r, total in enumerate(sums):
            builder.store(_added_up(builder, total), builder.gep(result, [_INDEX(r)]))
        return context.get_dummy_value()

    return types.void(X, w, types.intp, types.intp, types.intp, out), build


def _added_up(builder: Any, total: Any) -> Any:
    """The sum of four lanes, as the halves of a register are added: (0 + 2) + (1 + 3)."""
    lanes = builder.load(total)
    parts = [builder.extract_element(lanes, ir.IntType(32)(k)) for k in range(_LANES)]
    return builder.fadd(builder.fadd(parts[0], parts[2]), builder.fadd(parts[1], parts[3]))
