"""Products with rows of integers of eight bits, in integers of 32 bits: exact, and without BLAS.

A register holds four times as many of these as doubles, so that a pass over the data is bound by
memory. Callers see to it that no sum leaves the 32 bits. (BLAS would wake its threads for products
of this size; on a busy machine they are waited for longer than the product takes.)
"""

from __future__ import annotations

import numpy as np
from numba import int32

from gammabar.problems.compiled.jit import in_order
from gammabar.problems.problem import Array, Floats


@in_order
def dot(X: Array, w: Array, out: Floats, lo: int, hi: int) -> None:
    """out[i] = <x_i, w> for w of 16 bits, four rows at a time."""
    for i in range(lo, hi, 4):
        i1, i2, i3 = min(i + 1, hi - 1), min(i + 2, hi - 1), min(i + 3, hi - 1)
        x0, x1, x2, x3 = X[i], X[i1], X[i2], X[i3]
        s0, s1, s2, s3 = int32(0), int32(0), int32(0), int32(0)
        for j in range(len(w)):
            v = int32(w[j])
            s0 = int32(s0 + int32(x0[j]) * v)
            s1 = int32(s1 + int32(x1[j]) * v)
            s2 = int32(s2 + int32(x2[j]) * v)
            s3 = int32(s3 + int32(x3[j]) * v)
        out[i], out[i1], out[i2], out[i3] = s0, s1, s2, s3


@in_order
def products(A: Array, B: Array, out: Floats) -> None:
    """out[i, j] = <a_i, b_j>, two rows of A with four of B at a time."""
    for i in range(0, len(A), 2):
        i1 = min(i + 1, len(A) - 1)
        a0, a1 = A[i], A[i1]
        for j in range(0, len(B), 4):
            j1, j2, j3 = min(j + 1, len(B) - 1), min(j + 2, len(B) - 1), min(j + 3, len(B) - 1)
            b0, b1, b2, b3 = B[j], B[j1], B[j2], B[j3]
            s0, s1, s2, s3 = int32(0), int32(0), int32(0), int32(0)
            t0, t1, t2, t3 = int32(0), int32(0), int32(0), int32(0)
            for k in range(A.shape[1]):
                x, y = int32(a0[k]), int32(a1[k])
                u0, u1, u2, u3 = int32(b0[k]), int32(b1[k]), int32(b2[k]), int32(b3[k])
                s0, t0 = int32(s0 + x * u0), int32(t0 + y * u0)
                s1, t1 = int32(s1 + x * u1), int32(t1 + y * u1)
                s2, t2 = int32(s2 + x * u2), int32(t2 + y * u2)
                s3, t3 = int32(s3 + x * u3), int32(t3 + y * u3)
            out[i, j], out[i, j1], out[i, j2], out[i, j3] = s0, s1, s2, s3
            out[i1, j], out[i1, j1], out[i1, j2], out[i1, j3] = t0, t1, t2, t3


def room(width: int, dtype: np.dtype) -> int:
    """The largest entry of a vector whose product with any row of so many octets has 31 bits."""
    return (2**31 - 1) // (width * (128 if dtype == np.int8 else 255))
