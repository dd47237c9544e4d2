"""The sequences of Appendix B, row by row in balls.

Bregman distances are those of the text after eq. (B.2), D(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩.
As q_t = ∇ψ(p_t) and so ω(q_t) = ⟨p_t, q_t⟩ − ψ(p_t), ω(q) cancels in

    D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩,

and D(q_{t+1}, q_t) is the same at q = q_{t+1}, as D(q_{t+1}, q_{t+1}) = 0.

p_t, q_t, μ_t and ν_t are those that the solver delivers, and are believed in nothing: at every t
they must be what follows from the iterates, up to the rounding of the last step.

    p_t = −A w_t, the scores being carried along by addition    q_t = ∇ψ(p_t)
    μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t, μ_0 = q_0        ν_t = (1 − λ_t) μ_t + λ_t q_t
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb_mat

from gammabar.papers import (
    ROUNDOFF,
    Case,
    Floats,
    Number,
    Relation,
    View,
    claimed_numbers,
    fact,
    number,
    size_of,
    total,
    upper,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    exact_dual,
    loss_of,
    mixing,
    smoothness,
    step,
)
from gammabar.papers.ji_srebro_telgarsky_2021.potential import (
    potential,
    potential_gradient,
)
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import follows, score_drift


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
        self.scores, self.weights, self.mu_doubles, self.nu_doubles = given
        self.p, self.q = column(-self.scores), column(self.weights)
        self.mu, self.nu = Weights(self.mu_doubles, gram), Weights(self.nu_doubles, gram)
        self.psi = potential(self.p.entries(), loss)

    @cached_property
    def logs(self) -> Any:
        """ln q_t, row by row."""
        return column(v.log() for v in self.q.entries())


class Mirror:
    """The sequences of eqs. (B.1) and (B.2) as delivered, at t and t − 1, and points q ∈ C.

    Attributes
    ----------
    claims : list of Relation
        That those at t follow from the iterates, or what is wrong with them.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.loss = case, loss_of(case)
        self.rho = number(smoothness(case))
        self.now: Point | None = None
        self.before: Point | None = None
        self.first: Point | None = None
        self.claims: list[Relation] = []
        self._w: Floats | None = None
        self._drift = 0.0

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
        # Claims about t = 0 are heard with the first step, which starts there.
        first = self.claims if it.t == 1 else []
        self.before, self.now, self.claims = self.now, None, []
        if self._w is not None:
            self._drift += score_drift(it, self._w)
        self._w = it.w
        given = []
        for name in SEQUENCES:
            value = it.dual if name == "dual" else it.extra.get(name)
            found = "is not said" if value is None else claimed_numbers(value, (it.n,))
            if isinstance(found, str):
                self.claims.append(fact(False, f"{name} {found}", said=True))
            else:
                given.append(found)
        if not self.claims:
            self.now = Point(it.t, given, self.case.space.gram(), self.loss)
            if it.t == 0:
                self.first = self.now
            self.claims = [*self._follow(it, self.now)]
        self.claims = [*first, *self.claims]

    def _follow(self, it: View, now: Point) -> Iterator[Relation]:
        """That the sequences at t follow from w_t and from those at t − 1."""
        gap = float(np.abs(now.scores - it.score_doubles).max())
        allowed = 2 * self._drift + it.score_error
        size = size_of(float(np.abs(it.score_doubles).max()), it.space.least_radius**2)
        yield follows(number(gap), allowed, size, "p_t is that of the iterates: −A w_t")
        q = column(potential_gradient(now.p.entries(), self.loss))
        # A softmax in doubles has relative errors of u(spread + n + 16), and so has ∇ψ.
        rounding = 8 * ROUNDOFF * (float(np.ptp(now.scores)) + it.n + 32)
        yield _same(now.q, q, rounding, "q_t = ∇ψ(p_t)")
        if self.before is None:
            yield _same(now.mu.q, now.q, 0.0, "μ_0 = q_0")
        else:
            mu = self._mixed(self.before.t, self.before.mu.q, now.q)
            yield _same(now.mu.q, mu, 8 * ROUNDOFF, "μ_t is the average of μ_{t−1} and q_t")
        nu = self._mixed(now.t, now.mu.q, now.q)
        yield _same(now.nu.q, nu, 8 * ROUNDOFF, "ν_t is the average of μ_t and q_t")

    def _mixed(self, t: int, mu: Any, q: Any) -> Any:
        """(1 − λ_t) μ + λ_t q."""
        lam = mixing(self.case, t)
        return mu * number(1 - lam) + q * number(lam)

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
        products = (
            space.score_error(pull) + (space.n + 16) * ROUNDOFF * space.radius * space.radius * size
        )
        return products + 4 * ROUNDOFF * float(np.abs(now.scores).max()) * upper(self.ratio(past.t))

    def rounding_of_logs(self, past: Point, now: Point, q: Weights) -> float:
        """How far ⟨ln q_t − ln q_{t+1}, q_{t+1} − q⟩ may be from ⟨p_t − p_{t+1}, q_{t+1} − q⟩.

        A softmax in doubles has relative errors of u(spread + n + 16), and its sum is one only up
        to (n + 8)u, which counts as often as ln q and p differ: ψ(p_t) − ψ(p_{t+1}).
        """
        n, spread = self.case.n, float(max(np.ptp(past.scores), np.ptp(now.scores)))
        apart = self.apart(now, q)
        scale = (spread + n + 16) * apart + (n + 8) * upper(past.psi - now.psi)
        return 4 * 2 * ROUNDOFF * scale

    @staticmethod
    def apart(now: Point, q: Weights) -> float:
        """‖q_{t+1} − q‖₁."""
        return upper(total(abs(v) for v in (now.q - q.q).entries()))


def _same(said: Any, own: Any, relative: float, what: str) -> Relation:
    """Weights that are what follows, in the ℓ₁ norm, up to an error relative to their sum."""
    gap = total(abs(v) for v in (said - own).entries())
    size = upper(total(abs(v) for v in own.entries()))
    return follows(gap, relative * size, size, what)


@dataclass(frozen=True)
class Step:
    """The last step of a run: from q_t, μ_t, … (`past`) to q_{t+1}, μ_{t+1}, … (`now`)."""

    path: Mirror
    first: Point
    past: Point
    now: Point


#: What the dual form must say of an iterate.
SEQUENCES = ("p", "dual", "mu", "nu")


def last_step(it: View, case: Case) -> tuple[Step | None, list[Relation]]:
    """The last step, and that its sequences follow from the iterates.

    Raises
    ------
    Unclaimed
        If the solver does not deliver them.
    """
    path: Mirror = case.history(Mirror)
    for name in SEQUENCES:
        it.claim(name)
    if path.first is None or path.before is None or path.now is None:
        return None, path.claims
    return Step(path, path.first, path.before, path.now), path.claims
