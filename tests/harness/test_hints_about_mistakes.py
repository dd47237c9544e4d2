"""A solver of one's own that errs: where, which mistake it looks like, and what follows."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness.registry import everything
from gammabar.harness.run.tasks import InFile, Registered, Result, Run, summarise
from gammabar.harness.show import attention, show, show_all
from gammabar.harness.verify.verdict import Verdict
from gammabar.solvers import Iterate

PROBLEM = "iris:0,1"


class Mine:
    """Algorithm 1, written anew."""

    sign, shift = 1, 0

    def iterates(self, problem, rng):
        w = g = problem.origin()
        for t in count():
            yield Iterate(t=t, w=w)
            scores = problem.scores(w)
            q = np.exp(scores.min() - scores)
            pull = problem.combine(q / q.sum())
            g = (t + self.shift) / (t + 1 + self.shift) * (g + pull)
            w = w + self.sign * (g + pull)


class ShiftedIndex(Mine):
    shift = 1


def refuted(solver) -> Verdict:
    [verdict] = gb.verify(solver, PROBLEM, "jst.lem3.4.primal", iterations=20)
    assert verdict.verdict == "refuted"
    return verdict


def test_a_formula_that_is_taken_for_another_is_named():
    hint = refuted(ShiftedIndex()).hint
    assert "the step to w_1 is not that of dual-acceleration" in hint
    assert "Algorithm 1" in hint
    assert "1/2 at t = 0, 0 is due: β_t = (t+1)/(t+2)?" in hint


def test_an_unknown_mistake_is_placed_and_not_guessed():
    class Odd(Mine):
        sign = 1.001

    hint = refuted(Odd()).hint
    assert "the step to w_1 is not that of dual-acceleration" in hint
    assert "in coordinate" in hint
    assert "looks like" not in hint


def test_a_method_that_draws_is_not_compared_with_another_draw():
    class Draws(Mine):
        sign = -1

    [verdict] = gb.verify(Draws(), PROBLEM, "gb.jst.sampling.step", iterations=5)
    assert verdict.hint == ""


def _result(
    identifier: str, ruling: str, t: int | None, run: Run, expected="holds", **more
) -> Result:
    return Result(Verdict(identifier, ruling, worst_t=t, checked=9, **more), run, expected, 0.1)


MINE = Run(PROBLEM, InFile("my.py:Mine", ""), 50)


def test_the_root_comes_first_and_the_rest_is_folded():
    results = [
        _result("jst.thm3.1.1", "refuted", 3, MINE),
        _result("jst.lem3.4.primal", "refuted", 7, MINE, hint="the step to w_7 is wrong"),
        _result("jst.lemC.12.identity", "refuted", 9, MINE),
        _result("gb.sharp", "holds", 4, MINE, informative=3),
    ]
    [text] = attention(results)
    first, root, *_ = text.splitlines()
    assert first.startswith("jst.lem3.4.primal refuted at t = 7")
    assert "the step to w_7 is wrong" in root
    assert "2 more are refuted: jst.lemC.12.identity (t = 9), jst.thm3.1.1 (t = 3)" in text


def test_problems_with_one_cause_share_one_explanation():
    def results(*hints):
        runs = [Run(data, MINE.solver, 50) for data in (PROBLEM, "iris:1,2", "rows:1")]
        return [
            _result("jst.lem3.4.primal", "refuted", 7, run, hint=hint)
            for run, hint in zip(runs, hints, strict=True)
        ]

    [text] = attention(results("the sign: 1", "the sign: 2", "the sign"))
    assert text.startswith(f"jst.lem3.4.primal refuted at t = 7 on {PROBLEM}")
    assert text.splitlines()[-1] == "    the same  on iris:1,2, rows:1"
    first, other = attention(results("the sign", "the step", "the sign"))
    assert first.splitlines()[-1] == "    the same  on rows:1"
    assert "the same" not in other
    assert len(attention(results("", "", ""))) == 3  # an unknown cause is not a common one
    step, other = results("the step to w_1 is 1/2 times", "the step to w_3 is 2/3 times", "")[:2]
    other = replace(other, verdict=replace(other.verdict, statement="jst.lemC.3"))
    assert len(attention([step, other])) == 1  # one cause, which two claims have noticed
    place = "the step to w_1 is not that of x"
    step, other = (replace(r, verdict=replace(r.verdict, hint=place)) for r in (step, other))
    assert len(attention([step, other])) == 2


def test_the_last_line_counts_verdicts_and_statements(capsys):
    runs = [Run(data, MINE.solver, 50) for data in (PROBLEM, "iris:1,2", "rows:1")]
    results = [_result("gb.sharp", "refuted", 4, run) for run in runs]
    show_all(results, summarise(results), 1.0, full=False)
    shown = capsys.readouterr().out
    assert "3 FAILED, of 1 statement" in shown


@pytest.mark.parametrize("full", [True, False])
def test_a_solver_of_ones_own_does_not_refute_the_paper(full, capsys):
    results = [_result("jst.eqC.13", "refuted", 3, MINE, "either")]
    results += [_result(s, "holds", 3, MINE) for s in ([] if full else list(everything())[:16])]
    show_all(results, summarise(results), 1.0, full)
    shown = capsys.readouterr().out
    assert "known to be false" in shown
    assert "substance" not in shown
    assert "✓ tested" not in shown
    reference = Run(PROBLEM, Registered("dual-acceleration"), 50)
    results = [_result("jst.eqC.13", "refuted", 3, reference, "refuted")]
    show_all(results, summarise(results), 1.0, full)
    assert "refuted as printed: 1 substance" in capsys.readouterr().out


def test_a_run_that_fails_is_explained_once():
    why = {"failure": "crashed", "reason": "the iterates end after t = 4"}
    names = ("jst.thm3.1.1", "jst.lem3.4.primal", "gb.sharp")
    [text] = attention([_result(name, "undecided", None, MINE, **why) for name in names])
    assert text.count("the iterates end") == 1
    assert text.endswith("    and so    2 more are undecided: jst.lem3.4.primal, gb.sharp")
    late = _result("gb.gap", "undecided", None, MINE, failure="timeout", reason="no end")
    assert len(attention([late, _result(names[0], "undecided", None, MINE, **why)])) == 2


def test_what_does_not_fit_on_a_screen_is_listed():
    run = Run(PROBLEM, Registered("dual-acceleration"), 50)
    wrong = [_result(s, "refuted", 3, run) for s in list(everything())[:30]]
    assert len(attention(wrong, full=True)) == 30
    short = attention(wrong)
    assert len(short) == 5
    assert short[-1].startswith("in full with --all:")
    assert "… and 14 more" in short[-1]


def test_many_statements_fit_on_one_screen(capsys):
    run = Run(PROBLEM, Registered("dual-acceleration"), 50)
    results = [
        _result(s.id, s.status, 3, run, s.status, informative=3, tightness=0.5)
        for s in everything().values()
    ]
    show(results)
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) <= 24
    assert "Ziwei Ji, Nathan Srebro and Matus Telgarsky (2021)" in shown
    assert "substance" in shown
    assert "--all" in shown
    show(results, full=True)
    assert len(capsys.readouterr().out.splitlines()) > len(results)


def test_the_methods_own_tightness_stands_beside(capsys):
    show([_result("gb.sharp", "holds", 4, MINE, informative=3, tightness=0.5, reference=0.25)])
    shown = capsys.readouterr().out
    assert "reference solver" in shown
    assert "0.25" in shown
    assert "tightness: measured over bound" in shown
