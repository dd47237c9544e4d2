"""Wrong solvers are refuted: all mutants, by each statement one, steps off by a millionth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_expit, softmax
from statement_checks import STATEMENTS, Changed, about, changed, verdict, verdicts

from gammabar.harness import registry
from gammabar.harness.power import _idle as idle, kills, matrix
from gammabar.harness.registry import mutants
from gammabar.harness.run.tasks import open_problem, open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.verdict import Status
from gammabar.papers.ji_srebro_telgarsky_2021.appendix_ab import Path, World
from gammabar.problems import DenseProblem
from gammabar.problems.problem import soften
from gammabar.solvers import DualAcceleration, Iterate, kernel_methods as kernel_algebra
from gammabar.solvers.boosting import AdaBoost, BestStump, Stump
from gammabar.solvers.descent import SGD, AcceleratedGradientDescent, SmoothGradientDescent
from gammabar.solvers.ji_srebro_telgarsky import AdaptiveSampling, DualForm
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    KernelFunction,
    KernelRidge,
    Linear,
    Square,
)
from gammabar.solvers.tyurin import LogisticRegressionGD, NormalizedLogisticRegressionGD

#: Mutant → statement → problems, as ``gammabar list mutants --matrix FILE`` writes it.
MATRIX = registry.matrix()
KILLERS: dict[str, list[str]] = {}
for _mutant, _killed in MATRIX.items():
    for _statement in _killed:
        KILLERS.setdefault(_statement, []).append(_mutant)
RATES = [s for s in STATEMENTS.values() if s.slower]
PLANTED = "planted:n=40,d=5,gamma=0.05,seed=1"
SMALL = "planted:n=20,d=3,gamma=0.2,seed=0"
TINY = 1 + 1e-6


def cheap(problems: list[str]) -> str:
    """The first problem of few rows."""
    return next((p for p in problems if not p.startswith(("mnist", "digits"))), problems[0])


# --- the matrix ----------------------------------------------------------------------------------


def test_the_matrix_is_about_the_mutants():
    assert set(MATRIX) == set(mutants())
    assert len(MATRIX) >= 40


@pytest.mark.parametrize("name", sorted(MATRIX))
def test_a_mutant_is_refuted(name: str):
    """By the first statement and on the first problem that the matrix names."""
    if not MATRIX[name]:
        assert mutants()[name].equivalent, "a wrong solver that nothing refutes is a hole"
        return
    statement, problems = next(iter(MATRIX[name].items()))
    assert kills(mutants()[name], statement, problems[0])


@pytest.mark.parametrize("name", [i for i in KILLERS if STATEMENTS[i].about_runs])
def test_a_statement_refutes_a_wrong_solver(name: str):
    """The next slower method, where it is about a rate."""
    mutant = STATEMENTS[name].slower or KILLERS[name][0]
    assert kills(mutants()[mutant], name, cheap(MATRIX[mutant][name]))


def test_statements_have_power_or_say_why_not():
    assert idle(MATRIX) == []
    true = [s for s in STATEMENTS.values() if s.status != "refuted"]
    assert [s.id for s in true if s.id not in KILLERS and not s.powerless] == []


@pytest.mark.slow
def test_the_matrix_is_what_is_computed():
    computed = matrix()
    assert {name: set(found) for name, found in computed.items()} == {
        name: set(found) for name, found in MATRIX.items()
    }


#: Bounds of iterates that say nothing about how fast they are, by the reason.
NO_RATES = {
    "a step of the proof, or a property of what it is about": {
        *(f"jst.{name}" for name in ("eqB.7", "eqB.9", "eqB.11.fixed", "lemC.12.sum.fixed")),
        *(f"jst.{name}" for name in ("eq3.8", "eq3.9", "eqC.8", "eqC.10", "eqC.13.fixed")),
        *("jst.lemD.1", "jst.lemD.2", "jst.appC.half", "jst.sec5.1.smooth", "jst.sec5.1.gradnorm"),
        *(f"tyurin.eq{number}" for number in (6, 8, 9, 10)),
        *("tyurin.appC.descent", "rp.eq10", "rp.eq15", "lec.sec4.greedy", "lec.alg3.z"),
    },
    "how long w_t is, from above": {"jst.lem3.6.upper", "jst.appC.length.fixed"},
    "another δ": {
        *("jst.thm4.1.delta", "jst.thm4.1.tenth", "gb.sampling.twentieth", "gb.sampling.hundredth")
    },
    "the invariant of the method, or true of every α": {
        *("rp.lem4", "rp.lem5", "rp.lem8", "rp.lem9.chain")
    },
    "a certificate in ‖w_t‖, which slower methods may meet as well": {
        *("gb.selfcert", "gb.gap", "gb.floor")
    },
    "how near two methods are": {"gb.tyurin.lr-gd.rate", "gb.tyurin.normalized-lr-gd.rate"},
    "what was drawn": {"gb.jst.sampling.draws", "gb.lec.sgd.draws"},
}


def test_every_rate_names_the_next_slower_method() -> None:
    kinds = ("anytime", "stopping", "probability", "expectation")
    bounds = {
        s.id
        for s in STATEMENTS.values()
        if s.solvers and s.status is Status.HOLDS and s.kind in kinds
    }
    assert bounds - {s.id for s in RATES} == set().union(*NO_RATES.values())
    assert all(s.slower in mutants() for s in RATES)


def test_theorem_3_1_tells_the_squared_rate_from_the_plain_one() -> None:
    """Normalised gradient descent obeys it up to t = 149 on these data, and not at t = 150."""
    wrong = mutants()["dual-acceleration/no-momentum"].make()
    found = verdict("jst.thm3.1.1", wrong, "orthogonal:n=10,p=0.3", 200)
    assert (found.verdict, found.worst_t) == ("refuted", 150)


# --- iterates that are changed on their way out --------------------------------------------------


def w_times(factor: float) -> Callable[[Iterate], Iterate]:
    return lambda it: replace(it, w=factor * it.w, soft=None)


def momentum_times(factor: float) -> Callable[[Iterate], Iterate]:
    return lambda it: replace(it, momentum=factor * it.momentum)


def extra_times(name: str, factor: float) -> Callable[[Iterate], Iterate]:
    return lambda it: replace(it, extra=it.extra | {name: factor * it.extra[name]})


def vertex(it: Iterate) -> Iterate:
    return replace(it, extra=it.extra | {"mu": np.eye(it.dual.size)[0]})


def warmer(it: Iterate) -> Iterate:
    return replace(it, dual=soften(TINY * it.extra["p"], 1.0)[0])


def wobbling(it: Iterate) -> Iterate:
    return replace(it, w=it.w * (1 + 1e-6 * (it.t % 2)), soft=None)


A1, DUAL = "dual-acceleration", "dual-acceleration-dual"
CHANGED = [
    ("jst.thm3.1.1", DUAL, w_times(-1)),
    ("jst.thm3.1.2", A1, momentum_times(4)),
    ("jst.thm3.1.2", A1, momentum_times(0.2)),
    ("jst.lem3.2", DUAL, vertex),
    ("jst.lem3.5", A1, w_times(0.5)),
    ("jst.lem3.6.lower", A1, w_times(0.5)),
    ("jst.lem3.6.upper", A1, w_times(TINY)),
    ("jst.lem3.4.primal", A1, wobbling),
    ("jst.lem3.4.primal", DUAL, wobbling),
    ("jst.lem3.4.momentum", A1, momentum_times(TINY)),
    ("jst.lem3.4.momentum", DUAL, lambda it: replace(it, extra={"nu": it.dual})),
    ("jst.lem3.4.mu.fixed", A1, momentum_times(TINY)),
    ("jst.lem3.4.mu.fixed", DUAL, vertex),
    ("jst.lemB.3", DUAL, extra_times("p", 0.5)),
    ("jst.lemB.4", DUAL, warmer),
    ("jst.eqB.6.fixed", DUAL, extra_times("p", TINY)),
    ("jst.eqB.7", DUAL, extra_times("mu", 1.5)),
    ("jst.eqB.9", DUAL, extra_times("p", 0.5)),
    ("jst.lemC.3", DUAL, w_times(TINY)),
    ("jst.lemC.3", DUAL, extra_times("mu", TINY)),
    ("jst.lemC.3", DUAL, extra_times("nu", TINY)),
    ("jst.lemC.11", DUAL, w_times(2)),
    ("jst.lemC.12.identity", DUAL, w_times(TINY)),
    ("jst.appC.length.fixed", DUAL, w_times(2)),
    ("gb.sharp", A1, w_times(-1)),
    *(("jst.thm3.1.2", A1, lambda it, v=v: replace(it, momentum=v)) for v in (np.ones(3),)),
    *(
        (i, A1, lambda it, v=v: replace(it, momentum=np.full(3, v)))
        for i in ("jst.thm3.1.2", "jst.lem3.4.momentum", "jst.lem3.4.mu.fixed")
        for v in (math.nan, math.inf)
    ),
]


@pytest.mark.parametrize(("identifier", "solver", "change"), CHANGED)
def test_changed_iterates_are_refuted(identifier, solver, change) -> None:
    assert verdict(identifier, solver, SMALL, 60).verdict == "holds"
    assert verdict(identifier, changed(solver, change), SMALL, 60).verdict == "refuted"


def test_wrong_signs_and_certificates_are_refuted() -> None:
    three_times = changed(A1, w_times(3))
    assert verdict("gb.selfcert", three_times, "digits:0,1:n=60").verdict == "refuted"
    multiclass = "planted:n=30,d=4,gamma=0.2,seed=0 --multiclass"
    backwards = changed(A1, w_times(-1))
    assert verdict("jst.thm5.1.fixed", backwards, multiclass).verdict == "refuted"
    # With the sign reversed, the printed form is the true one.
    assert verdict("jst.thm5.1", backwards, multiclass).verdict == "holds"


@dataclass(frozen=True)
class OtherStep:
    """A solver whose step is not the one it says."""

    right: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        return replace(self.right, step=TINY * self.right.step).iterates(problem, rng)


@pytest.mark.parametrize(
    ("identifier", "solver"),
    [
        ("jst.sec3.1.mirror", "gradient-descent"),
        ("jst.sec3.1.mirror", "normalized-gradient-descent"),
        *(
            (i, f"dual-acceleration:loss={loss}")
            for i in ("jst.lemC.3", "jst.lemC.12.identity")
            for loss in ("exponential", "logistic")
        ),
    ],
)
def test_a_step_off_by_a_millionth_is_refuted(identifier: str, solver: str) -> None:
    right = open_solver(solver)
    assert verdict(identifier, right, SMALL, 20).verdict == "holds"
    assert verdict(identifier, OtherStep(right), SMALL, 20).verdict == "refuted"


@pytest.mark.parametrize(
    "identifier",
    ["jst.lemA.1.value", *(f"jst.{n}.fixed" for n in ("sec2.argmax", "sec3.1.align"))],
)
def test_a_wrong_dual_point_is_refuted(identifier: str) -> None:
    case = Case(open_problem(PLANTED), unit=True)
    truth = case.truth
    first, *rest = truth.numerators
    for total in (truth.total + 1, truth.total):
        vars(case)["truth"] = replace(truth, numerators=[first + 1, *rest], total=total)
        assert check_statement(STATEMENTS[identifier], case).verdict == "refuted"


@pytest.mark.full
@pytest.mark.parametrize("identifier", ["jst.thm4.1.fixed", "jst.lemD.1", "jst.lemD.2"])
@pytest.mark.parametrize("length", [0.1, 1e4])
def test_wrong_samplers_are_refuted(identifier: str, length: float) -> None:
    """One w for ever."""

    @dataclass(frozen=True)
    class Stuck:
        step: float = 1.0

        def iterates(self, problem, rng=None):
            w, dual = -length * problem.row(0), np.full(problem.n, 1 / problem.n)
            return (Iterate(t, w, dual=dual) for t in count())

    assert verdict(identifier, Stuck(), "worst-case:n=5").verdict == "refuted"


def test_uniform_sampling_is_refuted() -> None:
    @dataclass(frozen=True)
    class Uniform(AdaptiveSampling):
        def iterates(self, problem, rng=None):
            w, rows = problem.origin(), [problem.row(i) for i in range(problem.n)]
            for t in count():
                yield Iterate(t, w)
                w = w + self.step * rows[rng.integers(problem.n)]

    assert verdict("jst.lemD.1", Uniform(), "worst-case:n=5").verdict == "refuted"


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        *((2, name) for name in ("eqB.7.maps", "eqB.5")),  # not that of a 1-smooth f
        *((-1, name) for name in ("eqB.9.maps", "lemB.3.maps", "thmB.12.maps", "eqB.8")),
    ],
)
def test_mirror_maps_with_a_wrong_gradient_are_refuted(monkeypatch, factor, name) -> None:
    right = World.slope
    monkeypatch.setattr(World, "slope", lambda self, q: factor * right(self, q))
    assert verdict(f"jst.{name}").verdict == "refuted"


def test_mirror_maps_with_a_wrong_step_are_refuted(monkeypatch) -> None:
    monkeypatch.setattr(Path, "ratio", property(lambda self: Fraction(1, 7)))
    assert verdict("jst.eqB.6.maps").verdict == "refuted"


# --- Ramdas and Peña -----------------------------------------------------------------------------

#: Solver → a separable problem on which its start is no solution.
RBF = "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"
SEPARABLE = {
    "perceptron": "gaussian:n=20,d=3,seed=0,separable=1",
    "normalized-perceptron": "degenerate:kind=simplex,n=8,d=8",
    "winnow": "planted:n=40,d=4,gamma=0.02,seed=0,rotate=0",
    "nkp": "gaussian:n=20,d=3,seed=0 --kernel rbf:gamma=1",
    "snkp:epsilon=0.01": RBF,
    "snkpvn:delta=0.01": RBF,
    "isnkpvn:epsilon=0.01": RBF,
    "nvn:epsilon=0.05": RBF,
}
INSEPARABLE = "degenerate:kind=opposite --kernel rbf:gamma=0.2"


def refuted(name: str, change: Any, text: str, iterations: int = 40) -> set[str]:
    """The statements that refute a solver whose run is changed."""
    of_rp = [s for s in about(solver_name(name)) if s.id.startswith(("rp.", "gb.rp.", "gb.snkp."))]
    found = verdicts(Changed(open_solver(name), change), text, of_rp, iterations)
    return {i for i, v in found.items() if v.verdict == "refuted"}


def stuck(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
    """It never leaves its start, and counts on."""
    first = next(iterates)
    extra = {key: v for key, v in first.extra.items() if key not in ("halt", "returned")}
    for t in count():
        yield replace(first, t=t, extra=extra | ({"inner": t} if "inner" in extra else {}))


@pytest.mark.full
def test_a_solver_that_never_moves_is_refuted_by_every_statement_that_can() -> None:
    killers = set()
    for name, problem in SEPARABLE.items():
        killers |= refuted(name, stuck, problem, 200)
        if name not in ("perceptron", "normalized-perceptron", "winnow", "nkp"):
            killers |= refuted(name, stuck, INSEPARABLE, 200)
    # Lemma 9 is proved for |ρ_K| ≤ √(2/3) or a long q; equation (15) is about calls that return.
    killers |= refuted("snkpvn:delta=0.01", stuck, "degenerate:kind=opposite,n=8,d=1", 200)
    killers |= refuted("nkp", stuck, "degenerate:kind=square", 40)
    of_rp = {
        s.id
        for s in STATEMENTS.values()
        if s.about_runs and s.status == "holds" and not s.powerless
        if s.id.startswith(("rp.", "gb.rp.", "gb.snkp."))
    }
    assert killers >= of_rp - {"rp.eq15"}


def nudged(part: str) -> Callable[[Iterator[Iterate]], Iterator[Iterate]]:
    """One coordinate of w, α or p of one iterate, off by 10⁻⁶ of the whole."""

    def change(it: Iterate) -> Iterate:
        if it.t != 2:
            return it
        new = np.array(it.extra["p"] if part == "p" else getattr(it, part))
        new[int(np.argmax(np.abs(new)))] += math.pi * 1e-6 * float(np.abs(new).sum())
        fields = {"extra": it.extra | {"p": new}} if part == "p" else {part: new}
        return replace(it, soft=None, computed=None, **fields)

    return lambda iterates: map(change, iterates)


PARTS = {"n": ("w", "dual"), "s": ("w", "dual", "p"), "i": ("w", "dual", "p")}


@pytest.mark.parametrize("name", [name for name in SEPARABLE if name != "perceptron"])
def test_a_nudge_of_a_millionth_is_no_step(name: str) -> None:
    plain = name in ("normalized-perceptron", "winnow")
    for part in ("w",) if plain else PARTS[name[0]]:
        found = refuted(name, nudged(part), SEPARABLE[name], 5)
        assert f"gb.rp.{solver_name(name)}.step" in found


@pytest.mark.parametrize("name", ["nkp", "snkp", "nvn", "snkpvn", "isnkpvn"])
def test_weights_that_are_no_distribution(name: str) -> None:
    def doubled(it: Iterate) -> Iterate:
        return replace(it, dual=2 * it.dual, extra=it.extra | {"p": -it.extra.get("p", it.dual)})

    problem = SEPARABLE.get(name, INSEPARABLE)
    assert "gb.rp.simplex" in refuted(name, lambda its: map(doubled, its), problem, 5)


@pytest.mark.parametrize("name", [n for n in SEPARABLE if not n.startswith(("nvn", "perceptron"))])
def test_exits_that_are_none(name: str) -> None:
    """A method that says that it is done when it is not, or goes on when it is."""

    def hasty(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        it = next(iterates)
        yield replace(it, extra=it.extra | {"halt": "separated", "returned": True})

    def patient(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        for it in iterates:
            last = it
            yield replace(it, extra={k: v for k, v in it.extra.items() if k != "halt"})
        for t in count(last.t + 1):
            yield replace(last, t=t)

    for change in (hasty, patient):
        assert f"gb.rp.{solver_name(name)}.step" in refuted(name, change, SEPARABLE[name], 60)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("nvn:epsilon=0.001", "rp.nvn"),
        ("snkpvn:delta=0.001", "rp.lem9.solution"),
        ("snkp:epsilon=0.001", "gb.snkp.any.exit"),
        ("isnkpvn:epsilon=0.001", "rp.thm4.2.fixed"),
    ],
)
def test_certificates_that_are_none(name: str, end: str) -> None:
    def early(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        it = next(iterates)
        yield replace(it, extra=it.extra | {"halt": "certificate", "returned": True})

    found = refuted(name, early, INSEPARABLE)
    assert {f"gb.rp.{solver_name(name)}.step", end} <= found


# --- Tyurin --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Adds:
    """A user's solver: it says t and w, and nothing else. It adds Aᵀ rule(t, scores)."""

    rule: Callable
    step: float = 1.0
    start: float = 0.0
    halts: bool = False

    def iterates(self, problem, rng=None):
        w = problem.origin() + self.start
        for t in count():
            weights = np.asarray(self.rule(t, problem.scores(w), self.step), dtype=float)
            done = self.halts and t > 0 and not np.any(weights)
            yield Iterate(t, w, extra={"halt": "separated"} if done else {})
            if done:
                return
            w = w + problem.combine(weights)


def descent(t, s, step):
    return step * expit(-s) / s.size


def normalised_descent(t, s, step):
    return step * softmax(log_expit(-s))


def batch(t, s, step):
    return np.full(s.size, 0.5 / s.size) if t == 0 else (s <= 0) / s.size


def normalised_batch(t, s, step):
    return (s <= 0) / max(1, (s <= 0).sum())


def one_row(t, s, step):
    return (np.arange(s.size) == np.argmax(s <= 0)) * (s <= 0).any()


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
def test_a_right_solver_of_a_user_is_not_refuted(name, problem) -> None:
    true = [s for s in about(name) if s.status == "holds"]
    for found in verdicts(Adds(RIGHT[name], 30.0), problem, true, most=None).values():
        assert found.verdict in ("holds", "inapplicable"), found


@pytest.mark.parametrize("name", RIGHT)
def test_one_step_wrong_by_a_millionth_is_refuted(name) -> None:
    wrong = Adds(lambda t, s, step: RIGHT[name](t, s, step) * (1 + 1e-6 * (t == 2)))
    found = verdict(STEPS[name], wrong, "gaussian:n=40,d=4,seed=3,separable=1", 40)
    assert (found.verdict, found.worst_t) == ("refuted", 3)
    found = verdict(STEPS[name], Adds(RIGHT[name], start=math.pi * 1e-9), "iris:0,1", 3)
    assert (found.verdict, found.worst_t) == ("refuted", 0)


def strictly_wrong(t, s, step):
    return np.full(s.size, 0.5 / s.size) if t == 0 else (s < 0) / s.size


def whole_first_step(t, s, step):
    return (s <= 0) / s.size


def the_sum(t, s, step):
    return step * expit(-s)


def nothing(t, s, step):
    return np.zeros(s.size)


WRONG = [
    (STEPS["batch-perceptron"], Adds(strictly_wrong), "worst-case:n=16"),
    (STEPS["batch-perceptron"], Adds(strictly_wrong, halts=True), "worst-case:n=16"),
    (STEPS["batch-perceptron"], Adds(whole_first_step), "iris:0,1"),
    (STEPS["normalized-batch-perceptron"], Adds(batch), "iris:0,1"),
    (STEPS["normalized-batch-perceptron"], Adds(strictly_wrong), "degenerate:kind=ties"),
    (
        STEPS["perceptron"],
        Adds(lambda t, s, step: np.arange(s.size) == np.argmax(s)),
        "iris:0,1",
    ),
    (STEPS["perceptron"], Adds(normalised_batch), "iris:0,1"),
    (STEPS["lr-gd"], Adds(the_sum), "iris:0,1"),
    ("gb.tyurin.lr-gd.rate", Adds(the_sum, 1e4), "digits:3,8"),
    ("gb.tyurin.normalized-lr-gd.rate", Adds(descent, 1e4), "digits:3,8"),
    ("tyurin.thm3.2", Adds(the_sum, 1e4), "worst-case:n=101"),
    ("tyurin.thm3.3", Adds(nothing), "loss-spike"),
    ("tyurin.thm5.2", Adds(batch), "worst-case:n=100"),
    ("tyurin.thm6.1", Adds(descent, 100.0), "worst-case:n=1000"),
    ("tyurin.thm4.1.fixed", Adds(nothing, 100.0), "loss-spike"),
    ("tyurin.thm5.1", Adds(normalised_batch), "worst-case:n=10"),
    (
        "tyurin.sec6.limits.fixed",
        Adds(lambda t, s, step: step * one_row(t, s, step), 1e4),
        "iris:0,1",
    ),
]


@pytest.mark.parametrize(("statement", "solver", "problem"), WRONG)
def test_wrong_descent_and_wrong_perceptrons_are_refuted(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem).verdict == "refuted"


def test_what_a_solver_says_about_itself_is_judged() -> None:
    def another_beta(it: Iterate) -> Iterate:
        return replace(it, extra=it.extra | {"log_beta": it.extra["log_beta"] - math.log(100)})

    wrong = changed(NormalizedLogisticRegressionGD(1e3), another_beta)
    found = verdict("tyurin.sec6.limits.fixed", wrong, "iris:0,1", 5)
    assert (found.verdict, "solver" in found.what) == ("refuted", True)

    @dataclass(frozen=True)
    class HalfTheStep(LogisticRegressionGD):
        def iterates(self, problem, rng=None):
            return LogisticRegressionGD(self.step / 2).iterates(problem, rng)

    half, table = HalfTheStep(100.0), "tyurin.table1.worst"
    assert verdict(table, half, "worst-case:n=1000", 310).verdict == "refuted"

    class Stepless:
        def iterates(self, problem, rng=None):
            return Adds(descent).iterates(problem)

    found = verdict(STEPS["lr-gd"], Stepless(), "worst-case:n=101", 5)
    assert (found.verdict, "step" in found.reason) == ("inapplicable", True)


# --- the lecture ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent(SmoothGradientDescent):
    """Gradient descent, right unless told otherwise."""

    factor: float = 1.0
    start: float = 0.0

    def iterates(self, f, rng=None) -> Iterator[Iterate]:
        eta = self.factor * 2 / (f.smoothness + f.strong_convexity)
        w = f.origin() + self.start
        for t in count():
            yield Iterate(t, w)
            w = w - eta * f.gradient(w)


@dataclass(frozen=True)
class Fast(AcceleratedGradientDescent):
    step: float = 1.0
    share: float = 1.0

    def iterates(self, f, rng=None) -> Iterator[Iterate]:
        root = math.sqrt(f.smoothness / f.strong_convexity)
        w = v = f.origin()
        for t in count():
            yield Iterate(t, w)
            new = v - self.step * f.gradient(v) / f.smoothness
            v = new + self.share * (root - 1) / (root + 1) * (new - w)
            w = new


class Infinite(Descent):
    def iterates(self, f, rng=None):
        for it in super().iterates(f, rng):
            yield replace(it, w=np.full_like(it.w, math.inf)) if it.t == 2 else it


class Short(Descent):
    def iterates(self, f, rng=None):
        return islice(super().iterates(f, rng), 3)


class WrongSteps(SGD):
    """SGD with steps that are so many times as long."""

    factor = 1.0

    def step(self, rho: float) -> float:
        return self.factor * super().step(rho)


def steps(factor: float) -> SGD:
    return type("Steps", (WrongSteps,), {"factor": factor})()


class Doubled(SGD):
    """The average is twice what it should be."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, extra=it.extra | {"average": 2 * it.extra["average"]})


class Shuffled(SGD):
    """Without replacement: uniform, but not independent."""

    def _draws(self, n, rng):
        if self.indices is not None:
            return super()._draws(n, rng)
        return (int(i) for _ in count() for i in rng.permutation(n))


class HalfTheTime(SGD):
    @classmethod
    def within(cls, epsilon, distance, lipschitz, loss="logistic"):
        right = super().within(epsilon, distance, lipschitz, loss)
        return replace(right, horizon=max(1, right.horizon // 2))


def tells(**changes) -> AdaBoost:
    """AdaBoost that tells something else from t = 2 on."""

    class Lying(AdaBoost):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                told = {k: f * it.extra[k] for k, f in changes.items() if k in it.extra}
                yield replace(it, extra=it.extra | (told if it.t > 1 else {}))

    return Lying()


class Tilted(AdaBoost):
    """One weight is a millionth too large."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, dual=it.dual * np.where(np.arange(it.dual.size), 1, TINY))


class Backwards(AdaBoost):
    """Votes against its hypotheses."""

    def iterates(self, problem, rng=None):
        for it in super().iterates(problem, rng):
            yield replace(it, w=-it.w, votes=-it.votes)


@dataclass(frozen=True)
class FirstStump(BestStump):
    """Looks at one stump only."""

    def __call__(self, X, y):
        value = np.asarray(X)[0, 0]
        return lambda D: Stump(
            0, value, 1 if D @ (y * np.where(X[:, 0] > value, 1, -1)) > 0 else -1
        )


class OtherLambda(KernelRidge):
    """λ a millionth too large."""

    def _wrong(self):
        return KernelRidge(self.regularisation * TINY, self.kernel)

    def primal(self, features, y):
        return self._wrong().primal(features, y)

    def dual(self, X, y):
        return self._wrong().dual(X, y)

    def objective(self, features, y):
        return self._wrong().objective(features, y)


class Cubed(Square):
    def gram(self, X, Z):
        return (X @ Z.T) ** 3


class ForgetsRoot(Square):
    def features(self, x):
        return np.array([x[0] ** 2, x[0] * x[1], x[1] ** 2], dtype=float)


class Repeats(CommonCharacters):
    """Counts pairs of places."""

    def __call__(self, x, z):
        return sum(a == b for a in x for b in z)


class Difference(KernelFunction):
    """x − x'."""

    def gram(self, X, Z):
        return X[:, :1] - Z[:, :1].T


class Distance(KernelFunction):
    """(x − x')²: symmetric, but not semidefinite."""

    def gram(self, X, Z):
        return (X[:, :1] - Z[:, :1].T) ** 2


IRIS, RBF_IRIS = "iris:0,1", "iris:1,2 --kernel rbf:gamma=0.5"
BOOSTED = ("lec.lem7", "lec.alg3.z", "gb.lec.adaboost.step")
LECTURE = [
    *(
        (step, Descent(factor=f), data)
        for step in ("gb.lec.gd.step",)
        for f in (TINY, 0.5, -1.0)
        for data in ("", IRIS)
    ),
    *(("gb.lec.agd.step", Fast(step=f), "") for f in (TINY, 0.5, -1.0)),
    *(("gb.lec.agd.step", Fast(share=f), data) for f in (TINY, 0.5) for data in ("", IRIS)),
    ("gb.lec.gd.step", Descent(start=1e-9), ""),
    *((i, s, "") for i in ("gb.lec.gd.step", "lec.thm1.fixed") for s in (Infinite(), Short())),
    *(("lec.thm1.fixed", Descent(factor=f), "") for f in (0.0, 1.2, -0.1)),
    ("lec.thm1.fixed", Descent(factor=0.0), "iris:1,2 --kernel rbf:gamma=1"),
    ("gb.lec.agd.rate", Fast(step=0.01), ""),
    *(("gb.lec.sgd.step", s, "") for s in (*map(steps, (-1, 0, 3, TINY)), Doubled())),
    *(("gb.lec.sgd.step", s, RBF_IRIS) for s in (steps(TINY), Doubled())),
    ("gb.lec.sgd.step", HalfTheTime(), ""),
    *(
        ("gb.lec.adaboost.step", tells(**{key: TINY}), "")
        for key in ("D", "epsilon", "gamma", "alpha", "z", "product")
    ),
    ("gb.lec.adaboost.step", Tilted(), ""),
    *((i, Backwards(), "") for i in BOOSTED),
    *((i, tells(z=0.999), "") for i in ("lec.alg3.z", "lec.alg3.z.sum.fixed")),
    ("lec.alg3.z.exp.fixed", tells(z=2), ""),
    ("gb.lec.stumps.best", AdaBoost(FirstStump()), ""),
    *(
        (i, OtherLambda(), "")
        for i in ("lec.ridge.fixed", "gb.lec.ridge.system", "gb.lec.ridge.objective")
    ),
    ("gb.lec.ridge.system", OtherLambda(), IRIS),
    *(("lec.ex9.1", wrong, "") for wrong in (Cubed(), ForgetsRoot())),
    ("lec.ex9.2.fixed", Repeats(), ""),
    *(("lec.thm10.fixed", wrong, "") for wrong in (Difference(), Distance())),
]


@pytest.mark.parametrize(("statement", "solver", "problem"), LECTURE)
def test_wrong_methods_of_the_lecture_are_refuted(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem).verdict == "refuted"


@pytest.mark.full
@pytest.mark.parametrize("statement", ["lec.thm3", "lec.cor4"])
@pytest.mark.parametrize("factor", [-1, 0])
def test_expectations_refute_what_does_not_descend(statement, factor) -> None:
    problem = "planted:n=40,d=3,gamma=0.5,seed=0"
    assert verdict(statement, steps(factor), problem).verdict == "refuted"


@pytest.mark.full
def test_draws_that_are_not_independent_are_refuted() -> None:
    assert verdict("gb.lec.sgd.draws", Shuffled()).verdict == "refuted"


@pytest.mark.parametrize(
    ("statement", "solver"),
    [
        ("gb.lec.gd.step", Descent()),
        ("lec.thm1.fixed", Descent()),
        ("gb.lec.agd.step", Fast()),
        ("gb.lec.agd.rate", Fast()),
        ("gb.lec.sgd.step", Shuffled()),
        ("gb.lec.adaboost.step", AdaBoost(FirstStump())),
        ("lec.thm10.fixed", Linear()),
    ],
)
def test_right_methods_written_otherwise_hold(statement, solver) -> None:
    assert verdict(statement, solver).verdict == "holds"


@pytest.mark.parametrize("name", ["RankOne", "Sum", "Scaled", "Product"])
def test_wrong_operations_on_kernels_are_refuted(name) -> None:
    right = {n: getattr(kernel_algebra, n) for n in ("RankOne", "Sum", "Scaled", "Product")}

    def wrong(*arguments):
        return right["Sum"](right[name](*arguments), Distance())

    assert verdict("lec.thm11", SimpleNamespace(**right)).verdict == "holds"
    assert verdict("lec.thm11", SimpleNamespace(**(right | {name: wrong}))).verdict == "refuted"


# --- where a statement does not speak ------------------------------------------------------------

OTHER_LEARNER = AdaBoost(lambda X, y: lambda D: Stump(0, 1, 1))
INAPPLICABLE = [
    ("jst.lemC.2", DualForm(mixing=1.0), SMALL),
    *((f"jst.{i}", DualForm(mixing=0.5), SMALL) for i in ("lemC.3", "thmB.12")),
    ("jst.lemC.7", DualForm(step=0.5), SMALL),
    ("jst.eqB.9", DualForm(loss="logistic", smoothness=1.0), SMALL),
    ("jst.lemB.4", DualForm(loss="logistic"), SMALL),
    ("jst.lemC.3", DualAcceleration(step=2.0), SMALL),
    ("jst.lemC.7", DualAcceleration(loss="logistic", smoothness=2.0), SMALL),
    ("jst.thm4.1.fixed", None, "planted:n=1,d=1,gamma=1"),
    ("jst.thm4.1", None, "inseparable:n=20,d=2,seed=0"),
    ("tyurin.thm5.1", open_solver("batch-perceptron"), "worst-case:n=9"),
    ("lec.thm3", None, "inseparable:n=20,d=3,seed=0"),
    ("lec.thm3", None, "planted:n=20,d=3,gamma=0.1,seed=0"),
    ("lec.thm3", SmoothGradientDescent(), ""),
    ("gb.lec.ridge.system", SGD(), ""),
    ("gb.lec.ridge.system", None, "iris:0,1,2 --multiclass"),
    ("gb.lec.stumps.best", OTHER_LEARNER, ""),
    ("lec.lem7", None, "iris:0,1 --kernel linear"),
    # With ε above the margin SNKP may certify at once, and Theorem 1 says nothing about that.
    ("rp.thm1", "snkp:epsilon=0.2", RBF),
    ("rp.lem5", "snkp", SMALL),  # its rows are not of norm one
]


@pytest.mark.parametrize(("statement", "solver", "problem"), INAPPLICABLE)
def test_assumptions_are_heeded(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem, 3).verdict == "inapplicable"


@pytest.mark.parametrize("name", ["snkp", "snkp:epsilon=0.1"])
def test_theorem_1_speaks_where_the_exit_is_below_the_margin(name) -> None:
    assert verdict("rp.thm1", name, RBF, 30).verdict == "holds"


@pytest.mark.parametrize("exponent", [-1060, -700, -404])
@pytest.mark.parametrize("statement", ["gb.lec.gd.step", "gb.lec.agd.step"])
def test_rows_too_short_for_the_allowances_are_no_pass(statement, exponent) -> None:
    """At 2⁻¹⁰¹⁰ every step was excused by what underflow may lose."""
    X = np.ldexp(np.array([[1.0, 2.0], [-2.0, 1.0], [0.5, -3.0]]), exponent)
    problem = DenseProblem(X, np.array([1, -1, 1]))
    assert verdict(statement, None, problem).verdict == "inapplicable"
