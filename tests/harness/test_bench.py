"""``gammabar bench``: structure, failures that are shown as such, and the page. Never the times."""

from __future__ import annotations

import copy
import json
import math
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from side_by_side import (
    classifier,
    contest,
    document,
    iteration,
    margin,
    oracle,
    overhead,
    pages,
    proof,
    scale,
)
from side_by_side.contest import Entry, Field, race

from gammabar.harness.cli import main
from gammabar.problems import load

ROOT = Path(__file__).resolve().parents[2]
TINY = "planted:n=60,d=5,gamma=0.2,seed=0"
CELLS = [proof.Cell("planted", 30, 2, True), proof.Cell("integers", 30, 3)]


def say(text):
    pass


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(contest, "PAUSE", 0.0)
    monkeypatch.setattr(overhead, "PAUSE", 0.0)


@pytest.fixture
def gammabar(capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["bench", *map(str, arguments)])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return run


# Fields for workers are functions of a module: a worker is a fresh interpreter.


def unlucky(word):
    """Contestants that do everything wrong, and two that do not."""

    def warn():
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn("too few", ConvergenceWarning, stacklevel=1)

    def loud():
        os.write(1, b"noise on stdout\n")
        return 42

    entries = [
        Entry("ours", lambda: word, lambda value: {"value": value}, "everything"),
        Entry("raises", lambda: 1 / 0),
        Entry("hangs", lambda: time.sleep(3600)),
        Entry("crashes", lambda: os._exit(3)),
        Entry("takes all memory", lambda: np.empty(1 << 44, np.uint8)),
        Entry("gives up", warn, lambda _: {"value": 1}),
        Entry("is wrong", lambda: -1, lambda value: {"value": value, "failure": "negative"}),
        Entry("is judged in error", lambda: 0, lambda value: {"value": 1 / value}),
        Entry("is loud", loud, lambda value: {"value": value}),
        Entry("is absent", lambda: 1, needs=("no_such_package",)),
    ]
    return Field(entries, {"data": word})


class TestContest:
    @pytest.mark.full
    def test_failures_are_results(self, capfd):
        about, scores = race(unlucky, "hello", repeat=2, limit=3.0, say=say)
        rows = {score.name: score.as_dict() for score in scores}
        assert about == {"data": "hello"}
        assert list(rows) == [entry.name for entry in unlucky("").entries]
        assert rows["ours"]["value"] == "hello"
        assert rows["ours"]["failure"] == ""
        assert rows["ours"]["runs"] == rows["is loud"]["runs"] == 2
        assert rows["ours"]["seconds"] >= 0
        assert {name: row["failure"] for name, row in rows.items() if row["failure"]} == {
            "raises": "ZeroDivisionError: division by zero",
            "hangs": "no answer within 3 s",
            "crashes": "crashed its process (exit code 3)",
            "takes all memory": "not enough memory",
            "gives up": "iteration limit reached",
            "is wrong": "negative",
            "is judged in error": "ZeroDivisionError: division by zero",
        }
        assert rows["hangs"]["seconds"] is None
        assert rows["is absent"]["absent"]
        assert not rows["is absent"]["runs"]
        assert capfd.readouterr().out == ""


class TestOracle:
    @pytest.mark.parametrize(
        ("w", "status", "failure"),
        [
            (None, "infeasible", "returned no solution (status infeasible)"),
            (np.full(5, np.nan), "", "returned no solution"),
            (np.zeros(5), "", "returned no solution"),
            ("wrong", "", "does not separate the data"),
            ("right", "optimal_inaccurate", "status optimal_inaccurate"),
            ("right", "", None),
        ],
    )
    def test_answers_are_judged(self, w, status, failure):
        unit = load(TINY).unit()
        right = oracle.solve(load(TINY)).direction
        w = {"right": right, "wrong": -right}[w] if isinstance(w, str) else w
        facts = oracle.judged(oracle.Answer(w, math.nan, status), unit, 0.2, 1e-12)
        assert facts["claim"] is None
        assert facts.get("failure", "") == "" if failure is None else failure in facts["failure"]
        if isinstance(w, np.ndarray) and w is right:
            assert abs(facts["missing"]) < 1e-12


@pytest.fixture(scope="module")
def tiny():
    """A document with all sections, on tiny problems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contest, "PAUSE", 0.0)
        patch.setattr(overhead, "PAUSE", 0.0)
        sections = {
            "oracle": oracle.measure(True, say, names=[TINY], repeat=1),
            "proof": proof.measure(True, say, cells=CELLS, repeat=1),
            "classifier": classifier.measure(True, say, names=("iris:0,1", "iris"), repeat=1),
            "margin": margin.measure(True, say, names=(TINY,), repeat=1),
            "iteration": [
                iteration.dense(TINY, load(TINY), 1),
                iteration.sparse(50, 1),
                iteration.kernel(50, 1),
                iteration.memory(50, 3, say),
            ],
            "scale": scale.measure(True, say, sizes={"dense": (300, 600), "sparse": (30_000,)}),
            "overhead": [overhead.compare(TINY, 5, 2)],
        }
    about = document.circumstances()
    seconds = dict.fromkeys(document.SECTIONS, 1.0)
    whole = {
        "format": document.FORMAT,
        "version": document.VERSION,
        "quick": True,
        "circumstances": about,
        "seconds": seconds,
        "sections": sections,
    }
    return json.loads(json.dumps(whole, allow_nan=False))


@pytest.mark.full
class TestDocument:
    def test_nobody_finds_more_margin_than_we_do(self, tiny):
        sections = tiny["sections"]
        (result,) = sections["oracle"]
        ours, *others = result["rows"]
        assert (result["gamma"], ours["missing"], ours["failure"]) == ("0.2", 0, "")
        for row in others:
            assert row["absent"] or row["failure"] or row["missing"] >= -result["resolution"]
        (ours, *others), three = sections["classifier"][0]["rows"], sections["classifier"][1]
        assert (ours["failure"], ours["train_error"], three["classes"]) == ("", 0, 3)
        for row in others:
            assert row["failure"] or row["margin"] <= ours["margin"] * (1 + 1e-12)
        for result in sections["proof"]:
            ours, search, *others = result["rows"]
            assert (ours["name"], search["name"]) == (proof.OURS, proof.SEARCH)
            assert not ours["failure"]
            for row in others:
                assert row["absent"] or row["failure"] or -1e-9 < row["missing"] < 1
        dense, sparse = sections["scale"]
        for found in (*dense["curves"].values(), *sparse["curves"].values()):
            assert not any(one["failure"] for one in found)
            assert all(-1e-12 < one["missing"] < 0.1 for one in found)
            assert all(one["peak"] > 30e6 and one["computing"] > 0 for one in found)

    def test_tables_are_rectangular(self, tiny):
        shown = document.tables(tiny)
        assert list(shown) == list(document.SECTIONS)
        for one in (t for tables in shown.values() for t in tables):
            assert {len(row) for row in one.rows} == {len(one.columns)}
            assert all(isinstance(cell, str) for row in one.rows for cell in row)


class TestAlone:
    """Contestants that have a process for themselves."""

    def test_whoever_fails_is_not_asked_with_more(self, monkeypatch):
        asked = []

        def alone(kind, size, who, limit):
            asked.append((size, who))
            bad = who == scale.LIBLINEAR
            one = {"failure": "no", "margin": 1.0, "computing": 1.0, "peak": 10**9}
            return one if bad else one | {"failure": ""}

        monkeypatch.setattr(scale, "_alone", alone)
        (result,) = scale.measure(True, say, sizes={"sparse": (100, 1000, 10**15)})
        assert result["left_out"] == [10**15]
        assert asked == [(100, scale.ORACLE), (100, scale.LIBLINEAR), (1000, scale.ORACLE)]
        (table,) = scale.tables([result])
        assert table.rows[2][1:3] == ("**fails**: no", "**fails**: no (smaller data)")


class TestPage:
    @pytest.mark.full
    def test_it_mentions_every_contestant_and_every_failure(self, tiny, tmp_path):
        document_ = copy.deepcopy(tiny)
        rows = document_["sections"]["oracle"][0]["rows"]
        rows[-1] |= {"failure": "no answer within 5 s", "seconds": None}
        rows[-2] |= {"absent": True, "seconds": None}
        written = pages.write(document_, tmp_path)
        text = (tmp_path / "benchmarks.md").read_text("utf-8")
        for section in ("oracle", "margin"):
            for row in document_["sections"][section][0]["rows"]:
                assert row["name"] in text
        assert "**fails**: no answer within 5 s" in text
        assert f"left out: {rows[-2]['name']}." in text
        for name, version in document_["circumstances"]["packages"].items():
            assert f"{name} {version}" in text or "not installed" in text
        assert f"{os.cpu_count()} cores" in text
        assert str(ROOT) not in text
        pictures = [path for path in written if path.suffix == ".svg"]
        assert len(pictures) == 2
        for picture in pictures:
            assert f"({picture.name})" in text
            assert "<svg" in picture.read_text("utf-8")


class TestCommand:
    @pytest.mark.full
    def test_json_is_one_document_and_nothing_else(self, tiny, tmp_path, gammabar, monkeypatch):
        asked = []

        def measure(sections, quick, say):
            asked.append((list(sections), quick))
            return tiny

        monkeypatch.setattr(document, "measure", measure)
        out_file = tmp_path / "out.json"
        code, out, _ = gammabar(
            "--quick", "--only", "scale", "--only", "oracle", "--json", "--out", out_file
        )
        assert code == 0
        assert json.loads(out) == json.loads(out_file.read_text("utf-8")) == tiny
        assert asked == [(["oracle", "scale"], True)]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--only", "nonsense"], "nonsense"),
            (["--only", "oracle", "--page", "."], "benchmarks.json cannot be read"),
            (["--page", "no such folder"], "no such folder"),
            (["--from", "pyproject.toml"], "is no JSON document"),
            (["--from", "papers/ramdas_pena_2015/witnesses/rp.eq1.json"], "was not written by"),
            (["--from", "pyproject.toml", "--quick"], "measures nothing"),
        ],
    )
    def test_bad_usage_is_one_sentence(self, gammabar, monkeypatch, arguments, words):
        monkeypatch.chdir(ROOT)
        code, out, err = gammabar(*arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1
