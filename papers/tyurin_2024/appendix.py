"""Appendix B, Proof of Theorem 3.3: equation (6) and the displays around it.

The proof says "for the first t ≥ 1 such that |S_t| ≠ 0" and goes on as if it said "as long as":
it is the latter that is judged. Steps here are counted by the iterate that they lead to.

Appendix C, Proof of Theorem 6.1: the choice of α, and equations (7) to (10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Number,
    Relation,
    Vec,
    View,
    at_least,
    at_most,
    ball,
    below,
    direct,
    equal,
    fact,
    log,
    nearly,
    number,
    per_iterate,
    rationals,
    same_digits,
    separable,
    size_of,
    total,
    upper,
    wholes,
)
from gammabar.papers.tyurin_2024.quantities import (
    IN_DOUBT,
    SOURCE,
    Logistic,
    Walk,
    has_step,
    known_optimum,
    least,
    only_zeros,
    per_sum,
    squared_ratio,
    step_of,
)


@per_iterate(
    "tyurin.eq6",
    reference=f"{SOURCE}, Appendix B, equation (6) and the displays after it",
    claim=r"\left\|\hat\theta_{t+1} - \alpha\hat\theta_*\right\|^2 \le \left\|\hat\theta_t -"
    r" \alpha\hat\theta_*\right\|^2 - \frac{1}{n} R^2 \le \left\|\hat\theta_1 - \alpha\hat\theta_*"
    r"\right\|^2 - \frac{t}{n} R^2, \quad \left\|\hat\theta_1 - \alpha\hat\theta_*\right\|^2 <"
    r" \left\|\hat\theta_0 - \alpha\hat\theta_*\right\|^2, \quad \alpha = \frac{R^2}{\mu}",
    solvers=("batch-perceptron",),
    assumes=(separable, known_optimum),
    since=1,
    note='Read "as long as |S_t| ≠ 0" for "for the first t ≥ 1 such that |S_t| ≠ 0". From its last'
    " line the proof concludes t < nR²/μ² for every t ≥ 1 with S_t ≠ ∅, and the solution is the"
    " iterate after the last of them: one more than it says, see tyurin.thm3.3. The half step"
    " shortens the square by 3R²/4 at least, as the display on t = 0 has it.",
)
class Descends(Walk):
    """While rows are misclassified, each step of Batch Perceptron brings θ̂_t nearer to αθ̂_*, by
    R²/n in the square, and so does the half step."""

    #: What rounding may have taken of the gain of this step, and of all steps so far.
    slip, slips = 0.0, 0.0

    def update(self, it: View) -> None:
        """A sum of at most n rows over n, added to θ̂_{t−1} in doubles, is off by
        e ≤ R · per_sum + u ‖θ̂_t‖, with room to spare; the square moves by 2e (‖θ̂_t‖ + α) + e²."""
        super().update(it)
        if it.t > 1:
            radius, alpha = self._lengths
            length = upper(it.norm)
            e = radius * per_sum(it.space) + 4 * ROUNDOFF * length
            self.slip = e * (2 * (length + alpha) + e)
            self.slips += self.slip

    @cached_property
    def _lengths(self) -> tuple[float, float]:
        """R and α = R²/μ, or a little more."""
        radius = upper(number(self.case.truth.radius_squared_hi).sqrt())
        return radius, radius * upper(number(squared_ratio(self.case)).sqrt())

    def claim(self, it: View) -> Iterator[Relation]:
        square = number(self.case.truth.radius_squared_lo)
        first, before = self.first(it), self.previous(it)
        if it.t == 1:
            gain = self._gain(before, it)
            # Rows that are all the same attain it. A θ̂_1 that is off by e = R · per_sum moves the
            # square by at most 2e(α + R), and α ≥ R.
            moved = 4 * number(squared_ratio(self.case)).sqrt() * square * per_sum(it.space)
            what = "the half step shortens by αμ − R²/4"
            least = 3 * square / 4
            yield nearly(least, gain, what, rounding=moved, size=size_of(least))
            yield below(0, gain, "‖θ̂_1 − αθ̂_*‖² < ‖θ̂_0 − αθ̂_*‖²")
            return
        if self.early is None:
            yield fact(None, IN_DOUBT)
        if self.early:
            each, steps = square / it.n, it.t - 1
            # Where w is 10^18 and a step is one, no solver in doubles moves.
            gain, what = self._gain(before, it), "step t shortens by R²/n"
            yield at_least(gain, each, what, allowance=self.slip)
            gain, what = self._gain(first, it), "t steps shorten by tR²/n"
            yield at_least(gain, steps * each, what, allowance=self.slips)

    def _gain(self, before: View, it: View) -> Number:
        """‖θ − αθ̂_*‖² of an earlier iterate, less that of this one."""
        ratio = number(squared_ratio(self.case))
        return before.norm_squared - it.norm_squared + 2 * ratio * (it.toward - before.toward)


PROOF = "a line of a proof, about numbers alone: no solver has a part in it"


#: n, γ, R and μ in a search.
NUMBERS = {
    "n": wholes(1, 1000),
    "step": rationals(positive=True),
    "R": rationals(positive=True),
    "mu": rationals(positive=True),
}


def _choices(
    case: Case, alpha: Callable[[Number, Number, Number, Number], Number]
) -> Iterator[Relation]:
    """α/μ against the bound of the theorem, for some n, γ, R and μ."""
    own = product((1, 10), ("1/2", "2"), ("1", "3"), ("1", "1/4"))
    for n, step, R, mu in case.instances(own):
        logs = 2 * log(2 * n - 1)
        gamma, radius, margin = (number(Fraction(v)) for v in (step, R, mu))
        left = alpha(logs, gamma, radius, margin) / margin
        right = radius**2 / margin**2 + logs / (gamma * margin**2)
        where = f"n = {n}, γ = {step}, R = {R}, μ = {mu}"
        yield same_digits(left, right, "α/μ = R²/μ² + 2 log(2n−1)/(γμ²)", where=where)


_CLAIM = r"; \quad \frac{\alpha}{\mu} = \frac{R^2}{\mu^2} + \frac{2\log(2n-1)}{\gamma\mu^2}"


@direct(
    "tyurin.appC.alpha",
    reference=f"{SOURCE}, Appendix C, the choice of α",
    kind="identity",
    claim=r"\alpha = \frac{2\log(2n-1) + R^2}{\gamma\mu}" + _CLAIM,
    problems=("",),
    inputs=NUMBERS,
    status="refuted",
    fixed_by="tyurin.appC.alpha.fixed",
    severity="misprint",
    survives="Everything: with the α that is meant the next displays (tyurin.appC.descent) "
    "and Theorem 6.1 hold with their constants.",
    why="γ divides the logarithm alone, as the line before and the result have it.",
    charitable="tyurin.appC.alpha.fixed",
    note="n = 1, R = μ = 1, γ = 2: α/μ = 1/2, and the right side is 1.",
    powerless=PROOF,
)
def alpha_as_printed(case: Case) -> Iterator[Relation]:
    """With α = (2 log(2n−1) + R²)/(γμ), α/μ is the bound of Theorem 6.1."""
    yield from _choices(case, lambda logs, step, R, mu: (logs + R**2) / (step * mu))


@direct(
    "tyurin.appC.alpha.fixed",
    reference=f"{SOURCE}, Appendix C, the choice of α, with γ under the logarithm",
    kind="identity",
    claim=r"\alpha = \frac{2\log(2n-1)/\gamma + R^2}{\mu}" + _CLAIM,
    problems=("",),
    inputs=NUMBERS,
    powerless=PROOF,
)
def alpha(case: Case) -> Iterator[Relation]:
    """With α = (2 log(2n−1)/γ + R²)/μ, α/μ is the bound of Theorem 6.1."""
    yield from _choices(case, lambda logs, step, R, mu: (logs / step + R**2) / mu)


# Equations (7) to (10): the steps of Normalized LR+GD, as delivered


class Steps(Walk):
    """−β_t∇f(θ_t) is (θ_{t+1} − θ_t)/γ in what a solver delivers, up to the rounding of one step.

    It is also a mean of the rows, with weights w_i/Σ_j w_j, which `Logistic.mean` computes from
    the scores of θ_t. Both are off by no more than `slip`, γ included.
    """

    def mean(self, before: View) -> Vec:
        """−β_t∇f(θ_t), from θ_t."""
        return before.once(_mean)

    def slip(self, before: View) -> float:
        """How far (θ_{t+1} − θ_t)/γ as delivered may be from −β_t∇f(θ_t)."""
        whole = before.here + step_of(self.case) * self.mean(before)
        return (4 * whole.err + least(before.space)) / float(self.case.solver.step) * SAFETY

    def inner(self, before: View, it: View) -> Number:
        """⟨θ_t, θ_{t+1} − θ_t⟩."""
        if it.level:
            return it.space.exact_inner(before.w, it.w) - before.norm_squared
        return before.here.inner(it.here) - before.norm_squared


def _mean(it: View, case: Case) -> Vec:
    return Logistic(it).mean()


def _pulled(it: View, mean: Vec) -> Number:
    """μ ⟨θ̂_*, m⟩ for a vector in doubles, with its error."""
    truth, space = it.case.truth, it.space
    error = space.score_error(mean.mid) + space.radius * mean.err
    scores = it.case.problem.scores(mean.mid)[truth.support].tolist()
    pairs = zip(truth.numerators, scores, strict=True)
    return total(number(v) * ball(s, error) for v, s in pairs) / number(truth.total)


@per_iterate(
    "tyurin.eq7",
    reference=f"{SOURCE}, Appendix C, equation (7)",
    kind="identity",
    claim=r"\left\|\frac{\theta_{t+1}}{\gamma} - \alpha\hat\theta_*\right\|^2 ="
    r" \left\|\frac{\theta_t}{\gamma} - \alpha\hat\theta_*\right\|^2 + 2\left\langle"
    r"\frac{\theta_t}{\gamma} - \alpha\hat\theta_*, -\beta_t\nabla f(\theta_t)\right\rangle"
    r" + \|\beta_t\nabla f(\theta_t)\|^2",
    solvers=("normalized-lr-gd",),
    assumes=(has_step, separable, known_optimum),
    since=1,
    note="True of any α; it is judged with that of tyurin.appC.alpha.fixed. Steps are counted by"
    " the iterate that they lead to.",
)
class Expands(Steps):
    """A step of Normalized LR+GD changes ‖θ_t/γ − αθ̂_*‖² as the square of a sum does."""

    def claim(self, it: View) -> Relation:
        before, part = self.previous(it), 1 / step_of(self.case)
        mean = self.mean(before)
        # Both sides less ‖θ_t/γ − αθ̂_*‖².
        along = part * (it.toward - before.toward)
        turn = 2 * alpha_over_mu(self.case)
        left = part**2 * (it.norm_squared - before.norm_squared) - turn * along
        square = mean.inner(mean)
        right = 2 * part * before.here.inner(mean) - turn * _pulled(before, mean) + square
        # What is off by e in θ_{t+1}/γ is off by 2e (‖θ_t/γ + m‖ + α) + e² in the square; and no
        # ball is narrower than what it was computed from.
        e, reach = self.slip(before), before.here * part + mean
        alpha = upper(alpha_over_mu(self.case) * self.case.gamma)
        allowance = e * (2 * (reach.size() + alpha) + e) + 2 * float((left - right).rad())
        # Beside 2⟨θ_t/γ − αθ̂_*, m⟩, of which the three products are parts.
        size = 2 * (reach.reach() + alpha) * float(mean.norm().abs_lower())
        what = "‖θ_{t+1}/γ − αθ̂_*‖² is the square of the sum"
        return equal(left, right, what, allowance=allowance, size=size)


@per_iterate(
    "tyurin.eq8",
    at_rest="it is true of every θ",
    reference=f"{SOURCE}, Appendix C, equation (8)",
    claim=r"\|\beta_t\nabla f(\theta_t)\|^2 \le R^2",
    solvers=("normalized-lr-gd",),
    assumes=(has_step,),
    since=1,
    note="Of a step as delivered; rows that are all the same attain it, so a proved bound on the"
    " rounding of one step is added to R.",
)
class StepIsShort(Steps):
    """A step of Normalized LR+GD is no longer than γR."""

    def claim(self, it: View) -> Relation:
        if (zero := only_zeros(it)) is not None:
            return zero
        before = self.previous(it)
        length = (it.here - before.here).norm(exact=it.level > 0) / step_of(self.case)
        radius, slip = self.case.radius, self.slip(before)
        return nearly(length, radius, "‖β_t∇f(θ_t)‖ ≤ R", rounding=slip, size=size_of(radius))


@per_iterate(
    "tyurin.eq9",
    reference=f"{SOURCE}, Appendix C, equation (9)",
    claim=r"-\beta_t\hat\theta_*^\top\nabla f(\theta_t) \ge \mu",
    solvers=("normalized-lr-gd",),
    assumes=(has_step, separable, known_optimum),
    since=1,
    note="Of a step as delivered, times μ; where every row is a support vector it is attained, so a"
    " proved bound on the rounding of one step is added.",
)
class StepGoesAlong(Steps):
    """A step of Normalized LR+GD goes at least γμ along the maximum-margin direction."""

    def claim(self, it: View) -> Relation:
        before = self.previous(it)
        along = (it.toward - before.toward) / step_of(self.case)
        slack, square = self.case.gamma * self.slip(before), self.case.gamma_squared
        what = "μ² ≤ −μβ_tθ̂_*ᵀ∇f(θ_t)"
        return nearly(square, along, what, rounding=slack, size=size_of(square))


@per_iterate(
    "tyurin.eq10",
    at_rest="it is true of every θ that does not separate the data",
    reference=f"{SOURCE}, Appendix C, equation (10) and the line before it",
    claim=r"-\beta_t\theta_t^\top\nabla f(\theta_t) \le \log\left(\frac{n}{\sum_{i=1}^n w_i} - 1"
    r"\right) \le \log(2n-1) \quad \text{for } t < t^*",
    solvers=("normalized-lr-gd",),
    assumes=(has_step,),
    since=1,
    note="Of a step as delivered, while nothing has separated the data.",
)
class StepGoesBackLittle(Steps):
    """From a θ_t that does not separate the data, a step of Normalized LR+GD goes along θ_t by at
    most γ log(n/Σw_i − 1)/‖θ_t‖, which is at most γ log(2n−1)/‖θ_t‖."""

    def claim(self, it: View) -> Iterator[Relation]:
        before = self.previous(it)
        if self.early is None:
            yield fact(None, IN_DOUBT)
        if not self.early:
            return
        if (zero := only_zeros(it)) is not None:
            yield zero
            return
        mass, lost = Logistic(before).sum()
        middle = log(it.n / ball(mass, lost) - 1)
        slack = self.slip(before) * before.here.size()
        if not before.w.any():  # then w_i = ½, and all three are zero or not below
            yield at_most(0, log(2 * it.n - 1), "0 ≤ log(2n−1)")
            return
        along = self.inner(before, it) / step_of(self.case)
        # Scores that are all the same attain the first; the logarithm has its own error.
        unseen = 2 * float(middle.rad())
        what, size = "−β_tθ_tᵀ∇f(θ_t) ≤ log(n/Σw_i − 1)", float(before.here.reach())
        size *= float(self.mean(before).norm().abs_lower())
        # The logarithm is of a sum of n weights of the size of one.
        size = size_of(size, per_sum(it.space) / ROUNDOFF)
        yield nearly(along, middle, what, rounding=slack + unseen, size=size)
        top = log(2 * it.n - 1)
        yield nearly(middle, top, "… ≤ log(2n−1)", rounding=unseen, size=1.0)


@per_iterate(
    "tyurin.appC.descent",
    reference=f"{SOURCE}, Appendix C, the two displays after (10), with the right α",
    claim=r"\left\|\frac{\theta_{t+1}}{\gamma} - \alpha\hat\theta_*\right\|^2 \le"
    r" \left\|\frac{\theta_t}{\gamma} - \alpha\hat\theta_*\right\|^2 - \alpha\mu \le"
    r" \left\|\frac{\theta_0}{\gamma} - \alpha\hat\theta_*\right\|^2 - (t+1)\alpha\mu"
    r" \quad \text{for } t < t^*",
    solvers=("normalized-lr-gd",),
    assumes=(has_step, separable, known_optimum),
    since=1,
    note="α is that of tyurin.appC.alpha.fixed, with which −2αμ + 2 log(2n−1)/γ + R² = −αμ. One"
    " row attains it, so a proved bound on the rounding of one step is added.",
)
class Approaches(Steps):
    """While it does not separate the data, each step of Normalized LR+GD brings θ_t/γ nearer to
    αθ̂_*, by αμ in the square."""

    def claim(self, it: View) -> Iterator[Relation]:
        before, part = self.previous(it), 1 / step_of(self.case)
        if self.early is None:
            yield fact(None, IN_DOUBT)
        if not self.early:
            return
        ratio = alpha_over_mu(self.case)
        each = ratio * self.case.gamma_squared  # αμ
        gain = part**2 * (before.norm_squared - it.norm_squared)
        gain += 2 * ratio * part * (it.toward - before.toward)
        whole = 2 * ratio * part * it.toward - part**2 * it.norm_squared
        alpha = upper(ratio * self.case.gamma)
        e = self.slip(before)
        slack = e * (2 * ((it.here * part).size() + alpha) + e)
        size = size_of(each)
        yield nearly(each, gain, "a step shortens by αμ", rounding=slack, size=size)
        what, t = "t + 1 steps shorten by (t + 1)αμ", it.t
        yield nearly(t * each, whole, what, rounding=t * slack, size=t * size)


def alpha_over_mu(case: Case) -> Number:
    """α/μ = R²/μ² + 2 log(2n−1)/(γμ²), which is also the bound of Theorem 6.1."""
    logs = 2 * log(2 * case.n - 1) / (step_of(case) * case.gamma_squared)
    return number(squared_ratio(case)) + logs
