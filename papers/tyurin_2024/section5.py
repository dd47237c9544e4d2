"""Section 5, LR+GD is a Suboptimal Method: Theorems 5.1, 5.2 and 5.3."""

from __future__ import annotations

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *


def _worst_data(case):
    """The data are those of the proof of Theorem 5.1, and n ≥ 10."""
    if (reason := linear(case)) is not None:
        return reason
    if case.n < 10:
        return "the theorem assumes n ≥ 10"
    return the_data(case, f"worst-case:n={case.n}", "the theorem is about the data sets worst-case")


@tyurin.bound(
    "thm5.1",
    "Theorem 5.1",
    Method("batch-perceptron", "lr-gd"),
    _worst_data,
    kind="existence",
    powerless="about one data set on which a method is slow: wrong ones may be faster",
)
def needs_many(it, c):
    r"""On one row (½, −1) and n − 1 rows (½, 1), with μ = 1/2 and R = √5/2 for every n, no iterate
    with t < 3n/10 of Batch Perceptron separates the data, and none of LR+GD with any step.

    Proof, also for LR+GD. Let s_t be the score of (½, −1) at θ_t, divided by γ for LR+GD.
    s_1 = ⅛ − (n−2)/(2n). Afterwards (½, −1) enters with a weight of at most 1/n and adds at most
    5/(4n) to s_t, and rows (½, 1) enter with weights ≥ 0 and take away from it (½·½ − 1·1 < 0). So
    s_t ≤ s_1 + 5(t−1)/(4n) = (10t − 3n − 2)/(8n), negative for t < 3n/10.

    $\text{There exists a separable dataset with } \mu = \Theta(1) \text{ and }
    R = \Theta(1) \text{ such that Batch Perceptron (LR+GD when } \gamma \to \infty \text{)
    requires at least } \Omega(n) \text{ iterations to solve (1) if } \hat\theta_0 = 0
    \text{ and } n \ge 10$

    Checked with μ = 1/2, R = √5/2 and 3n/10 iterations. The proof calls the only
    misclassified sample, (0.5, −1) of class 1, one of class −1. Exactly, Batch Perceptron needs
    ⌊(3n+2)/10⌋ + 1 iterations (301 for n = 1000)."""
    if it.t == 0:
        yield equal(c.gamma_squared, number(1) / 4, "μ² = 1/4")
        yield equal(number(c.truth.radius_squared_lo), number(5) / 4, "R² = 5/4")
    if 10 * it.t < 3 * it.n:
        what = "min_i ⟨a_i, w_t⟩ ≤ 0 for t < 3n/10"
        yield at_most(it.smallest, 0, what, size=1 + 2 * it.here.size())


@tyurin.stopping(
    "thm5.2",
    "Theorem 5.2",
    Method("perceptron"),
    separable,
    slower="perceptron/starts-with-the-sum",
)
def perceptron(c):
    r"""The Perceptron separates separable data after at most R²/μ² iterations, whichever
    misclassified row it chooses.

    $\text{the classical perceptron algorithm solves (1) after at most } \frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$"""
    return squared_ratio(c)


@tyurin.stopping(
    "thm5.3",
    "Theorem 5.3",
    Method("normalized-batch-perceptron"),
    separable,
    slower="normalized-batch-perceptron/divides-by-n",
)
def normalized_batch_perceptron(c):
    r"""Normalized Batch Perceptron separates separable data after at most R²/μ² iterations.

    $\text{Normalized Batch Perceptron solves (1) after at most } \frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$"""
    return squared_ratio(c)
