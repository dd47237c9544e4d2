"""Working-set method for the support and its weights, in floating point; nothing is trusted.

Each scan of the data scores every row against the current point w = Aᵀq
and hands the most violated rows, many at once, to Wolfe's minimum-norm-point method on the small
Gram matrix of the working set. MNIST 0/1 (12,665 rows) needs about eight scans.

Most rows never come near the margin. So after a scan of all rows only the lowest of them are
scanned, until none of these is below its level; then all are again. Integers of eight bits are
scored in integers first, and in doubles where that leaves a doubt.

A `Watch` keeps the best weights seen so far, reports progress and ends the search in time.

Where the margin is too narrow for a Gram matrix of doubles, `narrow` takes over.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.oracle.rational import Rows, sides_of, spread, tame, without
from gammabar.problems import (
    DenseProblem,
    Problem,
    ProblemError,
    ScatteredProblem,
    SparseProblem,
)
from gammabar.problems.linear import LinearProblem
from gammabar.problems.problem import Floats

if TYPE_CHECKING:
    from gammabar.oracle.result import Truth


#: Rows added per scan: enough that scans are few, few enough that the Gram matrix stays small.
BATCH = 100
#: Below this share of the radius the point is the origin as far as doubles can tell.
ZERO = 1e-10
#: Below this share the squared margin is 10⁻⁸ of the Gram matrix, of which doubles show few digits:
#: `narrow` takes over, where it can.
NARROW = 1e-4
#: Columns up to which it does: dense factors of a full corral are 128 MB at 4,000.
_COLUMNS = 4000
#: Rows of a corral that there is room for, where the whole Gram matrix is at hand.
ROOM = 160
#: Rows up to which systems of all rows are solved, of data with half as many columns or more.
WIDE = 3000
#: Share of the squared radius that is added to their diagonal, so that they are definite.
SHIFT = 1e-13
#: Entries of the data up to which no compiled code is loaded for them.
LITTLE = 50_000
#: Entries of the data, if they were dense, from which on no dense copy of them is made lightly.
LARGE = 40_000_000
#: A scan is one pass over the data; convergence takes tens, so this is a guard, not a limit.
MAX_SCANS = 1000
#: Rows from which on some of them are looked at between passes over all, and which share of them.
_MANY, _SHARE = 4000, 8
#: Bytes of the copy of these rows, at most: of data in memory, and of chunks.
_HERE, _NEAR = 1 << 27, 1 << 23
#: With fewer it is not worth while.
_FEWEST = 500
#: Rows of a side whose mean is where the search starts.
_SOME = 500


@dataclass(frozen=True)
class Candidate:
    """A guess at the support rows and their dual weights; nothing about it is proved.

    It is `settled` if no row lies below its level, as far as doubles tell.
    """

    support: Rows
    weights: Floats
    scans: int
    method: str
    settled: bool = False


def candidate_for(problem: Problem, method: str, watch: Watch | None = None) -> Candidate:
    """An untrusted candidate by the method asked for, or by CVXPY where doubles fail the other."""
    tamed, _ = tame(problem)
    if method == "exact":
        found = _exact_candidate(tamed, watch or Watch())
        if np.isfinite(found.weights).all() and len(found.support):
            return found
    return _cvxpy_working_set(tamed)


def _exact_candidate(problem: Problem, watch: Watch) -> Candidate:
    """By the Gram matrix, or where the margin is too narrow for it by the rows themselves."""
    if problem.n * problem.dimension <= LITTLE:
        found = working_set(problem, watch)
        if found.settled or load_core(problem) is _plain_minimum_norm:
            return found
        # Inseparable data have many optimal q̄: which one is told must not depend on whether this
        # process has loaded the compiled core.
        return working_set(problem, watch, minimum_norm=_plain_minimum_norm)
    rows = isinstance(problem, DenseProblem | SparseProblem) and problem.dimension <= _COLUMNS
    found = working_set(problem, watch, NARROW if rows else ZERO)
    if found.settled or not rows or _large_and_wide(problem, found):
        return found
    from gammabar.oracle.narrow import narrow_candidate

    return narrow_candidate(problem, found, watch)


def _large_and_wide(problem: Problem, found: Candidate) -> bool:
    """Whether the second way would need much memory, for a margin that doubles show well enough.

    Then rounding has ended the search next to the answer, and the proof mends what is missing.
    """
    if problem.n * problem.dimension <= LARGE:
        return False
    w = problem.combine(spread(problem.n, found.support, found.weights))
    return float(np.linalg.norm(w)) > NARROW * problem.radius


def working_set(
    problem: Problem, watch: Watch | None = None, floor: float = ZERO, minimum_norm: Any = None
) -> Candidate:
    """Guess the support of the minimum-norm point of the rows' convex hull, of any geometry.

    The watch is told the bounds of the margin after each scan; the search is given up if the point
    is shorter than the share `floor` of the radius.
    """
    minimum_norm = minimum_norm or load_core(problem)
    radius2 = problem.radius**2
    look = _Scans(problem)
    side, sides = look.side, look.sides
    if radius2 == 0.0:
        rows = np.array([np.argmax(side == k) for k in range(sides)], dtype=np.int64)
        return Candidate(np.sort(rows), np.full(sides, 1 / sides), 0, "working-set", True)
    rows, weights = _by_blocks(problem, look, watch) or (look.start(), np.full(sides, 1 / sides))
    gram, size = problem.gram(rows), len(rows)  # of the working set
    capacity = 256
    while capacity <= size:
        capacity *= 2
    S, q, R = _grow(capacity, None, None, None)
    S[:size], q[:size] = np.arange(size), weights
    same = side[rows][:, None] == side[rows]
    R[:size, :size] = np.linalg.cholesky(gram + radius2 * (same + SHIFT * np.eye(size))).T
    best, settled = np.inf, False
    while look.count < MAX_SCANS:
        kept, whole = rows[S[:size]], look.whole
        most = max(BATCH, size // 2)
        seen = look.look(kept, q[:size], most)
        square = seen.square
        if watch is not None and square > 0:
            norm = math.sqrt(square)
            margin = seen.least / norm / problem.radius if whole else -math.inf
            watch.seen(kept, q[:size], norm / problem.radius, margin)
        fresh = seen.lowest(most, 1e-11 * seen.level, rows)
        wide, stuck = square > floor**2 * radius2, len(fresh) == 0 or not square < best
        if wide and stuck and not whole:
            look.all_rows()
            continue
        settled = len(fresh) == 0 and wide
        if stuck or not wide:
            break
        best = square
        gram = _extend(problem, gram, S[:size], rows, fresh)
        rows = np.concatenate([kept, fresh])
        S[:size] = np.arange(size)
        while True:
            size = minimum_norm(gram, radius2, side[rows], S, q, size, R, sides)
            if size < capacity:
                break
            capacity *= 2
            S, q, R = _grow(capacity, S, q, R)
    keep = np.flatnonzero(q[:size] > 0)
    order = keep[np.argsort(rows[S[keep]])]
    weights = q[order] / q[order].sum()
    return Candidate(rows[S[order]], weights, look.count, "working-set", settled)


def _by_blocks(problem: Problem, look: _Scans, watch: Watch | None) -> tuple[Rows, Floats] | None:
    """A corral of data with about as many columns as rows, of which most have a weight; or None.

    Rows below their level enter all at once, and rows whose weight in the affine minimiser is
    negative leave all at once, as long as the point gets shorter. A few large systems take less
    time than hundreds of steps.
    """
    n = problem.n
    if not isinstance(problem, DenseProblem | SparseProblem) or n > min(
        WIDE, 2 * problem.dimension
    ):
        return None
    square, ones = problem.radius**2, np.eye(look.sides)[look.side]
    gram = problem.gram(np.arange(n))
    lifted = gram + square * (ones @ ones.T)
    lifted.flat[:: n + 1] += SHIFT * square
    best, found, rows = np.inf, None, np.arange(n)
    while True:
        corral = _affine_corral(lifted, ones, rows)
        if corral is None:
            return found
        rows, weights = corral
        scores = weights @ gram[rows]
        held = float(weights @ scores[rows])
        if not ZERO * square < held < best * (1 - ZERO):
            return found
        best, found = held, corral
        if watch is not None:
            norm, least = math.sqrt(held), least_scores(scores, look.side, look.sides)
            margin = sum(least) / len(least) / norm / problem.radius
            watch.seen(rows, weights, norm / problem.radius, margin)
        levels = look.sides * ((weights * scores[rows]) @ ones[rows])
        below = np.flatnonzero(scores < levels[look.side] - ZERO * held)
        if not len(fresh := without(n, below, rows)):
            return found
        rows = np.sort(np.concatenate([rows, fresh]))


def _affine_corral(lifted: Floats, ones: Floats, rows: Rows) -> tuple[Rows, Floats] | None:
    """The affine minimiser of those rows that are left when no weight is negative."""
    from scipy.linalg.lapack import dposv

    sides = ones.shape[1]
    while ones[rows].any(axis=0).all():
        _, u, failed = dposv(lifted[rows[:, None], rows], ones[rows])
        inner = ones[rows].T @ u
        if failed or not abs(np.linalg.det(inner)) > 0:
            return None
        weights = u @ np.linalg.solve(inner, np.full(sides, 1 / sides))
        if weights.min() > 0:
            return rows, weights
        rows = rows[weights > 0]
    return None


def load_core(problem: Problem) -> Any:
    """The core of the method: compiled, but for little data while that is not loaded anyway."""
    if problem.n * problem.dimension <= LITTLE and "gammabar.oracle._wolfe" not in sys.modules:
        return _plain_minimum_norm
    from gammabar.oracle._wolfe import minimum_norm

    return minimum_norm


def _plain_minimum_norm(G, c2, side, S, q, s, R, sides):  # type: ignore[no-untyped-def]
    """`_wolfe.minimum_norm` without compiled code, whose import takes longer than little data do.

    Affine minimisers are solved for afresh, so that R is not used.
    """
    H = G + c2 * (side[:, None] == side)
    refused: set[int] = set()
    for _ in range(20 * len(G) + 100):  # no more than rounding errors take that many
        if s == len(S):
            break
        corral, scores = S[:s], G[:, S[:s]] @ q[:s]
        square = float(q[:s] @ scores[corral])
        levels = sides * np.bincount(side[corral], q[:s] * scores[corral], sides)
        above = scores - levels[side]
        above[[*corral, *refused]] = 0.0
        j = int(np.argmin(above))
        if not above[j] < 0 or square <= ZERO**2 * c2:
            break
        S[s], q[s] = j, 0.0
        size, old, weights = s + 1, S[:s].copy(), q[:s].copy()
        try:
            size = _plain_settle(H, side, S, q, size, sides)
        except np.linalg.LinAlgError:
            S[:s], q[:s] = old, weights
            refused.add(j)
            continue
        after = float(q[:size] @ G[np.ix_(S[:size], S[:size])] @ q[:size])
        if not after < square * (1 - 1e-13):
            S[:s], q[:s] = old, weights
            break
        s = size
    return s


def _plain_settle(H, side, S, q, s, sides):  # type: ignore[no-untyped-def]
    while True:
        ones = np.eye(sides)[side[S[:s]]]
        u = np.linalg.solve(H[np.ix_(S[:s], S[:s])], ones)
        goal = u @ np.linalg.solve(ones.T @ u, np.full(sides, 1 / sides))
        falling = np.flatnonzero(goal <= 0)
        ratios = q[falling] / (q[falling] - goal[falling] + (q[falling] == goal[falling]))
        if not len(falling):
            q[:s] = goal
            return s
        k = int(falling[np.argmin(ratios)])
        q[:s] += ratios.min() * (goal - q[:s])
        S[k : s - 1], q[k : s - 1] = S[k + 1 : s].copy(), q[k + 1 : s].copy()
        s -= 1


def _cvxpy_working_set(problem: Problem) -> Candidate:
    """The same guess from CVXPY: interior-point solutions of growing working sets."""
    from gammabar.oracle.cvxpy_models import kernel_dual

    n, look = problem.n, _Scans(problem)
    side, sides = look.side, look.sides
    scores = problem.scores(problem.combine(np.full(n, 1.0 / n)))
    lowest = [np.flatnonzero(side == k) for k in range(sides)]
    lowest = [some[np.argsort(scores[some], kind="stable")[: 2 * BATCH]] for some in lowest]
    rows = np.sort(np.concatenate(lowest)).astype(np.int64)
    while look.count < MAX_SCANS:
        result = kernel_dual(problem.gram(rows), side[rows] if sides == 2 else None)
        if result.q is None:
            raise ProblemError(f"CVXPY gave no answer ({result.status}); use --method exact")
        weights = np.maximum(result.q, 0.0)
        weights /= weights.sum()
        look.all_rows()
        seen = look.look(rows, weights, 2 * BATCH)
        slack = 1e-7 * problem.radius * (max(seen.square, 0.0) ** 0.5 + 1e-7 * problem.radius)
        fresh = seen.lowest(2 * BATCH, slack, rows)
        if len(fresh) == 0:
            break
        rows = np.union1d(rows, fresh)
    keep = weights > 1e-6 * weights.max()
    return Candidate(rows[keep], weights[keep] / weights[keep].sum(), look.count, "cvxpy")


def _extend(problem: Problem, gram: Floats, kept: Rows, rows: Rows, fresh: Rows) -> Floats:
    """Gram matrix of the kept support followed by the fresh rows; old entries are reused."""
    s, m = len(kept), len(kept) + len(fresh)
    block = problem.gram(fresh, np.concatenate([rows[kept], fresh]))
    out = np.empty((m, m))
    out[:s, :s] = gram[np.ix_(kept, kept)]
    out[s:] = block
    out[:s, s:] = block[:, :s].T
    return out


def _grow(capacity, S, q, R):  # type: ignore[no-untyped-def]
    """Work arrays of the given capacity, holding what the smaller ones held."""
    new = (np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros((capacity, capacity)))
    if S is not None:
        new[0][: len(S)], new[1][: len(q)] = S, q
        new[2][: len(R), : len(R)] = R
    return new


Progress = Callable[[str], None]

#: Seconds between two words on how far the search is.
_PAUSE = 0.5


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

    rows: Rows
    weights: Floats
    value: float


@dataclass
class Watch:
    """Keeps the two best combinations of a search, tells how far it is, and ends it in time.

    Any weights q bound γ̄ from above by ‖Aᵀq‖ and from below by the margin of w = Aᵀq. The values
    here are doubles and prove nothing: `maximum_margin` makes a proof of the weights. The limit is
    in seconds from `begin`, or from when the watch was made.
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

    def seen(self, rows: Rows, weights: Floats, norm: float, margin: float) -> None:
        """Weights with ‖Aᵀq‖ and the margin of Aᵀq, both divided by the radius."""
        if self.upper is None or norm < self.upper.value:
            self.upper = Combination(rows.copy(), weights.copy(), norm)
        if margin > (0.0 if self.lower is None else self.lower.value):
            self.lower = Combination(rows.copy(), weights.copy(), margin)
        now = monotonic()
        if now - self._told > _PAUSE:
            self._told = now
            low = "0" if self.lower is None else f"{self.lower.value:.6g}"
            known = "not known to be separable, " if self.lower is None else ""
            self.progress(f"{known}γ̄ in [{low}, {self.upper.value:.6g}]")
        self.check()

    def left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        passed = monotonic() - self._start
        return None if self.limit is None else max(0.0, self.limit - passed)

    def check(self) -> None:
        """Raise `TimeUp` if it is."""
        left = self.left()
        if left is not None and left <= 0:
            raise TimeUp


# --- scans -----------------------------------------------------------------------------------


def least_scores(scores: Floats, side: Rows, sides: int) -> list[float]:
    """The smallest score of each side; infinite where none of its rows was looked at."""
    if sides == 1:
        return [float(scores.min())]
    return [float(scores[side == k].min(initial=np.inf)) for k in range(sides)]


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


class _Scans:
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
