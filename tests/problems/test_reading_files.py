"""Files: what is written is read back bit for bit, and one sentence says what is not read."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import shutil
import struct
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st

from gammabar.harness.cli import cli
from gammabar.problems import ProblemError, load
from gammabar.problems.binary_readers import decode_idx
from gammabar.problems.files import read_bytes
from gammabar.problems.text_readers import read_csv

ANY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def complaint(path: Path, **options) -> str:
    with pytest.raises(ProblemError) as caught:
        load(str(path), **options)
    message = str(caught.value)
    assert str(path) in message, "the file is named"
    assert "\n" not in message
    return message.removeprefix(str(path))


def written(path: Path, contents: str | bytes) -> Path:
    path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
    return path


# --- CSV and svmlight ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" \n\n", ": the file is empty"),
        (
            "1,2,3\n0,4,n/a\n",
            ", line 2: 'n/a' in column 3 is not a number "
            "(use --label NAME if the label is not the first column; --missing drop leaves out",
        ),
        ("1,2\n0,\n", ", line 2: '' in column 2 is empty, but a number is needed"),
        ("1,-inf\n0,1\n", ", line 1: '-inf' in column 2 is not a finite number"),
        ("1,1e999\n0,1\n", ", line 1: '1e999' in column 2 is too large for a double"),
        ("1,1-2\n0,1\n", ", line 1: '1-2' in column 2 is not a number"),
        ("1,1\n0,1_000\n", ", line 2: '1_000' in column 2 is not a number"),
        ("1,1\n0,٣\n", ", line 2: '٣' in column 2 is not a number"),
        ("1,0x1p3\n0,1\n", ", line 1: '0x1p3' in column 2 is not a number"),
        ("1,2,x\n0,1,2\n", ", line 1: 'x' in column 3 is not a number"),
        ("1,2\n\n\n0,4,5\n", ", line 4: 3 columns, but the first line has 2"),
        ('""\n', ", line 1: fewer than two columns"),
        ("label,a\n", ": there is a header, but no data below it"),
        (",2\n1,3\n", ", line 1: the label in column 1 is missing"),
        ("1,2\nNaN,3\n", ", line 2: the label in column 1 is missing"),
        ("1,2\n1,3\n", ": every label is 1, but two classes are needed"),
        ("1,2\n2,3\n3,4\n", ": there are 3 classes (1, 2, 3), but two are needed"),
        ('1,2\n"0"x,3\n', ", line 2: not a CSV line"),
        ('1,2\n"0,3\n', ", line 2: "),
        ("1,2\n0,\0\n", ", line 2: not text (it holds the control character 0x00)"),
        (b"1,2\n\xff\xfe", ", line 2: not text (byte 0xff is no UTF-8)"),
        ("1,2,3\n2,4,9223372036854775808\n", ", line 2: '9223372036854775808' in column 3"),
        ("u,1,3\nv,-9223372036854775809,2\n", ", line 2: '-9223372036854775809' in column 2"),
        (f"u,1\nv,{'9' * 300}\n", ", line 2: '9999999"),
    ],
)
def test_csv_that_is_refused(tmp_path, text, expected):
    assert complaint(written(tmp_path / "data.csv", text)).startswith(expected)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("kind,a,b\n1,2,3\n0,4,5\n", {"label": "sort"}, "no column is named 'sort'; there are k"),
        ("kind,a,b\n1,2,3\n0,4,5\n", {"label": 3}, "no column 3, there are 3 (counted from 0)"),
        ("kind,a,kind\n1,2,3\n0,4,5\n", {"label": "kind"}, "more than one column"),
        ("kind,a,b\n1,2,3\n0,4,5\n", {"drop": ["kind"]}, "is that of the label"),
        ("kind,a,b\n1,2,3\n0,4,5\n", {"drop": ["a", "1"]}, "given twice"),
        ("kind,a,b\n1,2,3\n0,4,5\n", {"drop": ["a", "b"]}, "no column is left"),
    ],
)
def test_columns_that_are_not_there(tmp_path, text, options, expected):
    assert expected in complaint(written(tmp_path / "data.csv", text), **options)


@pytest.mark.parametrize(("label", "chosen"), [("kind", "kind"), (2, 2), (-1, -1), ("2", 2)])
def test_csv_header_blank_lines_quotes_and_label(tmp_path, label, chosen):
    text = '\ufeff"u, w",v,"kind"\n\n1, 2 ,"cat"\n   \n"3",4,dog\n'
    points = read_csv(written(tmp_path / "x.csv", text), label)
    assert points.X.tolist() == [[1, 2], [3, 4]]
    assert (list(points.labels), points.label) == (["cat", "dog"], chosen)
    assert points.lines.tolist() == [3, 5]
    path = written(tmp_path / "y.csv", "-1,-1,0\n2,3,1\n")  # a number names a place, not a field
    assert read_csv(path, "-1").label == -1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# nothing\n", ": there are only comments, no data"),
        ("1 1:2\n-1 -4:3\n", ", line 2: the index '-4' is not a positive integer or 0"),
        ("1 1:2 1:3\n-1 1:1", ", line 1: the index '1' follows 1, but indices must ascend"),
        ("1 1:2\n-1 1:1 7:1 5:2", ", line 2: the index '5' follows 7, but indices must ascend"),
        ("1 1_0:2\n-1 1:1", ", line 1: the index '1_0' is not a positive integer"),
        ("1 1:2 3\n-1 1:1", ", line 1: '3' is not of the form index:value"),
        ("1 1:2:3\n-1 1:1", ", line 1: '2:3' at index 1 is not a number"),
        ("1 1:\n-1 1:1", ", line 1: '' at index 1 is empty"),
        ("1 1:nan\n-1 1:1", ", line 1: 'nan' at index 1 is not a finite number"),
        ("1:1 2:2\n", ", line 1: no label before '1:1'"),
        ("1\n-1\n", ": no point has a feature"),
        ("1 1:9223372036854775808\n-1 1:1", ", line 1: '9223372036854775808' at index 1"),
        ("1 999999999999:1\n-1 1:1", ", line 1: the index '999999999999' is above 4294967295"),
        ("1 99999999999999999999:1\n-1 1:1", ", line 1: the index '99999999999999999999' is above"),
    ],
)
def test_svmlight_that_is_refused(tmp_path, text, expected):
    assert complaint(written(tmp_path / "data.svm", text)).startswith(expected)


def test_svmlight_comments_query_ids_and_empty_points(tmp_path):
    text = "# head\n1 qid:3 2:5 # tail\n\n-1\n1 1:-7 3:2\n"
    problem = load(written(tmp_path / "x.svm", text))
    assert problem.X.toarray().tolist() == [[0, 5, 0], [0, 0, 0], [-7, 0, 2]]
    assert problem.X.dtype == np.int64
    assert problem.y.tolist() == [1, -1, 1]


# --- arrays ----------------------------------------------------------------------------------


class Explosive:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


@pytest.mark.parametrize("victim", ["X", "y", "members", "file"])
def test_nothing_is_unpickled(tmp_path, victim):
    trace, path = tmp_path / "trace", tmp_path / "data.npz"
    arrays = {"X": np.eye(2), "y": np.array([0, 1])}
    if victim == "file":
        path.write_bytes(pickle.dumps(Explosive(trace)))
        assert complaint(path).startswith(": not an NPZ archive")
    elif victim == "members":
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("X.npy", "y.npy"):
                archive.writestr(name, pickle.dumps(Explosive(trace)))
        assert complaint(path) == ", array X: not a plain NumPy array"
    else:
        arrays[victim] = np.array([Explosive(trace)] * 2, dtype=object)
        np.savez(path, allow_pickle=True, **arrays)
        assert complaint(path).startswith(f", array {victim}: holds Python objects")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"X": np.eye(2)}, ": needs arrays named X and y, but holds X"),
        ({"X": np.eye(2), "y": np.arange(3)}, ", array X has 2 rows, but "),
        ({"X": np.arange(2), "y": np.arange(2)}, ", array X: has shape (2,)"),
        ({"X": np.empty((0, 3)), "y": np.empty(0)}, ", array X: has shape (0, 3)"),
        ({"X": np.eye(2) * 1j, "y": np.arange(2)}, ", array X: holds '<c16'"),
        ({"X": np.array([["a"], ["b"]]), "y": np.arange(2)}, ", array X: holds <U1"),
        ({"X": np.eye(2), "y": np.array([1, np.nan])}, ", array y, row 1: the label is missing"),
        ({"X": np.eye(2), "y": np.array(["a", " "])}, ", array y, row 1: the label is missing"),
        ({"X": np.array([[1, np.nan], [2, 3]]), "y": np.arange(2)}, ": X has nan in row 0"),
    ],
)
def test_npz_that_is_refused(tmp_path, arrays, expected):
    np.savez(tmp_path / "data.npz", **arrays)
    assert complaint(tmp_path / "data.npz").startswith(expected)


def test_npz_whose_header_or_checksum_lies(tmp_path):
    path, member, header = tmp_path / "data.npz", io.BytesIO(), io.BytesIO()
    np.save(member, np.eye(2))
    claim = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(header, claim)
    for contents, more, expected in (
        (member.getvalue() + b"more", 0, ", array X: truncated, or longer than its header says"),
        (header.getvalue(), 8 * 10**12, ", array X: needs 8,000.0 GB"),  # as its directory says
    ):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", contents)
            archive.writestr("y.npy", member.getvalue())
            archive.getinfo("X.npy").file_size += more
        assert complaint(path).startswith(expected)
    np.savez(path, X=np.full((2, 2), 0.7), y=np.arange(2))
    value, other = np.float64(0.7).tobytes(), np.float64(0.9).tobytes()
    path.write_bytes(path.read_bytes().replace(value, other, 1))
    assert complaint(path) == ", array X: the archive is damaged or truncated"


def test_an_npy_file_is_mapped_and_not_read(tmp_path):
    X = np.arange(12, dtype=np.int16).reshape(4, 3)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", ["a", "b", "b", "a"])
    problem = load(tmp_path / "X.npy", labels=tmp_path / "y.npy")
    base = problem.X
    while not isinstance(base, np.memmap):
        base = base.base
    assert problem.X.dtype == np.int16
    assert (problem.X == X).all()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"indices": np.array([0, 3])}, "a broken sparse matrix"),
        ({"indices": np.array([0.0, 1.0])}, "array indices: holds no places"),
        ({"indices": np.array([0, -1])}, "array indices: holds no places"),
        ({"indptr": np.array([0, 2, 1])}, "array indptr: does not fit"),
        ({"indptr": np.array([1, 1, 2])}, "array indptr: does not fit"),
        ({"indptr": np.array([0, 2, 2]), "indices": np.array([1, 1])}, "is there twice"),
        ({"data": np.array([1.0, 2.0, 3.0])}, "has shape (2,), which does not fit"),
        ({"shape": np.array([2])}, "array shape is not that of a matrix"),
        ({"format": np.array(b"bsr")}, "in format 'bsr'"),
        ({"data": np.array(["a", "b"])}, "but numbers are needed"),
        (
            {
                "format": np.array(b"coo"),
                "shape": np.array([2**47, 3]),
                "row": np.array([0, 1]),
                "col": np.array([0, 1]),
            },
            "140737488355328",
        ),
    ],
)
def test_sparse_files_that_are_broken(tmp_path, changed, expected):
    arrays: dict[str, Any] = {"format": np.array(b"csr"), "shape": np.array([2, 3])}
    arrays |= {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2])}
    np.savez(tmp_path / "x.npz", **arrays | changed)
    np.save(tmp_path / "y.npy", [0, 1])
    assert expected in complaint(tmp_path / "x.npz", labels=tmp_path / "y.npy")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "magic"),
        (b"\0\0\x0d\x01\0\0\0\x01\0", "magic"),
        (b"\0\0\x08\x03\0\0\0\x01", "truncated"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "5 values, but holds 3"),
    ],
)
def test_idx(tmp_path, raw, reason):
    good = b"\0\0\x08\x02" + struct.pack(">II", 2, 3) + bytes(range(6))
    path = written(tmp_path / "x.gz", gzip.compress(good))
    assert decode_idx("x", read_bytes(path)).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ProblemError, match=f"x: .*{reason}"):
        decode_idx("x", raw)


# --- Parquet and Arrow -----------------------------------------------------------------------


def as_table(path: Path, columns: dict[str, Any]) -> Path:
    table = pyarrow.table(columns)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path), compression="uncompressed")
    return path


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"y": [0, 1], "a": ["u", "v"]}, {}, "column 'a' holds string, not numbers"),
        ({"y": [0, 1], "a": [1, None]}, {}, "missing value in row 1, column 'a'"),
        ({"y": [0, None], "a": [1, 2]}, {}, "row 1: the label is missing"),
        ({"y": ["u", " "], "a": [1, 2]}, {}, "row 1: the label is missing"),
        ({"y": [0, 1], "a": [1, 2]}, {"drop": ["a"]}, "no column is left"),
        ({"y": pyarrow.array([], "int64"), "a": pyarrow.array([], "int64")}, {}, "no rows"),
    ],
)
def test_tables_that_are_refused(tmp_path, columns, options, expected):
    assert expected in complaint(as_table(tmp_path / "t.parquet", columns), **options)


def test_pyarrow_is_asked_for_by_name(tmp_path, monkeypatch):
    path = written(tmp_path / "t.parquet", b"PAR1")
    assert complaint(path) == ": not a file that pyarrow can read, or damaged"
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "needs pyarrow" in complaint(path)


# --- any file --------------------------------------------------------------------------------


@ANY
@given(st.data())
def test_npz_truncated_or_corrupted(tmp_path, data):
    """Whatever happens to the bytes: the same numbers, or a sentence."""
    path = tmp_path / "data.npz"
    X, y = np.arange(40.0).reshape(8, 5), np.arange(8) % 2
    (np.savez_compressed if data.draw(st.booleans()) else np.savez)(path, X=X, y=y)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    else:
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    try:
        assert np.array_equal(load(str(path)).X, X)
    except ProblemError as error:
        assert str(path) in str(error)


TEXTS = st.text("01 ,;:\t\n.e+-#\"'nax_", max_size=40).map(str.encode)


@ANY
@given(st.sampled_from(["csv", "svm", "npz", "csv.gz", "csv.bz2", "svm.xz"]), st.binary() | TEXTS)
def test_junk(tmp_path, suffix, raw):
    path = written(tmp_path / f"junk.{suffix}", raw)
    try:
        load(str(path))
    except ProblemError as error:
        assert str(path) in str(error)


def test_files_that_are_none(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    whole = gzip.compress(b"0,1\n1,2\n" * 1000)
    for name, contents, expected in (
        ("no.csv", None, ": there is no such file"),
        ("folder.npz", None, ": this is a folder, not a file"),
        ("notes.txt", b"1,2", ": not a file that can be read"),
        ("x.npz.gz", None, ": such a file is compressed already"),
        ("cut.csv.gz", whole[:-20], ": the compressed file is damaged or truncated"),
        ("plain.csv.gz", b"0,1\n1,2\n", ": the compressed file is damaged or truncated"),
        ("book.csv", b"PK\3\4 and more", ": a spreadsheet or an archive, not text"),
        ("old.tsv", b"\xd0\xcf\x11\xe0 and more", ": a spreadsheet or an archive, not text"),
    ):
        if contents is not None:
            written(tmp_path / name, contents)
        assert complaint(tmp_path / name).startswith(expected)
    path = written(tmp_path / "bomb.csv.gz", gzip.compress(b"0," * 5_000_000))
    with pytest.raises(ProblemError, match="too much for this machine"):
        read_bytes(path, budget=1_000_000)


@pytest.mark.parametrize("suffix", ["csv", "svm", "encoded.csv"])
def test_a_small_file_that_would_take_all_memory_is_refused_before(tmp_path, suffix, monkeypatch):
    """Lines of a few bytes take forty times as much when they are read, which counts."""
    budget, text = 32 << 20, b"1 1:1\n-1 1:2\n" if suffix == "svm" else b"1,0\n0,1\n"
    for module in ("files", "text_readers"):
        monkeypatch.setattr(f"gammabar.problems.{module}.memory_budget", lambda: budget)
    path = written(tmp_path / f"bomb.{suffix}.xz", lzma.compress(text * (6_000_000 // len(text))))
    assert path.stat().st_size < 10_000
    tracemalloc.start()
    try:
        message = complaint(path, encode=suffix == "encoded.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "too much for this machine" in message
    assert peak < 2 * budget


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")
@pytest.mark.parametrize("name", ["data.csv", "data.svm", "data.npz", "data.parquet", "data.arrow"])
def test_names_that_are_not_utf8_are_read(name, tmp_path):
    rows, labels, path = np.array([[1.0, 2.0], [3.0, -1.0]]), [1, -1], tmp_path / name
    if name == "data.csv":
        path.write_text("a,b,y\n1,2,1\n3,-1,-1\n")
    elif name == "data.svm":
        path.write_text("1 1:1 2:2\n-1 1:3 2:-1\n")
    elif name == "data.npz":
        np.savez(path, X=rows, y=labels)
    else:
        as_table(path, {"a": rows[:, 0], "b": rows[:, 1], "y": labels})
    odd = tmp_path / os.fsdecode(b"\x80" + name.encode())
    shutil.copy(path, odd)
    options = {} if name.endswith((".svm", ".npz")) else {"label": "y"}
    found = load(str(odd), **options)
    assert (found.X.toarray() if name == "data.svm" else found.X).tolist() == rows.tolist()
    assert found.y.tolist() == labels


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")
@pytest.mark.parametrize(
    "line",
    [
        "oracle rows:1,2;-1,1 --certificate {}",
        "oracle rows:1,2;-1,1 --export {}.npz",
        "verify --problem rows:1 --solver perceptron --iterations 2 --jobs 1 --store {}",
        "export {store} --csv {}",
        "export {store} --parquet {}",
        "report {store} --out {}",
    ],
)
def test_names_that_are_not_utf8_are_written(line: str, tmp_path: Path) -> None:
    store, odd = str(tmp_path / "s.db"), str(tmp_path / os.fsdecode(b"\x80"))
    run = CliRunner()
    if "{store}" in line:
        made = "verify --problem rows:1 --solver perceptron --iterations 2 --jobs 1 --store"
        assert run.invoke(cli, [*made.split(), store]).exit_code == 0
    arguments = [part.format(odd, store=store) for part in line.split()]
    done = run.invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert any(name.startswith(b"\x80") for name in os.listdir(os.fsencode(tmp_path)))
