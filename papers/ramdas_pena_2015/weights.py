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
    Relation,
    Trit,
    Vec,
    View,
    claimed_numbers,
    fact,
    number,
    sqrt,
    total,
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
    mass = float(np.abs(weights).sum())
    return it.vec(
        it.case.problem.combine(weights),
        (it.n + it.space.dimension + 16) * ROUNDOFF * SAFETY * it.space.radius * mass
        + it.space.lost * max(1.0, mass),
    )


def stands_for(it: View, weights: Floats) -> bool:
    """Whether w_k = Aᵀp, where both were carried along for k convex combinations."""
    gap = it.here - pull(it, weights)
    mass = 1 + float(np.abs(weights).sum())
    allowed = 4 * gap.err + 8 * (it.t + 2) * ROUNDOFF * it.space.radius * mass
    return not gap.norm() > allowed


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


def row_error(it: View) -> float:
    """How far the scores of a vector as long as the longest row may be off in doubles."""
    vector = np.zeros(it.space.dimension)
    vector[0] = 1.0 if isinstance(it.case.problem, KernelProblem) else it.space.radius
    return it.space.score_error(vector)


def carried(it: View, k: int) -> float:
    """How far scores may be off that were carried through k convex combinations."""
    each = row_error(it) + 8 * ROUNDOFF * it.space.radius * it.space.radius
    return 2 * (k + 2) * each * SAFETY


def in_simplex(it: View, weights: Floats) -> bool:
    """Whether weights are a distribution, up to the roundoffs of t convex combinations."""
    allowed = 8 * ROUNDOFF * (it.n + 8) * (it.t + 1)
    return float(weights.min()) >= 0 and abs(float(weights.sum()) - 1) <= allowed


def outside(it: View, weights: Floats, name: str) -> Relation | None:
    """That a p_k which the solver delivers is no distribution, if it is none: a claim to be judged,
    for every bound on ‖p_k‖_G holds of p_k = 0."""
    if in_simplex(it, weights):
        return None
    return fact(False, f"{name} is in the simplex")


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
