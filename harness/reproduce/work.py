"""Computes the parts of an artefact, each kept as soon as it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from gammabar import __version__
from gammabar.harness.library.artefact import Artefact, Numbers
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS, how_to_get, is_here

FORMAT, VERSION = "gammabar-artefact", 1

#: Told the name of each part as it begins, how many there are, and whether it was kept.
Tell = Callable[[str, int, int, bool], None]


def missing_data(artefact: Artefact, quick: bool) -> None:
    """Refuse an artefact whose data are not on this machine, and say how to get them."""
    for name in () if quick else artefact.data:
        dataset = DATASETS[name]
        if not is_here(dataset):
            raise ProblemError(f"{artefact.id} needs {name}: {how_to_get(dataset)}")


def compute(
    artefact: Artefact, folder: Path, quick: bool = False, tell: Tell = lambda *_: None
) -> dict[str, Numbers]:
    """The numbers of an artefact by part; what the folder has already is not computed again.

    Parameters
    ----------
    artefact : Artefact
    folder : Path
        Where parts are kept, in ``parts/``: whoever is interrupted goes on from there, and
        artefacts that share a part compute it once.
    quick : bool
        Smaller settings, on data that are embedded.
    tell : callable
    """
    missing_data(artefact, quick)
    parts = artefact.parts(quick)
    found: dict[str, Numbers] = {}
    for place, (name, make) in enumerate(parts.items()):
        path = folder / "parts" / f"{sha256(name.encode()).hexdigest()[:16]}.json"
        kept = _kept(path, name)
        tell(name, place, len(parts), kept is not None)
        if kept is None:
            start = perf_counter()
            kept = make()
            document = {"name": name, "gammabar": __version__, "numbers": kept}
            _write(path, document | {"seconds": round(perf_counter() - start, 3)})
        found[name] = kept
    return found


def _kept(path: Path, name: str) -> Numbers:
    """The numbers of a part, if they are there whole and of this version."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["name"] == name and document["gammabar"] == __version__:
            return document["numbers"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not there, or damaged: it is computed again
    return None


def _write(path: Path, document: dict[str, Any]) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(beside, path)


def as_document(artefact: Artefact, numbers: dict[str, Numbers], quick: bool) -> dict[str, Any]:
    """What is written beside the picture, and printed by ``--json``."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "artefact": artefact.id,
        "reference": artefact.reference,
        "title": artefact.title,
        "quick": quick,
        "shown": [shown._asdict() for shown in artefact.shown(numbers)],
        "numbers": numbers,
    }


def write_document(path: Path, document: dict[str, Any]) -> None:
    """The numbers as JSON."""
    _write(path, document)
