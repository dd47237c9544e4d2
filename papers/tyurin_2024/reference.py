"""The five methods of Tyurin (2024), word for word and slowly.

Rows y_i a_i are explicit lists. The perceptrons work in fractions; the gradient methods in
python-flint's `arb`, whose results are intervals that contain the true values. `metric` is M in
⟨u, v⟩ = uᵀ M v, by default the identity: with rows e_i and M = G the same text runs in the span of
points of a kernel's space.

At a tie, or where it would need a choice, a perceptron asks: `wrong(t, values)` returns S_t and
`choose(t, values)` the index j. The default of the first is the paper's. Shares no code with the
solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

Vector = list[Any]
Rows = Sequence[Sequence[Any]]
Wrong = Callable[[int, list[Fraction]], list[int]]
Choose = Callable[[int, list[Fraction]], int]


def inner(u: Sequence[Any], v: Sequence[Any]) -> Any:
    total = u[0] * v[0]
    for x, y in zip(u[1:], v[1:], strict=True):
        total = total + x * y
    return total


def values(rows: Rows, theta: Vector, metric: Rows | None = None) -> list[Any]:
    """y_i a_i^T theta for all i."""
    if metric is not None:
        theta = [inner(line, theta) for line in metric]
    return [inner(row, theta) for row in rows]


def plus(theta: Vector, factor: Any, row: Sequence[Any]) -> Vector:
    return [x + factor * y for x, y in zip(theta, row, strict=True)]


def nonpositive(t: int, scores: list[Fraction]) -> list[int]:
    """S_t := {i : y_i a_i^T theta_t <= 0}."""
    return [i for i, s in enumerate(scores) if s <= 0]


def batch_perceptron(
    rows: Rows, metric: Rows | None = None, wrong: Wrong = nonpositive
) -> Iterator[Vector]:
    n, d = len(rows), len(rows[0])
    theta = [Fraction(0)] * d
    yield theta
    # Take the first step theta_1 = theta_0 + 1/(2n) sum_{i=1}^n y_i a_i.
    for i in range(n):
        theta = plus(theta, Fraction(1, 2 * n), rows[i])
    t = 1
    while True:
        yield theta
        S = wrong(t, values(rows, theta, metric))
        if len(S) == 0:
            return
        for i in S:
            theta = plus(theta, Fraction(1, n), rows[i])
        t += 1


def normalized_batch_perceptron(
    rows: Rows, metric: Rows | None = None, wrong: Wrong = nonpositive
) -> Iterator[Vector]:
    theta = [Fraction(0)] * len(rows[0])
    t = 0
    while True:
        yield theta
        S = wrong(t, values(rows, theta, metric))
        if len(S) == 0:
            return
        for i in S:
            theta = plus(theta, Fraction(1, len(S)), rows[i])
        t += 1


def perceptron(
    rows: Rows, choose: Choose, metric: Rows | None = None, wrong: Wrong = nonpositive
) -> Iterator[Vector]:
    theta = [Fraction(0)] * len(rows[0])
    t = 0
    while True:
        yield theta
        scores = values(rows, theta, metric)
        S = wrong(t, scores)
        if len(S) == 0:
            return
        j = choose(t, scores)
        assert j in S
        theta = plus(theta, 1, rows[j])
        t += 1


def sigmas(rows: Rows, theta: Vector, metric: Rows | None = None) -> list[Any]:
    """(1 + exp(y_i a_i^T theta))^{-1} for all i, in arb."""
    return [1 / (1 + s.exp()) for s in values(rows, theta, metric)]


def gradient(rows: Rows, theta: Vector, metric: Rows | None = None) -> Vector:
    """Equation (3)."""
    total = [x * 0 for x in theta]
    for sigma, row in zip(sigmas(rows, theta, metric), rows, strict=True):
        total = plus(total, sigma, row)
    return [-x / len(rows) for x in total]


def beta(rows: Rows, theta: Vector, metric: Rows | None = None) -> Any:
    """beta_t of Section 6."""
    sigma = sigmas(rows, theta, metric)
    return 1 / (sum(sigma[1:], sigma[0]) / len(rows))


def lr_gd_step(rows: Rows, theta: Vector, step: Any, metric: Rows | None = None) -> Vector:
    return plus(theta, -step, gradient(rows, theta, metric))


def normalized_lr_gd_step(
    rows: Rows, theta: Vector, step: Any, metric: Rows | None = None
) -> Vector:
    return plus(theta, -step * beta(rows, theta, metric), gradient(rows, theta, metric))
