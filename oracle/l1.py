"""The ℓ₁ margin, exactly: the margin of boosting and of Winnow.

With rows a_i, and by the minimax theorem,

    signed:    max_{‖w‖₁ ≤ 1} min_i ⟨a_i, w⟩ = min_{q ∈ Δ} ‖Aᵀ q‖_∞
    unsigned:  max_{w ∈ Δ_d} min_i ⟨a_i, w⟩ = min_{q ∈ Δ} max_j (Aᵀ q)_j

(Ramdas and Peña 2015, Section 2.2, "Winnow", without the normalisation of the rows). The signed
value is never negative, because w = 0 is allowed: it is zero exactly when the data cannot be
separated, and then Aᵀ q = 0. The unsigned value may have any sign.

A floating-point linear programme suggests which rows and columns matter; `oracle.game` makes that
exact. Whatever they return, `solve_l1` recomputes min_i ⟨a_i, w⟩ and the largest column of Aᵀ q in
integers over all rows and columns: the two enclose the value whatever w and q are, and when they
are equal they are the value. Where exact pivoting would take too long (see `BUDGET`) the strategies
are floating-point numbers taken as rationals, and the two values are bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.certificate import rational
from gammabar.oracle.game import Game
from gammabar.oracle.programme import Suggestion, suggest
from gammabar.problems.base import ProblemError

#: Bit operations (about 10⁹ a second) that exact pivoting may take before bounds are given instead.
BUDGET = 300_000_000_000


class Primal(NamedTuple):
    """w_j = numerator_j / denominator on the listed columns; the denominator is Σ|numerators|.

    w = 0 has no columns and the denominator 1.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


class Dual(NamedTuple):
    """q_i = numerator_i / total on the listed rows; the total is Σ numerators."""

    support: tuple[int, ...]
    numerators: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class L1Truth:
    """The ℓ₁ margin and its proof.

    Attributes
    ----------
    signed : bool
        Whether w ranges over the ℓ₁ ball or over the simplex.
    separable : bool or None
        Whether the value is positive; None when the bounds do not tell.
    value_lo, value_hi : Fraction
        min_i ⟨a_i, w⟩ and ‖Aᵀ q‖_∞ (unsigned: max_j (Aᵀ q)_j), which enclose the value.
    exact : bool
        Whether they are equal.
    w : Primal
    q : Dual
    radius : Fraction
        max_ij |a_ij|.
    """

    signed: bool
    separable: bool | None
    value_lo: Fraction
    value_hi: Fraction
    exact: bool
    w: Primal
    q: Dual
    radius: Fraction

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
    budget: int = BUDGET,
) -> L1Truth:
    """The ℓ₁ margin of the rows a_i = scale · rows_i.

    Parameters
    ----------
    rows : fmpz_mat, lists of int, or an array of integers
    scale : Fraction
        Positive.
    signed : bool
        Maximise over ‖w‖₁ ≤ 1 (True) or over the probability simplex (False).
    budget : int
        Bit operations for exact pivoting; 0 asks for bounds.

    Returns
    -------
    L1Truth

    Examples
    --------
    >>> solve_l1([[2, 0], [1, 1]], signed=False).value_lo
    Fraction(1, 1)
    """
    matrix, table = integers(rows)
    if not scale > 0:
        raise ProblemError(f"the scale of the rows must be positive, not {scale}")
    largest = max(map(abs, (int(table.max()), int(table.min()))))
    suggestion = suggest(ratios(table, largest), signed)
    game = Game(matrix, signed)
    limit = _pivots(game, suggestion, largest, budget)
    equilibrium = game.solve(suggestion.rows, suggestion.columns, limit) if limit else None
    if equilibrium is None:
        w, q = _rounded(suggestion.w), _rounded(suggestion.q)
    else:
        w, q = equilibrium.columns, equilibrium.rows
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
    return fmpz_mat(len(table), table.shape[1], table.ravel().tolist()), table


def ratios(table: NDArray[Any], largest: int) -> NDArray[np.float64]:
    """Entries divided by the largest, as doubles."""
    if table.dtype != object:
        return table.astype(np.float64) / (largest or 1)
    divided = [int(v) / (largest or 1) for v in table.flat]  # rounded once, however large
    return np.array(divided).reshape(table.shape)


def _pivots(game: Game, suggestion: Suggestion, largest: int, budget: int) -> int:
    """How many exact pivots the budget allows."""
    k = len(suggestion.rows) if suggestion.rows else min(game.n, game.d)
    # Four solves of order k and two passes over the matrix for each pivot.
    work = 4 * (k + 1) ** 3 * max(largest.bit_length(), 8) + 50 * game.n * game.d
    return budget // work


def _rounded(weights: Mapping[int, float]) -> dict[int, int]:
    """Floating-point weights as integers; never none, so that q stays a distribution."""
    whole = {i: round(math.ldexp(v, 60)) for i, v in weights.items() if 0 < v < math.inf}
    return {i: v for i, v in whole.items() if v} or {0: 1}


def _folded(w: Mapping[int, int], game: Game) -> dict[int, int]:
    """Signed columns put together: column j + d is column j with the opposite sign."""
    folded: dict[int, int] = {}
    for j, value in w.items():
        folded[j % game.d] = folded.get(j % game.d, 0) + (value if j < game.d else -value)
    return {j: value for j, value in sorted(folded.items()) if value}


def _prove(
    game: Game, w: dict[int, int], q: dict[int, int], scale: Fraction, radius: Fraction
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
        separable=True if lo > 0 else False if hi <= 0 else None,
        value_lo=lo,
        value_hi=hi,
        exact=lo == hi,
        w=Primal(tuple(w), tuple(v // shared for v in w.values()), max(length // shared, 1)),
        q=Dual(tuple(sorted(q)), tuple(q[i] // common for i in sorted(q)), total // common),
        radius=radius,
    )
