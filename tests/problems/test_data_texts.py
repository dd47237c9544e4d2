"""DATA texts and standard input, from the text to the problem and its source."""

from __future__ import annotations

import gzip
import io
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import gammabar as gb
from gammabar.problems import KernelProblem, ProblemError, load
from gammabar.problems.datasets import DATASETS
from gammabar.problems.generators import FAMILIES
from gammabar.problems.specs import FILES, catalogue

CSV = b"id;kind;a;b\nx;one;1;2\ny;two;-3;1\nz;three;5;5\nw;one;2;2\n"
SVM = b"# a note\n1 0:1 2:2.5\n-1 1:1\n"


@pytest.mark.parametrize(
    ("labels", "classes", "y"),
    [
        (["10", "9"], ("9", "10"), [1, -1]),  # as numbers, not as texts
        (["0.50", "1e0"], ("0.5", "1"), [-1, 1]),
        (["-1"], ("-1", "1"), [-1]),
    ],
)
def test_classes_of_a_file(tmp_path, labels, classes, y):
    path = tmp_path / "points.csv"
    path.write_text("".join(f"{label},{i}\n" for i, label in enumerate(labels, 1)))
    problem = load(path)
    source = problem.source
    assert (source.name, source.format, source.files) == (str(path), "csv", ("points.csv",))
    assert (source.classes, source.label, source.rows) == (classes, 0, None)
    assert problem.y.tolist() == y


def test_multiclass_files_and_kernels(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("red,1,2\ngreen,3,4\nblue,5,6\n")
    problem = load(path, multiclass=True)
    assert problem.n == 3 * 2
    assert problem.source.classes == ("blue", "green", "red")
    path.write_text("red,1,2\nred,3,4\n")
    with pytest.raises(ProblemError, match="every label is red"):
        load(path, multiclass=True)
    assert isinstance(load("planted:n=10,d=2", kernel="poly:degree=2,coef0=1"), KernelProblem)
    with pytest.raises(ProblemError, match=r"^planted:n=10: .*kernel"):
        load("planted:n=10", kernel="sigmoid")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "the name of the data is empty"),
        ("mnits:0,1", "'mnits' is no data set, generator or file .did you mean mnist"),
        ("plantd:gamma=0.1", "'plantd' is no data set, generator or file .did you mean planted"),
        ("qqq", "'qqq' is no data set, generator or file .see `gammabar list problems`"),
        ("some/where", "some/where: not a file that can be read .only .csv, .tsv"),
        ("points.csv", "points.csv: there is no such file"),
        ("points.csv.zip", "points.csv.zip: not a file that can be read"),
        ("table.xlsx", "table.xlsx: a spreadsheet"),
    ],
)
def test_unknown_names(spec, sentence):
    with pytest.raises(ProblemError, match=f"^{sentence}"):
        load(spec)


def test_options_that_do_not_fit_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    np.save(tmp_path / "X.npy", np.eye(3))
    np.save(tmp_path / "y.npy", [0, 1, 1])
    table = {"label": "kind", "drop": ["id"]}
    for spec, options, words in (
        (f"{path}:two,four", table, "there is no class 'four'; there are one, three, two"),
        (f"{path}:two,two", table, "are not different"),
        (f"{path}:two", table, "1 classes are given, but two are needed"),
        (path, table, r"3 classes .* as in .*t\.csv:one,three"),
        (path, {"drop": ["ident"]}, "no column is named 'ident'"),
        (tmp_path / "X.npy", {}, "give the file of the labels, as in --labels y.npy"),
        (tmp_path / "X.npy", {"labels": tmp_path / "y.npy", "drop": ["a"]}, "--drop names"),
        (path, {"labels": tmp_path / "y.npy"}, "--labels is for .npy files"),
        (path, {"memory": 1000}, "--memory is for .npy"),
        (tmp_path / "X.npy", {"labels": tmp_path / "X.npy"}, r"has shape \(3, 3\)"),
        ("iris:0,1", {"drop": ["a"]}, "--drop names columns of a table"),
        *((s, {"label": "k"}, "--label names a column") for s in ("iris:0,1", "planted", "x.svm")),
    ):
        with pytest.raises(ProblemError, match=words):
            load(spec, **options)


def test_catalogue_lists_everything_and_its_examples_work(monkeypatch, tmp_path):
    for name in ("GAMMABAR_DATA", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    entries = {entry.name: entry for entry in catalogue()}
    assert set(entries) == {*DATASETS, *FAMILIES, "rows", *(name for name, _, _ in FILES)}
    for entry in entries.values():
        if entry.where in {"embedded", "generated"}:
            assert load(entry.syntax).n >= 2
    assert entries["mnist"].where == "not found"
    for name in FAMILIES:  # the examples of generators are their defaults
        assert load(entries[name].syntax).digest() == load(name).digest()


def test_catalogue_says_where_files_are(shared_data: Path):
    where = {entry.name: entry.where for entry in catalogue()}
    assert where["mnist"] == str(shared_data / "mnist")


@pytest.fixture
def stdin(monkeypatch):
    def give(raw: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(raw)))

    return give


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
    arrays = io.BytesIO()
    np.savez(arrays, X=np.eye(2), y=[0, 1])
    stdin(arrays.getvalue())
    assert load("-").n == 2
    for raw, sentence in (
        (b"1,2\n0,x\n", r"^stdin, line 2: 'x' in column 2 is not a number"),
        (b"", r"^stdin.*: the file is empty"),
        (b"\x93NUMPY", "an .npy array is read from a file"),
    ):
        stdin(raw)
        with pytest.raises(ProblemError, match=sentence):
            load("-")
