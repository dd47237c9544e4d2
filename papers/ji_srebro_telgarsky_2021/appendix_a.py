"""Appendix A, Margins in the Primal and in the Dual.

Rows of A are y_i x_i and the paper's Z is −A. Everything is decided in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import Case, Relation, direct, fact
from gammabar.papers.ji_srebro_telgarsky_2021.optima import (
    ABOUT_DATA,
    SEPARABLE,
    Pair,
    alignment,
    exact_and_separable,
    rational,
)

ANY = (*SEPARABLE, "inseparable:n=30,d=4,seed=0", "degenerate:kind=zero-row")


@direct(
    "jst.lemA.1.value",
    reference="Lemma A.1, first display",
    claim=r"\bar\gamma := \max_{\|w\|_2 \le 1} \min_{1 \le i \le n} (Zw)_i"
    r" = \min_{q \in \Delta_n} \|Z^\top q\|_2",
    kind="identity",
    problems=ANY,
    assumes=(rational,),
    unit=True,
    powerless=ABOUT_DATA,
    note="With Z = −A the primal problem of the lemma is not that of Section 2, which is"
    " max min_i (−Zw)_i; but w ↦ −w maps one onto the other, so the values agree and it holds.",
)
def duality(case: Case) -> Iterator[Relation]:
    """γ̄ = max_{‖w‖ ≤ 1} min_i (Zw)_i = min_{q ∈ Δ_n} ‖Zᵀq‖.

    The left is never above the right. They are equal if one w attains one ‖Zᵀq‖: w = −w̄/‖w̄‖ has
    (Zw)_i = ⟨a_i, w̄⟩/‖w̄‖, and w = 0 will do where w̄ = 0.
    """
    pair = Pair(case)
    yield pair.in_simplex()
    if pair.square > 0:
        yield fact(min(pair.scores) == pair.square, "min_i (Zw)_i = ‖Zᵀq̄‖ for w = −w̄/‖w̄‖")
    low, high = case.truth.square_lo, case.truth.square_hi
    yield fact(low == pair.square == high, "γ̄² = ‖Zᵀq̄‖²")


@direct(
    "jst.lemA.1.vector",
    reference="Lemma A.1, second sentence",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ (of } \max_{\|w\|_2 \le 1} \min_i (Zw)_i \text{), such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    status="refuted",
    fixed_by="jst.lemA.1.vector.fixed",
    severity="misprint",
    survives="Everything: the value in the lemma is right, the proof is about −max_i "
    "(Zw)_i, and later sections use the ū of Section 2.",
    why="min (Zw)_i stands for −max (Zw)_i; with the ū of Section 2, which the paper goes on"
    " to use, it is true.",
    charitable="jst.lemA.1.vector.fixed",
    powerless=ABOUT_DATA,
    note="The primal problem of the lemma is max min_i (Zw)_i with Z = −A. Its solution is minus"
    " the classifier of Section 2, and for it Zᵀq̄ = γ̄ū, without the minus. Smallest witness:"
    " n = d = 1, x_1 = 1, y_1 = 1: max_{|w| ≤ 1} −w is attained at ū = −1 only; −Zᵀq̄ = 1 on the"
    " left, γ̄ū = −1 on the right. The proof is about max −max_i (Zw)_i, for which the lemma holds;"
    " its last display turns −max_i (Zw)_i into min_i (Zw)_i, which keeps the value but negates the"
    " solution. With the ū of Section 2 the formula is true, and that is the fixed form.",
)
def vector_as_printed(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, -1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (Zw)_i")


@direct(
    "jst.lemA.1.vector.fixed",
    reference="Lemma A.1, second sentence, with the primal problem of its proof",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ of } \max_{\|w\|_2 \le 1} \min_i (-Zw)_i, \text{ such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    powerless=ABOUT_DATA,
)
def vector(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (−Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, 1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (−Zw)_i")
