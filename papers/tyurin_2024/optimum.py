"""The proofs' distance to α θ̂_*, where θ̂_* is the unit vector of largest margin.

With the dual optimum q̄, Σ_i q̄_i a_i = μ θ̂_*. So ⟨θ, θ̂_*⟩ is a weighted sum of scores, over μ, and
‖θ − α θ̂_*‖² = ‖θ‖² − 2 (α/μ) Σ_i q̄_i ⟨a_i, θ⟩ + α². The weighted sum is `View.toward`.
"""

from __future__ import annotations

from gammabar.papers import Case, Trit, View


def known_optimum(case: Case) -> str | None:
    """q̄ is known, and not only approximately."""
    return None if case.truth.exact else "the maximum-margin separator is only known approximately"


class Walk:
    """Remembers where a run began, and the iterate before the one at hand."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._first: View | None = None
        self._before: View | None = None
        self._now: View | None = None
        #: Whether t ≤ t*, the first moment at which the data are separated.
        self.early: Trit = True

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        it.keep()
        self._before, self._now = self._now, it
        if self._before is not None and self.early is not False:
            missed = self._before.misses
            self.early = missed if self.early else False if missed is False else None
        if it.t == 1:
            self._first = it

    def first(self, it: View) -> View:
        """θ_1, at the level of this iterate."""
        assert self._first is not None
        return self._first.at(it.level) if it.level else self._first

    def previous(self, it: View) -> View:
        """θ_{t−1}, at the level of this iterate."""
        assert self._before is not None
        return self._before.at(it.level) if it.level else self._before


#: Of a step after one that may have separated the data or not.
IN_DOUBT = "whether θ_0, …, θ_t do not separate the data"
