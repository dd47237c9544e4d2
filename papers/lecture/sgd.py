"""Finite sums in balls: what SGD is tried on, with their minima.

Expected values of SGD.

The lecture's w_t is the iterate t − 1 of the solver, and w̄ its average at t = T − 1. Expectations
are taken over all sample paths where these can be counted, and else estimated from a number of
runs fixed in advance, as a ball that contains the expectation with probability 1 − CHANCE [1]_.
The statements choose paths, horizons and functions, so they are direct.

References
----------
.. [1] A. Maurer and M. Pontil (2009), Empirical Bernstein bounds and sample variance penalization,
   Theorem 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.papers import (
    CHANCE,
    COARSE,
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    Floats,
    Number,
    Relation,
    Trit,
    Unclaimed,
    at_most,
    ball,
    between,
    claimed_numbers,
    fact,
    log,
    middle,
    number,
    separable,
    smallest,
    space_of,
    sqrt,
    steered,
    taken_run,
    total,
    upper,
    within,
)
from gammabar.papers.lecture.linear_algebra import Column, column, fault, length, size_in_doubles
from gammabar.problems import DenseProblem, KernelProblem, Problem
from gammabar.solvers.descent import SGD


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
        squares = (
            [self.space.exact_inner(e, e) for e in np.eye(self.n)]
            if self.kernel
            else [total(v * v for v in self.row(i).entries()) for i in range(self.n)]
        )
        return sqrt(-smallest(-square for square in squares))

    def slopes(self, w: Floats, i: int) -> list[Number]:
        """ℓ'(⟨a_i, w⟩): one, or both sides of a kink that rounding may confuse."""
        (score,) = self.space.exact_scores(w, np.array([i]))
        if self.loss == "logistic":
            return [-1 / (1 + score.exp())]
        off = float(self.space.score_errors(w)[i]) if w.any() else 0.0
        sides = ([number(-1)] if score < 1 + off else [], [number(0)] if score > 1 - off else [])
        return sides[0] + sides[1]

    def unclear(self, w: Floats, i: int) -> bool:
        """Whether nobody can tell on which side of the kink a score is: not rounding, but no digit
        of it is known."""
        off = float(self.space.score_errors(w)[i]) if w.any() else 0.0
        return len(self.slopes(w, i)) > 1 and not off <= COARSE

    def slip(self, w: Floats, eta: Number, i: int | None = None) -> float:
        """How far one step of SGD from w in doubles is from an exact one, at most; along row i, if
        one is named. No slope is off by more than one; of the hinge there are two, both exact."""
        errors, shares = self.space.score_errors(w) * SAFETY, self.space.shares
        slopes = np.minimum(errors / 4, 1.0) * (self.loss == "logistic") + 16 * ROUNDOFF
        rows = np.ones(self.n) if self.kernel else self.space.radius * shares * SAFETY
        chosen = slice(None) if i is None else i
        moved = upper(eta) * float(np.max(rows[chosen]))
        slope = float(np.max(slopes[chosen]))
        size = size_in_doubles(w) + moved
        return 2 * (moved * slope + 8 * ROUNDOFF * size) + TINY

    def step_gap(self, w: Floats, after: Floats, i: int, eta: Number) -> tuple[Number, Number]:
        """‖w_{t+1} − (w_t − η∇ℓ_i(w_t))‖ and ‖η∇ℓ_i(w_t)‖, for the nearer of two slopes."""
        steps = [self.row(i) * (eta * slope) for slope in self.slopes(w, i)]
        gaps = [(length(column(after) - (column(w) - step)), length(step)) for step in steps]
        return gaps[0] if len(gaps) == 1 or gaps[0][0] < gaps[1][0] else gaps[1]


@dataclass(frozen=True)
class Task:
    """A finite sum whose best value in a set H is known, and how long SGD runs on it.

    Attributes
    ----------
    name : str
    rows : tuple of rows a_i
    loss : "hinge" or "logistic"
    best : callable
        Takes nothing and returns min_{w ∈ H} f(w).
    distance : callable
        Takes nothing and returns B, the norm of the w* where it is attained.
    horizons : tuple of int
        T.
    everywhere : bool
        Whether H is the whole space, as in Theorem 3.
    """

    name: str
    rows: tuple[tuple[int, ...], ...]
    loss: str
    best: Callable[[], Number]
    distance: Callable[[], Number]
    horizons: tuple[int, ...]
    everywhere: bool = True

    def sum(self) -> FiniteSum:
        """f."""
        X = np.array(self.rows)
        return FiniteSum(DenseProblem(X, np.ones(len(X), dtype=int)), self.loss)


#: Hinge: a lower bound on f is (1/n) Σ λ_i for any λ in [0, 1]ⁿ with Σ λ_i a_i = 0, since
#: max(0, 1 − s) ≥ λ(1 − s). It is 0 for the first, second and fourth (λ = 0), and 2/3 for the
#: third (λ = (½, ½, 1)): attained at w* = 1, (1, 1), 1 and (1, 1)/7.
TASKS = (
    Task("hinge, a = 1", ((1,),), "hinge", lambda: number(0), lambda: number(1), (1, 2, 4, 9)),
    Task(
        "hinge, a = (1, 0), (0, 1)",
        ((1, 0), (0, 1)),
        "hinge",
        lambda: number(0),
        lambda: sqrt(2),
        (1, 2, 5, 7),
    ),
    Task(
        "hinge, a = 1, 1, −1",
        ((1,), (1,), (-1,)),
        "hinge",
        lambda: number(2) / 3,
        lambda: number(1),
        (1, 2, 3, 5),
    ),
    Task(
        "hinge, a = (3, 4), (4, 3)",
        ((3, 4), (4, 3)),
        "hinge",
        lambda: number(0),
        lambda: sqrt(2) / 7,
        (1, 3, 6),
    ),
    # f' = (1/(1 + e^{−w}) − 2/(1 + e^w))/3 vanishes where e^w = 2.
    Task(
        "logistic, a = 1, 1, −1",
        ((1,), (1,), (-1,)),
        "logistic",
        lambda: (2 * log(number(3) / 2) + log(3)) / 3,
        lambda: log(2),
        (1, 2, 5),
    ),
    # H = [−½, ½]: f falls up to its minimum at 1, so the best of H is ½.
    Task(
        "hinge, a = 1, |w| ≤ ½",
        ((1,),),
        "hinge",
        lambda: number(1) / 2,
        lambda: number(1) / 2,
        (1, 4),
        everywhere=False,
    ),
    Task(
        "hinge, a = 1, 1, −1, |w| ≤ ½",
        ((1,), (1,), (-1,)),
        "hinge",
        lambda: number(5) / 6,
        lambda: number(1) / 2,
        (1, 5),
        everywhere=False,
    ),
)


def column_mean(points: list[Floats]) -> Column:
    """The mean of doubles, exactly."""
    mean = column(points[0])
    for point in points[1:]:
        mean = mean + column(point)
    return arb_mat(mean.nrows(), 1, [v / len(points) for v in mean.entries()])


STOCHASTIC = ("sgd",)

#: Runs of the estimates, fixed in advance: on a problem, and on a sum of two terms.
RUNS, MORE_RUNS = 500, 1000

#: T = 4ρ²/γ̄² there, for which the bound is ½; f(w_1) = 1.
SAMPLED = "planted:n=40,d=3,gamma=0.5,seed=0"


#: Where rounding may be as large as what is averaged.
UNKNOWN = "whether w̄ is the average of the iterates"


def solver_of(case: Case) -> Any:
    """SGD, or what is on trial in its place."""
    return SGD() if case.solver is None else case.solver


def steerable(case: Case) -> str | None:
    """The solver has the options of SGD, so that its paths and horizon can be set."""
    options = ("horizon", "distance", "lipschitz", "loss", "indices")
    missing = [name for name in options if not hasattr(solver_of(case), name)]
    return f"the solver has no option {missing[0]}" if missing else None


def told(it: Any, name: str) -> Any:
    """What SGD must tell about an iterate."""
    if it.extra.get(name) is None:
        raise Unclaimed(f'an iterate of SGD must carry extra["{name}"], see gammabar.solvers.SGD')
    return it.extra[name]


def output(solver: Any, f: FiniteSum, T: int, rng: Any) -> tuple[Floats | None, str]:
    """w̄ after T steps, and what is wrong if there is none."""
    run = taken_run(solver.iterates(f.problem, rng), T)
    if len(run) != T:
        return None, f"the run ends after {len(run)} iterates"
    wrong = next((bad for t, it in enumerate(run) if (bad := fault(it, t, f.dimension))), None)
    average = claimed_numbers(told(run[-1], "average"), (f.dimension,))
    if wrong is not None or isinstance(average, str):
        return None, wrong or f"w̄ {average}"
    same = is_average(average, [it.w for it in run])
    if same is not True:
        return None, "w̄ is not the average of the iterates" if same is False else UNKNOWN
    return average, ""


def average_slip(points: list[Floats]) -> float:
    """How far an average of points in doubles is from the truth, here and there together."""
    size = sum(size_in_doubles(p) for p in points) / len(points)
    return 2 * (len(points) + 4) * ROUNDOFF * size + TINY


def is_average(average: Floats, points: list[Floats]) -> Trit:
    """Whether a claimed average is one, up to rounding."""
    if not any(np.any(p) for p in points):
        return not np.any(average)
    gap = size_in_doubles(average - np.mean(points, axis=0))
    largest = max(size_in_doubles(p) for p in points)
    return within(gap, 2 * average_slip(points), largest)


def _name(f: FiniteSum, B: Number, T: int) -> str:
    """What runs are remembered by; the last digits of B depend on the precision."""
    return f"{f.loss} of {f.problem.digest()}, B = {middle(B):.6g}, T = {T}"


def expectation(case: Case, f: FiniteSum, B: Number, T: int) -> tuple[Number | None, float, str]:
    """E f(w̄) over all n^{T−1} equally likely paths, a bound on its rounding, and what is wrong.

    The index of step T moves w_{T+1} only, which is not in w̄.
    """
    rho = f.lipschitz
    solver = solver_of(case)
    solver = steered(solver, horizon=T, distance=middle(B), lipschitz=middle(rho), loss=f.loss)
    values: list[Number] = []
    eta = B / (rho * sqrt(T))
    slip = 0.0
    for path in product(range(f.n), repeat=T - 1):
        along = steered(solver, indices=path)
        average, wrong = case.remember(
            f"{_name(f, B, T)}, path {path}",
            partial(output, along, f, T, None),
        )
        if average is None:
            return None, 0.0, wrong
        values.append(f.value(average))
        slip = max(slip, f.slip(average, eta))
    # T steps and a mean, each off by the slip, with a factor T for what later steps make of it;
    # f is ρ-Lipschitz. (At a kink rounding may take the other slope: a subgradient as well.)
    return total(values) / len(values), upper(rho) * slip * T * T, ""


def sample(
    solver: Any, f: FiniteSum, B: Number, T: int, runs: int, case: Case
) -> Iterator[tuple[Number | None, str]]:
    """f(w̄) of independent runs with the solver's own random indices."""
    rho = f.lipschitz
    solver = steered(
        solver, horizon=T, distance=middle(B), lipschitz=middle(rho), loss=f.loss, indices=None
    )
    for run in range(runs):
        average, wrong = case.remember(
            f"{_name(f, B, T)}, run {run}",
            partial(output, solver, f, T, case.rng(run)),
        )
        yield (None if average is None else f.quick_value(average)), wrong


def hinge_of(case: Case) -> tuple[FiniteSum, Number, int]:
    """Hinge loss on a separable problem, B and T: w* = ū/γ̄ has loss 0, and B = ‖w*‖ = 1/γ̄."""
    f = FiniteSum(case.problem, "hinge")
    B = 1 / case.gamma
    # Whatever the precision: with another T the solver would be run again.
    return f, B, case.remember("T", lambda: math.ceil(upper(4 * (B * f.lipschitz) ** 2)))


def quickly_sampled(case: Case) -> str | None:
    """A problem, if there is one, on which runs are short enough to be repeated."""
    if case.given is None:
        return None
    wide = "ρ/γ̄ is more than 5: an estimate would need too many runs"
    return separable(case) or (None if case.radius < 5 * case.gamma else wide)


def estimate(case: Case, f: FiniteSum, B: Number, T: int, runs: int) -> tuple[Number | None, str]:
    """E f(w̄) for hinge loss, as a ball that contains it with probability 1 − CHANCE."""
    values = []
    # ‖w_t‖ ≤ ηρ(t − 1), so ρ‖w̄‖ ≤ ηρ²(T − 1)/2 = Bρ(T − 1)/(2√T), and 0 ≤ f(w̄) ≤ 1 + ρ‖w̄‖.
    # In doubles each of T ≤ 10⁵ steps adds a few roundoffs: together less than 10⁻⁹ of it.
    most = 1 + B * f.lipschitz * (T - 1) / (2 * sqrt(T)) * (1 + 1e-9)
    for value, wrong in sample(solver_of(case), f, B, T, runs, case):
        if value is None or value > most:
            return None, wrong or "f(w̄) is larger than T steps of length at most ηρ can make it"
        values.append(value)
    mean = total(values) / runs
    # From above: around zero, Arb's powers and roots are no numbers.
    variance = number(upper(total((v - mean) * (v - mean) for v in values) / (runs - 1)))
    surety = log(4 / number(CHANCE))
    spread = sqrt(2 * variance * surety / runs) + 7 * most * surety / (3 * (runs - 1))
    return mean + ball(0.0, upper(spread)), ""


def judged(
    mean: Number | None,
    best: Number,
    bound: Number,
    what: str,
    where: str,
    wrong: str,
    off: float = 0.0,
) -> Relation:
    """The mean is within a bound of the best value, or else what is wrong with the run."""
    if mean is None:
        return fact(None if wrong == UNKNOWN else False, wrong, where=where)
    return at_most(mean - best, bound, what, where=where, allowance=off)
