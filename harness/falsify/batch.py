"""Many statements one after the other, in one command that can be interrupted and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gammabar.harness.court.statement import Statement
from gammabar.harness.court.verdict import Status
from gammabar.harness.falsify.hunt import Hunt, Report, space_of
from gammabar.harness.falsify.record import as_document, candidate_from
from gammabar.harness.library import PaperRef
from gammabar.harness.run.processes.crew import Crew
from gammabar.harness.run.solver_ref import SolverRef
from gammabar.problems import ProblemError
from gammabar.problems.writing import write_whole

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
        one that has had a part of it goes on from its best, with what is left.
    solvers : tuple of SolverRef
        The user's choice; by default those that a statement is about.
    seed, jobs, refs
        See `gammabar.harness.falsify.hunt.Hunt`.
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
        self.kept = {} if path is None else read(path)

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
        return [s.id for s in self.statements if self.refuted(s) and s.status is Status.HOLDS]

    def _hunt(
        self, statement: Statement, seconds: float, crew: Crew, tell: Callable[[Report], None]
    ) -> None:
        before: dict[str, Any] = self.kept.get(statement.id, {})
        start = (
            (candidate_from(before["best"], self.solvers, statement.inputs),)
            if before.get("best")
            else ()
        )
        hunt = Hunt(
            statement,
            space_of(statement, self.solvers),
            budget=seconds,
            seed=self.seed + sum(before.get("runs", {}).values()),
            jobs=self.jobs,
            start=start,
            refs=self.refs,
        )
        report = hunt.carry_out(crew)
        for name, runs in before.get("runs", {}).items():
            report.runs[name] += runs
        spent = float(before.get("seconds", 0.0)) + seconds
        self.kept[statement.id] = as_document(report) | {"seconds": round(spent, 3)}
        if self.path is not None:
            write(self.path, self.kept)
        tell(report)

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
        if not all(isinstance(report, dict) and "runs" in report for report in found.values()):
            raise ProblemError(wrong)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ProblemError(wrong) from None
    return found


def write(path: Path, kept: dict[str, dict[str, Any]]) -> None:
    """Keep the reports; a file that is there is replaced as a whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, "reports": kept}
    write_whole(path, json.dumps(document, indent=1) + "\n")
