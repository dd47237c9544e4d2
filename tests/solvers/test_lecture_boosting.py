"""AdaBoost of the lecture against the reference in fractions, and its lemma."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from reference import lecture

import gammabar.solvers.boosting as stumps_module
from gammabar.problems import DenseProblem, ProblemError, SparseProblem
from gammabar.solvers.boosting import AdaBoost, BestStump, Stump

ROUNDS = 10
ENTRIES = (0, 0, -2, -1, 1, 2, 2**62 - 2, 2**62 - 1, 2**62, -(2**62), 1 - 2**62)


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
@settings(max_examples=200)
@given(case=samples(8, range(-3, 4)))
def test_every_round_is_that_of_algorithm_3(sparse, case):
    """Distribution, error, normaliser and votes; and the stump is the best for the exact D_t."""
    X, y = case
    D, ratios, signs = [Fraction(1, len(y))] * len(y), [], []
    start, *votes = run(np.array(X), y, sparse=sparse)
    assert (start.t, start.error, start.margin, len(start.w)) == (0, 1.0, 0.0, 0)
    candidates = list(lecture.all_stumps(X))
    product = Fraction(1)
    for t, vote in enumerate(votes, start=1):
        assert vote.t == t
        np.testing.assert_allclose(vote.extra["D"], [float(v) for v in D], rtol=1e-12)
        errors = [lecture.mistakes(lecture.stump(*s, X), y, D) for s in candidates]
        h = vote.hypotheses[-1]
        predicted = lecture.stump(h.feature, h.threshold, h.sign, X)
        assert h(np.array(X)).tolist() == predicted
        epsilon = lecture.mistakes(predicted, y, D)
        assert epsilon <= min(errors) + Fraction(1, 10**13)
        if t == 1:  # weights are equal, so ties are ties
            best = candidates[errors.index(min(errors))]
            assert (h.feature, h.threshold, h.sign) == best
        assert vote.extra["epsilon"] == pytest.approx(float(epsilon), rel=1e-12, abs=0)
        assert vote.extra["gamma"] == pytest.approx(0.5 - float(epsilon), abs=1e-12)
        product *= 4 * epsilon * (1 - epsilon)
        if epsilon == 0:
            assert (vote.extra["alpha"], vote.extra["z"], vote.extra["product"]) == (math.inf, 0, 0)
            assert (vote.w.tolist(), len(vote.hypotheses), vote.error) == ([1.0], 1, 0)
            return
        ratios.append((1 - epsilon) / epsilon)
        signs.append([a * b for a, b in zip(predicted, y, strict=True)])
        D = lecture.reweigh(predicted, y, D)
        alphas = [math.log(r) / 2 for r in ratios]
        np.testing.assert_allclose(vote.w, alphas, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(vote.weights, [float(v) for v in D], rtol=1e-12)
        np.testing.assert_allclose(vote.scores, np.array(alphas) @ signs, atol=1e-11)
        assert vote.extra["z"] == pytest.approx(math.sqrt(4 * epsilon * (1 - epsilon)), rel=1e-12)
        assert vote.extra["product"] == pytest.approx(math.sqrt(product), rel=1e-11)


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
    candidates = list(lecture.all_stumps(X))
    edges = [half - lecture.mistakes(lecture.stump(*s, X), y, D) for s in candidates]
    assert (h.feature, h.threshold, h.sign) == candidates[edges.index(max(edges))]
    points = scipy.sparse.csr_array(matrix) if sparse else matrix
    assert h(points).tolist() == lecture.stump(h.feature, h.threshold, h.sign, X)


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
        assert (vote.w.tolist(), vote.error, vote.margin) == ([1.0], 0.0, 1.0)
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
