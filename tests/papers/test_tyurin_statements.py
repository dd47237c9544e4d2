"""The statements of Tyurin (2024): expected verdicts, and wrong solvers that they refute."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count, islice, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, log_expit, softmax

from gammabar.harness.registry import load_statements
from gammabar.harness.run.plan import Request, make_plan
from gammabar.harness.run.specs import open_problem, open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import LEVELS, middle, working
from gammabar.harness.verify.relation import fact
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import STATEMENTS, StoppingStatement, direct
from gammabar.papers.gammabar import trials as gb_trials, tyurin as tyurin_steps
from gammabar.papers.tyurin_2024 import (
    appendix,
    experiments,
    reference,
    section3,
    section4,
    section5,
    section6,
    section8,
    table1,
    trials,
)
from gammabar.papers.tyurin_2024.reduction import UNKNOWN, NormalizedRate, Path, Rate
from gammabar.problems import DenseProblem, Kernel, KernelProblem, load
from gammabar.solvers import Iterate
from gammabar.solvers.tyurin import (
    CHOICES,
    BatchPerceptron,
    LogisticRegressionGD,
    NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD,
    Perceptron,
)

MODULES = (section3, section4, section5, section6, section8, appendix, table1, tyurin_steps)
TRIALS = [*trials.TRIALS, *gb_trials.TYURIN]
OURS = {
    name: s for name, s in load_statements().items() if name.startswith(("tyurin.", "gb.tyurin."))
}
FASHION = ("tyurin.table1.imbalanced", "tyurin.table1.fashion")


def about(name):
    return [s for s in OURS.values() if name in s.solvers]


@cache
def outcome(trial):
    name = solver_name(trial.solver)
    case = Case(open_problem(trial.problem), open_solver(trial.solver), seed=trial.seed)
    return {v.statement: v for v in check_run(case, about(name), trial.iterations)}


# What is expected


@pytest.mark.slow  # make golden runs all of them, too
@pytest.mark.parametrize("trial", TRIALS, ids=lambda t: f"{t.solver} {t.problem}")
def test_every_run_of_the_plan_is_as_expected(trial):
    for found in outcome(trial).values():
        statement = OURS[found.statement]
        allowed = {str(statement.status), "inapplicable"}
        # A false claim may be true of other data; and at a small step a limit says nothing.
        if trial.problem not in statement.problems or found.says_nothing:
            allowed.add("holds")
        assert found.verdict in allowed, found
        assert not found.failure


@pytest.mark.slow
def test_every_statement_about_runs_is_decided_in_the_plan():
    decided = {v.statement for t in TRIALS for v in outcome(t).values() if v.checked}
    assert decided == {s.id for s in OURS.values() if s.about_runs}


# Wrong solvers


@dataclass(frozen=True)
class Method:
    """A user's solver: it says t and w, and nothing else. It adds Aᵀ rule(t, scores)."""

    rule: Callable
    step: float = 1.0
    start: float = 0.0
    halts: bool = False

    def iterates(self, problem, rng=None):
        w = problem.origin() + self.start
        for t in count():
            weights = self.rule(t, problem.scores(w), self.step)
            done = self.halts and t > 0 and not np.any(weights)
            yield Iterate(t, w, extra={"halt": "separated"} if done else {})
            if done:
                return
            w = w + problem.combine(np.asarray(weights, dtype=float))


def descent(t, s, step):
    return step * expit(-s) / s.size


def normalised_descent(t, s, step):
    return step * softmax(log_expit(-s))


def batch(t, s, step):
    return np.full(s.size, 0.5 / s.size) if t == 0 else (s <= 0) / s.size


def normalised_batch(t, s, step):
    return (s <= 0) / max(1, (s <= 0).sum())


def one_row(t, s, step):
    weights = np.zeros(s.size)
    if (s <= 0).any():
        weights[np.argmax(s <= 0)] = 1
    return weights


RIGHT = {
    "lr-gd": descent,
    "normalized-lr-gd": normalised_descent,
    "batch-perceptron": batch,
    "normalized-batch-perceptron": normalised_batch,
    "perceptron": one_row,
}
STEPS = {name: f"gb.tyurin.{name}.step" for name in RIGHT}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("problem", ["planted:n=20,d=4,gamma=0.05,seed=7", "worst-case:n=16"])
def test_a_right_solver_of_a_user_is_not_refuted(name, problem):
    statements = [s for s in about(name) if s.status == "holds"]
    for found in check_run(Case(load(problem), Method(RIGHT[name], 30.0)), statements, 60):
        assert found.verdict in ("holds", "inapplicable"), found


@pytest.mark.parametrize("name", RIGHT)
def test_steps_that_are_wrong_by_a_millionth_are_refuted(name):
    right = RIGHT[name]
    wrong = Method(lambda t, s, step: right(t, s, step) * (1 + 1e-6 * (t == 2)))
    case = Case(load("gaussian:n=40,d=4,seed=3,separable=1"), wrong)
    (found,) = check_run(case, [OURS[STEPS[name]]], 40)
    assert (found.verdict, found.worst_t) == ("refuted", 3)
    (found,) = check_run(Case(load("iris:0,1"), Method(right, start=1e-9)), [OURS[STEPS[name]]], 3)
    assert (found.verdict, found.worst_t) == ("refuted", 0)


def strictly_wrong(t, s, step):
    return np.full(s.size, 0.5 / s.size) if t == 0 else (s < 0) / s.size


def whole_first_step(t, s, step):
    return (s <= 0) / s.size


def beta_of_the_sum(t, s, step):
    return normalised_descent(t, s, step) / s.size


def best_row(t, s, step):
    return np.arange(s.size) == np.argmax(s)


def one_row_only(t, s, step):
    return step * one_row(t, s, step)


def the_sum(t, s, step):
    return step * expit(-s)


def nothing(t, s, step):
    return np.zeros(s.size)


WRONG = [
    (STEPS["batch-perceptron"], Method(strictly_wrong), "worst-case:n=16"),
    (STEPS["batch-perceptron"], Method(strictly_wrong, halts=True), "worst-case:n=16"),
    (STEPS["batch-perceptron"], Method(whole_first_step), "iris:0,1"),
    (STEPS["batch-perceptron"], Method(normalised_batch), "iris:0,1"),
    (STEPS["normalized-batch-perceptron"], Method(batch), "iris:0,1"),
    (STEPS["normalized-batch-perceptron"], Method(strictly_wrong), "degenerate:kind=ties"),
    (STEPS["perceptron"], Method(best_row), "iris:0,1"),
    (STEPS["perceptron"], Method(normalised_batch), "iris:0,1"),
    (STEPS["lr-gd"], Method(the_sum), "iris:0,1"),
    (STEPS["lr-gd"], Method(normalised_descent), "iris:0,1"),
    (STEPS["normalized-lr-gd"], Method(beta_of_the_sum), "iris:0,1"),
    ("gb.tyurin.lr-gd.rate", Method(the_sum, 1e4), "digits:3,8"),
    ("gb.tyurin.normalized-lr-gd.rate", Method(descent, 1e4), "digits:3,8"),
    ("tyurin.thm3.2", Method(the_sum, 1e4), "worst-case:n=101"),
    ("tyurin.thm3.3", Method(nothing), "loss-spike"),
    ("tyurin.thm5.2", Method(batch), "worst-case:n=100"),
    ("tyurin.thm5.3", Method(batch), "worst-case:n=100"),
    ("tyurin.thm6.1", Method(descent, 100.0), "worst-case:n=1000"),
    ("tyurin.thm4.1.fixed", Method(nothing, 100.0), "loss-spike"),
    ("tyurin.thm4.1.fixed", Method(normalised_batch, 100.0), "loss-spike"),
    ("tyurin.thm5.1", Method(normalised_batch), "worst-case:n=10"),
    ("tyurin.sec6.limits.fixed", Method(one_row_only, 1e4), "iris:0,1"),
]


@pytest.mark.parametrize(("statement", "solver", "problem"), WRONG)
def test_wrong_solvers_are_refuted(statement, solver, problem):
    (found,) = check_run(Case(load(problem), solver), [OURS[statement]], 60, most=2000)
    assert found.verdict == "refuted", found


@dataclass(frozen=True)
class Stepless:
    """The same without a step size."""

    rule: Callable

    def iterates(self, problem, rng=None):
        return Method(self.rule).iterates(problem)


def test_batch_perceptron_without_its_half_step_is_no_limit_of_gradient_descent():
    for rule, verdict in ((batch, "holds"), (whole_first_step, "refuted")):
        case = Case(load("worst-case:n=101"), Stepless(rule))
        (found,) = check_run(case, [OURS["tyurin.thm3.2"]], 20)
        assert found.verdict == verdict
    for name in ("lr-gd", "normalized-lr-gd"):
        case = Case(load("worst-case:n=101"), Stepless(RIGHT[name]))
        (found,) = check_run(case, [OURS[STEPS[name]]], 5)
        assert found.verdict == "inapplicable"
        assert "step" in found.reason


@dataclass(frozen=True)
class SaysAnotherBeta(NormalizedLogisticRegressionGD):
    """β_t is the reciprocal of the sum, in what it says."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            it.extra["log_beta"] -= math.log(problem.n)
            yield it


@dataclass(frozen=True)
class HalfTheStep(LogisticRegressionGD):
    def iterates(self, problem, rng=None):
        yield from LogisticRegressionGD(self.step / 2).iterates(problem, rng)


def test_what_a_solver_says_is_judged():
    statement = OURS["tyurin.sec6.limits.fixed"]
    (found,) = check_run(Case(load("iris:0,1"), SaysAnotherBeta(1e3)), [statement], 5)
    assert found.verdict == "refuted"
    assert "solver" in found.what
    statement = OURS["tyurin.table1.worst"]
    (found,) = check_run(Case(load("worst-case:n=1000"), HalfTheStep(100.0)), [statement], 310)
    assert found.verdict == "refuted"


# Random problems


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))
    kernel = draw(st.sampled_from((None, None, Kernel("rbf", gamma=0.5), Kernel("linear"))))
    if kernel is not None:
        return KernelProblem(np.array(X), np.array(y), kernel)
    return DenseProblem(np.array(X), np.array(y))


GRADIENT = st.sampled_from((LogisticRegressionGD, NormalizedLogisticRegressionGD)).flatmap(
    lambda cls: st.sampled_from((0.01, 0.5, 3.0, 100.0, 1e6, 1e9)).map(cls)
)
PERCEPTRONS = st.sampled_from(
    (BatchPerceptron(), NormalizedBatchPerceptron(), *map(Perceptron, CHOICES))
)


@pytest.mark.full
@settings(max_examples=300)
@given(problems(), st.one_of(GRADIENT, PERCEPTRONS))
def test_the_right_solvers_are_never_refuted(problem, solver):
    statements = [s for s in about(solver.card.name) if s.status == "holds"]
    # Of rows that cancel w may have coefficients of any size and be 0: beside its rounding a step
    # of nothing is not seen.
    gram = problem.gram(np.arange(problem.n), np.arange(problem.n))
    values = np.linalg.eigvalsh(gram)
    cancels = isinstance(problem, KernelProblem) and values[0] <= 1e-9 * values[-1]
    for found in check_run(Case(problem, solver), statements, 15, most=400):
        # A bound on the number of iterations may be long, or known as an enclosure only; and where
        # a score is zero but for rounding, a perceptron may halt one step early.
        stops = isinstance(OURS[found.statement], StoppingStatement)
        early = found.reason.endswith("does not separate the data")
        early = early or found.what == "S_t is empty where it halts"
        # Scores of 10¹² are off by as much as a softmax tells apart: any step would agree.
        steps = (".step", ".eq7", ".eq8", ".eq9", ".eq10", ".descent")
        blind = found.statement.endswith(steps) and (getattr(solver, "step", 0) >= 1e6 or cancels)
        # A score of 0 between exponentials is decided by no number of digits.
        tied = found.what == UNKNOWN and isinstance(problem, KernelProblem)
        patient = found.verdict == "undecided" and (stops or early or blind or tied)
        assert patient or found.verdict in ("holds", "inapplicable"), found


# Numbers by hand


def bound(statement, problem, solver=None):
    with working(LEVELS[1]):
        return OURS[statement].body(Case(load(problem), solver))


def test_the_bounds_are_those_printed():
    """loss-spike has n = 2, R² = 17 and μ = 1; worst-case has R²/μ² = 5."""
    assert bound("tyurin.thm3.3", "loss-spike") == 34
    assert bound("tyurin.thm5.2", "loss-spike") == bound("tyurin.thm5.3", "loss-spike") == 17
    assert bound("tyurin.thm3.3", "worst-case:n=1000") == 5000
    found = bound("tyurin.thm6.1", "loss-spike", NormalizedLogisticRegressionGD(0.25))
    assert middle(found) == pytest.approx(17 + 2 * math.log(3) / 0.25, rel=1e-15)


def test_the_worst_case_needs_three_tenths_of_n_iterations_for_any_step():
    statement = OURS["tyurin.thm5.1"]
    for n in (10, 16, 33):
        for solver in (BatchPerceptron(), *(LogisticRegressionGD(g) for g in (0.01, 1.0, 1e5))):
            case = Case(load(f"worst-case:n={n}"), solver)
            (found,) = check_run(case, [statement], n)
            assert found.verdict == "holds"
            assert found.checked == 2 + -(-3 * n // 10)
    (found,) = check_run(Case(load("worst-case:n=9"), BatchPerceptron()), [statement], 9)
    assert found.verdict == "inapplicable"


def test_the_table_has_the_printed_numbers():
    assert list(table1.WORST.values()) == [2, 2, 16, 157, 308]
    assert list(table1.IMBALANCED_TABLE.values()) == [311, 349, 353, 504, 538]
    assert list(table1.FASHION_TABLE.values()) == [2778, 2928, 3160, 3351, 3359]
    (found,) = check_run(
        Case(load("worst-case:n=1000"), LogisticRegressionGD(100.0)),
        [OURS["tyurin.table1.worst"]],
        400,
    )
    assert (found.verdict, found.worst_t, found.checked) == ("holds", 308, 309)


@pytest.mark.parametrize("gamma", [0.5, 3.0, 40.0])
def test_the_rate_by_hand(gamma):
    """loss-spike: θ̂_1 has scores −1/4 and 7/2 in Batch Perceptron, and twice that normalised."""
    case = Case(load("loss-spike"), LogisticRegressionGD(gamma))
    radius, rate, normalised = math.sqrt(17), Rate(case), NormalizedRate(case)
    for r in (rate, normalised):
        r.follow(0.0, 0.0)
        assert r.distance == 0
        r.follow(1.0, 0.0)
        assert r.distance < 1e-11
        assert r.path.wrong.tolist() == [True, False]
    assert rate.path.gaps == pytest.approx([1 / 4, 7 / 2])
    assert normalised.path.gaps == pytest.approx([1 / 2, 7])
    doubt = 1 / (1 + math.exp(gamma / 4)) + 1 / (1 + math.exp(gamma * 7 / 2))
    assert doubt <= rate.doubt <= 1.05 * doubt
    rate.follow(1.0, 0.0)
    assert radius * doubt / 2 <= rate.distance <= 1.07 * radius * doubt / 2
    doubt = 1 / (1 + math.exp(gamma / 2)) + 1 / (1 + math.exp(gamma * 7))
    normalised.follow(1.0, 0.0)
    moved = 2 * radius * min(1, doubt / (1 - doubt))
    assert moved <= normalised.distance <= 1.2 * moved


def test_the_rate_tends_to_zero():
    """The bound, and with it the distance, along γ = 10², 10⁴, 10⁶: Theorem 3.2."""
    bounds, distances = [], []
    for gamma in (1e2, 1e4, 1e6):
        case = Case(load("worst-case:n=101"), LogisticRegressionGD(gamma))
        rate = Rate(case)
        for it in islice(case.views(), 32):
            rate.update(it)
        bounds.append(rate.distance)
        distances.append(middle(rate.apart(it.here)))
    assert all(d <= b for d, b in zip(distances, bounds, strict=True))
    assert bounds[0] > 1e3 * bounds[1]
    assert distances[0] > 1e3 * distances[1]
    assert bounds[1] < 1e-10
    assert bounds[2] < 1e-10


# The perceptrons' paths and Assumption 3.1


@settings(max_examples=150)
@given(problems(), st.booleans())
def test_the_path_is_that_of_exact_arithmetic(problem, normalised):
    if problem.dimension == problem.n and hasattr(problem, "kernel"):
        return  # the reference has no transcendental kernel
    rows = [[Fraction(float(v)) for v in problem.row(i)] for i in range(problem.n)]
    method = reference.normalized_batch_perceptron if normalised else reference.batch_perceptron
    path = Path(Case(problem), normalised)
    for t, theta in enumerate(islice(reference.iterates(method, rows), 12)):
        if t:
            path.advance()
            scores = reference.scores(rows, theta)
            assert path.wrong.tolist() == (scores <= 0).tolist()
            assert all(g <= abs(s) for g, s in zip(path.gaps.tolist(), scores, strict=True))
        assert not path.lost
        assert path.point.mid == pytest.approx([float(v) for v in theta], abs=1e-12)


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=3))
def test_assumption_3_1_is_decided_as_by_trying(rows):
    """Solutions have small k_i here: products are at most 8 in size."""
    problem = DenseProblem(np.array(rows), np.ones(len(rows)))
    gram = np.array(rows) @ np.array(rows).T
    odd = np.array(list(product(range(1, 40, 2), repeat=len(rows))))
    meets = not (odd @ gram == 0).any()
    assert (section3.non_degenerate(Case(problem)) is None) == meets


def test_assumption_3_1_of_the_data_sets_of_the_paper():
    assert "row 1" in section3.non_degenerate(Case(load("loss-spike")))
    assert section3.non_degenerate(Case(load("worst-case:n=101"))) is None
    assert section3.non_degenerate(Case(load("worst-case:n=100")))
    # 53-bit integers: more than int64 can multiply
    wide = DenseProblem(np.array([[1 / 3, 0.1], [0.7, -0.9]]), np.array([1, -1]))
    section3.non_degenerate(Case(wide))


# Fashion-MNIST


@pytest.mark.parametrize("statement", FASHION)
def test_a_table_without_its_data_is_neither_right_nor_wrong(statement):
    entry = OURS[statement]
    found = check_statement(entry, Case())
    assert (entry.status, found.verdict) == ("not reproducible", "not reproducible")
    table, counts = {
        "tyurin.table1.imbalanced": (table1.IMBALANCED_TABLE, table1.IMBALANCED_COUNTS),
        "tyurin.table1.fashion": (table1.FASHION_TABLE, table1.FASHION_COUNTS),
    }[statement]
    for place, ((method, step), printed) in enumerate(table.items()):
        column = [row[place] for row in counts]
        shown = f"{method}, step {step:g}: printed {printed}, found {min(column)}/"
        assert shown in found.reason
        assert shown in entry.note
        assert f"/{max(column)}" in found.reason.partition(shown)[2].partition(";")[0]


@pytest.mark.slow
def test_the_counts_on_fashion_mnist(shared_data):
    for seed in (0, 3):
        kept = table1.IMBALANCED_COUNTS[seed]
        spec = f"fashion:0,4:keep=0.1,repeat=10,seed={seed}"
        found = experiments.subsample(spec, table1.IMBALANCED_TABLE, 2 * max(kept))
        assert found == pytest.approx(kept, rel=0.02)  # another order of sums, another path


def test_a_subsample_that_is_solved_sooner(shared_data):
    """A short run of what the slow test runs."""
    spec = "fashion:0,4:keep=0.01,seed=0"
    assert experiments.subsample(spec, {("lr-gd", 100.0): 538}, 2000)[0] < 2000
    assert experiments.subsample(spec, {("normalized-lr-gd", 100.0): 311}, 3) == [4]


def test_without_the_data_the_plan_does_not_wait_for_them(monkeypatch, tmp_path):
    monkeypatch.delenv("GAMMABAR_DATA", raising=False)
    for name in ("XDG_DATA_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    options = {"reference": "here", "claim": "", "kind": "value", "problems": ("fashion:0,4",)}
    direct("tyurin.far", **options)(lambda case: fact(True))
    try:
        (task,) = make_plan(Request(statements=("tyurin.far",)))
        assert task.expected == ("inapplicable",)
    finally:
        del STATEMENTS["tyurin.far"]
