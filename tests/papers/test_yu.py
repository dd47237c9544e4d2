"""Yu, Kılınç-Karzan and Carbonell (2014): its statements hold, and refute wrong solvers."""

from __future__ import annotations

import pytest

import gammabar as gb
from gammabar.harness.registry import PLUGINS, close_paper, find_sources, find_statement, mutants
from gammabar.harness.run.specs import Registered


@pytest.fixture(scope="module", autouse=True)
def _opened():
    find_sources(["yu"])
    yield
    close_paper(str(PLUGINS / "yu.py"))


PROBLEMS = (
    "planted:n=12,d=3,gamma=0.5,seed=1",
    "inseparable:n=12,d=3,seed=0",
    "iris:0,1:n=10 --kernel rbf:gamma=1",
)
POWER = {
    "thm1": ("planted:n=40,d=5,gamma=0.01,seed=1", 60),
    "thm3.a.fixed": ("worst-case:n=50", 10),
    "thm3.b": ("inseparable:n=6,d=2,seed=0", 60),
}


def test_every_rate_names_the_next_slower_solver():
    rates = {s.id.removeprefix("yu.") for s in find_sources(["yu"]) if s.slower}
    assert rates == set(POWER)


@pytest.mark.parametrize("name", POWER)
def test_rates_refute_the_next_slower_solver(name):
    statement = find_statement(f"yu.{name}")
    problem, steps = POWER[name]
    wrong = mutants()[statement.slower].make()
    [verdict] = gb.verify(wrong, problem, statement.id, iterations=steps)
    assert verdict.verdict == "refuted"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_verdicts_are_as_expected(problem):
    ids = [s.id for s in find_sources(["yu"]) if s.about_runs and s.status == "holds"]
    solver = Registered("yu.mirror_prox").open()
    verdicts = gb.verify(solver, problem, ids, iterations=20)
    assert {v.verdict for v in verdicts} <= {"holds", "inapplicable"}
    assert sum(v.verdict == "holds" for v in verdicts) >= 4


def test_a_large_epsilon_ends_the_loop_too_early():
    solver = Registered("yu.mirror_prox:eps=10").open()
    [verdict] = gb.verify(solver, "worst-case:n=50", "yu.thm3.a", iterations=3)
    assert (verdict.verdict, verdict.worst_t) == ("refuted", 1)
