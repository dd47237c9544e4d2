"""Carries out a plan: trajectory by trajectory, in parallel, each result as soon as it is there.

Carries out one task, whatever the solver does.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial
from time import perf_counter
from typing import Any

from gammabar.harness.registry import find_statements, open_paper
from gammabar.harness.run.diagnosis import explained
from gammabar.harness.run.pool import Crew
from gammabar.harness.run.processes import (
    Crashed,
    Died,
    Hung,
    OutOfTime,
    Unfit,
    crashed,
    out_of_time,
    time_limit,
)
from gammabar.harness.run.results import Outcome, Result, Run, Task, results_of, settle
from gammabar.harness.run.sandbox import guest_for
from gammabar.harness.run.specs import InFile, Registered, open_problem
from gammabar.harness.run.store import Store
from gammabar.harness.verify import parameters
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import Fault
from gammabar.harness.verify.run_checks import examine, hear
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Expectation, Ruling, StatementError, Verdict
from gammabar.problems import Problem, ProblemError
from gammabar.solvers.base import SOLVERS

#: Told of every trajectory when it is done.
Tell = Callable[[list[Result]], None]


def run(
    tasks: list[Task],
    *,
    jobs: int = 1,
    dask: str | None = None,
    store: Store | None = None,
    resume: bool = False,
    tell: Tell = lambda results: None,
) -> list[Result]:
    """Carry out tasks.

    Parameters
    ----------
    tasks : list of Task
    jobs : int
        How many at once. One: in this process, but for solvers of users.
    dask : str, optional
        Address of the scheduler of a Dask cluster, which then does the work.
    store : Store, optional
        Where results are written, in one transaction per task.
    resume : bool
        Whether what is in the store already is not done again.
    tell : callable
        Gets the results of every task, as soon as they are there.

    Returns
    -------
    list of Result
        In the order of the tasks.
    """
    keys = _keys(tasks) if store is not None else []
    done: dict[int, list[Result]] = {}

    def finish(place: int, outcome: Outcome) -> None:
        done[place] = results_of(tasks[place], outcome)
        tell(done[place])

    if store is not None and resume:
        for place, key in enumerate(keys):
            known = store.get(key)
            if known is not None:
                finish(place, known)
    todo = [(place, task) for place, task in enumerate(tasks) if place not in done]
    with closing(_stream(todo, jobs, dask)) as outcomes:
        for place, outcome in outcomes:
            if store is not None:
                store.put(keys[place], tasks[place], outcome)
            finish(place, outcome)
    return settle([result for place in range(len(tasks)) for result in done[place]])


def _keys(tasks: list[Task]) -> list[str]:
    from gammabar.harness.run.provenance import key

    return [key(task) for task in tasks]


def _stream(
    todo: list[tuple[int, Task]], jobs: int, dask: str | None
) -> Generator[tuple[int, Outcome], None, None]:
    if dask is not None:
        from gammabar.harness.run.pool import stream

        yield from stream(todo, dask)
    elif jobs == 1 and not any(_foreign(task) for _, task in todo):
        pass

        warm_up()
        for place, task in todo:
            yield place, perform(task)
    elif todo:
        yield from _parallel(todo, min(jobs, len(todo)))


def _foreign(task: Task) -> bool:
    """Whether it runs a user's code; a trajectory is mere numbers."""
    return isinstance(task.run.solver, InFile)


def _parallel(todo: list[tuple[int, Task]], jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Threads that only wait, each for a process of its own that works."""
    from joblib import Parallel, delayed

    with Crew(single=jobs > 1) as crew:

        def conduct(place: int, task: Task) -> tuple[int, Outcome]:
            return place, crew.perform(task)

        parallel: Any = Parallel(
            n_jobs=jobs,
            backend="threading",
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
        )
        yield from parallel(delayed(conduct)(place, task) for place, task in todo)


#: A user's solver that took longer than these seconds is not compared with the method itself.
COMPARED = 30.0

#: A solver in a file is never called in this process.
NOT_HERE = (
    "it would call the solver itself, in the process that judges, where no solver of a file is let"
    " in; gammabar.verify puts it to a solver in a process of your own"
)
#: Nor are iterates in a file those of other data.
NOT_AGAIN = "it would run the solver itself, and a trajectory is one run that is over"


def warm_up() -> None:
    """Import what tasks need, so that none has to wait for it, or is interrupted in the midst."""
    case = Case(open_problem("loss-spike"), unit=True)
    case.problem.softmin(case.problem.origin())
    assert case.truth.separable


def perform(task: Task) -> Outcome:
    """The verdicts of a task; failures of the solver are among them, and never raised."""
    start = perf_counter()
    for paper in task.papers:
        open_paper(paper)
    statements = find_statements(task.statements)
    run = task.run
    file = run.solver.file if run.solver is not None else ""
    if isinstance(run.solver, InFile) and statements[0].about_runs:
        guest_for(run.solver)  # its start is not the solver's time
    try:
        # What a solver prints must not get into the JSON document on stdout.
        with contextlib.redirect_stdout(sys.stderr), time_limit(task.limit, file):
            data = _problem(run.problem).digest() if run.problem and not run.of_inputs else ""
            outcome = Outcome(tuple(_verdicts(task, statements)), 0.0, data)
    except Fault as fault:
        outcome = Outcome.failure(task, fault.failure, str(fault))
    except (Unfit, ProblemError) as error:
        outcome = (
            Outcome.failure(task, "crashed", str(error))
            if task.planned and Expectation.INAPPLICABLE not in task.expected
            else Outcome.inapplicable(task, str(error))
        )
    except Exception as error:
        outcome = Outcome.failure(task, "crashed", str(crashed(error, file)))
    return replace(outcome, seconds=round(perf_counter() - start, 6))


def _verdicts(task: Task, statements: list[Statement]) -> list[Verdict]:
    run = task.run
    problem = _problem(run.problem) if run.problem and not run.of_inputs else None
    if not statements[0].about_runs:
        if run.solver is not None and run.solver.foreign:
            reason = NOT_HERE if isinstance(run.solver, InFile) else NOT_AGAIN
            return [Verdict(s.id, Ruling.INAPPLICABLE, reason=reason) for s in statements]
        solver = None if run.solver is None else run.solver.open()
        case = Case(problem, solver, unit=run.unit, name=run.problem, seed=run.seed)
        if run.of_inputs:
            case.inputs = parameters.read(statements[0].inputs, run.problem)
        return [_examined(statement, case) for statement in statements]
    case = _case(run, problem, task.limit)
    try:
        start = perf_counter()
        heard = hear(case, statements, run.iterations)
        if run.solver is not None and run.solver.foreign and perf_counter() - start < COMPARED:
            heard = beside(run, problem, statements, explained(case, statements, heard))
        return heard
    except StatementError as error:
        # Hear them one by one, so that it spoils its own verdict alone.
        if len(statements) == 1:
            return [_spoilt(statements[0], error)]
        return [_alone(task, problem, statement) for statement in statements]


def beside(
    run: Run, problem: Problem | None, statements: list[Statement], verdicts: list[Verdict]
) -> list[Verdict]:
    """The verdicts with the tightness that the method itself has in the same run."""
    names = [next((n for n in s.solvers if n in SOLVERS), None) for s in statements]
    found: dict[str, float | None] = {}
    for name in dict.fromkeys(names):
        about = [s for s, n in zip(statements, names, strict=True) if n == name]
        if name is not None:
            case = Case(problem, Registered(name).open(), unit=run.unit, seed=run.seed)
            with contextlib.suppress(ProblemError):  # a method that does not run on such data
                heard = hear(case, about, run.iterations)
                found |= {v.statement: v.tightness for v in heard if v.verdict is Ruling.HOLDS}
    return [replace(v, reference=found.get(v.statement)) for v in verdicts]


def _examined(statement: Statement, case: Case) -> Verdict:
    try:
        return examine(statement, case)
    except StatementError as error:
        return _spoilt(statement, error)


def _alone(task: Task, problem: Problem | None, statement: Statement) -> Verdict:
    case = _case(task.run, problem, task.limit)
    try:
        return hear(case, [statement], task.run.iterations)[0]
    except StatementError as error:
        return _spoilt(statement, error)


def _spoilt(statement: Statement, error: StatementError) -> Verdict:
    reason = f"the statement could not be evaluated here: {error}"
    return Verdict(statement.id, Ruling.UNDECIDED, reason=reason)


@lru_cache(maxsize=8)
def _problem(text: str) -> Problem:
    return open_problem(text)


def _case(run: Run, problem: Problem | None, limit: float) -> Case:
    """A case whose solver is not trusted to behave; a user's is in another process."""
    assert run.solver is not None
    if isinstance(run.solver, InFile):
        solver = _invited(run.solver, run, limit)
    else:
        solver = run.solver.open()
    file = run.solver.file or inspect.getsourcefile(type(solver)) or ""
    watch = partial(_watched, foreign=run.solver.foreign, file=file)
    unit, name, seed = run.unit, run.problem, run.seed
    return Case(problem, solver, unit=unit, name=name, seed=seed, watch=watch)


def _watched(
    start: Callable[[], Iterator[Any]], foreign: bool, file: str
) -> Generator[Any, None, None]:
    """The iterates of a solver; what goes wrong in it is a `Fault`."""
    count, last = 0, None
    try:
        for last in start():
            count += 1
            yield last
    except ProblemError as error:
        if count or foreign:
            raise crashed(error, file) from error
        raise Unfit(str(error)) from error
    except (Exception, SystemExit) as error:
        raise crashed(error, file) from error
    if foreign and not (count and _halts(last)):
        after = f"after t = {count - 1}" if count else "before the first one"
        raise Crashed(
            f"the iterates end {after}: they must go on for as long as somebody listens"
            f" (--iterations {max(count - 1, 1)} asks for no more), but for a method that"
            ' stops by itself, whose last iterate has extra["halt"]'
        )


def _invited(solver: InFile, run: Run, limit: float) -> Any:
    try:
        return guest_for(solver).open(solver, limit, run)
    except Hung as error:
        raise OutOfTime(out_of_time(limit, str(error))) from None
    except (Died, ProblemError) as error:
        raise Crashed(str(error)) from None


def _halts(iterate: Any) -> bool:
    return bool(getattr(iterate, "extra", {}).get("halt"))
