"""A hundred trials of the attack on the court, and that the attack can fail."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import inf

import numpy as np
import pytest
from flint import arb, fmpq

from attack import doors, methods, trial
from attack.claims import CLAIMS, UNIT
from attack.data import Data, Unfit, bits, to_double
from attack.facts import Facts
from gammabar.harness.court.relation import Decision, Relation
from gammabar.harness.court.view import View
from gammabar.problems import ProblemError


def test_no_verdict_is_wrong() -> None:
    tally = trial.Tally()
    for number in range(40):
        trial.one(2026, number, tally)
    trial.one(101, 135, tally)  # rows that differ by 10^16 in length, one of them on either side
    trial.one(3, 4, tally)  # a statement for fractions was asked about balls
    trial.one(3, 85, tally)  # a margin of 1e-47 with a kernel: Gα > 0 is open at first
    trial.one(31, 332, tally)  # −2⁶³ in several classes, whose rows are written out
    trial.one(31, 2753, tally)  # 1 − (−127) in a byte
    trial.one(77, 159, tally)  # a coefficient of 1e292 of a row that is 0
    trial.one(8, 116, tally, "gradient_descent")  # θ is fitted to a pull that is nearly 0
    trial.one(208, 157, tally, "batch_perceptron")  # doubles cannot carry the steps out
    trial.one(
        208, 157, tally, "perceptron"
    )  # w is rounded onto a row's hyperplane where the method halts
    assert not tally.faults, "\n".join(tally.faults)
    assert tally.trials >= 20
    assert not any("changed" in reason for reason in tally.refused)
    assert tally.of_false["refuted"] > tally.of_false["undecided"] > 0
    assert tally.of_right["holds"] > 2 * tally.of_right["undecided"]


def test_every_door_leads_to_the_same_answer() -> None:
    tally = trial.Tally()
    for number in range(12):
        trial.through_doors(2026, number, tally)
    assert not tally.faults, "\n".join(tally.faults)
    assert min(tally.doors[door] for door in doors.DOORS) > 8
    assert tally.doors["recorder"] == 12
    assert sum(tally.shut.values()) < 12


def test_a_door_that_rounds_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "number", lambda value: f"{float(value):.6g}")
    tally = trial.Tally()
    for number in range(6):
        trial.through_doors(2026, number, tally)
    assert any("csv" in fault for fault in tally.faults)
    assert not any("npz" in fault for fault in tally.faults)


def test_the_nearest_point_of_the_simplex() -> None:
    third = fmpq(1, 3)
    assert methods.nearest_in_simplex([fmpq(1), fmpq(1), fmpq(1)]) == [third] * 3
    assert methods.nearest_in_simplex([fmpq(2), fmpq(0), fmpq(-9)]) == [1, 0, 0]
    assert methods.nearest_in_simplex([fmpq(3, 4), fmpq(1, 2), fmpq(-9)]) == [
        fmpq(5, 8),
        fmpq(3, 8),
        0,
    ]


@pytest.mark.slow
def test_no_verdict_is_wrong_of_many() -> None:
    assert trial.main(["--trials", "1500", "--seed", "11"]) == 0


@pytest.mark.parametrize("name", ["certain", "decide", "tells", "at_origin"])
def test_a_court_that_is_credulous_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "certain":
        monkeypatch.setattr(Relation, "certain", lambda self: self.op != "fact")
    elif name == "decide":
        monkeypatch.setattr(Relation, "decide", lambda self, rounding: Decision.VIOLATED)
    elif name == "tells":  # an allowance may be as large as what it is an allowance for
        monkeypatch.setattr(Relation, "_tells", lambda self: True)
    else:  # what may be 0 is taken for 0
        credulous = property(lambda self: not self.norm > 0)
        monkeypatch.setattr(View, "at_origin", credulous, raising=False)
    tally = trial.Tally()
    first = [(1, ""), (12, "dual_acceleration"), (73, "perceptron")]
    for number, method in [*first, *((k, "") for k in range(60))]:
        trial.one(0, number, tally, method)
        if tally.faults:
            return
    raise AssertionError("no fault was found")


def _drawn(kind: str) -> Data:
    for seed in range(200):
        try:
            data = Data(np.random.default_rng(seed))
        except (Unfit, ProblemError):
            continue
        if data.kind == kind and data.scale == "ordinary" and data.radius_squared > 0:
            return data
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", ["dense", "sparse", "multiclass", "linear", "poly", "rbf"])
def test_the_exact_geometry_is_that_of_the_problem(kind: str) -> None:
    with bits():
        data = _drawn(kind)
        problem = data.problem.unit()
        w = np.linspace(-1, 2, data.dimension)
        exact = [to_double(v) for v in data.scores([arb(v) for v in w], True)]
        # The order of the rows of a reduction is nobody's business.
        np.testing.assert_allclose(sorted(exact), sorted(problem.scores(w)), atol=1e-12)
        length = to_double(data.norm([arb(v) for v in w], True))
        np.testing.assert_allclose(length, problem.norm(w), rtol=1e-9)


@pytest.mark.parametrize("method", [*CLAIMS])
def test_what_is_claimed_is_not_false_of_the_exact_method(method: str) -> None:
    """On data of ordinary size, before anything is rounded but the numbers that are delivered."""
    with bits():
        data = _drawn("dense")
        steps = list(islice(getattr(methods, method)(data, np.random.default_rng(0)), 8))
        ws = [[to_double(v) for v in step.w] for step in steps]
        facts = Facts(data, method in UNIT, ws, [step.extra for step in steps])
        for name, judge in CLAIMS[method].items():
            # Of rows whose norms differ from one, nothing is claimed by these.
            assert judge(facts) is not False or name in ("rp.thm1", "rp.nkp", "rp.lem5")


def test_doubles() -> None:
    with bits():
        for value in (0.0, 1.5, -5e-324, 1.7e308, 0.1):
            assert to_double(arb(value)) == value
        third = Fraction(1, 3)
        assert to_double(arb(fmpq(1, 3))) == float(third)
        assert to_double(arb(2) ** 1024) == inf
        assert to_double(arb(2) ** -1075) == 0.0
