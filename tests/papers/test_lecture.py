"""The lecture: expected verdicts, wrong solvers that are refuted, and numbers by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.specs import open_problem
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import middle, number
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.verdict import Verdict
from gammabar.oracle.l1 import solve_l1
from gammabar.papers.lecture.boosting import DATA, session
from gammabar.papers.lecture.descent import (
    BendTarget,
    LogisticTarget,
    QuadraticTarget,
    targets,
)
from gammabar.papers.lecture.figures import stump_margin
from gammabar.papers.lecture.quantities import column, features, matrix, nonnegative_form
from gammabar.papers.lecture.sgd import TASKS, FiniteSum, expectation
from gammabar.problems import DenseProblem
from gammabar.solvers import Iterate, kernel_methods as kernel_algebra
from gammabar.solvers.boosting import AdaBoost, BestStump, Stump
from gammabar.solvers.descent import (
    _SLOPES,
    SGD,
    AcceleratedGradientDescent,
    Losses,
    SmoothGradientDescent,
)
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    KernelFunction,
    KernelRidge,
    Linear,
    Square,
)

MINE = {i: s for i, s in load_statements().items() if s.source == "lec" or i.startswith("gb.lec.")}


def check(
    identifier: str, solver: object = None, problem: object = None, name: str = ""
) -> Verdict:
    return check_statement(MINE[identifier], Case(problem, solver, name=name))


def refuted(identifier: str, solver: object, problem: object = None) -> bool:
    return check(identifier, solver, problem).verdict == "refuted"


small_problems = st.integers(1, 6).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            st.lists(
                st.lists(st.integers(-16, 16), min_size=d, max_size=d), min_size=n, max_size=n
            ),
            st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n),
        )
    )
)


def built(case: tuple) -> DenseProblem:
    X, y = case
    return DenseProblem(np.array(X) / 8, np.array(y))


#: The first problem of every statement; make golden runs the others, too.
CASES = [
    pytest.param(i, text, marks=pytest.mark.slow if k else ())
    for i, s in MINE.items()
    for k, text in enumerate(s.problems)
]


# What is expected


@pytest.mark.full
@pytest.mark.parametrize(("identifier", "text"), CASES)
def test_expected_verdicts(identifier: str, text: str) -> None:
    statement = MINE[identifier]
    case = Case(open_problem(text) if text else None, unit=statement.unit, name=text)
    verdict = check_statement(statement, case)
    assert verdict.verdict == statement.status
    assert verdict.checked > 0


@pytest.mark.slow
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


def test_user_solvers_with_only_t_and_w_are_checked() -> None:
    assert check("gb.lec.gd.step", Descent()).verdict == "holds"
    assert check("lec.thm1.fixed", Descent()).verdict == "holds"
    assert check("gb.lec.agd.step", Fast()).verdict == "holds"
    assert check("gb.lec.agd.rate", Fast()).verdict == "holds"


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


def test_a_start_elsewhere_and_what_cannot_be_checked_are_refuted() -> None:
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


def test_no_smaller_whole_condition_number_refutes_theorem_1() -> None:
    """The largest gap of any function is that of a quadratic, ((κ−1)/(κ+1))^{2T} B²β/2: for no
    whole κ below 9 does it exceed e^{−T/κ}/T of that."""
    assert check("lec.thm1").where.endswith("T = 2")
    with ctx.workprec(100):
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
        assert check(identifier, solver(strength), problem).verdict == "holds"
    with ctx.workprec(128):
        starts_at_the_minimum = LogisticTarget(problem, strength).optimum[1] < 1e-12
    for identifier in ("lec.thm1.fixed", "gb.lec.agd.rate"):
        solver = SmoothGradientDescent if "thm1" in identifier else AcceleratedGradientDescent
        verdict = check(identifier, solver(strength), problem).verdict
        # 0 ≤ 0 between two balls can only be proved where both are exact.
        assert verdict == "holds" or (verdict == "undecided" and starts_at_the_minimum)


# SGD


def steps(factor: float) -> SGD:
    """SGD with steps that are so many times as long."""

    class Wrong(SGD):
        def step(self, rho: float) -> float:
            return factor * super().step(rho)

    return Wrong()


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


@pytest.mark.parametrize("wrong", [steps(-1), steps(0)])
@pytest.mark.parametrize("identifier", ["lec.thm3", "lec.cor4"])
@pytest.mark.parametrize(
    "text", [pytest.param("", marks=pytest.mark.slow), "planted:n=40,d=3,gamma=0.5,seed=0"]
)
def test_expectations_refute_what_does_not_descend(wrong, identifier, text) -> None:
    assert refuted(identifier, wrong, open_problem(text) if text else None)


@pytest.mark.parametrize("wrong", [*map(steps, (-1, 0, 3, 1 + 1e-6)), Doubled(), Short()])
def test_wrong_sgd_is_refuted(wrong) -> None:
    assert refuted("gb.lec.sgd.step", wrong)
    if not isinstance(wrong, Short):
        assert refuted("gb.lec.sgd.step", wrong, open_problem("iris:1,2 --kernel rbf:gamma=0.5"))


def test_draws_that_are_not_independent_or_not_uniform_are_refuted() -> None:
    assert refuted("gb.lec.sgd.draws", Shuffled())
    assert check("gb.lec.sgd.step", Shuffled()).verdict == "holds"


def test_problems_that_the_theorems_do_not_speak_about_are_inapplicable() -> None:
    for text in ("inseparable:n=20,d=3,seed=0", "planted:n=20,d=3,gamma=0.1,seed=0"):
        assert check("lec.thm3", None, open_problem(text)).verdict == "inapplicable"
    assert check("lec.thm3", SmoothGradientDescent()).verdict == "inapplicable"


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
        assert check("gb.lec.sgd.step", None, problem).verdict == "holds"


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


# AdaBoost


def wrong_extra(**changes):
    """AdaBoost that tells something else from t = 2 on."""

    class Lying(AdaBoost):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                told = {k: f(it.extra[k]) for k, f in changes.items() if k in it.extra and it.t > 1}
                yield replace(it, extra=it.extra | told)

    return Lying()


class Tilted(AdaBoost):
    """One weight is a millionth too large."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            dual = it.dual.copy()
            dual[0] *= 1 + 1e-6
            yield replace(it, dual=dual)


class Backwards(AdaBoost):
    """Votes against its hypotheses."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, w=-it.w, votes=-it.votes)


@dataclass(frozen=True)
class FirstStump(BestStump):
    """Looks at one stump only."""

    def __call__(self, X, y):
        value = np.asarray(X)[0, 0]
        return lambda D: Stump(
            0, value, 1 if D @ (y * np.where(X[:, 0] > value, 1, -1)) > 0 else -1
        )


@pytest.mark.parametrize("key", ["D", "epsilon", "gamma", "alpha", "z", "product"])
def test_every_number_of_a_round_is_checked(key) -> None:
    assert refuted("gb.lec.adaboost.step", wrong_extra(**{key: lambda v: v * (1 + 1e-6)}))


def test_wrong_boosting_is_refuted() -> None:
    assert refuted("gb.lec.adaboost.step", Tilted())
    for identifier in ("lec.lem7", "lec.alg3.z", "gb.lec.adaboost.step"):
        assert refuted(identifier, Backwards())
    shrunk = wrong_extra(z=lambda z: z * 0.999)
    for identifier in ("lec.alg3.z", "lec.alg3.z.sum.fixed"):
        assert refuted(identifier, shrunk)
    assert refuted("lec.alg3.z.exp.fixed", wrong_extra(z=lambda z: 2 * z))
    assert refuted("gb.lec.stumps.best", AdaBoost(FirstStump()))
    assert check("gb.lec.adaboost.step", AdaBoost(FirstStump())).verdict == "holds"


def test_another_learner_has_no_best_stumps() -> None:
    other = AdaBoost(lambda X, y: lambda D: Stump(0, 1, 1))
    assert check("gb.lec.stumps.best", other).verdict == "inapplicable"
    kernel = open_problem("iris:0,1 --kernel linear")
    assert check("lec.lem7", None, kernel).verdict == "inapplicable"


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


def test_the_run_that_refutes_line_4_by_hand() -> None:
    D = [Fraction(1, 3)] * 3
    for t in range(1, 7):
        epsilon = D[2]
        assert epsilon == (Fraction(1, 3) if t == 1 else Fraction(1, 2))
        assert epsilon <= 1 - Fraction(2, 5)
        ratio = (1 - epsilon) / epsilon  # e^{2α}
        D = [D[0], D[1], D[2] * ratio]
        D = [d / sum(D) for d in D]
    assert 5 < 25 / 8 * math.log(6) < 6
    verdict = check("lec.lem7.line4")
    assert verdict.left.startswith("[0.3333333")


@pytest.mark.full
@settings(max_examples=12)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=n, max_size=n),
            st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n),
        )
    )
)
def test_boosting_is_never_refuted_on_random_problems(case) -> None:
    problem = DenseProblem(np.array(case[0]), np.array(case[1]))
    for identifier, statement in MINE.items():
        if "adaboost" in statement.solvers and statement.status == "holds":
            verdict = check(identifier, None, problem).verdict
            assert verdict in ("holds", "inapplicable") or (
                # A training error of k/n and a product that tends to it cannot be told apart.
                identifier == "lec.alg3.z" and verdict == "undecided"
            )


# Ridge regression


class OtherLambda(KernelRidge):
    """λ a millionth too large."""

    def _wrong(self):
        return KernelRidge(self.regularisation * (1 + 1e-6), self.kernel)

    def primal(self, features, y):
        return self._wrong().primal(features, y)

    def dual(self, X, y):
        return self._wrong().dual(X, y)

    def objective(self, features, y):
        return self._wrong().objective(features, y)


def test_a_wrong_lambda_is_refuted() -> None:
    for identifier in ("lec.ridge.fixed", "gb.lec.ridge.system", "gb.lec.ridge.objective"):
        assert refuted(identifier, OtherLambda())
    assert refuted("gb.lec.ridge.system", OtherLambda(), open_problem("iris:0,1"))


def test_solvers_that_are_no_ridge_regression_are_inapplicable() -> None:
    assert check("gb.lec.ridge.system", SGD()).verdict == "inapplicable"
    multiclass = open_problem("iris:0,1,2 --multiclass")
    assert check("gb.lec.ridge.system", None, multiclass).verdict == "inapplicable"


@settings(max_examples=30)
@given(small_problems)
def test_ridge_is_never_refuted_on_random_problems(case) -> None:
    assert check("gb.lec.ridge.system", None, built(case)).verdict == "holds"


# Kernels


class Cubed(Square):
    def gram(self, X, Z):
        return (X @ Z.T) ** 3


class ForgetsRoot(Square):
    def features(self, x):
        return np.array([x[0] ** 2, x[0] * x[1], x[1] ** 2], dtype=float)


class Repeats(CommonCharacters):
    """Counts pairs of places."""

    def __call__(self, x, z):
        return sum(a == b for a in x for b in z)


class Difference(KernelFunction):
    """x − x'."""

    def gram(self, X, Z):
        return X[:, :1] - Z[:, :1].T


class Distance(KernelFunction):
    """(x − x')²: symmetric, but not semidefinite."""

    def gram(self, X, Z):
        return (X[:, :1] - Z[:, :1].T) ** 2


def test_wrong_kernels_are_refuted() -> None:
    for wrong in (Cubed(), ForgetsRoot()):
        assert refuted("lec.ex9.1", wrong)
    assert refuted("lec.ex9.2.fixed", Repeats())
    for wrong in (Difference(), Distance()):
        assert refuted("lec.thm10.fixed", wrong)
    assert check("lec.thm10.fixed", Linear()).verdict == "holds"


@pytest.mark.parametrize("name", ["RankOne", "Sum", "Scaled", "Product"])
def test_wrong_operations_on_kernels_are_refuted(name) -> None:
    right = {n: getattr(kernel_algebra, n) for n in ("RankOne", "Sum", "Scaled", "Product")}

    def wrong(*arguments):
        return right["Sum"](right[name](*arguments), Distance())

    assert check("lec.thm11", SimpleNamespace(**right)).verdict == "holds"
    assert refuted("lec.thm11", SimpleNamespace(**(right | {name: wrong})))


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
def test_factors_are_found_exactly_where_the_form_is_nonnegative(rows) -> None:
    M = np.array(rows, dtype=object)
    for S in (M + M.T, M @ M.T):
        eigenvalues = np.linalg.eigvalsh(S.astype(float))
        found = features(matrix(S.tolist())) is not None
        if abs(eigenvalues[0]) > 1e-9:
            assert found == (eigenvalues[0] > 0)
    assert features(matrix((M @ M.T).tolist())) is not None


def every_stump(X: np.ndarray) -> list[Stump]:
    """All that differ on the points."""
    cuts = [(j, v) for j in range(X.shape[1]) for v in np.unique(X[:, j])[:-1].tolist()]
    return [Stump(0, -np.inf, s) for s in (1, -1)] + [
        Stump(j, v, s) for j, v in cuts for s in (1, -1)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_it_is_that_of_all_stumps_at_once(seed: int):
    rng = np.random.default_rng(seed)
    X = rng.integers(
        0, int(rng.integers(2, 6)), (int(rng.integers(2, 14)), int(rng.integers(1, 6)))
    )
    y = rng.choice([-1, 1], len(X))
    votes = np.stack([h(X) * y for h in every_stump(X)], axis=1).astype(np.int64)
    wanted = solve_l1(votes, signed=False)
    assert wanted.exact
    found = stump_margin(X, y, [])
    assert found.value == found.bound == wanted.value_lo


def test_points_that_contradict_each_other_have_no_margin():
    found = stump_margin(np.array([[1], [1]]), np.array([1, -1]), [])
    assert found.value == found.bound == Fraction(0)
