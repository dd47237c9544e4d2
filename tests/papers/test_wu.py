"""Wu, Bartlett, Telgarsky and Yu (2024): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import pytest

import gammabar as gb
from gammabar.harness.run.tasks import Registered
from tests.papers.plugins import examined, opened, rates, refutes_slower, verdicts


@pytest.fixture(scope="module", autouse=True)
def _paper():
    with opened("wu"):
        yield


ROWS = "rows:4,3;4,-3;5,0"
POWER = {
    "thm1.average": 110,
    "thm1.stable": 170,
    "lem10": 5,
    "lem7": 5,
    "lem9.fixed": 60,
    "lem8.fixed": 60,
}


def test_every_rate_names_the_next_slower_solver():
    assert rates("wu") == {*POWER, "thm35.average"}


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    assert refutes_slower(f"wu.{name}", ROWS, POWER[name])


@pytest.mark.full
def test_the_rate_of_general_losses_refutes_the_next_slower_solver():
    assert refutes_slower("wu.thm35.average", ROWS, 3000)


@pytest.mark.parametrize("options", [":eta=0.1", ":eta=20", ":loss=exp,eta=4", ":loss=poly,a=2"])
def test_statements_hold(options):
    found = verdicts("wu", f"wu.gradient_descent{options}", ROWS, 30)
    assert set(found.values()) <= {"holds", "inapplicable"}
    assert "holds" in found.values()


@pytest.mark.parametrize("name", ["prop5.log", "prop5.exp", "prop5.poly"])
def test_statements_about_losses_hold(name):
    assert examined(f"wu.{name}") == "holds"


def test_theorem_3_and_its_lemma_hold():
    found = verdicts("wu", "wu.gradient_descent:eta=4", "rows:400,19998;400,-9999", 40)
    assert (found["wu.thm3"], found["wu.lem13.fixed"]) == ("holds", "holds")
    assert examined("wu.lem13") == "refuted"


@pytest.mark.parametrize("name", ["lem8", "lem9"])
def test_bounds_that_become_negative_are_refuted(name):
    solver = Registered("wu.gradient_descent:eta=0.1").open()
    [verdict] = gb.verify(solver, "degenerate:kind=simplex,n=2,d=2", f"wu.{name}", iterations=3)
    assert verdict.verdict == "refuted"


def test_theorem_4_needs_many_steps():
    [verdict] = gb.verify(
        Registered("wu.sgd").open(), "planted:n=10,d=3,gamma=0.1,seed=0", "wu.thm4"
    )
    assert verdict.verdict == "refuted"
