"""Combinations of the rows, carried along with their scores.

Methods that add one row, or one distribution over rows, per step need G alpha at every step. The
scores of a combination of known combinations are the combination of their scores, so each step
has to multiply only with what is new: one row of the Gram matrix, or one pass over it.

Sums that are carried for many steps gather rounding errors (none for integer data, as long as the
weights are whole numbers). So what a solver claims when it halts, it claims after `renewed`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gammabar.problems import Problem
from gammabar.problems.problem import Floats


class Combination(NamedTuple):
    """Σ_i weights_i a_i: ``w`` is the combination itself, and ``scores`` G weights = A w."""

    weights: Floats
    w: Floats
    scores: Floats

    def square(self) -> float:
        """weightsᵀ G weights. G is semidefinite: rounding may leave a little less than zero."""
        return max(0.0, float(np.dot(self.weights, self.scores)))

    def norm(self) -> float:
        return math.sqrt(self.square())

    def separates(self) -> bool:
        return bool((self.scores > 0).all())


def combination(problem: Problem, weights: Floats) -> Combination:
    """One pass over the Gram matrix."""
    w = problem.combine(weights)
    return Combination(weights, w, problem.scores(w))


def single_row(problem: Problem, i: int) -> Combination:
    """One row of the Gram matrix."""
    weights = np.zeros(problem.n)
    weights[i] = 1.0
    w = problem.row(i)
    return Combination(weights, w, problem.scores(w))


def nothing(problem: Problem) -> Combination:
    return Combination(np.zeros(problem.n), problem.origin(), np.zeros(problem.n))


def mix(*terms: tuple[float, Combination]) -> Combination:
    (factor, first), *others = terms
    weights, w, scores = (factor * part for part in first)
    for factor, term in others:
        weights = weights + factor * term.weights
        w = w + factor * term.w
        scores = scores + factor * term.scores
    return Combination(weights, w, scores)


def renewed(problem: Problem, carried: Combination) -> Combination:
    """The same weights, with vector and scores computed afresh."""
    return combination(problem, carried.weights)
