"""The oracle on kernels and several classes: exact where rational, enclosed where not."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import minimum_norm_squared

from gammabar.oracle import solve
from gammabar.oracle.result import signed_digits
from gammabar.problems import from_arrays

points = st.integers(-4, 4)


@st.composite
def labelled(draw, max_n=7, max_d=3, classes=2):
    n, d = draw(st.integers(classes, max_n)), draw(st.integers(1, max_d))
    X = draw(st.lists(st.lists(points, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    y[:classes] = range(classes)
    return np.array(X), np.array(y)


def reduction(X, y, k):
    """The rows x_i(e_c − e_j)ᵀ of the multiclass reduction, without the 1/√2."""
    rows = []
    for x, c in zip(X.tolist(), y, strict=True):
        for j in range(k):
            if j != c:
                row = [0] * (len(x) * k)
                for a, v in enumerate(x):
                    row[a * k + c], row[a * k + j] = v, -v
                rows.append(row)
    return rows


@settings(max_examples=60)
@given(labelled(max_n=6, max_d=2))
def test_polynomial_kernel_is_its_feature_map(data):
    X, y = data
    truth = solve(from_arrays(X, y, kernel="poly:degree=2,coef0=1"))
    # φ(x) = (x_i x_j, √2 x_i, 1): the √2 is avoided by listing x_i twice, products once per order.
    features = [[a * b for a in x for b in x] + [*x, *x] + [1] for x in X.tolist()]
    signs = np.where(y == y.max(), 1, -1)
    rows = [[v * int(s) for v in row] for row, s in zip(features, signs, strict=True)]
    assert truth.gamma_squared == minimum_norm_squared(rows)


@settings(max_examples=60)
@given(labelled(max_n=5, max_d=2, classes=3))
def test_multiclass_is_the_reduction(data):
    X, y = data
    truth = solve(from_arrays(X, y, multiclass=True))
    assert truth.gamma_squared == minimum_norm_squared(reduction(X, y, 3)) / 2


def test_rbf_enclosure_of_two_points():
    """Two opposite points at distance 1: q̄ = (½, ½) and γ̄² = (1 − e^{−γ})/2."""
    truth = solve(from_arrays([[0.0], [1.0]], [-1, 1], kernel="rbf:gamma=0.5"), digits=30)
    assert truth.separable
    assert not truth.exact
    assert truth.gamma == pytest.approx(((1 - exp(-0.5)) / 2) ** 0.5, rel=1e-15)
    assert truth.bounds[1] - truth.bounds[0] < Fraction(1, 10**29)
    context = Context(prec=40)
    root = context.sqrt(context.divide(1 - context.exp(Decimal("-0.5")), Decimal(2)))
    assert truth.digits(28) == str(root)[:30]


@pytest.mark.parametrize("kernel", ["rbf:gamma=0.05", "poly:degree=3,coef0=1", "linear"])
def test_enclosures_contain_every_weak_duality_bound(kernel):
    """γ̄ lies between min(Gα)/‖α‖ and ‖q‖ for arbitrary α and q, evaluated in floating point."""
    rng = np.random.default_rng(5)
    X = rng.integers(1, 9, (30, 3))
    y = np.where(X[:, 0] + X[:, 1] > 9, 1, -1)
    problem = from_arrays(X, y, kernel=kernel, normalised=True)
    truth = solve(problem)
    for _ in range(200):
        q = rng.dirichlet(np.ones(30))
        assert truth.gamma_lo <= problem.norm(q) * (1 + 1e-12)
        assert problem.margin(q) <= truth.gamma_hi * (1 + 1e-9) + 1e-12
    assert truth.separable == (kernel != "linear")  # a line through the origin is too little here
    if truth.separable:
        assert problem.margin(truth.q) == pytest.approx(truth.gamma, rel=1e-6)


def test_normalised_linear_kernel_is_the_problem_of_unit_rows():
    """Ramdas–Peña §2.2: points on two lines have normalised margin 0.1·√2, however long."""
    X = np.array([[3, 4], [6, 8], [30, 40], [4, 3], [8, 6], [40, 30]])
    truth = solve(from_arrays(X, [1, 1, 1, -1, -1, -1], kernel="linear", normalised=True))
    assert truth.digits(12) == "0.141421356237"


def test_callable_kernels_become_tables():
    X, y = np.array([[1, 2], [3, 1], [2, 2]]), [1, -1, 1]
    truth = solve(from_arrays(X, y, kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T))
    assert truth.gamma_squared == solve(from_arrays(X, y)).gamma_squared


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e100, 1e300])
def test_rbf_at_extreme_scales(scale):
    """Points that nearly coincide or are infinitely far apart for doubles are still told apart."""
    truth = solve(from_arrays(np.array([[0.0], [1.0]]) * scale, [-1, 1], kernel="rbf:gamma=1"))
    assert truth.separable
    if scale < 1:  # γ̄² = (1 − exp(−s²))/2, which is s²/2 up to a factor 1 − s²/2
        assert truth.digits(10, raw=True) == signed_digits(*[Fraction(scale) ** 2 / 2] * 2, 10)
    else:
        assert truth.digits(10) == "0.7071067811"
