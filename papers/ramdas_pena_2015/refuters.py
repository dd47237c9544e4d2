"""What witnesses against Ramdas and Peña (2015) must show.

Standard library only: see `gammabar.papers.witness`.
"""

from fractions import Fraction as Q
from typing import Any

from gammabar.papers.witness import *


@refuter("rp.eq1")
def _(data: dict[str, Any]) -> Claim:
    """y wᵀx ≥ 0 for both labels, while sign(wᵀx) is at most one of them."""
    w = vector(data["w"])
    demand(dot(w, w) == 1, "w is a unit vector")
    x = vector(data["x"])
    demand(dot(x, x) == 1, "the point has norm one")
    score = dot(w, x)
    demand(score == 0, "the point is on the hyperplane")
    agreeing = Q(sum(score * y >= 0 for y in (1, -1)))
    return agreeing, "<=", Q(1)


@refuter("rp.sec2.2.ball")
def _(data: dict[str, Any]) -> Claim:
    """Rows a and −a and a unit w orthogonal to them: both suprema are 0, although ρ > 0 fails."""
    rows, w = opposite_rows(data), vector(data["w"])
    demand(dot(w, w) == 1 and dot(rows[0], w) == 0, "w is a unit vector orthogonal to them")
    # min(s, −s) ≤ 0 for every w, and w attains 0: so do the ball and the sphere.
    equal, positive = Q(1), Q(0)
    return equal, "<=", positive


@refuter("rp.winnow")
def _(data: dict[str, Any]) -> Claim:
    """Rows of −1, 0 and 1 with a 1 first, so that u = e_1 shows ρ₁ = 1, each entry standing for
    several equal coordinates: fewer than two iterations by log n/ρ₁² = log n, but neither the start
    w = 1/d nor w_1 ∝ exp(η x_i) separates them, whatever η ≥ 0 is and whichever row i is taken.

    Row j has at w_1 a positive multiple of the score a z + b + c/z with z = e^η ≥ 1, which is
    a(z − 1) + (a + b)(1 − 1/z) + (a + b + c)/z: not positive if none of these three sums is.
    """
    rows, copies = matrix(data["rows"]), data["copies"]
    demand(isinstance(copies, list) and len(copies) == len(rows[0]), "a number for each entry")
    copies = [whole(number, 1, 10**6) for number in copies]
    if len(rows) == 1:  # log n = 0, whatever ρ₁ > 0 is: the start must separate
        demand(max(rows[0]) > 0, "the row has a positive entry, so that ρ₁ > 0")
        return dot(rows[0], [Q(c) for c in copies]), ">", Q(0)
    demand(all(row[0] == 1 and set(row) <= {-1, 0, 1} for row in rows), "the rows show that ρ₁ = 1")
    demand(certainly(log(len(rows)), "<", 2), "the bound allows one iteration at most")
    worst = []
    for row in rows:  # the one that is taken
        sums = [
            [
                sum(c * y for c, x, y in zip(copies, row, other, strict=True) if x >= v)
                for v in (1, 0, -1)
            ]
            for other in rows
        ]
        missed = [Q(s[2]) for s in sums if max(s) <= 0]
        demand(bool(missed), "no w_1 separates the rows, whatever the rate is")
        worst.append(min(missed))
    return max(worst), ">", Q(0)


@refuter("rp.lem9")
def _(data: dict[str, Any]) -> Claim:
    """Rows 1 and −1 of the line, ρ = −1: ‖p_0‖_G ≤ 2√n min{√2, ‖q‖_G/ρ} < 0."""
    rows, q = matrix(data["rows"]), vector(data["q"])
    demand(sorted(rows) == [[Q(-1)], [Q(1)]], "the rows are 1 and −1")
    demand(in_simplex(q), "q is in the simplex")
    length = abs(dot(q, [r[0] for r in rows]))
    demand(length > 0, "‖q‖_G > 0")
    return Q(0), "<=", 2 * sqrt(2) * (-length)


@refuter("rp.eq16")
def _(data: dict[str, Any]) -> Claim:
    """d_q(p) = ½‖p − q‖²: p minimises ⟨Gα, p⟩ + μ d_q(p) over the simplex, as ⟨slope, r − p⟩ ≥ 0
    at all its vertices r; at one of them it is not zero."""
    G, alpha, q = gram(data["G"]), vector(data["alpha"]), vector(data["q"])
    p, mu = vector(data["p"]), rational(data["mu"])
    demand(mu > 0, "μ > 0")
    demand(all(map(in_simplex, (p, q, alpha))), "p, q and α are in the simplex")
    slope = [dot(row, alpha) + mu * (a - b) for row, a, b in zip(G, p, q, strict=True)]
    return _steepest(slope, p), "==", Q(0)


@refuter("rp.eq17")
def _(data: dict[str, Any]) -> Claim:
    """d(p) = ½‖p − c‖²: p* minimises it over the simplex, and ⟨∇d(p*), r − p*⟩ is not zero."""
    c, p = vector(data["centre"]), vector(data["p"])
    demand(in_simplex(p), "p is in the simplex")
    return _steepest([a - b for a, b in zip(p, c, strict=True)], p), "==", Q(0)


def _steepest(slope: list[Q], p: list[Q]) -> Q:
    """max ⟨slope, r − p⟩ over the vertices r; all are at least zero, so p is the minimiser."""
    mean = dot(slope, p)
    changes = [s - mean for s in slope]
    demand(min(changes) >= 0, "p is the minimiser")
    return max(changes)


@refuter("rp.thm4.1")
def _(data: dict[str, Any]) -> Claim:
    """One row of norm one: ρ = 1, log(1/ρ)/log γ = 0, and a solution takes at least one loop."""
    one_row(data)
    factor = rational(data["gamma"])
    demand(factor > 1, "γ > 1")
    return Q(1), "<=", log(1) / log(factor)


@refuter("rp.lem7")
def _(data: dict[str, Any]) -> Claim:
    """One row of norm one: the only p ∈ Δ_1 has ‖p‖_G = 1, so that no distance to W is finite."""
    row = one_row(data)
    return dot(row, row), "<=", Q(0)


@refuter("rp.thm4.2")
def _(data: dict[str, Any]) -> Claim:
    """Rows of norm one that are not separable, γ > 1, and ε above δ_0 = ‖q_0‖_G/γ: the first call
    is the last, and goes on for more than `constant` · √n/ε steps."""
    rows, limit = matrix(data["rows"]), rational(data["constant"])
    factor, epsilon = rational(data["gamma"]), rational(data["epsilon"])
    n = len(rows)
    demand(all(dot(row, row) == 1 for row in rows), "the rows have norm one")
    demand(factor > 1 and epsilon > 0 and limit > 0, "γ > 1, ε > 0 and the constant is positive")
    G = [[dot(a, b) for b in rows] for a in rows]
    witness = vector(data["witness"])
    demand(len(witness) == n and in_simplex(witness), "the witness is in the simplex")
    demand(not any(dot(row, witness) for row in G), "the witness shows that no w separates them")
    q = [Q(1, n)] * n
    delta = dot(q, [dot(row, q) for row in G]) / factor**2  # the square of δ_0
    demand(delta < epsilon**2, "δ_0 < ε, so that the first call is the last")
    bound = limit * sqrt(n) / epsilon
    steps = whole(data["steps"], 1, 200)
    size = max(bits(v) for row in G for v in row) * (steps + 1)
    spend(steps * n * n * fraction_time(size), "the steps of the first call")
    demand(_goes_on(G, q, delta, steps), "the first call goes on for so many steps")
    return Q(steps), "<=", bound


def _goes_on(G: list[list[Q]], q: list[Q], delta: Q, steps: int) -> bool:
    """Whether SNKPVN(q, √delta) has neither a separator nor ‖p_k‖²_G < delta at k < steps."""
    n = len(q)

    def answer(scores: list[Q], mu: Q) -> list[Q]:
        return _nearest([b - s / mu for b, s in zip(q, scores, strict=True)])

    def mean(theta: Q, a: list[Q], b: list[Q]) -> list[Q]:
        return [(1 - theta) * u + theta * v for u, v in zip(a, b, strict=True)]

    alpha, mu = q, Q(2 * n)
    scores = [dot(row, alpha) for row in G]
    p = target = answer(scores, mu)
    for k in range(steps):
        if min(scores) > 0 or dot(p, [dot(row, p) for row in G]) < delta:
            return False
        theta = Q(2, k + 3)
        onward = [a + theta * b for a, b in zip(alpha, p, strict=True)]
        alpha = [(1 - theta) * a + theta**2 * b for a, b in zip(onward, target, strict=True)]
        mu *= 1 - theta
        scores = [dot(row, alpha) for row in G]
        target = answer(scores, mu)
        p = mean(theta, p, target)
    return True


@refuter("rp.thm2.proof")
def _(data: dict[str, Any]) -> Claim:
    """s > 0 and t < 0: the equivalence asks for s + t ≥ 0."""
    s, t = rational(data["s"]), rational(data["shift"])
    demand(t < 0 < s, "the right side of the equivalence holds")
    return s + t, ">=", Q(0)


@refuter("rp.thm3.part2")
def _(data: dict[str, Any]) -> Claim:
    """Rows 1 and −1 of ℝ¹ and f outside [−1, 1]: the better of g = 1 and g = −1 on the rows."""
    rows, f = matrix(data["rows"]), vector(data["f"])
    demand(sorted(rows) == [[Q(-1)], [Q(1)]], "the rows are 1 and −1")
    demand(len(f) == 1 and abs(f[0]) > 1, "f is not in their hull")
    return max(min(g * row[0] for row in rows) for g in (1, -1)), ">=", Q(0)


# What a search finds, in the form of these witnesses.


@completes("rp.sec2.2.ball")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """Of norm one, and a w orthogonal to the rows, in the plane."""
    a = vector(found["rows"][0])
    scale = max(map(abs, a))
    unit = [v / scale for v in a]
    demand(dot(unit, unit) == 1 and len(a) == 2, "the rows are along an axis of the plane")
    rows = [[str(v) for v in unit], [str(-v) for v in unit]]
    return {"rows": rows, "w": [str(-unit[1]), str(unit[0])]}


@completes("rp.thm3.part2")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """The rows 1 and −1, of which each may be there more than once."""
    values = {str(v) for (v,) in found["rows"]}
    return {"rows": [[v] for v in sorted(values)], "f": found["f"]}


@completes("rp.lem9")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """Equal rows are one row with their weights together; the start is q = 1/n."""
    rows = found["rows"]
    kinds = sorted({tuple(row) for row in rows})
    shares = [str(Q(rows.count(list(kind)), len(rows))) for kind in kinds]
    return {"rows": [list(kind) for kind in kinds], "q": shares}


@completes("rp.thm4.1")
def _(found: dict[str, Any]) -> dict[str, Any]:
    return {"rows": found["rows"], "gamma": found.get("gamma", "2")}


@completes("rp.eq16")
def _(found: dict[str, Any]) -> dict[str, Any]:
    """Rows of the circle, shares of weights, and the minimiser p, the point of the simplex nearest
    to q − Gα/μ."""
    slopes, mu = vector(found["slopes"]), rational(found["mu"])
    rows = [[(1 - s * s) / (1 + s * s), 2 * s / (1 + s * s)] for s in slopes]
    alpha, q = ([Q(v, sum(found[name])) for v in found[name]] for name in ("alpha", "q"))
    G = [[dot(a, b) for b in rows] for a in rows]
    p = _nearest([b - dot(row, alpha) / mu for row, b in zip(G, q, strict=True)])
    return {
        "G": [[str(v) for v in row] for row in G],
        **{name: [str(v) for v in u] for name, u in (("alpha", alpha), ("q", q), ("p", p))},
        "mu": str(mu),
    }


@completes("rp.eq17")
def _(found: dict[str, Any]) -> dict[str, Any]:
    return {"centre": found["centre"], "p": [str(v) for v in _nearest(vector(found["centre"]))]}


def _nearest(target: list[Q]) -> list[Q]:
    """The point of the simplex nearest to a point, by trying every size of the support."""
    for size in range(1, len(target) + 1):
        shift = (sum(sorted(target, reverse=True)[:size], Q(0)) - 1) / size
        p = [max(v - shift, Q(0)) for v in target]
        if sum(p) == 1:
            return p
    raise AssertionError("some size is right")


@completes("rp.winnow")
def _(found: dict[str, Any]) -> dict[str, Any]:
    demand(len(found["rows"]) == 1, "one row")
    return {"rows": found["rows"], "copies": [1] * len(found["rows"][0])}
