"""What the statements of Ramdas and Peña (2015) share: assumptions, margins and losses in balls.

Rows a_i are the paper's y_i φ̃(x_i), of norm one, and G is their Gram matrix. Coefficients α stand
for w = Σ_i α_i a_i, so G α = A w and ‖α‖_G = ‖w‖; what is said about α_k is computed from w_k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import nnls

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import (
    ROUNDOFF,
    SAFETY,
    Number,
    Trit,
    between,
    exp,
    log,
    middle,
    number,
    precision,
    sqrt,
    total,
)
from gammabar.harness.court.space import Floats
from gammabar.harness.court.statement import Assumption
from gammabar.harness.court.vectors import Vec
from gammabar.harness.court.view import NotFinite, View
from gammabar.oracle.integers import largest_norm, smallest_norm
from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers.ramdas_pena_2015._margin import signed_normalised
from gammabar.problems import KernelProblem, MulticlassProblem

SOURCE = "Ramdas and Peña (2015)"
#: Rows that an exact Gram matrix, or a distance to the witnesses, is computed for.
MOST = 300


# Assumptions


def norm_one(case: Case) -> str | None:
    """Every row has norm one: the paper divides by √K(x, x)."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem):
        if problem.normalised or problem.kernel.name == "rbf":
            return None
        if not has_exact_kernel(problem):
            return "the norms of the rows are not known exactly"
        rows = exact_rows(problem)
        norms = {rows.score(i, rows.point(np.array([i]), [1])) for i in range(problem.n)}
    else:
        points = problem.points  # type: ignore[attr-defined]
        norms = {largest_norm(points), smallest_norm(points)}
    if len(norms) == 1 and norms != {0} and (case.unit or norms == {1}):
        return None
    return "not all rows have norm one; use --kernel linear --normalised, or another kernel"


def small(case: Case) -> str | None:
    """The exact Gram matrix is within reach."""
    return None if case.n <= MOST else f"more than {MOST} rows: no exact Gram matrix"


def tells(*names: str) -> Assumption:
    """The solver has these options, which the claim speaks of."""

    def met(case: Case) -> str | None:
        missing = [name for name in names if getattr(case.solver, name, None) is None]
        return f"the solver has no option {missing[0]}" if missing else None

    return met


def below_margin(name: str) -> Assumption:
    """ρ_K > 0, and an option of the solver is below it."""

    def met(case: Case) -> str | None:
        if not case.separable:
            return "the data are not separable"
        return None if getattr(case.solver, name) < case.gamma else f"{name} is not below ρ_K"

    return met


def above_margin(name: str) -> Assumption:
    """ρ_K ≤ 0, or an option of the solver is above it."""

    def met(case: Case) -> str | None:
        if case.separable is False:
            return None
        if case.separable and getattr(case.solver, name) > case.gamma:
            return None
        return f"ρ_K is positive and not below {name}"

    return met


def signed_margin_known(case: Case) -> str | None:
    """ρ_K is known with its sign."""
    return None if rho(case) is not None else "the signed margin is not known here"


# Margins


class Signed:
    """ρ_K of rows of norm one, as a function of the precision; made once for a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.low = self.high = self.error = Fraction(0)
        self.known = True
        problem = case.problem.raw()
        kernel = problem.kernel.name if isinstance(problem, KernelProblem) else "linear"
        if case.separable is not False:
            self.known = bool(case.separable)
        elif kernel == "rbf":
            pass  # some direction of the space is orthogonal to the hull (footnote to Theorem 3)
        elif kernel != "linear" or isinstance(problem, MulticlassProblem):
            self.known = False
        else:
            found = signed_normalised(problem)
            self.known = found is not None
            if found is not None:
                self.low, self.high, self.error = found

    def ball(self) -> Number | None:
        """ρ_K, or None where it is not known."""
        if not self.known:
            return None
        if self.case.separable:
            return self.case.gamma
        if not self.high and not self.error:
            return number(0)
        error = number(self.error)
        return between(-sqrt(number(self.high)) - error, error - sqrt(number(self.low)))


def rho(case: Case) -> Number | None:
    """ρ_K = sup_{‖f‖ = 1} min_i ⟨f, a_i⟩ with its sign; None where it is not known."""
    found: Number | None = case.history(Signed).ball()
    return found


def inverse_square(case: Case) -> Any:
    """R²/γ̄²: an exact rational wherever γ̄² is one, so that a count can be equal to it."""
    truth = case.truth
    if case.n == 1:
        return Fraction(1)
    if truth.exact:
        return truth.radius_squared_lo / truth.square_lo
    return case.radius**2 / case.gamma_squared


# Weights


def weights_of(it: View, name: str) -> Floats | None:
    """What a solver says of its α_k ("dual"), p_k or q_t; None if it says nothing."""
    found = it.dual if name == "dual" else it.extra.get(name)
    if found is None:
        return None
    weights = np.asarray(found, dtype=np.float64)
    if weights.shape != (it.n,) or not np.isfinite(weights).all():
        raise NotFinite(f"{name} of iterate {it.t} does not consist of {it.n} finite numbers")
    return weights


def pull(it: View, weights: Floats) -> Vec:
    """Aᵀq for weights in doubles, with the error of one evaluation in doubles."""
    if isinstance(it.case.problem, KernelProblem):
        return it.vec(weights)  # a combination is represented by its weights
    mass = float(np.abs(weights).sum())
    return it.vec(
        it.case.problem.combine(weights),
        (it.n + it.space.dimension + 16) * ROUNDOFF * SAFETY * it.space.radius * mass,
    )


def square(it: View, weights: Floats) -> Number:
    """‖q‖²_G = ‖Aᵀq‖² for weights in doubles."""
    if not it.level:
        vector = pull(it, weights)
        return vector.inner(vector)
    if isinstance(it.case.problem, KernelProblem):
        return it.space.exact_inner(weights, weights)
    column = it.space.exact_combination(it.numbers(weights))
    return total(v * v for v in column.entries())


def norm(it: View, weights: Floats) -> Number:
    """‖q‖_G."""
    found = square(it, weights)
    return number(0) if found <= 0 else sqrt(found)  # G is semidefinite


def in_simplex(it: View, weights: Floats) -> bool:
    """Whether weights are a distribution, up to the roundoffs of t convex combinations."""
    allowed = 8 * ROUNDOFF * (it.n + 8) * (it.t + 1)
    return float(weights.min()) >= 0 and abs(float(weights.sum()) - 1) <= allowed


def certifies(it: View, epsilon: Any, weights: Floats | None, strict: bool = False) -> Trit:
    """Whether ‖p‖_G ≤ ε (or <) for what the solver returns, a distribution."""
    if weights is None:
        length = it.norm
    elif not in_simplex(it, weights):
        return False
    else:
        length = norm(it, weights)
    small_enough = length < epsilon if strict else length <= epsilon
    if small_enough:
        return True
    return False if (length >= epsilon if strict else length > epsilon) else None


def uniform(n: int) -> Floats:
    """1/n."""
    return np.full(n, 1 / n)


# Losses


def hard_loss(it: View) -> Number:
    """L(α) = max_p −⟨α, p⟩_G + ½‖α‖²_G, equation (9)."""
    return it.norm_squared / 2 - it.smallest


def entropy_gap(it: View, mu: Number) -> Number:
    """L(α) − L_μ(α) for d(p) = Σ p_i log p_i + log n: the maximum in L_μ is a log-sum-exp."""
    if it.n == 1:
        return number(0)
    least = it.smallest
    return -mu * log(total(exp((least - s) / mu) for s in it.scores) / it.n)


def entropy_loss(it: View, mu: Number) -> Number:
    """L_μ(α) for d(p) = Σ p_i log p_i + log n."""
    return hard_loss(it) - entropy_gap(it, mu)


def centred_loss(it: View, q: list[Number], mu: Number) -> Number:
    """L^q_μ(α) for d_q(p) = ½‖p − q‖²."""
    return it.norm_squared / 2 + prox_value(it.scores, q, mu)


def prox_value(scores: list[Number], q: list[Number], mu: Number) -> Number:
    """max_{p ∈ Δ} −⟨s, p⟩ − (μ/2)‖p − q‖², between a primal and a dual bound.

    Any p ∈ Δ bounds the maximum from below, and any multiplier τ of Σ p_i = 1 from above, by
    τ + Σ_i max_{x ≥ 0} −(s_i + τ) x − (μ/2)(x − q_i)². Both are taken where doubles say the
    maximum is, and meet there up to the square of the doubles' errors.
    """
    target = np.array([middle(c - s / mu) for c, s in zip(q, scores, strict=True)])
    p = nearest(target)
    inside = np.flatnonzero(p > 0).tolist()
    tau = mu * (total(q[i] - scores[i] / mu for i in inside) - 1) / len(inside)
    mass = number(0)
    for i in inside:
        mass += number(float(p[i]))
    low, high = number(0), tau
    for i, (s, c) in enumerate(zip(scores, q, strict=True)):
        x = number(float(p[i])) / mass
        low -= s * x + mu / 2 * ((x - c) * (x - c))
        best = (c - (s + tau) / mu).max(number(0))
        high -= (s + tau) * best + mu / 2 * ((best - c) * (best - c))
    return between(low, high)


def nearest(target: Floats) -> Floats:
    """The point of the simplex nearest to a vector: coordinates below the shift drop out."""
    inside = np.ones(target.size, dtype=bool)
    while True:
        shift = (target[inside].sum() - 1) / inside.sum()
        kept = inside & (target > shift)
        if not kept.any():  # rounding: the largest coordinate alone
            kept[np.argmax(target)] = True
        if (kept == inside).all():
            return np.where(inside, np.maximum(target - shift, 0.0), 0.0)
        inside = kept


class Witnesses:
    """The distance of a centre q to W = {p ∈ Δ : ‖p‖_G = 0}, from below; made once for a case.

    By duality ½ dist(q, W)² ≥ τ + Σ_i min_{x ≥ 0} ½(x − q_i)² − ((G β)_i + τ) x for all β and τ.
    Doubles suggest β and τ, from min_{p ≥ 0} ½‖p − q‖² + ½ M² (‖p‖²_G + (1 − Σ_i p_i)²).
    """

    PENALTY = 1e4

    def __init__(self, case: Case) -> None:
        self.case = case
        self._made: dict[tuple[bytes, int], Number] = {}
        self._chosen: dict[bytes, tuple[Floats, float]] = {}

    def half_square(self, q: Floats) -> Number:
        """A number that is at most ½ dist(q, W)²."""
        key = q.tobytes(), precision()
        if key not in self._made:
            self._made[key] = self._bound(q)
        return self._made[key]

    def _bound(self, q: Floats) -> Number:
        beta, tau = self._multipliers(q)
        slopes = self.case.space.gram() * _column(beta)
        bound = number(tau)
        for i, c in enumerate(q.tolist()):
            slope = slopes[i, 0] + number(tau)
            x = (number(c) + slope).max(number(0))
            bound += (x - number(c)) * (x - number(c)) / 2 - slope * x
        return bound.max(number(0))

    def _multipliers(self, q: Floats) -> tuple[Floats, float]:
        if q.tobytes() not in self._chosen:
            n, weight = self.case.n, self.PENALTY
            values, vectors = np.linalg.eigh(self.case.problem.gram(np.arange(n)))
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
            stacked = np.vstack([weight * root, weight * np.ones((1, n)), np.eye(n)])
            p, _ = nnls(stacked, np.concatenate([np.zeros(n), [weight], q]))
            self._chosen[q.tobytes()] = (-(weight**2) * p, weight**2 * (1 - float(p.sum())))
        return self._chosen[q.tobytes()]


def _column(values: Floats) -> Any:
    from flint import arb, arb_mat

    return arb_mat(len(values), 1, [arb(v) for v in values.tolist()])
