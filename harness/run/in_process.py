"""Verdicts in this process, in one call: what notebooks and the pytest fixture use."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import index
from typing import Any

import numpy as np

from gammabar.harness.registry import everything, find_statement
from gammabar.harness.run.tasks import InFile, Registered, Run, reference
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import STATEMENTS, Statement
from gammabar.harness.verify.verdict import Ruling, Status, Verdict, explain
from gammabar.problems import Problem, ProblemError, from_arrays
from gammabar.problems.specs import open_problem
from gammabar.solvers.base import (
    Recorder,
    from_function,
    from_object,
    has_iterates,
    with_defaults,
)

#: Updates that are checked by default.
ITERATIONS = 200
CHANGED = "the solver changed the data of the problem: copy what is to be written to"


def verify(
    solver: Any,
    problem: Any,
    statements: Any = None,
    *,
    like: str | None = None,
    iterations: int | None = None,
    seed: int = 0,
) -> list[Verdict]:
    """Check what is claimed of a solver, at every iterate of one run, in this process.

    Parameters
    ----------
    solver : object, class, function, array or str
        Something with ``iterates(problem, rng)``, which yields iterates or vectors; a class is
        made without arguments. A function that yields w_0, w_1, …, or that calls ``record(w)``;
        a `Recorder`, or an array whose row t is w_t. A text is one of ``gammabar verify
        --solver``, or a file and a class or function in it: "my.py:MySolver".
    problem : Problem, (X, y) or str
        A text is one of ``gammabar verify --problem``; X and y are as for `gammabar.from_arrays`.
    statements : str, Statement, decorated function, or a list of them, optional
        What to check: ids (see ``gammabar list statements``) or statements of one's own. By
        default all that is claimed of the method that `like` names, or of a solver of the project.
    like : str, optional
        The method that the solver implements, such as "dual-acceleration". Options that the solver
        does not say are those of the method: the default ones, or "lr-gd:step=0.1".
    iterations : int, optional
        Claims about every iterate are checked for t = 0, …, iterations: 200 by default, or all
        that was recorded.
    seed : int
        Of the solver's random numbers.

    Returns
    -------
    list of Verdict
        In the order of the statements. ``verdict`` of each is "holds", "refuted", "undecided" or
        "inapplicable", and ``reason`` says why. ``says_nothing`` is true of a pass that a solver
        which stands still would have got, too.

    Notes
    -----
    The solver shares this process with the checks, so this is for solvers that mean well: see
    ``SECURITY.md``. Exceptions that it raises are raised here.

    Examples
    --------
    >>> import gammabar as gb
    >>> [verdict] = gb.verify("dual-acceleration", "iris:0,1", "gb.sharp", iterations=30)
    >>> verdict.verdict == "holds", verdict.checked
    (True, 30)
    """
    found = _checked(solver, problem, statements, iterations, seed, like)
    return [one.verdict for one in found]


class BoundViolated(AssertionError):
    """A statement that was to hold was refuted, or nothing was shown about it."""

    def __init__(self, message: str, verdicts: list[Verdict]) -> None:
        super().__init__(message)
        self.verdicts = verdicts


def check_bounds(
    statements: Any,
    solver: Any,
    problem: Any,
    *,
    like: str | None = None,
    iterations: int | None = None,
    seed: int = 0,
    strict: bool = False,
) -> list[Verdict]:
    """The same for tests: raise `BoundViolated` for what is not shown.

    That is what is refuted or undecided, what is inapplicable because of the solver or of a run in
    which there was nothing to check, and with `strict` what is vacuous. The message shows both
    sides and the iterate. The verdicts are "holds", or "inapplicable" because of the problem.
    """
    found = _checked(solver, problem, statements, iterations, seed, like)
    if statements is None:  # of all that is claimed, what does not apply is left out
        every, found = found, [one for one in found if one.applies]
        if not found:
            reasons = "; ".join(dict.fromkeys(one.verdict.reason for one in every))
            raise BoundViolated(f"nothing was checked: {reasons}", [o.verdict for o in every])
    bad = [one for one in found if not one.shown or (strict and one.verdict.says_nothing)]
    if not bad:
        return [one.verdict for one in found]
    messages = [one.verdict.explain() for one in bad]
    if statements is None:  # the first in full, refutations at the front, and the names
        bad.sort(key=lambda one: (not one.refuted, one.verdict.worst_t or 0))
        names = ", ".join(one.statement.id for one in bad[1:])
        more = [f"and so {len(bad) - 1} more: {names}"] if names else []
        messages = [bad[0].verdict.explain(), *more]
    raise BoundViolated("\n\n".join(messages), [one.verdict for one in found])


@dataclass(frozen=True)
class _Checked:
    statement: Statement
    case: Case
    verdict: Verdict

    @property
    def applies(self) -> bool:
        """Whether it says something of the run: one that is over may be too short for a claim."""
        verdict = self.verdict
        short = verdict.reason.startswith("the run ended") and not verdict.failure
        return verdict.verdict is not Ruling.INAPPLICABLE and not short

    @property
    def shown(self) -> bool:
        """Whether it holds, or the problem is one of which nothing is claimed."""
        if self.verdict.verdict is not Ruling.INAPPLICABLE:
            return self.verdict.verdict is Ruling.HOLDS
        if self.statement.inapplicable(self.case) is None:
            return False  # nothing to check in this run
        from gammabar.harness.run.engine import unmet

        run = Run(self.case.name, seed=self.case.seed, unit=self.case.unit)
        return unmet(self.statement, run, self.case.solver) is None

    def explained(self, problem: str, intact: bool) -> _Checked:
        """The same, explained; nothing is known of a run on data that were changed meanwhile."""
        verdict, by = self.verdict, type(self.case.solver).__name__
        if not intact:
            changed: Any = {"reason": CHANGED, "failure": "crashed"}
            verdict = Verdict(self.statement.id, Ruling.UNDECIDED, **changed)
        words = partial(explain, self.statement, verdict, problem=problem, solver=by)
        return replace(self, verdict=verdict.explained(words))

    @property
    def refuted(self) -> bool:
        return self.verdict.verdict is Ruling.REFUTED


def _checked(
    solver: Any,
    problem: Any,
    statements: Any,
    iterations: int | None,
    seed: int,
    like: str | None = None,
) -> list[_Checked]:
    if isinstance(problem, tuple):
        problem = from_arrays(*problem)
    _whole(seed, "seed", 0)
    name = problem if isinstance(problem, str) else repr(problem)
    opened = (open_problem(problem) if isinstance(problem, str) else problem).raw()
    solver = _solver(solver)  # which may change the working folder
    iterations = _length(solver, iterations)
    if like is not None:
        solver = with_defaults(solver, Registered(like).open())  # a misspelt name gets a suggestion
    chosen = _about(solver, like, opened) if statements is None else _statements(statements)
    if not _as_it_was(opened):
        raise ProblemError(
            "the arrays of this problem have changed since it was made: make the problem anew"
        )
    found: dict[int, _Checked] = {}
    for unit in {statement.unit for statement in chosen}:
        case = Case(opened, solver, unit=unit, name=name, seed=seed)
        same = {place: s for place, s in enumerate(chosen) if s.unit is unit}
        verdicts = _verdicts(case, list(same.values()), iterations)
        pairs = zip(same.items(), verdicts, strict=True)
        found |= {place: _Checked(s, case, verdict) for (place, s), verdict in pairs}
    intact = _as_it_was(opened)
    return [found[place].explained(name, intact) for place in range(len(chosen))]


def _verdicts(case: Case, statements: list[Statement], iterations: int) -> list[Verdict]:
    """The verdicts of one run, and of what needs none."""
    about = [s for s in statements if s.about_runs]
    found = check_run(case, about, iterations) if about else []
    if any(verdict.verdict is Ruling.REFUTED for verdict in found):
        from gammabar.harness.run.diagnosis import explained

        found = explained(case, about, found)
    along = iter(found)
    return [next(along) if s.about_runs else check_statement(s, case) for s in statements]


def _as_it_was(problem: Problem) -> bool:
    """Whether the data are those of which radius, norms and digest are kept."""
    known = problem._memo.get("digest")
    return (problem.digest() if known is None else problem._digest()) == problem.digest()


def _solver(given: Any) -> Any:
    if isinstance(given, str):
        from gammabar.harness.run.user_files import read_solver

        found = reference(given)
        if found is None:
            raise ProblemError("an empty text names no solver")
        if isinstance(found, InFile):  # without a colon it is a name, which is misspelt
            found = read_solver(given) if ":" in given else Registered(given)
        return found.open()
    if isinstance(given, np.ndarray):
        return Recorder(given)
    if inspect.isclass(given):
        given = given()
    elif inspect.isroutine(given) or isinstance(given, partial):
        return from_function(given)
    if inspect.isgenerator(given):
        name = given.__name__
        raise ProblemError(
            f"{name}(…) is a run that has begun, and can be read only once:"
            f" give the function itself: {name}"
        )
    return from_object(has_iterates(given, type(given).__name__))


def _length(solver: Any, iterations: int | None) -> int:
    """How many updates are checked."""
    last = len(solver) - 1 if isinstance(solver, Recorder) else None
    if iterations is None:
        return ITERATIONS if last is None else max(last, 1)
    _whole(iterations, "iterations", 1)
    if last is not None and iterations > last:
        raise ProblemError(f"iterations is {iterations}, but what was recorded ends at w_{last}")
    return iterations


def _about(solver: Any, like: str | None, problem: Problem) -> list[Statement]:
    """All that is claimed of a method on one problem, by its name."""
    name = Registered(like or getattr(getattr(solver, "card", None), "name", None) or "").name
    known = (s for s in everything().values() if s.status is Status.HOLDS or like is None)
    about = [s for s in known if name in s.solvers and "" not in s.problems]
    if not about:
        kind, listed = type(solver).__name__, " (see `gammabar list solvers`)"
        from gammabar.harness.run.diagnosis import resembling

        alike = resembling(
            lambda unit: _begun(solver, problem.unit() if unit else problem), problem
        )
        raise ProblemError(
            f"say which method {kind} implements, like='dual-acceleration'{alike or listed}, or"
            " which statements it is to obey, statements=[…]"
        )
    return about


def _begun(solver: Any, problem: Problem) -> list[Any]:
    """The first iterates of a solver; none if it fails."""
    try:
        return [np.asarray(it.w, float) for it in islice(solver.iterates(problem, None), 6)]
    except Exception:
        return []


def _statements(given: Any) -> list[Statement]:
    if isinstance(given, str | Statement) or not isinstance(given, Sequence):
        given = [given]
    if not given:
        raise ProblemError("no statement is named, so that nothing would be checked")
    return [_statement(one) for one in given]


def _statement(given: Any) -> Statement:
    if isinstance(given, Statement):
        return given
    if isinstance(given, str):
        return find_statement(given)
    for statement in STATEMENTS.values():
        if statement.body is given:
            return statement
    name = getattr(given, "__name__", repr(given))
    raise ProblemError(f"{name} is no statement: name an id, or decorate it (@per_iterate, …)")


def _whole(value: Any, name: str, least: int) -> None:
    try:
        fits = index(value) >= least
    except TypeError:
        fits = False
    if not fits:
        raise ProblemError(f"{name} must be a whole number of at least {least}, not {value!r}")
