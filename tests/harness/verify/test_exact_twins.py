"""What the fast path says is never wrong: its balls contain the exact values, in every geometry."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from flint import arb
from hypothesis import given, strategies as st

from gammabar.harness.verify.certified import Vec, space_of
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import LEVELS, exp, log, number, sqrt, total, working
from gammabar.problems import from_arrays
from gammabar.solvers import Iterate

GEOMETRIES = (
    "dense",
    "single",
    "integer",
    "sparse",
    "multiclass",
    "linear",
    "poly",
    "rbf",
    "normalised",
)


def make(geometry: str, rng: np.random.Generator, scale: float = 1.0):
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    X = rng.standard_normal((n, d)) * scale
    y = np.where(np.arange(n) % 2, 1, -1)
    if geometry == "dense":
        return from_arrays(X, y)
    if geometry == "single":
        return from_arrays(X.astype(np.float32), y)
    if geometry == "integer":
        return from_arrays(rng.integers(-200, 200, (n, d)), y)
    if geometry == "sparse":
        return from_arrays(scipy.sparse.csr_array(X * (rng.random((n, d)) < 0.6)), y)
    if geometry == "multiclass":
        return from_arrays(X, np.arange(n) % 3 if n > 2 else y, multiclass=True)
    kernel = {
        "linear": "linear",
        "poly": "poly:degree=3,coef0=0.5",
        "rbf": "rbf:gamma=0.7",
        "normalised": "poly:degree=2,coef0=1",
    }[geometry]
    return from_arrays(X, y, kernel=kernel, normalised=geometry == "normalised")


def exact_rows(problem) -> list[list[Fraction]]:
    """Rows of a two-class linear problem in rationals, without the code under test."""
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    return [[Fraction(v.item()) * int(s) for v in row] for row, s in zip(X, problem.y, strict=True)]


@pytest.mark.full
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@given(seed=st.integers(0, 2**32), power=st.integers(-30, 30))
def test_fast_balls_contain_the_exact_values(geometry: str, unit: bool, seed: int, power: int):
    rng = np.random.default_rng(seed)
    problem = make(geometry, rng)
    case = Case(problem, unit=unit)
    w = rng.standard_normal(case.problem.dimension) * 2.0**power
    with working(LEVELS[0]):
        fast = View(Iterate(1, w), case)
        facts = fast.smallest, fast.norm, fast.margin, *fast.scores
        psi = fast.psi if power < 8 else None
    with working(LEVELS[2]):
        exact = fast.at(2)
        truths = exact.smallest, exact.norm, exact.margin, *exact.scores
        for ball_, truth in zip(facts, truths, strict=True):
            assert truth.rad() <= abs(truth.mid()) * 1e-100 + 1e-200
            assert ball_.overlaps(truth)
        if psi is not None:
            assert psi.overlaps(exact.psi)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@given(seed=st.integers(0, 2**32))
def test_the_pull_is_within_its_error(geometry: str, seed: int):
    rng = np.random.default_rng(seed)
    case = Case(make(geometry, rng), unit=True)
    w = rng.standard_normal(case.problem.dimension) * rng.choice([0.1, 1.0, 30.0])
    with working(LEVELS[0]):
        fast = View(Iterate(1, w), case)
        pull = fast.pull
    with working(LEVELS[1]):
        truth = case.space.exact_combination(fast.at(1).weights)
        gap = [truth[j, 0] - arb(v) for j, v in enumerate(pull.mid.tolist())]
        if geometry in ("linear", "poly", "rbf", "normalised"):
            gram = case.space.gram()
            size = sqrt(
                total(a * gram[i, j] * b for i, a in enumerate(gap) for j, b in enumerate(gap))
            )
        else:
            size = sqrt(total(v * v for v in gap))
        assert size <= pull.err
    assert pull.err < 1e-8  # a bound that says something


@given(seed=st.integers(0, 2**32), unit=st.booleans())
def test_exact_scores_are_those_of_rational_arithmetic(seed: int, unit: bool):
    rng = np.random.default_rng(seed)
    problem = make(str(rng.choice(["dense", "integer", "sparse", "single"])), rng)
    case = Case(problem, unit=unit)
    rows = exact_rows(problem)
    w = rng.standard_normal(case.problem.dimension)
    radius = max(sum(v * v for v in row) for row in rows)
    with working(LEVELS[1]):
        scores = case.space.exact_scores(w, np.arange(problem.n))
        for row, score in zip(rows, scores, strict=True):
            value = number(
                sum((a * Fraction(b) for a, b in zip(row, w.tolist(), strict=True)), Fraction(0))
            )
            if unit:
                value = value / sqrt(number(radius))
            assert score.overlaps(value)
            assert score.rad() < 1e-80


@given(seed=st.integers(0, 2**32))
def test_vectors_carry_their_rounding_errors(seed: int):
    """A long linear recursion in doubles stays within its bound of the one in rationals."""
    rng = np.random.default_rng(seed)
    problem = make("dense", rng)
    space = space_of(problem)
    d = problem.dimension
    value = Vec(space, np.zeros(d))
    exact = [Fraction(0)] * d
    for t in range(1, 30):
        step = rng.standard_normal(d) * 10.0 ** rng.integers(-3, 3)
        value = (value + Vec(space, step)) * (number(t) / (t + 1))
        pairs = zip(exact, step.tolist(), strict=True)
        exact = [(a + Fraction(b)) * Fraction(t, t + 1) for a, b in pairs]
    gap = sum((a - Fraction(b)) ** 2 for a, b in zip(exact, value.mid.tolist(), strict=True))
    assert gap <= Fraction(value.err) ** 2
    assert value.err <= 1e-10 * (1 + float(sum(v * v for v in exact)))
    with working(LEVELS[0]):
        norm = sqrt(number(sum((v * v for v in exact), Fraction(0))))
        assert value.norm().overlaps(norm)
        assert value.inner(value).overlaps(norm * norm)


def test_psi_is_the_log_sum_exp():
    problem = from_arrays([[1.0], [2.0], [-3.0]], [1, 1, -1])
    with working(LEVELS[1]):
        view = View(Iterate(1, np.array([1.0])), Case(problem), level=1)
        assert view.psi.overlaps(log(exp(-1) + exp(-2) + exp(-3)))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_scales(scale: float):
    rng = np.random.default_rng(1)
    problem = make("dense", rng, scale)
    for unit in (False, True):
        case = Case(problem, unit=unit)
        w = rng.standard_normal(problem.dimension)
        with working(LEVELS[0]):
            view = View(Iterate(1, w), case)
            assert view.separates == view.at(1).separates or view.separates is None
            assert view.at(1).smallest.rad() < abs(view.at(1).smallest.mid()) * 1e-30
