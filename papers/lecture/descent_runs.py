"""Runs of gradient descent, plain and accelerated, and what is left of f after T steps.

These solvers run on functions, which the statements bring, so the statements are direct.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from gammabar.papers import (
    ROUNDOFF,
    TINY,
    Case,
    Number,
    Relation,
    fact,
    known_zero,
    number,
    rationals,
    sqrt,
    taken_run,
    upper,
    wholes,
)
from gammabar.papers.lecture.columns import Column, column, fault, length
from gammabar.papers.lecture.smooth_functions import Target, targets

#: T on quadratics, and on the logistic risk of a problem, whose balls are dearer.
STEPS, FEWER = 90, 30

#: Quadratics; the regularised logistic risk of a separable problem, of one that is not, and of one
#: in a reproducing-kernel space.
PROBLEMS = ("", "iris:0,1", "inseparable:n=30,d=3,seed=0", "iris:1,2 --kernel rbf:gamma=0.5")

#: In a search: ½xᵀAx − bᵀx with a diagonal A, and T.
QUADRATIC = {
    "diagonal": rationals(0, 100, positive=True, shape=("d",)),
    "b": rationals(-100, 100, shape=("d",)),
    "T": wholes(1, 90),
}

PLAIN = ("smooth-gradient-descent",)

FAST = ("accelerated-gradient-descent",)

#: A function, T, f(w_T) − f(w*), B, and further arguments of the relation.
Gap: TypeAlias = tuple[Target, int, Number, Number, dict[str, Any]]


def runs(case: Case, standard: Any) -> Iterator[tuple[Target, list[Any], str | None]]:
    """Every function of the case with the solver's iterates on it, and what is wrong with them."""
    solver = standard if case.solver is None else case.solver
    for target in targets(case, getattr(solver, "regularisation", 0.1)):
        # Beyond e^{−T/√κ} = 10⁻¹¹ bounds drown in the rounding of the run.
        enough = 25 * upper(sqrt(target.kappa))  # infinite where κ is beyond doubles
        steps = int(min(STEPS if case.given is None else FEWER, enough))
        if case.inputs is not None:
            steps = int(case.inputs["T"])
        run = _run(case, solver, target, steps + 1)
        faults = (fault(it, t, target.dimension) for t, it in enumerate(run))
        short = None if len(run) == steps + 1 else f"the run ends after {len(run)} iterates"
        yield target, run, next((f for f in faults if f), short)


def _run(case: Case, solver: Any, target: Target, length: int) -> list[Any]:
    """The first run on this function, at every level."""
    return case.remember(
        f"run on {target.name}",
        lambda: taken_run(solver.iterates(target.function, case.rng()), length),
    )


def broken(target: Target, wrong: str) -> Relation:
    """What refutes a run that cannot be judged."""
    return fact(False, wrong, where=target.name)


def gaps(case: Case, standard: Any) -> Iterator[Gap]:
    """What is left after T = 1, 2, … steps."""
    for target, run, wrong in runs(case, standard):
        if wrong:
            yield target, 0, number(1), number(0), {"what": wrong, "where": target.name}
            continue
        best, B = target.optimum
        slip = 0.0
        for it in run:
            w = column(it.w)
            slip += step_slip(target, w)
            # Gradient descent contracts, so errors of steps add up at most (the factor t + 1 is for
            # momentum); and moving w by e moves f(w) by at most ‖∇f(w)‖e + βe²/2.
            e, steepness = slip * (it.t + 1), length(target.gradient(w))
            moved = upper(steepness) * e + upper(target.beta) * e * e
            more = {"allowance": moved + TINY, "where": f"{target.name}, T = {it.t}"}
            if it.t and (case.inputs is None or it.t == case.inputs["T"]):
                gap = number(0) if known_zero(steepness) else target.value(w) - best
                yield target, it.t, gap, B, more


def step_slip(target: Target, w: Column) -> float:
    """How far one step of gradient descent in doubles is from the exact one, at most."""
    eta = upper(2 / (target.beta + target.lam))
    moved = eta * upper(length(target.gradient(w)))
    return 2 * (eta * target.slip(w) + 8 * ROUNDOFF * (upper(length(w)) + moved)) + TINY
