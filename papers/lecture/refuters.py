"""What witnesses against Sharan's lecture must show.

Standard library only: see `gammabar.papers.witness`.
"""

from fractions import Fraction as Q
from typing import Any

from gammabar.papers.witness import *


@refuter("lec.thm1")
def _(data: dict[str, Any]) -> Claim:
    """½xᵀAx − bᵀx, A diagonal; gradient descent with η = 2/(β + λ) from the origin, T updates."""
    a, b, T = vector(data["diagonal"]), vector(data["b"]), whole(data["T"], 1, 1000)
    demand(min(a) > 0, "A is positive definite")
    beta, lam = max(a), min(a)
    best = [v / u for u, v in zip(a, b, strict=True)]
    # w_{t+1} − w* = (I − ηA)(w_t − w*), and w_0 − w* = −w*.
    rates = [1 - 2 * u / (beta + lam) for u in a]
    spend(len(a) * fraction_time(2 * T * max(map(bits, rates)) + bits(*a, *b)), "the iterates")
    excess = total([u * (r**T * s) ** 2 for u, r, s in zip(a, rates, best, strict=True)]) / 2
    bound = exp(-T * lam / beta) * dot(best, best) * beta / (2 * T)
    return excess, "<=", bound


@refuter("lec.lem7.line4")
def _(data: dict[str, Any]) -> Claim:
    """A learner that always answers +1: AdaBoost's vote is +1, and an error remains for ever."""
    y, gamma = vector(data["y"]), rational(data["gamma"])
    demand(0 < gamma <= Q(1, 2), "0 < γ ≤ 1/2")
    wrong = _always_plus(y)
    demand(max(wrong, Q(1, 2)) <= 1 - gamma, "every ε_t ≤ 1 − γ")
    return wrong, "<=", Q(0)


def _always_plus(y: list[Q]) -> Q:
    """ε_1 of a learner that always answers +1. After one round half of the weight is on its
    mistakes: ε = 1/2 and α = 0 from then on."""
    demand(set(y) == {Q(1), Q(-1)}, "two labels")
    wrong = Q(y.count(Q(-1)), len(y))
    demand(wrong < Q(1, 2), "the first ε is below 1/2, so α_1 > 0")
    return wrong


@refuter("lec.def5")
def _(data: dict[str, Any]) -> Claim:
    """The same learner, of error at most γ in every round."""
    y, gamma = vector(data["y"]), rational(data["gamma"])
    wrong = _always_plus(y)
    demand(max(wrong, Q(1, 2)) <= gamma < 1, "every error is at most γ")
    return wrong, "<=", Q(0)


@refuter("lec.sec4.vc")
def _(data: dict[str, Any]) -> Claim:
    """T = 1: LC(H, 1) contains H, here thresholds on a line, of VC dimension 1. They shatter the
    points, and c·1·1·log 1 = 0."""
    points, cuts = vector(data["points"]), vector(data["thresholds"])
    signs = {tuple(x >= c for x in points) for c in cuts}
    demand(len(signs) == 2 ** len(points), "the points are shattered")
    return Q(len(points)), "<=", Q(0)


@refuter("lec.alg3.z.sum")
def _(data: dict[str, Any]) -> Claim:
    """z = 2√(ε(1 − ε)), but the printed expression ends with a minus where = is meant: it is 0."""
    e = rational(data["epsilon"])
    demand(0 < e < Q(1, 2), "0 < ε < 1/2")
    return 2 * sqrt(e * (1 - e)), "<=", Q(0)


@refuter("lec.alg3.z.exp")
def _(data: dict[str, Any]) -> Claim:
    """(e^{−4γ²})^{1/2} = e^{2γ²}."""
    g = rational(data["gamma"])
    demand(0 < g < Q(1, 2), "0 < γ < 1/2")
    return exp(-2 * g * g), ">=", exp(2 * g * g)


@refuter("lec.ex9.2")
def _(data: dict[str, Any]) -> Claim:
    """The number of characters that occur in both words, each counted once."""
    demand(data["words"] == ["university", "california"], "the two words of the example")
    first, second = data["words"]
    return Q(len(set(first) & set(second))), "==", Q(2)


@refuter("lec.thm10")
def _(data: dict[str, Any]) -> Claim:
    """A matrix with vᵀKv = 0 for all v that is not symmetric: no φ has φ(x)ᵀφ(y) = K_xy."""
    K = matrix(data["K"])
    n = len(K)
    demand(len(K[0]) == n, "K is square")
    pairs = [(i, j) for i in range(n) for j in range(n)]
    demand(all(K[i][j] == -K[j][i] for i, j in pairs), "K is antisymmetric, so vᵀKv = 0")
    i, j = max(pairs, key=lambda p: K[p[0]][p[1]])
    return K[i][j], "==", K[j][i]  # an inner product is symmetric


@refuter("lec.ridge")
def _(data: dict[str, Any]) -> Claim:
    """Kᵀ((K + λI)α − y) = 0 although (K + λI)α ≠ y; K = ΦΦᵀ."""
    phi, y, alpha = matrix(data["features"]), vector(data["y"]), vector(data["alpha"])
    lam = rational(data["lambda"])
    demand(lam > 0, "λ > 0")
    demand(len(phi) == len(y) == len(alpha), "one label and one coefficient for each point")
    K = [[dot(u, v) for v in phi] for u in phi]
    rest = [dot(row, alpha) + lam * a - b for row, a, b in zip(K, alpha, y, strict=True)]
    demand(all(dot(row, rest) == 0 for row in K), "Kᵀ((K + λI)α − y) = 0")
    return max(map(abs, rest)), "==", Q(0)


# What a search finds, in the form of these witnesses.


#: At T = 1 the bound is 0 for every class; the smallest is that of thresholds.
copies("lec.sec4.vc", points=["0"], thresholds=["0", "1"])
copies("lec.ex9.2", words=["university", "california"])


@completes("lec.lem7.line4", "lec.def5")
def _(found: dict[str, Any]) -> dict[str, Any]:
    return {"y": [str(v) for v in found["y"]], "gamma": found["gamma"]}


@completes("lec.thm10")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """The antisymmetric part, whose form is 0, of a matrix whose form is not negative."""
    K = matrix(found["K"])
    n = range(len(K))
    return {"K": [[str((K[i][j] - K[j][i]) / 2) for j in n] for i in n]}
