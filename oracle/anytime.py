"""Proved bounds of the margin from whatever a search has found when its time is up.

Any weights q ∈ Δ prove γ̄ ≤ ‖Aᵀq‖, and any w = Aᵀα proves γ̄ ≥ min_i ⟨a_i, w⟩ / ‖w‖ (Ji, Srebro and
Telgarsky 2021, Lemma A.1). The weights are doubles, rounded to integers; both bounds are then
evaluated exactly for these integers, and the certificate has them.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.decimals import root_bounds
from gammabar.oracle.rational import ExactRows, Point
from gammabar.oracle.truth import Truth
from gammabar.oracle.watch import Combination, Watch
from gammabar.problems import Problem

#: Bits of the integers that weights are rounded to.
BITS = 60


def bounds_so_far(problem: Problem, rows: ExactRows, watch: Watch, seconds: float) -> Truth:
    """The best bounds that the weights seen so far prove.

    Parameters
    ----------
    problem : Problem
        What was to be solved.
    rows : ExactRows
        Its rows.
    watch : Watch
        What has been seen; nothing at all is enough.
    seconds : float
        Time spent so far.

    Returns
    -------
    Truth
        With `bounds`; `separable` is None if the lower one is zero.
    """
    first = np.array([rows.first(side) for side in range(rows.sides)], dtype=np.int64)
    start = Combination(first, np.full(rows.sides, 1 / rows.sides), 1.0)
    upper = _integers(rows, watch.upper or start)
    square_hi = square_of(rows, rows.point(*upper)) / Fraction(sum(upper[1])) ** 2
    primal, square_lo = upper, Fraction(0)
    for seen in filter(None, (watch.lower, watch.upper)):
        integers = _integers(rows, seen)
        square = margin_squared(rows, rows.point(*integers))
        if square > square_lo:
            primal, square_lo = integers, square
    lower, higher = root_bounds(square_lo)[0], root_bounds(square_hi)[1]
    radius_squared = rows.radius_squared()
    return Truth(
        problem=problem,
        square_lo=lower**2,
        square_hi=higher**2,
        radius_squared_lo=radius_squared,
        radius_squared_hi=radius_squared,
        support=upper[0],
        numerators=upper[1],
        total=sum(upper[1]),
        method="anytime",
        seconds={"search": seconds},
        rounds=0,
        note="the search was ended early",
        bounds=(lower, higher) if square_hi else None,
        primal=primal,
    )


def _integers(rows: ExactRows, seen: Combination) -> tuple[NDArray[np.int64], list[int]]:
    """Rows in order with positive integers as weights, of the same sum on every side."""
    order = np.argsort(seen.rows)
    chosen = seen.rows[order]
    values = [max(1, round(Fraction(float(v)) * 2**BITS)) for v in seen.weights[order]]
    sides = [rows.side(int(i)) for i in chosen]
    sums = [sum(v for v, s in zip(values, sides, strict=True) if s == k) for k in range(rows.sides)]
    if len(sums) == 2:
        shared = gcd(*sums)
        values = [v * (sums[1 - s] // shared) for v, s in zip(values, sides, strict=True)]
    return chosen, values


def square_of(rows: ExactRows, point: Point) -> Fraction:
    """‖w‖² = Σ_i α_i ⟨a_i, w⟩ for w = Σ_i α_i a_i, exactly."""
    pairs = zip(point.rows.tolist(), point.numerators, strict=True)
    return sum((v * rows.score(i, point) for i, v in pairs), Fraction(0))


def margin_squared(rows: ExactRows, point: Point) -> Fraction:
    """The square of the margin of w if it is positive, exactly; zero otherwise."""
    total = sum(point.numerators)
    spread = np.zeros(rows.n)
    spread[point.rows] = [v / total for v in point.numerators]
    scores = rows.problem.scores(rows.problem.combine(spread))
    by_side = [
        np.flatnonzero([rows.side(i) == k for i in range(rows.n)]) for k in range(rows.sides)
    ]
    guesses = [rows.score(int(some[scores[some].argmin()]), point) for some in by_side]
    lower = rows.violated(point, *guesses)  # sorted by how far they are below
    least = [
        guess + min((gap for gap, i in lower if rows.side(i) == k), default=Fraction(0))
        for k, guess in enumerate(guesses)
    ]
    inside = [(rows.score(int(i), point), rows.side(int(i))) for i in point.rows]
    least = [min([v, *(s for s, k in inside if k == side)]) for side, v in enumerate(least)]
    mean = sum(least, Fraction(0)) / rows.sides
    return mean**2 / square_of(rows, point) if mean > 0 else Fraction(0)
