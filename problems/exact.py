"""Exact numbers from arrays, lists, data frames, tables and sparse matrices.

Whatever holds the numbers, `exact_matrix` returns a matrix of the very same numbers, or refuses
with one sentence: what is proved of rounded data would be proved of other data. Libraries round
silently where integers beyond 2^53 stand beside floats, in columns with gaps, and under masks; so
every entry point (arrays, frames, chunks, labels) goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gammabar.problems.linear import csr_matrix, dense_matrix, exact_dtype
from gammabar.problems.points import is_sparse
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import did_you_mean

# Integers up to here are doubles.
_EXACT = 1 << 53


def exact_matrix(X: Any, first: int = 0, finite: bool = True) -> Any:
    """X as a dense or canonical CSR matrix of the same numbers.

    Parameters
    ----------
    X : anything with rows and columns of numbers
    first : int
        The row of a larger matrix that the first one is, for messages.
    finite : bool
        Whether to refuse infinities and NaN.
    """
    if is_sparse(X):
        return _sparse(X, finite)
    values = _values(X, first)
    if values.ndim != 2:
        hint = "; use X.reshape(-1, 1) for one column" if values.ndim == 1 else ""
        raise ProblemError(f"X must be two-dimensional, not of shape {values.shape}{hint}")
    if values.shape[0] == 0:
        raise ProblemError("X has no rows; at least one is needed")
    if values.shape[1] == 0:
        raise ProblemError("X has no columns; at least one is needed")
    matrix = dense_matrix(values)
    if finite:
        _check_finite(matrix)
    return matrix


def exact_cast(values: Array, dtype: np.dtype[Any], what: str = "X", first: int = 0) -> Array:
    """The same numbers in another dtype, or an error that names one that would change."""
    if values.dtype == dtype or dtype.kind == "O":
        return values
    with np.errstate(all="ignore"):
        cast = values.astype(dtype)
        changed = (cast.astype(values.dtype) != values) & (values == values)
    if dtype.kind == "f" and values.dtype.kind in "iu":  # the way back may round to the same again
        large = np.argwhere(np.abs(cast) >= _EXACT)
        places = [place for place in map(tuple, large) if rounds(int(values[place]))]
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

    Parameters
    ----------
    given : array-like
    read : array or sparse matrix
        The same in an array, which may have been rounded; texts are what they were read as.

    Raises
    ------
    ProblemError
        If no array of numbers holds what was given.
    """
    if is_sparse(given):
        return read
    columns = list(_columns(given) or ())
    kinds = [_dtype_of(column) for _, column in columns]
    if columns and all(kind is not None for kind in kinds):
        if all(kind.kind in "bf" or kind.itemsize < 8 for kind in kinds if kind is not None):
            return read
        return dense_matrix(exact_frame(columns))
    if np.ma.is_masked(given):
        return _values(given)
    values = given if isinstance(given, np.ndarray) else np.asarray(given)
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and isinstance(given, np.ndarray)):
        return read
    # Beside floats, only integers beyond 2^53 can have been rounded.
    large = values.dtype.kind == "f" and values.dtype.itemsize <= 8
    entries = np.asarray(given, dtype=object)
    places = np.argwhere(np.abs(read) >= _EXACT) if large else np.ndindex(*entries.shape)
    for i, j in places:
        if not _same(entries[i, j], read[i, j]):
            return _whole_numbers(entries, int(i), int(j))
    return read


def rounded(given: Any, read: Array) -> int | None:
    """A whole number in a list that became another beside floats, when an array was made of it."""
    if read.dtype.kind != "f" or not (np.abs(read) >= _EXACT).any():
        return None
    entries = np.asarray(given, dtype=object).ravel().tolist()
    whole = (int(one) for one in entries if isinstance(one, int | np.integer))
    return next((one for one in whole if rounds(one)), None)


def rounds(value: int) -> bool:
    """Whether an integer is no double."""
    if -_EXACT <= value <= _EXACT:
        return False
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def exact_labels(y: Any) -> Array:
    """Labels in a one-dimensional array, none of them rounded."""
    if hasattr(getattr(y, "dtype", None), "subtype") and hasattr(y, "isna"):
        return _gaps_filled(y, "y")
    # In a list NumPy makes one type of all: of integers doubles, of numbers texts.
    return np.asarray(y, dtype=None if hasattr(y, "dtype") else object)


# --- data frames and tables -----------------------------------------------------------------------


def design(X: Any, y: Any, encode: bool, missing: str) -> tuple[Any, Any, tuple[str, ...]]:
    """Points and labels of a data frame, and sentences about what was done to them.

    Parameters
    ----------
    X : data frame; anything else is returned as it is
    y : labels, or the name of their column in X
    encode : bool
        Replace columns of texts and categories by indicators of all levels but the first, the
        reference level (as R and statsmodels do).
    missing : {"refuse", "drop"}
        What becomes of rows with missing values.
    """
    if missing not in ("refuse", "drop"):
        raise ProblemError(f"missing must be 'refuse' or 'drop', not {missing!r}")
    columns = None if is_sparse(X) else _columns(X)
    if columns is None:
        if isinstance(y, str):
            raise ProblemError(f"y={y!r} is the name of a column, but X has no named columns")
        if encode or missing == "drop":
            raise ProblemError("encode and missing are for data frames")
        return X, y, ()
    named, labels = list(columns), y
    if isinstance(y, str):
        named, labels = _without(named, y)
    elif not encode and missing == "refuse":
        return X, y, ()
    notes: list[str] = []
    if missing == "drop":
        named, labels = _dropped(named, labels, notes)
    parts: list[tuple[Any, Any]] = []
    for name, column in named:
        texts = encode and _dtype_of(column) is None
        parts += _indicators(name, column, notes) if texts else [(name, column)]
    if not parts or not len(parts[0][1]):
        raise ProblemError("X has no rows or no columns left")
    return exact_frame(parts), labels, tuple(notes)


def _without(named: list[tuple[Any, Any]], y: str) -> tuple[list[tuple[Any, Any]], Any]:
    """The columns but that of the labels, and the labels."""
    labels = [column for name, column in named if name == y]
    if len(labels) != 1:
        how = did_you_mean(y, [str(name) for name, _ in named], always=True)
        raise ProblemError(f"X has {len(labels)} columns named {y!r}; {how}")
    return [(name, column) for name, column in named if name != y], labels[0]


def _dropped(
    named: list[tuple[Any, Any]], labels: Any, notes: list[str]
) -> tuple[list[tuple[Any, Any]], Any]:
    """Columns and labels without the rows that miss a value."""
    gone = np.zeros(len(labels), dtype=bool)
    for column in [column for _, column in named] + ([labels] if _is_column(labels) else []):
        gone |= _missing_rows(column)
    if not gone.any():
        return named, labels
    rows = np.flatnonzero(~gone)
    some = ", ".join(map(str, np.flatnonzero(gone)[:10].tolist()))
    more = ", ..." if gone.sum() > 10 else ""
    notes.append(f"{int(gone.sum())} rows with missing values were dropped: {some}{more}")
    return [(name, _taken(column, rows)) for name, column in named], _taken(labels, rows)


def _taken(column: Any, rows: Array) -> Any:
    """Some entries of a column of pandas, Arrow or polars, or of a list or array."""
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    if hasattr(column, "take"):
        return column.take(rows)
    return column[rows.tolist()] if hasattr(column, "name") else [column[i] for i in rows.tolist()]


def _indicators(name: Any, column: Any, notes: list[str]) -> list[tuple[str, Array]]:
    """Columns of zeros and ones for all levels but the first."""
    row = _first_missing(column)
    if row is not None:
        raise ProblemError(_no_value(name, row))
    texts = [str(value) for value in np.asarray(column.to_numpy(), dtype=object).tolist()]
    ordered = getattr(getattr(column, "cat", None), "categories", None)
    levels = sorted(set(texts)) if ordered is None else [str(v) for v in ordered if str(v) in texts]
    shown = ", ".join(f"{name}={level}" for level in levels[1:]) or "none"
    notes.append(f"column {name!r} became {shown}; the reference level is {levels[0]!r}")
    values = np.array(texts, dtype=object)
    return [(f"{name}={one}", (values == one).astype(np.uint8)) for one in levels[1:]]


def _columns(X: Any) -> Iterator[tuple[Any, Any]] | None:
    """Names and columns of a frame of pandas or polars or a table of Arrow; None of others."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        return ((name, X.iloc[:, j]) for j, name in enumerate(X.columns))
    if hasattr(X, "get_columns"):
        return ((column.name, column) for column in X.get_columns())
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        return zip(X.column_names, X.columns, strict=True)
    return None


def frame_dtype(dtypes: Iterable[tuple[Any, Any]]) -> np.dtype[Any]:
    """The dtype of a matrix of columns with these names and dtypes, of pandas or NumPy."""
    found = []
    for name, dtype in dtypes:
        kind = _numpy_dtype(dtype)
        if kind is None:
            raise ProblemError(_no_numbers(name, dtype))
        found.append(exact_dtype(np.empty(0, kind)))
    return np.result_type(*found)


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """What a dtype of NumPy or pandas is in NumPy's words, if it is one of real numbers."""
    known = getattr(dtype, "subtype", getattr(dtype, "numpy_dtype", dtype))
    return known if isinstance(known, np.dtype) and known.kind in "biuf" else None


def _dtype_of(column: Any) -> np.dtype[Any] | None:
    if hasattr(column, "iloc"):
        return _numpy_dtype(column.dtype)
    values = column[:0].to_numpy()
    return _numpy_dtype(values.dtype)


def exact_frame(
    columns: Iterable[tuple[Any, Any]], first: int = 0, dtype: np.dtype[Any] | None = None
) -> Array:
    """Columns side by side, in this dtype or one that holds them all; `first` as above."""
    named = {j: (name, _column(column, name, first)) for j, (name, column) in enumerate(columns)}
    arrays = [array for _, array in named.values()]
    if dtype is None:
        dtype = np.result_type(*arrays)
        if dtype.kind == "f" and all(array.dtype.kind in "iu" for array in arrays):
            dtype = _whole_dtype(arrays) or dtype
    return np.column_stack(
        [exact_cast(one, dtype, f"column {name!r} of X", first) for name, one in named.values()]
    )


def _whole_dtype(arrays: list[Array]) -> np.dtype[Any] | None:
    """The type of 64 bits that holds integers with and without a sign, if there is one."""
    low = min((int(array.min()) for array in arrays if array.size), default=0)
    high = max((int(array.max()) for array in arrays if array.size), default=0)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return None


def _column(column: Any, name: Any, first: int) -> Array:
    if isinstance(column, np.ndarray):
        return column
    row = _first_missing(column)
    if row is not None:
        raise ProblemError(_no_value(name, first + row))
    values = _column_values(column, name)
    if values.dtype.kind == "c":
        raise ProblemError(
            f"column {name!r} of X holds complex numbers; only real data can be separated"
        )
    if values.dtype.kind not in "biuf":
        kind = getattr(column, "dtype", None) or getattr(column, "type", values.dtype)
        raise ProblemError(_no_numbers(name, kind))
    return values.astype(exact_dtype(values), copy=False)


def _no_numbers(name: Any, kind: Any) -> str:
    return (
        f"column {name!r} of X holds {kind}, not numbers; leave it out, or let "
        "from_arrays(..., encode=True) make indicators of it"
    )


def _no_value(name: Any, row: int) -> str:
    return (
        f"X has a missing value in row {row}, column {name!r}; fill it, or let "
        "from_arrays(..., missing='drop') leave such rows out"
    )


def _is_column(labels: Any) -> bool:
    return hasattr(labels, "isna") or hasattr(labels, "null_count")


def _missing_rows(column: Any) -> Array:
    """Which rows have no value."""
    if hasattr(column, "isna"):
        return np.asarray(column.isna(), dtype=bool)
    return np.asarray(column.is_null().to_numpy(), dtype=bool)


def _first_missing(column: Any) -> int | None:
    """The first row without a value."""
    missing = _missing_rows(column)
    return int(np.argmax(missing)) if missing.any() else None


def _column_values(column: Any, name: Any) -> Array:
    """The entries of a column without gaps, in their own type."""
    if not hasattr(column, "iloc"):
        return np.asarray(column.to_numpy())
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
        dtype = _whole_dtype([values, fill]) or np.dtype(np.float64)
    elif values.dtype.kind in "biuf" and fill.dtype.kind in "biuf":
        dtype = np.result_type(values, fill)
    out = np.full(len(stored), fill, dtype)
    out[stored.sp_index.indices] = exact_cast(values, dtype, what)
    return out


# --- arrays and lists -----------------------------------------------------------------------------


def _values(X: Any, first: int = 0) -> Array:
    """Anything array-like, refused with a reason if it holds no numbers."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):  # a frame that is yet to be read
        X = X.collect()
    columns = _columns(X)
    if columns is not None:
        shape = getattr(X, "shape", None) or (X.num_rows, X.num_columns)
        return np.empty(shape) if 0 in shape else exact_frame(columns, first)
    if isinstance(X, memoryview):
        X = np.asarray(X)
    row = _masked_row(X)
    if row is not None:
        raise ProblemError(f"X has a masked entry in row {first + row}; fill it or drop the row")
    try:
        values = np.asarray(X)
    except (ValueError, TypeError, OverflowError) as error:
        raise ProblemError(_ragged(X) or f"X is not a matrix of numbers: {error}") from None
    if values.dtype.kind == "f" and values.ndim == 2 and not isinstance(X, np.ndarray):
        _check_rounded(X, values)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "c":
        raise ProblemError("X holds complex numbers; only real data can be separated")
    if values.dtype.kind in "OUST" and values.ndim == 2:
        raise ProblemError(_no_number(np.asarray(X, dtype=object)))
    raise ProblemError(f"X must hold numbers, not dtype {values.dtype}")


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


def _check_rounded(X: Any, values: Array) -> None:
    """NumPy turns large integers into floats where they stand beside floats: say so."""
    for i, j in np.argwhere(np.abs(values) >= _EXACT).tolist():
        value = _entry(X, i, j)
        if isinstance(value, float | np.floating):
            continue
        if not isinstance(value, int | np.integer) or rounds(int(value)):
            raise ProblemError(
                f"X has the integer {value} in row {i}, column {j}, which would be rounded "
                "beside floats or negative numbers; use one 64-bit integer type for all of X"
            )


def _entry(X: Any, i: int, j: int) -> Any:
    """What stands in row i and column j of rows of any kind."""
    try:
        row = X[i]
        value = row.iloc[j] if hasattr(row, "iloc") else row[j]
    except (TypeError, LookupError):
        raise ProblemError(
            f"X is a {type(X).__name__} with numbers beyond 2^53, which may have been rounded; make"
            " a NumPy array of it"
        ) from None
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _same(value: Any, read: Any) -> bool:
    """Whether a number was read as it is; a text is what it was read as."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, (int, Fraction, Decimal)):
        return Fraction(value) == Fraction(read.item())
    return bool(value == read)


def _whole_numbers(entries: Array, i: int, j: int) -> Array:
    """Objects as one type of integers; what stands at (i, j) is no double."""
    if all(isinstance(v, (int, np.integer)) for v in entries.ravel().tolist()):
        dtype = _whole_dtype([entries])
        if dtype is not None:
            return entries.astype(dtype)
    raise ProblemError(
        f"X has {entries[i, j]!r} in row {i}, column {j}, which is no double; what is proved would "
        "be proved of another number: round it, or use one 64-bit integer type for all of X"
    )


# --- sparse matrices and what is not finite -------------------------------------------------------


def _sparse(X: Any, finite: bool) -> Any:
    if X.ndim != 2 or 0 in X.shape:
        what = "rows" if X.ndim == 2 and X.shape[0] == 0 else "columns" if X.ndim == 2 else "matrix"
        raise ProblemError(f"X must be a matrix with rows and columns; it has no {what}: {X.shape}")
    if X.dtype.kind == "c":
        raise ProblemError("X holds complex numbers; only real data can be separated")
    if X.dtype.kind not in "biuf":
        raise ProblemError(f"X must hold numbers, not dtype {X.dtype}")
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        else:
            _check_places(X.tocoo(copy=False))
    except (ValueError, IndexError) as error:
        raise ProblemError(f"X is a broken sparse matrix: {error}") from None
    csr = csr_matrix(X)
    good = np.isfinite(csr.data)
    if finite and not good.all():
        place = int(np.argmin(good))
        row = int(np.searchsorted(csr.indptr, place, side="right")) - 1
        _refuse(row, int(csr.indices[place]), float(csr.data[place]))
    return csr


def _check_places(X: Any) -> None:
    """Whether the places of the entries are in the matrix: SciPy does not look."""
    for places, end in zip((X.row, X.col), X.shape, strict=True):
        if len(places) != len(X.data):
            raise ValueError("there are not as many places as entries")
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < end:
            raise ValueError("an entry is outside of the matrix")


def _check_finite(X: Array) -> None:
    if X.dtype.kind in "iu":
        return
    step = max(1, (1 << 17) // X.shape[1])
    for lo in range(0, len(X), step):
        finite = np.isfinite(X[lo : lo + step])
        if not finite.all():
            i, j = (int(v) for v in np.argwhere(~finite)[0])
            _refuse(lo + i, j, float(X[lo + i, j]))


def _refuse(row: int, column: int, value: float) -> None:
    raise ProblemError(
        f"X has {value} in row {row}, column {column} (counted from 0); every value must be finite"
    )
