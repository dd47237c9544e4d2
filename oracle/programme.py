"""What a floating-point linear programme says about a matrix game. Nothing here is trusted.

HiGHS, through SciPy, solves the game on a working set of rows to which the most violated ones are
added, because few of many rows matter. Its strategies tell which rows and columns matter for sure
(those with weight) and which may (those with slack or reduced cost near zero); Gaussian elimination
with complete pivoting picks as many columns as rows among them, so that the bordered matrix
of `gammabar.oracle.game` is regular even where the programme is degenerate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Rows in the first working set and rows added per round.
FIRST, MORE = 400, 200
#: What counts as zero, for data whose largest entry is one.
NEAR, TINY = 1e-7, 1e-11


@dataclass(frozen=True)
class Suggestion:
    """Strategies in floating point, and a basis for `Game.solve` (None where there is none)."""

    w: dict[int, float] = field(default_factory=dict)
    q: dict[int, float] = field(default_factory=dict)
    rows: list[int] | None = None
    columns: list[int] | None = None


def suggest(table: Floats, signed: bool) -> Suggestion:
    """Nearly optimal strategies of the game, and a basis.

    Parameters
    ----------
    table : array, n × d
        Payoffs, the largest of absolute value one. When signed, column j + d is minus column j.
    signed : bool
    """
    matrix = np.hstack([table, -table]) if signed else table
    solved = _strategies(matrix)
    if solved is None:
        return Suggestion()
    w, q, value = solved
    weights = {int(j): float(w[j]) for j in np.flatnonzero(w > 0)}
    dual = {int(i): float(q[i]) for i in np.flatnonzero(q > 0)}
    slack, cost = matrix @ w - value, value - q @ matrix
    rows, columns = _basis(matrix, q > TINY, slack < NEAR, w > TINY, cost < NEAR)
    return Suggestion(weights, dual, rows, columns)


def _strategies(matrix: Floats) -> tuple[Floats, Floats, float] | None:
    """w, q and the value; None when the solver fails."""
    n = len(matrix)
    working = np.arange(min(n, FIRST))
    while True:
        solved = _programme(matrix[working])
        if solved is None:
            return None
        w, part, value = solved
        scores = matrix @ w
        worst = np.argsort(scores)[:MORE]
        fresh = np.setdiff1d(worst[scores[worst] < value - TINY], working)
        if len(fresh) == 0:
            q = np.zeros(n)
            q[working] = part
            return w, q, value
        working = np.concatenate([working, fresh])


def _programme(matrix: Floats) -> tuple[Floats, Floats, float] | None:
    """Maximise v subject to M w ≥ v, w in the simplex."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    n, d = matrix.shape
    inequalities: Any = hstack([csr_array(-matrix), csr_array(np.ones((n, 1)))], format="csr")
    ones = np.append(np.ones(d), 0.0)[None, :]
    bounds = [(0.0, None)] * d + [(None, None)]
    answer = linprog(
        -np.eye(1, d + 1, d)[0],
        A_ub=inequalities,
        b_ub=np.zeros(n),
        A_eq=ones,
        b_eq=[1.0],
        bounds=bounds,
        method="highs-ds",  # simplex: vertices, with true zeros off the basis
    )
    if answer.status != 0 or not np.all(np.isfinite(answer.x)):
        return None
    return answer.x[:d], -answer.ineqlin.marginals, float(answer.x[d])


def _basis(
    matrix: Floats,
    sure_rows: NDArray[np.bool_],
    near_rows: NDArray[np.bool_],
    sure_columns: NDArray[np.bool_],
    near_columns: NDArray[np.bool_],
) -> tuple[list[int], list[int]] | tuple[None, None]:
    """As many rows as columns, the sure ones and more, with a regular bordered matrix."""
    rows = np.flatnonzero(sure_rows | near_rows)
    columns = np.flatnonzero(sure_columns | near_columns)
    if not sure_rows.any() or not sure_columns.any():
        return None, None
    bordered = np.ones((len(rows) + 1, len(columns) + 1))
    bordered[:-1, :-1] = matrix[np.ix_(rows, columns)]
    bordered[:-1, -1], bordered[-1, -1] = -1.0, 0.0
    sure_r, sure_c = np.append(sure_rows[rows], False), np.append(sure_columns[columns], False)
    every_r, every_c = np.ones(len(sure_r), bool), np.ones(len(sure_c), bool)
    elimination = _Elimination(bordered)
    # The border must be in: v with a sure row, and the sum of the weights with a sure column.
    elimination.pivot(int(np.argmax(sure_r)), len(columns))
    elimination.pivot(len(rows), int(np.argmax(sure_c)))
    elimination.run(sure_r, sure_c)
    elimination.run(every_r, sure_c)
    elimination.run(sure_r, every_c)
    picked_rows = [int(rows[i]) for i in elimination.rows if i < len(rows)]
    picked_columns = [int(columns[j]) for j in elimination.columns if j < len(columns)]
    return picked_rows, picked_columns


class _Elimination:
    """Gaussian elimination with complete pivoting among some rows and columns at a time."""

    def __init__(self, matrix: Floats) -> None:
        self.rest = matrix
        self.rows: list[int] = []
        self.columns: list[int] = []

    def pivot(self, i: int, j: int) -> None:
        self.rows.append(i)
        self.columns.append(j)
        self.rest -= np.outer(self.rest[:, j] / self.rest[i, j], self.rest[i])
        self.rest[i] = 0.0
        self.rest[:, j] = 0.0

    def run(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> None:
        """Pivot while there is an entry well above rounding errors."""
        r, c = np.flatnonzero(rows), np.flatnonzero(columns)
        while len(r) and len(c):
            block = np.abs(self.rest[np.ix_(r, c)])
            i, j = np.unravel_index(int(np.argmax(block)), block.shape)
            if block[i, j] < NEAR:
                return
            self.pivot(int(r[i]), int(c[j]))
