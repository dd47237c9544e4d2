"""Runs of Algorithm 2 without momentum, for the t and the step θ = √(ln(n)/t) of Theorem 4.1.

Claims that hold with probability 1 − δ are put to a number of them fixed in advance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from flint import arb

from gammabar.papers import (
    LEVELS,
    ROUNDOFF,
    SAFETY,
    Case,
    Fault,
    Floats,
    Number,
    View,
    ball,
    log,
    middle,
    number,
    sqrt,
    steered,
    taken_vector,
    working,
)
from gammabar.problems.base import soften

ALGORITHM_2 = "adaptive-sampling"

#: δ of Theorem 4.1. The larger it is, the fewer runs are needed; the claim is the same for all.
DELTA = Fraction(1, 2)
#: A statement asks for up to 40 runs of t steps each.
MOST_STEPS = 100_000


def tolerance(case: Case, ratio: Fraction) -> Fraction:
    """ε, a rational near ratio · γ̄."""
    return Fraction(round(middle(case.gamma * number(ratio)) * 256), 256)


def horizon(case: Case, epsilon: Fraction, delta: Fraction = DELTA) -> int:
    """The t of Theorem 4.1."""
    with working(LEVELS[1]):
        entropy = 32 * case.log_n + 64 * log(2 / delta)
        first = (entropy / (case.gamma_squared * number(epsilon**2))).ceil().unique_fmpz()
    if first is None:
        raise ValueError("γ̄ is not known well enough to tell the t of Theorem 4.1")
    return max(int(first), ceil(32 / (delta * epsilon**2)))


def reachable(
    ratio: Fraction, delta: Fraction = DELTA, steps: Callable[..., int] = horizon
) -> Callable[[Case], str | None]:
    """The assumption that a run with ε near ratio · γ̄ is one of few steps."""

    def few_steps(case: Case) -> str | None:
        """At most 100,000 steps are needed (their number grows like 1/γ̄⁴)."""
        epsilon = tolerance(case, ratio)
        try:
            if epsilon and steps(case, epsilon, delta) <= MOST_STEPS:
                return None
        except ValueError as unknown:
            return str(unknown)
        return f"γ̄ is so small that more than {MOST_STEPS:,} steps would be needed"

    return few_steps


@dataclass(frozen=True)
class Run:
    """One run of t steps.

    Attributes
    ----------
    last : View
        The iterate w_t.
    theta : arb
        √(ln(n)/t).
    lengths, squares : arb
        Σ_{j<t} ‖Zᵀq_j‖ and Σ_{j<t} ‖Zᵀq_j‖², for the softmax q_j of the w_j.
    """

    last: View
    theta: Number
    lengths: Number
    squares: Number


def run(
    case: Case,
    rng: np.random.Generator,
    epsilon: Fraction,
    sums: bool = True,
    delta: Fraction = DELTA,
    steps: int | None = None,
) -> Run:
    """Algorithm 2 as in Theorem 4.1; `sums` also makes the sums over all iterates.

    `steps` is another t than that of the theorem, which the step θ = √(ln(n)/t) goes with.

    The solver runs once, whatever the level at which the run is looked at.
    """
    t = horizon(case, epsilon, delta) if steps is None else steps
    theta = sqrt(case.log_n / t)
    last, weights, off = case.remember("run", lambda: _iterates(case, rng, t, middle(theta), sums))
    lengths, squares = _sums(case, weights, off) if len(weights) else (arb(0), arb(0))
    return Run(last.at(case.level) if case.level else last, theta, lengths, squares)


def _iterates(
    case: Case, rng: np.random.Generator, t: int, theta: float, sums: bool
) -> tuple[View, Floats, float]:
    """w_t, the weights q_j = softmax(−A w_j) for j < t, and how far one of them may be off."""
    weights: list[Floats] = []
    off = 0.0
    for expected, claimed in enumerate(_method(case, theta).iterates(case.problem, rng)):
        if claimed.t != expected:
            raise Fault(f"iterates count 0, 1, 2, …, but {claimed.t} came for {expected}")
        if claimed.t == t:
            return View(claimed, case), np.array(weights), off
        if sums:
            w = taken_vector(claimed.w, f"w_{claimed.t}")
            weights.append(soften(case.problem.scores(w), 1.0)[0])
            # Scores off by e change a weight by a factor of at most exp(2e).
            off = max(off, float(np.expm1(2 * case.space.score_error(w))))
    raise ValueError(f"the solver stopped before t = {t}")


def _sums(case: Case, weights: Floats, off: float) -> tuple[Number, Number]:
    """Σ ‖Zᵀq_j‖ and Σ ‖Zᵀq_j‖² over the rows q_j of a matrix, through the Gram matrix.

    The weights are those of the delivered w_j, each off by a factor of 1 ± off and of rounding.
    """
    n, t = case.n, len(weights)
    gram = np.array([float(v.mid()) for v in case.space.gram().entries()]).reshape(n, n)
    squares = np.einsum("ji,ik,jk->j", weights, gram, weights)
    # Entries of the Gram matrix are at most 1, each off by u at most, and so are the products of
    # weights that sum to one, or nearly.
    size = float(np.abs(weights).sum(axis=1).max()) ** 2
    error = ((4 * n + n * n + 48) * ROUNDOFF + 2 * off * (1 + off)) * size * SAFETY
    lengths = np.sqrt(np.maximum(squares, error))
    # √a is off by at most error/√a where a ≥ error, and by √error elsewhere.
    away = float((2 * error / lengths).sum()) * SAFETY
    more = t * ROUNDOFF * SAFETY
    total, lengthened = float(squares.sum()), float(lengths.sum())
    return (
        ball(lengthened, away + lengthened * more),
        ball(total, t * error * SAFETY + abs(total) * more),
    )


def _method(case: Case, theta: float) -> Any:
    """The solver on trial (by default that of the registry) with the step θ and no momentum."""
    from gammabar.solvers.registry import solver

    method = solver(ALGORITHM_2)() if case.solver is None else case.solver
    options = {"step": theta} | ({"momentum": False} if hasattr(method, "momentum") else {})
    return steered(method, **options)
