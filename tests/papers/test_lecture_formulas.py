"""The lecture: printed numbers, and what its statements are made of."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from statement_checks import verdict as check

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import middle, number
from gammabar.oracle.l1 import solve_l1
from gammabar.papers.lecture.boosting import DATA, session
from gammabar.papers.lecture.descent import BendTarget, LogisticTarget, QuadraticTarget, targets
from gammabar.papers.lecture.figures import stump_margin
from gammabar.papers.lecture.quantities import column, features, matrix
from gammabar.papers.lecture.sgd import TASKS, FiniteSum, expectation
from gammabar.problems import DenseProblem
from gammabar.solvers.boosting import AdaBoost, Stump


def test_the_bounds_are_those_printed() -> None:
    target = QuadraticTarget([[4.0, 0.0], [0.0, 1.0]], [8.0, 3.0])
    best, B = target.optimum
    assert (middle(best), middle(B)) == (-12.5, pytest.approx(math.sqrt(13)))
    assert middle(target.kappa) == 4
    assert middle(target.height(column([1.0, 1.0]))) == 2.5 - 11
    assert [middle(v) for v in target.slope(column([1.0, 1.0])).entries()] == [-4, -2]


def test_smoothness_and_convexity_of_a_bend_are_what_the_solver_is_told() -> None:
    """λ|u − v| ≤ |f′(u) − f′(v)| ≤ β|u − v|, in balls and in doubles, and value and slope agree."""
    (bend,) = (t for t in targets(Case(), 0.1) if isinstance(t, BendTarget))
    points = [k / 16 for k in range(-20, 40)]
    slopes = [bend.slope(column([v]))[0, 0] for v in points]
    told = [float(bend.function.gradient(np.array([v]))[0]) for v in points]
    assert told == pytest.approx([float(v) for v in slopes], abs=1e-12)
    ratios = [float((b - a) * 16) for a, b in pairwise(slopes)]
    assert bend.function.strong_convexity == pytest.approx(min(ratios))
    assert bend.function.smoothness == pytest.approx(max(ratios))
    for v, slope in zip(points, slopes, strict=True):
        step = 2.0**-20
        rise = bend.height(column([v + step])) - bend.height(column([v - step]))
        assert float(rise) / (2 * step) == pytest.approx(float(slope), abs=1e-4)
        assert bend.function.value(np.array([v])) == pytest.approx(float(bend.height(column([v]))))
    assert bend.optimum == (0, 1)
    assert float(bend.height(column([1.0]))) == 0


def test_the_minimum_of_a_logistic_risk_is_enclosed() -> None:
    """One row a = 2, λ = 1: w* solves w = 2/(1 + e^{2w})."""
    target = LogisticTarget(DenseProblem(np.array([[2.0]]), np.array([1])), 1.0)
    with ctx.workprec(128):
        best, B = target.optimum
    w = middle(B)
    assert w == pytest.approx(2 / (1 + math.exp(2 * w)), rel=1e-14)
    assert middle(best) == pytest.approx(math.log1p(math.exp(-2 * w)) + w * w / 2, rel=1e-14)
    assert best.rad() < 1e-25


def test_the_minima_of_the_sums_are_right() -> None:
    """At w* the value is attained; a λ with Σ λ_i a_i = 0 proves that nothing is smaller."""
    points = {
        "a = 1": [1],
        "a = (1, 0), (0, 1)": [1, 1],
        "a = 1, 1, −1": [1],
        "a = (3, 4), (4, 3)": [Fraction(1, 7)] * 2,
        "a = 1, |w| ≤ ½": [Fraction(1, 2)],
        "a = 1, 1, −1, |w| ≤ ½": [Fraction(1, 2)],
    }
    with ctx.workprec(128):
        for task in TASKS:
            f, best, B = task.known()
            if task.loss == "logistic":
                assert abs(middle(f.value(np.array([math.log(2)])) - best)) < 1e-30
                continue
            w = points[task.name.removeprefix("hinge, ")]
            scores = np.array(task.rows, dtype=object) @ np.array(w, dtype=object)
            value = sum((max(Fraction(0), 1 - s) for s in scores), Fraction(0)) / len(scores)
            assert number(value).overlaps(best)
            assert (B * B).overlaps(number(sum((Fraction(v) ** 2 for v in w), Fraction(0))))
            if task.everywhere:
                duals = [1, 1, 2] if value else [0] * len(task.rows)  # halves
                assert not (np.array(duals) @ np.array(task.rows)).any()
                assert Fraction(sum(duals), 2 * len(duals)) == value


def test_the_expectation_is_over_all_paths() -> None:
    """Rows e_1, e_2, T = 2, η = √2/√2 = 1: w_2 is e_1 or e_2, w̄ its half, f(w̄) = (½ + 1)/2."""
    f, _, B = TASKS[1].known()
    mean, wrong, off = expectation(Case(), f, B, 2)
    assert middle(mean) == pytest.approx(0.75, rel=1e-15)
    assert (off < 1e-12, wrong) == (True, "")


def test_slopes_at_a_kink_may_be_either_and_quick_values_are_enclosures() -> None:
    f = FiniteSum(DenseProblem(np.array([[1.0]]), np.array([1])), "hinge")
    assert [middle(s) for s in f.slopes(np.array([1.0]), 0)] == [-1, 0]
    assert [middle(s) for s in f.slopes(np.array([1.0 + 1e-9]), 0)] == [0]
    assert [middle(s) for s in f.slopes(np.array([0.5]), 0)] == [-1]
    problem, w = DenseProblem(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([1, -1])), [0.3, -0.7]
    for loss in ("logistic", "hinge"):
        f = FiniteSum(problem, loss)
        assert f.quick_value(np.array(w)).overlaps(f.value(np.array(w)))


def test_lemma_7_is_checked_wherever_it_speaks() -> None:
    """Three points: γ_t falls to its limit, and T = ln 6/(2γ²), rounded down, comes soon."""
    X, y = DATA["three points"]
    s = session(Case(), AdaBoost(), DenseProblem(np.array(X), np.array(y)), "", 40)
    with ctx.workprec(128):
        gamma = min(0.5 - float(r.epsilon.mid()) for r in s.rounds)
        errors = {r.t: most for r, _, most in s.errors()}
    assert gamma == pytest.approx(1 / 6)
    assert math.log(6) / (2 * gamma**2) == pytest.approx(18 * math.log(6))  # 32.25…
    assert [errors[t] for t in (1, 2, 3, 32, 33)] == [1, 1, 0, 0, 0]
    assert check("lec.lem7").checked > 40


@given(hnp.arrays(int, st.integers(1, 4).map(lambda n: (n, n)), elements=st.integers(-3, 3)))
def test_factors_are_found_exactly_where_the_form_is_nonnegative(M) -> None:
    for S in (M + M.T, M @ M.T):
        eigenvalues = np.linalg.eigvalsh(S.astype(float))
        found = features(matrix(S.tolist())) is not None
        if abs(eigenvalues[0]) > 1e-9:
            assert found == (eigenvalues[0] > 0)
    assert features(matrix((M @ M.T).tolist())) is not None


@pytest.mark.parametrize("seed", range(12))
def test_it_is_that_of_all_stumps_at_once(seed: int):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 6))
    X, y = rng.integers(0, int(rng.integers(2, 6)), (n, d)), rng.choice([-1, 1], n)
    cuts = [(0, -np.inf), *((j, v) for j in range(d) for v in np.unique(X[:, j])[:-1].tolist())]
    votes = [Stump(j, v, s)(X) * y for j, v in cuts for s in (1, -1)]
    wanted = solve_l1(np.stack(votes, axis=1).astype(np.int64), signed=False)
    assert wanted.exact
    found = stump_margin(X, y, [])
    assert found.value == found.bound == wanted.value_lo
    found = stump_margin(np.array([[1], [1]]), np.array([1, -1]), [])  # they contradict each other
    assert found.value == found.bound == 0
