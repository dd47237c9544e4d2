"""Section 2, Stochastic Gradient Descent (SGD): Theorem 3."""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import Case, Relation, direct, number, sqrt
from gammabar.papers.lecture.linear_algebra import small
from gammabar.papers.lecture.sgd import (
    MORE_RUNS,
    RUNS,
    SAMPLED,
    STOCHASTIC,
    TASKS,
    estimate,
    expectation,
    hinge_of,
    judged,
    quickly_sampled,
    steerable,
)


@direct(
    "lec.thm3",
    reference="Theorem 3",
    kind="expectation",
    claim=r"\mathbb{E}[f(\bar{w})] - f(w^*) \leq \frac{B\rho}{\sqrt{T}}",
    problems=("", SAMPLED),
    solvers=STOCHASTIC,
    assumes=(small, steerable, quickly_sampled),
    note="w* must exist, so separable data come with the hinge loss. The proof needs less than it "
    "says: E(v_t | w_t) = ∇f(w_t), which Algorithm 1 asks for, does not give "
    "E(v_t | v_1, …, v_{t−1}) = ∇f(w_t), but conditioning on w_t alone suffices. ρ = 0 is excluded "
    "by the step size. At T = 1 the bound is attained by the hinge loss of one point.",
    slower="sgd/step-falls-too-fast",
)
def sgd_rate(case: Case) -> Iterator[Relation]:
    """SGD with step √(B²/(ρ²T)) for T steps: the expected value at the average of the iterates is
    within Bρ/√T of the minimum."""
    what = "E f(w̄) − f(w*) ≤ Bρ/√T"
    if case.given is not None:
        f, B, T = hinge_of(case)
        mean, wrong = estimate(case, f, B, T, RUNS)
        yield judged(mean, number(0), B * f.lipschitz / sqrt(T), what, f"T = {T}", wrong)
        return
    for task in TASKS:
        for T in task.horizons if task.everywhere else ():
            f, B = task.sum(), task.distance()
            mean, off, wrong = expectation(case, f, B, T)
            yield judged(
                mean,
                task.best(),
                B * f.lipschitz / sqrt(T),
                what,
                f"{task.name}, T = {T}",
                wrong,
                off,
            )
    # Too many paths to count: the solver draws its own, and must not forget a term.
    task, T = TASKS[1], 16
    f, B = task.sum(), task.distance()
    mean, wrong = estimate(case, f, B, T, MORE_RUNS)
    bound = B * f.lipschitz / sqrt(T)
    yield judged(mean, task.best(), bound, what, f"{task.name}, T = {T}", wrong)
