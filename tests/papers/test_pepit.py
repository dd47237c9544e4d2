"""PEPit (Goujaud et al. 2024) as an independent referee of the lecture's rates of descent.

For a method with fixed steps the worst case over *all* functions of a class is a semidefinite
program, which PEPit solves. No code of ours is in it, and no function of ours: it must not exceed a
rate that we call true, and exceeds the one that we call false. What our own solver does on
functions in one dimension never exceeds it.

The lecture states five rates (Section 1): of gradient descent for smooth and strongly convex
functions (Theorem 1), for smooth ones (1/ε) and for Lipschitz ones (1/ε²); of its accelerated
version O(√κ log(1/ε)) and O(1/√ε). The last of each were proved in an earlier lecture, or are
cited, without constants: here they are refereed with those of the textbooks.
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

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import LEVELS, working
from gammabar.harness.run.registry import find_statements
from gammabar.solvers.smooth import AcceleratedGradientDescent, Quadratic, SmoothGradientDescent

#: β = 1; a ball of 10⁻⁴ (relative) around what a solver of semidefinite programs says.
SLACK = 1e-4
CASES = [(kappa, T) for kappa in (2.0, 9.0, 50.0) for T in (1, 2, 4)]


def by_pepit(kind: str, parameters: dict[str, float], steps: Any) -> float:
    """max f(w) − f(w*) over all functions of a class, ‖w_0 − w*‖ ≤ 1, for the w of `steps(f, w_0)`.

    A function's class by its name in PEPit; f is asked for gradients, w_0 a point.
    """
    from PEPit import PEP, functions

    pep = PEP()
    f = pep.declare_function(getattr(functions, kind), **parameters)
    best = f.stationary_point()
    start = pep.set_initial_point()
    pep.set_initial_condition((start - best) ** 2 <= 1)
    pep.set_performance_metric(f(steps(f, start)) - f(best))
    with contextlib.redirect_stdout(io.StringIO()):
        return float(pep.solve(wrapper="cvxpy", verbose=0))


@cache
def worst_case(method: str, kappa: float, T: int) -> float:
    """Over all functions with β = 1 and λ = 1/κ."""
    momentum = (sqrt(kappa) - 1) / (sqrt(kappa) + 1)

    def steps(f: Any, w: Any) -> Any:
        v = w
        for _ in range(T):
            if method == "plain":
                w = w - 2 / (1 + 1 / kappa) * f.gradient(w)
            else:
                new = v - f.gradient(v)
                v, w = new + momentum * (new - w), new
        return w

    return by_pepit("SmoothStronglyConvexFunction", {"mu": 1 / kappa, "L": 1.0}, steps)


def registered(statement: str, kappa: float, T: int) -> float:
    """The bound of a statement for β = κ, λ = 1 and B = 1, divided by κ: that for β = B = 1."""
    [entry] = find_statements([statement])
    case = Case()
    case.inputs = {"diagonal": (Fraction(kappa), Fraction(1)), "b": (Fraction(kappa), Fraction(0))}
    case.inputs["T"] = T
    with working(LEVELS[0]):
        [relation] = entry.body(case)
        return float(relation.right) / kappa


@pytest.mark.parametrize(("kappa", "T"), CASES)
def test_no_smooth_function_violates_the_rate_that_we_call_true(kappa: float, T: int):
    assert worst_case("plain", kappa, T) <= registered("lec.thm1.fixed", kappa, T) * (1 + SLACK)


def test_some_smooth_function_violates_the_rate_that_is_printed():
    """At κ = 9 and T = 2, as the witness of lec.thm1 says, and by what Nesterov's bound attains."""
    found = worst_case("plain", 9.0, 2)
    assert found > registered("lec.thm1", 9.0, 2) * (1 + SLACK)
    witness = (4 / 5) ** 4 / 2  # (9/2)(4/5)⁴ for β = 9
    assert found == pytest.approx(witness, rel=SLACK)
    statuses = {s.id: s.status for s in find_statements(["lec.thm1", "lec.thm1.fixed"])}
    assert statuses == {"lec.thm1": "refuted", "lec.thm1.fixed": "holds"}


@pytest.mark.parametrize(("kappa", "T"), CASES)
def test_the_worst_case_of_descent_is_attained_by_a_quadratic_of_ours(kappa: float, T: int):
    """(β/2)((κ − 1)/(κ + 1))^{2T}: f(x) = β(x − 1)²/2, run with our solver."""
    worst = worst_case("plain", kappa, T)
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


# Without strong convexity: β = B = 1.


def descended(slope: Any, w: Any, T: int) -> Any:
    """Gradient descent with step 1/β."""
    for _ in range(T):
        w = w - slope(w)
    return w


def accelerated(slope: Any, w: Any, T: int) -> Any:
    """Nesterov's method for λ = 0: θ_{t+1} = (1 + √(1 + 4θ_t²))/2."""
    v, theta = w, 1.0
    for _ in range(T):
        after = (1 + sqrt(1 + 4 * theta**2)) / 2
        new = v - slope(v)
        v, w, theta = new + (theta - 1) / after * (new - w), new, after
    return w


def averaged(slope: Any, w: Any, T: int) -> Any:
    """Theorem 3 without chance: the mean of w_1, …, w_T, with step B/(ρ√T)."""
    mean = w * 0
    for _ in range(T):
        mean, w = mean + w * (1 / T), w - slope(w) * (1 / sqrt(T))
    return mean


def on_a_line(method: Any, f: Any, slope: Any, T: int) -> float:
    """f(w) − f(0) after T steps from w = 1."""
    return float(f(method(slope, 1.0, T)) - f(0.0))


def huber(bend: float) -> tuple[Any, Any]:
    """x²/2 up to |x| = bend, then a line: β = 1."""
    return (
        lambda x: x * x / 2 if abs(x) <= bend else bend * abs(x) - bend * bend / 2,
        lambda x: max(-bend, min(x, bend)),
    )


@pytest.mark.parametrize("T", [1, 2, 4, 8])
def test_descent_on_smooth_functions_takes_one_over_epsilon(T: int):
    """β B²/(4T + 2): Drori and Teboulle (2014), attained by Huber's function."""
    worst = by_pepit("SmoothConvexFunction", {"L": 1.0}, lambda f, w: descended(f.gradient, w, T))
    assert worst == pytest.approx(1 / (4 * T + 2), rel=SLACK)
    assert worst <= 1 / (2 * T)  # the textbooks' βB²/(2T), so T ≥ βB²/(2ε) steps are enough
    f, slope = huber(1 / (2 * T + 1))
    assert on_a_line(descended, f, slope, T) == pytest.approx(worst, rel=SLACK)


@pytest.mark.parametrize("T", [1, 2, 4, 8])
def test_acceleration_on_smooth_functions_takes_one_over_the_root(T: int):
    """2βB²/(T + 1)²: Beck and Teboulle (2009), Theorem 4.4."""
    worst = by_pepit("SmoothConvexFunction", {"L": 1.0}, lambda f, w: accelerated(f.gradient, w, T))
    assert worst <= 2 / (T + 1) ** 2 * (1 + SLACK)
    for bend in (1.0, 0.5, 1 / (2 * T + 1), 1 / (T + 1) ** 2):
        assert on_a_line(accelerated, *huber(bend), T) <= worst * (1 + SLACK)
    if T > 2:
        assert worst < 1 / (4 * T + 2)  # faster than gradient descent ever is


@pytest.mark.parametrize("T", [1, 2, 4, 9])
def test_descent_on_lipschitz_functions_takes_one_over_epsilon_squared(T: int):
    """Bρ/√T, the bound of Theorem 3 where nothing is random; the distance |x| comes near."""
    worst = by_pepit("ConvexLipschitzFunction", {"M": 1.0}, lambda f, w: averaged(f.gradient, w, T))
    assert worst <= 1 / sqrt(T) * (1 + SLACK)
    found = on_a_line(averaged, abs, lambda x: float(np.sign(x)), T)
    assert found <= worst * (1 + SLACK)


def _left(solver: object, kappa: float, T: int) -> float:
    """f(w_T) − f(w*) on ½xᵀ diag(1, 1/κ) x − x_1: w* = (1, 0)."""
    f = Quadratic(np.diag([1.0, 1 / kappa]), np.array([1.0, 0.0]))
    for it in solver.iterates(f):  # type: ignore[attr-defined]
        if it.t == T:
            gap = it.w - np.array([1.0, 0.0])
            return float(gap[0] ** 2 + gap[1] ** 2 / kappa) / 2
    raise AssertionError("iterates go on without end")
