"""SNKP of Ramdas and Peña (2015) certifies that data are not separable.

The proof is in docs/own-results.md.
"""

from __future__ import annotations

from typing import Any

from gammabar.papers import (
    Case,
    Relation,
    Trit,
    View,
    at_most,
    fact,
    number,
    per_iterate,
    sqrt,
    stopping,
)
from gammabar.papers.ramdas_pena_2015.quantities import SoftAverages, followed, norm, tells
from gammabar.papers.ramdas_pena_2015.section4 import temperature


def no_single_zero(case: Case) -> str | None:
    """SNKP's Gram matrix is defined: a single point with K(x, x) = 0 cannot be normalised."""
    if case.n > 1 or case.truth.radius_squared_hi > 0:
        return None
    return "a single zero row: both bounds are 0 and 0 < 0 is false"


@per_iterate(
    "gb.snkp.any",
    reference="this project: Lemmas 1, 4 and 5 of Ramdas and Peña (2015) together",
    claim=r"\|p_k\|_G \le \sqrt{2\mu_k\log n} < \frac{2\sqrt{2\log n}}{k+1}"
    r"\quad\text{until } G\alpha_k > 0",
    solvers=("snkp",),
    assumes=(no_single_zero,),
    unit=True,
    history=(SoftAverages,),
    note="Any data with rows of norm at most one. If Gα_k > 0 fails, L(α_k) ≥ 0 (Lemma 1), so "
    "−½‖p_k‖²_G ≥ L_μ(α_k) ≥ L(α_k) − μ_k log n ≥ −μ_k log n (Lemmas 5 and 4). A single row that "
    "is zero is excluded: there the strict inequality says 0 < 0.",
    slower="snkp/perceptron-instead",
)
def snkp_any(it: View, case: Case) -> list[Relation]:
    """Until SNKP separates, ‖p_k‖_G ≤ √(2 μ_k log n) < 2√(2 log n)/(k+1), whatever the data."""
    p, wrong = followed(it, case, SoftAverages)
    if it.misses is not True:
        return wrong if it.misses is False else [*wrong, fact(None, "whether Gα_k > 0")]
    bound = sqrt(2 * temperature(it.t) * case.log_n)
    last = 2 * sqrt(2 * case.log_n) / (it.t + 1)
    strict = True if bound < last else False if bound >= last else None
    return [
        *wrong,
        at_most(norm(it, p), bound, "‖p_k‖_G ≤ √(2 μ_k log n)"),
        fact(strict, "√(2 μ_k log n) < 2√(2 log n)/(k+1)"),
    ]


def _separates_or_certifies(it: View, case: Case) -> Trit:
    if it.separates:
        return True
    p, wrong = followed(it, case, SoftAverages)
    if wrong:  # known to be no average of the iterates, or not known
        fails: Trit = any(claim.fact is False for claim in wrong) or None
    else:
        length, epsilon = norm(it, p), number(case.solver.epsilon)
        if length <= epsilon:
            return True
        fails = length > epsilon or None
    return False if fails and it.separates is False else None


@stopping(
    "gb.snkp.any.exit",
    reference="this project: the consequence of gb.snkp.any",
    claim=r"G\alpha_k > 0 \text{ or } \|p_k\|_G \le \epsilon \text{ for some }"
    r"k \le 2\sqrt{2\log n}/\epsilon",
    solvers=("snkp",),
    assumes=(tells("epsilon"),),
    goal=_separates_or_certifies,
    unit=True,
    history=(SoftAverages,),
    slower="snkp/perceptron-instead",
)
def snkp_exit(case: Case) -> Any:
    """SNKP with the exit ‖p_k‖_G ≤ ε separates or certifies within 2√(2 log n)/ε iterations."""
    return 2 * sqrt(2 * case.log_n) / number(case.solver.epsilon)
