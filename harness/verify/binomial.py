"""Verdicts on what holds with a probability: failures are counted, binomial bounds decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.special import betaincinv

from gammabar.harness.verify.certified import TooLarge
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.evaluate import Tally
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.relation import Relation, listed
from gammabar.harness.verify.vacuity import idle_fails
from gammabar.harness.verify.verdict import Ruling, Verdict

if TYPE_CHECKING:
    from gammabar.harness.verify.statement import RandomisedStatement

#: Confidence of the statistical verdicts: 1 − CHANCE for each of them.
CHANCE = 1e-4


def count_failures(statement: RandomisedStatement, case: Case) -> Verdict:
    """Count failures in a number of runs fixed in advance; exact binomial bounds decide.

    The first run counts: where it cannot be decided at level 0, it is looked at again if the claim
    keeps it (`Case.remember`), and is a doubt otherwise; the solver never gets another try.
    """
    failures = doubts = silent = escalated = 0
    for run in range(statement.runs):
        tally = Tally(statement.id)
        case.forget()

        def claim(level: int, run: int = run) -> list[Relation]:
            if level and not case.remembers:
                raise TooLarge("the first run counts, and was not kept")
            case.level = level
            return listed(statement.run(case, case.rng(run)), needed=True)

        with working(LEVELS[0]):
            tally.weigh(claim, None, 0.0)
        failures += tally.broken is not None
        silent += not tally.checked
        doubts += tally.broken is None and (tally.doubtful is not None or not tally.checked)
        escalated += tally.escalated
    if silent == statement.runs:
        reason = f"nothing to check in any of {silent} runs"
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=reason)
    # A run that cannot be decided, or in which nothing was compared, counts against whatever is to
    # be shown.
    low, _ = clopper_pearson(failures, statement.runs, CHANCE)
    _, high = clopper_pearson(failures + doubts, statement.runs, CHANCE)
    delta = float(statement.delta)
    ruling = Ruling.HOLDS if high <= delta else Ruling.REFUTED if low > delta else Ruling.UNDECIDED
    return Verdict(
        statement.id,
        ruling,
        tightness=high / delta if delta else None,
        slack=delta - high,
        checked=statement.runs - silent,
        escalated=escalated,
        reason=f"{failures} failures in {statement.runs} runs fixed in advance: the probability of"
        f" failure lies in [{low:.3g}, {high:.3g}] with confidence 1 − {CHANCE:g}",
        left=f"{high:.6g}",
        right=f"{delta:.6g}",
        what="P(failure) ≤ δ",
        informative=_informative(statement, case) if ruling is Ruling.HOLDS else None,
    )


def _informative(statement: RandomisedStatement, case: Case) -> int:
    """All runs, if a solver that does not move fails in the first of them, and none otherwise."""
    first = case.rng(0)
    fails = idle_fails(statement, case, lambda still: statement.run(still, first))
    return statement.runs if fails else 0


def clopper_pearson(failures: int, runs: int, chance: float) -> tuple[float, float]:
    """Exact confidence interval for a probability; each side errs with probability chance/2."""
    low = float(betaincinv(failures, runs - failures + 1, chance / 2)) if failures else 0.0
    if failures == runs:
        return low, 1.0
    return low, float(betaincinv(failures + 1, runs - failures, 1 - chance / 2))
