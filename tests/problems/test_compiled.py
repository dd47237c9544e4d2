"""The compiled loops: close to the exact sums, and the same for every number of threads."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gammabar.problems.points as points_module
from gammabar.problems import DenseProblem, SparseProblem, compiled
from gammabar.problems.points import small_gemm

#: Each dtype is compiled for itself, which takes a few seconds: the others are slow tests.
USUAL = (np.uint8, np.float32, np.float64)
OTHERS = (np.int8, np.int16, np.int32, np.int64, np.uint64)
DTYPES = [pytest.param(t, marks=[pytest.mark.slow] if t in OTHERS else []) for t in USUAL + OTHERS]


def points(rng: np.random.Generator, shape: tuple[int, int], dtype, size: float):
    """Points of some dtype, a third of them zero, of about this size (or all that fits)."""
    values = np.where(rng.random(shape) < 0.3, 0, rng.standard_normal(shape) * size)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = np.clip(np.rint(np.abs(values) if info.min == 0 else values), info.min, info.max)
        large = values >= float(info.max)  # which may be no number of this dtype
        return np.where(large, info.max, np.where(large, 0, values).astype(dtype))
    return np.clip(values, -3e38, 3e38).astype(dtype)


def laid_out(X, layout: str):
    """The same points, in another order of memory."""
    if layout == "fortran":
        return np.asfortranarray(X)
    if layout == "backwards":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "every other":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    return X.astype(X.dtype.newbyteorder(">")) if layout == "big-endian" else X


@pytest.mark.full
@pytest.mark.parametrize("geometry", [DenseProblem, SparseProblem])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pass_is_right_whoever_makes_it(dtype, geometry, monkeypatch):
    """Against sums in 64 bits of mantissa; blocks, stripes and threads as they may come."""
    monkeypatch.setattr(points_module, "SMALL", 0)

    @settings(max_examples=60, deadline=None)
    @given(
        seed=st.integers(0, 2**32),
        n=st.integers(1, 40),
        d=st.one_of(st.integers(1, 70), st.just(784)),
        size=st.sampled_from((0.5, 50.0, 1e6, 1e19, 1e30)),
        temperature=st.sampled_from((1e-300, 1e-3, 1.0, 1e3, 1e300)),
        layout=st.sampled_from(("plain", "fortran", "backwards", "every other", "big-endian")),
        stripes=st.integers(1, 5),
        block=st.sampled_from((1, 1 << 12, 1 << 18)),
    )
    def check(seed, n, d, size, temperature, layout, stripes, block):
        rng = np.random.default_rng(seed)
        X = points(rng, (n, d), dtype, size)
        y, w = rng.choice([-1, 1], n), rng.standard_normal(d) / size
        problem = (
            SparseProblem(scipy.sparse.csr_array(X), y)
            if geometry is SparseProblem
            else DenseProblem(laid_out(X, layout), y)
        )
        cuts = [n * s // min(n, stripes) for s in range(min(n, stripes) + 1)]
        problem.points._stripes = lambda: list(itertools.pairwise(cuts))
        found = []
        for threads in (1, 2, 3):
            with monkeypatch.context() as patch:
                patch.setattr(points_module, "BLOCK_BYTES", block)
                patch.setattr(points_module, "threads", lambda threads=threads: threads)
                soft = problem.softmin(w, temperature)
                parts = (soft.smallest, soft.logsumexp, soft.pull, soft.scores, problem.scores(w))
                found.append([np.asarray(part).tobytes() for part in parts])
        assert found[0] == found[1] == found[2]
        A = y[:, None] * X.astype(np.longdouble)
        scores, error = A @ w, (d + 4) * 2.0**-52 * (np.abs(A) @ np.abs(w))
        assert (np.abs(soft.scores - scores) <= error).all()
        assert (np.abs(problem.scores(w) - scores) <= error).all()
        assert soft.smallest == soft.scores.min()
        # The weights from the scores as computed: softmax would magnify their errors.
        e = np.exp((soft.smallest - soft.scores.astype(np.longdouble)) / temperature)
        q = e / e.sum()
        bound = (n + d + 60) * 2.0**-52 * (np.abs(A).T @ q) + 1e-300
        assert (np.abs(soft.pull - A.T @ q) <= bound).all()
        logsumexp = np.log(e.sum()) - np.longdouble(soft.smallest) / temperature
        close = abs(soft.logsumexp - logsumexp) <= 1e-14 * (n + abs(logsumexp))
        assert close or np.isinf(soft.logsumexp)

    check()


@pytest.mark.parametrize("extreme", [2.0**-1063, 2.0**-664, 2.0**664, 2.0**1016])
def test_extremes_are_those_of_numpy(extreme, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (21, 19)).astype(np.float32)
    found = []
    for small in (points_module.SMALL, 0):
        monkeypatch.setattr(points_module, "SMALL", small)
        with np.errstate(all="ignore"):
            soft = DenseProblem(X, np.ones(21)).softmin(np.full(19, extreme))
        found.append((soft.smallest, soft.logsumexp, soft.pull, soft.scores))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with np.errstate(all="ignore"):  # sums of infinities of both signs
        assert np.isnan(DenseProblem(X, np.ones(21)).softmin(np.full(19, 1.5e308)).smallest)


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
    compiled.octet_products(A, B, out)
    assert (out == A.astype(np.int64) @ B.astype(np.int64).T).all()
    most = min(compiled.octet_room(d, A.dtype), 2**15 - 1)
    assert most >= 1 << 10
    w = rng.choice([-most, most, 0, 1], d).astype(np.int16)
    scores = np.full(m, np.nan)
    compiled.octet_dot(A, w, scores)
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
        unit = abs(w[0]) / compiled.octet_room(d, np.dtype(dtype))
        w[1:] = (rng.integers(-50, 50, d - 1) + 0.4999) * unit
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


@pytest.mark.parametrize("shape", [(1, 1, 1), (40, 90, 200), (3, 500, 700), (2, 2, 70_000)])
def test_blocks_make_the_same_product(shape):
    m, n, d = shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (m, d)).astype(float), rng.integers(-9, 9, (n, d)).astype(float)
    assert (small_gemm(a, b) == a @ b.T).all()
