"""Appendix D, Omitted Proofs from Section 4.

Each statement makes its own runs, as Theorem 4.1 says.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    Case,
    Relation,
    at_most,
    log,
    nearly,
    number,
    randomised,
    separable,
    size_of,
    sqrt,
    upper,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import few_rows
from gammabar.papers.ji_srebro_telgarsky_2021.sampling_runs import (
    ALGORITHM_2,
    DELTA,
    reachable,
    run,
    tolerance,
)

#: ε over γ̄ in the lemmas, whose bounds depend on ε only through t.
LEMMAS = Fraction(4)


@randomised(
    "jst.lemD.1",
    instances="δ = 1/2 and ε = 4γ̄",
    reference="Lemma D.1",
    claim=r"\text{with probability } 1 - \delta/2: \; -\psi(Zw_t) \ge \sum_{j=0}^{t-1} \theta_j"
    r" \|Z^\top q_j\|_2^2 - 2\ln(n) - \sqrt{8 \ln\left(\frac{2}{\delta}\right) \ln(n)}",
    delta=float(DELTA / 2),
    runs=40,
    problems=("worst-case:n=5",),
    solvers=(ALGORITHM_2,),
    assumes=(separable, few_rows, reachable(LEMMAS)),
    unit=True,
    note="Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0).",
)
def lemma_d1(case: Case, rng: np.random.Generator) -> Relation:
    """Under the conditions of Theorem 4.1, with probability 1 − δ/2, the smoothed margin −ψ(Zw_t)
    is at least Σ_{j<t} θ_j ‖Zᵀq_j‖² − 2 ln n − √(8 ln(2/δ) ln n)."""
    made = run(case, rng, tolerance(case, LEMMAS))
    lost = 2 * case.log_n + sqrt(8 * log(2 / DELTA) * case.log_n)
    return at_most(
        made.theta * made.squares + made.last.psi,
        lost,
        "Σ θ_j ‖Zᵀq_j‖² + ψ(Zw_t) ≤ 2 ln n + √(8 ln(2/δ) ln n)",
        where=f"t = {made.last.t}",
    )


@randomised(
    "jst.lemD.2",
    instances="δ = 1/2 and ε = 4γ̄",
    reference="Lemma D.2",
    claim=r"\text{with probability } 1 - \delta/2: \; \|w_t\|_2 \le \sum_{j=0}^{t-1} \theta_j"
    r" \|Z^\top q_j\| + \sqrt{\frac{8\ln(n)}{\delta}}, \quad \text{and it always holds that }"
    r" \|w_t\|_2 \ge \bar{\gamma} \sqrt{t \ln(n)}",
    delta=float(DELTA / 2),
    runs=40,
    problems=("worst-case:n=5",),
    solvers=(ALGORITHM_2,),
    assumes=(separable, few_rows, reachable(LEMMAS)),
    unit=True,
    note="Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0). A run"
    " counts as a failure if either bound is violated.",
)
def lemma_d2(case: Case, rng: np.random.Generator) -> list[Relation]:
    """Under the conditions of Theorem 4.1, with probability 1 − δ/2, ‖w_t‖ is at most
    Σ_{j<t} θ_j ‖Zᵀq_j‖ + √(8 ln(n)/δ); and it is always at least γ̄ √(t ln n)."""
    made = run(case, rng, tolerance(case, LEMMAS))
    t, norm = made.last.t, made.last.norm
    bound = made.theta * made.lengths + sqrt(8 * case.log_n / number(DELTA))
    least, what, where = case.gamma * sqrt(t * case.log_n), "γ̄ √(t ln n) ≤ ‖w_t‖", f"t = {t}"
    # Rows that are all the same attain it: t rows times θ, added up in doubles.
    rounding = 8 * (t + case.space.dimension + 16) * ROUNDOFF * upper(norm)
    return [
        at_most(norm, bound, "‖w_t‖ ≤ Σ θ_j ‖Zᵀq_j‖ + √(8 ln(n)/δ)", where=where),
        nearly(least, norm, what, rounding=rounding, size=size_of(least), where=where),
    ]
