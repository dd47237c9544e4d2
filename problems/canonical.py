"""The canonical form of data, version 1, and its SHA-256.

The same numbers with the same labels in the same order have the same digest, whatever dtype,
memory order or sparse format they are stored in. The bytes that are hashed:

    "gammabar-data-1" newline, number of points (int64), number of columns (int64)
    per point:  label (int32), number of nonzeros (uint32),
                the columns of the nonzeros, ascending (uint32),
                the values (float64; the double nearest to the value, ties to even), and,
                only if some value of the point is no double: "r" and value - double (int64) of each

All numbers are big-endian. Zeros, -0.0 among them, are left out. Labels are -1 and +1, or the
index of the class 0, ..., k - 1.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np

from gammabar.problems.points import is_sparse
from gammabar.problems.problem import Array, Floats

_BLOCK_VALUES = 1 << 20
_EXACT = 1 << 53


def digest(X: Any, labels: Array) -> str:
    """SHA-256, in hexadecimal, of the canonical form of points and labels.

    Parameters
    ----------
    X : dense array or canonical CSR matrix of shape (n, d)
        Integers of at most 64 bits, or floats of at most double precision.
    labels : array of n integers
    """
    n, d = X.shape
    sha = hashlib.sha256(b"gammabar-data-1\n" + struct.pack(">qq", n, d))
    stored = X.nnz if is_sparse(X) else X.size
    step = max(1, n * _BLOCK_VALUES // max(1, stored))
    for lo in range(0, n, step):
        hi = min(n, lo + step)
        ends, columns, values = _nonzeros(X[lo:hi])
        _update(sha, labels[lo:hi].tolist(), ends, columns, values)
    return sha.hexdigest()


def _nonzeros(block: Any) -> tuple[list[int], Array, Array]:
    """Where each row ends in the list of nonzeros; their columns; their values."""
    if is_sparse(block):
        return block.indptr[1:].tolist(), block.indices, block.data
    rows, columns = np.nonzero(block)
    ends = np.cumsum(np.bincount(rows, minlength=len(block)))
    return ends.tolist(), columns, block[rows, columns]


def _update(sha: Any, labels: list[int], ends: list[int], columns: Array, values: Array) -> None:
    doubles = values.astype(np.float64)
    remainders = _remainders(values, doubles)
    column_bytes = memoryview(columns.astype(">u4").tobytes())
    value_bytes = memoryview(doubles.astype(">f8").tobytes())
    start = 0
    for label, end in zip(labels, ends, strict=True):
        sha.update(struct.pack(">iI", label, end - start))
        sha.update(column_bytes[4 * start : 4 * end])
        sha.update(value_bytes[8 * start : 8 * end])
        if remainders is not None and remainders[start:end].any():
            sha.update(b"r" + remainders[start:end].astype(">i8").tobytes())
        start = end


def _remainders(values: Array, doubles: Floats) -> Array | None:
    """value - double for every value, or None if all are doubles."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    large = np.flatnonzero(np.abs(doubles) >= _EXACT)  # 2^53 + 1 is rounded to 2^53
    if not len(large):
        return None
    remainders = np.zeros(len(values), dtype=np.int64)
    # In Python's integers: the double next to the largest int64 is no int64.
    pairs = zip(values[large].tolist(), doubles[large].tolist(), strict=True)
    remainders[large] = [value - int(double) for value, double in pairs]
    return remainders
