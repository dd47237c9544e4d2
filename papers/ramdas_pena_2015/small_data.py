"""Small sets of rows of norm one in rationals, their Gram matrices, and points of the simplex.

Vectors and matrices of fractions are NumPy arrays with dtype object. W = {p ∈ Δ_n : ‖p‖_G = 0} are
the witnesses of Section 6: the distance to it is had from below and in balls for the data of a run,
and exactly for a few rows in rationals.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from scipy.optimize import nnls

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.algorithms import (
    Array as Array,
    array as array,
    corner as corner,
)
from gammabar.problems import KernelProblem


def _normalised(*rows: tuple[int, ...]) -> Array:
    """Rows whose norms are whole numbers, divided by them."""
    return array([over(row, math.isqrt(sum(v * v for v in row))) for row in rows])


def over(values: Any, divisor: int) -> Array:
    return array([Fraction(int(v), divisor) for v in values])


def dot(u: Any, v: Any) -> Any:
    """⟨u, v⟩ of two sequences of exact numbers."""
    return array(u) @ array(v)


#: Rows of norm one that no w separates, in rationals: the origin is in the interior of the hull,
#: on its boundary, or the hull is flat.
INSEPARABLE: dict[str, Array] = {
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
SEPARABLE: dict[str, Array] = {
    "one row": _normalised((3, 4)),
    "two orthogonal rows": _normalised((1, 0), (0, 1)),
    "nearly opposite rows": _normalised((24, 7), (-24, 7)),
    "three rows": _normalised((2, 3, 6), (2, -6, 3), (2, 3, -6)),
}


def integers_of(rows: Array) -> tuple[list[list[int]], Fraction]:
    """Rows as integers times a rational."""
    common = math.lcm(*(v.denominator for v in rows.flat))
    return [[int(v) for v in row] for row in rows * common], Fraction(1, common)


def centres(n: int) -> Iterator[Array]:
    """Points of the simplex: corners, the middle, and others."""
    yield from (corner(i, n) for i in range(n))
    yield over([1] * n, n)
    for shift in range(2):
        yield shares(tuple(1 + (3 * i + shift) % 7 for i in range(n)))


def on_circle(slopes: Any) -> Array:
    """The points of the circle on the lines of these slopes through (−1, 0)."""
    s = array([Fraction(v) for v in slopes])
    return np.stack([1 - s * s, 2 * s], axis=1) / (1 + s * s)[:, None]


def shares(weights: tuple[Any, ...]) -> Array:
    """Weights, divided by their sum."""
    if not sum(weights):
        raise Unclaimed("all weights are zero")
    return array([Fraction(v) / sum(weights) for v in weights])


def rational(case: Case) -> str | None:
    """The Gram matrix is one of fractions."""
    problem = case.problem.raw()
    known = not isinstance(problem, KernelProblem) or has_exact_kernel(problem)
    return None if known else "the Gram matrix is not rational"


class Gram:
    """G of a case: fractions where it is rational, and balls elsewhere."""

    def __init__(self, case: Case) -> None:
        self.case, self.rational = case, rational(case) is None
        if self.rational:
            integers, unit = exact_rows(case.problem.raw()).gram(np.arange(case.n))
            unit /= case.truth.radius_squared or 1
            self.rows = array([[int(v) * unit for v in row] for row in integers.tolist()])
        else:
            self.rows = array(case.space.gram().entries()).reshape(case.n, case.n)

    def _scores(self, alpha: Array) -> Array:
        used = np.flatnonzero(array(alpha))
        return self.rows[:, used] @ self._of(alpha)[used] + 0 * self.rows[0, 0]  # also if α = 0

    def _of(self, alpha: Array) -> Array:
        """Rationals in the arithmetic of this matrix."""
        return array(alpha if self.rational else [number(v) for v in alpha])

    def square(self, alpha: Array) -> Any:
        """‖α‖²_G."""
        return self._of(alpha) @ self._scores(alpha)

    def least(self, alpha: Array) -> Any:
        """min_i (G α)_i."""
        return (min if self.rational else smallest)(self._scores(alpha).tolist())

    def loss(self, alpha: Array) -> Any:
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
        if self.rational:
            return 0.0
        low, high = self.case.truth.bounds or (Fraction(0), Fraction(0))
        # Above 0 also where the square is below every double.
        return math.nextafter(float(2 * high * (high - low)) * 1.01, math.inf)


def samples(case: Case, multiples: bool = True) -> Iterator[Array]:
    """Vectors α of all kinds: many with G α > 0 if there are any, sparse, dense, negative.

    Multiples of q̄ are left out where claims about them are equations, which balls cannot decide.
    """
    n, rng = case.n, case.rng(7)
    yield over([1] * n, n)
    for factor, noise in product(over((2, 6, 9, 15), 6), (0, 1, 8) if multiples else (1, 8)):
        yield factor * (array(case.q_bar) + over(rng.integers(-noise, noise + 1, n), 64 * n))
    for size in (1, 10):
        yield over(rng.integers(-size, size + 1, n), n)
    if n > 1:
        yield corner(0, n) - corner(n - 1, n) / 4


def distributions(case: Case) -> Iterator[Array]:
    """Points of the simplex."""
    n, rng = case.n, case.rng(8)
    yield over([1] * n, n)
    for size in (1, 9):
        parts = rng.integers(0, size + 1, n)
        parts[int(rng.integers(n))] += 1
        yield over(parts, int(parts.sum()))
    for noise in (0, 1, 30):
        moved = array(case.q_bar) + over(rng.integers(0, noise + 1, n), 64 * n)
        yield moved / moved.sum()


def ordered(left: Any, right: Any, what: str, **more: Any) -> Relation:
    """left ≤ right, decided in rationals where both are, so that equality is no doubt."""
    if isinstance(left, Fraction) and left == right:
        left = right = number(left).mid()
    return at_most(left, right, what, **more)


#: The M of `to_witnesses`.
PENALTY = 1e4


def to_witnesses(case: Case, q: Floats) -> Number:
    """A number that is at most ½ dist(q, W)², for W = {p ∈ Δ : ‖p‖_G = 0}.

    By duality ½ dist(q, W)² ≥ τ + Σ_i min_{x ≥ 0} ½(x − q_i)² − ((G β)_i + τ) x for all β and τ.
    Doubles suggest β and τ, from min_{p ≥ 0} ½‖p − q‖² + ½ M² (‖p‖²_G + (1 − Σ_i p_i)²).
    """
    return case.once(f"½ dist(q, W)² for q = {q.tobytes().hex()}", lambda: _below_distance(case, q))


def _below_distance(case: Case, q: Floats) -> Number:
    beta, tau = _multipliers(case, q)
    slopes = case.space.gram() * arb_mat([[arb(v)] for v in beta.tolist()])
    bound = number(tau)
    for c, slope in zip(map(number, q.tolist()), slopes.entries(), strict=True):
        slope += number(tau)
        x = (c + slope).max(number(0))
        bound += (x - c) * (x - c) / 2 - slope * x
    return bound.max(number(0))


def _multipliers(case: Case, q: Floats) -> tuple[Floats, float]:
    """β and τ."""
    n = case.n
    values, vectors = np.linalg.eigh(case.problem.gram(np.arange(n)))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    stacked = np.vstack([PENALTY * root, PENALTY * np.ones((1, n)), np.eye(n)])
    p, _ = nnls(stacked, np.concatenate([np.zeros(n), [PENALTY], q]))
    return -(PENALTY**2) * p, PENALTY**2 * (1 - float(p.sum()))


def square_distance(rows: Array, q: Array) -> Fraction:
    """dist(q, W)² by trying every support: on the best one, only the equations matter."""
    n, d = rows.shape
    found = []
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            # p = q + Bᵀλ on the support, with B p = (0, …, 0, 1).
            inside = list(chosen)
            B = np.vstack([rows[inside].T, over([1] * size, 1)])
            multipliers = solution(B @ B.T, corner(d, d + 1) - B @ q[inside])
            if multipliers is None:
                continue
            shift = multipliers @ B
            if (q[inside] + shift >= 0).all():
                outside = np.delete(q, inside)
                found.append(shift @ shift + (outside**2).sum())
    return Fraction(min(found))


def solution(M: Array, b: Array) -> Array | None:
    """Any solution of linear equations Mx = b, or None."""
    size = M.shape[1]
    system = np.column_stack([M, b])
    exact = [[fmpq(v.numerator, v.denominator) for v in row] for row in system]
    reduced, _ = fmpq_mat(exact).rref()
    found = over([0] * size, 1)
    for row in reduced.tolist():
        pivot = next((j for j, v in enumerate(row) if v != 0), None)
        if pivot == size:
            return None
        if pivot is not None:
            found[pivot] = Fraction(int(row[size].p), int(row[size].q))
    return found
