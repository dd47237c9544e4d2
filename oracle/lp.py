"""Margins in ℓ_q: max_{‖w‖_q ≤ 1} min_i ⟨a_i, w⟩ = min_{p ∈ Δ} ‖Aᵀp‖_{q*}, 1/q + 1/q* = 1.

Whatever w ≠ 0 and p ∈ Δ are, min_i ⟨a_i, w⟩/‖w‖_q is at most the margin and ‖Aᵀp‖_{q*} at least:
the two enclose it, and w and p are the certificate. A floating-point method proposes them; both
sides are then evaluated on the rows as they are (`bounds`), in balls. For q = ∞, a linear
programme, they are evaluated in rationals: w and p are the vertices that the floating-point
solution is near to, solved for exactly, and where both sides are equal they are the margin. For
q = 2 the maximum-margin oracle is exact, and for q = 1 `gammabar.oracle.l1`.

>>> found = solve_lq([[1, 0], [0, 1]], 1.5)
>>> abs(float(found.low) - 2 ** (-2 / 3)) < 1e-9, found.high - found.low < 1e-9
(True, True)
>>> found = solve_lq([[3, 1], [0, 1]], float("inf"))
>>> found.low == found.high == 1
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.typing import NDArray

from gammabar.problems import ProblemError

Floats = NDArray[np.float64]
#: Bits with which both sides are evaluated.
_BITS = 128
_STEPS = 200
#: What counts as tight in a floating-point vertex, and the largest system solved in rationals.
_NEAR, _LARGEST = 1e-9, 200


@dataclass(frozen=True)
class LqTruth:
    """An enclosure of the ℓ_q margin: min_i ⟨a_i, w⟩/‖w‖_q (at least 0) and ‖Aᵀp‖_{q*}.

    They are balls, or fractions for q = ∞; w and p ≥ 0 are taken for exact.
    """

    q: float
    low: Any
    high: Any
    w: Sequence[Any]
    p: Sequence[Any]


def solve_lq(rows: Sequence[Sequence[float]] | Floats, q: float) -> LqTruth:
    """Enclose the ℓ_q margin of rows, 1 < q ≤ ∞."""
    A = np.asarray(rows, dtype=np.float64)
    if not q > 1:
        raise ProblemError(f"the exponent q must be above 1, not {q!r}")
    scaled = A / max(float(np.abs(A).max()), 1e-300)  # for the proposal alone
    w: Any
    p: Any
    if q == np.inf:
        w, p = _vertices(A, scaled, *_programme(scaled))
    else:
        p = _propose(scaled, q)
        w = _dual_map(scaled.T @ p, q / (q - 1))
    low, high = bounds(A, q, w, p)
    return LqTruth(q, low, high, w, p)


def bounds(A: Floats, q: float, w: Sequence[Any], p: Sequence[Any]) -> tuple[Any, Any]:
    """Both sides of weak duality for w and p ≥ 0: in balls, for q = ∞ in rationals."""
    before, ctx.prec = ctx.prec, _BITS
    exact = q == np.inf
    kind: Any = Fraction if exact else arb
    try:
        w, p = [kind(v) for v in w], [kind(v) for v in p]
        scores = [_dot(map(kind, row), w) for row in A.tolist()]
        columns = [_dot(map(kind, column), p) / sum(p) for column in A.T.tolist()]
        if exact:
            return max(min(scores) / (max(map(abs, w)) or 1), Fraction(0)), sum(map(abs, columns))
        least = min(scores, key=lambda s: float(s.lower()))
        low = least / _norm(w, q) if least > 0 else arb(0)
        return low, _norm(columns, q / (q - 1))
    finally:
        ctx.prec = before


def _dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _norm(values: list[Any], q: float) -> Any:
    return sum((abs(v) ** arb(q) for v in values if not v.is_zero()), arb(0)) ** (1 / arb(q))


def _dual_map(g: Floats, r: float) -> Floats:
    """∇‖g‖_r, whose ℓ_q norm is one."""
    size = float(np.abs(g).max(initial=0.0))
    if not size:
        return g
    scaled = np.abs(g / size)
    return np.asarray(np.sign(g) * scaled ** (r - 1) / np.sum(scaled**r) ** ((r - 1) / r))


def _programme(A: Floats) -> tuple[Floats, Floats]:
    """w with |w_j| ≤ 1 that maximises the least score, and the weights of the rows."""
    from scipy.optimize import linprog

    n, d = A.shape
    found = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.hstack([-A, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * d + [(None, None)],
    )
    p = np.maximum(-found.ineqlin.marginals, 0.0)
    return found.x[:d], p / p.sum()


def _vertices(A: Floats, scaled: Floats, w: Any, p: Any) -> tuple[Any, Any]:
    """The vertices of the programme and of its dual near w and p; w or p where there is none.

    On the tight rows ⟨a_i, w⟩ = v, where |w_j| < 1 is unknown and w_j = ±1 elsewhere; Σ p_i = 1,
    and Σ p_i a_ij = 0 for the columns in which the sum is near 0.
    """
    rows = [[fmpq(*v.as_integer_ratio()) for v in row] for row in A.tolist()]
    scores, pull = scaled @ w, scaled.T @ p
    free, used = np.flatnonzero(np.abs(w) < 1 - _NEAR), np.flatnonzero(p > _NEAR)
    at = {int(j): int(np.sign(w[j])) for j in np.flatnonzero(np.abs(w) >= 1 - _NEAR)}
    bound = [sum((s * row[j] for j, s in at.items()), fmpq(0)) for row in rows]
    tight = [
        [*(rows[i][j] for j in free), fmpq(-1), -bound[i]]
        for i in np.flatnonzero(scores < scores.min() + _NEAR)
    ]
    level = [[*(rows[i][j] for i in used), fmpq(0)] for j in np.flatnonzero(np.abs(pull) < _NEAR)]
    primal, dual = _solved(tight), _solved([*level, [fmpq(1)] * (len(used) + 1)])
    if primal is not None:
        inner = dict(zip(free.tolist(), primal, strict=False))
        w = [inner.get(j, Fraction(at.get(j, 0))) for j in range(len(w))]
    if dual is not None and min(dual) >= 0:
        weights = dict(zip(used.tolist(), dual, strict=True))
        p = [weights.get(i, Fraction(0)) for i in range(len(p))]
    return w, p


def _solved(augmented: list[list[Any]]) -> list[Fraction] | None:
    """The one solution of a system with as many equations as unknowns or more, if there is one."""
    unknowns = len(augmented[0]) - 1
    if max(len(augmented), unknowns) > _LARGEST:
        return None
    reduced, rank = fmpq_mat(augmented).rref()
    if rank != unknowns or reduced[unknowns - 1, unknowns - 1] != 1:
        return None
    ends = (reduced[i, unknowns] for i in range(unknowns))
    return [Fraction(int(v.p), int(v.q)) for v in ends]


def _propose(A: Floats, q: float) -> Floats:
    """Weights that nearly minimise ‖Aᵀp‖_r, r = q/(q − 1), in doubles."""
    from scipy.optimize import minimize

    n, r = len(A), q / (q - 1)

    def value(p: Floats) -> tuple[float, Floats]:
        g = A.T @ p
        size = float(np.sum(np.abs(g) ** r) ** (1 / r)) if g.any() else 0.0
        return size**2 / 2, A @ (_dual_map(g, r) * size)

    simplex = {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(n)}
    found = minimize(
        value,
        np.full(n, 1 / n),
        jac=True,
        bounds=[(0, 1)] * n,
        constraints=[simplex],
        method="SLSQP",
        options={"maxiter": _STEPS, "ftol": 1e-15},
    )
    p = np.maximum(found.x, 0.0)
    return p / p.sum() if p.sum() > 0 else np.full(n, 1 / n)
