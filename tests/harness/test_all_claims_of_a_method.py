"""A solver is checked against all that is claimed of the method it implements: ``like=…``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gammabar as gb
from gammabar.harness.cli import main
from gammabar.harness.run.in_process import BoundViolated, check_bounds

X, Y = [[3, 1], [1, 3], [-4, -1]], [1, 1, 0]


def right(problem):
    """Algorithm 1 of Ji, Srebro and Telgarsky."""
    w = g = problem.origin()
    t = 0
    while True:
        yield w
        pull = problem.softmin(w).pull
        g = t / (t + 1) * (g + pull)
        w = w + g + pull
        t += 1


def without_momentum(problem):
    """Normalised gradient descent."""
    w = problem.origin()
    while True:
        yield w
        w = w + problem.softmin(w).pull


def test_a_right_solver_passes_all_that_is_claimed(check_bound):
    found = check_bound(right, like="dual-acceleration", problem="iris:0,1", iterations=30)
    assert len(found) > 20
    assert {verdict.verdict for verdict in found} == {"holds"}


def test_a_wrong_one_is_told_its_first_mistake_once():
    with pytest.raises(BoundViolated) as failed:
        check_bounds(None, without_momentum, "iris:0,1", like="dual-acceleration", iterations=30)
    message = str(failed.value)
    assert message.startswith("jst.lem3.4.primal refuted at t = 2")
    assert message.count("there is no momentum") == 1
    assert "\nand so " in message


def test_options_of_the_method_are_those_that_the_solver_does_not_say():
    def half(problem):
        w = problem.origin()
        while True:
            yield w
            w = w + problem.softmin(w).pull / 2

    method = "normalized-gradient-descent"
    with pytest.raises(BoundViolated, match="is 1/2 times the due one"):
        check_bounds(None, half, "iris:0,1", like=method, iterations=5)
    check_bounds(None, half, "iris:0,1", like=f"{method}:step=0.5", iterations=5)


def test_what_cannot_be_checked_is_no_pass():
    with pytest.raises(BoundViolated, match=r"nothing was checked: .*dual"):
        check_bounds(None, without_momentum, "iris:0,1", like="nvn", iterations=5)


def test_known_false_statements_are_not_held_against_a_solver():
    found = gb.verify(right, (X, Y), like="dual-acceleration", iterations=5)
    statements = {s.statement for s in found}
    assert "jst.lem3.4.primal" in statements
    assert "jst.prop3.7" not in statements  # false as printed


def test_a_misspelt_method_gets_a_suggestion():
    with pytest.raises(gb.ProblemError, match="dual-acceleration"):
        gb.verify(right, (X, Y), like="dual-accelleration")


def test_without_a_method_the_sentence_asks_for_one():
    with pytest.raises(gb.ProblemError, match="like='dual-acceleration'"):
        gb.verify(right, (X, Y))


SOLVERS = """
def right(problem):
    w = g = problem.origin()
    t = 0
    while True:
        yield w
        pull = problem.softmin(w).pull
        g = t / (t + 1) * (g + pull)
        w = w + g + pull
        t += 1


def still(problem):
    while True:
        yield problem.origin()
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "my.py").write_text(SOLVERS, encoding="utf-8")
    return str(tmp_path / "my.py")


def verify(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["verify", *arguments, "--jobs", "1"])
    return int(ended.value.code or 0)


@pytest.mark.full
def test_one_command_checks_all_that_is_claimed(file: str, capsys):
    assert verify(f"{file}:right", "--as", "dual-acceleration", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["refuted"] == 0
    assert {one["expected"] for one in document["results"]} == {"holds"}
    assert len({one["problem"] for one in document["results"]}) == 4


@pytest.mark.full
def test_a_solver_that_never_moves_fails(file: str, capsys):
    arguments = ("--as", "dual-acceleration", "--problem", "iris:0,1")
    assert verify(f"{file}:still", *arguments) == 1
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("{file}:right",), "--as NAME"),
        (("--as", "snkp"), "a solver of your own"),
        (("{file}:right", "--as", "snkpp"), "did you mean snkp"),
    ],
)
def test_what_is_missing_is_said(arguments, sentence: str, file: str, capsys):
    assert verify(*(one.format(file=file) for one in arguments)) == 2
    assert sentence in capsys.readouterr().err
