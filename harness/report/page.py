"""The report as one page of HTML: no network, no script needed to read it."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import gammabar
from gammabar.harness.registry import everything, matrix, papers, witness
from gammabar.harness.report.charts import Markup, chart, drawing, join, tag
from gammabar.harness.report.mathml import formula
from gammabar.harness.report.model import Finding, Report, Standing, described, public, standing
from gammabar.harness.run.results import Result
from gammabar.harness.show import explain, reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Severity, worth

#: More problems than these do not fit on a page: then a column is a family of problems.
MOST = 24
#: A sign for each, so that nobody needs the colours.
SIGNS = {
    Standing.UNEXPECTED: "!",
    Standing.REFUTED: "✕",
    Standing.UNDECIDED: "?",
    Standing.VACUOUS: "○",
    Standing.HOLDS: "●",
    Standing.NOT_REPRODUCIBLE: "~",
    Standing.INAPPLICABLE: "·",
}


def grid(report: Report) -> Markup:
    """The table, with a legend."""
    many = len(report.problems) > MOST
    column = _family if many else _name
    columns = list(dict.fromkeys(column(result) for result in report.results))
    heads = [tag("th", tag("span", name), scope="col") for name in columns]
    bodies = [
        tag("tbody", *(_row(finding, columns, column) for finding in findings))
        for findings in report.sources.values()
    ]
    table = tag("table", tag("thead", tag("tr", tag("th"), *heads)), *bodies, class_="grid")
    used = [kind for kind in Standing if any(standing(r) is kind for r in report.results)]
    legend = [tag("li", tag("b", SIGNS[kind], class_=_class(kind)), f" {kind}") for kind in used]
    note = "A column is a family of problems, a number counts its runs." if many else ""
    return tag(
        "div",
        tag("ul", *legend, tag("li", note), class_="legend"),
        tag(
            "div",
            table,
            class_="scroll matrix",
            tabindex="0",
            role="region",
            aria_label="statements and problems",
        ),
    )


def _name(result: Result) -> str:
    return public(result.run.problem) or "own data"


def _family(result: Result) -> str:
    """What stands before the options of a problem."""
    return (
        public(result.run.problem).split()[0].partition(":")[0]
        if result.run.problem
        else "own data"
    )


def _row(finding: Finding, columns: list[str], column: Callable[[Result], str]) -> Markup:
    cells: dict[str, list[Result]] = {}
    for result in finding.results:
        cells.setdefault(column(result), []).append(result)
    head = tag("th", tag("a", finding.id, href=f"#{finding.id}"), scope="row")
    return tag("tr", head, *(_cell(cells.get(name, [])) for name in columns))


def _cell(results: list[Result]) -> Markup:
    if not results:
        return tag("td")
    found = [standing(result) for result in results]
    worst = min(found, key=list(Standing).index)
    tightest = max(
        (r.verdict.tightness for r in results if r.verdict.tightness is not None), default=None
    )
    names = list(dict.fromkeys(public(r.run.problem) for r in results if r.run.problem))
    title = f"{worst}, {len(results)} run{'s' * (len(results) > 1)}"
    title += f", tightness {tightest:.3g}" if tightest is not None else ""
    title += f": {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else ""
    count = tag("small", len(results)) if len(results) > 1 else ""
    return tag("td", SIGNS[worst], count, class_=_class(worst), title=title)


def _class(kind: Standing) -> str:
    return kind.replace(" ", "-")


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


#: A check of the plan: the independent checker accepts the certificate of γ̄.
_CERTIFICATE = "oracle.certificate"


def page(report: Report, title: str = "gammabar report") -> str:
    """The whole page."""
    style, script = _asset("style.css"), _asset("script.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # Nothing is loaded, and no script runs but the one of this page.
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the statements", href="#statements", class_="skip"),
        tag("header", *_summary(report, title)),
        tag("main", *_sections(report)),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _asset(name: str) -> Markup:
    text = files("gammabar.harness.report").joinpath(name).read_text(encoding="utf-8")
    return Markup(f"\n{text}")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _sections(report: Report) -> Iterator[Markup]:
    if report.unexpected:
        yield _attention(report)
    yield _false(report)
    yield tag("section", tag("h2", "Statements × problems"), grid(report), id="matrix")
    yield _statements(report)
    yield _provenance(report)


# --- the five seconds


def _summary(report: Report, title: str) -> Iterator[Markup]:
    count, results = len(report.findings), len(report.results)
    wrong = len(report.unexpected)
    if wrong:
        said = f"{wrong:,} of {results:,} verdicts {'is' if wrong == 1 else 'are'} not expected"
    else:
        said = f"All {results:,} verdicts as expected"
    yield tag("p", title, class_="title")
    yield tag("h1", said, class_="bad" if wrong else "good")
    problems = len([p for p in report.problems if p])
    yield tag(
        "p",
        f"{count:,} statements from {len(report.sources)} sources, on {problems:,} problems."
        " Comparisons are proved, without a tolerance.",
    )
    yield tag("ul", *_tiles(report), class_="tiles")
    yield tag(
        "ul", *(_source(key, found) for key, found in report.sources.items()), class_="sources"
    )


def _tiles(report: Report) -> Iterator[Markup]:
    severities = report.severities
    ways = ", ".join(f"{severities[one]} {one}" for one in Severity if severities[one])
    notes = {
        Standing.UNEXPECTED: "look at these first",
        Standing.HOLDS: "at every iterate heard",
        Standing.REFUTED: ways or "as expected",
        Standing.VACUOUS: "a solver that stands still would pass, too",
    }
    names = {Standing.HOLDS: "hold", Standing.REFUTED: "false as printed"}
    order = dict.fromkeys([Standing.UNEXPECTED, *names, *Standing])
    for kind in order:
        number = report.standings[kind]
        if number or kind in names:
            name = names.get(kind, _plural(kind))
            kinds = f"tile {kind.replace(' ', '-')}"
            small = tag("small", notes.get(kind, "statements"))
            yield tag("li", tag("b", f"{number:,}"), tag("span", name), small, class_=kinds)


def _source(key: str, findings: list[Finding]) -> Markup:
    """A bar of the statements of a paper."""
    paper = papers().get(key)
    name = (
        str(paper) if paper is not None else "the oracle's own checks" if key == "oracle" else key
    )
    counts = Counter(finding.standing for finding in findings)
    parts = [
        tag("i", class_=kind.replace(" ", "-"), style=f"flex-grow:{counts[kind]}")
        for kind in Standing
        if counts[kind]
    ]
    words = ", ".join(f"{counts[kind]} {_plural(kind)}" for kind in Standing if counts[kind])
    return tag(
        "li",
        tag("code", key),
        tag("span", name, class_="paper"),
        tag("span", *parts, class_="stack", aria_hidden="true"),
        tag("small", words),
    )


def _plural(kind: Standing) -> str:
    return {Standing.HOLDS: "hold", Standing.VACUOUS: "say nothing"}.get(kind, str(kind))


# --- what to look at


def _attention(report: Report) -> Markup:
    known = everything()
    parts: list[Markup] = []
    for result in report.unexpected[:50]:
        identifier = result.verdict.statement
        text = (
            public(explain(result))
            if identifier in known
            else f"{identifier}: {result.verdict.verdict}"
        )
        parts.append(tag("li", tag("a", identifier, href=f"#{identifier}"), tag("pre", text)))
    more = len(report.unexpected) - len(parts)
    note = tag("p", f"and {more} more, see the statements") if more > 0 else ""
    return tag("section", tag("h2", "Not expected"), tag("ul", *parts), note, id="attention")


def _false(report: Report) -> Markup:
    present = {finding.id for finding in report.findings}
    rows = [
        tag(
            "tr",
            tag("td", chip(severity, "severity")),
            tag("td", tag("a", finding.id, href=f"#{finding.id}")),
            tag("td", finding.statement.words),
            tag("td", _link(finding.statement.fixed_by, present)),
        )
        for severity in Severity
        for finding in report.findings
        if finding.standing is Standing.REFUTED
        and finding.statement is not None
        and finding.severity is severity
    ]
    if not rows:
        return Markup()
    heads = ("how", "statement", "as printed", "true form")
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", one, scope="col") for one in heads))),
        tag("tbody", *rows),
    )
    inside = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="refuted")
    return tag("section", tag("h2", "False as printed"), inside, id="refuted")


def _link(identifier: str | None, present: set[str]) -> Markup | str:
    if identifier not in present:
        return identifier or "—"
    return tag("a", identifier, href=f"#{identifier}")


# --- the statements


def context_of(report: Report) -> Context:
    """Who kills whom, and which problems have a certificate that was checked."""
    killers: dict[str, list[str]] = {}
    for mutant, found in matrix().items():
        for identifier in found:
            killers.setdefault(identifier, []).append(mutant)
    certified = {
        result.run.problem
        for result in report.results
        if result.verdict.statement == _CERTIFICATE and result.verdict.verdict is Ruling.HOLDS
    }
    return Context(killers, certified, {finding.id for finding in report.findings})


def _statements(report: Report) -> Markup:
    context = context_of(report)
    articles = (article(finding, context) for finding in report.findings)
    return tag(
        "section",
        tag("h2", "Statements"),
        tag(
            "p",
            "Tightness is what was measured over its bound, at the worst iterate: 1 is an exhausted"
            " bound. γ̄ is exact, or enclosed with proof; ",
            tag("code", "gammabar oracle DATA --certificate c.json"),
            " writes the certificate, ",
            tag("code", "gammabar check c.json DATA"),
            " checks it.",
            class_="about",
        ),
        _filters(report),
        *articles,
        tag("p", "Nothing fits.", id="none", hidden=True),
        id="statements",
    )


def _filters(report: Report) -> Markup:
    """Shown by the script, since nothing but the script can use them."""
    kinds = sorted({f.statement.kind for f in report.findings if f.statement is not None})
    standings = [kind for kind in Standing if report.standings[kind]]
    severities = [kind for kind in Severity if report.severities[kind]]
    return tag(
        "form",
        tag("input", type="search", name="text", placeholder="Search  ( / )", aria_label="Search"),
        _choice("source", "every source", list(report.sources)),
        _choice("standing", "every verdict", [str(kind) for kind in standings]),
        _choice("severity", "every severity", [str(kind) for kind in severities]),
        _choice("kind", "every kind", kinds),
        tag("button", "open all", type="button", name="all"),
        tag("output", f"{len(report.findings)} statements", aria_live="polite"),
        id="filters",
        hidden=True,
        autocomplete="off",
    )


def _choice(name: str, everything: str, values: list[str]) -> Markup:
    options = [tag("option", everything, value="")]
    options += [tag("option", value, value=value) for value in values]
    return tag("select", *options, name=name, aria_label=name)


# --- where it comes from


def _provenance(report: Report) -> Markup:
    parts: list[Markup] = [tag("h2", "Provenance")]
    for facts in report.origins[-5:]:
        pairs = [(name, str(value)) for name, value in facts.items() if value]
        parts.append(tag("dl", *(p for n, v in pairs for p in (tag("dt", n), tag("dd", v)))))
    seeds = sorted({result.run.seed for result in report.results})
    shown = ", ".join(map(str, seeds[:20])) + (", …" if len(seeds) > 20 else "")
    parts.append(tag("p", f"Seeds: {shown}. Generators have theirs in the names of the problems."))
    counts = Counter(result.run.problem for result in report.results)
    rows = [
        tag(
            "tr",
            tag("td", public(problem) or "data that statements bring themselves"),
            tag("td", f"{counts[problem]:,}", class_="number"),
            tag("td", tag("code", report.data.get(problem, "—"))),
        )
        for problem in report.problems
    ]
    heads = ("problem", "verdicts", "SHA-256 of its data (canonical form)")
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", *rows),
    )
    scroll = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="problems")
    parts.append(tag("details", tag("summary", f"{len(rows)} problems"), scroll, class_="problems"))
    return tag("section", *parts, id="provenance")
