"""The algorithms of the lecture on SGD, boosting and kernels, literally and slowly.

Vectors are NumPy arrays of anything with arithmetic: fractions where an algorithm is rational,
`flint.arb` balls where it is not. Shares no code with the solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

Array = Any
Gradient = Callable[[Array], Array]


# Sections 1 and 2: gradient descent


def logistic_gradient(rows: Array, strength: Any, metric: Array | None) -> Gradient:
    """Of (1/n) Σ log(1 + exp(−⟨a_i, w⟩)) + (strength/2) ‖w‖², with ⟨u, v⟩ = uᵀ metric v."""
    every = range(len(rows))
    return lambda w: (
        strength * w + sum(logistic_term(rows, i, w, metric) for i in every) / len(rows)
    )


def logistic_term(rows: Array, i: int, w: Array, metric: Array | None) -> Array:
    score = rows[i] @ (w if metric is None else metric @ w)
    return rows[i] * (-1 / (1 + score.exp()))


def descend(gradient: Gradient, w: Array, beta: Any, lam: Any) -> Iterator[Array]:
    """Theorem 1: w_{t+1} = w_t − η ∇f(w_t) with η = 2/(β + λ)."""
    while True:
        yield w
        w = w - gradient(w) * (2 / (beta + lam))


def accelerate(gradient: Gradient, w: Array, beta: Any, lam: Any) -> Iterator[tuple[Array, Array]]:
    """Nesterov 2004, (2.2.11), in balls; as Bubeck 2015, Section 3.7.1, writes it: y_t, x_t."""
    root = (beta / lam).sqrt()
    share = (root - 1) / (root + 1)
    y = x = w
    while True:
        yield y, x
        y_next = x - gradient(x) / beta
        x, y = (1 + share) * y_next - share * y, y_next


def sgd(term: Callable[[int, Array], Array], w: Array, eta: Any, path: Any) -> Iterator[Any]:
    """Algorithm 1: w_1, …, w_{m+1} for a path of m indices, each with (1/T) Σ_{t ≤ T} w_t."""
    iterates = [w]
    for i in path:
        iterates.append(iterates[-1] - eta * term(i, iterates[-1]))
    for T in range(1, len(iterates) + 1):
        yield iterates[T - 1], sum(iterates[:T]) / T


# Section 4: AdaBoost, in fractions: only α_t is irrational, and exp(2 α_t) = (1 − ε_t)/ε_t is not


def stump(j: int, threshold: Any, sign: int, X: Any) -> list[int]:
    return [sign if row[j] > threshold else -sign for row in X]


def all_stumps(X: Any) -> Iterator[tuple[int, Any, int]]:
    """Constants first, then columns and thresholds ascending."""
    yield from ((0, -inf, 1), (0, -inf, -1))
    for j in range(len(X[0])):
        for threshold in sorted({row[j] for row in X})[:-1]:
            yield from ((j, threshold, 1), (j, threshold, -1))


def mistakes(h: Sequence[int], y: Sequence[int], D: Sequence[Fraction]) -> Fraction:
    """ε = P_{x ∼ D}[h(x) ≠ y]."""
    return sum((w for a, b, w in zip(h, y, D, strict=True) if a != b), Fraction(0))


def reweigh(h: Sequence[int], y: Sequence[int], D: Sequence[Fraction]) -> list[Fraction]:
    """Line 6, squared and unsquared by hand.

    With r = e^{2α} = (1 − ε)/ε, D(i) e^{∓α} is √(1/r) D(i) or √r D(i), which is √r times D(i)/r or
    D(i); the factor √r cancels against the same one of z.
    """
    epsilon = mistakes(h, y, D)
    r = (1 - epsilon) / epsilon
    unnormalised = [w / r if a == b else w for a, b, w in zip(h, y, D, strict=True)]
    return [w / sum(unnormalised) for w in unnormalised]


# Section 5: kernels


def ridge(M: Array, right: Array, lam: Fraction) -> Array:
    """(M + λI)⁻¹ right, by FLINT."""
    from flint import fmpq, fmpq_mat

    shifted = M + lam * np.eye(len(M), dtype=int)
    exact = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in shifted])
    found = exact.solve(fmpq_mat([[fmpq(v.numerator, v.denominator)] for v in right]))
    return np.array([Fraction(int(v.p), int(v.q)) for v in found.entries()])
