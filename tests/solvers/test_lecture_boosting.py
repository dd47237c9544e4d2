"""AdaBoost of the lecture against the reference in fractions, and its lemma."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from step_checks import steps_hold

import gammabar.solvers.boosting as stumps_module
from gammabar.problems import DenseProblem, ProblemError, SparseProblem
from gammabar.solvers.boosting import AdaBoost, BestStump, Stump

ROUNDS = 10
ENTRIES = (0, 0, -2, -1, 1, 2, 2**62 - 2, 2**62 - 1, 2**62, -(2**62), 1 - 2**62)


def stump(j, threshold, sign, X):
    return [sign if row[j] > threshold else -sign for row in X]


def all_stumps(X):
    """Constants first, then columns and thresholds ascending."""
    cuts = [(j, v) for j in range(len(X[0])) for v in sorted({row[j] for row in X})[:-1]]
    return [(j, v, sign) for j, v in [(0, -math.inf), *cuts] for sign in (1, -1)]


def mistakes(h, y, D):
    return sum((w for a, b, w in zip(h, y, D, strict=True) if a != b), Fraction(0))


@st.composite
def samples(draw, rows, entries):
    n, d = draw(st.integers(1, rows)), draw(st.integers(1, 3))
    row = st.lists(st.sampled_from(entries), min_size=d, max_size=d)
    X = draw(st.lists(row, min_size=n, max_size=n))
    return X, draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))


def run(X, y, rounds=ROUNDS, sparse=False):
    X, kind = (scipy.sparse.csr_array(X), SparseProblem) if sparse else (X, DenseProblem)
    return list(islice(AdaBoost().iterates(kind(X, np.array(y))), rounds + 1))


@pytest.mark.full
@pytest.mark.parametrize("sparse", [False, True])
@settings(max_examples=40, deadline=None)
@given(case=samples(8, range(-3, 4)))
def test_every_round_is_that_of_algorithm_3(sparse, case):
    """Distribution, error, normaliser and votes; and the stump is the best."""
    X, y = np.array(case[0]), np.array(case[1])
    problem = SparseProblem(scipy.sparse.csr_array(X), y) if sparse else DenseProblem(X, y)
    for name in ("gb.lec.adaboost.step", "gb.lec.stumps.best"):
        steps_hold(name, AdaBoost(), problem)
    start, *votes = run(X, y, sparse=sparse)
    assert (start.t, start.error, start.margin, len(start.w)) == (0, 1.0, 0.0, 0)
    for vote in votes:
        assert vote.extra["gamma"] == 0.5 - vote.extra["epsilon"]
        assert vote.error == np.mean(vote.scores <= 0)


@pytest.mark.parametrize("block", [1, 1 << 18])
@pytest.mark.parametrize("sparse", [False, True])
@settings(max_examples=100)
@given(case=samples(12, ENTRIES), data=st.data())
def test_the_best_stump_is_the_first_best_of_all(block, sparse, case, data):
    """Whole weights over a power of two: every sum is exact, ties included."""
    X, y = case
    old, stumps_module._BLOCK = stumps_module._BLOCK, block
    parts = data.draw(st.lists(st.integers(0, 7), min_size=len(y), max_size=len(y)))
    D = [Fraction(p, 128) for p in parts]
    matrix = np.array(X, dtype=np.int64)
    try:
        learn = BestStump()(scipy.sparse.csr_array(matrix) if sparse else matrix, np.array(y))
        h = learn(np.array([float(v) for v in D]))
    finally:
        stumps_module._BLOCK = old
    half = sum(D) / 2
    candidates = list(all_stumps(X))
    edges = [half - mistakes(stump(*s, X), y, D) for s in candidates]
    assert (h.feature, h.threshold, h.sign) == candidates[edges.index(max(edges))]
    points = scipy.sparse.csr_array(matrix) if sparse else matrix
    assert h(points).tolist() == stump(h.feature, h.threshold, h.sign, X)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.float32, np.float64])
def test_thresholds_are_exact_in_every_dtype(dtype):
    top = {np.uint8: 255, np.uint64: 2**64 - 1}.get(dtype, np.nextafter(dtype(1), dtype(2)))
    low = {np.uint8: 254, np.uint64: 2**64 - 2}.get(dtype, dtype(1))
    X = np.array([[low], [top]], dtype=dtype)
    vote = run(X, [-1, 1], rounds=1)[1]
    assert vote.error == 0
    assert vote.hypotheses == (Stump(0, X[0, 0].item(), 1),)


def test_a_perfect_hypothesis_stands_alone_and_stays():
    """+ − + is not a stump's work, but a plugged-in learner may know it in the second round."""
    X, y = np.array([[1], [2], [3]]), np.array([1, -1, 1])
    calls = []

    def learner(X, y):
        def learn(D):
            calls.append(D)
            return Stump(0, 2, 1) if len(calls) == 1 else (lambda X: np.array([1, -1, 1]))

        return learn

    votes = list(islice(AdaBoost(learner).iterates(DenseProblem(X, y)), 5))
    assert [v.t for v in votes] == [0, 1, 2, 3, 4]
    assert len(calls) == 2
    for vote in votes[2:]:
        assert (vote.w.tolist(), vote.error, vote.l1_margin) == ([1.0], 0.0, 1.0)
        assert (vote.extra["epsilon"], vote.extra["alpha"], vote.extra["z"]) == (0, math.inf, 0)
        np.testing.assert_array_equal(vote.weights, calls[1])
        assert vote.predict(X).tolist() == y.tolist()


def test_a_hypothesis_that_is_always_wrong_is_turned_around():
    X, y = np.array([[1], [2]]), np.array([1, -1])
    problem = DenseProblem(X, y)
    vote = next(islice(AdaBoost(lambda X, y: lambda D: lambda X: -y).iterates(problem), 1, None))
    assert (vote.w.tolist(), vote.error, vote.extra["epsilon"]) == ([-1.0], 0.0, 1.0)
    assert vote.extra["alpha"] == -math.inf


def test_what_is_no_hypothesis_is_refused():
    problem = DenseProblem(np.array([[1], [2]]), np.array([1, -1]))
    for bad in (np.array([1, 0]), np.array([1]), np.array([0.5, 1]), np.array([math.nan, 1])):
        run = AdaBoost(lambda X, y, bad=bad: lambda D: lambda X: bad).iterates(problem)
        next(run)
        with pytest.raises(ProblemError, match="must return"):
            next(run)


def test_weights_below_the_smallest_double_are_reported():
    """The last point is right until its weight has underflowed, and then alone is wrong."""
    X, y = np.array([[1], [2], [3], [4], [5]]), np.array([1, 1, 1, 1, -1])
    rights = [{0, 1, 2}, {0, 1, 3}, {0, 2, 3}]
    calls = iter(range(10**6))

    def learn(D):
        k = next(calls)
        right = {4} | rights[k % 3] if k < 2700 else {0, 1, 2, 3}
        return lambda X: np.where([i in right for i in range(5)], y, -y)

    run = AdaBoost(lambda X, y: learn).iterates(DenseProblem(X, y))
    with pytest.raises(ProblemError, match="smallest double"):
        list(islice(run, 2702))
