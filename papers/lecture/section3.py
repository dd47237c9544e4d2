"""Section 3, Learning with SGD, Discussion: Corollary 4."""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import Case, Relation, direct, middle, number, sqrt
from gammabar.papers.lecture.linear_algebra import small
from gammabar.papers.lecture.sgd import (
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
    "lec.cor4",
    reference="Corollary 4",
    kind="expectation",
    claim=r"T \geq \frac{B^2\rho^2}{\epsilon^2} \implies "
    r"\mathbb{E}[R(\bar{w})] \leq \min_{w \in \mathcal{H}} R(w) + \epsilon",
    problems=("", SAMPLED),
    solvers=STOCHASTIC,
    assumes=(small, steerable, quickly_sampled),
    note="D is uniform on the rows. H may be any set: w̄ need not lie in it, and the proof compares "
    "with any point within B of the start. B may be larger than the distance.",
    slower="sgd/step-falls-too-fast",
)
def sgd_sample_complexity(case: Case) -> Iterator[Relation]:
    """SGD on the risk R for T ≥ B²ρ²/ε² steps: E R(w̄) ≤ min over H of R + ε, if some minimiser in
    H is within B of the start."""
    what = "E R(w̄) − min R ≤ ε"
    if case.given is not None:
        f, B, T = hinge_of(case)
        epsilon = number(1) / 2
        mean, wrong = estimate(case, f, B, T, RUNS)
        yield judged(mean, number(0), epsilon, what, f"ε = ½, T = {T}", wrong)
        return
    for task in TASKS:
        for T, wide in [(T, wide) for T in task.horizons for wide in (1, 2)]:
            f, B = task.sum(), wide * task.distance()
            epsilon = B * f.lipschitz / sqrt(T)  # the least for which T suffices
            mean, off, wrong = expectation(case, f, B, T)
            where = f"{task.name}, B = {middle(B):.4g}, ε = {middle(epsilon):.4g}, T = {T}"
            yield judged(mean, task.best(), epsilon, what, where, wrong, off)
