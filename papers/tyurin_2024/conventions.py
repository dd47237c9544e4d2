"""Symbols of Tyurin (2024), and what its statements assume of data and solver.

Rows are a_i here and y_i a_i in the paper, θ is w, the margin μ is γ̄, and the step size γ is the
solver's ``step``. As in the paper, rows may have any norm; R is the largest. An iteration is an
update, so "after at most B iterations" means that some w_t with t ≤ B separates the data; the half
step of Batch Perceptron is its first iteration.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from gammabar.papers import Case, LinearSpace, Number, Relation, View, fact, number
from gammabar.problems import DenseProblem, Problem, SparseProblem, load

SOURCE = "Tyurin (2024)"


def has_step(case: Case) -> str | None:
    """The solver says what its γ is."""
    step = getattr(case.solver, "step", None)
    usable = isinstance(step, Real) and 0 < float(step) < float("inf")
    return None if usable else "the solver has no attribute `step` with a positive number"


def step_of(case: Case) -> Number:
    """γ."""
    return number(float(case.solver.step))


def method_of(case: Case) -> str:
    """The name on the solver's card; "" if it has none."""
    card = getattr(type(case.solver), "card", None)
    return str(getattr(card, "name", ""))


def squared_ratio(case: Case) -> Any:
    """R²/μ²: an exact rational wherever μ² is one, so that a count can be equal to it."""
    return case.mistake_bound


def linear(case: Case) -> str | None:
    """The rows are vectors of ℝ^d, in the units of the data."""
    known = isinstance(case.problem, DenseProblem | SparseProblem) and not case.unit
    return None if known else "this is about points of ℝ^d in the units of their data"


def only_zeros(it: View) -> Relation | None:
    """Where all rows are zero, that w_t is: there is no scale that rounding could be small beside.

    None where some row is not zero.
    """
    if it.space.least_radius > 0 or it.case.truth.radius_squared_hi > 0:
        return None
    zero = not it.w.any() or not isinstance(it.space, LinearSpace)  # whatever the coefficients are
    return fact(zero, "all rows are zero, and so is w_t")


def same_data(problem: Problem, spec: str) -> bool:
    """Whether a problem is the one of that name, row by row."""
    other = load(spec)
    same = problem.n == other.n and problem.dimension == other.dimension
    return same and problem.digest() == other.digest()
