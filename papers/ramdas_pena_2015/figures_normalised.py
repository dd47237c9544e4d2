"""The example of Section 2.2 as a picture: what normalising the points does to the bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.run.specs import Registered
from gammabar.problems import Problem, from_arrays, load

RADII = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def _mistakes(problem: Problem) -> int:
    """Updates of the perceptron, which takes the first point that it gets wrong."""
    *_, last = Registered("perceptron").open().iterates(problem, np.random.default_rng(0))
    return int(last.t)


def _bounds(radii: tuple[float, ...]) -> dict[str, list[float]]:
    """max ‖x‖²/ρ² and 1/ρ₂² from exact margins, and the updates of the perceptron."""
    from gammabar.oracle import solve

    found: dict[str, list[float]] = {
        name: [] for name in ("r", "plain", "normalised", "updates", "updates normalised")
    }
    for r in radii:
        problem: Any = load(f"two-lines:r={r:g}")
        X = np.asarray(problem.X, dtype=np.float64)
        unit = from_arrays(X / np.linalg.norm(X, axis=1)[:, None], problem.y)
        found["r"].append(float(r))
        found["plain"].append(solve(problem).gamma ** -2)  # of the rows divided by the longest
        found["normalised"].append(solve(unit).gamma ** -2)
        found["updates"].append(_mistakes(problem))
        found["updates normalised"].append(_mistakes(unit))
    return found


def _points(r: float) -> dict[str, list[float]]:
    problem: Any = load(f"two-lines:r={r:g}")
    X, y = np.asarray(problem.X, dtype=np.float64), np.asarray(problem.y)
    X *= r / np.linalg.norm(X, axis=1).max()  # the generator has integers
    return {
        "x1": X[:, 0].tolist(),
        "x2": X[:, 1].tolist(),
        "y": [int(v) for v in y],
    }


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    radii = RADII[:4] if quick else RADII
    return {
        "points of two-lines:r=3": partial(_points, 3),
        f"bounds and updates on two-lines, r = {radii}": partial(_bounds, radii),
    }


def _two(numbers: dict[str, Any]) -> tuple[Any, Any]:
    points, bounds = numbers.values()
    return points, bounds


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    points, bounds = _two(numbers)
    figure.set_size_inches(8.4, 3.9)
    left, right = figure.subplots(1, 2)
    for label, marker, colour in ((1, "+", "#d55e00"), (-1, "_", "#0072b2")):
        of = [i for i, y in enumerate(points["y"]) if y == label]
        x1, x2 = ([points[name][i] for i in of] for name in ("x1", "x2"))
        left.plot(x1, x2, marker, color=colour, ls="", ms=6)
        length = np.hypot(x1[0], x2[0])
        left.plot(x1[0] / length, x2[0] / length, "o", color=colour, ms=8, mfc="none", mew=1.6)
    end = max(points["x1"] + points["x2"])
    left.plot([0, end], [0, end], color="0.4", lw=0.9, ls="--")
    left.annotate("x₁ = x₂", (0.8 * end, 0.84 * end), fontsize=8, rotation=45, ha="center")
    left.set(xlabel="x₁", ylabel="x₂", aspect="equal", title="r = 3; circles: normalised")
    for name, words, style in (
        ("plain", "max ‖x‖²/ρ², data as they are", "-"),
        ("normalised", "1/ρ₂², data normalised", "--"),
        ("updates", "updates of the perceptron, as they are", "-."),
        ("updates normalised", "updates, normalised", ":"),
    ):
        right.loglog(bounds["r"], bounds[name], marker="o", ms=3, ls=style, label=words)
    right.set(xlabel="r", title=f"fitted slope of the ratio of the bounds: {_slope(bounds):.3f}")
    ticks = [r for r in (1, 2, 4, 8, 16, 32) if bounds["r"][0] <= r <= bounds["r"][-1]]
    right.set_xticks(ticks, [str(r) for r in ticks])
    right.minorticks_off()
    right.legend(fontsize=7)


def _slope(bounds: dict[str, list[float]]) -> float:
    ratio = np.array(bounds["plain"]) / np.array(bounds["normalised"])
    return float(np.polyfit(np.log(bounds["r"]), np.log(ratio), 1)[0])


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    _, bounds = _two(numbers)
    rho = [value**-0.5 for value in bounds["normalised"]]
    slope = _slope(bounds)
    more = [a > b for a, b in zip(bounds["updates"], bounds["updates normalised"], strict=True)]
    return [
        Shown("ρ₂ ≈ 0.14", all(abs(v - 0.14) < 0.005 for v in rho), f"ρ₂ = {rho[0]:.6f}"),
        Shown("the bounds differ by r⁴", abs(slope - 4) < 1e-6, f"fitted slope {slope:.9f}"),
        Shown(
            "it is always better to normalise the data (said of the bounds)",
            all(a >= b for a, b in zip(bounds["plain"], bounds["normalised"], strict=True)),
            f"of the bounds in all {len(rho)} cases; the perceptron itself makes"
            f" {max(bounds['updates']):.0f} updates at most as they are, and"
            f" {max(bounds['updates normalised']):.0f} normalised (more as they are: {sum(more)})",
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="rp.sec2.2",
        reference="Section 2.2, Example",
        title="Normalised and unnormalised margins on two lines",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
)
