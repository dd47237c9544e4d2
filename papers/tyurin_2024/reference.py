"""The five methods of Tyurin (2024): one rule each, for any type of number.

Every method moves θ by a combination of the rows, θ_{t+1} = θ_t + Σ_i c_i y_i a_i, where c depends
on t and on the scores s_i = y_i a_iᵀθ_t alone. Scores are a NumPy array of doubles, or of fractions
or balls (dtype object); `times` says how often each row is in the data. Shares no code with the
solvers.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

Array = Any
#: (t, scores) → c.
Rule = Callable[[int, Array], Array]


def array(values: Any) -> Array:
    """An array of exact numbers."""
    return np.array(values, dtype=object)


def sigma(s: Array) -> Array:
    """(1 + exp(s_i))^{-1} for all i."""
    return 1 / (1 + np.exp(s))


def lr_gd(t: int, s: Array, step: Any, times: Any = 1, sigma: Any = sigma) -> Array:
    """(LR+GD) with the gradient (3)."""
    return step * (times * sigma(s)) / _count(s, times)


def normalized_lr_gd(t: int, s: Array, step: Any, times: Any = 1, sigma: Any = sigma) -> Array:
    """(Normalized LR+GD): the gradient times beta_t = n / sum_i sigma_i."""
    weights = times * sigma(s)
    return step * weights / weights.sum(axis=0)


def batch_perceptron(t: int, s: Array, times: Any = 1) -> Array:
    """theta_1 = 1/(2n) sum_i y_i a_i, then 1/n of every row of S_t = {i : s_i <= 0}."""
    return times * (mistakes(s) if t else (0 * s + 1) / 2) / _count(s, times)


def normalized_batch_perceptron(t: int, s: Array, times: Any = 1) -> Array:
    """The mean of the rows of S_t."""
    wrong = times * mistakes(s)
    return wrong / max(wrong.sum(), 1)


def perceptron(t: int, s: Array) -> Array:
    """The first row of S_t."""
    first = np.arange(len(s)) == np.argmax(s <= 0)
    return first * mistakes(s)


def mistakes(s: Array) -> Array:
    """1 for the rows of S_t and 0 for the others, in the type of the scores."""
    return 0 * s + (s <= 0)


def _count(s: Array, times: Any) -> Any:
    """n."""
    return np.broadcast_to(times, s.shape).sum(axis=0)


def iterates(rule: Rule, A: Array) -> Iterator[Array]:
    """theta_0 = 0, theta_1, …; perceptrons end where S_t is empty."""
    theta = 0 * A[0]
    for t in count():
        yield theta
        c = rule(t, A @ theta)
        if all(v == 0 for v in c):
            return
        theta = theta + c @ A
