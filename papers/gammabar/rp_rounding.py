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
    at_most,
    below,
    claimed_number,
    equal,
    fact,
    number,
    size_of,
)
from gammabar.papers.gammabar import ties
from gammabar.papers.ramdas_pena_2015.smoothed_weights import summands
from gammabar.papers.ramdas_pena_2015.weights import (
    carried,
    carried_rows,
    lengths,
    product_terms,
    pull,
)


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


def slacks(it: View, k: int) -> Floats:
    """How far each score may be off, here and in the solver."""
    return np.asarray((carried_rows(it, k) + it.score_errors) * SAFETY)


def tied(it: View, k: int) -> np.ndarray:
    """The rows that may have the smallest score."""
    return ties.tied(it.score_doubles, slacks(it, k))


def told_apart(it: View, k: int) -> Relation:
    """That it can be told which rows these are."""
    what, parts = "which rows have the smallest score can be told", product_terms(it, k)
    if not it.w.any() or it.n == 1:
        return fact(True, what)
    known = ties.told_apart(it.score_doubles, slacks(it, k), parts * it.space.shares)
    return fact(known, what)


def went_on(before: View, k: int) -> Relation:
    """The method took another step, so it was not at its end: Gα_k > 0 did not hold."""
    what = "the method goes on, so Gα_k > 0 does not hold"
    if not before.w.any():
        return fact(True, what)
    size = before.space.radius * before.here.reach()
    return at_most(before.smallest, 0, what, allowance=slack(before, k), size=size)


def ended(it: View, k: int) -> list[Relation]:
    """The method says that it separates, so it does."""
    if it.extra.get("halt") != "separated":
        return []
    what = "the method halts, so Gα_k > 0"
    if not it.w.any():  # no rounding makes a score of the origin positive
        return [fact(False, what)]
    return [below(0, it.smallest, what, allowance=slack(it, k))]


def same_vector(
    it: View,
    predicted: Vec,
    what: str,
    more: float = 0.0,
    start: Vec | None = None,
    parts: float = 0.0,
) -> Relation:
    """w_k is a vector that was recomputed, up to four times the error of that, and `more`.

    If it is a step from `start`, that step is what rounding must be small beside; else it, and
    `parts`, what it is a sum of.
    """
    gap = it.vec(it.w - predicted.mid).norm()
    # TINY: products that underflow, in a view whose longest row has norm one.
    allowed = 4 * predicted.err + 8 * ROUNDOFF * predicted.size() + more + 4 * TINY
    about = predicted
    if start is not None:
        about, parts = predicted - start, parts + start.reach()
    size = size_of(about.norm(), parts + predicted.reach() + it.here.reach())
    return equal(gap, 0, what, allowance=allowed, size=size)


def represents(it: View, weights: Floats, k: int, name: str = "α") -> Relation:
    """w_k = Aᵀα_k, where both were carried along for k steps."""
    size, what = lengths(it, weights), f"w_k = Aᵀ{name}_k"
    if not size:  # of nothing, or of rows that are 0
        return fact(not it.w.any(), what)
    # Sums of so many numbers, in k steps.
    parts = (k + it.n + it.space.dimension) * size
    more = 16 * (k + 2) * ROUNDOFF * size
    return same_vector(it, pull(it, weights), what, more, parts=parts)


def same_weights(
    found: Floats, predicted: Floats, allowed: float, what: str, start: Floats | None = None
) -> Relation:
    """Weights that were recomputed, in the ℓ₁ norm; `start` as in `same_vector`."""
    gap = float(np.abs(found - predicted).sum())
    mass = float(np.abs(predicted).sum() + np.abs(found).sum())
    moved = float(np.abs(predicted if start is None else predicted - start).sum())
    allowed += 8 * ROUNDOFF * mass
    size = size_of(moved, mass * summands(len(found)))
    return equal(gap, 0, what, allowance=allowed, size=size)


def same_number(found: object, expected: object, relative: float, what: str) -> Relation:
    """A positive number that was recomputed exactly."""
    exact, said = number(expected), claimed_number(found)
    if said is None:
        return fact(False, f"{what} is a number")
    allowed = float(exact.abs_upper()) * relative * ROUNDOFF
    return equal(number(said), exact, what, allowance=allowed)
