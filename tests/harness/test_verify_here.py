"""`gb.verify`: verdicts in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import open_problem
from gammabar.harness.verify.numbers import at_most
from gammabar.harness.verify.statement import STATEMENTS, per_iterate
from gammabar.problems import ProblemError
from gammabar.solvers import DualAcceleration

PLANTED = "planted:n=30,d=4,gamma=0.1,seed=0"


@pytest.fixture
def mine():
    """A statement of one's own, as its decorated function."""
    load_statements()
    before = set(STATEMENTS)

    @per_iterate("mine.sharp", reference="here", claim="", solvers=("dual-acceleration",), since=1)
    def sharp(it, case):
        return at_most(it.margin, case.gamma)

    yield sharp
    for added in set(STATEMENTS) - before:
        del STATEMENTS[added]


def test_solvers_and_problems_may_be_objects_or_texts(mine):
    for solver in (DualAcceleration(), DualAcceleration, "dual-acceleration"):
        for problem in (PLANTED, open_problem(PLANTED), open_problem(PLANTED).unit()):
            (verdict,) = gb.verify(solver, problem, ["gb.sharp"], iterations=20)
            assert (verdict.statement, verdict.verdict) == ("gb.sharp", "holds")
            assert verdict.checked == 20


def test_statements_of_ones_own(mine):
    statement = STATEMENTS["mine.sharp"]
    for given_ in ("mine.sharp", mine, statement, [statement], (mine,)):
        (verdict,) = gb.verify(DualAcceleration(), PLANTED, given_, iterations=20)
        assert (verdict.statement, verdict.verdict) == ("mine.sharp", "holds")
    twice = gb.verify(DualAcceleration(), PLANTED, [mine, "gb.sharp", mine], iterations=20)
    assert [v.statement for v in twice] == ["mine.sharp", "gb.sharp", "mine.sharp"]


def test_a_false_statement_is_refuted():
    @dataclass(frozen=True)
    class Backwards(DualAcceleration):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                yield type(it)(it.t, -it.w)

    (verdict,) = gb.verify(Backwards(), PLANTED, "gb.sharp", iterations=20)
    assert verdict.verdict == "refuted"


def test_all_that_is_claimed_of_a_solver():
    found = gb.verify("dual-acceleration", PLANTED, iterations=20)
    assert {"gb.sharp", "jst.thm3.1.1"} <= {v.statement for v in found}
    assert not [v.statement for v in found if v.verdict == "refuted"]


def test_a_solver_of_ones_own_says_what_it_is_to_obey():
    class Mine:
        def iterates(self, problem, rng): ...

    for solver in (Mine(), Mine):
        with pytest.raises(ProblemError, match="say which method Mine implements"):
            gb.verify(solver, PLANTED)


def test_a_file(tmp_path):
    path = tmp_path / "my.py"
    path.write_text("from gammabar.solvers import DualAcceleration as Mine\n")
    (verdict,) = gb.verify(f"{path}:Mine:step=1", PLANTED, "gb.sharp", iterations=5)
    assert verdict.verdict == "holds"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"statements": "gb.shrap"}, "did you mean gb.sharp?"),
        ({"statements": [len]}, "len is no statement"),
        ({"solver": "dual-aceleration"}, "did you mean dual-acceleration?"),
        ({"solver": ""}, "names no solver"),
        ({"solver": 3}, "int has none"),
        ({"problem": "nosuch:1"}, "nosuch"),
        ({"iterations": -1}, "iterations must be a whole number of at least 1, not -1"),
        ({"iterations": 2.5}, "iterations"),
        ({"seed": -3}, "seed"),
    ],
)
def test_bad_calls_are_one_sentence(change, place):
    call: dict[str, Any] = {"solver": DualAcceleration(), "problem": PLANTED}
    call |= {"statements": ["gb.sharp"]} | change
    with pytest.raises(ProblemError) as refused:
        gb.verify(**call)
    assert place in str(refused.value)


# who writes into the data


@dataclass
class Writes:
    """Divides its data by ten in the midst of the run; they are arrays that it was made with."""

    data: Any = field(repr=False)

    def iterates(self, problem, rng):
        for it in DualAcceleration().iterates(problem, rng):
            if it.t == 3:
                self.data /= 10
            yield it


def test_a_solver_that_changes_the_data_shows_nothing():
    X, y = np.array([[2.0, 1.0], [-1.0, -3.0], [0.5, 2.0]]), [1, -1, 1]
    problem = gb.from_arrays(X, y)
    verdicts = gb.verify(Writes(X), problem, ["gb.sharp", "gb.selfcert"], iterations=20)
    assert {(v.verdict, v.failure) for v in verdicts} == {("undecided", "crashed")}
    assert "changed the data" in verdicts[0].reason
    with pytest.raises(ValueError, match="read-only"):  # what the problem hands out

        class Direct(DualAcceleration):
            def iterates(self, problem, rng=None):
                problem.X[0] = 0
                yield from super().iterates(problem, rng)

        gb.verify(Direct(), gb.from_arrays(X, y), "gb.sharp")


def test_what_was_not_heard_is_not_shown(mine):
    from gammabar.harness.run.in_process import BoundViolated, check_bounds

    assert check_bounds(mine, DualAcceleration(), PLANTED, iterations=3)[0].verdict == "holds"
    with pytest.raises(ProblemError, match="at least 1"):
        check_bounds("jst.thm3.1.1", DualAcceleration(), PLANTED, iterations=0)
    with pytest.raises(BoundViolated):
        check_bounds("jst.thm3.1.1", DualAcceleration(step=0.5), PLANTED, iterations=5)
    (verdict,) = check_bounds("jst.thm3.1.1", DualAcceleration(), "inseparable:n=9,d=2,seed=0")
    assert verdict.verdict == "inapplicable"  # that is the problem's doing
