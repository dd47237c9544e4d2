"""Linear algebra over the integers: pivots modulo a prime, null spaces, coordinates.

Columns that are independent modulo a prime are independent over the rationals. An unlucky prime,
one that divides a determinant, may miss some: whatever rests on a rank is tested over the integers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from gammabar.oracle.rational import integers_of, to_fmpz_mat

PRIMES = (2**61 - 1, 2**61 - 31, 2**59 - 55)


def combined(table: NDArray[Any], weights: list[int]) -> list[int]:
    """The weighted sum of rows."""
    return integers_of(fmpz_mat(1, len(weights), weights) * to_fmpz_mat(table))


def _leading(reduced: Any, rank: int) -> list[int]:
    """The columns of the first entries of an echelon form that are not zero."""
    columns: list[int] = []
    for row in range(int(rank)):
        column = columns[-1] + 1 if columns else 0
        while int(reduced[row, column]) == 0:
            column += 1
        columns.append(column)
    return columns


def pivots(table: NDArray[Any], prime: int = PRIMES[0]) -> list[int]:
    """Columns that are independent modulo a prime and span the others modulo it."""
    return _leading(*nmod_mat(to_fmpz_mat(table), prime).rref())


def null_space(table: NDArray[Any], most: int | None = None) -> fmpz_mat:
    """A basis of the vectors orthogonal to all rows, as the columns of a matrix of integers.

    Of its vectors there are `most` at most, if that is said.
    """
    d, whole, rows = table.shape[1], to_fmpz_mat(table), pivots(table.T)
    while True:
        part = to_fmpz_mat(table[rows]) if rows else fmpz_mat(1, d)
        kernel, nullity = part.nullspace()
        columns = kernel.transpose().tolist()[: int(nullity)][:most]
        shared = [math.gcd(*map(int, column)) for column in columns]
        flat = [int(v) // g for column, g in zip(columns, shared, strict=True) for v in column]
        basis = fmpz_mat(len(columns), d, flat).transpose()
        missed = [i for i, row in enumerate((whole * basis).tolist()) if any(row)]
        if not missed:
            return basis
        rows = sorted({*rows, missed[0]})  # the prime was unlucky


def loose_columns(table: NDArray[Any]) -> list[int]:
    """Columns in which some vector orthogonal to all rows is not zero.

    If the rows are independent modulo a prime, their echelon form over the rationals has the same
    pivots, and entries that are not zero where those modulo the prime are not.
    """
    d = table.shape[1]
    used = np.flatnonzero((table != 0).any(axis=0)).tolist()
    if not used:
        return list(range(d))
    part = to_fmpz_mat(table[:, used])
    found: tuple[Any, int] = nmod_mat(part, PRIMES[0]).rref()
    if found[1] < len(table) or _alone(*found):
        reduced, _, rank = part.rref()
        found = reduced, rank
    fixed = {used[j] for j in _alone(*found)}
    return [j for j in range(d) if j not in fixed]


def _alone(reduced: Any, rank: int) -> list[int]:
    """Leading columns of rows of an echelon form that have no other entry than the first."""
    heads = _leading(reduced, rank)
    others = sorted(set(range(reduced.ncols())).difference(heads))
    rows = zip(heads, reduced.tolist(), strict=False)
    return [j for j, row in rows if not any(int(row[k]) for k in others)]


def coordinates(table: NDArray[Any], vector: list[int]) -> tuple[list[int], int]:
    """Integers c and a denominator with Σ c_i row_i = denominator · vector, which they span."""
    for prime in PRIMES:
        columns = pivots(table, prime)
        rows = pivots(table[:, columns].T, prime)
        square = to_fmpz_mat(table[rows][:, columns]).transpose()
        solution: Any = square.solve(fmpz_mat(len(columns), 1, [vector[j] for j in columns]))
        numerators, denominator = solution.numer_denom()
        c, bottom = integers_of(numerators), int(denominator)
        if combined(table[rows], c) == [bottom * v for v in vector]:
            place = dict(zip(rows, c, strict=True))
            return [place.get(i, 0) for i in range(len(table))], bottom
    raise AssertionError("the vector lies in the span of the rows")
