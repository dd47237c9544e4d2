"""Does the maximum-likelihood estimate exist? Complete, quasi-complete separation, or overlap.

Let a_i = y_i x_i (with an intercept: x_i has a constant feature). The likelihood of logistic
regression has no maximum exactly if some direction β has ⟨a_i, β⟩ ≥ 0 for all i and > 0 for one
[1]_. The *boundary* is the set of rows that every such direction leaves at zero:

    complete        no row is on the boundary
    quasi-complete  some are
    overlap         all are: the maximum is attained

What proves it is a pair: β with ⟨a_i, β⟩ > 0 off the boundary and = 0 on it, and weights q,
positive on the boundary and zero off it, with Σ q_i a_i = 0 (Gordan for no boundary, Stiemke for
nothing else, and their mixture). Then Σ q_i ⟨a_i, β'⟩ = 0 for every β', so that no direction
without negative products has a positive one on the boundary.

The pair is built in rounds. The oracle separates the rows, or finds weights q on some of them with
sum zero. These belong to the boundary, and so do all rows that they span; the others are looked at
modulo that span, where the oracle is asked again. Each round adds to the rank of the boundary.

A coefficient *diverges* if it is not zero in all directions of recession: those orthogonal to the
boundary, so that this is linear algebra [2]_. One that no row determines is not identified.

References
----------
.. [1] A. Albert and J. A. Anderson (1984), On the existence of maximum likelihood estimates in
   logistic regression models. Biometrika 71(1).
.. [2] K. Konis (2007), Linear programming algorithms for detecting separated data in binary
   logistic regression models. DPhil thesis, University of Oxford.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from gammabar.oracle.candidate import Progress, load_core, silent
from gammabar.oracle.certificate import data_section, weights_section, write_certificate
from gammabar.oracle.l1 import solve_l1
from gammabar.oracle.maximum_margin import solve
from gammabar.oracle.rational import integer_matrix, largest, signed_rows, to_fmpz_mat
from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem

KINDS = ("complete", "quasi-complete", "overlap")
#: Regular modulo a prime is regular; what is singular is tried with the next.
PRIMES = (2**61 - 1, 2**61 - 31, 2**59 - 55)
#: Entries of the matrices that are multiplied exactly, at most (about 10⁷ a second).
MOST = 3_000_000_000

Weights = dict[int, int]  # by row


@dataclass(frozen=True, kw_only=True)
class Separation:
    """What separates the data, and what that means for maximum likelihood.

    Attributes
    ----------
    problem : Problem
        The points, with a constant feature if there is an intercept.
    direction : list of int
        β: no row has a negative product with it, and all rows off the boundary a positive one.
    weights : dict
        Positive integers by row: q on the boundary, with Σ q_i a_i = 0.
    diverging, unidentified : lists of int
        Columns, the intercept being the last, whose coefficients diverge; those that no row
        determines, whatever else the data are.
    seconds : float
    """

    problem: Problem = field(repr=False)
    direction: list[int] = field(repr=False)
    weights: Weights = field(repr=False)
    diverging: list[int] = field(repr=False)
    unidentified: list[int] = field(repr=False)
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        if not self.weights:
            return "complete"
        return "overlap" if len(self.weights) == self.problem.n else "quasi-complete"

    @property
    def estimate_exists(self) -> bool:
        """Whether the likelihood attains its maximum (at one point, if all is identified)."""
        return self.kind == "overlap"

    @property
    def intercept(self) -> bool:
        """Whether there is one."""
        return self.problem.intercept != "none"

    @cached_property
    def boundary(self) -> NDArray[np.int64]:
        """Rows that every direction of recession leaves on the boundary."""
        return np.array(sorted(self.weights), dtype=np.int64)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate of `oracle/CERTIFICATE.md`, as a dictionary ready for JSON."""
        rows = sorted(self.weights)
        numerators = [self.weights[i] for i in rows]
        columns = [j for j, v in enumerate(self.direction) if v]
        geometry = {"type": "linear"} | ({"intercept": "augmented"} if self.intercept else {})
        return {
            "format": "gammabar-certificate",
            "version": 2,
            "kind": "separation",
            "geometry": geometry,
            "data": data_section(self.problem),
            **weights_section(np.array(rows, dtype=np.int64), numerators, sum(numerators)),
            "primal": {
                "columns": columns,
                "coefficients": [hex(self.direction[j]) for j in columns],
            },
            "separation": self.kind,
        }

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file, whole or not at all."""
        write_certificate(self.certificate, path)


def separation(
    problem: Any, y: Any = None, *, intercept: bool = False, progress: Progress = silent
) -> Separation:
    """Complete or quasi-complete separation, or overlap, exactly and with proof.

    Parameters
    ----------
    problem : Problem, or an array, DataFrame or sparse matrix X
        Linear, of two classes.
    y : array, optional
        The labels, if X was given.
    intercept : bool
        Whether the model has one; a problem that was made with one (of either kind) has it.
    progress : callable
        Told the name of each stage as it begins.

    Examples
    --------
    >>> separation([[1], [2], [2], [3]], [0, 0, 1, 1], intercept=True).kind
    'quasi-complete'
    """
    from gammabar.problems.conversion import from_arrays, with_intercept

    if not isinstance(problem, Problem):
        if y is None:
            raise ProblemError("separation takes a problem, or the points X and their labels y")
        problem = from_arrays(problem, y)
    elif y is not None:
        raise ProblemError("a problem has its labels already; leave out y")
    if not isinstance(problem, DenseProblem | SparseProblem):
        raise ProblemError(
            "separation is decided for linear problems with two classes, in memory; whether the "
            "separation is complete, the oracle says of data of any size"
        )
    biased = intercept or problem.intercept != "none"
    rows = with_intercept(problem.raw(), "augmented" if biased else "none")
    load_core(rows)  # before the clock starts
    start = perf_counter()
    table, _ = integer_matrix(rows)
    progress("first round")
    found = _Search(table, progress).run(_first(rows))
    return Separation(problem=rows, seconds=perf_counter() - start, **found)


class _Answer(NamedTuple):
    """Weights of rows whose sum is zero, or a direction that separates them."""

    weights: Weights
    direction: list[int] | None


def _first(problem: Problem) -> _Answer:
    """The answer of the oracle for the rows of a problem."""
    truth = solve(problem)
    support = [int(i) for i in truth.support]
    if not truth.separable:
        return _Answer(dict(zip(support, truth.numerators, strict=True)), None)
    table, _ = signed_rows(problem.X, problem.y, np.array(support, dtype=np.int64))
    return _Answer({}, _combined(table, truth.numerators))


def _asked(rows: NDArray[Any]) -> _Answer:
    """The answer for rows of integers of any size."""
    if largest(rows) < 2**62:
        return _first(DenseProblem(rows.astype(np.int64), np.ones(len(rows), np.int8)))
    truth = solve_l1(rows, signed=True)
    if truth.separable is None:
        raise ProblemError("whether the data overlap takes too long to decide exactly")
    if not truth.separable:
        return _Answer(dict(zip(truth.q.support, truth.q.numerators, strict=True)), None)
    direction = [0] * rows.shape[1]
    for j, value in zip(truth.w.columns, truth.w.numerators, strict=True):
        direction[j] = value
    return _Answer({}, direction)


class _Search:
    """The rounds, on rows of integers."""

    def __init__(self, table: NDArray[Any], progress: Progress) -> None:
        self.table, self.progress = table, progress
        self.n, self.d = table.shape

    def run(self, answer: _Answer) -> dict[str, Any]:
        """Fields of the result."""
        q: Weights = {}
        basis = _identity(self.d)  # of the directions orthogonal to the boundary found so far
        outside = list(range(self.n))  # the rows that it does not span
        while answer.direction is None:
            q = self.merged(q, {outside[k]: v for k, v in answer.weights.items()})
            basis = _null_space(self.table[sorted(q)])
            self.progress(f"rank {self.d - basis.ncols()} of the boundary")
            image = self.product(basis)
            outside = np.flatnonzero((image != 0).any(axis=1)).tolist()
            if not outside:
                break
            answer = _asked(_smaller(image[outside]))
        unidentified = _touched(_null_space(self.table))
        if answer.direction is None:
            diverging, direction = set[int](), [0] * self.d
        else:
            diverging = set(_touched(basis)).difference(unidentified)
            step = fmpz_mat(basis.ncols(), 1, answer.direction)
            direction = self.generic(_integers(basis * step), basis, diverging)
        spanned = set(range(self.n)).difference(outside, q)
        return {
            "direction": direction,
            "weights": self.merged(q, dict.fromkeys(spanned, 1)),
            "diverging": sorted(diverging),
            "unidentified": unidentified,
        }

    def product(self, right: fmpz_mat) -> NDArray[Any]:
        """All rows times a matrix, exactly."""
        if self.n * right.nrows() * right.ncols() > MOST:
            raise ProblemError(
                f"{self.n:,} rows with {self.d:,} features are too many to decide between "
                "quasi-complete separation and overlap exactly; take fewer columns"
            )
        entries = _integers(to_fmpz_mat(self.table) * right)
        return np.array(entries, dtype=object).reshape(self.n, right.ncols())

    def merged(self, q: Weights, more: Weights) -> Weights:
        """Positive weights on the rows of both, with sum zero.

        The weighted sum of `more` lies in the span of the rows of q (or is zero, if there are
        none): c takes it away there, and a large multiple of q keeps everything positive.
        """
        if not q or not more:
            return q or more
        rows = sorted(q)
        extra = _combined(self.table[list(more)], list(more.values()))
        c, denominator = _coordinates(self.table[rows], extra)
        times = max(1, 1 + max(c_i // q[i] for i, c_i in zip(rows, c, strict=True)))
        both = {i: times * q[i] - c_i for i, c_i in zip(rows, c, strict=True)}
        both |= {i: denominator * weight for i, weight in more.items()}
        shared = math.gcd(*both.values())
        return {i: v // shared for i, v in both.items()}

    def generic(self, direction: list[int], basis: fmpz_mat, wanted: set[int]) -> list[int]:
        """A direction with the same signs of products that is zero in none of these columns."""
        for number in range(basis.ncols()):
            step = [int(basis[j, number]) for j in range(self.d)]
            if not any(step[j] and not direction[j] for j in wanted):
                continue
            pairs = [v for pair in zip(direction, step, strict=True) for v in pair]
            scores = self.product(fmpz_mat(self.d, 2, pairs))
            sizes = [(a, b) for a, b in scores if a]
            sizes += [pair for pair in zip(direction, step, strict=True) if pair[0]]
            times = 1 + max(abs(b) // abs(a) for a, b in sizes)
            direction = [times * v + s for v, s in zip(direction, step, strict=True)]
        shared = math.gcd(*direction)
        return [v // shared for v in direction]


# --- linear algebra over the integers -------------------------------------------------------


def _identity(d: int) -> fmpz_mat:
    return fmpz_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])


def _integers(matrix: fmpz_mat) -> list[int]:
    return [int(v) for v in matrix.entries()]


def _combined(table: NDArray[Any], weights: list[int]) -> list[int]:
    """The weighted sum of rows."""
    return _integers(fmpz_mat(1, len(weights), weights) * to_fmpz_mat(table))


def _smaller(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows, not all zero, divided by what all their entries have in common."""
    return np.asarray(rows // math.gcd(*rows.ravel().tolist()))


def _touched(basis: fmpz_mat) -> list[int]:
    """Rows of a basis that are not zero: columns of the data that its vectors touch."""
    return [j for j, row in enumerate(basis.tolist()) if any(row)]


def _pivots(table: NDArray[Any], prime: int) -> list[int]:
    """Columns that are independent modulo a prime, and so over the rationals, and span the rest."""
    entries = [int(v) % prime for v in table.ravel().tolist()]
    reduced, rank = nmod_mat(len(table), table.shape[1], entries, prime).rref()
    pivots, column = [], 0
    for row in range(int(rank)):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(column)
    return pivots


def _null_space(table: NDArray[Any]) -> fmpz_mat:
    """A basis of the vectors orthogonal to all rows, as the columns of a matrix of integers."""
    d = table.shape[1]
    used = np.flatnonzero((table != 0).any(axis=0))
    chosen = _pivots(table[:, used].T, PRIMES[0]) if len(used) else []
    while True:
        part = to_fmpz_mat(table[chosen][:, used])
        kernel, nullity = part.nullspace() if chosen else (_identity(len(used)), len(used))
        columns = [[int(kernel[i, k]) for i in range(len(used))] for k in range(int(nullity))]
        columns = [[v // math.gcd(*column) for v in column] for column in columns]
        missed = [i for column in columns for i in _not_orthogonal(table[:, used], column)]
        if not missed:
            break
        chosen = sorted({*chosen, *missed})  # an unlucky prime: it divides a determinant
    idle = sorted(set(range(d)).difference(used.tolist()))
    full = [[int(i == j) for i in range(d)] for j in idle]
    for column in columns:
        spread = [0] * d
        for place, value in zip(used.tolist(), column, strict=True):
            spread[place] = value
        full.append(spread)
    if not full:
        return fmpz_mat(d, 0)
    return fmpz_mat(len(full), d, [v for column in full for v in column]).transpose()


def _not_orthogonal(table: NDArray[Any], column: list[int]) -> list[int]:
    """The first row whose product with a vector is not zero, if there is one."""
    scores = _integers(to_fmpz_mat(table) * fmpz_mat(len(column), 1, column))
    return [i for i, v in enumerate(scores) if v][:1]


def _coordinates(table: NDArray[Any], vector: list[int]) -> tuple[list[int], int]:
    """Integers c and a denominator with Σ c_i row_i = denominator · vector, which they span."""
    for prime in PRIMES:
        columns = _pivots(table, prime)
        rows = _pivots(table[:, columns].T, prime)
        square = to_fmpz_mat(table[rows][:, columns]).transpose()
        right = fmpz_mat(len(columns), 1, [vector[j] for j in columns])
        solution: Any = square.solve(right)
        numerators, denominator = solution.numer_denom()
        c, bottom = _integers(numerators), int(denominator)
        if _combined(table[rows], c) == [bottom * v for v in vector]:
            place = dict(zip(rows, c, strict=True))
            return [place.get(i, 0) for i in range(len(table))], bottom
    raise AssertionError("the vector lies in the span of the rows")
