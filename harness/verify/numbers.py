"""Numbers with error bounds: balls of Arb, in which every scalar is computed.

A ball is a midpoint and a radius; operations round outwards, so whatever a comparison of two balls
says with certainty is true of the numbers that they contain. Vectors stay in doubles, for speed,
and enter as balls with a proved radius (`harness.verify.certified`, `harness.verify.iterate`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite
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
    if kind is int or kind is float:
        return arb(value)
    if kind is Fraction:
        return arb(fmpq(value.numerator, value.denominator))
    if kind in (fmpz, fmpq, arf):
        return arb(value)
    if isinstance(value, np.integer):
        return arb(int(value))
    name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
    raise TypeError(f"{name} has no error bound; {BALLS}")


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
    """Natural logarithm."""
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
    result = arb(0)
    for value in values:
        result += value
    return result


def smallest(values: Iterable[Number]) -> Number:
    """The minimum of balls."""
    iterator = iter(values)
    result = next(iterator)
    for value in iterator:
        result = result.min(value)
    return result


def middle(value: Number) -> float:
    """The midpoint as a double."""
    return float(value.mid())


def upper(value: Number) -> float:
    """A double that is not below the number in absolute value."""
    return float(value.abs_upper()) * (1 + 4 * ROUNDOFF) + TINY


def precision() -> int:
    """Bits of the scalars at present."""
    return int(ctx.prec)


class working:
    """``with working(bits):`` computes scalars with that many bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before = ctx.prec
        ctx.prec = self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before
