"""With a bias: which problem a hyperplane that need not pass through the origin belongs to.

free
    y_i (<x_i, w> + b) with the margin counted in w alone: the hard-margin support vector machine
    of textbooks. Its margin is half the distance of the convex hulls of the two classes. The data
    stay as they are; that b is free is what the oracle has to know.
augmented
    A constant feature of one, so that b is a coordinate of w and counts in its norm: what the
    algorithms of the papers see. The margin is never larger than the free one.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from gammabar.problems.base import INTERCEPTS, Problem, ProblemError
from gammabar.problems.chunks import Constant
from gammabar.problems.dense import DenseProblem
from gammabar.problems.kernel import KernelProblem
from gammabar.problems.multiclass import MulticlassProblem
from gammabar.problems.multiclass_kernel import MulticlassKernelProblem
from gammabar.problems.rounding import EXACT
from gammabar.problems.scattered import ScatteredProblem
from gammabar.problems.sparse import SparseProblem
from gammabar.problems.sparsity import is_sparse


def intercept_named(kind: str | bool | None) -> str:
    """One of `INTERCEPTS`: True is "free"; False and None are "none"."""
    if isinstance(kind, bool | np.bool_) or kind is None:
        return "free" if kind else "none"
    if not isinstance(kind, str) or kind not in INTERCEPTS:
        raise ProblemError(f"intercept {kind!r} is not one of {', '.join(INTERCEPTS)}")
    return kind


def with_intercept(problem: Problem, kind: str | bool | None) -> Problem:
    """The problem of separating the same points with this kind of intercept.

    Parameters
    ----------
    problem : Problem
        With or without an intercept of its own.
    kind : {"none", "free", "augmented"} or bool
        See the module; True is "free".
    """
    kind = intercept_named(kind)
    if kind == problem.intercept:
        return problem
    plain = problem.plain
    if kind == "none":
        return plain
    made = _free(plain) if kind == "free" else _augmented(plain)
    made.intercept, made._plain = kind, plain
    return made


def _free(problem: Problem) -> Problem:
    if isinstance(problem, MulticlassKernelProblem):
        raise ProblemError("several classes with a kernel have no intercept here")
    if isinstance(problem, MulticlassProblem):
        raise ProblemError(
            "the joint margin of several classes is not offered with a free intercept; use "
            "intercept='augmented', or pairs of classes"
        )
    if isinstance(problem, KernelProblem) and problem.normalised:
        raise ProblemError(
            "a normalised kernel has no intercept: rows that are divided by their norms share "
            "none; leave out normalised or the intercept"
        )
    if len(np.unique(problem.y)) < 2:
        raise ProblemError(
            "with a free intercept a single class has no largest margin; give points of both"
        )
    return copy.copy(problem)


def _augmented(problem: Problem) -> Problem:
    if isinstance(problem, KernelProblem | MulticlassKernelProblem):
        raise ProblemError(
            "with a kernel K the constant feature makes K + 1 of it: give that as the kernel "
            "(poly has coef0), or use the free intercept"
        )
    if isinstance(problem, ScatteredProblem):
        step = Constant(_dtype_of_both(problem.X, 1.0))
        return ScatteredProblem(problem.points.chunks.changed(step), problem.y, problem.source)
    X = with_constant(problem.X)
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(X, problem.labels, problem.k, problem.source)
    if is_sparse(X):
        return SparseProblem(X, problem.y, problem.source)
    return DenseProblem(X, problem.y, problem.source)


def with_constant(X: Any, value: float = 1.0) -> Any:
    """X with a constant column, in a dtype that holds both exactly."""
    dtype = _dtype_of_both(X, value)
    column = np.full((X.shape[0], 1), value, dtype=dtype)
    if is_sparse(X):
        from scipy.sparse import hstack

        return hstack([X.astype(dtype), column], format="csr")
    return np.hstack([X.astype(dtype), column])


def _dtype_of_both(X: Any, value: float) -> np.dtype[Any]:
    """The narrowest of a few dtypes in which neither the data nor the constant change."""
    given = np.dtype(np.uint8) if X.dtype.kind == "b" else X.dtype
    if given.kind == "f":
        with np.errstate(over="ignore"):
            fits = float(given.type(value)) == value  # as doubles, not in the narrower type
        return given if fits else np.result_type(given, np.float64)
    if float(value).is_integer():
        for dtype in (given, np.dtype(np.int64), np.dtype(np.uint64)):
            info = np.iinfo(dtype)
            if np.can_cast(given, dtype) and info.min <= int(value) <= info.max:
                return dtype
    entries = X.data if is_sparse(X) else X
    if entries.size and max(-int(entries.min()), int(entries.max())) > EXACT:
        raise ProblemError(
            f"intercept_scaling={value!r} does not fit beside integers beyond 2^53; "
            "choose an integer, or convert X to floats"
        )
    return np.dtype(np.float64)
