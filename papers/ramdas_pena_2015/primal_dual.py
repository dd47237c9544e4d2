"""Ramdas and Peña (2015), Section 6: SNKPVN, which separates or certifies (Lemmas 8 and 9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, Trit, number, sqrt
from gammabar.harness.court.relation import Relation, at_most
from gammabar.harness.court.space import Floats
from gammabar.harness.court.statement import per_iterate, stopping
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.view import View
from gammabar.papers.ramdas_pena_2015._rp import (
    SOURCE,
    Witnesses,
    above_margin,
    below_margin,
    centred_loss,
    certifies,
    hard_loss,
    norm,
    norm_one,
    rho,
    signed_margin_known,
    small,
    square,
    tells,
    uniform,
    weights_of,
)

TRIALS = (
    Trial("snkpvn:delta=0.001", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial(
        "snkpvn:delta=0.001", "gaussian:n=40,d=6,seed=2,separable=1 --kernel linear --normalised"
    ),
    Trial("snkpvn:delta=0.15", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("snkpvn:delta=0.001,q=0,0,0.5,0.5", "worst-case:n=4"),
    Trial("snkpvn:delta=0.001", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 100),
    Trial("snkpvn:delta=0.01", "degenerate:kind=opposite,n=8,d=1"),
    Trial("snkpvn:delta=0.05", "degenerate:kind=opposite --kernel rbf:gamma=1"),
    Trial("snkpvn:delta=0.01,q=0.75,0.25", "degenerate:kind=opposite,n=2,d=1"),
    Trial("snkpvn", "inseparable:n=20,d=3,seed=0", 60),
)


# SNKPVN


def centre(case: Case) -> Floats:
    """q of SNKPVN(q, δ)."""
    chosen = getattr(case.solver, "q", None)
    return uniform(case.n) if chosen is None else np.asarray(chosen, dtype=np.float64)


def temperature(case: Case, k: int) -> Number:
    """μ_k = 4n/((k+1)(k+2)): what μ_0 = 2n and μ_{k+1} = (1 − θ_k) μ_k give."""
    return number(4 * case.n) / ((k + 1) * (k + 2))


def _excess(it: View, case: Case, loss: Number) -> Relation | None:
    """−½‖p_k‖²_G ≥ L^q_μ(α_k)."""
    p = weights_of(it, "p")
    if p is None:
        return None
    return at_most(square(it, p) / 2, -loss, "½‖p_k‖²_G ≤ −L^q_μ(α_k)")


def _smoothed(it: View, case: Case) -> Number:
    return centred_loss(it, it.numbers(centre(case)), temperature(case, it.t))


@per_iterate(
    "rp.lem8",
    reference=f"{SOURCE}, Lemma 8",
    claim=r"\rho_K > 0,\ \delta < \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge L_{\mu_k}^q(\alpha_k)"
    r"\ge L(\alpha_k) - \mu_k",
    solvers=("snkpvn",),
    assumes=(tells("delta"), norm_one, below_margin("delta")),
    unit=True,
)
def lem8(it: View, case: Case) -> list[Relation]:
    """On separable data with δ < ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ L(α_k) − μ_k."""
    loss = _smoothed(it, case)
    second = at_most(hard_loss(it) - loss, temperature(case, it.t), "L(α_k) − L^q_μ(α_k) ≤ μ_k")
    first = _excess(it, case, loss)
    return [second] if first is None else [first, second]


@stopping(
    "rp.lem8.separator",
    reference=f"{SOURCE}, Lemma 8, last sentence, with the constant of Theorem 4",
    claim=r"\text{SNKPVN finds a separator in } O(\sqrt n/\rho_K) \text{ iterations: }"
    r"2\sqrt{2n}/\rho_K",
    solvers=("snkpvn",),
    assumes=(tells("delta"), norm_one, below_margin("delta")),
    unit=True,
)
def lem8_separator(case: Case) -> Any:
    """On separable data with δ < ρ_K, SNKPVN separates within 2√(2n)/ρ_K iterations."""
    return 2 * sqrt(2 * number(case.n)) / case.gamma


def _chain(it: View, case: Case) -> list[Relation]:
    """−½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)²."""
    loss = _smoothed(it, case)
    first = _excess(it, case, loss)
    found = [] if first is None else [first]
    if case.separable is False:  # otherwise W is empty, and the distance infinite
        q = centre(case)
        witness = bool(square(it, q) == 0)  # q itself is one, and the distance is 0
        half = number(0) if witness else case.history(Witnesses).half_square(q)
        bound = temperature(case, it.t) * half
        found.append(at_most(-loss, bound, "−L^q_μ(α_k) ≤ ½ μ_k dist(q, W)²"))
    return found


def _rate(it: View, case: Case, factor: Number) -> Relation | None:
    """‖p_k‖_G ≤ (2√n/(k+1)) · factor."""
    p = weights_of(it, "p")
    if p is None or it.separates:
        return None
    bound = 2 * sqrt(number(case.n)) / (it.t + 1) * factor
    return at_most(norm(it, p), bound, "‖p_k‖_G ≤ (2√n/(k+1)) min{…}")


def _ratio(it: View, case: Case) -> Number | None:
    """‖q‖_G/ρ_K, or None for ρ_K = 0."""
    margin = rho(case)
    return None if margin is None or margin == 0 else norm(it, centre(case)) / margin


LEM9 = (
    r"\rho_K < 0 \text{ or } \delta > \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge"
    r"L_{\mu_k}^q(\alpha_k) \ge -\tfrac12\mu_k\,\mathrm{dist}(q,W)^2"
)
NEAR = (tells("delta"), norm_one, small, above_margin("delta"))


@per_iterate(
    "rp.lem9",
    reference=f"{SOURCE}, Lemma 9 and the last display of its proof",
    claim=LEM9 + r";\quad \|p_k\|_G \le \frac{2\sqrt n}{k+1}\min\left\{\sqrt2,"
    r"\frac{\|q\|_G}{\rho_K}\right\}",
    solvers=("snkpvn",),
    assumes=(*NEAR, signed_margin_known),
    problems=("degenerate:kind=opposite,n=3,d=1",),
    status="refuted",
    fixed_by="rp.lem9.fixed",
    unit=True,
    note="The chain is true (rp.lem9.chain). The last display divides by ρ_K, which is negative: "
    "for the rows 1 and −1 of ℝ¹ and q = (¾, ¼), ρ_K = −1, ‖q‖_G = ½ and p_0 = (5/8, 3/8), so "
    "‖p_0‖_G = ¼ ≤ 2√2 min{√2, −½} = −√2 is false. (In the plan: rows 1, 1, −1 and q = 1/3, "
    "‖p_0‖_G = 5/27 against −2/√3.) With |ρ_K| the chain gives √2 ‖q‖_G/|ρ_K|.",
)
def lem9(it: View, case: Case) -> list[Relation]:
    """If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)², and
    ‖p_k‖_G ≤ (2√n/(k+1)) min{√2, ‖q‖_G/ρ_K}."""
    root, ratio = sqrt(number(2)), _ratio(it, case)
    rate = _rate(it, case, root if ratio is None else root.min(ratio))
    return _chain(it, case) + ([] if rate is None else [rate])


@per_iterate(
    "rp.lem9.chain",
    reference=f"{SOURCE}, Lemma 9",
    claim=LEM9,
    solvers=("snkpvn",),
    assumes=NEAR,
    unit=True,
)
def lem9_chain(it: View, case: Case) -> list[Relation]:
    """If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)²."""
    return _chain(it, case)


@per_iterate(
    "rp.lem9.fixed",
    reference=f"{SOURCE}, Lemma 9, with |ρ_K| and √2 in the last display of its proof",
    claim=LEM9 + r";\quad \|p_k\|_G \le \frac{2\sqrt{2n}}{k+1}\min\left\{1,"
    r"\frac{\|q\|_G}{|\rho_K|}\right\} \text{ until } G\alpha_k > 0",
    solvers=("snkpvn",),
    assumes=(*NEAR, signed_margin_known),
    unit=True,
    note="½‖p_k‖²_G ≤ ½ μ_k dist(q, W)² ≤ μ_k min{1, ‖q‖²_G/ρ_K²} by Lemma 7. If ρ_K > 0 then "
    "‖q‖_G ≥ ρ_K (Lemma 3), and 1 is what Lemma 8 gives while Gα_k > 0 fails.",
)
def lem9_fixed(it: View, case: Case) -> list[Relation]:
    """If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)², and until it separates
    ‖p_k‖_G ≤ (2√(2n)/(k+1)) min{1, ‖q‖_G/|ρ_K|}."""
    one, ratio = number(1), _ratio(it, case)
    rate = _rate(it, case, sqrt(number(2)) * (one if ratio is None else one.min(abs(ratio))))
    return _chain(it, case) + ([] if rate is None else [rate])


def _delta_solution(it: View, case: Case) -> Trit:
    if it.separates:
        return True
    found = certifies(it, number(case.solver.delta), weights_of(it, "p"), strict=True)
    return None if found is False and it.separates is None else found


@stopping(
    "rp.lem9.solution",
    reference=f"{SOURCE}, Lemma 9, last sentence, with the constant of rp.lem9.fixed",
    claim=r"\text{SNKPVN finds a } \delta\text{-solution in at most }"
    r"O\left(\min\left\{\tfrac{\sqrt n}{\delta}, \tfrac{\sqrt n\|q\|_G}{\delta|\rho_K|}"
    r"\right\}\right) \text{ iterations: } 2\sqrt2 \text{ times}",
    solvers=("snkpvn",),
    assumes=(*NEAR, signed_margin_known),
    goal=_delta_solution,
    unit=True,
)
def lem9_solution(case: Case) -> Any:
    """If ρ_K < 0 or δ > ρ_K, SNKPVN separates or finds a δ-solution within
    (2√(2n)/δ) min{1, ‖q‖_G/|ρ_K|} iterations."""
    bound = 2 * sqrt(2 * number(case.n)) / number(case.solver.delta)
    margin = rho(case)
    if margin is None or margin == 0:
        return bound
    column = case.space.exact_combination([number(v) for v in centre(case).tolist()])
    length = _length(case, column)
    return bound * number(1).min(length / abs(margin))


def _length(case: Case, column: Any) -> Number:
    """‖v‖ of an exact vector."""
    if case.space.dimension == case.n and hasattr(case.problem, "kernel"):
        scores = case.space.gram() * column
        return sqrt((column.transpose() * scores)[0, 0])
    return sqrt((column.transpose() * column)[0, 0])
