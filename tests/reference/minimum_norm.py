"""The minimum-norm point of a convex hull by trying every subset, in fractions.

Literal and slow: for each subset of rows, the point of its affine hull nearest to the origin, by
Gaussian elimination; the answer is the one that is a convex combination and has every row on the
far side of its hyperplane. Shares no code with the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[Fraction]


def dot(a: Row, b: Row) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def eliminate(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a square system, or None if it is singular."""
    m = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    size = len(m)
    for k in range(size):
        pivot = next((i for i in range(k, size) if m[i][k] != 0), None)
        if pivot is None:
            return None
        m[k], m[pivot] = m[pivot], m[k]
        m[k] = [v / m[k][k] for v in m[k]]
        for i in range(size):
            if i != k and m[i][k] != 0:
                m[i] = [a - m[i][k] * b for a, b in zip(m[i], m[k], strict=True)]
    return [row[-1] for row in m]


def minimum_norm_squared(rows: Sequence[Sequence[int | float | Fraction]]) -> Fraction:
    """min over q in the simplex of ‖Aᵀq‖², for a handful of rows."""
    exact = [[Fraction(v) for v in row] for row in rows]
    d = len(exact[0])
    for size in range(1, min(len(exact), d + 1) + 1):
        for subset in combinations(range(len(exact)), size):
            found = _affine(exact, subset)
            if found is None or min(found) < 0:
                continue
            w = [
                sum((q * exact[i][j] for q, i in zip(found, subset, strict=True)), Fraction(0))
                for j in range(d)
            ]
            square = dot(w, w)
            if all(dot(row, w) >= square for row in exact):
                return square
    raise AssertionError("every finite set has a minimum-norm point")


def minimum_of_gram(gram: Sequence[Sequence[Fraction]]) -> Fraction:
    """min over q in the simplex of qᵀGq, for a positive semidefinite G of a handful of rows."""
    n = len(gram)
    for size in range(1, n + 1):
        for subset in combinations(range(n), size):
            matrix = [[gram[i][j] for j in subset] + [Fraction(-1)] for i in subset]
            matrix.append([Fraction(1)] * size + [Fraction(0)])
            solution = eliminate(matrix, [Fraction(0)] * size + [Fraction(1)])
            if solution is None or min(solution[:size]) < 0:
                continue
            scores = [
                sum((q * row[j] for q, j in zip(solution, subset, strict=False)), Fraction(0))
                for row in gram
            ]
            if min(scores) >= solution[size]:
                return solution[size]
    raise AssertionError("every convex quadratic has a minimum over the simplex")


def _affine(rows: list[list[Fraction]], subset: tuple[int, ...]) -> list[Fraction] | None:
    """Barycentric coordinates of the affine minimiser: G q = λ1, Σq = 1."""
    size = len(subset)
    matrix = [[dot(rows[i], rows[j]) for j in subset] + [Fraction(-1)] for i in subset]
    matrix.append([Fraction(1)] * size + [Fraction(0)])
    solution = eliminate(matrix, [Fraction(0)] * size + [Fraction(1)])
    return None if solution is None else solution[:size]
