"""The signed margin: hulls known by hand, a sweep over directions in the plane, and bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from gammabar.oracle import signed as facets_module, signed as reach
from gammabar.oracle.l1 import solve_l1
from gammabar.oracle.signed import SignedMargin, facets, signed_margin
from gammabar.problems.problem import ProblemError


def margin_square(rows, w, scale=Fraction(1)) -> Fraction:
    """m |m| for the margin m of w: what the witness proves."""
    score = min(sum(int(a) * b for a, b in zip(row, w, strict=True)) for row in rows) * scale
    return score * abs(score) / sum(v * v for v in w)


def audit(rows, result: SignedMargin, scale=Fraction(1)) -> None:
    assert 0 <= result.rho_squared_lo <= result.rho_squared_hi
    assert result.exact == (result.rho_squared_lo == result.rho_squared_hi)
    assert len(result.witness) == len(rows[0])
    assert margin_square(rows, result.witness, scale) == -result.rho_squared_hi
    assert result.statement


SQUARE = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
BY_HAND = [
    pytest.param(SQUARE, 1, id="square"),
    pytest.param([*SQUARE, [0, 0], [1, 0], [1, 1]], 1, id="square with more points"),
    pytest.param([[1, 0], [-1, 0], [0, 1], [0, -1]], Fraction(1, 2), id="diamond"),
    pytest.param([[3], [-2], [1]], 4, id="interval"),
    # The triangle with corners (−3, −3), (6, −3), (−3, 6): the hypotenuse x + y = 3 is nearest.
    pytest.param([[-3, -3], [6, -3], [-3, 6]], Fraction(9, 2), id="triangle"),
    pytest.param(list(product([-2, 2], repeat=3)), 4, id="cube, facets of four points"),
    pytest.param(list(product([-1, 0, 1], repeat=3)), 1, id="cube with a lattice of points"),
    # The regular simplex with corners at even sign vectors of the cube: height 1/√3.
    pytest.param(
        [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], Fraction(1, 3), id="tetrahedron"
    ),
    pytest.param(
        [[s if i == j else 0 for j in range(5)] for i in range(5) for s in (1, -1)],
        Fraction(1, 5),
        id="cross-polytope",
    ),
]


@pytest.mark.parametrize(("rows", "square"), BY_HAND)
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3, 7), Fraction(1, 2**1000)])
def test_by_hand(rows, square, scale):
    result = signed_margin(rows, scale)
    assert result.exact
    assert result.rho_squared_lo == square * scale**2
    audit(rows, result, scale)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([[0]], id="the origin alone"),
        pytest.param([[0, 0, 0], [0, 0, 0]], id="zero rows"),
        pytest.param([[1, 1], [-1, -1]], id="segment through the origin"),
        pytest.param([[1, 1, 0], [-1, 0, 0], [0, -1, 0]], id="column of zeros"),
        pytest.param([[1, 1, 2], [-2, 1, -1], [1, -2, -1]], id="dependent columns"),
        pytest.param([[0, 0], [1, 0], [0, 1]], id="corner"),
        pytest.param([[1, 0], [-1, 0], [0, 1]], id="edge"),
        pytest.param([[0], [5]], id="end of an interval"),
    ],
)
def test_zero(rows):
    for limit in (10**6, 0):
        result = signed_margin(rows, limit=limit)
        assert (result.exact, result.rho_squared_hi) == (True, 0)
        assert "ρ = 0" in result.statement
        audit(rows, result)


@pytest.mark.parametrize(
    "rows",
    [
        [[1]],
        [[2, 1], [1, 2]],
        [[1, 0], [1, 1], [1, -1]],  # on the line x = 1
        [[1, 0], [2, 1], [2, -1]],
        [[1, 1, 0], [2, 1, 0], [1, 2, 0]],  # with a column of zeros
    ],
)
@pytest.mark.parametrize("limit", [10**6, 0])
def test_separable_rows_are_refused(rows, limit):
    with pytest.raises(ProblemError, match="can be separated"):
        signed_margin(rows, limit=limit)


def sweep(rows) -> Fraction:
    """−ρ|ρ| in the plane: the minimum of sinusoids below zero peaks where two of them cross."""
    best = None
    for a, b in combinations(rows, 2):
        normal = (b[1] - a[1], a[0] - b[0])
        for w in (normal, (-normal[0], -normal[1])):
            if any(w):
                value = margin_square(rows, w)
                best = value if best is None else max(best, value)
    assert best is not None
    return -best


def points(d: int, sizes: tuple[int, ...] = (1, 3, 50, 10**9, 10**40)):
    return st.sampled_from(sizes).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(-size, size), min_size=d, max_size=d), min_size=1, max_size=9
        )
    )


def inseparable(rows) -> bool:
    return solve_l1(rows, signed=True).value_hi == 0


@settings(max_examples=80, deadline=None)
@given(points(2))
def test_sweep_in_the_plane(rows):
    assume(len({tuple(row) for row in rows}) > 1 and inseparable(rows))
    result = signed_margin(rows)
    assert result.exact
    audit(rows, result)
    assert result.rho_squared_lo == max(sweep(rows), Fraction(0))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4).flatmap(lambda d: points(d, (1, 4, 1000))))
def test_bounds_contain_the_exact_value(rows):
    assume(inseparable(rows))
    exact, bounds = signed_margin(rows), signed_margin(rows, limit=0)
    assert exact.exact
    audit(rows, bounds)
    assert bounds.rho_squared_lo <= exact.rho_squared_lo <= bounds.rho_squared_hi
    if exact.rho_squared_lo > 0:
        assert bounds.rho_squared_lo > 0


@pytest.mark.parametrize(("n", "d"), [(60, 12), (40, 15)])
def test_bounds_in_larger_dimension(n, d):
    rows = np.random.default_rng(0).integers(-50, 51, size=(n, d))
    rows[-1] = -rows[:-1].sum(axis=0)  # the origin is inside: the mean of all rows
    result = signed_margin(rows)
    assert not result.exact
    audit(rows.tolist(), result)
    assert 0 < result.rho_squared_lo < result.rho_squared_hi
    assert "local search" in result.statement
    # No random direction does better than the witness by chance: the search does search.
    for w in np.random.default_rng(1).normal(size=(300, d)).tolist():
        assert margin_square(rows, list(map(Fraction, w))) < -result.rho_squared_hi


def test_bounds_beyond_the_work_limit(monkeypatch):
    rows = np.random.default_rng(0).integers(-50, 51, size=(60, 12))
    monkeypatch.setattr(reach, "_WORK", 0)
    result = signed_margin(rows)
    audit(rows.tolist(), result)
    assert result.rho_squared_hi > 0


def test_axes_bound_by_hand():
    from flint import fmpz_mat

    corners = fmpz_mat([[2, 0], [-4, 0], [0, 1], [0, -1]])
    exact = reach._axes_bound(corners, 4, list(np.eye(4)))
    true = Fraction(4, 5)  # 1/(1/2² + 1/1²)
    assert true - Fraction(1, 10**17) < exact <= true
    # Points off the axes by 1/10 each: the reach is 2, the bound loses the deviation.
    rows = fmpz_mat([[20, 1], [-20, 1], [1, 20], [1, -20]])
    bound = reach._axes_bound(rows, 20, list(np.eye(4)))
    assert bound == pytest.approx((20 / math.sqrt(2) - 1) ** 2, rel=1e-12)
    assert reach._axes_bound(fmpz_mat([[1, 0], [2, 0], [0, 1], [0, -1]]), 2, list(np.eye(4))) == 0
    assert reach._axes_bound(rows, 20, []) == 0


def test_axes_bound_rounds_safely():
    """Points 20 e_j + (1, 1 elsewhere): the bound is (20/√3 − √2)², both roots irrational."""
    from flint import fmpz_mat

    for big in range(20, 60):
        rows = [[s * big if j == i else 1 for j in range(3)] for i in range(3) for s in (1, -1)]
        bound = reach._axes_bound(fmpz_mat(rows), big, list(np.eye(6)))
        # (big/√3 − √2)² = big²/3 + 2 − big √(8/3), compared without roots.
        gap = Fraction(big**2, 3) + 2 - bound
        assert gap**2 >= Fraction(8 * big**2, 3)
        assert float(gap) == pytest.approx(big * math.sqrt(8 / 3), rel=1e-12)


@pytest.mark.parametrize("proposal", [[0, 1, 2], [0, 1], [3], list(range(9))])
def test_facets_do_not_believe_qhull(monkeypatch, proposal):
    """Missing vertices are added; a flat proposal is replaced."""
    rows = sorted({(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)})
    monkeypatch.setattr(facets_module, "_vertices", lambda _: proposal)
    assert set(facets(rows)) == {(n, 1) for n in ((1, 0), (-1, 0), (0, 1), (0, -1))}


@pytest.mark.parametrize(("n", "d"), [(9, 2), (12, 3), (10, 4), (9, 6)])
@pytest.mark.parametrize("size", [2, 10**3, 10**30])
def test_facets_with_and_without_the_filter(monkeypatch, n, d, size):
    """The filter in floating point rejects no facet, also where doubles see nothing but ties."""
    rng = np.random.default_rng(n)
    rows = [
        tuple(int(v) * (size // 2) + int(e) for v, e in zip(*pair, strict=True))
        for pair in zip(
            rng.integers(-2, 3, size=(n, d)), rng.integers(-1, 2, size=(n, d)), strict=True
        )
    ]
    rows += [tuple(size * (i == j) for j in range(d)) for i in range(d)] + [(-size,) * d]
    fast = facets(rows)
    monkeypatch.setattr(facets_module, "_plausible", lambda _, subsets: range(len(subsets)))
    monkeypatch.setattr(facets_module, "_vertices", lambda points: list(range(len(points))))
    assert set(facets(rows)) == set(fast)
    assert len(fast) > d


def test_error_bound_of_determinants_holds():
    rng = np.random.default_rng(0)
    for d in (2, 3, 4, 6):
        for _ in range(50):
            edges = rng.uniform(-1, 1, size=(d - 1, d))
            x = rng.uniform(-1, 1, size=d)
            normal = facets_module._normal(edges, d)
            computed = 0.0
            for j in range(d):
                computed += normal[j] * x[j]
            exact = facets_module._normal([list(map(Fraction, e)) for e in edges.tolist()], d)
            true = sum(a * Fraction(b) for a, b in zip(exact, x.tolist(), strict=True))
            assert abs(Fraction(computed) - true) <= Fraction(facets_module._error(d))
            # Orthogonal to every edge, exactly.
            for edge in edges.tolist():
                assert sum(a * Fraction(b) for a, b in zip(exact, edge, strict=True)) == 0
