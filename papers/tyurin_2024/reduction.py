"""The perceptrons that Tyurin's gradient methods tend to as γ → ∞, and how fast they do.

LR+GD tends to Batch Perceptron (Theorem 3.2) and Normalized LR+GD to Normalized Batch Perceptron
(Section 6). A limit as such cannot be checked at finitely many γ. But ‖θ_t/γ − θ̂_t‖ is at most E_t
at any γ, where E_0 = E_1 = 0, S_t are the misclassified rows of the perceptron and

    ε_{i,t} = σ(γ (|⟨a_i, θ̂_t⟩| − R E_t)),      T_t = Σ_i ε_{i,t},      σ(x) = 1/(1 + exp x),
    E_{t+1} = E_t + R T_t/n                                   (LR+GD),
    E_{t+1} = E_t + 2R min(1, T_t/(|S_t| − T_t))              (Normalized LR+GD, while T_t < |S_t|),

and E_t → 0 as γ → ∞ if no ⟨a_i, θ̂_s⟩ is 0; the proof is in papers/gammabar/PROOFS.md.

What a solver delivers is rounded. With e_t a bound on the error of its scores, ε_{i,t} is taken as
σ(γ (g_{i,t} − R E_t) − e_t), and E_{t+1} has a bound on the rounding of one step added.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import expit

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024 import reference
from gammabar.papers.tyurin_2024.quantities import only_zeros

#: Of an iterate after an S_t that could not be decided.
UNKNOWN = "S_t, the misclassified rows of the perceptron"
#: Rows for which a score that doubles cannot tell from 0 is computed exactly.
MOST = 400


class Path:
    """The iterates θ̂_t of a perceptron of `reference`, with S_t as it is in exact arithmetic.

    ``point`` is θ̂_t = Σ_i c_i a_i with rational c_i, which S_0, …, S_{t−1} determine, ``wrong`` S_t
    (for t ≥ 1), ``seen`` and ``gaps`` |⟨a_i, θ̂_t⟩| in doubles and lower bounds of it. It is
    ``lost`` if S_t could not be decided: then nothing is known of what follows.
    """

    def __init__(self, case: Case, rule: reference.Rule) -> None:
        self.case, self.space, self._rule = case, case.space, rule
        n, self._t, self.lost = self.space.n, 0, False
        self._weights = np.array([Fraction(0)] * n)
        self.wrong: Mask = np.ones(n, dtype=bool)
        self.seen = self.gaps = np.zeros(n)
        self.point = Vec(self.space, np.zeros(self.space.dimension))

    def advance(self) -> None:
        """On to θ̂_{t+1}; it stays where S_t is empty."""
        if not self.lost and self.wrong.any():
            signs = np.array([Fraction(-1 if wrong else 1) for wrong in self.wrong])
            self._weights = self._weights + self._rule(self._t, signs)
            self._t += 1
            self._look()

    def _look(self) -> None:
        space, weights = self.space, self._weights.astype(np.float64)
        self.point = combination(space, weights, ROUNDOFF * float(weights.sum()))
        scores = self.case.problem.scores(self.point.mid)
        error = (space.score_error(self.point.mid) + space.radius * self.point.err) * SAFETY
        self.wrong, self.seen = scores <= 0, np.abs(scores)
        self.gaps = np.maximum(self.seen * (1 - 4 * ROUNDOFF) - error, 0.0)
        for i in np.flatnonzero(self.seen <= error).tolist():
            self._decide(i)

    def _decide(self, i: int) -> None:
        """Decide on which side row i is, through the exact Gram matrix."""
        if self.space.n > MOST:
            self.lost = True
            return
        with working(LEVELS[-1]):
            gram = self.space.gram()
            # Whole numbers, for a sum that is 0 is to be seen.
            common = math.lcm(*(v.denominator for v in self._weights))
            counts = enumerate(int(v * common) for v in self._weights)
            score = total(gram[i, j] * count for j, count in counts if count) / common
            self.lost = self.lost or not (score > 0 or score <= 0)
            self.wrong[i] = not score > 0
            self.gaps[i] = max(middle(abs(score).lower()) * (1 - 4 * ROUNDOFF), 0.0)


class Rate:
    """E_t along a run of (Normalized) LR+GD, rounding included.

    ``path`` is at the perceptron's iterate of the same t, ``distance`` is E_t (infinite where
    nothing is known) and ``doubt`` T_t; ``plain`` and ``plain_doubt`` are the same without what
    rounding adds, in doubles: what rounding must be small beside.
    """

    normalised = False
    #: Statements that need it tell it of every iterate.
    by_itself = True

    def __init__(self, case: Case, step: float | None = None) -> None:
        self.case, self.space = case, case.space
        self.step = float(case.solver.step if step is None else step)
        batch, mean = reference.batch_perceptron, reference.normalized_batch_perceptron
        self.path = Path(case, mean if self.normalised else batch)
        self.t, self.distance, self.doubt = -1, 0.0, 0.0
        self.plain = self.plain_doubt = 0.0
        self._next = self._plain_next = 0.0

    def update(self, it: View) -> None:
        """The next iterate; several statements may tell it of the same one."""
        if it.t > self.t:
            self.follow(it.here.size(), it.score_error)

    def follow(self, length: float, score_error: float) -> None:
        """The next iterate has at most this norm, and scores with at most this error."""
        self.t += 1
        if self.t:
            self.path.advance()
        self.distance = math.inf if self.path.lost else self._next
        self.plain = self._plain_next
        if not math.isfinite(self.distance):
            self._next = math.inf
            return
        radius, path = self.space.radius, self.path
        rounding = radius * per_sum(self.space) + 4 * ROUNDOFF * (length / self.step + radius)
        rounding += 32 * self.space.tiny  # what underflows in the step, there and here
        if self.t:  # before, every σ_i is ½
            self.plain_doubt = self._doubt(path.seen, self.plain, 0.0)
            self.doubt = self._doubt(path.gaps, self.distance, score_error)
        moved = self._moved(self.doubt) if self.t else 0.0
        self._next = (self.distance + moved + rounding) * (1 + 8 * ROUNDOFF)
        self._plain_next = self.plain + (self._moved(self.plain_doubt) if self.t else 0.0)

    def _doubt(self, gaps: Floats, distance: float, score_error: float) -> float:
        """T_t, for scores of θ̂_t and a distance from it."""
        exponents = self.step * (gaps - self.space.radius * distance) - score_error
        # Rounding of the exponents themselves.
        exponents -= 16 * ROUNDOFF * np.abs(exponents)
        # TINY: where expit underflows, the truth is below the smallest double.
        return float((expit(-exponents) * SAFETY + TINY).sum()) * SAFETY

    def _moved(self, doubt: float) -> float:
        """How much further apart the step takes the two."""
        radius = self.space.radius
        if not self.normalised:
            return radius * doubt / self.space.n * SAFETY
        wrong = int(self.path.wrong.sum())
        if doubt >= wrong:
            return math.inf if not wrong else 2 * radius
        return 2 * radius * min(1.0, doubt / (wrong - doubt)) * SAFETY

    def within(self, apart: Number, more: float, **about: Any) -> Relation:
        """‖θ_t/γ − θ̂_t‖ ≤ E_t, up to the rounding in E_t and `more`, if that is small beside the
        rest of E_t or as large as t steps of rows cannot help."""
        sums = (self.t + 1) * self.space.least_radius * (per_sum(self.space) / ROUNDOFF)
        size = size_of(self.plain, sums + self.path.point.reach())
        rounding = self.distance - self.plain + more
        what = "‖θ_t/γ − θ̂_t‖ ≤ E_t(γ)"
        about["magnitude"] = self.path.point.size()
        return nearly(apart, self.plain, what, rounding=rounding, size=size, **about)

    @property
    def ended(self) -> bool:
        """Whether nothing is said of this t: the normalised perceptron has no step any more."""
        return self.distance == math.inf and not self.path.lost

    def apart(self, w: Vec) -> Number:
        """‖θ_t/γ − θ̂_t‖."""
        return (w * (1 / number(self.step)) - self.path.point).norm()


class NormalizedRate(Rate):
    """The same for Normalized LR+GD."""

    normalised = True


def closeness(it: View, rate: Rate) -> Relation | None:
    """‖θ_t/γ − θ̂_t‖ ≤ E_t."""
    if rate.path.lost:
        return fact(None, UNKNOWN)
    if rate.ended:
        return None
    if (zero := only_zeros(it)) is not None:
        return zero
    apart = rate.apart(it.here)
    # Rows that are zero have both sides zero, but for what the ball of a norm leaves open.
    return rate.within(apart, least(it.space) + 2 * float(apart.rad()))
