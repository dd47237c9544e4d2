"""What is true of delivered numbers: both sides of every claim in balls of thousands of bits.

Written from the papers, in their order; rows of A are y_i x_i. A claim yields `Side`s; a `False`
among them is a proof that the claim is false, and only certainty about all of them makes it true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from .data import Data
from .methods import add, softmax, times

#: An equation between doubles is false for certain if it is off by so much of what is added.
COARSE = arb(10) ** -6
#: A step is false if it is off by so much of itself, and by so much of the w that are rounded.
PART, ROUNDED = arb(2) ** -8, arb(2) ** -36


class Facts:
    """The delivered numbers, and what follows from them."""

    def __init__(self, data: Data, unit: bool, ws: list[list[float]], extras: list[dict[str, Any]]):
        self.data, self.unit, self.extras = data, unit, extras
        self.w = [[arb(v) for v in w] for w in ws]
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
    def rho(self) -> int:
        """ρ of Appendix C of Ji, Srebro and Telgarsky: 1 for the exponential loss."""
        return 1

    @property
    def start(self) -> arb:
        """ψ(0)."""
        return self.log_n

    @property
    def gamma(self) -> arb:
        return arb(self.gamma_squared).sqrt()

    @property
    def separable(self) -> bool:
        return self.gamma_squared is not None and bool(self.gamma_squared > 0)

    def smallest(self, t: int) -> arb:
        least = self.scores[t][0]
        for s in self.scores[t][1:]:
            least = least.min(s)
        return least

    def margin(self, t: int) -> arb:
        """γ(w_t), which is 0 for w_t = 0."""
        return self.smallest(t) / self.norm[t] if any(v != 0 for v in self.w[t]) else arb(0)

    def psi(self, t: int) -> arb:
        """ln Σ_i exp(−(A w_t)_i)."""
        least = self.smallest(t)
        return sum(((least - s).exp() for s in self.scores[t]), arb(0)).log() - least

    @cached_property
    def q(self) -> list[list[arb]]:
        """The softmax of −A w_t."""
        return [softmax(s) for s in self.scores]

    @cached_property
    def pull(self) -> list[list[arb]]:
        return [self.data.combine(q, self.unit) for q in self.q]

    @cached_property
    def mu(self) -> list[list[arb]]:
        """Aᵀμ_t: μ_0 = q_0, μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}, λ_t = 2/(t+2)."""
        found = [self.pull[0]]
        for t in range(len(self.w) - 1):
            mix = fmpq(2, t + 2)
            found.append(add(times(1 - mix, found[t]), self.pull[t + 1], mix))
        return found

    @cached_property
    def nu(self) -> list[list[arb]]:
        """Aᵀν_t: ν_t = (1 − λ_t) μ_t + λ_t q_t."""
        return [
            add(times(fmpq(t, t + 2), self.mu[t]), self.pull[t], fmpq(2, t + 2))
            for t in range(len(self.w))
        ]

    @cached_property
    def momentum(self) -> list[list[arb]]:
        """g_t = t/(t+1) (g_{t−1} + Aᵀq_t)."""
        found, g = [], [arb(0)] * self.data.dimension
        for t, pull in enumerate(self.pull):
            g = times(fmpq(t, t + 1), add(g, pull))
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

    def length(self, v: list[arb]) -> arb:
        return self.data.norm(v, self.unit)

    def squared(self, v: list[arb]) -> arb:
        return self.data.square(v, self.unit)

    def updates(self) -> range:
        return range(1, len(self.w))


Side = tuple[Any, Any]
Trit = bool | None


def at_most(sides: Iterator[Side]) -> Trit:
    """Whether left ≤ right for all sides: None if some are too near to tell."""
    known: Trit = True
    for left, right in sides:
        if left > right:
            return False
        if not left <= right:
            known = None
    return known


def equations(sides: Iterator[Side]) -> Trit:
    """For ‖what should be 0‖ and the size of what was added: False if far off, never True."""
    return False if any(gap > COARSE * size for gap, size in sides) else None


def within(sides: Iterator[Side]) -> Trit:
    """For ‖what should be 0‖ and the most that it may be: False if larger, never True."""
    return False if any(gap > most for gap, most in sides) else None


def reached(limit: Any, goals: list[Trit]) -> Trit:
    """Whether some goal at t ≤ limit is met, if as many were delivered."""
    known: Trit = False
    for t, goal in enumerate(goals):
        if t > limit:
            return known
        if goal is None or not t <= limit:
            known = None
        elif goal:
            return True
    return None if known is None or len(goals) <= limit else False


def sign(value: arb, equal: bool = False) -> Trit:
    if value > 0 or (equal and value >= 0):
        return True
    return False if value < 0 or (not equal and value <= 0) else None


def step_side(f: Facts, t: int, step: list[arb], summed: arb | None = None) -> Side:
    """How far w_{t+1} is from w_t + step, and how far it may be before that is no such step.

    Both ends of a step are rounded, and rows that cancel in it (`summed` is what they add up to),
    and a court may allow for that and for a small part of the step: not for a part of w where it is
    the step that is judged.
    """
    off = f.length(add(f.w[t + 1], add(f.w[t], step), -1))
    rounded = size(f, t) + size(f, t + 1) + (arb(0) if summed is None else summed)
    return off, PART * f.length(step) + ROUNDED * rounded + smallest_step(f)


def best_side(sides: list[Side]) -> Side:
    """Of steps that are all allowed, the one that was made: by how much the nearest is missed."""
    missed = [off - most for off, most in sides]
    least = missed[0]
    for gap in missed[1:]:
        least = least.min(gap)
    return least, arb(0)


def step_sides(f: Facts, steps: list[list[arb]], summed: list[arb]) -> Iterator[Side]:
    for t in range(len(f.w) - 1):
        yield step_side(f, t, steps[t], summed[t])


def size(f: Facts, t: int) -> arb:
    """‖w_t‖. In a kernel's space parts may cancel: what is rounded is each coefficient."""
    if f.data.linear:
        return f.norm[t]
    radius = arb(1) if f.unit else arb(f.data.radius_squared).sqrt()
    return sum((abs(v) for v in f.w[t]), arb(0)) * radius


def separated(f: Facts) -> list[Trit]:
    found: list[Trit] = []
    for scores in f.scores:
        signs = [sign(s) for s in scores]
        found.append(False if False in signs else None if None in signs else True)
    return found


def ratio(f: Facts) -> Any:
    """R²/μ²."""
    return (1 if f.unit else f.data.radius_squared) / f.gamma_squared


def radius(f: Facts) -> arb:
    return arb(f.data.radius_squared).sqrt()


def known_steps(f: Facts, weights: Callable[[int], Any]) -> Iterator[Side]:
    """Steps Σ v_i a_i, for weights v (None where they are not known), in the units of the data."""
    if any(v != 0 for v in f.w[0]):
        yield arb(1), arb(0)
    for t in range(len(f.w) - 1):
        v = weights(t)
        if v is not None and "halt" not in f.extras[t]:
            yield step_side(f, t, f.data.combine(v, False), f.data.summed(v, False))


def smallest_step(f: Facts) -> arb:
    """What a subnormal number may be off by, a million times."""
    of_a_row = 0 if f.data.linear else arb(1) if f.unit else radius(f)
    return arb(2) ** -1074 * 10**9 * (1 + of_a_row)


Judge = Callable[[Facts], Trit]


def of_claims(sides: Callable[[Facts], Iterator[Side]]) -> Judge:
    """The same where something is said beside w, which may be a lie: false or not known."""
    return lambda f: False if at_most(sides(f)) is False else None


def bound(sides: Callable[[Facts], Iterator[Side]], separable: bool = False) -> Judge:
    """A claim about every iterate; on separable data only, if so."""

    def judge(f: Facts) -> Trit:
        if f.gamma_squared is None or (separable and not f.separable):
            return None
        return at_most(sides(f))

    return judge


def equation(sides: Callable[[Facts], Iterator[Side]]) -> Judge:
    """A claim that doubles meet up to rounding only."""
    return lambda f: equations(sides(f))


def step(sides: Callable[[Facts], Iterator[Side]]) -> Judge:
    """A claim about every step, which doubles meet up to rounding only."""
    return lambda f: within(sides(f))


def stop(goal: Callable[[Facts], tuple[Any, list[Trit]]]) -> Judge:
    """A claim about how soon a goal is reached, on separable data."""
    return lambda f: reached(*goal(f)) if f.separable else None
