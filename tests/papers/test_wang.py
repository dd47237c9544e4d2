"""Wang, Hanashiro, Guha and Abernethy (2023): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import pytest

import gammabar as gb
from gammabar.harness.run.tasks import Registered
from tests.papers.plugins import opened, rates, refutes_slower, verdicts


@pytest.fixture(scope="module", autouse=True)
def _paper():
    with opened("wang"):
        yield


POWER = {
    "thm2": ("planted:n=60,d=6,gamma=0.1,seed=0", 20),
    "thm3.regret": ("planted:n=60,d=6,gamma=0.1,seed=0", 90),
    "thm4.regret": ("planted:n=60,d=6,gamma=0.1,seed=0", 20),
    "thm4.norm": ("opposed:r=8,copies=20", 3),
    "thm8": ("iris:0,1", 3),
    "thm3.gap": ("orthogonal:n=10,p=0.95", 60),
    "thm4.rate": ("orthogonal:n=30,p=0.35", 120),
    "lem5": ("orthogonal:n=10,p=0.95", 30),
    "thm6.rate": ("orthogonal:n=30,p=0.35", 120),
    "eq39": ("orthogonal:n=10,p=0.95", 30),
    "thm9.rate": ("iris:0,1", 60),
    "prop3": ("worst-case:n=50", 10),
    "thm7": ("worst-case:n=20", 10),
}


def test_every_rate_names_the_next_slower_solver():
    assert rates("wang") == set(POWER)


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    assert refutes_slower(f"wang.{name}", *POWER[name])


SOLVERS = ["smooth_perceptron", "accelerated_perceptron", "nesterov", "mirror_prox"]


@pytest.mark.parametrize("solver", [*SOLVERS, "p_norm_perceptron"])
def test_statements_hold(solver):
    found = verdicts("wang", f"wang.{solver}", "planted:n=12,d=3,gamma=0.5,seed=1", 20)
    assert set(found.values()) <= {"holds", "inapplicable"}
    assert sum(v == "holds" for v in found.values()) >= 1


@pytest.mark.parametrize(
    ("solver", "name"), [("smooth_perceptron", "sec4.2.gap"), ("accelerated_perceptron", "eq8")]
)
def test_misprints_are_refuted(solver, name):
    solver = Registered(f"wang.{solver}").open()
    [verdict] = gb.verify(solver, "rows:1,0;2,1;1,0", f"wang.{name}", iterations=5)
    assert verdict.verdict == "refuted"
