"""Rows and inner products of a problem as exact integers.

Integers and doubles are rationals with a power-of-two denominator, so each geometry offers its
Gram matrix as integers times one rational unit, and the scores of all rows against an exact point.
Most rows lie far from the margin: a floating-point score with a proved error bound clears them,
and only the few that it cannot clear are visited in exact arithmetic.

The error bound is the standard one for inner products [1]_: whatever the order of summation,
with or without fused multiply-add, |fl(x·w) − x·w| ≤ k u/(1 − k u) · ‖x‖ ‖w‖ for k products, and
k 2⁻¹⁰⁷⁴ more where products underflow. Doubles see the problem at a scale (`tame`, a power of two)
where the first term is far above the second and nothing overflows; integers and rationals always
see the original data. A bound or a score that is infinite or no number clears no row. Integers of
64 bits are used only where a bound on their size shows that no sum or product leaves their range.

References
----------
.. [1] N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, §3.1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import lshift, mul
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat
from numpy.typing import NDArray

from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    Problem,
    ProblemError,
    ScatteredProblem,
    SparseProblem,
)
from gammabar.problems.kernels import UNIT, whole_weights
from gammabar.problems.linear import LinearProblem
from gammabar.problems.points import Points, is_sparse, small_gemm
from gammabar.problems.problem import Floats
from gammabar.problems.rounding import KernelRounding

Rows = NDArray[np.int64]

#: More than underflow adds to a kernel value or a product of the tamed problem (see `tame`).
_UNDERFLOW = 2.0**-1060


def sides_of(problem: Problem) -> tuple[Rows, int]:
    """The side of each row and how many there are: the classes, if the intercept is free."""
    if problem.intercept != "free":
        return np.zeros(problem.n, np.int64), 1
    return (np.asarray(problem.y) > 0).astype(np.int64), 2


def balanced(weights: list[int], sides: Sequence[int]) -> list[int]:
    """Integers in the same proportions within a side, with the same sum on both sides."""
    sums = [sum(v for v, s in zip(weights, sides, strict=True) if s == k) for k in (0, 1)]
    if not all(sums):
        return weights
    shared = math.gcd(*sums)
    return [v * (sums[1 - s] // shared) for v, s in zip(weights, sides, strict=True)]


def spread(n: int, rows: Rows, weights: Floats) -> Floats:
    """The weights of all rows, most of them zero."""
    dense = np.zeros(n)
    dense[rows] = weights
    return dense


def without(n: int, some: Rows, others: Rows) -> Rows:
    """Rows of the first kind that are not of the second, in their order."""
    gone = np.zeros(n, np.bool_)
    gone[others] = True
    return some[~gone[some]]


def to_fmpz_mat(array: NDArray[Any]) -> fmpz_mat:
    """A two-dimensional array of (NumPy or Python) integers as a flint matrix."""
    return fmpz_mat(array.shape[0], array.shape[1], array.ravel().tolist())


def integers_of(matrix: fmpz_mat) -> list[int]:
    """The entries as Python's integers, row by row."""
    return [int(v) for v in matrix.entries()]


@dataclass(frozen=True)
class Point:
    """w = Σ_j numerators_j a_{rows_j}, exactly.

    In coordinates, where there are any, it is integers times a power of two; both are computed when
    they are asked for, unless they are `known`.
    """

    rows: NDArray[np.int64]
    numerators: list[int]
    source: ExactRows
    known: tuple[list[int], int] | None = None

    @cached_property
    def _found(self) -> tuple[list[int] | None, int]:
        return self.known or self.source.coordinates(self.rows, self.numerators)

    @property
    def vector(self) -> list[int] | None:
        """The integers."""
        return self._found[0]

    @property
    def exponent(self) -> int:
        """The power of two."""
        return self._found[1]


class ExactRows(ABC):
    """Exact inner products between the rows of a problem (see `exact_rows`)."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.shift = tame(problem)  # for scores in doubles, and for nothing else
        self.n = problem.n
        #: With a free intercept rows are of two sides, their classes; otherwise of one.
        self.side, self.sides = sides_of(problem)

    def first(self, side: int) -> int:
        """The first row of a side."""
        return int(np.argmax(self.side == side))

    def by_row(self, levels: list[float], rows: Any = slice(None)) -> Any:
        """The level of the side of some rows; a number if there is one side only."""
        return levels[0] if self.sides == 1 else np.array(levels)[self.side[rows]]

    @abstractmethod
    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        """Integers G and a unit with ⟨a_i, a_j⟩ = unit · G_ij on the given rows."""

    def doubles(self, rows: NDArray[np.int64]) -> Any:
        """Some rows as doubles (a copy, dense or sparse), if doubles hold their coordinates."""
        return None

    def repeated(self, rows: NDArray[np.int64], support: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows are known to be equal to one of the support, and of its side."""
        return np.zeros(len(rows), dtype=np.bool_)

    def twins(self) -> tuple[int, int] | None:
        """Two rows whose sum is zero because they are one point with both labels, if known."""
        return None

    @abstractmethod
    def radius_squared(self) -> Fraction:
        """The largest squared row norm."""

    def coordinates(
        self, rows: NDArray[np.int64], numerators: list[int]
    ) -> tuple[list[int] | None, int]:
        """Coordinates of a combination of rows, if it has any: integers, and the power of two."""
        return None, 0

    def point(
        self,
        rows: NDArray[np.int64],
        numerators: list[int],
        known: tuple[list[int], int] | None = None,
    ) -> Point:
        """The combination of rows with integer coefficients, perhaps with known coordinates."""
        return Point(rows, numerators, self, known)

    @abstractmethod
    def score(self, i: int, point: Point) -> Fraction:
        """⟨a_i, w⟩."""

    @abstractmethod
    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        """A superset of the rows with ⟨a_i, w⟩ < threshold: those that doubles cannot clear.

        There is a threshold for each side.
        """

    def violated(self, point: Point, *thresholds: Fraction) -> list[int]:
        """Rows with ⟨a_i, w⟩ < threshold, furthest below it relative to their length first.

        There is a threshold for each side. Rows of the point itself are not tested. (By how much
        alone, the longest rows would come first, and the short ones decide where w is.)
        """
        found: list[tuple[Fraction | float, int]] = []
        for i in without(self.n, self.doubtful(point, *thresholds), point.rows).tolist():
            below = thresholds[self.side[i]] - self.score(i, point)
            if below > 0:
                inner, unit = self.gram(np.array([i]))
                square = int(inner[0, 0]) * unit
                found.append((-below * below / square if square else -math.inf, i))
        return [i for _, i in sorted(found)]


def exact_rows(problem: Problem) -> ExactRows:
    """The exact view of a problem, or a readable error where its geometry has none."""
    if isinstance(problem, MulticlassProblem):
        return _Multiclass(problem)
    if isinstance(problem, LinearProblem):
        return _Linear(problem)
    if isinstance(problem, KernelProblem) and has_exact_kernel(problem):
        return KernelRows(problem)
    raise ProblemError(f"{type(problem).__name__} has no exact rational form")


def opposite_twins(X: Any, y: NDArray[Any]) -> tuple[int, int] | None:
    """Two identical points with opposite labels: no kernel whatsoever separates them."""
    seen: dict[bytes, tuple[int, int]] = {}
    for i, (key, label) in enumerate(zip(_keys(X), np.asarray(y).tolist(), strict=True)):
        other, at = seen.setdefault(key, (label, i))
        if other != label:
            return at, i
    return None


def _keys(X: Any) -> Iterator[bytes]:
    """Bytes for each row that are equal exactly if rows (of one matrix or alike) are."""
    if not is_sparse(X):
        yield from ((np.asarray(row) + 0).tobytes() for row in X)  # + 0 turns −0.0 into 0.0
        return
    from scipy.sparse import csr_array

    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    for start, end in pairwise(X.indptr.tolist()):
        yield X.indices[start:end].astype(np.int64).tobytes() + X.data[start:end].tobytes()


def has_exact_kernel(problem: KernelProblem) -> bool:
    """Whether the Gram matrix is rational: no exponentials, no square roots."""
    return (
        problem.kernel.name in ("linear", "poly", "network", "precomputed")
        and not problem.normalised
    )


def integer_matrix(problem: Problem) -> tuple[NDArray[Any], Fraction]:
    """All rows a_i of a linear problem as integers, and the rational to multiply them by."""
    if isinstance(problem, ScatteredProblem):
        raise ProblemError("this margin takes data that fit into memory; they are in chunks here")
    if not isinstance(problem, DenseProblem | SparseProblem):
        raise ProblemError("this margin is defined for linear two-class problems only")
    integers, exponent = signed_rows(problem.X, problem.y, np.arange(problem.n))
    return integers, Fraction(2) ** exponent


def _as_doubles(vector: list[int]) -> tuple[NDArray[np.float64], int]:
    """(v, k) with v·2ᵏ = vector up to a relative error of one roundoff per entry plus 2⁻⁶²."""
    k = max(max(vector, default=0), -min(vector, default=0)).bit_length() - 62
    if k > 0:
        vector = [v >> k for v in vector]
    k = max(k, 0)
    return np.ldexp(np.array(vector, dtype=np.int64).astype(np.float64), -62), k + 62


def _as_double(value: Fraction) -> float:
    """The nearest double, or infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class _Coordinates(ExactRows):
    """What linear and multiclass rows share: points have coordinates."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.points, self.X = problem.points, problem.X

    @cached_property
    def _largest(self) -> Fraction:
        return largest_norm(self.points)

    def radius_squared(self) -> Fraction:
        return self._largest

    def _scale_of(
        self, point: Point, thresholds: Sequence[Fraction]
    ) -> tuple[NDArray[np.float64], list[float]]:
        """Vector and thresholds in doubles, all divided by one power of two."""
        assert point.vector is not None
        vector, k = _as_doubles(point.vector)
        # Under- or overflow of a level is harmless: it can only send more rows to the exact test
        # (minus infinity too, as minus infinity plus its error bound is no number).
        unit = Fraction(2) ** (k + point.exponent + self.shift)
        return vector, [_as_double(threshold / unit) for threshold in thresholds]

    def _clear(
        self,
        scores: NDArray[np.float64],
        norm: float,
        terms: int,
        level: Any,
        error: float = 0.0,
    ) -> NDArray[np.int64]:
        """Rows whose score does not exceed the level by more than its error bound.

        `error` is what the scores may be off besides, for the vector in doubles.
        """
        # + 8: rounding of the vector's entries (1), of the level (1), of the radius and the norm,
        # the 2⁻⁶² of `_as_doubles` (its vector has an entry of at least ½), of the data's entries
        # (1), and underflow: radius and norm are at least 2⁻³⁰¹ and 2⁻⁶⁴, so that one of the eight
        # is 2⁻⁴¹⁸ at least, and all that underflow can add is (terms + 1) 2⁻¹⁰⁷⁴.
        bound = (terms + 8) * ROUNDOFF * SAFETY * self.problem.radius * norm
        return np.flatnonzero(~(scores > level + (bound + error) + 4 * ROUNDOFF * np.abs(level)))


class _Linear(_Coordinates):
    def __init__(self, problem: LinearProblem) -> None:
        super().__init__(problem)
        self.y = np.asarray(problem.y, dtype=np.int64)
        self._last: tuple[bytes, tuple[NDArray[Any], int]] | None = None

    def _rows(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
        """Rows as integers; those of the last call are kept: a support is asked for twice."""
        key = rows.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, signed_rows(self.X, self.y, rows)
        return self._last[1]

    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        integers, exponent = self._rows(rows)
        return product(integers, integers), Fraction(4) ** exponent

    def doubles(self, rows: NDArray[np.int64]) -> Any:
        block = self.X[rows]
        values = block.data if is_sparse(block) else np.asarray(block)
        if values.dtype.kind in "iu" and largest(values) > 2**53:
            return None
        signs = self.y[rows].astype(np.float64)
        if not is_sparse(block):
            return np.asarray(values, dtype=np.float64) * signs[:, None]
        from scipy.sparse import csr_array

        block = csr_array(block.astype(np.float64))
        block.data = block.data * np.repeat(signs, np.diff(block.indptr))
        return block

    def repeated(self, rows: NDArray[np.int64], support: NDArray[np.int64]) -> NDArray[np.bool_]:
        some, those = self.doubles(rows), self.doubles(support)
        if some is None or those is None:
            return super().repeated(rows, support)
        known = set(zip(_keys(those), self.side[support].tolist(), strict=True))
        pairs = zip(_keys(some), self.side[rows].tolist(), strict=True)
        return np.array([pair in known for pair in pairs], dtype=np.bool_)

    def twins(self) -> tuple[int, int] | None:
        known = isinstance(self.problem, DenseProblem | SparseProblem)
        return opposite_twins(self.X, self.y) if known else None

    def coordinates(self, rows: NDArray[np.int64], numerators: list[int]) -> tuple[list[int], int]:
        integers, exponent = self._rows(rows)
        return _combination(numerators, integers), exponent

    def score(self, i: int, point: Point) -> Fraction:
        assert point.vector is not None
        integers, exponent = self._rows(np.array([i]))
        total = sum(map(mul, integers[0].tolist(), point.vector))
        return total * Fraction(2) ** (exponent + point.exponent)

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        vector, levels = self._scale_of(point, thresholds)
        norm, terms = float(np.linalg.norm(vector)), len(vector)
        rough = self.problem.rough_scores(vector)
        if rough is None:
            return self._clear(self.problem.scores(vector), norm, terms, self.by_row(levels))
        scores, error = rough
        near = self._clear(scores, norm, terms, self.by_row(levels), error * SAFETY)
        scores = self.problem.some_scores(near, vector)
        return near[self._clear(scores, norm, terms, self.by_row(levels, near))]


class _Multiclass(_Coordinates):
    """Rows x_i (e_c − e_j)ᵀ/√2: ⟨a, a'⟩ = ½⟨x, x'⟩⟨e_c − e_j, e_c' − e_j'⟩ is rational."""

    def __init__(self, problem: MulticlassProblem) -> None:
        super().__init__(problem)
        self.k = problem.k
        self.labels = np.asarray(problem.labels, dtype=np.int64)

    def _pairs(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        i, slot = np.divmod(rows, self.k - 1)
        return i, self.labels[i], slot + (slot >= self.labels[i])

    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        i, right, wrong = self._pairs(rows)
        integers, exponent = integer_rows(self.X, i)
        inner = product(integers, integers)
        signs = (
            (right[:, None] == right).astype(int)
            - (right[:, None] == wrong)
            - (wrong[:, None] == right)
            + (wrong[:, None] == wrong)
        )
        entries = [v * s for v, s in zip(inner.entries(), signs.ravel().tolist(), strict=True)]
        return fmpz_mat(len(rows), len(rows), entries), Fraction(4) ** exponent / 2

    def coordinates(self, rows: NDArray[np.int64], numerators: list[int]) -> tuple[list[int], int]:
        """√2 w, as the flattened d × k matrix."""
        i, right, wrong = self._pairs(rows)
        integers, exponent = integer_rows(self.X, i)
        signed = fmpz_mat(self.k, len(rows))
        for column, (a, b) in enumerate(zip(right.tolist(), wrong.tolist(), strict=True)):
            signed[a, column] = numerators[column]
            signed[b, column] = -fmpz(numerators[column])
        matrix = (signed * to_fmpz_mat(integers)).transpose()
        return integers_of(matrix), exponent

    def score(self, i: int, point: Point) -> Fraction:
        assert point.vector is not None
        index, right, wrong = self._pairs(np.array([i]))
        integers, exponent = integer_rows(self.X, index)
        a, b = (point.vector[int(c[0]) :: self.k] for c in (right, wrong))
        total = sum(x * (v - w) for x, v, w in zip(integers[0].tolist(), a, b, strict=True))
        return total * Fraction(2) ** (exponent + point.exponent) / 2

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        # The point is √2 w and the problem's rows carry the 1/√2, rounded: two more roundings.
        vector, levels = self._scale_of(point, [threshold * 2 for threshold in thresholds])
        scores = self.problem.scores(vector) * np.sqrt(2.0)
        norm = 2.0 * float(np.linalg.norm(vector))
        return self._clear(scores, norm, self.X.shape[1] + 8, levels[0])


class KernelRows(ExactRows):
    """Linear, polynomial and precomputed kernels: rational entries, points without coordinates."""

    problem: KernelProblem

    def __init__(self, problem: KernelProblem) -> None:
        super().__init__(problem)
        self.original, self.X, self.kernel = problem, problem.X, problem.kernel
        self.y = np.asarray(problem.y, dtype=np.int64)

    def entries(
        self, rows: Sequence[int] | NDArray[Any], cols: Sequence[int] | NDArray[Any]
    ) -> tuple[list[int], Fraction]:
        """Integers y_i y_j K_ij, row by row, and their unit."""
        rows, cols = np.asarray(rows), np.asarray(cols)
        signs = np.outer(self.y[rows], self.y[cols]).ravel().tolist()
        kernel = self.kernel
        if kernel.name == "precomputed":
            integers, exponent = integer_rows(np.asarray(self.X), rows)
            entries, unit = integers[:, cols].ravel().tolist(), Fraction(2) ** exponent
        elif kernel.name == "network":
            entries, unit = self._network(rows, cols)
        else:
            both = np.concatenate([rows, cols])
            integers, exponent = integer_rows(self.X, both)
            inner = product(integers[: len(rows)], integers[len(rows) :]).entries()
            entries, unit = _polynomial(inner, Fraction(4) ** exponent, kernel)
        return [int(v) * s for v, s in zip(entries, signs, strict=True)], unit

    def _network(self, rows: NDArray[Any], cols: NDArray[Any]) -> tuple[list[int], Fraction]:
        """16 m K of the kernel of a network with m nodes (see `gammabar.problems.kernels`)."""
        kernel, d = self.kernel, self.X.shape[1]
        points, exponent = integer_rows(self.X, np.concatenate([rows, cols]))
        weights = whole_weights(kernel.width, d, kernel.seed).astype(np.int64)
        entering = product(points, weights).tolist()
        outputs = np.array([[max(0, int(v)) for v in row] for row in entering], dtype=object)
        active = (outputs > 0).astype(np.int64)
        first, second = slice(len(rows)), slice(len(rows), None)
        inner = product(points[first], points[second]).entries()
        both = (active[first] @ active[second].T).ravel().tolist()
        hidden = (to_fmpz_mat(outputs[first]) * to_fmpz_mat(outputs[second]).transpose()).entries()
        entries = [
            UNIT**2 * int(a) * m + int(b) for a, m, b in zip(inner, both, hidden, strict=True)
        ]
        return entries, Fraction(4) ** exponent / (UNIT**2 * kernel.width)

    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        entries, unit = self.entries(rows, rows)
        return fmpz_mat(len(rows), len(rows), entries), unit

    def radius_squared(self) -> Fraction:
        kernel = self.kernel
        if kernel.name == "precomputed":
            return Fraction(max(np.diagonal(np.asarray(self.X)).tolist()))
        if kernel.name == "network":
            diagonal, error = self.problem.diagonal, KernelRounding(self.problem)._largest[1]
            close = np.flatnonzero(~(diagonal < diagonal.max() - 4 * error))
            return max(
                value * unit for (value,), unit in (self.entries([i], [i]) for i in close.tolist())
            )
        # γ > 0 and c ≥ 0, so that γ⟨x, x⟩ + c grows with ‖x‖.
        return _base(self.original) ** (kernel.degree if kernel.name == "poly" else 1)

    def score(self, i: int, point: Point) -> Fraction:
        entries, unit = self.entries([i], point.rows)
        return sum(v * w for v, w in zip(entries, point.numerators, strict=True)) * unit

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        total = sum(map(abs, point.numerators))
        weights = np.array([v / total for v in point.numerators])
        kernel, terms = self.kernel, len(point.rows) + 8
        if kernel.name != "precomputed":
            # An entry (γ⟨x,x'⟩ + c)^p: p relative errors of the base, plus those of the power.
            degree = kernel.degree if kernel.name == "poly" else 1
            terms += degree * (self.X.shape[1] + 8) + 16
        if kernel.name == "network":
            # In doubles the weights have the sum one, up to a rounding.
            bound = KernelRounding(self.problem).scores(1.0 + 2.0**-40) * SAFETY
        elif terms * ROUNDOFF > 1e-3:  # the bound is one of first order
            return np.arange(self.n)
        else:
            bound = terms * (ROUNDOFF * SAFETY * _largest_value(self.problem) + _UNDERFLOW)
        try:
            unit = total * Fraction(2) ** self.shift
            level = self.by_row([float(threshold / unit) for threshold in thresholds])
        except OverflowError:  # beyond the doubles: every row is tested exactly
            return np.arange(self.n)
        scores = self.problem.scores(spread(self.n, point.rows, weights))
        return np.flatnonzero(~(scores > level + bound + 4 * ROUNDOFF * np.abs(level)))


def _polynomial(inner: list[Any], unit: Fraction, kernel: Any) -> tuple[list[int], Fraction]:
    """(γ·unit·m + c)^p for integers m, as integers times a new unit."""
    if kernel.name == "linear":
        return [int(m) for m in inner], unit
    slope, offset = Fraction(kernel.gamma) * unit, Fraction(kernel.coef0)
    common = slope.denominator * offset.denominator
    a, b = int(slope * common), int(offset * common)
    return [(a * int(m) + b) ** kernel.degree for m in inner], Fraction(1, common**kernel.degree)


#: Unit roundoff of doubles, and a factor that covers 1/(1 − k u) and the rounding of the bound.
ROUNDOFF, SAFETY = 2.0**-53, 1.02
#: Rows up to which exact norms are compared without more ado.
_FEW = 8
#: Columns up to which the slack of `Points.longest` (10⁻⁹) covers the rounding of sums of squares.
_MANY = 1 << 22


def integer_rows(X: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Rows of X as integers times a power of two: (integers, exponent).

    The integers are int64 where all of them lie strictly between −2⁶³ and 2⁶³, so that their signs
    may be changed, and Python's otherwise.
    """
    dense = X[rows]
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense)
    if dense.dtype.kind in "bui":
        return dense.astype(np.int64 if largest(dense) < 2**63 else object), 0
    mantissa, exponent = np.frexp(dense.astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    nonzero = whole != 0
    if not nonzero.any():
        return np.zeros(dense.shape, np.int64), 0
    # Trailing zero bits are given back, so that 0.5 or 3.0 do not become 53-bit integers.
    lowest = np.where(nonzero, whole & -whole, 1)
    exponent = exponent - 54 + np.frexp(lowest.astype(np.float64))[1]
    whole = whole // lowest
    smallest = int(exponent[nonzero].min())
    shift = np.where(nonzero, exponent - smallest, 0)
    if int(shift.max()) + 53 < 63:
        return whole << shift, smallest
    wide = np.empty(whole.size, dtype=object)
    wide[:] = list(map(lshift, whole.ravel().tolist(), shift.ravel().tolist()))
    return wide.reshape(whole.shape), smallest


def signed_rows(X: Any, y: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Rows y_i x_i, as `integer_rows`."""
    integers, exponent = integer_rows(X, rows)
    return integers * np.asarray(y, dtype=np.int64)[rows][:, None], exponent


def whole_rows(rows: list[list[int]]) -> NDArray[Any] | None:
    """A matrix that holds these integers, exactly: of int64 or of doubles; None if neither does.

    NumPy on its own makes doubles of 2⁶³ beside a negative number, and loses digits.
    """
    size = max((abs(v) for row in rows for v in row), default=0)
    if size < 2**63:
        return np.array(rows, dtype=np.int64)
    if size < 2**1000 and all(int(float(v)) == v for row in rows for v in row):
        return np.array(rows, dtype=np.float64)
    return None


def largest(array: NDArray[Any]) -> int:
    """The largest absolute value of integers of any type, as Python's integer."""
    if not array.size:
        return 0
    return max(-int(array.min()), int(array.max()))


def exponent_of(X: Any) -> int:
    """e with 2ᵉ⁻¹ ≤ max |x| < 2ᵉ, up to rounding, for a dense or sparse matrix; 0 for zero."""
    values = X.data if is_sparse(X) else X
    top = max(-float(values.min()), float(values.max())) if values.size else 0.0
    return int(np.frexp(top)[1])


def product(left: NDArray[Any], right: NDArray[Any]) -> fmpz_mat:
    """left @ right.T over the integers; through BLAS where doubles hold every partial sum."""
    # Not less than one each: beside a matrix of zeros the other may be of any size.
    if max(1, largest(left)) * max(1, largest(right)) * left.shape[1] < 2**53:
        exact = small_gemm(left.astype(np.float64), right.astype(np.float64))
        return to_fmpz_mat(exact.astype(np.int64))
    return to_fmpz_mat(left) * to_fmpz_mat(right).transpose()


def _combination(numerators: list[int], integers: NDArray[Any]) -> list[int]:
    """Σ_i numerators_i integers_i."""
    used = np.flatnonzero((integers != 0).any(axis=0))
    vector = [0] * integers.shape[1]
    if len(used):
        head = fmpz_mat(1, len(numerators), numerators) * to_fmpz_mat(integers[:, used])
        for j, value in zip(used.tolist(), integers_of(head), strict=True):
            vector[j] = value
    return vector


def squared_norms(X: Any) -> tuple[NDArray[np.float64], int, float]:
    """Squared row norms divided by 4ᵏ in doubles, k, and a relative error bound for them.

    k is zero unless squares would leave the range of doubles. Rows that are far shorter than the
    longest one may lose squares to underflow: an absolute error of at most d 2⁻¹⁰⁷⁴.
    """
    k = exponent_of(X)
    k = k if abs(k) > 300 else 0
    if is_sparse(X):
        values = _divided(X, k)
        squares = np.asarray(values.multiply(values).sum(axis=1)).ravel()
    else:
        squares = np.empty(len(X))
        for start in range(0, len(X), 512):  # blocks that stay in the cache; no copy of the matrix
            block = X[start : start + 512].astype(np.float64)
            block = np.ldexp(block, -k) if k else block
            squares[start : start + 512] = np.einsum("ij,ij->i", block, block)
    return squares, k, (X.shape[1] + 4) * ROUNDOFF * SAFETY


def largest_norm(points: Points) -> Fraction:
    """max_i ‖x_i‖², exactly: doubles leave a few rows, integers decide between them."""
    if points.shape[1] > _MANY:
        squares, _, error = squared_norms(points.X)
        return max(_norms(points.X, np.flatnonzero(squares >= squares.max() * (1 - 3 * error))))
    if not len(points.longest):
        points.largest()
    rows = points.longest
    if len(rows) > _FEW and points.X.dtype.kind == "f" and not is_sparse(points.X):
        rows = rows[_may_be_longest(np.asarray(points.X[rows], dtype=np.float64))]
    return max(_norms(points.X, rows))


def _may_be_longest(block: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of doubles may be the longest: sums of squares in the longest type there is.

    Entries are scaled to at most one and at least ½ for the largest, so that what underflows is
    nothing beside the longest row. A sum of d products is off by at most (d + 1) u of itself.
    """
    scaled = np.ldexp(block, -exponent_of(block)).astype(np.longdouble)
    squares = np.einsum("ij,ij->i", scaled, scaled)
    off = (block.shape[1] + 2) * np.finfo(np.longdouble).eps
    return np.asarray(squares >= squares.max() * (1 - 2 * off))


def smallest_norm(points: Points) -> Fraction:
    """min_i ‖x_i‖², exactly."""
    squares, _, error = squared_norms(points.X)
    # 1e-290 is more than underflow can take from a sum of fewer than 10³³ squares.
    close = np.flatnonzero(squares <= squares.min() * (1 + 3 * error) + 1e-290)
    return min(_norms(points.X, close))


def _norms(X: Any, rows: NDArray[np.int64]) -> list[Fraction]:
    """Exact squared norms of some rows."""
    if is_sparse(X):
        first = np.zeros(1, np.int64)
        return [_norms(X[[i]].tocsr().data[None, :], first)[0] for i in rows.tolist()]
    integers, exponent = integer_rows(X, rows)
    if integers.dtype != object and largest(integers) ** 2 * X.shape[1] < 2**63:
        squares = np.einsum("ij,ij->i", integers, integers).tolist()
    else:
        squares = [sum(map(mul, row, row)) for row in integers.tolist()]
    return [square * Fraction(4) ** exponent for square in set(squares)]


#: Binary exponents of data, and of the parameters of a kernel, that are left alone.
_LINEAR, _KERNEL, _VALUE = 300, 100, 600


def tame(problem: Problem) -> tuple[Problem, int]:
    """The problem with rows (kernels: with values K) divided by 2ᵏ, and k.

    It is the problem itself, and 0, unless its scale is extreme. Entries that the division rounds
    are below 2⁻¹⁰⁷⁴, which the error bounds absorb.

    Notes
    -----
    Doubles that compute a value (γ⟨x, z⟩ + c)^p of the tamed problem lose to underflow at most
    p (10 d + 20) 2⁻¹⁰⁷⁴ B^(p−1), where B = γ max ‖x‖² + c: at most d products, the entries, γ and c
    themselves where the scaling rounded them, each with a factor of at most 4. Either B lies
    between ¼ and 1 (rows scaled), or γ ≤ 2¹⁰⁰ takes the place of the 4 and B ≥ 2⁻³⁰³: less than
    p d 2⁻⁶⁰⁰ times B^p, a part of one of the roundings that the bound counts. The power itself and
    the weighted sum of m values lose at most (m + 1) 2⁻¹⁰⁷⁴ more (`rational.UNDERFLOW`).
    """
    tamed, k = _tame_kernel(problem) if isinstance(problem, KernelProblem) else _tame(problem)
    if tamed is not problem:
        tamed.intercept = problem.intercept
    return tamed, k


def _tame(problem: Problem) -> tuple[Problem, int]:
    if not isinstance(problem, LinearProblem | MulticlassProblem):
        return problem, 0
    k = exponent_of(problem.X)
    if abs(k) <= _LINEAR or problem.X.dtype.kind != "f":
        return problem, 0
    if isinstance(problem, ScatteredProblem):
        return ScatteredProblem(problem.points.chunks.divided(k), problem.y), k
    scaled = _divided(problem.X, k)
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(scaled, problem.labels, problem.k), k
    return (SparseProblem if is_sparse(scaled) else DenseProblem)(scaled, problem.y), k


def _largest_value(problem: KernelProblem) -> float:
    """A bound on |K(x, z)| over the points, up to a few roundings; infinite if it is no double."""
    kernel = problem.kernel
    if kernel.name == "precomputed":
        return max(-float(problem.X.min()), float(problem.X.max()))
    try:
        return float(_base(problem)) ** (kernel.degree if kernel.name == "poly" else 1)
    except OverflowError:
        return math.inf


def _base(problem: KernelProblem) -> Fraction:
    """γ max ‖x‖² + c, exactly."""
    top, kernel = largest_norm(problem.points), problem.kernel
    return top if kernel.name == "linear" else Fraction(kernel.gamma) * top + Fraction(kernel.coef0)


def _tame_kernel(problem: KernelProblem) -> tuple[KernelProblem, int]:
    kernel, k = problem.kernel, exponent_of(problem.X)
    if problem.normalised or kernel.name not in ("precomputed", "linear", "poly"):
        return problem, 0  # a normalised kernel has no scale; its doubles decide nothing
    if kernel.name != "poly":
        given = kernel.name == "precomputed"
        if abs(k) <= _LINEAR or (given and problem.X.dtype.kind != "f"):
            return problem, 0
        return KernelProblem(_divided(problem.X, k), problem.y, kernel), k if given else 2 * k
    base = _base(problem)
    if base == 0:
        return problem, 0
    b = base.numerator.bit_length() - base.denominator.bit_length() + 1  # 2^(b−2) < base < 2^b
    parameters = [math.frexp(kernel.gamma)[1], math.frexp(kernel.coef0)[1]]
    if max(map(abs, [k, *parameters])) <= _KERNEL and kernel.degree * abs(b) <= _VALUE:
        return problem, 0
    # γ' ≤ 4, because γ' max ‖x'‖² ≤ 1 and the largest entry of x' is at least ½.
    gamma = max(math.ldexp(kernel.gamma, 2 * k - b), math.ulp(0.0))  # no kernel has γ = 0
    scaled = Kernel("poly", kernel.degree, gamma, math.ldexp(kernel.coef0, -b))
    return KernelProblem(_divided(problem.X, k), problem.y, scaled), kernel.degree * b


def _divided(X: Any, k: int) -> Any:
    """X / 2ᵏ in doubles."""
    if not is_sparse(X):
        return np.ldexp(X.astype(np.float64), -k)
    scaled = X.astype(np.float64)
    scaled.data = np.ldexp(scaled.data, -k)
    return scaled
