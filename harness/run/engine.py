"""Engine: carry out a plan, task by task, and evaluate the statements along each run."""

from __future__ import annotations

import contextlib
import inspect
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

from gammabar.harness.registry import find_statements, open_paper
from gammabar.harness.run.processes import (
    GRACE,
    Crashed,
    Died,
    Hung,
    OutOfTime,
    Unfit,
    crashed,
    out_of_time,
    place_in,
)
from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import (
    InFile,
    Outcome,
    Registered,
    Result,
    Run,
    SolverRef,
    Task,
    open_once,
    results_of,
    settle,
)
from gammabar.harness.verify import parameters
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import Fault
from gammabar.harness.verify.run_checks import check_run, check_statement, ended
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Expectation, Ruling, StatementError, Verdict
from gammabar.problems import Problem, ProblemError
from gammabar.solvers.adapters import OtherGeometry, with_defaults
from gammabar.solvers.base import SOLVERS

#: Told of every trajectory when it is done.
Tell = Callable[[list[Result]], None]
#: A process takes as long to start as so many usual tasks.
WORTH_A_PROCESS = 4
#: A user's solver that took longer than these seconds is not compared with the method itself.
COMPARED = 30.0
#: The package that calls Python from within compiled code while Numba compiles.
COMPILER = "llvmlite"
#: Why statements that run a solver by themselves are not put to one in a file.
NOT_HERE = (
    "it would call the solver itself, in the process that judges, where no solver of a file is let"
    " in; gammabar.verify puts it to a solver in a process of your own"
)
NOT_AGAIN = "it would run the solver itself, and a trajectory is one run that is over"


def run(
    tasks: list[Task],
    *,
    jobs: int | None = 1,
    dask: str | None = None,
    store: Store | None = None,
    resume: bool = False,
    tell: Tell = lambda results: None,
) -> list[Result]:
    """Carry out tasks, and return their results in the order of the tasks.

    Parameters
    ----------
    tasks : list of Task
    jobs : int or None
        How many at once. One: in this process, but for solvers of users. None: as many as there
        are processors, but no more than pay off.
    dask : str, optional
        Address of the scheduler of a Dask cluster, which then does the work.
    store : Store, optional
        Where results are written, in one transaction per task.
    resume : bool
        Whether what is in the store already is not done again.
    tell : callable
        Gets the results of every task, as soon as they are there.
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
    todo = [place for place in range(len(tasks)) if place not in done]
    with closing(_outcomes([tasks[place] for place in todo], jobs, dask)) as outcomes:
        for number, outcome in outcomes:
            place = todo[number]
            if store is not None:
                store.put(keys[place], tasks[place], outcome)
            finish(place, outcome)
    return settle([result for place in range(len(tasks)) for result in done[place]])


def _keys(tasks: list[Task]) -> list[str]:
    from gammabar.harness.run.provenance import key

    return [key(task) for task in tasks]


def _outcomes(
    tasks: list[Task], jobs: int | None, dask: str | None
) -> Generator[tuple[int, Outcome], None, None]:
    """Numbers of tasks and their outcomes, in any order."""
    foreign = any(_is_users(task.run.solver) for task in tasks)
    if jobs is None:
        jobs = len(tasks) if foreign else -(-len(tasks) // WORTH_A_PROCESS)
        if jobs > 1:
            from joblib import cpu_count

            jobs = min(jobs, int(cpu_count()))
    if dask is not None:
        from gammabar.harness.run.pool import stream

        yield from stream(tasks, dask)
    elif jobs <= 1 and not foreign:
        yield from enumerate(map(perform, tasks))
    elif tasks:
        from gammabar.harness.run.pool import Pool, in_threads

        jobs = min(max(jobs, 1), len(tasks))
        with Pool(single=jobs > 1) as pool:
            yield from in_threads(pool.perform, tasks, jobs, pool)


def _is_users(solver: SolverRef | None) -> bool:
    """Whether a run calls code of the user's."""
    return isinstance(solver, InFile) or (isinstance(solver, Registered) and solver.own)


# --- one task --------------------------------------------------------------------------------


def _warm_up() -> None:
    """Import what tasks need, so that none is interrupted in the midst of it."""
    import gammabar.oracle

    _ = gammabar.oracle.solve


def _perform_values(values: dict[str, Any]) -> dict[str, Any]:
    """`perform` for another process: task and outcome are dictionaries."""
    from gammabar.harness.run.sandbox import settle

    try:
        return perform(Task.from_dict(values)).as_dict()
    finally:
        settle()


def perform(task: Task) -> Outcome:
    """The verdicts of a task; failures of the solver are among them, and never raised."""
    start = perf_counter()
    for paper in task.papers:
        open_paper(paper)
    statements = find_statements(task.statements)
    run = task.run
    file = run.solver.file if run.solver is not None else ""
    if isinstance(run.solver, InFile) and statements[0].about_runs:
        _process_for(run.solver)  # its start is not the solver's time
    try:
        # What a solver prints must not get into the JSON document on stdout.
        with contextlib.redirect_stdout(sys.stderr), time_limit(task.limit, file):
            problem = open_once(run.problem) if run.problem and not run.of_inputs else None
            data = "" if problem is None else problem.digest()
            outcome = Outcome(tuple(_verdicts(task, problem, statements)), 0.0, data)
    except Fault as fault:
        outcome = task.failed(fault.failure, str(fault))
    except (Unfit, ProblemError) as error:
        mistake = task.planned and Expectation.INAPPLICABLE not in task.expected
        outcome = task.failed("crashed", str(error)) if mistake else task.inapplicable(str(error))
    except Exception as error:
        outcome = task.failed("crashed", str(crashed(error, file)))
    return replace(outcome, seconds=round(perf_counter() - start, 6))


@contextmanager
def time_limit(seconds: float, file: str) -> Iterator[None]:
    """Raise `OutOfTime` in this thread after so many seconds, wherever it then is.

    It works in the main thread alone, and not while compiled code keeps the interpreter: for that,
    solvers of users run in processes of their own (`gammabar.harness.run.pool`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_: int, frame: FrameType | None) -> None:
        stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
        stack.reverse()
        if any(COMPILER in Path(step.filename).parts for step in stack):
            return  # its callbacks would print and swallow an exception; the next alarm comes soon
        raise OutOfTime(out_of_time(seconds, place_in(stack, file)))

    before: Any = signal.signal(signal.SIGALRM, late)
    # Again and again, should a solver swallow the first or another statement go on.
    signal.setitimer(signal.ITIMER_REAL, seconds, GRACE / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _verdicts(task: Task, problem: Problem | None, statements: list[Statement]) -> list[Verdict]:
    """The verdicts; a statement that raises an error spoils its own alone."""
    try:
        if statements[0].about_runs:
            return _along_run(task, problem, statements)
        return _without_run(task.run, problem, statements)
    except StatementError as error:
        if len(statements) > 1:
            return [v for one in statements for v in _verdicts(task, problem, [one])]
        reason = f"the statement could not be evaluated here: {error}"
        return [Verdict(statements[0].id, Ruling.UNDECIDED, reason=reason)]


def _without_run(run: Run, problem: Problem | None, statements: list[Statement]) -> list[Verdict]:
    if run.foreign:
        reason = NOT_HERE if isinstance(run.solver, InFile) else NOT_AGAIN
        return [Verdict(s.id, Ruling.INAPPLICABLE, reason=reason) for s in statements]
    solver = None if run.solver is None else run.solver.open()
    case = Case(problem, solver, unit=run.unit, name=run.problem, seed=run.seed)
    if run.of_inputs:
        case.inputs = parameters.read(statements[0].inputs, run.problem)
    return [check_statement(statement, case) for statement in statements]


def _along_run(task: Task, problem: Problem | None, statements: list[Statement]) -> list[Verdict]:
    run = task.run
    assert run.solver is not None
    start = perf_counter()
    solver = _opened(run, task.limit)
    if run.like:
        solver = with_defaults(solver, Registered(run.like).open())
    file = run.solver.file or inspect.getsourcefile(type(solver)) or ""
    watch = partial(_watched, file=file, foreign=run.solver.foreign or _is_users(run.solver))
    case = Case(problem, solver, unit=run.unit, name=run.problem, seed=run.seed, watch=watch)
    found = check_run(case, statements, run.iterations)
    if run.solver.foreign and perf_counter() - start < COMPARED:
        from gammabar.harness.run.diagnosis import explained

        found = _beside(run, problem, statements, explained(case, statements, found))
    return found


def _opened(run: Run, limit: float) -> Any:
    """The solver; a user's is in another process."""
    assert run.solver is not None
    if not isinstance(run.solver, InFile):
        return run.solver.open()
    try:
        return _process_for(run.solver).open(run.solver, limit, run)
    except Hung as error:
        raise OutOfTime(out_of_time(limit, str(error))) from None
    except (Died, ProblemError) as error:
        raise Crashed(str(error)) from None


def _process_for(solver: InFile) -> Any:
    from gammabar.harness.run.sandbox import process_for

    return process_for(solver)


def _watched(
    start: Callable[[], Iterator[Any]], file: str, foreign: bool
) -> Generator[Any, None, None]:
    """Iterates of a solver that is not trusted to behave: what goes wrong there is a `Fault`."""
    count, last = 0, None
    try:
        for last in start():
            count += 1
            yield last
    except OtherGeometry:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ProblemError) and not (count or foreign):
            raise Unfit(str(error)) from error
        raise crashed(error, file) from error
    if foreign and not (count and getattr(last, "extra", {}).get("halt")):
        raise Crashed(ended(count))


def _beside(
    run: Run, problem: Problem | None, statements: list[Statement], verdicts: list[Verdict]
) -> list[Verdict]:
    """The verdicts with the tightness that the method itself has in the same run."""
    about: dict[str, list[Statement]] = {}
    for statement in statements:
        for name in [n for n in statement.solvers if n in SOLVERS][:1]:
            about.setdefault(name, []).append(statement)
    found: dict[str, float | None] = {}
    for name, some in about.items():
        case = Case(problem, Registered(name).open(), unit=run.unit, seed=run.seed)
        with contextlib.suppress(ProblemError):  # a method that does not run on such data
            again = check_run(case, some, run.iterations)
            found |= {v.statement: v.tightness for v in again if v.verdict is Ruling.HOLDS}
    return [replace(v, reference=found.get(v.statement)) for v in verdicts]
