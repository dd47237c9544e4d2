"""Margins as CVXPY models, for comparison and as a fallback. Their answers are never trusted.

With rows a_i of A, all by Clarabel at the tolerances in `TOLERANCES`:

    primal     min ½‖w‖²       subject to A w ≥ 1         margin 1/‖w‖
    dual       min ‖Aᵀ q‖²     subject to q ∈ Δ           margin ‖Aᵀ q‖
    kernel     min qᵀ G q      subject to q ∈ Δ           margin √(qᵀ G q)
    free       min ½‖w‖²       subject to y (X w + b) ≥ 1 margin 1/‖w‖
               min ‖Aᵀ q‖²     subject to q ∈ Δ, yᵀ q = 0 margin ‖Aᵀ q‖
    ℓ₁         max v           subject to A w ≥ v, ‖w‖₁ ≤ 1 or w ∈ Δ

(Ji, Srebro and Telgarsky 2021, Lemma A.1, with Z = −A; Section 5.2 for several classes; Ramdas and
Peña 2015, Section 2.2 for ℓ₁). Rows are divided by the largest row norm (ℓ₁: the largest entry)
inside, so that tolerances mean the same for all data, and results are in the data's own units. The
dual and the kernel model minimise γ², so the solver's gap is one of γ²: near γ = 0 its γ is only
good to about the square root of the tolerance, times the radius.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.problems.problem import Floats, ProblemError

SOLVER = "CLARABEL"
TOLERANCES: dict[str, float] = {
    "tol_gap_abs": 1e-10,
    "tol_gap_rel": 1e-10,
    "tol_feas": 1e-10,
    "max_iter": 400,
}


@dataclass(frozen=True)
class ModelResult:
    """What the solver said.

    `status` is CVXPY's: "optimal", "infeasible" (the primal of data that cannot be separated), …,
    or "solver_error". `gamma` is the margin by the model's own optimal value; 0 when it is
    infeasible, NaN when unknown. `q` are dual weights in the simplex, `w` primal weights: with
    min_i ⟨a_i, w⟩ = 1, for a kernel coefficients α with min_i (G α)_i = 1, for several classes the
    d × k matrix, flattened row by row, for ℓ₁ with ‖w‖₁ ≤ 1; `b` is the bias that belongs to w.
    """

    status: str
    solver: str
    gamma: float
    q: Floats | None
    w: Floats | None
    seconds: float
    b: float = 0.0
    settings: dict[str, float] = field(default_factory=lambda: dict(TOLERANCES))


def hard_margin_primal(A: Any) -> ModelResult:
    """min ½‖w‖² subject to A w ≥ 1, for A dense or sparse; q_i ∝ dual_i."""
    return _primal(A, lambda scaled, w: scaled @ w)


def hard_margin_dual(A: Any) -> ModelResult:
    """min ‖Aᵀ q‖² subject to q in the simplex, for A dense or sparse."""
    begin = time.perf_counter()
    scaled, radius = _scaled(A)
    status, q, length = _dual(scaled.T)
    w = scaled.T @ q / length / length / radius if length > 0 else None
    return _result(status, length * radius, q, w, begin)


def free_intercept_primal(X: Any, y: Any) -> ModelResult:
    """min ½‖w‖² subject to y_i (⟨x_i, w⟩ + b) ≥ 1: the support vector machine of textbooks.

    With the constant feature, the augmented intercept, it is `hard_margin_primal`.
    """
    cp, signs = _cvxpy(), np.asarray(y, dtype=np.float64)
    b = cp.Variable()
    found = _primal(X, lambda scaled, w: cp.multiply(signs, scaled @ w + b))
    return found if found.w is None else replace(found, b=float(b.value))


def free_intercept_dual(X: Any, y: Any) -> ModelResult:
    """min ‖Σ q_i y_i x_i‖² subject to q in the simplex with half its weight on either class."""
    from scipy.sparse import diags_array

    begin = time.perf_counter()
    scaled, radius = _scaled(X)
    signs = np.asarray(y, dtype=np.float64)
    rows = diags_array(signs) @ scaled
    status, q, length = _dual(rows.T, signs)
    if not length > 0:
        return _result(status, length, q, None, begin)
    w = rows.T @ q / length / length
    scores = rows @ w
    b = float(scores[signs < 0].min() - scores[signs > 0].min()) / 2
    return replace(_result(status, length * radius, q, w / radius, begin), b=b)


def kernel_dual(G: Any, sides: Any = None) -> ModelResult:
    """min qᵀ G q subject to q in the simplex, for a positive semi-definite Gram matrix G.

    With `sides`, an array of 0 and 1, half the weight is on either: the free intercept.
    The model is min ‖F q‖² with a factor FᵀF = G, since rounding makes most singular Gram
    matrices slightly indefinite.
    """
    begin = time.perf_counter()
    gram = np.asarray(G, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ProblemError(f"a Gram matrix must be square, not of shape {gram.shape}")
    square = float(np.diagonal(gram).max(initial=0.0)) or 1.0
    balance = None if sides is None else 2.0 * np.asarray(sides) - 1
    status, q, length = _dual(_factor(gram / square), balance)
    alpha = q / length / length / square if length > 0 and q is not None else None
    return _result(status, length * math.sqrt(square), q, alpha, begin)


def multiclass_primal(X: Any, labels: Any, k: int) -> ModelResult:
    """min ½‖U‖² subject to ⟨x_i, U_{c_i} − U_j⟩/√2 ≥ 1 for j ≠ c_i.

    The margin is that of the rows x_i (e_{c_i} − e_j)ᵀ/√2, which is γ̄_m/√2 (Ji, Srebro and
    Telgarsky 2021, Theorem 5.1). Row i (k − 1) + s belongs to example i and the s-th class other
    than c_i.
    """
    cp, classes = _cvxpy(), np.asarray(labels, dtype=np.int64)
    if k < 2 or classes.shape != np.shape(X)[:1] or classes.min() < 0 or classes.max() >= k:
        raise ProblemError(f"labels must be classes from 0 to k − 1 = {k - 1}, one for each row")
    return _primal(X, lambda scaled, U: _differences(classes, k) @ cp.vec(scaled @ U, "C"), k)


def l1_margin(A: Any, signed: bool = True) -> ModelResult:
    """max v subject to A w ≥ v with ‖w‖₁ ≤ 1 (signed) or w in the simplex."""
    cp = _cvxpy()
    begin = time.perf_counter()
    matrix, largest = _by_largest(A)
    v = cp.Variable()
    if signed:
        w = cp.Variable(matrix.shape[1])
        constraints = [cp.norm1(w) <= 1]
    else:
        w, constraints = _simplex(matrix.shape[1])
    margins = matrix @ w >= v
    status = _solve(cp.Problem(cp.Maximize(v), [margins, *constraints]))
    if v.value is None:
        return _result(status, math.nan, None, None, begin)
    gamma, q = float(v.value) * largest, _normalised(margins.dual_value)
    return _result(status, gamma, q, np.asarray(w.value), begin)


def _cvxpy() -> Any:
    """CVXPY, imported when a model is built: that takes about a second."""
    import cvxpy

    return cvxpy


def _solve(problem: Any) -> str:
    """Solve with the named solver and tolerances; the status, whatever it is."""
    cp = _cvxpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the status says so
        try:
            problem.solve(solver=SOLVER, **TOLERANCES)
        except cp.error.SolverError:
            return "solver_error"
    return str(problem.status)


def _result(
    status: str, gamma: float, q: Floats | None, w: Floats | None, begin: float
) -> ModelResult:
    return ModelResult(status, SOLVER, gamma, q, w, time.perf_counter() - begin)


def _primal(data: Any, scores: Callable[[Any, Any], Any], *shape: int) -> ModelResult:
    """min ½‖w‖² subject to scores ≥ 1, on rows that are divided by their largest norm."""
    cp = _cvxpy()
    begin = time.perf_counter()
    scaled, radius = _scaled(data)
    w = cp.Variable((scaled.shape[1], *shape))
    margins = scores(scaled, w) >= 1
    status = _solve(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [margins]))
    if status.startswith("infeasible"):
        return _result(status, 0.0, None, None, begin)
    if w.value is None:
        return _result(status, math.nan, None, None, begin)
    length = float(np.linalg.norm(w.value))
    gamma = radius / length if length > 0 else math.nan
    return _result(status, gamma, _normalised(margins.dual_value), w.value.ravel() / radius, begin)


def _dual(factor: Any, balance: Any = None) -> tuple[str, Floats | None, float]:
    """min ‖F q‖² over the simplex, with balanceᵀ q = 0: the status, q, and ‖F q‖ or NaN."""
    cp = _cvxpy()
    q, constraints = _simplex(factor.shape[1])
    if balance is not None:
        constraints.append(balance @ q == 0)
    status = _solve(cp.Problem(cp.Minimize(cp.sum_squares(factor @ q)), constraints))
    weights = _normalised(q.value)
    return status, weights, math.nan if weights is None else float(np.linalg.norm(factor @ weights))


def _simplex(n: int) -> tuple[Any, list[Any]]:
    cp = _cvxpy()
    q = cp.Variable(n)
    return q, [q >= 0, cp.sum(q) == 1]


def _normalised(weights: Any) -> Floats | None:
    """Weights brought into the simplex: an interior-point method leaves it by its tolerance."""
    if weights is None:
        return None
    clipped = np.maximum(np.asarray(weights, dtype=np.float64), 0.0)
    total = float(clipped.sum())
    return clipped / total if total > 0 else None


def _by_largest(A: Any) -> tuple[Any, float]:
    """A divided by its largest absolute entry, and that entry (one when all are zero)."""
    matrix = A.astype(np.float64) if hasattr(A, "tocsr") else np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ProblemError(f"data must form a non-empty matrix, not one of shape {matrix.shape}")
    largest = float(abs(matrix).max()) or 1.0
    return matrix / largest, largest


def _scaled(A: Any) -> tuple[Any, float]:
    """A divided by its largest row norm, and that norm (one when all rows are zero)."""
    matrix, largest = _by_largest(A)  # first, lest squares overflow
    squares = matrix.multiply(matrix) if hasattr(matrix, "tocsr") else matrix * matrix
    norm = math.sqrt(float(np.max(squares.sum(axis=1)))) or 1.0
    return matrix / norm, norm * largest


def _factor(gram: Floats) -> Floats:
    """F with FᵀF = G, by eigenvalues; those within rounding of zero are dropped."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    rounding = len(gram) * float(np.finfo(np.float64).eps) * float(np.abs(values).max(initial=0.0))
    if values[0] < -1000 * rounding:
        raise ProblemError(
            f"the Gram matrix is not positive semi-definite: it has the eigenvalue {values[0]:.3g}"
            " relative to its largest diagonal entry"
        )
    kept = values > rounding
    if not kept.any():
        return np.zeros((1, len(gram)))
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def _differences(labels: NDArray[np.int64], k: int) -> Any:
    """The matrix that takes the flattened N × k scores to the N (k − 1) differences over √2."""
    from scipy.sparse import csr_array

    n = len(labels)
    others = np.tile(np.arange(k), (n, 1))
    wrong = others[others != labels[:, None]].reshape(n, k - 1)
    first = k * np.arange(n)[:, None]
    columns = np.stack([first + labels[:, None] + 0 * wrong, first + wrong], axis=-1).ravel()
    values = np.tile([math.sqrt(0.5), -math.sqrt(0.5)], n * (k - 1))
    starts = np.arange(0, 2 * n * (k - 1) + 1, 2)
    return csr_array((values, columns, starts), shape=(n * (k - 1), n * k))
