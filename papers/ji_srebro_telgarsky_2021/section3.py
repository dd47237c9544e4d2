"""Section 3, Analysis of Algorithm 1: Theorem 3.1.

Rows of A are y_i x_i, the paper's Z is −A, and the momentum of the solver is minus the paper's g_t;
norms are the same.

Section 3.1, Motivation from Gradient Descent.

Rows of A are y_i x_i and the paper's Z is −A, so that ZZᵀ = AAᵀ and (Zw)_i = −(Aw)_i.

Section 3.2, Primal and Dual Updates: acceleration of the dual is momentum in the primal.

Rows of A are y_i x_i: Aᵀq_t, Aᵀμ_t and the momentum of the solver are minus the paper's Zᵀq_t,
Zᵀμ_t and g_t, and each identity is checked with both sides negated.

Section 3.3, Margin Analysis.

Rows of A are y_i x_i and the paper's Z is −A; norms are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import arb_mat

from gammabar.oracle.rational import exact_rows
from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    LinearSpace,
    Number,
    Relation,
    Trit,
    Vec,
    View,
    at_most,
    ball,
    direct,
    equal,
    exp,
    fact,
    log,
    nearly,
    number,
    per_iterate,
    positive,
    scaled,
    separable,
    size_of,
    weighted_sum,
)
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import (
    ABOUT_DATA,
    BOTH_FORMS,
    ONE_ROW,
    SECTION_3,
    SEPARABLE,
    THEOREM_3_1,
    Sequences,
    accelerated,
    alignment,
    claimed_pull,
    exact_and_separable,
    exact_dual,
    exponential,
    full_step,
    in_simplex,
    momentum_follows,
    no_vector,
    proper_step,
    rational,
    same_vector,
    several_rows,
    starts_at_one,
    unit_ball,
)


def rate(case: Case, t: int, gamma: Number) -> Number:
    """4(1 + ln n)(1 + 2 ln(t + 1)) / (γ (t + 1)²)."""
    return 4 * (1 + case.log_n) * (1 + 2 * log(t + 1)) / (gamma * (t + 1) ** 2)


@per_iterate(
    "jst.thm3.1.1",
    reference="Theorem 3.1(1)",
    claim=r"\gamma(w_t) \ge \bar\gamma - \frac{4(1+\ln(n))(1+2\ln(t+1))}{\bar\gamma(t+1)^2}"
    r" \quad \text{for all } t \ge 1, \text{ if the dataset is separable}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    problems=(ONE_ROW,),
    slower="dual-acceleration/no-momentum",
)
def margin_rate(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄ − 4(1 + ln n)(1 + 2 ln(t+1)) / (γ̄ (t+1)²) for all t ≥ 1, on separable data."""
    gamma = case.gamma
    return at_most(gamma - it.margin, rate(case, it.t, gamma), "γ̄ − γ(w_t) ≤ the rate")


@per_iterate(
    "jst.thm3.1.2",
    reference="Theorem 3.1(2)",
    claim=r"\frac{4\|g_t\|_2^2}{t^2} - \frac{8\ln(n)}{(t+1)^2} \le \bar\gamma^2"
    r" \le \frac{4\|g_t\|_2^2}{t^2} \quad \text{for all } t \ge 1, \text{ for any dataset}",
    solvers=BOTH_FORMS,
    assumes=THEOREM_3_1,
    since=1,
    unit=True,
    history=(Sequences,),
    slower="dual-acceleration/plain-average",
)
def squared_margin(it: View, case: Case) -> list[Relation]:
    """4‖g_t‖²/t² − 8 ln n/(t+1)² ≤ γ̄² ≤ 4‖g_t‖²/t² for all t ≥ 1, for any data.

    g_t is the momentum that the solver claims, if it is the one that follows from the iterates; the
    dual form has none, so it is followed there.
    """
    seen = case.history(Sequences)
    if isinstance(seen.momentum, Relation):
        return [seen.momentum]
    length = seen.g.norm() if seen.momentum is None else seen.momentum.norm(exact=it.level > 0)
    t, square = it.t, case.gamma_squared
    top = 4 * length * length / t**2
    return [
        *([] if seen.momentum is None else [it.once(momentum_follows)]),
        at_most(top - square, 8 * case.log_n / (t + 1) ** 2, "4‖g_t‖²/t² − γ̄² ≤ 8 ln n/(t+1)²"),
        at_most(square, top, "γ̄² ≤ 4‖g_t‖²/t²"),
    ]


DESCENT = ("gradient-descent", "normalized-gradient-descent")


def says_theta(case: Case) -> str | None:
    """The solver says which θ_t it uses."""
    named = getattr(getattr(case.solver, "card", None), "name", "")
    known = named and positive(case, "step") is not None
    return None if known else "the solver does not say which θ_t it uses"


def theta(it: View) -> Number:
    """θ_t of a solver that says it: η R(w_t) for descent, and its step for normalised descent."""
    solver = it.case.solver
    step = number(float(solver.step))
    if solver.card.name == "gradient-descent":
        return step * exp(it.psi) / it.n
    return step / (number(it.t + 1).sqrt() if getattr(solver, "decay", False) else 1)


@per_iterate(
    "jst.sec3.1.mirror",
    reference="Section 3.1",
    claim=r"w_{t+1} = w_t - \theta_t Z^\top q_t, \quad q_{t+1} \propto q_t \odot"
    r" \exp(-\theta_t \nabla\phi(q_t)), \quad \theta_t = \eta_t \mathcal{R}(w_t)",
    kind="identity",
    solvers=DESCENT,
    assumes=(exponential,),
    since=1,
    unit=True,
    note="It is checked one step late, when w_{t+1} is known. For normalised descent θ_t is its"
    " step. A solver that says neither is taken for descent with some θ_t, the one that fits best.",
)
class MirrorDescent:
    """Gradient descent is mirror descent on φ(q) = ‖Zᵀq‖²/2: with θ_t = η_t R(w_t),
    w_{t+1} = w_t − θ_t Zᵀq_t and q_{t+1} ∝ q_t ⊙ exp(−θ_t ∇φ(q_t)).

    q_t ∝ exp(−A w_t), so that the second says that A(w_{t+1} − w_t) − θ_t A Aᵀq_t is the same for
    every row.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._before: View | None = None
        self._now: View | None = None

    def update(self, it: View) -> None:
        """Keep this iterate and the one before."""
        self._before, self._now = self._now, it

    def claim(self, it: View) -> list[Relation]:
        """What the step from t − 1 to t should be."""
        before = self._before
        assert before is not None
        pull, moved = before.pull, it.here - before.here
        theta = self._theta(before, moved)
        length = float(theta.mid())
        # θ_t as a solver has it: from a risk that is off by as much as ours, and a few roundoffs.
        error = abs(length) * (2 * float(before.psi.rad()) + 16 * ROUNDOFF)
        if says_theta(self._case) is not None:  # fitted, to a pull that may be known badly itself
            error += float(theta.rad())
        step = Vec(pull.space, length * pull.mid, scaled(length, pull).err + error * pull.size())
        return [
            same_vector(moved, step, "w_t − w_{t−1} = −θ_{t−1} Zᵀq_{t−1}"),
            self._proportional(it, before, step),
            fact(self._downhill(theta, before, moved), "θ_{t−1} = η_{t−1} R(w_{t−1}) > 0"),
        ]

    def _downhill(self, theta: Number, before: View, moved: Vec) -> Trit:
        """Whether θ_{t−1}, which may be fitted, is positive; a step that is lost in w may be."""
        if theta > 0:
            return True
        lost = moved.size() <= 4 * ROUNDOFF * before.here.size()
        return False if theta <= 0 and not lost else None

    def _theta(self, before: View, moved: Vec) -> Number:
        """θ_{t−1}."""
        if says_theta(self._case) is None:
            return theta(before)
        return moved.inner(before.pull) / (before.pull.norm() * before.pull.norm())

    def _proportional(self, it: View, before: View, step: Vec) -> Relation:
        """ln q_t − ln q_{t−1} + θ ∇φ(q_{t−1}) is the same for every row."""
        space = it.space
        slope = it.case.problem.scores(step.mid)  # θ A Aᵀq
        rest = it.score_doubles - before.score_doubles - slope
        spread = float(rest.max() - rest.min())
        error = it.score_error + before.score_error + space.score_error(step.mid)
        error += space.radius * (step.err + 4 * ROUNDOFF * (it.here.size() + step.size()))
        what = "q_t ∝ q_{t−1} ⊙ exp(−θ_{t−1} ∇φ(q_{t−1}))"
        error *= 2 * SAFETY
        # Sums of so many numbers, in the step and in the scores.
        terms = (it.n + space.dimension + 128) * space.radius
        size = size_of(float(np.ptp(slope)), terms * (it.here.size() + step.size()))
        return equal(ball(spread, error), 0, what, allowance=4 * error, size=size)


class Steps:
    """Σ_{j<t} θ_j, and the iterate before."""

    def __init__(self, case: Case) -> None:
        self.sum = self._next = number(0)
        self.before: View | None = None
        self._now: View | None = None

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        it.keep()
        self.before, self._now = self._now, it
        self.sum = self._next
        self._next = self.sum + theta(it)


@per_iterate(
    "jst.sec3.1.descent",
    at_rest="the risk of a solver that stands still does not increase",
    reference="Section 3.1, the display on data that are not separable",
    kind="limit",
    claim=r"\phi(q_t) = \frac{\|\nabla\mathcal{R}(w_t)\|_2^2}{2\mathcal{R}(w_t)^2} \to 0, \quad"
    r" \mathcal{R}(w_t) \text{ is nonincreasing}, \quad \text{with a proper step size, if the"
    r" dataset is not separable}",
    solvers=DESCENT,
    assumes=(exponential, proper_step, says_theta),
    since=1,
    unit=True,
    history=(Steps,),
    instances="steps with θ_t ≤ 1",
    note="The text does not say which step is proper: θ_t = η_tR(w_t) ≤ 1 is. Checked as"
    " φ(q_t) ≤ ln n/(2Σ_{j<t} θ_j), which tends to 0; the proof is in the source. That R(w_t) does"
    " not increase is so for separable data as well.",
)
def dual_objective_vanishes(it: View, case: Case) -> list[Relation]:
    """With steps θ_t ≤ 1 the risk of gradient descent does not increase, and on data that are not
    separable φ(q_t) tends to 0.

    Proof of the rate. Let p_t = Zw_t and g_t = Zᵀq_t. ψ(p_t) − ψ(p_{t+1}) is
    ⟨q_{t+1}, p_t − p_{t+1}⟩ + KL(q_{t+1}, q_t), since KL(q_{t+1}, q_t) is the Bregman distance of ψ
    from p_{t+1} to p_t. The product is θ_t⟨g_{t+1}, g_t⟩, and KL ≥ ½‖q_{t+1} − q_t‖₁² ≥
    ½‖g_{t+1} − g_t‖², for rows have norm at most one. So for θ_t ≤ 1

        ψ(p_t) − ψ(p_{t+1}) ≥ ½θ_t (‖g_t‖² + ‖g_{t+1}‖²) = θ_t (φ(q_t) + φ(q_{t+1})) ≥ 0.

    φ(q_t) does not increase: it is 1-smooth in ℓ₁, and the step of mirror descent has
    θ_t⟨∇φ(q_t), q_{t+1} − q_t⟩ ≤ −KL(q_{t+1}, q_t) − KL(q_t, q_{t+1}) ≤ −‖q_{t+1} − q_t‖₁². If no
    w separates the data, ψ(p_t) ≥ max_i ⟨z_i, w_t⟩ ≥ 0; so the sum of all this is at most ln n,
    and 2φ(q_t) Σ_{j<t} θ_j ≤ ln n. The sum of the θ_j is infinite: R(w_j) ≥ 1/n. ∎
    """
    steps: Steps = case.history(Steps)
    assert steps.before is not None
    before = steps.before.at(it.level) if it.level else steps.before
    # w_t is rounded once: its scores, and ψ with them, move by as much at most.
    rounding = 8 * ROUNDOFF * it.space.radius * it.here.size()
    # What the step is expected to gain: θ φ(q_{t−1}) and more, see the proof.
    gain = theta(before) * before.pull.norm() ** 2 / 2
    size = size_of(gain, it.space.radius * it.here.size())
    what = "ln R(w_t) ≤ ln R(w_{t−1})"
    found = [nearly(it.psi, before.psi, what, rounding=rounding, size=size)]
    if case.separable is False:
        square = it.pull.norm() * it.pull.norm()
        bound = case.log_n / (2 * steps.sum)
        found.append(at_most(square / 2, bound, "φ(q_t) ≤ ln n/(2Σθ_j)"))
    return found


@per_iterate(
    "jst.sec3.1.direction",
    reference="Section 3.1, last paragraph but one",
    kind="limit",
    claim=r"\text{If the dataset is separable, } w_t/\|w_t\|_2 \to \bar u",
    solvers=DESCENT,
    assumes=(exponential, proper_step, says_theta, separable, exact_dual, several_rows),
    since=1,
    unit=True,
    history=(Steps,),
    instances="steps with θ_t ≤ 1",
    note="Checked as ‖w_t/‖w_t‖ − ū‖² ≤ 2 ln n/(γ̄‖w_t‖) ≤ 2 ln n/(γ̄² Σ_{j<t} θ_j), which tends to"
    " 0; the proof is in the source.",
)
def direction(it: View, case: Case) -> list[Relation] | None:
    """On separable data the directions of gradient descent with steps θ_t ≤ 1 tend to the
    maximum-margin predictor.

    Proof of the rate. As in `dual_objective_vanishes`, ψ(Zw_t) − ψ(Zw_{t+1}) is at least
    ½θ_t (‖g_t‖² + ‖g_{t+1}‖²) ≥ θ_t‖g_t‖‖g_{t+1}‖ ≥ γ̄ θ_t‖g_t‖. These are the lengths of the steps,
    so −ψ(Zw_t) ≥ γ̄‖w_t‖ − ln n and γ(w_t) ≥ −ψ(Zw_t)/‖w_t‖ ≥ γ̄ − ln n/‖w_t‖. Since
    γ(w) ≤ ⟨Aᵀq̄, w⟩/‖w‖ = γ̄⟨ū, w/‖w‖⟩, the square ‖w/‖w‖ − ū‖² = 2 − 2⟨ū, w/‖w‖⟩ is at most
    2(γ̄ − γ(w))/γ̄. And ‖w_t‖ ≥ ⟨w_t, ū⟩ ≥ γ̄ Σθ_j. If Σθ_j were finite, w_t and with it R(w_t)
    would have limits, the latter not 0, and θ_j = η_jR(w_j) would not tend to 0. ∎
    """
    if it.at_origin:
        return None
    apart = 2 - 2 * it.toward / (case.gamma * it.norm)
    bound = 2 * case.log_n / (case.gamma * it.norm)
    least = case.gamma * case.history(Steps).sum
    rounding = 8 * it.t * ROUNDOFF * it.n * it.here.size()
    return [
        at_most(apart, bound, "‖w_t/‖w_t‖ − ū‖² ≤ 2 ln n/(γ̄‖w_t‖)"),
        # Orthogonal rows attain it: the rounding of t steps is allowed for.
        nearly(least, it.norm, "γ̄Σθ_j ≤ ‖w_t‖", rounding=rounding, size=size_of(least)),
    ]


@direct(
    "jst.sec3.1.align",
    reference="Section 3.1",
    claim=r"Z^\top \bar q = \bar\gamma \bar u, \quad \text{for }"
    r" \bar q \in \arg\min_{q \in \Delta_n} \phi(q)",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    status="refuted",
    fixed_by="jst.sec3.1.align.fixed",
    severity="misprint",
    survives="Everything: the line motivates the method. Lemma A.1 has the sign, and the "
    "proofs use −⟨z_i, ū⟩ ≥ γ̄, which is right.",
    why="Both texts lack the minus that Lemma A.1 has, and nothing is built on the sign.",
    charitable="jst.sec3.1.align.fixed",
    powerless=ABOUT_DATA,
    note="The sign is wrong: Z = −A, and ū is the maximum-margin predictor of Section 2. Smallest"
    " witness: n = d = 1, x_1 = 1, y_1 = 1: Zᵀq̄ = −1 on the left, γ̄ū = 1 on the right. Lemma A.1"
    " has the minus.",
)
def aligned_as_printed(case: Case) -> Iterator[Relation]:
    """Zᵀq̄ = γ̄ū for every dual optimum q̄ and the maximum-margin classifier ū, without a minus."""
    yield from alignment(case, 1, 1, "Zᵀq̄ = γ̄ū")


@direct(
    "jst.sec3.1.align.fixed",
    reference="Section 3.1, with a minus",
    claim=r"-Z^\top \bar q = \bar\gamma \bar u, \quad \text{for }"
    r" \bar q \in \arg\min_{q \in \Delta_n} \phi(q)",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    powerless=ABOUT_DATA,
)
def aligned(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for every dual optimum q̄ and the maximum-margin classifier ū of separable data."""
    yield from alignment(case, -1, 1, "−Zᵀq̄ = γ̄ū")


@direct(
    "jst.sec3.1.smooth",
    reference="Section 3.1 and Appendix C",
    kind="anytime",
    claim=r"\phi \text{ is 1-smooth with respect to the } \ell_1 \text{ norm: }"
    r" \|\nabla\phi(q) - \nabla\phi(q')\|_\infty \le \|q - q'\|_1",
    problems=("planted:n=20,d=4,gamma=0.1,seed=0", "inseparable:n=20,d=3,seed=0"),
    instances="vertices of Δ_n and random points",
    unit=True,
    powerless=ABOUT_DATA,
    note="|⟨a_i, Aᵀ(q − q′)⟩| ≤ ‖a_i‖ Σ_j |q_j − q′_j| ‖a_j‖, and rows have norm at most one.",
)
def smooth_dual(case: Case) -> Iterator[Relation]:
    """The gradient ZZᵀq of φ moves by at most ‖q − q′‖₁ in each entry."""
    n, rng = case.n, case.rng(31)
    points = [[Fraction(int(i == j)) for j in range(n)] for i in range(3)]
    points += [
        [Fraction(v, sum(row)) for v in row] for row in rng.integers(1, 100, (3, n)).tolist()
    ]
    exact = None if rational(case) else _unit_gram(case)
    for a, b in combinations(points, 2):
        apart = [x - y for x, y in zip(a, b, strict=True)]
        far, what = sum(map(abs, apart), Fraction(0)), "|∇φ(q) − ∇φ(q′)|_i ≤ ‖q − q′‖₁"
        if exact is None:
            moved = case.space.gram() * arb_mat(n, 1, [number(v) for v in apart])
            yield from (at_most(abs(entry), number(far), what) for entry in moved.entries())
            continue
        for row in exact:
            entry = abs(sum((g * v for g, v in zip(row, apart, strict=True)), Fraction(0)))
            # Opposite rows of norm one attain it, which balls of 1/R² could not tell.
            equal_sides = entry == far
            yield fact(True, what) if equal_sides else at_most(number(entry), number(far), what)


def _unit_gram(case: Case) -> list[list[Fraction]]:
    """⟨a_i, a_j⟩ of the rows in the unit ball, exactly."""
    integers, unit = exact_rows(case.problem.raw()).gram(np.arange(case.n))
    unit /= case.truth.radius_squared_lo or 1
    return [[int(v) * unit for v in row] for row in integers.tolist()]


@per_iterate(
    "jst.lem3.2",
    reference="Lemma 3.2",
    claim=r"\phi(\mu_t) - \phi(\bar q) \le \frac{4\ln(n)}{(t+1)^2} \quad \text{for all } t \ge 1"
    r" \text{ and } \bar q \in \arg\min_{q\in\Delta_n} \phi(q)",
    solvers=BOTH_FORMS,
    assumes=THEOREM_3_1,
    since=1,
    unit=True,
    history=(Sequences,),
    slower="dual-acceleration/plain-average",
)
def dual_rate(it: View, case: Case) -> list[Relation]:
    """φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)² for all t ≥ 1, with φ(q) = ‖Zᵀq‖²/2, for any data.

    μ_t is followed along the iterates; what the solver says under that name must be in Δ_n, and
    have the same Zᵀμ_t.
    """
    seen = case.history(Sequences)
    # φ(q̄) = γ̄²/2: Lemma A.1.
    gap = (seen.mu_square - case.gamma_squared) / 2
    found = [at_most(gap, 4 * case.log_n / (it.t + 1) ** 2, "φ(μ_t) − φ(q̄) ≤ 4 ln n/(t+1)²")]
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        if isinstance(mu, Relation):
            return [mu]
        what = "Zᵀμ_t is that of the iterates"
        found += [in_simplex(it, it.extra["mu"], "μ_t"), same_vector(mu, seen.mu, what, seen.drift)]
    return found


@per_iterate(
    "jst.lem3.4.primal",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½",
    reference="Lemma 3.4, first display",
    claim=r"w_{t+1} = w_t - \theta_t (g_t + Z^\top q_t) \quad \text{for all } t \ge 0,"
    r" \text{ where } g_0 := 0,\ g_t := \frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t}"
    r" (g_{t-1} + Z^\top q_t)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, proper_step, starts_at_one),
    unit=True,
    history=(Sequences,),
    note="It is checked one step late, when w_{t+1} is known; at t = 0 that w_0 = 0.",
)
def primal_step(it: View, case: Case) -> Relation:
    """w_{t+1} = w_t − θ_t (g_t + Zᵀq_t) for all t ≥ 0, where g_0 = 0 and
    g_t = λ_{t−1}(1 − λ_t)/λ_t (g_{t−1} + Zᵀq_t); λ_0 = 1.

    g_t is followed, not taken from the solver.
    """
    seen = case.history(Sequences)
    if seen.last_step is None:
        return fact(not it.w.any(), "w_0 = 0")
    what = "w_t − w_{t−1} = −θ_{t−1} (g_{t−1} + Zᵀq_{t−1})"
    gap = weighted_sum(1.0, it.here, -1.0, seen.last, -1.0, seen.last_step)
    return no_vector(gap, seen.last_step, what, seen.momentum_drift)


@per_iterate(
    "jst.lem3.4.momentum",
    reference="Lemma 3.4, closed form of g_t",
    claim=r"\frac{\lambda_{t-1}(1-\lambda_t)}{\lambda_t} = \frac{t}{t+1} \quad \text{and} \quad"
    r" g_t = \sum_{j=1}^t \frac{j}{t+1} Z^\top q_j \quad \text{for } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated),
    unit=True,
    history=(Sequences,),
    note="g_t is the momentum that the solver claims. The dual form claims ν_t, and there it is"
    " Zᵀν_t/λ_t − Zᵀq_t, as in the proof (Lemma C.3).",
)
def momentum_is_a_sum(it: View, case: Case) -> Relation | None:
    """g_t = Σ_{j=1}^t j/(t+1) Zᵀq_j for λ_t = 2/(t+2), that is λ_{t−1}(1−λ_t)/λ_t = t/(t+1)."""
    seen = case.history(Sequences)
    if isinstance(seen.momentum, Vec):
        return it.once(momentum_follows)
    momentum = claimed_momentum(it, seen)
    if momentum is None:
        it.claim("momentum")  # says that there is none
    if not isinstance(momentum, Vec):
        return momentum
    what = "g_t = Σ_j j/(t+1) Zᵀq_j"
    return same_vector(momentum, seen.weighted, what, seen.momentum_drift, 1 / (it.t + 1))


def claimed_momentum(it: View, seen: Sequences) -> Vec | Relation | None:
    """g_t as the solver claims it, or None if it claims nothing that tells."""
    if seen.momentum is not None or "nu" not in it.extra:
        return seen.momentum
    nu = claimed_pull(it, it.extra["nu"], "ν_t")
    if isinstance(nu, Relation):
        return nu
    return weighted_sum((it.t + 2) / 2, nu, -1.0, it.pull)  # 1/λ_t = (t + 2)/2


def same_space(case: Case) -> str | None:
    """d = n, so that Zᵀμ_t ∈ ℝᵈ and q_t ∈ ℝⁿ can be equal at all."""
    if not isinstance(case.space, LinearSpace):
        return "Zᵀμ_t and q_t are of different spaces"
    n, d = case.n, case.space.dimension
    return None if n == d else f"Zᵀμ_t has {d} entries and q_t has {n}"


@per_iterate(
    "jst.lem3.4.mu",
    reference="Lemma 3.4, last line",
    claim=r"Z^\top\mu_t = 2q_t/t \quad \text{for } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated, same_space),
    since=1,
    unit=True,
    history=(Sequences,),
    status="refuted",
    fixed_by="jst.lem3.4.mu.fixed",
    severity="transcription",
    survives="Everything: Theorem 3.1(2) is drawn from φ(μ_t) = 4‖g_t‖²/(2t²), that is, "
    "from the line as it is meant.",
    why="The other text prints 2g_t/t, and so does this one in Lemma C.3.",
    charitable="jst.lem3.4.mu.fixed",
    problems=(ONE_ROW, "loss-spike"),
    note="The left is a vector of ℝᵈ and q_t one of Δ_n: it has a meaning for n = d only, and is"
    " false there. Smallest witness: n = d = 1, x_1 = 1, y_1 = 1, so Z = (−1), μ_1 = q_1 = (1),"
    " t = 1: Zᵀμ_1 = −1 on the left, 2q_1/1 = 2 on the right. The other text of the paper prints"
    " Zᵀμ_t = 2g_t/t, as Lemma C.3 does here: a slip of transcription.",
)
def mu_is_weights(it: View, case: Case) -> Relation:
    """Zᵀμ_t = 2q_t/t for λ_t = 2/(t+2), with the weights q_t in place of the momentum g_t."""
    seen = case.history(Sequences)
    weights = softmax(it)
    # Zᵀμ_t = −Aᵀμ_t; both sides negated.
    return same_vector(seen.mu, weights, "Zᵀμ_t = 2q_t/t", factor=-2 / it.t)


def softmax(it: View) -> Vec:
    """q_t in doubles, as a vector of ℝⁿ."""
    scores = it.score_doubles
    raw = np.exp(scores.min() - scores)
    # Scores off by e change a weight by a factor of at most exp(2e); exponentials and sum the rest.
    error = np.expm1(2 * it.score_error) + (it.n + 16) * ROUNDOFF
    # TINY: exponentials and quotients of fewer than 2^74 rows that underflow lose η each.
    return it.vec(raw / raw.sum(), float(error) * SAFETY + TINY)


@per_iterate(
    "jst.lem3.4.mu.fixed",
    reference="Lemma 3.4, last line, with g_t for q_t",
    claim=r"Z^\top\mu_t = 2g_t/t \quad \text{for all } t \ge 1 \text{ and } \lambda_t = 2/(t+2)",
    kind="identity",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, accelerated),
    since=1,
    unit=True,
    history=(Sequences,),
)
def mu_is_momentum(it: View, case: Case) -> Relation | None:
    """Zᵀμ_t = 2g_t/t for all t ≥ 1 and λ_t = 2/(t+2).

    What the solver claims, μ_t or g_t, is compared with the other as it is followed.
    """
    seen, what = case.history(Sequences), "Zᵀμ_t = 2g_t/t"
    if "mu" in it.extra:
        mu = claimed_pull(it, it.extra["mu"], "μ_t")
        if isinstance(mu, Relation):
            return mu
        return same_vector(mu, seen.g, what, seen.drift, 2 / it.t)
    momentum = seen.momentum
    if momentum is None:
        it.claim("momentum")  # says that there is none
    if not isinstance(momentum, Vec):
        return momentum
    return same_vector(seen.mu, momentum, what, seen.drift, 2 / it.t)


@per_iterate(
    "jst.lem3.5",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½",
    reference="Lemma 3.5",
    claim=r"-\psi(Zw_t) \ge -\psi(Zw_0) + \frac{1}{2\lambda_{t-1}^2} \|Z^\top\mu_t\|_2^2"
    r" + \sum_{j=1}^{t-1} \frac12 \left(\frac{1}{\lambda_{j-1}^2}"
    r" - \frac{1-\lambda_j}{\lambda_j^2}\right) \|Z^\top\mu_j\|_2^2"
    r" + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2 \quad \text{for all } t \ge 1",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, starts_at_one, unit_ball),
    since=1,
    unit=True,
    history=(Sequences,),
    slower="dual-acceleration/no-momentum",
)
def potential_ascent(it: View, case: Case) -> Relation:
    """−ψ(Zw_t) ≥ −ψ(Zw_0) + ‖Zᵀμ_t‖²/(2λ_{t−1}²) + Σ_{j=1}^{t−1} ½(1/λ_{j−1}² − (1−λ_j)/λ_j²)
    ‖Zᵀμ_j‖² + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j) for all t ≥ 1, for θ_t = 1, λ_0 = 1 and any data.

    w_0 = 0, so that ψ(Zw_0) = ln n.
    """
    seen = case.history(Sequences)
    reciprocal = seen.last_reciprocal
    squares = reciprocal * reciprocal * seen.mu_square + seen.mu_squares + seen.nu_squares
    return at_most(squares / 2, case.log_n - it.psi, "the lower bound ≤ ψ(Zw_0) − ψ(Zw_t)")


@per_iterate(
    "jst.lem3.6.lower",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½, ½",
    reference="Lemma 3.6, first inequality",
    claim=r"\sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \le \|w_t\|_2",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, unit_ball),
    unit=True,
    history=(Sequences,),
    note="On data that are not separable γ̄ = 0, and it says nothing.",
    slower="dual-acceleration/no-momentum",
)
def norm_grows(it: View, case: Case) -> Relation:
    """Σ_{j<t} γ̄/λ_j ≤ ‖w_t‖ for θ_t = 1."""
    return at_most(case.gamma * case.history(Sequences).scale, it.norm, "Σ_j γ̄/λ_j ≤ ‖w_t‖")


@per_iterate(
    "jst.lem3.6.upper",
    instances="λ_t = 2/(t+2), 3/(t+3), 1, λ²_{t+1} = (1 − λ_{t+1})λ²_t, and 1 followed by ½, ½",
    reference="Lemma 3.6, second inequality",
    claim=r"\|w_t\|_2 \le \sum_{j=0}^{t-1} \frac{1}{\lambda_j} \|Z^\top\nu_j\|_2",
    solvers=BOTH_FORMS,
    assumes=(*SECTION_3, full_step, unit_ball),
    unit=True,
    history=(Sequences,),
    note="With equality at t = 1, and as long as all Zᵀν_j have one direction, as with d = 1: no"
    " precision decides that for steps in doubles, so the bound is widened by their rounding, which"
    " is some 10⁻¹² of it.",
    at_rest="it bounds ‖w_t‖ from above, and the bound grows",
)
def norm_is_bounded(it: View, case: Case) -> Relation:
    """‖w_t‖ ≤ Σ_{j<t} ‖Zᵀν_j‖/λ_j for θ_t = 1."""
    seen = case.history(Sequences)
    rounding, size = seen.rounding + 2 * float(seen.path.rad()), size_of(seen.path)
    return nearly(it.norm, seen.path, "‖w_t‖ ≤ Σ_j ‖Zᵀν_j‖/λ_j", rounding=rounding, size=size)


@per_iterate(
    "jst.eq3.8",
    reference="Eq. (3.8)",
    claim=r"-\psi(Zw_t) \ge -\psi(Zw_0) + \sum_{j=0}^{t-1} \frac{1}{2\lambda_j}"
    r" \|Z^\top\nu_j\|_2^2",
    solvers=BOTH_FORMS,
    assumes=THEOREM_3_1,
    since=1,
    unit=True,
    history=(Sequences,),
)
def potential_ascent_of_nu(it: View, case: Case) -> Relation:
    """−ψ(Zw_t) ≥ −ψ(Zw_0) + Σ_{j<t} ‖Zᵀν_j‖²/(2λ_j), for any data."""
    squares = case.history(Sequences).nu_squares
    return at_most(squares / 2, case.log_n - it.psi, "Σ ‖Zᵀν_j‖²/(2λ_j) ≤ ψ(Zw_0) − ψ(Zw_t)")


@per_iterate(
    "jst.eq3.9",
    reference="Eq. (3.9)",
    claim=r"\frac{\psi(Zw_0) - \psi(Zw_t)}{\|w_t\|_2} \ge \frac{\sum_{j=0}^{t-1}"
    r" \frac{1}{2\lambda_j} \|Z^\top\nu_j\|_2^2}{\sum_{j=0}^{t-1} \frac{1}{\lambda_j}"
    r" \|Z^\top\nu_j\|_2} \ge \frac{\bar\gamma}{2}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    history=(Sequences,),
    at_rest="a ratio that is good at w_1 stays so",
)
def smoothed_margin(it: View, case: Case) -> list[Relation]:
    """(ψ(Zw_0) − ψ(Zw_t))/‖w_t‖ ≥ Σ_j ‖Zᵀν_j‖²/(2λ_j)/Σ_j ‖Zᵀν_j‖/λ_j ≥ γ̄/2, on separable data."""
    seen = case.history(Sequences)
    middle = seen.nu_squares / (2 * seen.path)
    return [
        at_most(middle, (case.log_n - it.psi) / it.norm, "the middle ≤ (ψ(Zw_0) − ψ(Zw_t))/‖w_t‖"),
        at_most(case.gamma / 2, middle, "γ̄/2 ≤ the middle"),
    ]


@per_iterate(
    "jst.eq3.10",
    reference="Eq. (3.10) and the display before it",
    claim=r"\|w_t\|_2 \ge \sum_{j=0}^{t-1} \frac{\bar\gamma}{\lambda_j} \ge"
    r" \frac{\bar\gamma(t+1)^2}{4}, \quad \frac{\psi(Zw_0)}{\|w_t\|_2} ="
    r" \frac{\ln(n)}{\|w_t\|_2} \le \frac{4\ln(n)}{\bar\gamma(t+1)^2}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable, several_rows),
    since=1,
    unit=True,
    note="Σ_{j<t} 1/λ_j = t(t+3)/4 ≥ (t+1)²/4 for t ≥ 1; at t = 0 it is not.",
    slower="dual-acceleration/no-momentum",
)
def norm_against_rate(it: View, case: Case) -> list[Relation]:
    """‖w_t‖ ≥ Σ_{j<t} γ̄/λ_j ≥ γ̄(t+1)²/4 and ln n/‖w_t‖ ≤ 4 ln n/(γ̄(t+1)²) for all t ≥ 1, on
    separable data."""
    t = it.t
    return [
        fact(t * (t + 3) >= (t + 1) ** 2, "Σ_j 1/λ_j ≥ (t+1)²/4"),
        at_most(case.gamma * (t + 1) ** 2 / 4, it.norm, "γ̄(t+1)²/4 ≤ ‖w_t‖"),
        at_most(case.log_n / it.norm, 4 * case.log_n / (case.gamma * (t + 1) ** 2), "ln n/‖w_t‖ ≤"),
    ]


def half_margin(it: View, case: Case) -> Relation:
    """γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)."""
    gamma = case.gamma
    bound = 4 * case.log_n / (gamma * (it.t + 1) ** 2)
    return at_most(gamma / 2 - it.margin, bound, "γ̄/2 − γ(w_t) ≤ 4 ln n/(γ̄ (t+1)²)")


HALF = r"\gamma(w_t) \ge \frac{\bar\gamma}{2} - \frac{4\ln(n)}{\bar\gamma(t+1)^2}"


@per_iterate(
    "jst.prop3.7",
    reference="Proposition 3.7",
    claim=HALF,
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    unit=True,
    status="refuted",
    fixed_by="jst.prop3.7.fixed",
    severity="edge case",
    survives="Everything: Theorem 3.1(1) is about t ≥ 1, and (3.8) to (3.10), which its "
    "proof takes over, hold there.",
    why="It fails for a single row at t = 0 alone; for n ≥ 2 it is true for every t ≥ 0.",
    charitable="jst.prop3.7.charitable",
    problems=(ONE_ROW,),
    note="It names no range of t, and Algorithm 1 starts at t = 0, where γ(w_0) = γ(0) = 0. With"
    " one row ln n = 0, and the bound at t = 0 is γ̄/2 > 0. Smallest witness: n = d = 1, x_1 = 1,"
    " y_1 = 1, t = 0: γ̄ = 1, γ(w_0) = 0 on the left, 1/2 − 4·0/1 = 1/2 on the right. The proof"
    " divides by ‖w_t‖ and uses Σ_{j<t} 1/λ_j ≥ (t+1)²/4, which is so for t ≥ 1. For n ≥ 2 it holds"
    " at t = 0 as well, since γ̄² ≤ 1 ≤ 8 ln 2.",
)
def half_margin_always(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²), without a range of t."""
    return it.once(half_margin)


@per_iterate(
    "jst.prop3.7.fixed",
    reference="Proposition 3.7, for t ≥ 1",
    claim=HALF + r" \quad \text{for all } t \ge 1",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    since=1,
    unit=True,
    problems=(ONE_ROW,),
    slower="dual-acceleration/no-momentum",
)
def half_margin_since_one(it: View, case: Case) -> Relation:
    """γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²) for all t ≥ 1, on separable data."""
    return it.once(half_margin)


@per_iterate(
    "jst.prop3.7.charitable",
    reference="Proposition 3.7, for n ≥ 2",
    claim=r"n \ge 2:\ " + HALF,
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable, several_rows),
    unit=True,
    slower="dual-acceleration/no-momentum",
)
def half_margin_of_several(it: View, case: Case) -> Relation:
    """For two rows or more, γ(w_t) ≥ γ̄/2 − 4 ln n/(γ̄ (t+1)²) for all t ≥ 0, on separable data."""
    return it.once(half_margin)
