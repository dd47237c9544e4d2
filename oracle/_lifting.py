"""Compiled loops of `gammabar.oracle.lifting`: a factor modulo a prime, and digits of a solution.

Sums of products are taken in words of 64 bits and reduced once: `lifting.prime_for` chooses the
prime such that none of them overflows.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _sum(a, b, n):  # type: ignore[no-untyped-def]
    """Σ a_k b_k of residues, below 2⁶⁴."""
    total = np.uint64(0)
    for k in range(n):
        total += np.uint64(a[k]) * np.uint64(b[k])
    return total


@njit(cache=True)
def _inverse(a, p):  # type: ignore[no-untyped-def]
    """a⁻¹ modulo the prime p, by Fermat's theorem."""
    result, e = np.uint64(1), p - np.uint64(2)
    while e:
        if e & np.uint64(1):
            result = result * a % p
        a = a * a % p
        e >>= np.uint64(1)
    return result


# With their signatures given they are loaded from the cache when imported.
@njit(
    "int64(int32[:,::1], uint64, uint32[:,::1], uint32[:,::1], uint32[::1])",
    cache=True,
)
def factor(A, p, lower, upper, inverses):  # type: ignore[no-untyped-def]
    """A = L U modulo p, without exchanges: the strict rows of L, the columns of U, and 1/U_ii.

    Returns how many pivots were found; fewer than rows if one is zero.
    """
    n, q = len(A), np.int64(p)
    for i in range(n):
        for j in range(i):
            value = np.uint64(A[i, j] % q) + p - _sum(lower[i], upper[j], j) % p
            lower[i, j] = np.uint32(value % p * np.uint64(inverses[j]) % p)
        for j in range(i, n):
            value = np.uint64(A[i, j] % q) + p - _sum(lower[i], upper[j], i) % p
            upper[j, i] = np.uint32(value % p)
        if upper[i, i] == 0:
            return i
        inverses[i] = np.uint32(_inverse(np.uint64(upper[i, i]), p))
    return n


@njit(
    "void(int32[:,::1], uint64, uint32[:,::1], uint32[:,::1], uint32[::1], int64[::1],"
    " int64[:,::1])",
    cache=True,
)
def lift(A, p, lower, rows, inverses, rest, digits):  # type: ignore[no-untyped-def]
    """Digits of the p-adic solution of A x = rest, one column each; `rest` is what remains.

    x = c + p x' with A c = rest modulo p, and A x' = (rest − A c)/p, which is whole. `rows` are
    those of U.
    """
    n, q = len(A), np.int64(p)
    y, c, signed = np.zeros(n, np.uint32), np.zeros(n, np.uint32), np.zeros(n, np.int32)
    for k in range(digits.shape[1]):
        for i in range(n):
            y[i] = np.uint32((np.uint64(rest[i] % q) + p - _sum(lower[i], y, i) % p) % p)
        for i in range(n - 1, -1, -1):
            value = _sum(rows[i, i + 1 :], c[i + 1 :], n - 1 - i) % p
            value = (np.uint64(y[i]) + p - value) % p
            c[i] = np.uint32(value * np.uint64(inverses[i]) % p)
        for i in range(n):
            signed[i] = np.int32(c[i])
            digits[i, k] = np.int64(c[i])
        for i in range(n):
            total = np.int64(0)
            for j in range(n):
                total += np.int64(A[i, j]) * np.int64(signed[j])
            rest[i] = (rest[i] - total) // q


@njit("float64(int32[:,::1])", cache=True, fastmath={"reassoc", "contract"})
def log_determinant(A):  # type: ignore[no-untyped-def]
    """log₂ |det A| in doubles, without exchanges; nothing hangs on it but how long one lifts."""
    n, total = len(A), 0.0
    lower, upper = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            value = 0.0
            for k in range(j):
                value += lower[i, k] * upper[j, k]
            lower[i, j] = (A[i, j] - value) / upper[j, j]
        for j in range(i, n):
            value = 0.0
            for k in range(i):
                value += lower[i, k] * upper[j, k]
            upper[j, i] = A[i, j] - value
        if upper[i, i] == 0.0:
            return np.inf
        total += np.log2(np.abs(upper[i, i]))
    return total
