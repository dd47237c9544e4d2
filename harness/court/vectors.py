"""Vectors in doubles that know how far from the truth they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.court.numbers import ROUNDOFF, TINY, Number, ball, middle, number, upper
from harness.court.space import Floats, Space


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.
    """

    __slots__ = ("_reach", "err", "mid", "space")

    def __init__(self, space: Space, mid: Any, err: float = 0.0) -> None:
        self.space, self.err = space, float(err)
        self.mid: Floats = np.asarray(mid, dtype=np.float64)
        self._reach: float | None = None

    def __add__(self, other: Vec) -> Vec:
        # The triangle inequality saves a norm, for a bound that is hardly larger.
        reach = (self.reach() + other.reach()) * (1 + 4 * ROUNDOFF)
        return self._sum(self.mid + other.mid, other, reach)

    def __sub__(self, other: Vec) -> Vec:
        mid = self.mid - other.mid
        return self._sum(mid, other, self.space.size(mid))

    def _sum(self, mid: Floats, other: Vec, reach: float) -> Vec:
        result = Vec(self.space, mid, _grown(self.err + other.err, reach))
        result._reach = reach
        return result

    def __mul__(self, factor: Any) -> Vec:
        if type(factor) is float:
            rounded, largest, lost = factor, abs(factor), 0.0
        else:
            exact = number(factor)
            rounded, largest = middle(exact), upper(exact)
            lost = upper(exact - rounded)
        reach = largest * self.reach() * (1 + 4 * ROUNDOFF) + TINY
        error = largest * self.err + lost * self.reach()
        result = Vec(self.space, rounded * self.mid, _grown(error, reach))
        result._reach = reach
        return result

    __rmul__ = __mul__

    def __neg__(self) -> Vec:
        return Vec(self.space, -self.mid, self.err)

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


def weighted_sum(a: float, x: Vec, b: float, y: Vec) -> Vec:
    """a x + b y, for coefficients that are doubles or at most four roundoffs from what is meant.

    The same as ``a * x + b * y`` for doubles, with one bound for the whole.
    """
    mid = a * x.mid
    mid += b * y.mid
    a, b = abs(a), abs(b)
    # Per entry: four roundoffs in a coefficient, one in its product, one in the sum.
    error = a * x.err + b * y.err + 8 * ROUNDOFF * (a * x.reach() + b * y.reach())
    result = Vec(x.space, mid, error * (1 + 8 * ROUNDOFF) + TINY)
    result._reach = (a * x.reach() + b * y.reach()) * (1 + 8 * ROUNDOFF) + TINY
    return result


def scaled(a: float, x: Vec) -> Vec:
    """a x, for a coefficient as in `weighted_sum`."""
    largest = abs(a)
    error = largest * (x.err + 8 * ROUNDOFF * x.reach())
    result = Vec(x.space, a * x.mid, error * (1 + 8 * ROUNDOFF) + TINY)
    result._reach = largest * x.reach() * (1 + 4 * ROUNDOFF) + TINY
    return result


def _grown(error: float, size: float) -> float:
    return (error + ROUNDOFF * size) * (1 + 8 * ROUNDOFF)
