"""Check statements about a solver and a problem, whatever kind of statements they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import open_solver
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import LEVELS, Relation, working
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Verdict
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate

STATEMENTS = load_statements()


def about(solver: str) -> list[Statement]:
    """The statements about runs of a solver."""
    return [s for s in STATEMENTS.values() if s.about_runs and solver in s.solvers]


def case_of(solver: Any, problem: Any, *, unit: bool = True, seed: int = 0) -> Case:
    """A case; solver and problem may be texts, or None."""
    name = problem if isinstance(problem, str) else ""
    opened = open_problem(problem) if isinstance(problem, str) and problem else problem or None
    method = open_solver(solver) if isinstance(solver, str) else solver
    return Case(opened, method, unit=unit, name=name, seed=seed)


def verdicts(
    solver: Any,
    problem: Any,
    statements: Iterable[str | Statement],
    iterations: int = 60,
    most: int | None = 2000,
    seed: int = 0,
) -> dict[str, Verdict]:
    """Verdict of each statement about runs, in the unit ball or not as it asks."""
    chosen = [STATEMENTS[s] if isinstance(s, str) else s for s in statements]
    found: list[Verdict] = []
    for unit in (False, True):
        if same := [s for s in chosen if s.unit is unit]:
            case = case_of(solver, problem, unit=unit, seed=seed)
            found += check_run(case, same, iterations, most=most)
    return {v.statement: v for v in found}


def verdict(
    identifier: str, solver: Any = None, problem: Any = None, iterations: int = 60, seed: int = 0
) -> Verdict:
    """The verdict of one statement, about runs or not."""
    statement = STATEMENTS[identifier]
    if statement.about_runs:
        return verdicts(solver, problem, [statement], iterations, seed=seed)[identifier]
    return check_statement(statement, case_of(solver, problem, unit=statement.unit, seed=seed))


def relations(identifier: str, solver: Any, problem: Any, t: int) -> list[Relation]:
    """What a statement about every iterate compares at t."""
    statement = STATEMENTS[identifier]
    case = case_of(solver, problem, unit=statement.unit)
    judge = statement.body(case) if isinstance(statement.body, type) else None
    with working(LEVELS[0]):
        for it in case.views():
            for history in (*statement.history, *([] if judge is None else [None])):
                (case.history(history) if history else judge).update(it)
            if it.t == t:
                found = statement.body(it, case) if judge is None else judge.claim(it)
                return [found] if isinstance(found, Relation) else list(found)
    raise AssertionError("the run is too short")


@dataclass(frozen=True)
class Changed:
    """A solver whose iterates are changed on their way out; it has the options of the right one."""

    right: Any
    change: Callable[[Iterator[Iterate]], Iterator[Iterate]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        return self.change(self.right.iterates(problem, rng))


def changed(solver: Any, change: Callable[[Iterate], Iterate]) -> Changed:
    """A solver each of whose iterates is changed."""
    right = open_solver(solver) if isinstance(solver, str) else solver
    return Changed(right, lambda iterates: map(change, iterates))
