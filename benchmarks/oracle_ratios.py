"""The exact oracle side by side with what people use, as ratios in one run.

    python benchmarks/oracle_ratios.py [--quick] [--repeat 5] [--json FILE]

Every contestant gets the data in memory in the form it likes best, before the clock starts. Fast
contestants are interleaved and the best of several runs counts; CVXPY on the whole problem takes
minutes and is run once or twice. Beside each time stands what the result is worth: the margin
it reaches, and what is proved. Contestants that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from oracle import solve
from oracle.models import hard_margin_dual, hard_margin_primal
from problems import Problem, load


@dataclass
class Contestant:
    """A way to the maximum margin: a name, what it proves, and how to run it."""

    name: str
    proves: str
    run: Callable[[], np.ndarray]  # returns w
    most: int = 1000  # never run more often than this
    best: float = float("inf")
    margin: float = float("nan")
    note: str = ""


def contestants(problem: Problem, quick: bool) -> list[Contestant]:
    """The field, for one linear problem."""
    X = np.asarray(problem.X, dtype=np.float64) / problem.radius
    y = np.asarray(problem.y)
    A = X * y[:, None]
    field = [
        Contestant("gammabar, exact with proof", "γ̄², q̄ exact", lambda: _oracle(problem)),
        Contestant("LIBLINEAR (hinge, C=1e6)", "nothing", lambda: _liblinear(X, y)),
    ]
    if find_spec("daqp") and find_spec("qpsolvers"):
        field.append(Contestant("DAQP (through qpsolvers)", "nothing", lambda: _daqp(A)))
    if not quick:
        name = "CVXPY + Clarabel"
        field.append(Contestant(f"{name}, primal", "tolerance 1e-10", lambda: _primal(A), most=1))
        field.append(Contestant(f"{name}, dual", "tolerance 1e-10", lambda: _dual(A), most=1))
    return field


def _oracle(problem: Problem) -> np.ndarray:
    truth = solve(problem)
    assert truth.exact
    return problem.combine(truth.q)


def _liblinear(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", C=1e6, fit_intercept=False, tol=1e-8)
    return np.asarray(model.fit(X, y).coef_[0])


def _daqp(A: np.ndarray) -> np.ndarray:
    from qpsolvers import solve_qp

    n, d = A.shape
    w = solve_qp(np.eye(d), np.zeros(d), -A, -np.ones(n), solver="daqp")
    return np.zeros(d) if w is None else np.asarray(w)


def _primal(A: np.ndarray) -> np.ndarray:
    return np.asarray(hard_margin_primal(A).w)


def _dual(A: np.ndarray) -> np.ndarray:
    return np.asarray(hard_margin_dual(A).w)


def race(problem: Problem, repeat: int, quick: bool) -> list[Contestant]:
    """Run the field in interleaved rounds and keep each contestant's best time."""
    field = contestants(problem, quick)
    unit = problem.unit()
    for turn in range(repeat):
        for entry in field:
            if turn >= entry.most:
                continue
            start = perf_counter()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    w = entry.run()
            except Exception as error:  # a peer's failure is a result, shown as such
                entry.note = f"failed: {type(error).__name__}: {error}"[:70]
                entry.best = min(entry.best, perf_counter() - start)
                continue
            entry.best = min(entry.best, perf_counter() - start)
            if any("ConvergenceWarning" in str(c.category) for c in caught):
                entry.note = "iteration limit reached"
            entry.margin = unit.margin(w)
            print(f"  {entry.name}: {perf_counter() - start:.3f} s", file=sys.stderr)
    return field


def report(name: str, field: list[Contestant]) -> dict[str, Any]:
    """Print the table of one problem; returns it as data."""
    ours = field[0].best
    print(f"\n{name}\n")
    print(f"  {'contestant':<28}{'seconds':>9}{'ratio':>9}  {'margin reached':<22}{'proves':<15}")
    for entry in field:
        print(
            f"  {entry.name:<28}{entry.best:>9.3f}{entry.best / ours:>8.1f}×  "
            f"{entry.margin:<22.16g}{entry.proves:<15}{entry.note}"
        )
    return {
        entry.name: {"seconds": entry.best, "ratio": entry.best / ours, "margin": entry.margin,
                     "note": entry.note}
        for entry in field
    }  # fmt: skip


def main() -> None:
    """Race on full MNIST 0/1 and Fashion-MNIST 0/4, or on embedded data with --quick."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="embedded data, without CVXPY")
    parser.add_argument("--repeat", type=int, default=5, help="interleaved rounds (best counts)")
    parser.add_argument("--json", metavar="FILE", help="write the figures here as well")
    parser.add_argument("data", nargs="*", help="problems (default: mnist:0,1 fashion:0,4)")
    options = parser.parse_args()
    names = ["mnist-sample:0,1", "digits:3,8"] if options.quick else ["mnist:0,1", "fashion:0,4"]
    figures = {}
    for name in options.data or names:
        problem = load(name)
        solve(problem)  # compile and warm up, so that no contestant pays for it
        figures[name] = report(name, race(problem, options.repeat, options.quick))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(figures, stream, indent=1)


if __name__ == "__main__":
    main()
