"""The large plan: the headline statements at every iterate on the full data sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import Statement
from gammabar.problems import load
from gammabar.solvers import (
    BatchPerceptron,
    DualAcceleration,
    NormalizedBatchPerceptron,
    NormalizedGradientDescent,
)

pytestmark = pytest.mark.slow


def about(name: str, unit: bool) -> list[Statement]:
    """The statements about a solver that one run can be heard for, and that are to hold."""
    return [
        s
        for s in load_statements().values()
        if name in s.solvers and s.about_runs and s.status == "holds" and s.unit is unit
    ]


@pytest.mark.parametrize(
    ("data", "loss"),
    [
        ("mnist:0,1", "exponential"),
        ("mnist:0,1", "logistic"),
        ("mnist:3,5", "exponential"),
        ("fashion:0,4", "exponential"),
    ],
)
def test_algorithm_1(shared_data: Path, data: str, loss: str):
    case = Case(load(data), DualAcceleration(loss=loss), unit=True, name=data)
    verdicts = check_run(case, about("dual-acceleration", True), 200, most=1000)
    # A bound on the number of steps may allow more of them than are heard here.
    undecided = {v.statement for v in verdicts if v.reason.startswith("the run ended")}
    bad = [v for v in verdicts if v.verdict not in ("holds", "inapplicable")]
    assert {v.statement for v in bad} <= undecided, bad
    least = 8 if case.separable and loss == "exponential" else 3
    assert sum(v.verdict == "holds" for v in verdicts) >= least


def test_normalized_gradient_descent(shared_data: Path):
    case = Case(load("mnist:0,1"), NormalizedGradientDescent(), unit=True)
    verdicts = check_run(case, about("normalized-gradient-descent", True), 100)
    assert {v.verdict for v in verdicts} <= {"holds", "inapplicable"}


@pytest.mark.parametrize("solver", [BatchPerceptron, NormalizedBatchPerceptron])
def test_perceptrons_separate_mnist_in_time(shared_data: Path, solver: type):
    name = solver.card.name
    case = Case(load("mnist:0,1"), solver())
    verdicts = check_run(case, about(name, False), 200)
    assert {v.verdict for v in verdicts} <= {"holds", "inapplicable"}
    assert any(v.verdict == "holds" for v in verdicts)
