"""The exact oracle against brute force, against itself, and on the awkward corners."""

from __future__ import annotations

import importlib
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.oracle import candidate, solve
from gammabar.oracle.candidate import working_set
from gammabar.oracle.proof import minimum_norm_point
from gammabar.oracle.rational import exact_rows
from gammabar.problems import from_arrays, load

entries = st.integers(-6, 6)


@st.composite
def small(draw, max_n=7, max_d=3, values=entries):
    """Points and labels of both classes."""
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, max_d))
    X = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[0], y[1] = -1, 1
    return np.array(X), np.array(y)


def signed_rows(X, y):
    return [[Fraction(v) * int(s) for v in row] for row, s in zip(X.tolist(), y, strict=True)]


def weights(truth):
    return [Fraction(v, truth.total) for v in truth.numerators]


@settings(max_examples=100)
@given(small(max_n=10), st.data())
def test_any_candidate_is_repaired(data, choose):
    """The proof may start from nonsense and still ends with the truth."""
    X, y = data
    problem = from_arrays(X, y)
    n = problem.n
    support = choose.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weights = np.full(len(support), 1 / len(support))
    found = minimum_norm_point(exact_rows(problem), np.array(support), weights)
    assert found.square == solve(problem).gamma_squared
    assert sum(found.numerators) == found.total
    assert min(found.numerators) > 0


def test_candidate_on_planted_data_needs_no_repair():
    rng = np.random.default_rng(3)
    X = rng.integers(-50, 50, (3000, 20))
    X[:, 0] = np.where(np.arange(3000) % 2, 40, -40)
    y = np.sign(X[:, 0])
    problem = from_arrays(X, y)
    assert solve(problem).rounds == 1
    assert working_set(problem).scans < 20


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 6), st.booleans())
def test_the_plain_core_finds_what_the_compiled_one_finds(seed, n, d, free):
    """Little data go without compiled code; both are candidates, and mostly the same."""
    from gammabar.oracle._wolfe import minimum_norm
    from gammabar.oracle.candidate import _plain_minimum_norm

    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) + 1.0
    side = (np.arange(n) % 2) if free else np.zeros(n, np.int64)
    A[side == 1] += 1.0
    G, sides = A @ A.T, 1 + free
    c2 = float(G.diagonal().max())
    squares = []
    for core in (minimum_norm, _plain_minimum_norm):
        S, q, R = np.zeros(64, np.int64), np.zeros(64), np.zeros((64, 64))
        S[:sides], q[:sides] = np.arange(sides), 1 / sides
        H = G[:sides, :sides] + c2 * np.eye(sides)
        R[:sides, :sides] = np.linalg.cholesky(H).T
        size = core(G, c2, side, S, q, sides, R, sides)
        assert q[:size].sum() == pytest.approx(1)
        assert q[:size][side[S[:size]] == 0].sum() == pytest.approx(1 / sides)
        squares.append(q[:size] @ G[np.ix_(S[:size], S[:size])] @ q[:size])
    assert squares[0] == pytest.approx(squares[1], rel=1e-7, abs=1e-12 * c2)


@settings(max_examples=100, deadline=None)
@given(small(max_n=24, max_d=4), st.sampled_from(["none", "free"]))
def test_the_dual_optimum_does_not_depend_on_what_the_process_has_loaded(points, intercept):
    problem, core = from_arrays(*points, intercept=intercept), "gammabar.oracle._wolfe"
    answers = []
    for loaded in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if loaded:
                importlib.import_module(core)
            else:
                patch.delitem(sys.modules, core, raising=False)
            truth = solve(problem)
        answers.append((truth.support.tolist(), weights(truth)))
    assert answers[0] == answers[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 60), st.booleans())
def test_rows_that_come_and_go_in_blocks_lead_to_the_same_answer(seed, n, d, free):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-9, 10, (n, d)), np.where(np.arange(n) % 2, 1, -1)
    X[-1] = X[0] if seed % 5 == 0 else X[-1]  # a row that is there twice, or with both labels
    problem = from_arrays(X, y, intercept="free" if free else "none")
    answers = []
    for most in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(candidate, "WIDE", most)
            answers.append(solve(problem))
    assert answers[0].gamma_squared == answers[1].gamma_squared


def test_wide_data_are_settled_in_one_scan():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 120)), np.where(np.arange(150) % 2, 1, -1)
    for intercept in ("none", "free"):
        found = working_set(from_arrays(X, y, intercept=intercept))
        assert (found.scans, found.settled) == (1, True)


# --- generated problems whose truth is known by construction: the oracle finds it exactly


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
    assert solve(problem).gamma_squared == problem.known.gamma_squared


# --- between two passes over all rows few of them are looked at: perhaps none of a small class


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
            patch.setattr(candidate, "_MANY", least)
            found = solve(from_arrays(X, y, intercept=intercept))
            answers.append((found.separable, found.square_lo, found.square_hi))
    assert answers[0] == answers[1]
