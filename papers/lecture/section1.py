"""Section 1, Strong convexity: Theorem 1.

T is the number of steps in Theorem 1. Here T counts updates and the start is w_0 = 0, which is the
reading that favours the theorem: with w_1 for the start, as in Algorithm 1, the printed bound fails
at T = 1 already.
"""

from __future__ import annotations

from collections.abc import Iterator

from gammabar.papers import Case, Relation, at_most, direct, exp
from gammabar.papers.lecture.columns import small
from gammabar.papers.lecture.descent_runs import PLAIN, PROBLEMS, gaps
from gammabar.solvers.smooth import SmoothGradientDescent


@direct(
    "lec.thm1",
    reference="Theorem 1",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \exp\left(-\frac{T}{\kappa}\right) \frac{B^2\beta}{2T}",
    problems=("",),
    solvers=PLAIN,
    assumes=(small,),
    status="refuted",
    fixed_by="lec.thm1.fixed",
    severity="substance",
    why="The bound is too small by a factor of T.",
    note="The 1/T is too good. f(x) = ½xᵀAx − bᵀx with A = diag(9, 1), b = (9, 0): β = 9, λ = 1, "
    "κ = 9, w* = (1, 0), B = 1, f(w*) = −9/2, η = 1/5, so w_t = (1 − (−4/5)^t, 0). At T = 2: "
    "f(w_2) − f(w*) = (9/2)(4/5)⁴ = 1152/625 = 1.8432, but e^{−2/9}·9/4 = 1.80165… . No smaller "
    "whole κ fails. B is not defined in the theorem; it is ‖w_1 − w*‖ as in Theorem 3. If the "
    "start is w_1 and w_T comes after T − 1 steps, the same function fails at T = 1: "
    "9/2 > e^{−1/9}·9/2.",
)
def gradient_descent_rate_as_printed(case: Case) -> Iterator[Relation]:
    """Gradient descent with step 2/(β + λ): f(w_T) − f(w*) ≤ exp(−T/κ) B²β/(2T)."""
    for target, T, gap, B, more in gaps(case, SmoothGradientDescent()):
        bound = exp(-T / target.kappa) * B**2 * target.beta / (2 * max(T, 1))
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ e^{−T/κ} B²β/(2T)"} | more))


@direct(
    "lec.thm1.fixed",
    reference="Theorem 1, without the 1/T",
    kind="anytime",
    claim=r"f(w_T) - f(w^*) \leq \exp\left(-\frac{T}{\kappa}\right) \frac{B^2\beta}{2}",
    problems=PROBLEMS,
    solvers=PLAIN,
    assumes=(small,),
    note="Nesterov (2004), Theorem 2.1.15: ‖w_T − w*‖ ≤ ((κ−1)/(κ+1))^T B, smoothness gives "
    "f(w_T) − f(w*) ≤ (β/2)‖w_T − w*‖², and ((κ−1)/(κ+1))² ≤ e^{−4/(κ+1)} ≤ e^{−1/κ}. This is "
    "also what the text goes on with: error ε after κ log(B²β/(2ε)) iterations.",
    slower="smooth-gradient-descent/steps-shrink",
)
def gradient_descent_rate(case: Case) -> Iterator[Relation]:
    """Gradient descent with step 2/(β + λ): f(w_T) − f(w*) ≤ exp(−T/κ) B²β/2 after T updates."""
    for target, T, gap, B, more in gaps(case, SmoothGradientDescent()):
        bound = exp(-T / target.kappa) * B**2 * target.beta / 2
        yield at_most(gap, bound, **({"what": "f(w_T) − f(w*) ≤ e^{−T/κ} B²β/2"} | more))
