"""The project's own checks of what kernel ridge regression delivers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb_mat, fmpq_mat

from gammabar.papers import (
    ROUNDOFF,
    TINY,
    Case,
    Relation,
    direct,
    number,
    size_of,
    space_of,
    taken_vector,
    total,
    upper,
)
from gammabar.papers.lecture.columns import column, inner, length, nothing, small
from gammabar.papers.lecture.regressions import (
    REGRESSIONS,
    RIDGE,
    Regression,
    backward_error,
    primal_slip,
    ridge_options,
    ridge_solver,
)
from gammabar.problems import DenseProblem, Kernel, KernelProblem


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
