"""Data points in memory, dense or CSR, in whatever dtype they came, and products with them.

Geometries are written against the class `Points`. Labels and scales do not concern it, except in
`softmin`, which does everything in one pass.

Several threads share a pass by stripes of rows. How the rows are cut depends on the data alone,
never on the number of threads, and partial sums are added in the order of the stripes: the result
does not depend on the number of threads.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from math import isqrt
from typing import Any, TypeAlias, TypeVar

import numpy as np

from gammabar.problems.problem import Array, Floats, frozen, soft_weights, soften

T = TypeVar("T")
#: Scores, smallest score, log-sum-exp and pull.
Soft: TypeAlias = tuple[Floats, float, float, Floats]


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy, found out without importing SciPy.

    The import takes longer than most small problems do, and nobody can have made a sparse matrix
    before it.
    """
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(X))


# Below this many values the time to wake a thread is not won back.
_WORTH_THREADS = 1 << 21
# A stripe is small, for the threads to end together; but it has a sum of its own, as long as w,
# and many rows to put into it.
_STRIPE_VALUES = 1 << 18
_STRIPE_ROWS = 64
_MOST_STRIPES = 64


def stripes(n: int, values: int, width: int) -> list[tuple[int, int]]:
    """Cut n rows of a matrix with so many values and columns into stripes (lo, hi)."""
    count = 1
    if values >= _WORTH_THREADS:
        count = min(_MOST_STRIPES, n, values // _STRIPE_VALUES, values // (_STRIPE_ROWS * width))
    cuts = [n * s // max(1, count) for s in range(max(1, count) + 1)]
    return list(pairwise(cuts))


def run(work: Callable[[int, int], T], parts: list[tuple[int, int]]) -> list[T]:
    """work(lo, hi) for every stripe, in threads where there are several; results in order."""
    if len(parts) == 1 or threads() == 1:
        return [work(lo, hi) for lo, hi in parts]
    results: dict[int, T] = {}
    todo = iter(enumerate(parts))

    def drain() -> None:
        for place, (lo, hi) in todo:  # shared: each thread takes the next stripe
            results[place] = work(lo, hi)

    # The calling thread works too: waking one thread fewer matters when a pass takes milliseconds.
    helpers = [pool().submit(drain) for _ in range(min(threads(), len(parts)) - 1)]
    try:
        drain()
    finally:
        for helper in helpers:
            helper.result()
    return [results[place] for place in range(len(parts))]


@cache
def threads() -> int:
    """Threads to use: the processors this process may run on, or OMP_NUM_THREADS if smaller."""
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    few = re.fullmatch(r"0*([0-9]{1,9})", wanted)
    return max(1, min(available, int(few[1]))) if few else available


@cache
def pool() -> ThreadPoolExecutor:
    """The threads beside the calling one; they live as long as the process."""
    return ThreadPoolExecutor(max_workers=max(1, threads() - 1), thread_name_prefix="gammabar")


# The threads of a pool do not survive a fork: a child makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)


# OpenBLAS uses one thread up to so many multiplications.
_ALONE = 1 << 18
# Beyond so many multiplications threads are welcome.
_LARGE = 1 << 27


def small_gemm(a: Floats, b: Floats) -> Floats:
    """a bᵀ, in blocks that one thread does.

    A product that takes a millisecond is not worth a second thread, and on a busy machine the
    threads are waited for a hundred times as long.
    """
    (m, width), n = a.shape, len(b)
    if not _ALONE < m * n * width <= _LARGE or width > _ALONE // 4:
        return np.asarray(a @ b.T)
    # Blocks of less than two rows would be products with a vector, which have limits of their own.
    side = max(2, isqrt(_ALONE // width))
    out, symmetric = np.empty((m, n)), a is b
    for i in range(0, m, side):
        for j in range(i if symmetric else 0, n, side):
            np.matmul(a[i : i + side], b[j : j + side].T, out=out[i : i + side, j : j + side])
            if symmetric:
                out[j : j + side, i : i + side] = out[i : i + side, j : j + side].T
    return out


# Up to so many values a float64 copy costs little and BLAS is fastest.
SMALL = 1 << 19
# Rows of one block fit into the second-level cache of a core: 256 KiB or more since 2008.
BLOCK_BYTES = 1 << 18
# Rows that are compared by accurate norms, to find the largest.
_FEW = 64


class Points:
    """The rows of a C-contiguous matrix or a canonical CSR matrix of integers or floats."""

    def __init__(self, X: Any) -> None:
        self.X, self.sparse = X, is_sparse(X)
        self.shape: tuple[int, int] = X.shape
        self.values = int(X.nnz if self.sparse else X.size)  # how many numbers are stored
        self._floats: Any = X if X.dtype == np.float64 else None
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "longest": self.longest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["X"])  # type: ignore[misc]
        self.longest = state["longest"]

    def take(self, rows: Array | slice) -> Any:
        """The chosen rows in float64; a slice of rows that are float64 and dense is no copy."""
        some = self.X[rows]
        return some.astype(np.float64) if self.sparse else np.asarray(some, dtype=np.float64)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[int, int, Any]]:
        """(lo, hi, rows lo to hi in float64), in blocks of about so many bytes."""
        n, d = self.shape
        step = n * size // (12 * self.values + n) if self.sparse else size // (8 * d)
        for lo in range(0, n, max(1, step)):
            hi = min(n, lo + max(1, step))
            yield lo, hi, self.take(slice(lo, hi))

    def _loops(self) -> tuple[Any, Any, Any, Any, int]:
        """The compiled dot, add and softmin, their first argument, and the rows of a block."""
        from gammabar.problems import compiled

        X, (n, d) = self.X, self.shape
        if self.sparse:
            block = n * BLOCK_BYTES // (X.nnz * (X.data.itemsize + 4) + n)
            loops = compiled.sparse_dot, compiled.sparse_add, compiled.sparse_softmin
            return *loops, (X.indptr, X.indices, X.data), max(4, block)
        loops = compiled.dense_dot, compiled.dense_add, compiled.dense_softmin
        return *loops, X, max(4, BLOCK_BYTES // (d * X.itemsize))

    def floats(self) -> Any:
        """The whole matrix in float64, where that costs nothing or little."""
        if self._floats is None and self.values <= SMALL:
            self._floats = self.X.astype(np.float64)
        return self._floats

    def dot(self, w: Floats) -> Floats:
        """X w."""
        floats = self.floats()
        if floats is not None:
            return np.asarray(floats @ w)
        dot, _, _, matrix, _ = self._loops()
        out, w = np.empty(self.shape[0]), np.array(w)
        run(lambda lo, hi: dot(matrix, w, out, lo, hi), self._stripes())
        return out

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, touching only the rows where q is not zero."""
        rows = np.flatnonzero(q)
        floats = self.floats()
        if floats is not None:
            some = 2 * len(rows) <= len(q)
            return np.asarray(floats[rows].T @ q[rows] if some else floats.T @ q)
        _, add, _, matrix, _ = self._loops()
        weights = q[rows]

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(self.shape[1])
            add(matrix, rows[lo:hi], weights[lo:hi], out)
            return out

        values = len(rows) * self.values // self.shape[0]
        return sum_in_order(run(part, stripes(len(rows), values, self.shape[1])))

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows."""
        if not self._octets():
            return np.asarray(self.take(rows) @ w)
        out = np.empty(len(rows))
        # As read-only as X itself, or Numba would compile the loop once more.
        self._loops()[0](frozen(self.X[rows]), np.array(w), out, 0, len(rows))
        return out

    def softmin(self, w: Floats, y: Array, inner: float, outer: float, temperature: float) -> Soft:
        """One pass: scores s = outer y (X inner w), and the pull of softmax(-s / temperature)."""
        if self.values > SMALL:
            return self._striped_softmin(inner * w, y, (inner, outer, temperature))
        floats = self.floats()
        scores = (outer * y) * (floats @ (inner * w))
        weights, smallest, logsumexp = soften(scores, temperature)
        return scores, smallest, logsumexp, outer * (floats.T @ (inner * y * weights))

    def _striped_softmin(self, w: Floats, y: Array, factors: tuple[float, float, float]) -> Soft:
        _, _, softmin, matrix, block = self._loops()
        scores, parts = np.empty(self.shape[0]), self._stripes()
        places, d = {lo: s for s, (lo, _) in enumerate(parts)}, self.shape[1]
        pulls = np.empty((len(parts), d + 16))[:, :d]  # no two on one cache line

        def work(lo: int, hi: int) -> Any:
            pull = pulls[places[lo]]
            return softmin(matrix, y, w, factors, scores, pull, lo, hi, block)

        minima, sums = np.array(run(work, parts)).T
        smallest, temperature = float(minima.min()), factors[2]
        with np.errstate(all="ignore"):
            shrink = soft_weights(minima, smallest, temperature)
            total = float((shrink * sums).sum())
            pull = np.einsum("s,sj->j", shrink, pulls) / total * factors[1]
            logsumexp = float(np.log(total)) - smallest / temperature
        # A score that is NaN makes its weight NaN, and may be no minimum.
        return scores, math.nan if math.isnan(total) else smallest, logsumexp, pull

    def _stripes(self) -> list[tuple[int, int]]:
        return stripes(self.shape[0], self.values, self.shape[1])

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r): the largest row norm is m 2^e up to a relative error of r.

        Rows that may have it are kept in `longest`.
        """
        if not self.values:
            self.longest = np.zeros(1, dtype=np.int64)
            return 0.0, 0, 0.0
        values = self.X.data if self.sparse else self.X
        # In doubles, where the smallest int64 has a negative.
        exponent = math.frexp(max(-float(values.min()), float(values.max())))[1]
        squares = self.scaled_squares(exponent)
        self.longest, close = longest_rows(squares, self.shape[1])
        block = self.take(close)
        rows = np.split(block.data, block.indptr[1:-1]) if self.sparse else list(block)
        # A split of nothing is one empty row.
        return norm_of_longest(rows[: len(close)], exponent, squares, self.shape[1])

    def squares(self) -> Floats:
        """||x_i||^2 of every row."""
        return self.scaled_squares(0)

    def scaled_squares(self, exponent: int) -> Floats:
        """||x_i / 2^exponent||^2 of every row."""
        if not self._narrow():
            return np.concatenate([_row_squares(block, exponent) for _, _, block in self.blocks()])
        step, squares = max(1, BLOCK_BYTES // (4 * self.shape[1])), np.empty(self.shape[0])
        for lo in range(0, self.shape[0], step):  # of octets exactly
            block = self.X[lo : lo + step].astype(np.int32)
            squares[lo : lo + step] = np.einsum("ij,ij->i", block, block)
        return np.ldexp(squares, -2 * exponent)

    def rough(self, w: Floats) -> tuple[Floats, float] | None:
        """X w up to a bound, and the bound divided by the largest row norm; for octets only.

        w is rounded to multiples of a unit, so that sums of integers do; |<x, v>| is at most
        sqrt(d) ||x|| unit/2 for what v it loses. (A thousandth more covers the roundings of the
        quotient, the product and the bound.)
        """
        top = float(np.abs(w).max())
        if not self._octets() or not 1e-290 < top < 1e290:
            return None
        from gammabar.problems.compiled import octet_dot, octet_room

        most = min(octet_room(self.shape[1], self.X.dtype), 2**15 - 1)
        unit, out = top / most, np.empty(self.shape[0])
        octet_dot(self.X, np.rint(w / unit).astype(np.int16), out)
        out *= unit
        return out, 0.5005 * unit * math.sqrt(self.shape[1])

    def gram(self, rows: Array, cols: Array) -> Floats | None:
        """The products of some rows with others, exactly; for octets only."""
        if not self._octets():
            return None
        from gammabar.problems.compiled import octet_products

        out = np.empty((len(rows), len(cols)))
        octet_products(self.X[rows], self.X[cols], out)
        return out

    def _narrow(self) -> bool:
        """Whether sums of products of integers of 8 bits have 32.

        The width is such that a vector for `rough` keeps ten bits at least.
        """
        octets = not self.sparse and self.X.dtype in (np.uint8, np.int8)
        return octets and self.shape[1] <= 1 << 13

    def _octets(self) -> bool:
        """Whether there are enough octets to compile for."""
        ready = self.values > SMALL or "gammabar.problems.compiled" in sys.modules
        return ready and self._narrow()


def product(a: Any, b: Any) -> Floats:
    """a b^T as a dense array, for float64 blocks of either kind."""
    if not is_sparse(a) and not is_sparse(b):
        return small_gemm(a, b)
    result = a @ b.T
    return np.asarray(result.toarray() if is_sparse(result) else result)


def sum_in_order(parts: list[Floats]) -> Floats:
    """The sum of arrays, always in the same order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _row_squares(block: Any, exponent: int) -> Floats:
    """||x / 2^exponent||^2 of the rows of a block, whose entries may be changed if it is sparse."""
    values = block.data if is_sparse(block) else block
    squares = np.square(np.ldexp(values, -exponent) if exponent else values)
    if not is_sparse(block):
        return np.asarray(squares.sum(axis=1))
    block.data = squares
    return np.asarray(block.sum(axis=1)).ravel()


def _slack(width: int) -> float:
    """Twice the relative error of a sum of so many squares in doubles, at most."""
    return (width + 8) * 2.0**-51


def longest_rows(squares: Floats, width: int) -> tuple[Array, Array]:
    """Rows that have the largest norm up to rounding, the largest first, and those to compare.

    The slack is above the rounding error of a sum of squares, so that the row of largest norm is
    among them whatever the summation did. Of the second, accurate norms are to be compared; there
    are none if they would be too many.
    """
    top = squares.max()
    rows = np.flatnonzero(squares >= top * (1 - max(1e-9, _slack(width))))
    rows = rows[np.argsort(-squares[rows], kind="stable")]
    close = rows[squares[rows] >= top * (1 - _slack(width))]
    return rows, close if len(close) <= _FEW else close[:0]


def norm_of_longest(
    rows: list[Floats], exponent: int, squares: Floats, width: int
) -> tuple[float, int, float]:
    """The largest norm m 2^e and its relative error.

    Of a few rows every square is rounded once and their sum once; otherwise the sums of squares
    in doubles have to do. (Half an error of a square is that of its root. Squares underflow only
    if they are less than 2^-1000 times the largest.)
    """
    total, error = float(squares.max()), _slack(width) / 2
    if rows:
        total, error = max(math.fsum(np.square(np.ldexp(r, -exponent))) for r in rows), 2.0**-50
    mantissa, shift = math.frexp(math.sqrt(total))
    return mantissa, exponent + shift, error


# --- the canonical form of data, version 1, and its SHA-256 ----------------------------------
#
# The same numbers with the same labels in the same order have the same digest, whatever dtype,
# memory order or sparse format they are stored in. The bytes that are hashed:
#
#     "gammabar-data-1" newline, number of points (int64), number of columns (int64)
#     per point:  label (int32), number of nonzeros (uint32),
#                 the columns of the nonzeros, ascending (uint32),
#                 the values (float64; the double nearest to the value, ties to even), and,
#                 only if some value of the point is no double: "r", and value - double
#                 (int64) of each
#
# All numbers are big-endian. Zeros, -0.0 among them, are left out. Labels are -1 and +1, or the
# index of the class 0, ..., k - 1.

_BLOCK_VALUES = 1 << 20
_EXACT = 1 << 53


def digest(X: Any, labels: Array) -> str:
    """SHA-256, in hexadecimal, of the canonical form of points and labels.

    X is a dense array or canonical CSR matrix, of integers of at most 64 bits or floats of at most
    double precision; labels are integers.
    """
    n, d = X.shape
    sha = hashlib.sha256(b"gammabar-data-1\n" + struct.pack(">qq", n, d))
    stored = X.nnz if is_sparse(X) else X.size
    step = max(1, n * _BLOCK_VALUES // max(1, stored))
    for lo in range(0, n, step):
        hi = min(n, lo + step)
        _update(sha, labels[lo:hi].tolist(), X[lo:hi])
    return sha.hexdigest()


def _update(sha: Any, labels: list[int], block: Any) -> None:
    """Add the rows of a block: where each ends in the list of nonzeros, their columns, values."""
    if is_sparse(block):
        ends, columns, values = block.indptr[1:], block.indices, block.data
    else:
        rows, columns = np.nonzero(block)
        ends, values = np.cumsum(np.bincount(rows, minlength=len(block))), block[rows, columns]
    doubles = values.astype(np.float64)
    remainders = _remainders(values, doubles)
    column_bytes = memoryview(columns.astype(">u4").tobytes())
    value_bytes = memoryview(doubles.astype(">f8").tobytes())
    start = 0
    for label, end in zip(labels, ends.tolist(), strict=True):
        sha.update(struct.pack(">iI", label, end - start))
        sha.update(column_bytes[4 * start : 4 * end])
        sha.update(value_bytes[8 * start : 8 * end])
        if remainders is not None and remainders[start:end].any():
            sha.update(b"r" + remainders[start:end].astype(">i8").tobytes())
        start = end


def _remainders(values: Array, doubles: Floats) -> Array | None:
    """value - double for every value, or None if all are doubles."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    large = np.flatnonzero(np.abs(doubles) >= _EXACT)  # 2^53 + 1 is rounded to 2^53
    if not len(large):
        return None
    remainders = np.zeros(len(values), dtype=np.int64)
    # In Python's integers: the double next to the largest int64 is no int64.
    pairs = zip(values[large].tolist(), doubles[large].tolist(), strict=True)
    remainders[large] = [value - int(double) for value, double in pairs]
    return remainders
