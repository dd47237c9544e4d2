"""How far Tyurin's gradient methods are from the perceptrons they tend to, at every γ.

The bound and its proof are in `gammabar.papers.tyurin_2024.reduction`.
"""

from __future__ import annotations

from gammabar.papers import per_iterate
from gammabar.papers.tyurin_2024.conventions import has_step
from gammabar.papers.tyurin_2024.reduction import Closeness, NormalizedRate


@per_iterate(
    "gb.tyurin.lr-gd.rate",
    reference="papers/tyurin_2024/reduction.py, with proof",
    kind="anytime",
    claim=r"\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t + \frac{R}{n}"
    r"\sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i a_i^\top\hat\theta_t| - R E_t))}",
    solvers=("lr-gd",),
    assumes=(has_step,),
    since=1,
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
    since=1,
)
class NormalizedDescentRate(Closeness):
    """At every γ, and on any data, Normalized LR+GD divided by γ is within E_t(γ) of Normalized
    Batch Perceptron, until that has separated the data."""

    kind = NormalizedRate
