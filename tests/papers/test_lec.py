"""The statements of the lecture: what is expected of all, and those on gradient descent and SGD."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from lec_cases import MINE, built, hear, refuted, small_problems

from gammabar.harness.run.specs import open_problem
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import middle, number
from gammabar.harness.verify.run_checks import check_statement
from gammabar.papers.lecture.descent import (
    BendTarget,
    LogisticTarget,
    QuadraticTarget,
    targets,
)
from gammabar.papers.lecture.quantities import column, matrix, nonnegative_form
from gammabar.papers.lecture.sgd import TASKS, FiniteSum, expectation
from gammabar.problems import DenseProblem
from gammabar.solvers import Iterate
from gammabar.solvers.descent import (
    _SLOPES,
    SGD,
    AcceleratedGradientDescent,
    Losses,
    SmoothGradientDescent,
)

#: The first problem of every statement; make golden runs the others, too.
CASES = [
    pytest.param(i, text, marks=pytest.mark.slow if k else ())
    for i, s in MINE.items()
    for k, text in enumerate(s.problems)
]


# What is expected


@pytest.mark.parametrize(("identifier", "text"), CASES)
def test_expected_verdicts(identifier: str, text: str) -> None:
    statement = MINE[identifier]
    case = Case(open_problem(text) if text else None, unit=statement.unit, name=text)
    verdict = check_statement(statement, case)
    assert verdict.verdict == statement.status
    assert verdict.checked > 0


def test_other_seeds_give_the_same_verdicts() -> None:
    for identifier in ("lec.thm3", "gb.lec.sgd.step", "gb.lec.sgd.draws"):
        assert check_statement(MINE[identifier], Case(seed=1)).verdict == "holds"


# Gradient descent


@dataclass(frozen=True)
class Descent(SmoothGradientDescent):
    factor: float = 1.0
    start: float = 0.0

    def iterates(self, f, rng=None) -> Iterator[Iterate]:
        eta = self.factor * 2 / (f.smoothness + f.strong_convexity)
        w = f.origin() + self.start
        for t in count():
            yield Iterate(t, w)
            w = w - eta * f.gradient(w)


@dataclass(frozen=True)
class Fast(AcceleratedGradientDescent):
    step: float = 1.0
    share: float = 1.0

    def iterates(self, f, rng=None) -> Iterator[Iterate]:
        root = math.sqrt(f.smoothness / f.strong_convexity)
        w = v = f.origin()
        for t in count():
            yield Iterate(t, w)
            new = v - self.step * f.gradient(v) / f.smoothness
            v = new + self.share * (root - 1) / (root + 1) * (new - w)
            w = new


def test_user_solvers_with_only_t_and_w_are_judged() -> None:
    assert hear("gb.lec.gd.step", Descent()).verdict == "holds"
    assert hear("lec.thm1.fixed", Descent()).verdict == "holds"
    assert hear("gb.lec.agd.step", Fast()).verdict == "holds"
    assert hear("gb.lec.agd.rate", Fast()).verdict == "holds"


@pytest.mark.parametrize("wrong", [1 + 1e-6, 0.5, -1.0])
def test_wrong_steps_of_gradient_descent_are_refuted(wrong: float) -> None:
    iris = open_problem("iris:0,1")
    assert refuted("gb.lec.gd.step", Descent(factor=wrong))
    assert refuted("gb.lec.gd.step", Descent(factor=wrong), iris)
    assert refuted("gb.lec.agd.step", Fast(step=wrong))
    assert refuted("gb.lec.agd.step", Fast(share=wrong))
    assert refuted("gb.lec.agd.step", Fast(share=wrong), iris)


def test_rates_refute_what_does_not_converge() -> None:
    for wrong in (0.0, 1.2, -0.1):
        assert refuted("lec.thm1.fixed", Descent(factor=wrong))
    assert refuted("gb.lec.agd.rate", Fast(step=0.01))
    assert refuted(
        "lec.thm1.fixed", Descent(factor=0.0), open_problem("iris:1,2 --kernel rbf:gamma=1")
    )


def test_a_start_elsewhere_and_what_cannot_be_judged_are_refuted() -> None:
    assert refuted("gb.lec.gd.step", Descent(start=1e-9))

    class Infinite(Descent):
        def iterates(self, f, rng=None):
            for it in super().iterates(f, rng):
                yield replace(it, w=np.full_like(it.w, math.inf)) if it.t == 2 else it

    class Short(Descent):
        def iterates(self, f, rng=None):
            yield from (it for it, _ in zip(super().iterates(f, rng), range(3), strict=False))

    for solver in (Infinite(), Short()):
        for identifier in ("gb.lec.gd.step", "lec.thm1.fixed"):
            assert refuted(identifier, solver)


def test_the_witness_against_theorem_1_by_hand() -> None:
    w = Fraction(0)
    for _ in range(2):
        w -= Fraction(2, 9 + 1) * (9 * w - 9)
    gap = Fraction(9, 2) * (w - 1) ** 2
    assert gap == Fraction(1152, 625)
    with ctx.workprec(100):
        assert number(gap) > (-arb(2) / 9).exp() * 9 / 4
        verdict = hear("lec.thm1")
        assert verdict.where.endswith("T = 2")
        assert float(gap) == pytest.approx(float(verdict.left.split()[0].strip("[")), rel=1e-14)
        # The largest gap of any function is that of a quadratic, ((κ−1)/(κ+1))^{2T} B²β/2: no
        # smaller whole κ has a T at which it exceeds e^{−T/κ}/T of that.
        for kappa in range(1, 9):
            ratio = (arb(kappa - 1) / (kappa + 1)) ** 2 * (arb(1) / kappa).exp()
            assert all(T * ratio**T < 1 for T in range(1, 100))


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


def test_smoothness_and_convexity_of_the_quadratics_are_what_the_solver_is_told() -> None:
    """Exactly so, or up to the rounding of an eigenvalue."""
    quadratics = [t for t in targets(Case(), 0.1) if isinstance(t, QuadraticTarget)]
    for target in quadratics:
        A = [
            [Fraction(v) for v in row]
            for row in [[float(v.mid()) for v in row] for row in target.A.tolist()]
        ]
        for sign, bound in (
            (1, target.function.smoothness),
            (-1, target.function.strong_convexity),
        ):
            near = Fraction(bound) * (1 + sign * Fraction(1, 2**48))
            shifted = [
                [sign * (near * (i == j) - v) for j, v in enumerate(row)] for i, row in enumerate(A)
            ]
            assert nonnegative_form(matrix(shifted))


def test_the_minimum_of_a_logistic_risk_is_enclosed() -> None:
    """One row a = 2, λ = 1: w* solves w = 2/(1 + e^{2w})."""
    target = LogisticTarget(DenseProblem(np.array([[2.0]]), np.array([1])), 1.0)
    with ctx.workprec(128):
        best, B = target.optimum
    w = middle(B)
    assert w == pytest.approx(2 / (1 + math.exp(2 * w)), rel=1e-14)
    assert middle(best) == pytest.approx(math.log1p(math.exp(-2 * w)) + w * w / 2, rel=1e-14)
    assert best.rad() < 1e-25


@settings(max_examples=20)
@given(small_problems, st.sampled_from([0.05, 1.0]))
def test_descent_is_never_refuted_on_random_problems(case, strength) -> None:
    problem = built(case)
    for identifier in ("gb.lec.gd.step", "gb.lec.agd.step"):
        solver = SmoothGradientDescent if ".gd." in identifier else AcceleratedGradientDescent
        assert hear(identifier, solver(strength), problem).verdict == "holds"
    with ctx.workprec(128):
        starts_at_the_minimum = LogisticTarget(problem, strength).optimum[1] < 1e-12
    for identifier in ("lec.thm1.fixed", "gb.lec.agd.rate"):
        solver = SmoothGradientDescent if "thm1" in identifier else AcceleratedGradientDescent
        verdict = hear(identifier, solver(strength), problem).verdict
        # 0 ≤ 0 between two balls can only be proved where both are exact.
        assert verdict == "holds" or (verdict == "undecided" and starts_at_the_minimum)


# SGD


class Ascent(SGD):
    def step(self, rho: float) -> float:
        return -super().step(rho)


class Frozen(SGD):
    def step(self, rho: float) -> float:
        return 0.0


class Tripled(SGD):
    def step(self, rho: float) -> float:
        return 3 * super().step(rho)


class Slightly(SGD):
    def step(self, rho: float) -> float:
        return super().step(rho) * (1 + 1e-6)


class Doubled(SGD):
    """The average is twice what it should be."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"average": 2 * it.extra["average"]})


class Shuffled(SGD):
    """Without replacement: uniform, but not independent."""

    def _draws(self, n, rng):
        if self.indices is not None:
            return super()._draws(n, rng)
        return (int(i) for _ in count() for i in rng.permutation(n))


class Short(SGD):
    @classmethod
    def within(cls, epsilon, distance, lipschitz, loss="logistic"):
        right = super().within(epsilon, distance, lipschitz, loss)
        return replace(right, horizon=max(1, right.horizon // 2))


@pytest.mark.parametrize("wrong", [Ascent(), Frozen()])
@pytest.mark.parametrize("identifier", ["lec.thm3", "lec.cor4"])
@pytest.mark.parametrize("text", ["", "planted:n=40,d=3,gamma=0.5,seed=0"])
def test_expectations_refute_what_does_not_descend(wrong, identifier, text) -> None:
    assert refuted(identifier, wrong, open_problem(text) if text else None)


@pytest.mark.parametrize("wrong", [Ascent(), Frozen(), Tripled(), Slightly(), Doubled(), Short()])
def test_wrong_sgd_is_refuted(wrong) -> None:
    assert refuted("gb.lec.sgd.step", wrong)
    if not isinstance(wrong, Short):
        assert refuted("gb.lec.sgd.step", wrong, open_problem("iris:1,2 --kernel rbf:gamma=0.5"))


def test_draws_that_are_not_independent_or_not_uniform_are_refuted() -> None:
    assert refuted("gb.lec.sgd.draws", Shuffled())
    assert hear("gb.lec.sgd.step", Shuffled()).verdict == "holds"


def test_problems_that_the_theorems_do_not_speak_about_are_inapplicable() -> None:
    for text in ("inseparable:n=20,d=3,seed=0", "planted:n=20,d=3,gamma=0.1,seed=0"):
        assert hear("lec.thm3", None, open_problem(text)).verdict == "inapplicable"
    assert hear("lec.thm3", SmoothGradientDescent()).verdict == "inapplicable"


def exact_hinge(rows, w) -> Fraction:
    scores = [sum(Fraction(a) * Fraction(v) for a, v in zip(row, w, strict=True)) for row in rows]
    return sum((max(Fraction(0), 1 - s) for s in scores), Fraction(0)) / len(rows)


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
            B, best = task.distance(), task.best()
            if task.loss == "logistic":
                f = task.sum()
                assert (
                    f.value(np.array([math.log(2)])).overlaps(best)
                    or middle(f.value(np.array([math.log(2)])) - best) < 1e-30
                )
                continue
            w = points[task.name.removeprefix("hinge, ")]
            value = exact_hinge(task.rows, w)
            assert number(value).overlaps(best)
            assert (B * B).overlaps(number(sum((Fraction(v) ** 2 for v in w), Fraction(0))))
            if task.everywhere:
                duals = [1, 1, 2] if value else [0] * len(task.rows)  # halves
                balance = [
                    sum(c * a for c, a in zip(duals, column, strict=True))
                    for column in zip(*task.rows, strict=True)
                ]
                assert not any(balance)
                assert Fraction(sum(duals), 2 * len(duals)) == value


def test_the_expectation_is_over_all_paths() -> None:
    """Rows e_1, e_2, T = 2, η = √2/√2 = 1: w_2 is e_1 or e_2, w̄ its half, f(w̄) = (½ + 1)/2."""
    f, B = TASKS[1].sum(), TASKS[1].distance()
    mean, wrong, off = expectation(Case(), f, B, 2)
    assert middle(mean) == pytest.approx(0.75, rel=1e-15)
    assert (off < 1e-12, wrong) == (True, "")


def test_slopes_at_a_kink_may_be_either() -> None:
    f = FiniteSum(DenseProblem(np.array([[1.0]]), np.array([1])), "hinge")
    assert [middle(s) for s in f.slopes(np.array([1.0]), 0)] == [-1, 0]
    assert [middle(s) for s in f.slopes(np.array([1.0 + 1e-9]), 0)] == [0]
    assert [middle(s) for s in f.slopes(np.array([0.5]), 0)] == [-1]


@settings(max_examples=20)
@given(small_problems)
def test_sgd_is_never_refuted_on_random_problems(case) -> None:
    problem = built(case)
    if problem.radius > 0:
        assert hear("gb.lec.sgd.step", None, problem).verdict == "holds"


@settings(max_examples=20)
@given(small_problems, st.integers(1, 4), st.sampled_from(["hinge", "logistic"]), st.data())
def test_any_comparison_point_obeys_theorem_3(case, T, loss, data) -> None:
    problem = built((case[0][:3], case[1][:3]))
    if not problem.radius > 0:
        return
    f = FiniteSum(problem, loss)
    u = np.array([data.draw(st.integers(-2, 2)) for _ in range(problem.dimension)], dtype=float)
    with ctx.workprec(128):
        B = number(float(np.linalg.norm(u)) + 0.25)
        mean, _, off = expectation(Case(), f, B, T)
        assert mean - f.value(u) <= B * f.lipschitz / number(T).sqrt() + off


def test_losses_of_the_solver_are_the_printed_ones() -> None:
    """The sums of the statements and those of the solver agree."""
    problem = DenseProblem(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([1, -1]))
    w = np.array([0.3, -0.7])
    for loss in _SLOPES:
        f = FiniteSum(problem, loss)
        assert middle(f.value(w)) == pytest.approx(Losses(problem, loss).value(w), rel=1e-14)
        assert f.quick_value(w).overlaps(f.value(w))


@settings(max_examples=20, deadline=None)
@given(st.integers(-1060, -404), st.sampled_from(["gb.lec.gd.step", "gb.lec.agd.step"]))
def test_rows_too_short_for_the_allowances_are_no_pass(exponent, identifier):
    """At 2⁻¹⁰¹⁰ every step was excused by what underflow may lose."""
    X = np.ldexp(np.array([[1.0, 2.0], [-2.0, 1.0], [0.5, -3.0]]), exponent)
    case = Case(DenseProblem(X, np.array([1, -1, 1])), None)
    assert check_statement(MINE[identifier], case).verdict == "inapplicable"
