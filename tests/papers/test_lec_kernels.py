"""The statements of the lecture on boosting, ridge regression and kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings, strategies as st
from lec_cases import MINE, built, hear, refuted, small_problems

from gammabar.harness.run.specs import open_problem
from gammabar.harness.verify.context import Case
from gammabar.papers.lecture.boosting import DATA, session
from gammabar.papers.lecture.quantities import factor, matrix, nonnegative_form
from gammabar.problems import DenseProblem
from gammabar.solvers import kernel_methods as kernel_algebra
from gammabar.solvers.boosting import AdaBoost, BestStump, Stump
from gammabar.solvers.descent import SGD
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    KernelFunction,
    KernelRidge,
    Linear,
    Square,
)

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
    assert hear("gb.lec.adaboost.step", AdaBoost(FirstStump())).verdict == "holds"


def test_another_learner_has_no_best_stumps() -> None:
    other = AdaBoost(lambda X, y: lambda D: Stump(0, 1, 1))
    assert hear("gb.lec.stumps.best", other).verdict == "inapplicable"
    kernel = open_problem("iris:0,1 --kernel linear")
    assert hear("lec.lem7", None, kernel).verdict == "inapplicable"


def test_lemma_7_is_heard_wherever_it_speaks() -> None:
    """Three points: γ_t falls to its limit, and T = ln 6/(2γ²), rounded down, comes soon."""
    X, y = DATA["three points"]
    s = session(Case(), AdaBoost(), DenseProblem(np.array(X), np.array(y)), "", 40)
    with ctx.workprec(128):
        gamma = min(0.5 - float(r.epsilon.mid()) for r in s.rounds)
        errors = {r.t: most for r, _, most in s.errors()}
    assert gamma == pytest.approx(1 / 6)
    assert math.log(6) / (2 * gamma**2) == pytest.approx(18 * math.log(6))  # 32.25…
    assert [errors[t] for t in (1, 2, 3, 32, 33)] == [1, 1, 0, 0, 0]
    assert hear("lec.lem7").checked > 40


def test_rounding_down_suffices_in_lemma_7() -> None:
    """e^{−2γ²(T−1)} ≤ √e/(2n) < 1/n, and T is at least 1, since γ ≤ ½."""
    assert math.sqrt(math.e) / 2 < 1
    assert math.floor(math.log(2) / (2 * 0.25)) == 1


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
    verdict = hear("lec.lem7.line4")
    assert verdict.left.startswith("[0.3333333")


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
            verdict = hear(identifier, None, problem).verdict
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
    assert hear("gb.lec.ridge.system", SGD()).verdict == "inapplicable"
    multiclass = open_problem("iris:0,1,2 --multiclass")
    assert hear("gb.lec.ridge.system", None, multiclass).verdict == "inapplicable"


@settings(max_examples=30)
@given(small_problems)
def test_ridge_is_never_refuted_on_random_problems(case) -> None:
    assert hear("gb.lec.ridge.system", None, built(case)).verdict == "holds"


def test_the_witness_against_the_derivation_by_hand() -> None:
    K, lam, alpha, y = 0, 1, 0, 1
    assert K * ((K + lam) * alpha - y) == 0
    assert (K + lam) * alpha != y
    assert hear("lec.ridge").where.startswith("Φ = [[0]], y = [1], λ = 1, α = ['0']")


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
    assert hear("lec.thm10.fixed", Linear()).verdict == "holds"


@pytest.mark.parametrize("name", ["RankOne", "Sum", "Scaled", "Product"])
def test_wrong_operations_on_kernels_are_refuted(name) -> None:
    right = {n: getattr(kernel_algebra, n) for n in ("RankOne", "Sum", "Scaled", "Product")}

    def wrong(*arguments):
        return right["Sum"](right[name](*arguments), Distance())

    assert hear("lec.thm11", SimpleNamespace(**right)).verdict == "holds"
    assert refuted("lec.thm11", SimpleNamespace(**(right | {name: wrong})))


def test_the_value_of_the_string_kernel() -> None:
    assert sorted(set("university") & set("california")) == ["i", "n", "r"]


def test_the_difference_has_no_features_on_any_points() -> None:
    for points in ([0, 1], [0, 1, 3], [-2, 5, 7, 11]):
        K = matrix([[x - z for z in points] for x in points])
        assert nonnegative_form(K)
        for v in ([1, -2, 0, 4], [3, 1, 1, 1]):
            v = v[: len(points)]
            form = sum(
                a * b * (x - z)
                for a, x in zip(v, points, strict=True)
                for b, z in zip(v, points, strict=True)
            )
            assert form == 0
        assert K[0, 1] == -K[1, 0] != 0


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
        found = factor(matrix(S.tolist())) is not None
        if abs(eigenvalues[0]) > 1e-9:
            assert found == (eigenvalues[0] > 0)
    assert factor(matrix((M @ M.T).tolist())) is not None
