"""The plan: who hears which run, what is expected, and what a user may choose."""

from __future__ import annotations

import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.run import engine
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.run.tasks import InFile, Registered
from gammabar.harness.verify.context import Trial
from gammabar.harness.verify.numbers import fact
from gammabar.harness.verify.statement import (
    STATEMENTS,
    direct,
    option,
    per_iterate,
    randomised,
    separable,
    stopping,
)
from gammabar.problems import ProblemError

MINE = InFile("my.py:Mine", "…")
TRIALS = (
    Trial("gradient-descent", "iris:0,1", 50),
    Trial("gradient-descent:step=0.5", "iris:0,2", 60),
    Trial("gradient-descent", "iris:0,1", 80),
    Trial("perceptron", "iris:0,1", 10, seed=3),
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A registry with a few statements of our own, and a plan with a few runs."""
    load_statements()
    before = dict(STATEMENTS)
    STATEMENTS.clear()
    monkeypatch.setattr(engine, "trials", lambda: TRIALS)
    more = {"reference": "here", "claim": ""}

    def body(*_):
        return fact(True)

    gd, both = ("gradient-descent",), ("gradient-descent", "perceptron")
    per_iterate("one.rate", solvers=gd, **more)(body)
    per_iterate("one.unit", solvers=gd, unit=True, **more)(body)
    stopping("one.stop", solvers=both, **more)(body)
    per_iterate(
        "two.false",
        solvers=gd,
        status="refuted",
        severity="substance",
        problems=("iris:0,2", "loss-spike"),
        fixed_by="one.rate",
        **more,
    )(body)
    direct("two.data", kind="identity", problems=("iris:1,2", "wine:0,1"), **more)(body)
    direct("two.own", kind="value", problems=("",), status="refuted", severity="misprint", **more)(
        body
    )
    randomised("two.chance", delta=0.1, runs=5, problems=("iris:1,2",), solvers=("sgd",), **more)(
        body
    )
    yield
    STATEMENTS.clear()
    STATEMENTS.update(before)


def chosen(solvers=(), **request):
    tasks = make_plan(Request(solvers=tuple(map(Registered, solvers)), **request))
    return [t for t in tasks if not t.statements[0].startswith("oracle.")]


def by(tasks, statement):
    """Where a statement is heard: (solver, problem) → what is expected."""
    return {
        (task.run.by, task.run.problem): task.expected[task.statements.index(statement)]
        for task in tasks
        if statement in task.statements
    }


def test_one_run_is_heard_by_all_statements_about_its_solver():
    tasks = chosen()
    (run,) = [
        t
        for t in tasks
        if t.run.by == "gradient-descent" and t.run.problem == "iris:0,1" and not t.run.unit
    ]
    assert run.statements == ("one.rate", "one.stop", "two.false")
    assert run.run.iterations == 80  # two runs that differ in their length alone are one
    assert run.planned
    (scaled,) = [t for t in tasks if t.run.problem == "iris:0,1" and t.run.unit]
    assert scaled.statements == ("one.unit",)
    (perceptron,) = [t for t in tasks if t.run.by == "perceptron"]
    assert perceptron.statements == ("one.stop",)
    assert perceptron.run.seed == 3


def test_statements_without_a_run_are_examined_on_their_problems():
    tasks = chosen()
    assert by(tasks, "two.data") == {("", "iris:1,2"): "holds", ("", "wine:0,1"): "holds"}
    assert by(tasks, "two.own") == {("", ""): "refuted"}
    assert by(tasks, "two.chance") == {("", "iris:1,2"): "holds"}


def test_false_claims_are_refuted_on_their_own_problems():
    assert by(chosen(), "two.false") == {
        ("gradient-descent", "iris:0,1"): "either",
        ("gradient-descent:step=0.5", "iris:0,2"): "refuted",
        ("gradient-descent", "loss-spike"): "refuted",  # no trial has it, the statement does
    }
    # Not if the user changes the run.
    assert set(by(chosen(statements=("two.false",), iterations=3), "two.false").values()) == {
        "either"
    }
    assert set(by(chosen(statements=("two.false",), seed=3), "two.false").values()) == {"either"}


def test_the_oracle_is_checked_as_well():
    tasks = make_plan(Request())
    oracle = [t for t in tasks if t.statements == ("oracle.certificate",)]
    assert "mnist-sample:0,1" in {t.run.problem for t in oracle}
    assert {t.expected for t in oracle} == {("holds",)}


def test_tasks_of_a_problem_stay_together():
    problems = [task.run.problem for task in make_plan(Request())]
    assert len(set(problems)) == sum(a != b for a, b in zip(problems, [None, *problems]))  # noqa: B905


def test_statements_and_sources_are_chosen():
    assert {s for t in chosen(statements=("one.rate",)) for s in t.statements} == {"one.rate"}
    assert {s.partition(".")[0] for t in chosen(sources=("one",)) for s in t.statements} == {"one"}
    with pytest.raises(ProblemError, match=r"did you mean one\.rate\?"):
        make_plan(Request(statements=("one.rat",)))
    with pytest.raises(ProblemError, match="list statements"):
        make_plan(Request(statements=("xyz",)))
    with pytest.raises(ProblemError, match=r"there are .*one, oracle, "):
        make_plan(Request(sources=("three",)))


def test_problems_are_chosen():
    tasks = chosen(problems=("wine:0,1", "iris:0,2"))
    assert {task.run.problem for task in tasks} == {"wine:0,1", "iris:0,2"}
    assert by(tasks, "one.rate") == {
        ("gradient-descent", "wine:0,1"): "holds",
        ("gradient-descent", "iris:0,2"): "holds",
        ("gradient-descent:step=0.5", "wine:0,1"): "holds",
        ("gradient-descent:step=0.5", "iris:0,2"): "holds",
    }
    assert by(tasks, "two.data") == {("", "wine:0,1"): "holds", ("", "iris:0,2"): "holds"}
    assert not by(tasks, "two.own")  # it has nothing to do with them
    planned = {(t.run.by, t.run.problem) for t in tasks if t.planned and t.run.by}
    assert planned == {("gradient-descent:step=0.5", "iris:0,2")}


def test_problems_of_a_statement_without_runs_in_the_plan():
    per_iterate("three.new", solvers=("winnow",), reference="here", claim="")(lambda it, case: None)
    with pytest.raises(ProblemError, match=r"nothing to verify in three\.new"):
        make_plan(Request(statements=("three.new",)))
    (task,) = chosen(statements=("three.new",), problems=("iris:0,1",))
    assert (task.run.by, task.run.problem, task.planned) == ("winnow", "iris:0,1", False)


def test_solvers_are_chosen():
    tasks = chosen(solvers=("gradient-descent",))
    assert {t.run.by for t in tasks} == {"gradient-descent", "gradient-descent:step=0.5"}
    assert {t.run.problem for t in tasks} == {"iris:0,1", "iris:0,2", "loss-spike"}
    tasks = chosen(solvers=("gradient-descent:step=2",))
    assert {t.run.by for t in tasks} == {"gradient-descent:step=2"}
    assert not any(t.planned for t in tasks)
    tasks = chosen(solvers=("gradient-descent",), problems=("iris:1,2",))
    assert {(t.run.by, t.run.problem) for t in tasks} == {("gradient-descent", "iris:1,2")}
    assert by(chosen(solvers=("sgd",)), "two.chance") == {("", "iris:1,2"): "holds"}
    tasks = chosen(solvers=("sgd:horizon=3",))
    assert by(tasks, "two.chance") == {("sgd:horizon=3", "iris:1,2"): "holds"}
    with pytest.raises(ProblemError, match="nothing to verify about winnow"):
        make_plan(Request(solvers=(Registered("winnow"),)))
    with pytest.raises(ProblemError, match="no option 'stp'"):
        make_plan(Request(solvers=(Registered("gradient-descent:stp=1"),)))


def test_a_claim_may_be_put_to_another_solver_by_name():
    tasks = chosen(statements=("one.rate",), solvers=("winnow", "gradient-descent"))
    assert {t.run.by for t in tasks} == {"winnow", "gradient-descent", "gradient-descent:step=0.5"}
    assert {t.run.problem for t in tasks if t.run.by == "winnow"} == {"iris:0,1", "iris:0,2"}


def test_a_solver_of_the_user_takes_the_place_of_others():
    mine = {"file": MINE}
    tasks = chosen(statements=("one.rate", "one.stop"), **mine)
    assert {t.run.by for t in tasks} == {"my.py:Mine"}
    assert {t.run.solver for t in tasks} == {MINE}
    assert not any(t.planned for t in tasks)
    assert {(t.run.problem, t.run.seed) for t in tasks} == {
        ("iris:0,1", 0),
        ("iris:0,2", 0),
        ("iris:0,1", 3),
    }
    tasks = chosen(solvers=("gradient-descent",), **mine)
    # What is known to be false is not held against it.
    assert {s for t in tasks for s in t.statements} == {"one.rate", "one.unit", "one.stop"}
    assert "refuted" not in {e for t in tasks for e in t.expected}
    assert by(chosen(statements=("two.chance",), **mine), "two.chance") == {
        ("my.py:Mine", "iris:1,2"): "holds"
    }
    with pytest.raises(ProblemError, match="say which method it implements"):
        make_plan(Request(**mine))
    with pytest.raises(ProblemError, match="not about a solver"):
        make_plan(Request(statements=("two.data",), **mine))


def test_lengths_seeds_and_limits_are_the_users():
    for task in make_plan(Request(iterations=7, seed=11, limit=2.5)):
        assert task.limit == 2.5
        assert task.run.seed == 11
        assert task.run.iterations == (7 if task.run.by else 0)


def test_data_that_are_not_here_are_not_waited_for(monkeypatch, tmp_path):
    monkeypatch.setenv("GAMMABAR_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    direct(
        "two.large", kind="value", problems=("fashion:0,4", "iris:0,1"), reference="here", claim=""
    )(lambda case: fact(True))
    expected = by(chosen(statements=("two.large",)), "two.large")
    assert expected == {("", "fashion:0,4"): "inapplicable", ("", "iris:0,1"): "holds"}


# assumptions that the options of a solver decide


def assume(identifier, *assumes, **more):
    per_iterate(
        identifier,
        solvers=("gradient-descent",),
        reference="here",
        claim="",
        assumes=assumes,
        **more,
    )(lambda it, case: fact(True))


def test_runs_whose_assumptions_cannot_hold_are_not_planned():
    assume("four.step", option("step", 0.5))
    assume("four.data", separable, option("step", 0.5))  # what needs the data waits for them
    for one in ("four.step", "four.data"):
        assert set(by(chosen(), one)) == {("gradient-descent:step=0.5", "iris:0,2")}
        tasks = chosen(problems=("wine:0,1", "iris:1,2"), statements=(one,))
        assert set(by(tasks, one)) == {
            ("gradient-descent:step=0.5", "wine:0,1"),
            ("gradient-descent:step=0.5", "iris:1,2"),
        }


def test_what_can_hold_nowhere_is_planned_so_that_it_is_said():
    assume("four.never", option("step", 77))
    everywhere = {("gradient-descent", "iris:0,1"), ("gradient-descent:step=0.5", "iris:0,2")}
    assert set(by(chosen(), "four.never")) == everywhere
    assume("four.own", option("step", 0.5))
    asked = "gradient-descent:step=2"  # options that the user names are not ours to leave out
    assert {s for s, _ in by(chosen(solvers=(asked,)), "four.own")} == {asked}
    assert by(chosen(solvers=(asked, "gradient-descent:step=0.5")), "four.own").keys() >= {
        (asked, "iris:0,1"),
        ("gradient-descent:step=0.5", "iris:0,1"),
    }
    assert {s for s, _ in by(chosen(statements=("four.own",), file=MINE), "four.own")} == {
        "my.py:Mine"
    }


def test_an_assumption_that_cannot_be_asked_yet_leaves_nothing_out():
    def stubborn(case):
        try:
            return "small" if case.problem.n < 10**6 else None
        except Exception:
            return "it takes an error for an answer"

    def broken(case):
        raise RuntimeError

    assume("four.stubborn", stubborn)
    assume("four.broken", broken)
    assert len(by(chosen(), "four.stubborn")) == len(by(chosen(), "four.broken")) == 2


def test_leaving_out_a_statement_does_not_change_the_run_of_others():
    """The length of a run is that of all who may hear it: verdicts stay comparable."""
    assume("four.long", option("step", 0.5), problems=("iris:0,1",))  # its own runs have 200
    before = {t.run for t in chosen(statements=("one.rate",))}
    assert {t.run for t in chosen() if "one.rate" in t.statements} == before
