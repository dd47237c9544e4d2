"""The methods that Ji, Srebro and Telgarsky (2021) compare with in Figures 1, 2 and 3.

    gradient descent               w_{t+1} = w_t − η ∇R(w_t)
    normalised gradient descent    w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)
    batch perceptron               supergradient ascent on min_i (A w)_i over ‖w‖ ≤ 1

with R(w) = (1/n) Σ_i ℓ(−(A w)_i), ℓ the exponential loss eᶻ or the logistic loss ln(1 + eᶻ).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
from scipy.special import expit

from gammabar.problems import Problem, ProblemError
from gammabar.solvers.base import ALL_GEOMETRIES, Card, Iterate
from gammabar.solvers.potential import check_loss, check_positive, gradient


@dataclass(frozen=True)
class GradientDescent:
    """Plain gradient descent on the empirical risk [1]_, Sections 2 and 3.1.

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

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021.

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

    card: ClassVar[Card] = Card(
        name="gradient-descent",
        reference="Ji, Srebro and Telgarsky (2021), Section 3.1 and Figure 1",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_loss(self.loss)

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
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


@dataclass(frozen=True)
class NormalizedGradientDescent:
    """Gradient descent on the exponential risk, each gradient divided by the risk [1]_, Section 1.

    The margin is maximised at the rate O(1/t) with θ_t = 1, and Õ(1/√t) with θ_t = 1/√t. The
    latter is a sequence of steps t = 1, 2, …; here t counts from 0, where it would be infinite, so
    it is 1/√(t+1): the same steps 1, 1/√2, 1/√3, ….

    Parameters
    ----------
    step : float
        θ_0.
    decay : bool
        θ_t = θ_0/√(t+1) rather than θ_0.

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021. The rates are due to Ji and Telgarsky (2019) and Nacson et al. (2018).

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

    card: ClassVar[Card] = Card(
        name="normalized-gradient-descent",
        reference="Ji, Srebro and Telgarsky (2021), Section 1 and Figure 1",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("step", self.step)

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
        w = problem.origin()
        for t in count():
            soft = problem.softmin(w)
            yield Iterate(t, w, problem, soft)
            theta = self.step / math.sqrt(t + 1) if self.decay else self.step
            w = w + theta * soft.pull


@dataclass(frozen=True)
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

    card: ClassVar[Card] = Card(
        name="batch-perceptron-cotter",
        reference="Cotter, Shalev-Shwartz and Srebro (2012); Ji et al. (2021), Figures 1 to 3",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("step", self.step)

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
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
