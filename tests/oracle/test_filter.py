"""The floating-point filter never clears a row that exact arithmetic would not clear.

Thresholds are put exactly at the score of a row and a hair above it, where doubles cannot tell.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from gammabar.oracle.rational import exact_rows
from gammabar.problems import from_arrays

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
                found = {j for _, j in rows.violated(point, threshold) if j in exact}
                assert found == {j for j, score in exact.items() if score < threshold}


def test_filter_clears_rows_that_are_far_away():
    problem = problems()["uint8"]
    rows = exact_rows(problem)
    point = rows.point(np.array([0, 1]), [1, 1])
    score = rows.score(5, point)
    doubtful = rows.doubtful(point, score)
    above = sum(rows.score(i, point) > score for i in range(200))
    assert len([i for i in doubtful if i < 200]) <= 200 - above + 1
