"""Rules of Algorithms 2 to 7 of Ramdas and Peña (2015) for any type of number, and three loops.

Vectors are NumPy arrays of doubles, or of fractions or balls (dtype object). Step checks use the
rules; a witness is run again with the loops, literally: the Gram matrix G is explicit, numbers are
fractions where the method is rational (norms appear squared), and balls of python-flint where it
has exponentials. Where the minimum is attained more than once, `pick(k, scores)` decides, by
default for the first; `solved(k, scores)` is the test for the exit, by default that all are
positive. Shares no code with solvers.
"""

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


def nkp(G: Any, pick: Pick = first_smallest, solved: Solved = positive) -> Iterator[Array]:
    """Algorithm 3."""
    G = array(G)
    alpha = 0 * corner(0, len(G))
    for k in count():
        yield alpha
        scores = G @ alpha
        if solved(k, scores):
            return
        alpha = mixed(Fraction(1, k + 1), alpha, corner(pick(k, scores), len(G)))


def snkp(G: Any, one: Any) -> Iterator[tuple[Array, Array]]:
    """Algorithm 4 without its exit: α_k and p_k; `one` is 1 of the number system."""
    G, alpha, mu = array(G), array([one / len(G)] * len(G)), 2 * one
    p = softmax(G @ alpha, mu)
    for k in count():
        yield alpha, p
        theta = 2 * one / (k + 3)
        alpha = smoothed_alpha(theta, alpha, p, softmax(G @ alpha, mu))
        mu = (1 - theta) * mu
        p = mixed(theta, p, softmax(G @ alpha, mu))


def nvn(G: Any, epsilon: Fraction, pick: Pick = first_smallest) -> Iterator[Array]:
    """Algorithm 5."""
    G, n = array(G), len(G)
    p = array([Fraction(1, n)] * n)
    for k in count():
        yield p
        if square(G, p) <= epsilon**2:
            return
        j = pick(k, G @ p)
        p = mixed(line_search(square(G, p), (G @ p)[j], G[j, j]), p, corner(j, n))
