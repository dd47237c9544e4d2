"""The solvers of Ji, Srebro and Telgarsky (2021) against interval arithmetic; their edges.

Data are small dyadic numbers with rows of norm below one, so that they are exact in both; there
the methods do not amplify rounding errors. A float agrees if the whole ball of the reference lies
within 1e-9 (1 + ‖w‖) of it, which is decided rigorously.
"""

from __future__ import annotations

import math
import warnings
from collections import namedtuple
from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from geometry_cases import cases, close
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from step_checks import steps_hold

from gammabar.papers.ji_srebro_telgarsky_2021 import algorithms as jst
from gammabar.problems import DenseProblem, Kernel, KernelProblem, ProblemError
from gammabar.solvers.ji_srebro_telgarsky import (
    AdaptiveSampling,
    DualAcceleration,
    DualForm,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
    draw,
    gradient,
)

STEPS = 9
LOSSES = ("exponential", "logistic")
EVERY = [
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
    HardMarginAscent(),
    HardMarginAscent(averaged=False),
]
every = pytest.mark.parametrize("solver", EVERY, ids=repr)
losses = pytest.mark.parametrize("loss", LOSSES)


class Uniforms:
    """A generator that returns given numbers."""

    def __init__(self, *values):
        self.values = iter(values)

    def random(self):
        return next(self.values)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(200):
        yield


def run(solver, problem, steps=25, rng=None):
    return list(islice(solver.iterates(problem, rng), steps))


#: How Z acts, as the literal algorithm asks for it.
Acting = namedtuple("Acting", "n zero times adjoint")


def space_of(case):
    """The paper's Z, minus the rows; of a kernel α stands for the vector Σ α_i y_i φ(x_i)."""
    rows, gram = case.balls()
    if gram is None:
        return Acting(len(rows), 0 * rows[0], lambda w: -(rows @ w), lambda q: -(rows.T @ q))
    return Acting(len(gram), 0 * gram[0], lambda alpha: -(gram @ alpha), lambda q: -q)


def inside(got, wanted, w=0.0):
    close(got, wanted, 1e-9 * (1 + float(np.linalg.norm(w))))


def gaussian(n=30):
    """Separable rows of norm at most one."""
    X = np.random.default_rng(0).normal(size=(n, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return DenseProblem(X, y).unit()


problems = cases(("dense", "sparse", "unit", "polynomial kernel", "multiclass"), unit=True)
many = settings(max_examples=100)


@losses
@many
@given(case=problems, step=st.sampled_from((0.25, 1.0)), analysed=st.booleans())
def test_momentum_form(loss, case, step, analysed):
    problem, space = case.problem, space_of(case)
    rho = problem.n if loss == "logistic" and analysed else 1
    solver = DualAcceleration(step, loss, None if analysed else 1.0)
    assert solver.rho(problem.n) == rho
    wanted = islice(jst.algorithm1(space, arb(step) / rho, loss), STEPS)
    for it, w in zip(run(solver, problem, STEPS), wanted, strict=True):
        inside(it.w, w, it.w)
        inside(it.weights, jst.potential_gradient(space.times(w), loss))
        inside(it.scores, -space.times(w), it.w)


GENERAL = (lambda t: (1.0, 0.75, 0.5, 0.625)[t % 4], lambda t: (1.0, 0.5)[t % 2])


#: Statements that compute each step of a solver anew, and the solver.
STEPPED = [
    *(("jst.lemC.3", DualAcceleration(v, loss)) for v in (0.25, 1.0) for loss in LOSSES),
    *(
        (name, DualForm(*options, loss=loss))
        for name in ("jst.lemC.3", "jst.eqB.9")
        for loss in LOSSES
        for options in ((), (1.0, 0.5), GENERAL, ("recursive",), ("slower",))
    ),
    *(("gb.jst.sampling.step", AdaptiveSampling(v, m)) for v in (0.25, 1.0) for m in (True, False)),
    *(("gb.jst.cotter.step", HardMarginAscent(v, a)) for v in (0.5, 1.0) for a in (True, False)),
    *(("gb.jst.gd.step", GradientDescent(v, loss)) for v in (0.5, 2.0) for loss in LOSSES),
    *(
        ("gb.jst.ngd.step", NormalizedGradientDescent(v, d))
        for v in (0.5, 1)
        for d in (True, False)
    ),
]


@settings(max_examples=200, deadline=None)
@given(case=problems, stepped=st.sampled_from(STEPPED), seed=st.integers(0, 2**32 - 1))
def test_steps_are_those_printed(case, stepped, seed):
    steps_hold(*stepped, case.problem, STEPS, seed)


@many
@given(case=problems, numbers=st.lists(st.floats(0, 1, exclude_max=True), min_size=9, max_size=9))
def test_adaptive_sampling_draws_from_its_weights(case, numbers):
    got = run(AdaptiveSampling(), case.problem, 9, Uniforms(*numbers))
    for it, u in zip(got, numbers, strict=True):
        # The row is where the cumulative sums of q_t pass u.
        i, sums = it.extra["i"], np.cumsum(it.dual)
        assert sums[i] - it.dual[i] < u + 1e-9 < sums[i] + 2e-9


@many
@given(case=problems)
def test_the_batch_perceptron_takes_the_first_row_among_equals(case):
    assert run(HardMarginAscent(), case.problem, 1)[0].extra["i"] == 0


@many
@given(case=problems)
def test_the_dual_form_without_acceleration_is_normalised_descent(case):
    got = run(NormalizedGradientDescent(), case.problem, STEPS)
    for it, other in zip(run(DualForm(1.0), case.problem, STEPS), got, strict=True):
        np.testing.assert_allclose(it.w, other.w, atol=1e-9 * (1 + np.linalg.norm(it.w)))
        np.testing.assert_array_equal(it.extra["nu"], it.dual)


@every
@pytest.mark.parametrize("x", [0.5, 0.0])
def test_a_single_row(solver, x):
    iterates = run(solver, DenseProblem(np.array([[x, 0.0]]), np.array([-1])))
    assert [it.t for it in iterates] == list(range(25))
    assert not iterates[0].w.any()
    for it in iterates:
        assert it.weights.sum() == pytest.approx(1)
        assert it.margin == (pytest.approx(x) if it.t and x else 0.0)


@given(
    st.one_of(
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(-1e6, 1e6)),
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(20, 60)),
        hnp.arrays(float, st.integers(1, 6), elements=st.floats(650, 800)),
    )
)
def test_logistic_weights_for_scores_of_any_size(scores):
    got = gradient(scores, "logistic")
    assert got.sum() >= 1 - 1e-12
    wanted = jst.potential_gradient([-arb(s) for s in scores], "logistic")
    for value, exact in zip(got, wanted, strict=True):
        assert abs(arb(float(value)) - exact) < 1e-11 * exact + arb(1e-300), (value, exact)


@pytest.mark.parametrize(
    ("n", "score"),
    [(n, 38.0 + math.log(n) + e) for n in (1, 10, 10**6) for e in (-1e-9, 1e-9)]
    + [(10**6, score) for score in (36.0, 38.5, 45.0, 51.0)],
)
def test_the_switch_to_the_exponential_form_is_seamless(n, score):
    # n rows of one score: ∇ψ_i = σ(−s)/(1 − exp(−n ln(1 + exp(−s)))), above 1/n by n exp(−s)/2.
    total = n * (-arb(score)).exp().log1p()
    wanted = float(1 / (1 + arb(score).exp()) / -(-total).expm1())
    np.testing.assert_allclose(gradient(np.full(n, score), "logistic"), wanted, rtol=1e-14)


@every
def test_large_scores_are_no_trouble(solver):
    # Rows of norm 1e3: scores grow beyond 1e6 within a few steps, far beyond the range of exp.
    X = np.array([[1000.0, 10.0], [999.0, -20.0], [1000.0, 30.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iterates = run(solver, DenseProblem(X, np.array([1, 1, 1])), 60)
    assert all(np.isfinite(it.w).all() and np.isfinite(it.weights).all() for it in iterates)
    assert iterates[-1].margin > 0


def test_numbers_beyond_the_range_of_doubles_are_refused():
    problem = DenseProblem(np.array([[0.5], [1.0]]), np.array([1, -1]))
    with pytest.raises(ProblemError, match=r"step 1000000.0 .* at t = 1; use a smaller step"):
        run(GradientDescent(1e6), problem)
    assert all(np.isfinite(it.w).all() for it in run(GradientDescent(1e6, "logistic"), problem))
    problem = DenseProblem(np.array([[1e200], [2e200]]), np.array([1, 1]))
    with np.errstate(all="ignore"), pytest.raises(ProblemError, match=r"problem\.unit\(\)"):
        run(AdaptiveSampling(), problem)
    assert run(AdaptiveSampling(), problem.unit())[-1].margin == pytest.approx(0.5)


@given(hnp.arrays(float, st.integers(1, 9), elements=st.floats(0, 1)))
def test_rows_are_drawn_in_proportion_up_to_the_largest_uniform_number(q):
    assume(q.sum() > 1e-3)
    # Weights below the rounding of the sum do not move the cumulative sums.
    counted = np.diff(np.cumsum(q), prepend=0.0) > 0
    assert draw(q, Uniforms(1 - 2.0**-53)) == np.flatnonzero(counted)[-1]
    assert draw(q, Uniforms(0.0)) == np.flatnonzero(counted)[0]
    q, grid = np.array([0.0, 0.125, 0.0, 0.5, 0.375, 0.0]), (np.arange(800) + 0.5) / 800
    rng = Uniforms(*grid)
    np.testing.assert_array_equal(np.bincount([draw(q, rng) for _ in grid], minlength=6), 800 * q)


def test_sampling_is_reproducible_and_its_scores_do_not_drift():
    problem = gaussian(60)

    def rows(*seed):
        rng = np.random.default_rng(*seed) if seed else None
        return [it.extra["i"] for it in run(AdaptiveSampling(), problem, 50, rng)]

    assert rows(5) == rows(5) != rows(6)
    assert rows() == rows(0)
    last = run(AdaptiveSampling(), problem, 3000)[-1]
    bound = 1e-11 * np.abs(last.scores).max()
    np.testing.assert_allclose(last.extra["scores"], last.scores, rtol=0, atol=bound)


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
    last = run(solver, problem, 20)[-1]
    assert 0 < sum(evaluated) <= 50 * 20
    scores = problem.scores(last.extra.get("v", last.w))
    np.testing.assert_allclose(last.extra["scores"], scores, atol=1e-9)


def test_the_parameters_of_theorem_4_1():
    n, gamma, epsilon, delta = 100, 0.5, 0.25, 0.1
    # (32 ln 100 + 64 ln 20) / (1/64) = 21701.6…, and 32/(0.1/16) = 5120.
    t = math.ceil((32 * math.log(100) + 64 * math.log(20)) * 64)
    assert AdaptiveSampling.horizon(n, gamma, epsilon, delta) == t == 21702
    solver = AdaptiveSampling.for_theorem(n, gamma, epsilon, delta)
    assert solver == AdaptiveSampling(math.sqrt(math.log(100) / t), momentum=False)
    assert AdaptiveSampling.horizon(2, 1.0, 0.5, 1e-3) == 128000  # the second term
    # One row: ln 1 = 0, so the printed step is zero and nothing moves.
    stays = run(AdaptiveSampling.for_theorem(1, gamma, epsilon, delta), gaussian(1))
    assert not any(it.w.any() for it in stays)
