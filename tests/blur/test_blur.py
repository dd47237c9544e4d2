"""With larger error bounds no wrong solver passes; and a check that lets one pass is found out."""

from __future__ import annotations

import sys

import pytest

from blur.blurred import ROOTS, Tally, blurred, judge, main
from gammabar.harness.registry import load_statements
from gammabar.harness.verify import numbers, numbers as relation
from gammabar.problems import rounding

#: A wrong solver of each kind, and a problem on which it is refuted.
SOME = [
    ("accelerated-gradient-descent/gradient-at-w", ""),
    ("adaboost/weights-ignored", ""),
    ("batch-perceptron/first-step-not-divided", "planted:n=4,d=3,gamma=0.05,seed=15"),
    ("dual-acceleration/no-momentum", "iris:0,1"),
    ("lr-gd/", "iris:0,1 --kernel rbf:gamma=1"),
    ("nkp/", "iris:0,1 --kernel poly:degree=2,coef0=1"),
    ("normalized-lr-gd/", "iris:0,1 --kernel rbf:gamma=1"),
    ("nvn/", "gaussian:n=30,d=4,seed=3"),
    ("perceptron/", "iris:0,1"),
    ("sgd/", ""),
    ("snkp/", "iris:0,1"),
    ("snkpvn/", "gaussian:n=50,d=5,seed=1,separable=1"),
]


def chosen(part: str, problem: str) -> str:
    """The first wrong solver of that kind which some statement refutes on the problem."""
    from gammabar.harness import registry

    found = registry.matrix()
    return next(
        name
        for name in sorted(found)
        if name.startswith(part) and any(problem in where for where in found[name].values())
    )


@pytest.mark.full
@pytest.mark.parametrize(("part", "problem"), SOME)
def test_no_wrong_solver_passes(part: str, problem: str) -> None:
    tally = Tally()
    judge(chosen(part, problem), problem, tally, (26, 40, 47, 50))
    assert not tally.faults, "\n".join(tally.faults)
    assert sum(counts.total() for counts in tally.said.values()) > 0
    assert tally.said[50]["undecided"] or tally.said[50]["refuted"]


def test_an_allowance_that_may_be_anything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "COARSE", 1e300)
    tally = Tally()
    for part, problem in SOME:
        judge(chosen(part, problem), problem, tally, (47, 50))
        if tally.faults:
            break
    assert tally.faults, "no fault was found"


def test_a_bound_that_is_widened_by_anything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "COARSE", 1e9)
    tally = Tally()
    judge("adaboost/weights-ignored", "", tally, (44, 50))
    assert tally.faults


def test_bounds_are_blurred_everywhere_and_restored() -> None:
    load_statements()  # whichever test is the first
    before = numbers.ROUNDOFF, rounding.U
    with blurred(10) as places:
        assert (before[0] * 1024, before[1] * 1024) == (numbers.ROUNDOFF, rounding.U)
        seen = [vars(m).get("ROUNDOFF") for n, m in sys.modules.items() if n.startswith(ROOTS)]
        assert {v for v in seen if v is not None} == {2.0**-43}
    assert before == (numbers.ROUNDOFF, rounding.U)
    assert places > 20


@pytest.mark.slow
def test_no_wrong_solver_passes_at_all() -> None:
    assert main([]) == 0
