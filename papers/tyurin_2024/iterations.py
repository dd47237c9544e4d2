"""Tyurin (2024): how many iterations the methods need, and two data sets.

An iteration is an update, so "after at most B iterations" means that some w_t with t ≤ B separates
the data; the half step of Batch Perceptron is its first iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, exp, log, number, sqrt, total
from gammabar.harness.court.relation import Relation, at_least, at_most, equal, fact
from gammabar.harness.court.statement import Assumption, direct, per_iterate, separable, stopping
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.view import View
from gammabar.papers.tyurin_2024._tyurin import (
    SOURCE,
    Logistic,
    has_step,
    linear,
    same_data,
    step_of,
)

# Theorems 3.3, 5.2, 5.3 and 6.1: upper bounds


def _squared_ratio(case: Case) -> Any:
    """R²/μ²: an exact rational wherever μ² is one, so that a count can be equal to it."""
    truth = case.truth
    if truth.exact:
        return truth.radius_squared_lo / truth.square_lo
    return case.radius**2 / case.gamma_squared


@stopping(
    "tyurin.thm3.3",
    reference=f"{SOURCE}, Theorem 3.3",
    claim=r"\text{Batch Perceptron solves (1) after at most } \frac{nR^2}{\mu^2}"
    r" \text{ iterations if } \hat\theta_0 = 0",
    solvers=("batch-perceptron",),
    assumes=(separable,),
    note="The printed proof bounds t where θ̂_{t+1} is the solution, one iteration less. But a step "
    "with |S_t| = k shortens the squared distance by R²(2k/n − k²/n²) ≥ R²(2/n − 1/n²), of which "
    "the proof uses R²/n, and the half step shortens it by 3R²/4: for n ≥ 2 that is more than "
    "enough for the iteration that is missing, and for n = 1 the half step is the solution.",
)
def batch_perceptron(case: Case) -> Any:
    """Batch Perceptron separates separable data after at most nR²/μ² iterations."""
    return case.n * _squared_ratio(case)


@stopping(
    "tyurin.thm5.2",
    reference=f"{SOURCE}, Theorem 5.2",
    claim=r"\text{the classical perceptron algorithm solves (1) after at most } \frac{R^2}{\mu^2}"
    r" \text{ iterations if } \hat\theta_0 = 0",
    solvers=("perceptron",),
    assumes=(separable,),
)
def perceptron(case: Case) -> Any:
    """The Perceptron separates separable data after at most R²/μ² iterations, whichever
    misclassified row it chooses."""
    return _squared_ratio(case)


@stopping(
    "tyurin.thm5.3",
    reference=f"{SOURCE}, Theorem 5.3",
    claim=r"\text{Normalized Batch Perceptron solves (1) after at most } \frac{R^2}{\mu^2}"
    r" \text{ iterations if } \hat\theta_0 = 0",
    solvers=("normalized-batch-perceptron",),
    assumes=(separable,),
)
def normalized_batch_perceptron(case: Case) -> Any:
    """Normalized Batch Perceptron separates separable data after at most R²/μ² iterations."""
    return _squared_ratio(case)


@stopping(
    "tyurin.thm6.1",
    reference=f"{SOURCE}, Theorem 6.1",
    claim=r"\text{Normalized LR+GD solves (1) after at most } \frac{R^2}{\mu^2}"
    r" + \frac{2\log(2n-1)}{\gamma\mu^2} \text{ iterations if } \theta_0 = 0",
    solvers=("normalized-lr-gd",),
    assumes=(has_step, separable),
    note="The proof takes α = (2 log(2n−1) + R²)/(γμ); it should be α = (2 log(2n−1)/γ + R²)/μ, "
    "with which its last display, and so the theorem, is right.",
)
def normalized_descent(case: Case) -> Any:
    """Normalized LR+GD separates separable data after at most R²/μ² + 2 log(2n−1)/(γμ²)
    iterations."""
    slow = 2 * log(2 * case.n - 1) / (step_of(case) * case.gamma_squared)
    return number(_squared_ratio(case)) + slow


# Theorem 4.1: the loss explodes one step before the data are separated


def loss(scores: list[Number]) -> Number:
    """f(θ) = (1/n) Σ_i log(1 + exp(−s_i)) for scores s_i; large exponents are taken out first."""
    return total(_softplus(-s) for s in scores) / len(scores)


def _softplus(x: Number) -> Number:
    """log(1 + exp x)."""
    return x + log(1 + exp(-x)) if x > 0 else log(1 + exp(x))


SPIKE = "loss-spike"


def the_spike(case: Case) -> str | None:
    """The data are those of the proof of Theorem 4.1."""
    reason = linear(case)
    if reason is None and not same_data(case.problem, SPIKE):
        reason = f"the theorem is about the data set {SPIKE}"
    return reason


def step_at_least(least: float) -> Assumption:
    """γ is large enough for the rates at which a limit is checked."""

    def met(case: Case) -> str | None:
        return None if case.solver.step >= least else f"its rates are proved for γ ≥ {least:g}"

    return met


@direct(
    "tyurin.thm4.1",
    reference=f"{SOURCE}, Theorem 4.1",
    kind="existence",
    claim=r"\text{Assume that } \theta_1 = 0.\ \text{There exists a separable dataset such that"
    r" 1. } f(\theta_1) \to \infty \text{ and } f(\theta_2) \to 0 \text{ when } \gamma \to \infty,"
    r"\ \text{2. } \theta_2/\gamma \text{ is a solution of (1) when } \gamma \to \infty,"
    r"\ \text{3. } \|\nabla f(\theta_1)\| \to \sqrt2/2 \text{ and } \|\nabla f(\theta_2)\| \to 0,"
    r"\ \text{where } \theta_1 \text{ and } \theta_2 \text{ are the first and second iterates}",
    problems=(SPIKE,),
    status="refuted",
    fixed_by="tyurin.thm4.1.fixed",
    note="With θ_1 = 0 there is no such data set: f(0) = log 2 = 0.693… whatever the data and γ, "
    "so f(θ_1) does not tend to infinity. θ_0 = 0 is meant, as in the proof. Witness: rows (1, −1) "
    "and (1, 4), θ_1 = (0, 0), γ = 100: f(θ_1) = log 2 < 11 < γ/9. The proof's f(θ_1) = "
    "½(log(1 + exp(γ/4)) + log(1 + exp(−7γ/2))) is larger than γ/9.",
    powerless="it is about the origin, not about a run",
)
def spike_as_printed(case: Case) -> Iterator[Relation]:
    """With θ_1 = 0, some data set has f(θ_1) → ∞ and f(θ_2) → 0 as γ → ∞, where θ_2 separates."""
    for gamma in (10**2, 10**4, 10**6):
        value = loss([number(0)] * case.n)
        what = "f(θ_1) ≥ γ/9, which tends to infinity, for θ_1 = 0"
        yield at_least(value, number(gamma) / 9, what, where=f"γ = {gamma}")


@per_iterate(
    "tyurin.thm4.1.fixed",
    reference=f"{SOURCE}, Theorem 4.1, with θ_0 = 0 in place of θ_1 = 0",
    kind="existence",
    claim=r"\theta_0 = 0:\ f(\theta_1) \to \infty,\ f(\theta_2) \to 0,\ \theta_2/\gamma"
    r" \text{ solves (1)},\ \|\nabla f(\theta_1)\| \to \sqrt2/2,\ \|\nabla f(\theta_2)\| \to 0"
    r" \text{ when } \gamma \to \infty",
    solvers=("lr-gd",),
    assumes=(has_step, the_spike, step_at_least(4)),
    waits=lambda it, case: "" if it.t >= 2 else "it is about the first two iterates",
    note="Checked at the γ of the run, with rates: f(θ_1) ≥ γ/9, |‖∇f(θ_1)‖ − √2/2| ≤ 2/γ, "
    "f(θ_2) ≤ 2/γ, ‖∇f(θ_2)‖ ≤ 4/γ, for γ ≥ 4.",
)
def spike(it: View, case: Case) -> Iterator[Relation]:
    """On the rows (1, −1) and (1, 4), the loss of LR+GD from θ_0 = 0 tends to ∞ at θ_1 and to 0 at
    θ_2 as γ → ∞, and θ_2 separates them.

    Proof of the rates. θ_1 = γ(½, ¾) has scores −γ/4 and 7γ/2, so f(θ_1) ≥ γ/8. With
    s = 1/(1 + exp(γ/4)) and s' = 1/(1 + exp(7γ/2)), ∇f(θ_1) = −½((1 − s)(1, −1) + s'(1, 4)), and
    | ‖∇f(θ_1)‖ − √2/2 | ≤ ½(√2 s + √17 s') < 2/γ, as x exp(−x) ≤ 1/e. The scores of θ_2/γ are
    ¾ − s − 3s'/2 and 2 + 3s/2 + 17s'/2, at least ⅓ for γ ≥ 4: so θ_2 separates the data,
    f(θ_2) ≤ exp(−γ/3) < 2/γ and ‖∇f(θ_2)‖ ≤ ½(√2 + √17) exp(−γ/3) < 4/γ.
    """
    gamma = step_of(case)
    if it.t == 0:
        yield fact(not it.w.any(), "θ_0 = 0")
    if it.t not in (1, 2):
        return
    # The bound on the error of ∇f is about 10⁻¹⁵: no more precision is needed than doubles have.
    gradient = (Logistic(it).pull() * (number(1) / it.n)).norm()
    if it.t == 1:
        yield at_least(loss(it.scores), gamma / 9, "f(θ_1) ≥ γ/9")
        limit = sqrt(2) / 2
        yield at_most(abs(gradient - limit), 2 / gamma, "|‖∇f(θ_1)‖ − √2/2| ≤ 2/γ")
    else:
        yield at_most(loss(it.scores), 2 / gamma, "f(θ_2) ≤ 2/γ")
        yield at_least(it.smallest, gamma / 4, "θ_2 separates the data")
        yield at_most(gradient, 4 / gamma, "‖∇f(θ_2)‖ ≤ 4/γ")


# Theorem 5.1: Batch Perceptron needs a number of iterations proportional to n


def worst_data(case: Case) -> str | None:
    """The data are those of the proof of Theorem 5.1, and n ≥ 10."""
    reason = linear(case)
    if reason is None and case.n < 10:
        reason = "the theorem assumes n ≥ 10"
    if reason is None and not same_data(case.problem, f"worst-case:n={case.n}"):
        reason = "the theorem is about the data sets worst-case"
    return reason


@per_iterate(
    "tyurin.thm5.1",
    reference=f"{SOURCE}, Theorem 5.1",
    kind="existence",
    claim=r"\text{There exists a separable dataset with } \mu = \Theta(1) \text{ and }"
    r" R = \Theta(1) \text{ such that Batch Perceptron (LR+GD when } \gamma \to \infty \text{)"
    r" requires at least } \Omega(n) \text{ iterations to solve (1) if } \hat\theta_0 = 0"
    r" \text{ and } n \ge 10",
    solvers=("batch-perceptron", "lr-gd"),
    assumes=(worst_data,),
    note="Checked with μ = 1/2, R = √5/2 and 3n/10 iterations. The proof calls the only "
    "misclassified sample, (0.5, −1) of class 1, one of class −1. Exactly, Batch Perceptron needs "
    "⌊(3n+2)/10⌋ + 1 iterations (301 for n = 1000).",
)
def needs_many(it: View, case: Case) -> Iterator[Relation]:
    """On one row (½, −1) and n − 1 rows (½, 1), with μ = 1/2 and R = √5/2 for every n, no iterate
    with t < 3n/10 of Batch Perceptron separates the data, and none of LR+GD with any step.

    Proof, also for LR+GD. Let s_t be the score of (½, −1) at θ_t, divided by γ for LR+GD.
    s_1 = ⅛ − (n−2)/(2n). Afterwards (½, −1) enters with a weight of at most 1/n and adds at most
    5/(4n) to s_t, and rows (½, 1) enter with weights ≥ 0 and take away from it (½·½ − 1·1 < 0). So
    s_t ≤ s_1 + 5(t−1)/(4n) = (10t − 3n − 2)/(8n), negative for t < 3n/10.
    """
    if it.t == 0:
        yield equal(case.gamma_squared, number(1) / 4, "μ² = 1/4")
        yield equal(number(case.truth.radius_squared_lo), number(5) / 4, "R² = 5/4")
    if 10 * it.t < 3 * it.n:
        what = "min_i ⟨a_i, w_t⟩ ≤ 0 for t < 3n/10"
        yield at_most(it.smallest, 0, what, size=1 + 2 * it.here.size())


TRIALS = (
    Trial("batch-perceptron", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("batch-perceptron", "iris:0,1"),
    Trial("batch-perceptron", "worst-case:n=16", 20),
    Trial("batch-perceptron", "worst-case:n=1000", 310),
    Trial("batch-perceptron", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=0"),
    Trial("batch-perceptron", "degenerate:kind=collinear,n=1,d=2"),
    Trial("batch-perceptron", "gaussian:n=30,d=4,seed=1,separable=1 --kernel rbf:gamma=0.5"),
    Trial("normalized-batch-perceptron", "planted:n=60,d=5,gamma=0.1,seed=1"),
    Trial("normalized-batch-perceptron", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=0"),
    Trial("normalized-batch-perceptron", "degenerate:kind=simplex"),
    Trial("normalized-batch-perceptron", "iris:0,1 --kernel poly:degree=2,coef0=1"),
    Trial("perceptron", "planted:n=60,d=5,gamma=0.1,seed=2"),
    Trial("perceptron:choice=cyclic", "gaussian:n=40,d=4,seed=3,separable=1"),
    Trial("perceptron:choice=random", "two-lines:r=3,n=40", seed=1),
    Trial("perceptron:choice=worst", "degenerate:kind=simplex"),
    Trial("perceptron:choice=worst", "mnist-sample:0,1"),
    Trial("normalized-lr-gd:step=10", "planted:n=60,d=5,gamma=0.1,seed=3"),
    Trial("normalized-lr-gd:step=0.1", "two-lines:r=2,n=20"),
    Trial("normalized-lr-gd:step=100", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=1"),
    Trial("normalized-lr-gd", "degenerate:kind=collinear,n=1,d=2"),
    Trial("lr-gd", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("lr-gd:step=4", SPIKE, 10),
    Trial("lr-gd:step=1e6", SPIKE, 10),
    Trial("lr-gd:step=0.1", "worst-case:n=20", 20),
    Trial("lr-gd:step=1e6", "worst-case:n=1000", 310),
)
