"""Ji, Srebro and Telgarsky (2021), Appendix B: mirror descent in the sequences that are said.

p_t, q_t, μ_t and ν_t are said as doubles. They must be what follows from w_t and from one another;
where they are, the claims are about these very numbers: f(q) = ‖Zᵀq‖²/2, ω = ψ* of the exponential
loss, α = θ_t = 1, λ_t = 2/(t+2), and distances as after eq. (B.2),
D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩.

A claim about all q is judged at the first vertex, at the centre, and at q̄ where there is but one
and it is rational.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from .facts import PART, ROUNDED, Facts, Judge, Side, size, within
from .jst_claims import gap_of
from .methods import add, softmax, times
from .said import BAD, said

Weights = list[Any]


def _dot(a: Weights, b: Weights) -> arb:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


def _most(values: Weights) -> arb:
    found = arb(0)
    for v in values:
        found = found.max(abs(v))
    return found


def _sum(values: Weights) -> arb:
    return sum((abs(v) for v in values), arb(0))


class Point:
    """What is said at one t; p has the sign of the paper, −A w_t."""

    def __init__(self, f: Facts, t: int) -> None:
        found = {name: said(f, t, name) for name in ("p", "dual", "mu", "nu")}
        self.whole = all(v is not None and v is not BAD for v in found.values())
        if not self.whole:
            return
        self.t, self.f = t, f
        self.scores, self.q = found["p"] or [], found["dual"] or []
        self.mu, self.nu = found["mu"] or [], found["nu"] or []
        self.p = times(-1, self.scores)
        low = self.scores[0]
        for s in self.scores[1:]:
            low = low.min(s)
        self.psi = sum(((low - s).exp() for s in self.scores), arb(0)).log() - low

    @cached_property
    def pull(self) -> Weights:
        """∇f(ν_t)."""
        return self.force(self.nu)

    @cached_property
    def level(self) -> arb:
        """f(μ_t)."""
        return self.value(self.mu)

    def force(self, q: Weights) -> Weights:
        """∇f(q) = ZZᵀq."""
        scale = 1 / arb(self.f.data.radius_squared)
        return [scale * _dot(row, q) for row in self.f.data.gram]

    def value(self, q: Weights) -> arb:
        return _dot(q, self.force(q)) / 2


def _path(f: Facts) -> list[Point]:
    """What is said at every t, made once."""
    if vars(f).get("path of", None) is not f.extras:
        vars(f).update({"path of": f.extras, "path": [Point(f, t) for t in range(len(f.w))]})
    found: list[Point] = vars(f)["path"]
    return found


def _follow(f: Facts, past: Point | None, now: Point) -> Iterator[Side]:
    """That what is said follows: a part of scores for p_t, and rounding for weights."""
    t, scores = now.t, f.scores[now.t]
    yield _most(add(now.scores, scores, -1)), PART * _most(scores) + ROUNDED * (1 + size(f, t))
    known = ROUNDED * (1 + f.data.n + _most(now.p))
    yield _sum(add(now.q, softmax(now.scores), -1)), PART.min(known)
    before = now.q if past is None else past.mu
    share = fmpq(2, t + 1) if t else fmpq(1)
    mu = add(times(1 - share, before), now.q, share)
    yield _sum(add(now.mu, mu, -1)), ROUNDED
    share = fmpq(2, t + 2)
    nu = add(times(1 - share, now.mu), now.q, share)
    yield _sum(add(now.nu, nu, -1)), ROUNDED


Claim = Callable[[Facts, Point, Point, Point], Iterator[Side]]


def said_and(claim: Claim) -> Judge:
    """What is said follows, and the claim about the step from t to t + 1; false or not known."""

    def sides(f: Facts) -> Iterator[Side]:
        past = first = None
        for now in _path(f):
            if not now.whole:
                yield arb(1), arb(0)
                return
            yield from _follow(f, past, now)
            if past is not None and first is not None:
                yield from claim(f, first, past, now)
            past, first = now, first or now

    return lambda f: within(sides(f))


def _slack(past: Point, now: Point) -> arb:
    """What rounding of what is said may do, generously."""
    return ROUNDED * (past.t + 2) ** 2 * (1 + _most(past.p) + _most(now.p))


def _points(f: Facts) -> list[Weights]:
    n = f.data.n
    found: list[Weights] = [[fmpq(int(i == 0)) for i in range(n)], [fmpq(1, n)] * n]
    if f.data.unique and f.data.optimum is not None and f.data.rational:
        found.append(f.data.optimum[1])
    return found


def _drop(q: Weights, past: Point, now: Point) -> arb:
    """D(q, q_t) − D(q, q_{t+1})."""
    return past.psi - now.psi - _dot(add(past.p, now.p, -1), q)


def _inverse(t: int) -> fmpq:
    """1/λ_t."""
    return fmpq(t + 2, 2)


def lemma_b3(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    """With λ_j = 2/(j+2) the factor of f(μ_j) is 1/4, and that of f(μ_0) is 0."""
    t = now.t
    between = _path(f)[1:t]
    for q in _points(f):
        level = now.value(q)
        left = _inverse(t - 1) ** 2 * (now.level - level)
        for point in between:
            j = point.t
            factor = _inverse(j - 1) ** 2 - _inverse(j) * (_inverse(j) - 1)
            left += factor * (point.level - level)
        yield left - _drop(q, first, now), t * _slack(past, now) + _slack(first, now)


def lemma_b4(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    """With the Kullback–Leibler divergence of the weights that are said."""
    if not all(v > arb(10) ** -290 for v in past.q + now.q):
        return
    logs = [(a / b).log() for a, b in zip(now.q, past.q, strict=True)]
    for q in _points(f):
        left = _dot(add(past.p, now.p, -1), add(now.q, q, -1))
        yield abs(left - _dot(add(q, now.q, -1), logs)), 16 * _slack(past, now)


def _pulled(past: Point, now: Point) -> tuple[Weights, arb]:
    """∇f(ν_t) − λ_t (p_t − p_{t+1}), which is 0, and what an entry may be."""
    force, share = past.pull, 1 / _inverse(past.t)
    gap = add(force, add(past.p, now.p, -1), -share)
    rounded = ROUNDED * (1 + share * (_most(past.p) + _most(now.p)))
    return gap, PART * _most(force) + rounded


def equation_b6(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    """The last expression is Lemma B.4."""
    gap, most = _pulled(past, now)
    for q in _points(f):
        apart = add(now.q, q, -1)
        yield abs(_dot(gap, apart)), most * _sum(apart) + ROUNDED
    yield from lemma_b4(f, first, past, now)


def equation_b6_printed(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    """⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩."""
    force, share = past.pull, 1 / _inverse(past.t)
    moved = share * _dot(add(past.p, now.p, -1), add(now.q, past.q, -1))
    for q in _points(f):
        gap = _dot(force, add(now.q, q, -1)) - moved
        yield abs(gap), PART * _most(force) + _slack(past, now)


def equation_b7(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    inverse, force = _inverse(past.t), past.pull
    left = _dot(force, add(past.q, now.q, -1)) - _drop(now.q, past, now) / inverse
    right = inverse * (past.value(past.nu) - now.level)
    yield left - right, _slack(past, now)


def equation_b9(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    inverse = _inverse(past.t)
    for q in _points(f):
        level = now.value(q)
        left = inverse**2 * (now.level - level)
        left -= inverse * (inverse - 1) * (past.level - level)
        yield left - _drop(q, past, now), _slack(past, now)


def theorem_b12(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    if not f.data.unique or f.data.optimum is None:
        return
    q, share = f.data.optimum[1], 1 / _inverse(past.t) ** 2
    above, closer = now.level - now.value(q), share * _drop(q, first, now)
    slack = _slack(past, now) + _slack(first, now)
    yield above - closer, slack
    yield closer - share * gap_of(f), slack
    yield above - 4 * gap_of(f) / (now.t + 1) ** 2, slack


def equation_c8(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    if not f.data.unique or f.data.optimum is None:
        return
    q, inverse = f.data.optimum[1], _inverse(past.t)
    left = past.value(past.nu) - _dot(past.pull, q)
    right = (inverse - 1) * past.level - inverse * now.level
    yield left - right - _drop(q, past, now) / inverse, _slack(past, now)


def equation_c9(f: Facts, first: Point, past: Point, now: Point) -> Iterator[Side]:
    """Distances of the weights that are said."""
    if not f.data.unique or f.data.optimum is None:
        return
    if not all(v > arb(10) ** -290 for v in past.q + now.q):
        return
    q = f.data.optimum[1]
    left = _dot(q, [(a / b).log() for a, b in zip(now.q, past.q, strict=True)])
    pull = _inverse(past.t) * _dot(past.pull, q)
    yield abs(left - (past.psi - now.psi - pull)), PART * abs(pull) + 16 * _slack(past, now)


APPENDIX_B: dict[str, Judge] = {
    "jst.lemB.3": said_and(lemma_b3),
    "jst.lemB.4": said_and(lemma_b4),
    "jst.eqB.6": said_and(equation_b6_printed),
    "jst.eqB.6.fixed": said_and(equation_b6),
    "jst.eqB.7": said_and(equation_b7),
    "jst.eqB.9": said_and(equation_b9),
    "jst.thmB.12": said_and(theorem_b12),
    "jst.eqC.8": said_and(equation_c8),
    "jst.eqC.9": said_and(equation_c9),
}
