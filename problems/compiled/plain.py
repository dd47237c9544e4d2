"""The vectors of `instructions` as ordinary loops: every sum in the same order."""

from __future__ import annotations

from gammabar.problems.compiled.jit import in_order
from gammabar.problems.problem import Array, Floats


@in_order
def eight_sums(X: Array, w: Floats, i: int, last: int, whole: int, out: Floats) -> None:
    """out[r] = sum of X[i + r, j] w[j] over j < whole, a multiple of 16, for r < 8.

    The row `last` stands for those after it.
    """
    for r in range(8):
        x = X[min(i + r, last)]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # the lanes of a vector
        for j in range(0, whole, 4):
            s0 += x[j] * w[j]
            s1 += x[j + 1] * w[j + 1]
            s2 += x[j + 2] * w[j + 2]
            s3 += x[j + 3] * w[j + 3]
        out[r] = (s0 + s2) + (s1 + s3)
