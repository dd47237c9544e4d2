"""Verified solution of the linear system of a support: enclosures by doubles, residuals exact.

Let rows a_1, …, a_s have the Gram matrix G, and let E_ij = 1 if row i is of side j (of t sides: the
classes, if the intercept is free; one side otherwise). Weights q and levels λ of the point of
smallest norm in the affine hull solve A x = b, where c is any power of two,

    A = | G    −c E |    x = | t q    |    b = | 0 |
        | c Eᵀ   0  |        | t λ/c  |        | c |

which is regular exactly if the rows are affinely independent side by side.

1. *Regularity.* Let R ≈ A⁻¹ in doubles, from anywhere. If α = ‖I − R A‖ < 1 in the maximum norm,
   then A is regular and ‖A⁻¹‖ ≤ ‖R‖/(1 − α) [1]_. `inverse_bound` proves α < ½, with every rounding
   counted: that of the product R Ã, and the distance of A from its rounded copy Ã.
2. *Digits.* x is found by refinement, as by Wan [2]_: z ← 2ᵍ z + rint(2ᵍ R r), r ← 2ᵏ b − A z. The
   residual r is exact: the rows are cut into slices of few bits (an error-free splitting, Ozaki
   and others [3]_) and the integers z into limbs, so that BLAS multiplies them without rounding.
3. *Enclosure.* 2ᵏ x − z = A⁻¹ r, so that no entry of z is off by more than ‖r‖ ‖R‖/(1 − α). If
   entries of G are known up to δ only (exponentials, roots), r is off by up to δ Σ |z_i| more.

Each step adds as many bits as R has right, so that any number of digits can be had. Where rows are
so close to dependent that doubles cannot prove α < ½, Arb solves the same system in longer balls.

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
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpz, fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.rational import ROUNDOFF, SAFETY, product, signed_rows
from gammabar.problems.points import is_sparse, small_gemm
from gammabar.problems.problem import Floats

#: Bits of a limb of an integer, and of a slice of the rows. Entries of slices and limbs are at most
#: 2¹⁶ in size, so that sums of 2²⁰ products are integers below 2⁵³, which doubles hold.
_LIMB, _MOST = 16, 1 << 20
#: More slices than these are taken for rows whose entries differ too much in size.
_SLICES = 20
#: Most bits that a step of the refinement adds.
_GAIN = 44
#: What sums of underflowed products may add for each product, twice.
_UNDERFLOW = 2.0**-1073


@dataclass(frozen=True)
class Enclosure:
    """2^places x = z, up to ± error in every entry: first the weights, then the levels."""

    z: list[int]
    places: int
    error: int


class System(ABC):
    """The system of some rows; `sides` has the side of each row.

    Inner products are `unit` times integers of the system, of which c is one more: `border`.
    """

    sides: NDArray[np.int64]
    unit: Fraction
    border: int
    doubt: int = 0  # how far entries of the Gram matrix are off, in integers of the system

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

    def times(self, z: list[int]) -> list[int]:
        """A z in integers of the system, exactly."""
        s, border = len(self.sides), self.border
        head, sides = z[:s], self.sides.tolist()
        top = [v - border * z[s + k] for v, k in zip(self.gram_times(head), sides, strict=True)]
        sums = [0] * self.t
        for value, k in zip(head, sides, strict=True):
            sums[k] += value
        return top + [border * value for value in sums]

    def matrix(self) -> tuple[Floats, Floats, int]:
        """(Ã, e, k): the system in doubles divided by 2ᵏ, and how far rows of Ã are off."""
        gram, error, k = self.doubles()
        s, t, c = len(gram), self.t, math.ldexp(1.0, self.border.bit_length() - 1 - k)
        A = np.zeros((s + t, s + t))
        A[:s, :s] = gram
        A[np.arange(s), s + self.sides], A[s + self.sides, np.arange(s)] = -c, c
        return A, np.append(error, np.zeros(t)), k


class RowSystem(System):
    """Rows of doubles, cut into slices.

    Parameters
    ----------
    rows : array or sparse array of shape (s, d)
        Doubles, signs included. Columns of zeros are left out.
    sides : array of int
    """

    def __init__(self, rows: Any, sides: NDArray[np.int64]) -> None:
        self.columns = (
            np.unique(rows.nonzero()[1]) if is_sparse(rows) else np.flatnonzero(rows.any(axis=0))
        )
        self.rows = rows[:, self.columns]
        self.sides = sides
        top = float(np.abs(_values(self.rows)).max(initial=0.0))
        self.exponent = math.frexp(top)[1]
        # Entries of at most one.
        self.scaled = _like(self.rows, _times_power(_values(self.rows), -self.exponent))
        self.slices = self._cut()
        # Rows are 2^(exponent − depth) times integers, and c is about the largest square.
        self.depth = _LIMB * len(self.slices)
        self.unit = Fraction(4) ** (self.exponent - self.depth)
        square = float((self.scaled * self.scaled).sum(axis=1).max()) if top else 0.0
        self.border = 1 << max(0, 2 * self.depth + math.frexp(square)[1])

    def _cut(self) -> list[Any]:
        """Slices Y_k of integers up to 2¹⁶ with Σ Y_k 2^(−16 (k + 1)) = scaled; [] if none.

        y − rint(y) is exact, and so is a product with a power of two unless it underflows.
        """
        rest = _values(self.scaled)
        if max(self.rows.shape) > _MOST:
            return []
        if not (_times_power(rest, self.exponent) == _values(self.rows)).all():
            return []
        slices: list[Any] = []
        while rest.any():
            if len(slices) == _SLICES:
                return []
            rest = rest * 2.0**_LIMB
            whole = np.rint(rest)
            slices.append(_like(self.scaled, whole))
            rest = rest - whole
        return slices

    @property
    def usable(self) -> bool:
        """Whether there are slices."""
        return bool(self.slices)

    @property
    def spans(self) -> bool:
        """Whether rows that are affinely independent, side by side, are as many as there can be."""
        s, d = self.rows.shape
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

    def combine(self, z: list[int]) -> list[int]:
        """Σ z_i a_i in `columns`, in integers times 2^(exponent − depth)."""
        return _integers_of(self._combined(z))

    def _combined(self, z: list[int]) -> NDArray[np.int64]:
        limbs = _limbs(z)
        return _carried([part.T @ limbs for part in self.slices])

    def cancelling(self) -> list[bool]:
        """Columns in which w is zero, because a feature is constant and the intercept free.

        Rows are y_i x_i, and both sides have the same sum of weights.
        """
        if self.t == 1 or is_sparse(self.rows):
            return [False] * len(self.columns)
        flipped = self.rows * np.where(self.sides == 1, 1.0, -1.0)[:, None]
        return [bool(same) for same in (flipped == flipped[0]).all(axis=0)]

    def spread(self, values: list[int], dimension: int) -> list[int]:
        """A vector that has the values in `columns` and is zero elsewhere."""
        dense = [0] * dimension
        for column, value in zip(self.columns.tolist(), values, strict=True):
            dense[column] = value
        return dense

    def gram_times(self, z: list[int]) -> list[int]:
        limbs = _shortened(self._combined(z)).astype(np.float64)
        return _integers_of(_carried([part @ limbs for part in self.slices]))

    def gram(self) -> tuple[fmpz_mat, Fraction]:
        count = self.rows.shape[0]  # of a sparse matrix, too
        integers, exponent = signed_rows(self.rows, np.ones(count, np.int64), np.arange(count))
        return product(integers, integers), Fraction(4) ** exponent


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


def _limbs(values: list[int]) -> Floats:
    """The integers as rows of limbs of 16 bits, the last one with the sign."""
    count = max(v.bit_length() for v in values) // _LIMB + 1
    text = b"".join(v.to_bytes(2 * count, "little", signed=True) for v in values)
    limbs = np.frombuffer(text, "<u2").reshape(len(values), count)
    doubles = limbs.astype(np.float64)
    doubles[:, -1] = limbs[:, -1].astype(np.int16)
    return doubles


def _carried(parts: list[Floats]) -> NDArray[np.int64]:
    """Limbs of Σ_k parts_k 2^(16 (last − k)), the last one with the sign; every double is whole.

    Four limbs more than the parts have hold any sum of at most 2¹¹ of them.
    """
    last, (n, count) = len(parts) - 1, parts[0].shape
    limbs = np.zeros((last + count + 4, n), np.int64)
    for k, part in enumerate(parts):
        limbs[last - k : last - k + count] += part.T.astype(np.int64)
    for low, high in pairwise(limbs):
        high += low >> _LIMB
        low &= 0xFFFF
    return limbs.T


def _shortened(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same integers without limbs that only continue the sign; the last one is up to ±2¹⁶."""
    limbs = limbs.copy()
    while limbs.shape[1] > 1 and ((limbs[:, -1] == 0) | (limbs[:, -1] == -1)).all():
        limbs[:, -2] += limbs[:, -1] << _LIMB
        limbs = limbs[:, :-1]
    return limbs


def _integers_of(limbs: NDArray[np.int64]) -> list[int]:
    """The integers of limbs as `_carried` returns them."""
    size, text = 2 * limbs.shape[1], np.ascontiguousarray(limbs).astype("<u2").tobytes()
    return [
        int.from_bytes(text[at : at + size], "little", signed=True)
        for at in range(0, len(text), size)
    ]


def inverse_bound(A: Floats, error: Floats, R: Floats) -> tuple[float, float]:
    """Proved bounds (α, N) of ‖I − R B‖ and ‖B⁻¹‖ for all B near A; infinite if α < ½ is not sure.

    Parameters
    ----------
    A : array
        Doubles.
    error : array
        Bounds of Σ_j |B_ij − A_ij| for each i.
    R : array
        Doubles; nothing is assumed of them.

    Notes
    -----
    The product R A of m terms, in any order of summation and with or without fused operations, has
    entries that are off by at most (m + 1) u (|R| |A|)_ij and what underflows; subtracting one adds
    a rounding; and R (B − A) adds Σ_k |R_ik| error_k. All bounds are sums of non-negative numbers,
    whose own rounding SAFETY covers. Comparisons are such that NaN fails them. (`_pairs` compiles
    this function.)
    """
    m = len(A)
    sizes = np.abs(R)
    lost = (m + 2) * ROUNDOFF * np.abs(A).sum(axis=1) + error
    off = np.abs(R @ A - np.eye(m)).sum(axis=1) + sizes @ lost
    rows = (off + m * (_UNDERFLOW * m + ROUNDOFF)) * SAFETY
    norms = sizes.sum(axis=1) * SAFETY
    if not ((rows < 0.5).all() and (norms < math.inf).all()):
        return math.inf, math.inf
    alpha = rows.max()
    return alpha, norms.max() / (1 - alpha) * SAFETY


def enclose(system: System, bits: int) -> Enclosure | None:
    """The solution of a system to about so many bits of its largest entry, or None if not proved.

    Doubles are tried first, and Arb where they do not prove that the system is regular.
    """
    return _refined(system, bits) or _balls(system, bits)


def _refined(system: System, bits: int) -> Enclosure | None:
    with np.errstate(all="ignore"):
        A, error, k = system.matrix()
        try:
            R = np.asarray(np.linalg.inv(A), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        alpha, bound = inverse_bound(A, error, R)
    if not alpha < 0.5:
        return None
    s, m, gain = len(system.sides), len(A), _GAIN
    z, r, places = [0] * m, [0] * s + [system.border] * (m - s), 0
    error_now = _off(bound, r, k)
    most = error_now.bit_length() + 8
    while places - error_now.bit_length() < bits:
        step = _digits(R, r, gain - k)
        if step is None:
            return None
        rest = [(v << gain) - d for v, d in zip(r, system.times(step), strict=True)]
        more = [(v << gain) + d for v, d in zip(z, step, strict=True)]
        error_then = _off(bound, rest, k, system.doubt * sum(map(abs, more[:s])))
        if error_then.bit_length() > most:
            gain //= 2  # R has not as many bits right
            if gain < 4:
                return None
            continue
        z, r, places, error_now = more, rest, places + gain, error_then
    return Enclosure(z, places, error_now)


def _off(bound: float, r: list[int], k: int, doubt: int = 0) -> int:
    """How far entries of z may be off: ‖A⁻¹‖ ‖r‖."""
    return math.ceil(Fraction(bound) * (max(map(abs, r)) + doubt) / 2**k)


def _digits(R: Floats, r: list[int], exponent: int) -> list[int] | None:
    """rint(2^exponent R r), about: whatever it is, the residual tells what is left."""
    cut = max(0, max(v.bit_length() for v in r) - 900)
    rough = np.array([float(v >> cut) for v in r])
    scale = math.frexp(float(np.abs(rough).max()))[1]
    with np.errstate(all="ignore"):
        found = np.ldexp(R @ np.ldexp(rough, -scale), scale + cut + exponent)
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
    entries = [[arb(gram[i, j], system.doubt) for j in range(s)] for i in range(s)]
    rows: list[list[Any]] = []
    for own, side in zip(entries, system.sides.tolist(), strict=True):
        rows.append(own + [-border * (side == k) for k in range(t)])
    rows += [[border * int(side == k) for side in system.sides] + [0] * t for k in range(t)]
    right = [[0]] * s + [[border]] * t
    # Levels are multiples of this border here, and of the system's there.
    ratio = Fraction(border) * unit / (system.border * system.unit)
    before = ctx.prec
    try:
        for precision in _PRECISIONS:
            ctx.prec = precision + bits
            try:
                x = arb_mat(rows).solve(arb_mat(right))
            except ZeroDivisionError:
                continue
            balls = [x[i, 0] for i in range(s)]
            balls += [x[s + k, 0] * _ball(ratio) for k in range(t)]
            found = _integers(balls, bits)
            if found is not None:
                return found
    finally:
        ctx.prec = before
    return None


def _ball(value: Fraction) -> arb:
    return arb(fmpz(value.numerator)) / arb(fmpz(value.denominator))


def _integers(balls: list[arb], bits: int) -> Enclosure | None:
    """Integers next to 2^places times the balls, and how far their points may be off."""
    if not all(ball.is_finite() for ball in balls):
        return None
    places = bits + 64
    z, error = [], 0
    for ball in balls:
        middle = _fraction(ball.mid()) * 2**places
        value = round(middle)
        z.append(value)
        error = max(error, math.ceil(abs(middle - value) + _fraction(ball.rad()) * 2**places))
    return Enclosure(z, places, error) if places - error.bit_length() >= bits else None


def _fraction(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
