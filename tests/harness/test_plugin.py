"""The pytest plugin, as a user's own tests see it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gammabar.harness.run.in_process import BoundViolated, check_bounds
from gammabar.problems import ProblemError, from_arrays
from gammabar.solvers import DualAcceleration

PLANTED = "planted:n=60,d=6,gamma=0.1,seed=0"

USER = """
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest

from gammabar.problems import from_arrays
from gammabar.solvers import DualAcceleration, Iterate


@dataclass(frozen=True)
class WithoutMomentum:
    def iterates(self, problem, rng):
        w = problem.origin()
        for t in count():
            yield Iterate(t=t, w=w)
            scores = problem.scores(w)
            q = np.exp(scores.min() - scores)
            w = w + problem.combine(q / q.sum())


def test_holds(check_bound):
    verdict = check_bound("jst.thm3.1.1", DualAcceleration(), problem="PLANTED", iterations=50)
    assert verdict.verdict == "holds"
    assert 0 < verdict.tightness < 1


def test_several(check_bound):
    verdicts = check_bound(["gb.sharp", "gb.selfcert"], DualAcceleration(), problem="PLANTED",
                           iterations=50)
    assert [v.statement for v in verdicts] == ["gb.sharp", "gb.selfcert"]


def test_own_data(check_bound):
    problem = from_arrays([[2.0, 1.0], [-1.0, -3.0], [0.5, 2.0]], [1, -1, 1])
    check_bound("jst.thm3.1.1", DualAcceleration(), problem=problem, iterations=50)


def test_refuted(check_bound):
    check_bound("jst.lem3.6.lower", WithoutMomentum(), problem="PLANTED", iterations=50)


def test_inapplicable(check_bound):
    check_bound("jst.thm3.1.1", DualAcceleration(), problem="inseparable:n=20,d=3,seed=0",
                iterations=5)


def test_nothing_heard(check_bound):
    check_bound("jst.thm3.1.1", DualAcceleration(), problem="PLANTED", iterations=0)


def test_another_step(check_bound):
    check_bound("jst.thm3.1.1", DualAcceleration(step=0.5), problem="PLANTED", iterations=5)


def test_backwards_in_time(check_bound):
    check_bound("jst.thm3.1.1", DualAcceleration(), problem="PLANTED", iterations=-1)


def test_unknown(check_bound):
    check_bound("jst.thm3.1.7", DualAcceleration(), problem="PLANTED")
"""


@pytest.mark.full
def test_in_a_users_project(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(USER.replace("PLANTED", PLANTED))
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
    for name, result in (
        ("test_holds", "PASSED"),
        ("test_several", "PASSED"),
        ("test_own_data", "PASSED"),
        ("test_refuted", "FAILED"),
        ("test_inapplicable", "SKIPPED"),
        ("test_nothing_heard", "FAILED"),
        ("test_another_step", "FAILED"),
        ("test_backwards_in_time", "FAILED"),
        ("test_unknown", "FAILED"),
    ):
        assert f"::{name} {result}" in out, out + done.stderr
    assert re.search(r"jst.lem3.6.lower refuted at t = \d+ on " + PLANTED, out)
    assert "short by" in out
    assert "Lemma 3.6" in out
    assert "the data are not separable" in out
    assert "did you mean jst.thm3.1" in out
    assert "harness/verify" not in out.split("FAILURES")[0]  # no traceback of ours


def test_the_call_behind_it():
    verdict, other = check_bounds(
        ["jst.thm3.1.1", "gb.sharp"], DualAcceleration(), PLANTED, iterations=30
    )
    assert (verdict.verdict, other.verdict) == ("holds", "holds")
    with pytest.raises(ProblemError, match="did you mean"):
        check_bounds(["gb.shrap"], DualAcceleration(), PLANTED)


def test_violations_carry_their_verdicts():
    problem = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])

    class Backwards(DualAcceleration):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                yield type(it)(it.t, -it.w, problem)

    with pytest.raises(BoundViolated, match="refuted") as caught:
        check_bounds(["gb.sharp"], Backwards(), problem, iterations=30)
    assert caught.value.verdicts[0].verdict == "refuted"
