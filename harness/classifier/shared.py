"""Hyperplanes between all pairs of classes at once, from the inner products of all rows."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from gammabar.harness.classifier.hyperplane import Array, Hyperplane
from gammabar.oracle.candidate import Candidate
from gammabar.oracle.maximum_margin import prove
from gammabar.oracle.one_vs_one import Guess, Pairs
from gammabar.oracle.result import Truth
from gammabar.problems.intercept import with_intercept
from gammabar.problems.validate import from_arrays

#: Most rows: their Gram matrix has 32 MB.
MOST = 2048
#: Multiplications for the Gram matrix of two classes, above which only some rows' are computed.
ALL = 1 << 26
#: Entries of the data below which no compiled code is loaded for them (it takes half a second).
LITTLE = 10_000


@dataclass(frozen=True)
class Sorted:
    """A copy of the rows in the order of their classes, and where each was and each class begins.

    It is a copy so that what the caller does with the array later does not change what was proved.
    """

    X: Array
    order: Array
    starts: Array
    intercept: bool

    def pair(self, a: int, b: int) -> tuple[Array, Array]:
        """The rows of two classes in their order among all, and where they are in X."""
        first, last = self.starts[:-1], self.starts[1:]
        both = np.concatenate([np.arange(first[c], last[c]) for c in (a, b)])
        both = both[np.argsort(self.order[both])]
        return self.order[both], both


@dataclass(frozen=True)
class Later:
    """A proof that is done, and is written down when somebody asks for it.

    That the rows are the support of q̄ has been proved (`gammabar.oracle.one_vs_one`). γ̄² and q̄
    are the solution of a linear system then, whose integers have hundreds of digits, and which
    the oracle proves once more on its own.
    """

    rows: Sorted
    pair: tuple[int, int]
    guess: Guess

    def candidate(self) -> Candidate:
        """The support and its weights, rows counted in their order among those of the pair."""
        both, _ = self.rows.pair(*self.pair)
        support = np.searchsorted(both, self.rows.order[self.guess.rows])
        order = np.argsort(support)
        return Candidate(support[order], self.guess.weights[order], 1, "gram", True)

    def truth(self) -> Truth:
        """The oracle's answer."""
        _, places = self.rows.pair(*self.pair)
        a = self.pair[0]
        first, last = self.rows.starts[a], self.rows.starts[a + 1]
        signs = np.where((first <= places) & (places < last), 1, -1)
        made = from_arrays(self.rows.X[places], signs)
        problem = with_intercept(made, "free" if self.rows.intercept else "none")
        return prove(problem, self.candidate())


class SharedPairs:
    """The pairs of classes of dense rows: hyperplanes, or guesses that others may prove."""

    def __init__(self, X: Array, labels: Array, intercept: bool) -> None:
        order = np.argsort(labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        self.rows = Sorted(X[order], order, starts, intercept)
        self._pairs = Pairs(self.rows.X, starts, intercept)

    def hyperplanes(self, proof: bool) -> list[Hyperplane | None]:
        """That of each pair; None where another way must be gone."""
        return self._proved() if proof else self._drawn()

    def candidate(self, pair: int) -> Candidate | None:
        """A guess at the hyperplane of a pair, or None where doubles may not do."""
        guess = self._pairs.guesses[pair]
        return None if guess is None else self._later(pair, guess).candidate()

    def _later(self, pair: int, guess: Guess) -> Later:
        return Later(self.rows, self._pairs.pairs[pair], guess)

    def _signed(self, pair: int, guess: Guess) -> Array:
        first = guess.rows < self.rows.starts[self._pairs.pairs[pair][0] + 1]
        return np.where(first, guess.weights, -guess.weights)

    def _proved(self) -> list[Hyperplane | None]:
        found: list[Hyperplane | None] = []
        for k, one in enumerate(self._pairs.answers()):
            if one is None:
                found.append(None)
                continue
            support, coef = self.rows.order[one.rows], self._signed(k, one)
            gap, later = one.upper - one.lower, self._later(k, Guess(one.rows, one.weights))
            found.append(
                Hyperplane(one.w, one.b, support, coef, one.lower, gap, True, 1, None, later)
            )
        return found

    def _drawn(self) -> list[Hyperplane | None]:
        """What floating point found, without proof."""
        guesses, rows, starts = self._pairs.guesses, self._pairs.points, self.rows.starts
        dual = np.zeros((len(guesses), len(rows)))
        for k, guess in enumerate(guesses):
            if guess is not None:
                dual[k, guess.rows] = self._signed(k, guess)
        used = np.flatnonzero(dual.any(axis=0))
        w = dual[:, used] @ rows[used]
        lengths = np.sqrt(np.einsum("ij,ij->i", w, w))
        w /= np.where(lengths > 0, lengths, 1.0)[:, None]
        scores = rows @ w.T
        least = np.minimum.reduceat(scores, starts[:-1], axis=0)
        most = np.maximum.reduceat(scores, starts[:-1], axis=0)
        found: list[Hyperplane | None] = []
        for k, (guess, (a, b)) in enumerate(zip(guesses, self._pairs.pairs, strict=True)):
            if guess is None:
                found.append(None)
                continue
            low, high = float(least[a, k]), float(most[b, k])
            bias = -(low + high) / 2 if self.rows.intercept else 0.0
            margin = min(low + bias, -high - bias)
            support, coef = self.rows.order[guess.rows], dual[k, guess.rows]
            separable = None if margin > 0 else False
            found.append(
                Hyperplane(w[k], bias, support, coef, margin, math.nan, separable, 1, None)
            )
        return found


def shared_pairs(X: Any, labels: Array, intercept: bool) -> SharedPairs | None:
    """Those of the rows, if they are dense, few and of ordinary size."""
    if not isinstance(X, np.ndarray) or len(X) > MOST or X.dtype.kind not in "iuf":
        return None
    if labels.max() == 1 and len(X) * X.size > ALL:
        return None
    if X.size < LITTLE and "gammabar.oracle._pairs" not in sys.modules:
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
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.size < LITTLE:
        return X
    for rows in (X[:1], X):  # one row tells most of the time
        if not (rows.min() >= 0 and rows.max() <= 255):
            return X
        made = rows.astype(np.uint8)
        if not (made == rows).all():
            return X
    return made
