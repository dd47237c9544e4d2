"""Ramdas and Peña (2015), Section 6: ISNKPVN, which calls SNKPVN again and again (Theorem 4)."""

from __future__ import annotations

from typing import Any

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, Trit, log, number, sqrt
from gammabar.harness.court.relation import Relation, at_most, below, fact
from gammabar.harness.court.space import Floats
from gammabar.harness.court.statement import per_iterate
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.view import View
from gammabar.papers.ramdas_pena_2015._rp import (
    SOURCE,
    above_margin,
    below_margin,
    certifies,
    norm,
    norm_one,
    rho,
    square,
    tells,
    uniform,
    weights_of,
)

TRIALS = (
    Trial("isnkpvn:epsilon=0.001", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("isnkpvn:gamma=1.1,epsilon=0.001", "iris:1,2:n=60,seed=0 --kernel rbf:gamma=1", 100),
    Trial("isnkpvn:epsilon=0.001", "degenerate:kind=square"),
    Trial("isnkpvn", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 100),
    Trial("isnkpvn:gamma=4", "degenerate:kind=opposite,n=8,d=1"),
    Trial("isnkpvn:gamma=3,epsilon=0.05", "degenerate:kind=opposite --kernel rbf:gamma=1", 100),
    Trial("isnkpvn", "inseparable:n=20,d=3,seed=0", 60),
)


class Calls:
    """Which q_t the call at hand started from, by what the solver says of its loops."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.q: Floats | None = uniform(case.n)
        self._last: Floats | None = None

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        if it.extra.get("inner") == 0 and it.extra.get("outer"):
            self.q = self._last
        self._last = weights_of(it, "p")


def _counts(it: View) -> tuple[int, int] | None:
    """The outer t and the inner k, both from 0; None if the solver does not tell."""
    outer, inner = it.extra.get("outer"), it.extra.get("inner")
    return None if outer is None or inner is None else (int(outer), int(inner))


def _loops(case: Case, target: Any) -> Number:
    """log(1/target)/log γ."""
    return log(1 / number(target)) / log(number(case.solver.gamma))


def _ends_separated(it: View) -> list[Relation]:
    """What it halts with is a separator."""
    if "halt" not in it.extra:
        return []
    separated = it.separates if it.extra["halt"] == "separated" else False
    return [fact(separated, "ISNKPVN halts with a solution of the primal")]


def _each_call(it: View, case: Case, inner: int) -> Relation:
    bound = 2 * sqrt(2 * number(case.n)) / case.gamma
    return at_most(inner, bound, "iterations of this call ≤ 2√(2n)/ρ_K")


@per_iterate(
    "rp.thm4.1",
    reference=f"{SOURCE}, Theorem 4(1)",
    kind="stopping",
    claim=r"\epsilon < \rho_K:\ \text{each call to SNKPVN halts in at most }"
    r"\frac{2\sqrt{2n}}{\rho_K}\text{ iterations; ISNKPVN finds a solution in at most }"
    r"\frac{\log(1/\rho_K)}{\log(\gamma)} \text{ outer loops}",
    solvers=("isnkpvn",),
    assumes=(tells("gamma", "epsilon"), norm_one, below_margin("epsilon")),
    problems=("degenerate:kind=collinear,n=1,d=2", "degenerate:kind=square"),
    status="refuted",
    fixed_by="rp.thm4.1.fixed",
    waits=lambda it, case: "" if it.extra.get("halt") else "the method has not halted yet",
    unit=True,
    note="A number of loops is not below 1. One row has ρ_K = 1, so log(1/ρ_K)/log γ = 0, but its "
    "solution is found in the first loop; the same for γ = 2 and all rows (1, ±1, ±1)/√3, where "
    "ρ_K = 1/√3 and the bound is 0.79. The proof's t counts from 0.",
)
def thm4_1(it: View, case: Case) -> list[Relation] | None:
    """If ε < ρ_K, each call halts within 2√(2n)/ρ_K iterations, and a solution is found in at most
    log(1/ρ_K)/log γ outer loops."""
    counts = _counts(it)
    if counts is None:
        return None
    outer, inner = counts
    loops = at_most(outer + 1, _loops(case, case.gamma), "outer loops ≤ log(1/ρ_K)/log γ")
    return [_each_call(it, case, inner), loops, *_ends_separated(it)]


@per_iterate(
    "rp.thm4.1.fixed",
    reference=f"{SOURCE}, Theorem 4(1), rounded up to a whole number of at least 1",
    kind="stopping",
    claim=r"\epsilon < \rho_K:\ \text{each call to SNKPVN halts in at most }"
    r"\frac{2\sqrt{2n}}{\rho_K}\text{ iterations; ISNKPVN finds a solution in at most }"
    r"\max\left\{1, \left\lceil\frac{\log(1/\rho_K)}{\log(\gamma)}\right\rceil\right\}"
    r"\text{ outer loops}",
    solvers=("isnkpvn",),
    assumes=(tells("gamma", "epsilon"), norm_one, below_margin("epsilon")),
    waits=lambda it, case: "" if it.extra.get("halt") else "the method has not halted yet",
    unit=True,
    note="If call t returns, ρ_K ≤ ‖q_{t+1}‖_G < δ_t ≤ ‖q_0‖_G/γ^{t+1}, and then "
    "t + 1 < log(1/ρ_K)/log γ.",
)
def thm4_1_fixed(it: View, case: Case) -> list[Relation] | None:
    """If ε < ρ_K, each call halts within 2√(2n)/ρ_K iterations, and a solution is found in at most
    ⌈log(1/ρ_K)/log γ⌉ outer loops, or in one."""
    counts = _counts(it)
    if counts is None:
        return None
    outer, inner = counts
    found = [_each_call(it, case, inner), *_ends_separated(it)]
    if outer:
        loops = _loops(case, case.gamma)
        found.append(below(outer, loops, "outer loops before this one < log(1/ρ_K)/log γ"))
    return found


def _ends_certified(it: View, case: Case) -> list[Relation]:
    """What it halts with is a separator or an ε-solution."""
    halt = it.extra.get("halt")
    if halt is None:
        return []
    if halt == "separated":
        return [fact(it.separates, "ISNKPVN halts with a solution of the primal")]
    found = certifies(it, number(case.solver.epsilon), weights_of(it, "p"))
    return [fact(found, "ISNKPVN halts with an ε-solution")]


@per_iterate(
    "rp.thm4.2",
    reference=f"{SOURCE}, Theorem 4(2)",
    kind="stopping",
    claim=r"\text{(14) feasible or } \epsilon > \rho_K:\ "
    r"\text{each call to SNKPVN halts in at most }"
    r"O\left(\min\left\{\tfrac{\sqrt n}{\epsilon}, \tfrac{\sqrt n}{|\rho_K|}\right\}\right)"
    r"\text{ steps; ISNKPVN finds an } \epsilon\text{-solution in at most }"
    r"\frac{\log(1/\epsilon)}{\log(\gamma)} \text{ outer loops}",
    solvers=("isnkpvn",),
    assumes=(tells("gamma", "epsilon"), norm_one, above_margin("epsilon")),
    problems=("degenerate:kind=opposite,n=2,d=1",),
    status="refuted",
    fixed_by="rp.thm4.2.fixed",
    waits=lambda it, case: "" if it.extra.get("halt") else "the method has not halted yet",
    unit=True,
    history=(Calls,),
    note="For the rows a and −a, q_0 = (½, ½) is itself a witness: δ_0 = ‖q_0‖_G/γ = 0, and the "
    "test ‖p_k‖_G < 0 is never met, so the first call never returns. The same happens whenever "
    "some q_t has ‖q_t‖_G = 0; and the last call has δ_t < ε, perhaps much smaller, so √n/ε does "
    "not bound its steps. Besides, a number of loops is not below 1, as log(1/ε)/log γ may be.",
)
def thm4_2(it: View, case: Case) -> list[Relation] | None:
    """If the dual is feasible or ε > ρ_K, each call halts, and an ε-solution is found in at most
    log(1/ε)/log γ outer loops."""
    counts = _counts(it)
    if counts is None:
        return None
    outer, inner = counts
    loops = _loops(case, case.solver.epsilon)
    found = [at_most(outer + 1, loops, "outer loops ≤ log(1/ε)/log γ"), *_ends_certified(it, case)]
    q = case.history(Calls).q
    if inner == 0 and q is not None and case.separable is False:
        left = square(it, q)
        can: Trit = True if left > 0 else False if left == 0 else None
        found.append(fact(can, "the call can end: δ_t = ‖q_t‖_G/γ > 0", where=f"t = {outer}"))
    return found


@per_iterate(
    "rp.thm4.2.fixed",
    reference=f"{SOURCE}, Theorem 4(2), for calls with δ_t > 0, with constants",
    kind="stopping",
    claim=r"\text{(14) feasible or } \epsilon > \rho_K:\ \text{a call to SNKPVN with } \delta_t > 0"
    r"\text{ halts in at most } \min\left\{\tfrac{2\sqrt{2n}}{\delta_t},"
    r"\tfrac{2\sqrt{2n}\,\gamma}{|\rho_K|}\right\} \text{ steps; and there are at most }"
    r"\max\left\{1, \left\lfloor\tfrac{\log(1/\epsilon)}{\log\gamma}\right\rfloor + 1\right\}"
    r"\text{ outer loops}",
    solvers=("isnkpvn",),
    assumes=(tells("gamma", "epsilon"), norm_one, above_margin("epsilon")),
    waits=lambda it, case: "" if it.extra.get("halt") else "the method has not halted yet",
    unit=True,
    history=(Calls,),
    note="The steps of a call by rp.lem9.fixed with ‖q_t‖_G = γ δ_t (and Lemma 8 if ρ_K > 0). If "
    "call t returns without halting, ε ≤ δ_t ≤ ‖q_0‖_G/γ^{t+1}, so t + 1 ≤ log(1/ε)/log γ.",
)
def thm4_2_fixed(it: View, case: Case) -> list[Relation] | None:
    """If the dual is feasible or ε > ρ_K, a call with δ_t > 0 halts within
    min{2√(2n)/δ_t, 2√(2n) γ/|ρ_K|} steps, and there are at most ⌊log(1/ε)/log γ⌋ + 1 outer loops,
    or one."""
    counts = _counts(it)
    if counts is None:
        return None
    outer, inner = counts
    found = _ends_certified(it, case)
    if outer:
        loops = _loops(case, case.solver.epsilon)
        found.append(at_most(outer, loops, "outer loops before this one ≤ log(1/ε)/log γ"))
    q, gamma = case.history(Calls).q, number(case.solver.gamma)
    length = None if q is None else norm(it, q)
    if length is not None and length > 0:
        root, margin = 2 * sqrt(2 * number(case.n)), rho(case)
        bound = root * gamma / length
        if margin is not None and (margin > 0 or margin < 0):
            bound = bound.min(root * (gamma if margin < 0 else number(1)) / abs(margin))
        found.append(at_most(inner, bound, "iterations of this call ≤ min{2√(2n)/δ_t, …}"))
    elif length is not None and not it.level:
        found.append(fact(None, "whether δ_t > 0"))
    return found
