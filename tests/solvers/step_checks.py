"""Solvers against the statements that compute each of their steps anew, on random problems.

These statements share no code with the solvers: they are the reference, in error bounds.
"""

from __future__ import annotations

from typing import Any

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.problems import Problem


def steps_hold(name: str, solver: Any, problem: Problem, steps: int = 8, seed: int = 0) -> None:
    """No step is refuted; what rounding leaves open is no fault of the solver."""
    statement = load_statements()[name]
    case = Case(problem, solver, unit=statement.unit, seed=seed)
    if statement.about_runs:
        (found,) = check_run(case, [statement], steps)
    else:
        found = check_statement(statement, case)
    assert found.verdict in ("holds", "undecided"), (found, solver)
