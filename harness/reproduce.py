"""Reproduced figures and tables: parts that are kept, pictures, and what agrees with the paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from gammabar import __version__
from gammabar.harness.paper import Artefact, Numbers
from gammabar.harness.run.provenance import source_with
from gammabar.harness.run.tasks import Registered
from gammabar.problems import Problem, ProblemError
from gammabar.problems.datasets import DATASETS, how_to_get, is_here, read
from gammabar.problems.environment import (
    extra_module,
    forget_peak,
    has_module,
    missing,
    peak_memory,
)
from gammabar.problems.output import whole, write_whole

FORMAT, VERSION = "gammabar-artefact", 1

#: Told the name of each part as it begins, how many there are, and whether it was kept.
Tell = Callable[[str, int, int, bool], None]


class _Computed(NamedTuple):
    """The numbers of an artefact by part, and what they took when they were computed."""

    numbers: dict[str, Numbers]
    seconds: float
    cpu: float  #: processor time
    memory: int  #: the most bytes that the process held


def missing_data(artefact: Artefact, quick: bool) -> None:
    """Refuse an artefact whose data or packages are not here, and say how to get them."""
    if artefact.package is not None and not has_module(artefact.package[0]):
        raise missing(artefact.id, *artefact.package)
    for name in () if quick else artefact.data:
        dataset = DATASETS[name]
        if not is_here(dataset):
            raise ProblemError(f"{artefact.id} needs {name}: {how_to_get(dataset)}")


def compute(
    artefact: Artefact,
    folder: Path,
    quick: bool = False,
    tell: Tell = lambda *_: None,
    fresh: bool = False,
) -> _Computed:
    """The numbers of an artefact by part; what the folder has already is not computed again.

    Parts are kept in ``parts/``, so an interrupted run goes on from there, and artefacts that share
    a part compute it once. A part counts as long as its name and the source code are the same: that
    of gammabar, and of the user's paper. `quick` means smaller settings on embedded data, `fresh`
    to compute everything again.
    """
    missing_data(artefact, quick)
    parts = artefact.parts(quick)
    found: dict[str, Numbers] = {}
    seconds, cpu, memory = 0.0, 0.0, 0
    for place, (name, make) in enumerate(parts.items()):
        path = folder / "parts" / f"{sha256(name.encode()).hexdigest()[:16]}.json"
        stamp = {"name": name, "gammabar": __version__, "source": _source_of(make)}
        kept = None if fresh else _kept(path, stamp)
        tell(name, place, len(parts), kept is not None)
        if kept is None:
            kept = stamp | _made(make)
            write(path, kept)
        found[name] = kept["numbers"]
        seconds, cpu = seconds + kept["seconds"], cpu + kept["cpu"]
        memory = max(memory, kept["memory"])
    return _Computed(found, seconds, cpu, memory)


def _source_of(make: Any) -> str:
    """The hash of the source code that a part may depend on."""
    while isinstance(make, partial):
        make = make.func
    return source_with(str(getattr(make, "__module__", "")))


def _made(make: Callable[[], Numbers]) -> dict[str, Any]:
    forget_peak()
    start, busy = perf_counter(), process_time()
    found: dict[str, Any] = {"numbers": make()}
    seconds, cpu = perf_counter() - start, process_time() - busy
    return found | {"seconds": round(seconds, 3), "cpu": round(cpu, 3), "memory": peak_memory()}


def _kept(path: Path, stamp: dict[str, str]) -> dict[str, Any] | None:
    """A part, if it is there whole and of this source."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        same = all(document[name] == value for name, value in stamp.items())
        float(document["seconds"] + document["cpu"]), int(document["memory"]), document["numbers"]
        return document if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or damaged: it is computed again


def write(path: Path, document: dict[str, Any]) -> None:
    """Write JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(document, allow_nan=False) + "\n")


def as_document(artefact: Artefact, computed: _Computed, quick: bool) -> dict[str, Any]:
    """What is written beside the picture, and printed by ``--json``."""
    about = {"artefact": artefact.id, "reference": artefact.reference, "title": artefact.title}
    took = {"seconds": round(computed.seconds, 3), "cpu": round(computed.cpu, 3)}
    shown = [shown._asdict() for shown in artefact.shown(computed.numbers)]
    found = {"memory": computed.memory, "shown": shown, "numbers": computed.numbers}
    return {"format": FORMAT, "version": VERSION} | about | {"quick": quick} | took | found


FORMATS = ("svg", "png", "pdf")
#: Colours that are told apart in greyscale and by the colour-blind (Okabe and Ito), and dashes.
COLOURS = ("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))


def check() -> None:
    """Refuse to begin where no picture can be drawn in the end."""
    extra_module("matplotlib", "plots", "a picture")


def draw(
    artefact: Artefact,
    numbers: dict[str, Numbers],
    folder: Path,
    formats: Iterable[str] = FORMATS,
    quick: bool = False,
) -> list[Path]:
    """Draw an artefact; returns the files written. What is `quick` says so, with its data."""
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    style = {
        "axes.prop_cycle": matplotlib.cycler(color=COLOURS) + matplotlib.cycler(linestyle=DASHES),
        "axes.grid": True,
        "grid.alpha": 0.3,
        "font.size": 9,
        "legend.frameon": False,
    }
    paths = [folder / f"{artefact.id}.{suffix}" for suffix in formats]
    with picture(paths, (6.4, 4.0), style, dpi=160) as figure:
        artefact.draw(figure, numbers)
        if quick:
            first = next(iter(numbers)).removeprefix("γ̄ of ")
            figure.supylabel(f"quick: {first}, not the data of the paper", fontsize=6, color="0.4")
    return paths


@contextmanager
def picture(
    paths: Iterable[Path], size: tuple[float, float], style: Mapping[str, Any], dpi: int
) -> Iterator[Any]:
    """A matplotlib figure to be drawn on, which is then written to files of any format."""
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    figures = extra_module("matplotlib.figure", "plots", "a picture")
    agg = extra_module("matplotlib.backends.backend_agg", "plots", "a picture")
    # The same numbers give the same SVG; publishers refuse fonts of Type 3, so these are TrueType.
    same = {"svg.hashsalt": "gammabar", "svg.fonttype": "path", "pdf.fonttype": 42}
    with matplotlib.rc_context({**same, **style}):
        figure = figures.Figure(figsize=size, layout="constrained")
        agg.FigureCanvasAgg(figure)
        yield figure
        for path in paths:
            suffix = path.suffix.lower().removeprefix(".")
            dated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
            with whole(path, "wb") as file:
                figure.savefig(file, format=suffix, dpi=dpi, metadata=dated)


def logarithmic(last: int, each_decade: int = 20) -> list[int]:
    """Some of 1, 2, …, last, as many in each decade."""
    count = max(2, int(each_decade * np.log10(max(last, 2))))
    return sorted({round(t) for t in np.geomspace(1, last, count)})


def along(
    problem: Problem,
    solver: str,
    times: list[int],
    measure: Callable[[Problem, Any], dict[str, float]],
) -> dict[str, list[float]]:
    """What `measure` says of w_t at these times, as lists with the times themselves as "t"."""
    found: dict[str, list[float]] = {"t": []}
    wanted = set(times)
    opened = Registered(solver).open()
    for iterate in opened.iterates(problem, np.random.default_rng(0)):
        if iterate.t in wanted:
            found["t"].append(iterate.t)
            for name, value in measure(problem, iterate.w).items():
                found.setdefault(name, []).append(float(value))
        if iterate.t >= times[-1]:
            break
    return found


def draw_curves(axes: Any, curves: Mapping[str, Numbers], y: str, scale: str = "semilogx") -> None:
    """Draw the lists "t" and `y` of every curve, by label; `scale` is a method of matplotlib."""
    for label, curve in curves.items():
        getattr(axes, scale)(curve["t"], curve[y], label=label)
    axes.set_ylabel(y)


def listed(values: Mapping[str, Any], shown: str = "") -> str:
    """Values with their labels, in words."""
    return ", ".join(f"{label} {value:{shown}}" for label, value in values.items())


def held_out_images(name: str, classes: tuple[int, int]) -> tuple[Any, Any]:
    """Images of two classes of a data set of test images, and labels −1 and +1."""
    points = read(DATASETS[name])
    chosen = np.isin(points.labels, classes)
    y = np.where(points.labels[chosen] == classes[1], 1, -1)
    return np.asarray(points.X)[chosen], y
