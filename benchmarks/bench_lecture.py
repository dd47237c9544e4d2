"""The lecture: gradient descent, SGD, AdaBoost and kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .common import dense, iterations_until, known_problem, need, problem_of, stepper


class Descent:
    """Gradient descent, plain and accelerated, on a regularised logistic loss."""

    version = "1"
    params = (["SmoothGradientDescent", "AcceleratedGradientDescent"],)
    param_names = ("solver",)

    def setup(self, name: str) -> None:
        # Little regularisation: the condition number is what the two methods differ in.
        self.solver = need("solvers", name)(regularisation=1e-3)
        self.step = stepper(self.solver, problem_of("float64", 5_000, 50))
        self.small = known_problem()

    def time_step(self, name: str) -> None:
        self.step()

    def time_to_minimum(self, name: str) -> None:
        iterations_until(self.solver, self.small, _flat())

    def track_iterations(self, name: str) -> int:
        return iterations_until(self.solver, self.small, _flat())

    track_iterations.unit = "iterations"  # type: ignore[attr-defined]


class Stochastic:
    """One step of SGD: it reads one row."""

    version = "1"

    def setup(self) -> None:
        solver = need("solvers", "SGD")(horizon=10**9, distance=1.0)
        self.step = stepper(solver, problem_of("float64", 20_000, 50))

    def time_step(self) -> None:
        self.step()


class Boosting:
    """AdaBoost with decision stumps, none of which is right on all points."""

    version = "1"
    params = ([(500, 20), (5_000, 20)],)
    param_names = ("n, d",)

    def setup(self, size: tuple[int, int]) -> None:
        X = np.random.default_rng(0).standard_normal(size)
        y = np.where(X[:, :4].sum(axis=1) > 0, 1, -1)
        self.problem = need("problems", "from_arrays")(X, y)
        self.solver = need("solvers", "AdaBoost")()
        self.step = stepper(self.solver, self.problem)

    def time_round(self, size: tuple[int, int]) -> None:
        self.step()

    def track_rounds(self, size: tuple[int, int]) -> int:
        """Until one point in a hundred is on the wrong side."""
        return iterations_until(self.solver, self.problem, lambda it: it.error <= 0.01)

    track_rounds.unit = "rounds"  # type: ignore[attr-defined]


class Ridge:
    """Kernel ridge regression, from the dual."""

    version = "1"
    params = ([100, 300],)
    param_names = ("n",)

    def setup(self, n: int) -> None:
        self.X, self.y = dense(n, 10)
        self.ridge = need("solvers", "KernelRidge")()

    def time_dual(self, n: int) -> None:
        self.ridge.dual(self.X, self.y.astype(float))

    def peakmem_dual(self, n: int) -> None:
        self.ridge.dual(self.X, self.y.astype(float))


def _flat() -> Callable[[Any], bool]:
    """The goal of a gradient that is a millionth of what it was at the start."""
    first: list[float] = []

    def goal(it: Any) -> bool:
        size = float(np.linalg.norm(it.extra["gradient"]))
        first.append(size)
        return size <= 1e-6 * first[0]

    return goal


#: What the gate runs of this suite: see harness/gate/compare.py.
GATED = [
    ("Boosting.time_round", [[(500, 20)]]),
    (
        "Descent.track_iterations",
        [["SmoothGradientDescent", "AcceleratedGradientDescent"]],
    ),
    ("Boosting.track_rounds", [[(500, 20)]]),
]
