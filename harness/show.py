"""Results for people: a table by source, and what failed in full."""

from __future__ import annotations

import math
import re
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
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import counted, print_lines, print_table, say, visible
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
#: Up to so many statements are shown one by one, and so many failures in full.
FEW, FULL = 16, 4
LEGEND = (
    "tightness: measured over bound at the worst iterate (worst t); 1 means that the bound is"
    " attained"
)
#: What a mark means; only those that are shown are explained.
MARKS = {
    "✓": "✓ tested, as expected",
    "·": "a dot: vacuous, a solver that never moves passes as well",
    "—": "— known to be false, which is not held against your solver",
    "✗": "✗ FAILED",
}
#: Source → statement → its results.
_Grouped = dict[str, dict[str, list[Result]]]


def show_all(results: list[Result], summary: dict[str, int], seconds: float, full: bool) -> None:
    """Print the table, what failed, and a closing line."""
    show(results, full)
    for text in attention(results, full):
        print_lines(text)
        say()
    say(_closing_line(results, summary, seconds))


def show(results: list[Result], full: bool = False) -> None:
    """Print a line per statement; or, where these are many, a line per source unless `full`."""
    if len({result.verdict.statement for result in results}) > 1:  # as they stand in the papers
        known = find_sources(dict.fromkeys(result.source for result in results))
        order = {statement.id: place for place, statement in enumerate(known)}
        results = sorted(results, key=lambda result: order[result.verdict.statement])
    by_source: _Grouped = {
        source: {
            identifier: list(group)
            for identifier, group in groupby(of_source, key=lambda r: r.verdict.statement)
        }
        for source, of_source in groupby(results, key=lambda result: result.source)
    }
    if full or sum(map(len, by_source.values())) <= FEW:
        for source, statements in by_source.items():
            _one_by_one(source, statements)
        shown = {_mark(found) for of in by_source.values() for found in of.values()}
        say(" · ".join([LEGEND, *(text for mark, text in MARKS.items() if mark in shown)]))
    else:
        _by_source(by_source)
    say()


def _one_by_one(source: str, statements: dict[str, list[Result]]) -> None:
    results = [result for found in statements.values() for result in found]
    beside = any(r.verdict.reference is not None for r in results)
    own = list(dict.fromkeys(r.run.by for r in results if r.run.foreign))
    several = len(own) > 1  # one may err where another does not
    names = [source, *["solver"] * several, "problems", "verdict", "tightness"]
    names += [*["reference solver"] * beside, "worst t", ""]
    rows = [
        [identifier, *([by] if by else []), *_row(of_one, beside)]
        for identifier, found in statements.items()
        for by in (own if several else [None])
        if (of_one := [r for r in found if by in (None, r.run.by)])
    ]
    print_table(names, rows, title=source_name(source))
    for line in _reasons(results):
        say(line)


def _row(results: list[Result], beside: bool) -> list[str]:
    wrong = [result for result in results if not result.as_expected]
    refuted = [result for result in results if result.verdict.verdict is Ruling.REFUTED]
    worst = max(wrong or refuted or results, key=lambda r: r.tightness)
    problems = list(dict.fromkeys(result.run.problem for result in results))
    return [
        f"{len(problems)} problems" if len(problems) > 1 else problems[0] or "its own data",
        _verdict(results),
        _digits(worst.tightness),
        *([_digits(worst.verdict.reference)] if beside else []),
        "—" if worst.verdict.worst_t is None else str(worst.verdict.worst_t),
        _mark(results),
    ]


def _digits(value: float | None) -> str:
    return f"{value:.4g}" if value is not None and math.isfinite(value) else "—"


def _mark(results: list[Result]) -> str:
    """A tick for what was tested and is as expected, a dot for what is vacuous; or a dash."""
    if not all(result.as_expected for result in results):
        return "✗"
    if all(result.run.foreign and result.expected == Expectation.EITHER for result in results):
        return "—"
    return "✓" if is_tested(results) else "·"


def _verdict(results: list[Result]) -> str:
    """The verdict, or how often there is each, and whether a refutation was expected."""
    counts = Counter(result.verdict.verdict for result in results)
    parts = []
    for name in sorted(counts, key=_ORDER.index):
        text = name if len(counts) == 1 else f"{counts[name]} {name}"
        of_name = [result for result in results if result.verdict.verdict is name]
        if name is Ruling.HOLDS:
            text += _vacuous(of_name)
        if name is Ruling.REFUTED:
            known = all(result.as_expected for result in of_name)
            text += " (known to be false)" if known else " (FAILED)"
        parts.append(text)
    failures = sum(bool(result.verdict.failure) for result in results)
    return ", ".join(parts) + (f", {failures} failed" if failures else "")


def _vacuous(passes: list[Result]) -> str:
    """Of vacuous passes: that they are, or how many."""
    found = [r.verdict for r in passes if r.verdict.says_nothing]
    if not found:
        return ""
    if len(found) < len(passes):
        return f" ({len(found)} of them vacuous)"
    worst = max(found, key=lambda verdict: verdict.vacuous_to or 0)
    return f" ({worth(worst, obeyed_at_rest(worst.statement))})"


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


def _by_source(by_source: _Grouped) -> None:
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
            "known to be false —": marks["—"],
            "not reproducible": lost,
            "FAILED ✗": marks["✗"],
        }
        counts = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        say(f"{source}: {source_name(source)}")
        say(f"    {counted(every, 'statement')}: {counts}")
    say()
    _tightest([r for of in by_source.values() for found in of.values() for r in found])
    say("--all has a line per statement; `gammabar show ID` has everything about one of them")


def source_name(source: str) -> str:
    """Authors, year and title of a source."""
    return str(papers().get(source, {"oracle": "checks of the oracle itself"}.get(source, source)))


def _refuted(statements: dict[str, list[Result]]) -> Counter[Severity]:
    """By severity, the statements that are false as printed and were refuted, as expected."""
    found: Counter[Severity] = Counter()
    for identifier, results in statements.items():
        severity = find_statement(identifier).severity
        refuted = any(r.verdict.verdict is Ruling.REFUTED for r in results)
        if severity is not None and refuted and _mark(results) == "✓":
            found[severity] += 1
    return found


def _tightest(results: list[Result]) -> None:
    """Print the bound that holds and is nearest to being attained; identities have none."""
    held = [r for r in results if r.verdict.verdict is Ruling.HOLDS and math.isfinite(r.tightness)]
    held = [r for r in held if find_statement(r.verdict.statement).kind != "identity"]
    if not held:
        return
    best = max(held, key=lambda r: r.tightness)
    on = f" on {best.run.problem}" if best.run.problem else ""
    at = f" at t = {best.verdict.worst_t}" if best.verdict.worst_t is not None else ""
    ratio = f"{best.tightness:.6g}"
    say(f"tightest: {best.verdict.statement}, measured over bound {ratio}{at}{on}")


def _closing_line(results: list[Result], summary: dict[str, int], seconds: float) -> str:
    """What it all amounts to; of the statements that are false, how many in which way."""
    refuted = (r for r in results if r.verdict.verdict is Ruling.REFUTED)
    false = {r.verdict.statement for r in refuted if not (r.run.foreign and r.as_expected)}
    severities = by_severity(find_statement(identifier).severity for identifier in false)
    counts = ", ".join(f"{summary[name]:,} {name}" for name in Ruling if summary[name])
    failed = f" ({summary['failures']} because a solver failed)" if summary["failures"] else ""
    wrong, total = summary["unexpected"], summary["results"]
    statements = len({r.verdict.statement for r in results if not r.as_expected})
    about = f", of {counted(statements, 'statement')}" if statements != wrong else ""
    judgement = f"{wrong} FAILED{about}{failed}" if wrong else "all as expected"
    printed = f"; refuted as printed: {severities}" if severities else ""
    return f"{counted(total, 'verdict')}: {counts}; {judgement}{printed} ({seconds:.0f} s)"


def attention(results: list[Result], full: bool = False) -> list[str]:
    """What failed, for people; of a solver of one's own the first wrong step.

    What follows from the first wrong step is folded into a line, and so are other problems on which
    it is the same, and, unless `full`, what would not fit on a screen.
    """
    wrong = [result for result in results if not result.as_expected]
    runs: dict[object, list[Result]] = {}
    others: dict[object, list[Result]] = {}
    for result in wrong:
        if result.run.foreign and result.verdict.verdict is Ruling.REFUTED:
            runs.setdefault(result.run, []).append(result)
        else:  # a run that fails leaves all statements about it undecided
            why = result.verdict.failure and (result.run.by, result.verdict.reason)
            others.setdefault(why or len(others), []).append(result)
    alike: dict[object, list[list[Result]]] = {}
    for of_run in runs.values():
        of_run.sort(key=_first_wrong)
        alike.setdefault(_cause(of_run[0]), []).append(of_run)
    texts = [_rooted(*same) for same in alike.values()]
    texts += [_with_others(*some) for some in others.values()]
    rest = texts[FULL:]
    if full or not rest:
        return texts
    lines = "".join(f"\n    {text.partition(chr(10))[0]}" for text in rest[: 3 * FULL])
    more = f"\n    … and {len(rest) - 3 * FULL} more" if len(rest) > 3 * FULL else ""
    return [*texts[:FULL], f"in full with --all:{lines}{more}"]


def _first_wrong(result: Result) -> tuple[bool, int]:
    """The earliest identity that a run violates comes first, or else the earliest claim."""
    worst = result.verdict.worst_t
    kind = find_statement(result.verdict.statement).kind
    return kind != "identity", -1 if worst is None else worst


def _cause(root: Result) -> object:
    """What is the same on several problems: the solver and its mistake; where that is not known,
    the first wrong step and the claim that it violates."""
    mistake = re.sub(r"[\d/.]+", "", re.split("[;:]", root.verdict.hint)[0])  # without numbers
    if not mistake:
        return root.run
    claim = root.verdict.statement if "is not that of" in mistake else ""
    return root.run.by, claim, mistake


def _rooted(first: list[Result], *same: list[Result]) -> str:
    """The first wrong step of a run, what follows from it, and where else it is the same."""
    text = _with_others(*first)
    if same:
        where = dict.fromkeys(of_run[0].run.problem or "its own data" for of_run in same)
        text += f"\n    the same  on {', '.join(map(visible, where))}"
    return text


def _with_others(first: Result, *others: Result) -> str:
    """A result that failed in full, and the names of those that failed for the same reason."""
    if not others:
        return explain(first)
    refuted = first.verdict.verdict is Ruling.REFUTED
    shown = dict.fromkeys(
        r.verdict.statement + (f" (t = {r.verdict.worst_t})" if refuted else "") for r in others
    )
    more = f"{len(shown)} more are {first.verdict.verdict}: {', '.join(shown)}"
    return f"{explain(first)}\n    and so    {more}"


def explain(result: Result) -> str:
    """A result that failed, in full."""
    statement = find_statement(result.verdict.statement)
    verdict, run = result.verdict, result.run
    if verdict.failure:  # how tight the claim was until then is beside the point
        verdict = replace(verdict, worst_t=None, what="", where="", left="", right="", slack=None)
    solver = run.solver.title if run.solver is not None else ""
    text = explain_verdict(
        statement, verdict, problem=run.problem, solver=solver, reproduce=reproduce(result)
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
        words += run.solver.option
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
