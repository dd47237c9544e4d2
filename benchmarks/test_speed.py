"""A few timings with pytest-benchmark, to compare two states of the working tree by hand.

``pytest benchmarks/ --benchmark-only --benchmark-autosave`` keeps the numbers of a state, and
``pytest benchmarks/ --benchmark-only --benchmark-compare`` shows those of the next beside them.
"""

from __future__ import annotations

from itertools import islice

import pytest

from benchmarks.common import KNOWN, iterations_until, loaded, never, problem_of, stepper, within
from gammabar import MaxMarginClassifier
from gammabar.oracle import solve
from gammabar.solvers import SNKP, AdaBoost, AdaptiveSampling, DualAcceleration


@pytest.mark.parametrize("geometry", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("size", [(2_000, 50), (20_000, 50)], ids=str)
def test_step_of_dual_acceleration(benchmark, size, geometry):
    benchmark(stepper(DualAcceleration(), problem_of(geometry, *size)))


def test_step_in_a_kernel_space(benchmark):
    benchmark(stepper(DualAcceleration(), problem_of("kernel", 500, 20)))


def test_certified_gap(benchmark):
    problem = loaded(KNOWN).unit()
    assert benchmark(iterations_until, DualAcceleration(), problem, within(0.99)) > 0


def test_classifier(benchmark):
    problem = loaded("digits:3,8")
    model = benchmark(
        MaxMarginClassifier(solver="dual-acceleration", tol=0.2).fit, problem.X, problem.y
    )
    assert model.separable_


def test_sampling(benchmark):
    problem = loaded(KNOWN).unit()
    benchmark(lambda: list(islice(AdaptiveSampling().iterates(problem), 30)))


def test_separation_by_the_smoothed_perceptron(benchmark):
    assert benchmark(iterations_until, SNKP(), loaded("digits:3,8").unit(), never) > 0


def test_round_of_boosting(benchmark):
    benchmark(stepper(AdaBoost(), loaded("digits:3,8")))


@pytest.mark.parametrize("name", ["digits:3,8", "iris:0,1", "inseparable:n=500,d=20,seed=0"])
def test_oracle(benchmark, name):
    truth = benchmark(solve, loaded(name))
    assert truth.separable == (not name.startswith("inseparable"))
