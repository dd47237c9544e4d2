"""Yu, Kılınç-Karzan and Carbonell (2014): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import pytest

import gammabar as gb
from gammabar.harness.run.tasks import Registered
from tests.papers.plugins import examined, opened, rates, refutes_slower, verdicts


@pytest.fixture(scope="module", autouse=True)
def _paper():
    with opened("yu"):
        yield


POWER = {
    "sec5.3.x": ("iris:0,1", 3),
    "sec5.3.y": ("iris:0,1", 3),
    "thm1": ("planted:n=40,d=5,gamma=0.01,seed=1", 60),
    "thm3.a.fixed": ("worst-case:n=50", 10),
    "thm3.b": ("inseparable:n=6,d=2,seed=0", 60),
}


def test_every_rate_names_the_next_slower_solver():
    assert rates("yu") == set(POWER)


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    assert refutes_slower(f"yu.{name}", *POWER[name])


@pytest.mark.parametrize(
    "problem",
    [
        "planted:n=12,d=3,gamma=0.5,seed=1",
        "inseparable:n=12,d=3,seed=0",
        "iris:0,1:n=10 --kernel rbf:gamma=1",
    ],
)
def test_statements_hold(problem):
    found = verdicts("yu", "yu.mirror_prox", problem, 20)
    assert set(found.values()) <= {"holds", "inapplicable"}
    assert sum(v == "holds" for v in found.values()) >= 4


def test_a_large_epsilon_ends_the_loop_too_early():
    solver = Registered("yu.mirror_prox:eps=10").open()
    [verdict] = gb.verify(solver, "worst-case:n=50", "yu.thm3.a", iterations=3)
    assert (verdict.verdict, verdict.worst_t) == ("refuted", 1)


@pytest.mark.parametrize("name", ["sec5.2.strict", "sec5.4", "sec6.1.certificate", "sec6.2.prox"])
def test_errata_are_refuted_and_their_corrections_hold(name):
    assert examined(f"yu.{name}") == "refuted"
    if name != "sec5.2.strict":  # that one is about runs
        assert examined(f"yu.{name}.fixed") == "holds"
