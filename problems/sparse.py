"""Problems whose points are the rows of a sparse (CSR) matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError, Source, frozen
from gammabar.problems.dense import exact_dtype
from gammabar.problems.linear import LinearProblem
from gammabar.problems.points import SparsePoints
from gammabar.problems.sparsity import is_sparse

#: Columns are 32-bit numbers, in the compiled loops and in the canonical form.
MOST_COLUMNS = 2**31 - 1


class SparseProblem(LinearProblem):
    """Sparse points; w is a (dense) vector of R^d.

    The matrix is kept in canonical CSR form: columns ascending, duplicates summed, no stored
    zeros; integers stay integers.

    Parameters
    ----------
    X : scipy.sparse matrix or array of shape (n, d), any format
        All values finite; `gammabar.problems.from_arrays` checks that.
    y : array of n labels -1 and +1
    source : Source, optional
        Where the data come from.
    """

    def __init__(self, X: Any, y: Array, source: Source | None = None) -> None:
        super().__init__(SparsePoints(csr_matrix(X)), y, source)


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
    if not ((row[1:] == row[:-1]) & (col[1:] == col[:-1])).any():
        return X
    sums: dict[tuple[int, int], int] = {}  # of Python's integers, which do not wrap
    for place, part in zip(
        zip(row.tolist(), col.tolist(), strict=True), parts.tolist(), strict=True
    ):
        sums[place] = sums.get(place, 0) + int(part)
    low, high = min(sums.values()), max(sums.values())
    wide: type[np.integer[Any]]
    if low >= -(2**63) and high < 2**63:
        wide = np.int64
    elif low >= 0 and high < 2**64:
        wide = np.uint64
    else:
        raise ProblemError("X stores an entry in several parts whose sum exceeds 64 bits; sum them")
    rows, cols = np.array(list(sums), dtype=np.int64).T
    data = np.array(list(sums.values()), dtype=wide)
    from scipy.sparse import csr_array

    return csr_array((data, (rows, cols)), shape=X.shape)
