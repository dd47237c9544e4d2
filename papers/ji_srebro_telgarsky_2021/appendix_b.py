"""Appendix B, A Unified Analysis of Normal and Accelerated Mirror Descent / Dual Averaging.

The instance of Appendix C is put on trial: f = φ, φ(q) = ‖Zᵀq‖²/2, ω = ψ*, α = 1/ρ, the ℓ₁ norm,
and C the domain of ψ* (Δ_n for the exponential loss, [0, 1]ⁿ ∩ {Σ q_i ≥ 1} for the logistic loss).
The sequences p_t, q_t, μ_t and ν_t are those that the solver delivers, taken for exact where they
are what follows from its iterates.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import arb

from gammabar.papers import (
    ROUNDOFF,
    Case,
    Number,
    Relation,
    Trial,
    View,
    at_most,
    direct,
    equal,
    number,
    per_iterate,
    upper,
    wholes,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    DUAL_FORM,
    accelerated,
    exact_dual,
    exponential,
    few_rows,
    full_step,
    mixing,
    proper_step,
    smooth,
    step,
)
from gammabar.papers.ji_srebro_telgarsky_2021.mirror_steps import Mirror, Point, dot, last_step
from gammabar.papers.ji_srebro_telgarsky_2021.potential import distance_from_start


@per_iterate(
    "jst.lemB.3",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form; q: vertices, centre, q̄ and a random point",
    reference="Lemma B.3",
    claim=r"\frac{\theta_{t-1}}{\lambda_{t-1}^2} (f(\mu_t) - f(q)) + \sum_{j=1}^{t-1}"
    r" \left( \frac{\theta_{j-1}}{\lambda_{j-1}^2} - \frac{\theta_j(1-\lambda_j)}{\lambda_j^2}"
    r" \right) (f(\mu_j) - f(q)) \le \frac{1}{\alpha} (D_\omega(q, q_0) - D_\omega(q, q_t))"
    r" + \frac{\theta_0(1-\lambda_0)}{\lambda_0^2} (f(\mu_0) - f(q))",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    slower="dual-acceleration-dual/mirror-descent-instead",
)
class LemmaB3:
    """For every q, the weighted sum of f(μ_j) − f(q) up to t is at most
    (D(q, q_0) − D(q, q_t))/α + θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q))."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.sums: dict[str, Number] = {}

    def factor(self, j: int) -> Fraction:
        """θ_{j−1}/λ_{j−1}² − θ_j(1 − λ_j)/λ_j², without its first part for j = 0."""
        lam = mixing(self.case, j)
        first = step(self.case, j - 1) / mixing(self.case, j - 1) ** 2 if j else Fraction(0)
        return first - step(self.case, j) * (1 - lam) / lam**2

    def update(self, it: View) -> None:
        """Add the term j = t − 1; that of j = 0 is the last one of the claim, on the left."""
        found, _ = last_step(it, self.case)
        if found is None:
            return
        past = found.past
        for q in found.path.everywhere:
            term = number(self.factor(past.t)) * past.mu.above(q)
            self.sums[q.name] = self.sums.get(q.name, arb(0)) + term

    def claim(self, it: View) -> Iterator[Relation]:
        """The claim at t, at several q."""
        found, claims = last_step(it, self.case)
        yield from claims
        if found is None:
            return
        path, past, now = found.path, found.past, found.now
        scale = number(step(self.case, past.t) / mixing(self.case, past.t) ** 2)
        for q in path.everywhere:
            yield at_most(
                scale * now.mu.above(q) + self.sums[q.name],
                path.rho * path.drop(q.q, found.first, now),
                "Σ … (f(μ_j) − f(q)) − θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)) ≤"
                " (D(q, q_0) − D(q, q_t))/α",
                where=q.name,
            )


def underflowed(past: Point, now: Point) -> bool:
    """Whether some weight has all but vanished, so that its logarithm says nothing."""
    weights = np.concatenate([past.weights, now.weights])
    return bool(((weights >= 0) & (weights < 1e-290)).any())  # one below 0 is a false claim


def largest_change(past: Point, now: Point) -> float:
    """max_i |p_t(i) − p_{t+1}(i)|."""
    return float(np.abs(past.scores - now.scores).max())


@per_iterate(
    "jst.lemB.4",
    instances="ω the entropy on Δ_n; q: vertices, centre, q̄ and a random point",
    reference="Lemma B.4",
    kind="identity",
    claim=r"\langle p_t - p_{t+1}, q_{t+1} - q \rangle = D_\omega(q, q_t) - D_\omega(q, q_{t+1})"
    r" - D_\omega(q_{t+1}, q_t)",
    solvers=(DUAL_FORM,),
    assumes=(exponential, few_rows),
    since=1,
    unit=True,
    history=(Mirror,),
    note="With D(q, r) = Σ q_i ln(q_i/r_i), the Kullback–Leibler divergence that D_ω is for the"
    " exponential loss, of the weights as delivered. (With distances written by means of p_t the"
    " identity is empty: everything cancels.) Weights that underflowed say nothing.",
    at_rest="it is true of all p_t, and all sides are 0 where q_t stays the same",
)
def lemma_b4(it: View, case: Case) -> Iterator[Relation]:
    """For every q in the simplex, ⟨p_t − p_{t+1}, q_{t+1} − q⟩ is
    D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None or underflowed(found.past, found.now):
        return
    path, past, now = found.path, found.past, found.now
    jump, change = dot(now.q, now.logs - past.logs), largest_change(past, now)
    for q in path.everywhere:
        right = dot(q.q, now.logs - past.logs) - jump
        yield equal(
            dot(past.p - now.p, now.q - q.q),
            right,
            "⟨p_t − p_{t+1}, q_{t+1} − q⟩ = D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)",
            allowance=path.rounding_of_logs(past, now, q),
            size=change * path.apart(now, q),
            where=q.name,
        )


_B6 = (
    r"\langle \nabla f(\nu_t), q_t - q \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" + \langle \nabla f(\nu_t), q_{t+1} - q \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" + \frac{\lambda_t}{\alpha\theta_t} \langle p_t - p_{t+1}, q_{t+1} - %s \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" - \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t)"
    r" + \frac{\lambda_t}{\alpha\theta_t} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)"
)


def _chain(it: View, case: Case, printed: bool) -> Iterator[Relation]:
    """The second and third equation of eq. (B.6); the first one is plain linearity."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    force, ratio, gap = past.nu.force, path.ratio(past.t), past.p - now.p
    common = dot(force, past.q - now.q)
    rounding = path.rounding_of_force(past, now)
    # As in Lemma B.4: distances written by means of p_t would only be compared with themselves.
    divergence = exponential(case) is None and not underflowed(past, now)
    strongest = max(float(v.abs_lower()) for v in force.entries())
    for q in path.everywhere:
        middle = common + ratio * dot(gap, now.q - (past.q if printed else q.q))
        apart = path.apart(now, q) + ROUNDOFF
        size = strongest * apart
        yield equal(
            dot(force, past.q - q.q),
            middle,
            "⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, …⟩",
            allowance=4 * rounding * apart,
            size=size,
            where=q.name,
        )
        if not divergence:
            continue
        last = common + ratio * dot(q.q - now.q, now.logs - past.logs)
        yield equal(
            middle,
            last,
            "… = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − …)",
            allowance=4 * rounding * apart + upper(ratio) * path.rounding_of_logs(past, now, q),
            size=size,
            where=q.name,
        )


@per_iterate(
    "jst.eqB.6",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.6)",
    kind="identity",
    claim=_B6 % "q_t",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    status="refuted",
    problems=("planted:n=2,d=1,gamma=0.5",),
    fixed_by="jst.eqB.6.fixed",
    severity="transcription",
    survives="Everything: the last expression, from Lemma B.4, is right for every q. "
    "(B.8) takes nothing else from (B.6), and Lemma B.3 and Theorem B.12 follow from (B.8).",
    why="The equation stands in one of the two texts only; q_t for q may be a slip of that text.",
    charitable="jst.eqB.6.fixed",
    note="The third expression has ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩ where q_{t+1} − q is meant. As"
    " λ_t/(αθ_t) (p_t − p_{t+1}) = ∇f(ν_t) by eq. (B.2), the expression as printed is zero whatever"
    " q is. Smallest witness: n = 2, d = 1, rows 1/2 and 1 (either sign), any loss, t = 0,"
    " λ_0 = θ_0 = 1: for the exponential loss ν_0 = q_0 = (1/2, 1/2), Zᵀν_0 = ∓3/4,"
    " ∇f(ν_0) = (3/8, 3/4), and at q = (1, 0) the first expression is 3/16, the third one 0.",
)
def equation_b6(it: View, case: Case) -> Iterator[Relation]:
    """⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩,
    and that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)),
    for every q."""
    return _chain(it, case, printed=True)


@per_iterate(
    "jst.eqB.6.fixed",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.6), corrected",
    kind="identity",
    claim=_B6 % "q",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_b6_fixed(it: View, case: Case) -> Iterator[Relation]:
    """⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q⟩, and
    that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)), for
    every q."""
    return _chain(it, case, printed=False)


@per_iterate(
    "jst.eqB.7",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.7)",
    claim=r"\langle \nabla f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t}"
    r" D_\omega(q_{t+1}, q_t) \le \frac{1}{\lambda_t} \left( f(\nu_t) - f(\mu_{t+1}) \right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    at_rest="its left side is 0 where q_t stays the same, and f goes down",
)
def equation_b7(it: View, case: Case) -> list[Relation]:
    """⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) is at most
    (f(ν_t) − f(μ_{t+1}))/λ_t."""
    found, claims = last_step(it, case)
    if found is None:
        return claims
    path, past, now = found.path, found.past, found.now
    jump = path.drop(now.q, past, now)
    left = dot(past.nu.force, past.q - now.q) - path.ratio(past.t) * jump
    right = number(1 / mixing(case, past.t)) * past.nu.above(now.mu)
    what = "⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"
    return [at_most(left, right, what), *claims]


@per_iterate(
    "jst.eqB.9",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.9)",
    claim=r"\frac{\theta_t}{\lambda_t^2} \left( f(\mu_{t+1}) - f(q) \right)"
    r" - \frac{\theta_t(1-\lambda_t)}{\lambda_t^2} \left( f(\mu_t) - f(q) \right) \le"
    r" \frac{1}{\alpha} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_b9(it: View, case: Case) -> Iterator[Relation]:
    """For every q, θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) is at most
    (D(q, q_t) − D(q, q_{t+1}))/α."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    lam, theta = mixing(case, past.t), step(case, past.t)
    for q in path.everywhere:
        left = number(theta / lam**2) * now.mu.above(q)
        left -= number(theta * (1 - lam) / lam**2) * past.mu.above(q)
        yield at_most(
            left,
            path.rho * path.drop(q.q, past, now),
            "θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) ≤"
            " (D(q, q_t) − D(q, q_{t+1}))/α",
            where=q.name,
        )


def inverse_sequences() -> Iterator[tuple[str, list[Fraction]]]:
    """Sequences 1/λ_0, 1/λ_1, … that obey eq. (B.10); multiples of 1/64, so that sums are exact."""
    yield "λ_t = 2/(t+2)", [Fraction(t + 2, 2) for t in range(60)]
    yield "λ_t = 1", [Fraction(1)] * 60
    rng = np.random.default_rng(11)
    for name, least in (("as small as eq. (B.10) allows", 1.0), ("random", 0.0)):
        sequence = [Fraction(1)]
        for _ in range(60):
            # x² − x ≤ y² for x = 1/λ_t and y = 1/λ_{t−1}: x is at most (1 + √(1 + 4y²))/2.
            most = (1 + float(np.sqrt(float(1 + 4 * sequence[-1] ** 2)))) / 2
            x = Fraction(int(64 * max(1.0, most * rng.uniform(least, 1.0))), 64)
            assert x >= 1
            assert x * x - x <= sequence[-1] ** 2
            sequence.append(x)
        yield f"λ_t {name}", sequence


def _sums_of_inverses(case: Case, printed: bool) -> Iterator[Relation]:
    for name, inverse in inverse_sequences():
        for (t,) in case.instances((t,) for t in range(len(inverse))):
            terms = [inverse[t if printed else j] for j in range(t + 1)]
            middle = inverse[0] ** 2 + sum(terms[1:])
            where, index = f"{name}, t = {t}", "t" if printed else "j"
            yield at_most(
                inverse[t] ** 2, middle, f"1/λ_t² ≤ 1/λ_0² + Σ_{{j=1}}^t 1/λ_{index}", where=where
            )
            yield equal(
                middle,
                sum(terms),
                f"1/λ_0² + Σ_{{j=1}}^t 1/λ_{index} = Σ_{{j=0}}^t 1/λ_{index}",
                where=where,
            )


@direct(
    "jst.eqB.11",
    reference="Eq. (B.11)",
    kind="anytime",
    claim=r"\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_t}"
    r" = \sum_{j=0}^t \frac{1}{\lambda_t}",
    problems=("",),
    inputs={"t": wholes(0, 59)},
    solvers=(DUAL_FORM,),
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
    status="refuted",
    fixed_by="jst.eqB.11.fixed",
    severity="transcription",
    survives="Everything: nothing later refers to it, and what is needed of Σ 1/λ_j is "
    "computed for λ_t = 2/(t+2).",
    why="The equation stands in one of the two texts only; the index t for j may be a slip of"
    " that text.",
    charitable="jst.eqB.11.fixed",
    note="The summands have the index t where j is meant. As printed the equation is"
    " 1 + t/λ_t = (t + 1)/λ_t, which is false for t ≥ 1 unless λ_t = 1 (the inequality is true)."
    " Smallest witness: λ_t = 2/(t+2), so λ_0 = 1 and λ_1 = 2/3: at t = 1 the middle is 1 + 3/2"
    " = 5/2 and the right side 3/2 + 3/2 = 3.",
)
def equation_b11(case: Case) -> Iterator[Relation]:
    """Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_t, which is Σ_{j=0}^t 1/λ_t."""
    return _sums_of_inverses(case, printed=True)


@direct(
    "jst.eqB.11.fixed",
    instances="four sequences that obey eq. (B.10), up to t = 60",
    reference="Eq. (B.11), corrected",
    kind="anytime",
    claim=r"\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_j}"
    r" = \sum_{j=0}^t \frac{1}{\lambda_j}",
    problems=("",),
    inputs={"t": wholes(0, 59)},
    solvers=(DUAL_FORM,),
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
)
def equation_b11_fixed(case: Case) -> Iterator[Relation]:
    """Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_j, which is Σ_{j=0}^t 1/λ_j."""
    return _sums_of_inverses(case, printed=False)


def _growing_slowly(case: Case) -> str | None:
    """Eq. (B.10), for λ_t = 1, 2/(t+2) or 3/(t+3), which meets it by far."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value in ("accelerated", "slower", 1) else "λ_t is not known to obey eq. (B.10)"


@per_iterate(
    "jst.thmB.12",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Theorem B.12",
    claim=r"f(\mu_t) - f(\bar{q}) \le \frac{\lambda_{t-1}^2}{\alpha} \left( D_\omega(\bar{q}, q_0)"
    r" - D_\omega(\bar{q}, q_t) \right) \le \frac{\lambda_{t-1}^2}{\alpha} D_\omega(\bar{q}, q_0);"
    r" \quad \text{if } \lambda_t = 2/(t+2): f(\mu_t) - f(\bar{q}) \le"
    r" \frac{4D_\omega(\bar{q}, q_0)}{\alpha(t+1)^2}",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, full_step, _growing_slowly, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
    slower="dual-acceleration-dual/mirror-descent-instead",
)
def theorem_b12(it: View, case: Case) -> Iterator[Relation]:
    """f(μ_t) exceeds its minimum by at most λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)), and that is at most
    λ_{t−1}²/α D(q̄, q_0), which is 4 D(q̄, q_0)/(α(t+1)²) for λ_t = 2/(t+2)."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    excess, scale = now.mu.above(path.optimum), path.rho * number(mixing(case, past.t) ** 2)
    closer = scale * path.drop(path.optimum.q, found.first, now)
    whole = distance_from_start(case)
    yield at_most(excess, closer, "f(μ_t) − f(q̄) ≤ λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t))")
    yield at_most(
        closer, scale * whole, "λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)) ≤ λ_{t−1}²/α D(q̄, q_0)"
    )
    if accelerated(case) is None:
        yield at_most(
            excess, 4 * path.rho * whole / (it.t + 1) ** 2, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)"
        )


@per_iterate(
    "jst.eqC.8",
    reference="Eq. (C.8)",
    claim=r"\phi(\nu_t) - \langle\nabla\phi(\nu_t), \bar q\rangle \le"
    r" \frac{1-\lambda_t}{\lambda_t}\phi(\mu_t) - \frac{1}{\lambda_t}\phi(\mu_{t+1})"
    r" + \rho\lambda_t \left(D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1})\right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, full_step, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_c8(it: View, case: Case) -> list[Relation]:
    """φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ is at most (1−λ_t)/λ_t φ(μ_t) − φ(μ_{t+1})/λ_t +
    ρλ_t (D(q̄, q_t) − D(q̄, q_{t+1}))."""
    found, claims = last_step(it, case)
    if found is None:
        return claims
    path, past, now = found.path, found.past, found.now
    lam, q = mixing(case, past.t), path.optimum
    left = dot(past.nu.force, past.nu.q) / 2 - dot(past.nu.force, q.q)
    right = number((1 - lam) / lam) * dot(past.mu.force, past.mu.q) / 2
    right -= number(1 / lam) * dot(now.mu.force, now.mu.q) / 2
    right += path.rho * number(lam) * path.drop(q.q, past, now)
    return [at_most(left, right, "φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ ≤ …"), *claims]


@per_iterate(
    "jst.eqC.9",
    reference="Eq. (C.9)",
    kind="identity",
    claim=r"D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1}) = \psi(Zw_t) - \psi(Zw_{t+1})"
    r" - \frac{1}{\rho\lambda_t} \langle\nabla\phi(\nu_t), \bar q\rangle",
    solvers=(DUAL_FORM,),
    assumes=(exponential, few_rows, full_step, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
    note="With the Kullback–Leibler divergence of the weights as delivered, as in Lemma B.4; so for"
    " the exponential loss only. Weights that underflowed say nothing.",
)
def equation_c9(it: View, case: Case) -> list[Relation]:
    """D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)."""
    found, claims = last_step(it, case)
    if found is None or underflowed(found.past, found.now):
        return claims
    path, past, now = found.path, found.past, found.now
    q, ratio = path.optimum, path.ratio(past.t)
    right = past.psi - now.psi - dot(past.nu.force, q.q) / ratio
    # ⟨ln q_{t+1} − ln q_t, q̄⟩: logarithms of weights are off by the rounding of a softmax.
    rounding = path.rounding_of_logs(past, now, q) + path.rounding_of_logs(past, now, path.centre)
    rounding += 4 * path.rounding_of_force(past, now) / float(ratio.mid())
    left, allowance = dot(q.q, now.logs - past.logs), rounding + 64 * ROUNDOFF * (case.n + 16)
    what = "D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)"
    size = largest_change(past, now)
    return [equal(left, right, what, allowance=allowance, size=size), *claims]


TRIALS = (
    Trial(DUAL_FORM, "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial(DUAL_FORM, "inseparable:n=30,d=4,seed=0", 60),
    Trial(DUAL_FORM, "iris:0,1", 40),
    Trial(f"{DUAL_FORM}:mixing=1", "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial(f"{DUAL_FORM}:mixing=0.5,step=0.5", "planted:n=40,d=5,gamma=0.2,seed=0", 40),
    Trial(f"{DUAL_FORM}:mixing=0.5", "planted:n=20,d=4,gamma=0.2,seed=1", 30),
    Trial(f"{DUAL_FORM}:mixing=slower", "planted:n=40,d=5,gamma=0.2,seed=0", 40),
    Trial(f"{DUAL_FORM}:mixing=recursive", "inseparable:n=30,d=4,seed=0", 40),
    Trial(f"{DUAL_FORM}:mixing=halved,loss=logistic", "planted:n=20,d=4,gamma=0.2,seed=1", 30),
    Trial(f"{DUAL_FORM}:mixing=1,step=0.25", "iris:0,1 --kernel rbf:gamma=1", 20),
    Trial(f"{DUAL_FORM}:loss=logistic", "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial(f"{DUAL_FORM}:loss=logistic,mixing=1", "iris:0,1", 40),
)
