"""Decides what a claim says, level by level, and keeps the worst."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from gammabar.harness.court.curve import Curve
from gammabar.harness.court.numbers import LEVELS, Number, middle, working
from gammabar.harness.court.relation import DOUBT, HOLDS, VIOLATED, Decision, Relation
from gammabar.harness.court.space import TooLarge
from gammabar.harness.court.verdict import Ruling, Verdict


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
            reason = "nothing to check in this run"
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
