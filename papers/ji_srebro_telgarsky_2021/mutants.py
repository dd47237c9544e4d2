"""Mutants of the solvers of Ji, Srebro and Telgarsky (2021)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from gammabar.harness.library.mutant import Family, Rng
from gammabar.problems import Problem, SoftMin
from gammabar.problems.problem import Array, Floats, soften
from gammabar.solvers.base import Iterate
from gammabar.solvers.ji_srebro_telgarsky import (
    AdaptiveSampling,
    DualAcceleration,
    DualForm,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
    draw,
)
from gammabar.solvers.potential import gradient

FAMILY = Family("jst")


class Seen(NamedTuple):
    """Aᵀq_t, and what an iterate says about it."""

    pull: Floats
    soft: SoftMin | None
    dual: Array | None = None
    computed: Array | None = None


def seen_by_softmax(problem: Problem, w: Floats) -> Seen:
    soft = problem.softmin(w)
    return Seen(soft.pull, soft)


def seen_by_weights(problem: Problem, w: Floats, q: Floats, pull: Floats) -> Seen:
    """Of a mutant whose weights q are not the softmax of its scores."""
    soft = replace(problem.softmin(w), pull=pull)
    return Seen(pull, soft, q)


# Algorithm 1 ------------------------------------------------------------------------------------


class Momentum(DualAcceleration):
    """Algorithm 1; `before` is w_{t−1}."""

    def theta(self, problem: Problem) -> float:
        return self.step / self.rho(problem.n)

    def seen(self, problem: Problem, w: Floats, before: Floats) -> Seen:
        if self.loss == "exponential":
            return seen_by_softmax(problem, w)
        scores = problem.scores(w)
        q = gradient(scores, self.loss)
        return Seen(problem.combine(q), None, q, scores)

    def beta(self, t: int) -> float:
        return t / (t + 1)

    def moved(self, w: Floats, theta: float, momentum: Floats, pull: Floats) -> Floats:
        return w + theta * (momentum + pull)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        theta = self.theta(problem)
        w = before = momentum = problem.origin()
        for t in count():
            pull, soft, q, scores = self.seen(problem, w, before)
            momentum = self.beta(t) * (momentum + pull)
            yield Iterate(t, w, problem, soft, dual=q, momentum=momentum, computed=scores)
            before, w = w, self.moved(w, theta, momentum, pull)


@FAMILY.mutant("momentum-index-shifted", "w_t is no longer what the accelerated dual makes of it")
class MomentumIndexShifted(Momentum):
    """β_t = (t+1)/(t+2) in place of t/(t+1)."""

    def beta(self, t: int) -> float:
        return (t + 1) / (t + 2)


@FAMILY.mutant("no-momentum", "this is normalised gradient descent, whose rate is 1/t and not 1/t²")
class NoMomentum(Momentum):
    """β_t = 0."""

    def beta(self, t: int) -> float:
        return 0.0


@FAMILY.mutant("plain-average", "the dual of normalised gradient descent falls as 1/t, not as 1/t²")
class PlainAverage(NoMomentum):
    """β_t = 0, and what it reports as 2g_t/t is the mean of Aᵀq_1, …, Aᵀq_t."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = problem.origin()
        for it in super().iterates(problem, rng):
            if it.t:
                total = total + problem.combine(it.weights)
            yield replace(it, momentum=total / 2)


@FAMILY.mutant("half-step-dropped", "w_1 is still 0, and every row counts for less than it should")
class HalfStepDropped(Momentum):
    """w_{t+1} = w_t + θ g_t, without Aᵀq_t."""

    def moved(self, w: Floats, theta: float, momentum: Floats, pull: Floats) -> Floats:
        return w + theta * momentum


@FAMILY.mutant("stale-weights", "each step answers the scores of the last iterate, not of this one")
class StaleWeights(Momentum):
    """q_{t−1} takes the place of q_t."""

    def seen(self, problem: Problem, w: Floats, before: Floats) -> Seen:
        q = soften(problem.scores(before), 1.0)[0]
        return seen_by_weights(problem, w, q, problem.combine(q))


@FAMILY.mutant("wrong-sign", "it runs away from the rows, as with the paper's Z where A is meant")
class WrongSign(Momentum):
    """w_{t+1} = w_t − θ (g_t + Aᵀq_t)."""

    def moved(self, w: Floats, theta: float, momentum: Floats, pull: Floats) -> Floats:
        return w - theta * (momentum + pull)


@FAMILY.mutant("step-doubled", "the analysis allows no step above 1/ρ")
class StepDoubled(Momentum):
    """The step is 2θ."""

    def theta(self, problem: Problem) -> float:
        return 2 * super().theta(problem)


@FAMILY.mutant(
    "radius-forgotten",
    "the analysis needs rows of norm at most one",
)
class RadiusForgotten(Momentum):
    """It runs on the rows as they are in the data, also if it is given the unit ball."""

    def seen(self, problem: Problem, w: Floats, before: Floats) -> Seen:
        raw = problem.raw()
        q = soften(raw.scores(w), 1.0)[0]
        return seen_by_weights(problem, w, q, raw.combine(q))


@FAMILY.mutant("half-the-data", "the margin of the rows that it never sees is left to chance")
class HalfTheData(Momentum):
    """q_t is the softmax over the first half of the rows."""

    def seen(self, problem: Problem, w: Floats, before: Floats) -> Seen:
        half = (problem.n + 1) // 2
        q = np.zeros(problem.n)
        q[:half] = soften(problem.scores(w)[:half], 1.0)[0]
        return seen_by_weights(problem, w, q, problem.combine(q))


@FAMILY.mutant("single-precision", "rounding errors of 10⁻⁷ gather where bounds shrink as 1/t²")
class SinglePrecision(Momentum):
    """Iterates are rounded to single precision."""

    def moved(self, w: Floats, theta: float, momentum: Floats, pull: Floats) -> Floats:
        return super().moved(w, theta, momentum, pull).astype(np.float32).astype(np.float64)


@FAMILY.mutant(
    "softmax-for-logistic",
    "the weights are not the gradient of the potential that is descended",
    loss="logistic",
)
class SoftmaxForLogistic(Momentum):
    """With the logistic loss, q_t is the softmax, which is ∇ψ of the exponential loss."""

    def seen(self, problem: Problem, w: Floats, before: Floats) -> Seen:
        scores = problem.scores(w)
        q = gradient(scores, "exponential")
        return Seen(problem.combine(q), None, q, scores)


@FAMILY.mutant("reports-last-momentum", "w_t is right, but the certificate ‖g_t‖ is one step old")
class ReportsLastMomentum(DualAcceleration):
    """The momentum that it reports is g_{t−1}."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        last: Array | None = problem.origin()
        for it in super().iterates(problem, rng):
            yield replace(it, momentum=last)
            last = it.momentum


# Section 3.2: the dual form ---------------------------------------------------------------------


class Sequences(DualForm):
    """The three sequences of the dual form; `new` is q_{t+1}."""

    def nu(self, lam: float, mu: Floats, q: Floats) -> Floats:
        return (1 - lam) * mu + lam * q

    def moved(self, problem: Problem, w: Floats, length: float, mu: Floats, nu: Floats) -> Floats:
        return w + length * problem.combine(nu)

    def mu(self, lam: float, mu: Floats, q: Floats, new: Floats) -> Floats:
        return (1 - lam) * mu + lam * new

    def weights(self, p: Floats) -> Floats:
        return gradient(p, self.loss)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rho = self.rho(problem.n)
        w, p = problem.origin(), np.zeros(problem.n)
        q = mu = gradient(p, self.loss)
        for t in count():
            lam, theta = self.lambda_(t), self.theta(t)
            nu = self.nu(lam, mu, q)
            yield Iterate(t, w, problem, dual=q, extra={"mu": mu, "nu": nu, "p": p})
            length = theta / (rho * lam)
            w = self.moved(problem, w, length, mu, nu)
            p = p + length * problem.scores(problem.combine(nu))
            new = self.weights(p)
            mu = self.mu(lam, mu, q, new)
            q = new


@FAMILY.mutant("mu-one-behind", "the rate 1/t² is that of a mean that has seen the newest weights")
class MuOneBehind(Sequences):
    """μ_{t+1} = (1 − λ_t) μ_t + λ_t q_t, with q_t in place of q_{t+1}."""

    def mu(self, lam: float, mu: Floats, q: Floats, new: Floats) -> Floats:
        return (1 - lam) * mu + lam * q


@FAMILY.mutant("nu-swapped", "the gradient is taken near the wrong end of the segment")
class NuSwapped(Sequences):
    """ν_t = λ_t μ_t + (1 − λ_t) q_t, with μ and q swapped."""

    def nu(self, lam: float, mu: Floats, q: Floats) -> Floats:
        return lam * mu + (1 - lam) * q


@FAMILY.mutant(
    "weights-too-flat", "the step of the mirror descent is no longer that of its weights"
)
class WeightsTooFlat(Sequences):
    """q_t = ∇ψ(−0.99 p_t), at a temperature a little too high."""

    def weights(self, p: Floats) -> Floats:
        return gradient(0.99 * p, self.loss)


@FAMILY.mutant("mirror-descent-instead", "the mean of its weights is optimal up to 1/t, not 1/t²")
class MirrorDescentInstead(DualForm):
    """ν_t = q_t with steps θ/ρ, and μ_t is the mean of q_1, …, q_t."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w, p, rho = problem.origin(), np.zeros(problem.n), self.rho(problem.n)
        q = mu = gradient(p, self.loss)
        for t in count():
            yield Iterate(t, w, problem, dual=q, extra={"mu": mu, "nu": q, "p": p})
            length, pull = self.theta(t) / rho, problem.combine(q)
            w, p = w + length * pull, p + length * problem.scores(pull)
            q = gradient(p, self.loss)
            mu = mu + (q - mu) / (t + 1)


@FAMILY.mutant("lambda-index-shifted", "λ_0 is not 1, which all of the analysis assumes")
class LambdaIndexShifted(DualForm):
    """λ_t = 2/(t+3) in place of 2/(t+2)."""

    def lambda_(self, t: int) -> float:
        return 2 / (t + 3)


@FAMILY.mutant("primal-from-mu", "the dual sequences are right, but w_t is not the primal of p_t")
class PrimalFromMu(Sequences):
    """w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀμ_t, with μ_t in place of ν_t."""

    def moved(self, problem: Problem, w: Floats, length: float, mu: Floats, nu: Floats) -> Floats:
        return w + length * problem.combine(mu)


@FAMILY.mutant("reports-nu-as-mu", "every iterate is right, but what it claims of φ(μ_t) is of ν_t")
class ReportsNuAsMu(DualForm):
    """The μ_t that it reports is ν_t."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"mu": it.extra["nu"]})


# Algorithm 2. Theorem 4.1 is about the method without momentum, and so are the mutants. -----------


class Sampling(AdaptiveSampling):
    """Algorithm 2."""

    def weights(self, scores: Floats) -> Floats:
        return soften(scores, 1.0)[0]

    def draw(self, q: Floats, rng: np.random.Generator) -> int:
        return draw(q, rng)

    def followed(self, scores: Floats, pushed: Floats) -> Floats:
        """A w_{t+1} from A w_t and A (g_t + a_i)."""
        return scores + self.step * pushed

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        w = g = problem.origin()
        scores = score_momentum = np.zeros(problem.n)
        for t in count():
            q = self.weights(scores)
            i = self.draw(q, rng)
            a = problem.row(i)
            column = problem.scores(a)
            beta = t / (t + 1) if self.momentum else 0.0
            g = beta * (g + a)
            score_momentum = beta * (score_momentum + column)
            extra = {"i": i, "scores": scores}
            yield Iterate(t, w, problem, dual=q, momentum=g, extra=extra)
            w = w + self.step * (g + a)
            scores = self.followed(scores, score_momentum + column)


@FAMILY.mutant(
    "step-squared",
    "‖w_t‖ is at most ln n however small ε is, and w_t stays near the mean of the rows",
    step=0.5,
    momentum=False,
)
class StepSquared(Sampling):
    """The step is θ² = ln(n)/t in place of θ = √(ln(n)/t)."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        return Sampling(self.step**2, self.momentum).iterates(problem, rng)


@FAMILY.mutant("uniform-sampling", "rows that are far from the margin pull w away", momentum=False)
class UniformSampling(Sampling):
    """i_t is drawn uniformly in place of from q_t."""

    def draw(self, q: Floats, rng: np.random.Generator) -> int:
        return draw(np.full(q.size, 1 / q.size), rng)


@FAMILY.mutant(
    "easiest-rows", "the rows that are classified best are drawn most often", momentum=False
)
class EasiestRows(Sampling):
    """q_t ∝ exp(+A w_t)."""

    def weights(self, scores: Floats) -> Floats:
        return soften(-scores, 1.0)[0]


@FAMILY.mutant(
    "scores-forget-the-step", "q_t is the softmax of 2 A w_t here", step=0.5, momentum=False
)
class ScoresForgetTheStep(Sampling):
    """A w_t is carried along without θ."""

    def followed(self, scores: Floats, pushed: Floats) -> Floats:
        return scores + pushed


# The methods of Figures 1 to 3 ------------------------------------------------------------------


class Descent(GradientDescent):
    """Gradient descent on the exponential risk."""

    def risk(self, problem: Problem, soft: SoftMin) -> float:
        return math.exp(soft.logsumexp - math.log(problem.n))

    def _exponential(self, problem: Problem) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            soft = problem.softmin(w)
            yield Iterate(t, w, problem, soft)
            w = w + self.step * self.risk(problem, soft) * soft.pull


@FAMILY.mutant("risk-forgotten", "this is normalised gradient descent with a step of η")
class RiskForgotten(Descent):
    """Aᵀq_t is taken for −∇R(w_t), without the factor R(w_t)."""

    def risk(self, problem: Problem, soft: SoftMin) -> float:
        return 1.0


@FAMILY.mutant("mean-taken-twice", "the step is η/n")
class MeanTakenTwice(Descent):
    """The risk is divided by n once more."""

    def risk(self, problem: Problem, soft: SoftMin) -> float:
        return super().risk(problem, soft) / problem.n


class Normalised(NormalizedGradientDescent):
    """Normalised gradient descent."""

    def theta(self, t: int) -> float:
        return self.step / math.sqrt(t + 1) if self.decay else self.step

    def seen(self, problem: Problem, w: Floats) -> Seen:
        return seen_by_softmax(problem, w)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            pull, soft, q, _ = self.seen(problem, w)
            yield Iterate(t, w, problem, soft, dual=q)
            w = w + self.theta(t) * pull


@FAMILY.mutant("decays-anyway", "the rate is 1/√t in place of 1/t")
class DecaysAnyway(Normalised):
    """θ_t = θ_0/√(t+1) also where the step is to be constant."""

    def theta(self, t: int) -> float:
        return self.step / math.sqrt(t + 1)


@FAMILY.mutant("unit-length-steps", "the gradient is to be divided by the risk, not by its norm")
class UnitLengthSteps(Normalised):
    """Every step has length θ_t."""

    def seen(self, problem: Problem, w: Floats) -> Seen:
        soft = problem.softmin(w)
        pull = soft.pull / (problem.norm(soft.pull) or 1.0)
        return Seen(pull, replace(soft, pull=pull))


class Ascent(HardMarginAscent):
    """The batch perceptron of Cotter et al.; t is the number of points in the mean before."""

    def first(self, problem: Problem) -> float:
        return self.step / problem.radius if problem.radius > 0 else self.step

    def shrink(self, square: float) -> float:
        return 1 / math.sqrt(square) if square > 1 else 1.0

    def mean(self, mean: Floats, v: Floats, t: int) -> Floats:
        return mean + (v - mean) / (t + 1)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        first = self.first(problem)
        v = mean = problem.origin()
        scores, square = np.zeros(problem.n), 0.0
        for t in count():
            i = int(np.argmin(scores))
            extra = {"v": v, "i": i, "scores": scores}
            yield Iterate(t, mean if self.averaged else v, problem, extra=extra)
            eta = first / math.sqrt(t + 1)
            a = problem.row(i)
            column = problem.scores(a)
            square += 2 * eta * float(scores[i]) + eta**2 * float(column[i])
            shrink = self.shrink(square)
            v = shrink * (v + eta * a)
            scores = shrink * (scores + eta * column)
            square = min(square, 1.0)
            mean = self.mean(mean, v, t)


@FAMILY.mutant("no-projection", "the ascent is over the unit ball, and leaves it")
class NoProjection(Ascent):
    """v_{t+1} = u, however long u is."""

    def shrink(self, square: float) -> float:
        return 1.0


@FAMILY.mutant("averages-the-start-too", "w_1 is only half of v_1, and all of w_t is too short")
class AveragesTheStartToo(Ascent):
    """w_{t+1} = (v_0 + … + v_{t+1})/(t+2)."""

    def mean(self, mean: Floats, v: Floats, t: int) -> Floats:
        return mean + (v - mean) / (t + 2)


@FAMILY.mutant(
    "radius-forgotten",
    "one step may already leave the unit ball",
    equivalent="only where the radius of the problem is not 1, and so never on problem.unit()",
)
class FirstStepOfOne(Ascent):
    """η_0 = 1 in place of 1/max_i ‖a_i‖."""

    def first(self, problem: Problem) -> float:
        return self.step


LOOPS = (
    Momentum(),
    Momentum(0.5, loss="logistic"),
    Sequences(),
    Sequences(0.5, 0.25, loss="logistic"),
    Sampling(),
    Sampling(0.3, momentum=False),
    Descent(),
    Normalised(),
    Normalised(decay=True),
    Ascent(),
    Ascent(0.5, averaged=False),
)
