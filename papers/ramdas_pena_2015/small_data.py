"""Small sets of rows of norm one, in rationals, and points of the simplex."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from gammabar.papers import Unclaimed


def _normalised(*rows: tuple[int, ...]) -> list[list[Fraction]]:
    """Rows whose length is their norm, divided by it."""
    made = []
    for row in rows:
        norm = math.isqrt(sum(v * v for v in row))
        made.append([Fraction(v, norm) for v in row])
    return made


#: Rows of norm one that no w separates, in rationals: the origin is in the interior of the hull,
#: on its boundary, or the hull is flat.
INSEPARABLE: dict[str, list[list[Fraction]]] = {
    "±1": _normalised((1,), (-1,)),
    "1, 1, −1": _normalised((1,), (1,), (-1,)),
    "a triangle": _normalised((1, 0), (-3, 4), (-3, -4)),
    "a narrow triangle": _normalised((1, 0), (-4, 3), (-24, -7)),
    "a square": _normalised((1, 0), (0, 1), (-1, 0), (0, -1)),
    "five points": _normalised((3, 4), (4, -3), (-5, 12), (-12, -5), (-8, 15)),
    "an octahedron": _normalised(
        (1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)
    ),
    "a tetrahedron": _normalised((1, 2, 2), (2, -1, -2), (-2, 2, -1), (-2, -2, -1)),
    "(±1, 0)": _normalised((1, 0), (-1, 0)),
    "(±1, 0) and (0, 1)": _normalised((1, 0), (-1, 0), (0, 1)),
}

#: The same with a separator.
SEPARABLE: dict[str, list[list[Fraction]]] = {
    "one row": _normalised((3, 4)),
    "two orthogonal rows": _normalised((1, 0), (0, 1)),
    "nearly opposite rows": _normalised((24, 7), (-24, 7)),
    "three rows": _normalised((2, 3, 6), (2, -6, 3), (2, 3, -6)),
}


def dot(u: Any, v: Any) -> Any:
    """⟨u, v⟩ of two sequences."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def gram_of(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """All inner products."""
    return [[dot(a, b) for b in rows] for a in rows]


def integers_of(rows: list[list[Fraction]]) -> tuple[list[list[int]], Fraction]:
    """Rows as integers times a rational."""
    common = math.lcm(*(v.denominator for row in rows for v in row))
    return [[int(v * common) for v in row] for row in rows], Fraction(1, common)


def centres(n: int) -> Iterator[list[Fraction]]:
    """Points of the simplex: corners, the middle, and others."""
    for i in range(n):
        yield [Fraction(int(i == j)) for j in range(n)]
    yield [Fraction(1, n)] * n
    for shift in range(2):
        parts = [1 + (3 * i + shift) % 7 for i in range(n)]
        yield [Fraction(v, sum(parts)) for v in parts]


def on_circle(s: Fraction) -> list[Fraction]:
    """The point of the circle on the line of this slope through (−1, 0)."""
    return [(1 - s * s) / (1 + s * s), 2 * s / (1 + s * s)]


def shares(weights: tuple[int, ...]) -> list[Fraction]:
    """Weights, divided by their sum."""
    if not sum(weights):
        raise Unclaimed("all weights are zero")
    return [Fraction(v, sum(weights)) for v in weights]
