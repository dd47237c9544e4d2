"""Ramdas and Peña (2015), Sections 3 and 4: losses in an RKHS, NKP, and the smoothed perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Number, Trit, number, sqrt
from gammabar.harness.court.relation import Relation, at_most, below, equal, fact
from gammabar.harness.court.statement import direct, per_iterate, separable, stopping
from gammabar.harness.court.trial import Trial
from gammabar.harness.court.view import View
from gammabar.papers.ramdas_pena_2015._gram import (
    Gram,
    absolute,
    distributions,
    euclidean,
    is_vertex,
    ordered,
    samples,
)
from gammabar.papers.ramdas_pena_2015._rp import (
    SOURCE,
    entropy_gap,
    entropy_loss,
    inverse_square,
    norm,
    norm_one,
    small,
    square,
    tells,
    weights_of,
)

TRIALS = (
    Trial("nkp", "worst-case:n=30"),
    Trial("nkp", "degenerate:kind=simplex,n=20,d=20"),
    Trial("nkp", "gaussian:n=30,d=3,seed=0,separable=1 --kernel linear --normalised"),
    Trial("nkp", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("nkp", "degenerate:kind=collinear,n=1,d=2"),
    Trial("nkp", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("nkp", "inseparable:n=20,d=3,seed=0", 40),
    Trial("snkp", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "iris:1,2:n=60,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "gaussian:n=40,d=6,seed=2,separable=1 --kernel linear --normalised"),
    Trial("snkp", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 60),
    Trial("snkp", "degenerate:kind=opposite,n=8,d=1", 60),
    Trial("snkp", "degenerate:kind=opposite,n=2,d=1", 20),
    Trial("snkp", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("snkp:epsilon=0.05", "inseparable:n=30,d=4,seed=0", 100),
    Trial("snkp", "iris:0,1,2 --multiclass", 20),
    Trial("snkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
    Trial("nkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
)

EXACT = (
    "worst-case:n=12",
    "degenerate:kind=square",
    "degenerate:kind=simplex,n=6,d=6",
    "degenerate:kind=collinear,n=1,d=2",
)
KERNELS = (
    "gaussian:n=16,d=3,seed=0 --kernel rbf:gamma=1",
    "planted:n=10,d=3,gamma=0.2,seed=0 --kernel poly:degree=2,coef0=1 --normalised",
)
INSEPARABLE = ("degenerate:kind=opposite,n=6,d=1", "degenerate:kind=opposite --kernel rbf:gamma=1")
DATA_ALONE = "it is true of every Gram matrix, whatever a solver does"


# Section 3


@direct(
    "rp.eq7",
    reference=f"{SOURCE}, equation (7)",
    kind="identity",
    claim=r"\inf_{f\in\mathcal{F}_K} L(f) = \inf_{t>0}\{-t\rho_K + \tfrac12 t^2\}"
    r"= -\tfrac12\rho_K^2 \quad\text{when } t = \rho_K > 0",
    problems=EXACT + KERNELS,
    assumes=(norm_one, small, separable),
    unit=True,
    powerless=DATA_ALONE,
)
def eq7(case: Case) -> Iterator[Relation]:
    """For separable data the smallest value of L is −½ρ_K², attained with norm ρ_K."""
    gram = Gram(case)
    value = -gram.margin_squared / 2
    yield from _attained(gram, value)
    for alpha in samples(case):
        if alpha != case.q_bar:
            yield ordered(value, gram.loss(alpha), "−½ρ_K² ≤ L(α)")


def _attained(gram: Gram, value: Any) -> Iterator[Relation]:
    best, length = gram.loss(gram.case.q_bar), gram.square(gram.case.q_bar)
    if gram.rational:
        yield fact(best == value, "L(q̄) = −½ρ_K²")
        yield fact(length == -2 * value, "‖q̄‖_G = ρ_K")
    else:
        yield equal(best, value, "L(q̄) = −½ρ_K²", allowance=gram.width())
        yield equal(length, -2 * value, "‖q̄‖²_G = ρ_K²", allowance=2 * gram.width())


@direct(
    "rp.lem1",
    reference=f"{SOURCE}, Lemma 1",
    kind="identity",
    claim=r"L(\alpha) < 0 \text{ implies } G\alpha > 0 \text{ and there exists a perfect classifier"
    r" iff } G\alpha > 0",
    problems=EXACT + KERNELS + INSEPARABLE,
    assumes=(norm_one, small),
    unit=True,
    note="Read as: some α has Gα > 0 iff there is a perfect classifier.",
    powerless=DATA_ALONE,
)
def lem1(case: Case) -> Iterator[Relation]:
    """L(α) < 0 implies Gα > 0, and some α has Gα > 0 iff there is a perfect classifier."""
    gram = Gram(case)
    for alpha in samples(case, gram.rational or bool(case.separable)):
        value = gram.loss(alpha)
        negative: Trit = True if value < 0 else False if value >= 0 else None
        least = gram.least(alpha)
        positive: Trit = True if least > 0 else False if least <= 0 else None
        true = None if negative is None else (not negative or positive)
        yield fact(true, "L(α) < 0 ⟹ Gα > 0")
        if case.separable is False:
            yield fact(None if positive is None else not positive, "no α has Gα > 0")
    if case.separable:
        yield fact(bool(gram.least(case.q_bar) > 0), "some α has Gα > 0")


@direct(
    "rp.lem2",
    reference=f"{SOURCE}, Lemma 2",
    kind="identity",
    claim=r"\text{For any } \alpha \in \mathbb{R}^n,\quad \|\alpha\|_G \le \|\alpha\|_1"
    r"\le \sqrt{n}\|\alpha\|_2",
    problems=EXACT + KERNELS + INSEPARABLE,
    assumes=(norm_one, small),
    unit=True,
    powerless=DATA_ALONE,
)
def lem2(case: Case) -> Iterator[Relation]:
    """For every α, ‖α‖_G ≤ ‖α‖₁ ≤ √n ‖α‖₂ (compared are the squares)."""
    gram = Gram(case)
    vertex = [Fraction(int(i == 0)) for i in range(case.n)]
    for alpha in (vertex, *samples(case)):
        if gram.rational or not is_vertex(alpha):  # there both sides are G_ii = 1
            yield ordered(gram.square(alpha), absolute(alpha) ** 2, "‖α‖²_G ≤ ‖α‖²₁")
        yield ordered(absolute(alpha) ** 2, case.n * euclidean(alpha), "‖α‖²₁ ≤ n ‖α‖²₂")


@direct(
    "rp.lem3",
    reference=f"{SOURCE}, Lemma 3",
    kind="identity",
    claim=r"\rho_K > 0:\ f \text{ maximizes the margin iff } \rho_K f \text{ optimizes } L(f);\quad"
    r"\rho_K = \sup_{\|\alpha\|_G=1}\inf_{p\in\Delta_n}\langle\alpha,p\rangle_G \le \|p\|_G"
    r"\ \text{ for all } p\in\Delta_n",
    problems=EXACT + KERNELS,
    assumes=(norm_one, small, separable),
    unit=True,
    powerless=DATA_ALONE,
)
def lem3(case: Case) -> Iterator[Relation]:
    """A unit f has the largest margin iff ρ_K f minimises L; and ρ_K ≤ ‖p‖_G for every p ∈ Δ_n."""
    gram = Gram(case)
    best = gram.margin_squared
    yield from _attained(gram, -best / 2)
    rho = sqrt(number(best))
    for alpha in samples(case, gram.rational):
        length, least = gram.square(alpha), gram.least(alpha)
        if not length > 0 or alpha == case.q_bar:
            continue
        # With f = α/‖α‖ the margin is m = least/‖α‖, and L(ρ_K f) + ½ρ_K² = ρ_K (ρ_K − m).
        if least > 0:
            yield ordered(least**2 / length, best, "(margin of f)² ≤ ρ_K²")
            optimal = gram.rational and least**2 == best * length
        else:
            optimal = False
        if optimal:
            continue
        f = number(least) / sqrt(number(length))
        yield below(f, rho, "margin of f < ρ_K")
        yield below(-(rho**2) / 2, rho**2 / 2 - rho * f, "−½ρ_K² < L(ρ_K f)")
    for p in distributions(case):
        if p != case.q_bar:
            yield ordered(best, gram.square(p), "ρ_K² ≤ ‖p‖²_G")


# Section 4


@stopping(
    "rp.nkp",
    reference=f"{SOURCE}, Section 4, remark on Lemma 3",
    claim=r"\text{NKP finds a perfect classifier in } 1/\rho_K^2 \text{ iterations}",
    solvers=("nkp",),
    assumes=(norm_one, separable),
    unit=True,
    note="Iterations are updates: α_0 = 0 is never a solution, and n = 1 needs one update, which "
    "is 1/ρ_K² = 1. Orthonormal rows need all of the n = 1/ρ_K² updates.",
)
def nkp(case: Case) -> Any:
    """NKP separates after at most 1/ρ_K² iterations."""
    return inverse_square(case)


def temperature(k: int) -> Number:
    """μ_k = 4/((k+1)(k+2)): what μ_0 = 2 and μ_{k+1} = (1 − θ_k) μ_k give."""
    return number(4) / ((k + 1) * (k + 2))


@per_iterate(
    "rp.lem4",
    reference=f"{SOURCE}, Lemma 4",
    claim=r"L_{\mu_k}(\alpha_k) \ge L(\alpha_k) - \mu_k \log n",
    solvers=("snkp",),
    assumes=(norm_one,),
    unit=True,
    powerless="it is true of every α and every μ > 0, whatever a solver does",
)
def lem4(it: View, case: Case) -> Relation:
    """The smoothed loss is at least the loss minus μ_k log n."""
    mu = temperature(it.t)
    return at_most(entropy_gap(it, mu), mu * case.log_n, "L(α_k) − L_μ(α_k) ≤ μ_k log n")


@per_iterate(
    "rp.lem5",
    reference=f"{SOURCE}, Lemma 5",
    claim=r"L_{\mu_k}(\alpha_k) \le -\tfrac12 \|p_k\|_G^2",
    solvers=("snkp",),
    assumes=(norm_one,),
    unit=True,
)
def lem5(it: View, case: Case) -> Relation | None:
    """In every round of SNKP the smoothed loss is at most −½‖p_k‖²_G."""
    p = weights_of(it, "p")
    if p is None:
        return None
    loss = entropy_loss(it, temperature(it.t))
    return at_most(square(it, p) / 2, -loss, "½‖p_k‖²_G ≤ −L_μ(α_k)")


def no_other_exit(case: Case) -> str | None:
    """Algorithm 4 as printed: an exit ‖p_k‖_G ≤ ε is none if ε < ρ_K, since ρ_K ≤ ‖p_k‖_G."""
    epsilon = getattr(case.solver, "epsilon", None)
    if epsilon is None or epsilon < case.gamma:
        return None
    return "the solver may exit with ‖p_k‖_G ≤ ε before it separates, which Algorithm 4 does not"


@stopping(
    "rp.thm1",
    reference=f"{SOURCE}, Theorem 1 and the last line of its proof",
    claim=r"\text{SNKP finds a perfect classifier when one exists in }"
    r"O\left(\tfrac{\sqrt{\log n}}{\rho_K}\right) \text{ iterations: after at most }"
    r"k = 2\sqrt{2\log n}/\rho_K \text{ steps}",
    solvers=("snkp",),
    assumes=(norm_one, separable, no_other_exit),
    unit=True,
    note="The constant is that of the proof. L(α_k) < 0 as soon as k + 1 ≥ 2√(2 log n)/ρ_K, since "
    "μ_k < 4/(k+1)², so the first such k is below the bound. For n = 1 the bound is 0, and α_0 "
    "is a solution.",
)
def thm1(case: Case) -> Any:
    """SNKP separates after at most 2√(2 log n)/ρ_K steps."""
    return 2 * sqrt(2 * case.log_n) / case.gamma


# The project's own


def no_single_zero(case: Case) -> str | None:
    """SNKP's Gram matrix is defined: a single point with K(x, x) = 0 cannot be normalised."""
    if case.n > 1 or case.truth.radius_squared_hi > 0:
        return None
    return "a single zero row: both bounds are 0 and 0 < 0 is false"


@per_iterate(
    "gb.snkp.any",
    reference="this project: Lemmas 1, 4 and 5 of Ramdas and Peña (2015) together",
    claim=r"\|p_k\|_G \le \sqrt{2\mu_k\log n} < \frac{2\sqrt{2\log n}}{k+1}"
    r"\quad\text{until } G\alpha_k > 0",
    solvers=("snkp",),
    assumes=(no_single_zero,),
    unit=True,
    note="Any data with rows of norm at most one. If Gα_k > 0 fails, L(α_k) ≥ 0 (Lemma 1), so "
    "−½‖p_k‖²_G ≥ L_μ(α_k) ≥ L(α_k) − μ_k log n ≥ −μ_k log n (Lemmas 5 and 4). A single row that "
    "is zero is excluded: there the strict inequality says 0 < 0.",
)
def snkp_any(it: View, case: Case) -> list[Relation] | None:
    """Until SNKP separates, ‖p_k‖_G ≤ √(2 μ_k log n) < 2√(2 log n)/(k+1), whatever the data."""
    p = weights_of(it, "p")
    if p is None or it.separates:
        return None
    bound = sqrt(2 * temperature(it.t) * case.log_n)
    last = 2 * sqrt(2 * case.log_n) / (it.t + 1)
    strict = True if bound < last else False if bound >= last else None
    return [
        at_most(norm(it, p), bound, "‖p_k‖_G ≤ √(2 μ_k log n)"),
        fact(strict, "√(2 μ_k log n) < 2√(2 log n)/(k+1)"),
    ]


def _separates_or_certifies(it: View, case: Case) -> Trit:
    if it.separates:
        return True
    p = weights_of(it, "p")
    if p is None:
        return it.separates
    length, epsilon = norm(it, p), number(case.solver.epsilon)
    if length <= epsilon:
        return True
    return False if length > epsilon and it.separates is False else None


@stopping(
    "gb.snkp.any.exit",
    reference="this project: the consequence of gb.snkp.any",
    claim=r"G\alpha_k > 0 \text{ or } \|p_k\|_G \le \epsilon \text{ for some }"
    r"k \le 2\sqrt{2\log n}/\epsilon",
    solvers=("snkp",),
    assumes=(tells("epsilon"),),
    goal=_separates_or_certifies,
    unit=True,
)
def snkp_exit(case: Case) -> Any:
    """SNKP with the exit ‖p_k‖_G ≤ ε separates or certifies within 2√(2 log n)/ε iterations."""
    return 2 * sqrt(2 * case.log_n) / number(case.solver.epsilon)
