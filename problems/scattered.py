"""Problems whose points are in chunks: files larger than memory, or a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gammabar.problems.base import (
    Array,
    Floats,
    ProblemError,
    Source,
    soft_weights,
    soften,
)
from gammabar.problems.chunks import Chunks
from gammabar.problems.files import gigabytes, memory_budget
from gammabar.problems.linear import LinearProblem
from gammabar.problems.points import longest_rows, norm_of_longest, rows_to_compare, sum_in_order
from gammabar.problems.soft_pass import Meanwhile, Soft
from gammabar.problems.sparsity import is_sparse

#: Bytes of single rows that are kept, lest a chunk is visited again for each of them.
_KEPT_BYTES = 1 << 26
#: Which share of the rows are few: they come here, where the oracle's working set is kept.
_FEW = 8


class ScatteredProblem(LinearProblem):
    """Rows a_i = y_i x_i in chunks; w is a vector of R^d.

    Every operation is a pass over the chunks, where they are. What the oracle says is the same as
    for the same data in memory. What solvers say is the same for the same chunks, wherever they
    are; beside data in memory sums are rounded in another order.

    Parameters
    ----------
    chunks : Chunks
        All values finite: that is checked in the first pass.
    y : array of n labels -1 and +1
    source : Source, optional
        Where the data come from.
    """

    points: ScatteredPoints

    def __init__(self, chunks: Chunks, y: Array, source: Source | None = None) -> None:
        super().__init__(ScatteredPoints(chunks), y, source)

    @property
    def where(self) -> str:
        """How many chunks there are, how large all are together, and where, in words."""
        chunks = self.points.chunks
        size = gigabytes(self.points.values * chunks.dtype.itemsize)
        return f"{len(chunks.lengths)} chunks, {size} in all, {chunks.place}"


class Rows:
    """The matrix, as far as one may look at it: some rows at a time."""

    ndim = 2

    def __init__(self, points: ScatteredPoints) -> None:
        self._points = points
        self.shape, self.dtype = points.shape, points.chunks.dtype
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self._points.rows(np.arange(*rows.indices(len(self))))
        if np.ndim(rows) == 0:
            return self._points.rows(np.array([rows]))[0]
        return self._points.rows(np.asarray(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.size * self.dtype.itemsize > memory_budget():
            size = gigabytes(self.size * self.dtype.itemsize)
            raise ProblemError(f"the points take {size}, too much for the memory of this machine")
        found = self[:]
        found = found.toarray() if is_sparse(found) else found
        return np.asarray(found, dtype=dtype)

    def min(self) -> Any:
        """The smallest value."""
        return self._points.extremes[0]

    def max(self) -> Any:
        """The largest value."""
        return self._points.extremes[1]


class ScatteredPoints:
    """Points in chunks: what `DensePoints` and `SparsePoints` offer, chunk by chunk."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self.shape = chunks.shape
        self._ends = np.cumsum(chunks.lengths)
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`
        self.extremes: tuple[Any, Any] = (0, 0)  # set by `largest`
        self._kept: dict[int, Array] = {}
        self.X = Rows(self)

    @property
    def values(self) -> int:
        """How many numbers there are, at most."""
        return self.shape[0] * self.shape[1]

    def floats(self) -> None:
        """The whole matrix is never in memory."""

    def rows(self, rows: Array) -> Any:
        """The chosen rows as they are stored, from the chunks that have them."""
        rows = np.asarray(rows, dtype=np.int64)
        rows = np.where(rows < 0, rows + self.shape[0], rows)
        if not 0 < self.bytes(len(rows)) <= _KEPT_BYTES // 4:
            return self._brought(rows)
        fresh = np.unique([i for i in rows.tolist() if i not in self._kept]).astype(np.int64)
        if len(fresh):
            block = self._brought(fresh)
            if is_sparse(block):  # is not kept
                return self._brought(rows) if self._kept else block[np.searchsorted(fresh, rows)]
            if self.bytes(len(self._kept) + len(fresh)) > _KEPT_BYTES:
                self._kept = {i: self._kept[i] for i in rows.tolist() if i in self._kept}
            self._kept |= {i: row.copy() for i, row in zip(fresh.tolist(), block, strict=True)}
        return np.stack([self._kept[i] for i in rows.tolist()])

    def bytes(self, rows: int) -> int:
        """What so many rows take, if they are dense."""
        return rows * self.shape[1] * self.chunks.dtype.itemsize

    def _brought(self, rows: Array) -> Any:
        """The chosen rows, whatever is kept of them."""
        wanted = np.unique(rows)
        place = np.searchsorted(self._ends, wanted, side="right")
        own: dict[int, Any] = {}
        for k in np.unique(place).tolist():
            own[k] = (wanted[place == k] - (self._ends[k] - self.chunks.lengths[k]),)
        found = self.chunks.each(_take, (), own)
        if not found:
            return np.empty((0, self.shape[1]), self.chunks.dtype)
        if any(is_sparse(part) for part in found):
            from scipy.sparse import vstack

            return vstack(found, format="csr")[np.searchsorted(wanted, rows)]
        return np.concatenate(found)[np.searchsorted(wanted, rows)]

    def take(self, rows: Array | slice) -> Any:
        """The chosen rows in float64."""
        return self.X[rows].astype(np.float64)

    def blocks(self, size: int = 0) -> Iterator[tuple[int, int, Any]]:
        """(lo, hi, rows lo to hi in float64), chunk by chunk."""
        for lo, hi in self.chunks.bounds:
            yield lo, hi, self.take(slice(lo, hi))

    def dot(self, w: Floats) -> Floats:
        """X w."""
        return np.concatenate(self.chunks.each(_dot, (w,)))

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows, which are brought here."""
        return np.asarray(self.take(rows) @ w)

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, visiting only the chunks where q is not zero; a few rows are brought here."""
        some = np.flatnonzero(q)
        if len(some) <= self.shape[0] // _FEW and self.bytes(len(some)) <= _KEPT_BYTES // 4:
            return np.asarray(self.take(some).T @ q[some])
        parts = {k: q[lo:hi] for k, (lo, hi) in enumerate(self.chunks.bounds)}
        own = {k: (part,) for k, part in parts.items() if part.any()}
        sums = self.chunks.each(_adjoint, (), own) if own else []
        return sum_in_order(sums) if sums else np.zeros(self.shape[1])

    def softmin(
        self,
        w: Floats,
        y: Array,
        inner: float,
        outer: float,
        temperature: float,
        meanwhile: Meanwhile = None,
    ) -> Soft:
        """One pass, as for dense points: each chunk has its own softmax, which are weighed last.

        With s_k the smallest score of chunk k and t_k the sum of exp((s_k - s)/T) over it, the
        pull is that of the chunks with weights in proportion to t_k exp((min s - s_k)/T).
        """
        if meanwhile is not None:
            meanwhile()
        own = {k: (y[lo:hi],) for k, (lo, hi) in enumerate(self.chunks.bounds)}
        parts = self.chunks.each(_soft, (w, inner, outer, temperature), own)
        lows = np.array([part[1] for part in parts])
        smallest = float(lows.min())
        shares = np.array([part[2] for part in parts])
        shares = shares * soft_weights(lows, smallest, temperature)
        total = float(shares.sum())
        pulls = [part[3] * (share / total) for part, share in zip(parts, shares, strict=True)]
        scores = np.concatenate([part[0] for part in parts])
        return scores, smallest, math.log(total) - smallest / temperature, sum_in_order(pulls)

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r), as for dense points; the first pass, which refuses what is not finite."""
        parts = self.chunks.each(_survey)
        for (lo, _), part in zip(self.chunks.bounds, parts, strict=True):
            if part.bad is not None:
                i, j, value = part.bad
                raise ProblemError(
                    f"X has {value} in row {lo + i}, column {j} (counted from 0); every value "
                    "must be finite"
                )
        self.extremes = min(p.low for p in parts), max(p.high for p in parts)
        exponent = max(part.exponent for part in parts)
        # Powers of two: only squares that do not count underflow.
        squares = np.concatenate(
            [np.ldexp(p.squares, 2 * max(p.exponent - exponent, -1000)) for p in parts]
        )
        self.longest = longest_rows(squares, self.shape[1])
        close = self.take(rows_to_compare(squares, self.longest, self.shape[1]))
        if is_sparse(close):
            close = close.toarray()
        return norm_of_longest(list(close), exponent, squares, self.shape[1])

    def squares(self) -> Floats:
        """||x_i||^2 of every row."""
        return np.concatenate(self.chunks.each(_squares))


# --- what is done on a chunk -----------------------------------------------------------------


def _take(points: Any, rows: Array) -> Any:
    found = points.X[rows]
    return found if is_sparse(found) else np.array(found)


def _dot(points: Any, w: Floats) -> Floats:
    return np.asarray(points.dot(w))


def _adjoint(points: Any, q: Floats) -> Floats:
    return np.asarray(points.adjoint(q))


def _squares(points: Any) -> Floats:
    return np.asarray(points.squares())


def _soft(
    points: Any, w: Floats, inner: float, outer: float, temperature: float, y: Array
) -> tuple[Floats, float, float, Floats]:
    scores = (outer * y) * points.dot(inner * w)
    weights, smallest, _ = soften(scores, temperature)
    pull = outer * points.adjoint(inner * y * weights)
    # The sum that the weights were divided by: the largest weight was 1 before.
    return scores, smallest, 1 / float(weights.max()), pull


class _Part:
    """What the first pass learns of a chunk."""

    def __init__(self, X: Any, points: Any) -> None:
        values = X.data if is_sparse(X) else X
        self.bad = _not_finite(X) if values.dtype.kind == "f" else None
        self.low = self.high = values.dtype.type(0)
        self.exponent, self.squares = -1074, np.zeros(X.shape[0])
        if self.bad is not None or not values.size:
            return
        self.low, self.high = values.min(), values.max()
        if is_sparse(X):  # zeros are not stored
            self.low, self.high = min(self.low, 0 * self.low), max(self.high, 0 * self.high)
        top = max(-float(self.low), float(self.high))
        if top == 0:
            return
        self.exponent = math.frexp(top)[1]
        parts = []
        for _, _, block in points.blocks():
            if is_sparse(block):
                block.data = np.square(np.ldexp(block.data, -self.exponent))
                parts.append(np.asarray(block.sum(axis=1)).ravel())
            else:
                parts.append(np.square(np.ldexp(block, -self.exponent)).sum(axis=1))
        self.squares = np.concatenate(parts)


def _survey(points: Any) -> _Part:
    return _Part(points.X, points)


def _not_finite(X: Any) -> tuple[int, int, float] | None:
    """The first entry that is not finite: row, column and value."""
    step = max(1, (1 << 20) // X.shape[1])
    for lo in range(0, X.shape[0], step):
        block = X[lo : lo + step]
        values = block.data if is_sparse(block) else block
        if not np.isfinite(values).all():
            block = block.toarray() if is_sparse(block) else block
            i, j = (int(v) for v in np.argwhere(~np.isfinite(block))[0])
            return lo + i, j, float(block[i, j])
    return None
