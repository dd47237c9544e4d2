"""Section 5, Kernels: gradient descent stays in the span of the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb_mat, fmpq_mat

from gammabar.papers import ROUNDOFF, Case, Relation, direct, number, size_of, taken_run
from gammabar.papers.lecture.columns import column, fault, length, nothing
from gammabar.papers.lecture.descent_runs import PLAIN, broken, step_slip
from gammabar.papers.lecture.regressions import REGRESSIONS, Regression
from gammabar.papers.lecture.smooth_functions import QuadraticTarget
from gammabar.solvers.ridge import KernelRidge
from gammabar.solvers.smooth import SmoothGradientDescent

STEPS = 30


@direct(
    "lec.sec5.span",
    reference="Section 5, gradient descent",
    kind="identity",
    claim=r"w_1 = 0 \implies w_t = \sum_{i=1}^n \alpha_i \phi(x_i), \quad"
    r" \langle w_t, \phi(x)\rangle = \sum_{i=1}^n \alpha_i \langle\phi(x_i), \phi(x)\rangle",
    problems=("",),
    solvers=PLAIN,
    instances="five small regressions, 30 steps",
    note="α is had from inner products alone: w_{t+1} = w_t − η(2Φᵀ(Φw_t − y) + 2λw_t) is Φᵀα_{t+1}"
    " with α_{t+1} = α_t − 2η(Kα_t − y + λα_t). Up to the rounding of the steps, which adds up.",
)
def stays_in_the_span(case: Case) -> Iterator[Relation]:
    """From w_1 = 0, every iterate of gradient descent on regularised least squares is a combination
    of the features of the points, with coefficients that depend on their inner products alone."""
    solver = SmoothGradientDescent() if case.solver is None else case.solver
    for r in (Regression(*data) for data in REGRESSIONS):
        features = np.array(r.features, dtype=float)
        f = KernelRidge(r.strength).objective(features, np.array(r.targets, dtype=float))
        target = QuadraticTarget(f.A.tolist(), f.b.tolist())
        run = _run(case, solver, f, r.name)
        faults = [bad for t, it in enumerate(run) if (bad := fault(it, t, target.dimension))]
        if faults or len(run) != STEPS:
            yield broken(target, faults[0] if faults else f"it ends after {len(run)} iterates")
            continue
        yield from _compared(r, target, run)


def _run(case: Case, solver: Any, f: Any, name: str) -> list[Any]:
    """The first run on this function, at every level."""
    return case.remember(
        f"descent on {name}", lambda: taken_run(solver.iterates(f, case.rng()), STEPS)
    )


def _compared(r: Regression, target: QuadraticTarget, run: list[Any]) -> Iterator[Relation]:
    """w_t against Φᵀα_t."""
    n = len(r.targets)
    Phi, K, y = (_balls(M) for M in (r.Phi, r.K, r.y))
    lam, eta = number(r.strength), 2 / (target.beta + target.lam)
    alpha, slip = arb_mat(n, 1), 0.0
    for it in run:
        w = column(it.w)
        gap = length(w - Phi.transpose() * alpha)
        where = f"{r.name}, t = {it.t + 1}"
        # Gradient descent contracts (β and λ are off by a few units), so errors of steps add up.
        off = slip * (1 + 64 * STEPS * ROUNDOFF)
        yield nothing(gap, "w_t = Φᵀα_t", allowance=off, size=size_of(length(w)), where=where)
        alpha -= 2 * eta * (K * alpha - y + lam * alpha)
        slip += step_slip(target, w)


def _balls(M: fmpq_mat) -> arb_mat:
    return arb_mat([[number(v) for v in row] for row in M.tolist()])
