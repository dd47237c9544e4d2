"""Inner products of all rows, computed once for the hyperplanes between all pairs of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.harness.classifier.hyperplane import Array
from gammabar.oracle.candidate import Candidate, from_gram
from gammabar.problems import DenseProblem

#: Most rows: their Gram matrix has 32 MB.
MOST = 2048


class SharedGram:
    """The Gram matrix of dense rows, one block for each pair of classes.

    Every block is part of many pairs: with ten classes, those of a class with itself of nine.
    """

    def __init__(self, X: Array, labels: Array) -> None:
        from gammabar.problems.compiled import octets  # noqa: F401  (bytes are multiplied there)

        k = int(labels.max()) + 1
        self.rows = [np.flatnonzero(labels == c) for c in range(k)]
        problem = DenseProblem(X, np.ones(len(X)))
        self._blocks = {
            (a, b): problem.gram(self.rows[a], self.rows[b]) for a in range(k) for b in range(a, k)
        }
        # The mean of the products of each row with those of another class, for the first guess.
        self._means = {(a, b): block.mean(axis=1) for (a, b), block in self._blocks.items()}
        self._means |= {(b, a): block.mean(axis=0) for (a, b), block in self._blocks.items()}

    def candidate(self, a: int, b: int, intercept: bool) -> Candidate | None:
        """A guess at the hyperplane between two classes, a < b, or None where doubles may not do.

        The rows are those of both classes in their order among all.
        """
        m, n = len(self.rows[a]), len(self.rows[b])
        gram = np.empty((m + n, m + n))
        gram[:m, :m], gram[m:, m:] = self._blocks[a, a], self._blocks[b, b]
        np.negative(self._blocks[a, b], out=gram[:m, m:])
        gram[m:, :m] = gram[:m, m:].T
        side = np.zeros(m + n, np.int64)
        share = 0.5, 0.5
        if intercept:
            side[:m] = 1
        else:
            share = m / (m + n), n / (m + n)
        means = self._means
        first = share[0] * means[a, a] - share[1] * means[a, b]
        second = share[1] * means[b, b] - share[0] * means[b, a]
        found = from_gram(gram, side, np.concatenate([first, second]))
        if found is None:
            return None
        both = np.concatenate([self.rows[a], self.rows[b]])
        support = np.searchsorted(np.sort(both), both[found.support])
        order = np.argsort(support)
        return Candidate(support[order], found.weights[order], 1, found.method, True)


def shared_gram(X: Any, labels: Array) -> SharedGram | None:
    """That of the rows, if they are dense, few and of ordinary size."""
    if not isinstance(X, np.ndarray) or len(X) > MOST or X.dtype.kind not in "iuf":
        return None
    if X.dtype.kind == "f" and not 1e-100 < float(np.abs(X).max()) < 1e100:
        return None
    return SharedGram(X, labels)
