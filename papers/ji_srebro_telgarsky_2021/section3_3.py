"""Section 3.3, Margin Analysis.

Rows of A are y_i x_i and the paper's Z is −A; norms are the same.
"""

from __future__ import annotations

from gammabar.papers import (
    Case,
    Relation,
    View,
    at_most,
    fact,
    nearly,
    per_iterate,
    separable,
    size_of,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    BOTH_FORMS,
    ONE_ROW,
    SECTION_3,
    THEOREM_3_1,
    full_step,
    several_rows,
    starts_at_one,
    unit_ball,
)
from gammabar.papers.ji_srebro_telgarsky_2021.sequences import Sequences


@per_iterate(
    "jst.lem3.5",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½",
    reference="Lemma 3.5",
    claim=r"-\psi(Zw_t) \ge -\psi(Zw_0) + \frac{1}{2\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2"
    r" + \sum_{j=1}^{t-1} \frac12 \left(\frac{1}{\lambda_{j-1}^2}"
    r" - \frac{1-\lambda_j}{\lambda_j^2}\right) \|Z^\top\mu_j\|_2^2"
    r" + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2 \quad \text{for all } t \ge 1",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, starts_at_one, unit_ball),
    since=1,
    unit=True,
    history=(Sequences,),
    slower="dual-acceleration/no-momentum",
)
def potential_ascent(it: View, case: Case) -> Relation:
    """−ψ(Zw_t) ≥ −ψ(Zw_0) + ‖Zᵀμ_t‖²/(2λ_{t−1}²) + Σ_{j=1}^{t−1} ½(1/λ_{j−1}² − (1−λ_j)/λ_j²)
    ‖Zᵀμ_j‖² + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j) for all t ≥ 1, for θ_t = 1, λ_0 = 1 and any data.

    w_0 = 0, so that ψ(Zw_0) = ln n.
    """
    seen = case.history(Sequences)
    reciprocal = seen.last_reciprocal
    squares = reciprocal * reciprocal * seen.mu_square + seen.mu_squares + seen.nu_squares
    return at_most(squares / 2, case.log_n - it.psi, "the lower bound ≤ ψ(Zw_0) − ψ(Zw_t)")


@per_iterate(
    "jst.lem3.6.lower",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½, ½",
    reference="Lemma 3.6, first inequality",
    claim=r"\sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \le \|w_t\|_2",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, unit_ball),
    unit=True,
    history=(Sequences,),
    note="On data that are not separable γ̄ = 0, and it says nothing.",
    slower="dual-acceleration/no-momentum",
)
def norm_grows(it: View, case: Case) -> Relation:
    """Σ_{j<t} γ̄/λ_j ≤ ‖w_t‖ for θ_t = 1."""
    return at_most(case.gamma * case.history(Sequences).scale, it.norm, "Σ_j γ̄/λ_j ≤ ‖w_t‖")


@per_iterate(
    "jst.lem3.6.upper",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½, ½",
    reference="Lemma 3.6, second inequality",
    claim=r"\|w_t\|_2 \le \sum_{j=0}^{t-1} \frac{1}{\lambda_j} \|Z^\top\nu_j\|_2",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, unit_ball),
    unit=True,
    history=(Sequences,),
    note="With equality at t = 1, and as long as all Zᵀν_j have one direction, as with d = 1: no"
    " precision decides that for steps in doubles, so the bound is widened by their rounding, which"
    " is some 10⁻¹² of it.",
    at_rest="it bounds ‖w_t‖ from above, and the bound grows",
)
def norm_is_bounded(it: View, case: Case) -> Relation:
    """‖w_t‖ ≤ Σ_{j<t} ‖Zᵀν_j‖/λ_j for θ_t = 1."""
    seen = case.history(Sequences)
    rounding, size = seen.rounding + 2 * float(seen.path.rad()), size_of(seen.path)
    return nearly(it.norm, seen.path, "‖w_t‖ ≤ Σ_j ‖Zᵀν_j‖/λ_j", rounding=rounding, size=size)


@per_iterate(
    "jst.eq3.8",
    reference="Eq. (3.8)",
    claim=r"-\psi(Zw_t) \ge -\psi(Zw_0) + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j}"
    r" \|Z^\top\nu_j\|_2^2",
    solvers=BOTH_FORMS,
    assumes=THEOREM_3_1,
    since=1,
    unit=True,
    history=(Sequences,),
)
def potential_ascent_of_nu(it: View, case: Case) -> Relation:
    """−ψ(Zw_t) ≥ −ψ(Zw_0) + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j), for any data."""
    squares = case.history(Sequences).nu_squares
    return at_most(squares / 2, case.log_n - it.psi, "Σ ‖Zᵀν_j‖²/(2λ_j) ≤ ψ(Zw_0) − ψ(Zw_t)")


@per_iterate(
    "jst.eq3.9",
    reference="Eq. (3.9)",
    claim=r"\frac{\psi(Zw_0) - \psi(Zw_t)}{\|w_t\|_2} \ge \frac{\sum_{j=0}^{t-1}"
    r" \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2}{\sum_{j=0}^{t-1} \frac{1}{\lambda_j}"
    r" \|Z^\top\nu_j\|_2} \ge \frac{\bar\gamma}{2}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    history=(Sequences,),
    at_rest="a ratio that is good at w_1 stays so",
)
def smoothed_margin(it: View, case: Case) -> list[Relation]:
    """(ψ(Zw_0) − ψ(Zw_t))/‖w_t‖ ≥ Σ_j ‖Zᵀν_j‖²/(2λ_j)/Σ_j ‖Zᵀν_j‖/λ_j ≥ γ̄/2, on separable data."""
    seen = case.history(Sequences)
    middle = seen.nu_squares / (2 * seen.path)
    return [
        at_most(middle, (case.log_n - it.psi) / it.norm, "the middle ≤ (ψ(Zw_0) − ψ(Zw_t))/‖w_t‖"),
        at_most(case.gamma / 2, middle, "γ̄/2 ≤ the middle"),
    ]


@per_iterate(
    "jst.eq3.10",
    reference="Eq. (3.10) and the display before it",
    claim=r"\|w_t\|_2 \ge \sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \ge"
    r" \frac{\bar\gamma(t+1)^2}{4}, \quad \frac{\psi(Zw_0)}{\|w_t\|_2} ="
    r" \frac{\ln(n)}{\|w_t\|_2} \le \frac{4\ln(n)}{\bar\gamma(t+1)^2}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable, several_rows),
    since=1,
    unit=True,
    note="Σ_{j<t} 1/λ_j = t(t+3)/4 ≥ (t+1)²/4 for t ≥ 1; at t = 0 it is not.",
    slower="dual-acceleration/no-momentum",
)
def norm_against_rate(it: View, case: Case) -> list[Relation]:
    """‖w_t‖ ≥ Σ_{j<t} γ̄/λ_j ≥ γ̄(t+1)²/4 and ln n/‖w_t‖ ≤ 4 ln n/(γ̄(t+1)²) for all t ≥ 1, on
    separable data."""
    t = it.t
    return [
        fact(t * (t + 3) >= (t + 1) ** 2, "Σ_j 1/λ_j ≥ (t+1)²/4"),
        at_most(case.gamma * (t + 1) ** 2 / 4, it.norm, "γ̄(t+1)²/4 ≤ ‖w_t‖"),
        at_most(case.log_n / it.norm, 4 * case.log_n / (case.gamma * (t + 1) ** 2), "ln n/‖w_t‖ ≤"),
    ]


def half_margin(it: View, case: Case) -> Relation:
    """γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)."""
    gamma = case.gamma
    bound = 4 * case.log_n / (gamma * (it.t + 1) ** 2)
    return at_most(gamma / 2 - it.margin, bound, "γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)")


HALF = r"\gamma(w_t) \ge \frac{\bar\gamma}{2} - \frac{4\ln(n)}{\bar\gamma(t+1)^2}"


@per_iterate(
    "jst.prop3.7",
    reference="Proposition 3.7",
    claim=HALF,
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    unit=True,
    status="refuted",
    fixed_by="jst.prop3.7.fixed",
    severity="edge case",
    survives="Everything: Theorem 3.1(1) is about t ≥ 1, and (3.8) to (3.10), which its "
    "proof takes over, hold there.",
    why="It fails for a single row at t = 0 alone; for n ≥ 2 it is true for every t ≥ 0.",
    charitable="jst.prop3.7.charitable",
    problems=(ONE_ROW,),
    note="It names no range of t, and Algorithm 1 starts at t = 0, where γ(w_0) = γ(0) = 0. With"
    " one row ln n = 0, and the bound at t = 0 is γ̄/2 > 0. Smallest witness: n = d = 1, x_1 = 1,"
    " y_1 = 1, t = 0: γ̄ = 1, γ(w_0) = 0 on the left, 1/2 − 4·0/1 = 1/2 on the right. The proof"
    " divides by ‖w_t‖ and uses Σ_{j<t} 1/λ_j ≥ (t+1)²/4, which is so for t ≥ 1. For n ≥ 2 it holds"
    " at t = 0 as well, since γ̄² ≤ 1 ≤ 8 ln 2.",
)
def half_margin_always(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²), without a range of t."""
    return it.once(half_margin)


@per_iterate(
    "jst.prop3.7.fixed",
    reference="Proposition 3.7, for t ≥ 1",
    claim=HALF + r" \quad \text{for all } t \ge 1",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    problems=(ONE_ROW,),
    slower="dual-acceleration/no-momentum",
)
def half_margin_since_one(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²) for all t ≥ 1, on separable data."""
    return it.once(half_margin)


@per_iterate(
    "jst.prop3.7.charitable",
    reference="Proposition 3.7, for n ≥ 2",
    claim=r"n \ge 2:\ " + HALF,
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable, several_rows),
    unit=True,
    slower="dual-acceleration/no-momentum",
)
def half_margin_of_several(it: View, case: Case) -> Relation:
    """For two rows or more, γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²) for all t ≥ 0, on separable data."""
    return it.once(half_margin)
