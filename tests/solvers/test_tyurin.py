"""Tyurin's methods against their literal reference, in every geometry, and against his numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from perceptron_cases import ball, cases, dyadic

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


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def run(solver, problem, steps=STEPS, rng=None):
    return list(islice(solver.iterates(problem, rng), steps + 1))


def ended(iterates):
    """Halted, and only at the last iterate."""
    assert not any("halt" in it.extra for it in iterates[:-1])
    return iterates[-1].extra.get("halt") == "separated"


def carried(iterate):
    """The scores by which the solver decided."""
    return iterate.extra.get("scores", iterate.scores)


def observed_sets(iterates, slack):
    """Scores with the signs that the solver saw: the exact ones, except within the slack of 0."""

    def wrong(t, values):
        seen = set(np.flatnonzero(~(carried(iterates[t]) > 0)).tolist())
        bound = Fraction(slack) * (1 + max(abs(v) for v in values))
        for i, value in enumerate(values):
            assert (i in seen) == (value <= 0) or abs(value) <= bound
        return np.array([Fraction(-1 if i in seen else 1) for i in range(len(values))])

    return wrong


def compare(iterates, exact, same, steps=STEPS):
    """Same number of iterates, same vectors."""
    wanted = list(islice(exact, len(iterates)))
    assert len(wanted) == len(iterates)
    for t, (it, theta) in enumerate(zip(iterates, wanted, strict=True)):
        assert it.t == t
        same(it.w, theta)
    assert ended(iterates) or len(iterates) == steps + 1
    if ended(iterates):
        assert next(exact, None) is None


@settings(max_examples=250)
@given(cases())
def test_batch_perceptron_is_the_text(case):
    iterates = run(BatchPerceptron(), case.problem)
    wrong = observed_sets(iterates, 0 if case.exact else 1e-12)
    exact = reference.iterates(
        lambda t, s: reference.batch_perceptron(t, wrong(t, s) if t else s), case.rows, case.metric
    )
    compare(iterates, exact, lambda w, theta: case.same(w, theta, 0))


@settings(max_examples=250)
@given(cases())
def test_normalized_batch_perceptron_is_the_text(case):
    iterates = run(NormalizedBatchPerceptron(), case.problem)
    wrong = observed_sets(iterates, 1e-12)
    exact = reference.iterates(
        lambda t, s: reference.normalized_batch_perceptron(t, wrong(t, s)), case.rows, case.metric
    )
    compare(iterates, exact, case.same)
    for it in iterates:
        S = ~(it.scores > 0)
        if S.any():
            assert it.dual.tolist() == (S / S.sum()).tolist()


@pytest.mark.parametrize("choice", CHOICES)
def test_perceptron_is_the_text(choice):
    @settings(max_examples=200)
    @given(cases(), st.integers(0, 2**32))
    def check(case, seed):
        iterates = run(Perceptron(choice), case.problem, rng=np.random.default_rng(seed))
        wrong = observed_sets(iterates, 0 if case.exact else 1e-12)
        last = -1

        def choose(t, values):
            nonlocal last
            S = np.flatnonzero(wrong(t, values) <= 0).tolist()
            if not S:
                return 0 * values
            j, values = iterates[t].extra["i"], values.tolist()
            assert j in S
            if choice == "first":
                assert j == S[0]
            elif choice == "cyclic":
                assert j == min(S, key=lambda i: (i <= last, i))
            elif choice == "worst" and case.exact:
                assert j == values.index(min(values))
            elif choice == "worst":
                assert values[j] - min(values) <= 1e-12 * (1 + max(map(abs, values)))
            last = j
            return np.array([Fraction(i == j) for i in range(len(values))])

        exact = reference.iterates(choose, case.rows, case.metric)
        compare(iterates, exact, lambda w, theta: case.same(w, theta, 0))

    check()


def test_the_random_choice_takes_every_misclassified_row_and_follows_the_generator():
    problem = DenseProblem(np.eye(4), np.ones(4))

    def first(seed):
        return next(Perceptron("random").iterates(problem, np.random.default_rng(seed))).extra["i"]

    assert {first(seed) for seed in range(100)} == {0, 1, 2, 3}
    assert [first(7) for _ in range(3)] == [first(7)] * 3
    two = [[it.extra.get("i") for it in run(Perceptron("random"), problem)] for _ in range(2)]
    assert two[0] == two[1]


@pytest.mark.parametrize("normalised", [False, True])
def test_gradient_steps_are_the_text_for_steps_of_any_size(normalised):
    solver = NormalizedLogisticRegressionGD if normalised else LogisticRegressionGD
    rule = reference.normalized_lr_gd if normalised else reference.lr_gd

    @settings(max_examples=200)
    @given(cases(), st.sampled_from((1e-3, 0.1, 1.0, 10.0, 1e3, 1e6)))
    def check(case, step):
        rows, metric = case.balls()
        largest = max(abs(float(v)) for row in case.rows for v in row)
        iterates = run(solver(step), case.problem, 6)
        assert not iterates[0].w.any()
        for now, after in pairwise(iterates):
            theta = np.array([ball(v) for v in dyadic(now.w)])
            s = reference.scores(rows, theta, metric)
            wanted = theta + rule(0, s, ball(step)) @ np.array(rows)
            # A score errs by rounding relative to its terms. Its σ errs by a quarter of that, and
            # σ_i / Σ σ relatively by twice that.
            score = 1e-14 * case.size(now.w)
            bound = step * largest * (2 * score + 1e-14) + 1e-15 * np.abs(after.w).max()
            for got, value in zip(after.w, wanted, strict=True):
                assert abs(ball(got) - value) <= bound
            sigma = reference.sigma(s)
            total = sigma.sum()
            if normalised:
                log_beta = (len(rows) / total).log()
                assert abs(ball(now.extra["log_beta"]) - log_beta) <= 2 * score + 1e-13
            else:
                gradient = -reference.lr_gd(0, s, 1) @ np.array(rows)
                for got, value in zip(now.extra["gradient"], gradient, strict=True):
                    assert abs(ball(got) - value) <= largest * (2 * score + 1e-14)
            for got, value in zip(now.dual, sigma, strict=True):
                assert abs(ball(got) - value / total) <= 2 * score + 1e-14

    check()


@settings(max_examples=200)
@given(cases(), st.sampled_from((0.01, 0.05)), st.booleans())
def test_gradient_trajectories_are_the_text(case, step, normalised):
    solver = NormalizedLogisticRegressionGD if normalised else LogisticRegressionGD
    rule = reference.normalized_lr_gd if normalised else reference.lr_gd
    rows, metric = case.balls()
    theta = np.array([arb(0)] * len(rows[0]))
    for it in run(solver(step), case.problem, 8):
        size = 1 + np.abs(it.w).max()
        for got, value in zip(it.w, theta, strict=True):
            assert abs(ball(got) - value) <= 1e-9 * size
        s = reference.scores(rows, theta, metric)
        theta = theta + rule(0, s, ball(step)) @ np.array(rows)


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
def test_one_row_is_solved_by_one_step(solver):
    iterates = list(solver.iterates(from_arrays([[3.0, -4.0]], [-1])))
    assert [it.t for it in iterates] == [0, 1]
    assert ended(iterates)
    half = 0.5 if isinstance(solver, BatchPerceptron) else 1.0
    assert iterates[1].w.tolist() == [-3.0 * half, 4.0 * half]


@pytest.mark.parametrize("solver", PERCEPTRONS, ids=str)
def test_a_zero_row_can_not_be_classified(solver):
    """Its score is 0, which is not positive."""
    iterates = run(solver, from_arrays([[0.0, 0.0], [1.0, 0.0]], [-1, 1]), 50)
    assert len(iterates) == 51
    assert not ended(iterates)
