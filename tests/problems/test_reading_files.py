"""Files: what is read, and one sentence about what is not."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gammabar.problems import ProblemError, load
from gammabar.problems.binary_readers import decode_idx, read_npz
from gammabar.problems.files import read_bytes
from gammabar.problems.text_readers import read_csv, read_svmlight


def complaint(path: Path, **options) -> str:
    with pytest.raises(ProblemError) as caught:
        load(str(path), **options)
    message = str(caught.value)
    assert str(path) in message, "the file is named"
    assert "\n" not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": the file is empty"),
        (" \n\n", ": the file is empty"),
        (
            "1,2,3\n0,4,n/a\n",
            ", line 2: 'n/a' in column 3 is not a number "
            "(use --label NAME if the label is not the first column)",
        ),
        ("1,2\n0,\n", ", line 2: '' in column 2 is empty, but a number is needed"),
        ("1,2\n0,nan\n", ", line 2: 'nan' in column 2 is not a finite number"),
        ("1,-inf\n0,1\n", ", line 1: '-inf' in column 2 is not a finite number"),
        ("1,1e999\n0,1\n", ", line 1: '1e999' in column 2 is too large for a double"),
        ("1,1-2\n0,1\n", ", line 1: '1-2' in column 2 is not a number"),
        ("1,1\n0,1_000\n", ", line 2: '1_000' in column 2 is not a number"),
        ("1,1\n0,٣\n", ", line 2: '٣' in column 2 is not a number"),
        ("1,0x1p3\n0,1\n", ", line 1: '0x1p3' in column 2 is not a number"),
        ("1,2,x\n0,1,2\n", ", line 1: 'x' in column 3 is not a number"),
        ("1,2,3\n0,4\n", ", line 2: 2 columns, but the first line has 3"),
        ("1,2\n\n\n0,4,5\n", ", line 4: 3 columns, but the first line has 2"),
        ("1\n2\n", ", line 1: fewer than two columns"),
        ('""\n', ", line 1: fewer than two columns"),
        ("label,a\n", ": there is a header, but no data below it"),
        (",2\n1,3\n", ", line 1: the label in column 1 is missing"),
        ("1,2\nNaN,3\n", ", line 2: the label in column 1 is missing"),
        ("1,2\n1,3\n", ": every label is 1, but two classes are needed"),
        ("1,2\n2,3\n3,4\n", ": there are 3 classes (1, 2, 3), but two are needed"),
        ('1,2\n"0"x,3\n', ", line 2: not a CSV line"),
        ("1,2\n0,\0\n", ", line 2: not text (it holds the control character 0x00)"),
    ],
)
def test_csv(tmp_path, text, expected):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    assert complaint(path).startswith(expected)


def test_csv_label_that_does_not_exist(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("kind,a,b\n1,2,3\n0,4,5\n")
    assert complaint(path, label="sort") == (": no column is named 'sort'; there are kind, a, b")
    assert complaint(path, label=3).startswith(": no column 3, there are 3 (counted from 0)")
    path.write_text("kind,a,kind\n1,2,3\n0,4,5\n")
    assert "more than one column" in complaint(path, label="kind")


def test_binary_text_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"1,2\n\xff\xfe")
    assert complaint(path) == ", line 2: not text (byte 0xff is no UTF-8)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": the file is empty"),
        ("# nothing\n", ": there are only comments, no data"),
        ("1 1:2\n-1 -4:3\n", ", line 2: the index '-4' is not a positive integer or 0"),
        ("1 1:2 1:3\n-1 1:1", ", line 1: the index '1' follows 1, but indices must ascend"),
        ("1 1:2\n-1 1:1 7:1 5:2", ", line 2: the index '5' follows 7, but indices must ascend"),
        ("1 a:2\n-1 1:1", ", line 1: the index 'a' is not a positive integer"),
        ("1 1.5:2\n-1 1:1", ", line 1: the index '1.5' is not a positive integer"),
        ("1 1_0:2\n-1 1:1", ", line 1: the index '1_0' is not a positive integer"),
        ("1 2\n-1 1:1", ", line 1: '2' is not of the form index:value"),
        ("1 1:2 3\n-1 1:1", ", line 1: '3' is not of the form index:value"),
        ("1 1:2:3\n-1 1:1", ", line 1: '2:3' at index 1 is not a number"),
        ("1 1:\n-1 1:1", ", line 1: '' at index 1 is empty"),
        ("1 1:nan\n-1 1:1", ", line 1: 'nan' at index 1 is not a finite number"),
        ("1 1:x\n-1 1:1", ", line 1: 'x' at index 1 is not a number"),
        ("1:1 2:2\n", ", line 1: no label before '1:1'"),
        ("1\n-1\n", ": no point has a feature"),
        ("1 1:9223372036854775808\n-1 1:1", ", line 1: '9223372036854775808' at index 1"),
        (
            "1 999999999999999:1\n-1 1:1",
            ", line 1: the index '999999999999999' is above 4294967295",
        ),
        ("1 99999999999999999999:1\n-1 1:1", ", line 1: the index '99999999999999999999'"),
    ],
)
def test_svmlight(tmp_path, text, expected):
    path = tmp_path / "data.svm"
    path.write_text(text)
    assert complaint(path).startswith(expected)


class Explosive:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


@pytest.mark.parametrize("victim", ["X", "y"])
def test_npz_objects_are_refused_and_never_unpickled(tmp_path, victim):
    trace = tmp_path / "trace"
    arrays = {"X": np.eye(2), "y": np.array([0, 1])}
    arrays[victim] = np.array([Explosive(trace)] * 2, dtype=object)
    path = tmp_path / "data.npz"
    np.savez(path, allow_pickle=True, **arrays)
    assert complaint(path).startswith(f", array {victim}: holds Python objects")
    assert not trace.exists()


def test_npz_that_is_a_pickle(tmp_path):
    trace = tmp_path / "trace"
    path = tmp_path / "data.npz"
    path.write_bytes(pickle.dumps(Explosive(trace)))
    assert complaint(path).startswith(": not an NPZ archive")
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, pickle.dumps(Explosive(trace)))
    assert complaint(path) == ", array X: not a plain NumPy array"
    assert not trace.exists()


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"a": np.eye(2)}, ": needs arrays named X and y, but holds a"),
        ({"X": np.eye(2)}, ": needs arrays named X and y, but holds X"),
        ({"X": np.eye(2), "y": np.arange(3)}, ", array X has 2 rows, but "),
        ({"X": np.arange(2), "y": np.arange(2)}, ", array X: has shape (2,)"),
        ({"X": np.empty((0, 3)), "y": np.empty(0)}, ", array X: has shape (0, 3)"),
        ({"X": np.eye(2) * 1j, "y": np.arange(2)}, ", array X: holds '<c16'"),
        ({"X": np.array([["a"], ["b"]]), "y": np.arange(2)}, ", array X: holds <U1"),
        ({"X": np.eye(2), "y": np.array([1, np.nan])}, ", array y, row 1: the label is missing"),
        ({"X": np.eye(2), "y": np.array(["a", " "])}, ", array y, row 1: the label is missing"),
        ({"X": np.eye(2), "y": np.zeros(2)}, ": every label is 0"),
        ({"X": np.array([[1, np.nan], [2, 3]]), "y": np.arange(2)}, ": X has nan in row 0"),
        ({"X": np.array([[1, 3], [2, -np.inf]]), "y": np.arange(2)}, ": X has -inf in row 1"),
    ],
)
def test_npz_contents(tmp_path, arrays, expected):
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    assert complaint(path).startswith(expected)


def test_npz_array_longer_than_its_header_says(tmp_path):
    member = io.BytesIO()
    np.save(member, np.eye(2))
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", member.getvalue() + b"more")
        archive.writestr("y.npy", member.getvalue())
    assert complaint(path) == ", array X: truncated, or longer than its header says"


def test_npz_with_a_wrong_checksum(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.full((2, 2), 0.7), y=np.arange(2))
    raw = path.read_bytes()
    value = np.float64(0.7).tobytes()
    path.write_bytes(raw.replace(value, np.float64(0.9).tobytes(), 1))
    assert complaint(path) == ", array X: the archive is damaged or truncated"


def test_npz_bomb_is_refused_by_its_header(tmp_path):
    """A header that claims 8 TB, in an archive whose directory agrees."""
    header = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(header, claim)
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
        archive.writestr("y.npy", b"")
        archive.getinfo("X.npy").file_size += 8 * 10**12
    assert complaint(path).startswith(", array X: needs 8,000.0 GB")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_npz_truncated_or_corrupted(tmp_path, data):
    """Whatever happens to the bytes: the same numbers, or a sentence."""
    path = tmp_path / "data.npz"
    compressed = data.draw(st.booleans())
    X, y = np.arange(40.0).reshape(8, 5), np.arange(8) % 2
    (np.savez_compressed if compressed else np.savez)(path, X=X, y=y)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    else:
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    try:
        problem = load(str(path))
    except ProblemError as error:
        assert str(path) in str(error)
    else:
        assert np.array_equal(problem.X, X)
        assert problem.n == 8


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["csv", "svm", "npz", "csv.gz", "csv.bz2", "svm.xz"]), st.binary())
def test_junk(tmp_path, suffix, raw):
    path = tmp_path / f"junk.{suffix}"
    path.write_bytes(raw)
    try:
        load(str(path))
    except ProblemError as error:
        assert str(path) in str(error)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["csv", "svm"]), st.text("01 ,;:\t\n.e+-#\"'nax_", max_size=40))
def test_text_junk(tmp_path, suffix, text):
    path = tmp_path / f"junk.{suffix}"
    path.write_text(text)
    try:
        load(str(path))
    except ProblemError as error:
        assert str(path) in str(error)


def test_truncated_compression(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n1,2\n" * 1000)[:-20])
    assert complaint(path) == ": the compressed file is damaged or truncated"
    path.write_bytes(b"0,1\n1,2\n")
    assert complaint(path) == ": the compressed file is damaged or truncated"


def test_files_that_are_none(tmp_path):
    assert complaint(tmp_path / "no.csv") == ": there is no such file"
    (tmp_path / "folder.npz").mkdir()
    assert complaint(tmp_path / "folder.npz") == ": this is a folder, not a file"
    (tmp_path / "folder.csv").mkdir()
    assert complaint(tmp_path / "folder.csv") == ": this is a folder, not a file"
    (tmp_path / "notes.txt").write_text("1,2")
    assert complaint(tmp_path / "notes.txt").startswith(": not a file that can be read")
    assert complaint(tmp_path / "x.npz.gz").startswith(": such a file is compressed already")


# --- readers: what is written is read back, bit for bit; integers stay integers


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


# --- CSV -------------------------------------------------------------------------------------


def test_csv_integer_outside_int64_is_refused_only_among_integers(tmp_path):
    path = write(tmp_path / "x.csv", "1,2,3\n2,4,9223372036854775808\n")
    with pytest.raises(ProblemError, match=r"line 2: '9223372036854775808' in column 3"):
        read_csv(path)
    assert read_csv(write(path, "1,-9223372036854775808\n0,9223372036854775807")).X.dtype == int


@pytest.mark.parametrize(("label", "chosen"), [("kind", "kind"), (2, 2), (-1, -1), ("2", 2)])
def test_csv_label_by_name_or_index(tmp_path, label, chosen):
    path = write(tmp_path / "x.csv", "u,v,kind\n1,2,cat\n3,4,dog\n")
    points = read_csv(path, label)
    assert points.X.tolist() == [[1, 2], [3, 4]]
    assert list(points.labels) == ["cat", "dog"]
    assert points.label == chosen


def test_csv_header_blank_lines_quotes_and_bom(tmp_path):
    text = '\ufeff"label","a, b",c\n\n"yes",1,2\n   \n"no", 3 ,4\n'
    points = read_csv(write(tmp_path / "x.csv", text))
    assert points.X.tolist() == [[1, 2], [3, 4]]
    assert list(points.labels) == ["yes", "no"]


# --- svmlight --------------------------------------------------------------------------------


def test_svmlight_comments_query_ids_and_empty_points(tmp_path):
    text = "# head\n1 qid:3 2:5 # tail\n\n-1\n1 1:-7 3:2\n"
    points = read_svmlight(write(tmp_path / "x.svm", text))
    assert points.X.toarray().tolist() == [[0, 5, 0], [0, 0, 0], [-7, 0, 2]]
    assert points.X.dtype == np.int64
    assert list(points.labels) == ["1", "-1", "1"]


# --- NPZ and idx -----------------------------------------------------------------------------


def test_npz_foreign_byte_order_images_and_text_labels(tmp_path):
    X = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([["a"], ["b"]]))
    points = read_npz(tmp_path / "x.npz")
    assert points.X.dtype == np.dtype("=i4")
    assert points.X.tolist() == X.reshape(2, 12).tolist()
    assert list(points.labels) == ["a", "b"]


@pytest.mark.parametrize("packed", [False, True])
def test_idx(tmp_path, packed):
    raw = b"\0\0\x08\x02" + struct.pack(">II", 2, 3) + bytes(range(6))
    path = tmp_path / ("x.gz" if packed else "x")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    assert decode_idx(str(path), read_bytes(path)).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "magic"),
        (b"\0\0\x0d\x01\0\0\0\x01\0", "magic"),
        (b"\0\0\x08\x03\0\0\0\x01", "truncated"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "5 values, but holds 3"),
        (b"\0\0\x08\x01\0\0\0\x01abc", "1 values, but holds 3"),
    ],
)
def test_idx_errors(raw, reason):
    with pytest.raises(ProblemError, match=f"x: .*{reason}"):
        decode_idx("x", raw)


def test_decompression_stops_at_the_budget(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0," * 5_000_000))
    with pytest.raises(ProblemError, match="too much for this machine"):
        read_bytes(path, budget=1_000_000)


def test_csv_label_by_number_where_the_first_line_has_that_number_twice(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("-1,-1,0\n2,3,1\n")
    assert read_csv(path, "-1").label == -1
