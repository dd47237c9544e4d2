"""Symbols of Tyurin (2024), and what its statements assume of data and solver.

Rows are a_i here and y_i a_i in the paper, θ is w, the margin μ is γ̄, and the step size γ is the
solver's ``step``. As in the paper, rows may have any norm; R is the largest. An iteration is an
update, so "after at most B iterations" means that some w_t with t ≤ B separates the data; the half
step of Batch Perceptron is its first iteration.

θ̂_* is the unit vector of largest margin. With the dual optimum q̄, Σ_i q̄_i a_i = μ θ̂_*, so ⟨θ, θ̂_*⟩
is a weighted sum of scores over μ, and ‖θ − α θ̂_*‖² = ‖θ‖² − 2 (α/μ) Σ_i q̄_i ⟨a_i, θ⟩ + α². The
weighted sum is `View.toward`.
"""

from gammabar.papers.claims import *
from gammabar.problems import load

tyurin = Claims("tyurin", source="Tyurin (2024)")
has_step = has(step=0)


def known_optimum(case):
    """q̄ is known, and not only approximately."""
    return None if case.truth.exact else "the maximum-margin separator is only known approximately"


LR_GD = Method("lr-gd", assumes=(has_step,))
NORMALIZED = Method("normalized-lr-gd", assumes=(has_step,))
BATCH = Method("batch-perceptron")
#: Methods of the next slower rate: as many steps as rows to undo the first one.
WHOLE_FIRST_STEP = "batch-perceptron/first-step-not-divided"
SUM_FIRST = "perceptron/starts-with-the-sum"


def step_of(case: Case) -> Number:
    """γ."""
    return number(float(case.solver.step))


def method_of(case: Case) -> str:
    """The name on the solver's card; "" if it has none."""
    return str(getattr(getattr(type(case.solver), "card", None), "name", ""))


def alpha_over_mu(case: Case) -> Number:
    """α/μ = R²/μ² + 2 log(2n−1)/(γμ²), the bound of Theorem 6.1."""
    logs = 2 * log(2 * case.n - 1) / (step_of(case) * case.gamma_squared)
    return number(case.mistake_bound) + logs


def linear(case: Case) -> str | None:
    """The rows are vectors of ℝ^d, in the units of the data."""
    why = "this is about points of ℝ^d in the units of their data"
    return None if has_coordinates(case) else why


def the_data(case: Case, spec: str, otherwise: str) -> str | None:
    """Nothing if the problem is the one of that name, row by row, or else why it does not fit."""
    if (reason := linear(case)) is not None:
        return reason
    problem, other = case.problem, load(spec)
    same = (problem.n, problem.dimension) == (other.n, other.dimension)
    return None if same and problem.digest() == other.digest() else otherwise


def only_zeros(it: View) -> Relation | None:
    """Where all rows are zero, that w_t is: there is no scale that rounding could be small beside.

    None where some row is not zero.
    """
    if it.space.least_radius > 0 or it.case.truth.radius_squared > 0:
        return None
    zero = not it.w.any() or not isinstance(it.space, LinearSpace)  # whatever the coefficients are
    return fact(zero, "all rows are zero, and so is w_t")


def loss(scores: list[Number]) -> Number:
    """f(θ) = (1/n) Σ_i log(1 + exp(−s_i)) for scores s_i; large exponents are taken out first."""
    losses = (log(1 + exp(s)) - s if s < 0 else log(1 + exp(-s)) for s in scores)
    return total(losses) / len(scores)
