"""Figures 1 and 2 of Ji, Srebro and Telgarsky (2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.library import Artefact, Shown
from gammabar.harness.reproduce.held_out import held_out_images
from gammabar.harness.reproduce.runs import along, logarithmic
from gammabar.problems import Problem, load

#: What the legend of Figure 1 names, by solvers of the registry.
METHODS = {
    "Algorithm 1": "dual-acceleration",
    "normalised GD": "normalized-gradient-descent",
    "GD": "gradient-descent:step=1",
    "batch perceptron": "batch-perceptron-cotter",
}


def _margin(problem: Problem, w: Any) -> dict[str, float]:
    return {"margin": problem.margin(w) if np.any(w) else 0.0}


def _margins(data: str, solver: str, last: int) -> dict[str, list[float]]:
    return along(load(data).unit(), solver, logarithmic(last), _margin)


def _largest_margin(data: str) -> float:
    from gammabar.oracle import solve

    return solve(load(data)).gamma


def _figure_1(quick: bool) -> Mapping[str, Callable[[], Any]]:
    data, last = ("mnist-sample:0,1", 200) if quick else ("mnist:0,1", 10_000)
    parts: dict[str, Callable[[], Any]] = {f"γ̄ of {data}": partial(_largest_margin, data)}
    for solver in METHODS.values():
        parts[f"margin, {data}, {solver}, t ≤ {last}"] = partial(_margins, data, solver, last)
    return parts


def _by_method(numbers: dict[str, Any]) -> dict[str, Any]:
    """The curves by the names of the legend."""
    return {
        label: next(value for name, value in numbers.items() if f", {solver}," in name)
        for label, solver in METHODS.items()
    }


def _draw_1(figure: Any, numbers: dict[str, Any]) -> None:
    best = next(value for name, value in numbers.items() if name.startswith("γ̄"))
    figure.set_size_inches(9.6, 4.0)
    paper, near = figure.subplots(1, 2)
    for label, curve in _by_method(numbers).items():
        paper.plot(curve["t"], curve["margin"], label=label)
        near.semilogx(curve["t"], curve["margin"], label=label)
    for axes in (paper, near):
        axes.axhline(best, color="0.5", lw=0.8, ls="-", label="γ̄, exact")
        axes.set(xlabel="gradient evaluations", ylabel="margin")
    paper.set(xlim=(0, 1000), ylim=(-0.40, 0.05), title="the axes of the paper")
    near.set(ylim=(-0.5 * best, 1.05 * best), title="near γ̄")
    paper.legend(loc="lower right")


def _shown_1(numbers: dict[str, Any]) -> list[Shown]:
    best = next(value for name, value in numbers.items() if name.startswith("γ̄"))
    ends = {label: curve["margin"][-1] for label, curve in _by_method(numbers).items()}
    found = ", ".join(f"{label} {value / best:.4f} γ̄" for label, value in ends.items())
    others = [value for label, value in ends.items() if label != "Algorithm 1"]
    implicit = max(ends["normalised GD"], ends["GD"])
    last = max(_by_method(numbers)["GD"]["t"])
    return [
        Shown("Algorithm 1 is ahead of all others", ends["Algorithm 1"] > max(others), found),
        Shown(
            "the batch perceptron surpasses prior implicit margin maximisers",
            ends["batch perceptron"] > implicit,
            f"at t = {last:.0f}: {ends['batch perceptron']:.6g} against {implicit:.6g}",
        ),
        Shown(
            "normalising the gradient is faster than gradient descent",
            ends["normalised GD"] > ends["GD"],
            f"{ends['normalised GD']:.6g} against {ends['GD']:.6g}",
        ),
    ]


# --- Figure 2: data that are not separable ---------------------------------------------------


def _test_points(quick: bool) -> tuple[Any, Any]:
    """Images and labels ±1 of the digits 3 and 5 that no method is trained on."""
    if quick:
        problem: Any = load("mnist-sample:3,5:n=1000,seed=1")
        return np.asarray(problem.X), np.asarray(problem.y)
    return held_out_images("mnist-test", (3, 5))


def _errors(data: str, solver: str, last: int, quick: bool) -> dict[str, list[float]]:
    X, y = _test_points(quick)
    X = X.astype(np.float64)

    def error(problem: Problem, w: Any) -> dict[str, float]:
        return {"error": float(np.mean(y * (X @ w) <= 0))}

    return along(load(data).unit(), solver, logarithmic(last), error)


def _figure_2(quick: bool) -> Mapping[str, Callable[[], Any]]:
    data, last = ("mnist-sample:3,5:n=600", 200) if quick else ("mnist:3,5", 2000)
    parts: dict[str, Callable[[], Any]] = {f"γ̄ of {data}": partial(_largest_margin, data)}
    for solver in METHODS.values():
        name = f"test error, {data}, {solver}, t ≤ {last}"
        parts[name] = partial(_errors, data, solver, last, quick)
    return parts


def _draw_2(figure: Any, numbers: dict[str, Any]) -> None:
    axes = figure.subplots()
    for label, curve in _by_method(numbers).items():
        axes.loglog(curve["t"], curve["error"], label=label)
    axes.set(xlabel="gradient evaluations", ylabel="test error")
    axes.legend(loc="upper right")


def _shown_2(numbers: dict[str, Any]) -> list[Shown]:
    best = next(value for name, value in numbers.items() if name.startswith("γ̄"))
    ends = {label: curve["error"][-1] for label, curve in _by_method(numbers).items()}
    found = ", ".join(f"{label} {value:.4f}" for label, value in ends.items())
    smooth = [value for label, value in ends.items() if label != "batch perceptron"]
    return [
        Shown("digits 3 and 5 are not separable", best == 0, f"γ̄ = {best:.6g}, proved"),
        Shown(
            "the batch perceptron suffers, methods with the exponential loss do not",
            ends["batch perceptron"] > max(smooth),
            found,
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="jst.fig1",
        reference="Figure 1",
        title="Margin against gradient evaluations, MNIST digits 0 and 1",
        parts=_figure_1,
        draw=_draw_1,
        shown=_shown_1,
        data=("mnist",),
    ),
    Artefact(
        id="jst.fig2",
        reference="Figure 2",
        title="Test error against gradient evaluations, MNIST digits 3 and 5",
        parts=_figure_2,
        draw=_draw_2,
        shown=_shown_2,
        data=("mnist", "mnist-test"),
    ),
)
