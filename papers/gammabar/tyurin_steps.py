"""The project's own checks that the five methods of Tyurin (2024) do what is printed.

Bounds on the number of iterations leave a wrong step much room. So each step is recomputed from
the iterate before it, as delivered, with a proved bound on the error of that; the solver's own
step may be off by as much. Four times the bound is therefore an honest allowance for their
difference, and no step that is wrong by more than rounding passes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    Case,
    Floats,
    Number,
    Relation,
    Trial,
    Vec,
    View,
    at_most,
    ball,
    claimed_row,
    equal,
    fact,
    number,
    per_iterate,
    upper,
)
from gammabar.papers.tyurin_2024.conventions import SOURCE, has_step, step_of
from gammabar.papers.tyurin_2024.gradients import (
    Logistic,
    combination,
    floats,
    least,
    misclassified,
)


class Step:
    """Recomputes every iterate from the one before; subclasses say how."""

    def __init__(self, case: Case) -> None:
        self.case, self.space = case, case.space
        self.predicted: Vec | None = None
        self._coming: Vec | None = None
        self.free = self._free = 0.0
        self.least = least(case.space)

    def update(self, it: View) -> None:
        self.predicted, self.free = self._coming, self._free
        self._free = 0.0
        self._coming = self.step(it)

    def step(self, it: View) -> Vec:
        """w_{t+1} from w_t; in `_free`, how far rows that rounding may move can take it."""
        raise NotImplementedError

    def claim(self, it: View) -> Iterator[Relation]:
        if self.predicted is None:
            yield fact(not it.w.any(), "w_0 = 0")
            return
        gap = (it.here - self.predicted).norm()
        # In a kernel's space the norm of what is nearly nothing is the root of a sum that cancels:
        # what its own ball leaves open is no fault of the step.
        unseen = 2 * float(gap.rad())
        allowed = 4 * self.predicted.err + 2 * self.free + self.least + unseen
        yield equal(gap, 0, "‖w_t − step from w_(t−1)‖", allowance=allowed)


class PerceptronStep(Step):
    """The same for methods that halt: what they say then is checked, too."""

    def claim(self, it: View) -> Iterator[Relation]:
        yield from super().claim(it)
        if it.extra.get("halt") == "separated":
            wrong, _ = misclassified(it)
            yield fact(not wrong.any(), "S_t is empty where it halts")


@per_iterate(
    "gb.tyurin.lr-gd.step",
    kind="identity",
    reference=f"{SOURCE}, (LR+GD) and (3): the step as printed",
    claim=r"\theta_{t+1} = \theta_t + \gamma\,\frac{1}{n}\sum_{i=1}^n"
    r" (1 + \exp(y_i a_i^\top \theta_t))^{-1} y_i a_i",
    solvers=("lr-gd",),
    assumes=(has_step,),
)
class GradientStep(Step):
    """Every iterate of LR+GD is the one before minus γ times the gradient of the mean loss."""

    def step(self, it: View) -> Vec:
        return it.here + step_of(self.case) / it.n * Logistic(it).pull()


@per_iterate(
    "gb.tyurin.normalized-lr-gd.step",
    kind="identity",
    reference=f"{SOURCE}, (Normalized LR+GD): the step as printed",
    claim=r"\theta_{t+1} = \theta_t - \gamma \beta_t \nabla f(\theta_t), \quad \beta_t = "
    r"\left(\frac{1}{n}\sum_{i=1}^n (1 + \exp(y_i a_i^\top \theta_t))^{-1}\right)^{-1}",
    solvers=("normalized-lr-gd",),
    assumes=(has_step,),
)
class NormalizedGradientStep(Step):
    """Every iterate of Normalized LR+GD is the one before minus γ β_t times the gradient."""

    def step(self, it: View) -> Vec:
        return it.here + step_of(self.case) * Logistic(it).mean()


@per_iterate(
    "gb.tyurin.batch-perceptron.step",
    kind="identity",
    reference=f"{SOURCE}, (Batch Perceptron): the step as printed",
    claim=r"\hat\theta_1 = \frac{1}{2n}\sum_{i=1}^n y_i a_i, \quad \hat\theta_{t+1} = \hat\theta_t"
    r" + \frac{1}{n}\sum_{i \in S_t} y_i a_i \text{ while } |S_t| \ne 0",
    solvers=("batch-perceptron",),
    note="A score within rounding of 0 is decided exactly where doubles compute it without "
    "rounding; elsewhere the step may contain the row or not.",
)
class BatchStep(PerceptronStep):
    """The first step of Batch Perceptron takes half of every row, the others every misclassified
    row, over n."""

    def step(self, it: View) -> Vec:
        n = it.n
        if it.t == 0:
            return it.here + number(1) / (2 * n) * combination(self.space, np.ones(n))
        wrong, doubtful = misclassified(it)
        self._free = self.space.radius * int(doubtful.sum()) / n
        # A solver may carry 2n w_t, of which w_t and w_{t+1} are two roundings.
        rounded = it.vec(it.w, 4 * ROUNDOFF * it.here.size())
        return rounded + number(1) / n * combination(self.space, floats(wrong))


@per_iterate(
    "gb.tyurin.normalized-batch-perceptron.step",
    kind="identity",
    reference=f"{SOURCE}, (Normalized Batch Perceptron): the step as printed",
    claim=r"\hat\theta_{t+1} = \hat\theta_t + \frac{1}{|S_t|}\sum_{i \in S_t} y_i a_i"
    r" \text{ while } |S_t| \ne 0",
    solvers=("normalized-batch-perceptron",),
    note="Scores within rounding of 0 as for gb.tyurin.batch-perceptron.step.",
)
class NormalizedBatchStep(PerceptronStep):
    """Every step of Normalized Batch Perceptron takes the mean of the misclassified rows."""

    def step(self, it: View) -> Vec:
        wrong, doubtful = misclassified(it)
        rows, more = int(wrong.sum()), int(doubtful.sum())
        # The means of S and of S with some of F are |F|/(|S| + |F|) of two means apart.
        self._free = 2 * self.space.radius * more / (rows + more) if more else 0.0
        if not rows:
            return it.vec(it.w)
        return it.here + number(1) / rows * combination(self.space, floats(wrong))


@per_iterate(
    "gb.tyurin.perceptron.step",
    kind="identity",
    reference=f"{SOURCE}, (Perceptron): the step as printed",
    claim=r"\hat\theta_{t+1} = \hat\theta_t + y_j a_j \text{ for some } j \in S_t",
    solvers=("perceptron",),
    note="j is the row closest to the step.",
)
class RowStep(PerceptronStep):
    """Every step of the Perceptron adds one row, and one that is misclassified."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.before: View | None = None
        self._now: View | None = None
        self._lengths: Floats | None = None

    def update(self, it: View) -> None:
        self.before, self._now = self._now, it
        self.row = None if self.before is None else self._added(self.before, it)
        # A solver that sums the t rows anew when it halts sums them in another order.
        self.free = (it.t + it.n) * it.t * ROUNDOFF * self.space.radius
        if self.before is None:
            return
        self.predicted = self.before.here
        if self.row is not None:
            row = self.case.problem.row(self.row)
            self.predicted += it.vec(row, 8 * ROUNDOFF * self.space.radius)

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
        row = self.case.problem.row(self.row)
        carried = self.space.score_error(row) + it.t * ROUNDOFF * self.space.radius**2
        allowed = 2 * before.score_error + it.t * carried
        yield at_most(
            score,
            allowed,
            "the row that is added is in S_t, up to rounding",
            where=f"row {self.row}",
            size=self.space.radius * upper(it.norm),
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
            self._lengths = floats([problem.norm(problem.row(i)) ** 2 for i in range(it.n)])
        distance = self._lengths - 2 * problem.scores(step)
        return int(np.argmin(distance))


TRIALS = (
    Trial("lr-gd:step=0.5", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("lr-gd:step=20", "iris:0,1,2 --multiclass", 40),
    Trial("lr-gd:step=1e6", "inseparable:n=40,d=4,seed=0", 60),
    Trial("normalized-lr-gd:step=0.5", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("normalized-lr-gd:step=20", "iris:0,1,2 --multiclass", 40),
    Trial("normalized-lr-gd:step=1000", "inseparable:n=40,d=4,seed=0", 60),
    Trial("batch-perceptron", "degenerate:kind=zero-row", 40),
    Trial("batch-perceptron", "iris:0,1,2 --multiclass", 60),
    Trial("normalized-batch-perceptron", "inseparable:n=40,d=4,seed=1", 60),
    Trial("normalized-batch-perceptron", "iris:0,1,2 --multiclass", 40),
    Trial("perceptron", "inseparable:n=40,d=4,seed=2", 60),
    Trial("perceptron:choice=worst", "iris:0,1,2 --multiclass", 60),
)
