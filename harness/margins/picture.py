"""A picture of the margins of all pairs: one matrix per data set, readable without colours."""

from __future__ import annotations

from math import log10
from pathlib import Path
from typing import Any

from gammabar.problems import ProblemError
from gammabar.problems.environment import extra_module
from gammabar.problems.output import whole

FORMATS = ("svg", "png", "pdf")


def check(path: Path) -> None:
    """Refuse to begin where no picture can be drawn in the end."""
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise ProblemError(f"{path}: a picture is one of {', '.join('.' + f for f in FORMATS)}")
    extra_module("matplotlib", "plots", "a picture")


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw log₁₀ γ̄ of every pair in shades of grey, and a cross where nothing separates.

    Parameters
    ----------
    results : list of dict
        As `gammabar.harness.margins.work.run` returns them.
    path : Path
        The file; its suffix decides the format.
    """
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    figures = extra_module("matplotlib.figure", "plots", "a picture")
    agg = extra_module("matplotlib.backends.backend_agg", "plots", "a picture")
    data = list(dict.fromkeys(result["data"] for result in results))
    classes = [_names(results, name) for name in data]
    sides = [max(3.6, 0.5 * len(names) + 1.9) for names in classes]
    style = {"svg.hashsalt": "gammabar", "svg.fonttype": "path", "pdf.fonttype": 42}
    style |= {"text.parse_math": False}  # $ is a sign like any other, in classes and names
    with matplotlib.rc_context(style):
        figure = figures.Figure(figsize=(sum(sides), max(sides)), layout="constrained")
        agg.FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(data), squeeze=False, width_ratios=sides)[0]
        powers = [log10(v) for v in map(_gamma, results) if v > 0] or [0.0]
        for place, name, names in zip(axes, data, classes, strict=True):
            some = [result for result in results if result["data"] == name]
            _matrix(place, name, names, some, min(powers), max(powers))
        dated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        suffix = path.suffix.lower().removeprefix(".")
        with whole(path, "wb") as file:
            figure.savefig(file, format=suffix, dpi=130, metadata=dated[suffix])


def _names(results: list[dict[str, Any]], data: str) -> dict[str, str]:
    """The classes of some data in their order, and what they are called."""
    named: dict[str, str] = {}
    for result in results:
        if result["data"] == data:
            named |= dict(zip(result["classes"], result["names"], strict=True))
    return named


def _gamma(result: dict[str, Any]) -> float:
    return float(result["gamma_lo"] if result["separable"] else 0.0)


def _matrix(
    place: Any,
    title: str,
    names: dict[str, str],
    results: list[dict[str, Any]],
    low: float,
    high: float,
) -> None:
    where = {name: k for k, name in enumerate(names)}
    place.set_aspect("equal")
    for result in results:
        column, row = (where[name] for name in result["classes"])
        gamma = _gamma(result)
        corner = (column - 0.5, row - 0.5)
        share = (log10(gamma) - low) / (high - low or 1.0) if gamma > 0 else 0.0
        shade = 0.93 - 0.68 * share if gamma > 0 else 1.0
        _cell(place, corner, str(shade), None if gamma > 0 else "xxx")
        if gamma > 0:
            words = f"{gamma * 1000:.3g}"
            ink = "white" if shade < 0.55 else "black"
            place.text(column, row, words, ha="center", va="center", fontsize=7, color=ink)
    count = len(names)
    place.set_xlim(-0.5, count - 1.5)
    place.set_ylim(count - 0.5, 0.5)
    place.set_xticks(range(count - 1), list(names.values())[:-1], rotation=60, ha="right")
    place.set_yticks(range(1, count), list(names.values())[1:])
    place.tick_params(length=0, labelsize=7)
    for spine in place.spines.values():
        spine.set_visible(False)
    there = sum(result["separable"] is True for result in results)
    not_there = sum(result["separable"] is False for result in results)
    place.set_title(
        f"{title}: 1000 γ̄ of {there} separable pairs;\ncrossed: {not_there} that nothing separates",
        fontsize=9,
    )


def _cell(place: Any, corner: tuple[float, float], shade: str, hatch: str | None) -> None:
    patches = extra_module("matplotlib.patches", "plots", "a picture")
    edge = "0.6" if hatch else "white"
    place.add_patch(patches.Rectangle(corner, 1, 1, facecolor=shade, edgecolor=edge, hatch=hatch))
