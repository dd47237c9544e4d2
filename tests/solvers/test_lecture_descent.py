"""Gradient descent and SGD of the lecture against the reference, in every geometry."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from geometry_cases import balls, cases, close
from hypothesis import given, settings, strategies as st
from reference import lecture

from gammabar.problems import DenseProblem
from gammabar.solvers.descent import (
    SGD,
    AcceleratedGradientDescent,
    Losses,
    Quadratic,
    RegularisedLogistic,
    SmoothGradientDescent,
)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(150):
        yield


def agree(got, wanted):
    """Both methods contract: errors are a few rounding errors of the largest value."""
    close(got, wanted, 1e-11 * max(1.0, *(abs(float(v)) for v in wanted)))


@st.composite
def quadratics(draw):
    """A = MᵀM + cI, and b."""
    d = draw(st.integers(1, 4))
    whole = st.integers(-4, 4)
    M = draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=1, max_size=d))
    A = np.array(M).T @ np.array(M) + draw(st.integers(1, 3)) * np.eye(d, dtype=int)
    return A, np.array(draw(st.lists(whole, min_size=d, max_size=d)))


@settings(max_examples=150)
@given(quadratics())
def test_gradient_descent_on_quadratics_is_that_of_the_texts(case):
    f = Quadratic(*case)
    A, b = map(balls, case)

    def gradient(w):
        return A @ w - b

    beta, lam = arb(f.smoothness), arb(f.strong_convexity)
    wanted = lecture.descend(gradient, 0 * b, beta, lam)
    run = islice(SmoothGradientDescent().iterates(f), 12)
    for t, (it, w) in enumerate(zip(run, wanted, strict=False)):
        assert it.t == t
        agree(it.w, w)
        agree(it.extra["gradient"], gradient(w))
    wanted = lecture.accelerate(gradient, 0 * b, beta, lam)
    run = islice(AcceleratedGradientDescent().iterates(f), 12)
    for it, (w, v) in zip(run, wanted, strict=False):
        agree(it.w, w)
        agree(it.extra["v"], v)
        agree(it.momentum, v - w)
        agree(it.extra["gradient"], gradient(v))


@pytest.mark.parametrize("accelerated", [False, True])
@settings(max_examples=100)
@given(case=cases(), strength=st.sampled_from([0.125, 1.0, 3.0]))
def test_logistic_regression_agrees_on_every_geometry(accelerated, case, strength):
    (rows, metric), problem = case.balls(), case.problem
    f = RegularisedLogistic(problem, strength)
    method = AcceleratedGradientDescent if accelerated else SmoothGradientDescent
    loop = lecture.accelerate if accelerated else lecture.descend
    gradient = lecture.logistic_gradient(rows, arb(strength), metric)
    reference = loop(gradient, 0 * rows[0], arb(f.smoothness), arb(strength))
    run = method(regularisation=strength).iterates(problem)
    for it, w in zip(islice(run, 8), reference, strict=False):
        assert it.problem is problem
        w = w[0] if accelerated else w
        agree(it.w, w)
        seen = w if metric is None else metric @ w
        value = sum((1 + (-s).exp()).log() for s in rows @ seen) / len(rows)
        agree([f.value(it.w)], [value + arb(strength) / 2 * (w @ seen)])


def test_the_smoothness_of_logistic_regression_is_attained():
    """One row (3, 4): the curvature at 0 along it is 25/4 + λ, and nowhere more."""
    f = RegularisedLogistic(DenseProblem(np.array([[3, 4]]), np.array([1])), 0.5)
    assert (f.smoothness, f.strong_convexity) == (6.75, 0.5)
    step = 1e-5 * np.array([3, 4])
    change = f.norm(f.gradient(step) - f.gradient(-step)) / f.norm(2 * step)
    assert change == pytest.approx(6.75, rel=1e-6)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_scores_of_any_size(scale):
    problem = DenseProblem(np.array([[1.0], [-2.0]]) * scale, np.array([1, -1]))
    for method in (SmoothGradientDescent(1e-9), AcceleratedGradientDescent(1e-9)):
        assert np.isfinite(next(islice(method.iterates(problem), 300, None)).w).all()
    problem = DenseProblem(np.array([[1e3], [2e3]]), np.array([1, -1]))
    solver = SGD(horizon=1, distance=1e6, indices=(0, 1, 0, 0, 1))
    assert all(np.isfinite(it.w).all() for it in solver.iterates(problem))


@settings(max_examples=200)
@given(case=cases(), data=st.data())
def test_sgd_agrees_on_every_geometry(case, data):
    (rows, metric), problem = case.balls(), case.problem
    if problem.radius == 0:
        return

    def term(i, w):
        return lecture.logistic_term(rows, i, w, metric)

    path = tuple(data.draw(st.lists(st.integers(0, problem.n - 1), max_size=8)))
    solver = SGD(horizon=len(path) + 1, distance=1.5, indices=path)
    reference = lecture.sgd(term, 0 * rows[0], arb(solver.step(problem.radius)), path)
    run = list(solver.iterates(problem))
    assert [it.extra["index"] for it in run] == [None, *path]
    for it, (w, average) in zip(run, reference, strict=True):
        agree(it.w, w)
        agree(it.extra["average"], average)
    # Terms average to the gradient, and none is longer than ρ.
    f, w = Losses(problem), problem.combine(np.arange(problem.n) % 3 - 1.0) / 8
    terms = [f.term(w, i) for i in range(f.n)]
    assert max(map(problem.norm, terms)) <= f.lipschitz * (1 + 1e-12)
    mean = lecture.logistic_gradient(rows, arb(0), metric)(balls(w))
    agree(sum(terms) / f.n, mean)


def test_random_indices_are_uniform_and_repeatable():
    problem = DenseProblem(np.eye(4), np.array([1, -1, 1, -1]))

    def drawn(*rng):
        return [it.extra["index"] for it in islice(SGD().iterates(problem, *rng), 1, 4001)]

    assert drawn() == drawn() != drawn(np.random.default_rng(5))
    counts = np.bincount(drawn(), minlength=4)
    assert ((counts > 850) & (counts < 1150)).all()  # five standard deviations
