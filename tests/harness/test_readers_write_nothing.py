"""Whoever reads a store changes nothing; what is stored takes every text."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gammabar.harness.run.store import Store
from gammabar.problems import ProblemError
from tests.fuzz.fuzz_store import store_seeds


def state(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def foreign(path: Path, statement: str = "CREATE TABLE mine (x)") -> Path:
    with closing(sqlite3.connect(path)) as base:
        base.execute(statement)
    return path


@pytest.mark.parametrize(
    "line", ["report FILE --markdown", "export FILE --csv /dev/null", "show gb.sharp --store FILE"]
)
def test_reading_leaves_everything_as_it_is(gammabar, tmp_path, line):
    store = tmp_path / "s.db"
    store.write_bytes(store_seeds()[0])
    before = state(tmp_path)
    code, _, err = gammabar(*line.replace("FILE", str(store)).split())
    assert code == 0, err
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "line", ["report FILE", "verify --store FILE --problem iris:0,1 --statement gb.sharp"]
)
def test_what_is_no_store_is_refused_as_it_is(gammabar, tmp_path, line):
    foreign(tmp_path / "theirs.db")
    (tmp_path / "text.db").write_text("not a database" * 100)
    before = state(tmp_path)
    for name in before:
        code, _, err = gammabar(*line.replace("FILE", str(tmp_path / name)).split())
        assert code == 2
        assert name in err
    assert state(tmp_path) == before


def test_an_empty_file_is_no_store_to_read_and_may_become_one(gammabar, tmp_path):
    path = tmp_path / "empty"
    path.touch()
    code, _, err = gammabar("report", path)
    assert code == 2
    assert "empty" in err
    assert path.stat().st_size == 0
    with Store(path):
        pass
    with pytest.raises(ProblemError, match="no results"):
        raise ProblemError(gammabar("report", path)[2])


def test_what_another_run_is_still_writing_is_read(tmp_path):
    path = tmp_path / "s.db"
    path.write_bytes(store_seeds()[0])
    with Store(path) as writer:
        writer.sign({"a": "b"})
        with Store(path, writing=False) as reader:
            assert {"a": "b"}.items() <= reader.origins()[-1].items()
            with pytest.raises(ProblemError, match="may not be written"):
                reader.sign({"a": "c"})


def test_texts_that_are_no_utf_8_are_stored(tmp_path):
    """Names of files, and what a solver has to say when it fails."""
    path = tmp_path / "s.db"
    path.write_bytes(store_seeds()[0])
    with Store(path) as store:
        first = store.results()[0]
        odd = replace(first.verdict, reason="\ud800 \udcff")
        from gammabar.harness.run.tasks import Outcome, Run, Task

        run = Run("\udcff.csv", first.run.solver, 3, 0)
        store.put("k" * 64, Task(run, (odd.statement,), ("holds",)), Outcome((odd,), 0.1, "d"))
        store.sign({"folder": "\udcff"})
        found = store.get("k" * 64)
    assert found is not None
    assert found.verdicts[0].reason == "\ud800 \udcff"
    with Store(path, writing=False) as store:
        assert store.results()[-1].run.problem == "\\udcff.csv"
