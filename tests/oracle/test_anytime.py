"""A search that is ended early has bounds that are proved."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_data import awkward
from hypothesis import given, settings, strategies as st

from gammabar.oracle import solve
from gammabar.oracle.candidate import Combination, Interrupted, Watch
from gammabar.oracle.check import check
from gammabar.oracle.maximum_margin import _bounds_so_far
from gammabar.oracle.rational import exact_rows
from gammabar.problems import ProblemError, from_arrays


def accepted(truth, problem, folder):
    """What the independent checker says of a certificate."""
    np.savez(folder / "data.npz", X=problem.plain.X, y=problem.y)
    truth.save(folder / "c.json")
    return check(str(folder / "c.json"), str(folder / "data.npz"))


@settings(max_examples=60, deadline=None)
@given(awkward(), st.sampled_from(["none", "free", "augmented"]), st.integers(0, 2**32))
def test_any_weights_prove_bounds_that_hold_and_are_accepted(
    tmp_path_factory, data, intercept, seed
):
    X, y = data
    problem = from_arrays(X, y, intercept=intercept)
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(2):
        rows = np.union1d(rng.choice(problem.n, rng.integers(1, problem.n + 1)), [0, 1])
        parts.append(Combination(rows.astype(np.int64), rng.random(len(rows)) + 1e-9, 1.0))
    watch = Watch(upper=parts[0], lower=parts[1])
    truth = _bounds_so_far(problem, exact_rows(problem), watch, 0.0)
    square = solve(problem).gamma_squared
    assert truth.square_lo <= square <= truth.square_hi
    said = accepted(truth, problem, tmp_path_factory.mktemp("bounds"))
    if truth.separable is None:
        assert "undecided whether separable" in said
    w = problem.combine(np.bincount(parts[1].rows, parts[1].weights, problem.n))
    if intercept != "free" and problem.scores(w).min() > 1e-6:
        assert truth.square_lo > 0
        assert truth.separable


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_no_time_at_all(intercept, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (60, 3))
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    problem = from_arrays(X, y, intercept=intercept)
    truth = solve(problem, time_limit=0)
    assert not truth.exact
    assert truth.separable is None
    assert truth.gamma_hi > 0
    assert "undecided" in accepted(truth, problem, tmp_path)
    assert solve(problem, time_limit=1000).exact


def test_interrupted_by_hand():
    rng = np.random.default_rng(1)
    X = rng.integers(-9, 10, (500, 5))
    problem = from_arrays(X, np.where(X.sum(axis=1) > 0, 1, -1))

    def stop(stage):
        if stage == "proof":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        solve(problem, progress=stop)
    truth, exact = caught.value.bounds(), solve(problem)
    assert truth.square_lo <= exact.gamma_squared <= truth.square_hi
    assert truth.gamma_hi - truth.gamma_lo < 1e-9


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf")])
def test_limits_that_are_none(limit):
    with pytest.raises(ProblemError, match="time_limit must be a number of seconds"):
        solve([[1], [2]], [0, 1], time_limit=limit)


@pytest.mark.parametrize("more", [{"norm": "l1"}, {"signed": True}])
def test_no_limit_for_other_margins(more):
    with pytest.raises(ProblemError, match="there is no time limit for"):
        solve([[1], [2]], [0, 1], time_limit=1, **more)
