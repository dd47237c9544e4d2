"""Small sets of rows of norm one, in rationals, and points of the simplex.

Gram matrices of rows of norm one, exactly: for what is said about all α and all p at once.

The distance of a point of the simplex to W = {p ∈ Δ_n : ‖p‖_G = 0}, the witnesses of Section 6.

From below and in balls for the data of a run; exactly for a few rows in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import nnls

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers.claims import *
from gammabar.problems import KernelProblem


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


Weights = list[Fraction]


def rational(case: Case) -> str | None:
    """The Gram matrix is one of fractions."""
    problem = case.problem.raw()
    known = not isinstance(problem, KernelProblem) or has_exact_kernel(problem)
    return None if known else "the Gram matrix is not rational"


class Gram:
    """G of a case: fractions where it is rational, and balls elsewhere."""

    def __init__(self, case: Case) -> None:
        problem = case.problem.raw()
        rows = np.arange(case.n)
        self.case, self.n = case, case.n
        self.rational = rational(case) is None
        if self.rational:
            integers, unit = exact_rows(problem).gram(rows)
            unit /= case.truth.radius_squared_lo or 1
            self.rows: list[list[Any]] = [[int(v) * unit for v in row] for row in integers.tolist()]
        else:
            matrix = case.space.gram()
            self.rows = [[matrix[i, j] for j in range(self.n)] for i in range(self.n)]

    def scores(self, alpha: Weights) -> list[Any]:
        """G α."""
        used = [(j, self.of(v)) for j, v in enumerate(alpha) if v]
        zero = self.of(Fraction(0))
        return [sum((row[j] * v for j, v in used), zero) for row in self.rows]

    def of(self, value: Fraction) -> Any:
        """A rational in the arithmetic of this matrix."""
        return value if self.rational else number(value)

    def square(self, alpha: Weights) -> Any:
        """‖α‖²_G."""
        scores = self.scores(alpha)
        zero = self.of(Fraction(0))
        return sum((self.of(v) * s for v, s in zip(alpha, scores, strict=True) if v), zero)

    def least(self, alpha: Weights) -> Any:
        """min_i (G α)_i."""
        scores = self.scores(alpha)
        return min(scores) if self.rational else smallest(scores)

    def loss(self, alpha: Weights) -> Any:
        """L(α), equation (9)."""
        return self.square(alpha) / 2 - self.least(alpha)

    @property
    def margin_squared(self) -> Any:
        """ρ_K², if ρ_K > 0."""
        return self.case.truth.unit_squares[0] if self.rational else self.case.gamma_squared

    def width(self) -> float:
        """How far apart −½ρ_K² and L(q̄) may be because ρ_K is only enclosed.

        q̄ proves both ends of the enclosure: hi = ‖q̄‖_G and lo = min_i (G q̄)_i/hi, so L(q̄) is
        ½ hi² − lo hi, and −½ρ_K² lies between −½ hi² and −½ lo². The ends are rounded outwards.
        """
        low, high = self.case.truth.bounds or (Fraction(0), Fraction(0))
        return float(2 * high * (high - low)) * 1.01 if not self.rational else 0.0


def samples(case: Case, multiples: bool = True) -> Iterator[Weights]:
    """Vectors α of all kinds: many with G α > 0 if there are any, sparse, dense, negative.

    Multiples of q̄ are left out where claims about them are equations, which balls cannot decide.
    """
    n, rng = case.n, case.rng(7)
    yield [Fraction(1, n)] * n
    for factor in (Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(5, 2)):
        for noise in (0, 1, 8) if multiples else (1, 8):
            shift = [Fraction(v, 64 * n) for v in rng.integers(-noise, noise + 1, n).tolist()]
            yield [factor * (q + v) for q, v in zip(case.q_bar, shift, strict=True)]
    for size in (1, 10):
        yield [Fraction(v, n) for v in rng.integers(-size, size + 1, n).tolist()]
    if n > 1:
        pair = [Fraction(0)] * n
        pair[0], pair[-1] = Fraction(1), Fraction(-1, 4)
        yield pair


def distributions(case: Case) -> Iterator[Weights]:
    """Points of the simplex."""
    n, rng = case.n, case.rng(8)
    yield [Fraction(1, n)] * n
    for size in (1, 9):
        parts = rng.integers(0, size + 1, n).tolist()
        parts[int(rng.integers(n))] += 1
        yield [Fraction(v, sum(parts)) for v in parts]
    for noise in (0, 1, 30):
        parts = [
            q + Fraction(v, 64 * n)
            for q, v in zip(case.q_bar, rng.integers(0, noise + 1, n).tolist(), strict=True)
        ]
        yield [v / sum(parts) for v in parts]


def ordered(left: Any, right: Any, what: str, **more: Any) -> Relation:
    """left ≤ right, decided in rationals where both are, so that equality is no doubt."""
    if isinstance(left, Fraction) and left == right:
        left = right = number(left).mid()
    return at_most(left, right, what, **more)


def absolute(alpha: Weights) -> Fraction:
    """‖α‖₁."""
    return sum(map(abs, alpha), Fraction(0))


def euclidean(alpha: Weights) -> Fraction:
    """‖α‖²₂."""
    return sum((v * v for v in alpha), Fraction(0))


def is_vertex(alpha: Weights) -> bool:
    """Whether only one coefficient is not zero."""
    return sum(v != 0 for v in alpha) == 1


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
