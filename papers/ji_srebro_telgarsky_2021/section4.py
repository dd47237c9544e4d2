"""Section 4, Analysis of Algorithm 2, and Appendix D, Omitted Proofs from Section 4.

Runs without momentum, with the t and θ of Theorem 4.1.

Claims that hold with probability 1 − δ are put to a number of runs that is fixed in advance.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *
from gammabar.problems.problem import soften

_ALGORITHM_2 = "adaptive-sampling"
HALF = Fraction(1, 2)
#: A statement asks for up to 95 runs of t steps each.
_MOST_STEPS = 100_000


def tolerance(case: Case, ratio: Fraction) -> Fraction:
    """ε, a rational near ratio · γ̄."""
    return Fraction(round(middle(case.gamma * number(ratio)) * 256), 256)


def horizon(case: Case, epsilon: Fraction, delta: Fraction = HALF) -> int:
    """The t of Theorem 4.1."""
    with working(LEVELS[1]):
        entropy = 32 * case.log_n + 64 * log(2 / delta)
        first = (entropy / (case.gamma_squared * number(epsilon**2))).ceil().unique_fmpz()
    if first is None:
        raise ValueError("γ̄ is not known well enough to tell the t of Theorem 4.1")
    return max(int(first), ceil(32 / (delta * epsilon**2)))


def reachable(
    ratio: Fraction, delta: Fraction = HALF, steps: Callable[..., int] = horizon
) -> Callable[[Case], str | None]:
    """The assumption that a run with ε near ratio · γ̄ is one of few steps."""

    def few_steps(case: Case) -> str | None:
        """At most 100,000 steps are needed (their number grows like 1/γ̄⁴)."""
        epsilon = tolerance(case, ratio)
        try:
            if epsilon and steps(case, epsilon, delta) <= _MOST_STEPS:
                return None
        except ValueError as unknown:
            return str(unknown)
        return f"γ̄ is so small that more than {_MOST_STEPS:,} steps would be needed"

    return few_steps


class _Run(NamedTuple):
    """w_t, θ = √(ln(n)/t), Σ_{j<t} ‖Zᵀq_j‖ and Σ_{j<t} ‖Zᵀq_j‖², q_j the softmax of Zw_j."""

    last: View
    theta: Number
    lengths: Number
    squares: Number


def run(case: Case, rng: np.random.Generator, t: int, sums: bool = True) -> _Run:
    """Algorithm 2 for t steps of θ = √(ln(n)/t); `sums` also makes the sums over all iterates.

    The solver runs once, whatever the level at which the run is looked at.
    """
    theta = sqrt(case.log_n / t)
    last, weights, off = case.remember("run", lambda: _iterates(case, rng, t, middle(theta), sums))
    lengths, squares = pull_sums(case, weights, off) if len(weights) else (number(0), number(0))
    return _Run(last.at(case.level) if case.level else last, theta, lengths, squares)


def _iterates(
    case: Case, rng: np.random.Generator, t: int, theta: float, sums: bool
) -> tuple[View, Floats, float]:
    """w_t, the weights q_j = softmax(−A w_j) for j < t, and how far one of them may be off."""
    weights: list[Floats] = []
    off = 0.0
    for expected, claimed in enumerate(_method(case, theta).iterates(case.problem, rng)):
        if claimed.t != expected:
            raise Fault(f"iterates count 0, 1, 2, …, but {claimed.t} came for {expected}")
        if claimed.t == t:
            return View(claimed, case), np.array(weights), off
        if sums:
            w = taken_vector(claimed.w, f"w_{claimed.t}")
            weights.append(soften(case.problem.scores(w), 1.0)[0])
            # Scores off by e change a weight by a factor of at most exp(2e).
            off = max(off, float(np.expm1(2 * case.space.score_error(w))))
    raise ValueError(f"the solver stopped before t = {t}")


def _method(case: Case, theta: float) -> Any:
    """The solver that is verified (by default that of the registry), with step θ, no momentum."""
    from gammabar.solvers.base import solver

    method = solver(_ALGORITHM_2)() if case.solver is None else case.solver
    options = {"step": theta} | ({"momentum": False} if hasattr(method, "momentum") else {})
    return steered(method, **options)


ALG2 = Method(_ALGORITHM_2, assumes=(separable, few_rows))


def _for_two(identifier: str, delta: Fraction, runs: int, *problems: str, **more: Any) -> Declared:
    """Theorem 4.1 for n ≥ 2 and some δ; as many runs as settle it if none fails."""
    return jst.probability(
        identifier,
        "Theorem 4.1, for n ≥ 2" + ("" if delta == HALF else f", at δ = {delta}"),
        ALG2,
        several_rows,
        reachable(HALF, delta),
        delta=delta,
        runs=runs,
        problems=problems,
        note=f"Examined for ε = γ̄/2 and δ = {delta}.",
        instead={
            "Algorithm 2 w": "For two rows or more, Algorithm 2 w",
            r"\text{Given": r"n \ge 2: \; \text{Given",
        },
        **more,
    )


_ANOTHER = "jst.thm4.1.fixed with another δ, which has the power"


@jst.probability(
    "thm4.1",
    "Theorem 4.1",
    ALG2,
    reachable(Fraction(3, 4)),
    Erratum("edge case", ".fixed"),
    delta=HALF,
    runs=16,
    problems=("planted:n=1,d=1,gamma=1",),
)
@_for_two(
    "thm4.1.fixed",
    HALF,
    15,
    "opposed:r=1,copies=9",
    "opposed:r=1,copies=1 --kernel poly:degree=2,coef0=1 --normalised",
    "iris:0,1:n=4,seed=0 --kernel rbf:gamma=1",
    "planted:n=60,d=5,gamma=0.9,seed=2",
    slower="adaptive-sampling/step-squared",
)
@_for_two(
    "thm4.1.delta",
    Fraction(1, 4),
    35,
    "planted:n=4,d=2,gamma=0.9,seed=0",
    "planted:n=40,d=4,gamma=0.95,seed=2",
    "planted:n=6,d=3,gamma=0.95,seed=1 --kernel poly:degree=3,coef0=0 --normalised",
    powerless=_ANOTHER,
)
@_for_two(
    "thm4.1.tenth",
    Fraction(1, 10),
    95,
    "planted:n=5,d=3,gamma=0.97,seed=4 --kernel linear",
    powerless=_ANOTHER,
)
def _theorem_4_1(c, rng, delta, printed):
    r"""Algorithm 2 without momentum and with the step √(ln(n)/t) has a margin of at least γ̄ − ε
    after t = max(⌈(32 ln n + 64 ln(2/δ))/(γ̄²ε²)⌉, ⌈32/(δε²)⌉) steps, with probability 1 − δ.

    $\text{Given } \epsilon > 0 \text{ and } \delta \in (0,1), \text{ let } t = \max\left(
    \left\lceil \frac{32\ln(n) + 64\ln(2/\delta)}{\bar{\gamma}^2 \epsilon^2} \right\rceil,
    \left\lceil \frac{32}{\delta \epsilon^2} \right\rceil \right) \text{ and } \theta_j =
    \sqrt{\ln(n)/t} \text{ for } 0 \le j < t, \text{ then with probability } 1 - \delta, \;
    \gamma(w_t) \ge \bar{\gamma} - \epsilon$"""
    epsilon = tolerance(c, Fraction(3, 4) if printed else HALF)
    last = run(c, rng, horizon(c, epsilon, delta), sums=False).last
    return at_most(c.gamma - last.margin, epsilon, "γ̄ − γ(w_t) ≤ ε", where=f"t = {last.t}")


# Appendix D: runs as Theorem 4.1 says

#: ε over γ̄ in the lemmas, whose bounds depend on ε only through t.
_LEMMAS = Fraction(4)
_lemmas = jst.sharing(
    delta=HALF / 2, runs=40, problems=("worst-case:n=5",), instances="δ = 1/2 and ε = 4γ̄"
)


def _made(case: Case, rng: np.random.Generator) -> _Run:
    return run(case, rng, horizon(case, tolerance(case, _LEMMAS)))


@_lemmas.probability("lemD.1", "Lemma D.1", ALG2, reachable(_LEMMAS))
def _lemma_d1(c, rng):
    r"""Under the conditions of Theorem 4.1, with probability 1 − δ/2, the smoothed margin −ψ(Zw_t)
    is at least Σ_{j<t} θ_j ‖Zᵀq_j‖² − 2 ln n − √(8 ln(2/δ) ln n).

    $\text{with probability } 1 - \delta/2: \; -\psi(Zw_t) \ge \sum_{j=0}^{t-1} \theta_j \|Z^\top
    q_j\|_2^2 - 2\ln(n) - \sqrt{8 \ln\left(\frac{2}{\delta}\right) \ln(n)}$

    Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0)."""
    made, what = _made(c, rng), "Σ θ_j ‖Zᵀq_j‖² + ψ(Zw_t) ≤ 2 ln n + √(8 ln(2/δ) ln n)"
    gained = made.theta * made.squares + made.last.psi
    lost = 2 * c.log_n + sqrt(8 * log(2 / HALF) * c.log_n)
    return at_most(gained, lost, what, where=f"t = {made.last.t}")


@_lemmas.probability("lemD.2", "Lemma D.2", ALG2, reachable(_LEMMAS))
def _lemma_d2(c, rng):
    r"""Under the conditions of Theorem 4.1, with probability 1 − δ/2, ‖w_t‖ is at most Σ_{j<t} θ_j
    ‖Zᵀq_j‖ + √(8 ln(n)/δ); and it is always at least γ̄ √(t ln n).

    $\text{with probability } 1 - \delta/2: \; \|w_t\|_2 \le \sum_{j=0}^{t-1} \theta_j \|Z^\top
    q_j\| + \sqrt{\frac{8\ln(n)}{\delta}}, \quad \text{and it always holds that } \|w_t\|_2 \ge
    \bar{\gamma} \sqrt{t \ln(n)}$

    Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0). A run counts
    as a failure if either bound is violated."""
    made = _made(c, rng)
    last, t = made.last, made.last.t
    bound = made.theta * made.lengths + sqrt(8 * c.log_n / number(HALF))
    least, what, where = c.gamma * sqrt(t * c.log_n), "γ̄ √(t ln n) ≤ ‖w_t‖", f"t = {t}"
    # Rows that are all the same attain it: t rows times θ, added up in doubles.
    steps = t + c.space.dimension + 16
    return [
        at_most(last.norm, bound, "‖w_t‖ ≤ Σ θ_j ‖Zᵀq_j‖ + √(8 ln(n)/δ)", where=where),
        nearly_after(last, least, last.norm, what, beside=least, steps=steps, where=where),
    ]
