"""The sequences of Appendix B, row by row in balls.

Bregman distances are those of the text after eq. (B.2), D(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩.
As q_t = ∇ψ(p_t) and so ω(q_t) = ⟨p_t, q_t⟩ − ψ(p_t), ω(q) cancels in

    D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩,

and D(q_{t+1}, q_t) is the same at q = q_{t+1}, as D(q_{t+1}, q_{t+1}) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb_mat

from gammabar.papers import ROUNDOFF, Case, Floats, Number, View, number, total, upper
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    exact_dual,
    loss_of,
    mixing,
    smoothness,
    step,
)
from gammabar.papers.ji_srebro_telgarsky_2021.potential import potential
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import delivered


def column(values: Any) -> Any:
    """Numbers as a column of balls."""
    balls = [number(v) for v in (values.tolist() if hasattr(values, "tolist") else values)]
    return arb_mat(len(balls), 1, balls)


def dot(a: Any, b: Any) -> Number:
    """⟨a, b⟩ of two columns."""
    return (a.transpose() * b)[0, 0]


class Weights:
    """A dual variable, and the gradient Gq = ∇φ(q) of φ at it."""

    def __init__(self, values: Any, gram: Any, name: str = "") -> None:
        self.q, self.name = column(values), name
        self.force = gram * self.q

    def above(self, other: Weights) -> Number:
        """φ(q) − φ(r) = ⟨∇φ(q) + ∇φ(r), q − r⟩/2: zero without rounding where q = r."""
        return dot(self.force + other.force, self.q - other.q) / 2


class Point:
    """The sequences at one t, with the signs of the paper (p_t = Zw_t = −A w_t)."""

    def __init__(self, t: int, given: list[Floats], gram: Any, loss: str) -> None:
        self.t = t
        self.scores, self.weights, mu, self.nu_doubles = given
        self.p, self.q = column(-self.scores), column(self.weights)
        self.mu, self.nu = Weights(mu, gram), Weights(self.nu_doubles, gram)
        self.psi = potential(self.p.entries(), loss)

    @cached_property
    def logs(self) -> Any:
        """ln q_t, row by row."""
        return column(v.log() for v in self.q.entries())


class Mirror:
    """The sequences of eqs. (B.1) and (B.2) as delivered, at t and t − 1, and points q ∈ C."""

    def __init__(self, case: Case) -> None:
        self.case, self.loss = case, loss_of(case)
        self.rho = number(smoothness(case))
        self.now: Point | None = None
        self.before: Point | None = None
        self.first: Point | None = None

    @cached_property
    def everywhere(self) -> list[Weights]:
        """Points of C at which claims about all q ∈ C are put to the test."""
        case, n = self.case, self.case.n
        gram = case.space.gram()
        draws = np.random.default_rng(n).integers(1, 1000, n).tolist()
        found = {
            "the first vertex": [1] + [0] * (n - 1),
            "the centre": [Fraction(1, n)] * n,
            "a random point": [Fraction(v, sum(draws)) for v in draws],
        }
        if exact_dual(case) is None:
            found["q̄"] = case.q_bar
        if self.loss == "logistic":
            found["the vertex of all ones"] = [1] * n
        return [Weights(values, gram, f"q = {name}") for name, values in found.items()]

    @cached_property
    def optimum(self) -> Weights:
        """q̄."""
        return next(point for point in self.everywhere if point.name == "q = q̄")

    @cached_property
    def centre(self) -> Weights:
        """The centre of Δ_n."""
        return next(point for point in self.everywhere if point.name == "q = the centre")

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        given = delivered(it, "p", "q", "mu", "nu")
        self.before = self.now
        self.now = None
        if given is not None:
            self.now = Point(it.t, given, self.case.space.gram(), self.loss)
        self.first = self.first or self.now

    def drop(self, q: Any, past: Point, now: Point) -> Number:
        """D(q, q_{t−1}) − D(q, q_t)."""
        return past.psi - now.psi - dot(past.p - now.p, q)

    def ratio(self, t: int) -> Number:
        """λ_t/(αθ_t)."""
        return self.rho * number(mixing(self.case, t) / step(self.case, t))

    def rounding_of_force(self, past: Point, now: Point) -> float:
        """How far λ/(αθ) (p_t − p_{t+1}) may be from ∇φ(ν_t) in a row, because of rounding.

        A product with Aᵀ and one with A, and then the sum p_t + …, whose rounding counts λ/(αθ)
        times.
        """
        space, size = self.case.space, float(np.abs(past.nu_doubles).sum())
        pull = self.case.problem.combine(past.nu_doubles)
        products = space.score_error(pull) + (space.n + 16) * ROUNDOFF * space.radius**2 * size
        return products + 4 * ROUNDOFF * float(np.abs(now.scores).max()) * upper(self.ratio(past.t))

    def rounding_of_logs(self, past: Point, now: Point, q: Weights) -> float:
        """How far ⟨ln q_t − ln q_{t+1}, q_{t+1} − q⟩ may be from ⟨p_t − p_{t+1}, q_{t+1} − q⟩.

        A softmax in doubles has relative errors of u(spread + n + 16), and its sum is one only up
        to (n + 8)u, which counts as often as ln q and p differ: ψ(p_t) − ψ(p_{t+1}).
        """
        n, spread = self.case.n, float(max(np.ptp(past.scores), np.ptp(now.scores)))
        apart = upper(total(abs(v) for v in (now.q - q.q).entries()))
        scale = (spread + n + 16) * apart + (n + 8) * upper(past.psi - now.psi)
        return 4 * 2 * ROUNDOFF * scale


@dataclass(frozen=True)
class Step:
    """The last step of a run: from q_t, μ_t, … (`past`) to q_{t+1}, μ_{t+1}, … (`now`)."""

    path: Mirror
    first: Point
    past: Point
    now: Point


def last_step(case: Case) -> Step | None:
    """The last step; None if the solver does not deliver the sequences."""
    path: Mirror = case.history(Mirror)
    if path.first is None or path.before is None or path.now is None:
        return None
    return Step(path, path.first, path.before, path.now)
