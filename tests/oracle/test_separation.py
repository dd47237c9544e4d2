"""Complete, quasi-complete, overlap: against brute force over all circuits, in rationals."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings, strategies as st
from reference.minimum_norm import boundary

import gammabar as gb
from gammabar.oracle import check, separation
from gammabar.oracle.linear_algebra import coordinates, loose_columns, null_space
from gammabar.problems import ProblemError, from_arrays

NUMBERS = {
    "int8": st.integers(-1, 1) | st.integers(-128, 127),
    "uint8": st.integers(0, 2),
    "int64": st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1]),
    "float64": st.integers(-1, 1).map(float) | st.sampled_from([0.5, 5e-324, -1e300, 1e-300]),
}


@st.composite
def questions(draw):
    dtype = draw(st.sampled_from(["uint8", "uint8", *NUMBERS]))
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    row = st.lists(NUMBERS[dtype], min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=dtype)
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = -1, 1
    return X, y, draw(st.booleans()), draw(st.booleans())


def spans(rows, vector):
    """Whether a vector is a combination of rows: their rank does not grow with it."""
    return rank(rows) == rank([*rows, vector])


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for k in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][k]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][k] / rows[found][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


@pytest.mark.full
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(questions())
def test_agrees_with_brute_force_and_is_accepted(tmp_path, question):
    X, y, intercept, sparse = question
    given_X = scipy.sparse.csr_array(X) if sparse else X
    found = separation.separation(given_X, y, intercept=intercept)
    rows = [
        [Fraction(v) * int(sign) for v in [*x, *[1] * intercept]]
        for x, sign in zip(X.tolist(), y, strict=True)
    ]
    wanted = boundary(rows)
    assert set(found.boundary.tolist()) == wanted
    assert found.kind == (
        "complete" if not wanted else "overlap" if len(wanted) == len(rows) else "quasi-complete"
    )
    d = len(rows[0])
    units = [[Fraction(int(i == j)) for i in range(d)] for j in range(d)]
    unidentified = [j for j in range(d) if not spans(rows, units[j])]
    held = [rows[i] for i in sorted(wanted)]
    loose = [j for j in range(d) if j not in unidentified and not spans(held, units[j])]
    assert found.unidentified == unidentified
    assert found.diverging == (loose if found.kind != "overlap" else [])
    assert all(found.direction[j] for j in found.diverging)
    assert found.certificate["primal"]["columns"] == [j for j in range(d) if found.direction[j]]

    np.savez(tmp_path / "data.npz", X=X, y=y)
    found.save(tmp_path / "c.json")
    said = check.check(str(tmp_path / "c.json"), str(tmp_path / "data.npz"))
    assert f": {found.kind}" in said
    assert ("with an intercept" in said) == intercept


def test_several_rounds():
    """Rows that overlap in one plane, others in a second one modulo the first, and free ones."""
    X = np.array([[1, 0, 0], [-1, 0, 0], [5, 1, 0], [7, -1, 0], [3, 2, 1], [4, -9, -2]])
    found = separation.separation(X, [1, 1, 1, 1, 1, -1])
    assert found.boundary.tolist() == [0, 1, 2, 3]
    assert found.kind == "quasi-complete"
    assert found.diverging == [2]


def test_front_door_and_command(tmp_path, capsys):

    from gammabar.harness.cli import main

    path = tmp_path / "d.csv"
    path.write_text("no,1,7\nno,2,7\nyes,2,7\nyes,3,7\n")
    assert (
        gb.separation([[1], [2], [2], [3]], [0, 0, 1, 1], intercept=True).kind == "quasi-complete"
    )
    certificate = str(tmp_path / "c.json")
    with pytest.raises(SystemExit) as end:
        main(["separation", str(path), "--intercept", "--json", "--certificate", certificate])
    assert end.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "quasi-complete"
    assert told["boundary"] == [1, 2]
    assert (told["diverging"], told["unidentified"]) == ([0], [1, 2])
    assert "quasi-complete" in gb.check(certificate, path)
    with pytest.raises(SystemExit):
        main(["separation", str(path)])
    assert "without intercept" in capsys.readouterr().out


def test_refusals():
    with pytest.raises(ProblemError, match="labels"):
        gb.separation([[1.0]])
    with pytest.raises(ProblemError, match="linear"):
        gb.separation(from_arrays([[1], [2]], [0, 1], kernel="linear"))


def test_a_problem_with_a_bias_has_an_intercept():
    for kind in ("free", "augmented"):
        found = gb.separation(from_arrays([[1], [2]], [0, 1], intercept=kind))
        assert found.intercept
        assert found.kind == "complete"


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_null_space_and_coordinates(rows):
    table = np.array(rows)
    basis = null_space(table)
    assert basis.ncols() == 3 - rank([[Fraction(v) for v in row] for row in rows])
    assert (
        not np.array([[int(v) for v in r] for r in basis.tolist()]).size
        or not (table @ np.array([[int(v) for v in r] for r in basis.tolist()])).any()
    )
    vector = table.sum(axis=0).tolist()
    if any(vector):
        c, bottom = coordinates(table, vector)
        assert (np.array(c) @ table).tolist() == [bottom * v for v in vector]


# Corruption


def test_more_columns_than_rows(tmp_path):
    """Independent rows are separated completely, and twins of both classes leave the others so."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 60)), np.arange(12) % 2
    found = gb.separation(X, y, intercept=True)
    assert (found.kind, found.diverging, found.unidentified) == ("complete", [], list(range(61)))
    X[1] = X[0]
    X[:, 5] = 0
    X[3, 5] = 1.0
    np.savez(tmp_path / "data.npz", X=X, y=np.where(y, 1, -1))
    found = gb.separation(gb.load(str(tmp_path / "data.npz")), intercept=True)
    assert (found.kind, found.boundary.tolist()) == ("quasi-complete", [0, 1])
    found.save(tmp_path / "c.json")
    assert "quasi-complete" in check.check(str(tmp_path / "c.json"), str(tmp_path / "data.npz"))


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_columns_that_the_rows_do_not_determine(n, d, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(-2, 3, (n, d))
    basis = null_space(table).tolist()
    assert loose_columns(table) == [j for j, row in enumerate(basis) if any(row)]


def test_overlap_needs_no_fractions_until_they_are_asked_for(tmp_path):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((120, 30)), np.where(rng.random(120) < 0.5, 1, -1)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    found = gb.separation(gb.load(str(tmp_path / "data.npz")))
    assert found.kind == "overlap"
    assert "weights" not in vars(found)
    found.save(tmp_path / "c.json")
    assert "overlap" in check.check(str(tmp_path / "c.json"), str(tmp_path / "data.npz"))


def test_a_time_limit():
    rng = np.random.default_rng(5)
    with pytest.raises(ProblemError, match="not decided after 0 seconds"):
        gb.separation(rng.standard_normal((50, 5)), np.arange(50) % 2, time_limit=0)
