"""Algorithm 1, stopped when its margin is proved to be close to the maximum.

The iterates are those of Ji, Srebro and Telgarsky (2021). Two bounds of the margin that is still
missing need no oracle: min_j ‖Aᵀμ_j‖ − γ(w_t) ≤ ln(n max_i q_{t,i}) / ‖w_t‖ (``gb.gap``), which
costs nothing and decides when to look, and γ̄ ≤ ‖Aᵀμ‖ for any weights μ in the simplex (Lemma A.1
there), which holds whatever rounding has done to the iterates and is what is reported. Both sides
are widened by the error of the doubles they are computed from (`gammabar.problems.rounding`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem
from gammabar.problems.problem import largest_exponent
from gammabar.problems.rounding import (
    ETA,
    KernelRounding,
    LinearRounding,
    U,
    length,
    rounding_of,
    taxicab,
)
from gammabar.solvers.base import Iterate
from gammabar.solvers.ji_srebro_telgarsky import DualAcceleration

Array = NDArray[Any]


@dataclass(frozen=True)
class _CertifiedRun:
    """What a run ended with, in the unit ball; the bounds hold in spite of rounding."""

    w: Array
    mu: Array
    lower: float
    upper: float
    n_iter: int


def certified_run(problem: Problem, tol: float, max_iter: int) -> _CertifiedRun:
    """Iterate until the gap is certified, in the unit ball."""
    mu, look, bounds = np.full(problem.n, 1.0 / problem.n), 1, rounding_of(problem)
    for it in DualAcceleration().iterates(problem):
        q = it.weights
        if it.t:
            step = 2.0 / (it.t + 1)  # λ_{t−1}: μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t
            mu += step * (q - mu)
        last = it.t >= max_iter
        if last or (it.t >= look and _promising(it, q, tol)):
            found = _certify(problem, bounds, it, mu)
            if last or found.upper - found.lower <= tol * found.upper:
                return found
            look = it.t + 1 + it.t // 20  # a look costs two passes over the data
    raise AssertionError("iterates never end")


def _promising(it: Iterate, q: Array, tol: float) -> bool:
    """Whether a free bound of the gap is small: ln(n max q_t)/‖w_t‖ (gb.gap), or by 2‖g_t‖/t."""
    if it.margin <= 0 or it.momentum is None:
        return False
    free = math.log(len(it.scores) * float(q.max())) / it.norm
    dual = 2 * it._known().norm(it.momentum) / it.t - it.margin
    return min(free, dual) <= tol * it.margin


def _certify(
    problem: Problem, bounds: LinearRounding | KernelRounding, it: Iterate, mu: Array
) -> _CertifiedRun:
    """Bounds of the margin of w and of the best margin, each widened by its rounding error."""
    mu = np.maximum(mu, 0.0)
    mu = mu / mu.sum()
    total = math.fsum(mu)  # rounded once
    # The margin does not depend on the length of w; near one no product underflows that matters.
    w = np.ldexp(it.w, -largest_exponent(it.w))
    lost = len(w) * ETA * (1 + taxicab(w))  # by entries of w that become subnormal
    if isinstance(bounds, KernelRounding):
        size = taxicab(w)
        shortest, longest = _kernel_norm(problem, bounds, w)
        _, pull = _kernel_norm(problem, bounds, mu)
    else:
        size = length(w)
        shortest, longest = _linear_norm(problem, bounds, w, 0.0)
        error = bounds.combine(total * (1 + 2 * U))
        _, pull = _linear_norm(problem, bounds, problem.combine(mu), error)
    smallest = float(problem.scores(w).min()) - bounds.scores(size) - lost
    over = longest + lost if smallest >= 0 else shortest - lost
    lower = smallest / over if over > 0 else -1.0
    # No row is longer than one; eight roundings at most are made here.
    lower = max(-1.0, lower - 8 * U * abs(lower)) if math.isfinite(lower) else -1.0
    upper = pull / total * (1 + 8 * U) + ETA
    return _CertifiedRun(it.w, mu, lower, min(1.0, upper) if upper == upper else 1.0, it.t)


def _linear_norm(
    problem: Problem, bounds: LinearRounding, v: Array, error: float
) -> tuple[float, float]:
    """Bounds of the norm of a vector, itself known up to an error."""
    computed = problem.norm(v)
    error += bounds.norm(length(v))
    return max(0.0, computed - error), computed + error


def _kernel_norm(problem: Problem, bounds: KernelRounding, v: Array) -> tuple[float, float]:
    """Bounds of the norm of a combination of rows: near zero the error of a square counts."""
    square, error = problem.inner(v, v), bounds.inner(taxicab(v), taxicab(v))
    if not math.isfinite(square + error):
        return 0.0, math.inf
    low, high = max(0.0, square - error), max(0.0, square + error)
    return math.sqrt(low) * (1 - 4 * U), math.sqrt(high) * (1 + 4 * U)


def margin_and_gap(problem: Problem, found: _CertifiedRun) -> tuple[float, float]:
    """A margin that is attained, and the gap from there to one that nobody exceeds."""
    low, high = rounding_of(problem).radius_bounds()
    if not math.isfinite(high):
        raise ValueError("X has rows that are too long for a double; divide X by its largest entry")
    attained = found.lower * (low if found.lower > 0 else high)
    attained -= 2 * U * abs(attained) + ETA
    limit = found.upper * high * (1 + 2 * U) + ETA
    gap = math.nextafter(limit - attained, math.inf)
    while attained + gap < limit:  # so that the sum, as a double, is a bound
        gap = math.nextafter(gap, math.inf)
    return attained, gap
