"""Tables with texts and missing values: what is done to them, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import gammabar as gb
from gammabar.harness.cli import cli
from gammabar.problems import ProblemError, load

PEOPLE = {
    "id": [7, 8, 9, 10, 11, 12],
    "age": [31, 45, 28, 50, 61, None],
    "city": ["Rome", "Oslo", "Rome", "Lima", "Oslo", "Lima"],
    "income": [2.5, None, 1.5, 4.5, 5.0, 3.0],
    "bought": ["no", "yes", "no", "yes", "yes", "no"],
}
ROWS = [[31, 0, 1, 2.5], [28, 0, 1, 1.5], [50, 0, 0, 4.5], [61, 1, 0, 5.0]]
NOTES = (
    "2 rows with missing values in 'age', 'income' were dropped: 1, 5 (counted from 0)",
    "column 'city' became city=Oslo, city=Rome; the reference level is 'Lima'",
)
OPTIONS: dict[str, Any] = {"encode": True, "missing": "drop"}


def frame() -> pd.DataFrame:
    return pd.DataFrame(PEOPLE).astype({"age": "Int64"})


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": lambda table, path: table.to_csv(path, index=False, na_rep="N/A"),
    ".tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
    ".feather": lambda table, path: table.to_feather(path),
}


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"people{suffix}"
    WRITERS[suffix](frame(), path)
    return path


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_is_read_as_the_frame_is(tmp_path, suffix):
    problem = load(written(tmp_path, suffix), label="bought", drop=["id"], **OPTIONS)
    same = gb.from_arrays(frame().drop(columns="id"), "bought", **OPTIONS)
    for one in (problem, same):
        assert one.X.tolist() == ROWS
        assert one.y.tolist() == [-1, -1, 1, 1]
        assert one.notes == NOTES
    assert problem.digest() == same.digest()


def run(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_commands_say_what_was_done_and_certificates_hold(tmp_path, suffix):
    path, certificate, npz = written(tmp_path, suffix), tmp_path / "c.json", tmp_path / "p.npz"
    reading = "--label", "bought", "--drop", "id", "--encode", "--missing", "drop"
    said = run("oracle", path, *reading, "--certificate", certificate)
    assert all(note in " ".join(said.split()) for note in NOTES), said
    assert json.loads(run("oracle", path, *reading, "--json"))["notes"] == list(NOTES)
    assert json.loads(run("oracle", path, *reading, "--separation", "--json"))["notes"]
    assert run("data", "export", path, npz, *reading).strip() == str(npz)
    for data in ((), (path,), (npz,)):
        assert run("check", certificate, *data).startswith("accepted"), data
    path.write_bytes(path.read_bytes().replace(b"Oslo", b"Lima"))
    assert run("check", certificate).startswith("rejected")


@pytest.mark.parametrize(
    ("suffix", "options", "sentence"),
    [
        (".csv", {}, r"line 2: 'Rome' in column 3 is not a number .--encode makes indicators"),
        (".csv", {"drop": ["id", "city"]}, r"line 3: 'N/A' in column 4 .*--missing drop leaves"),
        (".tsv", {"drop": ["id", "city"]}, r"line 3: '' in column 4 .*--missing drop leaves out"),
        (".csv", {"encode": True}, r"missing value in row 5, column 'age'; .*--missing drop"),
        (".csv", {"missing": "drop"}, r"column 'city' of X holds texts, no numbers; .*--encode"),
        (".csv", {"missing": "fill"}, r"missing must be 'refuse' or 'drop', not 'fill'"),
        (".parquet", {}, r"column 'city' holds .*string, not numbers .*--encode"),
        (".parquet", {"encode": True}, r"missing value in row 5, column 'age'; .*--missing drop"),
        (".parquet", {**OPTIONS, "memory": 9}, r"--encode and --missing drop read the whole table"),
    ],
)
def test_the_sentence_names_column_row_and_option(tmp_path, suffix, options, sentence):
    drop = {"drop": ["id"]} | options
    with pytest.raises(ProblemError, match=sentence):
        load(written(tmp_path, suffix), label="bought", **drop)
    with pytest.raises(ProblemError, match="--encode is for columns of a table"):
        load("iris:0,1", encode=True)


def test_columns_without_a_header_have_places_for_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,u,3\n0,v,NA\n0,w,5\n1,,2\n")
    problem = load(path, **OPTIONS)
    assert problem.X.tolist() == [[0, 3], [1, 5]]
    assert problem.source.lines.tolist() == [1, 3]
    assert problem.notes == (
        "2 rows with missing values in '1', '2' were dropped: 1, 3 (counted from 0)",
        "column '1' became 1=w; the reference level is 'u'",
    )
    path.write_text("y,a,c\n0,9007199254740993,u\n1,1,v\n")  # integers stay what they are
    assert load(path, label="y", encode=True).X.tolist() == [[2**53 + 1, 0], [1, 1]]


def test_the_index_of_a_frame_is_left_out(tmp_path):
    path, note = tmp_path / "t.csv", "the first column, which has no name and counts the rows, was"
    pd.DataFrame({"y": [0, 0, 1], "a": [5, 1, 2]}).to_csv(path)
    for options in ({"drop": [0]}, {}, {"encode": True}, {"encode": True, "drop": [0]}):
        problem = load(path, label="y", **options)
        assert problem.X.tolist() == [[5], [1], [2]]
        assert problem.notes == (() if "drop" in options else (f"{note} left out",))
    problem = load(path, label="y")
    gb.solve(problem, intercept=True).save(tmp_path / "c.json")
    assert "class -1" in gb.check(tmp_path / "c.json", path)
    with pytest.raises(ProblemError, match=r"counts the rows, .*name the label with --label NAME"):
        load(path)
    path.write_text("y,a\n0,1\n1,n/a\n")  # where the label is given, nobody is told to give it
    with pytest.raises(ProblemError, match=r"'n/a' in column 2 is not a number .--missing drop"):
        load(path, label="y")
