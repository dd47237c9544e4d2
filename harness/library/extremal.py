"""Extremal problems: where a true statement comes nearest to failing, as far as is known.

``extremal.json`` in the package of a paper names one run for each of its bounds. They are part of
the plan of ``gammabar verify``, and docs/tightness.md shows them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gammabar.problems import ProblemError

FORMAT, VERSION = "gammabar-extremal", 1


@dataclass(frozen=True)
class Extremal:
    """The run in which a statement came nearest to failing.

    Attributes
    ----------
    problem, solver : str
        As ``gammabar verify`` takes them; "" for a statement that brings its own.
    iterations, seed : int
        See `gammabar.harness.verify.context.Trial`.
    tightness : float
        Measured over bound, at the worst iterate.
    worst_t : int or None
        That iterate.
    what : str
        What is compared there.
    found_by : str
        A strategy of ``gammabar falsify``, or "plan".
    runs : int
        How many runs were tried in the search; 0 where there is nothing to search.
    """

    problem: str
    solver: str
    iterations: int
    seed: int
    tightness: float
    worst_t: int | None
    what: str
    found_by: str
    runs: int


def read(path: Path) -> dict[str, Extremal]:
    """The runs in a file, by statement.

    Raises
    ------
    ProblemError
        If the file is not one of these.
    """
    wrong = f"{path}: not a file of extremal problems ({FORMAT}, version {VERSION})"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ProblemError(wrong)
        found = {name: Extremal(**values) for name, values in document["statements"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProblemError(wrong) from error
    return found


def as_document(found: Mapping[str, Extremal]) -> dict[str, Any]:
    """For JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "statements": {name: asdict(one) for name, one in found.items()},
    }
