"""Winnow, or multiplicative weights: w in the simplex, Ramdas and Peña (2015), Section 2.2."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.problems.base import soften
from gammabar.solvers.base import COORDINATES, Card, Iterate, scored
from gammabar.solvers.potential import check_positive


@dataclass(frozen=True)
class Winnow:
    """Winnow: w ∈ Δ_d with A w > 0, by multiplicative weights [1]_, Section 2.2.

        w_0 = 1/d
        w_t ∝ exp(η_t (g_1 + … + g_t))     g_{t+1} = a_i / ‖a_i‖_∞,  i = argmin_i ⟨a_i, w_t⟩

    (the first i at ties, and g = 0 for a zero row), while A w_t > 0 does not hold. The last
    iterate has ``extra["halt"] == "separated"``, the others ``extra["i"]`` i. Only non-negative
    w are searched; give the columns twice, the second time negated, to search all of ℝ^d. Needs
    coordinates, so it does not run on kernel problems.

    Parameters
    ----------
    rate : float, optional
        A constant η. With a constant rate the update is w_{t+1} ∝ w_t ⊙ exp(η g_{t+1}). By default
        η_t = √(log d / (t+1)), which needs no knowledge of the margin.

    Notes
    -----
    The paper gives neither the update nor its rate. With the margin ρ₁ = max_{w ∈ Δ_d} min_i
    ⟨a_i, w⟩/‖a_i‖_∞ > 0 the number T of updates is at most

        log d / (η ρ₁ − η²/2)     for constant η < 2 ρ₁, so 2 log d / ρ₁² for η = ρ₁,
        4 log d / ρ₁²             for the default rate.

    *Proof.* Let Φ_t(η) = (1/η) log((1/d) Σ_j exp(η G_t,j)), G_t = g_1 + … + g_t, which does not
    decrease with η. Hoeffding's lemma, ``|g_j| ≤ 1`` and ⟨g_{t+1}, w_t⟩ ≤ 0 give Φ_{t+1}(η_t) ≤
    Φ_t(η_t) + η_t/2. For rates that do not increase, Φ_T(η_{T−1}) ≤ Σ_{t<T} η_t/2. For u ∈ Δ_d
    that attains ρ₁, Φ_T(η) ≥ ⟨u, G_T⟩ − (log d)/η ≥ T ρ₁ − (log d)/η. Together
    T ρ₁ ≤ Σ_{t<T} η_t/2 + (log d)/η_{T−1}; insert the rates.

    The logarithm is that of the number d of coordinates. The text prints log n.

    References
    ----------
    .. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015).

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[1, -3, 0], [-1, 2, 2]], [1, -1])
    >>> *_, last = Winnow().iterates(problem)
    >>> last.t, [round(float(v), 3) for v in last.w]
    (2, [0.754, 0.123, 0.123])
    """

    rate: float | None = None

    #: How it ends in the paper.
    ends: ClassVar[tuple[str, ...]] = ("separated",)
    card: ClassVar[Card] = Card("winnow", "Ramdas & Peña 2015, Section 2.2", COORDINATES)

    def __post_init__(self) -> None:
        if self.rate is not None:
            check_positive("rate", self.rate)

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        if isinstance(problem, KernelProblem):
            raise ProblemError(
                "winnow multiplies the coordinates of w, and the space of a kernel has none; "
                "use nkp or perceptron, or leave out the kernel"
            )
        total = problem.origin()
        for t in count():
            w = soften(-self._rate(t, total.size) * total, 1.0)[0]
            scores = problem.scores(w)
            done, i = bool((scores > 0).all()), int(np.argmin(scores))
            extra = {"halt": "separated"} if done else {"i": i}
            yield scored(t, w, problem, scores, **extra)
            if done:
                return
            row = problem.row(i)
            total = total + row / (np.abs(row).max() or 1.0)

    def _rate(self, t: int, d: int) -> float:
        return math.sqrt(math.log(d) / (t + 1)) if self.rate is None else self.rate
