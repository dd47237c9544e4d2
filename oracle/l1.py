"""The ℓ₁ margin, exactly: the margin of boosting and of Winnow.

With rows a_i, and by the minimax theorem,

    signed:    max_{‖w‖₁ ≤ 1} min_i ⟨a_i, w⟩ = min_{q ∈ Δ} ‖Aᵀ q‖_∞
    unsigned:  max_{w ∈ Δ_d} min_i ⟨a_i, w⟩ = min_{q ∈ Δ} max_j (Aᵀ q)_j

(Ramdas and Peña 2015, Section 2.2, "Winnow", without the normalisation of the rows). The signed
value is never negative, because w = 0 is allowed: it is zero exactly when the data cannot be
separated, and then Aᵀ q = 0. The unsigned value may have any sign.

A floating-point linear programme suggests which rows and columns matter, and `_Game` makes that
exact. `solve_l1` recomputes min_i ⟨a_i, w⟩ and the largest column of Aᵀ q in integers over all rows
and columns: they enclose the value whatever w and q are. Where exact pivoting would take too long
(`_BUDGET`), w and q are the floating-point numbers taken as rationals.

*Exact pivoting.* The value of the game with payoff matrix M (rows are the minimiser's choices) is
the linear programme: maximise v subject to M w − v 1 = s, 1ᵀ w = 1, w ≥ 0, s ≥ 0. Since v is free
and stays in the basis, a basis is a set J of columns (basic w_j) and a set I of as many rows
(slacks at zero) for which the bordered matrix

    B = | M_IJ  −1 |
        |  1ᵀ    0 |

is regular; primal and dual basic solutions are B z = e and Bᵀ y = −e with z = (w_J, v) and
y = (q_I, −v). The suggested basis is mostly optimal as it stands. If it is not, the least-index
criss-cross method [1]_ [2]_ goes on from it: take the least variable that is primal or dual
infeasible, and exchange it for the least one on which its row or column has the right sign. It may
start anywhere and ends after finitely many steps. A signed game has value 0 when Mᵀ q = 0 for some
q; then w = 0 will do, and no vertex of the primal, which is as degenerate as can be, is looked for.

*The suggestion.* HiGHS solves the game on a working set of rows to which the most violated ones are
added. Its strategies tell which rows and columns matter for sure (those with weight) and which may
(those with slack or reduced cost near zero); Gaussian elimination with complete pivoting picks as
many columns as rows among them, so that B is regular even where the programme is degenerate.

References
----------
.. [1] T. Terlaky (1985), A convergent criss-cross method, Optimization 16(5).
.. [2] K. Fukuda and T. Terlaky (1997), Criss-cross methods: a fresh view on pivot algorithms,
   Mathematical Programming 79.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz, fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.certificate import rational
from gammabar.oracle.rational import to_fmpz_mat
from gammabar.problems.problem import Floats, ProblemError

#: Bit operations (about 10⁹ a second) that exact pivoting may take before bounds are given instead.
_BUDGET = 300_000_000_000


class _Primal(NamedTuple):
    """w_j = numerator_j / denominator on the listed columns; the denominator is Σ|numerators|.

    w = 0 has no columns and the denominator 1.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


class _Dual(NamedTuple):
    """q_i = numerator_i / total on the listed rows; the total is Σ numerators."""

    support: tuple[int, ...]
    numerators: tuple[int, ...]
    total: int

    def weights(self) -> list[float]:
        """The doubles nearest to q."""
        return [v / self.total for v in self.numerators]


@dataclass(frozen=True)
class L1Truth:
    """The ℓ₁ margin and its proof.

    `value_lo` and `value_hi`, min_i ⟨a_i, w⟩ and ‖Aᵀ q‖_∞ (unsigned: max_j (Aᵀ q)_j), enclose the
    value; `radius` is max_ij |a_ij|.
    """

    signed: bool
    value_lo: Fraction
    value_hi: Fraction
    w: _Primal
    q: _Dual
    radius: Fraction

    @property
    def exact(self) -> bool:
        return self.value_lo == self.value_hi

    @property
    def separable(self) -> bool | None:
        """Whether the value is positive; None when the bounds do not tell."""
        return True if self.value_lo > 0 else False if self.value_hi <= 0 else None

    def certificate_fields(self) -> dict[str, Any]:
        """What a certificate of the kind "l1-margin" adds to the others; w = 0 is empty."""
        return {
            "signed": self.signed,
            "primal": {
                "columns": list(self.w.columns),
                "coefficients": [hex(v) for v in self.w.numerators],
            },
            "value_lo": rational(self.value_lo),
            "value_hi": rational(self.value_hi),
            "radius": rational(self.radius),
        }


def solve_l1(
    rows: fmpz_mat | Sequence[Sequence[int]] | NDArray[Any],
    scale: Fraction = Fraction(1),
    *,
    signed: bool,
    budget: int = _BUDGET,
) -> L1Truth:
    """The ℓ₁ margin of the rows a_i = scale · rows_i, which are integers; the scale is positive.

    It is over ‖w‖₁ ≤ 1 if `signed`, over the probability simplex otherwise. The budget is that of
    exact pivoting, in bit operations; 0 asks for bounds.

    Examples
    --------
    >>> solve_l1([[2, 0], [1, 1]], signed=False).value_lo
    Fraction(1, 1)
    """
    matrix, table = integers(rows)
    if not scale > 0:
        raise ProblemError(f"the scale of the rows must be positive, not {scale}")
    largest = max(map(abs, (int(table.max()), int(table.min()))))
    found = _suggest(ratios(table, largest), signed)
    game = _Game(matrix, signed)
    limit = _pivots(game, found, largest, budget)
    basic = game.solve(found.rows, found.columns, limit) if limit else None
    if basic is None:
        w, q = _rounded(found.w), _rounded(found.q)
    else:
        w, q = ({k: int(v) for k, v in part.items() if v} for part in (basic.w, basic.q))
    return _prove(game, _folded(w, game), q, scale, scale * largest)


def integers(rows: Any) -> tuple[fmpz_mat, NDArray[Any]]:
    """Rows as a flint matrix and as an array (of Python's integers, if they are large)."""
    if isinstance(rows, fmpz_mat):
        rows = [[int(v) for v in row] for row in rows.tolist()]
    try:
        table = rows if isinstance(rows, np.ndarray) else np.array(rows)
        if table.dtype.kind not in "bui":  # too large for int64: NumPy may have made floats of them
            table = np.array(rows, dtype=object)
    except ValueError as error:
        raise ProblemError("the rows must all have the same length") from error
    if table.ndim != 2 or table.size == 0:
        raise ProblemError("the rows must form a matrix with at least one row and one column")
    if table.dtype == object and not all(isinstance(v, int) for v in table.flat):
        raise ProblemError("the rows must consist of integers")
    return to_fmpz_mat(table), table


def ratios(table: NDArray[Any], largest: int) -> NDArray[np.float64]:
    """Entries divided by the largest, as doubles."""
    if table.dtype != object:
        return table.astype(np.float64) / (largest or 1)
    divided = [int(v) / (largest or 1) for v in table.flat]  # rounded once, however large
    return np.array(divided).reshape(table.shape)


def _pivots(game: _Game, suggestion: _Suggestion, largest: int, budget: int) -> int:
    """How many exact pivots the budget allows."""
    k = len(suggestion.rows) if suggestion.rows else min(game.n, game.d)
    # Four solves of order k and two passes over the matrix for each pivot.
    work = 4 * (k + 1) ** 3 * max(largest.bit_length(), 8) + 50 * game.n * game.d
    return budget // work


def _rounded(weights: Mapping[int, float]) -> dict[int, int]:
    """Floating-point weights as integers; never none, so that q stays a distribution."""
    whole = {i: round(math.ldexp(v, 60)) for i, v in weights.items() if 0 < v < math.inf}
    return {i: v for i, v in whole.items() if v} or {0: 1}


def _folded(w: Mapping[int, int], game: _Game) -> dict[int, int]:
    """Signed columns put together: column j + d is column j with the opposite sign."""
    folded: dict[int, int] = {}
    for j, value in w.items():
        folded[j % game.d] = folded.get(j % game.d, 0) + (value if j < game.d else -value)
    return {j: value for j, value in sorted(folded.items()) if value}


def _prove(
    game: _Game, w: dict[int, int], q: dict[int, int], scale: Fraction, radius: Fraction
) -> L1Truth:
    """Lower and upper bound on the value from any w and q, computed exactly."""
    total, length = sum(q.values()), sum(map(abs, w.values())) or 1
    hi = Fraction(int(max(game.pull(q))), total) * scale
    lo = Fraction(int(min(game.scores(w))), length) * scale
    if game.signed and lo <= 0:  # w = 0 is no worse
        w, length, lo = {}, 1, Fraction(0)
    shared = math.gcd(*w.values()) or 1
    common = math.gcd(*q.values())
    return L1Truth(
        signed=game.signed,
        value_lo=lo,
        value_hi=hi,
        w=_Primal(tuple(w), tuple(v // shared for v in w.values()), max(length // shared, 1)),
        q=_Dual(tuple(sorted(q)), tuple(q[i] // common for i in sorted(q)), total // common),
        radius=radius,
    )


class _Basic:
    """The basis (I, J): its solutions, and the rows and columns of its tableau."""

    def __init__(self, game: _Game, rows: list[int], columns: list[int]) -> None:
        self.game, self.rows, self.columns = game, rows, columns
        k = len(rows)
        block = [[game.entry(i, j) for j in columns] + [-1] for i in rows]
        self.matrix = fmpz_mat([*block, [1] * k + [0]])
        self.transposed = self.matrix.transpose()
        self.w, v, _ = self._solve(self.matrix, columns, [0] * k + [1])
        self.q, u, _ = self._solve(self.transposed, rows, [0] * k + [-1])
        # Basic variables and reduced costs of the others, each over a denominator of their own; u
        # is minus the value. What is negative is infeasible.
        slacks = ((game.slack(i), s - v) for i, s in enumerate(game.scores(self.w)))
        costs = ((game.slack(i), q) for i, q in self.q.items())
        self.short = [name for name, value in [*self.w.items(), *slacks] if value < 0]
        self.costly = [j for j, p in enumerate(game.pull(self.q)) if -u - p < 0]
        self.costly += [name for name, value in costs if value < 0]
        if game.signed and v == 0 and not self.costly:
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

    def _row(self, basic: int) -> Iterator[tuple[int, fmpz]]:
        """How fast the given basic variable grows with each nonbasic one, over one denominator."""
        game = self.game
        own = game.row(basic) if game.row(basic) >= 0 else None
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
        column = game.row(nonbasic) < 0
        if not column:
            right = [int(i == game.row(nonbasic)) for i in self.rows] + [0]
        else:
            right = [-game.entry(i, nonbasic) for i in self.rows] + [-1]
        step, dv, den = self._solve(self.matrix, self.columns, right)
        yield from step.items()
        if column:
            step[nonbasic] = den
        used = set(self.rows)
        for i, score in enumerate(game.scores(step)):
            if i not in used:
                yield game.slack(i), score - dv

    def exchanged(self, one: int, other: int) -> _Basic:
        """The basis after a pivot: each of the two variables changes sides."""
        rows, columns = set(self.rows), set(self.columns)
        for variable in (one, other):
            if self.game.row(variable) >= 0:
                rows ^= {self.game.row(variable)}
            else:
                columns ^= {variable}
        return _Basic(self.game, sorted(rows), sorted(columns))


class _Game:
    """The game with payoff matrix M or, when signed, [M, −M]: strategies are the ℓ₁ ball then.

    Variables are numbered: (signed) columns first, then the slacks of the rows.
    """

    def __init__(self, matrix: fmpz_mat, signed: bool) -> None:
        self.matrix, self.signed = matrix, signed
        self.n, self.d = matrix.nrows(), matrix.ncols()
        self.choices = 2 * self.d if signed else self.d

    def slack(self, row: int) -> int:
        return self.choices + row

    def row(self, variable: int) -> int:
        """The row of a slack variable, which is negative for a column."""
        return variable - self.choices

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

    def solve(self, rows: list[int] | None, columns: list[int] | None, limit: int) -> _Basic | None:
        """An optimal basis, or None when `limit` pivots do not reach one.

        The suggested basis, as many rows as columns, need not be feasible, not even regular.
        """
        basic = self._start(rows, columns)
        for _ in range(limit):
            if not basic.short and not basic.costly:
                return basic
            basic = basic.exchanged(*basic.criss_cross())
        return None

    def _start(self, rows: list[int] | None, columns: list[int] | None) -> _Basic:
        if rows and columns:
            with suppress(ZeroDivisionError):  # a singular suggestion is no basis
                return _Basic(self, sorted(rows), sorted(columns))
        row = [self.entry(0, j) for j in range(self.choices)]
        return _Basic(self, [0], [row.index(max(row))])


#: Rows in the first working set and rows added per round.
_FIRST, _MORE = 400, 200
#: What counts as zero, for data whose largest entry is one.
_NEAR, _TINY = 1e-7, 1e-11


@dataclass(frozen=True)
class _Suggestion:
    """Strategies in floating point, and a basis for `_Game.solve` (None where there is none)."""

    w: dict[int, float] = field(default_factory=dict)
    q: dict[int, float] = field(default_factory=dict)
    rows: list[int] | None = None
    columns: list[int] | None = None


def _suggest(table: Floats, signed: bool) -> _Suggestion:
    """Nearly optimal strategies of a game with payoffs of at most one, and a basis."""
    matrix = np.hstack([table, -table]) if signed else table
    solved = _strategies(matrix)
    if solved is None:
        return _Suggestion()
    w, q, value = solved
    weights = {int(j): float(w[j]) for j in np.flatnonzero(w > 0)}
    dual = {int(i): float(q[i]) for i in np.flatnonzero(q > 0)}
    slack, cost = matrix @ w - value, value - q @ matrix
    rows, columns = _basis(matrix, q > _TINY, slack < _NEAR, w > _TINY, cost < _NEAR)
    return _Suggestion(weights, dual, rows, columns)


def _strategies(matrix: Floats) -> tuple[Floats, Floats, float] | None:
    """w, q and the value; None when the solver fails."""
    n = len(matrix)
    working = np.arange(min(n, _FIRST))
    while True:
        solved = _programme(matrix[working])
        if solved is None:
            return None
        w, part, value = solved
        scores = matrix @ w
        worst = np.argsort(scores)[:_MORE]
        fresh = np.setdiff1d(worst[scores[worst] < value - _TINY], working)
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
    """As many rows as columns, the sure ones and more, with a regular bordered matrix.

    Gaussian elimination with complete pivoting, among some rows and columns at a time.
    """
    rows = np.flatnonzero(sure_rows | near_rows)
    columns = np.flatnonzero(sure_columns | near_columns)
    if not sure_rows.any() or not sure_columns.any():
        return None, None
    rest = np.ones((len(rows) + 1, len(columns) + 1))
    rest[:-1, :-1] = matrix[np.ix_(rows, columns)]
    rest[:-1, -1], rest[-1, -1] = -1.0, 0.0
    sure_r, sure_c = np.flatnonzero(sure_rows[rows]), np.flatnonzero(sure_columns[columns])
    every_r, every_c = np.arange(len(rows) + 1), np.arange(len(columns) + 1)
    picked: list[tuple[int, int]] = []
    # The border must be in: v with a sure row, and the sum of the weights with a sure column.
    stages = [(sure_r, every_c[-1:]), (every_r[-1:], sure_c)]
    for r, c in [*stages, (sure_r, sure_c), (every_r, sure_c), (sure_r, every_c)]:
        while True:
            block = np.abs(rest[np.ix_(r, c)])
            at = np.unravel_index(int(np.argmax(block)), block.shape)
            if block[at] < _NEAR:
                break
            i, j = int(r[at[0]]), int(c[at[1]])
            rest -= np.outer(rest[:, j] / rest[i, j], rest[i])
            rest[i], rest[:, j] = 0.0, 0.0
            picked.append((i, j))
    chosen = [int(rows[i]) for i, _ in picked if i < len(rows)]
    return chosen, [int(columns[j]) for _, j in picked if j < len(columns)]
