"""One call that checks statements on a solver: what the pytest fixture and notebooks use."""

from __future__ import annotations

import difflib
from typing import Any

from gammabar.harness.court.case import Case
from gammabar.harness.court.hearing import examine, hear
from gammabar.harness.court.message import explain
from gammabar.harness.court.statement import Statement
from gammabar.harness.court.verdict import Ruling, Verdict
from gammabar.problems import Problem, ProblemError


class BoundViolated(AssertionError):
    """A statement that was to hold was refuted, or could not be decided."""

    def __init__(self, message: str, verdicts: list[Verdict]) -> None:
        super().__init__(message)
        self.verdicts = verdicts


def find_statement(identifier: str) -> Statement:
    """A registered statement by its id, or a readable error."""
    from gammabar.harness.library import load_statements

    statements = load_statements()
    if identifier not in statements:
        close = difflib.get_close_matches(identifier, statements, n=1)
        hint = f"; did you mean {close[0]}?" if close else " (see `gammabar list statements`)"
        raise ProblemError(f"{identifier!r} is no statement{hint}")
    return statements[identifier]


def check_bounds(
    identifiers: list[str],
    solver: Any,
    problem: str | Problem,
    *,
    iterations: int = 200,
    seed: int = 0,
) -> list[Verdict]:
    """Check statements at every iterate of one run of a solver.

    Parameters
    ----------
    identifiers : list of str
        Ids of statements.
    solver : object with ``iterates(problem, rng)``
    problem : str or Problem
        A text as on the command line, or a problem.
    iterations : int
        Claims about every iterate hear t = 0, …, iterations.
    seed : int
        Of the solver's random numbers.

    Returns
    -------
    list of Verdict
        Each "holds" or "inapplicable".

    Raises
    ------
    BoundViolated
        If a statement is refuted or undecided; the message shows both sides and the iterate.
    """
    from gammabar.harness.run.texts import open_problem

    statements = [find_statement(identifier) for identifier in identifiers]
    name = problem if isinstance(problem, str) else repr(problem)
    opened = open_problem(problem) if isinstance(problem, str) else problem
    verdicts: dict[str, Verdict] = {}
    for unit in {s.unit for s in statements}:
        case = Case(opened.raw(), solver, unit=unit, name=name, seed=seed)
        same = [s for s in statements if s.unit is unit]
        runs = [s for s in same if s.about_runs]
        found = hear(case, runs, iterations) if runs else []
        found += [examine(s, case) for s in same if s not in runs]
        verdicts |= {v.statement: v for v in found}
    ordered = [verdicts[s.id] for s in statements]
    bad = [
        explain(s, v, problem=name, solver=type(solver).__name__)
        for s, v in zip(statements, ordered, strict=True)
        if v.verdict in (Ruling.REFUTED, Ruling.UNDECIDED)
    ]
    if bad:
        raise BoundViolated("\n\n".join(bad), ordered)
    return ordered
