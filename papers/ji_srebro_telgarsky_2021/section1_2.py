"""Sections 1, Introduction, and 2, Notation: ū, and gradients of the risk."""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
from flint import arb_series

from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.algorithms import LOSSES, derivative
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *


def _quarter(it: View, case: Case) -> Trit:
    """Whether γ(w_t) ≥ γ̄/4."""
    aim, margin = case.gamma / 4, it.margin
    return True if margin >= aim else False if margin < aim else None


_quarters = jst.sharing(THEOREM_3_1, separable, goal=_quarter)
_slowly = _quarters.sharing(slower=NO_MOMENTUM)
_optima = data.sharing(exact_and_separable, problems=SEPARABLE)
_FORGOTTEN = Erratum("edge case", ".fixed", ".charitable", same_mistake="prop3.7")


@_quarters.stopping("sec1.quarter", "Section 1.1", _FORGOTTEN, problems=(ONE_ROW,))
@_slowly.stopping(
    "sec1.quarter.charitable",
    "Section 1.1, for n ≥ 2",
    several_rows,
    instead={"γ(w_t)": "For two rows or more, γ(w_t)", r"\text{a": r"n \ge 2:\ \text{a"},
)
def _quarter_margin(c):
    r"""γ(w_t) ≥ γ̄/4 for some t ≤ 4√(ln n)/γ̄, on separable data.

    $\text{a margin of } \bar\gamma/4 \text{ in } 4\sqrt{\ln(n)}/\bar\gamma \text{ steps}$"""
    return 4 * sqrt(c.log_n) / c.gamma


@_slowly.stopping("sec1.quarter.fixed", "Section 1.1, with at least one step", problems=(ONE_ROW,))
def _quarter_margin_after_a_step(c):
    r"""γ(w_t) ≥ γ̄/4 for some t ≤ max(1, 4√(ln n)/γ̄), on separable data.

    $\text{a margin of } \bar\gamma/4 \text{ in } \max(1, 4\sqrt{\ln(n)}/\bar\gamma) \text{ steps}$
    """
    return _quarter_margin(c).max(1)


@_optima.direct("sec2.argmax", "Section 2, definition of ū", Erratum("transcription", ".fixed"))
def _argmax_sets(c):
    r"""The maximisers of γ over ‖w‖ < 1 are those over ‖w‖ = 1.

    $\bar u := \arg\max_{\|w\|_2 < 1} \gamma(w) = \arg\max_{\|w\|_2 = 1} \gamma(w)$"""
    yield from Optimum(c).proved()
    yield equal(Fraction(1, 2), 1, "‖ū/2‖ = 1, as ū/2 maximises γ over ‖w‖ < 1")


@_optima.direct("sec2.argmax.fixed", "Section 2, definition of ū, up to length")
def _argmax_directions(c):
    r"""On separable data the maximisers of γ over ‖w‖ = 1 are one point ū, and those over ‖w‖ < 1
    the multiples sū, 0 < s < 1.

    $\arg\max_{\|w\|_2 < 1} \gamma(w) = \{s \bar u : 0 < s < 1\}, \quad \{\bar u\} =
    \arg\max_{\|w\|_2 = 1} \gamma(w)$

    Separable data. Over ‖w‖ ≤ 1 it is the same segment with its end ū."""
    pair = Optimum(c)  # ū = w̄/‖w̄‖
    yield from pair.proved()
    yield fact(pair.square > 0, "w̄ ≠ 0")


_gradients = jst.sharing(
    kind="identity",
    problems=(
        "planted:n=20,d=4,gamma=0.1,seed=0",
        "inseparable:n=20,d=3,seed=0",
        "iris:0,1:n=30",
        "iris:0,1:n=20 --kernel poly:degree=2,coef0=1",
    ),
    powerless="it is about functions of w, not about a solver",
    note="Balls prove no equation: the sides agree in half of the digits that are carried.",
)
_DESCENTS = Method("dual-acceleration", "gradient-descent")


class _Along(NamedTuple):
    """What the functions of Section 2 do at some w, along a direction v.

    The slopes ⟨v, ∇⟩ of ψ(Zw) and R(w) come from the power series of ψ(Z(w + hv)) and R(w + hv) in
    h: from nothing but their definitions. `middle` is ⟨v, Σ_i ℓ′(⟨w, z_i⟩) z_i⟩, `normaliser`
    ℓ′(ψ(Zw)), and `value` R(w).
    """

    potential: Number
    risk: Number
    middle: Number
    normaliser: Number
    value: Number


def _along(case: Case, name: str, index: int) -> _Along:
    """w and v have small dyadic entries."""
    rng, rows, logistic = case.rng(22, index), np.arange(case.n), name == "logistic"
    w, v = rng.integers(-16, 17, (2, case.space.dimension)) / 4
    here, there = ([-s for s in case.space.exact_scores(u, rows)] for u in (w, v))
    pairs = list(zip(here, there, strict=True))
    powers = [arb_series([a, b], prec=2).exp() for a, b in pairs]
    losses = [(1 + power).log() for power in powers] if logistic else powers
    sum_ = sum(losses[1:], losses[0])
    psi = (sum_.exp() - 1 if logistic else sum_).log()
    middle = total(derivative(name, a) * b for a, b in pairs)
    return _Along(psi[1], sum_[1] / case.n, middle, derivative(name, psi[0]), sum_[0] / case.n)


@_gradients.direct("eq2.2", "Eq. (2.2)", _DESCENTS)
def _gradient_of_potential(c):
    r"""The gradient of ψ(Zw) is Zᵀ∇ψ(Zw) = Σ_i ℓ′(⟨w, z_i⟩) z_i/ℓ′(ψ(Zw)) = ∇R(w)/(ℓ′(ψ(Zw))/n),
    for the exponential and the logistic loss.

    $Z^\top\nabla\psi(Zw) = \frac{\sum_{i=1}^n \ell'(\langle w,z_i\rangle) z_i}{\ell'(\psi(Zw))} =
    \frac{\nabla\mathcal{R}(w)}{\ell'(\psi(Zw))/n}$

    Instances: three directions at three points w for each of two losses"""
    # Checked along some directions, with the derivatives of ψ and R from their definitions.
    for name, index in product(LOSSES, range(3)):
        it, where = _along(c, name, index), f"{name} loss, direction {index}"
        middle = it.middle / it.normaliser
        yield same_digits(it.potential, middle, "the first equation", where=where)
        yield same_digits(middle, it.risk * c.n / it.normaliser, "the second", where=where)


@_gradients.direct("eq2.3", "Eq. (2.3)", _DESCENTS, Method("normalized-gradient-descent"))
def _exponential_gradient(c):
    r"""Zᵀ∇ψ(Zw) = ∇R(w)/R(w) for the exponential loss.

    $Z^\top\nabla\psi(Zw) = \frac{\nabla\mathcal{R}(w)}{\mathcal{R}(w)} \quad \text{for the
    exponential loss}$

    Instances: three directions at three points w"""
    for index in range(3):
        it = _along(c, "exponential", index)
        what = "⟨v, Zᵀ∇ψ(Zw)⟩ = ⟨v, ∇R(w)⟩/R(w)"
        yield same_digits(it.potential, it.risk / it.value, what, where=f"direction {index}")
