"""Files that are refused: by `load` with a sentence that names the place, and by the checker.

One row for every demand of either reader, just at its limit.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from gammabar.oracle import check_readers as checker
from gammabar.problems import ProblemError, load
from gammabar.problems.binary_readers import decode_idx

NO_NUMBER, HUGE = "not a finite number", "does not fit into a 64-bit integer"
WORD, LARGE = "the first line has a word", "an integer that is too large"
LOST = "label that is missing"
CSV: list[tuple[str | bytes, dict[str, Any], str, str]] = [
    ("", {}, ": the file is empty", "is empty"),
    (" \n\t\n", {}, ": the file is empty", "is empty"),
    ("1,2,3\n0,4,n/a\n", {}, ", line 2: 'n/a' in column 3 is not a number (use --label", NO_NUMBER),
    ("1,2\n0,\n", {}, ", line 2: '' in column 2 is empty, but a number is needed", NO_NUMBER),
    ("1,1\n0,-inf\n", {}, ", line 2: '-inf' in column 2 is not a finite number", NO_NUMBER),
    ("1,1\n0,nan\n", {}, ", line 2: 'nan' in column 2 is not a finite number (--miss", NO_NUMBER),
    ("1,1.5\n0,1e999\n", {}, ", line 2: '1e999' in column 2 is too large", "large for a double"),
    ("1,1\n0,1-2\n", {}, ", line 2: '1-2' in column 2 is not a number", NO_NUMBER),
    ("1,1\n0,1_000\n", {}, ", line 2: '1_000' in column 2 is not a number", NO_NUMBER),
    ("1,1\n0,٣\n", {}, ", line 2: '٣' in column 2 is not a number", NO_NUMBER),
    ("1,0x1p3\n0,1\n", {}, ", line 1: '0x1p3' in column 2 is not a number", WORD),
    ("1,2,x\n0,1,2\n", {}, ", line 1: 'x' in column 3 is not a number (use --label NAME", WORD),
    ("1,2\n\n\n0,4,5\n", {}, ", line 4: 3 columns, but the first line has 2", "is ragged"),
    ('""\n', {}, ", line 1: fewer than two columns", "has no data"),
    ("label,a\n", {}, ": there is a header, but no data below it", "has no data"),
    (",2\n1,3\n", {}, ", line 1: the label in column 1 is missing", LOST),
    ("1,2\n-NaN,3\n", {}, ", line 2: the label in column 1 is missing", LOST),
    ("a,1\n" + "x" * 501 + ",2\n", {}, ", line 2: ", "missing or very long"),
    ("1,2\n1,3\n", {}, ": every label is 1, but two classes are needed", ""),
    ("1,2\n2,3\n3,4\n", {}, ": there are 3 classes (1, 2, 3), but two are needed", ""),
    ('1,2\n"0"x,3\n', {}, ", line 2: not a CSV line", "expected"),
    ('"a,1\n",2\n', {}, ", line 1: a quotation mark is not closed", "over the end of a line"),
    ("1,2\n0,\1\n", {}, ", line 2: not text (it holds the control character 0x01)", "a control ch"),
    ("1,2\n0\u0085,2\n", {}, ", line 2: not text (it holds the control character", "a control ch"),
    (b"1,2\n\xff\xfe", {}, ", line 2: not text (byte 0xff is no UTF-8)", "can't decode"),
    (f"1,2\n2,{2**63}\n", {}, f", line 2: '{2**63}' in column 2 {HUGE}", LARGE),
    (f"1,2\n2,{-(2**63) - 1}\n", {}, f", line 2: '{-(2**63) - 1}' in column 2 {HUGE}", LARGE),
    (f"u,1\nv,{'9' * 300}\n", {}, ", line 2: '9999999", LARGE),
    ("c,u,u\na,1,2\n", {"label": "u"}, ": more than one column is named 'u'", "not one column"),
    ("c,u\na,1\n", {"label": "x"}, ": no column is named 'x'; there are c, u", "not one column"),
    (
        "1,2,3\n4,5,6\n",
        {"label": 3},
        ": no column 3, there are 3 (counted",
        r"integer in \[-3, 3\)",
    ),
    ("1,2,3\n4,5,6\n", {"label": -4}, ": no column -4, there are 3", r"integer in \[-3, 3\)"),
    ("a,2,3\nb,5,6\n", {"label": True}, ", line 1: ", r"integer in \[-3, 3\)"),
    ("1,2,3\n4,5,6\n", {"label": 0, "drop": [-3]}, ": the column 0 is that of the label", "twice"),
    ("1,2,3\n4,5,6\n", {"label": 0, "drop": [1, -2]}, ": a column to drop is given twice", "twice"),
    ("1,2,3\n4,5,6\n", {"label": 0, "drop": [1, 2]}, ": no column is left", "no data"),
]
SVM: list[tuple[str, dict[str, Any], str, str]] = [
    ("# nothing\n", {}, ": there are only comments, no data", "has no data"),
    ("1\n-1\n", {}, ": no point has a feature", "has no data"),
    ("1:1 2:2\n", {}, ", line 1: no label before '1:1'", "without label"),
    ("1 1:2\n-1 -4:3\n", {}, ", line 2: the index '-4' is not a positive integer", "index:value"),
    ("1 1_0:2\n-1 1:1", {}, ", line 1: the index '1_0' is not a positive integer", "index:value"),
    ("1 1:2\n-1 ²:3\n", {}, ", line 2: the index '²' is not a positive integer", "index:value"),
    ("1 1:2 3\n-1 1:1", {}, ", line 1: '3' is not of the form index:value", "index:value"),
    ("1 1:2 1:3\n", {}, ", line 1: the index '1' follows 1, but indices must", "do not increase"),
    ("1 1:1 7:1 5:2", {}, ", line 1: the index '5' follows 7, but indices", "do not increase"),
    ("1 1:2:3\n-1 1:1", {}, ", line 1: '2:3' at index 1 is not a number", NO_NUMBER),
    ("1 1:\n-1 1:1", {}, ", line 1: '' at index 1 is empty", NO_NUMBER),
    ("1 1:nan\n-1 1:1", {}, ", line 1: 'nan' at index 1 is not a finite number", NO_NUMBER),
    (f"1 1:{2**63}\n-1 1:1", {}, f", line 1: '{2**63}' at index 1 {HUGE}", LARGE),
    ("1 4294967296:2\n", {}, ", line 1: the index '4294967296' is above 4294967295", LARGE),
    ("1 0:1 4294967295:2\n", {}, ": the index 4294967295 is too large where 0 is", "many columns"),
]


@pytest.mark.parametrize(
    ("kind", "raw", "options", "ours", "theirs"),
    [(kind, *row) for kind, rows in (("csv", CSV), ("svm", SVM)) for row in rows],
)
def test_texts(tmp_path: Path, kind: str, raw: Any, options: Any, ours: str, theirs: str) -> None:
    raw = raw.encode() if isinstance(raw, str) else raw
    path = tmp_path / f"data.{kind}"
    path.write_bytes(raw)
    with pytest.raises(ProblemError) as refused:
        load(str(path), **options)
    said = str(refused.value)
    assert said.removeprefix(str(path)).startswith(ours)
    assert (said.startswith(str(path)), "\n" in said) == (True, False)
    if theirs:  # files of too few or too many classes are read
        with pytest.raises((checker.Rejected, ValueError, checker.csv.Error), match=theirs):
            if kind == "csv":
                asked = options.get("label", 0), options.get("drop", [])
                checker.read_csv(raw, *asked, "x.csv")
            else:
                checker.read_svmlight(raw, "x.svm")


def npy(array: Any, **header: Any) -> bytes:
    """A file of an array; some texts in its header are replaced."""
    out = io.BytesIO()
    np.save(out, array)
    raw = out.getvalue()
    for old, new in header.items():
        raw = raw.replace(old.encode(), str(new).encode(), 1)
    return raw


@pytest.mark.parametrize(
    ("X", "y", "ours", "theirs"),
    [
        (np.eye(2), np.arange(3), ", array X has 2 rows, but ", "not one label"),
        (np.eye(2), np.ones((2, 2)), ", array X has 2 rows, but ", "not one label"),
        (np.arange(2), np.arange(2), ", array X: has shape (2,)", "no array of points"),
        (np.empty((0, 3)), np.empty(0), ", array X: has shape (0, 3)", "no data"),
        (np.eye(2) * 1j, np.arange(2), ", array X: holds '<c16'", "another type"),
        (np.array([["a"], ["b"]]), np.arange(2), ", array X: holds <U1", "texts where numbers"),
        (np.eye(2), np.array([1, np.nan]), ", array y, row 1: the label is missing", "no finite"),
        (np.eye(2), np.array(["a", " "]), ", array y, row 1: the label is missing", LOST),
        (np.array([[1, np.nan], [2, 3]]), np.arange(2), ": X has nan in row 0", "no finite number"),
        (np.array([[1], [np.inf]], np.float16), np.arange(2), ": X has inf in row 1", "no finite"),
    ],
)
def test_arrays(tmp_path: Path, X: Any, y: Any, ours: str, theirs: str) -> None:
    np.savez(tmp_path / "data.npz", X=X, y=y)
    with pytest.raises(ProblemError) as refused:
        load(str(tmp_path / "data.npz"))
    assert str(refused.value).removeprefix(str(tmp_path / "data.npz")).startswith(ours)
    with pytest.raises(checker.Rejected, match=theirs):
        checker.from_arrays(checker.npy(npy(X), "x"), checker.npy(npy(y), "x"), "x")


@pytest.mark.parametrize(
    ("raw", "theirs"),
    [
        (b"\x93NUMPY\3\0" + npy(np.ones(2))[8:], "unknown version"),
        (npy(np.ones(2))[:8] + struct.pack("<H", 10_003) + b" " * 11_000, "long header"),
        (npy(np.ones(2))[:60], "long header"),
        (npy(np.ones(2), descr="desc2"), "not an object with the fields"),
        (npy(np.ones(2)) + b"\0", "wrong length"),
        (npy(np.ones(2))[:-1], "wrong length"),
        (npy(np.array([True, False]))[:-1] + b"\2", "truth value"),
        (npy(np.ones(2), **{"(2,)": "[2 ]"}), "no array"),
        (npy(np.ones(2), **{"(2,), ": "(-2,),"}), "no array"),
        (npy(np.ones(2), **{"False": "1    "}), "no array"),
    ],
)
def test_headers_of_arrays(raw: bytes, theirs: str) -> None:
    with pytest.raises(checker.Rejected, match=theirs):
        checker.npy(raw, "x.npy")


BROKEN, PLACES, POINTER = "a broken sparse matrix", "array indices: holds no places", "does not fit"


@pytest.mark.parametrize(
    ("changed", "ours", "theirs"),
    [
        ({"format": 3}, "in format '3'", "has no format"),
        ({"format": b"bsr"}, "in format 'bsr'", "another format"),
        ({"data": [[2, 1, 3]]}, "has shape", "no list"),
        ({"data": ["a", "b", "c"]}, "but numbers are needed", "texts for numbers"),
        ({"indices": [1.0, 0.0, 2.0]}, PLACES, "no integer"),
        ({"indices": [1, 0]}, "which does not fit", "different lengths"),
        ({"indices": [1, 0, 3]}, BROKEN, "outside of it"),
        ({"indices": [1, 0, -1]}, PLACES, "outside of it"),
        ({"indices": [1, 2, 2]}, "is there twice", "an entry twice"),
        ({"indptr": [0, 1]}, POINTER, "indptr does not fit"),
        ({"indptr": [1, 1, 3]}, POINTER, "indptr does not fit"),
        ({"indptr": [0, 1, 2]}, POINTER, "indptr does not fit"),
        ({"indptr": [0, 4, 3]}, "array indptr: ", "indptr does not fit"),
        ({"shape": [2]}, "array shape is not that of a matrix", "no matrix"),
        ({"shape": [2, 0]}, "", "no matrix"),
        ({"shape": [2, 2**32]}, "", "too many columns"),
        ({"format": b"coo", "row": [0, 1, 2], "col": [1, 0, 2]}, "", "outside of it"),
        ({"format": b"coo", "row": [0, 1], "col": [1, 0, 2]}, "", "different lengths"),
        ({"format": b"coo", "row": [0] * 3, "col": [0] * 3, "shape": [2**47, 3]}, f"{2**47}", ""),
    ],
)
def test_sparse_matrices(tmp_path: Path, changed: Any, ours: str, theirs: str) -> None:
    path, labels = tmp_path / "x.npz", tmp_path / "y.npy"
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(np.array([[0, 2, 0], [1, 0, 3]])))
    with np.load(path) as archive:
        members = {name: archive[name] for name in archive.files}
    np.savez(path, **members | {name: np.array(value) for name, value in changed.items()})
    np.save(labels, ["a", "b"])
    with pytest.raises(ProblemError) as refused:
        load(str(path), labels=str(labels))
    assert ours in str(refused.value)
    if theirs:
        with pytest.raises(checker.Rejected, match=theirs):
            checker.read_scipy(
                path, checker.Array(["a", "b"], (2,), False), "x", checker.Budget(60)
            )


@pytest.mark.parametrize(
    ("raw", "ours"),
    [
        (b"", "magic"),
        (b"\0\0\x0d\x01\0\0\0\x01\0", "magic"),
        (b"\0\0\x08\x03\0\0\0\x01", "truncated"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "5 values, but holds 3"),
        (b"\0\0\x08\x01\0\0\0\x01abc", "1 values, but holds 3"),
        (b"\0\0\x08\0", ""),
        (b"\0\0\x08\x05" + b"\0\0\0\1" * 5 + b"a", None),
    ],
)
def test_idx(raw: bytes, ours: str | None) -> None:
    if ours is not None:
        with pytest.raises(ProblemError, match=f"x: .*{ours}"):
            decode_idx("x", raw)
    with pytest.raises((checker.Rejected, struct.error, IndexError)):
        checker.idx(raw, "x")
