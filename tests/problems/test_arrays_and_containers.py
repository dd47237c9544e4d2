"""Points and labels in containers of every kind: the numbers that were given, or a sentence."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections import deque
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

import gammabar as gb
from gammabar import problems
from gammabar.problems import (
    Kernel,
    KernelProblem,
    MulticlassKernelProblem,
    MulticlassProblem,
    ProblemError,
    Source,
    from_arrays,
)
from gammabar.problems.files import encode_labels, label_text

X = [[1, 2], [3, 4], [5, 6]]
Y = [0, 1, 0]
csr = scipy.sparse.csr_array


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [3.0, math.nan], [5.0, 6.0]], "nan in row 1, column 1"),
        (scipy.sparse.csc_array([[0.0, 1.0], [0, math.nan], [0, 0]]), "nan in row 1, column 1"),
        (np.array([[1], [np.inf], [0]], dtype=np.float16), "inf in row 1, column 0"),
        ([[1, 2], [3], [5, 6]], "row 1 has 1 entries but row 0 has 2"),
        ([[1, 2], ["three", 4], [5, 6]], "'three' in row 1, column 0, which is not a number"),
        ([[1, 2], [None, 4], [5, 6]], "None in row 1, column 0, which is not a number"),
        ([[1, 2], [2**64, 4], [5, 6]], "18446744073709551616 in row 1, column 0, which exceeds"),
        ([[1, 2], [2**63 + 1, 4], [-1, 6]], "9223372036854775809 in row 1, column 0"),
        ([[1, 2], [np.int64(2**53 + 1), 4], [0.5, 6]], "9007199254740993 in row 1, column 0"),
        (np.array(X, dtype=object), "object array"),
        (np.array(X) * 1j, "complex"),
        (csr(np.array(X) * 1j), "complex"),
        ([1, 2, 3], r"two-dimensional, not of shape \(3,\); use X.reshape"),
        (5, "two-dimensional"),
        (np.zeros((0, 2)), "no rows"),
        (np.zeros((3, 0)), "no columns"),
        (csr((3, 0)), "no columns"),
        (scipy.sparse.coo_array(np.array([1.0, 2.0])), "two-dimensional"),
        (np.array(["2020-01-01"], dtype="M8[D]").reshape(1, 1), "dtype datetime64"),
        (pd.DataFrame({"a": [1j, 0, 0]}), "complex"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (np.ma.masked_array(np.eye(3), np.eye(3) > 1.5 * np.eye(3)[::-1]), "masked entry in row 0"),
        ([np.ones(2), np.ma.MaskedArray([1.0, 2.0], mask=[False, True])], "masked entry in row 1"),
    ],
)
def test_bad_points_are_refused_by_place(X, message):
    with pytest.raises(ProblemError, match=message) as caught:
        from_arrays(X, Y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], "y has 2 labels but X has 3 rows"),
        (None, "y is missing"),
        ([[0], [1], [0]], r"one-dimensional, not of shape \(3, 1\); use y.ravel"),
        ([0, [1, 2], 0], "ragged"),
        (["a", "a", "a"], r"one class only \(a\), in all 3 rows"),
        (["b", "a", "10"], r"3 classes \(10, a, b\)"),
        ([0.0, math.nan, 1.0], "nan in row 1"),
        ([0, None, 1], "None in row 1"),
        (["a", "", "b"], "'' in row 1"),
        (["a\0", "a", "b"], "control character"),
        ([1j, 0, 1], "in row 0, which is no label"),
        (pd.Series([0, 1, None]), "nan in row 2"),
        (np.ma.masked_array([1, 2, 1], [True, False, False]), "masked"),
    ],
)
def test_bad_labels_are_refused_by_place(y, message):
    with pytest.raises(ProblemError, match=message) as caught:
        from_arrays(X, y)
    assert "\n" not in str(caught.value)


def test_a_label_that_is_no_double():
    longer = np.longdouble(1) + np.finfo(np.longdouble).eps
    if float(longer) != longer:
        with pytest.raises(ProblemError, match="no label"):
            from_arrays(np.eye(2), np.array([1, longer]))


@pytest.mark.parametrize(
    ("y", "signs"),
    [
        ([1, -1, 1], [1, -1, 1]),
        (["9", "10", "9"], [-1, 1, -1]),  # as numbers
        (["9", "10a", "9"], [1, -1, 1]),  # as texts
        (["+1", "-1", "1.0"], [1, -1, 1]),
        ([True, False, True], [1, -1, 1]),
        ([0.5, -2.5, 0.5], [1, -1, 1]),
        ([2**60 + 1, 2**60, 2**60], [1, -1, -1]),
        ([b"cat", b"dog", b"cat"], [-1, 1, -1]),
        (np.array([1, "1", 2.0], dtype=object), [-1, -1, 1]),
        (pd.Series(["dog", "cat", "dog"], index=[7, 8, 9]), [1, -1, 1]),
        (pd.Series(["x", "y", "x"], dtype="category"), [-1, 1, -1]),
        (pd.Series([3, 4, 3], dtype="Int64"), [-1, 1, -1]),
    ],
)
def test_the_smaller_label_is_the_negative_class(y, signs):
    problem = from_arrays(X, y)
    assert problem.y.dtype == np.int8
    assert problem.y.tolist() == signs


@pytest.mark.parametrize("sign", [-1, 1, -1.0, "+1"])
def test_a_single_point_may_be_alone_in_its_class(sign):
    assert from_arrays([[1, 2]], [sign]).y.tolist() == [int(sign)]
    for rows, y in (([[1, 2]], [0]), ([[1, 2], [3, 4]], [1, 1])):
        with pytest.raises(ProblemError, match="one class only"):
            from_arrays(rows, y)


def test_integers_stay_integers():
    assert from_arrays(np.eye(3, dtype=bool), Y).X.dtype == np.uint8
    assert from_arrays([[2**63], [1], [2]], Y).X.tolist() == [[2**63], [1], [2]]
    assert from_arrays(pd.DataFrame({"a": [1, 2, 3]}, dtype="int16"), Y).X.dtype == np.int16
    both_doubles = from_arrays([[2**63], [-1]], [0, 1])
    assert both_doubles.X.tolist() == [[2.0**63], [-1.0]]


def test_kernels_multiclass_and_sources():
    source = Source("here.csv", "csv", ("here.csv",), ("0", "1"))
    assert from_arrays(X, Y, source=source).unit().source is source
    rbf = from_arrays(X, Y, kernel="rbf:gamma=0.5", normalised=True, source=source)
    assert isinstance(rbf, KernelProblem)
    assert (rbf.kernel, rbf.normalised, rbf.source) == (Kernel("rbf", gamma=0.5), True, source)
    gram = from_arrays(np.array(X) @ np.array(X).T, Y, kernel="precomputed")
    linear = from_arrays(X, Y, kernel=lambda a, b: a @ b)
    np.testing.assert_array_equal(gram.gram(range(3)), linear.gram(range(3)))
    for kernel, kind in ((None, MulticlassProblem), ("rbf", MulticlassKernelProblem)):
        many = from_arrays(X, ["b", "c", "a"], multiclass=True, kernel=kernel, source=source)
        assert isinstance(many, kind)
        assert many.labels.tolist() == [1, 2, 0]
        assert (many.n, many.k, many.source) == (6, 3, source)
    with pytest.raises(ProblemError, match="one class only"):
        from_arrays(X, [1, 1, 1], multiclass=True)
    with pytest.raises(ProblemError, match="normalised belongs to a kernel"):
        from_arrays(X, Y, normalised=True)


def test_importing_the_package_is_cheap():
    """Nothing heavy is imported before it is used."""
    code = (
        "import sys, problems; print({'numpy', 'scipy', 'numba'} & set(sys.modules) or 'none')\n"
        "import gammabar as gb; p = gb.from_arrays([[1, 2], [3, 4]], [0, 1])\n"
        "p.softmin(p.combine(p.scores(p.origin()))); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["none", "False"]
    assert set(problems.__all__) <= set(dir(problems))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = problems.nonsense


# --- labels drawn at random ------------------------------------------------------------------

labels = (
    st.integers(-3, 3)
    | st.integers(-2, 2).map(lambda k: 2**53 + k)
    | st.integers(-2, 2).map(lambda k: 2**64 + k)
    | st.floats(-4, 4)
    | st.sampled_from([0.5, 2.0**53, 1e300])
    | st.booleans()
    | st.sampled_from(["True", "1", "1.0", "a", "a ", "b", "0.5", "9007199254740993"])
)


@given(st.lists(labels, min_size=1, max_size=6), st.sampled_from([list, tuple, deque, "object"]))
def test_labels_are_told_apart_one_by_one(y: list[Any], how: Any) -> None:
    given = np.array(y, dtype=object) if how == "object" else how(y)
    found, classes = encode_labels(given, len(y))
    assert [classes[k] for k in found] == [label_text(label) for label in y]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (1.0, "1"),
        (True, "1"),
        (" 1.0 ", "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        ("1e3", "1000"),
        (".5", "0.5"),
        ("cat ", "cat"),
        ("1_000", "1_000"),
        (np.float32(0.5), "0.5"),
        (b"x", "x"),
        ("1e999", "1e999"),
        ("123456789012345678901", "123456789012345678901"),
        ("٣", "٣"),
    ],
)
def test_label_texts(label, text):
    assert label_text(label) == text


@pytest.mark.parametrize("make", [scipy.sparse.coo_array, scipy.sparse.coo_matrix])
@given(st.integers(0, 3), st.sampled_from([-1, -(2**31), 4, 5, 2**31 - 1]), st.integers(0, 1))
def test_places_outside_of_the_matrix(make: Any, place: int, index: int, axis: int) -> None:
    X = make(np.eye(4))
    (X.row if axis == 0 else X.col)[place] = index
    with pytest.raises(ProblemError, match="outside of the matrix"):
        from_arrays(X, [1, -1, 1, -1])
    broken = csr(np.eye(4))
    broken.indices[place] = index
    with pytest.raises(ProblemError, match="broken sparse matrix"):
        from_arrays(broken, [1, -1, 1, -1])


# --- functions as kernels, and options -------------------------------------------------------


def test_a_function_is_given_the_points_as_they_are():
    b = 2**53
    with pytest.raises(ProblemError, match="beyond 2"):
        gb.solve(from_arrays(np.array([[b + 1], [b]]), [0, 1], kernel=lambda x, z: x @ z.T))
    with pytest.raises(ProblemError, match="complex"), warnings.catch_warnings():
        warnings.simplefilter("error")
        gb.solve(from_arrays(np.eye(2), [0, 1], kernel=lambda x, z: (x @ z.T) * (1 + 1j)))


BAD = {
    "degree": (math.nan, math.inf, "2", 1.5, 0, None, True),
    "gamma": (math.nan, math.inf, "1", 10**400, 0, -1.0, None, 1j),
    "coef0": (math.nan, "1", -(10**400), -0.5, None, [1]),
    "time_limit": ("1", math.nan, -1, [1], 1j),
    "digits": ("5", 0, 2.5, None, True),
    "intercept": (np.array(["none"]), 3, "maybe", ["free"]),
    "norm": (3, "l3"),
    "method": (3, "fast"),
}


@pytest.mark.parametrize("name", BAD)
def test_options_are_refused_with_a_sentence(name):
    for value in BAD[name]:
        with pytest.raises(ProblemError) as refused:
            if name in ("degree", "gamma", "coef0"):
                Kernel("poly", **{name: value})
            else:
                gb.solve([[1.0, 2.0], [3.0, 1.0]], [0, 1], **{name: value})
        assert len(str(refused.value).splitlines()) == 1
