"""Stochastic gradient descent on finite sums.

    v_t     with E(v_t | w_t) = ∇f(w_t)
    w_{t+1} = w_t − η v_t,        η = √(B²/(ρ² T))
    w̄       = (1/T) Σ_{t=1}^T w_t

(Sharan, Lecture 9, Algorithms 1 and 2). Here f(w) = (1/n) Σ_i ℓ_i(w) and v_t = ∇ℓ_i(w_t) for an
index i drawn uniformly; the lecture's w_1 is the iterate t = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import ClassVar, Protocol, Self

import numpy as np

from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.solvers.base import ALL_GEOMETRIES, Array, Card, Iterate


class FiniteSum(Protocol):
    """f(w) = (1/n) Σ_i ℓ_i(w): a stochastic gradient oracle.

    Attributes
    ----------
    n : int
        Number of terms.
    lipschitz : float
        ρ, with ‖∇ℓ_i(w)‖ ≤ ρ for all i and w.
    """

    @property
    def n(self) -> int: ...
    @property
    def lipschitz(self) -> float: ...

    def origin(self) -> Array: ...
    def value(self, w: Array) -> float: ...
    def term(self, w: Array, i: int) -> Array:
        """∇ℓ_i(w), or a subgradient."""
        ...


@dataclass(frozen=True)
class Losses:
    """The average loss (1/n) Σ_i ℓ(⟨a_i, w⟩) of a problem; ρ is its radius.

    Parameters
    ----------
    problem : Problem
    loss : "logistic" or "hinge"
        log(1 + exp(−s)), or max(0, 1 − s) with the subgradient 0 at s = 1.
    """

    problem: Problem
    loss: str = "logistic"

    def __post_init__(self) -> None:
        if self.loss not in _SLOPES:
            raise ProblemError(f"option loss must be one of {', '.join(_SLOPES)}, not {self.loss}")

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.problem.n

    @property
    def lipschitz(self) -> float:
        """ρ: both losses have slopes between −1 and 0."""
        return self.problem.radius

    def origin(self) -> Array:
        """The zero vector."""
        return self.problem.origin()

    def value(self, w: Array) -> float:
        """f(w)."""
        scores = self.problem.scores(w)
        losses = np.logaddexp(0, -scores) if self.loss == "logistic" else np.maximum(0, 1 - scores)
        return float(losses.mean())

    def term(self, w: Array, i: int) -> Array:
        """ℓ'(⟨a_i, w⟩) a_i, from row i alone (row i of the Gram matrix in a kernel space)."""
        row = self.problem.row(i)
        if isinstance(self.problem, KernelProblem):
            every = np.arange(self.problem.n)
            score = float(self.problem.gram(np.array([i]), every)[0] @ w)
        else:
            score = float(np.dot(row, w))
        return _SLOPES[self.loss](score) * row


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with averaging [1]_.

    ``w`` is w_{t+1} of the lecture (its first iterate is w_1), ``extra["average"]`` the average of
    all iterates so far: the lecture's output w̄ for T steps is the average at t = T − 1.
    ``extra["index"]`` is the index that was drawn to get here (None at the start), and
    ``extra["sum"]`` the function f.

    Parameters
    ----------
    horizon : int
        T, the number of steps for which the step size is meant; iterates go on after it.
    distance : float
        B, the distance of the start from a minimiser, or (Corollary 4) a bound on it.
    lipschitz : float, optional
        ρ; by default the function's own.
    loss : "logistic" or "hinge"
        The loss if a problem is given in place of a sum; see `Losses`.
    indices : tuple of int, optional
        The indices to take in place of random ones; the run ends with them. All sample paths of
        length m are ``itertools.product(range(n), repeat=m)``.

    References
    ----------
    .. [1] V. Sharan, Lecture 9: SGD, boosting, kernels, Algorithms 1 and 2, Theorem 3 and
       Corollary 4.

    Examples
    --------
    >>> SGD.within(0.1, distance=2.0, lipschitz=1.0)
    SGD(horizon=400, distance=2.0, lipschitz=1.0, loss='logistic', indices=None)
    """

    card: ClassVar[Card] = Card(
        name="sgd",
        reference="Sharan, Lecture 9: SGD, boosting, kernels, Algorithms 1 and 2",
        geometries=(*ALL_GEOMETRIES, "functions"),
    )

    horizon: int = 100
    distance: float = 1.0
    lipschitz: float | None = None
    loss: str = "logistic"
    indices: tuple[int, ...] | None = None

    @classmethod
    def within(
        cls, epsilon: float, distance: float, lipschitz: float, loss: str = "logistic"
    ) -> Self:
        """The run of Corollary 4, with the least T ≥ B²ρ²/ε²."""
        if not epsilon > 0:
            raise ProblemError(f"epsilon must be positive, not {epsilon!r}")
        horizon = max(1, math.ceil((distance * lipschitz / epsilon) ** 2))
        return cls(horizon, distance, lipschitz, loss)

    def step(self, rho: float) -> float:
        """η = √(B²/(ρ²T)) of Theorem 3."""
        if not self.horizon >= 1:
            raise ProblemError(f"option horizon must be at least 1, not {self.horizon!r}")
        if not 0 <= self.distance < math.inf:
            raise ProblemError(f"option distance must not be negative, not {self.distance!r}")
        if not 0 < rho < math.inf:
            raise ProblemError(f"the step of SGD needs a positive Lipschitz constant, not {rho!r}")
        return self.distance / (rho * math.sqrt(self.horizon))

    def iterates(
        self, problem: Problem | FiniteSum, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        """Yield w_1 = 0, w_2, …; without an `rng` the indices are those of seed 0."""
        f = Losses(problem, self.loss) if isinstance(problem, Problem) else problem
        eta = self.step(f.lipschitz if self.lipschitz is None else self.lipschitz)
        draws = self._draws(f.n, rng)
        on = problem if isinstance(problem, Problem) else None
        w, total, index = f.origin(), f.origin(), None
        for t in count():
            total = total + w
            extra = {"average": total / (t + 1), "index": index, "sum": f}
            yield Iterate(t, w, on, extra=extra)
            index = next(draws, None)
            if index is None:
                return
            w = w - eta * f.term(w, index)

    def _draws(self, n: int, rng: np.random.Generator | None) -> Iterator[int]:
        if self.indices is None:
            rng = np.random.default_rng(0) if rng is None else rng
            return (int(rng.integers(n)) for _ in repeat(None))
        outside = [i for i in self.indices if not 0 <= i < n]
        if outside:
            raise ProblemError(f"option indices has {outside[0]}, but terms are 0, …, {n - 1}")
        return iter(self.indices)


def _logistic_slope(score: float) -> float:
    return -math.exp(-score) / (1 + math.exp(-score)) if score > 0 else -1 / (1 + math.exp(score))


def _hinge_slope(score: float) -> float:
    return -1.0 if score < 1 else 0.0


_SLOPES: dict[str, Callable[[float], float]] = {
    "logistic": _logistic_slope,
    "hinge": _hinge_slope,
}
