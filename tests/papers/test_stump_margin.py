"""The exact ℓ₁ margin of all stumps, against all of them at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gammabar.oracle.l1 import solve_l1
from gammabar.papers.lecture.figures import stump_margin
from gammabar.solvers.boosting import Stump


def every_stump(X: np.ndarray) -> list[Stump]:
    """All that differ on the points."""
    cuts = [(j, v) for j in range(X.shape[1]) for v in np.unique(X[:, j])[:-1].tolist()]
    return [Stump(0, -np.inf, s) for s in (1, -1)] + [
        Stump(j, v, s) for j, v in cuts for s in (1, -1)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_it_is_that_of_all_stumps_at_once(seed: int):
    rng = np.random.default_rng(seed)
    X = rng.integers(
        0, int(rng.integers(2, 6)), (int(rng.integers(2, 14)), int(rng.integers(1, 6)))
    )
    y = rng.choice([-1, 1], len(X))
    votes = np.stack([h(X) * y for h in every_stump(X)], axis=1).astype(np.int64)
    wanted = solve_l1(votes, signed=False)
    assert wanted.exact
    found = stump_margin(X, y, [])
    assert found.value == found.bound == wanted.value_lo


def test_points_that_contradict_each_other_have_no_margin():
    found = stump_margin(np.array([[1], [1]]), np.array([1, -1]), [])
    assert found.value == found.bound == Fraction(0)
