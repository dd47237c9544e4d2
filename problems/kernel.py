"""Problems in the reproducing-kernel Hilbert space of a kernel."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from gammabar.problems import canonical
from gammabar.problems.base import (
    Array,
    Floats,
    Problem,
    ProblemError,
    Source,
    frozen,
    largest_exponent,
    ldexp,
)
from gammabar.problems.dense import dense_matrix
from gammabar.problems.gram_rows import GramRows
from gammabar.problems.kernels import Kernel, check_diagonal, check_gram
from gammabar.problems.linear import signs, vector
from gammabar.problems.points import points_of
from gammabar.problems.sparse import csr_matrix
from gammabar.problems.sparsity import is_sparse


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
    The margin is that of [1]_, eq. (5), if the Gram matrix is normalised.

    Parameters
    ----------
    X : dense or sparse matrix of shape (n, d)
        The points, or the Gram matrix itself for a precomputed kernel.
    y : array of n labels -1 and +1
    kernel : Kernel
    normalised : bool
        Divide G_ij by sqrt(K(x_i, x_i) K(x_j, x_j)), so that every row has norm one [1]_.
    source : Source, optional
        Where the data come from.

    Attributes
    ----------
    diagonal : array
        K(x_i, x_i), as computed and before it is normalised.

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
        self.points = points_of(csr_matrix(X.copy()) if sparse else _own(dense_matrix(X)))
        self.n = self.dimension = self.points.shape[0]
        self.y = signs(y, self.n)
        self.kernel = kernel.fitted(self.points.X)
        self.normalised = normalised
        self.source = source
        if kernel.name == "precomputed":
            check_gram(self.points.X)
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
        return canonical.digest(self.X, self.y)
