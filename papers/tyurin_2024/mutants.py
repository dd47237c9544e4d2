"""Mutants of the solvers of Tyurin (2024)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

import numpy as np

from gammabar.harness.library.mutant import Family, Rng
from gammabar.problems import Problem
from gammabar.problems.base import Array, Floats, soften
from gammabar.solvers._combinations import combination, mix, nothing, renewed, single_row
from gammabar.solvers.base import Iterate, scored
from gammabar.solvers.tyurin import (
    BatchPerceptron,
    LogisticRegressionGD,
    NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD,
    Perceptron,
    _indicator,
    _logistic_weights,
    _misclassified,
)

FAMILY = Family("tyurin")


# LR+GD ------------------------------------------------------------------------------------------


class Descent(LogisticRegressionGD):
    """LR+GD."""

    def weights(self, scores: Floats) -> tuple[Floats, float]:
        """The distribution of the σ_i, and the logarithm of their mean."""
        return _logistic_weights(scores)

    def gradient(self, problem: Problem, q: Floats, log_mean: float) -> Floats:
        return -math.exp(log_mean) * problem.combine(q)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            q, log_mean = self.weights(scores)
            gradient = self.gradient(problem, q, log_mean)
            yield scored(t, w, problem, scores, dual=q, gradient=gradient)
            w = w - self.step * gradient


@FAMILY.mutant("sum-for-mean", "w_t/γ tends to n times the iterate of the Batch Perceptron")
class SumForMean(Descent):
    """The gradient is that of the sum of the losses, without 1/n."""

    def gradient(self, problem: Problem, q: Floats, log_mean: float) -> Floats:
        return problem.n * super().gradient(problem, q, log_mean)


@FAMILY.mutant("last-row-dropped", "the row may stay misclassified for ever")
class LastRowDropped(Descent):
    """The last row of two or more has no loss."""

    def weights(self, scores: Floats) -> tuple[Floats, float]:
        kept = max(1, scores.size - 1)
        q, log_mean = _logistic_weights(scores[:kept])
        return np.append(q, np.zeros(scores.size - kept)), log_mean + math.log(kept / scores.size)


class NormalisedDescent(NormalizedLogisticRegressionGD):
    """Normalized LR+GD; `log_mean` is the logarithm of the mean of the σ_i."""

    def weights(self, scores: Floats) -> tuple[Floats, float]:
        return _logistic_weights(scores)

    def log_beta(self, log_mean: float) -> float:
        return -log_mean

    def pull(self, problem: Problem, q: Floats) -> Floats:
        return problem.combine(q)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            q, log_mean = self.weights(scores)
            pull, log_beta = self.pull(problem, q), self.log_beta(log_mean)
            yield scored(t, w, problem, scores, dual=q, pull=pull, log_beta=log_beta)
            w = w + self.step * math.exp(log_beta + log_mean) * pull


@FAMILY.mutant("beta-frozen", "the steps shrink with the loss, as those of LR+GD do")
class BetaFrozen(NormalisedDescent):
    """β_t = β_0 = 2."""

    def log_beta(self, log_mean: float) -> float:
        return math.log(2)


@FAMILY.mutant("sum-for-mean", "the steps are n times as long as a mean of the rows")
class NormalisedSumForMean(NormalisedDescent):
    """The gradient is that of the sum of the losses, without 1/n."""

    def pull(self, problem: Problem, q: Floats) -> Floats:
        return problem.n * super().pull(problem, q)


@FAMILY.mutant("softmax-for-logistic", "for γ → ∞ it takes the worst row, and not the mean of S_t")
class SoftmaxForLogistic(NormalisedDescent):
    """σ_i = exp(−⟨a_i, w⟩), which is the slope of the exponential loss."""

    def weights(self, scores: Floats) -> tuple[Floats, float]:
        q, _, log_sum = soften(scores, 1.0)
        return q, log_sum - math.log(scores.size)


# Batch Perceptron -------------------------------------------------------------------------------


class Batch(BatchPerceptron):
    """Batch Perceptron; it works on 2n w_t."""

    def first(self, problem: Problem) -> Floats:
        """2n w_1."""
        return problem.combine(np.ones(problem.n))

    def wrong(self, scores: Floats) -> Array:
        return _misclassified(scores)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        n = problem.n
        yield scored(0, problem.origin(), problem, np.zeros(n), misclassified=n)
        total = self.first(problem)
        for t in count(1):
            scores = problem.scores(total)
            wrong = self.wrong(scores)
            extra = {"misclassified": wrong.size} if wrong.size else {"halt": "separated"}
            yield scored(t, total / (2 * n), problem, scores / (2 * n), **extra)
            if not wrong.size:
                return
            total = total + 2 * problem.combine(_indicator(wrong, n))


@FAMILY.mutant("full-first-step", "w_1 is not the limit of LR+GD, whose first σ_i are ½")
class FullFirstStep(Batch):
    """w_1 = (1/n) Σ_i a_i, without ½."""

    def first(self, problem: Problem) -> Floats:
        return 2 * super().first(problem)


@FAMILY.mutant("first-step-not-divided", "later steps need n² of them to undo it, in place of n")
class FirstStepNotDivided(Batch):
    """w_1 = ½ Σ_i a_i, without 1/n."""

    def first(self, problem: Problem) -> Floats:
        return problem.n * super().first(problem)


@FAMILY.mutant(
    "ties-are-right",
    "a row on the hyperplane is not classified, and it says that the data are separated",
)
class BatchTiesAreRight(Batch):
    """S_t = {i : ⟨a_i, w_t⟩ < 0}."""

    def wrong(self, scores: Floats) -> Array:
        return np.flatnonzero(scores < 0)


@FAMILY.mutant("one-mistake-is-fine", "it says that the data are separated when they are not")
class OneMistakeIsFine(Batch):
    """It halts as soon as at most one row is misclassified."""

    def wrong(self, scores: Floats) -> Array:
        wrong = super().wrong(scores)
        return wrong if wrong.size > 1 else wrong[:0]


class NormalisedBatch(NormalizedBatchPerceptron):
    """Normalized Batch Perceptron; `before` are the scores one step ago."""

    def wrong(self, scores: Floats, before: Floats) -> Array:
        return _misclassified(scores)

    def divisor(self, wrong: int, n: int) -> int:
        return wrong

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w, before = problem.origin(), np.zeros(problem.n)
        for t in count():
            scores = problem.scores(w)
            wrong = self.wrong(scores, before)
            if not wrong.size:
                yield scored(t, w, problem, scores, halt="separated")
                return
            indicator = _indicator(wrong, problem.n)
            divisor = self.divisor(wrong.size, problem.n)
            dual = indicator / divisor
            yield scored(t, w, problem, scores, dual=dual, misclassified=wrong.size)
            w = w + problem.combine(indicator) / divisor
            before = scores


@FAMILY.mutant("ties-are-right", "w_0 = 0 has scores 0 only, so it halts at once")
class NormalisedTiesAreRight(NormalisedBatch):
    """S_t = {i : ⟨a_i, w_t⟩ < 0}."""

    def wrong(self, scores: Floats, before: Floats) -> Array:
        return np.flatnonzero(scores < 0)


@FAMILY.mutant("divides-by-n", "a single wrong row counts for 1/n only, and n enters the bound")
class DividesByN(NormalisedBatch):
    """The sum over S_t is divided by n in place of |S_t|."""

    def divisor(self, wrong: int, n: int) -> int:
        return n


@FAMILY.mutant("mistakes-one-behind", "it adds rows that are right by now, and halts too late")
class MistakesOneBehind(NormalisedBatch):
    """S_{t−1} takes the place of S_t."""

    def wrong(self, scores: Floats, before: Floats) -> Array:
        return _misclassified(before)


# Perceptron -------------------------------------------------------------------------------------


class Steps(Perceptron):
    """Perceptron."""

    def done(self, scores: Floats) -> bool:
        return bool((scores > 0).all())

    def chosen(self, scores: Floats, last: int, rng: np.random.Generator) -> int:
        return self._choose(scores, last, rng)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        now, j = nothing(problem), -1
        for t in count():
            if self.done(now.scores):
                now = renewed(problem, now)
            if self.done(now.scores):
                yield scored(t, now.w, problem, now.scores, halt="separated")
                return
            j = self.chosen(now.scores, j, rng)
            yield Iterate(t, now.w, problem, extra={"i": j, "scores": now.scores})
            now = mix((1.0, now), (1.0, single_row(problem, j)))


@FAMILY.mutant("ties-are-right", "w_0 = 0 has scores 0 only, so it halts at once")
class TiesAreRight(Steps):
    """It halts when A w_t ≥ 0."""

    def done(self, scores: Floats) -> bool:
        return bool((scores >= 0).all())


@FAMILY.mutant("starts-with-the-sum", "single rows need n steps to undo it: the rate of a batch")
class StartsWithTheSum(Steps):
    """The first step adds all rows."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        now, j = nothing(problem), -1
        for t in count():
            if self.done(now.scores):
                yield scored(t, now.w, problem, now.scores, halt="separated")
                return
            j = self.chosen(now.scores, j, rng)
            yield Iterate(t, now.w, problem, extra={"i": j, "scores": now.scores})
            every = combination(problem, np.ones(problem.n))
            now = mix((1.0, now), (1.0, single_row(problem, j) if t else every))


@FAMILY.mutant("best-row", "a row that is right already is added, and the bound counts mistakes")
class BestRow(Steps):
    """j is the row with the largest score."""

    def chosen(self, scores: Floats, last: int, rng: np.random.Generator) -> int:
        return int(np.argmax(scores))


@FAMILY.mutant("half-the-data", "it says that the data are separated when half of them are")
class HalfTheData(Steps):
    """It halts when the first half of the rows is classified."""

    def done(self, scores: Floats) -> bool:
        return super().done(scores[: (scores.size + 1) // 2])


LOOPS = (
    Descent(2.0),
    NormalisedDescent(0.5),
    Batch(),
    NormalisedBatch(),
    Steps(),
    Steps("cyclic"),
    Steps("random"),
    Steps("worst"),
)
