"""Appendix A, Margins in the Primal and in the Dual.

Rows of A are y_i x_i and the paper's Z is −A. Everything is decided in rational arithmetic.

The sequences of Appendix B, row by row in balls.

Bregman distances are those of the text after eq. (B.2), D(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩.
As q_t = ∇ψ(p_t) and so ω(q_t) = ⟨p_t, q_t⟩ − ψ(p_t), ω(q) cancels in

    D(q, q_t) − D(q, q_{t+1}) = ψ(p_t) − ψ(p_{t+1}) − ⟨p_t − p_{t+1}, q⟩,

and D(q_{t+1}, q_t) is the same at q = q_{t+1}, as D(q_{t+1}, q_{t+1}) = 0.

p_t, q_t, μ_t and ν_t are those that the solver delivers, and are believed in nothing: at every t
they must be what follows from the iterates, up to the rounding of the last step.

    p_t = −A w_t, the scores being carried along by addition    q_t = ∇ψ(p_t)
    μ_t = (1 − λ_{t−1}) μ_{t−1} + λ_{t−1} q_t, μ_0 = q_0        ν_t = (1 − λ_t) μ_t + λ_t q_t

Appendix B, A Unified Analysis of Normal and Accelerated Mirror Descent / Dual Averaging.

The instance of Appendix C is put on trial: f = φ, φ(q) = ‖Zᵀq‖²/2, ω = ψ*, α = 1/ρ, the ℓ₁ norm,
and C the domain of ψ* (Δ_n for the exponential loss, [0, 1]ⁿ ∩ {Σ q_i ≥ 1} for the logistic loss).
The sequences p_t, q_t, μ_t and ν_t are those that the solver delivers, taken for exact where they
are what follows from its iterates.

Appendix B with other objectives, mirror maps, norms and sets, in rational arithmetic.

ω(q) = ½⟨q, Mq⟩ with M diagonal is 1-strongly convex in the norm √⟨q, Mq⟩, and C a box: then
∇ω*(p) = argmax_{q ∈ C} ⟨p, q⟩ − ω(q) is M⁻¹p, clipped coordinate by coordinate. f is quadratic with
a matrix H ≼ M, or the sum of a quadratic and a Huber function, so that it is 1-smooth there.

Appendix B for other objectives, mirror maps and norms than φ, ψ* and ℓ₁; exactly.

What `appendix_b` hears of a solver is one instance of the theory; here are others, which bring
their own method (`mirror_maps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.papers import (
    ROUNDOFF,
    Case,
    Floats,
    Number,
    Relation,
    View,
    at_most,
    claimed_numbers,
    direct,
    equal,
    fact,
    number,
    per_iterate,
    size_of,
    total,
    upper,
    wholes,
)
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import (
    ABOUT_DATA,
    DUAL_FORM,
    SEPARABLE,
    Pair,
    accelerated,
    alignment,
    distance_from_start,
    exact_and_separable,
    exact_dual,
    exponential,
    few_rows,
    follows,
    full_step,
    loss_of,
    mixing,
    potential,
    potential_gradient,
    proper_step,
    rational,
    score_drift,
    smooth,
    smoothness,
    step,
)

ANY = (*SEPARABLE, "inseparable:n=30,d=4,seed=0", "degenerate:kind=zero-row")


@direct(
    "jst.lemA.1.value",
    reference="Lemma A.1, first display",
    claim=r"\bar\gamma := \max_{\|w\|_2 \le 1} \min_{1 \le i \le n} (Zw)_i"
    r" = \min_{q \in \Delta_n} \|Z^\top q\|_2",
    kind="identity",
    problems=ANY,
    assumes=(rational,),
    unit=True,
    powerless=ABOUT_DATA,
    note="With Z = −A the primal problem of the lemma is not that of Section 2, which is"
    " max min_i (−Zw)_i; but w ↦ −w maps one onto the other, so the values agree and it holds.",
)
def duality(case: Case) -> Iterator[Relation]:
    """γ̄ = max_{‖w‖ ≤ 1} min_i (Zw)_i = min_{q ∈ Δ_n} ‖Zᵀq‖.

    The left is never above the right. They are equal if one w attains one ‖Zᵀq‖: w = −w̄/‖w̄‖ has
    (Zw)_i = ⟨a_i, w̄⟩/‖w̄‖, and w = 0 will do where w̄ = 0.
    """
    pair = Pair(case)
    yield pair.in_simplex()
    if pair.square > 0:
        yield fact(min(pair.scores) == pair.square, "min_i (Zw)_i = ‖Zᵀq̄‖ for w = −w̄/‖w̄‖")
    low, high = case.truth.square_lo, case.truth.square_hi
    yield fact(low == pair.square == high, "γ̄² = ‖Zᵀq̄‖²")


@direct(
    "jst.lemA.1.vector",
    reference="Lemma A.1, second sentence",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ (of } \max_{\|w\|_2 \le 1} \min_i (Zw)_i \text{), such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    status="refuted",
    fixed_by="jst.lemA.1.vector.fixed",
    severity="misprint",
    survives="Everything: the value in the lemma is right, the proof is about −max_i "
    "(Zw)_i, and later sections use the ū of Section 2.",
    why="min (Zw)_i stands for −max (Zw)_i; with the ū of Section 2, which the paper goes on"
    " to use, it is true.",
    charitable="jst.lemA.1.vector.fixed",
    powerless=ABOUT_DATA,
    note="The primal problem of the lemma is max min_i (Zw)_i with Z = −A. Its solution is minus"
    " the classifier of Section 2, and for it Zᵀq̄ = γ̄ū, without the minus. Smallest witness:"
    " n = d = 1, x_1 = 1, y_1 = 1: max_{|w| ≤ 1} −w is attained at ū = −1 only; −Zᵀq̄ = 1 on the"
    " left, γ̄ū = −1 on the right. The proof is about max −max_i (Zw)_i, for which the lemma holds;"
    " its last display turns −max_i (Zw)_i into min_i (Zw)_i, which keeps the value but negates the"
    " solution. With the ū of Section 2 the formula is true, and that is the fixed form.",
)
def vector_as_printed(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, -1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (Zw)_i")


@direct(
    "jst.lemA.1.vector.fixed",
    reference="Lemma A.1, second sentence, with the primal problem of its proof",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ of } \max_{\|w\|_2 \le 1} \min_i (-Zw)_i, \text{ such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    powerless=ABOUT_DATA,
)
def vector(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (−Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, 1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (−Zw)_i")


def column(values: Any) -> Any:
    """Numbers as a column of balls."""
    balls = [number(v) for v in (values.tolist() if hasattr(values, "tolist") else values)]
    return arb_mat(len(balls), 1, balls)


def inner(a: Any, b: Any) -> Number:
    """⟨a, b⟩ of two columns."""
    return (a.transpose() * b)[0, 0]


class Weights:
    """A dual variable, and the gradient Gq = ∇φ(q) of φ at it."""

    def __init__(self, values: Any, gram: Any, name: str = "") -> None:
        self.q, self.name = column(values), name
        self.force = gram * self.q

    def above(self, other: Weights) -> Number:
        """φ(q) − φ(r) = ⟨∇φ(q) + ∇φ(r), q − r⟩/2: zero without rounding where q = r."""
        return inner(self.force + other.force, self.q - other.q) / 2


class Point:
    """The sequences at one t, with the signs of the paper (p_t = Zw_t = −A w_t)."""

    def __init__(self, t: int, given: list[Floats], gram: Any, loss: str) -> None:
        self.t = t
        self.scores, self.weights, self.mu_doubles, self.nu_doubles = given
        self.p, self.q = column(-self.scores), column(self.weights)
        self.mu, self.nu = Weights(self.mu_doubles, gram), Weights(self.nu_doubles, gram)
        self.psi = potential(self.p.entries(), loss)

    @cached_property
    def logs(self) -> Any:
        """ln q_t, row by row."""
        return column(v.log() for v in self.q.entries())


class Mirror:
    """The sequences of eqs. (B.1) and (B.2) as delivered, at t and t − 1, and points q ∈ C.

    Attributes
    ----------
    claims : list of Relation
        That those at t follow from the iterates, or what is wrong with them.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.loss = case, loss_of(case)
        self.rho = number(smoothness(case))
        self.now: Point | None = None
        self.before: Point | None = None
        self.first: Point | None = None
        self.claims: list[Relation] = []
        self._w: Floats | None = None
        self._drift = 0.0

    @cached_property
    def everywhere(self) -> list[Weights]:
        """Points of C at which claims about all q ∈ C are put to the test."""
        case, n = self.case, self.case.n
        gram = case.space.gram()
        draws = np.random.default_rng(n).integers(1, 1000, n).tolist()
        found = {
            "the first vertex": [1] + [0] * (n - 1),
            "the centre": [Fraction(1, n)] * n,
            "a random point": [Fraction(v, sum(draws)) for v in draws],
        }
        if exact_dual(case) is None:
            found["q̄"] = case.q_bar
        if self.loss == "logistic":
            found["the vertex of all ones"] = [1] * n
        return [Weights(values, gram, f"q = {name}") for name, values in found.items()]

    @cached_property
    def optimum(self) -> Weights:
        """q̄."""
        return next(point for point in self.everywhere if point.name == "q = q̄")

    @cached_property
    def centre(self) -> Weights:
        """The centre of Δ_n."""
        return next(point for point in self.everywhere if point.name == "q = the centre")

    def update(self, it: View) -> None:
        """Take in the next iterate."""
        # Claims about t = 0 are heard with the first step, which starts there.
        first = self.claims if it.t == 1 else []
        self.before, self.now, self.claims = self.now, None, []
        if self._w is not None:
            self._drift += score_drift(it, self._w)
        self._w = it.w
        given = []
        for name in SEQUENCES:
            value = it.dual if name == "dual" else it.extra.get(name)
            found = "is not said" if value is None else claimed_numbers(value, (it.n,))
            if isinstance(found, str):
                self.claims.append(fact(False, f"{name} {found}", said=True))
            else:
                given.append(found)
        if not self.claims:
            self.now = Point(it.t, given, self.case.space.gram(), self.loss)
            if it.t == 0:
                self.first = self.now
            self.claims = [*self._follow(it, self.now)]
        self.claims = [*first, *self.claims]

    def _follow(self, it: View, now: Point) -> Iterator[Relation]:
        """That the sequences at t follow from w_t and from those at t − 1."""
        gap = float(np.abs(now.scores - it.score_doubles).max())
        allowed = 2 * self._drift + it.score_error
        size = size_of(float(np.abs(it.score_doubles).max()), it.space.least_radius**2)
        yield follows(number(gap), allowed, size, "p_t is that of the iterates: −A w_t")
        q = column(potential_gradient(now.p.entries(), self.loss))
        # A softmax in doubles has relative errors of u(spread + n + 16), and so has ∇ψ.
        rounding = 8 * ROUNDOFF * (float(np.ptp(now.scores)) + it.n + 32)
        yield _same(now.q, q, rounding, "q_t = ∇ψ(p_t)")
        if self.before is None:
            yield _same(now.mu.q, now.q, 0.0, "μ_0 = q_0")
        else:
            mu = self._mixed(self.before.t, self.before.mu.q, now.q)
            yield _same(now.mu.q, mu, 8 * ROUNDOFF, "μ_t is the average of μ_{t−1} and q_t")
        nu = self._mixed(now.t, now.mu.q, now.q)
        yield _same(now.nu.q, nu, 8 * ROUNDOFF, "ν_t is the average of μ_t and q_t")

    def _mixed(self, t: int, mu: Any, q: Any) -> Any:
        """(1 − λ_t) μ + λ_t q."""
        lam = mixing(self.case, t)
        return mu * number(1 - lam) + q * number(lam)

    def drop(self, q: Any, past: Point, now: Point) -> Number:
        """D(q, q_{t−1}) − D(q, q_t)."""
        return past.psi - now.psi - inner(past.p - now.p, q)

    def ratio(self, t: int) -> Number:
        """λ_t/(αθ_t)."""
        return self.rho * number(mixing(self.case, t) / step(self.case, t))

    def rounding_of_force(self, past: Point, now: Point) -> float:
        """How far λ/(αθ) (p_t − p_{t+1}) may be from ∇φ(ν_t) in a row, because of rounding.

        A product with Aᵀ and one with A, and then the sum p_t + …, whose rounding counts λ/(αθ)
        times.
        """
        space, size = self.case.space, float(np.abs(past.nu_doubles).sum())
        pull = self.case.problem.combine(past.nu_doubles)
        products = (
            space.score_error(pull) + (space.n + 16) * ROUNDOFF * space.radius * space.radius * size
        )
        return products + 4 * ROUNDOFF * float(np.abs(now.scores).max()) * upper(self.ratio(past.t))

    def rounding_of_logs(self, past: Point, now: Point, q: Weights) -> float:
        """How far ⟨ln q_t − ln q_{t+1}, q_{t+1} − q⟩ may be from ⟨p_t − p_{t+1}, q_{t+1} − q⟩.

        A softmax in doubles has relative errors of u(spread + n + 16), and its sum is one only up
        to (n + 8)u, which counts as often as ln q and p differ: ψ(p_t) − ψ(p_{t+1}).
        """
        n, spread = self.case.n, float(max(np.ptp(past.scores), np.ptp(now.scores)))
        apart = self.apart(now, q)
        scale = (spread + n + 16) * apart + (n + 8) * upper(past.psi - now.psi)
        return 4 * 2 * ROUNDOFF * scale

    @staticmethod
    def apart(now: Point, q: Weights) -> float:
        """‖q_{t+1} − q‖₁."""
        return upper(total(abs(v) for v in (now.q - q.q).entries()))


def _same(said: Any, own: Any, relative: float, what: str) -> Relation:
    """Weights that are what follows, in the ℓ₁ norm, up to an error relative to their sum."""
    gap = total(abs(v) for v in (said - own).entries())
    size = upper(total(abs(v) for v in own.entries()))
    return follows(gap, relative * size, size, what)


@dataclass(frozen=True)
class Step:
    """The last step of a run: from q_t, μ_t, … (`past`) to q_{t+1}, μ_{t+1}, … (`now`)."""

    path: Mirror
    first: Point
    past: Point
    now: Point


#: What the dual form must say of an iterate.
SEQUENCES = ("p", "dual", "mu", "nu")


def last_step(it: View, case: Case) -> tuple[Step | None, list[Relation]]:
    """The last step, and that its sequences follow from the iterates.

    Raises
    ------
    Unclaimed
        If the solver does not deliver them.
    """
    path: Mirror = case.history(Mirror)
    for name in SEQUENCES:
        it.claim(name)
    if path.first is None or path.before is None or path.now is None:
        return None, path.claims
    return Step(path, path.first, path.before, path.now), path.claims


@per_iterate(
    "jst.lemB.3",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form; q: vertices, centre, q̄ and a random point",
    reference="Lemma B.3",
    claim=r"\frac{\theta_{t-1}}{\lambda_{t-1}^2} (f(\mu_t) - f(q)) + \sum_{j=1}^{t-1}"
    r" \left( \frac{\theta_{j-1}}{\lambda_{j-1}^2} - \frac{\theta_j(1-\lambda_j)}{\lambda_j^2}"
    r" \right) (f(\mu_j) - f(q)) \le \frac{1}{\alpha} (D_\omega(q, q_0) - D_\omega(q, q_t))"
    r" + \frac{\theta_0(1-\lambda_0)}{\lambda_0^2} (f(\mu_0) - f(q))",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    slower="dual-acceleration-dual/mirror-descent-instead",
)
class LemmaB3:
    """For every q, the weighted sum of f(μ_j) − f(q) up to t is at most
    (D(q, q_0) − D(q, q_t))/α + θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q))."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.sums: dict[str, Number] = {}

    def factor(self, j: int) -> Fraction:
        """θ_{j−1}/λ_{j−1}² − θ_j(1 − λ_j)/λ_j², without its first part for j = 0."""
        lam = mixing(self.case, j)
        first = step(self.case, j - 1) / mixing(self.case, j - 1) ** 2 if j else Fraction(0)
        return first - step(self.case, j) * (1 - lam) / lam**2

    def update(self, it: View) -> None:
        """Add the term j = t − 1; that of j = 0 is the last one of the claim, on the left."""
        found, _ = last_step(it, self.case)
        if found is None:
            return
        past = found.past
        for q in found.path.everywhere:
            term = number(self.factor(past.t)) * past.mu.above(q)
            self.sums[q.name] = self.sums.get(q.name, arb(0)) + term

    def claim(self, it: View) -> Iterator[Relation]:
        """The claim at t, at several q."""
        found, claims = last_step(it, self.case)
        yield from claims
        if found is None:
            return
        path, past, now = found.path, found.past, found.now
        scale = number(step(self.case, past.t) / mixing(self.case, past.t) ** 2)
        for q in path.everywhere:
            yield at_most(
                scale * now.mu.above(q) + self.sums[q.name],
                path.rho * path.drop(q.q, found.first, now),
                "Σ … (f(μ_j) − f(q)) − θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q)) ≤"
                " (D(q, q_0) − D(q, q_t))/α",
                where=q.name,
            )


def underflowed(past: Point, now: Point) -> bool:
    """Whether some weight has all but vanished, so that its logarithm says nothing."""
    weights = np.concatenate([past.weights, now.weights])
    return bool(((weights >= 0) & (weights < 1e-290)).any())  # one below 0 is a false claim


def largest_change(past: Point, now: Point) -> float:
    """max_i |p_t(i) − p_{t+1}(i)|."""
    return float(np.abs(past.scores - now.scores).max())


@per_iterate(
    "jst.lemB.4",
    instances="ω the entropy on Δ_n; q: vertices, centre, q̄ and a random point",
    reference="Lemma B.4",
    kind="identity",
    claim=r"\langle p_t - p_{t+1}, q_{t+1} - q \rangle = D_\omega(q, q_t) - D_\omega(q, q_{t+1})"
    r" - D_\omega(q_{t+1}, q_t)",
    solvers=(DUAL_FORM,),
    assumes=(exponential, few_rows),
    since=1,
    unit=True,
    history=(Mirror,),
    note="With D(q, r) = Σ q_i ln(q_i/r_i), the Kullback–Leibler divergence that D_ω is for the"
    " exponential loss, of the weights as delivered. (With distances written by means of p_t the"
    " identity is empty: everything cancels.) Weights that underflowed say nothing.",
    at_rest="it is true of all p_t, and all sides are 0 where q_t stays the same",
)
def lemma_b4(it: View, case: Case) -> Iterator[Relation]:
    """For every q in the simplex, ⟨p_t − p_{t+1}, q_{t+1} − q⟩ is
    D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None or underflowed(found.past, found.now):
        return
    path, past, now = found.path, found.past, found.now
    jump, change = inner(now.q, now.logs - past.logs), largest_change(past, now)
    for q in path.everywhere:
        right = inner(q.q, now.logs - past.logs) - jump
        yield equal(
            inner(past.p - now.p, now.q - q.q),
            right,
            "⟨p_t − p_{t+1}, q_{t+1} − q⟩ = D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)",
            allowance=path.rounding_of_logs(past, now, q),
            size=change * path.apart(now, q),
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


def _chain(it: View, case: Case, printed: bool) -> Iterator[Relation]:
    """The second and third equation of eq. (B.6); the first one is plain linearity."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    force, ratio, gap = past.nu.force, path.ratio(past.t), past.p - now.p
    common = inner(force, past.q - now.q)
    rounding = path.rounding_of_force(past, now)
    # As in Lemma B.4: distances written by means of p_t would only be compared with themselves.
    divergence = exponential(case) is None and not underflowed(past, now)
    strongest = max(float(v.abs_lower()) for v in force.entries())
    for q in path.everywhere:
        middle = common + ratio * inner(gap, now.q - (past.q if printed else q.q))
        apart = path.apart(now, q) + ROUNDOFF
        size = strongest * apart
        yield equal(
            inner(force, past.q - q.q),
            middle,
            "⟨∇f(ν_t), q_t − q⟩ = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, …⟩",
            allowance=4 * rounding * apart,
            size=size,
            where=q.name,
        )
        if not divergence:
            continue
        last = common + ratio * inner(q.q - now.q, now.logs - past.logs)
        yield equal(
            middle,
            last,
            "… = ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − …)",
            allowance=4 * rounding * apart + upper(ratio) * path.rounding_of_logs(past, now, q),
            size=size,
            where=q.name,
        )


@per_iterate(
    "jst.eqB.6",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.6)",
    kind="identity",
    claim=_B6 % "q_t",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    status="refuted",
    problems=("planted:n=2,d=1,gamma=0.5",),
    fixed_by="jst.eqB.6.fixed",
    severity="transcription",
    survives="Everything: the last expression, from Lemma B.4, is right for every q. "
    "(B.8) takes nothing else from (B.6), and Lemma B.3 and Theorem B.12 follow from (B.8).",
    why="The equation stands in one of the two texts only; q_t for q may be a slip of that text.",
    charitable="jst.eqB.6.fixed",
    note="The third expression has ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩ where q_{t+1} − q is meant. As"
    " λ_t/(αθ_t) (p_t − p_{t+1}) = ∇f(ν_t) by eq. (B.2), the expression as printed is zero whatever"
    " q is. Smallest witness: n = 2, d = 1, rows 1/2 and 1 (either sign), any loss, t = 0,"
    " λ_0 = θ_0 = 1: for the exponential loss ν_0 = q_0 = (1/2, 1/2), Zᵀν_0 = ∓3/4,"
    " ∇f(ν_0) = (3/8, 3/4), and at q = (1, 0) the first expression is 3/16, the third one 0.",
)
def equation_b6(it: View, case: Case) -> Iterator[Relation]:
    """⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q_t⟩,
    and that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)),
    for every q."""
    return _chain(it, case, printed=True)


@per_iterate(
    "jst.eqB.6.fixed",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.6), corrected",
    kind="identity",
    claim=_B6 % "q",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_b6_fixed(it: View, case: Case) -> Iterator[Relation]:
    """⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) ⟨p_t − p_{t+1}, q_{t+1} − q⟩, and
    that is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(q_{t+1}, q_t)), for
    every q."""
    return _chain(it, case, printed=False)


@per_iterate(
    "jst.eqB.7",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.7)",
    claim=r"\langle \nabla f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t}"
    r" D_\omega(q_{t+1}, q_t) \le \frac{1}{\lambda_t} \left( f(\nu_t) - f(\mu_{t+1}) \right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
    at_rest="its left side is 0 where q_t stays the same, and f goes down",
)
def equation_b7(it: View, case: Case) -> list[Relation]:
    """⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) is at most
    (f(ν_t) − f(μ_{t+1}))/λ_t."""
    found, claims = last_step(it, case)
    if found is None:
        return claims
    path, past, now = found.path, found.past, found.now
    jump = path.drop(now.q, past, now)
    left = inner(past.nu.force, past.q - now.q) - path.ratio(past.t) * jump
    right = number(1 / mixing(case, past.t)) * past.nu.above(now.mu)
    what = "⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"
    return [at_most(left, right, what), *claims]


@per_iterate(
    "jst.eqB.9",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Eq. (B.9)",
    claim=r"\frac{\theta_t}{\lambda_t^2} \left( f(\mu_{t+1}) - f(q) \right)"
    r" - \frac{\theta_t(1-\lambda_t)}{\lambda_t^2} \left( f(\mu_t) - f(q) \right) \le"
    r" \frac{1}{\alpha} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, proper_step),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_b9(it: View, case: Case) -> Iterator[Relation]:
    """For every q, θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) is at most
    (D(q, q_t) − D(q, q_{t+1}))/α."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    lam, theta = mixing(case, past.t), step(case, past.t)
    for q in path.everywhere:
        left = number(theta / lam**2) * now.mu.above(q)
        left -= number(theta * (1 - lam) / lam**2) * past.mu.above(q)
        yield at_most(
            left,
            path.rho * path.drop(q.q, past, now),
            "θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) ≤"
            " (D(q, q_t) − D(q, q_{t+1}))/α",
            where=q.name,
        )


def inverse_sequences() -> Iterator[tuple[str, list[Fraction]]]:
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
    for name, inverse in inverse_sequences():
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


@direct(
    "jst.eqB.11",
    reference="Eq. (B.11)",
    kind="anytime",
    claim=r"\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_t}"
    r" = \sum_{j=0}^t \frac{1}{\lambda_t}",
    problems=("",),
    inputs={"t": wholes(0, 59)},
    solvers=(DUAL_FORM,),
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
    status="refuted",
    fixed_by="jst.eqB.11.fixed",
    severity="transcription",
    survives="Everything: nothing later refers to it, and what is needed of Σ 1/λ_j is "
    "computed for λ_t = 2/(t+2).",
    why="The equation stands in one of the two texts only; the index t for j may be a slip of"
    " that text.",
    charitable="jst.eqB.11.fixed",
    note="The summands have the index t where j is meant. As printed the equation is"
    " 1 + t/λ_t = (t + 1)/λ_t, which is false for t ≥ 1 unless λ_t = 1 (the inequality is true)."
    " Smallest witness: λ_t = 2/(t+2), so λ_0 = 1 and λ_1 = 2/3: at t = 1 the middle is 1 + 3/2"
    " = 5/2 and the right side 3/2 + 3/2 = 3.",
)
def equation_b11(case: Case) -> Iterator[Relation]:
    """Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_t, which is Σ_{j=0}^t 1/λ_t."""
    return _sums_of_inverses(case, printed=True)


@direct(
    "jst.eqB.11.fixed",
    instances="four sequences that obey eq. (B.10), up to t = 60",
    reference="Eq. (B.11), corrected",
    kind="anytime",
    claim=r"\frac{1}{\lambda_t^2} \le \frac{1}{\lambda_0^2} + \sum_{j=1}^t \frac{1}{\lambda_j}"
    r" = \sum_{j=0}^t \frac{1}{\lambda_j}",
    problems=("",),
    inputs={"t": wholes(0, 59)},
    solvers=(DUAL_FORM,),
    powerless="about the sequences λ_t of eq. (B.10) alone: no solver has a part in it",
)
def equation_b11_fixed(case: Case) -> Iterator[Relation]:
    """Under eq. (B.10), 1/λ_t² is at most 1/λ_0² + Σ_{j=1}^t 1/λ_j, which is Σ_{j=0}^t 1/λ_j."""
    return _sums_of_inverses(case, printed=False)


def _growing_slowly(case: Case) -> str | None:
    """Eq. (B.10), for λ_t = 1, 2/(t+2) or 3/(t+3), which meets it by far."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value in ("accelerated", "slower", 1) else "λ_t is not known to obey eq. (B.10)"


@per_iterate(
    "jst.thmB.12",
    instances="f = φ, ω = ψ* of either loss on Δ_n, ℓ₁ norm; Euclidean ω on boxes in the .maps"
    " form",
    reference="Theorem B.12",
    claim=r"f(\mu_t) - f(\bar{q}) \le \frac{\lambda_{t-1}^2}{\alpha} \left( D_\omega(\bar{q}, q_0)"
    r" - D_\omega(\bar{q}, q_t) \right) \le \frac{\lambda_{t-1}^2}{\alpha} D_\omega(\bar{q}, q_0);"
    r" \quad \text{if } \lambda_t = 2/(t+2): f(\mu_t) - f(\bar{q}) \le"
    r" \frac{4D_\omega(\bar{q}, q_0)}{\alpha(t+1)^2}",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, full_step, _growing_slowly, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
    slower="dual-acceleration-dual/mirror-descent-instead",
)
def theorem_b12(it: View, case: Case) -> Iterator[Relation]:
    """f(μ_t) exceeds its minimum by at most λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)), and that is at most
    λ_{t−1}²/α D(q̄, q_0), which is 4 D(q̄, q_0)/(α(t+1)²) for λ_t = 2/(t+2)."""
    found, claims = last_step(it, case)
    yield from claims
    if found is None:
        return
    path, past, now = found.path, found.past, found.now
    excess, scale = now.mu.above(path.optimum), path.rho * number(mixing(case, past.t) ** 2)
    closer = scale * path.drop(path.optimum.q, found.first, now)
    whole = distance_from_start(case)
    yield at_most(excess, closer, "f(μ_t) − f(q̄) ≤ λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t))")
    yield at_most(
        closer, scale * whole, "λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)) ≤ λ_{t−1}²/α D(q̄, q_0)"
    )
    if accelerated(case) is None:
        yield at_most(
            excess, 4 * path.rho * whole / (it.t + 1) ** 2, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)"
        )


@per_iterate(
    "jst.eqC.8",
    reference="Eq. (C.8)",
    claim=r"\phi(\nu_t) - \langle\nabla\phi(\nu_t), \bar q\rangle \le"
    r" \frac{1-\lambda_t}{\lambda_t}\phi(\mu_t) - \frac{1}{\lambda_t}\phi(\mu_{t+1})"
    r" + \rho\lambda_t \left(D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1})\right)",
    solvers=(DUAL_FORM,),
    assumes=(few_rows, smooth, full_step, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
)
def equation_c8(it: View, case: Case) -> list[Relation]:
    """φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ is at most (1−λ_t)/λ_t φ(μ_t) − φ(μ_{t+1})/λ_t +
    ρλ_t (D(q̄, q_t) − D(q̄, q_{t+1}))."""
    found, claims = last_step(it, case)
    if found is None:
        return claims
    path, past, now = found.path, found.past, found.now
    lam, q = mixing(case, past.t), path.optimum
    left = inner(past.nu.force, past.nu.q) / 2 - inner(past.nu.force, q.q)
    right = number((1 - lam) / lam) * inner(past.mu.force, past.mu.q) / 2
    right -= number(1 / lam) * inner(now.mu.force, now.mu.q) / 2
    right += path.rho * number(lam) * path.drop(q.q, past, now)
    return [at_most(left, right, "φ(ν_t) − ⟨∇φ(ν_t), q̄⟩ ≤ …"), *claims]


@per_iterate(
    "jst.eqC.9",
    reference="Eq. (C.9)",
    kind="identity",
    claim=r"D_{\psi^*}(\bar q, q_t) - D_{\psi^*}(\bar q, q_{t+1}) = \psi(Zw_t) - \psi(Zw_{t+1})"
    r" - \frac{1}{\rho\lambda_t} \langle\nabla\phi(\nu_t), \bar q\rangle",
    solvers=(DUAL_FORM,),
    assumes=(exponential, few_rows, full_step, exact_dual),
    since=1,
    unit=True,
    history=(Mirror,),
    note="With the Kullback–Leibler divergence of the weights as delivered, as in Lemma B.4; so for"
    " the exponential loss only. Weights that underflowed say nothing.",
)
def equation_c9(it: View, case: Case) -> list[Relation]:
    """D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)."""
    found, claims = last_step(it, case)
    if found is None or underflowed(found.past, found.now):
        return claims
    path, past, now = found.path, found.past, found.now
    q, ratio = path.optimum, path.ratio(past.t)
    right = past.psi - now.psi - inner(past.nu.force, q.q) / ratio
    # ⟨ln q_{t+1} − ln q_t, q̄⟩: logarithms of weights are off by the rounding of a softmax.
    rounding = path.rounding_of_logs(past, now, q) + path.rounding_of_logs(past, now, path.centre)
    rounding += 4 * path.rounding_of_force(past, now) / float(ratio.mid())
    left, allowance = inner(q.q, now.logs - past.logs), rounding + 64 * ROUNDOFF * (case.n + 16)
    what = "D(q̄, q_t) − D(q̄, q_{t+1}) = ψ(Zw_t) − ψ(Zw_{t+1}) − ⟨∇φ(ν_t), q̄⟩/(ρλ_t)"
    size = largest_change(past, now)
    return [equal(left, right, what, allowance=allowance, size=size), *claims]


Q = Fraction
Row = list[Fraction]


def dot(a: Row, b: Row) -> Fraction:
    """⟨a, b⟩."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Q(0))


def minus(a: Row, b: Row) -> Row:
    """a − b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def mixed(weight: Fraction, a: Row, b: Row) -> Row:
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
    metric: Row
    box: list[tuple[Fraction, Fraction]]
    hessian: list[Row]
    linear: Row
    huber: Fraction

    def f(self, q: Row) -> Fraction:
        """f(q)."""
        x = abs(q[0])
        bend = x * x / 2 if x <= Q(1, 4) else x / 4 - Q(1, 32)
        return dot(q, self.pushed(q)) / 2 - dot(self.linear, q) + self.huber * bend

    def pushed(self, q: Row) -> Row:
        """Hq."""
        return [dot(row, q) for row in self.hessian]

    def slope(self, q: Row) -> Row:
        """∇f(q)."""
        found = minus(self.pushed(q), self.linear)
        found[0] += self.huber * max(min(q[0], Q(1, 4)), -Q(1, 4))
        return found

    def omega(self, q: Row) -> Fraction:
        """ω(q)."""
        return sum((m * x * x for m, x in zip(self.metric, q, strict=True)), Q(0)) / 2

    def back(self, p: Row) -> Row:
        """∇ω*(p)."""
        ends = zip(p, self.metric, self.box, strict=True)
        return [max(low, min(high, x / m)) for x, m, (low, high) in ends]

    def distance(self, q: Row, to: Row, p: Row) -> Fraction:
        """D_ω(q, q_t) = ω(q) − ω(q_t) − ⟨p_t, q − q_t⟩, for q_t = `to` and its p_t."""
        return self.omega(q) - self.omega(to) - dot(p, minus(q, to))

    def points(self) -> list[Row]:
        """Points q of C: corners and the middle."""
        corners = [list(corner) for corner in product(*self.box)]
        return [*corners, [(low + high) / 2 for low, high in self.box]]

    def minimiser(self) -> Row:
        """q̄ of a separable f: each coordinate by itself, clipped."""
        found = []
        for i, (low, high) in enumerate(self.box):
            h, b = self.hessian[i][i], self.linear[i]
            k = self.huber if i == 0 else Q(0)
            inside = b / (h + k)
            if k and abs(inside) > Q(1, 4):
                inside = (b - k / 4) / h if b > 0 else (b + k / 4) / h
            found.append(max(low, min(high, inside)))
        return found

    @property
    def separable(self) -> bool:
        """Whether H is diagonal."""
        pairs = product(range(len(self.linear)), repeat=2)
        return not any(self.hessian[i][j] for i, j in pairs if i != j)


HALF, THIRD = Q(1, 2), Q(1, 3)
WORLDS = (
    World(
        "Euclidean, unit box, f with a full matrix",
        [Q(1), Q(1)],
        [(Q(0), Q(1)), (Q(0), Q(1))],
        [[HALF, THIRD], [THIRD, HALF]],
        [Q(2, 3), -Q(1, 5)],
        huber=Q(0),
    ),
    World(
        "weighted norm, wide box, separable f",
        [Q(2), Q(1, 2)],
        [(-Q(3), Q(3)), (-Q(1), Q(5))],
        [[Q(2), Q(0)], [Q(0), Q(1, 4)]],
        [Q(3), Q(1)],
        huber=Q(0),
    ),
    World(
        "Euclidean, f with a Huber term",
        [Q(1), Q(1)],
        [(-Q(1), Q(1)), (-Q(1), Q(1))],
        [[HALF, Q(0)], [Q(0), Q(1)]],
        [Q(1, 2), Q(2)],
        huber=HALF,
    ),
)

#: λ_t, as rationals, and θ_t; all but the last two meet eq. (B.10).
SCHEDULES = {
    "λ_t = 2/(t+2)": (lambda t: Q(2, t + 2), Q(1)),
    "λ_t = 3/(t+3)": (lambda t: Q(3, t + 3), Q(1)),
    "λ_t = 1": (lambda t: Q(1), Q(1)),
    "λ_t = 1, θ_t = ⅓": (lambda t: Q(1), THIRD),
    "λ_t = ½, θ_t = ½": (lambda t: HALF, HALF),
}
STEPS = 12


@dataclass(frozen=True)
class Move:
    """One step, from t to t + 1."""

    world: World
    t: int
    lam: Fraction
    theta: Fraction
    q: Row
    p: Row
    mu: Row
    nu: Row
    q_next: Row
    p_next: Row
    mu_next: Row

    def fall(self, point: Row) -> Fraction:
        """D(q, q_t) − D(q, q_{t+1})."""
        return self.world.distance(point, self.q, self.p) - self.world.distance(
            point, self.q_next, self.p_next
        )

    @property
    def jump(self) -> Fraction:
        """D(q_{t+1}, q_t)."""
        return self.world.distance(self.q_next, self.q, self.p)


@cache
def runs() -> tuple[tuple[str, list[Move]], ...]:
    """Every world with every schedule, STEPS steps of eq. (B.2)."""
    return tuple(_runs())


def _runs() -> Iterator[tuple[str, list[Move]]]:
    for world, (name, (schedule, theta)) in product(WORLDS, SCHEDULES.items()):
        p = [Q(1, 3), -Q(1, 2)]
        q = world.back(p)
        mu, moves = q, []
        for t in range(STEPS):
            lam = schedule(t)
            nu = mixed(lam, mu, q)
            slope = world.slope(nu)
            p_next = [a - theta / lam * b for a, b in zip(p, slope, strict=True)]
            q_next = world.back(p_next)
            mu_next = mixed(lam, mu, q_next)
            moves.append(Move(world, t, lam, theta, q, p, mu, nu, q_next, p_next, mu_next))
            p, q, mu = p_next, q_next, mu_next
        yield f"{world.name}, {name}", moves


INSTANCES = (
    "f quadratic, with and without a Huber term; ω Euclidean and weighted; C boxes; λ_t = 2/(t+2),"
    " 3/(t+3), 1 and ½; q: corners and the middle"
)
ALONE = "a property of the method of eq. (B.2), which it brings itself: no solver has a part in it"


def order(left: Fraction, right: Fraction, what: str, where: str) -> Relation:
    """left ≤ right, of rationals: also if both are equal."""
    if left == right:
        return fact(True, what, where=where)
    return at_most(left, right, what, where=where)


Sides = Iterator[tuple[Fraction, Fraction, str]]


def everywhere(
    claim: Callable[[Move, list[Fraction]], Sides],
) -> Callable[[Case], Iterator[Relation]]:
    """A claim about every step and every q, at all of them."""

    def body(case: Case) -> Iterator[Relation]:
        for name, moves in runs():
            for move in moves:
                for q in move.world.points():
                    where = f"{name}, t = {move.t}, q = {[str(v) for v in q]}"
                    for left, right, what in claim(move, q):
                        yield order(left, right, what, where)

    return body


def _convexity(move: Move, q: list[Fraction]) -> Sides:
    f, slope = move.world.f, move.world.slope(move.nu)
    last = (1 - move.lam) / move.lam * (f(move.mu) - f(move.nu)) + dot(slope, minus(move.q, q))
    first = dot(slope, minus(move.nu, q))
    yield f(move.nu) - f(q), first, "f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩"
    yield first, last, "… ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + ⟨∇f(ν_t), q_t − q⟩"


direct(
    "jst.eqB.5",
    reference="Eq. (B.5)",
    kind="anytime",
    claim=r"f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le"
    r" \frac{1-\lambda_t}{\lambda_t} \left(f(\mu_t) - f(\nu_t)\right)"
    r" + \langle\nabla f(\nu_t), q_t - q\rangle",
    words="For every q, f(ν_t) − f(q) ≤ ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) +"
    " ⟨∇f(ν_t), q_t − q⟩.",
    problems=("",),
    instances=INSTANCES,
    powerless=ALONE,
)(everywhere(_convexity))


def _three_points(move: Move, q: list[Fraction]) -> Sides:
    slope = move.world.slope(move.nu)
    ratio = move.lam / move.theta
    left = dot(slope, minus(move.q, q))
    right = dot(slope, minus(move.q, move.q_next)) + ratio * (move.fall(q) - move.jump)
    yield left, right, "⟨∇f(ν_t), q_t − q⟩ ≤ … + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1}) − D(…))"
    yield right, left, "and ≥"


direct(
    "jst.eqB.6.maps",
    reference="Eq. (B.6), first and last expression",
    kind="identity",
    claim=r"\langle \nabla f(\nu_t), q_t - q \rangle = \langle \nabla f(\nu_t), q_t - q_{t+1}"
    r" \rangle - \frac{\lambda_t}{\alpha\theta_t} D_\omega(q_{t+1}, q_t)"
    r" + \frac{\lambda_t}{\alpha\theta_t} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)",
    words="⟨∇f(ν_t), q_t − q⟩ is ⟨∇f(ν_t), q_t − q_{t+1}⟩ + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1})"
    " − D(q_{t+1}, q_t)), for every q.",
    problems=("",),
    instances=INSTANCES,
    powerless=ALONE,
)(everywhere(_three_points))


def _smoothness(move: Move, q: list[Fraction]) -> Sides:
    f, slope = move.world.f, move.world.slope(move.nu)
    left = dot(slope, minus(move.q, move.q_next)) - move.lam / move.theta * move.jump
    yield left, (f(move.nu) - f(move.mu_next)) / move.lam, "… ≤ (f(ν_t) − f(μ_{t+1}))/λ_t"


direct(
    "jst.eqB.7.maps",
    reference="Eq. (B.7)",
    kind="anytime",
    claim=r"\langle \nabla f(\nu_t), q_t - q_{t+1} \rangle - \frac{\lambda_t}{\alpha\theta_t}"
    r" D_\omega(q_{t+1}, q_t) \le \frac{1}{\lambda_t} \left( f(\nu_t) - f(\mu_{t+1}) \right)",
    words="⟨∇f(ν_t), q_t − q_{t+1}⟩ − λ_t/(αθ_t) D(q_{t+1}, q_t) is at most"
    " (f(ν_t) − f(μ_{t+1}))/λ_t.",
    problems=("",),
    instances=INSTANCES,
    powerless=ALONE,
)(everywhere(_smoothness))


def _together(move: Move, q: list[Fraction]) -> Sides:
    f, lam = move.world.f, move.lam
    left = dot(move.world.slope(move.nu), minus(move.nu, q))
    right = (1 - lam) / lam * (f(move.mu) - f(move.nu)) + (f(move.nu) - f(move.mu_next)) / lam
    right += lam / move.theta * move.fall(q)
    yield left, right, "⟨∇f(ν_t), ν_t − q⟩ ≤ …"


direct(
    "jst.eqB.8",
    reference="Eq. (B.8)",
    kind="anytime",
    claim=r"f(\nu_t) - f(q) \le \langle\nabla f(\nu_t), \nu_t - q\rangle \le"
    r" \frac{1-\lambda_t}{\lambda_t} \left(f(\mu_t) - f(\nu_t)\right) + \frac{1}{\lambda_t}"
    r" \left(f(\nu_t) - f(\mu_{t+1})\right) + \frac{\lambda_t}{\alpha\theta_t}"
    r" \left(D_\omega(q, q_t) - D_\omega(q, q_{t+1})\right)",
    words="For every q, ⟨∇f(ν_t), ν_t − q⟩ ≤ (1−λ_t)/λ_t (f(μ_t) − f(ν_t)) + (f(ν_t) −"
    " f(μ_{t+1}))/λ_t + λ_t/(αθ_t) (D(q, q_t) − D(q, q_{t+1})).",
    problems=("",),
    instances=INSTANCES,
    note="Its first inequality is that of eq. (B.5).",
    powerless=ALONE,
)(everywhere(_together))


def _progress(move: Move, q: list[Fraction]) -> Sides:
    f, scale = move.world.f, move.theta / move.lam**2
    left = scale * (f(move.mu_next) - f(q)) - scale * (1 - move.lam) * (f(move.mu) - f(q))
    yield left, move.fall(q), "… ≤ (D(q, q_t) − D(q, q_{t+1}))/α"


direct(
    "jst.eqB.9.maps",
    reference="Eq. (B.9)",
    kind="anytime",
    claim=r"\frac{\theta_t}{\lambda_t^2} \left( f(\mu_{t+1}) - f(q) \right)"
    r" - \frac{\theta_t(1-\lambda_t)}{\lambda_t^2} \left( f(\mu_t) - f(q) \right) \le"
    r" \frac{1}{\alpha} \left( D_\omega(q, q_t) - D_\omega(q, q_{t+1}) \right)",
    words="For every q, θ_t/λ_t² (f(μ_{t+1}) − f(q)) − θ_t(1 − λ_t)/λ_t² (f(μ_t) − f(q)) is at"
    " most (D(q, q_t) − D(q, q_{t+1}))/α.",
    problems=("",),
    instances=INSTANCES,
    powerless=ALONE,
)(everywhere(_progress))


@direct(
    "jst.lemB.3.maps",
    reference="Lemma B.3",
    kind="anytime",
    claim=r"\frac{\theta_{t-1}}{\lambda_{t-1}^2} (f(\mu_t) - f(q)) + \sum_{j=1}^{t-1}"
    r" \left( \frac{\theta_{j-1}}{\lambda_{j-1}^2} - \frac{\theta_j(1-\lambda_j)}{\lambda_j^2}"
    r" \right) (f(\mu_j) - f(q)) \le \frac{1}{\alpha} (D_\omega(q, q_0) - D_\omega(q, q_t))"
    r" + \frac{\theta_0(1-\lambda_0)}{\lambda_0^2} (f(\mu_0) - f(q))",
    problems=("",),
    instances=INSTANCES,
    powerless=ALONE,
)
def lemma_b3_maps(case: Case) -> Iterator[Relation]:
    """For every q, the weighted sum of f(μ_j) − f(q) up to t is at most
    (D(q, q_0) − D(q, q_t))/α + θ_0(1 − λ_0)/λ_0² (f(μ_0) − f(q))."""
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
                yield order(left, right, "Σ … ≤ (D(q, q_0) − D(q, q_t))/α", f"{name}, t = {move.t}")


@direct(
    "jst.thmB.12.maps",
    reference="Theorem B.12",
    kind="anytime",
    claim=r"f(\mu_t) - f(\bar{q}) \le \frac{\lambda_{t-1}^2}{\alpha} \left( D_\omega(\bar{q}, q_0)"
    r" - D_\omega(\bar{q}, q_t) \right) \le \frac{\lambda_{t-1}^2}{\alpha} D_\omega(\bar{q}, q_0);"
    r" \quad \text{if } \lambda_t = 2/(t+2): f(\mu_t) - f(\bar{q}) \le"
    r" \frac{4D_\omega(\bar{q}, q_0)}{\alpha(t+1)^2}",
    problems=("",),
    instances="separable f, with and without a Huber term; ω Euclidean and weighted; C boxes;"
    " λ_t = 2/(t+2), 3/(t+3) and 1",
    powerless=ALONE,
)
def theorem_b12_maps(case: Case) -> Iterator[Relation]:
    """f(μ_t) exceeds its minimum by at most λ_{t−1}²/α (D(q̄, q_0) − D(q̄, q_t)), and that is at most
    λ_{t−1}²/α D(q̄, q_0), which is 4 D(q̄, q_0)/(α(t+1)²) for λ_t = 2/(t+2)."""
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
            yield order(Fraction(0), excess, "q̄ is a minimiser", where)
            yield order(excess, move.lam**2 * closer, "f(μ_t) − f(q̄) ≤ λ²/α (D − D)", where)
            yield order(closer, whole, "D(q̄, q_0) − D(q̄, q_t) ≤ D(q̄, q_0)", where)
            if "2/(t+2)" in name:
                bound = 4 * whole / (move.t + 2) ** 2
                yield order(excess, bound, "f(μ_t) − f(q̄) ≤ 4 D(q̄, q_0)/(α(t+1)²)", where)
