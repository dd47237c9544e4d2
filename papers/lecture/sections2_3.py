"""Section 2, Stochastic Gradient Descent: Theorem 3; Section 3, Learning with SGD: Corollary 4."""

from __future__ import annotations

from itertools import product

from gammabar.papers.claims import *
from gammabar.papers.lecture.quantities import lec
from gammabar.papers.lecture.sgd import *

EXPECTED = lec.sharing(kind="expectation", slower="sgd/step-falls-too-fast")


@EXPECTED.direct("thm3", "Theorem 3", STOCHASTIC, quickly_sampled, problems=("", SAMPLED))
def sgd_rate(c):
    r"""SGD with step √(B²/(ρ²T)) for T steps: the expected value at the average of the iterates is
    within Bρ/√T of the minimum.

    $\mathbb{E}[f(\bar{w})] - f(w^*) \leq \frac{B\rho}{\sqrt{T}}$

    w* must exist, so separable data come with the hinge loss. The proof needs less than it
    says: E(v_t | w_t) = ∇f(w_t), which Algorithm 1 asks for, does not give
    E(v_t | v_1, …, v_{t−1}) = ∇f(w_t), but conditioning on w_t alone suffices. ρ = 0 is excluded
    by the step size. At T = 1 the bound is attained by the hinge loss of one point."""
    what = "E f(w̄) − f(w*) ≤ Bρ/√T"
    if c.given is not None:
        f, B, T = hinge_of(c)
        bound = B * f.lipschitz / sqrt(T)
        yield compared(estimate(c, f, B, T, RUNS), 0, bound, what, f"T = {T}")
        return
    for task in TASKS:
        f, best, B = task.known()
        for T in task.horizons if task.everywhere else ():
            bound, where = B * f.lipschitz / sqrt(T), f"{task.name}, T = {T}"
            yield compared(expectation(c, f, B, T), best, bound, what, where)
    # Too many paths to count: the solver draws its own, and must not forget a term.
    task, T = TASKS[1], 16
    f, best, B = task.known()
    bound, where = B * f.lipschitz / sqrt(T), f"{task.name}, T = {T}"
    yield compared(estimate(c, f, B, T, MORE_RUNS), best, bound, what, where)


@EXPECTED.direct("cor4", "Corollary 4", STOCHASTIC, quickly_sampled, problems=("", SAMPLED))
def sgd_sample_complexity(c):
    r"""SGD on the risk R for T ≥ B²ρ²/ε² steps: E R(w̄) ≤ min over H of R + ε, if some minimiser in
    H is within B of the start.

    $T \geq \frac{B^2\rho^2}{\epsilon^2} \implies
    \mathbb{E}[R(\bar{w})] \leq \min_{w \in \mathcal{H}} R(w) + \epsilon$

    D is uniform on the rows. H may be any set: w̄ need not lie in it, and the proof compares
    with any point within B of the start. B may be larger than the distance."""
    what = "E R(w̄) − min R ≤ ε"
    if c.given is not None:
        f, B, T = hinge_of(c)
        found = estimate(c, f, B, T, RUNS)
        yield compared(found, 0, number(1) / 2, what, f"ε = ½, T = {T}")
        return
    for task in TASKS:
        f, best, nearest = task.known()
        for T, wide in product(task.horizons, (1, 2)):
            B = wide * nearest
            epsilon = B * f.lipschitz / sqrt(T)  # the least for which T suffices
            where = f"{task.name}, B = {middle(B):.4g}, ε = {middle(epsilon):.4g}, T = {T}"
            yield compared(expectation(c, f, B, T), best, epsilon, what, where)
