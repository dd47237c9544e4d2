"""Right runs with steps from 1e-12 to 1e12, started anywhere: none is refuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import open_solver
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate

ALL = load_statements()
PROBLEMS = [
    "iris:0,1",
    "planted:n=20,d=4,gamma=0.2,seed=1",
    "inseparable:n=20,d=3,seed=0",
    "iris:0,1:n=12,seed=0 --kernel rbf:gamma=1",
    "iris:0,1,2:n=12,seed=0 --multiclass",
]
steps = st.floats(-12, 12).map(lambda x: 10.0**x)
starts = st.sampled_from([0.0, 0.1, -3.0, 1e-9, 1e6, -1e12])


@dataclass
class Descent:
    """w ← w + θ_t Aᵀq_t from a start of one's own, in one of three ways of writing it."""

    step: float
    start: float
    written: int
    normalised: bool

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        w = problem.origin() + self.start
        for t in count():
            yield Iterate(t, w)
            soft = problem.softmin(w)
            theta = self.step
            if not self.normalised:
                with np.errstate(over="ignore"):
                    theta *= float(np.exp(soft.logsumexp)) / problem.n
            if self.written == 0:
                w = w + theta * soft.pull
            elif self.written == 1:
                w = -(-theta * soft.pull - w)
            else:
                w = (w / 3 + theta / 3 * soft.pull) * 3


def refuted(solver: Any, problem: Any, names: list[str], iterations: int = 5) -> list[Any]:
    case = Case(problem, solver, unit=True)
    found = check_run(case, [ALL[name] for name in names], iterations)
    return [(v.statement, v.worst_t, v.what) for v in found if v.verdict == "refuted"]


@given(steps, starts, st.integers(0, 2), st.booleans(), st.sampled_from(PROBLEMS))
@settings(max_examples=120, deadline=None)
def test_descent(step: float, start: float, written: int, normalised: bool, text: str) -> None:
    names = ["jst.sec3.1.mirror", "gb.jst.ngd.step" if normalised else "gb.jst.gd.step"]
    solver = Descent(step, start, written, normalised)
    assert not refuted(solver, open_problem(text), names)


@pytest.mark.parametrize("theta", [-1.0, -1e-3, -1e-6])
def test_ascent_is_refuted(theta: float) -> None:
    solver = Descent(theta, 0.1, 0, True)
    assert refuted(solver, open_problem("iris:0,1"), ["jst.sec3.1.mirror"])


#: Methods of the registry that have a step.
STEPPING = [
    "dual-acceleration",
    "dual-acceleration-dual",
    "gradient-descent",
    "normalized-gradient-descent",
    "batch-perceptron-cotter",
    "adaptive-sampling",
    "lr-gd",
    "normalized-lr-gd",
]


@pytest.mark.parametrize("name", STEPPING)
@given(steps, st.sampled_from(PROBLEMS[:4]))
@settings(max_examples=12, deadline=None)
def test_methods_of_the_registry(name: str, step: float, text: str) -> None:
    about = [
        key
        for key, one in ALL.items()
        if one.about_runs and one.status == "holds" and name in one.solvers
    ]
    try:
        solver = open_solver(f"{name}:step={step!r}")
    except ProblemError:  # the method has no such step
        return
    for unit in (True, False):
        some = [key for key in about if ALL[key].unit is unit]
        case = Case(open_problem(text), solver, unit=unit)
        try:
            found = check_run(case, [ALL[key] for key in some], 4, most=4)
        except ProblemError:  # it left the range of doubles
            continue
        assert not [(v.statement, v.worst_t) for v in found if v.verdict == "refuted"]
