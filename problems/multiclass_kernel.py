"""Multiclass problems in the space of a kernel: the same reduction, and never a row of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gammabar.problems.base import Array, Floats, ProblemError, Source, frozen
from gammabar.problems.dense import dense_matrix
from gammabar.problems.gram_rows import GramRows
from gammabar.problems.kernel import Coefficients
from gammabar.problems.kernels import Kernel, check_diagonal
from gammabar.problems.linear import vector
from gammabar.problems.multiclass import Reduction
from gammabar.problems.points import points_of
from gammabar.problems.sparse import csr_matrix
from gammabar.problems.sparsity import is_sparse

# Kernel rows that are computed at a time, in a product with many of them.
_ROWS = 256


class MulticlassKernelProblem(Coefficients, Reduction):
    """N points with labels 0, ..., k - 1 and a kernel become N (k - 1) rows.

    For every point i and every wrong class j there is the row phi(x_i) (e_c - e_j)^T / sqrt(2), c
    the label of i, numbered as in `MulticlassProblem`. As phi(x_i) may have any number of
    coordinates, w is a vector of n = N (k - 1) coefficients of the rows, like in `KernelProblem`.
    The inner product of two rows is

        K(x_i, x_p) <e_c - e_j, e_b - e_h> / 2,

    so the products of one row with all rows need N values of the kernel, not n; those of a
    combination of rows need N for each point that occurs in it [1]_.

    Parameters
    ----------
    X : dense or sparse matrix of shape (N, d)
    labels : array of N integers 0, ..., k - 1
    kernel : Kernel
        Not precomputed.
    k : int, optional
        Number of classes, at least 2; by default the largest label plus one.
    normalised : bool
        Divide by sqrt(K(x, x)), so that every row has norm one.
    source : Source, optional
        Where the data come from.

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
        if not is_sparse(X):
            X = np.asarray(X)
        self.points = points_of(csr_matrix(X) if is_sparse(X) else dense_matrix(X))
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
    def X(self) -> Any:
        """The points as stored."""
        return self.points.X

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
