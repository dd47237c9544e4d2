"""Mutants of the solvers of Ji, Srebro and Telgarsky (2021): each loop once, then wrong lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from gammabar.harness.paper import Family, Rng
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


class _Seen(NamedTuple):
    """Aᵀq_t, and what an iterate says about it."""

    pull: Floats
    soft: SoftMin | None
    dual: Array | None = None
    computed: Array | None = None


def _by_softmax(problem: Problem, w: Floats) -> _Seen:
    soft = problem.softmin(w)
    return _Seen(soft.pull, soft)


def _by_weights(problem: Problem, w: Floats, q: Floats, pull: Floats | None = None) -> _Seen:
    """Weights q that are not the softmax of the scores."""
    pull = problem.combine(q) if pull is None else pull
    return _Seen(pull, replace(problem.softmin(w), pull=pull), q)


def _by_gradient(problem: Problem, w: Floats, loss: str) -> _Seen:
    scores = problem.scores(w)
    q = gradient(scores, loss)
    return _Seen(problem.combine(q), None, q, scores)


# Algorithm 1 ------------------------------------------------------------------------------------


class _Momentum(DualAcceleration):
    """Algorithm 1; `before` is w_{t−1}."""

    def theta(self, problem: Problem) -> float:
        return self.step / self.rho(problem.n)

    def seen(self, problem: Problem, w: Floats, before: Floats) -> _Seen:
        if self.loss == "exponential":
            return _by_softmax(problem, w)
        return _by_gradient(problem, w, self.loss)

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


def _raw_rows(self: _Momentum, problem: Problem, w: Floats, before: Floats) -> _Seen:
    raw = problem.raw()
    q = soften(raw.scores(w), 1.0)[0]
    return _by_weights(problem, w, q, raw.combine(q))


def _first_half(self: _Momentum, problem: Problem, w: Floats, before: Floats) -> _Seen:
    half = (problem.n + 1) // 2
    q = np.zeros(problem.n)
    q[:half] = soften(problem.scores(w)[:half], 1.0)[0]
    return _by_weights(problem, w, q)


_momentum = partial(FAMILY.variant, _Momentum)
_momentum(
    "momentum-index-shifted",
    "β_t = (t+1)/(t+2) in place of t/(t+1)",
    "w_t is no longer what the accelerated dual makes of it",
    beta=lambda self, t: (t + 1) / (t + 2),
)
_momentum(
    "no-momentum",
    "β_t = 0",
    "this is normalised gradient descent, whose rate is 1/t and not 1/t²",
    beta=lambda self, t: 0.0,
)
_momentum(
    "half-step-dropped",
    "w_{t+1} = w_t + θ g_t, without Aᵀq_t",
    "w_1 is still 0, and every row counts for less than it should",
    moved=lambda self, w, theta, momentum, pull: w + theta * momentum,
)
_momentum(
    "stale-weights",
    "q_{t−1} takes the place of q_t",
    "each step answers the scores of the last iterate, not of this one",
    seen=lambda self, problem, w, before: _by_weights(
        problem, w, soften(problem.scores(before), 1.0)[0]
    ),
)
_momentum(
    "wrong-sign",
    "w_{t+1} = w_t − θ (g_t + Aᵀq_t)",
    "it runs away from the rows, as with the paper's Z where A is meant",
    moved=lambda self, w, theta, momentum, pull: w - theta * (momentum + pull),
)
_momentum(
    "step-doubled",
    "The step is 2θ",
    "the analysis allows no step above 1/ρ",
    theta=lambda self, problem: 2 * self.step / self.rho(problem.n),
)
_momentum(
    "radius-forgotten",
    "It runs on the rows as they are in the data, also if it is given the unit ball",
    "the analysis needs rows of norm at most one",
    seen=_raw_rows,
)
_momentum(
    "half-the-data",
    "q_t is the softmax over the first half of the rows",
    "the margin of the rows that it never sees is left to chance",
    seen=_first_half,
)
_momentum(
    "single-precision",
    "Iterates are rounded to single precision",
    "rounding errors of 10⁻⁷ gather where bounds shrink as 1/t²",
    moved=lambda self, w, theta, momentum, pull: np.float64(
        (w + theta * (momentum + pull)).astype(np.float32)
    ),
)
_momentum(
    "softmax-for-logistic",
    "With the logistic loss, q_t is the softmax, which is ∇ψ of the exponential loss",
    "the weights are not the gradient of the potential that is descended",
    options={"loss": "logistic"},
    seen=lambda self, problem, w, before: _by_gradient(problem, w, "exponential"),
)


@FAMILY.mutant("plain-average", "the dual of normalised gradient descent falls as 1/t, not as 1/t²")
class _PlainAverage(_Momentum):
    """β_t = 0, and what it reports as 2g_t/t is the mean of Aᵀq_1, …, Aᵀq_t."""

    def beta(self, t: int) -> float:
        return 0.0

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = problem.origin()
        for it in super().iterates(problem, rng):
            if it.t:
                total = total + problem.combine(it.weights)
            yield replace(it, momentum=total / 2)


@FAMILY.mutant("reports-last-momentum", "w_t is right, but the certificate ‖g_t‖ is one step old")
class _ReportsLastMomentum(DualAcceleration):
    """The momentum that it reports is g_{t−1}."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        last: Array | None = problem.origin()
        for it in super().iterates(problem, rng):
            yield replace(it, momentum=last)
            last = it.momentum


# Section 3.2: the dual form ---------------------------------------------------------------------


class _Sequences(DualForm):
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


_sequences = partial(FAMILY.variant, _Sequences)
_sequences(
    "mu-one-behind",
    "μ_{t+1} = (1 − λ_t) μ_t + λ_t q_t, with q_t in place of q_{t+1}",
    "the rate 1/t² is that of a mean that has seen the newest weights",
    mu=lambda self, lam, mu, q, new: (1 - lam) * mu + lam * q,
)
_sequences(
    "nu-swapped",
    "ν_t = λ_t μ_t + (1 − λ_t) q_t, with μ and q swapped",
    "the gradient is taken near the wrong end of the segment",
    nu=lambda self, lam, mu, q: lam * mu + (1 - lam) * q,
)
_sequences(
    "weights-too-flat",
    "q_t = ∇ψ(−0.99 p_t), at a temperature a little too high",
    "the step of the mirror descent is no longer that of its weights",
    weights=lambda self, p: gradient(0.99 * p, self.loss),
)
_sequences(
    "lambda-index-shifted",
    "λ_t = 2/(t+3) in place of 2/(t+2)",
    "λ_0 is not 1, which all of the analysis assumes",
    lambda_=lambda self, t: 2 / (t + 3),
)
_sequences(
    "primal-from-mu",
    "w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀμ_t, with μ_t in place of ν_t",
    "the dual sequences are right, but w_t is not the primal of p_t",
    moved=lambda self, problem, w, length, mu, nu: w + length * problem.combine(mu),
)


@FAMILY.mutant("mirror-descent-instead", "the mean of its weights is optimal up to 1/t, not 1/t²")
class _MirrorDescentInstead(DualForm):
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


@FAMILY.mutant("reports-nu-as-mu", "every iterate is right, but what it claims of φ(μ_t) is of ν_t")
class _ReportsNuAsMu(DualForm):
    """The μ_t that it reports is ν_t."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"mu": it.extra["nu"]})


# Algorithm 2. Theorem 4.1 is about the method without momentum, and so are the mutants. -----------


class _Sampling(AdaptiveSampling):
    """Algorithm 2."""

    def theta(self) -> float:
        return self.step

    def weights(self, scores: Floats) -> Floats:
        return soften(scores, 1.0)[0]

    def draw(self, q: Floats, last: Floats, rng: np.random.Generator) -> int:
        """A row; `last` is q_{t−1}."""
        return draw(q, rng)

    def followed(self, scores: Floats, pushed: Floats) -> Floats:
        """A w_{t+1} from A w_t and A (g_t + a_i)."""
        return scores + self.theta() * pushed

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        w = g = problem.origin()
        scores = score_momentum = np.zeros(problem.n)
        q = self.weights(scores)
        for t in count():
            last, q = q, self.weights(scores)
            i = self.draw(q, last, rng)
            a = problem.row(i)
            column = problem.scores(a)
            beta = t / (t + 1) if self.momentum else 0.0
            g = beta * (g + a)
            score_momentum = beta * (score_momentum + column)
            extra = {"i": i, "scores": scores}
            yield Iterate(t, w, problem, dual=q, momentum=g, extra=extra)
            w = w + self.theta() * (g + a)
            scores = self.followed(scores, score_momentum + column)


_sampling = partial(FAMILY.variant, _Sampling)
_sampling(
    "step-squared",
    "The step is θ² = ln(n)/t in place of θ = √(ln(n)/t)",
    "‖w_t‖ is at most ln n however small ε is, and w_t stays near the mean of the rows",
    options={"step": 0.5, "momentum": False},
    theta=lambda self: self.step**2,
)
_sampling(
    "uniform-sampling",
    "i_t is drawn uniformly in place of from q_t",
    "rows that are far from the margin pull w away",
    options={"momentum": False},
    draw=lambda self, q, last, rng: draw(np.full(q.size, 1 / q.size), rng),
)
_sampling(
    "greedy-sampling",
    "i_t is the row of largest weight in place of one drawn from q_t",
    "it is no sampling: rows of the same weight are not taken equally often",
    options={"momentum": False},
    draw=lambda self, q, last, rng: int(np.argmax(q)),
)
_sampling(
    "tempered-sampling",
    "i_t is drawn from the weights q_t^1.5",
    "rows of small weight are drawn too seldom for a step that is Aᵀq_t in the mean",
    options={"momentum": False},
    draw=lambda self, q, last, rng: draw(q**1.5, rng),
)
_sampling(
    "mixed-sampling",
    "i_t is drawn from 0.9 q_t + 0.1/n",
    "every tenth row is any row, however far it is from the margin",
    options={"momentum": False},
    draw=lambda self, q, last, rng: draw(0.9 * q + 0.1 / q.size, rng),
)
_sampling(
    "stale-sampling",
    "i_t is drawn from q_{t−1}",
    "the row drawn last is drawn again too often",
    options={"momentum": False},
    draw=lambda self, q, last, rng: draw(last, rng),
)
_sampling(
    "easiest-rows",
    "q_t ∝ exp(+A w_t)",
    "the rows that are classified best are drawn most often",
    options={"momentum": False},
    weights=lambda self, scores: soften(-scores, 1.0)[0],
)
_sampling(
    "scores-forget-the-step",
    "A w_t is carried along without θ",
    "q_t is the softmax of 2 A w_t here",
    options={"step": 0.5, "momentum": False},
    followed=lambda self, scores, pushed: scores + pushed,
)


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


FAMILY.variant(
    Descent,
    "risk-forgotten",
    "Aᵀq_t is taken for −∇R(w_t), without the factor R(w_t)",
    "this is normalised gradient descent with a step of η",
    risk=lambda self, problem, soft: 1.0,
)
FAMILY.variant(
    Descent,
    "mean-taken-twice",
    "The risk is divided by n once more",
    "the step is η/n",
    risk=lambda self, problem, soft: Descent.risk(self, problem, soft) / problem.n,
)


class Normalised(NormalizedGradientDescent):
    """Normalised gradient descent."""

    def theta(self, t: int) -> float:
        return self.step / math.sqrt(t + 1) if self.decay else self.step

    def seen(self, problem: Problem, w: Floats) -> _Seen:
        return _by_softmax(problem, w)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            pull, soft, q, _ = self.seen(problem, w)
            yield Iterate(t, w, problem, soft, dual=q)
            w = w + self.theta(t) * pull


def _unit_length(self: Normalised, problem: Problem, w: Floats) -> _Seen:
    soft = problem.softmin(w)
    pull = soft.pull / (problem.norm(soft.pull) or 1.0)
    return _Seen(pull, replace(soft, pull=pull))


FAMILY.variant(
    Normalised,
    "decays-anyway",
    "θ_t = θ_0/√(t+1) also where the step is to be constant",
    "the rate is 1/√t in place of 1/t",
    theta=lambda self, t: self.step / math.sqrt(t + 1),
)
FAMILY.variant(
    Normalised,
    "unit-length-steps",
    "Every step has length θ_t",
    "the gradient is to be divided by the risk, not by its norm",
    seen=_unit_length,
)


class _Ascent(HardMarginAscent):
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


_ascent = partial(FAMILY.variant, _Ascent)
_ascent(
    "no-projection",
    "v_{t+1} = u, however long u is",
    "the ascent is over the unit ball, and leaves it",
    shrink=lambda self, square: 1.0,
)
_ascent(
    "averages-the-start-too",
    "w_{t+1} = (v_0 + … + v_{t+1})/(t+2)",
    "w_1 is only half of v_1, and all of w_t is too short",
    mean=lambda self, mean, v, t: mean + (v - mean) / (t + 2),
)
_ascent(
    "radius-forgotten",
    "η_0 = 1 in place of 1/max_i ‖a_i‖",
    "one step may already leave the unit ball",
    equivalent="only where the radius of the problem is not 1, and so never on problem.unit()",
    first=lambda self, problem: self.step,
)

LOOPS = (
    _Momentum(),
    _Momentum(0.5, loss="logistic"),
    _Sequences(),
    _Sequences(0.5, 0.25, loss="logistic"),
    _Sampling(),
    _Sampling(0.3, momentum=False),
    Descent(),
    Normalised(),
    Normalised(decay=True),
    _Ascent(),
    _Ascent(0.5, averaged=False),
)
