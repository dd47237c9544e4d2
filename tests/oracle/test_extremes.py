"""The oracle at the edges of integer types and of doubles, against brute force in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from flint import ctx, fmpz_mat
from hypothesis import assume, given, settings, strategies as st
from reference.minimum_norm import minimum_of_gram

from gammabar.oracle import solve
from gammabar.oracle.enclosure import _lowest_rows, kernel_balls
from gammabar.oracle.proof import _independent
from gammabar.oracle.rational import (
    exact_rows,
    product,
    tame,
)
from gammabar.oracle.signed import signed_margin
from gammabar.problems import KernelProblem, ProblemError, from_arrays


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, 3))
def test_products_of_integers_of_any_two_sizes(data, width):
    """One factor may be zero and the other beyond any double."""
    sizes = st.sampled_from([0, 1, 2**26, 2**27, 2**53, 2**62, 2**64, 2**1100])
    parts = []
    for name in ("left", "right"):
        most = data.draw(sizes, label=name)
        row = st.lists(st.integers(-most, most), min_size=width, max_size=width)
        parts.append(np.array(data.draw(st.lists(row, min_size=1, max_size=3)), dtype=object))
    inner = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in parts[1]] for r in parts[0]]
    assert [[int(v) for v in row] for row in product(*parts).tolist()] == inner


@st.composite
def scaled_points(draw):
    """A few points at a common scale from 1e-170 to 1e150, some rows and columns off by more."""
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    scale = draw(st.integers(-565, 500))
    shifts = st.sampled_from([0, 0, 0, 1, -1, -20, -300])
    rows = draw(st.lists(shifts, min_size=n, max_size=n))
    columns = draw(st.lists(shifts, min_size=d, max_size=d))
    whole = draw(
        st.lists(st.lists(st.integers(-8, 8), min_size=d, max_size=d), min_size=n, max_size=n)
    )
    X = np.array(whole, dtype=float)
    for i in range(n):
        for j in range(d):
            X[i, j] = np.ldexp(X[i, j], scale + rows[i] + columns[j])
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[0], y[1] = -1, 1
    return X, np.array(y), scale


def gram_of(X, y, kernel):
    exact = [[Fraction(v) for v in row] for row in X.tolist()]
    gamma, c = Fraction(kernel.gamma), Fraction(kernel.coef0)
    return [
        [
            (gamma * sum(a * b for a, b in zip(r, s, strict=True)) + c) ** kernel.degree
            * int(p * q)
            for s, q in zip(exact, y, strict=True)
        ]
        for r, p in zip(exact, y, strict=True)
    ]


def polynomial(data, degree, choose):
    """A polynomial kernel whose parameters are at one, or of the order of the data's squares."""
    X, y, scale = data
    gamma = choose.draw(st.sampled_from([1.0, 0.5, "inverse"]))
    coef0 = choose.draw(st.sampled_from([0.0, 0.0, 1.0, "square"]))
    if gamma == "inverse":
        gamma = float(np.ldexp(1.0, max(-1000, min(1000, -2 * scale))))
    if coef0 == "square":
        coef0 = float(np.ldexp(gamma, max(-2000, min(1000, 2 * scale))))
    assume(np.isfinite(coef0))
    try:
        return from_arrays(X, y, kernel=f"poly:degree={degree},gamma={gamma!r},coef0={coef0!r}")
    except ProblemError:  # values beyond the doubles are refused
        assume(False)


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(scaled_points(), st.integers(1, 8), st.data())
def test_polynomial_kernels_at_every_scale(data, degree, choose):
    problem = polynomial(data, degree, choose)
    expected = minimum_of_gram(gram_of(problem.X, problem.y, problem.kernel))
    assert solve(problem).gamma_squared == expected


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(scaled_points(), st.integers(1, 8), st.data())
def test_the_filter_of_kernels_clears_no_row_below_the_threshold(data, degree, choose):
    problem = polynomial(data, degree, choose)
    rows = exact_rows(problem)
    count = choose.draw(st.integers(1, problem.n))
    weights = choose.draw(st.lists(st.integers(1, 2**70), min_size=count, max_size=count))
    point = rows.point(np.arange(count), weights)
    scores = [rows.score(i, point) for i in range(problem.n)]
    for threshold in {s for score in scores for s in (score, score + abs(score) / 2**400)}:
        below = {i for i, score in enumerate(scores) if score < threshold}
        assert below <= set(rows.doubtful(point, threshold).tolist())


@settings(max_examples=100, deadline=None)
@given(scaled_points(), st.integers(1, 8), st.data())
def test_tamed_kernels_are_the_same_up_to_a_power_of_two(data, degree, choose):
    problem = polynomial(data, degree, choose)
    tamed, shift = tame(problem)
    assert isinstance(tamed, KernelProblem)
    plain, scaled = (
        gram_of(problem.X, problem.y, problem.kernel),
        gram_of(tamed.X, tamed.y, tamed.kernel),
    )
    top = max((abs(v) for row in scaled for v in row), default=Fraction(0))
    assert top <= 1 or tamed is problem
    for row, other in zip(plain, scaled, strict=True):
        for value, new in zip(row, other, strict=True):
            assert abs(value / Fraction(2) ** shift - new) <= Fraction(1, 2**1000)


@settings(max_examples=100, deadline=None)
@given(scaled_points(), st.sampled_from(["linear", "poly:degree=2", "poly:degree=4"]))
def test_normalised_kernels_at_every_scale(data, kernel):
    X, y, _ = data
    try:
        problem = from_arrays(X, y, kernel=kernel, normalised=True)
    except ProblemError:
        assume(False)
    truth = solve(problem)
    gram = gram_of(X, y, problem.kernel if kernel != "linear" else _LINEAR)
    zero = minimum_of_gram(gram) == 0
    assert truth.separable is not zero
    if len(y) == 2 and not zero:  # γ̄² = (1 + cos)/2, with the cosine of the two rows
        square = gram[0][1] ** 2 / (gram[0][0] * gram[1][1])
        low, high = ((2 * b - 1) * abs(2 * b - 1) for b in truth.unit_squares)
        assert low <= (square if gram[0][1] > 0 else -square) <= high


class _LINEAR:
    gamma, coef0, degree = 1, 0, 1


@pytest.mark.parametrize(("degree", "scale"), [(2, 1e-81), (4, 1e-41), (8, 1e-30), (3, 1e-120)])
def test_underflow_does_not_hide_a_violated_row(degree, scale):
    X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 0.5], [0.7, 0.6]]) * scale
    problem = from_arrays(X, [1, -1, 1, -1], kernel=f"poly:degree={degree}")
    expected = minimum_of_gram(gram_of(problem.X, problem.y, problem.kernel))
    assert solve(problem).gamma_squared == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 520, 900, 1060, 1073]), min_size=2, max_size=3),
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
)
def test_bounds_of_the_signed_margin_for_sizes_that_doubles_cannot_hold_together(sizes, nudge):
    """Boxes with sides of 2ᵏ, k up to 1073, one corner a little off: ρ is between the bounds."""
    d = len(sizes)
    rows = [
        [s * 2**size if i == j else 0 for j in range(d)]
        for i, size in enumerate(sizes)
        for s in (1, -1)
    ]
    rows[0] = [a + b for a, b in zip(rows[0], nudge, strict=False)]
    try:
        exact = signed_margin(rows)
    except ProblemError:  # the nudge let them be separated
        return
    bounds = signed_margin(rows, limit=0)
    assert bounds.rho_squared_lo <= exact.rho_squared_lo <= bounds.rho_squared_hi


@pytest.mark.parametrize("factor", [2**61 - 1, (2**61 - 1) * (2**61 - 31) * (2**59 - 55)])
def test_dependent_rows_that_vanish_modulo_the_primes(factor):
    gram = fmpz_mat(2, 2, [factor**2] * 4)
    assert _independent(gram, [Fraction(1, 2)] * 2, [0, 0]) == [0]
    assert _independent(gram, [Fraction(1, 2)] * 2, [0, 1]) == [0, 1]


@settings(max_examples=80, deadline=None)
@given(
    st.floats(-8, 8),
    st.floats(2, 8),
    st.sampled_from([-1060, -537, -535, -533, -531, -529, -525, -500, -30, 0, 400]),
    st.integers(-40, 4),
    st.sampled_from([1, 400]),
)
def test_the_filter_of_rbf_kernels_keeps_the_row_of_smallest_score(centre, away, scale, rate, d):
    """Points on both sides of one, at distances that are equal up to an ulp, where γ‖x‖² ≲ 1.

    In 400 equal columns underflow rounds the same way 400 times, and a large γ makes much of it.
    """
    sides = [centre + away, np.nextafter(centre - away, -99), *(centre + away + np.arange(1, 13))]
    X = np.tile(np.ldexp(np.array([centre, *sides])[:, None], scale), (1, d))
    gamma = float(np.ldexp(1.0, max(-1070, min(1020, rate - 2 * scale))))
    problem = from_arrays(X, [-1] + [1] * len(sides), kernel=f"rbf:gamma={gamma!r}")
    kept = _lowest_rows(problem, [0], [1])
    with ctx.workprec(2000):
        scores = [line[0] for line in kernel_balls(problem, list(range(problem.n)), [0])]
        for i in set(range(problem.n)) - set(kept):
            assert not all(scores[i] < scores[j] for j in kept)


@st.composite
def near_and_far(draw):
    """Points that are nearly the same, others far away, and a rate that tells both or neither."""
    n = draw(st.integers(2, 5))
    near, far = draw(st.integers(-400, 0)), draw(st.integers(0, 400))
    whole = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    X = np.stack([np.ldexp(draw(whole), near), np.ldexp(draw(whole), far)], axis=1)
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[0], y[1] = -1, 1
    return X, np.array(y), float(np.ldexp(1.0, draw(st.integers(-1000, 1000))))


@settings(max_examples=120, deadline=None)
@given(near_and_far(), st.sampled_from(["none", "free"]))
def test_rbf_kernels_of_every_rate_are_answered(data, intercept):
    """exp(−10²⁰⁰) is a ball, and no rational: what turns one into the other must not try."""
    X, y, rate = data
    truth = solve(from_arrays(X, y, kernel=f"rbf:gamma={rate!r}", intercept=intercept))
    points = list(zip(X.tolist(), y, strict=True))
    twins = any(x == z and s != t for x, s in points for z, t in points)
    assert truth.separable is not twins
    assert 0 <= truth.square_lo <= truth.square_hi <= 1


# --- the floating-point filter never clears a row that exact arithmetic would not clear


HAIR = Fraction(1, 2**400)


def problems():
    rng = np.random.default_rng(11)
    y = rng.choice([-1, 1], 40)
    small = rng.integers(-9, 10, (40, 6))
    floats = rng.standard_normal((40, 30)) * np.exp(rng.normal(0, 5, (40, 1)))
    wide = rng.integers(0, 256, (1200, 500), dtype=np.uint8)  # enough for the compiled loops
    thin = scipy.sparse.random(40, 50, 0.2, format="csr", random_state=np.random.default_rng(1))
    return {
        "int": from_arrays(small, y),
        "float64": from_arrays(floats, y),
        "float32": from_arrays(floats.astype(np.float32), y),
        "uint8": from_arrays(wide, np.where(wide[:, 0] > 127, 1, -1)),
        "int64": from_arrays(small * (2**58 + 3), y),
        "huge": from_arrays(floats * 1e290, y),
        "tiny": from_arrays(floats * 1e-290, y),
        "sparse": from_arrays(thin, y),
        "multiclass": from_arrays(small, np.arange(40) % 3, multiclass=True),
        "poly": from_arrays(small, y, kernel="poly:degree=3,coef0=1"),
        "linear kernel": from_arrays(floats, y, kernel="linear"),
    }


@pytest.mark.full
@pytest.mark.parametrize("name", problems())
def test_filter_is_right_at_the_threshold(name):
    problem = problems()[name]
    rows = exact_rows(problem)
    rng = np.random.default_rng(3)
    for _ in range(8):
        support = np.sort(rng.choice(problem.n, 4, replace=False))
        point = rows.point(support, [int(v) for v in rng.integers(1, 2**40, 4)])
        others = np.setdiff1d(np.arange(min(problem.n, 60)), support)
        exact = {int(i): rows.score(int(i), point) for i in others}
        for i in rng.choice(others, 3):
            for threshold in (exact[int(i)], exact[int(i)] + abs(exact[int(i)]) * HAIR + HAIR):
                found = {j for j in rows.violated(point, threshold) if j in exact}
                assert found == {j for j, score in exact.items() if score < threshold}
