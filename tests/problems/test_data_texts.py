"""DATA texts and standard input, from the text to the problem and its source."""

from __future__ import annotations

import gzip
import io
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import gammabar as gb
from gammabar.problems import KernelProblem, ProblemError, load
from gammabar.problems.datasets import DATASETS
from gammabar.problems.from_files import FILES
from gammabar.problems.generators import FAMILIES
from gammabar.problems.specs import catalogue


def test_csv_file_and_its_source(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("u,v,kind\n1,2,b\n3,4,a\n5,6,b\n")
    problem = load(str(path), label="kind")
    assert problem.y.tolist() == [1, -1, 1]
    source = problem.source
    assert (source.name, source.format, source.files) == (str(path), "csv", ("points.csv",))
    assert (source.classes, source.label, source.rows) == (("a", "b"), "kind", None)
    assert source.paths == (str(path),)


@pytest.mark.parametrize(
    ("labels", "classes", "y"),
    [
        (["10", "9"], ("9", "10"), [1, -1]),  # as numbers, not as texts
        (["+1", "-1.0"], ("-1", "1"), [1, -1]),
        (["b", "10"], ("10", "b"), [1, -1]),
        (["0.50", "1e0"], ("0.5", "1"), [-1, 1]),
    ],
)
def test_classes_of_a_file(tmp_path, labels, classes, y):
    path = tmp_path / "points.csv"
    path.write_text("".join(f"{label},{i}\n" for i, label in enumerate(labels, 1)))
    problem = load(path)
    assert problem.source.classes == classes
    assert problem.source.label == 0
    assert problem.y.tolist() == y


def test_multiclass_file(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("red,1,2\ngreen,3,4\nblue,5,6\n")
    problem = load(path, multiclass=True)
    assert problem.n == 3 * 2
    assert problem.source.classes == ("blue", "green", "red")
    path.write_text("red,1,2\nred,3,4\n")
    with pytest.raises(ProblemError, match="every label is red"):
        load(path, multiclass=True)


def test_kernel():
    problem = load("planted:n=10,d=2", kernel="poly:degree=2,coef0=1")
    assert isinstance(problem, KernelProblem)
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
        ("points.txt", "points.txt: not a file that can be read"),
        ("points.csv", "points.csv: there is no such file"),
        ("points.csv.zip", "points.csv.zip: not a file that can be read"),
    ],
)
def test_unknown_names(spec, sentence):
    with pytest.raises(ProblemError, match=f"^{sentence}"):
        load(spec)


@pytest.mark.parametrize("spec", ["iris:0,1", "planted", "points.npz", "points.svm"])
def test_label_belongs_to_tables(spec):
    with pytest.raises(ProblemError, match="--label names a column of a table"):
        load(spec, label="kind")


@given(st.text(max_size=30) | st.text("mnistplaed:=,.01-", max_size=30))
def test_any_text_is_a_problem_or_a_sentence(spec):
    try:
        load(spec)
    except ProblemError as error:
        assert "\n" not in str(error).replace(spec.strip(), "")


def test_catalogue_lists_everything_and_its_examples_work(monkeypatch, tmp_path):
    monkeypatch.setenv("GAMMABAR_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    entries = {entry.name: entry for entry in catalogue()}
    assert set(entries) == {*DATASETS, *FAMILIES, "rows", *(name for name, _, _ in FILES)}
    for entry in entries.values():
        if entry.where in {"embedded", "generated"}:
            assert load(entry.syntax).n >= 2
    assert entries["mnist"].where == "not found"
    options = {name: default for name, default, _ in entries["planted"].options}
    assert options["gamma"] == "0.1"
    # What the list calls defaults are the defaults.
    for name in FAMILIES:
        given_ = ",".join(f"{key}={value}" for key, value, _ in entries[name].options if value)
        assert load(f"{name}:{given_}").digest() == load(name).digest()


def test_catalogue_says_where_files_are(shared_data: Path):
    where = {entry.name: entry.where for entry in catalogue()}
    assert where["mnist"] == str(shared_data / "mnist")
    assert where["eurosat"] == str(shared_data / "eurosat")


# --- standard input, two of many classes, and what is said of options that do not fit


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
