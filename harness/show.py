"""Results for people: a table by source, and what was not expected in full."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from dataclasses import replace
from itertools import groupby

from gammabar.harness.registry import (
    find_sources,
    find_statement,
    is_tested,
    obeyed_at_rest,
    opened_from,
    papers,
)
from gammabar.harness.run.tasks import VERDICTS, Result, Run
from gammabar.harness.screen import print_table, say, visible
from gammabar.harness.verify.verdict import (
    Expectation,
    Ruling,
    Severity,
    by_severity,
    explain as explain_verdict,
    worth,
)

#: Verdicts as people read them, worst first.
_ORDER = (
    Ruling.REFUTED,
    Ruling.UNDECIDED,
    Ruling.HOLDS,
    Ruling.NOT_REPRODUCIBLE,
    Ruling.INAPPLICABLE,
)
COLUMNS = ("statement", "problems", "verdict", "tightness", "worst t", "")
#: Up to so many statements are shown one by one, and so many unexpected verdicts in full.
FEW, FULL = 16, 4
LEGEND = (
    "tightness: what was measured over its bound at the worst iterate (worst t), 1 is an exhausted"
    " bound"
)
#: What a mark means; only those that are shown are explained.
MARKS = {
    "✓": "✓ tested, as expected",
    "·": "a dot: vacuous, a solver that never moves passes as well",
    "✗": "✗ FAILED",
}


def show(results: list[Result], full: bool = False) -> None:
    """Print a line per statement; or, where these are many, a line per source unless `full`."""
    ordered = _in_order(results)
    by_source = {
        source: {
            identifier: list(group)
            for identifier, group in groupby(of_source, key=lambda r: r.verdict.statement)
        }
        for source, of_source in groupby(ordered, key=lambda result: result.source)
    }
    if full or sum(map(len, by_source.values())) <= FEW:
        _one_by_one(by_source)
        shown = {_mark(found) for of in by_source.values() for found in of.values()}
        say(" · ".join([LEGEND, *(text for mark, text in MARKS.items() if mark in shown)]))
    else:
        _by_source(by_source)
    say()


def _in_order(results: list[Result]) -> list[Result]:
    """The results as their statements stand in the papers."""
    if len({result.verdict.statement for result in results}) == 1:
        return results
    known = find_sources(dict.fromkeys(result.source for result in results))
    order = {statement.id: place for place, statement in enumerate(known)}
    return sorted(results, key=lambda result: order[result.verdict.statement])


def _one_by_one(by_source: dict[str, dict[str, list[Result]]]) -> None:
    for source, statements in by_source.items():
        results = [result for found in statements.values() for result in found]
        beside = any(r.verdict.reference is not None for r in results)
        own = dict.fromkeys(r.run.by for r in results if r.run.foreign)
        names = [source, *COLUMNS[1:]]
        if beside:
            names.insert(4, "reference solver")
        if len(own) > 1:  # one may err where another does not
            names.insert(1, "solver")
        rows = []
        for identifier, found in statements.items():
            for by in own if len(own) > 1 else [None]:
                of_one = [r for r in found if by in (None, r.run.by)]
                if of_one:
                    row = list(_row(identifier, of_one, beside))
                    rows.append([row[0], by, *row[1:]] if by is not None else row)
        print_table(names, rows, title=_named(source))
        for line in _reasons(results):
            say(line)


def _reasons(results: list[Result]) -> list[str]:
    """Why statements are inapplicable to a solver of one's own."""
    found: dict[tuple[str, str], list[str]] = {}
    for r in results:
        if r.run.foreign and r.verdict.verdict is Ruling.INAPPLICABLE:
            found.setdefault((r.run.by, r.verdict.reason), []).append(r.verdict.statement)
    return [
        f"inapplicable to {by}: {', '.join(dict.fromkeys(names))}: {reason}"
        for (by, reason), names in found.items()
    ]


def _by_source(by_source: dict[str, dict[str, list[Result]]]) -> None:
    """How many statements of each source hold, are vacuous, or are false as printed."""
    for source, statements in by_source.items():
        marks = Counter(_mark(found) for found in statements.values())
        refuted = _refuted(statements)
        hold, every = marks["✓"] - refuted.total(), len(statements)
        lost = sum(
            all(r.verdict.verdict is Ruling.NOT_REPRODUCIBLE for r in found)
            for found in statements.values()
        )
        parts = {
            "holds ✓" if hold == 1 else "hold ✓": hold,
            f"false as printed ✓ ({by_severity(refuted.elements())})": refuted.total(),
            "vacuous or not tested": marks["·"] - lost,
            "not reproducible": lost,
            "FAILED ✗": marks["✗"],
        }
        counts = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        say(f"{source}: {_named(source)}")
        say(f"    {every} statement{'' if every == 1 else 's'}: {counts}")
    say()
    tightest = _tightest(by_source)
    if tightest is not None:
        verdict, run = tightest.verdict, tightest.run
        on = f" on {run.problem}" if run.problem else ""
        at = f" at t = {verdict.worst_t}" if verdict.worst_t is not None else ""
        ratio = f"{verdict.tightness:.6g}"
        say(f"tightest: {verdict.statement}, measured over bound {ratio}{at}{on}")
    say("--all has a line per statement; `gammabar show ID` has everything about one of them")


def _named(source: str) -> str:
    """Who wrote it, and what it is called."""
    paper = papers().get(source)
    if paper is None:
        return "checks of the oracle itself" if source == "oracle" else source
    return str(paper)


def _refuted(statements: dict[str, list[Result]]) -> Counter[Severity]:
    """By severity, the statements that are false as printed and were refuted, as expected."""
    found: Counter[Severity] = Counter()
    for identifier, results in statements.items():
        severity = find_statement(identifier).severity
        refuted = any(r.verdict.verdict is Ruling.REFUTED for r in results)
        if severity is not None and refuted and _mark(results) == "✓":
            found[severity] += 1
    return found


def _tightest(by_source: dict[str, dict[str, list[Result]]]) -> Result | None:
    """The bound that holds and is nearest to being exhausted; identities have none."""
    held = [
        result
        for statements in by_source.values()
        for identifier, results in statements.items()
        for result in results
        if find_statement(identifier).kind != "identity" and result.verdict.verdict is Ruling.HOLDS
    ]
    best = max(held, key=lambda r: r.tightness, default=None)
    return best if best is not None and math.isfinite(best.tightness) else None


def _row(identifier: str, results: list[Result], beside: bool) -> tuple[str, ...]:
    wrong = [result for result in results if not result.as_expected]
    refuted = [result for result in results if result.verdict.verdict is Ruling.REFUTED]
    worst = max(wrong or refuted or results, key=lambda r: r.tightness)
    worst_t = worst.verdict.worst_t
    return (
        identifier,
        _problems(results),
        _verdict(results),
        _digits(worst.tightness),
        *([_digits(worst.verdict.reference)] if beside else []),
        "—" if worst_t is None else str(worst_t),
        _mark(results),
    )


def _mark(results: list[Result]) -> str:
    """A tick for what was tested and is as expected, and a dot for what is vacuous."""
    if not all(result.as_expected for result in results):
        return "✗"
    return "✓" if is_tested(results) else "·"


def _digits(value: float | None) -> str:
    return f"{value:.4g}" if value is not None and math.isfinite(value) else "—"


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
            known = all(r.as_expected for r in refuted)
            text += " (known to be false)" if known else " (FAILED)"
        parts.append(text)
    failures = sum(bool(result.verdict.failure) for result in results)
    return ", ".join(parts) + (f", {failures} failed" if failures else "")


def _empty(results: list[Result], holds: int) -> str:
    """Of vacuous passes: that they are, or how many."""
    if not results:
        return ""
    if len(results) < holds:
        return f" ({len(results)} of them vacuous)"
    worst = max(results, key=lambda r: r.verdict.vacuous_to or 0)
    return f" ({worth(worst.verdict, obeyed_at_rest(worst.verdict.statement))})"


def refuted_by_severity(results: list[Result]) -> str:
    """How many statements were refuted that are known to be false, by how they are false."""
    found = {r.verdict.statement for r in results if r.verdict.verdict is Ruling.REFUTED}
    return by_severity(find_statement(i).severity for i in found)


def closing_line(summary: dict[str, int], seconds: float, severities: str = "") -> str:
    """What it all amounts to; of the statements that are false, how many in which way."""
    counts = ", ".join(f"{summary[name]} {name}" for name in VERDICTS if summary[name])
    wrong = summary["unexpected"]
    failed = f" ({summary['failures']} because a solver failed)" if summary["failures"] else ""
    judgement = f"{wrong} FAILED{failed}" if wrong else "all as expected"
    total = summary["results"]
    false = f"; refuted as printed: {severities}" if severities else ""
    return f"{total} verdict{'s' * (total != 1)}: {counts}; {judgement}{false} ({seconds:.0f} s)"


def attention(results: list[Result], full: bool = False) -> list[str]:
    """What failed, for people: of a solver of one's own the root first.

    What follows from the first wrong step is folded into a line; so is, unless `full`, what would
    not fit on a screen.
    """
    wrong = [result for result in results if not result.as_expected]
    runs: dict[Run, list[Result]] = {}
    for result in wrong:
        if result.run.foreign and result.verdict.verdict is Ruling.REFUTED:
            runs.setdefault(result.run, []).append(result)
    texts = [_rooted(of_run) for of_run in runs.values()]
    texts += [explain(r) for r in wrong if r not in runs.get(r.run, ())]
    rest = texts[FULL:]
    if full or not rest:
        return texts
    lines = "".join(f"\n    {text.partition(chr(10))[0]}" for text in rest[: 3 * FULL])
    more = f"\n    … and {len(rest) - 3 * FULL} more" if len(rest) > 3 * FULL else ""
    return [*texts[:FULL], f"in full with --all:{lines}{more}"]


def _rooted(results: list[Result]) -> str:
    """The earliest identity that a run violates, or else the earliest claim, and what follows."""

    def place(result: Result) -> tuple[bool, int]:
        worst = result.verdict.worst_t
        kind = find_statement(result.verdict.statement).kind
        return kind != "identity", -1 if worst is None else worst

    first, *others = sorted(results, key=place)
    text = explain(first)
    if others:
        shown = [f"{r.verdict.statement} (t = {r.verdict.worst_t})" for r in others]
        text += f"\n    and so    {len(shown)} more are refuted: {', '.join(shown)}"
    return text


def explain(result: Result) -> str:
    """A result that failed, in full."""
    statement = find_statement(result.verdict.statement)
    solver = result.run.solver.title if result.run.solver is not None else ""
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
        words += [run.solver.option, run.solver.argument]
    if run.like:
        words += ["--as", run.like]
    words += ["--statement", result.verdict.statement]
    if run.problem:
        words += ["--problem", run.problem]
    if find_statement(result.verdict.statement).about_runs:
        heard, worst = run.iterations, result.verdict.worst_t
        if result.verdict.verdict is Ruling.REFUTED and worst is not None:
            heard = max(worst, 1)
        words += ["--iterations", str(heard)]
    if run.seed:
        words += ["--seed", str(run.seed)]
    return shlex.join(words)
