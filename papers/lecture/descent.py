"""Sharan, Lecture 9, Section 1: gradient descent on smooth, strongly convex functions.

Theorem 1 writes T for the number of steps. Here T counts updates and the start is w_0 = 0, which
is the reading that favours the theorem: with w_1 for the start, as in Algorithm 1, the printed
bound fails at T = 1 already.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, TypeAlias

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import ROUNDOFF, TINY, Number, exp, number, sqrt, upper
from gammabar.harness.court.relation import Relation, at_most, equal, fact
from gammabar.harness.court.statement import direct
from gammabar.harness.court.trial import Trial
from gammabar.papers.lecture._smooth import (
    Column,
    Target,
    column,
    fault,
    length,
    small,
    targets,
)
from gammabar.solvers.smooth import AcceleratedGradientDescent, SmoothGradientDescent

#: Everything here is direct: these solvers run on functions, which the statements bring.
TRIALS: tuple[Trial, ...] = ()

#: T on quadratics, and on the logistic risk of a problem, whose balls are dearer.
STEPS, FEWER = 90, 30
#: Quadratics; the regularised logistic risk of a separable problem, of one that is not, and of one
#: in a reproducing-kernel space.
PROBLEMS = ("", "iris:0,1", "inseparable:n=30,d=3,seed=0", "iris:1,2 --kernel rbf:gamma=0.5")
PLAIN = ("smooth-gradient-descent",)
FAST = ("accelerated-gradient-descent",)

#: A function, T, f(w_T) − f(w*), B, and further arguments of the relation.
Gap: TypeAlias = tuple[Target, int, Number, Number, dict[str, Any]]


def _runs(case: Case, standard: Any) -> Iterator[tuple[Target, list[Any], str | None]]:
    """Every function of the case with the solver's iterates on it, and what is wrong with them."""
    solver = standard if case.solver is None else case.solver
    for target in targets(case, getattr(solver, "regularisation", 0.1)):
        # Beyond e^{−T/√κ} = 10⁻¹¹ bounds drown in the rounding of the run.
        steps = min(STEPS if case.given is None else FEWER, int(25 * upper(sqrt(target.kappa))))
        run = list(islice(solver.iterates(target.function, case.rng()), steps + 1))
        faults = (fault(it, t, target.dimension) for t, it in enumerate(run))
        short = None if len(run) == steps + 1 else f"the run ends after {len(run)} iterates"
        yield target, run, next((f for f in faults if f), short)


def _broken(target: Target, wrong: str) -> Relation:
    return fact(False, wrong, where=target.name)


def _gaps(case: Case, standard: Any) -> Iterator[Gap]:
    """What is left after T = 1, 2, … steps."""
    for target, run, wrong in _runs(case, standard):
        if wrong:
            yield target, 0, number(1), number(0), {"what": wrong, "where": target.name}
            continue
        best, B = target.optimum
        slip = 0.0
        for it in run:
            w = column(it.w)
            slip += _step_slip(target, w)
            # Gradient descent contracts, so errors of steps add up at most (the factor t + 1 is for
            # momentum); and moving w by e moves f(w) by at most ‖∇f(w)‖e + βe²/2.
            e, steepness = slip * (it.t + 1), length(target.gradient(w))
            moved = upper(steepness) * e + upper(target.beta) * e * e
            more = {"allowance": moved + TINY, "where": f"{target.name}, T = {it.t}"}
            if it.t:
                gap = target.value(w) - best if steepness != 0 else number(0)
                yield target, it.t, gap, B, more


def _step_slip(target: Target, w: Column) -> float:
    """How far one step of gradient descent in doubles is from the exact one, at most."""
    eta = upper(2 / (target.beta + target.lam))
    moved = eta * upper(length(target.gradient(w)))
    return 2 * (eta * target.slip(w) + 8 * ROUNDOFF * (upper(length(w)) + moved)) + TINY


@direct(
    "lec.thm1",
    reference="Theorem 1",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \exp\left(-\frac{T}{\kappa}\right) \frac{B^2\beta}{2T}",
    problems=("",),
    solvers=PLAIN,
    assumes=(small,),
    status="refuted",
    fixed_by="lec.thm1.fixed",
    note="The 1/T is too good. f(x) = ½xᵀAx − bᵀx with A = diag(9, 1), b = (9, 0): β = 9, λ = 1, "
    "κ = 9, w* = (1, 0), B = 1, f(w*) = −9/2, η = 1/5, so w_t = (1 − (−4/5)^t, 0). At T = 2: "
    "f(w_2) − f(w*) = (9/2)(4/5)⁴ = 1152/625 = 1.8432, but e^{−2/9}·9/4 = 1.80165… . No smaller "
    "whole κ fails. B is not defined in the theorem; it is ‖w_1 − w*‖ as in Theorem 3. If the "
    "start is w_1 and w_T comes after T − 1 steps, the same function fails at T = 1: "
    "9/2 > e^{−1/9}·9/2.",
)
def gradient_descent_rate_as_printed(case: Case) -> Iterator[Relation]:
    """Gradient descent with step 2/(β + λ): f(w_T) − f(w*) ≤ exp(−T/κ) B²β/(2T)."""
    for target, T, gap, B, more in _gaps(case, SmoothGradientDescent()):
        bound = exp(-T / target.kappa) * B * B * target.beta / (2 * max(T, 1))
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ e^{−T/κ} B²β/(2T)"} | more))


@direct(
    "lec.thm1.fixed",
    reference="Theorem 1, without the 1/T",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \exp\left(-\frac{T}{\kappa}\right) \frac{B^2\beta}{2}",
    problems=PROBLEMS,
    solvers=PLAIN,
    assumes=(small,),
    note="Nesterov (2004), Theorem 2.1.15: ‖w_T − w*‖ ≤ ((κ−1)/(κ+1))^T B, smoothness gives "
    "f(w_T) − f(w*) ≤ (β/2)‖w_T − w*‖², and ((κ−1)/(κ+1))² ≤ e^{−4/(κ+1)} ≤ e^{−1/κ}. This is "
    "also what the text goes on with: error ε after κ log(B²β/(2ε)) iterations.",
)
def gradient_descent_rate(case: Case) -> Iterator[Relation]:
    """Gradient descent with step 2/(β + λ): f(w_T) − f(w*) ≤ exp(−T/κ) B²β/2 after T updates."""
    for target, T, gap, B, more in _gaps(case, SmoothGradientDescent()):
        bound = exp(-T / target.kappa) * B * B * target.beta / 2
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ e^{−T/κ} B²β/2"} | more))


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
    for target, run, wrong in _runs(case, SmoothGradientDescent()):
        if wrong:
            yield _broken(target, wrong)
            continue
        yield equal(length(column(run[0].w)), 0, "w_0 = 0", where=target.name)
        eta = 2 / (target.beta + target.lam)
        for it, after in pairwise(run):
            w = column(it.w)
            gradient = target.gradient(w)
            gap = length(column(after.w) - (w - gradient * eta))
            where = f"{target.name}, t = {it.t}"
            yield equal(
                gap, 0, "w_{t+1} = w_t − η∇f(w_t)", where=where, allowance=_step_slip(target, w)
            )
            if "gradient" in it.extra:
                gap = length(column(it.extra["gradient"]) - gradient)
                yield equal(gap, 0, "∇f(w_t)", where=where, allowance=2 * target.slip(w) + TINY)


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
    for target, run, wrong in _runs(case, AcceleratedGradientDescent()):
        if wrong:
            yield _broken(target, wrong)
            continue
        yield equal(length(column(run[0].w)), 0, "w_0 = 0", where=target.name)
        root = sqrt(target.kappa)
        share = (root - 1) / (root + 1)
        for before, it, after in zip([run[0], *run], run, run[1:], strict=False):
            w, back = column(it.w), column(before.w)
            v = w + (w - back) * share
            # share is off by a few units (√κ − 1 may cancel), and v by that times w − back.
            off = 16 * ROUNDOFF * (upper(length(w)) + upper(length(back))) + TINY
            gradient = target.gradient(v)
            gap = length(column(after.w) - (v - gradient / target.beta))
            where = f"{target.name}, t = {it.t}"
            # A gradient step from a point that is off by `off` ends off by at most twice that.
            allowance = _step_slip(target, v) + 2 * off
            yield equal(gap, 0, "w_{t+1} = v_t − ∇f(v_t)/β", where=where, allowance=allowance)
            told = {
                "v_t": (it.extra.get("v"), v, off),
                "v_t − w_t": (it.momentum, v - w, 2 * off),
                "∇f(v_t)": (
                    it.extra.get("gradient"),
                    gradient,
                    2 * target.slip(v) + 2 * upper(target.beta) * off,
                ),
            }
            for what, (given, wanted, slack) in told.items():
                if given is not None:
                    yield equal(
                        length(column(given) - wanted), 0, what, where=where, allowance=slack + TINY
                    )


@direct(
    "gb.lec.agd.rate",
    reference="Section 1, accelerated gradient descent (Bubeck 2015, Theorem 3.18)",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \frac{\beta + \lambda}{2} B^2 "
    r"\exp\left(-\frac{T}{\sqrt{\kappa}}\right)",
    problems=PROBLEMS,
    solvers=FAST,
    assumes=(small,),
    note="The lecture says O(√κ log(1/ε)) iterations; these are the constants of Bubeck.",
)
def accelerated_rate(case: Case) -> Iterator[Relation]:
    """Accelerated gradient descent: f(w_T) − f(w*) ≤ (β + λ)/2 B² exp(−T/√κ)."""
    for target, T, gap, B, more in _gaps(case, AcceleratedGradientDescent()):
        bound = exp(-T / sqrt(target.kappa)) * B * B * (target.beta + target.lam) / 2
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ (β+λ)/2 B² e^{−T/√κ}"} | more))
