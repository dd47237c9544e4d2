"""Mutants of the solvers of Tyurin (2024): one wrong line each."""

from __future__ import annotations

import math

import numpy as np

from gammabar.harness.paper import Family
from gammabar.problems.problem import soften
from gammabar.solvers.combinations import combination
from gammabar.solvers.tyurin import (
    BatchPerceptron,
    LogisticRegressionGD,
    NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD,
    Perceptron,
    _misclassified,
)

FAMILY = Family("tyurin")


@FAMILY.mutant("sum-for-mean", "w_t/γ tends to n times the iterate of the Batch Perceptron")
class _SumForMean(LogisticRegressionGD):
    """The gradient is that of the sum of the losses, without 1/n."""

    def _weights(self, scores):
        q, log_mean = super()._weights(scores)
        return q, log_mean + math.log(scores.size)


@FAMILY.mutant("last-row-dropped", "the row may stay misclassified for ever")
class _LastRowDropped(LogisticRegressionGD):
    """The last row of two or more has no loss."""

    def _weights(self, scores):
        kept = max(1, scores.size - 1)
        q, log_mean = super()._weights(scores[:kept])
        return np.append(q, np.zeros(scores.size - kept)), log_mean + math.log(kept / scores.size)


@FAMILY.mutant("beta-frozen", "the steps shrink with the loss, as those of LR+GD do")
class _BetaFrozen(NormalizedLogisticRegressionGD):
    """β_t = β_0 = 2."""

    def _log_beta(self, log_mean):
        return math.log(2)


@FAMILY.mutant("sum-for-mean", "the steps are n times as long as a mean of the rows")
class _NormalisedSumForMean(NormalizedLogisticRegressionGD):
    """The gradient is that of the sum of the losses, without 1/n."""

    def _pull(self, problem, q):
        return problem.n * super()._pull(problem, q)


@FAMILY.mutant("softmax-for-logistic", "for γ → ∞ it takes the worst row, and not the mean of S_t")
class _SoftmaxForLogistic(NormalizedLogisticRegressionGD):
    """σ_i = exp(−⟨a_i, w⟩), which is the slope of the exponential loss."""

    def _weights(self, scores):
        q, _, log_sum = soften(scores, 1.0)
        return q, log_sum - math.log(scores.size)


@FAMILY.mutant("full-first-step", "w_1 is not the limit of LR+GD, whose first σ_i are ½")
class _FullFirstStep(BatchPerceptron):
    """w_1 = (1/n) Σ_i a_i, without ½."""

    def _first(self, problem):
        return 2 * super()._first(problem)


@FAMILY.mutant("first-step-not-divided", "later steps need n² of them to undo it, in place of n")
class _FirstStepNotDivided(BatchPerceptron):
    """w_1 = ½ Σ_i a_i, without 1/n."""

    def _first(self, problem):
        return problem.n * super()._first(problem)


@FAMILY.mutant(
    "ties-are-right",
    "a row on the hyperplane is not classified, and it says that the data are separated",
)
class _BatchTiesAreRight(BatchPerceptron):
    """S_t = {i : ⟨a_i, w_t⟩ < 0}."""

    def _wrong(self, scores):
        return np.flatnonzero(scores < 0)


@FAMILY.mutant("one-mistake-is-fine", "it says that the data are separated when they are not")
class _OneMistakeIsFine(BatchPerceptron):
    """It halts as soon as at most one row is misclassified."""

    def _wrong(self, scores):
        wrong = super()._wrong(scores)
        return wrong if wrong.size > 1 else wrong[:0]


@FAMILY.mutant("ties-are-right", "w_0 = 0 has scores 0 only, so it halts at once")
class _NormalisedTiesAreRight(NormalizedBatchPerceptron):
    """S_t = {i : ⟨a_i, w_t⟩ < 0}."""

    def _wrong(self, scores, before):
        return np.flatnonzero(scores < 0)


@FAMILY.mutant("divides-by-n", "a single wrong row counts for 1/n only, and n enters the bound")
class _DividesByN(NormalizedBatchPerceptron):
    """The sum over S_t is divided by n in place of |S_t|."""

    def _divisor(self, wrong, n):
        return n


@FAMILY.mutant("mistakes-one-behind", "it adds rows that are right by now, and halts too late")
class _MistakesOneBehind(NormalizedBatchPerceptron):
    """S_{t−1} takes the place of S_t."""

    def _wrong(self, scores, before):
        return _misclassified(before)


@FAMILY.mutant("ties-are-right", "w_0 = 0 has scores 0 only, so it halts at once")
class _TiesAreRight(Perceptron):
    """It halts when A w_t ≥ 0."""

    def _done(self, scores):
        return bool((scores >= 0).all())


@FAMILY.mutant("starts-with-the-sum", "single rows need n steps to undo it: the rate of a batch")
class _StartsWithTheSum(Perceptron):
    """The first step adds all rows."""

    def _added(self, problem, j, t):
        every = combination(problem, np.ones(problem.n))
        return super()._added(problem, j, t) if t else every


@FAMILY.mutant("best-row", "a row that is right already is added, and the bound counts mistakes")
class _BestRow(Perceptron):
    """j is the row with the largest score."""

    def _choose(self, scores, last, rng):
        return int(np.argmax(scores))


@FAMILY.mutant("half-the-data", "it says that the data are separated when half of them are")
class _HalfTheData(Perceptron):
    """It halts when the first half of the rows is classified."""

    def _done(self, scores):
        return super()._done(scores[: (scores.size + 1) // 2])
