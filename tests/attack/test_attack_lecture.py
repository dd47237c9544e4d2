"""The attack on what the lecture, and Ramdas and Peña, claim of solvers; and that it can fail."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from attack import (
    boosting,
    boosting_claims,
    descent,
    failing,
    further,
    hearing,
    ridge,
    smoothed,
    stochastic,
    trial,
)
from attack.data import bits
from gammabar.harness.verify.numbers import Decision, Relation

KINDS: dict[str, Any] = {
    "boosting": boosting.one,
    "descent": descent.one,
    "stochastic": stochastic.one,
    "ridge": ridge.one,
    "smoothed": smoothed.one,
    "failing": failing.one,
}


def tried(kind: str, seed: int, number: int, tally: trial.Tally) -> trial.Tally:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        KINDS[kind](seed, number, tally)
    return tally


#: Of the seed 2027.
NUMBERS: dict[str, Any] = {
    "boosting": [4, 6],
    "descent": [1, 3, 5, 8],
    "stochastic": [0, 1, 3, 4],
    "ridge": range(8),
    "smoothed": range(60),
    "failing": [0],
}


@pytest.mark.full
@pytest.mark.parametrize("kind", [*KINDS])
def test_no_verdict_is_wrong(kind: str) -> None:
    tally = trial.Tally()
    for number in NUMBERS[kind]:
        tried(kind, 2027, number, tally)
    assert not tally.faults, "\n".join(tally.faults)
    assert tally.of_right["holds"]
    assert not tally.of_right["refuted"]
    assert tally.of_false["refuted"] > tally.of_false["undecided"] or kind == "failing"


#: Verdicts that were wrong before the rules that they led to.
FOUND = [
    ("boosting", 7, 8, "ε_t of a round without mistakes is not looked at"),
    ("boosting", 7, 21, "α_t may be anything where ε_t is small"),
    ("boosting", 2027, 0, "another weak learner is to find the best stump"),
    ("descent", 2027, 4, "a gap that is no number is taken for 0"),
    ("descent", 2027, 6, "steps near the end of the doubles are excused"),
    ("descent", 60, 2, "the square of a radius leaves the doubles"),
    ("stochastic", 1, 45, "a slope is allowed to be off by hundreds"),
    ("stochastic", 1, 66, "a step along a short row is compared with the longest"),
    ("stochastic", 9, 131, "norms that underflow allow for nothing"),
    ("ridge", 2027, 14, "a residual is allowed to be larger than y"),
    ("smoothed", 1, 229, "p_k is not looked at where scores are badly known"),
    ("smoothed", 1, 399, "weights are allowed to be off by all of them"),
    ("smoothed", 13, 214, "a separator that was rounded away is a violation"),
    ("smoothed", 2, 129, "δ_t < ε is asked of a rounded δ_t"),
]


@pytest.mark.full
@pytest.mark.parametrize(("kind", "seed", "number", "what"), FOUND)
def test_what_was_found(kind: str, seed: int, number: int, what: str) -> None:
    tally = tried(kind, seed, number, trial.Tally())
    assert not tally.faults, f"{what}: {tally.faults[0]}"


@pytest.mark.full
@pytest.mark.parametrize("kind", [*KINDS])
@pytest.mark.parametrize("court", ["believes", "refuses"])
def test_a_court_that_is_credulous_is_found_out(
    kind: str, court: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if court == "believes":
        monkeypatch.setattr(Relation, "certain", lambda self: True)
        monkeypatch.setattr(Relation, "held", lambda self: 0.0)
        monkeypatch.setattr(Relation, "decide", lambda self, *allowed: Decision.HOLDS)
    else:
        monkeypatch.setattr(Relation, "certain", lambda self: False)
        monkeypatch.setattr(Relation, "held", lambda self: None)
        monkeypatch.setattr(Relation, "decide", lambda self, *allowed: Decision.VIOLATED)
    said = "holds, though the claim is false" if court == "believes" else "refuted"
    tally = trial.Tally()
    for number in NUMBERS[kind]:
        if any(said in fault for fault in tried(kind, 2027, number, tally).faults):
            return
    raise AssertionError("no fault was found")


def test_further_trials_take_turns() -> None:
    tally = trial.Tally()
    for number in range(4 * len(further.TRIALS)):
        if number % further.EVERY:
            further.one(2027, number, tally)
    assert not tally.trials
    further.one(2027, 4 * 3, tally)
    assert tally.kinds["ridge"] == 1


def test_every_statement_that_is_judged_is_one() -> None:
    assert trial.load_statements().keys() >= further.JUDGED


def test_the_minimum_is_one() -> None:
    """f(w*) is below f everywhere, and the gradient vanishes there."""
    with bits():
        data = next(
            data
            for data in (_data(seed) for seed in range(50))
            if data is not None and data.kind == "dense" and data.scale == "ordinary"
        )
        f = descent.Risk(data, 0.5)
        assert f.optimum is not None
        low, high, norm = f.optimum
        assert high - low < arb(10) ** -300
        assert norm > 0
        rng = np.random.default_rng(0)
        for _ in range(20):
            w = [arb(float(v)) for v in rng.normal(size=data.dimension)]
            assert f.value(w) > high


def _data(seed: int) -> Any:
    try:
        return descent.Data(np.random.default_rng(seed))
    except (descent.Unfit, hearing.gb.ProblemError):
        return None


def test_adaboost_is_that_of_the_lecture() -> None:
    """x = 1, 2, 3 with y = (+, −, +): ε_1 = 1/3, α_1 = ½ ln 2, D_2 = (¼, ½, ¼) up to ties."""
    points = boosting.Points(np.array([[1], [2], [3]]), np.array([1, -1, 1]), "three points")
    with ctx.workprec(boosting.BITS):
        run = boosting.played(boosting.adaboost(points, boosting.best, np.random.default_rng(0)))
        first = run[1]
        assert first.extra["epsilon"] == 1 / 3
        assert first.extra["z"] == pytest.approx(2 * 2**0.5 / 3, rel=1e-15)
        assert sorted(first.dual) == pytest.approx([0.25, 0.25, 0.5], rel=1e-15)
        rounds = boosting_claims.Rounds(points, run, True)
        assert [claim(rounds) for claim in boosting_claims.CLAIMS.values()] == [None] * 7
        assert rounds.mistakes(rounds.rounds[2]) == 0
