"""Finite sums in balls: what SGD is tried on, with their minima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb, arb_mat

from gammabar.papers import (
    COARSE,
    ROUNDOFF,
    SAFETY,
    TINY,
    Floats,
    Number,
    ball,
    between,
    log,
    number,
    smallest,
    space_of,
    sqrt,
    total,
    upper,
)
from gammabar.papers.lecture.columns import Column, column, length, size_in_doubles
from gammabar.problems import DenseProblem, KernelProblem, Problem


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
