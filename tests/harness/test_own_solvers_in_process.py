"""`gb.verify`, `check_bound` and ``verify FILE:SOLVER --as METHOD``, as users call them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness import power
from gammabar.harness.run.in_process import BoundViolated, check_bounds
from gammabar.harness.verify.numbers import at_most
from gammabar.harness.verify.statement import per_iterate
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem
from gammabar.solvers import DualAcceleration

PLANTED = "planted:n=30,d=4,gamma=0.1,seed=0"
IRIS = "iris:0,1"
SOLVERS = '''
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


def descent(problem, step=1.0):
    """Normalised gradient descent: Algorithm 1 without momentum."""
    w = problem.origin()
    while True:
        yield w
        w = w + step * problem.softmin(w).pull


def still(problem):
    while True:
        yield problem.origin()
'''
_NAMES: dict[str, Any] = {}
exec(SOLVERS, _NAMES)
right, descent = _NAMES["right"], _NAMES["descent"]


@pytest.fixture
def mine(registered):
    """A statement of one's own, as its decorated function."""

    @per_iterate("mine.sharp", reference="here", claim="", solvers=("dual-acceleration",), since=1)
    def sharp(it, case):
        return at_most(it.margin, case.gamma)

    return sharp


class NoGenerator:
    def iterates(self, problem):
        yield problem.origin()


# --- what may be given -----------------------------------------------------------------------


def test_solvers_problems_and_statements_in_every_form(mine, registered, tmp_path):
    path = tmp_path / "my.py"
    path.write_text("from gammabar.solvers import DualAcceleration as Mine\n")
    forms = DualAcceleration(), DualAcceleration, "dual-acceleration", f"{path}:Mine:step=1"
    for solver in forms:
        for problem in (PLANTED, open_problem(PLANTED), open_problem(PLANTED).unit()):
            (verdict,) = gb.verify(solver, problem, ["gb.sharp"], iterations=20)
            assert (verdict.verdict, verdict.checked) == ("holds", 20)
    statement = registered["mine.sharp"]
    for given in ("mine.sharp", mine, statement, [statement], (mine,)):
        (verdict,) = gb.verify(DualAcceleration(), PLANTED, given, iterations=20)
        assert (verdict.statement, verdict.verdict) == ("mine.sharp", "holds")
    twice = gb.verify(DualAcceleration(), PLANTED, [mine, "gb.sharp", mine], iterations=20)
    assert [v.statement for v in twice] == ["mine.sharp", "gb.sharp", "mine.sharp"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"statements": "gb.shrap"}, "did you mean gb.sharp?"),
        ({"statements": [len]}, "len is no statement"),
        ({"solver": "dual-aceleration"}, "did you mean dual-acceleration?"),
        ({"solver": ""}, "names no solver"),
        ({"solver": 3}, "int has no method"),
        (
            {"solver": NoGenerator},
            "NoGenerator.iterates must take a problem and a random generator",
        ),
        ({"problem": "nosuch:1"}, "nosuch"),
        ({"iterations": -1}, "iterations must be a whole number of at least 1, not -1"),
        ({"iterations": 2.5}, "iterations"),
        ({"seed": -3}, "seed"),
        ({"like": "dual-accelleration"}, "dual-acceleration"),
        ({"solver": right, "statements": None}, "like='dual-acceleration'"),
    ],
)
def test_bad_calls_are_one_sentence(change, place):
    call: dict[str, Any] = {"solver": DualAcceleration(), "problem": PLANTED}
    call |= {"statements": ["gb.sharp"]} | change
    with pytest.raises(ProblemError) as refused:
        gb.verify(**call)
    assert place in str(refused.value)


def test_a_solver_that_changes_the_data_shows_nothing():
    X, y = np.array([[2.0, 1.0], [-1.0, -3.0], [0.5, 2.0]]), [1, -1, 1]

    class Writes(DualAcceleration):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                if it.t == 3:
                    X[...] /= 10  # the arrays that the problem was made with
                yield it

    found = gb.verify(Writes(), gb.from_arrays(X, y), ["gb.sharp", "gb.selfcert"], iterations=20)
    assert {(v.verdict, v.failure) for v in found} == {("undecided", "crashed")}
    assert "changed the data" in found[0].reason

    class Direct(DualAcceleration):
        def iterates(self, problem, rng=None):
            problem.X[0] = 0
            yield from super().iterates(problem, rng)

    with pytest.raises(ValueError, match="read-only"):  # what the problem hands out
        gb.verify(Direct(), gb.from_arrays(X, y), "gb.sharp")


# --- all that is claimed of a method ---------------------------------------------------------


def test_a_right_solver_passes_and_a_wrong_one_is_told_its_first_mistake(check_bound):
    found = check_bound(right, like="dual-acceleration", problem=IRIS, iterations=30)
    assert len(found) > 20
    assert {verdict.verdict for verdict in found} == {"holds"}
    assert "jst.prop3.7" not in {v.statement for v in found}  # false as printed
    with pytest.raises(BoundViolated) as failed:
        check_bounds(None, descent, IRIS, like="dual-acceleration", iterations=30)
    message = str(failed.value)
    assert message.startswith("jst.lem3.4.primal refuted at t = 2")
    assert message.count("there is no momentum") == 1
    assert "\nand so " in message
    assert {v.verdict for v in failed.value.verdicts} >= {"refuted"}


def test_options_of_the_method_are_those_that_the_solver_does_not_say():
    def half(problem):
        return descent(problem, 0.5)

    method = "normalized-gradient-descent"
    with pytest.raises(BoundViolated, match="is 1/2 times the due one"):
        check_bounds(None, half, IRIS, like=method, iterations=5)
    check_bounds(None, half, IRIS, like=f"{method}:step=0.5", iterations=5)


def test_what_is_not_shown_is_no_pass():
    with pytest.raises(BoundViolated, match=r"nothing was checked: .*dual"):
        check_bounds(None, descent, IRIS, like="nvn", iterations=5)
    with pytest.raises(BoundViolated):
        check_bounds("jst.thm3.1.1", DualAcceleration(step=0.5), PLANTED, iterations=5)
    (verdict,) = check_bounds("jst.thm3.1.1", DualAcceleration(), "inseparable:n=9,d=2,seed=0")
    assert verdict.verdict == "inapplicable"  # that is the problem's doing
    with pytest.raises(BoundViolated, match=r"jst\.thm3\.1\.1 vacuous up to t = \d+ on iris"):
        check_bounds("jst.thm3.1.1", "dual-acceleration", IRIS, iterations=3, strict=True)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "my.py").write_text(SOLVERS, encoding="utf-8")
    return str(tmp_path / "my.py")


@pytest.mark.full
def test_one_command_checks_all_that_is_claimed(file: str, gammabar):
    code, out, _ = gammabar("verify", f"{file}:right", "--as", "dual-acceleration", "--json")
    document = json.loads(out)
    assert (code, document["summary"]["refuted"]) == (0, 0)
    assert {one["expected"] for one in document["results"]} == {"holds"}
    assert len({one["problem"] for one in document["results"]}) == 4
    asked = ("--as", "dual-acceleration", "--problem", IRIS)
    code, out, _ = gammabar("verify", f"{file}:still", *asked)
    assert (code, "FAILED" in out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("{file}:right",), "--as NAME"),
        (("--as", "snkp"), "a solver of your own"),
        (("{file}:right", "--as", "snkpp"), "did you mean snkp"),
    ],
)
def test_what_is_missing_is_said(arguments, sentence: str, file: str, gammabar):
    code, _, err = gammabar("verify", *(one.format(file=file) for one in arguments))
    assert (code, sentence in err) == (2, True)


# --- what is shown ---------------------------------------------------------------------------


def refuted(solver):
    (verdict,) = gb.verify(solver, IRIS, "jst.lem3.4.primal", iterations=5)
    assert verdict.verdict == "refuted"
    return verdict


def test_a_verdict_is_printed_in_one_line_and_explained_in_full():
    verdict = refuted(descent)
    assert str(verdict).startswith("jst.lem3.4.primal refuted at t = 2: ")
    assert "\n" not in str(verdict)
    with pytest.raises(BoundViolated) as failed:
        check_bounds("jst.lem3.4.primal", descent, IRIS, iterations=5)
    assert str(failed.value) == verdict.explain()
    assert verdict.hint in verdict.explain()
    assert "(solver descent(step=0.5))" in refuted(partial(descent, step=0.5)).explain()


def test_a_notebook_shows_a_table_and_a_curve():
    shown = refuted(descent)._repr_html_()
    assert "<th>cause</th>" in shown
    assert "<script" not in shown
    (holds,) = gb.verify(descent, IRIS, "gb.floor", iterations=20)
    assert "<svg" in holds._repr_html_()
    assert "<th>margin</th><td>0.74313749017557" in gb.solve(gb.load(IRIS))._repr_html_()


def test_a_mutant_that_crashes_is_killed():
    class Crashes:
        def iterates(self, problem, rng):
            yield from ()
            raise TypeError("no such thing")

    mutant = SimpleNamespace(solver="perceptron", make=Crashes)
    assert list(power.kills(mutant, problem=IRIS)) == ["crashed"]


# --- the pytest plugin -----------------------------------------------------------------------

USER = """
import pytest
from hypothesis import given, strategies
from gammabar.problems import from_arrays
from gammabar.solvers import DualAcceleration

PLANTED = "planted:n=60,d=6,gamma=0.1,seed=0"


def descent(problem):
    w = problem.origin()
    while True:
        yield w
        w = w + problem.softmin(w).pull


def test_passed_holds(check_bound):
    verdict = check_bound("jst.thm3.1.1", DualAcceleration(), problem=PLANTED, iterations=50)
    assert verdict.verdict == "holds"
    assert 0 < verdict.tightness < 1


@given(strategies.integers(0, 3))
def test_passed_drawn(check_bound, seed):
    problem = f"planted:n=20,d=3,gamma=0.1,seed={seed}"
    check_bound("gb.gap", DualAcceleration(), problem=problem, iterations=5)


def test_passed_several(check_bound):
    names = ["gb.sharp", "gb.selfcert"]
    verdicts = check_bound(names, DualAcceleration(), problem=PLANTED, iterations=50)
    assert [v.statement for v in verdicts] == names


def test_passed_own_data(check_bound):
    problem = from_arrays([[2.0, 1.0], [-1.0, -3.0], [0.5, 2.0]], [1, -1, 1])
    check_bound("jst.thm3.1.1", DualAcceleration(), problem=problem, iterations=50)


def test_failed_refuted(check_bound):
    check_bound("jst.lem3.6.lower", descent, problem=PLANTED, iterations=50)


def test_skipped_inapplicable(check_bound):
    problem = "inseparable:n=20,d=3,seed=0"
    check_bound("jst.thm3.1.1", DualAcceleration(), problem=problem, iterations=5)


@pytest.mark.parametrize("iterations", [0, -1])
def test_failed_length(check_bound, iterations):
    check_bound("jst.thm3.1.1", DualAcceleration(), problem=PLANTED, iterations=iterations)


def test_failed_another_step(check_bound):
    check_bound("jst.thm3.1.1", DualAcceleration(step=0.5), problem=PLANTED, iterations=5)


def test_failed_unknown(check_bound):
    check_bound("jst.thm3.1.7", DualAcceleration(), problem=PLANTED)
"""


@pytest.mark.full
def test_in_a_users_project(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(USER)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    out = done.stdout
    found = re.findall(r"::test_([a-z]+)_\S* ([A-Z]+)", out)
    assert len(found) == 10, out + done.stderr
    assert [(name, result) for name, result in found if name.upper() != result] == []
    assert re.search(r"jst.lem3.6.lower refuted at t = \d+ on planted:", out)
    for said in ("short by", "Lemma 3.6", "the data are not separable", "did you mean jst.thm3.1"):
        assert said in out
    assert "harness/verify" not in out.split("FAILURES")[0]  # no traceback of ours


@pytest.mark.full
def test_workers_of_xdist_use_one_thread(tmp_path: Path):
    """Also where a conftest.py imports NumPy, which then asks how many it may use."""
    names = "import numpy\nfrom threadpoolctl import threadpool_info\n"
    (tmp_path / "conftest.py").write_text(names)
    told = "def test_one():\n    assert [p['num_threads'] for p in threadpool_info()] == [1]\n"
    (tmp_path / "test_threads.py").write_text(names + told)
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    environment = {k: v for k, v in kept.items() if not k.startswith("PYTEST")}
    asked = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    subprocess.run(asked, cwd=tmp_path, env=environment, check=True)
