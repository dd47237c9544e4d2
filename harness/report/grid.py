"""The matrix statements × problems."""

from __future__ import annotations

from collections.abc import Callable

from gammabar.harness.report.markup import Markup, tag
from gammabar.harness.report.model import Finding, Report, Standing, standing
from gammabar.harness.report.names import public
from gammabar.harness.run.results import Result

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
