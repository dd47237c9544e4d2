"""A scikit-learn classifier that stops by itself, with a certified gap to the maximum margin.

The iterates are those of Algorithm 1 of Ji, Srebro and Telgarsky (2021). Two bounds of the margin
that is still missing need no oracle: min_j ‖Aᵀμ_j‖ − γ(w_t) ≤ ln(n max_i q_{t,i}) / ‖w_t‖
(``gb.gap``), which costs nothing and decides when to look, and γ̄ ≤ ‖Aᵀμ‖ for any weights μ in the
simplex (Lemma A.1 there), which holds whatever rounding has done to the iterates and is what is
reported. Both sides are widened by the error of the doubles they are computed from
(`gammabar.problems.rounding`).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gammabar.problems import Kernel, KernelProblem, MulticlassProblem, Problem
from gammabar.problems.conversion import from_arrays, same_numbers, with_constant
from gammabar.problems.problem import largest_exponent
from gammabar.problems.rounding import (
    ETA,
    KernelRounding,
    LinearRounding,
    U,
    length,
    rounding_of,
    taxicab,
)
from gammabar.solvers.base import Iterate
from gammabar.solvers.ji_srebro_telgarsky import DualAcceleration

Array = NDArray[Any]


@dataclass(frozen=True)
class _Fit:
    """What a run ended with, in the unit ball; the bounds hold in spite of rounding."""

    w: Array
    mu: Array
    lower: float
    upper: float
    n_iter: int


class MaxMarginClassifier(ClassifierMixin, BaseEstimator):
    """Maximum-margin classifier with a certificate of how close to the maximum it is.

    No regularisation parameter: for separable data it converges to the hard-margin classifier
    [1]_ and stops when the margin is proved to be within ``tol`` of the maximum. Data that are
    not separable end with a warning and with weights that prove that no classifier has a margin
    above a small number.

    Parameters
    ----------
    tol : float, default=0.01
        Stop when the margin is proved to be at least (1 − tol) times the largest possible.
    max_iter : int, default=10000
        Most iterations; each is one pass over the data.
    fit_intercept : bool, default=True
        Whether a constant feature is added (linear kernel only); the hyperplane passes through
        the origin otherwise.
    intercept_scaling : float, default=1.0
        Value of the constant feature. It belongs to the geometry: the intercept counts in the
        norm of the classifier.
    kernel : {"linear", "rbf", "poly"} or callable, default="linear"
        Kernels other than the linear one are for two classes.
    gamma, degree, coef0 : float, int, float
        Parameters of the kernel, (γ⟨x, z⟩ + coef0)^degree or exp(−γ‖x − z‖²).

    Attributes
    ----------
    classes_ : array
    coef_, intercept_ : arrays
        The classifier; one row for two classes, one per class for more (linear kernel).
    margin_ : float
        Proved lower bound of the geometric margin of the classifier, in the units of the data
        (with the constant feature, if any). For several classes it is that of the reduction [1]_,
        Section 5.2: the multiclass margin divided by √2.
    margin_gap_ : float
        Proved: no classifier has a margin above ``margin_ + margin_gap_``.
        (Of a kernel that is a function, the values that it returns are taken for exact.)
    dual_coef_ : array
        Weights on the simplex that prove it, one for each row of the problem.
    separable_ : bool or None
        True if the data are separated; None if it is not known whether they can be.
    n_iter_ : int

    Notes
    -----
    There is no ``partial_fit``: a margin over data that are gone cannot be certified.

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMarginClassifier().fit(X[:100], y[:100])
    >>> model.score(X[:100], y[:100]), model.margin_gap_ <= 0.011 * model.margin_
    (1.0, True)
    """

    def __init__(
        self,
        *,
        tol: float = 0.01,
        max_iter: int = 10_000,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        kernel: Any = "linear",
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.kernel == "linear"
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit by Algorithm 1 until the certified gap is small enough.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        self._check_parameters()
        given = X
        X, y = validate_data(self, given, y, accept_sparse="csr", dtype="numeric")
        X = same_numbers(given, X)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"samples of two classes are needed, not of one class only: {self.classes_[0]!r}"
            )
        problem = self._problem(X, labels)
        found = _run(problem.unit(), self.tol, self.max_iter)
        self._keep(problem, found, X)
        self._warn()
        return self

    def decision_function(self, X: Any) -> Array:
        """Signed scores: one for each sample for two classes, one for each class for more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        if self.kernel != "linear":
            return np.asarray(self._kernel_.matrix(X, self._train_) @ self._alpha_)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores > 0).astype(int)])
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def _check_parameters(self) -> None:
        if not 0 < self.tol < 1:
            raise ValueError(f"tol must be between 0 and 1, not {self.tol!r}")
        if not (isinstance(self.max_iter, int | np.integer) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a positive integer, not {self.max_iter!r}")
        if not 0 < self.intercept_scaling < math.inf:
            raise ValueError(f"intercept_scaling must be positive, not {self.intercept_scaling!r}")

    def _problem(self, X: Any, labels: Array) -> Problem:
        k = len(self.classes_)
        if self.kernel != "linear":
            if k > 2:
                raise ValueError(
                    "Only binary classification is supported with a kernel. The type of the target "
                    "is multiclass: use sklearn.multiclass.OneVsRestClassifier around this one"
                )
            return KernelProblem(X, 2 * labels - 1, self._kernel(X))
        if self.fit_intercept:
            X = with_constant(X, self.intercept_scaling)
        if k == 2:
            return from_arrays(X, 2 * labels - 1)
        return MulticlassProblem(X, labels, k)

    def _kernel(self, X: Any) -> Kernel:
        if callable(self.kernel):
            return Kernel.of(self.kernel)
        if self.kernel == "rbf":
            return Kernel("rbf", gamma=self.gamma)
        if self.kernel == "poly":
            return Kernel("poly", self.degree, self.gamma, self.coef0)
        raise ValueError(f"kernel must be linear, rbf, poly or a callable, not {self.kernel!r}")

    def _keep(self, problem: Problem, found: _Fit, X: Any) -> None:
        self.margin_, self.margin_gap_ = _in_units_of_the_data(problem, found)
        self.dual_coef_ = found.mu
        self.n_iter_ = found.n_iter
        self.separable_ = True if found.lower > 0 else None
        w = found.w
        if isinstance(problem, KernelProblem):
            used = np.flatnonzero(w) if w.any() else np.arange(1)
            self._kernel_, self._alpha_ = problem.kernel, w[used] * problem.y[used]
            self._train_ = X[used]  # a copy: X is the caller's
            return
        multiclass = isinstance(problem, MulticlassProblem)
        rows = w.reshape(-1, len(self.classes_)).T if multiclass else w[None, :]
        if self.fit_intercept:
            self.coef_, self.intercept_ = rows[:, :-1], rows[:, -1] * self.intercept_scaling
        else:
            self.coef_, self.intercept_ = rows, np.zeros(len(rows))

    def _warn(self) -> None:
        best = self.margin_ + self.margin_gap_
        if self.separable_ is None:
            warnings.warn(
                f"the data were not separated in {self.n_iter_} iterations; dual_coef_ proves "
                f"that no classifier has a margin above {best:.3g}",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif self.margin_gap_ > self.tol * best:
            warnings.warn(
                f"the margin {self.margin_:.3g} is only proved to be within {self.margin_gap_:.3g} "
                f"of the largest possible in {self.n_iter_} iterations: increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )


def _run(problem: Problem, tol: float, max_iter: int) -> _Fit:
    """Iterate until the gap is certified, in the unit ball."""
    mu, look, bounds = np.full(problem.n, 1.0 / problem.n), 1, rounding_of(problem)
    for it in DualAcceleration().iterates(problem):
        q = it.weights
        if it.t:
            step = 2.0 / (it.t + 1)  # λ_{t−1}: μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t
            mu += step * (q - mu)
        last = it.t >= max_iter
        if last or (it.t >= look and _promising(it, q, tol)):
            found = _certify(problem, bounds, it, mu)
            if last or found.upper - found.lower <= tol * found.upper:
                return found
            look = it.t + 1 + it.t // 20  # a look costs two passes over the data
    raise AssertionError("iterates never end")


def _promising(it: Iterate, q: Array, tol: float) -> bool:
    """Whether a free bound of the gap is small: ln(n max q_t)/‖w_t‖ (gb.gap), or by 2‖g_t‖/t."""
    if it.margin <= 0 or it.momentum is None:
        return False
    free = math.log(len(it.scores) * float(q.max())) / it.norm
    dual = 2 * it._known().norm(it.momentum) / it.t - it.margin
    return min(free, dual) <= tol * it.margin


def _certify(
    problem: Problem, bounds: LinearRounding | KernelRounding, it: Iterate, mu: Array
) -> _Fit:
    """Bounds of the margin of w and of the best margin, each widened by its rounding error."""
    mu = np.maximum(mu, 0.0)
    mu = mu / mu.sum()
    total = math.fsum(mu)  # rounded once
    # The margin does not depend on the length of w; near one no product underflows that matters.
    w = np.ldexp(it.w, -largest_exponent(it.w))
    lost = len(w) * ETA * (1 + taxicab(w))  # by entries of w that become subnormal
    if isinstance(bounds, KernelRounding):
        size = taxicab(w)
        shortest, longest = _kernel_norm(problem, bounds, w)
        _, pull = _kernel_norm(problem, bounds, mu)
    else:
        size = length(w)
        shortest, longest = _linear_norm(problem, bounds, w, 0.0)
        error = bounds.combine(total * (1 + 2 * U))
        _, pull = _linear_norm(problem, bounds, problem.combine(mu), error)
    smallest = float(problem.scores(w).min()) - bounds.scores(size) - lost
    over = longest + lost if smallest >= 0 else shortest - lost
    lower = smallest / over if over > 0 else -1.0
    # No row is longer than one; eight roundings at most are made here.
    lower = max(-1.0, lower - 8 * U * abs(lower)) if math.isfinite(lower) else -1.0
    upper = pull / total * (1 + 8 * U) + ETA
    return _Fit(it.w, mu, lower, min(1.0, upper) if upper == upper else 1.0, it.t)


def _linear_norm(
    problem: Problem, bounds: LinearRounding, v: Array, error: float
) -> tuple[float, float]:
    """Bounds of the norm of a vector, itself known up to an error."""
    computed = problem.norm(v)
    error += bounds.norm(length(v))
    return max(0.0, computed - error), computed + error


def _kernel_norm(problem: Problem, bounds: KernelRounding, v: Array) -> tuple[float, float]:
    """Bounds of the norm of a combination of rows: near zero the error of a square counts."""
    square, error = problem.inner(v, v), bounds.inner(taxicab(v), taxicab(v))
    if not math.isfinite(square + error):
        return 0.0, math.inf
    low, high = max(0.0, square - error), max(0.0, square + error)
    return math.sqrt(low) * (1 - 4 * U), math.sqrt(high) * (1 + 4 * U)


def _in_units_of_the_data(problem: Problem, found: _Fit) -> tuple[float, float]:
    """A margin that is attained, and the gap from there to one that nobody exceeds."""
    low, high = rounding_of(problem).radius_bounds()
    if not math.isfinite(high):
        raise ValueError("X has rows that are too long for a double; divide X by its largest entry")
    attained = found.lower * (low if found.lower > 0 else high)
    attained -= 2 * U * abs(attained) + ETA
    limit = found.upper * high * (1 + 2 * U) + ETA
    gap = math.nextafter(limit - attained, math.inf)
    while attained + gap < limit:  # so that the sum, as a double, is a bound
        gap = math.nextafter(gap, math.inf)
    return attained, gap
