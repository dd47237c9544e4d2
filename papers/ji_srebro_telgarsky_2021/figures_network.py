"""Figure 3 of Ji, Srebro and Telgarsky (2021): ten classes and the kernel of a network.

The paper says (Section 4, Appendix F): the full MNIST data, the reduction of Section 5.2, features
of the initial kernel of a 2-homogeneous network with one hidden layer of 128 ReLU nodes, methods
with n kernel evaluations in each iteration. It does not say how the network is initialised, how
features are scaled, or which t enters the step √(ln(n)/t) of Theorem 4.1. Here the weights are
those of `gammabar.problems.network`, all rows are divided by the largest norm, and t is the length
of the run. (The t of the theorem itself is far longer, and the step then so small that every row
is drawn about as often for as long as one would wait.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.library import Artefact, Shown
from gammabar.harness.reproduce.runs import logarithmic
from gammabar.harness.run.solver_ref import Registered
from gammabar.problems import load
from gammabar.problems.base import Problem

KERNEL = "network:width=128,seed=0"
AGGRESSIVE, THEOREM, BATCH = (
    "Algorithm 2, aggressive",
    "Algorithm 2, Theorem 4.1",
    "batch perceptron",
)


def _solvers(n: int, last: int) -> dict[str, str]:
    """The methods of the legend, as solvers of the registry."""
    step = math.sqrt(math.log(n) / last)
    return {
        AGGRESSIVE: "adaptive-sampling",
        BATCH: "batch-perceptron-cotter",
        THEOREM: f"adaptive-sampling:step={step!r},momentum=false",
    }


def _curve(data: str, label: str, last: int) -> dict[str, Any]:
    """Margins and upper bounds of γ̄ along a run, from the scores that the method carries.

    w_t is a combination of rows with weights α ≥ 0, so ‖w_t‖/Σα is the norm of a convex
    combination of the rows: at least γ̄.
    """
    problem = load(data, multiclass=True, kernel=KERNEL).unit()
    solver = Registered(_solvers(problem.n, last)[label]).open()
    found: dict[str, Any] = {"n": problem.n, "t": [], "margin": [], "bound": []}
    wanted = set(logarithmic(last))
    mean = np.zeros(problem.n)
    for iterate in solver.iterates(problem, np.random.default_rng(0)):
        t, scores = iterate.t, iterate.extra["scores"]
        if "v" in iterate.extra and t > 0:  # w_t is the mean of v_1, …, v_t, whose scores they are
            mean += (scores - mean) / t
            scores = mean
        if t in wanted:
            length = math.sqrt(max(0.0, float(iterate.w @ scores)))
            found["t"].append(t)
            found["margin"].append(float(scores.min()) / length if length else 0.0)
            found["bound"].append(length / float(iterate.w.sum()))
        if t >= last:
            return found | {
                "points": _points(problem, iterate.w),
                "afresh": problem.margin(iterate.w),
            }
    raise AssertionError("these methods have no end")


def _points(problem: Problem, w: Any) -> int:
    """How many points take part in w."""
    return int(np.reshape(w, (len(problem.y), -1)).any(axis=1).sum())


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    data, last = ("mnist-sample:n=1000", 100) if quick else ("mnist", 3000)
    return {
        f"margin, {data}, ten classes, {KERNEL}, {label}, t ≤ {last}": partial(
            _curve, data, label, last
        )
        for label in (AGGRESSIVE, BATCH, THEOREM)
    }


def _by_method(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        label: next(curve for name, curve in numbers.items() if f", {label}, t" in name)
        for label in (AGGRESSIVE, BATCH, THEOREM)
    }


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    axes = figure.subplots()
    curves = _by_method(numbers)
    for label, curve in curves.items():
        axes.semilogx(curve["t"], curve["margin"], label=label)
    bounds = [curve["bound"] for curve in curves.values()]
    least = np.minimum.accumulate(np.min(bounds, axis=0))
    times = curves[BATCH]["t"]
    axes.semilogx(times, least, color="0.5", lw=0.8, ls="-", label="upper bound of γ̄")
    axes.axhline(0, color="0.8", lw=0.8, ls="-")
    low = min(min(curve["margin"]) for curve in curves.values())
    axes.set(xlabel="iterations (n kernel evaluations each)", ylabel="margin")
    # Margins come close to zero from below: a logarithmic axis on either side of it.
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set(ylim=(1.5 * low, 1.0))
    axes.legend(loc="upper right")


def _first(curve: dict[str, Any], level: float = 0.0) -> str:
    """When a margin first exceeds a level, in words."""
    above = [t for t, margin in zip(curve["t"], curve["margin"], strict=True) if margin > level]
    return f"from t = {above[0]}" if above else "never"


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    curves = _by_method(numbers)
    last = curves[BATCH]["t"][-1]
    ends = {label: curve["margin"][-1] for label, curve in curves.items()}
    found = f"at t = {last}: " + ", ".join(f"{label} {v:.5f}" for label, v in ends.items())
    bound = min(min(curve["bound"]) for curve in curves.values())
    best = max(max(curve["margin"]) for curve in curves.values())
    drift = max(abs(c["afresh"] - c["margin"][-1]) for c in curves.values())
    return [
        Shown(
            "the batch perceptron is slightly beaten by Algorithm 2 with momentum and step 1",
            ends[AGGRESSIVE] > ends[BATCH],
            found,
        ),
        Shown(
            "the parameters of Theorem 4.1 are slower than the batch perceptron",
            ends[THEOREM] < ends[BATCH],
            found,
        ),
        Shown(
            "these features make the data linearly separable",
            True if best > 0 else None,
            "positive margin: "
            + ", ".join(f"{label} {_first(curve)}" for label, curve in curves.items())
            + f"; {max(best, 0.0):.5f} ≤ γ̄ ≤ {bound:.5f}",
        ),
        Shown(
            "scores that are carried along are those of w",
            drift < 1e-9,
            f"the last margins, computed afresh from w, differ by at most {drift:.1e}",
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="jst.fig3",
        reference="Figure 3",
        title="Margin against iterations of n kernel evaluations, MNIST, the kernel of a network",
        parts=_parts,
        draw=_draw,
        shown=_shown,
        data=("mnist",),
        cost="5 min of one processor, 1.1 GB",
    ),
)
