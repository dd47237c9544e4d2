"""Small random problems in every geometry, with their rows and Gram matrix in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb, fmpq
from hypothesis import assume, strategies as st

from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    Problem,
    SparseProblem,
)

GEOMETRIES = ("dense", "sparse", "linear kernel", "polynomial kernel", "multiclass")


@dataclass(frozen=True)
class Case:
    """A problem and what it is exactly.

    The rows of the problem are `rows` / sqrt(`square`), in the geometry of `metric` (rows are
    unit vectors and the metric is the Gram matrix in a kernel's space). For multiclass problems
    `square` is 2, so its solvers meet numbers that are no fractions and cannot be exact.
    """

    problem: Problem
    rows: list[list[Fraction]]
    metric: list[list[Fraction]] | None
    square: int

    @property
    def exact(self) -> bool:
        return self.square == 1

    @property
    def unit(self) -> float:
        return math.sqrt(self.square)

    @property
    def gram(self) -> list[list[Fraction]]:
        """The Gram matrix of the problem, exactly."""
        if self.metric is not None:
            return self.metric
        return [
            [
                sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) / self.square
                for b in self.rows
            ]
            for a in self.rows
        ]

    @property
    def radius_squared(self) -> Fraction:
        gram = self.gram
        return max(gram[i][i] for i in range(len(gram)))

    def size(self, w: Any) -> float:
        """max_i sum_j |a_ij w_j|: what rounding errors of scores are relative to."""
        rows = self.metric if self.metric is not None else self.rows
        A = np.abs(np.array(rows, dtype=float)) / self.unit
        return float((A @ np.abs(w)).max())

    def balls(self) -> tuple[list[list[arb]], list[list[arb]] | None]:
        """Rows and metric in interval arithmetic."""
        unit = arb(self.square).sqrt()
        rows = [[ball(v) / unit for v in row] for row in self.rows]
        metric = None if self.metric is None else [[ball(v) for v in row] for row in self.metric]
        return rows, metric

    def same(self, w: Any, reference: Sequence[Fraction], tolerance: float = 1e-9) -> None:
        """w is the reference: to the last bit where that is possible."""
        wanted = np.array([float(v) for v in reference])
        if self.exact and tolerance == 0:
            np.testing.assert_array_equal(w, wanted)
        else:
            bound = max(tolerance, 1e-9) * (1 + np.abs(wanted).max())
            np.testing.assert_allclose(self.unit * w, wanted, rtol=0, atol=bound)


def ball(value: Any) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def dyadic(w: Any) -> list[Fraction]:
    """A float vector as what it is."""
    return [Fraction(float(v)) for v in w]


def followed(choices: Callable[[int], int], slack: float) -> Callable[[int, list[Fraction]], int]:
    """A `pick` that takes a solver's choices, each of which must be a minimiser.

    Up to `slack`, relative: 0 where the solver computes without rounding, and then its choice
    must moreover be the first minimiser.
    """

    def pick(k: int, values: list[Fraction]) -> int:
        i, least = choices(k), min(values)
        largest = max(abs(v) for v in values)
        assert values[i] - least <= Fraction(slack) * (1 + largest)
        if slack == 0:
            assert i == list(values).index(least)
        return i

    return pick


@st.composite
def cases(
    draw: st.DrawFn,
    geometries: Sequence[str] = GEOMETRIES,
    max_n: int = 6,
    max_d: int = 3,
    entry: int = 4,
    separable: bool = False,
    unit: bool = False,
) -> Case:
    """A problem with small integers.

    Half of them have all rows on one side of a hyperplane or on it; with `separable` all have, and
    none on it. With `unit` the integers are divided by 8: no row is longer than one, and their
    products are still doubles.
    """
    geometry = draw(st.sampled_from(geometries))
    if geometry == "multiclass":
        return draw(multiclass_cases(entry, unit))
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    X = draw(_matrices(n, d, entry, unit))
    side = [sum(v * c for v, c in zip(x, (7, 3, 1), strict=False)) for x in X]
    if separable:
        assume(all(side))
    if separable or draw(st.booleans()):
        y = [1 if v >= 0 else -1 for v in side]
    else:
        bits = draw(st.integers(0, 2**n - 1))
        y = [1 - 2 * (bits >> i & 1) for i in range(n)]
    signed = [[Fraction(s * v) for v in x] for x, s in zip(X, y, strict=True)]
    if geometry == "dense":
        return Case(DenseProblem(np.array(X), np.array(y)), signed, None, 1)
    if geometry == "sparse":
        problem = SparseProblem(scipy.sparse.csr_array(np.array(X)), np.array(y))
        return Case(problem, signed, None, 1)
    products = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in signed] for u in signed]
    kernel = Kernel("linear")
    if geometry == "polynomial kernel":
        kernel = Kernel("poly", degree=2, gamma=1.0, coef0=0.25 if unit else 1.0)
        constant = Fraction(kernel.coef0)
        products = [
            [s * t * (s * t * products[i][j] + constant) ** 2 for j, t in enumerate(y)]
            for i, s in enumerate(y)
        ]
    identity = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    metric = [[Fraction(v) for v in line] for line in products]
    return Case(KernelProblem(np.array(X), np.array(y), kernel), identity, metric, 1)


def _matrices(n: int, d: int, entry: int, unit: bool) -> st.SearchStrategy[list[list[float]]]:
    values = st.integers(-entry, entry)
    if unit:
        values = values.map(lambda v: v / 8)
    flat = st.lists(values, min_size=n * d, max_size=n * d)
    return flat.map(lambda v: [v[i * d : (i + 1) * d] for i in range(n)])


@st.composite
def multiclass_cases(draw: st.DrawFn, entry: int, unit: bool) -> Case:
    N, d, k = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(2, 3))
    X = draw(_matrices(N, d, entry, unit))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=N, max_size=N))
    rows = []
    for x, c in zip(X, labels, strict=True):
        for j in range(k):
            if j != c:
                U = [[Fraction(v) * ((m == c) - (m == j)) for m in range(k)] for v in x]
                rows.append([v for line in U for v in line])
    return Case(MulticlassProblem(np.array(X), np.array(labels), k), rows, None, 2)
