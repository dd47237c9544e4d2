"""The project's own checks that AdaBoost and its weak learner do what the lecture prints.

The project's own checks of gradient descent, accelerated descent and SGD as in the lecture.

One step from the doubles that were delivered, in balls, up to the rounding that evaluating a
gradient in doubles cannot avoid; and the textbook rate of accelerated gradient descent.

The project's own checks of what kernel ridge regression delivers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb_mat, fmpq_mat

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
    space_of,
    sqrt,
    steered,
    taken_run,
    taken_vector,
    total,
    upper,
)
from gammabar.papers.lecture.boosting import (
    BOOSTED,
    BOOSTING,
    Round,
    advantage,
    heard,
    points,
    stumps,
)
from gammabar.papers.lecture.descent import (
    FAST,
    PLAIN,
    PROBLEMS,
    QUADRATIC,
    broken,
    gaps,
    runs,
    step_slip,
)
from gammabar.papers.lecture.linear_algebra import (
    column,
    fault,
    inner,
    length,
    nothing,
    size_in_doubles,
    small,
)
from gammabar.papers.lecture.ridge import (
    REGRESSIONS,
    RIDGE,
    Regression,
    backward_error,
    primal_slip,
    ridge_options,
    ridge_solver,
)
from gammabar.papers.lecture.sgd import (
    STOCHASTIC,
    TASKS,
    FiniteSum,
    average_slip,
    column_mean,
    solver_of,
    steerable,
    told,
)
from gammabar.problems import DenseProblem, Kernel, KernelProblem
from gammabar.solvers.descent import AcceleratedGradientDescent, SmoothGradientDescent


@direct(
    "gb.lec.adaboost.step",
    reference="Algorithm 3 as printed",
    kind="identity",
    claim=r"D_1(i) = \frac1n, \quad \epsilon_t = \mathbb{P}_{x \sim D_t}[h_t(x) \neq y], \quad "
    r"\alpha_t = \frac12 \log\left(\frac{1-\epsilon_t}{\epsilon_t}\right), \quad "
    r"D_{t+1}(i) = \frac{D_t(i)}{z_{t+1}} e^{-\alpha_t h_t(x_i) y_i}, \quad "
    r"H = \sum_t \alpha_t h_t",
    problems=BOOSTED,
    solvers=BOOSTING,
    assumes=(points,),
    note="One round from the delivered D_t and h_t. The middle of line 6 lacks a factor: "
    "D_t(i)/z_{t+1} stands there as equal to e^{∓α_t}, and is multiplied by it.",
)
def adaboost_step(case: Case) -> Iterator[Relation]:
    """Each round of AdaBoost computes ε_t, α_t, z_{t+1}, D_{t+1} and the vote from D_t and h_t."""
    for s, wrong in heard(case):
        yield from wrong
        for r in s.rounds:
            if r.t == 1:
                first = float(np.abs(np.asarray(r.before.dual) * r.n - 1).max())
                few, what = 4 * ROUNDOFF, "D_1(i) = 1/n"
                yield equal(first, 0, what, where=r.where, allowance=few, size=1.0)
            yield from _perfect(r) if r.perfect else _round(r)


def _round(r: Round) -> Iterator[Relation]:
    told, n = r.after.extra, r.n
    alpha, z = number(told["alpha"]), number(told["z"])
    before, after = (np.asarray(v.dual, dtype=np.float64) for v in (r.before, r.after))

    def same(left: Any, right: Any, what: str, allowance: float, size: float) -> Relation:
        # TINY: products of weights that underflow; what is compared is of the size of one.
        return equal(left, right, what, where=r.where, allowance=allowance + TINY, size=size)

    terms = 2.0 * n + 16
    sums = terms * ROUNDOFF
    yield same(_apart(told["D"], before), 0, "D_t", 4 * ROUNDOFF, 1.0)
    wrong, gamma = r.epsilon, advantage(r)
    yield same(told["epsilon"], wrong, "ε_t = P_{D_t}[h_t ≠ y]", sums, size_of(wrong, terms))
    yield same(told["gamma"], gamma, "γ_t = ½ − ε_t", 2 * sums, size_of(gamma, terms))
    wanted, what = log((1 - wrong) / wrong) / 2, "α_t = ½ log((1 − ε_t)/ε_t)"
    slip = r.slip + 8 * ROUNDOFF * upper(wanted)
    yield same(alpha, wanted, what, slip, size_of(wanted, 4 * terms))
    mass = r.right * exp(-alpha) + wrong * exp(alpha)
    scale = upper(mass)
    yield same(z, mass, "z_{t+1} = Σ D_t(i) e^{−α_t h_t y_i}", sums * scale, scale)
    fresh = before * np.exp(-float(told["alpha"]) * r.agrees) / float(mass.mid())
    # Both sides round an exponential, a product and a quotient; and the solver its z.
    what = "D_{t+1}(i) = D_t(i) e^{−α_t h_t y_i}/z_{t+1}"
    yield same(_apart(after, fresh), 0, what, 4 * sums, 1.0)
    yield same(float(math.fsum(after)), 1, "Σ D_{t+1}(i) = 1", sums, 1.0)
    product = number(r.before.extra["product"]) * z
    few = 4 * ROUNDOFF * upper(product)
    yield same(told["product"], product, "z_2 ⋯ z_{t+1}", few, upper(product) + TINY / ROUNDOFF)
    w, last = np.asarray(r.after.w), np.asarray(r.before.w)
    yield fact(np.array_equal(w, [*last, told["alpha"]]), "w = (α_1, …, α_t)", where=r.where)
    votes = np.asarray(r.before.votes) + float(told["alpha"]) * r.agrees
    size = float(np.abs(votes).max() + abs(told["alpha"]))
    gap = float(np.abs(np.asarray(r.after.votes) - votes).max())
    what, about = "y_i H(x_i) = Σ_s α_s y_i h_s(x_i)", size_of(abs(float(told["alpha"])), size)
    yield same(gap, 0, what, 8 * ROUNDOFF * size, about + TINY / ROUNDOFF)


def _apart(values: Any, wanted: Any) -> float:
    """The largest relative difference; what may have underflowed does not count."""
    values, wanted = np.asarray(values, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    if values.shape != wanted.shape:
        return math.inf
    seen = wanted > 2.0**-960
    return float(np.max(np.abs(values - wanted)[seen] / wanted[seen], initial=0.0))


def _perfect(r: Round) -> Iterator[Relation]:
    """h_t makes no mistake, or nothing but mistakes: H is what it tends to."""
    told, sign = r.after.extra, int(r.agrees[0])
    wrong = (1 - sign) // 2  # ε_t is 0, or one up to the rounding of the sum
    off = (2 * r.n + 16) * ROUNDOFF
    for name, wanted in (("epsilon", wrong), ("gamma", Fraction(1, 2) - wrong)):
        gap = abs(number(told[name]) - number(wanted))
        yield equal(gap, 0, f"{name} of round {r.t}", where=r.where, allowance=off, size=1.0)
    apart = _apart(told["D"], np.asarray(r.before.dual, dtype=np.float64))
    yield equal(apart, 0, "D_t", where=r.where, allowance=4 * ROUNDOFF, size=1.0)
    yield fact(
        told["alpha"] == sign * math.inf and told["z"] == 0, "α_t = ±∞, z_{t+1} = 0", where=r.where
    )
    yield fact(np.array_equal(r.after.votes, np.ones(r.n)), "sign(H) = y", where=r.where)


@direct(
    "gb.lec.stumps.best",
    reference="Algorithm 3, line 3: the weak learner",
    kind="identity",
    claim=r"h_t \in \arg\max_h \sum_i D_t(i)\, y_i\, h(x_i) \quad \text{over all stumps}",
    problems=("", "wine:0,1"),
    solvers=BOOSTING,
    assumes=(points, stumps),
    note="Every stump of every column is tried. Weights are rounded to multiples of 2⁻⁶¹ before "
    "they are summed.",
)
def best_stump(case: Case) -> Iterator[Relation]:
    """h_t is a decision stump of least weighted error for D_t."""
    for s, wrong in heard(case):
        yield from wrong
        for r in s.rounds if s.best else ():
            signed = np.asarray(r.before.dual) * r.y
            edge = float(np.abs(s.stumps @ signed).max())
            yield equal(
                float(signed @ (r.agrees * r.y)),
                edge,
                "Σ D_t(i) y_i h_t(x_i) is largest",
                where=r.where,
                allowance=r.n * (8 * ROUNDOFF + 2.0**-59),
                size=size_of(edge, float(r.n)),
            )


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


def _given(case: Case) -> str | None:
    if case.given is None or isinstance(case.problem, DenseProblem):
        return None
    return "ridge regression needs dense points"


@direct(
    "gb.lec.ridge.system",
    reference="Section 5, the last line of the derivation as printed",
    kind="identity",
    claim=r"(K + \lambda I)\alpha = y, \quad (\Phi^T\Phi + \lambda I)w = \Phi^T y",
    problems=("", "iris:0,1"),
    solvers=RIDGE,
    assumes=(small, ridge_options, _given),
    note="The residual of what was delivered, in balls, against the backward error of a stable "
    "method; kernels linear, polynomial and Gaussian.",
)
def ridge_system(case: Case) -> Iterator[Relation]:
    """The delivered α solves (K + λI)α = y, and the delivered w solves (ΦᵀΦ + λI)w = Φᵀy."""
    if case.given is None:
        X = np.random.default_rng(9).integers(-8, 9, size=(12, 3)) / 8
        y = np.arange(12) % 5 - 2.0
    else:
        X, y = np.asarray(case.problem.X, dtype=float), np.asarray(case.problem.y, dtype=float)
    n, m = X.shape
    rows = arb_mat(n, m, [number(v) for v in X.ravel().tolist()])
    right = column(y)
    for strength in (0.25, 2.0):
        w = column(case.remember(f"w, λ = {strength}", _Fit(case, strength, X, y).w))
        rest = rows.transpose() * (rows * w - right) + number(strength) * w
        yield nothing(
            length(rest),
            "(ΦᵀΦ + λI)w = Φᵀy",
            where=f"λ = {strength:g}",
            allowance=primal_slip(X, y, strength, length(w)),
            size=size_of(length(rows.transpose() * right)),
        )
        for kernel in ("linear", "poly:degree=2,coef0=1", "rbf:gamma=0.5"):
            space = space_of(KernelProblem(X, np.ones(n, dtype=int), Kernel.parse(kernel)))
            fit = _Fit(case, strength, X, y, kernel)
            delivered = case.remember(f"α, {kernel}, λ = {strength}", fit.alpha)
            alpha, K = column(delivered), space.gram()
            trace = upper(total(K[i, i] for i in range(n))) + n * strength
            values = 2 * n**0.5 * space.score_error(np.asarray(delivered, dtype=float))
            yield nothing(
                length(K * alpha + number(strength) * alpha - right),
                "(K + λI)α = y",
                where=f"{kernel}, λ = {strength:g}",
                allowance=backward_error(n, trace, length(alpha)) + values + TINY,
                size=size_of(length(right)),
            )


@direct(
    "gb.lec.ridge.objective",
    reference="Section 5, gradient descent: the objective and its gradient as printed",
    kind="identity",
    claim=r"\nabla_w = 2 \sum_{i=1}^n \left( w^T \phi(x_i) - y_i \right) \phi(x_i) + 2\lambda w",
    problems=("",),
    solvers=RIDGE,
    assumes=(ridge_options,),
    note="The quadratic that the solver hands to gradient descent: values (up to the constant "
    "‖y‖²) and gradients at several points.",
)
def ridge_objective(case: Case) -> Iterator[Relation]:
    """The objective that gradient descent is given has the values and gradients of
    ‖Φw − y‖² + λ‖w‖²."""
    for r in (Regression(*data) for data in REGRESSIONS):
        X, y = np.array(r.features, dtype=float), np.array(r.targets, dtype=float)
        f = case.remember(f"f, {r.name}", _Fit(case, r.strength, X, y).objective)
        n, m = X.shape
        rows, right, lam = _full(r.Phi), column(y), number(r.strength)
        for w in (np.zeros(m), np.ones(m), np.arange(m) - 0.5):
            at = column(w)
            rest = rows * at - right
            # 2(ΦᵀΦ + λI)w − 2Φᵀy, with sums of n and m products.
            size = 2 * (float(np.sum(X * X)) + r.strength) * float(np.linalg.norm(w))
            size += 2 * float(np.linalg.norm(X)) * float(np.linalg.norm(y))
            slip = 2 * (n + m + 8) * ROUNDOFF * size + TINY
            where = f"{r.name}, w = {w.tolist()}"
            slope, height = case.remember(f"f at {where}", partial(_at, f, w))
            gradient = 2 * rows.transpose() * rest + 2 * lam * at
            gap, about = length(column(slope) - gradient), size_of(length(gradient), 4 * size)
            yield nothing(gap, "the gradient", allowance=slip, size=about, where=where)
            value = inner(rest, rest) + lam * inner(at, at) - inner(right, right)
            gap, reach = abs(number(height) - value), float(np.linalg.norm(w))
            what, about = "the value, less ‖y‖²", size_of(abs(value), 4 * size * reach)
            off = slip * reach + TINY
            yield nothing(gap, what, allowance=off, size=about, where=where)


@dataclass(frozen=True)
class _Fit:
    """What a solver delivers for points and labels."""

    case: Case
    strength: float
    X: Any
    y: Any
    kernel: str = "linear"

    @property
    def _solver(self) -> Any:
        return ridge_solver(self.case, self.strength, self.kernel)

    def w(self) -> Any:
        return taken_vector(self._solver.primal(self.X, self.y).w, "w")

    def alpha(self) -> Any:
        return taken_vector(self._solver.dual(self.X, self.y).alpha, "α")

    def objective(self) -> Any:
        return self._solver.objective(self.X, self.y)


def _at(f: Any, w: Any) -> tuple[Any, float]:
    """The gradient and the value of an objective."""
    return taken_vector(f.gradient(w), "the gradient"), float(f.value(w))


def _full(M: fmpq_mat) -> Any:
    return arb_mat(M.nrows(), M.ncols(), [number(v) for v in M.entries()])
