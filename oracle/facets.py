"""All facets of the convex hull of a few integer points, proved complete.

Qhull proposes which points are vertices and is not believed. For a set V of points that span the
space, every facet of conv(V) contains d affinely independent points of V, and a hyperplane through
d such points with all of V on one side carries a facet. So trying *all* subsets of d points finds
all facets of conv(V). If every remaining point satisfies every facet's inequality, then conv(V) is
the hull of all points; the points that do not are added to V.

Almost all subsets are rejected in floating point: a subset is no facet if two points lie on
different sides of it by more than the proved error of their determinants (`_error`). What is left
is decided in integers. Normals are the signed minors of the edge vectors, computed together by
expansion along one row after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

Point = tuple[int, ...]

#: Largest number of subsets that are tried, and largest dimension (minors take d 2ᵈ products).
SUBSETS, DIMENSION = 500_000, 10
_CHUNK = 4096


@dataclass(frozen=True)
class Facet:
    """The inequality ⟨normal, x⟩ ≤ offset, in coprime integers; the normal points outwards."""

    normal: tuple[int, ...]
    offset: int


def facets(points: Sequence[Point], limit: int = SUBSETS) -> list[Facet] | None:
    """All facets of the hull of points that span the space; None beyond the limits.

    Parameters
    ----------
    points : sequence of tuples of int
        Affinely spanning. Duplicates are allowed.
    limit : int
        Largest number of subsets to try.
    """
    points = sorted(set(points))
    d = len(points[0])
    if d >= 5 and math.comb(len(points), d) > 1000 * limit:
        return None  # Qhull alone would take too long, and most points would be vertices
    chosen = _vertices(points)
    if fmpz_mat([[*points[i], 1] for i in chosen]).rank() <= d:
        chosen = list(range(len(points)))  # vertices of a flat hull: Qhull was wrong
    while d <= DIMENSION and math.comb(len(chosen), d) <= limit:
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


def _doubles(points: list[Point]) -> NDArray[np.float64]:
    """The points in units of the largest entry, halved: edges have entries of at most one."""
    largest = max((abs(v) for point in points for v in point), default=0) or 1
    # Division of Python's integers rounds once, however large they are.
    return np.array([[v / (2 * largest) for v in point] for point in points])


def _enumerate(points: list[Point]) -> list[Facet]:
    d = len(points[0])
    doubles = _doubles(points)
    found: dict[Facet, None] = {}
    subsets = combinations(range(len(points)), d)
    while chunk := list(islice(subsets, _CHUNK)):
        for subset in _plausible(doubles, np.array(chunk)):
            facet = _exact_facet(points, chunk[subset])
            if facet is not None:
                found[facet] = None
    return list(found)


def _plausible(doubles: NDArray[np.float64], subsets: NDArray[np.int64]) -> NDArray[np.int64]:
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
    d = len(corner)
    edges = [[a - b for a, b in zip(other, corner, strict=True)] for other in others]
    normal = _normal(edges, d)
    if not any(normal):
        return None
    offset = _inner(normal, corner)
    sides = [_inner(normal, point) - offset for point in points]
    if max(sides) > 0:
        if min(sides) < 0:
            return None
        normal, offset = [-v for v in normal], -offset
    shared = math.gcd(offset, *normal)
    return Facet(tuple(v // shared for v in normal), offset // shared)


def _inner(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _violating(points: list[Point], found: list[Facet]) -> set[int]:
    """Points outside some facet, exactly: for each facet the farthest one."""
    matrix = fmpz_mat([list(point) for point in points])
    outside = set()
    for facet in found:
        scores = (matrix * fmpz_mat(len(facet.normal), 1, list(facet.normal))).entries()
        farthest = max(range(len(points)), key=scores.__getitem__)
        if scores[farthest] > facet.offset:
            outside.add(farthest)
    return outside
