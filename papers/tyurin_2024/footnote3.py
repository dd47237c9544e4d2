"""Footnote 3 to Theorem 3.2: a start θ_0 other than 0.

Solvers here start at 0, so LR+GD is run in balls, from θ_0, beside its limit. The bound on their
distance is that of `gammabar.papers.tyurin_2024.reduction` with E_1 = 2‖θ_0‖/γ: θ_1/γ is
θ_0/γ + (1/n) Σ_i σ_i a_i with σ_i = 1/(1 + exp⟨a_i, θ_0⟩), so it is ‖θ_0‖/γ from the first step
with weights σ_i (twice that leaves no equality to decide), and from there on the proof is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import arb_mat

from gammabar.papers import (
    Case,
    Number,
    Relation,
    Unclaimed,
    at_most,
    direct,
    exp,
    fact,
    number,
    rationals,
    sqrt,
    total,
)
from gammabar.papers.tyurin_2024.conventions import SOURCE

#: Rows and θ_0. The first is the smallest there is; the second has its mistakes to make.
DATA: tuple[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], ...] = (
    (((1,),), (1,)),
    (((1, -1), (1, 4)), (0, 1)),
    (((3, 1), (2, -1), (1, 5)), (-1, 1)),
)
#: The same in a search.
STARTS = {"rows": rationals(-9, 9, shape=("n", "d")), "theta_0": rationals(-9, 9, shape=("d",))}
STEPS, ITERATIONS = (10**2, 10**4, 10**6), 6

ELSEWHERE = "it is about a start other than 0, which no solver here has"


@dataclass
class Pair:
    """LR+GD from θ_0 over γ, and Batch Perceptron with a first step of given weights.

    Attributes
    ----------
    distance : Number
        E_t, which bounds ‖θ_t/γ − θ̂_t‖ if the first weights are σ_i.
    """

    A: arb_mat
    theta: arb_mat
    limit: arb_mat
    step: Number
    distance: Number

    def advance(self) -> bool:
        """On to t + 1; whether the side of every row is known."""
        n, radius = self.A.nrows(), _radius(self.A)
        scores, gaps = (self.A * self.theta).entries(), (self.A * self.limit).entries()
        if not all(g > 0 or g < 0 for g in gaps):
            return False
        self.theta += self.A.transpose() * _column(_sigma(self.step * s) for s in scores) / n
        self.limit += self.A.transpose() * _column(number(int(g < 0)) for g in gaps) / n
        doubt = total(_sigma(self.step * (abs(g) - radius * self.distance)) for g in gaps)
        self.distance += radius * doubt / n
        return True

    def apart(self) -> Number:
        """‖θ_t/γ − θ̂_t‖."""
        return _length(self.theta - self.limit)


def _sigma(s: Number) -> Number:
    """1/(1 + exp s), which is safe for s of any size."""
    return 1 / (1 + exp(s)) if s <= 0 else exp(-s) / (1 + exp(-s))


def _column(values: Iterator[Number]) -> arb_mat:
    found = list(values)
    return arb_mat(len(found), 1, found)


def _length(v: arb_mat) -> Number:
    square = total(x * x for x in v.entries())
    return number(0) if square == 0 else sqrt(square)


def _radius(A: arb_mat) -> Number:
    rows = (total(A[i, j] * A[i, j] for j in range(A.ncols())) for i in range(A.nrows()))
    return sqrt(max(rows, key=float))


def _pairs(case: Case, half: bool) -> Iterator[Relation]:
    """θ_t/γ beside the limit whose first step has weights ½, or σ_i."""
    for rows, start in case.instances(DATA):
        A = arb_mat([[number(v) for v in row] for row in rows])
        theta = arb_mat([[number(v)] for v in start])
        if _radius(A) == 0:
            raise Unclaimed("all rows are zero")
        sigma = _column(_sigma(s) for s in (A * theta).entries())
        first = _column(number(1) / 2 for _ in rows) if half else sigma
        for gamma in map(number, STEPS):
            pull = A.transpose() / len(rows)
            begun = theta / gamma + pull * sigma
            pair = Pair(A, begun, pull * first, gamma, 2 * _length(theta) / gamma)
            for t in range(1, ITERATIONS):
                where = f"rows {rows}, θ_0 = {start}, γ = {float(gamma):g}, t = {t}"
                yield at_most(pair.apart(), pair.distance, "‖θ_t/γ − θ̂_t‖ ≤ E_t(γ)", where=where)
                if not pair.advance():
                    yield fact(None, "on which side a row is", where=where)
                    break


@direct(
    "tyurin.fn3",
    reference=f"{SOURCE}, footnote 3 to Theorem 3.2",
    kind="limit",
    claim=r"\text{The theorem is true for } \theta_0 \ne 0, \text{ but we have to modify Assumption"
    r" 3.1, and change 0.5 to } (1 + \exp(y_i a_i^\top\theta_0))^{-1}",
    problems=("",),
    inputs=STARTS,
    status="refuted",
    fixed_by="tyurin.fn3.fixed",
    severity="misprint",
    survives="Everything: all theorems start at θ_0 = 0. From elsewhere the limit is a "
    "Batch Perceptron with other weights in its first step (tyurin.fn3.fixed).",
    why="The ½ in the first step of Batch Perceptron is to be changed as well, which is plainly"
    " what is meant.",
    charitable="tyurin.fn3.fixed",
    note="One row, a_1 = 1, y_1 = 1, θ_0 = 1: θ_1/γ = 1/γ + 1/(1 + e) → 0.2689…, but the first step"
    " of Batch Perceptron is ½, whatever Assumption 3.1 says. (The changed assumption is met: no"
    " multiple (1/(1 + e) + k)·1 is 0.)",
    powerless=ELSEWHERE,
)
def other_start_as_printed(case: Case) -> Iterator[Relation]:
    """From any θ_0, θ_t/γ tends to the iterates of Batch Perceptron as it is defined, if no score
    of theirs is zero."""
    yield from _pairs(case, half=True)


@direct(
    "tyurin.fn3.fixed",
    reference=f"{SOURCE}, footnote 3, with the first step of Batch Perceptron changed as well",
    kind="limit",
    claim=r"\theta_t/\gamma \to \hat\theta_t \text{ when } \gamma \to \infty, \text{ for any }"
    r" \theta_0, \text{ with } \hat\theta_1 = \frac1n\sum_{i=1}^n (1 + \exp(y_i a_i^\top"
    r"\theta_0))^{-1} y_i a_i, \text{ if no } y_i a_i^\top\hat\theta_t \text{ is } 0",
    problems=("",),
    inputs=STARTS,
    instances="three small data sets, γ = 10², 10⁴, 10⁶, t ≤ 5",
    note="Checked as ‖θ_t/γ − θ̂_t‖ ≤ E_t(γ), with E_1 = 2‖θ_0‖/γ and E_{t+1} as in Theorem 3.2.",
    powerless=ELSEWHERE,
)
def other_start(case: Case) -> Iterator[Relation]:
    """From any θ_0, θ_t/γ tends to the iterates of Batch Perceptron whose first step has the
    weights 1/(1 + exp⟨a_i, θ_0⟩) in place of ½."""
    yield from _pairs(case, half=False)
