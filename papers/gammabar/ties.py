"""Rows of smallest score, where rounding leaves several of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.papers import COARSE, HELD, Floats, Trit


def tied(scores: Floats, off: Floats) -> NDArray[np.int64]:
    """The rows that may have the smallest score, if each is off by at most as much.

    All of them where nothing is known: what is no number is not larger than anything.
    """
    return np.flatnonzero(~(scores - off > float((scores + off).min())))


def told_apart(scores: Floats, off: Floats, parts: Any) -> Trit:
    """Whether `tied` says something: for the rows that it leaves rounding is small beside what
    scores differ by, or beside `parts`, the products that they are sums of (row by row); of rows
    that differ by no more any is right. None if not."""
    rows = tied(scores, off)
    sizes = float(scores.max() - scores.min()) + HELD * np.broadcast_to(parts, scores.shape)[rows]
    return True if bool((off[rows] <= COARSE * sizes).all()) else None
