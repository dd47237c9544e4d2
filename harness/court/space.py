"""The space that a problem lives in: norms and scores of doubles, with proof.

Each quantity comes in two ways. *Fast*: one evaluation in doubles and a bound on its error, by the
standard analysis of inner products [1]_ (any order of summation, with or without fused
multiply-add), in which underflow has a term of its own and overflow makes the bound infinite.
*Exact*: the doubles taken for the exact numbers they are, in balls of the current precision. A
`unit` view divides the rows by the exact largest norm, a square root of a rational.

References
----------
.. [1] N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, §3.1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from gammabar.harness.court.numbers import (
    ETA,
    ROUNDOFF,
    SAFETY,
    TINY,
    Number,
    ball,
    number,
    precision,
    sqrt,
    total,
)
from gammabar.oracle.enclosure import kernel_balls
from gammabar.oracle.integers import integer_rows, largest_norm
from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.problems import KernelProblem, MulticlassProblem, Problem, ProblemError

Floats = NDArray[np.float64]

#: What is below this does not overflow when a few such numbers are added, or a million.
HUGE = 2.0**1000
#: Kernel values between this and one over it are far from both ends of the doubles.
LARGE = 2.0**900


class TooLarge(ProblemError):
    """A problem has too many rows for what was asked."""


class Space(ABC):
    """Norms and scores of a problem, fast with an error bound, and exact."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n, self.dimension = problem.n, problem.dimension
        #: Not below the largest norm of a row, even where that is no normal double.
        self.radius = problem.radius * (1 + 8 * ROUNDOFF) + ETA
        self._cache: dict[Any, Any] = {}

    #: A bound on the norm of what underflow may take from the entries of one product of a vector.
    tiny: float
    #: The same for Aᵀq, a combination of the rows with weights of at most one in sum.
    lost: float

    # fast

    @abstractmethod
    def size(self, v: Floats) -> float:
        """A bound on ‖v‖ that is monotone in the |v_j|: rounding v moves it by at most u·size."""

    @abstractmethod
    def norm(self, v: Floats, error: float = 0.0) -> Number:
        """‖v‖ as a ball, from one evaluation in doubles; for v known up to an error, if given."""

    @abstractmethod
    def inner(self, u: Floats, v: Floats) -> Number:
        """⟨u, v⟩ as a ball, from one evaluation in doubles."""

    @abstractmethod
    def score_error(self, w: Floats) -> float:
        """How far the doubles of ``problem.scores(w)`` are from the truth, at most."""

    # exact

    @abstractmethod
    def exact_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        """⟨a_i, w⟩ for some rows."""

    @abstractmethod
    def exact_inner(self, u: Floats, v: Floats) -> Number:
        """⟨u, v⟩."""

    @abstractmethod
    def exact_combination(self, q: list[Number]) -> Any:
        """Aᵀq for balls q: a column of balls (an arb_mat) in the representation of w."""

    def exact_norm(self, v: Floats) -> Number:
        """‖v‖."""
        return sqrt(self.exact_inner(v, v))

    def gram(self) -> Any:
        """All ⟨a_i, a_j⟩ as an arb_mat: for small problems."""
        return self._at_precision("gram", self._gram)

    @abstractmethod
    def _gram(self) -> Any: ...

    @property
    def unit_factor(self) -> Number:
        """What the exact rows are multiplied by: 1, or one over the exact largest norm."""
        return self._at_precision("factor", self._factor)

    def _factor(self) -> Number:
        return 1 / sqrt(number(self._radius_squared)) if self.problem._is_unit else number(1)

    @cached_property
    def _radius_squared(self) -> Any:
        return largest_norm(self.problem.points)  # type: ignore[attr-defined]

    def _at_precision(self, name: str, make: Any) -> Any:
        key = name, precision()
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


class LinearSpace(Space):
    """Dense, sparse and multiclass problems: w has coordinates.

    A score is computed as ``outer · Σ_j x_j (inner · w_j)`` with a power of two as inner factor
    (`Problem._factors`). By the standard analysis it is off by at most γ_{d+8} ‖x‖‖w‖ times both
    factors, and that is `_dot` · radius · ‖w‖, as long as nothing leaves the range of doubles:

    - *below*, each inner product ``inner · w_j`` loses at most η/2 (η = 2⁻¹⁰⁷⁴), which the entry
      x_j and the outer factor multiply: Σ_j outer |x_j| η/2 ≤ √d (radius/inner) η/2, nothing if the
      inner factor is one; each of d products loses η/2, which the outer factor multiplies; the last
      product loses η/2. So underflow costs at most η (√d radius/inner + d outer + 1) altogether.
    - *above*, nothing overflows if ‖inner w‖ and ‖x‖‖inner w‖ = (radius/outer)‖w‖ and their outer
      multiple radius ‖w‖ are below 2¹⁰⁰⁰, for every partial sum is below 2‖x‖‖inner w‖. Otherwise
      the bound is infinite: what overflowed may be anything.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._dot = (self.dimension + 8) * ROUNDOFF * SAFETY
        if isinstance(problem, MulticlassProblem):  # two products of length d, and √2
            self._dot *= 2
        inner, outer = problem._inner, problem._outer
        root = math.sqrt(self.dimension)
        scaled = 0.0 if inner == 1 else root * (self.radius / inner)
        # ETA comes last: nothing before it underflows.
        self._under = (4 * scaled + 4 * self.dimension * outer + 4) * ETA + TINY
        # Per entry n products that the outer factor multiplies, and weights times the inner factor,
        # that the rows multiply.
        self.lost = (4 * self.n * (root * outer + self.radius / inner) + 4) * ETA + TINY
        self.tiny = TINY
        #: ‖w‖ up to which nothing overflows.
        self._most = HUGE / max(1.0, inner, self.radius / outer, self.radius)

    def size(self, v: Floats) -> float:
        return self._length(v) * (1 + self._dot) + TINY

    def norm(self, v: Floats, error: float = 0.0) -> Number:
        length = self._length(v)
        return ball(length, length * self._dot + TINY + error * (1 + 4 * ROUNDOFF))

    def _length(self, v: Floats) -> float:
        square = float(v.dot(v))
        # Far from over- and underflow there is no need for the care that `Problem.norm` takes.
        return math.sqrt(square) if 1e-200 < square < 1e200 else self.problem.norm(v)

    def inner(self, u: Floats, v: Floats) -> Number:
        # Both sizes are at least TINY, so the product with _dot is a number before the other joins.
        error = self._dot * self.size(u) * self.size(v) + TINY
        return ball(float(np.dot(u, v)), error * SAFETY)

    def score_error(self, w: Floats) -> float:
        size = self.size(w)
        if not size < self._most:
            return math.inf
        # The radius may be as small as η: it meets w before the roundoff.
        return self.radius * size * self._dot * SAFETY + self._under

    def exact_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        factor = self.unit_factor
        values = [arb(v) for v in w.tolist()]
        return [total(x * values[j] for j, x in self._row(int(i))) * factor for i in rows]

    def exact_inner(self, u: Floats, v: Floats) -> Number:
        pairs = zip(u.tolist(), v.tolist(), strict=True)
        return total(arb(a) * arb(b) for a, b in pairs if a and b)

    def exact_combination(self, q: list[Number]) -> Any:
        out = [arb(0)] * self.dimension
        for i, weight in enumerate(q):
            for j, x in self._row(i):
                out[j] += weight * x
        return arb_mat(self.dimension, 1, [v * self.unit_factor for v in out])

    def _gram(self) -> Any:
        matrix = arb_mat(self.n, self.dimension)
        for i in range(self.n):
            for j, x in self._row(i):
                matrix[i, j] = x
        return matrix * matrix.transpose() * (self.unit_factor * self.unit_factor)

    def _row(self, i: int) -> list[tuple[int, Number]]:
        """The entries of a_i that are not zero, in the units of the data."""
        if (i, precision()) in self._cache:
            return self._cache[i, precision()]
        problem = self.problem
        if isinstance(problem, MulticlassProblem):
            entries = _multiclass_row(problem, i)
        else:
            entries = _entries(problem.X, i, int(problem.y[i]))
        if len(self._cache) < 50_000:
            self._cache[i, precision()] = entries
        return entries


def _entries(X: Any, i: int, sign: int) -> list[tuple[int, Number]]:
    integers, exponent = integer_rows(X, np.array([i]))
    unit = arb(2) ** exponent * sign
    return [(j, arb(v) * unit) for j, v in enumerate(integers[0].tolist()) if v]


def _multiclass_row(problem: MulticlassProblem, i: int) -> list[tuple[int, Number]]:
    (point,), (right,), (wrong,) = problem._unpack(np.array([i]))
    root = arb(2).sqrt()
    entries = []
    for j, x in _entries(problem.X, int(point), 1):
        entries += [
            (j * problem.k + int(right), x / root),
            (j * problem.k + int(wrong), -x / root),
        ]
    return entries


class KernelSpace(Space):
    """Kernel problems: w is a vector of coefficients of the rows.

    A score is computed as f_i Σ_j K_ij (f_j w_j) with factors f = y, divided by √K_jj for a
    normalised kernel and by the radius for unit rows. In the ordinary range of `_ordinary` no
    kernel value or factor is near the ends of the doubles, and each of the n products f_j w_j and
    K_ij (f_j w_j) and their sum's product with f_i loses at most η/2 by underflow. The first are
    multiplied by f_i K_ij = G_ij/f_j ≤ top/f_j (nothing is lost if the factors are ±1), the second
    by f_i: altogether less than n η (top/min f + max f + 1). Outside of that range all bounds are
    infinite, and what is asked is computed exactly or remains undecided.
    """

    def __init__(self, problem: KernelProblem) -> None:
        super().__init__(problem)
        error = _value_error(problem)
        factors = np.abs(problem._signed_scales())
        low, high = float(factors.min()), float(factors.max())
        if not _ordinary(problem, low, high):
            self.radius = self._entry = self._under = self.tiny = self.lost = math.inf
            return
        top = self.radius**2
        if problem.kernel.name == "precomputed":  # it may be no Gram matrix at all
            top = max(top, float(np.abs(problem.X).max()) * high**2 * SAFETY)
        # |fl(G_ij) − G_ij|, and of a sum of n such products, relative to the largest G_ii.
        value = 2 * error * top  # twice: in the scale as well
        self._entry = ((self.n + 8) * ROUNDOFF * top + value) * SAFETY
        plain = low == high == 1
        self._under = (self.n + 8) * (high + (0 if plain else top / low) + 1) * ETA + TINY
        # A vector whose entries are all η has at most this norm.
        self.tiny = self.lost = 4 * self.n * self.radius * ETA + TINY

    def size(self, v: Floats) -> float:
        sums = float(np.abs(v).sum())
        return self.radius * sums * (1 + self.n * ROUNDOFF) * SAFETY + self.tiny

    def norm(self, v: Floats, error: float = 0.0) -> Number:
        if not v.any():
            return ball(0.0, error)
        return sqrt(self.inner(v, v)) + ball(0.0, error)

    def inner(self, u: Floats, v: Floats) -> Number:
        left, right = float(np.abs(u).sum()), float(np.abs(v).sum())
        error = 2 * _product(self._entry, left, right) + _product(self._under, left, 1.0)
        return ball(self.problem.inner(u, v), error * SAFETY + TINY)

    def score_error(self, w: Floats) -> float:
        sums = float(np.abs(w).sum())
        if not sums < HUGE:  # ordinary kernels are below 2⁴⁵⁰
            return math.inf
        return _product(self._entry, sums, SAFETY) + self._under

    def exact_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        gram, support = self.gram(), np.flatnonzero(w).tolist()
        values = {j: arb(float(w[j])) for j in support}
        return [total(gram[int(i), j] * values[j] for j in support) for i in rows]

    def exact_inner(self, u: Floats, v: Floats) -> Number:
        rows = np.flatnonzero(u)
        scores = self.exact_scores(v, rows)
        return total(arb(float(u[i])) * s for i, s in zip(rows, scores, strict=True))

    def exact_combination(self, q: list[Number]) -> Any:
        return arb_mat(self.n, 1, list(q))

    def _gram(self) -> Any:
        problem = self.problem
        assert isinstance(problem, KernelProblem)
        if self.n > 2000:
            raise TooLarge(f"{self.n:,} rows are too many for an exact Gram matrix")
        rows = np.arange(self.n)
        if has_exact_kernel(problem):
            integers, unit = exact_rows(problem.raw()).gram(rows)
            matrix = arb_mat(integers) * number(unit)
        else:
            everything = rows.tolist()
            matrix = arb_mat(kernel_balls(problem.raw(), everything, everything))
        return matrix * (self.unit_factor * self.unit_factor)

    @cached_property
    def _radius_squared(self) -> Any:
        problem = self.problem
        assert isinstance(problem, KernelProblem)
        if not has_exact_kernel(problem):
            return 1  # RBF and normalised kernels have K(x, x) = 1
        return exact_rows(problem.raw()).radius_squared()


def _ordinary(problem: KernelProblem, low: float, high: float) -> bool:
    """Whether kernel values and factors are so far from the ends of the doubles that the relative
    error of `_value_error` holds.

    Values and the squares of factors lie between 2⁻⁹⁰⁰ and 2⁹⁰⁰ (of the values, the largest, and
    where each is divided by its own √K_ii also the smallest). A polynomial of t = γ⟨x, z⟩ + c has
    that error only if what underflow takes from γ⟨x, z⟩, at most γdη, is nothing beside t, as it
    is beside √(t_ii t_jj); the squared norms behind a Gaussian kernel must not overflow, and what
    underflow takes from γ‖x − z‖², at most 4γdη < 4d·2⁻⁵⁰, is within its error.
    """
    kernel, points = problem.kernel, problem.points
    diagonal = kernel.diagonal(points)
    largest, smallest = float(diagonal.max()), float(diagonal.min())
    least = smallest if problem.normalised else largest
    if not (least >= 1 / LARGE and largest <= LARGE and low**2 >= 1 / LARGE and high**2 <= LARGE):
        return False
    if kernel.name == "precomputed":
        return bool(np.abs(points.X).max() <= LARGE)
    if kernel.name == "rbf":
        with np.errstate(over="ignore"):
            return bool(points.squares().max() < HUGE)
    if kernel.name == "poly":
        t = math.log2(least) / kernel.degree
        gone = math.log2(kernel.gamma) + math.log2(points.shape[1]) - 1074
        return gone + 64 + math.log2(kernel.degree) < t
    return True


def _product(a: float, b: float, c: float) -> float:
    """Not below abc for numbers that are not negative: no step on the way underflows."""
    if not (a < math.inf and b < math.inf and c < math.inf):
        return math.inf
    parts = [math.frexp(one) for one in (a, b, c)]
    mantissa = parts[0][0] * parts[1][0] * parts[2][0] * SAFETY
    try:
        return math.ldexp(mantissa, sum(exponent for _, exponent in parts)) + ETA
    except OverflowError:
        return math.inf


def _value_error(problem: KernelProblem) -> float:
    """A bound on the error of a kernel value, relative to the largest K(x, x)."""
    kernel, d = problem.kernel, problem.X.shape[1]
    if kernel.name == "precomputed":
        error = ROUNDOFF  # integers beyond 2⁵³ are rounded
    elif kernel.name == "rbf":
        # The squared distance s has a relative error of at most (2d + 8)u/10⁻³ (what cancels more
        # is computed anew), and s·e^{−s} ≤ 1/e.
        error = 0.37e3 * (2 * d + 8) * ROUNDOFF + 4 * ROUNDOFF
    elif kernel.name in ("linear", "poly"):
        degree = kernel.degree if kernel.name == "poly" else 1
        error = (degree * (d + 10) + 4) * ROUNDOFF
    else:
        raise ProblemError("a kernel that is a Python function has no error bound")
    return 3 * error + 8 * ROUNDOFF if problem.normalised else error


def space_of(problem: Problem) -> Space:
    """The space of a problem."""
    return KernelSpace(problem) if isinstance(problem, KernelProblem) else LinearSpace(problem)
