"""The distance of a point of the simplex to W = {p ∈ Δ_n : ‖p‖_G = 0}, the witnesses of Section 6.

From below and in balls for the data of a run; exactly for a few rows in rationals.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import nnls

from gammabar.papers import Case, Floats, Number, number, precision
from gammabar.papers.ramdas_pena_2015.small_data import dot


class Witnesses:
    """The distance of a centre q to W = {p ∈ Δ : ‖p‖_G = 0}, from below; made once for a case.

    By duality ½ dist(q, W)² ≥ τ + Σ_i min_{x ≥ 0} ½(x − q_i)² − ((G β)_i + τ) x for all β and τ.
    Doubles suggest β and τ, from min_{p ≥ 0} ½‖p − q‖² + ½ M² (‖p‖²_G + (1 − Σ_i p_i)²).
    """

    PENALTY = 1e4

    def __init__(self, case: Case) -> None:
        self.case = case
        self._made: dict[tuple[bytes, int], Number] = {}
        self._chosen: dict[bytes, tuple[Floats, float]] = {}

    def half_square(self, q: Floats) -> Number:
        """A number that is at most ½ dist(q, W)²."""
        key = q.tobytes(), precision()
        if key not in self._made:
            self._made[key] = self._bound(q)
        return self._made[key]

    def _bound(self, q: Floats) -> Number:
        beta, tau = self._multipliers(q)
        slopes = self.case.space.gram() * _column(beta)
        bound = number(tau)
        for i, c in enumerate(q.tolist()):
            slope = slopes[i, 0] + number(tau)
            x = (number(c) + slope).max(number(0))
            bound += (x - number(c)) * (x - number(c)) / 2 - slope * x
        return bound.max(number(0))

    def _multipliers(self, q: Floats) -> tuple[Floats, float]:
        if q.tobytes() not in self._chosen:
            n, weight = self.case.n, self.PENALTY
            values, vectors = np.linalg.eigh(self.case.problem.gram(np.arange(n)))
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
            stacked = np.vstack([weight * root, weight * np.ones((1, n)), np.eye(n)])
            p, _ = nnls(stacked, np.concatenate([np.zeros(n), [weight], q]))
            self._chosen[q.tobytes()] = (-(weight**2) * p, weight**2 * (1 - float(p.sum())))
        return self._chosen[q.tobytes()]


def _column(values: Floats) -> Any:
    from flint import arb, arb_mat

    return arb_mat(len(values), 1, [arb(v) for v in values.tolist()])


def square_distance(rows: list[list[Fraction]], q: list[Fraction]) -> Fraction:
    """dist(q, W)² by trying every support: on the best one, only the equations matter."""
    n, d = len(rows), len(rows[0])
    best: Fraction | None = None
    for size in range(1, n + 1):
        for inside in combinations(range(n), size):
            # p = q + Bᵀλ on the support, with B p = (0, …, 0, 1).
            B = [[rows[i][j] for i in inside] for j in range(d)] + [[Fraction(1)] * size]
            aim = [Fraction(0)] * d + [Fraction(1)]
            missing = [a - dot(b, [q[i] for i in inside]) for a, b in zip(aim, B, strict=True)]
            system = [[dot(a, b) for b in B] + [m] for a, m in zip(B, missing, strict=True)]
            multipliers = _solution(system)
            if multipliers is None:
                continue
            shift = [dot(multipliers, column) for column in zip(*B, strict=True)]
            if all(q[i] + s >= 0 for i, s in zip(inside, shift, strict=True)):
                outside = sum((q[i] ** 2 for i in range(n) if i not in inside), Fraction(0))
                found = dot(shift, shift) + outside
                best = found if best is None or found < best else best
    assert best is not None, "some support of a witness is tried"
    return best


def _solution(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Any solution of linear equations [M | b], or None."""
    size = len(system[0]) - 1
    entries = [fmpq(v.numerator, v.denominator) for row in system for v in row]
    reduced, _ = fmpq_mat(len(system), size + 1, entries).rref()
    found = [Fraction(0)] * size
    for row in reduced.tolist():
        pivot = next((j for j, v in enumerate(row) if v != 0), None)
        if pivot == size:
            return None
        if pivot is not None:
            found[pivot] = Fraction(int(row[size].p), int(row[size].q))
    return found
