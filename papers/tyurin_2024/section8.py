"""Section 8, Future Work: the gradient step of a nonlinear model, and the implicit bias of LR+GD.

"The mathematical aspects in this section are not strict" (Section 8), so these are slips of no
consequence.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

from flint import arb, arb_series, ctx

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *

# The gradient step of a nonlinear model

#: g(a; θ): linear, a product of two layers, and a quadratic.
MODELS: dict[str, Callable[..., Any]] = {
    "⟨a, θ⟩": lambda a, w: a[0] * w[0] + a[1] * w[1],
    "a₁θ₁θ₂": lambda a, w: a[0] * w[0] * w[1],
    "a₁θ₁² + a₂θ₂": lambda a, w: a[0] * w[0] * w[0] + a[1] * w[1],
}
POINTS, LABELS = ((1, 2), (3, -1), (-2, 1)), (1, -1, -1)
THETAS, STEP = ((0.0, 0.0), (1.0, -2.0), (0.5, 3.0)), 2

#: In a search: one point, its label and the step; g(a; θ) = aθ at θ = 0.
NONLINEAR = tyurin.sharing(
    kind="identity",
    inputs={"a": rationals(-9, 9), "y": choices(1, -1), "step": rationals(positive=True)},
    powerless="no solver here has a nonlinear model",
)


_REFERENCE = "Section 8, the gradient step"


@NONLINEAR.direct(
    "sec8.step", f"{_REFERENCE} with the logistic loss", Erratum("misprint", ".fixed")
)
@NONLINEAR.direct(
    "sec8.step.fixed",
    f"{_REFERENCE}, with γ and y_i",
    instances="three models with two parameters, three points, three θ, γ = 2",
    instead={
        "the mean of ∇g": "γ times the mean of y_i ∇g",
        r"+ \frac1n": r"+ \gamma\frac1n",
        r"\nabla_\theta": r"y_i \nabla_\theta",
    },
    note="−γ∇f is had from power series, the other side from ∇g.",
)
def _nonlinear_step(case, printed):
    r"""The gradient step with the logistic loss adds the mean of ∇g(a_i; θ_t) with weights
    1/(1 + exp(y_i g(a_i; θ_t))).

    $\theta_{t+1} = \theta_t + \frac1n\sum_{i=1}^n (1 + \exp(y_i g(a_i;\theta_t)))^{-1}
    \nabla_\theta g(a_i;\theta_t)$"""
    # −γ∇f(θ) against the sum, coordinate by coordinate.
    what = "θ_{t+1} − θ_t = −γ∇f(θ_t)"
    if case.inputs is not None:  # from θ = 0: −γ∇f = γya/2, as σ(0) = ½
        a, y, step = case.inputs.values()
        yield equal((1 if printed else step * y) * a / 2, step * y * a / 2, what)
        return
    for (name, g), theta, k in product(MODELS.items(), THETAS, (0, 1)):
        sums, losses = number(0), number(0)
        for a, y in zip(POINTS, LABELS, strict=True):
            weight = number(1 if printed else STEP * y) / (1 + exp(y * g(a, [*map(number, theta)])))
            sums += weight * _slope(partial(g, a), theta, k)
            losses += _slope(lambda w: (1 + (-y * g(a, w)).exp()).log(), theta, k)  # noqa: B023
        where = f"g = {name}, θ = ({theta[0]:g}, {theta[1]:g}), entry {k}"
        yield same_digits(sums / len(POINTS), -STEP * losses / len(POINTS), what, where=where)


def _slope(f: Callable[[list[Any]], Any], theta: Sequence[float], k: int) -> Number:
    """∂f/∂θ_k, from a power series."""
    before, ctx.cap = ctx.cap, 2
    try:
        return f([arb_series([arb(v), int(j == k)]) for j, v in enumerate(theta)])[1]
    finally:
        ctx.cap = before


# Implicit bias

#: One row, a_1 = 1: everything is known by hand.
ONE_ROW = "degenerate:kind=simplex,n=1,d=1"
#: Rows that are treated one by one in balls at every iterate.
FEW = 60


def _few_rows(case):
    """Few enough rows to treat them one by one."""
    return None if case.n <= FEW else f"more than {FEW} rows are too many to treat one by one"


def _small_step(case):
    """γ ≤ 4/R², which is 1/L: f is R²/4-smooth."""
    fits = step_of(case) * number(case.truth.radius_squared) <= 4
    return None if fits else "γ is larger than 4/R²"


small_steps = tyurin.sharing(LR_GD, separable, known_optimum, _small_step, _few_rows, kind="limit")
BIAS = "Section 8, Implicit bias"


@small_steps.bound("sec8.bias", BIAS, Erratum("misprint", ".fixed"), problems=(ONE_ROW,))
def _bias_as_printed(it, c):
    r"""The iterates of LR+GD with small steps tend to the maximum-margin separator of norm one.

    $\gamma < 2/L:\ \theta_t \to \theta_* \text{ when } t \to \infty, \text{ where }
    \theta_* = \arg\max_{\|\theta\|=1}\min_{i\in[n]} y_i a_i^\top\theta$"""
    lowest = log(1 + exp(-c.radius))
    return at_least(loss(it.scores), lowest, "f(θ_t) ≥ log(1 + e^{−R}), since f(θ_t) → f(θ_*)")


class _Lost:
    """D_t = Σ_{j<t} γ‖∇f(θ_j)‖(1 − c_j) of `tyurin.sec8.bias.fixed`, from above."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.sum = self._next = number(0)

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        self.sum = self._next
        slope = (number(1) / it.n * LogisticWeights(it).pull()).norm()
        f, zero, gamma = loss(it.scores), number(0), step_of(self.case)
        kept = (1 - it.n * f / 2).max(zero) * (1 - gamma * self.case.radius**2 * f / 2).max(zero)
        self._next = self.sum + gamma * slope * (1 - kept)


@small_steps.bound("sec8.bias.fixed", f"{BIAS}, of directions, with a rate", _Lost, since=1)
def _bias(it, c):
    r"""The directions of the iterates of LR+GD with small steps tend to the maximum-margin
    separator.

    $\gamma \le 1/L:\ \theta_t/\|\theta_t\| \to \theta_* \text{ when } t \to \infty$

    Checked as ‖θ_t/‖θ_t‖ − θ_*‖² ≤ 2(log(2n log 2)/μ + D_t)/‖θ_t‖ once n f(θ_t) ≤ 1, where
    D_t = Σ_{j<t} γ‖∇f(θ_j)‖(1 − c_j) is bounded; the proof is in
    papers/gammabar/PROOFS.md.
    Instances: γ ≤ 1/L = 4/R²
    Powerless: D_t adds up the losses of the run itself, and a wrong step makes them larger;
    gb.tyurin.lr-gd.step refutes it"""
    # In doubt it is compared: e^x − 1 ≤ 2x holds up to x = 5/4.
    if it.n * loss(it.scores) > 1:
        return None
    apart = 2 - 2 * it.toward / (c.gamma * it.norm)
    bound = 2 * (log(2 * it.n * log(2)) / c.gamma + c.history(_Lost).sum) / it.norm
    return at_most(apart, bound, "‖θ_t/‖θ_t‖ − θ_*‖² ≤ 2(log(2n log 2)/μ + D_t)/‖θ_t‖")
