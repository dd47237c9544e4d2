"""Symbols of Ramdas and Peña (2015), and what its statements assume of data and solver.

Rows a_i are the paper's y_i φ̃(x_i), of norm one, and G is their Gram matrix. Coefficients α stand
for w = Σ_i α_i a_i, so G α = A w and ‖α‖_G = ‖w‖; what is said about α_k is computed from w_k.
ρ_K is had with its sign: also where no w separates the rows.

The smoothed methods deliver averages

    p_0 = p_{μ_0}(α_0),   p_{k+1} = (1 − θ_k) p_k + θ_k p_{μ_{k+1}}(α_{k+1}),   θ_k = 2/(k+3)

p_μ(α) depends on the scores Gα_k alone, which come from w_k: so a p_k that a solver delivers is
checked, and a bound on ‖p_k‖_G is one about the method.
"""

import math
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from gammabar.oracle.rational import (
    exact_rows,
    has_exact_kernel,
    integer_rows,
    largest_norm,
    smallest_norm,
)
from gammabar.oracle.signed import signed_margin
from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.algorithms import mixed
from gammabar.problems import KernelProblem, MulticlassProblem, Problem, ProblemError

SOURCE = "Ramdas and Peña (2015)"
rp = Claims("rp", source=SOURCE)
#: Rows divided by their largest norm: the paper's have norm one.
unit = rp.sharing(unit=True)
data = rp.sharing(kind="identity", powerless="it is about the data alone")

#: Rows that an exact Gram matrix, or a distance to the witnesses, is computed for.
MOST = 300


def norm_one(case: Case) -> str | None:
    """Every row has norm one: the paper divides by √K(x, x)."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem):
        if problem.normalised or problem.kernel.name == "rbf":
            return None
        if not has_exact_kernel(problem):
            return "the norms of the rows are not known exactly"
        rows = exact_rows(problem)
        norms = {rows.score(i, rows.point(np.array([i]), [1])) for i in range(problem.n)}
    else:
        points = problem.points  # type: ignore[attr-defined]
        norms = {largest_norm(points), smallest_norm(points)}
    if len(norms) == 1 and norms != {0} and (case.unit or norms == {1}):
        return None
    return "not all rows have norm one; use --kernel linear --normalised, or another kernel"


def small(case: Case) -> str | None:
    """The exact Gram matrix is within reach."""
    return None if case.n <= MOST else f"more than {MOST} rows: no exact Gram matrix"


def below_margin(name: str) -> Assumption:
    def met(case: Case) -> str | None:
        below = case.separable and getattr(case.solver, name) < case.gamma
        why = f"{name} is not below ρ_K" if case.separable else "the data are not separable"
        return None if below else why

    met.__doc__ = f"ρ_K > 0, and the solver's {name} is below it."
    return met


def above_margin(name: str) -> Assumption:
    def met(case: Case) -> str | None:
        above = case.separable and getattr(case.solver, name) > case.gamma
        fits = case.separable is False or above
        return None if fits else f"ρ_K is positive and not below {name}"

    met.__doc__ = f"ρ_K ≤ 0, or the solver's {name} is above it."
    return met


def certifies(it: View, epsilon: Any, weights: Floats | None, strict: bool = False) -> Trit:
    """Whether ‖p‖_G ≤ ε (or <) for what the solver returns, a distribution."""
    if weights is not None and (inside := is_distribution(it, weights)) is not True:
        return inside
    length = it.norm if weights is None else combined_norm(it, weights)
    yes, no = (lt, ge) if strict else (le, gt)
    return True if yes(length, epsilon) else False if no(length, epsilon) else None


def uniform(n: int) -> Floats:
    return np.full(n, 1 / n)


def temperature(k: int, n: int = 1) -> Number:
    """μ_k = 4n/((k+1)(k+2)): what μ_0 = 2n and μ_{k+1} = (1 − θ_k) μ_k give; SNKP has n = 1."""
    return number(4 * n) / ((k + 1) * (k + 2))


def hard_loss(it: View) -> Number:
    """L(α) = max_p −⟨α, p⟩_G + ½‖α‖²_G, equation (9)."""
    return it.norm_squared / 2 - it.smallest


def entropy_gap(it: View, mu: Number) -> Number:
    """L(α) − L_μ(α) for d(p) = Σ p_i log p_i + log n: the maximum in L_μ is a log-sum-exp."""
    if it.n == 1:
        return number(0)
    least = it.smallest
    return -mu * log(total(exp((least - s) / mu) for s in it.scores) / it.n)


def not_average(
    p: Floats, before: Floats | None, answer: tuple[Floats, float], k: int
) -> list[Relation]:
    """That p_k is not the average of p_{k−1} and of the answer at k, which has an error, if it is
    not known to be."""
    theta, start = (1.0, 0 * p) if before is None else (2 / (k + 2), before)
    what = "p_k is the average that follows from the iterates"
    same = same_weights(p, mixed(theta, start, answer[0]), theta * answer[1], what, start)
    found = follows(same.left, same.allowance, same.size, what)
    return [] if found.fact else [found]


class SoftAverages:
    """What is wrong with the p_k of a run of SNKP, if anything is."""

    def __init__(self, case: Case) -> None:
        self.wrong: list[Relation] = []
        self._before: Floats | None = None

    def update(self, it: View) -> None:
        p, before = weights_of(it, "p"), self._before
        self.wrong = [] if p is None else not_average(p, before, self.answer(it), it.t)
        self._before = p

    def answer(self, it: View) -> tuple[Floats, float]:
        """p_{μ_k}(α_k), and a bound on its error."""
        return soft_answer(it, 4 / ((it.t + 1) * (it.t + 2)))


class NearAverages(SoftAverages):
    """The same for SNKPVN."""

    def answer(self, it: View) -> tuple[Floats, float]:
        return near_answer(it, 4 * it.n / ((it.t + 1) * (it.t + 2)), centre(it.case))


def centre(case: Case) -> Floats:
    """q of SNKPVN(q, δ)."""
    chosen = getattr(case.solver, "q", None)
    return uniform(case.n) if chosen is None else np.asarray(chosen, dtype=np.float64)


def followed(it: View, case: Case, kind: type[SoftAverages]) -> tuple[Floats, list[Relation]]:
    """p_k as delivered, and that it does not follow from the iterates, if it does not."""
    return claimed_weights(it, "p"), case.history(kind).wrong


#: Bits that the entries of normalised rows are rounded to where they are not rational.
BITS = 60


Bounds = tuple[Fraction, Fraction, Fraction]


def signed_ball(bounds: Bounds) -> Number:
    """ρ ≤ 0 from the bounds of `signed_normalised`."""
    low, high, error = map(number, bounds)
    return between(-sqrt(high) - error, error - sqrt(low))


def rho(case: Case) -> Number | None:
    """ρ_K = sup_{‖f‖ = 1} min_i ⟨f, a_i⟩ with its sign; None where it is not known."""
    if case.separable is not False:
        return case.gamma if case.separable else None
    bounds = case.history(_Signed).bounds
    return None if bounds is None else signed_ball(bounds)


class _Signed:
    """The bounds of `signed_normalised` for a case, made once."""

    def __init__(self, case: Case) -> None:
        problem, self.bounds = case.problem.raw(), None
        kernel = problem.kernel.name if isinstance(problem, KernelProblem) else "linear"
        if kernel == "rbf":  # some direction is orthogonal to the hull (footnote to Theorem 3)
            self.bounds = (Fraction(0), Fraction(0), Fraction(0))
        elif kernel == "linear" and not isinstance(problem, MulticlassProblem):
            self.bounds = signed_normalised(problem)


def signed_margin_known(case: Case) -> str | None:
    """ρ_K is known with its sign."""
    return None if rho(case) is not None else "the signed margin is not known here"


def signed_rows(problem: Problem) -> tuple[list[list[int]], int]:
    """Rows y_i x_i as integers, times a power of two; and its exponent."""
    integers, exponent = integer_rows(problem.X, np.arange(problem.n))
    labels = np.asarray(problem.y).tolist()
    return [[int(v) * s for v in row] for row, s in zip(integers, labels, strict=True)], exponent


def signed_normalised(problem: Problem) -> Bounds | None:
    """Bounds of ρ for the rows y_i x_i/‖x_i‖, which must not be separable; None if not found.

    Returns (low, high, error) with −√high − error ≤ ρ ≤ error − √low. Rows with irrational norms
    are rounded: ρ is a supremum of minima of inner products with unit vectors, so it moves by no
    more than the largest distance between a row and what it is rounded to.
    """
    rows, _ = signed_rows(problem)
    error = Fraction(0)
    if signed_margin(rows).rho_squared_hi == 0:  # dividing rows moves no score across zero
        return error, error, error
    squares = [sum(v * v for v in row) for row in rows]
    norms = [math.isqrt(v) for v in squares]
    if all(v * v == w for v, w in zip(norms, squares, strict=True)):
        scale = Fraction(1, math.lcm(*norms))
        rows = [[v * int(1 / (m * scale)) for v in row] for row, m in zip(rows, norms, strict=True)]
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
    return math.isqrt((value * value << (2 * BITS)) // square) * (1 if value > 0 else -1)


def reached(it: View, case: Case, kind: type[SoftAverages], limit: Number, strict: bool) -> Trit:
    """Whether the method separates, or certifies with its average p_k that ‖p_k‖_G ≤ limit."""
    if it.separates:
        return True
    p, wrong = followed(it, case, kind)
    found = None if wrong else certifies(it, limit, p, strict)
    if any(claim.fact is False for claim in wrong):  # known to be no average of the iterates
        found = False
    return None if found is False and it.separates is None else found
