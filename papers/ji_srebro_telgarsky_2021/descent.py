"""Ji, Srebro and Telgarsky (2021), Sections 2 and 3.1: the gradient, and descent along it.

Rows of A are y_i x_i and the paper's Z is −A, so that ZZᵀ = AAᵀ and (Zw)_i = −(Aw)_i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb_series

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import (
    ROUNDOFF,
    SAFETY,
    Number,
    ball,
    exp,
    number,
    precision,
    total,
)
from gammabar.harness.court.numbers import upper as bound_of
from gammabar.harness.court.relation import Relation, equal
from gammabar.harness.court.statement import direct, option, per_iterate
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.vectors import Vec, scaled
from gammabar.harness.court.view import View
from gammabar.papers.ji_srebro_telgarsky_2021.history import same_vector


class Loss(NamedTuple):
    """ℓ and ℓ⁻¹ on power series, and ℓ′ on numbers."""

    name: str
    value: Callable[[Any], Any]
    inverse: Callable[[Any], Any]
    slope: Callable[[Number], Number]


EXPONENTIAL = Loss("exponential", lambda z: z.exp(), lambda y: y.log(), exp)
LOGISTIC = Loss(
    "logistic",
    lambda z: (1 + z.exp()).log(),
    lambda y: (y.exp() - 1).log(),
    lambda z: 1 / (1 + exp(-z)),
)
GRADIENT_PROBLEMS = (
    "planted:n=20,d=4,gamma=0.1,seed=0",
    "inseparable:n=20,d=3,seed=0",
    "iris:0,1:n=30",
    "iris:0,1:n=20 --kernel poly:degree=2,coef0=1",
)
FUNCTION = "it is about functions of w, not about a solver"
DIGITS = "Balls prove no equation: the sides agree in half of the digits that are carried."


class Along(NamedTuple):
    """What the functions of Section 2 do at w, along a direction v.

    Attributes
    ----------
    potential, risk : arb
        ⟨v, ∇ψ(Zw)-gradient in w⟩ and ⟨v, ∇R(w)⟩, from the power series of ψ(Z(w + hv)) and
        R(w + hv) in h: nothing but the definitions of ψ and R.
    middle : arb
        ⟨v, Σ_i ℓ′(⟨w, z_i⟩) z_i⟩.
    slope, value : arb
        ℓ′(ψ(Zw)) and R(w).
    """

    potential: Number
    risk: Number
    middle: Number
    slope: Number
    value: Number


def along(case: Case, loss: Loss, index: int) -> Along:
    """`Along` at some w and v of small dyadic numbers."""
    rng = case.rng(22, index)
    rows = np.arange(case.n)
    w, v = rng.integers(-16, 17, (2, case.space.dimension)) / 4
    here, there = ([-s for s in case.space.exact_scores(u, rows)] for u in (w, v))
    losses = [loss.value(arb_series([a, b], prec=2)) for a, b in zip(here, there, strict=True)]
    sum_ = total_series(losses)
    psi = loss.inverse(sum_)
    middle = total(loss.slope(a) * b for a, b in zip(here, there, strict=True))
    return Along(psi[1], sum_[1] / case.n, middle, loss.slope(psi[0]), sum_[0] / case.n)


def total_series(terms: list[Any]) -> Any:
    """The sum of power series."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def agree(left: Number, right: Number, what: str, where: str) -> Relation:
    """left = right, to half of the digits that are carried."""
    allowance = 2.0 ** -(precision() // 2) * (1 + bound_of(left))
    return equal(left, right, what, allowance=allowance, where=where)


@direct(
    "jst.eq2.2",
    reference="Eq. (2.2)",
    claim=r"Z^\top\nabla\psi(Zw) = \frac{\sum_{i=1}^n \ell'(\langle w,z_i\rangle) z_i}"
    r"{\ell'(\psi(Zw))} = \frac{\nabla\mathcal{R}(w)}{\ell'(\psi(Zw))/n}",
    kind="identity",
    problems=GRADIENT_PROBLEMS,
    solvers=("dual-acceleration", "gradient-descent"),
    unit=True,
    powerless=FUNCTION,
    note=DIGITS,
)
def potential_gradient(case: Case) -> Iterator[Relation]:
    """The gradient of ψ(Zw) is Zᵀ∇ψ(Zw) = Σ_i ℓ′(⟨w, z_i⟩) z_i/ℓ′(ψ(Zw)) = ∇R(w)/(ℓ′(ψ(Zw))/n),
    for the exponential and the logistic loss.

    Checked along some directions, with the derivatives of ψ and R from their definitions.
    """
    for loss in (EXPONENTIAL, LOGISTIC):
        for index in range(3):
            it = along(case, loss, index)
            where = f"{loss.name} loss, direction {index}"
            yield agree(it.potential, it.middle / it.slope, "the first equation", where)
            yield agree(it.middle / it.slope, it.risk * case.n / it.slope, "the second", where)


@direct(
    "jst.eq2.3",
    reference="Eq. (2.3)",
    claim=r"Z^\top\nabla\psi(Zw) = \frac{\nabla\mathcal{R}(w)}{\mathcal{R}(w)}"
    r" \quad \text{for the exponential loss}",
    kind="identity",
    problems=GRADIENT_PROBLEMS,
    solvers=("dual-acceleration", "gradient-descent", "normalized-gradient-descent"),
    unit=True,
    powerless=FUNCTION,
    note=DIGITS,
)
def exponential_gradient(case: Case) -> Iterator[Relation]:
    """Zᵀ∇ψ(Zw) = ∇R(w)/R(w) for the exponential loss."""
    for index in range(3):
        it = along(case, EXPONENTIAL, index)
        what = "⟨v, Zᵀ∇ψ(Zw)⟩ = ⟨v, ∇R(w)⟩/R(w)"
        yield agree(it.potential, it.risk / it.value, what, f"direction {index}")


@per_iterate(
    "jst.sec3.1.mirror",
    reference="Section 3.1",
    claim=r"w_{t+1} = w_t - \theta_t Z^\top q_t, \quad q_{t+1} \propto q_t \odot"
    r" \exp(-\theta_t \nabla\phi(q_t)), \quad \theta_t = \eta_t \mathcal{R}(w_t)",
    kind="identity",
    solvers=("gradient-descent", "normalized-gradient-descent"),
    assumes=(option("loss", "exponential"),),
    since=1,
    unit=True,
    note="It is checked one step late, when w_{t+1} is known. For normalised descent θ_t is its"
    " step. A solver that says neither is taken for descent with some θ_t, the one that fits best.",
)
class Mirror:
    """Gradient descent is mirror descent on φ(q) = ‖Zᵀq‖²/2: with θ_t = η_t R(w_t),
    w_{t+1} = w_t − θ_t Zᵀq_t and q_{t+1} ∝ q_t ⊙ exp(−θ_t ∇φ(q_t)).

    q_t ∝ exp(−A w_t), so that the second says that A(w_{t+1} − w_t) − θ_t A Aᵀq_t is the same for
    every row.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._before: View | None = None
        self._now: View | None = None

    def update(self, it: View) -> None:
        """Keep this iterate and the one before."""
        self._before, self._now = self._now, it

    def claim(self, it: View) -> list[Relation]:
        """What the step from t − 1 to t should be."""
        before = self._before
        assert before is not None
        pull, moved = before.pull, it.here - before.here
        theta = self._theta(before, moved)
        length = float(theta.mid())
        # θ_t as a solver has it: from a risk that is off by as much as ours, and a few roundoffs.
        error = length * (2 * float(before.psi.rad()) + 16 * ROUNDOFF)
        step = Vec(pull.space, length * pull.mid, scaled(length, pull).err + error * pull.size())
        return [
            same_vector(moved, step, "w_t − w_{t−1} = −θ_{t−1} Zᵀq_{t−1}"),
            self._proportional(it, before, step),
        ]

    def _theta(self, before: View, moved: Vec) -> Number:
        """θ_{t−1}."""
        solver, t = self._case.solver, before.t
        step = getattr(solver, "step", None)
        name = getattr(getattr(solver, "card", None), "name", "")
        if step is None or not name:
            return moved.inner(before.pull) / (before.pull.norm() * before.pull.norm())
        if name == "gradient-descent":
            return exp(before.psi) / before.n * step
        decay = getattr(solver, "decay", False)
        return number(step) / (number(t + 1).sqrt() if decay else 1)

    def _proportional(self, it: View, before: View, step: Vec) -> Relation:
        """ln q_t − ln q_{t−1} + θ ∇φ(q_{t−1}) is the same for every row."""
        space = it.space
        slope = it.case.problem.scores(step.mid)  # θ A Aᵀq
        rest = it.score_doubles - before.score_doubles - slope
        spread = float(rest.max() - rest.min())
        error = it.score_error + before.score_error + space.score_error(step.mid)
        error += space.radius * (step.err + 4 * ROUNDOFF * (it.here.size() + step.size()))
        what = "q_t ∝ q_{t−1} ⊙ exp(−θ_{t−1} ∇φ(q_{t−1}))"
        error *= 2 * SAFETY
        return equal(ball(spread, error), 0, what, allowance=4 * error)


TRIALS = (
    Trial("gradient-descent", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("gradient-descent:step=0.5", "inseparable:n=40,d=5,seed=0", 100),
    Trial("gradient-descent", "iris:0,1:n=40 --kernel rbf:gamma=1", 50),
    Trial("normalized-gradient-descent", "gaussian:n=60,d=20,seed=2,separable=1", 100),
    Trial("normalized-gradient-descent:decay=1", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("normalized-gradient-descent", "digits:0,1,2:n=30 --multiclass", 50),
)
