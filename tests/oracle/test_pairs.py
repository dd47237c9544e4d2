"""Proofs of all pairs of classes in 64 bits: never anything but the oracle's exact answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits

import gammabar as gb
from gammabar.oracle.one_vs_one import Pairs

DIGITS, NUMBERS = load_digits(return_X_y=True)


def in_order(X, y):
    """The rows in the order of their classes, and where each begins."""
    order = np.argsort(y, kind="stable")
    return X[order], np.concatenate([[0], np.cumsum(np.bincount(y))])


def truth_of(X, starts, pair, intercept):
    a, b = pair
    rows = np.r_[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]
    signs = np.where(rows < starts[a + 1], 1, -1)
    return rows, gb.solve(X[rows], signs, intercept=intercept)


def assert_same(answer, rows, truth):
    """All that an answer says, compared with the exact numbers."""
    assert truth.separable
    assert answer.rows.tolist() == rows[truth.support].tolist()
    assert answer.weights.tolist() == truth.q[truth.support].tolist()
    assert (answer.lower, answer.upper) == truth.gamma_raw_bounds
    assert (np.abs(answer.w - truth.w) <= np.spacing(np.abs(truth.w))).all()
    assert abs(answer.b - truth.b) <= np.spacing(abs(truth.b))


@st.composite
def classes(draw):
    """Rows of small integers, times a power of two: near to each other, so that many tie."""
    d, k = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    top = draw(st.sampled_from([1, 3, 20, 1000, 2**20, 2**24]))
    spread = draw(st.sampled_from([0, 1, 4]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, draw(st.integers(0, 25)))])
    centres = rng.integers(-top, top + 1, (k, d)) * spread
    X = centres[y] + rng.integers(-top, top + 1, (len(y), d))
    made = X.astype(draw(st.sampled_from([np.int64, np.float64])))
    if made.dtype == np.float64:
        made = np.ldexp(made, draw(st.sampled_from([0, -3, 40, -200])))
    return *in_order(made, y), draw(st.booleans())


@settings(max_examples=25, deadline=None)
@given(classes())
def test_answers_are_the_oracle_s(made):
    X, starts, intercept = made
    pairs = Pairs(X, starts, intercept)
    for pair, answer in zip(pairs.pairs, pairs.answers(), strict=True):
        if answer is not None:
            assert_same(answer, *truth_of(X, starts, pair, intercept))


def test_most_pairs_are_answered():
    """Else the test above would say little."""
    rng, answered, count = np.random.default_rng(3), 0, 0
    for _ in range(30):
        y = np.arange(40) % 4
        X = rng.integers(-20, 21, (4, 5))[y] * 3 + rng.integers(-20, 21, (40, 5))
        pairs = Pairs(*in_order(X, y), True)
        for pair, answer in zip(pairs.pairs, pairs.answers(), strict=True):
            if truth_of(pairs.X, pairs.starts, pair, True)[1].separable:
                count, answered = count + 1, answered + (answer is not None)
    assert count > 60
    assert answered > 0.9 * count


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_wrong_support_is_proved(seed, intercept):
    """Rows left out, added, exchanged for others, or with nothing to them: all are refused."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 3
    X = rng.integers(-9, 10, (3, 3))[y] * 4 + rng.integers(-9, 10, (24, 3))
    X, starts = in_order(X, y)
    pairs = Pairs(X, starts, intercept)
    S, q, sizes = (part.copy() for part in pairs._found)
    answers = pairs.answers()
    for k, s in enumerate(sizes.tolist()):
        others = np.setdiff1d(np.arange(16), S[k, :s])
        if not s or len(others) < 2 or s + 2 > S.shape[1]:
            continue
        change = rng.integers(3)
        if change == 0 and s > 1:
            S[k, : s - 1] = np.delete(S[k, :s], rng.integers(s))
            sizes[k] = s - 1
        elif change == 1:
            S[k, s] = rng.choice(others)
            sizes[k] = s + 1
        else:
            S[k, rng.integers(s)] = rng.choice(others)
    pairs.__dict__["_found"] = S, q, sizes
    for pair, before, after in zip(pairs.pairs, answers, pairs.answers(), strict=True):
        if after is not None:  # a change that led to the truth, where the guess was wrong
            assert before is None
            assert_same(after, *truth_of(X, starts, pair, intercept))


def test_a_row_that_ties_is_not_passed_over():
    """Twins of a support row satisfy the conditions with equality: another way must be gone."""
    X = np.array([[0, 3], [1, 7], [0, -3], [1, -9], [9, 0], [9, 1]])
    once = Pairs(X, [0, 2, 4, 6], True).answers()
    assert once[1] is not None
    twice = Pairs(np.vstack([X[:2], X[:2], X[2:]]), [0, 4, 6, 8], True).answers()
    assert twice[0] is None
    assert twice[1] is None
    assert twice[2] is not None


@pytest.mark.parametrize("X", [DIGITS * 0.1, DIGITS * 2.0**30, DIGITS.astype(np.int64) << 40])
def test_numbers_that_are_too_large_are_left_to_others(X):
    made, starts = in_order(X, NUMBERS)
    pairs = Pairs(made, starts, True)
    answers = pairs.answers()
    if pairs.whole is None:
        assert answers == [None] * 45
        return
    assert answers[0] is not None
    assert_same(answers[0], *truth_of(made, starts, (0, 1), True))


@given(st.integers(1, 5), st.data())
def test_an_inverse_that_is_no_number_anywhere_proves_nothing(n, data):
    from gammabar.oracle._pairs import BITS, _digits, inverse_bound

    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    A = rng.integers(-9, 10, (n, n)) + 50 * np.eye(n, dtype=np.int64)
    C = np.linalg.inv(A)
    assert inverse_bound(A.astype(float), C)[1] >= np.abs(C).sum(axis=1).max()
    place = tuple(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    C[place] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e300]))
    assert inverse_bound(A.astype(float), C)[1] == np.inf
    digits, shifts = np.zeros((6, n), np.int64), np.zeros(6, np.int64)
    # Whatever it finds with a wrong inverse, no digit is too large for the integers to hold.
    found = _digits(A, C, np.ones(n, np.int64), digits, shifts)
    assert not found or np.abs(digits).max() <= 2**BITS


@pytest.mark.parametrize("power", [-90, 80, 99])
def test_products_of_inner_products_beyond_the_doubles(power):
    rng = np.random.default_rng(3)
    X, y = in_order(rng.standard_normal((60, 20)) * 10.0**power, np.arange(60) % 2)
    assert Pairs(X, y, True).guesses == [None]
