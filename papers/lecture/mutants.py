"""Mutants of the methods of the lecture on SGD, boosting and kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np

from gammabar.harness.paper import Family, Rng
from gammabar.problems import Problem
from gammabar.solvers.base import Array, Iterate
from gammabar.solvers.boosting import AdaBoost, Hypothesis
from gammabar.solvers.descent import (
    SGD,
    AcceleratedGradientDescent,
    FiniteSum,
    Function,
    Quadratic,
    SmoothGradientDescent,
)
from gammabar.solvers.kernel_methods import DualFit, KernelRidge, PrimalFit

FAMILY = Family("lec")


# Gradient descent -------------------------------------------------------------------------------


@FAMILY.mutant("lambda-forgotten", "along the steepest direction w_t jumps to and fro for ever")
class LambdaForgotten(SmoothGradientDescent):
    """η = 2/β in place of 2/(β + λ)."""

    def _eta(self, f: Function, t: int) -> float:
        return 2 / f.smoothness


@FAMILY.mutant("steps-shrink", "what is left falls as a power of 1/T, not as e^{−T/κ}")
class StepsShrink(SmoothGradientDescent):
    """η_t = η/(t + 1)."""

    def _eta(self, f: Function, t: int) -> float:
        return super()._eta(f, t) / (t + 1)


@FAMILY.mutant("stale-gradient", "on quadratics steps of this length then diverge")
class StaleGradient(SmoothGradientDescent):
    """The gradient is taken at w_{t−1}."""

    def _gradient(self, f: Function, w: Array, before: Array) -> Array:
        return f.gradient(before)


@FAMILY.mutant("root-forgotten", "with that much momentum it is no faster than plain descent")
class RootForgotten(AcceleratedGradientDescent):
    """The momentum is (κ − 1)/(κ + 1), with κ in place of √κ."""

    def _beta(self, kappa: float) -> float:
        return (kappa - 1) / (kappa + 1)


@FAMILY.mutant("gradient-at-w", "this is the heavy ball, for which no such rate is proved")
class GradientAtW(AcceleratedGradientDescent):
    """The gradient is taken at w_t in place of v_t."""

    def _gradient(self, f: Function, w: Array, v: Array) -> Array:
        return f.gradient(w)


# SGD --------------------------------------------------------------------------------------------


@FAMILY.mutant("last-term-never-drawn", "E v_t is not ∇f(w_t), so another function is minimised")
class LastTermNeverDrawn(SGD):
    """Indices are drawn from 0, …, n − 2."""

    def _draws(self, n: int, rng: np.random.Generator | None) -> Iterator[int]:
        if self.indices is not None:
            return super()._draws(n, rng)
        rng = np.random.default_rng(0) if rng is None else rng
        return (int(rng.integers(max(1, n - 1))) for _ in repeat(None))


@FAMILY.mutant("step-forgets-the-horizon", "the noise of the steps does not fall with T")
class StepForgetsTheHorizon(SGD):
    """η = B/ρ, without 1/√T."""

    def step(self, rho: float) -> float:
        return super().step(rho) * math.sqrt(self.horizon)


@FAMILY.mutant("step-falls-too-fast", "T steps of B/(ρT) go no further than B, and w̄ half as far")
class StepFallsTooFast(SGD):
    """η = B/(ρT) in place of B/(ρ√T)."""

    def step(self, rho: float) -> float:
        return super().step(rho) / math.sqrt(self.horizon)


@FAMILY.mutant("no-averaging", "the theorem is about the average; the last iterate still jumps")
class NoAveraging(SGD):
    """The output is the last iterate."""

    def iterates(self, problem: Problem | FiniteSum, rng: Rng = None) -> Iterator[Iterate]:
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"average": it.w})


@FAMILY.mutant("averages-without-the-start", "w̄ has w_2, …, w_T, which are one fewer than T")
class AveragesWithoutTheStart(SGD):
    """The average leaves out w_1."""

    def iterates(self, problem: Problem | FiniteSum, rng: Rng = None) -> Iterator[Iterate]:
        total = None
        for it in super().iterates(problem, rng):
            total = np.zeros_like(it.w) if total is None else total + it.w
            yield replace(it, extra=it.extra | {"average": total / max(it.t, 1)})


# AdaBoost ---------------------------------------------------------------------------------------


@FAMILY.mutant("alpha-without-half", "z_{t+1} is 1, so the bound on the error never falls")
class AlphaWithoutHalf(AdaBoost):
    """α_t = log((1 − ε_t)/ε_t)."""

    def _alpha(self, right: float, wrong: float) -> float:
        return 2 * super()._alpha(right, wrong)


@FAMILY.mutant("never-renormalised", "D_t is no distribution, and ε_t no probability")
class NeverRenormalised(AdaBoost):
    """D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i), not divided by z_{t+1}."""

    def _reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
        new, z = super()._reweighed(D, alpha, agrees)
        return new * z, z


@FAMILY.mutant("weights-ignored", "every round finds the same h, and ε_t is ½ from the second on")
class WeightsIgnored(AdaBoost):
    """The weak learner is always given D_1."""

    def _learn(self, learn: Callable[[Array], Hypothesis], D: Array) -> Hypothesis:
        return learn(np.full(D.size, 1 / D.size))


@FAMILY.mutant("votes-equal", "what is barely better than chance counts as much as the best")
class VotesEqual(AdaBoost):
    """H = Σ_t h_t, without the α_t."""

    def _say(self, alpha: float) -> float:
        return 1.0


@FAMILY.mutant("only-mistakes-reweighed", "D_{t+1} is right, but z_{t+1} is too large")
class OnlyMistakesReweighed(AdaBoost):
    """D_t(i) is multiplied by e^{2α_t} where h_t is wrong and left alone where it is right."""

    def _reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
        unnormalised = D * np.where(agrees < 0, math.exp(2 * alpha), 1.0)
        z = float(unnormalised.sum())
        return unnormalised / z, z


# Kernel ridge regression ------------------------------------------------------------------------


@FAMILY.mutant("dual-forgets-lambda", "the dual does not predict what the primal does")
class DualForgetsLambda(KernelRidge):
    """α = K⁺ y in place of (K + λI)⁻¹ y."""

    def dual(self, X: Any, y: Any) -> DualFit:
        fit = super().dual(X, y)
        K = fit.kernel.matrix(fit.points, fit.points)
        return replace(fit, alpha=np.linalg.lstsq(K, np.asarray(y, dtype=float), rcond=None)[0])


@FAMILY.mutant("lambda-times-n", "primal and dual agree, but on the minimiser of another function")
class LambdaTimesN(KernelRidge):
    """λ is multiplied by n, as if the sum of squares were a mean."""

    def _scaled(self, y: Any) -> KernelRidge:
        return KernelRidge(self.regularisation * len(y), self.kernel)

    def primal(self, features: Any, y: Any) -> PrimalFit:
        return self._scaled(y).primal(features, y)

    def dual(self, X: Any, y: Any) -> DualFit:
        return self._scaled(y).dual(X, y)


@FAMILY.mutant("objective-without-two", "gradient descent on it ends at w*/2")
class ObjectiveWithoutTwo(KernelRidge):
    """The linear term of the objective is −(Φᵀy)ᵀw, without its factor 2."""

    def objective(self, features: Any, y: Any) -> Quadratic:
        right = super().objective(features, y)
        return Quadratic(right.A, right.b / 2)
