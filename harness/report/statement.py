"""The part of the page about one statement."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gammabar
from gammabar.harness.library import papers, witness
from gammabar.harness.report.assumptions import described
from gammabar.harness.report.chart import chart
from gammabar.harness.report.markup import Markup, join, tag
from gammabar.harness.report.mathml import formula
from gammabar.harness.report.model import Finding, standing
from gammabar.harness.report.names import public
from gammabar.harness.report.planar import drawing
from gammabar.harness.run.results import Result
from gammabar.harness.run.show import reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, worth

_ROOT = Path(gammabar.__file__).resolve().parents[1]
#: So many runs are listed; the rest is counted.
MOST_RUNS = 40


def chip(text: str, kind: str | None = None) -> Markup:
    """A word on a coloured ground; the colour never says what the word does not."""
    return tag("span", text, class_=f"chip {(kind or text).replace(' ', '-')}")


@dataclass(frozen=True)
class Context:
    """What is known besides the runs of a statement.

    Attributes
    ----------
    killers : dict
        Statement → the wrong solvers that it refutes.
    certified : set of str
        Problems whose certificate the independent checker has accepted.
    present : set of str
        The statements that links may lead to.
    target : str
        Where a link leads, with {} for the id.
    """

    killers: dict[str, list[str]]
    certified: set[str]
    present: set[str]
    target: str = "#{}"

    def link(self, identifier: str) -> Markup:
        """A link to a statement, if there is something to lead to."""
        if identifier not in self.present:
            return tag("code", identifier)
        return tag("a", identifier, href=self.target.format(identifier))


def article(finding: Finding, context: Context) -> Markup:
    """A line that opens to all that is known about a statement."""
    statement = finding.statement
    words = statement.words if statement else "a statement that no open paper has"
    severity = finding.severity
    about = " ".join([finding.id, words, statement.reference if statement else ""])
    summary = tag(
        "summary",
        chip(finding.standing),
        chip(severity, "severity") if severity else "",
        tag("span", tag("code", finding.id), class_="id"),
        tag("span", words, class_="words"),
        tag("span", _figure(finding.worst.verdict.tightness), class_="tight", title="tightness"),
    )
    # The target of links is inside: browsers open what is closed around it.
    here = tag("a", "Link to this statement", href=f"#{finding.id}")
    inside = (*body(finding, context), tag("p", here, class_="permalink"))
    return tag(
        "details",
        summary,
        tag("div", *inside, class_="body", id=finding.id),
        class_="statement",
        data_source=finding.source,
        data_standing=finding.standing,
        data_severity=severity or "",
        data_kind=statement.kind if statement else "",
        data_text=about.lower(),
    )


def body(finding: Finding, context: Context) -> Iterator[Markup]:
    """All that is known about a statement, and what was found, if anything was run."""
    statement = finding.statement
    if statement is None:
        yield tag("p", "Open its paper with ", tag("code", "--paper FILE"), " to see what it says.")
    else:
        yield tag("p", Markup(formula(statement.claim)), class_="claim")
        yield tag("p", statement.words)
        if statement.severity is not None:
            yield _falsity(statement, context)
        yield _facts(statement)
    if finding.drawn:
        yield tag("div", *(_picture(one) for one in finding.drawn), class_="pictures")
    if finding.results:
        yield from _worst(finding.worst, statement)
        yield _runs(finding, context.certified)
    yield _power(statement, context.killers.get(finding.id, []))
    if finding.results and statement is not None:
        yield tag("p", "The same again: ", tag("code", public(reproduce(finding.worst))))


def _facts(statement: Statement) -> Markup:
    paper = papers().get(statement.source)
    facts: list[tuple[str, object]] = [("Reference", statement.reference)]
    if paper is not None:
        facts.append(("Source", f"{paper}{f', {paper.venue}' if paper.venue else ''}"))
    facts.append(("Kind", statement.kind))
    if statement.assumes:
        found = dict.fromkeys(filter(None, map(described, statement.assumes)))
        facts.append(("Assumes", tag("ul", *(tag("li", one) for one in found))))
    if statement.solvers:
        facts.append(("About", ", ".join(statement.solvers)))
    if statement.instances:
        facts.append(("Tested at", statement.instances))
    if statement.note:
        facts.append(("Note", statement.note))
    facts.append(("Code", tag("code", code_place(statement))))
    return tag(
        "dl", *(part for name, value in facts for part in (tag("dt", name), tag("dd", value)))
    )


def code_place(statement: Statement) -> str:
    """The file and line of a statement, in the repository."""
    try:
        file = inspect.getsourcefile(statement.body) or ""
        line = inspect.getsourcelines(statement.body)[1]
    except (OSError, TypeError):
        return str(getattr(statement.body, "__module__", ""))
    return f"{_relative(Path(file))}:{line}"


def _relative(path: Path) -> str:
    """A path from the root of the repository; only the name of what lies elsewhere."""
    path = path.resolve()
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else path.name


def _picture(result: Result) -> Markup:
    verdict = result.verdict
    silent = verdict.vacuous_to
    what = verdict.what or "what is measured against its bound"
    label = f"{what}, over t, for {public(result.run.by)} on {public(result.run.problem)}"
    notes: list[object] = [tag("span", "measured", class_="key measured")]
    notes.append(tag("span", "bound", class_="key bound"))
    if silent is not None:
        notes.append(tag("span", f"says nothing up to t = {silent}", class_="key silent"))
    where = join(
        [tag("code", public(result.run.by)), " on ", tag("code", public(result.run.problem))]
    )
    return tag(
        "figure",
        Markup(chart(verdict.curve, verdict.worst_t, label, silent)),
        tag("figcaption", tag("b", what), tag("br"), where, tag("br"), join(notes, " ")),
    )


def _worst(result: Result, statement: Statement | None) -> Iterator[Markup]:
    verdict = result.verdict
    if verdict.says_nothing:
        at_rest = (statement.at_rest or statement.powerless) if statement is not None else ""
        yield tag("p", f"It {worth(verdict, at_rest)}.", class_="reason")
    if verdict.reason and verdict.verdict is not Ruling.REFUTED:
        yield tag("p", public(verdict.reason), class_="reason")
    if verdict.left:
        at = "" if verdict.worst_t is None else f" at t = {verdict.worst_t}"
        where = f" ({public(verdict.where)})" if verdict.where else ""
        yield tag(
            "p",
            f"Closest{at}{where}: ",
            tag("code", verdict.left),
            " against ",
            tag("code", verdict.right),
            f", {verdict.what}" if verdict.what else "",
            class_="sides",
        )


def _falsity(statement: Statement, context: Context) -> Markup:
    """How a statement is false: severity, witness, and what is true instead."""
    parts: list[object] = [tag("h4", f"False as printed: {statement.severity}")]
    if statement.why:
        parts.append(tag("p", statement.why))
    others = {statement.charitable: "A charitable reading: ", statement.fixed_by: "The true form: "}
    for other, name in others.items():
        if other:
            parts.append(tag("p", name, context.link(other)))
    if statement.survives:
        parts.append(tag("p", "What survives: ", statement.survives))
    path = witness(statement.id)
    if path is not None:
        data = json.loads(path.read_text(encoding="utf-8")).get("data", {})
        parts.insert(0, Markup(drawing(data)))
        shown = json.dumps(data, ensure_ascii=False)
        parts.append(tag("details", tag("summary", "The witness"), tag("pre", shown)))
        check = f"gammabar check {statement.id}"
        parts.append(tag("p", "Checked by a program of its own: ", tag("code", check)))
    return tag("section", *parts, class_="falsity")


def _runs(finding: Finding, certified: set[str]) -> Markup:
    """A table of the runs, those first that matter most."""
    order = {ruling: place for place, ruling in enumerate(Ruling)}
    ordered = sorted(
        finding.results,
        key=lambda r: (
            r.as_expected,
            -order[Ruling(r.verdict.verdict)],
            -(r.verdict.tightness or 0),
        ),
    )
    heads = ["problem", "solver", "verdict", "tightness", "worst t", "compared", "informative"]
    shown = ordered[:MOST_RUNS]
    # A column for certificates, where some were made: else it says nothing in every row.
    known = certified if any(r.run.problem in certified for r in shown) else None
    if known is not None:
        heads.append("γ̄ certified")
    rows = [tag("tr", *_cells(r, known)) for r in shown]
    more = len(ordered) - len(rows)
    table = tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *(tag("th", h, scope="col") for h in heads))),
            tag("tbody", *rows),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=f"runs of {finding.id}",
    )
    note = tag("p", f"and {more} more, see the exported table", class_="more") if more else ""
    return join([table, note])


def _cells(result: Result, certified: set[str] | None) -> Iterator[Markup]:
    verdict, problem = result.verdict, result.run.problem
    seed = f", seed {result.run.seed}" if result.run.seed else ""
    yield tag("td", public(problem) or "its own data")
    yield tag("td", (public(result.run.by) or "—") + seed)
    yield tag("td", chip(standing(result)))
    yield tag("td", _bar(verdict.tightness), class_="number")
    yield tag("td", "—" if verdict.worst_t is None else verdict.worst_t, class_="number")
    yield tag("td", f"{verdict.checked:,}", class_="number")
    known = verdict.informative is not None
    yield tag("td", f"{verdict.informative:,}" if known else "—", class_="number")
    if certified is not None:
        yield tag("td", "yes" if problem in certified else "—")


def _bar(tightness: float | None) -> Markup:
    """The number, and a bar of that length: full is an exhausted bound."""
    if tightness is None or not math.isfinite(tightness):
        return tag("span", "—")
    share = round(100 * min(1.0, max(0.0, tightness)))
    inside = tag("i", style=f"width:{share}%")
    return join([_figure(tightness), tag("span", inside, class_="bar", aria_hidden="true")])


def _figure(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.3g}"


def _power(statement: Statement | None, killed: list[str]) -> Markup:
    if killed:
        names = join([tag("code", name) for name in killed], ", ")
        return tag("p", f"Refutes {len(killed)} wrong solver{'s' * (len(killed) > 1)}: ", names)
    reason = getattr(statement, "powerless", "")
    return tag("p", "Refutes no wrong solver: ", reason) if reason else Markup()
