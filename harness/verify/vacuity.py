"""What a pass is worth: would a solver that stands still have got it, too?

A bound that is larger than anything it could be violated by says nothing, and every solver passes
it. So each claim is also put to solvers at rest: one that stays at w = 0, one that stays where the
run started, and one that makes the first step of the run and no other. They claim what the run
claimed there. Iterates from the first t on by which all of them have failed (what is claimed of
them is proved to be false) are *informative*; until then the claim is *vacuous*.

A solver at rest costs no pass over the data, and is no longer heard once it has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.relation import ROUNDING, VIOLATED, Relation, run_rounding

if TYPE_CHECKING:
    from gammabar.harness.verify.context import Case
    from gammabar.harness.verify.evaluate import IterateJudge
    from gammabar.harness.verify.statement import IterateStatement

#: What is proved to be false; the verdict on a solver is not "holds" then.
FALSE = frozenset((VIOLATED, ROUNDING))
#: How far the search for the end of a vacuous bound goes.
FARTHEST = 10**9

#: What a statement does with every iterate, if anything; what it claims, and is told besides.
Parts: TypeAlias = tuple[Callable[[View], Any] | None, Callable[..., Any], tuple[Any, ...]]


def parts(statement: IterateStatement, case: Case) -> Parts:
    """The parts of a statement that hear a run."""
    body = statement.body
    if isinstance(body, type):
        checker: Any = body(case)
        return getattr(checker, "update", None), checker.claim, ()
    if statement.takes_all:
        pairs = _Pairs(body, case)
        return pairs.update, pairs.claim, ()
    return None, body, (case,)


class _Pairs:
    """A claim about w_t and w_{t−1}: one iterate is kept."""

    def __init__(self, body: Callable[..., Any], case: Case) -> None:
        self._body, self._case = body, case
        self._now: View | None = None
        self._before: View | None = None

    def update(self, it: View) -> None:
        it.keep()
        self._before, self._now = self._now, it

    def claim(self, it: View) -> Any:
        before = self._before
        if before is None:
            return None
        return self._body(it, before.at(it.level) if it.level else before, self._case)


class Resting:
    """A solver at rest.

    Attributes
    ----------
    case : Case
        Its own, with histories of its own.
    view : View
        Where it is.
    """

    def __init__(self, case: Case, judges: list[IterateJudge], start: View) -> None:
        self.case = case.apart()
        self.view = start if start.w.any() else start.at_zero()
        self._places = [self.view]  # before its only step, and after it
        #: Claims that remember, which it has not failed yet: they must hear it from the start.
        self._open = {j: parts(j.statement, self.case) for j in judges if j.statement.remembers}
        #: The sequences that these need.
        self._kinds: list[type] | None = None
        self._heard, self._now = -1, -1  # the last t that they heard, and where the run is

    def moves(self, view: View) -> None:
        """It makes a step, at t = 1."""
        self._places.append(view)

    def stand(self, t: int) -> None:
        """It is at t now. Nobody need hear it before it is asked for: another may pass instead."""
        self._now = t

    def _catch_up(self) -> None:
        """All that must hear it do, up to now; what it fails on the way it has failed."""
        while self._heard < self._now and self._open:
            self._heard += 1
            self.go(self._heard)
            self._follow()
            if self._heard < self._now:
                for judge in list(self._open):
                    self._put(judge)

    def go(self, t: int) -> None:
        """It is at t, whatever it was before: for claims that do not remember."""
        place = -1 if t else 0
        # What is found out about w there is kept for the next time.
        self.view = self._places[place] = self._places[place].again(t, self.case)

    def _follow(self) -> None:
        """Tell all that must hear it."""
        if self._kinds is None:
            kinds = (kind for judge in self._open for kind in judge.statement.history)
            self._kinds = list(dict.fromkeys(kinds))
        for kind in self._kinds:
            try:
                self.case.history(kind).update(self.view)
            except Exception:  # nothing is known of it from here on
                self._drop([j for j in self._open if kind in j.statement.history])
        for judge, (update, _, _) in list(self._open.items()):
            try:
                if update is not None:
                    update(self.view)
            except Exception:
                self._drop([judge])

    def _drop(self, judges: list[IterateJudge]) -> None:
        for judge in judges:
            judge.telling = False
            self.forget(judge)

    def forget(self, judge: IterateJudge) -> None:
        """The claim need not be put to it again."""
        if self._open.pop(judge, None) is not None:
            self._kinds = None

    def passes(self, judge: IterateJudge, judged: bool) -> bool:
        """Whether it passes a claim at t; `judged`: something was claimed of the run there.

        Where nothing is said of it, but of the run, that is no pass.
        """
        if judge.statement.remembers:
            self._catch_up()
            if judge not in self._open:
                return False  # it has failed before
        return self._put(judge, judged)

    def _put(self, judge: IterateJudge, judged: bool = False) -> bool:
        """Put a claim to it where it is."""
        statement, view = judge.statement, self.view
        if view.t < statement.since:
            return True
        try:
            _, claim, more = self._open.get(judge) or parts(statement, self.case)
            relations = _listed(claim(view, *more))
        except Exception:
            self._drop([judge])
            return True
        if fails(relations, view):
            self.forget(judge)
            return False
        return bool(relations) or not judged

    def waits(self, judge: IterateJudge) -> bool:
        """Whether a run that ends here would not settle a claim."""
        assert judge.statement.waits is not None
        try:
            return bool(judge.statement.waits(self.view, self.case))
        except Exception:
            return False


class Rest:
    """The solvers at rest of one run.

    Claims that remember hear them along with the run, in which one that passes is enough. The
    others can be put to them at any t, and are so after the run: a bound that says nothing at first
    and more and more later is searched for the first t at which all have failed by doubling and
    bisection, which costs next to nothing.
    Claims that a solver at rest is known to obey for ever are not put to them.
    """

    def __init__(self, case: Case, judges: list[IterateJudge]) -> None:
        known = [j for j in judges if not (j.statement.at_rest or j.statement.powerless)]
        self._case = case
        self._along = [j for j in known if j.statement.remembers]
        self._after = [j for j in known if not j.statement.remembers]
        self._resting: list[Resting] = []
        self._last = 0
        #: Iterates at which something was compared, before this one.
        self._compared = dict.fromkeys(self._along, 0)
        #: Who passed each claim last: as long as one does, the others need not be asked.
        self._passing: dict[IterateJudge, Resting] = {}

    def see(self, it: View) -> None:
        """Hear w_t, after the judges: solvers at rest are now where they are at t as well."""
        if it.t <= 1:
            self._begin(it)
        self._last = it.t
        if self._along:
            for resting in self._resting:
                resting.stand(it.t)
        for judge in list(self._along):
            before = self._spoke(judge)
            if judge.done or not judge.telling:
                self._close(judge)
            elif not self._passed(judge, judge.compared > before):
                judge.vacuous_to, judge.uninformed = it.t - 1, before
                self._close(judge)

    def _spoke(self, judge: IterateJudge) -> int:
        """At how many iterates something had been compared before this one."""
        before, self._compared[judge] = self._compared[judge], judge.compared
        return before

    def _begin(self, it: View) -> None:
        it.keep()  # it is looked at after the run, too
        if it.t == 1:
            self._resting[0].moves(it)  # the first one goes along with the first step
            return
        starts = (it, *resting_at(it))
        self._resting = [Resting(self._case, self._along, start) for start in starts]

    def _passed(self, judge: IterateJudge, judged: bool, t: int | None = None) -> bool:
        """Whether one of them passes where they are, or at t."""
        last = self._passing.get(judge)
        asked = (
            self._resting if last is None else [last, *(r for r in self._resting if r is not last)]
        )
        for resting in asked:
            if t is not None:
                resting.go(t)
            if resting.passes(judge, judged):
                self._passing[judge] = resting
                return True
        return False

    def _close(self, judge: IterateJudge) -> None:
        self._along.remove(judge)
        for resting in self._resting:
            resting.forget(judge)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to find out."""
        return not (self._along or self._after)

    def close(self) -> None:
        """The run is over: up to which t would solvers at rest have passed, or go on to pass?"""
        for judge in (*self._along, *self._after):
            if judge.done or not judge.telling or not judge.compared:
                continue
            if judge in self._after:
                self._search(judge)
                if judge.uninformed is not None:
                    continue
            self._stand_at_the_end()
            if judge.statement.waits is not None and all(r.waits(judge) for r in self._resting):
                judge.vacuous_to, judge.uninformed = judge.asked - 1, judge.compared - 1
            elif judge.vacuous_to is None:
                judge.vacuous_to = self._last

    def _stand_at_the_end(self) -> None:
        for resting in self._resting:
            resting.go(self._last)

    def _search(self, judge: IterateJudge) -> None:
        """The first t at which all solvers at rest fail, among those of the run or later ones.

        Of the run only those count at which something was claimed: a claim may be about one t.
        """
        told = judge.told()

        def time(place: int) -> int:
            return told[place] if place < len(told) else self._last + 1 + place - len(told)

        def passes(place: int) -> bool:
            return self._passed(judge, True, time(place))

        low, high, end = -1, 0, len(told) - 1
        while passes(high):
            if not judge.telling:
                return
            if high > FARTHEST:
                judge.vacuous_to = self._last
                return
            # The last iterate of the run is asked in any case.
            low, high = high, end if high < end < 2 * high + 1 else 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if passes(middle) else (low, middle)
        judge.vacuous_to = time(high) - 1
        if high <= end:
            judge.uninformed = high


def resting_at(it: View) -> list[View]:
    """Where a solver may rest that has come to w_0 or w_1; w_0 is joined by w = 0."""
    return [it] if it.t or not it.w.any() else [it, it.at_zero()]


def resting_solver(solver: Any, at: int) -> Any:
    """The same solver, with the same options, which goes on to t = `at` and then stands still.

    None if it cannot be made: what has no iterates cannot stand still.
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


def fails(relations: list[Relation], it: View) -> bool:
    """Whether an iterate cannot pass: what is claimed of it is proved to be false.

    Or it is a comparison with what is infinite because w = 0, where nothing is rounded: more digits
    would not make it certain. What it says beside w is left out: that is the run's, and false of a
    solver at rest.
    """
    open_ = [relation for relation in relations if not relation.certain()]
    if not open_:
        return False
    rounding = run_rounding(it.n, it.space.dimension, it.t)
    if any(r.decide(rounding) in FALSE for r in open_ if not r.said):
        return True
    return not all(map(_finite, open_)) and not it.w.any()


def _listed(claimed: Any) -> list[Relation]:
    if claimed is None:
        return []
    return [claimed] if type(claimed) is Relation else list(claimed)


def _finite(relation: Relation) -> bool:
    return bool(relation.left.is_finite() and relation.right.is_finite())
