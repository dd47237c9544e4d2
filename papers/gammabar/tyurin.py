"""The project's own checks that the five methods of Tyurin (2024) do what is printed, and rates.

Bounds on the number of iterations leave a wrong step much room. So each step is recomputed from
the iterate before it, as delivered, and no step that is wrong by more than rounding passes.

Bounds on how far the gradient methods are from the perceptrons that they tend to, at every γ, have
their proofs in `gammabar.papers.tyurin_2024.reduction`; that of gb.batch is in
papers/gammabar/PROOFS.md.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from itertools import combinations
from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *
from gammabar.papers.tyurin_2024.reduction import NormalizedRate, Rate, closeness

ours = Claims("gb")
#: So many rows that rounding may move are tried in every combination.
FEW = 5
#: What the square of a distance of size one may be off by, per entry; and so many are compared.
SEEN, MANY = 2.0**-48, 256


def _steps(identifier: str, *about: Any, halts: bool = False) -> Any:
    """Declare a claim ``(now, before, c)`` about each step of a method that starts at 0.

    What a method that halts says then is checked, too.
    """

    def register(claim: Any) -> Any:
        @wraps(claim)
        def body(now, before, c):
            if before is None:
                yield fact(not now.w.any(), "w_0 = 0")
            else:
                yield from claim(now, before, c)
            if halts and now.extra.get("halt") == "separated":
                yield fact(_empty(now), "S_t is empty where it halts")

        ours.step(identifier, *about)(body)
        return claim

    return register


def _empty(it: View) -> Trit:
    """Whether S_t is empty; None where rounding, of w_t or of scores carried along, may say so."""
    if it.separates is not False or (it.score_doubles < -it.score_error).any():
        return it.separates
    exact = not it.w.any() or sums_are_exact(it)
    return False if exact and bool(misclassified(it)[0].any()) else None


def _moved(
    now: View, before: View, step: Vec, more: float = 0.0, *, summed: bool = True
) -> Relation:
    """w_t is w_{t−1} and a step."""
    if (zero := only_zeros(now)) is not None:
        return zero
    what = "‖w_t − step from w_(t−1)‖"
    return moved(now.here, before.here, step, what, more + least(now.space), summed=summed)


@_steps("tyurin.lr-gd.step", "Tyurin (2024), (LR+GD) and (3): the step as printed", LR_GD)
def _gradient_step(now, before, c):
    r"""Every iterate of LR+GD is the one before minus γ times the gradient of the mean loss.

    $\theta_{t+1} = \theta_t + \gamma\,\frac{1}{n}\sum_{i=1}^n (1 + \exp(y_i a_i^\top
    \theta_t))^{-1} y_i a_i$"""
    yield _moved(now, before, step_of(c) / c.n * LogisticWeights(before).pull())


@_steps(
    "tyurin.normalized-lr-gd.step",
    "Tyurin (2024), (Normalized LR+GD): the step as printed",
    NORMALIZED,
)
def _normalized_gradient_step(now, before, c):
    r"""Every iterate of Normalized LR+GD is the one before minus γ β_t times the gradient.

    $\theta_{t+1} = \theta_t - \gamma \beta_t \nabla f(\theta_t), \quad \beta_t =
    \left(\frac{1}{n}\sum_{i=1}^n (1 + \exp(y_i a_i^\top \theta_t))^{-1}\right)^{-1}$"""
    yield _moved(now, before, step_of(c) * LogisticWeights(before).mean())


def _with_mistakes(
    now: View, before: View, step: Callable[[Mask], Vec], far: Callable[[int, int], float]
) -> Iterator[Relation]:
    """The step is that with the rows of S_t.

    A solver that computes in doubles may see a score within rounding of 0 on either side. If few
    rows have such scores, the step must be that with some of them; where there are many, it may be
    `far` off, a function of the numbers of certain and of doubtful rows. Where rounding is as large
    as scores are (in data of 10⁻²⁰⁰, all may be), they must be those of S_t, exactly.
    """
    wrong, doubtful = misclassified(before)
    count = int(doubtful.sum())
    more = 0.0 if count <= FEW else far(int(wrong.sum()), count)
    sets = [wrong, *(wrong | some for some in _subsets(doubtful))] if count <= FEW else [wrong]
    yield any_of(_moved(now, before, step(rows), more) for rows in sets)
    if 0 < count <= FEW and before.score_error > COARSE * _scores(before):
        exact = _mistakes(before, wrong, doubtful) if now.level else None
        known = exact is not None and _moved(now, before, step(exact)).certain()
        yield fact(True if known else None, "the step is that with the rows of S_t")


def _subsets(rows: Mask) -> Iterator[Mask]:
    """All choices of some of the rows."""
    chosen = np.flatnonzero(rows).tolist()
    for size in range(1, len(chosen) + 1):
        for some in combinations(chosen, size):
            yield np.isin(np.arange(len(rows)), some)


def _scores(it: View) -> float:
    """What scores are sums of, in size: the largest norm of a row times the largest entry of w.

    Not a bound of ‖w‖ from above, which never vanishes: rounding is small beside what is there.
    """
    return it.space.least_radius * float(np.abs(it.w).max(initial=0.0))


def _mistakes(it: View, wrong: Mask, doubtful: Mask) -> Mask | None:
    """The rows of S_t as they are exactly; None where that is not known."""
    rows, found = np.flatnonzero(doubtful), wrong.copy()
    scores = it.space.exact_scores(it.w, rows)
    found[rows] = [bool(s <= 0) for s in scores]
    return found if all(s <= 0 or s > 0 for s in scores) else None


@_steps(
    "tyurin.batch-perceptron.step",
    "Tyurin (2024), (Batch Perceptron): the step as printed",
    BATCH,
    halts=True,
)
def _batch_step(now, before, c):
    r"""The first step of Batch Perceptron takes half of every row, the others every misclassified
    row, over n.

    $\hat\theta_1 = \frac{1}{2n}\sum_{i=1}^n y_i a_i, \quad \hat\theta_{t+1} = \hat\theta_t +
    \frac{1}{n}\sum_{i \in S_t} y_i a_i \text{ while } |S_t| \ne 0$

    A score within rounding of 0 is decided exactly where doubles compute it without rounding;
    elsewhere the step may contain the row or not."""
    space, n = now.space, now.n
    if before.t == 0:
        yield _moved(now, before, number(1) / (2 * n) * combination(space, np.ones(n)))
        return

    def step(rows):
        return number(1) / n * combination(space, np.array(rows))

    yield from _with_mistakes(now, before, step, lambda _, doubtful: space.radius * doubtful / n)


@_steps(
    "tyurin.normalized-batch-perceptron.step",
    "Tyurin (2024), (Normalized Batch Perceptron): the step as printed",
    Method("normalized-batch-perceptron"),
    halts=True,
)
def _normalized_batch_step(now, before, c):
    r"""Every step of Normalized Batch Perceptron takes the mean of the misclassified rows.

    $\hat\theta_{t+1} = \hat\theta_t + \frac{1}{|S_t|}\sum_{i \in S_t} y_i a_i \text{ while } |S_t|
    \ne 0$

    Scores within rounding of 0 as for gb.tyurin.batch-perceptron.step."""

    def step(rows):
        return number(1) / max(int(rows.sum()), 1) * combination(now.space, np.array(rows))

    # The means of S and of S with some of F are |F|/(|S| + |F|) of two means apart.
    yield from _with_mistakes(
        now, before, step, lambda rows, more: 2 * now.space.radius * more / (rows + more)
    )


class _Added:
    """The row that each step adds, and the norms of all that were added."""

    def __init__(self, case: Case) -> None:
        self.case, self.total = case, 0.0
        self.row: int | None = None
        self._now: View | None = None

    def update(self, it: View) -> None:
        before, self._now = self._now, it
        self.row = None if before is None else self._added(before, it)
        if self.row is not None:
            self.total += it.space.size(self.case.problem.row(self.row))

    def off(self, it: View) -> float:
        """What a solver may be off that sums the t rows anew, in another order, when it halts."""
        return (it.t + it.n) * self.total * ROUNDOFF

    @cached_property
    def _lengths(self) -> tuple[Floats, int]:
        """‖a_i‖² of rows times a power of two: squares of norms near one neither vanish nor
        overflow."""
        problem = self.case.problem
        norms = np.array([problem.norm(problem.row(i)) for i in range(self.case.n)])
        power = -int(np.frexp(norms.max())[1])
        return np.ldexp(norms, power) ** 2, power

    def _added(self, before: View, it: View) -> int | None:
        """The row that was added; None if there was none to add."""
        if not np.logical_or(*misclassified(before)).any():
            return None
        problem, step = self.case.problem, it.w - before.w
        said = claimed_row(before.extra.get("i"), it.n)
        # What the solver names saves a pass over the data, and is not believed.
        if said is not None and np.allclose(step, problem.row(said), rtol=1e-6, atol=0):
            return said
        lengths, power = self._lengths
        if not problem.norm(step) < 4 * it.space.radius:
            return int(np.argmax(lengths))  # it is no row at all
        near_one = np.ldexp(problem.scores(np.ldexp(step, power)), power)
        distance = lengths - 2 * near_one
        # The square of a distance is a difference: those that it cannot tell apart are compared.
        # What is NaN (a coefficient of 1e292 of a row that is 0) tells nothing apart.
        blur = SEEN * (it.n + it.space.dimension + 16)
        close = np.flatnonzero(~(distance > distance.min() + blur))
        gaps = np.array([problem.norm(step - problem.row(int(i))) for i in close[:MANY]])
        nearest = close[: len(gaps)][~(gaps > gaps.min() + self.off(it))]
        return int(nearest[np.argmin(before.score_doubles[nearest])])


@_steps(
    "tyurin.perceptron.step",
    "Tyurin (2024), (Perceptron): the step as printed",
    Method("perceptron"),
    _Added,
    halts=True,
)
def _row_step(now, before, c):
    r"""Every step of the Perceptron adds one row, and one that is misclassified.

    $\hat\theta_{t+1} = \hat\theta_t + y_j a_j \text{ for some } j \in S_t$

    j is the row closest to the step."""
    seen = c.history(_Added)
    row, nothing = seen.row, now.vec(np.zeros_like(now.w))
    if not before.w.any() and (row is None or not c.problem.row(row).any()):
        yield fact(not now.w.any(), "from w = 0 a row that is 0 leads nowhere")
    else:
        step = nothing if row is None else row_vector(before, row)
        yield _moved(now, before, step, seen.off(now), summed=row is None)
    if row is not None:
        yield is_misclassified(before, row, "the row that is added is in S_t, up to rounding")


@ours.bound("tyurin.lr-gd.rate", "papers/tyurin_2024/reduction.py, with proof", LR_GD, Rate)
def _descent_rate(it, c):
    r"""At every γ, and on any data, LR+GD divided by γ is within E_t(γ) of Batch Perceptron; and
    E_t(γ) → 0 as γ → ∞ if no row lies on a hyperplane of the path.

    $\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t +
    \frac{R}{n}\sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i a_i^\top\hat\theta_t| - R E_t))}$"""
    return closeness(it, c.history(Rate))


@ours.bound(
    "tyurin.normalized-lr-gd.rate",
    "papers/tyurin_2024/reduction.py, with proof",
    NORMALIZED,
    NormalizedRate,
)
def _normalized_descent_rate(it, c):
    r"""At every γ, and on any data, Normalized LR+GD divided by γ is within E_t(γ) of Normalized
    Batch Perceptron, until that has separated the data.

    $\|\theta_t/\gamma - \hat\theta_t\| \le E_t(\gamma),\quad E_{t+1} = E_t + 2R\,\min\left(1,
    \frac{T_t}{|S_t| - T_t}\right),\quad T_t = \sum_{i=1}^n \frac{1}{1 + \exp(\gamma(|y_i
    a_i^\top\hat\theta_t| - R E_t))}$"""
    return closeness(it, c.history(NormalizedRate))


@ours.stopping(
    "batch", "papers/gammabar/PROOFS.md, gb.batch", BATCH, separable, slower=WHOLE_FIRST_STEP
)
def _batch_perceptron(case: Case) -> Any:
    r"""Batch Perceptron separates separable data after at most (n+1)²R²/(4nμ²) iterations.

    $\text{Batch Perceptron solves (1) after at most } \frac{(n+1)^2}{4n}\cdot\frac{R^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$

    A quarter of what Theorem 3.3 of Tyurin (2024) prints, for large n: no data use more than
    (n+1)²/(4n²) of that bound."""
    return case.mistake_bound * (case.n + 1) ** 2 / (4 * case.n)


def _staggered_data(case: Case) -> str | None:
    """The data are `staggered` with r = 4d and 8d copies, d ≥ 2."""
    d, other = (case.n + 1) // 9, "it is about the data sets staggered:d=…,r=4d,copies=8d"
    text = f"staggered:d={d},r={4 * d},copies={8 * d}"
    return the_data(case, text, other) if case.n >= 17 else other


@ours.bound(
    "staggered",
    "papers/gammabar/PROOFS.md, gb.staggered",
    Method("normalized-batch-perceptron"),
    _staggered_data,
    kind="existence",
    powerless="about data sets on which a method is slow: wrong ones may be faster",
)
def _needs_all(it, c):
    r"""On `staggered` with r = 4d and 8d copies, ⌊R²/μ²⌋ = d, and Normalized Batch Perceptron
    separates at t = d and not before.

    $\text{For every } d \ge 2 \text{ there are } 9d - 1 \text{ rows in } \mathbb{R}^d \text{ with }
    \lfloor R^2/\mu^2 \rfloor = d \text{ for which Normalized Batch Perceptron needs } d \text{
    iterations}$

    So R²/μ² in Theorem 5.3 of Tyurin (2024) cannot be improved, whatever its value, and neither can
    the first term of Theorem 6.1, as Normalized LR+GD tends to this method."""
    d, size = (it.n + 1) // 9, 1 + 2 * it.here.size()
    if it.t == 0:
        yield at_least(c.mistake_bound, d, "R²/μ² ≥ d")
        yield below(c.mistake_bound, d + 1, "R²/μ² < d + 1")
    if it.t < d:
        yield at_most(it.smallest, 0, "min_i ⟨a_i, w_t⟩ ≤ 0 for t < d", size=size)
    if it.t == d:
        yield below(0, it.smallest, "min_i ⟨a_i, w_d⟩ > 0", size=size)
