"""CVXPY models: hand-checked margins, duality, and what they say when there is no margin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from gammabar.oracle import cvxpy_models as models
from gammabar.oracle.cvxpy_models import (
    hard_margin_dual,
    hard_margin_primal,
    kernel_dual,
    l1_margin,
    multiclass_primal,
)
from gammabar.problems.problem import ProblemError

CLOSE = 1e-7

#: Rows, their margin, a distribution that proves it, and the ℓ₁ margins (signed, in the simplex).
BY_HAND = [
    pytest.param([[1, 0], [0, 1]], math.sqrt(0.5), [0.5, 0.5], 0.5, 0.5, id="axes"),
    pytest.param([[3, 4]], 5.0, [1.0], 4.0, 4.0, id="one row"),
    pytest.param([[3, -4]], 5.0, [1.0], 4.0, 3.0, id="one row, mixed signs"),
    # The foot of the perpendicular from the origin on the segment is (1, 1); the third row is far.
    pytest.param([[2, 0], [0, 2], [5, 5]], math.sqrt(2), [0.5, 0.5, 0], 1.0, 1.0, id="far row"),
    pytest.param([[1, 2], [1, -1]], 1.0, [1 / 3, 2 / 3], 1.0, 1.0, id="unequal weights"),
]


@pytest.mark.parametrize(("rows", "gamma", "q", "_signed", "_simplex"), BY_HAND)
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_primal_and_dual_by_hand(rows, gamma, q, _signed, _simplex, form, unit):
    A = form(np.array(rows, dtype=float) * unit)
    for model in (hard_margin_primal, hard_margin_dual):
        result = model(A)
        assert result.status == "optimal"
        assert result.gamma / unit == pytest.approx(gamma, rel=CLOSE)
        assert result.q == pytest.approx(q, abs=1e-5)
        assert result.q.min() >= 0
        assert result.q.sum() == pytest.approx(1, abs=1e-14)
        assert np.min((A / unit) @ (result.w * unit)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("rows", "_gamma", "_q", "signed", "simplex"), BY_HAND)
@pytest.mark.parametrize("unit", [1, 1e-300])
def test_l1_by_hand(rows, _gamma, _q, signed, simplex, unit):
    A = np.array(rows, dtype=float) * unit
    ball, delta = l1_margin(A), l1_margin(A, signed=False)
    assert ball.status == delta.status == "optimal"
    assert ball.gamma / unit == pytest.approx(signed, rel=CLOSE)
    assert delta.gamma / unit == pytest.approx(simplex, rel=CLOSE)
    assert np.abs(ball.w).sum() <= 1 + CLOSE
    assert np.max(np.abs(A.T @ ball.q)) / unit == pytest.approx(signed, rel=1e-6)
    assert np.max(A.T @ delta.q) / unit == pytest.approx(simplex, rel=1e-6)


@pytest.mark.parametrize("rows", [[[1, 1], [-1, -1]], [[0, 0], [1, 0]], [[0, 0]]])
def test_inseparable_data_are_reported(rows):
    primal, dual, signed = hard_margin_primal(rows), hard_margin_dual(rows), l1_margin(rows)
    assert primal.status == "infeasible"
    assert (primal.gamma, primal.q, primal.w) == (0.0, None, None)
    assert dual.status == "optimal"
    assert dual.gamma == pytest.approx(0, abs=1e-4)  # the tolerance is one of the square
    assert signed.gamma == pytest.approx(0, abs=1e-8)


def test_failure_of_the_solver_is_reported(monkeypatch):
    monkeypatch.setitem(models.TOLERANCES, "max_iter", 1)
    for result in (
        hard_margin_primal(np.eye(2)),
        hard_margin_dual(np.eye(2)),
        kernel_dual(np.eye(2)),
        l1_margin(np.eye(2)),
        multiclass_primal(np.eye(2), [0, 1], 2),
    ):
        assert result.status not in ("optimal", "infeasible")
        assert result.settings["max_iter"] == 1


def test_settings_are_named():
    result = hard_margin_dual(np.eye(2))
    assert result.solver == "CLARABEL"
    assert {"tol_gap_abs", "tol_gap_rel", "tol_feas"} <= set(result.settings)


def test_kernel_dual_refuses_what_is_no_gram_matrix():
    with pytest.raises(ProblemError, match="eigenvalue -1"):
        kernel_dual([[1, 2], [2, 1]])
    with pytest.raises(ProblemError, match="square"):
        kernel_dual(np.ones((2, 3)))
    with pytest.raises(ProblemError, match="non-empty"):
        hard_margin_dual(np.empty((0, 3)))


def materialised(X: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """The rows x_i (e_c − e_j)ᵀ/√2 of Ji, Srebro and Telgarsky 2021, Section 5.2, one by one."""
    rows = []
    for x, c in zip(X, labels, strict=True):
        for j in range(k):
            if j != c:
                e = np.zeros(k)
                e[c], e[j] = 1, -1
                rows.append(np.outer(x, e).ravel() / math.sqrt(2))
    return np.array(rows)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_multiclass_is_the_reduction(form):
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(7, 6)), np.array([0, 1, 2, 3, 0, 2, 1])
    result = multiclass_primal(form(X), labels, 4)
    rows = materialised(X, labels, 4)
    reduced = hard_margin_dual(rows)
    assert result.gamma == pytest.approx(reduced.gamma, rel=1e-6)
    assert result.w == pytest.approx(reduced.w, abs=1e-4 * np.linalg.norm(reduced.w))
    # q is in the order of the rows, so it proves the margin on them.
    assert np.linalg.norm(rows.T @ result.q) == pytest.approx(result.gamma, rel=1e-5)
