"""Solvers that lie about everything that an iterate may carry beside t and w.

The rule (docs/verdicts.md): of an iterate only t and w are believed. For every statement about
runs, every field and every lie about it,

1. no lie ends in an error, whatever its type or shape;
2. what the iterates alone refute does not hold, whatever is claimed: not with the claims of a right
   solver either;
3. a statement that judges a field, so that some lie about it refutes, holds under no lie about it
   that differs from the truth by more than rounding; silence may make it inapplicable;
4. a statement that does not judge it says the same as ever.

A field is one of `dual`, `momentum` and the keys of `extra` that the solver delivers.
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gammabar.harness.power import _with_options as with_options
from gammabar.harness.registry import load_statements, mutants, trials
from gammabar.harness.run.tasks import open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import Statement
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate

ALL = load_statements()
#: Iterates of a run, and rows of a problem, at most.
LENGTH, ROWS = 8, 60
#: Fields that a statement judges in one respect only, which is what it is about.
IN_PART = {
    ("gb.rp.simplex", "p"),  # that it is in the simplex
    ("gb.rp.isnkpvn.step", "returned"),  # that it is said where it is so
}


class Run:
    """A solver on a problem, its iterates, and the statements about it."""

    def __init__(self, solver: Any, problem: Any, unit: bool, seed: int, about: list[Statement]):
        self.solver, self.problem, self.unit, self.about = solver, problem, unit, about
        self.iterates = []
        view = problem.unit() if unit else problem
        for it in solver.iterates(view, np.random.default_rng([seed])):
            claims = {name: copy.deepcopy(getattr(it, name)) for name in ("dual", "momentum")}
            extra = copy.deepcopy(it.extra)
            self.iterates.append(Iterate(it.t, np.array(it.w), extra=extra, **claims))
            if it.t == LENGTH:
                break

    def verdicts(self, iterates: list[Iterate]) -> dict[str, str]:
        """What is said if it delivers these instead."""
        made = copy.copy(self.solver)
        told = {"iterates": lambda self, problem, rng=None: iter(iterates)}
        object.__setattr__(made, "__class__", type("Liar", (type(made),), told))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check_run(Case(self.problem, made, unit=self.unit), self.about, LENGTH, LENGTH)
        return {v.statement: str(v.verdict) for v in found}

    def fields(self) -> list[str]:
        extra = {name for it in self.iterates for name in it.extra} - {"halt"}
        own = {
            n for n in ("dual", "momentum") if any(get(it, n) is not None for it in self.iterates)
        }
        return sorted(extra | own)

    def bare(self) -> list[Iterate]:
        return [Iterate(it.t, it.w, extra=_halt(it)) for it in self.iterates]


def _halt(it: Iterate) -> dict[str, Any]:
    return {name: value for name, value in it.extra.items() if name == "halt"}


def get(it: Iterate, field: str) -> Any:
    return getattr(it, field) if field in ("dual", "momentum") else it.extra.get(field)


def put(it: Iterate, field: str, value: Any) -> Iterate:
    if field in ("dual", "momentum"):
        return replace(it, **{field: value})
    extra = {name: old for name, old in it.extra.items() if name != field}
    return replace(it, extra=extra if value is None else {**extra, field: value})


Lie = Callable[[Any, int], Any]
TYPES: dict[str, Lie] = {
    "a text": lambda v, t: "x",
    "a list": lambda v, t: [1.0],
    "a ragged list": lambda v, t: [[1.0], [2.0, 3.0]],
    "a dictionary": lambda v, t: {"a": 1},
    "true": lambda v, t: True,
    "a huge integer": lambda v, t: 10**40,
    "three ones": lambda v, t: np.ones(3),
    "no number": lambda v, t: float("nan"),
}
NUMBERS: dict[str, Lie] = {
    "zero": lambda v, t: v * 0.0,
    "shrunk": lambda v, t: v * 0.9,
    "negated": lambda v, t: -v,
    "infinite": lambda v, t: v + np.inf,
    "undefined": lambda v, t: v * np.nan,
    "huge": lambda v, t: v * 0 + 1e300,
    "off by a thousandth from t = 3 on": lambda v, t: v * (1.001 if t >= 3 else 1.0),
}
COUNTS: dict[str, Lie] = {
    "always 0": lambda v, t: 0,
    "always 1": lambda v, t: 1,
    "negative": lambda v, t: -1,
    "a half": lambda v, t: 0.5,
    "one more": lambda v, t: v + 1,
}
ARRAYS: dict[str, Lie] = {
    "another distribution": lambda v, t: _distribution(v, t),
    "the first vertex": lambda v, t: np.eye(1, v.size)[0].reshape(v.shape),
    "one entry less": lambda v, t: v[:-1],
    "a column": lambda v, t: v[..., None],
    "empty": lambda v, t: v[:0],
    "a scalar": lambda v, t: 1.0,
    "turned round": lambda v, t: v[::-1].copy(),
}


def _distribution(v: Any, t: int) -> Any:
    drawn = np.random.default_rng([t, v.size]).exponential(size=v.shape)
    return drawn / drawn.sum()


def lies(run: list[Iterate], field: str) -> Iterator[tuple[str, list[Iterate]]]:
    """A run with a lie about one field at every t, and what the lie is."""
    sample = next(v for it in run if (v := get(it, field)) is not None)
    chosen = dict(TYPES)
    if isinstance(sample, np.ndarray):
        chosen |= NUMBERS | ARRAYS
    elif isinstance(sample, float):
        chosen |= NUMBERS
    elif not isinstance(sample, bool):
        chosen |= COUNTS
    for name, lie in chosen.items():
        told = [(it, get(it, field)) for it in run]
        yield name, [it if v is None else put(it, field, lie(v, it.t)) for it, v in told]
    last = len(run) - 1
    yield "that of before", [put(it, field, get(run[max(0, k - 1)], field)) for k, it in _each(run)]
    yield (
        "that of after",
        [put(it, field, get(run[min(last, k + 1)], field)) for k, it in _each(run)],
    )
    yield "nothing", [put(it, field, None) for it in run]
    yield "nothing from t = 3 on", [put(it, field, None) if it.t >= 3 else it for it in run]


def _each(run: list[Iterate]) -> Iterator[tuple[int, Iterate]]:
    return enumerate(run)


def differs(one: list[Iterate], other: list[Iterate], field: str) -> bool:
    """Whether two runs say different things of a field, by more than rounding."""
    for a, b in zip(one, other, strict=True):
        x, y = get(a, field), get(b, field)
        try:
            same = np.shape(x) == np.shape(y) and np.allclose(x, y, rtol=1e-6, atol=1e-9)
        except (TypeError, ValueError):
            same = x is y
        if not same:
            return True
    return False


def chosen() -> list[Any]:
    """One trial of every solver, the one with the fewest rows."""
    found: dict[str, list[tuple[int, int, Any]]] = defaultdict(list)
    for k, trial in enumerate(trials()):
        if not trial.problem.startswith(("mnist", "fashion", "cifar", "eurosat", "digits")):
            rows = open_problem(trial.problem).n
            if 2 < rows <= ROWS:
                found[solver_name(trial.solver)].append((rows, k, trial))
    return [trial for options in found.values() for *_, trial in [min(options)]]


def runs(trial: Any) -> Iterator[tuple[Run, list[Run]]]:
    """The right solver of a trial, and wrong ones in its place, in each convention."""
    name, problem = solver_name(trial.solver), open_problem(trial.problem)
    for unit in (True, False):
        about = [s for s in ALL.values() if s.about_runs and name in s.solvers and s.unit is unit]
        about = [s for s in about if s.status == "holds"]
        if not about:
            continue
        right = Run(open_solver(trial.solver), problem, unit, trial.seed, about)
        wrong = []
        for mutant in mutants().values():
            if mutant.solver == name:
                try:
                    made = with_options(mutant.make(), trial.solver)
                    wrong.append(Run(made, problem, unit, trial.seed, about))
                except (ValueError, ArithmeticError, IndexError):
                    continue  # it crashes by itself
        yield right, wrong


def tell(trial: Any) -> tuple[int, list[str]]:
    """Every lie about every field of a right run and of a wrong one: verdicts, and faults."""
    tried, faults = 0, []
    for right, wrong in runs(trial):
        honest = right.verdicts(right.iterates)
        for field in right.fields():
            told = {}
            for name, lie in lies(right.iterates, field):
                told[name] = right.verdicts(lie), differs(lie, right.iterates, field)
                tried += len(right.about)
            for s in right.about:
                faults += _about_right(s.id, field, honest[s.id], told)
        for run in wrong[:1]:
            bare, length = run.verdicts(run.bare()), min(len(run.iterates), len(right.iterates))
            pairs = zip(run.iterates[:length], right.iterates[:length], strict=True)
            borrowed = [replace(b, w=a.w, extra={**b.extra, **_halt(a)}) for a, b in pairs]
            told_ = [("all", "those of the right solver", borrowed)]
            for field in run.fields():
                told_ += [(field, *lie) for lie in lies(run.iterates, field)]
            for field, name, lie in told_:
                found = run.verdicts(lie)
                tried += len(run.about)
                held = [s for s, v in found.items() if v == "holds" and bare[s] == "refuted"]
                # A run that is cut short may hold where the whole one does not.
                held = held if len(lie) == len(run.iterates) else []
                faults += [f"{run.solver}: {s} holds by a lie about {field}: {name}" for s in held]
    return tried, faults


def _about_right(identifier: str, field: str, honest: str, told: Any) -> Iterator[str]:
    judged = any(found[identifier] == "refuted" for found, _ in told.values())
    for name, (found, other) in told.items():
        verdict, where = found[identifier], f"{identifier}, {field} {name}"
        if judged and verdict == "holds" and other and not name.startswith("nothing"):
            # The last iterate has none after it: there a goal may be reached, and truly.
            reached = name == "that of after" and ALL[identifier].kind == "stopping"
            if (identifier, field) not in IN_PART and not reached:
                yield f"{where}: it holds all the same"
        elif not judged and verdict not in (honest, "undecided", "inapplicable"):
            yield f"{where}: {verdict}, not {honest}"


#: They take more than a second.
LONG = ("dual-acceleration-dual", "isnkpvn", "snkpvn", "snkp", "normalized-lr-gd", "lr-gd")
TRIALS = [
    pytest.param(trial, id=name, marks=[pytest.mark.full] * (name in LONG))
    for trial in chosen()
    for name in [solver_name(trial.solver)]
]


@pytest.mark.parametrize("trial", TRIALS)
def test_no_lie_acquits_and_none_ends_in_an_error(trial):
    tried, faults = tell(trial)
    assert faults == []
    assert tried
