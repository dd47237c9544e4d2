"""Passes over the data for the working-set method, with as little work as will do.

Most rows never come near the margin. So after a pass over all rows only the lowest of them are
looked at, until none of these is below its level; then all are again. Integers of eight bits are
scored in integers first, and in doubles where that leaves a doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem, ScatteredProblem
from gammabar.problems.linear import LinearProblem
from gammabar.problems.problem import Floats

#: Rows from which on some of them are looked at between passes over all, and which share of them.
_MANY, _SHARE = 4000, 8
#: Bytes of the copy of these rows, at most: of data in memory, and of chunks.
_HERE, _NEAR = 1 << 27, 1 << 23
#: With fewer it is not worth while.
_FEWEST = 500
#: Rows of a side whose mean is where the search starts.
_SOME = 500

Rows = NDArray[np.int64]


def sides_of(problem: Problem) -> tuple[Rows, int]:
    """The side of each row and how many there are: the classes, if the intercept is free."""
    if problem.intercept != "free":
        return np.zeros(problem.n, np.int64), 1
    return (np.asarray(problem.y) > 0).astype(np.int64), 2


def least_scores(scores: Floats, side: Rows, sides: int) -> list[float]:
    """The smallest score of each side; infinite where none of its rows was looked at."""
    if sides == 1:
        return [float(scores.min())]
    return [float(scores[side == k].min(initial=np.inf)) for k in range(sides)]


def balanced(weights: list[int], sides: Sequence[int]) -> list[int]:
    """Integers in the same proportions within a side, with the same sum on both sides."""
    sums = [sum(v for v, s in zip(weights, sides, strict=True) if s == k) for k in (0, 1)]
    if not all(sums):
        return weights
    shared = gcd(*sums)
    return [v * (sums[1 - s] // shared) for v, s in zip(weights, sides, strict=True)]


def spread(n: int, rows: Rows, weights: Floats) -> Floats:
    """The weights of all rows, most of them zero."""
    dense = np.zeros(n)
    dense[rows] = weights
    return dense


def without(n: int, some: Rows, others: Rows) -> Rows:
    """Rows of the first kind that are not of the second, in their order."""
    gone = np.zeros(n, np.bool_)
    gone[others] = True
    return some[~gone[some]]


@dataclass(frozen=True)
class _Scan:
    """What a pass over some rows (None: all) of n has found.

    `square` is ‖w‖², `above` how far each of the rows is above the level of its side: rough, but
    right for rows that may be below it, unless more of them are certainly below than were asked
    for. `least` is the mean over the sides of the smallest score, `level` the size of the largest.
    """

    square: float
    above: Floats
    rows: Rows | None
    least: float
    level: float
    n: int

    def lowest(self, most: int, slack: float, others: Rows) -> Rows:
        """Rows furthest below their level, by more than the slack, besides others; in order."""
        lowest = np.flatnonzero(self.above < -slack)
        if len(lowest) > most:
            lowest = lowest[np.argpartition(self.above[lowest], most - 1)[:most]]
        lowest = lowest if self.rows is None else self.rows[lowest]
        return np.sort(without(self.n, lowest, others))


class Scans:
    """Passes over the rows of a problem, all of them or some."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.count = problem, 0
        self.side, self.sides = sides_of(problem)
        self._active: Rows | None = None
        self._part: Problem | None = None
        self._share = _share(problem)

    @property
    def whole(self) -> bool:
        """Whether the next pass is over all rows."""
        return self._active is None

    def start(self) -> Rows:
        """Of each side the row that is lowest for the mean of the sides' means (of some rows)."""
        q = np.zeros(self.problem.n)
        for k in range(self.sides):
            some = np.flatnonzero(self.side == k)
            some = some[:: len(some) // _SOME + 1]
            q[some] = 1 / (self.sides * len(some))
        w = self.problem.combine(q)
        rough = self.problem.rough_scores(w)
        scores = self.problem.scores(w) if rough is None else rough[0]
        lowest = [np.where(self.side == k, scores, np.inf).argmin() for k in range(self.sides)]
        for k in range(self.sides):  # levels that the sides' own rows are compared with
            scores[self.side == k] -= scores[lowest[k]]
        self._choose(scores)
        return np.array(lowest, dtype=np.int64)

    def look(self, kept: Rows, weights: Floats, most: int) -> _Scan:
        """One pass, for the point of weights on the rows kept."""
        self.count += 1
        problem, side = self.problem, self.side
        w = problem.combine(spread(problem.n, kept, weights))
        held = problem.some_scores(kept, w)
        weighed = weights * held
        levels = self.sides * np.bincount(side[kept], weighed, self.sides).astype(np.float64)
        rows = self._active
        scores = self._part.scores(w) if self._part is not None else self._all(w, levels, most)
        level = levels[0] if self.sides == 1 else levels[side if rows is None else side[rows]]
        least = least_scores(scores, side if rows is None else side[rows], self.sides)
        if rows is None:
            self._choose(scores - level)
        top = float(np.abs(levels).max())
        mean = sum(least) / len(least)
        return _Scan(float(weighed.sum()), scores - level, rows, mean, top, problem.n)

    def all_rows(self) -> None:
        """Look at all rows in the next pass."""
        self._active = self._part = None

    def _all(self, w: Floats, levels: Floats, most: int) -> Floats:
        rough = self.problem.rough_scores(w)
        if rough is None:
            return self.problem.scores(w)
        scores, error = rough
        above = scores - (levels[0] if self.sides == 1 else levels[self.side])
        if np.count_nonzero(above < -error) < most:
            near = np.flatnonzero(np.abs(above) <= error)
            scores[near] = self.problem.some_scores(near, w)
        return scores

    def _choose(self, above: Floats) -> None:
        """The lowest rows are those to look at from now on."""
        if self._share:
            assert isinstance(self.problem, LinearProblem)
            self._active = np.argpartition(above, self._share)[: self._share]
            self._part = self.problem.part(self._active)


def _share(problem: Problem) -> int:
    """How many rows to look at between passes over all; none, if all are few or any are large.

    They are copied. Of rows in chunks as many bytes come here as a pass brings scores, or a few
    megabytes.
    """
    if not isinstance(problem, LinearProblem) or problem.n < _MANY:
        return 0
    row = problem.points.values / problem.n * problem.X.dtype.itemsize
    most = max(_NEAR, 8 * problem.n) if isinstance(problem, ScatteredProblem) else _HERE
    share = min(problem.n // _SHARE, int(most / row))
    return share if share >= _FEWEST else 0
