"""What witnesses against Tyurin (2024) must show.

Standard library only: see `gammabar.papers.witness`.
"""

from __future__ import annotations

from fractions import Fraction as Q
from typing import Any

from gammabar.papers.witness import (
    Claim,
    demand,
    dot,
    log,
    matrix,
    rational,
    refuter,
    separable,
    total,
    vector,
)


@refuter("tyurin.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """θ_1 = 0: f(θ_1) = (1/n) Σ log(1 + e⁰) = log 2, whatever the data and the step."""
    rows, theta = matrix(data["rows"]), vector(data["theta_1"])
    demand(separable(rows), "the data are seen to be separable")
    demand(len(theta) == len(rows[0]) and not any(theta), "θ_1 = 0, as printed")
    return log(2), ">=", Q(1)  # the mean of n equal losses; it is to exceed every bound


@refuter("tyurin.sec6.limits")
def _(data: dict[str, Any]) -> Claim:
    """t = 1: θ_1/γ = ½ mean of the rows, S_1 its mistakes (no score is zero), so σ_i → 1 in S_1
    and 0 outside: β_1 → n/|S_1|. Printed is |S_1|."""
    rows = matrix(data["rows"])
    n = len(rows)
    demand(separable(rows), "the data are seen to be separable")
    theta = [total(list(column)) / (2 * n) for column in zip(*rows, strict=True)]
    scores = [dot(r, theta) for r in rows]
    demand(all(scores), "no score is zero, so the limits of σ_i are 0 and 1")
    mistakes = sum(s < 0 for s in scores)
    demand(mistakes > 0, "there are mistakes")
    return Q(n, mistakes), "==", Q(mistakes)


@refuter("tyurin.appC.alpha")
def _(data: dict[str, Any]) -> Claim:
    """n = 1, so that log(2n − 1) = 0: α/μ = R²/(γμ²) against R²/μ²."""
    step, R, mu = (rational(data[name]) for name in ("step", "R", "mu"))
    demand(step > 0 and 0 < mu <= R, "a step, a radius and a margin")
    return R**2 / (step * mu**2), "==", R**2 / mu**2
