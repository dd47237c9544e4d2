"""Kernels, their algebra, and kernel ridge regression (Sharan's Lecture 9, Section 5).

A kernel here is called with two rows, and returns a number, or with two matrices, and returns the
values for all pairs of rows; so it is a function that `problems.Kernel` takes. Integers, and
matrices of `fractions.Fraction`, are computed with exactly; floats in floats.

>>> k = 2 * Linear() * Linear() + RankOne(lambda x: x[0])
>>> k(np.array([1, 2]), np.array([3, 4]))
245

Kernel ridge regression, primal and dual:

    min_w ‖Φw − y‖² + λ‖w‖²,        Φ with rows φ(x_i),    K = ΦΦᵀ

    primal   w* = (ΦᵀΦ + λI)⁻¹ Φᵀy            m × m, and predicts ⟨w*, φ(x)⟩
    dual     α  = (K + λI)⁻¹ y,  w* = Φᵀα      n × n, and predicts Σ_i α_i k(x_i, x)

The two predict the same. (The printed derivation passes through Kᵀ((K + λI)α − y) = 0, which has
more solutions α than the last line if K is singular; all of them give the same w*.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from gammabar.problems import Kernel, ProblemError
from gammabar.solvers.base import LECTURE, Array, declare
from gammabar.solvers.descent import Quadratic


class KernelFunction:
    """k(x, x') from ``gram(X, Z)``, its values for all rows of X and Z.

    The operations of Theorem 11 keep kernels kernels: ``k + k'``, ``k * k'`` and ``c * k`` for
    c ≥ 0; see also `RankOne` and `Composed`.
    """

    def __init__(self, gram: Callable[[Array, Array], Any]) -> None:
        self.gram = gram

    def __call__(self, x: Any, z: Any) -> Any:
        X, Z = _exact(x), _exact(z)
        if X.ndim == Z.ndim == 1:
            return np.asarray(self.gram(X[None, :], Z[None, :]))[0, 0]
        return np.asarray(self.gram(X, Z))

    def __add__(self, other: KernelFunction) -> KernelFunction:
        return Sum(self, other) if isinstance(other, KernelFunction) else NotImplemented

    def __mul__(self, other: KernelFunction | float) -> KernelFunction:
        return Product(self, other) if isinstance(other, KernelFunction) else Scaled(other, self)

    __rmul__ = __mul__


class Linear(KernelFunction):
    """⟨x, x'⟩."""

    def __init__(self) -> None:
        super().__init__(lambda X, Z: X @ Z.T)


class Square(KernelFunction):
    """⟨x, x'⟩², Example 9.1."""

    def __init__(self) -> None:
        super().__init__(lambda X, Z: (X @ Z.T) ** 2)

    def features(self, x: Sequence[float]) -> Array:
        """φ(x) with ⟨φ(x), φ(x')⟩ = ⟨x, x'⟩²: the x_i², then √2 x_i x_j for i < j.

        The lecture has it for d = 2, in the order x_1², √2 x_1x_2, x_2².
        """
        x = [float(v) for v in x]  # squares of integers may not fit into theirs
        return np.array([v * v for v in x] + [math.sqrt(2) * u * v for u, v in combinations(x, 2)])


class CommonCharacters(KernelFunction):
    """The number of characters that appear at least once in both strings, Example 9.2.

    Called with two strings, or with rows of code points as `encode` makes them, so that words can
    be the points of a problem; 0 there fills up a row and is no character.
    """

    def __init__(self) -> None:
        super().__init__(_common_characters)

    def __call__(self, x: Any, z: Any) -> Any:
        if isinstance(x, str) and isinstance(z, str):
            return len(set(x) & set(z))
        return super().__call__(x, z)

    def features(self, word: str) -> list[int]:
        """The lecture's φ: whether each of the letters a, …, z appears; no others are seen."""
        return [int(chr(c) in word) for c in range(ord("a"), ord("z") + 1)]


def _common_characters(X: Array, Z: Array) -> Array:
    left, right = ([set(row) - {0} for row in M.tolist()] for M in (X, Z))
    return np.array([[len(a & b) for b in right] for a in left], dtype=object)


def encode(words: Iterable[str]) -> Array:
    """Words as rows of code points, filled up with zeros."""
    codes = [[ord(c) for c in word] for word in words]
    if any(0 in code for code in codes):
        raise ProblemError("a word has the character U+0000, which fills up rows; remove it")
    width = max((len(code) for code in codes), default=0)
    return np.array([code + [0] * (max(width, 1) - len(code)) for code in codes], dtype=np.int64)


class RankOne(KernelFunction):
    """f(x) f(x') for any real function f of a row, Theorem 11.1."""

    def __init__(self, f: Callable[[Array], Any]) -> None:
        super().__init__(lambda X, Z: np.array([[f(x) * f(z) for z in Z] for x in X]))


class Sum(KernelFunction):
    """k_1 + k_2, Theorem 11.2(a)."""

    def __init__(self, first: KernelFunction, second: KernelFunction) -> None:
        super().__init__(lambda X, Z: first.gram(X, Z) + second.gram(X, Z))


class Scaled(KernelFunction):
    """c k for c ≥ 0, Theorem 11.2(a)."""

    def __init__(self, factor: Any, kernel: KernelFunction) -> None:
        if not 0 <= factor < math.inf:
            what = f"a kernel times {factor!r} is no kernel"
            raise ProblemError(f"{what}; the factor must not be negative")
        super().__init__(lambda X, Z: factor * kernel.gram(X, Z))


class Product(KernelFunction):
    """k_1 k_2, Theorem 11.2(b)."""

    def __init__(self, first: KernelFunction, second: KernelFunction) -> None:
        super().__init__(lambda X, Z: first.gram(X, Z) * second.gram(X, Z))


class Composed(KernelFunction):
    """k(g(x), g(x')) for a map g of rows to rows."""

    def __init__(self, kernel: KernelFunction, g: Callable[[Array], Any]) -> None:
        def gram(X: Array, Z: Array) -> Any:
            return kernel.gram(*(_exact([g(row) for row in M]) for M in (X, Z)))

        super().__init__(gram)


def _exact(values: Any) -> Array:
    """An array whose arithmetic does not overflow: integers become Python's."""
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind in "biu" else array


@dataclass(frozen=True)
class PrimalFit:
    """The fitted weight vector w* = (ΦᵀΦ + λI)⁻¹ Φᵀy."""

    w: Array

    def predict(self, features: Any) -> Array:
        """⟨w*, φ(x)⟩ for rows φ(x)."""
        return np.asarray(_matrix(features, "features") @ self.w)


@dataclass(frozen=True)
class DualFit:
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

    def primal(self, features: Any, y: Any) -> PrimalFit:
        """Fit w* to explicit features, one row φ(x_i) for each y_i."""
        features, y = _data(features, y, "features")
        return PrimalFit(_solve(features.T @ features, features.T @ y, self.regularisation))

    def dual(self, X: Any, y: Any) -> DualFit:
        """Fit α to points; features are never computed."""
        (points, y), kernel = _data(X, y, "X"), Kernel.of(self.kernel)
        alpha = _solve(kernel.matrix(points, points), y, self.regularisation)
        return DualFit(alpha, points, kernel)

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
