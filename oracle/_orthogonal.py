"""Compiled core of the second candidate: the minimum-norm point by orthogonal factors of the rows.

A Gram matrix holds squares. Where γ̄ is 10⁻⁹ of the radius, γ̄² is 10⁻¹⁸ of its entries and drowns
in their rounding. Here the rows themselves are factored, and γ̄ is as visible as 10⁻⁹ is in doubles.

Rows a_i of side k are *lifted* to â_i = (a_i, c e_k). Let Âᵀ = Q R be the lifted rows of a corral,
Q with orthonormal columns, and r_k the part of e_{d+k} that is orthogonal to them. Then
R u_k = Qᵀ e_{d+k} / c are the weights with Âᵀ u_k = (e_{d+k} − r_k) / c, and the affine minimiser
is the combination u = Σ α_k u_k whose weights have the same sum on every side. With ρ = Σ α_k r_k
it has w = −ρ / c on the first d coordinates, and for every row

    ⟨a_i, w⟩ − (level of its side) = −⟨â_i, ρ⟩ / c,

as ⟨â_i, ρ⟩ = 0 on the corral. So one product per row tells which rows are below their level. For
one side this is the method of Lawson and Hanson for min ‖Âᵀu − e‖ over u ≥ 0 [1]_; it takes the
steps of Wolfe's [2]_.

Nothing here is trusted: `gammabar.oracle.proof` proves or repairs what comes out.

References
----------
.. [1] C. L. Lawson and R. J. Hanson (1974), Solving Least Squares Problems, chapter 23.
.. [2] P. Wolfe (1976), Finding the nearest point in a polytope. Mathematical Programming 11.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract"}  # lets the compiler vectorise sums; no other liberties

#: Sines of the angle between a row and the corral's span (or of e with it) that are rounding.
_DEPENDENT, _ZERO = 1e-12, 1e-14
#: ⟨â_i, ρ⟩ relative to both lengths: below that a row is on its level as far as doubles tell.
LEVEL = 1e-13


@njit(cache=True, fastmath=_FAST)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True, fastmath=_FAST)
def _orthogonalise(Q, s, v, x):  # type: ignore[no-untyped-def]
    """Take from v its part in the span of the rows Q[:s], twice, which is enough; x = that part."""
    for k in range(s):
        x[k] = 0.0
    for _ in range(2):
        for k in range(s):
            row = Q[k]
            t = _dot(row, v)
            x[k] += t
            for i in range(len(v)):
                v[i] -= t * row[i]


@njit(cache=True, fastmath=_FAST)
def _admit(A, Q, R, S, q, s, j, x):  # type: ignore[no-untyped-def]
    """Append row j to the corral; False when it depends on the rows already there."""
    v = Q[s]
    v[:] = A[j]
    before = np.sqrt(_dot(v, v))
    _orthogonalise(Q, s, v, x)
    rest = np.sqrt(_dot(v, v))
    if not rest > _DEPENDENT * before:
        return False
    for i in range(len(v)):
        v[i] /= rest
    for k in range(s):
        R[k, s] = x[k]
        R[s, k] = 0.0
    R[s, s] = rest
    S[s], q[s] = j, 0.0
    return True


@njit(cache=True, fastmath=_FAST)
def _drop(Q, R, s, k):  # type: ignore[no-untyped-def]
    """Remove column k from the factors and make R triangular again."""
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
def _weights(Q, R, s, d, sides, c, u):  # type: ignore[no-untyped-def]
    """u[k] = the solution of R u = Qᵀ e_{d+k} / c, by back substitution."""
    for k in range(sides):
        for i in range(s - 1, -1, -1):
            u[k, i] = (Q[i, d + k] / c - _dot(R[i, i + 1 : s], u[k, i + 1 : s])) / R[i, i]


@njit(cache=True)
def _affine(Q, R, side, S, s, d, sides, c, u):  # type: ignore[no-untyped-def]
    """u[0] = the weights of the affine minimiser, with sum 1/sides on each side; returns α."""
    _weights(Q, R, s, d, sides, c, u)
    total = np.zeros((2, 2))
    for k in range(sides):
        for i in range(s):
            total[k, side[S[i]]] += u[k, i]
    alpha = np.zeros(2)
    if sides == 1:
        alpha[0] = 1.0 / total[0, 0]
        for i in range(s):
            u[0, i] *= alpha[0]
        return alpha
    det = 2 * (total[0, 0] * total[1, 1] - total[0, 1] * total[1, 0])
    alpha[0] = (total[1, 1] - total[1, 0]) / det
    alpha[1] = (total[0, 0] - total[0, 1]) / det
    for i in range(s):
        u[0, i] = alpha[0] * u[0, i] + alpha[1] * u[1, i]
    return alpha


@njit(cache=True)
def _settle(Q, R, side, S, q, s, d, sides, c, u, inside):  # type: ignore[no-untyped-def]
    """Minor cycles: walk to the affine minimiser, dropping rows whose weight gets negative."""
    while True:
        alpha = _affine(Q, R, side, S, s, d, sides, c, u)
        step, leaving = 1.0, -1
        for k in range(s):
            goal = u[0, k]
            if goal <= 0.0 and q[k] < step * (q[k] - goal):
                step, leaving = q[k] / (q[k] - goal), k
        for k in range(s):
            q[k] += step * (u[0, k] - q[k])
        if leaving < 0:
            return s, alpha
        q[leaving] = 0.0
        inside[S[leaving]] = False
        _drop(Q, R, s, leaving)
        for k in range(leaving, s - 1):
            S[k], q[k] = S[k + 1], q[k + 1]
        s -= 1


@njit(cache=True, fastmath=_FAST)
def _across(Q, s, d, sides, alpha, rho, v, x):  # type: ignore[no-untyped-def]
    """ρ = Σ α_k r_k; returns the length of its first d coordinates and its own."""
    rho[:] = 0.0
    for k in range(sides):
        v[:] = 0.0
        v[d + k] = 1.0
        _orthogonalise(Q, s, v, x)
        for i in range(len(v)):
            rho[i] += alpha[k] * v[i]
    return np.sqrt(_dot(rho[:d], rho[:d])), np.sqrt(_dot(rho, rho))


@njit(cache=True)
def refactor(A, Q, R, S, q, s):  # type: ignore[no-untyped-def]
    """Factors of the rows S[:s] in their order, without those that depend on earlier ones."""
    x = np.zeros(len(S) + 1)
    kept = 0
    for k in range(s):
        weight = q[k]
        if _admit(A, Q, R, S, q, kept, S[k], x):
            q[kept] = weight
            kept += 1
    return kept


@njit(cache=True)
def nearest(A, norms, side, sides, c, S, q, s, Q, R, rho):  # type: ignore[no-untyped-def]
    """Minimum-norm point of the lifted rows A, from the corral S with factors Q, R.

    Overwrites S, q, Q, R and ρ; returns (size of the corral, ‖w‖, whether that is zero as far as
    doubles tell).
    """
    m, D = A.shape
    d = D - sides
    x, v, u = np.zeros(len(Q)), np.zeros(D), np.zeros((sides, len(Q)))
    inside, refused = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    for k in range(s):
        inside[S[k]] = True
    s, alpha = _settle(Q, R, side, S, q, s, d, sides, c, u, inside)
    short, length = _across(Q, s, d, sides, alpha, rho, v, x)
    while s < len(Q) - 1:
        if short <= _ZERO * np.abs(alpha).max():
            return s, short / c, True
        j, highest = -1, LEVEL * length
        for i in range(m):
            if not inside[i] and not refused[i]:
                g = _dot(A[i], rho) / norms[i]
                if g > highest:
                    j, highest = i, g
        if j < 0:
            break
        if not _admit(A, Q, R, S, q, s, j, x):
            refused[j] = True
            continue
        inside[j] = True
        s, alpha = _settle(Q, R, side, S, q, s + 1, d, sides, c, u, inside)
        previous = short
        short, length = _across(Q, s, d, sides, alpha, rho, v, x)
        if not short < previous:
            break
    return s, short / c, False
