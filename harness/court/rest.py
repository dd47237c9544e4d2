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

from gammabar.harness.court.relation import ROUNDING, VIOLATED, Relation, run_rounding
from gammabar.harness.court.view import View

if TYPE_CHECKING:
    from gammabar.harness.court.case import Case
    from gammabar.harness.court.judges import IterateJudge
    from gammabar.harness.court.statement import IterateStatement

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
    return None, body, (case,)


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
        #: Claims that remember, which it has not failed yet: they must hear it from the start.
        self._open = {j: parts(j.statement, self.case) for j in judges if remembers(j.statement)}

    def stand(self, t: int, view: View | None = None) -> None:
        """It has come to t; `view`: and has moved there."""
        self.view = (self.view if view is None else view).again(t, self.case)
        if self._open:
            self._follow()

    def _follow(self) -> None:
        """Tell all that must hear it."""
        kinds = dict.fromkeys(kind for judge in self._open for kind in judge.statement.history)
        for kind in kinds:
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
            self._open.pop(judge, None)

    def forget(self, judge: IterateJudge) -> None:
        """The claim need not be put to it again."""
        self._open.pop(judge, None)

    def passes(self, judge: IterateJudge, judged: bool) -> bool:
        """Whether it passes a claim at t; `judged`: something was claimed of the run there.

        Where nothing is said of it, but of the run, that is no pass.
        """
        statement, view = judge.statement, self.view
        if remembers(statement) and judge not in self._open:
            return False  # it has failed before
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

    Claims that a solver at rest is known to obey for ever are not put to them.
    """

    def __init__(self, case: Case, judges: list[IterateJudge]) -> None:
        known = [j for j in judges if not (j.statement.at_rest or j.statement.powerless)]
        self._case, self._judges = case, known
        self._resting: list[Resting] = []
        #: Iterates at which something was compared, before this one.
        self._compared = dict.fromkeys(known, 0)
        #: Who passed each claim last: as long as one does, the others need not be asked.
        self._last: dict[IterateJudge, Resting] = {}

    def see(self, it: View) -> None:
        """Hear w_t, after the judges: solvers at rest are now where they are at t as well."""
        if it.t == 0:
            starts = (it, *resting_at(it))
            self._resting = [Resting(self._case, self._judges, start) for start in starts]
        for place, resting in enumerate(self._resting):
            # The first one goes along with the first step.
            resting.stand(it.t, it if place == 0 and it.t == 1 else None)
        for judge in list(self._judges):
            before, self._compared[judge] = self._compared[judge], judge.compared
            if judge.done or not judge.telling:
                self._close(judge)
            elif not self._passed(judge, judge.compared > before):
                judge.vacuous_to, judge.uninformed = it.t - 1, before
                self._close(judge)

    def _passed(self, judge: IterateJudge, judged: bool) -> bool:
        last = self._last.get(judge)
        if last is not None and last.passes(judge, judged):
            return True
        for resting in self._resting:
            if resting is not last and resting.passes(judge, judged):
                self._last[judge] = resting
                return True
        return False

    def _close(self, judge: IterateJudge) -> None:
        self._judges.remove(judge)
        for resting in self._resting:
            resting.forget(judge)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to find out."""
        return not self._judges

    def close(self) -> None:
        """The run is over: how long would solvers at rest go on to pass?"""
        for judge in self._judges:
            if judge.done or not judge.telling or not judge.compared:
                continue
            if judge.statement.waits is not None and all(r.waits(judge) for r in self._resting):
                judge.vacuous_to, judge.uninformed = judge.asked - 1, judge.compared - 1
        last = self._resting[0].view.t if self._resting else 0
        for judge in list(self._last):
            if judge in self._judges and judge.compared and judge.uninformed is None:
                judge.vacuous_to = self._end_of_vacuity(judge, last)

    def _end_of_vacuity(self, judge: IterateJudge, last: int) -> int:
        """The last t at which some solver at rest passes, if that can be told without a history.

        A bound that tightens is looked for by doubling and bisection.
        """
        if remembers(judge.statement):
            return last

        def passes(t: int) -> bool:
            for resting in self._resting:
                resting.view = resting.view.again(t, resting.case)
            return self._passed(judge, True)

        low, high = last, 2 * last + 1
        while passes(high):
            if high > FARTHEST:
                return last
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if passes(middle) else (low, middle)
        return low


def remembers(statement: IterateStatement) -> bool:
    """Whether what is claimed of an iterate depends on those before it."""
    return bool(statement.history) or isinstance(statement.body, type)


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
    rounding = run_rounding(it.n, it.space.dimension, it.t)
    if any(r.decide(rounding) in FALSE for r in relations if not r.said):
        return True
    return not all(map(_finite, relations)) and not it.w.any()


def _listed(claimed: Any) -> list[Relation]:
    if claimed is None:
        return []
    return [claimed] if type(claimed) is Relation else list(claimed)


def _finite(relation: Relation) -> bool:
    return bool(relation.left.is_finite() and relation.right.is_finite())
