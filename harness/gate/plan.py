"""What the gate runs: what the suites name, and what the papers do; elsewhere, all there is.

A suite ``benchmarks/bench_*.py`` says what of it the gate runs in a literal ``GATED``: name of the
benchmark, a list of values for each of its parameters (all combinations are run), and, where a
number may not fall, or not change at all, "higher" or "same". A paper names statements whose
tightness must not change (`gammabar.harness.paper.Paper`). So a new suite or paper is gated
without a line elsewhere.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from gammabar.harness.gate.checkouts import Side
from gammabar.harness.gate.compare import BETTER, Gated
from gammabar.harness.registry import papers
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
    paths = sorted(path for path in suites.glob("bench_*.py") if path.is_file())
    found = [gated for path in paths for gated in _named(path)]
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
    paths = sorted(path for path in suites.rglob("*.py") if path.is_file())
    found = [gated for path in paths for gated in _named(path, suites)] or _surveyed(side)
    found.sort(key=lambda gated: _ORDER.index(gated.kind))
    return [gated for gated in found if not counts_only or gated.kind == "track"]


def _surveyed(side: Side) -> list[Gated]:
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


def _named(path: Path, suites: Path | None = None) -> list[Gated]:
    """What a suite wants to have gated; the suite is read, not imported."""
    inside = path.relative_to(suites or path.parent).with_suffix("")
    value = _assigned(path)
    if value is None:
        return []
    if not isinstance(value, ast.List | ast.Tuple):
        raise _no_literal(path, value.lineno)
    return [gated for node in value.elts for gated in _entry(path, node, ".".join(inside.parts))]


def _assigned(path: Path) -> ast.expr | None:
    """What stands for ``GATED`` in a suite; None if it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in texts of others
            body = ast.parse(path.read_bytes(), str(path)).body  # bytes: it may say its encoding
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise ProblemError(f"{path}{where}: the suite is no Python: {error.msg}") from None
    except ValueError as error:  # a null byte
        raise ProblemError(f"{path}: the suite is no Python: {error}") from None
    except (RecursionError, MemoryError):
        raise ProblemError(f"{path}: the suite is no Python: it is nested too deeply") from None
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="GATED"), *_])
                | ast.AnnAssign(target=ast.Name(id="GATED"))
            ):
                return node.value
    return None


def _entry(path: Path, node: ast.expr, module: str) -> list[Gated]:
    """One entry of ``GATED``, for every combination of its parameters."""
    try:
        name, values, *better = _row(ast.literal_eval(node))
        json.dumps(values)  # the processes that run it are told in JSON
        combinations = list(product(*map(_row, _row(values))))
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise _no_literal(path, node.lineno) from None
    if not isinstance(name, str) or len(better) > 1 or not combinations:
        raise _no_literal(path, node.lineno)
    where = f"{path}, line {node.lineno}: GATED has"
    if any(one not in BETTER for one in better):
        raise ProblemError(
            f"{where} {better[0]!r:.60} as a direction: it is one of {', '.join(BETTER)}"
        )
    found = [Gated(f"{module}.{name}", values, *better) for values in combinations]
    if found[0].kind not in _ORDER:
        begins = ", ".join(f"{kind}_" for kind in _ORDER)
        raise ProblemError(
            f"{where} {name!r:.60}, whose kind is unknown: a name begins with one of {begins}"
        )
    return found


def _row(value: Any) -> list[Any] | tuple[Any, ...]:
    """A list or a tuple: texts and dictionaries can be walked through as well."""
    if not isinstance(value, list | tuple):
        raise TypeError
    return value


def _no_literal(path: Path, line: int) -> ProblemError:
    return ProblemError(
        f"{path}, line {line}: GATED is a literal list of (name, [values, …]) or (name, "
        "[values, …], direction), with a list of texts, numbers or lists of them as values"
    )
