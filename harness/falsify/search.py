"""Search for a refutation: Hypothesis generates and shrinks candidates, processes check them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NoReturn

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed as seeded, settings, target
from hypothesis.strategies import SearchStrategy

from gammabar.harness.falsify.parameters import (
    DIMENSION,
    Finding,
    Solvers,
    small_rows,
    strategies,
)
from gammabar.harness.run.pool import Pool
from gammabar.harness.run.tasks import PaperRef, Registered, Run, SolverRef, Task
from gammabar.harness.run.user_files import read_solver
from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.statement import RandomisedStatement, Statement
from gammabar.harness.verify.verdict import Ruling, Status, Verdict
from gammabar.problems import ProblemError

#: Seconds that one run may take.
LIMIT = 10.0
#: What shrinking may take, as a part of the budget, and at least so many seconds.
SHRINKING, LEAST = 0.5, 10.0
#: Seeds, further on, with which a refutation by counting is confirmed.
FRESH = (10**6, 2 * 10**6)
#: Examples of Hypothesis, after which it begins anew with another seed.
EXAMPLES = 200


class _Over(BaseException):
    """The time is up, or another thread found a refutation. Not an `Exception`, which Hypothesis
    would take for a failure."""


class _Refuted(Exception):
    """The candidate refutes the statement: Hypothesis shrinks it."""


@dataclass
class Report:
    """The outcome of a search."""

    statement: str
    best: Finding | None = None  #: the refutation, shrunk; without one, what came nearest
    runs: Counter[str] = field(default_factory=Counter)  #: by strategy
    nearest: dict[str, float] = field(default_factory=dict)  #: best score by strategy
    found_after: int | None = None  #: how many runs there were when it was found
    #: Runs that crashed or ran out of time, by the kind of failure, and why the first did.
    failed: Counter[str] = field(default_factory=Counter)
    trouble: str = ""

    @property
    def refuted(self) -> bool:
        return self.best is not None and self.best.refuted

    @property
    def nothing_ran(self) -> bool:
        """Whether some run failed and none was decided: nothing is known of the statement."""
        return bool(self.failed) and (self.best is None or self.best.score == -np.inf)


Tell = Callable[[Report], None]


def unexpected(statement: Statement, refuted: bool) -> bool:
    """Whether a statement is refuted that holds by the registry: exit code 1."""
    return refuted and statement.status is Status.HOLDS


class Search:
    """The search for a refutation of one statement.

    `budget` are the seconds to search; shrinking a refutation comes on top. `start` is tried first,
    `refs` are papers of the user, and `tell` is told of every improvement. `confirm` says whether
    the statement's refuter accepts a refutation: another ends the search only when time is up.
    """

    def __init__(
        self,
        statement: Statement,
        solvers: Solvers,
        *,
        budget: float = 60.0,
        seed: int = 0,
        jobs: int = 1,
        start: tuple[Run, ...] = (),
        refs: tuple[PaperRef, ...] = (),
        tell: Tell = lambda report: None,
        confirm: Callable[[Finding], bool] | None = None,
    ) -> None:
        self.statement, self.solvers = statement, solvers
        self.budget, self.seed, self.jobs = budget, seed, jobs
        self.start, self.refs, self.tell = start, refs, tell
        self.confirm = confirm or (lambda found: True)
        self.report = Report(statement.id)
        self._known: dict[Run, Finding] = {}
        self._lock, self._turns = threading.Lock(), threading.Semaphore(jobs)
        self._found = threading.Event()
        #: The thread that found a refutation, and shrinks it.
        self._finder = 0
        #: Refuted by its verdict, and not accepted by the refuter.
        self._unconfirmed: Finding | None = None
        self._deadline = 0.0
        self._trouble: BaseException | None = None

    def carry_out(self, crew: Pool | None = None) -> Report:
        """Search until a refutation is found or the time is up, then shrink it.

        Processes of a crew that is given are used, and left as they are.
        """
        if crew is None:
            with Pool(single=self.jobs > 1) as crew:
                return self.carry_out(crew)
        self._crew = crew
        first = self._task(Run("rows:1", iterations=50))  # imports take their time
        _together([lambda: crew.perform(first)] * self.jobs)
        self._deadline = monotonic() + self.budget
        found = strategies(self.statement, self.solvers)
        names = [*found] * -(-self.jobs // max(len(found), 1))
        places = [self._thread(i, name, found[name]) for i, name in enumerate(names)]
        _together(places or [lambda: self._itself()])
        if self._trouble is not None:
            raise self._trouble
        self._finish()
        return self.report

    def _thread(self, place: int, name: str, strategy: SearchStrategy[Run]) -> Callable[[], None]:
        """What one thread does; strategies of the same name differ in their seeds."""
        rng = np.random.default_rng([self.seed, place])

        def search() -> None:
            try:
                for candidate in self.start if place == 0 else ():
                    self._ask(candidate, name)
                if self.statement.inputs and name != "inputs":
                    # Inputs are the smaller space: data are tried if nothing is found there.
                    self._found.wait(self.budget / 3)
                seen = -1
                while seen < len(self._known):  # or else everything has been tried
                    seen = len(self._known)
                    self._explore(strategy, name, int(rng.integers(2**32)))
            except (_Over, _Refuted):
                pass
            except BaseException as error:
                self._trouble, self._deadline = error, 0.0

        return search

    def _itself(self) -> None:
        """Judge a claim that says one thing."""
        with suppress(_Over, _Refuted):
            self._ask(Run(), "itself")

    def _explore(self, strategy: SearchStrategy[Run], name: str, seed: int) -> None:
        """Generate candidates, nearer and nearer to failing; shrink one that refutes."""

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @seeded(seed)
        @given(strategy)
        def example(candidate: Run) -> None:
            target(float(np.clip(self._ask(candidate, name), -1e6, 1e6)))

        example()

    def _ask(self, candidate: Run, name: str) -> float:
        """The score of a candidate; raises `_Refuted`, or `_Over` where the search has ended."""
        me, ended = threading.get_ident(), monotonic() >= self._deadline
        if self._finder != me if self._found.is_set() else ended:
            raise _Over
        found = self._judged(candidate, name)
        confirmed = found.refuted and self.confirm(found)
        with self._lock:
            if found.refuted and not confirmed:
                self._keep_unconfirmed(found)
                return 1e6 - len(candidate.problem)  # a refuter accepts simple data, if any
            if confirmed:
                self._refute(found, me)
            self._note(found)
        return found.score

    def _keep_unconfirmed(self, found: Finding) -> None:
        self.report.nearest[found.strategy] = np.inf
        other = self._unconfirmed
        if other is None or len(found.candidate.problem) < len(other.candidate.problem):
            self._unconfirmed = found

    def _refute(self, found: Finding, me: int) -> NoReturn:
        """Keep the latest refutation of the thread that found the first one, and is shrinking."""
        first = not self._found.is_set()
        if not first and self._finder != me:
            raise _Over
        if first:
            self._finder = me
            self._found.set()
            self._deadline = monotonic() + max(LEAST, SHRINKING * self.budget)
            self.report.found_after = self.report.runs.total()
        self.report.nearest[found.strategy] = np.inf
        self.report.best = found
        if first:
            self.tell(self.report)
        raise _Refuted

    def _note(self, found: Finding) -> None:
        report, name = self.report, found.strategy
        report.nearest[name] = max(found.score, report.nearest.get(name, -np.inf))
        if report.best is None or found.score > report.best.score:
            report.best = found
            self.tell(report)

    def _finish(self) -> None:
        """Look for a refutation by rows in fewer dimensions, and end its run where it fails."""
        report = self.report
        if not report.refuted and self._unconfirmed is not None:
            report.best, report.found_after = self._unconfirmed, report.runs.total()
        if not report.refuted or report.best is None:
            return
        self._finder = threading.get_ident()
        self._found.set()
        seed = self.seed
        while (dimension := _dimension(report.best.candidate.problem)) > 1 and seed < self.seed + 3:
            seed += 1
            with suppress(_Over, _Refuted):
                self._explore(small_rows(self.solvers, dimension - 1), "rows", seed)
        t, candidate = report.best.verdict.worst_t, report.best.candidate
        if t is not None and 1 <= t < candidate.iterations:
            with suppress(_Over, _Refuted):
                self._ask(replace(candidate, iterations=t), report.best.strategy)

    def _judged(self, candidate: Run, name: str) -> Finding:
        if candidate in self._known:
            return replace(self._known[candidate], strategy=name)
        with self._turns:
            found = Finding(candidate, self._verdict(candidate), name)
            if found.refuted and isinstance(self.statement, RandomisedStatement):
                found = self._confirmed(found)
        with self._lock:
            self._known[candidate] = found
            if found.verdict.failure and not found.refuted:
                self.report.failed[found.verdict.failure] += 1
                self.report.trouble = self.report.trouble or found.verdict.reason
            else:
                self.report.runs[name] += 1
        return found

    def _verdict(self, candidate: Run) -> Verdict:
        if monotonic() >= self._deadline:
            raise _Over
        [verdict] = self._crew.perform(self._task(candidate)).verdicts
        return verdict

    def _confirmed(self, found: Finding) -> Finding:
        """What chance refutes once in 10⁴ cases, it would refute somewhere in a search.

        Only what is refuted by the runs of further seeds as well counts: once in 10¹² cases.
        """
        for more in FRESH:
            other = self._verdict(replace(found.candidate, seed=found.candidate.seed + more))
            if other.verdict is not Ruling.REFUTED:
                return replace(found, verdict=other)
        return found

    def _task(self, candidate: Run) -> Task:
        return Task(
            replace(candidate, unit=self.statement.unit),
            (self.statement.id,),
            ("unrefuted",),
            planned=False,
            limit=LIMIT,
            papers=self.refs,
        )


def _dimension(problem: str) -> int:
    """Of rows that are written out; more than any of them for other data, and 1 for inputs."""
    if not problem.startswith("rows:"):
        return 1 if problem.startswith(PREFIX) or not problem else DIMENSION + 1
    return problem.partition(";")[0].count(",") + 1


def _together(functions: Sequence[Callable[[], object]]) -> None:
    """Call functions in threads, and wait for all of them."""
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def as_solvers(names: tuple[str, ...], file: str | None) -> tuple[SolverRef, ...]:
    """The user's choice of solvers, each of which can be opened."""
    chosen = tuple(Registered(name) for name in names)
    for solver in chosen:
        solver.open()
    if file is None:
        return chosen
    if names:
        raise ProblemError("choose solvers by --solver, or one of your own by --solver-file")
    mine = read_solver(file)
    with Pool(single=False) as crew:
        found = crew.probe(mine, LIMIT)
    if "error" in found:
        raise ProblemError(found["error"])
    return (mine,)
