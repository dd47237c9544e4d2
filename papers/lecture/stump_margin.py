"""The exact ℓ₁ margin of all decision stumps on a set of points.

It is max over convex combinations H of stumps of the smallest y_i H(x_i); there are as many stumps
as pixels times grey levels, but few of them matter. Stumps are added that the dual weights q of
those at hand find better than the value so far (column generation, in doubles). Then the value over
those at hand is computed exactly, and from its rational q the largest Σ_i q_i y_i h(x_i) over *all*
stumps h, exactly too. By duality no combination of stumps has a larger margin than that, so that
the value is proved if both are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gammabar.oracle.l1 import solve_l1
from gammabar.solvers.stumps import Stump

#: Stumps that are added at a time, and times.
_EACH, _ROUNDS = 40, 200
_NEAR = 1e-9


class StumpMargin(NamedTuple):
    """The margin of the best combination found, and a bound of that of all combinations."""

    value: Fraction
    bound: Fraction
    stumps: int


def stump_margin(X: Any, y: Any, start: Iterable[Stump]) -> StumpMargin:
    """The ℓ₁ margin of all stumps on the points X with labels y.

    Parameters
    ----------
    X : array, (n, d)
    y : array of −1 and +1
    start : iterable of Stump
        Some that are good, such as those that AdaBoost has used.

    Examples
    --------
    >>> found = stump_margin(np.array([[0], [1], [2]]), np.array([1, -1, 1]), [Stump(0, 0, 1)])
    >>> found.value, found.bound
    (Fraction(1, 3), Fraction(1, 3))
    """
    y = np.asarray(y, dtype=np.int64)
    stumps = dict.fromkeys([*start, Stump(0, -np.inf, 1), Stump(0, -np.inf, -1)])
    votes = [h(X) * y for h in stumps]
    for _ in range(_ROUNDS):
        value, q = _in_doubles(np.stack(votes, axis=1))
        better = sorted(_best(X, y, q), key=lambda one: -one[0])[:_EACH]
        new = [h for edge, h in better if edge > value + _NEAR and h not in stumps]
        if not new:
            break
        stumps |= dict.fromkeys(new)
        votes += [h(X) * y for h in new]
    truth = solve_l1(np.stack(votes, axis=1).astype(np.int64), signed=False)
    weights = dict(zip(truth.q.support, truth.q.numerators, strict=True))
    rows = np.array(sorted(weights))
    numerators = [int(weights[i]) for i in rows.tolist()]
    total = sum(numerators)
    signed = [v * int(label) for v, label in zip(numerators, y[rows], strict=True)]
    constant = abs(sum(signed))
    largest = max((edge for edge, _ in _edges(X[rows], signed)), default=0)
    return StumpMargin(truth.value_lo, Fraction(max(largest, constant), total), len(stumps))


def _in_doubles(votes: Any) -> tuple[float, Any]:
    """The value of the game, about, and dual weights."""
    from scipy.optimize import linprog

    n, m = votes.shape
    found = linprog(
        np.append(np.zeros(m), -1),
        A_ub=np.hstack([-votes, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=[np.append(np.ones(m), 0)],
        b_eq=[1],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    return -float(found.fun), np.maximum(-found.ineqlin.marginals, 0)


def _best(X: Any, y: Any, q: Any) -> Iterator[tuple[float, Stump]]:
    """For each column its best stump for weights in doubles."""
    rows = np.flatnonzero(q > 1e-13)
    return _edges(X[rows], (q[rows] * y[rows]).tolist())


def _edges(X: Any, signed: list[Any]) -> Iterator[tuple[Any, Stump]]:
    """For each column the largest |Σ_i q_i y_i h(x_i)| over its stumps, given all q_i y_i.

    In the arithmetic of the weights: exact if they are integers.
    """
    total = sum(signed)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable").tolist()
        values = X[order, j].tolist()
        below, best = 0, None
        for place, i in enumerate(order[:-1]):
            below += signed[i]
            if values[place] != values[place + 1]:
                edge = total - 2 * below  # of +1 above this value
                if best is None or abs(edge) > abs(best[0]):
                    best = edge, values[place]
        if best is not None:
            yield abs(best[0]), Stump(j, best[1], 1 if best[0] >= 0 else -1)
