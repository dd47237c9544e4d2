"""The signed margin of data that cannot be separated.

For the rows a_i let ρ = sup_{‖w‖ = 1} min_i ⟨a_i, w⟩ (Ramdas and Peña 2015, Section 5.2). If no w
separates the rows then ρ ≤ 0, and |ρ| is the radius of the largest ball around the origin that
their convex hull contains (Theorem 3): the distance of the origin to the nearest facet.

Where the hull is flat, or the origin lies on its boundary, that ball is a point and ρ = 0: some
direction w has ⟨a_i, w⟩ ≥ 0 for all i. This is what the footnote to Theorem 3 says about RKHSs of
infinite dimension, where there is always a direction orthogonal to the hull.

In small dimension `facets` enumerates the facets and ρ² is an exact rational. Elsewhere
there are bounds, proved in exact arithmetic from points that floating-point programmes suggest:

- every explicit w proves ρ ≥ min_i ⟨a_i, w⟩/‖w‖; a local search over facets looks for a good one;
- points p of the hull near every half-axis prove, with t_j the smaller reach along axis j and r the
  largest deviation, |ρ| ≥ (Σ_j t_j⁻²)^{−1/2} − r, for any unit w has t_j |w_j| ≥ (Σ_j t_j⁻²)^{−1/2}
  for some j.

*Facets.* Qhull proposes which points are vertices and is not believed. For a set V of points that
span the space, every facet of conv(V) contains d affinely independent points of V, and a hyperplane
through d such points with all of V on one side carries a facet. So trying *all* subsets of d points
finds all facets of conv(V). If every remaining point satisfies every facet's inequality, then
conv(V) is the hull of all points; the points that do not are added to V.

Almost all subsets are rejected in floating point: a subset is no facet if two points lie on
different sides of it by more than the proved error of their determinants (`_error`). What is left
is decided in integers. Normals are the signed minors of the edge vectors, computed together by
expansion along one row after the other.

*Bounds.* The programme max ⟨c, y⟩ subject to ⟨a_i, y⟩ ≤ 1 for all i finds at once the facet that
the ray along c meets (its normal is y) and the point where it meets it: with multipliers λ, Aᵀ λ =
c, so q = λ/Σλ is a distribution with Aᵀ q = t c. Repeating it with c = y never shortens y, so it
walks to a facet that is nearest among its neighbours. Floating point is only used to suggest y and
q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.l1 import integers, ratios, solve_l1
from gammabar.oracle.linear_algebra import null_space
from gammabar.oracle.rational import integers_of
from gammabar.oracle.result import root_bounds
from gammabar.problems.problem import Floats, ProblemError

_FLAT = (
    "ρ = 0 exactly: the origin is a convex combination of the rows, and all rows are orthogonal"
    " to the witness, so the hull is flat and contains no ball around the origin"
)
_BOUNDARY = (
    "ρ = 0 exactly: the origin is a convex combination of the rows, and no row has a negative"
    " score on the witness, so the origin lies on the boundary of the hull"
)

#: Largest number of subsets that are tried, and largest dimension (minors take d 2ᵈ products).
_SUBSETS, _DIMENSION = 500_000, 10
#: Subsets that are filtered at a time.
_CHUNK = 4096
#: Matrix entries times programmes solved: beyond it only plain directions are tried.
_WORK = 40_000_000
#: Facets from which the local search starts, and its steps from each.
_STARTS, _STEPS = 4, 6

Point = tuple[int, ...]
#: The inequality ⟨normal, x⟩ ≤ offset in coprime integers; the normal points outwards.
Facet = tuple[Point, int]


@dataclass(frozen=True)
class SignedMargin:
    """ρ ≤ 0, minus the root of what `rho_squared_lo` and `rho_squared_hi` enclose.

    The statement says what is proved, and by what. The witness is a direction w, not normalised,
    with min_i ⟨a_i, w⟩/‖w‖ = −√rho_squared_hi.
    """

    rho_squared_lo: Fraction
    rho_squared_hi: Fraction
    statement: str
    witness: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.rho_squared_lo == self.rho_squared_hi


def signed_margin(
    rows: fmpz_mat | Sequence[Sequence[int]] | NDArray[Any],
    scale: Fraction = Fraction(1),
    support: Sequence[int] | None = None,
    *,
    limit: int = _SUBSETS,
) -> SignedMargin:
    """The signed margin ρ ≤ 0 of the rows a_i = scale · rows_i, which must not be separable.

    Of the rows of `support`, if given, the origin is known to be a convex combination; they only
    save time. The limit is on the subsets tried in search of facets; beyond it there are bounds.

    Examples
    --------
    >>> signed_margin([[1, 1], [1, -1], [-1, 1], [-1, -1]]).rho_squared_hi
    Fraction(1, 1)
    """
    matrix, table = integers(rows)
    if not scale > 0:
        raise ProblemError(f"the scale of the rows must be positive, not {scale}")
    flat = _orthogonal(table)
    if flat is not None:
        _require_combination(table, support)
        return _zero(flat, _FLAT)
    # Some rows are off every hyperplane through the origin, but perhaps on one that is not.
    if null_space(np.column_stack([table, np.ones(len(table), table.dtype)]), 1).ncols():
        raise _separable()
    found = facets([tuple(map(int, row)) for row in table.tolist()], limit)
    if found is None:
        return _bounds(matrix, table, scale, support)
    normal, offset = min(found, key=lambda facet: _signed_square(facet[1], facet[0]))
    if offset < 0:
        raise _separable()
    w = [-v for v in normal]
    if offset == 0:
        return _zero(w, _BOUNDARY)
    square = _signed_square(offset, normal) * scale**2
    statement = (
        f"ρ = −√(rho_squared) exactly: the hull of the rows has {len(found)} facets, and this is"
        " the distance of the origin to the nearest; the witness is its inward normal"
    )
    return SignedMargin(square, square, statement, tuple(map(Fraction, w)))


def _signed_square(offset: int, normal: Sequence[int]) -> Fraction:
    """The squared distance of a hyperplane, with the sign of the offset."""
    return Fraction(offset * abs(offset), sum(v * v for v in normal))


def _separable() -> ProblemError:
    return ProblemError(
        "the rows can be separated, so their margin is positive: use gammabar.solve"
    )


def _zero(w: Sequence[int], statement: str) -> SignedMargin:
    return SignedMargin(Fraction(0), Fraction(0), statement, tuple(map(Fraction, w)))


def _require_combination(table: NDArray[Any], support: Sequence[int] | None) -> None:
    """Prove that the origin is a convex combination of the rows, or raise an error."""
    for part in (table[list(support)], table) if support else (table,):
        truth = solve_l1(part, signed=True)
        if truth.separable is False:
            return
    if truth.separable:
        raise _separable()
    raise ProblemError(
        "whether the rows can be separated takes too long to decide here: pass the support"
        " of a proof that they cannot"
    )


def _orthogonal(table: NDArray[Any]) -> list[int] | None:
    """A direction orthogonal to all rows, if there is one."""
    used = (table != 0).any(axis=0)
    if not used.all():  # a column of zeros, such as a pixel that is never lit, needs no algebra
        return [int(j == int(np.argmin(used))) for j in range(len(used))]
    return integers_of(null_space(table, 1)) or None


# --- all facets, in small dimension ------------------------------------------------------------


def facets(points: Sequence[Point], limit: int = _SUBSETS) -> list[Facet] | None:
    """All facets of the hull of points that span the space; None beyond the limits.

    Points may be there twice; the limit is one on the number of subsets to try.
    """
    points = sorted(set(points))
    d = len(points[0])
    if d >= 5 and math.comb(len(points), d) > 1000 * limit:
        return None  # Qhull alone would take too long, and most points would be vertices
    chosen = _vertices(points)
    if fmpz_mat([[*points[i], 1] for i in chosen]).rank() <= d:
        chosen = list(range(len(points)))  # vertices of a flat hull: Qhull was wrong
    while d <= _DIMENSION and math.comb(len(chosen), d) <= limit:
        found = _enumerate([points[i] for i in chosen])
        outside = _violating(points, found)
        if not outside:
            return found
        chosen = sorted(set(chosen) | outside)
    return None


def _vertices(points: list[Point]) -> list[int]:
    """Indices of the points that Qhull takes for vertices; all of them if it fails."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points[0]) == 1:
        return [0, len(points) - 1]
    try:
        return sorted(int(i) for i in ConvexHull(_doubles(points)).vertices)
    except (QhullError, ValueError):
        return list(range(len(points)))


def _doubles(points: list[Point]) -> Floats:
    """The points in units of the largest entry, halved: edges have entries of at most one."""
    largest = max((abs(v) for point in points for v in point), default=0) or 1
    # Division of Python's integers rounds once, however large they are.
    return np.array([[v / (2 * largest) for v in point] for point in points])


def _enumerate(points: list[Point]) -> list[Facet]:
    doubles, found = _doubles(points), set()
    subsets = combinations(range(len(points)), len(points[0]))
    while chunk := list(islice(subsets, _CHUNK)):
        found |= {_exact_facet(points, chunk[k]) for k in _plausible(doubles, np.array(chunk))}
    return sorted(facet for facet in found if facet is not None)


def _plausible(doubles: Floats, subsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subsets that do not certainly have points on both sides."""
    d = doubles.shape[1]
    corner = doubles[subsets[:, 0]]
    edges = doubles[subsets[:, 1:]] - corner[:, None, :]
    normals = np.stack(np.broadcast_arrays(*_normal(np.moveaxis(edges, 0, -1), d)), axis=-1)
    normals = normals.reshape(-1, d) * np.ones((len(subsets), 1))
    # ⟨normal, x − corner⟩, expanded as the determinant is: one more row of the same kind.
    sides = np.zeros((len(subsets), len(doubles)))
    for j in range(d):
        sides += normals[:, j, None] * (doubles[:, j] - corner[:, j, None])
    error = _error(d)
    both = (sides.max(axis=1) > error) & (sides.min(axis=1) < -error)
    return np.flatnonzero(~both)


def _error(d: int) -> float:
    """A bound on the error of d × d determinants by expansion, for entries of at most one.

    Entries are differences of rounded quotients: |error| ≤ 4u. If minors of order k − 1, at most
    (k − 1)! in size, have error e, then each of the k products is off by at most (1 + 4u) e +
    4u (k − 1)! before and u ((k − 1)! + e) through rounding, and each of the k additions rounds a
    sum of at most k! + k e. The factor 2 covers terms of second order, this sum itself, and what
    underflows, which is at most 2⁻¹⁰⁷⁴ in each of fewer than d 2ᵈ operations.
    """
    u, error = 2.0**-53, 0.0
    for k in range(1, d + 1):
        size = math.factorial(k - 1)
        error = k * ((1 + 5 * u) * error + 5 * u * size) + k * u * (math.factorial(k) + k * error)
    return 2 * error


def _normal(edges: Any, d: int) -> list[Any]:
    """Signed minors of d − 1 vectors: orthogonal to all of them, zero if they are dependent.

    Entries are numbers or arrays; `edges[r][j]` is coordinate j of vector r.
    """
    minors: dict[int, Any] = {0: 1}  # by the set of columns, as bits: minors of the first rows
    for r in range(d - 1):
        larger: dict[int, Any] = {}
        for columns, minor in minors.items():
            for j in range(d):
                if not columns >> j & 1:
                    # Column j jumps over those of larger index on its way to its place.
                    sign = -1 if (columns >> j).bit_count() % 2 else 1
                    term = edges[r][j] * minor * sign
                    key = columns | 1 << j
                    larger[key] = larger[key] + term if key in larger else term
        minors = larger
    full = (1 << d) - 1
    return [minors[full ^ 1 << j] * (-1) ** j for j in range(d)]


def _exact_facet(points: list[Point], subset: tuple[int, ...]) -> Facet | None:
    """The facet that carries the subset, or None."""
    corner, *others = (points[i] for i in subset)
    edges = [[a - b for a, b in zip(other, corner, strict=True)] for other in others]
    normal = _normal(edges, len(corner))
    if not any(normal):
        return None
    offset = sum(map(int.__mul__, normal, corner))
    sides = [sum(map(int.__mul__, normal, point)) - offset for point in points]
    if max(sides) > 0:
        if min(sides) < 0:
            return None
        normal, offset = [-v for v in normal], -offset
    shared = math.gcd(offset, *normal)
    return tuple(v // shared for v in normal), offset // shared


def _violating(points: list[Point], found: list[Facet]) -> set[int]:
    """Points outside some facet, exactly: for each facet the farthest one."""
    matrix, outside = fmpz_mat([list(point) for point in points]), set()
    for normal, offset in found:
        scores = (matrix * fmpz_mat(len(normal), 1, list(normal))).entries()
        farthest = max(range(len(points)), key=scores.__getitem__)
        if scores[farthest] > offset:
            outside.add(farthest)
    return outside


# --- bounds, where the facets are too many -----------------------------------------------------


def _bounds(
    matrix: fmpz_mat, table: NDArray[Any], scale: Fraction, support: Sequence[int] | None
) -> SignedMargin:
    _require_combination(table, support)
    largest = max(map(abs, (int(table.max()), int(table.min()))))
    directions, reaches = _steepest(ratios(table, largest))
    w, score = _best(matrix, directions)
    if score >= 0:
        return _zero(w, _BOUNDARY)
    hi = -_signed_square(score, w) * scale**2
    lo = _axes_bound(matrix, largest, reaches) * scale**2
    why = "the hull reaches far enough along every axis to contain a ball around the origin"
    statement = (
        "−√(rho_squared_hi) ≤ ρ ≤ −√(rho_squared_lo): there are too many facets to enumerate; the"
        " lower bound on ρ is the margin of the witness, found by local search, and for the upper"
        f" bound {why if lo else 'no such ball was proved to lie in the hull'}"
    )
    return SignedMargin(lo, hi, statement, tuple(map(Fraction, w)))


def _best(matrix: fmpz_mat, directions: list[Floats]) -> tuple[list[int], int]:
    """The direction with the largest margin, as integers, and its smallest score, exactly."""
    found = []
    for direction in directions:
        w = [round(math.ldexp(v, 40)) for v in _sized(direction).tolist()]
        found.append((w, int(min((matrix * fmpz_mat(len(w), 1, w)).entries()))))
    return max(found, key=lambda pair: _signed_square(pair[1], pair[0]))


def _steepest(rows: Floats) -> tuple[list[Floats], list[Floats]]:
    """Directions with a large (negative) margin, and for every half-axis a distribution q.

    The half-axes come in the order +e_0, −e_0, +e_1, …; there are none when that is too much work
    or a programme fails.
    """
    n, d = rows.shape
    thinnest = np.linalg.eigh(rows.T @ rows)[1][:, 0]  # the rows vary least along it
    plain = (rows.mean(axis=0), *np.eye(d), *-np.eye(d), thinnest)
    starts = [_sized(v) for v in plain if v.any()]
    reaches: list[Floats] = []
    if 2 * n * d * d > _WORK:
        return sorted(starts, key=lambda w: -_margin(rows, w))[:_STARTS], []
    for axis in np.repeat(np.eye(d), 2, axis=0) * np.tile([[1.0], [-1.0]], (d, 1)):
        answer = _ray(rows, axis)
        if answer is None:
            reaches.clear()
            break
        starts.append(_sized(-answer[0]))
        reaches.append(answer[1])
    starts = sorted(starts, key=lambda w: -_margin(rows, w))[:_STARTS]
    return [_walk(rows, w) for w in starts] + starts, reaches


def _sized(w: Floats) -> Floats:
    """The direction with a largest entry of one, so that its norm neither over- nor underflows."""
    return w / np.abs(w).max()


def _margin(rows: Floats, w: Floats) -> float:
    return float((rows @ w).min() / np.linalg.norm(w))


def _walk(rows: Floats, w: Floats) -> Floats:
    """From facet to nearer facet."""
    for _ in range(_STEPS):
        answer = _ray(rows, -w / np.linalg.norm(w))
        if answer is None or _margin(rows, _sized(-answer[0])) <= _margin(rows, w):
            break
        w = _sized(-answer[0])
    return w


def _ray(rows: Floats, direction: Floats) -> tuple[Floats, Floats] | None:
    """The normal y of the facet that the ray meets, and q; None when the programme fails."""
    from scipy.optimize import linprog

    ones = np.ones(len(rows))
    answer = linprog(-direction, A_ub=rows, b_ub=ones, bounds=(None, None), method="highs")
    if answer.status != 0 or not np.any(answer.x) or not np.isfinite(answer.x).all():
        return None
    q = np.maximum(-answer.ineqlin.marginals, 0.0)
    total = float(q.sum())
    return (answer.x, q / total) if 0 < total < math.inf else None


def _axes_bound(matrix: fmpz_mat, largest: int, reaches: list[Floats]) -> Fraction:
    """ρ² is at least this, by points of the hull near the half-axes; zero when they do not suffice.

    Points are in units of the largest entry, for the weights rounded to rationals.
    """
    reach: dict[int, Fraction] = {}
    deviation = Fraction(0)
    for index, q in enumerate(reaches):
        j, sign = index // 2, (-1) ** index
        weights = [round(math.ldexp(v, 60)) for v in q.tolist()]
        entries = integers_of(fmpz_mat(1, len(weights), weights) * matrix)
        unit = sum(weights) * largest
        reach[j] = min(reach.get(j, Fraction(1)), Fraction(entries[j] * sign, unit))
        rest = sum(v * v for k, v in enumerate(entries) if k != j)
        deviation = max(deviation, root_bounds(Fraction(rest, unit**2))[1])
    if not reach or min(reach.values()) <= 0:
        return Fraction(0)
    total = sum((1 / t**2 for t in reach.values()), Fraction(0))
    radius = root_bounds(1 / total)[0] - deviation
    return max(radius, Fraction(0)) ** 2 * largest**2
