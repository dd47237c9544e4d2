"""The plan: which statements are examined on which runs, and what is expected of them.

By default that is every run that the statements' modules name (`gammabar.harness.library`), heard
by all statements about its solver; every statement that needs no run, on its own problems; and the
checks of the oracle. The user may choose statements, solvers and problems, or bring a solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from gammabar.harness.court.statement import Statement
from gammabar.harness.court.trial import Trial
from gammabar.harness.library import trials
from gammabar.harness.run.random_trials import random_trials
from gammabar.harness.run.registry import everything, find_sources, find_statements
from gammabar.harness.run.task import TIME_LIMIT, Task
from gammabar.harness.run.texts import open_solver, solver_name, split_problem
from gammabar.problems import ProblemError

RUNS = ("iterates", "stopping")


@dataclass(frozen=True)
class Request:
    """What the user wants to have verified; everything, unless something is chosen.

    Attributes
    ----------
    statements, sources : tuple of str
        Ids of statements; prefixes of ids.
    problems, solvers : tuple of str
        As `harness.run.texts` takes them. With `file`, `solvers` are those that it stands for.
    file, code : str or None
        "my.py:MySolver" and the text of the file.
    iterations, seed : int or None
        Instead of those of the plan.
    limit : float
        Seconds for each trajectory.
    random : int or None
        Instead of the plan, so many random trials (`gammabar.harness.run.random_trials`).
    edges : bool
        Random trials on problems in special position.
    """

    statements: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    file: str | None = None
    code: str | None = None
    iterations: int | None = None
    seed: int | None = None
    limit: float = TIME_LIMIT
    random: int | None = None
    edges: bool = False


def make_plan(request: Request) -> list[Task]:
    """The tasks of a plan, without duplicates; problems stay together."""
    chosen = _chosen(request)
    if request.random is not None:
        tasks = list(_at_random(request, chosen))
    else:
        tasks = [*_without_run(request, chosen), *_with_run(request, chosen)]
    if not tasks:
        raise ProblemError(_nothing(request))
    merged = [_missing(replace(task, limit=request.limit)) for task in tasks]
    order = {text: place for place, text in enumerate(dict.fromkeys(t.problem for t in merged))}
    return sorted(merged, key=lambda task: order[task.problem])


def _chosen(request: Request) -> list[Statement]:
    for text in request.solvers:
        open_solver(text)  # unknown names and options are refused at once
    chosen = find_statements(request.statements) + find_sources(request.sources)
    if request.file is not None and not chosen and not request.solvers:
        raise ProblemError(
            f"{request.file}: say what it is to obey: --statement ID, or --solver NAME for all that"
            " is claimed of NAME"
        )
    if request.file is not None:
        for statement in find_statements(request.statements):
            if not statement.solvers:
                raise ProblemError(
                    f"{statement.id} is not about a solver, so {request.file} has no part in it"
                )
    unique = {statement.id: statement for statement in chosen or everything().values()}
    return list(unique.values())


def _nothing(request: Request) -> str:
    what = [*request.statements, *(f"{source}.*" for source in request.sources)]
    about = f" about {', '.join(request.solvers)}" if request.solvers else ""
    on = f" on {', '.join(request.problems)}" if request.problems else ""
    return f"there is nothing to verify{about}{on} in {', '.join(what) or 'the plan'}"


# --- statements without a run ----------------------------------------------------------------


def _without_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """A task for each problem; a statement about solvers may be put to the user's."""
    for statement in chosen:
        if statement.way in RUNS:
            continue
        own = statement.problems
        asked = request.problems if any(own) else ()  # one that brings its data needs no others
        if request.problems and not asked:
            continue
        for problem in dict.fromkeys(asked or own):
            for solver in _solvers(request, statement):
                planned = problem in own and request.seed is None and not solver
                yield Task(
                    (statement.id,),
                    (_expected(statement, problem, planned),),
                    problem,
                    solver,
                    request.code,
                    seed=request.seed or 0,
                    unit=statement.unit,
                    planned=planned,
                )


def _solvers(request: Request, statement: Statement) -> list[str]:
    """The solvers that a statement is put to: "" is the one that it takes by itself."""
    named = [text for text in request.solvers if solver_name(text) in statement.solvers]
    if request.file is not None:
        asked = statement.id in request.statements
        return [request.file] if statement.solvers and (asked or named) else []
    if not request.solvers:
        return [""]
    return ["" if text == solver_name(text) else text for text in named]


# --- statements about runs -------------------------------------------------------------------


def _with_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """One task for each run, with all statements that hear it."""
    heard: dict[_Run, dict[str, Statement]] = {}
    length: dict[_Run, int] = {}
    for statement in chosen:
        for trial in _wishes(request, statement) if statement.way in RUNS else ():
            run = _Run(trial.problem, trial.solver, trial.seed, statement.unit)
            heard.setdefault(run, {})[statement.id] = statement
            length[run] = max(trial.iterations, length.get(run, 0))
    usual = {(t.problem, t.solver, t.seed, t.iterations) for s in chosen for t in _about(s)}
    for run, statements in heard.items():
        planned = (run.problem, run.solver, run.seed, length[run]) in usual
        # A false claim is refuted in some run on its problem, not by every solver it is about.
        whole = planned and not request.solvers
        expected = (_expected(s, run.problem, whole) for s in statements.values())
        yield Task(
            tuple(statements),
            tuple(expected),
            run.problem,
            run.solver,
            request.code,
            length[run],
            run.seed,
            run.unit,
            planned,
        )


@dataclass(frozen=True)
class _Run:
    """What one run of a solver depends on, but for its length."""

    problem: str
    solver: str
    seed: int
    unit: bool


def _about(statement: Statement, names: Iterable[str] = (), anyway: bool = False) -> list[Trial]:
    """The runs of the plan in which a statement is heard; of solvers with these names, if any.

    `anyway`: if there is none, some run without a problem, for the user has problems of his own.
    """
    about = [name for name in statement.solvers if not names or name in names]
    found = [trial for trial in trials() if solver_name(trial.solver) in about]
    known = {(solver_name(trial.solver), trial.problem) for trial in found}
    wanted = ((name, problem) for name in about for problem in statement.problems)
    found += [Trial(*pair) for pair in wanted if pair not in known]
    return found or [Trial(name, "") for name in about if anyway]


def _wishes(request: Request, statement: Statement) -> Iterator[Trial]:
    """The same, changed as the user wishes."""
    for trial in _by_solver(request, statement):
        changed = replace(
            trial,
            iterations=trial.iterations if request.iterations is None else request.iterations,
            seed=trial.seed if request.seed is None else request.seed,
        )
        for problem in request.problems or (trial.problem,):
            yield replace(changed, problem=problem)


def _by_solver(request: Request, statement: Statement) -> Iterator[Trial]:
    anyway = bool(request.problems)
    # Asked for by name, a claim may be put to a solver that it does not speak about.
    asked = statement.id in request.statements
    names = {text: solver_name(text) for text in request.solvers}
    if request.file is not None:
        if asked or not names or set(names.values()) & set(statement.solvers):
            for trial in _about(statement, () if asked else names.values(), anyway):
                yield replace(trial, solver=request.file)
        return
    if not names:
        yield from _about(statement, (), anyway)
    for text, name in names.items():
        if name in statement.solvers:
            # A mere name chooses the runs of the plan, whatever the options of the solver there.
            keep = text == name and not request.problems
            for trial in _about(statement, [name], anyway):
                yield trial if keep else replace(trial, solver=text)
        elif asked:
            for trial in _about(statement, (), anyway):
                yield replace(trial, solver=text)


def _at_random(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """Random trials: no true statement may be refuted, and few be left undecided."""
    for trial in islice(random_trials(request.seed or 0, request.edges), request.random):
        name = solver_name(trial.solver)
        for unit in (True, False):
            heard = [s for s in chosen if s.way in RUNS and name in s.solvers and s.unit is unit]
            if heard:
                expected = ("unrefuted" if s.status == "holds" else "either" for s in heard)
                yield Task(
                    tuple(s.id for s in heard),
                    tuple(expected),
                    trial.problem,
                    trial.solver,
                    iterations=trial.iterations,
                    seed=trial.seed,
                    unit=unit,
                )


def _expected(statement: Statement, problem: str, planned: bool) -> str:
    if statement.status == "holds":
        return "holds"
    return "refuted" if planned and problem in statement.problems else "either"


def _missing(task: Task) -> Task:
    """Data sets that are not on this machine cannot be waited for."""
    from gammabar.problems.datasets import DATASETS, find

    dataset = DATASETS.get(split_problem(task.problem)[0].partition(":")[0])
    if not task.planned or dataset is None or dataset.folder is None or find(dataset) is not None:
        return task
    return replace(task, expected=("inapplicable",) * len(task.statements))
