"""Section 3, Analysis of Algorithm 1."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from gammabar.oracle.rational import exact_rows
from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *

_theorem = jst.sharing(THEOREM_3_1, separable)
_rates = _theorem.sharing(since=1, slower=NO_MOMENTUM)
_run = jst.sharing(SECTION_3, Sequences)
_means = _run.sharing(accelerated, since=1)
_any_lambda = _run.sharing(starts_at_one, instances=LAMBDAS)
_full = _run.sharing(full_step, unit_ball, instances=LAMBDAS_3)


def rate(case: Case, t: int, gamma: Number) -> Number:
    """4(1 + ln n)(1 + 2 ln(t + 1)) / (γ (t + 1)²)."""
    return 4 * (1 + case.log_n) * (1 + 2 * log(t + 1)) / (gamma * (t + 1) ** 2)


@_rates.bound("thm3.1.1", "Theorem 3.1(1)", problems=(ONE_ROW,))
def _margin_rate(it, c):
    r"""γ(w_t) ≥ γ̄ − 4(1 + ln n)(1 + 2 ln(t+1)) / (γ̄ (t+1)²) for all t ≥ 1, on separable data.

    $\gamma(w_t) \ge \bar\gamma - \frac{4(1+\ln(n))(1+2\ln(t+1))}{\bar\gamma(t+1)^2} \quad \text{for
    all } t \ge 1, \text{ if the dataset is separable}$"""
    return at_most(c.gamma - it.margin, rate(c, it.t, c.gamma), "γ̄ − γ(w_t) ≤ the rate")


def _momentum_follows(it: View, case: Case) -> Relation:
    """That the momentum which the solver claims is Σ_j j/(t+1) Aᵀq_j, for λ_t = 2/(t + 2)."""
    seen: Sequences = case.history(Sequences)
    what, drift = "g_t = Σ_j j/(t+1) Zᵀq_j", seen.momentum_drift
    weighted = case.history(Momentum).weighted
    return same(it.once(claimed_momentum), weighted, what, drift, 1 / (it.t + 1))


@followed.bound("thm3.1.2", "Theorem 3.1(2)", THEOREM_3_1, Momentum, slower=PLAIN_AVERAGE)
def _squared_margin(it, c):
    r"""4‖g_t‖²/t² − 8 ln n/(t+1)² ≤ γ̄² ≤ 4‖g_t‖²/t² for all t ≥ 1, for any data.

    $\frac{4\|g_t\|_2^2}{t^2} - \frac{8\ln(n)}{(t+1)^2} \le \bar\gamma^2 \le
    \frac{4\|g_t\|_2^2}{t^2} \quad \text{for all } t \ge 1, \text{ for any dataset}$"""
    # g_t is the momentum that the solver claims, if it is the one that follows from the iterates.
    t, g = it.t, it.once(claimed_momentum)
    if isinstance(g, Relation):
        return [g]
    length = c.history(Momentum).g.norm() if g is None else g.norm(exact=it.level > 0)
    top, square = 4 * length * length / t**2, c.gamma_squared
    return [
        *([] if g is None else [it.once(_momentum_follows)]),
        at_most(top - square, 8 * c.log_n / (t + 1) ** 2, "4‖g_t‖²/t² − γ̄² ≤ 8 ln n/(t+1)²"),
        at_most(square, top, "γ̄² ≤ 4‖g_t‖²/t²"),
    ]


# Section 3.1, Motivation from Gradient Descent

_DESCENT = Method("gradient-descent", "normalized-gradient-descent", assumes=(exponential,))


def _says_theta(case: Case) -> str | None:
    """The solver says which θ_t it uses."""
    named = getattr(getattr(case.solver, "card", None), "name", "")
    known = named and positive(case, "step") is not None
    return None if known else "the solver does not say which θ_t it uses"


def _theta(it: View) -> Number:
    """θ_t of a solver that says it: η R(w_t) for descent, and its step for normalised descent."""
    solver = it.case.solver
    step = number(float(solver.step))
    if solver.card.name == "gradient-descent":
        return step * exp(it.psi) / it.n
    return step / (number(it.t + 1).sqrt() if getattr(solver, "decay", False) else 1)


def _fitted(now: View, before: View) -> Number:
    """θ_{t−1} of a solver that does not say it: the one that fits best."""
    return (now.here - before.here).inner(before.pull) / before.pull.norm() ** 2


@jst.identity("sec3.1.mirror", "Section 3.1", _DESCENT, since=1)
def _mirror_descent(now, before, c):
    r"""Gradient descent is mirror descent on φ(q) = ‖Zᵀq‖²/2: with θ_t = η_t R(w_t), w_{t+1} = w_t
    − θ_t Zᵀq_t and q_{t+1} ∝ q_t ⊙ exp(−θ_t ∇φ(q_t)).

    $w_{t+1} = w_t - \theta_t Z^\top q_t, \quad q_{t+1} \propto q_t \odot \exp(-\theta_t
    \nabla\phi(q_t)), \quad \theta_t = \eta_t \mathcal{R}(w_t)$

    It is checked one step late, when w_{t+1} is known. For normalised descent θ_t is its step. A
    solver that says neither is taken for descent with some θ_t, the one that fits best."""
    # q_t ∝ exp(−A w_t): so A(w_{t+1} − w_t) − θ_t A Aᵀq_t is the same for all rows.
    length = _theta(before) if _says_theta(c) is None else _fitted(now, before)
    step = before.pull * length
    change = scores_of(before, step)
    yield moved(now.here, before.here, step, "w_t − w_{t−1} = −θ_{t−1} Zᵀq_{t−1}")
    rest = scores_of(now) - scores_of(before) - change
    yield constant(rest, change, "q_t ∝ q_{t−1} ⊙ exp(−θ_{t−1} ∇φ(q_{t−1}))")
    # A step that is lost in w may be a positive one.
    lost = (now.here - before.here).size() <= roundoff(before.here.size())
    downhill = True if length > 0 else False if length <= 0 and not lost else None
    yield fact(downhill, "θ_{t−1} = η_{t−1} R(w_{t−1}) > 0")


class _Steps:
    """Σ_{j<t} θ_j."""

    def __init__(self, case: Case) -> None:
        self.sum = self._next = number(0)

    def update(self, it: View) -> None:
        self.sum, self._next = self._next, self._next + _theta(it)


#: Limits, for steps of which the solver says that they are at most 1.
_ABOUT = (_DESCENT, proper_step, _says_theta, _Steps)
_limits = jst.sharing(*_ABOUT, kind="limit", since=1, instances="steps with θ_t ≤ 1")


@_limits.bound("sec3.1.descent", "Section 3.1, the display on data that are not separable")
def _dual_objective_vanishes(now, before, c):
    r"""With steps θ_t ≤ 1 the risk of gradient descent does not increase, and on data that are not
    separable φ(q_t) tends to 0.

    $\phi(q_t) = \frac{\|\nabla\mathcal{R}(w_t)\|_2^2}{2\mathcal{R}(w_t)^2} \to 0, \quad
    \mathcal{R}(w_t) \text{ is nonincreasing}, \quad \text{with a proper step size, if the dataset
    is not separable}$

    The text does not say which step is proper: θ_t = η_tR(w_t) ≤ 1 is. Checked as φ(q_t) ≤ ln
    n/(2Σ_{j<t} θ_j), which tends to 0; the proof is in papers/gammabar/PROOFS.md. That R(w_t) does
    not increase is so for separable data as well.
    At rest: the risk of a solver that stands still does not increase"""
    # What the step is expected to gain at least.
    gain = _theta(before) * before.pull.norm() ** 2 / 2
    yield nearly_after(now, now.psi, before.psi, "ln R(w_t) ≤ ln R(w_{t−1})", beside=gain)
    if c.separable is False:
        bound = c.log_n / (2 * c.history(_Steps).sum)
        yield at_most(now.pull.norm() ** 2 / 2, bound, "φ(q_t) ≤ ln n/(2Σθ_j)")


@_limits.bound(
    "sec3.1.direction",
    "Section 3.1, last paragraph but one",
    separable,
    exact_dual,
    several_rows,
)
def _direction(it, c):
    r"""On separable data the directions of gradient descent with steps θ_t ≤ 1 tend to the
    maximum-margin predictor.

    $\text{If the dataset is separable, } w_t/\|w_t\|_2 \to \bar u$

    Checked as ‖w_t/‖w_t‖ − ū‖² ≤ 2 ln n/(γ̄‖w_t‖) ≤ 2 ln n/(γ̄² Σ_{j<t} θ_j), which tends to 0; the
    proof is in papers/gammabar/PROOFS.md."""
    if it.at_origin:
        return None
    apart = 2 - 2 * it.toward / (c.gamma * it.norm)
    least, what = c.gamma * c.history(_Steps).sum, "γ̄Σθ_j ≤ ‖w_t‖"
    return [
        at_most(apart, 2 * c.log_n / (c.gamma * it.norm), "‖w_t/‖w_t‖ − ū‖² ≤ 2 ln n/(γ̄‖w_t‖)"),
        # Orthogonal rows attain it: the rounding of t steps is allowed for.
        nearly_after(it, least, it.norm, what, beside=least, steps=it.t * it.n),
    ]


@aligned.direct("sec3.1.align", "Section 3.1", Erratum("misprint", ".fixed"))
@aligned.direct(
    "sec3.1.align.fixed",
    "Section 3.1, with a minus",
    words="−Zᵀq̄ = γ̄ū for every dual optimum q̄ and the maximum-margin classifier ū of separable"
    " data.",
    instead={r"Z^\top \bar q =": r"-Z^\top \bar q ="},
)
def _aligned(c, printed):
    r"""Zᵀq̄ = γ̄ū for every dual optimum q̄ and the maximum-margin classifier ū, without a minus.

    $Z^\top \bar q = \bar\gamma \bar u, \quad \text{for } \bar q \in \arg\min_{q \in \Delta_n}
    \phi(q)$"""
    return alignment(c, *((1, 1, "Zᵀq̄ = γ̄ū") if printed else (-1, 1, "−Zᵀq̄ = γ̄ū")))


@data.direct(
    "sec3.1.smooth",
    "Section 3.1 and Appendix C",
    kind="anytime",
    problems=("planted:n=20,d=4,gamma=0.1,seed=0", "inseparable:n=20,d=3,seed=0"),
    instances="vertices of Δ_n and random points",
)
def _smooth_dual(c):
    r"""The gradient ZZᵀq of φ moves by at most ‖q − q′‖₁ in each entry.

    $\phi \text{ is 1-smooth with respect to the } \ell_1 \text{ norm: } \|\nabla\phi(q) -
    \nabla\phi(q')\|_\infty \le \|q - q'\|_1$

    |⟨a_i, Aᵀ(q − q′)⟩| ≤ ‖a_i‖ Σ_j |q_j − q′_j| ‖a_j‖, and rows have norm at most one."""
    n, exact, what = c.n, rational(c) is None, "|∇φ(q) − ∇φ(q′)|_i ≤ ‖q − q′‖₁"
    draws = [*np.eye(n, dtype=int)[:3].tolist(), *c.rng(31).integers(1, 100, (3, n)).tolist()]
    points = [np.array([Fraction(v, sum(row)) for v in row]) for row in draws]
    gram = _unit_gram(c) if exact else np.array(c.space.gram().entries()).reshape(n, n)
    for a, b in combinations(points, 2):
        far = sum(abs(a - b), Fraction(0))
        for entry in abs(gram @ (a - b if exact else balls(a - b))):
            # Opposite rows of norm one attain it, which balls of 1/R² could not tell.
            tie = exact and entry == far
            yield fact(True, what) if tie else at_most(number(entry), number(far), what)


def _unit_gram(case: Case) -> Any:
    """⟨a_i, a_j⟩ of the rows in the unit ball, exactly."""
    integers, unit = exact_rows(case.problem.raw()).gram(np.arange(case.n))
    unit /= case.truth.radius_squared or 1
    return np.array([[int(v) * unit for v in row] for row in integers.tolist()])


# Section 3.2, Primal and Dual Updates


@followed.bound("lem3.2", "Lemma 3.2", THEOREM_3_1, slower=PLAIN_AVERAGE)
def _dual_rate(it, c):
    r"""φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)² for all t ≥ 1, with φ(q) = ‖Zᵀq‖²/2, for any data.

    $\phi(\mu_t) - \phi(\bar q) \le \frac{4\ln(n)}{(t+1)^2} \quad \text{for all } t \ge 1 \text{ and
    } \bar q \in \arg\min_{q\in\Delta_n} \phi(q)$"""
    now = c.history(Sequences).now
    # φ(q̄) = γ̄²/2: Lemma A.1.
    gap, bound = (now.mu_square - c.gamma_squared) / 2, 4 * c.log_n / (it.t + 1) ** 2
    yield at_most(gap, bound, "φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)²")
    if "mu" in it.extra:  # it must be in Δ_n, and have the Zᵀμ_t that is followed
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        yield in_simplex(it, it.extra["mu"], "μ_t")
        yield same(mu, now.mu, "Zᵀμ_t is that of the iterates", c.history(Sequences).drift)


@_any_lambda.identity("lem3.4.primal", "Lemma 3.4, first display", proper_step, Momentum)
def _primal_step(it, c):
    r"""w_{t+1} = w_t − θ_t (g_t + Zᵀq_t) for all t ≥ 0, where g_0 = 0 and g_t = λ_{t−1}(1 −
    λ_t)/λ_t (g_{t−1} + Zᵀq_t); λ_0 = 1.

    $w_{t+1} = w_t - \theta_t (g_t + Z^\top q_t) \quad \text{for all } t \ge 0, \text{ where } g_0
    := 0,\ g_t := \frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} (g_{t-1} + Z^\top q_t)$

    It is checked one step late, when w_{t+1} is known; at t = 0 that w_0 = 0."""
    return it.once(step_follows) if it.t else fact(not it.w.any(), "w_0 = 0")


@_run.identity("lem3.4.momentum", "Lemma 3.4, closed form of g_t", accelerated, Momentum)
def _momentum_is_a_sum(it, c):
    r"""g_t = Σ_{j=1}^t j/(t+1) Zᵀq_j for λ_t = 2/(t+2), that is λ_{t−1}(1−λ_t)/λ_t = t/(t+1).

    $\frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} = \frac{t}{t+1} \quad \text{and} \quad g_t =
    \sum_{j=1}^t \frac{j}{t+1} Z^\top q_j \quad \text{for } \lambda_t = 2/(t+2)$

    g_t is the momentum that the solver claims. The dual form claims ν_t, and there it is Zᵀν_t/λ_t
    − Zᵀq_t, as in the proof (Lemma C.3)."""
    if it.momentum is None and "nu" in it.extra:
        seen, nu = c.history(Sequences), claimed_pull(it, it.extra["nu"], "ν_t")
        if isinstance(nu, Relation):
            return nu
        g = weighted_sum((it.t + 2) / 2, nu, -1.0, it.pull)  # 1/λ_t = (t + 2)/2
        what, drift = "g_t = Σ_j j/(t+1) Zᵀq_j", seen.momentum_drift
        return same(g, c.history(Momentum).weighted, what, drift, 1 / (it.t + 1))
    it.claim("momentum")
    return it.once(_momentum_follows)


def _same_space(case: Case) -> str | None:
    """d = n, so that Zᵀμ_t ∈ ℝᵈ and q_t ∈ ℝⁿ can be equal at all."""
    if not isinstance(case.space, LinearSpace):
        return "Zᵀμ_t and q_t are of different spaces"
    n, d = case.n, case.space.dimension
    return None if n == d else f"Zᵀμ_t has {d} entries and q_t has {n}"


@_means.identity(
    "lem3.4.mu",
    "Lemma 3.4, last line",
    _same_space,
    Erratum("transcription", ".fixed"),
    problems=(ONE_ROW, "loss-spike"),
)
def _mu_is_weights(it, c):
    r"""Zᵀμ_t = 2q_t/t for λ_t = 2/(t+2), with the weights q_t in place of the momentum g_t.

    $Z^\top\mu_t = 2q_t/t \quad \text{for } \lambda_t = 2/(t+2)$"""
    # Zᵀμ_t = −Aᵀμ_t; both sides negated.
    mu = c.history(Sequences).now.mu
    return same(mu, softmax_vector(it), "Zᵀμ_t = 2q_t/t", factor=-2 / it.t)


@_means.identity("lem3.4.mu.fixed", "Lemma 3.4, last line, with g_t for q_t", Momentum)
def _mu_is_momentum(it, c):
    r"""Zᵀμ_t = 2g_t/t for all t ≥ 1 and λ_t = 2/(t+2).

    $Z^\top\mu_t = 2g_t/t \quad \text{for all } t \ge 1 \text{ and } \lambda_t = 2/(t+2)$"""
    # What the solver claims, μ_t or g_t, is compared with the other as it is followed.
    seen, what = c.history(Sequences), "Zᵀμ_t = 2g_t/t"
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        return same(mu, c.history(Momentum).g, what, seen.drift, 2 / it.t)
    it.claim("momentum")
    return same(seen.now.mu, it.once(claimed_momentum), what, seen.drift, 2 / it.t)


# Section 3.3, Margin Analysis


@_any_lambda.bound("lem3.5", "Lemma 3.5", full_step, unit_ball, since=1, slower=NO_MOMENTUM)
def _potential_ascent(it, c):
    r"""−ψ(Zw_t) ≥ −ψ(Zw_0) + ‖Zᵀμ_t‖²/(2λ_{t−1}²) + Σ_{j=1}^{t−1} ½(1/λ_{j−1}² − (1−λ_j)/λ_j²)
    ‖Zᵀμ_j‖² + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j) for all t ≥ 1, for θ_t = 1, λ_0 = 1 and any data.

    $-\psi(Zw_t) \ge -\psi(Zw_0) + \frac{1}{2\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2 + \sum_{j=1}^{t-1}
    \frac12 \left(\frac{1}{\lambda_{j-1}^2} - \frac{1-\lambda_j}{\lambda_j^2}\right)
    \|Z^\top\mu_j\|_2^2 + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2 \quad \text{for
    all } t \ge 1$"""
    squares = it.once(mu_part) + c.history(Sequences).nu_squares
    return at_most(squares / 2, c.log_n - it.psi, "the lower bound ≤ ψ(Zw_0) − ψ(Zw_t)")


@_full.bound("lem3.6.lower", "Lemma 3.6, first inequality", slower=NO_MOMENTUM)
def _norm_grows(it, c):
    r"""Σ_{j<t} γ̄/λ_j ≤ ‖w_t‖ for θ_t = 1.

    $\sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \le \|w_t\|_2$

    On data that are not separable γ̄ = 0, and it says nothing."""
    return at_most(c.gamma * c.history(Sequences).inverses, it.norm, "Σ_j γ̄/λ_j ≤ ‖w_t‖")


@_full.bound("lem3.6.upper", "Lemma 3.6, second inequality", Momentum)
def _norm_is_bounded(it, c):
    r"""‖w_t‖ ≤ Σ_{j<t} ‖Zᵀν_j‖/λ_j for θ_t = 1.

    $\|w_t\|_2 \le \sum_{j=0}^{t-1} \frac{1}{\lambda_j} \|Z^\top\nu_j\|_2$

    With equality at t = 1, and as long as all Zᵀν_j have one direction, as with d = 1: no precision
    decides that for steps in doubles, so the bound is widened by their rounding, which is some
    10⁻¹² of it.
    At rest: it bounds ‖w_t‖ from above, and the bound grows"""
    bound, what = c.history(Sequences).lengths, "‖w_t‖ ≤ Σ_j ‖Zᵀν_j‖/λ_j"
    rounding = c.history(Momentum).rounding + 2 * float(bound.rad())
    return nearly(it.norm, bound, what, rounding=rounding, size=size_of(bound))


@followed.bound("eq3.8", "Eq. (3.8)", THEOREM_3_1)
def _potential_ascent_of_nu(it, c):
    r"""−ψ(Zw_t) ≥ −ψ(Zw_0) + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j), for any data.

    $-\psi(Zw_t) \ge -\psi(Zw_0) + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2$"""
    squares = c.history(Sequences).nu_squares
    return at_most(squares / 2, c.log_n - it.psi, "Σ ‖Zᵀν_j‖²/(2λ_j) ≤ ψ(Zw_0) − ψ(Zw_t)")


@followed.bound(
    "eq3.9", "Eq. (3.9)", THEOREM_3_1, separable, at_rest="a ratio that is good at w_1 stays so"
)
def _smoothed_margin(it, c):
    r"""(ψ(Zw_0) − ψ(Zw_t))/‖w_t‖ ≥ Σ_j ‖Zᵀν_j‖²/(2λ_j)/Σ_j ‖Zᵀν_j‖/λ_j ≥ γ̄/2, on separable data.

    $\frac{\psi(Zw_0) - \psi(Zw_t)}{\|w_t\|_2} \ge \frac{\sum_{j=0}^{t-1} \frac{1}{2\lambda_j}
    \|Z^\top\nu_j\|_2^2}{\sum_{j=0}^{t-1} \frac{1}{\lambda_j} \|Z^\top\nu_j\|_2} \ge
    \frac{\bar\gamma}{2}$"""
    seen = c.history(Sequences)
    middle = seen.nu_squares / (2 * seen.lengths)
    return [
        at_most(middle, (c.log_n - it.psi) / it.norm, "the middle ≤ (ψ(Zw_0) − ψ(Zw_t))/‖w_t‖"),
        at_most(c.gamma / 2, middle, "γ̄/2 ≤ the middle"),
    ]


@_rates.bound("eq3.10", "Eq. (3.10) and the display before it", several_rows)
def _norm_against_rate(it, c):
    r"""‖w_t‖ ≥ Σ_{j<t} γ̄/λ_j ≥ γ̄(t+1)²/4 and ln n/‖w_t‖ ≤ 4 ln n/(γ̄(t+1)²) for all t ≥ 1, on
    separable data.

    $\|w_t\|_2 \ge \sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \ge \frac{\bar\gamma(t+1)^2}{4},
    \quad \frac{\psi(Zw_0)}{\|w_t\|_2} = \frac{\ln(n)}{\|w_t\|_2} \le
    \frac{4\ln(n)}{\bar\gamma(t+1)^2}$

    Σ_{j<t} 1/λ_j = t(t+3)/4 ≥ (t+1)²/4 for t ≥ 1; at t = 0 it is not."""
    t = it.t
    return [
        fact(t * (t + 3) >= (t + 1) ** 2, "Σ_j 1/λ_j ≥ (t+1)²/4"),
        at_most(c.gamma * (t + 1) ** 2 / 4, it.norm, "γ̄(t+1)²/4 ≤ ‖w_t‖"),
        at_most(c.log_n / it.norm, 4 * c.log_n / (c.gamma * (t + 1) ** 2), "ln n/‖w_t‖ ≤"),
    ]


_RANGE = ", without a range of t"


@_theorem.bound(
    "prop3.7",
    "Proposition 3.7",
    Erratum("edge case", ".fixed", charitable=".charitable"),
    problems=(ONE_ROW,),
)
@_rates.bound(
    "prop3.7.fixed",
    "Proposition 3.7, for t ≥ 1",
    problems=(ONE_ROW,),
    instead={
        _RANGE: " for all t ≥ 1, on separable data",
        "(t+1)^2}": r"(t+1)^2} \quad \text{for all } t \ge 1",
    },
)
@_rates.bound(
    "prop3.7.charitable",
    "Proposition 3.7, for n ≥ 2",
    several_rows,
    since=0,
    instead={
        _RANGE: " for all t ≥ 0, on separable data",
        "γ(w_t)": "For two rows or more, γ(w_t)",
        r"\gamma(w_t)": r"n \ge 2:\ \gamma(w_t)",
    },
)
def _half_margin(it, c):
    r"""γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²), without a range of t.

    $\gamma(w_t) \ge \frac{\bar\gamma}{2} - \frac{4\ln(n)}{\bar\gamma(t+1)^2}$"""
    bound = 4 * c.log_n / (c.gamma * (it.t + 1) ** 2)
    return at_most(c.gamma / 2 - it.margin, bound, "γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)")
