"""Checks of one statement in one run: a claim is decided at every iterate, level by level.

A claim is decided at level 0 (doubles with proved error bounds) wherever its slack exceeds those
bounds, and otherwise again at the higher levels, where the doubles that the solver delivered are
exact numbers. There is no tolerance. What is refuted must be violated by more than rounding in the
solver's own run could have caused; what is violated by less is `undecided`, for such a run tells
nothing about the algorithm.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from flint import arb

from gammabar.harness.verify.certified import TooLarge
from gammabar.harness.verify.context import Case, positive
from gammabar.harness.verify.iterate import NotFinite, Unclaimed, View, claimed_numbers
from gammabar.harness.verify.numbers import (
    DOUBT,
    HOLDS,
    LEVELS,
    ROUNDING,
    VIOLATED,
    Decision,
    Relation,
    Trit,
    at_most,
    listed,
    middle,
    number,
    run_rounding,
    sqrt,
    total,
    working,
)
from gammabar.harness.verify.verdict import Point, Ruling, Verdict
from gammabar.solvers.base import SOLVERS, solver

if TYPE_CHECKING:
    from gammabar.harness.verify.statement import IterateStatement, RunStatement, StoppingStatement


_SETTLED = frozenset((HOLDS, VIOLATED))
_Decided: TypeAlias = tuple[list[Relation], list[Decision]]


class Tally:
    """Decides relations of one statement and remembers the worst."""

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.checked = self.escalated = 0
        self.worst: tuple[float, int | None, Relation] | None = None
        self.broken: tuple[int | None, Relation] | None = None
        self.doubtful: tuple[int | None, Relation, Decision] | None = None
        self.curve = _Curve()

    def agree(self, relation: Relation, tightness: float, t: int | None) -> None:
        """Count and remember a relation that holds, and is as tight as that."""
        self.checked += 1
        worst, curve = self.worst, self.curve
        if worst is None or tightness > worst[0]:
            self.worst = tightness, t, relation
        if t is not None and not curve.at < t < curve.due:
            curve.note(relation, t, tightness)

    def weigh(
        self,
        claim: Callable[[int], list[Relation]],
        t: int | None,
        rounding: float,
        coarse: float = 1.0,
    ) -> None:
        """Decide what a claim says, level by level; `claim(level)` evaluates it at a level."""
        relations = list(claim(0))
        decided = [r.decide(rounding, coarse) for r in relations]
        count = self.checked + len(relations)
        self.escalated += sum(d is not HOLDS for d in decided)
        if not _SETTLED.issuperset(decided):

            def again(level: int) -> _Decided:
                with working(LEVELS[level]):
                    relations = claim(level)
                    return relations, [r.decide(rounding, coarse) for r in relations]

            relations, decided = _escalated(relations, decided, again)
        for relation, decision in zip(relations, decided, strict=True):
            if decision is HOLDS:
                tightness = relation.tightness()
                self.agree(relation, -math.inf if tightness is None else tightness, t)
            elif decision is VIOLATED:
                self.broken = self.broken or (t, relation)
            else:
                self.doubtful = self.doubtful or (t, relation, decision)
        self.checked = count

    def verdict(
        self, unfinished: str = "", worth: Callable[[], dict[str, Any]] | None = None
    ) -> Verdict:
        """The verdict on everything weighed so far; `worth` tells what a pass is worth."""
        if self.broken is not None:
            return self._found(Ruling.REFUTED, *self.broken, reason="the claim is violated")
        if self.doubtful is not None:
            t, relation, decision = self.doubtful
            reason = (
                "not decided at the highest precision"
                if decision is DOUBT
                else "violated, but by no more than rounding in the run may cause"
            )
            return self._found(Ruling.UNDECIDED, t, relation, reason=reason)
        _, t, worst = self.worst or (0.0, None, None)
        if unfinished:
            return self._found(Ruling.UNDECIDED, t, worst, reason=unfinished)
        if not self.checked:
            reason = "nothing to check in this run: nothing is claimed of any iterate"
            return Verdict(self.statement, Ruling.INAPPLICABLE, reason=reason)
        return self._found(Ruling.HOLDS, t, worst, **({} if worth is None else worth()))

    def _found(
        self, ruling: Ruling, t: int | None, relation: Relation | None, **more: Any
    ) -> Verdict:
        more |= {"checked": self.checked, "escalated": self.escalated}
        if relation is not None:
            more |= {"worst_t": t, "what": relation.what, "where": relation.where}
            more |= {"tightness": relation.tightness(), "curve": self.curve.of(relation, t)}
            if relation.op != "fact":
                sides = [str(side.str(17)) for side in (relation.left, relation.right)]
                more |= {"slack": middle(relation.slack), "left": sides[0], "right": sides[1]}
        return Verdict(self.statement, ruling, **more)


def _escalated(
    relations: list[Relation], decided: list[Decision], again: Callable[[int], _Decided]
) -> _Decided:
    """What is known of relations at the first level that leaves no doubt, or at the last."""
    for level in range(1, len(LEVELS)):
        try:
            finer, verdicts = again(level)
        except TooLarge:
            break  # what was certain at the level before stays so, and doubt remains doubt
        if len(finer) != len(relations):
            # Other relations, which cannot be paired; but a violation is not taken back.
            return (relations, decided) if VIOLATED in decided else (finer, verdicts)
        stuck = all(map(_as_wide, relations, finer, decided))
        # What was decided stays decided: a statement may keep history at level 0 only.
        for place, decision in enumerate(decided):
            if decision not in _SETTLED:
                relations[place], decided[place] = finer[place], verdicts[place]
        if stuck or DOUBT not in decided:
            break
    return relations, decided


def _as_wide(before: Relation, now: Relation, decision: Decision) -> bool:
    """Whether more bits left a comparison in doubt as wide as it was: then its width comes from
    doubles, and no precision decides it. What bits cost by cancellation, they give back at once."""
    wide, was = (now.left - now.right).rad(), (before.left - before.right).rad()
    return decision is not DOUBT or (now.op != "fact" and bool(2 * wide > was))


#: Every t up to here is kept, and then one in each step of this factor: evenly on a log axis.
_EVERY, _FACTOR = 8, 1.15
#: A claim may compare many things at an iterate; pictures of so many of them are kept.
MOST = 4


class _Curve:
    """What a statement compared at some of the iterates, in memory that hardly grows with t."""

    def __init__(self) -> None:
        #: The t that was drawn last, and the first of those that are drawn next.
        self.at, self.due = -1, 0
        self._points: dict[str, dict[int, tuple[float, Relation]]] = {}

    def note(self, relation: Relation, t: int, tightness: float) -> None:
        """Keep a comparison if t is one of those that are drawn: at each t the tightest.

        They come in the order of t.
        """
        if t != self.at:
            if t < self.due:
                return
            self.at, self.due = t, t + 1 if t < _EVERY else ceil(t * _FACTOR)
        kept = self._points.get(relation.what)
        if kept is None:
            if len(self._points) == MOST:
                return
            kept = self._points[relation.what] = {}
        if t not in kept or tightness > kept[t][0]:
            kept[t] = tightness, relation

    def of(self, marked: Relation, t: int | None) -> tuple[Point, ...]:
        """The points of what the marked relation compares, and the marked one itself."""
        if t is None or marked.op == "fact":
            return ()
        kept = {at: one for at, (_, one) in self._points.get(marked.what, {}).items()}
        points: list[Any] = []
        for at, one in sorted((kept | {t: marked}).items()):
            sides = (one.left, one.right)
            if one.op == "==":
                sides = (abs(one.left - one.right), one.allowance)
            points.append((at, *(float(f"{float(side):.6g}") for side in sides)))  # enough to draw
        return tuple(point for point in points if all(map(isfinite, point)))


class Check(ABC):
    """Sees the iterates of one run for one statement.

    `start`, `see` and `end` call the statement's code, and may raise `Unclaimed`. `worth` says how
    many iterates of a pass were informative, and to which t the claim was vacuous.
    """

    #: Why a run that did not refute the statement does not settle it either.
    unfinished = ""
    #: The last t that it needs to see; None: as long as the run is.
    limit: int | None = None
    #: The last t that it asked for, set by the run.
    asked = 0
    #: What the solver did wrong for this check, and words for it.
    _failed: tuple[str, str] | None = None

    def __init__(self, statement: RunStatement, case: Case) -> None:
        self.statement, self.case = statement, case
        self.tally = Tally(statement.id)
        self.reason = statement.inapplicable(case)
        self.done = self.reason is not None
        self._last: View | None = None

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def see(self, it: View) -> None: ...

    @abstractmethod
    def end(self, halted: bool) -> None: ...

    @abstractmethod
    def worth(self) -> dict[str, Any]: ...

    def drop(self, reason: str) -> None:
        """The statement is inapplicable to this run."""
        self.reason, self.done = reason, True

    def fail(self, failure: str, detail: str) -> None:
        """The run is over for this check alone: for it, the solver has failed."""
        self._failed, self.done = (failure, detail), True

    def verdict(self, failure: str = "", detail: str = "") -> Verdict:
        """The verdict; `failure` says what the solver did wrong, if it did."""
        if self.reason is not None:
            return Verdict(self.statement.id, Ruling.INAPPLICABLE, reason=self.reason)
        if self._failed is not None:
            failure, detail = self._failed
        if failure and (self._failed is not None or not self.done):
            # What it says of itself may be nothing: that it failed is what counts.
            found = self.tally.verdict(unfinished=detail or f"the solver failed ({failure})")
            return found if found.verdict is Ruling.REFUTED else replace(found, failure=failure)
        return self.tally.verdict(self.unfinished, self.worth)


class IterateCheck(Check):
    """A claim about every iterate."""

    statement: IterateStatement
    #: Iterates at which something was compared.
    compared = 0
    #: How many of them passed before all idle solvers had failed; None: they had not.
    uninformed: int | None = None
    #: The last t before that, as far as is known.
    vacuous_to: int | None = None
    #: Whether idle solvers can be checked at all.
    telling = True

    def __init__(self, statement: IterateStatement, case: Case) -> None:
        super().__init__(statement, case)
        self._since = statement.since
        #: Of which iterates from its first on nothing was claimed: mostly none.
        self.silent: list[int] = []

    def start(self) -> None:
        self._update, self._claim = self.statement.parts(self.case)

    def see(self, it: View) -> None:
        self._last = it
        if self._update is not None:
            self._update(it)
        if it.t < self._since:
            return
        # Nearly all claims are certain at once, and most are one relation: that must cost little.
        claimed = self._claim(it, self.case)
        if type(claimed) is Relation:
            self.compared += 1
            tightness = claimed.held()
            if tightness is not None:
                self.tally.agree(claimed, tightness, it.t)
                return
        else:
            relations = listed(claimed)
            if not relations:
                self.silent.append(it.t)
                return
            self.compared += 1
            held = [relation.held() for relation in relations]
            if None not in held:
                agree, t = self.tally.agree, it.t
                for relation, tightness in zip(relations, held, strict=True):
                    agree(relation, tightness, t)  # type: ignore[arg-type]
                return
        self._weigh(it)

    def _weigh(self, it: View) -> None:
        """Decide what is not certain at once."""

        def claim(level: int) -> list[Relation]:
            return listed(self._claim(it.at(level), self.case))

        rounding, coarse = run_rounding(it.n, it.space.dimension, it.t), it.coarse
        if coarse > 1:
            rounding *= 1 + it.space.radius  # of the numbers that were rounded
        self.tally.weigh(claim, it.t, rounding, coarse)
        self.done = self.tally.broken is not None

    def end(self, halted: bool) -> None:
        last = self._last
        if self.done or last is None:
            return
        if halted and last.t < self.asked:
            wrong = _no_end(last, self.statement.solvers)
            if wrong:
                seen = f"{last.t + 1} of {self.asked + 1} iterates were seen"
                self.unfinished = f"{seen}: the solver ended the run, {wrong}"
                return
        if self.statement.waits is not None:
            waits = self.statement.waits(last, self.case)
            if not isinstance(waits, str):
                what = f"its `waits` returns {type(waits).__name__}; return a text, empty if over"
                raise self.statement.error(what)
            self.unfinished = waits

    def told(self) -> list[int]:
        """The iterates at which something was compared."""
        last, silent = -1 if self._last is None else self._last.t, frozenset(self.silent)
        return [t for t in range(self._since, last + 1) if t not in silent]

    def worth(self) -> dict[str, Any]:
        informative = 0 if self.uninformed is None else self.compared - self.uninformed
        vacuous_to = None if self.vacuous_to == -1 else self.vacuous_to
        return {"informative": informative, "vacuous_to": vacuous_to}


def separates(it: View, case: Case) -> Trit:
    """The usual goal: every score of w_t is positive."""
    return it.separates


class StoppingCheck(Check):
    """A claim that a goal is reached at some t ≤ limit."""

    #: Whether an idle solver is known not to reach the goal.
    _hard = True

    def __init__(self, statement: StoppingStatement, case: Case) -> None:
        super().__init__(statement, case)
        self._goal = statement.goal

    def start(self) -> None:
        with working(LEVELS[1]):
            bound = self.statement.body(self.case)
        if bound is None:
            self.drop("nothing is claimed of this case")
            return
        try:
            self.bound = number(bound)
        except (TypeError, ValueError):
            what = "where the limit of t is needed; return a number or None"
            raise self.statement.error(f"it returns {type(bound).__name__} {what}") from None
        #: The last t that may still reach the goal; the first iterate tells if no t is that small.
        high = self.bound.upper().floor()
        self.limit = int(float(high.mid())) if 0 <= high < 1e15 else 0 if high < 0 else 10**15

    def see(self, it: View) -> None:
        self._last = it
        reached = self._reached(it)
        if it.t <= 1:
            self._hard = self._hard and reached is False and self._far(it)
        if reached is True:
            what = f"goal reached at t = {it.t}"
            self.tally.weigh(lambda _: [at_most(it.t, self.bound, what)], it.t, 0.0)
            self.done = True
        elif it.extra.get("halt") == "separated" and it.separates is False:
            self._miss(it, "the method stops and says that it separates the data")
        elif it.t >= (self.limit or 0) and reached is False:
            self._miss(it, f"the goal is not reached at t = {it.t}")

    def _far(self, it: View) -> bool:
        """Whether w = 0 is known not to reach the goal, if a run starts elsewhere."""
        away = it.t == 0 and it.w.any()
        return not away or self._trit(self._goal(it.at_zero(), self.case)) is False

    def _reached(self, it: View) -> Trit:
        level, reached = it.first_known(lambda view: self._trit(self._goal(view, self.case)))
        self.tally.escalated += level > 0 and reached is not None
        return reached

    def _trit(self, said: Any) -> Trit:
        if said is None or type(said) is bool:
            return said
        if isinstance(said, np.bool_):
            return bool(said)
        what = f"its goal returns {type(said).__name__}; return True, False, or None if not known"
        raise self.statement.error(what)

    def _miss(self, it: View, what: str) -> None:
        self.tally.checked += 1
        relation = at_most(it.t + 1, self.bound, what)
        if self._near(it):
            self.tally.doubtful = it.t, relation, ROUNDING
        else:
            self.tally.broken = it.t, relation
        self.done = True

    def _near(self, it: View) -> bool:
        """Whether w_t misses a separation by no more than rounding in the run may have caused.

        A score that is zero, or a little below, may be positive in the exact run.
        """
        if self._goal is not separates:
            return False
        rounding = it.coarse * run_rounding(it.n, it.space.dimension, it.t)
        allowed = rounding * it.space.radius * it.space.size(it.w)
        return bool(it.w.any()) and not it.smallest < -allowed

    def worth(self) -> dict[str, Any]:
        return {"informative": int(self._hard)}

    def end(self, halted: bool) -> None:
        if self.done or self._last is None:
            return
        if halted and self._reached(self._last) is False:
            self._miss(self._last, "the method stops without reaching the goal")
        else:
            most = self.bound.floor().str(17)
            self.unfinished = f"the run ended at t = {self._last.t}, the bound allows {most}"


# Termination: a claim about all iterates is not settled by those that a solver chooses to deliver.
# Only where the method itself ends in its paper, and what it says then is true, is there no more.

#: What can be checked of a method that halts.
_CHECKED = ("separated", "certificate")


def _no_end(last: View, solvers: tuple[str, ...]) -> str:
    """Why a run that was ended with this iterate has not come to its end, or "".

    ``extra["halt"]`` says why the method stops; `solvers` are those that the statement is about.
    """
    halt = last.extra.get("halt")
    # The solver of somebody's own paper may end.
    ends = [getattr(solver(s), "ends", ()) if s in SOLVERS else _CHECKED for s in solvers]
    if solvers and not any(halt in reasons for reasons in ends):
        return f"and the method does not end in its paper, with {halt!r} or otherwise"
    if halt == "separated":
        try:
            separated = last.first_known(lambda view: view.separates)[1]
        except NotFinite as unknown:
            return f"and {unknown}"
        return "" if separated else "and the last one does not separate the data"
    if halt == "certificate":
        return _no_certificate(last)
    return f"and what it says then, {halt!r}, cannot be checked"


def _no_certificate(last: View) -> str:
    """Why the weights are none of norm ‖Aᵀp‖ ≤ ε in the simplex, up to rounding, or ""."""
    try:
        epsilon = positive(last.case, "epsilon") or positive(last.case, "delta")
    except Unclaimed as odd:
        return f"and its certificate cannot be checked: {odd}"
    p = claimed_numbers(last.extra.get("p", last.dual), (last.n,))
    if epsilon is None or isinstance(p, str):
        return "and there is no ε or no p to check its certificate with"
    rounding = run_rounding(last.n, last.space.dimension, last.t)
    with working(LEVELS[1]):
        mass = total(arb(v) for v in p.tolist())
        if not ((p >= 0).all() and abs(mass - 1) <= rounding):
            return "and its certificate is not in the simplex"
        try:
            length = sqrt(last.space.exact_square(p))
        except TooLarge:
            return "and its certificate is too large to be checked"
        if not length <= number(epsilon) + rounding * last.space.radius:
            return f"and its certificate has norm {float(length):.3g}, above {epsilon}"
    return ""
