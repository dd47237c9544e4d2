"""Vectors in doubles that know how far from the truth they may be."""

from __future__ import annotations

from math import inf
from typing import Any

from gammabar.harness.court.numbers import ROUNDOFF, TINY, Number, ball, middle, number, upper
from gammabar.harness.court.space import Floats, Space


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.
    """

    __slots__ = ("_reach", "err", "mid", "space")

    def __init__(
        self, space: Space, mid: Floats, err: float = 0.0, reach: float | None = None
    ) -> None:
        self.space, self.mid, self.err, self._reach = space, mid, err, reach

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
            return self.space.norm(self.mid, self.err)
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
    factor, x = terms[0], terms[1]
    mid = factor * x.mid
    size = abs(factor)
    error, reach, least = size * x.err, size * x.reach(), size
    for k in range(2, len(terms), 2):
        factor, y = terms[k], terms[k + 1]
        if factor == 1:
            mid += y.mid
        elif factor == -1:
            mid -= y.mid
        else:
            mid += factor * y.mid
        size = abs(factor)
        if size < least:
            least = size
        error += size * y.err
        reach += size * (y.reach() if y._reach is None else y._reach)
    if 0 < least < TINY:  # a coefficient that underflow may have taken roundoffs from
        error = inf
    # Per entry: four roundoffs in a coefficient, one in its product, one in every sum.
    error += (6 + len(terms) // 2) * ROUNDOFF * reach
    tiny, grown = len(terms) * x.space.tiny, 1 + 8 * ROUNDOFF
    return Vec(x.space, mid, error * grown + tiny, reach * grown + tiny)


def scaled(a: float, x: Vec) -> Vec:
    """a x, for a coefficient as in `weighted_sum`."""
    largest = abs(a)
    error = largest * (x.err + 8 * ROUNDOFF * x.reach()) if largest > TINY or not a else inf
    reach = largest * x.reach() * (1 + 4 * ROUNDOFF) + x.space.tiny
    return Vec(x.space, a * x.mid, error * (1 + 8 * ROUNDOFF) + x.space.tiny, reach)
