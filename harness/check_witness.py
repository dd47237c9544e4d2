#!/usr/bin/env python3
"""Checks a witness: data on which a statement, as its source prints it, is false.

    python harness/check_witness.py WITNESS.json

Standard library only, and nothing of the project: what is claimed is recomputed here from the data
in the file, in rational arithmetic, or in intervals with rational ends where logarithms,
exponentials and roots occur. A statement is refuted if its relation is certain to fail. The words
of the file about what it shows are not believed; only its data are used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction as Q
from math import isqrt
from re import fullmatch
from typing import Any

BITS = 256  # intervals are a little wider than 2^-BITS


class Rejected(Exception):
    """The witness does not show what it claims to show."""


class Interval:
    """All numbers from lo to hi, both rational."""

    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo, self.hi = Q(lo), Q(lo if hi is None else hi)

    def __add__(self, other: Any) -> Interval:
        other = interval(other)
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Any) -> Interval:
        other = interval(other)
        return Interval(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other: Any) -> Interval:
        other = interval(other)
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: Any) -> Interval:
        other = interval(other)
        if other.lo <= 0 <= other.hi:
            raise Rejected("a division by something that may be zero")
        return self * Interval(1 / other.hi, 1 / other.lo)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Interval:
        return interval(other) - self

    def __rtruediv__(self, other: Any) -> Interval:
        return interval(other) / self

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)


def interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval(value)


def sqrt(value: Any) -> Interval:
    """The square root, rounded outwards."""
    value = interval(value)
    if value.lo < 0:
        raise Rejected("the square root of a negative number")
    low = Q(isqrt((value.lo.numerator << 2 * BITS) // value.lo.denominator), 1 << BITS)
    high = Q(isqrt((value.hi.numerator << 2 * BITS) // value.hi.denominator) + 1, 1 << BITS)
    exact = low * low == value.lo == value.hi
    return Interval(low, low if exact else high)


def exp(value: Any) -> Interval:
    """The exponential, rounded outwards: a Taylor series after halving the argument."""
    value = interval(value)
    return Interval(_exp(value.lo).lo, _exp(value.hi).hi)


def _exp(x: Q) -> Interval:
    halvings = max(0, abs(x).__ceil__().bit_length() + 8)
    x, unit = _round(x / (1 << halvings), -1), 1 << (2 * BITS)
    y = _round(x + Q(1, unit), 1)  # x and y enclose the argument
    low, high = _series(x).lo, _series(y).hi
    for _ in range(halvings):
        low, high = _round(low * low, -1), _round(high * high, 1)
    return Interval(low, high)


def _series(x: Q) -> Interval:
    """exp for |x| < 1/128: fifty terms leave less than 2⁻⁵⁰⁰."""
    term = total = Q(1)
    for k in range(1, 60):
        term = _round(term * x / k, 1)
        total += term
    slack = Q(64, 1 << (2 * BITS))
    return Interval(total - slack, total + slack)


def log(value: Any) -> Interval:
    """The natural logarithm, rounded outwards."""
    value = interval(value)
    if value.lo <= 0:
        raise Rejected("the logarithm of a number that is not positive")
    return Interval(_log(value.lo).lo, _log(value.hi).hi)


def _log(x: Q) -> Interval:
    """ln x = k ln 2 + 2 artanh((m − 1)/(m + 1)) with x = m 2ᵏ and m in [1, 2)."""
    k = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Q(2) ** k
    if m < 1:
        k, m = k - 1, m * 2
    return _artanh2((m - 1) / (m + 1)) + k * _artanh2(Q(1, 3))


def _artanh2(z: Q) -> Interval:
    """2 artanh z for 0 ≤ z ≤ 1/3: terms fall by a factor of nine."""
    power, total, terms = z, Q(0), 2 * BITS // 3
    square = _round(z * z, -1)
    for j in range(terms):
        total += power / (2 * j + 1)
        power = _round(power * square, -1)
    # What was rounded down in each power, and the tail of the series.
    slack = Q(terms * terms, 1 << (2 * BITS)) + 2 * Q(1, 9) ** terms
    return Interval(2 * total, 2 * (total + slack))


def _round(x: Q, direction: int) -> Q:
    """A nearby rational with a denominator of 2^(2 BITS): below, or above."""
    scaled = x.numerator << (2 * BITS)
    whole = scaled // x.denominator if direction < 0 else -(-scaled // x.denominator)
    return Q(whole, 1 << (2 * BITS))


def certainly(left: Any, relation: str, right: Any) -> bool:
    """Whether left relation right holds whatever the intervals contain."""
    a, b = interval(left), interval(right)
    return {
        "<": a.hi < b.lo,
        ">": a.lo > b.hi,
        "<=": a.hi <= b.lo,
        ">=": a.lo >= b.hi,
        "!=": a.hi < b.lo or a.lo > b.hi,
    }[relation]


# Reading the data of a witness.


def rational(text: Any) -> Q:
    if not isinstance(text, str) or not fullmatch(r"-?\d{1,500}(/[1-9]\d{0,499})?", text):
        raise Rejected('a rational number is written as "3" or "-3/4"')
    return Q(text)


def vector(values: Any) -> list[Q]:
    if not isinstance(values, list) or not 0 < len(values) <= 1000:
        raise Rejected("a vector is a list of rational numbers in quotes")
    return [rational(v) for v in values]


def matrix(rows: Any) -> list[list[Q]]:
    if not isinstance(rows, list) or not 0 < len(rows) <= 1000:
        raise Rejected("a matrix is a list of rows")
    found = [vector(row) for row in rows]
    if len({len(row) for row in found}) != 1:
        raise Rejected("rows of different lengths")
    return found


def whole(value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"{value!r} is not a whole number from {low} to {high}")
    return value


def dot(u: list[Any], v: list[Any]) -> Any:
    return sum((a * b for a, b in zip(u, v, strict=True)), Q(0))


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Rejected(what)


def one_row(data: dict[str, Any]) -> list[Q]:
    """A single row of norm one: its maximum margin is 1, attained by the row itself."""
    rows = matrix(data["rows"])
    demand(len(rows) == 1 and dot(rows[0], rows[0]) == 1, "the witness is one row of norm one")
    return rows[0]


# One function for each refuted statement. It returns left, relation, right: what the statement
# says of the data. The witness is accepted if that is certainly false. Rows are a_i = y_i x_i,
# and Z = −A.

Claim = tuple[Any, str, Any]
REFUTERS: dict[str, Callable[[dict[str, Any]], Claim]] = {}


def refuter(statement: str) -> Callable[[Callable[[dict[str, Any]], Claim]], Any]:
    def register(function: Callable[[dict[str, Any]], Claim]) -> Any:
        REFUTERS[statement] = function
        return function

    return register


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
def _(data: dict[str, Any]) -> Claim:
    """One row: q̄ = (1), Zᵀq̄ = −a and γ̄ū = a; compared along a."""
    a = one_row(data)
    return dot(a, [-v for v in a]), ">=", dot(a, a)


@refuter("jst.lemA.1.vector")
def _(data: dict[str, Any]) -> Claim:
    """One row: max (Zw)_1 over the ball is attained at ū = −a only; −Zᵀq̄ = a and γ̄ū = −a."""
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
    demand(len(q) == n and min(q) >= 0 and sum(q) == 1, "q is in the simplex")
    demand(all(dot(r, r) <= 1 for r in rows), "rows of norm at most one")
    mean = [sum(column) / n for column in zip(*rows, strict=True)]
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
    weight = _logistic_weight
    q0, w1 = weight(Q(0), n), None
    w1 = q0  # θ/(ρλ_0) Aᵀν_0 = n q_0 / n
    q1 = weight(w1, n)
    w2 = w1 + 3 * q1 / 2  # λ_1 = 2/3, ν_1 = μ_1/3 + 2q_1/3 = q_1
    mu1, mu2 = q1, q1 / 3 + 2 * weight(w2, n) / 3
    # 1/λ_0² = 1, 1/λ_1² = 9/4, (1 − λ_1)/λ_1² = 3/4; ‖Zᵀμ‖ = n μ; both sides times 2ρ.
    left = n * n * (Q(9, 4) * mu2 * mu2 + Q(1, 4) * mu1 * mu1)
    right = n * n * (mu1 * mu1 + Q(3, 2) * mu2 * mu2) - 4 * n * log(n) * log(3)
    return left, ">=", right


def _logistic_weight(w: Any, n: int) -> Interval:
    """∇ψ of n equal scores w: σ(−w)/(1 − (1 − σ(−w))ⁿ)."""
    sigma = 1 / (1 + exp(w))
    rest = interval(1 - sigma)
    power = Interval(rest.lo**n, rest.hi**n)
    found = sigma / (1 - power)
    return Interval(_round(found.lo, -1), _round(found.hi, 1))


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
    """One point of the first of two classes, exponential loss: ℓ(xᵀU(e_2 − e_1)) against
    ℓ(⟨U, z⟩) with the printed z = x(e_1 − e_2)ᵀ/√2."""
    x, first, second = vector(data["x"]), vector(data["u1"]), vector(data["u2"])
    gap = dot(x, first) - dot(x, second)
    demand(gap > 0, "the point prefers its own class")
    return exp(-gap), ">=", exp(gap / sqrt(2))


@refuter("jst.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """One row: θ_j = √(ln(1)/t) = 0, so w_t = 0 with certainty; γ̄ − ε > 0 is claimed."""
    one_row(data)
    epsilon, delta = rational(data["epsilon"]), rational(data["delta"])
    demand(epsilon > 0 and 0 < delta < 1, "ε > 0 and 0 < δ < 1")
    return Q(0), ">=", 1 - epsilon


@refuter("lec.thm1")
def _(data: dict[str, Any]) -> Claim:
    """½xᵀAx − bᵀx, A diagonal; gradient descent with η = 2/(β + λ) from the origin, T updates."""
    a, b, T = vector(data["diagonal"]), vector(data["b"]), whole(data["T"], 1, 1000)
    demand(min(a) > 0, "A is positive definite")
    beta, lam = max(a), min(a)
    best = [v / u for u, v in zip(a, b, strict=True)]
    w = [Q(0)] * len(a)
    for _step in range(T):
        w = [x - 2 / (beta + lam) * (u * x - v) for x, u, v in zip(w, a, b, strict=True)]
    excess = sum((u * (x - s) ** 2 for u, x, s in zip(a, w, best, strict=True)), Q(0)) / 2
    bound = exp(-T * lam / beta) * dot(best, best) * beta / (2 * T)
    return excess, "<=", bound


@refuter("lec.lem7.line4")
def _(data: dict[str, Any]) -> Claim:
    """A learner that always answers +1: AdaBoost's vote is +1, and an error remains for ever."""
    y, gamma = vector(data["y"]), rational(data["gamma"])
    demand(set(y) == {Q(1), Q(-1)} and 0 < gamma <= Q(1, 2), "two labels, 0 < γ ≤ 1/2")
    wrong = Q(y.count(Q(-1)), len(y))
    demand(wrong < Q(1, 2), "the first ε is below 1/2, so α_1 > 0")
    # After one round half of the weight is on the mistakes: ε = 1/2 and α = 0 from then on.
    demand(max(wrong, Q(1, 2)) <= 1 - gamma, "every ε_t ≤ 1 − γ")
    return wrong, "<=", Q(0)


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


@refuter("rp.eq1")
def _(data: dict[str, Any]) -> Claim:
    """y wᵀx ≥ 0 for both labels, while sign(wᵀx) is at most one of them."""
    w = vector(data["w"])
    demand(dot(w, w) == 1, "w is a unit vector")
    score = dot(w, vector(data["x"]))
    demand(score == 0, "the point is on the hyperplane")
    agreeing = Q(sum(score * y >= 0 for y in (1, -1)))
    return agreeing, "<=", Q(1)


@refuter("rp.sec2.2.ball")
def _(data: dict[str, Any]) -> Claim:
    """Rows a and −a and a unit w orthogonal to them: both suprema are 0, although ρ > 0 fails."""
    rows, w = matrix(data["rows"]), vector(data["w"])
    demand(len(rows) == 2 and rows[0] == [-v for v in rows[1]], "the rows are a and −a")
    demand(any(rows[0]), "the rows are not zero")
    demand(dot(w, w) == 1 and dot(rows[0], w) == 0, "w is a unit vector orthogonal to them")
    # min(s, −s) ≤ 0 for every w, and w attains 0: so do the ball and the sphere.
    equal, positive = Q(1), Q(0)
    return equal, "<=", positive


@refuter("rp.winnow")
def _(data: dict[str, Any]) -> Claim:
    """One row: log n = 0 iterations, but the start w = (1/d, …, 1/d) does not separate it."""
    rows = matrix(data["rows"])
    demand(len(rows) == 1 and max(rows[0]) > 0, "one row, which some u ≥ 0 separates")
    demand(log(len(rows)).lo <= 0, "log n is zero")
    return sum(rows[0]) / len(rows[0]), ">", Q(0)


@refuter("rp.lem9")
def _(data: dict[str, Any]) -> Claim:
    """Rows 1 and −1 of the line, ρ = −1: ‖p_0‖_G ≤ 2√n min{√2, ‖q‖_G/ρ} < 0."""
    rows, q = matrix(data["rows"]), vector(data["q"])
    demand(sorted(rows) == [[Q(-1)], [Q(1)]], "the rows are 1 and −1")
    demand(min(q) >= 0 and sum(q) == 1, "q is in the simplex")
    length = abs(dot(q, [r[0] for r in rows]))
    demand(length > 0, "‖q‖_G > 0")
    return Q(0), "<=", 2 * sqrt(2) * (-length)


@refuter("lec.ex9.2")
def _(data: dict[str, Any]) -> Claim:
    """The number of characters that occur in both words, each counted once."""
    first, second = data["words"]
    demand((first, second) == ("university", "california"), "the two words of the example")
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
    K = [[dot(u, v) for v in phi] for u in phi]
    rest = [dot(row, alpha) + lam * a - b for row, a, b in zip(K, alpha, y, strict=True)]
    demand(all(dot(row, rest) == 0 for row in K), "Kᵀ((K + λI)α − y) = 0")
    return sum((abs(v) for v in rest), Q(0)), "==", Q(0)


@refuter("rp.eq16")
def _(data: dict[str, Any]) -> Claim:
    """d_q(p) = ½‖p − q‖²: p minimises ⟨Gα, p⟩ + μ d_q(p) over the simplex, as ⟨slope, r − p⟩ ≥ 0
    at all its vertices r; at one of them it is not zero."""
    G, alpha, q = matrix(data["G"]), vector(data["alpha"]), vector(data["q"])
    p, mu = vector(data["p"]), rational(data["mu"])
    demand(mu > 0 and min(p) >= 0 and sum(p) == 1, "μ > 0, and p is in the simplex")
    slope = [dot(row, alpha) + mu * (a - b) for row, a, b in zip(G, p, q, strict=True)]
    return _steepest(slope, p), "==", Q(0)


@refuter("rp.eq17")
def _(data: dict[str, Any]) -> Claim:
    """d(p) = ½‖p − c‖²: p* minimises it over the simplex, and ⟨∇d(p*), r − p*⟩ is not zero."""
    c, p = vector(data["centre"]), vector(data["p"])
    demand(min(p) >= 0 and sum(p) == 1, "p is in the simplex")
    return _steepest([a - b for a, b in zip(p, c, strict=True)], p), "==", Q(0)


def _steepest(slope: list[Q], p: list[Q]) -> Q:
    """max ⟨slope, r − p⟩ over the vertices r; all are at least zero, so p is the minimiser."""
    changes = [s - dot(slope, p) for s in slope]
    demand(min(changes) >= 0, "p is the minimiser")
    return max(changes)


@refuter("rp.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """One row of norm one: ρ = 1, log(1/ρ)/log γ = 0, and a solution takes at least one loop."""
    one_row(data)
    factor = rational(data["gamma"])
    demand(factor > 1, "γ > 1")
    return Q(1), "<=", log(1) / log(factor)


@refuter("rp.thm4.2")
def _(data: dict[str, Any]) -> Claim:
    """Rows a and −a: q_0 = (½, ½) has norm zero, so δ_0 = 0: the exit needs a norm below it."""
    rows = matrix(data["rows"])
    demand(len(rows) == 2 and rows[0] == [-v for v in rows[1]], "the rows are a and −a")
    demand(any(rows[0]), "the rows are not zero")
    centre = [(u + v) / 2 for u, v in zip(*rows, strict=True)]
    least_norm = Q(0)
    return least_norm, "<", dot(centre, centre)


@refuter("tyurin.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """θ_1 = 0: f(θ_1) = (1/n) Σ log(1 + e⁰) = log 2, whatever the data and the step."""
    rows, theta = matrix(data["rows"]), vector(data["theta_1"])
    demand(not any(theta), "θ_1 = 0, as printed")
    losses = [log(1 + exp(-dot(r, theta))) for r in rows]
    total = losses[0]
    for loss in losses[1:]:
        total = total + loss
    return total / len(rows), ">=", Q(1)  # it is to exceed every bound


@refuter("tyurin.sec6.limits")
def _(data: dict[str, Any]) -> Claim:
    """t = 1: θ_1/γ = ½ mean of the rows, S_1 its mistakes (no score is zero), so σ_i → 1 in S_1
    and 0 outside: β_1 → n/|S_1|. Printed is |S_1|."""
    rows = matrix(data["rows"])
    n = len(rows)
    theta = [sum(column) / (2 * n) for column in zip(*rows, strict=True)]
    scores = [dot(r, theta) for r in rows]
    demand(all(scores), "no score is zero, so the limits of σ_i are 0 and 1")
    mistakes = sum(s < 0 for s in scores)
    demand(mistakes > 0, "there are mistakes")
    return Q(n, mistakes), "==", Q(mistakes)


# The checker itself.

NEGATION = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!="}


def check(path: str) -> str:
    """What the witness in a file refutes; raises `Rejected` if it does not."""
    try:
        with open(path, encoding="utf-8") as file:
            witness = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Rejected(f"{path} cannot be read: {error}") from None
    if not isinstance(witness, dict) or witness.get("format") != "gammabar-witness":
        raise Rejected("this is not a witness")
    if witness.get("version") != 1:
        raise Rejected("only version 1 is known")
    statement, data = witness.get("statement"), witness.get("data")
    if not isinstance(statement, str) or statement not in REFUTERS or not isinstance(data, dict):
        raise Rejected(f"no claim is known for the statement {statement!r}")
    try:
        left, relation, right = REFUTERS[statement](data)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Rejected(f"the data are incomplete or of the wrong shape: {error!r}") from None
    if not certainly(left, NEGATION[relation], right):
        raise Rejected(f"{statement} is not violated by these data")
    return f"{statement} is false as printed: {shown(left)} {relation} {shown(right)} does not hold"


def shown(value: Any) -> str:
    value = interval(value)
    if value.lo == value.hi and value.lo.denominator < 10**6:
        return str(value.lo)
    try:
        return f"{float(value.lo):.12g}…"
    except OverflowError:
        return "a number beyond doubles"


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    for path in arguments:
        try:
            print(f"accepted: {check(path)}")
        except Rejected as reason:
            print(f"rejected: {path}: {reason}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
