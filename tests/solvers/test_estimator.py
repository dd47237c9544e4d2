"""The classifier: scikit-learn's own checks, and the truth of what it certifies."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from flint import arb, ctx
from geometry_cases import balls
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

import gammabar as gb
from gammabar.oracle import solve
from gammabar.problems import from_arrays
from gammabar.problems.conversion import with_constant

MaxMarginClassifier = partial(gb.MaxMarginClassifier, solver="dual-acceleration")

# Few iterations: the checks are about the interface, and most of their data are not separable.
CHECKED = [MaxMarginClassifier(max_iter=100), MaxMarginClassifier(kernel="rbf", max_iter=100)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", CHECKED, ids=["linear", "rbf"])
def test_scikit_learn_accepts_the_estimator(model):
    """All but those of weights: iterates stop before repeated rows have lost their influence."""
    for estimator, check in estimator_checks_generator(model):
        if "weight" in getattr(check, "func", check).__name__:
            continue
        try:
            check(estimator)
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                raise
            assert check.func.__name__ == "check_array_api_input"  # needs an environment variable


def with_ones(X):
    return np.hstack([X, np.ones((len(X), 1), X.dtype)])


def digits(*classes):
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, classes)
    return X[keep], y[keep]


@pytest.mark.parametrize("classes", [(0, 1), (3, 8), (8, 9), (0, 1, 2)])
def test_certified_gap_contains_the_exact_margin(classes):
    X, y = digits(*classes)
    tol = 0.02 if len(classes) == 2 else 0.1
    model = MaxMarginClassifier(tol=tol).fit(X, y)
    truth = solve(from_arrays(with_ones(X), y, multiclass=len(classes) > 2))
    assert (model.separable_, model.score(X, y)) == (True, 1.0)
    assert model.margin_ <= truth.gamma_raw <= model.margin_ + model.margin_gap_
    assert model.margin_gap_ <= tol * (model.margin_ + model.margin_gap_)
    if len(classes) > 2:
        assert model.coef_.shape == (3, 64)
        return
    w, signs = np.append(model.coef_[0], model.intercept_[0]), np.where(y == classes[1], 1, -1)
    attained = (signs * (with_ones(X) @ w)).min() / np.linalg.norm(w)
    assert attained == pytest.approx(model.margin_, rel=1e-9)
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
    truth = solve(from_arrays(with_ones(X) if intercept else X, y))
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
    X, y = digits(0, 1)
    first = MaxMarginClassifier().fit(X, y)
    for data in (X.astype(np.int64), scipy.sparse.csr_matrix(X)):
        model = MaxMarginClassifier().fit(data, y)
        assert model.n_iter_ == first.n_iter_
        assert np.allclose(model.coef_, first.coef_, rtol=1e-9)


@pytest.mark.full
def test_kernel_classifier_separates_rings():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X, y = np.vstack([ring, 3 * ring]), np.repeat([0, 1], 40)
    model = MaxMarginClassifier(kernel="rbf", gamma=0.5, tol=0.05).fit(X, y)
    assert model.score(X, y) == 1.0
    truth = solve(from_arrays(X, y, kernel="rbf:gamma=0.5"))
    assert model.margin_ <= truth.gamma_hi
    assert truth.gamma_lo <= model.margin_ + model.margin_gap_


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from((1e-1, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)),
    st.sampled_from((0.1, 1.0, 30.0)),
    st.sampled_from((np.float64, np.float32, np.uint8, np.int64)),
    st.sampled_from(("rbf", "poly")),
    st.sampled_from((0.0, 1.0, 100.0)),
)
def test_bounds_of_kernels_hold_for_points_close_to_each_other(seed, h, gamma, dtype, name, away):
    """The margin of two classes at a distance h is about h: what rounding does to it is counted."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    if dtype in (np.uint8, np.int64):
        X = rng.integers(0, 3, (n, 2)).astype(dtype) + dtype(200)
        gamma *= h
    else:
        X = (away + h * rng.standard_normal((n, 2))).astype(dtype)
    y = np.resize([0, 1], n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MaxMarginClassifier(kernel=name, gamma=gamma, degree=2, max_iter=40).fit(X, y)
    before, ctx.prec = ctx.prec, 500
    try:
        points, signs = balls(X), np.where(y == 1, 1, -1)
        if name == "rbf":
            squares = ((points[:, None] - points) ** 2).sum(axis=-1)
            G = np.exp(-arb(gamma) * squares)
        else:
            G = (arb(gamma) * (points @ points.T) + 1) ** 2
        G = G * np.outer(signs, signs)
        alpha, q = balls(model._expansion_[0] * signs), balls(model.dual_coef_)
        attained = min(G @ alpha, key=lambda v: float(v.mid())) / (alpha @ G @ alpha).sqrt()
        assert not bool(arb(model.margin_) > attained)
        square = q @ G @ q
        limit = square.sqrt() / q.sum() if square > 0 else arb(0)  # no margin is above it
        assert not bool(arb(model.margin_ + model.margin_gap_) < limit)
    finally:
        ctx.prec = before


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.bool_, np.int64, np.float32, np.float16])
@pytest.mark.parametrize("scaling", [1.0, 2, 300.0, 70_000, 2**24 + 1, 2.0**40, 0.1, 1e30, 2**63])
@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_matrix])
def test_the_constant_feature_is_what_was_asked_for(dtype, scaling, store):
    if store is scipy.sparse.csr_matrix and dtype is np.float16:
        pytest.skip("SciPy has no sparse matrices of float16")
    X, y = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype), [0, 1, 1]
    extended = with_constant(store(X), scaling)
    extended = extended.toarray() if scipy.sparse.issparse(extended) else extended
    assert [Fraction(v) for v in extended[:, -1].tolist()] == [Fraction(scaling)] * 3
    np.testing.assert_array_equal(extended[:, :-1], X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MaxMarginClassifier(intercept_scaling=scaling, max_iter=20).fit(store(X), y)
    truth = solve(from_arrays(extended, y))
    assert model.margin_ <= truth.gamma_raw * (1 + 1e-15)
    assert truth.gamma_raw <= (model.margin_ + model.margin_gap_) * (1 + 1e-15)


LARGE = [[2**60 + 1, 0], [1, 2]]


@pytest.mark.parametrize(
    ("options", "X"),
    [
        ({"tol": 0}, [[0.0], [1.0]]),
        ({"max_iter": 0}, [[0.0], [1.0]]),
        ({"kernel": "sinc"}, [[0.0], [1.0]]),
        ({"intercept_scaling": -1}, [[0.0], [1.0]]),
        ({"intercept_scaling": float("inf")}, [[0.0], [1.0]]),
        ({"intercept_scaling": 0.5}, LARGE),  # would round the data
    ],
)
def test_bad_parameters(options, X):
    with pytest.raises(ValueError, match=next(iter(options))):
        MaxMarginClassifier(**options).fit(np.array(X), [0, 1])
