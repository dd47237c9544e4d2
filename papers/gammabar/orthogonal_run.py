"""Algorithm 1 on the rows r e_1, e_2, …, e_n in doubles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count


def two_numbers(n: int, r: float) -> Iterator[tuple[int, float, float, float]]:
    """t, γ(w_t), ‖w_t‖ and the largest weight of q_t, for t = 1, 2, …

    All entries of w_t but the first are equal, so that two numbers are enough whatever n is.
    """
    first = other = g_first = g_other = 0.0
    for t in count():
        scores = r * first, other
        low = min(scores)
        weights = math.exp(low - scores[0]), math.exp(low - scores[1])
        total = weights[0] + (n - 1) * weights[1]
        if t:
            norm = math.hypot(first, math.sqrt(n - 1) * other)
            yield t, low / norm, norm, 1 / total
        pull, pulls = r * weights[0] / total, weights[1] / total
        beta = t / (t + 1)
        g_first, g_other = beta * (g_first + pull), beta * (g_other + pulls)
        first, other = first + g_first + pull, other + g_other + pulls
