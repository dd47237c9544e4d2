"""Products with integers of eight bits: exact, and scores whose bound is kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.oracle.rational import combination
from gammabar.problems import DenseProblem
from gammabar.problems.compiled import octets
from gammabar.problems.points import small_gemm

ENDS = {np.uint8: (0, 255), np.int8: (-128, 127)}


def drawn(rng, dtype, n, d):
    """Random rows, rows of the extreme values, and rows of zeros."""
    lo, hi = ENDS[dtype]
    X = rng.integers(lo, hi, (n, d), dtype=dtype, endpoint=True)
    X[: n // 3] = rng.choice([lo, hi, 0], (n // 3, d))
    X[0] = lo
    X[-1] = hi
    return X


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_products_are_exact(dtype, seed):
    rng = np.random.default_rng(seed)
    m, n, d = rng.integers(1, 12, 3)
    d = int(rng.choice([d, 1 << 13]))  # the widest that `rough` and `gram` are for
    A, B = drawn(rng, dtype, m, d), drawn(rng, dtype, n, d)
    out = np.full((m, n), np.nan)
    octets.products(A, B, out)
    assert (out == A.astype(np.int64) @ B.astype(np.int64).T).all()
    most = min(octets.room(d, A.dtype), 2**15 - 1)
    assert most >= 1 << 10
    w = rng.choice([-most, most, 0, 1], d).astype(np.int16)
    scores = np.full(m, np.nan)
    octets.dot(A, w, scores, 0, int(m))
    assert (scores == A.astype(np.int64) @ w.astype(np.int64)).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rough_scores_keep_their_bound(dtype, seed):
    """Against rationals; the vectors include those whose entries all round the same way."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 60))
    problem = DenseProblem(drawn(rng, dtype, n, d), rng.choice([-1, 1], n))
    w = rng.standard_normal(d) * 10.0 ** rng.integers(-30, 30)
    if rng.random() < 0.5:
        w[1:] = (
            (rng.integers(-50, 50, d - 1) + 0.4999) * abs(w[0]) / octets.room(d, np.dtype(dtype))
        )
    rough = problem.rough_scores(w)
    if not w.any():
        assert rough is None
        return
    scores, error = rough
    rows = [[int(v) for v in row] for row in problem.X]
    for i, row in enumerate(rows):
        truth = int(problem.y[i]) * sum(v * Fraction(float(c)) for v, c in zip(row, w, strict=True))
        assert abs(Fraction(float(scores[i])) - truth) <= Fraction(float(error))
    some = rng.integers(0, n, 5)
    assert problem.some_scores(some, w) == pytest.approx(
        problem.scores(w)[some], rel=1e-12, abs=error * 1e-9
    )
    signed = problem.X.astype(np.int64) * problem.y.astype(np.int64)[:, None]
    assert (problem.gram(some) == signed[some] @ signed[some].T).all()
    assert (problem.gram(some, np.arange(n)) == signed[some] @ signed.T).all()


def test_other_rows_have_no_rough_scores():
    doubles = DenseProblem(np.eye(3), [1, -1, 1])
    assert doubles.rough_scores(np.ones(3)) is None
    assert doubles.some_scores(np.array([2, 0]), np.arange(3.0)).tolist() == [2.0, 0.0]
    unit = DenseProblem(np.array([[0, 2], [4, 0]], np.uint8), [1, -1]).unit()
    assert unit.rough_scores(np.ones(2)) is None
    assert unit.some_scores(np.array([1]), np.ones(2)).tolist() == [-1.0]
    zeros = DenseProblem(np.zeros((2, 2), np.uint8), [1, -1])
    assert zeros.rough_scores(np.array([np.nan, 1.0])) is None


@settings(max_examples=150, deadline=None)
@given(
    numerators=st.lists(
        st.integers(-(2**200), 2**200) | st.integers(-5, 5), min_size=1, max_size=9
    ),
    bits=st.sampled_from([1, 8, 30, 52, 62]),
    seed=st.integers(0, 2**32 - 1),
)
def test_combinations_are_exact(numerators, bits, seed):
    """By limbs or not: the same integers as Python's."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-(2**bits) + 1, 2**bits, (len(numerators), 4))
    found = [int(v) for v in combination(numerators, rows).entries()]
    columns = rows.T.tolist()
    assert found == [
        sum(q * v for q, v in zip(numerators, column, strict=True)) for column in columns
    ]


@pytest.mark.parametrize("shape", [(1, 1, 1), (40, 90, 200), (3, 500, 700), (2, 2, 70_000)])
def test_blocks_make_the_same_product(shape):
    m, n, d = shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (m, d)).astype(float), rng.integers(-9, 9, (n, d)).astype(float)
    assert (small_gemm(a, b) == a @ b.T).all()
