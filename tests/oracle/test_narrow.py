"""Narrow margins and none: the stage between the Gram matrix and rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from awkward_data import awkward
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import minimum_norm_squared

from gammabar.oracle import solve
from gammabar.oracle.candidate import Candidate, Watch
from gammabar.oracle.narrow import _possible, narrow_candidate
from gammabar.oracle.proof import minimum_norm_point
from gammabar.oracle.rational import exact_rows, sides_of
from gammabar.problems import from_arrays, load


def first_of(problem):
    """The poorest candidate: the first row of each side."""
    side, sides = sides_of(problem)
    rows = np.array([np.argmax(side == k) for k in range(sides)], dtype=np.int64)
    return Candidate(rows, np.full(sides, 1 / sides), 0, "first")


def signed(X, y):
    return [[Fraction(int(v)) * int(s) for v in row] for row, s in zip(X, y, strict=True)]


@settings(max_examples=100, deadline=None)
@given(awkward())
def test_rows_left_out_have_no_weight(data):
    """Leaving them out does not make inseparable data separable, and the others keep a vector."""
    X, y = data
    A = X * y[:, None]
    kept = _possible(A.astype(np.float64))
    separable = minimum_norm_squared(signed(X, y)) > 0
    if not len(kept):
        assert separable
    else:
        assert separable == (minimum_norm_squared(signed(X[kept], y[kept])) > 0)
    if not separable:
        assert set(solve(from_arrays(X, y)).support.tolist()) <= set(kept.tolist())


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(awkward(), st.sampled_from(["none", "free", "augmented"]))
def test_the_candidate_is_nearly_the_answer(data, intercept):
    X, y = data
    problem = from_arrays(X, y, intercept=intercept)
    truth = solve(problem)
    if problem.radius == 0:
        return
    found = narrow_candidate(problem, first_of(problem), Watch())
    q = np.zeros(problem.n)
    q[found.support] = found.weights
    assert (found.weights > 0).all()
    assert np.isclose(found.weights.sum(), 1)
    point = problem.combine(q)
    reached = float(point @ point) / problem.radius**2
    assert reached <= float(truth.gamma_squared) / problem.radius**2 + 1e-12
    assert (found.method == "opposed") == (not truth.separable)
    exact = minimum_norm_point(exact_rows(problem), found.support, found.weights)
    assert exact.square == truth.gamma_squared
    assert exact.rounds <= 2  # a tie may have to be settled


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32), st.integers(1, 3))
def test_margins_of_a_billionth_of_the_radius(bits, seed, repeat):
    """±v with a last coordinate 1: w = (0, …, 0, 1) has margin 1, whatever the length of v."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    v = rng.integers(-(2**bits), 2**bits, (3 * d, d))
    ones = np.ones((3 * d, 1), np.int64)
    X = np.vstack([np.hstack([v, ones]), np.hstack([-v, ones])])
    y = np.where(rng.random(len(X)) < 0.5, -1, 1)
    y[:2] = -1, 1
    X, y = np.repeat(X * y[:, None], repeat, axis=0), np.repeat(y, repeat)
    problem = from_arrays(X, y)
    found = narrow_candidate(problem, first_of(problem), Watch())
    assert found.method == "orthogonal"
    exact = minimum_norm_point(exact_rows(problem), found.support, found.weights)
    assert exact.square == 1
    assert exact.rounds == 1


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_the_oracle_takes_this_way_by_itself(intercept):
    """Enough data for compiled code: a narrow margin, and then rows that lose theirs."""
    rng = np.random.default_rng(7)
    v = rng.integers(-(2**20), 2**20, (700, 40))
    X = np.vstack([np.c_[v, np.ones(700, np.int64)], np.c_[-v, np.ones(700, np.int64)]])
    y = np.where(np.arange(1400) % 2, 1, -1)
    X = X * y[:, None]
    truth = solve(from_arrays(X, y, intercept=intercept))
    assert (truth.method, truth.rounds, truth.gamma_squared) == ("orthogonal", 1, 1)
    lost = [0, 1, 700, 701]  # ±v and ±v' of either class, now around the origin
    X[lost, -1] = 0
    opposed = solve(from_arrays(X, y, intercept=intercept))
    assert (opposed.method, opposed.separable, opposed.rounds) == ("opposed", False, 1)
    assert set(opposed.support.tolist()) <= set(lost)


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["0,2", "0,3", "1,3", "2,4", "3,4", "3,6", "5,7", "7,9"])
def test_pairs_of_fashion_that_did_not_end(pair, shared_data):
    truth = solve(load(f"fashion:{pair}"))
    assert truth.separable is False
    assert truth.exact
    assert truth.rounds == 1
