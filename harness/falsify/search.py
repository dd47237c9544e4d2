"""Strategies side by side, for as long as there is time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from gammabar.harness.falsify.candidate import Ask, Candidate, Finding
from gammabar.harness.falsify.parameters import STRATEGIES as OVER_INPUTS
from gammabar.harness.falsify.shrink import shrink
from gammabar.harness.falsify.strategies import STRATEGIES, Over, Space
from gammabar.harness.registry import PaperRef, papers
from gammabar.harness.run.pool import Crew
from gammabar.harness.run.results import Task
from gammabar.harness.run.specs import Registered, SolverRef
from gammabar.harness.run.user_files import read_solver
from gammabar.harness.verify.parameters import Inputs
from gammabar.harness.verify.statement import RandomisedStatement, Statement
from gammabar.harness.verify.verdict import Ruling, Status, Verdict
from gammabar.problems import ProblemError

#: Seconds that one run may take.
LIMIT = 10.0
#: What making it smaller may take, as a part of the budget, and at least so many seconds.
SHRINKING, LEAST = 0.5, 10.0
#: Seeds, further on, with which a refutation by counting is confirmed.
FRESH = (10**6, 2 * 10**6)


@dataclass
class Report:
    """What a hunt found.

    Attributes
    ----------
    statement : str
    best : Finding or None
        The refutation, made as small as it got; without one, what came nearest.
    runs : counts of runs by strategy
    nearest : best score by strategy
    found_after : int or None
        How many runs there were when it was found.
    """

    statement: str
    best: Finding | None = None
    runs: Counter[str] = field(default_factory=Counter)
    nearest: dict[str, float] = field(default_factory=dict)
    found_after: int | None = None

    @property
    def refuted(self) -> bool:
        return self.best is not None and self.best.refuted


Tell = Callable[[Report], None]


def unexpected(statement: Statement, refuted: bool) -> bool:
    """Whether something was found that the registry does not say: exit code 1."""
    return refuted and statement.status is Status.HOLDS


def about_data(statement: Statement) -> bool:
    """Whether it may be asked about a problem."""
    return statement.about_runs or any(statement.problems) or statement.on_data


def _over_inputs(search: Any, inputs: Inputs, ask: Ask, rng: np.random.Generator) -> None:
    search(ask, inputs, rng)


def _itself(ask: Ask, rng: np.random.Generator) -> None:
    """A claim that says one thing is judged once."""
    ask(Candidate("", iterations=0))


def space_of(statement: Statement, solvers: tuple[SolverRef, ...] = ()) -> Space:
    """What may vary for a statement; `solvers` are the user's choice."""
    if solvers:
        return Space(tuple((solver, {}) for solver in solvers))
    values = {
        name: options for paper in papers().values() for name, options in paper.random.items()
    }
    return Space(
        tuple(
            (Registered(name), {k: tuple(map(str, v)) for k, v in values.get(name, {}).items()})
            for name in statement.solvers
        )
    )


class Hunt:
    """The search for a refutation of one statement.

    Parameters
    ----------
    statement : Statement
    space : Space
    budget : float
        Seconds to search; making a refutation smaller comes on top.
    seed, jobs : int
    start : tuple of Candidate
        Looked at first.
    refs : tuple of PaperRef
        Papers of the user.
    tell : callable
        Told of every improvement.
    confirm : callable, optional
        Whether the statement's refuter accepts what was found. What it does not accept ends the
        search only when the time is up.
    """

    def __init__(
        self,
        statement: Statement,
        space: Space,
        *,
        budget: float = 60.0,
        seed: int = 0,
        jobs: int = 1,
        start: tuple[Candidate, ...] = (),
        refs: tuple[PaperRef, ...] = (),
        tell: Tell = lambda report: None,
        confirm: Callable[[Finding], bool] | None = None,
    ) -> None:
        self.statement, self.space = statement, space
        self.budget, self.seed, self.jobs = budget, seed, jobs
        self.start, self.refs, self.tell, self.confirm = start, refs, tell, confirm
        self.report = Report(statement.id)
        self._known: dict[Candidate, Finding] = {}
        self._lock = threading.Lock()
        self._found = threading.Event()
        self._loose: Finding | None = None
        self._turns = threading.Semaphore(jobs)
        self._deadline = 0.0
        self._trouble: BaseException | None = None

    def carry_out(self, crew: Crew | None = None) -> Report:
        """Search until something is found or the time is up, then make it small.

        Processes of a crew that is given are used, and left as they are.
        """
        if crew is None:
            with Crew(single=self.jobs > 1) as crew:
                return self.carry_out(crew)
        self._crew = crew
        self._warm_up()
        self._deadline = monotonic() + self.budget
        threads = [
            threading.Thread(target=self._search, args=(place, *one), daemon=True)
            for place, one in enumerate(self._strategies())
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._trouble is not None:
            raise self._trouble
        self._make_small()
        return self.report

    def _make_small(self) -> None:
        report, strict = self.report, self.report.refuted
        if not strict and self._loose is not None:
            report.best, report.found_after = self._loose, report.runs.total()
        if report.best is None or not report.best.refuted:
            return
        self._deadline = monotonic() + max(LEAST, SHRINKING * self.budget)

        def ask(candidate: Candidate) -> Finding:
            found = self._judged(candidate, "shrinking")
            if strict and found.refuted and self.confirm is not None and not self.confirm(found):
                return replace(found, verdict=replace(found.verdict, verdict=Ruling.UNDECIDED))
            return found

        report.best = shrink(report.best, ask, self.statement.inputs)

    def _strategies(self) -> Iterator[tuple[str, Callable[[Ask, np.random.Generator], None]]]:
        """Names, and what to do: over data, over inputs, or the claim itself."""
        statement = self.statement
        if about_data(statement):
            # Inputs are the smaller place: data come into it if nothing is found there.
            wait = self.budget / 3 if statement.inputs else 0.0
            for name, strategy in STRATEGIES.items():
                yield name, partial(self._over_data, strategy, wait)
        if statement.inputs:
            for name, search in OVER_INPUTS.items():
                yield name, partial(_over_inputs, search, statement.inputs)
        elif not about_data(statement):
            yield "itself", _itself

    def _warm_up(self) -> None:
        """Start the processes and have them import everything: that is not the search's time."""
        threads = [
            threading.Thread(target=self._crew.perform, args=(self._task(Candidate("rows:1")),))
            for _ in range(self.jobs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _task(self, candidate: Candidate) -> Task:
        return Task(
            candidate.run(self.statement.unit),
            (self.statement.id,),
            ("unrefuted",),
            planned=False,
            limit=LIMIT,
            papers=self.refs,
        )

    def _over_data(self, strategy: Any, wait: float, ask: Ask, rng: np.random.Generator) -> None:
        if not wait or not self._found.wait(wait):
            strategy(ask, self.space, rng)

    def _search(
        self, place: int, name: str, search: Callable[[Ask, np.random.Generator], None]
    ) -> None:
        rng = np.random.default_rng([self.seed, place])
        try:
            for candidate in self.start if place == 0 else ():
                self._ask(name)(candidate)
            search(self._ask(name), rng)
        except Over:
            pass
        except ModuleNotFoundError:
            pass  # Hypothesis is for those who have it
        except BaseException as error:
            self._trouble = error
            self._deadline = 0.0

    def _ask(self, name: str) -> Ask:
        def ask(candidate: Candidate) -> Finding:
            if self.report.refuted:
                raise Over
            found = self._judged(candidate, name)
            with self._lock:
                self._note(found)
            if found.refuted and self.report.refuted:
                raise Over
            return found

        return ask

    def _note(self, found: Finding) -> None:
        if found.refuted and self.confirm is not None and not self.confirm(found):
            # False by the court's verdict; the search goes on for data that the refuter accepts.
            if self._loose is None or found.candidate.size < self._loose.candidate.size:
                self._loose = found
            self.report.nearest[found.strategy] = np.inf
            return
        report, name = self.report, found.strategy
        report.nearest[name] = max(found.score, report.nearest.get(name, -np.inf))
        if report.best is None or found.score > report.best.score:
            report.best = found
            if found.refuted:
                self._found.set()
                report.found_after = report.runs.total()
            self.tell(report)

    def _judged(self, candidate: Candidate, name: str) -> Finding:
        if monotonic() >= self._deadline:
            raise Over
        known = self._known.get(candidate)
        if known is not None:
            return replace(known, strategy=name)
        with self._turns:
            found = Finding(candidate, self._heard(candidate), name)
            if found.refuted and isinstance(self.statement, RandomisedStatement):
                found = self._confirmed(found)
        with self._lock:
            self._known[candidate] = found
            self.report.runs[name] += 1
        return found

    def _heard(self, candidate: Candidate) -> Verdict:
        if monotonic() >= self._deadline:
            raise Over
        [verdict] = self._crew.perform(self._task(candidate)).verdicts
        return verdict

    def _confirmed(self, found: Finding) -> Finding:
        """What chance refutes once in 10⁴ cases, it would refute somewhere in a search.

        Only what is refuted by the runs of further seeds as well counts: once in 10¹² cases.
        """
        for more in FRESH:
            other = self._heard(replace(found.candidate, seed=found.candidate.seed + more))
            if other.verdict is not Ruling.REFUTED:
                return replace(found, verdict=other)
        return found


def as_solvers(names: tuple[str, ...], file: str | None) -> tuple[SolverRef, ...]:
    """The user's choice of solvers; what is wrong with them is said now."""
    chosen = tuple(Registered(name) for name in names)
    for solver in chosen:
        solver.open()
    if file is None:
        return chosen
    if names:
        raise ProblemError("choose solvers by --solver, or one of your own by --solver-file")
    mine = read_solver(file)
    with Crew(single=False) as crew:
        found = crew.probe(mine, LIMIT)
    if "error" in found:
        raise ProblemError(found["error"])
    return (mine,)
