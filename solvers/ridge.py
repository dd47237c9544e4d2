"""Kernel ridge regression, primal and dual (Sharan, Lecture 9, Section 5).

    min_w ‖Φw − y‖² + λ‖w‖²,        Φ with rows φ(x_i),    K = ΦΦᵀ

    primal   w* = (ΦᵀΦ + λI)⁻¹ Φᵀy            m × m, and predicts ⟨w*, φ(x)⟩
    dual     α  = (K + λI)⁻¹ y,  w* = Φᵀα      n × n, and predicts Σ_i α_i k(x_i, x)

The two predict the same. (The printed derivation passes through Kᵀ((K + λI)α − y) = 0, which has
more solutions α than the last line if K is singular; all of them give the same w*.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gammabar.problems import Kernel, ProblemError
from gammabar.solvers.base import Array, Card
from gammabar.solvers.smooth import Quadratic


@dataclass(frozen=True)
class PrimalFit:
    """A fitted weight vector.

    Attributes
    ----------
    w : array of length m
        w* = (ΦᵀΦ + λI)⁻¹ Φᵀy.
    """

    w: Array

    def predict(self, features: Any) -> Array:
        """⟨w*, φ(x)⟩ for rows φ(x)."""
        return np.asarray(_matrix(features, "features") @ self.w)


@dataclass(frozen=True)
class DualFit:
    """Fitted coefficients on the training points.

    Attributes
    ----------
    alpha : array of length n
        α = (K + λI)⁻¹ y.
    points : array of shape (n, d)
        x_1, …, x_n.
    kernel : Kernel
    """

    alpha: Array
    points: Array
    kernel: Kernel

    def predict(self, X: Any) -> Array:
        """Σ_i α_i k(x_i, x) for the rows x of X."""
        return self.kernel.matrix(_matrix(X, "X"), self.points) @ self.alpha


@dataclass(frozen=True)
class KernelRidge:
    """Regularised least squares [1]_; y are real numbers here, not classes.

    Parameters
    ----------
    regularisation : float
        λ, positive. The sum of squares is not divided by n.
    kernel : Kernel, text or function
        For `dual`: as for problems, "linear", "poly:degree=2", "rbf:gamma=0.5" or a function.

    References
    ----------
    .. [1] V. Sharan, Lecture 9: SGD, boosting, kernels, Section 5.

    Examples
    --------
    >>> X, y = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0.0, 1.0, 2.0]
    >>> ridge = KernelRidge(regularisation=1.0)
    >>> ridge.primal(X, y).predict([[1.0, 3.0]]).round(6)
    array([2.4])
    >>> ridge.dual(X, y).predict([[1.0, 3.0]]).round(6)
    array([2.4])
    """

    card: ClassVar[Card] = Card(
        name="kernel-ridge",
        reference="Sharan, Lecture 9: SGD, boosting, kernels, Section 5",
        geometries=("functions",),
    )

    regularisation: float = 1.0
    kernel: Kernel | str | Callable[[Any, Any], Any] = "linear"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.regularisation) and self.regularisation > 0):
            raise ProblemError(
                f"option regularisation must be a positive number, not {self.regularisation!r}"
            )
        Kernel.of(self.kernel)

    def primal(self, features: Any, y: Any) -> PrimalFit:
        """Fit w* to explicit features, one row φ(x_i) for each y_i."""
        features = _matrix(features, "features")
        y = _targets(y, len(features))
        return PrimalFit(_solve(features.T @ features, features.T @ y, self.regularisation))

    def dual(self, X: Any, y: Any) -> DualFit:
        """Fit α to points; features are never computed."""
        points, kernel = _matrix(X, "X"), Kernel.of(self.kernel)
        y = _targets(y, len(points))
        return DualFit(
            _solve(kernel.matrix(points, points), y, self.regularisation), points, kernel
        )

    def objective(self, features: Any, y: Any) -> Quadratic:
        """‖Φw − y‖² + λ‖w‖² − ‖y‖² as a function for gradient descent."""
        features = _matrix(features, "features")
        y = _targets(y, len(features))
        A = features.T @ features + self.regularisation * np.eye(features.shape[1])
        return Quadratic(A + A.T, 2 * features.T @ y)


def _solve(matrix: Array, right: Array, regularisation: float) -> Array:
    """(matrix + λI)⁻¹ right for a positive semidefinite matrix."""
    import scipy.linalg

    try:
        factor = scipy.linalg.cho_factor(matrix + regularisation * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        raise ProblemError(
            f"the regularised matrix is not positive definite at regularisation={regularisation}; "
            "take a larger one, or a kernel that is positive semidefinite"
        ) from None
    except ValueError:
        raise ProblemError("the Gram matrix is not finite; divide X by its largest entry") from None
    return np.asarray(scipy.linalg.cho_solve(factor, right))


def _matrix(values: Any, name: str) -> Array:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ProblemError(f"{name} must be a finite matrix with rows and columns")
    return matrix


def _targets(values: Any, n: int) -> Array:
    y = np.asarray(values, dtype=np.float64)
    if y.shape != (n,) or not np.isfinite(y).all():
        raise ProblemError(f"y must be {n} finite numbers, one for each row")
    return y
