"""Results as JUnit XML, which continuous-integration servers read."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as xml

from gammabar.harness.run.results import Result
from gammabar.harness.verify.verdict import Ruling
from gammabar.problems.output import write_whole

#: What is neither a pass nor a failure.
_SKIPPED = (Ruling.INAPPLICABLE, Ruling.NOT_REPRODUCIBLE)

#: Characters that XML 1.0 does not have.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, results: list[Result], explain: Callable[[Result], str]) -> None:
    """Write one test case per result, one suite per source.

    Parameters
    ----------
    path : Path
    results : list of Result
    explain : callable
        What to say about a result that was not expected.
    """
    root = xml.Element("testsuites", name="gammabar")
    ordered = sorted(results, key=lambda result: result.source)
    for source, group in groupby(ordered, key=lambda result: result.source):
        _suite(root, source, list(group), explain)
    xml.indent(root)
    document = xml.tostring(root, encoding="unicode", xml_declaration=False)
    write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n')


def _suite(
    root: xml.Element, source: str, results: list[Result], explain: Callable[[Result], str]
) -> None:
    wrong = [result for result in results if not result.as_expected]
    errors = sum(bool(result.verdict.failure) for result in wrong)
    # A run counts once, though several statements hear it.
    runs = {(r.run, r.seconds) for r in results}
    skipped = sum(r.verdict.verdict in _SKIPPED and r.as_expected for r in results)
    suite = xml.SubElement(
        root,
        "testsuite",
        name=source,
        tests=str(len(results)),
        errors=str(errors),
        failures=str(len(wrong) - errors),
        skipped=str(skipped),
        time=f"{sum(seconds for _, seconds in runs):.6f}",
    )
    for result in results:
        _case(suite, result, explain)


def _case(suite: xml.Element, result: Result, explain: Callable[[Result], str]) -> None:
    verdict = result.verdict
    by, on = (
        f"{word} {text}" if text else ""
        for word, text in (("by", result.run.by), ("on", result.run.problem))
    )
    name = " ".join(filter(None, (verdict.statement, on, by, f"seed {result.run.seed}")))
    case = xml.SubElement(
        suite,
        "testcase",
        classname=verdict.statement,
        name=_legal(name),
        time=f"{result.seconds:.6f}",
    )
    if not result.as_expected:
        kind = "error" if verdict.failure else "failure"
        expected = f"{verdict.failure or verdict.verdict} (expected: {result.expected})"
        element = xml.SubElement(case, kind, message=_legal(expected), type=verdict.verdict)
        element.text = _legal(explain(result))
    elif verdict.verdict in _SKIPPED:
        xml.SubElement(case, "skipped", message=_legal(verdict.reason))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
