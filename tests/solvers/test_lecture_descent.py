"""Gradient descent and SGD of the lecture against the reference, and their theorems."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from reference import lecture

from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    SparseProblem,
)
from gammabar.solvers.descent import (
    SGD,
    AcceleratedGradientDescent,
    Losses,
    Quadratic,
    RegularisedLogistic,
    SmoothGradientDescent,
)

STEPS = 12
TOLERANCE = 1e-11  # both methods contract: errors are a few rounding errors of the largest value
GEOMETRIES = ("dense", "sparse", "linear kernel", "square kernel", "multiclass")


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(150):
        yield


def agree(got, balls):
    wanted = np.array([float(v) for v in balls])
    np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE * max(1.0, abs(wanted).max()))


@st.composite
def quadratics(draw):
    """A = MᵀM + cI, and b."""
    d = draw(st.integers(1, 4))
    whole = st.integers(-4, 4)
    M = draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=1, max_size=d))
    c = draw(st.integers(1, 3))
    A = np.array(M).T @ np.array(M) + c * np.eye(d, dtype=int)
    return A, draw(st.lists(whole, min_size=d, max_size=d))


@st.composite
def points(draw, classes=2, values=5):
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    whole = st.integers(-values, values)
    X = draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=n, max_size=n))
    return np.array(X), np.array(
        draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    )


def build(geometry, X, labels):
    """The problem, its rows in balls, and the map from its w to the space of the rows."""
    y = 2 * (labels % 2) - 1
    rows = [[arb(int(s * v)) for v in x] for x, s in zip(X, y, strict=True)]
    if geometry == "dense":
        return DenseProblem(X, y), rows, None
    if geometry == "sparse":
        return SparseProblem(scipy.sparse.csr_array(X), y), rows, None
    if geometry == "linear kernel":
        return KernelProblem(X, y, Kernel("linear")), rows, rows
    if geometry == "square kernel":
        rows = [[arb(int(s)) * v for v in square_features(x)] for x, s in zip(X, y, strict=True)]
        return KernelProblem(X, y, Kernel("poly", degree=2)), rows, rows
    rows = []
    for x, c in zip(X, labels, strict=True):
        for j in (j for j in range(3) if j != c):
            column = [int(k == c) - int(k == j) for k in range(3)]
            rows.append([arb(int(v)) * s / arb(2).sqrt() for v in x for s in column])
    return MulticlassProblem(X, labels, 3), rows, None


def square_features(x):
    d = len(x)
    return [
        arb(int(x[i] * x[j])) * (1 if i == j else arb(2).sqrt())
        for i in range(d)
        for j in range(i, d)
    ]


def in_space(w, basis):
    """w itself, or Σ_i w_i a_i if w is a vector of coefficients."""
    return w if basis is None else np.array([[float(v) for v in row] for row in basis]).T @ w


# Gradient descent


@settings(max_examples=150)
@given(quadratics())
def test_gradient_descent_on_quadratics_is_that_of_theorem_1(case):
    A, b = case
    f = Quadratic(A, b)
    beta, lam = Fraction(f.smoothness), Fraction(f.strong_convexity)
    exact = [[Fraction(int(v)) for v in row] for row in A]
    gradient = lecture.quadratic_gradient(exact, [Fraction(v) for v in b])
    reference = lecture.descend(gradient, [Fraction(0)] * len(b), beta, lam)
    run = SmoothGradientDescent().iterates(f)
    for t, (it, w) in enumerate(islice(zip(run, reference, strict=False), STEPS)):
        assert it.t == t
        agree(it.w, w)
        agree(it.extra["gradient"], gradient(w))


@settings(max_examples=150)
@given(quadratics())
def test_acceleration_on_quadratics_is_nesterovs(case):
    A, b = case
    f = Quadratic(A, b)
    gradient = lecture.quadratic_gradient(
        [[arb(int(v)) for v in row] for row in A], list(map(arb, b))
    )
    start = [arb(0)] * len(b)
    reference = lecture.accelerate(gradient, start, arb(f.smoothness), arb(f.strong_convexity))
    run = AcceleratedGradientDescent().iterates(f)
    for it, (w, v) in islice(zip(run, reference, strict=False), STEPS):
        agree(it.w, w)
        agree(it.extra["v"], v)
        agree(it.momentum, [a - b for a, b in zip(v, w, strict=True)])
        agree(it.extra["gradient"], gradient(v))


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@settings(max_examples=25)
@given(data=st.data(), strength=st.sampled_from([0.125, 1.0, 3.0]))
def test_logistic_regression_agrees_on_every_geometry(geometry, accelerated, data, strength):
    X, labels = data.draw(points(classes=3 if geometry == "multiclass" else 2))
    problem, rows, basis = build(geometry, X, labels)
    f = RegularisedLogistic(problem, strength)
    method = AcceleratedGradientDescent if accelerated else SmoothGradientDescent
    loop = lecture.accelerate if accelerated else lecture.descend
    gradient = lecture.logistic_gradient(rows, arb(strength))
    reference = loop(gradient, [arb(0)] * len(rows[0]), arb(f.smoothness), arb(strength))
    run = method(regularisation=strength).iterates(problem)
    for it, w in islice(zip(run, reference, strict=False), 8):
        assert it.problem is problem
        w = w[0] if accelerated else w
        agree(in_space(it.w, basis), w)
        value = sum((1 + (-lecture.dot(row, w)).exp()).log() for row in rows) / len(rows)
        agree([f.value(it.w)], [value + arb(strength) / 2 * lecture.dot(w, w)])


def test_the_smoothness_of_logistic_regression_is_attained():
    """One row (3, 4): the curvature at 0 along it is 25/4 + λ, and nowhere more."""
    f = RegularisedLogistic(DenseProblem(np.array([[3, 4]]), np.array([1])), 0.5)
    assert (f.smoothness, f.strong_convexity) == (6.75, 0.5)
    step = 1e-5 * np.array([3, 4])
    change = f.norm(f.gradient(step) - f.gradient(-step)) / f.norm(2 * step)
    assert change == pytest.approx(6.75, rel=1e-6)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_large_scores_do_not_overflow(scale):
    problem = DenseProblem(np.array([[1.0], [-2.0]]) * scale, np.array([1, -1]))
    for method in (SmoothGradientDescent(1e-9), AcceleratedGradientDescent(1e-9)):
        last = next(islice(method.iterates(problem), 300, None))
        assert np.isfinite(last.w).all()


# Stochastic gradient descent


@pytest.mark.parametrize("geometry", GEOMETRIES)
@settings(max_examples=50)
@given(data=st.data())
def test_sgd_agrees_on_every_geometry(geometry, data):
    X, labels = data.draw(points(classes=3 if geometry == "multiclass" else 2))
    problem, rows, basis = build(geometry, X, labels)
    if problem.radius == 0:
        return
    path = tuple(data.draw(st.lists(st.integers(0, problem.n - 1), max_size=8)))
    solver = SGD(horizon=len(path) + 1, distance=1.5, indices=path)
    eta = arb(solver.step(problem.radius))
    reference = lecture.sgd(lecture.logistic_term, rows, [arb(0)] * len(rows[0]), eta, path)
    run = list(solver.iterates(problem))
    assert [it.extra["index"] for it in run] == [None, *path]
    for it, (w, average) in zip(run, reference, strict=True):
        agree(in_space(it.w, basis), w)
        agree(in_space(it.extra["average"], basis), average)


@given(points())
def test_terms_average_to_the_gradient(case):
    X, labels = case
    for geometry in GEOMETRIES:
        problem, rows, basis = build(geometry, X, labels)
        w = problem.combine(np.arange(problem.n) % 3 - 1.0) / 8
        f = Losses(problem)
        mean = sum(f.term(w, i) for i in range(f.n)) / f.n
        lengths = [problem.norm(f.term(w, i)) for i in range(f.n)]
        assert max(lengths) <= f.lipschitz * (1 + 1e-12)
        balls = [arb(float(v)) for v in in_space(w, basis)]
        agree(in_space(mean, basis), lecture.logistic_gradient(rows, arb(0))(balls))


def test_random_indices_are_uniform_and_repeatable():
    problem = DenseProblem(np.eye(4), np.array([1, -1, 1, -1]))
    drawn = [it.extra["index"] for it in islice(SGD().iterates(problem), 1, 4001)]
    again = [it.extra["index"] for it in islice(SGD().iterates(problem), 1, 4001)]
    assert drawn == again
    counts = np.bincount(drawn, minlength=4)
    assert ((counts > 850) & (counts < 1150)).all()  # five standard deviations
    other = [
        it.extra["index"]
        for it in islice(SGD().iterates(problem, np.random.default_rng(5)), 1, 4001)
    ]
    assert other != drawn


def test_scores_of_any_size():
    problem = DenseProblem(np.array([[1e3], [2e3]]), np.array([1, -1]))
    solver = SGD(horizon=1, distance=1e6, indices=(0, 1, 0, 0, 1))
    assert all(np.isfinite(it.w).all() for it in solver.iterates(problem))
