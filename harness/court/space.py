"""The space that a problem lives in: norms and scores of doubles, with proof.

Each quantity comes in two ways. *Fast*: one evaluation in doubles and a bound on its error, by the
standard analysis of inner products [1]_ (any order of summation, with or without fused
multiply-add). *Exact*: the doubles taken for the exact numbers they are, in balls of the current
precision. A `unit` view divides the rows by the exact largest norm, a square root of a rational.

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


class TooLarge(ProblemError):
    """A problem has too many rows for what was asked."""


class Space(ABC):
    """Norms and scores of a problem, fast with an error bound, and exact."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n, self.dimension = problem.n, problem.dimension
        self.radius = problem.radius * (1 + 8 * ROUNDOFF)
        self._cache: dict[Any, Any] = {}

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
    """Dense, sparse and multiclass problems: w has coordinates."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._dot = (self.dimension + 8) * ROUNDOFF * SAFETY
        if isinstance(problem, MulticlassProblem):  # two products of length d, and √2
            self._dot *= 2
        self._rows: dict[int, list[tuple[int, Number]]] = {}

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
        error = self._dot * self.size(u) * self.size(v) + TINY
        return ball(float(np.dot(u, v)), error * SAFETY)

    def score_error(self, w: Floats) -> float:
        return self._dot * self.radius * self.size(w) * SAFETY + TINY

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
    """Kernel problems: w is a vector of coefficients of the rows."""

    def __init__(self, problem: KernelProblem) -> None:
        super().__init__(problem)
        # |fl(G_ij) − G_ij|, and of a sum of n such products, relative to the largest G_ii.
        value = 2 * _value_error(problem) * self.radius**2  # twice: in the scale as well
        self._entry = ((self.n + 8) * ROUNDOFF * self.radius**2 + value) * SAFETY

    def size(self, v: Floats) -> float:
        return self.radius * float(np.abs(v).sum()) * (1 + self.n * ROUNDOFF) * SAFETY + TINY

    def norm(self, v: Floats, error: float = 0.0) -> Number:
        return sqrt(self.inner(v, v)) + ball(0.0, error)

    def inner(self, u: Floats, v: Floats) -> Number:
        sums = float(np.abs(u).sum()) * float(np.abs(v).sum())
        return ball(self.problem.inner(u, v), 2 * self._entry * sums * SAFETY + TINY)

    def score_error(self, w: Floats) -> float:
        return self._entry * float(np.abs(w).sum()) * SAFETY + TINY

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


def _value_error(problem: KernelProblem) -> float:
    """A bound on the error of a kernel value, relative to the largest K(x, x)."""
    kernel, d = problem.kernel, problem.X.shape[1]
    if kernel.name == "precomputed":
        error = 0.0
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
