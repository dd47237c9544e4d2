"""The sequences of Appendix C along a run, in the space of w: Aᵀq_t, Aᵀμ_t, Aᵀν_t and their sums.

Aᵀq_t with q_t = ∇ψ(Zw_t) comes from w_t itself, and μ_t, ν_t and g_t follow from q_t by their
definitions, eqs. (B.1) and (C.5). So the claims of Appendix C are about any solver, even one that
yields nothing but t and w. What a solver says of these sequences is compared with them, and never
used instead. For the exponential loss and a solver that says nothing of μ_t and ν_t, all that is
what Section 3.2 needs as well, and is taken from there
(`gammabar.papers.ji_srebro_telgarsky_2021.sequences`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Number,
    Relation,
    Vec,
    View,
    scaled,
    size_of,
    weighted_sum,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import loss_of, smoothness
from gammabar.papers.ji_srebro_telgarsky_2021.potential import Logistic, psi_of
from gammabar.papers.ji_srebro_telgarsky_2021.sequences import Schedule, Sequences, momentum_follows
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import (
    as_said,
    claimed_pull,
    claimed_vector,
    combined,
    follows,
    score_drift,
)


@dataclass(slots=True)  # not frozen: that costs microseconds, at every iterate
class Vectors:
    """The vectors at one t: w_t, Aᵀq_t, Aᵀμ_t, Aᵀν_t (A = −Z), and minus the g_t of eq. (C.5).

    And ‖Zᵀμ_t‖². Of g_t there may be a vector and what it is to be multiplied by: few ask for it.
    """

    t: int
    w: Vec
    pull: Vec
    mu: Vec
    nu: Vec
    mu_square: Number
    momentum: Vec | tuple[float, Vec]

    @property
    def g(self) -> Vec:
        """Minus g_t."""
        if not isinstance(self.momentum, Vec):
            self.momentum = scaled(*self.momentum)
        return self.momentum


class Trajectory:
    """Everything at t that the claims of Appendix C need, with error bounds.

    Attributes
    ----------
    now, before : Vectors
        Those at t and at t − 1; `before` is None at t = 0.
    claims : list of Relation
        That μ_t and ν_t, where the solver says them, are those that follow from its iterates.
    shares : bool
        Whether all this comes from the sequences of Section 3.2.
    schedule : Schedule
        λ_t and θ_t.
    rho : float
        ρ.
    start : arb
        ψ(Zw_0).
    first, origin : Vec
        Aᵀq_0 and w_0.
    inverses, nu_lengths, nu_squares : arb
        Σ_{j<t} 1/λ_j, Σ_{j<t} ‖Zᵀν_j‖/λ_j and Σ_{j<t} ‖Zᵀν_j‖²/λ_j.
    mu_squares, next_squares : arb
        Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²) ‖Zᵀμ_j‖² and Σ_{j<t} ‖Zᵀμ_{j+1}‖²/λ_j.
    weighted : Vec
        Σ_{j≤t} j Aᵀq_j.
    rounding : float
        A bound on the rounding of w_1, …, w_t to doubles, all together.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.space = case, case.space
        self.schedule, self.rho = Schedule(case), float(smoothness(case))
        self.now: Vectors | None = None
        self.before: Vectors | None = None
        self.inverses = self.nu_lengths = self.nu_squares = arb(0)
        self.mu_squares = self.next_squares = arb(0)
        self.rounding = self.drift = 0.0
        self.claims: list[Relation] = []
        self._momentum_claims: list[Relation] | None = None
        self._it: View | None = None
        self.shares = False

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        past = self.now
        if past is None:
            gives = any(name in it.extra for name in ("p", "mu", "nu"))
            self.shares = loss_of(self.case) == "exponential" and not gives
        # What is said of t = 0 is part of every sum: heard again where statements begin at t = 1.
        first = self.claims if it.t == 1 else []
        self.claims, self._momentum_claims, self._it = [], None, it
        now = self._shared(it) if self.shares else self._own(it, past)
        self.claims = [*first, *self.claims]
        self.rounding += 4 * ROUNDOFF * now.w.size()
        if past is None:
            self.start, self.first, self.origin = psi_of(it), now.pull, now.w
        else:
            self.next_squares += self.schedule.reciprocal(past.t) * now.mu_square
        self.before, self.now = past, now

    def _shared(self, it: View) -> Vectors:
        """From the sequences of Section 3.2, which have heard this iterate."""
        seen: Sequences = self.case.history(Sequences)
        self.inverses, self.nu_lengths = seen.scale, seen.path
        self.mu_squares, self.nu_squares = seen.mu_squares, seen.nu_squares
        self.weighted = seen.weighted
        g = seen.unscaled_g
        return Vectors(it.t, it.here, it.pull, seen.mu, seen.nu, seen.mu_square, g)

    @property
    def momentum_claims(self) -> list[Relation]:
        """That g_t, where the solver says it, is the one that follows from its iterates."""
        if self._momentum_claims is None:
            assert self._it is not None
            found = self._shared_momentum(self._it) if self.shares else self._own_momentum(self._it)
            self._momentum_claims = [] if found is None else [found]
        return self._momentum_claims

    def _shared_momentum(self, it: View) -> Relation | None:
        seen: Sequences = self.case.history(Sequences)
        if not isinstance(seen.momentum, Vec):
            return seen.momentum
        if self.schedule.accelerated:
            return as_said(it.once(momentum_follows))
        return _same_momentum(seen.momentum, seen.g, seen.momentum_drift)

    def _own_momentum(self, it: View) -> Relation | None:
        if it.momentum is None or self.now is None:
            return None
        momentum = claimed_vector(it, it.momentum, "g_t")
        return momentum if isinstance(momentum, Relation) else _same_momentum(momentum, self.now.g)

    def _own(self, it: View, past: Vectors | None) -> Vectors:
        """From what the solver delivers, or for a loss of its own."""
        if past is not None and "p" in it.extra:
            self.drift += score_drift(it, past.w.mid)
        pull = self._pull(it)
        mu = pull if past is None else self._mixed(past.t, past.mu, pull)
        nu = self._mixed(it.t, mu, pull)
        square_ = square(mu.norm())
        now = Vectors(it.t, it.here, pull, mu, nu, square_, self._momentum(it, past, pull))
        self._compare(it, now)
        if past is None:
            self.weighted = pull * 0.0
        else:
            self._add(past, now)
        return now

    def _pull(self, it: View) -> Vec:
        """Aᵀq_t for q_t = ∇ψ(Zw_t)."""
        radius = self.space.radius * SAFETY
        if loss_of(self.case) == "exponential":
            off = radius * float(np.expm1(2 * self.drift))
            return it.vec(it.pull.mid, it.pull.err + off)
        logistic = Logistic(it.score_doubles, it.score_error + self.drift)
        pull = combined(self.case, logistic.weights)
        off = radius * float(logistic.weights.sum()) * logistic.relative
        return it.vec(pull.mid, pull.err + off)

    def _compare(self, it: View, now: Vectors) -> None:
        """What the solver says of μ_t and ν_t with what follows from its iterates."""
        small = 8 * ROUNDOFF * self.space.radius
        for name, symbol, own in (("mu", "μ_t", now.mu), ("nu", "ν_t", now.nu)):
            if name not in it.extra:
                continue
            said = claimed_pull(it, it.extra[name], symbol)
            if isinstance(said, Vec):
                gap = said - own
                what = f"Zᵀ{symbol} is that of the iterates"
                size = size_of(own.norm(), self.case.n * self.space.least_radius)
                said = follows(gap.norm(), 4 * gap.err + small, size, what)
            self.claims.append(said)

    def _mixed(self, t: int, mu: Vec, q: Vec) -> Vec:
        """(1 − λ_t) μ + λ_t q."""
        return weighted_sum(self.schedule.rest(t), mu, self.schedule.mixing(t), q)

    def _momentum(self, it: View, past: Vectors | None, pull: Vec) -> Vec:
        if past is None:
            return pull * 0.0
        factor = self.schedule.momentum(it.t)
        return weighted_sum(factor, past.g, factor, pull)

    def _add(self, past: Vectors, now: Vectors) -> None:
        inverse, length = self.schedule.reciprocal(past.t), past.nu.norm()
        self.inverses += inverse
        self.nu_lengths += inverse * length
        self.nu_squares += inverse * square(length)
        if past.t:
            last = self.schedule.reciprocal(past.t - 1)
            self.mu_squares += (last * last - inverse * (inverse - 1)) * past.mu_square
        self.weighted = weighted_sum(1.0, self.weighted, float(now.t), now.pull)


def _same_momentum(said: Vec, own: Vec, drift: float = 0.0) -> Relation:
    gap, more = said - own, 8 * ROUNDOFF * said.size() + 4 * drift
    size = size_of(own.norm(), said.reach() + own.space.n * own.space.least_radius)
    return follows(gap.norm(), 4 * gap.err + more, size, "g_t is that of the iterates")


class MixedSum:
    """Σ_{j<t} Aᵀμ_{j+1}/λ_j."""

    value: Vec

    def __init__(self, case: Case) -> None:
        self._path: Trajectory = case.history(Trajectory)

    def update(self, it: View) -> None:
        """Take in the next iterate, which the trajectory has heard."""
        path, now, past = self._path, self._path.now, self._path.before
        assert now is not None
        if past is None:
            self.value = now.pull * 0.0
        else:
            last = float(path.schedule.reciprocal(past.t))
            self.value = weighted_sum(1.0, self.value, last, now.mu)


class MixedLengths:
    """Σ_{j<t} ‖Zᵀμ_{j+1}‖/λ_j."""

    def __init__(self, case: Case) -> None:
        self._path: Trajectory = case.history(Trajectory)
        self.value = arb(0)

    def update(self, it: View) -> None:
        """Take in the next iterate, which the trajectory has heard."""
        path, now, past = self._path, self._path.now, self._path.before
        if now is not None and past is not None:
            self.value += path.schedule.reciprocal(past.t) * root(now.mu_square)


def square(value: Number) -> Number:
    """x², also for a ball around zero, of which Arb's power makes no number."""
    return value * value


def root(value: Number) -> Number:
    """√x, also for a ball around zero that reaches below it."""
    return (value.max(arb(0))).sqrt()


def trajectory(case: Case) -> tuple[Trajectory, Vectors]:
    """The sequences of the run so far, and the vectors at its last iterate."""
    path: Trajectory = case.history(Trajectory)
    assert path.now is not None
    return path, path.now
