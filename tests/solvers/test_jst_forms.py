"""What the solvers of Ji, Srebro and Telgarsky (2021) have to do with one another, and edges."""

from __future__ import annotations

import math
import warnings
from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.papers.ji_srebro_telgarsky_2021 import algorithms as jst
from gammabar.problems import DenseProblem, Kernel, KernelProblem, MulticlassProblem, ProblemError
from gammabar.solvers.ji_srebro_telgarsky import (
    AdaptiveSampling,
    DualAcceleration,
    DualForm,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
    draw,
)
from gammabar.solvers.potential import gradient

SOLVERS = [
    DualAcceleration(),
    DualAcceleration(loss="logistic"),
    DualForm(),
    DualForm(mixing=1.0, loss="logistic"),
    AdaptiveSampling(),
    AdaptiveSampling(0.1, momentum=False),
    GradientDescent(),
    GradientDescent(loss="logistic"),
    NormalizedGradientDescent(),
    NormalizedGradientDescent(decay=True),
]
# Follows ties where rounding decides which of two equal rows is added, so it is compared apart.
EVERY_SOLVER = [*SOLVERS, HardMarginAscent(), HardMarginAscent(averaged=False)]
every = pytest.mark.parametrize("solver", EVERY_SOLVER, ids=repr)


def run(solver, problem, steps=25, seed=0):
    return list(islice(solver.iterates(problem, np.random.default_rng(seed)), steps))


def close(got, wanted, size=0.0):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9 * (1 + size))


def length(w):
    return float(np.linalg.norm(w))


@st.composite
def data(draw, classes=(-1, 1)):
    """Rows of norm below one, and labels."""
    d, n = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(-8, 8))) / 18
    return X, draw(hnp.arrays(int, n, elements=st.sampled_from(classes)))


def gaussian(seed=0, n=30, d=4):
    """Separable rows of norm at most one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return DenseProblem(X, y).unit()


@given(data())
def test_the_start(case):
    problem = DenseProblem(*case)
    start = run(DualAcceleration(), problem, 1)[0]
    assert start.t == 0
    assert not start.w.any()
    assert not start.momentum.any()  # β_0 = 0
    close(start.weights, np.full(problem.n, 1 / problem.n))


def test_without_acceleration_it_is_normalised_gradient_descent():
    problem = gaussian()
    dual = run(DualForm(mixing=1.0, step=0.5), problem)
    for a, b in zip(dual, run(NormalizedGradientDescent(0.5), problem), strict=True):
        close(a.w, b.w, length(a.w))
        np.testing.assert_array_equal(a.extra["nu"], a.dual)


def test_the_hard_margin_ascent_in_every_geometry():
    binary = gaussian(3)
    X, y = binary.X * binary.scale, binary.y
    kernel, multi = KernelProblem(X, y, Kernel("linear")), MulticlassProblem(X, (y + 1) // 2, 2)
    iterates = zip(*(run(HardMarginAscent(), p, 60) for p in (binary, kernel, multi)), strict=True)
    for a, b, c in iterates:
        assert a.extra["i"] == b.extra["i"] == c.extra["i"]
        close(a.w, binary.combine(b.w))
        close(np.outer(a.w, [-1, 1]) / math.sqrt(2), c.w.reshape(-1, 2))
        assert a.problem.norm(a.extra["v"]) <= 1 + 1e-12


@every
@pytest.mark.parametrize("x", [0.5, 0.0])
def test_a_single_row(solver, x):
    iterates = run(solver, DenseProblem(np.array([[x, 0.0]]), np.array([-1])))
    assert [it.t for it in iterates] == list(range(25))
    for it in iterates:
        close(it.weights.sum(), 1)
        assert it.margin == (pytest.approx(x) if it.t and x else 0.0)


@ctx.workprec(200)
@given(
    st.one_of(
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(-1e6, 1e6)),
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(20, 60)),
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(650, 800)),
    )
)
def check_logistic_weights(scores):
    wanted = jst.potential_gradient([-arb(s) for s in scores], "logistic")
    got = gradient(scores, "logistic")
    assert got.sum() >= 1 - 1e-12
    for value, ball in zip(got, wanted, strict=True):
        assert abs(arb(float(value)) - ball) < 1e-11 * ball + arb(1e-300), (value, ball)


def test_logistic_weights_for_scores_of_any_size():
    check_logistic_weights()


@pytest.mark.parametrize("n", [1, 10, 10**6])
def test_the_switch_to_the_exponential_form_is_seamless(n):
    scores = np.full(n, 38.0 + math.log(n))
    before, after = gradient(scores - 1e-9, "logistic"), gradient(scores + 1e-9, "logistic")
    np.testing.assert_allclose(before, after, rtol=1e-14)
    assert after[0] == 1 / n


@pytest.mark.parametrize("score", [36.0, 38.5, 45.0, 51.0])
def test_the_switch_waits_for_the_number_of_rows(score):
    # n rows of one score: ∇ψ_i = σ(−s)/(1 − exp(−n ln(1 + exp(−s)))), above 1/n by n exp(−s)/2.
    n = 10**6
    with ctx.workprec(200):
        total = n * (-arb(score)).exp().log1p()
        wanted = float(1 / (1 + arb(score).exp()) / -(-total).expm1())
    np.testing.assert_allclose(gradient(np.full(n, score), "logistic"), wanted, rtol=1e-14)


@every
def test_large_scores_are_no_trouble(solver):
    # Rows of norm 1e3: scores grow beyond 1e6 within a few steps, far beyond the range of exp.
    X = np.array([[1000.0, 10.0], [999.0, -20.0], [1000.0, 30.0]])
    problem = DenseProblem(X, np.array([1, 1, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iterates = run(solver, problem, 60)
    assert all(np.isfinite(it.w).all() and np.isfinite(it.weights).all() for it in iterates)
    assert iterates[-1].margin > 0


def test_gradient_descent_says_when_the_exponential_risk_overflows():
    X, y = np.array([[1.0], [1.0]]), np.array([1, -1])
    X[0] = 0.5
    with pytest.raises(ProblemError, match=r"step 1000000.0 .* at t = 1; use a smaller step"):
        run(GradientDescent(1e6), DenseProblem(X, y))
    far = run(GradientDescent(1e6, "logistic"), DenseProblem(X, y))
    assert all(np.isfinite(it.w).all() for it in far)


def test_rows_are_drawn_in_proportion():
    class Uniforms:
        def __init__(self, values):
            self.values = iter(values)

        def random(self):
            return next(self.values)

    q = np.array([0.0, 0.125, 0.0, 0.5, 0.375, 0.0])
    grid = (np.arange(800) + 0.5) / 800
    rng = Uniforms(grid)
    rows = np.bincount([draw(q, rng) for _ in grid], minlength=6)
    np.testing.assert_array_equal(rows, 800 * q)
    # Borders: u = 0 is the first row of positive weight, u just below one the last.
    assert draw(q, Uniforms([0.0])) == 1
    assert draw(q, Uniforms([0.125])) == 3
    assert draw(q, Uniforms([np.nextafter(1, 0)])) == 4


@given(hnp.arrays(float, st.integers(1, 9), elements=st.floats(0, 1)))
def test_the_largest_uniform_number_draws_the_last_row_of_positive_weight(q):
    class Largest:
        def random(self):
            return 1 - 2.0**-53

    assume(q.sum() > 1e-3)
    # Weights below the rounding of the sum do not move the cumulative sums.
    counted = np.diff(np.cumsum(q), prepend=0.0) > 0
    assert draw(q, Largest()) == np.flatnonzero(counted)[-1]


def test_scores_beyond_the_range_of_doubles_are_refused():
    problem = DenseProblem(np.array([[1e200], [2e200]]), np.array([1, 1]))
    with np.errstate(all="ignore"), pytest.raises(ProblemError, match=r"problem\.unit\(\)"):
        run(AdaptiveSampling(), problem)
    assert run(AdaptiveSampling(), problem.unit())[-1].margin == pytest.approx(0.5)


def test_sampling_is_reproducible():
    problem = gaussian()

    def rows(**options):
        iterates = AdaptiveSampling().iterates(problem, **options)
        return [it.extra["i"] for it in islice(iterates, 50)]

    assert rows(rng=np.random.default_rng(5)) == rows(rng=np.random.default_rng(5))
    assert rows(rng=np.random.default_rng(5)) != rows(rng=np.random.default_rng(6))
    assert rows() == rows(rng=np.random.default_rng(0))


@pytest.mark.parametrize("solver", [AdaptiveSampling(), HardMarginAscent()], ids=repr)
def test_n_values_of_the_kernel_in_a_step(solver):
    evaluated = []

    def kernel(a, b):
        evaluated.append(len(a) * len(b))
        return np.exp(-((a[:, None] - b[None, :]) ** 2).sum(axis=-1))

    X = np.random.default_rng(0).normal(size=(50, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    problem = KernelProblem(X, y, Kernel("callable", function=kernel, by_rows=False))
    evaluated.clear()
    iterates = run(solver, problem, 20)
    assert 0 < sum(evaluated) <= 50 * 20
    close(iterates[-1].extra["scores"], problem.scores(iterates[-1].extra.get("v", iterates[-1].w)))


def test_incremental_scores_do_not_drift():
    problem = gaussian(n=60)
    last = run(AdaptiveSampling(), problem, 3000)[-1]
    np.testing.assert_allclose(
        last.extra["scores"], last.scores, rtol=0, atol=1e-11 * np.abs(last.scores).max()
    )


def test_the_parameters_of_theorem_4_1():
    n, gamma, epsilon, delta = 100, 0.5, 0.25, 0.1
    # (32 ln 100 + 64 ln 20) / (1/64) = 21701.6…, and 32/(0.1/16) = 5120.
    t = math.ceil((32 * math.log(100) + 64 * math.log(20)) * 64)
    assert AdaptiveSampling.horizon(n, gamma, epsilon, delta) == t == 21702
    solver = AdaptiveSampling.for_theorem(n, gamma, epsilon, delta)
    assert solver == AdaptiveSampling(math.sqrt(math.log(100) / t), momentum=False)
    assert AdaptiveSampling.horizon(2, 1.0, 0.5, 1e-3) == 128000  # the second term
    # One row: ln 1 = 0, so the printed step is zero and nothing moves.
    stays = run(AdaptiveSampling.for_theorem(1, gamma, epsilon, delta), gaussian(n=1))
    assert not any(it.w.any() for it in stays)
