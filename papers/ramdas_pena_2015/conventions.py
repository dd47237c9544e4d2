"""Symbols of Ramdas and Peña (2015), and what its statements assume of data and solver.

Rows a_i are the paper's y_i φ̃(x_i), of norm one, and G is their Gram matrix. Coefficients α stand
for w = Σ_i α_i a_i, so G α = A w and ‖α‖_G = ‖w‖; what is said about α_k is computed from w_k.
"""

from __future__ import annotations

from math import inf
from numbers import Real

import numpy as np

from gammabar.oracle.rational import exact_rows, has_exact_kernel, largest_norm, smallest_norm
from gammabar.papers import Assumption, Case
from gammabar.problems import KernelProblem

SOURCE = "Ramdas and Peña (2015)"

#: Rows that an exact Gram matrix, or a distance to the witnesses, is computed for.
MOST = 300


def norm_one(case: Case) -> str | None:
    """Every row has norm one: the paper divides by √K(x, x)."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem):
        if problem.normalised or problem.kernel.name == "rbf":
            return None
        if not has_exact_kernel(problem):
            return "the norms of the rows are not known exactly"
        rows = exact_rows(problem)
        norms = {rows.score(i, rows.point(np.array([i]), [1])) for i in range(problem.n)}
    else:
        points = problem.points  # type: ignore[attr-defined]
        norms = {largest_norm(points), smallest_norm(points)}
    if len(norms) == 1 and norms != {0} and (case.unit or norms == {1}):
        return None
    return "not all rows have norm one; use --kernel linear --normalised, or another kernel"


def small(case: Case) -> str | None:
    """The exact Gram matrix is within reach."""
    return None if case.n <= MOST else f"more than {MOST} rows: no exact Gram matrix"


#: What options are above, as the algorithms say: "Input constant γ > 1, accuracy ε > 0".
_ABOVE = {"gamma": 1, "epsilon": 0, "delta": 0}


def tells(*names: str) -> Assumption:
    """The solver has these options, which the claim speaks of, with values that they may have."""

    def met(case: Case) -> str | None:
        for name in names:
            value, least = getattr(case.solver, name, None), _ABOVE[name]
            if value is None:
                return f"the solver has no option {name}"
            if not isinstance(value, Real) or not least < float(value) < inf:
                return f"the solver's {name} is {value!r}, and no number above {least}"
        return None

    met.__doc__ = f"The solver says its {' and '.join(names)}."
    return met


def below_margin(name: str) -> Assumption:
    """ρ_K > 0, and an option of the solver is below it."""

    def met(case: Case) -> str | None:
        if not case.separable:
            return "the data are not separable"
        return None if getattr(case.solver, name) < case.gamma else f"{name} is not below ρ_K"

    met.__doc__ = f"ρ_K > 0, and the solver's {name} is below it."
    return met


def above_margin(name: str) -> Assumption:
    """ρ_K ≤ 0, or an option of the solver is above it."""

    def met(case: Case) -> str | None:
        if case.separable is False:
            return None
        if case.separable and getattr(case.solver, name) > case.gamma:
            return None
        return f"ρ_K is positive and not below {name}"

    met.__doc__ = f"ρ_K ≤ 0, or the solver's {name} is above it."
    return met
