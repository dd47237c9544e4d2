"""Compiled: the candidates of all pairs of classes on one Gram matrix, and their proofs.

Rows are in the order of their classes, so that a pair is two stretches of them; nothing is copied.
What the proof consists of, and why 64 bits are enough for it, is told in `gammabar.oracle.pairs`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gammabar.oracle._wolfe import _product, _row, _scores, _search

#: Unit roundoff of doubles; a factor that covers 1/(1 − k u) and the rounding of the bounds.
ROUNDOFF, SAFETY = 2.0**-53, 1.02
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


@njit(
    [
        f"void({kind}[:,::1], int64[::1], float64[:,::1], int64, int64[:,::1], float64[:,::1],"
        " int64[::1], float64[::1])"
        for kind in ("float32", "float64")
    ],
    cache=True,
)
def search_all(G, starts, means, sides, S, q, sizes, squares):  # type: ignore[no-untyped-def]
    """Minimum-norm points of all pairs of classes.

    Parameters
    ----------
    G : array of shape (n, n)
        Inner products of all rows, which are in the order of their classes.
    starts : array
        Where each class begins, and n.
    means : array of shape (n, classes)
        Products of the rows with the means of the classes.
    sides : int
        2 with a free intercept, 1 without.
    S, q, sizes, squares : arrays
        Results, for each pair: rows (counted within the pair) in the order of the rows, weights,
        how many, and the squared norm. A pair for which there is no room has the size zero.
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
            if not 1e-250 < c2 < 1e250:
                pair += 1
                continue
            _start(G, part, side, nearness, c2, S[pair], q[pair], R, sides)
            size = _search(G, part, c2, side, S[pair], q[pair], sides, R, sides)
            if size < room:
                order = np.argsort(S[pair, :size])
                S[pair, :size], q[pair, :size] = S[pair, :size][order], q[pair, :size][order]
                levels = np.zeros(sides)
                squares[pair] = _scores(G, part, S[pair], q[pair], size, g, side, levels) / c2
                sizes[pair] = size
            pair += 1


@njit(cache=True)
def _inverse(A, C):  # type: ignore[no-untyped-def]
    """C = A⁻¹ in doubles, by elimination with exchanges; False if a pivot is zero. A is lost."""
    n = len(A)
    C[:] = 0.0
    for i in range(n):
        C[i, i] = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if A[p, k] == 0.0:
            return False
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
                C[k, j], C[p, j] = C[p, j], C[k, j]
        pivot = 1 / A[k, k]
        for j in range(k, n):
            A[k, j] *= pivot
        for j in range(n):
            C[k, j] *= pivot
        for i in range(n):
            factor = A[i, k]
            if i != k and factor != 0.0:
                for j in range(k, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(n):
                    C[i, j] -= factor * C[k, j]
    return True


@njit(cache=True)
def _inverse_norm(A, C):  # type: ignore[no-untyped-def]
    """A proved bound of the largest row sum of |A⁻¹|, or infinity.

    With α = ‖I − C A‖ < 1 the matrix A is regular and ‖A⁻¹‖ ≤ ‖C‖/(1 − α). Entries of A are
    integers, so that nothing underflows; an entry of the product of n terms, in any order, is off
    by at most (n + 2) u times the sum of sizes.
    """
    n = len(A)
    worst, norm = 0.0, 0.0
    line, sizes = np.zeros(n), np.zeros(n)
    for i in range(n):
        line[:], sizes[:] = 0.0, 0.0
        own = 0.0
        for k in range(n):
            c = C[i, k]
            own += abs(c)
            for j in range(n):
                line[j] += c * A[k, j]
                sizes[j] += abs(c * A[k, j])
        line[i] -= 1.0
        total = 0.0
        for j in range(n):
            total += abs(line[j]) + (n + 2) * ROUNDOFF * SAFETY * (sizes[j] + 1.0)
        worst, norm = max(worst, total * SAFETY), max(norm, own * SAFETY)
    return norm / (1 - worst) * SAFETY if worst < 0.5 else np.inf


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
            digits[k, i] = np.int64(np.rint(y[i] * scale))
            if abs(digits[k, i]) > 1 << BITS:
                return False
        for i in range(n):
            total = r[i] << shift
            for j in range(n):
                total -= A[i, j] * digits[k, j]
            r[i] = total
        shifts[k] = shift
    return True


@njit(cache=True)
def _prove(G, part, sides, S, digits, shifts, rough, error):  # type: ignore[no-untyped-def]
    """Whether the corral S is proved to be the support of the pair; its weights and levels.

    `rough` gets the solution in doubles, `error` what the digits may be off by, in units of the
    last one.
    """
    s, (_, m, _, n) = len(S), part
    size = s + sides
    A, D, C = np.zeros((size, size), np.int64), np.zeros((size, size)), np.zeros((size, size))
    largest = 0.0
    for i in range(m + n):
        largest = max(largest, _product(G, part, i, i))
    for i in range(s):
        side = sides - 1 if S[i] < m else 0
        A[i, s + side], A[s + side, i] = -1, 1
        for j in range(s):
            A[i, j] = np.int64(_product(G, part, S[i], S[j]))
    for i in range(size):
        for j in range(size):
            D[i, j] = np.float64(A[i, j])
    copy = D.copy()
    if not _inverse(copy, C):
        return False
    bound = _inverse_norm(D, C)
    r = np.zeros(size, np.int64)
    r[s:] = 1
    if not bound < 2.0**60 or not _digits(A, C, r, digits, shifts):
        return False
    left = 0.0
    for i in range(size):
        left = max(left, abs(np.float64(r[i])))
    error[0] = left * bound * SAFETY
    unit, off = 2.0 ** -np.sum(shifts), 0.0
    # The sum of terms in doubles, and all that it may be off by.
    for i in range(size):
        place, value, total = 0, 0.0, 0.0
        for k in range(len(digits)):
            place += shifts[k]
            value += digits[k, i] * 2.0**-place
            total += abs(digits[k, i] * 2.0**-place)
        wrong = (len(digits) * ROUNDOFF * total + error[0] * unit) * SAFETY
        rough[i] = value
        if i < s and not value > wrong:
            return False
        off = max(off, wrong)
    # |⟨a_i, a_j⟩| ≤ largest, and the weights, times `sides`, have the sum `sides`.
    slack = (largest * (s * off + (s + 8) * ROUNDOFF * sides) + off) * SAFETY
    g, inside = np.zeros(m + n), np.zeros(m + n, np.bool_)
    side, levels = np.zeros(m + n, np.int64), np.zeros(sides)
    _scores(G, part, S, rough, s, g, side, levels)
    for k in range(s):
        inside[S[k]] = True
    for i in range(m + n):
        level = rough[s + (sides - 1 if i < m else 0)]
        if not inside[i] and not g[i] - level > slack + 4 * ROUNDOFF * abs(level):
            return False
    return True


@njit(
    [
        f"void({kind}[:,::1], int64[::1], int64, int64[:,::1], int64[::1], int64[:,:,::1],"
        " int64[:,::1], float64[:,::1], float64[::1], boolean[::1])"
        for kind in ("float32", "float64")
    ],
    cache=True,
)
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
