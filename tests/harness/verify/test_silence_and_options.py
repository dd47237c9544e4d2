"""The same rules through every door, in any company and for any option."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import open_solver
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import Fault
from gammabar.harness.verify.numbers import fact
from gammabar.harness.verify.run_checks import CHANCE, check_run
from gammabar.harness.verify.statement import STATEMENTS, per_iterate, randomised, stopping
from gammabar.harness.verify.verdict import StatementError
from gammabar.papers import at_most, number
from gammabar.papers.gammabar import rp
from gammabar.papers.ramdas_pena_2015 import quantities, section6
from gammabar.solvers import DualAcceleration, Iterate

ALL = load_statements()
WORDS = {"reference": "r", "claim": "c"}
PLANTED = "planted:n=20,d=3,gamma=0.1,seed=0"
pytestmark = pytest.mark.usefixtures("registered")


MEAN = "jst.lem3.4.primal"


def algorithm_1(problem: Any) -> Any:
    return (np.array(it.w) for it in DualAcceleration().iterates(problem))


@pytest.mark.parametrize("words", ["", "what it says of itself"])
def test_a_solver_that_fails_passes_nothing_whatever_it_says(words):
    class Mine:
        def iterates(self, problem: Any, rng: Any) -> Any:
            yield from (Iterate(t, w) for t, w in zip(range(3), algorithm_1(problem), strict=False))
            raise Fault(words)

    case = Case(gb.load(PLANTED), Mine(), unit=True)
    about = [ALL[name] for name in (MEAN, "jst.thm3.1.2", "gb.sharp")]
    assert {v.verdict for v in check_run(case, about, 20)} == {"undecided"}


# --- silence -------------------------------------------------------------------------------------


@given(st.integers(0, 20), st.booleans())
@settings(max_examples=20)
def test_runs_in_which_nothing_is_compared_are_no_successes(told: int, truth: bool) -> None:
    STATEMENTS.pop("zz.silent", None)
    runs = iter(range(10**6))

    @randomised("zz.silent", problems=(PLANTED,), delta=0.5, runs=20, **WORDS)
    def silent(case: Any, rng: Any) -> Any:
        """Something that is compared in some runs only."""
        if next(runs) < told:
            yield fact(truth, "what is compared")

    [found] = gb.verify("perceptron", PLANTED, silent)
    if not told:
        assert (found.verdict, found.checked) == ("inapplicable", 0)
    elif not truth:
        assert found.verdict != "holds"
    else:
        # A run in which nothing is compared counts as a failure. P(at most as many failures) of 20
        # runs that fail with probability δ = 1/2 must be below half of CHANCE: one may be silent.
        as_many = sum(comb(20, k) for k in range(21 - told)) / 2**20
        assert (found.verdict == "holds") == (as_many <= CHANCE / 2)
    assert found.checked == told


@given(st.fractions(-1000, 1000) | st.integers(-3, 12).map(Fraction))
@settings(max_examples=40)
def test_a_limit_of_any_sign_is_a_limit(bound: Fraction) -> None:
    """Every solver reaches the goal at t = 5, and at no t before."""
    STATEMENTS.pop("zz.limit", None)

    @stopping("zz.limit", solvers=("perceptron",), goal=lambda it, case: it.t >= 5, **WORDS)
    def limit(case: Any) -> Any:
        """t = 5 is not above the bound."""
        return number(bound)

    [found] = gb.verify(lambda problem: algorithm_1(problem), PLANTED, limit, iterations=30)
    assert found.verdict == ("holds" if bound >= 5 else "refuted")


def test_what_a_goal_says_is_yes_or_no():
    for said, expected in ((np.bool_(True), "holds"), (np.bool_(False), "refuted")):
        STATEMENTS.pop("zz.goal", None)
        made = stopping("zz.goal", solvers=("perceptron",), goal=lambda *_, s=said: s, **WORDS)
        [found] = gb.verify("perceptron", PLANTED, made(_three), iterations=5)
        assert found.verdict == expected
    for said in (1, "yes", [True], number(1)):
        STATEMENTS.pop("zz.goal", None)
        made = stopping("zz.goal", solvers=("perceptron",), goal=lambda *_, s=said: s, **WORDS)
        with pytest.raises(StatementError, match="its goal returns"):
            gb.verify("perceptron", PLANTED, made(_three), iterations=5)


def _three(case: Any) -> Any:
    """Within three."""
    return 3


@pytest.mark.parametrize("said", [number(10**6), "no", [False], 0.5, 0, 1, (), np.array([False])])
def test_a_fact_is_yes_no_or_not_known(said):
    with pytest.raises(TypeError, match="give it True, False or None"):
        fact(said)
    assert [fact(v).fact for v in (True, False, None, np.bool_(True), np.bool_(False))] == [
        *(True, False, None, True, False)
    ]


def test_waits_says_words():
    @per_iterate("zz.waits", solvers=("perceptron",), waits=lambda it, case: 17, **WORDS)
    def claim(it: Any, case: Any) -> Any:
        """Nothing."""
        return at_most(0, 1)

    with pytest.raises(StatementError, match="waits"):
        gb.verify("perceptron", PLANTED, claim, iterations=5)


# --- company -------------------------------------------------------------------------------------


class Total:
    def __init__(self, case: Any) -> None:
        self.sum = number(0)

    def update(self, it: Any) -> None:
        self.sum = self.sum + it.norm


def test_a_history_that_is_not_declared_is_not_to_be_had():
    @per_iterate("zz.alone", solvers=("perceptron",), since=1, **WORDS)
    def alone(it: Any, case: Any) -> Any:
        """The sum of the norms is 0: false, but it is 0 for ever if nobody updates it."""
        return at_most(case.history(Total).sum, 0)

    @per_iterate("zz.other", solvers=("perceptron",), since=1, history=(Total,), **WORDS)
    def other(it: Any, case: Any) -> Any:
        """The sum of the norms is not negative."""
        return at_most(0, case.history(Total).sum)

    for together in ([alone], [other, alone], [alone, other]):
        with pytest.raises(StatementError, match=r"history=\(Total,\)"):
            gb.verify("perceptron", PLANTED, together)
    assert gb.verify("perceptron", PLANTED, [other])[0].verdict == "holds"


@pytest.mark.parametrize("solver", ["snkp", "snkpvn:delta=0.01", "dual-acceleration-dual"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, "text", 1j])
def test_a_verdict_does_not_depend_on_who_else_listens(solver, bad):
    """A claim that is no number ends the run for those who judge it, and for nobody else."""
    inner = open_solver(solver)

    class Mine(type(inner)):
        def iterates(self, problem: Any, rng: Any = None) -> Any:
            for it in inner.iterates(problem, rng):
                p = it.extra.get("p")
                extra = dict(it.extra)
                if it.t == 2 and p is not None:
                    extra["p"] = np.full(len(p), bad) if not isinstance(bad, str) else bad
                yield Iterate(it.t, np.array(it.w), dual=it.dual, extra=extra)

    mine = object.__new__(Mine)
    vars(mine).update(vars(inner))
    problem = gb.load("inseparable:n=8,d=2,seed=0")
    for unit in (True, False):
        name = solver.partition(":")[0]
        about = [s for s in ALL.values() if s.about_runs and name in s.solvers and s.unit is unit]
        together = check_run(Case(problem, mine, unit=unit), about, 6, 6)
        for one, found in zip(about, together, strict=True):
            [alone] = check_run(Case(problem, mine, unit=unit), [one], 6, 6)
            assert (found.verdict, found.reason) == (alone.verdict, alone.reason), one.id


# --- what is not known is not false --------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "goal", "solver"),
    [
        (rp, "_separates_or_certifies", "snkp:epsilon=0.001"),
        (section6, "_delta_solution", "snkpvn:delta=0.001"),
    ],
)
@pytest.mark.parametrize("known", [None, False])
def test_an_average_that_is_not_known_is_no_failure(module, goal, solver, known, monkeypatch):
    """Whether p_k is an average of the iterates is not known: nor is whether the goal is missed."""
    case = Case(gb.load("inseparable:n=8,d=2,seed=0"), open_solver(solver), unit=True)
    monkeypatch.setattr(quantities, "followed", lambda it, case, kind: (None, [fact(known)]))
    for it in islice(case.views(), 4):
        found = getattr(module, goal)(it, case)
        assert found is known or (found is None and it.separates is None)


@pytest.mark.parametrize("bits", range(20, 70, 5))
def test_what_may_separate_is_not_said_to_miss(bits):
    """w separates by 2^-bits: nothing is claimed of it, and doubles do not see it."""
    X = np.array([[1.0, 0.0], [0.6, 0.8], [-0.6, -0.8]])
    w = np.array([2.0**-bits, 1.0])

    class Still:
        def iterates(self, problem: Any, rng: Any) -> Any:
            p = None
            for t in range(100):
                s, mu = problem.scores(w), 4 / ((t + 1) * (t + 2))
                q = np.exp((s.min() - s) / mu)
                q /= q.sum()
                p = q if p is None else (1 - 2 / (t + 2)) * p + 2 / (t + 2) * q
                yield Iterate(t, w, dual=np.ones(3) / 3, extra={"p": p})

    problem = gb.from_arrays(X, [1, 1, -1])
    assert gb.verify(Still, problem, "gb.snkp.any", iterations=6)[0].verdict != "refuted"


def test_after_the_first_separation_nothing_is_claimed():
    problem = gb.from_arrays([[2.0, 1.0], [-1.0, -2.0]], [1, -1])
    first = [
        np.array(it.w)
        for it in islice(open_solver("normalized-lr-gd:step=1.0").iterates(problem), 2)
    ]

    class After:
        step = 1.0

        def iterates(self, problem: Any, rng: Any) -> Any:
            yield from first
            while True:
                yield -first[1]

    for name in ("tyurin.appC.descent", "tyurin.eq10"):
        assert gb.verify(After, problem, name, iterations=5)[0].verdict != "refuted"


def test_whether_an_end_is_one_may_not_be_known():
    """The run is said to end because w_0 separates, and its scores are larger than any double."""

    class Ended:
        def iterates(self, problem: Any, rng: Any) -> Any:
            yield Iterate(0, np.array([1e200]), extra={"halt": "separated"})

    problem = gb.from_arrays([[1e200], [-1e200]], [1, -1])
    (verdict,) = gb.verify(Ended, problem, "tyurin.eq6", iterations=5)
    assert verdict.verdict == "undecided"
    assert "the scores of w_0 leave the range of doubles" in verdict.reason


# --- options -------------------------------------------------------------------------------------

ODD = [-1.0, 0.0, 0.9, 1.0, 30.0, 1e300, np.inf, np.nan, "x", [1.0], np.array([1.0, 2.0])]
STEPPING = "dual-acceleration dual-acceleration-dual gradient-descent normalized-lr-gd lr-gd"
OPTIONS = [(name, "step") for name in STEPPING.split()]
OPTIONS += [("snkp", "epsilon"), ("nvn", "epsilon"), ("snkpvn", "delta")]
OPTIONS += [("isnkpvn", "gamma"), ("isnkpvn", "epsilon")]


def saying(solver: str, option: str, value: Any) -> Any:
    """A right solver that says another value of an option than the one it has."""
    inner = open_solver(f"{solver}:delta=0.01" if solver == "snkpvn" else solver)
    body = {"iterates": lambda self, problem, rng=None: inner.iterates(problem, rng)}
    made = object.__new__(type("Says", (type(inner),), body))
    vars(made).update(vars(inner) | {option: value})
    return made


@pytest.mark.parametrize(("solver", "option"), OPTIONS)
@pytest.mark.parametrize("value", ODD, ids=str)
def test_an_option_that_no_paper_allows_makes_it_inapplicable(solver, option, value):
    """No claim of a paper is about it, so none is refuted, and none blames its author."""
    known = {s for s in ALL.values() if s.about_runs and solver in s.solvers}
    assert known
    allowed = isinstance(value, float) and (
        (1 < value < np.inf) if option == "gamma" else (0 < value < np.inf)
    )
    for unit in (True, False):
        about = [s for s in known if s.unit is unit and s.status == "holds"]
        case = Case(gb.load("gaussian:n=8,d=2,seed=1"), saying(solver, option, value), unit=unit)
        for one in about:
            [found] = check_run(case, [one], 5, 5)
            if not allowed:
                assert found.verdict != "refuted", (one.id, found.what)


@pytest.mark.parametrize(("solver", "option"), OPTIONS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_options_may_be_numbers_of_numpy(solver, option, kind):
    inner = open_solver(f"{solver}:delta=0.01" if solver == "snkpvn" else solver)
    value = getattr(inner, option)
    if not isinstance(value, float):
        value = 2.0 if option == "gamma" else 0.25
    known = [
        s for s in ALL.values() if s.about_runs and solver in s.solvers and s.status == "holds"
    ]
    problem = gb.load("gaussian:n=8,d=2,seed=1")
    for one in known:
        verdicts = [
            check_run(Case(problem, saying(solver, option, v), unit=one.unit), [one], 5, 5)[
                0
            ].verdict
            for v in (float(kind(value)), kind(value))
        ]
        assert verdicts[0] == verdicts[1], one.id


@dataclass
class Own:
    step: Any = 1.0

    def iterates(self, problem: Any, rng: Any = None) -> Any:
        return (Iterate(t, w) for t, w in enumerate(algorithm_1(problem)))


def test_options_of_a_dataclass_a_class_and_a_function():
    class Plain:
        step = np.float64(1.0)
        iterates = Own.iterates

    one = np.float64(1.0)

    def function(problem: Any, step: Any = one) -> Any:
        return algorithm_1(problem)

    for solver in (Own(np.float64(1.0)), Plain(), Plain, function):
        [found] = gb.verify(solver, PLANTED, MEAN, iterations=5)
        assert found.verdict == "holds"
