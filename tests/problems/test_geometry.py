"""All linear geometries agree with the matrix A written out, at every scale and in every dtype."""

from __future__ import annotations

import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import gammabar.problems.points as points_module
from gammabar.problems import DenseProblem, Kernel, KernelProblem, ProblemError, SparseProblem
from gammabar.problems.points import run, stripes

DTYPES = (np.uint8, np.int8, np.int16, np.int32, np.int64, np.uint64, np.float32, np.float64)


def close(got, wanted, size):
    """Equal up to rounding relative to the size of what was summed."""
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * max(size, 1e-300))


@st.composite
def cases(draw, dtypes=DTYPES):
    """Points of some dtype, labels, w and q."""
    dtype = draw(st.sampled_from(dtypes))
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    if np.issubdtype(dtype, np.integer):
        low, high = max(np.iinfo(dtype).min, -1000), min(np.iinfo(dtype).max, 1000)
        elements = st.one_of(st.just(0), st.integers(int(low), int(high)))
    else:
        elements = st.one_of(st.just(0), st.floats(-100, 100, width=32))
    X = draw(hnp.arrays(dtype, (n, d), elements=elements))
    y = draw(hnp.arrays(np.int8, n, elements=st.sampled_from((-1, 1))))
    w = draw(hnp.arrays(float, d, elements=st.floats(-10, 10, width=16)))
    q = draw(hnp.arrays(float, n, elements=st.one_of(st.just(0.0), st.floats(0, 1))))
    return X, y, w, q


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


@pytest.mark.full
@pytest.mark.parametrize("geometry", [DenseProblem, SparseProblem])
@pytest.mark.parametrize("view", ["raw", "unit"])
def test_linear_geometries_equal_the_explicit_matrix(path, geometry, view):
    # Each dtype is compiled once, which takes a second or two: not all of them here.
    dtypes = DTYPES if path == "small" else (np.uint8, np.int64, np.float32, np.float64)

    @given(cases(dtypes), st.sampled_from((0.1, 1.0, 30.0)))
    def check(case, temperature):
        X, y, w, q = case
        problem = geometry(scipy.sparse.csr_array(X) if geometry is SparseProblem else X, y)
        A = y[:, None] * X.astype(float)
        radius = math.sqrt((A * A).sum(axis=1).max())
        if view == "unit":
            problem = problem.unit()
            A = A / radius if radius else A
        size = 1 + np.abs(A).max() * (1 + np.abs(w).sum() + np.abs(q).sum())
        close(problem.scores(w), A @ w, size)
        close(problem.combine(q), A.T @ q, size)
        close(problem.gram(np.arange(len(A))), A @ A.T, size * size)
        close(problem.gram([0], np.arange(len(A))), A[:1] @ A.T, size * size)
        close([problem.row(i) for i in range(len(A))], A, size)
        soft = problem.softmin(w, temperature)
        smallest, logsumexp, pull = reference_softmin(A, w, temperature)
        close(soft.scores, A @ w, size)
        close(soft.smallest, smallest, size)
        close(soft.logsumexp, logsumexp, size / temperature)
        close(soft.pull, pull, size * size / temperature)
        # <A w, q> = <w, A^T q>
        close(problem.scores(w) @ q, problem.inner(w, problem.combine(q)), size * size)

    check()


@given(cases(), st.sampled_from((0.5, 1.0)))
def test_the_linear_kernel_is_the_dense_problem(case, temperature):
    X, y, w, q = case
    dense, kernel = DenseProblem(X, y), KernelProblem(X, y, Kernel("linear"))
    # In the kernel's representation alpha stands for A^T alpha.
    alpha = np.resize(w, len(y))
    v = dense.combine(alpha)
    size = 1 + dense.radius**2 * (np.abs(alpha).sum() + 1)
    close(kernel.scores(alpha), dense.scores(v), size)
    close(kernel.norm(alpha) ** 2, dense.norm(v) ** 2, size * (1 + np.abs(alpha).sum()))
    close(dense.combine(kernel.combine(q)), dense.combine(q), size)
    close(kernel.inner(alpha, q), dense.inner(v, dense.combine(q)), size * len(q))
    rows = np.arange(len(y))
    close(kernel.gram(rows), dense.gram(rows), size)
    close(kernel.scores(kernel.row(0)), dense.gram(rows, [0]).ravel(), size)
    ours, theirs = kernel.softmin(alpha, temperature), dense.softmin(v, temperature)
    close(ours.smallest, theirs.smallest, size)
    close(ours.logsumexp, theirs.logsumexp, size / temperature)
    close(dense.combine(ours.pull), theirs.pull, size * size)
    assert kernel.radius == pytest.approx(dense.radius, rel=1e-14)


@given(cases())
def test_margin_is_the_smallest_score_over_the_norm(case):
    X, y, w, _ = case
    problem = DenseProblem(X, y)
    length = np.linalg.norm(w)
    wanted = (y * (X.astype(float) @ w)).min() / length if length else 0.0
    assert problem.margin(w) == pytest.approx(wanted, abs=1e-11 * (1 + problem.radius))
    assert problem.margin(problem.origin()) == 0.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_keep_their_dtype_and_are_not_copied(dtype):
    X = np.eye(3, dtype=dtype)
    y = np.array([1, -1, 1])
    assert DenseProblem(X, y).X.dtype == dtype
    assert np.shares_memory(DenseProblem(X, y).X, X)
    assert SparseProblem(scipy.sparse.csr_array(X), y).X.dtype == dtype
    problem = DenseProblem(X, y)
    assert problem.unit().X is problem.X


@pytest.mark.parametrize("given_as", ["float16", "longdouble", ">f8", ">i4", "bool", "fortran"])
def test_other_dtypes_become_exact_ones(given_as):
    values = np.array([[1, 0, 1], [0, 1, 1]])
    X = np.asfortranarray(values) if given_as == "fortran" else values.astype(given_as)
    kept = DenseProblem(X, [1, -1]).X
    assert kept.flags.c_contiguous
    assert kept.dtype.isnative
    assert kept.dtype in (np.float64, np.int32, np.int64, np.uint8)
    np.testing.assert_array_equal(kept, values)


def test_a_long_double_that_is_no_double_is_refused():
    X = np.ones((2, 3), dtype=np.longdouble)
    X[1, 2] += np.finfo(np.longdouble).eps
    if X[1, 2] == np.float64(X[1, 2]):
        pytest.skip("long double is double here")
    with pytest.raises(ProblemError, match="row 1, column 2"):
        DenseProblem(X, [1, -1])


def exact_radius_squared(X):
    rows = ([Fraction(v) for v in row] for row in X.tolist())
    return max(sum(v * v for v in row) for row in rows)


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 40)), elements=st.floats(-1, 1)),
    st.sampled_from((-1060, -1000, -600, -300, 0, 300, 600, 1000, 1018)),
)
def test_radius_is_accurate_at_every_scale(X, exponent):
    X = np.ldexp(X, exponent)
    exact = exact_radius_squared(X)
    for problem in (
        DenseProblem(X, np.ones(len(X))),
        SparseProblem(scipy.sparse.csr_array(X), np.ones(len(X))),
    ):
        radius = Fraction(problem.radius)
        ulp = Fraction(math.ulp(problem.radius))
        assert (max(radius - 3 * ulp, 0)) ** 2 <= exact <= (radius + 3 * ulp) ** 2
        if radius:
            norms = np.sqrt(np.diagonal(problem.unit().gram(np.arange(len(X)))))
            assert norms.max() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("exponent", [-1060, -1000, -500, 0, 500, 1000, 1020])
@pytest.mark.parametrize("geometry", [DenseProblem, SparseProblem])
def test_unit_views_do_not_notice_the_scale(path, geometry, exponent):
    """A power of two in the data leaves no trace after division by the radius."""
    X = np.array([[3.0, 4.0, 0.0], [1.0, -2.0, 2.0], [0.5, 0.0, 0.25], [0.0, 0.0, 0.0]])
    y, w, q = [1, -1, 1, 1], np.array([0.3, -1.7, 0.9]), np.array([0.25, 0.5, 0.25, 0])
    store = scipy.sparse.csr_array if geometry is SparseProblem else np.asarray
    usual = geometry(store(X), y).unit()
    problem = geometry(store(np.ldexp(X, exponent)), y)
    assert problem.radius == math.ldexp(5.0, exponent)
    view = problem.unit()
    assert view.radius == 1.0
    assert view.unit() is view
    np.testing.assert_array_equal(view.scores(w), usual.scores(w))
    np.testing.assert_array_equal(view.combine(q), usual.combine(q))
    np.testing.assert_array_equal(view.gram([0, 1, 2]), usual.gram([0, 1, 2]))
    np.testing.assert_array_equal(view.row(1), usual.row(1))
    np.testing.assert_array_equal(view.softmin(w).pull, usual.softmin(w).pull)
    assert view.margin(w) == usual.margin(w)
    # Without division as well, as long as the numbers are doubles.
    assert problem.margin(np.ldexp(w, 900)) == problem.margin(w)
    direction = problem.combine(q)
    assert problem.norm(direction) == pytest.approx(
        math.ldexp(usual.norm(usual.combine(q)) * 5, exponent), rel=1e-15
    )


def test_a_radius_beyond_the_doubles_still_has_a_unit_view():
    largest = np.finfo(float).max
    problem = DenseProblem([[largest, largest], [largest, 0.0]], [1, 1])
    assert problem.radius == math.inf
    half = math.sqrt(0.5)
    np.testing.assert_allclose(problem.unit().scores([1.0, 0.0]), [half, half], rtol=1e-15)


def test_rows_that_are_all_zero_are_a_problem_too():
    problem = DenseProblem(np.zeros((3, 2)), [1, -1, 1])
    assert problem.radius == 0.0
    assert problem.unit() is problem
    assert problem.margin([1.0, 0.0]) == 0.0
    empty = SparseProblem(scipy.sparse.csr_array((3, 2)), [1, -1, 1])
    assert empty.radius == 0.0
    assert empty.softmin(np.ones(2)).logsumexp == pytest.approx(math.log(3))


@pytest.mark.full
@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6, 1e150])
@pytest.mark.parametrize("geometry", [DenseProblem, SparseProblem])
def test_softmin_never_overflows(path, geometry, temperature, size):
    rng = np.random.default_rng(5)
    X = rng.integers(-9, 10, (40, 3)).astype(np.int16)
    y = rng.choice([-1, 1], 40)
    w = size * np.array([1.0, -0.5, 0.25])
    problem = geometry(scipy.sparse.csr_array(X) if geometry is SparseProblem else X, y)
    soft = problem.softmin(w, temperature)
    A = y[:, None] * X.astype(float)
    scores = A @ w  # exact: small integers times a power of two times size
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp((scores.min() - scores) / temperature)
    close(soft.pull, A.T @ (e / e.sum()), 100)
    assert soft.smallest == scores.min()
    assert not np.isnan(soft.logsumexp)
    if abs(scores.min()) < 1e300 * min(temperature, 1e8):
        wanted = -scores.min() / temperature + math.log(e.sum())
        assert soft.logsumexp == pytest.approx(wanted, rel=1e-12)


def test_softmin_passes_nan_on(path):
    problem = DenseProblem(np.eye(3, dtype=np.float32), [1, 1, 1])
    assert math.isnan(problem.softmin(np.array([0.0, math.nan, 1.0])).smallest)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_softmin_wants_a_positive_temperature(temperature):
    with pytest.raises(ProblemError, match="temperature must be positive"):
        DenseProblem([[1.0]], [1]).softmin(np.ones(1), temperature)


def test_combine_reads_only_the_rows_with_weight(path):
    """Rows of weight zero may be anything, even NaN."""
    X = np.full((9, 2), np.nan, dtype=np.float32)
    X[4] = [1, 2]
    problem = object.__new__(DenseProblem)
    points = points_module.DensePoints(X)
    problem.points, problem.n, problem.y = points, 9, np.ones(9, dtype=np.int8)
    np.testing.assert_array_equal(problem.combine(np.eye(9)[4]), [1.0, 2.0])


@pytest.mark.parametrize("threads", [1, 2])
def test_large_data_in_stripes_equal_small_ones(threads, monkeypatch):
    monkeypatch.setattr("gammabar.problems.points.threads", lambda: threads)
    rng = np.random.default_rng(7)
    X = rng.integers(0, 256, (3000, 1500), dtype=np.uint8)
    y = rng.choice([-1, 1], 3000)
    w = rng.standard_normal(1500) / 1000
    q = rng.random(3000)
    assert len(stripes(3000, X.size, X.shape[1])) > 2
    integers, floats = DenseProblem(X, y), y[:, None] * X.astype(float)
    np.testing.assert_allclose(integers.scores(w), floats @ w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(integers.combine(q), floats.T @ q, rtol=0, atol=1e-6)
    smallest, logsumexp, pull = reference_softmin(floats, w, 2.0)
    soft = integers.softmin(w, 2.0)
    assert soft.smallest == pytest.approx(smallest, rel=1e-12)
    assert soft.logsumexp == pytest.approx(logsumexp, rel=1e-12)
    np.testing.assert_allclose(soft.pull, pull, rtol=0, atol=1e-9)
    single = DenseProblem(X.astype(np.float64), y).softmin(w, 2.0)
    np.testing.assert_allclose(single.pull, pull, rtol=0, atol=1e-9)


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


def test_passes_that_follow_one_another_do_not_mix(striped, monkeypatch):
    problem, A = striped
    ws = np.random.default_rng(9).standard_normal((6, A.shape[1])) / 1000
    first = problem.softmin(ws[0], 2.0)
    kept = first.scores.copy()
    pulls = [agrees(problem, A, w) for w in ws]
    np.testing.assert_array_equal(first.scores, kept)
    monkeypatch.setattr("gammabar.problems.points.threads", lambda: 1)
    alone = type(problem)(problem.X, problem.y)
    for w, pull in zip(ws, pulls, strict=True):
        np.testing.assert_array_equal(alone.softmin(w, 2.0).pull, pull)


def test_passes_from_several_threads_do_not_mix(striped):
    problem, A = striped
    ws = np.random.default_rng(10).standard_normal((8, A.shape[1])) / 1000
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda w: agrees(problem, A, w), ws))


def test_an_interrupted_pass_leaves_nothing_behind(striped, monkeypatch):
    problem, A = striped
    w = np.full(A.shape[1], 1e-4)
    agrees(problem, A, w)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("gammabar.problems.points.pool", interrupt)
        with pytest.raises(KeyboardInterrupt):
            problem.softmin(w, 2.0)
    agrees(problem, A, -w)


def test_a_thread_can_do_something_else_during_its_pass(striped):
    problem, A = striped
    w = np.full(A.shape[1], 1e-4)
    wanted = agrees(problem, A, w)
    seen = []

    def other():
        seen.append(agrees(problem, A, -w))  # even another pass over the same data

    for _ in range(3):
        np.testing.assert_array_equal(problem.softmin(w, 2.0, other).pull, wanted)
    assert len(seen) == 3

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        problem.softmin(w, 2.0, interrupt)
    agrees(problem, A, w)


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


def test_wrong_shapes_and_labels_are_refused():
    problem = DenseProblem(np.eye(3), [1, -1, 1])
    with pytest.raises(ProblemError, match="length 3"):
        problem.scores(np.ones(2))
    with pytest.raises(ProblemError, match="length 3"):
        problem.combine(np.ones((3, 1)))
    with pytest.raises(ProblemError, match=r"row 1 has .*2"):
        DenseProblem(np.eye(3), [1, 2, 1])
    with pytest.raises(ProblemError, match="each of the 3 rows"):
        DenseProblem(np.eye(3), [1, -1])


@pytest.mark.parametrize("view", ["raw", "unit"])
def test_problems_travel_between_processes(view):
    X = np.array([[3, 4], [1, -2]], dtype=np.int16)
    for problem in (DenseProblem(X, [1, -1]), SparseProblem(scipy.sparse.csr_array(X), [1, -1])):
        sent = problem.unit() if view == "unit" else problem
        got = pickle.loads(pickle.dumps(sent))
        assert got.radius == sent.radius
        np.testing.assert_array_equal(got.scores([1.0, 2.0]), sent.scores([1.0, 2.0]))
        assert got.digest() == problem.digest()
