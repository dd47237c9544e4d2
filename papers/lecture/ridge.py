"""Sharan, Lecture 9, Section 5: regularised least squares, primal and dual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import ROUNDOFF, TINY, Number, number, total, upper
from gammabar.harness.court.relation import Relation, equal, fact
from gammabar.harness.court.space import space_of
from gammabar.harness.court.statement import direct
from gammabar.harness.court.trial import Trial
from gammabar.papers.lecture._exact import (
    identity,
    is_zero,
    matrix,
    null_space,
    rational,
    vector,
)
from gammabar.papers.lecture._smooth import column, inner, length, small
from gammabar.problems import DenseProblem, Kernel, KernelProblem
from gammabar.solvers.ridge import KernelRidge

#: Everything here is direct: ridge regression has no iterates.
TRIALS: tuple[Trial, ...] = ()

RIDGE = ("kernel-ridge",)

#: Φ, y and λ: a feature that vanishes, n > m, n = m, n < m, and the same point twice.
REGRESSIONS: tuple[tuple[list[list[int]], list[int], float], ...] = (
    ([[0]], [1], 1.0),
    ([[1, 0], [1, 1], [1, 2]], [0, 1, 2], 1.0),
    ([[1, 2], [3, 4]], [1, -1], 0.5),
    ([[1, 2, 3]], [2], 4.0),
    ([[1, 1], [1, 1], [2, -1]], [1, -1, 3], 0.25),
)


def _solver(case: Case, strength: float, kernel: str = "linear") -> Any:
    solver = KernelRidge() if case.solver is None else case.solver
    return replace(solver, regularisation=strength, kernel=kernel)


def ridge_options(case: Case) -> str | None:
    """The solver, if one is given, has the options of kernel ridge regression."""
    options = ("regularisation", "kernel", "primal", "dual", "objective")
    lacking = [
        name for name in options if case.solver is not None and not hasattr(case.solver, name)
    ]
    return f"the solver has no {lacking[0]}" if lacking else None


class Regression:
    """One small regression in rationals."""

    def __init__(self, features: list[list[int]], y: list[int], strength: float) -> None:
        self.name = f"Φ = {features}, y = {y}, λ = {strength:g}"
        self.features, self.targets, self.strength = features, y, strength
        self.Phi, self.y, self.lam = matrix(features), vector(y), rational(strength)
        self.K = self.Phi * self.Phi.transpose()
        self.regularised = self.K + identity(len(y)) * self.lam
        self.alpha = self.regularised.solve(self.y)
        columns = self.Phi.transpose()
        self.normal = columns * self.Phi + identity(self.Phi.ncols()) * self.lam
        self.w = self.normal.solve(columns * self.y)

    def objective(self, alpha: fmpq_mat) -> fmpq:
        """‖Kα − y‖² + λ αᵀKα."""
        rest = self.K * alpha - self.y
        return (rest.transpose() * rest + alpha.transpose() * self.K * alpha * self.lam)[0, 0]

    def candidates(self) -> list[fmpq_mat]:
        """Some vectors, the dual solution, and the same moved along the null space of K."""
        n = len(self.targets)
        some = [vector([0] * n), vector([1] * n), vector(list(range(n))), self.alpha * 2]
        return [*some, self.alpha, *(self.alpha + v for v in null_space(self.K))]

    def chain(self, alpha: fmpq_mat) -> list[bool]:
        """What each line of the derivation says of an α."""
        K, y, lam, n = self.K, self.y, self.lam, len(self.targets)
        # Central differences of a quadratic are its derivatives.
        units = [vector([int(i == j) for i in range(n)]) for j in range(n)]
        gradient = [self.objective(alpha + e) - self.objective(alpha - e) for e in units]
        return [
            all(v == 0 for v in gradient),
            is_zero(K.transpose() * (K * alpha - y) * 2 + K * alpha * (2 * lam)),
            is_zero(K.transpose() * (self.regularised * alpha - y)),
            is_zero(self.regularised * alpha - y),
            bool(alpha == self.regularised.inv() * y),
        ]


LINES = (
    "∇_α = 0",
    "2Kᵀ(Kα − y) + 2λKα = 0",
    "Kᵀ((K + λI)α − y) = 0",
    "(K + λI)α = y",
    "α = (K + λI)⁻¹y",
)


@direct(
    "lec.ridge",
    reference="Section 5, closed form solution",
    kind="identity",
    claim=r"\nabla_{\alpha} (\|K\alpha - y\|_2^2 + \lambda \alpha^T K \alpha) = 0 "
    r"\iff 2K^T(K\alpha - y) + 2\lambda K\alpha = 0 \iff K^T((K + \lambda I)\alpha - y) = 0 "
    r"\iff (K + \lambda I)\alpha = y \iff \alpha = (K + \lambda I)^{-1}y "
    r"\implies w^* = \Phi^T \alpha = \Phi^T (K + \lambda I)^{-1}y",
    problems=("",),
    solvers=RIDGE,
    status="refuted",
    fixed_by="lec.ridge.fixed",
    note="The third ⟺ is only ⟸ if K is singular. n = 1, φ(x_1) = 0, y = 1, λ = 1: K = 0 and α = 0 "
    "has Kᵀ((K + λI)α − y) = 0, but (K + λI)α = 0 ≠ 1 = y. K is singular whenever n > m, or if a "
    "point is repeated. All solutions α of the third line give the same w* = Φᵀα.",
)
def ridge_as_printed(case: Case) -> Iterator[Relation]:
    """The gradient of the dual objective vanishes if and only if α = (K + λI)⁻¹y, by four
    equivalences."""
    for r in (Regression(*data) for data in REGRESSIONS):
        for alpha in r.candidates():
            where = f"{r.name}, α = {[str(v) for v in alpha.entries()]}"
            for (a, b), (one, other) in zip(pairwise(LINES), pairwise(r.chain(alpha)), strict=True):
                yield fact(one == other, f"{a} ⟺ {b}", where=where)


@direct(
    "lec.ridge.fixed",
    reference="Section 5, closed form solution, with ⟸ for the third ⟺",
    kind="identity",
    claim=r"\nabla_{\alpha} = 0 \iff K^T((K + \lambda I)\alpha - y) = 0 \Longleftarrow "
    r"(K + \lambda I)\alpha = y, \text{ with} \iff \text{if } K \text{ is regular; in each case } "
    r"w^* = \Phi^T\alpha = (\Phi^T\Phi + \lambda I)^{-1}\Phi^T y",
    problems=("",),
    solvers=RIDGE,
    assumes=(ridge_options,),
    note="Kᵀu = 0 with u = (K + λI)α − y gives Φᵀu = 0, and then Φᵀα = w* by the first line. Also: "
    "what the solver delivers is w* and α, up to the rounding of a backward stable method.",
)
def ridge(case: Case) -> Iterator[Relation]:
    """Every α at which the gradient of the dual objective vanishes gives the primal solution, and
    α = (K + λI)⁻¹y is one of them, the only one if K is regular."""
    for r in (Regression(*data) for data in REGRESSIONS):
        regular = r.K.rank() == r.K.nrows()
        for alpha in r.candidates():
            lines = r.chain(alpha)
            where = f"{r.name}, α = {[str(v) for v in alpha.entries()]}"
            yield fact(lines[0] == lines[1] == lines[2], "the first three lines", where=where)
            yield fact(lines[3] == lines[4], "the last two lines", where=where)
            yield fact(lines[2] if lines[3] else not (lines[2] and regular), "⟸", where=where)
            if lines[2]:
                yield fact(bool(r.Phi.transpose() * alpha == r.w), "w* = Φᵀα", where=where)
        yield from _delivered(case, r)


def _delivered(case: Case, r: Regression) -> Iterator[Relation]:
    """w and α of the solver, and what they predict."""
    solver = _solver(case, r.strength)
    X, y = np.array(r.features, dtype=float), np.array(r.targets, dtype=float)
    primal, dual = solver.primal(X, y), solver.dual(X, y)
    w, alpha = _balls(r.w), _balls(r.alpha)
    # (ΦᵀΦ + λI)⁻¹ and (K + λI)⁻¹ have norms of at most 1/λ.
    off_w = _primal_slip(X, y, r.strength, length(w)) / r.strength
    off_alpha = _dual_slip(X, r.strength, length(alpha), 0.0) / r.strength
    yield equal(length(column(primal.w) - w), 0, "primal w*", where=r.name, allowance=off_w)
    yield equal(length(column(dual.alpha) - alpha), 0, "dual α", where=r.name, allowance=off_alpha)
    at = np.array([[1.0] * X.shape[1], list(range(X.shape[1]))])
    size, n, m = float(np.linalg.norm(at)), *X.shape
    kernel = size * float(np.linalg.norm(X))
    wanted = arb_mat(2, m, [number(v) for v in at.ravel().tolist()]) * w
    for name, fit, off in (
        ("primal", primal, size * (off_w + (m + 4) * ROUNDOFF * upper(length(w)))),
        ("dual", dual, kernel * (off_alpha + (n + m + 4) * ROUNDOFF * upper(length(alpha)))),
    ):
        gap = length(column(fit.predict(at)) - wanted)
        yield equal(
            gap, 0, f"{name} predictions are ⟨w*, φ(x)⟩", where=r.name, allowance=2 * off + TINY
        )


def _balls(v: fmpq_mat) -> Any:
    return arb_mat(v.nrows(), 1, [number(x) for x in v.entries()])


def _dual_slip(X: Any, strength: float, size: Number, values: float) -> float:
    """A bound on ‖(K + λI)α − y‖ for an α that was solved for in doubles.

    Cholesky: (A + E)α = y with ‖E‖_F ≤ (3n + 2)u tr A (Higham 2002, Theorem 10.4, with
    ‖|Rᵀ||R|‖_F ≤ ‖R‖_F² = tr A); twice that much covers other stable methods. `values` bounds what
    the entries of K contribute; 0 if they are products of the rows of X.
    """
    n, m = X.shape
    trace = float(np.sum(X * X)) + n * strength
    return _solved(n, trace, size) + values + 2 * (m + 4) * ROUNDOFF * trace * upper(size) + TINY


def _primal_slip(X: Any, y: Any, strength: float, size: Number) -> float:
    """The same for (ΦᵀΦ + λI)w − Φᵀy; entries are sums of n products."""
    n, m = X.shape
    square = float(np.sum(X * X))
    trace = square + m * strength
    right = float(np.linalg.norm(y)) * square**0.5
    entries = 2 * (n + 4) * ROUNDOFF * (trace * upper(size) + right)
    return _solved(m, trace, size) + entries + TINY


def _solved(n: int, trace: float, size: Number) -> float:
    return 2 * (3 * n + 2) * ROUNDOFF * trace * upper(size)


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
        w = column(_solver(case, strength).primal(X, y).w)
        rest = rows.transpose() * (rows * w - right) + w * number(strength)
        yield equal(
            length(rest),
            0,
            "(ΦᵀΦ + λI)w = Φᵀy",
            where=f"λ = {strength:g}",
            allowance=_primal_slip(X, y, strength, length(w)),
        )
        for kernel in ("linear", "poly:degree=2,coef0=1", "rbf:gamma=0.5"):
            space = space_of(KernelProblem(X, np.ones(n, dtype=int), Kernel.parse(kernel)))
            delivered = _solver(case, strength, kernel).dual(X, y).alpha
            alpha, K = column(delivered), space.gram()
            trace = upper(total(K[i, i] for i in range(n))) + n * strength
            values = 2 * n**0.5 * space.score_error(np.asarray(delivered, dtype=float))
            yield equal(
                length(K * alpha + alpha * number(strength) - right),
                0,
                "(K + λI)α = y",
                where=f"{kernel}, λ = {strength:g}",
                allowance=_solved(n, trace, length(alpha)) + values + TINY,
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
        f = _solver(case, r.strength).objective(X, y)
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
            gap = length(column(f.gradient(w)) - (rows.transpose() * rest * 2 + at * (2 * lam)))
            yield equal(gap, 0, "the gradient", where=where, allowance=slip)
            value = inner(rest, rest) + lam * inner(at, at) - inner(right, right)
            yield equal(
                f.value(w),
                value,
                "the value, less ‖y‖²",
                where=where,
                allowance=slip * float(np.linalg.norm(w)) + TINY,
            )


def _full(M: fmpq_mat) -> Any:
    return arb_mat(M.nrows(), M.ncols(), [number(v) for v in M.entries()])
