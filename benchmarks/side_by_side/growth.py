"""How times grow with the number of rows n, of columns d, and of entries nnz.

The exponent is the slope between the two largest sizes on logarithmic axes: 1 is linear. Below,
a part of the time does not depend on the size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from side_by_side.contest import interleaved
from side_by_side.iteration import numpy_step, one_read, stepper
from side_by_side.table import Table, digits, duration

from gammabar.harness.screen import Stage
from gammabar.oracle import solve
from gammabar.problems import DenseProblem, SparseProblem

TITLE = "Growth"
STEP, NUMPY, READ, SCIPY = "iteration of Algorithm 1", "NumPy step", "one read", "one scipy product"
ORACLE, LIBLINEAR = "exact oracle", "LIBLINEAR (hinge, C = 1e6)"

Work = dict[str, Callable[[], Any]]


def measure(quick: bool, say: Stage, *, repeat: int = 3) -> list[dict[str, Any]]:
    """One result per axis and kind of contestants."""
    rows = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    columns = (10, 100, 1_000) if quick else (10, 32, 100, 320, 1_000, 3_200)
    entries = (1e-4, 1e-3, 1e-2) if quick else (1e-4, 1e-3, 1e-2, 1e-1)
    some = (300, 1_000, 3_000) if quick else (1_000, 10_000, 100_000)
    wide = (10, 20, 40) if quick else (10, 30, 100)
    n = 2_000 if quick else 10_000
    say("growth with n")
    results = [_axis("n", "d = 50", {size: _dense(size, 50) for size in rows}, repeat, 5)]
    say("growth with d")
    work = {size: _dense(n, size) for size in columns}
    results.append(_axis("d", f"n = {n:,}", work, repeat, 5))
    say("growth with nnz")
    work = dict(_sparse(density) for density in entries)
    results.append(_axis("nnz", "20,000 × 5,000", work, repeat, 5))
    say("growth of the oracle with n")
    work = {size: _proofs(size, 20) for size in some}
    results.append(_axis("n", "d = 20", work, repeat, 1))
    say("growth of the oracle with d")
    few = 1_000 if quick else 5_000
    work = {size: _proofs(few, size) for size in wide}
    results.append(_axis("d", f"n = {few:,}", work, repeat, 1))
    return results


def _axis(axis: str, fixed: str, work: dict[int, Work], repeat: int, runs: int) -> dict[str, Any]:
    """Time all sizes and contestants in the same turns, lest the machine's mood makes a slope."""
    every = {f"{size} {name}": run for size, of in work.items() for name, run in of.items()}
    middle = interleaved(every, repeat, runs)
    sizes = sorted(work)
    names = list(work[sizes[0]])
    curves = {name: [middle[f"{size} {name}"] for size in sizes] for name in names}
    return {
        "axis": axis,
        "fixed": fixed,
        "sizes": sizes,
        "curves": curves,
        "exponents": {name: exponent(sizes, times) for name, times in curves.items()},
    }


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope between the two largest sizes, on logarithmic axes."""
    return math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2])


def points(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Points on both sides of a hyperplane, with a gap, and their labels."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return X, y


def _dense(n: int, d: int) -> Work:
    X, y = points(n, d)
    return {
        STEP: stepper(DenseProblem(X, y)),
        NUMPY: numpy_step(X * y[:, None]),
        READ: one_read(X),
    }


def _sparse(density: float) -> tuple[int, Work]:
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(20_000, 5_000, density=density, format="csr", random_state=rng)
    y = np.where(rng.random(20_000) < 0.5, 1, -1)
    w = np.zeros(5_000)
    return int(X.nnz), {STEP: stepper(SparseProblem(X, y)), SCIPY: lambda: X @ w}


def _proofs(n: int, d: int) -> Work:
    from sklearn.svm import LinearSVC

    X, y = points(n, d)
    problem = DenseProblem(X, y)
    solve(problem)
    model = LinearSVC(loss="hinge", C=1e6, fit_intercept=False, tol=1e-8, random_state=0)
    return {ORACLE: lambda: solve(problem), LIBLINEAR: lambda: _quietly(model, X, y)}


def _quietly(model: Any, X: Any, y: Any) -> None:
    """A fit that may reach its limit of iterations: its time is what is asked here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table per axis and kind."""
    out = []
    for result in results:
        columns = ("", *(f"{result['axis']} = {size:,}" for size in result["sizes"]), "exponent")
        rows = [
            (name, *map(duration, times), digits(result["exponents"][name], 2))
            for name, times in result["curves"].items()
        ]
        out.append(Table(f"Growth with {result['axis']}, {result['fixed']}", columns, rows))
    return out
