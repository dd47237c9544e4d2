"""Pictures of artefacts, as SVG, PNG and PDF: the same numbers give the same SVG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gammabar.harness.library.artefact import Artefact, Numbers
from gammabar.problems.environment import extra_module
from gammabar.problems.output import whole

FORMATS = ("svg", "png", "pdf")
#: Colours that are told apart in greyscale and by the colour-blind (Okabe and Ito), and dashes.
COLOURS = ("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))


def check() -> None:
    """Refuse to begin where no picture can be drawn in the end."""
    extra_module("matplotlib", "plots", "a picture")


def draw(
    artefact: Artefact, numbers: dict[str, Numbers], folder: Path, formats: Iterable[str] = FORMATS
) -> list[Path]:
    """Draw an artefact; returns the files written."""
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    figures = extra_module("matplotlib.figure", "plots", "a picture")
    agg = extra_module("matplotlib.backends.backend_agg", "plots", "a picture")
    cycle = matplotlib.cycler(color=COLOURS) + matplotlib.cycler(linestyle=DASHES)
    style = {
        "axes.prop_cycle": cycle,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "font.size": 9,
        "legend.frameon": False,
        "svg.hashsalt": "gammabar",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    }
    written = []
    with matplotlib.rc_context(style):
        figure = figures.Figure(figsize=(6.4, 4.0), layout="constrained")
        agg.FigureCanvasAgg(figure)
        artefact.draw(figure, numbers)
        for suffix in formats:
            path = folder / f"{artefact.id}.{suffix}"
            dated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
            with whole(path, "wb") as file:
                figure.savefig(file, format=suffix, dpi=160, metadata=dated)
            written.append(path)
    return written
