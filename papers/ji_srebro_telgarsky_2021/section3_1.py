"""Section 3.1, Motivation from Gradient Descent.

Rows of A are y_i x_i and the paper's Z is −A, so that ZZᵀ = AAᵀ and (Zw)_i = −(Aw)_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from flint import arb_mat

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Number,
    Relation,
    Trial,
    Vec,
    View,
    at_most,
    ball,
    direct,
    equal,
    exp,
    number,
    per_iterate,
    scaled,
    total,
)
from gammabar.papers.ji_srebro_telgarsky_2021.method import exponential
from gammabar.papers.ji_srebro_telgarsky_2021.optima import (
    ABOUT_DATA,
    SEPARABLE,
    alignment,
    exact_and_separable,
)
from gammabar.papers.ji_srebro_telgarsky_2021.vectors import same_vector


@per_iterate(
    "jst.sec3.1.mirror",
    reference="Section 3.1",
    claim=r"w_{t+1} = w_t - \theta_t Z^\top q_t, \quad q_{t+1} \propto q_t \odot"
    r" \exp(-\theta_t \nabla\phi(q_t)), \quad \theta_t = \eta_t \mathcal{R}(w_t)",
    kind="identity",
    solvers=("gradient-descent", "normalized-gradient-descent"),
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
        error = length * (2 * float(before.psi.rad()) + 16 * ROUNDOFF)
        step = Vec(pull.space, length * pull.mid, scaled(length, pull).err + error * pull.size())
        return [
            same_vector(moved, step, "w_t − w_{t−1} = −θ_{t−1} Zᵀq_{t−1}"),
            self._proportional(it, before, step),
        ]

    def _theta(self, before: View, moved: Vec) -> Number:
        """θ_{t−1}."""
        solver, t = self._case.solver, before.t
        step = getattr(solver, "step", None)
        name = getattr(getattr(solver, "card", None), "name", "")
        if step is None or not name:
            return moved.inner(before.pull) / (before.pull.norm() * before.pull.norm())
        if name == "gradient-descent":
            return number(float(step)) * exp(before.psi) / before.n
        decay = getattr(solver, "decay", False)
        return number(float(step)) / (number(t + 1).sqrt() if decay else 1)

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
        return equal(ball(spread, error), 0, what, allowance=4 * error)


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
    gram, n, rng = case.space.gram(), case.n, case.rng(31)
    points = [[int(i == j) for j in range(n)] for i in range(3)]
    points += [(row / row.sum()).tolist() for row in rng.integers(1, 100, (3, n)).astype(float)]
    for a, b in combinations(points, 2):
        apart = [number(x) - number(y) for x, y in zip(a, b, strict=True)]
        far = total(abs(v) for v in apart)
        for entry in (gram * arb_mat(n, 1, apart)).entries():
            yield at_most(abs(entry), far, "|∇φ(q) − ∇φ(q′)|_i ≤ ‖q − q′‖₁")


TRIALS = (
    Trial("gradient-descent", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("gradient-descent:step=0.5", "inseparable:n=40,d=5,seed=0", 100),
    Trial("gradient-descent", "iris:0,1:n=40 --kernel rbf:gamma=1", 50),
    Trial("normalized-gradient-descent", "gaussian:n=60,d=20,seed=2,separable=1", 100),
    Trial("normalized-gradient-descent:decay=1", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("normalized-gradient-descent", "digits:0,1,2:n=30 --multiclass", 50),
)
