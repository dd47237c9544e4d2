"""Maximum margins, proved: candidate in floating point, proof in exact arithmetic.

If the time is up, the weights that the search has seen prove bounds: any q ∈ Δ proves γ̄ ≤ ‖Aᵀq‖,
and any w = Aᵀα proves γ̄ ≥ min_i ⟨a_i, w⟩ / ‖w‖ (Ji, Srebro and Telgarsky 2021, Lemma A.1). The
weights are doubles, rounded to integers; both bounds are evaluated exactly for these integers.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.candidate import (
    LARGE,
    LITTLE,
    NARROW,
    ZERO,
    Candidate,
    Combination,
    Interrupted,
    Progress,
    TimeUp,
    Watch,
    cvxpy_working_set,
    load_core,
    silent,
    working_set,
)
from gammabar.oracle.pricing import balanced, spread
from gammabar.oracle.rational import ExactRows, Point
from gammabar.oracle.result import L1Margin, Margin, NegativeMargin, Truth, root_bounds
from gammabar.problems import KernelProblem, MulticlassKernelProblem, Problem, ProblemError
from gammabar.problems.environment import require_doubles

if TYPE_CHECKING:
    from gammabar.oracle.enclosure import Verdict


METHODS = ("exact", "cvxpy")
_NORMS = ("l2", "l1", "l1-simplex")


@overload
def solve(
    problem: Any,
    y: Any = None,
    *,
    intercept: str | bool | None = None,
    norm: Literal["l2"] = "l2",
    signed: Literal[False] = False,
    method: str = "exact",
    digits: int = 17,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Truth: ...


@overload
def solve(
    problem: Any,
    y: Any = None,
    *,
    intercept: str | bool | None = None,
    norm: str = "l2",
    signed: bool = False,
    method: str = "exact",
    digits: int = 17,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Margin: ...


def solve(
    problem: Any,
    y: Any = None,
    *,
    intercept: str | bool | None = None,
    norm: str = "l2",
    signed: bool = False,
    method: str = "exact",
    digits: int = 17,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Margin:
    """The largest margin of a problem and its dual weights, with proof.

    Parameters
    ----------
    problem : Problem, or an array, DataFrame or sparse matrix X
        Any geometry. Exact for linear, multiclass, and linear, polynomial or precomputed kernels;
        a rigorous enclosure for RBF and normalised kernels, and for Gram matrices that are positive
        semidefinite up to rounding only: there it is that of every kernel near the one given.
    y : array, optional
        The labels, if X was given.
    intercept : {"none", "free", "augmented"} or bool, optional
        By default that of the problem, which is "none" unless it was made with one. With "free"
        (or True) the margin is that of y_i (⟨x_i, w⟩ + b)/‖w‖, half the distance of the two hulls:
        the support vector machine of textbooks. With "augmented" b belongs to w.
    norm : {"l2", "l1", "l1-simplex"}
        What ‖w‖ is: Euclidean; ℓ₁, the margin of boosting; or ℓ₁ with w ≥ 0, that of Winnow. The
        last two are for linear problems with two classes.
    signed : bool
        If the data cannot be separated, the negative margin ρ of [2]_, Section 5.2, instead of
        γ̄ = 0. Linear problems with two classes, norm "l2".
    method : {"exact", "cvxpy"}
        Where the untrusted candidate for norm "l2" comes from: the working-set minimum-norm-point
        method, or CVXPY on a working set. What is proved is the same.
    digits : int
        Digits wanted where only an enclosure is possible.
    time_limit : float, optional
        Seconds after which the search is ended, at its next step; if γ̄ is not known then, the
        answer has the best bounds that are proved (`exact` is False, and `separable` None if the
        lower one is zero). For norm "l2" and data or kernels with exact answers. Ctrl-C raises
        `gammabar.oracle.candidate.Interrupted`, a KeyboardInterrupt that has these bounds.
    progress : callable
        Told the name of each stage as it begins, and the bounds of γ̄ as they get closer.

    Returns
    -------
    Margin
        A `Truth` (norm "l2"), `L1Margin` or, for inseparable data with `signed`, `NegativeMargin`.
        Each has `separable`, `gamma`, `gamma_lo`, `gamma_hi`, `exact`, `q`, `w`, `support`,
        `digits` and `save`, which writes a certificate.

    References
    ----------
    .. [1] Ji, Srebro and Telgarsky (2021), Lemma A.1: γ̄ = min over q in the simplex of ‖Aᵀq‖.
    .. [2] A. Ramdas and J. Peña (2015), Margins, kernels and non-linear smoothed perceptrons.

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[1, 1], [-1, 1], [0, -2]], [1, 1, -1])
    >>> truth = solve(problem)
    >>> truth.gamma_squared, truth.separable
    (Fraction(1, 1), True)
    >>> solve(problem, norm="l1").digits(5, raw=True)
    '1'
    >>> solve([[1], [5]], ["a", "b"], intercept=True).gamma_raw
    2.0
    """
    if method not in METHODS:
        raise ProblemError(f"method {method!r} is not one of {', '.join(METHODS)}")
    if norm not in _NORMS:
        raise ProblemError(f"norm {norm!r} is not one of {', '.join(_NORMS)}")
    if isinstance(digits, bool) or not isinstance(digits, int | np.integer) or digits < 1:
        raise ProblemError(f"digits must be a positive whole number, not {digits!r}")
    if norm != "l2" and method != "exact":
        raise ProblemError(f"norm {norm} is solved in rationals; leave out method {method!r}")
    if signed and norm != "l2":
        raise ProblemError(f"signed is for norm l2; with {norm} leave it out")
    require_doubles()
    problem = _asked(problem, y, intercept).raw()
    if problem.intercept == "free" and (signed or norm != "l2"):
        what = "the negative margin" if signed else f"the {norm} margin"
        raise ProblemError(f"{what} has no free intercept here; use intercept='augmented'")
    watch = limited_watch(time_limit, progress)
    if norm != "l2" or signed:
        _unlimited(time_limit, "the negative margin" if signed else f"norm {norm}")
    if norm != "l2":
        return _l1(problem, norm, progress)
    if isinstance(problem, MulticlassKernelProblem):
        raise ProblemError(
            "the margin of several classes with a kernel is not proved here; leave out kernel or "
            "multiclass"
        )
    if isinstance(problem, KernelProblem):
        truth = _kernel(problem, method, digits, watch)
    else:
        truth = _exact(problem, method, watch)
    return _negative(truth, progress) if signed and not truth.separable else truth


def limited_watch(time_limit: float | None, progress: Progress) -> Watch:
    """A watch with the limit that was asked for, if that is one."""
    known = time_limit is None or isinstance(time_limit, Real)
    if not known or (time_limit is not None and not 0 <= time_limit < float("inf")):
        raise ProblemError(f"time_limit must be a number of seconds, not {time_limit!r}")
    return Watch(time_limit, progress)


def _unlimited(time_limit: float | None, what: str) -> None:
    if time_limit is not None:
        raise ProblemError(f"there is no time limit for {what}; leave it out")


def _asked(problem: Any, y: Any, intercept: str | bool | None) -> Problem:
    """The problem that the arguments of `solve` stand for."""
    from gammabar.problems.conversion import from_arrays, with_intercept

    if not isinstance(problem, Problem):
        if y is None:
            raise ProblemError("solve takes a problem, or the points X and their labels y")
        return from_arrays(problem, y, intercept="none" if intercept is None else intercept)
    if y is not None:
        raise ProblemError("a problem has its labels already; leave out y")
    return problem if intercept is None else with_intercept(problem, intercept)


def _kernel(problem: KernelProblem, method: str, digits: int, watch: Watch) -> Truth:
    if problem.kernel.name == "callable":
        problem = _tabulated(problem)
    verdict = None
    if problem.kernel.name == "precomputed":
        from gammabar.oracle.enclosure import judge

        watch.progress("Gram matrix")  # the time of the search begins afterwards
        verdict = judge(problem)
    if problem.kernel.name == "rbf" or problem.normalised or (verdict and verdict.deficit):
        _unlimited(watch.limit, "kernels whose margin is not rational")
        return _enclosed(problem, method, digits, watch, verdict)
    return _exact(problem, method, watch, verdict)


def _l1(problem: Problem, norm: str, progress: Progress) -> L1Margin:
    from gammabar.oracle.l1 import solve_l1
    from gammabar.oracle.rational import integer_matrix

    rows, scale = integer_matrix(problem)
    progress("proof")
    start = perf_counter()
    found = solve_l1(rows, scale, signed=norm == "l1")
    return L1Margin(
        problem=problem,
        support=np.array(found.q.support, dtype=np.int64),
        numerators=list(found.q.numerators),
        total=found.q.total,
        method="simplex",
        seconds={"proof": perf_counter() - start},
        norm=norm,
        found=found,
    )


def _negative(truth: Truth, progress: Progress) -> NegativeMargin:
    from gammabar.oracle.rational import integer_matrix
    from gammabar.oracle.signed import signed_margin

    rows, scale = integer_matrix(truth.problem)
    progress("facets")
    start = perf_counter()
    found = signed_margin(rows, scale, [int(i) for i in truth.support])
    return NegativeMargin(
        problem=truth.problem,
        support=truth.support,
        numerators=truth.numerators,
        total=truth.total,
        method=truth.method,
        seconds=truth.seconds | {"facets": perf_counter() - start},
        note=found.statement,
        truth=truth,
        found=found,
    )


def _tabulated(problem: KernelProblem) -> KernelProblem:
    """A callable kernel as the table of its values, which are doubles and therefore rationals."""
    from gammabar.problems import Kernel
    from gammabar.problems.kernels import symmetric

    table = problem.kernel.matrix(problem.X, problem.X)
    made = KernelProblem(
        symmetric(table), problem.y, Kernel("precomputed"), normalised=problem.normalised
    )
    made.intercept = problem.intercept
    return made


def candidate_for(problem: Problem, method: str, watch: Watch | None = None) -> Candidate:
    """An untrusted candidate by the method asked for, or by CVXPY where doubles fail the other."""
    from gammabar.oracle.rational import tame

    watch = watch or Watch()
    tamed, _ = tame(problem)
    if method == "exact":
        found = _working_set(tamed, watch)
        if np.isfinite(found.weights).all() and len(found.support):
            return found
    return cvxpy_working_set(tamed)


def _working_set(problem: Problem, watch: Watch) -> Candidate:
    """By the Gram matrix, or where the margin is too narrow for it by the rows themselves."""
    if problem.n * problem.dimension <= LITTLE:
        return working_set(problem, watch)
    from gammabar.oracle.candidate import narrow, narrow_candidate

    second = narrow(problem)
    found = working_set(problem, watch, NARROW if second else ZERO)
    if found.settled or not second or _large_and_wide(problem, found):
        return found
    return narrow_candidate(problem, found, watch)


def _large_and_wide(problem: Problem, found: Candidate) -> bool:
    """Whether the second way would need much memory, for a margin that doubles show well enough.

    Then rounding has ended the search next to the answer, and the proof mends what is missing.
    """
    if problem.n * problem.dimension <= LARGE:
        return False
    w = problem.combine(spread(problem.n, found.support, found.weights))
    return float(np.linalg.norm(w)) > NARROW * problem.radius


def prove(problem: Problem, candidate: Candidate) -> Truth:
    """The truth of a linear problem, from a candidate that somebody else has found."""
    require_doubles()
    return _exact(problem, "exact", Watch(), candidate=candidate)


def _exact(
    problem: Problem,
    method: str,
    watch: Watch,
    verdict: Verdict | None = None,
    candidate: Candidate | None = None,
) -> Truth:
    from gammabar.oracle.proof import minimum_norm_point
    from gammabar.oracle.rational import exact_rows

    rows = exact_rows(problem)
    load_core(problem)  # before the clock starts
    start = perf_counter()
    watch.begin()
    try:
        watch.stage("candidate")
        candidate = candidate or candidate_for(problem, method, watch)
        middle = perf_counter()
        watch.stage("proof")
        found = minimum_norm_point(rows, candidate.support, candidate.weights, watch)
    except (TimeUp, KeyboardInterrupt) as stop:
        spent = perf_counter() - start
        if isinstance(stop, KeyboardInterrupt):
            raise Interrupted(lambda: _bounds_so_far(problem, rows, watch, spent)) from None
        return _bounds_so_far(problem, rows, watch, spent)
    radius_squared = rows.radius_squared()
    end = perf_counter()
    return Truth(
        problem=problem,
        radius_squared_lo=radius_squared,
        radius_squared_hi=radius_squared,
        support=found.support,
        method=candidate.method,
        seconds={"candidate": middle - start, "proof": end - middle},
        rounds=found.rounds,
        note=verdict.words() if verdict else "",
        proof=found,
    )


def _enclosed(
    problem: KernelProblem,
    method: str,
    digits: int,
    watch: Watch,
    verdict: Verdict | None,
) -> Truth:
    from gammabar.oracle.enclosure import enclose

    load_core(problem)  # before the clock starts
    start = perf_counter()
    watch.stage("candidate")
    candidate = candidate_for(problem, method, watch)
    middle = perf_counter()
    watch.stage("proof")
    deficit = verdict.deficit if verdict else Fraction(0)
    notes = [verdict.words()] if verdict else []
    gordan = None if deficit else _gordan(problem, candidate)
    if gordan is not None:
        support, numerators, total = gordan
        bounds, rounds = None, 1
        if problem.normalised:
            notes.append("weights of the rows before normalisation")
    else:
        found = enclose(problem, candidate.support, candidate.weights, digits, deficit)
        support, numerators, total = found.support, found.numerators, found.total
        bounds, rounds = (found.lower, found.upper), found.rounds
    square_lo, square_hi = (v**2 for v in bounds or (Fraction(0), Fraction(0)))
    radius_squared = Fraction(1)
    if not problem.normalised and problem.kernel.name == "precomputed":
        radius_squared = Fraction(max(np.diagonal(np.asarray(problem.X)).tolist()))
    return Truth(
        problem=problem,
        square_lo=square_lo,
        square_hi=square_hi,
        radius_squared_lo=radius_squared,
        radius_squared_hi=radius_squared,
        support=support,
        numerators=numerators,
        total=total,
        method=candidate.method,
        seconds={"candidate": middle - start, "proof": perf_counter() - middle},
        rounds=rounds,
        note="; ".join(notes),
        bounds=bounds,
        deficit=deficit,
    )


def _gordan(
    problem: KernelProblem, candidate: Candidate
) -> tuple[NDArray[np.int64], list[int], int] | None:
    """Exact q ∈ Δ with Σ q_i y_i φ(x_i) = 0 where there is one (Ramdas and Peña 2015, Theorem 2).

    An RBF kernel separates any distinct points, so only identical points with opposite labels
    can be in the way. Normalisation rescales q and does not move zero, so for the other kernels
    the plain rational problem decides; it is asked only when the candidate is close to zero.
    """
    from gammabar.oracle.proof import minimum_norm_point
    from gammabar.oracle.rational import exact_rows, opposite_twins

    twins = opposite_twins(problem.X, problem.y) if problem.kernel.name != "precomputed" else None
    if twins is not None:
        return np.array(sorted(twins), dtype=np.int64), [1, 1], 2
    gram = problem.gram(candidate.support)
    if problem.kernel.name == "rbf" or candidate.weights @ gram @ candidate.weights > 1e-8:
        return None
    plain = KernelProblem(problem.X, problem.y, problem.kernel, source=problem.source)
    plain.intercept = problem.intercept
    found = minimum_norm_point(exact_rows(plain), candidate.support, candidate.weights)
    return (found.support, found.numerators, found.total) if found.square == 0 else None


#: Bits of the integers that weights are rounded to.
_BITS = 60


def _bounds_so_far(problem: Problem, rows: ExactRows, watch: Watch, seconds: float) -> Truth:
    """The best bounds that the weights seen so far prove.

    Parameters
    ----------
    problem : Problem
        What was to be solved.
    rows : ExactRows
        Its rows.
    watch : Watch
        What has been seen; nothing at all is enough.
    seconds : float
        Time spent so far.

    Returns
    -------
    Truth
        With `bounds`; `separable` is None if the lower one is zero.
    """
    first = np.array([rows.first(side) for side in range(rows.sides)], dtype=np.int64)
    start = Combination(first, np.full(rows.sides, 1 / rows.sides), 1.0)
    upper = _integers(rows, watch.upper or start)
    square_hi = _square_of(rows, rows.point(*upper)) / Fraction(sum(upper[1])) ** 2
    primal, square_lo = upper, Fraction(0)
    for seen in filter(None, (watch.lower, watch.upper)):
        integers = _integers(rows, seen)
        square = _margin_squared(rows, rows.point(*integers))
        if square > square_lo:
            primal, square_lo = integers, square
    lower, higher = root_bounds(square_lo)[0], root_bounds(square_hi)[1]
    radius_squared = rows.radius_squared()
    return Truth(
        problem=problem,
        square_lo=lower**2,
        square_hi=higher**2,
        radius_squared_lo=radius_squared,
        radius_squared_hi=radius_squared,
        support=upper[0],
        numerators=upper[1],
        total=sum(upper[1]),
        method="anytime",
        seconds={"search": seconds},
        rounds=0,
        note="the search was ended early",
        bounds=(lower, higher) if square_hi else None,
        primal=primal,
    )


def _integers(rows: ExactRows, seen: Combination) -> tuple[NDArray[np.int64], list[int]]:
    """Rows in order with positive integers as weights, of the same sum on every side."""
    order = np.argsort(seen.rows)
    chosen = seen.rows[order]
    values = [max(1, round(Fraction(float(v)) * 2**_BITS)) for v in seen.weights[order]]
    return chosen, balanced(values, [rows.side(int(i)) for i in chosen])


def _square_of(rows: ExactRows, point: Point) -> Fraction:
    """‖w‖² = Σ_i α_i ⟨a_i, w⟩ for w = Σ_i α_i a_i, exactly."""
    pairs = zip(point.rows.tolist(), point.numerators, strict=True)
    return sum((v * rows.score(i, point) for i, v in pairs), Fraction(0))


def _margin_squared(rows: ExactRows, point: Point) -> Fraction:
    """The square of the margin of w if it is positive, exactly; zero otherwise."""
    total = sum(point.numerators)
    spread = np.zeros(rows.n)
    spread[point.rows] = [v / total for v in point.numerators]
    scores = rows.problem.scores(rows.problem.combine(spread))
    by_side = [
        np.flatnonzero([rows.side(i) == k for i in range(rows.n)]) for k in range(rows.sides)
    ]
    guesses = [rows.score(int(some[scores[some].argmin()]), point) for some in by_side]
    lower = rows.violated(point, *guesses)  # sorted by how far they are below
    least = [
        guess + min((gap for gap, i in lower if rows.side(i) == k), default=Fraction(0))
        for k, guess in enumerate(guesses)
    ]
    inside = [(rows.score(int(i), point), rows.side(int(i))) for i in point.rows]
    least = [min([v, *(s for s, k in inside if k == side)]) for side, v in enumerate(least)]
    mean = sum(least, Fraction(0)) / rows.sides
    return mean**2 / _square_of(rows, point) if mean > 0 else Fraction(0)
