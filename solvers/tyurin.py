"""The five methods of Tyurin (2024).

Rows are a_i here and y_i a_i in the paper, θ is w, and the step size γ is called ``step``. Every
method starts at w_0 = 0. With S_t = {i : ⟨a_i, w_t⟩ ≤ 0}, the misclassified rows,

    LR+GD                          w_{t+1} = w_t + γ (1/n) Σ_i σ_i a_i
    Normalized LR+GD               w_{t+1} = w_t + γ β_t (1/n) Σ_i σ_i a_i
    Batch Perceptron               w_{t+1} = w_t + (1/n) Σ_{i ∈ S_t} a_i,  w_1 = (1/2n) Σ_i a_i
    Perceptron                     w_{t+1} = w_t + a_j for some j ∈ S_t
    Normalized Batch Perceptron    w_{t+1} = w_t + (1/|S_t|) Σ_{i ∈ S_t} a_i

with σ_i = 1/(1 + exp⟨a_i, w_t⟩) and β_t = 1 / ((1/n) Σ_i σ_i).

The gradient methods go on for ever. The perceptrons run "while |S_t| ≠ 0": the iterate at which
S_t is empty has ``extra["halt"] == "separated"`` and is the last one. On data that are not
separable they never end.

References
----------
.. [1] A. Tyurin, From logistic regression to the perceptron algorithm: exploring gradient descent
   with large step sizes (2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

import numpy as np
from scipy.special import log_expit

from gammabar.problems import Problem
from gammabar.problems.problem import Array, Floats, soften
from gammabar.solvers.base import Iterate, Rng, declare, scored
from gammabar.solvers.combinations import mix, nothing, renewed, single_row

CHOICES = ("first", "cyclic", "random", "worst")


@declare("lr-gd", "Tyurin 2024, (LR+GD)", positive=("step",))
class LogisticRegressionGD:
    """LR+GD: gradient descent on f(w) = (1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)).

    For γ → ∞ the iterates w_t/γ become those of `BatchPerceptron` (Theorem 3.2). Steps of any size
    are safe: exponentials are taken of negative numbers only. ``extra["gradient"]`` is ∇f(w_t) and
    ``dual`` has the σ_i / Σ_j σ_j.
    """

    step: float = 1.0

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            q, log_mean = _logistic_weights(scores)
            gradient = -math.exp(log_mean) * problem.combine(q)
            yield scored(t, w, problem, scores, dual=q, gradient=gradient)
            w = w - self.step * gradient


@declare("normalized-lr-gd", "Tyurin 2024, Section 6", positive=("step",))
class NormalizedLogisticRegressionGD:
    """Normalized LR+GD: the gradient of the logistic loss divided by the mean of the σ_i.

    β_t ∇f(w_t) = −Aᵀ q_t, where q_t ∝ σ_i is formed from the logarithms of the σ_i, which may
    underflow. Separates after at most R²/μ² + 2 log(2n − 1)/(γ μ²) iterations, for margin μ
    (Theorem 6.1). ``dual`` is q_t; ``extra`` has "pull" Aᵀ q_t and "log_beta" log β_t.
    """

    step: float = 1.0

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            q, log_mean = _logistic_weights(scores)
            pull, log_beta = problem.combine(q), -log_mean
            yield scored(t, w, problem, scores, dual=q, pull=pull, log_beta=log_beta)
            w = w + self.step * math.exp(log_beta + log_mean) * pull


@declare("batch-perceptron", "Tyurin 2024, Section 3", ends=("separated",))
class BatchPerceptron:
    """Batch Perceptron: the sum of all misclassified rows, over n.

    The first step takes half of every row, whatever it is classified as, and is iteration 1.
    Separates after at most n R²/μ² iterations (Theorem 3.3). The loop works on 2n w_t: for integer
    data without any rounding, so rows with score 0 are recognised as such.
    """

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        n = problem.n
        yield scored(0, problem.origin(), problem, np.zeros(n), misclassified=n)
        total = problem.combine(np.ones(n))  # 2n w_1
        for t in count(1):
            scores = problem.scores(total)
            wrong = _misclassified(scores)
            extra = {"misclassified": wrong.size} if wrong.size else {"halt": "separated"}
            yield scored(t, total / (2 * n), problem, scores / (2 * n), **extra)
            if not wrong.size:
                return
            total = total + 2 * problem.combine(_indicator(wrong, n))


@declare("normalized-batch-perceptron", "Tyurin 2024, Theorem 5.3", ends=("separated",))
class NormalizedBatchPerceptron:
    """Normalized Batch Perceptron: the mean of all misclassified rows.

    Separates after at most R²/μ² iterations (Theorem 5.3). ``dual`` is uniform on S_t.
    """

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            wrong = _misclassified(scores)
            if not wrong.size:
                yield scored(t, w, problem, scores, halt="separated")
                return
            indicator = _indicator(wrong, problem.n)
            dual = indicator / wrong.size
            yield scored(t, w, problem, scores, dual=dual, misclassified=wrong.size)
            # The sum before the quotient: for integer data it is exact.
            w = w + problem.combine(indicator) / wrong.size


@declare(
    "perceptron",
    "Tyurin 2024, Theorem 5.2; Ramdas & Peña 2015, Section 2.1",
    ends=("separated",),
    choices={"choice": CHOICES},
)
class Perceptron:
    """Perceptron: one misclassified row.

    Separates after at most R²/μ² iterations, however j is chosen (Theorem 5.2): the first
    misclassified row; the first one after the row used last, cyclically; any one with equal
    probability (by default of seed 0); or the first one of smallest score. ``extra`` has "i" j and
    "scores", which are carried along: a step with a kernel reads one row of the Gram matrix.
    """

    choice: str = "first"

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        now, j = nothing(problem), -1
        for t in count():
            if now.separates():
                now = renewed(problem, now)
            if now.separates():
                yield scored(t, now.w, problem, now.scores, halt="separated")
                return
            j = self._choose(now.scores, j, rng)
            yield Iterate(t, now.w, problem, extra={"i": j, "scores": now.scores})
            now = mix((1.0, now), (1.0, single_row(problem, j)))

    def _choose(self, scores: Floats, last: int, rng: np.random.Generator) -> int:
        if self.choice == "worst":
            return int(np.argmin(scores))
        wrong = _misclassified(scores)
        if self.choice == "random":
            return int(rng.choice(wrong))
        later = np.searchsorted(wrong, last, side="right") if self.choice == "cyclic" else 0
        return int(wrong[later % wrong.size])


def _misclassified(scores: Floats) -> Array:
    """S_t, ascending. A score that is not a number is not positive either."""
    return np.flatnonzero(~(scores > 0))


def _indicator(rows: Array, n: int) -> Floats:
    indicator = np.zeros(n)
    indicator[rows] = 1.0
    return indicator


def _logistic_weights(scores: Floats) -> tuple[Floats, float]:
    """σ_i / Σ_j σ_j, and the logarithm of (1/n) Σ_i σ_i, for σ_i = 1/(1 + exp(score_i))."""
    weights, _, log_sum = soften(-log_expit(-scores), 1.0)
    return weights, log_sum - math.log(scores.size)
