"""Rigorous bounds of the margin where it is not rational: RBF and normalised kernels.

Weak duality needs no optimality: any coefficients α give γ̄ ≥ min_i (Gα)_i / ‖α‖_G and any q ∈ Δ
gives γ̄ ≤ ‖q‖_G (Ji, Srebro and Telgarsky 2021, Lemma A.1, in the RKHS of Ramdas and Peña 2015,
§3). At α = q the two bounds meet at the optimum; q is the solution of the linear system of the
support (`gammabar.oracle.linear_system`), whose entries are integers with a bound of their error.

With a free intercept q has half its weight on either class, and the smallest score is replaced by
the mean of those of the two classes, which the best bias gives to all rows.

*Gram matrices up to rounding.* A Gram matrix computed in doubles, such as ``X @ X.T``, has rounding
errors, and they make most singular ones indefinite: λ_min ≈ −10⁻¹⁵ instead of 0. Such a matrix is
the Gram matrix of no points, so it has no margin; the positive semidefinite matrices near it have
one each. Whatever G' is meant, with ‖G' − G‖₂ ≤ δ, any α and any q ∈ Δ give

    (min_i (Gα)_i − δ Σ|α|) / √(αᵀGα + δ (Σ|α|)²)  ≤  γ̄(G')  ≤  √(qᵀGq + δ),

because (G'α)_i, αᵀG'α and qᵀG'q differ from the same of G by no more than that. `judge` finds a δ
for which there is such a G'.

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
from math import ceil
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpz_mat

from gammabar.oracle.linear_system import GramSystem, enclose as solve_system
from gammabar.oracle.proof import MinimumNorm
from gammabar.oracle.rational import (
    ROUNDOFF,
    SAFETY,
    KernelRows,
    Rows,
    balanced,
    exponent_of,
    integer_rows,
    integers_of,
    largest,
    product,
    sides_of,
    spread,
    squared_norms,
    to_fmpz_mat,
)
from gammabar.oracle.result import root_bounds
from gammabar.problems import KernelProblem, ProblemError
from gammabar.problems.problem import Floats

#: Supports up to this size are solved for in high precision; beyond, the doubles are kept.
_POLISH = 2000
#: Bits to try when the first precision cannot tell the margin from zero.
_PRECISIONS = (512, 1024, 2048, 4096, 8192)
#: Radii below 2^-_LEAST are bounded by it.
_LEAST = 1 << 17
#: Rows may enter this often after a polish; the bounds are valid whenever we stop.
_REPAIRS = 20

Bounds = tuple[Fraction, Fraction]


def enclose(
    problem: KernelProblem,
    support: Rows,
    weights: Floats,
    digits: int,
    within: Fraction = Fraction(0),
) -> tuple[MinimumNorm, Bounds]:
    """Bounds of γ̄ with about so many digits in common, and the weights that prove both.

    The support and its weights are a candidate for the dual optimum. The bounds hold for all
    positive semidefinite Gram matrices at a distance of at most `within`.
    """
    claim = ceil(digits * 3.33) + 8  # bits of the bounds that are reported
    found, (low, high) = _enclose(problem, support, weights, claim, 2 * claim + 96, within)
    for precision in _PRECISIONS:
        # Points that nearly coincide need more bits: K(x, z) = 1 up to their squared distance.
        wide = high - low > high / 2**claim
        if not wide or within or len(found.support) > _POLISH or precision < 2 * claim + 96:
            continue
        before = high - low
        found, (low, high) = _enclose(problem, support, weights, precision // 2, precision, within)
        if low > 0 and 2**20 * (high - low) > before:
            # The weights are not optimal, as where symmetric points share the margin: more bits
            # do not help.
            break
    unit = Fraction(2) ** _half_exponent(problem)
    return found, (_round(low * unit, claim, up=False), _round(high * unit, claim, up=True))


def _enclose(
    problem: KernelProblem,
    support: Rows,
    weights: Floats,
    bits: int,
    places: int,
    within: Fraction,
) -> tuple[MinimumNorm, Bounds]:
    """Bounds from weights with so many bits, and from entries with so many places.

    They are in units of 2^h, h the half exponent of a Gram matrix that is not normalised.
    """
    within /= Fraction(4) ** _half_exponent(problem)
    side, sides = sides_of(problem)
    corral = support.tolist()
    q = [max(1, round(Fraction(float(v)) * 2**bits)) for v in weights]
    for k in set(range(sides)).difference(side[corral].tolist()):  # a row of every side
        corral, q = [*corral, int(np.argmax(side == k))], [*q, max(q)]
    for rounds in range(1, _REPAIRS + 2):
        gram, doubt = _entries(problem, corral, corral, places)
        # Where the matrix itself is in doubt by more than the candidate's rounding, there is
        # nothing to polish.
        polish = not within and len(corral) <= _POLISH
        if polish:
            keep, q = _polished(gram, doubt, side[corral], q, places // 2)
            corral = [corral[k] for k in keep]
            gram = _part(gram, keep)
        q = balanced(q, side[corral].tolist())
        bounds, lowest = _bounds(problem, corral, q, gram, doubt, places, within)
        fresh = [i for i in lowest if i not in corral]
        if not fresh or rounds > _REPAIRS or not polish:
            break
        corral, q = [*corral, *fresh], [*q, *(0 for _ in fresh)]
    order = [k for k in np.argsort(corral).tolist() if q[k] > 0]
    chosen = np.array([corral[k] for k in order], dtype=np.int64)
    return MinimumNorm(chosen, [q[k] for k in order], rounds=rounds), bounds


def _entries(
    problem: KernelProblem, rows: list[int], cols: list[int], places: int
) -> tuple[fmpz_mat, int]:
    """Integers next to 2^places times the entries, and how far these may be off."""
    whole, radius = [], arb(0)
    with ctx.workprec(places + 32):
        for line in kernel_balls(problem, rows, cols):
            for ball in line:
                mantissa, exponent = ball.mid().man_exp()
                shift, value = int(exponent) + places, int(mantissa)
                # What is shifted out is less than one; far below it nothing has to be shifted.
                whole.append(value << shift if shift >= 0 else value >> min(-shift, 1 << 20))
                radius = max(radius, ball.rad())  # exact numbers
    return fmpz_mat(len(rows), len(cols), whole), 1 + ceil(_fraction(radius) * 2**places)


def _part(gram: fmpz_mat, keep: list[int]) -> fmpz_mat:
    return fmpz_mat(len(keep), len(keep), [gram[i, j] for i in keep for j in keep])


def _polished(
    gram: fmpz_mat, doubt: int, sides: Rows, q: list[int], bits: int
) -> tuple[list[int], list[int]]:
    """The affine minimiser of the rows (those to keep, and weights), without negative weights.

    If the system is too close to singular for these entries, all rows are kept with q.
    """
    every = keep = list(range(len(q)))
    while True:
        system = GramSystem(_part(gram, keep), Fraction(1), sides[keep], doubt)
        found = solve_system(system, bits)
        if found is None:
            return every, q
        z = found.z[: len(keep)]
        if min(z) > 0:
            return keep, z
        keep = [k for k, v in zip(keep, z, strict=True) if v > 0]
        if len(set(sides[keep].tolist())) < len(set(sides.tolist())):
            return every, q


def _bounds(
    problem: KernelProblem,
    corral: list[int],
    q: list[int],
    gram: fmpz_mat,
    doubt: int,
    places: int,
    within: Fraction,
) -> tuple[Bounds, list[int]]:
    """The bounds, and a row of smallest score for each side.

    Scores are integers over 2^places Σ q, each off by no more than doubt Σ q.
    """
    side, sides = sides_of(problem)
    total, column = sum(q), fmpz_mat(len(q), 1, q)
    own = integers_of(gram * column)
    off, unit = doubt * total, 1 << places
    scores = {i: v - off for i, v in zip(corral, own, strict=True)}
    others = sorted(set(_lowest_rows(problem, corral, q)).difference(corral))
    if others:
        block, doubts = _entries(problem, others, corral, places)
        values = integers_of(block * column)
        scores |= {i: v - doubts * total for i, v in zip(others, values, strict=True)}
    square = sum(v * s for v, s in zip(q, own, strict=True)) + off * total
    # An upper bound is needed on either side.
    upper = root_bounds(max(Fraction(square, unit * total**2) + within, Fraction(0)), places)[1]
    by_side = [[i for i in sorted(scores) if side[i] == k] for k in range(sides)]
    lowest = [min(some, key=scores.__getitem__) for some in by_side]
    # The mean of lower bounds: the best bias gives it to the lowest row of either side.
    least = Fraction(sum(scores[i] for i in lowest), sides * unit * total) - within
    return (least / upper if least > 0 else Fraction(0), upper), lowest


def _lowest_rows(problem: KernelProblem, corral: list[int], numerators: list[int]) -> list[int]:
    """Rows with the one of smallest score (of each side) among them: doubles clear the others."""
    if problem.kernel.name != "rbf":
        return list(range(problem.n))
    total = sum(numerators)
    weights = np.array([v / total for v in numerators])
    scores = problem.scores(spread(problem.n, np.array(corral), weights))
    squares, k, _ = squared_norms(problem.X)
    d = problem.X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reach = problem.kernel.gamma * 4.0 * float(np.ldexp(squares.max(), 2 * k))
        # ‖x−x'‖² through inner products, the exponential of it (values at most 1), the sum; and
        # what underflow takes from at most 4 d + 8 products, before they are multiplied by γ.
        lost = problem.kernel.gamma * 2.0**-1022 * ((4 * d + 8) * 2.0**-52)
        bound = ((reach * (d + 8) + len(corral) + 16) * ROUNDOFF + lost) * SAFETY
    if not bound < 0.01:  # the first-order bound of the exponential needs a small argument
        return list(range(problem.n))
    side, sides = sides_of(problem)
    least = np.array([scores[side == k].min() for k in range(sides)])[side]
    return np.flatnonzero(scores <= least + 3 * bound).tolist()


def kernel_balls(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """Balls that contain the (normalised, signed) Gram entries G_ij.

    Those of a matrix that was given, and not to be normalised, are in units of 4^h.
    """
    values = _rbf if problem.kernel.name == "rbf" else _normalised if problem.normalised else _given
    y = problem.y
    return [
        [value if y[i] == y[j] else -value for j, value in zip(cols, line, strict=True)]
        for i, line in zip(rows, values(problem, rows, cols), strict=True)
    ]


def _inner(problem: KernelProblem, rows: list[int], cols: list[int]) -> tuple[Any, fmpq]:
    """Exact ⟨x_i, x_j⟩ as integers and their unit."""
    integers, exponent = integer_rows(problem.X, np.array([*rows, *cols]))
    left, right = integers[: len(rows)], integers[len(rows) :]
    return (left, right, product(left, right)), _fmpq(Fraction(4) ** exponent)


def _rbf(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    (left, right, inner), unit = _inner(problem, rows, cols)
    slope = arb(-_fmpq(Fraction(problem.kernel.gamma)) * unit)
    a = [sum(int(v) ** 2 for v in row) for row in left]
    b = [sum(int(v) ** 2 for v in row) for row in right]
    known: dict[int, arb] = {}  # by squared distance: K(x, z) = K(z, x)

    def value(square: int) -> arb:
        if square not in known:
            known[square] = (slope * square).exp()
        return known[square]

    return [
        [value(a[i] + b[j] - 2 * int(inner[i, j])) for j in range(len(cols))]
        for i in range(len(rows))
    ]


def _normalised(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """K_ij / √(K_ii K_jj) for rational kernels."""
    plain = KernelRows(KernelProblem(problem.X, problem.y, problem.kernel))
    roots = {}
    for i in {*rows, *cols}:
        (square,), unit = plain.entries([i], [i])
        roots[i] = arb(_fmpq(square * unit)).sqrt()
    out = []
    for i in rows:
        values, unit = plain.entries([i], cols)
        factor = arb(_fmpq(unit)) / roots[i]
        signs = (int(problem.y[i]) * problem.y[cols]).tolist()  # `kernel_balls` puts them back
        out.append([v * s * factor / roots[j] for v, s, j in zip(values, signs, cols, strict=True)])
    return out


def _given(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """Entries of a Gram matrix that was given, in units of 4^h."""
    integers, exponent = integer_rows(np.asarray(problem.X), np.array(rows))
    factor = _fmpq(Fraction(2) ** exponent / Fraction(4) ** _half_exponent(problem))
    return [[arb(fmpq(int(row[j])) * factor) for j in cols] for row in integers]


def _half_exponent(problem: KernelProblem) -> int:
    """h with entries of about 4^h in a Gram matrix that was given; 0 where they are about one."""
    if problem.kernel.name != "precomputed" or problem.normalised:
        return 0
    return exponent_of(problem.X) // 2


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: arb) -> Fraction:
    """An exact ball (radius zero) as a rational, rounded up to 2^-_LEAST if it is less."""
    mantissa, exponent = value.man_exp()
    if mantissa and int(mantissa).bit_length() + int(exponent) < -_LEAST:
        return Fraction(1, 1 << _LEAST)
    return int(mantissa) * Fraction(2) ** int(exponent)


def _round(value: Fraction, bits: int, *, up: bool) -> Fraction:
    """Outward rounding to so many significant bits, so that a coarser evaluation can confirm it."""
    if value == 0:
        return value
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    whole = -((-scaled.numerator) // scaled.denominator) if up else int(scaled)
    return Fraction(whole + (1 if up else -1)) / Fraction(2) ** shift


#: Work for the characteristic polynomial (about 2·10¹⁰ a second): n⁴ times the bits of an entry.
_BUDGET = 2 * 10**10
#: Rows up to which the rank is computed exactly, which takes seconds then.
_RANK = 700
#: What rounding to single precision may do to n rows, relative to the largest diagonal entry: a
#: matrix that is farther from every kernel is refused.
_GROSS = 2.0**-24


@dataclass(frozen=True)
class Verdict:
    """Whether a Gram matrix is positive semidefinite (None: not decided), and its deficit δ.

    There is a positive semidefinite matrix at a distance of at most δ, in the spectral norm; δ is
    zero if the matrix is one itself.
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

    If the kernel is normalised, so is the matrix that the deficit is about. A `ProblemError` is
    raised if the matrix is far from every positive semidefinite one.
    """
    doubles, unit, roundings = _doubles(problem)
    if _positive_definite(doubles, roundings):
        return Verdict(True, Fraction(0))
    semidefinite = _exactly(*_integer_gram(problem), doubles) if problem.n <= _RANK else None
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


def _integer_gram(problem: KernelProblem) -> tuple[fmpz_mat, int]:
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
    limit = n * _GROSS * top
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
    if _cost(n, bits) <= _BUDGET:
        return _alternates(matrix)
    rank = matrix.rank()
    pivots = _pivots(doubles, rank)
    if rank == n or pivots is None:
        return None
    if not _positive_definite(doubles[np.ix_(pivots, pivots)], 8):
        part = fmpz_mat(rank, rank, [matrix[i, j] for i in pivots for j in pivots])
        if _cost(rank, bits) > _BUDGET or part.rank() < rank or not _alternates(part):
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
