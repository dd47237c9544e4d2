"""Kernel problems: formulas, normalisation, the user's own kernels, and the bounded cache."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.problems import Kernel, KernelProblem, ProblemError
from gammabar.problems.kernel import GramRows
from gammabar.problems.points import Points

X = np.array([[1, 2], [3, -1], [0, 1], [2, 2], [-1, 4]])
Y = np.array([1, -1, 1, 1, -1])
KERNELS = ["linear", "poly:degree=2,coef0=1", "poly:degree=3,gamma=0.5", "rbf:gamma=0.1", "rbf"]


def rbf(gamma: float, x, z) -> float:
    """The formula, for two rows."""
    return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


points = hnp.arrays(float, (6, 3), elements=st.floats(-1, 1, width=16))


@given(points, st.floats(0.01, 100), st.sampled_from((0.0, 1.0, 1e6)))
def test_rbf_keeps_its_digits_where_distances_cancel(rows, gamma, shift):
    """Far from the origin ||x||^2 + ||z||^2 - 2 <x, z> would have no correct digit."""
    rows = rows + shift
    rows[5] = rows[0]
    kernel = Kernel("rbf", gamma=gamma)
    wanted = [[rbf(gamma, x, z) for z in rows] for x in rows]
    for store in (np.asarray, scipy.sparse.csr_array):
        got = kernel.matrix(store(rows), store(rows))
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
        assert got[0, 5] == got[0, 0] == 1.0


@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_array])
def test_rbf_repairs_the_few_distances_that_cancel(store):
    rows = np.random.default_rng(8).standard_normal((30, 4))
    rows[29] = rows[3] + 2.0**-30
    kernel = Kernel("rbf", gamma=2.0**58)  # ||x - z||^2 = 4 * 2^-60, so the value is 1/e
    got = kernel.matrix(store(rows), store(rows))
    assert got[3, 29] == pytest.approx(math.exp(-1), rel=1e-6)
    assert got[29, 3] == got[3, 29]
    np.testing.assert_array_equal(np.diagonal(got), 1.0)


def by_matrix(A, B):
    return (A @ B.T + 1) ** 2


def by_row(a, b):
    return (a @ b + 1) ** 2


@pytest.mark.parametrize("function", [by_matrix, by_row])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_array])
def test_a_users_function_of_matrices_or_of_rows(function, d, store):
    rng = np.random.default_rng(d)
    rows = rng.integers(100, 256, (d, d), dtype=np.uint8)  # their products wrap around in uint8
    y = np.where(np.arange(d) % 2, 1, -1)
    poly = KernelProblem(rows, y, Kernel("poly", degree=2, coef0=1.0))
    mine = KernelProblem(store(rows), y, Kernel.of(function))
    np.testing.assert_array_equal(mine.gram(np.arange(d)), poly.gram(np.arange(d)))
    np.testing.assert_allclose(mine.scores(np.ones(d)), poly.scores(np.ones(d)))
    assert mine.kernel.by_rows == (function is by_row)
    assert mine.radius == poly.radius


def broken(a, b):
    raise RuntimeError("no such luck")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (broken, "broken failed: no such luck"),
        (lambda a, b: math.nan, "row 0 is nan"),
        (lambda a, b: -1.0, r"row 0 is -1\.0, which is negative"),
    ],
)
def test_functions_that_fail_are_named(function, message):
    with pytest.raises(ProblemError, match=message):
        KernelProblem(X, Y, Kernel.of(function))


def test_a_precomputed_gram_matrix():
    K = X @ X.T
    given_as = [K, K.astype(np.int16), K.astype(float), scipy.sparse.csr_array(K)]
    linear = KernelProblem(X, Y, Kernel("linear"))
    for matrix in given_as:
        problem = KernelProblem(matrix, Y, Kernel("precomputed"))
        assert problem.X.dtype == matrix.dtype
        np.testing.assert_array_equal(problem.gram(np.arange(5)), linear.gram(np.arange(5)))
        np.testing.assert_array_equal(problem.scores(np.arange(5)), linear.scores(np.arange(5)))
        assert problem.radius == linear.radius


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "must be square, not 2 x 3"),
        ([[1.0, 2.0], [2.0000000000000004, 5.0]], "row 0, column 1 has 2.0 but row 1, column 0"),
        ([[1.0, 0.0], [0.0, -1.0]], "row 1 is -1.0, which is negative"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(matrix, message):
    with pytest.raises(ProblemError, match=message):
        KernelProblem(matrix, [1, -1], Kernel("precomputed"))


def test_values_that_vanish_or_overflow_are_named():
    rows = np.array([[1, 2], [0, 0], [3, 4]])
    with pytest.raises(ProblemError, match=r"K\(x, x\) of row 1 is 0"):
        KernelProblem(rows, [1, -1, 1], Kernel("linear"), normalised=True)
    assert KernelProblem(rows, [1, -1, 1], Kernel("linear")).radius == 5.0
    with pytest.raises(ProblemError, match=r"row 1 is inf"):
        KernelProblem([[1.0], [1e200]], [1, -1], Kernel("linear"))
    problem = KernelProblem(
        [[0.0], [1.0]], [1, -1], Kernel.of(lambda a, b: 1.0 if a == b else math.inf)
    )
    with pytest.raises(ProblemError, match="kernel of rows 0 and 1 is inf"):
        problem.gram([0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gauss", "unknown kernel 'gauss'"),
        ("rbf:gama=1", "there is no option 'gama' .did you mean gamma"),
        ("linear:gamma=1", "there is no option .gamma. .it takes none"),
        ("rbf:gamma=much", "gamma=much is not a number"),
        ("poly:degree=2.5", "degree=2.5 is not an integer"),
    ],
)
def test_bad_kernel_texts_are_refused(text, message):
    with pytest.raises(ProblemError, match=message):
        Kernel.parse(text)


def test_kernels_are_texts_functions_or_kernels():
    for text in (*KERNELS, "precomputed"):
        kernel = Kernel.parse(text)
        assert Kernel.parse(str(kernel)) == Kernel.of(text) == Kernel.of(kernel) == kernel
    assert Kernel.parse("poly:degree=2,coef0=1") == Kernel("poly", degree=2, coef0=1.0)
    for ask, message in (
        (lambda: Kernel.of(3), "kernel must be a text"),
        (lambda: Kernel("rbf", function=by_row), "comes with a function"),
        (lambda: Kernel("callable"), "comes with a function"),
        (lambda: Kernel("precomputed").matrix(X, X), "no values but those"),
    ):
        with pytest.raises(ProblemError, match=message):
            ask()


class CountingKernel:
    """A kernel function that counts the values it was asked for."""

    def __init__(self):
        self.values = 0

    def __call__(self, A, B):
        self.values += len(A) * len(B)
        return A @ B.T


def gram_rows(budget_in_rows):
    rng = np.random.default_rng(9)
    rows = rng.integers(-5, 6, (20, 3)).astype(float)
    count = CountingKernel()
    kernel = Kernel("callable", function=count, by_rows=False)
    return GramRows(Points(rows), kernel, budget=8 * 20 * budget_in_rows), rows @ rows.T, count


def test_a_gram_matrix_that_fits_is_computed_once():
    store, K, count = gram_rows(20)
    v = np.arange(20.0)
    np.testing.assert_allclose(store.dot(v), K @ v)
    after_first = count.values
    np.testing.assert_allclose(store.dot(-v), -K @ v)
    np.testing.assert_allclose(store.block(np.array([3]), np.arange(20)), K[[3]])
    assert count.values == after_first


def test_rows_of_a_larger_gram_matrix_are_kept_within_bounds():
    store, K, count = gram_rows(4)

    def ask(*support):
        v = np.zeros(20)
        v[list(support)] = 1.0 + np.arange(len(support))
        before = count.values
        np.testing.assert_allclose(store.dot(v), K @ v, atol=1e-12)
        assert len(store._kept) <= 4
        return (count.values - before) // 20

    assert ask(1, 2, 3) == 3
    assert ask(1, 2, 3) == 0
    assert ask(4) == 1
    assert ask(1) == 0
    assert ask(5) == 1  # pushes out 2, used longest ago
    assert ask(1, 3, 4, 5) == 0
    assert ask(2) == 1
    # A scan of everything uses the rows kept, and leaves them alone.
    assert ask(*range(20)) == 16
    assert ask(*range(20)) == 16


def test_computed_values_are_not_sent_to_other_processes():
    rows = np.random.default_rng(2).standard_normal((60, 2))
    problem = KernelProblem(rows, np.ones(60), Kernel("rbf"))
    small = len(pickle.dumps(problem))
    scores = problem.scores(np.ones(60))
    assert len(pickle.dumps(problem)) == small
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem)).scores(np.ones(60)), scores)
    K = KernelProblem(np.eye(3), np.ones(3), Kernel("precomputed"))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(K)).scores(np.ones(3)), np.ones(3))
