"""Rows and inner products of a problem as exact integers.

Integers and doubles are rationals with a power-of-two denominator, so each geometry offers its
Gram matrix as integers times one rational unit, and the scores of all rows against an exact point.
Most rows lie far from the margin: a floating-point score with a proved error bound clears them,
and only the few that it cannot clear are visited in exact arithmetic.

The error bound is the standard one for inner products [1]_: whatever the order of summation,
with or without fused multiply-add, |fl(x·w) − x·w| ≤ k u/(1 − k u) · ‖x‖ ‖w‖ for k products, and
k 2⁻¹⁰⁷⁴ more where products underflow. Doubles see the problem at a scale (`oracle.scale`) where
the first term is far above the second and neither it nor a score over- or underflows. A bound or a
score that is infinite or no number clears no row.

References
----------
.. [1] N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, §3.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.integers import (
    ROUNDOFF,
    SAFETY,
    combination,
    integer_rows,
    largest,
    largest_norm,
    product,
    signed_rows,
    smallest_norm,
    to_fmpz_mat,
)
from gammabar.oracle.scale import largest_value, tame
from gammabar.problems import (
    DenseProblem,
    KernelProblem,
    MulticlassProblem,
    Problem,
    ProblemError,
    ScatteredProblem,
    SparseProblem,
    quiet,
)
from gammabar.problems.linear import LinearProblem
from gammabar.problems.network import UNIT, whole_weights
from gammabar.problems.rounding import KernelRounding

#: Bits of numerators that are enough for a vector in doubles, unless its coordinates cancel.
KEPT = 256
#: More than underflow adds to a kernel value or a product of the tamed problem (see `tame`).
UNDERFLOW = 2.0**-1060


@dataclass(frozen=True)
class Point:
    """w = Σ_j numerators_j a_{rows_j}, exactly; `vector` is it in coordinates, where there are any.

    A coordinate vector consists of integers times 2**exponent; both are computed when asked for.
    """

    rows: NDArray[np.int64]
    numerators: list[int]
    _coordinates: Callable[[], tuple[fmpz_mat, int]] | None = None

    @cached_property
    def _found(self) -> tuple[fmpz_mat | None, int]:
        return (None, 0) if self._coordinates is None else self._coordinates()

    @property
    def vector(self) -> fmpz_mat | None:
        return self._found[0]

    @property
    def exponent(self) -> int:
        return self._found[1]


class ExactRows(ABC):
    """Exact inner products between the rows of a problem (see `exact_rows`)."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.shift = tame(problem)  # for scores in doubles, and for nothing else
        self.n = problem.n
        #: With a free intercept rows are of two sides, their classes; otherwise of one.
        self.sides = 2 if problem.intercept == "free" else 1
        self._side = problem.y > 0 if self.sides == 2 else None

    def side(self, i: int) -> int:
        """The side of a row."""
        return 0 if self._side is None else int(self._side[i])

    def first(self, side: int) -> int:
        """The first row of a side."""
        return 0 if self._side is None else int(np.argmax(self._side == bool(side)))

    def by_row(self, levels: list[float]) -> Any:
        """The level of the side of each row; a number if there is one side only."""
        return levels[0] if self._side is None else np.array(levels)[self._side.astype(np.intp)]

    @abstractmethod
    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        """Integers G and a unit with ⟨a_i, a_j⟩ = unit · G_ij on the given rows."""

    def small_gram(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], Fraction] | None:
        """The same as integers of 32 bits, where they are and doubles have them exactly."""
        return None

    @abstractmethod
    def radius_squared(self) -> Fraction:
        """The largest squared row norm."""

    @abstractmethod
    def point(self, rows: NDArray[np.int64], numerators: list[int]) -> Point:
        """The combination of rows with integer coefficients."""

    def short_vector(self, rows: NDArray[np.int64], numerators: list[int]) -> list[int] | None:
        """A multiple of the point with relative errors below 2⁻⁷⁰, where that is less work."""
        return None

    @abstractmethod
    def score(self, i: int, point: Point) -> Fraction:
        """⟨a_i, w⟩."""

    @abstractmethod
    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        """A superset of the rows with ⟨a_i, w⟩ < threshold: those that doubles cannot clear.

        There is a threshold for each side.
        """

    def violated(self, point: Point, *thresholds: Fraction) -> list[tuple[Fraction, int]]:
        """Rows with ⟨a_i, w⟩ < threshold, by how much (negative) and lowest first.

        There is a threshold for each side. Rows of the point itself are not tested.
        """
        outside = np.setdiff1d(self.doubtful(point, *thresholds), point.rows).tolist()
        scored = [(self.score(i, point) - thresholds[self.side(i)], i) for i in outside]
        return sorted(pair for pair in scored if pair[0] < 0)


def exact_rows(problem: Problem) -> ExactRows:
    """The exact view of a problem, or a readable error where its geometry has none."""
    if isinstance(problem, MulticlassProblem):
        return _Multiclass(problem)
    if isinstance(problem, LinearProblem):
        return _Linear(problem)
    if isinstance(problem, KernelProblem) and has_exact_kernel(problem):
        return KernelRows(problem)
    raise ProblemError(f"{type(problem).__name__} has no exact rational form")


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


def _as_doubles(vector: fmpz_mat) -> tuple[NDArray[np.float64], int]:
    """(v, k) with v·2ᵏ = vector up to a relative error of one roundoff per entry plus 2⁻⁶²."""
    entries = [int(v) for v in vector.entries()]
    bits = max((abs(v).bit_length() for v in entries), default=0)
    k = max(bits - 64, 0)
    head = np.array([float(v >> k) for v in entries])
    return np.ldexp(head, -64), k + 64


def _as_double(value: Fraction) -> float:
    """The nearest double, or infinity."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _ratio(value: Fraction) -> tuple[float, int]:
    """(m, k) with m·2ᵏ = value up to one roundoff, for rationals far outside the doubles."""
    if value == 0:
        return 0.0, 0
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return float(value / Fraction(2) ** k), k


class _Coordinates(ExactRows):
    """What linear and multiclass rows share: points have coordinates."""

    X: Any

    def _scale_of(
        self, point: Point, thresholds: Sequence[Fraction]
    ) -> tuple[NDArray[np.float64], Any]:
        """Vector and thresholds (by row) in doubles, all divided by one power of two."""
        assert point.vector is not None
        vector, k = _as_doubles(point.vector)
        # Under- or overflow of a level is harmless: it can only send more rows to the exact test
        # (minus infinity too, as minus infinity plus its error bound is no number).
        with np.errstate(over="ignore", under="ignore"):
            shift = k + point.exponent + self.shift
            levels = [float(np.ldexp(level, e - shift)) for level, e in map(_ratio, thresholds)]
        return vector, self.by_row(levels)

    def _clear(
        self, scores: NDArray[np.float64], norm: float, terms: int, level: Any
    ) -> NDArray[np.int64]:
        """Rows whose score does not exceed the level by more than its error bound."""
        # + 8: rounding of the vector's entries (1), of the level (1), of the radius and the norm,
        # the 2⁻⁶² of `_as_doubles` (its vector has an entry of at least ½), of the data's entries
        # (1), and underflow: radius and norm are at least 2⁻³⁰¹ and 2⁻⁶⁴, so that one of the eight
        # is 2⁻⁴¹⁸ at least, and all that underflow can add is (terms + 1) 2⁻¹⁰⁷⁴.
        bound = (terms + 8) * ROUNDOFF * SAFETY * self.problem.radius * norm
        return np.flatnonzero(~(scores > level + bound + 4 * ROUNDOFF * np.abs(level)))


class _Linear(_Coordinates):
    def __init__(self, problem: LinearProblem) -> None:
        super().__init__(problem)
        self.points, self.X = problem.points, problem.X
        self.y = np.asarray(problem.y, dtype=np.int64)

    def _rows(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
        return signed_rows(self.X, self.y, rows)

    def gram(self, rows: NDArray[np.int64]) -> tuple[fmpz_mat, Fraction]:
        integers, exponent = self._rows(rows)
        return product(integers, integers), Fraction(4) ** exponent

    def small_gram(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], Fraction] | None:
        integers, exponent = self._rows(rows)
        if largest(integers) ** 2 * integers.shape[1] >= 2**31:
            return None
        doubles = integers.astype(np.float64)
        exact = quiet.product(doubles, doubles)
        return exact.astype(np.int32), Fraction(4) ** exponent

    def radius_squared(self) -> Fraction:
        return largest_norm(self.points)

    def point(self, rows: NDArray[np.int64], numerators: list[int]) -> Point:
        def coordinates() -> tuple[fmpz_mat, int]:
            integers, exponent = self._rows(rows)
            return combination(numerators, integers), exponent

        return Point(rows, numerators, coordinates)

    def short_vector(self, rows: NDArray[np.int64], numerators: list[int]) -> list[int] | None:
        spare = max(v.bit_length() for v in numerators) - KEPT
        if spare <= 0:
            return None
        integers, _ = self._rows(rows)
        vector = combination([v >> spare for v in numerators], integers).entries()
        # What was cut off is less than one of each numerator.
        error = len(rows) * largest(integers) << 70
        certain = np.array([abs(v) > error for v in vector])
        if (certain | ~(integers != 0).any(axis=0)).all():
            return [int(v) for v in vector]
        return None

    def score(self, i: int, point: Point) -> Fraction:
        assert point.vector is not None
        integers, exponent = self._rows(np.array([i]))
        total = (to_fmpz_mat(integers) * point.vector.transpose())[0, 0]
        return int(total) * Fraction(2) ** (exponent + point.exponent)

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        left = self._soon_doubtful(point, thresholds)
        if not len(np.setdiff1d(left, point.rows)):
            return left
        vector, level = self._scale_of(point, thresholds)
        scores = self.problem.some_scores(left, vector)
        level = level if self._side is None else level[left]
        return left[self._clear(scores, float(np.linalg.norm(vector)), len(vector), level)]

    def _soon_doubtful(self, point: Point, thresholds: Sequence[Fraction]) -> NDArray[np.int64]:
        """The same without the point's coordinates: with w = Σ q_j a_j in doubles.

        Whatever the order of the sum over m rows, its error is at most (m + 2) u/(1 − (m + 2) u)
        times Σ q_j |a_j| in every coordinate, where q_j is rounded too; as Σ q_j = 1 for the
        absolute values of the weights, that vector is no longer than the radius. Underflow of q_j
        or of a product adds at most m 2⁻¹⁰⁷⁴ (radius + √d), far less than one of eight more u times
        the radius, which is at least 2⁻³⁰¹.
        """
        total = sum(map(abs, point.numerators))
        unit = total * Fraction(4) ** self.shift
        levels = [_as_double(threshold / unit) for threshold in thresholds]
        spread = np.zeros(self.n)
        spread[point.rows] = [v / total for v in point.numerators]
        w = self.problem.combine(spread)
        if not np.isfinite(w).all():
            return np.arange(self.n)
        radius = self.problem.radius * SAFETY
        lost = (len(point.rows) + 10) * ROUNDOFF * radius * radius
        norm, level = float(np.linalg.norm(w)), self.by_row(levels)
        rough = self.problem.rough_scores(w)
        if rough is None:
            return self._clear(self.problem.scores(w), norm, len(w), level + lost)
        scores, error = rough
        slack = 4 * ROUNDOFF * np.abs(level)
        near = np.flatnonzero(~(scores > level + (lost + error * SAFETY + slack)))
        if self._side is not None:
            level = level[near]
        scores = self.problem.some_scores(near, w)
        return near[self._clear(scores, norm, len(w), level + lost)]


class _Multiclass(_Coordinates):
    """Rows x_i (e_c − e_j)ᵀ/√2: ⟨a, a'⟩ = ½⟨x, x'⟩⟨e_c − e_j, e_c' − e_j'⟩ is rational."""

    def __init__(self, problem: MulticlassProblem) -> None:
        super().__init__(problem)
        self.points, self.X, self.k = problem.points, problem.X, problem.k
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

    def radius_squared(self) -> Fraction:
        return largest_norm(self.points)

    def point(self, rows: NDArray[np.int64], numerators: list[int]) -> Point:
        """√2 w, as the flattened d × k matrix."""

        def coordinates() -> tuple[fmpz_mat, int]:
            i, right, wrong = self._pairs(rows)
            integers, exponent = integer_rows(self.X, i)
            spread = fmpz_mat(self.k, len(rows))
            for column, (a, b) in enumerate(zip(right.tolist(), wrong.tolist(), strict=True)):
                spread[a, column] = numerators[column]
                spread[b, column] = -fmpz(numerators[column])
            matrix = (spread * to_fmpz_mat(integers)).transpose()
            return fmpz_mat(1, matrix.nrows() * matrix.ncols(), matrix.entries()), exponent

        return Point(rows, numerators, coordinates)

    def score(self, i: int, point: Point) -> Fraction:
        assert point.vector is not None
        index, right, wrong = self._pairs(np.array([i]))
        integers, exponent = integer_rows(self.X, index)
        columns = fmpz_mat(len(integers[0]), self.k, point.vector.entries())
        scores = (to_fmpz_mat(integers) * columns).entries()
        half = Fraction(2) ** (exponent + point.exponent) / 2
        return int(scores[int(right[0])] - scores[int(wrong[0])]) * half

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        # The point is √2 w and the problem's rows carry the 1/√2, rounded: two more roundings.
        vector, level = self._scale_of(point, [threshold * 2 for threshold in thresholds])
        scores = self.problem.scores(vector) * np.sqrt(2.0)
        norm = 2.0 * float(np.linalg.norm(vector))
        return self._clear(scores, norm, self.X.shape[1] + 8, level)


class KernelRows(ExactRows):
    """Linear, polynomial and precomputed kernels: rational entries, points without coordinates."""

    problem: KernelProblem

    def __init__(self, problem: KernelProblem) -> None:
        super().__init__(problem)
        self.points, self.X, self.kernel = problem.points, problem.X, problem.kernel
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
        """16 m K of the kernel of a network with m nodes (see `gammabar.problems.network`)."""
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
        # γ⟨x, x⟩ + c is monotone in ‖x‖, so only the longest and the shortest point matter.
        ends = (largest_norm(self.points), smallest_norm(self.points))
        return max(_kernel_value(kernel, square) for square in ends)

    def point(self, rows: NDArray[np.int64], numerators: list[int]) -> Point:
        return Point(rows, numerators)

    def score(self, i: int, point: Point) -> Fraction:
        entries, unit = self.entries([i], point.rows)
        return sum(v * w for v, w in zip(entries, point.numerators, strict=True)) * unit

    def doubtful(self, point: Point, *thresholds: Fraction) -> NDArray[np.int64]:
        total = sum(map(abs, point.numerators))
        spread = np.zeros(self.n)
        spread[point.rows] = [v / total for v in point.numerators]
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
            bound = terms * (ROUNDOFF * SAFETY * largest_value(self.problem) + UNDERFLOW)
        try:
            unit = total * Fraction(2) ** self.shift
            level = self.by_row([float(threshold / unit) for threshold in thresholds])
        except OverflowError:  # beyond the doubles: every row is tested exactly
            return np.arange(self.n)
        scores = self.problem.scores(spread)
        return np.flatnonzero(~(scores > level + bound + 4 * ROUNDOFF * np.abs(level)))


def _polynomial(inner: list[Any], unit: Fraction, kernel: Any) -> tuple[list[int], Fraction]:
    """(γ·unit·m + c)^p for integers m, as integers times a new unit."""
    if kernel.name == "linear":
        return [int(m) for m in inner], unit
    slope, offset = Fraction(kernel.gamma) * unit, Fraction(kernel.coef0)
    common = slope.denominator * offset.denominator
    a, b = int(slope * common), int(offset * common)
    return [(a * int(m) + b) ** kernel.degree for m in inner], Fraction(1, common**kernel.degree)


def _kernel_value(kernel: Any, square: Fraction) -> Fraction:
    if kernel.name == "linear":
        return square
    value: Fraction = (Fraction(kernel.gamma) * square + Fraction(kernel.coef0)) ** kernel.degree
    return value
