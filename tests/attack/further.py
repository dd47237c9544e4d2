"""Trials of their own kind: solvers that statements run by themselves, and claims beside w.

They take turns, so that a number means the same trial again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import (
    boosting,
    boosting_claims,
    descent,
    failing,
    ridge,
    smoothed,
    smoothed_claims,
    stochastic,
)

#: Every so many numbers one of these is tried.
EVERY = 4
TRIALS: tuple[Callable[[int, int, Any], None], ...] = (
    boosting.one,
    descent.one,
    stochastic.one,
    ridge.one,
    smoothed.one,
    failing.one,
    smoothed.one,
)
#: Statements that have a truth of their own here.
JUDGED = {*boosting_claims.CLAIMS, *(name for claims in descent.CLAIMS.values() for name in claims)}
JUDGED |= {"gb.lec.sgd.step", "gb.lec.sgd.draws", "lec.thm3", "lec.cor4", "lec.ridge.fixed"}
JUDGED |= {name for claims in smoothed_claims.CLAIMS.values() for name in claims}
JUDGED |= {*failing.MARGINS, "lec.sec5.span"}
JUDGED |= {"gb.lec.ridge.system", "gb.lec.ridge.objective"}


def one(seed: int, number: int, tally: Any) -> None:
    """The trial whose turn it is, if it is anybody's."""
    if number % EVERY == 0:
        _try(TRIALS[number // EVERY % len(TRIALS)], seed, number, tally)


def every(seed: int, number: int, tally: Any) -> None:
    """All of them, whosever turn it is."""
    for trial in TRIALS:
        _try(trial, seed, number, tally)


def _try(trial: Callable[[int, int, Any], None], seed: int, number: int, tally: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        trial(seed, number, tally)
