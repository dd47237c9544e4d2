"""The report as one page of HTML: no network, no script needed to read it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gammabar.harness.registry import everything, matrix, papers, witness
from gammabar.harness.report.charts import TEMPLATES, chart, drawing, drawn, environment
from gammabar.harness.report.mathml import formula
from gammabar.harness.report.model import (
    Finding,
    Report,
    Standing,
    described,
    place_of,
    public,
    standing,
    tally,
)
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import counted
from gammabar.harness.show import attention, reproduce, source_name
from gammabar.harness.verify.verdict import Ruling, Severity, by_severity, worth

#: More problems than these do not fit on a page: then a column is a family of problems.
_MOST = 24
#: A sign for each, so that nobody needs the colours.
_SIGNS = {
    Standing.UNEXPECTED: "!",
    Standing.REFUTED: "✕",
    Standing.UNDECIDED: "?",
    Standing.VACUOUS: "○",
    Standing.HOLDS: "●",
    Standing.NOT_REPRODUCIBLE: "~",
    Standing.INAPPLICABLE: "·",
}
#: A check of the plan: the independent checker accepts the certificate of γ̄.
_CERTIFICATE = "oracle.certificate"


@dataclass(frozen=True)
class _Context:
    """What is known besides the runs of a statement."""

    killers: dict[str, list[str]]  #: statement → the wrong solvers that it refutes
    certified: set[str]  #: problems whose certificate the independent checker has accepted
    present: set[str]  #: the statements that links may lead to
    target: str = "#{}"  #: where a link leads, with {} for the id


def context_of(report: Report) -> _Context:
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
    return _Context(killers, certified, {finding.id for finding in report.findings})


def page(report: Report) -> str:
    """The whole page."""
    style, script = _asset("style.css"), _asset("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(
        _templates()
        .get_template("page.html")
        .render(
            report=report,
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
            context=context_of(report),
            ways=by_severity(report.severities.elements()),
            attention=_failed(report),
            refuted=_refuted(report),
            grid=_grid(report),
            signs=_SIGNS,
            choices=_choices(report),
            seeds=sorted({result.run.seed for result in report.results}),
            runs=Counter(result.run.problem for result in report.results),
        )
    )


def body(finding: Finding, context: _Context) -> Markup:
    """All that is known about a statement, and what was found, if anything was run."""
    module: Any = _templates().get_template("statement.html").module
    return Markup(module.body(finding, context))


def _templates() -> Any:
    made: Any = environment()
    filters: dict[str, Any] = {
        "counted": counted,
        "described": described,
        "figure": _figure,
        "formula": lambda text: Markup(formula(text)),
        "json": lambda data: json.dumps(data, ensure_ascii=False),
        "plural": lambda kind: "hold" if kind == Standing.HOLDS else str(kind),
        "public": public,
        "reproduce": reproduce,
        "slug": lambda text: text.replace(" ", "-"),
        "standing": standing,
        "tally": tally,
    }
    made.filters |= filters
    made.globals |= {
        "chart": chart,
        "drawing": drawing,
        "papers": papers,
        "place_of": place_of,
        "source_name": source_name,
        "witness_data": _witness_data,
        "worth": worth,
    }
    return made


def _asset(name: str) -> Markup:
    return Markup("\n" + (TEMPLATES / name).read_text(encoding="utf-8"))


def _failed(report: Report) -> list[tuple[str, str]]:
    """Ids of statements that failed, with explanations; a first wrong step is explained once."""
    known = [r for r in report.unexpected if r.verdict.statement in everything()]
    texts = [public(text) for text in attention(known, full=True)]
    unknown = [r.verdict for r in report.unexpected if r.verdict.statement not in everything()]
    return [
        *((text.partition(" ")[0], text) for text in texts),
        *((verdict.statement, f"{verdict.statement}: {verdict.verdict}") for verdict in unknown),
    ]


def _refuted(report: Report) -> list[Finding]:
    """The statements that are false as printed, the worst first."""
    found = [one for one in report.findings if one.standing is Standing.REFUTED and one.severity]
    return sorted(found, key=lambda one: list(Severity).index(one.severity or Severity.SUBSTANCE))


def _choices(report: Report) -> dict[str, list[str]]:
    """What the statements of the page can be chosen by."""
    return {
        "source": list(report.sources),
        "standing": [str(kind) for kind in tally(report.findings)],
        "severity": [str(kind) for kind in Severity if report.severities[kind]],
        "kind": sorted({f.statement.kind for f in report.findings if f.statement is not None}),
    }


def _grid(report: Report) -> dict[str, Any]:
    families = len(report.problems) > _MOST

    def column(result: Result) -> str:
        """The problem, or what stands before its options."""
        name = public(result.run.problem) or "own data"
        return name.split()[0].partition(":")[0] if families and result.run.problem else name

    columns = list(dict.fromkeys(column(result) for result in report.results))
    used = {standing(result) for result in report.results}

    def cells(finding: Finding) -> list[dict[str, Any] | None]:
        found: dict[str, list[Result]] = {}
        for result in finding.results:
            found.setdefault(column(result), []).append(result)
        return [_cell(found[name]) if name in found else None for name in columns]

    return {
        "families": families,
        "columns": columns,
        "kinds": [kind for kind in Standing if kind in used],
        "bodies": [
            [(finding.id, cells(finding)) for finding in findings]
            for findings in report.sources.values()
        ],
    }


def _cell(results: list[Result]) -> dict[str, Any]:
    worst = min(map(standing, results), key=list(Standing).index)
    known = [r.verdict.tightness for r in results if r.verdict.tightness is not None]
    names = list(dict.fromkeys(public(r.run.problem) for r in results if r.run.problem))
    title = f"{worst}, {counted(len(results), 'run')}"
    title += f", tightness {max(known):.3g}" if known else ""
    title += f": {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else ""
    return {"kind": worst, "title": title, "runs": len(results)}


def _figure(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _witness_data(identifier: str) -> dict[str, Any] | None:
    path = witness(identifier)
    if path is None:
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("data", {})
    return data


def badge(report: Report) -> str:
    """A badge for a README: "gammabar | 156 hold, 35 false as printed"."""
    failed, counts = len(report.unexpected), tally(report.findings)
    parts = [f"{counts[Standing.HOLDS]} hold"]
    if counts[Standing.REFUTED]:
        parts.append(f"{counts[Standing.REFUTED]} false as printed")
    said = f"{failed} failed" if failed else ", ".join(parts)
    left, right = (round(6.6 * len(text) + 20) for text in ("gammabar", said))
    colour = "#c2252b" if failed else "#1a7f4b"
    return drawn("badge.svg", said=said, left=left, right=right, colour=colour)
