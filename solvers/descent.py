"""Gradient descent and SGD of Sharan's Lecture 9: SGD, boosting, kernels, Sections 1 to 3.

A function f is β-smooth and λ-strongly convex if for all v and w

    λ/2 ‖v − w‖²  ≤  f(v) − f(w) − ⟨∇f(w), v − w⟩  ≤  β/2 ‖v − w‖²,

and κ = β/λ is its condition number. Every run starts at the origin, which costs nothing: a start
at s is the function f(s + ·).

Stochastic gradient descent on finite sums (Algorithms 1 and 2, Theorem 3, Corollary 4):

    v_t     with E(v_t | w_t) = ∇f(w_t)
    w_{t+1} = w_t − η v_t,        η = √(B²/(ρ² T))
    w̄       = (1/T) Σ_{t=1}^T w_t

Here f(w) = (1/n) Σ_i ℓ_i(w) and v_t = ∇ℓ_i(w_t) for an index i drawn uniformly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import ClassVar, Protocol, Self

import numpy as np

from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.solvers.base import ALL_GEOMETRIES, LECTURE, Array, Iterate, Rng, declare


class _Function(Protocol):
    """A β-smooth and λ-strongly convex function, as far as doubles can hold β and λ.

    λ is 0 if it is only convex; the minimiser is None where it is not known in closed form.
    """

    @property
    def smoothness(self) -> float: ...
    @property
    def strong_convexity(self) -> float: ...
    @property
    def minimiser(self) -> Array | None: ...

    def origin(self) -> Array: ...
    def value(self, w: Array) -> float: ...
    def gradient(self, w: Array) -> Array: ...
    def norm(self, w: Array) -> float: ...


class Quadratic:
    """f(x) = ½ xᵀAx − bᵀx for a symmetric positive semidefinite A, Example 2 of the lecture.

    Its smoothness is the largest eigenvalue of A and its strong convexity the smallest, exactly
    so if A is diagonal; its minimiser is A⁻¹b.
    """

    def __init__(self, A: Array, b: Array) -> None:
        self.A, self.b = np.array(A, dtype=np.float64), np.array(b, dtype=np.float64)
        d = len(self.b) if self.b.ndim == 1 else 0
        if d == 0 or self.A.shape != (d, d) or not np.array_equal(self.A, self.A.T):
            shapes = f"{self.A.shape} and {self.b.shape}"
            raise ProblemError(f"a quadratic needs a symmetric A and b of its length, not {shapes}")
        if not (np.isfinite(self.A).all() and np.isfinite(self.b).all()):
            raise ProblemError("the A and b of a quadratic must be finite")
        diagonal = np.diagonal(self.A)
        exact = np.array_equal(self.A, np.diag(diagonal))
        eigenvalues = np.sort(diagonal) if exact else np.linalg.eigvalsh(self.A)
        self.smoothness = float(eigenvalues[-1])
        # An eigenvalue of zero may come out of the computation a little below it.
        if eigenvalues[0] < (0 if exact else -d * np.finfo(float).eps * self.smoothness):
            what = f"but has the eigenvalue {eigenvalues[0]:.3g}"
            raise ProblemError(f"the A of a quadratic must be positive semidefinite, {what}")
        self.strong_convexity = max(0.0, float(eigenvalues[0]))
        self.minimiser = np.linalg.solve(self.A, self.b) if self.strong_convexity > 0 else None

    def origin(self) -> Array:
        return np.zeros(len(self.b))

    def value(self, w: Array) -> float:
        return float(np.dot(w, self.A @ w) / 2 - np.dot(self.b, w))

    def gradient(self, w: Array) -> Array:
        return np.asarray(self.A @ w - self.b)

    def norm(self, w: Array) -> float:
        return float(np.linalg.norm(w))


@dataclass(frozen=True)
class RegularisedLogistic:
    """f(w) = (1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)) + (λ/2) ‖w‖² on the rows of any problem.

    Its strong convexity is λ > 0, and its smoothness R²/4 + λ with R the radius of the problem. In
    a reproducing-kernel space w and the gradient are coefficient vectors, as everywhere.
    """

    problem: Problem
    strong_convexity: float
    minimiser: ClassVar[Array | None] = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strong_convexity) and self.strong_convexity > 0):
            raise ProblemError(
                f"option regularisation must be a positive number, not {self.strong_convexity!r}"
            )

    @property
    def smoothness(self) -> float:
        return self.problem.radius**2 / 4 + self.strong_convexity

    def origin(self) -> Array:
        return self.problem.origin()

    def value(self, w: Array) -> float:
        losses = np.logaddexp(0, -self.problem.scores(w))
        return float(losses.mean() + self.strong_convexity / 2 * self.norm(w) ** 2)

    def gradient(self, w: Array) -> Array:
        pulls = np.exp(-np.logaddexp(0, self.problem.scores(w)))  # 1/(1 + e^s), never overflowing
        return self.strong_convexity * w - self.problem.combine(pulls / self.problem.n)

    def norm(self, w: Array) -> float:
        return self.problem.norm(w)


@declare("smooth-gradient-descent", f"{LECTURE}, Theorem 1", (*ALL_GEOMETRIES, "functions"))
class SmoothGradientDescent:
    """Gradient descent with the step of Theorem 1 of the lecture.

        w_{t+1} = w_t − η ∇f(w_t),        η = 2/(β + λ)

    If a problem is given in place of a function, f is its logistic risk plus
    (regularisation/2) ‖w‖². ``extra`` has "gradient" ∇f(w_t) and "function" f.

    Examples
    --------
    >>> run = SmoothGradientDescent().iterates(Quadratic([[9.0, 0.0], [0.0, 1.0]], [9.0, 0.0]))
    >>> [float(next(run).w[0]) for _ in range(3)]
    [0.0, 1.8, 0.3600000000000001]
    """

    regularisation: float = 0.1

    def iterates(self, problem: Problem | _Function, rng: Rng = None) -> Iterator[Iterate]:
        f = _function_of(problem, self.regularisation)
        eta, w = 2 / (f.smoothness + f.strong_convexity), f.origin()
        for t in count():
            gradient = f.gradient(w)
            yield Iterate(t, w, _problem(f), extra={"gradient": gradient, "function": f})
            w = w - eta * gradient


@declare(
    "accelerated-gradient-descent",
    f"{LECTURE}, Section 1 (Nesterov 2004, scheme 2.2.11)",
    (*ALL_GEOMETRIES, "functions"),
)
class AcceleratedGradientDescent:
    """Nesterov's accelerated gradient descent for strongly convex functions.

        w_{t+1} = v_t − (1/β) ∇f(v_t)
        v_{t+1} = w_{t+1} + (√κ − 1)/(√κ + 1) (w_{t+1} − w_t),        v_0 = w_0

    The lecture does not print it; this is the constant-step scheme (2.2.11) of Nesterov [1]_, for
    which [2]_ Theorem 3.18 proves f(w_t) − f(w*) ≤ (β + λ)/2 ‖w_0 − w*‖² exp(−t/√κ). ``extra`` has
    "v" v_t, "gradient" ∇f(v_t) and "function" f; ``momentum`` is v_t − w_t.

    References
    ----------
    .. [1] Y. Nesterov, Introductory lectures on convex optimization (2004), Section 2.2.1.
    .. [2] S. Bubeck, Convex optimization: algorithms and complexity (2015), Section 3.7.1.
    """

    regularisation: float = 0.1

    def iterates(self, problem: Problem | _Function, rng: Rng = None) -> Iterator[Iterate]:
        f = _function_of(problem, self.regularisation)
        root = math.sqrt(f.smoothness / f.strong_convexity)  # √κ
        w = v = f.origin()
        for t in count():
            gradient = f.gradient(v)
            extra = {"v": v, "gradient": gradient, "function": f}
            yield Iterate(t, w, _problem(f), momentum=v - w, extra=extra)
            new = v - gradient / f.smoothness
            v = new + (root - 1) / (root + 1) * (new - w)
            w = new


def _function_of(problem: Problem | _Function, regularisation: float) -> _Function:
    if isinstance(problem, Problem):
        return RegularisedLogistic(problem, regularisation)
    if not (problem.strong_convexity > 0 and math.isfinite(problem.smoothness)):
        raise ProblemError(
            f"gradient descent needs a strongly convex smooth function here, but λ is "
            f"{problem.strong_convexity} and β is {problem.smoothness}; add a quadratic to it"
        )
    return problem


def _problem(f: _Function) -> Problem | None:
    return f.problem if isinstance(f, RegularisedLogistic) else None


@dataclass(frozen=True)
class Losses:
    """The average loss (1/n) Σ_i ℓ(⟨a_i, w⟩) of a problem; ρ is its radius.

    `SGD` runs on anything with n, ρ, a start and ``term(w, i)``, ∇ℓ_i(w) or a subgradient.
    ℓ(s) is log(1 + exp(−s)), or for "hinge" max(0, 1 − s) with the subgradient 0 at s = 1.
    """

    problem: Problem
    loss: str = "logistic"

    def __post_init__(self) -> None:
        if self.loss not in _SLOPES:
            raise ProblemError(f"option loss must be one of {', '.join(_SLOPES)}, not {self.loss}")

    @property
    def n(self) -> int:
        return self.problem.n

    @property
    def lipschitz(self) -> float:
        return self.problem.radius

    def origin(self) -> Array:
        return self.problem.origin()

    def value(self, w: Array) -> float:
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


@declare("sgd", f"{LECTURE}, Algorithms 1 and 2", (*ALL_GEOMETRIES, "functions"))
class SGD:
    """Stochastic gradient descent with averaging, Algorithms 1 and 2 of the lecture.

    ``w`` is w_{t+1} of the lecture, whose first iterate is w_1. ``extra`` has the "average" of all
    iterates so far (the output w̄ for T steps is that at t = T − 1), the "index" that was drawn to
    get here (None at the start), and "sum" f.

    ``horizon`` is T, for which the step size is meant (iterates go on after it), ``distance`` B,
    ``lipschitz`` ρ, by default the function's own, and ``loss`` that of `Losses` if a problem is
    given. ``indices`` take the place of random ones (by default of seed 0), and end the run.

    Examples
    --------
    >>> SGD.within(0.1, distance=2.0, lipschitz=1.0)
    SGD(horizon=400, distance=2.0, lipschitz=1.0, loss='logistic', indices=None)
    """

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

    def iterates(self, problem: Problem | Losses, rng: Rng = None) -> Iterator[Iterate]:
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


_SLOPES: dict[str, Callable[[float], float]] = {
    "logistic": _logistic_slope,
    "hinge": lambda score: -1.0 if score < 1 else 0.0,
}
