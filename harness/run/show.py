"""Results for people: a table by source, and what was not expected in full."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from dataclasses import replace
from itertools import groupby

from gammabar.harness.court.message import explain as explain_verdict
from gammabar.harness.court.message import worth
from gammabar.harness.court.verdict import Expectation, Ruling, by_severity
from gammabar.harness.library import opened_from
from gammabar.harness.run.registry import everything, obeyed_at_rest
from gammabar.harness.run.results import VERDICTS, Result
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.screen.output import print_table, visible

#: Verdicts as people read them, worst first.
_ORDER = (
    Ruling.REFUTED,
    Ruling.UNDECIDED,
    Ruling.HOLDS,
    Ruling.NOT_REPRODUCIBLE,
    Ruling.INAPPLICABLE,
)
COLUMNS = ("statement", "problems", "verdict", "tightness", "worst t", "")


def show(results: list[Result]) -> None:
    """Print one table per source, with one line per statement."""
    known = everything()
    order = {identifier: place for place, identifier in enumerate(known)}
    sources = list(dict.fromkeys(statement.source for statement in known.values()))
    ordered = sorted(results, key=lambda r: (sources.index(r.source), order[r.verdict.statement]))
    for source, of_source in groupby(ordered, key=lambda result: result.source):
        rows = [
            _row(identifier, list(group))
            for identifier, group in groupby(of_source, key=lambda r: r.verdict.statement)
        ]
        print_table((source, *COLUMNS[1:]), rows)


def _row(identifier: str, results: list[Result]) -> tuple[str, ...]:
    wrong = [result for result in results if not result.as_expected]
    refuted = [result for result in results if result.verdict.verdict is Ruling.REFUTED]
    worst = max(wrong or refuted or results, key=_tightness)
    tightness = _tightness(worst)
    worst_t = worst.verdict.worst_t
    return (
        identifier,
        _problems(results),
        _verdict(results),
        f"{tightness:.4g}" if math.isfinite(tightness) else "—",
        "—" if worst_t is None else str(worst_t),
        _mark(results),
    )


def _mark(results: list[Result]) -> str:
    """A tick for what was tested and is as expected, and nothing for what says nothing."""
    if not all(result.as_expected for result in results):
        return "✗"
    tested = (r.verdict.verdict is Ruling.REFUTED or r.verdict.informative for r in results)
    return "✓" if any(tested) else "·"


def _tightness(result: Result) -> float:
    value = result.verdict.tightness
    return -math.inf if value is None or math.isnan(value) else value


def _problems(results: list[Result]) -> str:
    names = list(dict.fromkeys(result.run.problem for result in results))
    if len(names) == 1:
        return names[0] or "its own data"
    return f"{len(names)} problems"


def _verdict(results: list[Result]) -> str:
    """The verdict, or how often there is each, and whether a refutation was expected."""
    counts = Counter(result.verdict.verdict for result in results)
    refuted = [result for result in results if result.verdict.verdict is Ruling.REFUTED]
    parts = []
    for name in sorted(counts, key=_ORDER.index):
        text = name if len(counts) == 1 else f"{counts[name]} {name}"
        if name is Ruling.HOLDS:
            text += _empty([r for r in results if r.verdict.says_nothing], counts[name])
        if name is Ruling.REFUTED:
            text += " (expected)" if all(r.as_expected for r in refuted) else " (not expected)"
        parts.append(text)
    failures = sum(bool(result.verdict.failure) for result in results)
    return ", ".join(parts) + (f", {failures} failed" if failures else "")


def _empty(results: list[Result], holds: int) -> str:
    """Of passes that say nothing: that they do, or how many."""
    if not results:
        return ""
    if len(results) < holds:
        return f" ({len(results)} of them say nothing)"
    worst = max(results, key=lambda r: r.verdict.vacuous_to or 0)
    return f" ({worth(worst.verdict, obeyed_at_rest(worst.verdict.statement))})"


def refuted_by_severity(results: list[Result]) -> str:
    """How many statements were refuted that are known to be false, by how they are false."""
    known = everything()
    found = {r.verdict.statement for r in results if r.verdict.verdict is Ruling.REFUTED}
    return by_severity(known[i].severity for i in found)


def closing_line(summary: dict[str, int], seconds: float, severities: str = "") -> str:
    """What it all amounts to; of the statements that are false, how many in which way."""
    counts = ", ".join(f"{summary[name]} {name}" for name in VERDICTS if summary[name])
    wrong = summary["unexpected"]
    failed = f" ({summary['failures']} because a solver failed)" if summary["failures"] else ""
    judgement = f"{wrong} not expected{failed}" if wrong else "all as expected"
    total = summary["results"]
    false = f"; refuted as printed: {severities}" if severities else ""
    return f"{total} verdict{'s' * (total != 1)}: {counts}; {judgement}{false} ({seconds:.0f} s)"


def explain(result: Result) -> str:
    """A result that was not expected, in full."""
    statement = everything()[result.verdict.statement]
    solver = result.run.solver.made if isinstance(result.run.solver, InFile) else result.run.by
    verdict = result.verdict
    if verdict.failure:  # how tight the claim was until then is beside the point
        verdict = replace(verdict, worst_t=None, what="", where="", left="", right="", slack=None)
    text = explain_verdict(
        statement,
        verdict,
        problem=result.run.problem,
        solver=solver,
        reproduce=reproduce(result),
    )
    if result.expected == Expectation.REFUTED:
        note = visible(statement.note) or "see the registry"
        text += f"\n    expected  refuted: {note}"
    return text


def reproduce(result: Result) -> str:
    """A command that leads to the same result."""
    words = ["gammabar", "verify"]
    run, paper = result.run, opened_from(result.source)
    if paper is not None:
        words += ["--paper", paper]
    if run.solver is not None:
        words += ["--solver-file" if run.solver.foreign else "--solver", run.solver.text]
    words += ["--statement", result.verdict.statement]
    if run.problem:
        words += ["--problem", run.problem]
    if everything()[result.verdict.statement].about_runs:
        heard, worst = run.iterations, result.verdict.worst_t
        if result.verdict.verdict is Ruling.REFUTED and worst is not None:
            heard = max(worst, 1)
        words += ["--iterations", str(heard)]
    if run.seed:
        words += ["--seed", str(run.seed)]
    return shlex.join(words)
