"""Readers: what is written is read back, bit for bit; integers stay integers."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.problems import ProblemError
from gammabar.problems.binary_readers import decode_idx, read_npz
from gammabar.problems.files import read_bytes
from gammabar.problems.text_readers import read_csv, read_svmlight

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
FLOATS = hnp.arrays(np.float64, SHAPES, elements=DOUBLES)
INTEGERS = hnp.arrays(np.int64, SHAPES)


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


# --- CSV -------------------------------------------------------------------------------------


@given(INTEGERS, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_csv_integers_come_back(tmp_path_factory, X, separator, newline):
    rows = [separator.join(["a", *map(str, row)]) for row in X.tolist()]
    path = write(tmp_path_factory.mktemp("csv") / "x.csv", newline.join(rows) + newline)
    points = read_csv(path)
    assert same_bits(points.X, X)
    assert list(points.labels) == ["a"] * len(X)


@given(FLOATS)
def test_csv_doubles_come_back(tmp_path_factory, X):
    rows = [",".join(["1", *map(repr, row)]) for row in X.tolist()]
    path = write(tmp_path_factory.mktemp("csv") / "x.csv", "\n".join(rows))
    assert same_bits(read_csv(path).X, X)


def test_csv_integer_literals_beside_a_fraction_are_doubles(tmp_path):
    path = write(tmp_path / "x.csv", "1,9007199254740993,0.5\n2,99999999999999999999,7\n")
    X = read_csv(path).X
    assert X.tolist() == [[float("9007199254740993"), 0.5], [1e20, 7.0]]


def test_csv_the_first_fraction_may_come_late(tmp_path):
    rows = [f"{i % 2},{i}" for i in range(5000)] + ["1,0.5"]
    X = read_csv(write(tmp_path / "x.csv", "\n".join(rows))).X
    assert X.dtype == np.float64
    assert X[4999, 0] == 4999
    assert X[5000, 0] == 0.5


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


def test_csv_without_header_keeps_its_first_line(tmp_path):
    assert len(read_csv(write(tmp_path / "x.csv", "cat,1,2\ndog,3,4\n")).X) == 2


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_csv_compressed(tmp_path, suffix, pack):
    path = tmp_path / f"x.csv.{suffix}"
    path.write_bytes(pack.compress(b"0,1,2\n1,3,4\n"))
    assert read_csv(path).X.tolist() == [[1, 2], [3, 4]]


# --- svmlight --------------------------------------------------------------------------------


@given(FLOATS | INTEGERS)
def test_svmlight_comes_back(tmp_path_factory, X):
    X[0, -1] = 1  # the last column exists
    lines = []
    for row in X.tolist():
        pairs = [f"{j}:{value!r}" for j, value in enumerate(row, 1) if value != 0]
        lines.append(" ".join(["+1", *pairs]))
    path = write(tmp_path_factory.mktemp("svm") / "x.svm", "\n".join(lines))
    read = read_svmlight(path).X
    # A file of integers says nothing of doubles: it is read as what it says.
    assert read.dtype == (np.int64 if X.dtype == np.int64 else np.float64)
    assert np.array_equal(read.toarray(), X)


def test_svmlight_comments_query_ids_and_empty_points(tmp_path):
    text = "# head\n1 qid:3 2:5 # tail\n\n-1\n1 1:-7 3:2\n"
    points = read_svmlight(write(tmp_path / "x.svm", text))
    assert points.X.toarray().tolist() == [[0, 5, 0], [0, 0, 0], [-7, 0, 2]]
    assert points.X.dtype == np.int64
    assert list(points.labels) == ["1", "-1", "1"]


# --- NPZ and idx -----------------------------------------------------------------------------

NUMBERS = st.sampled_from([np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64, bool])


@settings(max_examples=50)
@given(st.data(), st.booleans(), st.sampled_from("CF"), st.sampled_from(["X", "x"]))
def test_npz_comes_back(tmp_path_factory, data, compressed, order, name):
    X = data.draw(hnp.arrays(data.draw(NUMBERS), SHAPES))
    y = np.arange(len(X), dtype=np.int16)
    path = tmp_path_factory.mktemp("npz") / "x.npz"
    save = np.savez_compressed if compressed else np.savez
    save(path, **{name: np.asarray(X, order=order), "y": y, "other": np.arange(3)})
    points = read_npz(path)
    assert points.arrays == (name, "y")
    assert points.X.dtype == X.dtype
    assert np.ascontiguousarray(points.X).tobytes() == X.tobytes()
    assert np.array_equal(points.labels, y)


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
