"""Between two passes over all rows few of them are looked at: perhaps none of a small class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.oracle import pricing as scans, solve
from gammabar.problems import from_arrays


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    few=st.integers(1, 6),
    many=st.integers(20, 80),
    shift=st.integers(-30, 30),
    intercept=st.sampled_from(["none", "free", "augmented"]),
)
def test_what_is_looked_at_changes_no_answer(seed, few, many, shift, intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (few + many, 3)).astype(np.uint8)
    y = np.array([1] * few + [-1] * many)
    X[y > 0, 0] = np.clip(X[y > 0, 0].astype(int) + 60 + shift, 0, 255)
    with pytest.MonkeyPatch.context() as patch:
        answers = []
        for least in (10**9, 1):
            patch.setattr(scans, "_MANY", least)
            found = solve(from_arrays(X, y, intercept=intercept))
            answers.append((found.separable, found.square_lo, found.square_hi))
    assert answers[0] == answers[1]
