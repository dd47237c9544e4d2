"""Many statements one after the other, in one command that can be interrupted and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gammabar.harness.falsify.candidate import Candidate
from gammabar.harness.falsify.record import as_document, candidate_from, starts
from gammabar.harness.falsify.search import Hunt, Report, space_of, unexpected
from gammabar.harness.falsify.strategies import Space
from gammabar.harness.registry import PaperRef
from gammabar.harness.run.pool import Crew
from gammabar.harness.run.provenance import search_key
from gammabar.harness.run.specs import SolverRef
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError
from gammabar.problems.output import write_whole

FORMAT, VERSION = "gammabar-falsify-many", 1


class Batch:
    """Searches for each of some statements, each with the same part of the time.

    Parameters
    ----------
    statements : list of Statement
    budget : float
        Seconds for all searches together; making refutations smaller comes on top.
    path : Path or None
        Where reports are kept. A statement that has had its time there is not searched again;
        one that has had a part of it goes on from its best, with what is left. A report counts
        only as long as it is about the same statement, paper, solvers and source code, and, if
        nothing was found, the same seed; else its best is no more than a place to begin.
    solvers : tuple of SolverRef
        The user's choice; by default those that a statement is about.
    seed, jobs, refs
        See `gammabar.harness.falsify.search.Hunt`.
    """

    def __init__(
        self,
        statements: list[Statement],
        *,
        budget: float,
        path: Path | None = None,
        solvers: tuple[SolverRef, ...] = (),
        seed: int = 0,
        jobs: int = 1,
        refs: tuple[PaperRef, ...] = (),
    ) -> None:
        self.statements = [s for s in statements if s.status is not Status.NOT_REPRODUCIBLE]
        self.share = budget / max(len(self.statements), 1)
        self.path, self.solvers = path, solvers
        self.seed, self.jobs, self.refs = seed, jobs, refs
        #: Reports that are about what is asked, and those that are not, or not any more.
        self.kept: dict[str, dict[str, Any]] = {}
        self.others = {} if path is None else read(path)
        self.keys: dict[str, str] = {}
        for statement in self.statements:
            space = space_of(statement, solvers)
            self.keys[statement.id] = search_key(statement, space.solvers, refs)
            report = self.others.get(statement.id, {})
            same = report.get("key") == self.keys[statement.id]
            if same and (report["refuted"] or report.get("seed") == seed):
                self.kept[statement.id] = self.others.pop(statement.id)

    def carry_out(self, begin: Callable[[int, Statement], Callable[[Report], None]]) -> None:
        """Search; `begin` is told of each statement and gives the one to be told of its report."""
        with Crew(single=self.jobs > 1) as crew:
            for place, statement in enumerate(self.statements):
                left = self.share - float(self.kept.get(statement.id, {}).get("seconds", 0.0))
                if left > 0.05 * self.share and not self.refuted(statement):
                    self._hunt(statement, left, crew, begin(place, statement))

    def refuted(self, statement: Statement) -> bool:
        """Whether the reports so far refute it."""
        return bool(self.kept.get(statement.id, {}).get("refuted"))

    @property
    def unexpected(self) -> list[str]:
        """Statements that are refuted though the registry says that they hold."""
        return [s.id for s in self.statements if unexpected(s, self.refuted(s))]

    def _hunt(
        self, statement: Statement, seconds: float, crew: Crew, tell: Callable[[Report], None]
    ) -> None:
        before = self.kept.get(statement.id, {})
        space = space_of(statement, self.solvers)
        hunt = Hunt(
            statement,
            space,
            budget=seconds,
            seed=self.seed + sum(before.get("runs", {}).values()),
            jobs=self.jobs,
            start=self._start(statement, space),
            refs=self.refs,
        )
        report = hunt.carry_out(crew)
        for name, runs in before.get("runs", {}).items():
            report.runs[name] += runs
        spent = float(before.get("seconds", 0.0)) + seconds
        self.kept[statement.id] = as_document(report) | {
            "seconds": round(spent, 3),
            "seed": self.seed,
            "key": self.keys[statement.id],
        }
        self.others.pop(statement.id, None)
        if self.path is not None:
            write(self.path, self.others | self.kept)
        tell(report)

    def _start(self, statement: Statement, space: Space) -> tuple[Candidate, ...]:
        """The best that was kept, of whatever it was; none if the statement cannot be asked it."""
        best = (self.others | self.kept).get(statement.id, {}).get("best")
        if best is None:
            return ()
        try:
            return starts(candidate_from(best, self.solvers, statement.inputs), space)
        except (ProblemError, ValueError, KeyError, TypeError, AttributeError):
            return ()  # of other inputs, or another program

    def as_document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "unexpected": self.unexpected,
            "reports": {s.id: self.kept[s.id] for s in self.statements if s.id in self.kept},
        }


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The reports in a file, by statement; none if there is no file yet."""
    if not path.exists():
        return {}
    wrong = f"{path}: not reports of `gammabar falsify --all` (choose another file for --store)"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ProblemError(wrong)
        found = dict(document["reports"])
        if not all(map(_is_report, found.values())):
            raise ProblemError(wrong)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ProblemError(wrong) from None
    return found


def _is_report(report: Any) -> bool:
    """Whether it has what is read of it; a key is not asked for, older programs wrote none."""
    best, runs = report["best"], report["runs"].values()
    told = best is None or (type(best["strategy"]), type(best["problem"])) == (str, str)
    near = None if best is None else best["verdict"]["tightness"]
    numbers = [0.0 if near is None else near, report.get("seconds", 0.0), *runs]
    return (
        told
        and type(report["refuted"]) is bool
        and all(type(number) in (int, float) for number in numbers)
        and all(type(count) is int for count in runs)
    )


def write(path: Path, kept: dict[str, dict[str, Any]]) -> None:
    """Keep the reports; a file that is there is replaced as a whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, "reports": kept}
    write_whole(path, json.dumps(document, indent=1) + "\n")
