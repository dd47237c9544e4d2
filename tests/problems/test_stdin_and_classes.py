"""Standard input, two of many classes, and what is said of options that do not fit."""

from __future__ import annotations

import gzip
import io
import sys
import types

import numpy as np
import pytest

import gammabar as gb
from gammabar.problems import ProblemError, load

CSV = b"id;kind;a;b\nx;one;1;2\ny;two;-3;1\nz;three;5;5\nw;one;2;2\n"
SVM = b"# a note\n1 0:1 2:2.5\n-1 1:1\n"


@pytest.fixture
def stdin(monkeypatch):
    def give(raw: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(raw)))

    return give


def _npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_table_comes_on_stdin(stdin, tmp_path, pack):
    stdin(pack(CSV))
    truth = gb.solve(load("-:two,one", label="kind", drop=["id"]))
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    same = gb.solve(load(f"{path}:two,one", label="kind", drop=["id"]))
    assert truth.gamma_squared == same.gamma_squared
    assert truth.problem.source.classes == ("two", "one")
    truth.save(tmp_path / "c.json")
    assert "class -1" in gb.check(tmp_path / "c.json", path)
    with pytest.raises(ProblemError, match="made from standard input: name a file"):
        gb.check(tmp_path / "c.json")


def test_formats_of_stdin_are_told_by_their_first_bytes(stdin):
    stdin(SVM)
    assert load("-").X.toarray().tolist() == [[1, 0, 2.5], [0, 1, 0]]
    stdin(_npz(X=np.eye(2), y=[0, 1]))
    assert load("-").n == 2
    stdin(b"1,2\n0,x\n")
    with pytest.raises(ProblemError, match=r"^stdin, line 2: 'x' in column 2 is not a number"):
        load("-")
    stdin(b"")
    with pytest.raises(ProblemError, match=r"^stdin.*: the file is empty"):
        load("-")


def test_what_does_not_fit_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    np.save(tmp_path / "X.npy", np.eye(3))
    np.save(tmp_path / "y.npy", [0, 1, 1])
    for spec, options, words in (
        (
            f"{path}:two,four",
            {"label": "kind"},
            "there is no class 'four'; there are one, three, two",
        ),
        (f"{path}:two,two", {"label": "kind"}, "are not different"),
        (f"{path}:two", {"label": "kind"}, "1 classes are given, but two are needed"),
        (path, {"label": "kind"}, r"3 classes .* as in .*t\.csv:one,three"),
        (path, {"label": "kind", "drop": ["kind"]}, "is that of the label"),
        (path, {"label": "kind", "drop": ["id", "0"]}, "given twice"),
        (path, {"label": "kind", "drop": ["id", "a", "b"]}, "no column is left"),
        (path, {"drop": ["ident"]}, "no column is named 'ident'"),
        (tmp_path / "X.npy", {}, "give the file of the labels, as in --labels y.npy"),
        (tmp_path / "X.npy", {"labels": tmp_path / "y.npy", "drop": ["a"]}, "--drop names"),
        (path, {"labels": tmp_path / "y.npy"}, "--labels is for .npy files"),
        (tmp_path / "X.npy", {"labels": tmp_path / "X.npy"}, r"has shape \(3, 3\)"),
        ("iris:0,1", {"drop": ["a"]}, "--drop names columns of a table"),
    ):
        drop = {"drop": ["id"]} if "label" in options and "drop" not in options else {}
        with pytest.raises(ProblemError, match=words):
            load(spec, **options, **drop)


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


def test_pyarrow_is_asked_for_by_name(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ProblemError, match=r"needs pyarrow.*gammabar\[parquet\]"):
        load(tmp_path / "t.parquet")
