"""Ridge regression of the lecture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gammabar.problems import Kernel
from gammabar.solvers import KernelRidge


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
    features = [np.outer(x, x).ravel() for x in X]
    primal = KernelRidge(strength).primal(features, y)
    for kernel in (lambda X, Z: (X @ Z.T) ** 2, "poly:degree=2", Kernel("poly", degree=2)):
        dual = KernelRidge(strength, kernel).dual(X, y)
        np.testing.assert_allclose(dual.predict(X), primal.predict(features), atol=1e-9)
