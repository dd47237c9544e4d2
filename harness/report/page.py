"""The report as one page of HTML: no network, no script needed to read it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files

from gammabar.harness.library import matrix, papers
from gammabar.harness.report.grid import grid
from gammabar.harness.report.markup import Markup, tag
from gammabar.harness.report.model import Finding, Report, Standing
from gammabar.harness.report.names import public
from gammabar.harness.report.statement import Context, article, chip
from gammabar.harness.run.registry import everything
from gammabar.harness.run.show import explain
from gammabar.harness.verify.verdict import Ruling, Severity

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
