"""Statements that are false as printed, and about no problem that is given: a counterexample each.

A function computes both sides of what is printed, in rationals or balls, and says whether they
agree; the harness must not say that the statement holds.
"""

from __future__ import annotations

from collections.abc import Callable

from .arithmetic import *


def two_characters() -> bool:
    """Example 9: the words have 2 characters in common."""
    return len({*"university"} & {*"california"}) == 2


def combinations_of_one() -> bool:
    """T = 1: the VC dimension d of the class itself is at most c T d log T."""
    c, T, d = 16, 1, 1
    return bool(d <= c * T * d * arb(T).log())


def kernel_without_symmetry() -> bool:
    """K = (1, 1; −1, 1) has vᵀKv = ‖v‖²: is it a matrix of inner products?"""
    K = vec([[fmpq(1), fmpq(1)], [fmpq(-1), fmpq(1)]])
    assert (np.eye(2, dtype=int) == (K + K.T) / 2).all()
    return bool((K == K.T).all())


def score_of_zero() -> bool:
    """y wᵀx = 0 ≥ 0, with sign(0) = 0."""
    y, score = 1, 0
    return (y * score >= 0) == ((score > 0) - (score < 0) == y)


def gradient_at_vertex() -> bool:
    """The gradient of ⟨s, p⟩ + ½‖p − q‖² at its minimiser in the simplex, times r − p."""
    s, q = vec([fmpq(0), fmpq(10)]), uniform(2)
    p = nearest_in_simplex(q - s)
    return bool((s + p - q) @ (corner(1, 2) - p) == 0)


def prox_at_vertex() -> bool:
    """The gradient of ½‖p − q‖² with q outside of the simplex at its minimiser, times r − p*."""
    q = vec([fmpq(2), fmpq(0)])
    p = nearest_in_simplex(q)
    return bool((p - q) @ (corner(1, 2) - p) == 0)


def no_witness() -> bool:
    """One row a = 1: no p of the simplex has Aᵀp = 0, so no distance to W is at most √2."""
    return any(p * 1 == 0 for p in [fmpq(1)])


def shifted_sign() -> bool:
    """s + t ≥ 0 if and only if s > 0, at s = 1, t = −2."""
    s, t = 1, -2
    return (s + t >= 0) == (s > 0)


def outside_of_hull() -> bool:
    """The rows ±1 of the line and f = 2: ⟨g, a_i⟩ ≥ 0 for both rows means g = 0."""
    return any(min(g, -g) >= 0 and 2 * g < 0 for g in (-1, 1))


def theorem_6_1() -> bool:
    """α/μ against R²/μ² + 2 log(2n − 1)/(γμ²), at γ = 2."""
    n, gamma, mu, R = 3, 2, fmpq(1, 2), 1
    more = 2 * arb(2 * n - 1).log()
    gap = (more + R**2) / (gamma * mu) / mu - (R**2 / mu**2 + more / (gamma * mu**2))
    return not abs(gap) > PART


def first_step() -> bool:
    """One row a = 1, θ_0 = 1: the first step in units of γ is 1/(1 + e), and not ½."""
    return not abs(1 / (1 + arb(1).exp()) - fmpq(1, 2)) > PART


def signed_step() -> bool:
    """g = θ, y = −1, θ = 0: minus the derivative of log(1 + exp(−yg)) is y/2, and not ½."""
    y = -1
    return fmpq(y, 2) == fmpq(1, 2)


def lambda_sum() -> bool:
    """λ_j = 2/(j+2) meets eq. (B.10): is Σ_{j=0}^t 1/λ_t equal to 1/λ_0² + Σ_{j=1}^t 1/λ_t?"""
    t, inverse = 1, [fmpq(j + 2, 2) for j in range(2)]
    return inverse[0] ** 2 + t * inverse[t] == (t + 1) * inverse[t]


def rate_of_classes() -> bool:
    """√2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m at γ̄ = c = 1."""
    root = arb(2).sqrt()
    return not root * (1 - 1) < root - 1 / root


def exponents() -> bool:
    """e^{2γ²} ≤ e^{−2γ²} at γ = 1/4."""
    square = arb(fmpq(1, 16))
    return not (2 * square).exp() > (-2 * square).exp()


def no_advantage() -> bool:
    """ε_t = ½ is at most γ = ½, and at most 1 − γ: α_t = 0 in every round, so half of two points
    are wrong after 3 ≥ log(4)/(2γ²) rounds."""
    epsilon, gamma = fmpq(1, 2), fmpq(1, 2)
    assert epsilon <= min(gamma, 1 - gamma)
    assert arb(4).log() / (2 * gamma**2) < 3
    alpha = arb((1 - epsilon) / epsilon).log() / 2
    return bool(alpha != 0)


def singular_kernel() -> bool:
    """K = 0: the gradient K((K + λI)α − y) vanishes at every α, also where λα ≠ y."""
    K, strength, y, alpha = 0, 1, 1, 5
    return (K * ((K + strength) * alpha - y) == 0) == ((K + strength) * alpha == y)


#: Solver (of this project; "" for none) → statement → whether what is printed is so.
PRINTED: dict[str, dict[str, Callable[[], bool]]] = {
    "": {
        "jst.appE.rate": rate_of_classes,
        "jst.eqB.11": lambda_sum,
        "lec.ex9.2": two_characters,
        "lec.sec4.vc": combinations_of_one,
        "lec.thm10": kernel_without_symmetry,
        "rp.eq1": score_of_zero,
        "rp.eq16": gradient_at_vertex,
        "rp.eq17": prox_at_vertex,
        "rp.lem7": no_witness,
        "rp.thm2.proof": shifted_sign,
        "rp.thm3.part2": outside_of_hull,
        "tyurin.appC.alpha": theorem_6_1,
        "tyurin.fn3": first_step,
        "tyurin.sec8.step": signed_step,
    },
    "adaboost": {
        "lec.alg3.z.exp": exponents,
        "lec.def5": no_advantage,
        "lec.lem7.line4": no_advantage,
    },
    "kernel-ridge": {"lec.ridge": singular_kernel},
}
