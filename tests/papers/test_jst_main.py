"""The statements of the main text of Ji, Srebro and Telgarsky, and our own on Algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements, witness
from gammabar.harness.run.specs import open_problem, open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.relation import VIOLATED, Relation, same_digits
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import DirectStatement, Statement
from gammabar.harness.verify.verdict import Verdict
from gammabar.papers.gammabar import jst_rates, trials as gb_trials
from gammabar.papers.ji_srebro_telgarsky_2021 import (
    appendix_ab,
    section1_2,
    section3,
    section5,
    trials,
)
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import ONE_ROW, Optimum
from gammabar.problems import MulticlassProblem, from_arrays
from gammabar.solvers import DualAcceleration, DualForm, GradientDescent, NormalizedGradientDescent
from gammabar.solvers.base import Iterate

STATEMENTS = load_statements()
MODULES = (
    section1_2,
    section3,
    section5,
    appendix_ab,
    jst_rates,
)
OTHERS = ("jst.sec5.1", "jst.eqC", "jst.eqB", "jst.lemB", "jst.thmB", "gb.sampling", "gb.four")
OTHERS += ("jst.appE", "jst.thm5.1.margin")
MINE = {  # Section 5.1 is tested with the appendices
    s.id: s
    for s in STATEMENTS.values()
    if s.body.__module__ in {m.__name__ for m in MODULES} and not s.id.startswith(OTHERS)
}
RUNS = [s for s in MINE.values() if s.about_runs]
DIRECT = [s for s in MINE.values() if isinstance(s, DirectStatement)]
TRIALS = [*trials.SECTION3, *trials.SECTION5, *gb_trials.JST_RATES]
FALSE = {
    "jst.sec2.argmax",
    "jst.sec3.1.align",
    "jst.lemA.1.vector",
    "jst.lem3.4.mu",
    "jst.prop3.7",
    "jst.sec1.quarter",
    "jst.sec5.2.risk",
    "jst.thm5.1",
}
PLANTED = "planted:n=40,d=5,gamma=0.05,seed=1"


def about(name: str) -> list[Statement]:
    return [s for s in RUNS if name in s.solvers]


def heard(solver: Any, text: str, ids: list[str], iterations: int = 60) -> dict[str, Verdict]:
    case = Case(open_problem(text), solver, unit=True, name=text)
    verdicts = check_run(case, [STATEMENTS[i] for i in ids], iterations, most=2000)
    return {v.statement: v for v in verdicts}


# What is registered ------------------------------------------------------------------------------


def test_statements_are_listed_in_the_order_of_the_paper():
    ids = list(load_statements())
    names = "sec1.quarter sec2.argmax thm3.1.1 sec3.1.mirror lem3.2 lem3.5 thm4.1 lemD.1"
    names += " thm5.1 appE.margin lemA.1.value lemB.3 thmB.12 lemC.2"
    places = [ids.index(f"jst.{name}") for name in names.split()]
    assert places == sorted(places)


@pytest.mark.parametrize("statement", MINE.values(), ids=lambda s: s.id)
def test_false_ones_name_their_fixed_form_and_witness(statement):
    assert statement.words
    assert statement.unit
    if statement.status == "refuted":
        assert MINE[statement.fixed_by].status == "holds"
        assert witness(statement.id)
        assert "witness" in statement.note
        assert statement.problems
    assert statement.powerless or not isinstance(statement, DirectStatement)


# The plan ----------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("trial", TRIALS, ids=lambda t: f"{t.solver} {t.problem}")
def test_trials_decide_as_expected(trial):
    case = Case(open_problem(trial.problem), open_solver(trial.solver), unit=True)
    statements = about(solver_name(trial.solver))
    verdicts = check_run(case, statements, trial.iterations)
    assert "holds" in {v.verdict for v in verdicts}
    for statement, v in zip(statements, verdicts, strict=True):
        allowed = {"holds", "inapplicable"}
        if statement.status == "refuted":
            allowed = {"refuted"} if trial.problem in statement.problems else allowed | {"refuted"}
        assert v.verdict in allowed, v


@pytest.mark.parametrize("statement", [s for s in RUNS if s.problems], ids=lambda s: s.id)
def test_runs_on_their_own_problems(statement):
    for text in statement.problems:
        for name in statement.solvers:
            case = Case(open_problem(text), open_solver(name), unit=True)
            (v,) = check_run(case, [statement], 200)
            assert v.verdict == statement.status, v


@pytest.mark.parametrize("statement", DIRECT, ids=lambda s: s.id)
def test_direct_statements_on_their_problems(statement):
    for text in statement.problems:
        case = Case(open_problem(text) if text else None, unit=True)
        assert check_statement(statement, case).verdict == statement.status, text


def test_every_statement_about_runs_holds_somewhere():
    """Not inapplicable in every run of the plan."""
    found = set()
    for trial in TRIALS:
        if "mnist" in trial.problem:
            continue
        case = Case(open_problem(trial.problem), open_solver(trial.solver), unit=True)
        statements = about(solver_name(trial.solver))
        found |= {v.statement for v in check_run(case, statements, 3, most=200) if v.checked}
    assert found == {s.id for s in RUNS}


# Power: what is wrong is refuted -----------------------------------------------------------------


@dataclass(frozen=True)
class Wrong:
    """A solver whose iterates are changed on their way out."""

    solver: Any
    change: Callable[[Iterate], Iterate]
    card = DualAcceleration.card

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        for it in self.solver.iterates(problem, rng):
            yield self.change(it)


def scaled_w(factor: float) -> Callable[[Iterate], Iterate]:
    return lambda it: replace(it, w=factor * it.w, soft=None)


def wobbling_w(it: Iterate) -> Iterate:
    return replace(it, w=it.w * (1 + 1e-6 * (it.t % 2)), soft=None)


def scaled_momentum(factor: float) -> Callable[[Iterate], Iterate]:
    return lambda it: replace(it, momentum=factor * it.momentum)


def vertex(it: Iterate) -> Iterate:
    mu = np.zeros(it.dual.size)
    mu[0] = 1.0
    return replace(it, extra=it.extra | {"mu": mu})


WRONG: list[tuple[str, Any, Callable[[Iterate], Iterate]]] = [
    ("jst.thm3.1.1", DualAcceleration(), scaled_w(-1)),
    ("jst.thm3.1.1", DualForm(), scaled_w(-1)),
    ("jst.thm3.1.2", DualAcceleration(), scaled_momentum(4)),
    ("jst.thm3.1.2", DualAcceleration(), scaled_momentum(0.2)),
    ("jst.lem3.2", DualForm(), vertex),
    ("jst.lem3.5", DualAcceleration(), scaled_w(0.5)),
    ("jst.lem3.6.lower", DualAcceleration(), scaled_w(0.5)),
    ("jst.lem3.6.upper", DualAcceleration(), scaled_w(1 + 1e-6)),
    ("jst.prop3.7.fixed", DualAcceleration(), scaled_w(-1)),
    ("jst.sec1.quarter.fixed", DualAcceleration(), scaled_w(-1)),
    ("jst.lem3.4.primal", DualAcceleration(), wobbling_w),
    ("jst.lem3.4.primal", DualForm(), wobbling_w),
    ("jst.lem3.4.primal", DualAcceleration(), lambda it: replace(it, w=it.w + 1.0, soft=None)),
    ("jst.lem3.4.momentum", DualAcceleration(), scaled_momentum(1 + 1e-6)),
    ("jst.lem3.4.momentum", DualForm(), lambda it: replace(it, extra={"nu": it.dual})),
    ("jst.lem3.4.mu.fixed", DualAcceleration(), scaled_momentum(1 + 1e-6)),
    ("jst.lem3.4.mu.fixed", DualForm(), vertex),
    ("gb.sharp", DualAcceleration(), scaled_w(-1)),
    ("gb.selfcert", DualAcceleration(), scaled_w(3)),
]


@pytest.mark.parametrize(("identifier", "solver", "change"), WRONG)
def test_wrong_iterates_are_refuted(identifier, solver, change):
    text = "digits:0,1:n=60" if identifier == "gb.selfcert" else PLANTED
    assert heard(solver, text, [identifier])[identifier].verdict == "holds"
    v = heard(Wrong(solver, change), text, [identifier])[identifier]
    assert v.verdict == "refuted", v


def test_a_wrong_multiclass_margin_is_refuted():
    text = "planted:n=30,d=4,gamma=0.2,seed=0 --multiclass"
    wrong = Wrong(DualAcceleration(), scaled_w(-1))
    assert heard(wrong, text, ["jst.thm5.1.fixed"])["jst.thm5.1.fixed"].verdict == "refuted"
    # And with the sign reversed, the printed form is the true one.
    assert heard(wrong, text, ["jst.thm5.1"])["jst.thm5.1"].verdict == "holds"


@pytest.mark.parametrize("values", [np.ones(3), np.array([np.nan] * 5), np.array([np.inf] * 5)])
def test_a_momentum_that_is_no_vector_of_the_space_is_refuted(values):
    ids = ["jst.thm3.1.2", "jst.lem3.4.momentum", "jst.lem3.4.mu.fixed"]
    wrong = Wrong(DualAcceleration(), lambda it: replace(it, momentum=values))
    assert {v.verdict for v in heard(wrong, PLANTED, ids).values()} == {"refuted"}


@dataclass(frozen=True)
class SlightlyLong:
    """Gradient descent, plain or normalised, whose step is wrong by one part in 10⁶."""

    solver: Any

    @property
    def card(self) -> Any:
        return self.solver.card

    @property
    def step(self) -> float:
        return self.solver.step

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        yield from replace(self.solver, step=self.step * (1 + 1e-6)).iterates(problem, rng)


@pytest.mark.parametrize("solver", [GradientDescent(), NormalizedGradientDescent()])
def test_a_wrong_step_of_gradient_descent_is_refuted(solver):
    identifier = "jst.sec3.1.mirror"
    assert heard(solver, PLANTED, [identifier])[identifier].verdict == "holds"
    assert heard(SlightlyLong(solver), PLANTED, [identifier])[identifier].verdict == "refuted"


class Bare:
    """A user's solver: t and w, and nothing else."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        for it in self._solver.iterates(problem, rng):
            yield Iterate(it.t, it.w)


def test_a_solver_that_yields_only_t_and_w_can_be_judged():
    found = heard(Bare(DualAcceleration()), PLANTED, [s.id for s in about("dual-acceleration")])
    silent = {i for i, v in found.items() if v.verdict == "inapplicable"}
    # What is about the momentum has nothing to judge; the others are not of this problem.
    assert silent == {
        "jst.lem3.4.momentum",
        "jst.lem3.4.mu.fixed",
        "jst.lem3.4.mu",
        "jst.thm5.1",
        "jst.thm5.1.fixed",
    }
    assert {v.verdict for i, v in found.items() if i not in silent} == {"holds"}
    mirror = heard(Bare(GradientDescent()), PLANTED, ["jst.sec3.1.mirror"])
    assert mirror["jst.sec3.1.mirror"].verdict == "holds"
    wrong = heard(Bare(DualAcceleration()), PLANTED, ["jst.sec3.1.mirror"])
    assert wrong["jst.sec3.1.mirror"].verdict == "refuted"


class InPlace:
    """A user's solver that goes on with the array that it yields."""

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        w, momentum = problem.origin(), problem.origin()
        for t in range(1000):
            pull = problem.softmin(w).pull
            momentum += pull
            momentum *= t / (t + 1)
            yield Iterate(t, w, momentum=momentum)
            w += momentum
            w += pull


def test_a_solver_may_change_its_arrays_in_place():
    found = heard(InPlace(), PLANTED, [s.id for s in about("dual-acceleration")])
    assert {v.verdict for v in found.values()} == {"holds", "inapplicable"}


@pytest.mark.parametrize(
    "identifier",
    [
        "jst.lemA.1.value",
        "jst.sec2.argmax.fixed",
        "jst.sec3.1.align.fixed",
        "jst.lemA.1.vector.fixed",
    ],
)
def test_a_wrong_dual_point_is_refuted(identifier):
    case = Case(open_problem(PLANTED), unit=True)
    truth = case.truth
    assert check_statement(STATEMENTS[identifier], case).verdict == "holds"
    first, *rest = truth.numerators
    vars(case)["truth"] = replace(truth, numerators=[first + 1, *rest], total=truth.total + 1)
    assert check_statement(STATEMENTS[identifier], case).verdict == "refuted"
    vars(case)["truth"] = replace(truth, numerators=[first + 1, *rest])
    assert check_statement(STATEMENTS[identifier], case).verdict == "refuted"


def test_equations_in_balls_tell_numbers_apart():
    with working(LEVELS[0]):
        x = arb(2).sqrt()
        assert same_digits(x, x).certain()
        assert same_digits(x, x * (1 + arb(2) ** -60)).decide(0.0) == VIOLATED


# Printed constants -------------------------------------------------------------------------------


def sides(identifier: str, text: str, t: int, solver: Any = None) -> list[Any]:
    """The relations of a statement at one iterate, and the iterate."""
    case = Case(open_problem(text), solver or DualAcceleration(), unit=True)
    statement = STATEMENTS[identifier]
    with working(LEVELS[0]):
        for it in case.views():
            for kind in statement.history:
                case.history(kind).update(it)
            if it.t == t:
                found = statement.body(it, case)
                return [found] if isinstance(found, Relation) else list(found)
    raise AssertionError


def test_printed_constants():
    """n = 3, γ̄ = 1/2, t = 4: every bound by hand."""
    text, t, n, gamma = "planted:n=3,d=2,gamma=0.5,seed=0", 4, 3, 0.5
    problem = open_problem(text)
    w = [
        it.w
        for it, _ in zip(DualAcceleration().iterates(problem.unit()), range(t + 1), strict=False)
    ][t]
    margin, length = problem.unit().margin(w), problem.norm(w)

    def check(identifier: str, left: float, right: float, place: int = 0) -> None:
        relation = sides(identifier, text, t)[place]
        assert float(relation.left) == pytest.approx(left, rel=1e-12, abs=1e-12)
        assert float(relation.right) == pytest.approx(right, rel=1e-12, abs=1e-12)

    log = math.log(n)
    rate = 4 * (1 + log) * (1 + 2 * math.log(5)) / (gamma * 25)
    check("jst.thm3.1.1", gamma - margin, rate)
    check("jst.prop3.7", gamma / 2 - margin, 4 * log / (gamma * 25))
    check("jst.prop3.7.fixed", gamma / 2 - margin, 4 * log / (gamma * 25))
    check("gb.sharp", gamma - margin, 4 * log / (gamma * 4 * 7))
    check("gb.selfcert", gamma - margin, log / length)
    # Σ_{j<4} 1/λ_j = 1 + 3/2 + 2 + 5/2.
    check("jst.lem3.6.lower", gamma * 7, length)


def test_bounds_from_the_sequences_written_out():
    """Lemmas 3.2, 3.5 and 3.6 and Theorem 3.1(2) against sums over the weights themselves."""
    text, t = "planted:n=6,d=3,gamma=0.3,seed=2", 5
    problem = open_problem(text).unit()
    n, lam = problem.n, [2 / (j + 2) for j in range(t + 1)]
    run = [it for it, _ in zip(DualForm().iterates(problem), range(t + 1), strict=False)]
    mu = [problem.norm(problem.combine(it.extra["mu"])) ** 2 for it in run]
    nu = [problem.norm(problem.combine(it.extra["nu"])) for it in run]
    bound = mu[t] / (2 * lam[t - 1] ** 2)
    bound += sum(nu[j] ** 2 / (2 * lam[j]) for j in range(t))
    for j in range(1, t):
        bound += (1 / lam[j - 1] ** 2 - (1 - lam[j]) / lam[j] ** 2) / 2 * mu[j]
    psi = problem.softmin(run[t].w).logsumexp
    relation = sides("jst.lem3.5", text, t)[0]
    assert float(relation.left) == pytest.approx(bound, rel=1e-12)
    assert float(relation.right) == pytest.approx(math.log(n) - psi, rel=1e-12)
    upper = sides("jst.lem3.6.upper", text, t)[0]
    assert float(upper.left) == pytest.approx(problem.norm(run[t].w), rel=1e-12)
    assert float(upper.right) == pytest.approx(sum(nu[j] / lam[j] for j in range(t)), rel=1e-12)
    for solver in (DualAcceleration(), DualForm()):
        dual = sides("jst.lem3.2", text, t, solver)[0]
        assert float(dual.left) == pytest.approx((mu[t] - 0.3**2) / 2, rel=1e-11)
        assert float(dual.right) == pytest.approx(4 * math.log(n) / 36, rel=1e-12)
        above, below = sides("jst.thm3.1.2", text, t, solver)[-2:]
        assert float(above.left) == pytest.approx(mu[t] - 0.3**2, rel=1e-11)
        assert float(above.right) == pytest.approx(8 * math.log(n) / 36, rel=1e-12)
        assert float(below.left) == pytest.approx(0.3**2, rel=1e-12)
        assert float(below.right) == pytest.approx(mu[t], rel=1e-11)


def test_limits_of_a_quarter_of_the_margin():
    case = Case(open_problem("planted:n=3,d=2,gamma=0.5,seed=0"), DualAcceleration(), unit=True)
    assert float(section1_2.quarter_margin(case)) == pytest.approx(8 * math.sqrt(math.log(3)))
    one = Case(open_problem(ONE_ROW), DualAcceleration(), unit=True)
    assert section1_2.quarter_margin(one) == 0
    assert section1_2.quarter_margin_after_a_step(one) == 1


# The refutations, by hand ------------------------------------------------------------------------


def test_smallest_witnesses():
    """The numbers of the notes."""
    for identifier, left, right in (("jst.prop3.7", 0.5, 0.0), ("jst.lem3.4.mu", 3.0, 0.0)):
        v = heard(DualAcceleration(), ONE_ROW, [identifier], 5)[identifier]
        assert v.verdict == "refuted"
        assert v.worst_t == (0 if identifier == "jst.prop3.7" else 1)
        # |−1 − 2| = 3 for Zᵀμ_1 = −1 and 2q_1 = 2.
        assert float(arb(v.left)) == pytest.approx(left)
        assert float(arb(v.right)) == pytest.approx(right)
    quarter = heard(DualAcceleration(), ONE_ROW, ["jst.sec1.quarter"], 5)
    assert quarter["jst.sec1.quarter"].worst_t == 0


def test_the_printed_reduction_minimises_the_margin():
    """N = 1, k = 2, d = 1: γ_m(U_1) = −√2 against √2 − (1 + 2 ln 2)/√2."""
    case = Case(
        MulticlassProblem(np.array([[1.0]]), np.array([0]), k=2), DualAcceleration(), unit=True
    )
    (v,) = check_run(case, [STATEMENTS["jst.thm5.1"]], 3)
    assert (v.verdict, v.worst_t) == ("refuted", 1)
    assert float(arb(v.left)) == pytest.approx(2 * math.sqrt(2))  # γ̄_m − γ_m(U_1)
    assert float(arb(v.right)) == pytest.approx((1 + 2 * math.log(2)) / math.sqrt(2))


def test_the_printed_multiclass_constant_follows_from_the_sharp_rate():
    """8 ln n/(t(t+3)) ≤ 4(1 + ln n)(1 + 2 ln(t+1))/(t+1)², which Theorem 3.1 does not give."""
    for n in (1, 2, 10, 10**6):
        for t in (1, 2, 3, 10, 1000, 10**6):
            printed = 4 * (1 + math.log(n)) * (1 + 2 * math.log(t + 1)) / (t + 1) ** 2
            assert 8 * math.log(n) / (t * (t + 3)) <= printed


def test_risk_identity_needs_both_corrections():
    """U = (1, 0), x = 1, c = 1: e⁻¹, exp(1/√2), and exp(−1/√2) with the sign alone."""
    points = section5.Points([[arb(1)]], [0], 2)
    ((product, gap),) = points.products([[arb(1), arb(0)]])
    loss = partial(section5.loss, "exponential")
    assert float(loss(-gap)) == pytest.approx(math.exp(-1))
    assert float(loss(product)) == pytest.approx(math.exp(1 / math.sqrt(2)))
    assert float(loss(-product)) == pytest.approx(math.exp(-1 / math.sqrt(2)))
    assert float(loss(-math.sqrt(2) * product)) == pytest.approx(math.exp(-1))


def test_a_pair_is_exact():
    pair = Optimum(Case(open_problem("degenerate:kind=square,n=8,d=4"), unit=True))
    assert pair.square == 1
    assert set(pair.scores) == {Fraction(1)}


# Cost --------------------------------------------------------------------------------------------


def test_claims_about_algorithm_1_take_no_pass_over_the_data():
    """The solver's own pass at w_t tells all that they need."""
    case = Case(open_problem(PLANTED), DualAcceleration(), unit=True)
    assert case.truth.gamma > 0  # the oracle makes its own passes, once per problem
    calls = {"softmin": 0, "scores": 0, "combine": 0, "row": 0, "gram": 0}

    def counted(name: str) -> Callable[..., Any]:
        method = getattr(case.problem, name)

        def call(*args: Any) -> Any:
            calls[name] += 1
            return method(*args)

        return call

    for name in calls:
        vars(case.problem)[name] = counted(name)
    verdicts = check_run(case, about("dual-acceleration"), 50)
    assert "refuted" not in {v.verdict for v in verdicts}
    assert calls == {"softmin": 51, "scores": 0, "combine": 0, "row": 0, "gram": 0}


# No right solver is refuted ----------------------------------------------------------------------


@st.composite
def small_problems(draw: Any) -> Any:
    """Small problems of integers, with duplicates, ties, zero rows and data not separable."""
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    entry = st.integers(-3, 3)
    rows = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n))
    X = np.array(rows, dtype=float)
    labels = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    kind = draw(st.sampled_from(["linear", "linear", "kernel", "multiclass"]))
    if kind == "multiclass":
        return MulticlassProblem(
            X, np.array([(v + 1) // 2 for v in labels]), k=draw(st.integers(2, 3))
        )
    if len(set(labels)) == 1:
        labels[0] = -labels[0]  # from_arrays wants both; a row and its label may change sign
        X[0] = -X[0]
    if n == 1:
        return open_problem("degenerate:kind=simplex,n=1,d=1")
    kernel = draw(st.sampled_from(["rbf:gamma=0.5", "poly:degree=2,coef0=1"]))
    return from_arrays(X, labels, kernel=kernel if kind == "kernel" else None)


@settings(max_examples=60)
@given(
    small_problems(),
    st.sampled_from(
        [
            "dual-acceleration",
            "dual-acceleration-dual",
            "dual-acceleration-dual:mixing=0.7",
            "dual-acceleration:step=0.5",
            "gradient-descent",
            "normalized-gradient-descent:decay=1",
        ]
    ),
)
def test_right_solvers_are_never_refuted(problem, solver):
    case = Case(problem, open_solver(solver), unit=True)
    for v in check_run(case, about(solver_name(solver)), 30, most=300):
        assert v.verdict != "refuted" or v.statement in FALSE, v


@settings(max_examples=40)
@given(small_problems(), st.sampled_from(sorted(s.id for s in DIRECT if s.status == "holds")))
def test_facts_about_data_are_never_refuted(problem, identifier):
    v = check_statement(MINE[identifier], Case(problem, unit=True))
    assert v.verdict in ("holds", "inapplicable"), v


def test_ordinary_runs_are_decided():
    """Rounding leaves doubt only where a bound is exhausted."""
    for seed in range(6):
        text = f"gaussian:n=30,d={3 + seed},seed={seed},separable={seed % 2}"
        for name in ("dual-acceleration", "dual-acceleration-dual"):
            case = Case(open_problem(text), open_solver(name), unit=True)
            verdicts = check_run(case, about(name), 100, most=3000)
            assert {v.verdict for v in verdicts} <= {"holds", "inapplicable"}, (text, verdicts)


def test_the_sequences_start_afresh_with_each_run():
    case = Case(open_problem(PLANTED), DualAcceleration(), unit=True)
    statements = about("dual-acceleration")
    first, second = (check_run(case, statements, 20) for _ in range(2))
    assert [v.as_dict() for v in first] == [v.as_dict() for v in second]
