"""What a solver delivers is taken exactly as it is, once, or it ends the run: nothing is rounded.

The same through every door: iterates or vectors of a class, a function that yields, a loop that
records, a recorder, and a file, whose solver runs in a process of its own.
"""

from __future__ import annotations

import array
from collections import UserDict
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.harness.run.engine import perform
from gammabar.harness.run.tasks import InFile, Run, Task, open_solver
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import Fault, taken_vector
from gammabar.harness.verify.numbers import fact
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import STATEMENTS, per_iterate
from gammabar.problems import ProblemError
from gammabar.solvers import DualAcceleration, Iterate

PLANTED = "planted:n=20,d=3,gamma=0.1,seed=0"
MEAN = "jst.lem3.4.primal"
BIG = 2**53 + 1
pytestmark = pytest.mark.usefixtures("registered")


def algorithm_1(problem: Any) -> Any:
    return (np.array(it.w) for it in DualAcceleration().iterates(problem))


def about_algorithm_1() -> list[Any]:
    known = [s for s in STATEMENTS.values() if s.about_runs and s.unit]
    return [s for s in known if "dual-acceleration" in s.solvers]


def through(door: str, turn: Any, run: Any, problem: Any) -> Any:
    """A solver whose vectors are turned into something else."""

    class Solver:
        def iterates(self, problem: Any, rng: Any = None) -> Any:
            for t, w in enumerate(run(problem)):
                yield Iterate(t, turn(w)) if door == "Iterate" else turn(w)

    def function(problem: Any) -> Any:
        yield from map(turn, run(problem))

    def loop(problem: Any, record: Any) -> None:
        for w in islice(run(problem), 13):
            record(turn(w))

    if door == "Recorder":
        return gb.Recorder(map(turn, islice(run(problem.unit()), 13)))
    return {"function": function, "record": loop}.get(door, Solver)


def ruling(door: str, turn: Any, statements: Any, problem: Any = None, run: Any = algorithm_1):
    problem = gb.load(PLANTED) if problem is None else problem
    solver = through(door, turn, run, problem)
    return [v.verdict for v in gb.verify(solver, problem, statements, iterations=12)]


DOORS = ["Iterate", "vectors", "function", "record", "Recorder"]
REFUSED: dict[str, Any] = {
    "masked": lambda w: np.ma.MaskedArray(w, mask=True),
    "one masked": lambda w: np.ma.MaskedArray(w, mask=np.arange(len(w)) == 1),
    "mask of nothing": lambda w: np.ma.MaskedArray(w),
    "complex": lambda w: w + 1j,
    "no imaginary part": lambda w: w + 0j,
    "integers and doubles": lambda w: [*w.tolist()[:-1], BIG],
    "int64": lambda w: np.array([BIG] * len(w)),
    "uint64": lambda w: np.full(len(w), 2**64 - 1, np.uint64),
    "beyond int64": lambda w: [2**70 + 1] * len(w),
    "objects": lambda w: np.array(w, dtype=object),
    "None among them": lambda w: np.array([*w[1:], None], dtype=object),
    "texts": lambda w: w.astype(str),
    "structured": lambda w: np.zeros(len(w), dtype=[("a", float)]),
    "dates": lambda w: np.arange(len(w)).astype("datetime64[s]"),
    "2xd": lambda w: np.outer([1.0, 2.0], w),
    "dxd": lambda w: np.diag(w),
    "too long": lambda w: np.append(w, 1.0),
    "ragged": lambda w: [[1.0], [2.0, 3.0]],
    "scalar": lambda w: 0.0,
    "None": lambda w: None,
    "text": lambda w: "w",
    "object": lambda w: object(),
    "dictionary": lambda w: {"a": 1},
}
if np.finfo(np.longdouble).nmant > 52:
    REFUSED["long doubles"] = lambda w: 0 * w + 1 + np.longdouble(2) ** -60
TAKEN: dict[str, Any] = {
    "array": np.copy,
    "list": list,
    "tuple": tuple,
    "row": lambda w: w[None, :],
    "column": lambda w: w[:, None],
    "sparse": scipy.sparse.coo_array,
}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_vector_of_doubles_passes_nowhere(door):
    for name, turn in REFUSED.items():
        try:
            assert ruling(door, turn, [MEAN]) == ["undecided"], name
        except ProblemError as refused:
            assert "w_0" in str(refused), name


@pytest.mark.parametrize("field", ["momentum", "dual", "extra"])
def test_nor_does_what_an_iterate_carries(field):
    names = ["masked", "complex", "int64", "uint64", "objects", "texts", "structured", "dates"]

    @dataclass(frozen=True)
    class Yields:
        turn: Any
        step: float = 1.0

        def iterates(self, problem, rng=None):
            for it in DualAcceleration().iterates(problem, rng):
                value = self.turn(it.w)
                carried = {field: {"mu": [value]} if field == "extra" else value}
                yield replace(it, soft=None, **carried)

    about = about_algorithm_1()
    for name in names:
        case = Case(gb.load(PLANTED), Yields(REFUSED[name]), unit=True)
        found = [v for v in check_run(case, about, 2) if v.verdict != "inapplicable"]
        assert {(v.verdict, v.failure) for v in found} == {("undecided", "crashed")}, name


@pytest.mark.parametrize("door", DOORS)
def test_a_vector_in_other_clothes_is_the_same(door):
    for name, turn in TAKEN.items():
        # An Iterate has the shape that the problem has.
        if door != "Iterate" or name in ("array", "list", "tuple"):
            assert ruling(door, turn, [MEAN]) == ["holds"], name


def exactly(wanted: list[Any]) -> Any:
    STATEMENTS.pop("test.w", None)
    body = lambda it, case: fact(it.w.tolist() == wanted)  # noqa: E731
    return per_iterate("test.w", reference="here", claim="", solvers=())(body)


KINDS = ["int8", "uint16", "int64", "float32", "float16", "bool", "longdouble", ">f8"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_doubles_hold_is_taken_as_it_is(kind):
    value = np.array([1, 0, 1], dtype=kind)
    assert ruling("function", lambda w: value, exactly([1.0, 0.0, 1.0])) == ["holds"]


CODE = """
import numpy as np
from gammabar.solvers import Iterate

class Yields:
    def iterates(self, problem, rng):
        for t in range(9):
            yield Iterate(t=t, w={})
"""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("np.array([2**54, 0, 1])", None),
        ("[2**60, 0, 0.5]", None),
        *[
            pytest.param(value, said, marks=pytest.mark.full)
            for value, said in {
                "np.array([2**53 + 1, 0, 0])": "int64 numbers that are no doubles",
                "[2**53 + 1, 0.5, 0.0]": "whole numbers that are no doubles",
                "[2**70 + 1, 0, 0]": "no vector of numbers",
                "np.array([1, 0, 0], dtype=complex)": "complex",
                "np.ma.array([1.0, 2.0, 3.0])": "masked",
                "{'a': 1}": "no vector of numbers",
            }.items()
        ],
    ],
)
def test_the_solver_of_a_file(value, said):
    wanted = (
        [int(v) if v == int(v) else float(v) for v in eval(value, {"np": np})] if not said else []
    )
    exactly(wanted)
    run = Run(PLANTED, InFile("my.py:Yields", CODE.format(value)), iterations=3)
    found = perform(Task(run, ("test.w",), ("holds",), planned=False, limit=60.0)).verdicts[0]
    if said is None:
        assert found.verdict == "holds"
    else:
        assert (found.verdict, found.failure) == ("undecided", "crashed")
        assert said in found.reason


@settings(max_examples=300)
@given(
    st.lists(
        st.integers(-(2**66), 2**66)
        | st.integers(2**53 - 4, 2**53 + 4)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**63), 2**63 - 1).map(np.int64)
        | st.booleans(),
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
        # Python compares a double and an integer exactly.
        assert double == (given_ if isinstance(given_, float) else int(given_))


@pytest.mark.parametrize("door", DOORS)
def test_the_weights_of_several_classes_are_not_turned_round(door):
    """(d, k) is their order, and (k, d), as PyTorch has it, is another: a matrix is refused."""
    problem = gb.load("iris:0,1,2", multiclass=True)
    assert ruling(door, np.copy, [MEAN], problem) == ["holds"]
    for turn in (lambda w: w.reshape(4, 3), lambda w: w.reshape(4, 3).T):
        try:
            assert ruling(door, turn, [MEAN], problem) == ["undecided"]
        except ProblemError as refused:
            assert "w.T.ravel()" in str(refused)


# --- taken when it is yielded ---


class Spoils(DualAcceleration):
    """Algorithm 1 that writes every iterate into the same arrays, and spoils them afterwards."""

    def iterates(self, problem, rng=None):
        buffers: dict[str, np.ndarray] = {}
        for it in super().iterates(problem, rng):
            for name in ("w", "momentum"):
                buffers.setdefault(name, np.empty_like(it.w))[:] = getattr(it, name)
            extra = {"nested": [buffers["w"], {"deep": (buffers["momentum"],)}]}
            yield Iterate(it.t, buffers["w"], problem, momentum=buffers["momentum"], extra=extra)
            for buffer in buffers.values():
                buffer[:] = np.nan


def test_a_solver_that_updates_in_place_is_judged_like_any_other():
    about = about_algorithm_1()
    plain, borrowed = (
        [v.verdict for v in check_run(Case(gb.load(PLANTED), solver, unit=True), about, 30)]
        for solver in (DualAcceleration(), Spoils())
    )
    assert plain == borrowed
    assert set(plain) <= {"holds", "inapplicable"}
    for it in islice(Case(gb.load(PLANTED), Spoils(), unit=True).views(), 3):
        nested = it.extra["nested"]
        assert np.isfinite(it.momentum).all()
        assert np.array_equal(nested[0], it.w)
        assert np.array_equal(nested[1]["deep"][0], it.momentum)


class Tensor:
    """What tensors of other libraries look like to NumPy."""

    def __init__(self, n: int) -> None:
        self.a = np.zeros(n)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.a if dtype is None else self.a.astype(dtype)

    def __setitem__(self, where: Any, v: Any) -> None:
        self.a[:] = v


@pytest.mark.parametrize(
    "make", [Tensor, lambda n: [0.0] * n, lambda n: array.array("d", [0.0] * n)]
)
def test_whatever_is_carried_is_copied(make):
    inner = open_solver("snkp")

    class Mine:
        def iterates(self, problem: Any, rng: Any) -> Any:
            buffer = make(problem.n)
            for it in inner.iterates(problem, rng):
                buffer[:] = array.array("d", np.asarray(it.extra["p"]).tolist())
                extra = {**it.extra, "p": buffer}
                yield Iterate(it.t, np.array(it.w), dual=np.array(it.dual), extra=extra)

    statements = ["gb.rp.snkp.step", "gb.snkp.any"]
    found = gb.verify(Mine, "inseparable:n=20,d=3,seed=0", statements, iterations=10)
    assert [v.verdict for v in found] == ["holds", "holds"]


class Stuck:
    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        return "Stuck()"


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"x": Stuck()}, "cannot be copied"),
        *[(e, "no dictionary") for e in (np.array([1.0, 2.0]), [1], "halt", 3, UserDict())],
        *[
            ({"halt": halt}, "")
            for halt in (np.array([1, 2]), np.array([]), float("nan"), {}, ["separated"])
        ],
    ],
    ids=str,
)
def test_extra_is_a_dictionary_that_can_be_copied_and_a_halt_is_a_text(extra, said):
    class Mine:
        def iterates(self, problem: Any, rng: Any) -> Any:
            yield Iterate(0, problem.origin(), extra=extra)

    for name in (MEAN, "tyurin.thm5.2", "gb.tyurin.perceptron.step", "rp.nvn"):
        [found] = gb.verify(Mine, PLANTED, name, iterations=3)
        assert found.verdict in ("undecided", "inapplicable")
        if found.verdict == "undecided":
            assert said in found.reason
