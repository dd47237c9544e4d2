"""The mutants are what they say: right but for one line, and not right."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np
import pytest

from gammabar.harness.paper import Family
from gammabar.harness.registry import load_statements, mutants
from gammabar.problems import Problem, from_arrays, load
from gammabar.solvers.base import SOLVERS, solver
from gammabar.solvers.ramdas_pena import SNKPVN

MUTANTS = mutants()

STEPS = 30
X = [[1, 2], [2, -1], [-3, 1], [1, 1], [2, 2], [-1, 3]]

#: Separable and not.
ORDINARY = {
    "planted": load("planted:n=20,d=3,gamma=0.1,seed=1"),
    "inseparable": load("inseparable:n=12,d=3,seed=0"),
    "loss-spike": load("loss-spike"),
    "worst-case": load("worst-case:n=20"),
    "alternating": from_arrays([[i, 1] for i in range(1, 7)], [1, -1, -1, -1, 1, 1]),
    "whole": from_arrays(X, [1, 1, -1, 1, 1, -1]),
}
#: The mean of the rows has a score of 0 with one of them.
TIED = from_arrays([[1, 0], [1, -1]], [1, -1])
OTHERS = {
    "kernel": from_arrays(X, [1, 1, -1, 1, -1, -1], kernel="rbf:gamma=0.3"),
    "multiclass": from_arrays(X, [0, 1, 2, 1, 0, 2], multiclass=True),
}


def twin(wrong: Any) -> Any:
    """The right solver with the same hyper-parameters."""
    right = solver(wrong.card.name)
    return right(**{option.name: getattr(wrong, option.name) for option in fields(right)})


def run(method: Any, problem: Problem, steps: int = STEPS) -> list[Any]:
    """w_0, w_1, …; of ridge regression what it fits."""
    if method.card.name == "kernel-ridge":
        y = np.arange(len(problem.X)) % 3 - 1.0
        return [method.primal(problem.X, y).w, method.dual(problem.X, y).alpha]
    iterates = islice(method.iterates(problem, np.random.default_rng(1)), steps)
    found = list(iterates)
    assert [it.t for it in found] == list(range(len(found)))
    return [it.w for it in found]


def same(one: list[Any], other: list[Any], slack: float = 0.0) -> bool:
    """Whether two runs are equal, up to a slack that is relative to the largest number."""
    return len(one) == len(other) and all(
        np.allclose(a, b, rtol=0, atol=slack * max(np.abs(a).max(), np.abs(b).max()))
        for a, b in zip(one, other, strict=True)
    )


def fitting(method: Any, problems: dict[str, Problem]) -> Iterator[Problem]:
    """The problems that the solver runs on, in the unit ball if it asks for that."""
    for name, problem in problems.items():
        geometry = name if name in OTHERS else "dense"
        if geometry in method.card.geometries or method.card.name == "kernel-ridge":
            yield problem.unit() if method.card.unit_ball else problem


#: Where a mutant that is the right solver on ordinary problems is not: options, and a problem.
WITNESSES: dict[str, tuple[dict[str, Any], Problem]] = {
    "batch-perceptron-cotter/radius-forgotten": ({}, ORDINARY["loss-spike"]),
    "dual-acceleration/single-precision": ({}, ORDINARY["planted"].unit()),
    "nkp/carried-scores-trusted": ({}, ORDINARY["planted"].unit()),
    "snkp/exits-at-zero": ({}, TIED),
    "snkpvn/centre-forgotten": ({"q": (0.6, 0.4)}, from_arrays([[1, 0], [2, 1]], [1, -1])),
}


def test_every_solver_has_two_that_go_wrong_on_ordinary_data() -> None:
    ordinary = Counter(m.solver for m in MUTANTS.values() if m.equivalent is None)
    assert set(ordinary) == set(SOLVERS)
    assert min(ordinary.values()) >= 2


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_a_solver_that_runs(name: str) -> None:
    """In every geometry of the solver; iterates are numbered from 0, and finite."""
    mutant = MUTANTS[name]
    wrong, right = mutant.make(), solver(mutant.solver)
    assert (mutant.name, isinstance(wrong, right), type(wrong) is right) == (name, True, False)
    assert re.fullmatch(rf"{mutant.solver}/[a-z0-9-]+", name)
    assert mutant.wrong.endswith(".")
    assert ": " in mutant.wrong
    sources = {s.source for s in load_statements().values() if mutant.solver in s.solvers}
    assert mutant.family in sources or sources == {"gb"}  # of its source, or only ours
    assert pickle.loads(pickle.dumps(mutant)).make() == wrong  # for runs in several processes
    for problem in fitting(wrong, ORDINARY | OTHERS):
        assert all(np.isfinite(w).all() for w in run(wrong, problem, 5))


@pytest.mark.parametrize("name", [name for name, m in MUTANTS.items() if m.equivalent])
def test_an_equivalent_mutant_is_the_solver_on_ordinary_problems_alone(name: str) -> None:
    wrong, (options, witness) = MUTANTS[name].make(), WITNESSES[name]
    slack = 1e-5 if name.endswith("single-precision") else 1e-9
    for problem in fitting(wrong, ORDINARY):
        assert same(run(wrong, problem), run(twin(wrong), problem), slack)
    wrong = type(wrong)(**options)
    assert not same(run(wrong, witness), run(twin(wrong), witness))


def test_a_change_may_be_in_a_helper_and_must_be_somewhere() -> None:
    cold = MUTANTS["snkpvn/starts-cold"].make()
    mu = [next(method.iterates(TIED)).extra["mu"] for method in (cold, SNKPVN())]
    assert mu == [2.0, 4.0]
    with pytest.raises(ValueError, match="no method of SNKPVN has the text 'no such text'"):
        Family("rp", __name__).edit(SNKPVN, "wrong", "", "", {"no such text": ""})
    one = run(SNKPVN(), TIED)
    assert same(one, one)
    assert not same(one, [*one[:-1], one[-1] + 1e-15])
