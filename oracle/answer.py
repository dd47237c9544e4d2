"""γ̄ and q̄ of a problem, proved: candidate in floating point, proof in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.candidate import Candidate, cvxpy_working_set, working_set
from gammabar.oracle.truth import Truth
from gammabar.problems import KernelProblem, Problem, ProblemError

METHODS = ("exact", "cvxpy")


def solve(
    problem: Problem,
    *,
    method: str = "exact",
    digits: int = 17,
    progress: Callable[[str], None] = lambda stage: None,
) -> Truth:
    """Maximum margin γ̄ and dual optimum q̄ of a problem, with proof.

    Parameters
    ----------
    problem : Problem
        Any geometry. Exact for linear, multiclass, and linear, polynomial or precomputed kernels;
        a rigorous enclosure for RBF and normalised kernels.
    method : {"exact", "cvxpy"}
        Where the untrusted candidate comes from: the working-set minimum-norm-point method, or
        CVXPY on a working set. What is proved is the same.
    digits : int
        Digits wanted where only an enclosure is possible.
    progress : callable
        Told the name of each stage as it begins.

    Returns
    -------
    Truth

    References
    ----------
    .. [1] Ji, Srebro and Telgarsky (2021), Lemma A.1: γ̄ = min over q in the simplex of ‖Aᵀq‖.

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> truth = solve(from_arrays([[1, 1], [-1, 1], [0, -2]], [1, 1, -1]))
    >>> truth.gamma_squared, truth.separable
    (Fraction(1, 1), True)
    """
    if method not in METHODS:
        raise ProblemError(f"method {method!r} is not one of {', '.join(METHODS)}")
    problem = problem.raw()
    if isinstance(problem, KernelProblem):
        if problem.kernel.name == "callable":
            problem = _tabulated(problem)
        if problem.kernel.name == "rbf" or problem.normalised:
            return _enclosed(problem, method, digits, progress)
    return _exact(problem, method, progress)


def _tabulated(problem: KernelProblem) -> KernelProblem:
    """A callable kernel as the table of its values, which are doubles and therefore rationals."""
    from gammabar.problems import Kernel

    table = problem.kernel.matrix(problem.X, problem.X)
    return KernelProblem(
        (table + table.T) / 2, problem.y, Kernel("precomputed"), normalised=problem.normalised
    )


def candidate_for(problem: Problem, method: str) -> Candidate:
    """An untrusted candidate by the method asked for, or by CVXPY where doubles fail the other."""
    from gammabar.oracle.scale import tame

    tamed, _ = tame(problem)
    if method == "exact":
        found = working_set(tamed)
        if np.isfinite(found.weights).all() and len(found.support):
            return found
    return cvxpy_working_set(tamed)


def _exact(problem: Problem, method: str, progress: Callable[[str], None]) -> Truth:
    from gammabar.oracle import _wolfe  # noqa: F401 (loads compiled code before the clock starts)
    from gammabar.oracle.exact import minimum_norm_point
    from gammabar.oracle.rational import exact_rows

    rows = exact_rows(problem)
    start = perf_counter()
    progress("candidate")
    candidate = candidate_for(problem, method)
    middle = perf_counter()
    progress("proof")
    found = minimum_norm_point(rows, candidate.support, candidate.weights)
    radius_squared = rows.radius_squared()
    end = perf_counter()
    note = ""
    if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
        note = "provided that the given Gram matrix is positive semidefinite"
    return Truth(
        problem=problem,
        square_lo=found.square,
        square_hi=found.square,
        radius_squared_lo=radius_squared,
        radius_squared_hi=radius_squared,
        support=found.support,
        numerators=found.numerators,
        total=found.total,
        method=candidate.method,
        seconds={"candidate": middle - start, "proof": end - middle},
        rounds=found.rounds,
        note=note,
    )


def _enclosed(
    problem: KernelProblem, method: str, digits: int, progress: Callable[[str], None]
) -> Truth:
    from gammabar.oracle import _wolfe  # noqa: F401 (loads compiled code before the clock starts)
    from gammabar.oracle.enclosure import enclose

    start = perf_counter()
    progress("candidate")
    candidate = candidate_for(problem, method)
    middle = perf_counter()
    progress("proof")
    gordan = _gordan(problem, candidate)
    if gordan is not None:
        support, numerators, total = gordan
        lower = upper = Fraction(0)
        rounds = 1
    else:
        found = enclose(problem, candidate.support, candidate.weights, digits)
        support, numerators, total = found.support, found.numerators, found.total
        lower, upper, rounds = found.lower, found.upper, found.rounds
    return Truth(
        problem=problem,
        square_lo=lower**2,
        square_hi=upper**2,
        radius_squared_lo=Fraction(1),
        radius_squared_hi=Fraction(1),
        support=support,
        numerators=numerators,
        total=total,
        method=candidate.method,
        seconds={"candidate": middle - start, "proof": perf_counter() - middle},
        rounds=rounds,
        note="weights of the rows before normalisation" if gordan and problem.normalised else "",
        bounds=(lower, upper) if gordan is None else None,
    )


def _gordan(
    problem: KernelProblem, candidate: Candidate
) -> tuple[NDArray[np.int64], list[int], int] | None:
    """Exact q ∈ Δ with Σ q_i y_i φ(x_i) = 0 where there is one (Ramdas and Peña 2015, Theorem 2).

    An RBF kernel separates any distinct points, so only identical points with opposite labels
    can be in the way. Normalisation rescales q and does not move zero, so for the other kernels
    the plain rational problem decides; it is asked only when the candidate is close to zero.
    """
    from gammabar.oracle.enclosure import opposite_twins
    from gammabar.oracle.exact import minimum_norm_point
    from gammabar.oracle.rational import exact_rows

    twins = opposite_twins(problem) if problem.kernel.name != "precomputed" else None
    if twins is not None:
        return np.array(sorted(twins), dtype=np.int64), [1, 1], 2
    gram = problem.gram(candidate.support)
    if problem.kernel.name == "rbf" or candidate.weights @ gram @ candidate.weights > 1e-8:
        return None
    plain = KernelProblem(problem.X, problem.y, problem.kernel, source=problem.source)
    found = minimum_norm_point(exact_rows(plain), candidate.support, candidate.weights)
    return (found.support, found.numerators, found.total) if found.square == 0 else None
