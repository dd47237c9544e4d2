"""The exact classifier: scikit-learn's own checks, the oracle's margins, and its proofs."""

from __future__ import annotations

import json
import pickle
import re
import warnings
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import gammabar as gb
from gammabar.harness.classifier import InseparableError, MaxMarginClassifier
from gammabar.harness.classifier.hyperplanes import (
    SharedPairs,
    depths,
)
from gammabar.oracle.candidate import Candidate
from gammabar.oracle.one_vs_one import Pairs
from gammabar.oracle.result import Truth

IRIS, SPECIES = load_iris(return_X_y=True)
DIGITS, NUMBERS = load_digits(return_X_y=True)
SHARED = "gammabar.harness.classifier.estimator.shared_pairs"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"proof": False}, {"several": "ovr"}], ids=str
)
def test_scikit_learn_accepts_the_estimator(options):
    """All but one: an RBF kernel separates any points, and weights mean nothing to hard margins."""
    expected = {"check_class_weight_classifiers"} if options.get("kernel") == "rbf" else set()
    failed = set()
    for estimator, check in estimator_checks_generator(MaxMarginClassifier(**options)):
        try:
            check(estimator)
        except pytest.skip.Exception:
            raise
        except Exception as error:
            name = getattr(check, "func", check).__name__
            if name in expected:
                failed.add(name)
            elif type(error).__name__ != "SkipTest":
                raise
    assert failed == expected


def test_two_classes_are_the_support_vector_machine(tmp_path):
    X, y = IRIS[:100], SPECIES[:100]
    model = MaxMarginClassifier().fit(X, y)
    machine = SVC(kernel="linear", C=1e9, tol=1e-10).fit(X, y)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-6)
    assert model.support_.tolist() == machine.support_.tolist()
    assert np.abs(model.dual_coef_).sum() == pytest.approx(1)
    assert np.linalg.norm(model.coef_) == pytest.approx(1)
    distances = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert distances.min() == pytest.approx(model.margin_, rel=1e-12)
    assert 0 <= model.margin_gap_ < 1e-15
    truth = gb.solve(X, y, intercept=True)
    assert model.truths_[0].gamma_squared == truth.gamma_squared
    np.savez(tmp_path / "data.npz", X=X, y=np.where(y == 1, 1, -1))
    model.truths_[0].save(tmp_path / "c.json")
    assert model.certificate() == truth.certificate
    assert "free intercept" in gb.check(tmp_path / "c.json", tmp_path / "data.npz")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("make", [np.uint8, np.float64, lambda X: X * 0.37, lambda X: X * 1e-90])
def test_pairs_with_a_shared_gram_matrix_are_those_without(intercept, make, monkeypatch):
    """Same supports and margins, whatever the type and the order of the rows."""
    order = np.random.default_rng(5).permutation(400)
    X, y = make(DIGITS[order]), NUMBERS[order]
    shared = MaxMarginClassifier(proof=False, fit_intercept=intercept).fit(X, y)
    monkeypatch.setattr(SHARED, lambda *_: None)
    alone = MaxMarginClassifier(proof=False, fit_intercept=intercept).fit(X, y)
    assert shared.support_.tolist() == alone.support_.tolist()
    assert shared.dual_coef_ == pytest.approx(alone.dual_coef_, abs=1e-9)
    assert shared.margins_ == pytest.approx(alone.margins_, rel=1e-9)
    assert shared.intercept_ == pytest.approx(
        alone.intercept_, rel=1e-6, abs=1e-9 * np.abs(X).max()
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("make", [np.uint8, lambda X: X / 16])
def test_proofs_of_all_pairs_at_once_are_the_proofs_one_by_one(intercept, make, monkeypatch):
    """All 45 pairs of digits: the same doubles to the last bit, and the same fractions."""
    order = np.random.default_rng(6).permutation(len(DIGITS))
    X, y = make(DIGITS[order]), NUMBERS[order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # through the origin not all are
        shared = MaxMarginClassifier(fit_intercept=intercept).fit(X, y)
        monkeypatch.setattr(SHARED, lambda *_: None)
        alone = MaxMarginClassifier(fit_intercept=intercept).fit(X, y)
        assert all(isinstance(proof, Truth) for proof in alone._proofs_)
    assert sum(callable(proof) for proof in shared._proofs_) >= 40
    for name in ("support_", "dual_coef_", "margins_", "margin_", "margin_gap_", "separable_"):
        assert np.array_equal(getattr(shared, name), getattr(alone, name)), name
    # The nearest double or the one next to it, both.
    for name in ("coef_", "intercept_"):
        one, other = getattr(shared, name), getattr(alone, name)
        assert (np.abs(one - other) <= np.spacing(np.abs(other))).all(), name
    assert (shared.coef_ == alone.coef_).mean() > 0.99
    for one, other in zip(shared.truths_, alone.truths_, strict=True):
        assert one.gamma_squared == other.gamma_squared
        assert (one.numerators, one.total) == (other.numerators, other.total)
        assert one.certificate == other.certificate


def test_what_was_proved_stays_so_whatever_becomes_of_the_array(tmp_path):
    """The fractions are computed later, of a copy; the estimator goes through a file before."""
    keep = NUMBERS < 3
    X, y = DIGITS[keep].copy(), NUMBERS[keep]
    model = MaxMarginClassifier().fit(X, y)
    assert all(callable(proof) for proof in model._proofs_)
    X[:] = 0
    body = pickle.loads(pickle.dumps(model)).certificate()
    assert body == model.certificate()
    for (a, b), one, margin in zip(((0, 1), (0, 2), (1, 2)), body, model.margins_, strict=True):
        rows = np.isin(NUMBERS, (a, b))
        (tmp_path / "c.json").write_text(json.dumps(one))
        signs = np.where(NUMBERS[rows] == a, 1, -1)
        np.savez(tmp_path / "d.npz", X=DIGITS[rows], y=signs)
        assert "free intercept" in gb.check(tmp_path / "c.json", tmp_path / "d.npz")
        square = Fraction(*(int(v, 16) for v in one["gamma_squared"].split("/")))
        assert Fraction(margin) ** 2 < square < Fraction(np.nextafter(margin, 9.0**9)) ** 2


def test_a_shared_gram_matrix_is_used_and_not_trusted(monkeypatch):
    """Candidates come from it; a wrong one costs time and changes nothing."""
    keep = NUMBERS < 3
    X, y = DIGITS[keep], NUMBERS[keep]
    right = MaxMarginClassifier().fit(X, y)
    assert {truth.method for truth in right.truths_} == {"gram"}
    wrong = Candidate(np.array([0, 1, 5]), np.full(3, 1 / 3), 1, "wrong", True)
    monkeypatch.setattr(Pairs, "answers", lambda self: [None] * len(self.pairs))
    monkeypatch.setattr(SharedPairs, "candidate", lambda *_: wrong)
    found = MaxMarginClassifier().fit(X, y)
    assert max(truth.rounds for truth in found.truths_) > 1
    for one, other in zip(found.truths_, right.truths_, strict=True):
        assert (one.method, one.gamma_squared) == ("wrong", other.gamma_squared)
    assert found.support_.tolist() == right.support_.tolist()


def test_the_class_of_a_point_is_the_one_that_it_is_deepest_in():
    """Against the definition, point by point; a class that wins all its pairs is chosen."""
    rng = np.random.default_rng(1)
    k, circles = 5, 0
    pairs = list(combinations(range(k), 2))
    for scores in rng.standard_normal((300, len(pairs))):
        won = {c: [] for c in range(k)}
        for (a, b), score in zip(pairs, scores, strict=True):
            won[a].append(score)
            won[b].append(-score)
        found = depths(scores[None], k)[0]
        assert found.tolist() == [min(won[c]) for c in range(k)]
        winners = [c for c in range(k) if min(won[c]) > 0]
        assert winners in ([], [found.argmax()])
        circles += not winners
    assert circles > 30


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_distances_are_distances_where_the_margin_is_soft_too():
    model = MaxMarginClassifier().fit(IRIS, SPECIES)
    assert (model.margins_ > 0).tolist() == [True, True, False]
    assert np.linalg.norm(model.coef_, axis=1) == pytest.approx(1)
    expanded = MaxMarginClassifier(kernel="poly", degree=1, coef0=0.0).fit(IRIS, SPECIES)
    assert expanded.decision_function(IRIS) == pytest.approx(model.decision_function(IRIS), abs=0.1)
    gram = IRIS[expanded.support_] @ IRIS[expanded.support_].T
    for row in expanded._expansion_:
        assert row @ gram @ row == pytest.approx(1)


def test_rest_and_joint():
    keep = NUMBERS < 3
    X, y = DIGITS[keep], NUMBERS[keep]
    for several in ("ovr", "joint"):
        model = MaxMarginClassifier(several=several).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.coef_.shape == (3, 64)
    problem = gb.from_arrays(X, y, multiclass=True, intercept="augmented")
    assert model.truths_[0].gamma_squared == gb.solve(problem).gamma_squared
    assert isinstance(model.certificate(), dict)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", "callable"])
def test_kernels(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = (np.linalg.norm(X, axis=1) > 1).astype(int) + (X[:, 0] > 0.5)
    given = (X @ X.T + 1) ** 3 if kernel == "precomputed" else X
    chosen = (lambda A, B: (A @ B.T + 1) ** 3) if kernel == "callable" else kernel
    model = MaxMarginClassifier(kernel=chosen, degree=3).fit(given, y)
    if kernel != "rbf":
        assert model.predict(given).shape == y.shape
        return
    assert model.score(given, y) == 1.0
    pair = y < 2
    part = gb.from_arrays(X[pair], y[pair], kernel="rbf:gamma=1", intercept="free")
    assert model.margins_[0] == pytest.approx(gb.solve(part).gamma_raw, rel=1e-9)


def test_inseparable_data():
    X, y = IRIS[50:], SPECIES[50:]
    with pytest.warns(ConvergenceWarning, match="C = 2"):
        model = MaxMarginClassifier(soft_C=2.0).fit(X, y)
    machine = SVC(kernel="linear", C=2.0).fit(X, y)
    assert (model.predict(X) == machine.predict(X)).all()
    assert (model.margin_, model.separable_) == (0.0, False)
    assert model.certificate()["kind"] == "inseparable"
    with pytest.raises(InseparableError, match="cannot be separated") as error:
        MaxMarginClassifier(inseparable="error").fit(X, y)
    assert error.value.certificate["kind"] == "inseparable"
    with pytest.warns(ConvergenceWarning):
        model = MaxMarginClassifier(kernel="poly", degree=1, fit_intercept=False).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.warns(ConvergenceWarning, match="through the origin"):
        MaxMarginClassifier(fit_intercept=False).fit(X, y)
    with pytest.raises(InseparableError):
        MaxMarginClassifier(several="joint").fit(np.zeros((3, 1)), [0, 1, 2])


def test_the_iterative_solver_by_name():
    X, y = IRIS[:100], SPECIES[:100]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaxMarginClassifier(solver="dual-acceleration", tol=0.05).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.margin_gap_ > 0
    augmented = gb.solve(X, y, intercept="augmented")
    assert model.margin_ <= augmented.gamma_raw <= model.margin_ + model.margin_gap_


def test_rows_of_weight_zero_do_not_count_to_the_iterative_solver():
    X, y = IRIS[:100], SPECIES[:100]
    weights = np.random.default_rng(3).integers(0, 4, len(y)) * 0.7
    model = MaxMarginClassifier(solver="dual-acceleration").fit(X, y, weights)
    alone = MaxMarginClassifier(solver="dual-acceleration").fit(X[weights > 0], y[weights > 0])
    assert (model.coef_ == alone.coef_).all()
    assert (model.intercept_, model.margin_) == (alone.intercept_, alone.margin_)


@pytest.mark.parametrize(
    ("kernel", "several"),
    [*product(["linear", "rbf", "precomputed"], ["ovo", "ovr"]), ("linear", "joint")],
)
def test_weights_of_several_classes(kernel, several):
    """A class of weight zero is not there; the others' weights make no difference."""
    keep = NUMBERS < 4
    X, y = DIGITS[keep][::3], NUMBERS[keep][::3]
    given, rest = (X, X[y != 2])
    if kernel == "precomputed":
        given, rest = X @ X.T, X[y != 2] @ X[y != 2].T
    options = {"kernel": kernel, "several": several, "gamma": 1e-3, "proof": several == "joint"}
    model = MaxMarginClassifier(class_weight={0: 3, 1: 0.5, 2: 0, 3: 1}, **options).fit(given, y)
    alone = MaxMarginClassifier(**options).fit(rest, y[y != 2])
    assert model.classes_.tolist() == [0, 1, 3]
    assert model.support_.tolist() == np.flatnonzero(y != 2)[alone.support_].tolist()
    others = given[:, y != 2] if kernel == "precomputed" else given
    assert (model.decision_function(given) == alone.decision_function(others)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [True, False])
def test_an_error_costs_its_weight_where_the_margin_is_soft(intercept):
    X, y = IRIS[50:], SPECIES[50:]
    model = MaxMarginClassifier(class_weight={1: 9, 2: 0.5}, fit_intercept=intercept).fit(X, y)
    assert (model.predict(X)[y == 1] == 1).all()
    other = MaxMarginClassifier(fit_intercept=intercept).fit(X, y, np.where(y == 1, 0.5, 9))
    assert (other.predict(X)[y == 2] == 2).all()
    balanced = MaxMarginClassifier(class_weight="balanced", fit_intercept=intercept).fit(X, y)
    plain = MaxMarginClassifier(fit_intercept=intercept).fit(X, y)  # 50 rows of each
    assert balanced.coef_ == pytest.approx(plain.coef_)


@pytest.mark.parametrize(
    ("options", "weights", "words"),
    [
        ({}, [1, 1, -2, 1], "that of row 2"),
        ({}, [0, 0, 0, 0], "at least one non-zero"),
        ({}, [1, 1, 0, 0], "of one class only"),
        ({}, [1, 1, 1], "sample_weight"),
        ({}, [1, 1, np.nan, 1], "NaN"),
        ({"class_weight": {0: -1, 1: 1}}, None, "class_weight of 0"),
        ({"class_weight": {0: 0, 1: 1}}, None, "of one class only"),
        ({"class_weight": {0: 0, 1: 0}}, None, "all rows have weight zero"),
        ({"class_weight": "even"}, None, "'class_weight' parameter"),
    ],
)
def test_bad_weights(options, weights, words):
    with pytest.raises(ValueError, match=words):
        MaxMarginClassifier(**options).fit([[0], [1], [2], [3]], [0, 0, 1, 1], weights)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "magic"}, "'solver' parameter"),
        ({"several": "all"}, "several"),
        ({"inseparable": "maybe"}, "inseparable"),
        ({"soft_C": 0.0}, "soft_C"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        MaxMarginClassifier(**options).fit(IRIS, SPECIES)


def test_no_certificate_without_proof():
    with pytest.raises(ValueError, match="proof=True"):
        MaxMarginClassifier(proof=False).fit(IRIS[:100], SPECIES[:100]).certificate()


FRAME = load_iris(as_frame=True).data[:100]


def frame(**columns):
    """The first two species with some columns exchanged."""
    return FRAME.assign(**columns)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("intercept", [True, False])
def test_data_frames_are_their_arrays(kernel, intercept):
    """Whatever the types of their columns; and the order of the columns is checked."""
    options = {"kernel": kernel, "fit_intercept": intercept, "gamma": 0.5, "degree": 2}
    first = FRAME.columns[0]
    mixed = frame(
        **{
            first: (FRAME[first] * 10).round().astype("Int64"),
            FRAME.columns[1]: FRAME[FRAME.columns[1]] > 3,
            FRAME.columns[2]: FRAME[FRAME.columns[2]].astype("float32"),
        }
    )
    shuffled = np.random.default_rng(0).permutation(100)
    named = pd.Series(SPECIES[:100]).map({0: "setosa", 1: "versicolor"})
    model = MaxMarginClassifier(**options).fit(mixed.iloc[shuffled], named.iloc[shuffled])
    array = mixed.to_numpy(np.float64)
    plain = MaxMarginClassifier(**options).fit(array[shuffled], SPECIES[:100][shuffled])
    assert (model.margin_, model.support_.tolist()) == (plain.margin_, plain.support_.tolist())
    assert model.feature_names_in_.tolist() == FRAME.columns.tolist()
    assert model.predict(mixed).tolist() == named.tolist()
    with pytest.raises(ValueError, match="same order"):
        model.predict(mixed[mixed.columns[::-1]])
    with pytest.raises(ValueError, match="now missing"):
        model.predict(mixed.iloc[:, :3])
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (model.decision_function(array) == model.decision_function(mixed)).all()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "column 'petal width (cm)' has no value in row 7"),
        (np.inf, "column 'petal width (cm)', row 7"),
        ("wide", "column 'petal width (cm)' of X has 'wide' in row 7, not a number"),
        (None, "column 'petal width (cm)' has no value in row 7"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"solver": "dual-acceleration"}])
def test_a_bad_value_of_a_data_frame_is_named(value, words, options):
    column = FRAME["petal width (cm)"].astype(object)
    column.iloc[7] = value
    bad, y = frame(**{"petal width (cm)": column}), SPECIES[:100]
    with pytest.raises(ValueError, match=re.escape(words)):
        MaxMarginClassifier(**options).fit(bad, y)
    model = MaxMarginClassifier(**options).fit(FRAME, y)
    with pytest.raises(ValueError, match=re.escape(words)):
        model.predict(bad)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("exponent", [-900, -40, 0, 13, 66, 530, 1000])
def test_soft_margins_do_not_depend_on_the_size_of_the_numbers(exponent, intercept):
    """Bounded in time, of norm one, and the same hyperplane as of rows of length one."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((17, 2)), rng.integers(0, 2, 17)
    with pytest.warns(ConvergenceWarning, match="support vector machine with C = "):
        model = MaxMarginClassifier(fit_intercept=intercept).fit(np.ldexp(X, exponent), y)
    assert np.linalg.norm(model.coef_) == pytest.approx(1)
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.dual_coef_).all()
    cost = 2.0 ** min(max(2 * exponent, -20), 13)
    with pytest.warns(ConvergenceWarning):
        alike = MaxMarginClassifier(fit_intercept=intercept, soft_C=cost).fit(X, y)
    assert model.coef_ == pytest.approx(alike.coef_, abs=0.02)
