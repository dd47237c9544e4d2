"""Plans, and how they are carried out.

A plan says which statements are checked on which runs, and what is expected of them. By default
that is every run that the papers name (`gammabar.harness.registry`), with all statements about its
solver whose assumptions can hold there; every statement that needs no run, on its own problems; and
the checks of the oracle. The user may choose statements, solvers and problems, or bring a solver.
Each task of a plan is carried out by itself, and the statements are evaluated along its run.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

from gammabar.harness.registry import (
    everything,
    extremal,
    find_sources,
    find_statements,
    open_paper,
    trials,
)
from gammabar.harness.run.processes import (
    GRACE,
    Crashed,
    Limit,
    Unfit,
    crashed,
    place_in,
)
from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import (
    TIME_LIMIT,
    InFile,
    Outcome,
    PaperRef,
    Recorded,
    Registered,
    Result,
    Run,
    SolverRef,
    Task,
    settle,
)
from gammabar.harness.verify import parameters
from gammabar.harness.verify.context import Case, Trial
from gammabar.harness.verify.iterate import Fault
from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Expectation, Ruling, StatementError, Status, Verdict
from gammabar.problems import Problem, ProblemError
from gammabar.problems.specs import open_once, split_problem
from gammabar.solvers.base import SOLVERS, OtherGeometry, with_defaults


@dataclass(frozen=True)
class Request:
    """What the user wants to have verified; everything, unless something is chosen."""

    #: Ids of statements, and prefixes of ids.
    statements: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    #: With `file`, those that it stands for.
    solvers: tuple[Registered, ...] = ()
    #: A solver of the user's own, or its iterates.
    file: InFile | Recorded | None = None
    #: Instead of those of the plan.
    iterations: int | None = None
    seed: int | None = None
    #: Seconds for each trajectory.
    limit: float = TIME_LIMIT
    #: So many random trials instead of the plan, on problems in special position with `edges`.
    random: int | None = None
    edges: bool = False
    #: Of the problems that the plan chooses; all if there is none.
    geometries: tuple[str, ...] = ()
    #: The method that the user's solver implements; or those that it may be, in words.
    like: str = ""
    resembles: str = ""
    #: Hash of further files that results depend on (`gammabar.harness.run.provenance.contents`).
    depends: str = ""
    #: Papers of the user, which are registered already (`gammabar.harness.registry`).
    papers: tuple[PaperRef, ...] = ()

    def allows(self, problem: str) -> bool:
        """Whether the plan may choose a problem."""
        other = (kind for kind in ("kernel", "multiclass") if f" --{kind}" in problem)
        return not self.geometries or next(other, "dense") in self.geometries

    def names(self, result: Result) -> bool:
        """Whether the user has asked for this very statement on this very problem."""
        return result.verdict.statement in self.statements and result.run.problem in self.problems


#: Where solvers and claims of users are checked if nobody names problems.
PROBLEMS = (
    "iris:0,1",
    "planted:n=100,d=8,gamma=0.1,seed=0",
    "gaussian:n=60,d=20,seed=2,separable=1",
    "inseparable:n=30,d=3,seed=0",
)


#: So many random trials are planned before their runs begin.
PART = 500


def make_plan(request: Request) -> list[Task]:
    """The tasks of a plan, without duplicates; problems stay together."""
    return [task for part in plan_in_parts(request) for task in part]


def plan_in_parts(request: Request) -> Iterator[list[Task]]:
    """The same in parts, of which random trials have many: some run before others are planned."""
    chosen = _chosen(request)
    if request.random is None:
        tasks = iter([*_plan_without_run(request, chosen), *_plan_with_run(request, chosen)])
    else:
        tasks = _at_random(request, chosen)
    size = None if request.random is None else PART
    parts = iter(lambda: list(islice(tasks, size)), [])
    more: Any = {"limit": request.limit, "papers": request.papers, "depends": request.depends}
    part: list[Task] = []
    for part in parts:
        by_problem: dict[str, list[Task]] = {}
        for task in part:
            by_problem.setdefault(task.run.problem, []).append(_missing(replace(task, **more)))
        yield [task for some in by_problem.values() for task in some]
    if not part:
        raise ProblemError(_nothing(request))


def _chosen(request: Request) -> list[Statement]:
    for solver in request.solvers:
        solver.open()  # unknown names and options are refused at once
    chosen = find_statements(request.statements) + find_sources(request.sources)
    if request.file is not None and not chosen and not request.solvers:
        raise ProblemError(
            f"{request.file.option[1]}: say which method it implements, --as NAME"
            f"{request.resembles or ' (see `gammabar list solvers`)'}, or which statements it is to"
            " obey, --statement ID"
        )
    unique = {statement.id: statement for statement in chosen or everything().values()}
    if request.file is None:
        return list(unique.values())
    for name in request.statements:
        if not unique[name].solvers:
            raise ProblemError(f"{name} is not about a solver, so not about {request.file.title}")
    named = set(request.statements)  # what else is false is not held against a user's solver
    return [s for s in unique.values() if s.status is not Status.REFUTED or s.id in named]


def _nothing(request: Request) -> str:
    what = [*request.statements, *(f"{source}.*" for source in request.sources)]
    about = f" about {', '.join(s.text for s in request.solvers)}" if request.solvers else ""
    on = f" on {', '.join(request.problems)}" if request.problems else ""
    return f"there is nothing to verify{about}{on} in {', '.join(what) or 'the plan'}"


# --- statements without a run ----------------------------------------------------------------


def _plan_without_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """A task for each problem; a statement about solvers may be put to the user's."""
    for statement in chosen:
        if statement.about_runs:
            continue
        own = (*statement.problems, *(run.problem for run in _extremal(statement)))
        # One that brings its data needs no others, but for a choice of its inputs.
        asked = tuple(p for p in request.problems if _meant(statement, p))
        if request.problems and not asked:
            continue
        for problem in dict.fromkeys(asked or own):
            for solver in _solvers(request, statement):
                planned = problem in own and request.seed is None and solver is None
                yield Task(
                    Run(problem, solver, seed=request.seed or 0, unit=statement.unit),
                    (statement.id,),
                    (_expected(statement, problem, planned),),
                    planned,
                )


def _meant(statement: Statement, problem: str) -> bool:
    if problem.startswith(PREFIX):
        return bool(statement.inputs)
    return any(statement.problems) or statement.on_data


def _solvers(request: Request, statement: Statement) -> list[SolverRef | None]:
    """The solvers that a statement is put to: None is the one that it takes by itself."""
    named = [solver for solver in request.solvers if solver.name in statement.solvers]
    if request.file is not None:
        asked = statement.id in request.statements
        return [request.file] if statement.solvers and (asked or named) else []
    if not request.solvers:
        return [None]
    return [None if solver.plain else solver for solver in named]


# --- statements about runs -------------------------------------------------------------------


def _plan_with_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """One task for each run, with all statements about it; runs may differ in their length."""
    about: dict[Run, dict[str, Statement]] = {}
    length: dict[Run, int] = {}
    for statement in chosen:
        runs = list(_requested(request, statement)) if statement.about_runs else []
        for run in runs:
            any_length = replace(run, iterations=0)
            length[any_length] = max(run.iterations, length.get(any_length, 0))
        for run in _sensible(request, statement, runs):
            about.setdefault(replace(run, iterations=0), {})[statement.id] = statement
    usual = {run for s in chosen for run in _about(s)}
    for any_length, statements in about.items():
        run = replace(any_length, iterations=length[any_length])
        planned = run in usual
        # A false claim is refuted in some run on its problem, not by every solver it is about.
        whole = planned and not request.solvers
        expected = (_expected(s, run.problem, whole) for s in statements.values())
        yield Task(run, tuple(statements), tuple(expected), planned)


def _sensible(request: Request, statement: Statement, runs: list[Run]) -> list[Run]:
    """Those runs of which a statement may speak, by the options of their solvers.

    What the user asks for with options is put to the statement anyway; and so is everything if
    there is nothing else (on one of the user's problems), so that the reason is shown.
    """
    asked = [solver for solver in request.solvers if not solver.plain]
    fit = [r for r in runs if r.solver in asked or _cannot_hold(statement, r) is None]
    if not request.problems:
        return fit or runs
    places = {run.problem for run in fit}
    return [run for run in runs if run in fit or run.problem not in places]


def _about(statement: Statement, names: Collection[str] = (), anyway: bool = False) -> list[Run]:
    """The runs of the plan that a statement is about; of solvers with these names, if any.

    `anyway`: if there is none, some run without a problem, for the user has problems of his own.
    """
    about = [name for name in statement.solvers if not names or name in names]
    planned = {
        Run(t.problem, _claimed(statement, one), t.iterations, t.seed, statement.unit): one.name
        for t, one in ((trial, Registered(trial.solver)) for trial in trials())
        if one.name in about
    }
    known = {(name, run.problem) for run, name in planned.items()}
    wanted = [Trial(name, problem) for name in about for problem in statement.problems]
    if not planned and not wanted and (anyway or statement.settings):
        # A claim of a user's paper that names no problems is checked on a few.
        wanted = [Trial(name, on) for name in about for on in ([""] if anyway else PROBLEMS)]
    found = [
        *planned,
        *(
            Run(t.problem, one, t.iterations, t.seed, statement.unit)
            for t in wanted
            if (t.solver, t.problem) not in known
            for one in [s.fixed for s in _settings(statement, t.solver)] or [Registered(t.solver)]
        ),
    ]
    if anyway:
        return found
    return found + [r for r in _extremal(statement) if r.solver and r.solver.name in about]


def _settings(statement: Statement, name: str) -> list[Registered]:
    """The options of a solver that the claim of a user is about."""
    return [one for one in map(Registered, statement.settings) if one.name == name]


def _claimed(statement: Statement, solver: Registered) -> Registered:
    """A solver of the plan; with options that a user does not speak of, the one he speaks of."""
    settings = _settings(statement, solver.name)
    if not settings or any(one.means(solver) for one in settings):
        return solver
    return settings[0].fixed


def _extremal(statement: Statement) -> list[Run]:
    """The run in which it came nearest to failing, if that is written down."""
    best = extremal().get(statement.id)
    if best is None:
        return []
    solver = Registered(best.solver) if best.solver else None
    return [Run(best.problem, solver, best.iterations, best.seed, statement.unit)]


def _requested(request: Request, statement: Statement) -> Iterator[Run]:
    """The same, with the problems, iterations and seed of the request."""
    for run in _by_solver(request, statement):
        changed = replace(
            run,
            iterations=run.iterations if request.iterations is None else request.iterations,
            seed=run.seed if request.seed is None else request.seed,
            like=request.like,
        )
        for problem in request.problems or filter(request.allows, (run.problem,)):
            if not problem.startswith(PREFIX):
                yield replace(changed, problem=problem)


def _by_solver(request: Request, statement: Statement) -> Iterator[Run]:
    anyway = bool(request.problems)
    # Asked for by name, a claim may be put to a solver that it does not speak about.
    asked = statement.id in request.statements
    if request.file is not None:
        names = {solver.name for solver in request.solvers}
        if asked or not names or names & set(statement.solvers):
            for run in _about(statement, () if asked else names, anyway):
                yield replace(run, solver=request.file)
        return
    if not request.solvers:
        yield from _about(statement, (), anyway)
    for solver in request.solvers:
        if solver.name in statement.solvers:
            # A mere name chooses the runs of the plan, whatever the options of the solver there.
            keep = solver.plain and not request.problems
            for run in _about(statement, [solver.name], anyway):
                yield run if keep else replace(run, solver=solver)
        elif asked:
            for run in _about(statement, (), anyway):
                yield replace(run, solver=solver)


def _at_random(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """Random trials: no true statement may be refuted, and few be left undecided.

    A solver of the user's stands in each of them for the one that was drawn.
    """
    named = {solver.name for solver in request.solvers}
    from gammabar.harness.run.random_runs import random_trials

    narrowed = request.statements or request.sources
    only = named or ({name for s in chosen for name in s.solvers} if narrowed else None)
    drawn = random_trials(request.seed or 0, request.edges, only)
    allowed = (trial for trial in drawn if request.allows(trial.problem))
    for trial in islice(allowed, request.random):
        drawn_one = Registered(trial.solver)
        # The options of the user's are its own.
        solver = drawn_one if request.file is None else Registered(drawn_one.name)
        name = solver.name
        about = [s for s in chosen if s.about_runs and name in s.solvers]
        for unit in (True, False):
            length = trial.iterations if request.iterations is None else request.iterations
            run = Run(trial.problem, solver, length, trial.seed, unit)
            fit = [s for s in about if s.unit is unit and _cannot_hold(s, run) is None]
            if request.file is not None:
                run = replace(run, solver=request.file, like=request.like)
            if fit:
                expected = (
                    Expectation.UNREFUTED if s.status is Status.HOLDS else Expectation.EITHER
                    for s in fit
                )
                ids = tuple(s.id for s in fit)
                yield Task(run, ids, tuple(expected), planned=request.file is None)


def _expected(statement: Statement, problem: str, planned: bool) -> Expectation:
    if statement.status is Status.HOLDS:
        return Expectation.HOLDS
    if statement.status is Status.NOT_REPRODUCIBLE:
        return Expectation.NOT_REPRODUCIBLE
    return Expectation.REFUTED if planned and problem in statement.problems else Expectation.EITHER


def _missing(task: Task) -> Task:
    """Data sets that are not on this machine cannot be waited for."""
    from gammabar.problems.datasets import DATASETS, is_here

    dataset = DATASETS.get(split_problem(task.run.problem)[0].partition(":")[0])
    if not task.planned or dataset is None or is_here(dataset):
        return task
    return replace(task, expected=(Expectation.INAPPLICABLE,) * len(task.statements))


def _cannot_hold(statement: Statement, run: Run) -> str | None:
    """Why the statement is inapplicable in a run, if that is known without running anything."""
    if not isinstance(run.solver, Registered):
        return None  # a user's file is not opened in this process
    return _unmet_by(statement, run.solver, run.unit)


@lru_cache(maxsize=1 << 14)
def _unmet_by(statement: Statement, solver: Registered, unit: bool) -> str | None:
    return unmet(statement, Run("", solver, 0, 0, unit), _made(solver))


def unmet(statement: Statement, run: Run, solver: Any) -> str | None:
    """Which assumption does not hold, whatever the problem."""
    case = Case(None, solver, unit=run.unit, name=run.problem, seed=run.seed)
    for met in statement.assumes:
        try:
            reason = met(case)
        except Exception:
            continue  # it depends on the problem
        if reason is not None:
            return reason
    return None


@lru_cache(maxsize=256)
def _made(solver: Registered) -> Any:
    return solver.open()


# --- carrying it out -------------------------------------------------------------------------

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

    `jobs` says how many at once: with one, in this process, but for solvers of users; with None, as
    many as there are processors, but no more than pay off. Or the Dask cluster of a scheduler does
    the work. Results are written to the store in one transaction per task; what is there already is
    not done again with `resume`. `tell` gets the results of every task as soon as they are there.
    """
    keys = []
    if store is not None:
        from gammabar.harness.run.provenance import key

        keys = [key(task) for task in tasks]
    done: dict[int, list[Result]] = {}

    def finish(place: int, outcome: Outcome) -> None:
        run, expected = tasks[place].run, tasks[place].expected
        pairs = zip(outcome.verdicts, expected, strict=True)
        done[place] = [Result(verdict, run, one, outcome.seconds) for verdict, one in pairs]
        tell(done[place])

    if store is not None and resume:
        for place, one in enumerate(keys):
            if (known := store.get(one)) is not None:
                finish(place, known)
    todo = [place for place in range(len(tasks)) if place not in done]
    with closing(_outcomes([tasks[place] for place in todo], jobs, dask)) as outcomes:
        for number, outcome in outcomes:
            place = todo[number]
            if store is not None:
                store.put(keys[place], tasks[place], outcome)
            finish(place, outcome)
    return settle([result for place in range(len(tasks)) for result in done[place]])


def _outcomes(
    tasks: list[Task], jobs: int | None, dask: str | None
) -> Generator[tuple[int, Outcome], None, None]:
    """Numbers of tasks and their outcomes, in any order."""
    foreign = any(_is_users(task.run.solver) for task in tasks)
    most = len(tasks) if foreign else -(-len(tasks) // WORTH_A_PROCESS)
    if jobs is None and most > 1:
        from joblib import cpu_count

        jobs = min(most, int(cpu_count()))
    jobs = jobs or 1
    if dask is not None:
        from gammabar.harness.run.pool import stream

        yield from stream(tasks, dask)
    elif jobs <= 1 and not foreign:
        yield from enumerate(map(perform, tasks))
    elif tasks:
        from gammabar.harness.run.pool import Pool

        jobs = min(jobs, len(tasks))
        with Pool(single=jobs > 1) as pool:
            yield from pool.in_threads(pool.perform, tasks, jobs)


def _is_users(solver: SolverRef | None) -> bool:
    """Whether a run calls code of the user's."""
    return solver.own if isinstance(solver, Registered) else isinstance(solver, InFile)


# --- one task --------------------------------------------------------------------------------


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
        from gammabar.harness.run.sandbox import process_for

        process_for(run.solver)  # its start is not the solver's time
    try:
        # What a solver prints must not get into the JSON document on stdout.
        with redirect_stdout(sys.stderr), time_limit(task.limit, file):
            problem = open_once(run.problem) if run.problem and not run.of_inputs else None
            data = "" if problem is None else problem.digest()
            outcome = Outcome(tuple(_verdicts(task, problem, statements)), 0.0, data)
    except Fault as fault:
        outcome = task.failed(fault.failure, str(fault))
    except (Unfit, ProblemError) as error:
        mistake = task.planned and Expectation.INAPPLICABLE not in task.expected
        outcome = task.failed("crashed" if mistake else "", str(error))
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
        raise Limit(seconds).passed(place_in(stack, file))

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
    from gammabar.harness.run.sandbox import process_for

    try:
        return process_for(run.solver).open(run.solver, limit, run)
    except ProblemError as error:
        raise Crashed(str(error)) from None


def _watched(
    start: Callable[[], Iterator[Any]], file: str, foreign: bool
) -> Generator[Any, None, None]:
    """Iterates of a solver that is not trusted to behave: what goes wrong there is a `Fault`."""
    count = 0
    try:
        for it in start():
            count += 1
            yield it
    except OtherGeometry:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ProblemError) and not (count or foreign):
            raise Unfit(str(error)) from error
        raise crashed(error, file) from error


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
        with suppress(ProblemError):  # a method that does not run on such data
            again = check_run(case, some, run.iterations)
            found |= {v.statement: v.tightness for v in again if v.verdict is Ruling.HOLDS}
    return [replace(v, reference=found.get(v.statement)) for v in verdicts]
