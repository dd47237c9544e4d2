"""Error bounds and allowances of the evaluation of claims are as large as proved, hardly larger.

The formulas stand in the comments and docstrings of the source, and are written again here. A bound
that is too small would refute the innocent, or prove what is not so; an allowance that is too wide
would acquit a wrong solver.
"""

from __future__ import annotations

from math import expm1, inf, sqrt

import numpy as np
import pytest

from gammabar.harness.verify.certified import Vec, space_of, weighted_sum
from gammabar.harness.verify.combinations import same_weights
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.identities import (
    Logistic,
    combination,
    gram_rounding,
    in_simplex,
    log_softmax,
    nearly_after,
    per_sum,
    pull_sums,
    row_vector,
    same_softmax,
    softmax_of,
    softmax_rounding,
    zero,
)
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import (
    COARSE,
    ETA,
    LEVELS,
    ROUNDOFF as U,
    TINY,
    run_rounding,
    working,
)
from gammabar.problems import from_arrays
from gammabar.problems.rounding import rounding_of, taxicab
from gammabar.solvers import Iterate

X, Y = np.array([[3.0, 1.0], [1.0, 2.0], [-4.0, -1.0]]), [1, 1, -1]
W = np.array([0.75, 0.5])
ALPHA = np.array([0.25, 0.5, 0.125])
KERNEL = {"kernel": "poly:degree=2,coef0=1"}


def is_proved(bound: float, wanted: float) -> None:
    """With the factors of safety of its parts."""
    assert wanted * (1 - 1e-12) <= bound <= wanted * 1.08


def view(w=W, t=1, unit=False, extra=None, **options) -> View:
    return View(Iterate(t, w, extra=extra or {}), Case(from_arrays(X, Y, **options), unit=unit))


@pytest.fixture(autouse=True)
def doubles():
    with working(LEVELS[0]):
        yield


@pytest.mark.parametrize("scale", [1.0, 2.0**-900, 2.0**700])
@pytest.mark.parametrize("unit", [False, True])
def test_norms_and_scores(scale: float, unit: bool):
    """Also where the data are subnormal numbers, or their squares too large."""
    problem = from_arrays(X * scale, Y)
    problem = problem.unit() if unit else problem
    space, bounds = space_of(problem), rounding_of(problem)
    is_proved(space.radius, 1.0 if unit else sqrt(17) * scale)
    assert space.radius >= bounds.radius
    assert space.radius > 0
    assert space.least_radius <= (1.0 if unit else sqrt(17) * scale)
    for w in (W, W * 2.0**-100):
        length = sqrt(float(w @ w))
        is_proved(space.size(w), length * (1 + 10 * U))
        is_proved(float(space.norm(w).rad()), length * 10 * U)
        assert float(space.norm(w, 0.5).rad()) >= 0.5 + length * 10 * U
        is_proved(float(space.inner(w, w).rad()), length**2 * 10 * U)
        is_proved(space.score_error(w), bounds.scores(length))
        errors = space.score_errors(w)
        assert errors.max() >= space.score_error(w) * (1 - 4 * U)
        assert (errors <= space.score_error(w) * 1.03).all()
    outer, inner, R = problem._outer, problem._inner, space.radius
    lost = 12 * (sqrt(2) * outer + R / inner)
    assert space.lost >= (lost + 4) * ETA * (1 - 1e-12)
    assert space.lost <= (lost + 4) * ETA * 1.01 + TINY


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_row_is_never_of_length_zero_because_of_underflow():
    assert space_of(from_arrays([[5e-324], [-5e-324]], [1, -1])).radius > 5e-324
    space = space_of(from_arrays([[0.0], [0.0]], [1, -1]))
    assert space.radius > 0
    assert space.score_error(np.array([2.0**1010])) == inf


def test_kernels():
    problem = from_arrays(X, Y, **KERNEL)
    space, bounds = space_of(problem), rounding_of(problem)
    R, mass = 18.0, float(ALPHA.sum())
    is_proved(space.radius, R)
    is_proved(space.size(ALPHA), R * mass * (1 + 3 * U))
    is_proved(space.score_error(ALPHA), bounds.scores(taxicab(ALPHA)))
    is_proved(float(space.inner(ALPHA, ALPHA).rad()), bounds.inner(taxicab(ALPHA), taxicab(ALPHA)))
    assert space.tiny == space.lost >= 12 * R * ETA
    assert space.tiny <= 2 * TINY
    assert space.norm(ALPHA, 0.5).rad() >= 0.5


@pytest.mark.parametrize("options", [{}, KERNEL], ids=["linear", "kernel"])
@pytest.mark.parametrize("unit", [False, True])
def test_psi_and_the_pull(options: dict, unit: bool):
    it = view(ALPHA if options else W, unit=unit, **options)
    n, e, soft = 3, it.score_error, it.soft
    assert 0 < e < 1e-10
    size = abs(soft.logsumexp) + abs(soft.smallest)
    is_proved(float(it.psi.rad()), e + U * (2 * n + 64 + 8 * size))
    relative = 2 * e + U * (4 * n + 128 + it.space.dimension)
    is_proved(it.pull.err, it.space.radius * relative + it.space.lost)


def test_the_pull_of_unknown_scores_and_of_underflow():
    it = view(W * 2.0**60)
    assert it.score_error > 0.1
    assert it.pull.err >= 2 * it.space.radius
    small = View(Iterate(1, W), Case(from_arrays(X * 2.0**-1060, Y)))
    assert small.pull.err >= small.space.lost


def test_sums_and_multiples_of_vectors():
    space = space_of(from_arrays(X, Y))
    x, y = Vec(space, W, 1e-3), Vec(space, np.array([2.0, -1.0]), 1e-5)
    a, b = space.size(x.mid), space.size(y.mid)
    for found, error, reach in (
        (x + y, 1e-3 + 1e-5, a + b),
        (x - y, 1e-3 + 1e-5, space.size(x.mid - y.mid)),
        (x * 3.0, 3e-3, 3 * a),
        (-x, 1e-3, a),
        (weighted_sum(3.0, x, -2.0, y), 3e-3 + 2e-5, 3 * a + 2 * b),
        (weighted_sum(1.0, x, 2.0, y, -2.0, y), 1e-3 + 4e-5, a + 4 * b),
        (weighted_sum(1.0, x, 1.0, y, 1.0, x, 2.0, y), 2e-3 + 3e-5, 2 * a + 3 * b),
    ):
        is_proved(found.err, error)
        is_proved(found.reach(), reach)
        assert found.size() >= found.reach() + found.err
        assert found.terms() >= found.reach() * (1 - 8 * U)
    is_proved((x - y).terms(), a + b)
    is_proved(float(x.inner(y).rad()), 1e-3 * b + 1e-5 * a)
    exact, other = Vec(space, W), Vec(space, np.array([2.0, -1.0]))
    is_proved((exact + other).err, U * (a + b))
    is_proved((exact * 0.3).err, U * 0.3 * a)
    for count in (2, 3, 4):
        found = weighted_sum(*[0.3, exact] * count)
        is_proved(found.err, (6 + count) * U * 0.3 * count * a)
    is_proved(Vec(space, W, 1e-3).norm(exact=True).rad().__float__(), 1e-3)


# --- allowances ---


def test_what_a_right_solver_may_be_off_by():
    it = view(t=3)
    space, size, R = it.space, it.here.size(), it.space.radius
    gap = Vec(space, np.array([1e-9, 0.0]), 1e-12, terms=5.0)
    found = zero(gap, it.here, "gap", more=1e-11)
    is_proved(found.allowance, 4 * (1e-12 + 1e-11) + 32 * U * 5.0)
    found = nearly_after(it, 0.0, 0.0, "attained", beside=1.0, steps=7)
    is_proved(float(found.right), 8 * 7 * U * R * size)
    q, scores = softmax_of(it), it.score_doubles
    is_proved(softmax_rounding(scores), U * (float(np.ptp(scores)) + 3 + 32))
    is_proved(in_simplex(it, q, "q").allowance, 8 * U * (3 + 4 * 4))
    drift = it.score_error + 4 * U * 3 * (float(np.abs(scores).max()) + 2.0) * 10
    is_proved(same_softmax(it, q, 2.0).allowance, 4 * drift + 8 * U * 11)
    is_proved(log_softmax(it, 2.0)[1], 4 * drift + 8 * softmax_rounding(scores))
    is_proved(run_rounding(3, 2, 4), 4 * U * 69 * 25)
    assert COARSE <= 0.05


def test_sums_over_rows():
    it = view()
    space, R = it.space, it.space.radius
    is_proved(per_sum(space), U * (12 + 2 + 2048))
    found = combination(space, ALPHA)
    mass = float(ALPHA @ space.shares)
    is_proved(found.err, U * (3 + 2 + 64) * mass * R)
    is_proved(combination(space, ALPHA, 0.5).err, 0.5 * R)
    is_proved(found.reach(), R * mass)
    is_proved(row_vector(it, 2).err, 8 * U * sqrt(17))
    sums = 19 * U * R * R * float(ALPHA.sum())
    is_proved(gram_rounding(it.case, ALPHA), sums + space.score_error(X.T @ (Y * ALPHA)))
    assert expm1(2 * it.score_error) < 1e-12


def test_lengths_and_squares_of_many_combinations():
    """Each is off by that of a product with the Gram matrix, and their sum by t roundoffs more."""
    t, each = 1000, 53 * U  # 4n + n² + 48 for n = 1
    case = Case(from_arrays([[1.0]], [1]), unit=True)
    lengths, squares = pull_sums(case, np.ones((t, 1)), 0.0)
    for found, error in ((lengths, 2 * each), (squares, each)):
        wanted = t * error + t * t * U
        assert wanted <= float(found.rad()) <= 1.1 * wanted


def test_weights_that_were_recomputed():
    """Eight roundoffs of all that is compared, beside what is given."""
    weights = np.array([0.25, 0.75])
    wanted = 1e-15 + 16 * U
    assert wanted <= same_weights(weights, weights, 1e-15, "q").allowance <= 1.1 * wanted


def test_logistic_potential():
    """ψ and its gradient, also where all exponentials are so small that they may be added up."""
    scores, e, n = np.array([0.5, 2.0, -1.0]), 1e-9, 3
    found = Logistic(scores, e)
    slopes, S = 1 / (1 + np.exp(scores)), float(np.log1p(np.exp(-scores)).sum())
    off = S * (n + 16) * U + e * float(slopes.sum()) * float(np.exp(e))
    is_proved(float(found.psi.rad()), off * float(np.exp(S)) / float(np.expm1(S)))
    is_proved(found.relative, expm1(2 * e) + (2 * n + 64) * U)
    for top in (39.5, 60.0):
        found = Logistic(scores + 1 + top, 0.0)
        m = float(np.exp(-(scores + 1 + top)).sum())
        is_proved(float(found.psi.rad()), (2 * n + 64 + 8 * top) * U + m)
        is_proved(found.relative, (2 * n + 64) * U + 4 * m)
