"""Ramdas and Peña (2015), Section 2.2: Winnow and the ℓ₁ margin."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, between, log, number
from gammabar.harness.court.statement import stopping
from gammabar.harness.court.trial import Trial
from gammabar.oracle.integers import integer_rows
from gammabar.oracle.l1 import solve_l1
from gammabar.papers.ramdas_pena_2015._rp import SOURCE
from gammabar.problems import DenseProblem, SparseProblem

TRIALS = (
    Trial("winnow", "planted:n=40,d=6,gamma=0.05,seed=0,rotate=0"),
    Trial("winnow", "planted:n=40,d=4,gamma=0.02,seed=0,rotate=0"),
    Trial("winnow", "degenerate:kind=ties,n=30,d=10,seed=3"),
    Trial("winnow:rate=0.2", "degenerate:kind=dependent,n=15,d=4"),
    Trial("winnow:rate=0.1", "planted:n=30,d=3,gamma=0.1,seed=1,rotate=0"),
    Trial("winnow", "degenerate:kind=collinear,n=1,d=2,seed=25"),
    Trial("winnow", "inseparable:n=12,d=3,seed=1", 40),
)


class L1Margin:
    """ρ₁ = max_{w ∈ Δ_d} min_i ⟨a_i, w⟩/‖a_i‖_∞; made once for a case."""

    BITS = 60

    def __init__(self, case: Case) -> None:
        integers, _ = integer_rows(case.problem.X, np.arange(case.n))
        labels = np.asarray(case.problem.y).tolist()
        rows = [[int(v) * s for v in row] for row, s in zip(integers, labels, strict=True)]
        largest = [max(map(abs, row)) or 1 for row in rows]
        common, error = math.lcm(*largest), Fraction(0)
        if common.bit_length() > self.BITS:  # rounded: w sums to one, so ρ₁ moves by 2⁻ᵇ at most
            common, error = 2**self.BITS, Fraction(1, 2**self.BITS)
        scaled = [[v * common // m for v in row] for row, m in zip(rows, largest, strict=True)]
        found = solve_l1(scaled, Fraction(1, common), signed=False)
        self.low, self.high = found.value_lo - error, found.value_hi + error


def searched(case: Case) -> str | None:
    """Some u with non-negative coordinates separates the points."""
    if not isinstance(case.problem, DenseProblem | SparseProblem):
        return "this is about points of ℝ^d"
    margin = case.history(L1Margin)
    return None if margin.low > 0 else "no u with non-negative coordinates separates the data"


def _one_over_square(case: Case) -> Number:
    margin = case.history(L1Margin)
    return 1 / between(number(margin.low), number(margin.high)) ** 2


@stopping(
    "rp.winnow",
    reference=f"{SOURCE}, Section 2.2, Winnow",
    claim=r"u \in \mathbb{R}_+^d,\ YX^\top u \ge \rho > 0 \;\Rightarrow\; \text{feasibility in }"
    r"\|u\|_1^2 \max_i\|a_i\|_\infty^2 \log n/\rho^2 \text{ iterations};\quad"
    r"\text{normalised: } \log n/\rho_1^2",
    solvers=("winnow",),
    assumes=(searched,),
    problems=("degenerate:kind=collinear,n=1,d=2,seed=25",),
    status="refuted",
    fixed_by="rp.winnow.fixed",
    note="The logarithm is of the number d of coordinates, not of the number n of points. One row "
    "(1, −3), n = 1 and d = 2: u = e_1 separates it, both printed bounds are 0 because log 1 = 0, "
    "but the start w = (½, ½) has the score −1. (In the plan: the row (3, −4), score −½.) With "
    "log d the constant 1 is still too small: for the row (1, −1) log d/ρ₁² = log 2 < 1, and the "
    "start has the score 0. Checked is the second bound, the smaller of the two.",
)
def winnow(case: Case) -> Any:
    """Winnow separates within log n/ρ₁² iterations."""
    return log(case.n) * _one_over_square(case)


def slow_enough(case: Case) -> str | None:
    """A constant rate is below 2ρ₁."""
    rate = getattr(case.solver, "rate", None)
    good = rate is None or Fraction(rate) < 2 * case.history(L1Margin).low
    return None if good else "the rate is not below 2ρ₁"


@stopping(
    "rp.winnow.fixed",
    reference=f"{SOURCE}, Section 2.2, Winnow, with log d and constants",
    claim=r"\frac{4\log d}{\rho_1^2} \text{ iterations for } \eta_t = \sqrt{\log d/(t+1)},\quad"
    r"\frac{\log d}{\eta\rho_1 - \eta^2/2} \text{ for a constant } \eta < 2\rho_1",
    solvers=("winnow",),
    assumes=(searched, slow_enough),
    note="Proved in the docstring of the solver; the paper prints neither the update nor its rate.",
)
def winnow_fixed(case: Case) -> Any:
    """Winnow separates within 4 log d/ρ₁² iterations, or log d/(η ρ₁ − η²/2) for a constant η."""
    logarithm = log(case.problem.dimension)
    rate = getattr(case.solver, "rate", None)
    if rate is None:
        return 4 * logarithm * _one_over_square(case)
    eta = number(rate)
    margin = case.history(L1Margin)
    return logarithm / (eta * between(number(margin.low), number(margin.high)) - eta**2 / 2)
