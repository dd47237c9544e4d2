"""α_k, p_k and q_t as a solver delivers them, and their norms ‖·‖_G."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Floats,
    NotFinite,
    Number,
    Trit,
    Vec,
    View,
    claimed_numbers,
    number,
    sqrt,
    total,
    within,
)
from gammabar.problems import KernelProblem


def weights_of(it: View, name: str) -> Floats | None:
    """What a solver says of its α_k ("dual"), p_k or q_t; None if it says nothing."""
    found = it.dual if name == "dual" else it.extra.get(name)
    if found is None:
        return None
    weights = claimed_numbers(found, (it.n,))
    if isinstance(weights, str):
        raise NotFinite(f"{name} of iterate {it.t} {weights}")
    return weights


def claimed_weights(it: View, name: str) -> Floats:
    """The same, where a statement needs them.

    Raises
    ------
    Unclaimed
    """
    it.claim(name)
    weights = weights_of(it, name)
    assert weights is not None
    return weights


def pull(it: View, weights: Floats) -> Vec:
    """Aᵀq for weights in doubles, with the error of one evaluation in doubles."""
    if isinstance(it.case.problem, KernelProblem):
        return it.vec(weights)  # a combination is represented by its weights
    mass, space = float(np.abs(weights).sum()), it.space
    error = (it.n + space.dimension + 16) * ROUNDOFF * SAFETY * lengths(it, weights)
    return it.vec(it.case.problem.combine(weights), error + space.lost * max(1.0, mass))


def lengths(it: View, weights: Floats) -> float:
    """Σ |q_i| ‖a_i‖, or a little more: what is added up in Aᵀq, also where it cancels."""
    return it.space.radius * float(np.abs(weights) @ it.space.shares) * SAFETY


def stands_for(it: View, weights: Floats) -> Trit:
    """Whether w_k = Aᵀp, where both were carried along for k convex combinations."""
    vector, size = pull(it, weights), lengths(it, weights)
    gap = it.here - vector
    allowed = 4 * gap.err + 16 * (it.t + 2) * ROUNDOFF * size
    # Beside rows, of which it is a mean: they may cancel, and what rounding leaves then is small.
    return within(gap.norm(), allowed, size)


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


def _as_long_as_a_row(it: View) -> Floats:
    """A vector as long as the longest row."""
    vector = np.zeros(it.space.dimension)
    vector[0] = 1.0 if isinstance(it.case.problem, KernelProblem) else it.space.radius
    return vector


def carried(it: View, k: int) -> float:
    """How far scores may be off that were carried through k convex combinations."""
    each = it.space.score_error(_as_long_as_a_row(it))
    each += 8 * ROUNDOFF * it.space.radius * it.space.radius
    return 2 * (k + 2) * each * SAFETY


def carried_rows(it: View, k: int) -> Floats:
    """The same row by row."""
    each = it.space.score_errors(_as_long_as_a_row(it))
    each += 8 * ROUNDOFF * it.space.radius * it.space.radius * it.space.shares
    return np.asarray(2 * (k + 2) * each * SAFETY)


def product_terms(it: View, k: int) -> float:
    """Sizes of the products that a score is a sum of, d of them, carried along in k steps."""
    radius = it.space.least_radius
    return 8.0 * (k + 2) * (it.space.dimension + 16) * radius * radius


def in_simplex(it: View, weights: Floats) -> Trit:
    """Whether weights are a distribution, up to the roundoffs of t convex combinations."""
    if float(weights.min()) < 0:
        return False
    allowed = 8 * ROUNDOFF * (it.n + 8) * (it.t + 1)
    return within(abs(float(weights.sum()) - 1), allowed, 1.0)


def certifies(it: View, epsilon: Any, weights: Floats | None, strict: bool = False) -> Trit:
    """Whether ‖p‖_G ≤ ε (or <) for what the solver returns, a distribution."""
    if weights is None:
        length = it.norm
    elif (inside := in_simplex(it, weights)) is not True:
        return inside
    else:
        length = norm(it, weights)
    small_enough = length < epsilon if strict else length <= epsilon
    if small_enough:
        return True
    return False if (length >= epsilon if strict else length > epsilon) else None


def uniform(n: int) -> Floats:
    """1/n."""
    return np.full(n, 1 / n)
