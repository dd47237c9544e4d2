"""Multiclass problems, with and without a kernel, by a reduction that is never written out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gammabar.problems.kernel import Coefficients, GramRows
from gammabar.problems.kernels import Kernel, check_diagonal
from gammabar.problems.linear import MOST_COLUMNS, matrix, scaled, vector
from gammabar.problems.points import BLOCK_BYTES, Points, digest, is_sparse, product
from gammabar.problems.problem import (
    Array,
    Floats,
    Problem,
    ProblemError,
    SoftMin,
    Source,
    check_temperature,
    frozen,
    soft_weights,
)


class _Reduction(Problem):
    """What problems of several classes share: which row stands for which point and which class.

    There are N points and k classes; `labels` are integers 0, ..., k - 1.
    """

    N: int
    k: int
    labels: Array
    points: Points

    @property
    def X(self) -> Any:
        """The points as stored."""
        return self.points.X

    def _set_classes(self, labels: Array, n: int, k: int | None) -> None:
        self.N = n
        self.labels, self.k = _classes(labels, n, k)
        self.n = n * (self.k - 1)

    def _overlap(self, rows: Array, cols: Array) -> tuple[Array, Array, Floats]:
        """Points of rows and of columns, and <e_c - e_j, e_b - e_h> / 2 of all pairs."""
        p, c, j = self._unpack(np.asarray(rows))
        q, b, h = self._unpack(np.asarray(cols))
        c, j = c[:, None], j[:, None]
        overlap = ((c == b).astype(np.int8) + (j == h)) - ((c == h).astype(np.int8) + (j == b))
        return p, q, overlap / 2

    def _apart(self, values: Floats, labels: Array) -> Floats:
        """v_c - v_j for all wrong classes j, from a value v for each point and class."""
        right = np.take_along_axis(values, labels[:, None], axis=1)
        return np.asarray(right - np.take_along_axis(values, self._wrong(labels), axis=1))

    def _gathered(self, weights: Floats, labels: Array) -> Floats:
        """Weights of rows as weights of classes, per point: their sum for c, minus each for j."""
        out = np.empty((len(labels), self.k))
        np.put_along_axis(out, self._wrong(labels), -weights, axis=1)
        np.put_along_axis(out, labels[:, None], weights.sum(axis=1, keepdims=True), axis=1)
        return out

    def _wrong(self, labels: Array) -> Array:
        """The classes other than the label, ascending, for each label."""
        classes = np.arange(self.k - 1)
        return classes + (classes >= labels[:, None])

    def _unpack(self, rows: Array) -> tuple[Array, Array, Array]:
        """Point, right class and wrong class of each row."""
        # In 64 bits, whatever kind of integers the rows are: n is less than 2^63.
        points, slots = np.divmod(np.asarray(rows, dtype=np.int64), self.k - 1)
        right = self.labels[points]
        return points, right, slots + (slots >= right)

    def _digest(self) -> str:
        return digest(self.X, self.labels)


class MulticlassProblem(_Reduction):
    """N points with labels 0, ..., k - 1 become N (k - 1) rows of R^(d k).

    For every point i and every wrong class j, ascending, there is the row

        x_i (e_c - e_j)^T / sqrt(2),        c the label of i,

    a d x k matrix, flattened row by row like w (so U = w.reshape(d, k)). It is row number
    i (k - 1) + j, or one less if j > c. The margin of this problem is the multiclass margin
    divided by sqrt(2) [1]_.

    The number of classes k is by default the largest label plus one.

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration
       (2021), Section 5.2 and Theorem 5.1.
    """

    def __init__(
        self, X: Any, labels: Array, k: int | None = None, source: Source | None = None
    ) -> None:
        self.points = Points(matrix(X))
        n, self.d = self.points.shape
        self._set_classes(labels, n, k)
        self.dimension = self.d * self.k
        self.source = source
        # ||x (e_c - e_j)^T / sqrt(2)|| = ||x||.
        self._set_radius(*self.points.largest())

    def scores(self, w: Array) -> Floats:
        U = self._matrix(w)
        out = np.empty((self.N, self.k - 1))
        for lo, hi, block in self.points.blocks():
            out[lo:hi] = self._differences(block @ U, self.labels[lo:hi])
        return out.ravel()

    def combine(self, q: Array) -> Floats:
        weights = vector(q, self.n).reshape(self.N, self.k - 1)
        total = np.zeros((self.d, self.k))
        for rows, block in self._active(np.flatnonzero(weights.any(axis=1))):
            total += block.T @ self._spread(weights[rows], self.labels[rows])
        return self._finish(total)

    def softmin(self, w: Array, temperature: float = 1.0) -> SoftMin:
        check_temperature(temperature)
        U = self._matrix(w)
        scores = np.empty((self.N, self.k - 1))
        smallest, total, pull = math.inf, 0.0, np.zeros((self.d, self.k))
        for lo, hi, block in self.points.blocks():
            labels = self.labels[lo:hi]
            part = scores[lo:hi] = self._differences(block @ U, labels)
            least = min(smallest, float(part.min()))
            if least < smallest < math.inf:
                shrink = float(soft_weights(np.array(smallest), least, temperature))
                total, pull = total * shrink, pull * shrink
            smallest = least
            weights = soft_weights(part, smallest, temperature)
            total += float(weights.sum())
            pull += block.T @ self._spread(weights, labels)
        smallest = float(scores.min())  # NaN if there is one
        logsumexp = math.log(total) - smallest / temperature
        return SoftMin(smallest, logsumexp, self._finish(pull / total), scores.ravel())

    def row(self, i: int) -> Floats:
        points, right, wrong = self._unpack(np.array([i]))
        x = self._take(points)
        x = np.asarray(x.toarray() if is_sparse(x) else x)[0] / math.sqrt(2)
        U = np.zeros((self.d, self.k))
        U[:, right[0]], U[:, wrong[0]] = x, -x
        return U.ravel()

    def gram(self, rows: Array, cols: Array | None = None) -> Floats:
        p, q, overlap = self._overlap(rows, rows if cols is None else cols)
        left = self._take(p)
        result: Floats = product(left, left if cols is None else self._take(q)) * overlap
        return result

    def _matrix(self, w: Array) -> Floats:
        return vector(w, self.dimension).reshape(self.d, self.k) * self._inner

    def _finish(self, total: Floats) -> Floats:
        return np.ravel(total) * (self._outer / math.sqrt(2))

    def _differences(self, values: Floats, labels: Array) -> Floats:
        """(<x, u_c> - <x, u_j>) / sqrt(2) for all wrong j, from the products <x, u_j>."""
        return self._apart(values, labels) * (self._outer / math.sqrt(2))

    def _spread(self, weights: Floats, labels: Array) -> Floats:
        """Weights of classes, per point, as `_gathered` has them, for points of this view."""
        return self._gathered(weights, labels) * self._inner

    def _take(self, points: Array) -> Any:
        return scaled(self.points.take(points), np.ones(len(points)), self._inner, self._outer)

    def _active(self, rows: Array) -> Iterator[tuple[Any, Any]]:
        """Blocks of the points with these indices; slices, without a copy, if they are most."""
        if 2 * len(rows) > self.N:
            for lo, hi, block in self.points.blocks():
                yield slice(lo, hi), block
            return
        step = max(1, BLOCK_BYTES // (8 * self.d))
        for lo in range(0, len(rows), step):
            part = rows[lo : lo + step]
            yield part, self.points.take(part)


def _classes(labels: Array, n: int, k: int | None) -> tuple[Array, int]:
    """Labels as integers, and the number of classes; refused if they do not fit."""
    labels = np.asarray(labels)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ProblemError(f"labels must be {n} whole numbers 0, ..., k - 1; from_arrays takes any")
    k = int(labels.max()) + 1 if k is None else int(k)
    if k < 2:
        raise ProblemError("a multiclass problem has at least two classes")
    if k > MOST_COLUMNS:
        raise ProblemError(f"a multiclass problem has at most {MOST_COLUMNS:,} classes, not {k:,}")
    outside = (labels < 0) | (labels >= k)
    if outside.any():
        i = int(np.argmax(outside))
        raise ProblemError(f"label {labels[i]} of row {i} is not one of 0, ..., {k - 1}")
    return frozen(np.ascontiguousarray(labels, dtype=np.int64)), k


# Kernel rows that are computed at a time, in a product with many of them.
_ROWS = 256


class MulticlassKernelProblem(Coefficients, _Reduction):
    """N points with labels 0, ..., k - 1 and a kernel become N (k - 1) rows.

    For every point i and every wrong class j there is the row phi(x_i) (e_c - e_j)^T / sqrt(2), c
    the label of i, numbered as in `MulticlassProblem`. As phi(x_i) may have any number of
    coordinates, w is a vector of n = N (k - 1) coefficients of the rows, like in `KernelProblem`.
    The inner product of two rows is

        K(x_i, x_p) <e_c - e_j, e_b - e_h> / 2,

    so the products of one row with all rows need N values of the kernel, not n; those of a
    combination of rows need N for each point that occurs in it [1]_.

    Where it is `normalised`, K is divided by sqrt(K(x, x)), so that every row has norm one.

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration
       (2021), Section 5.2, Figure 3 and Appendix F.

    Examples
    --------
    >>> kernel = Kernel.parse("network:width=8")
    >>> problem = MulticlassKernelProblem([[1, 0], [0, 1], [-1, -1]], np.arange(3), kernel)
    >>> problem.n, problem.gram([0, 1]).shape
    (6, (2, 2))
    """

    def __init__(
        self,
        X: Any,
        labels: Array,
        kernel: Kernel,
        k: int | None = None,
        normalised: bool = False,
        source: Source | None = None,
    ) -> None:
        if kernel.name == "precomputed":
            raise ProblemError("a multiclass problem takes points and a kernel, no Gram matrix")
        self.points = Points(matrix(X))
        self._set_classes(labels, self.points.shape[0], k)
        self.dimension = self.n
        self.kernel = kernel.fitted(self.points.X)
        self.normalised = normalised
        self.source = source
        diagonal = self.kernel.diagonal(self.points)
        check_diagonal(diagonal, normalised)
        self._lengths = frozen(np.sqrt(diagonal)) if normalised else None
        self._set_radius(*math.frexp(1.0 if normalised else math.sqrt(diagonal.max())), 0.0)
        self._values = GramRows(self.points, self.kernel)

    @property
    def y(self) -> Array:
        """The labels."""
        return self.labels

    def scores(self, w: Array) -> Floats:
        rows = np.flatnonzero(vector(w, self.n))
        points = np.unique(rows // (self.k - 1))
        weights = np.reshape(np.asarray(w, dtype=np.float64), (self.N, self.k - 1))[points]
        spread = self._gathered(weights, self.labels[points])
        # One factor of each row of a product is in `spread`, the other comes at the end.
        if self._lengths is not None:
            spread /= self._lengths[points, None]
        factor = self.scale**2 / 2
        if len(points) == 1:
            # The values differ between classes by the weights alone: a table of k (k - 1) numbers.
            each = factor * self._apart(np.repeat(spread, self.k, axis=0), np.arange(self.k))
            row = self._values.rows(points)[0]
            row = row if self._lengths is None else row / self._lengths
            return np.ravel(each[self.labels] * row[:, None])
        values = np.zeros((self.N, self.k))
        for lo in range(0, len(points), _ROWS):
            part = slice(lo, lo + _ROWS)
            values += self._values.rows(points[part]).T @ spread[part]
        if self._lengths is not None:
            values /= self._lengths[:, None]
        return np.ravel(factor * self._apart(values, self.labels))

    def gram(self, rows: Array, cols: Array | None = None) -> Floats:
        p, q, overlap = self._overlap(rows, rows if cols is None else cols)
        result: Floats = self._values.block(p, q) * overlap * self.scale**2
        if self._lengths is not None:
            result /= self._lengths[p, None] * self._lengths[q]
        return result
