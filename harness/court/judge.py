"""From statements and iterates to verdicts.

A claim is decided at level 0 (doubles with proved error bounds) wherever its slack exceeds those
bounds, and otherwise again at the higher levels, where the doubles that the solver delivered are
exact numbers. There is no tolerance. What is refuted must be violated by more than rounding in the
solver's own run could have caused; what is violated by less is `undecided`, for such a run tells
nothing about the algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy.special import betaincinv

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import LEVELS, Number, middle, number, working
from gammabar.harness.court.relation import DOUBT, HOLDS, ROUNDING, VIOLATED, Relation, run_rounding
from gammabar.harness.court.space import TooLarge
from gammabar.harness.court.statement import Statement, separates
from gammabar.harness.court.view import Fault, View

#: Confidence of the statistical verdicts: 1 − CHANCE for each of them.
CHANCE = 1e-4


@dataclass(frozen=True)
class Verdict:
    """What was found about one statement in one case.

    Attributes
    ----------
    statement : str
    verdict : "holds", "refuted", "undecided" or "inapplicable"
    tightness : float or None
        Measured over bound, at the worst iterate: 1 is an exhausted bound.
    slack : float or None
        Bound minus measured, there.
    worst_t : int or None
        That iterate; for a refutation, the first one that violates the claim.
    checked, escalated : int
        Comparisons made, and those that needed more than doubles.
    reason : str
        Why it is undecided, inapplicable or refuted.
    left, right, what, where : str
        The two sides there, as decimal digits with their error; what was compared and where.
    failure : str
        "crashed", "timeout" or "not finite" where the solver did not do its part.
    """

    statement: str
    verdict: str
    tightness: float | None = None
    slack: float | None = None
    worst_t: int | None = None
    checked: int = 0
    escalated: int = 0
    reason: str = ""
    left: str = ""
    right: str = ""
    what: str = ""
    where: str = ""
    failure: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Tally:
    """Decides relations of one statement and remembers the worst."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.checked = self.escalated = 0
        self.worst: tuple[float, int | None, Relation] | None = None
        self.broken: tuple[int | None, Relation] | None = None
        self.doubtful: tuple[int | None, Relation, str] | None = None
        self.any_level = False

    def agree(self, relation: Relation, t: int | None) -> None:
        """Remember a relation that is certain."""
        self.checked += 1
        self._remember(relation, t)

    def weigh(self, claim: Callable[[int], list[Relation]], t: int | None, rounding: float) -> None:
        """Decide what a claim says, level by level; `claim(level)` evaluates it at a level."""
        relations = claim(0)
        decided = [r.decide(rounding) for r in relations]
        self.checked += len(relations)
        if any(d is not HOLDS for d in decided):
            relations, decided = self._escalate(claim, relations, decided, rounding)
        for relation, decision in zip(relations, decided, strict=True):
            if decision == HOLDS:
                self._remember(relation, t)
            elif decision == VIOLATED:
                if self.broken is None:
                    self.broken = t, relation
            elif self.doubtful is None:
                self.doubtful = t, relation, decision

    def _escalate(
        self,
        claim: Callable[[int], list[Relation]],
        relations: list[Relation],
        decided: list[str],
        rounding: float,
    ) -> tuple[list[Relation], list[str]]:
        self.escalated += sum(d != HOLDS for d in decided)
        for level in range(1, len(LEVELS)):
            try:
                with working(LEVELS[level]):
                    again = claim(level)
                    verdicts = [r.decide(rounding) for r in again]
            except TooLarge:
                break  # what was certain at the level before stays so, and doubt remains doubt
            if len(again) != len(relations):
                return again, verdicts
            # What was decided stays decided: a statement may keep history at level 0 only.
            pairs = zip(relations, decided, again, verdicts, strict=True)
            best = [(r, d) if d == HOLDS else (s, e) for r, d, s, e in pairs]
            relations, decided = [r for r, _ in best], [d for _, d in best]
            if DOUBT not in decided:
                break
        return relations, decided

    def _remember(self, relation: Relation, t: int | None) -> None:
        tightness = relation.tightness()
        if tightness is None:
            tightness = -math.inf
        if self.worst is None or tightness > self.worst[0]:
            self.worst = tightness, t, relation

    def verdict(self, unfinished: str = "") -> Verdict:
        """The verdict on everything weighed so far."""
        if self.broken is not None:
            t, relation = self.broken
            return self._result("refuted", t, relation, "the claim is violated")
        if self.doubtful is not None:
            t, relation, decision = self.doubtful
            reason = (
                "not decided at the highest precision"
                if decision == DOUBT
                else "violated, but by no more than rounding in the run may cause"
            )
            return self._result("undecided", t, relation, reason)
        if unfinished:
            return replace(self._best("undecided"), reason=unfinished)
        if not self.checked:
            return Verdict(self.statement.id, "inapplicable", reason="nothing to check in this run")
        return self._best("holds")

    def _best(self, verdict: str) -> Verdict:
        if self.worst is None:
            return Verdict(
                self.statement.id, verdict, checked=self.checked, escalated=self.escalated
            )
        return self._result(verdict, self.worst[1], self.worst[2], "")

    def _result(self, verdict: str, t: int | None, relation: Relation, reason: str) -> Verdict:
        return Verdict(
            self.statement.id,
            verdict,
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
        )


def digits(value: Number) -> str:
    """A ball for people: digits, and the error where they do not tell."""
    return str(value.str(17))


class Judge:
    """Hears the iterates of one run for one statement."""

    def __init__(self, statement: Statement, case: Case) -> None:
        self.statement, self.case = statement, case
        self.tally = Tally(statement)
        self.done = False
        self.reason = statement.inapplicable(case)
        if self.reason is not None:
            self.done = True

    #: Why a run that did not refute the statement does not settle it either.
    unfinished = ""
    #: Iterates it wants to hear beyond the length of the run: none.
    limit: int | None = None

    def see(self, it: View) -> None:
        raise NotImplementedError

    def end(self, halted: bool) -> None:
        """The run is over; `halted` if the solver ended it."""

    def verdict(self, failure: str = "", detail: str = "") -> Verdict:
        """The verdict; `failure` says what the solver did wrong, if it did."""
        if self.reason is not None:
            return Verdict(self.statement.id, "inapplicable", reason=self.reason)
        if failure and not self.done:
            found = self.tally.verdict(unfinished=detail)
            return found if found.verdict == "refuted" else replace(found, failure=failure)
        return self.tally.verdict(self.unfinished)


class IterateJudge(Judge):
    """A claim about every iterate."""

    def __init__(self, statement: Statement, case: Case) -> None:
        super().__init__(statement, case)
        body = statement.body
        self._update: Any = None
        self._last: View | None = None
        if self.done:
            return
        if isinstance(body, type):
            checker = body(case)
            self._update = getattr(checker, "update", None)
            self._claim = checker.claim
        else:
            self._claim = lambda it: body(it, case)

    def end(self, halted: bool) -> None:
        waits = self.statement.waits
        if waits is not None and self._last is not None and not self.done:
            self.unfinished = waits(self._last, self.case)

    def see(self, it: View) -> None:
        self._last = it
        if self._update is not None:
            self._update(it)
        if it.t < self.statement.since:
            return
        # Nearly all claims are certain at once, and most are one relation: that must cost little.
        relations = self._claim(it)
        if type(relations) is Relation:
            relations = (relations,)
        elif relations is None:
            return
        elif type(relations) is not list:
            relations = list(relations)
        for relation in relations:
            if not relation.certain():
                break
        else:
            for relation in relations:
                self.tally.agree(relation, it.t)
            return
        rounding = run_rounding(it.n, it.space.dimension, it.t)
        views = {0: it}

        def claim(level: int) -> list[Relation]:
            view = views.setdefault(level, it.at(level) if level else it)
            return listed(self._claim(view))

        self.tally.weigh(claim, it.t, rounding)
        self.done = self.tally.broken is not None


class StoppingJudge(Judge):
    """A claim that a goal is reached at some t ≤ limit."""

    def __init__(self, statement: Statement, case: Case) -> None:
        super().__init__(statement, case)
        if self.done:
            return
        with working(LEVELS[1]):
            bound = statement.body(case)
        if bound is None:
            self.reason, self.done = "nothing is claimed of this case", True
            return
        self.bound = number(bound)
        #: The last t that may still reach the goal.
        high = self.bound.upper().floor()
        self.limit = int(float(high.mid())) if high < 1e15 else 10**15
        self._last: View | None = None

    def see(self, it: View) -> None:
        reached = self._reached(it)
        self._last = it
        if reached is True:
            self._settle(it.t, f"goal reached at t = {it.t}")
        elif it.extra.get("halt") == "separated" and it.separates is False:
            self._fail(it, "the method stops and says that it separates the data")
        elif it.t >= (self.limit or 0) and reached is False:
            self._fail(it, f"the goal is not reached at t = {it.t}")

    def _reached(self, it: View) -> bool | None:
        assert self.statement.goal is not None
        for level, bits in enumerate(LEVELS):
            try:
                with working(bits):
                    reached = self.statement.goal(it.at(level) if level else it, self.case)
            except TooLarge:
                return None
            if reached is not None:
                if level:
                    self.tally.escalated += 1
                return reached
        return None

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
        if self.statement.goal is not separates:
            return False
        rounding = run_rounding(it.n, it.space.dimension, it.t)
        allowed = rounding * it.space.radius * it.space.size(it.w)
        return bool(it.w.any()) and not it.smallest < -allowed

    def end(self, halted: bool) -> None:
        if self.done or self._last is None:
            return
        if halted and self._reached(self._last) is False:
            self._fail(self._last, "the method stops without reaching the goal")
        else:
            most = digits(self.bound.floor())
            self.unfinished = f"the run ended at t = {self._last.t}, the bound allows {most}"


def listed(claimed: Relation | Iterable[Relation] | None) -> list[Relation]:
    """What a claim returned, as a list."""
    if claimed is None:
        return []
    return [claimed] if isinstance(claimed, Relation) else list(claimed)


def judge_for(statement: Statement, case: Case) -> Judge:
    """A judge for a statement about the iterates of a solver."""
    return (StoppingJudge if statement.way == "stopping" else IterateJudge)(statement, case)


def examine(statement: Statement, case: Case) -> Verdict:
    """The verdict on a statement that is not about one run: direct and randomised ones."""
    reason = statement.inapplicable(case)
    if reason is not None:
        return Verdict(statement.id, "inapplicable", reason=reason)
    if statement.way == "randomised":
        return _randomised(statement, case)
    tally = Tally(statement)

    def claim(level: int) -> list[Relation]:
        case.level = level
        return listed(statement.body(case))

    with working(LEVELS[0]):
        tally.weigh(claim, None, 0.0)
    return tally.verdict()


def _randomised(statement: Statement, case: Case) -> Verdict:
    """Count failures in a number of runs fixed in advance; exact binomial bounds decide."""
    failures, doubts, tally = 0, 0, Tally(statement)
    for run in range(statement.runs):
        one = Tally(statement)

        def claim(level: int, run: int = run) -> list[Relation]:
            case.level = level
            return listed(statement.body(case, case.rng(run)))

        with working(LEVELS[0]):
            one.weigh(claim, None, 0.0)
        failures += one.broken is not None
        doubts += one.broken is None and one.doubtful is not None
        tally.escalated += one.escalated
    # A run that cannot be decided counts against whatever is to be shown.
    low, _ = clopper_pearson(failures, statement.runs, CHANCE)
    _, high = clopper_pearson(failures + doubts, statement.runs, CHANCE)
    delta = statement.delta or 0.0
    verdict = "holds" if high <= delta else "refuted" if low > delta else "undecided"
    return Verdict(
        statement.id,
        verdict,
        tightness=high / delta if delta else None,
        slack=delta - high,
        checked=statement.runs,
        escalated=tally.escalated,
        reason=f"{failures} failures in {statement.runs} runs fixed in advance: the probability of"
        f" failure lies in [{low:.3g}, {high:.3g}] with confidence 1 − {CHANCE:g}",
        left=f"{high:.6g}",
        right=f"{delta:.6g}",
        what="P(failure) ≤ δ",
    )


def clopper_pearson(failures: int, runs: int, chance: float) -> tuple[float, float]:
    """Exact confidence interval for a probability; each side errs with probability chance/2."""
    low = float(betaincinv(failures, runs - failures + 1, chance / 2)) if failures else 0.0
    if failures == runs:
        return low, 1.0
    return low, float(betaincinv(failures + 1, runs - failures, 1 - chance / 2))


def hear(
    case: Case,
    statements: list[Statement],
    iterations: int,
    most: int = 100_000,
) -> list[Verdict]:
    """Run the solver of a case once and judge all statements about it.

    Parameters
    ----------
    case : Case
    statements : list of Statement
        Of ways "iterates" and "stopping".
    iterations : int
        Claims about every iterate hear t = 0, …, iterations.
    most : int
        Claims about stopping hear as many iterates as they need, but not more than this.
    """
    with working(LEVELS[0]):
        judges = [judge_for(statement, case) for statement in statements]
        failure, detail = _listen(case, judges, iterations, most)
        return [judge.verdict(failure, detail) for judge in judges]


class _Bench:
    """The judges of one run, and the histories that they share.

    On large data the solver waits for memory most of the time. Then iterates are judged during its
    next pass over the data, which other threads begin alone, and a few at a time: a pass leaves
    nothing of the court in the processor's caches.
    """

    def __init__(self, case: Case, judges: list[Judge], iterations: int, most: int) -> None:
        self.case = case
        self.horizons = [(judge, _horizon(judge, iterations, most)) for judge in judges]
        self.histories: dict[type, int] = {}
        for judge, last in self.horizons:
            for kind in () if judge.done else judge.statement.history:
                self.histories[kind] = max(last, self.histories.get(kind, 0))
        self.waiting: list[View] = []
        self.trouble: Exception | None = None
        self.together = case.together
        if self.together > 1:
            case.ledger.meanwhile = self.use_time

    def wants(self, t: int) -> bool:
        """Whether some judge wants to hear w_t."""
        return any(t <= last for judge, last in self.horizons if not judge.done)

    def hear(self, it: View) -> None:
        """Take in the next iterate, to be judged now or soon."""
        if self.trouble is not None:
            raise self.trouble
        self.waiting.append(it)
        if self.together == 1:
            self.judge()
            return
        it.keep()
        if len(self.waiting) >= 2 * self.together:  # the solver asks for no pass
            self.judge()

    def use_time(self) -> None:
        """Judge while the solver waits for its pass, and let it see nothing of what goes wrong."""
        if len(self.waiting) >= self.together:
            try:
                self.judge()
            except Exception as error:
                self.trouble = error

    def judge(self) -> None:
        """Judge what was heard."""
        waiting, self.waiting = self.waiting, []
        for it in waiting:
            for kind, last in self.histories.items():
                if it.t <= last:
                    self.case.history(kind).update(it)
            for judge, last in self.horizons:
                # Who else listens may prolong the run, and must not change what a judge hears.
                if not judge.done and it.t <= last:
                    judge.see(it)

    def close(self) -> None:
        """The run is over."""
        if self.trouble is not None:
            raise self.trouble
        self.judge()


def _listen(case: Case, judges: list[Judge], iterations: int, most: int) -> tuple[str, str]:
    expected, halted, it = 0, True, None
    bench = _Bench(case, judges, iterations, most)
    try:
        try:
            for it in case.views():
                if it.t != expected:
                    message = f"iterates count 0, 1, 2, …, but {it.t} came for {expected}"
                    raise Fault(message)
                bench.hear(it)
                expected += 1
                if not bench.wants(expected):
                    halted = False
                    break
        finally:
            bench.close()  # what came before a fault counts
    except Fault as fault:
        return fault.failure, str(fault)
    if halted and not (it is not None and it.extra.get("halt")):
        after = f"after t = {expected - 1}" if expected else "before the first one"
        return "crashed", f'the iterates end {after}, and the last has no extra["halt"]'
    for judge in judges:
        judge.end(halted)
    return "", ""


def _horizon(judge: Judge, iterations: int, most: int) -> int:
    """The last t that a judge wants to hear."""
    return iterations if judge.limit is None else min(judge.limit, max(most, iterations))
