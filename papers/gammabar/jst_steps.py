"""The steps of Algorithm 2 and of the methods in the figures of Ji, Srebro and Telgarsky (2021).

Their sources state no rate that could be checked, or one that a wrong step need not violate: so
each step is recomputed from the iterate before it.
"""

import math
from typing import Any

import numpy as np

from gammabar.papers.claims import *

_gb = Claims("gb", unit=True)
_JST = "Ji, Srebro and Telgarsky (2021)"


_says_step = has(step=0)


def _step(case: Case) -> Number:
    return number(float(case.solver.step))


@_gb.identity(
    "jst.gd.step",
    f"{_JST}, Section 3.1: the step as printed",
    Method("gradient-descent", assumes=(_says_step,)),
    since=1,
)
def _gradient_step(now, before, c):
    r"""Every iterate of gradient descent is the one before minus η times the gradient of R.

    $w_{t+1} = w_t - \eta \nabla \mathcal{R}(w_t)$"""
    if getattr(c.solver, "loss", "exponential") == "exponential":
        step = before.pull * (_step(c) * exp(before.psi) / c.n)
    else:
        step = LogisticWeights(before).pull() * (_step(c) / c.n)
    return moved(now.here, before.here, step, f"w_t is the step from w_(t−1), t = {now.t}")


@_gb.identity(
    "jst.ngd.step",
    f"{_JST}, Section 1: the step as printed",
    Method("normalized-gradient-descent", assumes=(_says_step,)),
    since=1,
)
def _normalized_step(now, before, c):
    r"""Every iterate is the one before minus θ_t times the gradient divided by the risk.

    $w_{t+1} = w_t - \theta_t \nabla\mathcal{R}(w_t)/\mathcal{R}(w_t)$"""
    theta = _step(c) / (sqrt(now.t) if getattr(c.solver, "decay", False) else 1)
    step = before.pull * theta
    return moved(now.here, before.here, step, f"w_t is the step from w_(t−1), t = {now.t}")


class _Ascent:
    """The points v_t of a batch perceptron with their sum, and the step from the last.

    A solver that says only w_t has the points v_t = t w_t − (t−1) w_{t−1}, and adds some row of
    smallest score, the one that fits best.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        #: v_{t−1} and what the step makes of it; v_t, Σ_{s≤t} v_s, w_{t−1}.
        self.last: tuple[Vec, Vec] | None = None
        self.v: Any = None
        self.total: Vec | None = None
        self._w: Vec | None = None
        #: Whether the solver says v_0: then it must say them all. The row that v_t is moved along.
        self._says = False
        self.i: Any = None
        #: What points and steps were as long as before t.
        self.scale = self._scale = 0.0

    def update(self, it: View) -> None:
        before, added, self.scale = self.v, self.i, self._scale
        self._says = "v" in it.extra if self._w is None and before is None else self._says
        self.i = row_of(it) if self._says else None
        self.v = self._recovered(it) if self.i is None else self._said(it)
        if before is not None:
            rows = self._fitting(it, before) if added is None else [added]
            points = [self._point(it, before, i) for i in rows]
            self.last = before, min(points, key=lambda p: float((self.v - p).norm().mid()))
        if it.t and self.i is not None:
            self.total = self.v if self.total is None else self.total + self.v
        longest = float(_step(self.case)) / math.sqrt(it.t + 1) * self.case.space.radius
        self._scale = max(self._scale, self.v.reach() + longest * SAFETY)

    def _said(self, it: View) -> Vec:
        v = claimed_numbers(it.claim("v"), it.w.shape)
        if isinstance(v, str):
            raise Fault(f"v of t = {it.t} {v}")
        return it.vec(v)

    def _recovered(self, it: View) -> Vec:
        """v_t from w_t and w_{t−1}, which a right solver has rounded in t steps."""
        last, self._w = self._w, it.here
        if not getattr(self.case.solver, "averaged", True) or last is None:
            return it.here
        v = it.here * it.t - last * (it.t - 1)
        return it.vec(v.mid, v.err + it.t * roundoff(it.here.size() + last.size() + 1, it.t + 1))

    def _fitting(self, it: View, v: Vec) -> Any:
        """Rows of smallest score that the last step may have added; of many those that fit best."""
        space, problem = self.case.space, self.case.problem
        scores = problem.scores(v.mid)
        rows = tied(scores, 2 * space.score_errors(v.mid) + 2 * space.radius * v.err)
        if len(rows) > 8:
            step = float(_step(self.case)) / math.sqrt(it.t)
            norms = np.array([problem.norm(problem.row(i)) for i in rows])
            fit = step * norms**2 - 2 * problem.scores(self.v.mid)[rows]
            rows = rows[np.argsort(fit, kind="stable")[:8]]
        return rows

    def _point(self, it: View, v: Vec, i: int) -> Vec:
        """The projected step from v_{t−1} along a row."""
        u = v + row_vector(it, int(i)) * (_step(self.case) / sqrt(it.t))
        # A norm that may or may not exceed one leaves two candidates; the ball covers both.
        return u * (1 / u.norm().max(number(1)))


@_gb.identity(
    "jst.cotter.step",
    "Cotter, Shalev-Shwartz and Srebro (2012), as used in Figures 1 to 3",
    Method("batch-perceptron-cotter", assumes=(_says_step,)),
    _Ascent,
)
def _ascent_step(it, c):
    r"""Every point is the projected supergradient step from the one before, along a row of smallest
    score; and the iterates are the averages of the points.

    $v_{t+1} = \Pi\left(v_t + \tfrac{1}{\sqrt{t+1}} a_i\right),\ i \in \arg\min_i \langle a_i,
    v_t\rangle,\ w_{t+1} = \tfrac{1}{t+1}\sum_{s=1}^{t+1} v_s$"""
    seen = c.history(_Ascent)
    if seen.i is not None:
        smallest = has_smallest_score(it, seen.v, seen.i, seen.scale)
        yield fact(smallest, "the row that is added has the smallest score")
    if seen.last is not None:
        start, point = seen.last
        # ‖u‖² too is kept by addition; it matters where a point may be longer than one.
        size = (it.space.dimension + 8) * seen.scale * max(seen.scale, 1.0)
        more = roundoff(2 * size, it.t + 1)
        yield zero(seen.v - point, point - start, "v_t is the projected step", more, summed=False)
    if seen.total is not None and getattr(c.solver, "averaged", True):
        mean = seen.total * (number(1) / it.t)
        more = roundoff(mean.size(), it.t + 1)
        yield same(it.here, mean, "w_t is the mean of v_1, …, v_t", more)
    elif it.t and seen.i is not None:
        yield fact(bool(np.array_equal(it.w, seen.v.mid)), "w_t is v_t")


class _Sampled:
    """g_t for the rows that Algorithm 2 says it draws, and the steps that follow."""

    def __init__(self, case: Case) -> None:
        self.case = case
        #: w_{t−1}, and the step from there.
        self.last: tuple[Vec, Vec] | None = None
        self._next: tuple[Vec, Vec] | None = None
        self._g: Vec | None = None

    def update(self, it: View) -> None:
        self.last, a = self._next, row_vector(it, row_of(it))
        beta = number(it.t) / (it.t + 1) if getattr(self.case.solver, "momentum", True) else 0
        self._g = (a if self._g is None else self._g + a) * beta
        self._next = it.here, (self._g + a) * _step(self.case)


_SAMPLING = Method("adaptive-sampling", assumes=(_says_step,))


@_gb.identity("jst.sampling.step", f"{_JST}, Algorithm 2: the step as printed", _SAMPLING, _Sampled)
def _sampling_step(it, c):
    r"""Every iterate of Algorithm 2 follows from the one before and the row that was drawn, and the
    weights that it is drawn from are the softmax of the scores.

    $g_t = \beta_t (g_{t-1} + z_{i_t}),\ w_{t+1} = w_t - \theta_t (g_t + z_{i_t}),\ q_t \propto
    \exp(Z w_t)$"""
    last = c.history(_Sampled).last
    if last is not None:
        before, step = last
        what = f"w_t is the step from w_(t−1), t = {it.t}"
        yield moved(it.here, before, step, what, summed=False)
    yield same_softmax(it, it.claim("dual"), (it.t + 1) * float(c.solver.step))


#: The check of the draws errs with this probability.
_CHANCE = 1e-9
#: Temperatures of q_s^β, normalised: β = 0 is uniform.
_POWERS = (0.0, 0.5, 0.9, 1.1, 1.5, 2.0)


class _Draws:
    """ln Σ_k Π_{s<t} r_s^k[i_s]/q_s[i_s] for several distributions r_s^k, and its error.

    They are those of common mistakes: q_s^β; 0.9 q_s + 0.1/n; q_{s−1}; and half q_s, half the row
    of largest weight, or the row drawn last. Each is known before i_s is drawn.
    """

    def __init__(self, case: Case) -> None:
        self._ratios = np.zeros(len(_POWERS) + 4)
        self._step = float(case.solver.step)
        self._off = 0.0
        self._before: tuple[Floats, int] | None = None

    def update(self, it: View) -> None:
        #: Of the rows drawn before t.
        self.value = ball(float(np.logaddexp.reduce(self._ratios)), self._off)
        logs, off = log_softmax(it, (it.t + 1) * self._step)
        i, n = row_of(it), it.n
        last, row = self._before or (np.full(n, -np.log(n)), -1)
        mixed = np.logaddexp(np.log(0.9) + logs[i], np.log(0.1 / n))
        powers = [beta * logs[i] - np.logaddexp.reduce(beta * logs) for beta in _POWERS]
        taken = [i == np.argmax(logs), i == row]
        halves = [
            np.log((np.exp(logs[i]) + one) / 2) if one else logs[i] - np.log(2) for one in taken
        ]
        self._ratios += np.array([*powers, mixed, last[i], *halves]) - logs[i]
        self._off += off + 8 * max(_POWERS) * softmax_rounding(logs)
        self._before = logs, i


@_gb.bound(
    "jst.sampling.draws",
    f"{_JST}, Algorithm 2: i_t ∼ q_t; Ville's inequality",
    _SAMPLING,
    option("momentum", False, True),
    _Sampled,
    _Draws,
    kind="probability",
    since=1,
)
def _draws(it, c):
    r"""The rows that Algorithm 2 draws come from q_t: no other distribution among ten common
    mistakes makes them far more likely.

    $\frac{1}{10} \sum_{k=1}^{10} \prod_{s<t} \frac{r^k_s[i_s]}{q_s[i_s]} \le \frac1\delta\
    \text{for all } t,\text{ with probability } 1 - \delta$

    With probability 1 − 10⁻⁹: for distributions r_s that are known before i_s is drawn the products
    are nonnegative martingales of mean one, and so is their mean (Ville). Here r_s are q_s^β,
    normalised, for β = 0 (uniform), ½, 0.9, 1.1, 1.5 and 2, 0.9 q_s + 0.1/n, q_{s−1}, and the means
    of q_s with the row of largest weight and with the row drawn last."""
    bound = log(number((len(_POWERS) + 4) / _CHANCE))
    yield at_most(c.history(_Draws).value, bound, "ln Σ_k Π_s r_s[i_s]/q_s[i_s] ≤ ln(10/δ)")
    # The row that is said to be drawn must be the one that the step takes.
    before, step = c.history(_Sampled).last
    what = "the row drawn is the one of the step to w_t"
    yield moved(it.here, before, step, what, summed=False)
