"""The sequences of Appendix C along a run, in the space of w: Aᵀq_t, Aᵀμ_t, Aᵀν_t and their sums.

Aᵀq_t with q_t = ∇ψ(Zw_t) comes from w_t itself. μ_t and ν_t are those that the solver delivers, if
it does; Algorithm 1 does not, and then they follow from q_t by their definition, eq. (B.1). So the
claims of Appendix C are about any solver, even one that yields nothing but t and w.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from harness.court.case import Case
from harness.court.numbers import ROUNDOFF, SAFETY, Number, number
from harness.court.space import Floats
from harness.court.vectors import Vec
from harness.court.view import View
from harness.statements._jst_method import Logistic, delivered, loss_of, mixing, psi_of


def combined(case: Case, q: Floats) -> Vec:
    """Aᵀq for doubles q, with a bound on the rounding of one evaluation."""
    error = (case.n + 16) * ROUNDOFF * case.space.radius * float(np.abs(q).sum()) * SAFETY
    return Vec(case.space, case.problem.combine(q), error)


@dataclass(frozen=True)
class Vectors:
    """The vectors at one t: w_t, Aᵀq_t, Aᵀμ_t, Aᵀν_t (A = −Z), and minus the g_t of eq. (C.5)."""

    t: int
    w: Vec
    pull: Vec
    mu: Vec
    nu: Vec
    g: Vec

    @cached_property
    def mu_square(self) -> Number:
        """‖Zᵀμ_t‖²."""
        return square(self.mu.norm())


class Trajectory:
    """Everything at t that the claims of Appendix C need, with error bounds.

    Attributes
    ----------
    now, before : Vectors
        Those at t and at t − 1; `before` is None at t = 0.
    gives_g, gives_mu : bool
        Whether the solver delivers g_t, and μ_t with ν_t.
    start : arb
        ψ(Zw_0).
    first, origin : Vec
        Aᵀq_0 and w_0.
    inverses, nu_lengths, nu_squares : arb
        Σ_{j<t} 1/λ_j, Σ_{j<t} ‖Zᵀν_j‖/λ_j and Σ_{j<t} ‖Zᵀν_j‖²/λ_j.
    mu_squares, next_squares : arb
        Σ_{0<j<t} (1/λ_{j−1}² − (1 − λ_j)/λ_j²) ‖Zᵀμ_j‖² and Σ_{j<t} ‖Zᵀμ_{j+1}‖²/λ_j.
    next_sum, weighted : Vec
        Σ_{j<t} Aᵀμ_{j+1}/λ_j and Σ_{j≤t} j Aᵀq_j.
    rounding : float
        A bound on the rounding of w_1, …, w_t to doubles, all together.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.space = case, case.space
        self.now: Vectors | None = None
        self.before: Vectors | None = None
        self.inverses = self.nu_lengths = self.nu_squares = arb(0)
        self.mu_squares = self.next_squares = arb(0)
        self.rounding = self.drift = 0.0

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        self.before, past = self.now, self.now
        if past is not None and "p" in it.extra:
            self.drift += self._drift(it, past)
        w, pull = it.vec(it.w), self._pull(it)
        self.rounding += 4 * ROUNDOFF * w.size()
        mu, nu = self._averages(it, past, pull)
        now = Vectors(it.t, w, pull, mu, nu, self._momentum(it, past, pull))
        if past is None:
            self.start, self.first, self.origin = psi_of(it), pull, w
            self.next_sum = self.weighted = pull * 0
        else:
            self._add(past, now)
        self.now = now

    def _drift(self, it: View, past: Vectors) -> float:
        """How far one step takes A w_t from scores that the solver carries along on its own.

        Rounding of A (w_t − w_{t−1}), and of adding it to either.
        """
        moved = self.space.score_error(it.w - past.w.mid)
        sums = 4 * ROUNDOFF * self.space.radius * self.space.size(it.w)
        return (2 * moved + sums) * SAFETY

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

    def _averages(self, it: View, past: Vectors | None, pull: Vec) -> tuple[Vec, Vec]:
        """Aᵀμ_t and Aᵀν_t."""
        given = delivered(it, "mu", "nu")
        self.gives_mu = given is not None
        if given is not None:
            return combined(self.case, given[0]), combined(self.case, given[1])
        mu = pull if past is None else _mixed(mixing(self.case, past.t), past.mu, pull)
        return mu, _mixed(mixing(self.case, it.t), mu, pull)

    def _momentum(self, it: View, past: Vectors | None, pull: Vec) -> Vec:
        given = it.claimed.momentum
        self.gives_g = given is not None
        if given is not None:
            return it.vec(given)
        return pull * 0 if past is None else (past.g + pull) * momentum_factor(self.case, it.t)

    def _add(self, past: Vectors, now: Vectors) -> None:
        inverse = number(1 / mixing(self.case, past.t))
        length = past.nu.norm()
        self.inverses += inverse
        self.nu_lengths += inverse * length
        self.nu_squares += inverse * square(length)
        if past.t:
            lam, last = mixing(self.case, past.t), mixing(self.case, past.t - 1)
            self.mu_squares += number(1 / last**2 - (1 - lam) / lam**2) * past.mu_square
        self.next_squares += inverse * now.mu_square
        self.next_sum = self.next_sum + now.mu * inverse
        self.weighted = self.weighted + now.pull * now.t


def square(value: Number) -> Number:
    """x², also for a ball around zero, of which Arb's power makes no number."""
    return value * value


def momentum_factor(case: Case, t: int) -> Fraction:
    """λ_{t−1}(1 − λ_t)/λ_t of eq. (C.5)."""
    lam = mixing(case, t)
    return mixing(case, t - 1) * (1 - lam) / lam


def _mixed(lam: Fraction, mu: Vec, q: Vec) -> Vec:
    """(1 − λ) μ + λ q."""
    return q if lam == 1 else mu * (1 - lam) + q * lam
