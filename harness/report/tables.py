"""Results as a table, for programs: CSV, or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gammabar.harness.run.results import Result
from gammabar.problems.extras import extra_module
from gammabar.problems.writing import whole

#: Columns that are numbers, where there is one, and those that are whole ones.
FLOATS = ("tightness", "slack", "seconds")
WHOLE = ("worst_t", "checked", "escalated", "informative", "vacuous_to", "seed", "iterations")


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """A row for each result, all with the same columns; what is no single value is JSON."""
    return [{name: _cell(value) for name, value in r.as_dict().items()} for r in results]


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_csv(results: Sequence[Result], path: Path) -> None:
    """UTF-8, with a header; a missing number is an empty cell.

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    table = rows(results)
    with whole(path) as file:
        writer = csv.DictWriter(file, list(table[0]) if table else ["statement"])
        writer.writeheader()
        writer.writerows({name: _tame(value) for name, value in row.items()} for row in table)


def _tame(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def write_parquet(results: Sequence[Result], path: Path) -> None:
    """With types: texts, booleans, doubles, whole numbers.

    Raises
    ------
    ProblemError
        If pyarrow is not installed.
    """
    pyarrow = extra_module("pyarrow", "parquet", "a Parquet file")
    parquet = extra_module("pyarrow.parquet", "parquet", "a Parquet file")
    table = rows(results)
    names = list(table[0]) if table else ["statement"]
    kinds = {name: pyarrow.string() for name in names} | {
        name: kind
        for kind, group in (
            (pyarrow.float64(), FLOATS),
            (pyarrow.int64(), WHOLE),
            (pyarrow.bool_(), ("as_expected",)),
        )
        for name in group
        if name in names
    }
    schema = pyarrow.schema([(name, kinds[name]) for name in names])
    with whole(path, "wb") as file:  # pyarrow takes no name that is not UTF-8
        parquet.write_table(pyarrow.Table.from_pylist(table, schema=schema), file)
