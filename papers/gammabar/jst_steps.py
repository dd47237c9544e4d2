"""The project's own checks that the methods of the first paper's figures do what is printed.

Their sources state no rate that could be checked, or one that a wrong step need not violate: so
each step is recomputed from the iterate before it. What is compared are doubles, and both the
solver's step and the one recomputed here are off by rounding: the allowance is a proved bound on
the error of the recomputed one, four times over, which covers any order of summation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Fault,
    Floats,
    Relation,
    Trit,
    Vec,
    View,
    at_most,
    ball,
    claimed_numbers,
    claimed_row,
    equal,
    exp,
    fact,
    log,
    number,
    option,
    per_iterate,
    positive,
    size_of,
    sqrt,
)
from gammabar.papers.gammabar.ties import tied, told_apart

PRINTED = "the step as printed"


def says_step(case: Case) -> str | None:
    """The solver says its step, a positive number."""
    return None if positive(case, "step") is not None else "the solver does not say its step"


def same(it: View, before: Vec, step: Vec, what: str) -> Relation:
    """w_t is what the step makes of the iterate before it."""
    predicted = before + step
    gap = it.vec(it.w - predicted.mid).norm()
    # The subtraction of the two is rounded as well.
    allowed = 4 * predicted.err + 8 * ROUNDOFF * predicted.size()
    # Beside the step that is on trial, however long w_t is.
    size = size_of(step.norm(), it.here.reach() + before.reach())
    return equal(gap, 0, what, allowance=allowed, size=size)


def combination(it: View, weights: Any, relative: float) -> Vec:
    """Aᵀv for weights in doubles that may be off by a relative error each."""
    mass = float(np.abs(weights).sum()) * SAFETY
    error = it.space.radius * mass * (relative + ROUNDOFF * (it.n + it.space.dimension + 16))
    return it.vec(it.case.problem.combine(weights), error * SAFETY)


class _Step:
    """Remembers the step to the next iterate."""

    def __init__(self, case: Case) -> None:
        self.case = case
        #: w_{t−1}, and the step from there.
        self.before: tuple[Vec, Vec] | None = None
        self._now: tuple[Vec, Vec] | None = None

    def update(self, it: View) -> None:
        self.before, self._now = self._now, (it.here, self.step(it))

    def step(self, it: View) -> Vec:
        """w_{t+1} − w_t."""
        raise NotImplementedError

    def claim(self, it: View) -> Relation | None:
        if self.before is None:
            return None
        return same(it, *self.before, f"w_t is the step from w_(t−1), t = {it.t}")


@per_iterate(
    "gb.jst.gd.step",
    kind="identity",
    reference=f"Ji, Srebro and Telgarsky (2021), Section 3.1: {PRINTED}",
    claim=r"w_{t+1} = w_t - \eta \nabla \mathcal{R}(w_t)",
    solvers=("gradient-descent",),
    assumes=(says_step,),
    since=1,
    unit=True,
)
class GradientStep(_Step):
    """Every iterate of gradient descent is the one before minus η times the gradient of R."""

    def step(self, it: View) -> Vec:
        solver, n = self.case.solver, it.n
        if getattr(solver, "loss", "exponential") == "exponential":
            pull = it.pull * (number(float(solver.step)) * exp(it.psi) / n)
        else:
            scores = it.score_doubles
            sigma = expit(-scores)  # moves by a factor of at most exp(e) if a score is off by e
            relative = 1.1 * it.score_error + 8 * ROUNDOFF * (1 + float(np.abs(scores).max()))
            pull = combination(it, sigma, relative) * (number(float(solver.step)) / n)
        return pull


@per_iterate(
    "gb.jst.ngd.step",
    kind="identity",
    reference=f"Ji, Srebro and Telgarsky (2021), Section 1: {PRINTED}",
    claim=r"w_{t+1} = w_t - \theta_t \nabla\mathcal{R}(w_t)/\mathcal{R}(w_t)",
    solvers=("normalized-gradient-descent",),
    assumes=(says_step,),
    since=1,
    unit=True,
)
class NormalizedStep(_Step):
    """Every iterate is the one before minus θ_t times the gradient divided by the risk."""

    def step(self, it: View) -> Vec:
        theta = number(float(self.case.solver.step))
        if getattr(self.case.solver, "decay", False):
            theta = theta / sqrt(it.t + 1)
        return it.pull * theta


@per_iterate(
    "gb.jst.cotter.step",
    kind="identity",
    reference="Cotter, Shalev-Shwartz and Srebro (2012), as used in Figures 1 to 3",
    claim=r"v_{t+1} = \Pi\left(v_t + \tfrac{1}{\sqrt{t+1}} a_i\right),\ "
    r"i \in \arg\min_i \langle a_i, v_t\rangle,\ w_{t+1} = \tfrac{1}{t+1}\sum_{s=1}^{t+1} v_s",
    solvers=("batch-perceptron-cotter",),
    assumes=(says_step,),
    unit=True,
)
class AscentStep:
    """Every point is the projected supergradient step from the one before, along a row of smallest
    score; and the iterates are the averages of the points."""

    def __init__(self, case: Case) -> None:
        self.case = case
        #: v_{t−1}, and what the step makes of it.
        self.point: tuple[Vec, Vec] | None = None
        self._next: tuple[Vec, Vec] | None = None
        self.total: Vec | None = None
        #: What points and steps were as long as so far.
        self.scale = 0.0

    def update(self, it: View) -> None:
        self.point, self.before = self._next, self.scale
        v, i = self._point(it), row_of(it)
        if it.t:
            self.total = v if self.total is None else self.total + v
        a = row_vector(it, i)
        step = a * (number(float(self.case.solver.step)) / sqrt(it.t + 1))
        u = v + step
        self.scale = max(self.scale, v.reach() + step.reach())
        length = u.norm()
        # A norm that may or may not exceed one leaves two candidates; the ball covers both.
        self._next = v, u * (1 / length.max(number(1)))
        self.chosen, self.v = i, v

    def _point(self, it: View) -> Vec:
        """v_t as the solver says it."""
        v = claimed_numbers(it.claim("v"), it.w.shape)
        if isinstance(v, str):
            raise Fault(f"v of t = {it.t} {v}")
        return it.vec(v)

    def claim(self, it: View) -> list[Relation]:
        out = [fact(self._smallest(it), "the row that is added has the smallest score")]
        if self.point is not None:
            start, point = self.point
            delta = it.vec(self.v.mid - point.mid).norm()
            # ‖u‖² too is kept by addition; it matters where a point may be longer than one.
            parts = (it.t + 1) * (it.space.dimension + 8) * self.before * max(self.before, 1.0)
            allowed = 4 * point.err + 32 * ROUNDOFF * parts
            size = size_of((point - start).norm(), parts)
            out.append(equal(delta, 0, "v_t is the projected step", allowance=allowed, size=size))
        if self.total is not None and getattr(self.case.solver, "averaged", True):
            mean = self.total * (number(1) / it.t)
            gap_mean = it.vec(it.w - mean.mid).norm()
            allowed = 4 * mean.err + 8 * ROUNDOFF * (it.t + 1) * mean.size()
            what = "w_t is the mean of v_1, …, v_t"
            size = size_of(mean.norm(), (it.t + 1) * mean.reach())
            out.append(equal(gap_mean, 0, what, allowance=allowed, size=size))
        elif it.t:
            out.append(fact(bool(np.array_equal(it.w, self.v.mid)), "w_t is v_t"))
        return out

    def _smallest(self, it: View) -> Trit:
        """Whether the row that was chosen has the smallest score of v_t, up to rounding.

        Where rounding cannot tell scores apart, it is asked exactly.
        """
        if not self.v.mid.any():
            return True  # all scores are 0
        scores, space = self.case.problem.scores(self.v.mid), self.case.space
        # The solver keeps its scores by addition: t roundings of what they were as large as.
        parts = (it.t + 1) * (it.n + space.dimension) * self.before * space.radius * space.shares
        off = 2 * space.score_errors(self.v.mid) + 8 * ROUNDOFF * parts
        if self.chosen not in tied(scores, off):
            return False
        known = told_apart(scores, off, parts)
        if known is None and it.level:
            exact = space.exact_scores(self.v.mid, np.arange(it.n))
            known = True if all(exact[self.chosen] <= s for s in exact) else None
        return known


@per_iterate(
    "gb.jst.sampling.step",
    kind="identity",
    reference=f"Ji, Srebro and Telgarsky (2021), Algorithm 2: {PRINTED}",
    claim=r"g_t = \beta_t (g_{t-1} + z_{i_t}),\ w_{t+1} = w_t - \theta_t (g_t + z_{i_t}),\ "
    r"q_t \propto \exp(Z w_t)",
    solvers=("adaptive-sampling",),
    assumes=(says_step,),
    unit=True,
)
class SamplingStep:
    """Every iterate of Algorithm 2 follows from the one before and the row that was drawn, and the
    weights that it is drawn from are the softmax of the scores."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.momentum: Vec | None = None
        #: w_{t−1}, and the step from there.
        self.before: tuple[Vec, Vec] | None = None
        self._now: tuple[Vec, Vec] | None = None

    def update(self, it: View) -> None:
        self.before, i = self._now, row_of(it)
        a = row_vector(it, i)
        beta = number(it.t) / (it.t + 1) if getattr(self.case.solver, "momentum", True) else 0
        before = it.vec(np.zeros_like(it.w)) if self.momentum is None else self.momentum
        self.momentum = (before + a) * beta
        self._now = it.here, (self.momentum + a) * number(float(self.case.solver.step))

    def claim(self, it: View) -> list[Relation]:
        out = []
        if self.before is not None:
            out.append(same(it, *self.before, f"w_t is the step from w_(t−1), t = {it.t}"))
        scores = it.score_doubles
        weights = softmax_of(it)
        # Scores that are kept by addition in t steps, and the exponential of them.
        size = float(np.abs(scores).max()) + (it.t + 1) * float(self.case.solver.step)
        drift = it.score_error if it.w.any() else 0.0
        drift += 4 * ROUNDOFF * it.t * size * (it.space.dimension + 8)
        allowed = 4 * drift + 8 * ROUNDOFF * (it.n + 8)
        given = claimed_numbers(it.claim("dual"), weights.shape)
        if isinstance(given, str):
            return [fact(False, f"q_t {given}")]
        # Weight by weight: to rows that are hardly ever drawn no other weights belong, either.
        seen = weights > 2.0**-960
        gap = float(np.max(np.abs(given - weights)[seen] / weights[seen], initial=0.0))
        gap = max(gap, float(np.abs(given)[~seen].max(initial=0.0)))
        out.append(equal(gap, 0, "q_t is the softmax of −A w_t", allowance=allowed, size=1.0))
        return out


def row_vector(it: View, i: int) -> Vec:
    """a_i."""
    row = it.case.problem.row(i)
    return it.vec(row, 8 * ROUNDOFF * it.space.size(row) + it.space.lost)


def row_of(it: View) -> int:
    """The row that the solver says it takes at t, if it is one."""
    i = claimed_row(it.claim("i"), it.n)
    if i is None:
        raise Fault(f"i of t = {it.t} is no row: they are 0, …, {it.n - 1}")
    return i


def softmax_of(it: View) -> Floats:
    """q_t = softmax(−A w_t) in doubles, from the scores of the court."""
    scores = it.score_doubles
    weights = np.exp(scores.min() - scores)
    return np.asarray(weights / weights.sum())


#: The check of the draws errs with this probability.
CHANCE = 1e-9


@per_iterate(
    "gb.jst.sampling.draws",
    kind="probability",
    reference="Ji, Srebro and Telgarsky (2021), Algorithm 2: i_t ∼ q_t; Azuma's inequality",
    claim=r"\left|\sum_{s<t} \left(q_s[i_s] - \|q_s\|_2^2\right)\right|"
    r" \le \sqrt{2 t \ln(2 t (t+1)/\delta)}\ \text{for all } t,"
    r"\text{ with probability } 1 - \delta",
    solvers=("adaptive-sampling",),
    since=1,
    unit=True,
    assumes=(says_step, option("momentum", False, True)),
    note="With probability 1 − 10⁻⁹: the differences are a martingale's and lie in [−1, 1]; δ is "
    "spread over all t as δ/(t(t+1)).",
)
class Draws:
    """The rows that Algorithm 2 draws come from q_t: the weights of the rows drawn add up to what
    they should, within what chance allows."""

    def __init__(self, case: Case) -> None:
        self.sum = self.before = self.off = self.off_next = 0.0
        # The row that is said to be drawn must be the one that the step takes.
        self.step = SamplingStep(case)

    def update(self, it: View) -> None:
        self.step.update(it)
        self.before, self.off = self.sum, self.off_next
        q, i = softmax_of(it), row_of(it)
        self.sum += float(q[i]) - float(q @ q)
        # Weights off by a factor of exp(2e) at most; q[i] and ‖q‖² are at most one.
        self.off_next = self.off + min(6 * it.score_error, 2.0) + 4 * ROUNDOFF * (it.n + 16)

    def claim(self, it: View) -> list[Relation]:
        t, what = it.t, "|Σ (q_s[i_s] − ‖q_s‖²)|"
        bound = sqrt(2 * t * log(2 * t * (t + 1) / CHANCE))
        # What is known of the sum is a ball: as a number, `off` would be a violation of its own.
        found = [at_most(ball(abs(self.before), self.off), bound, what)]
        if self.step.before is not None:
            found.append(same(it, *self.step.before, "the row drawn is the one of the step to w_t"))
        return found
