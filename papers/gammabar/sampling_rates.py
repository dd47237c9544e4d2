"""Fewer steps for Algorithm 2 of Ji, Srebro and Telgarsky (2021) than Theorem 4.1 there asks for.

The proof is in docs/own-results.md, gb.sampling.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gammabar.papers import (
    LEVELS,
    Case,
    Relation,
    at_most,
    log,
    number,
    randomised,
    separable,
    working,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import few_rows, several_rows
from gammabar.papers.ji_srebro_telgarsky_2021.sampling_runs import (
    ALGORITHM_2,
    DELTA,
    reachable,
    run,
    tolerance,
)


def enough(case: Case, epsilon: Fraction, delta: Fraction) -> int:
    """max{(18 ln n + 16 ln(2/δ))/γ̄², 8 min{1/δ, 4 ln(4/δ)}}/ε², rounded up."""
    with working(LEVELS[1]):
        first = (18 * case.log_n + 16 * log(2 / delta)) / case.gamma_squared
        second = (1 / number(delta)).min(4 * log(4 / delta))
        steps = (first.max(8 * second) / number(epsilon**2)).ceil().unique_fmpz()
    if steps is None:
        raise ValueError("γ̄ is not known well enough to tell how many steps are enough")
    return int(steps)


@randomised(
    "gb.sampling",
    reference="docs/own-results.md, gb.sampling",
    claim=r"n \ge 2: \; \text{for } t = \left\lceil \frac{1}{\epsilon^2} \max\left\{ \frac{18\ln n"
    r" + 16\ln(2/\delta)}{\bar\gamma^2}, 8\min\left\{\frac1\delta, 4\ln\frac4\delta\right\}"
    r" \right\} \right\rceil \text{ and } \theta_j = \sqrt{\ln(n)/t}, \text{ Algorithm 2 without"
    r" momentum has } \gamma(w_t) \ge \bar\gamma - \epsilon \text{ with probability } 1 - \delta",
    delta=float(DELTA),
    runs=15,
    problems=(
        "opposed:r=1,copies=9",
        "planted:n=4,d=2,gamma=0.9,seed=0",
        "iris:0,1:n=4,seed=0 --kernel rbf:gamma=1",
    ),
    solvers=(ALGORITHM_2,),
    assumes=(separable, few_rows, several_rows, reachable(Fraction(1, 2), steps=enough)),
    unit=True,
    instances="ε = γ̄/2 and δ = 1/2",
    note="Theorem 4.1 of Ji, Srebro and Telgarsky (2021) has 32 ln n + 64 ln(2/δ) and 32/δ: this is"
    " less than 9/16, 1/4 and 1/4 of them, and grows with ln(1/δ), not with 1/δ.",
    slower="adaptive-sampling/step-squared",
)
def fewer_steps(case: Case, rng: np.random.Generator) -> Relation:
    """For two rows or more, Algorithm 2 without momentum and with the step √(ln(n)/t) has a margin
    of at least γ̄ − ε after t = ⌈max{(18 ln n + 16 ln(2/δ))/γ̄², 8 min{1/δ, 4 ln(4/δ)}}/ε²⌉ steps,
    with probability 1 − δ."""
    epsilon = tolerance(case, Fraction(1, 2))
    steps = enough(case, epsilon, DELTA)
    last = run(case, rng, epsilon, sums=False, steps=steps).last
    return at_most(case.gamma - last.margin, epsilon, "γ̄ − γ(w_t) ≤ ε", where=f"t = {last.t}")
