"""The papers of one file: their statements hold, and refute wrong solvers and false claims."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from flint import arb

import gammabar as gb
from gammabar.harness.registry import find_sources, find_statement, mutants, plugins
from gammabar.harness.run.tasks import open_solver
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.run_checks import check_statement
from gammabar.papers import Case

KEYS = ("jt", "wang", "wu", "yu")
PLANTED, TEN = "planted:n=20,d=4,gamma=0.2,seed=0", "rows:-1,0;-2,-2*9"
MORE, ROWS = "planted:n=60,d=6,gamma=0.1,seed=0", "rows:4,3;4,-3;5,0"
#: Where a statement refutes the solver of the next slower rate: problem, iterations, options.
POWER: dict[str, tuple[Any, ...]] = {
    "jt.lem3": (PLANTED, 3),
    "jt.lem4": (PLANTED, 3),
    "jt.thm8.upper": (TEN, 1100, {"hat": 1.0}),
    "jt.lem14.step": ("rows:1,0;1,1;1,-1", 70, {"loss": "log", "hat": 0.5}),
    "jt.lem19": (PLANTED, 3, {"loss": "log", "eta": 1.0}),
    "jt.thm1.dual": (PLANTED, 10),
    "jt.thm1.rate": (PLANTED, 50),
    "jt.thm1.primal": (PLANTED, 10),
    "jt.thm1.sum": (PLANTED, 10),
    "jt.thm5.dual": ("rows:1,0;1,3", 50),
    "jt.thm5.bias": ("rows:1,0;1,3", 80),
    "jt.thm7.exp": (PLANTED, 60),
    "jt.lem18": (PLANTED, 60),
    "wang.thm2": (MORE, 20),
    "wang.thm3.regret": (MORE, 90),
    "wang.sec4.2.gap.fixed": (MORE, 10),
    "wang.thm4.regret": (MORE, 20),
    "wang.thm4.norm": ("opposed:r=8,copies=20", 3),
    "wang.thm8": ("iris:0,1", 3),
    "wang.thm3.gap": ("orthogonal:n=10,p=0.95", 60),
    "wang.thm4.rate": ("orthogonal:n=30,p=0.35", 120),
    "wang.lem5": ("orthogonal:n=10,p=0.95", 30),
    "wang.thm6.rate": ("orthogonal:n=30,p=0.35", 120),
    "wang.eq34": ("worst-case:n=50", 20),
    "wang.eq39": ("orthogonal:n=10,p=0.95", 30),
    "wang.thm9.rate": ("iris:0,1", 60),
    "wang.thm9.certificate": ("crossed:copies=98", 10),
    "wang.prop3": ("worst-case:n=50", 10),
    "wang.thm7": ("worst-case:n=20", 10),
    "wu.thm1.average": (ROWS, 110),
    "wu.thm1.stable": (ROWS, 170),
    "wu.thm1.transition": (ROWS, 400, {"eta": 4.0}),
    "wu.lem10": (ROWS, 5),
    "wu.lem7": (ROWS, 5),
    "wu.lem9.fixed": (ROWS, 60),
    "wu.lem8.fixed": (ROWS, 60),
    "wu.thm35.average": (ROWS, 3000),
    "yu.sec5.3.x": ("iris:0,1", 3),
    "yu.sec5.3.y": ("iris:0,1", 3),
    "yu.thm1": ("planted:n=40,d=5,gamma=0.01,seed=1", 60),
    "yu.thm3.a.fixed": ("worst-case:n=50", 10),
    "yu.thm3.b": ("inseparable:n=6,d=2,seed=0", 60),
}
SEPARABLE, OVERLAPPING = "rows:4,1;4,-3;5,0", "inseparable:n=8,d=2,seed=0"
#: Runs in which all that is said to hold holds, and how many statements at least apply.
RUNS: list[tuple[str, str, int, int]] = [
    *(
        (f"jt.gradient_descent{options}", problem, 12, 5)
        for options in ("", ":loss=log", ":loss=poly,k=2", ":eta=1")
        for problem in (SEPARABLE, OVERLAPPING)
    ),
    *(
        (f"wang.{solver}", "planted:n=12,d=3,gamma=0.5,seed=1", 20, 1)
        for solver in (
            *("smooth_perceptron", "accelerated_perceptron", "nesterov"),
            *("mirror_prox", "p_norm_perceptron"),
        )
    ),
    *(
        (f"wu.gradient_descent:{options}", ROWS, 30, 1)
        for options in ("eta=0.1", "eta=20", "loss=exp,eta=4", "loss=poly,a=2")
    ),
    *(
        ("yu.mirror_prox", problem, 20, 4)
        for problem in (
            *("planted:n=12,d=3,gamma=0.5,seed=1", "inseparable:n=12,d=3,seed=0"),
            "iris:0,1:n=10 --kernel rbf:gamma=1",
        )
    ),
]
TWO = "degenerate:kind=simplex,n=2,d=2"
#: √2 + 2 ln(γ²ηt) + η for γ² = 1/2, η = 1/10 and t = 1
EARLY = math.sqrt(2) + 2 * math.log(0.05) + 0.1
#: What is false as printed: a run that refutes it, and both sides where it does, by hand.
FALSE: dict[str, tuple[Any, ...]] = {
    "jt.lem21": ("jt.two_phases:t0=1000000", "degenerate:kind=simplex,n=1,d=1", 20, 1.0, 0.0),
    # Rows (−1, 0)/√8 and (−2, −2)/√8 twice, w_1 = 0.08 Aᵀq_0, in units of √0.08
    "jt.thm8.equal": (
        *("jt.gradient_descent:hat=0.08", "rows:-1,0;-2,-2*2", 3),
        *(math.sqrt(0.08 * 41 / 72), 1.0),
    ),
    "wang.sec4.2.gap": ("wang.smooth_perceptron", "rows:1;1", 3, 1.0, 0.5),
    "wang.eq8": ("wang.accelerated_perceptron", "rows:1,0;2,1;1,0", 5),
    # w_1 = (η/4)(1, 1)
    "wu.lem8": ("wu.gradient_descent:eta=0.1", TWO, 3, 0.05 / math.sqrt(2), math.sqrt(2) * EARLY),
    "wu.lem9": ("wu.gradient_descent:eta=0.1", TWO, 3, 0.5, EARLY / 0.05),
    "wu.thm4": ("wu.sgd", "planted:n=10,d=3,gamma=0.1,seed=0", None),
    "yu.thm3.a": ("yu.mirror_prox:eps=10", "worst-case:n=50", 3),
}


@pytest.fixture(scope="module", autouse=True)
def _papers():
    """All four, closed afterwards: other tests count what there is."""
    with plugins():
        yield


def verdict(solver: Any, problem: str, identifier: str, steps: int | None) -> str:
    [found] = gb.verify(solver, problem, identifier, iterations=steps)
    return str(found.verdict)


def test_every_rate_names_the_next_slower_solver_or_says_why_not():
    found = [s for s in find_sources(KEYS) if s.status == "holds"]
    assert {s.id for s in found if s.slower} == set(POWER)
    without = [s.id for s in found if not (s.slower or s.powerless or s.kind == "identity")]
    assert without == []


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.full] * (POWER[n][1] > 2000)) for n in POWER]
)
def test_rates_refute_the_next_slower_solver(name):
    problem, steps, *options = POWER[name]
    wrong = mutants()[find_statement(name).slower].make(**(options[0] if options else {}))
    assert verdict(wrong, problem, name, steps) == "refuted"


def verdicts(solver: str, problem: str, steps: int) -> dict[str, str]:
    """Statement → verdict for those about a solver that are said to hold."""
    name = solver.partition(":")[0]
    of = find_sources([name.partition(".")[0]])
    asked = [s.id for s in of if s.status == "holds" and name in s.solvers]
    found = gb.verify(open_solver(solver), problem, asked, iterations=steps)
    return {v.statement: str(v.verdict) for v in found}


@pytest.mark.parametrize(("solver", "problem", "steps", "least"), RUNS)
def test_statements_hold(solver, problem, steps, least):
    found = [*verdicts(solver, problem, steps).values()]
    assert set(found) <= {"holds", "inapplicable"}
    assert found.count("holds") >= least


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_as_printed_is_refuted(name):
    solver, problem, steps, *sides = FALSE[name]
    [found] = gb.verify(open_solver(solver), problem, name, iterations=steps)
    assert found.verdict == "refuted"
    if sides:
        assert [float(arb(side)) for side in (found.left, found.right)] == pytest.approx(sides)


def test_statements_with_data_of_their_own():
    for statement in find_sources(KEYS):
        if not statement.about_runs and "" in statement.problems and not statement.solvers:
            found = check_statement(statement, Case()).verdict
            assert found == statement.status, statement.id


#: False as printed, about data of their own: sides and facts of the first relations, by hand.
PRINTED = {
    # c_0 = 1, 100 and η = 1/(2c_0): 2/√e against ln(1 + exp(−9η/50))
    "wu.lem13": [(2 / math.sqrt(math.e), math.log1p(math.exp(-0.09 / c))) for c in (1, 100)],
    # y_1 = 1, so that φ̲(y_1) = 1 = ρ(A)
    "yu.sec5.2.strict": [False],
    "yu.sec5.4": [
        (math.sqrt(2 * math.log(n)), math.sqrt(math.log(n)) + math.sqrt(0.5)) for n in (19, 1000)
    ],
    # Qx* = (½, −½) and Ψ = (1, −1)
    "yu.sec6.1.certificate": [False, False, False],
    # From 2 to 2/4 and to 1; from (−5/2, 1) to the same over 29/4, and over its norm
    "yu.sec6.2.prox": [(1.5, 1.0), (math.sqrt(7.25) * (1 - 4 / 29), math.sqrt(7.25) - 1)],
}


@pytest.mark.parametrize("name", PRINTED)
def test_relations_are_those_printed(name):
    with working(LEVELS[1]):
        found = find_statement(name).body(Case())
        found = list(found) if hasattr(found, "__iter__") else [found]
    sides = [r.fact if r.op == "fact" else (float(r.left), float(r.right)) for r in found]
    assert len(sides) == len(PRINTED[name])
    for one, printed in zip(sides, PRINTED[name], strict=True):
        assert one == (printed if isinstance(printed, bool) else pytest.approx(printed))


def test_every_statement_that_is_false_as_printed_is_here():
    false = {s.id for s in find_sources(KEYS) if s.status == "refuted"}
    assert false == FALSE.keys() | PRINTED.keys()


def test_theorem_3_of_wu_and_its_lemma_hold():
    found = verdicts("wu.gradient_descent:eta=4", "rows:400,19998;400,-9999", 40)
    assert (found["wu.thm3"], found["wu.lem13.fixed"]) == ("holds", "holds")


def test_polynomial_tails_have_a_bias_of_their_own():
    found = verdicts("jt.gradient_descent:loss=poly", "rows:1,1;2,-4", 100)
    for name in ("thm1.rate", "thm5.dual", "thm5.bias"):
        assert found[f"jt.{name}"] == "holds"


@pytest.mark.full
def test_the_direction_of_other_tails_is_refuted(monkeypatch):
    """With q̄ of the maximum margin in place of that of ℓ_poly, Theorem 5 would fail."""
    module = sys.modules[find_statement("jt.thm5.bias").body.__module__]
    monkeypatch.setattr(module, "convex_tail", lambda case: None)
    found = verdicts("jt.gradient_descent:loss=poly", "rows:1,1;2,-4", 700)
    assert "refuted" in (found["jt.thm5.dual"], found["jt.thm5.bias"])


@pytest.mark.parametrize("problem", [PLANTED, "iris:0,1", "rows:4,1;3,-2", TEN])
def test_the_offset_of_theorem_9_minimises_the_risk_of_the_rows_on_the_margin(problem):
    offset = sys.modules[find_statement("jt.thm9").body.__module__].offset
    case = Case(gb.load(problem), unit=True)
    weights, radius, length, _ = offset(case)
    rows = np.array([case.problem.row(i) for i in range(case.n)])
    best = rows.T @ np.array([float(q) for q in case.q_bar])
    on = np.abs(rows @ best - best @ best) < 1e-12
    across = rows - np.outer(rows @ best, best) / (best @ best)
    v = across.T @ weights
    pull = np.exp(-across[on] @ v) @ across[on]
    assert np.abs(pull).max() < 1e-12
    assert np.linalg.norm(v) == pytest.approx(float(length))
    assert radius < 1e-3
