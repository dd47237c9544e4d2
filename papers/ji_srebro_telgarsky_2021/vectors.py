"""Vectors that a solver claims, and equations between vectors in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Floats,
    Number,
    Relation,
    Vec,
    View,
    claimed_entries,
    claimed_numbers,
    equal,
    fact,
    size_of,
    total,
    weighted_sum,
    within,
)


def combined(case: Case, q: Floats) -> Vec:
    """Aᵀq for doubles q, with a bound on the rounding of one evaluation."""
    mass = float(np.abs(q).sum())
    error = (case.n + 16) * ROUNDOFF * case.space.radius * mass * SAFETY
    return Vec(case.space, case.problem.combine(q), error + case.space.lost * max(1.0, mass))


def score_drift(it: View, before: Floats) -> float:
    """How far one step takes A w_t from scores that a solver carries along on its own.

    Rounding of A (w_t − w_{t−1}), and of adding it to either; `before` is w_{t−1}.
    """
    moved = it.space.score_error(it.w - before)
    sums = 4 * ROUNDOFF * it.space.radius * it.space.size(it.w)
    return (2 * moved + sums) * SAFETY


def claimed_vector(it: View, values: Any, what: str) -> Vec | Relation:
    """A vector that the solver claims, or the fact that it is none of this space."""
    found = claimed_entries(values, it.space.dimension)
    if isinstance(found, str):
        return fact(False, f"{what} {found}")
    return Vec(it.space, found[0], square=found[1])


def claimed_pull(it: View, weights: Any, what: str) -> Vec | Relation:
    """Aᵀq for weights q that the solver claims (one pass over the data), or what is wrong."""
    array = claimed_numbers(weights, (it.n,))
    if isinstance(array, str):
        return fact(False, f"{what} {array}")
    # Sums of n products, scaled: any order of summation is off by at most this.
    error = (it.n + it.space.dimension + 32) * ROUNDOFF * it.space.radius
    mass = float(np.abs(array).sum())
    lost = it.space.lost * max(1.0, mass)
    return it.vec(it.case.problem.combine(array), error * mass * SAFETY + lost)


def in_simplex(it: View, weights: Any, what: str) -> Relation:
    """That weights which the solver claims are a distribution, up to the rounding of t sums."""
    array = claimed_numbers(weights, (it.n,))
    if isinstance(array, str):
        return fact(False, f"{what} {array}")
    if not (array >= 0).all():
        return fact(False, f"{what} has weights below 0")
    allowed = 8 * ROUNDOFF * (it.n + 4 * (it.t + 1))
    return equal(total(it.numbers(array)), 1, f"{what} sums to 1", allowance=allowed)


def follows(gap: Number, allowed: float, size: float, what: str) -> Relation:
    """That what a solver says is no farther from what follows from its iterates than rounding.

    A fact, not an inequality: how far is nothing that the statement is about.
    """
    return fact(within(gap, allowed, size), what, said=True)


def as_said(equation: Relation) -> Relation:
    """An equation about what a solver says, as such a fact."""
    gap = abs(equation.left - equation.right)
    return follows(gap, equation.allowance, equation.size, equation.what)


def same_vector(
    left: Vec, right: Vec, what: str, more: float = 0.0, factor: float = 1.0
) -> Relation:
    """left = factor · right, where one of them is computed in doubles by the solver.

    Our own error bounds hold for any order of summation, so they cover an honest solver's errors as
    well: twice for its errors, twice for ours, and `more` for what it may do besides.
    """
    return no_vector(weighted_sum(1.0, left, -factor, right), left, what, more)


def no_vector(gap: Vec, about: Vec, what: str, more: float = 0.0) -> Relation:
    """gap = 0, as in `same_vector`, for a sum of vectors of which the solver computed some.

    `about` is the one that is on trial: the step, where the others are iterates.
    """
    allowance = 4 * (gap.err + more) + 32 * ROUNDOFF * (gap.reach() + gap.err)
    return equal(gap.norm(), 0, what, allowance=allowance, size=_size(gap, about))


def vanishes(rest: Vec, about: Vec, more: float, what: str) -> Relation:
    """A vector is zero, but for rounding: what this court's own evaluation of it may be off by,
    the same for the solver's evaluation (three times, for it may sum in another order), and
    `more`. `about` as in `no_vector`."""
    return equal(rest.norm(), 0, what, allowance=4 * rest.err + more, size=_size(rest, about))


def _size(gap: Vec, about: Vec) -> float:
    """What rounding must be small beside: the vector on trial, and roundoffs of all of them."""
    space = gap.space
    rows = (space.n + space.dimension) * space.least_radius  # sums of as many numbers
    return size_of(about.norm(), rows + gap.reach())
