"""Generated problems whose truth is known by construction: the oracle finds it exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from gammabar.oracle import solve
from gammabar.problems import load
from gammabar.problems.generators import known


@settings(max_examples=60)
@given(
    st.integers(2, 60), st.integers(2, 8), st.integers(1, 99), st.integers(0, 10**6), st.booleans()
)
def test_planted_margins_are_recovered(n, d, percent, seed, rotate):
    gamma = f"0.{percent:02d}"
    problem = load(f"planted:n={n},d={d},gamma={gamma},seed={seed},rotate={int(rotate)}")
    truth, told = solve(problem), known(problem)
    assert truth.gamma_squared == told.gamma_squared
    assert truth.radius_squared_lo == told.radius_squared
    assert truth.digits(10) == gamma.rstrip("0")


@pytest.mark.parametrize(
    "data",
    [
        "worst-case:n=50",
        "loss-spike",
        "two-lines:r=3",
        "imbalanced:n=60,d=4,ratio=5,gamma=0.2",
        "inseparable:n=40,d=5,seed=3",
        "duplicated:n=10,d=3,copies=3",
        "degenerate:kind=ties",
    ],
)
def test_families_with_known_truth(data):
    problem = load(data)
    assert solve(problem).gamma_squared == known(problem).gamma_squared
