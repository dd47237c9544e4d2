"""Ji, Srebro and Telgarsky (2021), Section 3: how fast Algorithm 1 maximises the margin.

Rows of A are y_i x_i, the paper's Z is −A, and the momentum of the solver is minus the paper's g_t;
norms are the same.
"""

from __future__ import annotations

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, Trit, log, sqrt
from gammabar.harness.court.relation import Relation, at_most
from gammabar.harness.court.statement import per_iterate, separable, stopping
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.view import View
from gammabar.papers.ji_srebro_telgarsky_2021.history import (
    BOTH_FORMS,
    Sequences,
    accelerated,
    claimed_pull,
    exponential,
    starts_at_one,
    theta_one,
    unit_ball,
)

#: One row, a_1 = 1: everything is known by hand.
ONE_ROW = "degenerate:kind=simplex,n=1,d=1"

#: What Theorem 3.1 assumes.
THEOREM = (*exponential, theta_one, accelerated, unit_ball)


def rate(case: Case, t: int, gamma: Number) -> Number:
    """4(1 + ln n)(1 + 2 ln(t + 1)) / (γ (t + 1)²)."""
    return (case.log_n + 1) * (log(t + 1) * 2 + 1) * 4 / (gamma * (t + 1) ** 2)


@per_iterate(
    "jst.thm3.1.1",
    reference="Theorem 3.1(1)",
    claim=r"\gamma(w_t) \ge \bar\gamma - \frac{4(1+\ln(n))(1+2\ln(t+1))}{\bar\gamma(t+1)^2}"
    r" \quad \text{for all } t \ge 1, \text{ if the dataset is separable}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM, separable),
    since=1,
    unit=True,
    problems=(ONE_ROW,),
)
def margin_rate(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄ − 4(1 + ln n)(1 + 2 ln(t+1)) / (γ̄ (t+1)²) for all t ≥ 1, on separable data."""
    gamma = case.gamma
    return at_most(gamma - it.margin, rate(case, it.t, gamma), "γ̄ − γ(w_t) ≤ the rate")


@per_iterate(
    "jst.thm3.1.2",
    reference="Theorem 3.1(2)",
    claim=r"\frac{4\|g_t\|_2^2}{t^2} - \frac{8\ln(n)}{(t+1)^2} \le \bar\gamma^2"
    r" \le \frac{4\|g_t\|_2^2}{t^2} \quad \text{for all } t \ge 1, \text{ for any dataset}",
    solvers=BOTH_FORMS,
    assumes=THEOREM,
    since=1,
    unit=True,
    history=(Sequences,),
)
def squared_margin(it: View, case: Case) -> list[Relation]:
    """4‖g_t‖²/t² − 8 ln n/(t+1)² ≤ γ̄² ≤ 4‖g_t‖²/t² for all t ≥ 1, for any data.

    g_t is the momentum that the solver claims; the dual form has none, so it is followed there.
    """
    seen = case.history(Sequences)
    if isinstance(seen.momentum, Relation):
        return [seen.momentum]
    length = seen.g.norm() if seen.momentum is None else seen.momentum.norm(exact=it.level > 0)
    t, square = it.t, case.gamma_squared
    top = length * length * 4 / t**2
    return [
        at_most(top - square, case.log_n * 8 / (t + 1) ** 2, "4‖g_t‖²/t² − γ̄² ≤ 8 ln n/(t+1)²"),
        at_most(square, top, "γ̄² ≤ 4‖g_t‖²/t²"),
    ]


@per_iterate(
    "jst.lem3.2",
    reference="Lemma 3.2",
    claim=r"\phi(\mu_t) - \phi(\bar q) \le \frac{4\ln(n)}{(t+1)^2} \quad \text{for all } t \ge 1"
    r" \text{ and } \bar q \in \arg\min_{q\in\Delta_n} \phi(q)",
    solvers=BOTH_FORMS,
    assumes=THEOREM,
    since=1,
    unit=True,
    history=(Sequences,),
)
def dual_rate(it: View, case: Case) -> Relation:
    """φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)² for all t ≥ 1, with φ(q) = ‖Zᵀq‖²/2, for any data.

    μ_t is what the solver claims under that name, or else it is followed.
    """
    square = case.history(Sequences).mu_square
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        if isinstance(mu, Relation):
            return mu
        length = mu.norm()
        square = length * length
    # φ(q̄) = γ̄²/2: Lemma A.1.
    gap = (square - case.gamma_squared) / 2
    return at_most(gap, case.log_n * 4 / (it.t + 1) ** 2, "φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)²")


@per_iterate(
    "jst.lem3.5",
    reference="Lemma 3.5",
    claim=r"-\psi(Zw_t) \ge -\psi(Zw_0) + \frac{1}{2\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2"
    r" + \sum_{j=1}^{t-1} \frac12 \left(\frac{1}{\lambda_{j-1}^2}"
    r" - \frac{1-\lambda_j}{\lambda_j^2}\right) \|Z^\top\mu_j\|_2^2"
    r" + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2 \quad \text{for all } t \ge 1",
    solvers=BOTH_FORMS,
    assumes=(*exponential, theta_one, starts_at_one, unit_ball),
    since=1,
    unit=True,
    history=(Sequences,),
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
    reference="Lemma 3.6, first inequality",
    claim=r"\sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \le \|w_t\|_2",
    solvers=BOTH_FORMS,
    assumes=(*exponential, theta_one, unit_ball),
    unit=True,
    history=(Sequences,),
    note="On data that are not separable γ̄ = 0, and it says nothing.",
)
def norm_grows(it: View, case: Case) -> Relation:
    """Σ_{j<t} γ̄/λ_j ≤ ‖w_t‖ for θ_t = 1."""
    return at_most(case.gamma * case.history(Sequences).scale, it.norm, "Σ_j γ̄/λ_j ≤ ‖w_t‖")


@per_iterate(
    "jst.lem3.6.upper",
    reference="Lemma 3.6, second inequality",
    claim=r"\|w_t\|_2 \le \sum_{j=0}^{t-1} \frac{1}{\lambda_j} \|Z^\top\nu_j\|_2",
    solvers=BOTH_FORMS,
    assumes=(*exponential, theta_one, unit_ball),
    unit=True,
    history=(Sequences,),
    note="With equality at t = 1, and as long as all Zᵀν_j have one direction, as with d = 1: no"
    " precision decides that for steps in doubles, so the bound is widened by their rounding, which"
    " is some 10⁻¹² of it.",
)
def norm_is_bounded(it: View, case: Case) -> Relation:
    """‖w_t‖ ≤ Σ_{j<t} ‖Zᵀν_j‖/λ_j for θ_t = 1."""
    seen = case.history(Sequences)
    bound = seen.path + (seen.rounding + 2 * float(seen.path.rad()))
    return at_most(it.norm, bound, "‖w_t‖ ≤ Σ_j ‖Zᵀν_j‖/λ_j")


def half_margin(it: View, case: Case) -> Relation:
    """γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)."""
    gamma = case.gamma
    bound = case.log_n * 4 / (gamma * (it.t + 1) ** 2)
    return at_most(gamma / 2 - it.margin, bound, "γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)")


HALF = r"\gamma(w_t) \ge \frac{\bar\gamma}{2} - \frac{4\ln(n)}{\bar\gamma(t+1)^2}"


@per_iterate(
    "jst.prop3.7",
    reference="Proposition 3.7",
    claim=HALF,
    solvers=BOTH_FORMS,
    assumes=(*THEOREM, separable),
    unit=True,
    status="refuted",
    fixed_by="jst.prop3.7.fixed",
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
    assumes=(*THEOREM, separable),
    since=1,
    unit=True,
    problems=(ONE_ROW,),
)
def half_margin_since_one(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²) for all t ≥ 1, on separable data."""
    return it.once(half_margin)


def quarter(it: View, case: Case) -> Trit:
    """Whether γ(w_t) ≥ γ̄/4."""
    aim, margin = case.gamma / 4, it.margin
    return True if margin >= aim else False if margin < aim else None


@stopping(
    "jst.sec1.quarter",
    reference="Section 1.1",
    claim=r"\text{a margin of } \bar\gamma/4 \text{ in } 4\sqrt{\ln(n)}/\bar\gamma"
    r" \text{ steps}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM, separable),
    goal=quarter,
    unit=True,
    status="refuted",
    fixed_by="jst.sec1.quarter.fixed",
    problems=(ONE_ROW,),
    note="With one row ln n = 0, so it promises γ̄/4 after no step at all, but γ(w_0) = γ(0) = 0."
    " Smallest witness: n = d = 1, x_1 = 1, y_1 = 1: 0 steps, γ̄/4 = 1/4, γ(w_0) = 0. For n ≥ 2 it"
    " holds: it follows from Proposition 3.7 at the last t ≤ 4√(ln n)/γ̄, for which"
    " t + 1 > 4√(ln n)/γ̄ and t ≥ 3.",
)
def quarter_margin(case: Case) -> Number:
    """γ(w_t) ≥ γ̄/4 for some t ≤ 4√(ln n)/γ̄, on separable data."""
    return sqrt(case.log_n) * 4 / case.gamma


@stopping(
    "jst.sec1.quarter.fixed",
    reference="Section 1.1, with at least one step",
    claim=r"\text{a margin of } \bar\gamma/4 \text{ in } \max(1, 4\sqrt{\ln(n)}/\bar\gamma)"
    r" \text{ steps}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM, separable),
    goal=quarter,
    unit=True,
    problems=(ONE_ROW,),
)
def quarter_margin_after_a_step(case: Case) -> Number:
    """γ(w_t) ≥ γ̄/4 for some t ≤ max(1, 4√(ln n)/γ̄), on separable data."""
    return quarter_margin(case).max(1)


TRIALS = (
    Trial("dual-acceleration", "planted:n=100,d=8,gamma=0.1,seed=0", 300),
    Trial("dual-acceleration", "planted:n=40,d=5,gamma=0.01,seed=1", 300),
    Trial("dual-acceleration", "imbalanced:n=100,d=6,ratio=10,gamma=0.1,seed=0", 200),
    Trial("dual-acceleration", "gaussian:n=60,d=20,seed=2,separable=1", 200),
    Trial("dual-acceleration", "inseparable:n=80,d=6,seed=0", 200),
    Trial("dual-acceleration", "degenerate:kind=zero-row", 100),
    Trial("dual-acceleration", "duplicated:n=20,d=4,copies=3", 100),
    # ‖g_t‖ gets as near to γ̄t/2 as doubles can be: after these, only rounding is left to see.
    Trial("dual-acceleration", "worst-case:n=50", 15),
    Trial("dual-acceleration", "loss-spike", 50),
    Trial("dual-acceleration", "mnist-sample:0,1", 200),
    Trial("dual-acceleration", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("dual-acceleration", "iris:0,1,2 --multiclass", 100),
    Trial("dual-acceleration-dual", "planted:n=60,d=6,gamma=0.1,seed=3", 150),
    Trial("dual-acceleration-dual", "inseparable:n=40,d=5,seed=1", 100),
    Trial("dual-acceleration-dual", "iris:0,1 --kernel poly:degree=2,coef0=1", 60),
    Trial("dual-acceleration-dual:mixing=1", "planted:n=60,d=6,gamma=0.1,seed=3", 100),
)
