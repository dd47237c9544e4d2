"""p_k of the smoothed methods, as delivered and as it follows from the iterates.

    p_0 = p_{μ_0}(α_0),   p_{k+1} = (1 − θ_k) p_k + θ_k p_{μ_{k+1}}(α_{k+1}),   θ_k = 2/(k+3)

p_μ(α) depends on the scores Gα_k alone, which come from w_k: so a p_k that a solver delivers is
checked, and a bound on ‖p_k‖_G is one about the method.
"""

from __future__ import annotations

import numpy as np

from gammabar.papers import ROUNDOFF, Case, Floats, Relation, View, fact, size_of, within
from gammabar.papers.ramdas_pena_2015.losses import nearest
from gammabar.papers.ramdas_pena_2015.weights import carried, claimed_weights, uniform, weights_of


def soft_answer(it: View, mu: float) -> tuple[Floats, float]:
    """p_μ(α) of Section 4, softmax(−Gα/μ), and a bound on its error, here and there, in ℓ₁."""
    scores = it.score_doubles
    weights = np.exp((float(scores.min()) - scores) / mu)
    # Scores here and there differ by 2e at most, so weights by a factor of exp(4e/μ).
    spread = 4 * it.score_error / mu
    error = 1.5 * spread if spread < 0.5 else 2.0
    return weights / weights.sum(), error + 8 * (it.n + 16) * ROUNDOFF


def near_answer(it: View, mu: float, q: Floats) -> tuple[Floats, float]:
    """p^q_μ(α) of Section 6, the point of the simplex nearest to q − Gα/μ, and its error."""
    scores = it.score_doubles
    nearby = nearest(q - (scores - float(scores.min())) / mu)
    # The projection does not stretch ℓ₂ distances, and ‖·‖₁ ≤ √n ‖·‖₂; sums of n numbers.
    apart = 2 * (it.score_error + carried(it, it.t)) / mu
    return nearby, it.n * apart + 16 * it.n * (it.n + 8) * ROUNDOFF


def summands(n: int) -> int:
    """So many numbers are added up for n weights: a projection sorts and sums them n times, from
    scores that were carried along. A step that is nothing, at the optimum, is right up to these.
    """
    return max(n * (n + 8), 1024)


def not_average(
    p: Floats, before: Floats | None, answer: Floats, error: float, k: int
) -> Relation | None:
    """That p_k is not the average of p_{k−1} and of the answer at k, if it is not known to be."""
    predicted, moved = answer, 1.0
    if before is not None:
        theta = 2 / (k + 2)
        predicted, error = (1 - theta) * before + theta * answer, theta * error
        moved = float(np.abs(predicted - before).sum())
    gap = float(np.abs(p - predicted).sum())
    mass = float(np.abs(p).sum() + np.abs(predicted).sum())
    known = within(gap, error + 8 * ROUNDOFF * mass, size_of(moved, mass * summands(len(p))))
    what = "p_k is the average that follows from the iterates"
    return None if known else fact(known, what, said=True)


class _Averages:
    """What is wrong with the p_k of a run, if anything is."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.wrong: Relation | None = None
        self._before: Floats | None = None

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        p = weights_of(it, "p")
        self.wrong = None
        if p is not None:
            self.wrong = not_average(p, self._before, *self.answer(it), it.t)
        self._before = p

    def answer(self, it: View) -> tuple[Floats, float]:
        """p_{μ_k}(α_k), and a bound on its error."""
        raise NotImplementedError


class SoftAverages(_Averages):
    """For SNKP: μ_k = 4/((k+1)(k+2))."""

    def answer(self, it: View) -> tuple[Floats, float]:
        return soft_answer(it, 4 / ((it.t + 1) * (it.t + 2)))


class NearAverages(_Averages):
    """For SNKPVN: μ_k = 4n/((k+1)(k+2))."""

    def answer(self, it: View) -> tuple[Floats, float]:
        return near_answer(it, 4 * it.n / ((it.t + 1) * (it.t + 2)), centre(self.case))


def centre(case: Case) -> Floats:
    """q of SNKPVN(q, δ)."""
    chosen = getattr(case.solver, "q", None)
    return uniform(case.n) if chosen is None else np.asarray(chosen, dtype=np.float64)


def followed(it: View, case: Case, kind: type[_Averages]) -> tuple[Floats, list[Relation]]:
    """p_k as delivered, and that it does not follow from the iterates, if it does not.

    Raises
    ------
    Unclaimed
    """
    p = claimed_weights(it, "p")
    wrong = case.history(kind).wrong
    return p, [] if wrong is None else [wrong]
