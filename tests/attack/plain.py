"""Statements that are false as printed, and about no problem that is given: a counterexample each.

Both sides of what is printed are computed, in rationals or balls; an entry says whether they agree,
and the harness must not say that the statement holds.
"""

from __future__ import annotations

from collections.abc import Callable

from .arithmetic import *

HALF, ROOT = fmpq(1, 2), arb(2).sqrt()


def kernel_without_symmetry() -> bool:
    """K = (1, 1; −1, 1) has vᵀKv = ‖v‖²: is it a matrix of inner products?"""
    K = vec([[fmpq(1), fmpq(1)], [fmpq(-1), fmpq(1)]])
    assert (np.eye(2, dtype=int) == (K + K.T) / 2).all()
    return bool((K == K.T).all())


def at_vertex(target: Vector) -> bool:
    """Whether the gradient p − target of ½‖p − target‖² at its minimiser in the simplex, a vertex,
    has the product 0 with r − p; ⟨s, p⟩ + ½‖p − q‖² has the target q − s."""
    p = nearest_in_simplex(target)
    return bool((p - target) @ (corner(1, 2) - p) == 0)


def theorem_6_1() -> bool:
    """α/μ against R²/μ² + 2 log(2n − 1)/(γμ²), at γ = 2."""
    n, gamma, mu, R = 3, 2, HALF, 1
    more = 2 * arb(2 * n - 1).log()
    gap = (more + R**2) / (gamma * mu) / mu - (R**2 / mu**2 + more / (gamma * mu**2))
    return not abs(gap) > PART


def lambda_sum() -> bool:
    """λ_j = 2/(j+2) meets eq. (B.10): is Σ_{j=0}^t 1/λ_t equal to 1/λ_0² + Σ_{j=1}^t 1/λ_t?"""
    t, inverse = 1, [fmpq(j + 2, 2) for j in range(2)]
    return inverse[0] ** 2 + t * inverse[t] == (t + 1) * inverse[t]


def no_advantage() -> bool:
    """ε_t = ½ is at most γ = ½, and at most 1 − γ: α_t = 0 in every round, so half of two points
    are wrong after 3 ≥ log(4)/(2γ²) rounds."""
    epsilon = gamma = HALF
    assert epsilon <= min(gamma, 1 - gamma)
    assert arb(4).log() / (2 * gamma**2) < 3
    return bool(arb((1 - epsilon) / epsilon).log() / 2 != 0)


#: Solver (of this project; "" for none) → statement → whether what is printed is so.
PRINTED: dict[str, dict[str, Callable[[], bool]]] = {
    "": {
        # √2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m at γ̄ = c = 1.
        "jst.appE.rate": lambda: not ROOT * (1 - 1) < ROOT - 1 / ROOT,
        "jst.eqB.11": lambda_sum,
        "lec.ex9.2": lambda: len({*"university"} & {*"california"}) == 2,
        # T = 1: the VC dimension d of the class itself is at most 16 T d log T.
        "lec.sec4.vc": lambda: bool(16 * arb(1).log() >= 1),
        "lec.thm10": kernel_without_symmetry,
        # y wᵀx = 0 ≥ 0, and sign(0) = 0 is not y.
        "rp.eq1": lambda: bool((0 >= 0) == (np.sign(0) == 1)),
        "rp.eq16": lambda: at_vertex(vec([HALF, HALF - 10])),
        "rp.eq17": lambda: at_vertex(vec([fmpq(2), fmpq(0)])),
        # One row a = 1: no p of the simplex has Aᵀp = 0, so no distance to W is at most √2.
        "rp.lem7": lambda: any(p * 1 == 0 for p in [fmpq(1)]),
        # s + t ≥ 0 if and only if s > 0, at s = 1, t = −2.
        "rp.thm2.proof": lambda: (1 - 2 >= 0) == (1 > 0),
        # The rows ±1 of the line and f = 2: ⟨g, a_i⟩ ≥ 0 for both rows means g = 0.
        "rp.thm3.part2": lambda: any(min(g, -g) >= 0 and 2 * g < 0 for g in (-1, 1)),
        "tyurin.appC.alpha": theorem_6_1,
        # One row a = 1, θ_0 = 1: the first step in units of γ is 1/(1 + e), and not ½.
        "tyurin.fn3": lambda: not abs(1 / (1 + arb(1).exp()) - HALF) > PART,
        # g = θ, y = −1, θ = 0: minus the derivative of log(1 + exp(−yg)) is y/2, and not ½.
        "tyurin.sec8.step": lambda: -HALF == HALF,
    },
    "adaboost": {
        # e^{2γ²} ≤ e^{−2γ²} at γ = 1/4.
        "lec.alg3.z.exp": lambda: not arb(fmpq(1, 8)).exp() > arb(fmpq(-1, 8)).exp(),
        "lec.def5": no_advantage,
        "lec.lem7.line4": no_advantage,
    },
    # K = 0: the gradient K((K + λI)α − y) vanishes at every α, also where λα ≠ y.
    "kernel-ridge": {"lec.ridge": lambda: (0 * (1 * 5 - 1) == 0) == (1 * 5 == 1)},
}
