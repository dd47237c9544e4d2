"""Appendices A, Margins in the Primal and in the Dual, and B, A Unified Analysis of Normal and
Accelerated Mirror Descent / Dual Averaging.

Appendix A is decided in rational arithmetic. Of Appendix B two kinds of instances are checked, by
the same lines. Along runs of the dual form, that of Appendix C: f = φ, φ(q) = ‖Zᵀq‖²/2, ω = ψ*,
α = 1/ρ, the ℓ₁ norm, and C the domain of ψ* (Δ_n for the exponential loss, [0, 1]ⁿ ∩ {Σ q_i ≥ 1}
for the logistic loss). And exactly, other objectives, mirror maps, norms and sets (`_World`), which
bring their own method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from typing import Any

import numpy as np
from flint import arb_mat
from numpy.typing import NDArray

from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.algorithms import mirror_descent, mixed
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *

# Appendix A


@data.direct(
    "lemA.1.value",
    "Lemma A.1, first display",
    rational,
    problems=(*SEPARABLE, "inseparable:n=30,d=4,seed=0", "degenerate:kind=zero-row"),
)
def _duality(c):
    r"""γ̄ = max_{‖w‖ ≤ 1} min_i (Zw)_i = min_{q ∈ Δ_n} ‖Zᵀq‖.

    $\bar\gamma := \max_{\|w\|_2 \le 1} \min_{1 \le i \le n} (Zw)_i = \min_{q \in \Delta_n} \|Z^\top
    q\|_2$

    With Z = −A the primal problem of the lemma is not that of Section 2, which is max min_i
    (−Zw)_i; but w ↦ −w maps one onto the other, so the values agree and it holds."""
    # The left is never above the right. They are equal if one w attains one ‖Zᵀq‖: w = −w̄/‖w̄‖ has
    # (Zw)_i = ⟨a_i, w̄⟩/‖w̄‖, and w = 0 will do where w̄ = 0.
    pair = Optimum(c)
    yield pair.in_simplex()
    if pair.square > 0:
        yield fact(min(pair.scores) == pair.square, "min_i (Zw)_i = ‖Zᵀq̄‖ for w = −w̄/‖w̄‖")
    yield fact(c.truth.square_lo == pair.square == c.truth.square_hi, "γ̄² = ‖Zᵀq̄‖²")


@aligned.direct("lemA.1.vector", "Lemma A.1, second sentence", Erratum("misprint", ".fixed"))
@aligned.direct(
    "lemA.1.vector.fixed",
    "Lemma A.1, second sentence, with the primal problem of its proof",
    instead={
        "(Zw)_i, on": "(−Zw)_i, on",
        r"\text{ (of }": r"\text{ of }",
        r"(Zw)_i \text{),": r"(-Zw)_i, \text{",
    },
)
def _vector(c, printed):
    r"""−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (Zw)_i, on
    separable data.

    $\text{there exists a unique primal optimal solution } \bar u \text{ (of } \max_{\|w\|_2 \le 1}
    \min_i (Zw)_i \text{), such that for all dual optimal solution } \bar q,\ -Z^\top \bar q =
    \bar\gamma \bar u$"""
    what = f"−Zᵀq̄ = γ̄ū for ū that maximises min_i ({'' if printed else '−'}Zw)_i"
    return alignment(c, -1, -1 if printed else 1, what)


# Appendix B: steps of eq. (B.2), in balls along a run, and in fractions for other f, ω and C

_Vector = NDArray[Any]


@dataclass(eq=False)
class _Dual:
    """A point q of C, ∇f(q), and f(q) unless f is a quadratic form; `sum` is that of Lemma B.3."""

    q: Any
    slope: Any
    value: Any = None
    name: str = ""
    sum: Any = 0

    def above(self, other: _Dual) -> Any:
        """f(q) − f(r): of a form ⟨∇f(q) + ∇f(r), q − r⟩/2, zero without rounding where q = r."""
        if self.value is not None:
            return self.value - other.value
        return (self.slope + other.slope) @ (self.q - other.q) / 2


@dataclass(eq=False)
class _Point:
    """The sequences at one t, with λ_t, θ_t, θ_{t−1}/λ_{t−1}² (0 at t = 0) and ω*(p_t); A w_t, q_t,
    μ_t and ν_t as the solver says them are `doubles`."""

    t: int
    lam: Fraction
    theta: Fraction
    before: Fraction
    p: _Vector
    q: _Vector
    mu: _Dual
    nu: _Dual
    conjugate: Any
    doubles: tuple[Floats, ...] = ()

    @cached_property
    def force(self) -> float:
        """max_i |∇f(ν_t)_i|."""
        return max(float(v.abs_lower()) for v in self.nu.slope)

    @cached_property
    def logs(self) -> _Vector:
        """ln q_t, row by row."""
        return np.array([v.log() for v in self.q], dtype=object)


class _Path:
    """The last step of a run, from `past` to `now`, and the points q at which claims are tested.

    Bregman distances are those of the text after eq. (B.2), D(q, q_t) = ω(q) − ω(q_t) −
    ⟨p_t, q − q_t⟩. As q_t = ∇ω*(p_t) and so ω(q_t) = ⟨p_t, q_t⟩ − ω*(p_t), ω(q) cancels in

        D(q, q_t) − D(q, q_{t+1}) = ω*(p_t) − ω*(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩,

    and D(q_{t+1}, q_t) is the same at q = q_{t+1}, as D(q_{t+1}, q_{t+1}) = 0.

    `rho` is 1/α, `best` is q̄, `whole` D(q̄, q_0), and `exact` makes a number of a fraction.
    """

    everywhere: list[_Dual]
    best: Any
    whole: Any
    rho: Any
    accelerated: bool
    first: Any = None
    past: Any = None
    now: Any = None
    exact: Any = staticmethod(number)

    def add(self, now: _Point) -> None:
        """Take the next point, and add the term j = t − 1 of Lemma B.3."""
        self.first, self.now = self.first or now, now
        if self.past is not None:
            lam, theta = self.past.lam, self.past.theta
            weight = self.exact(self.past.before - theta * (1 - lam) / lam**2)
            for q in self.everywhere:
                q.sum += weight * self.past.mu.above(q)

    def fall(self, q: Any, since: _Point | None = None) -> Any:
        """D(q, q_t) − D(q, q_{t+1}) of the last step, or of all steps since a point."""
        start = since or self.past
        return start.conjugate - self.now.conjugate - (start.p - self.now.p) @ q

    @property
    def ratio(self) -> Any:
        """λ_t/(αθ_t) of the last step."""
        return self.rho * self.exact(self.past.lam / self.past.theta)

    def claimed(self, claim: Any, at: str, where: str, *more: Any) -> Iterator[Relation]:
        """What a claim ``(s, q)`` says at every q, at q̄ ("best"), or at one q, if at none ("one").

        It yields relations, or left, right and what for left ≤ right.
        """
        best = [] if at != "best" or self.best is None else [self.best]
        for q in {"all": self.everywhere, "one": self.everywhere[:1], "best": best}[at]:
            place = where + ("" if at == "one" and not where else q.name)
            for found in claim(self, q, *more):
                if isinstance(found, Relation):
                    yield found
                elif self.exact is Fraction and found[0] == found[1]:
                    yield fact(True, found[2], where=place)
                else:
                    yield at_most(*found, where=place)


#: What the dual form must say of an iterate.
_SEQUENCES = ("p", "dual", "mu", "nu")


class _Mirror(_Path):
    """The sequences of eqs. (B.1) and (B.2) as delivered by the dual form, in balls.

    Signs are those of the paper: p_t = Zw_t = −A w_t. p_t, q_t, μ_t and ν_t are taken for exact
    where they follow from the iterates, up to the rounding of the last step, which `claims` say:

        p_t = −A w_t, the scores being carried along by addition    q_t = ∇ψ(p_t)
        μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t, μ_0 = q_0        ν_t = (1 − λ_t) μ_t + λ_t q_t
    """

    def __init__(self, case: Case) -> None:
        self.case, self.loss, self.rho = case, loss_of(case), number(smoothness(case))
        self.accelerated = accelerated(case) is None
        self.claims: list[Relation] = []
        self._w: Floats | None = None
        self._drift = 0.0

    def dual(self, values: Any, name: str = "") -> _Dual:
        """A dual variable q with ∇φ(q) = Gq."""
        q = balls(values)
        slope = self.case.space.gram() * arb_mat(len(q), 1, q.tolist())
        return _Dual(q, np.array(slope.entries(), dtype=object), name=name)

    @cached_property
    def at(self) -> dict[str, _Dual]:
        """Points q by their names."""
        n = self.case.n
        draws = np.random.default_rng(n).integers(1, 1000, n).tolist()
        found = {
            "the first vertex": [1] + [0] * (n - 1),
            "the centre": [Fraction(1, n)] * n,
            "a random point": [Fraction(v, sum(draws)) for v in draws],
        }
        if exact_dual(self.case) is None:
            found["q̄"] = self.case.q_bar
        if self.loss == "logistic":
            found["the vertex of all ones"] = [1] * n
        return {name: self.dual(values, f"q = {name}") for name, values in found.items()}

    @property
    def everywhere(self) -> list[_Dual]:  # type: ignore[override]
        return list(self.at.values())

    @property
    def best(self) -> _Dual:
        return self.at["q̄"]

    @property
    def whole(self) -> Number:
        return distance_from_start(self.case)

    def update(self, it: View) -> None:
        # Claims about t = 0 are checked with the first step, which starts there.
        first = self.claims if it.t == 1 else []
        self.past, self.now, self.claims = self.now, None, []
        if self._w is not None:
            self._drift += score_drift(it, self._w)
        self._w = it.w
        said = [it.dual if name == "dual" else it.extra.get(name) for name in _SEQUENCES]
        given: list[Any] = [
            "is not said" if v is None else claimed_numbers(v, (it.n,)) for v in said
        ]
        for name, found in zip(_SEQUENCES, given, strict=True):
            if isinstance(found, str):
                self.claims.append(fact(False, f"{name} {found}", said=True))
        if not self.claims:
            case, t, (scores, weights, mu, nu) = self.case, it.t, given
            before = step(case, t - 1) / mixing(case, t - 1) ** 2 if t else Fraction(0)
            p = balls((-scores).tolist())
            vectors = p, balls(weights.tolist()), self.dual(mu.tolist()), self.dual(nu.tolist())
            numbers = t, mixing(case, t), step(case, t), before
            now = _Point(*numbers, *vectors, potential(p, self.loss), tuple(given))
            self.claims = [*self._follow(it, now)]
            self.add(now)
        self.claims = [*first, *self.claims]

    def _follow(self, it: View, now: _Point) -> Iterator[Relation]:
        """That the sequences at t follow from w_t and from those at t − 1."""
        what, scores = "p_t is that of the iterates: −A w_t", now.doubles[0]
        yield carried_scores(it, scores, self._drift, what)
        q, off = potential_gradient(now.p, self.loss), softmax_rounding(scores)
        yield same_masses(now.q, q, 8 * off, "q_t = ∇ψ(p_t)")
        if self.past is None:
            yield same_masses(now.mu.q, now.q, 0.0, "μ_0 = q_0")
        else:
            mu = mixed(number(self.past.lam), self.past.mu.q, now.q)
            what = "μ_t is the average of μ_{t−1} and q_t"
            yield same_masses(now.mu.q, mu, roundoff(2.0), what)
        nu = mixed(number(now.lam), now.mu.q, now.q)
        yield same_masses(now.nu.q, nu, roundoff(2.0), "ν_t is the average of μ_t and q_t")

    @property
    def underflowed(self) -> bool:
        """Whether some weight has all but vanished, so that its logarithm says nothing."""
        weights = np.concatenate([self.past.doubles[1], self.now.doubles[1]])
        return bool(((weights >= 0) & (weights < 1e-290)).any())  # one below 0 is a false claim

    @property
    def change(self) -> float:
        """max_i |p_t(i) − p_{t+1}(i)|."""
        return float(np.abs(self.past.doubles[0] - self.now.doubles[0]).max())

    @property
    def force_rounding(self) -> float:
        """How far λ/(αθ) (p_t − p_{t+1}) may be from ∇φ(ν_t) in a row: A Aᵀν_t, and one sum."""
        sums = float(np.abs(self.now.doubles[0]).max())
        gram = gram_rounding(self.case, self.past.doubles[3])
        return gram + float(roundoff(sums * upper(self.ratio)))

    def log_rounding(self, q: _Dual) -> float:
        """How far ⟨ln q_t − ln q_{t+1}, q_{t+1} − q⟩ may be from ⟨p_t − p_{t+1}, q_{t+1} − q⟩."""
        past, now = self.past, self.now
        fall = past.conjugate - now.conjugate
        return log_rounding(past.doubles[0], now.doubles[0], fall, self.apart(q))

    def apart(self, q: _Dual) -> float:
        """‖q_{t+1} − q‖₁."""
        return upper(total(abs(v) for v in self.now.q - q.q))


_QUARTER, _HALF, _THIRD = Fraction(1, 4), Fraction(1, 2), Fraction(1, 3)


def _fractions(values: Any) -> _Vector:
    return np.array(np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object)))


class _World:
    """f(q) = ½⟨q, Hq⟩ − ⟨b, q⟩ + κ·huber(q_1), ω(q) = ½⟨q, Mq⟩ and a box C; α = 1.

    M is diagonal, and huber(x) is x²/2 for |x| ≤ ¼ and |x|/4 − 1/32 beyond. `best` is q̄ of a
    separable f: each coordinate by itself, clipped.
    """

    def __init__(self, M: Any, box: Any, H: Any, b: Any, best: Any = (), kappa: Any = 0) -> None:
        self.huber, self.best = Fraction(kappa), _fractions(best)
        self.metric, self.box, self.hessian, self.linear = map(_fractions, (M, box, H, b))

    def slope(self, q: _Vector) -> Any:
        """∇f(q)."""
        found = self.hessian @ q - self.linear
        found[0] += self.huber * max(min(q[0], _QUARTER), -_QUARTER)
        return found

    def back(self, p: _Vector) -> Any:
        """∇ω*(p)."""
        return np.minimum(self.box[1], np.maximum(self.box[0], p / self.metric))

    def conjugate(self, p: _Vector) -> Any:
        """ω*(p) = ⟨p, q⟩ − ω(q) for q = ∇ω*(p)."""
        q = self.back(p)
        return p @ q - self.metric @ (q * q) / 2

    def dual(self, q: _Vector) -> _Dual:
        x = abs(q[0])
        bend = x * x / 2 if x <= _QUARTER else x / 4 - _QUARTER / 8
        value = q @ self.hessian @ q / 2 - self.linear @ q + self.huber * bend
        return _Dual(q, self.slope(q), value, f"q = {[str(v) for v in q]}", Fraction(0))

    def points(self) -> list[_Dual]:
        """Points q of C: corners and the middle."""
        return [self.dual(np.array(c)) for c in (*product(*self.box.T), sum(self.box) / 2)]


_WORLDS = {
    "Euclidean, unit box, f with a full matrix": _World(
        M=[1, 1], box=[[0, 0], [1, 1]], H=[[_HALF, _THIRD], [_THIRD, _HALF]], b=["2/3", "-1/5"]
    ),
    "weighted norm, wide box, separable f": _World(
        M=[2, _HALF], box=[[-3, -1], [3, 5]], H=[[2, 0], [0, _QUARTER]], b=[3, 1], best=["3/2", 4]
    ),
    "Euclidean, f with a Huber term": _World(
        M=[1, 1],
        box=[[-1, -1], [1, 1]],
        H=[[_HALF, 0], [0, 1]],
        b=[_HALF, 2],
        best=["3/4", 1],
        kappa=_HALF,
    ),
}
#: λ_t, as rationals, and θ_t; all but the last two meet eq. (B.10).
_SCHEDULES = {
    "λ_t = 2/(t+2)": (lambda t: Fraction(2, t + 2), Fraction(1)),
    "λ_t = 3/(t+3)": (lambda t: Fraction(3, t + 3), Fraction(1)),
    "λ_t = 1": (lambda t: Fraction(1), Fraction(1)),
    "λ_t = 1, θ_t = ⅓": (lambda t: Fraction(1), _THIRD),
    "λ_t = ½, θ_t = ½": (lambda t: _HALF, _HALF),
}


class _Exact(_Path):
    """Steps of eq. (B.2) in fractions, for a world and a schedule.

    `best` is None where q̄ is not known or Theorem B.12 is not about the run.
    """

    exact = staticmethod(Fraction)
    rho = Fraction(1)

    def __init__(self, name: str, schedule: str) -> None:
        self.world = world = _WORLDS[name]
        self.everywhere, (self.lam, self.theta) = world.points(), _SCHEDULES[schedule]
        self.name, self.accelerated = f"{name}, {schedule}", schedule == "λ_t = 2/(t+2)"
        known = len(world.best) and self.theta == 1 == self.lam(0)
        self.best = world.dual(world.best) if known else None

    @property
    def whole(self) -> Any:
        """D(q̄, q_0) = ω(q̄) + ω*(p_0) − ⟨p_0, q̄⟩."""
        q, first = self.best.q, self.first
        return self.world.metric @ (q * q) / 2 + first.conjugate - first.p @ q

    def steps(self) -> Iterator[_Exact]:
        """The path after each of twelve steps."""
        world, before, start = self.world, Fraction(0), _fractions([_THIRD, -_HALF])
        run = mirror_descent(start, world.slope, world.back, self.lam, lambda t: self.theta)
        for t, (p, q, mu, nu) in enumerate(islice(run, 13)):
            lam, duals = self.lam(t), (world.dual(mu), world.dual(nu))
            self.past = self.now
            self.add(_Point(t, lam, self.theta, before, p, q, *duals, world.conjugate(p)))
            before = self.theta / lam**2
            if t:
                yield self


_POINTS = "q: vertices, centre, q̄ and a random point"
_RUN = "f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps form"
_mirrored = jst.sharing(DUAL, _Mirror, since=1, instances=_RUN)
_SMOOTH = (smooth, proper_step)
_MIRROR_DESCENT = "dual-acceleration-dual/mirror-descent-instead"
#: About the method of eq. (B.2) itself.
_maps = jst.sharing(
    kind="anytime",
    unit=False,
    powerless="a property of the method of eq. (B.2), which it brings itself: no solver has a part"
    " in it",
    instances="f quadratic, with and without a Huber term; ω Euclidean and weighted; C boxes;"
    " λ_t = 2/(t+2), 3/(t+3), 1 and ½; q: corners and the middle",
)


def _along_runs(*about: Any, at: str = "all", **given: Any) -> Any:
    """Declare a claim ``(s, q)`` about the last step s of a run (see `_Path.claimed`), or
    ``(s, q, printed)``. The sequences that the solver says must be those of its iterates."""

    def register(claim: Any) -> Any:
        more = claim.__code__.co_argcount - 2

        def body(it, c, printed):
            path: _Mirror = c.history(_Mirror)
            for name in _SEQUENCES:
                it.claim(name)
            yield from path.claims
            if path.past is not None and path.now is not None:
                yield from path.claimed(claim, at, "", *[printed][:more])

        body.__doc__, body.__name__ = claim.__doc__, claim.__name__
        _mirrored.bound(*about, **given)(body)
        return claim

    return register


def _in_fractions(identifier: str, reference: str, at: str = "all", **given: Any) -> Any:
    """Declare a claim ``(s, q)`` about every step in every world."""

    def register(claim: Any) -> Any:
        def body(c):
            for names in product(_WORLDS, _SCHEDULES):
                for path in _Exact(*names).steps():
                    yield from path.claimed(claim, at, f"{path.name}, t = {path.past.t}, ")

        body.__doc__, body.__name__ = claim.__doc__, claim.__name__
        _maps.direct(identifier, reference, **given)(body)
        return claim

    return register


@_along_runs(
    "lemB.3", "Lemma B.3", *_SMOOTH, slower=_MIRROR_DESCENT, instances=f"{_RUN}; {_POINTS}"
)
@_in_fractions("lemB.3.maps", "Lemma B.3")
def _lemma_b3(s, q):
    r"""For every q, the weighted sum of f(μ_j) − f(q) up to t is at most (D(q, q_0) − D(q, q_t))/α
    + θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)).

    $\frac{\theta_{t-1}}{\lambda_{t-1}^2} (f(\mu_t) - f(q)) + \sum_{j=1}^{t-1} \left(
    \frac{\theta_{j-1}}{\lambda_{j-1}^2} - \frac{\theta_j(1-\lambda_j)}{\lambda_j^2} \right)
    (f(\mu_j) - f(q)) \le \frac{1}{\alpha} (D_\omega(q, q_0) - D_\omega(q, q_t)) +
    \frac{\theta_0(1-\lambda_0)}{\lambda_0^2} (f(\mu_0) - f(q))$"""
    what = "Σ … (f(μ_j) − f(q)) − θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)) ≤ (D(q, q_0) − D(q, q_t))/α"
    left = s.exact(s.past.theta / s.past.lam**2) * s.now.mu.above(q) + q.sum
    yield left, s.rho * s.fall(q.q, s.first), what


@_along_runs(
    "lemB.4",
    "Lemma B.4",
    exponential,
    kind="identity",
    instances=f"ω the entropy on Δ_n; {_POINTS}",
)
def _lemma_b4(s, q):
    r"""For every q in the simplex, ⟨p_t − p_{t+1}, q_{t+1} − q⟩ is D(q, q_t) − D(q, q_{t+1}) −
    D(q_{t+1}, q_t).

    $\langle p_t - p_{t+1}, q_{t+1} - q \rangle = D_\omega(q, q_t) - D_\omega(q, q_{t+1}) -
    D_\omega(q_{t+1}, q_t)$

    With D(q, r) = Σ q_i ln(q_i/r_i), the Kullback–Leibler divergence that D_ω is for the
    exponential loss, of the weights as delivered. (With distances written by means of p_t the
    identity is empty: everything cancels.) Weights that underflowed say nothing.
    At rest: it is true of all p_t, and all sides are 0 where q_t stays the same"""
    if s.underflowed:
        return
    left = (s.past.p - s.now.p) @ (s.now.q - q.q)
    right = (q.q - s.now.q) @ (s.now.logs - s.past.logs)
    what = "⟨p_t − p_{t+1}, q_{t+1} − q⟩ = D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)"
    off, size = s.log_rounding(q), s.change * s.apart(q)
    yield equal(left, right, what, allowance=off, size=size, where=q.name)


@_along_runs(
    "eqB.6",
    "Eq. (B.6)",
    proper_step,
    Erratum("transcription", ".fixed"),
    kind="identity",
    problems=("planted:n=2,d=1,gamma=0.5",),
)
@_along_runs(
    "eqB.6.fixed",
    "Eq. (B.6), corrected",
    proper_step,
    kind="identity",
    instead={
        "q_{t+1} − q_t⟩": "q_{t+1} − q⟩",
        r", q_{t+1} - q_t \rangle": r", q_{t+1} - q \rangle",
    },
)
def _equation_b6(s, q, printed):
    r"""⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩,
    and that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)),
    for every q.

    $\langle \nabla f(\nu_t), q_t - q \rangle = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle +
    \langle \nabla f(\nu_t), q_{t+1} - q \rangle = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle +
    \frac{\lambda_t}{\alpha\theta_t} \langle p_t - p_{t+1}, q_{t+1} - q_t \rangle = \langle \nabla
    f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t) +
    \frac{\lambda_t}{\alpha\theta_t} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)$"""
    past, now, force, ratio = s.past, s.now, s.past.nu.slope, s.ratio
    common, apart = force @ (past.q - now.q), s.apart(q) + roundoff(0.25)
    middle = common + ratio * ((past.p - now.p) @ (now.q - (past.q if printed else q.q)))
    allowance, about = 4 * s.force_rounding * apart, {"size": past.force * apart, "where": q.name}
    what = "⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, …⟩"
    yield equal(force @ (past.q - q.q), middle, what, allowance=allowance, **about)
    # As in Lemma B.4: distances written by means of p_t would only be compared with themselves.
    if exponential(s.case) is None and not s.underflowed:
        last = common + ratio * ((q.q - now.q) @ (now.logs - past.logs))
        allowance += upper(ratio) * s.log_rounding(q)
        what = "… = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − …)"
        yield equal(middle, last, what, allowance=allowance, **about)


@_in_fractions("eqB.6.maps", "Eq. (B.6), first and last expression", kind="identity")
def _three_points(s, q):
    r"""⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) −
    D(q_{t+1}, q_t)), for every q.

    $\langle \nabla f(\nu_t), q_t - q \rangle = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle -
    \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t) + \frac{\lambda_t}{\alpha\theta_t}
    \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)$"""
    force, past, now = s.past.nu.slope, s.past, s.now
    left = force @ (past.q - q.q)
    right = force @ (past.q - now.q) + s.ratio * (s.fall(q.q) - s.fall(now.q))
    yield left, right, "⟨∇f(ν_t), q_t − q⟩ ≤ … + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(…))"
    yield right, left, "and ≥"


@_in_fractions("eqB.5", "Eq. (B.5)")
def _convexity(s, q):
    r"""For every q, f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + ⟨∇f(ν_t),
    q_t − q⟩.

    $f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le \frac{1-\lambda_t}{\lambda_t}
    \left(f(\mu_t) - f(\nu_t)\right) + \langle\nabla f(\nu_t), q_t - q\rangle$"""
    nu, lam = s.past.nu, s.past.lam
    first = nu.slope @ (nu.q - q.q)
    last = (1 - lam) / lam * s.past.mu.above(nu) + nu.slope @ (s.past.q - q.q)
    yield nu.above(q), first, "f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩"
    yield first, last, "… ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + ⟨∇f(ν_t), q_t − q⟩"


@_along_runs(
    "eqB.7",
    "Eq. (B.7)",
    *_SMOOTH,
    at="one",
    at_rest="its left side is 0 where q_t stays the same, and f goes down",
)
@_in_fractions("eqB.7.maps", "Eq. (B.7)")
def _equation_b7(s, q):
    r"""⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) is at most (f(ν_t) − f(μ_{t+1}))/λ_t.

    $\langle \nabla f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t}
    D_\omega(q_{t+1}, q_t) \le \frac{1}{\lambda_t} \left( f(\nu_t) - f(\mu_{t+1}) \right)$"""
    nu, now = s.past.nu, s.now
    left = nu.slope @ (s.past.q - now.q) - s.ratio * s.fall(now.q)
    what = "⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"
    yield left, s.exact(1 / s.past.lam) * nu.above(now.mu), what


@_in_fractions("eqB.8", "Eq. (B.8)")
def _together(s, q):
    r"""For every q, ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + (f(ν_t) − f(μ_{t+1}))/λ_t
    + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1})).

    $f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le \frac{1-\lambda_t}{\lambda_t}
    \left(f(\mu_t) - f(\nu_t)\right) + \frac{1}{\lambda_t} \left(f(\nu_t) - f(\mu_{t+1})\right) +
    \frac{\lambda_t}{\alpha\theta_t} \left(D_\omega(q, q_t) - D_\omega(q, q_{t+1})\right)$

    Its first inequality is that of eq. (B.5)."""
    nu, lam = s.past.nu, s.past.lam
    right = (1 - lam) / lam * s.past.mu.above(nu) + nu.above(s.now.mu) / lam
    yield nu.slope @ (nu.q - q.q), right + s.ratio * s.fall(q.q), "⟨∇f(ν_t), ν_t − q⟩ ≤ …"


@_along_runs("eqB.9", "Eq. (B.9)", *_SMOOTH)
@_in_fractions("eqB.9.maps", "Eq. (B.9)")
def _equation_b9(s, q):
    r"""For every q, θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) is at most
    (D(q, q_t) − D(q, q_{t+1}))/α.

    $\frac{\theta_t}{\lambda_t^2} \left( f(\mu_{t+1}) - f(q) \right) -
    \frac{\theta_t(1-\lambda_t)}{\lambda_t^2} \left( f(\mu_t) - f(q) \right) \le \frac{1}{\alpha}
    \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)$"""
    lam, scale = s.past.lam, s.past.theta / s.past.lam**2
    left = s.exact(scale) * s.now.mu.above(q) - s.exact(scale * (1 - lam)) * s.past.mu.above(q)
    what = "θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (…) ≤ (D(q, q_t) − D(q, q_{t+1}))/α"
    yield left, s.rho * s.fall(q.q), what


def _inverse_sequences() -> Iterator[tuple[str, list[Fraction]]]:
    """Sequences 1/λ_0, 1/λ_1, … that obey eq. (B.10); multiples of 1/64, so that sums are exact."""
    yield "λ_t = 2/(t+2)", [Fraction(t + 2, 2) for t in range(60)]
    yield "λ_t = 1", [Fraction(1)] * 60
    rng = np.random.default_rng(11)
    for name, least in (("as small as eq. (B.10) allows", 1.0), ("random", 0.0)):
        sequence = [Fraction(1)]
        for _ in range(60):
            # x² − x ≤ y² for x = 1/λ_t and y = 1/λ_{t−1}: x is at most (1 + √(1 + 4y²))/2.
            most = (1 + float(np.sqrt(float(1 + 4 * sequence[-1] ** 2)))) / 2
            x = Fraction(int(64 * max(1.0, most * rng.uniform(least, 1.0))), 64)
            assert x >= 1
            assert x * x - x <= sequence[-1] ** 2
            sequence.append(x)
        yield f"λ_t {name}", sequence


#: About numbers alone.
numbers = jst.sharing(
    Method(DUAL_FORM),
    kind="anytime",
    unit=False,
    inputs={"t": wholes(0, 59)},
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
)


@numbers.direct("eqB.11", "Eq. (B.11)", Erratum("transcription", ".fixed"))
@numbers.direct(
    "eqB.11.fixed",
    "Eq. (B.11), corrected",
    instances="four sequences that obey eq. (B.10), up to t = 60",
    instead={"^t 1/λ_t": "^t 1/λ_j", r"^t \frac{1}{\lambda_t}": r"^t \frac{1}{\lambda_j}"},
)
def _equation_b11(c, printed):
    r"""Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_t, which is Σ_{j=0}^t 1/λ_t.

    $\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_t} =
    \sum_{j=0}^t \frac{1}{\lambda_t}$"""
    for name, inverse in _inverse_sequences():
        for (t,) in c.instances((t,) for t in range(len(inverse))):
            terms = [inverse[t if printed else j] for j in range(t + 1)]
            middle = inverse[0] ** 2 + sum(terms[1:])
            where, index = f"{name}, t = {t}", "t" if printed else "j"
            what = f"1/λ_0² + Σ_{{j=1}}^t 1/λ_{index}"
            yield at_most(inverse[t] ** 2, middle, f"1/λ_t² ≤ {what}", where=where)
            whole = f"{what} = Σ_{{j=0}}^t 1/λ_{index}"
            yield equal(middle, sum(terms), whole, where=where)


def _growing_slowly(case: Case) -> str | None:
    """Eq. (B.10), for λ_t = 1, 2/(t+2) or 3/(t+3), which meets it by far."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value in ("accelerated", "slower", 1) else "λ_t is not known to obey eq. (B.10)"


@_along_runs(
    "thmB.12",
    "Theorem B.12",
    smooth,
    full_step,
    _growing_slowly,
    exact_dual,
    at="best",
    slower=_MIRROR_DESCENT,
)
@_in_fractions(
    "thmB.12.maps",
    "Theorem B.12",
    at="best",
    instances="separable f, with and without a Huber term; ω Euclidean and weighted; C boxes;"
    " λ_t = 2/(t+2), 3/(t+3) and 1",
)
def _theorem_b12(s, q):
    r"""f(μ_t) exceeds its minimum by at most λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)), and that is at
    most λ_{t−1}²/α D(q̄, q_0), which is 4 D(q̄, q_0)/(α(t+1)²) for λ_t = 2/(t+2).

    $f(\mu_t) - f(\bar{q}) \le \frac{\lambda_{t-1}^2}{\alpha} \left( D_\omega(\bar{q}, q_0) -
    D_\omega(\bar{q}, q_t) \right) \le \frac{\lambda_{t-1}^2}{\alpha} D_\omega(\bar{q}, q_0); \quad
    \text{if } \lambda_t = 2/(t+2): f(\mu_t) - f(\bar{q}) \le \frac{4D_\omega(\bar{q},
    q_0)}{\alpha(t+1)^2}$"""
    excess, scale = s.now.mu.above(q), s.rho * s.exact(s.past.lam**2)
    if s.exact is Fraction:
        yield Fraction(0), excess, "q̄ is a minimiser"
    closer = scale * s.fall(q.q, s.first)
    yield excess, closer, "f(μ_t) − f(q̄) ≤ λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t))"
    what = "λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)) ≤ λ_{t−1}²/α D(q̄, q_0)"
    yield closer, scale * s.whole, what
    if s.accelerated:
        bound = 4 * s.rho * s.whole / (s.now.t + 1) ** 2
        yield excess, bound, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)"


@_along_runs("eqC.8", "Eq. (C.8)", smooth, full_step, exact_dual, at="best", instances="")
def _equation_c8(s, q):
    r"""φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ is at most (1−λ_t)/λ_t φ(μ_t) − φ(μ_{t+1})/λ_t + ρλ_t (D(q̄, q_t) −
    D(q̄, q_{t+1})).

    $\phi(\nu_t) - \langle\nabla\phi(\nu_t), \bar q\rangle \le
    \frac{1-\lambda_t}{\lambda_t}\phi(\mu_t) - \frac{1}{\lambda_t}\phi(\mu_{t+1}) + \rho\lambda_t
    \left(D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1})\right)$"""
    lam, nu, mu, after = s.past.lam, s.past.nu, s.past.mu, s.now.mu
    left = nu.slope @ nu.q / 2 - nu.slope @ q.q
    right = number((1 - lam) / lam) * (mu.slope @ mu.q) / 2
    right += s.rho * number(lam) * s.fall(q.q) - number(1 / lam) * (after.slope @ after.q) / 2
    yield left, right, "φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ ≤ …"


@_along_runs(
    "eqC.9",
    "Eq. (C.9)",
    exponential,
    full_step,
    exact_dual,
    at="best",
    kind="identity",
    instances="",
)
def _equation_c9(s, q):
    r"""D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t).

    $D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1}) = \psi(Zw_t) - \psi(Zw_{t+1}) -
    \frac{1}{\rho\lambda_t} \langle\nabla\phi(\nu_t), \bar q\rangle$

    With the Kullback–Leibler divergence of the weights as delivered, as in Lemma B.4; so for the
    exponential loss only. Weights that underflowed say nothing."""
    if s.underflowed:
        return
    left = q.q @ (s.now.logs - s.past.logs)
    right = s.past.conjugate - s.now.conjugate - s.past.nu.slope @ q.q / s.ratio
    # ⟨ln q_{t+1} − ln q_t, q̄⟩: logarithms of weights are off by the rounding of a softmax.
    rounding = s.log_rounding(q) + s.log_rounding(s.at["the centre"])
    rounding += roundoff(16 * (s.case.n + 16))
    rounding += 4 * s.force_rounding / float(s.ratio.mid())
    what = "D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)"
    yield equal(left, right, what, allowance=rounding, size=s.change)
