"""Exact linear algebra for the statements on kernels: rational matrices and their factors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq, fmpq_mat

Rows: TypeAlias = Sequence[Sequence[Any]]


def rational(value: Any) -> fmpq:
    """An integer, a double or a fraction."""
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def matrix(rows: Rows) -> fmpq_mat:
    """A rational matrix."""
    return fmpq_mat([[rational(v) for v in row] for row in rows])


def vector(values: Sequence[Any]) -> fmpq_mat:
    """A rational column."""
    return matrix([[v] for v in values])


def identity(n: int) -> fmpq_mat:
    """I."""
    return fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def is_zero(M: fmpq_mat) -> bool:
    """Whether every entry is 0."""
    return all(v == 0 for v in M.entries())


def null_space(M: fmpq_mat) -> list[fmpq_mat]:
    """A basis of the v with Mv = 0."""
    reduced, rank = M.rref()
    columns = range(M.ncols())
    pivots = [next(j for j in columns if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in columns if j not in pivots):
        v = [fmpq(int(j == free)) for j in columns]
        for i, j in enumerate(pivots):
            v[j] = -reduced[i, free]
        basis.append(fmpq_mat(len(v), 1, v))
    return basis


def symmetric(M: fmpq_mat) -> bool:
    """Whether M = Mᵀ."""
    return bool(M.transpose() == M)


def nonnegative_form(M: fmpq_mat) -> bool:
    """Whether vᵀMv ≥ 0 for all v; only the symmetric part of M matters to that."""
    return factor((M + M.transpose()) / 2) is not None


def factor(K: fmpq_mat) -> tuple[fmpq_mat, list[fmpq]] | None:
    """L and d ≥ 0 with K = L diag(d) Lᵀ for a symmetric K, or None if vᵀKv < 0 for some v.

    The rows of L √diag(d) are features whose products are K.
    """
    n = K.nrows()
    rest, columns, weights = K, [], []
    for k in range(n):
        pivot = rest[k, k]
        column = [rest[i, k] for i in range(n)]
        if pivot < 0 or (pivot == 0 and any(column)):
            return None
        if pivot == 0:
            continue
        column = [v / pivot for v in column]
        columns.append(column)
        weights.append(pivot)
        rest = rest - fmpq_mat(n, 1, column) * fmpq_mat(1, n, column) * pivot
    L = matrix_of_columns(columns, n)
    return L, weights


def matrix_of_columns(columns: list[list[fmpq]], n: int) -> fmpq_mat:
    """The matrix with these columns; one of zeros if there are none."""
    columns = columns or [[fmpq(0)] * n]
    return fmpq_mat(n, len(columns), [column[i] for i in range(n) for column in columns])


def product_of_features(L: fmpq_mat, weights: list[fmpq]) -> fmpq_mat:
    """L diag(d) Lᵀ."""
    m = len(weights)
    if not m:
        return L * L.transpose()
    D = fmpq_mat(m, m, [weights[i] if i == j else 0 for i in range(m) for j in range(m)])
    return L * D * L.transpose()
