"""Problems whose points are the rows of a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError, Source, frozen
from gammabar.problems.linear import LinearProblem
from gammabar.problems.points import DensePoints


class DenseProblem(LinearProblem):
    """Dense points; w is a vector of R^d.

    Integer matrices stay integer (MNIST stays uint8: a ninth of the memory traffic of doubles)
    and float32 stays float32; sums are always taken in float64. Nothing is copied that is
    C-contiguous already.

    Parameters
    ----------
    X : array of shape (n, d)
        Integers, booleans or floats, all finite; `gammabar.problems.from_arrays` checks that.
    y : array of n labels -1 and +1
    source : Source, optional
        Where the data come from.

    Examples
    --------
    >>> problem = DenseProblem([[3, 4], [0, 5]], [1, -1])
    >>> problem.radius
    5.0
    >>> problem.scores([1.0, 0.0])
    array([ 3., -0.])
    """

    def __init__(self, X: Any, y: Array, source: Source | None = None) -> None:
        super().__init__(DensePoints(dense_matrix(X)), y, source)


def dense_matrix(X: Any) -> Array:
    """X as a C-contiguous, read-only matrix in a dtype that holds its values exactly."""
    X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ProblemError(f"X must be a matrix with rows and columns, not of shape {X.shape}")
    return frozen(np.ascontiguousarray(X, dtype=exact_dtype(X)))


def exact_dtype(values: Array) -> np.dtype[Any]:
    """The native dtype in which the values are kept: their own where the loops know it."""
    dtype = values.dtype
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind in "iu" or dtype in (np.float32, np.float64):
        return dtype.newbyteorder("=")
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            exact = values.astype(np.float64) == values
        if not (exact | np.isnan(values)).all():
            place = ", column ".join(str(int(i)) for i in np.argwhere(~exact)[0])
            raise ProblemError(
                f"X holds a {dtype} number in row {place} that is no double; round X to float64"
            )
        return np.dtype(np.float64)
    raise ProblemError(f"X must hold numbers, not dtype {dtype}; convert it to integers or floats")
