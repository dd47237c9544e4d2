"""Sharan, Lecture 9, Sections 2 and 3: stochastic gradient descent.

The lecture's w_t is the iterate t − 1 of the solver, and w̄ its average at t = T − 1. Expectations
are taken over all sample paths where these can be counted, and else estimated from a number of
runs fixed in advance, as a ball that contains the expectation with probability 1 − CHANCE [1]_.

References
----------
.. [1] A. Maurer and M. Pontil (2009), Empirical Bernstein bounds and sample variance penalization,
   Theorem 4.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from gammabar.harness.court.case import Case
from gammabar.harness.court.chance import CHANCE
from gammabar.harness.court.numbers import (
    ROUNDOFF,
    TINY,
    Number,
    ball,
    log,
    middle,
    number,
    sqrt,
    total,
    upper,
)
from gammabar.harness.court.relation import Relation, at_most, equal, fact
from gammabar.harness.court.statement import direct, separable
from gammabar.harness.court.trial import Trial
from gammabar.papers.lecture._smooth import column, fault, length, small
from gammabar.papers.lecture._sums import (
    TASKS,
    FiniteSum,
    column_mean,
    expectation,
    sample,
    solver_of,
    steerable,
    told,
)
from gammabar.problems import DenseProblem

#: Everything here is direct: the statements choose paths, horizons and functions.
TRIALS: tuple[Trial, ...] = ()

STOCHASTIC = ("sgd",)
#: Runs of the estimates, fixed in advance: on a problem, and on a sum of two terms.
RUNS, MORE_RUNS = 500, 1000
#: T = 4ρ²/γ̄² there, for which the bound is ½; f(w_1) = 1.
SAMPLED = "planted:n=40,d=3,gamma=0.5,seed=0"


def _hinge_of(case: Case) -> tuple[FiniteSum, Number, int]:
    """Hinge loss on a separable problem, B and T: w* = ū/γ̄ has loss 0, and B = ‖w*‖ = 1/γ̄."""
    f = FiniteSum(case.problem, "hinge")
    B = 1 / case.gamma
    return f, B, math.ceil(upper(4 * (B * f.lipschitz) ** 2))


def _sampled(case: Case) -> str | None:
    """A problem, if there is one, on which runs are short enough to be repeated."""
    if case.given is None:
        return None
    wide = "ρ/γ̄ is more than 5: an estimate would need too many runs"
    return separable(case) or (None if case.radius < 5 * case.gamma else wide)


def _estimate(case: Case, f: FiniteSum, B: Number, T: int, runs: int) -> tuple[Number | None, str]:
    """E f(w̄) for hinge loss, as a ball that contains it with probability 1 − CHANCE."""
    values = []
    # ‖w_t‖ ≤ ηρ(t − 1), so ρ‖w̄‖ ≤ ηρ²(T − 1)/2 = Bρ(T − 1)/(2√T), and 0 ≤ f(w̄) ≤ 1 + ρ‖w̄‖.
    most = 1 + B * f.lipschitz * (T - 1) / (2 * sqrt(T)) * (1 + 1e-9)
    for value, wrong in sample(solver_of(case), f, B, T, runs, case):
        if value is None or value > most:
            return None, wrong or "f(w̄) is larger than T steps of length at most ηρ can make it"
        values.append(value)
    mean = total(values) / runs
    variance = total((v - mean) ** 2 for v in values) / (runs - 1)
    surety = log(4 / number(CHANCE))
    spread = sqrt(2 * variance * surety / runs) + 7 * most * surety / (3 * (runs - 1))
    return mean + ball(0.0, upper(spread)), ""


@direct(
    "lec.thm3",
    reference="Theorem 3",
    kind="expectation",
    claim=r"\mathbb{E}[f(\bar{w})] - f(w^*) \leq \frac{B\rho}{\sqrt{T}}",
    problems=("", SAMPLED),
    solvers=STOCHASTIC,
    assumes=(small, steerable, _sampled),
    note="w* must exist, so separable data come with the hinge loss. The proof needs less than it "
    "says: E(v_t | w_t) = ∇f(w_t), which Algorithm 1 asks for, does not give "
    "E(v_t | v_1, …, v_{t−1}) = ∇f(w_t), but conditioning on w_t alone suffices. ρ = 0 is excluded "
    "by the step size. At T = 1 the bound is attained by the hinge loss of one point.",
)
def sgd_rate(case: Case) -> Iterator[Relation]:
    """SGD with step √(B²/(ρ²T)) for T steps: the expected value at the average of the iterates is
    within Bρ/√T of the minimum."""
    what = "E f(w̄) − f(w*) ≤ Bρ/√T"
    if case.given is not None:
        f, B, T = _hinge_of(case)
        mean, wrong = _estimate(case, f, B, T, RUNS)
        yield _judged(mean, number(0), B * f.lipschitz / sqrt(T), what, f"T = {T}", wrong)
        return
    for task in TASKS:
        for T in task.horizons if task.everywhere else ():
            f, B = task.sum(), task.distance()
            mean, off, wrong = expectation(solver_of(case), f, B, T)
            yield _judged(
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
    mean, wrong = _estimate(case, f, B, T, MORE_RUNS)
    bound = B * f.lipschitz / sqrt(T)
    yield _judged(mean, task.best(), bound, what, f"{task.name}, T = {T}", wrong)


@direct(
    "lec.cor4",
    reference="Corollary 4",
    kind="expectation",
    claim=r"T \geq \frac{B^2\rho^2}{\epsilon^2} \implies "
    r"\mathbb{E}[R(\bar{w})] \leq \min_{w \in \mathcal{H}} R(w) + \epsilon",
    problems=("", SAMPLED),
    solvers=STOCHASTIC,
    assumes=(small, steerable, _sampled),
    note="D is uniform on the rows. H may be any set: w̄ need not lie in it, and the proof compares "
    "with any point within B of the start. B may be larger than the distance.",
)
def sgd_sample_complexity(case: Case) -> Iterator[Relation]:
    """SGD on the risk R for T ≥ B²ρ²/ε² steps: E R(w̄) ≤ min over H of R + ε, if some minimiser in
    H is within B of the start."""
    what = "E R(w̄) − min R ≤ ε"
    if case.given is not None:
        f, B, T = _hinge_of(case)
        epsilon = number(1) / 2
        mean, wrong = _estimate(case, f, B, T, RUNS)
        yield _judged(mean, number(0), epsilon, what, f"ε = ½, T = {T}", wrong)
        return
    for task in TASKS:
        for T, wide in [(T, wide) for T in task.horizons for wide in (1, 2)]:
            f, B = task.sum(), wide * task.distance()
            epsilon = B * f.lipschitz / sqrt(T)  # the least for which T suffices
            mean, off, wrong = expectation(solver_of(case), f, B, T)
            where = f"{task.name}, B = {middle(B):.4g}, ε = {middle(epsilon):.4g}, T = {T}"
            yield _judged(mean, task.best(), epsilon, what, where, wrong, off)


def _judged(
    mean: Number | None,
    best: Number,
    bound: Number,
    what: str,
    where: str,
    wrong: str,
    off: float = 0.0,
) -> Relation:
    if mean is None:
        return fact(False, wrong, where=where)
    return at_most(mean - best, bound, what, where=where, allowance=off)


@direct(
    "gb.lec.sgd.step",
    reference="Algorithms 1 and 2 as printed, and the step of Theorem 3",
    kind="identity",
    claim=r"w_{t+1} = w_t - \eta \nabla \ell(w_t, z), \quad \eta = \sqrt{\frac{B^2}{\rho^2 T}}, "
    r"\quad \bar{w} = \frac{1}{T} \sum_{t=1}^T w_t",
    problems=("", "iris:1,2", "iris:1,2 --kernel rbf:gamma=0.5"),
    solvers=STOCHASTIC,
    assumes=(small, steerable),
    note="The index of each step is what the solver says it drew; that the draws are uniform is "
    "gb.lec.sgd.draws.",
)
def sgd_step(case: Case) -> Iterator[Relation]:
    """Each iterate of SGD comes from the last by a step of √(B²/(ρ²T)) along the gradient of the
    drawn term, and the output is the average of all iterates."""
    yield from _horizons(type(solver_of(case)))
    T, B = 25, 1.5
    if case.given is None:
        sums = [task.sum() for task in TASKS if task.everywhere]
    else:
        sums = [FiniteSum(case.problem, loss) for loss in ("hinge", "logistic")]
    for k, f in enumerate(sums):
        rho = f.lipschitz
        solver = replace(
            solver_of(case), horizon=T, distance=B, lipschitz=middle(rho), loss=f.loss, indices=None
        )
        run = list(islice(solver.iterates(f.problem, case.rng(k)), T))
        wrong = [bad for t, it in enumerate(run) if (bad := fault(it, t, f.dimension))]
        if wrong or len(run) != T:
            yield fact(False, wrong[0] if wrong else f"the run ends after {len(run)} iterates")
            continue
        eta = B / (rho * sqrt(T))
        yield equal(length(column(run[0].w)), 0, "w_1 = 0", where=f"{f.loss} {k}")
        for it, after in pairwise(run):
            where = f"{f.loss} {k}, t = {it.t + 1}"
            i = told(after, "index")
            if not (isinstance(i, int | np.integer) and 0 <= i < f.n):
                yield fact(False, f"the index {i!r} is none of 0, …, {f.n - 1}", where=where)
                break
            yield equal(
                f.step_gap(it.w, after.w, int(i), eta),
                0,
                "w_{t+1} = w_t − η∇ℓ_i(w_t)",
                where=where,
                allowance=f.slip(it.w, eta),
            )
            points = [p.w for p in run[: after.t + 1]]
            size = sum(float(np.linalg.norm(p)) for p in points) / len(points)
            gap = length(column(told(after, "average")) - column_mean(points))
            yield equal(
                gap,
                0,
                "w̄ = (1/T) Σ_t w_t",
                where=where,
                allowance=2 * (len(points) + 4) * ROUNDOFF * size + TINY,
            )


def _horizons(kind: Any) -> Iterator[Relation]:
    """`within` takes the least T ≥ B²ρ²/ε² of Corollary 4 (in doubles)."""
    if not hasattr(kind, "within"):
        return
    for epsilon, B, rho in ((0.1, 2.0, 1.0), (0.3, 1.5, 2.5), (7.0, 1.0, 3.0)):
        T = kind.within(epsilon, distance=B, lipschitz=rho).horizon
        least, few = (number(B) * rho / number(epsilon)) ** 2, 8 * ROUNDOFF
        enough = least * (1 - few) <= T and least * (1 + few) >= T - 1
        yield fact(enough, "T is the least ≥ B²ρ²/ε²", where=f"ε = {epsilon}, B = {B}, ρ = {rho}")


@direct(
    "gb.lec.sgd.draws",
    reference="Algorithm 1, line 3: a point sampled uniformly at random",
    kind="probability",
    claim=r"\mathbb{P}(i_t = i, i_{t+1} = j) = \frac{1}{n^2}",
    problems=("",),
    solvers=STOCHASTIC,
    assumes=(steerable,),
    note="Frequencies of pairs in a number of draws fixed in advance; a right solver fails with "
    "probability at most CHANCE (Hoeffding, and a union over the n² pairs).",
)
def sgd_draws(case: Case) -> Iterator[Relation]:
    """SGD draws its indices uniformly and independently: all pairs of consecutive indices are
    equally likely."""
    n, pairs = 4, 4000
    problem = DenseProblem(np.eye(n), np.ones(n, dtype=int))
    solver = replace(solver_of(case), horizon=100, distance=1.0, lipschitz=1.0, indices=None)
    run = islice(solver.iterates(problem, case.rng()), 1, 2 * pairs + 1)
    drawn = [told(it, "index") for it in run]
    counts = Counter(zip(drawn[::2], drawn[1::2], strict=True))
    spread = sqrt(log(number(2 * n * n) / number(CHANCE)) / (2 * pairs))
    for pair in ((i, j) for i in range(n) for j in range(n)):
        gap = abs(number(counts[pair]) / pairs - number(1) / n**2)
        yield at_most(gap, spread, "|frequency − 1/n²| ≤ Hoeffding's bound", where=f"pair {pair}")
