"""Appendices A, Margins in the Primal and in the Dual, and B, A Unified Analysis of Normal and
Accelerated Mirror Descent / Dual Averaging.

Appendix A is decided in rational arithmetic. Of Appendix B two kinds of instances are checked.
Along runs of the dual form, that of Appendix C: f = φ, φ(q) = ‖Zᵀq‖²/2, ω = ψ*, α = 1/ρ, the ℓ₁
norm, and C the domain of ψ* (Δ_n for the exponential loss, [0, 1]ⁿ ∩ {Σ q_i ≥ 1} for the logistic
loss). And exactly, other objectives, mirror maps, norms and sets (`World`), which bring their own
method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.papers.claims import *
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


@data.direct(
    "lemA.1.vector",
    "Lemma A.1, second sentence",
    exact_and_separable,
    Erratum(
        severity="misprint",
        fixed_by="lemA.1.vector.fixed",
        charitable="lemA.1.vector.fixed",
        why="min (Zw)_i stands for −max (Zw)_i; with the ū of Section 2, which the paper goes on"
        " to use, it is true.",
        survives="Everything: the value in the lemma is right, the proof is about −max_i "
        "(Zw)_i, and later sections use the ū of Section 2.",
    ),
    problems=(*SEPARABLE, ""),
)
def _vector_as_printed(c):
    r"""−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (Zw)_i, on
    separable data.

    $\text{there exists a unique primal optimal solution } \bar u \text{ (of } \max_{\|w\|_2 \le 1}
    \min_i (Zw)_i \text{), such that for all dual optimal solution } \bar q,\ -Z^\top \bar q =
    \bar\gamma \bar u$

    The primal problem of the lemma is max min_i (Zw)_i with Z = −A. Its solution is minus the
    classifier of Section 2, and for it Zᵀq̄ = γ̄ū, without the minus. Smallest witness: n = d = 1,
    x_1 = 1, y_1 = 1: max_{|w| ≤ 1} −w is attained at ū = −1 only; −Zᵀq̄ = 1 on the left, γ̄ū = −1
    on the right. The proof is about max −max_i (Zw)_i, for which the lemma holds; its last display
    turns −max_i (Zw)_i into min_i (Zw)_i, which keeps the value but negates the solution. With the
    ū of Section 2 the formula is true, and that is the fixed form."""
    return alignment(c, -1, -1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (Zw)_i")


@data.direct(
    "lemA.1.vector.fixed",
    "Lemma A.1, second sentence, with the primal problem of its proof",
    exact_and_separable,
    problems=(*SEPARABLE, ""),
)
def vector(c):
    r"""−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (−Zw)_i, on
    separable data.

    $\text{there exists a unique primal optimal solution } \bar u \text{ of } \max_{\|w\|_2 \le 1}
    \min_i (-Zw)_i, \text{ such that for all dual optimal solution } \bar q,\ -Z^\top \bar q =
    \bar\gamma \bar u$"""
    return alignment(c, -1, 1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (−Zw)_i")


# Appendix B along a run of the dual form


def _column(values: Any) -> Any:
    """Numbers as a column of balls."""
    balls = [number(v) for v in (values.tolist() if hasattr(values, "tolist") else values)]
    return arb_mat(len(balls), 1, balls)


def _inner(a: Any, b: Any) -> Number:
    """⟨a, b⟩ of two columns."""
    return (a.transpose() * b)[0, 0]


def _taxicab(a: Any) -> Number:
    return total(abs(v) for v in a.entries())


class _Weights:
    """A dual variable q, the gradient ∇φ(q) = Gq, and Σ_j θ_{j−1}/λ_{j−1}² … of Lemma B.3."""

    def __init__(self, values: Any, gram: Any, name: str = "") -> None:
        self.q, self.name = _column(values), name
        self.force = gram * self.q
        self.sum = arb(0)

    def above(self, other: _Weights) -> Number:
        """φ(q) − φ(r) = ⟨∇φ(q) + ∇φ(r), q − r⟩/2: zero without rounding where q = r."""
        return _inner(self.force + other.force, self.q - other.q) / 2


class _Point:
    """The sequences at one t, with the signs of the paper (p_t = Zw_t = −A w_t)."""

    def __init__(self, t: int, given: list[Floats], gram: Any, loss: str) -> None:
        self.t = t
        self.scores, self.weights, mu, self.nu_doubles = given
        self.p, self.q = _column(-self.scores), _column(self.weights)
        self.mu, self.nu = _Weights(mu, gram), _Weights(self.nu_doubles, gram)
        self.psi = potential(self.p.entries(), loss)

    @cached_property
    def logs(self) -> Any:
        """ln q_t, row by row."""
        return _column(v.log() for v in self.q.entries())


#: What the dual form must say of an iterate.
_SEQUENCES = ("p", "dual", "mu", "nu")


class Mirror:
    """The sequences of eqs. (B.1) and (B.2) as delivered, at t and t − 1, row by row in balls.

    Bregman distances are those of the text after eq. (B.2), D(q, q_t) = ω(q) − ω(q_t) −
    ⟨p_t, q − q_t⟩. As q_t = ∇ψ(p_t) and so ω(q_t) = ⟨p_t, q_t⟩ − ψ(p_t), ω(q) cancels in

        D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩,

    and D(q_{t+1}, q_t) is the same at q = q_{t+1}, as D(q_{t+1}, q_{t+1}) = 0.

    p_t, q_t, μ_t and ν_t are taken for exact where they follow from the iterates, up to the
    rounding of the last step, which `claims` say:

        p_t = −A w_t, the scores being carried along by addition    q_t = ∇ψ(p_t)
        μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t, μ_0 = q_0        ν_t = (1 − λ_t) μ_t + λ_t q_t
    """

    def __init__(self, case: Case) -> None:
        self.case, self.loss = case, loss_of(case)
        self.rho = number(smoothness(case))
        self.now: Any = None
        self.past: Any = None
        self.first: Any = None
        self.claims: list[Relation] = []
        self._w: Floats | None = None
        self._drift = 0.0

    @cached_property
    def everywhere(self) -> list[_Weights]:
        """Points q ∈ C at which claims about all of them are put to the test."""
        n, gram = self.case.n, self.case.space.gram()
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
        return [_Weights(values, gram, f"q = {name}") for name, values in found.items()]

    def point(self, name: str) -> _Weights:
        """One of them."""
        return next(point for point in self.everywhere if point.name == f"q = {name}")

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        # Claims about t = 0 are heard with the first step, which starts there.
        first = self.claims if it.t == 1 else []
        self.past, self.now, self.claims = self.now, None, []
        if self._w is not None:
            self._drift += score_drift(it, self._w)
        self._w = it.w
        given = []
        for name in _SEQUENCES:
            value = it.dual if name == "dual" else it.extra.get(name)
            found = "is not said" if value is None else claimed_numbers(value, (it.n,))
            if isinstance(found, str):
                self.claims.append(fact(False, f"{name} {found}", said=True))
            else:
                given.append(found)
        if not self.claims:
            self.now = _Point(it.t, given, self.case.space.gram(), self.loss)
            self.first = self.first or self.now
            self.claims = [*self._follow(it, self.now)]
            self._sum()
        self.claims = [*first, *self.claims]

    def _follow(self, it: View, now: _Point) -> Iterator[Relation]:
        """That the sequences at t follow from w_t and from those at t − 1."""
        gap = float(np.abs(now.scores - it.score_doubles).max())
        size = size_of(float(np.abs(it.score_doubles).max()), it.space.least_radius**2)
        allowed = 2 * self._drift + it.score_error
        yield follows(number(gap), allowed, size, "p_t is that of the iterates: −A w_t")
        q = _column(potential_gradient(now.p.entries(), self.loss))
        yield _same(now.q, q, 8 * softmax_rounding(now.scores), "q_t = ∇ψ(p_t)")
        if self.past is None:
            yield _same(now.mu.q, now.q, 0.0, "μ_0 = q_0")
        else:
            mu = self._mixed(self.past.t, self.past.mu.q, now.q)
            yield _same(now.mu.q, mu, roundoff(2.0), "μ_t is the average of μ_{t−1} and q_t")
        nu = self._mixed(now.t, now.mu.q, now.q)
        yield _same(now.nu.q, nu, roundoff(2.0), "ν_t is the average of μ_t and q_t")

    def _mixed(self, t: int, mu: Any, q: Any) -> Any:
        """(1 − λ_t) μ + λ_t q."""
        lam = mixing(self.case, t)
        return mu * number(1 - lam) + q * number(lam)

    def _sum(self) -> None:
        """Add the term j = t − 1 of Lemma B.3; that of j = 0 is the last one of the claim."""
        if self.past is None:
            return
        case, j = self.case, self.past.t
        lam = mixing(case, j)
        before = step(case, j - 1) / mixing(case, j - 1) ** 2 if j else Fraction(0)
        factor = number(before - step(case, j) * (1 - lam) / lam**2)
        for q in self.everywhere:
            q.sum += factor * self.past.mu.above(q)

    def drop(self, q: Any, past: _Point, now: _Point) -> Number:
        """D(q, q_{t−1}) − D(q, q_t)."""
        return past.psi - now.psi - _inner(past.p - now.p, q)

    @property
    def ratio(self) -> Number:
        """λ_t/(αθ_t) of the last step."""
        t = self.past.t
        return self.rho * number(mixing(self.case, t) / step(self.case, t))

    @property
    def underflowed(self) -> bool:
        """Whether some weight has all but vanished, so that its logarithm says nothing."""
        weights = np.concatenate([self.past.weights, self.now.weights])
        return bool(((weights >= 0) & (weights < 1e-290)).any())  # one below 0 is a false claim

    @property
    def change(self) -> float:
        """max_i |p_t(i) − p_{t+1}(i)|."""
        return float(np.abs(self.past.scores - self.now.scores).max())

    @property
    def force_rounding(self) -> float:
        """How far λ/(αθ) (p_t − p_{t+1}) may be from ∇φ(ν_t) in a row: A Aᵀν_t, and one sum."""
        sums = roundoff(float(np.abs(self.now.scores).max()) * upper(self.ratio))
        return gram_rounding(self.case, self.past.nu_doubles) + sums

    def log_rounding(self, q: _Weights) -> float:
        """How far ⟨ln q_t − ln q_{t+1}, q_{t+1} − q⟩ may be from ⟨p_t − p_{t+1}, q_{t+1} − q⟩.

        The sum of a softmax is one only up to (n + 8)u, which counts as often as ln q and p differ:
        ψ(p_t) − ψ(p_{t+1}).
        """
        worst = max(softmax_rounding(self.past.scores), softmax_rounding(self.now.scores))
        sums = roundoff((self.case.n + 8) * upper(self.past.psi - self.now.psi))
        return 8 * worst * self.apart(q) + 2 * sums

    def apart(self, q: _Weights) -> float:
        """‖q_{t+1} − q‖₁."""
        return upper(_taxicab(self.now.q - q.q))


def _same(said: Any, own: Any, relative: float, what: str) -> Relation:
    """Weights that are what follows, in the ℓ₁ norm, up to an error relative to their sum."""
    size = upper(_taxicab(own))
    return follows(_taxicab(said - own), relative * size, size, what)


def _on_a_step(claim: Any) -> Any:
    """A claim ``(path, past, now, c)`` about the last step; its sequences must be the iterates'."""

    def body(it, c):
        path: Mirror = c.history(Mirror)
        for name in _SEQUENCES:
            it.claim(name)
        yield from path.claims
        if path.past is not None and path.now is not None:
            yield from claim(path, path.past, path.now, c)

    body.__doc__, body.__name__ = claim.__doc__, claim.__name__
    return body


#: From t = 1 on, about the last step of a run.
_mirrored = jst.sharing(since=1, history=(Mirror,))
_RUN = "f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps form"


@_mirrored.bound(
    "lemB.3",
    "Lemma B.3",
    DUAL,
    smooth,
    proper_step,
    slower="dual-acceleration-dual/mirror-descent-instead",
    instances=_RUN + "; q: vertices, centre, q̄ and a random point",
)
@_on_a_step
def lemma_b3(path, past, now, c):
    r"""For every q, the weighted sum of f(μ_j) − f(q) up to t is at most (D(q, q_0) − D(q, q_t))/α
    + θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)).

    $\frac{\theta_{t-1}}{\lambda_{t-1}^2} (f(\mu_t) - f(q)) + \sum_{j=1}^{t-1} \left(
    \frac{\theta_{j-1}}{\lambda_{j-1}^2} - \frac{\theta_j(1-\lambda_j)}{\lambda_j^2} \right)
    (f(\mu_j) - f(q)) \le \frac{1}{\alpha} (D_\omega(q, q_0) - D_\omega(q, q_t)) +
    \frac{\theta_0(1-\lambda_0)}{\lambda_0^2} (f(\mu_0) - f(q))$"""
    scale = number(step(c, past.t) / mixing(c, past.t) ** 2)
    for q in path.everywhere:
        yield at_most(
            scale * now.mu.above(q) + q.sum,
            path.rho * path.drop(q.q, path.first, now),
            "Σ … (f(μ_j) − f(q)) − θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)) ≤ (D(q, q_0) − D(q, q_t))/α",
            where=q.name,
        )


@_mirrored.identity(
    "lemB.4",
    "Lemma B.4",
    DUAL,
    exponential,
    instances="ω the entropy on Δ_n; q: vertices, centre, q̄ and a random point",
    at_rest="it is true of all p_t, and all sides are 0 where q_t stays the same",
)
@_on_a_step
def _lemma_b4(path, past, now, c):
    r"""For every q in the simplex, ⟨p_t − p_{t+1}, q_{t+1} − q⟩ is D(q, q_t) − D(q, q_{t+1}) −
    D(q_{t+1}, q_t).

    $\langle p_t - p_{t+1}, q_{t+1} - q \rangle = D_\omega(q, q_t) - D_\omega(q, q_{t+1}) -
    D_\omega(q_{t+1}, q_t)$

    With D(q, r) = Σ q_i ln(q_i/r_i), the Kullback–Leibler divergence that D_ω is for the
    exponential loss, of the weights as delivered. (With distances written by means of p_t the
    identity is empty: everything cancels.) Weights that underflowed say nothing."""
    if path.underflowed:
        return
    jump = _inner(now.q, now.logs - past.logs)
    for q in path.everywhere:
        yield equal(
            _inner(past.p - now.p, now.q - q.q),
            _inner(q.q, now.logs - past.logs) - jump,
            "⟨p_t − p_{t+1}, q_{t+1} − q⟩ = D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)",
            allowance=path.log_rounding(q),
            size=path.change * path.apart(q),
            where=q.name,
        )


_B6 = (
    r"\langle \nabla f(\nu_t), q_t - q \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" + \langle \nabla f(\nu_t), q_{t+1} - q \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" + \frac{\lambda_t}{\alpha\theta_t} \langle p_t - p_{t+1}, q_{t+1} - %s \rangle"
    r" = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle"
    r" - \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t)"
    r" + \frac{\lambda_t}{\alpha\theta_t} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)"
)


def _chain(path: Mirror, printed: bool) -> Iterator[Relation]:
    """The second and third equation of eq. (B.6); the first one is plain linearity."""
    past, now, force, ratio = path.past, path.now, path.past.nu.force, path.ratio
    common, rounding = _inner(force, past.q - now.q), path.force_rounding
    # As in Lemma B.4: distances written by means of p_t would only be compared with themselves.
    divergence = exponential(path.case) is None and not path.underflowed
    strongest = max(float(v.abs_lower()) for v in force.entries())
    for q in path.everywhere:
        middle = common + ratio * _inner(past.p - now.p, now.q - (past.q if printed else q.q))
        apart = path.apart(q) + roundoff(0.25)
        allowance, size = 4 * rounding * apart, strongest * apart
        what = "⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, …⟩"
        first = _inner(force, past.q - q.q)
        yield equal(first, middle, what, allowance=allowance, size=size, where=q.name)
        if divergence:
            last = common + ratio * _inner(q.q - now.q, now.logs - past.logs)
            allowance += upper(ratio) * path.log_rounding(q)
            what = "… = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − …)"
            yield equal(middle, last, what, allowance=allowance, size=size, where=q.name)


@_mirrored.identity(
    "eqB.6",
    "Eq. (B.6)",
    DUAL,
    proper_step,
    Erratum(
        severity="transcription",
        fixed_by="eqB.6.fixed",
        charitable="eqB.6.fixed",
        why="The equation stands in one of the two texts only; q_t for q may be a slip of that"
        " text.",
        survives="Everything: the last expression, from Lemma B.4, is right for every q. "
        "(B.8) takes nothing else from (B.6), and Lemma B.3 and Theorem B.12 follow from (B.8).",
    ),
    problems=("planted:n=2,d=1,gamma=0.5",),
    instances=_RUN,
    claim=_B6 % "q_t",
    note="The third expression has ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩ where q_{t+1} − q is meant. As"
    " λ_t/(αθ_t) (p_t − p_{t+1}) = ∇f(ν_t) by eq. (B.2), the expression as printed is zero"
    " whatever q is. Smallest witness: n = 2, d = 1, rows 1/2 and 1 (either sign), any loss, t"
    " = 0, λ_0 = θ_0 = 1: for the exponential loss ν_0 = q_0 = (1/2, 1/2), Zᵀν_0 = ∓3/4,"
    " ∇f(ν_0) = (3/8, 3/4), and at q = (1, 0) the first expression is 3/16, the third one 0.",
)
@_on_a_step
def _equation_b6(path, past, now, c):
    r"""⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩,
    and that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)),
    for every q."""
    return _chain(path, printed=True)


@_mirrored.identity(
    "eqB.6.fixed", "Eq. (B.6), corrected", DUAL, proper_step, instances=_RUN, claim=_B6 % "q"
)
@_on_a_step
def _equation_b6_fixed(path, past, now, c):
    r"""⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q⟩,
    and that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)),
    for every q."""
    return _chain(path, printed=False)


@_mirrored.bound(
    "eqB.7",
    "Eq. (B.7)",
    DUAL,
    smooth,
    proper_step,
    instances=_RUN,
    at_rest="its left side is 0 where q_t stays the same, and f goes down",
)
@_on_a_step
def _equation_b7(path, past, now, c):
    r"""⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) is at most (f(ν_t) − f(μ_{t+1}))/λ_t.

    $\langle \nabla f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t}
    D_\omega(q_{t+1}, q_t) \le \frac{1}{\lambda_t} \left( f(\nu_t) - f(\mu_{t+1}) \right)$"""
    left = _inner(past.nu.force, past.q - now.q) - path.ratio * path.drop(now.q, past, now)
    right = number(1 / mixing(c, past.t)) * past.nu.above(now.mu)
    what = "⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"
    yield at_most(left, right, what)


@_mirrored.bound("eqB.9", "Eq. (B.9)", DUAL, smooth, proper_step, instances=_RUN)
@_on_a_step
def _equation_b9(path, past, now, c):
    r"""For every q, θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) is at most
    (D(q, q_t) − D(q, q_{t+1}))/α.

    $\frac{\theta_t}{\lambda_t^2} \left( f(\mu_{t+1}) - f(q) \right) -
    \frac{\theta_t(1-\lambda_t)}{\lambda_t^2} \left( f(\mu_t) - f(q) \right) \le \frac{1}{\alpha}
    \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)$"""
    lam, theta = mixing(c, past.t), step(c, past.t)
    for q in path.everywhere:
        left = number(theta / lam**2) * now.mu.above(q)
        left -= number(theta * (1 - lam) / lam**2) * past.mu.above(q)
        what = (
            "θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (…) ≤ (D(q, q_t) − D(q, q_{t+1}))/α"
        )
        yield at_most(left, path.rho * path.drop(q.q, past, now), what, where=q.name)


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


def _sums_of_inverses(case: Case, printed: bool) -> Iterator[Relation]:
    for name, inverse in _inverse_sequences():
        for (t,) in case.instances((t,) for t in range(len(inverse))):
            terms = [inverse[t if printed else j] for j in range(t + 1)]
            middle = inverse[0] ** 2 + sum(terms[1:])
            where, index = f"{name}, t = {t}", "t" if printed else "j"
            yield at_most(
                inverse[t] ** 2, middle, f"1/λ_t² ≤ 1/λ_0² + Σ_{{j=1}}^t 1/λ_{index}", where=where
            )
            yield equal(
                middle,
                sum(terms),
                f"1/λ_0² + Σ_{{j=1}}^t 1/λ_{index} = Σ_{{j=0}}^t 1/λ_{index}",
                where=where,
            )


#: About numbers alone.
numbers = jst.sharing(
    kind="anytime",
    unit=False,
    inputs={"t": wholes(0, 59)},
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
)


@numbers.direct(
    "eqB.11",
    "Eq. (B.11)",
    Method(DUAL_FORM),
    Erratum(
        severity="transcription",
        fixed_by="eqB.11.fixed",
        charitable="eqB.11.fixed",
        why="The equation stands in one of the two texts only; the index t for j may be a slip of"
        " that text.",
        survives="Everything: nothing later refers to it, and what is needed of Σ 1/λ_j is "
        "computed for λ_t = 2/(t+2).",
    ),
)
def _equation_b11(c):
    r"""Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_t, which is Σ_{j=0}^t 1/λ_t.

    $\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_t} =
    \sum_{j=0}^t \frac{1}{\lambda_t}$

    The summands have the index t where j is meant. As printed the equation is 1 + t/λ_t = (t +
    1)/λ_t, which is false for t ≥ 1 unless λ_t = 1 (the inequality is true). Smallest witness: λ_t
    = 2/(t+2), so λ_0 = 1 and λ_1 = 2/3: at t = 1 the middle is 1 + 3/2 = 5/2 and the right side 3/2
    + 3/2 = 3."""
    return _sums_of_inverses(c, printed=True)


@numbers.direct(
    "eqB.11.fixed",
    "Eq. (B.11), corrected",
    Method(DUAL_FORM),
    instances="four sequences that obey eq. (B.10), up to t = 60",
)
def _equation_b11_fixed(c):
    r"""Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_j, which is Σ_{j=0}^t 1/λ_j.

    $\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_j} =
    \sum_{j=0}^t \frac{1}{\lambda_j}$"""
    return _sums_of_inverses(c, printed=False)


def _growing_slowly(case: Case) -> str | None:
    """Eq. (B.10), for λ_t = 1, 2/(t+2) or 3/(t+3), which meets it by far."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value in ("accelerated", "slower", 1) else "λ_t is not known to obey eq. (B.10)"


@_mirrored.bound(
    "thmB.12",
    "Theorem B.12",
    DUAL,
    smooth,
    full_step,
    _growing_slowly,
    exact_dual,
    slower="dual-acceleration-dual/mirror-descent-instead",
    instances=_RUN,
)
@_on_a_step
def theorem_b12(path, past, now, c):
    r"""f(μ_t) exceeds its minimum by at most λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)), and that is at
    most λ_{t−1}²/α D(q̄, q_0), which is 4 D(q̄, q_0)/(α(t+1)²) for λ_t = 2/(t+2).

    $f(\mu_t) - f(\bar{q}) \le \frac{\lambda_{t-1}^2}{\alpha} \left( D_\omega(\bar{q}, q_0) -
    D_\omega(\bar{q}, q_t) \right) \le \frac{\lambda_{t-1}^2}{\alpha} D_\omega(\bar{q}, q_0); \quad
    \text{if } \lambda_t = 2/(t+2): f(\mu_t) - f(\bar{q}) \le \frac{4D_\omega(\bar{q},
    q_0)}{\alpha(t+1)^2}$"""
    best = path.point("q̄")
    excess, scale = now.mu.above(best), path.rho * number(mixing(c, past.t) ** 2)
    closer, whole = scale * path.drop(best.q, path.first, now), distance_from_start(c)
    yield at_most(excess, closer, "f(μ_t) − f(q̄) ≤ λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t))")
    what = "λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)) ≤ λ_{t−1}²/α D(q̄, q_0)"
    yield at_most(closer, scale * whole, what)
    if accelerated(c) is None:
        bound = 4 * path.rho * whole / (now.t + 1) ** 2
        yield at_most(excess, bound, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)")


@_mirrored.bound("eqC.8", "Eq. (C.8)", DUAL, smooth, full_step, exact_dual)
@_on_a_step
def _equation_c8(path, past, now, c):
    r"""φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ is at most (1−λ_t)/λ_t φ(μ_t) − φ(μ_{t+1})/λ_t + ρλ_t (D(q̄, q_t) −
    D(q̄, q_{t+1})).

    $\phi(\nu_t) - \langle\nabla\phi(\nu_t), \bar q\rangle \le
    \frac{1-\lambda_t}{\lambda_t}\phi(\mu_t) - \frac{1}{\lambda_t}\phi(\mu_{t+1}) + \rho\lambda_t
    \left(D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1})\right)$"""
    lam, q = mixing(c, past.t), path.point("q̄")
    left = _inner(past.nu.force, past.nu.q) / 2 - _inner(past.nu.force, q.q)
    right = number((1 - lam) / lam) * _inner(past.mu.force, past.mu.q) / 2
    right -= number(1 / lam) * _inner(now.mu.force, now.mu.q) / 2
    right += path.rho * number(lam) * path.drop(q.q, past, now)
    yield at_most(left, right, "φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ ≤ …")


@_mirrored.identity("eqC.9", "Eq. (C.9)", DUAL, exponential, full_step, exact_dual)
@_on_a_step
def _equation_c9(path, past, now, c):
    r"""D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t).

    $D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1}) = \psi(Zw_t) - \psi(Zw_{t+1}) -
    \frac{1}{\rho\lambda_t} \langle\nabla\phi(\nu_t), \bar q\rangle$

    With the Kullback–Leibler divergence of the weights as delivered, as in Lemma B.4; so for the
    exponential loss only. Weights that underflowed say nothing."""
    if path.underflowed:
        return
    q, ratio = path.point("q̄"), path.ratio
    left = _inner(q.q, now.logs - past.logs)
    right = past.psi - now.psi - _inner(past.nu.force, q.q) / ratio
    # ⟨ln q_{t+1} − ln q_t, q̄⟩: logarithms of weights are off by the rounding of a softmax.
    rounding = path.log_rounding(q) + path.log_rounding(path.point("the centre"))
    rounding += 4 * path.force_rounding / float(ratio.mid()) + roundoff(16 * (c.n + 16))
    what = "D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)"
    yield equal(left, right, what, allowance=rounding, size=path.change)


# Appendix B for other objectives, mirror maps, norms and sets, in rational arithmetic

_Q = Fraction
_Row = list[Fraction]


def dot(a: _Row, b: _Row) -> Fraction:
    """⟨a, b⟩."""
    return sum((x * y for x, y in zip(a, b, strict=True)), _Q(0))


def _minus(a: _Row, b: _Row) -> _Row:
    """a − b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def mixed(weight: Fraction, a: _Row, b: _Row) -> _Row:
    """(1 − weight) a + weight b."""
    return [(1 - weight) * x + weight * y for x, y in zip(a, b, strict=True)]


@dataclass(frozen=True)
class World:
    """An objective f, a mirror map ω and a box C; α = 1.

    Attributes
    ----------
    name : str
    metric : list of Fraction
        The diagonal of M.
    box : list of pairs
        The ends of C in each coordinate.
    hessian : matrix
        H of f(q) = ½⟨q, Hq⟩ − ⟨b, q⟩ + κ·huber(q_1).
    linear : list of Fraction
        b.
    huber : Fraction
        κ: of x²/2 for |x| ≤ ¼, and |x|/4 − 1/32 beyond.
    """

    name: str
    metric: _Row
    box: list[tuple[Fraction, Fraction]]
    hessian: list[_Row]
    linear: _Row
    huber: Fraction

    def f(self, q: _Row) -> Fraction:
        """f(q)."""
        x = abs(q[0])
        bend = x * x / 2 if x <= _Q(1, 4) else x / 4 - _Q(1, 32)
        return dot(q, self.pushed(q)) / 2 - dot(self.linear, q) + self.huber * bend

    def pushed(self, q: _Row) -> _Row:
        """Hq."""
        return [dot(row, q) for row in self.hessian]

    def slope(self, q: _Row) -> _Row:
        """∇f(q)."""
        found = _minus(self.pushed(q), self.linear)
        found[0] += self.huber * max(min(q[0], _Q(1, 4)), -_Q(1, 4))
        return found

    def omega(self, q: _Row) -> Fraction:
        """ω(q)."""
        return sum((m * x * x for m, x in zip(self.metric, q, strict=True)), _Q(0)) / 2

    def back(self, p: _Row) -> _Row:
        """∇ω*(p)."""
        ends = zip(p, self.metric, self.box, strict=True)
        return [max(low, min(high, x / m)) for x, m, (low, high) in ends]

    def distance(self, q: _Row, to: _Row, p: _Row) -> Fraction:
        """D_ω(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩, for q_t = `to` and its p_t."""
        return self.omega(q) - self.omega(to) - dot(p, _minus(q, to))

    def points(self) -> list[_Row]:
        """Points q of C: corners and the middle."""
        corners = [list(corner) for corner in product(*self.box)]
        return [*corners, [(low + high) / 2 for low, high in self.box]]

    def minimiser(self) -> _Row:
        """q̄ of a separable f: each coordinate by itself, clipped."""
        found = []
        for i, (low, high) in enumerate(self.box):
            h, b = self.hessian[i][i], self.linear[i]
            k = self.huber if i == 0 else _Q(0)
            inside = b / (h + k)
            if k and abs(inside) > _Q(1, 4):
                inside = (b - k / 4) / h if b > 0 else (b + k / 4) / h
            found.append(max(low, min(high, inside)))
        return found

    @property
    def separable(self) -> bool:
        """Whether H is diagonal."""
        pairs = product(range(len(self.linear)), repeat=2)
        return not any(self.hessian[i][j] for i, j in pairs if i != j)


_HALF, _THIRD = _Q(1, 2), _Q(1, 3)
WORLDS = (
    World(
        "Euclidean, unit box, f with a full matrix",
        [_Q(1), _Q(1)],
        [(_Q(0), _Q(1)), (_Q(0), _Q(1))],
        [[_HALF, _THIRD], [_THIRD, _HALF]],
        [_Q(2, 3), -_Q(1, 5)],
        huber=_Q(0),
    ),
    World(
        "weighted norm, wide box, separable f",
        [_Q(2), _Q(1, 2)],
        [(-_Q(3), _Q(3)), (-_Q(1), _Q(5))],
        [[_Q(2), _Q(0)], [_Q(0), _Q(1, 4)]],
        [_Q(3), _Q(1)],
        huber=_Q(0),
    ),
    World(
        "Euclidean, f with a Huber term",
        [_Q(1), _Q(1)],
        [(-_Q(1), _Q(1)), (-_Q(1), _Q(1))],
        [[_HALF, _Q(0)], [_Q(0), _Q(1)]],
        [_Q(1, 2), _Q(2)],
        huber=_HALF,
    ),
)
#: λ_t, as rationals, and θ_t; all but the last two meet eq. (B.10).
_SCHEDULES = {
    "λ_t = 2/(t+2)": (lambda t: _Q(2, t + 2), _Q(1)),
    "λ_t = 3/(t+3)": (lambda t: _Q(3, t + 3), _Q(1)),
    "λ_t = 1": (lambda t: _Q(1), _Q(1)),
    "λ_t = 1, θ_t = ⅓": (lambda t: _Q(1), _THIRD),
    "λ_t = ½, θ_t = ½": (lambda t: _HALF, _HALF),
}
_STEPS = 12


@dataclass(frozen=True)
class _Move:
    """One step, from t to t + 1."""

    world: World
    t: int
    lam: Fraction
    theta: Fraction
    q: _Row
    p: _Row
    mu: _Row
    nu: _Row
    q_next: _Row
    p_next: _Row
    mu_next: _Row

    def fall(self, point: _Row) -> Fraction:
        """D(q, q_t) − D(q, q_{t+1})."""
        return self.world.distance(point, self.q, self.p) - self.world.distance(
            point, self.q_next, self.p_next
        )

    @property
    def jump(self) -> Fraction:
        """D(q_{t+1}, q_t)."""
        return self.world.distance(self.q_next, self.q, self.p)


@cache
def runs() -> tuple[tuple[str, list[_Move]], ...]:
    """Every world with every schedule, STEPS steps of eq. (B.2)."""
    return tuple(_runs())


def _runs() -> Iterator[tuple[str, list[_Move]]]:
    for world, (name, (schedule, theta)) in product(WORLDS, _SCHEDULES.items()):
        p = [_Q(1, 3), -_Q(1, 2)]
        q = world.back(p)
        mu, moves = q, []
        for t in range(_STEPS):
            lam = schedule(t)
            nu = mixed(lam, mu, q)
            slope = world.slope(nu)
            p_next = [a - theta / lam * b for a, b in zip(p, slope, strict=True)]
            q_next = world.back(p_next)
            mu_next = mixed(lam, mu, q_next)
            moves.append(_Move(world, t, lam, theta, q, p, mu, nu, q_next, p_next, mu_next))
            p, q, mu = p_next, q_next, mu_next
        yield f"{world.name}, {name}", moves


#: About the method of eq. (B.2) itself.
maps = jst.sharing(
    kind="anytime",
    unit=False,
    instances="f quadratic, with and without a Huber term; ω Euclidean and weighted; C boxes;"
    " λ_t = 2/(t+2), 3/(t+3), 1 and ½; q: corners and the middle",
    powerless="a property of the method of eq. (B.2), which it brings itself: no solver has a part"
    " in it",
)


def _order(left: Fraction, right: Fraction, what: str, where: str) -> Relation:
    """left ≤ right, of rationals: also if both are equal."""
    equals = left == right
    return fact(True, what, where=where) if equals else at_most(left, right, what, where=where)


def everywhere(text: Any = None) -> Any:
    """A claim ``(move, q)`` about every step and every q; `text` is one with the same docstring."""

    def decorate(claim: Any) -> Any:
        def body(c):
            for name, moves in runs():
                for move in moves:
                    for q in move.world.points():
                        where = f"{name}, t = {move.t}, q = {[str(v) for v in q]}"
                        for left, right, what in claim(move, q):
                            yield _order(left, right, what, where)

        body.__doc__, body.__name__ = (text or claim).__doc__, claim.__name__
        return body

    return decorate


@maps.direct("eqB.5", "Eq. (B.5)")
@everywhere()
def _convexity(move, q):
    r"""For every q, f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + ⟨∇f(ν_t),
    q_t − q⟩.

    $f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le \frac{1-\lambda_t}{\lambda_t}
    \left(f(\mu_t) - f(\nu_t)\right) + \langle\nabla f(\nu_t), q_t - q\rangle$"""
    f, slope = move.world.f, move.world.slope(move.nu)
    last = (1 - move.lam) / move.lam * (f(move.mu) - f(move.nu)) + dot(slope, _minus(move.q, q))
    first = dot(slope, _minus(move.nu, q))
    yield f(move.nu) - f(q), first, "f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩"
    yield first, last, "… ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + ⟨∇f(ν_t), q_t − q⟩"


@maps.direct("eqB.6.maps", "Eq. (B.6), first and last expression", kind="identity")
@everywhere()
def _three_points(move, q):
    r"""⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) −
    D(q_{t+1}, q_t)), for every q.

    $\langle \nabla f(\nu_t), q_t - q \rangle = \langle \nabla f(\nu_t), q_t - q_{t+1} \rangle -
    \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t) + \frac{\lambda_t}{\alpha\theta_t}
    \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)$"""
    slope = move.world.slope(move.nu)
    left = dot(slope, _minus(move.q, q))
    right = dot(slope, _minus(move.q, move.q_next))
    right += move.lam / move.theta * (move.fall(q) - move.jump)
    yield left, right, "⟨∇f(ν_t), q_t − q⟩ ≤ … + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(…))"
    yield right, left, "and ≥"


@maps.direct("eqB.7.maps", "Eq. (B.7)")
@everywhere(_equation_b7)
def _smoothness_of_f(move, q):
    f, slope = move.world.f, move.world.slope(move.nu)
    left = dot(slope, _minus(move.q, move.q_next)) - move.lam / move.theta * move.jump
    yield left, (f(move.nu) - f(move.mu_next)) / move.lam, "… ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"


@maps.direct("eqB.8", "Eq. (B.8)")
@everywhere()
def _together(move, q):
    r"""For every q, ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + (f(ν_t) − f(μ_{t+1}))/λ_t
    + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1})).

    $f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le \frac{1-\lambda_t}{\lambda_t}
    \left(f(\mu_t) - f(\nu_t)\right) + \frac{1}{\lambda_t} \left(f(\nu_t) - f(\mu_{t+1})\right) +
    \frac{\lambda_t}{\alpha\theta_t} \left(D_\omega(q, q_t) - D_\omega(q, q_{t+1})\right)$

    Its first inequality is that of eq. (B.5)."""
    f, lam = move.world.f, move.lam
    left = dot(move.world.slope(move.nu), _minus(move.nu, q))
    right = (1 - lam) / lam * (f(move.mu) - f(move.nu)) + (f(move.nu) - f(move.mu_next)) / lam
    yield left, right + lam / move.theta * move.fall(q), "⟨∇f(ν_t), ν_t − q⟩ ≤ …"


@maps.direct("eqB.9.maps", "Eq. (B.9)")
@everywhere(_equation_b9)
def _progress(move, q):
    f, scale = move.world.f, move.theta / move.lam**2
    left = scale * (f(move.mu_next) - f(q)) - scale * (1 - move.lam) * (f(move.mu) - f(q))
    yield left, move.fall(q), "… ≤ (D(q, q_t) − D(q, q_{t+1}))/α"


def _lemma_b3(c):
    for name, moves in runs():
        world, first = moves[0].world, moves[0]
        for q in world.points():
            total = -first.theta * (1 - first.lam) / first.lam**2 * (world.f(first.mu) - world.f(q))
            for past, move in zip([None, *moves], moves, strict=False):
                here = move.theta / move.lam**2
                if past is not None:
                    weight = past.theta / past.lam**2 - here * (1 - move.lam)
                    total += weight * (world.f(move.mu) - world.f(q))
                left = total + here * (world.f(move.mu_next) - world.f(q))
                right = world.distance(q, first.q, first.p)
                right -= world.distance(q, move.q_next, move.p_next)
                yield _order(
                    left, right, "Σ … ≤ (D(q, q_0) − D(q, q_t))/α", f"{name}, t = {move.t}"
                )


_lemma_b3.__doc__ = lemma_b3.__doc__
maps.direct("lemB.3.maps", "Lemma B.3")(_lemma_b3)


def _theorem_b12(c):
    for name, moves in runs():
        world, first = moves[0].world, moves[0]
        if not world.separable or first.theta != 1 or first.lam != 1:
            continue
        best = world.minimiser()
        whole = world.distance(best, first.q, first.p)
        for move in moves:
            where = f"{name}, t = {move.t + 1}"
            closer = whole - world.distance(best, move.q_next, move.p_next)
            excess = world.f(move.mu_next) - world.f(best)
            yield _order(Fraction(0), excess, "q̄ is a minimiser", where)
            yield _order(excess, move.lam**2 * closer, "f(μ_t) − f(q̄) ≤ λ²/α (D − D)", where)
            yield _order(closer, whole, "D(q̄, q_0) − D(q̄, q_t) ≤ D(q̄, q_0)", where)
            if "2/(t+2)" in name:
                bound = 4 * whole / (move.t + 2) ** 2
                yield _order(excess, bound, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)", where)


_theorem_b12.__doc__ = theorem_b12.__doc__
maps.direct(
    "thmB.12.maps",
    "Theorem B.12",
    instances="separable f, with and without a Huber term; ω Euclidean and weighted; C boxes;"
    " λ_t = 2/(t+2), 3/(t+3) and 1",
)(_theorem_b12)
