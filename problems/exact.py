"""Exact numbers from arrays, lists, data frames, tables and sparse matrices.

Whatever holds the numbers, `exact_matrix` returns a matrix of the very same numbers, or refuses
with one sentence: what is proved of rounded data would be proved of other data. Libraries round
silently where integers beyond 2^53 stand beside floats, in columns with gaps, and under masks; so
every entry point (arrays, frames, chunks, labels) goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gammabar.problems.linear import dense_matrix, exact_dtype, matrix, whole_dtype
from gammabar.problems.points import is_sparse
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import did_you_mean

# Integers up to here are doubles.
_EXACT = 1 << 53


def exact_matrix(X: Any, first: int = 0, finite: bool = True) -> Any:
    """X, anything with rows and columns of numbers, as a dense or canonical CSR matrix of the same.

    `first` is the row of a larger matrix that the first one is, for messages; `finite` says whether
    to refuse infinities and NaN.
    """
    values = X if is_sparse(X) else _values(X, first)
    if values.dtype.kind == "c":
        raise ProblemError("X holds complex numbers; only real data can be separated")
    if values.dtype.kind not in "biuf":
        raise ProblemError(f"X must hold numbers, not dtype {values.dtype}")
    if values.ndim != 2:
        hint = "; use X.reshape(-1, 1) for one column" if values.ndim == 1 else ""
        raise ProblemError(f"X must be two-dimensional, not of shape {values.shape}{hint}")
    if 0 in values.shape:
        what = "columns" if values.shape[0] else "rows"
        raise ProblemError(f"X has no {what}; at least one is needed")
    try:
        check_places(values)
    except (ValueError, IndexError) as error:
        raise ProblemError(f"X is a broken sparse matrix: {error}") from None
    made = matrix(values)
    bad = not_finite(made) if finite else None
    if bad is not None:
        refuse_value(first, *bad)
    return made


def check_places(X: Any) -> None:
    """Raise ValueError if an entry of a sparse matrix is outside of it."""
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)
    if not is_sparse(X) or hasattr(X, "check_format"):
        return
    X = X.tocoo(copy=False)  # SciPy does not look at this format
    for places, end in zip((X.row, X.col), X.shape, strict=True):
        if len(places) != len(X.data):
            raise ValueError("there are not as many places as entries")
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < end:
            raise ValueError("an entry is outside of the matrix")


def not_finite(X: Any) -> tuple[int, int, float] | None:
    """The first entry of a dense or CSR matrix that is not finite: row, column and value."""
    if X.dtype.kind != "f":
        return None
    step = max(1, (1 << 20) // X.shape[1])
    for lo in range(0, X.shape[0], step):
        block = X[lo : lo + step]
        if np.isfinite(block.data if is_sparse(block) else block).all():
            continue
        block = block.tocoo() if is_sparse(block) else block
        if is_sparse(block):
            k = int(np.argmin(np.isfinite(block.data)))
            return lo + int(block.row[k]), int(block.col[k]), float(block.data[k])
        i, j = (int(v) for v in np.argwhere(~np.isfinite(block))[0])
        return lo + i, j, float(block[i, j])
    return None


def refuse_value(first: int, row: int, column: int, value: float) -> None:
    """Refuse an entry that is not finite, of rows that begin with this one."""
    raise ProblemError(
        f"X has {value} in row {first + row}, column {column} (counted from 0); every value must "
        "be finite"
    )


def exact_cast(values: Array, dtype: np.dtype[Any], what: str = "X", first: int = 0) -> Array:
    """The same numbers in another dtype, or an error that names one that would change."""
    if values.dtype == dtype or dtype.kind == "O":
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
        changed = (cast.astype(values.dtype) != values) & (values == values)
    if dtype.kind == "f" and values.dtype.kind in "iu":  # the way back may round to the same again
        large = map(tuple, np.argwhere(np.abs(cast) >= _EXACT))
        places = [place for place in large if not is_double(int(values[place]))]
    else:
        places = list(map(tuple, np.argwhere(changed)))
    if places:
        row, value = first + int(places[0][0]), values[places[0]]
        raise ProblemError(
            f"{what} has {value} in row {row}, which would be rounded beside other columns; use "
            "one 64-bit integer type for all of X, or round it"
        )
    return cast


def same_numbers(given: Any, read: Any) -> Any:
    """What a library has read of somebody's data, if those are its numbers; else ours, which are.

    A text is what it was read as. What no array of numbers holds is refused.
    """
    if is_sparse(given):
        return read
    columns = columns_of(given)
    if columns and all(column.values.dtype.kind in "biuf" for column in columns):
        return dense_matrix(exact_frame(columns))
    if np.ma.is_masked(given):
        return _values(given)
    found = rounded(given, read)
    if found is None:
        return read
    value, i, j = found
    entries = np.asarray(given, dtype=object)
    whole = all(isinstance(v, (int, np.integer)) for v in entries.ravel().tolist())
    dtype = whole_dtype([entries]) if whole else None
    if dtype is None:
        raise ProblemError(
            f"X has {value!r} in row {i}, column {j}, which is no double; what is proved would be "
            "proved of another number: round it, or use one 64-bit integer type for all of X"
        )
    return entries.astype(dtype)


def rounded(given: Any, read: Array) -> tuple[Any, ...] | None:
    """The first number that became another when this array was made of a list, and its place."""
    if read.dtype.kind != "f" or (isinstance(given, np.ndarray) and given.dtype.kind in "biuf"):
        return None
    # Beside floats only integers beyond 2^53 are rounded; objects may be fractions or decimals.
    objects = np.asarray(given).dtype.kind == "O"
    if not objects and not (np.abs(read) >= _EXACT).any():
        return None
    entries = np.asarray(given, dtype=object)
    places = np.ndindex(*entries.shape) if objects else np.argwhere(np.abs(read) >= _EXACT)
    for place in map(tuple, places):
        value = entries[place]
        value = value.item() if isinstance(value, np.generic | np.ndarray) else value
        exact = isinstance(value, (int, Fraction, Decimal)) and not isinstance(value, bool)
        if exact and Fraction(value) != Fraction(read[place].item()):
            return value, *(int(k) for k in place)
    return None


def is_double(value: int | Fraction) -> bool:
    """Whether a number is a double."""
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def exact_labels(y: Any) -> Array:
    """Labels in a one-dimensional array, none of them rounded."""
    if hasattr(getattr(y, "dtype", None), "subtype") and hasattr(y, "isna"):
        return _gaps_filled(y, "y")
    # In a list NumPy makes one type of all: of integers doubles, of numbers texts.
    return np.asarray(y, dtype=None if hasattr(y, "dtype") else object)


# --- data frames and tables -----------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column of a frame of pandas or polars or a table of Arrow, in an array.

    `values` are numbers in their own type, or objects; anything where one is `missing`. `kind` is
    its type as the library calls it; `levels` are the categories in their order, if it has any.
    """

    name: Any
    values: Array
    missing: Array
    kind: str
    levels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, name: Any, column: Any) -> Column:
        """Convert a column of pandas, polars or Arrow."""
        missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null(), bool)
        kind = str(getattr(column, "dtype", None) or column.type)
        levels = getattr(getattr(column, "cat", None), "categories", None)
        if not missing.any():
            values = _entries(column, name)
        else:  # of the others alone, or integers would become floats
            some = _entries(_taken(column, np.flatnonzero(~missing)), name)
            values = np.zeros(len(missing), some.dtype)
            values[~missing] = some
        return cls(name, values, missing, kind, None if levels is None else tuple(map(str, levels)))

    def rows(self, rows: Array) -> Column:
        """Some of its entries."""
        return replace(self, values=self.values[rows], missing=self.missing[rows])

    def check_complete(self, first: int = 0) -> None:
        """Refuse a missing value, of rows that begin with this one."""
        if self.missing.any():
            row = first + int(np.argmax(self.missing))
            raise ProblemError(
                f"missing value in row {row}, column {self.name!r}; fill it, or drop such rows "
                "(missing='drop', --missing drop)"
            )

    def numbers(self, first: int) -> Array:
        """Its numbers, in a type of NumPy that holds them."""
        self.check_complete(first)
        if self.values.dtype.kind not in "biuf":
            what = (
                "complex numbers" if self.values.dtype.kind == "c" else f"{self.kind}, no numbers"
            )
            raise ProblemError(
                f"column {self.name!r} of X holds {what}; leave it out, or replace it by "
                "indicators of its levels (encode=True, --encode)"
            )
        return self.values.astype(exact_dtype(self.values), copy=False)

    def indicators(self, notes: list[str]) -> list[Column]:
        """Columns of zeros and ones for all levels but the first, the reference level."""
        self.check_complete()
        texts = np.array([str(value) for value in self.values.tolist()], dtype=object)
        there = set(texts.tolist())
        levels = sorted(there) if self.levels is None else [v for v in self.levels if v in there]
        names = [f"{self.name}={level}" for level in levels]
        shown = ", ".join(names[1:]) or "nothing"
        notes.append(f"column {self.name!r} became {shown}; the reference level is {levels[0]!r}")
        return [
            Column(name, (texts == level).astype(np.uint8), self.missing, "uint8")
            for name, level in zip(names[1:], levels[1:], strict=True)
        ]


def take_column(columns: list[Column], name: str) -> tuple[Column, list[Column]]:
    """The column of this name, and the others."""
    found = [column for column in columns if column.name == name]
    if len(found) != 1:
        how = did_you_mean(name, [str(column.name) for column in columns], always=True)
        raise ProblemError(f"X has {len(found)} columns named {name!r}; {how}")
    return found[0], [column for column in columns if column is not found[0]]


def columns_of(X: Any) -> list[Column] | None:
    """The columns of a frame of pandas or polars or a table of Arrow; None of anything else."""
    named: Any
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):  # a frame that is yet to be read
        X = X.collect()
    if is_sparse(X):
        return None
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        named = ((name, X.iloc[:, j]) for j, name in enumerate(X.columns))
    elif hasattr(X, "get_columns"):
        named = ((column.name, column) for column in X.get_columns())
    elif hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        named = zip(X.column_names, X.columns, strict=True)
    else:
        return None
    return [Column.of(name, column) for name, column in named]


def _taken(column: Any, rows: Array) -> Any:
    """Some entries of a column of pandas, Arrow or polars."""
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    return column.take(rows) if hasattr(column, "take") else column[rows.tolist()]


def _entries(column: Any, name: Any) -> Array:
    """The entries of a column without gaps, in their own type."""
    if not hasattr(column, "iloc"):
        return np.asarray(column)
    if hasattr(column.dtype, "subtype"):
        return _gaps_filled(column, f"column {name!r} of X")
    # Nullable integers and floats say which NumPy dtype they are.
    return np.asarray(column.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", None)))


def _gaps_filled(column: Any, what: str) -> Array:
    """A sparse column of pandas with its fill value in the gaps, which pandas would round."""
    stored = getattr(column, "array", column)
    values, fill = np.asarray(stored.sp_values), np.asarray(stored.fill_value)
    if len(values) == len(stored):
        return values
    dtype = np.dtype(object)
    if values.dtype.kind in "iu" and fill.dtype.kind in "biuf" and float(fill).is_integer():
        fill = np.asarray(int(fill))
        dtype = whole_dtype([values, fill]) or np.dtype(np.float64)
    elif values.dtype.kind in "biuf" and fill.dtype.kind in "biuf":
        dtype = np.result_type(values, fill)
    out = np.full(len(stored), fill, dtype)
    out[stored.sp_index.indices] = exact_cast(values, dtype, what)
    return out


def exact_frame(
    columns: Iterable[Column], first: int = 0, dtype: np.dtype[Any] | None = None
) -> Array:
    """Columns side by side, in this dtype or one that holds them all; `first` as above."""
    named = [(f"column {column.name!r} of X", column.numbers(first)) for column in columns]
    if dtype is None:
        arrays = [array for _, array in named]
        dtype = np.result_type(*arrays)
        if dtype.kind == "f" and all(array.dtype.kind in "iu" for array in arrays):
            dtype = whole_dtype(arrays) or dtype
    return np.column_stack([exact_cast(array, dtype, what, first) for what, array in named])


def frame_dtype(dtypes: Iterable[tuple[Any, Any]]) -> np.dtype[Any]:
    """The dtype of a matrix of columns with these names and dtypes, of pandas or NumPy."""
    found = []
    for name, dtype in dtypes:
        known = getattr(dtype, "subtype", getattr(dtype, "numpy_dtype", dtype))
        if not isinstance(known, np.dtype) or known.kind not in "biuf":
            known = np.dtype(object)
        empty = Column(name, np.empty(0, known), np.zeros(0, bool), str(dtype))
        found.append(empty.numbers(0).dtype)
    return np.result_type(*found)


def design(
    columns: list[Column], labels: Any, encode: bool, missing: str
) -> tuple[Array, Any, Array, tuple[str, ...]]:
    """Points and labels of a table, the rows that are left, and sentences about what was done.

    `labels` are a column, or anything with a label for each row. With `encode`, columns of texts
    and categories become indicators of all levels but the first, the reference level (as R and
    statsmodels do). `missing` is "refuse" or "drop": what becomes of rows with missing values.
    """
    notes: list[str] = []
    if hasattr(labels, "isna") or hasattr(labels, "is_null"):
        labels = Column.of("y", labels)
    rows = np.arange(len(columns[0].values) if columns else 0)
    if missing == "drop":
        columns, labels, rows = _dropped(columns, labels, rows, notes)
    if isinstance(labels, Column):
        labels.check_complete()
        labels = labels.values
    parts: list[Column] = []
    for column in columns:
        number = column.values.dtype.kind in "biuf" and column.levels is None
        parts += [column] if number or not encode else column.indicators(notes)
    if not parts or not len(parts[0].values):
        raise ProblemError("X has no rows or no columns left")
    return exact_frame(parts), labels, rows, tuple(notes)


def _dropped(
    columns: list[Column], labels: Any, rows: Array, notes: list[str]
) -> tuple[list[Column], Any, Array]:
    """Columns, labels and rows without those that miss a value."""
    whole = [*columns, labels] if isinstance(labels, Column) else columns
    gone = np.any([column.missing for column in whole], axis=0) if whole else np.zeros(0, bool)
    if not gone.any():
        return columns, labels, rows
    rows, places = np.flatnonzero(~gone), np.flatnonzero(gone)
    some = ", ".join(map(str, places[:10].tolist())) + (", ..." if len(places) > 10 else "")
    which = ", ".join(repr(column.name) for column in whole if column.missing.any())
    notes.append(
        f"{len(places)} rows with missing values in {which} were dropped: {some} (counted from 0)"
    )
    kept = labels.rows(rows) if isinstance(labels, Column) else [labels[i] for i in rows.tolist()]
    return [column.rows(rows) for column in columns], kept, rows


# --- arrays and lists -----------------------------------------------------------------------------


def _values(X: Any, first: int = 0) -> Array:
    """Anything array-like, refused with a reason if it holds no numbers."""
    columns = columns_of(X)
    if columns is not None:
        rows = len(columns[0].values) if columns else len(X)
        return exact_frame(columns, first) if rows and columns else np.empty((rows, len(columns)))
    if isinstance(X, memoryview):
        X = np.asarray(X)
    row = _masked_row(X)
    if row is not None:
        raise ProblemError(f"X has a masked entry in row {first + row}; fill it or drop the row")
    try:
        values = np.asarray(X)
    except (ValueError, TypeError, OverflowError) as error:
        raise ProblemError(_ragged(X) or f"X is not a matrix of numbers: {error}") from None
    if values.dtype.kind in "OUST" and values.ndim == 2:
        raise ProblemError(_no_number(np.asarray(X, dtype=object)))
    if values.dtype.kind == "f" and values.ndim == 2:
        _check_rounded(X, values)
    return values


def _check_rounded(X: Any, values: Array) -> None:
    """NumPy turns large integers into floats where they stand beside floats: say so."""
    if hasattr(X, "dtype") or not (np.abs(values) >= _EXACT).any():
        return
    if hasattr(X, "__array__"):
        raise ProblemError(
            f"X is a {type(X).__name__} with numbers beyond 2^53, which may have been rounded; make"
            " a NumPy array of it"
        )
    found = rounded(X, values)
    if found is not None:
        raise ProblemError(
            f"X has the integer {found[0]} in row {found[1]}, column {found[2]}, which would be "
            "rounded beside floats or negative numbers; use one 64-bit integer type for all of X"
        )


def _no_number(values: Array) -> str:
    """What is wrong with objects; one text in a list would have made texts of all numbers."""
    for i, j in np.ndindex(*values.shape):
        value = values[i, j]
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            return f"X has {value} in row {i}, column {j}, which exceeds 64 bits"
        if not isinstance(value, (int, float)):
            return f"X has {value!r} in row {i}, column {j}, which is not a number"
    return "X is an object array; convert it with X.astype(float) or X.astype(int)"


def _ragged(X: Any) -> str | None:
    """What is uneven about a list of rows."""
    try:
        lengths = [len(row) for row in X]
    except TypeError:
        return None
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            return f"X is ragged: row {i} has {length} entries but row 0 has {lengths[0]}"
    return None


def _masked_row(X: Any) -> int | None:
    """The first row with a masked entry; a list may have rows that are masked arrays."""
    if isinstance(X, np.ma.MaskedArray):
        return int(np.argwhere(np.ma.getmaskarray(X))[0][0]) if np.ma.is_masked(X) else None
    if isinstance(X, np.ndarray) or not isinstance(X, Iterable):
        return None
    return next((i for i, row in enumerate(X) if np.ma.is_masked(row)), None)
