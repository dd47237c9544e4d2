"""Appendix B with other objectives, mirror maps, norms and sets, in rational arithmetic.

ω(q) = ½⟨q, Mq⟩ with M diagonal is 1-strongly convex in the norm √⟨q, Mq⟩, and C a box: then
∇ω*(p) = argmax_{q ∈ C} ⟨p, q⟩ − ω(q) is M⁻¹p, clipped coordinate by coordinate. f is quadratic with
a matrix H ≼ M, or the sum of a quadratic and a Huber function, so that it is 1-smooth there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

Q = Fraction
Row = list[Fraction]


def dot(a: Row, b: Row) -> Fraction:
    """⟨a, b⟩."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Q(0))


def minus(a: Row, b: Row) -> Row:
    """a − b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def mixed(weight: Fraction, a: Row, b: Row) -> Row:
    """(1 − weight) a + weight b."""
    return [(1 - weight) * x + weight * y for x, y in zip(a, b, strict=True)]


@dataclass(frozen=True)
class World:
    """An objective f, a mirror map ω and a box C; α = 1.

    Attributes
    ----------
    name : str
    metric : list of Fraction
        The diagonal of M.
    box : list of pairs
        The ends of C in each coordinate.
    hessian : matrix
        H of f(q) = ½⟨q, Hq⟩ − ⟨b, q⟩ + κ·huber(q_1).
    linear : list of Fraction
        b.
    huber : Fraction
        κ: of x²/2 for |x| ≤ ¼, and |x|/4 − 1/32 beyond.
    """

    name: str
    metric: Row
    box: list[tuple[Fraction, Fraction]]
    hessian: list[Row]
    linear: Row
    huber: Fraction

    def f(self, q: Row) -> Fraction:
        """f(q)."""
        x = abs(q[0])
        bend = x * x / 2 if x <= Q(1, 4) else x / 4 - Q(1, 32)
        return dot(q, self.pushed(q)) / 2 - dot(self.linear, q) + self.huber * bend

    def pushed(self, q: Row) -> Row:
        """Hq."""
        return [dot(row, q) for row in self.hessian]

    def slope(self, q: Row) -> Row:
        """∇f(q)."""
        found = minus(self.pushed(q), self.linear)
        found[0] += self.huber * max(min(q[0], Q(1, 4)), -Q(1, 4))
        return found

    def omega(self, q: Row) -> Fraction:
        """ω(q)."""
        return sum((m * x * x for m, x in zip(self.metric, q, strict=True)), Q(0)) / 2

    def back(self, p: Row) -> Row:
        """∇ω*(p)."""
        ends = zip(p, self.metric, self.box, strict=True)
        return [max(low, min(high, x / m)) for x, m, (low, high) in ends]

    def distance(self, q: Row, to: Row, p: Row) -> Fraction:
        """D_ω(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩, for q_t = `to` and its p_t."""
        return self.omega(q) - self.omega(to) - dot(p, minus(q, to))

    def points(self) -> list[Row]:
        """Points q of C: corners and the middle."""
        corners = [list(corner) for corner in product(*self.box)]
        return [*corners, [(low + high) / 2 for low, high in self.box]]

    def minimiser(self) -> Row:
        """q̄ of a separable f: each coordinate by itself, clipped."""
        found = []
        for i, (low, high) in enumerate(self.box):
            h, b = self.hessian[i][i], self.linear[i]
            k = self.huber if i == 0 else Q(0)
            inside = b / (h + k)
            if k and abs(inside) > Q(1, 4):
                inside = (b - k / 4) / h if b > 0 else (b + k / 4) / h
            found.append(max(low, min(high, inside)))
        return found

    @property
    def separable(self) -> bool:
        """Whether H is diagonal."""
        pairs = product(range(len(self.linear)), repeat=2)
        return not any(self.hessian[i][j] for i, j in pairs if i != j)


HALF, THIRD = Q(1, 2), Q(1, 3)
WORLDS = (
    World(
        "Euclidean, unit box, f with a full matrix",
        [Q(1), Q(1)],
        [(Q(0), Q(1)), (Q(0), Q(1))],
        [[HALF, THIRD], [THIRD, HALF]],
        [Q(2, 3), -Q(1, 5)],
        huber=Q(0),
    ),
    World(
        "weighted norm, wide box, separable f",
        [Q(2), Q(1, 2)],
        [(-Q(3), Q(3)), (-Q(1), Q(5))],
        [[Q(2), Q(0)], [Q(0), Q(1, 4)]],
        [Q(3), Q(1)],
        huber=Q(0),
    ),
    World(
        "Euclidean, f with a Huber term",
        [Q(1), Q(1)],
        [(-Q(1), Q(1)), (-Q(1), Q(1))],
        [[HALF, Q(0)], [Q(0), Q(1)]],
        [Q(1, 2), Q(2)],
        huber=HALF,
    ),
)

#: λ_t, as rationals, and θ_t; all but the last two meet eq. (B.10).
SCHEDULES = {
    "λ_t = 2/(t+2)": (lambda t: Q(2, t + 2), Q(1)),
    "λ_t = 3/(t+3)": (lambda t: Q(3, t + 3), Q(1)),
    "λ_t = 1": (lambda t: Q(1), Q(1)),
    "λ_t = 1, θ_t = ⅓": (lambda t: Q(1), THIRD),
    "λ_t = ½, θ_t = ½": (lambda t: HALF, HALF),
}
STEPS = 12


@dataclass(frozen=True)
class Move:
    """One step, from t to t + 1."""

    world: World
    t: int
    lam: Fraction
    theta: Fraction
    q: Row
    p: Row
    mu: Row
    nu: Row
    q_next: Row
    p_next: Row
    mu_next: Row

    def fall(self, point: Row) -> Fraction:
        """D(q, q_t) − D(q, q_{t+1})."""
        return self.world.distance(point, self.q, self.p) - self.world.distance(
            point, self.q_next, self.p_next
        )

    @property
    def jump(self) -> Fraction:
        """D(q_{t+1}, q_t)."""
        return self.world.distance(self.q_next, self.q, self.p)


@cache
def runs() -> tuple[tuple[str, list[Move]], ...]:
    """Every world with every schedule, STEPS steps of eq. (B.2)."""
    return tuple(_runs())


def _runs() -> Iterator[tuple[str, list[Move]]]:
    for world, (name, (schedule, theta)) in product(WORLDS, SCHEDULES.items()):
        p = [Q(1, 3), -Q(1, 2)]
        q = world.back(p)
        mu, moves = q, []
        for t in range(STEPS):
            lam = schedule(t)
            nu = mixed(lam, mu, q)
            slope = world.slope(nu)
            p_next = [a - theta / lam * b for a, b in zip(p, slope, strict=True)]
            q_next = world.back(p_next)
            mu_next = mixed(lam, mu, q_next)
            moves.append(Move(world, t, lam, theta, q, p, mu, nu, q_next, p_next, mu_next))
            p, q, mu = p_next, q_next, mu_next
        yield f"{world.name}, {name}", moves
