"""The exact oracle against brute force, against itself, and on the awkward corners."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import minimum_norm_squared

from gammabar.oracle import solve
from gammabar.oracle.candidate import working_set
from gammabar.oracle.proof import minimum_norm_point
from gammabar.oracle.rational import exact_rows, integer_rows
from gammabar.problems import from_arrays

entries = st.integers(-6, 6)


@st.composite
def small(draw, max_n=7, max_d=3, values=entries):
    """Points and labels of both classes."""
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, max_d))
    X = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[0], y[1] = -1, 1
    return np.array(X), np.array(y)


def signed_rows(X, y):
    return [[Fraction(v) * int(s) for v in row] for row, s in zip(X.tolist(), y, strict=True)]


def weights(truth):
    return [Fraction(v, truth.total) for v in truth.numerators]


@settings(max_examples=300)
@given(small())
def test_agrees_with_brute_force(data):
    X, y = data
    truth = solve(from_arrays(X, y))
    assert truth.exact
    assert truth.gamma_squared == minimum_norm_squared(signed_rows(X, y))
    assert truth.separable == (truth.gamma_squared > 0)


@settings(max_examples=60)
@given(small(values=st.floats(-4, 4, width=32)))
def test_floats_are_rationals(data):
    X, y = data
    assert solve(from_arrays(X, y)).gamma_squared == minimum_norm_squared(signed_rows(X, y))


@settings(max_examples=100)
@given(small(max_n=12, max_d=4), st.integers(0, 2**32))
def test_weak_duality_for_random_points(data, seed):
    """min_i (Aw)_i/‖w‖ ≤ γ̄ ≤ ‖Aᵀq‖, in exact arithmetic."""
    X, y = data
    rng = np.random.default_rng(seed)
    A = [[int(v) for v in row] for row in X * y[:, None]]
    square = solve(from_arrays(X, y)).gamma_squared
    w = [int(v) for v in rng.integers(-9, 10, X.shape[1])]
    q = [int(v) for v in rng.integers(0, 10, len(y))]
    q[0] += 1
    lowest = min(sum(a * b for a, b in zip(row, w, strict=True)) for row in A)
    if lowest > 0:
        assert Fraction(lowest**2, sum(v * v for v in w)) <= square
    pull = [sum(q[i] * A[i][j] for i in range(len(y))) for j in range(len(w))]
    assert square <= Fraction(sum(v * v for v in pull), sum(q) ** 2)


@settings(max_examples=60)
@given(small(max_n=10), st.randoms(use_true_random=False))
def test_order_signs_of_axes_and_copies_do_not_matter(data, random):
    X, y = data
    truth = solve(from_arrays(X, y))
    order = list(range(len(y)))
    random.shuffle(order)
    axes = list(range(X.shape[1]))
    random.shuffle(axes)
    signs = np.array([random.choice([-1, 1]) for _ in axes])
    moved = np.vstack([X[order][:, axes] * signs, X[:2][:, axes] * signs])
    assert solve(from_arrays(moved, np.concatenate([y[order], y[:2]]))).gamma_squared == (
        truth.gamma_squared
    )


@settings(max_examples=60)
@given(small(max_n=8), st.integers(1, 50), st.integers(-40, 40))
def test_scales_with_the_data(data, factor, power):
    X, y = data
    square = solve(from_arrays(X, y)).gamma_squared
    assert solve(from_arrays(X * factor, y)).gamma_squared == square * factor**2
    scaled = np.ldexp(X.astype(float), power)
    assert solve(from_arrays(scaled, y)).gamma_squared == square * Fraction(4) ** power


def test_orthogonal_maps_up_to_rounding():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 8)) + 2 * np.sign(rng.standard_normal(60))[:, None]
    y = np.sign(X.sum(axis=1)).astype(int)
    rotation, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    one, two = solve(from_arrays(X, y)), solve(from_arrays(X @ rotation, y))
    assert one.separable
    assert abs(one.gamma_raw - two.gamma_raw) < 1e-13 * one.radius


@settings(max_examples=60)
@given(small(max_n=8), st.integers(0, 5))
def test_rows_beyond_the_margin_change_nothing(data, extra):
    X, y = data
    truth = solve(from_arrays(X, y))
    if not truth.separable:
        return
    w = np.array(
        [
            sum(
                v * int(X[i, j] * y[i])
                for v, i in zip(truth.numerators, truth.support, strict=True)
            )
            for j in range(X.shape[1])
        ],
        dtype=object,
    )
    if max(abs(v) for v in w) > 2**50:
        return
    far = np.array(w, dtype=np.int64) * (1 + extra)  # ⟨far, w⟩ = (1 + extra)·total·‖w‖² ≥ ‖w‖²
    again = solve(from_arrays(np.vstack([X, far]), np.append(y, 1)))
    assert again.gamma_squared == truth.gamma_squared


@settings(max_examples=100)
@given(small(max_n=10), st.data())
def test_any_candidate_is_repaired(data, choose):
    """The proof may start from nonsense and still ends with the truth."""
    X, y = data
    problem = from_arrays(X, y)
    n = problem.n
    support = choose.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weights = np.full(len(support), 1 / len(support))
    found = minimum_norm_point(exact_rows(problem), np.array(support), weights)
    assert found.square == solve(problem).gamma_squared
    assert sum(found.numerators) == found.total
    assert min(found.numerators) > 0


def test_weights_reproduce_the_margin():
    X = np.array([[3, 1], [2, 5], [-4, 1], [1, -7]])
    y = np.array([1, 1, -1, -1])
    truth = solve(from_arrays(X, y))
    A = signed_rows(X, y)
    w = [
        sum(q * A[i][j] for q, i in zip(weights(truth), truth.support, strict=True)) for j in (0, 1)
    ]
    assert sum(v * v for v in w) == truth.gamma_squared
    assert min(sum(a * b for a, b in zip(row, w, strict=True)) for row in A) == truth.gamma_squared
    assert np.allclose(truth.direction * truth.gamma_raw, [float(v) for v in w])
    assert truth.q.sum() == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324, 1.5e308])
def test_extreme_scales(scale):
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0]]) * scale
    truth = solve(from_arrays(X, [1, 1, -1]))
    assert truth.gamma_squared == Fraction(scale) ** 2
    assert truth.digits(5) == "0.70710"


def test_scales_mixed_in_one_problem():
    X = np.array([[1e300, 1.0], [1e-300, 1.0], [1e-300, -1e-300]])
    y = np.array([1, 1, -1])
    truth = solve(from_arrays(X, y))
    assert truth.gamma_squared == minimum_norm_squared(signed_rows(X, y))


def test_one_row_has_its_own_length_as_margin():
    truth = solve(from_arrays([[3, 4]], [1]))
    assert truth.gamma_squared == 25
    assert truth.digits(10, raw=True) == "5"
    assert truth.digits(10) == "1"


def test_a_zero_row_cannot_be_separated():
    truth = solve(from_arrays([[1, 2], [0, 0], [-1, 3]], [1, 1, -1]))
    assert truth.separable is False
    assert truth.support.tolist() == [1]


def test_all_zero_data():
    truth = solve(from_arrays([[0, 0], [0, 0]], [1, -1]))
    assert truth.separable is False
    assert truth.gamma == 0


def test_twins_with_opposite_labels():
    truth = solve(from_arrays([[2, 1], [5, 5], [2, 1]], [1, 1, -1]))
    assert truth.separable is False
    assert truth.support.tolist() == [0, 2]
    assert weights(truth) == [Fraction(1, 2), Fraction(1, 2)]


def test_ties_and_dependent_supports():
    """A face with more vertices than its dimension needs: q̄ is not unique, γ̄ is."""
    square = np.array([[x, y, 2] for x in (-1, 1) for y in (-1, 1)] * 3)
    truth = solve(from_arrays(np.vstack([square, [[0, 0, -2]]]), [1] * 12 + [-1]))
    assert truth.gamma_squared == 4


def test_margin_of_ten_to_the_minus_eleven():
    """Doubles take this for zero; integers do not."""
    X = np.array([[10**11, 1], [10**11, -1]])
    truth = solve(from_arrays(X, [1, -1]))
    assert truth.gamma_squared == 1


def test_big_integers_are_not_rounded():
    X = np.array([[2**62 + 1, 1], [2**62, -1]])
    assert solve(from_arrays(X, [1, -1])).gamma_squared == minimum_norm_squared(
        [[2**62 + 1, 1], [-(2**62), 1]]
    )


def test_integer_rows_keep_every_bit():
    values = np.array([[0.5, 3.0, -0.0], [1e300, 5e-324, 0.1]])
    integers, exponent = integer_rows(values, np.array([0, 1]))
    back = [[int(v) * Fraction(2) ** exponent for v in row] for row in integers]
    assert back == [[Fraction(float(v)) for v in row] for row in values]


def test_candidate_on_planted_data_needs_no_repair():
    rng = np.random.default_rng(3)
    X = rng.integers(-50, 50, (3000, 20))
    X[:, 0] = np.where(np.arange(3000) % 2, 40, -40)
    y = np.sign(X[:, 0])
    problem = from_arrays(X, y)
    assert solve(problem).rounds == 1
    assert working_set(problem).scans < 20


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 6), st.booleans())
def test_the_plain_core_finds_what_the_compiled_one_finds(seed, n, d, free):
    """Little data go without compiled code; both are candidates, and mostly the same."""
    from gammabar.oracle._wolfe import minimum_norm
    from gammabar.oracle.candidate import _plain_minimum_norm

    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) + 1.0
    side = (np.arange(n) % 2) if free else np.zeros(n, np.int64)
    A[side == 1] += 1.0
    G, sides = A @ A.T, 1 + free
    c2 = float(G.diagonal().max())
    squares = []
    for core in (minimum_norm, _plain_minimum_norm):
        S, q, R = np.zeros(64, np.int64), np.zeros(64), np.zeros((64, 64))
        S[:sides], q[:sides] = np.arange(sides), 1 / sides
        H = G[:sides, :sides] + c2 * np.eye(sides)
        R[:sides, :sides] = np.linalg.cholesky(H).T
        size = core(G, c2, side, S, q, sides, R, sides)
        assert q[:size].sum() == pytest.approx(1)
        assert q[:size][side[S[:size]] == 0].sum() == pytest.approx(1 / sides)
        squares.append(q[:size] @ G[np.ix_(S[:size], S[:size])] @ q[:size])
    assert squares[0] == pytest.approx(squares[1], rel=1e-7, abs=1e-12 * c2)
