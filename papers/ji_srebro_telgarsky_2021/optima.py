"""Optima in rational arithmetic: the oracle's dual point q̄, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from operator import mul

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.papers import Case, Relation, equal, fact, separable, sqrt
from gammabar.papers.ji_srebro_telgarsky_2021.method import ONE_ROW
from gammabar.problems import KernelProblem

ABOUT_DATA = "it is about the data, not about a solver"
SEPARABLE = (
    ONE_ROW,
    "planted:n=60,d=6,gamma=0.1,seed=0",
    "degenerate:kind=square,n=8,d=4",
    "iris:0,1",
    "iris:0,1 --kernel poly:degree=2,coef0=1",
    "digits:0,1,2:n=30 --multiclass",
)


def exact_and_separable(case: Case) -> str | None:
    """The data are separable, and inner products of rows are rational; or it brings its own."""
    return None if case.given is None else separable(case) or rational(case)


def rational(case: Case) -> str | None:
    """Inner products of rows are rational numbers, so that optima are exact."""
    problem = case.problem.raw()
    if isinstance(problem, KernelProblem) and not has_exact_kernel(problem):
        return "the kernel has values that are no rational numbers"
    return None


class Pair:
    """The dual point q̄ of the oracle and w̄ = Aᵀq̄, in the units of the data.

    For every w and every q in the simplex, min_i ⟨a_i, w⟩ ≤ ⟨Aᵀq, w⟩ ≤ ‖Aᵀq‖ ‖w‖. So if
    min_i ⟨a_i, w̄⟩ = ‖w̄‖², then w̄ has the largest margin of all, which is ‖w̄‖, and q̄ the smallest
    ‖Aᵀq‖; and any w with that margin has ⟨w̄, w⟩ = ‖w̄‖ ‖w‖, which makes it a multiple of w̄.
    """

    def __init__(self, case: Case) -> None:
        truth = case.truth
        self.numerators, self.total = truth.numerators, truth.total
        self._rows = exact_rows(case.problem.raw())
        self._point = self._rows.point(truth.support, truth.numerators)
        self._support = truth.support.tolist()

    @cached_property
    def scores(self) -> list[Fraction]:
        """⟨a_i, w̄⟩ for every row."""
        return [self._rows.score(i, self._point) / self.total for i in range(self._rows.n)]

    @cached_property
    def square(self) -> Fraction:
        """‖w̄‖² = Σ_i q̄_i ⟨a_i, w̄⟩."""
        terms = zip(self.numerators, self._support, strict=True)
        return sum((v * self.scores[i] for v, i in terms), Fraction(0)) / self.total

    def in_simplex(self) -> Relation:
        """q̄ ≥ 0 and Σ q̄ = 1."""
        good = min(self.numerators) >= 0 and sum(self.numerators) == self.total > 0
        return fact(good, "q̄ ∈ Δ_n")

    def optimal(self) -> Relation:
        """min_i ⟨a_i, w̄⟩ = ‖w̄‖²."""
        return fact(min(self.scores) == self.square, "min_i ⟨a_i, w̄⟩ = ‖w̄‖² for w̄ = Aᵀq̄")


#: Four rows with many dual optima, γ̄ = 1 and ū = (1, 0, 0): the corners (1, ±1, ±1).
CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))
OPTIMA = ((2, 0, 0, 2), (0, 2, 2, 0), (1, 1, 1, 1))  # times 1/4


def alignment(case: Case, sign: int, optimum: int, what: str) -> Iterator[Relation]:
    """sign · Zᵀq̄ = γ̄u for u = optimum · ū, where ū is the classifier of Section 2."""
    if case.given is None:
        for weights in OPTIMA:
            columns = zip(*CORNERS, strict=True)
            pull = [Fraction(sum(map(mul, weights, column)), -4) for column in columns]  # Zᵀq̄
            gap = [sign * v - optimum * u for v, u in zip(pull, (1, 0, 0), strict=True)]
            yield equal(sqrt(sum(v * v for v in gap)), 0, what, where=f"4q̄ = {weights}")
        return
    pair = Pair(case)
    yield pair.in_simplex()
    yield pair.optimal()
    # Zᵀq̄ = −w̄ and γ̄ū = w̄.
    yield equal(sqrt((sign + optimum) ** 2 * pair.square), 0, what)
