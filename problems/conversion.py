"""Problems from arrays, with or without an intercept.

A hyperplane that need not pass through the origin has a bias b:

free
    y_i (<x_i, w> + b) with the margin counted in w alone: the hard-margin support vector machine
    of textbooks. Its margin is half the distance of the convex hulls of the two classes. The data
    stay as they are; that b is free is what the oracle has to know.
augmented
    A constant feature of one, so that b is a coordinate of w and counts in its norm: what the
    algorithms of the papers see. The margin is never larger than the free one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from gammabar.problems.chunked import Chunks, ScatteredProblem
from gammabar.problems.exact import columns_of, design, exact_matrix, take_column
from gammabar.problems.files import encode_labels
from gammabar.problems.kernel import KernelProblem
from gammabar.problems.kernels import Kernel
from gammabar.problems.linear import DenseProblem, SparseProblem, with_column
from gammabar.problems.multiclass import MulticlassKernelProblem, MulticlassProblem
from gammabar.problems.points import is_sparse
from gammabar.problems.problem import INTERCEPTS, Array, Problem, ProblemError, Source
from gammabar.problems.rounding import EXACT


def with_intercept(problem: Problem, kind: str | bool | None) -> Problem:
    """The problem of separating the same points with this kind of intercept: see the module.

    True is "free"; False and None are "none".
    """
    if isinstance(kind, bool | np.bool_) or kind is None:
        kind = "free" if kind else "none"
    if not isinstance(kind, str) or kind not in INTERCEPTS:
        raise ProblemError(f"intercept {kind!r} is not one of {', '.join(INTERCEPTS)}")
    if kind == problem.intercept:
        return problem
    plain = problem.plain
    if kind == "none":
        return plain
    made = _free(plain) if kind == "free" else _augmented(plain)
    made.intercept, made._plain, made.notes = kind, plain, plain.notes
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
        chunks = problem.points.chunks.with_constant(_dtype_of_both(problem.X, 1.0))
        return ScatteredProblem(chunks, problem.y, problem.source)
    X = with_constant(problem.X)
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(X, problem.labels, problem.k, problem.source)
    if is_sparse(X):
        return SparseProblem(X, problem.y, problem.source)
    return DenseProblem(X, problem.y, problem.source)


def with_constant(X: Any, value: float = 1.0) -> Any:
    """X with a constant column, in a dtype that holds both exactly."""
    return with_column(X, value, _dtype_of_both(X, value))


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


def from_arrays(
    X: Any,
    y: Any,
    *,
    kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
    normalised: bool = False,
    multiclass: bool = False,
    intercept: str | bool = "none",
    encode: bool = False,
    missing: str = "refuse",
    source: Source | None = None,
) -> Problem:
    """The problem of separating the rows of X by their labels y.

    Parameters
    ----------
    X : array, list of rows, DataFrame, scipy.sparse matrix of shape (n, d), or Chunks
        Finite numbers. Integers stay integers. Without a kernel not copied where that can be
        avoided; do not change it afterwards. Frames are those of pandas, polars and Arrow.
    y : array, list or Series of n labels, or the name of a column of a DataFrame
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
    encode : bool
        DataFrames only: replace columns of texts and categories by indicators of all levels but
        the first. The attribute `notes` of the problem says which.
    missing : {"refuse", "drop"}
        DataFrames only: what becomes of rows with missing values; `notes` says which were dropped.
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
    if missing not in ("refuse", "drop"):
        raise ProblemError(f"missing must be 'refuse' or 'drop', not {missing!r}")
    notes: tuple[str, ...] = ()
    if isinstance(y, str) or encode or missing == "drop":
        columns = columns_of(X)
        if columns is None:
            what = (
                f"y={y!r} names a column"
                if isinstance(y, str)
                else "encode and missing are for columns"
            )
            raise ProblemError(f"{what}, but X has no named columns; give a data frame")
        if isinstance(y, str):
            y, columns = take_column(columns, y)
        X, y, _, notes = design(columns, y, encode, missing)
    if normalised and kernel is None:
        raise ProblemError("normalised belongs to a kernel; use kernel='linear' for plain vectors")
    of = None if kernel is None else Kernel.of(kernel)
    if isinstance(X, Chunks):
        if of is not None or multiclass:
            raise ProblemError(
                "points that are read in chunks have no kernel and two classes; give more "
                "--memory, or leave out kernel and multiclass"
            )
    else:
        X = exact_matrix(X)
    problem = _problem(X, *encode_labels(y, X.shape[0]), of, normalised, multiclass)
    problem.source, problem.notes = source, notes
    return with_intercept(problem, intercept)


def _problem(
    X: Any,
    labels: Array,
    classes: tuple[str, ...],
    kernel: Kernel | None,
    normalised: bool,
    multiclass: bool,
) -> Problem:
    if multiclass:
        if len(classes) < 2:
            raise ProblemError(
                f"y has one class only ({classes[0]}), in all {len(labels)} rows; give two or more"
            )
        if kernel is not None:
            return MulticlassKernelProblem(X, labels, kernel, len(classes), normalised)
        return MulticlassProblem(X, labels, len(classes))
    signs = _signs(labels, classes)
    if kernel is not None:
        return KernelProblem(X, signs, kernel, normalised)
    if isinstance(X, Chunks):
        return ScatteredProblem(X, signs)
    return SparseProblem(X, signs) if is_sparse(X) else DenseProblem(X, signs)


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
