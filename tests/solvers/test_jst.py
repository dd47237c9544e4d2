"""The solvers of Ji, Srebro and Telgarsky (2021), iterate by iterate, against interval arithmetic.

Data are small dyadic numbers with rows of norm below one, so that they are exact in both; there
the methods do not amplify rounding errors. A float agrees if the whole ball of the reference lies
within 1e-9 (1 + ‖w‖) of it, which is decided rigorously.
"""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
import scipy.sparse
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.papers.ji_srebro_telgarsky_2021 import algorithms as jst
from gammabar.problems import DenseProblem, Kernel, KernelProblem, MulticlassProblem, SparseProblem
from gammabar.solvers.ji_srebro_telgarsky import (
    AdaptiveSampling,
    DualAcceleration,
    DualForm,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
)

BITS = 160
STEPS = 9
LOSSES = ("exponential", "logistic")
many = settings(max_examples=200)


class Uniforms:
    """A generator that returns given numbers."""

    def __init__(self, values):
        self.values = iter(values)

    def random(self):
        return next(self.values)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(BITS):
        yield


def inside(got, wanted, size=0.0):
    """Every float is certainly within 1e-9 (1 + size) of its ball."""
    tolerance = arb(1e-9) * (1 + arb(size))
    assert len(got) == len(wanted)
    for value, ball in zip(got, wanted, strict=True):
        assert abs(arb(float(value)) - ball) < tolerance, (value, ball)


def length(w):
    return float(np.linalg.norm(w))


def run(solver, problem, steps=STEPS, rng=None):
    return list(islice(solver.iterates(problem, rng), steps))


def binary(X, y, unit=False):
    """z_i = −y_i x_i, divided by the largest norm if asked for."""
    rows = jst.vector(X) * -np.array([int(v) for v in y], dtype=object)[:, None]
    return jst.explicit(rows / radius(jst.explicit(rows)) if unit else rows)


def several(X, labels, k):
    """Section 5.2, with the sign that its own Section 2 asks for: −x (e_c − e_j)ᵀ/√2."""
    pairs = [(x, c, j) for x, c in zip(X, labels, strict=True) for j in range(k) if j != c]
    e = np.eye(k, dtype=int)
    rows = [jst.vector(np.outer(x, e[j] - e[c]).ravel()) for x, c, j in pairs]
    return jst.explicit(np.array(rows, dtype=object) / arb(2).sqrt())


def rbf(X, y, gamma):
    """The Gaussian kernel."""
    points, signs = jst.vector(X), [int(v) for v in y]
    apart = [[((a - b) @ (a - b) * -arb(gamma)).exp() for b in points] for a in points]
    return jst.feature(np.array(apart, dtype=object) * np.outer(signs, signs).astype(object))


def radius(space):
    """The largest norm of a row; ‖z_i‖² = (Z Zᵀ e_i)_i."""
    largest = arb(0)
    for i in range(space.n):
        e = jst.basis(space.n, i)
        largest = largest.max(space.times(space.adjoint(e))[i].sqrt())
    return largest


@st.composite
def spaces(draw):
    """A problem of any geometry, and the same for the reference."""
    d = draw(st.integers(1, 3))
    n = draw(st.integers(1, 6))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(-8, 8))) / 16
    geometry = draw(st.sampled_from(("dense", "sparse", "unit", "kernel", "multiclass")))
    if geometry == "multiclass":
        k = draw(st.integers(2, 4))
        labels = draw(hnp.arrays(int, n, elements=st.integers(0, k - 1)))
        points = scipy.sparse.csr_array(X) if draw(st.booleans()) else X
        return MulticlassProblem(points, labels, k), several(X, labels, k)
    y = draw(hnp.arrays(int, n, elements=st.sampled_from((-1, 1))))
    if geometry == "kernel":
        gamma = draw(st.sampled_from((0.5, 4.0)))
        return KernelProblem(X, y, Kernel("rbf", gamma=gamma)), rbf(X, y, gamma)
    if geometry == "sparse":
        return SparseProblem(scipy.sparse.csr_array(X), y), binary(X, y)
    if geometry == "unit" and X.any():
        return DenseProblem(X, y).unit(), binary(X, y, unit=True)
    return DenseProblem(X, y), binary(X, y)


uniforms = st.lists(st.floats(0, 1, exclude_max=True), min_size=STEPS, max_size=STEPS)


@pytest.mark.parametrize("loss", LOSSES)
def test_momentum_form(loss):
    @many
    @given(spaces(), st.sampled_from((0.25, 1.0)), st.booleans())
    def check(case, step, analysed):
        problem, space = case
        rho = problem.n if loss == "logistic" and analysed else 1
        solver = DualAcceleration(step, loss, None if analysed else 1.0)
        assert solver.rho(problem.n) == rho
        wanted = islice(jst.algorithm1(space, arb(step), loss, rho), STEPS)
        for it, state in zip(run(solver, problem), wanted, strict=True):
            size = length(it.w)
            inside(it.w, state.w, size)
            inside(it.momentum, -state.g, size)
            inside(it.weights, state.q)
            inside(it.scores, -space.times(state.w), size)

    check()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mixing", ["accelerated", "plain", "general"])
def test_dual_form(loss, mixing):
    def general_lambda(t):
        return (1.0, 0.75, 0.5, 0.625)[t % 4]

    def general_theta(t):
        return (1.0, 0.5)[t % 2]

    lam, theta, solver = {
        "accelerated": (lambda t: arb(2) / (t + 2), lambda t: arb(1), DualForm(loss=loss)),
        "plain": (lambda t: arb(1), lambda t: arb(0.5), DualForm(1.0, 0.5, loss)),
        "general": (
            lambda t: arb(general_lambda(t)),
            lambda t: arb(general_theta(t)),
            DualForm(general_lambda, general_theta, loss),
        ),
    }[mixing]

    @settings(max_examples=100)
    @given(spaces())
    def check(case):
        problem, space = case
        rho = problem.n if loss == "logistic" else 1
        wanted = islice(jst.dual_form(space, lam, theta, loss, rho), STEPS)
        for it, state in zip(run(solver, problem), wanted, strict=True):
            size = length(it.w)
            inside(it.w, state.w, size)
            inside(it.dual, state.q)
            inside(it.extra["mu"], state.mu)
            inside(it.extra["nu"], state.nu)
            inside(it.extra["p"], -space.times(state.w), size)

    check()


@pytest.mark.parametrize("momentum", [True, False])
def test_adaptive_sampling(momentum):
    @many
    @given(spaces(), st.sampled_from((0.25, 1.0)), uniforms)
    def check(case, step, numbers):
        problem, space = case
        solver = AdaptiveSampling(step, momentum)
        got = run(solver, problem, rng=Uniforms(numbers))
        indices = [it.extra["i"] for it in got]
        wanted = jst.algorithm2(
            space, indices, arb(step), lambda t: arb(t) / (t + 1) if momentum else arb(0)
        )
        for it, state, u in zip(got, wanted, numbers, strict=True):
            size = length(it.w)
            inside(it.w, state.w, size)
            inside(it.momentum, -state.g, size)
            inside(it.dual, state.q)
            inside(it.extra["scores"], -space.times(state.w), size)
            # The row is where the cumulative sums of q_t pass u.
            i = it.extra["i"]
            assert sum(state.q[:i], arb(0)) < arb(u) + 1e-9
            assert sum(state.q[: i + 1], arb(0)) > arb(u) - 1e-9

    check()


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_descent(loss):
    @many
    @given(spaces(), st.sampled_from((0.5, 1.0, 2.0)))
    def check(case, step):
        problem, space = case
        wanted = islice(jst.gradient_descent(space, arb(step), loss), STEPS)
        for it, w in zip(run(GradientDescent(step, loss), problem), wanted, strict=True):
            inside(it.w, w, length(it.w))
            inside(it.weights, jst.potential_gradient(space.times(w), loss))

    check()


@pytest.mark.parametrize("decay", [False, True])
def test_normalised_gradient_descent(decay):
    @many
    @given(spaces(), st.sampled_from((0.5, 1.0)))
    def check(case, step):
        problem, space = case
        path = jst.normalised(space, lambda t: arb(step) / (arb(t + 1).sqrt() if decay else 1))
        wanted = islice(path, STEPS)
        solver = NormalizedGradientDescent(step, decay)
        for it, w in zip(run(solver, problem), wanted, strict=True):
            inside(it.w, w, length(it.w))

    check()


@pytest.mark.parametrize("averaged", [False, True])
def test_batch_perceptron_of_cotter(averaged):
    @many
    @given(spaces(), st.sampled_from((0.5, 1.0)))
    def check(case, step):
        problem, space = case
        got = run(HardMarginAscent(step, averaged), problem)
        longest = radius(space)
        eta0 = arb(step) / longest if longest > 0 else arb(step)
        path = jst.batch_perceptron(space, [it.extra["i"] for it in got[:-1]], eta0)
        total = space.zero
        for t, (it, v) in enumerate(zip(got, path, strict=True)):
            total = total + v if t else total
            inside(it.extra["v"], v, length(it.w))
            inside(it.w, total / max(t, 1) if averaged else v, length(it.w))
            # The row added next has the smallest score.
            scores = -space.times(v)
            inside(it.extra["scores"], scores)
            assert all(scores[it.extra["i"]] < s + 1e-9 for s in scores)
        assert math.isclose(problem.radius, float(longest), rel_tol=1e-12)

    check()


def test_the_first_row_is_taken_among_equals():
    problem = DenseProblem(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, 1]))
    first = run(HardMarginAscent(), problem, 1)[0]
    assert first.extra["i"] == 0
