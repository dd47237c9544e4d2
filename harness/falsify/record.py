"""What a hunt found, as JSON: for programs, and to go on from."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gammabar.harness.falsify.candidate import Candidate
from gammabar.harness.falsify.parameters import Given
from gammabar.harness.falsify.search import Report
from gammabar.harness.falsify.strategies import Space
from gammabar.harness.run.specs import SolverRef, reference
from gammabar.harness.verify.parameters import PREFIX, Inputs, read as read_inputs
from gammabar.problems import ProblemError
from gammabar.problems.output import finite, write_whole
from gammabar.problems.specs import written_rows

FORMAT, VERSION = "gammabar-falsify", 1


def as_document(report: Report) -> dict[str, Any]:
    """For `--json` and `--store`."""
    best = report.best
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": report.statement,
        "refuted": report.refuted,
        "runs": dict(report.runs),
        "nearest": dict(report.nearest),
        "found_after": report.found_after,
        "best": None
        if best is None
        else {
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


def write(path: Path, report: Report) -> None:
    """Keep a report; a file that is there is replaced as a whole or not at all."""
    write_whole(path, json.dumps(as_document(report), indent=1) + "\n")


def read(
    path: Path, statement: str, solvers: tuple[SolverRef, ...], inputs: Inputs | None = None
) -> tuple[Candidate, int]:
    """The best candidate of a report that was kept, and how many runs it took.

    Raises
    ------
    ProblemError
        If the file is no such report, or one about another statement.
    """
    wrong = f"{path}: not a report of `gammabar falsify` (choose another file for --store)"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ProblemError(wrong)
        best, about = document["best"], document["statement"]
        runs = sum(int(count) for count in document["runs"].values())
        found = candidate_from(best, solvers, inputs or {})
    except ProblemError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ProblemError(wrong) from None
    if about != statement:
        raise ProblemError(f"{path}: it is about {about}, not about {statement}")
    return found, runs


def candidate_from(
    best: dict[str, Any], solvers: tuple[SolverRef, ...], inputs: Inputs
) -> Candidate:
    """The candidate of a document; a solver in a file must be among `solvers`."""
    problem = str(best["problem"])
    if problem.startswith(PREFIX):
        values = read_inputs(inputs, problem)
        return Candidate(Given(tuple(values.items())), iterations=0)
    data, _, more = problem.partition(" ")
    files = {solver.text: solver for solver in solvers}
    text = str(best["solver"])
    solver = files[text] if text in files else reference(text) if text else None
    return Candidate(_rows(data), more, solver, int(best["iterations"]), int(best["seed"]))


def starts(kept: Candidate, space: Space) -> tuple[Candidate, ...]:
    """Where a search of these solvers may begin, if a candidate was kept.

    It is the one that was kept only if its solver is among them, with options that they may have:
    what refutes somebody else is nothing that this search has found.
    """
    solver, heard = kept.solver, kept.iterations > 0  # of inputs there is no run
    if not space.solvers or not heard or (solver and any(_is(solver, *s) for s in space.solvers)):
        return (kept,)
    return tuple(replace(kept, solver=solver) for solver, _ in space.solvers)


def _is(kept: SolverRef, asked: SolverRef, values: dict[str, tuple[str, ...]]) -> bool:
    """Whether a solver that was kept is the one asked for, with some of its values of options."""
    if kept == asked:
        return True
    name, _, options = kept.text.partition(":")
    chosen = (option.partition("=") for option in options.split(","))
    return name == asked.text and all(value in values.get(key, ()) for key, _, value in chosen)


def _rows(data: str) -> Any:
    if not data.startswith("rows:"):
        return data
    X, y = written_rows(data.removeprefix("rows:"))
    signed = zip(y.tolist(), X.tolist(), strict=True)
    return tuple(tuple(sign * Fraction(value) for value in row) for sign, row in signed)
