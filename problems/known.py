"""Generated points and the truth that is known of them by construction."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gammabar.problems.base import Array
from gammabar.problems.draws import Draws, Integers


@dataclass(frozen=True)
class Known:
    """What is known of a generated problem, exactly and in the units of its data.

    Attributes
    ----------
    gamma_squared : Fraction
        Square of the maximum margin; 0 if the data are not separable.
    radius_squared : Fraction
        Square of the largest row norm.
    q : tuple of (int, Fraction)
        Dual weights that prove it, as (row, weight) with positive weights that add up to one.
    """

    gamma_squared: Fraction
    radius_squared: Fraction
    q: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Generated:
    """Points, labels of -1 and 1, and what is known of them."""

    X: Array
    y: Array
    known: Known | None = None


def mixed_labels(draws: Draws, n: int) -> Integers:
    """Random labels, both of which occur if n >= 2."""
    y = draws.signs(n)
    if n > 1:
        y[1] = -y[0]
    return y


def uniform(rows: list[int]) -> tuple[tuple[int, Fraction], ...]:
    """The same dual weight on each of some rows."""
    return tuple((i, Fraction(1, len(rows))) for i in sorted(rows))


def largest_square(A: Integers) -> Fraction:
    """The largest squared norm of integer rows, in Python's integers unless 64 bits will do."""
    most = max(-int(A.min()), int(A.max()))
    if most * most * A.shape[1] >= 2**63:
        return Fraction(max(sum(v * v for v in row) for row in A.tolist()))
    A = A.astype(np.int64)
    return Fraction(int((A * A).sum(axis=1).max()))
