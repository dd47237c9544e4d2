"""Mutants of the solvers of Ji, Srebro and Telgarsky (2021): lines of a solver, made wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from gammabar.harness.paper import Family
from gammabar.problems import Problem, SoftMin
from gammabar.problems.problem import Floats
from gammabar.solvers.ji_srebro_telgarsky import (
    AdaptiveSampling,
    DualAcceleration,
    DualForm,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
)

FAMILY = Family("jst", __name__)

# Algorithm 1

_PASS = "soft = problem.softmin(w)  # one pass over the data"
_G, _W = "momentum = t / (t + 1) * (momentum + pull)", "w = w + step * (momentum + pull)"


def _weighted(problem: Problem, w: Floats, q: Floats, rows: Problem) -> tuple[Floats, SoftMin]:
    """Weights q that are not the softmax of the scores, and Aᵀq."""
    return q, replace(problem.softmin(w), pull=rows.combine(q))


def _first_half(scores: Floats) -> Floats:
    """The softmax over the first half of the rows."""
    far = np.where(np.arange(len(scores)) < (len(scores) + 1) // 2, scores, np.inf)
    weights = np.exp(far.min() - far)
    return np.asarray(weights / weights.sum())


_momentum = partial(FAMILY.edit, DualAcceleration)
_momentum(
    "momentum-index-shifted",
    "β_t = (t+1)/(t+2) in place of t/(t+1)",
    "w_t is no longer what the accelerated dual makes of it",
    {"t / (t + 1)": "(t + 1) / (t + 2)"},
)
_momentum(
    "no-momentum",
    "β_t = 0",
    "this is normalised gradient descent, whose rate is 1/t and not 1/t²",
    {"t / (t + 1)": "0.0"},
)
_momentum(
    "half-step-dropped",
    "w_{t+1} = w_t + θ g_t, without Aᵀq_t",
    "w_1 is still 0, and every row counts for less than it should",
    {_W: "w = w + step * momentum"},
)
_momentum(
    "stale-weights",
    "q_{t−1} takes the place of q_t",
    "each step answers the scores of the last iterate, not of this one",
    {
        "w = momentum = problem": "w = before = momentum = problem",
        _PASS: "q = soften(problem.scores(before), 1.0)[0]; "
        "q, soft = _weighted(problem, w, q, problem)",
        _W: f"before = w; {_W}",
    },
)
_momentum(
    "wrong-sign",
    "w_{t+1} = w_t − θ (g_t + Aᵀq_t)",
    "it runs away from the rows, as with the paper's Z where A is meant",
    {_W: "w = w - step * (momentum + pull)"},
)
_momentum(
    "step-doubled",
    "The step is 2θ",
    "the analysis allows no step above 1/ρ",
    {"step = self.step": "step = 2 * self.step"},
)
_momentum(
    "radius-forgotten",
    "It runs on the rows as they are in the data, also if it is given the unit ball",
    "the analysis needs rows of norm at most one",
    {
        _PASS: "raw = problem.raw(); "
        "q, soft = _weighted(problem, w, soften(raw.scores(w), 1.0)[0], raw)"
    },
)
_momentum(
    "half-the-data",
    "q_t is the softmax over the first half of the rows",
    "the margin of the rows that it never sees is left to chance",
    {_PASS: "q, soft = _weighted(problem, w, _first_half(problem.scores(w)), problem)"},
)
_momentum(
    "single-precision",
    "Iterates are rounded to single precision",
    "rounding errors of 10⁻⁷ gather where bounds shrink as 1/t²",
    {_W: "w = np.float64((w + step * (momentum + pull)).astype(np.float32))"},
    equivalent="only by the rounding of float32 numbers, which is recognised and allowed for",
)
_momentum(
    "softmax-for-logistic",
    "With the logistic loss, q_t is the softmax, which is ∇ψ of the exponential loss",
    "the weights are not the gradient of the potential that is descended",
    {"gradient(scores, self.loss)": 'gradient(scores, "exponential")'},
    loss="logistic",
)
_momentum(
    "plain-average",
    "β_t = 0, and what it reports as 2g_t/t is the mean of Aᵀq_1, …, Aᵀq_t",
    "the dual of normalised gradient descent falls as 1/t, not as 1/t²",
    {
        _G: "momentum = momentum + pull if t else momentum",
        "momentum=momentum": "momentum=momentum / 2",
        _W: "w = w + step * pull",
    },
)
_momentum(
    "reports-last-momentum",
    "The momentum that it reports is g_{t−1}",
    "w_t is right, but the certificate ‖g_t‖ is one step old",
    {_G: f"last = momentum; {_G}", "momentum=momentum": "momentum=last"},
)


# Section 3.2: the dual form

_Q, _MU, _NU = (
    " q = gradient(p, self.loss)",
    " mu = (1 - lam) * mu",
    "nu = (1 - lam) * mu + lam * q",
)
_dual = partial(FAMILY.edit, DualForm)
_dual(
    "mu-one-behind",
    "μ_{t+1} = (1 − λ_t) μ_t + λ_t q_t, with q_t in place of q_{t+1}",
    "the rate 1/t² is that of a mean that has seen the newest weights",
    {_Q: f" last = q;{_Q}", f"{_MU} + lam * q": f"{_MU} + lam * last"},
)
_dual(
    "nu-swapped",
    "ν_t = λ_t μ_t + (1 − λ_t) q_t, with μ and q swapped",
    "the gradient is taken near the wrong end of the segment",
    {_NU: "nu = lam * mu + (1 - lam) * q"},
)
_dual(
    "weights-too-flat",
    "q_t = ∇ψ(−0.99 p_t), at a temperature a little too high",
    "the step of the mirror descent is no longer that of its weights",
    {_Q: " q = gradient(0.99 * p, self.loss)"},
)
_dual(
    "lambda-index-shifted",
    "λ_t = 2/(t+3) in place of 2/(t+2)",
    "λ_0 is not 1, which all of the analysis assumes",
    {"lam, theta = self.lambda_(t)": "lam, theta = 2 / (t + 3)"},
)
_dual(
    "primal-from-mu",
    "w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀμ_t, with μ_t in place of ν_t",
    "the dual sequences are right, but w_t is not the primal of p_t",
    {"w = w + theta / (rho * lam) * pull": "w = w + theta / (rho * lam) * problem.combine(mu)"},
)
_dual(
    "mirror-descent-instead",
    "ν_t = q_t with steps θ/ρ, and μ_t is the mean of q_1, …, q_t",
    "the mean of its weights is optimal up to 1/t, not 1/t²",
    {_NU: "nu, lam = q, 1.0", f"{_MU} + lam * q": " mu = mu + (q - mu) / (t + 1)"},
)
_dual(
    "reports-nu-as-mu",
    "The μ_t that it reports is ν_t",
    "every iterate is right, but what it claims of φ(μ_t) is of ν_t",
    {'"mu": mu': '"mu": nu'},
)


# Algorithm 2. Theorem 4.1 is about the method without momentum, and so are the mutants.

_DRAW = "i = draw(q, rng)"
_sampling = partial(FAMILY.edit, AdaptiveSampling, momentum=False)
_sampling(
    "step-squared",
    "The step is θ² = ln(n)/t in place of θ = √(ln(n)/t)",
    "‖w_t‖ is at most ln n however small ε is, and w_t stays near the mean of the rows",
    {"self.step *": "self.step**2 *"},
    step=0.5,
)
_sampling(
    "uniform-sampling",
    "i_t is drawn uniformly in place of from q_t",
    "rows that are far from the margin pull w away",
    {_DRAW: "i = draw(np.full(q.size, 1 / q.size), rng)"},
)
_sampling(
    "greedy-sampling",
    "i_t is the row of largest weight in place of one drawn from q_t",
    "it is no sampling: rows of the same weight are not taken equally often",
    {_DRAW: "i = int(np.argmax(q))"},
)
_sampling(
    "tempered-sampling",
    "i_t is drawn from the weights q_t^1.5",
    "rows of small weight are drawn too seldom for a step that is Aᵀq_t in the mean",
    {_DRAW: "i = draw(q**1.5, rng)"},
)
_sampling(
    "mixed-sampling",
    "i_t is drawn from 0.9 q_t + 0.1/n",
    "every tenth row is any row, however far it is from the margin",
    {_DRAW: "i = draw(0.9 * q + 0.1 / q.size, rng)"},
)
_sampling(
    "stale-sampling",
    "i_t is drawn from q_{t−1}",
    "the row drawn last is drawn again too often",
    {_DRAW: "i = draw(last if t else q, rng); last = q"},
)
_sampling(
    "easiest-rows",
    "q_t ∝ exp(+A w_t)",
    "the rows that are classified best are drawn most often",
    {"soften(scores, 1.0)": "soften(-scores, 1.0)"},
)
_sampling(
    "scores-forget-the-step",
    "A w_t is carried along without θ",
    "q_t is the softmax of 2 A w_t here",
    {"scores + self.step * (": "scores + ("},
    step=0.5,
)


# The methods of Figures 1 to 3

_RISK = "_exp(soft.logsumexp - math.log(problem.n))"
_descent = partial(FAMILY.edit, GradientDescent)
_descent(
    "risk-forgotten",
    "Aᵀq_t is taken for −∇R(w_t), without the factor R(w_t)",
    "this is normalised gradient descent with a step of η",
    {_RISK: "1.0"},
)
_descent(
    "mean-taken-twice",
    "The risk is divided by n once more",
    "the step is η/n",
    {_RISK: f"{_RISK} / problem.n"},
)


def _unit_length(problem: Problem, soft: SoftMin) -> SoftMin:
    """Aᵀq_t, divided by its norm."""
    return replace(soft, pull=soft.pull / (problem.norm(soft.pull) or 1.0))


_normalised = partial(FAMILY.edit, NormalizedGradientDescent)
_normalised(
    "decays-anyway",
    "θ_t = θ_0/√(t+1) also where the step is to be constant",
    "the rate is 1/√t in place of 1/t",
    {" if self.decay else self.step": ""},
)
_normalised(
    "unit-length-steps",
    "Every step has length θ_t",
    "the gradient is to be divided by the risk, not by its norm",
    {"problem.softmin(w)": "_unit_length(problem, problem.softmin(w))"},
)

_ascent = partial(FAMILY.edit, HardMarginAscent)
_ascent(
    "no-projection",
    "v_{t+1} = u, however long u is",
    "the ascent is over the unit ball, and leaves it",
    {"1 / math.sqrt(square) if square > 1 else 1.0": "1.0"},
)
_ascent(
    "averages-the-start-too",
    "w_{t+1} = (v_0 + … + v_{t+1})/(t+2)",
    "w_1 is only half of v_1, and all of w_t is too short",
    {"(v - mean) / (t + 1)": "(v - mean) / (t + 2)"},
)
_ascent(
    "radius-forgotten",
    "η_0 = 1 in place of 1/max_i ‖a_i‖",
    "one step may already leave the unit ball",
    {"self.step / problem.radius if problem.radius > 0 else self.step": "self.step"},
    equivalent="only where the radius of the problem is not 1, and so never on problem.unit()",
)
