"""The project's own checks of the lecture's methods: AdaBoost, gradient descent, SGD and ridge.

One step from the doubles that were delivered, in balls, up to the rounding that evaluating it in
doubles cannot avoid; and the textbook rate of accelerated gradient descent.
"""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.lecture.boosting import BOOSTED, ON_POINTS, Round, apart, sessions, stumps
from gammabar.papers.lecture.descent import FAST, PLAIN, PROBLEMS, QUADRATIC, rates, runs
from gammabar.papers.lecture.quantities import *
from gammabar.papers.lecture.ridge import *
from gammabar.papers.lecture.sgd import *
from gammabar.problems import DenseProblem, Kernel, KernelProblem, rounding

ours = Claims("gb", kind="identity")

# AdaBoost


@ours.direct("lec.adaboost.step", "Algorithm 3 as printed", ON_POINTS, problems=BOOSTED)
def _adaboost_step(c):
    r"""Each round of AdaBoost computes ε_t, α_t, z_{t+1}, D_{t+1} and the vote from D_t and h_t.

    $D_1(i) = \frac1n, \quad \epsilon_t = \mathbb{P}_{x \sim D_t}[h_t(x) \neq y], \quad \alpha_t =
    \frac12 \log\left(\frac{1-\epsilon_t}{\epsilon_t}\right), \quad D_{t+1}(i) =
    \frac{D_t(i)}{z_{t+1}} e^{-\alpha_t h_t(x_i) y_i}, \quad H = \sum_t \alpha_t h_t$

    One round from the delivered D_t and h_t. The middle of line 6 lacks a factor: D_t(i)/z_{t+1}
    stands there as equal to e^{∓α_t}, and is multiplied by it."""
    for s in sessions(c):
        yield from s.faults
        for r in s.rounds:
            if r.t == 1:
                first = float(np.abs(np.asarray(r.before.dual) * r.n - 1).max())
                few, what = 4 * ROUNDOFF, "D_1(i) = 1/n"
                yield equal(first, 0, what, where=r.where, allowance=few, size=1.0)
            yield from _perfect(r) if r.perfect else _round(r)


def _round(r: Round) -> Iterator[Relation]:
    told, terms, wrong = r.after.extra, 2.0 * r.n + 16, r.epsilon
    alpha, z, sums = number(told["alpha"]), number(told["z"]), terms * ROUNDOFF
    before, after = (np.asarray(v.dual, dtype=np.float64) for v in (r.before, r.after))

    def near(left: Any, right: Any, what: str, off: float, size: float) -> Relation:
        # TINY: products of weights that underflow; what is compared is of the size of one.
        return equal(left, right, what, where=r.where, allowance=off + TINY, size=size)

    yield near(apart(told["D"], before), 0, "D_t", 4 * ROUNDOFF, 1.0)
    yield near(told["epsilon"], wrong, "ε_t = P_{D_t}[h_t ≠ y]", sums, size_of(wrong, terms))
    yield near(told["gamma"], r.gamma, "γ_t = ½ − ε_t", 2 * sums, size_of(r.gamma, terms))
    wanted = log((1 - wrong) / wrong) / 2
    off, what = r.slip + 8 * ROUNDOFF * upper(wanted), "α_t = ½ log((1 − ε_t)/ε_t)"
    yield near(alpha, wanted, what, off, size_of(wanted, 4 * terms))
    mass = r.right * exp(-alpha) + wrong * exp(alpha)
    yield near(z, mass, "z_{t+1} = Σ D_t(i) e^{−α_t h_t y_i}", sums * upper(mass), upper(mass))
    # Both sides of D_{t+1} round an exponential, a product and a quotient; and the solver its z.
    fresh = before * np.exp(-float(told["alpha"]) * r.agrees) / float(mass.mid())
    what = "D_{t+1}(i) = D_t(i) e^{−α_t h_t y_i}/z_{t+1}"
    yield near(apart(after, fresh), 0, what, 4 * sums, 1.0)
    yield near(float(math.fsum(after)), 1, "Σ D_{t+1}(i) = 1", sums, 1.0)
    whole = number(r.before.extra["product"]) * z
    off, size = 4 * ROUNDOFF * upper(whole), upper(whole) + TINY / ROUNDOFF
    yield near(told["product"], whole, "z_2 ⋯ z_{t+1}", off, size)
    votes, moved = np.asarray(r.before.votes) + float(told["alpha"]) * r.agrees, abs(told["alpha"])
    largest, gap = float(np.abs(votes).max() + moved), np.abs(np.asarray(r.after.votes) - votes)
    size = size_of(float(moved), largest) + TINY / ROUNDOFF
    what = "y_i H(x_i) = Σ_s α_s y_i h_s(x_i)"
    yield near(float(gap.max()), 0, what, 8 * ROUNDOFF * largest, size)
    w, last = np.asarray(r.after.w), np.asarray(r.before.w)
    yield fact(np.array_equal(w, [*last, told["alpha"]]), "w = (α_1, …, α_t)", where=r.where)


def _perfect(r: Round) -> Iterator[Relation]:
    """h_t makes no mistake, or nothing but mistakes: H is what it tends to."""
    told, sign, where = r.after.extra, int(r.agrees[0]), r.where
    wrong = number((1 - sign) // 2)  # ε_t is 0, or one up to the rounding of the sum
    off = (2 * r.n + 16) * ROUNDOFF
    for name, value in (("epsilon", wrong), ("gamma", number(1) / 2 - wrong)):
        gap, what = abs(number(told[name]) - value), f"{name} of round {r.t}"
        yield equal(gap, 0, what, where=where, allowance=off, size=1.0)
    gap = apart(told["D"], r.before.dual)
    yield equal(gap, 0, "D_t", where=where, allowance=4 * ROUNDOFF, size=1.0)
    infinite = told["alpha"] == sign * math.inf and told["z"] == 0
    yield fact(infinite, "α_t = ±∞, z_{t+1} = 0", where=where)
    yield fact(np.array_equal(r.after.votes, np.ones(r.n)), "sign(H) = y", where=where)


@ours.direct(
    "lec.stumps.best",
    "Algorithm 3, line 3: the weak learner",
    ON_POINTS,
    stumps,
    problems=("", "wine:0,1"),
)
def _best_stump(c):
    r"""h_t is a decision stump of least weighted error for D_t.

    $h_t \in \arg\max_h \sum_i D_t(i)\, y_i\, h(x_i) \quad \text{over all stumps}$

    Every stump of every column is tried. Weights are rounded to multiples of 2⁻⁶¹ before they are
    summed."""
    for s in sessions(c):
        yield from s.faults
        for r in s.rounds if s.best else ():
            found, edge = float(np.asarray(r.before.dual) * r.y @ (r.agrees * r.y)), s.edge(r)
            off, size = r.n * (8 * ROUNDOFF + 2.0**-59), size_of(edge, float(r.n))
            what = "Σ D_t(i) y_i h_t(x_i) is largest"
            yield equal(found, edge, what, where=r.where, allowance=off, size=size)


# Gradient descent


@ours.direct("lec.gd.step", "Theorem 1 (the method)", PLAIN, problems=PROBLEMS)
def _gradient_descent_step(c):
    r"""Each iterate of gradient descent comes from the last by one step of length 2/(β + λ).

    $w_{t+1} = w_t - \eta \nabla f(w_t), \quad \eta = \frac{2}{\beta + \lambda}$

    One step from the doubles that were delivered, in balls, up to the rounding that evaluating a
    gradient in doubles cannot avoid."""
    return _descends(c, "smooth-gradient-descent", "w_{t+1} = w_t − η∇f(w_t)", momentum=False)


@ours.direct(
    "lec.agd.step",
    "Section 1, accelerated gradient descent (Nesterov 2004, scheme 2.2.11)",
    FAST,
    problems=PROBLEMS,
)
def _accelerated_step(c):
    r"""Each iterate of accelerated gradient descent is a gradient step from the extrapolation of
    the two before it.

    $w_{t+1} = v_t - \tfrac1\beta \nabla f(v_t), \quad v_{t+1} = w_{t+1} +
    \tfrac{\sqrt\kappa-1}{\sqrt\kappa+1}(w_{t+1} - w_t), \quad v_0 = w_0$

    The lecture names the method and does not print it. v_t is made anew from the delivered w_t and
    w_{t−1}; where the solver delivers v_t, momentum and gradient, they are checked too."""
    what = "w_{t+1} = v_t − ∇f(v_t)/β"
    return _descends(c, "accelerated-gradient-descent", what, momentum=True)


def _descends(c, name, what, momentum):
    """w_{t+1} = v_t − η∇f(v_t), and what the solver says of v_t and of the gradient there."""
    for target, run, wrong in runs(c, name):
        if wrong:
            yield fact(False, wrong, where=target.name)
            continue
        yield equal(length(column(run[0].w)), 0, "w_0 = 0", where=target.name)
        root = sqrt(target.kappa)
        eta = 1 / target.beta if momentum else 2 / (target.beta + target.lam)
        for before, it, after in zip([run[0], *run], run, run[1:], strict=False):
            w, back, where = column(it.w), column(before.w), f"{target.name}, t = {it.t}"
            v, off, parts = w, 0.0, upper(length(w))
            if momentum:
                share = (root - 1) / (root + 1)
                v, parts = w + share * (w - back), upper(length(w) + length(back))
                # share is off by a few units (√κ − 1 may cancel), and v by that times w − back.
                off = 16 * ROUNDOFF * parts + TINY
            gradient, terms = target.slope(v), target.summands(v)
            gap = length(column(after.w) - (v - eta * gradient))
            # A gradient step from a point that is off by `off` ends off by at most twice that.
            slip = target.step_slip(v) + 2 * off
            size = size_of(length(v - w - eta * gradient), parts + upper(eta * terms))
            yield nothing(gap, what, allowance=slip, size=size, where=where)
            # Where the solver delivers them: the gradient, and v_t and v_t − w_t.
            steep = 2 * target.slip(v) + 2 * upper(target.beta) * off
            numbers = terms + (upper(target.beta * parts) if momentum else 0.0)
            said = [("the gradient", it.extra.get("gradient"), gradient, steep, numbers)]
            if momentum:
                said.append(("v_t", it.extra.get("v"), v, off, parts))
                said.append(("v_t − w_t", it.momentum, v - w, 2 * off, parts))
            for part, told, wanted, slack, numbers in said:
                if told is not None:
                    yield as_said(told, wanted, part, where, slack + TINY, numbers)


@ours.direct(
    "lec.agd.rate",
    "Section 1, accelerated gradient descent (Bubeck 2015, Theorem 3.18)",
    FAST,
    kind="anytime",
    problems=PROBLEMS,
    inputs=QUADRATIC,
    slower="accelerated-gradient-descent/root-forgotten",
)
def _accelerated_rate(c):
    r"""Accelerated gradient descent: f(w_T) − f(w*) ≤ (β + λ)/2 B² exp(−T/√κ).

    $f(w_T) - f(w^*) \leq \frac{\beta + \lambda}{2} B^2 \exp\left(-\frac{T}{\sqrt{\kappa}}\right)$

    The lecture says O(√κ log(1/ε)) iterations; these are the constants of Bubeck."""

    def bound(f, T, B):
        return [(f.beta + f.lam) / 2 * B**2 * exp(-T / sqrt(f.kappa))]

    what = "f(w_T) − f(w*) ≤ (β+λ)/2 B² e^{−T/√κ}"
    return rates(c, "accelerated-gradient-descent", bound, what)


# SGD


@ours.direct(
    "lec.sgd.step",
    "Algorithms 1 and 2 as printed, and the step of Theorem 3",
    STOCHASTIC,
    problems=("", "iris:1,2", "iris:1,2 --kernel rbf:gamma=0.5"),
)
def _sgd_step(c):
    r"""Each iterate of SGD comes from the last by a step of √(B²/(ρ²T)) along the gradient of the
    drawn term, and the output is the average of all iterates.

    $w_{t+1} = w_t - \eta \nabla \ell(w_t, z), \quad \eta = \sqrt{\frac{B^2}{\rho^2 T}}, \quad
    \bar{w} = \frac{1}{T} \sum_{t=1}^T w_t$

    The index of each step is what the solver says it drew; that the draws are uniform is
    gb.lec.sgd.draws."""
    yield from _horizons(type(solver_of(c)))
    T, B = 25, number(1.5)
    if c.given is None:
        sums = [task.known()[0] for task in TASKS if task.everywhere]
    else:
        sums = [FiniteSum(c.problem, loss) for loss in ("hinge", "logistic")]
    for k, f in enumerate(sums):
        solver = steered_for(c, f, B, T, indices=None)
        run = run_of(c, f"SGD {k}", solver, f.problem, c.rng(k), T)
        if wrong := broken(run, T, f.dimension):
            yield fact(False, wrong)
            continue
        eta = B / (f.lipschitz * sqrt(T))
        yield equal(length(column(run[0].w)), 0, "w_1 = 0", where=f"{f.loss} {k}")
        for it, after in pairwise(run):
            where = f"{f.loss} {k}, t = {it.t + 1}"
            i = claimed_row(said_by(after, "index"), f.n)
            if i is None:
                yield fact(False, f"the index is none of 0, …, {f.n - 1}", where=where)
                break
            if f.unclear(it.w, i):
                yield fact(None, "on which side of the kink ⟨a_i, w_t⟩ is", where=where)
            gap, moved = f.step_gap(it.w, after.w, i, eta)
            slip, size = f.slip(it.w, eta, i), size_of(moved, rounding.length(it.w))
            what = "w_{t+1} = w_t − η∇ℓ_i(w_t)"
            yield nothing(gap, what, allowance=slip, size=size, where=where)
            points = [p.w for p in run[: after.t + 1]]
            mean, slip, what = column_mean(points), average_slip(points), "w̄ = (1/T) Σ_t w_t"
            yield as_said(said_by(after, "average"), mean, what, where, slip, slip / ROUNDOFF)


def _horizons(kind: Any) -> Iterator[Relation]:
    """`within` takes the least T ≥ B²ρ²/ε² of Corollary 4 (in doubles)."""
    if not hasattr(kind, "within"):
        return
    for epsilon, B, rho in ((0.1, 2.0, 1.0), (0.3, 1.5, 2.5), (7.0, 1.0, 3.0)):
        T = kind.within(epsilon, distance=B, lipschitz=rho).horizon
        needed, few = (number(B) * rho / number(epsilon)) ** 2, 8 * ROUNDOFF
        enough = needed * (1 - few) <= T and needed * (1 + few) >= T - 1
        yield fact(enough, "T is the least ≥ B²ρ²/ε²", where=f"ε = {epsilon}, B = {B}, ρ = {rho}")


@ours.direct(
    "lec.sgd.draws",
    "Algorithm 1, line 3: a point sampled uniformly at random",
    Method("sgd", assumes=(steerable,)),
    kind="probability",
)
def _sgd_draws(c):
    r"""SGD draws its indices uniformly and independently: each index and each pair of consecutive
    indices is as frequent as it is likely.

    $\mathbb{P}(i_t = i) = \frac{1}{n}, \quad \mathbb{P}(i_t = i, i_{t+1} = j) = \frac{1}{n^2}$

    Frequencies in a number N of draws fixed in advance; a right solver fails with probability at
    most CHANCE (Chernoff: N times the relative entropy of a frequency to its probability is more
    than x with probability 2e⁻ˣ at most; and a union over indices and over the pairs that begin at
    even and at odd t). What the solver says it drew must be the one row along which it has moved:
    the rows are e_1, …, e_n, and the gradient of the logistic loss never vanishes."""
    n, steps = 4, 24000
    problem = DenseProblem(np.eye(n), np.ones(n, dtype=int))
    options = {"distance": 1.0, "lipschitz": 1.0, "loss": "logistic"}
    solver = steered(solver_of(c), horizon=100, indices=None, **options)
    run = run_of(c, "SGD", solver, problem, c.rng(), steps + 1)
    if len(run) <= steps:
        yield fact(False, f"the run ends after {len(run)} iterates")
        return
    drawn = []
    for it, after in pairwise(run):
        drawn.append(claimed_row(said_by(after, "index"), n))
        if it.w.shape != (n,) or [drawn[-1]] != np.flatnonzero(after.w != it.w).tolist():
            what = "the index that is said is that of the row along which w_t moves"
            yield fact(False, what, where=f"t = {it.t + 1}")
            return
    pairs = list(pairwise(drawn))
    samples: dict[str, list[Any]] = {"index": [(i,) for i in drawn]}
    samples |= {"even pair": pairs[::2], "odd pair": pairs[1::2]}
    bound = log(number(2 * (n + 2 * n * n)) / number(CHANCE))
    for name, sample in samples.items():
        counts = Counter(sample)
        for one in product(range(n), repeat=len(sample[0])):
            distance = _relative_entropy(counts[one], len(sample), n ** len(one))
            yield at_most(distance, bound, "N D(frequency ‖ probability)", where=f"{name} {one}")


def _relative_entropy(count: int, trials: int, outcomes: int) -> Number:
    """N D(f ‖ p) of a frequency f = count/N to the probability p = 1/outcomes."""
    sides = ((count, number(1) / outcomes), (trials - count, 1 - number(1) / outcomes))
    return total(k * log(k / (trials * p)) for k, p in sides if k)


# Kernel ridge regression


def _dense_points(case):
    """The problem, if there is one, has dense points."""
    if case.given is None or isinstance(case.problem, DenseProblem):
        return None
    return "ridge regression needs dense points"


@ours.direct(
    "lec.ridge.system",
    "Section 5, the last line of the derivation as printed",
    Method("kernel-ridge", assumes=(small, ridge_options, _dense_points)),
    problems=("", "iris:0,1"),
)
def _ridge_system(c):
    r"""The delivered α solves (K + λI)α = y, and the delivered w solves (ΦᵀΦ + λI)w = Φᵀy.

    $(K + \lambda I)\alpha = y, \quad (\Phi^T\Phi + \lambda I)w = \Phi^T y$

    The residual of what was delivered, in balls, against the backward error of a stable method;
    kernels linear, polynomial and Gaussian."""
    if c.given is None:
        X = np.random.default_rng(9).integers(-8, 9, size=(12, 3)) / 8
        y = np.arange(12) % 5 - 2.0
    else:
        X, y = np.asarray(c.problem.X, dtype=float), np.asarray(c.problem.y, dtype=float)
    n, rows, right = len(X), balls(X), column(y)
    for strength in (0.25, 2.0):
        found = c.remember(
            f"w, λ = {strength}",
            lambda: taken_vector(ridge_solver(c, strength).primal(X, y).w, "w"),  # noqa: B023
        )
        w, lam = column(found), number(strength)
        rest = rows.transpose() * (rows * w - right) + lam * w
        off = primal_slip(X, y, strength, length(w))
        size = size_of(length(rows.transpose() * right))
        where = f"λ = {strength:g}"
        yield nothing(length(rest), "(ΦᵀΦ + λI)w = Φᵀy", where=where, allowance=off, size=size)
        for kernel in ("linear", "poly:degree=2,coef0=1", "rbf:gamma=0.5"):
            solver = ridge_solver(c, strength, kernel)
            found = c.remember(
                f"α, {kernel}, λ = {strength}",
                lambda: taken_vector(solver.dual(X, y).alpha, "α"),  # noqa: B023
            )
            space = space_of(KernelProblem(X, np.ones(n, dtype=int), Kernel.parse(kernel)))
            alpha, K = column(found), space.gram()
            trace = upper(total(K[i, i] for i in range(n))) + n * strength
            values = 2 * n**0.5 * space.score_error(np.asarray(found, dtype=float))
            off = backward_error(n, trace, length(alpha)) + values + TINY
            rest, where = K * alpha + lam * alpha - right, f"{kernel}, λ = {strength:g}"
            size = size_of(length(right))
            yield nothing(length(rest), "(K + λI)α = y", where=where, allowance=off, size=size)


@ours.direct(
    "lec.ridge.objective",
    "Section 5, gradient descent: the objective and its gradient as printed",
    Method("kernel-ridge", assumes=(ridge_options,)),
)
def _ridge_objective(c):
    r"""The objective that gradient descent is given has the values and gradients of ‖Φw − y‖² +
    λ‖w‖².

    $\nabla_w = 2 \sum_{i=1}^n \left( w^T \phi(x_i) - y_i \right) \phi(x_i) + 2\lambda w$

    The quadratic that the solver hands to gradient descent: values (up to the constant ‖y‖²) and
    gradients at several points."""
    for r in every_regression():
        X, y, (n, m) = r.X, r.targets, r.X.shape
        f = c.remember(
            f"f, {r.name}",
            lambda: ridge_solver(c, r.strength).objective(X, y),  # noqa: B023
        )
        rows, right, lam = balls(r.Phi), column(y), number(r.strength)
        for w in (np.zeros(m), np.ones(m), np.arange(m) - 0.5):
            at, reach, where = column(w), float(np.linalg.norm(w)), f"{r.name}, w = {w.tolist()}"
            rest = rows * at - right
            # 2(ΦᵀΦ + λI)w − 2Φᵀy, with sums of n and m products.
            size = 2 * (float(np.sum(X * X)) + r.strength) * reach
            size += 2 * float(np.linalg.norm(X)) * float(np.linalg.norm(y))
            slip = 2 * (n + m + 8) * ROUNDOFF * size + TINY
            slope, height = c.remember(
                f"f at {where}",
                lambda: (taken_vector(f.gradient(w), "the gradient"), float(f.value(w))),  # noqa: B023
            )
            gradient = 2 * rows.transpose() * rest + 2 * lam * at
            gap, about = length(column(slope) - gradient), size_of(length(gradient), 4 * size)
            yield nothing(gap, "the gradient", allowance=slip, size=about, where=where)
            value = inner(rest, rest) + lam * inner(at, at) - inner(right, right)
            gap, about = abs(number(height) - value), size_of(abs(value), 4 * size * reach)
            what, off = "the value, less ‖y‖²", slip * reach + TINY
            yield nothing(gap, what, allowance=off, size=about, where=where)
