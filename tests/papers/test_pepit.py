"""PEPit (Goujaud et al. 2024) as an independent referee of the lecture's rates of descent.

For a method with fixed steps the worst case over *all* β-smooth, λ-strongly convex functions is a
semidefinite program, which PEPit solves. No code of ours is in it, and no function of ours: it
must not exceed a rate that we call true, and exceeds the one that we call false. What our own
solver does on functions in one dimension never exceeds it.
"""

from __future__ import annotations

import contextlib
import io
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest

from gammabar.harness.registry import find_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.solvers.descent import AcceleratedGradientDescent, Quadratic, SmoothGradientDescent

#: β = 1; a ball of 10⁻⁴ (relative) around what a solver of semidefinite programs says.
SLACK = 1e-4
CASES = [(kappa, T) for kappa in (2.0, 9.0, 50.0) for T in (1, 2, 4)]


@cache
def worst_case(method: str, kappa: float, T: int) -> float:
    """max f(w_T) − f(w*) over all functions with β = 1, λ = 1/κ and ‖w_0 − w*‖ ≤ 1."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    pep = PEP()
    f = pep.declare_function(SmoothStronglyConvexFunction, mu=1 / kappa, L=1.0)
    best = f.stationary_point()
    w = v = pep.set_initial_point()
    # The worst case is as large as the square of the distance: with this one it is of the size of
    # one, which solvers of semidefinite programs are made for. Which one is asked is said here, for
    # what PEPit would choose depends on the machine, and so do its digits.
    scale = ((kappa + 1) / (kappa - 1)) ** (2 * T)
    pep.set_initial_condition((w - best) ** 2 <= scale)
    momentum = (sqrt(kappa) - 1) / (sqrt(kappa) + 1)
    for _ in range(T):
        if method == "plain":
            w = w - 2 / (1 + 1 / kappa) * f.gradient(w)
        else:
            new = v - f.gradient(v)
            v, w = new + momentum * (new - w), new
    pep.set_performance_metric(f(w) - f(best))
    with contextlib.redirect_stdout(io.StringIO()):
        return float(pep.solve(wrapper="cvxpy", verbose=0, solver="CLARABEL")) / scale


def registered(statement: str, kappa: float, T: int) -> float:
    """The bound of a statement for β = κ, λ = 1 and B = 1, divided by κ: that for β = B = 1."""
    [entry] = find_statements([statement])
    case, beta = Case(), Fraction(kappa)
    case.inputs = {"diagonal": (beta, Fraction(1)), "b": (beta, Fraction(0)), "T": T}
    with working(LEVELS[0]):
        [relation] = entry.body(case)
        return float(relation.right) / kappa


def test_some_smooth_function_violates_the_rate_that_is_printed():
    """At κ = 9 and T = 2, as the witness of lec.thm1 says, and by what Nesterov's bound attains."""
    found = worst_case("plain", 9.0, 2)
    assert found > registered("lec.thm1", 9.0, 2) * (1 + SLACK)
    witness = (4 / 5) ** 4 / 2  # (9/2)(4/5)⁴ for β = 9
    assert found == pytest.approx(witness, rel=SLACK)
    statuses = [s.status for s in find_statements(["lec.thm1", "lec.thm1.fixed"])]
    assert sorted(statuses) == ["holds", "refuted"]


@pytest.mark.parametrize(("kappa", "T"), CASES)
def test_the_worst_case_of_descent_obeys_the_true_rate_and_a_quadratic_attains_it(kappa, T):
    """(β/2)((κ − 1)/(κ + 1))^{2T}: f(x) = β(x − 1)²/2, run with our solver."""
    worst = worst_case("plain", kappa, T)
    assert worst <= registered("lec.thm1.fixed", kappa, T) * (1 + SLACK)
    assert worst == pytest.approx(((kappa - 1) / (kappa + 1)) ** (2 * T) / 2, rel=SLACK)
    assert _left(SmoothGradientDescent(), kappa, T) == pytest.approx(worst, rel=SLACK)


@pytest.mark.parametrize(("kappa", "T"), CASES)
def test_the_accelerated_method_obeys_its_rate_in_the_worst_case(kappa: float, T: int):
    """gb.lec.agd.rate, and our solver stays below the worst case."""
    worst = worst_case("fast", kappa, T)
    assert worst <= registered("gb.lec.agd.rate", kappa, T) * (1 + SLACK)
    assert _left(AcceleratedGradientDescent(), kappa, T) <= worst * (1 + SLACK)
    if T > 2 and kappa > 2:  # and it is worth its name
        assert worst < worst_case("plain", kappa, T)


def _left(solver: Any, kappa: float, T: int) -> float:
    """f(w_T) − f(w*) on ½xᵀ diag(1, 1/κ) x − x_1: w* = (1, 0)."""
    f = Quadratic(np.diag([1.0, 1 / kappa]), np.array([1.0, 0.0]))
    gap = next(it.w for it in solver.iterates(f) if it.t == T) - np.array([1.0, 0.0])
    return float(gap[0] ** 2 + gap[1] ** 2 / kappa) / 2
