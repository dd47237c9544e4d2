"""Algorithms 2 to 7 and Winnow of Ramdas and Peña (2015), word for word and slowly.

The Gram matrix G is an explicit matrix, the rows y_i x_i are explicit lists. Fractions where the
method is rational (norms appear squared); where it has exponentials python-flint's `arb`, which
returns intervals that contain the true values. Where the minimum is attained more than once,
`pick(k, values)` decides, by default for the first; `solved(k, values)`, by default that all are
positive, is the test for the exit. Shares no code with solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

Vector = list[Any]
Matrix = Sequence[Sequence[Any]]
Pick = Callable[[int, list[Any]], int]
Solved = Callable[[int, list[Any]], bool]


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    total = u[0] * v[0]
    for x, y in zip(u[1:], v[1:], strict=True):
        total = total + x * y
    return total


def times(G: Matrix, v: Sequence[Any]) -> Vector:
    return [dot(line, v) for line in G]


def gram(rows: Matrix) -> list[Vector]:
    return [[dot(a, b) for b in rows] for a in rows]


def add(*terms: tuple[Any, Sequence[Any]]) -> Vector:
    """The linear combination."""
    return [sum(c * v[i] for c, v in terms) for i in range(len(terms[0][1]))]


def first_smallest(k: int, values: list[Any]) -> int:
    return values.index(min(values))


def positive(k: int, values: list[Any]) -> bool:
    return all(v > 0 for v in values)


def unit_vector(j: int, n: int) -> Vector:
    return [Fraction(int(i == j)) for i in range(n)]


def normalized_perceptron(
    rows: Matrix, pick: Pick = first_smallest, solved: Solved = positive
) -> Iterator[Vector]:
    """Algorithm 2."""
    w = [Fraction(0)] * len(rows[0])
    k = 0
    while True:
        yield w
        scores = times(rows, w)
        if solved(k, scores):
            return
        theta = Fraction(1, k + 1)
        w = add((1 - theta, w), (theta, rows[pick(k, scores)]))
        k += 1


def nkp(G: Matrix, pick: Pick = first_smallest, solved: Solved = positive) -> Iterator[Vector]:
    """Algorithm 3."""
    n = len(G)
    alpha = [Fraction(0)] * n
    k = 0
    while True:
        yield alpha
        scores = times(G, alpha)
        if solved(k, scores):
            return
        theta = Fraction(1, k + 1)
        alpha = add((1 - theta, alpha), (theta, unit_vector(pick(k, scores), n)))
        k += 1


def softmax(G: Matrix, alpha: Vector, mu: Any) -> Vector:
    """p_mu(alpha) of equation (11), in arb."""
    e = [(-s / mu).exp() for s in times(G, alpha)]
    total = sum(e[1:], e[0])
    return [v / total for v in e]


def snkp_alpha(G: Matrix, k: int, alpha: Vector, p: Vector, mu: Any) -> Vector:
    """alpha_{k+1} of Algorithm 4."""
    theta = Fraction(2, k + 3)
    a, b, c = (_like(mu, v) for v in (1 - theta, (1 - theta) * theta, theta**2))
    return add((a, alpha), (b, p), (c, softmax(G, alpha, mu)))


def snkp_p(G: Matrix, k: int, p: Vector, alpha_next: Vector, mu_next: Any) -> Vector:
    """p_{k+1} of Algorithm 4."""
    theta = Fraction(2, k + 3)
    a, b = _like(mu_next, 1 - theta), _like(mu_next, theta)
    return add((a, p), (b, softmax(G, alpha_next, mu_next)))


def snkp(G: Matrix, one: Any) -> Iterator[tuple[Vector, Vector, Any]]:
    """Algorithm 4 from the start, without its exit; `one` is 1 of the number system."""
    n = len(G)
    alpha, mu = [one / n] * n, 2 * one
    p = softmax(G, alpha, mu)
    k = 0
    while True:
        yield alpha, p, mu
        alpha = snkp_alpha(G, k, alpha, p, mu)
        mu = _like(one, 1 - Fraction(2, k + 3)) * mu
        p = snkp_p(G, k, p, alpha, mu)
        k += 1


def _like(number: Any, q: Fraction) -> Any:
    """The rational q in the number system of `number`."""
    return (number * 0 + q.numerator) / q.denominator


def nvn_theta(G: Matrix, p: Vector, j: int) -> Fraction:
    """The lambda in [0, 1] that minimises ||(1 - lambda) w + lambda a_j||; 0 if all do."""
    direction = add((Fraction(1), unit_vector(j, len(G))), (Fraction(-1), p))
    quadratic, linear = dot(direction, times(G, direction)), dot(p, times(G, direction))
    # ||w||^2 + 2 lambda linear + lambda^2 quadratic
    if quadratic == 0:
        return Fraction(0)
    return max(Fraction(0), min(Fraction(1), -linear / quadratic))


def nvn(
    G: Matrix, epsilon: Fraction, pick: Pick = first_smallest, p: Vector | None = None
) -> Iterator[Vector]:
    """Algorithm 5, from p_0 = 1/n or from a given p."""
    n = len(G)
    p = [Fraction(1, n)] * n if p is None else p
    k = 0
    while True:
        yield p
        if dot(p, times(G, p)) <= epsilon**2:
            return
        j = pick(k, times(G, p))
        theta = nvn_theta(G, p, j)
        p = add((1 - theta, p), (theta, unit_vector(j, n)))
        k += 1


def nearest_in_simplex(v: Vector) -> Vector:
    """The projection: p_i = max(v_i - tau, 0) with sum 1, found by trying every support size."""
    ordered = sorted(v, reverse=True)
    for size in range(1, len(v) + 1):
        tau = (sum(ordered[:size]) - 1) / size
        p = [max(x - tau, Fraction(0)) for x in v]
        if sum(p) == 1:
            return p
    raise AssertionError("some size has sum 1")


def snkpvn(
    G: Matrix, q: Vector, delta_squared: Fraction
) -> Iterator[tuple[Vector, Vector, Fraction, str | None]]:
    """Algorithm 6: alpha_k, p_k, mu_k and how it ends at k, if it does."""
    n = len(G)

    def smoothed(alpha: Vector, mu: Fraction) -> Vector:
        # argmin <G alpha, p> + (mu/2) ||p - q||^2
        return nearest_in_simplex(add((Fraction(1), q), (-1 / mu, times(G, alpha))))

    alpha, mu = q, Fraction(2 * n)
    p = smoothed(alpha, mu)
    k = 0
    while True:
        if all(s > 0 for s in times(G, alpha)):
            yield alpha, p, mu, "separated"
            return
        if dot(p, times(G, p)) < delta_squared:
            yield alpha, p, mu, "certificate"
            return
        yield alpha, p, mu, None
        theta = Fraction(2, k + 3)
        new = add(
            (1 - theta, add((Fraction(1), alpha), (theta, p))), (theta**2, smoothed(alpha, mu))
        )
        alpha, mu = new, (1 - theta) * mu
        p = add((1 - theta, p), (theta, smoothed(alpha, mu)))
        k += 1


def isnkpvn(
    G: Matrix, gamma: Fraction, epsilon: Fraction
) -> Iterator[tuple[int, Vector, Vector, str | None]]:
    """Algorithm 7: outer t, alpha_k, p_k, and how the call (not the algorithm) ends at k."""
    n = len(G)
    q = [Fraction(1, n)] * n
    t = 0
    while True:
        delta_squared = dot(q, times(G, q)) / gamma**2
        for alpha, p, _, outcome in snkpvn(G, q, delta_squared):
            yield t, alpha, p, outcome
            if outcome == "separated":
                return
        q = p
        if delta_squared < epsilon**2:
            return
        t += 1


def winnow(rows: Matrix, pick: Pick, rate: Any = None) -> Iterator[Vector]:
    """Multiplicative weights on rows divided by their largest entry, in arb; without an exit."""
    d = len(rows[0])
    zero = rows[0][0] * 0
    total = [zero] * d
    t = 0
    while True:
        eta = ((zero + d).log() / (t + 1)).sqrt() if rate is None else rate
        e = [(eta * g).exp() for g in total]
        w = [v / sum(e[1:], e[0]) for v in e]
        yield w
        row = rows[pick(t, times(rows, w))]
        largest = max((abs(v) for v in row), key=lambda v: float(v.mid()))
        if largest != 0:
            total = add((1, total), (1 / largest, row))
        t += 1
