"""Compiled core of the floating-point candidate: Wolfe's minimum-norm point on a Gram matrix.

The point of smallest norm in the convex hull of m rows is found by moving between *corrals*:
affinely independent subsets whose affine minimiser is a convex combination [1]_. With
H = G + c² 11ᵀ the affine minimiser of a corral S is q = u / Σu where H_SS u = 1, which stays
solvable when the hull contains the origin. RᵀR = H_SS is updated when a row enters (one
triangular solve) and downdated by Givens rotations when a row leaves, so a step costs O(s²).

With a free intercept rows have two sides, each of which has half the weight. Then c² is added to
products of rows of the same side only, and the affine minimiser is the combination of the two
solutions of H_SS u = (1 on one side) that gives each side its half.

Nothing here is trusted: `gammabar.oracle.exact` proves or repairs what comes out.

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
DEPENDENT = 1e-13


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
def _backward(R, s, b, x):  # type: ignore[no-untyped-def]
    """Solve R x = b for the leading s × s triangle."""
    for i in range(s - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, s):
            total += R[i, j] * x[j]
        x[i] = (b[i] - total) / R[i, i]


@njit(cache=True)
def _drop(R, s, k):  # type: ignore[no-untyped-def]
    """Remove column k from the factor and make it triangular again."""
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


@njit(cache=True, fastmath=_FAST)
def _scores(G, S, q, s, g, side, levels):  # type: ignore[no-untyped-def]
    """g = G q for weights q on the corral, and its mean on each side; returns qᵀ G q."""
    m = G.shape[0]
    for i in range(m):
        g[i] = 0.0
    for k in range(0, s - s % 4, 4):  # four rows at a time, so that g is read less
        a, b, c, d = q[k], q[k + 1], q[k + 2], q[k + 3]
        u, v, w, x = G[S[k]], G[S[k + 1]], G[S[k + 2]], G[S[k + 3]]
        for i in range(m):
            g[i] += a * u[i] + b * v[i] + c * w[i] + d * x[i]
    for k in range(s - s % 4, s):
        weight, row = q[k], G[S[k]]
        for i in range(m):
            g[i] += weight * row[i]
    square, count = 0.0, len(levels)
    levels[:] = 0.0
    for k in range(s):
        square += q[k] * g[S[k]]
        levels[side[S[k]]] += count * q[k] * g[S[k]]
    return square


@njit(cache=True)
def _admit(G, c2, side, S, q, s, R, j, b, x):  # type: ignore[no-untyped-def]
    """Append row j to the corral; False when it depends on the rows already there."""
    for k in range(s):
        b[k] = G[j, S[k]] + (c2 if side[S[k]] == side[j] else 0.0)
    _forward(R, s, b, x)
    rest = G[j, j] + c2
    for k in range(s):
        rest -= x[k] * x[k]
    if rest <= DEPENDENT * (G[j, j] + c2):
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
    _backward(R, s, x, u)
    if sides == 2:
        for k in range(s):
            right[k] = 1.0 - right[k]
        _forward(R, s, right, x)
        _backward(R, s, x, v)
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
        _drop(R, s, leaving)
        for k in range(leaving, s - 1):
            S[k], q[k] = S[k + 1], q[k + 1]
        s -= 1


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
    m = G.shape[0]
    g, u, b, x = np.zeros(m), np.zeros(len(S)), np.zeros(len(S)), np.zeros(len(S))
    right, v, levels = np.ones(len(S)), np.zeros(len(S)), np.zeros(sides)
    inside, refused = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    for k in range(s):
        inside[S[k]] = True
    square = _scores(G, S, q, s, g, side, levels)
    while s < len(S):
        j, lowest = -1, 0.0
        for i in range(m):
            if not inside[i] and not refused[i] and g[i] - levels[side[i]] < lowest:
                j, lowest = i, g[i] - levels[side[i]]
        if j < 0:
            break
        if not _admit(G, c2, side, S, q, s, R, j, b, x):
            refused[j] = True
            continue
        inside[j] = True
        s = _settle(side, S, q, s + 1, R, inside, right, x, u, v, sides)
        previous = square
        square = _scores(G, S, q, s, g, side, levels)
        if not square < previous:  # rounding has taken over: exact arithmetic goes on from here
            break
    return s
