"""With a bias: which problem a hyperplane that need not pass through the origin belongs to.

free
    y_i (<x_i, w> + b) with the margin counted in w alone: the hard-margin support vector machine
    of textbooks. Its margin is half the distance of the convex hulls of the two classes. The data
    stay as they are; that b is free is what the oracle has to know.
augmented
    A constant feature of one, so that b is a coordinate of w and counts in its norm: what the
    algorithms of the papers see. The margin is never larger than the free one.

The door: arrays of a user become a problem, or one sentence says what is wrong with them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from gammabar.problems.chunked import Chunks, Constant, ScatteredProblem
from gammabar.problems.files import encode_labels
from gammabar.problems.kernel import KernelProblem
from gammabar.problems.kernels import Kernel
from gammabar.problems.linear import (
    DenseProblem,
    SparseProblem,
    csr_matrix,
    dense_matrix,
    exact_dtype,
)
from gammabar.problems.multiclass import MulticlassKernelProblem, MulticlassProblem
from gammabar.problems.points import is_sparse
from gammabar.problems.problem import INTERCEPTS, Array, Problem, ProblemError, Source
from gammabar.problems.rounding import EXACT


def intercept_named(kind: str | bool | None) -> str:
    """One of `INTERCEPTS`: True is "free"; False and None are "none"."""
    if isinstance(kind, bool | np.bool_) or kind is None:
        return "free" if kind else "none"
    if not isinstance(kind, str) or kind not in INTERCEPTS:
        raise ProblemError(f"intercept {kind!r} is not one of {', '.join(INTERCEPTS)}")
    return kind


def with_intercept(problem: Problem, kind: str | bool | None) -> Problem:
    """The problem of separating the same points with this kind of intercept.

    Parameters
    ----------
    problem : Problem
        With or without an intercept of its own.
    kind : {"none", "free", "augmented"} or bool
        See the module; True is "free".
    """
    kind = intercept_named(kind)
    if kind == problem.intercept:
        return problem
    plain = problem.plain
    if kind == "none":
        return plain
    made = _free(plain) if kind == "free" else _augmented(plain)
    made.intercept, made._plain = kind, plain
    return made


def _free(problem: Problem) -> Problem:
    if isinstance(problem, MulticlassKernelProblem):
        raise ProblemError("several classes with a kernel have no intercept here")
    if isinstance(problem, MulticlassProblem):
        raise ProblemError(
            "the joint margin of several classes is not offered with a free intercept; use "
            "intercept='augmented', or pairs of classes"
        )
    if isinstance(problem, KernelProblem) and problem.normalised:
        raise ProblemError(
            "a normalised kernel has no intercept: rows that are divided by their norms share "
            "none; leave out normalised or the intercept"
        )
    if len(np.unique(problem.y)) < 2:
        raise ProblemError(
            "with a free intercept a single class has no largest margin; give points of both"
        )
    return copy.copy(problem)


def _augmented(problem: Problem) -> Problem:
    if isinstance(problem, KernelProblem | MulticlassKernelProblem):
        raise ProblemError(
            "with a kernel K the constant feature makes K + 1 of it: give that as the kernel "
            "(poly has coef0), or use the free intercept"
        )
    if isinstance(problem, ScatteredProblem):
        step = Constant(_dtype_of_both(problem.X, 1.0))
        return ScatteredProblem(problem.points.chunks.changed(step), problem.y, problem.source)
    X = with_constant(problem.X)
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(X, problem.labels, problem.k, problem.source)
    if is_sparse(X):
        return SparseProblem(X, problem.y, problem.source)
    return DenseProblem(X, problem.y, problem.source)


def with_constant(X: Any, value: float = 1.0) -> Any:
    """X with a constant column, in a dtype that holds both exactly."""
    dtype = _dtype_of_both(X, value)
    column = np.full((X.shape[0], 1), value, dtype=dtype)
    if is_sparse(X):
        from scipy.sparse import hstack

        return hstack([X.astype(dtype), column], format="csr")
    return np.hstack([X.astype(dtype), column])


def _dtype_of_both(X: Any, value: float) -> np.dtype[Any]:
    """The narrowest of a few dtypes in which neither the data nor the constant change."""
    given = np.dtype(np.uint8) if X.dtype.kind == "b" else X.dtype
    if given.kind == "f":
        with np.errstate(over="ignore"):
            fits = float(given.type(value)) == value  # as doubles, not in the narrower type
        return given if fits else np.result_type(given, np.float64)
    if float(value).is_integer():
        for dtype in (given, np.dtype(np.int64), np.dtype(np.uint64)):
            info = np.iinfo(dtype)
            if np.can_cast(given, dtype) and info.min <= int(value) <= info.max:
                return dtype
    entries = X.data if is_sparse(X) else X
    if entries.size and max(-int(entries.min()), int(entries.max())) > EXACT:
        raise ProblemError(
            f"intercept_scaling={value!r} does not fit beside integers beyond 2^53; "
            "choose an integer, or convert X to floats"
        )
    return np.dtype(np.float64)


# Integers up to here are doubles.
_EXACT = 1 << 53


def from_arrays(
    X: Any,
    y: Any,
    *,
    kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
    normalised: bool = False,
    multiclass: bool = False,
    intercept: str | bool = "none",
    source: Source | None = None,
) -> Problem:
    """The problem of separating the rows of X by their labels y.

    Parameters
    ----------
    X : array, list of rows, DataFrame, scipy.sparse matrix of shape (n, d), or Chunks
        Finite numbers. Integers stay integers. Without a kernel not copied where that can be
        avoided; do not change it afterwards.
    y : array, list or Series of n labels
        Two distinct values of any kind; the smaller one is the class -1 (numbers are compared
        as numbers, other labels as text). More than two with `multiclass`.
    kernel : Kernel, str or callable, optional
        Separate in the space of this kernel: "rbf:gamma=0.1", "poly:degree=2,coef0=1", "linear",
        "precomputed" (X is then the Gram matrix), or a function.
    normalised : bool
        With a kernel: divide by sqrt(K(x, x)) (Ramdas and Peña 2015, Section 3).
    multiclass : bool
        The reduction of Ji, Srebro and Telgarsky (2021), Section 5.2.
    intercept : {"none", "free", "augmented"} or bool
        Through the origin; with a bias that does not count in the norm of w (the support vector
        machine of textbooks; True means this); or with a constant feature of one, which does.
    source : Source, optional
        Where the data come from.

    Raises
    ------
    ProblemError
        With one sentence that names the row and column (counted from 0) at fault.

    Examples
    --------
    >>> from_arrays([[1, 2], [3, 4]], ["cat", "dog"])
    DenseProblem(n=2, dimension=2)
    """
    problem = _problem(X, y, kernel, normalised, multiclass, source)
    return with_intercept(problem, intercept)


def _problem(
    X: Any,
    y: Any,
    kernel: Kernel | str | Callable[[Any, Any], Any] | None,
    normalised: bool,
    multiclass: bool,
    source: Source | None,
) -> Problem:
    if normalised and kernel is None:
        raise ProblemError("normalised belongs to a kernel; use kernel='linear' for plain vectors")
    if isinstance(X, Chunks):
        return _scattered(X, y, kernel is not None or multiclass, source)
    X = _matrix(X)
    n = X.shape[0]
    labels, classes = encode_labels(y, n)
    if multiclass:
        if len(classes) < 2:
            raise ProblemError(
                f"y has one class only ({classes[0]}), in all {n} rows; give two or more"
            )
        if kernel is not None:
            of, k = Kernel.of(kernel), len(classes)
            return MulticlassKernelProblem(X, labels, of, k, normalised, source)
        return MulticlassProblem(X, labels, len(classes), source)
    signs = _signs(labels, classes)
    if kernel is not None:
        return KernelProblem(X, signs, Kernel.of(kernel), normalised, source)
    if is_sparse(X):
        return SparseProblem(X, signs, source)
    return DenseProblem(X, signs, source)


def _scattered(chunks: Chunks, y: Any, other: bool, source: Source | None) -> Problem:
    """The problem of points that are not in memory."""
    from gammabar.problems.chunked import ScatteredProblem

    if other:
        raise ProblemError(
            "points that are read in chunks have no kernel and two classes; give more --memory, or "
            "leave out kernel and multiclass"
        )
    return ScatteredProblem(chunks, _signs(*encode_labels(y, chunks.shape[0])), source)


def _signs(labels: Array, classes: tuple[str, ...]) -> Array:
    """Two classes as -1 and +1."""
    if len(classes) == 2:
        return (2 * labels - 1).astype(np.int8)
    n = len(labels)
    if len(classes) == 1:
        if n == 1 and classes[0] in ("-1", "1"):
            return np.array([int(classes[0])], dtype=np.int8)
        raise ProblemError(
            f"y has one class only ({classes[0]}), in all {n} rows; give two classes"
        )
    shown = ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")
    raise ProblemError(
        f"y has {len(classes)} classes ({shown}); choose two of them or use multiclass=True"
    )


def _matrix(X: Any) -> Any:
    """X as a finite dense or canonical CSR matrix of numbers."""
    if is_sparse(X):
        return _sparse(X)
    values = _frame(X) if hasattr(X, "columns") and hasattr(X, "dtypes") else _array(X)
    if values.ndim != 2:
        hint = "; use X.reshape(-1, 1) for one column" if values.ndim == 1 else ""
        raise ProblemError(f"X must be two-dimensional, not of shape {values.shape}{hint}")
    if values.shape[0] == 0:
        raise ProblemError("X has no rows; at least one is needed")
    if values.shape[1] == 0:
        raise ProblemError("X has no columns; at least one is needed")
    matrix = dense_matrix(values)
    _check_finite_dense(matrix)
    return matrix


def same_numbers(given: Any, read: Any) -> Any:
    """What a library has read of somebody's data, if those are its numbers; else ours, which are.

    Libraries turn integers beside floats, nullable columns and objects into doubles. What is proved
    of these would be proved of other numbers.

    Parameters
    ----------
    given : array-like
    read : array or sparse matrix
        The same in an array, which may have been rounded.

    Raises
    ------
    ProblemError
        If no array of numbers holds what was given.
    """
    if is_sparse(given):
        return read
    if hasattr(given, "iloc") and hasattr(given, "dtypes"):
        kinds = [np.dtype(getattr(one, "numpy_dtype", "O")) for one in map(_typed, given.dtypes)]
        if all(kind.kind in "bf" or (kind.kind in "iu" and kind.itemsize < 8) for kind in kinds):
            return read
        if all(kind.kind in "biuf" for kind in kinds):
            return dense_matrix(_frame(given))
    if np.ma.is_masked(given):
        return _array(given)
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
    for one in entries:
        if isinstance(one, int | np.integer) and _rounds(int(one)):
            return int(one)
    return None


def _typed(dtype: Any) -> Any:
    """A NumPy dtype in the guise of pandas' own, which say what they are in NumPy's words."""
    return SimpleNamespace(numpy_dtype=dtype) if isinstance(dtype, np.dtype) else dtype


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
        low, high = int(entries.min()), int(entries.max())
        for dtype in (np.int64, np.uint64):
            if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
                return entries.astype(dtype)
    raise ProblemError(
        f"X has {entries[i, j]!r} in row {i}, column {j}, which is no double; what is proved would "
        "be proved of another number: round it, or use one 64-bit integer type for all of X"
    )


def _array(X: Any) -> Array:
    """Anything array-like, refused with a reason if it holds no numbers."""
    if hasattr(X, "to_pandas") and hasattr(X, "column_names"):  # a table of Arrow
        return _frame(X.to_pandas())
    row = _masked_row(X)
    if row is not None:
        raise ProblemError(f"X has a masked entry in row {row}; fill it or drop the row")
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
        values = np.asarray(X, dtype=object)  # one text in a list would make texts of all numbers
        for i, j in np.ndindex(*values.shape):
            value = values[i, j]
            value = value.item() if isinstance(value, np.generic) else value
            if isinstance(value, int) and not -(2**63) <= value < 2**64:
                raise ProblemError(f"X has {value} in row {i}, column {j}, which exceeds 64 bits")
            if not isinstance(value, (int, float)):
                raise ProblemError(f"X has {value!r} in row {i}, column {j}, which is not a number")
        raise ProblemError("X is an object array; convert it with X.astype(float) or X.astype(int)")
    raise ProblemError(f"X must hold numbers, not dtype {values.dtype}")


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
    """Numpy turns large integers into floats where they stand beside floats: say so."""
    for i, j in np.argwhere(np.abs(values) >= _EXACT).tolist():
        value = _entry(X, i, j)
        if isinstance(value, float | np.floating):
            continue
        if not isinstance(value, int | np.integer) or _rounds(int(value)):
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


def _rounds(value: int) -> bool:
    if -_EXACT <= value <= _EXACT:
        return False
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def _frame(X: Any) -> Array:
    """The columns of a DataFrame, side by side, in a dtype that holds them all."""
    if X.shape[1] == 0 or X.shape[0] == 0:
        return np.empty(X.shape)
    columns = [_column(X.iloc[:, j], name) for j, name in enumerate(X.columns)]
    dtype = np.result_type(*columns)
    if dtype.kind == "f":
        for column, name in zip(columns, X.columns, strict=True):
            large = column[np.abs(column.astype(np.float64)) >= _EXACT]
            if column.dtype.kind in "iu" and any(_rounds(value) for value in large.tolist()):
                raise ProblemError(
                    f"column {name!r} of X has integers beyond 2^53, which would be rounded beside "
                    "other columns; use one 64-bit integer type for all of X"
                )
    return np.column_stack([column.astype(dtype) for column in columns])


def _column(series: Any, name: Any) -> Array:
    missing = np.asarray(series.isna(), dtype=bool)
    if missing.any():
        row = int(np.argmax(missing))
        raise ProblemError(f"X has a missing value in row {row}, column {name!r}; fill or drop it")
    # Nullable integers and floats say which numpy dtype they are.
    values = np.asarray(series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", None)))
    if values.dtype.kind == "c":
        raise ProblemError(
            f"column {name!r} of X holds complex numbers; only real data can be separated"
        )
    if values.dtype.kind not in "biuf":
        raise ProblemError(
            f"column {name!r} of X holds {series.dtype}, not numbers; encode or drop it"
        )
    return values.astype(exact_dtype(values), copy=False)


def _sparse(X: Any) -> Any:
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
    finite = np.isfinite(csr.data)
    if not finite.all():
        place = int(np.argmin(finite))
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


def _check_finite_dense(X: Array) -> None:
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
