"""Margins in ℓ_q: max_{‖w‖_q ≤ 1} min_i ⟨a_i, w⟩ = min_{p ∈ Δ} ‖Aᵀp‖_{q*}, 1/q + 1/q* = 1.

Whatever w ≠ 0 and p ∈ Δ are, min_i ⟨a_i, w⟩/‖w‖_q is at most the margin and ‖Aᵀp‖_{q*} at least:
the two enclose it, and are the certificate. A floating-point method proposes them; both sides are
then evaluated in balls, on the rows as they are. For q = 2 the maximum-margin oracle is exact, and
for q = 1 `gammabar.oracle.l1`; q = ∞ is a linear programme.

>>> found = solve_lq([[1, 0], [0, 1]], 1.5)
>>> abs(float(found.low) - 2 ** (-2 / 3)) < 1e-9, found.high - found.low < 1e-9
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from gammabar.problems import ProblemError

Floats = NDArray[np.float64]
#: Bits with which both sides are evaluated.
_BITS = 128
_STEPS = 200


@dataclass(frozen=True)
class LqTruth:
    """An enclosure of the ℓ_q margin, and its proof.

    Attributes
    ----------
    q : float
    low, high : arb
        min_i ⟨a_i, w⟩/‖w‖_q (0 for w = 0) and ‖Aᵀp‖_{q*}.
    w, p : array
        Doubles, taken for exact; the weights p ≥ 0 are divided by their sum.
    """

    q: float
    low: Any
    high: Any
    w: Floats
    p: Floats


def solve_lq(rows: Sequence[Sequence[float]] | Floats, q: float) -> LqTruth:
    """Enclose the ℓ_q margin of rows, 1 < q ≤ ∞."""
    A = np.asarray(rows, dtype=np.float64)
    if not q > 1:
        raise ProblemError(f"the exponent q must be above 1, not {q!r}")
    scaled = A / max(float(np.abs(A).max()), 1e-300)  # for the proposal alone
    if q == np.inf:
        w, p = _programme(scaled)
    else:
        p = _propose(scaled, q)
        w = _dual_map(scaled.T @ p, q / (q - 1))
    low, high = bounds(A, q, w, p)
    return LqTruth(q, low, high, w, p)


def bounds(A: Floats, q: float, w: Floats, p: Floats) -> tuple[Any, Any]:
    """Both sides of weak duality in balls, for doubles w and p ≥ 0 that are taken for exact."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        length, total = _norm([arb(v) for v in w.tolist()], q), sum(map(arb, p.tolist()), arb(0))
        scores = [_dot(row, w) for row in A]
        columns = [_dot(column, p) / total for column in A.T]
        least = min(scores, key=lambda s: float(s.lower()))
        low = least / length if w.any() and least > 0 else arb(0)
        return low, _norm(columns, 1.0 if q == np.inf else q / (q - 1))
    finally:
        ctx.prec = before


def _dot(a: Floats, b: Floats) -> Any:
    return sum((arb(x) * arb(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)), arb(0))


def _norm(values: list[Any], q: float) -> Any:
    if q == np.inf:
        return max((abs(v) for v in values), key=lambda v: float(v.upper()))
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
