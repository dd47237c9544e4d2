"""Sums and quotients of doubles with twice their digits: the pair of a double and what it lacks.

Error-free transformations of Knuth and Dekker, on arrays.

References
----------
.. [1] T. J. Dekker (1971), A floating-point technique for extending the available precision.
   Numerische Mathematik 18.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Longer:
    """high + low, where high is the double nearest to the sum; `lost` bounds what is missing."""

    high: Any
    low: Any
    lost: Any = 0.0

    @classmethod
    def of(cls, values: list[tuple[int, int]]) -> Self:
        """A column of numbers v 2ᵉ, up to a share of 2⁻¹⁰⁵; ones for those that are zero."""
        parts = []
        for value, exponent in values:
            shift = max(0, value.bit_length() - 128)  # what is cut off is below 2⁻¹²⁷
            head, e = (value >> shift, exponent + shift) if value else (1, 0)
            near = float(head)
            parts.append((math.ldexp(near, e), math.ldexp(float(head - int(near)), e)))
        high, low = np.array(parts).reshape(-1, 2).T[:, :, None]
        return cls(high, low)

    @classmethod
    def sum(cls, terms: Floats, axis: int) -> Self:
        """The sum of a few terms along an axis.

        The high part of each partial sum is split without error. The errors are no larger than
        u Σ|terms| each, and so are their sums off by at most k² u² Σ|terms| for k terms.
        """
        high = low = np.zeros(())
        for term in np.moveaxis(terms, axis, 0):
            high, error = two_sum(high, term)
            low = low + error
        count = terms.shape[axis]
        lost = count * count * 2.0**-105 * np.abs(terms).sum(axis=axis)
        return cls(*two_sum(high, low), lost)

    def rounds(self, off: Any) -> NDArray[np.bool_]:
        """Where `high` is the double nearest to every number that is `off` by no more than that."""
        # Of the two neighbours the nearer one: below a power of two doubles are denser.
        below, above = (np.nextafter(self.high, to) for to in (-np.inf, np.inf))
        half = np.minimum(self.high - below, above - self.high) / 2
        return np.asarray(half - np.abs(self.low) > off)

    def over(self, other: Longer) -> Floats:
        """The quotient, as a double: the nearest one but for a few in 2⁴⁵."""
        first = self.high / other.high
        product, error = two_product(first, other.high)
        rest = (self.high - product) - error + self.low - first * other.low
        return np.asarray(first + rest / other.high)


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a double and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """a b as a double and its rounding error (Dekker; Veltkamp's splitting)."""
    product = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _split(a: Any) -> tuple[Any, Any]:
    """Two halves of 26 bits."""
    large = 134217729.0 * a
    head = large - (large - a)
    return head, a - head
