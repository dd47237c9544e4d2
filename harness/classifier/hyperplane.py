"""One hyperplane of largest margin: the oracle's, or what floating point finds without proof."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.candidate import LITTLE, Candidate
from gammabar.oracle.maximum_margin import candidate_for, prove, solve
from gammabar.oracle.result import Truth, root_ratio, signed_bounds
from gammabar.problems import DenseProblem, KernelProblem, Problem, SparseProblem

Array = NDArray[Any]


@dataclass(frozen=True)
class Hyperplane:
    """One hyperplane: f(x) = ⟨w, x⟩ + b, or Σ coef_i K(x_i, x) + b over the rows of `support`.

    `later` is a proof that will be written down when it is asked for: a `Pending`, or one of the
    pairs of `shared.Later`.
    """

    w: Array
    b: Any
    support: Array
    coef: Array
    margin: float
    gap: float
    separable: bool | None
    rounds: int
    truth: Truth | None
    later: Any = None


@dataclass(frozen=True)
class Pending:
    """A proof that is done, and is written down when somebody asks for it (see `shared.Later`)."""

    problem: Problem
    candidate: Candidate

    def truth(self) -> Truth:
        """The oracle's answer."""
        return prove(self.problem, self.candidate)


def proved(problem: Problem, candidate: Candidate | None, own: bool) -> Hyperplane:
    """The oracle's answer; a candidate spares it the search.

    If the problem is our `own`, so that nobody changes its data, and has small integers, the
    fractions are left for later.
    """
    if own and _quick(problem):
        from gammabar.oracle.proof import answer

        candidate = candidate or candidate_for(problem, "exact")
        found = answer(problem, candidate)
        if found is not None:
            signed, gap = found.weights * problem.y[found.rows], found.upper - found.lower
            later = Pending(problem, candidate)
            return Hyperplane(
                found.w, found.b, found.rows, signed, found.lower, gap, True, 1, None, later
            )
    truth = solve(problem) if candidate is None else prove(problem, candidate)
    signed = truth.q[truth.support] * problem.y[truth.support]
    low, high = signed_bounds(*truth.squares)
    if not truth.separable:
        return _part(problem, truth.support, signed, 0.0, high, truth.separable, truth)
    return _part(problem, truth.support, signed, low, high - low, True, truth)


def _quick(problem: Problem) -> bool:
    """Whether to try the proof in 64 bits: not if compiled code would be loaded for little data."""
    if not isinstance(problem, DenseProblem | SparseProblem):
        return False
    little = problem.n * problem.dimension <= LITTLE
    return not little or "gammabar.oracle._pairs" in sys.modules


def guessed(problem: Problem) -> Hyperplane:
    """What floating point finds, without proof."""
    found = candidate_for(problem, "exact")
    signed = found.weights * problem.y[found.support]
    return _part(problem, found.support, signed, math.nan, math.nan, None, None)


def _part(
    problem: Problem,
    support: Array,
    signed: Array,
    margin: float,
    gap: float,
    separable: bool | None,
    truth: Truth | None,
) -> Hyperplane:
    """The hyperplane of dual weights, with a normal of norm one."""
    if truth is not None and separable:
        w, b = truth.direction, truth.b
        stretch = root_ratio(Fraction(1), truth.square_hi)
    else:
        q = np.zeros(problem.n)
        q[support] = np.abs(signed)
        w = problem.combine(q)
        stretch = 1 / (problem.norm(w) or 1.0)
        w = w * stretch
        scores = problem.scores(w)
        positive = problem.y > 0
        b = (scores[~positive].min() - scores[positive].min()) / 2
        b = float(b) if problem.intercept == "free" else 0.0
        if truth is None:
            margin = float((scores + b * problem.y).min())
            separable = None if margin > 0 else False
    rounds = truth.rounds if truth else 1
    if isinstance(problem, KernelProblem):
        w = np.array([stretch])  # what the dual weights are to be multiplied by
    return Hyperplane(w, b, support, signed, margin, gap, separable, rounds, truth)


def depths(scores: Array, k: int) -> Array:
    """How far inside the region of each class a point is: its least distance of the k − 1 pairs.

    It is negative for a class that loses a pair: then it is how far the point is on the wrong side
    of the pair that it loses worst. A class that wins all its pairs has the largest depth, the one
    positive one; where pairs run in a circle, the class wins that is closest to winning all.
    (Counting votes leaves ties then, which LIBSVM gives to the first class.)
    """
    depth = np.full((len(scores), k), np.inf)
    for column, (a, b) in enumerate(combinations(range(k), 2)):
        np.minimum(depth[:, a], scores[:, column], out=depth[:, a])
        np.minimum(depth[:, b], -scores[:, column], out=depth[:, b])
    return depth
