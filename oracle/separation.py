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

Complete separation is proved by the maximum margin, and overlap by positive weights on rows that
span the space (`gammabar.oracle.proof`); the fractions of the certificate are written when they are
asked for. What is left is built in rounds. The oracle separates the rows, or finds weights q on
some of them with sum zero. These belong to the boundary, and so do all rows that they span; the
others are looked at modulo that span, where the oracle is asked again. Each round adds to the rank
of the boundary. Of more columns than rows only independent ones take part.

A coefficient *diverges* if it is not zero in all directions of recession: those orthogonal to the
boundary, so that this is linear algebra [2]_. One that no row determines is not identified: the
unit vector of its column is not in the span of the rows.

References
----------
.. [1] A. Albert and J. A. Anderson (1984), On the existence of maximum likelihood estimates in
   logistic regression models. Biometrika 71(1).
.. [2] K. Konis (2007), Linear programming algorithms for detecting separated data in binary
   logistic regression models. DPhil thesis, University of Oxford.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from gammabar.oracle.candidate import Progress, TimeUp, Watch, load_core, silent
from gammabar.oracle.certificate import head_section, write_certificate
from gammabar.oracle.l1 import solve_l1
from gammabar.oracle.linear_algebra import combined, coordinates, loose_columns, null_space, pivots
from gammabar.oracle.linear_system import RowSystem
from gammabar.oracle.maximum_margin import limited_watch, solve
from gammabar.oracle.proof import SupportProof
from gammabar.oracle.rational import integer_matrix, integers_of, largest, signed_rows, to_fmpz_mat
from gammabar.oracle.result import Truth
from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem
from gammabar.problems.conversion import from_arrays, with_intercept

#: Entries of the matrices that are multiplied exactly, at most (about 10⁷ a second).
_MOST = 3_000_000_000

Weights = dict[int, int]  # by row


@dataclass(frozen=True, kw_only=True)
class Separation:
    """What separates the data, and what that means for maximum likelihood.

    Attributes
    ----------
    problem : Problem
        The points, with a constant feature, the last, if there is an intercept.
    direction : list of int
        β: no row has a negative product with it, and all rows off the boundary a positive one.
    boundary : array of int
        Rows that every direction of recession leaves on the boundary.
    diverging, unidentified : lists of int
        Columns whose coefficients diverge; those that no row determines.
    """

    problem: Problem = field(repr=False)
    direction: list[int] = field(repr=False)
    boundary: NDArray[np.int64] = field(repr=False)
    diverging: list[int] = field(repr=False)
    unidentified: list[int] = field(repr=False)
    seconds: float = 0.0
    _write: Callable[[], Weights] = field(default=dict, repr=False)

    @cached_property
    def weights(self) -> Weights:
        """Positive integers by row: q on the boundary, with Σ q_i a_i = 0."""
        return self._write()

    @property
    def kind(self) -> str:
        """ "complete", "quasi-complete" or "overlap"."""
        if not len(self.boundary):
            return "complete"
        return "overlap" if len(self.boundary) == self.problem.n else "quasi-complete"

    @property
    def estimate_exists(self) -> bool:
        """Whether the likelihood attains its maximum (at one point, if all is identified)."""
        return self.kind == "overlap"

    @property
    def intercept(self) -> bool:
        """Whether there is one."""
        return self.problem.intercept != "none"

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate of `oracle/CERTIFICATE.md`, as a dictionary ready for JSON."""
        weights = dict(sorted(self.weights.items()))
        columns = [j for j, v in enumerate(self.direction) if v]
        primal = {"columns": columns, "coefficients": [hex(self.direction[j]) for j in columns]}
        section = head_section("separation", self.problem, list(weights), list(weights.values()))
        return section | {"primal": primal, "separation": self.kind}

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file, whole or not at all."""
        write_certificate(self.certificate, path)


def separation(
    problem: Any,
    y: Any = None,
    *,
    intercept: bool = False,
    encode: bool = False,
    missing: str = "refuse",
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Separation:
    """Complete or quasi-complete separation, or overlap, exactly and with proof.

    Parameters
    ----------
    problem, y, encode, missing
        As for `solve`; linear, of two classes.
    intercept : bool
        Whether the model has one; a problem that was made with one (of either kind) has it.
    time_limit : float, optional
        Seconds after which the search is given up, at its next step, with a `ProblemError`.
    progress : callable
        Told the name of each stage as it begins.

    Examples
    --------
    >>> separation([[1], [2], [2], [3]], [0, 0, 1, 1], intercept=True).kind
    'quasi-complete'
    """
    if not isinstance(problem, Problem):
        if y is None:
            raise ProblemError("separation takes a problem, or the points X and their labels y")
        problem = from_arrays(problem, y, encode=encode, missing=missing)
    elif y is not None or encode or missing != "refuse":
        raise ProblemError("a problem has labels and numbers; leave out y, encode and missing")
    if not isinstance(problem, DenseProblem | SparseProblem):
        raise ProblemError(
            "separation is decided for linear problems with two classes, in memory; whether the "
            "separation is complete, the oracle says of data of any size"
        )
    biased = intercept or problem.intercept != "none"
    rows = with_intercept(problem.raw(), "augmented" if biased else "none")
    assert isinstance(rows, DenseProblem | SparseProblem)
    load_core(rows)  # before the clock starts
    watch, start = limited_watch(time_limit, progress), perf_counter()
    try:
        found = _Search(rows, watch).run()
    except TimeUp:
        raise ProblemError(f"the separation is not decided after {time_limit:g} seconds") from None
    return Separation(problem=rows, seconds=perf_counter() - start, **found)


def _solved(problem: Problem, watch: Watch, stage: str) -> Truth:
    """The maximum margin, in the time that is left."""
    watch.stage(stage)
    truth = solve(problem, time_limit=watch.left())
    if truth.separable is None:
        raise TimeUp
    return truth


Answer = tuple[Weights, list[int] | None]  # weights with sum zero, or a direction that separates


class _Search:
    """What separates the rows of a problem, as integers."""

    def __init__(self, problem: DenseProblem | SparseProblem, watch: Watch) -> None:
        self.problem, self.watch = problem, watch
        self.n, self.d = problem.n, problem.dimension

    @cached_property
    def table(self) -> NDArray[Any]:
        """All rows, up to a common factor."""
        return integer_matrix(self.problem)[0]

    def run(self) -> dict[str, Any]:
        """Fields of the result."""
        truth = _solved(self.problem, self.watch, "maximum margin")
        if truth.separable:
            return self.fields(_direction(truth), [], dict)
        proof = truth.proof
        system = proof.system if isinstance(proof, SupportProof) and proof.zero else None
        if isinstance(system, RowSystem) and len(system.columns) == self.d:  # overlap
            return self.fields([0] * self.d, list(range(self.n)), lambda: self.everywhere(truth))
        return self.rounds(_weights(truth))

    def everywhere(self, truth: Truth) -> Weights:
        """Positive weights on all rows, if those of the truth span the space."""
        weights = _weights(truth)
        others = sorted(set(range(self.n)).difference(weights))
        return _merged(self.table, weights, dict.fromkeys(others, 1))

    def fields(
        self, direction: list[int], boundary: list[int], write: Callable[[], Weights]
    ) -> dict[str, Any]:
        """What is known once the boundary is."""
        unidentified = self.loose(range(self.n))
        diverging: list[int] = []
        if len(boundary) < self.n:
            diverging = sorted(set(self.loose(boundary)).difference(unidentified))
            direction = self.generic(direction, boundary, diverging)
        return {
            "direction": direction,
            "boundary": np.array(boundary, dtype=np.int64),
            "diverging": diverging,
            "unidentified": unidentified,
            "_write": write,
        }

    def rounds(self, weights: Weights) -> dict[str, Any]:
        """From weights on some rows to all that belong to the boundary."""
        columns = pivots(self.table) if self.d > self.n else list(range(self.d))
        while True:
            q, step = self._rounds(self.table[:, columns], weights)
            boundary = sorted(q)
            pull = combined(self.table[boundary], [q[i] for i in boundary])
            missing = [j for j, v in enumerate(pull) if v]
            if not missing:
                break
            columns = sorted({*columns, missing[0]})  # the prime was unlucky
        direction = [0] * self.d
        for j, value in zip(columns, step, strict=True):
            direction[j] = value
        return self.fields(direction, boundary, lambda: q)

    def _rounds(self, table: NDArray[Any], weights: Weights) -> tuple[Weights, list[int]]:
        """Weights on the boundary and a direction, for some columns."""
        q: Weights = {}
        outside = list(range(self.n))  # the rows that the boundary found so far does not span
        direction: list[int] | None = None
        while direction is None:
            q = _merged(table, q, {outside[k]: v for k, v in weights.items()})
            basis = null_space(table[sorted(q)])  # of the directions orthogonal to it
            self.watch.stage(f"rank {table.shape[1] - basis.ncols()} of the boundary")
            image = _product(table, basis)
            outside = np.flatnonzero((image != 0).any(axis=1)).tolist()
            if not outside:
                direction = [0] * table.shape[1]
                break
            rows = image[outside]
            weights, step = _asked(rows // math.gcd(*rows.ravel().tolist()), self.watch)
            if step is not None:
                direction = integers_of(basis * fmpz_mat(basis.ncols(), 1, step))
        spanned = sorted(set(range(self.n)).difference(outside, q))
        return _merged(table, q, dict.fromkeys(spanned, 1)), direction

    def loose(self, rows: Sequence[int]) -> list[int]:
        """Columns whose unit vector is not in the span of some rows; few rows often span all."""
        some = np.array(rows[:: len(rows) // (2 * self.d + 10) + 1], dtype=np.int64)
        if len(some) >= self.d:
            part, _ = signed_rows(self.problem.X, self.problem.y, some)
            if len(pivots(part)) == self.d:
                return []
        return loose_columns(self.table[list(rows)])

    def generic(self, direction: list[int], boundary: list[int], wanted: list[int]) -> list[int]:
        """A direction with the same signs of products that is zero in none of these columns."""
        missing = [j for j in wanted if not direction[j]]
        basis: Any = None
        if missing and boundary:
            basis = null_space(self.table[boundary]).transpose().tolist()
        for j in missing:
            if direction[j]:
                continue
            step = [int(k == j) for k in range(self.d)]
            if basis is not None:
                step = next([int(v) for v in vector] for vector in basis if vector[j])
            pairs = [v for pair in zip(direction, step, strict=True) for v in pair]
            scores = _product(self.table, fmpz_mat(self.d, 2, pairs)).tolist()
            sizes = [(a, b) for a, b in [*scores, *zip(direction, step, strict=True)] if a]
            times = 1 + max(abs(b) // abs(a) for a, b in sizes)
            direction = [times * v + s for v, s in zip(direction, step, strict=True)]
        shared = math.gcd(*direction) or 1
        return [v // shared for v in direction]


def _weights(truth: Truth) -> Weights:
    return dict(zip(truth.support.tolist(), truth.numerators, strict=True))


def _direction(truth: Truth) -> list[int]:
    """Integers with a positive product with every row of data that are separable."""
    problem, proof = truth.problem, truth.proof
    if isinstance(proof, SupportProof):
        found = proof.separating(problem.dimension, truth.radius_squared)
        if found is not None:
            return found
    table, _ = signed_rows(problem.X, problem.y, truth.support)
    return combined(table, truth.numerators)


def _asked(rows: NDArray[Any], watch: Watch) -> Answer:
    """Weights of rows of integers whose sum is zero, or a direction that separates them."""
    if largest(rows) < 2**62:
        problem = DenseProblem(rows.astype(np.int64), np.ones(len(rows), np.int8))
        truth = _solved(problem, watch, "rows off the boundary")
        return ({}, _direction(truth)) if truth.separable else (_weights(truth), None)
    watch.stage("linear programme")
    exact = solve_l1(rows, signed=True)
    if exact.separable is None:
        raise ProblemError("whether the data overlap takes too long to decide exactly")
    if not exact.separable:
        return dict(zip(exact.q.support, exact.q.numerators, strict=True)), None
    direction = dict(zip(exact.w.columns, exact.w.numerators, strict=True))
    return {}, [direction.get(j, 0) for j in range(rows.shape[1])]


def _product(table: NDArray[Any], right: fmpz_mat) -> NDArray[Any]:
    """All rows times a matrix, exactly."""
    n, d = table.shape
    if n * d * right.ncols() > _MOST:
        raise ProblemError(
            f"{n:,} rows with {d:,} features are too many to decide between "
            "quasi-complete separation and overlap exactly; take fewer columns"
        )
    entries = integers_of(to_fmpz_mat(table) * right)
    return np.array(entries, dtype=object).reshape(n, right.ncols())


def _merged(table: NDArray[Any], q: Weights, more: Weights) -> Weights:
    """Positive weights on the rows of both, with sum zero.

    The weighted sum of `more` lies in the span of the rows of q (or is zero, if there are
    none): c takes it away there, and a large multiple of q keeps everything positive.
    """
    if not q or not more:
        return q or more
    rows = sorted(q)
    extra = combined(table[list(more)], list(more.values()))
    c, denominator = coordinates(table[rows], extra)
    times = max(1, 1 + max(c_i // q[i] for i, c_i in zip(rows, c, strict=True)))
    both = {i: times * q[i] - c_i for i, c_i in zip(rows, c, strict=True)}
    both |= {i: denominator * weight for i, weight in more.items()}
    shared = math.gcd(*both.values())
    return {i: v // shared for i, v in both.items()}
