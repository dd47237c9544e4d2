"""The eigenvalue bound of light certificates is below every eigenvalue, however near it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from loaded_checker import checker


def definite(matrix: list[list[int]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by elimination in fractions."""
    rows = [[Fraction(v) for v in row] for row in matrix]
    for k, pivot in enumerate(rows):
        if pivot[k] < 0 or (pivot[k] == 0 and any(pivot[k:])):
            return False
        for row in rows[k + 1 :] if pivot[k] else ():
            factor = row[k] / pivot[k]
            row[k:] = [a - factor * b for a, b in zip(row[k:], pivot[k:], strict=True)]
    return True


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_bound_is_below_every_eigenvalue(size: int):
    rng, near = np.random.default_rng(size), 0
    for _ in range(40):
        A = rng.integers(-9, 10, (size, size + 1))
        M = (A @ A.T).tolist()
        least = float(np.linalg.eigvalsh(np.array(M, dtype=float))[0])
        for off in (sign * Fraction(1, 2**k) for sign in (-1, 1) for k in range(8, 60, 2)):
            about = Fraction(least) * (1 + off)  # a little too much may pass, by its rounding
            lower = [row[: i + 1] for i, row in enumerate(M)]
            try:
                bound, scale = checker.least_eigenvalue(lower, about, checker.Budget(60))
            except checker.Rejected:
                continue
            shifted = [[scale * v for v in row] for row in M]
            for i in range(size):
                shifted[i][i] -= bound
            assert definite(shifted)
            near += 1
    assert near > 200
