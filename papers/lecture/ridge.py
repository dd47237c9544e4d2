"""Regularised least squares in rationals, and how far a stable method may be off in doubles."""

from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from gammabar.papers.claims import *
from gammabar.papers.lecture.quantities import *

#: Φ, y and λ: a feature that vanishes, n > m, n = m, n < m, and the same point twice.
REGRESSIONS: tuple[tuple[list[list[int]], list[int], float], ...] = (
    ([[0]], [1], 1.0),
    ([[1, 0], [1, 1], [1, 2]], [0, 1, 2], 1.0),
    ([[1, 2], [3, 4]], [1, -1], 0.5),
    ([[1, 2, 3]], [2], 4.0),
    ([[1, 1], [1, 1], [2, -1]], [1, -1, 3], 0.25),
)


def ridge_options(case):
    """The solver, if one is given, has the options of kernel ridge regression."""
    options = ("regularisation", "kernel", "primal", "dual", "objective")
    known = case.solver is None or all(hasattr(case.solver, name) for name in options)
    return None if known else f"the solver does not have all of {', '.join(options)}"


RIDGE = Method("kernel-ridge", assumes=(ridge_options,))


def ridge_solver(case: Case, strength: float, kernel: str = "linear") -> Any:
    """Kernel ridge regression, or the solver under test, with this λ and kernel."""
    return steered(under_test(case, "kernel-ridge"), regularisation=strength, kernel=kernel)


class Regression:
    """One small regression in rationals, and its features and targets in doubles."""

    def __init__(self, features: list[list[Any]], y: list[Any], strength: Any) -> None:
        self.name = f"Φ = {features}, y = {y}, λ = {float(strength):g}"
        self.strength, self.n = strength, len(y)
        self.X, self.targets = np.array(features, dtype=float), np.array(y, dtype=float)
        self.Phi, self.y, self.lam = matrix(features), vector(y), rational(strength)
        self.K = self.Phi * self.Phi.transpose()
        self.regularised = self.K + times_identity(self.lam, self.n)
        self.alpha = self.regularised.solve(self.y)
        columns = self.Phi.transpose()
        self.normal = columns * self.Phi + times_identity(self.lam, self.Phi.ncols())
        self.w = self.normal.solve(columns * self.y)

    def objective(self, alpha: fmpq_mat) -> fmpq:
        """‖Kα − y‖² + λ αᵀKα."""
        rest = self.K * alpha - self.y
        return (rest.transpose() * rest + self.lam * (alpha.transpose() * self.K * alpha))[0, 0]

    def candidates(self) -> list[fmpq_mat]:
        """Some vectors, the dual solution, and the same moved along the null space of K."""
        n = self.n
        some = [vector([0] * n), vector([1] * n), vector(range(n)), self.alpha * 2]
        null, size = self.K.numer_denom()[0].nullspace()
        moved = [vector([int(null[i, j]) for i in range(n)]) for j in range(size)]
        return [*some, self.alpha, *(self.alpha + v for v in moved)]

    def chain(self, alpha: fmpq_mat) -> list[bool]:
        """What each line of the derivation says of an α."""
        K, y, lam, n = self.K, self.y, self.lam, range(self.n)
        # Central differences of a quadratic are its derivatives.
        units = [vector([int(i == j) for i in n]) for j in n]
        gradient = [self.objective(alpha + e) - self.objective(alpha - e) for e in units]
        return [
            all(v == 0 for v in gradient),
            not 2 * K.transpose() * (K * alpha - y) + 2 * lam * K * alpha,
            not K.transpose() * (self.regularised * alpha - y),
            not self.regularised * alpha - y,
            bool(alpha == self.regularised.inv() * y),
        ]


def every_regression() -> list[Regression]:
    """The regressions above."""
    return [Regression(*data) for data in REGRESSIONS]


def dual_slip(X: Any, strength: float, size: Number) -> float:
    """A bound on ‖(K + λI)α − y‖ for an α that was solved for in doubles, K of products of rows."""
    n, m = X.shape
    trace = float(np.sum(X * X)) + n * strength
    entries = 2 * (m + 4) * ROUNDOFF * trace * upper(size)
    return backward_error(n, trace, size) + entries + TINY


def primal_slip(X: Any, y: Any, strength: float, size: Number) -> float:
    """The same for (ΦᵀΦ + λI)w − Φᵀy; entries are sums of n products."""
    (n, m), square = X.shape, float(np.sum(X * X))
    trace, right = square + m * strength, float(np.linalg.norm(y)) * square**0.5
    entries = 2 * (n + 4) * ROUNDOFF * (trace * upper(size) + right)
    return backward_error(m, trace, size) + entries + TINY


def backward_error(n: int, trace: float, size: Number) -> float:
    """What solving n equations Aα = y in doubles may leave of them.

    Cholesky: (A + E)α = y with ‖E‖_F ≤ (3n + 2)u tr A (Higham 2002, Theorem 10.4, with
    ‖|Rᵀ||R|‖_F ≤ ‖R‖_F² = tr A); twice that much covers other stable methods.
    """
    return 2 * (3 * n + 2) * ROUNDOFF * trace * upper(size)
