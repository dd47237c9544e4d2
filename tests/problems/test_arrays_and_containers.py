"""Points and labels in containers of every kind: the numbers that were given, or a sentence."""

from __future__ import annotations

import array
import math
import subprocess
import sys
import warnings
from collections import UserList, deque
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
import scipy.sparse
from hypothesis import given, strategies as st
from scipy import sparse

import gammabar as gb
from gammabar import problems
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassKernelProblem,
    MulticlassProblem,
    ProblemError,
    Source,
    SparseProblem,
    from_arrays,
)
from gammabar.problems.files import _order_classes, encode_labels, label_text

X = [[1, 2], [3, 4], [5, 6]]
Y = [0, 1, 0]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [3.0, math.nan], [5.0, 6.0]], "nan in row 1, column 1"),
        ([[1.0, 2.0], [3.0, 4.0], [-math.inf, 6.0]], "-inf in row 2, column 0"),
        (
            scipy.sparse.csc_array([[0.0, 1.0], [0.0, math.nan], [0.0, 0.0]]),
            "nan in row 1, column 1",
        ),
        (np.array([[1], [np.inf], [0]], dtype=np.float16), "inf in row 1, column 0"),
        ([[1, 2], [3], [5, 6]], "row 1 has 1 entries but row 0 has 2"),
        ([[1, 2], ["three", 4], [5, 6]], "'three' in row 1, column 0, which is not a number"),
        ([["1", "2"], ["3", "4"], ["5", "6"]], "'1' in row 0, column 0, which is not a number"),
        ([[1, 2], [None, 4], [5, 6]], "None in row 1, column 0, which is not a number"),
        ([[1, 2], [2**64, 4], [5, 6]], "18446744073709551616 in row 1, column 0, which exceeds"),
        ([[1, 2], [2**63 + 1, 4], [-1, 6]], "9223372036854775809 in row 1, column 0"),
        ([[1, 2], [2**53 + 1, 4], [0.5, 6]], "9007199254740993 in row 1, column 0"),
        (np.array(X, dtype=object), "object array"),
        (np.array(X) * 1j, "complex"),
        (scipy.sparse.csr_array(np.array(X) * 1j), "complex"),
        ([1, 2, 3], r"two-dimensional, not of shape \(3,\); use X.reshape"),
        (5, "two-dimensional"),
        (np.zeros((3, 2, 2)), r"two-dimensional, not of shape \(3, 2, 2\)"),
        (np.zeros((0, 2)), "no rows"),
        ([], "two-dimensional"),
        (np.zeros((3, 0)), "no columns"),
        (scipy.sparse.csr_array((3, 0)), "no columns"),
        (scipy.sparse.csr_array((0, 3)), "no rows"),
        (scipy.sparse.coo_array(np.array([1.0, 2.0])), "two-dimensional"),
        (np.array(["2020-01-01"], dtype="M8[D]").reshape(1, 1), "dtype datetime64"),
        (pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), "column 'b' of X holds"),
        (pd.DataFrame({"a": [1.0, None, 3]}), "missing value in row 1, column 'a'"),
        (pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64")}), "missing value in row 2"),
        (
            pd.DataFrame({"a": [2**53 + 1, 0, 0], "b": [0.5, 0, 0]}),
            "column 'a' of X has 9007199254740993",
        ),
        (pd.DataFrame({"a": [1j, 0, 0]}), "complex"),
        (pd.DataFrame(index=range(3)), "no columns"),
    ],
)
def test_bad_points_are_refused_by_place(X, message):
    with pytest.raises(ProblemError, match=message) as caught:
        from_arrays(X, Y)
    assert "\n" not in str(caught.value)


def test_a_broken_sparse_matrix_is_refused():
    broken = scipy.sparse.csr_array(np.eye(3))
    broken.indices[1] = 7
    with pytest.raises(ProblemError, match="broken sparse matrix"):
        from_arrays(broken, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], "y has 2 labels but X has 3 rows"),
        ([0, 1, 0, 1], "y has 4 labels but X has 3 rows"),
        (None, "y is missing"),
        ([[0], [1], [0]], r"one-dimensional, not of shape \(3, 1\); use y.ravel"),
        ([0, [1, 2], 0], "ragged"),
        ([1, 1, 1], r"one class only \(1\), in all 3 rows"),
        (["a", "a", "a"], r"one class only \(a\)"),
        ([0, 1, 2], r"3 classes \(0, 1, 2\)"),
        (["b", "a", "10"], r"3 classes \(10, a, b\)"),
        ([0.0, math.nan, 1.0], "nan in row 1"),
        ([0.0, 1.0, math.inf], "inf in row 2"),
        ([0, None, 1], "None in row 1"),
        (["a", "", "b"], "'' in row 1"),
        ([1j, 0, 1], "in row 0, which is no label"),
        (pd.Series([0, 1, None]), "nan in row 2"),
    ],
)
def test_bad_labels_are_refused_by_place(y, message):
    with pytest.raises(ProblemError, match=message) as caught:
        from_arrays(X, y)
    assert "\n" not in str(caught.value)


def test_many_classes_are_not_all_listed():
    with pytest.raises(ProblemError, match=r"40 classes \(0, 1, 2, .*, 9, \.\.\.\)"):
        from_arrays(np.ones((40, 1)), range(40))


@pytest.mark.parametrize(
    ("y", "signs"),
    [
        ([0, 1, 0], [-1, 1, -1]),
        ([1, -1, 1], [1, -1, 1]),
        ([9, 10, 9], [-1, 1, -1]),
        (["9", "10", "9"], [-1, 1, -1]),  # as numbers
        (["9", "10a", "9"], [1, -1, 1]),  # as texts
        (["+1", "-1", "1.0"], [1, -1, 1]),
        ([True, False, True], [1, -1, 1]),
        ([0.5, -2.5, 0.5], [1, -1, 1]),
        ([2**60 + 1, 2**60, 2**60], [1, -1, -1]),
        ([b"cat", b"dog", b"cat"], [-1, 1, -1]),
        (np.array(["dog", "cat", "dog"], dtype=object), [1, -1, 1]),
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
    problem = from_arrays([[1, 2]], [sign])
    assert problem.y.tolist() == [int(sign)]
    with pytest.raises(ProblemError, match="one class only"):
        from_arrays([[1, 2]], [0])
    with pytest.raises(ProblemError, match="one class only"):
        from_arrays([[1, 2], [3, 4]], [1, 1])


@pytest.mark.parametrize(
    "given_as",
    [
        X,
        tuple(map(tuple, X)),
        np.array(X, dtype=np.uint8),
        np.array(X, dtype=np.float32),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=["a", "b"]),
        pd.DataFrame({"a": pd.array([1, 3, 5], dtype="Int64"), "b": [2.0, 4.0, 6.0]}),
        *(
            getattr(scipy.sparse, f"{f}_array")(np.array(X))
            for f in ("csr", "csc", "coo", "lil", "dok")
        ),
        *(getattr(scipy.sparse, f"{f}_matrix")(np.array(X)) for f in ("csr", "bsr", "dia")),
    ],
)
def test_every_kind_of_matrix_is_welcome(given_as):
    problem = from_arrays(given_as, Y)
    sparse = scipy.sparse.issparse(given_as)
    assert isinstance(problem, SparseProblem if sparse else DenseProblem)
    np.testing.assert_array_equal(problem.X.toarray() if sparse else problem.X, X)
    assert problem.digest() == from_arrays(X, Y).digest()


def test_integers_stay_integers_and_are_not_copied():
    pixels = np.arange(6, dtype=np.uint8).reshape(3, 2)
    problem = from_arrays(pixels, Y)
    assert problem.X.dtype == np.uint8
    assert np.shares_memory(problem.X, pixels)
    assert from_arrays(np.eye(3, dtype=bool), Y).X.dtype == np.uint8
    assert from_arrays([[2**63], [1], [2]], Y).X.tolist() == [[2**63], [1], [2]]
    assert from_arrays(pd.DataFrame({"a": [1, 2, 3]}, dtype="int16"), Y).X.dtype == np.int16


def test_odd_but_honest_data_are_welcome():
    opposite = from_arrays([[1, 2], [1, 2], [0, 0]], [0, 1, 1])
    assert opposite.margin([1.0, 0.0]) == -1.0
    assert from_arrays([[2**63], [-1]], [0, 1]).X.tolist() == [
        [2.0**63],
        [-1.0],
    ]  # both are doubles
    assert from_arrays([[1e300], [-1e-300]], [0, 1]).radius == 1e300


def test_kernels_multiclass_and_sources():
    source = Source("here.csv", "csv", ("here.csv",), ("0", "1"))
    problem = from_arrays(X, Y, source=source)
    assert problem.source is source
    assert problem.unit().source is source
    rbf = from_arrays(X, Y, kernel="rbf:gamma=0.5", normalised=True, source=source)
    assert isinstance(rbf, KernelProblem)
    assert (rbf.kernel, rbf.normalised, rbf.source) == (Kernel("rbf", gamma=0.5), True, source)
    gram = from_arrays(np.array(X) @ np.array(X).T, Y, kernel="precomputed")
    linear = from_arrays(X, Y, kernel=lambda a, b: a @ b)
    np.testing.assert_array_equal(gram.gram(range(3)), linear.gram(range(3)))
    many = from_arrays(X, ["b", "c", "a"], multiclass=True, source=source)
    assert isinstance(many, MulticlassProblem)
    assert many.labels.tolist() == [1, 2, 0]
    assert (many.n, many.k, many.source) == (6, 3, source)
    with pytest.raises(ProblemError, match="one class only"):
        from_arrays(X, [1, 1, 1], multiclass=True)
    with_kernel = from_arrays(X, ["b", "c", "a"], multiclass=True, kernel="rbf", source=source)
    assert isinstance(with_kernel, MulticlassKernelProblem)
    assert (with_kernel.n, with_kernel.k, with_kernel.source) == (6, 3, source)
    with pytest.raises(ProblemError, match="normalised belongs to a kernel"):
        from_arrays(X, Y, normalised=True)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (True, "1"),
        ("+1", "1"),
        (" 1.0 ", "1"),
        ("-1", "-1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        ("1e3", "1000"),
        (".5", "0.5"),
        ("cat ", "cat"),
        ("1_000", "1_000"),
        (np.float32(0.5), "0.5"),
        (np.int8(-3), "-3"),
        (b"x", "x"),
        ("1e999", "1e999"),
        ("123456789012345678901", "123456789012345678901"),
        ("0x10", "0x10"),
        ("٣", "٣"),
    ],
)
def test_label_texts(label, text):
    assert label_text(label) == text


def test_class_order():
    assert _order_classes({"10", "9", "-1", "0.5"}) == ("-1", "0.5", "9", "10")
    assert _order_classes({"10", "9", "b"}) == ("10", "9", "b")


def test_importing_the_package_is_cheap():
    """Nothing heavy is imported before it is used."""
    code = "import sys, problems; print({'numpy', 'scipy', 'numba'} & set(sys.modules) or 'none')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "none"
    code = (
        "import sys, gammabar as gb; p = gb.from_arrays([[1, 2], [3, 4]], [0, 1])\n"
        "p.softmin(p.combine(p.scores(p.origin()))); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_package_offers_what_it_says():
    assert set(problems.__all__) <= set(dir(problems))
    assert problems.DenseProblem is DenseProblem
    with pytest.raises(AttributeError, match="nonsense"):
        _ = problems.nonsense


# --- points and labels in containers of every kind: the numbers that were given, or a sentence


ROWS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "array.array": lambda row: array.array("q" if isinstance(row[0], int) else "d", row),
    "Series": pd.Series,
    "Series with labels": lambda row: pd.Series(row, index=range(7, 7 + len(row))),
    "memoryview": lambda row: memoryview(ROWS["array.array"](row)),
    "ndarray": np.array,
    "0-d arrays": lambda row: [np.array(v) for v in row],
    "scalars": lambda row: [np.int64(v) if isinstance(v, int) else np.float64(v) for v in row],
}
OUTER: dict[str, Any] = {"list": list, "tuple": tuple, "deque": deque, "UserList": UserList}
numbers = st.integers(-4, 4).map(lambda k: 2**53 + k) | st.integers(-5, 5)


@given(
    st.lists(numbers, min_size=2, max_size=2),
    st.lists(st.sampled_from([0.5, -0.25, 2.0**60]), min_size=2, max_size=2),
    st.sampled_from(sorted(ROWS)),
    st.sampled_from(sorted(OUTER)),
    st.booleans(),
)
def test_points_are_the_numbers_given(a: Any, b: Any, rows: str, outer: str, mixed: bool) -> None:
    """A row of integers above a row of doubles, or both in each row."""
    table = [[a[0], b[0]], [a[1], b[1]]] if mixed else [a, b]
    if mixed and rows in ("array.array", "memoryview", "ndarray", "Series", "Series with labels"):
        return  # these have one type themselves, and round before anybody is asked
    X = OUTER[outer]([ROWS[rows](row) for row in table])
    try:
        problem = from_arrays(X, [1, -1])
    except ProblemError as refused:
        assert "2^53" in str(refused) or "rounded" in str(refused)
        assert any(int(float(v)) != v for v in a)
        return
    found = [[Fraction(v) for v in row] for row in problem.X.tolist()]
    assert found == [[Fraction(v) for v in row] for row in table]


@given(st.lists(numbers, min_size=2, max_size=2), st.booleans())
def test_tables_of_arrow(a: list[int], beside: bool) -> None:
    columns = {"a": a} | ({"b": [0.5, 1.5]} if beside else {"b": [1, 2]})
    try:
        problem = from_arrays(pyarrow.table(columns), [1, -1])
    except ProblemError:
        assert beside
        assert any(int(float(v)) != v for v in a)
        return
    assert [Fraction(v) for v in problem.X[:, 0].tolist()] == a


@pytest.mark.parametrize("outer", [list, tuple, deque])
def test_masked_rows_are_refused(outer):
    row = np.ma.MaskedArray([1.0, 2.0], mask=[False, True])
    with pytest.raises(ProblemError, match="masked entry in row 1"):
        from_arrays(outer([np.ones(2), row]), [1, -1])
    from_arrays(outer([np.ones(2), np.ma.MaskedArray([1.0, 2.0])]), [1, -1])


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
    texts = [label_text(label) for label in y]
    assert [classes[k] for k in found] == texts


def test_labels_with_a_null_character_are_refused():
    for y in (["a\0", "a", "b"], ("a\0", "a")):
        with pytest.raises(ProblemError, match="control character"):
            encode_labels(y, len(y))


# --- sparse matrices that are broken --------------------------------------------------------------


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
@given(st.integers(0, 3), st.sampled_from([-1, -(2**31), 4, 5, 2**31 - 1]), st.integers(0, 1))
def test_places_outside_of_the_matrix(make: Any, place: int, index: int, axis: int) -> None:
    X = make(np.eye(4))
    (X.row if axis == 0 else X.col)[place] = index
    with pytest.raises(ProblemError, match="outside of the matrix"):
        from_arrays(X, [1, -1, 1, -1])


# --- kernels that are functions, and options ------------------------------------------------------


def test_a_function_is_given_the_points_as_they_are():
    b = 2**53
    with pytest.raises(ProblemError, match="beyond 2"):
        gb.solve(from_arrays(np.array([[b + 1], [b]]), [0, 1], kernel=lambda x, z: x @ z.T))
    with pytest.raises(ProblemError, match="complex"), warnings.catch_warnings():
        warnings.simplefilter("error")
        gb.solve(from_arrays(np.eye(2), [0, 1], kernel=lambda x, z: (x @ z.T) * (1 + 1j)))


@pytest.mark.parametrize(
    "options",
    [
        *({"degree": v} for v in (float("nan"), float("inf"), "2", 1.5, 0, -1, None, True)),
        *({"gamma": v} for v in (float("nan"), float("inf"), "1", 10**400, 0, -1.0, None, 1j)),
        *({"coef0": v} for v in (float("nan"), "1", -(10**400), -0.5, None, [1])),
    ],
    ids=str,
)
def test_options_of_a_kernel_are_refused_with_a_sentence(options):
    with pytest.raises(ProblemError, match="kernel option"):
        Kernel("poly", **options)


@pytest.mark.parametrize(
    "options",
    [
        *({"time_limit": v} for v in ("1", float("nan"), -1, [1], 1j)),
        *({"digits": v} for v in ("5", 0, -3, 2.5, None, True)),
        *({"intercept": v} for v in (np.array(["none"]), 3, "maybe", ["free"])),
        *({"norm": v} for v in (3, "l3")),
        *({"method": v} for v in (3, "fast")),
    ],
    ids=str,
)
def test_options_of_solve_are_refused_with_a_sentence(options):
    with pytest.raises(ProblemError) as refused:
        gb.solve([[1.0, 2.0], [3.0, 1.0]], [0, 1], **options)
    assert len(str(refused.value).splitlines()) == 1
