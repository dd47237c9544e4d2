"""Vectors in doubles that know how far from the truth they may be."""

from __future__ import annotations

import sys
from functools import cache
from math import inf
from typing import Any

from numpy import empty

from gammabar.harness.court.numbers import ROUNDOFF, TINY, Number, ball, middle, number, upper
from gammabar.harness.court.space import Floats, Space


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.
    """

    __slots__ = ("_reach", "_square", "err", "mid", "space")

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
        self._square = square

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
            return self.space.norm(self.mid, self.err, self._square)
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
            self._reach = self.space.size(self.mid)
        return self._reach


def weighted_sum(*terms: Any) -> Vec:
    """a x + b y + …, for coefficients that are at most four roundoffs from what is meant.

    ``weighted_sum(a, x, b, y)`` is ``a * x + b * y`` for doubles, with one bound for the whole.
    """
    space = terms[1].space
    error = reach = 0.0
    least = inf
    doubles: list[Any] = []
    for k in range(0, len(terms), 2):
        factor, x = float(terms[k]), terms[k + 1]
        doubles += factor, x.mid
        size = abs(factor)
        if size < least:
            least = size
        error += size * x.err
        reach += size * (x.reach() if x._reach is None else x._reach)
    if 0 < least < TINY:  # a coefficient that underflow may have taken roundoffs from
        error = inf
    # Per entry: four roundoffs in a coefficient, one in its product, one in every sum.
    error += (6 + len(terms) // 2) * ROUNDOFF * reach
    tiny, grown = len(terms) * space.tiny, 1 + 8 * ROUNDOFF
    mid, square = _summed(doubles)
    return Vec(space, mid, error * grown + tiny, reach * grown + tiny, square)


def _summed(doubles: list[Any]) -> tuple[Floats, float | None]:
    """a x + b y + … for doubles in any order, and perhaps the square of its length."""
    compiled = _compiled().get(len(doubles)) if "numba" in sys.modules else None
    if compiled is not None:
        mid = empty(doubles[1].size)
        return mid, compiled(mid, *doubles)
    mid = doubles[0] * doubles[1]
    for factor, other in zip(doubles[2::2], doubles[3::2], strict=True):
        if factor == 1:
            mid += other
        elif factor == -1:
            mid -= other
        else:
            mid += factor * other
    return mid, None


@cache
def _compiled() -> dict[int, Any]:
    """The compiled sums by how many coefficients and vectors there are."""
    from gammabar.problems.compiled import sums

    return {4: sums.two, 6: sums.three, 8: sums.four}


def scaled(a: float, x: Vec) -> Vec:
    """a x, for a coefficient as in `weighted_sum`."""
    largest = abs(a)
    error = largest * (x.err + 8 * ROUNDOFF * x.reach()) if largest > TINY or not a else inf
    reach = largest * x.reach() * (1 + 4 * ROUNDOFF) + x.space.tiny
    return Vec(x.space, a * x.mid, error * (1 + 8 * ROUNDOFF) + x.space.tiny, reach)
