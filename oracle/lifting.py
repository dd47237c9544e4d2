"""Linear systems over the integers by p-adic lifting, for matrices of small integers.

Dixon's method [1]_: with a factor of A modulo a prime p, each step gives one more p-adic digit of
the solution x of A x = b for two products of the size of A. From enough digits the rational numbers
x_i = N_i/D are reconstructed. FLINT does this for integers of any size; here the entries have 32
bits, and all sums are sums of words (550 unknowns: four times as fast).

Nothing is assumed about how many digits are enough: A N ≡ D b modulo M = pᵏ by construction, so if
no entry of A N − D b can be as large as M, which a comparison shows, then A N = D b.

References
----------
.. [1] J. D. Dixon (1982), Exact solution of linear equations using p-adic expansions. Numerische
   Mathematik 40.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from flint import fmpz, fmpz_poly
from numpy.typing import NDArray

#: Primes below powers of two, the largest first.
PRIMES = (2**27 - 39, 2**26 - 5, 2**25 - 39, 2**24 - 3, 2**23 - 15)
#: Unknowns from which on compiled code is loaded for them, and more than are tried.
MANY, MOST = 40, 4000
#: Unknowns from which on this is faster than FLINT.
FEWEST = 12


def worth_while(unknowns: int) -> bool:
    """Whether this way is the faster one."""
    there = "gammabar.oracle._lifting" in sys.modules
    return (FEWEST if there else MANY) <= unknowns <= MOST


def prime_for(A: NDArray[np.int32], largest: int) -> int | None:
    """The largest prime with which no sum overflows, where |b| ≤ `largest`.

    With n unknowns and |A_ij| ≤ m, sums of residues are at most n (p − 1)² < 2⁶⁴. What remains of b
    is at most R = max(largest, n m) in every step, as (R + n m (p − 1))/p ≤ R; so what is divided
    is at most R + n m (p − 1) ≤ n m p + largest < 2⁶³.
    """
    n, top = len(A), max(-int(A.min()), int(A.max()))
    for p in PRIMES:
        if n * (p - 1) ** 2 < 2**64 and n * top * p + largest < 2**63:
            return p
    return None


def solve(A: NDArray[np.int32], b: NDArray[np.int64]) -> tuple[list[int], int] | None:
    """N and D > 0 with A N = D b and no common divisor; None if this is not the way to find them.

    Parameters
    ----------
    A : array of shape (n, n)
        Its leading minors should not vanish.
    b : array of n integers

    Returns
    -------
    (N, D) or None
        None if A may be singular or the numbers are too large: the caller has another way.
    """
    from gammabar.oracle import _lifting

    n = len(A)
    p = prime_for(A, int(np.abs(b).max()))
    if p is None:
        return None
    lower, upper, inverses = (np.zeros(shape, np.uint32) for shape in ((n, n), (n, n), n))
    if _lifting.factor(A, p, lower, upper, inverses) < n:
        return None
    rows, rest = np.ascontiguousarray(upper.T), b.copy()
    bits = _lifting.log_determinant(A)
    if not math.isfinite(bits):
        return None
    most = 2 * _hadamard(A, b) + 64  # N and D are quotients of determinants
    parts: list[NDArray[np.int64]] = []
    wanted = min(2 * bits + 128, most)
    while True:
        have = sum(part.shape[1] for part in parts)
        digits = np.zeros((n, max(1, int(wanted / math.log2(p)) + 1 - have)), np.int64)
        _lifting.lift(A, p, lower, rows, inverses, rest, digits)
        parts.append(digits)
        found = _reconstructed(A, b, np.hstack(parts), p)
        if found is not None or wanted >= most:
            return found
        wanted = min(1.3 * wanted + 256, most)


def _hadamard(A: NDArray[np.int32], b: NDArray[np.int64]) -> float:
    """log₂ of a bound on all minors of (A, b)."""
    both = np.column_stack([A, b]).astype(np.float64)
    return float(np.log2(np.linalg.norm(both, axis=1) + 1).sum()) + 1


def _reconstructed(
    A: NDArray[np.int32], b: NDArray[np.int64], digits: NDArray[np.int64], p: int
) -> tuple[list[int], int] | None:
    """N and D from the digits of the solution, if they are enough to be certain.

    D is that of the first unknown, as a rule; it grows where another has more in its denominator.
    """
    square, modulus = fmpz(p) ** 2, fmpz(p) ** digits.shape[1]
    half = modulus // 2
    if digits.shape[1] % 2:
        digits = np.column_stack([digits, np.zeros(len(digits), np.int64)])
    pairs = digits[:, ::2] + p * digits[:, 1::2]  # below 2⁵⁴
    values = [fmpz_poly(row)(square) for row in pairs.tolist()]
    row = int(np.abs(A.astype(np.int64)).sum(axis=1).max())
    enough, total, known = half // row, fmpz(1), 0
    numerators = [fmpz(0)] * len(values)
    while known < len(values):
        part = values[known] * total % modulus
        if enough < part < modulus - enough:  # the denominator is not all of D yet
            more = _denominator(int(part), int(modulus))
            total *= more
            if more == 1 or 2 * total.bit_length() > modulus.bit_length() + 4:
                return None
            known = 0
            continue
        numerators[known] = part - modulus if part > half else part
        known += 1
    largest = max(map(abs, numerators))
    if largest * row + total * int(np.abs(b).max()) >= modulus:
        return None
    common = math.gcd(int(total), *map(int, numerators))
    return [int(v) // common for v in numerators], int(total) // common


def _denominator(value: int, modulus: int) -> int:
    """The smallest d > 0 for which d·value has a remainder that is no more than √modulus."""
    before, now = modulus, value
    left, right, bound = 0, 1, math.isqrt(modulus)
    while now > bound:
        quotient = before // now
        before, now = now, before - quotient * now
        left, right = right, left - quotient * right
    return abs(right)
