"""One-vs-one margins: all pairs of many classes on one Gram matrix, with proofs in 64 bits.

As in `gammabar.oracle.linear_system` the residual is exact, but all is compiled for many small
systems of integers: for the 45 pairs of 1,797 digits it takes 7 ms, and 100 ms one by one. For data
of small integers (times a power of two) no long numbers are needed:

1. C ≈ A⁻¹ in doubles; ‖I − C A‖ < ½ proves that A is regular and bounds ‖A⁻¹‖ (`inverse_bound`).
2. x is found digit by digit: z = rint(2ˢ C r) and r ← 2ˢ r − A z in integers of 64 bits, whose
   range is tested before. Then x = Σ z_k/2^… + A⁻¹ r/2^… exactly, and every x_i is known to some
   hundred bits.
3. If all weights are positive, and all other rows are above their levels by more than all that may
   be off, the support *is* that of the unique q̄, which is the solution of the system.
4. The doubles that are returned are those next to γ̄, and the nearest ones of q̄. If hundred bits do
   not decide between two of them (γ̄ is a double itself, say), that pair is not answered here.

What is not answered (dependent rows, rows that tie, inseparable pairs, larger numbers) is left to
the oracle, which is exact for anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from gammabar.oracle.candidate import NARROW, ROOM
from gammabar.oracle.linear_system import Enclosure
from gammabar.oracle.rational import integer_rows, largest
from gammabar.problems.problem import Array, require_doubles

#: Digits of 24 bits.
_DIGITS = 6
#: What the coordinates of w may be off by, as a share of each, in bits: they are rounded once more.
_SLIGHT = 64


@dataclass(frozen=True)
class Guess:
    """What floating point found for a pair: rows, in the order of the classes, and weights > 0."""

    rows: Array
    weights: Array


@dataclass(frozen=True)
class Answer(Guess):
    """The hyperplane of a pair, proved: of γ̄ the doubles next to it, of q̄ the nearest ones."""

    w: Array
    b: float
    lower: float
    upper: float


class Pairs:
    """Hyperplanes between all pairs of classes: rows in their order, and where each class begins.

    Rows are integers or doubles of ordinary size.
    """

    def __init__(self, X: Array, starts: Array, intercept: bool) -> None:
        self.X, self.starts, self.sides = X, np.asarray(starts, np.int64), 2 if intercept else 1
        classes = len(starts) - 1
        self.pairs = list(combinations(range(classes), 2))
        self.whole, self.exponent = _small(X)
        rows = X.astype(np.float64) if self.whole is None else self.whole
        self.gram = np.ascontiguousarray(rows @ rows.T)
        self.points = rows if rows.dtype == np.float64 else rows.astype(np.float64)

    @cached_property
    def _found(self) -> tuple[Array, Array, Array]:
        """Rows of each pair (counted within it), weights, and how many they are."""
        from gammabar.oracle._pairs import search_all

        starts, pairs = self.starts, len(self.pairs)
        room = min(int(np.diff(starts).max()) * 2, ROOM) + 1
        S, q = np.zeros((pairs, room), np.int64), np.zeros((pairs, room))
        sizes, squares = np.zeros(pairs, np.int64), np.zeros(pairs)
        means = np.add.reduceat(self.points, starts[:-1], axis=0) / np.diff(starts)[:, None]
        nearness = np.ascontiguousarray(self.points @ means.T)
        search_all(self.gram, starts, nearness, self.sides, S, q, sizes, squares)
        sizes[~(squares > NARROW**2)] = 0
        return S, q, sizes

    def _placed(self, pair: int, local: Array) -> Array:
        """Rows counted within a pair, in the order of the classes."""
        a, b = self.pairs[pair]
        m = self.starts[a + 1] - self.starts[a]
        return np.where(local < m, self.starts[a] + local, self.starts[b] + local - m)

    @cached_property
    def guesses(self) -> list[Guess | None]:
        """A candidate for each pair, or None where doubles may not be enough for one."""
        S, q, sizes = self._found
        return [
            Guess(self._placed(k, S[k, :s]), q[k, :s] / q[k, :s].sum()) if s else None
            for k, s in enumerate(sizes.tolist())
        ]

    def answers(self) -> list[Answer | None]:
        """The truth about each pair, or None where it is not proved here."""
        require_doubles()
        if self.whole is None:
            return [None] * len(self.pairs)
        from gammabar.oracle._pairs import prove_all

        S, _, sizes = self._found
        S = np.ascontiguousarray(S[:, : int(sizes.max())])
        pairs, room = len(self.pairs), S.shape[1] + self.sides
        digits = np.zeros((pairs, _DIGITS, room), np.int64)
        shifts, rough = np.zeros((pairs, _DIGITS), np.int64), np.zeros((pairs, room))
        errors, proved = np.zeros(pairs), np.zeros(pairs, np.bool_)
        prove_all(
            self.gram, self.starts, self.sides, S, sizes, digits, shifts, rough, errors, proved
        )
        vectors, lengths = self._combined(S, np.where(proved, sizes, 0), digits)
        out: list[Answer | None] = [None] * pairs
        for k in np.flatnonzero(proved).tolist():
            s, places = int(sizes[k]), np.cumsum(shifts[k]).tolist()
            powers = np.array([1 << places[-1] - place for place in places], dtype=object)
            z = list(powers @ digits[k, :, : s + self.sides].astype(object))
            found = Enclosure(z, places[-1], math.ceil(errors[k]))
            rows = self._placed(k, S[k, :s])
            if vectors is not None:
                w = list(powers @ vectors[k].astype(np.int64).astype(object))
                out[k] = self._answer(rows, found, w, lengths[k])
        return out

    def _combined(self, S: Array, sizes: Array, digits: Array) -> tuple[Array | None, Array]:
        """Σ y_i digits_i x_i of each pair and digit (None if doubles round), and Σ |x_i|."""
        from gammabar.oracle._pairs import BITS, combine_all

        pairs, d = len(self.pairs), self.X.shape[1]
        vectors, lengths = np.zeros((pairs, _DIGITS, d)), np.zeros((pairs, d))
        if not 2.0**BITS * max(1, int(sizes.max())) * float(np.abs(self.points).max()) < 2.0**53:
            return None, lengths
        combine_all(self.points, self.starts, S, sizes, digits, vectors, lengths)
        return vectors, lengths

    def _answer(self, rows: Array, found: Enclosure, w: list[int], lengths: Array) -> Answer | None:
        """The doubles of a proved pair, if the digits tell them."""
        s, t = len(rows), self.sides
        e, whole = found.error, t << found.places
        weights = [v / whole for v in found.z[:s]]
        ends = ((v - e) / whole == (v + e) / whole for v in found.z[:s])
        # The unknowns are t times the levels, whose mean is γ̄²: t² is 1 or 4.
        unit = 2 * self.exponent - found.places - 2 * (t - 1)
        root = _root(found.z[s:], e * t, unit) if all(ends) else None
        if root is None:
            return None
        off = [e * int(v) for v in lengths.tolist()]
        if not all(abs(v) >= error << _SLIGHT for v, error in zip(w, off, strict=True)):
            return None
        divisor, shift = t * root.value, self.exponent - found.places - root.exponent
        normal = np.array([_quotient(v, divisor, shift) for v in w])
        return Answer(rows, np.array(weights), normal, root.b, root.lower, root.upper)


def _quotient(value: int, divisor: int, exponent: int) -> float:
    """value 2^exponent / divisor, rounded once."""
    if exponent >= 0:
        return (value << exponent) / divisor
    return value / (divisor << -exponent)


def _small(X: Array) -> tuple[Array | None, int]:
    """X as integers times 2ᵉ in floats that hold their inner products exactly, and e; or None."""
    whole, exponent = X, 0
    if X.dtype.kind == "f" and not (np.rint(X) == X).all():
        if not largest(integer_rows(X, np.arange(1))[0]) < 2**26:  # as one row shows already
            return None, 0
        whole, exponent = integer_rows(X, np.arange(len(X)))
    top = largest(whole) if whole.dtype.kind != "f" else int(np.abs(whole).max())
    square = max(1, top) ** 2 * X.shape[1]
    if square < 2**24:
        return whole.astype(np.float32), exponent
    return (whole.astype(np.float64), exponent) if square < 2**53 else (None, 0)


@dataclass(frozen=True)
class _Root:
    """γ̄ ≈ value 2^exponent, the doubles on both sides of it, and the intercept b."""

    value: int
    exponent: int
    lower: float
    upper: float
    b: float


def _root(levels: list[int], doubt: int, exponent: int) -> _Root | None:
    """√(Σ levels 2^exponent), where the sum is certain up to ± doubt; None if that is too much."""
    total = sum(levels)
    if total <= doubt:
        return None
    shift = max(0, 256 - total.bit_length())
    shift += (exponent - shift) % 2
    low, high = math.isqrt(total - doubt << shift), math.isqrt(total + doubt << shift) + 1
    half, spare = (exponent - shift) // 2, low.bit_length() - 53
    below = low >> spare
    # Strictly between two doubles that are neighbours: below < γ̄ < below + 1.
    if below << spare == low or high >> spare != below or not -1000 < half + spare < 900:
        return None
    lower, b = math.ldexp(below, half + spare), 0.0
    if len(levels) == 2:
        # Half the difference of the levels, (λ₀ − λ₁)/2 = (x₀ − x₁)/4, divided by γ̄.
        b = _quotient(levels[0] - levels[1], low, exponent - half)
    return _Root(low, half, lower, math.nextafter(lower, math.inf), b)
