"""Kernel ridge regression, primal and dual (Sharan's Lecture 9, Section 5).

    min_w ‖Φw − y‖² + λ‖w‖²,        Φ with rows φ(x_i),    K = ΦΦᵀ

    primal   w* = (ΦᵀΦ + λI)⁻¹ Φᵀy            m × m, and predicts ⟨w*, φ(x)⟩
    dual     α  = (K + λI)⁻¹ y,  w* = Φᵀα      n × n, and predicts Σ_i α_i k(x_i, x)

The two predict the same. (The printed derivation passes through Kᵀ((K + λI)α − y) = 0, which has
more solutions α than the last line if K is singular; all of them give the same w*.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gammabar.problems import Kernel, ProblemError
from gammabar.solvers.base import LECTURE, Array, declare
from gammabar.solvers.descent import Quadratic


@dataclass(frozen=True)
class _PrimalFit:
    """The fitted weight vector w* = (ΦᵀΦ + λI)⁻¹ Φᵀy."""

    w: Array

    def predict(self, features: Any) -> Array:
        """⟨w*, φ(x)⟩ for rows φ(x)."""
        return np.asarray(_matrix(features, "features") @ self.w)


@dataclass(frozen=True)
class _DualFit:
    """Fitted coefficients α = (K + λI)⁻¹ y on the training points."""

    alpha: Array
    points: Array
    kernel: Kernel

    def predict(self, X: Any) -> Array:
        """Σ_i α_i k(x_i, x) for the rows x of X."""
        return self.kernel.matrix(_matrix(X, "X"), self.points) @ self.alpha


@declare("kernel-ridge", f"{LECTURE}, Section 5", ("functions",), positive=("regularisation",))
class KernelRidge:
    """Regularised least squares; y are real numbers here, not classes.

    ``regularisation`` is λ > 0 (the sum of squares is not divided by n), and ``kernel``, for
    `dual`, as for problems: "linear", "poly:degree=2", "rbf:gamma=0.5" or a function.

    Examples
    --------
    >>> X, y = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0.0, 1.0, 2.0]
    >>> ridge = KernelRidge(regularisation=1.0)
    >>> [fit(X, y).predict([[1.0, 3.0]]).round(6) for fit in (ridge.primal, ridge.dual)]
    [array([2.4]), array([2.4])]
    """

    regularisation: float = 1.0
    kernel: Kernel | str | Callable[[Any, Any], Any] = "linear"

    def __post_init__(self) -> None:
        Kernel.of(self.kernel)

    def primal(self, features: Any, y: Any) -> _PrimalFit:
        """Fit w* to explicit features, one row φ(x_i) for each y_i."""
        features, y = _data(features, y, "features")
        return _PrimalFit(_solve(features.T @ features, features.T @ y, self.regularisation))

    def dual(self, X: Any, y: Any) -> _DualFit:
        """Fit α to points; features are never computed."""
        (points, y), kernel = _data(X, y, "X"), Kernel.of(self.kernel)
        alpha = _solve(kernel.matrix(points, points), y, self.regularisation)
        return _DualFit(alpha, points, kernel)

    def objective(self, features: Any, y: Any) -> Quadratic:
        """‖Φw − y‖² + λ‖w‖² − ‖y‖² as a function for gradient descent."""
        features, y = _data(features, y, "features")
        A = features.T @ features + self.regularisation * np.eye(features.shape[1])
        return Quadratic(A + A.T, 2 * features.T @ y)


def _solve(matrix: Array, right: Array, regularisation: float) -> Array:
    """(matrix + λI)⁻¹ right for a positive semidefinite matrix."""
    import scipy.linalg

    try:
        factor = scipy.linalg.cho_factor(matrix + regularisation * np.eye(len(matrix)))
    except (np.linalg.LinAlgError, ValueError):
        raise ProblemError(
            f"the regularised matrix is not finite and positive definite at regularisation="
            f"{regularisation}; take a larger one, divide X by its largest entry, or take a kernel "
            "that is positive semidefinite"
        ) from None
    return np.asarray(scipy.linalg.cho_solve(factor, right))


def _matrix(values: Any, name: str) -> Array:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ProblemError(f"{name} must be a finite matrix with rows and columns")
    return matrix


def _data(X: Any, y: Any, name: str) -> tuple[Array, Array]:
    X, y = _matrix(X, name), np.asarray(y, dtype=np.float64)
    if y.shape != (len(X),) or not np.isfinite(y).all():
        raise ProblemError(f"y must be {len(X)} finite numbers, one for each row")
    return X, y
