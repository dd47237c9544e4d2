"""What the gate runs: what the suites name, and what the papers do; elsewhere, all there is.

A suite ``benchmarks/bench_*.py`` says what of it the gate runs in a literal ``GATED``: name of the
benchmark, a list of values for each of its parameters (all combinations are run), and, where a
number may not fall, or not change at all, "higher" or "same". A paper names statements whose
tightness must not change (`gammabar.harness.library.Paper`). So a new suite or paper is gated
without a line elsewhere.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import product
from pathlib import Path

from gammabar.harness.gate.compare import Gated
from gammabar.harness.gate.sides import Side
from gammabar.harness.library import papers
from gammabar.problems import ProblemError

#: Deterministic numbers first, then memory, then times: what fails soon, fails first.
_ORDER = ("track", "mem", "peakmem", "time")
#: Its parameter is the id of a statement.
_TIGHTNESS = "bench_papers.Tightness.track_worst"


def plan(suites: Path, counts_only: bool = False) -> list[Gated]:
    """The benchmarks of the gate.

    Parameters
    ----------
    suites : Path
        The folder of the asv suites.
    counts_only : bool
        Only what the clock cannot touch.
    """
    found = [gated for path in sorted(suites.glob("bench_*.py")) for gated in named(path)]
    found += [
        Gated(_TIGHTNESS, (statement,), "same")
        for paper in papers().values()
        for statement in paper.gated
    ]
    found.sort(key=lambda gated: _ORDER.index(gated.kind))
    return [gated for gated in found if not counts_only or gated.kind == "track"]


def foreign(suites: Path, side: Side, counts_only: bool = False) -> list[Gated]:
    """The benchmarks of a suite of somebody else: those that it names in ``GATED``, or all.

    Parameters
    ----------
    suites : Path
        The folder of the suites.
    side : Side
        A process that can import them.
    counts_only : bool
        Only what the clock cannot touch.
    """
    paths = sorted(suites.rglob("*.py"))
    found = [gated for path in paths for gated in named(path, suites)] or surveyed(side)
    found.sort(key=lambda gated: _ORDER.index(gated.kind))
    return [gated for gated in found if not counts_only or gated.kind == "track"]


def surveyed(side: Side) -> list[Gated]:
    """Every benchmark that asv finds, for every combination of its parameters."""
    side.tell(list=True)
    answer = side.answer()
    if "error" in answer:
        raise ProblemError(f"the benchmarks cannot be read: {answer['error']}")
    count: Counter[str] = Counter()
    found = []
    for name, _, parameters in answer["benchmarks"]:
        gated = Gated(name, tuple(parameters), number=count[name])
        count[name] += 1
        if gated.kind in _ORDER:  # asv has more kinds: timeraw_ starts an interpreter each time
            found.append(gated)
    return found


def named(path: Path, suites: Path | None = None) -> list[Gated]:
    """What a suite wants to have gated; the suite is read, not imported."""
    inside = path.relative_to(suites or path.parent).with_suffix("")
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GATED":
            break
    else:
        return []
    try:
        return [
            Gated(f"{'.'.join(inside.parts)}.{name}", parameters, *better)
            for name, values, *better in ast.literal_eval(node.value)
            for parameters in product(*values)
        ]
    except (ValueError, TypeError):
        raise ProblemError(
            f"{path}, line {node.lineno}: GATED is a literal list of (name, [values, …], …)"
        ) from None
