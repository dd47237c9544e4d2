"""Results as tables: Markdown for a pull request, CSV and Parquet for programs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gammabar.harness.registry import papers
from gammabar.harness.report.model import Report, public, tally
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import visible
from gammabar.harness.verify.verdict import by_severity, worth
from gammabar.problems.environment import extra_module
from gammabar.problems.output import whole

#: So many failures are told one by one.
_MOST = 30


def markdown(report: Report) -> str:
    """The summary, and all that failed."""
    wrong = report.unexpected
    kinds = list(tally(report.findings))
    lines = [
        f"### {'❌' if wrong else '✅'} gammabar: {report.outcome}",
        "",
        _line("source", *kinds),
    ]
    lines.append(_line("---", *("---:" for _ in kinds)))
    for key, findings in report.sources.items():
        counts = tally(findings)
        paper = papers().get(key)
        name = f"{plain(key)}: {plain(paper.title)}" if paper is not None else plain(key)
        lines.append(_line(name, *(counts.get(kind, "") for kind in kinds)))
    if ways := by_severity(report.severities.elements()):
        lines += ["", f"Refuted as printed, as expected: {ways}."]
    if wrong:
        lines += ["", _line("statement", "problem", "solver", "verdict", "at t", "why")]
        lines += ["|---|---|---|---|---|---|", *_failed(wrong[:_MOST])]
    if len(wrong) > _MOST:
        lines += ["", f"… and {len(wrong) - _MOST:,} more."]
    for facts in report.origins[-1:]:
        shown = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
        lines += ["", f"<sub>{plain(shown)}</sub>"]
    return "\n".join(lines) + "\n"


def _failed(results: Sequence[Result]) -> Iterator[str]:
    """A row for each; the mistake of a solver is told once."""
    told = set()
    for verdict, run in ((result.verdict, result.run) for result in results):
        why = verdict.hint or worth(verdict) or verdict.reason or verdict.what
        if verdict.hint and (run.by, why) in told:
            why = "as above"
        told.add((run.by, why))
        at = "" if verdict.worst_t is None else verdict.worst_t
        texts = (verdict.statement, run.problem, run.by, str(verdict.verdict), str(at), why)
        yield _line(*(plain(public(text)) for text in texts))


def _line(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def plain(text: str) -> str:
    """A text that Markdown takes for nothing but text, on one line."""
    text = visible(" ".join(text.split()))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A backslash keeps a sign from meaning anything; a zero-width space keeps names from being
    # called and addresses from being linked.
    text = re.sub(r"([\\`*_{}\[\]()#+!|~$^=-])", r"\\\1", text)
    return re.sub(r"@(?=\w)|(?<=:)//|(?<=www)\.", lambda found: f"{found[0]}\u200b", text)


#: Columns that are numbers, where there is one, and those that are whole ones.
_FLOATS = ("tightness", "slack", "seconds", "reference")
_WHOLE = ("worst_t", "checked", "escalated", "informative", "vacuous_to", "seed", "iterations")


def _rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """A row for each result, all with the same columns; what is no single value is JSON."""
    return [{name: _field(value) for name, value in r.as_dict().items()} for r in results]


def _field(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return visible(value) if isinstance(value, str) else json.dumps(value)


def write_csv(results: Sequence[Result], path: Path) -> None:
    """UTF-8, with a header; a missing number is an empty cell.

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    table = _rows(results)
    with whole(path) as file:
        writer = csv.DictWriter(file, list(table[0]) if table else ["statement"])
        writer.writeheader()
        writer.writerows({name: _tame(value) for name, value in row.items()} for row in table)


def _tame(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def write_parquet(results: Sequence[Result], path: Path) -> None:
    """With types: texts, booleans, doubles, whole numbers."""
    pyarrow = extra_module("pyarrow", "parquet", "a Parquet file")
    parquet = extra_module("pyarrow.parquet", "parquet", "a Parquet file")
    table = _rows(results)
    names = list(table[0]) if table else ["statement"]
    kinds = dict.fromkeys(_FLOATS, pyarrow.float64()) | dict.fromkeys(_WHOLE, pyarrow.int64())
    kinds["as_expected"] = pyarrow.bool_()
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in names])
    with whole(path, "wb") as file:  # pyarrow takes no name that is not UTF-8
        parquet.write_table(pyarrow.Table.from_pylist(table, schema=schema), file)
