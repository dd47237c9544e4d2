"""Files: what is written is read back bit for bit, and one sentence says what is not read."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import shutil
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

from gammabar.harness.cli import cli
from gammabar.problems import ProblemError, load
from gammabar.problems.files import read_bytes
from gammabar.problems.text_readers import read_csv


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


@pytest.mark.parametrize(("label", "chosen"), [("kind", "kind"), (2, 2), (-1, -1), ("2", 2)])
def test_csv_header_blank_lines_quotes_and_label(tmp_path, label, chosen):
    text = '\ufeff"u, w",v,"kind"\n\n1, 2 ,"cat"\n   \n"3",4,dog\n'
    points = read_csv(written(tmp_path / "x.csv", text), label)
    assert points.X.tolist() == [[1, 2], [3, 4]]
    assert (list(points.labels), points.label) == (["cat", "dog"], chosen)
    assert points.lines.tolist() == [3, 5]
    path = written(tmp_path / "y.csv", "-1,-1,0\n2,3,1\n")  # a number names a place, not a field
    assert read_csv(path, "-1").label == -1


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
