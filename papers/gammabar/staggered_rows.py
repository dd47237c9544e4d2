"""Normalized Batch Perceptron needs all the iterations that Theorem 5.3 of Tyurin (2024) allows.

The proof is in docs/own-results.md, gb.staggered; the data are problems/generators.py, staggered.
"""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import Case, Relation, View, at_least, at_most, below, per_iterate
from gammabar.papers.tyurin_2024.quantities import squared_ratio, the_data


def _text(d: int) -> str:
    return f"staggered:d={d},r={4 * d},copies={8 * d}"


def staggered_data(case: Case) -> str | None:
    """The data are `staggered` with r = 4d and 8d copies, d ≥ 2."""
    other = "it is about the data sets staggered:d=…,r=4d,copies=8d"
    return the_data(case, _text((case.n + 1) // 9), other) if case.n >= 17 else other


@per_iterate(
    "gb.staggered",
    powerless="about data sets on which a method is slow: wrong ones may be faster",
    reference="docs/own-results.md, gb.staggered",
    kind="existence",
    claim=r"\text{For every } d \ge 2 \text{ there are } 9d - 1 \text{ rows in } \mathbb{R}^d"
    r" \text{ with } \lfloor R^2/\mu^2 \rfloor = d \text{ for which Normalized Batch Perceptron"
    r" needs } d \text{ iterations}",
    solvers=("normalized-batch-perceptron",),
    assumes=(staggered_data,),
    note="So R²/μ² in Theorem 5.3 of Tyurin (2024) cannot be improved, whatever its value, and"
    " neither can the first term of Theorem 6.1, as Normalized LR+GD tends to this method.",
)
def needs_all(it: View, case: Case) -> Iterator[Relation]:
    """On `staggered` with r = 4d and 8d copies, ⌊R²/μ²⌋ = d, and Normalized Batch Perceptron
    separates at t = d and not before."""
    d = (it.n + 1) // 9
    if it.t == 0:
        yield at_least(squared_ratio(case), d, "R²/μ² ≥ d")
        yield below(squared_ratio(case), d + 1, "R²/μ² < d + 1")
    size = 1 + 2 * it.here.size()
    if it.t < d:
        yield at_most(it.smallest, 0, "min_i ⟨a_i, w_t⟩ ≤ 0 for t < d", size=size)
    if it.t == d:
        yield below(0, it.smallest, "min_i ⟨a_i, w_d⟩ > 0", size=size)
