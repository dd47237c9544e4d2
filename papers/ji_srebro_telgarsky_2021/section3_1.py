"""Section 3.1, Motivation from Gradient Descent.

Rows of A are y_i x_i and the paper's Z is −A, so that ZZᵀ = AAᵀ and (Zw)_i = −(Aw)_i.
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
    Case,
    Number,
    Relation,
    Trial,
    Trit,
    Vec,
    View,
    at_most,
    ball,
    direct,
    equal,
    exp,
    fact,
    nearly,
    number,
    per_iterate,
    positive,
    scaled,
    separable,
    size_of,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    exact_dual,
    exponential,
    proper_step,
    several_rows,
)
from gammabar.papers.ji_srebro_telgarsky_2021.optima import (
    ABOUT_DATA,
    SEPARABLE,
    alignment,
    exact_and_separable,
    rational,
)
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import same_vector

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


TRIALS = (
    Trial("gradient-descent", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("gradient-descent:step=0.5", "inseparable:n=40,d=5,seed=0", 100),
    Trial("gradient-descent", "iris:0,1:n=40 --kernel rbf:gamma=1", 50),
    Trial("normalized-gradient-descent", "gaussian:n=60,d=20,seed=2,separable=1", 100),
    Trial("normalized-gradient-descent:decay=1", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("normalized-gradient-descent", "digits:0,1,2:n=30 --multiclass", 50),
    Trial("normalized-gradient-descent", "opposed:r=10", 60),
    Trial("normalized-gradient-descent", "inseparable:n=40,d=5,seed=0", 60),
    Trial("gradient-descent", "orthogonal:n=10,p=0.3", 100),
)
