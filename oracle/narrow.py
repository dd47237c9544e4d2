"""Candidates for narrow margins, and for none: the minimum-norm point by factors of the rows.

Doubles see γ̄² in a Gram matrix only down to about 10⁻¹⁴ of the squared radius. Where the margin is
narrower, or zero, two things are done instead. Nothing that comes out is trusted.

*Is there a margin at all?* Σ q_i a_i = 0 does not depend on the coordinates: it holds for the rows
a_i if and only if it holds for the rows s_i Tᵀ a_i, with any regular T and any s_i > 0 (q_i becomes
q_i / s_i). So T is chosen to make the covariance of the rows the identity and s_i to make them of
length one, and the minimum-norm point of these rows is far easier to tell from zero. Rows that
cannot have a weight go first: if the entries of a column are all of one sign, the rows where it is
not zero have none, as Σ q_i a_ij = 0. (Making rows isotropic is the rescaling of [1]_, done once.)

*How wide is it?* The rows themselves are factored, so that γ̄ itself, not its square, competes with
rounding. Rows a_i of side k are *lifted* to â_i = (a_i, c e_k). Let Âᵀ = Qᵀ R be the lifted rows of
a corral, Q with orthonormal rows, and r_k the part of e_{d+k} that is orthogonal to them. Then
R u_k = Q e_{d+k} / c are the weights with Âᵀ u_k = (e_{d+k} − r_k) / c, and the affine minimiser
is the combination u = Σ α_k u_k whose weights have the same sum on every side. With ρ = Σ α_k r_k
it has w = −ρ / c on the first d coordinates, and for every row

    ⟨a_i, w⟩ − (level of its side) = −⟨â_i, ρ⟩ / c,

as ⟨â_i, ρ⟩ = 0 on the corral. So one product per row tells which rows are below their level. For
one side this is the method of Lawson and Hanson for min ‖Âᵀu − e‖ over u ≥ 0 [2]_; it takes the
steps of Wolfe's [3]_, on a working set to which many rows are added at a time.

References
----------
.. [1] J. Dunagan and S. Vempala (2008), A simple polynomial-time rescaling algorithm for solving
   linear programs. Mathematical Programming 114.
.. [2] C. L. Lawson and R. J. Hanson (1974), Solving Least Squares Problems, chapter 23.
.. [3] P. Wolfe (1976), Finding the nearest point in a polytope. Mathematical Programming 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gammabar.oracle.candidate import BATCH, MAX_SCANS, Candidate, Watch, least_scores
from gammabar.oracle.rational import Rows, sides_of, spread
from gammabar.problems.points import is_sparse
from gammabar.problems.problem import Floats

#: Entries up to which all rows are made isotropic: copies in doubles of 0.5 GB each. Beyond, the
#: first question is left out.
_ENTRIES = 1 << 26
#: Share of the largest eigenvalue of the covariance below which another is rounding.
_FLAT = 1e-14
#: Sines of the angle between a row and the corral's span (or of e with it) that are rounding.
_DEPENDENT, _ZERO = 1e-12, 1e-14
#: ⟨â_i, ρ⟩ relative to both lengths: below that a row is on its level as far as doubles tell.
_LEVEL = 1e-13

Tell = Callable[[Rows, Floats], None]


def narrow_candidate(problem: Any, first: Candidate, watch: Watch) -> Candidate:
    """A better guess than `first`, which the Gram matrix gave, for rows with coordinates.

    It has weights with Aᵀq = 0 as far as doubles tell, or is a guess at the minimum-norm point.
    """
    watch.stage("is there a margin?")
    opposed = _opposed(problem, watch) if problem.n * problem.dimension <= _ENTRIES else None
    if opposed is not None:
        return Candidate(*opposed, first.scans, "opposed", settled=True)
    watch.stage("narrow margin")
    search = _Search(lambda rows: _dense(problem, rows), problem.scores, problem.dimension)
    search.side, search.sides = sides_of(problem)
    search.lift = problem.radius
    try:
        scans = search.run(first.support, first.weights, _teller(problem, watch))
    except np.linalg.LinAlgError:  # rounding has made the factors singular
        return first
    return Candidate(*_sorted(search.rows, search.weights), scans, "orthogonal", settled=True)


def _dense(problem: Any, rows: Rows) -> Floats:
    block = problem._rows(rows)
    return np.asarray(block.toarray() if is_sparse(block) else block)


def _teller(problem: Any, watch: Watch) -> Tell:
    """What tells the watch about weights: the length of their point, and its margin."""
    side, sides = sides_of(problem)

    def tell(rows: Rows, weights: Floats) -> None:
        if not (np.bincount(side[rows], weights, sides) > 0).all():
            watch.check()
            return
        weights = _shared(weights, side[rows], sides)
        w = problem.combine(spread(problem.n, rows, weights))
        norm, scores = float(np.linalg.norm(w)), problem.scores(w)
        least = float(np.mean(least_scores(scores, side, sides)))
        watch.seen(rows, weights, norm / problem.radius, least / (norm or 1.0) / problem.radius)

    return tell


def _shared(weights: Floats, side: Rows, sides: int) -> Floats:
    """Weights scaled to the same sum on each side, and to the sum one."""
    return np.asarray(weights / (np.bincount(side, weights, sides) * sides)[side])


def _sorted(rows: Rows, weights: Floats) -> tuple[Rows, Floats]:
    """Rows with positive weights in increasing order; weights of sum one."""
    order = np.argsort(rows)
    order = order[weights[order] > 0]
    return rows[order], weights[order] / weights[order].sum()


def _opposed(problem: Any, watch: Watch) -> tuple[Rows, Floats] | None:
    """Rows and weights with Aᵀq = 0 (and yᵀq = 0, if the intercept is free), or None."""
    A = _dense(problem, np.arange(problem.n))
    if problem.intercept == "free":
        A = np.hstack([A, problem.radius * np.asarray(problem.y, dtype=np.float64)[:, None]])
    live = _possible(A)
    if not len(live):
        return None
    A = A[live]
    A = A[:, (A != 0).any(axis=0)]
    empty = live[~A.any(axis=1)]
    if len(empty):  # a row that is zero is a proof of its own
        return empty[:1], np.ones(1)
    A, lengths = _isotropic(A)
    tell, start = _teller(problem, watch), int((A @ A.mean(axis=0)).argmin())
    search = _Search(A.__getitem__, A.__matmul__, A.shape[1])
    search.side = np.zeros(len(A), np.int64)
    try:
        search.run(
            np.array([start]),
            np.ones(1),
            lambda rows, weights: tell(live[rows], weights / lengths[rows]),
            decide=True,
        )
    except np.linalg.LinAlgError:
        return None
    if not search.zero:
        return None
    return _sorted(live[search.rows], search.weights / lengths[search.rows])


def _possible(A: Floats) -> Rows:
    """The rows that may have a weight in q ≥ 0 with Aᵀq = 0; the others have none.

    If no entry of a column is negative (or none positive) on the rows that are left, those with
    another entry than zero in it are left out, and so on.
    """
    positive, negative = A > 0, A < 0
    live = np.arange(len(A))
    while len(live):
        lopsided = positive.any(axis=0) ^ negative.any(axis=0)
        if not lopsided.any():
            break
        stays = ~(positive[:, lopsided] | negative[:, lopsided]).any(axis=1)
        live, positive, negative = live[stays], positive[stays], negative[stays]
    return live


def _isotropic(A: Floats) -> tuple[Floats, Floats]:
    """Rows of length one with a covariance close to the identity, and what they were divided by."""
    gram = A.T @ A
    scale = 1 / np.sqrt(np.diag(gram))
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
    real = values > _FLAT * values[-1]  # the others are rounding: no row has a part in them
    A = A @ (scale[:, None] * vectors[:, real] / np.sqrt(values[real]))
    lengths = np.sqrt(np.einsum("ij,ij->i", A, A))
    return A / lengths[:, None], lengths


class _Search:
    """The working-set method with orthogonal factors.

    `rows`, `weights` and `zero` (whether the point is zero as far as doubles tell) are its results.
    """

    side: Rows
    sides = 1
    lift = 1.0

    def __init__(
        self, take: Callable[[Rows], Floats], scores: Callable[[Floats], Floats], width: int
    ) -> None:
        self.take, self.scores, self.width = take, scores, width

    def run(self, support: Rows, weights: Floats, tell: Tell, decide: bool = False) -> int:
        """From some rows and weights to the minimum-norm point; how many scans it took.

        `tell` hears of weights on the way. With `decide` it ends as soon as all rows have a
        positive score: they are separable then.
        """
        room = min(self.width, len(self.side)) + self.sides + 2
        self.Q, self.R = np.zeros((room, self.width + self.sides)), np.zeros((room, room))
        order = np.argsort(-weights, kind="stable")[: room - 1]
        self.rows, self.weights = np.zeros(0, np.int64), np.zeros(0)
        members = support[order]
        A = self._lifted(members)
        kept = [k for k in range(len(A)) if self._admit(A[k], members[k])]
        self.weights = _shared(weights[order][kept], self.side[self.rows], self.sides)
        best, scans = np.inf, 0
        while True:
            scans += 1
            norm = self._descend(members, A)
            below = self.scores(self.rho[: self.width])
            separates = decide and float(below.max()) < 0
            below = below + self.lift * self.rho[self.width :][self.side]
            tell(self.rows, self.weights)
            fresh = self._highest(below, 10 * _LEVEL * self.lift * float(np.linalg.norm(self.rho)))
            if self.zero or separates or not norm < best or not len(fresh) or scans == MAX_SCANS:
                return scans
            best = norm
            members = np.concatenate([self.rows, fresh])
            A = self._lifted(members)

    def _lifted(self, some: Rows) -> Floats:
        out = np.zeros((len(some), self.width + self.sides))
        out[:, : self.width] = self.take(some)
        out[np.arange(len(some)), self.width + self.side[some]] = self.lift
        return out

    def _highest(self, below: Floats, least: float) -> Rows:
        """Rows that are furthest below their level, not yet in the corral."""
        most = min(max(BATCH, len(self.rows) // 2), len(below))
        top = np.argpartition(-below, most - 1)[:most]
        return np.setdiff1d(top[below[top] > least], self.rows)

    def _descend(self, members: Rows, A: Floats) -> float:
        """Go to the minimum-norm point of the lifted rows A; its norm."""
        norms = np.sqrt(np.einsum("ij,ij->i", A, A))
        barred = np.isin(members, self.rows)  # in the corral, or dependent on it
        alpha = self._settle()
        short, length = self._across(alpha)
        while len(self.rows) < len(self.Q) - 1:
            self.zero = bool(short <= _ZERO * np.abs(alpha).max())
            gain = np.where(barred, 0.0, A @ self.rho / norms)
            j = int(gain.argmax())
            if self.zero or not gain[j] > _LEVEL * length:
                break
            barred[j] = True
            if not self._admit(A[j], members[j]):
                continue
            alpha = self._settle()
            for row in self.left:
                barred[members == row] = False
            previous = short
            short, length = self._across(alpha)
            if not short < previous:
                break
        return float(short / self.lift)

    def _orthogonal(self, v: Floats, x: Floats) -> tuple[Floats, Floats]:
        """The part of v off the span of the corral, and its coordinates, about x."""
        Q = self.Q[: len(self.rows)]
        rest = v - x @ Q
        if 2 * float(rest @ rest) > float(v @ v):  # little was cancelled: once is enough
            return rest, x
        y = Q @ rest
        return rest - y @ Q, x + y

    def _admit(self, row: Floats, name: int) -> bool:
        """Append a row to the corral; False when it depends on the rows already there."""
        s = len(self.rows)
        v, x = self._orthogonal(row, self.Q[:s] @ row)
        rest = float(np.linalg.norm(v))
        if not rest > _DEPENDENT * float(np.linalg.norm(row)):
            return False
        self.Q[s], self.R[:s, s], self.R[s, :s], self.R[s, s] = v / rest, x, 0.0, rest
        self.rows, self.weights = np.append(self.rows, name), np.append(self.weights, 0.0)
        return True

    def _settle(self) -> Floats:
        """Minor cycles: walk to the affine minimiser, dropping rows whose weight gets negative.

        Returns α; `left` has the rows that were dropped.
        """
        from gammabar.oracle._wolfe import backward, drop

        self.left: list[int] = []
        while True:
            s = len(self.rows)
            u = np.empty((self.sides, s))
            for right, x in zip(self.Q[:s, self.width :].T / self.lift, u, strict=True):
                backward(self.R, s, right, x)
            if self.sides == 1:
                alpha = 1 / u.sum(axis=1)
            else:
                total = (u @ np.eye(self.sides)[self.side[self.rows]]).T
                alpha = np.linalg.solve(total, np.full(self.sides, 1 / self.sides))
            goal, q = alpha @ u, self.weights
            falling = np.flatnonzero((goal <= 0) & (q < q - goal))
            if not len(falling):
                self.weights = goal
                return np.asarray(alpha)
            steps = q[falling] / (q[falling] - goal[falling])
            k = int(falling[steps.argmin()])
            self.weights = q + steps.min() * (goal - q)
            self.left.append(int(self.rows[k]))
            drop(self.Q, self.R, s, k)
            self.rows, self.weights = np.delete(self.rows, k), np.delete(self.weights, k)

    def _across(self, alpha: Floats) -> tuple[float, float]:
        """ρ = Σ α_k r_k; the length of its first coordinates and its own."""
        lifted = np.concatenate([np.zeros(self.width), alpha])
        self.rho, _ = self._orthogonal(lifted, self.Q[: len(self.rows), self.width :] @ alpha)
        return float(np.linalg.norm(self.rho[: self.width])), float(np.linalg.norm(self.rho))
