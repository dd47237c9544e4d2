"""Passes that were not earned, and refutations that were not deserved.

What is infinite decides nothing; what an iterate carries is taken over when it is yielded; what was
not heard is not a pass; what a solver claims is checked or not used; the first run counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import example, given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.in_process import BoundViolated, check_bounds
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import at_most, equal, number, size_of
from gammabar.harness.verify.run_checks import (
    _clopper_pearson as clopper_pearson,
    check_run,
    check_statement,
)
from gammabar.harness.verify.statement import IterateStatement, RandomisedStatement
from gammabar.problems import DenseProblem, ProblemError, from_arrays, load
from gammabar.solvers import AdaptiveSampling, DualAcceleration, Iterate

PLANTED = "planted:n=20,d=3,gamma=0.1,seed=0"
ALL = load_statements()


def about(solver: str) -> list[Any]:
    return [s for s in ALL.values() if s.about_runs and solver in s.solvers and s.unit]


# --- infinite and undefined numbers ---------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.floats(1e300, 1.7976931348623157e308),
    st.sampled_from(["w", "w alone", "momentum"]),
    st.sampled_from([PLANTED, "worst-case:n=5", "planted:n=5,d=2,gamma=0.5"]),
    st.integers(1, 2),
)
@example(1.5e308, "w alone", "worst-case:n=5", 1)
def test_iterates_at_the_end_of_the_doubles_hold_nothing_by_overflow(size, where, text, since):
    """w = 1.5e308 (1, …, 1): identities of Algorithm 1 held, for an allowance was infinite."""

    class Huge(DualAcceleration):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                large = np.full(it.w.shape, size)
                if it.t < since:
                    yield it
                elif where == "w alone":
                    yield Iterate(it.t, large)
                else:
                    yield replace(it, soft=None, **{where: large})

    with np.errstate(all="ignore"):
        found = check_run(Case(load(text), Huge(), unit=True), about("dual-acceleration"), 3)
    identities = {v.statement: v for v in found if ALL[v.statement].kind == "identity"}
    named = ("jst.lem3.4.momentum",) if where == "momentum" else ("jst.lem3.4.primal",)
    named += () if where == "momentum" else ("jst.lemC.3", "jst.lemC.12.identity")
    assert all(identities[name].verdict != "holds" for name in named)


# --- what was not heard ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Stops:
    """A wrong Algorithm 1 (no momentum) that halts by itself, with a reason of its own."""

    after: int
    halt: Any = "separated"
    step: float = 1.0

    def iterates(self, problem, rng=None):
        w = problem.origin()
        for t in range(self.after + 1):
            soft = problem.softmin(w)
            extra = {"halt": self.halt} if t == self.after and self.halt else {}
            yield Iterate(t, w, problem, soft, extra=extra)
            w = w + soft.pull


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 12),
    st.sampled_from(["separated", "certificate", "done", "because", 1, None]),
    st.integers(13, 40),
)
def test_a_solver_that_halts_by_itself_gets_no_pass(after, halt, iterations):
    """Whatever it says and whenever: Algorithm 1 does not end in its paper."""
    case = Case(load(PLANTED), Stops(after, halt), unit=True)
    claims = [s for s in about("dual-acceleration") if isinstance(s, IterateStatement)]
    for verdict in check_run(case, claims, iterations):
        assert verdict.verdict != "holds", verdict
    case = Case(load(PLANTED), Stops(after, halt), unit=True)
    (rate,) = check_run(case, [ALL["jst.thm3.1.1"]], iterations)
    if rate.verdict == "undecided" and halt:
        assert f"{after + 1} of {iterations + 1} iterates" in rate.reason


@pytest.mark.parametrize(
    ("halt", "w", "verdict"),
    [
        ("separated", (1.0, 1.0), "holds"),
        ("separated", (1.0, -1.0), "undecided"),
        ("separated", (1.0, 0.0), "undecided"),
        ("certificate", (1.0, 1.0), "undecided"),
        ("tired", (1.0, 1.0), "undecided"),
    ],
)
def test_a_method_that_ends_in_its_paper_is_checked_to_its_true_end(halt, w, verdict):
    class Ends:
        def iterates(self, problem, rng=None):
            yield Iterate(0, np.zeros(2))
            yield Iterate(1, np.array(w), extra={"halt": halt})

    statement = IterateStatement(
        id="test.ends",
        reference="here",
        claim="",
        solvers=("perceptron",),
        body=lambda it, case: at_most(it.t, 5),
    )
    square = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])
    (found,) = check_run(Case(square, Ends()), [statement], 10)
    assert found.verdict == verdict
    assert verdict == "holds" or "2 of 11 iterates" in found.reason


@pytest.mark.parametrize("iterations", [0, -1, -100, True, 1.5, 2.0, None, "10", math.inf])
def test_a_run_has_a_positive_length(iterations):
    if iterations is not None:  # that is 200, or all that was recorded
        with pytest.raises(ProblemError, match="iterations must be"):
            check_bounds(["jst.thm3.1.1"], DualAcceleration(), PLANTED, iterations=iterations)
    case = Case(load(PLANTED), DualAcceleration(), unit=True)
    with pytest.raises(ProblemError, match="iterations must be"):
        check_run(case, [ALL["jst.thm3.1.1"]], iterations)


# --- what a solver claims -------------------------------------------------------------------------


@pytest.mark.parametrize("say", ["nothing", "dual", "i"])
def test_a_sampler_that_does_not_say_what_it_drew_does_not_pass(say):
    class Silent(AdaptiveSampling):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                extra = it.extra if say == "i" else {}
                yield replace(it, dual=it.dual if say == "dual" else None, extra=extra)

    names = ["gb.jst.sampling.draws", "gb.jst.sampling.step"]
    found = check_run(Case(load(PLANTED), Silent(), unit=True), [ALL[n] for n in names], 20)
    for verdict in found:
        if say == "i" and verdict.statement == names[0]:
            assert verdict.verdict == "holds"  # the weights are the court's own
        else:
            assert verdict.verdict == "inapplicable"
            assert "does not say its" in verdict.reason
    with pytest.raises(BoundViolated):
        check_bounds(names[1:], Silent(), PLANTED, iterations=20)


# --- the first run counts -------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_a_solver_with_randomness_of_its_own_gets_one_try(seed):
    """True failure rate 0.3 against δ = 0.25; what is heard is what happened first."""
    own, results = np.random.default_rng(seed), []

    def toss(case, rng):
        results.append(bool(own.random() < 0.3))
        # A failure that is not certain at level 0, so that it is looked at again.
        side = arb(1, 0.5) if case.level == 0 else number(2) if results[-1] else number(0)
        return at_most(side, 1, "the run succeeds")

    def kept(case, rng):
        failed = case.remember("run", lambda: results.append(own.random() < 0.3) or results[-1])
        side = arb(1, 0.5) if case.level == 0 else number(2) if failed else number(0)
        return at_most(side, 1, "the run succeeds")

    for name, body in (("test.toss", toss), ("test.kept", kept)):
        results.clear()
        options = {"reference": "here", "claim": "", "delta": 0.25, "runs": 60, "problems": ("",)}
        found = check_statement(RandomisedStatement(id=name, body=body, **options), Case())
        assert len(results) == 60  # each run once
        if name == "test.kept":
            low, high = clopper_pearson(sum(results), 60, 1e-4)
            wanted = "holds" if high <= 0.25 else "refuted" if low > 0.25 else "undecided"
            assert found.verdict == wanted
        else:  # no run could be looked at again: all are doubts
            assert found.verdict == "undecided"


def test_the_theorem_about_sampling_runs_its_solver_once_per_run():
    calls = []

    class Counting(AdaptiveSampling):
        def iterates(self, problem, rng=None):
            calls.append(1)
            yield from AdaptiveSampling(self.step, self.momentum).iterates(problem, rng)

    statement = replace(ALL["jst.lemD.2"], runs=3)
    verdict = check_statement(statement, Case(load("worst-case:n=5"), Counting(), unit=True))
    assert len(calls) == 3
    assert verdict.checked == 3


def test_equations_are_not_excused_by_tiny_numbers():
    """At data of 1e-160 an allowance of 2^-500 excused every identity."""
    problem = DenseProblem(np.array([[1e-160, 0], [0, 1e-160]]), np.array([1, 1]))
    it = View(Iterate(0, np.array([1e-160, 0.0])), Case(problem))
    gap = it.vec(np.array([1e-160, 0.0])) - it.vec(np.zeros(2))
    assert gap.norm() > 0.99e-160
    off = equal(gap.norm(), 0, allowance=4 * gap.err, size=size_of(gap.norm()))
    assert off.decide(0.0) == "violated"
