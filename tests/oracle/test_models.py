"""CVXPY models: they agree with the oracle, and say so when there is no margin or no answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gammabar.oracle import cvxpy_models as models, solve
from gammabar.problems import DenseProblem, from_arrays
from gammabar.problems.problem import ProblemError


def blobs():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)) + 5, np.where(np.arange(40) < 20, 1, -1)
    X[y > 0, 0] += 7
    return X, y


def assert_agrees(found, gamma, A, close=1e-6):
    """The margin is γ, q is in the simplex and proves it, and w has the margin 1/‖w‖."""
    assert found.status == "optimal"
    assert found.gamma == pytest.approx(gamma, rel=close)
    assert found.q.min() >= 0
    assert found.q.sum() == pytest.approx(1, abs=1e-14)
    assert np.linalg.norm(A.T @ found.q) == pytest.approx(gamma, rel=1e-5)
    assert np.linalg.norm(found.w) * gamma == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_plain_and_l1_margins(form, unit):
    rows = np.array([[3.0, 4.0, 1.0], [1.0, 2.0, 5.0], [9.0, -1.0, 2.0], [1.0, -2.0, 1.0]])
    problem = DenseProblem(rows, np.ones(4, np.int8))
    gamma = solve(problem).gamma_raw
    for model in (models.hard_margin_primal, models.hard_margin_dual):
        found = model(form(rows * unit))
        scaled = models.replace(found, gamma=found.gamma / unit, w=found.w * unit)
        assert_agrees(scaled, gamma, rows)
        assert (rows @ scaled.w).min() == pytest.approx(1, abs=1e-5)
    gram = models.kernel_dual(rows @ rows.T)
    assert gram.gamma == pytest.approx(gamma, rel=1e-6)
    for norm, signed in (("l1", True), ("l1-simplex", False)):
        found = models.l1_margin(form(rows * unit), signed=signed)
        expected = solve(problem, norm=norm).gamma_raw
        assert found.gamma / unit == pytest.approx(expected, rel=1e-6)
        pull = rows.T @ found.q
        assert np.max(np.abs(pull) if signed else pull) == pytest.approx(expected, rel=1e-5)
        assert np.abs(found.w).sum() <= 1 + 1e-7


def test_margins_with_a_bias_and_of_several_classes():
    X, y = blobs()
    free = solve(X, y, intercept="free")
    for model in (models.free_intercept_primal, models.free_intercept_dual):
        found = model(X, y)
        assert_agrees(found, free.gamma_raw, X * y[:, None])
        assert found.b * free.gamma_raw == pytest.approx(free.b, rel=1e-5)
        assert abs(found.q @ y) < 1e-6
    labels = np.array([0, 1, 2, 3, 0, 2, 1])
    X = np.random.default_rng(3).normal(size=(7, 6))
    truth = solve(from_arrays(X, labels, multiclass=True))
    for form in (np.array, sparse.csr_array):
        found = models.multiclass_primal(form(X), labels, 4)
        assert found.gamma == pytest.approx(truth.gamma_raw, rel=1e-6)
        assert found.w * found.gamma == pytest.approx(truth.w, abs=1e-4)
        assert found.q == pytest.approx(truth.q, abs=1e-4)


@pytest.mark.parametrize("rows", [[[1, 1], [-1, -1]], [[0, 0], [1, 0]], [[0, 0]]])
def test_inseparable_data_are_reported(rows):
    primal, dual = models.hard_margin_primal(rows), models.hard_margin_dual(rows)
    assert (primal.status, primal.gamma, primal.q, primal.w) == ("infeasible", 0.0, None, None)
    assert dual.status == "optimal"
    assert dual.gamma == pytest.approx(0, abs=1e-4)  # the tolerance is one of the square
    assert models.l1_margin(rows).gamma == pytest.approx(0, abs=1e-8)


def test_failure_of_the_solver_is_reported(monkeypatch):
    monkeypatch.setitem(models.TOLERANCES, "max_iter", 1)
    for found in (
        models.hard_margin_primal(np.eye(2)),
        models.hard_margin_dual(np.eye(2)),
        models.kernel_dual(np.eye(2)),
        models.l1_margin(np.eye(2)),
        models.multiclass_primal(np.eye(2), [0, 1], 2),
    ):
        assert found.status not in ("optimal", "infeasible")
        assert (found.solver, found.settings["max_iter"]) == ("CLARABEL", 1)


def test_what_is_no_gram_matrix_or_no_data_is_refused():
    with pytest.raises(ProblemError, match="eigenvalue -1"):
        models.kernel_dual([[1, 2], [2, 1]])
    with pytest.raises(ProblemError, match="square"):
        models.kernel_dual(np.ones((2, 3)))
    with pytest.raises(ProblemError, match="non-empty"):
        models.hard_margin_dual(np.empty((0, 3)))
