"""Loops over the rows of a sparse matrix in CSR form.

Columns are read as unsigned 32-bit numbers (`problems.sparse` refuses wider matrices), or each
access would test for an index from the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gammabar.problems.compiled.jit import in_order
from gammabar.problems.compiled.softmax import Asked, weigh
from gammabar.problems.problem import Array, Floats

instructions: Any
try:
    from gammabar.problems.compiled import instructions
except ImportError:
    instructions = None

# How many entries of a CSR matrix ahead of their use are fetched.
_AHEAD = 512


class SparseRows(NamedTuple):
    """A canonical CSR matrix, the labels of its rows, and how many rows are weighed at a time."""

    indptr: Array
    indices: Array
    data: Array
    y: Array
    block: int


@in_order
def _fetch_ahead(indices: Array, data: Array, k: int) -> None:
    """Once for every 16 entries, ask for those that are needed later."""
    if k % 16 < 4:
        instructions.fetch(indices, k + _AHEAD)
        instructions.fetch(data, k + _AHEAD)


@in_order
def dot(
    csr: tuple[Array, Array, Array],
    w: Floats,
    out: Floats,
    lo: int,
    hi: int,
    plainly: bool | None,
) -> None:
    """out[i] = <x_i, w>, in four sums that do not wait for each other."""
    indptr, indices, data = csr
    for i in range(lo, hi):
        first, end = indptr[i], indptr[i + 1]
        whole = end - (end - first) % 4
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(first, whole, 4):
            if plainly is None:
                _fetch_ahead(indices, data, k)
            k0, k1, k2, k3 = np.uint64(k), np.uint64(k + 1), np.uint64(k + 2), np.uint64(k + 3)
            s0 += data[k0] * w[np.uint32(indices[k0])]
            s1 += data[k1] * w[np.uint32(indices[k1])]
            s2 += data[k2] * w[np.uint32(indices[k2])]
            s3 += data[k3] * w[np.uint32(indices[k3])]
        for k in range(whole, end):
            k0 = np.uint64(k)
            s0 += data[k0] * w[np.uint32(indices[k0])]
        out[i] = (s0 + s1) + (s2 + s3)


@in_order
def add(csr: tuple[Array, Array, Array], rows: Array, q: Floats, out: Floats) -> None:
    """out += sum of q[r] x_rows[r].

    The columns of a row are all different, so four entries are read before any is written.
    """
    indptr, indices, data = csr
    for r in range(len(rows)):
        weight = q[r]
        first, end = indptr[rows[r]], indptr[rows[r] + 1]
        whole = end - (end - first) % 4
        for k in range(first, whole, 4):
            k0, k1, k2, k3 = np.uint64(k), np.uint64(k + 1), np.uint64(k + 2), np.uint64(k + 3)
            c0, c1 = np.uint32(indices[k0]), np.uint32(indices[k1])
            c2, c3 = np.uint32(indices[k2]), np.uint32(indices[k3])
            v0, v1 = out[c0] + weight * data[k0], out[c1] + weight * data[k1]
            v2, v3 = out[c2] + weight * data[k2], out[c3] + weight * data[k3]
            out[c0], out[c1], out[c2], out[c3] = v0, v1, v2, v3
        for k in range(whole, end):
            k0 = np.uint64(k)
            out[np.uint32(indices[k0])] += weight * data[k0]


@in_order
def softmin(
    rows: SparseRows,
    asked: Asked,
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
    plainly: bool | None,
) -> tuple[float, float]:
    """One stripe, as `dense.softmin`, by blocks of rows that are in the cache when they are added.

    Rows of weight zero are not added.
    """
    csr, y = (rows.indptr, rows.indices, rows.data), rows.y
    for j in range(len(pull)):
        pull[j] = 0.0
    running = (np.inf, 0.0)
    chosen, weights = np.empty(rows.block, np.int64), np.empty(rows.block)
    for start in range(lo, hi, rows.block):
        stop = min(start + rows.block, hi)
        dot(csr, asked.w, scores, start, stop, plainly)
        for i in range(start, stop):
            scores[i] *= asked.outer * y[i]
        running, _ = weigh(asked, y, scores, start, stop, running, pull, weights)
        count = 0
        for r in range(stop - start):
            if weights[r] != 0:
                chosen[count], weights[count] = start + r, weights[r]
                count += 1
        add(csr, chosen[:count], weights[:count], pull)
    return running
