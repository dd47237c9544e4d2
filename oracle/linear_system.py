"""Verified solution of the linear system of a support: enclosures by doubles, residuals exact.

Let rows a_1, …, a_s have the Gram matrix G, and let E_ij = 1 if row i is of side j (of t sides: the
classes, if the intercept is free; one side otherwise). Weights q and levels λ of the point of
smallest norm in the affine hull solve A x = b, where c is any power of two,

    A = | G    −c E |    x = | t q    |    b = | 0 |
        | c Eᵀ   0  |        | t λ/c  |        | c |

which is regular exactly if the rows are affinely independent side by side.

1. *Regularity.* If H = G + c E Eᵀ is positive definite, then A is regular, and the least eigenvalue
   of H bounds ‖A⁻¹‖; a Cholesky factor of H − σI in doubles proves a bound of it by its residual
   (`eigenvalue_bound`) [1]_. All roundings are counted, and the distance of H from its rounded
   copy.
2. *Digits.* x is found by refinement, as by Wan [2]_: z ← 2ᵍ z + rint(2ᵍ A⁻¹ r), r ← 2ᵏ b − A z,
   where A⁻¹ r comes from the factor. The residual r is exact: the rows are cut into slices of few
   bits (an error-free splitting, Ozaki and others [3]_) and the integers z into limbs, so that
   BLAS multiplies them without rounding.
3. *Enclosure.* 2ᵏ x − z = A⁻¹ r, so that no entry of z is off by more than ‖r‖ ‖A⁻¹‖. If
   entries of G are known up to δ only (exponentials, roots), r is off by up to δ Σ |z_i| more.
4. *The margin.* ‖w‖² is stationary at the solution, so that its error is quadratic in that of x:
   one step of the refinement gives more bits of it than a double has (`System.square`).

Each step adds as many bits as the factor gives right, so that any number of digits can be had.
Where rows are so close to dependent that doubles prove nothing, Arb solves the same system in
longer balls.

References
----------
.. [1] S. M. Rump (2010), Verification methods: rigorous results using floating-point arithmetic.
   Acta Numerica 19, Section 10.
.. [2] Z. Wan (2006), An algorithm to solve integer linear systems exactly using numerical methods.
   Journal of Symbolic Computation 41.
.. [3] K. Ozaki, T. Ogita, S. Oishi and S. M. Rump (2012), Error-free transformations of matrix
   multiplication by using fast routines of matrix multiplication. Numerical Algorithms 59.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, ctx, fmpz, fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.rational import ROUNDOFF, SAFETY, integer_rows, product
from gammabar.problems.points import is_sparse, small_gemm
from gammabar.problems.problem import Floats

#: Bits of a limb of an integer, whose entries are at most 2¹⁶ in size.
_LIMB = 16
#: Bits of a slice of the rows, up to how many rows or columns: sums of 2¹¹ products of at most
#: 2²⁴⁺¹⁶, or of 2²⁰ of at most 2¹⁶⁺¹⁶, are integers below 2⁵³, which doubles hold.
_WIDTHS = ((24, 1 << 11), (16, 1 << 20))
#: Rows whose entries differ so much in size that they have more bits are not cut.
_DEEPEST = 320
#: Most bits that a step of the refinement adds.
_GAIN = 44
#: What sums of underflowed products may add for each product, twice.
_UNDERFLOW = 2.0**-1073


@dataclass(frozen=True)
class Enclosure:
    """2^places x = z, up to ± error in every entry: first the weights, then the levels.

    The residual is 2^places b − A z, where it is known; the refinement goes on from it.
    """

    z: list[int]
    places: int
    error: int
    residual: list[int] = field(default_factory=list, repr=False)


class Inverse(NamedTuple):
    """A⁻¹ r about, for A/2ᵏ and a vector r of doubles, and a proved bound ≥ ‖(A/2ᵏ)⁻¹‖."""

    times: Callable[[Floats], Floats]
    bound: float
    k: int


class System(ABC):
    """The system of some rows; `sides` has the side of each row, and no side is without rows.

    Inner products are `unit` times integers of the system, of which c is one more: `border`.
    """

    sides: NDArray[np.int64]
    unit: Fraction
    border: int
    doubt: int = 0  # how far entries of the Gram matrix are off, in integers of the system

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "inverse"}

    @property
    def t(self) -> int:
        """The number of sides."""
        return int(self.sides.max()) + 1

    @abstractmethod
    def doubles(self) -> tuple[Floats, Floats, int]:
        """(G̃, e, k): doubles G̃ with Σ_j |G_ij/2ᵏ − G̃_ij| ≤ e_i; G in integers of the system."""

    @abstractmethod
    def gram_times(self, z: list[int]) -> list[int]:
        """G z in integers of the system, exactly."""

    @abstractmethod
    def gram(self) -> tuple[fmpz_mat, Fraction]:
        """Integers G and a unit with ⟨a_i, a_j⟩ = unit · G_ij."""

    def coordinates(self, z: list[int], dimension: int) -> tuple[list[int], int] | None:
        """Σ z_i a_i as integers times a power of two, if there are coordinates."""
        return None

    def times(self, z: list[int]) -> list[int]:
        """A z in integers of the system, exactly."""
        s, border = len(self.sides), self.border
        head, sides = z[:s], self.sides.tolist()
        levels = [border * v for v in z[s:]]
        top = [v - levels[k] for v, k in zip(self.gram_times(head), sides, strict=True)]
        sums = [0] * self.t
        for value, k in zip(head, sides, strict=True):
            sums[k] += value
        return top + [border * value for value in sums]

    def square(self, found: Enclosure) -> tuple[int, int, Fraction]:
        """(F, δ, u) with |‖w‖² − F u| ≤ δ u for the point w of the solution.

        With S = diag(I, −I) the matrix H = S A is symmetric, and ‖w‖² is a multiple of −xᵀ S b. For
        e = x − z it differs from −zᵀ S b − zᵀ S r, r being the residual, by eᵀ H e = eᵀ S r only:
        twice as many digits are known of it as of x. Without a residual there is −zᵀ S b alone. The
        inner products must be known exactly (`doubt` zero).
        """
        s, t, p, r = len(self.sides), self.t, found.places, found.residual
        levels = self.border * sum(found.z[s:])
        if not r:
            return levels, self.border * t * found.error, self.unit / (t * t << p)
        turned = [*found.z[:s], *(-v for v in found.z[s:])]
        value = (levels << p) - sum(map(mul, turned, r))
        return value, found.error * sum(map(abs, r)), self.unit / (t * t << 2 * p)

    @cached_property
    def inverse(self) -> Inverse | None:
        """By a Cholesky factor of H = G + c E Eᵀ; None if H is not proved to be positive definite.

        H is U A restricted to its first rows and columns, if U adds the last rows of A to those of
        their side. So with P, the inverse of H, and M = Eᵀ P E

            A⁻¹ = | P − P E M⁻¹ Eᵀ P    Y            |    Y = P E M⁻¹/c.
                  | −Yᵀ                 M⁻¹/c² − I/c |

        Let H have no eigenvalue below μ > 0. The first block is between 0 and P, so at most 1/μ.
        As uᵀ M⁻¹ u is the minimum of qᵀ H q for Eᵀ q = u, M⁻¹ is at most B = t max H_ii, the trace
        of H on one row of each side; and ‖Y‖² μ ≤ ‖Yᵀ H Y‖ = ‖M⁻¹/c²‖. So in the Euclidean norm

            ‖A⁻¹‖ ≤ max(1/μ, B/c², 1/c) + √(B/μ)/c,

        and in the maximum norm it is at most √(s + t) times as large.
        """
        with np.errstate(all="ignore"):
            return self._factored(*self.doubles())

    def _factored(self, gram: Floats, error: Floats, k: int) -> Inverse | None:
        from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

        s, t, sides = len(gram), self.t, self.sides
        c = math.ldexp(1.0, self.border.bit_length() - 1 - k)
        H = gram + (c if t == 1 else c * (sides[:, None] == sides))
        L, failed = dpotrf(H.T, lower=1)
        if failed:
            return None
        size = float(np.abs(H).sum(axis=1).max())
        shift = float(dpocon(L, size, uplo="L")[0]) * size / 4
        shifted = H.T.copy(order="F")
        shifted.flat[:: s + 1] -= shift
        least = eigenvalue_bound(H, error, shift, dpotrf(shifted, lower=1, overwrite_a=1)[0])
        if not least > 0:
            return None
        top = t * float(H.diagonal().max() + error.max()) * SAFETY
        norm = max(1 / least, top / c**2, 1 / c) + math.sqrt(top / least) / c
        ones = np.eye(t)[sides]
        columns = dpotrs(L, ones, lower=1)[0]
        middle = np.linalg.inv(ones.T @ columns)

        def times(r: Floats) -> Floats:
            head = dpotrs(L, r[:s] + ones @ r[s:], lower=1)[0]
            levels = middle @ (r[s:] / c - ones.T @ head) / c
            return np.append(head + c * (columns @ levels), levels)

        return Inverse(times, math.sqrt(s + t) * norm * SAFETY, k)


class RowSystem(System):
    """Rows of doubles (dense or sparse, signs included) without columns of zeros, in slices."""

    def __init__(self, rows: Any, sides: NDArray[np.int64]) -> None:
        if is_sparse(rows):
            sizes = np.zeros(rows.shape[1])
            np.maximum.at(sizes, rows.indices, np.abs(rows.data))
        else:
            sizes = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        self.columns, self.sides = np.flatnonzero(sizes), sides
        self._last: tuple[list[int], NDArray[np.int64]] | None = None
        rows = rows if len(self.columns) == len(sizes) else rows[:, self.columns]
        values, top = _values(rows), float(sizes.max(initial=0.0))
        self.exponent = math.frexp(top)[1]
        # Entries of at most one: rows are `scaled` times 2^exponent, exactly (see `_cut`).
        self.scaled = _like(rows, _times_power(values, -self.exponent))
        self.width = next((w for w, most in _WIDTHS if max(rows.shape) <= most), 0)
        self.slices = self._cut(int(np.count_nonzero(values))) if self.width else []
        # Rows are 2^(exponent − depth) times integers, and c is about the largest square.
        self.depth = self.width * len(self.slices)
        self.unit = Fraction(4) ** (self.exponent - self.depth)
        square = float(_square_norms(self.scaled).max()) if top else 0.0
        self.border = 1 << max(0, 2 * self.depth + math.frexp(square)[1])

    def _cut(self, count: int) -> list[Any]:
        """Slices Y_k of integers up to 2ʷ, w the width, with Σ Y_k 2^(−w (k + 1)) = scaled; or [].

        y − rint(y) is exact, and so is a product with a power of two unless it underflows: then it
        is zero, and they are not as many as before, or so small that the slices do not reach it.
        """
        rest = _values(self.scaled).copy()
        if np.count_nonzero(rest) != count:
            return []
        slices: list[Any] = []
        while rest.any():
            if self.width * (len(slices) + 1) > _DEEPEST:
                return []
            rest *= 2.0**self.width
            whole = np.rint(rest)
            rest -= whole
            slices.append(_like(self.scaled, whole))
        return slices

    @property
    def spans(self) -> bool:
        """Whether rows that are affinely independent, side by side, are as many as there can be."""
        s, d = self.scaled.shape
        return s - self.t == d

    def doubles(self) -> tuple[Floats, Floats, int]:
        """An entry of d products, in any order, is off by at most (d + 1) u ‖a_i‖ ‖a_j‖ [Higham].

        A norm is the root of a sum of squares, whose relative error the factor SAFETY covers.
        """
        s, d = self.scaled.shape
        if is_sparse(self.scaled):
            gram = (self.scaled @ self.scaled.T).toarray()
        else:
            gram = small_gemm(self.scaled, self.scaled)
        norms = np.sqrt(np.diagonal(gram) * SAFETY + 2.0**-1000)
        share = (d + 1) * ROUNDOFF * SAFETY * float(norms.sum())
        return gram, share * norms + s * d * _UNDERFLOW, 2 * self.depth

    def _combined(self, z: list[int]) -> NDArray[np.int64]:
        """Limbs of Σ z_i a_i; those of the last z are kept, as one step often is the solution."""
        if self._last is None or self._last[0] != z:
            limbs = _limbs(z)
            self._last = z, _carried([limbs.T @ part for part in self.slices], self.width)
        return self._last[1]

    def combine(self, z: list[int], dimension: int) -> list[int]:
        """Σ z_i a_i, in integers times 2^(exponent − depth)."""
        dense = [0] * dimension
        values = _integers_of(self._combined(z))
        for column, value in zip(self.columns.tolist(), values, strict=True):
            dense[column] = value
        return dense

    def coordinates(self, z: list[int], dimension: int) -> tuple[list[int], int]:
        return self.combine(z, dimension), self.exponent - self.depth

    def vanishing(self, dimension: int) -> set[int]:
        """Columns in which w is zero: of zeros, or constant and the intercept free.

        Rows are y_i x_i, and both sides have the same sum of weights.
        """
        zero = set(range(dimension)).difference(self.columns.tolist())
        if self.t == 1 or is_sparse(self.scaled):
            return zero
        flipped = self.scaled * np.where(self.sides == 1, 1.0, -1.0)[:, None]
        return zero.union(self.columns[(flipped == flipped[0]).all(axis=0)].tolist())

    def gram_times(self, z: list[int]) -> list[int]:
        limbs = _shortened(self._combined(z).copy()).T.astype(np.float64)
        return _integers_of(_carried([(part @ limbs).T for part in self.slices], self.width))

    def gram(self) -> tuple[fmpz_mat, Fraction]:
        count = self.scaled.shape[0]  # of a sparse matrix, too
        integers, exponent = integer_rows(self.scaled, np.arange(count))
        return product(integers, integers), Fraction(4) ** (exponent + self.exponent)


class GramSystem(System):
    """Inner products that are given as integers times a unit, each off by no more than `doubt`."""

    def __init__(
        self, gram: fmpz_mat, unit: Fraction, sides: NDArray[np.int64], doubt: int = 0
    ) -> None:
        self.integers, self.unit, self.sides, self.doubt = gram, unit, sides, doubt
        self.border = 1 << max(abs(int(v)) for v in gram.entries()).bit_length()

    def doubles(self) -> tuple[Floats, Floats, int]:
        """Entries divided by 2ᵏ, at most one, and rounded: each is off by u of itself."""
        s, k = len(self.sides), self.border.bit_length()
        whole = 1 << k
        values = np.array([int(v) / whole for v in self.integers.entries()]).reshape(s, s)
        off = s * (self.doubt / whole * SAFETY + _UNDERFLOW)
        return values, 2 * ROUNDOFF * np.abs(values).sum(axis=1) + off, k

    def gram_times(self, z: list[int]) -> list[int]:
        return [int(v) for v in (self.integers * fmpz_mat(len(z), 1, z)).entries()]

    def gram(self) -> tuple[fmpz_mat, Fraction]:
        return self.integers, self.unit


def _times_power(values: Any, exponent: int) -> Any:
    """values · 2^exponent; a product with a double takes a tenth of the time of `ldexp`."""
    return values * 2.0**exponent if abs(exponent) < 1000 else np.ldexp(values, exponent)


def _values(rows: Any) -> Any:
    """The entries of a dense or sparse array."""
    return rows.data if is_sparse(rows) else rows


def _like(rows: Any, values: Any) -> Any:
    """Other entries in the same places."""
    if not is_sparse(rows):
        return values
    return type(rows)((values, rows.indices, rows.indptr), shape=rows.shape)


def _square_norms(rows: Any) -> Floats:
    if is_sparse(rows):
        return np.asarray((rows * rows).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _limbs(values: list[int]) -> Floats:
    """The integers as rows of limbs of 16 bits, the last one with the sign."""
    count = max(v.bit_length() for v in values) // _LIMB + 1
    text = b"".join(v.to_bytes(2 * count, "little", signed=True) for v in values)
    limbs = np.frombuffer(text, "<u2").reshape(len(values), count)
    doubles = limbs.astype(np.float64)
    doubles[:, -1] = limbs[:, -1].astype(np.int16)
    return doubles


def _carried(parts: list[Floats], width: int) -> NDArray[np.int64]:
    """Limbs of Σ_k parts_k 2^(width (last − k)), the last one with the sign; doubles are whole.

    Limbs are the rows. At most 20 parts of less than 2⁵³ (width 16), or 13 parts of at most 2⁵¹
    that are shifted by 8 bits at most (width 24), have sums of less than 2⁶³; four limbs more than
    the parts have hold them.
    """
    last, (count, n) = len(parts) - 1, parts[0].shape
    limbs = np.zeros((width * last // _LIMB + count + 5, n), np.int64)
    for k, part in enumerate(parts):
        at, shift = divmod(width * (last - k), _LIMB)
        limbs[at : at + count] += part.astype(np.int64) << shift
    for low, high in pairwise(limbs):
        high += low >> _LIMB
        low &= 0xFFFF
    return limbs


def _shortened(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same integers without limbs that only continue the sign; the last one is up to ±2¹⁶."""
    while len(limbs) > 1 and ((limbs[-1] == 0) | (limbs[-1] == -1)).all():
        limbs[-2] += limbs[-1] << _LIMB
        limbs = limbs[:-1]
    return limbs


def _integers_of(limbs: NDArray[np.int64]) -> list[int]:
    """The integers of limbs as `_carried` returns them."""
    size, text = 2 * len(limbs), limbs.T.astype("<u2", order="C").tobytes()
    return [
        int.from_bytes(text[at : at + size], "little", signed=True)
        for at in range(0, len(text), size)
    ]


def eigenvalue_bound(H: Floats, error: Floats, shift: float, L: Floats) -> float:
    """A proved lower bound of the eigenvalues of all symmetric B near H; or NaN, or −∞.

    `error` bounds Σ_j |B_ij − H_ij| for each i, but for a rounding of H_ij. Nothing is assumed of
    L; if it is a Cholesky factor of H − σI, σ being the shift, then the bound is next to σ.

    Notes
    -----
    For any L the matrix F = B − σI − L Lᵀ is symmetric, so that no eigenvalue of B is less than
    σ − ‖F‖, in the maximum norm. Let m_i bound the norms of the rows of L. An entry of the product
    is off by at most s u m_i m_j and what underflows; H_ij by a rounding of itself, which is about
    L Lᵀ + σI; and the two sums by u of each of their results, of which the first is up to σ on the
    diagonal. All bounds are sums of non-negative numbers, whose own rounding SAFETY covers.
    """
    s, rest = len(H), L @ L.T
    norms = np.sqrt(rest.diagonal() * SAFETY + 2.0**-1000)
    rest -= H
    rest.flat[:: s + 1] += shift
    lost = (s + 8) * ROUNDOFF * norms * norms.sum() + 8 * ROUNDOFF * shift + s * s * _UNDERFLOW
    return shift - float((np.abs(rest, out=rest).sum(axis=1) + lost + error).max()) * SAFETY


def enclose(system: System, bits: int, known: Enclosure | None = None) -> Enclosure | None:
    """The solution of a system to about so many bits of its largest entry, or None if not proved.

    Doubles are tried first, from what is known on, and Arb where they do not prove that the system
    is regular.
    """
    return _refined(system, bits, known) or _balls(system, bits)


def _refined(system: System, bits: int, known: Enclosure | None = None) -> Enclosure | None:
    if system.inverse is None:
        return None
    times, bound, k = system.inverse
    s, t, gain = len(system.sides), system.t, _GAIN
    r = [0] * s + [system.border] * t
    most = _off(bound, r, k).bit_length() + 8
    if known is not None and known.residual:
        z, r, places, error_now = known.z, known.residual, known.places, known.error
    else:
        z, places, error_now = [0] * (s + t), 0, _off(bound, r, k)
    while places - error_now.bit_length() < bits:
        step = _digits(times, r, gain - k)
        if step is not None:
            rest = [(v << gain) - d for v, d in zip(r, system.times(step), strict=True)]
            more = [(v << gain) + d for v, d in zip(z, step, strict=True)]
            error_then = _off(bound, rest, k, system.doubt * sum(map(abs, more[:s])))
        if step is None or error_then.bit_length() > most:
            gain //= 2  # not as many bits are right
            if gain < 4:
                return None
            continue
        z, r, places, error_now = more, rest, places + gain, error_then
    return Enclosure(z, places, error_now, r)


def _off(bound: float, r: list[int], k: int, doubt: int = 0) -> int:
    """How far entries of z may be off: ‖A⁻¹‖ ‖r‖."""
    top, bottom = bound.as_integer_ratio()
    return -(-top * (max(map(abs, r)) + doubt) // (bottom << k))


def _digits(times: Callable[[Floats], Floats], r: list[int], exponent: int) -> list[int] | None:
    """rint(2^exponent A⁻¹ r), about: whatever it is, the residual tells what is left."""
    cut = max(0, max(v.bit_length() for v in r) - 900)
    rough = np.array([float(v >> cut) for v in r])
    scale = math.frexp(float(np.abs(rough).max()))[1]
    with np.errstate(all="ignore"):
        found = np.ldexp(times(np.ldexp(rough, -scale)), scale + cut + exponent)
    if not (np.abs(found) < 2.0**60).all():
        return None
    return [int(v) for v in np.rint(found).tolist()]


#: Bits of the balls that are tried, and unknowns up to which they are.
_PRECISIONS, _UNKNOWNS = (256, 1024), 150


def _balls(system: System, bits: int) -> Enclosure | None:
    """The same by Arb, for systems that are close to singular."""
    s, t = len(system.sides), system.t
    if s > _UNKNOWNS:
        return None
    gram, unit = system.gram()
    border = 1 << max((abs(int(v)).bit_length() for v in gram.entries()), default=0)
    rows: list[list[Any]] = []
    for i, side in enumerate(system.sides.tolist()):
        own = [arb(gram[i, j], system.doubt) for j in range(s)]
        rows.append(own + [-border * (side == k) for k in range(t)])
    rows += [[border * int(side == k) for side in system.sides] + [0] * t for k in range(t)]
    right = [[0]] * s + [[border]] * t
    # Levels are multiples of this border here, and of the system's there.
    ratio = Fraction(border) * unit / (system.border * system.unit)
    for precision in _PRECISIONS:
        with ctx.workprec(precision + bits):
            try:
                x = arb_mat(rows).solve(arb_mat(right))
            except ZeroDivisionError:
                continue
            factor = arb(fmpz(ratio.numerator)) / arb(fmpz(ratio.denominator))
            balls = [x[i, 0] * (factor if i >= s else 1) for i in range(s + t)]
        found = _integers(balls, bits)
        if found is not None:
            return found
    return None


def _integers(balls: list[arb], bits: int) -> Enclosure | None:
    """Integers next to 2^places times the balls, and how far their points may be off."""
    if not all(ball.is_finite() for ball in balls):
        return None
    places = bits + 64
    z, error = [], 0
    for ball in balls:
        middle = _fraction(ball.mid()) * 2**places
        z.append(round(middle))
        error = max(error, math.ceil(abs(middle - z[-1]) + _fraction(ball.rad()) * 2**places))
    return Enclosure(z, places, error) if places - error.bit_length() >= bits else None


def _fraction(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
