"""Margins in ℓ_q: both sides of weak duality, and the exact oracles at q = 1 and 2."""

from __future__ import annotations

import numpy as np
import pytest

import gammabar as gb
from gammabar.oracle.lp import bounds, solve_lq
from gammabar.papers import Case
from gammabar.problems import ProblemError

ROWS = np.array([[2.0, 1.0], [1.0, 3.0], [4.0, -1.0]])


@pytest.mark.parametrize("q", [1.2, 1.5, 2.0, 4.0, np.inf])
def test_the_enclosure_is_narrow(q):
    found = solve_lq(ROWS, q)
    assert found.low > 0
    assert abs(float(found.high - found.low)) < 1e-6


def test_any_vectors_enclose_the_margin():
    assert bounds(ROWS, np.inf, [1, 2], [1, 0, 3]) == (1, 4)
    best = solve_lq(ROWS, 1.5)
    low, high = bounds(ROWS, 1.5, np.array([1.0, 1.0]), np.array([1.0, 0.0, 3.0]))
    assert low < best.high
    assert best.low < high


@pytest.mark.parametrize("name", ["rows:2,1;1,3;4,-1", "planted:n=12,d=3,gamma=0.2,seed=0"])
def test_q_2_is_the_maximum_margin(name):
    case = Case(gb.load(name), unit=True)
    rows = np.array([case.problem.raw().row(i) for i in range(case.n)])
    found = solve_lq(rows, 2.0)
    gamma = case.gamma / case.space.unit_factor
    assert found.low <= gamma * (1 + 1e-9)
    assert gamma <= found.high * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_q_infinity_is_exact(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 7, (rng.integers(1, 12), rng.integers(1, 7))).astype(float)
    found = solve_lq(rows, np.inf)
    assert found.low == found.high
    assert max(map(abs, found.w)) <= 1
    assert min(found.p) >= 0
    assert bounds(rows, np.inf, found.w, found.p) == (found.low, found.high)


def test_no_separator_and_no_exponent_below_one():
    assert float(solve_lq([[1, 0], [-1, 0]], 1.5).low) == 0
    assert solve_lq([[1, 0], [-1, 0]], np.inf).high == 0
    with pytest.raises(ProblemError, match="above 1"):
        solve_lq(ROWS, 0.5)
