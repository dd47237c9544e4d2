"""DATA strings, from the text to the problem and its source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gammabar.problems import KernelProblem, ProblemError, SparseProblem, load
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


@pytest.mark.parametrize("label", ["-1", "+1.0"])
def test_a_single_point_is_a_problem(tmp_path, label):
    path = tmp_path / "one.csv"
    path.write_text(f"{label},3,4\n")
    problem = load(path)
    assert problem.n == 1
    assert problem.radius == 5
    assert problem.y.tolist() == [int(float(label))]
    assert problem.source.classes == ("-1", "1")


def test_npz_svmlight_and_csv_give_the_same_problem(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (12, 4)), np.arange(12) % 2
    X[:, 3] = 1
    np.savez(tmp_path / "x.npz", X=X, y=y)
    csv = [",".join(map(str, [label, *row])) for label, row in zip(y, X.tolist(), strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(csv))
    svm = [
        " ".join([str(label), *(f"{j}:{v}" for j, v in enumerate(row, 1) if v)])
        for label, row in zip(y, X.tolist(), strict=True)
    ]
    (tmp_path / "x.libsvm").write_text("\n".join(svm))
    digests = {load(tmp_path / name).digest() for name in ("x.npz", "x.csv", "x.libsvm")}
    assert len(digests) == 1
    sparse = load(tmp_path / "x.libsvm")
    assert isinstance(sparse, SparseProblem)
    assert sparse.source.format == "svmlight"
    assert load(tmp_path / "x.npz").source.arrays == ("X", "y")


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
