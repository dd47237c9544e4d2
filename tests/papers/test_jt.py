"""Ji and Telgarsky (2021): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import sys

import pytest

import gammabar as gb
from gammabar.harness.registry import find_sources, find_statement
from gammabar.harness.run.tasks import Registered
from tests.papers.plugins import examined, opened, rates, refutes_slower, verdicts


@pytest.fixture(scope="module", autouse=True)
def _paper():
    with opened("jt"):
        yield


PLANTED = "planted:n=20,d=4,gamma=0.2,seed=0"
TEN = "rows:-1,0;-2,-2*9"
POWER: dict[str, tuple] = {
    "lem3": (PLANTED, 3),
    "lem4": (PLANTED, 3),
    "thm8.upper": (TEN, 1100, {"hat": 1.0}),
    "lem14.step": ("rows:1,0;1,1;1,-1", 70, {"loss": "log", "hat": 0.5}),
    "lem19": (PLANTED, 3, {"loss": "log", "eta": 1.0}),
    "thm1.dual": (PLANTED, 10),
    "thm1.rate": (PLANTED, 50),
    "thm1.primal": (PLANTED, 10),
    "thm1.sum": (PLANTED, 10),
    "thm5.dual": ("rows:1,0;1,3", 50),
    "thm5.bias": ("rows:1,0;1,3", 80),
    "thm7.exp": (PLANTED, 60),
    "lem18": (PLANTED, 60),
}


def test_every_rate_names_the_next_slower_solver():
    assert rates("jt") == set(POWER)


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    problem, steps, *options = POWER[name]
    assert refutes_slower(f"jt.{name}", problem, steps, **(options[0] if options else {}))


@pytest.mark.parametrize("options", ["", ":loss=log", ":loss=poly,k=2", ":eta=1"])
@pytest.mark.parametrize("problem", ["rows:4,1;4,-3;5,0", "inseparable:n=8,d=2,seed=0"])
def test_statements_hold(options, problem):
    found = verdicts("jt", f"jt.gradient_descent{options}", problem, 12)
    assert set(found.values()) <= {"holds", "inapplicable"}
    assert sum(v == "holds" for v in found.values()) >= 5


def test_polynomial_tails_have_a_bias_of_their_own():
    found = verdicts("jt", "jt.gradient_descent:loss=poly", "rows:1,1;2,-4", 100)
    for name in ("thm1.rate", "thm5.dual", "thm5.bias"):
        assert found[f"jt.{name}"] == "holds"


@pytest.mark.full
def test_the_direction_of_other_tails_is_refuted(monkeypatch):
    """With q̄ of the maximum margin in place of that of ℓ_poly, Theorem 5 would fail."""
    module = sys.modules[find_statement("jt.thm5.bias").body.__module__]
    monkeypatch.setattr(module, "convex_tail", lambda case: None)
    found = verdicts("jt", "jt.gradient_descent:loss=poly", "rows:1,1;2,-4", 700)
    assert "refuted" in (found["jt.thm5.dual"], found["jt.thm5.bias"])


def test_statements_about_losses_hold():
    for statement in find_sources(["jt"]):
        if not statement.about_runs and "" in statement.problems:
            assert examined(statement.id) == "holds", statement.id


def test_one_row_needs_a_step():
    solver, problem = (
        Registered("jt.two_phases:t0=1000000").open(),
        "degenerate:kind=simplex,n=1,d=1",
    )
    [verdict] = gb.verify(solver, problem, "jt.lem21", iterations=20)
    assert verdict.verdict == "refuted"
