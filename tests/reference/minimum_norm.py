"""Exact references by trying every support, in fractions.

Literal and slow: for each subset of rows, the point of its affine hull nearest to the origin, by
Gaussian elimination; the answer is the one that is a convex combination and has every row on the
far side of its hyperplane. Standard library only; no code is shared with the oracle or the checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Matrix = list[list[Fraction]]


def dot(x: Sequence[Any], z: Sequence[Any]) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, z, strict=True)), Fraction(0))


def solve_linear(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Fraction] | None:
    """The solution of a square system, or None if it is singular."""
    rows = [[Fraction(v) for v in (*row, b)] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def shortest(gram: Matrix) -> tuple[dict[int, Fraction], Fraction]:
    """Weights q of the shortest convex combination and its squared norm, by trying all supports."""
    n = len(gram)
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            system = [[*(gram[i][j] for j in support), Fraction(-1)] for i in support]
            system.append([Fraction(1)] * size + [Fraction(0)])
            found = solve_linear(system, [0] * size + [1])
            if found is None or min(found[:-1]) <= 0:
                continue
            q, square = dict(zip(support, found[:-1], strict=True)), found[-1]
            if all(sum(q[j] * gram[i][j] for j in support) >= square for i in range(n)):
                return q, square
    raise AssertionError("some support must be optimal")


def minimum_of_gram(gram: Sequence[Sequence[Fraction]]) -> Fraction:
    """min over q in the simplex of qᵀGq."""
    return shortest([list(row) for row in gram])[1]


def minimum_norm_squared(rows: Sequence[Sequence[Any]]) -> Fraction:
    """min over q in the simplex of ‖Aᵀq‖²."""
    return minimum_of_gram([[dot(a, b) for b in rows] for a in rows])


def between(gram: Matrix, y: Sequence[int]) -> tuple[dict[int, Fraction], Fraction]:
    """The same with half of the weight on either class: half the way from hull to hull."""
    n, half = len(gram), Fraction(1, 2)
    for size in range(2, n + 1):
        for support in combinations(range(n), size):
            ones = [[Fraction(y[i] == sign) for i in support] for sign in (1, -1)]
            system = [
                [*(gram[i][j] for j in support), *(-side[k] for side in ones)]
                for k, i in enumerate(support)
            ] + [[*side, Fraction(0), Fraction(0)] for side in ones]
            found = solve_linear(system, [0] * size + [half, half])
            if found is None or min(found[:size]) <= 0:
                continue
            q, levels = dict(zip(support, found, strict=False)), {1: found[-2], -1: found[-1]}
            if all(sum(q[j] * gram[i][j] for j in support) >= levels[y[i]] for i in range(n)):
                return q, (levels[1] + levels[-1]) / 2
    raise AssertionError("some support must be optimal")


def game(payoff: Matrix) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Optimal q (rows, minimising), w (columns, maximising) and value, by trying all kernels."""
    n, d = len(payoff), len(payoff[0])
    for size in range(1, min(n, d) + 1):
        for rows in combinations(range(n), size):
            for columns in combinations(range(d), size):
                block = [[payoff[i][j] for j in columns] for i in rows]
                turned = [list(column) for column in zip(*block, strict=True)]
                one = [[*row, Fraction(-1)] for row in block] + [[1] * size + [0]]
                two = [[*row, Fraction(-1)] for row in turned] + [[1] * size + [0]]
                w_part, q_part = (solve_linear(m, [0] * size + [1]) for m in (one, two))
                if w_part is None or q_part is None or min(w_part[:-1] + q_part[:-1]) < 0:
                    continue
                w, q, value = [Fraction(0)] * d, [Fraction(0)] * n, w_part[-1]
                for j, v in zip(columns, w_part, strict=False):
                    w[j] = v
                for i, v in zip(rows, q_part, strict=False):
                    q[i] = v
                low = min(sum(a * b for a, b in zip(row, w, strict=True)) for row in payoff)
                high = max(sum(q[i] * payoff[i][j] for i in range(n)) for j in range(d))
                if low == high == value:
                    return q, w, value
    raise AssertionError("some kernel must be optimal")


def boundary(rows: Matrix) -> set[int]:
    """Rows with positive weight in some q >= 0 with sum zero: the union of all positive circuits.

    Every such q is a sum of elementary ones, whose supports are minimal dependent sets.
    """
    found: set[int] = set()
    d = len(rows[0])
    for size in range(1, min(len(rows), d + 1) + 1):
        for support in combinations(range(len(rows)), size):
            q = circuit([rows[i] for i in support])
            if q is not None and min(q) > 0:
                found |= set(support)
    return found


def circuit(rows: Matrix) -> list[Fraction] | None:
    """The only combination of the rows that is zero, with a first weight of 1; None if not one."""
    columns = [[row[j] for row in rows] for j in range(len(rows[0]))]
    m, pivots = [list(column) for column in columns], []
    for k in range(len(rows)):
        row = next((i for i in range(len(pivots), len(m)) if m[i][k]), None)
        if row is None:
            continue
        at = len(pivots)
        m[at], m[row] = m[row], m[at]
        m[at] = [v / m[at][k] for v in m[at]]
        for i in range(len(m)):
            if i != at:
                m[i] = [a - m[i][k] * b for a, b in zip(m[i], m[at], strict=True)]
        pivots.append(k)
    free = [k for k in range(len(rows)) if k not in pivots]
    if len(free) != 1:
        return None
    q = [Fraction(0)] * len(rows)
    q[free[0]] = Fraction(1)
    for i, k in enumerate(pivots):
        q[k] = -m[i][free[0]]
    return q if q[0] == 1 else [v / q[0] for v in q] if q[0] else None
