"""Vacuity of passes: would a solver that never moves have passed, too?

A bound that is larger than anything it could be violated by says nothing, and every solver passes
it. So each claim is also put to idle solvers: one that stays at w = 0, one that stays where the run
started, and one that makes the first step of the run and no other. They claim what the run claimed
there. Iterates from the first t on by which all of them have failed (what is claimed of them is
proved to be false) are *informative*; until then the claim is *vacuous*.

An idle solver costs no pass over the data, and is no longer checked once it has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.relation import ROUNDING, VIOLATED, Relation, listed, run_rounding

if TYPE_CHECKING:
    from gammabar.harness.verify.context import Case
    from gammabar.harness.verify.evaluate import IterateCheck
    from gammabar.harness.verify.statement import IterateStatement, Statement

#: What is proved to be false; the verdict on a solver is not "holds" then.
FALSE = frozenset((VIOLATED, ROUNDING))
#: How far the search for the end of a vacuous bound goes.
_FARTHEST = 10**9

#: What a statement does with every iterate, if anything, and what it claims of it.
_Parts: TypeAlias = tuple[Callable[[View], Any] | None, Callable[[View, Any], Any]]


def parts(statement: IterateStatement, case: Case) -> _Parts:
    """The parts of a statement that see a run."""
    body: Any = statement.body
    if isinstance(body, type):
        checker: Any = body(case)
        return getattr(checker, "update", None), lambda it, case: checker.claim(it)
    if statement.takes_all:
        pairs = _Pairs(body)
        return pairs.update, pairs.claim
    return None, body


class _Pairs:
    """A claim about w_t and w_{t−1}: one iterate is kept."""

    def __init__(self, body: Callable[..., Any]) -> None:
        self._body = body
        self._now: View | None = None
        self._before: View | None = None

    def update(self, it: View) -> None:
        it.keep()
        self._before, self._now = self._now, it

    def claim(self, it: View, case: Case) -> Any:
        before = self._before
        if before is None:
            return None
        return self._body(it, before.at(it.level), case)


class _Idle:
    """A solver that does not move, or makes one step: its case has histories of its own."""

    def __init__(self, case: Case, checks: list[IterateCheck], start: View) -> None:
        self.case = case.apart()
        #: Where it is now, and where it is before its only step and after it.
        self.view = start if start.w.any() else start.at_zero()
        self._places = [self.view]
        #: Claims that remember, which it has not failed yet: they must see it from the start.
        self._open = {c: parts(c.statement, self.case) for c in checks if c.statement.remembers}
        self._seen, self._now = -1, -1  # the last t that they saw, and where the run is

    def moves(self, view: View) -> None:
        """It makes a step, at t = 1."""
        self._places.append(view)

    def wait(self, t: int) -> None:
        """It is at t now. Nobody need see it before it is asked for: another may pass instead."""
        self._now = t

    def go(self, t: int) -> None:
        """It is at t, whatever it was before: for claims that do not remember."""
        place = -1 if t else 0
        # What is found out about w there is kept for the next time.
        self.view = self._places[place] = self._places[place].again(t, self.case)

    def _catch_up(self) -> None:
        """All that must see it do, up to now; what it fails on the way it has failed."""
        while self._seen < self._now and self._open:
            self._seen += 1
            self.go(self._seen)
            self._follow()
            if self._seen < self._now:
                for check in list(self._open):
                    self._passes_here(check)

    def _follow(self) -> None:
        """Tell histories and claims that must see it; where one cannot, nothing is known."""
        for kind in {kind: 0 for check in self._open for kind in check.statement.history}:
            try:
                self.case.history(kind).update(self.view)
            except Exception:
                self._drop([c for c in self._open if kind in c.statement.history])
        for check, (update, _) in list(self._open.items()):
            try:
                if update is not None:
                    update(self.view)
            except Exception:
                self._drop([check])

    def _drop(self, checks: list[IterateCheck]) -> None:
        for check in checks:
            check.telling = False
            self.forget(check)

    def forget(self, check: IterateCheck) -> None:
        """The claim need not be put to it again."""
        self._open.pop(check, None)

    def passes(self, check: IterateCheck, compared: bool) -> bool:
        """Whether it passes a claim at t; `compared`: something was claimed of the run there.

        Where nothing is said of it, but of the run, that is no pass.
        """
        if check.statement.remembers:
            self._catch_up()
            if check not in self._open:
                return False  # it has failed before
        return self._passes_here(check, compared)

    def _passes_here(self, check: IterateCheck, compared: bool = False) -> bool:
        statement, view = check.statement, self.view
        if view.t < statement.since:
            return True
        try:
            _, claim = self._open.get(check) or parts(statement, self.case)
            relations = listed(claim(view, self.case))
        except Exception:
            self._drop([check])
            return True
        if fails(relations, view):
            self.forget(check)
            return False
        return bool(relations) or not compared

    def unfinished(self, check: IterateCheck) -> bool:
        """Whether a run that ends here would not settle a claim."""
        assert check.statement.waits is not None
        try:
            return bool(check.statement.waits(self.view, self.case))
        except Exception:
            return False


class Vacuity:
    """The idle solvers of one run.

    Claims that remember see them along with the run, in which one that passes is enough. The others
    can be put to them at any t, and are so after the run: a bound that says nothing at first and
    more and more later is searched for the first t at which all have failed by doubling and
    bisection, which costs next to nothing. Claims that an idle solver is known to obey for ever are
    not put to them.
    """

    def __init__(self, case: Case, checks: list[IterateCheck]) -> None:
        known = [c for c in checks if not (c.statement.at_rest or c.statement.powerless)]
        self._case, self._last = case, 0
        self._along = [c for c in known if c.statement.remembers]
        self._after = [c for c in known if not c.statement.remembers]
        self._idle: list[_Idle] = []
        #: At how many iterates something was compared, so far.
        self._compared = dict.fromkeys(self._along, 0)
        #: Who passed each claim last: as long as one does, the others need not be asked.
        self._passing: dict[IterateCheck, _Idle] = {}

    def see(self, it: View) -> None:
        """See w_t, after the checks: idle solvers are now where they are at t as well."""
        if it.t <= 1:
            self._begin(it)
        self._last = it.t
        for idle in self._idle if self._along else ():
            idle.wait(it.t)
        for check in list(self._along):
            before, self._compared[check] = self._compared[check], check.compared
            if not (check.done or not check.telling):
                if self._passed(check, check.compared > before):
                    continue
                check.vacuous_to, check.uninformed = it.t - 1, before
            self._along.remove(check)
            for idle in self._idle:
                idle.forget(check)

    def _begin(self, it: View) -> None:
        it.keep()  # it is looked at after the run, too
        if it.t == 1:
            self._idle[0].moves(it)  # the first one goes along with the first step
            return
        starts = [it, it, it.at_zero()] if it.w.any() else [it, it]
        self._idle = [_Idle(self._case, self._along, start) for start in starts]

    def _passed(self, check: IterateCheck, compared: bool, t: int | None = None) -> bool:
        """Whether one of them passes where they are, or at t."""
        last = self._passing.get(check)
        for idle in sorted(self._idle, key=lambda one: one is not last):
            if t is not None:
                idle.go(t)
            if idle.passes(check, compared):
                self._passing[check] = idle
                return True
        return False

    @property
    def over(self) -> bool:
        """Whether there is nothing left to find out."""
        return not (self._along or self._after)

    def close(self) -> None:
        """The run is over: up to which t would idle solvers have passed, or go on to pass?"""
        for check in (*self._along, *self._after):
            if check.done or not check.telling or not check.compared:
                continue
            if check in self._after:
                self._search(check)
                if check.uninformed is not None:
                    continue
            for idle in self._idle:
                idle.go(self._last)
            if check.statement.waits is not None and all(i.unfinished(check) for i in self._idle):
                check.vacuous_to, check.uninformed = check.asked - 1, check.compared - 1
            elif check.vacuous_to is None:
                check.vacuous_to = self._last

    def _search(self, check: IterateCheck) -> None:
        """The first t at which all idle solvers fail, among those of the run or later ones.

        Of the run only those count at which something was claimed: a claim may be about one t.
        """
        told = check.told()

        def time(place: int) -> int:
            return told[place] if place < len(told) else self._last + 1 + place - len(told)

        def passes(place: int) -> bool:
            return self._passed(check, True, time(place))

        low, high, end = -1, 0, len(told) - 1
        while passes(high):
            if not check.telling:
                return
            if high > _FARTHEST:
                check.vacuous_to = self._last
                return
            # The last iterate of the run is asked in any case.
            low, high = high, end if high < end < 2 * high + 1 else 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if passes(middle) else (low, middle)
        check.vacuous_to = time(high) - 1
        if high <= end:
            check.uninformed = high


def fails(relations: list[Relation], it: View) -> bool:
    """Whether an iterate cannot pass: what is claimed of it is proved to be false.

    Or it is a comparison with what is infinite because w = 0, where nothing is rounded: more digits
    would not make it certain. What it says beside w is left out: that is the run's, and false of an
    idle solver.
    """
    open_ = [relation for relation in relations if not relation.certain()]
    if not open_:
        return False
    rounding = run_rounding(it.n, it.space.dimension, it.t)
    if any(r.decide(rounding) in FALSE for r in open_ if not r.said):
        return True
    finite = all(r.left.is_finite() and r.right.is_finite() for r in open_)
    return not finite and not it.w.any()


def idle_fails(statement: Statement, case: Case, body: Callable[[Case], Any]) -> bool:
    """Whether a claim that runs a solver by itself would refute one that does not move.

    Where there is no solver of the user's, the claim itself is checked, and all that was compared
    speaks about it.
    """
    if case.solver is None or not statement.solvers:
        return True
    with working(LEVELS[0]):
        for at in (0, 1):
            still = case.apart()
            still.level, still.solver = 0, _idle_solver(case.solver, at)
            if still.solver is None:
                return True
            try:
                claimed = listed(body(still), needed=True)
            except Exception:
                return False  # nothing is known of it
            if all(r.decide(0.0) not in FALSE for r in claimed):
                return False
    return True


def _idle_solver(solver: Any, at: int) -> Any:
    """The same solver, with the same options, which goes on to t = `at` and then stays there.

    None if it cannot be made: what has no iterates cannot stay anywhere.
    """
    kind = type(solver)
    if not callable(getattr(solver, "iterates", None)):
        return None

    def iterates(self: Any, problem: Any, rng: Any = None) -> Iterator[Any]:
        for it in kind.iterates(self, problem, rng):
            yield it
            if it.t >= at:
                break
        for t in count(at + 1):
            yield replace(it, t=t)

    still = copy(solver)
    try:  # as the class itself would have it: a frozen one lets nobody write
        object.__setattr__(still, "__class__", type(kind.__name__, (kind,), {"iterates": iterates}))
    except TypeError:
        return None
    return still
