"""The sequences of Section 3.2, followed along a run.

    ν_t     = (1 − λ_t) μ_t + λ_t q_t              μ_0 = q_0
    μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}
    g_t     = λ_{t−1}(1 − λ_t)/λ_t (g_{t−1} + Aᵀq_t)        g_0 = 0

with q_t the softmax of −A w_t for the iterates w_t that were delivered, whatever the solver says
about them. Only Aᵀq_t, Aᵀμ_t and Aᵀν_t are needed, vectors as long as w, so that following a run
costs no pass over the data. Rows of A are y_i x_i: all vectors are minus the paper's, where Z = −A.
"""

from __future__ import annotations

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Number,
    Relation,
    Vec,
    View,
    number,
    scaled,
    weighted_sum,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import mixing, step
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import claimed_vector, same_vector


class Schedule:
    """λ_t and θ_t of the solver on trial; those of Algorithm 1 for one that does not say."""

    def __init__(self, case: Case) -> None:
        self._case = case
        varies = callable(getattr(case.solver, "step", 1))
        self._fixed = None if varies else float(step(case, 0))
        self.accelerated = getattr(case.solver, "mixing", "accelerated") == "accelerated"

    def mixing(self, t: int) -> float:
        """λ_t; rounded if it is 2/(t + 2), else the double that it is."""
        if self.accelerated:
            return 2 / (t + 2)
        return float(mixing(self._case, t))

    def reciprocal(self, t: int) -> Number:
        """1/λ_t."""
        return number((t + 2) / 2) if self.accelerated else 1 / number(self.mixing(t))

    def rest(self, t: int) -> float:
        """1 − λ_t, rounded."""
        return t / (t + 2) if self.accelerated else 1 - self.mixing(t)

    def momentum(self, t: int) -> float:
        """λ_{t−1}(1 − λ_t)/λ_t, rounded."""
        if self.accelerated:
            return t / (t + 1)
        return self.mixing(t - 1) * self.rest(t) / self.mixing(t)

    def step(self, t: int) -> float:
        """θ_t."""
        return float(step(self._case, t)) if self._fixed is None else self._fixed


class Sequences:
    """What Lemmas 3.2 to 3.6 speak of, at the iterate heard last.

    Attributes
    ----------
    mu, nu : Vec
        Aᵀμ_t and Aᵀν_t.
    weighted : Vec
        Σ_{j=1}^t j Aᵀq_j.
    mu_square, nu_norm : arb
        ‖Aᵀμ_t‖² and ‖Aᵀν_t‖.
    step : Vec
        θ_t (g_t + Aᵀq_t), which w_{t+1} − w_t should be.
    last_step, last : Vec or None
        The step and w of t − 1; None at t = 0.
    last_reciprocal : arb
        1/λ_{t−1}.
    scale : arb
        Σ_{j<t} 1/λ_j.
    path : arb
        Σ_{j<t} ‖Aᵀν_j‖/λ_j.
    rounding : float
        How far rounding in the steps so far may have moved w_t, at most, in an honest solver.
    mu_squares, nu_squares : arb
        The sums of Lemma 3.5, without the ½: Σ_{j=1}^{t−1} (1/λ_{j−1}² − (1−λ_j)/λ_j²)‖Aᵀμ_j‖² and
        Σ_{j<t} ‖Aᵀν_j‖²/λ_j.
    momentum : Vec, Relation or None
        The g_t that the solver claims (with the sign of the solver); see `claimed_vector`.
    drift : float
        How far Aᵀq_t may be off in a solver that carries the scores A w_t along by addition.
    """

    def __init__(self, case: Case) -> None:
        self.schedule = Schedule(case)
        # Claims about another loss have a history of their own.
        self._silent = getattr(case.solver, "loss", "exponential") != "exponential"
        self._space = case.space
        one = np.ones(case.space.dimension)
        self._score_error = case.space.score_error(one) / case.space.size(one)

    def update(self, it: View) -> None:
        """Take in the next iterate; t = 0 starts afresh."""
        if self._silent:
            return
        t, pull, schedule = it.t, it.pull, self.schedule
        if t == 0:
            self._start(pull)
        else:
            self._advance(t, pull, it.here)
        self._t, self._here, self._reciprocal = t, it.here, schedule.reciprocal(t)
        self.nu = weighted_sum(schedule.rest(t), self.mu, schedule.mixing(t), pull)
        theta, (factor, unscaled) = schedule.step(t), self._momentum(t)
        self.step = weighted_sum(theta * factor, unscaled, theta, pull)
        claimed = it.momentum
        self.momentum = None if claimed is None else claimed_vector(it, claimed, "g_t")
        norm = self.mu.norm()
        self.mu_square = norm * norm
        self.nu_norm = self.nu.norm()

    @property
    def g(self) -> Vec:
        """Minus the paper's g_t."""
        return scaled(*self.unscaled_g)

    @property
    def unscaled_g(self) -> tuple[float, Vec]:
        """A number and a vector of which minus g_t is the product."""
        return self._momentum(self._t)

    def _momentum(self, t: int) -> tuple[float, Vec]:
        """g_t as a number times a vector."""
        # With β_t = t/(t+1) the recursion says (t+1) g_t = t g_{t−1} + t Aᵀq_t: the weighted sum.
        return (1 / (t + 1), self.weighted) if self.schedule.accelerated else (1.0, self._g)

    @property
    def momentum_drift(self) -> float:
        """The same for g_t = Aᵀν_t/λ_t − Aᵀq_t."""
        return self.drift * float(self._reciprocal + 1)

    def _start(self, pull: Vec) -> None:
        zero = Vec(self._space, np.zeros(self._space.dimension))
        self.mu, self._g, self.weighted = pull, zero, zero
        self.scale = self.path = self.last_reciprocal = number(0)
        self.mu_squares = self.nu_squares = number(0)
        self.last_step: Vec | None = None
        self.last: Vec | None = None
        self.drift = self.rounding = 0.0

    def _advance(self, t: int, pull: Vec, here: Vec) -> None:
        """From t − 1 to t: the sums first, while mu and nu are still those of t − 1."""
        now = self._reciprocal
        length = now * self.nu_norm
        self.scale += now
        self.path += length
        self.nu_squares += length * self.nu_norm
        if t > 1:
            factor = self.last_reciprocal * self.last_reciprocal - now * (now - 1)
            self.mu_squares += factor * self.mu_square
        self.last_step, self.last, self.last_reciprocal = self.step, self._here, now
        self.rounding += 4 * self.step.err + 4 * ROUNDOFF * (self.step.size() + here.reach())
        # Scores of a step, and the rounding of the sum; weights change by twice the error.
        error = self._score_error * self.step.reach()
        error += 2 * ROUNDOFF * self._space.radius * here.reach()
        self.drift += 2 * self._space.radius * error * SAFETY
        schedule = self.schedule
        self.mu = weighted_sum(schedule.rest(t - 1), self.mu, schedule.mixing(t - 1), pull)
        self.weighted = weighted_sum(1.0, self.weighted, float(t), pull)
        if not schedule.accelerated:
            beta = schedule.momentum(t)
            self._g = weighted_sum(beta, self._g, beta, pull)


def momentum_follows(it: View, case: Case) -> Relation:
    """That the momentum which the solver claims is Σ_j j/(t+1) Aᵀq_j, for λ_t = 2/(t + 2)."""
    seen: Sequences = case.history(Sequences)
    assert isinstance(seen.momentum, Vec)
    what, drift = "g_t = Σ_j j/(t+1) Zᵀq_j", seen.momentum_drift
    return same_vector(seen.momentum, seen.weighted, what, drift, 1 / (it.t + 1))
