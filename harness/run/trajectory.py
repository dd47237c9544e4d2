"""Iterates that another program, language or machine has computed, read from a file.

Row t of the table is w_t, and row 0 the start. NPY files hold one array, CSV and TSV files numbers
alone (below a header perhaps), Parquet files one column per coordinate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gammabar.harness.run.options import parse_options
from gammabar.problems import ProblemError
from gammabar.problems.binary_readers import read_array
from gammabar.problems.environment import extra_module, for_arrow
from gammabar.problems.files import COMPRESSED, readable
from gammabar.problems.problem import Array
from gammabar.problems.text_readers import read_numbers
from gammabar.solvers.adapters import Recorder


class Trajectory(Recorder):
    """What a file holds, as a solver."""


def read(path: str, options: str = "") -> Trajectory:
    """The iterates in a file.

    Parameters
    ----------
    path : str
    options : str
        What its solver's were, if a statement wants to know: "step=0.5".

    Raises
    ------
    ProblemError
        That names the file, and the line where there are lines.
    """
    kept, values = _rows(path), _values(path, options)
    found = Trajectory()
    found._kept = kept
    vars(found).update(values)
    return found


def _values(path: str, options: str) -> dict[str, Any]:
    """Options by name: of which there are any, for nobody knows the solver."""
    named = [part.partition("=")[0].strip() for part in options.split(",") if "=" in part]
    wrong = [name for name in named if name.startswith("_") or hasattr(Trajectory, name)]
    if wrong:
        raise ProblemError(f"{path}: {wrong[0]} is no option that a solver can have")
    return parse_options(path, options, dict.fromkeys(named, int | float | str))


def _rows(path: str) -> list[Array]:
    file = Path(path)
    table = _table(file)
    if table.dtype.kind not in "biuf":
        raise ProblemError(f"{file}: holds {table.dtype}, but numbers are needed")
    if table.ndim != 2 or 0 in table.shape:
        raise ProblemError(
            f"{file}: has shape {table.shape}, but a trajectory is a table: row t is w_t"
        )
    if len(table) < 2:
        raise ProblemError(f"{file}: one row is the start w_0 alone, and nothing to judge")
    bad = np.argwhere(~np.isfinite(table)).tolist() if table.dtype.kind == "f" else []
    if bad:
        t, place = bad[0]
        raise ProblemError(f"{file}: entry {place} of w_{t} is {table[t, place]}, no finite number")
    return list(table)


def _table(file: Path) -> Any:
    name = file.name.lower()
    for packed in COMPRESSED:
        name = name.removesuffix(packed)
    suffix = Path(name).suffix
    if suffix in (".csv", ".tsv", ".txt"):
        return read_numbers(file)
    if suffix == ".npy":
        return read_array(file)
    if suffix == ".parquet":
        return _parquet(file)
    raise ProblemError(f"{file}: a trajectory is a .npy, .csv, .tsv or .parquet file")


def _parquet(file: Path) -> Any:
    arrow = extra_module("pyarrow", "parquet", str(file))
    parquet = extra_module("pyarrow.parquet", "parquet", str(file))
    with readable(file):
        try:
            table = parquet.ParquetFile(for_arrow(file)).read()
        except arrow.ArrowException as error:
            raise ProblemError(f"{file}: not a Parquet file ({str(error)[:80]})") from None
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (arrow.types.is_floating(kind) or arrow.types.is_integer(kind)):
            raise ProblemError(f"{file}: column {name} holds {kind}, but numbers are needed")
        if column.null_count:
            raise ProblemError(f"{file}: column {name} has {column.null_count} missing values")
        columns.append(column.to_numpy())
    return np.column_stack(columns) if columns else np.empty((0, 0))
