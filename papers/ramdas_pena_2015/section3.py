"""Section 3, Kernels and RKHSs: equations (7) and (8), Lemmas 1, 2 and 3."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from flint import arb_mat

from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *

MATRICES = (
    "worst-case:n=12",
    "degenerate:kind=square",
    "degenerate:kind=simplex,n=6,d=6",
    "degenerate:kind=collinear,n=1,d=2",
    "gaussian:n=16,d=3,seed=0 --kernel rbf:gamma=1",
    "planted:n=10,d=3,gamma=0.2,seed=0 --kernel poly:degree=2,coef0=1 --normalised",
)
FLAT = ("degenerate:kind=opposite,n=6,d=1", "degenerate:kind=opposite --kernel rbf:gamma=1")
EVERY = "it is true of every Gram matrix, whatever a solver does"
every_matrix = unit.sharing(norm_one, small, kind="identity", powerless=EVERY, problems=MATRICES)


@every_matrix.direct("eq7", "equation (7)", separable)
def _eq7(case):
    r"""For separable data the smallest value of L is −½ρ_K², attained with norm ρ_K.

    $\inf_{f\in\mathcal{F}_K} L(f) = \inf_{t>0}\{-t\rho_K + \tfrac12 t^2\}= -\tfrac12\rho_K^2
    \quad\text{when } t = \rho_K > 0$"""
    gram = Gram(case)
    value = -gram.margin_squared / 2
    yield from _attained(gram, value)
    for alpha in samples(case):
        if list(alpha) != case.q_bar:  # where it is an equation
            yield ordered(value, gram.loss(alpha), "−½ρ_K² ≤ L(α)")


def _attained(gram: Gram, value: Any) -> Iterator[Relation]:
    best, length = gram.loss(gram.case.q_bar), gram.square(gram.case.q_bar)
    if gram.rational:
        yield fact(best == value, "L(q̄) = −½ρ_K²")
        yield fact(length == -2 * value, "‖q̄‖_G = ρ_K")
    else:
        yield equal(best, value, "L(q̄) = −½ρ_K²", allowance=gram.width())
        yield equal(length, -2 * value, "‖q̄‖²_G = ρ_K²", allowance=2 * gram.width())


def _along(v: Array, basis: list[Array]) -> Array:
    return sum(((v @ b) / (b @ b) * b for b in basis), 0 * v)


def _outside_the_span() -> Iterator[tuple[Array, tuple[int, ...]]]:
    """Data in a space with one dimension more, and points f of it."""
    for data in (SEPARABLE | INSEPARABLE).values():
        rows = np.column_stack([data, over([0] * len(data), 1)])
        yield from ((rows, f) for f in product(range(-1, 2), repeat=rows.shape[1]))


@rp.direct(
    "eq8",
    "equation (8)",
    kind="identity",
    instances="small data sets in a space with one dimension more, and a grid of f",
    inputs={"rows": rationals(shape=("n", "d")), "f": rationals(shape=("d",))},
    powerless=EVERY,
)
def _eq8(case):
    r"""What minimises L is a combination of the rows: outside their span, L is larger than at the
    nearest point of it.

    $\arg\min_{f\in\mathcal{F}_K} L(f) = \sum_{i=1}^n \alpha_i y_i \tilde\phi_{x_i} =\langle
    Y\tilde\phi_X, \alpha\rangle$

    The Representer Theorem, as it is proved: the part of f that is orthogonal to the rows changes
    no score and makes ½‖f‖² larger, so L(f) > L(Pf) unless f = Pf is in their span."""
    for rows, f in case.instances(_outside_the_span()):
        rows, f = array(rows) * Fraction(1), array(f) * Fraction(1)
        basis: list[Array] = []  # by Gram and Schmidt
        for row in rows:
            rest = row - _along(row, basis)
            basis += [rest] if any(rest) else []
        near, where = _along(f, basis), f"{len(rows)} rows, f = {[str(v) for v in f]}"
        loss, nearest = (v @ v / 2 - min(rows @ v) for v in (f, near))  # equation (6)
        gap, off = loss - nearest, f - near
        yield fact(gap > 0 if any(off) else gap == 0, "L(f) > L(Pf) unless f = Pf", where=where)
        yield fact(gap == off @ off / 2, "L(f) − L(Pf) = ½‖f − Pf‖²", where=where)


# 3.1 Some Interesting and Useful Lemmas


@every_matrix.direct("lem1", "Lemma 1", problems=MATRICES + FLAT)
def _lem1(case):
    r"""L(α) < 0 implies Gα > 0, and some α has Gα > 0 iff there is a perfect classifier.

    $L(\alpha) < 0 \text{ implies } G\alpha > 0 \text{ and there exists a perfect classifier iff }
    G\alpha > 0$

    Read as: some α has Gα > 0 iff there is a perfect classifier."""
    gram = Gram(case)
    for alpha in samples(case, gram.rational or bool(case.separable)):
        value = gram.loss(alpha)
        negative: Trit = True if value < 0 else False if value >= 0 else None
        least = gram.least(alpha)
        positive: Trit = True if least > 0 else False if least <= 0 else None
        true = None if negative is None else (not negative or positive)
        yield fact(true, "L(α) < 0 ⟹ Gα > 0")
        if case.separable is False:
            yield fact(None if positive is None else not positive, "no α has Gα > 0")
    if case.separable:
        # Where q̄ is known up to an enclosure only, that it does not serve refutes nothing.
        found: Trit = bool(gram.least(case.q_bar) > 0) or (False if gram.rational else None)
        yield fact(found, "some α has Gα > 0")


@every_matrix.direct("lem2", "Lemma 2", problems=MATRICES + FLAT)
def _lem2(case):
    r"""For every α, ‖α‖_G ≤ ‖α‖₁ ≤ √n ‖α‖₂ (compared are the squares).

    $\text{For any } \alpha \in \mathbb{R}^n,\quad \|\alpha\|_G \le \|\alpha\|_1\le
    \sqrt{n}\|\alpha\|_2$"""
    gram = Gram(case)
    for alpha in (corner(0, case.n), *samples(case)):
        absolute = abs(alpha).sum()
        if gram.rational or np.count_nonzero(alpha) != 1:  # there both sides are G_ii = 1
            yield ordered(gram.square(alpha), absolute**2, "‖α‖²_G ≤ ‖α‖²₁")
        yield ordered(absolute**2, case.n * (alpha @ alpha), "‖α‖²₁ ≤ n ‖α‖²₂")


@every_matrix.direct("lem3", "Lemma 3", separable)
def _lem3(case):
    r"""A unit f has the largest margin iff ρ_K f minimises L; and ρ_K ≤ ‖p‖_G for every p ∈ Δ_n.

    $\rho_K > 0:\ f \text{ maximizes the margin iff } \rho_K f \text{ optimizes } L(f);\quad\rho_K =
    \sup_{\|\alpha\|_G=1}\inf_{p\in\Delta_n}\langle\alpha,p\rangle_G \le \|p\|_G\ \text{ for all }
    p\in\Delta_n$"""
    gram = Gram(case)
    best = gram.margin_squared
    yield from _attained(gram, -best / 2)
    rho = sqrt(number(best))
    for alpha in samples(case, gram.rational):
        length, least = gram.square(alpha), gram.least(alpha)
        if not length > 0 or list(alpha) == case.q_bar:
            continue
        if least > 0:
            yield ordered(least**2 / length, best, "(margin of f)² ≤ ρ_K²")
        if least > 0 and gram.rational and least**2 == best * length:
            continue
        norm = sqrt(number(length))
        yield below(number(least) / norm, rho, "margin of f = α/‖α‖_G < ρ_K")
        # L(ρ_K f) by its definition, equation (9), in balls.
        scaled = arb_mat(case.n, 1, [rho / norm * number(v) for v in alpha])
        scores = case.space.gram() * scaled
        loss = (scaled.transpose() * scores)[0, 0] / 2 - smallest(scores.entries())
        yield below(-(rho**2) / 2, loss, "−½ρ_K² < L(ρ_K f)")
    for p in distributions(case):
        if list(p) != case.q_bar:
            yield ordered(best, gram.square(p), "ρ_K² ≤ ‖p‖²_G")
