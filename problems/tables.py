"""Readers for Parquet, Arrow and Feather files, through pyarrow (the extra ``parquet``).

A table has a column for each feature and one for the label, as a CSV file has. Values keep their
type: integers stay integers. The independent checker does not read these files; a certificate is
about the same numbers as an NPZ file (`gammabar data export`), and bound to them by their digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.dense import exact_dtype
from gammabar.problems.extras import extra_module, for_arrow
from gammabar.problems.files import readable
from gammabar.problems.labels import label_fault
from gammabar.problems.readers import Points, find_column

#: Of the types of Arrow, those of numbers that NumPy has too.
_NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")
# Integers up to here are doubles.
_EXACT = 1 << 53


class Table:
    """A Parquet or Arrow file, opened: which column is what, and its groups of rows.

    Parameters
    ----------
    path : Path
    label : str or int, optional
        The column of the label, by name or by index; the first by default.
    drop : sequence of str or int
        Columns that are no features.

    Attributes
    ----------
    lengths : list of int
        Rows of each group (row groups of Parquet, record batches of Arrow).
    names : list of str
        Columns of the features.
    dtype : numpy dtype
        That of the points: one that holds the values of all columns.
    """

    def __init__(
        self, path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()
    ) -> None:
        self.path = path
        with _readable(path):
            self._groups: _Groups = (
                _Parquet(path) if path.suffix.lower() == ".parquet" else _Batches(path)
            )
            columns = [str(field.name) for field in self._groups.schema]
        if len(set(columns)) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise ProblemError(f"{path}: more than one column is named {twice!r}")
        if not columns:
            raise ProblemError(f"{path}: there are no columns")
        place, self.label = find_column(path, columns, 0 if label is None else label)
        dropped = [find_column(path, columns, name) for name in drop]
        self.drop = tuple(name for _, name in dropped)
        gone = {place, *(at for at, _ in dropped)}
        if place in {at for at, _ in dropped}:
            raise ProblemError(f"{path}: the column {self.label!r} is that of the label")
        self._of_label = columns[place]
        self.names = [name for k, name in enumerate(columns) if k not in gone]
        if not self.names:
            raise ProblemError(f"{path}: no column is left for the features")
        self.lengths = [size for size in self._groups.lengths() if size]
        self._places = [k for k, size in enumerate(self._groups.lengths()) if size]
        if not self.lengths:
            raise ProblemError(f"{path}: there are no rows")
        self.dtype = self._common_dtype()

    def points(self, group: int) -> Array:
        """The points of a group."""
        table = self._read(group, self.names)
        X = np.empty((self.lengths[group], len(self.names)), self.dtype)
        for j, name in enumerate(self.names):
            X[:, j] = self._column(table, name, group)
        return X

    def labels(self) -> Array:
        """The labels of all rows."""
        found: list[Array] = []
        for group in range(len(self.lengths)):
            column = self._read(group, [self._of_label]).column(0)
            with _readable(self.path):
                if str(column.type).startswith("dictionary"):
                    column = column.cast(column.type.value_type)
            if column.null_count:
                self._missing(column, group, "the label is missing")
            if _is_number(column.type):
                found.append(np.asarray(column.to_numpy()))
                continue
            with _readable(self.path):
                values = column.to_pylist()
            for k, value in enumerate(values):
                fault = label_fault(value.strip(" \t")) if isinstance(value, str) else None
                if fault:
                    raise ProblemError(f"{self.path}, row {self._row(group, k)}: the label {fault}")
            found.append(np.array(values, dtype=object))
        return np.concatenate(found)

    def _read(self, group: int, names: list[str]) -> Any:
        with _readable(self.path):
            table = self._groups.read(self._places[group], names)
            if table.num_rows != self.lengths[group]:
                raise IndexError
        return table

    def _row(self, group: int, k: int) -> int:
        return sum(self.lengths[:group]) + k

    def _missing(self, column: Any, group: int, words: str) -> None:
        k = next(k for k, value in enumerate(column) if not value.is_valid)
        raise ProblemError(f"{self.path}, row {self._row(group, k)}: {words}")

    def blocks(self) -> Iterator[Array]:
        """The points, group by group."""
        return (self.points(group) for group in range(len(self.lengths)))

    def _column(self, table: Any, name: str, group: int) -> Array:
        column = table.column(name)
        if column.null_count:
            self._missing(column, group, f"a value is missing in column {name!r}")
        values = np.asarray(column.to_numpy())
        if self.dtype.kind == "f" and values.dtype.kind in "iu" and values.dtype.itemsize == 8:
            for k in np.flatnonzero(np.abs(values.astype(np.float64)) >= _EXACT).tolist():
                if int(float(values[k])) != int(values[k]):
                    raise ProblemError(
                        f"{self.path}, row {self._row(group, k)}: the integer {values[k]} in "
                        f"column {name!r} would be rounded beside columns of floats"
                    )
        return values

    def _common_dtype(self) -> np.dtype[Any]:
        types = []
        for name in self.names:
            kind = self._groups.schema.field(name).type
            if not _is_number(kind):
                raise ProblemError(
                    f"{self.path}: column {name!r} holds {kind}, not numbers (leave it out with "
                    "--drop NAME, or name the label with --label NAME)"
                )
            types.append(exact_dtype(np.empty(0, kind.to_pandas_dtype())))
        return np.result_type(*types)


def _is_number(kind: Any) -> bool:
    return str(kind).rstrip("0123456789") in _NUMBERS


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """As `readable`, for what pyarrow says of a file that is not what its name says."""
    try:
        with readable(path):
            yield
    except ProblemError as error:
        if "cannot be" not in str(error):
            raise
        raise ProblemError(f"{path}: not a file that pyarrow can read, or damaged") from None
    except (NotImplementedError, KeyError, IndexError, RuntimeError, TypeError):
        raise ProblemError(f"{path}: not a file that pyarrow can read, or damaged") from None


class _Groups:
    """The groups of rows of a file, whatever its format calls them."""

    schema: Any

    def lengths(self) -> list[int]:
        raise NotImplementedError

    def read(self, group: int, names: list[str]) -> Any:
        raise NotImplementedError


class _Parquet(_Groups):
    def __init__(self, path: Path) -> None:
        parquet = extra_module("pyarrow.parquet", "parquet", f"{path}: a Parquet file")
        self._file = parquet.ParquetFile(for_arrow(path), memory_map=False)
        self.schema = self._file.schema_arrow

    def lengths(self) -> list[int]:
        data = self._file.metadata
        return [int(data.row_group(k).num_rows) for k in range(data.num_row_groups)]

    def read(self, group: int, names: list[str]) -> Any:
        return self._file.read_row_group(group, columns=names, use_threads=False)


class _Batches(_Groups):
    """Arrow's own files, Feather among them: mapped into memory, batch by batch."""

    def __init__(self, path: Path) -> None:
        arrow = extra_module("pyarrow", "parquet", f"{path}: an Arrow file")
        self._arrow = arrow
        ipc = extra_module("pyarrow.ipc", "parquet", f"{path}: an Arrow file")
        source = for_arrow(path)
        mapped = arrow.memory_map(source) if isinstance(source, str) else source
        self._file = ipc.open_file(mapped)
        self.schema = self._file.schema
        self._lengths = [
            int(self._file.get_batch(k).num_rows) for k in range(self._file.num_record_batches)
        ]

    def lengths(self) -> list[int]:
        return self._lengths

    def read(self, group: int, names: list[str]) -> Any:
        batch = self._file.get_batch(group).select(names)
        batch.validate(full=True)  # Arrow believes the lengths and offsets in a file otherwise
        return self._arrow.Table.from_batches([batch])


def read_table(path: Path, label: str | int | None, drop: Sequence[str | int]) -> Points:
    """Read a Parquet or Arrow file into memory."""
    table = Table(path, label, drop)
    labels = table.labels()
    X = np.empty((len(labels), len(table.names)), table.dtype)
    start = 0
    for block in table.blocks():
        X[start : start + len(block)] = block
        start += len(block)
    return Points(X, labels, label=table.label, drop=table.drop)
