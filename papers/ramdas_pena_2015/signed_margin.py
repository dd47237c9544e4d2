"""ρ_K with its sign: the margin of normalised rows, also where no w separates them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gammabar.oracle.rational import integer_rows
from gammabar.oracle.signed import signed_margin
from gammabar.papers import Case, Number, between, number, sqrt
from gammabar.problems import KernelProblem, MulticlassProblem, Problem, ProblemError

#: Bits that the entries of normalised rows are rounded to where they are not rational.
BITS = 60


class Signed:
    """ρ_K of rows of norm one, as a function of the precision; made once for a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.low = self.high = self.error = Fraction(0)
        self.known = True
        problem = case.problem.raw()
        kernel = problem.kernel.name if isinstance(problem, KernelProblem) else "linear"
        if case.separable is not False:
            self.known = bool(case.separable)
        elif kernel == "rbf":
            pass  # some direction of the space is orthogonal to the hull (footnote to Theorem 3)
        elif kernel != "linear" or isinstance(problem, MulticlassProblem):
            self.known = False
        else:
            found = signed_normalised(problem)
            self.known = found is not None
            if found is not None:
                self.low, self.high, self.error = found

    def ball(self) -> Number | None:
        """ρ_K, or None where it is not known."""
        if not self.known:
            return None
        if self.case.separable:
            return self.case.gamma
        if not self.high and not self.error:
            return number(0)
        error = number(self.error)
        return between(-sqrt(number(self.high)) - error, error - sqrt(number(self.low)))


def rho(case: Case) -> Number | None:
    """ρ_K = sup_{‖f‖ = 1} min_i ⟨f, a_i⟩ with its sign; None where it is not known."""
    found: Number | None = case.history(Signed).ball()
    return found


def signed_margin_known(case: Case) -> str | None:
    """ρ_K is known with its sign."""
    return None if rho(case) is not None else "the signed margin is not known here"


def signed_normalised(problem: Problem) -> tuple[Fraction, Fraction, Fraction] | None:
    """Bounds of ρ for the rows y_i x_i/‖x_i‖, which must not be separable; None if not found.

    Returns (low, high, error) with −√high − error ≤ ρ ≤ error − √low. Rows with irrational norms
    are rounded: ρ is a supremum of minima of inner products with unit vectors, so it moves by no
    more than the largest distance between a row and what it is rounded to.
    """
    integers, _ = integer_rows(problem.X, np.arange(problem.n))
    rows = [[int(v) * int(s) for v in row] for row, s in zip(integers, problem.y, strict=True)]
    plain = signed_margin(rows)
    if plain.rho_squared_hi == 0:  # dividing rows by their norms moves no score across zero
        return Fraction(0), Fraction(0), Fraction(0)
    squares = [sum(v * v for v in row) for row in rows]
    norms = [math.isqrt(v) for v in squares]
    error = Fraction(0)
    if all(v * v == w for v, w in zip(norms, squares, strict=True)):
        common = math.lcm(*norms)
        rows = [[v * (common // m) for v in row] for row, m in zip(rows, norms, strict=True)]
        scale = Fraction(1, common)
    else:
        rows = [[_rounded(v, m) for v in row] for row, m in zip(rows, squares, strict=True)]
        scale = Fraction(1, 2**BITS)
        error = (math.isqrt(len(rows[0])) + 1) * scale
    try:
        found = signed_margin(rows, scale)
    except ProblemError:  # the rounded rows can be separated: |ρ| is that small
        return None
    return found.rho_squared_lo, found.rho_squared_hi, error


def _rounded(value: int, square: int) -> int:
    """value · 2ᵇ/√square, towards zero."""
    size = math.isqrt((value * value << (2 * BITS)) // square)
    return size if value > 0 else -size
