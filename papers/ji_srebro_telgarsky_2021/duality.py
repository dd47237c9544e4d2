"""Ji, Srebro and Telgarsky (2021), Sections 2 and 3.1 and Appendix A: margins and their dual.

Rows of A are y_i x_i and the paper's Z is −A. Claims about optima are decided in rational
arithmetic: q̄ is the oracle's, and what follows from it is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from operator import mul

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import sqrt
from gammabar.harness.court.relation import Relation, equal, fact
from gammabar.harness.court.statement import direct, separable
from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.problems import KernelProblem

ABOUT_DATA = "it is about the data, not about a solver"
SEPARABLE = (
    "degenerate:kind=simplex,n=1,d=1",
    "planted:n=60,d=6,gamma=0.1,seed=0",
    "degenerate:kind=square,n=8,d=4",
    "iris:0,1",
    "iris:0,1 --kernel poly:degree=2,coef0=1",
    "digits:0,1,2:n=30 --multiclass",
)
ANY = (*SEPARABLE, "inseparable:n=30,d=4,seed=0", "degenerate:kind=zero-row")


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


@direct(
    "jst.sec2.argmax",
    reference="Section 2, definition of ū",
    claim=r"\bar u := \arg\max_{\|w\|_2 < 1} \gamma(w) = \arg\max_{\|w\|_2 = 1} \gamma(w)",
    kind="identity",
    problems=SEPARABLE,
    assumes=(exact_and_separable,),
    unit=True,
    status="refuted",
    fixed_by="jst.sec2.argmax.fixed",
    powerless=ABOUT_DATA,
    note="γ does not depend on the length of w ≠ 0, so on separable data the left is the segment"
    " {sū : 0 < s < 1} and the right the point ū: they do not even meet. Smallest witness:"
    " n = d = 1, x_1 = 1, y_1 = 1: w = 1/2 has γ(w) = 1 = γ̄ and |w| < 1, so it is in the left set,"
    " but |w| = 1/2 is not 1. The other text of the paper prints ‖w‖ ≤ 1 on the left; that is false"
    " too, as {sū : 0 < s ≤ 1} has more than one point.",
)
def argmax_sets(case: Case) -> Iterator[Relation]:
    """The maximisers of γ over ‖w‖ < 1 are those over ‖w‖ = 1."""
    pair = Pair(case)
    yield pair.in_simplex()
    yield pair.optimal()
    # w = ū/2 maximises γ over ‖w‖ < 1; then it should be on the sphere.
    what = "‖ū/2‖ = 1, as ū/2 maximises γ over ‖w‖ < 1"
    yield equal(Fraction(1, 2), 1, what)


@direct(
    "jst.sec2.argmax.fixed",
    reference="Section 2, definition of ū, up to length",
    claim=r"\arg\max_{\|w\|_2 < 1} \gamma(w) = \{s \bar u : 0 < s < 1\},"
    r" \quad \{\bar u\} = \arg\max_{\|w\|_2 = 1} \gamma(w)",
    kind="identity",
    problems=SEPARABLE,
    assumes=(exact_and_separable,),
    unit=True,
    powerless=ABOUT_DATA,
    note="Separable data. Over ‖w‖ ≤ 1 it is the same segment with its end ū.",
)
def argmax_directions(case: Case) -> Iterator[Relation]:
    """On separable data the maximisers of γ over ‖w‖ = 1 are one point ū, and those over ‖w‖ < 1
    the multiples sū, 0 < s < 1.

    Proved by the pair (w̄, q̄), see `Pair`: ū = w̄/‖w̄‖.
    """
    pair = Pair(case)
    yield pair.in_simplex()
    yield pair.optimal()
    yield fact(pair.square > 0, "w̄ ≠ 0")


@direct(
    "jst.lemA.1.value",
    reference="Lemma A.1, first display",
    claim=r"\bar\gamma := \max_{\|w\|_2 \le 1} \min_{1 \le i \le n} (Zw)_i"
    r" = \min_{q \in \Delta_n} \|Z^\top q\|_2",
    kind="identity",
    problems=ANY,
    assumes=(rational,),
    unit=True,
    powerless=ABOUT_DATA,
    note="With Z = −A the primal problem of the lemma is not that of Section 2, which is"
    " max min_i (−Zw)_i; but w ↦ −w maps one onto the other, so the values agree and it holds.",
)
def duality(case: Case) -> Iterator[Relation]:
    """γ̄ = max_{‖w‖ ≤ 1} min_i (Zw)_i = min_{q ∈ Δ_n} ‖Zᵀq‖.

    The left is never above the right. They are equal if one w attains one ‖Zᵀq‖: w = −w̄/‖w̄‖ has
    (Zw)_i = ⟨a_i, w̄⟩/‖w̄‖, and w = 0 will do where w̄ = 0.
    """
    pair = Pair(case)
    yield pair.in_simplex()
    if pair.square > 0:
        yield fact(min(pair.scores) == pair.square, "min_i (Zw)_i = ‖Zᵀq̄‖ for w = −w̄/‖w̄‖")
    low, high = case.truth.square_lo, case.truth.square_hi
    yield fact(low == pair.square == high, "γ̄² = ‖Zᵀq̄‖²")


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
    "jst.lemA.1.vector",
    reference="Lemma A.1, second sentence",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ (of } \max_{\|w\|_2 \le 1} \min_i (Zw)_i \text{), such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    status="refuted",
    fixed_by="jst.lemA.1.vector.fixed",
    powerless=ABOUT_DATA,
    note="The primal problem of the lemma is max min_i (Zw)_i with Z = −A. Its solution is minus"
    " the classifier of Section 2, and for it Zᵀq̄ = γ̄ū, without the minus. Smallest witness:"
    " n = d = 1, x_1 = 1, y_1 = 1: max_{|w| ≤ 1} −w is attained at ū = −1 only; −Zᵀq̄ = 1 on the"
    " left, γ̄ū = −1 on the right. The proof is about max −max_i (Zw)_i, for which the lemma holds;"
    " its last display turns −max_i (Zw)_i into min_i (Zw)_i, which keeps the value but negates the"
    " solution. With the ū of Section 2 the formula is true, and that is the fixed form.",
)
def vector_as_printed(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, -1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (Zw)_i")


@direct(
    "jst.lemA.1.vector.fixed",
    reference="Lemma A.1, second sentence, with the primal problem of its proof",
    claim=r"\text{there exists a unique primal optimal solution } \bar u"
    r" \text{ of } \max_{\|w\|_2 \le 1} \min_i (-Zw)_i, \text{ such that for all dual optimal"
    r" solution } \bar q,\ -Z^\top \bar q = \bar\gamma \bar u",
    kind="identity",
    problems=(*SEPARABLE, ""),
    assumes=(exact_and_separable,),
    unit=True,
    powerless=ABOUT_DATA,
)
def vector(case: Case) -> Iterator[Relation]:
    """−Zᵀq̄ = γ̄ū for all dual optima q̄ and the one solution ū of max_{‖w‖ ≤ 1} min_i (−Zw)_i, on
    separable data.
    """
    yield from alignment(case, -1, 1, "−Zᵀq̄ = γ̄ū for ū that maximises min_i (−Zw)_i")
