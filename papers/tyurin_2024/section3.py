"""Section 3, Reduction to the Batch Perceptron Algorithm: Theorems 3.2 and 3.3, and footnote 3.

The limit γ → ∞ is checked at the γ of the run against an explicit bound that tends to 0; it is
derived in `gammabar.papers.tyurin_2024.reduction`. It is compared at every iterate, also where it
is longer than what it bounds, so that nothing at rest could violate it.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit

from gammabar.oracle.rational import integer_rows
from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024 import reference
from gammabar.papers.tyurin_2024.quantities import *
from gammabar.papers.tyurin_2024.reduction import UNKNOWN, Rate, closeness

# Theorem 3.2


def non_degenerate(case: Case) -> str | None:
    """Assumption 3.1: Σ_i (½ + k_i) ⟨a_i, a_j⟩ ≠ 0 for all whole numbers k_i ≥ 0 and all j.

    With h_i the products ⟨a_i, a_j⟩ of one j as integers without a common factor, it asks of every
    j: no h_i < 0 and some h_i > 0, or Σ h_i odd; the proof is in papers/gammabar/PROOFS.md.
    """
    if (reason := linear(case)) is not None:
        return reason
    if case.n > 2000:
        return "Assumption 3.1 is not decided for more than 2,000 rows"
    for j, products in enumerate(_products(case)):
        common = np.gcd.reduce(products)
        if not common:
            return f"the data do not meet Assumption 3.1: row {j} is zero"
        if products.min() < 0 and (products // common).sum() % 2 == 0:
            return f"the data do not meet Assumption 3.1: there are k_i for row {j}"
    return None


def _products(case: Case) -> Any:
    """All ⟨a_i, a_j⟩ as integers, in a common unit."""
    problem = case.problem
    rows, _ = integer_rows(problem.X, np.arange(case.n))
    signed = rows * np.asarray(problem.y, dtype=np.int64)[:, None]
    largest = max(abs(int(signed.max())), abs(int(signed.min())))
    if signed.dtype == object or largest**2 * rows.shape[1] * case.n >= 2**62:
        signed = signed.astype(object)
    return signed @ signed.T


class _Beside:
    """The rate of a run of LR+GD; or runs of LR+GD with larger and larger γ, in doubles, beside one
    of Batch Perceptron."""

    def __init__(self, case: Case) -> None:
        descends = has_step(case) is None and method_of(case) != "batch-perceptron"
        self.own = case.history(Rate) if descends else None
        self.rates = [] if descends else [Rate(case, gamma) for gamma in (1e2, 1e4, 1e6)]
        self.points = [case.problem.origin() for _ in self.rates]

    def update(self, it: View) -> None:
        if self.own is not None:
            self.own.update(it)
        problem = it.case.problem
        for k, rate in enumerate(self.rates):
            w = self.points[k]
            if it.t:
                pull = problem.combine(expit(-problem.scores(w)))
                self.points[k] = w = w + rate.step * (pull / it.n)
            rate.follow(Vec(rate.space, w).size(), rate.space.score_error(w))


@tyurin.bound(
    "thm3.2",
    "Theorem 3.2",
    Method("lr-gd", "batch-perceptron"),
    separable,
    non_degenerate,
    _Beside,
    kind="limit",
)
def _reduces(it, c):
    r"""If Assumption 3.1 holds, the iterates of LR+GD divided by γ tend to those of Batch
    Perceptron as γ → ∞.

    $\theta_t/\gamma \to \hat\theta_t \text{ for all } t \ge 0 \text{ when } \gamma \to
    \infty,\ \theta_0 = \hat\theta_0 = 0, \text{ if the dataset satisfies Assumption 3.1}$

    Checked as ‖θ_t/γ − θ̂_t‖ ≤ E_t(γ), a bound with E_t(γ) → 0: for runs of LR+GD at their
    γ against the exact iterates of Batch Perceptron, for runs of Batch Perceptron against LR+GD
    with γ = 10², 10⁴ and 10⁶. Assumption 3.1 is decided exactly. Data that are integers rarely
    meet it: loss-spike does not (9·17 − 51·3 = 0), worst-case does for odd n. The proof needs
    only that no ⟨a_i, θ̂_t⟩ is 0, and gb.tyurin.lr-gd.rate only that."""
    found = c.history(_Beside)
    own = None if found.own is None else closeness(it, found.own)
    if own is not None:
        yield own
    # The delivered iterate is rounded as well, t times.
    rounding = (it.t + 1) * it.space.radius * per_sum(it.space) + least(it.space)
    for rate, w in zip(found.rates, found.points, strict=True):
        where = f"γ = {rate.step:g}"
        gap = (Vec(rate.space, w) * (1 / number(rate.step)) - it.here).norm()
        lost = rate.path.lost
        yield fact(None, UNKNOWN, where=where) if lost else rate.within(gap, rounding, where=where)


# Theorem 3.3


@tyurin.stopping("thm3.3", "Theorem 3.3", BATCH, separable, slower=WHOLE_FIRST_STEP)
def _batch_perceptron(c):
    r"""Batch Perceptron separates separable data after at most nR²/μ² iterations.

    $\text{Batch Perceptron solves (1) after at most } \frac{nR^2}{\mu^2}
    \text{ iterations if } \hat\theta_0 = 0$

    The printed proof bounds t where θ̂_{t+1} is the solution, one iteration less. But a step
    with |S_t| = k shortens the squared distance by R²(2k/n − k²/n²) ≥ R²(2/n − 1/n²), of which
    the proof uses R²/n, and the half step shortens it by 3R²/4: for n ≥ 2 that is more than
    enough for the iteration that is missing, and for n = 1 the half step is the solution."""
    return c.n * c.mistake_bound


# The remark on scaled losses


@tyurin.direct(
    "sec3.remark",
    "Section 3, remark after Theorem 3.3",
    kind="limit",
    inputs={"t": wholes(1, 10**6), "s": rationals(-100, 100)},
    instances="one row, t = 1, 10, 10³, 10⁶, scores from −3 to 3",
    powerless="it is about a function, not about a solver",
)
def _scaled_loss(c):
    r"""The logistic loss of t times the scores, divided by t, tends to the perceptron loss.

    $\frac{1}{t \times n}\sum_{i=1}^n \log(1 + \exp(-t \times y_i a_i^\top\theta))
    \text{ reduces to the perceptron loss when } t \to \infty$

    Checked as |log(1 + e^{−ts})/t − max(0, −s)| ≤ log(2)/t for a score s, with equality at
    s = 0; means over rows keep it."""
    hundredths = [Fraction(v, 100) for v in (-300, -100, -1, 1, 200)]
    for t, s in c.instances(product((1, 10, 10**3, 10**6), hundredths)):
        if not s:
            raise Unclaimed("there both sides are log(2)/t")
        gap = log(1 + exp(number(-t * s))) / t - number(max(-s, 0))
        yield at_most(abs(gap), log(2) / t, "|loss − max(0, −s)| ≤ log(2)/t", where=f"t={t}, s={s}")


# Footnote 3 to Theorem 3.2: a start θ_0 other than 0. Solvers here start at 0, so LR+GD is run in
# balls, from θ_0, beside its limit.

#: Rows and θ_0. The first is the smallest there is; the second has its mistakes to make.
DATA: tuple[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], ...] = (
    (((1,),), (1,)),
    (((1, -1), (1, 4)), (0, 1)),
    (((3, 1), (2, -1), (1, 5)), (-1, 1)),
)
STEPS, ITERATIONS = (10**2, 10**4, 10**6), 6

STARTS = tyurin.sharing(
    kind="limit",
    inputs={"rows": rationals(-9, 9, shape=("n", "d")), "theta_0": rationals(-9, 9, shape=("d",))},
    powerless="it is about a start other than 0, which no solver here has",
)


def _starts(case: Case, half: bool) -> Iterator[Relation]:
    """θ_t/γ beside the limit whose first step has weights ½, or σ_i."""
    for rows, start in case.instances(DATA):
        A = np.array([[number(v) for v in row] for row in rows])
        theta, n = np.array([number(v) for v in start]), len(rows)
        radius = max((_length(a) for a in A), key=float)
        if radius == 0:
            raise Unclaimed("all rows are zero")
        sigma = reference.sigma(A @ theta)
        for gamma in map(number, STEPS):
            near, distance = theta / gamma + sigma @ A / n, 2 * _length(theta) / gamma
            limit = (reference.batch_perceptron(0, sigma) if half else sigma / n) @ A
            for t in range(1, ITERATIONS):
                where = f"rows {rows}, θ_0 = {start}, γ = {float(gamma):g}, t = {t}"
                what, gaps = "‖θ_t/γ − θ̂_t‖ ≤ E_t(γ)", A @ limit
                yield at_most(_length(near - limit), distance, what, where=where)
                if not all(g > 0 or g < 0 for g in gaps):
                    yield fact(None, "on which side a row is", where=where)
                    break
                near = near + reference.lr_gd(t, gamma * (A @ near), 1) @ A
                limit = limit + reference.batch_perceptron(t, gaps) @ A
                doubt = reference.sigma(gamma * (abs(gaps) - radius * distance))
                distance = distance + radius * total(doubt) / n


def _length(v: Any) -> Number:
    return sqrt(total(x * x for x in v))


@STARTS.direct("fn3", "footnote 3 to Theorem 3.2", Erratum("misprint", ".fixed"))
def _other_start_as_printed(c):
    r"""From any θ_0, θ_t/γ tends to the iterates of Batch Perceptron as it is defined, if no score
    of theirs is zero.

    $\text{The theorem is true for } \theta_0 \ne 0, \text{ but we have to modify Assumption
    3.1, and change 0.5 to } (1 + \exp(y_i a_i^\top\theta_0))^{-1}$"""
    return _starts(c, half=True)


@STARTS.direct("fn3.fixed", "footnote 3, with the first step of Batch Perceptron changed as well")
def _other_start(c):
    r"""From any θ_0, θ_t/γ tends to the iterates of Batch Perceptron whose first step has the
    weights 1/(1 + exp⟨a_i, θ_0⟩) in place of ½.

    $\theta_t/\gamma \to \hat\theta_t \text{ when } \gamma \to \infty, \text{ for any }
    \theta_0, \text{ with } \hat\theta_1 = \frac1n\sum_{i=1}^n (1 + \exp(y_i a_i^\top
    \theta_0))^{-1} y_i a_i, \text{ if no } y_i a_i^\top\hat\theta_t \text{ is } 0$

    Checked as ‖θ_t/γ − θ̂_t‖ ≤ E_t(γ), with E_1 = 2‖θ_0‖/γ and E_{t+1} as in Theorem 3.2.
    Instances: three small data sets, γ = 10², 10⁴, 10⁶, t ≤ 5"""
    return _starts(c, half=False)
