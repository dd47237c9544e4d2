"""The proof: the minimum-norm point of the rows' convex hull in rational arithmetic.

Wolfe's method once more, but exact. It starts from an untrusted candidate, which is nearly always
the answer, so that a single linear system over the integers (p-adic lifting in FLINT) and a single
scan of the data prove it. When the proof fails the method simply goes on: a violated row enters,
rows with negative weight leave, each round in exact arithmetic, so that it ends with the truth
after finitely many rounds whatever the candidate was.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpq, fmpz_mat, nmod_mat
from numpy.typing import NDArray

from gammabar.oracle.rational import ExactRows

#: Any prime works, if it does not divide every entry: independence modulo a prime implies
#: independence over the rationals.
PRIMES = (2**61 - 1, 2**61 - 31, 2**59 - 55)


@dataclass(frozen=True)
class MinimumNorm:
    """The exact answer: q_i = numerators_i / total on the support, and ‖Aᵀq‖² = square."""

    support: NDArray[np.int64]
    numerators: list[int]
    total: int
    square: Fraction
    rounds: int


@dataclass(frozen=True)
class _Affine:
    """Affine minimiser of a corral: weights numerators/total (of any sign) and its squared norm."""

    numerators: list[int]
    total: int
    square: Fraction

    def weights(self) -> list[Fraction]:
        return [Fraction(v, self.total) for v in self.numerators]


def minimum_norm_point(
    rows: ExactRows, support: NDArray[np.int64], weights: NDArray[np.float64]
) -> MinimumNorm:
    """Find and prove the point of smallest norm in the convex hull of all rows.

    Parameters
    ----------
    rows : ExactRows
        Exact inner products.
    support, weights : arrays
        A candidate: distinct rows with positive weights. It decides the time, not the result.

    Returns
    -------
    MinimumNorm
        With ``square`` = γ̄² if positive; zero if and only if the rows are not separable.

    Notes
    -----
    Optimality: w = Aᵀq with q ∈ Δ is the minimum-norm point if and only if ⟨a_i, w⟩ ≥ ‖w‖² for
    every row. Support rows satisfy it with equality, because q solves G q = ‖w‖² 1 there.
    Termination: the norm falls strictly from one corral to the next, and there are finitely many.
    """
    corral = [int(i) for i in support]
    current = _rationals(weights)
    rounds = 0
    while True:
        rounds += 1
        corral, found = _settle(rows, corral, current)
        if found.square == 0:
            break
        point = rows.point(np.array(corral, dtype=np.int64), found.numerators)
        below = rows.violated(point, found.square * found.total)
        if not below:
            break
        corral.append(below[0][1])
        current = [*found.weights(), Fraction(0)]
    order = sorted(range(len(corral)), key=corral.__getitem__)
    return MinimumNorm(
        np.array([corral[k] for k in order], dtype=np.int64),
        [found.numerators[k] for k in order],
        found.total,
        found.square,
        rounds,
    )


def _rationals(weights: NDArray[np.float64]) -> list[Fraction]:
    """The weights as rationals that sum to one exactly."""
    exact = [Fraction(float(v)) for v in weights]
    total = sum(exact)
    return [v / total for v in exact]


def _settle(
    rows: ExactRows, corral: list[int], current: list[Fraction]
) -> tuple[list[int], _Affine]:
    """Minor cycles: from the convex combination `current`, to a corral with positive weights."""
    while True:
        gram, unit = rows.gram(np.array(corral, dtype=np.int64))
        affine = _affine_minimiser(gram, unit)
        if affine is None:
            keep = _independent(gram, current)
            corral = [corral[k] for k in keep]
            total = sum(current[k] for k in keep)
            current = [current[k] / total for k in keep]
            continue
        if all(v > 0 for v in affine.numerators):
            return corral, affine
        if all(v >= 0 for v in affine.numerators):
            keep = [k for k, v in enumerate(affine.numerators) if v > 0]
            positive = [affine.numerators[k] for k in keep]
            return [corral[k] for k in keep], _Affine(positive, affine.total, affine.square)
        corral, current = _walk(corral, current, affine.weights())


def _walk(
    corral: list[int], current: list[Fraction], goal: list[Fraction]
) -> tuple[list[int], list[Fraction]]:
    """Move towards the affine minimiser until a weight vanishes, and drop what vanished."""
    step = min(c / (c - g) for c, g in zip(current, goal, strict=True) if g < 0)
    moved = [c + step * (g - c) for c, g in zip(current, goal, strict=True)]
    keep = [k for k, v in enumerate(moved) if v > 0]
    return [corral[k] for k in keep], [moved[k] for k in keep]


def _affine_minimiser(gram: fmpz_mat, unit: Fraction) -> _Affine | None:
    """Point of smallest norm in the affine hull, or None if the rows are affinely dependent.

    (G + c 11ᵀ) u = 1 with c > 0 is regular exactly if the rows are affinely independent; then
    q = u/Σu and ‖Aᵀq‖² = 1/Σu − c.
    """
    s = gram.nrows()
    c = max(gram[k, k] for k in range(s)) or 1
    lifted = gram + fmpz_mat(s, s, [c] * (s * s))
    try:
        solution = lifted.solve(fmpz_mat(s, 1, [1] * s)).entries()
    except ZeroDivisionError:
        return None
    denominator = lcm(*(int(v.q) for v in solution))
    numerators = [int(v.p) * (denominator // int(v.q)) for v in solution]
    total = sum(numerators)
    square = fmpq(denominator, total) - c
    return _Affine(numerators, total, Fraction(int(square.p), int(square.q)) * unit)


def _independent(gram: fmpz_mat, current: list[Fraction]) -> list[int]:
    """Positions of an affinely independent subset, preferring large weights."""
    s = gram.nrows()
    order = sorted(range(s), key=lambda k: -current[k])
    c = int(max(gram[k, k] for k in range(s))) or 1
    lifted = [int(gram[i, j]) + c for i in order for j in order]
    for prime in PRIMES:
        reduced, rank = nmod_mat(s, s, [v % prime for v in lifted], prime).rref()
        if rank:
            break
    else:
        return [order[0]]
    pivots, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(order[column])
    return sorted(pivots)
