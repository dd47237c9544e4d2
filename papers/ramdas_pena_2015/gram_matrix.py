"""Gram matrices of rows of norm one, exactly: for what is said about all α and all p at once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers import Case, Relation, at_most, number, smallest
from gammabar.problems import KernelProblem

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
