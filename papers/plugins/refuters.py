"""What witnesses against the papers of this folder must show.

Standard library only: see `gammabar.papers.witness`.
"""

from fractions import Fraction as Q

from gammabar.papers.witness import *


def _one_row_twice(data):
    """A row of norm one, twice or more: every combination Aᵀq with q ∈ Δ is that row."""
    rows = matrix(data["rows"])
    demand(len(rows) > 1 and rows == [rows[0]] * len(rows), "the rows are equal")
    demand(dot(rows[0], rows[0]) == 1, "the row has norm one")
    return rows[0]


@refuter("wang.sec4.2.gap")
def _(data):
    """v_t is the row for all t, so that ‖Av_t‖² = n, and ψ_μ(v_t) = −½ + 1, whatever μ is."""
    _one_row_twice(data)
    return Q(len(data["rows"]), 2), "<=", Q(1, 2)


@refuter("wang.eq8")
def _(data):
    """One row, t = 1, g_0 = 0: ⟨g_1, a⟩ is −½ in Algorithm 2, where ∇R/R = −a, and ½ in (8)."""
    row = one_row(data)
    return -dot(row, row) / 2, "==", dot(row, row) / 2


@refuter("yu.sec5.2.strict")
def _(data):
    """ρ(A) = 1, and the first step from y = 0 is Ax, which has norm one and is the row itself."""
    row = _one_row_twice(data)
    return Q(1), ">", dot(row, row)


@refuter("yu.sec5.4")
def _(data):
    """min Ωℒ = min_s ln n/s + s/2 = √(2 ln n)."""
    n = whole(data["n"], 2, 10**9)
    return sqrt(2 * log(n)), "<=", sqrt(log(n)) + sqrt(Q(1, 2))


@refuter("yu.thm3.a")
def _(data):
    """ε_sad(z_1) ≤ ‖Ax_1‖ + ‖y_1‖ ≤ 2 ≤ ε ends the loop with y_1, a multiple of the mean row."""
    rows = matrix(data["rows"])
    demand(max(dot(row, row) for row in rows) <= 1, "the rows have norm at most one")
    demand(separable(rows), "the rows are separable")
    demand(rational(data["epsilon"]) >= 2, "ε ≥ 2")
    mean = [total(list(column)) / len(rows) for column in zip(*rows, strict=True)]
    return min(dot(row, mean) for row in rows), ">", Q(0)


@refuter("yu.sec6.1.certificate")
def _(data):
    """Ψx* = 0 for x* ∈ Δ, and the least entry of Qx* is negative."""
    points, x = matrix(data["points"]), vector(data["x"])
    signs = [whole(label, -1, 1) for label in data["labels"]]
    demand(all(signs), "a label is 1 or −1")
    demand(in_simplex(x), "x* is in the simplex")
    signed = [s * v for s, v in zip(signs, x, strict=True)]
    pull = [dot(signed, list(column)) for column in zip(*points, strict=True)]
    demand(not any(pull), "Ψx* = 0")
    return min(signed), ">=", Q(0)


@refuter("yu.sec6.2.prox")
def _(data):
    """⟨ξ, w⟩ + ½‖w − x‖² at (x − ξ)/‖x − ξ‖² and at another point of the ball."""
    x, xi, better = (vector(data[name]) for name in ("x", "xi", "better"))
    demand(dot(x, x) <= 1 and dot(better, better) <= 1, "both points are in the ball")
    target = [a - b for a, b in zip(x, xi, strict=True)]
    square = dot(target, target)
    demand(square > 1, "‖x − ξ‖ > 1")
    values = []
    for w in ([v / square for v in target], better):
        apart = [a - b for a, b in zip(w, x, strict=True)]
        values.append(dot(xi, w) + dot(apart, apart) / 2)
    return values[0], "<=", values[1]


@refuter("jt.thm8.equal")
def _(data):
    """On the data of Theorem 10, ‖w_t‖ ≤ t max_i ‖z_i‖ = 0.2√2 t.

    No other data have ‖w_t‖ = t either: all z_i would be one unit vector, w_t/‖w_t‖ = ū, and the
    left-hand side 0, while ln n − ln 2 > 0.
    """
    rows, t = matrix(data["rows"]), whole(data["t"], 1, 10**6)
    demand(len(rows) > 2, "n > 2")
    theirs = [[Q(1, 10), Q(0)], *[[Q(1, 5)] * 2] * (len(rows) - 1)]
    demand(rows == theirs, "the rows are those of Theorem 10")
    return Interval(0, (t * sqrt(dot(rows[1], rows[1]))).hi), "==", Q(t)


@refuter("jt.lem21")
def _(data):
    """One row of norm one: (256 ln n/γ)² = 0, so that w_0 = 0 must do."""
    one_row(data)
    return log(2), "<=", log(2) / (2 * exp(2))


def _early(data):
    """η and √2 + 2 ln(γ²ηt) + η for one row of norm one and t = 1."""
    one_row(data)
    eta = rational(data["eta"])
    demand(eta > 0, "η > 0")
    return eta, sqrt(2) + 2 * log(eta) + eta


@refuter("wu.lem8")
def _(data):
    """‖w_1‖ = η/2."""
    eta, bound = _early(data)
    return eta / 2, "<=", bound


@refuter("wu.lem9")
def _(data):
    """G(w_0) = 1/2."""
    eta, bound = _early(data)
    return Q(1, 2), "<=", bound / eta


@refuter("wu.thm4")
def _(data):
    """Pr(y⟨x, w_0⟩ ≤ 0) = 1 for w_0 = 0, in every run."""
    eta, bound = _early(data)
    delta = rational(data["delta"])
    demand(0 < delta < 1, "0 < δ < 1")
    return Q(1), "<=", 4 * bound / eta - 36 * log(delta)


@refuter("wu.lem13")
def _(data):
    """Rows (u, v) and (u, −v) of norm one: w* = (1, 0), γ = u, b = v, and L(w_1) for η ≤ 1.

    Whatever c_0 > 0 is, η = min{1, 1/(2c_0)} makes the bound at least 2/√e, and L(w_1) < ln 2.
    """
    (u, v), other = matrix(data["rows"])
    demand(other == [u, -v] and u * u + v * v == 1 and u > 0 < v, "the rows are (u, v) and (u, −v)")
    c, eta = rational(data["c_0"]), rational(data["eta"])
    demand(c > 0 and eta == min(Q(1), 1 / (2 * c)), "η = min{1, 1/(2c_0)}")
    return log(1 + exp(-eta * u * u / 2)), ">=", 1 / (c * eta * exp(c * eta))
