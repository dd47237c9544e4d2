"""Appendix B, Proof of Theorem 3.3: equation (6) and the displays around it.

The proof says "for the first t ≥ 1 such that |S_t| ≠ 0" and goes on as if it said "as long as":
it is the latter that is judged. Steps here are counted by the iterate that they lead to.
"""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import (
    Number,
    Relation,
    View,
    at_least,
    below,
    fact,
    number,
    per_iterate,
    separable,
)
from gammabar.papers.tyurin_2024.conventions import SOURCE, squared_ratio
from gammabar.papers.tyurin_2024.gradients import per_sum
from gammabar.papers.tyurin_2024.optimum import IN_DOUBT, Walk, known_optimum, misses


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

    def claim(self, it: View) -> Iterator[Relation]:
        square = number(self.case.truth.radius_squared_lo)
        first, before = self.first(it), self.previous(it)
        if it.t == 1:
            gain = self._gain(before, it)
            # Rows that are all the same attain it. A θ̂_1 that is off by e = R · per_sum moves the
            # square by at most 2e(α + R), and α ≥ R.
            moved = 4 * number(squared_ratio(self.case)).sqrt() * square * per_sum(it.space)
            what = "the half step shortens by αμ − R²/4"
            yield at_least(gain + moved, 3 * square / 4, what)
            yield below(0, gain, "‖θ̂_1 − αθ̂_*‖² < ‖θ̂_0 − αθ̂_*‖²")
            return
        wrong = misses(before)
        if wrong is None:
            yield fact(None, IN_DOUBT)
        if wrong:
            each, steps = square / it.n, it.t - 1
            yield at_least(self._gain(before, it), each, "step t shortens by R²/n")
            yield at_least(self._gain(first, it), steps * each, "t steps shorten by tR²/n")

    def _gain(self, before: View, it: View) -> Number:
        """‖θ − αθ̂_*‖² of an earlier iterate, less that of this one."""
        ratio = number(squared_ratio(self.case))
        return before.norm_squared - it.norm_squared + 2 * ratio * (it.toward - before.toward)
