"""Appendix C, the end of the proof of Theorem 3.1: how long w_t is, and half of the margin.

Rows are a_i = y_i x_i, so Z = −A; ρ = 1 for the exponential loss and ρ = n for the logistic loss.
The trials are those of `gammabar.papers.ji_srebro_telgarsky_2021.appendix_c`.
"""

from __future__ import annotations

from gammabar.papers import (
    Case,
    Number,
    Relation,
    View,
    at_most,
    nearly,
    per_iterate,
    separable,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    BOTH_FORMS,
    accelerated,
    exponential,
    full_step,
    rho,
    smooth,
)
from gammabar.papers.ji_srebro_telgarsky_2021.sequences import Sequences
from gammabar.papers.ji_srebro_telgarsky_2021.trajectory import (
    MixedLengths,
    Trajectory,
    trajectory,
)

_LENGTH = (
    r"\|w_t\|_2 \le \frac1\rho\|Z^\top q_0\|_2 + \frac1\rho\|Z^\top q_t\|_2 + \sum_{j=0}^{t-1}"
    r" \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2 \le \frac2\rho + \sum_{j=0}^{t-1}"
    r" \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2"
)


def _lengths(case: Case) -> Number:
    """‖Zᵀq_0‖ + ‖Zᵀq_t‖."""
    path, now = trajectory(case)
    return path.first.norm() + now.pull.norm()


def _triangle(it: View, case: Case) -> Relation:
    bound = (_lengths(case) + case.history(MixedLengths).value) / rho(case)
    return at_most(it.norm, bound, "‖w_t‖ ≤ (‖Zᵀq_0‖ + ‖Zᵀq_t‖ + Σ ‖Zᵀμ_{j+1}‖/λ_j)/ρ")


def _at_most_two(case: Case) -> Relation:
    """One row attains it: so up to what its ball in doubles cannot tell."""
    ends = _lengths(case)
    return nearly(ends, 2, "‖Zᵀq_0‖ + ‖Zᵀq_t‖ ≤ 2", rounding=2 * float(ends.rad()), size=2.0)


@per_iterate(
    "jst.appC.length",
    reference="Appendix C, proof of Theorem 3.1, the bound on ‖w_t‖ after (C.13)",
    claim=_LENGTH,
    solvers=BOTH_FORMS,
    assumes=(full_step,),
    since=1,
    unit=True,
    history=(Sequences, Trajectory, MixedLengths),
    status="refuted",
    problems=("duplicated:n=10,d=3,copies=50,gamma=0.9",),
    fixed_by="jst.appC.length.fixed",
    severity="substance",
    survives="Theorem 3.1, which is for the exponential loss, where ‖Zᵀq_t‖ ≤ 1. The rate "
    "for the logistic loss survives by another way, which needs no such bound "
    "(gb.smooth).",
    why="The proof is for either loss, but ‖Zᵀq_t‖ ≤ 1 needs q_t ∈ Δ_n, which is so for the"
    " exponential loss alone; the length is bounded by much less than it is.",
    note="True for the exponential loss. For the logistic loss q_t = ∇ψ(Zw_t) only has ‖q_t‖₁ ≥ 1."
    " Witness: ρ = n = 1000 copies of one row of norm one, t = 1: ‖w_1‖ = q_0 = ½/(1 − 2⁻ⁿ), and"
    " 2/ρ + ‖Zᵀμ_1‖/(ρλ_0) = 0.002 + q_1 = 0.379…",
)
def length_as_printed(it: View, case: Case) -> list[Relation]:
    """‖w_t‖ ≤ (‖Zᵀq_0‖ + ‖Zᵀq_t‖ + Σ_{j<t} ‖Zᵀμ_{j+1}‖/λ_j)/ρ ≤ (2 + Σ …)/ρ, for either loss."""
    bound = (2 + case.history(MixedLengths).value) / rho(case)
    last = at_most(it.norm, bound, "‖w_t‖ ≤ (2 + Σ ‖Zᵀμ_{j+1}‖/λ_j)/ρ")
    return [_triangle(it, case), _at_most_two(case), last]


@per_iterate(
    "jst.appC.length.fixed",
    at_rest="it bounds ‖w_t‖ from above",
    reference="Appendix C, the same, with the second inequality for the exponential loss alone",
    claim=_LENGTH + r"\text{ (the latter for the exponential loss)}",
    solvers=BOTH_FORMS,
    assumes=(full_step,),
    since=1,
    unit=True,
    history=(Sequences, Trajectory, MixedLengths),
)
def length_fixed(it: View, case: Case) -> list[Relation]:
    """‖w_t‖ ≤ (‖Zᵀq_0‖ + ‖Zᵀq_t‖ + Σ_{j<t} ‖Zᵀμ_{j+1}‖/λ_j)/ρ, and ‖Zᵀq_t‖ ≤ 1 for the exponential
    loss."""
    found = [_triangle(it, case)]
    return [*found, _at_most_two(case)] if exponential(case) is None else found


@per_iterate(
    "jst.appC.half",
    at_rest="it bounds ‖w_t‖ from above",
    reference="Appendix C, proof of Theorem 3.1, the last display",
    claim=r"\frac{\sum_{j=0}^{t-1} \frac{1}{2\rho\lambda_j} \|Z^\top\mu_{j+1}\|_2^2}{\|w_t\|_2}"
    r" \ge \frac{\bar\gamma}{2} - \frac{4}{(t+1)^2}",
    solvers=BOTH_FORMS,
    assumes=(full_step, accelerated, smooth, exponential, separable),
    since=1,
    unit=True,
    history=(Sequences, Trajectory),
    note="For the exponential loss: it is built on jst.appC.length.",
)
def half_the_margin(it: View, case: Case) -> Relation | None:
    """Σ_{j<t} ‖Zᵀμ_{j+1}‖²/(2λ_j) is at least (γ̄/2 − 4/(t+1)²)‖w_t‖."""
    path, _ = trajectory(case)
    missing = case.gamma / 2 * it.norm - path.next_squares / (2 * rho(case))
    return at_most(missing, 4 * it.norm / (it.t + 1) ** 2, "γ̄‖w_t‖/2 − Σ … ≤ 4‖w_t‖/(t+1)²")
