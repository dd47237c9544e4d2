"""Statements that are false as printed say what is printed: their sides, from formulas by hand.

A slip of the transcription would be refuted as well. So each relation that fails is compared with
the printed formula, evaluated here in floats and without the modules of the paper.
"""

from __future__ import annotations

import math
from fractions import Fraction as Q
from importlib import import_module

import numpy as np
import pytest
from statement_checks import STATEMENTS, relations

from gammabar.harness.verify.context import Case, Unclaimed
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.problems import DenseProblem, load
from gammabar.problems.specs import open_problem
from gammabar.solvers.tyurin import LogisticRegressionGD


def sides(name: str, case: Case, **inputs: object) -> list[tuple[float, float]]:
    """Both sides of every relation of a direct statement, for inputs of a search if given."""
    case.inputs = inputs or None
    with working(LEVELS[1]):
        found = STATEMENTS[name].body(case)
        relations = found if hasattr(found, "__iter__") else [found]
        return [(float(r.left), float(r.right)) for r in relations if r.op != "fact"]


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(x))


LAST_LINE = 4 * (1 + math.log(3)) * (1 + 2 * math.log(5)) / 25
ONE_POINT = {"x": (Q(1, 2),), "u1": (Q(3),), "u2": (Q(1),)}
#: Statement → inputs, and both sides of its first relations, as the source prints them.
DIRECT = {
    # α/μ with α = (2 log(2n−1) + R²)/(γμ), and R²/μ² + 2 log(2n−1)/(γμ²)
    "tyurin.appC.alpha": (
        {"n": 3, "step": Q(2), "R": Q(3), "mu": Q(1, 2)},
        [((2 * math.log(5) + 9) / (2 * 0.25), 36 + 2 * math.log(5) / (2 * 0.25))],
    ),
    # g(a; θ) = aθ at 0: the printed step a/2, and −γ∇f = γya/2
    "tyurin.sec8.step": ({"a": Q(3), "y": -1, "step": Q(5)}, [(1.5, -7.5)]),
    # ‖θ_1/γ − θ̂_1‖ with the half step, and E_1 = 2‖θ_0‖/γ, for γ = 100
    "tyurin.fn3": (
        {"rows": ((Q(2),),), "theta_0": (Q(1),)},
        [(abs(0.01 + 2 * sigma(2) - 1), 0.02)],
    ),
    # A = diag(9, 1), b = (9, 0), T = 2: (9/2)(4/5)⁴ against e^{−2/9}·9/4
    "lec.thm1": (
        {"diagonal": (Q(9), Q(1)), "b": (Q(9), Q(0)), "T": 2},
        [(1152 / 625, math.exp(-2 / 9) * 9 / 4)],
    ),
    # z = 2√(ε(1 − ε)), and the printed right side, which is 0
    "lec.alg3.z.sum": ({"epsilon": Q(1, 5)}, [(0.8, 0.0)]),
    "lec.alg3.z.exp": (
        {"gamma": Q(1, 4)},
        [(math.sqrt(0.75), math.exp(-0.125)), (math.exp(-0.125), math.exp(0.125))],
    ),
    # γ̄_m = 1/√2 and c = 4(1 + ln 3)(1 + 2 ln 5)/25; what is at least stands on the right
    "jst.appE.rate": (
        {"gamma": Q(1, 2), "n": 3, "t": 4},
        [(math.sqrt(0.5) - LAST_LINE * math.sqrt(2), math.sqrt(2) * (0.5 - LAST_LINE / 0.5))],
    ),
    # z = x(e_1 − e_2)ᵀ/√2 and U = (3, 1): ⟨z, U⟩ = 1/√2, and x(u_1 − u_2) = 1
    "jst.appE.margin": (ONE_POINT, [(-1 / math.sqrt(20), 1 / math.sqrt(20))]),
    "jst.sec5.2.risk": (
        ONE_POINT,
        [
            (math.exp(-1), math.exp(math.sqrt(0.5))),
            (math.log1p(math.exp(-1)), math.log1p(math.exp(math.sqrt(0.5)))),
        ],
    ),
    # p = (1) and a row of norm one
    "rp.lem7": ({}, [(1.0, 0.0)]),
    # d(p) = ½‖p − c‖² with p* = (1, 0), for p_0 = (1, 0), (0, 1) and the point between them
    "rp.eq17": ({"centre": (Q(1), Q(-1))}, [(0.0, 0.5), (1.0, 2.5), (0.25, 1.25)]),
    # At T = 1 the VC dimension of the thresholds and their negatives, and c·1·1·log 1
    "lec.sec4.vc": ({"H": "thresholds", "T": 1}, [(2.0, 0.0)]),
}


#: Rows 1 and ½, so γ̄ = ½: Zᵀq̄ = −γ̄ū, which is 2γ̄ from what is printed; ū/2 is half as long as ū.
ON_DATA = {"jst.sec2.argmax": (0.5, 1.0), "jst.sec3.1.align": (1.0, 0.0)}
ON_DATA["jst.lemA.1.vector"] = (1.0, 0.0)
#: Statement → rows or inputs, and which of its first facts are so.
FACTS = [
    # The suprema are 0 on sphere and ball; and −1/√2 and 0, as ρ₂ < 0
    ("rp.sec2.2.ball", "rows:1,0;-1,0", [False]),
    ("rp.sec2.2.ball", "rows:1,0;-1,0;0,1;0,-1", [True]),
    # sign(0) = 0 is neither 1 nor −1
    ("rp.eq1", {"w": (1, 0), "x": (0, 1)}, [False, False]),
    ("rp.eq1", {"w": (1, 0), "x": (1, 0)}, [True, True]),
    # s − 1 ≥ 0 if and only if s > 0
    *(
        ("rp.thm2.proof", {"shift": Q(-1), "s": Q(s)}, [true])
        for s, true in ((-1, True), (0, True), ("1/2", False), (1, True), (2, True))
    ),
    # Rows e_1, e_2, Gα = (1, 0), q = p = (0, 1): the gradient is (1, 0), and r = e_1, e_2
    (
        "rp.eq16",
        {"slopes": (Q(0), Q(1)), "alpha": (Q(1), Q(0)), "q": (Q(0), Q(1)), "mu": Q(1)},
        [False, True],
    ),
    # ∇d(p*) = (0, 1), and r − p* for the same points
    ("rp.eq17", {"centre": (Q(1), Q(-1))}, [True, False, False]),
]
#: The others have tests of their own below, or in the tests of the formulas of their paper.
OTHERS = """
tyurin.thm4.1 tyurin.sec6.limits tyurin.sec8.bias rp.thm3.part2
lec.ex9.2 lec.lem7.line4 lec.def5 lec.ridge lec.thm10
jst.sec1.quarter jst.lem3.4.mu jst.prop3.7 jst.thm4.1 jst.thm5.1 jst.eqB.6 jst.eqB.11
jst.lemC.12.sum jst.eqC.13 jst.appC.length rp.winnow rp.lem9 rp.thm4.1 rp.thm4.2
"""


def test_every_statement_that_is_false_as_printed_is_here() -> None:
    false = {s.id for s in STATEMENTS.values() if s.status == "refuted"}
    named = {*DIRECT, *ON_DATA, *(name for name, *_ in FACTS), *OTHERS.split()}
    assert {i for i in false if i.startswith(("jst.", "tyurin.", "rp.", "lec."))} == named


@pytest.mark.parametrize("name", ON_DATA)
def test_sides_on_two_rows(name: str) -> None:
    assert sides(name, Case(open_problem("rows:1;1/2"), unit=True)) == [ON_DATA[name]]


@pytest.mark.parametrize(("name", "given", "true"), FACTS)
def test_facts_are_those_printed(name: str, given, true: list[bool]) -> None:
    case = Case(open_problem(given), unit=True) if isinstance(given, str) else Case()
    case.inputs = None if isinstance(given, str) else given
    with working(LEVELS[1]):
        found = [r.fact for r in STATEMENTS[name].body(case) if r.op == "fact"]
    assert found[: len(true)] == true


@pytest.mark.parametrize("name", DIRECT)
def test_both_sides_are_those_printed(name: str) -> None:
    inputs, wanted = DIRECT[name]
    found = sides(name, Case(), **inputs)
    for (left, right), sides_by_hand in zip(found, wanted, strict=False):
        assert (left, right) == pytest.approx(sides_by_hand, rel=1e-9, abs=1e-12)
    assert len(found) >= len(wanted)


def test_theorem_4_1_as_printed() -> None:
    """f(0) = log 2, whatever the data, against what tends to infinity with γ."""
    found = sides("tyurin.thm4.1", Case(load("loss-spike")))
    assert [high for _, high in found] == pytest.approx([math.log(2)] * 3)
    assert [low for low, _ in found] == pytest.approx([100 / 9, 1e4 / 9, 1e6 / 9])


def test_example_9_2_and_the_learner_of_lemma_7_as_printed() -> None:
    assert sides("lec.ex9.2", Case()) == [(len(set("university") & set("california")), 2)]
    for name, gamma in (("lec.lem7.line4", Q(2, 5)), ("lec.def5", Q(3, 5))):
        # T = ln 6/(2γ²) is 5.6 and 2.5, so the last two rounds up to ⌈T⌉ are meant.
        found = sides(name, Case(), y=(1, 1, -1), gamma=gamma)
        assert found == [pytest.approx((1 / 3, 0))] * 2


def test_the_limits_of_section_6_as_printed() -> None:
    """Rows (1, −1) twice and (1, 4) thrice, t = 1: S_1 is known, and so are the printed limits."""
    rows = np.array([[1, -1], [1, -1], [1, 4], [1, 4], [-1, 9]])
    theta = rows.mean(axis=0) / 2
    wrong = rows[rows @ theta <= 0]
    gamma, n = 1e6, len(rows)
    problem = DenseProblem(rows, np.ones(n, dtype=int))
    gradient, beta = relations("tyurin.sec6.limits", LogisticRegressionGD(gamma), problem, 1)[:2]
    true = -wrong.sum(axis=0) / n  # the limit, of which the run is within 10⁻⁶
    assert 0 < len(wrong) < n
    assert float(gradient.left) == pytest.approx(
        np.linalg.norm(true - wrong.mean(axis=0)), rel=1e-5
    )
    assert float(beta.left) == pytest.approx(abs(n / len(wrong) - len(wrong)), rel=1e-5)


def test_the_bias_of_section_8_as_printed() -> None:
    """One row 1: log(1 + e^{−1}) ≤ f(θ_3), with θ_3 from three steps of the text."""
    theta = 0.0
    for _ in range(3):
        theta += sigma(theta)
    one = "degenerate:kind=simplex,n=1,d=1"
    (relation,) = relations("tyurin.sec8.bias", LogisticRegressionGD(1.0), one, 3)
    assert float(relation.left) == pytest.approx(math.log1p(math.exp(-1)))
    assert float(relation.right) == pytest.approx(math.log1p(math.exp(-theta)))


def facts(name: str, **inputs: object) -> dict[str, bool]:
    """What a statement of facts says of inputs."""
    case = Case()
    case.inputs = inputs
    with working(LEVELS[1]):
        return {r.what: r.fact for r in STATEMENTS[name].body(case)}


def test_the_derivation_of_section_5_as_printed() -> None:
    """Φ = (0), y = 1, λ = 1 and α = 0: the third ⟺ alone fails."""
    found = facts("lec.ridge", features=((Q(0),),), y=(Q(1),), alpha=(Q(0),), **{"lambda": Q(1)})
    assert list(found.values()) == [True, True, False, True]


def test_example_2_compares_every_point_with_the_only_minimum(monkeypatch) -> None:
    """With another vector in place of A⁻¹b, both facts about the minimum fail; with 1 in place of
    the minimum 0 of x², −1 is as good and 0 is better."""
    section1 = import_module("gammabar.papers.lecture.section1_3")
    least = "A⁻¹b is the minimum"

    class Moved(section1.fmpq_mat):
        def solve(self, b):
            return super().solve(b) + b if b.nrows() > 1 else section1.vector([1])

    monkeypatch.setattr(section1, "matrix", lambda rows: Moved(rows))
    false = {r.what for r in STATEMENTS["lec.ex2"].body(Case()) if r.fact is False}
    assert {least, "f(x) − f(A⁻¹b) = ½‖x − A⁻¹b‖²_A"} <= false
    monkeypatch.setattr(section1, "QUADRATICS", (([[2]], [0]),))
    found = [r.fact for r in STATEMENTS["lec.ex2"].body(Case()) if r.what == least]
    assert found == [False, False, True]


def test_theorem_10_as_printed() -> None:
    for K, kernel in (
        (((0, -1), (1, 0)), False),  # vᵀKv = 0, and no features
        (((2, 1), (1, 2)), True),
        (((1, 2), (2, 1)), True),  # neither
    ):
        assert list(facts("lec.thm10", K=K).values()) == [kernel]


# --- claims that are true are not weaker than printed -------------------------------------------


@pytest.mark.parametrize(
    ("rows", "f", "expected"),
    [
        ((1, 2), -1, [True]),
        ((0, 2), -1, [True]),
        ((1, 2), 3, [False]),
        ((1, 2), 0, [False]),
        ((-1, 1), 2, [False]),
        ((1, 2), 2, None),
        ((1, 1), 3, None),
    ],
)
def test_part_2_of_theorem_3_on_a_line(rows, f, expected) -> None:
    """Some g of ±1 is negative at f and not negative on the hull."""
    inputs = {"rows": tuple((row,) for row in rows), "f": (f,)}
    if expected is None:
        with pytest.raises(Unclaimed):
            facts("rp.thm3.part2", **inputs)
    else:
        assert list(facts("rp.thm3.part2", **inputs).values()) == expected
