"""Whether a run that a solver ends has come to its end.

A claim about all iterates is not settled by those that a solver chooses to deliver. Only where the
method itself ends in its paper, and what it says then is true, is there nothing more to hear.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from gammabar.harness.court.case import positive
from gammabar.harness.court.numbers import LEVELS, Number, Trit, number, sqrt, total, working
from gammabar.harness.court.relation import run_rounding
from gammabar.harness.court.space import Floats, LinearSpace, TooLarge
from gammabar.harness.court.taken import claimed_numbers
from gammabar.harness.court.view import Unclaimed, View
from gammabar.problems import ProblemError

#: What can be checked of a method that halts.
CHECKED = ("separated", "certificate")


def no_end(last: View, solvers: tuple[str, ...]) -> str:
    """Why a run that was ended with this iterate has not come to its end, or "".

    Parameters
    ----------
    last : View
        The last iterate; its ``extra["halt"]`` says why the method stops.
    solvers : tuple of str
        Registry names of the methods that the statement is about; any if there is none.
    """
    halt = last.extra.get("halt")
    if solvers and not any(halt in _ends(name) for name in solvers):
        return f"and the method does not end in its paper, with {halt!r} or otherwise"
    if halt == "separated":
        return "" if _separates(last) else "and the last one does not separate the data"
    if halt == "certificate":
        return _no_certificate(last)
    return f"and what it says then, {halt!r}, cannot be checked"


def _ends(name: str) -> tuple[str, ...]:
    from gammabar.solvers.registry import solver

    try:
        return getattr(solver(name), "ends", ())
    except ProblemError:  # the solver of somebody's own paper
        return CHECKED


def _separates(last: View) -> Trit:
    for level, bits in enumerate(LEVELS):
        try:
            with working(bits):
                found = last.at(level).separates if level else last.separates
        except TooLarge:
            return None
        if found is not None:
            return found
    return None


def _no_certificate(last: View) -> str:
    """Why the weights are none of norm ‖Aᵀp‖ ≤ ε in the simplex, up to rounding, or ""."""
    try:
        epsilon = positive(last.case, "epsilon") or positive(last.case, "delta")
    except Unclaimed as odd:
        return f"and its certificate cannot be checked: {odd}"
    p = claimed_numbers(last.extra.get("p", last.dual), (last.n,))
    if epsilon is None or isinstance(p, str):
        return "and there is no ε or no p to check its certificate with"
    rounding = run_rounding(last.n, last.space.dimension, last.t)
    with working(LEVELS[1]):
        mass = total(arb(v) for v in p.tolist())
        if not ((p >= 0).all() and abs(mass - 1) <= rounding):
            return "and its certificate is not in the simplex"
        try:
            length = _length(last.space, p)
        except TooLarge:
            return "and its certificate is too large to be checked"
        if not length <= number(epsilon) + rounding * last.space.radius:
            return f"and its certificate has norm {float(length):.3g}, above {epsilon}"
    return ""


def _length(space: Any, p: Floats) -> Number:
    """‖Aᵀp‖."""
    if not isinstance(space, LinearSpace):
        return space.exact_norm(p)
    column = space.exact_combination([arb(v) for v in p.tolist()]).entries()
    return sqrt(total(v * v for v in column))
