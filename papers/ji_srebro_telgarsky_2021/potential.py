"""The potential ψ of eq. (2.1), its gradient and its conjugate, for both losses.

Row by row in balls, and for the logistic loss in doubles with proved error bounds as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from scipy.special import expit

from gammabar.papers import ROUNDOFF, SAFETY, Case, Floats, Number, View, ball, log, number, total
from gammabar.papers.ji_srebro_telgarsky_2021.method import loss_of


def potential(xi: list[Number], loss: str) -> Number:
    """ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), eq. (2.1), row by row in balls."""
    if loss == "exponential":
        top = max(xi, key=lambda x: float(x.mid()))
        return log(total((x - top).exp() for x in xi)) + top
    # ψ(ξ) = ln(exp(Σ ln(1 + e^ξ_i)) − 1); Arb's numbers have no smallest one.
    return log(total(x.exp().log1p() for x in xi).expm1())


def potential_gradient(xi: list[Number], loss: str) -> list[Number]:
    """∇ψ(ξ)_i = ℓ′(ξ_i)/ℓ′(ψ(ξ)), eq. (C.1), row by row in balls."""
    if loss == "exponential":
        value = potential(xi, loss)
        return [(x - value).exp() for x in xi]
    mass = total(x.exp().log1p() for x in xi)
    return [1 / ((-x).exp() + 1) / -(-mass).expm1() for x in xi]


def entropy(q: Iterable[Any]) -> Number:
    """Σ q_i ln q_i = ψ*(q) for q ∈ Δ_n, for either loss.

    For the logistic loss: ψ is at least ln-sum-exp, and ψ(ξ − s) − lnsumexp(ξ − s) → 0 as s → ∞
    while ⟨ξ − s, q⟩ + s stays the same, so the two conjugates agree where Σ q_i = 1.
    """
    values = [number(v) for v in q if v]
    return total(v * v.log() for v in values)


def start_potential(case: Case) -> Number:
    """ψ(0): ln n, or ln(2ⁿ − 1) for the logistic loss."""
    return case.log_n if loss_of(case) == "exponential" else log(arb(2) ** case.n - 1)


def distance_from_start(case: Case) -> Number:
    """D_{ψ*}(q̄, q_0) = ψ*(q̄) + ψ(0) − ⟨0, q̄⟩, since q_0 = ∇ψ(0)."""
    # Once a precision, not at every iterate.
    return case.once("D(q̄, q_0)", partial(_distance, case))


def _distance(case: Case) -> Number:
    truth = case.truth  # its support alone: rows may be many
    support = (Fraction(v, truth.total) for v in truth.numerators)
    return entropy(support) + start_potential(case)


class Logistic:
    """ψ and ∇ψ of the logistic loss at −A w, from scores in doubles with an error bound.

    Attributes
    ----------
    psi : arb
    weights : array
        ∇ψ in doubles.
    relative : float
        A bound on Σ_i |error of weight i|, relative to the sum of the weights.
    """

    def __init__(self, scores: Floats, error: float) -> None:
        n, xi = scores.size, -scores
        top = float(xi.max())
        if top + np.log(n) < -38:
            self._like_exponential(xi, top, error)
            return
        slopes = expit(xi)
        mass = float(np.logaddexp(0.0, xi).sum())
        # Scores off by e: ln(1 + e^ξ) moves by at most σ(ξ + e) e ≤ σ(ξ) e^e e.
        moved = error * float(slopes.sum()) * float(np.exp(error)) * SAFETY
        self.psi = log(ball(mass, mass * (n + 16) * ROUNDOFF * SAFETY + moved).expm1())
        self.weights: Floats = slopes / -np.expm1(-mass)
        # d ln σ ≤ e, and d ln(1 − e^{−S}) = dS/(e^S − 1) ≤ e, since Σ σ(ξ_i) ≤ Σ e^ξ_i ≤ e^S − 1.
        # A relative error of S counts at most as itself.
        self.relative = (float(np.expm1(2 * error)) + (2 * n + 64) * ROUNDOFF) * SAFETY

    def _like_exponential(self, xi: Floats, top: float, error: float) -> None:
        """Where m = Σ e^ξ_i is below e^{−38}: ψ − ln-sum-exp is in [0, m], weights agree to 4m."""
        n, raw = xi.size, np.exp(xi - top)
        mass = float(raw.sum())
        small = mass * float(np.exp(top)) * SAFETY
        # Rounding ξ_i − top by u|ξ_i − top| moves e^{ξ_i − top} by at most u/e.
        off = error + (2 * n + 64 + 8 * abs(top)) * ROUNDOFF
        self.psi = ball(float(np.log(mass)) + top, (off + small) * SAFETY)
        self.weights = raw / mass
        self.relative = (float(np.expm1(2 * error)) + (2 * n + 64) * ROUNDOFF + 4 * small) * SAFETY


def psi_of(it: View) -> Number:
    """ψ(Zw_t) for the loss of the solver."""
    loss = loss_of(it.case)
    if loss == "exponential":
        return it.psi
    if it.level:
        return potential([-s for s in it.scores], loss)
    return Logistic(it.score_doubles, it.score_error).psi
