"""The pytest plugin: theorem-bound checks in a user's own tests.

    def test_mine(check_bound):
        check_bound("jst.thm3.1.1", MySolver(), problem="planted:n=200,d=10,gamma=0.1,seed=0",
                    iterations=500)

The package registers it; nothing has to be imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

#: What libraries read how many threads to use.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Nothing else is imported here: pytest loads this file in every run, whether it is used or not.
# Workers of xdist use one thread each, or they would wait for each other. NumPy reads this when a
# conftest.py imports it, so that it is said here: hooks are called later.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _name in THREADS:
        os.environ.setdefault(_name, "1")


@pytest.fixture(scope="session")
def check_bound() -> Callable[..., Any]:
    """Check a statement at every iterate of a solver, and fail the test unless it holds.

    ``check_bound(statement, solver, problem=…, iterations=200, seed=0, strict=False)`` returns the
    verdict; of a list of statements, a list. ``check_bound(solver, like="dual-acceleration",
    problem=…)`` checks all that is claimed of a method. Statements, solvers and problems may have
    any form that `gammabar.verify` takes. With ``strict=True`` a vacuous pass fails the test.

    A statement whose assumptions the problem does not meet says nothing about the solver: the test
    is then skipped, with the reason, rather than passed. If it is the solver that does not meet
    them (its ``step``, say), or if there was nothing to check in the run, the test fails.
    """
    return _check


def _check(
    statement: Any,
    solver: Any = None,
    problem: Any = None,
    iterations: int | None = None,
    seed: int = 0,
    strict: bool = False,
    like: str | None = None,
) -> Any:
    __tracebackhide__ = True
    from gammabar.harness.run.in_process import BoundViolated, check_bounds

    if like is not None and solver is None:
        statement, solver = None, statement
    if problem is None or solver is None:
        raise TypeError("check_bound needs a solver and problem=…")
    wrong = ""
    try:
        more: Any = {"like": like, "iterations": iterations, "seed": seed, "strict": strict}
        verdicts = check_bounds(statement, solver, problem, **more)
    except BoundViolated as violated:
        wrong = str(violated)
    if wrong:  # out here, so that nothing is chained to it
        pytest.fail(wrong, pytrace=False)
    idle = [v for v in verdicts if v.verdict == "inapplicable"]
    if idle:
        pytest.skip("; ".join(f"{v.statement} is inapplicable: {v.reason}" for v in idle))
    several = statement is None or isinstance(statement, list | tuple)
    return verdicts if several else verdicts[0]
