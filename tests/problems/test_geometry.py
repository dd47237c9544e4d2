"""All linear geometries agree with the matrix A written out, at every scale and in every dtype."""

from __future__ import annotations

import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse

import gammabar.problems.points as points_module
from gammabar.harness.verify.certified import space_of
from gammabar.oracle import solve
from gammabar.problems import (
    DenseProblem,
    Kernel,
    MulticlassKernelProblem,
    MulticlassProblem,
    ProblemError,
    SparseProblem,
    from_arrays,
)
from gammabar.problems.points import run, stripes
from gammabar.problems.rounding import rounding_of

DTYPES = (np.uint8, np.int8, np.int16, np.int32, np.int64, np.uint64, np.float32, np.float64)


@pytest.fixture(params=["small", "compiled"])
def path(request, monkeypatch):
    """The ways through the products: a small float64 copy, and the compiled loops."""
    if request.param != "small":
        monkeypatch.setattr(points_module, "SMALL", 0)
        monkeypatch.setattr(points_module, "BLOCK_BYTES", 64)
    return request.param


def reference_softmin(A, w, temperature):
    z = -(A @ w) / temperature
    e = np.exp(z - z.max())
    return (A @ w).min(), z.max() + np.log(e.sum()), A.T @ (e / e.sum())


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_keep_their_dtype_and_are_not_copied(dtype):
    X, y = np.eye(3, dtype=dtype), np.array([1, -1, 1])
    problem = DenseProblem(X, y)
    assert problem.X.dtype == SparseProblem(scipy.sparse.csr_array(X), y).X.dtype == dtype
    assert np.shares_memory(problem.X, X)
    assert problem.unit().X is problem.X


def test_a_long_double_that_is_no_double_is_refused():
    X = np.ones((2, 3), dtype=np.longdouble)
    X[1, 2] += np.finfo(np.longdouble).eps
    if X[1, 2] == np.float64(X[1, 2]):
        pytest.skip("long double is double here")
    with pytest.raises(ProblemError, match="row 1, column 2"):
        DenseProblem(X, [1, -1])


def test_a_radius_beyond_the_doubles_still_has_a_unit_view():
    largest = np.finfo(float).max
    problem = DenseProblem([[largest, largest], [largest, 0.0]], [1, 1])
    assert problem.radius == math.inf
    half = math.sqrt(0.5)
    np.testing.assert_allclose(problem.unit().scores([1.0, 0.0]), [half, half], rtol=1e-15)


def test_rows_that_are_all_zero_are_a_problem_too(path):
    for X in (np.zeros((3, 2)), scipy.sparse.csr_array((3, 2))):
        problem = (DenseProblem if isinstance(X, np.ndarray) else SparseProblem)(X, [1, -1, 1])
        assert problem.radius == 0.0
        assert problem.unit() is problem
        assert problem.margin([1.0, 0.0]) == 0.0
        assert problem.softmin(np.ones(2)).logsumexp == pytest.approx(math.log(3))


def test_nan_is_passed_on_and_rows_without_weight_are_not_read(path):
    """Rows of weight zero may be anything, even NaN."""
    problem = DenseProblem(np.eye(3, dtype=np.float32), [1, 1, 1])
    assert math.isnan(problem.softmin(np.array([0.0, math.nan, 1.0])).smallest)
    for temperature in (0.0, -1.0, math.nan):
        with pytest.raises(ProblemError, match="temperature must be positive"):
            problem.softmin(np.ones(3), temperature)
    X = np.full((9, 2), np.nan, dtype=np.float32)
    X[4] = [1, 2]
    problem = object.__new__(DenseProblem)
    points = points_module.Points(X)
    problem.points, problem.n, problem.y = points, 9, np.ones(9, dtype=np.int8)
    np.testing.assert_array_equal(problem.combine(np.eye(9)[4]), [1.0, 2.0])


@pytest.fixture(params=["dense", "csr"])
def striped(request, monkeypatch):
    """A problem whose passes are shared by two threads, and its matrix A."""
    monkeypatch.setattr("gammabar.problems.points.threads", lambda: 2)
    rng = np.random.default_rng(8)
    X = rng.integers(0, 256, (6101, 701), dtype=np.uint8)  # neither is a multiple of 8 or 16
    y = rng.choice([-1, 1], 6101)
    problem = (
        DenseProblem(X, y)
        if "dense" in request.param
        else SparseProblem(scipy.sparse.csr_array(X), y)
    )
    assert len(problem.points._stripes()) > 2
    return problem, y[:, None] * X.astype(float)


def agrees(problem, A, w):
    """One pass is right; its pull."""
    smallest, logsumexp, pull = reference_softmin(A, w, 2.0)
    soft = problem.softmin(w, 2.0)
    assert soft.smallest == pytest.approx(smallest, rel=1e-12)
    assert soft.logsumexp == pytest.approx(logsumexp, rel=1e-12)
    np.testing.assert_allclose(soft.scores, A @ w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(soft.pull, pull, rtol=0, atol=1e-9)
    return soft.pull


def test_passes_do_not_mix(striped, monkeypatch):
    """One after the other, from several threads at once, and with one thread or two."""
    problem, A = striped
    ws = np.random.default_rng(9).standard_normal((6, A.shape[1])) / 1000
    first = problem.softmin(ws[0], 2.0)
    kept = first.scores.copy()
    pulls = [agrees(problem, A, w) for w in ws]
    np.testing.assert_array_equal(first.scores, kept)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda w: agrees(problem, A, w), ws))
    q = np.random.default_rng(10).random(len(A))
    np.testing.assert_allclose(problem.combine(q), A.T @ q, rtol=0, atol=1e-6)
    monkeypatch.setattr("gammabar.problems.points.threads", lambda: 1)
    alone = type(problem)(problem.X, problem.y)
    for w, pull in zip(ws, pulls, strict=True):
        np.testing.assert_array_equal(alone.softmin(w, 2.0).pull, pull)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_passes_go_on_in_a_forked_child(striped):
    problem, A = striped
    w = np.full(A.shape[1], 1e-4)
    wanted = agrees(problem, A, w)
    child = os.fork()
    if child == 0:
        os._exit(int(not np.array_equal(problem.softmin(w, 2.0).pull, wanted)))
    assert os.waitpid(child, 0)[1] == 0


def test_stripes_cover_all_rows_once_and_keep_their_order():
    for n, values, width in ((1, 1, 1), (5, 10**9, 2 * 10**8), (1000, 10**8, 10**5), (7, 0, 3)):
        parts = stripes(n, values, width)
        assert [i for lo, hi in parts for i in range(lo, hi)] == list(range(n))
        assert run(lambda lo, hi: (lo, hi), parts) == parts


def test_sparse_matrices_become_canonical_without_touching_the_original():
    data, rows, cols = [200, 100, 0, 5], [0, 0, 1, 1], [1, 1, 0, 1]
    coo = scipy.sparse.coo_array((np.array(data, dtype=np.uint8), (rows, cols)), shape=(2, 2))
    problem = SparseProblem(coo, [1, -1])
    assert coo.nnz == 4
    np.testing.assert_array_equal(problem.X.toarray(), [[0, 300], [0, 5]])  # no wrap-around
    assert problem.X.nnz == 2
    csr = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 0.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    problem = SparseProblem(csr, [1, -1])
    assert csr.indices.tolist() == [1, 0, 1]
    assert problem.X.indices.tolist() == [0, 1]


def test_parts_of_an_entry_that_exceed_64_bits_are_refused():
    big = np.array([2**63 - 1, 2**63 - 1, -1], dtype=np.int64)
    coo = scipy.sparse.coo_array((big, ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    with pytest.raises(ProblemError, match="64 bits"):
        SparseProblem(coo, [1, -1])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda p: p.scores(np.ones(2)), "length 3"),
        (lambda p: p.combine(np.ones((3, 1))), "length 3"),
        (lambda p: p.scores(np.array([1j, 0, 0])), "expected a vector of real numbers"),
        (lambda p: p.scores(np.ma.masked_array([1.0, 2, 3], [1, 0, 0])), "masked entries"),
        (lambda p: p.scores(["1", "2", "3"]), "expected a vector"),
        (lambda p: DenseProblem(p.X, [1, 2, 1]), r"row 1 has .*2"),
        (lambda p: DenseProblem(p.X, [1, -1]), "each of the 3 rows"),
        (lambda p: MulticlassProblem(p.X, [0, 1, 3], 3), "label 3 of row 2"),
        (lambda p: MulticlassProblem(p.X, [0, -1, 1], 2), "label -1 of row 1"),
        (lambda p: MulticlassProblem(p.X, [0, 0, 0]), "at least two classes"),
        (lambda p: MulticlassProblem(p.X, [0, 1], 2), "3 whole numbers"),
        (lambda p: MulticlassProblem(p.X, [0.0, 1.0, 2.0], 3), "3 whole numbers"),
    ],
    ids=range(12),
)
def test_wrong_shapes_and_labels_are_refused(ask, message):
    with pytest.raises(ProblemError, match=message):
        ask(DenseProblem(np.eye(3), [1, -1, 1]))


@pytest.mark.parametrize("view", ["raw", "unit"])
def test_problems_travel_between_processes(view):
    X = np.array([[3, 4], [1, -2]], dtype=np.int16)
    for problem in (DenseProblem(X, [1, -1]), SparseProblem(scipy.sparse.csr_array(X), [1, -1])):
        sent = problem.unit() if view == "unit" else problem
        got = pickle.loads(pickle.dumps(sent))
        assert got.radius == sent.radius
        np.testing.assert_array_equal(got.scores([1.0, 2.0]), sent.scores([1.0, 2.0]))
        assert got.digest() == problem.digest()


def test_of_several_classes_with_a_kernel_nothing_is_proved():
    ours = from_arrays(np.eye(3), [0, 1, 2], kernel="network:width=5", multiclass=True)
    with pytest.raises(ProblemError, match="is not proved here"):
        solve(ours)
    for refuse in (rounding_of, space_of):
        with pytest.raises(ProblemError, match="no error bounds"):
            refuse(ours)
    for kind in ("free", "augmented"):
        with pytest.raises(ProblemError, match="kernel"):
            from_arrays(np.eye(3), [0, 1, 2], kernel="rbf", multiclass=True, intercept=kind)
    with pytest.raises(ProblemError, match="no Gram matrix"):
        MulticlassKernelProblem(np.eye(3), np.arange(3), Kernel("precomputed"))
