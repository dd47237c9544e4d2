"""Matrix games over the integers, solved exactly by pivoting.

The value of the game with payoff matrix M (rows are the minimiser's choices) is

    max_{w ∈ Δ} min_i (M w)_i = min_{q ∈ Δ} max_j (Mᵀ q)_j,

the linear programme: maximise v subject to M w − v 1 = s, 1ᵀ w = 1, w ≥ 0, s ≥ 0. Since v is free
and stays in the basis, a basis is a set J of columns (basic w_j) and a set I of as many rows
(slacks at zero, s_i = 0) for which the bordered matrix

    B = | M_IJ  −1 |
        |  1ᵀ    0 |

is regular; primal and dual basic solutions are B z = e and Bᵀ y = −e with z = (w_J, v) and
y = (q_I, −v). Such an optimal (I, J) is a Shapley–Snow kernel of the game.

The basis that a floating-point solver suggests is mostly optimal as it stands. If it is only dual
feasible, the dual simplex method goes on from it. If it is neither primal nor dual feasible, the
least-index criss-cross method [1]_ [2]_, which may start anywhere, mends it: take the least
variable that is primal or dual infeasible, and exchange it for the least variable on which its row
or column has the right sign. That is slow from afar, so after a few hundred steps, or without a
suggestion, the dual simplex method starts from one row and its largest entry, which is always dual
feasible. It picks the most negative variable, and Bland's least index [3]_ while the value stands
still; after finitely many steps the value falls or the basis is optimal, so the method ends.

A signed game has value 0 when Mᵀ q = 0 for some q. Then w = 0 will do, and no vertex of the primal
is looked for: there the programme is as degenerate as can be.

References
----------
.. [1] T. Terlaky (1985), A convergent criss-cross method, Optimization 16(5).
.. [2] K. Fukuda and T. Terlaky (1997), Criss-cross methods: a fresh view on pivot algorithms,
   Mathematical Programming 79.
.. [3] R. G. Bland (1977), New finite pivoting rules for the simplex method, Mathematics of
   Operations Research 2(2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpz, fmpz_mat

#: Steps of the criss-cross method before the simplex method takes over.
REPAIRS = 200
#: Simplex steps without progress before Bland's rule is used.
PATIENCE = 20


@dataclass(frozen=True)
class Equilibrium:
    """Optimal strategies: weights over common denominators, by row and by column.

    Weights are positive and add up to the total; choices that are not listed have weight zero.
    In a signed game of value zero no column is listed: w = 0.
    """

    rows: dict[int, int]
    rows_total: int
    columns: dict[int, int]
    columns_total: int
    pivots: int


class _Basic:
    """The basis (I, J): its solutions, and the rows and columns of its tableau."""

    def __init__(self, game: Game, rows: list[int], columns: list[int]) -> None:
        self.game, self.rows, self.columns = game, rows, columns
        k = len(rows)
        block = [[game.entry(i, j) for j in columns] + [-1] for i in rows]
        self.matrix = fmpz_mat([*block, [1] * k + [0]])
        self.transposed = self.matrix.transpose()
        self.w, v, self.w_den = self._solve(self.matrix, columns, [0] * k + [1])
        self.q, u, self.q_den = self._solve(self.transposed, rows, [0] * k + [-1])
        self.value = Fraction(int(v), int(self.w_den))
        # Basic variables (over w_den) and reduced costs of the others (over q_den; u is minus
        # the value), zero for those of the wrong side: what is negative is infeasible.
        self.primal = dict(self.w)
        self.primal.update((game.slack(i), s - v) for i, s in enumerate(game.scores(self.w)))
        self.dual = {j: -u - p for j, p in enumerate(game.pull(self.q))}
        self.dual.update((game.slack(i), q) for i, q in self.q.items())
        self.costly = [name for name, value in self.dual.items() if value < 0]
        self.short = [name for name, value in self.primal.items() if value < 0]
        if game.signed and self.value == 0 and not self.costly:
            self.w, self.short = {}, []  # w = 0 has the value that q guarantees

    @staticmethod
    def _solve(
        matrix: fmpz_mat, names: list[int], right: list[Any]
    ) -> tuple[dict[int, fmpz], fmpz, fmpz]:
        """Solution by name, its last entry, and the common (positive) denominator."""
        column: Any = matrix.solve(fmpz_mat(len(right), 1, right))
        solution, denominator = column.numer_denom()
        *head, last = solution.entries()
        return dict(zip(names, head, strict=True)), last, denominator

    def criss_cross(self) -> tuple[int, int]:
        """The two variables to exchange when the basis is not optimal."""
        least = min(self.short + self.costly)
        if least in self.short:
            return least, min(name for name, rate in self._row(least) if rate > 0)
        return least, min(name for name, rate in self._column(least) if rate < 0)

    def dual_simplex(self, bland: bool) -> tuple[int, int]:
        """The same for a basis that is dual feasible, and stays so."""
        leaving = min(self.short, key=lambda name: (0 if bland else self.primal[name], name))
        # The denominators are common to all, so they do not matter; ties go to the least name.
        ratios = (
            (Fraction(int(self.dual[name]), int(rate)), name)
            for name, rate in self._row(leaving)
            if rate > 0
        )
        return leaving, min(ratios)[1]

    def _row(self, basic: int) -> Iterator[tuple[int, fmpz]]:
        """How fast the given basic variable grows with each nonbasic one, over one denominator."""
        game = self.game
        own = game.row(basic) if game.is_slack(basic) else None
        right: list[Any]
        if own is None:
            right = [int(j == basic) for j in self.columns] + [0]
        else:
            right = [game.entry(own, j) for j in self.columns] + [-1]
        y, last, den = self._solve(self.transposed, self.rows, right)
        yield from ((game.slack(i), rate) for i, rate in y.items())
        used = set(self.columns)
        for j, value in enumerate(game.pull(y)):
            if j not in used:
                yield j, (0 if own is None else den * game.entry(own, j)) - value - last

    def _column(self, nonbasic: int) -> Iterator[tuple[int, fmpz]]:
        """How fast each basic variable grows with the given nonbasic one, over one denominator."""
        game = self.game
        right: list[Any]
        if game.is_slack(nonbasic):
            right = [int(i == game.row(nonbasic)) for i in self.rows] + [0]
        else:
            right = [-game.entry(i, nonbasic) for i in self.rows] + [-1]
        step, dv, den = self._solve(self.matrix, self.columns, right)
        yield from step.items()
        if not game.is_slack(nonbasic):
            step[nonbasic] = den
        used = set(self.rows)
        for i, score in enumerate(game.scores(step)):
            if i not in used:
                yield game.slack(i), score - dv

    def exchanged(self, one: int, other: int) -> _Basic:
        """The basis after a pivot: each of the two variables changes sides."""
        rows, columns = set(self.rows), set(self.columns)
        for variable in (one, other):
            if self.game.is_slack(variable):
                rows ^= {self.game.row(variable)}
            else:
                columns ^= {variable}
        return _Basic(self.game, sorted(rows), sorted(columns))

    def equilibrium(self, pivots: int) -> Equilibrium:
        """The solutions, when they are optimal."""
        return Equilibrium(
            {i: int(q) for i, q in self.q.items() if q},
            int(self.q_den),
            {j: int(w) for j, w in self.w.items() if w},
            int(self.w_den),
            pivots,
        )


class Game:
    """The game with payoff matrix M or, when signed, [M, −M].

    Parameters
    ----------
    matrix : fmpz_mat
    signed : bool
        Whether every column may also be played with the opposite sign. The mixed strategies are
        then the vectors of the ℓ₁ ball.
    """

    def __init__(self, matrix: fmpz_mat, signed: bool) -> None:
        self.matrix, self.signed = matrix, signed
        self.n, self.d = matrix.nrows(), matrix.ncols()
        self.choices = 2 * self.d if signed else self.d

    # Variables are numbered: columns first, then the slacks of the rows.
    def slack(self, row: int) -> int:
        """The number of a row's slack variable."""
        return self.choices + row

    def row(self, variable: int) -> int:
        """The row of a slack variable."""
        return variable - self.choices

    def is_slack(self, variable: int) -> bool:
        """Whether the variable is a slack."""
        return variable >= self.choices

    def entry(self, i: int, j: int) -> fmpz:
        """The payoff of row i and (signed) column j."""
        return self.matrix[i, j] if j < self.d else -self.matrix[i, j - self.d]

    def scores(self, w: dict[int, Any]) -> list[fmpz]:
        """M w for every row."""
        vector = fmpz_mat(self.d, 1)
        for j, value in w.items():
            vector[j % self.d, 0] += value if j < self.d else -value
        return (self.matrix * vector).entries()

    def pull(self, q: dict[int, Any]) -> list[fmpz]:
        """Mᵀ q for every (signed) column."""
        vector = fmpz_mat(1, self.n)
        for i, value in q.items():
            vector[0, i] = value
        entries = (vector * self.matrix).entries()
        return entries + [-value for value in entries] if self.signed else entries

    def solve(
        self, rows: list[int] | None, columns: list[int] | None, limit: int
    ) -> Equilibrium | None:
        """An equilibrium, from the suggested basis, or None when `limit` pivots do not reach it.

        Parameters
        ----------
        rows, columns : list of int or None
            A start, as many rows as columns; it need not be feasible, not even regular.
        limit : int
            Largest number of pivots.
        """
        pivots = 0
        basic = self._start(rows, columns)
        while basic.costly and pivots < limit:
            pivots += 1
            basic = basic.exchanged(*basic.criss_cross()) if pivots <= REPAIRS else self._simple()
        return self._dual_simplex(basic, pivots, limit)

    def _start(self, rows: list[int] | None, columns: list[int] | None) -> _Basic:
        if rows and columns:
            with suppress(ZeroDivisionError):  # a singular suggestion is no basis
                return _Basic(self, sorted(rows), sorted(columns))
        return self._simple()

    def _simple(self) -> _Basic:
        """One row and its largest entry: regular and dual feasible."""
        row = [self.entry(0, j) for j in range(self.choices)]
        return _Basic(self, [0], [row.index(max(row))])

    def _dual_simplex(self, basic: _Basic, pivots: int, limit: int) -> Equilibrium | None:
        idle = 0
        while basic.short and pivots < limit:
            previous, basic = basic.value, basic.exchanged(*basic.dual_simplex(idle >= PATIENCE))
            idle = 0 if basic.value < previous else idle + 1
            pivots += 1
        return None if basic.short or basic.costly else basic.equilibrium(pivots)
