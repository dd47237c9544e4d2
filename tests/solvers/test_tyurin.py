"""Tyurin's methods, step by step, in every geometry; the corners."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import pytest
from geometry_cases import cases, compare, floats, halt, run
from hypothesis import given, settings, strategies as st
from scipy.special import log_expit
from step_checks import steps_hold

from gammabar.papers.tyurin_2024 import reference
from gammabar.problems import DenseProblem, from_arrays
from gammabar.solvers.tyurin import (
    CHOICES,
    BatchPerceptron,
    LogisticRegressionGD,
    NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD,
    Perceptron,
)

STEPS = 8
PERCEPTRONS = [BatchPerceptron(), NormalizedBatchPerceptron(), *map(Perceptron, CHOICES)]
GRADIENT = [
    method(step)
    for method in (LogisticRegressionGD, NormalizedLogisticRegressionGD)
    for step in (1e-3, 0.1, 1.0, 10.0, 1e3, 1e6)
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([*PERCEPTRONS, *GRADIENT]), cases(), st.integers(0, 2**32))
def test_steps_are_those_printed(solver, case, seed):
    steps_hold(f"gb.tyurin.{solver.card.name}.step", solver, case.problem, 6, seed)


@settings(max_examples=200)
@given(cases())
def test_whole_numbers_are_added_up_without_rounding(case):
    if case.exact and case.metric is None:
        exact = reference.iterates(reference.batch_perceptron, case.rows)
        iterates = run(BatchPerceptron(), case.problem)
        compare(
            iterates, exact, lambda it, w: np.testing.assert_array_equal(it.w, floats(w)), STEPS
        )
    for it in run(NormalizedBatchPerceptron(), case.problem):
        S = ~(it.scores > 0)
        assert not S.any() or it.dual.tolist() == (S / S.sum()).tolist()


@pytest.mark.parametrize("choice", CHOICES)
@settings(max_examples=100)
@given(case=cases(), seed=st.integers(0, 2**32))
def test_the_perceptron_chooses_as_it_says(choice, case, seed):
    last = -1
    for it in run(Perceptron(choice), case.problem, rng=np.random.default_rng(seed)):
        if "i" not in it.extra:
            continue
        j, scores = it.extra["i"], it.extra["scores"]
        S = np.flatnonzero(~(scores > 0)).tolist()
        assert j in S
        cyclic = min(S, key=lambda i: (i <= last, i))
        chosen = {"first": S[0], "cyclic": cyclic, "worst": int(np.argmin(scores)), "random": j}
        assert j == chosen[choice]
        last = j


@settings(max_examples=200)
@given(case=cases(), solver=st.sampled_from(GRADIENT))
def test_what_gradient_steps_tell(case, solver):
    for now, after in pairwise(run(solver, case.problem, 6)):
        log_sigma = log_expit(-now.scores)
        total = float(np.logaddexp.reduce(log_sigma))
        assert now.dual == pytest.approx(np.exp(log_sigma - total), rel=1e-9, abs=1e-300)
        if "gradient" in now.extra:
            np.testing.assert_array_equal(after.w, now.w - solver.step * now.extra["gradient"])
        else:
            log_beta = math.log(len(log_sigma)) - total
            assert now.extra["log_beta"] == pytest.approx(log_beta, rel=1e-9, abs=1e-12)
            assert now.extra["pull"] == pytest.approx(case.problem.combine(now.dual), rel=1e-12)


def test_the_random_choice_takes_every_misclassified_row_and_follows_the_generator():
    problem = DenseProblem(np.eye(4), np.ones(4))

    def rows(*seed):
        rng = np.random.default_rng(*seed) if seed else None
        return [it.extra.get("i") for it in run(Perceptron("random"), problem, rng=rng)]

    assert {rows(seed)[0] for seed in range(100)} == {0, 1, 2, 3}
    assert rows(7) == rows(7)
    assert rows() == rows(0)


def test_no_step_and_no_score_is_too_large():
    problem = from_arrays([[1e6, 3e5], [-2e5, 7e5], [3e5, -9e5]], [1, -1, 1])
    with np.errstate(all="raise", under="ignore"):
        for solver in (LogisticRegressionGD(1e6), NormalizedLogisticRegressionGD(1e6)):
            for it in run(solver, problem, 50):
                assert np.isfinite(it.w).all()
                assert it.dual.sum() == pytest.approx(1)
                assert np.isfinite(list(it.extra.get("pull", it.w))).all()
            assert it.smallest > 0


def test_normalised_steps_have_full_length_where_every_sigma_underflows():
    """All scores are about 1e12, so σ = 0 in floats; the direction is that of the nearest row."""
    problem = from_arrays([[1.0, 0.0], [-2.0, 0.0]], [1, -1])
    first, second = islice(NormalizedLogisticRegressionGD(1e12).iterates(problem), 1, 3)
    assert second.w - first.w == pytest.approx([1e12, 0.0])
    assert first.extra["log_beta"] == pytest.approx(1.5e12 + math.log(2))


@pytest.mark.parametrize("solver", PERCEPTRONS, ids=str)
def test_one_row_is_solved_by_one_step_and_a_zero_row_never(solver):
    iterates = run(solver, from_arrays([[3.0, -4.0]], [-1]))
    assert ([it.t for it in iterates], halt(iterates)) == ([0, 1], "separated")
    half = 0.5 if isinstance(solver, BatchPerceptron) else 1.0
    assert iterates[1].w.tolist() == [-3.0 * half, 4.0 * half]
    iterates = run(solver, from_arrays([[0.0, 0.0], [1.0, 0.0]], [-1, 1]), 50)
    assert (len(iterates), halt(iterates)) == (51, None)
