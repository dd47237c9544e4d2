"""The multiclass reduction, against the matrix of it written out (first paper, Section 5.2)."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import gammabar.problems.points as points_module
from gammabar.problems import DenseProblem, MulticlassProblem, ProblemError


def explicit_matrix(X, labels, k):
    """Every row x_i (e_c - e_j)^T / sqrt(2), flattened, by points and then wrong classes."""
    e = np.eye(k)
    rows = [
        np.outer(x, e[c] - e[j]).ravel() / math.sqrt(2)
        for x, c in zip(X.astype(float), labels, strict=True)
        for j in range(k)
        if j != c
    ]
    return np.array(rows)


@st.composite
def cases(draw):
    n, d, k = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(2, 5))
    dtype = draw(st.sampled_from((np.uint8, np.int16, np.float32, np.float64)))
    low = 0 if dtype == np.uint8 else -100
    X = draw(hnp.arrays(dtype, (n, d), elements=st.integers(low, 100)))
    labels = draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))
    w = draw(hnp.arrays(float, d * k, elements=st.floats(-3, 3)))
    q = draw(hnp.arrays(float, n * (k - 1), elements=st.one_of(st.just(0.0), st.floats(0, 1))))
    return X, labels, k, w, q


@pytest.mark.full
@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("view", ["raw", "unit"])
@pytest.mark.parametrize("block", [1, 1 << 18])
def test_the_reduction_equals_the_matrix_written_out(store, view, block, monkeypatch):
    monkeypatch.setattr(points_module.DensePoints.blocks, "__defaults__", (block,))
    monkeypatch.setattr(points_module.SparsePoints.blocks, "__defaults__", (block,))

    @given(cases(), st.sampled_from((0.5, 1.0, 20.0)))
    def check(case, temperature):
        X, labels, k, w, q = case
        A = explicit_matrix(X, labels, k)
        problem = MulticlassProblem(store(X), labels, k)
        radius = math.sqrt(np.square(A).sum(axis=1).max())
        assert problem.radius == pytest.approx(radius, rel=1e-14)
        if view == "unit":
            problem = problem.unit()
            A = A / radius if radius else A
        size = 1 + np.abs(A).max() * (1 + np.abs(w).sum() + np.abs(q).sum())
        exact = {"rtol": 0, "atol": 1e-12 * size * size}
        assert (problem.n, problem.dimension) == A.shape
        np.testing.assert_allclose(problem.scores(w), A @ w, **exact)
        np.testing.assert_allclose(problem.combine(q), A.T @ q, **exact)
        np.testing.assert_allclose([problem.row(i) for i in range(problem.n)], A, **exact)
        rows = np.arange(problem.n)
        np.testing.assert_allclose(problem.gram(rows), A @ A.T, **exact)
        np.testing.assert_allclose(problem.gram(rows[::-2], rows[:3]), A[::-2] @ A[:3].T, **exact)
        assert problem.inner(problem.combine(q), w) == pytest.approx(
            problem.scores(w) @ q, abs=exact["atol"]
        )
        assert problem.norm(w) == pytest.approx(np.linalg.norm(w))
        z = -(A @ w) / temperature
        e = np.exp(z - z.max())
        soft = problem.softmin(w, temperature)
        np.testing.assert_allclose(soft.scores, A @ w, **exact)
        assert soft.smallest == soft.scores.min()
        assert soft.logsumexp == pytest.approx(z.max() + math.log(e.sum()), abs=exact["atol"])
        np.testing.assert_allclose(soft.pull, A.T @ (e / e.sum()), **exact)

    check()


@given(
    hnp.arrays(np.int16, (5, 3), elements=st.integers(-50, 50)),
    hnp.arrays(np.int64, 5, elements=st.integers(0, 1)),
    hnp.arrays(float, 3, elements=st.floats(-3, 3, width=16)),
)
def test_two_classes_are_the_binary_problem(X, labels, u):
    """With U = u (e_1 - e_0)^T / sqrt(2) scores, norm and margin are those of u."""
    binary = DenseProblem(X, 2 * labels - 1)
    multi = MulticlassProblem(X, labels, 2)
    w = np.outer(u, [-1.0, 1.0]).ravel() / math.sqrt(2)
    np.testing.assert_allclose(multi.scores(w), binary.scores(u), rtol=1e-13, atol=1e-11)
    assert multi.norm(w) == pytest.approx(binary.norm(u), rel=1e-14)
    assert multi.margin(w) == pytest.approx(binary.margin(u), rel=1e-12, abs=1e-11)
    np.testing.assert_array_equal(multi.gram(range(5)), binary.gram(range(5)))
    assert multi.radius == binary.radius


def test_the_margin_is_that_of_the_paper():
    """min_i min_{c != c_i} (x_i^T U e_{c_i} - x_i^T U e_c) / ||U||_F is sqrt(2) gamma(w)."""
    rng = np.random.default_rng(4)
    X, labels, U = rng.integers(0, 9, (8, 3)), rng.integers(0, 4, 8), rng.standard_normal((3, 4))
    S = X @ U
    gaps = [S[i, c] - S[i, j] for i, c in enumerate(labels) for j in range(4) if j != c]
    problem = MulticlassProblem(X, labels, 4)
    wanted = min(gaps) / np.linalg.norm(U)
    assert math.sqrt(2) * problem.margin(U.ravel()) == pytest.approx(wanted, rel=1e-12)


def test_gram_of_integers_is_exact():
    X = np.array([[3, 200], [255, 1]], dtype=np.uint8)
    problem = MulticlassProblem(X, [0, 2], 3)
    # Rows: x0(e0-e1), x0(e0-e2), x1(e2-e0), x1(e2-e1); <x0,x0> = 40009, <x0,x1> = 965.
    np.testing.assert_array_equal(
        problem.gram([0, 1, 2, 3])[:2],
        [[40009, 20004.5, -482.5, 482.5], [20004.5, 40009, -965, -482.5]],
    )


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_scales_do_not_matter(exponent):
    X = np.array([[3.0, 4.0], [1.0, -2.0], [0.5, 0.25]])
    w, q = np.linspace(-1, 1, 6), np.array([0.1, 0.2, 0.0, 0.3, 0.0, 0.4])
    usual = MulticlassProblem(X, [0, 1, 2]).unit()
    view = MulticlassProblem(np.ldexp(X, exponent), [0, 1, 2]).unit()
    np.testing.assert_array_equal(view.scores(w), usual.scores(w))
    np.testing.assert_array_equal(view.combine(q), usual.combine(q))
    np.testing.assert_array_equal(view.softmin(w).pull, usual.softmin(w).pull)
    np.testing.assert_array_equal(view.gram(range(6)), usual.gram(range(6)))


@pytest.mark.parametrize("temperature", [1e-300, 1.0, 1e300])
def test_softmin_never_overflows(temperature):
    X = np.arange(12).reshape(6, 2)
    problem = MulticlassProblem(X, [0, 1, 2, 0, 1, 2])
    w = 1e6 * np.arange(6.0) ** 2
    soft = problem.softmin(w, temperature)
    with np.errstate(over="ignore"):
        e = np.exp((soft.scores.min() - soft.scores) / temperature)
    np.testing.assert_allclose(soft.pull, problem.combine(e / e.sum()), atol=1e-9)
    assert not math.isnan(soft.logsumexp)


def test_points_stay_as_they_are():
    X = np.zeros((2, 3), dtype=np.uint8)
    problem = MulticlassProblem(X, [0, 1])
    assert np.shares_memory(problem.X, X)
    assert problem.k == 2
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(problem)).scores(np.ones(6)), problem.scores(np.ones(6))
    )


@pytest.mark.parametrize(
    ("labels", "k", "message"),
    [
        ([0, 1, 3], 3, "label 3 of row 2"),
        ([0, -1, 1], 2, "label -1 of row 1"),
        ([0, 0, 0], None, "at least two classes"),
        ([0, 1], 2, "3 whole numbers"),
        ([0.0, 1.0, 2.0], 3, "3 whole numbers"),
    ],
)
def test_bad_labels_are_refused(labels, k, message):
    with pytest.raises(ProblemError, match=message):
        MulticlassProblem(np.ones((3, 1)), labels, k)
