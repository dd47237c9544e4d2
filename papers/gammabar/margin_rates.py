"""Results of this project about Algorithm 1 of Ji, Srebro and Telgarsky (2021).

The proofs are in docs/own-results.md.
"""

from __future__ import annotations

from gammabar.papers import Case, Relation, Trial, View, at_most, per_iterate, separable
from gammabar.papers.ji_srebro_telgarsky_2021.method import BOTH_FORMS, THEOREM_3_1


@per_iterate(
    "gb.sharp",
    reference="docs/own-results.md, gb.sharp",
    claim=r"\gamma(w_t) \ge \bar\gamma - \frac{4\ln n}{\bar\gamma\,t(t+3)}"
    r" \quad \text{for all } t \ge 1, \text{ if the dataset is separable}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    note="Equality for n = 1, where rounding in the run leaves it undecided.",
)
def sharp_rate(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄ − 4 ln n/(γ̄ t (t+3)) for all t ≥ 1, on separable data."""
    gamma, t = case.gamma, it.t
    bound = 4 * case.log_n / (gamma * t * (t + 3))
    return at_most(gamma - it.margin, bound, "γ̄ − γ(w_t) ≤ 4 ln n/(γ̄ t (t+3))")


@per_iterate(
    "gb.selfcert",
    reference="docs/own-results.md, gb.selfcert",
    claim=r"\bar\gamma - \gamma(w_t) \le \frac{\ln n}{\|w_t\|_2}"
    r" \quad \text{for all } t \ge 1, \text{ if the dataset is separable}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    note="Equality for n = 1, where rounding in the run leaves it undecided.",
)
def certifies_itself(it: View, case: Case) -> Relation | None:
    """γ̄ − γ(w_t) ≤ ln n/‖w_t‖ for all t ≥ 1, on separable data."""
    if not it.norm > 0:
        return None  # the bound is infinite
    return at_most(case.gamma - it.margin, case.log_n / it.norm, "γ̄ − γ(w_t) ≤ ln n/‖w_t‖")


TRIALS = (
    Trial("dual-acceleration", "planted:n=200,d=10,gamma=0.05,seed=4", 400),
    Trial("dual-acceleration", "digits:3,8", 200),
)
