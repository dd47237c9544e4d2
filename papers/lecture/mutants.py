"""Mutants of the methods of the lecture on SGD, boosting and kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, repeat
from typing import Any

import numpy as np

from gammabar.harness.library.mutant import Family, Rng
from gammabar.problems import DenseProblem, Problem, SparseProblem
from gammabar.solvers.adaboost import AdaBoost, Hypothesis, Vote, _checked, _extra, _positive
from gammabar.solvers.base import Array, Iterate
from gammabar.solvers.ridge import DualFit, KernelRidge, PrimalFit
from gammabar.solvers.sgd import SGD, FiniteSum
from gammabar.solvers.smooth import (
    AcceleratedGradientDescent,
    Function,
    Quadratic,
    SmoothGradientDescent,
    _problem,
    function_of,
)

FAMILY = Family("lec")


# Gradient descent -------------------------------------------------------------------------------


class Descent(SmoothGradientDescent):
    """Gradient descent; `before` is w_{t−1}."""

    def eta(self, f: Function) -> float:
        return 2 / (f.smoothness + f.strong_convexity)

    def gradient(self, f: Function, w: Array, before: Array) -> Array:
        return f.gradient(w)

    def iterates(self, problem: Problem | Function, rng: Rng = None) -> Iterator[Iterate]:
        f = function_of(problem, self.regularisation)
        w = before = f.origin()
        for t in count():
            gradient = self.gradient(f, w, before)
            yield Iterate(t, w, _problem(f), extra={"gradient": gradient, "function": f})
            before, w = w, w - self.eta(f) * gradient


@FAMILY.mutant("lambda-forgotten", "along the steepest direction w_t jumps to and fro for ever")
class LambdaForgotten(Descent):
    """η = 2/β in place of 2/(β + λ)."""

    def eta(self, f: Function) -> float:
        return 2 / f.smoothness


@FAMILY.mutant("steps-shrink", "what is left falls as a power of 1/T, not as e^{−T/κ}")
class StepsShrink(Descent):
    """η_t = η/(t + 1)."""

    def iterates(self, problem: Problem | Function, rng: Rng = None) -> Iterator[Iterate]:
        f = function_of(problem, self.regularisation)
        w = f.origin()
        for t in count():
            gradient = f.gradient(w)
            yield Iterate(t, w, _problem(f), extra={"gradient": gradient, "function": f})
            w = w - self.eta(f) / (t + 1) * gradient


@FAMILY.mutant("stale-gradient", "on quadratics steps of this length then diverge")
class StaleGradient(Descent):
    """The gradient is taken at w_{t−1}."""

    def gradient(self, f: Function, w: Array, before: Array) -> Array:
        return f.gradient(before)


class Accelerated(AcceleratedGradientDescent):
    """Nesterov's method."""

    def beta(self, kappa: float) -> float:
        root = math.sqrt(kappa)
        return (root - 1) / (root + 1)

    def gradient(self, f: Function, w: Array, v: Array) -> Array:
        return f.gradient(v)

    def iterates(self, problem: Problem | Function, rng: Rng = None) -> Iterator[Iterate]:
        f = function_of(problem, self.regularisation)
        beta = self.beta(f.smoothness / f.strong_convexity)
        w = v = f.origin()
        for t in count():
            gradient = self.gradient(f, w, v)
            extra = {"v": v, "gradient": gradient, "function": f}
            yield Iterate(t, w, _problem(f), momentum=v - w, extra=extra)
            new = v - gradient / f.smoothness
            v = new + beta * (new - w)
            w = new


@FAMILY.mutant("root-forgotten", "with that much momentum it is no faster than plain descent")
class RootForgotten(Accelerated):
    """The momentum is (κ − 1)/(κ + 1), with κ in place of √κ."""

    def beta(self, kappa: float) -> float:
        return (kappa - 1) / (kappa + 1)


@FAMILY.mutant("gradient-at-w", "this is the heavy ball, for which no such rate is proved")
class GradientAtW(Accelerated):
    """The gradient is taken at w_t in place of v_t."""

    def gradient(self, f: Function, w: Array, v: Array) -> Array:
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


class Boosting(AdaBoost):
    """AdaBoost; `agrees` is h_t(x_i) y_i."""

    def learn(self, learn: Callable[[Array], Hypothesis], D: Array) -> Hypothesis:
        return learn(D)

    def alpha(self, right: float, wrong: float) -> float:
        """α_t from 1 − ε_t and ε_t."""
        return 0.5 * math.log(right / wrong)

    def say(self, alpha: float) -> float:
        """The weight of h_t in the vote."""
        return alpha

    def reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
        """D_{t+1} and z_{t+1}."""
        unnormalised = D * np.exp(-alpha * agrees)
        z = float(unnormalised.sum())
        return unnormalised / z, z

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        assert isinstance(problem, DenseProblem | SparseProblem)
        X, y = problem.X, problem.y
        learn = self.learner(X, y)
        D = np.full(problem.n, 1 / problem.n)
        vote = Vote(0, np.empty(0), problem, dual=D, extra={"product": 1.0}, votes=np.zeros(len(y)))
        for t in count(1):
            yield vote
            h = self.learn(learn, D)
            agrees = _checked(h(X), y)
            if abs(int(agrees.sum())) == problem.n:
                break
            epsilon = float(D[agrees < 0].sum())
            alpha = self.alpha(_positive(float(D[agrees > 0].sum())), _positive(epsilon))
            new, z = self.reweighed(D, alpha, agrees)
            extra = _extra(D, epsilon, alpha, z, vote)
            D, say = new, self.say(alpha)
            w, hypotheses = np.append(vote.w, say), (*vote.hypotheses, h)
            votes = vote.votes + say * agrees
            vote = Vote(t, w, problem, None, D, None, extra, votes, hypotheses)
        sign = float(agrees[0])
        extra = _extra(D, (1 - sign) / 2, sign * math.inf, 0.0, vote)
        for s in count(t):
            yield Vote(s, np.array([sign]), problem, None, D, None, extra, np.ones(problem.n), (h,))


@FAMILY.mutant("alpha-without-half", "z_{t+1} is 1, so the bound on the error never falls")
class AlphaWithoutHalf(Boosting):
    """α_t = log((1 − ε_t)/ε_t)."""

    def alpha(self, right: float, wrong: float) -> float:
        return 2 * super().alpha(right, wrong)


@FAMILY.mutant("never-renormalised", "D_t is no distribution, and ε_t no probability")
class NeverRenormalised(Boosting):
    """D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i), not divided by z_{t+1}."""

    def reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
        new, z = super().reweighed(D, alpha, agrees)
        return new * z, z


@FAMILY.mutant("weights-ignored", "every round finds the same h, and ε_t is ½ from the second on")
class WeightsIgnored(Boosting):
    """The weak learner is always given D_1."""

    def learn(self, learn: Callable[[Array], Hypothesis], D: Array) -> Hypothesis:
        return learn(np.full(D.size, 1 / D.size))


@FAMILY.mutant("votes-equal", "what is barely better than chance counts as much as the best")
class VotesEqual(Boosting):
    """H = Σ_t h_t, without the α_t."""

    def say(self, alpha: float) -> float:
        return 1.0


@FAMILY.mutant("only-mistakes-reweighed", "D_{t+1} is right, but z_{t+1} is too large")
class OnlyMistakesReweighed(Boosting):
    """D_t(i) is multiplied by e^{2α_t} where h_t is wrong and left alone where it is right."""

    def reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
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


LOOPS = (Descent(), Accelerated(), Accelerated(0.01), Boosting())
