"""Trials of the attack on the harness, and that the attack can fail."""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attack import boosting, chance, descent, jst, ramdas_pena, trial
from attack.arithmetic import Unfit, balls, bits, independent, nearest_in_simplex, to_double
from attack.changes import lie
from attack.data import Data
from attack.driver import Tally, proved
from attack.facts import Facts
from attack.trial import KINDS, METHODS, Trial
from gammabar.harness.registry import load_statements
from gammabar.harness.verify import numbers
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import Decision, Relation
from gammabar.problems import ProblemError

#: Verdicts that were wrong before the rules that they led to: kind or method, seed and number.
FOUND = [
    ("", 101, 135),  # rows that differ by 10^16 in length, one of them on either side
    ("", 3, 4),  # a statement for fractions was asked about balls
    ("", 3, 85),  # a margin of 1e-47 with a kernel: Gα > 0 is open at first
    ("", 71, 321),  # a short row is averaged in, beside a long one
    ("", 81, 1209),  # rows that are all the same attain Lemma D.2
    ("", 31, 332),  # −2⁶³ in several classes, whose rows are written out
    ("", 31, 2753),  # 1 − (−127) in a byte
    ("", 77, 159),  # a coefficient of 1e292 of a row that is 0
    ("gradient_descent", 8, 116),  # θ is fitted to a pull that is nearly 0
    ("batch_perceptron", 208, 157),  # doubles cannot carry the steps out
    ("perceptron", 208, 157),  # w is rounded onto a row's hyperplane where the method halts
    ("", 41, 7),  # the error of the scores, added to a sum that is bounded
    ("dual_acceleration", 41, 168),  # steps below what a sum of two rows is known by
    ("", 41, 191),  # a row of 10^-82 of the longest, which is left out
    ("", 41, 312),  # what is reported at t = 0, where no claim about a step is checked
    ("perceptron", 52, 440),  # a row that is 0: then w stays where it is
    ("", 97, 442),  # the square of an enclosure is below the smallest double
    ("", 97, 84),  # a bound that overflows: nothing is said
    ("normalized_perceptron", 4202, 120),  # a row that is 0, taken every time
    ("perceptron", 203, 58),  # the step from 0 is lost, of a row of 10^-463 of the longest
    ("", 203, 452),  # the same for a sum of rows that are all short
    ("", 303, 714),  # and for the row that is said to be drawn
    ("normalized_perceptron", 201, 942),  # w is a row that underflows, and separates
    ("boosting", 7, 8),  # ε_t of a round without mistakes is not looked at
    ("boosting", 7, 21),  # α_t may be anything where ε_t is small
    ("boosting", 2027, 0),  # another weak learner is to find the best stump
    ("descent", 2027, 4),  # a gap that is not a number is taken for 0
    ("descent", 2027, 6),  # steps near the end of the doubles are excused
    ("descent", 60, 2),  # the square of a radius leaves the doubles
    ("descent", 4101, 94),  # jitter of coefficients that cancel: refuted, and rightly
    ("stochastic", 1, 45),  # a slope is allowed to be off by hundreds
    ("stochastic", 1, 66),  # a step along a short row is compared with the longest
    ("stochastic", 9, 131),  # norms that underflow allow for nothing
    ("ridge", 2027, 14),  # a residual is allowed to be larger than y
    ("smoothed", 1, 229),  # p_k is not looked at where scores are badly known
    ("smoothed", 1, 399),  # weights are allowed to be off by all of them
    ("smoothed", 13, 214),  # a separator that was rounded away is a violation
    ("smoothed", 2, 129),  # δ_t < ε is asked of a rounded δ_t
]
#: Numbers of the seed 2027 for each kind; of "" those of 2026.
NUMBERS: dict[str, Any] = {
    "": range(40),
    "boosting": [4, 6],
    "descent": [1, 3, 5, 8],
    "stochastic": [0, 1, 3, 4],
    "ridge": range(8),
    "smoothed": range(60),
    "iterated": range(6),
    "winnow": range(12),
    "failing": [0],
}


def tried(kind: str, seed: int, number: int, tally: Tally) -> Tally:
    if kind in KINDS:
        trial.kind(kind, seed, number, tally)
    else:
        trial.one(seed, number, tally, kind)
    return tally


@pytest.mark.full
@pytest.mark.parametrize("kind", [*NUMBERS])
def test_no_verdict_is_wrong(kind: str) -> None:
    tally = Tally()
    for number in NUMBERS[kind]:
        tried(kind, 2027 if kind else 2026, number, tally)
    assert not tally.faults, "\n".join(tally.faults)
    assert not any("changed" in reason for reason in tally.refused)
    assert tally.of_false["refuted"] > tally.of_false["undecided"] or kind == "failing"
    assert tally.of_right["holds"] > (0 if kind else 2 * tally.of_right["undecided"])


@pytest.mark.full
@pytest.mark.parametrize(("kind", "seed", "number"), FOUND)
def test_what_was_found(kind: str, seed: int, number: int) -> None:
    assert not tried(kind, seed, number, Tally()).faults


@pytest.mark.slow
def test_what_is_never_decided_is_listed() -> None:
    """What 200 fixed problems never decide is a list that may only shrink."""
    tally, number = Tally(), 0
    trial.of_nothing(tally)
    while tally.trials < 200:
        trial.one(2026, number, tally)
        trial.further(2026, number, tally)
        number += 1
    found = set(load_statements()) - tally.decided()
    assert found == set(Path(__file__).with_name("undecided.txt").read_text().split())


@pytest.mark.full
def test_statements_with_data_of_their_own() -> None:
    tally = Tally()
    trial.of_nothing(tally)
    assert not tally.faults, "\n".join(tally.faults)
    assert tally.of_false.keys() == {"refuted"}


# An attack that cannot fail proves nothing


def deciding(decision: Decision, **more: Any) -> dict[str, Any]:
    """A harness that decides everything alike."""
    return {"decide": lambda self, *allowed: decision} | more


#: Wrong harnesses: what is put in the place of `Relation`'s methods.
HARNESSES: dict[str, dict[str, Any]] = {
    "certain": {"certain": lambda self: self.op != "fact"},
    "violated": deciding(Decision.VIOLATED),
    "any allowance": {},  # an equation may allow for anything
    "zero": {},  # what may be 0 is taken for 0
    "believes": deciding(Decision.HOLDS, certain=lambda self: True, held=lambda self: 0.0),
    "refuses": deciding(Decision.VIOLATED, certain=lambda self: False, held=lambda self: None),
}


def put(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for method, wrong in HARNESSES[name].items():
        monkeypatch.setattr(Relation, method, wrong)
    if name == "any allowance":
        monkeypatch.setattr(numbers, "COARSE", 1e300)
    if name == "zero":
        credulous = property(lambda self: not self.norm > 0)
        monkeypatch.setattr(View, "at_origin", credulous, raising=False)


@pytest.mark.full
@pytest.mark.parametrize("name", [*HARNESSES][:4])
def test_a_wrong_harness_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(name, monkeypatch)
    first = [(1, ""), (12, "dual_acceleration"), (73, "perceptron")]
    trials = [*first, *((k, "") for k in range(60))]
    assert any(tried(method, 0, number, Tally()).faults for number, method in trials)


@pytest.mark.full
@pytest.mark.parametrize("kind", [*KINDS])
@pytest.mark.parametrize("name", [*HARNESSES][4:])
def test_every_kind_finds_out(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(name, monkeypatch)
    said = "holds, though the claim is false" if name == "believes" else "refuted"
    runs = (tried(kind, 2027, number, Tally()) for number in NUMBERS[kind])
    assert any(said in fault for tally in runs for fault in tally.faults)


#: What few runs are asked about, or what is false of few runs.
SELDOM = {"jst.lem3.4.mu", "jst.thm5.1", "jst.sec1.quarter", "jst.sec1.quarter.charitable"}
SELDOM |= {"jst.lemC.12.sum", "jst.lemC.12.sum.fixed", "jst.eqC.9", "jst.appC.half"}


#: Methods with many claims take long.
_LONG = {m: "slow" if len(METHODS[m].claims) > 2 else "full" for m in jst.REPORTING}


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=getattr(pytest.mark, mark)) for m, mark in _LONG.items()]
)
@pytest.mark.parametrize("name", ["believes", "violated"])
def test_every_claim_is_needed(method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that believes or doubts all is found out in each claim about the method."""
    claims = {c for c in METHODS[method].claims if c not in SELDOM}
    if name == "believes":
        monkeypatch.setattr(Relation, "certain", lambda self: True)
        missing, word = claims, "holds, though the claim is false"
    else:
        put(name, monkeypatch)
        missing, word = {c for c in claims if proved(c)}, "refuted"
    tally = Tally()
    for number in range(12):
        trial.one(0, number, tally, method)
        missing -= {c for c in missing for f in tally.faults if f": {c} {word}" in f}
        if not missing:
            return
    raise AssertionError(f"nothing was found out about {sorted(missing)}")


@pytest.mark.full
def test_chance_is_not_taken_for_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    with bits():
        data = drawn("rbf")
        monkeypatch.setattr(chance, "MOST", 12_000)
        tally = Tally()
        chance.on_data(data, np.random.default_rng(1), "", tally)
        assert {name for name, _ in tally.said} >= {"jst.lemD.1", "jst.lemD.2", "jst.thm4.1"}
        assert not tally.faults
        monkeypatch.setattr(Relation, "certain", lambda self: True)
        chance.on_data(data, np.random.default_rng(1), "", tally)
        assert tally.faults


# The truth itself


@cache
def drawn(kind: str) -> Data:
    for seed in range(400):
        try:
            data = Data(np.random.default_rng(seed))
        except (Unfit, ProblemError):
            continue
        wide = kind != "rbf" or (data.optimum and arb(data.optimum[0]) > 0.4)
        if data.kind == kind and data.scale == "ordinary" and data.radius_squared > 0 and wide:
            return data
    raise AssertionError(kind)


def right(data: Data, method: str, length: int = 8) -> tuple[Trial, Any, Any]:
    """A right run, rounded, and what is reported of it."""
    one = Trial(data, method, "", Tally())
    one.length = length - 1
    run, extras = one.drawn(np.random.default_rng(0))
    return one, run, one.reports(run, extras, True)


@pytest.mark.parametrize("kind", ["dense", "sparse", "multiclass", "linear", "poly", "rbf"])
def test_the_exact_geometry_is_that_of_the_problem(kind: str) -> None:
    with bits():
        data = drawn(kind)
        problem, w = data.problem.unit(), np.linspace(-1, 2, data.dimension)
        exact = [to_double(v) for v in data.scores(balls(w), True)]
        # The order of the rows of a reduction does not matter.
        np.testing.assert_allclose(sorted(exact), sorted(problem.scores(w)), atol=1e-12)
        length = to_double(data.norm(balls(w), True))
        np.testing.assert_allclose(length, problem.norm(w), rtol=1e-9)


@pytest.mark.parametrize("method", [*METHODS])
def test_no_claim_is_false_of_the_exact_method(method: str) -> None:
    """On data of ordinary size, before anything is rounded but the numbers that are delivered."""
    with bits():
        one, run, extras = right(drawn("dense"), method)
        facts = one.facts(run, extras)
        false = {name for name, truth in one.claims.items() if truth(facts) is False}
    # Of rows whose norms differ from one, nothing is claimed by the first three; the others are
    # false as they are printed, of two rows or more.
    excused = {"rp.thm1", "rp.nkp", "rp.lem5", "jst.lem3.4.mu", "jst.thm5.1", "jst.eqB.6"}
    assert false <= excused


@pytest.mark.parametrize("method", jst.REPORTING)
def test_every_lie_that_matters_is_one(method: str) -> None:
    """What is reported wrongly makes some claim false."""
    rng, found = np.random.default_rng(0), 0
    with bits():
        one, run, extras = right(drawn("dense"), method)
        for _ in range(40):
            facts = one.facts(run, lie(extras, rng)[1])
            found += any(truth(facts) is False for truth in one.claims.values())
    assert found > 20


def test_a_small_step_is_judged_by_its_own_length() -> None:
    """Rows of length 1 and 2⁻³⁰: a step by the small one is not what is a part of the large."""
    with bits():
        data = Data.__new__(Data)
        data.kind, data.linear, data.half, data.normalised = "dense", True, 1, False
        data.rows = np.array([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1, 2**30)]], dtype=object)
        method = METHODS["cotter_last"]
        (truth,) = method.claims.values()
        for off, known in ((0.0, None), (1e-4, None), (1e-2, False)):
            w = [[0.0, 0.0], [0.0, (1 + off) * 2.0**-30]]
            extras = [{"i": i, "v": np.array(v)} for i, v in zip((1, 0), w, strict=True)]
            assert truth(Facts(data, True, w, extras, **method.settings)) is known
        assert independent(data.gram)


def test_draws_that_nobody_would_make_are_too_many() -> None:
    with bits():
        one, run, extras = right(drawn("rbf"), "adaptive_sampling", trial.UNLIKELY + 1)
        truth = one.claims["gb.jst.sampling.draws"]
        assert truth(one.facts(run, extras)) is None
        tally = Tally()
        trial.unlikely_draws(one.data, np.random.default_rng(0), "", tally)
        assert tally.of_false["refuted"] == 1


def test_numbers() -> None:
    third = fmpq(1, 3)
    simplex = {(1, 1, 1): [third] * 3, (2, 0, -9): [1, 0, 0]}
    simplex[fmpq(3, 4), fmpq(1, 2), -9] = [fmpq(5, 8), fmpq(3, 8), 0]
    for point, nearest in simplex.items():
        assert list(nearest_in_simplex(np.array([fmpq(v) for v in point]))) == nearest
    with bits():
        assert [to_double(v) for v in (5e-324, 1.7e308, 0.1)] == [5e-324, 1.7e308, 0.1]
        assert to_double(third) == 1 / 3
        assert (to_double(arb(2) ** 1024), to_double(arb(2) ** -1075)) == (inf, 0.0)


def test_the_minimum_is_one() -> None:
    with bits():
        f = descent.Risk(drawn("dense"), 0.5)
        low, high, norm = f.optimum
        assert high - low < arb(10) ** -300
        assert norm > 0
        rng = np.random.default_rng(0)
        assert all(f.value(rng.normal(size=f.data.dimension) * arb(1)) > high for _ in range(20))


def test_adaboost_is_that_of_the_lecture() -> None:
    """x = 1, 2, 3 with y = (+, −, +): ε_1 = 1/3, α_1 = ½ ln 2, D_2 = (¼, ½, ¼) up to ties."""
    points = boosting.Points(np.array([[1], [2], [3]]), np.array([1, -1, 1]), "three points")
    with ctx.workprec(boosting.BITS):
        run = boosting.played(boosting.adaboost(points, boosting.best, np.random.default_rng(0)))
        first, rounds = run[1], boosting.Rounds(points, run, True)
        assert first.extra["epsilon"] == 1 / 3
        assert first.extra["z"] == pytest.approx(2 * 2**0.5 / 3, rel=1e-15)
        assert sorted(first.dual) == pytest.approx([0.25, 0.25, 0.5], rel=1e-15)
        false = [name for name, claim in boosting.CLAIMS.items() if claim(rounds) is not None]
        assert false == ["lec.alg3.z.sum"]
        assert rounds.mistakes(rounds.rounds[2]) == 0


def test_statements_and_methods_exist() -> None:
    named = {name for method in METHODS.values() for name in method.claims}
    assert named | {*boosting.CLAIMS} | trial.STOPS <= load_statements().keys()
    assert {*trial.FIRST, *trial.LATER, *ramdas_pena.REPORTING} <= METHODS.keys()
