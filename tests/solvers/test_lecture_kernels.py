"""Ridge regression and the algebra of kernels of the lecture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.problems import Kernel, KernelProblem, ProblemError
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    Composed,
    KernelRidge,
    Linear,
    RankOne,
    Square,
    encode,
)


def matrices(n, d, largest=5):
    return hnp.arrays(np.int64, (n, d), elements=st.integers(-largest, largest))


@st.composite
def regressions(draw):
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    y = draw(matrices(n, 1))[:, 0]
    return draw(matrices(n, d)), y, draw(st.sampled_from([0.5, 1.0, 4.0])), draw(matrices(3, d))


@settings(max_examples=200)
@given(regressions())
def test_primal_and_dual_agree_with_each_other_and_the_objective(case):
    X, y, strength, at = case
    ridge = KernelRidge(strength)
    primal, dual, f = ridge.primal(X, y), ridge.dual(X, y), ridge.objective(X, y)
    wanted = np.linalg.solve(X.T @ X + strength * np.eye(X.shape[1]), X.T @ y)
    for w in (primal.w, X.T @ dual.alpha, f.minimiser):
        np.testing.assert_allclose(w, wanted, atol=1e-9)
    for fit in (primal, dual):
        np.testing.assert_allclose(fit.predict(at), at @ wanted, atol=1e-9)
    w = np.ones(X.shape[1])
    printed = np.sum((X @ w - y) ** 2) + strength * w @ w - np.dot(y, y)
    assert f.value(w) == pytest.approx(printed, abs=1e-9)
    # A kernel is ridge regression on its features.
    features = [Square().features(x) for x in X]
    primal = KernelRidge(strength).primal(features, y)
    for kernel in (Square(), "poly:degree=2", Kernel("poly", degree=2)):
        dual = KernelRidge(strength, kernel).dual(X, y)
        np.testing.assert_allclose(dual.predict(X), primal.predict(features), atol=1e-9)


@settings(max_examples=100)
@given(st.lists(st.text(alphabet="abcxyz", max_size=6), min_size=1, max_size=5), st.text())
def test_string_kernel_on_words_codes_and_features(some, other):
    def common(a, b):
        return sum(1 for c in set(a) if c in b)

    k, codes = CommonCharacters(), encode(some)
    assert [k(word, other) for word in some] == [common(word, other) for word in some]
    wanted = [[common(a, b) for b in some] for a in some]
    features = np.array([k.features(word) for word in some])
    assert k(codes, codes).tolist() == (features @ features.T).tolist() == wanted
    np.testing.assert_array_equal(Kernel.of(k).matrix(codes, codes), wanted)


def test_words_can_be_the_points_of_a_problem():
    """And those of the lecture have three characters in common, not two, as printed: i, n and r."""
    k, pair = CommonCharacters(), ("university", "california")
    assert k(*pair) == np.dot(*map(k.features, pair)) == 3
    some = ["abc", "bcd", "xyz", "yzx"]
    problem = KernelProblem(encode(some), np.array([1, 1, -1, -1]), Kernel.of(k))
    np.testing.assert_array_equal(problem.gram(np.arange(2)), [[3, 2], [2, 3]])
    with pytest.raises(ProblemError, match=r"U\+0000"):
        encode(["a\0"])


@settings(max_examples=100)
@given(st.integers(1, 4).flatmap(lambda d: matrices(2, d, 10**12)))
def test_square_kernel_is_the_product_of_its_features(rows):
    x, z = rows.astype(object)
    value = Square()(*rows)
    assert value == (x @ z) ** 2  # exact: no overflow
    size = float(np.dot(np.abs(x), np.abs(z)) ** 2)
    found = float(Square().features(rows[0]) @ Square().features(rows[1]))
    assert found == pytest.approx(value, abs=1e-14 * size)


@given(matrices(3, 2), matrices(1, 2))
def test_operations_are_those_of_the_values(X, z):
    a, b = Linear()(X, z), Square()(X, z)
    assert (Linear() + Square())(X, z).tolist() == (a + b).tolist()
    assert (Linear() * Square())(X, z).tolist() == (a * b).tolist()
    assert (3 * Linear())(X, z).tolist() == (Linear() * 3)(X, z).tolist() == (3 * a).tolist()
    cubes = X[:, 0] ** 3
    assert RankOne(lambda x: x[0] ** 3)(X, X).tolist() == np.outer(cubes, cubes).tolist()
    assert Composed(Linear(), lambda x: 2 * x)(X, z).tolist() == (4 * a).tolist()
    k = Linear() + Square() * CommonCharacters()
    assert all(isinstance(v, int) for v in k(X, z).ravel().tolist())
    assert k(X[0], z[0]) == k(X, z)[0, 0]
    np.testing.assert_allclose(Kernel.of(k).matrix(X, z), k(X, z).astype(float), rtol=1e-13)
