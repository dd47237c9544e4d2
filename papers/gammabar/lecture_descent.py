"""The project's own checks of gradient descent, accelerated descent and SGD as in the lecture.

One step from the doubles that were delivered, in balls, up to the rounding that evaluating a
gradient in doubles cannot avoid; and the textbook rate of accelerated gradient descent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from gammabar.papers import (
    CHANCE,
    ROUNDOFF,
    TINY,
    Case,
    Relation,
    at_most,
    claimed_numbers,
    claimed_row,
    direct,
    equal,
    exp,
    fact,
    log,
    middle,
    number,
    size_of,
    sqrt,
    steered,
    taken_run,
    upper,
)
from gammabar.papers.lecture.columns import column, fault, length, nothing, size_in_doubles, small
from gammabar.papers.lecture.descent_runs import (
    FAST,
    PLAIN,
    PROBLEMS,
    QUADRATIC,
    broken,
    gaps,
    runs,
    step_slip,
)
from gammabar.papers.lecture.finite_sums import TASKS, FiniteSum, column_mean
from gammabar.papers.lecture.sgd_runs import STOCHASTIC, average_slip, solver_of, steerable, told
from gammabar.problems import DenseProblem
from gammabar.solvers.smooth import AcceleratedGradientDescent, SmoothGradientDescent


@direct(
    "gb.lec.gd.step",
    reference="Theorem 1 (the method)",
    kind="identity",
    claim=r"w_{t+1} = w_t - \eta \nabla f(w_t), \quad \eta = \frac{2}{\beta + \lambda}",
    problems=PROBLEMS,
    solvers=PLAIN,
    assumes=(small,),
    note="One step from the doubles that were delivered, in balls, up to the rounding that "
    "evaluating a gradient in doubles cannot avoid.",
)
def gradient_descent_step(case: Case) -> Iterator[Relation]:
    """Each iterate of gradient descent comes from the last by one step of length 2/(β + λ)."""
    for target, run, wrong in runs(case, SmoothGradientDescent()):
        if wrong:
            yield broken(target, wrong)
            continue
        yield equal(length(column(run[0].w)), 0, "w_0 = 0", where=target.name)
        eta = 2 / (target.beta + target.lam)
        for it, after in pairwise(run):
            w = column(it.w)
            gradient = target.gradient(w)
            gap = length(column(after.w) - (w - eta * gradient))
            where = f"{target.name}, t = {it.t}"
            terms = target.summands(w)
            size = size_of(length(eta * gradient), upper(length(w) + eta * terms))
            slip, what = step_slip(target, w), "w_{t+1} = w_t − η∇f(w_t)"
            yield nothing(gap, what, allowance=slip, size=size, where=where)
            said, slack = it.extra.get("gradient"), 2 * target.slip(w) + TINY
            if said is not None:
                yield _as_said(said, gradient, "∇f(w_t)", where, slack, terms)


@direct(
    "gb.lec.agd.step",
    reference="Section 1, accelerated gradient descent (Nesterov 2004, scheme 2.2.11)",
    kind="identity",
    claim=r"w_{t+1} = v_t - \tfrac1\beta \nabla f(v_t), \quad "
    r"v_{t+1} = w_{t+1} + \tfrac{\sqrt\kappa-1}{\sqrt\kappa+1}(w_{t+1} - w_t), \quad v_0 = w_0",
    problems=PROBLEMS,
    solvers=FAST,
    assumes=(small,),
    note="The lecture names the method and does not print it. v_t is made anew from the delivered "
    "w_t and w_{t−1}; where the solver delivers v_t, momentum and gradient, they are checked too.",
)
def accelerated_step(case: Case) -> Iterator[Relation]:
    """Each iterate of accelerated gradient descent is a gradient step from the extrapolation of
    the two before it."""
    for target, run, wrong in runs(case, AcceleratedGradientDescent()):
        if wrong:
            yield broken(target, wrong)
            continue
        yield equal(length(column(run[0].w)), 0, "w_0 = 0", where=target.name)
        root = sqrt(target.kappa)
        share = (root - 1) / (root + 1)
        for before, it, after in zip([run[0], *run], run, run[1:], strict=False):
            w, back = column(it.w), column(before.w)
            v = w + share * (w - back)
            # share is off by a few units (√κ − 1 may cancel), and v by that times w − back.
            off = 16 * ROUNDOFF * (upper(length(w)) + upper(length(back))) + TINY
            gradient = target.gradient(v)
            gap = length(column(after.w) - (v - 1 / target.beta * gradient))
            where = f"{target.name}, t = {it.t}"
            # A gradient step from a point that is off by `off` ends off by at most twice that.
            allowance, parts = step_slip(target, v) + 2 * off, upper(length(w) + length(back))
            terms = target.summands(v)
            moved = length(v - w - 1 / target.beta * gradient)
            size = size_of(moved, parts + upper(terms / target.beta))
            what = "w_{t+1} = v_t − ∇f(v_t)/β"
            yield nothing(gap, what, allowance=allowance, size=size, where=where)
            told = {
                "v_t": (it.extra.get("v"), v, off, parts),
                "v_t − w_t": (it.momentum, v - w, 2 * off, parts),
                "∇f(v_t)": (
                    it.extra.get("gradient"),
                    gradient,
                    2 * target.slip(v) + 2 * upper(target.beta) * off,
                    terms + upper(target.beta * parts),
                ),
            }
            for what, (given, wanted, slack, numbers) in told.items():
                if given is not None:
                    yield _as_said(given, wanted, what, where, slack + TINY, numbers)


def _as_said(
    said: Any, wanted: Any, what: str, where: str, allowance: float, parts: float
) -> Relation:
    """A vector that the solver claims is the one that was computed, from numbers of size `parts`
    that are added up."""
    found = claimed_numbers(said, (wanted.nrows(),))
    if isinstance(found, str):
        return fact(False, f"{what} {found}", where=where)
    gap, size = length(column(found) - wanted), size_of(length(wanted), parts)
    return nothing(gap, what, allowance=allowance, size=size, where=where)


@direct(
    "gb.lec.agd.rate",
    reference="Section 1, accelerated gradient descent (Bubeck 2015, Theorem 3.18)",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \frac{\beta + \lambda}{2} B^2 "
    r"\exp\left(-\frac{T}{\sqrt{\kappa}}\right)",
    problems=PROBLEMS,
    inputs=QUADRATIC,
    solvers=FAST,
    assumes=(small,),
    note="The lecture says O(√κ log(1/ε)) iterations; these are the constants of Bubeck.",
    slower="accelerated-gradient-descent/root-forgotten",
)
def accelerated_rate(case: Case) -> Iterator[Relation]:
    """Accelerated gradient descent: f(w_T) − f(w*) ≤ (β + λ)/2 B² exp(−T/√κ)."""
    for target, T, gap, B, more in gaps(case, AcceleratedGradientDescent()):
        bound = (target.beta + target.lam) / 2 * B**2 * exp(-T / sqrt(target.kappa))
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ (β+λ)/2 B² e^{−T/√κ}"} | more))


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
        solver = steered(
            solver_of(case), horizon=T, distance=B, lipschitz=middle(rho), loss=f.loss, indices=None
        )
        run = _run(case, f"SGD {k}", solver, f.problem, case.rng(k), T)
        wrong = [bad for t, it in enumerate(run) if (bad := fault(it, t, f.dimension))]
        if wrong or len(run) != T:
            yield fact(False, wrong[0] if wrong else f"the run ends after {len(run)} iterates")
            continue
        eta = B / (rho * sqrt(T))
        yield equal(length(column(run[0].w)), 0, "w_1 = 0", where=f"{f.loss} {k}")
        for it, after in pairwise(run):
            where = f"{f.loss} {k}, t = {it.t + 1}"
            i = claimed_row(told(after, "index"), f.n)
            if i is None:
                yield fact(False, f"the index is none of 0, …, {f.n - 1}", where=where)
                break
            if f.unclear(it.w, i):
                yield fact(None, "on which side of the kink ⟨a_i, w_t⟩ is", where=where)
            gap, moved = f.step_gap(it.w, after.w, i, eta)
            slip, size = f.slip(it.w, eta, i), size_of(moved, size_in_doubles(it.w))
            what = "w_{t+1} = w_t − η∇ℓ_i(w_t)"
            yield nothing(gap, what, allowance=slip, size=size, where=where)
            points = [p.w for p in run[: after.t + 1]]
            mean, what = column_mean(points), "w̄ = (1/T) Σ_t w_t"
            slip = average_slip(points)
            yield _as_said(told(after, "average"), mean, what, where, slip, slip / ROUNDOFF)


def _run(case: Case, name: str, solver: Any, problem: Any, rng: Any, length: int) -> list[Any]:
    """The first run, at every level."""
    return case.remember(name, lambda: taken_run(solver.iterates(problem, rng), length))


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
    "probability at most CHANCE (Hoeffding, and a union over the n² pairs). What the solver says it"
    " drew must be the one row along which it has moved: the rows are e_1, …, e_n, and the gradient"
    " of the logistic loss never vanishes.",
)
def sgd_draws(case: Case) -> Iterator[Relation]:
    """SGD draws its indices uniformly and independently: all pairs of consecutive indices are
    equally likely."""
    n, pairs = 4, 4000
    problem = DenseProblem(np.eye(n), np.ones(n, dtype=int))
    options = {"distance": 1.0, "lipschitz": 1.0, "loss": "logistic"}
    solver = steered(solver_of(case), horizon=100, indices=None, **options)
    run = _run(case, "SGD", solver, problem, case.rng(), 2 * pairs + 1)
    if len(run) <= 2 * pairs:
        yield fact(False, f"the run ends after {len(run)} iterates")
        return
    drawn = []
    for it, after in pairwise(run):
        drawn.append(claimed_row(told(after, "index"), n))
        if it.w.shape != (n,) or [drawn[-1]] != np.flatnonzero(after.w != it.w).tolist():
            what = "the index that is said is that of the row along which w_t moves"
            yield fact(False, what, where=f"t = {it.t + 1}")
            return
    counts = Counter(zip(drawn[::2], drawn[1::2], strict=True))
    spread = sqrt(log(number(2 * n * n) / number(CHANCE)) / (2 * pairs))
    for pair in ((i, j) for i in range(n) for j in range(n)):
        gap = abs(number(counts[pair]) / pairs - number(1) / n**2)
        yield at_most(gap, spread, "|frequency − 1/n²| ≤ Hoeffding's bound", where=f"pair {pair}")
