"""Plans: which statements are checked on which runs, and what is expected of them.

By default that is every run that the papers name (`gammabar.harness.registry`), with all statements
about its solver whose assumptions can hold there; every statement that needs no run, on its own
problems; and the checks of the oracle. The user may choose statements, solvers and problems, or
bring a solver. Random plans search for a false refutation: small problems of every family and
geometry, at the edges as well, and every solver that statements are about, with random options.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from gammabar.harness.registry import (
    everything,
    extremal,
    find_sources,
    find_statements,
    papers,
    trials,
)
from gammabar.harness.run.tasks import (
    TIME_LIMIT,
    InFile,
    PaperRef,
    Recorded,
    Registered,
    Result,
    Run,
    SolverRef,
    Task,
    split_problem,
)
from gammabar.harness.verify.context import Case, Trial
from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Expectation, Status
from gammabar.problems import ProblemError


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
        kind = {" --kernel": "kernel", " --multiclass": "multiclass"}
        geometry = next((name for option, name in kind.items() if option in problem), "dense")
        return not self.geometries or geometry in self.geometries

    def names(self, result: Result) -> bool:
        """Whether the user has asked for this very statement on this very problem."""
        return result.verdict.statement in self.statements and result.run.problem in self.problems


def make_plan(request: Request) -> list[Task]:
    """The tasks of a plan, without duplicates; problems stay together."""
    chosen = _chosen(request)
    if request.random is not None:
        tasks = list(_at_random(request, chosen))
    else:
        tasks = [*_without_run(request, chosen), *_with_run(request, chosen)]
    if not tasks:
        raise ProblemError(_nothing(request))
    more: Any = {"limit": request.limit, "papers": request.papers, "depends": request.depends}
    merged = [_missing(replace(task, **more)) for task in tasks]
    order = {text: place for place, text in enumerate(dict.fromkeys(t.run.problem for t in merged))}
    return sorted(merged, key=lambda task: order[task.run.problem])


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
    for statement in find_statements(request.statements):
        if request.file is not None and not statement.solvers:
            what = f"{statement.id} is not about a solver, so not about {request.file.title}"
            raise ProblemError(what)
    unique = {statement.id: statement for statement in chosen or everything().values()}
    if request.file is not None:  # what is known to be false is not held against a user's solver
        named = set(request.statements)
        unique = {i: s for i, s in unique.items() if s.status is not Status.REFUTED or i in named}
    return list(unique.values())


def _nothing(request: Request) -> str:
    what = [*request.statements, *(f"{source}.*" for source in request.sources)]
    about = f" about {', '.join(s.text for s in request.solvers)}" if request.solvers else ""
    on = f" on {', '.join(request.problems)}" if request.problems else ""
    return f"there is nothing to verify{about}{on} in {', '.join(what) or 'the plan'}"


# --- statements without a run ----------------------------------------------------------------


def _without_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
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


def _with_run(request: Request, chosen: list[Statement]) -> Iterator[Task]:
    """One task for each run, with all statements about it."""
    about: dict[Run, dict[str, Statement]] = {}
    length: dict[Run, int] = {}
    for statement in chosen:
        runs = list(_requested(request, statement)) if statement.about_runs else []
        for run in runs:  # runs that differ in their length alone are one
            length[_any(run)] = max(run.iterations, length.get(_any(run), 0))
        for run in _sensible(request, statement, runs):
            about.setdefault(_any(run), {})[statement.id] = statement
    usual = {run for s in chosen for run in _about(s)}
    for any_length, statements in about.items():
        run = replace(any_length, iterations=length[any_length])
        planned = run in usual
        # A false claim is refuted in some run on its problem, not by every solver it is about.
        whole = planned and not request.solvers
        expected = (_expected(s, run.problem, whole) for s in statements.values())
        yield Task(run, tuple(statements), tuple(expected), planned)


def _any(run: Run) -> Run:
    """The run, whatever its length."""
    return replace(run, iterations=0)


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
    planned = [(trial, Registered(trial.solver)) for trial in trials()]
    found = [
        Run(t.problem, _claimed(statement, one), t.iterations, t.seed, statement.unit)
        for t, one in planned
        if one.name in about
    ]
    found = list(dict.fromkeys(found))
    known = {(run.solver.name, run.problem) for run in found if run.solver is not None}
    wanted = [Trial(name, problem) for name in about for problem in statement.problems]
    if not found and not wanted and anyway:
        wanted = [Trial(name, "") for name in about]
    found += [
        Run(t.problem, one, t.iterations, t.seed, statement.unit)
        for t in wanted
        if (t.solver, t.problem) not in known
        for one in [s.fixed for s in _settings(statement, t.solver)] or [Registered(t.solver)]
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
    meant = not settings or any(one.means(solver) for one in settings)
    return solver if meant else settings[0].fixed


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
            if problem.startswith(PREFIX):
                continue
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
    narrowed = request.statements or request.sources
    only = named or ({name for s in chosen for name in s.solvers} if narrowed else None)
    drawn = _random_trials(request.seed or 0, request.edges, only)
    allowed = (trial for trial in drawn if request.allows(trial.problem))
    for trial in islice(allowed, request.random):
        drawn_one = Registered(trial.solver)
        # The options of the user's are its own.
        solver = drawn_one if request.file is None else Registered(drawn_one.name)
        for unit in (True, False):
            length = trial.iterations if request.iterations is None else request.iterations
            run = Run(trial.problem, solver, length, trial.seed, unit)
            about = [s for s in chosen if s.about_runs and solver.name in s.solvers]
            fit = [s for s in about if s.unit is unit and _cannot_hold(s, run) is None]
            if request.file is not None:
                run = replace(run, solver=request.file, like=request.like)
            if fit:
                expected = (
                    Expectation.UNREFUTED if s.status is Status.HOLDS else Expectation.EITHER
                    for s in fit
                )
                yield Task(
                    run, tuple(s.id for s in fit), tuple(expected), planned=request.file is None
                )


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


#: These need coordinates.
COORDINATES = ("winnow",)
KINDS = ("ties", "dependent", "collinear", "square", "simplex", "opposite", "zero-row")


def _random_trials(
    seed: int = 0, edges: bool = False, only: Container[str] | None = None
) -> Iterator[Trial]:
    """Trials without end, the same for the same seed; each problem can be opened.

    With `edges`, problems are in special position: two rows, one dimension, symmetric data, points
    in each other's way. There many bounds are attained with equality, which no precision decides.
    `only` are names of solvers to draw from; by default all that some paper names.
    """
    from gammabar.harness.run.tasks import open_problem

    every = papers().values()
    solvers = {name: options for paper in every for name, options in paper.random.items()}
    if only is not None:
        solvers = {name: options for name, options in solvers.items() if name in only}
    if not solvers:
        return
    often = {name: times for paper in every for name, times in paper.often.items()}
    weights = np.array([often.get(name, 1) for name in solvers], dtype=float)
    rng = np.random.default_rng([seed, edges])
    while True:
        problem = special_problem(rng) if edges else random_problem(rng)
        try:
            open_problem(problem)
        except ProblemError:
            continue  # a combination of options that makes no sense, such as more support than rows
        for _ in range(3):
            name = str(rng.choice(list(solvers), p=weights / weights.sum()))
            if "--kernel" in problem and name in COORDINATES:
                continue
            options = [f"{k}={rng.choice(v)}" for k, v in solvers[name].items()]
            solver = f"{name}:{','.join(options)}" if options else name
            yield Trial(solver, problem, int(rng.choice((5, 15, 40))), int(rng.integers(1000)))


def random_problem(rng: np.random.Generator) -> str:
    """The text of a random small problem in general position."""
    n, d, seed = int(rng.integers(6, 25)), int(rng.integers(2, 8)), int(rng.integers(10**6))
    gamma = float(rng.choice((0.1, 0.15, 0.2, 0.3)))
    real = rng.choice(("iris:0,1", "iris:0,2", "digits:3,8", "digits:0,1"))
    family, text = rng.choice(
        (
            ("planted", f"planted:n={n},d={d + 1},gamma={gamma},seed={seed}"),
            ("gaussian", f"gaussian:n={n},d={d + n // 3},seed={seed},separable=1"),
            ("gaussian", f"gaussian:n={n + 2 * d},d={d},seed={seed}"),
            ("imbalanced", f"imbalanced:n={4 * n},d={d + 1},ratio=4,gamma={gamma},seed={seed}"),
            ("inseparable", f"inseparable:n={n + 4},d={d},seed={seed}"),
            ("duplicated", f"duplicated:n={n},d={d + 1},copies=3,gamma={gamma},seed={seed}"),
            ("real", f"{real}:n={2 * n},seed={seed}"),
            ("multiclass", f"iris:0,1,2:n={n + 6},seed={seed} --multiclass"),
        )
    )
    # Integer data of size 10³ are too far apart for an RBF kernel of usual width: G would be I.
    width = {"iris": 0.5, "digits": 1e-3, "gaussian": 1.0}.get(text.split(":")[0], 0)
    return _in_kernel(str(text), rng, 0.5, width) if family in ("gaussian", "real") else str(text)


def _in_kernel(text: str, rng: np.random.Generator, often: float, width: float) -> str:
    """A problem, some of the times with a kernel."""
    if rng.random() >= often:
        return text
    kernel = rng.choice(("linear", f"rbf:gamma={width}", "poly:degree=2,coef0=1"))
    return f"{text} --kernel {kernel}" + " --normalised" * int(rng.random() < 0.5)


def special_problem(rng: np.random.Generator) -> str:
    """The text of a small problem in special position."""
    n, d, seed = int(rng.integers(1, 9)), int(rng.integers(1, 6)), int(rng.integers(10**6))
    text = rng.choice(
        (
            *(f"degenerate:kind={kind},n={n},d={d},seed={seed}" for kind in KINDS),
            f"planted:n={n},d={d},gamma=0.5,seed={seed}",
            f"gaussian:n={n},d={d},seed={seed}",
            f"duplicated:n={n},d={d},copies=4,gamma=0.3,seed={seed}",
            f"two-lines:r={rng.integers(2, 5)},n={2 * n + 2}",
            f"worst-case:n={n + 10}",
            "loss-spike",
        )
    )
    return _in_kernel(str(text), rng, 0.25, 0.5)


def _cannot_hold(statement: Statement, run: Run) -> str | None:
    """Why the statement is inapplicable in a run, if that is known without running anything."""
    if not isinstance(run.solver, Registered):
        return None  # a user's file is not opened in this process
    return unmet(statement, run, _opened(run.solver))


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
def _opened(solver: Registered) -> Any:
    return solver.open()
