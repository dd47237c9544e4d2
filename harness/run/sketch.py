"""What is known of a run before anything is opened or computed: enough for many assumptions.

Assumptions are predicates on the case. A sketch of it has the solver with its options and the
texts; whatever else a predicate asks for, its answer has to wait for the run itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

from gammabar.harness.run.solver_ref import Registered
from gammabar.harness.run.task import Run
from gammabar.harness.verify.statement import Statement


class NotYet(BaseException):
    """Not known before the run. No `Exception`: no predicate may take it for an answer."""


class Sketch:
    """A `gammabar.harness.verify.context.Case` without its problem and the truth about it."""

    def __init__(self, run: Run, solver: Any) -> None:
        self.solver, self.unit, self.name, self.seed = solver, run.unit, run.problem, run.seed

    def __getattr__(self, name: str) -> NoReturn:
        raise NotYet(name)


def cannot_hold(statement: Statement, run: Run) -> str | None:
    """Why the statement is inapplicable in a run, if that is known without running anything."""
    if not isinstance(run.solver, Registered):
        return None  # a user's file is not opened in this process
    return unmet(statement, run, _opened(run.solver))


def unmet(statement: Statement, run: Run, solver: Any) -> str | None:
    """Which assumption does not hold, whatever the problem."""
    sketch: Any = Sketch(run, solver)
    for met in statement.assumes:
        try:
            reason = met(sketch)
        except (NotYet, Exception):
            continue  # the run will show
        if reason is not None:
            return reason
    return None


@lru_cache(maxsize=256)
def _opened(solver: Registered) -> Any:
    return solver.open()
