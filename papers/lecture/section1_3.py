"""Sections 1 to 3: Theorem 1, what it means for T, and Example 2; SGD, Theorem 3 and Corollary 4.

T is the number of steps in Theorem 1. Here T counts updates and the start is w_0 = 0, which is the
reading that favours the theorem: with w_1 for the start, as in Algorithm 1, the printed bound fails
at T = 1 already.
"""

from fractions import Fraction
from itertools import combinations, product

from flint import fmpq, fmpq_mat

from gammabar.papers.claims import *
from gammabar.papers.lecture.descent import *
from gammabar.papers.lecture.quantities import *
from gammabar.papers.lecture.sgd import *


@lec.direct(
    "thm1", "Theorem 1", PLAIN, Erratum("substance", ".fixed"), kind="anytime", inputs=QUADRATIC
)
@lec.direct(
    "thm1.fixed",
    "Theorem 1, without the 1/T",
    PLAIN,
    kind="anytime",
    problems=PROBLEMS,
    inputs=QUADRATIC,
    slower="smooth-gradient-descent/steps-shrink",
    instead={"/(2T)": "/2 after T updates", "{2T}": "{2}"},
    note="Nesterov (2004), Theorem 2.1.15: ‖w_T − w*‖ ≤ ((κ−1)/(κ+1))^T B, smoothness gives"
    " f(w_T) − f(w*) ≤ (β/2)‖w_T − w*‖², and ((κ−1)/(κ+1))² ≤ e^{−4/(κ+1)} ≤ e^{−1/κ}. This is also"
    " what the text goes on with: error ε after κ log(B²β/(2ε)) iterations.",
)
def _gradient_descent_rate(c, printed):
    r"""Gradient descent with step 2/(β + λ): f(w_T) − f(w*) ≤ exp(−T/κ) B²β/(2T).

    $f(w_T) - f(w^*) \leq \exp\left(-\frac{T}{\kappa}\right) \frac{B^2\beta}{2T}$"""

    def bound(f, T, B):
        return [exp(-T / f.kappa) * B**2 * f.beta / (2 * T if printed else 2)]

    what = f"f(w_T) − f(w*) ≤ e^{{−T/κ}} B²β/{'(2T)' if printed else '2'}"
    return rates(c, "smooth-gradient-descent", bound, what)


@lec.direct(
    "sec1.steps",
    "Section 1, after Theorem 1",
    PLAIN,
    kind="stopping",
    problems=("", "iris:0,1", "iris:1,2 --kernel rbf:gamma=0.5"),
    instances="ε = 9/10, 1/2, 1/10 and 1/1000 of B²β/2, and the first T that is large enough",
    slower="smooth-gradient-descent/steps-shrink",
)
def _steps_for_an_error(c):
    r"""Gradient descent with step 2/(β + λ) has error at most ε after κ log(B²β/(2ε)) updates.

    $T \geq \kappa \log\left(\frac{B^2\beta}{2\epsilon}\right) \implies
    f(w_T) - f(w^*) \leq \epsilon$

    It follows from lec.thm1.fixed, though not from the theorem as printed."""

    def errors(f, T, B):
        for share in map(number, SHARES):
            if T - 1 < -f.kappa * log(share) <= T:
                yield share * B**2 * f.beta / 2

    return rates(c, "smooth-gradient-descent", errors, "f(w_T) − f(w*) ≤ ε")


#: ε over B²β/2.
SHARES = (Fraction(9, 10), Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))

# Example 2

#: A and b: definite, semidefinite with and without a minimum, and neither.
QUADRATICS: tuple[tuple[list[list[int]], list[int]], ...] = (
    ([[9, 0], [0, 1]], [9, 0]),
    ([[2, 1], [1, 2]], [3, -1]),
    ([[7, 0, 0], [0, 3, 0], [0, 0, 2]], [1, 2, 3]),
    ([[3]], [2]),
    ([[1, 1], [1, 1]], [1, 1]),
    ([[4, 0], [0, 0]], [0, 1]),
    ([[1, 2], [2, 1]], [1, 0]),
    ([[-1]], [0]),
)


@lec.direct("ex2", "Example 2", kind="identity")
def _quadratics(c):
    r"""½xᵀAx − bᵀx is convex if A ≽ 0, and if A ≻ 0 strongly convex with the minimum at A⁻¹b; for a
    diagonal A, β is the largest and λ the smallest entry.

    $\tfrac12 x^T A x - b x \text{ is convex if } A \succcurlyeq 0 \text{ and strongly
    convex if } A \succ 0; \text{ then the optimal } x \text{ is } A^{-1}b; \text{ if } A
    \text{ is diagonal, } \beta = \lambda_{max}, \lambda = \lambda_{min}$

    In rationals. vᵀAv > 0 is printed for all v ∈ ℝ^d, and meant for v ≠ 0.
    Instances: eight matrices, and points with entries −1, 0, 1
    Powerless: it is about functions, not about a solver"""
    for rows, right in QUADRATICS:
        A, b, d = matrix(rows), vector(right), len(right)
        where = f"A = {rows}, b = {right}"
        points = [vector(list(v)) for v in product((-1, 0, 1), repeat=d)]
        semidefinite, regular = nonnegative_form(A), A.det() != 0
        for u, v in combinations(points, 2):
            # f(u)/2 + f(v)/2 − f((u + v)/2) = (u − v)ᵀA(u − v)/8
            curved = _form(A, u - v) / 8
            yield fact(not semidefinite or curved >= 0, "A ≽ 0 ⟹ convex", where=where)
            if semidefinite and regular:
                yield fact(curved > 0, "A ≻ 0 ⟹ strictly convex", where=where)
        if not (semidefinite and regular):
            continue
        best = A.solve(b)
        for x in points:
            gap = _form(A, x) / 2 - (b.transpose() * x)[0, 0]
            gap -= _form(A, best) / 2 - (b.transpose() * best)[0, 0]
            what = "f(x) − f(A⁻¹b) = ½‖x − A⁻¹b‖²_A"
            yield fact(gap == _form(A, x - best) / 2, what, where=where)
            yield fact(gap > 0 or x == best, "A⁻¹b is the minimum", where=where)
        if all(rows[i][j] == 0 for i in range(d) for j in range(d) if i != j):
            # β and λ of a diagonal A are bounds of vᵀAv/‖v‖² that are attained on the axes.
            entries = [rows[i][i] for i in range(d)]
            some = [v for v in product((-2, -1, 0, 1, 2), repeat=d) if any(v)]
            ratios = [_form(A, vector(list(v))) / sum(x * x for x in v) for v in some]
            yield fact(max(ratios) == max(entries), "β = λ_max", where=where)
            yield fact(min(ratios) == min(entries), "λ = λ_min", where=where)


def _form(A: fmpq_mat, v: fmpq_mat) -> fmpq:
    """vᵀAv."""
    return (v.transpose() * A * v)[0, 0]


# Section 2, Stochastic Gradient Descent, and Section 3, Learning with SGD

EXPECTED = lec.sharing(
    STOCHASTIC,
    quickly_sampled,
    kind="expectation",
    problems=("", SAMPLED),
    slower="sgd/step-falls-too-fast",
)


@EXPECTED.direct("thm3", "Theorem 3")
def _sgd_rate(c):
    r"""SGD with step √(B²/(ρ²T)) for T steps: the expected value at the average of the iterates is
    within Bρ/√T of the minimum.

    $\mathbb{E}[f(\bar{w})] - f(w^*) \leq \frac{B\rho}{\sqrt{T}}$

    w* must exist, so separable data come with the hinge loss. The proof needs less than it
    says: E(v_t | w_t) = ∇f(w_t), which Algorithm 1 asks for, does not give
    E(v_t | v_1, …, v_{t−1}) = ∇f(w_t), but conditioning on w_t alone suffices. ρ = 0 is excluded
    by the step size. At T = 1 the bound is attained by the hinge loss of one point."""
    what = "E f(w̄) − f(w*) ≤ Bρ/√T"
    if c.given is not None:
        f, B, T = hinge_of(c)
        bound = B * f.lipschitz / sqrt(T)
        yield compared(estimate(c, f, B, T, RUNS), 0, bound, what, f"T = {T}")
        return
    for task in TASKS:
        f, best, B = task.known()
        for T in task.horizons if task.everywhere else ():
            bound, where = B * f.lipschitz / sqrt(T), f"{task.name}, T = {T}"
            yield compared(expectation(c, f, B, T), best, bound, what, where)
    # Too many paths to count: the solver draws its own, and must not forget a term.
    task, T = TASKS[1], 16
    f, best, B = task.known()
    bound, where = B * f.lipschitz / sqrt(T), f"{task.name}, T = {T}"
    yield compared(estimate(c, f, B, T, MORE_RUNS), best, bound, what, where)


@EXPECTED.direct("cor4", "Corollary 4")
def _sgd_sample_complexity(c):
    r"""SGD on the risk R for T ≥ B²ρ²/ε² steps: E R(w̄) ≤ min over H of R + ε, if some minimiser in
    H is within B of the start.

    $T \geq \frac{B^2\rho^2}{\epsilon^2} \implies
    \mathbb{E}[R(\bar{w})] \leq \min_{w \in \mathcal{H}} R(w) + \epsilon$

    D is uniform on the rows. H may be any set: w̄ need not lie in it, and the proof compares
    with any point within B of the start. B may be larger than the distance."""
    what = "E R(w̄) − min R ≤ ε"
    if c.given is not None:
        f, B, T = hinge_of(c)
        found = estimate(c, f, B, T, RUNS)
        yield compared(found, 0, number(1) / 2, what, f"ε = ½, T = {T}")
        return
    for task in TASKS:
        f, best, nearest = task.known()
        for T, wide in product(task.horizons, (1, 2)):
            B = wide * nearest
            epsilon = B * f.lipschitz / sqrt(T)  # the least for which T suffices
            where = f"{task.name}, B = {middle(B):.4g}, ε = {middle(epsilon):.4g}, T = {T}"
            yield compared(expectation(c, f, B, T), best, epsilon, what, where)
