"""What passes over dense and sparse rows have in common: weights, and stripes put together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gammabar.problems.compiled.jit import in_order
from gammabar.problems.problem import Array, Floats


class Asked(NamedTuple):
    """What a pass is asked: scores are outer y_i <x_i, inner w>, weights exp(-score / temperature).

    A stripe gets inner w instead of w.
    """

    w: Floats
    inner: float
    outer: float
    temperature: float


class Answer(NamedTuple):
    """Where the answer goes, beside the two numbers that are returned."""

    scores: Floats
    pull: Floats


class Found(NamedTuple):
    """What the stripes find.

    Attributes
    ----------
    scores : array of length n
        Each stripe writes its part.
    pulls : array with a row for each stripe
        Sum of the weighted rows of the stripe, relative to the smallest score in it. The rows
        are wider than w: two pulls on one cache line would travel between processors.
    sums : array with two columns and a row for each stripe
        The smallest score of the stripe, and the sum of its weights.
    """

    scores: Floats
    pulls: Floats
    sums: Floats


def found_for(n: int, d: int, stripes: int) -> Found:
    """Room for what so many stripes find."""
    return Found(np.empty(n), np.empty((stripes, d + 16)), np.empty((stripes, 2)))


@in_order
def weight_of(score: float, least: float, temperature: float) -> float:
    """exp((least - score) / temperature), also where the difference is no double."""
    gap = least - score
    if gap == -np.inf and np.isfinite(least) and np.isfinite(score):
        return np.exp(2 * ((0.5 * least - 0.5 * score) / temperature))
    return np.exp(gap / temperature)


@in_order
def weigh(
    asked: Asked,
    y: Array,
    scores: Floats,
    lo: int,
    hi: int,
    running: tuple[float, float],
    pull: Floats,
    weights: Floats,
) -> tuple[tuple[float, float], bool]:
    """Weights of the rows lo, ..., hi - 1 in the pull; is any of them not zero?

    `running` is the smallest score so far and the sum of all weights relative to it; it is
    returned with these rows in it. Where they lower the minimum, what was summed is scaled down.
    """
    smallest, total = running
    least = smallest
    for i in range(lo, hi):
        least = min(least, scores[i])
    if least < smallest and total > 0:
        shrink = weight_of(smallest, least, asked.temperature)
        total *= shrink
        for j in range(len(pull)):
            pull[j] *= shrink
    some = False
    for i in range(lo, hi):
        weight = weight_of(scores[i], least, asked.temperature)
        total += weight
        some |= weight != 0  # also true of NaN
        weights[i - lo] = weight * asked.inner * y[i]
    return (least, total), some


@in_order
def put_together(found: Found, asked: Asked, answer: Answer) -> tuple[float, float]:
    """The smallest score and the log of the sum of all weights; fills scores and pull.

    Sums are taken in the order of the stripes, whoever did them.
    """
    sums, pulls, pull = found.sums, found.pulls, answer.pull
    smallest = sums[0, 0]
    for s in range(len(sums)):
        smallest = min(smallest, sums[s, 0])
    total = 0.0
    for j in range(len(pull)):
        pull[j] = 0.0
    for s in range(len(sums)):
        shrink = weight_of(sums[s, 0], smallest, asked.temperature)
        total += shrink * sums[s, 1]
        for j in range(len(pull)):
            pull[j] += shrink * pulls[s, j]
    for j in range(len(pull)):
        pull[j] = pull[j] / total * asked.outer
    for i in range(len(found.scores)):
        answer.scores[i] = found.scores[i]
    if np.isnan(total):  # a score that is NaN makes its weight NaN, and may be no minimum
        smallest = np.nan
    return smallest, np.log(total) - smallest / asked.temperature
