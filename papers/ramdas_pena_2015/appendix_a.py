"""Appendix A, Unified Proof By Induction of Lemma 5, 8: equations (16) and (17)."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.algorithms import nearest_in_simplex, softmax
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *

minimisers = rp.sharing(kind="identity", powerless="it is about minimisers, not about a solver")
CENTRES = {"centre": rationals(shape=("n",))}
#: In a search: rows ((1 − s²), 2s)/(1 + s²) of the circle, and α and q as shares of their sums.
SMOOTHED = {
    "slopes": rationals(shape=("n",)),
    "alpha": wholes(0, 20, shape=("n",)),
    "q": wholes(0, 20, shape=("n",)),
    "mu": rationals(positive=True),
}


def _smoothed(case: Case) -> Iterator[tuple[str, Array, Array, Fraction]]:
    """A name, Gα, q and μ, over many data or for those of a search."""
    if case.inputs is not None:
        slopes, alpha, q, mu = case.inputs.values()
        rows = on_circle(slopes)
        yield "rows of the circle", rows @ (shares(alpha) @ rows), shares(q), Fraction(mu)
        return
    for name, rows in ({"e_1 and e_2": array([corner(0, 2), corner(1, 2)])} | INSEPARABLE).items():
        n = len(rows)
        for q, alpha in product(centres(n), centres(n)):
            for mu in (Fraction(2 * n), Fraction(1), Fraction(1, 6)):
                yield name, rows @ (alpha @ rows), q, mu


def _euclidean_conditions(case: Case) -> Iterator[tuple[Fraction, str]]:
    """⟨Gα + μ∇d_q(p), r − p⟩ for p = p^q_μ(α) and r a corner, over many data."""
    for name, scores, q, mu in _smoothed(case):
        p = nearest_in_simplex(q - scores / mu)
        slope = scores + mu * (p - q)
        yield from ((value, f"{name}, μ = {mu}") for value in slope - slope @ p)


def _entropy_conditions(case: Case) -> Iterator[tuple[Number, str]]:
    """The same for d(p) = Σ p_i log p_i + log n, where ∇d(p)_i = log p_i + 1."""
    if case.inputs is not None:  # which are for d_q
        return
    for name, rows in INSEPARABLE.items():
        for alpha in centres(len(rows)):
            scores = array([number(v) for v in rows @ (alpha @ rows)])
            for mu in (number(2), number(1) / 6):
                p = softmax(scores, mu)
                slope = scores + mu * (np.log(p) + 1)
                where = f"{name}, entropy, μ = {mu.str(3)}"
                yield from ((value, where) for value in slope - slope @ p)


@minimisers.direct("eq16", "equation (16)", Erratum("substance", ".fixed"), inputs=SMOOTHED)
@minimisers.direct(
    "eq16.fixed",
    "equation (16), with ≥ in place of = for d_q",
    instances="d the entropy and d_q; a grid of q, r and α",
    inputs=SMOOTHED,
    words="The gradient at the smoothed minimiser has a non-negative product with r − p for every r"
    " ∈ Δ_n; it is 0 for the entropy.",
    instead={"= 0": r"\ge 0", r"\Delta_n": r"\Delta_n,\text{ with equality for the entropy}"},
)
def _eq16(case, printed):
    r"""The gradient at the smoothed minimiser is perpendicular to r − p for every r ∈ Δ_n.

    $\langle G\alpha + \mu\nabla d(p_\mu(\alpha)), r - p\rangle = 0\quad\forall r\in\Delta_n$"""
    what = "⟨Gα + μ∇d(p), r − p⟩ = 0"
    for value, where in _euclidean_conditions(case):
        if printed:
            yield fact(value == 0, what, where=where)
        else:
            yield ordered(Fraction(0), value, "0 ≤ ⟨Gα + μ∇d(p), r − p⟩", where=where)
    # An identity between logarithms, to as many digits as the balls have at least.
    for value, where in _entropy_conditions(case):
        yield equal(value, 0, what, allowance=2.0**-80, size=1.0, where=where)


def _squares(case: Case) -> Iterator[tuple[Array, str]]:
    """c for d(p) = ½‖p − c‖²: the paper's d_q, and c outside the simplex; all strongly convex."""
    if case.inputs is not None:
        (c,) = case.inputs.values()
        yield array(c), f"d(p) = ½‖p − ({', '.join(map(str, c))})‖²"
        return
    for q in centres(3):
        yield q, f"d_q, q = {[str(v) for v in q]}"
    yield over((2, 0), 1), "d(p) = ½‖p − (2, 0)‖²"
    yield over((1, 6, -2), 2), "d(p) = ½‖p − (½, 3, −1)‖²"


def _gap(u: Array, v: Array) -> Any:
    return (u - v) @ (u - v) / 2


def _minimum(c: Array, where: str, perpendicular: bool = True) -> Iterator[Relation]:
    """For d(p) = ½‖p − c‖² and its minimiser p*: ⟨∇d(p*), r − p*⟩ = 0, hence ½‖r − p*‖² ≤ d(r); or
    ≥ 0, hence ½‖r − p*‖² ≤ d(r) − d(p*)."""
    best = nearest_in_simplex(c)
    for r in centres(len(c)):
        value, rise, right = (best - c) @ (r - best), _gap(r, c), "d(p_0)"
        if perpendicular:
            yield fact(value == 0, "⟨∇d(p*), r − p*⟩ = 0", where=where)
        else:
            yield ordered(Fraction(0), value, "0 ≤ ⟨∇d(p*), r − p*⟩", where=where)
            rise, right = rise - _gap(best, c), "d(p_0) − d(p*)"
        yield ordered(_gap(r, best), rise, f"½‖p_0 − p*‖² ≤ {right}", where=where)


def _pinsker(what: str) -> Iterator[Relation]:
    """d(p) ≥ ½‖p − 1/n‖²₁ for the entropy, whose gradient at 1/n is constant."""
    for p in centres(4):
        entropy = total(number(v) * log(v) for v in p if v) + log(4)
        distance = abs(p - Fraction(1, 4)).sum()
        if distance:
            yield at_most(distance**2 / 2, entropy, what, where="entropy")


@minimisers.direct(
    "eq17",
    "equation (17)",
    Erratum("edge case", ".fixed", charitable=".charitable"),
    inputs=CENTRES,
)
@minimisers.direct(
    "eq17.fixed",
    "equation (17), with ≥ in place of =",
    instances="the entropy, d_q, and two squares with centres outside the simplex",
    inputs=CENTRES,
    words="The gradient of d at its minimiser p* has a non-negative product with r − p* for every r"
    " ∈ Δ_n, hence d(p_0) − d(p*) ≥ ½‖p_0 − p*‖².",
    claim=r"\langle\nabla d(p^*), r - p^*\rangle \ge 0 \Rightarrow d(p_0) - d(p^*) \ge"
    r" \tfrac12\|p_0 - p^*\|_\#^2",
)
def _eq17(case, printed):
    r"""The gradient of d at its minimiser p* is perpendicular to r − p* for every r ∈ Δ_n, hence
    d(p_0) ≥ ½‖p_0 − p*‖².

    $p^* := \arg\min_{p\in\Delta_n} d(p):\ \langle\nabla d(p^*), r - p\rangle = 0\Rightarrow d(p_0)
    \ge \tfrac12\|p_0 - p^*\|_\#^2$"""
    for c, where in _squares(case):
        yield from _minimum(c, where, perpendicular=printed)
    yield from _pinsker("½‖p_0 − p*‖²₁ ≤ d(p_0)" + ("" if printed else " − d(p*)"))


@minimisers.direct(
    "eq17.charitable",
    "equation (17), for the entropy and d_q",
    instances="a grid of q and r in Δ_3",
    inputs={"q": rationals(0, None, shape=("n",))},
)
def _eq17_charitable(case):
    r"""For the entropy and d_q, q ∈ Δ_n, the gradient of d at its minimiser p* is perpendicular to
    r − p* for every r ∈ Δ_n, and d(p_0) ≥ ½‖p_0 − p*‖².

    $d \in \{d_q, \text{entropy}\}:\ \langle\nabla d(p^*), r - p^*\rangle = 0,\quad d(p_0) \ge
    \tfrac12\|p_0 - p^*\|_\#^2$

    The gradient of d_q at p* = q is 0, that of the entropy at 1/n is constant."""
    for (weights,) in case.instances((q,) for q in centres(3)):
        q = shares(weights)
        yield from _minimum(q, f"d_q, q = {[str(v) for v in q]}")
    yield from _pinsker("½‖p_0 − p*‖²₁ ≤ d(p_0)")
