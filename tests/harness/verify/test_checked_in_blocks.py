"""On large data iterates are judged during the next pass: the verdicts must be the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from side_by_side.overhead import spoken_of

from gammabar.harness.verify import context as court_case
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import at_most
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import IterateStatement
from gammabar.harness.verify.verdict import StatementError
from gammabar.problems import DenseProblem, from_arrays, load
from gammabar.problems.specs import open_problem
from gammabar.solvers import DualAcceleration, Iterate

SQUARE = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])


@pytest.fixture(params=[2, 3])
def together(request, monkeypatch):
    """All data are large, and so many iterates are judged together."""
    monkeypatch.setattr(court_case, "LARGE", 0)
    monkeypatch.setattr(court_case, "TOGETHER", request.param)


def claim(body) -> IterateStatement:
    return IterateStatement(id="test.together", reference="here", claim="", solvers=(), body=body)


@dataclass(frozen=True)
class Steps:
    """w_t = (t, t)."""

    def iterates(self, problem, rng=None):
        w = np.zeros(2)
        for t in range(100):
            problem.softmin(w)
            yield Iterate(t, w)
            w += 1.0


def test_large_data_are_judged_together_and_small_ones_at_once():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2700, 784))
    large = DenseProblem(X, np.where(X[:, 0] > 0, 1, -1))
    assert Case(large, unit=True).together > 1
    assert Case(load("iris:0,1")).together == 1
    assert Case(open_problem("iris:0,1 --kernel rbf:gamma=1")).together == 1


@pytest.mark.parametrize(
    "name", ["iris:0,1", "planted:n=100,d=8,gamma=0.1,seed=0", "inseparable:n=50,d=4,seed=0"]
)
def test_verdicts_are_the_same(name, monkeypatch):
    problem, statements = load(name), spoken_of("dual-acceleration")

    def found():
        return check_run(Case(problem, DualAcceleration(), unit=True), statements, 25, most=60)

    at_once = found()
    monkeypatch.setattr(court_case, "LARGE", 0)
    together = found()
    told = [(v.statement, v.verdict, v.checked, v.informative, v.vacuous_to) for v in at_once]
    assert told == [
        (v.statement, v.verdict, v.checked, v.informative, v.vacuous_to) for v in together
    ]
    # A pass that is made beside the judges may be the compiled one, which sums in another order.
    for one, other in zip(at_once, together, strict=True):
        assert (one.tightness is None) == (other.tightness is None)
        assert other.tightness is None or other.tightness == pytest.approx(one.tightness, rel=1e-9)
    assert {v.verdict for v in at_once} >= {"holds"}


def test_a_real_pass_goes_on_while_iterates_are_judged():
    """The large problem itself, with statements that ask for passes of their own meanwhile."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2700, 784))
    problem = DenseProblem(X, np.where(X[:, 0] > 0, 1, -1))
    A = problem.y[:, None] * X

    def right(it, case):
        again = case.problem.softmin(it.w + 1e-3)
        wrong = np.abs(again.scores - A @ (it.w + 1e-3)).max()
        return at_most(float(wrong), 1e-9), at_most(
            abs(float(it.score_doubles.min() - (A @ it.w).min())), 1e-9
        )

    (found,) = check_run(Case(problem, DualAcceleration()), [claim(right)], 12)
    assert (found.verdict, found.checked) == ("holds", 26)


def test_an_error_in_a_statement_is_not_taken_for_one_of_the_solver(together):
    def broken(it, case):
        if it.t == 0:  # once: later iterates would raise it again, where it cannot be missed
            raise ZeroDivisionError("here")
        return at_most(0, 1)

    asked = []

    class Careful(Steps):
        def iterates(self, problem, rng=None):
            try:
                for it in super().iterates(problem, rng):
                    asked.append(it.t)
                    case.observed.meanwhile()  # as a pass over large data does
                    yield it
            except Exception:  # pragma: no cover - what must not happen
                pytest.fail("the solver has seen the error of a statement")

    case = Case(SQUARE, Careful())
    with pytest.raises(StatementError, match="ZeroDivisionError: here"):
        check_run(case, [claim(broken)], 90)
    assert len(asked) < 10  # and it is not asked for the rest
