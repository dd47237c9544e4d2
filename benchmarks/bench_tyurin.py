"""Tyurin: logistic regression with large steps, and the perceptrons."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import REAL, iterations_until, loaded, need, problem_of, stepper

GRADIENT = ("LogisticRegressionGD", "NormalizedLogisticRegressionGD")
PERCEPTRONS = ("BatchPerceptron", "NormalizedBatchPerceptron", "Perceptron")


class Iteration:
    """One iteration, by size, on data that keep every method going."""

    version = "1"
    params = (GRADIENT + PERCEPTRONS, [(2_000, 50), (20_000, 50)])
    param_names = ("solver", "n, d")

    def setup(self, name: str, size: tuple[int, int]) -> None:
        self.step = stepper(need("solvers", name)(), problem_of("inseparable", *size))

    def time_step(self, name: str, size: tuple[int, int]) -> None:
        self.step()


class Separation:
    """Time and iterations until every point is on its side: what these methods promise."""

    version = "1"
    params = (GRADIENT + PERCEPTRONS, ["worst-case:n=1000", REAL])
    param_names = ("solver", "problem")

    def setup(self, name: str, problem: str) -> None:
        options = {"step": 1e4} if name in GRADIENT else {}
        self.solver = need("solvers", name)(**options)
        self.problem = loaded(problem).unit()

    def _run(self) -> int:
        return iterations_until(self.solver, self.problem, _separated)

    def time_to_separation(self, name: str, problem: str) -> None:
        self._run()

    def track_iterations(self, name: str, problem: str) -> int:
        return self._run()

    track_iterations.unit = "iterations"  # type: ignore[attr-defined]


def _separated(it: Any) -> bool:
    return bool(np.all(it.scores > 0))


#: What the gate runs of this suite: see harness/gate/compare.py.
GATED = [
    ("Iteration.time_step", [["NormalizedLogisticRegressionGD"], [(20_000, 50)]]),
    (
        "Separation.track_iterations",
        [
            [
                "LogisticRegressionGD",
                "NormalizedLogisticRegressionGD",
                "BatchPerceptron",
                "NormalizedBatchPerceptron",
                "Perceptron",
            ],
            ["worst-case:n=1000", "digits:3,8"],
        ],
    ),
]
