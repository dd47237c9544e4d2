"""Integers in files are read exactly or refused, at the limits of doubles and of int64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gammabar.problems import ProblemError, load

BIG = 2**53


def written(path: Path, first: list[int], second: list[float]) -> Path:
    """A table with a column of integers and one of other numbers."""
    if path.suffix == ".csv":
        rows = [f"{c},{a},{b}" for c, a, b in zip("uv", first, second, strict=True)]
        path.write_text("\n".join(rows) + "\n")
        return path
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"c": ["u", "v"], "a": np.array(first), "b": np.array(second)})
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        with arrow.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("value", [BIG - 1, BIG, BIG + 2, -BIG, BIG + 1, -BIG - 1, 2**62 + 1])
def test_integers_beside_floats(tmp_path: Path, suffix: str, value: int):
    path = written(tmp_path / f"t{suffix}", [1, value], [0.5, 1.5])
    if int(float(value)) == value:
        assert [int(v) for v in load(path).X[:, 0]] == [1, value]
    else:
        with pytest.raises(ProblemError, match=rf"{value}.*rounded"):
            load(path)
    path = written(tmp_path / f"whole{suffix}", [1, value], [1, 2])  # beside integers it is exact
    assert load(path).X[:, 0].tolist() == [1, value]


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), BIG + 1, 0])
@pytest.mark.parametrize("zeros", ["", "000", "0" * 30])
def test_integers_of_a_text(tmp_path: Path, value: int, zeros: str):
    sign, digits = "-" * (value < 0), str(abs(value))
    path = tmp_path / "t.csv"
    path.write_text(f"u,1,3\nv,{sign}{zeros}{digits},2\n")
    assert load(path).X[:, 0].tolist() == [1, value]


@pytest.mark.parametrize(
    "text", [str(2**63), str(-(2**63) - 1), "9" * 19, "1" + "0" * 19, "9" * 300]
)
def test_integers_that_no_int64_holds(tmp_path: Path, text: str):
    path = tmp_path / "t.csv"
    path.write_text(f"u,1,3\nv,{text},2\n")
    with pytest.raises(ProblemError, match="does not fit into a 64-bit"):
        load(path)
