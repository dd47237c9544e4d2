"""The proof: the minimum-norm point of the rows' convex hull in rational arithmetic.

Wolfe's method once more, but exact. It starts from an untrusted candidate, which is nearly always
the answer, so that a single linear system over the integers (p-adic lifting in FLINT) and a single
scan of the data prove it. When the proof fails the method simply goes on: a violated row enters,
rows with negative weight leave, each round in exact arithmetic, so that it ends with the truth
after finitely many rounds whatever the candidate was.

With a free intercept the rows have two *sides*, the classes, and q puts half of its weight on each:
the point is half the difference of a point of either hull. All that changes is that a row is
compared with the level of its own side.

Whether a candidate's support is the right one, for one linear problem: proved in 64 bits.

The same proof as for many pairs (`gammabar.oracle.one_vs_one`), where there is no Gram matrix of
all rows: rows outside the support are compared with their levels by the oracle's own scan, whose
error bound is proved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from gammabar.oracle import lifting
from gammabar.oracle.candidate import Candidate, Watch
from gammabar.oracle.one_vs_one import DIGITS, SLIGHT, Answer, Array, Longer, joined_digits, root_of
from gammabar.oracle.rational import ExactRows, exact_rows, largest, signed_rows
from gammabar.problems import DenseProblem, Problem, SparseProblem
from gammabar.problems.environment import require_doubles
from gammabar.problems.points import small_gemm

#: Any prime works, if it does not divide every entry: independence modulo a prime implies
#: independence over the rationals.
PRIMES = (2**61 - 1, 2**61 - 31, 2**59 - 55)


@dataclass(frozen=True)
class MinimumNorm:
    """The exact answer: q_i = numerators_i / total on the support, and ‖Aᵀq‖² = square.

    Rows of the support have the product `levels[side]` with w = Aᵀq; the square is the mean of the
    levels.
    """

    support: NDArray[np.int64]
    numerators: list[int]
    total: int
    square: Fraction
    levels: tuple[Fraction, ...]
    rounds: int


@dataclass(frozen=True)
class _Affine:
    """Affine minimiser of a corral: weights numerators/total (of any sign), and its levels."""

    numerators: list[int]
    total: int
    levels: tuple[Fraction, ...]

    @property
    def square(self) -> Fraction:
        return sum(self.levels, Fraction(0)) / len(self.levels)

    def weights(self) -> list[Fraction]:
        return [Fraction(v, self.total) for v in self.numerators]

    def joined(self) -> list[Fraction]:
        """The weights, and that of a row that has just come."""
        return [*self.weights(), Fraction(0)]


def minimum_norm_point(
    rows: ExactRows,
    support: NDArray[np.int64],
    weights: NDArray[np.float64],
    watch: Watch | None = None,
) -> MinimumNorm:
    """Find and prove the point of smallest norm in the convex hull of all rows.

    Parameters
    ----------
    rows : ExactRows
        Exact inner products.
    support, weights : arrays
        A candidate: distinct rows with positive weights. It decides the time, not the result.
    watch : Watch, optional
        Asked before each linear system whether there is time left.

    Returns
    -------
    MinimumNorm
        With ``square`` = γ̄² if positive; zero if and only if the rows are not separable.

    Notes
    -----
    Optimality: w = Aᵀq with q ∈ Δ is the minimum-norm point if and only if ⟨a_i, w⟩ ≥ ‖w‖² for
    every row (with two sides: ⟨a_i, w⟩ ≥ the level of its side, where the levels have the mean
    ‖w‖²). Support rows satisfy it with equality, because (G q)_i is the level there.
    Termination: a row below its level is independent of the corral, and gets a positive weight in
    the affine minimiser with it; so the norm falls strictly from one corral to the next, and there
    are finitely many.
    """
    corral = [int(i) for i in support]
    given = [float(v) for v in weights]
    for side in range(rows.sides):  # a candidate that lacks a side gets its first row
        if not any(rows.side(i) == side for i in corral):
            corral.append(rows.first(side))
            given.append(1.0)
    start = corral

    def current() -> list[Fraction]:
        return _shared(rows, start, [Fraction(v) for v in given])

    rounds = 0
    while True:
        rounds += 1
        corral, found = _settle(rows, corral, current, watch)
        if found.square == 0:
            break
        point = rows.point(np.array(corral, dtype=np.int64), found.numerators)
        below = rows.violated(point, *(level * found.total for level in found.levels))
        if not below:
            break
        corral.append(below[0][1])
        current = found.joined
    order = sorted(range(len(corral)), key=corral.__getitem__)
    return MinimumNorm(
        np.array([corral[k] for k in order], dtype=np.int64),
        [found.numerators[k] for k in order],
        found.total,
        found.square,
        found.levels,
        rounds,
    )


def _shared(rows: ExactRows, corral: list[int], weights: list[Fraction]) -> list[Fraction]:
    """The weights scaled so that those of each side have the same sum, and all the sum one."""
    sides = [rows.side(i) for i in corral]
    totals = [Fraction(0)] * rows.sides
    for side, weight in zip(sides, weights, strict=True):
        totals[side] += weight
    return [v / (totals[side] * rows.sides) for side, v in zip(sides, weights, strict=True)]


def _settle(
    rows: ExactRows, corral: list[int], begin: Callable[[], list[Fraction]], watch: Watch | None
) -> tuple[list[int], _Affine]:
    """Minor cycles: from the convex combination `begin()`, to a corral with positive weights.

    The combination is asked for only if it is needed: a right candidate needs none.
    """
    current: list[Fraction] | None = None
    while True:
        if watch is not None:
            watch.check()
        chosen, sides = np.array(corral, dtype=np.int64), [rows.side(i) for i in corral]
        affine = _lifted(rows, chosen, sides)
        if affine is None:
            gram, unit = rows.gram(chosen)
            affine = _affine_minimiser(gram, unit, sides)
        if affine is not None and all(v > 0 for v in affine.numerators):
            return corral, affine
        current = begin() if current is None else current
        if affine is None:
            keep = _independent(gram, current, sides)
            corral = [corral[k] for k in keep]
            current = _shared(rows, corral, [current[k] for k in keep])
            continue
        if all(v >= 0 for v in affine.numerators):
            keep = [k for k, v in enumerate(affine.numerators) if v > 0]
            positive = [affine.numerators[k] for k in keep]
            return [corral[k] for k in keep], _Affine(positive, affine.total, affine.levels)
        corral, current = _walk(corral, current, affine.weights())


def _walk(
    corral: list[int], current: list[Fraction], goal: list[Fraction]
) -> tuple[list[int], list[Fraction]]:
    """Move towards the affine minimiser until a weight vanishes, and drop what vanished."""
    step = min(c / (c - g) for c, g in zip(current, goal, strict=True) if g < 0)
    moved = [c + step * (g - c) for c, g in zip(current, goal, strict=True)]
    keep = [k for k, v in enumerate(moved) if v > 0]
    return [corral[k] for k in keep], [moved[k] for k in keep]


def _affine_minimiser(gram: fmpz_mat, unit: Fraction, sides: list[int]) -> _Affine | None:
    """Point of smallest norm in the affine hull, or None if the rows are affinely dependent.

    With E_ij = 1 where row i is of side j, and t the number of sides,

        | G   −E | | t q |   | 0 |
        | Eᵀ   0 | | t λ | = | 1 |

    is regular exactly if the rows are affinely independent side by side (G is positive
    semidefinite); then q is the minimiser and λ are its levels.
    """
    s, t = gram.nrows(), max(sides) + 1
    border = [[int(side == k) for k in range(t)] for side in sides]
    entries: list[Any] = []
    given = gram.entries()
    for k, ones in enumerate(border):
        entries += given[s * k : s * (k + 1)]
        entries += [-v for v in ones]
    for column in zip(*border, strict=True):
        entries += [*column, *[0] * t]
    try:
        solution: Any = fmpz_mat(s + t, s + t, entries).solve(fmpz_mat(s + t, 1, [0] * s + [1] * t))
    except ZeroDivisionError:
        return None
    values, denominator = solution.numer_denom()
    numbers = [int(v) for v in values.entries()]
    total = int(denominator) * t
    levels = tuple(Fraction(v, total) * unit for v in numbers[s:])
    return _Affine(numbers[:s], total, levels)


def _lifted(rows: ExactRows, corral: NDArray[np.int64], sides: list[int]) -> _Affine | None:
    """The same, where inner products are small integers and there are many of them.

    In the order of the unknowns one row of each side and its level come first. Then all leading
    minors are those of such systems, and none of them vanishes if the rows are independent.
    """
    s, t = len(corral), max(sides) + 1
    if not lifting.worth_while(s):
        return None
    found = rows.small_gram(corral)
    if found is None:
        return None
    system = np.zeros((s + t, s + t), np.int32)
    system[:s, :s] = found[0]
    for k, side in enumerate(sides):
        system[k, s + side], system[s + side, k] = -1, 1
    first = [v for side in range(t) for v in (sides.index(side), s + side)]
    order = np.array([*first, *(k for k in range(s) if k not in first)])
    right = (order >= s).astype(np.int64)
    solution = lifting.solve(np.ascontiguousarray(system[np.ix_(order, order)]), right)
    if solution is None:
        return None
    numbers = [0] * (s + t)
    for k, value in zip(order.tolist(), solution[0], strict=True):
        numbers[k] = value
    total = solution[1] * t
    return _Affine(numbers[:s], total, tuple(Fraction(v, total) * found[1] for v in numbers[s:]))


def _independent(gram: fmpz_mat, current: list[Fraction], sides: list[int]) -> list[int]:
    """Positions of an affinely independent subset, preferring large weights."""
    s = gram.nrows()
    order = sorted(range(s), key=lambda k: -current[k])
    c = int(max(gram[k, k] for k in range(s))) or 1
    lifted = [int(gram[i, j]) + c * (sides[i] == sides[j]) for i in order for j in order]
    for prime in PRIMES:
        reduced, rank = nmod_mat(s, s, [v % prime for v in lifted], prime).rref()
        if rank:
            break
    pivots, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(order[column])
    # A side that vanishes modulo the prime keeps a row: alone it depends on no other side.
    lost = set(sides) - {sides[k] for k in pivots}
    pivots += [next(k for k in order if sides[k] == side) for side in lost]
    return sorted(pivots)


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
    return small_gemm(doubles, doubles)


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
