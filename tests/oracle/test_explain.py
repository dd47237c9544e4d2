"""Conflicts are minimal, and removals as small as is said: against all subsets, in rationals."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from certificates_for_tests import linear_gram
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import between, shortest

from gammabar.harness.cli import main
from gammabar.oracle import solve
from gammabar.oracle.conflicts import _smallest_hitting_set, smallest_removal
from gammabar.problems import from_arrays


@st.composite
def points(draw):
    n, d = draw(st.integers(3, 7)), draw(st.integers(1, 2))
    row = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = draw(st.lists(row, min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[:2] = -1, 1
    return np.array(X), np.array(y), draw(st.sampled_from(["none", "free", "augmented"]))


def separable(X, y, kind):
    """By brute force; no rows at all, and one class with a bias, are separable."""
    if len(y) == 0 or (len(set(y.tolist())) < 2 and kind != "none"):
        return True
    rows = np.hstack([X, np.ones((len(y), 1), int)]) if kind == "augmented" else X
    gram = linear_gram(rows.tolist(), y.tolist())
    return (between(gram, y.tolist()) if kind == "free" else shortest(gram))[1] > 0


@settings(max_examples=150, deadline=None)
@given(points())
def test_conflicts_are_minimal_and_removals_smallest(data):
    X, y, kind = data
    truth = solve(X, y, intercept=kind)
    if truth.separable:
        return
    conflict = [int(i) for i in truth.support]
    assert not separable(X[conflict], y[conflict], kind)
    for left in combinations(conflict, len(conflict) - 1):
        assert separable(X[list(left)], y[list(left)], kind)
    removal = smallest_removal(truth)
    assert removal.rows is not None
    assert removal.smallest
    keep = np.setdiff1d(np.arange(len(y)), removal.rows)
    assert separable(X[keep], y[keep], kind)
    for gone in combinations(range(len(y)), removal.least - 1):
        rest = np.setdiff1d(np.arange(len(y)), gone)
        assert not separable(X[rest], y[rest], kind)


@settings(max_examples=60, deadline=None)
@given(points(), st.integers(1, 6))
def test_what_is_said_after_few_questions_is_true(data, asked):
    X, y, kind = data
    truth = solve(X, y, intercept=kind)
    if truth.separable:
        return
    best, removal = smallest_removal(truth), smallest_removal(truth, asked=asked)
    assert removal.least <= best.least
    if removal.rows is not None:
        keep = np.setdiff1d(np.arange(len(y)), removal.rows)
        assert separable(X[keep], y[keep], kind)


def test_smallest_hitting_set():
    sets = [frozenset(s) for s in ({1, 2}, {2, 3}, {3, 4}, {4, 1})]
    assert _smallest_hitting_set(sets, 1) in ({1, 3}, {2, 4})


def run(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    return capsys.readouterr().out


def test_the_command_names_lines(tmp_path, capsys):
    path = tmp_path / "d.csv"
    path.write_text("label,a\n\nno,1\nno,2\nyes,3\nyes,4\nno,9\n")
    told = json.loads(run(["oracle", str(path), "--intercept", "--explain", "--json"], capsys))
    assert (told["format"], told["version"], told["intercept"]) == ("gammabar-oracle", 1, "free")
    assert told["separable"] is False
    assert 7 in told["lines"]
    assert told["removal_lines"] == [7]
    assert told["removal_least"] == 1
    shown = run(["oracle", str(path), "--intercept", "--explain"], capsys)
    assert "the fewest" in shown
    assert "lines 7 (1)" in shown


def test_the_classifier_is_told_and_exported(tmp_path, capsys):
    path, file = tmp_path / "d.svm", tmp_path / "w.npz"
    path.write_text("0 1:1\n1 1:5\n")
    asked = ["oracle", str(path), "--intercept", "--explain", "--json", "--export", str(file)]
    told = json.loads(run(asked, capsys))
    assert (told["w"], told["b"], told["lines"]) == ([1.0], -3.0, [1, 2])
    assert told["q"] == [0.5, 0.5]
    with np.load(file) as arrays:
        assert arrays["w"].tolist() == [1.0]
        assert float(arrays["b"]) == -3.0
        assert arrays["support"].tolist() == [0, 1]
    for more in (["--norm", "l1"], ["--multiclass"], ["--kernel", "rbf:gamma=1"], ["--signed"]):
        assert json.loads(run(["oracle", str(path), "--explain", "--json", *more], capsys))["rows"]


def test_one_class_that_is_left_is_separable():
    truth = solve(from_arrays([[1], [1]], [0, 1], intercept="free"))
    assert smallest_removal(truth).least == 1
