"""The project's own checks that the five methods of Tyurin (2024) do what is printed, and rates.

Bounds on the number of iterations leave a wrong step much room. So each step is recomputed from
the iterate before it, as delivered, with a proved bound on the error of that; the solver's own
step may be off by as much. Four times the bound is therefore an honest allowance for their
difference, and no step that is wrong by more than rounding passes.

Bounds on how far the gradient methods are from the perceptrons that they tend to, at every γ, have
their proofs in `gammabar.papers.tyurin_2024.reduction`; that of gb.batch is in
papers/gammabar/PROOFS.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import (
    BATCH,
    LR_GD,
    NORMALIZED,
    only_zeros,
    squared_ratio,
    step_of,
    the_data,
)
from gammabar.papers.tyurin_2024.reduction import Closeness, NormalizedRate

ours = Claims("gb")
#: So many rows that rounding may move are tried in every combination.
FEW = 5
#: What the square of a distance of size one may be off by, per entry; and so many are compared.
SEEN, MANY = 2.0**-48, 256


def _subsets(rows: Mask) -> Iterator[Mask]:
    """All choices of some of the rows."""
    chosen = np.flatnonzero(rows).tolist()
    for size in range(1, len(chosen) + 1):
        for some in combinations(chosen, size):
            mask = np.zeros_like(rows)
            mask[list(some)] = True
            yield mask


def _scores(it: View) -> float:
    """What scores are sums of, in size: the largest norm of a row times the largest entry of w.

    Not a bound of ‖w‖ from above, which never vanishes: rounding is small beside what is there.
    """
    return it.space.least_radius * float(np.abs(it.w).max(initial=0.0))


class Step:
    """Recomputes every iterate from the one before; subclasses say how."""

    def __init__(self, case: Case) -> None:
        self.case, self.space = case, case.space
        #: The step from w_{t−1}, and w_{t−1}.
        self.moved: Vec | None = None
        self.start: Vec | None = None
        self._coming: tuple[Vec, Vec] | None = None
        self.free = self.parts = 0.0
        #: Whether w_{t−1} and the step are 0 without any rounding.
        self.stays = False
        self.least = least(case.space)

    def update(self, it: View) -> None:
        if self._coming is not None:
            self.moved, self.start = self._coming
        self._coming = self.step(it), self.rounded(it)

    def step(self, it: View) -> Vec:
        """w_{t+1} − w_t."""
        raise NotImplementedError

    def rounded(self, it: View) -> Vec:
        """w_t, as a solver may have it."""
        return it.here

    def claim(self, it: View) -> Iterator[Relation]:
        if self.moved is None:
            yield fact(not it.w.any(), "w_0 = 0")
        else:
            yield any_of(self.same(it, step) for step in self.possible(self.moved))

    def possible(self, moved: Vec) -> list[Vec]:
        """The steps that a right solver may have made."""
        return [moved]

    def same(self, it: View, moved: Vec) -> Relation:
        """w_t is w_{t−1} and a step that was recomputed."""
        if (zero := only_zeros(it)) is not None:
            return zero
        assert self.start is not None
        if self.stays:
            return fact(not it.w.any(), "from w = 0 a row that is 0 leads nowhere")
        predicted = self.start + moved
        gap = (it.here - predicted).norm()
        # In a kernel's space the norm of what is nearly nothing is the root of a sum that cancels:
        # what its own ball leaves open is no fault of the step.
        unseen = 2 * float(gap.rad())
        allowed = 4 * predicted.err + 2 * self.free + self.least + unseen
        # A solver may sum anew what w_t is the sum of, and round it once more.
        allowed += 4 * ROUNDOFF * it.here.size()
        # Beside the step in question, however long w_t is; and the rows that it is a sum of.
        parts = it.here.reach() + self.start.reach() + self.parts
        size = size_of(moved.norm(), parts + per_sum(self.space) / ROUNDOFF * moved.reach())
        return equal(gap, 0, "‖w_t − step from w_(t−1)‖", allowance=allowed, size=size)


class _PerceptronStep(Step):
    """The same for methods that halt: what they say then is checked, too."""

    def claim(self, it: View) -> Iterator[Relation]:
        yield from super().claim(it)
        if it.extra.get("halt") == "separated":
            empty = it.separates
            if empty is False and not self._for_certain(it):
                empty = None  # by no more than rounding
            yield fact(empty, "S_t is empty where it halts")

    @staticmethod
    def _for_certain(it: View) -> bool:
        """Whether a row is misclassified by more than rounding, also in w_t or in scores that a
        solver carried along."""
        if (it.score_doubles < -it.score_error).any():
            return True
        exact = not it.w.any() or sums_are_exact(it)
        return exact and bool(misclassified(it)[0].any())


class _Chosen(NamedTuple):
    """The rows of S_t, those whose side rounding may change, and the step with some of them."""

    before: View
    wrong: Mask
    doubtful: Mask
    step: Callable[[Mask], Vec]

    def few(self) -> bool:
        """Whether there are such rows, and not too many to try them all."""
        return 0 < int(self.doubtful.sum()) <= FEW

    def right(self, level: int) -> Vec | None:
        """The step with the rows of S_t as they are exactly; None where that is not known."""
        if not level:
            return None
        rows = np.flatnonzero(self.doubtful)
        scores = self.before.at(level).space.exact_scores(self.before.w, rows)
        if not all(s <= 0 or s > 0 for s in scores):
            return None
        found = self.wrong.copy()
        found[rows] = [bool(s <= 0) for s in scores]
        return self.step(found)


class _SetStep(_PerceptronStep):
    """The same for steps with the rows of S_t.

    A solver that computes in doubles may see a score within rounding of 0 on either side. If few
    rows have such scores, the step must be that with some of them. Where rounding is as large as
    scores are (in data of 10⁻²⁰⁰, all may be), they must be those of S_t, exactly.
    """

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.chosen: _Chosen | None = None
        self._chosen: _Chosen | None = None

    def update(self, it: View) -> None:
        self.free, self.chosen, self._chosen = 0.0, self._chosen, None
        if self.chosen is not None and self.chosen.doubtful.sum() > FEW:
            self.free = self.far(self.chosen)
        super().update(it)

    def far(self, chosen: _Chosen) -> float:
        """How far rows that rounding may move can take the step, where there are many."""
        raise NotImplementedError

    def possible(self, moved: Vec) -> list[Vec]:
        chosen = self.chosen
        if chosen is None or not chosen.few():
            return [moved]
        sets = _subsets(chosen.doubtful)
        return [moved, *(chosen.step(chosen.wrong | some) for some in sets)]

    def claim(self, it: View) -> Iterator[Relation]:
        yield from super().claim(it)
        chosen = self.chosen
        if chosen is None or not chosen.few():
            return
        if chosen.before.score_error <= COARSE * _scores(chosen.before):
            return
        right = chosen.right(it.level)
        known = right is not None and self.same(it, right).certain()
        yield fact(True if known else None, "the step is that with the rows of S_t")


@ours.identity("tyurin.lr-gd.step", "Tyurin (2024), (LR+GD) and (3): the step as printed", LR_GD)
class GradientStep(Step):
    r"""Every iterate of LR+GD is the one before minus γ times the gradient of the mean loss.

    $\theta_{t+1} = \theta_t + \gamma\,\frac{1}{n}\sum_{i=1}^n (1 + \exp(y_i a_i^\top
    \theta_t))^{-1} y_i a_i$"""

    def step(self, it: View) -> Vec:
        return step_of(self.case) / it.n * LogisticWeights(it).pull()


@ours.identity(
    "tyurin.normalized-lr-gd.step",
    "Tyurin (2024), (Normalized LR+GD): the step as printed",
    NORMALIZED,
)
class NormalizedGradientStep(Step):
    r"""Every iterate of Normalized LR+GD is the one before minus γ β_t times the gradient.

    $\theta_{t+1} = \theta_t - \gamma \beta_t \nabla f(\theta_t), \quad \beta_t =
    \left(\frac{1}{n}\sum_{i=1}^n (1 + \exp(y_i a_i^\top \theta_t))^{-1}\right)^{-1}$"""

    def step(self, it: View) -> Vec:
        return step_of(self.case) * LogisticWeights(it).mean()


@ours.identity(
    "tyurin.batch-perceptron.step", "Tyurin (2024), (Batch Perceptron): the step as printed", BATCH
)
class BatchStep(_SetStep):
    r"""The first step of Batch Perceptron takes half of every row, the others every misclassified
    row, over n.

    $\hat\theta_1 = \frac{1}{2n}\sum_{i=1}^n y_i a_i, \quad \hat\theta_{t+1} = \hat\theta_t +
    \frac{1}{n}\sum_{i \in S_t} y_i a_i \text{ while } |S_t| \ne 0$

    A score within rounding of 0 is decided exactly where doubles compute it without rounding;
    elsewhere the step may contain the row or not."""

    def step(self, it: View) -> Vec:
        n = it.n
        if it.t == 0:
            return number(1) / (2 * n) * combination(self.space, np.ones(n))
        wrong, doubtful = misclassified(it)

        def step(rows: Mask) -> Vec:
            return number(1) / n * combination(self.space, np.array(rows))

        self._chosen = _Chosen(it, wrong, doubtful, step)
        return step(wrong)

    def rounded(self, it: View) -> Vec:
        # A solver may carry 2n w_t, of which w_t and w_{t+1} are two roundings.
        return it.vec(it.w, 4 * ROUNDOFF * it.here.size() if it.t else 0.0)

    def far(self, chosen: _Chosen) -> float:
        return self.space.radius * int(chosen.doubtful.sum()) / self.case.n


@ours.identity(
    "tyurin.normalized-batch-perceptron.step",
    "Tyurin (2024), (Normalized Batch Perceptron): the step as printed",
    Method("normalized-batch-perceptron"),
)
class NormalizedBatchStep(_SetStep):
    r"""Every step of Normalized Batch Perceptron takes the mean of the misclassified rows.

    $\hat\theta_{t+1} = \hat\theta_t + \frac{1}{|S_t|}\sum_{i \in S_t} y_i a_i \text{ while } |S_t|
    \ne 0$

    Scores within rounding of 0 as for gb.tyurin.batch-perceptron.step."""

    def step(self, it: View) -> Vec:
        wrong, doubtful = misclassified(it)

        def step(rows: Mask) -> Vec:
            chosen = max(int(rows.sum()), 1)
            return number(1) / chosen * combination(self.space, np.array(rows))

        self._chosen = _Chosen(it, wrong, doubtful, step)
        return step(wrong)

    def far(self, chosen: _Chosen) -> float:
        # The means of S and of S with some of F are |F|/(|S| + |F|) of two means apart.
        rows, more = int(chosen.wrong.sum()), int(chosen.doubtful.sum())
        return 2 * self.space.radius * more / (rows + more)


@ours.identity(
    "tyurin.perceptron.step",
    "Tyurin (2024), (Perceptron): the step as printed",
    Method("perceptron"),
)
class RowStep(_PerceptronStep):
    r"""Every step of the Perceptron adds one row, and one that is misclassified.

    $\hat\theta_{t+1} = \hat\theta_t + y_j a_j \text{ for some } j \in S_t$

    j is the row closest to the step."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.before: View | None = None
        self._now: View | None = None
        self._lengths: Floats | None = None
        #: Norms of the rows that w_t is the sum of.
        self._added_up = 0.0
        self._power = 0

    def update(self, it: View) -> None:
        self.before, self._now = self._now, it
        self.row = None if self.before is None else self._added(self.before, it)
        if self.row is not None:
            self._added_up += self.space.size(self.case.problem.row(self.row))
        # A solver that sums the t rows anew when it halts sums them in another order.
        self.parts = (it.t + it.n) * self._added_up
        self.free = self.parts * ROUNDOFF
        if self.before is None:
            return
        self.start, self.moved = self.before.here, it.vec(np.zeros_like(it.w))
        self.stays = not self.before.w.any()
        if self.row is not None:
            row = self.case.problem.row(self.row)
            self.stays = self.stays and not row.any()
            error = 8 * ROUNDOFF * self.space.size(row)
            self.moved = it.vec(row, error + self.space.lost)

    def claim(self, it: View) -> Iterator[Relation]:
        yield from super().claim(it)
        before = self.before
        if before is None or self.row is None:
            return
        if it.level:
            score: Number = self.space.exact_scores(before.w, np.array([self.row]))[0]
        else:
            score = ball(float(before.score_doubles[self.row]), before.score_error)
        # A solver may carry its scores along: t products with a row, and t sums.
        space, row = self.space, self.case.problem.row(self.row)
        share = float(space.shares[self.row])
        carried = float(space.score_errors(row)[self.row])
        carried += it.t * ROUNDOFF * space.radius * space.radius * share
        allowed = 2 * float(before.score_errors[self.row]) + it.t * carried
        # So often the products of which the score is a sum are rounded.
        parts = 8 * (it.t + 2) * (it.n + space.dimension + 16) * _scores(before) * share
        yield nearly(
            score,
            0,
            "the row that is added is in S_t, up to rounding",
            where=f"row {self.row}",
            rounding=allowed,
            size=size_of(0.0, parts),
            magnitude=space.radius * upper(it.norm),
        )

    def _added(self, before: View, it: View) -> int | None:
        """The row that was added; None if there was none to add."""
        if not np.logical_or(*misclassified(before)).any():
            return None
        problem, step = self.case.problem, it.w - before.w
        said = claimed_row(before.extra.get("i"), it.n)
        # What the solver names saves a pass over the data, and is not believed.
        if said is not None and np.allclose(step, problem.row(said), rtol=1e-6, atol=0):
            return said
        if self._lengths is None:
            norms = np.array([problem.norm(problem.row(i)) for i in range(it.n)])
            # Squares of norms near one neither vanish nor overflow.
            self._power = -int(np.frexp(norms.max())[1])
            self._lengths = np.ldexp(norms, self._power) ** 2
        size = problem.norm(step)
        if not size < 4 * self.space.radius:
            return int(np.argmax(self._lengths))  # it is no row at all
        near_one = np.ldexp(problem.scores(np.ldexp(step, self._power)), self._power)
        distance = self._lengths - 2 * near_one
        # The square of a distance is a difference: those that it cannot tell apart are compared.
        # What is NaN (a coefficient of 1e292 of a row that is 0) tells nothing apart.
        blur = SEEN * (it.n + it.space.dimension + 16)
        close = np.flatnonzero(~(distance > distance.min() + blur))
        gaps = np.array([problem.norm(step - problem.row(int(i))) for i in close[:MANY]])
        nearest = close[: len(gaps)][~(gaps > gaps.min() + self.free)]
        return int(nearest[np.argmin(before.score_doubles[nearest])])


@ours.bound("tyurin.lr-gd.rate", "papers/tyurin_2024/reduction.py, with proof", LR_GD)
class DescentRate(Closeness):
    r"""At every γ, and on any data, LR+GD divided by γ is within E_t(γ) of Batch Perceptron; and
    E_t(γ) → 0 as γ → ∞ if no row lies on a hyperplane of the path.

    $\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t +
    \frac{R}{n}\sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i a_i^\top\hat\theta_t| - R E_t))}$"""


@ours.bound(
    "tyurin.normalized-lr-gd.rate", "papers/tyurin_2024/reduction.py, with proof", NORMALIZED
)
class NormalizedDescentRate(Closeness):
    r"""At every γ, and on any data, Normalized LR+GD divided by γ is within E_t(γ) of Normalized
    Batch Perceptron, until that has separated the data.

    $\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t + 2R\,\min\left(1,
    \frac{T_t}{|S_t| - T_t}\right),\quad T_t = \sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i
    a_i^\top\hat\theta_t| - R E_t))}$"""

    kind = NormalizedRate


@ours.stopping(
    "batch",
    "papers/gammabar/PROOFS.md, gb.batch",
    BATCH,
    separable,
    slower="batch-perceptron/first-step-not-divided",
)
def batch_perceptron(case: Case) -> Any:
    r"""Batch Perceptron separates separable data after at most (n+1)²R²/(4nμ²) iterations.

    $\text{Batch Perceptron solves (1) after at most } \frac{(n+1)^2}{4n}\cdot\frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$

    A quarter of what Theorem 3.3 of Tyurin (2024) prints, for large n: no data use more than
    (n+1)²/(4n²) of that bound."""
    return squared_ratio(case) * (case.n + 1) ** 2 / (4 * case.n)


def staggered_data(case: Case) -> str | None:
    """The data are `staggered` with r = 4d and 8d copies, d ≥ 2."""
    d, other = (case.n + 1) // 9, "it is about the data sets staggered:d=…,r=4d,copies=8d"
    text = f"staggered:d={d},r={4 * d},copies={8 * d}"
    return the_data(case, text, other) if case.n >= 17 else other


@ours.bound(
    "staggered",
    "papers/gammabar/PROOFS.md, gb.staggered",
    Method("normalized-batch-perceptron"),
    staggered_data,
    kind="existence",
    powerless="about data sets on which a method is slow: wrong ones may be faster",
)
def needs_all(it, c):
    r"""On `staggered` with r = 4d and 8d copies, ⌊R²/μ²⌋ = d, and Normalized Batch Perceptron
    separates at t = d and not before.

    $\text{For every } d \ge 2 \text{ there are } 9d - 1 \text{ rows in } \mathbb{R}^d \text{ with }
    \lfloor R^2/\mu^2 \rfloor = d \text{ for which Normalized Batch Perceptron needs } d \text{
    iterations}$

    So R²/μ² in Theorem 5.3 of Tyurin (2024) cannot be improved, whatever its value, and neither can
    the first term of Theorem 6.1, as Normalized LR+GD tends to this method."""
    d, size = (it.n + 1) // 9, 1 + 2 * it.here.size()
    if it.t == 0:
        yield at_least(squared_ratio(c), d, "R²/μ² ≥ d")
        yield below(squared_ratio(c), d + 1, "R²/μ² < d + 1")
    if it.t < d:
        yield at_most(it.smallest, 0, "min_i ⟨a_i, w_t⟩ ≤ 0 for t < d", size=size)
    if it.t == d:
        yield below(0, it.smallest, "min_i ⟨a_i, w_d⟩ > 0", size=size)
