"""Vectors in doubles that know how far from the truth they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.court.numbers import ROUNDOFF, Number, ball, middle, number, upper
from harness.court.space import Floats, Space


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.
    """

    __slots__ = ("err", "mid", "space")

    def __init__(self, space: Space, mid: Any, err: float = 0.0) -> None:
        self.space, self.err = space, float(err)
        self.mid: Floats = np.asarray(mid, dtype=np.float64)

    def __add__(self, other: Vec) -> Vec:
        mid = self.mid + other.mid
        return Vec(self.space, mid, _grown(self.err + other.err, self.space.size(mid)))

    def __sub__(self, other: Vec) -> Vec:
        mid = self.mid - other.mid
        return Vec(self.space, mid, _grown(self.err + other.err, self.space.size(mid)))

    def __mul__(self, factor: Any) -> Vec:
        exact = number(factor)
        rounded = middle(exact)
        mid = rounded * self.mid
        lost = upper(exact - number(rounded)) * self.space.size(self.mid)
        return Vec(self.space, mid, _grown(upper(exact) * self.err + lost, self.space.size(mid)))

    __rmul__ = __mul__

    def __neg__(self) -> Vec:
        return Vec(self.space, -self.mid, self.err)

    def norm(self, exact: bool = False) -> Number:
        """‖v‖."""
        length = self.space.exact_norm(self.mid) if exact else self.space.norm(self.mid)
        return length if not self.err else length + ball(0.0, self.err)

    def inner(self, other: Vec) -> Number:
        """⟨v, w⟩."""
        value = self.space.inner(self.mid, other.mid)
        error = self.err * (self.space.size(other.mid) + other.err)
        error += other.err * self.space.size(self.mid)
        return value + ball(0.0, error * (1 + 8 * ROUNDOFF))

    def size(self) -> float:
        """A bound on the norm of the truth."""
        return self.space.size(self.mid) + self.err


def _grown(error: float, size: float) -> float:
    return (error + ROUNDOFF * size) * (1 + 8 * ROUNDOFF)
