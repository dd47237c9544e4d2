"""Hyperplanes of largest margin: proved by the oracle, or as floating point finds them.

One by one, or between all pairs of classes at once from the inner products of all rows; with slack
where no hyperplane separates two sets.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from gammabar.oracle.candidate import LITTLE, Candidate, candidate_for
from gammabar.oracle.maximum_margin import prove, solve
from gammabar.oracle.one_vs_one import Answer, Guess, Pairs
from gammabar.oracle.result import Truth
from gammabar.problems import KernelProblem, Problem
from gammabar.problems.conversion import from_arrays, with_intercept

Array = NDArray[Any]


@dataclass(frozen=True)
class Hyperplane:
    """One hyperplane: f(x) = ⟨w, x⟩ + b, or Σ coef_i K(x_i, x) + b over the rows of `support`.

    `later` writes a proof down when it is asked for.
    """

    w: Array
    b: Any
    support: Array
    coef: Array
    margin: float
    gap: float
    separable: bool | None
    rounds: int
    truth: Truth | None
    later: Callable[[], Truth] | None = None


def proved(problem: Problem, candidate: Candidate | None) -> Hyperplane:
    """The oracle's answer; a candidate spares it the search."""
    truth = solve(problem) if candidate is None else prove(problem, candidate)
    signed = truth.q[truth.support] * problem.y[truth.support]
    low, high = truth.gamma_raw_bounds
    w: Array = np.zeros(0)  # there is none: a soft margin follows
    b: Any = 0.0
    margin = 0.0
    if truth.separable:
        w, b, margin = truth.direction, truth.b, low
        if isinstance(problem, KernelProblem):
            w = np.array([truth.reciprocal])
    elif truth.separable is None:
        w, b, _ = _drawn(problem, truth.support, signed)
    gap, separable = high - margin, truth.separable
    return Hyperplane(w, b, truth.support, signed, margin, gap, separable, truth.rounds, truth)


def guessed(problem: Problem, candidate: Candidate | None) -> Hyperplane:
    """What floating point finds, without proof; a candidate spares it the search."""
    found = candidate_for(problem, "exact") if candidate is None else candidate
    signed = found.weights * problem.y[found.support]
    w, b, margin = _drawn(problem, found.support, signed)
    separable = None if margin > 0 else False
    return Hyperplane(w, b, found.support, signed, margin, math.nan, separable, 1, None)


def _drawn(problem: Problem, support: Array, signed: Array) -> tuple[Array, float, float]:
    """Normal, intercept and margin of dual weights.

    The normal has norm one; with a kernel it is what the weights are to be multiplied by.
    """
    q = np.zeros(problem.n)
    q[support] = np.abs(signed)
    w = problem.combine(q)
    stretch = 1 / (problem.norm(w) or 1.0)
    scores = problem.scores(w * stretch)
    positive = problem.y > 0
    b = float((scores[~positive].min() - scores[positive].min()) / 2)
    b = b if problem.intercept == "free" else 0.0
    normal = np.array([stretch]) if isinstance(problem, KernelProblem) else w * stretch
    return normal, b, float((scores + b * problem.y).min())


def depths(scores: Array, k: int) -> Array:
    """How far inside the region of each class a point is: its least distance of the k − 1 pairs.

    It is negative for a class that loses a pair: then it is how far the point is on the wrong side
    of the pair that it loses worst. A class that wins all its pairs has the largest depth, the one
    positive one; where pairs run in a circle, the class wins that is closest to winning all.
    (Counting votes leaves ties then, which LIBSVM gives to the first class.)
    """
    depth = np.full((len(scores), k), np.inf)
    for column, (a, b) in enumerate(combinations(range(k), 2)):
        np.minimum(depth[:, a], scores[:, column], out=depth[:, a])
        np.minimum(depth[:, b], -scores[:, column], out=depth[:, b])
    return depth


#: The largest cost of rows of length one: above it the machine changes little, and takes longer.
_MOST_COST = 1e8
#: The least: below it no direction changes any more, and tolerances are larger than costs.
_LEAST_COST = 1e-6
#: A machine that needs more iterations than this is given up,
_ITERATIONS = 100_000
#: or than so many products of numbers take: LIBLINEAR passes over all rows, LIBSVM over a few.
_PRODUCTS = {"LinearSVC": 10**9, "SVC": 3 * 10**9}


def soft_margin(
    found: Hyperplane,
    given: Any,
    signs: Array,
    *,
    gram: bool,
    intercept: bool,
    cost: float,
    weights: Array,
    tell: Callable[[str], None],
) -> tuple[Hyperplane, float]:
    """The hyperplane that minimises ½‖w‖² + cost Σ weight_i max(0, 1 − y_i f(x_i)), of norm one.

    The rows are divided by a power of two near the longest one, and the cost multiplied by its
    square, which is the same problem. On data that cannot be separated the search takes the longer
    the larger the cost is. So the cost is at most `_MOST_COST`, and if its machine needs more than
    `_ITERATIONS`, the largest cost/10^k is taken that does not: from small ones upwards, up to the
    first that does.

    `given` are the rows, or (`gram`) their kernel matrix; a kernel's machine always has an
    intercept. The second result is what the cost was multiplied by: 1, unless it was lowered.
    `tell` is told the cost of each machine before it is fitted.
    """
    exponent = _exponent(given, gram)
    scaled = _ldexp(given, -2 * exponent if gram else -exponent)
    asked_of_rows = cost * float(weights.max())
    asked = math.log2(cost) + math.log2(weights.max()) + 2 * exponent
    most = 2.0 ** min(max(asked, math.log2(_LEAST_COST)), math.log2(_MOST_COST))
    weights = weights / weights.max()

    def fitted(cost: float) -> Any:
        tell(f"soft margin of {len(signs):,} rows: C = {cost:.3g} for rows of length one")
        machine = _machine(gram, intercept, cost)
        products = _PRODUCTS[type(machine).__name__]
        machine.max_iter = min(_ITERATIONS, max(1000, products // max(1, math.prod(given.shape))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return machine.fit(scaled, signs, sample_weight=weights)

    cost, machine = most, fitted(most)
    if _is_cut_off(machine) and most > 1:
        cost = most / 10.0 ** math.floor(math.log10(most))
        machine = fitted(cost)
        while 10 * cost < most and not _is_cut_off(machine):
            larger = fitted(10 * cost)
            if _is_cut_off(larger):
                break
            cost, machine = 10 * cost, larger
    lowered = 2.0 ** min(0.0, math.log2(cost) - asked)
    unit = asked_of_rows * lowered / cost  # from the dual weights of scaled rows to those of rows
    return _of_machine(machine, found, scaled, gram, exponent, unit), lowered


def _is_cut_off(machine: Any) -> bool:
    """Whether a machine was stopped by its limit of iterations."""
    return bool(np.max(machine.n_iter_) >= machine.max_iter)


def _machine(gram: bool, intercept: bool, cost: float) -> Any:
    from sklearn.svm import SVC, LinearSVC

    if not gram and not intercept:
        return LinearSVC(C=cost, loss="hinge", fit_intercept=False, random_state=0)
    return SVC(C=cost, kernel="precomputed" if gram else "linear")


def _of_machine(
    machine: Any, found: Hyperplane, scaled: Any, gram: bool, exponent: int, unit: float
) -> Hyperplane:
    """The hyperplane of a machine that was fitted to scaled rows."""
    if not hasattr(machine, "support_"):  # LIBLINEAR has no dual weights
        w, b = np.asarray(machine.coef_[0]), 0.0
        support, dual = found.support, np.zeros(len(found.support))
    else:
        support, b = np.asarray(machine.support_), float(machine.intercept_[0])
        coef = machine.dual_coef_
        dual = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef).ravel()
        w = np.ones(1) if gram else np.asarray(scaled[support].T @ dual).ravel()
    square = dual @ (scaled[np.ix_(support, support)] @ dual) if gram else w @ w
    length = math.sqrt(max(float(square), 0.0)) or 1.0
    w, b, dual = w / length, float(np.ldexp(b / length, exponent)), dual * unit
    if gram:  # what the dual weights are to be multiplied by
        w = np.ldexp(w / unit, -exponent)
    return Hyperplane(w, b, support, dual, 0.0, 0.0, False, 1, found.truth)


def _exponent(given: Any, gram: bool) -> int:
    """That of a power of two near the length of the longest row."""
    if gram:
        return math.frexp(float(np.abs(np.diagonal(given)).max()) or 1.0)[1] // 2
    return math.frexp(float(np.abs(getattr(given, "data", given)).max(initial=0)) or 1.0)[1]


def _ldexp(given: Any, exponent: int) -> Any:
    """A matrix of doubles times a power of two, in two steps: 2**1075 is no double."""
    half = exponent // 2
    made = given.astype(np.float64)
    return made * math.ldexp(1.0, half) * math.ldexp(1.0, exponent - half)


#: Most rows: their Gram matrix has 32 MB.
_MOST = 2048
#: Multiplications for the Gram matrix of two classes, above which only some rows' are computed.
_ALL = 1 << 26


@dataclass(frozen=True)
class _SortedRows:
    """A copy of the rows in the order of their classes, where each was, and where classes begin.

    It is a copy so that what the caller does with the array later does not change what was proved.
    """

    X: Array
    order: Array
    starts: Array
    intercept: bool

    def candidate(self, pair: tuple[int, int], guess: Guess) -> Candidate:
        """The support and its weights, rows counted in their order among those of the pair."""
        numbers = np.sort(self.order[self._places(pair)])
        support = np.searchsorted(numbers, self.order[guess.rows])
        order = np.argsort(support)
        return Candidate(support[order], guess.weights[order], 1, "gram", True)

    def truth(self, pair: tuple[int, int], guess: Guess) -> Truth:
        """The oracle's answer for a pair whose support `gammabar.oracle.one_vs_one` has proved.

        γ̄² and q̄ solve a linear system then, whose integers have hundreds of digits; the oracle
        proves once more that they do.
        """
        places = self._places(pair)
        places = places[np.argsort(self.order[places])]
        first, last = self.starts[pair[0] :][:2]
        signs = np.where((first <= places) & (places < last), 1, -1)
        made = from_arrays(self.X[places], signs)
        problem = with_intercept(made, "free" if self.intercept else "none")
        return prove(problem, self.candidate(pair, guess))

    def _places(self, pair: tuple[int, int]) -> Array:
        return np.concatenate([np.arange(*self.starts[c : c + 2]) for c in pair])


class SharedPairs:
    """The pairs of classes of dense rows: hyperplanes, or guesses that others may prove."""

    def __init__(self, X: Array, labels: Array, intercept: bool) -> None:
        order = np.argsort(labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        self.rows = _SortedRows(X[order], order, starts, intercept)
        self._pairs = Pairs(self.rows.X, starts, intercept)

    def candidate(self, number: int) -> Candidate | None:
        """A guess at the hyperplane of a pair, or None where doubles may not do."""
        guess = self._pairs.guesses[number]
        return None if guess is None else self.rows.candidate(self._pairs.pairs[number], guess)

    def proved(self) -> list[Hyperplane | None]:
        """That of each pair; None where another way must be gone."""
        answers = zip(self._pairs.pairs, self._pairs.answers(), strict=True)
        return [None if one is None else self._hyperplane(pair, one) for pair, one in answers]

    def _hyperplane(self, pair: tuple[int, int], one: Answer) -> Hyperplane:
        first = one.rows < self.rows.starts[pair[0] + 1]
        coef, support = np.where(first, one.weights, -one.weights), self.rows.order[one.rows]
        later = partial(self.rows.truth, pair, Guess(one.rows, one.weights))
        gap = one.upper - one.lower
        return Hyperplane(one.w, one.b, support, coef, one.lower, gap, True, 1, None, later)


def shared_pairs(X: Any, labels: Array, intercept: bool) -> SharedPairs | None:
    """Those of the rows, if they are dense, few and of ordinary size."""
    if not isinstance(X, np.ndarray) or len(X) > _MOST or X.dtype.kind not in "iuf":
        return None
    if labels.max() == 1 and len(X) * X.size > _ALL:
        return None
    if X.size <= LITTLE and "gammabar.oracle._pairs" not in sys.modules:
        return None
    if X.dtype.itemsize > 8:  # numbers that may be no doubles are refused elsewhere
        return None
    if X.dtype.kind == "f" and not 1e-100 < float(np.abs(X).max()) < 1e100:
        return None
    return SharedPairs(X, labels, intercept)


def octets(X: Any) -> Any:
    """The same numbers in bytes, if they are dense doubles and whole, as pixels are.

    What is proved is the same; passes over bytes take a quarter of the time, and room an eighth.
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.size <= LITTLE:
        return X
    for rows in (X[:1], X):  # one row tells most of the time
        if not (rows.min() >= 0 and rows.max() <= 255):
            return X
        made = rows.astype(np.uint8)
        if not (made == rows).all():
            return X
    return made
