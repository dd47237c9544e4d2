"""Appendix B, Proof of Theorem 3.3: equation (6) and the displays around it.

The proof says "for the first t ≥ 1 such that |S_t| ≠ 0" and goes on as if it said "as long as":
it is the latter that is judged. Steps here are counted by the iterate that they lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from gammabar.papers import (
    ROUNDOFF,
    Number,
    Relation,
    View,
    at_least,
    below,
    fact,
    nearly,
    number,
    per_iterate,
    separable,
    size_of,
    upper,
)
from gammabar.papers.tyurin_2024.conventions import SOURCE, squared_ratio
from gammabar.papers.tyurin_2024.gradients import per_sum
from gammabar.papers.tyurin_2024.optimum import IN_DOUBT, Walk, known_optimum


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
