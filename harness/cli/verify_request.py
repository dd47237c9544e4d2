"""What the options of ``gammabar verify`` ask for, and the tasks that come of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.cli.options import open_papers

#: Where a solver of the user's is checked unless problems are named.
PROBLEMS = (
    "iris:0,1",
    "planted:n=100,d=8,gamma=0.1,seed=0",
    "gaussian:n=60,d=20,seed=2,separable=1",
    "inseparable:n=30,d=3,seed=0",
)

if TYPE_CHECKING:
    from gammabar.harness.run.plan import Request
    from gammabar.harness.run.results import Task


def requests_of(
    kernel: str | None,
    normalised: bool,
    multiclass: bool,
    label: str | None,
    labels: str | None,
    drop: tuple[str, ...],
    problems: tuple[str, ...],
    files: tuple[str, ...],
    trajectories: tuple[str, ...],
    solvers: tuple[str, ...],
    papers: tuple[str, ...],
    own_solvers: tuple[str, ...] = (),
    like: str | None = None,
    **asked: Any,
) -> list[Request]:
    """What is asked for; of each solver of the user's by itself."""
    from gammabar.harness.run.plan import Request
    from gammabar.harness.run.specs import Registered, problem_text

    for text in own_solvers:
        if ":" not in text:
            raise click.UsageError(
                f"({text}) is no solver of your own, FILE:NAME as in my.py:mine; several values"
                " take the option each: --statement A --statement B"
            )
    files = (*own_solvers, *files)
    own = bool(files or trajectories)
    if like is not None:
        if not own:
            raise click.UsageError(
                "--as goes with a solver of your own: gammabar verify my.py:mine"
            )
        solvers = (*solvers, like)
        asked["like"] = like
        problems = problems or (() if asked["random"] else PROBLEMS)
    if asked["random"] is not None and (problems or trajectories or (solvers and not own)):
        raise click.UsageError(
            "--random draws problems and solvers itself (a solver of your own: --solver-file)"
        )
    if asked["edges"] and asked["random"] is None:
        raise click.UsageError("--edges goes with --random N")
    reading: dict[str, Any] = {"label": label, "labels": labels, "drop": drop}
    if not problems and (kernel or normalised or multiclass or any(reading.values())):
        raise click.UsageError(
            "--kernel, --normalised, --multiclass, --label, --labels and --drop go with --problem"
        )
    texts = tuple(
        problem_text(data, kernel=kernel, normalised=normalised, multiclass=multiclass, **reading)
        for data in dict.fromkeys(problems)
    )
    named = tuple(Registered(text) for text in solvers)
    for solver in named:
        _no_mutant(solver.name)
    refs, keys = open_papers(papers)
    if not asked["statements"]:  # a paper of one's own alone means its statements
        asked["sources"] = (*asked["sources"], *keys)
    request = Request(problems=texts, solvers=named, papers=refs, **asked)
    if not own:
        return [request]
    return [
        *(_with_file(request, file) for file in dict.fromkeys(files)),
        *(_with_trajectory(request, file) for file in dict.fromkeys(trajectories)),
    ]


def _no_mutant(name: str) -> None:
    """A wrong solver of the project is told apart from a name that is none."""
    if "/" in name:
        from gammabar.harness.registry import mutants
        from gammabar.problems import ProblemError

        if name in mutants():
            raise ProblemError(
                f"{name} is a mutant, wrong on purpose: `gammabar show {name}` says which"
                " statements refute it, and on which data"
            )


def plan_of(requests: list[Request]) -> list[Task]:
    """The tasks of all requests."""
    from gammabar.harness.registry import find_statements
    from gammabar.harness.run.plan import make_plan
    from gammabar.harness.run.specs import open_once
    from gammabar.harness.verify.parameters import PREFIX, read as read_inputs

    tasks = [task for request in requests for task in make_plan(request)]
    for text in requests[0].problems:
        if text.startswith(PREFIX):
            for statement in find_statements(requests[0].statements):
                read_inputs(statement.inputs, text)
            continue
        open_once(text)  # what is wrong with the data is said once, before anything runs
    return tasks


def _with_file(request: Request, file: str) -> Request:
    """A user's file is loaded in another process: importing it may do anything."""
    from gammabar.harness.run.pool import Pool
    from gammabar.harness.run.specs import Registered
    from gammabar.harness.run.user_files import read_solver
    from gammabar.problems import ProblemError
    from gammabar.solvers.base import SOLVERS

    solver = read_solver(file)
    with Pool(single=False) as crew:
        found = crew.probe(solver, request.limit)
    if "error" in found:
        raise ProblemError(found["error"])
    if not (request.solvers or request.statements or request.sources) and found["name"] in SOLVERS:
        # It has a card, which says what it stands for.
        request = replace(request, solvers=(Registered(found["name"]),))
    return replace(
        request, file=solver, geometries=request.geometries or tuple(found["geometries"])
    )


def _with_trajectory(request: Request, file: str) -> Request:
    """Iterates in a file: they belong to one problem, and end where the file does."""
    from gammabar.harness.run.specs import TRAJECTORY, Recorded, open_once
    from gammabar.harness.verify.iterate import misfit
    from gammabar.problems import ProblemError

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
    return replace(request, file=reference, iterations=wanted)
