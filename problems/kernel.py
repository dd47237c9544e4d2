"""Problems in the reproducing-kernel Hilbert space of a kernel, and the rows of its Gram matrix."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import cached_property
from typing import Any, Self

import numpy as np

from gammabar.problems.kernels import Kernel, check_diagonal, check_gram, symmetric
from gammabar.problems.linear import csr_matrix, dense_matrix, signs, vector
from gammabar.problems.points import Points, digest, is_sparse
from gammabar.problems.problem import (
    Array,
    Floats,
    Problem,
    ProblemError,
    Source,
    frozen,
    largest_exponent,
    ldexp,
)


class Coefficients(Problem):
    """Problems where w is given by the coefficients of the rows: what follows from `scores`."""

    def combine(self, q: Array) -> Floats:
        return vector(q, self.n).copy()

    def row(self, i: int) -> Floats:
        row = np.zeros(self.n)
        row[i] = 1.0
        return row

    def inner(self, v: Array, w: Array) -> float:
        return float(np.dot(vector(v, self.n), self.scores(w)))

    def norm(self, w: Array) -> float:
        length, _, exponent = self._near_one(w)
        return ldexp(length, exponent)

    def margin(self, w: Array) -> float:
        length, scores, _ = self._near_one(w)
        return float(scores.min()) / length if length > 0 else 0.0

    def _near_one(self, w: Array) -> tuple[float, Floats, int]:
        """Norm and scores of w / 2^e with coefficients of at most one, and e."""
        w = vector(w, self.n)
        exponent = largest_exponent(w)
        w = np.ldexp(w, -exponent)
        scores = self.scores(w)
        # A semi-norm: rounding may leave a little less than zero where it vanishes.
        return math.sqrt(max(0.0, float(np.dot(w, scores)))), scores, exponent


def _own(X: Array) -> Array:
    """A copy of an array that somebody can write to, in the same order."""
    root = X
    while isinstance(root.base, np.ndarray):
        root = root.base
    return frozen(X.copy(order="K")) if root.flags.writeable else X


class KernelProblem(Coefficients):
    """Rows a_i = y_i phi(x_i) of the space of a kernel; w is a vector of n coefficients.

    The function f = sum_i alpha_i a_i is represented by alpha, so with the signed Gram matrix
    G_ij = y_i y_j K(x_i, x_j) the scores are G alpha, the norm is sqrt(alpha^T G alpha), and
    `combine` is the identity. Any solver that is written in these operations runs here unchanged.

    For a precomputed kernel X is the Gram matrix itself. Where it is `normalised`, G_ij is divided
    by sqrt(K(x_i, x_i) K(x_j, x_j)), so that every row has norm one; the margin is then that of
    [1]_, eq. (5). `diagonal` is K(x_i, x_i), as computed and before it is normalised.

    References
    ----------
    .. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015),
       Section 3.
    """

    def __init__(
        self,
        X: Any,
        y: Array,
        kernel: Kernel,
        normalised: bool = False,
        source: Source | None = None,
    ) -> None:
        sparse = is_sparse(X)
        if sparse and kernel.name == "precomputed":
            X, sparse = X.toarray(), False
        # A copy: the diagonal is kept, so nobody else may own what it was computed from.
        self.points = Points(csr_matrix(X.copy()) if sparse else _own(dense_matrix(X)))
        self.n = self.dimension = self.points.shape[0]
        self.y = signs(y, self.n)
        self.kernel = kernel.fitted(self.points.X)
        self.normalised = normalised
        self.source = source
        if kernel.name == "precomputed":
            check_gram(self.points.X)
        if kernel.name == "callable":
            some = self.points.take(slice(0, _SAMPLE))
            symmetric(self.kernel.matrix(some, some))
        diagonal = self.kernel.diagonal(self.points)
        check_diagonal(diagonal, normalised)
        self.diagonal = frozen(diagonal)
        factors = np.sqrt(diagonal) if normalised else np.ones(self.n)
        self._signs = frozen(self.y / factors)
        largest = 1.0 if normalised else math.sqrt(float(diagonal.max()))
        # Its error is that of the diagonal, which `rounding` knows.
        self._set_radius(*math.frexp(largest), 0.0)
        self._values = GramRows(self.points, self.kernel)

    def unit(self) -> Self:
        if self.diagonal.max() == 0 and self._hides_rows():
            raise ProblemError(
                f"K(x, x) of every row is below the smallest double with the kernel {self.kernel}, "
                "so that rows cannot be divided by their largest norm; multiply X by a power of two"
            )
        return super().unit()

    def _hides_rows(self) -> bool:
        """Whether some row is not zero though its K(x, x) is, as doubles compute it."""
        if self.kernel.name not in ("linear", "poly", "network"):
            return False  # K(x, x) is 1, or what was given
        values = self.X.data if is_sparse(self.X) else self.X
        return bool(values.any()) or (self.kernel.name == "poly" and self.kernel.coef0 > 0)

    @property
    def X(self) -> Any:
        """The points as stored; the Gram matrix if the kernel is precomputed."""
        return self.points.X

    def scores(self, w: Array) -> Floats:
        factors = self._signed_scales()
        return factors * self._values.dot(factors * vector(w, self.n))

    def gram(self, rows: Array, cols: Array | None = None) -> Floats:
        rows = np.asarray(rows)
        cols = rows if cols is None else np.asarray(cols)
        factors = self._signed_scales()
        return self._values.block(rows, cols) * factors[rows][:, None] * factors[cols][None, :]

    def _signed_scales(self) -> Floats:
        return self._signs if self.scale == 1 else self._signs * self.scale

    def _digest(self) -> str:
        return digest(self.X, self.y)


#: Points for which a kernel function is tried: is it symmetric? (The oracle looks at all.)
_SAMPLE = 12
_BUDGET = 512 << 20
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

    def __init__(self, points: Points, kernel: Kernel, budget: int = _BUDGET) -> None:
        self.points, self.kernel = points, kernel
        self.n = points.shape[0]
        self._fits = 8 * self.n * self.n <= budget
        self._capacity = max(1, budget // (8 * self.n))
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._full: Points | None = None
        if kernel.name == "precomputed":
            assert isinstance(points, Points)
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
            self._full = Points(self._compute())
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
        """The whole of K: one half of the tiles, mirrored, so that it is exactly symmetric.

        Of a user's function the other half is computed as well: it must be the same.
        """
        if self.kernel.name == "callable":
            everything = np.arange(self.n)
            K = symmetric(self.block(everything, everything))
            K.flags.writeable = False
            return K
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
