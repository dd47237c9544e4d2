"""Vectors of doubles as columns of balls, runs of a solver, and exact linear algebra.

The solvers of the lecture run on functions, sums and points that the statements bring, so most
statements are direct: they run the solver under test themselves, or the library's where none is
given, and take from it iterates alone.
"""

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from gammabar.harness.run.tasks import open_solver
from gammabar.papers.claims import *

lec = Claims("lec")

Column: TypeAlias = Any  # an arb_mat with one column

#: Entries of the largest matrix of balls that a direct statement works with.
LARGEST = 60_000
#: The longest row is at least that long, so that vectors of a wrong run differ from those of a
#: right one by far more than TINY, which allowances contain for what underflow loses: no wrong
#: run passes by it. No more is lost: products of two doubles lose η/2 each, sums nothing, fewer
#: than 2^60 are added, and steps, at most 2/λ, multiply them by less than 2^14. (Scores have their
#: own bound.)
SHORTEST = 2.0**-400
#: And at most that long, so that smoothness, the square of it, is a double.
LONGEST = 2.0**400


def small(case):
    """The problem, if there is one, is small enough for matrices of balls."""
    if case.given is None:
        return None
    if case.n * case.problem.dimension > LARGEST:
        return f"n·d is more than {LARGEST:,}: too large for exact matrices"
    if case.problem.radius > LONGEST:
        return "the rows are longer than 2^400: their squares may leave the range of doubles"
    if 0 < case.problem.radius < SHORTEST:
        return "the rows are shorter than 2^-400: what allows for underflow would excuse all"
    return None


# Columns of balls


def column(values: Any) -> Column:
    """Doubles, taken for exact, as a column of balls."""
    entries = np.asarray(values, dtype=np.float64).ravel().tolist()
    return arb_mat(len(entries), 1, [arb(v) for v in entries])


def balls(M: Any) -> arb_mat:
    """A rational matrix, or one of doubles, in balls."""
    return arb_mat([[number(v) for v in row] for row in M.tolist()])


def inner(u: Column, v: Column) -> Number:
    """The sum of the products of the entries."""
    return total(a * b for a, b in zip(u.entries(), v.entries(), strict=True))


def length(v: Column) -> Number:
    """The Euclidean norm of the entries."""
    return sqrt(inner(v, v))


def nothing(gap: Number, what: str, *, allowance: float, size: float, where: str = "") -> Relation:
    """That what was computed in balls is 0, up to a rounding that is small beside `size`.

    Where it is 0 without rounding (a start at the minimum), there is nothing to be small beside.
    """
    if known_zero(gap):
        return fact(True, what, where=where)
    return equal(gap, 0, what, allowance=allowance, size=size, where=where)


def as_said(
    said: Any, wanted: Column, what: str, where: str, allowance: float, parts: float
) -> Relation:
    """A vector that the solver claims is the one that was computed, from numbers of size `parts`
    that are added up."""
    found = claimed_numbers(said, (wanted.nrows(),))
    if isinstance(found, str):
        return fact(False, f"{what} {found}", where=where)
    gap, size = length(column(found) - wanted), size_of(length(wanted), parts)
    return nothing(gap, what, allowance=allowance, size=size, where=where)


# Runs


def under_test(case: Case, name: str) -> Any:
    """The solver of the case, or the one of this name; a verdict rests on what it delivers."""
    return open_solver(name) if case.solver is None else case.solver


def run_of(case: Case, name: str, solver: Any, problem: Any, rng: Any, steps: int) -> list[Any]:
    """The first iterates of the first run of this name, at every level."""
    return case.remember(name, lambda: taken_run(solver.iterates(problem, rng), steps))


def broken(run: list[Any], steps: int, dimension: int) -> str:
    """What keeps a run of so many iterates from being checked, if anything does."""
    for t, it in enumerate(run):
        if int(it.t) != t:
            return f"iterates count 0, 1, 2, …, but {it.t} came for {t}"
        w = np.asarray(it.w, dtype=np.float64)
        if w.shape != (dimension,):
            return f"w_{t} has shape {w.shape}, not ({dimension},)"
        if not np.isfinite(w).all():
            return f"w_{t} has entries that are not finite numbers"
    return "" if len(run) == steps else f"the run ends after {len(run)} iterates"


# Rational matrices


def rational(value: Any) -> fmpq:
    """An integer, a double or a fraction."""
    if isinstance(value, fmpq):
        return value
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def matrix(rows: Any) -> fmpq_mat:
    """A rational matrix."""
    return fmpq_mat([[rational(v) for v in row] for row in rows])


def vector(values: Any) -> fmpq_mat:
    """A rational column."""
    return matrix([[v] for v in values])


def times_identity(value: Any, n: int) -> fmpq_mat:
    """λI."""
    return matrix([[value if i == j else 0 for j in range(n)] for i in range(n)])


#: Pairs (d, v), d ≥ 0: the features √d v_i of the point i. Their products are K = Σ d v vᵀ.
Features: TypeAlias = list[tuple[fmpq, fmpq_mat]]


def features(K: fmpq_mat) -> Features | None:
    """Features whose products are K, for a symmetric K; None if vᵀKv < 0 for some v."""
    n, rest, found = K.nrows(), K, []
    for k in range(n):
        pivot, v = rest[k, k], vector([rest[i, k] for i in range(n)])
        if pivot < 0 or (pivot == 0 and v):
            return None
        if pivot > 0:
            found.append((1 / pivot, v))
            rest = rest - v * v.transpose() / pivot
    return found


def products(found: Features, n: int) -> fmpq_mat:
    """K = Σ d v vᵀ."""
    return sum((v * v.transpose() * d for d, v in found), fmpq_mat(n, n))


def nonnegative_form(M: fmpq_mat) -> bool:
    """Whether vᵀMv ≥ 0 for all v; only the symmetric part of M matters to that."""
    return features((M + M.transpose()) / 2) is not None
