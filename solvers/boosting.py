"""AdaBoost, and decision stumps: Sharan's Lecture 9: SGD, boosting, kernels, Algorithm 3.

    D_1(i)     = 1/n
    h_t        = WL(D_t)
    ε_t        = P_{D_t}[h_t(x) ≠ y]
    α_t        = ½ log((1 − ε_t)/ε_t)
    D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i) / z_{t+1}
    H          = Σ_t α_t h_t

After Y. Freund and R. E. Schapire, A decision-theoretic generalization of on-line learning and an
application to boosting (1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse

from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem
from gammabar.solvers.base import LECTURE, Array, Iterate, Rng, declare

# Weights are rounded to multiples of 2^-61 before they are summed. That is finer than sums of
# doubles are, no sum of weights leaves int64, and sums do not depend on the order of the rows, so
# stumps that are equally good on weights that are equal come out equally good.
_BITS = 61
# Entries of the matrix that are looked at together.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Stump:
    """h(x) = sign if x_j > threshold, else −sign.

    The threshold is a value of the data (so integers stay exact whatever their size), or −∞ for
    the hypothesis that is constant.
    """

    feature: int
    threshold: float | int
    sign: int

    def __call__(self, X: Any) -> Array:
        if scipy.sparse.issparse(X):
            column = X[:, [self.feature]].toarray().ravel()
        else:
            column = np.asarray(X)[:, self.feature]
        above = column > self.threshold
        return np.where(above, self.sign, -self.sign).astype(np.int8)


@dataclass(frozen=True)
class BestStump:
    """The weak learner that returns a stump of least weighted error.

    Every column is sorted once; after that a distribution costs one pass over the (stored)
    entries. Ties go to the first of: the constants; then columns ascending, and in a column
    thresholds ascending. Of a stump and its negative it returns the better one, or sign +1.

    Examples
    --------
    >>> learn = BestStump()(np.array([[1], [2], [3]]), np.array([1, -1, -1]))
    >>> learn(np.array([1 / 3, 1 / 3, 1 / 3]))
    Stump(feature=0, threshold=1, sign=-1)
    """

    def __call__(self, X: Any, y: Array) -> Callable[[Array], Stump]:
        return _Columns(X, np.asarray(y, dtype=np.int64)).best


@dataclass
class _Block:
    """Some columns, one after the other, each sorted by value.

    ``order`` has the row of every entry; in a sparse column the rows that are not stored are one
    entry, whose row is n. ``cut`` says where a threshold may be: at the last of equal values, but
    not at the largest of the column.
    """

    columns: range
    order: Array
    starts: Array
    cut: Array
    zeros: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    lacking: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))


class _Columns:
    def __init__(self, X: Any, y: Array) -> None:
        self.X, self.y = X, y
        sparse = scipy.sparse.issparse(X)
        self.blocks = list(_sparse_blocks(X.tocsc()) if sparse else _dense_blocks(X))

    def best(self, D: Array) -> Stump:
        """The stump whose Σ_i D_i y_i h(x_i) is largest."""
        weights = np.append(np.rint(np.ldexp(D, _BITS)).astype(np.int64) * self.y, 0)
        total = int(weights.sum())  # of the constant +1
        found, edge, largest = None, total, abs(total)
        for block in self.blocks:
            edges = np.where(block.cut, _edges(block, weights, total), 0)
            position = int(np.argmax(np.abs(edges)))
            if abs(int(edges[position])) > largest:
                found, edge = (block, position), int(edges[position])
                largest = abs(edge)
        sign = 1 if edge >= 0 else -1
        return Stump(0, -math.inf, sign) if found is None else Stump(*self._place(*found), sign)

    def _place(self, block: _Block, position: int) -> tuple[int, Any]:
        """Column and value of an entry."""
        j = block.columns[int(np.searchsorted(block.starts, position, side="right")) - 1]
        i = int(block.order[position])
        return j, (0 if i == len(self.y) else self.X[i, j].item())


def _edges(block: _Block, weights: Array, total: int) -> Array:
    """Σ_i D_i y_i h(x_i) for h = +1 above each entry and −1 up to it."""
    entries = weights[block.order]
    if len(block.zeros):
        sums = np.add.reduceat(entries, block.starts)
        entries[block.zeros] = total - sums[block.lacking]
    # Running sums over several columns may wrap around; their differences do not.
    up_to = np.cumsum(entries)
    before = up_to[block.starts] - entries[block.starts]
    lengths = np.diff(np.append(block.starts, len(entries)))
    return np.asarray(total - 2 * (up_to - np.repeat(before, lengths)))


def _dense_blocks(X: Array) -> Iterator[_Block]:
    n, d = X.shape
    step = max(1, _BLOCK // n)
    for lo in range(0, d, step):
        part = np.ascontiguousarray(X[:, lo : lo + step].T)
        order = np.argsort(part, axis=1, kind="stable").astype(np.int32)
        values = np.take_along_axis(part, order, axis=1)
        cut = np.zeros(part.shape, dtype=bool)
        cut[:, :-1] = values[:, 1:] != values[:, :-1]
        starts = n * np.arange(len(part))
        yield _Block(range(lo, lo + len(part)), order.ravel(), starts, cut.ravel())


def _sparse_blocks(X: Any) -> Iterator[_Block]:
    n, d = X.shape
    lo = 0
    while lo < d:
        most = int(np.searchsorted(X.indptr, X.indptr[lo] + _BLOCK, side="right")) - 1
        hi = max(lo + 1, min(most, lo + _BLOCK, d))
        yield _sparse_block(X.data, X.indices, X.indptr[lo : hi + 1], range(lo, hi), n)
        lo = hi


def _sparse_block(data: Array, rows: Array, pointers: Array, columns: range, n: int) -> _Block:
    stored = np.diff(pointers)
    lacking = np.flatnonzero(stored < n)
    entries = slice(pointers[0], pointers[-1])
    of = np.concatenate([np.repeat(np.arange(len(columns)), stored), lacking])
    row = np.concatenate([rows[entries], np.full(len(lacking), n)]).astype(np.int32)
    value = np.concatenate([data[entries], np.zeros(len(lacking), dtype=data.dtype)])
    by = np.lexsort((value, of))
    of, row, value = of[by], row[by], value[by]
    cut = np.zeros(len(by), dtype=bool)
    cut[:-1] = (of[1:] == of[:-1]) & (value[1:] != value[:-1])
    starts = np.searchsorted(of, np.arange(len(columns)))
    return _Block(columns, row, starts, cut, np.flatnonzero(row == n), lacking)


#: From a matrix of points to an array of −1 and +1.
Hypothesis = Callable[[Any], Array]
#: From points X and labels y to a function from distributions to hypotheses:
#: ``lambda X, y: lambda D: lambda X: np.full(X.shape[0], 1 if D @ y >= 0 else -1)``.
WeakLearner = Callable[[Any, Array], Callable[[Array], Hypothesis]]


@dataclass(frozen=True)
class Vote(Iterate):
    """An iterate of `AdaBoost`: ``w`` has α_1, …, α_t, and ``hypotheses`` h_1, …, h_t.

    ``votes``, its `scores`, are the y_i H(x_i), so `l1_margin` is the smallest y_i H(x_i) / Σ_s
    |α_s|; `weights` (the dual weights) are D_{t+1}.
    """

    votes: Array = field(default_factory=lambda: np.empty(0), repr=False)
    hypotheses: tuple[Hypothesis, ...] = field(default=(), repr=False)

    @cached_property
    def scores(self) -> Array:
        return self.votes

    @cached_property
    def error(self) -> float:
        """Training error: the part of the points with sign(H(x_i)) ≠ y_i; H(x_i) = 0 is wrong."""
        return int(np.count_nonzero(self.votes <= 0)) / len(self.votes)

    def value(self, X: Any) -> Array:
        """H(x) for the rows of X."""
        H = np.zeros(X.shape[0])
        for alpha, h in zip(self.w, self.hypotheses, strict=True):
            H += alpha * h(X)
        return H

    def predict(self, X: Any) -> Array:
        """sign(H(x)) for the rows of X: −1, 0 or +1."""
        return np.sign(self.value(X)).astype(np.int8)


@declare("adaboost", f"{LECTURE}, Algorithm 3", ("dense", "sparse", "stumps"))
class AdaBoost:
    """AdaBoost with decision stumps or any other weak learner.

    The iterate t is the vote after t rounds, a `Vote`. From t = 1 on its ``extra`` has ``D`` (D_t),
    ``epsilon`` (ε_t), ``gamma`` (½ − ε_t), ``alpha`` (α_t) and ``z`` (z_{t+1}), and always
    ``product``, which is z_2 ⋯ z_{t+1}.

    As printed, the algorithm is undefined if a hypothesis makes no mistake: ε_t = 0 and α_t = ∞.
    The vote is then what H / Σ|α_s| tends to as ε_t → 0, h_t alone with weight 1; α_t = ∞ and
    z_{t+1} = 0 are reported, D_{t+1} is D_t, and all later iterates are the same. Likewise −h_t
    alone if h_t is always wrong.

    Examples
    --------
    >>> problem = DenseProblem(np.array([[1], [2], [3]]), np.array([1, -1, 1]))
    >>> votes = AdaBoost().iterates(problem)
    >>> [next(votes).error for _ in range(4)]
    [1.0, 0.3333333333333333, 0.3333333333333333, 0.0]
    """

    learner: WeakLearner = field(default_factory=BestStump)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        if not isinstance(problem, DenseProblem | SparseProblem):
            kind = type(problem).__name__
            raise ProblemError(
                f"AdaBoost needs points and two classes, dense or sparse, not {kind}"
            )
        X, y = problem.X, problem.y
        learn = self.learner(X, y)
        D = np.full(problem.n, 1 / problem.n)
        vote = Vote(0, np.empty(0), problem, dual=D, extra={"product": 1.0}, votes=np.zeros(len(y)))
        for t in count(1):
            yield vote
            h = learn(D)
            agrees = _checked(h(X), y)  # h_t(x_i) y_i
            if abs(int(agrees.sum())) == problem.n:
                break
            epsilon = float(D[agrees < 0].sum())
            right = _positive(float(D[agrees > 0].sum()))
            alpha = 0.5 * math.log(right / _positive(epsilon))
            unnormalised = D * np.exp(-alpha * agrees)
            z = float(unnormalised.sum())
            extra = _extra(D, epsilon, alpha, z, vote)
            D = unnormalised / z
            w, hypotheses = np.append(vote.w, alpha), (*vote.hypotheses, h)
            votes = vote.votes + alpha * agrees
            vote = Vote(t, w, problem, None, D, None, extra, votes, hypotheses)
        sign = float(agrees[0])
        extra = _extra(D, (1 - sign) / 2, sign * math.inf, 0.0, vote)
        for s in count(t):
            yield Vote(s, np.array([sign]), problem, None, D, None, extra, np.ones(problem.n), (h,))


def _extra(D: Array, epsilon: float, alpha: float, z: float, before: Vote) -> dict[str, Any]:
    found = {"D": D, "epsilon": epsilon, "gamma": 0.5 - epsilon, "alpha": alpha, "z": z}
    return found | {"product": before.extra["product"] * z}


def _checked(values: Any, y: Array) -> Array:
    values = np.asarray(values)
    if values.shape != y.shape or not (np.abs(values) == 1).all():
        raise ProblemError(
            f"a hypothesis of the weak learner must return −1 or +1 for each of the {len(y)} "
            f"points; its result has shape {values.shape}"
        )
    return np.asarray(values * y, dtype=np.int64)


def _positive(weight: float) -> float:
    if not weight > 0:
        raise ProblemError(
            "the points on which a hypothesis differs from the rest have a total weight below the "
            "smallest double, so AdaBoost cannot go on; stop at this iterate"
        )
    return weight
