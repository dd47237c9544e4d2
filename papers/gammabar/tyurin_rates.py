"""How far Tyurin's gradient methods are from the perceptrons they tend to, and how fast those are.

The bounds at every γ and their proofs are in `gammabar.papers.tyurin_2024.reduction`; the proof of
gb.batch is in docs/own-results.md.
"""

from __future__ import annotations

from typing import Any

from gammabar.papers import Case, per_iterate, separable, stopping
from gammabar.papers.tyurin_2024.conventions import has_step, squared_ratio
from gammabar.papers.tyurin_2024.reduction import Closeness, NormalizedRate


@per_iterate(
    "gb.tyurin.lr-gd.rate",
    reference="papers/tyurin_2024/reduction.py, with proof",
    kind="anytime",
    claim=r"\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t + \frac{R}{n}"
    r"\sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i a_i^\top\hat\theta_t| - R E_t))}",
    solvers=("lr-gd",),
    assumes=(has_step,),
)
class DescentRate(Closeness):
    """At every γ, and on any data, LR+GD divided by γ is within E_t(γ) of Batch Perceptron; and
    E_t(γ) → 0 as γ → ∞ if no row lies on a hyperplane of the path."""


@per_iterate(
    "gb.tyurin.normalized-lr-gd.rate",
    reference="papers/tyurin_2024/reduction.py, with proof",
    kind="anytime",
    claim=r"\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t + 2R\,"
    r"\min\left(1, \frac{T_t}{|S_t| - T_t}\right),\quad T_t = \sum_{i=1}^n"
    r" \frac{1}{1 + \exp(\gamma(|y_i a_i^\top\hat\theta_t| - R E_t))}",
    solvers=("normalized-lr-gd",),
    assumes=(has_step,),
)
class NormalizedDescentRate(Closeness):
    """At every γ, and on any data, Normalized LR+GD divided by γ is within E_t(γ) of Normalized
    Batch Perceptron, until that has separated the data."""

    kind = NormalizedRate


@stopping(
    "gb.batch",
    reference="docs/own-results.md, gb.batch",
    claim=r"\text{Batch Perceptron solves (1) after at most } \frac{(n+1)^2}{4n}\cdot"
    r"\frac{R^2}{\mu^2} \text{ iterations if } \hat\theta_0 = 0",
    solvers=("batch-perceptron",),
    assumes=(separable,),
    note="A quarter of what Theorem 3.3 of Tyurin (2024) prints, for large n: no data use more than"
    " (n+1)²/(4n²) of that bound.",
    slower="batch-perceptron/first-step-not-divided",
)
def batch_perceptron(case: Case) -> Any:
    """Batch Perceptron separates separable data after at most (n+1)²R²/(4nμ²) iterations."""
    return squared_ratio(case) * (case.n + 1) ** 2 / (4 * case.n)
