"""`gb.check`: certificates and witnesses from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gammabar as gb

POINTS = [[3, 1], [1, 3], [-4, -1]]


@pytest.mark.parametrize("keywords", [{}, {"norm": "l1"}, {"norm": "l1-simplex"}, {"signed": True}])
def test_a_problem_in_memory(tmp_path, keywords):
    problem = gb.from_arrays(POINTS, ["yes", "yes", "no"])
    gb.solve(problem, **keywords).save(tmp_path / "c.json")
    assert "separable" in gb.check(tmp_path / "c.json", problem) or "norm" in keywords


def test_a_problem_that_a_text_or_a_file_names(tmp_path):
    gb.solve(gb.load("iris:0,1")).save(tmp_path / "iris.json")
    assert "separable; " in gb.check(tmp_path / "iris.json")
    np.savez(tmp_path / "points.npz", X=np.array(POINTS), y=[1, 1, 0])
    gb.solve(gb.load(str(tmp_path / "points.npz"))).save(tmp_path / "c.json")
    for data in (tmp_path / "points.npz", str(tmp_path), [tmp_path / "points.npz"]):
        assert "separable; " in gb.check(str(tmp_path / "c.json"), data)


def test_points_and_labels_in_two_files_are_found_by_their_certificate(tmp_path):
    np.save(tmp_path / "X.npy", np.array(POINTS))
    np.save(tmp_path / "y.npy", np.array([1, 1, 0]))
    problem = gb.load(str(tmp_path / "X.npy"), labels=tmp_path / "y.npy")
    truth, certificate = gb.solve(problem), tmp_path / "c.json"
    truth.save(certificate)
    assert "separable; " in gb.check(certificate)
    body = json.loads(certificate.read_text())
    body["data"]["files"] = []
    certificate.write_text(json.dumps(body))
    with pytest.raises((gb.Rejected, gb.ProblemError)):
        gb.check(certificate)


def test_what_is_wrong_is_raised(tmp_path):
    problem = gb.from_arrays(POINTS, [1, 1, 0])
    truth = gb.solve(problem)
    body = dict(truth.certificate, gamma_squared="0x9/0x1")
    (tmp_path / "forged.json").write_text(json.dumps(body))
    with pytest.raises(gb.Rejected, match="gamma_squared"):
        gb.check(tmp_path / "forged.json", problem)
    truth.save(tmp_path / "c.json")
    with pytest.raises(gb.Rejected, match="SHA-256"):
        gb.check(tmp_path / "c.json", gb.from_arrays([[3, 1], [1, 3], [-4, -2]], [1, 1, 0]))
    with pytest.raises(gb.ProblemError, match="arrays in memory"):
        gb.check(tmp_path / "c.json")
    with pytest.raises(gb.ProblemError, match="no such file"):
        gb.check(tmp_path / "absent.json")


def test_witnesses():
    witness = next((Path(gb.papers.__file__).parent).glob("*/witnesses/*.json"))
    assert gb.check(witness)
    with pytest.raises(gb.ProblemError, match="has its own data"):
        gb.check(witness, "iris:0,1")


def test_a_witness_of_a_statement_that_no_paper_has(tmp_path):
    body = {"format": "gammabar-witness", "version": 1, "statement": "no.such", "data": {}}
    (tmp_path / "w.json").write_text(json.dumps(body))
    with pytest.raises(gb.Rejected):
        gb.check(tmp_path / "w.json")
