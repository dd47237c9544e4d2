"""Numbers with error bounds: balls of Arb, in which every scalar is computed.

A ball is a midpoint and a radius; operations round outwards, so whatever a comparison of two balls
says with certainty is true of the numbers that they contain. Vectors stay in doubles, for speed,
and enter as balls with a proved radius (`harness.verify.certified`, `harness.verify.iterate`).
A `Relation` is what a statement says about balls; `Relation.decide` says what is known of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from math import inf, isfinite
from types import GeneratorType
from typing import Any, TypeAlias

import numpy as np
from flint import arb, arf, ctx, fmpq, fmpz

Number: TypeAlias = Any  # an arb; python-flint ships no types
Trit: TypeAlias = bool | None  #: yes, no, or not known at this precision

#: Bits of the scalars at each level. At level 0 vectors are doubles with error bounds; from level 1
#: on, the doubles that a solver delivered are taken as the exact numbers they are.
LEVELS = (128, 320, 2048)

#: Unit roundoff of doubles, and a factor that covers second-order terms and the bound's rounding.
ROUNDOFF, SAFETY = 2.0**-53, 1.02
#: Half of it is what a product, a quotient or a root may lose where it falls below the normal
#: doubles; sums of doubles lose nothing there.
ETA = 2.0**-1074
#: More than ETA times the number of operations behind any result here, and than what rounding loses
#: in a bound itself. Where results are multiplied by something large afterwards, their bounds are
#: multiplied as well, or `Space.tiny` and `Space.lost` take its place.
TINY = 2.0**-1000


#: What an author is told who computes otherwise.
BALLS = (
    "numbers here are balls with proved error bounds, so compute with sqrt, log, exp, total and"
    " smallest of gammabar.papers instead of NumPy or math"
)


def number(value: Any) -> Number:
    """An integer, a double or a rational as a ball; doubles are taken for exact."""
    kind = type(value)
    if kind is arb:
        return value
    if kind is float or kind is int:
        return arb(value)
    if kind is Fraction:
        return arb(fmpq(value.numerator, value.denominator))
    if kind in (fmpz, fmpq, arf):
        return arb(value)
    if isinstance(value, np.integer):
        return arb(int(value))
    raise TypeError(f"{_name(value)} has no error bound; {BALLS}")


def ball(middle: float, error: float) -> Number:
    """The ball of all numbers within `error` of `middle`; no number at all where that is unknown.

    What left the range of doubles on the way may be anything: an infinite or undefined midpoint or
    error gives a ball that decides no comparison.
    """
    if isfinite(middle) and error < inf:
        return arb(middle, error)
    return arb("nan")


def known_zero(value: Any) -> bool:
    """Whether a number is 0 for certain. Of a ball that may be 0, ``value != 0`` is false as well:
    that is no test of anything."""
    return bool(value == 0)


def between(low: Number, high: Number) -> Number:
    """The smallest ball that contains both."""
    return low.union(high)


def log(value: Any) -> Number:
    """Natural logarithm of a number."""
    return number(value).log()


def sqrt(value: Any) -> Number:
    """Square root; a ball that rounding made reach a little below zero starts at zero."""
    value = number(value)
    if value < 0:
        raise ValueError("the square root of a negative number")
    if value > 0 or value == 0 or not value.is_finite():
        return value.sqrt()
    high = value.upper().sqrt() if value.upper() > 0 else arb(0)
    return between(arb(0), high)


def exp(value: Any) -> Number:
    """e to the power of a number."""
    return number(value).exp()


def total(values: Iterable[Number]) -> Number:
    """The sum of balls."""
    return sum(values, arb(0))


def smallest(values: Iterable[Number]) -> Number:
    """The minimum of balls."""
    return reduce(lambda least, value: least.min(value), values)


def middle(value: Number) -> float:
    """The midpoint as a double."""
    return float(value.mid())


def upper(value: Number) -> float:
    """A double that is not below the number in absolute value."""
    return float(value.abs_upper()) * (1 + 4 * ROUNDOFF) + TINY


def precision() -> int:
    """Bits of the scalars at present."""
    return int(ctx.prec)


#: ``with working(bits):`` computes scalars with that many bits.
working: Any = ctx.workprec


class Decision(StrEnum):
    """What is known of a relation."""

    HOLDS = "holds"
    DOUBT = "doubt"
    #: Violated, but by no more than rounding in the run may cause.
    ROUNDING = "rounding"
    VIOLATED = "violated"


HOLDS, DOUBT, ROUNDING, VIOLATED = Decision

ZERO = number(0)

#: An equation that allows for more than this part of what it compares decides nothing.
COARSE = 2.0**-10
#: What is left of a sum is not held better than this part of its summands, by whoever adds them up
#: in doubles: 128 roundoffs of them are no fault of what is compared, see `size_of`.
HELD = 2.0**-36


@dataclass(slots=True)  # not frozen: that costs a microsecond, at every iterate
class Relation:
    """left ≤ right, left < right, left = right, or a plain fact.

    What is measured stands on the left of ≤ where the statement lets it.
    """

    left: Any
    right: Any
    #: "<=", "<", "==" or "fact".
    op: str
    #: Equations between numbers that a solver computed in doubles hold up to the rounding errors
    #: that its arithmetic cannot avoid: a proved bound for them. For inequalities: a violation up
    #: to this size, beyond the rounding of the run (`run_rounding`), is only doubt.
    allowance: float = 0.0
    #: Magnitude of what is compared. An equation holds only if its allowance is small beside it:
    #: where rounding may be as large as that, agreement up to rounding says nothing. Default: the
    #: larger side, so an equation with 0 that has an allowance must say it (`size_of`). For
    #: inequalities: of the numbers that the sides were computed from, to which rounding in the run
    #: is relative; default 1 + |left| + |right|.
    size: float = -1.0
    #: What is compared, for people: "γ(w_t) ≥ bound"; and where: "row 17", "j = 3".
    what: str = ""
    where: str = ""
    #: For "fact": whether it is true.
    fact: Trit = None
    #: Whether it is only about what the solver says beside w, and that this is true. A solver that
    #: fails it has lied; that tells nothing of what the bound is worth.
    said: bool = False

    @property
    def slack(self) -> Number:
        """right − left; for equations the allowance that is left."""
        if self.op == "==":
            return number(self.allowance) - abs(self.left - self.right)
        return self.right - self.left

    def tightness(self) -> float | None:
        """Left over right: 1 is an exhausted bound. None where that ratio says nothing."""
        if self.op == "==":
            gap = abs(float(self.left - self.right))
            return gap / self.allowance if self.allowance else None
        right = float(self.right)
        return float(self.left) / right if right > 0 else None

    def certain(self) -> bool:
        """Whether it is known to hold. What is infinite or no number decides nothing."""
        return self.held() is not None

    def held(self) -> float | None:
        """How tight it is if it is known to hold (−∞ where that says nothing), else None."""
        left, right, op = self.left, self.right, self.op
        if op == "<=" or op == "<":
            if left <= right if op == "<=" else left < right:
                top, bottom = float(left), float(right)
                # Infinite radii lie below +∞ and above −∞ alone; finite balls may leave doubles.
                if (top > -inf and bottom < inf) or (left.is_finite() and right.is_finite()):
                    return top / bottom if bottom > 0 else -inf
        elif op == "==":
            gap, allowance, size = left - right, self.allowance, self.size
            if size < 0:
                size = max(abs(float(left)), abs(float(right)))
            if (
                abs(gap) <= allowance < inf
                # What is allowed for must be small beside what the equation is about.
                and (allowance <= COARSE * size or not allowance)
                and left.is_finite()
                and right.is_finite()
            ):
                return abs(float(gap)) / allowance if allowance else -inf
        elif self.fact is True:
            return -inf
        return None

    def decide(self, rounding: float, coarse: float = 1.0) -> Decision:
        """What is known, if rounding in the run may move numbers of size one by `rounding`.

        `coarse` says how many times more than doubles the run rounds (`View.coarse`).
        """
        if self.certain():
            return HOLDS
        if self.op == "fact":
            return VIOLATED if self.fact is False and coarse == 1 else DOUBT
        if not (self.left.is_finite() and self.right.is_finite() and isfinite(self.allowance)):
            return DOUBT
        if self.op == "==":
            return self._equation(coarse)
        fails = self.left >= self.right if self.op == "<" else self.left > self.right
        if not fails:
            return DOUBT
        size = self.size if self.size >= 0 else 1 + upper(self.left) + upper(self.right)
        allowed = coarse * (self.allowance + rounding * size)
        # Nothing exceeds what is infinite or no number: then it remains rounding.
        return VIOLATED if self.left > self.right + allowed else ROUNDING

    def _equation(self, coarse: float) -> Decision:
        """What is known of an equation that does not hold up to the rounding of doubles."""
        gap, allowed = abs(self.left - self.right), self.allowance
        if coarse > 1:
            size = self.size if self.size >= 0 else upper(self.left) + upper(self.right)
            allowed = coarse * (allowed + ROUNDOFF * size)
            if gap <= allowed <= COARSE * size:
                return HOLDS
        return VIOLATED if gap > allowed else DOUBT


# What is left out of a relation is left out by place here: names cost as much as the rest of it.


def at_most(left: Any, right: Any, what: str = "", **more: Any) -> Relation:
    """left ≤ right."""
    if type(left) is not arb:
        left = number(left)
    if type(right) is not arb:
        right = number(right)
    if more:
        return Relation(left, right, "<=", what=what, **more)
    return Relation(left, right, "<=", 0.0, -1.0, what)


def at_least(left: Any, right: Any, what: str = "", **more: Any) -> Relation:
    """left ≥ right (stored as right ≤ left)."""
    return at_most(right, left, what, **more)


def below(left: Any, right: Any, what: str = "", **more: Any) -> Relation:
    """left < right."""
    return Relation(number(left), number(right), "<", what=what, **more)


def equal(
    left: Any,
    right: Any,
    what: str = "",
    *,
    allowance: float = 0.0,
    size: float = -1.0,
    **more: Any,
) -> Relation:
    """left = right, up to a proved bound on the rounding errors of the solver.

    Whatever is allowed for must be small beside what is compared, see `Relation.size`.
    """
    if allowance and size < 0 and type(right) is int and not right:
        raise TypeError("an equation with 0 that has an allowance must say its size, see size_of")
    if type(left) is not arb:
        left = number(left)
    right = ZERO if type(right) is int and not right else number(right)
    return Relation(left, right, "==", allowance, size if size < inf else 0.0, what, **more)


def fact(truth: Trit, what: str = "", **more: Any) -> Relation:
    """Something that is true, false, or not known at this precision.

    Anything else is refused: a ball, a text or a list is "true" to Python whatever it says.
    """
    if truth is not None and type(truth) is not bool:
        if not isinstance(truth, np.bool_):
            raise TypeError(f"fact({type(truth).__name__}): give it True, False or None")
        truth = bool(truth)
    return Relation(ZERO, ZERO, "fact", what=what, fact=truth, **more)


def listed(claimed: Any, needed: bool = False) -> list[Relation]:
    """What a claim returned, as a list of relations; where one is `needed`, None is refused."""
    if type(claimed) is Relation:
        return [claimed]
    if claimed is None:
        if needed:
            raise TypeError("it returns nothing; return a relation as at_most(left, right)")
        return []
    usual = type(claimed) is GeneratorType or type(claimed) is list  # `isinstance` is slow here
    if not usual and (not isinstance(claimed, Iterable) or isinstance(claimed, str | np.ndarray)):
        raise _no_relation(claimed)
    relations = claimed if type(claimed) is list else list(claimed)
    for relation in relations:
        if type(relation) is not Relation:
            raise _no_relation(relation)
    return relations


def _no_relation(value: Any) -> TypeError:
    if isinstance(value, bool | np.bool_):
        what = f"it returns a bare {_name(value)}; return fact({value}, …) or a comparison"
    else:
        what = f"it returns {_name(value)} where a relation is needed; return at_most(left, right),"
        what += " at_least(…), below(…), equal(…) or fact(…) of gammabar.papers"
    return TypeError(what)


def _name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")


def any_of(relations: Iterable[Relation]) -> Relation:
    """That one of several equations holds: one that does, else one that is in doubt, if any.

    Each has an allowance of its own, so the one with the smallest gap may be violated while another
    holds.
    """
    order = (VIOLATED, ROUNDING, DOUBT, HOLDS)
    return max(relations, key=lambda one: (order.index(one.decide(0)), float(one.slack.mid())))


def size_of(value: Any, parts: float = 0.0) -> float:
    """The size of what an equation compares, for its allowance to be small beside.

    `value` is the length of a step, say, and not that of the iterate which it is added to; of a
    ball the lower end. `parts` are numbers that are added up in doubles, here and by the solver,
    and of which `value` is what may be left: rounding of a few units of these is no fault of it.
    """
    least = value if type(value) is float else float(value.abs_lower())
    size = (least if least > 0 else 0.0) + HELD * parts
    return size if size < inf else 0.0  # beside what is infinite anything would be small


def within(gap: Any, allowed: float, size: float) -> Trit:
    """Whether a gap is no more than rounding; not known where rounding may be as large as `size`,
    what is compared."""
    if not isfinite(allowed):
        return None
    if gap > allowed:
        return False
    return True if gap <= allowed and allowed <= COARSE * size < inf else None


def nearly(
    left: Any,
    right: Any,
    what: str = "",
    *,
    rounding: Any,
    size: float,
    magnitude: float = -1.0,
    **more: Any,
) -> Relation:
    """left ≤ right, for a bound that right runs attain: up to rounding, if that is small beside
    `size`; where it is not, a violation by no more than that is in doubt. `magnitude` is that of
    the numbers which both were computed from (`Relation.size` of an inequality)."""
    off = rounding if type(rounding) is float else upper(number(rounding))
    if off <= COARSE * size < inf:
        return at_most(left, number(right) + off, what, size=magnitude, **more)
    return at_most(left, right, what, allowance=off, size=magnitude, **more)


def same_digits(left: Any, right: Any, what: str = "", **more: Any) -> Relation:
    """left = right, to half of the digits that are carried: balls alone prove no equation.

    Relative to the larger side; two sides that may both be 0 are asked for all digits there are.
    """
    left, right = number(left), number(right)
    size = max(abs(float(left)), abs(float(right))) + (precision() >= LEVELS[-1])
    allowance = 2.0 ** -(precision() // 2) * size
    return equal(left, right, what, allowance=allowance, size=size, **more)


def run_rounding(n: int, dimension: int, t: int) -> float:
    """How far rounding in t steps may move numbers of size one: generous, and only used for doubt.

    A step sums n or d products, each with a relative error of one unit roundoff; the errors of t
    steps add up, and momentum carries each of them through the later steps.
    """
    return 4 * ROUNDOFF * (n + dimension + 64) * (t + 1) ** 2
