"""Section 4, Smoothed Normalized Kernel Perceptron: NKP, SNKP, Lemmas 4 and 5, Theorem 1."""

from __future__ import annotations

from typing import Any

from gammabar.papers import (
    Case,
    Number,
    Relation,
    Trial,
    View,
    at_most,
    number,
    per_iterate,
    separable,
    sqrt,
    stopping,
)
from gammabar.papers.ramdas_pena_2015.conventions import SOURCE, norm_one
from gammabar.papers.ramdas_pena_2015.losses import entropy_gap, entropy_loss
from gammabar.papers.ramdas_pena_2015.smoothed_weights import SoftAverages, followed
from gammabar.papers.ramdas_pena_2015.weights import square


@stopping(
    "rp.nkp",
    reference=f"{SOURCE}, Section 4, remark on Lemma 3",
    claim=r"\text{NKP finds a perfect classifier in } 1/\rho_K^2 \text{ iterations}",
    solvers=("nkp",),
    assumes=(norm_one, separable),
    unit=True,
    note="Iterations are updates: α_0 = 0 is never a solution, and n = 1 needs one update, which "
    "is 1/ρ_K² = 1. Orthonormal rows need all of the n = 1/ρ_K² updates.",
    slower="nkp/starts-with-the-sum",
)
def nkp(case: Case) -> Any:
    """NKP separates after at most 1/ρ_K² iterations."""
    return case.mistake_bound


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
    Trial("snkp:epsilon=0.01", "opposed:r=30"),
    Trial("snkp:epsilon=0.64", "crossed"),
    Trial("snkp:epsilon=0.05", "inseparable:n=30,d=4,seed=0", 100),
    Trial("snkp", "iris:0,1,2 --multiclass", 20),
    Trial("snkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
    Trial("nkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
)
