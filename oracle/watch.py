"""What a search has found so far: the best bounds of the margin, for whoever cannot wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gammabar.oracle.truth import Truth

Progress = Callable[[str], None]

#: Seconds between two words on how far the search is.
PAUSE = 0.5


class TimeUp(Exception):
    """The time that the search was given is over; what it has found is in the watch."""


class Interrupted(KeyboardInterrupt):
    """Somebody interrupted the search; `bounds()` are the best that are proved (a `Truth`)."""

    def __init__(self, bounds: Callable[[], Truth]) -> None:
        super().__init__()
        self.bounds = bounds


def silent(stage: str) -> None:
    """Tell nobody."""


@dataclass
class Combination:
    """Weights on some rows, of sum one (on each side its share), and what they are worth."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    value: float


@dataclass
class Watch:
    """Keeps the two best combinations of a search, tells how far it is, and ends it in time.

    Any weights q bound γ̄ from above by ‖Aᵀq‖ and from below by the margin of w = Aᵀq. The values
    here are doubles and prove nothing: `oracle.anytime` makes a proof of the weights.

    Attributes
    ----------
    limit : float or None
        Seconds from the beginning (`begin`; otherwise from when the watch was made).
    progress : callable
        Told the stages, and the bounds as they get closer.
    """

    limit: float | None = None
    progress: Progress = silent
    upper: Combination | None = None
    lower: Combination | None = None
    _start: float = field(default_factory=monotonic)
    _told: float = 0.0

    def begin(self) -> None:
        """Time counts from now."""
        self._start = monotonic()

    def stage(self, text: str) -> None:
        """Something else begins."""
        self.progress(text)
        self.check()

    def seen(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        norm: float,
        margin: float,
    ) -> None:
        """Weights with ‖Aᵀq‖ and the margin of Aᵀq, both divided by the radius."""
        if self.upper is None or norm < self.upper.value:
            self.upper = Combination(rows.copy(), weights.copy(), norm)
        if margin > (0.0 if self.lower is None else self.lower.value):
            self.lower = Combination(rows.copy(), weights.copy(), margin)
        now = monotonic()
        if now - self._told > PAUSE:
            self._told = now
            low = "0" if self.lower is None else f"{self.lower.value:.6g}"
            known = "not known to be separable, " if self.lower is None else ""
            self.progress(f"{known}γ̄ in [{low}, {self.upper.value:.6g}]")
        self.check()

    def check(self) -> None:
        """Raise `TimeUp` if it is."""
        if self.limit is not None and monotonic() - self._start >= self.limit:
            raise TimeUp
