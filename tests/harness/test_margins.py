"""gammabar margins: every pair, certificates that are accepted, and runs that go on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gammabar.harness.margins import picture, work
from gammabar.oracle import solve
from gammabar.problems import load


def test_every_pair_of_a_data_set(gammabar, tmp_path):
    code, out, _ = gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--json")
    found = json.loads(out)
    assert (code, found["format"], found["data"]) == (0, "gammabar-margins", ["iris"])
    assert found["summary"]["pairs"] == 3
    assert found["summary"]["not_separable"] == 1
    assert found["summary"]["accepted"] == 3
    for pair in found["pairs"]:
        truth = solve(load(f"iris:{','.join(pair['classes'])}"))
        assert pair["gamma"] == truth.digits()
        assert pair["separable"] is truth.separable
        certificate = tmp_path / pair["certificate"]
        assert gammabar("check", certificate)[0] == 0


def test_what_is_known_is_not_computed_again(gammabar, tmp_path, monkeypatch):
    gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--no-check")
    (tmp_path / "iris-0-2.result.json").unlink()
    (tmp_path / "iris-1-2.result.json").write_text("{half a doc")
    done = []

    def margin_of(pair, *more):
        done.append(pair.spec)
        return original(pair, *more)

    original = work.margin_of
    monkeypatch.setattr(work, "margin_of", margin_of)
    gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1", "--no-check")
    assert done == ["iris:0,2", "iris:1,2"]
    before = (tmp_path / "iris-0-1.json").stat().st_mtime_ns
    code, out, _ = gammabar("margins", "iris", "--certificates", tmp_path, "--jobs", "1")
    assert (code, (tmp_path / "iris-0-1.json").stat().st_mtime_ns) == (0, before)  # only checked
    assert "3 certificates accepted" in out


def test_a_file_that_has_changed_is_computed_again(gammabar, tmp_path):
    data = tmp_path / "three.csv"
    data.write_text("c,x,z\na,1,0\nb,0,1\nd,-1,5\n")
    arguments = ["margins", data, "--certificates", tmp_path / "m", "--jobs", "1", "--json"]
    first = json.loads(gammabar(*arguments)[1])
    assert [p["classes"] for p in first["pairs"]] == [["a", "b"], ["a", "d"], ["b", "d"]]
    assert first["summary"]["accepted"] == 3
    data.write_text("c,x,z\na,1,0\nb,0,1\nd,-1,50\n")
    second = json.loads(gammabar(*arguments)[1])
    assert second["pairs"][1]["gamma"] != first["pairs"][1]["gamma"]
    assert second["pairs"][0]["gamma"] == first["pairs"][0]["gamma"]


def test_a_rejected_certificate_is_exit_code_1(gammabar, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "_checked", lambda path, spec: (False, "no"))
    arguments = ["margins", "iris", "--certificates", tmp_path, "--jobs", "1"]
    code, out, _ = gammabar(*arguments)
    assert code == 1
    assert "3 REJECTED" in out


def test_a_run_that_is_killed_goes_on(tmp_path):
    """Killed after the first certificate, it keeps it, and ends with all of them."""
    command = [sys.executable, "-m", "gammabar", "margins", "digits", "--jobs", "1", "--no-check"]
    command += ["--json", "--certificates", str(tmp_path / "m")]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while running.poll() is None and not list(tmp_path.glob("m/*.result.json")):
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("m/*.result.json")}
    assert kept
    ended = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(ended.stdout)["summary"]["exact"] == 45
    assert all((tmp_path / "m" / name).stat().st_mtime_ns == when for name, when in kept.items())


def test_picture_and_page(gammabar, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["margins", "iris", "--certificates", tmp_path / "m", "--jobs", "1", "--no-check"]
    gammabar(*arguments, "--picture", tmp_path / "p.svg", "--page", tmp_path / "p.md")
    first = (tmp_path / "p.svg").read_bytes()
    assert first.startswith(b"<?xml")
    gammabar(*arguments, "--picture", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_bytes() == first  # the same numbers, the same file
    page = (tmp_path / "p.md").read_text()
    assert "| 1 versicolor / 2 virginica | not separable |" in page
    assert "![" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing-of-the-kind"], "no data set"),
        (["iris:0,1"], "without a colon"),
        (["iris", "--picture", "p.bmp"], ".svg"),
        (["iris", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_one_sentence(gammabar, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = gammabar("margins", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not list(tmp_path.iterdir())


def test_cells_are_told_apart_without_colours():
    results = [
        {"data": "d", "classes": ["0", str(k)], "names": ["0", str(k)]}
        | {"separable": k != 3, "gamma_lo": 10.0**-k}
        for k in (1, 2, 3)
    ]
    assert [picture._gamma(result) for result in results] == [0.1, 0.01, 0.0]
    assert list(picture._names(results, "d")) == ["0", "1", "2", "3"]
    assert np.isclose(picture._gamma(results[1]), 0.01)
