"""What witnesses against Ji, Srebro and Telgarsky (2021) must show.

Standard library only: see `gammabar.papers.witness`.
"""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

from gammabar.papers.witness import *


@refuter("jst.prop3.7")
def _(data: dict[str, Any]) -> Claim:
    """At t = 0: γ(w_0) = 0, and with one row the bound is γ̄/2 − 4 ln(1)/γ̄."""
    one_row(data)
    whole(data["t"], 0, 0)
    return Q(0), ">=", Q(1, 2) - 4 * log(1)


@refuter("jst.sec1.quarter")
def _(data: dict[str, Any]) -> Claim:
    """One row: 4√(ln 1)/γ̄ = 0 steps, after which γ(w_0) = 0; γ̄/4 is claimed."""
    one_row(data)
    return Q(0), ">=", Q(1, 4)


@refuter("jst.sec2.argmax")
def _(data: dict[str, Any]) -> Claim:
    """A w with ‖w‖ < 1 and γ(w) = γ̄, which is no element of the unit sphere."""
    a, w = one_row(data), vector(data["w"])
    square = dot(w, w)
    demand(0 < square < 1, "w is inside the unit ball and not zero")
    demand(dot(a, w) > 0 and dot(a, w) ** 2 == square, "γ(w) = γ̄ = 1")
    return square, ">=", Q(1)  # elements of the right set have norm one


@refuter("jst.sec3.1.align")
@refuter("jst.lemA.1.vector")
def _(data: dict[str, Any]) -> Claim:
    """One row: q̄ = (1) and Zᵀq̄ = −a, but γ̄ū = a; or, as max (Zw)_1 over the ball is attained at
    ū = −a only, −Zᵀq̄ = a and γ̄ū = −a. Compared along a."""
    a = one_row(data)
    return dot(a, [-v for v in a]), ">=", dot(a, a)


@refuter("jst.lem3.4.mu")
def _(data: dict[str, Any]) -> Claim:
    """n = d = 1: q_t = μ_t = (1), so Zᵀμ_t = −a, and 2q_t/t is positive."""
    a = one_row(data)
    demand(len(a) == 1 and a[0] > 0, "n = d = 1, a positive row")
    return -a[0], ">=", 2 / Q(whole(data["t"], 1, 10**6))


@refuter("jst.eqB.6")
def _(data: dict[str, Any]) -> Claim:
    """t = 0, λ = θ = 1, exponential loss: ⟨∇f(ν_0), q_0 − q⟩ = ⟨∇f(ν_0), q_0 − q_1⟩ + ⟨…⟩, where
    the last term as printed is ⟨p_0 − p_1, q_1 − q_0⟩ = ⟨∇f(ν_0), q_1 − q_0⟩: together zero."""
    rows, q = matrix(data["rows"]), vector(data["q"])
    n = len(rows)
    demand(len(q) == n and in_simplex(q), "q is in the simplex")
    demand(all(dot(r, r) <= 1 for r in rows), "rows of norm at most one")
    demand(separable(rows), "the data are seen to be separable")
    mean = [total(list(column)) / n for column in zip(*rows, strict=True)]
    slope = [dot(r, mean) for r in rows]  # ∇φ(q_0) = ZZᵀq_0
    left = dot(slope, [Q(1, n) - v for v in q])
    return left, "==", Q(0)


@refuter("jst.eqB.11")
def _(data: dict[str, Any]) -> Claim:
    """λ_t = 2/(t+2): the middle 1/λ_0² + t/λ_t against the right side (t+1)/λ_t."""
    t = whole(data["t"], 1, 10**6)
    return 1 + Q(t * (t + 2), 2), ">=", Q((t + 1) * (t + 2), 2)


@refuter("jst.lemC.12.sum")
def _(data: dict[str, Any]) -> Claim:
    """n copies of one row of norm one, the logistic loss, ρ = n, t = 2."""
    n = whole(data["copies"], 2, 10**5)
    w1 = _logistic_weight(Q(0), n)  # θ/(ρλ_0) Aᵀν_0 = n q_0 / n
    mu1 = _logistic_weight(w1, n)  # q_1
    w2 = w1 + 3 * mu1 / 2  # λ_1 = 2/3, ν_1 = μ_1/3 + 2q_1/3 = q_1
    mu2 = mu1 / 3 + 2 * _logistic_weight(w2, n) / 3
    # 1/λ_0² = 1, 1/λ_1² = 9/4, (1 − λ_1)/λ_1² = 3/4; ‖Zᵀμ‖ = n μ; both sides times 2ρ.
    left = n * n * (Q(9, 4) * mu2 * mu2 + Q(1, 4) * mu1 * mu1)
    right = n * n * (mu1 * mu1 + Q(3, 2) * mu2 * mu2) - 4 * n * log(n) * log(3)
    return left, ">=", right


@refuter("jst.eqC.13")
def _(data: dict[str, Any]) -> Claim:
    """n copies of one row of norm one, the logistic loss, ρ = n, t = 1: γ(w_1) = 1."""
    n = whole(data["copies"], 2, 10**5)
    q0 = _logistic_weight(Q(0), n)  # w_1 = θ/(ρλ_0) Aᵀν_0 = n q_0/n
    q1 = _logistic_weight(q0, n)  # μ_1 = q_1
    sums = n * (q0 * q0 + q1 * q1) / 2  # ‖Zᵀν_0‖ = n q_0 and ‖Zᵀμ_1‖ = n q_1, over 2ρ
    return Q(1), ">=", (sums - log(n) * (1 + 2 * log(2))) / q0


@refuter("jst.appC.length")
def _(data: dict[str, Any]) -> Claim:
    """The same data at t = 1: ‖w_1‖ = q_0 against 2/ρ + ‖Zᵀμ_1‖/(ρλ_0) = 2/n + q_1."""
    n = whole(data["copies"], 2, 10**5)
    q0 = _logistic_weight(Q(0), n)
    return q0, "<=", Q(2, n) + _logistic_weight(q0, n)


@refuter("jst.appE.rate")
def _(data: dict[str, Any]) -> Claim:
    """n = 1: √2(γ̄ − c/γ̄) against γ̄_m − c/γ̄_m, γ̄_m = √2γ̄, c = 4(1 + 2 ln(1 + t))/(t + 1)²."""
    t = whole(data["t"], 1, 10**6)
    gamma = rational(data["gamma"])
    demand(0 < gamma <= 1, "γ̄ is a margin in the unit ball")
    c = 4 * (1 + 2 * log(1 + t)) / (t + 1) ** 2
    best = sqrt(2) * gamma
    return sqrt(2) * (gamma - c / gamma), ">=", best - c / best


def _gap(data: dict[str, Any]) -> tuple[Q, list[Q], list[Q]]:
    """xᵀU(e_1 − e_2) for one point of the first of two classes, and the columns of U."""
    x, first, second = vector(data["x"]), vector(data["u1"]), vector(data["u2"])
    demand(dot(x, x) <= 1, "the point has norm at most one")
    gap = dot(x, first) - dot(x, second)
    demand(gap > 0, "the point prefers its own class")
    return gap, first, second


@refuter("jst.appE.margin")
def _(data: dict[str, Any]) -> Claim:
    """−max ⟨z, U⟩/‖U‖ with the printed z against γ_m(U)/√2."""
    gap, first, second = _gap(data)
    length = sqrt(dot(first, first) + dot(second, second))
    # γ(w) = −max_i ⟨w, z_i⟩/‖w‖, Section 2; z = x(e_1 − e_2)ᵀ/√2.
    return -(gap / sqrt(2)) / length, "==", gap / length / sqrt(2)


def _logistic_weight(w: Any, n: int) -> Interval:
    """∇ψ of n equal scores w: σ(−w)/(1 − (1 − σ(−w))ⁿ)."""
    sigma = 1 / (1 + exp(w))
    rest = interval(1 - sigma)
    found = sigma / (1 - power(rest, n))
    return Interval(rounded(found.lo, -1), rounded(found.hi, 1))


@refuter("jst.thm5.1")
def _(data: dict[str, Any]) -> Claim:
    """One point x with ‖x‖ = 1 of the first of two classes: n = 1, and w_1 = −Zᵀq_0 with Z as
    printed makes x prefer the other class: γ_m(U_1) = −√2, γ̄_m = √2; t = 1."""
    x = one_row(data)
    root = sqrt(2)
    first, second = [-v for v in x], x  # √2 times the columns of U_1: minus the printed z
    # ‖U_1‖ = 1, so γ_m(U_1) is the difference itself.
    value = interval(dot(x, first) - dot(x, second)) / root
    bound = root - 4 * (1 + log(1)) * (1 + 2 * log(2)) / (root * 4)
    return value, ">=", bound


@refuter("jst.sec5.2.risk")
def _(data: dict[str, Any]) -> Claim:
    """Exponential loss: ℓ(xᵀU(e_2 − e_1)) against ℓ(⟨U, z⟩), printed z = x(e_1 − e_2)ᵀ/√2."""
    gap, *_ = _gap(data)
    return exp(-gap), ">=", exp(gap / sqrt(2))


@refuter("jst.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """One row: θ_j = √(ln(1)/t) = 0, so w_t = 0 with certainty; γ̄ − ε > 0 is claimed."""
    one_row(data)
    epsilon, delta = rational(data["epsilon"]), rational(data["delta"])
    demand(epsilon > 0 and 0 < delta < 1, "ε > 0 and 0 < δ < 1")
    return Q(0), ">=", 1 - epsilon


# What a search finds, in the form of these witnesses.


@completes("jst.sec2.argmax")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """w = a/2."""
    return {"rows": found["rows"], "w": [str(v / 2) for v in vector(found["rows"][0])]}


copies("jst.thm4.1", "rows", epsilon="1/2", delta="1/10")
copies("jst.appE.rate", "gamma", "t")


@completes("jst.eqB.6")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """A corner q of the simplex at which the slope is not its mean; multiples of rows will do."""
    rows = matrix(found["rows"])
    most = max(total([abs(v) for v in row]) for row in rows)
    rows = [[v / most for v in row] for row in rows]
    mean = [total(list(column)) / len(rows) for column in zip(*rows, strict=True)]
    slopes = [dot(r, mean) for r in rows]
    at = next(i for i, s in enumerate(slopes) if s * len(rows) != total(slopes))
    corner = [str(int(i == at)) for i in range(len(rows))]
    return {"rows": [[str(v) for v in row] for row in rows], "q": corner}


def _fewest(claim: Callable[[dict[str, Any]], Claim]) -> dict[str, Any]:
    """The fewest copies of one row for which a claim is false, by doubling and halving."""

    def broken(n: int) -> bool:
        left, relation, right = claim({"copies": n})
        return certainly(left, NEGATION[relation], right)

    low, high = 1, 2
    while not broken(high):
        low, high = high, 2 * high
        demand(high <= 10**5, "copies of one row do not refute it")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if broken(middle) else (middle, high)
    return {"copies": high}


@completes("jst.lemC.12.sum", "jst.eqC.13", "jst.appC.length")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """Whatever was found: copies of one row refute it too, and can be checked by hand."""
    return _fewest(REFUTERS[found["statement"]])


@completes("jst.thm5.1")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """The first point of norm one among those found."""
    return {"rows": [next(x for x in found["rows"] if dot(vector(x), vector(x)) == 1)]}
