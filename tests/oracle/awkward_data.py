"""Small data in special position, for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def awkward(draw):
    """Few values, so that there are duplicates, ties, zero rows and dependent columns."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    values = draw(st.sampled_from([st.integers(-1, 1), st.integers(0, 2), st.integers(-40, 40)]))
    X = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    if draw(st.booleans()):
        X = [[*row, sum(row), 0] for row in X]  # of smaller rank than columns
    if draw(st.booleans()):
        X = X + X[: draw(st.integers(1, n))]
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X)))
    y[0], y[1] = -1, 1
    return np.array(X), np.array(y)
