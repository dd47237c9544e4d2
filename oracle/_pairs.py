"""Compiled: the candidates of all pairs of classes on one Gram matrix, and their proofs.

Rows are in the order of their classes, so that a pair is two stretches of them; nothing is copied.
What the proof consists of, and why 64 bits are enough for it, see `gammabar.oracle.one_vs_one`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gammabar.oracle._wolfe import _product, _row, _scores, _search

#: Unit roundoff of doubles; a factor that covers 1/(1 − k u) and the rounding of the bounds.
_ROUNDOFF, _SAFETY = 2.0**-53, 1.02
#: What sums of underflowed products may add for each product, twice.
_UNDERFLOW = 2.0**-1073
#: Bits of a digit of the solution.
BITS = 24
#: No integer of the proof is larger than this.
LIMIT = 2.0**61


@njit(cache=True)
def _start(G, part, side, nearness, c2, S, q, R, sides):  # type: ignore[no-untyped-def]
    """The corral of the row of each side that lies lowest, and its factor."""
    for k in range(sides):
        lowest = np.inf
        for i in range(len(side)):
            if side[i] == k and nearness[i] < lowest:
                S[k], lowest = i, nearness[i]
        q[k] = 1 / sides
    R[0, 0] = np.sqrt(_product(G, part, S[0], S[0]) + c2)
    if sides == 2:
        R[0, 1] = _product(G, part, S[0], S[1]) / R[0, 0]
        R[1, 1] = np.sqrt(_product(G, part, S[1], S[1]) + c2 - R[0, 1] ** 2)


@njit(cache=True)
def _sort(S, q, size):  # type: ignore[no-untyped-def]
    """Put the rows of a corral in order, and their weights with them."""
    for k in range(1, size):
        row, weight, i = S[k], q[k], k
        while i > 0 and S[i - 1] > row:
            S[i], q[i] = S[i - 1], q[i - 1]
            i -= 1
        S[i], q[i] = row, weight


# Compiled for one type of Gram matrix only, if that is all that is met.
@njit(cache=True)
def search_all(G, starts, means, sides, S, q, sizes, squares):  # type: ignore[no-untyped-def]
    """Minimum-norm points of all pairs of classes; `starts` says where each begins, and n.

    G has the inner products of all rows, `means` their products with the means of the classes;
    there are two sides with a free intercept. S, q, sizes and squares are results, for each pair:
    rows (counted within the pair) in order, weights, how many, and the squared norm. A pair for
    which there is no room has the size zero.
    """
    classes, room = len(starts) - 1, S.shape[1]
    R = np.zeros((room, room))
    pair = 0
    for a in range(classes):
        for b in range(a + 1, classes):
            m, n = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
            part = starts[a], m, starts[b], n
            side, g, nearness = np.zeros(m + n, np.int64), np.zeros(m + n), np.zeros(m + n)
            side[:m] = sides - 1
            share = 0.5 if sides == 2 else m / (m + n)
            c2 = 0.0
            for i in range(m + n):
                row = _row(part, i)
                nearness[i] = share * means[row, a] - (1 - share) * means[row, b]
                if i >= m:
                    nearness[i] = -nearness[i]
                c2 = max(c2, np.float64(G[row, row]))
            if not 1e-120 < c2 < 1e120:  # products of two entries stay within the doubles
                pair += 1
                continue
            _start(G, part, side, nearness, c2, S[pair], q[pair], R, sides)
            size = _search(G, part, c2, side, S[pair], q[pair], sides, R, sides)
            if size < room:
                _sort(S[pair], q[pair], size)
                levels = np.zeros(sides)
                squares[pair] = _scores(G, part, S[pair], q[pair], size, g, side, levels) / c2
                sizes[pair] = size
            pair += 1


@njit(cache=True)
def inverse_bound(A, R):  # type: ignore[no-untyped-def]
    """Proved bounds (α, N) of ‖I − R A‖ and ‖A⁻¹‖, for any R; infinite if α < ½ is not sure.

    Notes
    -----
    The product R A of m terms, in any order of summation and with or without fused operations, has
    entries that are off by at most (m + 1) u (|R| |A|)_ij and what underflows, and subtracting one
    adds a rounding. All bounds are sums of non-negative numbers, whose own rounding _SAFETY covers.
    Comparisons are such that NaN fails them.
    """
    m = len(A)
    sizes = np.abs(R)
    lost = (m + 2) * _ROUNDOFF * np.abs(A).sum(axis=1)
    off = np.abs(R @ A - np.eye(m)).sum(axis=1) + sizes @ lost
    rows = (off + m * (_UNDERFLOW * m + _ROUNDOFF)) * _SAFETY
    norms = sizes.sum(axis=1) * _SAFETY
    if not ((rows < 0.5).all() and (norms < np.inf).all()):
        return np.inf, np.inf
    alpha = rows.max()
    return alpha, norms.max() / (1 - alpha) * _SAFETY


@njit(cache=True)
def _digits(A, C, r, digits, shifts):  # type: ignore[no-untyped-def]
    """Digits of the solution of A x = r, most significant first; r is what remains.

    x = Σ_k digits_k / 2^(shifts_0 + … + shifts_k) + A⁻¹ r / 2^(the sum of all shifts), exactly.
    Returns False if an integer might leave the 64 bits.
    """
    n = len(A)
    rows = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(np.float64(A[i, j]))
        rows = max(rows, total)
    if not rows * 2.0**BITS < LIMIT:
        return False
    y = np.zeros(n)
    for k in range(len(digits)):
        top, left = 0.0, 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += C[i, j] * np.float64(r[j])
            y[i] = total
            top, left = max(top, abs(total)), max(left, abs(np.float64(r[i])))
        if left == 0.0:  # nothing remains: all further digits are zero
            shifts[k] = 1
            continue
        if not top > 0.0:
            return False
        shift = BITS - 1 - int(np.floor(np.log2(top)))
        if shift < 1 or shift > 60 or not left * 2.0**shift < LIMIT:
            return False
        scale = 2.0**shift
        for i in range(n):
            digit = np.rint(y[i] * scale)
            if not abs(digit) <= 2.0**BITS:  # before it becomes an integer, which may wrap
                return False
            digits[k, i] = np.int64(digit)
        for i in range(n):
            total = r[i] << shift
            for j in range(n):
                total -= A[i, j] * digits[k, j]
            r[i] = total
        shifts[k] = shift
    return True


@njit(
    "float64(int64[:,::1], int64, int64[:,::1], int64[::1], float64[::1], float64[::1])", cache=True
)
def _solve_one(A, s, digits, shifts, rough, error):  # type: ignore[no-untyped-def]
    """The weights and levels of a corral of s rows, whose system A is; −1 if they are not proved.

    They are proved if the system is regular and all weights are positive. `rough` gets the solution
    in doubles, which are off by no more than what is returned; `error` what the digits may be off
    by, in units of the last one.
    """
    size = len(A)
    D = A.astype(np.float64)
    try:
        C = np.linalg.inv(D)
    except Exception:  # singular
        return -1.0
    _, bound = inverse_bound(D, C)
    r = np.zeros(size, np.int64)
    r[s:] = 1
    if not bound < 2.0**60 or not _digits(A, C, r, digits, shifts):
        return -1.0
    left = 0.0
    for i in range(size):
        left = max(left, abs(np.float64(r[i])))
    error[0] = left * bound * _SAFETY
    unit, off = 2.0 ** -np.sum(shifts), 0.0
    # The sum of terms in doubles, and all that it may be off by.
    for i in range(size):
        place, value, total = 0, 0.0, 0.0
        for k in range(len(digits)):
            place += shifts[k]
            value += digits[k, i] * 2.0**-place
            total += abs(digits[k, i] * 2.0**-place)
        wrong = (len(digits) * _ROUNDOFF * total + error[0] * unit) * _SAFETY
        rough[i] = value
        if i < s and not value > wrong:
            return -1.0
        off = max(off, wrong)
    return off


@njit(cache=True)
def _prove(G, part, sides, S, digits, shifts, rough, error):  # type: ignore[no-untyped-def]
    """Whether the corral S is proved to be the support of the pair; its weights and levels."""
    s, (_, m, _, n) = len(S), part
    A = np.zeros((s + sides, s + sides), np.int64)
    largest = 0.0
    for i in range(m + n):
        largest = max(largest, _product(G, part, i, i))
    for i in range(s):
        side = sides - 1 if S[i] < m else 0
        A[i, s + side], A[s + side, i] = -1, 1
        for j in range(s):
            A[i, j] = np.int64(_product(G, part, S[i], S[j]))
    off = _solve_one(A, s, digits, shifts, rough, error)
    if off < 0.0:
        return False
    # |⟨a_i, a_j⟩| ≤ largest, and the weights, times `sides`, have the sum `sides`.
    slack = (largest * (s * off + (s + 8) * _ROUNDOFF * sides) + off) * _SAFETY
    g, inside = np.zeros(m + n), np.zeros(m + n, np.bool_)
    side, levels = np.zeros(m + n, np.int64), np.zeros(sides)
    _scores(G, part, S, rough, s, g, side, levels)
    for k in range(s):
        inside[S[k]] = True
    for i in range(m + n):
        level = rough[s + (sides - 1 if i < m else 0)]
        if not inside[i] and not g[i] - level > slack + 4 * _ROUNDOFF * abs(level):
            return False
    return True


@njit(cache=True)
def prove_all(G, starts, sides, S, sizes, digits, shifts, rough, errors, proved):  # type: ignore[no-untyped-def]
    """Which supports are proved, and digits of the solutions of their systems.

    G has integers, exactly; S, sizes and starts are as in `search_all`. Of a pair, digits_k,i is
    that of weight i, or after the weights of a level.
    """
    classes = len(starts) - 1
    pair = 0
    for a in range(classes):
        for b in range(a + 1, classes):
            part = starts[a], starts[a + 1] - starts[a], starts[b], starts[b + 1] - starts[b]
            s = sizes[pair]
            if s > 0:
                error = errors[pair : pair + 1]
                proved[pair] = _prove(
                    G, part, sides, S[pair, :s], digits[pair], shifts[pair], rough[pair], error
                )
            pair += 1


@njit(
    "void(float64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[:,:,::1], float64[:,:,::1],"
    " float64[:,::1])",
    cache=True,
)
def combine_all(X, starts, S, sizes, digits, vectors, weights):  # type: ignore[no-untyped-def]
    """Σ y_i digits_k,i x_i over the support of each pair, for every digit, and Σ |x_i|.

    Whether doubles hold such sums of integers is for the caller to see to.
    """
    classes = len(starts) - 1
    pair = 0
    for a in range(classes):
        for b in range(a + 1, classes):
            part = starts[a], starts[a + 1] - starts[a], starts[b], starts[b + 1] - starts[b]
            for i in range(sizes[pair]):
                x = X[_row(part, S[pair, i])]
                for j in range(len(x)):
                    weights[pair, j] += abs(x[j])
                for k in range(digits.shape[1]):
                    digit = np.float64(digits[pair, k, i])
                    if S[pair, i] >= part[1]:
                        digit = -digit
                    for j in range(len(x)):
                        vectors[pair, k, j] += digit * x[j]
            pair += 1
