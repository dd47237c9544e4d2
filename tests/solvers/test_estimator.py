"""The classifier: scikit-learn's own checks, and the truth of what it certifies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from gammabar.oracle import solve
from gammabar.problems import from_arrays
from gammabar.solvers import MaxMarginClassifier

# Few iterations: the checks are about the interface, and most of their data are not separable.
CHECKED = [MaxMarginClassifier(max_iter=100), MaxMarginClassifier(kernel="rbf", max_iter=100)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", CHECKED, ids=["linear", "rbf"])
def test_scikit_learn_accepts_the_estimator(model):
    """Every check of check_estimator; the array-API one needs an environment variable to run."""
    skipped = []
    for estimator, check in estimator_checks_generator(model):
        try:
            check(estimator)
        except pytest.skip.Exception:
            raise
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                raise
            skipped.append(check.func.__name__)
    assert skipped in ([], ["check_array_api_input"])


def margin(X, y, model):
    """Geometric margin of a fitted linear classifier, recomputed."""
    signs = np.where(y == model.classes_[1], 1, -1)
    w = np.append(model.coef_[0], model.intercept_[0])
    points = np.hstack([X, np.ones((len(X), 1))])
    return (signs * (points @ w)).min() / np.linalg.norm(w)


def test_certified_gap_contains_the_exact_margin():
    X, y = load_digits(return_X_y=True)
    for a, b in ((0, 1), (3, 8), (8, 9)):
        keep = (y == a) | (y == b)
        model = MaxMarginClassifier(tol=0.02).fit(X[keep], y[keep])
        truth = solve(from_arrays(np.hstack([X[keep], np.ones((keep.sum(), 1))]), y[keep]))
        assert model.separable_
        assert model.margin_ <= truth.gamma_raw <= model.margin_ + model.margin_gap_
        assert model.margin_gap_ <= 0.02 * (model.margin_ + model.margin_gap_)
        assert margin(X[keep], y[keep], model) == pytest.approx(model.margin_, rel=1e-9)
        assert model.score(X[keep], y[keep]) == 1.0
        assert model.dual_coef_.sum() == pytest.approx(1.0)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 3), st.booleans())
def test_no_classifier_beats_the_certificate(seed, n, d, intercept):
    """Separable or not: γ̄, exactly computed, never exceeds what is certified."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-5, 6, (n, d)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MaxMarginClassifier(max_iter=60, fit_intercept=intercept).fit(X, y)
    points = np.hstack([X, np.ones((n, 1), int)]) if intercept else X
    truth = solve(from_arrays(points, y))
    assert max(model.margin_, 0) <= truth.gamma_raw * (1 + 1e-15)
    assert truth.gamma_raw <= model.margin_ + model.margin_gap_


def test_data_that_cannot_be_separated_end_with_a_warning_and_a_proof():
    X, y = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([1, 1, 0, 0])
    with pytest.warns(ConvergenceWarning, match="no classifier has a margin above"):
        model = MaxMarginClassifier(fit_intercept=False, max_iter=200).fit(X, y)
    assert model.separable_ is None
    pull = (model.dual_coef_ * np.where(y == 1, 1, -1)) @ X
    assert np.linalg.norm(pull) <= model.margin_ + model.margin_gap_


def test_too_few_iterations_are_admitted():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        MaxMarginClassifier(max_iter=20, tol=1e-6).fit(X[:100], y[:100])


def test_sparse_integer_and_float_data_agree():
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    fits = [
        MaxMarginClassifier().fit(data, y)
        for data in (X, X.astype(np.int64), scipy.sparse.csr_matrix(X))
    ]
    for model in fits[1:]:
        assert model.n_iter_ == fits[0].n_iter_
        assert np.allclose(model.coef_, fits[0].coef_, rtol=1e-9)


def test_several_classes():
    X, y = load_digits(return_X_y=True)
    keep = y < 3
    model = MaxMarginClassifier(tol=0.1).fit(X[keep], y[keep])
    assert model.coef_.shape == (3, 64)
    assert model.score(X[keep], y[keep]) == 1.0
    points = np.hstack([X[keep], np.ones((keep.sum(), 1))])
    truth = solve(from_arrays(points, y[keep], multiclass=True))
    assert model.margin_ <= truth.gamma_raw <= model.margin_ + model.margin_gap_


def test_kernel_classifier_separates_rings():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X, y = np.vstack([ring, 3 * ring]), np.repeat([0, 1], 40)
    model = MaxMarginClassifier(kernel="rbf", gamma=0.5, tol=0.05).fit(X, y)
    assert model.score(X, y) == 1.0
    truth = solve(from_arrays(X, y, kernel="rbf:gamma=0.5"))
    assert model.margin_ <= truth.gamma_hi
    assert truth.gamma_lo <= model.margin_ + model.margin_gap_


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"kernel": "sinc"}, "kernel"),
        ({"intercept_scaling": -1}, "intercept_scaling"),
    ],
)
def test_bad_parameters(options, place):
    with pytest.raises(ValueError, match=place):
        MaxMarginClassifier(**options).fit([[0.0], [1.0]], [0, 1])
