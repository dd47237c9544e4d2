"""Methods of Ji, Srebro and Telgarsky (2021) [1]_, and those that they compare with.

Algorithm 1, `DualAcceleration`: acceleration of the dual is momentum in the primal

    g_t     = β_t (g_{t−1} + Aᵀ q_t)          β_t = t/(t+1)
    w_{t+1} = w_t + θ (g_t + Aᵀ q_t)
    q_{t+1} ∝ exp(−A w_{t+1})

The same in the dual, `DualForm` (Section 3.2); the first four lines never need w

    ν_t     = (1 − λ_t) μ_t + λ_t q_t                      μ_0 = q_0 = ∇ψ(0)
    p_{t+1} = p_t + θ_t/(ρ λ_t) A Aᵀ ν_t                   p_0 = 0
    q_{t+1} = ∇ψ(−p_{t+1})
    μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}
    w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀ ν_t                     eq. (3.3)

Algorithm 2, `AdaptiveSampling`: i_t ∼ q_t, and the row a_{i_t} takes the place of Aᵀ q_t.

The methods of Figures 1 to 3, with R(w) = (1/n) Σ_i ℓ(−(A w)_i)

    gradient descent               w_{t+1} = w_t − η ∇R(w_t)
    normalised gradient descent    w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)
    batch perceptron               supergradient ascent on min_i (A w)_i over ‖w‖ ≤ 1

Rows of A are y_i x_i, so the signs are those of the paper with Z = −A; g_t and p_t are minus the
paper's. The theory assumes rows of norm at most one: run the methods on ``problem.unit()``.

References
----------
.. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration, ICML 2021.
.. [2] A. Cotter, S. Shalev-Shwartz and N. Srebro, The kernelized stochastic batch perceptron,
   ICML 2012, arXiv:1204.0566.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gammabar.problems import Problem, ProblemError
from gammabar.problems.problem import soften
from gammabar.solvers.base import Iterate, Rng, declare

JST = "Ji, Srebro and Telgarsky (2021)"
LOSSES = ("exponential", "logistic")
# Below this, 1 + exp(x) rounds to 1 and the two losses cannot be told apart.
_NEGLIGIBLE = -38.0


def gradient(scores: NDArray[Any], loss: str) -> NDArray[np.float64]:
    """∇ψ(−scores) without overflow or underflow, for ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), eq. (2.1).

    ∇ψ(ξ)_i = ℓ′(ξ_i) / ℓ′(ψ(ξ)). For the exponential loss ℓ(z) = eᶻ it is the softmax. For the
    logistic loss ℓ(z) = ln(1 + eᶻ), S = Σ ln(1 + exp ξ_i) gives ℓ′(ψ(ξ)) = 1 − exp(−S), so that

        ∇ψ(ξ)_i = σ(ξ_i) / (1 − exp(−S)).

    Numerator and denominator underflow together where all ξ_i are very negative. With m = max ξ_i
    this gradient and the softmax agree up to a relative error of (1 + n/2) exp(m), so as soon as
    n exp(m) is below the rounding error, the softmax is used.
    """
    if loss == "exponential" or math.log(len(scores)) - float(scores.min()) < _NEGLIGIBLE:
        return soften(scores, 1.0)[0]
    total = float(np.logaddexp(0.0, -scores).sum())
    weights: NDArray[np.float64] = expit(-scores) / -math.expm1(-total)
    return weights


class _Smooth:
    """ψ is ρ-smooth in the ℓ∞ norm, Section 5.1."""

    loss: str
    smoothness: float | None

    def rho(self, n: int) -> float:
        """ρ for n rows, unless the solver says its own: the step is θ/ρ."""
        own = 1.0 if self.loss == "exponential" else float(n)
        return own if self.smoothness is None else float(self.smoothness)


@declare(
    "dual-acceleration",
    f"{JST}, Algorithm 1 and Section 5.1",
    unit_ball=True,
    positive=("step", "smoothness"),
    choices={"loss": LOSSES},
)
class DualAcceleration(_Smooth):
    """Momentum method that maximises the margin at the rate Õ(1/t²), Algorithm 1.

    With the logistic loss, Aᵀq_t is Aᵀ∇ψ(−A w_t) (Section 5.1), and ``dual`` is ∇ψ. The default
    step is θ/ρ (Appendix C, eq. (C.4)), with ρ = 1 for the exponential loss and ρ = n for the
    logistic loss; ``smoothness=1`` is Section 5.1 as printed. ``momentum`` is g_t.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.8, 0.6], [0.6, -0.8], [-1.0, 0.0]], [1, 1, -1]).unit()
    >>> [round(it.margin, 3) for it in islice(DualAcceleration().iterates(problem), 4)]
    [0.0, 0.664, 0.677, 0.689]
    """

    step: float = 1.0
    loss: str = "exponential"
    smoothness: float | None = None

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        step = self.step / self.rho(problem.n)
        w = momentum = problem.origin()
        for t in count():
            soft = q = scores = None
            if self.loss == "exponential":
                soft = problem.softmin(w)  # one pass over the data
                pull = soft.pull
            else:
                scores = problem.scores(w)
                q = gradient(scores, self.loss)
                pull = problem.combine(q)
            momentum = t / (t + 1) * (momentum + pull)
            yield Iterate(t, w, problem, soft, dual=q, momentum=momentum, computed=scores)
            w = w + step * (momentum + pull)


Schedule: TypeAlias = Callable[[int], float]


def _recursive(t: int) -> float:
    """λ_0 = 1 and λ²_{t+1} = (1 − λ_{t+1}) λ²_t."""
    value = 1.0
    for _ in range(t):
        square = value * value
        value = (math.sqrt(square * square + 4 * square) - square) / 2
    return value


#: λ_t that have a name.
MIXING: dict[str, Schedule] = {
    "accelerated": lambda t: 2 / (t + 2),
    "slower": lambda t: 3 / (t + 3),
    "recursive": cache(_recursive),
    "halved": lambda t: 0.5 if t else 1.0,
}


@declare(
    "dual-acceleration-dual",
    f"{JST}, Section 3.2 and Appendices B and C",
    unit_ball=True,
    positive=("smoothness",),
    choices={"loss": LOSSES},
)
class DualForm(_Smooth):
    """Algorithm 1 of the paper written in its dual variables, for any λ_t and θ_t in (0, 1].

    With λ_t = 2/(t+2) its w_t are those of `DualAcceleration` (Lemma 3.4); with λ_t = 1 it is the
    dual averaging of Appendix B, in the primal normalised gradient descent. Sums p_t are kept
    rather than products q_t ⊙ exp(…), since weights that underflow would never come back.

    ``mixing`` is λ_t: "accelerated" 2/(t+2), "slower" 3/(t+3), "recursive", the solution of
    λ²_{t+1} = (1 − λ_{t+1}) λ²_t from λ_0 = 1, "halved", 1 and then ½, a constant, or any function
    of t; ``step`` is θ_t. ``dual`` is q_t and ``extra`` has "mu" μ_t, "nu" ν_t and "p" p_t.
    """

    mixing: float | Schedule | str = "accelerated"
    step: float | Schedule = 1.0
    loss: str = "exponential"
    smoothness: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.mixing, str) and self.mixing not in MIXING:
            known = f"{', '.join(MIXING)}, a number or a function"
            raise ProblemError(f"option mixing must be {known}, not {self.mixing!r}")
        self.lambda_(0)
        self.theta(0)

    def lambda_(self, t: int) -> float:
        """λ_t."""
        if isinstance(self.mixing, str):
            return MIXING[self.mixing](t)
        return _unit_interval("mixing", self.mixing, t)

    def theta(self, t: int) -> float:
        """θ_t."""
        return _unit_interval("step", self.step, t)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rho = self.rho(problem.n)
        w = problem.origin()
        p = np.zeros(problem.n)
        q = mu = gradient(p, self.loss)
        for t in count():
            lam, theta = self.lambda_(t), self.theta(t)
            nu = (1 - lam) * mu + lam * q
            yield Iterate(t, w, problem, dual=q, extra={"mu": mu, "nu": nu, "p": p})
            pull = problem.combine(nu)
            w = w + theta / (rho * lam) * pull
            p = p + theta / (rho * lam) * problem.scores(pull)
            q = gradient(p, self.loss)
            mu = (1 - lam) * mu + lam * q


def _unit_interval(option: str, schedule: float | Schedule, t: int) -> float:
    value = float(schedule(t) if callable(schedule) else schedule)
    if not 0 < value <= 1:
        raise ProblemError(f"option {option} must lie in (0, 1], but is {value!r} at t = {t}")
    return value


@declare("adaptive-sampling", f"{JST}, Algorithm 2", unit_ball=True)
class AdaptiveSampling:
    """Algorithm 2 of the paper: a sampled row takes the place of Aᵀq_t.

    A step needs the inner products of one row with all rows: n values of the kernel. Without
    momentum and with the step of Theorem 4.1 (`for_theorem`) it is the method that the paper
    analyses; with β_t = t/(t+1) and step 1 (the default) the heuristic of Figures 3 and 4.

    A step draws one number u of ``rng.random()`` (by default of seed 0): i_t is the first row whose
    cumulative weight exceeds u times their sum. ``dual`` is q_t, ``momentum`` g_t, and ``extra``
    has the row "i" and the "scores" A w_t, with the rounding of t additions.
    """

    step: float = 1.0
    momentum: bool = True

    def __post_init__(self) -> None:
        # Zero is the step of Theorem 4.1 for a single row.
        if not (self.step >= 0 and math.isfinite(self.step)):
            raise ProblemError(f"option step must be zero or a positive number, not {self.step!r}")

    @staticmethod
    def horizon(n: int, gamma: float, epsilon: float, delta: float) -> int:
        """The t of Theorem 4.1, after which the margin is at least γ̄ − ε with probability 1 − δ."""
        if n < 1 or not (gamma > 0 and epsilon > 0 and 0 < delta < 1):
            raise ProblemError(
                "Theorem 4.1 needs n ≥ 1, a positive margin gamma, a positive epsilon and delta "
                f"between 0 and 1, not n={n}, gamma={gamma}, epsilon={epsilon}, delta={delta}"
            )
        first = (32 * math.log(n) + 64 * math.log(2 / delta)) / (gamma**2 * epsilon**2)
        return max(math.ceil(first), math.ceil(32 / (delta * epsilon**2)))

    @classmethod
    def for_theorem(cls, n: int, gamma: float, epsilon: float, delta: float) -> AdaptiveSampling:
        """The method of Theorem 4.1: no momentum, θ = √(ln(n)/t) with t its `horizon`.

        For n = 1 this step is zero: w_t = 0 for ever, whose margin is 0 by definition.
        """
        t = cls.horizon(n, gamma, epsilon, delta)
        return cls(step=math.sqrt(math.log(n) / t), momentum=False)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        w = g = problem.origin()
        scores = score_momentum = np.zeros(problem.n)  # A w_t and A g_t
        for t in count():
            q = soften(scores, 1.0)[0]
            i = draw(q, rng)
            a = problem.row(i)
            column = problem.scores(a)  # A a_i
            beta = t / (t + 1) if self.momentum else 0.0
            g = beta * (g + a)
            score_momentum = beta * (score_momentum + column)
            extra = {"i": i, "scores": scores}
            yield Iterate(t, w, problem, dual=q, momentum=g, extra=extra)
            w = w + self.step * (g + a)
            scores = scores + self.step * (score_momentum + column)


def draw(q: NDArray[Any], rng: np.random.Generator) -> int:
    """A row with probability proportional to q, by the inverse of the cumulative sums."""
    cumulative = np.cumsum(q)
    total = cumulative[-1]
    if not total > 0:
        raise ProblemError("the scores left the range of doubles; run it on problem.unit()")
    # u is at most 1 − 2⁻⁵³, so u times the sum is rounded to less than the sum: the row exists.
    return int(np.searchsorted(cumulative, rng.random() * total, side="right"))


@declare(
    "gradient-descent",
    f"{JST}, Section 3.1 and Figure 1",
    unit_ball=True,
    positive=("step",),
    choices={"loss": LOSSES},
)
class GradientDescent:
    """Plain gradient descent on the empirical risk, Sections 2 and 3.1.

    Its margin grows as O(1/log t) only. Figure 1 uses step 1 on rows of norm at most one
    (Appendix F). With the exponential loss it is an error if a large step makes the risk grow
    beyond the range of doubles; where the risk falls below that range, w stays as it is.
    """

    step: float = 1.0
    loss: str = "exponential"

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            if self.loss == "logistic":
                scores = problem.scores(w)
                yield Iterate(t, w, problem, dual=gradient(scores, "logistic"))
                w = w + self.step / problem.n * problem.combine(expit(-scores))
                continue
            soft = problem.softmin(w)
            # −∇R(w) = R(w) Aᵀq with q the softmax, eq. (2.3).
            length = self.step * _exp(soft.logsumexp - math.log(problem.n))
            if not math.isfinite(length):
                left = f"gradient descent with step {self.step!r} left the range of doubles"
                raise ProblemError(f"{left} at t = {t}; use a smaller step or loss='logistic'")
            yield Iterate(t, w, problem, soft)
            w = w + length * soft.pull


@declare(
    "normalized-gradient-descent",
    f"{JST}, Section 1 and Figure 1",
    unit_ball=True,
    positive=("step",),
)
class NormalizedGradientDescent:
    """Gradient descent on the exponential risk, each gradient divided by the risk, Section 1.

    The margin is maximised at the rate O(1/t) with θ_t = 1, and Õ(1/√t) with θ_t = 1/√t. Here t
    counts from 0, so with ``decay`` the steps are θ_0/√(t+1).
    """

    step: float = 1.0
    decay: bool = False

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            soft = problem.softmin(w)
            yield Iterate(t, w, problem, soft)
            theta = self.step / math.sqrt(t + 1) if self.decay else self.step
            w = w + theta * soft.pull


@declare(
    "batch-perceptron-cotter",
    "Cotter, Shalev-Shwartz and Srebro (2012); Ji et al. (2021), Figures 1 to 3",
    unit_ball=True,
    positive=("step",),
)
class HardMarginAscent:
    """Batch perceptron of Cotter et al. (2012): supergradient ascent on min_i (A w)_i, ‖w‖ ≤ 1.

        i       = argmin_i (A v_t)_i         v_0 = 0
        u       = v_t + η_t a_i              η_t = η_0/√(t+1),  η_0 = 1/max_i ‖a_i‖
        v_{t+1} = u / max(1, ‖u‖)
        w_{t+1} = (v_1 + … + v_{t+1})/(t+1)

    A baseline of Ji, Srebro and Telgarsky (Figures 1 to 3, Appendix F), who implement it "exactly
    as in" Cotter, Shalev-Shwartz and Srebro, The kernelized stochastic batch perceptron, ICML 2012;
    not the batch perceptron of Tyurin (2024), which sums over all misclassified rows. A step needs
    n values of the kernel. ``step`` multiplies η_0; without ``averaged`` it yields the v_t.

    *Known:* the objective, from Ji, Srebro and Telgarsky; and η_t, the projection, the recurrence
    for ‖u‖² and the averaging, which are those of the kernelised Algorithm 1 of Cotter et al. as
    class ``SBP`` of the Java library JSAT has them (their text itself was not compared). That
    algorithm draws a row from those below a level; without slack these are the rows of smallest
    score. *Chosen here:* among equals the first row is taken, and the average is over all points,
    without a burn-in.

    ``extra`` has "v" v_t, the row "i" that is added, and the "scores" A v_t, kept by addition.
    """

    step: float = 1.0
    averaged: bool = True

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        first = self.step / problem.radius if problem.radius > 0 else self.step
        v = mean = problem.origin()
        scores = np.zeros(problem.n)  # A v
        square = 0.0  # ‖v‖²
        for t in count():
            i = int(np.argmin(scores))
            extra = {"v": v, "i": i, "scores": scores}
            yield Iterate(t, mean if self.averaged else v, problem, extra=extra)
            eta = first / math.sqrt(t + 1)
            a = problem.row(i)
            column = problem.scores(a)  # A a_i
            square += 2 * eta * float(scores[i]) + eta**2 * float(column[i])
            shrink = 1 / math.sqrt(square) if square > 1 else 1.0
            v = shrink * (v + eta * a)
            scores = shrink * (scores + eta * column)
            square = min(square, 1.0)
            mean = mean + (v - mean) / (t + 1)


def _exp(x: float) -> float:
    """exp(x), infinite where that is no double."""
    return math.exp(x) if x < 709 else math.inf
