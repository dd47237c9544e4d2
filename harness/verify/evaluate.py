"""A few points of what was measured and of what was claimed, for pictures.

Decides what a claim says, level by level, and keeps the worst.

Whether a run that a solver ends has come to its end.

A claim about all iterates is not settled by those that a solver chooses to deliver. Only where the
method itself ends in its paper, and what it says then is true, is there nothing more to hear.

Judges: each hears the iterates of one run for one statement.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil, isfinite
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from gammabar.harness.verify.certified import Floats, LinearSpace, TooLarge
from gammabar.harness.verify.context import Case, positive
from gammabar.harness.verify.iterate import Unclaimed, View, claimed_numbers
from gammabar.harness.verify.numbers import (
    LEVELS,
    Number,
    Trit,
    middle,
    number,
    sqrt,
    total,
    working,
)
from gammabar.harness.verify.relation import (
    DOUBT,
    HOLDS,
    ROUNDING,
    VIOLATED,
    Decision,
    Relation,
    run_rounding,
)
from gammabar.harness.verify.vacuity import parts, resting_solver
from gammabar.harness.verify.verdict import Point, Ruling, Verdict
from gammabar.problems import ProblemError

if TYPE_CHECKING:
    from gammabar.harness.verify.statement import (
        IterateStatement,
        RunStatement,
        Statement,
        StoppingStatement,
    )


#: Every t up to here is kept, and then one in each step of this factor: evenly on a log axis.
EVERY, FACTOR = 8, 1.15
#: A claim may compare many things at an iterate; pictures of so many of them are kept.
MOST = 4


class Curve:
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
            self.at, self.due = t, t + 1 if t < EVERY else ceil(t * FACTOR)
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
        points = (_point(at, one) for at, one in sorted((kept | {t: marked}).items()))
        return tuple(point for point in points if all(map(isfinite, point)))


def _point(t: int, relation: Relation) -> Point:
    """Six digits are enough to draw."""
    left, right = relation.left, relation.right
    if relation.op == "==":
        left, right = abs(left - right), relation.allowance
    return t, float(f"{float(left):.6g}"), float(f"{float(right):.6g}")


class Tally:
    """Decides relations of one statement and remembers the worst.

    A claim is decided at level 0 (doubles with proved error bounds) wherever its slack exceeds
    those bounds, and otherwise again at the higher levels, where the doubles that the solver
    delivered are exact numbers. There is no tolerance. What is refuted must be violated by more
    than rounding in the solver's own run could have caused; what is violated by less is
    `undecided`, for such a run tells nothing about the algorithm.
    """

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.checked = self.escalated = 0
        self.worst: tuple[float, int | None, Relation] | None = None
        self.broken: tuple[int | None, Relation] | None = None
        self.doubtful: tuple[int | None, Relation, Decision] | None = None
        self.curve = Curve()

    def agree(self, relation: Relation, tightness: float, t: int) -> None:
        """Count and remember a relation that is certain, and as tight as that."""
        self.checked += 1
        worst, curve = self.worst, self.curve
        if worst is None or tightness > worst[0]:
            self.worst = tightness, t, relation
        if not curve.at < t < curve.due:
            curve.note(relation, t, tightness)

    def _remember(self, relation: Relation, t: int | None) -> None:
        tightness = relation.tightness()
        if tightness is None:
            tightness = -math.inf
        if t is not None:
            self.curve.note(relation, t, tightness)
        if self.worst is None or tightness > self.worst[0]:
            self.worst = tightness, t, relation

    def weigh(self, claim: Callable[[int], list[Relation]], t: int | None, rounding: float) -> None:
        """Decide what a claim says, level by level; `claim(level)` evaluates it at a level."""
        relations = claim(0)
        decided = [r.decide(rounding) for r in relations]
        self.checked += len(relations)
        if any(d is not HOLDS for d in decided):
            relations, decided = self._escalate(claim, relations, decided, rounding)
        for relation, decision in zip(relations, decided, strict=True):
            if decision is HOLDS:
                self._remember(relation, t)
            elif decision is VIOLATED:
                if self.broken is None:
                    self.broken = t, relation
            elif self.doubtful is None:
                self.doubtful = t, relation, decision

    def _escalate(
        self,
        claim: Callable[[int], list[Relation]],
        relations: list[Relation],
        decided: list[Decision],
        rounding: float,
    ) -> tuple[list[Relation], list[Decision]]:
        self.escalated += sum(d is not HOLDS for d in decided)
        if all(d in (HOLDS, VIOLATED) for d in decided):
            return relations, decided  # nothing is open
        for level in range(1, len(LEVELS)):
            try:
                with working(LEVELS[level]):
                    again = claim(level)
                    verdicts = [r.decide(rounding) for r in again]
            except TooLarge:
                break  # what was certain at the level before stays so, and doubt remains doubt
            if len(again) != len(relations):
                # Other relations, which cannot be paired; but a violation is not taken back.
                return (relations, decided) if VIOLATED in decided else (again, verdicts)
            # What was decided stays decided: a statement may keep history at level 0 only.
            pairs = zip(relations, decided, again, verdicts, strict=True)
            best = [(r, d) if d in (HOLDS, VIOLATED) else (s, e) for r, d, s, e in pairs]
            relations, decided = [r for r, _ in best], [d for _, d in best]
            if DOUBT not in decided:
                break
        return relations, decided

    def verdict(
        self, unfinished: str = "", worth: Callable[[], tuple[int, int | None]] | None = None
    ) -> Verdict:
        """The verdict on everything weighed so far; `worth` tells what a pass is worth."""
        if self.broken is not None:
            t, relation = self.broken
            return self._result(Ruling.REFUTED, t, relation, "the claim is violated")
        if self.doubtful is not None:
            t, relation, decision = self.doubtful
            reason = (
                "not decided at the highest precision"
                if decision is DOUBT
                else "violated, but by no more than rounding in the run may cause"
            )
            return self._result(Ruling.UNDECIDED, t, relation, reason)
        if unfinished:
            return replace(self._best(Ruling.UNDECIDED), reason=unfinished)
        if not self.checked:
            reason = "nothing to check in this run: nothing is claimed of any iterate"
            return Verdict(self.statement, Ruling.INAPPLICABLE, reason=reason)
        return self._best(Ruling.HOLDS, *(() if worth is None else worth()))

    def _best(
        self, ruling: Ruling, informative: int | None = None, vacuous_to: int | None = None
    ) -> Verdict:
        if self.worst is None:
            return Verdict(
                self.statement,
                ruling,
                checked=self.checked,
                escalated=self.escalated,
                informative=informative,
                vacuous_to=vacuous_to,
            )
        return self._result(ruling, *self.worst[1:], "", informative, vacuous_to)

    def _result(
        self,
        ruling: Ruling,
        t: int | None,
        relation: Relation,
        reason: str,
        informative: int | None = None,
        vacuous_to: int | None = None,
    ) -> Verdict:
        return Verdict(
            self.statement,
            ruling,
            tightness=relation.tightness(),
            slack=middle(relation.slack) if relation.op != "fact" else None,
            worst_t=t,
            checked=self.checked,
            escalated=self.escalated,
            reason=reason,
            left=digits(relation.left) if relation.op != "fact" else "",
            right=digits(relation.right) if relation.op != "fact" else "",
            what=relation.what,
            where=relation.where,
            informative=informative,
            vacuous_to=vacuous_to,
            curve=self.curve.of(relation, t),
        )


def digits(value: Number) -> str:
    """A ball for people: digits, and the error where they do not tell."""
    return str(value.str(17))


#: What can be checked of a method that halts.
CHECKED = ("separated", "certificate")


def no_end(last: View, solvers: tuple[str, ...]) -> str:
    """Why a run that was ended with this iterate has not come to its end, or "".

    Parameters
    ----------
    last : View
        The last iterate; its ``extra["halt"]`` says why the method stops.
    solvers : tuple of str
        Registry names of the methods that the statement is about; any if there is none.
    """
    halt = last.extra.get("halt")
    if solvers and not any(halt in _ends(name) for name in solvers):
        return f"and the method does not end in its paper, with {halt!r} or otherwise"
    if halt == "separated":
        return "" if _separates(last) else "and the last one does not separate the data"
    if halt == "certificate":
        return _no_certificate(last)
    return f"and what it says then, {halt!r}, cannot be checked"


def _ends(name: str) -> tuple[str, ...]:
    from gammabar.solvers.base import solver

    try:
        return getattr(solver(name), "ends", ())
    except ProblemError:  # the solver of somebody's own paper
        return CHECKED


def _separates(last: View) -> Trit:
    for level, bits in enumerate(LEVELS):
        try:
            with working(bits):
                found = last.at(level).separates if level else last.separates
        except TooLarge:
            return None
        if found is not None:
            return found
    return None


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
            length = _length(last.space, p)
        except TooLarge:
            return "and its certificate is too large to be checked"
        if not length <= number(epsilon) + rounding * last.space.radius:
            return f"and its certificate has norm {float(length):.3g}, above {epsilon}"
    return ""


def _length(space: Any, p: Floats) -> Number:
    """‖Aᵀp‖."""
    if not isinstance(space, LinearSpace):
        return space.exact_norm(p)
    column = space.exact_combination([arb(v) for v in p.tolist()]).entries()
    return sqrt(total(v * v for v in column))


def separates(it: View, case: Case) -> Trit:
    """The usual goal: every score of w_t is positive."""
    return it.separates


class Judge(ABC):
    """Hears the iterates of one run for one statement."""

    #: Why a run that did not refute the statement does not settle it either.
    unfinished = ""
    #: Iterates it wants to hear beyond the length of the run: none.
    limit: int | None = None
    #: The last t that it asked for, set by the hearing.
    asked = 0
    #: What the solver did wrong for this judge, and words for it, if it has left.
    _left: tuple[str, str] | None = None

    def __init__(self, statement: RunStatement, case: Case) -> None:
        self.statement, self.case = statement, case
        self.tally = Tally(statement.id)
        self.reason = statement.inapplicable(case)
        self.done = self.reason is not None

    @abstractmethod
    def see(self, it: View) -> None:
        """Hear the next iterate."""

    @abstractmethod
    def end(self, halted: bool) -> None:
        """The run is over; `halted` if the solver ended it."""

    def leave(self, failure: str, detail: str) -> None:
        """The run is over for this judge alone: for it, the solver has failed."""
        self._left, self.done = (failure, detail), True

    def verdict(self, failure: str = "", detail: str = "") -> Verdict:
        """The verdict; `failure` says what the solver did wrong, if it did."""
        if self.reason is not None:
            return Verdict(self.statement.id, Ruling.INAPPLICABLE, reason=self.reason)
        if self._left is not None:
            failure, detail = self._left
        if failure and (self._left is not None or not self.done):
            # What it says of itself may be nothing: that it failed is what counts.
            found = self.tally.verdict(unfinished=detail or f"the solver failed ({failure})")
            return found if found.verdict is Ruling.REFUTED else replace(found, failure=failure)
        return self.tally.verdict(self.unfinished, self.worth)

    @abstractmethod
    def worth(self) -> tuple[int, int | None]:
        """How many iterates of a pass were informative, and to which t the claim was vacuous."""


class IterateJudge(Judge):
    """A claim about every iterate."""

    statement: IterateStatement
    #: Iterates at which something was compared.
    compared = 0
    #: How many of them passed before all solvers at rest had failed; None: they had not.
    uninformed: int | None = None
    #: The last t before that, as far as is known.
    vacuous_to: int | None = None
    #: Whether solvers at rest can be judged at all.
    telling = True

    def __init__(self, statement: IterateStatement, case: Case) -> None:
        super().__init__(statement, case)
        self._since, self._waits = statement.since, statement.waits
        #: Of which iterates from its first on nothing was claimed: mostly none.
        self.silent: list[int] = []
        self._update: Any = None
        self._last: View | None = None
        if not self.done:
            try:
                self._update, self._claim, self._more = parts(statement, case)
            except Unclaimed as missing:
                self.reason, self.done = str(missing), True

    def end(self, halted: bool) -> None:
        last = self._last
        if self.done or last is None:
            return
        if halted and last.t < self.asked:
            wrong = no_end(last, self.statement.solvers)
            if wrong:
                heard = f"{last.t + 1} of {self.asked + 1} iterates were heard"
                self.unfinished = f"{heard}: the solver ended the run, {wrong}"
                return
        if self._waits is not None:
            waits = self._waits(last, self.case)
            if not isinstance(waits, str):
                what = f"its `waits` returns {type(waits).__name__}; return a text, empty if over"
                raise self.statement.error(what)
            self.unfinished = waits

    def see(self, it: View) -> None:
        self._last = it
        if self._update is not None:
            try:
                self._update(it)
            except Unclaimed as missing:
                self.reason, self.done = str(missing), True
                return
        if it.t < self._since:
            return
        # Nearly all claims are certain at once, and most are one relation: that must cost little.
        try:
            more = self._more
            claimed = self._claim(it, self.case) if more else self._claim(it)
            if type(claimed) is Relation:
                self.compared += 1
                tightness = claimed.held()
                if tightness is not None:
                    self.tally.agree(claimed, tightness, it.t)
                    return
            else:
                relations = listed(claimed, self.statement)
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
        except Unclaimed as missing:  # a generator raises it when it is listed
            self.reason, self.done = str(missing), True
            return
        self._weigh(it)

    def _weigh(self, it: View) -> None:
        """Decide what is not certain at once."""
        rounding = run_rounding(it.n, it.space.dimension, it.t)
        views = {0: it}

        def claim(level: int) -> list[Relation]:
            view = views.setdefault(level, it.at(level) if level else it)
            return listed(self._claim(view, *self._more), self.statement)

        self.tally.weigh(claim, it.t, rounding)
        self.done = self.tally.broken is not None

    def told(self) -> list[int]:
        """The iterates at which something was compared."""
        last, silent = -1 if self._last is None else self._last.t, frozenset(self.silent)
        return [t for t in range(self._since, last + 1) if t not in silent]

    def worth(self) -> tuple[int, int | None]:
        informative = 0 if self.uninformed is None else self.compared - self.uninformed
        return informative, None if self.vacuous_to == -1 else self.vacuous_to


class StoppingJudge(Judge):
    """A claim that a goal is reached at some t ≤ limit."""

    def __init__(self, statement: StoppingStatement, case: Case) -> None:
        super().__init__(statement, case)
        self._goal = statement.goal
        self._last: View | None = None
        #: Whether a solver that stands still is known not to reach the goal.
        self._hard = True
        if self.done:
            return
        try:
            with working(LEVELS[1]):
                bound = statement.body(case)
        except Unclaimed as missing:
            self.reason, self.done = str(missing), True
            return
        if bound is None:
            self.reason, self.done = "nothing is claimed of this case", True
            return
        self.bound = self._number(bound)
        #: The last t that may still reach the goal.
        high = self.bound.upper().floor()
        self.limit = int(float(high.mid())) if 0 <= high < 1e15 else 10**15
        if high < 0:  # no t is that small, and the first iterate tells
            self.limit = 0

    def _number(self, bound: Any) -> Number:
        try:
            return number(bound)
        except (TypeError, ValueError):
            kind = type(bound).__name__
            what = f"it returns {kind} where the limit of t is needed; return a number or None"
            raise self.statement.error(what) from None

    def see(self, it: View) -> None:
        self._last = it
        try:
            reached = self._reached(it)
        except Unclaimed as missing:
            self.reason, self.done = str(missing), True
            return
        if it.t <= 1:
            self._hard = self._hard and reached is False and self._far(it)
        if reached is True:
            self._settle(it.t, f"goal reached at t = {it.t}")
        elif it.extra.get("halt") == "separated" and it.separates is False:
            self._fail(it, "the method stops and says that it separates the data")
        elif it.t >= (self.limit or 0) and reached is False:
            self._fail(it, f"the goal is not reached at t = {it.t}")

    def _far(self, it: View) -> bool:
        """Whether w = 0 is known not to reach the goal, if a run starts elsewhere."""
        away = it.t == 0 and it.w.any()
        return not away or self._trit(self._goal(it.at_zero(), self.case)) is False

    def _reached(self, it: View) -> Trit:
        for level, bits in enumerate(LEVELS):
            try:
                with working(bits):
                    said = self._goal(it.at(level) if level else it, self.case)
            except TooLarge:
                return None
            reached = self._trit(said)
            if reached is not None:
                if level:
                    self.tally.escalated += 1
                return reached
        return None

    def _trit(self, said: Any) -> Trit:
        if said is None or type(said) is bool:
            return said
        if isinstance(said, np.bool_):
            return bool(said)
        what = f"its goal returns {type(said).__name__}; return True, False, or None if not known"
        raise self.statement.error(what)

    def _settle(self, t: int, what: str) -> None:
        self.tally.weigh(lambda _: [Relation(number(t), self.bound, "<=", what=what)], t, 0.0)
        self.done = True

    def _fail(self, it: View, what: str) -> None:
        self.tally.checked += 1
        relation = Relation(number(it.t + 1), self.bound, "<=", what=what)
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
        rounding = run_rounding(it.n, it.space.dimension, it.t)
        allowed = rounding * it.space.radius * it.space.size(it.w)
        return bool(it.w.any()) and not it.smallest < -allowed

    def worth(self) -> tuple[int, int | None]:
        return int(self._hard), None

    def end(self, halted: bool) -> None:
        if self.done or self._last is None:
            return
        if halted and self._reached(self._last) is False:
            self._fail(self._last, "the method stops without reaching the goal")
        else:
            most = digits(self.bound.floor())
            self.unfinished = f"the run ended at t = {self._last.t}, the bound allows {most}"


def examine_once(statement: Statement, case: Case) -> Verdict:
    """The verdict on a claim that is not about runs."""
    tally = Tally(statement.id)
    case.forget()  # runs of its solver, which are made once and judged at every level

    def claim(level: int) -> list[Relation]:
        case.level = level
        return listed(statement.body(case), statement, needed=True)

    with working(LEVELS[0]):
        tally.weigh(claim, None, 0.0)
    found = tally.verdict()
    if found.verdict is not Ruling.HOLDS:
        return found
    telling = resting_fails(statement, case, statement.body)
    return replace(found, informative=found.checked if telling else 0)


def resting_fails(statement: Statement, case: Case, body: Callable[[Case], Any]) -> bool:
    """Whether a claim that runs a solver by itself would refute one that stands still.

    Where there is no solver of the user's, it is the claim that is on trial, and all that was
    compared speaks about it.
    """
    if case.solver is None or not statement.solvers:
        return True
    with working(LEVELS[0]):
        for at in (0, 1):
            still = case.apart()
            still.level, still.solver = 0, resting_solver(case.solver, at)
            if still.solver is None:
                return True
            try:
                claimed = listed(body(still), statement, needed=True)
            except Exception:
                return False  # nothing is known of it
            if all(r.decide(0.0) not in (VIOLATED, ROUNDING) for r in claimed):
                return False
    return True


def listed(claimed: Any, statement: Statement, needed: bool = False) -> list[Relation]:
    """What a claim returned, as a list of relations; whatever else it is, is refused."""
    if type(claimed) is list:
        relations = claimed
    elif type(claimed) is GeneratorType:
        relations = list(claimed)
    elif type(claimed) is Relation:
        return [claimed]
    elif claimed is None:
        if needed:
            raise statement.error("it returns nothing; return a relation as at_most(left, right)")
        return []
    elif not isinstance(claimed, Iterable) or isinstance(claimed, str | np.ndarray):
        raise statement.error(_no_relation(claimed))
    else:
        relations = list(claimed)
    for relation in relations:
        if type(relation) is not Relation:
            raise statement.error(_no_relation(relation))
    return relations


def _no_relation(value: Any) -> str:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(value, bool | np.bool_):
        return f"it returns a bare {name}; return fact({value}, …) or a comparison as at_most(…)"
    return (
        f"it returns {name} where a relation is needed; return at_most(left, right),"
        " at_least(…), below(…), equal(…) or fact(…) of gammabar.harness.verify.relation"
    )
