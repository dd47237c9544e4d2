"""What the one-step checks of Ramdas and Peña's methods share: rounding bounds, ties, exits.

A step is recomputed from the iterate before it, from delivered doubles. Two sources of rounding are
allowed for, by proved bounds. *Fresh* scores of w in doubles are off by `View.score_error`. Methods
that carry scores, w and weights along as convex combinations add at most a few roundoffs of numbers
of the size of the rows in each step, so that after k steps they are off by `carried`.
"""

from __future__ import annotations

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    Floats,
    Relation,
    Vec,
    View,
    below,
    claimed_number,
    equal,
    fact,
    number,
)
from gammabar.papers.ramdas_pena_2015.weights import carried, pull


class Walk:
    """Remembers the iterate before the one at hand."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.before: View | None = None
        self.now: View | None = None

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        self.before, self.now = self.now, it

    def previous(self, it: View) -> View:
        """The iterate before, at the level of this one."""
        assert self.before is not None
        return self.before.at(it.level) if it.level else self.before


def slack(it: View, k: int) -> float:
    """How far apart two scores may seem to be that are equal, here and in the solver together."""
    return 2 * (carried(it, k) + it.score_error) * SAFETY


def tied(it: View, k: int) -> np.ndarray:
    """The rows that may have the smallest score."""
    scores = it.score_doubles
    return np.flatnonzero(scores <= float(scores.min()) + slack(it, k))


def went_on(before: View, k: int) -> Relation:
    """The method took another step, so it was not at its end: Gα_k > 0 did not hold."""
    done = bool(before.smallest > slack(before, k))
    return fact(not done, "the method goes on, so Gα_k > 0 does not hold")


def ended(it: View, k: int) -> list[Relation]:
    """The method says that it separates, so it does."""
    if it.extra.get("halt") != "separated":
        return []
    what = "the method halts, so Gα_k > 0"
    if not it.w.any():  # no rounding makes a score of the origin positive
        return [fact(False, what)]
    return [below(0, it.smallest, what, allowance=slack(it, k))]


def same_vector(it: View, predicted: Vec, what: str, more: float = 0.0) -> Relation:
    """w_k is a vector that was recomputed, up to four times the error of that, and `more`."""
    gap = it.vec(it.w - predicted.mid).norm()
    # TINY: products that underflow, in a view whose longest row has norm one.
    allowed = 4 * predicted.err + 8 * ROUNDOFF * predicted.size() + more + 4 * TINY
    return equal(gap, 0, what, allowance=allowed, size=it.space.least_radius + predicted.reach())


def represents(it: View, weights: Floats, k: int, name: str = "α") -> Relation:
    """w_k = Aᵀα_k, where both were carried along for k steps."""
    mass = 1 + float(np.abs(weights).sum())
    more = 8 * (k + 2) * ROUNDOFF * it.space.radius * mass
    return same_vector(it, pull(it, weights), f"w_k = Aᵀ{name}_k", more)


def same_weights(found: Floats, predicted: Floats, allowed: float, what: str) -> Relation:
    """Weights that were recomputed, in the ℓ₁ norm."""
    gap = float(np.abs(found - predicted).sum())
    size = float(np.abs(predicted).sum() + np.abs(found).sum())
    return equal(gap, 0, what, allowance=allowed + 8 * ROUNDOFF * size)


def same_number(found: object, expected: object, relative: float, what: str) -> Relation:
    """A positive number that was recomputed exactly."""
    exact, said = number(expected), claimed_number(found)
    if said is None:
        return fact(False, f"{what} is a number")
    allowed = float(exact.abs_upper()) * relative * ROUNDOFF
    return equal(number(said), exact, what, allowance=allowed)
