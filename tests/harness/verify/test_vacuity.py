"""What a pass is worth: solvers that stand still are put to the same claims."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import Registered
from gammabar.harness.verify.statement import IterateStatement
from gammabar.papers import at_most
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate

PLANTED = "planted:n=200,d=10,gamma=0.1,seed=0"


class Resting:
    """The solver of the registry up to t = `at`, and then the same iterate for ever."""

    def __init__(self, solver: Any, at: int) -> None:
        self._solver, self._at = solver, at

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._solver, name)

    def iterates(self, problem, rng):
        for it in self._solver.iterates(problem, rng):
            last = Iterate(it.t, it.w, dual=it.dual, momentum=it.momentum, extra=it.extra)
            yield last
            if it.t == self._at:
                break
        for t in count(self._at + 1):
            yield Iterate(t, last.w, dual=last.dual, momentum=last.momentum, extra=last.extra)


class Idle:
    def iterates(self, problem, rng):
        for t in count():
            yield Iterate(t=t, w=problem.origin())


def test_a_vacuous_bound_is_a_pass_that_says_nothing():
    [verdict] = gb.verify(Idle(), PLANTED, "jst.thm3.1.1", iterations=100)
    assert (verdict.verdict, verdict.informative, verdict.says_nothing) == ("holds", 0, True)
    assert verdict.vacuous_to == 167  # the numbers of docs/verdicts.md
    [moves] = gb.verify("dual-acceleration", PLANTED, "jst.thm3.1.1", iterations=100)
    assert moves.vacuous_to == 980
    [later] = gb.verify(Idle(), PLANTED, "jst.thm3.1.1", iterations=168)
    assert (later.verdict, later.worst_t, later.says_nothing) == ("refuted", 168, False)


def test_informative_iterates_are_counted_from_the_first_one():
    [verdict] = gb.verify("dual-acceleration", PLANTED, "gb.sharp", iterations=300)
    assert verdict.vacuous_to is not None
    assert not verdict.says_nothing
    assert verdict.informative == 300 - verdict.vacuous_to
    [short] = gb.verify("dual-acceleration", PLANTED, "gb.sharp", iterations=verdict.vacuous_to)
    assert (short.informative, short.vacuous_to) == (0, verdict.vacuous_to)  # by search, not by run


SOLVERS = (
    "dual-acceleration",
    "dual-acceleration-dual",
    "gradient-descent",
    "perceptron",
    "batch-perceptron",
    "snkp",
    "nvn",
)
PROBLEMS = (
    "planted:n=12,d=4,gamma=0.2,seed=3",
    "iris:0,1:n=20",
    "orthogonal:n=5",
    "inseparable:n=12,d=3,seed=0",
    "gaussian:n=10,d=3,seed=0 --kernel linear --normalised",
)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(SOLVERS), st.sampled_from(PROBLEMS), st.integers(2, 60))
def test_what_is_informative_is_not_passed_by_a_solver_at_rest(solver, problem, iterations):
    """Whatever is said of a pass, the very same is found if a solver at rest is put on trial."""
    about = [
        s.id
        for s in load_statements().values()
        if solver in s.solvers and isinstance(s, IterateStatement) and not s.powerless
    ]
    found = gb.verify(solver, open_problem(problem), about, iterations=iterations)
    made = Registered(solver).open()
    rests = [
        gb.verify(Resting(made, at), open_problem(problem), about, iterations=iterations)
        for at in (0, 1)
    ]
    for verdict, *others in zip(found, *rests, strict=True):
        if verdict.verdict == "holds" and verdict.informative:
            assert all(other.verdict != "holds" for other in others), verdict


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(SOLVERS[:3]), st.sampled_from(PROBLEMS[:3]))
def test_what_is_obeyed_at_rest_is(solver, problem):
    """`at_rest` of a statement is true: it never refutes a solver that stands still."""
    about = [s.id for s in load_statements().values() if solver in s.solvers and s.at_rest]
    if not about:
        return
    made = Registered(solver).open()
    for at in (0, 1):
        for verdict in gb.verify(Resting(made, at), problem, about, iterations=60):
            assert verdict.verdict != "refuted", verdict


def test_a_goal_that_is_reached_at_once_says_nothing():
    [soon] = gb.verify("perceptron", "degenerate:kind=collinear,n=1,d=2", "rp.perceptron")
    assert (soon.verdict, soon.informative) == ("holds", 0)
    [late] = gb.verify("perceptron", "planted:n=60,d=5,gamma=0.1,seed=0", "rp.perceptron")
    assert (late.verdict, late.informative) == ("holds", 1)


def _judged(body, **more: Any):
    given = {"reference": "here", "claim": "x", "words": "x", "solvers": ("dual-acceleration",)}
    statement = IterateStatement(id="own.claim", body=body, **given, **more)
    [verdict] = gb.verify("dual-acceleration", PLANTED, statement, iterations=20)
    return verdict


def test_a_claim_of_which_nothing_is_known_at_rest_says_nothing():
    """What goes wrong with a solver at rest never makes a pass worth more."""

    def stumbles(it, case):
        if it.t and not it.w.any():
            raise ZeroDivisionError
        return at_most(0, it.norm)

    verdict = _judged(stumbles)
    assert (verdict.verdict, verdict.informative) == ("holds", 0)


def test_silence_about_everybody_is_no_information():
    """A claim that begins late is not informative before, nor is it because it begins."""
    verdict = _judged(lambda it, case: at_most(0, it.norm) if it.t >= 10 else None)
    assert (verdict.verdict, verdict.checked, verdict.informative) == ("holds", 11, 0)


def test_silence_about_a_solver_at_rest_is_no_pass_of_its_own():
    """Nobody who stands still is spoken of, and so nobody of them passes."""

    class Moves:
        def __init__(self, case):
            self.last = None

        def update(self, it):
            self.moved = self.last is not None and bool((it.w != self.last).any())
            self.last = it.w

        def claim(self, it):
            return [at_most(0, it.norm)] if self.moved else []

    verdict = _judged(Moves)
    assert (verdict.verdict, verdict.checked, verdict.informative) == ("holds", 20, 19)
