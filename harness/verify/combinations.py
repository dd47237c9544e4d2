"""Convex combinations of rows that a method carries along: error bounds, ties, equality.

Methods that keep weights, w = Aᵀα and scores by convex combinations add at most a few roundoffs of
numbers of the size of the rows in each step: after k steps they are off by `carried`. *Fresh*
scores of w in doubles are off by `View.score_error`. Equations allow for both, here and there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.harness.verify.certified import Floats, Vec
from gammabar.harness.verify.iterate import NotFinite, View, claimed_number, claimed_numbers
from gammabar.harness.verify.numbers import (
    COARSE,
    HELD,
    ROUNDOFF,
    SAFETY,
    TINY,
    Number,
    Relation,
    Trit,
    at_least,
    at_most,
    below,
    between,
    equal,
    fact,
    middle,
    number,
    size_of,
    sqrt,
    total,
    within,
)
from gammabar.problems import KernelProblem, Problem

# Weights that a solver claims


def weights_of(it: View, name: str) -> Floats | None:
    """What a solver says of its weights "dual", "p", …; None if it says nothing."""
    found = it.dual if name == "dual" else it.extra.get(name)
    weights = None if found is None else claimed_numbers(found, (it.n,))
    if isinstance(weights, str):
        raise NotFinite(f"{name} of iterate {it.t} {weights}")
    return weights


def claimed_weights(it: View, name: str) -> Any:
    """The same, where a statement needs them; raises `Unclaimed`."""
    it.claim(name)
    return weights_of(it, name)


def distribution(it: View, weights: Floats, name: str) -> list[Relation]:
    """That weights are a distribution, up to the roundoffs of t convex combinations.

    Each is a sum in doubles, and a sum of n numbers rounds n times.
    """
    allowed = 8 * ROUNDOFF * (it.n + 8) * (it.t + 1)
    positive = at_least(float(weights.min()), 0, f"{name} ≥ 0")
    return [positive, equal(float(weights.sum()), 1, f"Σ {name} = 1", allowance=allowed)]


def is_distribution(it: View, weights: Floats) -> Trit:
    """Whether they are."""
    positive, mass = distribution(it, weights, "")
    return positive.certain() and within(abs(mass.left - 1), mass.allowance, 1.0)


def _combined_vector(it: View, weights: Floats) -> Vec:
    """Aᵀq for weights in doubles, with the error of one evaluation in doubles."""
    if isinstance(it.case.problem, KernelProblem):
        return it.vec(weights)  # a combination is represented by its weights
    mass, space = float(np.abs(weights).sum()), it.space
    error = (it.n + space.dimension + 16) * ROUNDOFF * SAFETY * lengths(it, weights)
    return it.vec(it.case.problem.combine(weights), error + space.lost * max(1.0, mass))


def lengths(it: View, weights: Floats) -> float:
    """Σ |q_i| ‖a_i‖, or a little more: what is added up in Aᵀq, also where it cancels."""
    return it.space.radius * float(np.abs(weights) @ it.space.shares) * SAFETY


def combined_square(it: View, weights: Floats) -> Number:
    """‖Aᵀq‖² for weights in doubles."""
    if it.level:
        return it.space.exact_square(weights)
    vector = _combined_vector(it, weights)
    return vector.inner(vector)


def combined_norm(it: View, weights: Floats) -> Number:
    """‖Aᵀq‖."""
    found = combined_square(it, weights)
    return number(0) if found <= 0 else sqrt(found)  # the Gram matrix is semidefinite


# Rounding of what is carried along


def _carried(it: View, k: int, errors: Callable[[Floats], Any], shares: Any) -> Any:
    """How far scores may be off that were carried through k convex combinations of rows."""
    row = np.zeros(it.space.dimension)
    row[0] = 1.0 if isinstance(it.case.problem, KernelProblem) else it.space.radius
    each = errors(row) + 8 * ROUNDOFF * it.space.radius * it.space.radius * shares
    return 2 * (k + 2) * each * SAFETY


def carried(it: View, k: int) -> float:
    """How far scores may be off that were carried through k convex combinations."""
    return float(_carried(it, k, it.space.score_error, 1.0))


def product_terms(it: View, k: int) -> float:
    """Sizes of the products that a score is a sum of, d of them, carried along in k steps."""
    radius = it.space.least_radius
    return 8.0 * (k + 2) * (it.space.dimension + 16) * radius * radius


def slack(it: View, k: int) -> float:
    """How far apart two scores may seem to be that are equal, here and in the solver together."""
    return 2 * (carried(it, k) + it.score_error) * SAFETY


def summands(n: int) -> int:
    """So many numbers are added up for n weights: a projection sorts and sums them n times, from
    scores that were carried along. A step that is nothing, at the optimum, is right up to these.
    """
    return max(n * (n + 8), 1024)


# Rows of smallest score


def tied(scores: Floats, off: Floats) -> NDArray[np.int64]:
    """The rows that may have the smallest score, if each is off by at most as much.

    All of them where nothing is known: NaN is not larger than anything.
    """
    return np.flatnonzero(~(scores - off > float((scores + off).min())))


def _told_apart(scores: Floats, off: Floats, parts: Any) -> Trit:
    """Whether `tied` says something: for the rows that it leaves rounding is small beside what
    scores differ by, or beside `parts`, the products that they are sums of (row by row); of rows
    that differ by no more any is right. None if not."""
    rows = tied(scores, off)
    sizes = float(scores.max() - scores.min()) + HELD * np.broadcast_to(parts, scores.shape)[rows]
    return True if bool((off[rows] <= COARSE * sizes).all()) else None


def has_smallest_score(it: View, v: Vec, row: int, scale: float) -> Trit:
    """Whether a row has the smallest score of v, up to the rounding of scores kept by addition.

    They are sums of t numbers of at most `scale` times a norm. Where rounding cannot tell scores
    apart, it is asked exactly.
    """
    if not v.mid.any():
        return True  # all scores are 0
    scores, space = it.case.problem.scores(v.mid), it.space
    parts = (it.t + 1) * (it.n + space.dimension) * scale * space.radius * space.shares
    off = 2 * space.score_errors(v.mid) + 8 * ROUNDOFF * parts
    if row not in tied(scores, off):
        return False
    known = _told_apart(scores, off, parts)
    if known is None and it.level:
        exact = space.exact_scores(v.mid, np.arange(it.n))
        known = True if all(exact[row] <= s for s in exact) else None
    return known


def _slacks(it: View, k: int) -> Floats:
    """The same as `slack` for one score, row by row."""
    rows = _carried(it, k, it.space.score_errors, it.space.shares)
    return np.asarray((rows + it.score_errors) * SAFETY)


def lowest(it: View, k: int) -> NDArray[np.int64]:
    """The rows that may have the smallest score, carried along for k steps."""
    return tied(it.score_doubles, _slacks(it, k))


def lowest_known(it: View, k: int) -> Relation:
    """That it can be told which rows these are."""
    what, parts = "which rows have the smallest score can be told", product_terms(it, k)
    if not it.w.any() or it.n == 1:
        return fact(True, what)
    return fact(_told_apart(it.score_doubles, _slacks(it, k), parts * it.space.shares), what)


def went_on(before: View, k: int) -> Relation:
    """The method took another step, so it was not at its end: Gα_k > 0 did not hold."""
    what = 'Gα_k > 0 does not hold, or the run ends: Iterate(t, w, extra={"halt": "separated"})'
    if not before.w.any():
        return fact(True, what)
    size = before.space.radius * before.here.reach()
    return at_most(before.smallest, 0, what, allowance=slack(before, k), size=size)


def ended(it: View, k: int) -> list[Relation]:
    """The method says that it separates, so it does."""
    if it.extra.get("halt") != "separated":
        return []
    what = "the method halts, so Gα_k > 0"
    if not it.w.any():  # no rounding makes a score of the origin positive; w may be a lost row
        return [fact(None if k and _loses_a_row(it.case.problem) else False, what)]
    return [below(0, it.smallest, what, allowance=slack(it, k))]


def _loses_a_row(problem: Problem) -> bool:
    """Whether a row that is not 0 is 0 in doubles, in the units of this view."""
    raw = problem.raw()
    return any(raw.row(i).any() and not problem.row(i).any() for i in range(problem.n))


# Equality up to rounding


def same_point(
    it: View,
    predicted: Vec,
    what: str,
    more: float = 0.0,
    start: Vec | None = None,
    parts: float = 0.0,
) -> Relation:
    """w_k is a vector that was recomputed, up to four times the error of that, and `more`.

    If it is a step from `start`, that step is what rounding must be small beside; else it, and
    `parts`, what it is a sum of.
    """
    gap = it.vec(it.w - predicted.mid).norm()
    # TINY: products that underflow, in a view whose longest row has norm one.
    allowed = 4 * predicted.err + 8 * ROUNDOFF * predicted.size() + more + 4 * TINY
    about = predicted
    if start is not None:
        about, parts = predicted - start, parts + start.reach()
    size = size_of(about.norm(), parts + predicted.reach() + it.here.reach())
    return equal(gap, 0, what, allowance=allowed, size=size)


def represents(it: View, weights: Floats, k: int, name: str = "α") -> Relation:
    """w_k = Aᵀα_k, where both were carried along for k steps."""
    size, what = lengths(it, weights), f"w_k = Aᵀ{name}_k"
    if not size:  # of nothing, or of rows that are 0
        return fact(not it.w.any(), what)
    # Sums of so many numbers, in k steps.
    parts = (k + it.n + it.space.dimension) * size
    # A step w + θ(a − w) leaves roundoffs of the w before, however short the next one is.
    more = 16 * ROUNDOFF * ((k + 2) * size + it.carried)
    return same_point(it, _combined_vector(it, weights), what, more, parts=parts + it.carried)


def stands_for(it: View, weights: Floats) -> Trit:
    """Whether w_k = Aᵀp, where both were carried along for k convex combinations."""
    vector, size = _combined_vector(it, weights), lengths(it, weights)
    gap = it.here - vector
    allowed = 4 * gap.err + 16 * (it.t + 2) * ROUNDOFF * size
    # Beside rows, of which it is a mean: they may cancel, and what rounding leaves then is small.
    return within(gap.norm(), allowed, size)


def same_weights(
    found: Floats, predicted: Floats, allowed: float, what: str, start: Floats | None = None
) -> Relation:
    """Weights that were recomputed, in the ℓ₁ norm; `start` as in `same_point`."""
    gap = float(np.abs(found - predicted).sum())
    mass = float(np.abs(predicted).sum() + np.abs(found).sum())
    moved = float(np.abs(predicted if start is None else predicted - start).sum())
    allowed += 8 * ROUNDOFF * mass
    size = size_of(moved, mass * summands(len(found)))
    return equal(gap, 0, what, allowance=allowed, size=size)


def same_number(found: object, expected: object, relative: float, what: str) -> Relation:
    """A positive number that was recomputed exactly."""
    exact, said = number(expected), claimed_number(found)
    if said is None:
        return fact(False, f"{what} is a number")
    allowed = float(exact.abs_upper()) * relative * ROUNDOFF
    return equal(number(said), exact, what, allowance=allowed)


# Minimisers over the simplex, smoothed by an entropy or by a square


def soft_answer(it: View, mu: float) -> tuple[Floats, float]:
    """softmax(−A w/μ), and a bound on its error, here and there, in ℓ₁."""
    scores = it.score_doubles
    weights = np.exp((float(scores.min()) - scores) / mu)
    # Scores here and there differ by 2e at most, so weights by a factor of exp(4e/μ).
    spread = 4 * it.score_error / mu
    error = 1.5 * spread if spread < 0.5 else 2.0
    return weights / weights.sum(), error + 8 * (it.n + 16) * ROUNDOFF


def near_answer(it: View, mu: float, q: Floats) -> tuple[Floats, float]:
    """The point of the simplex nearest to q − A w/μ, and a bound on its error."""
    scores = it.score_doubles
    nearby = nearest(q - (scores - float(scores.min())) / mu)
    # The projection does not stretch ℓ₂ distances, and ‖·‖₁ ≤ √n ‖·‖₂; sums of n numbers.
    apart = 2 * (it.score_error + carried(it, it.t)) / mu
    return nearby, it.n * apart + 16 * it.n * (it.n + 8) * ROUNDOFF


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
    mass, low, high = total(number(float(p[i])) for i in inside), number(0), tau
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
