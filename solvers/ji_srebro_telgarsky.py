"""The methods of Ji, Srebro and Telgarsky (2021), and those that they compare with.

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
from gammabar.solvers.potential import LOSSES, gradient, smoothness

JST = "Ji, Srebro and Telgarsky (2021)"


@declare(
    "dual-acceleration",
    f"{JST}, Algorithm 1 and Section 5.1",
    unit_ball=True,
    positive=("step", "smoothness"),
    choices={"loss": LOSSES},
)
class DualAcceleration:
    """Momentum method that maximises the margin at the rate Õ(1/t²), Algorithm 1.

    With the logistic loss, Aᵀq_t is Aᵀ∇ψ(−A w_t) (Section 5.1). The analysis for a ρ-smooth
    potential takes the step θ/ρ (Appendix C, eq. (C.4)), with ρ = 1 for the exponential loss and
    ρ = n for the logistic loss; that is the default. ``smoothness=1`` is Section 5.1 word by word:
    the same step θ for either loss, without analysis.

    Parameters
    ----------
    step : float
        θ, the same in every step. Theorem 3.1 takes 1.
    loss : "exponential" or "logistic"
    smoothness : float, optional
        ρ; by default that of the loss.

    Notes
    -----
    β_0 = 0, so g_0 = 0 and the first step is a plain gradient step. An iterate carries g_t as
    ``momentum``; both are known before w_{t+1} is. The exponential loss passes over the data once
    in a step (`Problem.softmin`), the logistic loss twice; its weights ∇ψ are in ``dual``.

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

    def rho(self, n: int) -> float:
        """ρ for n rows: the step is θ/ρ."""
        return smoothness(self.loss, n) if self.smoothness is None else self.smoothness

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
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
class DualForm:
    """Algorithm 1 of the paper written in its dual variables, for any λ_t and θ_t in (0, 1].

    With λ_t = 2/(t+2) its w_t are those of `DualAcceleration` (Lemma 3.4); with λ_t = 1 there is
    no acceleration, ν_t = μ_t = q_t, and it is the dual averaging of Appendix B, in the primal
    normalised gradient descent. The update of q is that of eq. (B.2) with ω = ψ*; for the
    exponential loss q_{t+1} ∝ q_t ⊙ exp(−θ_t/λ_t A Aᵀν_t). Sums p_t are kept rather than
    products, since weights that have once underflowed would never come back.

    Parameters
    ----------
    mixing : "accelerated", "slower", "recursive", "halved", float or function of t
        λ_t: 2/(t+2), 3/(t+3), the solution of λ²_{t+1} = (1 − λ_{t+1}) λ²_t from λ_0 = 1, 1 and
        then ½, a constant (1 is the method without acceleration), or any sequence.
    step : float or function of t
        θ_t. Theorem 3.1 takes 1.
    loss : "exponential" or "logistic"
    smoothness : float, optional
        ρ of Appendix C; by default 1 for the exponential loss and n for the logistic loss.

    Notes
    -----
    An iterate carries q_t as ``dual`` and ``extra`` has "mu" (μ_t), "nu" (ν_t) and "p" (p_t, equal
    to A w_t up to the rounding of t additions).

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.0], [1.0], [3.0]], [-1, 1, 1], kernel="rbf:gamma=1")
    >>> last = list(islice(DualForm().iterates(problem), 100))[-1]
    >>> bool(last.extra["mu"].sum().round(12) == 1), round(last.margin, 3)
    (True, 0.493)
    """

    mixing: float | Schedule | str = "accelerated"
    step: float | Schedule = 1.0
    loss: str = "exponential"
    smoothness: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.mixing, str) and self.mixing not in MIXING:
            names = ", ".join(MIXING)
            what = f"option mixing must be {names}, a number or a function, not {self.mixing!r}"
            raise ProblemError(what)
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

    def rho(self, n: int) -> float:
        """ρ for n rows."""
        return smoothness(self.loss, n) if self.smoothness is None else self.smoothness

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
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

    A step needs the inner products of one row with all rows, A a_i: n values of the kernel, never
    n². From them A g_t and A w_t follow by the same two lines as g_t and w_t, and q_t from these.

    Without momentum and with the step of Theorem 4.1 (`for_theorem`) it is the method that the
    paper analyses. With momentum β_t = t/(t+1) and step 1 (the default) it is the heuristic of
    Figures 3 and 4, which the paper does not analyse.

    Parameters
    ----------
    step : float
        θ, the same in every step.
    momentum : bool
        β_t = t/(t+1), or 0.

    Notes
    -----
    One uniform number u of ``rng.random()`` is used in a step, in float64: i_t is the first row
    whose cumulative weight exceeds u times their sum. The weights are exp(min_j s_j − s_i) with
    s = A w_t, so a row whose weight underflows to zero is never drawn. The same generator state
    draws the same rows; without a generator it is ``np.random.default_rng(0)``.

    An iterate carries q_t as ``dual``, g_t as ``momentum``, and in ``extra`` the row "i" that was
    sampled from q_t and the "scores" A w_t that q_t was computed from, which differ from
    ``problem.scores(w)`` by the rounding of t additions. ``Iterate.margin`` computes scores and
    norm from w itself; with a kernel that takes longer than the step does.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.0], [1.0], [3.0]], [-1, 1, 1], kernel="rbf:gamma=1")
    >>> last = list(islice(AdaptiveSampling().iterates(problem), 1000))[-1]
    >>> round(last.margin, 2)
    0.49
    """

    step: float = 1.0
    momentum: bool = True

    def __post_init__(self) -> None:
        # Zero is the step of Theorem 4.1 for a single row.
        if not (self.step >= 0 and math.isfinite(self.step)):
            raise ProblemError(f"option step must be zero or a positive number, not {self.step!r}")

    @staticmethod
    def horizon(n: int, gamma: float, epsilon: float, delta: float) -> int:
        """The t of Theorem 4.1, after which the margin is at least γ̄ − ε.

        Parameters
        ----------
        n : int
            Number of rows.
        gamma : float
            γ̄, the maximum margin, for rows of norm at most one.
        epsilon : float
            ε > 0.
        delta : float
            δ in (0, 1): the bound holds with probability 1 − δ.
        """
        if n < 1:
            raise ProblemError(f"option n must be at least 1, not {n!r}")
        if not gamma > 0:
            raise ProblemError(f"Theorem 4.1 needs a positive margin gamma, not {gamma!r}")
        if not epsilon > 0:
            raise ProblemError(f"Theorem 4.1 needs a positive epsilon, not {epsilon!r}")
        if not 0 < delta < 1:
            raise ProblemError(f"Theorem 4.1 needs delta between 0 and 1, not {delta!r}")
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
        """w_0 = 0, w_1, …; without end."""
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
    (Appendix F).

    Parameters
    ----------
    step : float
        η.
    loss : "exponential" or "logistic"

    Notes
    -----
    With the exponential loss a step that is too large makes the risk grow beyond the range of
    doubles, which is an error; the gradient of the logistic loss is bounded. Where the risk
    falls below that range, w stays as it is.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.8, 0.6], [0.6, -0.8], [-1.0, 0.0]], [1, 1, -1]).unit()
    >>> [round(it.margin, 3) for it in islice(GradientDescent().iterates(problem), 4)]
    [0.0, 0.664, 0.672, 0.676]
    """

    step: float = 1.0
    loss: str = "exponential"

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
        return self._exponential(problem) if self.loss == "exponential" else self._logistic(problem)

    def _exponential(self, problem: Problem) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            soft = problem.softmin(w)
            # −∇R(w) = R(w) Aᵀq with q the softmax, eq. (2.3).
            length = self.step * _exp(soft.logsumexp - math.log(problem.n))
            if not math.isfinite(length):
                raise ProblemError(
                    f"gradient descent with step {self.step!r} left the range of doubles at "
                    f"t = {t}; use a smaller step or loss='logistic'"
                )
            yield Iterate(t, w, problem, soft)
            w = w + length * soft.pull

    def _logistic(self, problem: Problem) -> Iterator[Iterate]:
        w = problem.origin()
        for t in count():
            scores = problem.scores(w)
            yield Iterate(t, w, problem, dual=gradient(scores, "logistic"))
            w = w + self.step / problem.n * problem.combine(expit(-scores))


@declare(
    "normalized-gradient-descent",
    f"{JST}, Section 1 and Figure 1",
    unit_ball=True,
    positive=("step",),
)
class NormalizedGradientDescent:
    """Gradient descent on the exponential risk, each gradient divided by the risk, Section 1.

    The margin is maximised at the rate O(1/t) with θ_t = 1, and Õ(1/√t) with θ_t = 1/√t. The
    latter is a sequence of steps t = 1, 2, …; here t counts from 0, where it would be infinite, so
    it is 1/√(t+1): the same steps 1, 1/√2, 1/√3, ….

    Parameters
    ----------
    step : float
        θ_0.
    decay : bool
        θ_t = θ_0/√(t+1) rather than θ_0.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.8, 0.6], [0.6, -0.8], [-1.0, 0.0]], [1, 1, -1]).unit()
    >>> [round(it.margin, 3) for it in islice(NormalizedGradientDescent().iterates(problem), 4)]
    [0.0, 0.664, 0.675, 0.684]
    """

    step: float = 1.0
    decay: bool = False

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
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
    """The batch perceptron of [2]_: supergradient ascent on min_i (A w)_i over the unit ball.

    With v_0 = 0 and t = 0, 1, 2, …

        i       = argmin_i (A v_t)_i
        u       = v_t + η_t a_i              η_t = η_0/√(t+1),  η_0 = 1/max_i ‖a_i‖
        v_{t+1} = u / max(1, ‖u‖)
        w_{t+1} = (v_1 + … + v_{t+1})/(t+1)

    It is one of the baselines of [1]_, which implements it "exactly as in" [2]_. A step needs the
    products of one row with all rows: n values of the kernel. Not to be confused with the batch
    perceptron of Tyurin (2024), which sums over all misclassified rows.

    Parameters
    ----------
    step : float
        η_0 in units of 1/max_i ‖a_i‖; the rule of [2]_ is 1.
    averaged : bool
        Yield the averages w_t, which are what [2]_ returns, or the last points v_t.

    Notes
    -----
    *Known:* the objective, from [1]_; and η_0, η_t, the projection onto the unit ball, the
    recurrence for ‖u‖² and the averaging, which are those of the kernelised Algorithm 1 of [2]_ as
    an independent implementation has them (class ``SBP`` of the Java library JSAT, there with
    t = 1, 2, …; the text of [2]_ itself was not compared). That algorithm allows some slack and
    draws a row uniformly from those below a level; without slack these are the rows of smallest
    score.
    *Chosen here:* among equals the first row is taken, so that the method is deterministic; the
    average is over all points, without a burn-in; and the average of no points is 0.

    ``extra`` has "v" (v_t), the row "i" that is added to it, and the "scores" A v_t that i was
    chosen by, which are kept by addition.

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021, Figures 1 to 3 and Appendix F.
    .. [2] A. Cotter, S. Shalev-Shwartz and N. Srebro, The kernelized stochastic batch perceptron,
       ICML 2012, arXiv:1204.0566.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.8, 0.6], [0.6, -0.8], [-1.0, 0.0]], [1, 1, -1])
    >>> [round(it.margin, 3) for it in islice(HardMarginAscent().iterates(problem), 4)]
    [0.0, 0.0, 0.303, 0.503]
    """

    step: float = 1.0
    averaged: bool = True

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
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
