"""Ji, Srebro and Telgarsky (2021), Algorithm 1: acceleration of the dual is momentum in the primal.

    g_t     = β_t (g_{t−1} + Aᵀ q_t)          β_t = t/(t+1)
    w_{t+1} = w_t + θ (g_t + Aᵀ q_t)
    q_{t+1} ∝ exp(−A w_{t+1})

Rows of A are y_i x_i, so the signs are those of the paper with Z = −A; g_t is minus the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from gammabar.problems import Problem
from gammabar.solvers.base import ALL_GEOMETRIES, Card, Iterate
from gammabar.solvers.potential import check_loss, check_positive, gradient, smoothness


@dataclass(frozen=True)
class DualAcceleration:
    """Momentum method that maximises the margin at the rate Õ(1/t²) [1]_, Algorithm 1.

    With the logistic loss, Aᵀq_t is Aᵀ∇ψ(−A w_t) (Section 5.1). The analysis for a ρ-smooth
    potential takes the step θ/ρ (Appendix C, eq. (C.4)), with ρ = 1 for the exponential loss and
    ρ = n for the logistic loss; that is the default. ``smoothness=1`` is Section 5.1 word by word:
    the same step θ for either loss, without analysis.

    The theory assumes rows of norm at most one: run it on ``problem.unit()``.

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

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021.

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

    card: ClassVar[Card] = Card(
        name="dual-acceleration",
        reference="Ji, Srebro and Telgarsky (2021), Algorithm 1 and Section 5.1",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_loss(self.loss)
        if self.smoothness is not None:
            check_positive("smoothness", self.smoothness)

    def rho(self, n: int) -> float:
        """ρ for n rows: the step is θ/ρ."""
        return smoothness(self.loss, n) if self.smoothness is None else self.smoothness

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
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
