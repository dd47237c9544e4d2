"""Smooth functions in doubles and in balls, with their exact minima; runs of gradient descent.

A solver is given the ``function`` of a target, in doubles; what it does is checked in balls.
Neither shares code with the functions in `gammabar.solvers`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.papers.claims import *
from gammabar.papers.lecture.quantities import *
from gammabar.problems import KernelProblem, Problem


class _Target(ABC):
    """A β-smooth, λ-strongly convex function in balls; ``function`` is the same in doubles, with
    the β and λ that the solver is told. A quadratic ½ wᵀAw − bᵀw has ``A`` and ``b``."""

    def __init__(self, name: str, beta: float, lam: float, dimension: int, **told: Any) -> None:
        self.name, self.dimension = name, dimension
        #: β and λ; balls that contain one double, whatever the precision.
        self.beta, self.lam = number(beta), number(lam)
        told = {"norm": np.linalg.norm, "minimiser": None, "A": None, "b": None} | told
        told |= {"smoothness": beta, "strong_convexity": lam, "dimension": dimension}
        self.function = SimpleNamespace(**told, origin=lambda: np.zeros(dimension))

    @property
    def kappa(self) -> Number:
        """κ = β/λ."""
        return self.beta / self.lam

    @abstractmethod
    def height(self, w: Column) -> Number:
        """f(w)."""

    @abstractmethod
    def slope(self, w: Column) -> Column:
        """∇f(w)."""

    @abstractmethod
    def slip(self, w: Column) -> float:
        """How far ∇f(w) in doubles is from the truth, at most (Euclidean norm of the entries)."""

    def summands(self, w: Column) -> float:
        """How large the numbers are that ∇f(w) is a sum of, as often as they are rounded."""
        return self.slip(w) / ROUNDOFF

    def step_slip(self, w: Column) -> float:
        """How far one step of gradient descent in doubles is from the exact one, at most."""
        eta = upper(2 / (self.beta + self.lam))
        moved = eta * upper(length(self.slope(w)))
        return 2 * (eta * self.slip(w) + 8 * ROUNDOFF * (upper(length(w)) + moved)) + TINY

    @cached_property
    @abstractmethod
    def optimum(self) -> tuple[Number, Number]:
        """f(w*) and ‖w*‖."""


class QuadraticTarget(_Target):
    """½ wᵀAw − bᵀw."""

    def __init__(self, A: Sequence[Sequence[float]], b: Sequence[float]) -> None:
        M, v, d = np.array(A, dtype=float), np.array(b, dtype=float), len(b)
        exact = np.array_equal(M, np.diag(np.diagonal(M)))
        eigenvalues = np.sort(np.diagonal(M)) if exact else np.linalg.eigvalsh(M)
        low, high = float(eigenvalues[0]), float(eigenvalues[-1])
        told: Any = {"A": M.copy(), "b": v.copy(), "gradient": lambda w: M @ w - v}
        told["value"] = lambda w: float(w @ (M @ w) / 2 - v @ w)
        super().__init__(f"A = {[list(row) for row in A]}, b = {list(b)}", high, low, d, **told)
        self.A, self.b = arb_mat(d, d, [arb(v) for row in A for v in row]), column(b)

    def height(self, w: Column) -> Number:
        return inner(w, self.A * w) / 2 - inner(self.b, w)

    def slope(self, w: Column) -> Column:
        return self.A * w - self.b

    def slip(self, w: Column) -> float:
        # Sums of d products and one subtraction, in any order (Higham 2002, §3.1).
        A, x, b = (
            arb_mat(M.nrows(), M.ncols(), [abs(v) for v in M.entries()])
            for M in (self.A, w, self.b)
        )
        return (self.dimension + 4) * ROUNDOFF * upper(length(A * x + b))

    @cached_property
    def optimum(self) -> tuple[Number, Number]:
        best = self.A.solve(self.b)
        return -inner(self.b, best) / 2, length(best)


class LogisticTarget(_Target):
    """(1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)) + (λ/2)‖w‖² on the rows of a small problem."""

    def __init__(self, problem: Problem, strength: float, name: str = "") -> None:
        self.space, self.n = space_of(problem), problem.n

        def value(w: Floats) -> float:
            losses = np.logaddexp(0, -problem.scores(w))
            return float(losses.mean() + strength / 2 * problem.norm(w) ** 2)

        def gradient(w: Floats) -> Floats:
            pulls = np.exp(-np.logaddexp(0, problem.scores(w)))
            return strength * w - problem.combine(pulls / problem.n)

        smoothness, d = problem.radius**2 / 4 + strength, problem.dimension
        name = f"logistic, λ = {strength:g}" + (f", {name}" if name else "")
        told = {"value": value, "gradient": gradient, "norm": problem.norm}
        super().__init__(name, smoothness, strength, d, **told)
        rows = np.arange(self.n)
        scores = [self.space.exact_scores(e, rows) for e in np.eye(d)]
        #: scores = S w; in a kernel space w has the coefficients of the rows, and S is Gram's.
        self.S = arb_mat([list(row) for row in zip(*scores, strict=True)])
        self.kernel = isinstance(problem, KernelProblem)

    def height(self, w: Column) -> Number:
        losses = [(1 + (-s).exp()).log() for s in (self.S * w).entries()]
        return total(losses) / self.n + self.lam / 2 * self._square(w)

    def slope(self, w: Column) -> Column:
        pulls = [1 / (1 + s.exp()) / self.n for s in (self.S * w).entries()]
        pull = arb_mat(self.n, 1, pulls)
        return w * self.lam - (pull if self.kernel else self.S.transpose() * pull)

    def slip(self, w: Column) -> float:
        here = np.array([middle(v) for v in w.entries()])
        # 1/(1 + eˢ) has slope at most 1/4, and p |ln p| ≤ 1/e bounds what exponents lose.
        if self.kernel:
            pull = min(self.space.score_error(here) / 4, 1.0)
        else:  # row by row; and 1/(1 + eˢ) is nowhere off by more than one
            errors = np.minimum(self.space.score_errors(here) / 4, 1.0) * SAFETY
            pull = self.space.radius * float((errors * self.space.shares).mean()) * SAFETY
        return pull + ROUNDOFF * self.summands(w)

    def summands(self, w: Column) -> float:
        pull = 16.0
        if not self.kernel:
            pull = (2 * self.n + 32) * self.space.radius * float(self.space.shares.mean())
        return pull + 4 * upper(self.lam * length(w))

    def _square(self, w: Column) -> Number:
        return inner(w, self.S * w) if self.kernel else inner(w, w)

    @cached_property
    def optimum(self) -> tuple[Number, Number]:
        """From a point with a tiny gradient: f(w*) ≥ f(w) − ‖∇f(w)‖²/2λ, ‖w − w*‖ ≤ ‖∇f(w)‖/λ."""
        near = column(self._minimise())
        square, height = self._square(self.slope(near)), self.height(near)
        if square == 0:
            return height, sqrt(self._square(near))
        distance = upper(sqrt(square) / self.lam)
        norm = sqrt(self._square(near)) + ball(0.0, distance)
        return between(height - square / (2 * self.lam), height), norm

    def _minimise(self) -> Floats:
        """Nesterov's method in doubles; whatever it returns is only a guess."""
        f = self.function
        root = math.sqrt(f.smoothness / f.strong_convexity)
        w = v = f.origin()
        for _ in range(min(200 + int(40 * root), 10_000)):
            new = v - f.gradient(v) / f.smoothness
            v, w = new + (root - 1) / (root + 1) * (new - w), new
        return np.asarray(w)


class BendTarget(_Target):
    """½λ(w − 1)² + h(w − 1) on the line, where h is (β − λ)u²/2 up to the slope g and straight
    from there on.

    It is nearly straight far from its minimum: one gradient step leaves a sixth of βB² there, the
    most that a convex function can, and hardly less with λ > 0.
    """

    def __init__(self, smoothness: float, strong_convexity: float, slope: float) -> None:
        lam, bend, self.most = strong_convexity, smoothness - strong_convexity, slope

        def gradient(w: Floats) -> Floats:
            u = np.asarray(w) - 1
            return np.asarray(np.clip(bend * u, -slope, slope) + lam * u)

        def value(w: Floats) -> float:
            u = float(w[0]) - 1
            s = float(np.clip(bend * u, -slope, slope))
            return s * u - s * s / (2 * bend) + lam * u * u / 2

        name = f"a bend, β = {smoothness:g}, λ = {lam:g}, slope {slope:g}"
        told = {"value": value, "gradient": gradient, "minimiser": np.ones(1)}
        super().__init__(name, smoothness, lam, 1, **told)

    def _bent(self, w: Column) -> tuple[Number, Number]:
        """u = w − 1 and the slope of h there, a clipped line, which needs no cases."""
        u, g = w[0, 0] - 1, number(self.most)
        return u, ((self.beta - self.lam) * u).max(-g).min(g)

    def height(self, w: Column) -> Number:
        u, s = self._bent(w)
        return s * u - s * s / (2 * (self.beta - self.lam)) + self.lam / 2 * u * u

    def slope(self, w: Column) -> Column:
        u, s = self._bent(w)
        return arb_mat(1, 1, [s + self.lam * u])

    def slip(self, w: Column) -> float:
        # A difference, two products, a clip and a sum.
        return 8 * ROUNDOFF * upper(self.beta * (1 + abs(w[0, 0])))

    @cached_property
    def optimum(self) -> tuple[Number, Number]:
        return number(0), number(1)


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
#: In a search: ½xᵀAx − bᵀx with a diagonal A, and T.
QUADRATIC = {
    "diagonal": rationals(0, 100, positive=True, shape=("d",)),
    "b": rationals(-100, 100, shape=("d",)),
    "T": wholes(1, 90),
}


def targets(case: Case, strength: float) -> Iterator[_Target]:
    """The functions of a case: the logistic risk of its problem, or quadratics."""
    if case.given is not None:
        yield LogisticTarget(case.problem, strength, case.name)
    elif case.inputs is not None:
        diagonal, b, _ = case.inputs.values()
        if any(float(v) != v for v in (*diagonal, *b)):  # as solvers are given them
            raise Unclaimed("a number is not a double")
        yield QuadraticTarget(np.diag([float(v) for v in diagonal]).tolist(), [float(v) for v in b])
    else:
        yield from (QuadraticTarget(A, b) for A, b in _QUADRATICS)
        yield BendTarget(16.0, 1.0, 4.6875)


# Runs

#: T on quadratics, and on the logistic risk of a problem, whose balls are dearer.
STEPS, FEWER = 90, 30
#: Quadratics; the regularised logistic risk of a separable problem, of one that is not, and of one
#: in a reproducing-kernel space.
PROBLEMS = ("", "iris:0,1", "inseparable:n=30,d=3,seed=0", "iris:1,2 --kernel rbf:gamma=0.5")

PLAIN = Method("smooth-gradient-descent", assumes=(small,))
FAST = Method("accelerated-gradient-descent", assumes=(small,))


def runs(case: Case, name: str) -> Iterator[tuple[_Target, list[Any], str]]:
    """Every function of the case with the solver's iterates on it, and what is wrong with them."""
    solver = under_test(case, name)
    for target in targets(case, getattr(solver, "regularisation", 0.1)):
        # Beyond e^{−T/√κ} = 10⁻¹¹ bounds drown in the rounding of the run.
        enough = 25 * upper(sqrt(target.kappa))  # infinite where κ is beyond doubles
        steps = int(min(STEPS if case.given is None else FEWER, enough)) + 1
        if case.inputs is not None:
            steps = int(case.inputs["T"]) + 1
        run = run_of(case, f"run on {target.name}", solver, target.function, case.rng(), steps)
        yield target, run, broken(run, steps, target.dimension)


def rates(
    case: Case, name: str, bounds: Callable[[_Target, int, Number], Iterable[Number]], what: str
) -> Iterator[Relation]:
    """What is left of f after T = 1, 2, … steps, against bounds that depend on f, T and B."""
    for target, run, wrong in runs(case, name):
        if wrong:
            yield fact(False, wrong, where=target.name)
            continue
        best, B = target.optimum
        slip = 0.0
        for it in run:
            w = column(it.w)
            slip += target.step_slip(w)
            # Gradient descent contracts, so errors of steps add up at most (the factor t + 1 is for
            # momentum); and moving w by e moves f(w) by at most ‖∇f(w)‖e + βe²/2.
            e, steepness = slip * (it.t + 1), length(target.slope(w))
            moved = upper(steepness) * e + upper(target.beta) * e * e
            if it.t and (case.inputs is None or it.t == case.inputs["T"]):
                gap = number(0) if known_zero(steepness) else target.height(w) - best
                more = {"allowance": moved + TINY, "where": f"{target.name}, T = {it.t}"}
                for bound in bounds(target, it.t, B):
                    yield at_most(gap, bound, what, **more)
