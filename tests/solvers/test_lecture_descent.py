"""Gradient descent and SGD of the lecture, step by step, in every geometry."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from geometry_cases import cases
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from step_checks import steps_hold

from gammabar.problems import DenseProblem
from gammabar.solvers.descent import (
    SGD,
    AcceleratedGradientDescent,
    Losses,
    Quadratic,
    RegularisedLogistic,
    SmoothGradientDescent,
)


@settings(max_examples=100)
@given(hnp.arrays(int, st.integers(1, 4).map(lambda d: (d, d + 1)), elements=st.integers(-4, 4)))
def test_quadratics_know_their_eigenvalues_and_minimum(M):
    """A = MᵀM + I, and its diagonal."""
    A, b = M[:, 1:].T @ M[:, 1:] + np.eye(len(M), dtype=int), M[:, 0]
    for matrix in (A, np.diag(np.diagonal(A))):
        f, every = Quadratic(matrix, b), np.linalg.eigvalsh(matrix)
        assert (f.strong_convexity, f.smoothness) == pytest.approx((every[0], every[-1]))
        assert f.gradient(f.minimiser) == pytest.approx(0, abs=1e-9)
        w = np.arange(len(b)) - 1.0
        assert f.value(w) == pytest.approx(w @ matrix @ w / 2 - b @ w)


@pytest.mark.parametrize(
    ("statement", "solver"),
    [
        *(("gb.lec.gd.step", SmoothGradientDescent(v)) for v in (0.125, 3.0)),
        *(("gb.lec.agd.step", AcceleratedGradientDescent(v)) for v in (0.125, 3.0)),
        ("gb.lec.sgd.step", SGD()),
    ],
)
@settings(max_examples=20, deadline=None)
@given(case=cases())
def test_steps_are_those_printed_on_every_geometry(statement, solver, case):
    if case.problem.radius > 0:
        steps_hold(statement, solver, case.problem)


@settings(max_examples=100)
@given(case=cases(), strength=st.sampled_from([0.125, 1.0, 3.0]))
def test_values_and_gradients_agree(case, strength):
    """Along a line the value rises as the gradient says; terms average to the gradient."""
    problem = case.problem
    f, losses, v = RegularisedLogistic(problem, strength), Losses(problem), problem.origin()
    w = problem.combine(np.arange(problem.n) % 3 - 1.0) / 8
    terms = [losses.term(w, i) for i in range(losses.n)]
    assert max(map(problem.norm, terms)) <= losses.lipschitz * (1 + 1e-12)
    assert sum(terms) / losses.n + strength * w == pytest.approx(f.gradient(w), abs=1e-12)
    v = f.gradient(w) / (1 + f.norm(f.gradient(w)))
    rise = (f.value(w + 1e-5 * v) - f.value(w - 1e-5 * v)) / 2e-5
    slope = f.norm(f.gradient(w)) ** 2 / (1 + f.norm(f.gradient(w)))
    assert rise == pytest.approx(slope, rel=1e-5, abs=1e-7)


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


def test_random_indices_are_uniform_and_repeatable():
    problem = DenseProblem(np.eye(4), np.array([1, -1, 1, -1]))

    def drawn(*rng):
        return [it.extra["index"] for it in islice(SGD().iterates(problem, *rng), 1, 4001)]

    assert drawn() == drawn() != drawn(np.random.default_rng(5))
    counts = np.bincount(drawn(), minlength=4)
    assert ((counts > 850) & (counts < 1150)).all()  # five standard deviations
