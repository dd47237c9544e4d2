"""Mutants of the methods of the lecture on SGD, boosting and kernels."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import repeat

import numpy as np

from gammabar.harness.paper import Family
from gammabar.solvers.boosting import AdaBoost
from gammabar.solvers.descent import (
    SGD,
    AcceleratedGradientDescent,
    Quadratic,
    SmoothGradientDescent,
)
from gammabar.solvers.kernel_methods import KernelRidge

FAMILY = Family("lec")


# Gradient descent -------------------------------------------------------------------------------


@FAMILY.mutant("lambda-forgotten", "along the steepest direction w_t jumps to and fro for ever")
class _LambdaForgotten(SmoothGradientDescent):
    """η = 2/β in place of 2/(β + λ)."""

    def _eta(self, f, t):
        return 2 / f.smoothness


@FAMILY.mutant("steps-shrink", "what is left falls as a power of 1/T, not as e^{−T/κ}")
class _StepsShrink(SmoothGradientDescent):
    """η_t = η/(t + 1)."""

    def _eta(self, f, t):
        return super()._eta(f, t) / (t + 1)


@FAMILY.mutant("stale-gradient", "on quadratics steps of this length then diverge")
class _StaleGradient(SmoothGradientDescent):
    """The gradient is taken at w_{t−1}."""

    def _gradient(self, f, w, before):
        return f.gradient(before)


@FAMILY.mutant("root-forgotten", "with that much momentum it is no faster than plain descent")
class _RootForgotten(AcceleratedGradientDescent):
    """The momentum is (κ − 1)/(κ + 1), with κ in place of √κ."""

    def _beta(self, kappa):
        return (kappa - 1) / (kappa + 1)


@FAMILY.mutant("gradient-at-w", "this is the heavy ball, for which no such rate is proved")
class _GradientAtW(AcceleratedGradientDescent):
    """The gradient is taken at w_t in place of v_t."""

    def _gradient(self, f, w, v):
        return f.gradient(w)


# SGD --------------------------------------------------------------------------------------------


@FAMILY.mutant("last-term-never-drawn", "E v_t is not ∇f(w_t), so another function is minimised")
class _LastTermNeverDrawn(SGD):
    """Indices are drawn from 0, …, n − 2."""

    def _draws(self, n, rng):
        if self.indices is not None:
            return super()._draws(n, rng)
        rng = np.random.default_rng(0) if rng is None else rng
        return (int(rng.integers(max(1, n - 1))) for _ in repeat(None))


@FAMILY.mutant("step-forgets-the-horizon", "the noise of the steps does not fall with T")
class _StepForgetsTheHorizon(SGD):
    """η = B/ρ, without 1/√T."""

    def step(self, rho):
        return super().step(rho) * math.sqrt(self.horizon)


@FAMILY.mutant("step-falls-too-fast", "T steps of B/(ρT) go no further than B, and w̄ half as far")
class _StepFallsTooFast(SGD):
    """η = B/(ρT) in place of B/(ρ√T)."""

    def step(self, rho):
        return super().step(rho) / math.sqrt(self.horizon)


@FAMILY.mutant("no-averaging", "the theorem is about the average; the last iterate still jumps")
class _NoAveraging(SGD):
    """The output is the last iterate."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"average": it.w})


@FAMILY.mutant("averages-without-the-start", "w̄ has w_2, …, w_T, which are one fewer than T")
class _AveragesWithoutTheStart(SGD):
    """The average leaves out w_1."""

    def iterates(self, problem, rng=None):
        total = None
        for it in super().iterates(problem, rng):
            total = np.zeros_like(it.w) if total is None else total + it.w
            yield replace(it, extra=it.extra | {"average": total / max(it.t, 1)})


# AdaBoost ---------------------------------------------------------------------------------------


@FAMILY.mutant("alpha-without-half", "z_{t+1} is 1, so the bound on the error never falls")
class _AlphaWithoutHalf(AdaBoost):
    """α_t = log((1 − ε_t)/ε_t)."""

    def _alpha(self, right, wrong):
        return 2 * super()._alpha(right, wrong)


@FAMILY.mutant("never-renormalised", "D_t is no distribution, and ε_t no probability")
class _NeverRenormalised(AdaBoost):
    """D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i), not divided by z_{t+1}."""

    def _reweighed(self, D, alpha, agrees):
        new, z = super()._reweighed(D, alpha, agrees)
        return new * z, z


@FAMILY.mutant("weights-ignored", "every round finds the same h, and ε_t is ½ from the second on")
class _WeightsIgnored(AdaBoost):
    """The weak learner is always given D_1."""

    def _learn(self, learn, D):
        return learn(np.full(D.size, 1 / D.size))


@FAMILY.mutant("votes-equal", "what is barely better than chance counts as much as the best")
class _VotesEqual(AdaBoost):
    """H = Σ_t h_t, without the α_t."""

    def _say(self, alpha):
        return 1.0


@FAMILY.mutant("only-mistakes-reweighed", "D_{t+1} is right, but z_{t+1} is too large")
class _OnlyMistakesReweighed(AdaBoost):
    """D_t(i) is multiplied by e^{2α_t} where h_t is wrong and left alone where it is right."""

    def _reweighed(self, D, alpha, agrees):
        unnormalised = D * np.where(agrees < 0, math.exp(2 * alpha), 1.0)
        z = float(unnormalised.sum())
        return unnormalised / z, z


# Kernel ridge regression ------------------------------------------------------------------------


@FAMILY.mutant("dual-forgets-lambda", "the dual does not predict what the primal does")
class _DualForgetsLambda(KernelRidge):
    """α = K⁺ y in place of (K + λI)⁻¹ y."""

    def dual(self, X, y):
        fit = super().dual(X, y)
        K = fit.kernel.matrix(fit.points, fit.points)
        return replace(fit, alpha=np.linalg.lstsq(K, np.asarray(y, dtype=float), rcond=None)[0])


@FAMILY.mutant("lambda-times-n", "primal and dual agree, but on the minimiser of another function")
class _LambdaTimesN(KernelRidge):
    """λ is multiplied by n, as if the sum of squares were a mean."""

    def _scaled(self, y):
        return KernelRidge(self.regularisation * len(y), self.kernel)

    def primal(self, features, y):
        return self._scaled(y).primal(features, y)

    def dual(self, X, y):
        return self._scaled(y).dual(X, y)


@FAMILY.mutant("objective-without-two", "gradient descent on it ends at w*/2")
class _ObjectiveWithoutTwo(KernelRidge):
    """The linear term of the objective is −(Φᵀy)ᵀw, without its factor 2."""

    def objective(self, features, y):
        right = super().objective(features, y)
        return Quadratic(right.A, right.b / 2)
