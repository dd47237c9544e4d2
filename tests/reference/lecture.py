"""The algorithms of the lecture on SGD, boosting and kernels, literally and slowly.

Vectors are lists, matrices lists of rows, and numbers anything with arithmetic: fractions where an
algorithm is rational, `flint.arb` balls where it is not. Shares no code with the solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import inf
from typing import Any

Vector = list[Any]
Matrix = Sequence[Sequence[Any]]


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(u, v, strict=True)), 0 * u[0])


def axpy(c: Any, u: Sequence[Any], v: Sequence[Any]) -> Vector:
    """c u + v."""
    return [c * a + b for a, b in zip(u, v, strict=True)]


# Section 1: gradient descent


def quadratic_gradient(A: Matrix, b: Vector) -> Callable[[Vector], Vector]:
    """∇(½ xᵀAx − bᵀx) = Ax − b."""
    return lambda x: [dot(row, x) - c for row, c in zip(A, b, strict=True)]


def logistic_gradient(rows: Matrix, strength: Any) -> Callable[[Vector], Vector]:
    """Gradient of (1/n) Σ log(1 + exp(−⟨a_i, w⟩)) + (strength/2) ‖w‖², in balls."""

    def gradient(w: Vector) -> Vector:
        total = [strength * v for v in w]
        for row in rows:
            total = axpy(-1 / ((1 + dot(row, w).exp()) * len(rows)), row, total)
        return total

    return gradient


def descend(gradient: Callable[[Vector], Vector], w: Vector, beta: Any, lam: Any) -> Iterator:
    """Theorem 1: w_{t+1} = w_t − η ∇f(w_t) with η = 2/(β + λ)."""
    eta = 2 / (beta + lam)
    while True:
        yield w
        w = axpy(-eta, gradient(w), w)


def accelerate(gradient: Callable[[Vector], Vector], w: Vector, beta: Any, lam: Any) -> Iterator:
    """Nesterov 2004, (2.2.11), in balls; as Bubeck 2015, Section 3.7.1, writes it: y_t, x_t."""
    root = (beta / lam).sqrt()
    share = (root - 1) / (root + 1)
    y, x = w, w
    while True:
        yield y, x
        y_next = axpy(-1 / beta, gradient(x), x)
        x = axpy(1 + share, y_next, [-share * v for v in y])
        y = y_next


# Section 2: stochastic gradient descent


def hinge(rows: Matrix, w: Vector) -> Fraction:
    return Fraction(sum(max(Fraction(0), 1 - dot(row, w)) for row in rows)) / len(rows)


def hinge_term(row: Vector, w: Vector) -> Vector:
    return [-v for v in row] if dot(row, w) < 1 else [0 * v for v in row]


def logistic_term(row: Vector, w: Vector) -> Vector:
    return [-v / (1 + dot(row, w).exp()) for v in row]


def sgd(
    term: Callable[[Vector, Vector], Vector],
    rows: Matrix,
    w: Vector,
    eta: Any,
    path: Sequence[int],
) -> Iterator[tuple[Vector, Vector]]:
    """Algorithm 1: w_1, …, w_{m+1} for a path of m indices, each with (1/T) Σ_{t ≤ T} w_t."""
    iterates = [w]
    for i in path:
        iterates.append(axpy(-eta, term(list(rows[i]), iterates[-1]), iterates[-1]))
    for T in range(1, len(iterates) + 1):
        yield iterates[T - 1], [sum(column) / T for column in zip(*iterates[:T], strict=True)]


# Section 4: AdaBoost, in fractions: only α_t is irrational, and exp(2 α_t) = (1 − ε_t)/ε_t is not


def stump(j: int, threshold: Any, sign: int, X: Matrix) -> list[int]:
    return [sign if row[j] > threshold else -sign for row in X]


def all_stumps(X: Matrix) -> Iterator[tuple[int, Any, int]]:
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
    z = sum(unnormalised)
    return [w / z for w in unnormalised]


def vote_is_right(ratios: Sequence[Fraction], agrees: Sequence[int]) -> bool:
    """Whether y H(x) = Σ_s α_s y h_s(x) > 0, that is Π_s r_s^{y h_s(x)} > 1, r_s = e^{2 α_s}."""
    product = Fraction(1)
    for r, a in zip(ratios, agrees, strict=True):
        product *= r**a
    return product > 1


# Section 5: kernels


def solve(matrix: Matrix, right: Vector) -> Vector:
    """Gauss–Jordan elimination in fractions."""
    m = [[Fraction(v) for v in (*row, b)] for row, b in zip(matrix, right, strict=True)]
    for k in range(len(m)):
        pivot = next(i for i in range(k, len(m)) if m[i][k] != 0)
        m[k], m[pivot] = m[pivot], m[k]
        m[k] = [v / m[k][k] for v in m[k]]
        for i in range(len(m)):
            if i != k:
                m[i] = axpy(-m[i][k], m[k], m[i])
    return [row[-1] for row in m]


def transpose(M: Matrix) -> list[Vector]:
    return [list(column) for column in zip(*M, strict=True)]


def plus_identity(M: Matrix, lam: Fraction) -> list[Vector]:
    return [[v + lam * (i == j) for j, v in enumerate(row)] for i, row in enumerate(M)]


def ridge_primal(Phi: Matrix, y: Vector, lam: Fraction) -> Vector:
    """w* = (ΦᵀΦ + λI)⁻¹ Φᵀy."""
    columns = transpose(Phi)
    normal = [[dot(u, v) for v in columns] for u in columns]
    return solve(plus_identity(normal, lam), [dot(column, y) for column in columns])


def ridge_dual(K: Matrix, y: Vector, lam: Fraction) -> Vector:
    """α = (K + λI)⁻¹ y."""
    return solve(plus_identity(K, lam), y)


def common_characters(first: str, second: str) -> int:
    """|{all characters which appear at least once in both}|, asking each pair of places."""
    seen: list[str] = []
    for a in first:
        for b in second:
            if a == b and a not in seen:
                seen.append(a)
    return len(seen)


def determinant(M: Matrix) -> Fraction:
    """By the formula of Leibniz."""
    total = Fraction(0)
    for order in permutations(range(len(M))):
        inversions = sum(a > b for a, b in combinations(order, 2))
        term = Fraction((-1) ** inversions)
        for i, j in enumerate(order):
            term *= Fraction(M[i][j])
        total += term
    return total


def is_semidefinite(K: Matrix) -> bool:
    """Whether every principal minor of a symmetric matrix is at least zero."""
    n = len(K)
    return all(
        determinant([[K[i][j] for j in subset] for i in subset]) >= 0
        for size in range(1, n + 1)
        for subset in combinations(range(n), size)
    )
