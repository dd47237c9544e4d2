"""Smooth functions in balls: what gradient descent is tried on, and their exact minima.

Runs of gradient descent, plain and accelerated, and what is left of f after T steps.

These solvers run on functions, which the statements bring, so the statements are direct.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from flint import arb, arb_mat

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    Floats,
    Number,
    Relation,
    Space,
    Unclaimed,
    ball,
    between,
    fact,
    known_zero,
    number,
    rationals,
    space_of,
    sqrt,
    taken_run,
    total,
    upper,
    wholes,
)
from gammabar.papers.lecture.linear_algebra import Column, column, fault, inner, length
from gammabar.problems import KernelProblem, Problem
from gammabar.solvers.descent import Quadratic, RegularisedLogistic


class Target(ABC):
    """A β-smooth, λ-strongly convex function, with values and gradients in balls.

    Attributes
    ----------
    name : str
    function : what the solver is given
    dimension : int
        Length of w.
    """

    name: str
    function: Any
    dimension: int

    @property
    def beta(self) -> Number:
        """β: the double that the solver is told."""
        return number(self.function.smoothness)

    @property
    def lam(self) -> Number:
        """λ, likewise."""
        return number(self.function.strong_convexity)

    @property
    def kappa(self) -> Number:
        """κ = β/λ."""
        return self.beta / self.lam

    @abstractmethod
    def value(self, w: Column) -> Number:
        """f(w)."""

    @abstractmethod
    def gradient(self, w: Column) -> Column:
        """∇f(w)."""

    @abstractmethod
    def slip(self, w: Column) -> float:
        """How far ∇f(w) in doubles is from the truth, at most (Euclidean norm of the entries)."""

    def summands(self, w: Column) -> float:
        """How large the numbers are that ∇f(w) is a sum of, as often as they are rounded."""
        return self.slip(w) / ROUNDOFF

    @cached_property
    def optimum(self) -> tuple[Number, Number]:
        """f(w*) and ‖w*‖."""
        return self._optimum()

    @abstractmethod
    def _optimum(self) -> tuple[Number, Number]: ...


class QuadraticTarget(Target):
    """½ wᵀAw − bᵀw."""

    def __init__(self, A: Sequence[Sequence[float]], b: Sequence[float]) -> None:
        self.function = Quadratic(np.array(A, dtype=float), np.array(b, dtype=float))
        self.dimension = d = len(b)
        self.A = arb_mat(d, d, [arb(v) for row in A for v in row])
        self.b = column(b)
        self.name = f"A = {[list(row) for row in A]}, b = {list(b)}"

    def value(self, w: Column) -> Number:
        return inner(w, self.A * w) / 2 - inner(self.b, w)

    def gradient(self, w: Column) -> Column:
        return self.A * w - self.b

    def slip(self, w: Column) -> float:
        # Sums of d products and one subtraction, in any order (Higham 2002, §3.1).
        sizes = arb_mat(self.dimension, self.dimension, [abs(v) for v in self.A.entries()])
        scale = sizes * arb_mat(self.dimension, 1, [abs(v) for v in w.entries()])
        scale += arb_mat(self.dimension, 1, [abs(v) for v in self.b.entries()])
        return (self.dimension + 4) * ROUNDOFF * upper(length(scale))

    def _optimum(self) -> tuple[Number, Number]:
        best = self.A.solve(self.b)
        return -inner(self.b, best) / 2, length(best)


class LogisticTarget(Target):
    """(1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)) + (λ/2)‖w‖² on the rows of a small problem."""

    def __init__(self, problem: Problem, strength: float, name: str = "") -> None:
        self.function = RegularisedLogistic(problem, strength)
        self.name = f"logistic, λ = {strength:g}" + (f", {name}" if name else "")
        self.space: Space = space_of(problem)
        self.dimension, self.n = problem.dimension, problem.n
        rows = np.arange(self.n)
        scores = [self.space.exact_scores(e, rows) for e in np.eye(self.dimension)]
        #: scores = S w; in a kernel space w has the coefficients of the rows, and S is Gram's.
        self.S = arb_mat([list(row) for row in zip(*scores, strict=True)])
        self.kernel = isinstance(problem, KernelProblem)

    def value(self, w: Column) -> Number:
        losses = [(1 + (-s).exp()).log() for s in (self.S * w).entries()]
        return total(losses) / self.n + self.lam / 2 * self._square(w)

    def gradient(self, w: Column) -> Column:
        pulls = [1 / (1 + s.exp()) / self.n for s in (self.S * w).entries()]
        pull = arb_mat(self.n, 1, pulls)
        return w * self.lam - (pull if self.kernel else self.S.transpose() * pull)

    def slip(self, w: Column) -> float:
        middle = _doubles(w)
        # 1/(1 + eˢ) has slope at most 1/4, and p |ln p| ≤ 1/e bounds what exponents lose.
        if self.kernel:
            pull = min(self.space.score_error(middle) / 4, 1.0)
        else:  # row by row; and 1/(1 + eˢ) is nowhere off by more than one
            errors = np.minimum(self.space.score_errors(middle) / 4, 1.0) * SAFETY
            pull = self.space.radius * float((errors * self.space.shares).mean()) * SAFETY
        return pull + ROUNDOFF * self.summands(w)

    def summands(self, w: Column) -> float:
        pull = 16.0
        if not self.kernel:
            pull = (2 * self.n + 32) * self.space.radius * float(self.space.shares.mean())
        return pull + 4 * upper(self.lam * length(w))

    def _square(self, w: Column) -> Number:
        return inner(w, self.S * w) if self.kernel else inner(w, w)

    def _optimum(self) -> tuple[Number, Number]:
        """From a point with a tiny gradient: f(w*) ≥ f(w) − ‖∇f(w)‖²/2λ, ‖w − w*‖ ≤ ‖∇f(w)‖/λ."""
        near = column(self._minimise())
        square = self._square(self.gradient(near))
        value = self.value(near)
        if square == 0:
            return value, sqrt(self._square(near))
        distance = upper(sqrt(square) / self.lam)
        norm = sqrt(self._square(near)) + ball(0.0, distance)
        return between(value - square / (2 * self.lam), value), norm

    def _minimise(self) -> Floats:
        """Nesterov's method in doubles; whatever it returns is only a guess."""
        f = self.function
        root = math.sqrt(f.smoothness / f.strong_convexity)
        w = v = f.origin()
        for _ in range(min(200 + int(40 * root), 10_000)):
            new = v - f.gradient(v) / f.smoothness
            v = new + (root - 1) / (root + 1) * (new - w)
            w = new
        return np.asarray(w)


class Bend:
    """½λ(w − 1)² + h(w − 1) on the line, where h is (β − λ)u²/2 up to the slope g and straight
    from there on: what a solver is given of a `BendTarget`."""

    def __init__(self, smoothness: float, strong_convexity: float, slope: float) -> None:
        self.smoothness, self.strong_convexity, self.slope = smoothness, strong_convexity, slope
        self.minimiser = np.ones(1)

    def origin(self) -> Floats:
        """0, at distance 1 from the minimum."""
        return np.zeros(1)

    def value(self, w: Floats) -> float:
        """f(w)."""
        u = float(w[0]) - 1
        s = float(np.clip((self.smoothness - self.strong_convexity) * u, -self.slope, self.slope))
        bent = s * u - s * s / (2 * (self.smoothness - self.strong_convexity))
        return bent + self.strong_convexity * u * u / 2

    def gradient(self, w: Floats) -> Floats:
        """f′(w)."""
        u = np.asarray(w) - 1
        bent = (self.smoothness - self.strong_convexity) * u
        return np.asarray(np.clip(bent, -self.slope, self.slope) + self.strong_convexity * u)

    def norm(self, w: Floats) -> float:
        """|w|."""
        return float(np.linalg.norm(w))


class BendTarget(Target):
    """A function that is nearly straight far from its minimum: one gradient step leaves a sixth of
    βB² there, the most that a convex function can, and hardly less with λ > 0."""

    dimension = 1

    def __init__(self, smoothness: float, strong_convexity: float, slope: float) -> None:
        self.function = Bend(smoothness, strong_convexity, slope)
        self.name = f"a bend, β = {smoothness:g}, λ = {strong_convexity:g}, slope {slope:g}"

    def _bent(self, w: Column) -> tuple[Number, Number]:
        """u = w − 1 and the slope of h there, a clipped line, which needs no cases."""
        u, g = w[0, 0] - 1, number(self.function.slope)
        return u, ((self.beta - self.lam) * u).max(-g).min(g)

    def value(self, w: Column) -> Number:
        u, s = self._bent(w)
        return s * u - s * s / (2 * (self.beta - self.lam)) + self.lam / 2 * u * u

    def gradient(self, w: Column) -> Column:
        u, s = self._bent(w)
        return arb_mat(1, 1, [s + self.lam * u])

    def slip(self, w: Column) -> float:
        # A difference, two products, a clip and a sum.
        return 8 * ROUNDOFF * upper(self.beta * (1 + abs(w[0, 0])))

    def _optimum(self) -> tuple[Number, Number]:
        return number(0), number(1)


def _doubles(w: Column) -> Floats:
    return np.array([float(v.mid()) for v in w.entries()])


#: A and b. The first is the smallest witness against Theorem 1 as printed; then a minimiser that
#: is no double, eigenvectors that are no axes, a large κ, κ = 1, and a start at the minimum.
_QUADRATICS: tuple[tuple[tuple[tuple[float, ...], ...], tuple[float, ...]], ...] = (
    (((9, 0), (0, 1)), (9, 0)),
    (((9, 0), (0, 1)), (1, 2)),
    (((2, 1), (1, 2)), (3, -1)),
    (((100, 0, 0), (0, 10, 0), (0, 0, 1)), (100, 10, 1)),
    (((3,),), (2,)),
    (((4, 0), (0, 2)), (0, 0)),
)


def _diagonal(diagonal: Sequence[Any], b: Sequence[Any], T: int) -> Target:
    """½ wᵀAw − bᵀw of a search; its numbers are to be doubles, as solvers are given them."""
    if any(float(v) != v for v in (*diagonal, *b)):
        raise Unclaimed("a number is not a double")
    d = len(b)
    A = [[float(diagonal[i]) if i == j else 0.0 for j in range(d)] for i in range(d)]
    return QuadraticTarget(A, [float(v) for v in b])


def targets(case: Case, strength: float) -> Iterator[Target]:
    """The functions of a case: the logistic risk of its problem, or quadratics."""
    if case.given is not None:
        yield LogisticTarget(case.problem, strength, case.name)
        return
    if case.inputs is not None:
        yield _diagonal(*case.inputs.values())
        return
    for A, b in _QUADRATICS:
        yield QuadraticTarget(A, b)
    yield BendTarget(16.0, 1.0, 4.6875)


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
