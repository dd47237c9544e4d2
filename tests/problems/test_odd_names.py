"""Files whose names are not UTF-8 are read and written like others."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gammabar import load
from gammabar.harness.cli import cli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")

ROWS, LABELS = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 0.5]]), np.array([1, 1, -1])


def table() -> Any:
    import pyarrow

    columns = {"a": ROWS[:, 0], "b": ROWS[:, 1], "y": LABELS}
    return pyarrow.table(columns)


def as_csv(path: Path) -> None:
    np.savetxt(path, np.column_stack([ROWS, LABELS]), "%g", ",", header="a,b,y", comments="")


def as_svmlight(path: Path) -> None:
    path.write_text("".join(f"{y} 1:{a} 2:{b}\n" for (a, b), y in zip(ROWS, LABELS, strict=True)))


def as_npz(path: Path) -> None:
    np.savez(path, X=ROWS, y=LABELS)


def as_parquet(path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table(), path)


def as_arrow(path: Path) -> None:
    from pyarrow import feather

    feather.write_feather(table(), str(path), compression="uncompressed")


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (as_csv, "data.csv"),
        (as_svmlight, "data.svm"),
        (as_npz, "data.npz"),
        (as_parquet, "data.parquet"),
        (as_arrow, "data.arrow"),
    ],
)
def test_data_are_read(write: Any, name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    odd = tmp_path / os.fsdecode(b"\x80" + name.encode())
    shutil.copy(tmp_path / name, odd)
    options = {} if name.endswith((".svm", ".npz")) else {"label": "y"}
    usual, found = load(str(tmp_path / name), **options), load(str(odd), **options)
    assert abs(found.X - usual.X).max() == 0
    assert np.array_equal(found.y, usual.y)


@pytest.mark.parametrize(
    "line",
    [
        "oracle rows:1,2;-1,1 --certificate {}",
        "oracle rows:1,2;-1,1 --export {}.npz",
        "verify --problem rows:1 --solver perceptron --iterations 2 --jobs 1 --store {}",
        "export {store} --csv {}",
        "export {store} --parquet {}",
        "report {store} --out {}",
    ],
)
def test_files_are_written(line: str, tmp_path: Path) -> None:
    store, odd = str(tmp_path / "s.db"), str(tmp_path / os.fsdecode(b"\x80"))
    run = CliRunner()
    if "{store}" in line:
        made = "verify --problem rows:1 --solver perceptron --iterations 2 --jobs 1 --store"
        assert run.invoke(cli, [*made.split(), store]).exit_code == 0
    arguments = [part.format(odd, store=store) for part in line.split()]
    done = run.invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert any(name.startswith(b"\x80") for name in os.listdir(os.fsencode(tmp_path)))
