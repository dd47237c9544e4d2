"""Finite sums in balls, and expected values of SGD on them.

The lecture's w_t is the iterate t − 1 of the solver, and w̄ its average at t = T − 1. Expectations
are taken over all sample paths where these can be counted, and else estimated from a number of
runs fixed in advance (`expected_value`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.papers.claims import *
from gammabar.papers.lecture.quantities import *
from gammabar.problems import DenseProblem, KernelProblem, Problem, rounding


class FiniteSum:
    """f(w) = (1/n) Σ_i ℓ(⟨a_i, w⟩) on the rows of a small problem, in balls."""

    def __init__(self, problem: Problem, loss: str) -> None:
        self.problem, self.loss = problem, loss
        self.n, self.dimension = problem.n, problem.dimension
        self.space = space_of(problem)
        self.kernel = isinstance(problem, KernelProblem)
        self._rows: dict[int, Column] = {}

    def value(self, w: Floats) -> Number:
        """f(w)."""
        scores = self.space.exact_scores(w, np.arange(self.n))
        return total(self._loss(s) for s in scores) / self.n

    def quick_value(self, w: Floats) -> Number:
        """f(w) from doubles, with the error that they may have; losses have slopes up to 1."""
        scores = self.problem.scores(w)
        losses = np.logaddexp(0, -scores) if self.loss == "logistic" else np.maximum(0, 1 - scores)
        mean = float(losses.mean())
        return ball(mean, self.space.score_error(w) + (self.n + 16) * ROUNDOFF * (1 + mean))

    def _loss(self, score: Number) -> Number:
        if self.loss == "logistic":
            return (1 + (-score).exp()).log()
        if score >= 1:
            return number(0)
        return 1 - score if score <= 1 else between(number(0), (1 - score).upper())

    def row(self, i: int) -> Column:
        """a_i in the representation of w."""
        if i not in self._rows:
            unit = [arb(int(j == i)) for j in range(self.n)]
            self._rows[i] = self.space.exact_combination(unit)
        return self._rows[i]

    @cached_property
    def lipschitz(self) -> Number:
        """ρ: the largest norm of a row, since slopes are at most 1."""
        if self.kernel:
            squares = [self.space.exact_inner(e, e) for e in np.eye(self.n)]
        else:
            squares = [total(v * v for v in self.row(i).entries()) for i in range(self.n)]
        return sqrt(-smallest(-square for square in squares))

    def slopes(self, w: Floats, i: int) -> list[Number]:
        """ℓ'(⟨a_i, w⟩): one, or both sides of a kink that rounding may confuse."""
        (score,) = self.space.exact_scores(w, np.array([i]))
        if self.loss == "logistic":
            return [-1 / (1 + score.exp())]
        off = self._off(w, i)
        return [number(-1)] * (score < 1 + off) + [number(0)] * (score > 1 - off)

    def _off(self, w: Floats, i: int) -> float:
        return float(self.space.score_errors(w)[i]) if w.any() else 0.0

    def unclear(self, w: Floats, i: int) -> bool:
        """Whether no digit of a score is known, so that its side of the kink is not known."""
        return len(self.slopes(w, i)) > 1 and not self._off(w, i) <= COARSE

    def slip(self, w: Floats, eta: Number, i: int | None = None) -> float:
        """How far one step of SGD from w in doubles is from an exact one, at most; along row i, if
        one is named. No slope is off by more than one; of the hinge there are two, both exact."""
        errors, shares = self.space.score_errors(w) * SAFETY, self.space.shares
        slopes = np.minimum(errors / 4, 1.0) * (self.loss == "logistic") + 16 * ROUNDOFF
        rows = np.ones(self.n) if self.kernel else self.space.radius * shares * SAFETY
        chosen = slice(None) if i is None else i
        moved = upper(eta) * float(np.max(rows[chosen]))
        size = rounding.length(w) + moved
        return 2 * (moved * float(np.max(slopes[chosen])) + 8 * ROUNDOFF * size) + TINY

    def step_gap(self, w: Floats, after: Floats, i: int, eta: Number) -> tuple[Number, Number]:
        """‖w_{t+1} − (w_t − η∇ℓ_i(w_t))‖ and ‖η∇ℓ_i(w_t)‖, for the nearer of two slopes."""
        steps = [self.row(i) * (eta * slope) for slope in self.slopes(w, i)]
        gaps = [(length(column(after) - (column(w) - step)), length(step)) for step in steps]
        return gaps[0] if len(gaps) == 1 or gaps[0][0] < gaps[1][0] else gaps[1]


@dataclass(frozen=True)
class _Task:
    """A finite sum on some rows, and the T for which SGD runs on it.

    ``optimum()`` is min_{w ∈ H} f(w) and B, the norm of the w* where it is attained; ``everywhere``
    says whether H is the whole space, as in Theorem 3.
    """

    name: str
    loss: str
    rows: tuple[tuple[int, ...], ...]
    optimum: Callable[[], tuple[Any, Any]]
    horizons: tuple[int, ...]
    everywhere: bool = True

    def known(self) -> tuple[FiniteSum, Number, Number]:
        """f, min_{w ∈ H} f(w) and B."""
        X = np.array(self.rows)
        best, B = map(number, self.optimum())
        return FiniteSum(DenseProblem(X, np.ones(len(X), dtype=int)), self.loss), best, B


ONE, TWO, THREE, LONG = ((1,),), ((1, 0), (0, 1)), ((1,), (1,), (-1,)), ((3, 4), (4, 3))
HALF, _SIXTHS = Fraction(1, 2), Fraction(5, 6)
#: Hinge: a lower bound on f is (1/n) Σ λ_i for any λ in [0, 1]ⁿ with Σ λ_i a_i = 0, since
#: max(0, 1 − s) ≥ λ(1 − s). It is 0 for the first, second and fourth (λ = 0), and 2/3 for the
#: third (λ = (½, ½, 1)): attained at w* = 1, (1, 1), 1 and (1, 1)/7. Logistic:
#: f' = (1/(1 + e^{−w}) − 2/(1 + e^w))/3 vanishes where e^w = 2. And H = [−½, ½]: f falls up to its
#: minimum at 1, so the best of H is ½.
TASKS = (
    _Task("hinge, a = 1", "hinge", ONE, lambda: (0, 1), (1, 2, 4, 9)),
    _Task("hinge, a = (1, 0), (0, 1)", "hinge", TWO, lambda: (0, sqrt(2)), (1, 2, 5, 7)),
    _Task("hinge, a = 1, 1, −1", "hinge", THREE, lambda: (number(2) / 3, 1), (1, 2, 3, 5)),
    _Task("hinge, a = (3, 4), (4, 3)", "hinge", LONG, lambda: (0, sqrt(2) / 7), (1, 3, 6)),
    _Task("logistic, a = 1, 1, −1", "logistic", THREE, lambda: (_log_best(), log(2)), (1, 2, 5)),
    _Task("hinge, a = 1, |w| ≤ ½", "hinge", ONE, lambda: (HALF, HALF), (1, 4), False),
    _Task("hinge, a = 1, 1, −1, |w| ≤ ½", "hinge", THREE, lambda: (_SIXTHS, HALF), (1, 5), False),
)


def _log_best() -> Number:
    return (2 * log(number(3) / 2) + log(3)) / 3


# Runs

#: Runs of the estimates, fixed in advance: on a problem, and on a sum of two terms.
RUNS, MORE_RUNS = 500, 1000
#: T = 4ρ²/γ̄² there, for which the bound is ½; f(w_1) = 1.
SAMPLED = "planted:n=40,d=3,gamma=0.5,seed=0"
#: Where rounding may be as large as what is averaged.
UNKNOWN = "whether w̄ is the average of the iterates"


def solver_of(case: Case) -> Any:
    """SGD, or the solver under test."""
    return under_test(case, "sgd")


def steerable(case):
    """The solver has the options of SGD, so that its paths and horizon can be set."""
    options = ("horizon", "distance", "lipschitz", "loss", "indices")
    missing = [name for name in options if not hasattr(solver_of(case), name)]
    return f"the solver has no option {missing[0]}" if missing else None


def quickly_sampled(case):
    """A problem, if there is one, on which runs are short enough to be repeated."""
    if case.given is None:
        return None
    wide = "ρ/γ̄ is more than 5: an estimate would need too many runs"
    return separable(case) or (None if case.radius < 5 * case.gamma else wide)


STOCHASTIC = Method("sgd", assumes=(small, steerable))


def steered_for(case: Case, f: FiniteSum, B: Number, T: int, **more: Any) -> Any:
    """The solver with the step of Theorem 3 for T steps on f."""
    options = {"distance": middle(B), "lipschitz": middle(f.lipschitz), "loss": f.loss}
    return steered(solver_of(case), horizon=T, **options, **more)


def said_by(it: Any, name: str) -> Any:
    """What SGD must tell about an iterate."""
    if it.extra.get(name) is None:
        raise Unclaimed(f'an iterate of SGD must carry extra["{name}"], see gammabar.solvers.SGD')
    return it.extra[name]


def _output(solver: Any, f: FiniteSum, T: int, rng: Any) -> tuple[Floats | None, str]:
    """w̄ after T steps, and what is wrong if there is none."""
    run = taken_run(solver.iterates(f.problem, rng), T)
    if wrong := broken(run, T, f.dimension):
        return None, wrong
    average = claimed_numbers(said_by(run[-1], "average"), (f.dimension,))
    if isinstance(average, str):
        return None, f"w̄ {average}"
    points = [it.w for it in run]
    same: Trit = not np.any(average)
    if np.any(points):  # up to rounding
        gap = rounding.length(average - np.mean(points, axis=0))
        same = within(gap, 2 * average_slip(points), max(map(rounding.length, points)))
    if same:
        return average, ""
    return None, UNKNOWN if same is None else "w̄ is not the average of the iterates"


def average_slip(points: list[Floats]) -> float:
    """How far an average of points in doubles is from the truth, here and there together."""
    size = sum(map(rounding.length, points)) / len(points)
    return 2 * (len(points) + 4) * ROUNDOFF * size + TINY


def column_mean(points: list[Floats]) -> Column:
    """The mean of doubles, exactly."""
    whole = sum((column(point) for point in points[1:]), column(points[0]))
    return arb_mat(whole.nrows(), 1, [v / len(points) for v in whole.entries()])


def _name(f: FiniteSum, B: Number, T: int) -> str:
    """What runs are remembered by; the last digits of B depend on the precision."""
    return f"{f.loss} of {f.problem.digest()}, B = {middle(B):.6g}, T = {T}"


def expectation(case: Case, f: FiniteSum, B: Number, T: int) -> tuple[Number | None, str, float]:
    """E f(w̄) over all n^{T−1} equally likely paths, what is wrong, and a bound on its rounding.

    The index of step T moves w_{T+1} only, which is not in w̄.
    """
    values: list[Number] = []
    eta, slip = B / (f.lipschitz * sqrt(T)), 0.0
    for path in product(range(f.n), repeat=T - 1):
        along = partial(_output, steered_for(case, f, B, T, indices=path), f, T, None)
        average, wrong = case.remember(f"{_name(f, B, T)}, path {path}", along)
        if average is None:
            return None, wrong, 0.0
        values.append(f.value(average))
        slip = max(slip, f.slip(average, eta))
    # T steps and a mean, each off by the slip, with a factor T for what later steps make of it;
    # f is ρ-Lipschitz. (At a kink rounding may take the other slope: a subgradient as well.)
    return total(values) / len(values), "", upper(f.lipschitz) * slip * T * T


def estimate(case: Case, f: FiniteSum, B: Number, T: int, runs: int) -> tuple[Number | None, str]:
    """E f(w̄) for hinge loss, as a ball that contains it with probability 1 − CHANCE."""
    values = []
    # ‖w_t‖ ≤ ηρ(t − 1), so ρ‖w̄‖ ≤ ηρ²(T − 1)/2 = Bρ(T − 1)/(2√T), and 0 ≤ f(w̄) ≤ 1 + ρ‖w̄‖.
    # In doubles each of T ≤ 10⁵ steps adds a few roundoffs: together less than 10⁻⁹ of it.
    most = 1 + B * f.lipschitz * (T - 1) / (2 * sqrt(T)) * (1 + 1e-9)
    solver = steered_for(case, f, B, T, indices=None)
    for k in range(runs):
        make = partial(_output, solver, f, T, case.rng(k))
        average, wrong = case.remember(f"{_name(f, B, T)}, run {k}", make)
        value = None if average is None else f.quick_value(average)
        if value is None or value > most:
            return None, wrong or "f(w̄) is larger than T steps of length at most ηρ can make it"
        values.append(value)
    return expected_value(values, most), ""


def hinge_of(case: Case) -> tuple[FiniteSum, Number, int]:
    """Hinge loss on a separable problem, B and T: w* = ū/γ̄ has loss 0, and B = ‖w*‖ = 1/γ̄."""
    f = FiniteSum(case.problem, "hinge")
    B = 1 / case.gamma
    # Whatever the precision: with another T the solver would be run again.
    return f, B, case.remember("T", lambda: math.ceil(upper(4 * (B * f.lipschitz) ** 2)))


def compared(found: Any, best: Any, bound: Number, what: str, where: str) -> Relation:
    """An expectation is within a bound of the best value, or else what is wrong with the run."""
    mean, wrong, *off = found
    if mean is None:
        return fact(None if wrong == UNKNOWN else False, wrong, where=where)
    return at_most(mean - best, bound, what, where=where, allowance=sum(off, 0.0))
