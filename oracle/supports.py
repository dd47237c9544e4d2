"""Whether a candidate's support is the right one, for one linear problem: proved in 64 bits.

The same proof as for many pairs (`gammabar.oracle.pairs`), where there is no Gram matrix of all
rows: rows outside the support are compared with their levels by the oracle's own scan, whose error
bound is proved.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from gammabar.oracle.candidate import Candidate
from gammabar.oracle.integers import largest, signed_rows
from gammabar.oracle.longer import Longer
from gammabar.oracle.pairs import DIGITS, SLIGHT, Answer, Array, joined_digits, root_of
from gammabar.oracle.rational import ExactRows, exact_rows
from gammabar.problems import DenseProblem, Problem, SparseProblem, quiet
from gammabar.problems.arithmetic import require_doubles

#: Most rows of a support; what has more is as fast another way.
MOST = 600


def answer(problem: Problem, candidate: Candidate) -> Answer | None:
    """The hyperplane of the candidate's support, if it is proved to be that of the largest margin.

    Parameters
    ----------
    problem : Problem
        Linear, two classes, with a free intercept or none; of small integers times a power of two,
        or nothing is proved here.
    candidate : Candidate
        Untrusted.

    Returns
    -------
    Answer or None
        Of γ̄ the doubles next to it, of q̄ the nearest ones. None says nothing of the problem.
    """
    require_doubles()
    s, free = len(candidate.support), problem.intercept == "free"
    if not isinstance(problem, DenseProblem | SparseProblem) or not 0 < s <= MOST:
        return None
    support = np.sort(np.asarray(candidate.support, np.int64))
    side = (problem.y[support] > 0).astype(np.int64) if free else np.zeros(s, np.int64)
    sides = 2 if free else 1
    if problem.intercept == "augmented" or len(np.unique(side)) < sides:
        return None
    rows, exponent = signed_rows(problem.X, problem.y, support)
    top = largest(rows)
    if not 0 < top < 2**25 or not top**2 * rows.shape[1] < 2**53 or 2**24 * s * top >= 2**53:
        return None
    doubles = rows.astype(np.float64)
    solved = _solved(_gram(problem, support, doubles), side, sides)
    if solved is None:
        return None
    digits, places, error = solved
    root = root_of(digits[:, s:], places, error, exponent)
    sums = Longer.sum(np.ldexp(digits[:, :s], -places[:, None]), axis=0)
    unit = float(np.ldexp(error, -int(places[-1])))
    if root is None or not sums.rounds(unit + sums.lost).all():
        return None
    vector = Longer.sum(np.ldexp(digits[:, :s].astype(np.float64) @ doubles, -places[:, None]), 0)
    off = unit * np.abs(doubles).sum(axis=0) + vector.lost
    if not (off <= SLIGHT * np.abs(vector.high)).all():
        return None
    if not _all_above(exact_rows(problem), support, digits, places, error, exponent):
        return None
    divisor = Longer.of([(root.value, root.exponent - exponent)])
    w = vector.over(divisor).ravel() / sides
    return Answer(support, sums.high / sides, w, root.b, root.lower, root.upper)


def _gram(problem: DenseProblem | SparseProblem, support: Array, doubles: Array) -> Array:
    """The inner products, which doubles hold exactly; of octets by the loops that are for them."""
    if isinstance(problem, DenseProblem) and "gammabar.problems.compiled.octets" in sys.modules:
        found = problem.points.gram(support, support)
        if found is not None:
            return np.asarray(found * np.outer(problem.y[support], problem.y[support]))
    return quiet.product(doubles, doubles)


def _solved(gram: Array, side: Array, sides: int) -> tuple[Array, Array, float] | None:
    """Digits of weights and levels, their places, and what they are off by in the last one."""
    from gammabar.oracle._pairs import solve_one

    s = len(gram)
    system = np.zeros((s + sides, s + sides), np.int64)
    system[:s, :s] = gram
    system[np.arange(s), s + side], system[s + side, np.arange(s)] = -1, 1
    digits, shifts = np.zeros((DIGITS, s + sides), np.int64), np.zeros(DIGITS, np.int64)
    error = np.zeros(1)
    off = solve_one(system, s, digits, shifts, np.zeros(s + sides), error)
    return None if off < 0 else (digits, np.cumsum(shifts), float(error[0]))


def _all_above(
    rows: ExactRows, support: Array, digits: Array, places: Array, error: float, exponent: int
) -> bool:
    """Whether all rows outside the support have products with w strictly above their level.

    Let P = Σ z_k a_k with the integers z of the digits. The true weights, in the same unit, differ
    from z by no more than e, and the true levels from theirs; so a row is above its level if
    ⟨a_i, P⟩ exceeds the level by e (s R² + 1), R being the largest norm.
    """
    s, at = len(support), places.tolist()
    z = [joined_digits(column, at) for column in digits.T.tolist()]
    e = Fraction(error)
    square = Fraction(4) ** exponent
    slack = e * s * rows.radius_squared()
    thresholds = [(level + e + 1) * square + slack for level in z[s:]]
    left = rows.doubtful(rows.point(support, z[:s]), *thresholds)
    return not len(np.setdiff1d(left, support))
