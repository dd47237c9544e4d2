"""The signed margin of data that cannot be separated.

For the rows a_i let ρ = sup_{‖w‖ = 1} min_i ⟨a_i, w⟩ (Ramdas and Peña 2015, Section 5.2). If no w
separates the rows then ρ ≤ 0, and |ρ| is the radius of the largest ball around the origin that
their convex hull contains (Theorem 3): the distance of the origin to the nearest facet.

Where the hull is flat, or the origin lies on its boundary, that ball is a point and ρ = 0: some
direction w has ⟨a_i, w⟩ ≥ 0 for all i. This is what the footnote to Theorem 3 says about RKHSs of
infinite dimension, where there is always a direction orthogonal to the hull.

In small dimension `oracle.facets` enumerates the facets and ρ² is an exact rational. Elsewhere
there are bounds, proved in exact arithmetic from points that floating-point programmes suggest:

- every explicit w proves ρ ≥ min_i ⟨a_i, w⟩/‖w‖; a local search over facets looks for a good one;
- d + 1 rows with the origin inside their simplex prove |ρ| ≥ its distance to the nearest face;
- points p of the hull near every half-axis prove, with t_j the smaller reach along axis j and r the
  largest deviation, |ρ| ≥ (Σ_j t_j⁻²)^{−1/2} − r, for any unit w has t_j |w_j| ≥ (Σ_j t_j⁻²)^{−1/2}
  for some j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from gammabar.oracle.facets import SUBSETS, facets
from gammabar.oracle.l1 import integers, ratios, solve_l1
from gammabar.oracle.reach import axes_bound, simplex_bound, steepest
from gammabar.problems.base import ProblemError

#: A prime for ranks: regular modulo the prime is regular.
_PRIME = 2**61 - 1

_FLAT = (
    "ρ = 0 exactly: the origin is a convex combination of the rows, and all rows are orthogonal"
    " to the witness, so the hull is flat and contains no ball around the origin"
)
_BOUNDARY = (
    "ρ = 0 exactly: the origin is a convex combination of the rows, and no row has a negative"
    " score on the witness, so the origin lies on the boundary of the hull"
)


@dataclass(frozen=True)
class SignedMargin:
    """ρ ≤ 0, by its square.

    Attributes
    ----------
    rho_squared_lo, rho_squared_hi : Fraction
        They enclose ρ²; ρ itself is minus its square root.
    exact : bool
        Whether they are equal.
    statement : str
        What is proved, and by what, in plain words.
    witness : tuple of Fraction
        A direction w, not normalised, with min_i ⟨a_i, w⟩/‖w‖ = −√rho_squared_hi.
    """

    rho_squared_lo: Fraction
    rho_squared_hi: Fraction
    exact: bool
    statement: str
    witness: tuple[Fraction, ...]


def signed_margin(
    rows: fmpz_mat | Sequence[Sequence[int]] | NDArray[Any],
    scale: Fraction = Fraction(1),
    support: Sequence[int] | None = None,
    *,
    limit: int = SUBSETS,
) -> SignedMargin:
    """The signed margin ρ ≤ 0 of the rows a_i = scale · rows_i, which must not be separable.

    Parameters
    ----------
    rows : fmpz_mat, lists of int, or an array of integers
    scale : Fraction
        Positive.
    support : sequence of int, optional
        Rows of which the origin is known to be a convex combination; they only save time.
    limit : int
        Largest number of subsets tried in search of facets; beyond it there are bounds.

    Examples
    --------
    >>> signed_margin([[1, 1], [1, -1], [-1, 1], [-1, -1]]).rho_squared_hi
    Fraction(1, 1)
    """
    matrix, table = integers(rows)
    if not scale > 0:
        raise ProblemError(f"the scale of the rows must be positive, not {scale}")
    flat = _orthogonal(matrix, table)
    if flat is not None:
        _combination(table, support)
        return _zero(flat, _FLAT)
    # Some rows are off every hyperplane through the origin, but perhaps on one that is not.
    if _null_vector(_with_ones(matrix)) is not None:
        raise _separable()
    found = facets([tuple(map(int, row)) for row in table.tolist()], limit)
    if found is None:
        return _bounds(matrix, table, scale, support)
    nearest = min(found, key=lambda f: _signed_square(f.offset, f.normal))
    if nearest.offset < 0:
        raise _separable()
    w = [-v for v in nearest.normal]
    if nearest.offset == 0:
        return _zero(w, _BOUNDARY)
    square = _signed_square(nearest.offset, nearest.normal) * scale**2
    statement = (
        f"ρ = −√(rho_squared) exactly: the hull of the rows has {len(found)} facets, and this is"
        " the distance of the origin to the nearest; the witness is its inward normal"
    )
    return SignedMargin(square, square, True, statement, tuple(map(Fraction, w)))


def _signed_square(offset: int, normal: Sequence[int]) -> Fraction:
    """The squared distance of a hyperplane, negative when the origin is outside."""
    return Fraction(offset * abs(offset), sum(v * v for v in normal))


def _separable() -> ProblemError:
    return ProblemError(
        "the rows can be separated, so their margin is positive: use gammabar.solve"
    )


def _zero(w: Sequence[int], statement: str) -> SignedMargin:
    return SignedMargin(Fraction(0), Fraction(0), True, statement, tuple(map(Fraction, w)))


def _combination(table: NDArray[Any], support: Sequence[int] | None) -> list[int]:
    """Rows of which the origin is a convex combination, proved."""
    every = list(range(len(table)))
    for subset in (list(support), every) if support else (every,):
        truth = solve_l1(table[subset], signed=True)
        if truth.separable is False:
            return [subset[i] for i in truth.q.support]
    if truth.separable:
        raise _separable()
    raise ProblemError(
        "whether the rows can be separated takes too long to decide here: pass the support"
        " of a proof that they cannot"
    )


def _with_ones(matrix: fmpz_mat) -> fmpz_mat:
    return fmpz_mat([[*row, 1] for row in matrix.tolist()])


def _orthogonal(matrix: fmpz_mat, table: NDArray[Any]) -> list[int] | None:
    """A direction orthogonal to all rows, if there is one."""
    used = (table != 0).any(axis=0)
    if not used.all():  # a column of zeros, such as a pixel that is never lit, needs no algebra
        return [int(j == int(np.argmin(used))) for j in range(len(used))]
    return _null_vector(matrix)


def _null_vector(matrix: fmpz_mat) -> list[int] | None:
    """An integer vector x ≠ 0 with matrix · x = 0, or None when the columns are independent."""
    d = matrix.ncols()
    reduced, rank = nmod_mat(matrix.transpose(), _PRIME).rref()
    if rank == d:
        return None
    # Pivots of the transpose name rows that span the others modulo the prime, hence almost surely
    # also over the rationals; should they not, the whole matrix is reduced.
    table = reduced.tolist()
    pivots = [next(j for j, v in enumerate(row) if int(v)) for row in table[: int(rank)]]
    for candidate in (pivots, range(matrix.nrows())):
        part = fmpz_mat(len(candidate), d, [matrix[i, j] for i in candidate for j in range(d)])
        kernel, nullity = part.nullspace()
        if nullity == 0:
            return None
        column = fmpz_mat(d, 1, [kernel[j, 0] for j in range(d)])
        if not any((matrix * column).entries()):
            shared = math.gcd(*(int(v) for v in column.entries()))
            return [int(v) // shared for v in column.entries()]
    raise AssertionError("a null vector of the whole matrix is orthogonal to every row")


def _bounds(
    matrix: fmpz_mat, table: NDArray[Any], scale: Fraction, support: Sequence[int] | None
) -> SignedMargin:
    """An enclosure of ρ where the facets are too many."""
    combination = _combination(table, support)
    largest = max(map(abs, (int(table.max()), int(table.min()))))
    doubles = ratios(table, largest)
    directions, reaches = steepest(doubles)
    w, score = _best(matrix, directions)
    if score >= 0:
        return _zero(w, _BOUNDARY)
    hi = Fraction(score * score, sum(v * v for v in w)) * scale**2
    inside = simplex_bound(matrix, combination)
    along = axes_bound(matrix, largest, reaches)
    lo, why = max(
        (Fraction(0), "no ball around the origin was proved to lie in the hull"),
        (inside * scale**2, "some rows form a simplex that contains such a ball"),
        (along * scale**2, "the hull reaches far enough along every axis to contain such a ball"),
    )
    statement = (
        "−√(rho_squared_hi) ≤ ρ ≤ −√(rho_squared_lo): there are too many facets to enumerate; the"
        " lower bound on ρ is the margin of the witness, found by local search, and for the upper"
        f" bound {why}"
    )
    return SignedMargin(lo, hi, lo == hi, statement, tuple(map(Fraction, w)))


def _best(matrix: fmpz_mat, directions: list[NDArray[np.float64]]) -> tuple[list[int], int]:
    """The direction with the largest margin, as integers, and its smallest score, exactly."""
    best: tuple[Fraction, list[int], int] | None = None
    for direction in directions:
        length = float(np.abs(direction).max())
        w = [round(math.ldexp(v / length, 40)) for v in direction.tolist()]
        score = int(min((matrix * fmpz_mat(len(w), 1, w)).entries()))
        key = Fraction(score * abs(score), sum(v * v for v in w))
        if best is None or key > best[0]:
            best = key, w, score
    assert best is not None
    return best[1], best[2]
