"""``gammabar verify``: what the sources claim, against what solvers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.cli.command import (
    JOBS,
    JSON,
    KEPT,
    OF_SPACE,
    OF_TABLE,
    PAPER,
    READ,
    SEED,
    SOLVER,
    SOURCE,
    SPACE,
    TABLE,
    argument,
    command,
    data,
    given,
    open_papers,
    picked,
    run,
    what,
    write,
)
from gammabar.harness.screen import bar, counted, print_json, say

if TYPE_CHECKING:
    from gammabar.harness.run.engine import Request, Tell
    from gammabar.harness.run.store import Store
    from gammabar.harness.run.tasks import Result, Task


_SPACES = click.Choice(("dense", "kernel", "multiclass"))


@command(
    "verify",
    argument("own", metavar="[FILE:SOLVER]...", nargs=-1, names="files"),
    what("--as METHOD", "The method that FILE:SOLVER implements."),
    what("--statement ID", "Only this statement.", many=True),
    SOURCE,
    SOLVER,
    what("--solver-file FILE:NAME", "The same as the argument FILE:SOLVER.", many=True),
    what("--trajectory FILE", "Recorded w_0, w_1, …: .npy, .csv or .parquet.", many=True),
    PAPER,
    what("--strict", "Fail vacuous passes: an idle solver passes too."),
    data("--problem DATA", "Only this problem.", many=True),
    SPACE,
    TABLE,
    data("--random N", "N random runs instead of the default plan."),
    data("--geometry NAME", "Only dense, kernel or multiclass problems.", many=True, type=_SPACES),
    data("--edges", "With --random: degenerate data (two rows, one column, …)."),
    run("--iterations T", "Check iterations 0 to T.  [default: as planned]"),
    SEED,
    run("--time-limit SECONDS", "Time for each run of a solver.", default=300),
    JOBS,
    run("--dask ADDRESS", "Run on the Dask cluster of this scheduler."),
    run("--resume", "Skip runs whose results in --store are up to date."),
    run(
        "--depends FILE",
        "A file or folder that your solver reads.",
        many=True,
        type=READ,
    ),
    write("--store FILE", "Keep the results in this SQLite file.", type=KEPT),
    write("--junit FILE", "Write the results as JUnit XML."),
    write("--report DIR", "Write a report: index.html, report.md and badge.svg."),
    write("--all", "Print every statement, and every failure in full."),
    JSON,
    epilog="DATA: see `gammabar oracle --help`.",
)
def verify_command(o: Any) -> int:
    """Check what papers claim about solvers, at every iterate of every run.
    By default: every statement, on embedded data. To check your own solver, a generator or a
    class: gammabar verify my.py:mine --as dual-acceleration
    """
    start = perf_counter()
    if o.store is None and (o.resume or o.depends):
        raise click.UsageError(f"{'--resume' if o.resume else '--depends'} needs --store FILE")
    if o.dask is not None and o.trajectory:
        raise click.UsageError("--trajectory is read on this machine, so --dask cannot check it")
    say(_opening(o), err=True)
    from gammabar.harness.run.engine import run as run_tasks
    from gammabar.harness.run.provenance import origin
    from gammabar.harness.run.store import Store
    from gammabar.harness.run.tasks import strictly, summarise, telling, write_junit
    from gammabar.harness.show import explain, show_all
    from gammabar.problems.output import check_writable

    if o.junit is not None:
        check_writable(o.junit)  # better to know now
    path = o.store
    if o.report is not None:
        o.report.mkdir(parents=True, exist_ok=True)
        path = path or o.report / "results.db"
    with ExitStack() as stack:
        store = stack.enter_context(Store(path)) if path is not None else None
        requests = _requests_of(o)
        request, parts = requests[0], _plan_of(requests)
        planned = list(islice(parts, 2))
        total = len(planned[0]) if len(planned) == 1 else None
        with _bar(total) as tell, _interruptible(store, total):
            if store is not None:
                store.sign(origin())
            how: Any = {"jobs": o.jobs, "dask": o.dask, "store": store, "resume": o.resume}
            work = chain(planned, parts)
            results = [result for part in work for result in run_tasks(part, tell=tell, **how)]
        results = telling(results, asked=request.names, each_problem=bool(request.problems))
        if o.strict:
            results = strictly(results, _excused)
        # The answer comes first: what is written besides may find no room.
        summary = summarise(results)
        if o.json:
            every = [result.as_dict() for result in results]
            print_json({"summary": summary, "results": every}, "verify")
        else:
            show_all(results, summary, perf_counter() - start, o.all)
        if o.report is not None and store is not None:
            _report(results, store, o.report)
    if o.junit is not None:
        write_junit(o.junit, results, explain)
    own = o.own or o.solver_file or o.trajectory
    if (o.statement or own) and summary["inapplicable"] == summary["results"]:
        reasons = dict.fromkeys(result.verdict.reason for result in results)
        raise click.ClickException(f"nothing was checked: {'; '.join(reasons)}")
    return int(summary["unexpected"] > 0)


def _opening(o: Any) -> str:
    """What is going to be checked, as far as the options say it."""
    count, problems = len(set(o.statement)), dict.fromkeys(o.problem)
    about = "the default plan"
    if o.as_:
        about = f"all that is claimed of {o.as_}"
    elif count:
        about = counted(count, "statement")
    elif o.source:
        about = f"the statements of {', '.join(o.source)}"
    elif o.random:
        about = counted(o.random, "random run")
    elif problems or o.own or o.solver or o.solver_file or o.trajectory or o.paper:
        about = "the statements that apply"
    return f"checking {about}" + (f" on {', '.join(problems)}" if problems else "")


def _excused(result: Result) -> bool:
    """Whether a statement says why it is vacuous; for a user's solver that is a failure still."""
    from gammabar.harness.registry import obeyed_at_rest

    return not result.run.foreign and bool(obeyed_at_rest(result.verdict.statement))


def _report(results: list[Result], store: Store, folder: Path) -> None:
    from gammabar.harness.report import write_report
    from gammabar.harness.report.model import gather

    written = write_report(gather(results, store.origins()[-1:], store.data()), folder)
    say(f"report: {written}", err=True)


@contextmanager
def _interruptible(store: Store | None, total: int | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if store is not None:
            of = "" if total is None else f" of {total}"
            done = f"{store.written}{of} runs are now in {store.path}"
            say(f"gammabar: {done}; go on with --resume", err=True)
        raise


@contextmanager
def _bar(total: int | None) -> Iterator[Tell]:
    """The verdicts so far on stderr: a bar on a terminal, a line now and then in a pipe."""
    from gammabar.harness.verify.verdict import Expectation

    counts: Counter[str] = Counter()

    def count(results: list[Result]) -> str:
        counts.update(result.verdict.verdict for result in results)
        # That a false statement is refuted may be left to another run.
        wrong = (r for r in results if not r.as_expected and r.expected != Expectation.REFUTED)
        counts.update("FAILED" for _ in wrong)
        return ", ".join(f"{count} {name}" for name, count in counts.items())

    with bar(total, "runs") as advance:
        yield lambda results: advance(count(results))


def _requests_of(o: Any) -> list[Request]:
    """What is asked for; of each solver of the user's by itself."""
    from gammabar.harness.registry import mutants
    from gammabar.harness.run.engine import PROBLEMS, Request
    from gammabar.harness.run.provenance import contents
    from gammabar.harness.run.tasks import Registered
    from gammabar.problems import ProblemError
    from gammabar.problems.specs import problem_text

    for text in o.own:
        if ":" not in text:
            raise click.UsageError(
                f"({text}) is not a solver of your own, FILE:NAME as in my.py:mine; an option with"
                " several values is repeated: --statement A --statement B"
            )
    files = dict.fromkeys((*o.own, *o.solver_file))
    own = bool(files or o.trajectory)
    problems, solvers = o.problem, o.solver
    if o.as_ is not None:
        if not own:
            raise click.UsageError("--as needs a solver of your own: gammabar verify my.py:mine")
        solvers = (*solvers, o.as_)
        problems = problems or (() if o.random else PROBLEMS)
    if o.random is not None and (problems or o.trajectory or (solvers and not own)):
        raise click.UsageError(
            "--random draws problems and solvers itself (a solver of your own: --solver-file)"
        )
    if o.edges and o.random is None:
        raise click.UsageError("--edges needs --random N")
    reading = (*OF_SPACE, *OF_TABLE)
    if not problems and any(map(given, reading)):
        raise click.UsageError(f"{', '.join(f'--{name}' for name in reading)} need --problem")
    texts = (problem_text(data, **picked(o, reading)) for data in dict.fromkeys(problems))
    named = tuple(Registered(text) for text in solvers)
    wrong = next((one.name for one in named if "/" in one.name and one.name in mutants()), None)
    if wrong is not None:
        raise ProblemError(
            f"{wrong} is a mutant, wrong on purpose: `gammabar show {wrong}` says which statements"
            " refute it, and on which data"
        )
    refs, keys = open_papers(o.paper)
    request = Request(
        statements=o.statement,
        # A paper of one's own alone means its statements.
        sources=o.source if o.statement else (*o.source, *keys),
        problems=tuple(texts),
        solvers=named,
        limit=o.time_limit,
        geometries=o.geometry,
        like=o.as_ or "",
        depends=contents(o.depends) if o.depends else "",
        papers=refs,
        **picked(o, ("iterations", "seed", "random", "edges")),
    )
    if not own:
        return [request]
    return [
        *(_with_file(request, file) for file in files),
        *(_with_trajectory(request, file) for file in dict.fromkeys(o.trajectory)),
    ]


def _plan_of(requests: list[Request]) -> Iterator[list[Task]]:
    """The tasks of all requests, in parts; what is wrong with the data is said before the first."""
    from gammabar.harness.registry import find_statements
    from gammabar.harness.run.engine import make_plan, plan_in_parts
    from gammabar.harness.verify.parameters import PREFIX, read as read_inputs
    from gammabar.problems.specs import open_once

    if requests[0].random is not None:
        for request in requests:
            yield from plan_in_parts(request)
        return
    tasks = [task for request in requests for task in make_plan(request)]
    for text in requests[0].problems:
        if not text.startswith(PREFIX):
            open_once(text)
            continue
        for statement in find_statements(requests[0].statements):
            read_inputs(statement.inputs, text)
    yield tasks


def _with_file(request: Request, file: str) -> Request:
    """A user's file is loaded in another process: importing it may do anything."""
    from gammabar.harness.run.pool import Pool
    from gammabar.harness.run.tasks import Registered
    from gammabar.harness.run.user_files import read_solver
    from gammabar.problems import ProblemError
    from gammabar.solvers.base import SOLVERS

    solver = read_solver(file)
    unknown = not (request.solvers or request.statements or request.sources)
    with Pool(single=False) as crew:
        found = crew.probe(solver, request.limit, unknown)
    if "error" in found:
        raise ProblemError(found["error"])
    if unknown and found["name"] in SOLVERS:  # it has a card, which says what it stands for
        request = replace(request, solvers=(Registered(found["name"]),))
    geometries = request.geometries or tuple(found["geometries"])
    return replace(request, file=solver, geometries=geometries, resembles=found["resembles"])


def _with_trajectory(request: Request, file: str) -> Request:
    """Iterates in a file: they belong to one problem, and end where the file does."""
    from gammabar.harness.run.diagnosis import resembling
    from gammabar.harness.run.tasks import TRAJECTORY, Recorded
    from gammabar.harness.verify.iterate import misfit
    from gammabar.problems import ProblemError
    from gammabar.problems.specs import open_once

    if len(request.problems) != 1:
        raise click.UsageError("--trajectory needs --problem DATA: the one that it was computed on")
    reference = Recorded(TRAJECTORY + file)
    rows = reference.open().array
    problem, last = open_once(request.problems[0]), len(rows) - 1
    if rows.shape[1] != problem.dimension:
        wrong = misfit(rows.shape[1], problem.dimension, len(rows))
        raise ProblemError(f"{reference.file}: w_0 has {wrong} on {request.problems[0]}")
    wanted = request.iterations or last
    if wanted > last:
        raise ProblemError(f"{reference.file}: its last row is w_{last}, but --iterations {wanted}")
    if not (request.solvers or request.statements or request.sources):
        alike = resembling(lambda unit: [*rows[:6].astype(float)], problem)
        request = replace(request, resembles=alike)
    return replace(request, file=reference, iterations=wanted)
