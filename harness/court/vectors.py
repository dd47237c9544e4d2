"""Vectors in doubles that know how far from the truth they may be."""

from __future__ import annotations

import sys
from functools import cache
from math import inf
from typing import Any

from numpy import empty

from gammabar.harness.court.numbers import ROUNDOFF, TINY, Number, ball, middle, number, upper
from gammabar.harness.court.space import Floats, Space

#: What covers the rounding of a bound itself.
_GROWN = 1 + 8 * ROUNDOFF


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.
    """

    __slots__ = ("_reach", "err", "mid", "space", "square")

    def __init__(
        self,
        space: Space,
        mid: Floats,
        err: float = 0.0,
        reach: float | None = None,
        square: float | None = None,
    ) -> None:
        self.space, self.mid, self.err, self._reach = space, mid, err, reach
        #: The sum of the squares of `mid` in doubles, where it is known already.
        self.square = square

    def __add__(self, other: Vec) -> Vec:
        # The triangle inequality saves a norm, for a bound that is hardly larger.
        reach = (self.reach() + other.reach()) * (1 + 4 * ROUNDOFF)
        return self._sum(self.mid + other.mid, other, reach)

    def __sub__(self, other: Vec) -> Vec:
        mid = self.mid - other.mid
        return self._sum(mid, other, self.space.size(mid))

    def _sum(self, mid: Floats, other: Vec, reach: float) -> Vec:
        return Vec(self.space, mid, self._grown(self.err + other.err, reach), reach)

    def __mul__(self, factor: Any) -> Vec:
        if type(factor) is float:
            rounded, largest, lost = factor, abs(factor), 0.0
        else:
            exact = number(factor)
            rounded, largest = middle(exact), upper(exact)
            lost = upper(exact - rounded)
        reach = largest * self.reach() * (1 + 4 * ROUNDOFF) + self.space.tiny
        error = largest * self.err + lost * self.reach()
        return Vec(self.space, rounded * self.mid, self._grown(error, reach), reach)

    __rmul__ = __mul__

    def __neg__(self) -> Vec:
        return Vec(self.space, -self.mid, self.err)

    def _grown(self, error: float, size: float) -> float:
        """An error after one rounding of entries of this size: underflow has its own term."""
        return (error + ROUNDOFF * size) * (1 + 8 * ROUNDOFF) + self.space.tiny

    def norm(self, exact: bool = False) -> Number:
        """‖v‖."""
        if not exact:
            return self.space.norm(self.mid, self.err, self.square)
        length = self.space.exact_norm(self.mid)
        return length if not self.err else length + ball(0.0, self.err)

    def inner(self, other: Vec) -> Number:
        """⟨v, w⟩."""
        value = self.space.inner(self.mid, other.mid)
        error = self.err * other.size() + other.err * self.reach()
        return value + ball(0.0, error * (1 + 8 * ROUNDOFF))

    def size(self) -> float:
        """A bound on the norm of the truth."""
        return self.reach() + self.err

    def reach(self) -> float:
        """A bound on the norm of the doubles, and on what it is for their absolute values."""
        if self._reach is None:
            self._reach = self.space.size(self.mid, self.square)
        return self._reach


def weighted_sum(
    a: float,
    x: Vec,
    b: float,
    y: Vec,
    c: float = 0.0,
    z: Vec | None = None,
    e: float = 0.0,
    u: Vec | None = None,
) -> Vec:
    """a x + b y + …, for coefficients that are at most four roundoffs from what is meant.

    ``weighted_sum(a, x, b, y)`` is ``a * x + b * y`` for doubles, with one bound for the whole.
    There are a dozen of them at every iterate, so there is no loop over two to four terms.
    """
    p, q = abs(a), abs(b)
    error = p * x.err + q * y.err
    reach = p * (x._reach or x.reach()) + q * (y._reach or y.reach())
    small, count = p < TINY or q < TINY, 2
    if z is not None:
        p, count = abs(c), 3
        error += p * z.err
        reach += p * (z._reach or z.reach())
        small = small or p < TINY
        if u is not None:
            p, count = abs(e), 4
            error += p * u.err
            reach += p * (u._reach or u.reach())
            small = small or p < TINY
    if small and any(0 < abs(factor) < TINY for factor in (a, b, c, e)):
        error = inf  # a coefficient that underflow may have taken roundoffs from
    # Per entry: four roundoffs in a coefficient, one in its product, one in every sum.
    error += (6 + count) * ROUNDOFF * reach
    space = x.space
    tiny = 2 * count * space.tiny
    compiled = _compiled() if "numba" in sys.modules else None
    if compiled is None:
        mid, square = _summed(a, x, b, y, c, z, e, u), None
    else:
        mid = empty(space.dimension)
        if z is None:
            square = compiled[0](mid, float(a), x.mid, float(b), y.mid)
        elif u is None:
            square = compiled[1](mid, float(a), x.mid, float(b), y.mid, float(c), z.mid)
        else:
            terms = float(a), x.mid, float(b), y.mid, float(c), z.mid, float(e), u.mid
            square = compiled[2](mid, *terms)
    return Vec(space, mid, error * _GROWN + tiny, reach * _GROWN + tiny, square)


def _summed(
    a: float, x: Vec, b: float, y: Vec, c: float, z: Vec | None, e: float, u: Vec | None
) -> Floats:
    """a x + b y + … in doubles. A factor of one costs a product less, and no rounding."""
    mid = b * y.mid
    mid += x.mid if a == 1 else a * x.mid
    if z is not None:
        mid += z.mid if c == 1 else c * z.mid
    if u is not None:
        mid += u.mid if e == 1 else e * u.mid
    return mid


@cache
def _compiled() -> tuple[Any, Any, Any] | None:
    """The compiled sums of two, three and four vectors."""
    from gammabar.problems.compiled import sums

    return sums.two, sums.three, sums.four


def scaled(a: float, x: Vec) -> Vec:
    """a x, for a coefficient as in `weighted_sum`."""
    largest = abs(a)
    error = largest * (x.err + 8 * ROUNDOFF * x.reach()) if largest > TINY or not a else inf
    reach = largest * x.reach() * (1 + 4 * ROUNDOFF) + x.space.tiny
    return Vec(x.space, a * x.mid, error * (1 + 8 * ROUNDOFF) + x.space.tiny, reach)
