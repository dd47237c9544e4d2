"""Computes the parts of an artefact, each kept as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from gammabar import __version__
from gammabar.harness.library.artefact import Artefact, Numbers
from gammabar.harness.reproduce.stamp import source_of
from gammabar.harness.run.memory import forget_peak, peak_memory
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS, how_to_get, is_here
from gammabar.problems.environment import has_module, missing
from gammabar.problems.output import write_whole

FORMAT, VERSION = "gammabar-artefact", 1

#: Told the name of each part as it begins, how many there are, and whether it was kept.
Tell = Callable[[str, int, int, bool], None]


class Computed(NamedTuple):
    """The numbers of an artefact by part, and what they took when they were computed.

    Attributes
    ----------
    numbers : dict
    seconds, cpu : float
        Wall time and processor time of all parts.
    memory : int
        The most bytes that the process held during any of them.
    """

    numbers: dict[str, Numbers]
    seconds: float
    cpu: float
    memory: int


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
) -> Computed:
    """The numbers of an artefact by part; what the folder has already is not computed again.

    Parameters
    ----------
    artefact : Artefact
    folder : Path
        Where parts are kept, in ``parts/``: whoever is interrupted goes on from there, and
        artefacts that share a part compute it once. A part counts as long as its name and the
        source code that it depends on are the same, see `gammabar.harness.reproduce.stamp`.
    quick : bool
        Smaller settings, on data that are embedded.
    tell : callable
    fresh : bool
        Compute everything, whatever is kept.
    """
    missing_data(artefact, quick)
    parts = artefact.parts(quick)
    found: dict[str, Numbers] = {}
    seconds, cpu, memory = 0.0, 0.0, 0
    for place, (name, make) in enumerate(parts.items()):
        path = folder / "parts" / f"{sha256(name.encode()).hexdigest()[:16]}.json"
        stamp = {"name": name, "gammabar": __version__, "source": source_of(make)}
        kept = None if fresh else _kept(path, stamp)
        tell(name, place, len(parts), kept is not None)
        if kept is None:
            kept = stamp | _made(make)
            write(path, kept)
        found[name] = kept["numbers"]
        seconds, cpu = seconds + kept["seconds"], cpu + kept["cpu"]
        memory = max(memory, kept["memory"])
    return Computed(found, seconds, cpu, memory)


def _made(make: Callable[[], Numbers]) -> dict[str, Any]:
    forget_peak()
    start, busy = perf_counter(), process_time()
    numbers = make()
    return {
        "numbers": numbers,
        "seconds": round(perf_counter() - start, 3),
        "cpu": round(process_time() - busy, 3),
        "memory": peak_memory(),
    }


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


def as_document(artefact: Artefact, computed: Computed, quick: bool) -> dict[str, Any]:
    """What is written beside the picture, and printed by ``--json``."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "artefact": artefact.id,
        "reference": artefact.reference,
        "title": artefact.title,
        "quick": quick,
        "seconds": round(computed.seconds, 3),
        "cpu": round(computed.cpu, 3),
        "memory": computed.memory,
        "shown": [shown._asdict() for shown in artefact.shown(computed.numbers)],
        "numbers": computed.numbers,
    }
