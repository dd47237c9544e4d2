"""Reports of searches as JSON, and the search for many statements in one resumable command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gammabar.harness.falsify.parameters import Solvers, solvers_of
from gammabar.harness.falsify.search import Report, Search, unexpected
from gammabar.harness.run.pool import Pool
from gammabar.harness.run.provenance import search_key
from gammabar.harness.run.tasks import PaperRef, Registered, Run, SolverRef, reference
from gammabar.harness.verify.parameters import PREFIX, Inputs, read as read_inputs
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError
from gammabar.problems.output import finite, write_whole

ONE, MANY, VERSION = "gammabar-falsify", "gammabar-falsify-many", 1
#: What malformed JSON of somebody else may raise.
_MALFORMED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def as_document(report: Report) -> dict[str, Any]:
    """The report for `--json` and `--store`."""
    best = report.best
    document = {
        "format": ONE,
        "version": VERSION,
        "statement": report.statement,
        "refuted": report.refuted,
        "runs": dict(report.runs),
        "failed": dict(report.failed),
        "nearest": dict(report.nearest),
        "found_after": report.found_after,
        "best": best
        and {
            "problem": best.candidate.problem,
            "solver": "" if best.candidate.solver is None else best.candidate.solver.text,
            "iterations": best.candidate.iterations,
            "seed": best.candidate.seed,
            "strategy": best.strategy,
            "verdict": asdict(replace(best.verdict, curve=())),
        },
    }
    found: dict[str, Any] = finite(document)
    return found


def write(path: Path, document: dict[str, Any]) -> None:
    write_whole(path, json.dumps(document, indent=1) + "\n")


def read(
    path: Path, statement: str, solvers: tuple[SolverRef, ...], inputs: Inputs | None = None
) -> tuple[Run, int]:
    """The best candidate of a stored report, and how many runs it took."""
    wrong = f"{path}: not a report of `gammabar falsify` (choose another file for --store)"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (ONE, VERSION):
            raise ProblemError(wrong)
        best, about = document["best"], document["statement"]
        runs = sum(int(count) for count in document["runs"].values())
        found = _candidate_from(best, solvers, inputs or {})
    except ProblemError:
        raise
    except _MALFORMED:
        raise ProblemError(wrong) from None
    if about != statement:
        raise ProblemError(f"{path}: it is about {about}, not about {statement}")
    return found, runs


def _candidate_from(best: dict[str, Any], solvers: tuple[SolverRef, ...], inputs: Inputs) -> Run:
    """The candidate of a document; a solver in a file must be among `solvers`."""
    problem, text = str(best["problem"]), str(best["solver"])
    if problem.startswith(PREFIX):
        read_inputs(inputs, problem)
        return Run(problem)
    files = {solver.text: solver for solver in solvers}
    solver = files[text] if text in files else reference(text) if text else None
    return Run(problem, solver, int(best["iterations"]), int(best["seed"]))


def starts(kept: Run, solvers: Solvers) -> tuple[Run, ...]:
    """Where a search of these solvers begins, if a candidate was stored.

    It begins with that candidate only if its solver is one of these, with options that are tried:
    a refutation of another solver is not a finding of this search.
    """
    solver, has_run = kept.solver, kept.iterations > 0  # of inputs there is no run
    if not solvers or not has_run or (solver and any(_is(solver, *one) for one in solvers)):
        return (kept,)
    return tuple(replace(kept, solver=solver) for solver, _ in solvers)


def _is(kept: SolverRef, asked: SolverRef, values: dict[str, tuple[str, ...]]) -> bool:
    if kept == asked or not isinstance(kept, Registered) or kept.name != asked.text:
        return kept == asked
    try:
        return all(value in values.get(name, ()) for name, value in kept.options.items())
    except ProblemError:  # options that there were once
        return False


class Batch:
    """Searches for each of some statements, with equal shares of the time.

    Reports are stored in the file `path`. A statement that has had its time there is not searched
    again; one that has had a part of it goes on from its best. A report counts only while it is
    about the same statement, paper, solvers and source code, and, if nothing was found, the same
    seed; otherwise its best is only a place to begin. By default `solvers` are those that a
    statement is about; for the others see `gammabar.harness.falsify.search.Search`.
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
        #: Reports that count, and other reports of the file.
        self.kept: dict[str, dict[str, Any]] = {}
        self.others = {} if path is None else _read_many(path)
        #: Statements of which some run failed and none was decided.
        self.failed: list[str] = []
        self.keys = {s.id: search_key(s, solvers_of(s, solvers), refs) for s in self.statements}
        for name, key in self.keys.items():
            report = self.others.get(name, {})
            if report.get("key") == key and (report["refuted"] or report.get("seed") == seed):
                self.kept[name] = self.others.pop(name)

    def carry_out(self, begin: Callable[[int, Statement], Callable[[Report], None]]) -> None:
        """Search; `begin` gets each statement, and returns what gets its report."""
        with Pool(single=self.jobs > 1) as crew:
            for place, statement in enumerate(self.statements):
                left = self.share - float(self.kept.get(statement.id, {}).get("seconds", 0.0))
                if left > 0.05 * self.share and not self.refuted(statement):
                    self._search(statement, left, crew, begin(place, statement))

    def refuted(self, statement: Statement) -> bool:
        return bool(self.kept.get(statement.id, {}).get("refuted"))

    @property
    def unexpected(self) -> list[str]:
        """Statements that are refuted though they hold by the registry."""
        return [s.id for s in self.statements if unexpected(s, self.refuted(s))]

    def _search(
        self, statement: Statement, seconds: float, crew: Pool, tell: Callable[[Report], None]
    ) -> None:
        before = self.kept.get(statement.id, {})
        solvers = solvers_of(statement, self.solvers)
        report = Search(
            statement,
            solvers,
            budget=seconds,
            seed=self.seed + sum(before.get("runs", {}).values()),
            jobs=self.jobs,
            start=self._start(statement, solvers),
            refs=self.refs,
        ).carry_out(crew)
        report.runs.update(before.get("runs", {}))
        self.kept[statement.id] = as_document(report) | {
            "seconds": round(float(before.get("seconds", 0.0)) + seconds, 3),
            "seed": self.seed,
            "key": self.keys[statement.id],
        }
        self.others.pop(statement.id, None)
        self.failed += [statement.id] * report.nothing_ran
        if self.path is not None:
            reports = self.others | self.kept
            write(self.path, {"format": MANY, "version": VERSION, "reports": reports})
        tell(report)

    def _start(self, statement: Statement, solvers: Solvers) -> tuple[Run, ...]:
        """The stored best; none if it does not fit the statement."""
        best = (self.others | self.kept).get(statement.id, {}).get("best")
        if best is None:
            return ()
        try:
            return starts(_candidate_from(best, self.solvers, statement.inputs), solvers)
        except (ProblemError, *_MALFORMED):
            return ()  # of other inputs, or another program

    def as_document(self) -> dict[str, Any]:
        """All reports, for `--json`."""
        return {
            "format": MANY,
            "version": VERSION,
            "unexpected": self.unexpected,
            "reports": {s.id: self.kept[s.id] for s in self.statements if s.id in self.kept},
        }


def _read_many(path: Path) -> dict[str, dict[str, Any]]:
    """The reports in a file, by statement; none if there is no file yet."""
    if not path.exists():
        return {}
    wrong = f"{path}: not reports of `gammabar falsify --all` (choose another file for --store)"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = dict(document["reports"])
        right = (document["format"], document["version"]) == (MANY, VERSION)
        if not right or not all(map(_is_report, found.values())):
            raise ProblemError(wrong)
    except _MALFORMED:
        raise ProblemError(wrong) from None
    return found


def _is_report(report: Any) -> bool:
    """Whether it has what is read of it; older programs wrote no key."""
    best, runs = report["best"], report["runs"].values()
    told = best is None or (type(best["strategy"]), type(best["problem"])) == (str, str)
    near = None if best is None else best["verdict"]["tightness"]
    numbers = [0.0 if near is None else near, report.get("seconds", 0.0), *runs]
    return (
        told
        and type(report["refuted"]) is bool
        and isinstance(report.get("failed", {}), dict)
        and all(type(number) in (int, float) for number in numbers)
        and all(type(count) is int for count in runs)
    )
