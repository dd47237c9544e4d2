"""The power of the suite: which statement refutes which wrong solver.

Every mutant of a paper takes the place of its solver in the default plan. A mutant that no
statement refutes is a hole in the suite; a statement that refutes none needs a reason
(`Statement.powerless`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from gammabar.harness.registry import load_statements, mutants, trials
from gammabar.harness.run.tasks import open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.verdict import Ruling, StatementError, Status, Verdict
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem

#: A mutant is run for no more iterates than this: those that matter go wrong early.
ITERATIONS, MOST = 400, 3000


def kills(mutant: Any, statement: str = "", problem: str | None = None) -> dict[str, list[str]]:
    """Statements that refute a mutant, each with the problems on which it does.

    "crashed" stands for a statement if nothing else kills it. `statement` and `problem` ask for one
    of them only.
    """
    found: dict[str, list[str]] = {}
    for verdict, where in _verdicts(mutant, [statement] if statement else (), problem):
        if verdict.verdict is Ruling.REFUTED:
            found.setdefault(verdict.statement, []).append(where)
    if len(found) > 1:
        found.pop("crashed", None)
    return dict(sorted(found.items()))


def matrix(
    names: Iterable[str] | None = None, jobs: int = -1, advance: Callable[[str], None] | None = None
) -> dict[str, dict[str, list[str]]]:
    """Mutant → statement → problems on which the statement refutes it; by default of all mutants.

    `jobs` is the number of processes; `advance` is told the name of each mutant that is done.
    """
    from joblib import Parallel, delayed

    wanted = list(mutants() if names is None else names)
    work = Parallel(n_jobs=jobs, return_as="generator")(delayed(_one)(name) for name in wanted)
    found = {}
    for name, killed in zip(wanted, work, strict=True):
        found[name] = killed
        if advance is not None:
            advance(name)
    return found


def _one(name: str) -> dict[str, list[str]]:
    return kills(mutants()[name])


def _verdicts(
    mutant: Any,
    only: Collection[str] = (),
    on: str | None = None,
    most: int = ITERATIONS,
    longest: int = MOST,
) -> Iterable[tuple[Verdict, str]]:
    """What the statements about its solver say of a mutant, and on which problems.

    `only` these statements are asked, `on` this problem; `most` iterates are checked of claims
    about all of them, and up to the `longest` of claims about stopping.
    """
    about = [
        s
        for s in load_statements().values()
        if mutant.solver in s.solvers
        and (not only or s.id in only)
        and s.status is Status.HOLDS  # what is refuted of the right solver is no test of this one
    ]
    heard = [s for s in about if s.about_runs]
    for trial in trials():
        if solver_name(trial.solver) != mutant.solver or on not in (None, trial.problem):
            continue
        for unit in sorted({s.unit for s in heard}):
            solver = _with_options(mutant.make(), trial.solver)
            problem, name = open_problem(trial.problem), trial.problem
            case = Case(problem, solver, unit=unit, name=name, seed=trial.seed)
            some, length = [s for s in heard if s.unit is unit], min(trial.iterations, most)
            yield from _named(name, partial(check_run, case, some, length, longest))
    for statement in about:
        for text in () if statement.about_runs else statement.problems if on is None else [on]:
            opened = open_problem(text) if text else None
            case = Case(opened, mutant.make(), unit=statement.unit, name=text)
            yield from _named(text, partial(map, partial(check_statement, statement), [case]))


def _named(problem: str, check: Callable[[], Iterable[Verdict]]) -> Iterable[tuple[Verdict, str]]:
    """Verdicts with their problem. A mutant that crashes is killed by that; one that refuses a
    problem is not."""
    try:
        for verdict in check():
            yield verdict, problem
    except StatementError:
        raise
    except ProblemError:
        return
    except Exception as error:
        yield Verdict("crashed", Ruling.REFUTED, reason=repr(error), failure="crashed"), problem


def _with_options(mutant: Any, text: str) -> Any:
    """A mutant with the options that a trial gives its solver."""
    if not is_dataclass(mutant) or ":" not in text:
        return mutant
    wanted, plain = open_solver(text), open_solver(solver_name(text))
    own = {f.name for f in fields(mutant) if f.init}
    changed = {
        f.name: getattr(wanted, f.name)
        for f in fields(wanted)
        if f.name in own and getattr(wanted, f.name) != getattr(plain, f.name)
    }
    return replace(mutant, **changed)  # type: ignore[type-var]
