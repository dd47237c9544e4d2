"""Integers of every width: no product, sum, absolute value or negation wraps around."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

import gammabar as gb
import gammabar.problems.points as points_module
from gammabar.oracle.rational import whole_rows
from gammabar.papers.ramdas_pena_2015.section2 import linear
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    ProblemError,
    SparseProblem,
)
from gammabar.problems.generators import _largest_square

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


@st.composite
def matrices(draw):
    """Integers of some dtype, most of them at the ends of its range."""
    dtype = draw(st.sampled_from(INTEGERS))
    info = np.iinfo(dtype)
    ends = st.sampled_from((info.min, info.min + 1, info.max, info.max - 1, 0, 1))
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    entries = st.one_of(ends, st.integers(int(info.min), int(info.max)))
    values = draw(st.lists(entries, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(values, dtype=dtype).reshape(shape)


@given(matrices())
def test_values_of_kernels_do_not_wrap(X):
    """Small integers as they are, for a kernel asked directly, and in a problem."""
    doubles, rows = X.astype(np.float64), np.arange(len(X))
    for kernel in (Kernel("linear"), Kernel("poly", degree=2), Kernel("rbf", gamma=0.01)):
        np.testing.assert_array_equal(kernel.matrix(X, X), kernel.matrix(doubles, doubles))
        found, wanted = (KernelProblem(Z, np.ones(len(X)), kernel) for Z in (X, doubles))
        np.testing.assert_array_equal(found.gram(rows), wanted.gram(rows))


@given(matrices())
def test_largest_squares_are_exact(X):
    assert _largest_square(X) == max(sum(v * v for v in row) for row in X.tolist())


@pytest.mark.parametrize("dtype", INTEGERS)
def test_rows_of_any_integer_type_name_rows(dtype):
    problem = MulticlassProblem(np.eye(3), [0, 1, 2], 100)
    rows = np.array([0, 100, 120], dtype=dtype)
    np.testing.assert_array_equal(problem.gram(rows), problem.gram(rows.astype(np.int64)))


def test_parts_of_an_entry_are_added_in_a_matrix_of_any_shape():
    """Row times columns plus column would not be a 64-bit number here."""
    data = np.array([2**31 - 1, 2**31 - 1, 5], dtype=np.int32)
    coo = scipy.sparse.coo_array((data, ([0, 0, 1], [7, 7, 2**31 - 2])), shape=(2, 2**31 - 1))
    X = SparseProblem(coo, [1, -1]).X
    assert X[0, 7] == 2**32 - 2
    assert X[1, 2**31 - 2] == 5
    assert X.nnz == 2


def test_matrices_that_are_too_wide_are_refused():
    wide = scipy.sparse.coo_array(([1], ([0], [2**31])), shape=(1, 2**31 + 1))
    with pytest.raises(ProblemError, match="columns"):
        SparseProblem(wide, [1])
    with pytest.raises(ProblemError, match="classes"):
        MulticlassProblem(np.eye(2), np.array([0, 2**63], dtype=np.uint64))


@pytest.mark.parametrize("geometry", [DenseProblem, MulticlassProblem])
@pytest.mark.parametrize("compiled", [False, True])
def test_weights_are_right_where_differences_of_scores_are_no_doubles(
    geometry, compiled, monkeypatch
):
    if compiled:
        monkeypatch.setattr(points_module, "SMALL", 0)
    big = 1.7e308
    if geometry is DenseProblem:
        problem, w = DenseProblem(np.array([[1], [-1]], dtype=np.float32), [1, 1]), [big]
    else:
        problem = MulticlassProblem(np.array([[1.0], [-1.0]]), [0, 0], 2)
        w, big = [big / 2, -big / 2], big / math.sqrt(2)
    soft = problem.softmin(np.array(w), big)  # scores are ±big: weights 1 and e^-2
    q = 1 / (1 + math.exp(-2))
    size = 1.0 if geometry is DenseProblem else math.sqrt(0.5)
    assert soft.pull[0] == pytest.approx(-size * (q - (1 - q)), rel=1e-12)
    assert soft.logsumexp == pytest.approx(1 + math.log1p(math.exp(-2)), rel=1e-12)


LARGE = st.sampled_from([0, 1, -1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 3 * 2**70])
LARGE |= st.integers(-(2**70), 2**70)


@given(st.lists(st.lists(LARGE, min_size=2, max_size=2), min_size=1, max_size=3))
def test_a_table_of_integers_holds_them_or_is_none(rows):
    table = whole_rows(rows)
    if table is None:
        assert max(abs(v) for row in rows for v in row) >= 2**63
        assert any(int(float(v)) != v for row in rows for v in row)
    else:
        assert [[int(v) for v in row] for row in table] == rows


#: Pairs of points that are not the same, though the absolute value of their difference is no
#: positive number in their type.
APART = [(1, -127, np.int8), (2**15 - 1, -1, np.int16), (2**63 - 1, -1, np.int64)]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(("a", "b", "kind"), APART)
def test_points_that_are_apart_are_no_twins(a, b, kind, form):
    points = form(np.array([[a, 1], [b, 1]], dtype=kind))
    problem = gb.from_arrays(points, [1, -1], kernel="rbf:gamma=1")
    (verdict,) = gb.verify("perceptron", problem, ["rp.thm2"], iterations=1)
    assert str(verdict.verdict) == "holds"


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_point_whose_bytes_wrap_is_not_the_origin(form):
    points = form(np.array([[-128, 127, 1], [1, 0, 0]], dtype=np.int8))
    problem = gb.from_arrays(points, [1, -1])
    assert linear(SimpleNamespace(problem=problem)) is None


def test_the_margin_of_several_classes_with_the_least_of_the_integers():
    X = np.array([[-(2**63), 1], [2**63 - 1, 3], [7, 2**63 - 1]])
    problem = gb.from_arrays(X, [0, 1, 2], multiclass=True)
    (verdict,) = gb.verify("dual-acceleration", problem, ["jst.thm5.1.margin"], iterations=1)
    assert str(verdict.verdict) in ("holds", "undecided")
