"""Small random problems in every geometry, with their rows and Gram matrix in fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb, fmpq
from hypothesis import strategies as st

from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    Problem,
    SparseProblem,
)

GEOMETRIES = ("dense", "sparse", "linear kernel", "polynomial kernel", "multiclass")
Array = Any


def ball(value: Any) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


#: Arrays of doubles, or fractions, as the fractions or in the balls that they are.
fractions = np.vectorize(Fraction, otypes=[object])
balls = np.vectorize(ball, otypes=[object])
floats = np.vectorize(float, otypes=[float])


@dataclass(frozen=True)
class Case:
    """A problem and what it is exactly.

    Its rows are `rows`/√`square`, in the geometry of `metric` (in a kernel's space rows are unit
    vectors and the metric is the Gram matrix). Where `square` is not 1, solvers meet numbers that
    are no fractions and cannot be exact.
    """

    problem: Problem
    rows: Array
    metric: Array | None = None
    square: Any = 1

    @property
    def exact(self) -> bool:
        return bool(self.square == 1)

    @property
    def gram(self) -> Array:
        return self.rows @ self.rows.T / self.square if self.metric is None else self.metric

    def balls(self) -> tuple[Array, Array | None]:
        """Rows and metric in balls."""
        rows = balls(self.rows) / ball(self.square).sqrt()
        return rows, None if self.metric is None else balls(self.metric)


def run(solver: Any, problem: Problem, steps: int = 8, rng: Any = None) -> list[Any]:
    return list(islice(solver.iterates(problem, rng), steps + 1))


def halt(iterates: list[Any]) -> str | None:
    """How it ended, if it did; only the last iterate may say so."""
    assert not any("halt" in it.extra for it in iterates[:-1])
    return iterates[-1].extra.get("halt")


def compare(iterates: list[Any], exact: Any, same: Callable[[Any, Any], None], steps: int) -> None:
    """As many iterates as the reference has, and the same ones."""
    wanted = list(islice(exact, len(iterates)))
    for k, (it, value) in enumerate(zip(iterates, wanted, strict=True)):
        assert it.t == k
        same(it, value)
    assert next(exact, None) is None if halt(iterates) else len(iterates) == steps + 1


def close(got: Any, wanted: Any, bound: Any) -> None:
    """Doubles are certainly within a bound of balls."""
    for a, b in zip(np.ravel(got), np.ravel(wanted), strict=True):
        assert abs(ball(a) - b) <= bound, (a, b)


@st.composite
def cases(
    draw: st.DrawFn,
    geometries: Sequence[str] = GEOMETRIES,
    max_n: int = 6,
    entry: int = 4,
    unit: bool = False,
) -> Case:
    """A problem with small integers; half of them have all rows on one side of a hyperplane or on
    it. With `unit` the integers are divided by 8: no row is longer than one, and their products are
    still doubles."""
    geometry = draw(st.sampled_from(geometries))
    several = geometry == "multiclass"
    n, d = draw(st.integers(1, 3 if several else max_n)), draw(st.integers(1, 2 if several else 3))
    values = st.lists(st.integers(-entry, entry), min_size=n * d, max_size=n * d)
    X = np.array(draw(values)).reshape(n, d)
    X = X / 8 if unit else X
    if several:
        k = draw(st.integers(2, 3))
        labels = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
        e = np.eye(k, dtype=int)
        pairs = [(x, c, j) for x, c in zip(X, labels, strict=True) for j in range(k) if j != c]
        rows = fractions([np.outer(x, e[c] - e[j]).ravel() for x, c, j in pairs])
        return Case(MulticlassProblem(X, labels, k), rows, None, 2)
    y = np.where(X @ np.array([7, 3, 1])[:d] >= 0, 1, -1)
    if draw(st.booleans()):
        y = np.array(draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n)))
    rows = fractions(X * y[:, None])
    if geometry == "dense":
        return Case(DenseProblem(X, y), rows)
    if geometry == "sparse":
        return Case(SparseProblem(scipy.sparse.csr_array(X), y), rows)
    if geometry == "unit":
        square = max((rows * rows).sum(axis=1)) or 1
        return Case(DenseProblem(X, y).unit(), rows, None, square)
    kernel, gram = Kernel("linear"), rows @ rows.T
    if geometry == "polynomial kernel":
        kernel = Kernel("poly", degree=2, gamma=1.0, coef0=0.25 if unit else 1.0)
        signs = fractions(np.outer(y, y))
        gram = signs * (signs * gram + Fraction(kernel.coef0)) ** 2
    return Case(KernelProblem(X, y, kernel), fractions(np.eye(n)), gram)
