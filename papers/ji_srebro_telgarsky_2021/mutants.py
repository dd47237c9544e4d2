"""Mutants of the solvers of Ji, Srebro and Telgarsky (2021): lines of a solver, made wrong."""

from dataclasses import replace

import numpy as np

from gammabar.harness.paper import Family
from gammabar.problems import Problem, SoftMin
from gammabar.problems.problem import Floats

FAMILY = Family("jst", __name__)


def _weighted(problem: Problem, w: Floats, q: Floats, rows: Problem) -> tuple[Floats, SoftMin]:
    """Weights q that are not the softmax of the scores, and Aᵀq."""
    return q, replace(problem.softmin(w), pull=rows.combine(q))


def _first_half(scores: Floats) -> Floats:
    """The softmax over the first half of the rows."""
    far = np.where(np.arange(len(scores)) < (len(scores) + 1) // 2, scores, np.inf)
    weights = np.exp(far.min() - far)
    return np.asarray(weights / weights.sum())


def _unit_length(problem: Problem, soft: SoftMin) -> SoftMin:
    """Aᵀq_t, divided by its norm."""
    return replace(soft, pull=soft.pull / (problem.norm(soft.pull) or 1.0))


# Algorithm 1, its dual form of Section 3.2, and the methods of Figures 1 to 3
FAMILY.patches("""
dual-acceleration/momentum-index-shifted: β_t = (t+1)/(t+2) in place of t/(t+1): w_t is no longer
what the accelerated dual makes of it.
    t / (t + 1) → (t + 1) / (t + 2)
dual-acceleration/no-momentum: β_t = 0: this is normalised gradient descent, whose rate is 1/t and
not 1/t².
    t / (t + 1) → 0.0
dual-acceleration/half-step-dropped: w_{t+1} = w_t + θ g_t, without Aᵀq_t: w_1 is still 0, and every
row counts for less than it should.
    w = w + step * (momentum + pull) → w = w + step * momentum
dual-acceleration/stale-weights: q_{t−1} takes the place of q_t: each step answers the scores of the
last iterate, not of this one.
    w = momentum = problem → w = before = momentum = problem
    soft = problem.softmin(w)  # one pass over the data
    → q = soften(problem.scores(before), 1.0)[0]
    → q, soft = _weighted(problem, w, q, problem)
    w = w + step * (momentum + pull)
    → before = w
    → w = w + step * (momentum + pull)
dual-acceleration/wrong-sign: w_{t+1} = w_t − θ (g_t + Aᵀq_t): it runs away from the rows, as with
the paper's Z where A is meant.
    w = w + step * (momentum + pull) → w = w - step * (momentum + pull)
dual-acceleration/step-doubled: The step is 2θ: the analysis allows no step above 1/ρ.
    step = self.step → step = 2 * self.step
dual-acceleration/radius-forgotten: It runs on the rows as they are in the data, also if it is given
the unit ball: the analysis needs rows of norm at most one.
    soft = problem.softmin(w)  # one pass over the data
    → raw = problem.raw()
    → q, soft = _weighted(problem, w, soften(raw.scores(w), 1.0)[0], raw)
dual-acceleration/half-the-data: q_t is the softmax over the first half of the rows: the margin of
the rows that it never sees is left to chance.
    soft = problem.softmin(w)  # one pass over the data
    → q, soft = _weighted(problem, w, _first_half(problem.scores(w)), problem)
dual-acceleration/single-precision: Iterates are rounded to single precision: rounding errors of
10⁻⁷ gather where bounds shrink as 1/t².
    w = w + step * (momentum + pull)
    → w = np.float64((w + step * (momentum + pull)).astype(np.float32))
    only: only by the rounding of float32 numbers, which is recognised and allowed for
""")
FAMILY.patches(
    """
dual-acceleration/softmax-for-logistic: With the logistic loss, q_t is the softmax, which is ∇ψ of
the exponential loss: the weights are not the gradient of the potential that is descended.
    gradient(scores, self.loss) → gradient(scores, "exponential")
""",
    loss="logistic",
)
FAMILY.patches("""
dual-acceleration/plain-average: β_t = 0, and what it reports as 2g_t/t is the mean of Aᵀq_1, …,
Aᵀq_t: the dual of normalised gradient descent falls as 1/t, not as 1/t².
    momentum = t / (t + 1) * (momentum + pull) → momentum = momentum + pull if t else momentum
    momentum=momentum → momentum=momentum / 2
    w = w + step * (momentum + pull) → w = w + step * pull
dual-acceleration/reports-last-momentum: The momentum that it reports is g_{t−1}: w_t is right, but
the certificate ‖g_t‖ is one step old.
    momentum = t / (t + 1) * (momentum + pull)
    → last = momentum
    → momentum = t / (t + 1) * (momentum + pull)
    momentum=momentum → momentum=last

dual-acceleration-dual/mu-one-behind: μ_{t+1} = (1 − λ_t) μ_t + λ_t q_t, with q_t in place of
q_{t+1}: the rate 1/t² is that of a mean that has seen the newest weights.
    q = gradient(p, self.loss)
    → last = q
    → q = gradient(p, self.loss)
    mu = (1 - lam) * mu + lam * q → mu = (1 - lam) * mu + lam * last
dual-acceleration-dual/nu-swapped: ν_t = λ_t μ_t + (1 − λ_t) q_t, with μ and q swapped: the gradient
is taken near the wrong end of the segment.
    nu = (1 - lam) * mu + lam * q → nu = lam * mu + (1 - lam) * q
dual-acceleration-dual/weights-too-flat: q_t = ∇ψ(−0.99 p_t), at a temperature a little too high:
the step of the mirror descent is no longer that of its weights.
    gradient(p, self.loss) → gradient(0.99 * p, self.loss)
dual-acceleration-dual/lambda-index-shifted: λ_t = 2/(t+3) in place of 2/(t+2): λ_0 is not 1, which
all of the analysis assumes.
    lam, theta = self.lambda_(t) → lam, theta = 2 / (t + 3)
dual-acceleration-dual/primal-from-mu: w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀμ_t, with μ_t in place of ν_t:
the dual sequences are right, but w_t is not the primal of p_t.
    w = w + theta / (rho * lam) * pull → w = w + theta / (rho * lam) * problem.combine(mu)
dual-acceleration-dual/mirror-descent-instead: ν_t = q_t with steps θ/ρ, and μ_t is the mean of q_1,
…, q_t: the mean of its weights is optimal up to 1/t, not 1/t².
    nu = (1 - lam) * mu + lam * q → nu, lam = q, 1.0
    mu = (1 - lam) * mu + lam * q → mu = mu + (q - mu) / (t + 1)
dual-acceleration-dual/reports-nu-as-mu: The μ_t that it reports is ν_t: every iterate is right, but
what it claims of φ(μ_t) is of ν_t.
    "mu": mu → "mu": nu

gradient-descent/risk-forgotten: Aᵀq_t is taken for −∇R(w_t), without the factor R(w_t): this is
normalised gradient descent with a step of η.
    _exp(soft.logsumexp - math.log(problem.n)) → 1.0
gradient-descent/mean-taken-twice: The risk is divided by n once more: the step is η/n.
    _exp(soft.logsumexp - math.log(problem.n))
    → _exp(soft.logsumexp - math.log(problem.n)) / problem.n

normalized-gradient-descent/decays-anyway: θ_t = θ_0/√(t+1) also where the step is to be constant:
the rate is 1/√t in place of 1/t.
    math.sqrt(t + 1) if self.decay else self.step → math.sqrt(t + 1)
normalized-gradient-descent/unit-length-steps: Every step has length θ_t: the gradient is to be
divided by the risk, not by its norm.
    problem.softmin(w) → _unit_length(problem, problem.softmin(w))

batch-perceptron-cotter/no-projection: v_{t+1} = u, however long u is: the ascent is over the unit
ball, and leaves it.
    1 / math.sqrt(square) if square > 1 else 1.0 → 1.0
batch-perceptron-cotter/averages-the-start-too: w_{t+1} = (v_0 + … + v_{t+1})/(t+2): w_1 is only
half of v_1, and all of w_t is too short.
    (v - mean) / (t + 1) → (v - mean) / (t + 2)
batch-perceptron-cotter/radius-forgotten: η_0 = 1 in place of 1/max_i ‖a_i‖: one step may already
leave the unit ball.
    self.step / problem.radius if problem.radius > 0 else self.step → self.step
    only: only where the radius of the problem is not 1, and so never on problem.unit()
""")

# Algorithm 2. Theorem 4.1 is about the method without momentum, and so are the mutants.
FAMILY.patches(
    """
adaptive-sampling/step-squared: The step is θ² = ln(n)/t in place of θ = √(ln(n)/t): ‖w_t‖ is at
most ln n however small ε is, and w_t stays near the mean of the rows.
    self.step * → self.step**2 *
adaptive-sampling/scores-forget-the-step: A w_t is carried along without θ: q_t is the softmax of
2 A w_t here.
    scores + self.step * ( → scores + (
""",
    momentum=False,
    step=0.5,
)
FAMILY.patches(
    """
adaptive-sampling/uniform-sampling: i_t is drawn uniformly in place of from q_t: rows that are far
from the margin pull w away.
    draw(q, rng) → draw(np.full(q.size, 1 / q.size), rng)
adaptive-sampling/greedy-sampling: i_t is the row of largest weight in place of one drawn from q_t:
it is no sampling: rows of the same weight are not taken equally often.
    draw(q, rng) → int(np.argmax(q))
adaptive-sampling/tempered-sampling: i_t is drawn from the weights q_t^1.5: rows of small weight are
drawn too seldom for a step that is Aᵀq_t in the mean.
    draw(q, rng) → draw(q**1.5, rng)
adaptive-sampling/mixed-sampling: i_t is drawn from 0.9 q_t + 0.1/n: every tenth row is any row,
however far it is from the margin.
    draw(q, rng) → draw(0.9 * q + 0.1 / q.size, rng)
adaptive-sampling/stale-sampling: i_t is drawn from q_{t−1}: the row drawn last is drawn again too
often.
    draw(q, rng)
    → draw(last if t else q, rng)
    → last = q
adaptive-sampling/easiest-rows: q_t ∝ exp(+A w_t): the rows that are classified best are drawn most
often.
    soften(scores, 1.0) → soften(-scores, 1.0)
""",
    momentum=False,
)
