"""Products of small matrices that do not wake the threads of BLAS.

A product that takes a millisecond is not worth a second thread, and on a busy machine the threads
are waited for a hundred times as long. OpenBLAS uses one thread up to 2¹⁸ multiplications.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from gammabar.problems.base import Floats

_ALONE = 1 << 18
# Beyond so many multiplications threads are welcome.
_LARGE = 1 << 27


def product(a: Floats, b: Floats) -> Floats:
    """a bᵀ, in blocks that one thread does."""
    (m, width), n = a.shape, len(b)
    if not _ALONE < m * n * width <= _LARGE or width > _ALONE // 4:
        return np.asarray(a @ b.T)
    # Blocks of less than two rows would be products with a vector, which have limits of their own.
    side = max(2, isqrt(_ALONE // width))
    out = np.empty((m, n))
    for i in range(0, m, side):
        for j in range(0, n, side):
            np.matmul(a[i : i + side], b[j : j + side].T, out=out[i : i + side, j : j + side])
    return out
