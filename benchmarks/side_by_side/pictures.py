"""The pictures of the page: size on logarithmic axes, and time-to-gap curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gammabar.problems.environment import extra_module
from gammabar.problems.output import whole

GAPS, SCALE = "benchmarks-gaps.svg", "benchmarks-scale.svg"
#: The smallest gap that is drawn; what is exact is drawn there.
FLOOR = 3e-4


def draw(document: dict[str, Any], folder: Path) -> list[Path]:
    """Draw what the document has numbers for; returns the files written."""
    run, written = document["sections"], []
    if run.get("scale"):
        written.append(_save(_scale(run["scale"]), folder / SCALE))
    if run.get("margin"):
        written.append(_save(_gaps(run["margin"]), folder / GAPS))
    return written


def _subplots(count: int, across: int) -> tuple[Any, list[Any]]:
    Figure = _matplotlib("figure").Figure
    FigureCanvasAgg = _matplotlib("backends.backend_agg").FigureCanvasAgg
    down = -(-count // across)
    figure = Figure(figsize=(4.2 * across, 3.6 * down), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.set_axis_off()
    return figure, axes[:count]


def _matplotlib(name: str) -> Any:
    return extra_module(f"matplotlib.{name}", "plots", "a picture")


def _save(figure: Any, path: Path) -> Path:
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    # The same numbers give the same file, on every machine.
    style = {"svg.hashsalt": "gammabar", "svg.fonttype": "path"}
    with matplotlib.rc_context(style), whole(path, "wb") as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
    return path


def _scale(results: list[dict[str, Any]]) -> Any:
    figure, axes = _subplots(2 * len(results), 2)
    for k, result in enumerate(results):
        sizes, curves = result["sizes"], result["curves"]
        for place, what, unit in zip(axes[2 * k :], ("computing", "peak"), (1, 1e9), strict=False):
            for style, (name, found) in zip(("o-", "s--", "^:"), curves.items(), strict=False):
                values = [one[what] / unit for one in found if not one["failure"]]
                place.loglog(sizes[: len(values)], values, style, ms=4, lw=1.5, label=name)
            place.set_title(f"{result['axis']} grows: {result['fixed']}", fontsize=9)
            place.set_xlabel(result["axis"])
            place.set_ylabel("seconds of processor time" if what == "computing" else "peak, GB")
            place.grid(alpha=0.3)
        memory = [size / 1e9 for size in result["bytes"]]
        axes[2 * k + 1].loglog(sizes, memory, color="0.6", lw=1, label="the data")
        axes[2 * k + 1].legend(fontsize=7, frameon=False)
    return figure


def _gaps(results: list[dict[str, Any]]) -> Any:
    figure, axes = _subplots(len(results), min(2, len(results)))
    for place, result in zip(axes, results, strict=True):
        for number, row in enumerate(r for r in result["rows"] if not r["absent"]):
            points = sorted(row.get("points", []))
            times = [seconds for seconds, _ in points]
            gaps = [max(1 - part, FLOOR) for _, part in points]
            exact = any(part == 1 for _, part in points)
            style = {"marker": "*", "ms": 11} if exact else {"marker": "o", "ms": 2.5}
            label, color = row["name"], f"C{number}"
            place.loglog(times, gaps, "-", lw=1.2, label=label, color=color, **style)
        place.axhline(1.0, color="black", lw=0.6, ls=":")
        place.set_title(f"{result['data']}", fontsize=10)
        place.set_xlabel("seconds")
        place.set_ylabel("1 − γ(w)/γ̄")
        place.set_ylim(0.8 * FLOOR, 100)
        place.grid(alpha=0.3)
    lines, names = axes[0].get_legend_handles_labels()
    figure.legend(lines, names, fontsize=8, frameon=False, ncols=2, loc="outside lower center")
    return figure
