"""Wang, Hanashiro, Guha and Abernethy (2023): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import pytest

import gammabar as gb
from gammabar.harness.registry import PLUGINS, close_paper, find_sources, find_statement, mutants
from gammabar.harness.run.specs import Registered


@pytest.fixture(scope="module", autouse=True)
def _opened():
    find_sources(["wang"])
    yield
    close_paper(str(PLUGINS / "wang.py"))


PROBLEM = gb.load("planted:n=12,d=3,gamma=0.5,seed=1").unit()
POWER = {
    "thm3.gap": ("orthogonal:n=10,p=0.95", 60),
    "thm4.rate": ("orthogonal:n=30,p=0.35", 120),
    "lem5": ("orthogonal:n=10,p=0.95", 30),
    "thm6.rate": ("orthogonal:n=30,p=0.35", 120),
    "eq39": ("orthogonal:n=10,p=0.95", 30),
    "thm9.rate": ("iris:0,1", 60),
    "prop3": ("worst-case:n=50", 10),
}


def test_every_rate_names_the_next_slower_solver():
    rates = {s.id.removeprefix("wang.") for s in find_sources(["wang"]) if s.slower}
    assert rates == set(POWER)


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    statement = find_statement(f"wang.{name}")
    problem, steps = POWER[name]
    [verdict] = gb.verify(
        mutants()[statement.slower].make(), problem, statement.id, iterations=steps
    )
    assert verdict.verdict == "refuted"


@pytest.mark.parametrize("status", ["holds", "refuted"])
def test_verdicts_are_as_expected(status):
    for statement in find_sources(["wang"]):
        if statement.status == status and statement.id != "wang.thm9.certificate":
            solver = Registered(statement.solvers[0]).open()
            [verdict] = gb.verify(solver, PROBLEM, statement.id, iterations=20)
            assert verdict.verdict == status, statement.id
