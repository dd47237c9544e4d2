"""Points and labels in containers of every kind: the numbers that were given, or a sentence."""

from __future__ import annotations

import array
import warnings
from collections import UserList, deque
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import gammabar as gb
from gammabar.problems import Kernel, ProblemError, from_arrays
from gammabar.problems.files import encode_labels, label_text

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


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_every_form_of_a_sparse_matrix_is_read(form):
    X = sparse.random_array((6, 5), density=0.5, rng=0).asformat(form)
    assert np.array_equal(from_arrays(X, [1, -1] * 3).X.toarray(), X.toarray())


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
