"""Compiled core of the floating-point candidate: Wolfe's minimum-norm point on a Gram matrix.

The point of smallest norm in the convex hull of m rows is found by moving between *corrals*:
affinely independent subsets whose affine minimiser is a convex combination [1]_. With
H = G + c² 11ᵀ the affine minimiser of a corral S is q = u / Σu where H_SS u = 1, which stays
solvable when the hull contains the origin. RᵀR = H_SS is updated when a row enters (one
triangular solve) and downdated by Givens rotations when a row leaves, so a step costs O(s²).

With a free intercept rows have two sides, each of which has half the weight. Then c² is added to
products of rows of the same side only, and the affine minimiser is the combination of the two
solutions of H_SS u = (1 on one side) that gives each side its half.

Nothing here is trusted: `gammabar.oracle.proof` proves or repairs what comes out.

References
----------
.. [1] P. Wolfe (1976), Finding the nearest point in a polytope. Mathematical Programming 11.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract"}  # lets the compiler vectorise sums; no other liberties

#: A row whose distance to the affine hull of the corral is below this share of its own length
#: is numerically a combination of the others; letting it in would ruin the factor.
_DEPENDENT = 1e-13


@njit(cache=True)
def _forward(R, s, b, x):  # type: ignore[no-untyped-def]
    """Solve Rᵀ x = b for the leading s × s triangle; two rows at a time, so that x is read less."""
    for i in range(s):
        x[i] = b[i]
    for i in range(0, s - 1, 2):
        x[i] /= R[i, i]
        x[i + 1] = (x[i + 1] - R[i, i + 1] * x[i]) / R[i + 1, i + 1]
        first, second, one, other = x[i], x[i + 1], R[i], R[i + 1]
        for j in range(i + 2, s):
            x[j] -= one[j] * first + other[j] * second
    if s % 2:
        x[s - 1] /= R[s - 1, s - 1]


@njit(cache=True, fastmath=_FAST)
def backward(R, s, b, x):  # type: ignore[no-untyped-def]
    """Solve R x = b for the leading s × s triangle."""
    for i in range(s - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, s):
            total += R[i, j] * x[j]
        x[i] = (b[i] - total) / R[i, i]


@njit(cache=True, fastmath=_FAST)
def drop(Q, R, s, k):  # type: ignore[no-untyped-def]
    """Remove column k from the factor and make it triangular again; turn the rows of Q alike."""
    for i in range(s):
        for j in range(max(k, i - 1), s - 1):
            R[i, j] = R[i, j + 1]
    for i in range(k, s - 1):
        a, b = R[i, i], R[i + 1, i]
        h = np.hypot(a, b)
        c, d = a / h, b / h
        R[i, i], R[i + 1, i] = h, 0.0
        for j in range(i + 1, s - 1):
            x, y = R[i, j], R[i + 1, j]
            R[i, j], R[i + 1, j] = c * x + d * y, c * y - d * x
        one, two = Q[i], Q[i + 1]
        for j in range(len(one)):
            x, y = one[j], two[j]
            one[j], two[j] = c * x + d * y, c * y - d * x


@njit(cache=True, fastmath=_FAST)
def _add(g, at, count, rows, start, weights):  # type: ignore[no-untyped-def]
    """Add four rows, from their column `start` on, to a stretch of g, which is read less so."""
    (a, b, c, d), (u, v, w, x) = weights, rows
    for i in range(count):
        j = start + i
        g[at + i] += a * u[j] + b * v[j] + c * w[j] + d * x[j]


@njit(cache=True, fastmath=_FAST)
def _scores(G, part, S, q, s, g, side, levels):  # type: ignore[no-untyped-def]
    """g = the scores for weights q on the corral, and their mean on each side; returns ‖w‖²."""
    start, m, other, n = part
    g[:] = 0.0
    for k in range(0, s, 4):
        # Beyond the corral rows are taken with weight zero.
        k1, k2, k3 = min(k + 1, s - 1), min(k + 2, s - 1), min(k + 3, s - 1)
        i0, i1, i2, i3 = S[k], S[k1], S[k2], S[k3]
        a = q[k] if i0 < m else -q[k]
        b = 0.0 if k1 == k else (q[k1] if i1 < m else -q[k1])
        c = 0.0 if k2 == k1 else (q[k2] if i2 < m else -q[k2])
        d = 0.0 if k3 == k2 else (q[k3] if i3 < m else -q[k3])
        rows = G[_row(part, i0)], G[_row(part, i1)], G[_row(part, i2)], G[_row(part, i3)]
        _add(g, 0, m, rows, start, (a, b, c, d))
        if n:
            _add(g, m, n, rows, other, (-a, -b, -c, -d))
    square, count = 0.0, len(levels)
    levels[:] = 0.0
    for k in range(s):
        square += q[k] * g[S[k]]
        levels[side[S[k]]] += count * q[k] * g[S[k]]
    return square


@njit(cache=True)
def _row(part, i):  # type: ignore[no-untyped-def]
    """The row of the Gram matrix that the i-th row of a part is."""
    start, m, other, _ = part
    return start + i if i < m else other + i - m


@njit(cache=True)
def _product(G, part, i, j):  # type: ignore[no-untyped-def]
    """The inner product of two rows of a part, with their signs."""
    value = np.float64(G[_row(part, i), _row(part, j)])
    return value if (i < part[1]) == (j < part[1]) else -value


@njit(cache=True)
def _admit(G, part, c2, side, S, q, s, R, j, b, x):  # type: ignore[no-untyped-def]
    """Append row j to the corral; False when it depends on the rows already there."""
    for k in range(s):
        b[k] = _product(G, part, j, S[k]) + (c2 if side[S[k]] == side[j] else 0.0)
    _forward(R, s, b, x)
    own = _product(G, part, j, j) + c2
    rest = own
    for k in range(s):
        rest -= x[k] * x[k]
    if rest <= _DEPENDENT * own:
        return False
    for k in range(s):
        R[k, s] = x[k]
        R[s, k] = 0.0
    R[s, s] = np.sqrt(rest)
    S[s] = j
    q[s] = 0.0
    return True


@njit(cache=True)
def _affine(side, S, s, R, right, x, u, v, sides):  # type: ignore[no-untyped-def]
    """u = the weights of the affine minimiser, up to a factor; returns their sum."""
    for k in range(s):
        right[k] = 1.0 if sides == 1 or side[S[k]] == 0 else 0.0
    _forward(R, s, right, x)
    backward(R, s, x, u)
    if sides == 2:
        for k in range(s):
            right[k] = 1.0 - right[k]
        _forward(R, s, right, x)
        backward(R, s, x, v)
        first, both, second = 0.0, 0.0, 0.0
        for k in range(s):
            if side[S[k]] == 0:
                first += u[k]
                both += v[k]
            else:
                second += v[k]
        for k in range(s):
            u[k] = (second - both) * u[k] + (first - both) * v[k]
    total = 0.0
    for k in range(s):
        total += u[k]
    return total


@njit(cache=True)
def _settle(side, S, q, s, R, inside, right, x, u, v, sides):  # type: ignore[no-untyped-def]
    """Minor cycles: walk to the affine minimiser, dropping rows whose weight gets negative."""
    while True:
        total = _affine(side, S, s, R, right, x, u, v, sides)
        step, leaving = 1.0, -1
        for k in range(s):
            goal = u[k] / total
            if goal <= 0.0 and q[k] < step * (q[k] - goal):
                step, leaving = q[k] / (q[k] - goal), k
        for k in range(s):
            q[k] += step * (u[k] / total - q[k])
        if leaving < 0:
            return s
        inside[S[leaving]] = False
        drop(R[:, :0], R, s, leaving)
        for k in range(leaving, s - 1):
            S[k], q[k] = S[k + 1], q[k + 1]
        s -= 1


@njit(cache=True)
def _search(G, part, c2, side, S, q, s, R, sides):  # type: ignore[no-untyped-def]
    """Improve the corral (S, q) of size s until no row of the part lies below its hyperplane.

    The part (start, m, other, n) is the rows from `start` to start + m − 1 of the Gram matrix, and,
    with the opposite sign, those from `other` to other + n − 1; S and `side` count within it. Two
    classes of many are such a part, so that the Gram matrix of all of them does for every pair.
    """
    count = len(side)
    g, u, b, x = np.zeros(count), np.zeros(len(S)), np.zeros(len(S)), np.zeros(len(S))
    right, v, levels = np.ones(len(S)), np.zeros(len(S)), np.zeros(sides)
    inside, refused = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for k in range(s):
        inside[S[k]] = True
    square = _scores(G, part, S, q, s, g, side, levels)
    while s < len(S):
        j, lowest = -1, 0.0
        for i in range(count):
            if not inside[i] and not refused[i] and g[i] - levels[side[i]] < lowest:
                j, lowest = i, g[i] - levels[side[i]]
        if j < 0:
            break
        if not _admit(G, part, c2, side, S, q, s, R, j, b, x):
            refused[j] = True
            continue
        inside[j] = True
        s = _settle(side, S, q, s + 1, R, inside, right, x, u, v, sides)
        previous = square
        square = _scores(G, part, S, q, s, g, side, levels)
        if not square < previous:  # rounding has taken over: exact arithmetic goes on from here
            break
    return s


# With its signature given it is loaded from the cache when imported, not when first called.
@njit(
    "int64(float64[:,::1], float64, int64[::1], int64[::1], float64[::1], int64, float64[:,::1],"
    " int64)",
    cache=True,
)
def minimum_norm(G, c2, side, S, q, s, R, sides):  # type: ignore[no-untyped-def]
    """Improve the corral (S, q) of size s until no row of G lies below its hyperplane.

    S, q and R are updated in place; returns the new size, which equals ``len(S)`` when the
    arrays are full and the caller has to enlarge them. `side` is that of each row of G, 0 or 1.
    """
    return _search(G, (0, len(G), 0, 0), c2, side, S, q, s, R, sides)
