"""Ramdas and Peña: normalised and smoothed perceptrons, von Neumann's algorithm and Winnow."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import REAL, Counter, iterations_until, loaded, need, never, stepper

METHODS = ("NormalizedPerceptron", "NKP", "SNKP")


class Iteration:
    """One iteration in an RKHS, and with explicit features."""

    version = "1"
    params = (["NKP", "SNKP", "NVN", "SNKPVN"], ["kernel", "float64"])
    param_names = ("solver", "geometry")

    def setup(self, name: str, geometry: str) -> None:
        # Data that cannot be separated keep a method going for ever.
        options = {"NVN": {"epsilon": 1e-9}, "SNKPVN": {"delta": 1e-9}}.get(name, {})
        kernel = {"kernel": "linear"} if geometry == "kernel" else {}
        load = need("problems", "load")
        self.problem = load("inseparable:n=1000,d=10,seed=0", **kernel).unit()
        self.step = stepper(need("solvers", name)(**options), self.problem)

    def time_step(self, name: str, geometry: str) -> None:
        self.step()


class Separation:
    """Time, iterations and passes until the data are separated; the counts are deterministic."""

    version = "1"
    params = (METHODS,)
    param_names = ("solver",)

    def setup(self, name: str) -> None:
        self.problem = loaded(REAL).unit()
        self.solver = need("solvers", name)()

    def time_to_separation(self, name: str) -> None:
        iterations_until(self.solver, self.problem, never)

    def track_iterations(self, name: str) -> int:
        return iterations_until(self.solver, self.problem, never)

    def track_passes(self, name: str) -> int:
        counter = Counter(self.problem)
        iterations_until(self.solver, counter.problem, never)
        return counter.passes

    track_iterations.unit = "iterations"  # type: ignore[attr-defined]
    track_passes.unit = "passes over the data"  # type: ignore[attr-defined]


class Certificates:
    """Either separates or certifies that nothing does: SNKPVN and ISNKPVN."""

    version = "1"
    params = (["SNKPVN", "ISNKPVN"], [True, False])
    param_names = ("solver", "separable")

    def setup(self, name: str, separable: bool) -> None:
        self.solver = need("solvers", name)()
        self.problem = loaded(REAL if separable else "inseparable:n=100,d=3,seed=0").unit()

    def time_to_answer(self, name: str, separable: bool) -> None:
        iterations_until(self.solver, self.problem, never)

    def track_iterations(self, name: str, separable: bool) -> int:
        return iterations_until(self.solver, self.problem, never)

    track_iterations.unit = "iterations"  # type: ignore[attr-defined]


class Simplex:
    """Winnow, which searches non-negative weights: every column is given with both signs."""

    version = "1"

    def setup(self) -> None:
        problem = loaded(REAL)
        X = np.asarray(problem.X, dtype=np.float64)
        self.problem: Any = need("problems", "from_arrays")(np.hstack([X, -X]), problem.y)
        self.solver = need("solvers", "Winnow")()

    def time_to_separation(self) -> None:
        iterations_until(self.solver, self.problem, never)

    def track_iterations(self) -> int:
        return iterations_until(self.solver, self.problem, never)

    track_iterations.unit = "iterations"  # type: ignore[attr-defined]


#: What the gate runs of this suite: see harness/gate/compare.py.
GATED = [
    ("Iteration.time_step", [["SNKP"], ["kernel"]]),
    ("Separation.track_iterations", [["NormalizedPerceptron", "NKP", "SNKP"]]),
    ("Separation.track_passes", [["NormalizedPerceptron", "NKP", "SNKP"]]),
    ("Certificates.track_iterations", [["SNKPVN", "ISNKPVN"], [True, False]]),
    ("Simplex.track_iterations", []),
]
