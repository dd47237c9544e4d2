"""Ji, Srebro and Telgarsky (2021), Algorithm 2: one row a step, sampled from the dual variable.

    i_t     ∼ q_t
    g_t     = β_t (g_{t−1} + a_{i_t})
    w_{t+1} = w_t + θ (g_t + a_{i_t})
    q_{t+1} ∝ exp(−A w_{t+1})

Rows of A are y_i x_i, so the signs are those of the paper with Z = −A; g_t is minus the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem, ProblemError
from gammabar.problems.base import soften
from gammabar.solvers.base import ALL_GEOMETRIES, Card, Iterate


@dataclass(frozen=True)
class AdaptiveSampling:
    """Algorithm 2 of [1]_: a sampled row takes the place of Aᵀq_t.

    A step needs the inner products of one row with all rows, A a_i: n values of the kernel, never
    n². From them A g_t and A w_t follow by the same two lines as g_t and w_t, and q_t from these.

    Without momentum and with the step of Theorem 4.1 (`for_theorem`) it is the method that the
    paper analyses. With momentum β_t = t/(t+1) and step 1 (the default) it is the heuristic of
    Figures 3 and 4, which the paper does not analyse.

    The theory assumes rows of norm at most one: run it on ``problem.unit()``.

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

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021, Section 4.

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

    card: ClassVar[Card] = Card(
        name="adaptive-sampling",
        reference="Ji, Srebro and Telgarsky (2021), Algorithm 2",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

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

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
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
