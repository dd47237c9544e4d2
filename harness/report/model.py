"""The model of a report: results grouped by statement; texts without folders and user names."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import gammabar
from gammabar.harness.registry import everything, is_tested
from gammabar.harness.run.tasks import Result, settle, telling
from gammabar.harness.screen import counted
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Severity


class Standing(StrEnum):
    """What all runs together say of a statement, worst first."""

    UNEXPECTED = "failed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    HOLDS = "holds"
    NOT_REPRODUCIBLE = "not reproducible"
    INAPPLICABLE = "inapplicable"


def standing(result: Result) -> Standing:
    """What one run says."""
    verdict = result.verdict
    if not result.as_expected:
        return Standing.UNEXPECTED
    if verdict.says_nothing:
        return Standing.VACUOUS
    return Standing(str(verdict.verdict))


@dataclass(frozen=True)
class Finding:
    """All that was found about one statement."""

    id: str
    statement: Statement | None  #: None if no paper that is open has it
    results: tuple[Result, ...]

    @property
    def source(self) -> str:
        """The key of its paper."""
        return self.id.partition(".")[0]

    @cached_property
    def standing(self) -> Standing:
        """A statement that holds in one run and says nothing in another holds."""
        found = {standing(result) for result in self.results}
        if self.statement is not None and is_tested(self.results):
            found = {Standing.HOLDS if one is Standing.VACUOUS else one for one in found}
        return next(one for one in Standing if one in found)

    @property
    def severity(self) -> Severity | None:
        """How it is false, if it is known to be."""
        return self.statement.severity if self.statement is not None else None

    @cached_property
    def worst(self) -> Result:
        """The run to look at first: not expected, else refuted, else the tightest that tells."""
        wrong = [r for r in self.results if not r.as_expected]
        refuted = [r for r in self.results if r.verdict.verdict is Ruling.REFUTED]
        telling = [r for r in self.results if not r.verdict.says_nothing]
        return max(wrong or refuted or telling or self.results, key=lambda r: r.tightness)

    @property
    def in_order(self) -> list[Result]:
        """The runs, those first that matter most."""
        order = list(Ruling)

        def key(result: Result) -> tuple[Any, ...]:
            verdict = result.verdict
            place = order.index(Ruling(verdict.verdict))
            return result.as_expected, -place, -(verdict.tightness or 0)

        return sorted(self.results, key=key)

    @cached_property
    def drawn(self) -> list[Result]:
        """The runs whose pictures tell most: the one to look at first, and the most telling."""
        curves = [r for r in self.results if len(r.verdict.curve) > 1]
        if not curves:
            return []
        fullest = max(curves, key=lambda r: (r.verdict.informative or 0, r.verdict.curve[-1][0]))
        if self.worst not in curves or self.worst is fullest:
            return [fullest]
        return [self.worst, fullest]


def tally(findings: Iterable[Finding]) -> Counter[Standing]:
    """How many statements stand how, worst first."""
    order = list(Standing)
    return Counter(sorted((finding.standing for finding in findings), key=order.index))


@dataclass(frozen=True)
class Report:
    """What is reported."""

    findings: tuple[Finding, ...]  #: in the order of the papers
    #: With what the results were computed, see `gammabar.harness.run.provenance`.
    origins: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)  #: problem → hash of its data

    @property
    def results(self) -> list[Result]:
        return [result for finding in self.findings for result in finding.results]

    @cached_property
    def unexpected(self) -> list[Result]:
        return [result for result in self.results if not result.as_expected]

    @property
    def outcome(self) -> str:
        """How many verdicts failed, in a line."""
        total, failed = len(self.results), len(self.unexpected)
        said = f"{failed or total:,} of {counted(total, 'verdict')}"
        return f"{said} failed" if failed else f"{said} as expected"

    @property
    def severities(self) -> Counter[Severity | None]:
        """Of the statements that were refuted as expected, how many are false in which way."""
        refuted = (f for f in self.findings if f.standing is Standing.REFUTED)
        return Counter(finding.severity for finding in refuted)

    @property
    def sources(self) -> dict[str, list[Finding]]:
        """The findings by paper."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.source, []).append(finding)
        return found

    @property
    def problems(self) -> list[str]:
        """Every problem, in the order in which they come."""
        return list(dict.fromkeys(result.run.problem for result in self.results))


def gather(
    results: Iterable[Result],
    origins: list[dict[str, Any]] | None = None,
    data: dict[str, str] | None = None,
) -> Report:
    """A report on results; of a run that was made twice, the later one counts."""
    latest: dict[tuple[Any, ...], Result] = {}
    for result in results:
        run = result.run
        which = (result.verdict.statement, run.problem, run.by, run.seed, run.iterations)
        latest.pop(which, None)
        latest[which] = result
    known = everything()
    order = {identifier: place for place, identifier in enumerate(known)}
    groups: dict[str, list[Result]] = {}
    settled = settle(list(latest.values()))
    for result in telling(settled, asked=lambda result: False, each_problem=False):
        groups.setdefault(result.verdict.statement, []).append(result)
    ordered = sorted(groups, key=lambda identifier: order.get(identifier, len(order)))
    findings = tuple(Finding(i, known.get(i), tuple(groups[i])) for i in ordered)
    return Report(findings, origins or [], data or {})


def described(assumption: Any) -> str:
    """The first line of its docstring, or else its name; "" if it has neither.

    Examples
    --------
    >>> from gammabar.papers import separable
    >>> described(separable)
    'Some w has only positive scores.'
    """
    words = (inspect.getdoc(assumption) or "").partition("\n")[0]
    name = getattr(assumption, "__name__", "<lambda>")
    return words or ("" if name == "<lambda>" else name.replace("_", " ").strip())


def place_of(body: Any) -> str | None:
    """File and line, as an editor takes them; of what is made while it runs, that of its module."""
    places: tuple[Any, ...] = (inspect.unwrap(body), inspect.getmodule(body))
    for one in places:
        try:
            file, line = inspect.getsourcefile(one), inspect.getsourcelines(one)[1]
        except (TypeError, OSError):
            continue
        if file is not None:
            return f"{_short(Path(file))}:{max(line, 1)}"
    return None


def _short(path: Path) -> Path:
    """From this folder, if it leads there; else as it stands in the project."""
    path = path.resolve()
    for root in (Path.cwd(), Path(gammabar.__file__).resolve().parents[1]):
        if path.is_relative_to(root):
            return path.relative_to(root)
    return path


#: An absolute path: of it, only its last part is shown. No address such as https://… is one.
_PATH = re.compile(
    r"(?:(?<![\w.:/~<])|(?<=\btrajectory:))(?:~[\w.-]*|[A-Za-z]:)?(?:[/\\][^\s/\\:'\"`<>|()]+)+[/\\](?=[^\s/\\])"
)
#: The same between quotation marks, where it may have blanks.
_QUOTED = re.compile(
    r"(?P<mark>['\"])(?:~[\w.-]*|[A-Za-z]:)?[/\\][^'\"]*[/\\](?P<last>[^'\"/\\]+)(?P=mark)"
)


def public(text: str) -> str:
    """The text with every absolute path cut down to the name of its file.

    Examples
    --------
    >>> public("/home/ada/data/points.csv --label kind")
    'points.csv --label kind'
    >>> public("trajectory:/home/ada/w.npy:step=1")
    'trajectory:w.npy:step=1'
    """
    text = _QUOTED.sub(r"\g<mark>\g<last>\g<mark>", text)
    return _PATH.sub("", text)
