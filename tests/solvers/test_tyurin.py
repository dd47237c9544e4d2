"""Tyurin's methods against their literal reference, in every geometry; the corners."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest
from flint import ctx
from geometry_cases import ball, balls, cases, close, compare, halt, run
from hypothesis import given, settings, strategies as st

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
    (LogisticRegressionGD, reference.lr_gd),
    (NormalizedLogisticRegressionGD, reference.normalized_lr_gd),
]


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(300):
        yield


def observed_sets(iterates, slack):
    """Scores with the signs that the solver saw: the exact ones, except within the slack of 0."""

    def signs(t, values):
        seen = iterates[t].extra.get("scores", iterates[t].scores) > 0
        bound = Fraction(slack) * (1 + max(map(abs, values)))
        for right, value in zip(seen, values, strict=True):
            assert right == (value > 0) or abs(value) <= bound
        return np.array([Fraction(1 if right else -1) for right in seen])

    return signs


@settings(max_examples=250)
@given(cases())
def test_batch_perceptrons_are_the_text(case):
    iterates = run(BatchPerceptron(), case.problem)
    signs = observed_sets(iterates, 0 if case.exact else 1e-12)
    exact = reference.iterates(
        lambda t, s: reference.batch_perceptron(t, signs(t, s) if t else s), case.rows, case.metric
    )
    compare(iterates, exact, lambda it, theta: case.same(it.w, theta, 0), STEPS)
    means = run(NormalizedBatchPerceptron(), case.problem)
    seen = observed_sets(means, 1e-12)
    exact = reference.iterates(
        lambda t, s: reference.normalized_batch_perceptron(t, seen(t, s)), case.rows, case.metric
    )
    compare(means, exact, lambda it, theta: case.same(it.w, theta), STEPS)
    for it in means:
        S = ~(it.scores > 0)
        assert not S.any() or it.dual.tolist() == (S / S.sum()).tolist()


@pytest.mark.parametrize("choice", CHOICES)
@settings(max_examples=200)
@given(case=cases(), seed=st.integers(0, 2**32))
def test_perceptron_is_the_text(choice, case, seed):
    iterates = run(Perceptron(choice), case.problem, rng=np.random.default_rng(seed))
    signs = observed_sets(iterates, 0 if case.exact else 1e-12)

    def choose(t, values):
        S = np.flatnonzero(signs(t, values) <= 0).tolist()
        if not S:
            return 0 * values
        j, last = iterates[t].extra["i"], iterates[t - 1].extra["i"] if t else -1
        assert j in S
        if choice == "first":
            assert j == S[0]
        elif choice == "cyclic":
            assert j == min(S, key=lambda i: (i <= last, i))
        elif choice == "worst" and case.exact:
            assert j == values.tolist().index(min(values))
        elif choice == "worst":
            assert values[j] - min(values) <= 1e-12 * (1 + max(map(abs, values)))
        return np.array([Fraction(i == j) for i in range(len(values))])

    exact = reference.iterates(choose, case.rows, case.metric)
    compare(iterates, exact, lambda it, theta: case.same(it.w, theta, 0), STEPS)


def test_the_random_choice_takes_every_misclassified_row_and_follows_the_generator():
    problem = DenseProblem(np.eye(4), np.ones(4))

    def rows(*seed):
        rng = np.random.default_rng(*seed) if seed else None
        return [it.extra.get("i") for it in run(Perceptron("random"), problem, rng=rng)]

    assert {rows(seed)[0] for seed in range(100)} == {0, 1, 2, 3}
    assert rows(7) == rows(7)
    assert rows() == rows(0)


@pytest.mark.parametrize(("solver", "rule"), GRADIENT)
@settings(max_examples=200)
@given(case=cases(), step=st.sampled_from((1e-3, 0.1, 1.0, 10.0, 1e3, 1e6)))
def test_gradient_steps_are_the_text_for_steps_of_any_size(solver, rule, case, step):
    rows, metric = case.balls()
    largest = float(abs(case.rows).max())
    iterates = run(solver(step), case.problem, 6)
    assert not iterates[0].w.any()
    for now, after in pairwise(iterates):
        theta = balls(now.w)
        s = reference.scores(rows, theta, metric)
        # A score errs by rounding relative to its terms. Its σ errs by a quarter of that, and
        # σ_i / Σ σ relatively by twice that.
        off = 2e-14 * case.size(now.w) + 1e-14
        bound = step * largest * off + 1e-15 * np.abs(after.w).max()
        close(after.w, theta + rule(0, s, ball(step)) @ rows, bound)
        sigma = reference.sigma(s)
        close(now.dual, sigma / sigma.sum(), off)
        if solver is LogisticRegressionGD:
            close(now.extra["gradient"], -reference.lr_gd(0, s, 1) @ rows, largest * off)
        else:
            log_beta = (len(rows) / sigma.sum()).log()
            close([now.extra["log_beta"]], [log_beta], off + 1e-13)


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
