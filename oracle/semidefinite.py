"""Is a symmetric matrix positive semidefinite, and if not, how far is it from one that is?

A Gram matrix computed in doubles, such as ``X @ X.T``, has rounding errors, and they make most
singular ones indefinite: λ_min ≈ −10⁻¹⁵ instead of 0. Such a matrix is the Gram matrix of no
points, so it has no margin; the positive semidefinite matrices near it have one each. Whatever G'
is meant, with ‖G' − G‖₂ ≤ δ, any α and any q ∈ Δ give

    (min_i (Gα)_i − δ Σ|α|) / √(αᵀGα + δ (Σ|α|)²)  ≤  γ̄(G')  ≤  √(qᵀGq + δ),

because (G'α)_i, αᵀG'α and qᵀG'q differ from the same of G by no more than that. This module finds
a δ for which there is such a G'.

*Exactly.* All roots of the characteristic polynomial are real, so none is negative if and only if
its coefficients alternate in sign. And a matrix of rank r is positive semidefinite if a principal
submatrix of order r is positive definite. Both are decided in integers, within limits.

*In doubles.* If R is any matrix of doubles, RᵀR is positive semidefinite, so λ_min(M) ≥ −σ − ‖E‖
with E = M + σI − RᵀR. R is a Cholesky factor of M + σI; how it was computed does not matter. In
doubles each entry of E is off by at most (n + 4) u/(1 − (n + 4) u) times (|R|ᵀ|R| + |M| + σI)_ij,
and n 2⁻¹⁰⁷⁴ more where products underflow; the Frobenius norm of |R|ᵀ|R| is at most ‖R‖_F².
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.integers import (
    ROUNDOFF,
    SAFETY,
    exponent_of,
    integer_rows,
    largest,
    to_fmpz_mat,
)
from gammabar.problems import KernelProblem, ProblemError

Floats = NDArray[np.float64]

#: Work for the characteristic polynomial (about 2·10¹⁰ a second): n⁴ times the bits of an entry.
BUDGET = 2 * 10**10
#: Rows up to which the rank is computed exactly, which takes seconds then.
RANK = 700
#: What rounding to single precision may do to n rows, relative to the largest diagonal entry: a
#: matrix that is farther from every kernel is refused.
GROSS = 2.0**-24


@dataclass(frozen=True)
class Verdict:
    """What is known about a Gram matrix.

    Attributes
    ----------
    semidefinite : bool or None
        Whether it is positive semidefinite; None where that was not decided.
    deficit : Fraction
        δ: there is a positive semidefinite matrix at a distance of at most δ, in the spectral norm.
        Zero if the matrix is one itself.
    """

    semidefinite: bool | None
    deficit: Fraction

    def words(self) -> str:
        """The premise of an answer about such a matrix, for people."""
        if self.semidefinite:
            return "and the given Gram matrix is positive semidefinite"
        head = "the matrix is not positive semidefinite"
        if self.semidefinite is None:
            head = "whether the matrix is positive semidefinite was not decided"
        above = Context(prec=3, rounding=ROUND_CEILING)
        shown = above.divide(Decimal(self.deficit.numerator), Decimal(self.deficit.denominator))
        return (
            f"{head}: the smallest eigenvalue is at least −{shown:g}, and the answer is for all"
            " positive semidefinite matrices within that distance of it"
        )


def judge(problem: KernelProblem) -> Verdict:
    """What is known about the Gram matrix that a precomputed kernel gives.

    Parameters
    ----------
    problem : KernelProblem
        With a precomputed kernel. If it is normalised, so is the matrix that the deficit is about.

    Raises
    ------
    ProblemError
        If the matrix is far from every positive semidefinite one.
    """
    doubles, unit, roundings = _doubles(problem)
    if _positive_definite(doubles, roundings):
        return Verdict(True, Fraction(0))
    semidefinite = _exactly(*_integers(problem), doubles) if problem.n <= RANK else None
    if semidefinite:
        return Verdict(True, Fraction(0))
    return Verdict(semidefinite, _deficit(doubles, roundings) * unit)


def _doubles(problem: KernelProblem) -> tuple[Floats, Fraction, int]:
    """The (normalised) matrix divided by a unit, and how many roundings an entry has gone through.

    Labels change signs of rows and columns, which changes no eigenvalue.
    """
    X = np.asarray(problem.X, dtype=np.float64)
    if not problem.normalised:
        k = exponent_of(X)
        return np.ldexp(X, -k), Fraction(2) ** k, 1
    # Powers of two first, which are exact, so that what underflows is small beside the diagonal.
    halves = (np.frexp(np.diagonal(X))[1] + 1) // 2
    values = np.ldexp(X, -(halves[:, None] + halves[None, :]))
    roots = np.sqrt(np.diagonal(values))
    return values / roots[:, None] / roots[None, :], Fraction(1), 8


def _integers(problem: KernelProblem) -> tuple[fmpz_mat, int]:
    """The matrix in some unit, and the size of its entries in bits."""
    whole, _ = integer_rows(np.asarray(problem.X), np.arange(problem.n))
    return to_fmpz_mat(whole), largest(whole).bit_length()


def _positive_definite(M: Floats, roundings: int) -> bool:
    """Whether doubles prove λ_min > 0."""
    shift = 4 * (len(M) + 4 + roundings) * ROUNDOFF * float(np.trace(np.abs(M)))
    error = _residual(M, -shift, roundings)
    return error is not None and error < shift


def _deficit(M: Floats, roundings: int) -> Fraction:
    """δ with λ_min ≥ −δ, by trying larger and larger shifts."""
    if not M.any():
        return Fraction(0)
    n, top = len(M), float(np.diagonal(M).max())
    shift = (n + 4 + roundings) * ROUNDOFF * float(np.trace(np.abs(M)))
    limit = n * GROSS * top
    while 0 < shift <= limit:  # 0 is that of a diagonal of zeros, and four times that is no more
        error = _residual(M, shift, roundings)
        if error is not None:
            return Fraction(float(np.nextafter(shift + error, np.inf)))
        shift *= 4
    raise ProblemError(
        "the Gram matrix is not positive semidefinite, by more than rounding explains: "
        f"{_eigenvalue(M)}; check how it was computed"
    )


def _eigenvalue(M: Floats) -> str:
    if not np.diagonal(M).any():
        return "its diagonal is zero, and other entries are not"
    try:
        least = float(np.linalg.eigvalsh(M)[0]) / float(np.diagonal(M).max() or 1.0)
    except np.linalg.LinAlgError:
        return "its smallest eigenvalue could not be computed"
    return f"its smallest eigenvalue is about {least:.3g} times its largest diagonal entry"


def _residual(M: Floats, shift: float, roundings: int) -> float | None:
    """A bound on ‖M + shift I − RᵀR‖ for a factor R, or None if there is none."""
    n = len(M)
    shifted = M + shift * np.eye(n)
    try:
        R = np.linalg.cholesky(shifted)  # lower triangular: here RRᵀ
    except np.linalg.LinAlgError:
        return None
    E = shifted - R @ R.T
    sizes = float(np.sum(R * R)) + (1 + roundings) * _frobenius(M) + abs(shift) * n
    bound = SAFETY * (
        _frobenius(E) + (n + 8 + roundings) * ROUNDOFF * SAFETY * sizes + n * n * 2.0**-1060
    )
    return bound if np.isfinite(bound) else None


def _frobenius(M: Floats) -> float:
    return float(np.sqrt(np.sum(M * M)))


def _exactly(matrix: fmpz_mat, bits: int, doubles: Floats) -> bool | None:
    """Whether the matrix is positive semidefinite, in integers; None beyond the limits."""
    n = matrix.nrows()
    if _cost(n, bits) <= BUDGET:
        return _alternates(matrix)
    rank = matrix.rank()
    pivots = _pivots(doubles, rank)
    if rank == n or pivots is None:
        return None
    if not _positive_definite(doubles[np.ix_(pivots, pivots)], 8):
        part = fmpz_mat(rank, rank, [matrix[i, j] for i in pivots for j in pivots])
        if _cost(rank, bits) > BUDGET or part.rank() < rank or not _alternates(part):
            return None
    return True


def _cost(n: int, bits: int) -> int:
    return n**4 * max(bits, 1)


def _alternates(matrix: fmpz_mat) -> bool:
    """Whether no root of the characteristic polynomial is negative."""
    coefficients = matrix.charpoly().coeffs()
    return all(v >= 0 for v in coefficients[::-2]) and all(v <= 0 for v in coefficients[-2::-2])


def _pivots(M: Floats, rank: int) -> list[int] | None:
    """Rows that Cholesky's method with diagonal pivoting takes first."""
    from scipy.linalg.lapack import dpstrf

    _, order, found, _ = dpstrf(M, tol=0.0)
    return sorted(int(i) - 1 for i in order[:rank]) if found >= rank else None
