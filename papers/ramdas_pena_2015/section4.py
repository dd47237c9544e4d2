"""Section 4, Smoothed Normalized Kernel Perceptron: SNKP, Lemmas 4 and 5, Theorem 1.

NKP and what the section says of it is in `gammabar.papers.ramdas_pena_2015.section4_nkp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from gammabar.papers import (
    Case,
    Number,
    Relation,
    Trial,
    View,
    at_least,
    at_most,
    direct,
    exp,
    known_zero,
    log,
    number,
    per_iterate,
    rationals,
    separable,
    sqrt,
    stopping,
    total,
)
from gammabar.papers.ramdas_pena_2015.conventions import SOURCE, norm_one
from gammabar.papers.ramdas_pena_2015.losses import entropy_gap, entropy_loss
from gammabar.papers.ramdas_pena_2015.small_data import (
    INSEPARABLE,
    SEPARABLE,
    centres,
    dot,
    gram_of,
    on_circle,
    shares,
)
from gammabar.papers.ramdas_pena_2015.smoothed_weights import SoftAverages, followed
from gammabar.papers.ramdas_pena_2015.weights import square

Weights = list[Fraction]


def entropy(p: list[Number]) -> Number:
    """d(p) = Σ p_i log p_i + log n, equation (12); 0 log 0 = 0."""
    return total(v * log(v) for v in p if not known_zero(v)) + log(len(p))


def _one_norm(p: list[Number], q: list[Number]) -> Number:
    return total(abs(a - b) for a, b in zip(p, q, strict=True))


PROX = "it is about p_μ and d, not about a solver"


@direct(
    "rp.eq11",
    reference=f"{SOURCE}, equation (11) and its closed form",
    kind="identity",
    claim=r"p_\mu(\alpha) := \arg\min_{p\in\Delta_n}\{\langle\alpha,p\rangle_G + \mu d(p)\}"
    r"= \frac{e^{-G\alpha/\mu}}{\|e^{-G\alpha/\mu}\|_1}",
    problems=("",),
    instances="small data sets, a grid of α and p, μ = 2 and 1/6",
    inputs={
        "slopes": rationals(shape=("n",)),
        "alpha": rationals(0, None, shape=("n",)),
        "p": rationals(0, None, shape=("n",)),
        "mu": rationals(0, 100, positive=True),
    },
    note="Checked as F(p) ≥ F(p_μ) + (μ/2)‖p − p_μ‖₁² for F(p) = ⟨α, p⟩_G + μd(p), which is so of"
    " the minimiser of a μ-strongly convex function.",
    powerless=PROX,
)
def eq11(case: Case) -> Iterator[Relation]:
    """The smoothed minimiser p_μ(α) is the softmax of −Gα/μ."""
    for name, rows, alpha, p, strength in _proximal(case):
        scores, mu = [dot(row, alpha) for row in gram_of(rows)], number(strength)
        raw = [exp(-number(s) / mu) for s in scores]
        best = [v / total(raw) for v in raw]
        if len(set(scores)) == 1 == len(set(p)):
            continue  # then p is p_μ
        point = [*map(number, p)]
        gap = _smoothed(scores, point, mu) - _smoothed(scores, best, mu)
        bound = mu / 2 * _one_norm(point, best) ** 2
        yield at_least(gap, bound, "F(p) − F(p_μ) ≥ (μ/2)‖p − p_μ‖₁²", where=name)


def _proximal(case: Case) -> Iterator[tuple[str, Any, Weights, Weights, Fraction]]:
    """A name, rows, α, p and μ."""
    if case.inputs is not None:
        slopes, alpha, p, mu = case.inputs.values()
        rows = [on_circle(Fraction(s)) for s in slopes]
        yield "rows of the circle", rows, shares(alpha), shares(p), Fraction(mu)
        return
    for name, rows in (SEPARABLE | INSEPARABLE).items():
        points = [*centres(len(rows))]
        for alpha, mu, p in product(points, (Fraction(2), Fraction(1, 6)), points):
            yield name, rows, alpha, p, mu


def _smoothed(scores: Weights, p: list[Number], mu: Number) -> Number:
    """F(p)."""
    return total(number(s) * v for s, v in zip(scores, p, strict=True)) + mu * entropy(p)


@direct(
    "rp.eq12",
    reference=f"{SOURCE}, equation (12) and the line after it",
    kind="identity",
    claim=r"d(p) := \sum_i p_i\log p_i + \log n \text{ is 1-strongly convex with respect to the }"
    r"\ell_1\text{-norm}",
    problems=("",),
    instances="n = 2, 3, 6, and a grid of p and q",
    inputs={"p": rationals(0, None, shape=("n",)), "q": rationals(0, None, shape=("n",))},
    note="With 0 ≤ d ≤ log n, which the proof of Lemma 4 uses.",
    powerless=PROX,
)
def eq12(case: Case) -> Iterator[Relation]:
    """d(p) − d(q) − ⟨∇d(q), p − q⟩ ≥ ½‖p − q‖₁², and 0 ≤ d ≤ log n."""
    own = ((p, q) for n in (2, 3, 6) for p, q in product(centres(n), centres(n)))
    for one, other in case.instances(own):
        if case.inputs is not None:
            one, other = shares(one), shares(other)
        p, q = [*map(number, one)], [*map(number, other)]
        if not any(v == 1 for v in one):  # at a corner d is log n
            yield at_most(entropy(p), log(len(p)), "d ≤ log n")
        if all(other) and one != other:
            slope = total((log(b) + 1) * (a - b) for a, b in zip(p, q, strict=True))
            gap = entropy(p) - entropy(q) - slope
            yield at_least(gap, _one_norm(p, q) ** 2 / 2, "D_d(p, q) ≥ ½‖p − q‖₁²")


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
    history=(SoftAverages,),
)
def lem5(it: View, case: Case) -> list[Relation]:
    """In every round of SNKP the smoothed loss is at most −½‖p_k‖²_G."""
    p, wrong = followed(it, case, SoftAverages)
    loss = entropy_loss(it, temperature(it.t))
    return [*wrong, at_most(square(it, p) / 2, -loss, "½‖p_k‖²_G ≤ −L_μ(α_k)")]


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
    slower="snkp/perceptron-instead",
)
def thm1(case: Case) -> Any:
    """SNKP separates after at most 2√(2 log n)/ρ_K steps."""
    return 2 * sqrt(2 * case.log_n) / case.gamma


TRIALS = (
    Trial("snkp", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "iris:1,2:n=60,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "gaussian:n=40,d=6,seed=2,separable=1 --kernel linear --normalised"),
    Trial("snkp", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 60),
    Trial("snkp", "degenerate:kind=opposite,n=8,d=1", 60),
    Trial("snkp", "degenerate:kind=opposite,n=2,d=1", 20),
    Trial("snkp", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("snkp:epsilon=0.01", "opposed:r=30"),
    Trial("snkp:epsilon=0.64", "crossed"),
    Trial("snkp:epsilon=0.05", "inseparable:n=30,d=4,seed=0", 100),
    Trial("snkp", "iris:0,1,2 --multiclass", 20),
    Trial("snkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
)
