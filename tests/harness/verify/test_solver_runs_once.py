"""Direct statements that run a solver run it once: more digits are for the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.verify import run_checks
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import DOUBT, LEVELS, Relation, at_most, fact, precision
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.statement import direct
from gammabar.solvers import Iterate
from gammabar.solvers.boosting import AdaBoost
from gammabar.solvers.descent import SGD, AcceleratedGradientDescent, SmoothGradientDescent
from gammabar.solvers.kernel_methods import KernelRidge

ALL = load_statements()
CALLS: list[str] = []

COUNTED = {"iterates", "primal", "dual", "objective"}


def counting(kind: type) -> Any:
    """A solver that notes when it is asked for anything: a second run would be counted."""

    def noting(name: str) -> Any:
        def call(self: Any, *args: Any, **more: Any) -> Any:
            CALLS.append(name)
            return getattr(kind, name)(self, *args, **more)

        return call

    names = [name for name in COUNTED if hasattr(kind, name)]
    return type(f"Counting{kind.__name__}", (kind,), {name: noting(name) for name in names})()


KINDS = {
    "sgd": SGD,
    "adaboost": AdaBoost,
    "smooth-gradient-descent": SmoothGradientDescent,
    "accelerated-gradient-descent": AcceleratedGradientDescent,
    "kernel-ridge": KernelRidge,
}
#: (lec.ridge is about the printed derivation alone.)
DIRECT = [
    (s.id, name)
    for s in ALL.values()
    for name in KINDS
    if not s.about_runs and name in s.solvers and "" in s.problems and s.id != "lec.ridge"
]


@pytest.mark.full
@pytest.mark.parametrize(("identifier", "name"), DIRECT, ids=lambda v: v)
def test_more_digits_are_for_the_same_run(identifier, name, monkeypatch):
    """With everything in doubt at level 0, the solver is asked no more often than without."""
    monkeypatch.setattr(run_checks, "_idle_fails", lambda *_: True)  # idle solvers are other ones
    CALLS.clear()
    first = check_statement(ALL[identifier], Case(None, counting(KINDS[name])))
    asked = len(CALLS)
    assert asked, "the statement does not ask its solver for anything"
    decide = Relation.decide

    def doubtful(self: Relation, *allowed: float) -> Any:
        return DOUBT if precision() == LEVELS[0] else decide(self, *allowed)

    monkeypatch.setattr(Relation, "decide", doubtful)
    CALLS.clear()
    again = check_statement(ALL[identifier], Case(None, counting(KINDS[name])))
    assert again.escalated
    assert len(CALLS) == asked
    assert again.verdict == first.verdict


def test_a_violation_is_not_taken_back(registered):
    """A claim that says something else, or less, when it is asked again."""
    evaluations: list[int] = []

    def body(case):
        evaluations.append(case.level)
        if case.level:
            return [fact(True)]
        return [fact(False, "violated"), fact(None, "in doubt")]

    direct("test.twice", reference="here", kind="value", claim="", problems=("",))(body)
    assert check_statement(registered["test.twice"], Case()).verdict == "refuted"
    assert evaluations == [0, 1]

    evaluations.clear()
    direct("test.once", reference="here", kind="value", claim="", problems=("",))(
        lambda case: evaluations.append(case.level) or at_most(2, 1)
    )
    assert check_statement(registered["test.once"], Case()).verdict == "refuted"
    assert evaluations == [0]  # nothing is open, so nothing is asked again


class Buffers(SmoothGradientDescent):
    """Gradient descent that writes every iterate into one array."""

    def iterates(self, problem, rng=None):
        buffer = None
        for it in super().iterates(problem, rng):
            buffer = np.array(it.w) if buffer is None else buffer
            buffer[:] = it.w
            yield Iterate(it.t, buffer)
            buffer[:] = np.nan


def test_direct_statements_take_over_what_is_yielded():
    assert check_statement(ALL["gb.lec.gd.step"], Case(None, Buffers())).verdict == "holds"
