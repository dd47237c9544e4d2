"""The report as Markdown, short enough for a pull request."""

from __future__ import annotations

import re

from gammabar.harness.library import papers
from gammabar.harness.report.model import Report, Standing
from gammabar.harness.report.names import public
from gammabar.harness.run.results import Result
from gammabar.harness.verify.verdict import Severity

#: So many verdicts that were not expected are told one by one.
MOST = 30


def markdown(report: Report) -> str:
    """The summary, and all that was not expected."""
    wrong, results = report.unexpected, len(report.results)
    said = (
        f"{len(wrong):,} of {results:,} verdicts not expected"
        if wrong
        else f"all {results:,} verdicts as expected"
    )
    lines = [f"### {'❌' if wrong else '✅'} gammabar: {said}", ""]
    kinds = [kind for kind in Standing if report.standings[kind]]
    lines += [_row("source", *kinds), _row("---", *("---:" for _ in kinds))]
    for key, findings in report.sources.items():
        counts = [sum(f.standing is kind for f in findings) for kind in kinds]
        paper = papers().get(key)
        name = f"{plain(key)}: {plain(paper.title)}" if paper is not None else plain(key)
        lines.append(_row(name, *(count or "" for count in counts)))
    severities = report.severities
    ways = ", ".join(f"{severities[one]} {one}" for one in Severity if severities[one])
    if ways:
        lines += ["", f"Refuted as printed, as expected: {ways}."]
    if wrong:
        lines += [
            "",
            "| statement | problem | solver | verdict | at t | why |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_wrong(result) for result in wrong[:MOST]]
        if len(wrong) > MOST:
            lines += ["", f"… and {len(wrong) - MOST:,} more."]
    for facts in report.origins[-1:]:
        shown = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
        lines += ["", f"<sub>{plain(shown)}</sub>"]
    return "\n".join(lines) + "\n"


def _wrong(result: Result) -> str:
    verdict, run = result.verdict, result.run
    why = verdict.reason or verdict.what
    at = "" if verdict.worst_t is None else verdict.worst_t
    texts = (verdict.statement, run.problem, run.by, str(verdict.verdict), str(at), why)
    return _row(*(plain(public(text)) for text in texts))


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def plain(text: str) -> str:
    """A text that Markdown takes for nothing but text, on one line."""
    text = " ".join(text.split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A backslash keeps a sign from meaning anything; a zero-width space keeps names from being
    # called and addresses from being linked.
    text = re.sub(r"([\\`*_{}\[\]()#+!|~$^=-])", r"\\\1", text)
    return re.sub(r"@(?=\w)|(?<=:)//|(?<=www)\.", lambda found: f"{found[0]}\u200b", text)
