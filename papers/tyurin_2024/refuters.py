"""What witnesses against Tyurin (2024) must show.

Standard library only: see `gammabar.papers.witness`.
"""

from fractions import Fraction as Q
from typing import Any

from gammabar.papers.witness import *


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


@refuter("tyurin.fn3")
def _(data: dict[str, Any]) -> Claim:
    """One row a: θ_1/γ = θ_0/γ + σa → σa, σ = 1/(1 + exp(aθ_0)), against the half step a/2. The
    changed Assumption 3.1 asks that no (σ + k)a² is 0, which is so."""
    a, theta = rational(data["row"]), rational(data["theta_0"])
    demand(a != 0 and theta != 0, "a row and a start that are not 0")
    return a / (1 + exp(a * theta)), "==", a / 2


@refuter("tyurin.sec8.step")
def _(data: dict[str, Any]) -> Claim:
    """g(a; θ) = aθ at θ_t = 0, one point: −γ∇f = γya/2, and a/2 is printed."""
    a, y, step = (rational(data[name]) for name in ("a", "y", "step"))
    demand(abs(y) == 1 and step > 0, "a label and a step")
    return step * y * a / 2, "==", a / 2


@refuter("tyurin.sec8.bias")
def _(data: dict[str, Any]) -> Claim:
    """One row 1, so θ_* = 1 and L = 1/4: θ_t grows, and where it has passed 1 it does not tend
    to it."""
    step, t = rational(data["step"]), whole(data["t"], 1, 100)
    demand(0 < step < 8, "0 < γ < 2/L")
    theta = interval(Q(0))
    for _ in range(t):
        theta = theta + step / (1 + exp(theta))
    return theta, "<=", Q(1)


# What a search finds, in the form of these witnesses.


@completes("tyurin.thm4.1")
def _(found: dict[str, Any]) -> dict[str, Any]:
    return {"rows": found["rows"], "theta_1": ["0"] * len(found["rows"][0])}


@completes("tyurin.sec8.bias")
def _(found: dict[str, Any]) -> dict[str, Any]:
    demand(found["rows"] == [["1"]], "the row is 1")
    return {"step": found["step"], "t": found["t"]}


@completes("tyurin.fn3")
def _(found: dict[str, Any]) -> dict[str, Any]:
    [[row]], [start] = found["rows"], found["theta_0"]
    return {"row": row, "theta_0": start}


@completes("tyurin.sec8.step")
def _(found: dict[str, Any]) -> dict[str, Any]:
    return {"a": found["a"], "y": str(found["y"]), "step": found["step"]}
