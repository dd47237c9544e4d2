"""Wrong solvers are refuted: all mutants, by each statement one, steps off by a millionth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_expit, softmax
from statement_checks import STATEMENTS, Changed, about, changed, verdict, verdicts

from gammabar.harness import registry
from gammabar.harness.paper import Family
from gammabar.harness.power import kills, matrix
from gammabar.harness.registry import mutants
from gammabar.harness.run.tasks import open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.verdict import Status
from gammabar.papers.ji_srebro_telgarsky_2021.appendix_ab import _Path, _World
from gammabar.problems import DenseProblem
from gammabar.problems.problem import soften
from gammabar.problems.specs import open_problem
from gammabar.solvers import DualAcceleration, Iterate
from gammabar.solvers.boosting import AdaBoost, Stump
from gammabar.solvers.descent import SGD, SmoothGradientDescent
from gammabar.solvers.ji_srebro_telgarsky import DualForm
from gammabar.solvers.tyurin import NormalizedLogisticRegressionGD

#: Mutant → statement → problems, as ``gammabar list mutants --matrix FILE`` writes it.
MATRIX = registry.matrix()
KILLERS: dict[str, list[str]] = {}
for _mutant, _killed in MATRIX.items():
    for _statement in _killed:
        KILLERS.setdefault(_statement, []).append(_mutant)
RATES = {s.id for s in STATEMENTS.values() if s.slower}
PLANTED = "planted:n=40,d=5,gamma=0.05,seed=1"
SMALL = "planted:n=20,d=3,gamma=0.2,seed=0"
TINY = 1 + 1e-6


# --- the matrix ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MATRIX))
def test_a_mutant_is_refuted(name: str):
    """By the first statement and on the first problem that the matrix names."""
    if not MATRIX[name]:
        assert mutants()[name].equivalent, "a wrong solver that nothing refutes is a hole"
        return
    statement, problems = next(iter(MATRIX[name].items()))
    assert kills(mutants()[name], statement, problems[0])


#: These take a second or more.
LONG = "gb.sampling jst.lemD.1 jst.lemD.2 jst.thm4.1.fixed lec.thm3 gb.lec.sgd.draws"


@pytest.mark.parametrize(
    "name",
    [pytest.param(i, marks=[pytest.mark.full] if i in LONG.split() else []) for i in KILLERS],
)
def test_a_statement_refutes_a_wrong_solver(name: str):
    """The next slower method, where it is about a rate; on data of few rows."""
    mutant = STATEMENTS[name].slower or KILLERS[name][0]
    data = sorted(MATRIX[mutant][name], key=lambda p: p.startswith(("mnist", "digits")))
    assert kills(mutants()[mutant], name, data[0])


def test_statements_have_power_or_say_why_not():
    assert set(MATRIX) == set(mutants())
    true = [s for s in STATEMENTS.values() if s.status != "refuted"]
    assert [s.id for s in true if s.id not in KILLERS and not s.powerless] == []


@pytest.mark.slow
def test_the_matrix_is_what_is_computed():
    computed = matrix()
    assert {name: set(found) for name, found in computed.items()} == {
        name: set(found) for name, found in MATRIX.items()
    }


#: Bounds that say nothing about how fast a method is: steps of a proof, properties of a function,
#: invariants, lengths from above, another δ, certificates in ‖w_t‖, distances of methods, draws.
NO_RATES = """
gb.floor gb.gap gb.jst.sampling.draws gb.lec.sgd.draws gb.sampling.hundredth gb.sampling.twentieth
gb.selfcert gb.tyurin.lr-gd.rate gb.tyurin.normalized-lr-gd.rate jst.appC.half jst.appC.length.fixed
jst.eq3.8 jst.eq3.9 jst.eqB.11.fixed jst.eqB.7 jst.eqB.9 jst.eqC.10 jst.eqC.13.fixed jst.eqC.8
jst.lem3.6.upper jst.lemC.12.sum.fixed jst.lemD.1 jst.lemD.2 jst.sec5.1.gradnorm jst.sec5.1.smooth
jst.thm4.1.delta jst.thm4.1.tenth lec.alg3.z lec.sec4.greedy rp.eq10 rp.eq15 rp.lem4 rp.lem5 rp.lem8
rp.lem9.chain tyurin.appC.descent tyurin.eq10 tyurin.eq6 tyurin.eq8 tyurin.eq9
"""


def test_every_rate_names_the_next_slower_method() -> None:
    kinds = ("anytime", "stopping", "probability", "expectation")
    true = [s for s in STATEMENTS.values() if s.solvers and s.status is Status.HOLDS]
    assert {s.id for s in true if s.kind in kinds} - RATES == set(NO_RATES.split())
    assert all(STATEMENTS[name].slower in mutants() for name in RATES)


# --- iterates that are changed on their way out --------------------------------------------------


def times(part: str, factor: float) -> Callable[[Iterate], Iterate]:
    """w, the momentum or something else that an iterate says, times a factor."""

    def change(it: Iterate) -> Iterate:
        if part in ("w", "momentum"):
            return replace(it, soft=None, **{part: factor * getattr(it, part)})
        return replace(it, extra=it.extra | {part: factor * it.extra[part]})

    return change


def vertex(it: Iterate) -> Iterate:
    return replace(it, extra=it.extra | {"mu": np.eye(it.dual.size)[0]})


def warmer(it: Iterate) -> Iterate:
    return replace(it, dual=soften(TINY * it.extra["p"], 1.0)[0])


def wobbling(it: Iterate) -> Iterate:
    return replace(it, w=it.w * (1 + 1e-6 * (it.t % 2)), soft=None)


A1, DUAL = "dual-acceleration", "dual-acceleration-dual"
CHANGED = [
    ("jst.lem3.2", DUAL, vertex),
    ("jst.lem3.6.upper", A1, times("w", TINY)),
    ("jst.lem3.4.primal", A1, wobbling),
    ("jst.lem3.4.primal", DUAL, wobbling),
    ("jst.lem3.4.momentum", A1, times("momentum", TINY)),
    ("jst.lem3.4.momentum", DUAL, lambda it: replace(it, extra={"nu": it.dual})),
    ("jst.lem3.4.mu.fixed", A1, times("momentum", TINY)),
    ("jst.lem3.4.mu.fixed", DUAL, vertex),
    ("jst.lemB.3", DUAL, times("p", 0.5)),
    ("jst.lemB.4", DUAL, warmer),
    ("jst.eqB.6.fixed", DUAL, times("p", TINY)),
    ("jst.eqB.7", DUAL, times("mu", 1.5)),
    ("jst.eqB.9", DUAL, times("p", 0.5)),
    *(("jst.lemC.3", DUAL, times(part, TINY)) for part in ("w", "mu", "nu")),
    *((f"jst.lemC.{i}", f"{A1}:loss=logistic", times("w", TINY)) for i in ("3", "12.identity")),
    ("jst.lemC.11", DUAL, times("w", 2)),
    ("jst.lemC.12.identity", DUAL, times("w", TINY)),
    ("jst.appC.length.fixed", DUAL, times("w", 2)),
    *(
        ("jst.sec3.1.mirror", s, times("w", TINY))
        for s in ("gradient-descent", "normalized-gradient-descent")
    ),
    *(
        (f"jst.{i}", A1, lambda it, v=v: replace(it, momentum=np.full(3, v)))
        for i in ("thm3.1.2", "lem3.4.momentum", "lem3.4.mu.fixed")
        for v in (1.0, math.nan, math.inf)
    ),
]


@pytest.mark.parametrize(("identifier", "solver", "change"), CHANGED)
def test_changed_iterates_are_refuted(identifier, solver, change) -> None:
    assert verdict(identifier, solver, SMALL, 60).verdict == "holds"
    assert verdict(identifier, changed(solver, change), SMALL, 60).verdict == "refuted"


def test_with_the_sign_reversed_the_printed_form_of_theorem_5_1_is_the_true_one() -> None:
    multiclass = "planted:n=30,d=4,gamma=0.2,seed=0 --multiclass"
    backwards = changed(A1, times("w", -1))
    assert verdict("jst.thm5.1.fixed", backwards, multiclass).verdict == "refuted"
    assert verdict("jst.thm5.1", backwards, multiclass).verdict == "holds"


class OtherWeights:
    """A truth with other dual weights."""

    def __init__(self, right: Any, numerators: list[int], total: int) -> None:
        self.right, self.numerators, self.total = right, numerators, total

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)


@pytest.mark.parametrize("name", ["lemA.1.value", "sec2.argmax.fixed", "sec3.1.align.fixed"])
def test_a_wrong_dual_point_is_refuted(name: str) -> None:
    case = Case(open_problem(PLANTED), unit=True)
    truth = case.truth
    first, *rest = truth.numerators
    for total in (truth.total + 1, truth.total):
        vars(case)["truth"] = OtherWeights(truth, [first + 1, *rest], total)
        assert check_statement(STATEMENTS[f"jst.{name}"], case).verdict == "refuted"


def test_mirror_maps_with_a_wrong_step_or_gradient_are_refuted(monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_Path, "ratio", property(lambda self: Fraction(1, 7)))
        assert verdict("jst.eqB.6.maps").verdict == "refuted"
    right = _World.slope
    for factor, names in (
        (2, ("eqB.7.maps", "eqB.5")),  # not that of a 1-smooth f
        (-1, ("eqB.9.maps", "lemB.3.maps", "thmB.12.maps", "eqB.8")),
    ):
        monkeypatch.setattr(_World, "slope", lambda self, q, by=factor: by * right(self, q))
        assert {verdict(f"jst.{name}").verdict for name in names} == {"refuted"}


# --- Ramdas and Peña -----------------------------------------------------------------------------

#: Solver → a separable problem on which its start is no solution.
RBF = "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"
SEPARABLE = {
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
    """The statements that refute a solver whose run is changed; "step" is that about its steps."""
    of_rp = [s for s in about(solver_name(name)) if s.id.startswith(("rp.", "gb.rp.", "gb.snkp."))]
    found = verdicts(Changed(open_solver(name), change), text, of_rp, iterations)
    named = {f"gb.rp.{solver_name(name)}.step": "step"}
    return {named.get(i, i) for i, v in found.items() if v.verdict == "refuted"}


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


@pytest.mark.parametrize("name", SEPARABLE)
def test_a_nudge_of_a_millionth_is_no_step(name: str) -> None:
    parts = {"n": ("w", "dual"), "s": ("w", "dual", "p"), "i": ("w", "dual", "p")}
    for part in ("w",) if name in ("normalized-perceptron", "winnow") else parts[name[0]]:
        assert "step" in refuted(name, nudged(part), SEPARABLE[name], 5)


@pytest.mark.parametrize("name", ["nkp", "snkp", "nvn", "snkpvn", "isnkpvn"])
def test_weights_that_are_no_distribution(name: str) -> None:
    def doubled(it: Iterate) -> Iterate:
        return replace(it, dual=2 * it.dual, extra=it.extra | {"p": -it.extra.get("p", it.dual)})

    problem = SEPARABLE.get(name, INSEPARABLE)
    assert "gb.rp.simplex" in refuted(name, lambda its: map(doubled, its), problem, 5)


def ends(halt: str) -> Callable[[Iterator[Iterate]], Iterator[Iterate]]:
    """The run ends with its first iterate."""

    def change(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        it = next(iterates)
        yield replace(it, extra=it.extra | {"halt": halt, "returned": True})

    return change


def goes_on(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
    for it in iterates:
        last = it
        yield replace(it, extra={k: v for k, v in it.extra.items() if k != "halt"})
    for t in count(last.t + 1):
        yield replace(last, t=t)


@pytest.mark.parametrize("name", [n for n in SEPARABLE if not n.startswith("nvn")])
def test_exits_that_are_none(name: str) -> None:
    """A method that says that it is done when it is not, or goes on when it is."""
    for change in (ends("separated"), goes_on):
        assert "step" in refuted(name, change, SEPARABLE[name], 60)


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
    assert {"step", end} <= refuted(name, ends("certificate"), INSEPARABLE)


# --- Tyurin --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Adds:
    """A user's solver: it says t and w, and nothing else. It adds Aᵀ rule(t, scores, step)."""

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


def batch(t, s, wrong):
    return np.full(s.size, 0.5 / s.size) if t == 0 else wrong / s.size


RIGHT = {
    "lr-gd": lambda t, s, step: step * expit(-s) / s.size,
    "normalized-lr-gd": lambda t, s, step: step * softmax(log_expit(-s)),
    "batch-perceptron": lambda t, s, step: batch(t, s, s <= 0),
    "normalized-batch-perceptron": lambda t, s, step: (s <= 0) / max(1, (s <= 0).sum()),
    "perceptron": lambda t, s, step: (np.arange(s.size) == np.argmax(s <= 0)) * (s <= 0).any(),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("problem", ["planted:n=20,d=4,gamma=0.05,seed=7", "worst-case:n=16"])
def test_a_right_solver_of_a_user_is_not_refuted(name, problem) -> None:
    true = [s for s in about(name) if s.status == "holds"]
    for found in verdicts(Adds(RIGHT[name], 30.0), problem, true, most=None).values():
        assert found.verdict in ("holds", "inapplicable"), found


@pytest.mark.parametrize("name", RIGHT)
def test_one_step_wrong_by_a_millionth_is_refuted(name) -> None:
    wrong = Adds(lambda t, s, step: RIGHT[name](t, s, step) * (1 + 1e-6 * (t == 2)))
    step = f"gb.tyurin.{name}.step"
    found = verdict(step, wrong, "gaussian:n=40,d=4,seed=3,separable=1", 40)
    assert (found.verdict, found.worst_t) == ("refuted", 3)
    found = verdict(step, Adds(RIGHT[name], start=math.pi * 1e-9), "iris:0,1", 3)
    assert (found.verdict, found.worst_t) == ("refuted", 0)


PERCEPTRONS = [
    *(
        (
            "gb.tyurin.batch-perceptron.step",
            Adds(lambda t, s, _: batch(t, s, s < 0), halts=h),
            "worst-case:n=16",
        )
        for h in (False, True)
    ),
    ("gb.tyurin.perceptron.step", Adds(RIGHT["normalized-batch-perceptron"]), "iris:0,1"),
    ("tyurin.thm5.1", Adds(RIGHT["normalized-batch-perceptron"]), "worst-case:n=10"),
]


def test_what_a_solver_says_about_itself_is_checked() -> None:
    def another_beta(it: Iterate) -> Iterate:
        return replace(it, extra=it.extra | {"log_beta": it.extra["log_beta"] - math.log(100)})

    wrong = changed(NormalizedLogisticRegressionGD(1e3), another_beta)
    found = verdict("tyurin.sec6.limits.fixed", wrong, "iris:0,1", 5)
    assert (found.verdict, "solver" in found.what) == ("refuted", True)
    stepless = SimpleNamespace(iterates=Adds(RIGHT["lr-gd"]).iterates)
    found = verdict("gb.tyurin.lr-gd.step", stepless, "worst-case:n=101", 5)
    assert (found.verdict, "step" in found.reason) == ("inapplicable", True)


# --- the lecture ---------------------------------------------------------------------------------


#: Lines of solvers that are off by a millionth, or worse.
LINES = Family("lec", __name__)
LINES.patches("""
smooth-gradient-descent/step: The step is too long: wrong.
    2 / (f → 2.000002 / (f
smooth-gradient-descent/start: The start is not 0: wrong.
    f.origin() → f.origin() + 1e-9
smooth-gradient-descent/infinite: The second iterate is infinite: wrong.
    Iterate(t, w, → Iterate(t, w + (math.inf if t == 2 else 0.0),
smooth-gradient-descent/short: There are three iterates: wrong.
    in count() → in range(3)
accelerated-gradient-descent/step: The step is too long: wrong.
    gradient / f.smoothness → 1.000001 * gradient / f.smoothness
accelerated-gradient-descent/share: The momentum is too large: wrong.
    (root - 1) → 1.000001 * (root - 1)
sgd/step: The step is too long: wrong.
    self.distance / (rho → 1.000001 * self.distance / (rho
sgd/average: The average is too large: wrong.
    total / (t + 1) → 1.000001 * total / (t + 1)
adaboost/weights: It says other weights: wrong.
    "D": D → "D": 1.000001 * D
adaboost/dual: One weight is too large: wrong.
    D = unnormalised / z → D = unnormalised / z * np.where(np.arange(len(y)), 1, 1.000001)
adaboost/epsilon: It says another error: wrong.
    "epsilon": epsilon → "epsilon": 1.000001 * epsilon
adaboost/gamma: It says another edge: wrong.
    0.5 - epsilon → 0.500001 - epsilon
adaboost/alpha: It says another vote: wrong.
    "alpha": alpha → "alpha": 1.000001 * alpha
adaboost/z: It says another sum: wrong.
    "z": z → "z": 1.000001 * z
adaboost/product: It says another product: wrong.
    ["product"] * z → ["product"] * z * 1.000001
kernel-ridge/lambda: The regularisation is too large: wrong.
    self.regularisation) → 1.000001 * self.regularisation)
    + self.regularisation → + 1.000001 * self.regularisation
""")
IRIS = "iris:0,1"
#: Solver → statements about its steps, and data.
STEPS = {
    "smooth-gradient-descent": [("gb.lec.gd.step", ""), ("gb.lec.gd.step", IRIS)],
    "accelerated-gradient-descent": [("gb.lec.agd.step", ""), ("gb.lec.agd.step", IRIS)],
    "sgd": [("gb.lec.sgd.step", ""), ("gb.lec.sgd.step", "iris:1,2 --kernel rbf:gamma=0.5")],
    "adaboost": [("gb.lec.adaboost.step", "")],
    "kernel-ridge": [
        *(("gb.lec.ridge.system", data) for data in ("", IRIS)),
        *((name, "") for name in ("lec.ridge.fixed", "gb.lec.ridge.objective")),
    ],
}


LECTURE = [
    *((i, m.make(), data) for m in LINES.mutants for i, data in STEPS[m.solver]),
    *(
        ("lec.thm1.fixed", m.make(), "")
        for m in LINES.mutants
        if m.name.endswith(("short", "infinite"))
    ),
]


@pytest.mark.parametrize(("statement", "solver", "problem"), [*PERCEPTRONS, *LECTURE])
def test_wrong_methods_are_refuted(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem).verdict == "refuted"


def first_stump(X, y):
    """A weak learner that looks at one stump only."""
    return lambda D: Stump(0, np.asarray(X)[0, 0], 1)


OTHERWISE = Family("lec", __name__)
OTHERWISE.patches("""
smooth-gradient-descent/otherwise: It says less: right.
    w - eta * gradient → w - (gradient + gradient) / (f.smoothness + f.strong_convexity)
    extra={"gradient": gradient, "function": f} → extra={}
accelerated-gradient-descent/otherwise: It says less: right.
    momentum=v - w, extra=extra → extra={}
""")


@pytest.mark.parametrize(
    ("statement", "solver", "problem"),
    [
        *((i, m.make(), "") for m in OTHERWISE.mutants for i, _ in STEPS[m.solver][:1]),
        ("gb.lec.sgd.step", mutants()["sgd/without-replacement"].make(), ""),
        ("gb.lec.adaboost.step", AdaBoost(first_stump), ""),
        # The exit of SNKP is below the margin, so that Theorem 1 speaks.
        *(("rp.thm1", name, RBF) for name in ("snkp", "snkp:epsilon=0.1")),
    ],
)
def test_right_methods_written_otherwise_hold(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem, 30).verdict == "holds"


# --- where a statement does not speak ------------------------------------------------------------

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
    ("gb.lec.stumps.best", AdaBoost(lambda X, y: lambda D: Stump(0, 1, 1)), ""),
    ("lec.lem7", None, "iris:0,1 --kernel linear"),
    # With ε above the margin SNKP may certify at once, and Theorem 1 says nothing about that.
    ("rp.thm1", "snkp:epsilon=0.2", RBF),
    ("rp.lem5", "snkp", SMALL),  # its rows are not of norm one
    # At 2⁻¹⁰¹⁰ every step was excused by what underflow may lose.
    *(
        (
            f"gb.lec.{i}.step",
            None,
            DenseProblem(np.ldexp([[1.0, 2.0], [-2.0, 1.0], [0.5, -3.0]], e), np.array([1, -1, 1])),
        )
        for i in ("gd", "agd")
        for e in (-1060, -700, -404)
    ),
]


@pytest.mark.parametrize(("statement", "solver", "problem"), INAPPLICABLE)
def test_assumptions_are_heeded(statement, solver, problem) -> None:
    assert verdict(statement, solver, problem, 3).verdict == "inapplicable"
