"""Algorithms 2 to 7 and Winnow of Ramdas and Peña (2015): one rule each, for any type of number.

Vectors are NumPy arrays of doubles, or of fractions or balls (dtype object). Loops are slow and
word for word: the Gram matrix G and the rows y_i x_i are explicit; fractions where the method is
rational (norms appear squared), balls of python-flint where it has exponentials. Where the minimum
is attained more than once, `pick(k, scores)` decides, by default for the first; `solved(k, scores)`
is the test for the exit, by default that all are positive. Shares no code with solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

Array = Any
Pick = Callable[[int, Array], int]
Solved = Callable[[int, Array], bool]


def array(values: Any) -> Array:
    """An array of exact numbers."""
    return np.array(values, dtype=object)


def square(G: Array, p: Array) -> Any:
    """‖p‖²_G."""
    return p @ (G @ p)


def corner(j: int, n: int) -> Array:
    """e_j."""
    return array([Fraction(int(i == j)) for i in range(n)])


def first_smallest(k: int, scores: Array) -> int:
    return list(scores).index(min(scores))


def positive(k: int, scores: Array) -> bool:
    return all(s > 0 for s in scores)


# Rules


def mixed(theta: Any, old: Array, new: Array) -> Array:
    """(1 − θ) old + θ new: every update but that of α in Algorithms 4 and 6."""
    return (1 - theta) * old + theta * new


def smoothed_alpha(theta: Any, alpha: Array, p: Array, answer: Array) -> Array:
    """α_{k+1} of Algorithms 4 and 6, where `answer` is p_{μ_k}(α_k)."""
    return (1 - theta) * (alpha + theta * p) + theta**2 * answer


def softmax(scores: Array, mu: Any) -> Array:
    """p_μ(α) of equation (11)."""
    weights = np.exp(-scores / mu)
    return weights / weights.sum()


def nearest_in_simplex(v: Array) -> Array:
    """The projection: p_i = max(v_i − τ, 0) with sum 1, found by trying every support size."""
    ordered = sorted(v, reverse=True)
    for size in range(1, len(v) + 1):
        tau = (sum(ordered[:size]) - 1) / Fraction(size)
        p = array([max(x - tau, Fraction(0)) for x in v])
        if p.sum() == 1:
            return p
    raise AssertionError("some size has sum 1")


def line_search(ww: Any, wa: Any, aa: Any) -> Any:
    """The λ in [0, 1] that minimises ‖(1 − λ) w + λ a‖; 0 if all do."""
    length = ww - 2 * wa + aa
    zero, one = 0 * length, 0 * length + 1
    return zero if length == 0 else max(zero, min(one, (ww - wa) / length))


# Loops


def _means(
    rows: Array, scores: Callable[[Array], Array], pick: Pick, solved: Solved
) -> Iterator[Array]:
    """Means of rows of smallest score."""
    w = 0 * rows[0]
    for k in count():
        yield w
        now = scores(w)
        if solved(k, now):
            return
        w = mixed(Fraction(1, k + 1), w, rows[pick(k, now)])


def normalized_perceptron(
    rows: Any, pick: Pick = first_smallest, solved: Solved = positive
) -> Iterator[Array]:
    """Algorithm 2."""
    A = array(rows)
    return _means(A, lambda w: A @ w, pick, solved)


def nkp(G: Any, pick: Pick = first_smallest, solved: Solved = positive) -> Iterator[Array]:
    """Algorithm 3."""
    G = array(G)
    return _means(array([corner(j, len(G)) for j in range(len(G))]), lambda a: G @ a, pick, solved)


def _smoothed(
    G: Array, alpha: Array, mu: Any, answer: Callable[[Array, Any], Array]
) -> Iterator[tuple[Array, Array, Any]]:
    """α_k, p_k and μ_k of Algorithms 4 and 6, without their exits."""
    p = answer(G @ alpha, mu)
    for k in count():
        yield alpha, p, mu
        theta = 2 * (alpha[0] * 0 + 1) / (k + 3)
        alpha = smoothed_alpha(theta, alpha, p, answer(G @ alpha, mu))
        mu = (1 - theta) * mu
        p = mixed(theta, p, answer(G @ alpha, mu))


def snkp(G: Any, one: Any) -> Iterator[tuple[Array, Array, Any]]:
    """Algorithm 4 without its exit: α_k, p_k and μ_k; `one` is 1 of the number system."""
    return _smoothed(array(G), array([one / len(G)] * len(G)), 2 * one, softmax)


def nvn(G: Any, epsilon: Fraction, pick: Pick = first_smallest, p: Any = None) -> Iterator[Array]:
    """Algorithm 5, from p_0 = 1/n or from a given p."""
    G, n = array(G), len(G)
    p = array([Fraction(1, n)] * n if p is None else p)
    for k in count():
        yield p
        if square(G, p) <= epsilon**2:
            return
        j = pick(k, G @ p)
        p = mixed(line_search(square(G, p), (G @ p)[j], G[j, j]), p, corner(j, n))


def snkpvn(
    G: Any, q: Any, delta_squared: Fraction
) -> Iterator[tuple[Array, Array, Any, str | None]]:
    """Algorithm 6: α_k, p_k, μ_k and how it ends at k, if it does."""
    G, q = array(G), array(q)

    def answer(scores: Array, mu: Any) -> Array:  # argmin ⟨Gα, p⟩ + (μ/2) ‖p − q‖²
        return nearest_in_simplex(q - scores / mu)

    for alpha, p, mu in _smoothed(G, q, Fraction(2 * len(G)), answer):
        small = "certificate" if square(G, p) < delta_squared else None
        outcome = "separated" if positive(0, G @ alpha) else small
        yield alpha, p, mu, outcome
        if outcome:
            return


def isnkpvn(
    G: Any, gamma: Fraction, epsilon: Fraction
) -> Iterator[tuple[int, Array, Array, str | None]]:
    """Algorithm 7: outer t, α_k, p_k, and how the call (not the algorithm) ends at k."""
    G, q = array(G), array([Fraction(1, len(G))] * len(G))
    for t in count():
        delta_squared = square(G, q) / gamma**2
        for alpha, p, _, outcome in snkpvn(G, q, delta_squared):
            yield t, alpha, p, outcome
            if outcome == "separated":
                return
        q = p
        if delta_squared < epsilon**2:
            return


def winnow(rows: Any, pick: Pick, rate: Any = None) -> Iterator[Array]:
    """Multiplicative weights on rows divided by their largest entry, in balls; without an exit."""
    A = array(rows)
    total, d = 0 * A[0], len(A[0])
    for t in count():
        eta = ((total[0] * 0 + d).log() / (t + 1)).sqrt() if rate is None else rate
        w = softmax(-eta * total, 1)
        yield w
        row = A[pick(t, A @ w)]
        largest = max((abs(v) for v in row), key=lambda v: float(v.mid()))
        if largest != 0:
            total = total + row / largest
