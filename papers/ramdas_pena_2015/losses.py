"""L(α) and its smoothed versions in balls: equation (9), L_μ of Section 4, L^q_μ of Section 6."""

from __future__ import annotations

import numpy as np

from gammabar.papers import Floats, Number, View, between, exp, log, middle, number, total


def hard_loss(it: View) -> Number:
    """L(α) = max_p −⟨α, p⟩_G + ½‖α‖²_G, equation (9)."""
    return it.norm_squared / 2 - it.smallest


def entropy_gap(it: View, mu: Number) -> Number:
    """L(α) − L_μ(α) for d(p) = Σ p_i log p_i + log n: the maximum in L_μ is a log-sum-exp."""
    if it.n == 1:
        return number(0)
    least = it.smallest
    return -mu * log(total(exp((least - s) / mu) for s in it.scores) / it.n)


def entropy_loss(it: View, mu: Number) -> Number:
    """L_μ(α) for d(p) = Σ p_i log p_i + log n."""
    return hard_loss(it) - entropy_gap(it, mu)


def centred_loss(it: View, q: list[Number], mu: Number) -> Number:
    """L^q_μ(α) for d_q(p) = ½‖p − q‖²."""
    return it.norm_squared / 2 + prox_value(it.scores, q, mu)


def prox_value(scores: list[Number], q: list[Number], mu: Number) -> Number:
    """max_{p ∈ Δ} −⟨s, p⟩ − (μ/2)‖p − q‖², between a primal and a dual bound.

    Any p ∈ Δ bounds the maximum from below, and any multiplier τ of Σ p_i = 1 from above, by
    τ + Σ_i max_{x ≥ 0} −(s_i + τ) x − (μ/2)(x − q_i)². Both are taken where doubles say the
    maximum is, and meet there up to the square of the doubles' errors.
    """
    target = np.array([middle(c - s / mu) for c, s in zip(q, scores, strict=True)])
    p = nearest(target)
    inside = np.flatnonzero(p > 0).tolist()
    tau = mu * (total(q[i] - scores[i] / mu for i in inside) - 1) / len(inside)
    mass = number(0)
    for i in inside:
        mass += number(float(p[i]))
    low, high = number(0), tau
    for i, (s, c) in enumerate(zip(scores, q, strict=True)):
        x = number(float(p[i])) / mass
        low -= s * x + mu / 2 * ((x - c) * (x - c))
        best = (c - (s + tau) / mu).max(number(0))
        high -= (s + tau) * best + mu / 2 * ((best - c) * (best - c))
    return between(low, high)


def nearest(target: Floats) -> Floats:
    """The point of the simplex nearest to a vector: coordinates below the shift drop out."""
    inside = np.ones(target.size, dtype=bool)
    while True:
        shift = (target[inside].sum() - 1) / inside.sum()
        kept = inside & (target > shift)
        if not kept.any():  # rounding: the largest coordinate alone
            kept[np.argmax(target)] = True
        if (kept == inside).all():
            return np.where(inside, np.maximum(target - shift, 0.0), 0.0)
        inside = kept
