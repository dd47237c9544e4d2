"""A pass that says nothing is a failure where the user is strict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gammabar.harness.cli import main
from gammabar.harness.registry import is_tested
from gammabar.harness.run.tasks import InFile, Registered, Result, Run, strictly
from gammabar.harness.verify.verdict import Ruling, Verdict

PLANTED = "planted:n=200,d=10,gamma=0.1,seed=0"
IDLE = """
from itertools import count
from gammabar.solvers import Iterate

class Idle:
    def iterates(self, problem, rng):
        for t in count():
            yield Iterate(t=t, w=problem.origin())
"""


def result(informative: int | None, problem: str = "a", solver=None, expected="holds") -> Result:
    verdict = Verdict("jst.thm3.1.1", "holds", informative=informative)
    return Result(verdict, Run(problem, solver or Registered("dual-acceleration")), expected, 0.0)


def nobody(_: Result) -> bool:
    return False


def wrong(results: list[Result], excused=nobody) -> list[bool]:
    return [not r.as_expected for r in strictly(results, excused)]


def test_a_statement_must_say_something_somewhere():
    assert wrong([result(0), result(0, "b")]) == [True, True]
    assert wrong([result(0), result(3, "b")]) == [False, False]
    assert wrong([result(None)]) == [True]  # as an older version has stored it


def test_what_is_said_about_another_solver_does_not_count():
    mine, other = InFile("my.py:A", ""), InFile("my.py:B", "")
    assert wrong([result(0, solver=mine), result(5, solver=other)]) == [True, False]


def test_excuses_and_what_nobody_waits_for():
    assert wrong([result(0)], lambda r: True) == [False]
    assert wrong([result(0, expected="either"), result(0, expected="unrefuted")]) == [False, False]


def command(capsys, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["verify", "--jobs", "1", "--problem", PLANTED, *arguments])
    return int(exit_.value.code or 0), capsys.readouterr().out


@pytest.mark.full
def test_the_solver_that_does_nothing(capsys, tmp_path: Path):
    file = tmp_path / "idle.py"
    file.write_text(IDLE)
    mine = ("--solver-file", f"{file}:Idle", "--statement", "jst.thm3.1.1", "--iterations", "100")
    code, shown = command(capsys, *mine)
    assert code == 0
    assert "vacuous up to t = 167" in shown
    assert "✓" not in shown
    code, shown = command(capsys, *mine, "--strict", "--json")
    [found] = json.loads(shown)["results"]
    assert code == 1
    assert (found["verdict"], found["informative"], found["vacuous_to"]) == ("holds", 0, 167)
    assert found["as_expected"] is False


def test_what_is_obeyed_at_rest_is_excused_for_solvers_of_the_project_only(capsys, tmp_path: Path):
    upper = ("--statement", "jst.lem3.6.upper", "--iterations", "20", "--strict")
    code, shown = command(capsys, *upper)
    assert code == 0
    assert "vacuous: a solver that never moves passes as well (" in " ".join(shown.split())
    file = tmp_path / "idle.py"
    file.write_text(IDLE)
    assert command(capsys, *upper, "--solver-file", f"{file}:Idle")[0] == 1


@pytest.mark.parametrize(
    ("statement", "foreign", "tested"),
    [
        ("gb.selfcert", False, True),  # obeyed at rest, and it refutes mutants
        ("gb.selfcert", True, False),  # to a user's solver a pass says nothing
        ("rp.lem4", False, True),  # true of every α
        ("jst.thm3.1.1", False, False),  # a bound that is too large here
    ],
)
def test_a_tick_is_for_what_was_tested(statement: str, foreign: bool, tested: bool):
    solver = InFile("my.py:Idle", IDLE) if foreign else Registered("dual-acceleration")
    verdict = Verdict(statement, Ruling.HOLDS, informative=0)
    assert is_tested([Result(verdict, Run("a", solver), "holds", 0.0)]) == tested
