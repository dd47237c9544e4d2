"""What a user sees of a verdict: one line, the same explanation everywhere, and how to go on."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

import gammabar as gb
from gammabar.harness import power
from gammabar.harness.run.in_process import BoundViolated, check_bounds


def slow(problem, step=1.0):
    w = problem.origin()
    while True:
        yield w
        w = w + step * problem.softmin(w).pull


def short(problem):
    w = problem.origin()
    for _ in range(4):
        yield w
        w = w + problem.softmin(w).pull


def refuted(solver):
    (verdict,) = gb.verify(solver, "iris:0,1", "jst.lem3.4.primal", iterations=5)
    assert verdict.verdict == "refuted"
    return verdict


def test_a_verdict_is_printed_in_one_line_and_explained_in_full():
    verdict = refuted(slow)
    assert str(verdict).startswith("jst.lem3.4.primal refuted at t = 2: ")
    assert "\n" not in str(verdict)
    with pytest.raises(BoundViolated) as failed:
        check_bounds("jst.lem3.4.primal", slow, "iris:0,1", iterations=5)
    assert str(failed.value) == verdict.explain()
    assert verdict.hint in verdict.explain()


def test_a_notebook_shows_a_table_and_a_curve():
    shown = refuted(slow)._repr_html_()
    assert "<th>cause</th>" in shown
    assert "<script" not in shown
    (holds,) = gb.verify(slow, "iris:0,1", "gb.floor", iterations=20)
    assert "<svg" in holds._repr_html_()
    assert "<th>margin</th><td>0.74313749017557" in gb.solve(gb.load("iris:0,1"))._repr_html_()


def test_a_partial_function_is_named_with_its_arguments():
    assert "(solver slow(step=0.5))" in refuted(partial(slow, step=0.5)).explain()


def test_a_vacuous_pass_fails_by_that_name():
    with pytest.raises(BoundViolated, match=r"jst\.thm3\.1\.1 vacuous up to t = \d+ on iris"):
        check_bounds("jst.thm3.1.1", "dual-acceleration", "iris:0,1", iterations=3, strict=True)


def test_a_generator_that_ends_is_told_how_to_go_on():
    (verdict,) = gb.verify(short, "iris:0,1", "gb.floor", iterations=9)
    assert "end after t = 3: yield them without end (while True)" in verdict.reason
    assert "iterations 3" in verdict.reason


def test_a_mutant_that_crashes_is_killed():
    class Crashes:
        def iterates(self, problem, rng):
            yield from ()
            raise TypeError("no such thing")

    mutant = SimpleNamespace(solver="perceptron", make=Crashes)
    assert list(power.kills(mutant, problem="iris:0,1")) == ["crashed"]
