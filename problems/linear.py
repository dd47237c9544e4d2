"""Linear problems: w is a vector of the space of the points, which are dense or sparse rows."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from gammabar.problems.points import Points, digest, is_sparse, product
from gammabar.problems.problem import (
    Array,
    Floats,
    Problem,
    ProblemError,
    SoftMin,
    Source,
    check_temperature,
    frozen,
)

# Columns of a Gram matrix that are computed at once, so that few rows are in float64 at a time.
_GRAM_COLUMNS = 1024


class LinearProblem(Problem):
    """Rows a_i = y_i x_i of R^d."""

    points: Any  # `Points`, or what offers the same: `ScatteredPoints`

    def __init__(self, points: Any, y: Array, source: Source | None) -> None:
        self.points = points
        self.n, self.dimension = points.shape
        self.y = signs(y, self.n)
        self.source = source
        self._set_radius(*points.largest())

    @property
    def X(self) -> Any:
        """The points as stored."""
        return self.points.X

    def scores(self, w: Array) -> Floats:
        scores = self.points.dot(vector(w, self.dimension) * self._inner)
        return scores * (self._outer * self.y)

    def some_scores(self, rows: Array, w: Array) -> Floats:
        w = vector(w, self.dimension)
        if 2 * len(rows) > self.n:
            return self.scores(w)[rows]
        return self.points.some(rows, w * self._inner) * (self._outer * self.y[rows])

    def rough_scores(self, w: Array) -> tuple[Floats, float] | None:
        w = vector(w, self.dimension)
        if not isinstance(self.points, Points) or self.scale != 1:
            return None
        found = self.points.rough(w)
        return None if found is None else (found[0] * self.y, found[1] * self.radius)

    def combine(self, q: Array) -> Floats:
        return self.points.adjoint(vector(q, self.n) * (self._inner * self.y)) * self._outer

    def softmin(self, w: Array, temperature: float = 1.0) -> SoftMin:
        check_temperature(temperature)
        w = vector(w, self.dimension)
        scores, smallest, logsumexp, pull = self.points.softmin(
            w, self.y, self._inner, self._outer, float(temperature)
        )
        return SoftMin(smallest, logsumexp, pull, scores)

    def row(self, i: int) -> Floats:
        row = self._rows(np.array([i]))
        return np.asarray(row.toarray() if is_sparse(row) else row).ravel()

    def gram(self, rows: Array, cols: Array | None = None) -> Floats:
        rows = np.asarray(rows)
        if isinstance(self.points, Points) and self.scale == 1:
            others = rows if cols is None else np.asarray(cols)
            whole = self.points.gram(rows, others)
            if whole is not None:
                whole *= self.y[rows][:, None]
                whole *= self.y[others]
                return whole
        left = self._rows(rows)
        if cols is None:
            return product(left, left)
        cols = np.asarray(cols)
        result = np.empty((len(rows), len(cols)))
        for lo in range(0, len(cols), _GRAM_COLUMNS):
            part = slice(lo, lo + _GRAM_COLUMNS)
            result[:, part] = product(left, self._rows(cols[part]))
        return result

    def part(self, rows: Array) -> Self:
        """Some of the rows, in a copy here; what is known of all (the radius) is not asked anew."""
        view = copy.copy(self)
        view.points, view.y = Points(self.X[rows]), self.y[rows]
        view.n, view.source, view._memo = len(rows), None, {}
        return view

    def _rows(self, rows: Array) -> Any:
        """The chosen rows a_i in float64, as a dense or CSR matrix."""
        return scaled(self.points.take(rows), self.y[rows], self._inner, self._outer)

    def _digest(self) -> str:
        return digest(self.X, self.y)


def scaled(block: Any, factors: Array, inner: float, outer: float) -> Any:
    """Rows times their factors, times inner, times outer (in this order: inner makes room)."""
    by_row = factors.astype(np.float64)
    if is_sparse(block):
        block.data *= np.repeat(by_row, np.diff(block.indptr))
    else:
        block = block * by_row[:, None]
    if inner * outer != 1:
        target = block.data if is_sparse(block) else block
        target *= inner
        target *= outer
    return block


def with_column(X: Any, value: float, dtype: np.dtype[Any]) -> Any:
    """X and a constant column, in this dtype."""
    column = np.full((X.shape[0], 1), value, dtype)
    if is_sparse(X):
        from scipy.sparse import hstack

        return hstack([X.astype(dtype), column], format="csr")
    return np.hstack([X.astype(dtype, copy=False), column])


def vector(v: Array, length: int) -> Floats:
    """v as a float64 vector, refused if its length is wrong or it is not real."""
    if type(v) is not np.ndarray or v.dtype != np.float64:
        v = _real(v)
    if v.shape != (length,):
        raise ProblemError(f"expected a vector of length {length}, got an array of shape {v.shape}")
    return v


def _real(v: Any) -> Floats:
    """v as doubles; complex numbers and masks would be lost without a word."""
    values = np.asarray(v)
    if values.dtype.kind not in "biuf":
        raise ProblemError(f"expected a vector of real numbers, got an array of {values.dtype}")
    if np.ma.is_masked(v):
        raise ProblemError("expected a vector of numbers, got an array with masked entries")
    return values.astype(np.float64)


def signs(y: Array, n: int) -> Array:
    """Labels -1 and +1 as int8, refused if they are anything else."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ProblemError(f"y must have one label for each of the {n} rows, not shape {y.shape}")
    if not np.isin(y, (-1, 1)).all():
        place = int(np.argmin(np.isin(y, (-1, 1))))
        raise ProblemError(
            f"y must hold -1 and +1, but row {place} has {y[place]!r}; from_arrays takes any labels"
        )
    return frozen(np.ascontiguousarray(y, dtype=np.int8))


class DenseProblem(LinearProblem):
    """Dense points; w is a vector of R^d.

    Integer matrices stay integer (MNIST stays uint8: a ninth of the memory traffic of doubles)
    and float32 stays float32; sums are always taken in float64. Nothing is copied that is
    C-contiguous already. That values are finite is checked by `gammabar.problems.from_arrays`.

    Examples
    --------
    >>> problem = DenseProblem([[3, 4], [0, 5]], [1, -1])
    >>> problem.radius
    5.0
    >>> problem.scores([1.0, 0.0])
    array([ 3., -0.])
    """

    def __init__(self, X: Any, y: Array, source: Source | None = None) -> None:
        super().__init__(Points(dense_matrix(X)), y, source)


def dense_matrix(X: Any) -> Array:
    """X as a C-contiguous, read-only matrix in a dtype that holds its values exactly."""
    X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ProblemError(f"X must be a matrix with rows and columns, not of shape {X.shape}")
    return frozen(np.ascontiguousarray(X, dtype=exact_dtype(X)))


def matrix(X: Any) -> Any:
    """X as a dense or canonical CSR matrix in a dtype that holds its values exactly."""
    return csr_matrix(X) if is_sparse(X) else dense_matrix(X)


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


#: Columns are 32-bit numbers, in the compiled loops and in the canonical form.
MOST_COLUMNS = 2**31 - 1


class SparseProblem(LinearProblem):
    """Sparse points; w is a (dense) vector of R^d.

    The matrix, of any format of SciPy, is kept in canonical CSR form: columns ascending,
    duplicates summed, no stored zeros; integers stay integers.
    """

    def __init__(self, X: Any, y: Array, source: Source | None = None) -> None:
        super().__init__(Points(csr_matrix(X)), y, source)


def csr_matrix(X: Any) -> Any:
    """X as a canonical csr_array in a dtype that holds its values exactly; X is left alone."""
    if not is_sparse(X):
        raise ProblemError("X must be a scipy.sparse matrix here; from_arrays takes any matrix")
    if X.ndim != 2 or 0 in X.shape:
        raise ProblemError(f"X must be a matrix with rows and columns, not of shape {X.shape}")
    if X.shape[1] > MOST_COLUMNS:
        raise ProblemError(
            f"X has {X.shape[1]:,} columns, but at most {MOST_COLUMNS:,} can be kept"
        )
    X = _without_overflow(X)
    from scipy.sparse import csr_array

    csr = csr_array(X)
    dtype = exact_dtype(csr.data)
    ready = csr.dtype == dtype and csr.has_canonical_format and csr.data.all()
    if not ready:
        csr = csr.astype(dtype) if csr.dtype != dtype else csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    csr.data, csr.indices, csr.indptr = map(frozen, (csr.data, csr.indices, csr.indptr))
    return csr


def _without_overflow(X: Any) -> Any:
    """Widen integers if an entry is stored in several parts, lest their sum wraps around."""
    if X.dtype.kind not in "biu" or X.format not in ("csr", "csc", "bsr", "coo"):
        return X
    if X.has_canonical_format:
        return X
    coo = X.tocoo()
    order = np.lexsort((coo.col, coo.row))
    row, col, parts = coo.row[order], coo.col[order], coo.data[order]
    other = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    if other.all():
        return X
    starts = np.flatnonzero(np.append(True, other))
    sums = np.add.reduceat(parts.astype(object), starts)  # Python's integers do not wrap
    dtype = whole_dtype([sums])
    if dtype is None:
        raise ProblemError("X stores an entry in several parts whose sum exceeds 64 bits; sum them")
    from scipy.sparse import csr_array

    places = row[starts].astype(np.int64), col[starts].astype(np.int64)
    return csr_array((sums.astype(dtype), places), shape=X.shape)


def whole_dtype(arrays: list[Array]) -> np.dtype[Any] | None:
    """The type of 64 bits that holds integers with and without a sign, if there is one."""
    low = min((int(array.min()) for array in arrays if array.size), default=0)
    high = max((int(array.max()) for array in arrays if array.size), default=0)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return None
