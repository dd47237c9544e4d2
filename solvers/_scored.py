"""Iterates of solvers that need the scores of every iterate anyway."""

from __future__ import annotations

from typing import Any

from problems import Problem
from problems.base import Array, Floats
from solvers.base import Iterate


def scored(
    t: int, w: Array, problem: Problem, scores: Floats, dual: Array | None = None, **extra: Any
) -> Iterate:
    """An iterate that knows its scores, so that asking for them costs no pass over the data."""
    iterate = Iterate(t, w, problem, dual=dual, extra=extra)
    # `Iterate.scores` is a cached property: this is where it looks first.
    vars(iterate)["scores"] = scores
    return iterate
