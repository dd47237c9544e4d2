"""Ji, Srebro and Telgarsky (2021), Appendix B: mirror descent in the sequences that are reported.

p_t, q_t, μ_t and ν_t are reported as doubles. They must be what follows from w_t and from one
another; where they are, the claims are about these very numbers: f(q) = ‖Zᵀq‖²/2, ω = ψ* of the
exponential loss, α = θ_t = 1, λ_t = 2/(t+2), and distances as after eq. (B.2),
D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩.

A claim about all q is judged at the first vertex, at the centre, and at q̄ where there is but one
and it is rational.
"""

from __future__ import annotations

from .facts import *


def divergence(f: Facts) -> arb:
    """D(q̄, q_0) = Σ q̄_i ln q̄_i + ψ(0): on the simplex ψ* is the entropy for either loss."""
    assert f.data.optimum is not None
    return sum((arb(v) * arb(v).log() for v in f.data.optimum[1] if v != 0), f.start)


class Point:
    """What is reported at one t; p has the sign of the paper, −A w_t."""

    def __init__(self, f: Facts, t: int) -> None:
        found = [f.said(t, name) for name in ("p", "dual", "mu", "nu")]
        self.whole = all(v is not None and v is not BAD for v in found)
        if self.whole:
            self.t, self.f = t, f
            self.scores, self.q, self.mu, self.nu = found
            self.p, self.psi = -self.scores, log_sum_exp(self.scores)

    @cached_property
    def pull(self) -> Vector:
        """∇f(ν_t)."""
        return self.force(self.nu)

    @cached_property
    def level(self) -> arb:
        """f(μ_t)."""
        return self.value(self.mu)

    def force(self, q: Vector) -> Vector:
        """∇f(q) = ZZᵀq."""
        return (self.f.data.gram @ q) / arb(self.f.data.radius_squared)

    def value(self, q: Vector) -> arb:
        return (q @ self.force(q)) / 2


def _follow(f: Facts, past: Point | None, now: Point) -> Iterator[Side]:
    """That what is reported follows: a part of scores for p_t, and rounding for weights."""
    t, scores = now.t, f.scores[now.t]
    yield most(now.scores - scores), PART * most(scores) + FINE * (1 + f.size(t))
    known = FINE * (1 + f.data.n + most(now.p))
    yield total(now.q - softmax(now.scores)), PART.min(known)
    before = now.q if past is None else past.mu
    share = fmpq(2, t + 1) if t else fmpq(1)
    yield total(now.mu - (1 - share) * before - share * now.q), FINE
    share = fmpq(2, t + 2)
    yield total(now.nu - (1 - share) * now.mu - share * now.q), FINE


#: About the step from t to t + 1: all points up to there, the last two of them, and points q.
Claim = Callable[[list[Point], Point, Point, list[Vector]], Iterator[Side]]


def reported(claim: Claim, at_optimum: bool = False) -> Truth:
    """What is reported follows, and the claim about every step; false or not known.

    `at_optimum`: the claim is about q̄, which is not known if there are several.
    """

    def sides(f: Facts) -> Iterator[Side]:
        points = [Point(f, t) for t in range(len(f.w))]
        known = f.data.unique and f.data.optimum is not None
        places = [f.data.optimum[1]] if at_optimum and known else _places(f)
        for t, now in enumerate(points):
            if not now.whole:
                yield arb(1), arb(0)
                return
            past = points[t - 1] if t else None
            yield from _follow(f, past, now)
            if past is not None and (known or not at_optimum):
                yield from claim(points[: t + 1], past, now, places)

    return lambda f: within(sides(f))


def _places(f: Facts) -> list[Vector]:
    found = [corner(0, f.data.n), uniform(f.data.n)]
    if f.data.unique and f.data.optimum is not None and f.data.rational:
        found.append(f.data.optimum[1])
    return found


def _slack(past: Point, now: Point) -> arb:
    """What rounding of what is reported may do, generously."""
    return FINE * (past.t + 2) ** 2 * (1 + most(past.p) + most(now.p))


def _drop(q: Vector, past: Point, now: Point) -> arb:
    """D(q, q_t) − D(q, q_{t+1})."""
    return past.psi - now.psi - (past.p - now.p) @ q


def _inverse(t: int) -> fmpq:
    """1/λ_t."""
    return fmpq(t + 2, 2)


def lemma_b3(points: list[Point], past: Point, now: Point, places: list[Vector]) -> Iterator[Side]:
    """With λ_j = 2/(j+2) the factor of f(μ_j) is 1/4, and that of f(μ_0) is 0."""
    first, t = points[0], now.t
    for q in places:
        level = now.value(q)
        left = _inverse(t - 1) ** 2 * (now.level - level)
        for j, point in enumerate(points[1:t], 1):
            factor = _inverse(j - 1) ** 2 - _inverse(j) * (_inverse(j) - 1)
            left += factor * (point.level - level)
        yield left - _drop(q, first, now), t * _slack(past, now) + _slack(first, now)


def lemma_b4(points: list[Point], past: Point, now: Point, places: list[Vector]) -> Iterator[Side]:
    """With the Kullback–Leibler divergence of the weights that are reported."""
    if all(v > arb(10) ** -290 for v in [*past.q, *now.q]):
        logs = log(now.q / past.q)
        for q in places:
            left = (past.p - now.p) @ (now.q - q) - (q - now.q) @ logs
            yield abs(left), 16 * _slack(past, now)


def equation_b6(points: list[Point], past: Point, now: Point, places: list[Vector]):
    """∇f(ν_t) = λ_t (p_t − p_{t+1}); the last expression is Lemma B.4."""
    share = 1 / _inverse(past.t)
    gap = past.pull - share * (past.p - now.p)
    rounded = FINE * (1 + share * (most(past.p) + most(now.p)))
    for q in places:
        apart = now.q - q
        yield abs(gap @ apart), (PART * most(past.pull) + rounded) * total(apart) + FINE
    yield from lemma_b4(points, past, now, places)


def equation_b6_printed(points: list[Point], past: Point, now: Point, places: list[Vector]):
    """⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩."""
    moved = (past.p - now.p) @ (now.q - past.q) / _inverse(past.t)
    for q in places:
        gap = past.pull @ (now.q - q) - moved
        yield abs(gap), PART * most(past.pull) + _slack(past, now)


def equation_b7(points: list[Point], past: Point, now: Point, places: list[Vector]):
    inverse = _inverse(past.t)
    left = past.pull @ (past.q - now.q) - _drop(now.q, past, now) / inverse
    yield left - inverse * (past.value(past.nu) - now.level), _slack(past, now)


def equation_b9(points: list[Point], past: Point, now: Point, places: list[Vector]):
    inverse = _inverse(past.t)
    for q in places:
        level = now.value(q)
        left = inverse**2 * (now.level - level) - inverse * (inverse - 1) * (past.level - level)
        yield left - _drop(q, past, now), _slack(past, now)


def theorem_b12(points: list[Point], past: Point, now: Point, places: list[Vector]):
    (q,), first, start = places, points[0], divergence(now.f)
    share = 1 / _inverse(past.t) ** 2
    above, closer = now.level - now.value(q), share * _drop(q, first, now)
    slack = _slack(past, now) + _slack(first, now)
    yield above - closer, slack
    yield closer - share * start, slack
    yield above - 4 * start / (now.t + 1) ** 2, slack


def equation_c8(points: list[Point], past: Point, now: Point, places: list[Vector]):
    (q,), inverse = places, _inverse(past.t)
    left = past.value(past.nu) - past.pull @ q
    right = (inverse - 1) * past.level - inverse * now.level
    yield left - right - _drop(q, past, now) / inverse, _slack(past, now)


def equation_c9(points: list[Point], past: Point, now: Point, places: list[Vector]):
    """Distances of the weights that are reported."""
    if all(v > arb(10) ** -290 for v in [*past.q, *now.q]):
        (q,) = places
        pull = _inverse(past.t) * (past.pull @ q)
        gap = q @ log(now.q / past.q) - (past.psi - now.psi - pull)
        yield abs(gap), PART * abs(pull) + 16 * _slack(past, now)


APPENDIX_B: dict[str, Truth] = {
    "jst.lemB.3": reported(lemma_b3),
    "jst.lemB.4": reported(lemma_b4),
    "jst.eqB.6": reported(equation_b6_printed),
    "jst.eqB.6.fixed": reported(equation_b6),
    "jst.eqB.7": reported(equation_b7),
    "jst.eqB.9": reported(equation_b9),
    "jst.thmB.12": reported(theorem_b12, at_optimum=True),
    "jst.eqC.8": reported(equation_c8, at_optimum=True),
    "jst.eqC.9": reported(equation_c9, at_optimum=True),
}
