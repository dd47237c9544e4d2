"""What a solver file yields as w is judged as it is, or ends the run: nothing is rounded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.engine import perform
from gammabar.harness.run.results import Run, Task
from gammabar.harness.run.specs import InFile
from gammabar.harness.verify.iterate import Fault, taken_vector
from gammabar.harness.verify.relation import fact
from gammabar.harness.verify.statement import STATEMENTS, per_iterate

PROBLEM = "planted:n=10,d=3,gamma=0.1,seed=0"

#: What is yielded, and a word of the reason.
REFUSED = {
    "np.array([2**53 + 1, 0, 0])": "int64 numbers that are no doubles",
    "np.array([2**64 - 1, 0, 0], dtype=np.uint64)": "uint64 numbers that are no doubles",
    "[2**53 + 1, 0, 0]": "no doubles",
    "[2**53 + 1, 0.5, 0.0]": "whole numbers that are no doubles",
    "[2**70 + 1, 0, 0]": "no vector of numbers",
    "np.array([1, 0, 0], dtype=complex)": "complex",
    "[1j, 0, 0]": "no vector of numbers",
    "np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])": "masked",
    "np.ma.array([1.0, 2.0, 3.0])": "masked",
    "np.array([1.0, 2.0, 3.0], dtype=object)": "no vector of numbers",
    "np.array([1.0, None, 3.0], dtype=object)": "no vector of numbers",
    "np.array(['1', '2', '3'])": "no vector of numbers",
    "np.zeros(3, dtype=[('a', float)])": "no vector of numbers",
    "{'a': 1}": "no vector of numbers",
    "object()": "no vector of numbers",
}
if np.finfo(np.longdouble).nmant > 52:
    REFUSED["np.array([1 + np.longdouble(2) ** -60, 0, 0])"] = "no doubles"

TAKEN = (
    "np.array([2**53, 0, 1])",
    "np.array([2**54, 0, 1])",
    "[2**60, 0, 0.5]",
    "np.array([1, 0, 1], dtype=np.longdouble)",
    "np.array([1, 0, 1], dtype='>f8')",
    "np.array([1, 0, 1], dtype=np.float16)",
    "np.array([True, False, True])",
)

CODE = """
import numpy as np
from gammabar.solvers import Iterate

class Yields:
    def iterates(self, problem, rng):
        for t in range(9):
            yield Iterate(t=t, w={})
"""


@pytest.fixture
def registered():
    load_statements()
    before = dict(STATEMENTS)
    yield STATEMENTS
    STATEMENTS.clear()
    STATEMENTS.update(before)


def judged(value: str):
    solver = InFile("my.py:Yields", CODE.format(value))
    run = Run(problem=PROBLEM, solver=solver, iterations=3)
    task = Task(run, ("test.w",), ("holds",), planned=False, limit=60.0)
    return perform(task).verdicts[0]


def number_of(value: str):
    return eval(value, {"np": np})  # a test of ours, nothing from elsewhere


@pytest.mark.full
@pytest.mark.parametrize("value", REFUSED)
def test_what_doubles_do_not_hold_ends_the_run(value, registered):
    per_iterate("test.w", reference="here", claim="", solvers=())(lambda it, case: fact(True))
    verdict = judged(value)
    assert (verdict.verdict, verdict.failure) == ("undecided", "crashed")
    assert REFUSED[value] in verdict.reason


@pytest.mark.parametrize("value", TAKEN)
def test_what_doubles_hold_is_judged_as_it_is(value, registered):
    wanted = [int(v) if v == int(v) else float(v) for v in number_of(value)]
    per_iterate("test.w", reference="here", claim="", solvers=())(
        lambda it, case: fact(it.w.tolist() == wanted)
    )
    assert judged(value).verdict == "holds"


@settings(max_examples=300)
@given(
    st.lists(
        st.one_of(
            st.integers(-(2**66), 2**66),
            st.integers(2**53 - 4, 2**53 + 4),
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(2**63), 2**63 - 1).map(np.int64),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_list_is_taken_exactly_or_not_at_all(values):
    try:
        found = taken_vector(values, "w")
    except Fault:
        assert any(not isinstance(v, float | bool) and abs(int(v)) > 2**53 for v in values)
        return
    for double, given_ in zip(found.tolist(), values, strict=True):
        exact = given_ if isinstance(given_, float) else int(given_)
        assert double == exact  # Python compares a double and an integer exactly
