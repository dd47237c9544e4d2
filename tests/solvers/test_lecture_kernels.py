"""Ridge regression and the algebra of kernels of the lecture."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference import lecture

from gammabar.problems import Kernel, KernelProblem, ProblemError
from gammabar.solvers.descent import SmoothGradientDescent
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    Composed,
    KernelRidge,
    Linear,
    RankOne,
    Square,
    encode,
    negative_direction,
)

WHOLE = st.integers(-5, 5)


def matrices(n, d, elements=WHOLE):
    return st.lists(st.lists(elements, min_size=d, max_size=d), min_size=n, max_size=n)


# Ridge regression


@st.composite
def regressions(draw):
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = draw(matrices(n, d))
    y = draw(st.lists(WHOLE, min_size=n, max_size=n))
    return X, y, draw(st.sampled_from([0.5, 1.0, 4.0]))


def exact(matrix):
    return [[Fraction(v) for v in row] for row in matrix]


@settings(max_examples=200)
@given(regressions(), st.data())
def test_primal_and_dual_agree_with_the_reference_and_each_other(case, data):
    X, y, strength = case
    at = data.draw(matrices(3, len(X[0])))
    Phi, right = exact(X), [Fraction(v) for v in y]
    w = lecture.ridge_primal(Phi, right, Fraction(strength))
    K = [[lecture.dot(a, b) for b in Phi] for a in Phi]
    alpha = lecture.ridge_dual(K, right, Fraction(strength))
    # w* = Φᵀα, exactly.
    assert w == [lecture.dot(column, alpha) for column in lecture.transpose(Phi)]
    ridge = KernelRidge(strength)
    primal, dual = ridge.primal(X, y), ridge.dual(X, y)
    np.testing.assert_allclose(primal.w, [float(v) for v in w], atol=1e-10)
    np.testing.assert_allclose(dual.alpha, [float(v) for v in alpha], atol=1e-10)
    predictions = [float(lecture.dot(w, x)) for x in exact(at)]
    np.testing.assert_allclose(primal.predict(at), predictions, atol=1e-9)
    np.testing.assert_allclose(dual.predict(at), predictions, atol=1e-9)


@settings(max_examples=100)
@given(regressions())
def test_square_kernel_is_ridge_on_its_features(case):
    X, y, strength = case
    features = [Square().features(x) for x in X]
    primal = KernelRidge(strength).primal(features, y)
    for kernel in (Square(), "poly:degree=2", Kernel("poly", degree=2)):
        dual = KernelRidge(strength, kernel).dual(X, y)
        np.testing.assert_allclose(dual.predict(X), primal.predict(features), atol=1e-9)


@settings(max_examples=50)
@given(regressions())
def test_gradient_descent_stays_in_the_span_and_finds_the_minimiser(case):
    X, y, strength = case
    ridge = KernelRidge(strength)
    f, w = ridge.objective(X, y), ridge.primal(X, y).w
    np.testing.assert_allclose(f.minimiser, w, atol=1e-9)
    at = np.ones(len(w))
    printed = np.sum((np.array(X) @ at - y) ** 2) + strength * at @ at - np.dot(y, y)
    assert f.value(at) == pytest.approx(printed, abs=1e-9)
    alpha = np.zeros(len(y))
    eta = 2 / (f.smoothness + f.strong_convexity)
    for it in islice(SmoothGradientDescent().iterates(f), 8):
        np.testing.assert_allclose(it.w, np.array(X).T @ alpha, atol=1e-9)
        alpha = alpha - eta * 2 * (np.array(X) @ it.w - y + strength * alpha)


# Kernels

words = st.text(alphabet="abcxyz", max_size=6)


@settings(max_examples=200)
@given(st.text(max_size=8), st.text(max_size=8))
def test_string_kernel_is_its_definition(first, second):
    assert CommonCharacters()(first, second) == lecture.common_characters(first, second)


@settings(max_examples=100)
@given(st.lists(words, min_size=1, max_size=5))
def test_string_kernel_on_codes_is_that_on_words_and_that_of_its_features(some):
    k = CommonCharacters()
    wanted = [[lecture.common_characters(a, b) for b in some] for a in some]
    assert k(encode(some), encode(some)).tolist() == wanted
    features = [k.features(word) for word in some]
    assert [[lecture.dot(a, b) for b in features] for a in features] == wanted
    np.testing.assert_array_equal(Kernel.of(k).matrix(encode(some), encode(some)), wanted)
    assert negative_direction(wanted) is None


def test_the_two_words_have_three_characters_in_common():
    """Not two, as printed: i, n and r."""
    k, pair = CommonCharacters(), ("university", "california")
    assert k(*pair) == lecture.common_characters(*pair) == 3
    assert lecture.dot(*(k.features(word) for word in pair)) == 3


def test_words_can_be_the_points_of_a_problem():
    some = ["abc", "bcd", "xyz", "yzx"]
    problem = KernelProblem(encode(some), np.array([1, 1, -1, -1]), Kernel.of(CommonCharacters()))
    np.testing.assert_array_equal(problem.gram(np.arange(2)), [[3, 2], [2, 3]])
    with pytest.raises(ProblemError, match=r"U\+0000"):
        encode(["a\0"])


@settings(max_examples=100)
@given(st.integers(1, 4).flatmap(lambda d: matrices(2, d, st.integers(-(10**12), 10**12))))
def test_square_kernel_is_the_product_of_its_features(rows):
    x, z = rows
    value = Square()(np.array(x), np.array(z))
    assert value == lecture.dot(x, z) ** 2  # exact: no overflow
    d = len(x)
    # The same with √2·√2 = 2 put in by hand, exactly.
    pairs = sum(
        x[i] * x[j] * z[i] * z[j] * (1 if i == j else 2) for i in range(d) for j in range(i, d)
    )
    assert value == pairs
    size = float(np.dot(np.abs(x).astype(float), np.abs(z)) ** 2)
    assert float(Square().features(x) @ Square().features(z)) == pytest.approx(
        value, abs=1e-14 * size
    )


KERNELS = st.recursive(
    st.sampled_from(
        [
            Linear(),
            Square(),
            CommonCharacters(),
            RankOne(lambda x: x[0] - 3),
            RankOne(lambda x: abs(x[-1])),
            Composed(Linear(), lambda x: [x[0] * x[-1], x[0] + 1]),
        ]
    ),
    lambda k: st.one_of(
        st.builds(lambda a, b: a + b, k, k),
        st.builds(lambda a, b: a * b, k, k),
        st.builds(lambda c, a: c * a, st.integers(0, 3), k),
        st.builds(lambda c, a: a * c, st.integers(0, 3), k),
    ),
    max_leaves=4,
)


@settings(max_examples=200)
@given(KERNELS, st.integers(1, 4).flatmap(lambda n: matrices(n, 2)))
def test_kernels_are_closed_under_their_algebra(k, rows):
    """Theorems 10 and 11: every Gram matrix is positive semidefinite, proved in fractions."""
    X = np.array(rows)
    K = k(X, X)
    assert all(isinstance(v, int) for v in K.ravel().tolist())
    assert negative_direction(K) is None
    assert lecture.is_semidefinite(K.tolist())
    assert k(X[0], X[-1]) == K[0, -1]
    np.testing.assert_allclose(Kernel.of(k).matrix(X, X), K.astype(float), rtol=1e-13)


@given(matrices(3, 2), matrices(1, 2))
def test_operations_are_those_of_the_values(rows, other):
    X, z = np.array(rows), np.array(other)
    a, b = Linear()(X, z), Square()(X, z)
    assert (Linear() + Square())(X, z).tolist() == (a + b).tolist()
    assert (Linear() * Square())(X, z).tolist() == (a * b).tolist()
    assert (3 * Linear())(X, z).tolist() == (Linear() * 3)(X, z).tolist() == (3 * a).tolist()
    f = [x[0] ** 3 for x in rows]
    assert RankOne(lambda x: x[0] ** 3)(X, X).tolist() == [[u * v for v in f] for u in f]
    doubled = Composed(Linear(), lambda x: 2 * x)
    assert doubled(X, z).tolist() == (4 * a).tolist()


def test_a_negative_factor_is_refused():
    for factor in (-1, -0.5, math.nan, math.inf):
        with pytest.raises(ProblemError, match="no kernel"):
            factor * Linear()
    assert negative_direction(-Linear()(np.eye(2), np.eye(2))) is not None


@st.composite
def symmetric(draw):
    """Often semidefinite and singular, otherwise anything."""
    n = draw(st.integers(1, 4))
    M = np.array(draw(matrices(n, draw(st.integers(1, 4)), st.integers(-2, 2))), dtype=object)
    if draw(st.booleans()):
        K = M @ M.T
        change = draw(st.integers(-1, 1))
        i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        K[i, j] += change
        K[j, i] = K[i, j]
        return K.tolist()
    upper = draw(matrices(n, n, st.integers(-2, 2)))
    return [[upper[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


@settings(max_examples=500)
@given(symmetric())
def test_semidefiniteness_is_decided_with_a_witness(K):
    v = negative_direction(K)
    assert (v is None) == lecture.is_semidefinite(K)
    if v is not None:
        assert lecture.dot(v, [lecture.dot(row, v) for row in exact(K)]) < 0


def test_floats_are_the_rationals_that_they_are():
    assert negative_direction([[0.1, 0.1], [0.1, 0.1]]) is None
    assert negative_direction([[0.1, 0.1], [0.1, math.nextafter(0.1, 0)]]) is not None
    with pytest.raises(ProblemError, match="symmetric"):
        negative_direction([[1, 2], [0, 1]])
