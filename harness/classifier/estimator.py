"""The maximum-margin classifier as a scikit-learn estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gammabar.harness.classifier.certified_run import certified_run, margin_and_gap
from gammabar.harness.classifier.hyperplanes import (
    Array,
    Hyperplane,
    depths,
    guessed,
    octets,
    proved,
    shared_pairs,
    soft_margin,
)
from gammabar.oracle.candidate import Candidate
from gammabar.oracle.maximum_margin import solve
from gammabar.oracle.result import Truth, signed_bounds
from gammabar.problems import Kernel, KernelProblem, MulticlassProblem, Problem
from gammabar.problems.conversion import from_arrays, with_constant, with_intercept
from gammabar.problems.exact import same_numbers

#: Bytes of the data up to which they are copied, for proofs to be written down later.
COPIED = 1 << 28


class InseparableError(ValueError):
    """The data cannot be separated. `certificate` proves it."""

    def __init__(self, message: str, certificate: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class MaxMarginClassifier(ClassifierMixin, BaseEstimator):
    """The exact maximum-margin classifier, with proof. No regularisation, no iteration limit.

    Parameters
    ----------
    solver : {"exact", "dual-acceleration"}, default="exact"
        "exact" asks the oracle. "dual-acceleration" is Algorithm 1 of Ji, Srebro and Telgarsky
        (2021), stopped when its margin is proved to be within `tol` of the maximum; see the notes.
    proof : bool, default=True
        Whether the result is proved in exact arithmetic. Without proof it is what floating point
        found: the same, as a rule.
    fit_intercept : bool, default=True
        A free intercept: the margin counts w alone, as in textbooks. (With the joint margin of
        several classes: a constant feature.)
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        The exact solver has them for several classes too ("ovo" and "ovr").
    gamma, degree, coef0 : float, int, float
        Parameters of the kernel, (γ⟨x, z⟩ + coef0)^degree or exp(−γ‖x − z‖²).
    several : {"ovo", "ovr", "joint"}, default="ovo"
        More than two classes: a classifier for each pair, for each class against the rest, or the
        joint margin of the first paper, Section 5.2 (linear).
    inseparable : {"soft", "error"}, default="soft"
        What to do where no hyperplane separates two sets: warn and take the support vector machine
        with `soft_C`, which minimises ½‖w‖² + soft_C Σ max(0, 1 − y f(x)); or raise
        `InseparableError`. Either way the proof is at hand.
    soft_C : float, default=1.0
        Used where the data are inseparable, and nowhere else. It depends on the units of the data:
        on data 10⁴ times as large, the same value acts like one that is 10⁸ times as large. A
        large value takes long, so the search is bounded: a `soft_C` that is too large for it is
        lowered, and the warning says to what.
    class_weight : dict or "balanced", optional
        Weights of the classes; see the notes.
    n_jobs : int, optional
        Threads for several hyperplanes.
    verbose : bool, default=False
        Print each cost that the search for a soft margin tries, which may take a while.
    tol : float, default=0.01
        "dual-acceleration" stops when the margin is proved to be at least (1 − tol) times the
        largest possible,
    max_iter : int, default=10000
        or after so many iterations; each is one pass over the data.
    intercept_scaling : float, default=1.0
        Value of the constant feature of "dual-acceleration".

    Attributes
    ----------
    classes_ : array
    coef_, intercept_ : arrays
        A row for each hyperplane, of norm one (linear kernel): f(x) is a signed distance.
    margin_ : float
        The largest double that is proved not to exceed the smallest margin of a hyperplane, in the
        units of the data; 0 if something is inseparable.
    margins_ : array
        Those of all hyperplanes. Pairs come in the order (0, 1), (0, 2), …, (1, 2), …
    margin_gap_ : float
        Proved: the largest possible margins are not above the margins plus this.
    support_ : array
        Rows with positive dual weight in some hyperplane.
    dual_coef_ : array of shape (hyperplanes, rows of support)
        y_i q_i: dual weights with their signs; their sizes add up to one.
    separable_ : bool or None
        Whether all sets are separable; None if that is not known (no proof, or an enclosure).
    truths_ : list of Truth
        What the oracle said of each hyperplane (with `proof`). Where data are small integers, `fit`
        proves which rows the support is, and with that all numbers above; γ̄² and q̄ as fractions
        are computed when they or the certificates are asked for, from a copy of the data.

    Notes
    -----
    Weights of rows (``sample_weight``) and of classes (``class_weight``, which multiplies those of
    its rows) mean to a hard margin what they must: a row of weight zero is as good as not there,
    and all positive weights are alike, as a row that is there twice changes nothing. Where the data
    are inseparable and the margin is soft, a row's error costs soft_C times its weight.

    With "dual-acceleration" the intercept is the weight of a constant feature and counts in the
    norm (linear kernel only), several classes have the joint margin (divided by √2) and no kernel,
    `dual_coef_` are weights on the simplex, one for each row of the problem that has a weight, and
    `separable_` is None if it is not known whether the data can be separated.

    There is no ``partial_fit``: a margin over data that are gone cannot be certified.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMarginClassifier().fit(X[:100], y[:100])
    >>> model.score(X[:100], y[:100]), model.support_.tolist()
    (1.0, [23, 41, 98])
    >>> model.truths_[0].digits(10, raw=True)
    '0.8175557692'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"exact", "dual-acceleration"})],
        "several": [StrOptions({"ovo", "ovr", "joint"})],
        "inseparable": [StrOptions({"soft", "error"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "soft_C": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        solver: str = "exact",
        proof: bool = True,
        fit_intercept: bool = True,
        kernel: Any = "linear",
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        several: str = "ovo",
        inseparable: str = "soft",
        soft_C: float = 1.0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        tol: float = 0.01,
        max_iter: int = 10_000,
        intercept_scaling: float = 1.0,
    ) -> None:
        self.solver = solver
        self.proof = proof
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.several = several
        self.inseparable = inseparable
        self.soft_C = soft_C
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.tol = tol
        self.max_iter = max_iter
        self.intercept_scaling = intercept_scaling

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_class = self.solver == "exact" or self.kernel == "linear"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane (or one for each pair or class) of largest margin.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            See the notes.
        """
        self._validate_params()
        with _named_faults(X, y):
            return self._fit_all(X, y, sample_weight)

    def _fit_all(self, X: Any, y: Any, sample_weight: Any) -> Self:
        given = X
        X, y = validate_data(self, given, y, accept_sparse="csr", dtype="numeric")
        X = same_numbers(given, X)
        if y.dtype.kind not in "bui":  # whole numbers are classes, whatever they are
            check_classification_targets(y)
        weights = _row_weights(X, y, sample_weight, self.class_weight)
        kept = np.flatnonzero(weights)
        self.classes_, labels = np.unique(y[kept], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"samples of two classes are needed, not of one class only: {self.classes_[0]!r}"
            )
        points = X if len(kept) == len(y) else X[kept]
        if points is not X and self.kernel == "precomputed":
            points = points[:, kept]
        kernel = None if self.kernel == "linear" else self._kernel().fitted(points)
        self._kernel_: Any = kernel
        if self.solver == "exact":
            whole = octets(points) if kernel is None else points
            self._gather(self._parts(whole, labels, weights[kept]), kept)
            # A copy: X is the caller's.
            self._train_ = X[self.support_] if kernel is not None else None
        else:
            self._iterate(points, labels)
        return self

    def _iterate(self, X: Any, labels: Array) -> None:
        """Fit by Algorithm 1 until the certified gap is small enough."""
        problem = self._joint_problem(X, labels)
        found = certified_run(problem.unit(), self.tol, self.max_iter)
        self.margin_, self.margin_gap_ = margin_and_gap(problem, found)
        self.dual_coef_, self.n_iter_ = found.mu, found.n_iter
        self.separable_ = True if found.lower > 0 else None
        w = found.w
        if isinstance(problem, KernelProblem):
            used = np.flatnonzero(w) if w.any() else np.arange(1)
            self._expansion_, self.intercept_ = (w[used] * problem.y[used])[None, :], np.zeros(1)
            self._train_ = X[used]  # a copy: X is the caller's
        else:
            several = isinstance(problem, MulticlassProblem)
            rows = w.reshape(-1, len(self.classes_)).T if several else w[None, :]
            self.coef_, self.intercept_ = rows, np.zeros(len(rows))
            if self.fit_intercept:
                self.coef_, self.intercept_ = rows[:, :-1], rows[:, -1] * self.intercept_scaling
        self._warn_of_gap()

    def _joint_problem(self, X: Any, labels: Array) -> Problem:
        """The problem of all classes at once, with a constant feature for the intercept."""
        k = len(self.classes_)
        if self._kernel_ is not None:
            if k > 2:
                raise ValueError(
                    "Only binary classification is supported with a kernel. The type of the target "
                    "is multiclass: use solver='exact', or OneVsRestClassifier around this one"
                )
            return KernelProblem(X, 2 * labels - 1, self._kernel_)
        if self.fit_intercept:
            X = with_constant(X, self.intercept_scaling)
        return from_arrays(X, 2 * labels - 1) if k == 2 else MulticlassProblem(X, labels, k)

    def _warn_of_gap(self) -> None:
        best = self.margin_ + self.margin_gap_
        if self.separable_ is None:
            words = (
                f"the data were not separated in {self.n_iter_} iterations; dual_coef_ proves "
                f"that no classifier has a margin above {best:.3g}"
            )
        elif self.margin_gap_ > self.tol * best:
            words = (
                f"the margin {self.margin_:.3g} is only proved to be within {self.margin_gap_:.3g} "
                f"of the largest possible in {self.n_iter_} iterations: increase max_iter or tol"
            )
        else:
            return
        warnings.warn(words, ConvergenceWarning, stacklevel=5)

    @property
    def truths_(self) -> list[Truth]:
        """What the oracle said of each hyperplane; the fractions are computed when asked for."""
        if "_proofs_" not in vars(self):
            raise AttributeError("there are no proofs before fit, or of an iterative solver")
        self._proofs_: list[Any] = [
            proof if isinstance(proof, Truth) else proof() for proof in self._proofs_
        ]
        return self._proofs_

    def certificate(self) -> Any:
        """The certificate (of each hyperplane, if there are several), for `gammabar check`.

        It speaks of the arrays that the hyperplane was fitted to: X and y of -1 and 1 (joint: the
        number of the class), of the two classes of a pair alone.
        """
        check_is_fitted(self, "truths_")
        bodies = [truth.certificate for truth in self.truths_]
        if not bodies:
            raise ValueError("there is no certificate: fit with proof=True")
        return bodies[0] if len(bodies) == 1 else bodies

    def decision_function(self, X: Any) -> Array:
        """Signed distances for two classes; for more, a score for each class.

        Of pairs, the score is the least of the class's distances: how far inside its region x is.
        """
        check_is_fitted(self)
        with _named_faults(X):
            X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        scores, k = self._distances(X), len(self.classes_)
        if k == 2:
            return scores.ravel()
        pairs = self.solver == "exact" and self.several == "ovo"
        return depths(scores, k) if pairs else scores

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores > 0).astype(int)])
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def _distances(self, X: Any) -> Array:
        """The value of each hyperplane's function, one column for each."""
        if self._kernel_ is None:
            return np.asarray(X @ self.coef_.T) + self.intercept_
        if self.kernel == "precomputed":
            columns = (X.tocsc() if hasattr(X, "tocsc") else X)[:, self.support_]
        else:
            columns = self._kernel_.matrix(X, self._train_)
        return np.asarray(columns @ self._expansion_.T) + self.intercept_

    def _kernel(self) -> Kernel:
        if callable(self.kernel):
            return Kernel.of(self.kernel)
        if self.kernel == "rbf":
            return Kernel("rbf", gamma=self.gamma)
        if self.kernel == "poly":
            return Kernel("poly", self.degree, self.gamma, self.coef0)
        if self.kernel == "precomputed" and self.solver == "exact":
            return Kernel("precomputed")
        raise ValueError(f"kernel must be linear, rbf, poly or a callable, not {self.kernel!r}")

    def _parts(self, X: Any, labels: Array, weights: Array) -> list[Hyperplane]:
        k = len(self.classes_)
        if self.several == "joint" and k > 2:
            if self.kernel != "linear":
                raise ValueError("the joint margin of several classes is linear: use ovo or ovr")
            return [self._joint(X, labels)]
        tasks = self._tasks(k)
        shared = None
        if self._kernel_ is None and (k == 2 or self.several == "ovo"):
            # The first class of a pair is the positive one; of two classes it is the second.
            shared = shared_pairs(X, 1 - labels if k == 2 else labels, self.fit_intercept)
        parts: list[Hyperplane | None] = [None] * len(tasks)
        if shared and self.proof:
            parts = shared.proved()

        def work(number: int) -> Hyperplane:
            one, other = tasks[number]
            counted = np.ones(len(labels), bool) if other is None else np.isin(labels, (one, other))
            rows = np.flatnonzero(counted)
            signs = np.where(labels[rows] == one, 1, -1)
            guess = shared.candidate(number) if shared else None
            return self._two(X, rows, signs, weights[rows], guess)

        left = [k for k, part in enumerate(parts) if part is None or part.separable is False]
        run = Parallel(n_jobs=self.n_jobs if len(left) > 1 else 1, prefer="threads")
        for number, part in zip(left, run(delayed(work)(k) for k in left), strict=True):
            parts[number] = part
        return [part for part in parts if part is not None]

    def _tasks(self, k: int) -> list[tuple[int, int | None]]:
        """The positive class of each hyperplane, and the other one; None for the rest."""
        if k == 2 or self.several == "ovr":
            return [(c, None) for c in ((1,) if k == 2 else range(k))]
        return list(combinations(range(k), 2))  # the first one is positive, as `depths` has it

    def _two(
        self, X: Any, rows: Array, signs: Array, weights: Array, guess: Candidate | None
    ) -> Hyperplane:
        # What is proved is proved of a copy, unless that is large: then all is done at once.
        some = len(rows) < X.shape[0]
        own = some or (self.proof and getattr(X, "data", X).nbytes <= COPIED)
        part = X[rows] if some else X.copy() if own and self.proof else X
        if self.kernel == "precomputed":
            part = part[:, rows]
        kernel = self._kernel_
        made = KernelProblem(part, signs, kernel) if kernel else from_arrays(part, signs)
        problem = with_intercept(made, "free" if self.fit_intercept else "none")
        found = proved(problem, guess) if self.proof else guessed(problem, guess)
        if not own and found.truth is not None:
            found.truth.certificate  # noqa: B018 - it is about the data as they are now
        if found.separable is False or not np.isfinite(found.coef).all():
            found = self._soft(part, signs, weights, found)
        return replace(found, support=rows[found.support])

    def _joint(self, X: Any, labels: Array) -> Hyperplane:
        made = MulticlassProblem(X.copy(), labels, len(self.classes_))  # X is the caller's
        truth = solve(with_intercept(made, "augmented" if self.fit_intercept else "none"))
        if not truth.separable:
            raise InseparableError(
                "no joint margin separates the classes; use several='ovo'", truth.certificate
            )
        k = len(self.classes_)
        w = truth.w.reshape(-1, k).T
        b = np.asarray(truth.b) if self.fit_intercept else np.zeros(k)
        points = np.unique(np.asarray(truth.support) // (k - 1))
        low, high = signed_bounds(*truth.squares)
        none = np.zeros(len(points))
        return Hyperplane(w, b, points, none, low, high - low, True, truth.rounds, truth)

    def _soft(self, X: Any, signs: Array, weights: Array, found: Hyperplane) -> Hyperplane:
        """The support vector machine with slack, where there is no hyperplane without."""
        message = "the data cannot be separated by a hyperplane" + (
            "" if self.fit_intercept else " through the origin"
        )
        certificate = found.truth.certificate if found.truth else None
        if self.inseparable == "error":
            raise InseparableError(f"{message}; inseparable='soft' allows for errors", certificate)
        gram = self._kernel_ is not None
        machine, lowered = soft_margin(
            found,
            self._kernel_.matrix(X, X) if gram and self.kernel != "precomputed" else X,
            signs,
            gram=gram,
            intercept=self.fit_intercept,
            cost=self.soft_C,
            weights=weights,
            tell=print if self.verbose else lambda _: None,
        )
        note = "" if lowered == 1 else f" (soft_C = {self.soft_C} would take too long)"
        warnings.warn(
            f"{message}: the result is a support vector machine with C = "
            f"{self.soft_C * lowered:.6g}{note}",
            ConvergenceWarning,
            stacklevel=2,
        )
        return machine

    def _gather(self, parts: list[Hyperplane], kept: Array) -> None:
        """The attributes; rows of the parts are counted among those that were kept."""
        support = np.unique(np.concatenate([part.support for part in parts]))
        place = {int(row): k for k, row in enumerate(support)}
        self.support_ = kept[support]
        self.dual_coef_ = np.zeros((len(parts), len(self.support_)))
        for k, part in enumerate(parts):
            self.dual_coef_[k, [place[int(i)] for i in part.support]] = part.coef
        self.margins_ = np.array([part.margin for part in parts])
        self.margin_ = float(self.margins_.min())
        self.margin_gap_ = max(part.gap for part in parts)
        proofs = [part.truth or part.later for part in parts]
        self._proofs_ = [proof for proof in proofs if proof is not None]
        self.n_iter_ = max(part.rounds for part in parts)
        known = {part.separable for part in parts}
        self.separable_ = False if False in known else None if None in known else True
        self.intercept_ = np.concatenate([np.atleast_1d(part.b) for part in parts])
        if self._kernel_ is None:
            self.coef_ = np.concatenate([np.atleast_2d(part.w) for part in parts])
        else:
            lengths = [np.abs(part.w).max(initial=0.0) or 1.0 for part in parts]
            self._expansion_ = self.dual_coef_ * np.array(lengths)[:, None]


def _row_weights(X: Any, y: Array, sample_weight: Any, class_weight: Any) -> Array:
    """The weight of each row: its own, times that of its class; none is negative, some positive."""
    if sample_weight is None and class_weight is None:
        return np.ones(len(y))
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, copy=True)
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight must not be negative, but that of row {row} is")
    counted = np.flatnonzero(weights)
    if class_weight is not None and len(counted):
        classes, labels = np.unique(y[counted], return_inverse=True)
        factors = compute_class_weight(
            class_weight, classes=classes, y=y[counted], sample_weight=weights[counted]
        )
        for name, factor in zip(classes.tolist(), factors.tolist(), strict=True):
            if not 0 <= factor < np.inf:
                raise ValueError(f"class_weight of {name!r} must be zero or more, not {factor!r}")
        # Products of positive weights are positive, and finite, whatever doubles can hold.
        least, most = np.nextafter(0.0, 1.0), np.finfo(np.float64).max
        with np.errstate(over="ignore", under="ignore"):
            products = np.clip(weights[counted] * factors[labels], least, most)
        weights[counted] = np.where(factors[labels] > 0, products, 0.0)
    if not weights.any():
        raise ValueError("all rows have weight zero, so that nothing is left to separate")
    return weights


@contextmanager
def _named_faults(X: Any, y: Any = None) -> Iterator[None]:
    """Where something fails because of a value in a DataFrame, or of a missing label, say where."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words = _points(X) or _labels(y)
        if words is None:
            raise
        raise ValueError(words) from error


def _points(X: Any) -> str | None:
    """The first value of a pandas DataFrame that is missing, infinite or no number."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return None
    for k, name in enumerate(X.columns):
        column = X.iloc[:, k]
        for row, (value, absent) in enumerate(zip(column, column.isna(), strict=True)):
            if absent:
                where = f"column {name!r} has no value in row {row}"
                return f"Input X contains NaN: {where}; fill it, or leave the row out"
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            except (TypeError, ValueError):
                return f"column {name!r} of X has {value!r} in row {row}, not a number"
            if math.isinf(number):
                return f"Input X contains infinity: column {name!r}, row {row}"
    return None


def _labels(y: Any) -> str | None:
    """The first label that is missing."""
    if y is None or getattr(y, "ndim", 1) != 1 or isinstance(y, str):
        return None
    for row, label in enumerate(y):
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")
        if missing or (isinstance(label, float | np.floating) and np.isnan(label)):
            return f"Input y contains NaN: there is no label in row {row}"
    return None
