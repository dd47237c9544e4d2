"""Appendices B and C: the proofs of Theorems 3.3 and 6.1, line by line.

Steps here are counted by the iterate that they lead to.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *


class _Start:
    """Whether t ≤ t*, the first moment at which the data are separated; and θ_1.

    `early` says whether θ_0, …, θ_{t−1} do not separate the data; None if that is not known.
    """

    def __init__(self, case: Case) -> None:
        self.early: Trit = True
        self._first: Any = None
        self._now: Any = None

    def update(self, it: View) -> None:
        it.keep()
        before, self._now = self._now, it
        if before is not None and self.early is not False:
            self.early = before.misses if self.early else False if before.misses is False else None
        if it.t == 1:
            self._first = it

    def first(self, it: View) -> View:
        """θ_1, at the level of this iterate."""
        return self._first.at(it.level) if it.level else self._first

    def doubt(self) -> Iterator[Relation]:
        """A relation without an answer, where it is not known whether t ≤ t*."""
        if self.early is None:
            yield fact(None, "whether θ_0, …, θ_t do not separate the data")


# Appendix B


class _Slips(_Start):
    """What rounding may have taken of the gain of the last step, and of all steps so far."""

    last, all = 0.0, 0.0

    def update(self, it: View) -> None:
        super().update(it)
        if it.t > 1:
            length, radius = upper(it.norm), upper(number(it.case.truth.radius_squared).sqrt())
            e = radius * per_sum(it.space) + 4 * ROUNDOFF * length
            alpha = radius * upper(number(it.case.mistake_bound).sqrt())
            self.last = square_off(e, length + alpha)
            self.all += self.last


@tyurin.bound(
    "eq6",
    "Appendix B, equation (6) and the displays after it",
    BATCH,
    separable,
    known_optimum,
    _Slips,
    since=1,
)
def _descends(now, before, c):
    r"""While rows are misclassified, each step of Batch Perceptron brings θ̂_t nearer to αθ̂_*, by
    R²/n in the square, and so does the half step.

    $\left\|\hat\theta_{t+1} - \alpha\hat\theta_*\right\|^2 \le \left\|\hat\theta_t -
    \alpha\hat\theta_*\right\|^2 - \frac{1}{n} R^2 \le \left\|\hat\theta_1 - \alpha\hat\theta_*
    \right\|^2 - \frac{t}{n} R^2, \quad \left\|\hat\theta_1 - \alpha\hat\theta_*\right\|^2 <
    \left\|\hat\theta_0 - \alpha\hat\theta_*\right\|^2, \quad \alpha = \frac{R^2}{\mu}$

    Read "as long as |S_t| ≠ 0" for "for the first t ≥ 1 such that |S_t| ≠ 0". From its last
    line the proof concludes t < nR²/μ² for every t ≥ 1 with S_t ≠ ∅, and the solution is the
    iterate after the last of them: one more than it says, see tyurin.thm3.3. The half step
    shortens the square by 3R²/4 at least, as the display on t = 0 has it.
    """
    slips, square = c.history(_Slips), number(c.truth.radius_squared)
    if now.t == 1:
        gain, least_gain = _gain(before, now), 3 * square / 4
        # Rows that are all the same attain it.
        moved = 4 * number(c.mistake_bound).sqrt() * square * per_sum(now.space)
        what = "the half step shortens by αμ − R²/4"
        yield nearly(least_gain, gain, what, rounding=moved, size=size_of(least_gain))
        yield below(0, gain, "‖θ̂_1 − αθ̂_*‖² < ‖θ̂_0 − αθ̂_*‖²")
        return
    yield from slips.doubt()
    if slips.early:
        each, steps = square / now.n, now.t - 1
        # Where w is 10^18 and a step is one, no solver in doubles moves.
        gain, what = _gain(before, now), "step t shortens by R²/n"
        yield at_least(gain, each, what, allowance=slips.last)
        gain, what = _gain(slips.first(now), now), "t steps shorten by tR²/n"
        yield at_least(gain, steps * each, what, allowance=slips.all)


def _gain(before: View, it: View) -> Number:
    """‖θ − αθ̂_*‖² of an earlier iterate, less that of this one."""
    gained = 2 * number(it.case.mistake_bound) * (it.toward - before.toward)
    return before.norm_squared - it.norm_squared + gained


# Appendix C: the choice of α

SIZE = rationals(positive=True)
CHOICE = tyurin.sharing(
    kind="identity",
    inputs={"n": wholes(1, 1000), "step": SIZE, "R": SIZE, "mu": SIZE},
    powerless="a line of a proof, about numbers alone: no solver has a part in it",
)


_ALPHA = {
    "(2 log(2n−1) + R²)/(γμ)": "(2 log(2n−1)/γ + R²)/μ",
    r"\log(2n-1) + R^2}{\gamma\mu}": r"\log(2n-1)/\gamma + R^2}{\mu}",
}
_WHERE = "Appendix C, the choice of α"


@CHOICE.direct("appC.alpha", _WHERE, Erratum("misprint", ".fixed"))
@CHOICE.direct("appC.alpha.fixed", f"{_WHERE}, with γ under the logarithm", instead=_ALPHA)
def _alpha(case, printed):
    r"""With α = (2 log(2n−1) + R²)/(γμ), α/μ is the bound of Theorem 6.1.

    $\alpha = \frac{2\log(2n-1) + R^2}{\gamma\mu}; \quad
    \frac{\alpha}{\mu} = \frac{R^2}{\mu^2} + \frac{2\log(2n-1)}{\gamma\mu^2}$"""
    own = product((1, 10), ("1/2", "2"), ("1", "3"), ("1", "1/4"))
    for n, step, R, mu in case.instances(own):
        logs = 2 * log(2 * n - 1)
        gamma, radius, margin = (number(Fraction(v)) for v in (step, R, mu))
        scale, part = (gamma, 1) if printed else (1, gamma)
        left = (logs / part + radius**2) / (scale * margin) / margin
        right = radius**2 / margin**2 + logs / (gamma * margin**2)
        where = f"n = {n}, γ = {step}, R = {R}, μ = {mu}"
        yield same_digits(left, right, "α/μ = R²/μ² + 2 log(2n−1)/(γμ²)", where=where)


# Appendix C, equations (7) to (10): the steps of Normalized LR+GD, as delivered. −β_t∇f(θ_t) is
# (θ_{t+1} − θ_t)/γ in what a solver delivers, up to the rounding of one step, and a mean of the
# rows with weights w_i/Σ_j w_j.


def _mean(it: View, case: Case) -> Vec:
    """−β_t∇f(θ_t)."""
    return LogisticWeights(it).mean()


def _slip(before: View, c: Case) -> float:
    """How far (θ_{t+1} − θ_t)/γ as delivered may be from −β_t∇f(θ_t)."""
    whole = before.here + step_of(c) * before.once(_mean)
    return (4 * whole.err + least(before.space)) / float(c.solver.step) * SAFETY


@tyurin.identity("eq7", "Appendix C, equation (7)", NORMALIZED, separable, known_optimum, since=1)
def _expands(now, before, c):
    r"""A step of Normalized LR+GD changes ‖θ_t/γ − αθ̂_*‖² as the square of a sum does.

    $\left\|\frac{\theta_{t+1}}{\gamma} - \alpha\hat\theta_*\right\|^2 =
    \left\|\frac{\theta_t}{\gamma} - \alpha\hat\theta_*\right\|^2 + 2\left\langle
    \frac{\theta_t}{\gamma} - \alpha\hat\theta_*, -\beta_t\nabla f(\theta_t)\right\rangle
    + \|\beta_t\nabla f(\theta_t)\|^2$

    True of any α; it is checked with that of tyurin.appC.alpha.fixed. Steps are counted by
    the iterate that they lead to."""
    mean, part, ratio = before.once(_mean), 1 / step_of(c), alpha_over_mu(c)
    # Both sides less ‖θ_t/γ − αθ̂_*‖².
    left = part**2 * (now.norm_squared - before.norm_squared)
    left -= 2 * ratio * (part * (now.toward - before.toward))
    right = 2 * part * before.here.inner(mean) - 2 * ratio * _pulled(before, mean)
    right += mean.inner(mean)
    # No ball is narrower than what it was computed from.
    reach, alpha = before.here * part + mean, upper(ratio * c.gamma)
    off = square_off(_slip(before, c), reach.size() + alpha) + 2 * float((left - right).rad())
    # Beside 2⟨θ_t/γ − αθ̂_*, m⟩, of which the three products are parts.
    size = 2 * (reach.reach() + alpha) * float(mean.norm().abs_lower())
    what = "‖θ_{t+1}/γ − αθ̂_*‖² is the square of the sum"
    return equal(left, right, what, allowance=off, size=size)


def _pulled(it: View, mean: Vec) -> Number:
    """μ ⟨θ̂_*, m⟩ for a vector in doubles, with its error."""
    truth, space = it.case.truth, it.space
    error = space.score_error(mean.mid) + space.radius * mean.err
    scores = it.case.problem.scores(mean.mid)[truth.support].tolist()
    pairs = zip(truth.numerators, scores, strict=True)
    return total(number(v) * ball(s, error) for v, s in pairs) / number(truth.total)


@tyurin.bound(
    "eq8", "Appendix C, equation (8)", NORMALIZED, since=1, at_rest="it is true of every θ"
)
def _step_is_short(now, before, c):
    r"""A step of Normalized LR+GD is no longer than γR.

    $\|\beta_t\nabla f(\theta_t)\|^2 \le R^2$

    Of a step as delivered; rows that are all the same attain it, so a proved bound on the
    rounding of one step is added to R."""
    if (zero := only_zeros(now)) is not None:
        return zero
    length = (now.here - before.here).norm(exact=now.level > 0) / step_of(c)
    size = size_of(c.radius)
    return nearly(length, c.radius, "‖β_t∇f(θ_t)‖ ≤ R", rounding=_slip(before, c), size=size)


@tyurin.bound("eq9", "Appendix C, equation (9)", NORMALIZED, separable, known_optimum, since=1)
def _step_goes_along(now, before, c):
    r"""A step of Normalized LR+GD goes at least γμ along the maximum-margin direction.

    $-\beta_t\hat\theta_*^\top\nabla f(\theta_t) \ge \mu$

    Of a step as delivered, times μ; where every row is a support vector it is attained, so a
    proved bound on the rounding of one step is added."""
    along, square = (now.toward - before.toward) / step_of(c), c.gamma_squared
    slack = c.gamma * _slip(before, c)
    return nearly(square, along, "μ² ≤ −μβ_tθ̂_*ᵀ∇f(θ_t)", rounding=slack, size=size_of(square))


@tyurin.bound(
    "eq10", "Appendix C, equation (10) and the line before it", NORMALIZED, _Start, since=1
)
def _step_goes_back_little(now, before, c):
    r"""From a θ_t that does not separate the data, a step of Normalized LR+GD goes along θ_t by at
    most γ log(n/Σw_i − 1)/‖θ_t‖, which is at most γ log(2n−1)/‖θ_t‖.

    $-\beta_t\theta_t^\top\nabla f(\theta_t) \le \log\left(\frac{n}{\sum_{i=1}^n w_i} - 1
    \right) \le \log(2n-1) \quad \text{for } t < t^*$

    Of a step as delivered, while nothing has separated the data.
    At rest: it is true of every θ that does not separate the data"""
    start, n, most = c.history(_Start), now.n, log(2 * now.n - 1)
    yield from start.doubt()
    if not start.early:
        return
    if (zero := only_zeros(now)) is not None:
        yield zero
        return
    if not before.w.any():  # then w_i = ½, and all three are zero or not below
        yield at_most(0, most, "0 ≤ log(2n−1)")
        return
    middle = log(n / ball(*LogisticWeights(before).sum()) - 1)
    # Scores that are all the same attain the first; the logarithm, of a sum of n weights of the
    # size of one, has its own error.
    off, unseen = _slip(before, c) * before.here.size(), 2 * float(middle.rad())
    size = float(before.here.reach()) * float(before.once(_mean).norm().abs_lower())
    size = size_of(size, per_sum(now.space) / ROUNDOFF)
    exact = now.space.exact_inner
    both = exact(before.w, now.w) if now.level else before.here.inner(now.here)
    along = (both - before.norm_squared) / step_of(c)  # ⟨θ_t, θ_{t+1} − θ_t⟩/γ
    what = "−β_tθ_tᵀ∇f(θ_t) ≤ log(n/Σw_i − 1)"
    yield nearly(along, middle, what, rounding=off + unseen, size=size)
    yield nearly(middle, most, "… ≤ log(2n−1)", rounding=unseen, size=1.0)


@tyurin.bound(
    "appC.descent",
    "Appendix C, the two displays after (10), with the right α",
    NORMALIZED,
    separable,
    known_optimum,
    _Start,
    since=1,
)
def _approaches(now, before, c):
    r"""While it does not separate the data, each step of Normalized LR+GD brings θ_t/γ nearer to
    αθ̂_*, by αμ in the square.

    $\left\|\frac{\theta_{t+1}}{\gamma} - \alpha\hat\theta_*\right\|^2 \le
    \left\|\frac{\theta_t}{\gamma} - \alpha\hat\theta_*\right\|^2 - \alpha\mu \le
    \left\|\frac{\theta_0}{\gamma} - \alpha\hat\theta_*\right\|^2 - (t+1)\alpha\mu
    \quad \text{for } t < t^*$

    α is that of tyurin.appC.alpha.fixed, with which −2αμ + 2 log(2n−1)/γ + R² = −αμ. One
    row attains it, so a proved bound on the rounding of one step is added."""
    start, t = c.history(_Start), now.t
    yield from start.doubt()
    if not start.early:
        return
    part, ratio = 1 / step_of(c), alpha_over_mu(c)
    each = ratio * c.gamma_squared  # αμ
    gain = part**2 * (before.norm_squared - now.norm_squared)
    gain += 2 * ratio * part * (now.toward - before.toward)
    whole = 2 * ratio * part * now.toward - part**2 * now.norm_squared
    slack = square_off(_slip(before, c), (now.here * part).size() + upper(ratio * c.gamma))
    size, what = size_of(each), "t + 1 steps shorten by (t + 1)αμ"
    yield nearly(each, gain, "a step shortens by αμ", rounding=slack, size=size)
    yield nearly(t * each, whole, what, rounding=t * slack, size=t * size)
