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
    Candidate,
    Combination,
    Interrupted,
    Progress,
    TimeUp,
    Watch,
    candidate_for,
    load_core,
    silent,
)
from gammabar.oracle.proof import MinimumNorm, minimum_norm_point
from gammabar.oracle.rational import (
    ExactRows,
    Point,
    balanced,
    exact_rows,
    integer_matrix,
    opposite_twins,
    spread,
)
from gammabar.oracle.result import L1Margin, Margin, NegativeMargin, Truth, root_bounds
from gammabar.problems import KernelProblem, MulticlassKernelProblem, Problem, ProblemError
from gammabar.problems.problem import require_doubles

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
    encode: bool = False,
    missing: str = "refuse",
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
    encode: bool = False,
    missing: str = "refuse",
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
    encode: bool = False,
    missing: str = "refuse",
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
    y : array or str, optional
        The labels, if X was given, or the name of their column in a DataFrame.
    intercept : {"none", "free", "augmented"} or bool, optional
        By default that of the problem, which is "none" unless it was made with one. With "free"
        (or True) the margin is that of y_i (⟨x_i, w⟩ + b)/‖w‖, half the distance of the two hulls:
        the support vector machine of textbooks. With "augmented" b belongs to w.
    encode, missing
        For a DataFrame X: as in `gammabar.problems.from_arrays`. The `problem.notes` of the answer
        say what was done.
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
    _refuse(norm=norm, signed=signed, method=method, digits=digits)
    require_doubles()
    problem = _asked(problem, y, intercept, encode=encode, missing=missing).raw()
    what = "the negative margin" if signed else f"norm {norm}" if norm != "l2" else ""
    if what and problem.intercept == "free":
        raise ProblemError(f"{what} has no free intercept here; use intercept='augmented'")
    watch = limited_watch(time_limit, progress)
    if what:
        _unlimited(time_limit, what)
    if norm != "l2":
        return _l1(problem, norm, progress)
    if isinstance(problem, MulticlassKernelProblem):
        raise ProblemError(
            "the margin of several classes with a kernel is not proved here; leave out kernel or "
            "multiclass"
        )
    truth = _truth(*_judged(problem, watch), method, watch, digits=digits)
    return _negative(truth, progress) if signed and not truth.separable else truth


def _refuse(norm: str, signed: bool, method: str, digits: Any) -> None:
    """Raise an error if these options of `solve` are none, or contradict each other."""
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


def limited_watch(time_limit: float | None, progress: Progress) -> Watch:
    """A watch with the limit that was asked for, if that is one."""
    known = time_limit is None or isinstance(time_limit, Real)
    if not known or (time_limit is not None and not 0 <= time_limit < float("inf")):
        raise ProblemError(f"time_limit must be a number of seconds, not {time_limit!r}")
    return Watch(time_limit, progress)


def _unlimited(time_limit: float | None, what: str) -> None:
    if time_limit is not None:
        raise ProblemError(f"there is no time limit for {what}; leave it out")


def _asked(problem: Any, y: Any, intercept: str | bool | None, **table: Any) -> Problem:
    """The problem that the arguments of `solve` stand for."""
    from gammabar.problems.conversion import from_arrays, with_intercept

    if not isinstance(problem, Problem):
        if y is None:
            raise ProblemError("solve takes a problem, or the points X and their labels y")
        kind = "none" if intercept is None else intercept
        return from_arrays(problem, y, intercept=kind, **table)
    if y is not None:
        raise ProblemError("a problem has its labels already; leave out y")
    if table != {"encode": False, "missing": "refuse"}:
        raise ProblemError("a problem has its numbers already; leave out encode and missing")
    return problem if intercept is None else with_intercept(problem, intercept)


def _l1(problem: Problem, norm: str, progress: Progress) -> L1Margin:
    from gammabar.oracle.l1 import solve_l1

    rows, scale = integer_matrix(problem)
    progress("proof")
    start = perf_counter()
    found = solve_l1(rows, scale, signed=norm == "l1")
    seconds = {"proof": perf_counter() - start}
    return L1Margin(problem=problem, method="simplex", seconds=seconds, norm=norm, found=found)


def _negative(truth: Truth, progress: Progress) -> NegativeMargin:
    from gammabar.oracle.signed import signed_margin

    rows, scale = integer_matrix(truth.problem)
    progress("facets")
    start = perf_counter()
    found = signed_margin(rows, scale, truth.support.tolist())
    seconds = truth.seconds | {"facets": perf_counter() - start}
    return NegativeMargin(
        problem=truth.problem,
        method=truth.method,
        seconds=seconds,
        note=found.statement,
        truth=truth,
        found=found,
    )


def _judged(problem: Problem, watch: Watch) -> tuple[Problem, Verdict | None]:
    """The problem, a callable kernel as a table of its values, and what is known of a table."""
    if not isinstance(problem, KernelProblem):
        return problem, None
    if problem.kernel.name == "callable":
        from gammabar.problems import Kernel
        from gammabar.problems.kernels import symmetric

        table = symmetric(problem.kernel.matrix(problem.X, problem.X))
        problem = _with(problem, X=table, kernel=Kernel("precomputed"))
    if problem.kernel.name != "precomputed":
        return problem, None
    from gammabar.oracle.enclosure import judge

    watch.progress("Gram matrix")  # the time of the search begins afterwards
    return problem, judge(problem)


def _with(problem: KernelProblem, **changes: Any) -> KernelProblem:
    """A copy with other points, another kernel, or not normalised."""
    same = {"X": problem.X, "kernel": problem.kernel, "normalised": problem.normalised}
    made = KernelProblem(y=problem.y, **same | changes)
    made.intercept = problem.intercept
    return made


def prove(problem: Problem, candidate: Candidate) -> Truth:
    """The truth of a linear problem, from a candidate that somebody else has found."""
    require_doubles()
    return _truth(problem, None, "exact", Watch(), candidate=candidate)


def _truth(
    problem: Problem,
    verdict: Verdict | None,
    method: str,
    watch: Watch,
    digits: int = 17,
    candidate: Candidate | None = None,
) -> Truth:
    """Candidate and proof: exact, or an enclosure where γ̄² is not rational."""
    deficit, rows = verdict.deficit if verdict else Fraction(0), None
    if isinstance(problem, KernelProblem) and (
        problem.kernel.name == "rbf" or problem.normalised or deficit
    ):
        _unlimited(watch.limit, "kernels whose margin is not rational")
    else:
        rows = exact_rows(problem)
    load_core(problem)  # before the clock starts
    start = perf_counter()
    watch.begin()
    try:
        watch.stage("candidate")
        candidate = candidate or candidate_for(problem, method, watch)
        middle = perf_counter()
        watch.stage("proof")
        if rows is None:
            assert isinstance(problem, KernelProblem)
            fields = _enclosed(problem, candidate, digits, deficit)
        else:
            found = minimum_norm_point(rows, candidate.support, candidate.weights, watch)
            fields = {"proof": found, "radius_squared": rows.radius_squared()}
    except (TimeUp, KeyboardInterrupt) as stop:
        spent = perf_counter() - start
        if rows is None:
            raise
        if isinstance(stop, KeyboardInterrupt):
            raise Interrupted(lambda: _bounds_so_far(problem, rows, watch, spent)) from None
        return _bounds_so_far(problem, rows, watch, spent)
    notes = [*([verdict.words()] if verdict else []), *fields.pop("notes", [])]
    seconds = {"candidate": middle - start, "proof": perf_counter() - middle}
    return Truth(
        problem=problem, method=candidate.method, seconds=seconds, note="; ".join(notes), **fields
    )


def _enclosed(
    problem: KernelProblem, candidate: Candidate, digits: int, deficit: Fraction
) -> dict[str, Any]:
    """Fields of the truth about a kernel whose margin is not rational."""
    from gammabar.oracle.enclosure import enclose

    radius_squared = Fraction(1)
    if not problem.normalised and problem.kernel.name == "precomputed":
        radius_squared = Fraction(max(np.diagonal(np.asarray(problem.X)).tolist()))
    gordan = None if deficit else _gordan(problem, candidate)
    if gordan is not None:
        notes = ["weights of the rows before normalisation"] * problem.normalised
        return {"proof": gordan, "radius_squared": radius_squared, "notes": notes}
    proof, bounds = enclose(problem, candidate.support, candidate.weights, digits, deficit)
    fields = {"proof": proof, "bounds": bounds, "deficit": deficit}
    return fields | {"radius_squared": radius_squared}


def _gordan(problem: KernelProblem, candidate: Candidate) -> MinimumNorm | None:
    """Exact q ∈ Δ with Σ q_i y_i φ(x_i) = 0 where there is one (Ramdas and Peña 2015, Theorem 2).

    An RBF kernel separates any distinct points, so only identical points with opposite labels
    can be in the way. Normalisation rescales q and does not move zero, so for the other kernels
    the plain rational problem decides; it is asked only when the candidate is close to zero.
    """
    twins = opposite_twins(problem.X, problem.y) if problem.kernel.name != "precomputed" else None
    if twins is not None:
        return MinimumNorm(np.array(sorted(twins), dtype=np.int64), [1, 1])
    gram = problem.gram(candidate.support)
    if problem.kernel.name == "rbf" or candidate.weights @ gram @ candidate.weights > 1e-8:
        return None
    rows = exact_rows(_with(problem, normalised=False))
    found = minimum_norm_point(rows, candidate.support, candidate.weights)
    return None if found.square else MinimumNorm(found.support, found.numerators)


#: Bits of the integers that weights are rounded to.
_BITS = 60


def _bounds_so_far(problem: Problem, rows: ExactRows, watch: Watch, seconds: float) -> Truth:
    """The best bounds that the weights seen so far prove; `separable` is None if the lower is 0."""
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
    return Truth(
        problem=problem,
        method="anytime",
        seconds={"search": seconds},
        note="the search was ended early",
        radius_squared=rows.radius_squared(),
        proof=MinimumNorm(*upper, rounds=0),
        bounds=(lower, higher) if square_hi else None,
        primal=primal,
    )


def _integers(rows: ExactRows, seen: Combination) -> tuple[NDArray[np.int64], list[int]]:
    """Rows in order with positive integers as weights, of the same sum on every side."""
    order = np.argsort(seen.rows)
    chosen = seen.rows[order]
    values = [max(1, round(Fraction(float(v)) * 2**_BITS)) for v in seen.weights[order]]
    return chosen, balanced(values, rows.side[chosen].tolist())


def _square_of(rows: ExactRows, point: Point) -> Fraction:
    """‖w‖² = Σ_i α_i ⟨a_i, w⟩ for w = Σ_i α_i a_i, exactly."""
    pairs = zip(point.rows.tolist(), point.numerators, strict=True)
    return sum((v * rows.score(i, point) for i, v in pairs), Fraction(0))


def _margin_squared(rows: ExactRows, point: Point) -> Fraction:
    """The square of the margin of w if it is positive, exactly; zero otherwise."""
    total, problem = sum(point.numerators), rows.problem
    weights = np.array([v / total for v in point.numerators])
    scores = problem.scores(problem.combine(spread(rows.n, point.rows, weights)))
    lowest = [np.where(rows.side == k, scores, np.inf).argmin() for k in range(rows.sides)]
    guesses = [rows.score(int(i), point) for i in lowest]
    near = np.union1d(rows.doubtful(point, *guesses), point.rows).tolist()
    exact = [(rows.score(i, point), rows.side[i]) for i in near]
    least = [min([v, *(s for s, k in exact if k == side)]) for side, v in enumerate(guesses)]
    mean = sum(least, Fraction(0)) / rows.sides
    return mean**2 / _square_of(rows, point) if mean > 0 else Fraction(0)
