"""Section 3.2, Primal and Dual Updates: acceleration of the dual is momentum in the primal.

Rows of A are y_i x_i: Aᵀq_t, Aᵀμ_t and the momentum of the solver are minus the paper's Zᵀq_t,
Zᵀμ_t and g_t, and each identity is checked with both sides negated.
"""

from __future__ import annotations

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    LinearSpace,
    Relation,
    Vec,
    View,
    at_most,
    fact,
    per_iterate,
    weighted_sum,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    BOTH_FORMS,
    ONE_ROW,
    SECTION_3,
    THEOREM_3_1,
    accelerated,
    proper_step,
    starts_at_one,
)
from gammabar.papers.ji_srebro_telgarsky_2021.sequences import Sequences, momentum_follows
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import (
    claimed_pull,
    in_simplex,
    no_vector,
    same_vector,
)


@per_iterate(
    "jst.lem3.2",
    reference="Lemma 3.2",
    claim=r"\phi(\mu_t) - \phi(\bar q) \le \frac{4\ln(n)}{(t+1)^2} \quad \text{for all } t \ge 1"
    r" \text{ and } \bar q \in \arg\min_{q\in\Delta_n} \phi(q)",
    solvers=BOTH_FORMS,
    assumes=THEOREM_3_1,
    since=1,
    unit=True,
    history=(Sequences,),
    slower="dual-acceleration/plain-average",
)
def dual_rate(it: View, case: Case) -> list[Relation]:
    """φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)² for all t ≥ 1, with φ(q) = ‖Zᵀq‖²/2, for any data.

    μ_t is followed along the iterates; what the solver says under that name must be in Δ_n, and
    have the same Zᵀμ_t.
    """
    seen = case.history(Sequences)
    # φ(q̄) = γ̄²/2: Lemma A.1.
    gap = (seen.mu_square - case.gamma_squared) / 2
    found = [at_most(gap, 4 * case.log_n / (it.t + 1) ** 2, "φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)²")]
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        if isinstance(mu, Relation):
            return [mu]
        what = "Zᵀμ_t is that of the iterates"
        found += [in_simplex(it, it.extra["mu"], "μ_t"), same_vector(mu, seen.mu, what, seen.drift)]
    return found


@per_iterate(
    "jst.lem3.4.primal",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½",
    reference="Lemma 3.4, first display",
    claim=r"w_{t+1} = w_t - \theta_t (g_t + Z^\top q_t) \quad \text{for all } t \ge 0,"
    r" \text{ where } g_0 := 0,\ g_t := \frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t}"
    r" (g_{t-1} + Z^\top q_t)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, proper_step, starts_at_one),
    unit=True,
    history=(Sequences,),
    note="It is checked one step late, when w_{t+1} is known; at t = 0 that w_0 = 0.",
)
def primal_step(it: View, case: Case) -> Relation:
    """w_{t+1} = w_t − θ_t (g_t + Zᵀq_t) for all t ≥ 0, where g_0 = 0 and
    g_t = λ_{t−1}(1 − λ_t)/λ_t (g_{t−1} + Zᵀq_t); λ_0 = 1.

    g_t is followed, not taken from the solver.
    """
    seen = case.history(Sequences)
    if seen.last_step is None:
        return fact(not it.w.any(), "w_0 = 0")
    what = "w_t − w_{t−1} = −θ_{t−1} (g_{t−1} + Zᵀq_{t−1})"
    gap = weighted_sum(1.0, it.here, -1.0, seen.last, -1.0, seen.last_step)
    return no_vector(gap, seen.last_step, what, seen.momentum_drift)


@per_iterate(
    "jst.lem3.4.momentum",
    reference="Lemma 3.4, closed form of g_t",
    claim=r"\frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} = \frac{t}{t+1} \quad \text{and} \quad"
    r" g_t = \sum_{j=1}^t \frac{j}{t+1} Z^\top q_j \quad \text{for } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated),
    unit=True,
    history=(Sequences,),
    note="g_t is the momentum that the solver claims. The dual form claims ν_t, and there it is"
    " Zᵀν_t/λ_t − Zᵀq_t, as in the proof (Lemma C.3).",
)
def momentum_is_a_sum(it: View, case: Case) -> Relation | None:
    """g_t = Σ_{j=1}^t j/(t+1) Zᵀq_j for λ_t = 2/(t+2), that is λ_{t−1}(1−λ_t)/λ_t = t/(t+1)."""
    seen = case.history(Sequences)
    if isinstance(seen.momentum, Vec):
        return it.once(momentum_follows)
    momentum = claimed_momentum(it, seen)
    if momentum is None:
        it.claim("momentum")  # says that there is none
    if not isinstance(momentum, Vec):
        return momentum
    what = "g_t = Σ_j j/(t+1) Zᵀq_j"
    return same_vector(momentum, seen.weighted, what, seen.momentum_drift, 1 / (it.t + 1))


def claimed_momentum(it: View, seen: Sequences) -> Vec | Relation | None:
    """g_t as the solver claims it, or None if it claims nothing that tells."""
    if seen.momentum is not None or "nu" not in it.extra:
        return seen.momentum
    nu = claimed_pull(it, it.extra["nu"], "ν_t")
    if isinstance(nu, Relation):
        return nu
    return weighted_sum((it.t + 2) / 2, nu, -1.0, it.pull)  # 1/λ_t = (t + 2)/2


def same_space(case: Case) -> str | None:
    """d = n, so that Zᵀμ_t ∈ ℝᵈ and q_t ∈ ℝⁿ can be equal at all."""
    if not isinstance(case.space, LinearSpace):
        return "Zᵀμ_t and q_t are of different spaces"
    n, d = case.n, case.space.dimension
    return None if n == d else f"Zᵀμ_t has {d} entries and q_t has {n}"


@per_iterate(
    "jst.lem3.4.mu",
    reference="Lemma 3.4, last line",
    claim=r"Z^\top\mu_t = 2q_t/t \quad \text{for } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated, same_space),
    since=1,
    unit=True,
    history=(Sequences,),
    status="refuted",
    fixed_by="jst.lem3.4.mu.fixed",
    severity="transcription",
    survives="Everything: Theorem 3.1(2) is drawn from φ(μ_t) = 4‖g_t‖²/(2t²), that is, "
    "from the line as it is meant.",
    why="The other text prints 2g_t/t, and so does this one in Lemma C.3.",
    charitable="jst.lem3.4.mu.fixed",
    problems=(ONE_ROW, "loss-spike"),
    note="The left is a vector of ℝᵈ and q_t one of Δ_n: it has a meaning for n = d only, and is"
    " false there. Smallest witness: n = d = 1, x_1 = 1, y_1 = 1, so Z = (−1), μ_1 = q_1 = (1),"
    " t = 1: Zᵀμ_1 = −1 on the left, 2q_1/1 = 2 on the right. The other text of the paper prints"
    " Zᵀμ_t = 2g_t/t, as Lemma C.3 does here: a slip of transcription.",
)
def mu_is_weights(it: View, case: Case) -> Relation:
    """Zᵀμ_t = 2q_t/t for λ_t = 2/(t+2), with the weights q_t in place of the momentum g_t."""
    seen = case.history(Sequences)
    weights = softmax(it)
    # Zᵀμ_t = −Aᵀμ_t; both sides negated.
    return same_vector(seen.mu, weights, "Zᵀμ_t = 2q_t/t", factor=-2 / it.t)


def softmax(it: View) -> Vec:
    """q_t in doubles, as a vector of ℝⁿ."""
    scores = it.score_doubles
    raw = np.exp(scores.min() - scores)
    # Scores off by e change a weight by a factor of at most exp(2e); exponentials and sum the rest.
    error = np.expm1(2 * it.score_error) + (it.n + 16) * ROUNDOFF
    # TINY: exponentials and quotients of fewer than 2^74 rows that underflow lose η each.
    return it.vec(raw / raw.sum(), float(error) * SAFETY + TINY)


@per_iterate(
    "jst.lem3.4.mu.fixed",
    reference="Lemma 3.4, last line, with g_t for q_t",
    claim=r"Z^\top\mu_t = 2g_t/t \quad \text{for all } t \ge 1 \text{ and } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated),
    since=1,
    unit=True,
    history=(Sequences,),
)
def mu_is_momentum(it: View, case: Case) -> Relation | None:
    """Zᵀμ_t = 2g_t/t for all t ≥ 1 and λ_t = 2/(t+2).

    What the solver claims, μ_t or g_t, is compared with the other as it is followed.
    """
    seen, what = case.history(Sequences), "Zᵀμ_t = 2g_t/t"
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        if isinstance(mu, Relation):
            return mu
        return same_vector(mu, seen.g, what, seen.drift, 2 / it.t)
    momentum = seen.momentum
    if momentum is None:
        it.claim("momentum")  # says that there is none
    if not isinstance(momentum, Vec):
        return momentum
    return same_vector(seen.mu, momentum, what, seen.drift, 2 / it.t)
