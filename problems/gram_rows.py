"""The values of a kernel between all points, computed when asked for and kept within bounds."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from typing import Any

import numpy as np

from gammabar.problems.base import Array, Floats, ProblemError
from gammabar.problems.kernels import Kernel
from gammabar.problems.points import DensePoints, Points

BUDGET = 512 << 20
_TILE = 512
# A request for more rows than this is part of a scan.
_FEW = 16
# Of few rows wider tiles are computed: what is in hand then fits into a cache all the same.
_TILE_VALUES = 1 << 18


class GramRows:
    """Rows of the matrix K(x_i, x_j).

    A matrix of at most `budget` bytes is computed once, when it is first multiplied with.
    Of a larger one, as many rows are kept as fit, the least recently used one going first; a
    product that needs more rows than that leaves the kept ones alone, for a scan would only
    push out each row shortly before its next use.
    """

    def __init__(self, points: Points, kernel: Kernel, budget: int = BUDGET) -> None:
        self.points, self.kernel = points, kernel
        self.n = points.shape[0]
        self._fits = 8 * self.n * self.n <= budget
        self._capacity = max(1, budget // (8 * self.n))
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._full: DensePoints | None = None
        if kernel.name == "precomputed":
            assert isinstance(points, DensePoints)
            self._full = points

    def __getstate__(self) -> dict[str, Any]:
        # Values can be computed again; they are not worth sending to another process.
        state = self.__dict__ | {"_kept": OrderedDict()}
        state.pop("_known", None)
        return state if self.kernel.name == "precomputed" else state | {"_full": None}

    def dot(self, v: Floats) -> Floats:
        """K v, from the rows where v is not zero if they are few."""
        support = np.flatnonzero(v)
        if self._full is None and self._fits and 4 * len(support) > self.n:
            self._full = DensePoints(self._compute())
        if self._full is not None:
            # K is symmetric, and the adjoint skips the rows where v is zero.
            return self._full.dot(v) if 2 * len(support) > self.n else self._full.adjoint(v)
        total = np.zeros(self.n)
        step = max(1, min(_TILE, self._capacity))
        for lo in range(0, len(support), step):
            part = support[lo : lo + step]
            total += v[part] @ self._rows(part, keep=len(support) <= self._capacity)
        return total

    def block(self, rows: Array, cols: Array) -> Floats:
        """K(x_i, x_j) for i in rows and j in cols."""
        if self._full is not None:
            return np.asarray(self._full.X[np.ix_(rows, cols)], dtype=np.float64)
        result = np.empty((len(rows), len(cols)))
        missing = np.array([int(i) not in self._kept for i in rows], dtype=bool)
        for r in np.flatnonzero(~missing):
            result[r] = self._kept[int(rows[r])][cols]
        if not missing.any():
            return result
        absent = rows[missing]
        left, known = self.points.take(absent), self._known
        all_points = len(cols) == self.n and bool((cols == np.arange(self.n)).all())
        if all_points and len(absent) == 1 and self.kernel.of_products:
            # One pass over the points as they are stored, which need not be converted.
            row = np.ravel(left.toarray() if hasattr(left, "toarray") else left)
            tile = self.kernel.from_products(self.points.dot(row)[None, :], known[absent], known)
            result[missing] = self._finite(tile, absent, cols)
            return result
        width = max(_TILE, _TILE_VALUES // max(len(absent), self.points.shape[1]))
        for lo in range(0, len(cols), width):
            part = cols[lo : lo + width]
            right = self.points.take(slice(lo, lo + width) if all_points else part)
            tile = self.kernel.matrix(left, right, known[absent], known[part])
            result[missing, lo : lo + width] = self._finite(tile, absent, part)
        return result

    @cached_property
    def _known(self) -> Any:
        """What the kernel computes of every point once."""
        return self.kernel.prepare(self.points)

    def rows(self, rows: Array) -> Floats:
        """Whole rows of K; kept if they are few."""
        return self._rows(rows, keep=len(rows) <= min(_FEW, self._capacity))

    def _rows(self, rows: Array, keep: bool) -> Floats:
        """Whole rows of K, from those kept and the rest computed."""
        result = self.block(rows, np.arange(self.n))
        for i, values in zip(rows.tolist(), result, strict=True):
            if i in self._kept:
                self._kept.move_to_end(i)
            elif keep:
                self._kept[i] = values.copy()
                if len(self._kept) > self._capacity:
                    self._kept.popitem(last=False)
        return result

    def _compute(self) -> Floats:
        """The whole of K: one half of the tiles, mirrored, so that it is exactly symmetric."""
        K = np.empty((self.n, self.n))
        parts = [np.arange(lo, min(lo + _TILE, self.n)) for lo in range(0, self.n, _TILE)]
        for a, rows in enumerate(parts):
            left, known = self.points.take(rows), self._known
            for cols in parts[a:]:
                right = left if cols is rows else self.points.take(cols)
                tile = self.kernel.matrix(left, right, known[rows], known[cols])
                tile = self._finite(tile, rows, cols)
                if cols is rows:
                    tile = np.tril(tile) + np.tril(tile, -1).T
                K[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1] = tile
                K[cols[0] : cols[-1] + 1, rows[0] : rows[-1] + 1] = tile.T
        K.flags.writeable = False
        return K

    def _finite(self, tile: Floats, rows: Array, cols: Array) -> Floats:
        if np.isfinite(tile).all():
            return tile
        i, j = (int(v) for v in np.argwhere(~np.isfinite(tile))[0])
        raise ProblemError(
            f"the {self.kernel.name} kernel of rows {rows[i]} and {cols[j]} is {tile[i, j]}; "
            "divide X by its largest entry"
        )
