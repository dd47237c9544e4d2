"""What is true of delivered numbers: both sides of every claim in balls of thousands of bits.

Written from the papers, in their order; rows of A are y_i x_i. A claim yields pairs (left, right)
with left ≤ right; one that is certainly violated proves the claim false, and only certainty about
all of them makes it true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq

from .arithmetic import *
from .data import Data

Extras = list[dict[str, Any]]
#: A report that is not a list of finite numbers of the right length: false of everything.
BAD = vec([])


class Facts:
    """The delivered numbers, and what follows from them."""

    #: ρ of Appendix C of Ji, Srebro and Telgarsky.
    rho = 1

    def __init__(self, data: Data, unit: bool, ws: Any, extras: Extras, **options: Any) -> None:
        self.data, self.unit, self.extras = data, unit, extras
        self.options = options
        self.w = [balls(w) for w in ws]
        self.scores = [data.scores(w, unit) for w in self.w]
        self.norm = [data.norm(w, unit) for w in self.w]
        self.log_n = arb(data.n).log()

    @cached_property
    def gamma_squared(self) -> Any:
        """γ̄² in the convention of the claim; None if it is not known."""
        if self.data.optimum is None:
            return None
        square = self.data.optimum[0]
        return square / self.data.radius_squared if self.unit else square

    @property
    def gamma(self) -> arb:
        return arb(self.gamma_squared).sqrt()

    @property
    def separable(self) -> bool:
        return self.gamma_squared is not None and bool(self.gamma_squared > 0)

    @property
    def start(self) -> arb:
        """ψ(0)."""
        return self.log_n

    def smallest(self, t: int) -> arb:
        return smallest(self.scores[t])

    def moved(self, t: int) -> bool:
        return bool((self.w[t] != 0).any())

    def margin(self, t: int) -> arb:
        """γ(w_t), which is 0 for w_t = 0."""
        return self.smallest(t) / self.norm[t] if self.moved(t) else arb(0)

    def psi(self, t: int) -> arb:
        """ln Σ_i exp(−(A w_t)_i)."""
        return log_sum_exp(self.scores[t])

    @cached_property
    def q(self) -> list[Vector]:
        """The softmax of −A w_t."""
        return [softmax(s) for s in self.scores]

    @cached_property
    def pull(self) -> list[Vector]:
        return [self.data.combine(q, self.unit) for q in self.q]

    @cached_property
    def mu_weights(self) -> list[Vector]:
        """μ_0 = q_0, μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}, λ_t = 2/(t+2)."""
        found = [self.q[0]]
        for t in range(len(self.w) - 1):
            mix = fmpq(2, t + 2)
            found.append((1 - mix) * found[t] + mix * self.q[t + 1])
        return found

    @cached_property
    def nu_weights(self) -> list[Vector]:
        """ν_t = (1 − λ_t) μ_t + λ_t q_t."""
        pairs = enumerate(zip(self.mu_weights, self.q, strict=True))
        return [fmpq(t, t + 2) * mu + fmpq(2, t + 2) * q for t, (mu, q) in pairs]

    @cached_property
    def mu(self) -> list[Vector]:
        """Aᵀμ_t."""
        return [self.data.combine(v, self.unit) for v in self.mu_weights]

    @cached_property
    def nu(self) -> list[Vector]:
        """Aᵀν_t."""
        return [self.data.combine(v, self.unit) for v in self.nu_weights]

    @cached_property
    def momentum(self) -> list[Vector]:
        """g_t = t/(t+1) (g_{t−1} + Aᵀq_t)."""
        found, g = [], 0 * self.w[0]
        for t, pull in enumerate(self.pull):
            g = fmpq(t, t + 1) * (g + pull)
            found.append(g)
        return found

    @cached_property
    def summed(self) -> list[tuple[arb, arb]]:
        """What Aᵀq_t and g_t are sums of, in size."""
        found, g = [], arb(0)
        for t, q in enumerate(self.q):
            size = self.data.summed(q, self.unit)
            g = fmpq(t, t + 1) * (g + size)
            found.append((size, g))
        return found

    @cached_property
    def mu_squares(self) -> list[arb]:
        """‖Aᵀμ_t‖²."""
        return [self.squared(v) for v in self.mu]

    @cached_property
    def nu_squares(self) -> list[arb]:
        """‖Aᵀν_t‖²."""
        return [self.squared(v) for v in self.nu]

    def length(self, v: Vector) -> arb:
        return self.data.norm(v, self.unit)

    def squared(self, v: Vector) -> arb:
        return self.data.square(v, self.unit)

    def combine(self, q: Vector) -> Vector:
        return self.data.combine(q, self.unit)

    def row(self, i: int) -> Vector:
        return self.data.row(i, self.unit)

    def size(self, t: int) -> arb:
        """What of w_t is rounded."""
        return self.data.spread(self.w[t], self.unit)

    def updates(self) -> range:
        return range(1, len(self.w))

    def said(self, t: int, name: str) -> Vector | None:
        """The numbers that are reported at t; None where there are none, `BAD` if they are bad."""
        value = self.extras[t].get(name)
        if value is None:
            return None
        long = self.data.n if name in ("p", "dual", "mu", "nu") else self.data.dimension
        if not isinstance(value, np.ndarray) or value.shape != (long,) or value.dtype.kind != "f":
            return BAD
        return balls(value) if np.isfinite(value).all() else BAD

    def row_said(self, t: int) -> Vector | None:
        """The row that is reported at t; None if there is no such row."""
        i = self.extras[t].get("i")
        return self.row(i) if type(i) is int and 0 <= i < self.data.n else None


Side = tuple[Any, Any]
Sides = Callable[[Facts], Iterator[Side]]
Truth = Callable[[Facts], Trit]


def at_most(sides: Iterator[Side]) -> Trit:
    """Whether left ≤ right for all sides: None if some are too near to tell."""
    known: Trit = True
    for left, right in sides:
        if left > right:
            return False
        if not left <= right:
            known = None
    return known


def within(sides: Iterator[Side]) -> Trit:
    """For ‖what should be 0‖ and the most that it may be: False if larger, never True."""
    return False if any(gap > most for gap, most in sides) else None


def bound(sides: Sides, separable: bool = False) -> Truth:
    """A claim about every iterate; on separable data only, if so."""

    def truth(f: Facts) -> Trit:
        if f.gamma_squared is None or (separable and not f.separable):
            return None
        return at_most(sides(f))

    return truth


def not_true(truth: Truth) -> Truth:
    """A claim in which reports or rounding allowances occur: false or not known."""
    return lambda f: False if truth(f) is False else None


def reported(sides: Sides) -> Truth:
    return lambda f: False if at_most(sides(f)) is False else None


def step(sides: Sides) -> Truth:
    """A claim about every step, which doubles meet up to rounding only."""
    return lambda f: within(sides(f))


def equation(sides: Sides) -> Truth:
    """For ‖what should be 0‖ and the size of what was added."""
    return lambda f: within((gap, COARSE * size) for gap, size in sides(f))


def stop(goal: Callable[[Facts], tuple[Any, list[Trit]]]) -> Truth:
    """A claim about how soon a goal is reached, on separable data."""
    return lambda f: reached(*goal(f)) if f.separable else None


def either(*truths: Truth) -> Truth:
    """False if one of them is; else not known."""
    return lambda f: False if any(truth(f) is False for truth in truths) else None


def reached(limit: Any, goals: list[Trit]) -> Trit:
    """Whether some goal at t ≤ limit is met, if as many iterates were delivered."""
    known: Trit = False
    for t, goal in enumerate(goals):
        if t > limit:
            return known
        if goal is None or not t <= limit:
            known = None
        elif goal:
            return True
    return None if known is None or len(goals) <= limit else False


def separated(f: Facts) -> list[Trit]:
    found: list[Trit] = []
    for scores in f.scores:
        signs = [sign(s) for s in scores]
        found.append(False if False in signs else None if None in signs else True)
    return found


def step_side(f: Facts, t: int, move: Vector, summed: Any = 0) -> Side:
    """How far w_{t+1} is from w_t + move, and how far it may be before that is not such a step.

    Both ends of a step are rounded, and rows that cancel in it (`summed` is what they add up to).
    The harness may allow for that and for a small part of the step, but not for a part of w.
    """
    off = f.length(f.w[t + 1] - f.w[t] - move)
    rounded = f.size(t) + f.size(t + 1) + summed
    return off, PART * f.length(move) + FINE * rounded + smallest_step(f)


def best_side(sides: list[Side]) -> Side:
    """Of steps that are all allowed, the one that was made: by how much the nearest is missed."""
    return smallest(off - most for off, most in sides), arb(0)


def weighted_steps(f: Facts, weights: Callable[[int], Any]) -> Iterator[Side]:
    """Steps Σ v_i a_i; the weights v are None where they are not known."""
    for t in range(len(f.w) - 1):
        v = weights(t)
        if v is not None and "halt" not in f.extras[t]:
            yield step_side(f, t, f.combine(v), f.data.summed(v, f.unit))


def smallest_step(f: Facts) -> arb:
    """What a subnormal number may be off by, a million times."""
    of_a_row = 0 if f.data.linear else arb(1) if f.unit else f.data.radius
    return arb(2) ** -1074 * 10**9 * (1 + of_a_row)


@dataclass
class Step:
    """w_t, and what a method reports beside it."""

    w: Vector
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A method: its solver in this project, its run in balls, and what is claimed of it."""

    solver: str
    run: Callable[[Data, Any], Iterator[Step]]
    claims: dict[str, Truth]
    unit: bool = True  # the paper assumes rows of norm at most one
    settings: dict[str, Any] = field(default_factory=dict)
    #: What the method reports of the w that it delivers, where that is more than `run` reports;
    #: and the same for wrong runs only, where the run itself reports it with fewer roundings.
    says: Callable[[Facts], Extras] | None = None
    says_if_wrong: Callable[[Facts], Extras] | None = None
    facts: type[Facts] = Facts


def weight_method(
    solver: str,
    name: str,
    weights: Callable[[Vector, int], Vector | None],
    claims: dict[str, Truth] | None = None,
    unit: bool = True,
    starts: bool = False,
) -> Method:
    """w_0 = 0, w_{t+1} = w_t + Σ_i v_i a_i, for weights v of the scores and t: the run, and `name`,
    the statement about its steps (and about w_0 if `starts`)."""

    def run(data: Data, rng: Any) -> Iterator[Step]:
        w, t = zeros(data.dimension), 0
        while True:
            yield Step(w)
            v = weights(data.scores(w, unit), t)
            if v is None:
                return
            w, t = w + data.combine(v, unit), t + 1

    def sides(f: Facts) -> Iterator[Side]:
        if starts:
            yield f.norm[0], arb(0)
        yield from weighted_steps(f, lambda t: weights(f.scores[t], t))

    return Method(solver, run, {**(claims or {}), name: step(sides)}, unit)
