"""The runs behind the figures and Table 1: which data, which methods, how long.

Classes, sizes and the making of imbalanced data are those of Appendix E; how pixels are scaled,
which points were drawn and how long runs were are not said. A subsample is that of seed 0 here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.reproduce.runs import logarithmic
from gammabar.papers.tyurin_2024.lockstep import Method, curves, rows_of
from gammabar.problems import from_arrays, load

#: "we vary the step size from 0.001 to 100" (Section 3).
STEPS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
LR_GD = tuple(Method("lr-gd", step) for step in STEPS)
BATCH, NORMALISED = Method("batch-perceptron"), Method("normalized-batch-perceptron")
#: Seconds for the exact margin of a subsample; then what is proved so far counts.
LIMIT = 900
NAMES = {"cifar": "CIFAR-10", "fashion": "FashionMNIST", "eurosat": "EuroSAT", "mnist": "MNIST"}
CLASSES = {"cifar": "0,1", "fashion": "0,4", "eurosat": "0,1", "mnist": "7,8"}


@dataclass(frozen=True)
class Sample:
    """A subsample of a data set.

    Attributes
    ----------
    dataset : str
    size : int
        Number of points; 0 for a tenth of all, those of one class ten times each.
    last : int
        How many iterations are run.
    """

    dataset: str
    size: int
    last: int

    def spec(self, quick: bool, seed: int = 0) -> str:
        """As ``gammabar`` takes it; with `quick`, a few embedded digits."""
        chosen = f"n={self.size}" if self.size else "keep=0.1,repeat=10"
        if quick:
            chosen = "n=200" if self.size else "keep=0.15,repeat=10"
            return f"mnist-sample:7,8:{chosen},seed={seed}"
        return f"{self.dataset}:{CLASSES[self.dataset]}:{chosen},seed={seed}"

    def name(self) -> str:
        """For people."""
        size = f"{self.size:,} samples" if self.size else "imbalanced"
        return f"{NAMES[self.dataset]}, {size}"

    def steps(self, quick: bool) -> int:
        return min(self.last, 150) if quick else self.last


def run(sample: Sample, quick: bool) -> tuple[str, Callable[[], Any]]:
    """The part with LR+GD of every step beside both batch perceptrons, by its name."""
    spec, last = sample.spec(quick), sample.steps(quick)
    return f"LR+GD and perceptrons, {spec}, t ≤ {last}", partial(_curves, spec, last)


def _curves(spec: str, last: int) -> dict[str, Any]:
    rows = rows_of(load(spec))
    methods = [*LR_GD, BATCH, NORMALISED]
    return {"n": rows.n, "last": last, "courses": curves(rows, methods, logarithmic(last, 60))}


def truth(sample: Sample, quick: bool) -> tuple[str, Callable[[], Any]]:
    """The part with the exact margin, or the proof that there is none."""
    spec = sample.spec(quick)
    return f"γ̄ of {spec}, pixels in [−1, 1], within {LIMIT} s", partial(_truth, spec)


def _truth(spec: str) -> dict[str, Any]:
    """Separable or not, and γ̄ in the unit ball (rows divided by the longest)."""
    from gammabar.oracle import solve

    problem: Any = load(spec)
    whole = 2 * np.asarray(problem.X).astype(np.int16) - 255  # integers: pixels times 255
    found = solve(from_arrays(whole, problem.y), time_limit=LIMIT)
    return {
        "separable": found.separable,
        "gamma": found.gamma,
        "gamma_lo": found.gamma_lo,
        "gamma_hi": found.gamma_hi,
        "exact": found.exact,
    }
