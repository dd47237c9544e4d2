"""Sections 4 and 5: unreliable metrics, Theorem 4.1; slow methods, Theorems 5.1, 5.2 and 5.3."""

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *

SPIKE = "loss-spike"


def _the_spike(case):
    """The data are those of the proof of Theorem 4.1."""
    return the_data(case, SPIKE, f"the theorem is about the data set {SPIKE}")


def _step_at_least_four(case):
    """γ ≥ 4, for which the rates are proved at which the limit is checked."""
    return None if case.solver.step >= 4 else "its rates are proved for γ ≥ 4"


@tyurin.direct(
    "thm4.1",
    "Theorem 4.1",
    Erratum("misprint", ".fixed"),
    kind="existence",
    problems=(SPIKE,),
    powerless="it is about the origin, not about a run",
)
def _spike_as_printed(c):
    r"""With θ_1 = 0, some data set has f(θ_1) → ∞ and f(θ_2) → 0 as γ → ∞, where θ_2 separates.

    $\text{Assume that } \theta_1 = 0.\ \text{There exists a separable dataset such that
    1. } f(\theta_1) \to \infty \text{ and } f(\theta_2) \to 0 \text{ when } \gamma \to \infty,\
    \text{2. } \theta_2/\gamma \text{ is a solution of (1) when } \gamma \to \infty,\
    \text{3. } \|\nabla f(\theta_1)\| \to \sqrt2/2 \text{ and } \|\nabla f(\theta_2)\| \to 0,\
    \text{where } \theta_1 \text{ and } \theta_2 \text{ are the first and second iterates}$"""
    for gamma in (10**2, 10**4, 10**6):
        what = "f(θ_1) ≥ γ/9, which tends to infinity, for θ_1 = 0"
        yield at_least(loss([number(0)] * c.n), number(gamma) / 9, what, where=f"γ = {gamma}")


@tyurin.bound(
    "thm4.1.fixed",
    "Theorem 4.1, with θ_0 = 0 in place of θ_1 = 0",
    LR_GD,
    _the_spike,
    _step_at_least_four,
    kind="existence",
    waits=lambda it, case: "" if it.t >= 2 else "it is about the first two iterates",
)
def _spike(it, c):
    r"""On the rows (1, −1) and (1, 4), the loss of LR+GD from θ_0 = 0 tends to ∞ at θ_1 and to 0 at
    θ_2 as γ → ∞, and θ_2 separates them.

    $\theta_0 = 0:\ f(\theta_1) \to \infty,\ f(\theta_2) \to 0,\ \theta_2/\gamma
    \text{ solves (1)},\ \|\nabla f(\theta_1)\| \to \sqrt2/2,\ \|\nabla f(\theta_2)\| \to 0
    \text{ when } \gamma \to \infty$

    Checked at the γ of the run, with rates: f(θ_1) ≥ γ/9, |‖∇f(θ_1)‖ − √2/2| ≤ 2/γ,
    f(θ_2) ≤ 2/γ, ‖∇f(θ_2)‖ ≤ 4/γ, for γ ≥ 4; the proof is in papers/gammabar/PROOFS.md."""
    gamma = step_of(c)
    if it.t == 0:
        yield fact(not it.w.any(), "θ_0 = 0")
    if it.t not in (1, 2):
        return
    # The bound on the error of ∇f is about 10⁻¹⁵: no more precision is needed than doubles have.
    gradient = (number(1) / it.n * LogisticWeights(it).pull()).norm()
    if it.t == 1:
        yield at_least(loss(it.scores), gamma / 9, "f(θ_1) ≥ γ/9")
        yield at_most(abs(gradient - sqrt(2) / 2), 2 / gamma, "|‖∇f(θ_1)‖ − √2/2| ≤ 2/γ")
    else:
        yield at_most(loss(it.scores), 2 / gamma, "f(θ_2) ≤ 2/γ")
        yield at_least(it.smallest, gamma / 4, "θ_2 separates the data")
        yield at_most(gradient, 4 / gamma, "‖∇f(θ_2)‖ ≤ 4/γ")


# Section 5, LR+GD is a Suboptimal Method


def _worst_data(case):
    """The data are those of the proof of Theorem 5.1, and n ≥ 10."""
    if linear(case) is None and case.n < 10:
        return "the theorem assumes n ≥ 10"
    return the_data(case, f"worst-case:n={case.n}", "the theorem is about the data sets worst-case")


@tyurin.bound(
    "thm5.1", "Theorem 5.1", Method("batch-perceptron", "lr-gd"), _worst_data, kind="existence"
)
def _needs_many(it, c):
    r"""On one row (½, −1) and n − 1 rows (½, 1), with μ = 1/2 and R = √5/2 for every n, no iterate
    with t < 3n/10 of Batch Perceptron separates the data, and none of LR+GD with any step.

    $\text{There exists a separable dataset with } \mu = \Theta(1) \text{ and }
    R = \Theta(1) \text{ such that Batch Perceptron (LR+GD when } \gamma \to \infty \text{)
    requires at least } \Omega(n) \text{ iterations to solve (1) if } \hat\theta_0 = 0
    \text{ and } n \ge 10$

    Checked with μ = 1/2, R = √5/2 and 3n/10 iterations, as proved in papers/gammabar/PROOFS.md. The
    paper calls the only misclassified sample, (0.5, −1) of class 1, one of class −1. Exactly, Batch
    Perceptron needs ⌊(3n+2)/10⌋ + 1 iterations (301 for n = 1000).
    Powerless: about one data set on which a method is slow: wrong ones may be faster"""
    if it.t == 0:
        yield equal(c.gamma_squared, number(1) / 4, "μ² = 1/4")
        yield equal(number(c.truth.radius_squared), number(5) / 4, "R² = 5/4")
    if 10 * it.t < 3 * it.n:
        what = "min_i ⟨a_i, w_t⟩ ≤ 0 for t < 3n/10"
        yield at_most(it.smallest, 0, what, size=1 + 2 * it.here.size())


@tyurin.stopping("thm5.2", "Theorem 5.2", Method("perceptron"), separable, slower=SUM_FIRST)
def _perceptron(c):
    r"""The Perceptron separates separable data after at most R²/μ² iterations, whichever
    misclassified row it chooses.

    $\text{the classical perceptron algorithm solves (1) after at most } \frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$"""
    return c.mistake_bound


@tyurin.stopping(
    "thm5.3",
    "Theorem 5.3",
    Method("normalized-batch-perceptron"),
    separable,
    slower="normalized-batch-perceptron/divides-by-n",
)
def _normalized_batch_perceptron(c):
    r"""Normalized Batch Perceptron separates separable data after at most R²/μ² iterations.

    $\text{Normalized Batch Perceptron solves (1) after at most } \frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$"""
    return c.mistake_bound
