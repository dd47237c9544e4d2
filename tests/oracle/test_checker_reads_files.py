"""The checker's own readers: every demand of theirs, one file for each, just at its limit."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from gammabar.oracle import check_readers as readers

ROWS = b"a,1,2\nb,3,4\n"


def csv(raw: bytes, label: Any = 0, drop: tuple = ()) -> Any:
    return readers.read_csv(raw, label, list(drop), "x.csv")


def rows(table: Any) -> list[tuple[str, list[Any]]]:
    return [(label, list(table.row(i)[1])) for i, label in enumerate(table.labels)]


@pytest.mark.parametrize(
    ("raw", "more", "expected"),
    [
        (ROWS, {}, [("a", [1, 2]), ("b", [3, 4])]),
        (b"\xef\xbb\xbfc;u;v\r\na; 1 ;2.5\rb;3;4\n\n \n", {}, [("a", [1, 2.5]), ("b", [3, 4])]),
        (b"u\tc\tv\n1\t01\t2\n3\t+2.0\t4\n", {"label": "c"}, [("1", [1, 2]), ("2", [3, 4])]),
        (b"1,2,a\n3,4,b\n", {"label": -1, "drop": (0,)}, [("a", [2]), ("b", [4])]),
        (
            b"a,9223372036854775807\nb,-9223372036854775808",
            {},
            [("a", [2**63 - 1]), ("b", [-(2**63)])],
        ),
        (b"a," + b"0" * 30 + b"7\nb,-0\n", {}, [("a", [7]), ("b", [0])]),
        (b"x" * 500 + b",1\n-0,2\n", {}, [("x" * 500, [1]), ("0", [2])]),
    ],
)
def test_tables_that_are_read(raw: bytes, more: dict, expected: list):
    assert rows(csv(raw, **more)) == expected


@pytest.mark.parametrize(
    ("raw", "more", "reason"),
    [
        (b"", {}, "is empty"),
        (b" \n\t\n", {}, "is empty"),
        (b"a,1\nb,\x01\n", {}, "control character"),
        (b'"a,1\n",2\n', {}, "quotation marks"),
        (b"a,1,2\nb,3\n", {}, "is ragged"),
        (b"a\nb\n", {}, "has no data"),
        (b"c,u\n", {}, "has no data"),
        (b"a,1,x\nb,3,4\n", {}, "the first line has a word"),
        (b"a,1\nb,x\n", {}, "not a finite number"),
        (b"a,1\nb,nan\n", {}, "not a finite number"),
        (b"a,1\nb,\n", {}, "not a finite number"),
        (b"a,1.5\nb,1e999\n", {}, "too large for a double"),
        (b"a,1\nb,9223372036854775808\n", {}, "integer that is too large"),
        (b"a,1\nb,-9223372036854775809\n", {}, "integer that is too large"),
        (b"a,1\nb,1" + b"0" * 19 + b"\n", {}, "integer that is too large"),
        (b"a,1\n,2\n", {}, "label that is missing"),
        (b"a,1\n-NaN,2\n", {}, "label that is missing"),
        (b"a,1\n" + b"x" * 501 + b",2\n", {}, "missing or very long"),
        ("a,1\nb\u0085,2\n".encode(), {}, "control character"),
        (b"c,u,u\na,1,2\n", {"label": "u"}, "not one column 'u'"),
        (b"1,u\na,1\n", {"label": "1"}, "not one column '1'"),
        (ROWS, {"label": 3}, r"not an integer in \[-3, 3\)"),
        (ROWS, {"label": -4}, r"not an integer in \[-3, 3\)"),
        (ROWS, {"label": True}, "not an integer"),
        (ROWS, {"label": 0, "drop": (-3,)}, "name a column twice"),
    ],
)
def test_tables_that_are_refused(raw: bytes, more: dict, reason: str):
    with pytest.raises(readers.Rejected, match=reason):
        csv(raw, **more)


def test_svmlight():
    table = readers.read_svmlight(b"+1 qid:3 1:2 3:-1 # a note\n# nothing\n-1\nx 2:5\n", "x.svm")
    assert (table.labels, table.width) == (["1", "-1", "x"], 3)
    assert [table.row(i) for i in range(3)] == [([0, 2], [2, -1]), ([], []), ([1], [5])]
    table = readers.read_svmlight(b"1 0:1 4294967294:2\n", "x.svm")
    assert (table.width, table.row(0)[0]) == (2**32 - 1, [0, 2**32 - 2])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "has no data"),
        (b"1\n-1\n", "has no data"),
        (b"1 1:2\n-1 3\n", "not index:value"),
        (b"1 1:2\n-1 a:3\n", "not index:value"),
        ("1 1:2\n-1 ²:3\n".encode(), "not index:value"),
        (b"1 2:1 2:1\n", "do not increase"),
        (b"1 3:1 2:1\n", "do not increase"),
        (b"1 0:1 4294967295:2\n", "too many columns"),
        (b"1 4294967296:2\n", "integer that is too large"),
        (b"1 1:2\n-1 2:x\n", "not a finite number"),
    ],
)
def test_svmlight_that_is_refused(raw: bytes, reason: str):
    with pytest.raises(readers.Rejected, match=reason):
        readers.read_svmlight(raw, "x.svm")


def npy(array: np.ndarray, **header: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    raw = out.getvalue()
    for old, new in header.items():
        raw = raw.replace(old.encode(), str(new).encode(), 1)
    return raw


@pytest.mark.parametrize("kind", ["i1", "u1", "<i2", ">u4", "<i8", "<f2", ">f8", "?", "<U3", "S2"])
def test_arrays(kind: str):
    array = np.array([[1, 0], [1, 1]]).astype(kind)
    for given in (array, np.asfortranarray(array)):
        found = readers.npy(npy(given), "x.npy")
        flat = given.ravel("F" if found.fortran else "C").tolist()
        expected = [v.decode() if isinstance(v, bytes) else v for v in flat]
        assert (list(found.entries), tuple(found.shape)) == (expected, (2, 2))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\x93NUMPY\3\0" + npy(np.ones(2))[8:], "unknown version"),
        (npy(np.ones(2))[:8] + struct.pack("<H", 10_003) + b" " * 11_000, "long header"),
        (npy(np.ones(2))[:60], "long header"),
        (npy(np.ones(2), descr="desc2"), "not an object with the fields"),
        (npy(np.ones(2)) + b"\0", "wrong length"),
        (npy(np.ones(2))[:-1], "wrong length"),
        (npy(np.array([1.0, np.inf])), "no finite number"),
        (npy(np.array([1.0, np.nan], np.float16)), "no finite number"),
        (npy(np.array([True, False]))[:-1] + b"\2", "truth value"),
        (npy(np.ones(2, complex)), "another type"),
        (npy(np.ones(2), **{"(2,)": "[2 ]"}), "no array"),
        (npy(np.ones(2), **{"(2,), ": "(-2,),"}), "no array"),
        (npy(np.ones(2), **{"False": "1    "}), "no array"),
    ],
)
def test_arrays_that_are_refused(raw: bytes, reason: str):
    with pytest.raises(readers.Rejected, match=reason):
        readers.npy(raw, "x.npy")


def test_points_and_labels_of_arrays():
    X = np.arange(24).reshape(2, 3, 4)
    y = readers.npy(npy(np.array([[5], [6]])), "x")
    for given in (X, np.asfortranarray(X)):
        table = readers.from_arrays(readers.npy(npy(given), "x"), y, "x")
        expected = [[5, *range(12)], [6, *range(12, 24)]]
        assert [[int(label), *values] for label, values in rows(table)] == expected
    for points, names, reason in (
        (np.arange(2), np.arange(2), "no array of points"),
        (np.zeros((0, 3)), np.zeros(0), "no data"),
        (np.array([["a"]]), np.arange(1), "texts where numbers"),
        (np.ones((2, 3)), np.arange(3), "not one label"),
        (np.ones((2, 3)), np.ones((2, 2)), "not one label"),
    ):
        with pytest.raises(readers.Rejected, match=reason):
            readers.from_arrays(readers.npy(npy(points), "x"), readers.npy(npy(names), "x"), "x")


def test_idx():
    raw = b"\0\0\x08\2" + struct.pack(">II", 2, 3) + bytes(range(6))
    found = readers.idx(raw, "x")
    assert (tuple(found.shape), bytes(found.entries)) == ((2, 3), bytes(range(6)))
    for bad in (
        raw + b"\0",
        raw[:-1],
        b"\0\0\x09" + raw[3:],
        b"\0\0\x08\0",
        b"\0\0\x08\5" + raw[4:],
    ):
        with pytest.raises(readers.Rejected):
            readers.idx(bad, "x")


SPARSE = scipy.sparse.csr_array(np.array([[0, 2, 0], [1, 0, 3]]))


def sparse(tmp_path: Path, form: str = "csr", **changes: Any) -> Any:
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, SPARSE.asformat(form))
    with np.load(path) as archive:
        members = {name: archive[name] for name in archive.files}
    np.savez(path, **members | {name: np.array(value) for name, value in changes.items()})
    labels = readers.Array(["a", "b"], (2,), False)
    return readers.read_scipy(path, labels, "x", readers.Budget(60))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices(tmp_path: Path, form: str):
    table = sparse(tmp_path, form)
    assert (table.labels, table.width) == (["a", "b"], 3)
    assert [table.row(i) for i in range(2)] == [([1], [2]), ([0, 2], [1, 3])]


@pytest.mark.parametrize(
    ("form", "changes", "reason"),
    [
        ("csr", {"format": 3}, "has no format"),
        ("csr", {"format": "bsr"}, "another format"),
        ("csr", {"data": [[2, 1, 3]]}, "no list"),
        ("csr", {"indices": [1.0, 0.0, 2.0]}, "no integer"),
        ("csr", {"shape": [2, 3, 1]}, "no matrix"),
        ("csr", {"shape": [2, 0]}, "no matrix"),
        ("csr", {"shape": [2, 2**32]}, "too many columns"),
        ("csr", {"data": ["a", "b", "c"]}, "texts for numbers"),
        ("csr", {"indptr": [0, 1]}, "indptr does not fit"),
        ("csr", {"indptr": [1, 1, 3]}, "indptr does not fit"),
        ("csr", {"indptr": [0, 1, 2]}, "indptr does not fit"),
        ("csr", {"indptr": [0, 4, 3]}, "indptr does not fit"),
        ("csr", {"indices": [1, 0]}, "different lengths"),
        ("csr", {"indices": [1, 0, 3]}, "outside of it"),
        ("csr", {"indices": [1, 0, -1]}, "outside of it"),
        ("csr", {"indices": [1, 2, 2]}, "an entry twice"),
        ("coo", {"row": [0, 1, 2]}, "outside of it"),
        ("coo", {"row": [0, 1]}, "different lengths"),
    ],
)
def test_sparse_matrices_that_are_refused(tmp_path: Path, form: str, changes: dict, reason: str):
    with pytest.raises(readers.Rejected, match=reason):
        sparse(tmp_path, form, **changes)


def test_numbers_of_a_certificate():
    budget = readers.Budget(60)
    assert readers.rational("-0x3/0x2", "x", budget) == -readers.Fraction(3, 2)
    for text in ("0x2/0x4", "0x1/-0x2", "0x1/0x0", "0x1", "3/2", "0x1/", 7, None):
        with pytest.raises(readers.Rejected):
            readers.rational(text, "x", budget)
    assert readers.combination([0, 2], ["0x1", "-0x2"], 3, "weights") == {0: 1, 2: -2}
    for indices, values in (
        *(([0, 3], ["0x1", "0x1"]), ([2, 2], ["0x1", "0x1"]), ([2, 0], ["0x1", "0x1"])),
        *(([0], ["0x0"]), ([0, 1], ["0x1"]), ((0,), ["0x1"]), ([-1], ["0x1"]), ([True], ["0x1"])),
    ):
        with pytest.raises(readers.Rejected):
            readers.combination(indices, values, 3, "weights")
    with pytest.raises(readers.Rejected, match="twice"):
        readers.distinct([("a", 1), ("a", 1)])
    with pytest.raises(readers.Rejected, match="besides"):
        readers.fields({"a": 1, "b": 2}, "x", "a")
    with pytest.raises(readers.Rejected, match="not an object"):
        readers.fields([], "x", "a")
