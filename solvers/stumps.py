"""Decision stumps, and the best one for a distribution on the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from gammabar.solvers.base import Array

# Weights are rounded to multiples of 2^-61 before they are summed. That is finer than sums of
# doubles are, no sum of weights leaves int64, and sums do not depend on the order of the rows, so
# stumps that are equally good on weights that are equal come out equally good.
_BITS = 61
# Entries of the matrix that are looked at together.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Stump:
    """h(x) = sign if x_j > threshold, else −sign.

    The threshold is a value of the data (so integers stay exact whatever their size), or −∞ for
    the hypothesis that is constant.

    Examples
    --------
    >>> Stump(0, 2, -1)([[1, 7], [3, 7]])
    array([ 1, -1], dtype=int8)
    """

    feature: int
    threshold: float | int
    sign: int

    def __call__(self, X: Any) -> Array:
        if scipy.sparse.issparse(X):
            column = X[:, [self.feature]].toarray().ravel()
        else:
            column = np.asarray(X)[:, self.feature]
        above = column > self.threshold
        return np.where(above, self.sign, -self.sign).astype(np.int8)


@dataclass(frozen=True)
class BestStump:
    """The weak learner that returns a stump of least weighted error.

    Every column is sorted once; after that a distribution costs one pass over the sorted entries
    (for sparse data, over the stored ones). Ties go to the first of: the constants; then columns
    ascending, and in a column thresholds ascending. Of a stump and its negative, whose errors are
    ε and 1 − ε, it returns the better one, and at ε = ½ the one with sign +1.

    Examples
    --------
    >>> learn = BestStump()(np.array([[1], [2], [3]]), np.array([1, -1, -1]))
    >>> learn(np.array([1 / 3, 1 / 3, 1 / 3]))
    Stump(feature=0, threshold=1, sign=-1)
    """

    def __call__(self, X: Any, y: Array) -> Callable[[Array], Stump]:
        """Sort the columns of X; the result takes a distribution to its best stump."""
        return _Columns(X, np.asarray(y, dtype=np.int64)).best


@dataclass
class _Block:
    """Some columns, one after the other, each sorted by value.

    ``order`` has the row of every entry; in a sparse column the rows that are not stored are one
    entry, whose row is n. ``cut`` says where a threshold may be: at the last of equal values, but
    not at the largest of the column.
    """

    columns: range
    order: Array
    starts: Array
    cut: Array
    zeros: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    lacking: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))


class _Columns:
    def __init__(self, X: Any, y: Array) -> None:
        self.X, self.y = X, y
        sparse = scipy.sparse.issparse(X)
        self.blocks = list(_sparse_blocks(X.tocsc()) if sparse else _dense_blocks(X))

    def best(self, D: Array) -> Stump:
        """The stump whose Σ_i D_i y_i h(x_i) is largest."""
        weights = np.append(np.rint(np.ldexp(D, _BITS)).astype(np.int64) * self.y, 0)
        total = int(weights.sum())  # of the constant +1
        found, edge, largest = None, total, abs(total)
        for block in self.blocks:
            edges = np.where(block.cut, _edges(block, weights, total), 0)
            position = int(np.argmax(np.abs(edges)))
            if abs(int(edges[position])) > largest:
                found, edge = (block, position), int(edges[position])
                largest = abs(edge)
        sign = 1 if edge >= 0 else -1
        return Stump(0, -math.inf, sign) if found is None else Stump(*self._place(*found), sign)

    def _place(self, block: _Block, position: int) -> tuple[int, Any]:
        """Column and value of an entry."""
        j = block.columns[int(np.searchsorted(block.starts, position, side="right")) - 1]
        i = int(block.order[position])
        return j, (0 if i == len(self.y) else self.X[i, j].item())


def _edges(block: _Block, weights: Array, total: int) -> Array:
    """Σ_i D_i y_i h(x_i) for h = +1 above each entry and −1 up to it."""
    entries = weights[block.order]
    if len(block.zeros):
        sums = np.add.reduceat(entries, block.starts)
        entries[block.zeros] = total - sums[block.lacking]
    # Running sums over several columns may wrap around; their differences do not.
    up_to = np.cumsum(entries)
    before = up_to[block.starts] - entries[block.starts]
    lengths = np.diff(np.append(block.starts, len(entries)))
    return np.asarray(total - 2 * (up_to - np.repeat(before, lengths)))


def _dense_blocks(X: Array) -> Iterator[_Block]:
    n, d = X.shape
    step = max(1, _BLOCK // n)
    for lo in range(0, d, step):
        part = np.ascontiguousarray(X[:, lo : lo + step].T)
        order = np.argsort(part, axis=1, kind="stable").astype(np.int32)
        values = np.take_along_axis(part, order, axis=1)
        cut = np.zeros(part.shape, dtype=bool)
        cut[:, :-1] = values[:, 1:] != values[:, :-1]
        starts = n * np.arange(len(part))
        yield _Block(range(lo, lo + len(part)), order.ravel(), starts, cut.ravel())


def _sparse_blocks(X: Any) -> Iterator[_Block]:
    n, d = X.shape
    lo = 0
    while lo < d:
        most = int(np.searchsorted(X.indptr, X.indptr[lo] + _BLOCK, side="right")) - 1
        hi = max(lo + 1, min(most, lo + _BLOCK, d))
        yield _sparse_block(X.data, X.indices, X.indptr[lo : hi + 1], range(lo, hi), n)
        lo = hi


def _sparse_block(data: Array, rows: Array, pointers: Array, columns: range, n: int) -> _Block:
    stored = np.diff(pointers)
    lacking = np.flatnonzero(stored < n)
    entries = slice(pointers[0], pointers[-1])
    of = np.concatenate([np.repeat(np.arange(len(columns)), stored), lacking])
    row = np.concatenate([rows[entries], np.full(len(lacking), n)]).astype(np.int32)
    value = np.concatenate([data[entries], np.zeros(len(lacking), dtype=data.dtype)])
    by = np.lexsort((value, of))
    of, row, value = of[by], row[by], value[by]
    cut = np.zeros(len(by), dtype=bool)
    cut[:-1] = (of[1:] == of[:-1]) & (value[1:] != value[:-1])
    starts = np.searchsorted(of, np.arange(len(columns)))
    return _Block(columns, row, starts, cut, np.flatnonzero(row == n), lacking)
