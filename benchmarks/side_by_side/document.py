"""One run of the comparison as a document: the circumstances, and the numbers of each section."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

from side_by_side.table import Table

from gammabar.harness.screen import Stage

#: In the order of the page; each is a module with `TITLE`, `measure` (for JSON) and `tables`.
SECTIONS = ("oracle", "proof", "classifier", "margin", "iteration", "scale", "overhead")
FORMAT = "gammabar-bench"
VERSION = 1
#: Whose versions matter for the numbers.
PACKAGES = (
    "gammabar",
    "numpy",
    "scipy",
    "numba",
    "python-flint",
    "scikit-learn",
    "cvxpy-base",
    "clarabel",
    "qpsolvers",
    "daqp",
    "quadprog",
    "piqp",
)


def measure(sections: Iterable[str], quick: bool, say: Stage) -> dict[str, Any]:
    """Run sections, one after the other."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "quick": quick}
    document |= {"circumstances": circumstances(), "seconds": {}, "sections": {}}
    for name in sections:
        start = perf_counter()
        document["sections"][name] = section(name).measure(quick, say)
        document["seconds"][name] = round(perf_counter() - start, 1)
    return document


def merged(before: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """An earlier document with the sections of another run in the place of its own."""
    parts = {key: before[key] | document[key] for key in ("seconds", "sections")}
    dates = dict.fromkeys(document["sections"], document["circumstances"]["date"])
    return before | parts | {"dates": before.get("dates", {}) | dates}


def section(name: str) -> Any:
    """The module of a section."""
    assert name in SECTIONS
    return import_module(f"side_by_side.{name}")


def tables(document: dict[str, Any]) -> dict[str, list[Table]]:
    """The tables of every section that was run."""
    run = document["sections"]
    return {name: section(name).tables(run[name]) for name in SECTIONS if name in run}


def circumstances() -> dict[str, Any]:
    """What the numbers depend on: machine, threads, interpreter, packages."""
    from gammabar.problems.points import threads

    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "threads": threads(),
        "machine": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
