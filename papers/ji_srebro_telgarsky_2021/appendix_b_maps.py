"""Appendix B for other objectives, mirror maps and norms than φ, ψ* and ℓ₁; exactly.

What `appendix_b` hears of a solver is one instance of the theory; here are others, which bring
their own method (`mirror_maps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from gammabar.papers import Case, Relation, at_most, direct, fact
from gammabar.papers.ji_srebro_telgarsky_2021.mirror_maps import Move, dot, minus, runs

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
def lemma_b3(case: Case) -> Iterator[Relation]:
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
def theorem_b12(case: Case) -> Iterator[Relation]:
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
