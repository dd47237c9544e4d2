"""Runs: whatever a solver does, it is reported as what it is, and the rest goes on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gammabar.harness.run import engine, pool as crew_module
from gammabar.harness.run.engine import perform
from gammabar.harness.run.pool import Pool
from gammabar.harness.run.sandbox import _prepare
from gammabar.harness.run.tasks import (
    InFile,
    Registered,
    Result,
    Run,
    Task,
    settle,
    summarise,
    telling,
)
from gammabar.harness.verify.numbers import at_most, fact
from gammabar.harness.verify.statement import direct, per_iterate, randomised
from gammabar.harness.verify.verdict import Verdict

PROBLEM = "planted:n=30,d=4,gamma=0.1,seed=0"

CODE = """
import ctypes
import os
import time
from dataclasses import dataclass
from itertools import count, repeat

import numpy as np

from gammabar.problems import ProblemError
from gammabar.solvers import Iterate


@dataclass(frozen=True)
class Right:
    step: float = 1.0

    def act(self, t, w):
        return w

    def iterates(self, problem, rng):
        w = momentum = problem.origin()
        for t in count():
            yield Iterate(t=t, w=self.act(t, w))
            pull = problem.softmin(w).pull
            momentum = t / (t + 1) * (momentum + pull)
            w = w + self.step * (momentum + pull)
"""
#: Classes that act on an iterate before they yield it, and classes that yield something else.
ACTS = {
    "Raises": "return w if t < 5 else w / [][t]",
    "RaisesProblemError": "raise ProblemError('mine')",
    "Exits": "raise SystemExit(0)",
    "NotANumber": "return w if t < 5 else w * np.nan",
    "Text": "return ['no'] * len(w)",
    "WrongShape": "return w[1:]",
    "Reversed": "return w[::-1]",
    "Prints": "print('printed'); os.write(1, b'written'); return w",
    "Sleeps": "time.sleep(1e6)",
    "Loops": "while t == 5: pass\n        return w",
    "Swallows": "exec('while True:\\n try:\\n  while True: pass\\n except: pass')",
    "HangsInC": "return sum(repeat(0))  # the interpreter never gets to look at signals",
    "Quits": "os._exit(3)",
    "Segfaults": "ctypes.string_at(0)",
}
YIELDS = {
    "Ends": "yield from (Iterate(t, problem.origin()) for t in (0, 1))",
    "Empty": "return iter(())",
    "Returns": "return None",
    "Tuples": "yield 0, problem.origin()",
    "Miscounts": "yield Iterate(1, problem.origin())",
}
CODE += "".join(
    f"\n\nclass {name}(Right):\n    def {head}:\n        {body}\n"
    for head, bodies in (("act(self, t, w)", ACTS), ("iterates(self, problem, rng)", YIELDS))
    for name, body in bodies.items()
)


def task(name: str, *statements: str, **more) -> Task:
    statements = statements or ("gb.sharp",)
    run = {
        "problem": PROBLEM,
        "solver": InFile(f"my.py:{name}", CODE),
        "iterations": 40,
        "unit": True,
    }
    run |= {part: more.pop(part) for part in run if part in more}
    rest = {"planned": False, "limit": 60.0} | more
    return Task(Run(**run), statements, ("holds",) * len(statements), **rest)


def place(name: str) -> str:
    """Where the body of a class stands in the code."""
    line = CODE[: CODE.index(f"class {name}(")].count("\n") + 3
    return f"(my.py, line {line}, in act)"


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Nothing is left to import or compile when a time limit is short."""
    _prepare(None)
    perform(task("Right"))


@pytest.fixture(scope="module")
def crew():
    with Pool() as made:
        yield made


# in this process


def test_a_solver_of_a_user_is_judged_like_ours():
    (mine,) = perform(task("Right")).verdicts
    (ours,) = perform(task("", solver=Registered("dual-acceleration"))).verdicts
    assert mine == dataclasses.replace(ours, reference=ours.tightness)  # theirs has ours beside it
    assert mine.verdict == "holds"
    assert mine.checked == 40
    (wrong,) = perform(task("Reversed", "jst.thm3.1.1", iterations=400)).verdicts
    assert wrong.verdict == "refuted"
    assert wrong.slack < 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "failure", "reasons"),
    [
        ("Raises", "crashed", ["IndexError: list index out of range", place("Raises")]),
        ("RaisesProblemError", "crashed", ["mine (my.py, line "]),
        ("Exits", "crashed", ["SystemExit: 0", "my.py"]),
        ("NotANumber", "not finite", ["w_5"]),
        ("Text", "crashed", ["w_0 is no vector of numbers"]),
        ("WrongShape", "crashed", ["3 entries, and rows have 4"]),
        ("Ends", "crashed", ["end after t = 1", "halt"]),
        ("Empty", "crashed", ["yields no iterate"]),
        ("Returns", "crashed", ["TypeError", "NoneType"]),
        (
            "Tuples",
            "crashed",
            ["w_0 is no vector of numbers, but tuple: yield w itself, or "],
        ),
        ("Miscounts", "crashed", ["count 0, 1, 2"]),
    ],
)
def test_what_goes_wrong_in_a_solver_is_a_verdict(name, failure, reasons):
    (verdict,) = perform(task(name)).verdicts
    assert (verdict.verdict, verdict.failure) == ("undecided", failure)
    for reason in reasons:
        assert reason in verdict.reason


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "where"), [("Sleeps", place("Sleeps")), ("Loops", place("Loops"))]
)
def test_a_solver_without_end_is_ended_and_it_is_said_where(name, where):
    """On a busy machine the time may be over before the solver gets there: then it gets more."""
    for limit in (0.5, 2.0, 8.0, 32.0):
        (verdict,) = perform(task(name, limit=limit)).verdicts
        assert (verdict.verdict, verdict.failure) == ("undecided", "timeout")
        assert f"no end within {limit:g} s" in verdict.reason
        if where in verdict.reason:
            return
    pytest.fail(verdict.reason)


def test_what_was_refuted_before_a_failure_stays_refuted(registered):
    per_iterate("test.small", reference="here", claim="", solvers=())(
        lambda it, case: at_most(it.norm, 1, "‖w‖ ≤ 1")
    )
    early, late = perform(task("Raises", "test.small", "gb.sharp")).verdicts
    assert (early.verdict, early.failure) == ("refuted", "")
    assert (late.verdict, late.failure) == ("undecided", "crashed")


def test_a_statement_that_raises_spoils_its_own_verdict_alone(registered):
    def broken(it, case):
        raise KeyError("mine")

    per_iterate("test.broken", reference="here", claim="", solvers=())(broken)
    bad, good = perform(task("Right", "test.broken", "gb.sharp")).verdicts
    assert (bad.verdict, bad.failure) == ("undecided", "")
    assert "KeyError: 'mine'" in bad.reason
    assert Path(__file__).name in bad.reason
    assert (good.verdict, good.failure) == ("holds", "")


def test_prints_do_not_get_into_the_output(capfd):
    assert perform(task("Right")).verdicts == perform(task("Prints")).verdicts
    out, err = capfd.readouterr()
    assert "printed" not in out
    assert "printed" in err


def test_a_problem_that_does_not_fit_is_inapplicable_unless_the_plan_has_it():
    misfit = task("", solver=Registered("winnow"), problem="iris:0,1 --kernel rbf:gamma=1")
    (verdict,) = perform(misfit).verdicts
    assert (verdict.verdict, verdict.failure) == ("inapplicable", "")
    assert verdict.reason
    (verdict,) = perform(dataclasses.replace(misfit, planned=True)).verdicts
    assert (verdict.verdict, verdict.failure) == ("undecided", "crashed")


@pytest.mark.parametrize("register", [direct, randomised])
def test_no_solver_of_a_file_is_called_in_the_process_that_judges(registered, register):
    """Its file would be read there, and could do to the verdict what it liked."""
    more = {"kind": "value"} if register is direct else {"delta": 0.5, "runs": 3}
    called = []
    register("test.solver", reference="here", claim="", problems=("",), solvers=("sgd",), **more)(
        lambda *given: called.append(given) or fact(True)
    )
    (verdict,) = perform(task("Reversed", "test.solver", problem="")).verdicts
    assert (verdict.verdict, verdict.failure, called) == ("inapplicable", "", [])
    assert "in the process that judges" in verdict.reason
    ours = Task(Run("", Registered("sgd")), ("test.solver",), ("holds",))
    assert perform(ours).verdicts[0].verdict != "inapplicable"
    assert called


def test_the_time_limit_counts_for_statements_too(registered):
    def slow(case):
        while True:
            pass

    direct("test.slow", reference="here", claim="", kind="value", problems=("",))(slow)
    endless = Task(Run(), ("test.slow",), ("holds",), limit=0.3)
    (verdict,) = perform(endless).verdicts
    assert (verdict.verdict, verdict.failure) == ("undecided", "timeout")


# in processes of their own


@pytest.mark.full
@pytest.mark.parametrize("name", ["Loops", "Swallows", "HangsInC"])
def test_whatever_hangs_is_ended(crew, name):
    assert not crew.perform(task("Right")).failed  # so that it is warm as well
    (verdict,) = crew.perform(task(name, limit=2.0)).verdicts
    assert (verdict.verdict, verdict.failure) == ("undecided", "timeout")
    assert "no end within 2 s" in verdict.reason
    assert place(name) in verdict.reason


@pytest.mark.parametrize(("name", "how"), [("Quits", "exit code 3"), ("Segfaults", "SIGSEGV")])
def test_a_process_that_dies_is_a_verdict(crew, name, how):
    (verdict,) = crew.perform(task(name)).verdicts
    assert (verdict.verdict, verdict.failure) == ("undecided", "crashed")
    assert how in verdict.reason
    assert not crew.perform(task("Right")).failed


def test_processes_that_work_side_by_side_use_one_thread_each(crew):
    act = "def act(self, t, w):\n        "
    told = "raise ValueError(threads(), os.environ['OPENBLAS_NUM_THREADS'])"
    code = CODE.replace(
        act, f"{act}from gammabar.problems.points import threads\n        {told}\n        ", 1
    )
    (verdict,) = crew.perform(task("Right", solver=InFile("my.py:Right", code))).verdicts
    assert "ValueError: (1, '1')" in verdict.reason


@pytest.mark.full
def test_files_are_tried_out_in_another_process(crew):
    assert crew.probe(InFile("my.py:Right", CODE), 60)["name"] is None
    carded = CODE + "\nclass Carded(Right):\n    class card:\n        name = 'snkp'\n"
    assert crew.probe(InFile("my.py:Carded", carded), 60)["name"] == "snkp"
    assert "no class or function Wrong" in crew.probe(InFile("my.py:Wrong", CODE), 60)["error"]
    for code, what in [
        ("while True: pass\n", "no end within 1 s (my.py, line 1"),
        ("import os; os._exit(5)\n", "exit code 5"),
    ]:
        error = crew.probe(InFile("my.py:Mine", code), 1.0)["error"]
        assert error.startswith("my.py: cannot be imported")
        assert what in error


# the engine


def plain(results: list[Result]) -> list[dict]:
    """Everything but the time it took."""
    return [{**result.as_dict(), "seconds": 0} for result in results]


@pytest.mark.full
def test_one_bad_solver_does_not_disturb_the_others(monkeypatch):
    import psutil

    monkeypatch.setattr(crew_module, "GRACE", 0.5)
    told = []
    names = ["Right", "HangsInC", "Quits", "Reversed", "Raises", "Right"]
    limits = {"HangsInC": 1.0}
    tasks = [task(n, "gb.sharp", "gb.selfcert", limit=limits.get(n, 60.0)) for n in names]
    results = engine.run(tasks, jobs=2, tell=told.append)
    assert [r.run.by for r in results] == [f"my.py:{name}" for name in names for _ in range(2)]
    failures = [r.verdict.failure for r in results[::2]]
    assert failures == ["", "timeout", "crashed", "", "crashed", ""], results
    assert len(told) == len(tasks)
    assert sorted(map(str, plain([r for group in told for r in group]))) == sorted(
        map(str, plain(results))
    )
    left = [p for p in psutil.Process().children() if "run.pool" in " ".join(p.cmdline())]
    assert len(left) <= 1  # that of the fixture


def test_results_do_not_depend_on_how_many_work():
    tasks = [
        Task(
            Run(f"planted:n=20,d=3,seed={seed}", Registered("dual-acceleration"), 30, unit=True),
            ("gb.sharp", "gb.selfcert"),
            ("holds", "holds"),
        )
        for seed in range(5)
    ]
    alone = engine.run(tasks, jobs=1)
    assert plain(engine.run(tasks, jobs=2)) == plain(alone)
    assert {r.verdict.verdict for r in alone} == {"holds"}


# what is expected


def result(verdict: str, expected: str, statement: str = "a.b", problem: str = "p", **more):
    run = Run(problem, Registered("perceptron"), 10)
    return Result(Verdict(statement, verdict, **more), run, expected, 0.5)


@pytest.mark.parametrize(
    ("expected", "fine"),
    [
        ("holds", {"holds", "inapplicable"}),
        ("refuted", {"refuted"}),
        ("either", {"holds", "refuted", "undecided", "inapplicable"}),
        ("inapplicable", {"inapplicable"}),
    ],
)
def test_what_is_as_expected(expected, fine):
    for verdict in ("holds", "refuted", "undecided", "inapplicable"):
        assert result(verdict, expected).as_expected is (verdict in fine)
        assert not result(verdict, expected, failure="crashed").as_expected


def test_a_false_claim_need_not_be_refuted_in_every_run():
    runs = [
        result("refuted", "refuted"),
        result("holds", "refuted"),
        result("inapplicable", "refuted", problem="q"),
    ]
    assert [r.as_expected for r in settle(runs)] == [True, True, False]
    assert [r.as_expected for r in settle(runs[1:])] == [False, False]


def test_what_is_inapplicable_is_shown_where_it_tells_something():
    runs = [
        result("holds", "holds", problem="p"),
        result("inapplicable", "holds", problem="q"),
        result("inapplicable", "inapplicable", problem="r"),  # the data are not here
        result("inapplicable", "holds", statement="nowhere", problem="p"),
        result("inapplicable", "holds", statement="nowhere", problem="q"),
    ]

    def shown(each_problem: bool, *asked: Result) -> list[int]:
        told = telling(runs, asked=asked.__contains__, each_problem=each_problem)
        return [runs.index(r) for r in told]

    assert shown(False) == [0, 2, 3, 4]
    assert shown(True) == [0, 1, 2, 3, 4]
    assert shown(False, runs[1]) == [0, 1, 2, 3, 4]
    again = result("inapplicable", "either", problem="p")  # by a solver with other options
    runs.append(again)
    assert shown(True) == [0, 1, 2, 3, 4]


def test_summary():
    runs = [
        result("holds", "holds"),
        result("undecided", "holds", failure="timeout"),
        result("refuted", "holds"),
        result("refuted", "refuted"),
    ]
    assert summarise(runs) == {
        "holds": 1,
        "refuted": 2,
        "undecided": 1,
        "inapplicable": 0,
        "not reproducible": 0,
        "results": 4,
        "unexpected": 2,
        "failures": 1,
        "says_nothing": 1,  # nobody asked what the pass is worth
    }
