"""Appendix C, Omitted Proofs from Section 3: any ρ-smooth potential ψ.

ρ = 1 for the exponential loss and ρ = n for the logistic loss; statements are checked for both.
"""

from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *

#: Many rows that are alike: D(q̄, q_0) of the logistic loss is of the order of n there.
_COPIES = ("duplicated:n=10,d=3,copies=50,gamma=0.9",)
_sums = followed.sharing(
    FAST, at_rest="what is compared is bounded where q_t stays the same, and the bound grows"
)


@followed.bound("lemC.2", "Lemma C.2", FAST, exact_dual, slower=PLAIN_AVERAGE)
def _lemma_c2(it, c):
    r"""The dual objective φ(μ_t) = ‖Zᵀμ_t‖²/2 exceeds its minimum by at most 4ρ D(q̄, q_0)/(t+1)².

    $\phi(\mu_t) - \phi(\bar{q}) \le \frac{4\rho D_{\psi^*}(\bar{q}, q_0)}{(t+1)^2}$

    D_{ψ*}(q̄, q_0) = Σ q̄_i ln q̄_i + ψ(0) for either loss: on Δ_n the conjugate of the logistic ψ
    is the entropy too. For the logistic loss μ_t is in general not in Δ_n, but it sums to at least
    1, and φ has the same minimum there."""
    bound = 4 * rho(c) * distance_from_start(c) / (it.t + 1) ** 2
    gap = (c.history(Sequences).now.mu_square - c.gamma_squared) / 2
    return [at_most(gap, bound, "φ(μ_t) − φ(q̄) ≤ 4ρ D(q̄, q_0)/(t+1)²"), *it.once(said)]


@jst.identity(
    "lemC.3",
    "Lemma C.3",
    BOTH,
    starts_at_one,
    proper_step,
    Sequences,
    Momentum,
    instances=LAMBDAS,
)
def _lemma_c3(it, c):
    r"""The primal iterate moves by momentum: w_{t+1} = w_t − θ_t/ρ (g_t + Zᵀq_t) with the recursive
    g_t, and Zᵀμ_t = λ_{t−1}(g_{t−1} + Zᵀq_t); for λ_t = 2/(t+2) the factor is t/(t+1), g_t is Σ
    j/(t+1) Zᵀq_j, and Zᵀμ_t = 2g_t/t.

    $w_{t+1} = w_t - \frac{\theta_t}{\rho} \left(g_t + Z^\top q_t\right), \quad g_t :=
    \frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} \left(g_{t-1} + Z^\top q_t\right), \quad
    Z^\top\mu_t = \lambda_{t-1} \left(g_{t-1} + Z^\top q_t\right); \quad \text{for } \lambda_t =
    2/(t+2): \frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} = \frac{t}{t+1}, \; g_t = \sum_{j=1}^t
    \frac{j}{t+1} Z^\top q_j, \; Z^\top\mu_t = \frac{2g_t}{t}$

    With what its proof shows of ν_t, g_t = Zᵀ(ν_t/λ_t − q_t), and the start μ_0 = q_0 of eq. (B.1).
    What a solver says of g_t, μ_t and ν_t must be what follows from its iterates."""
    seen, momentum, t = c.history(Sequences), c.history(Momentum), it.t
    now, past, g = seen.now, seen.before, momentum.g
    lam = float(now.lam)
    yield from it.once(said)
    if it.momentum is not None:
        what = "g_t is that of the iterates"
        yield told(it.once(claimed_momentum), g, what, seen.momentum_drift)
    rest = weighted_sum(1.0, now.nu, -lam, g, -lam, now.pull)
    yield zero(rest, now.nu, "‖Zᵀν_t − λ_t (g_t + Zᵀq_t)‖ = 0")
    if past is None:
        return
    yield it.once(step_follows)
    last = float(past.lam)
    rest = weighted_sum(1.0, now.mu, -last, momentum.last, -last, now.pull)
    yield zero(rest, now.mu, "‖Zᵀμ_t − λ_{t−1} (g_{t−1} + Zᵀq_t)‖ = 0")
    if accelerated(c) is None:
        yield fact(momentum.beta * (t + 1) == t, "λ_{t−1}(1 − λ_t)/λ_t = t/(t+1)")
        what = "‖g_t − Σ_{j≤t} j/(t+1) Zᵀq_j‖ = 0"
        yield same(g, momentum.weighted, what, factor=1 / (t + 1))
        yield same(now.mu, g, "‖Zᵀμ_t − 2g_t/t‖ = 0", factor=2 / t)


@followed.bound("lemC.7", "Lemma C.7", SMOOTH, starts_at_one, slower=NO_MOMENTUM, instances=LAMBDAS)
def _lemma_c7(it, c):
    r"""The smoothed margin −ψ(Zw_t) has grown since w_0 by at least the weighted squares of the
    norms of Zᵀμ_j and Zᵀν_j.

    $-\psi(Zw_t) \geq -\psi(Zw_0) + \frac{1}{2\rho\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2 +
    \sum_{j=1}^{t-1} \frac{1}{2\rho} \left(\frac{1}{\lambda_{j-1}^2} -
    \frac{1-\lambda_j}{\lambda_j^2}\right) \|Z^\top\mu_j\|_2^2 + \sum_{j=0}^{t-1}
    \frac{1}{2\rho\lambda_j} \|Z^\top\nu_j\|_2^2$

    An equation for n = 1, which doubles cannot decide."""
    seen, what = c.history(Sequences), "squares of ‖Zᵀμ_j‖ and ‖Zᵀν_j‖ ≤ ψ(0) − ψ(Zw_t)"
    squares = (it.once(mu_part) + seen.nu_squares) / (2 * rho(c))
    return [at_most(squares, seen.start - psi_of(it), what), *it.once(said)]


@followed.bound("eqC.10", "Eq. (C.10)", SMOOTH, instances=LAMBDAS_3)
def _potential_falls(now, before, c):
    r"""A step lowers ψ(Zw_t) by at least φ(μ_{t+1})/(ρλ_t²) − (1 − λ_t)φ(μ_t)/(ρλ_t²) +
    φ(ν_t)/(ρλ_t), where φ(q) = ‖Zᵀq‖²/2.

    $\psi(Zw_t) - \psi(Zw_{t+1}) \ge \frac{1}{\rho\lambda_t^2}\phi(\mu_{t+1}) -
    \frac{1-\lambda_t}{\rho\lambda_t^2}\phi(\mu_t) + \frac{1}{\rho\lambda_t}\phi(\nu_t)$

    It is checked one step late, when w_{t+1} is known. An equation for n = 1 and the exponential
    loss, which doubles cannot decide."""
    here, past = c.history(Sequences).now, c.history(Sequences).before
    inverse, length = past.inverse, past.nu_norm
    bound = inverse * inverse * here.mu_square - inverse * (inverse - 1) * past.mu_square
    bound = (bound + inverse * length * length) / (2 * rho(c))
    what = "φ(μ_{t+1})/(ρλ²) − … + φ(ν_t)/(ρλ) ≤ ψ(Zw_t) − ψ(Zw_{t+1})"
    return [at_most(bound, psi_of(before) - psi_of(now), what), *now.once(said)]


@jst.bound("lemC.11", "Lemma C.11", FULL, Sequences, slower=NO_MOMENTUM, instances=LAMBDAS_3)
def _lemma_c11(it, c):
    r"""The norm of w_t is at least Σ_{j<t} γ̄/(ρλ_j) and at most Σ_{j<t} ‖Zᵀν_j‖/(ρλ_j).

    $\sum_{j=0}^{t-1} \frac{\bar{\gamma}}{\rho\lambda_j} \leq \|w_t\|_2 \leq \sum_{j=0}^{t-1}
    \frac{1}{\rho\lambda_j} \|Z^\top\nu_j\|_2$

    Every step is checked against its definition, w_t = w_{t−1} − Zᵀν_{t−1}/(ρλ_{t−1}), up to
    rounding. Then the upper bound is the triangle inequality, which settles it where the two sides
    are too close to tell: at t = 1, and at every t if all rows are parallel."""
    seen, what = c.history(Sequences), "‖w_t‖ ≤ Σ ‖Zᵀν_j‖/(ρλ_j)"
    past = seen.before
    yield from it.once(said)
    yield at_most(c.gamma * seen.inverses / rho(c), it.norm, "Σ γ̄/(ρλ_j) ≤ ‖w_t‖")
    if past is None:
        return
    step = past.nu * (past.inverse / rho(c))
    equation = "‖w_t − w_{t−1} + Zᵀν_{t−1}/(ρλ_{t−1})‖ = 0"
    yield moved(it.here, past.it.here, step, equation, seen.step_drift(past))
    bound = seen.lengths / rho(c)
    if it.level and not it.norm > bound:
        zero_start = not seen.first.it.w.any()
        yield fact(zero_start, f"{what}, by the triangle inequality from w_0 = 0")
    else:
        yield at_most(it.norm, bound, what)


@followed.identity("lemC.12.identity", "Lemma C.12, first claim", FULL, Momentum)
def _lemma_c12_identity(it, c):
    r"""w_t is (Zᵀq_t − Zᵀq_0 − Σ_{j<t} Zᵀμ_{j+1}/λ_j)/ρ.

    $w_t = \frac{1}{\rho} Z^\top q_t - \frac{1}{\rho} Z^\top q_0 - \sum_{j=0}^{t-1}
    \frac{1}{\rho\lambda_j} Z^\top\mu_{j+1}$"""
    seen, what = c.history(Sequences), "‖w_t − (Zᵀq_t − Zᵀq_0 − Σ Zᵀμ_{j+1}/λ_j)/ρ‖ = 0"
    part, first, momentum = 1 / seen.rho, seen.first.pull, c.history(Momentum)
    pull, sum_ = seen.now.pull, momentum.next_sum
    rest = weighted_sum(1.0, it.here, -part, first, part, pull, -part, sum_)
    return [zero(rest, it.here, what, momentum.rounding), *it.once(said)]


@_sums.bound(
    "lemC.12.sum", "Lemma C.12, second claim", Erratum("substance", ".fixed"), problems=_COPIES
)
@_sums.bound(
    "lemC.12.sum.fixed",
    "Lemma C.12, second claim, corrected",
    instead={r"\ln(n)": r"\psi(0)", "2 ln(n)": "2 ψ(0)"},
    note="ψ(0) = ψ(Zw_0) in place of ln n: ln n for the exponential loss, ln(2ⁿ − 1) for the"
    " logistic loss. D_{ψ*}(q̄, q_0) = Σ q̄_i ln q̄_i + ψ(0) ≤ ψ(0), and the proof goes through.",
)
def _lemma_c12_sum(it, c, printed):
    r"""The weighted squares of ‖Zᵀμ_j‖ in Lemma C.7 are at least Σ_{j<t} ‖Zᵀμ_{j+1}‖²/(2ρλ_j), but
    for 2 ln(n) ln(t+1).

    $\frac{1}{2\rho\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2 + \sum_{j=1}^{t-1} \frac{1}{2\rho}
    \left(\frac{1}{\lambda_{j-1}^2} - \frac{1-\lambda_j}{\lambda_j^2}\right) \|Z^\top\mu_j\|_2^2 \ge
    \sum_{j=0}^{t-1} \frac{1}{2\rho\lambda_j} \|Z^\top\mu_{j+1}\|_2^2 - 2\ln(n)\ln(t+1)$"""
    start, name = (c.log_n, "ln(n)") if printed else (start_potential(c), "ψ(0)")
    what = f"Σ ‖Zᵀμ_{{j+1}}‖²/(2ρλ_j) − … ≤ 2 {name} ln(t+1)"
    shortfall = (c.history(Sequences).next_squares - it.once(mu_part)) / (2 * rho(c))
    return [at_most(shortfall, 2 * start * log(it.t + 1), what), *it.once(said)]


@followed.bound(
    "eqC.13",
    "Eq. (C.13)",
    FAST,
    Erratum("substance", ".fixed", same_mistake="lemC.12.sum"),
    problems=_COPIES,
)
@followed.bound(
    "eqC.13.fixed",
    "Eq. (C.13), with ψ(0) in place of ln n",
    FAST,
    instead={"− ln(n)": "− ψ(0)", ", for either loss": "", r"\ln(n)": r"\psi(0)"},
    note="ψ(0) is ln n for the exponential loss and ln(2ⁿ − 1) for the logistic loss; see"
    " jst.lemC.12.sum.fixed.",
)
def _equation_c13(it, c, printed):
    r"""γ(w_t)‖w_t‖ ≥ Σ_{j<t} (‖Zᵀμ_{j+1}‖² + ‖Zᵀν_j‖²)/(2ρλ_j) − ln(n)(1 + 2 ln(t+1)), for either
    loss.

    $\gamma(w_t) \ge \frac{\sum_{j=0}^{t-1} \frac{1}{2\rho\lambda_j}
    \|Z^\top\mu_{j+1}\|_2^2}{\|w_t\|_2} + \frac{\sum_{j=0}^{t-1} \frac{1}{2\rho\lambda_j}
    \|Z^\top\nu_j\|_2^2}{\|w_t\|_2} - \frac{\ln(n)\left(1+2\ln(t+1)\right)}{\|w_t\|_2}$"""
    start, name = (c.log_n, "ln(n)") if printed else (start_potential(c), "ψ(0)")
    what, seen = f"Σ … − γ(w_t)‖w_t‖ ≤ {name}(1 + 2 ln(t+1))", c.history(Sequences)
    gained = (seen.next_squares + seen.nu_squares) / (2 * rho(c)) - it.smallest
    return [at_most(gained, start * (1 + 2 * log(it.t + 1)), what), *it.once(said)]


_SHORT = "it bounds ‖w_t‖ from above"


@followed.bound(
    "appC.length",
    "Appendix C, proof of Theorem 3.1, the bound on ‖w_t‖ after (C.13)",
    FULL,
    Erratum("substance", ".fixed", same_mistake="lemC.12.sum"),
    problems=_COPIES,
)
@followed.bound(
    "appC.length.fixed",
    "Appendix C, the same, with the second inequality for the exponential loss alone",
    FULL,
    at_rest=_SHORT,
    instead={
        "/ρ ≤ (2 + Σ …)/ρ, for either loss.": "/ρ, and ‖Zᵀq_t‖ ≤ 1 for the exponential loss.",
        r"\frac2\rho + \sum_{j=0}^{t-1} \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2": (
            r"\frac2\rho + \sum_{j=0}^{t-1} \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2"
            r"\text{ (the latter for the exponential loss)}"
        ),
    },
)
def _length(it, c, printed):
    r"""‖w_t‖ ≤ (‖Zᵀq_0‖ + ‖Zᵀq_t‖ + Σ_{j<t} ‖Zᵀμ_{j+1}‖/λ_j)/ρ ≤ (2 + Σ …)/ρ, for either loss.

    $\|w_t\|_2 \le \frac1\rho\|Z^\top q_0\|_2 + \frac1\rho\|Z^\top q_t\|_2 + \sum_{j=0}^{t-1}
    \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2 \le \frac2\rho + \sum_{j=0}^{t-1}
    \frac{1}{\rho\lambda_j}\|Z^\top\mu_{j+1}\|_2$"""
    seen = c.history(Sequences)
    ends, rest = seen.first.pull.norm() + seen.now.pull.norm(), seen.next_lengths
    what = "‖w_t‖ ≤ (‖Zᵀq_0‖ + ‖Zᵀq_t‖ + Σ ‖Zᵀμ_{j+1}‖/λ_j)/ρ"
    yield at_most(it.norm, (ends + rest) / rho(c), what)
    if printed or exponential(c) is None:
        # One row attains it: so up to what its ball in doubles cannot tell.
        rounding = 2 * ends.rad()
        yield nearly(ends, 2, "‖Zᵀq_0‖ + ‖Zᵀq_t‖ ≤ 2", rounding=rounding, size=2.0)
    if printed:
        yield at_most(it.norm, (2 + rest) / rho(c), "‖w_t‖ ≤ (2 + Σ ‖Zᵀμ_{j+1}‖/λ_j)/ρ")


@followed.bound(
    "appC.half",
    "Appendix C, proof of Theorem 3.1, the last display",
    FAST,
    exponential,
    separable,
    at_rest=_SHORT,
)
def _half_the_margin(it, c):
    r"""Σ_{j<t} ‖Zᵀμ_{j+1}‖²/(2λ_j) is at least (γ̄/2 − 4/(t+1)²)‖w_t‖.

    $\frac{\sum_{j=0}^{t-1} \frac{1}{2\rho\lambda_j} \|Z^\top\mu_{j+1}\|_2^2}{\|w_t\|_2} \ge
    \frac{\bar\gamma}{2} - \frac{4}{(t+1)^2}$

    For the exponential loss: it is built on jst.appC.length."""
    missing = c.gamma / 2 * it.norm - c.history(Sequences).next_squares / (2 * rho(c))
    return at_most(missing, 4 * it.norm / (it.t + 1) ** 2, "γ̄‖w_t‖/2 − Σ … ≤ 4‖w_t‖/(t+1)²")
