"""Strategies of Hypothesis that propose runs which may refute a statement, and what they found.

Rows, families of data, inputs. Values that come first are the simplest: Hypothesis shrinks to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from gammabar.harness.registry import opened_from, papers
from gammabar.harness.run.random_runs import KINDS, random_problem, special_problem
from gammabar.harness.run.tasks import Registered, Run, SolverRef
from gammabar.harness.verify import parameters as of
from gammabar.harness.verify.parameters import Entry, Inputs
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Verdict
from gammabar.problems.specs import text_of_rows
from gammabar.solvers.base import geometries, solver as solver_class


@dataclass(frozen=True)
class Finding:
    """The verdict on a run, and the name of the strategy that proposed it."""

    candidate: Run
    verdict: Verdict
    strategy: str = ""

    @property
    def refuted(self) -> bool:
        return self.verdict.verdict is Ruling.REFUTED

    @property
    def score(self) -> float:
        """How near it came to failing: infinite if it failed; measured over bound if that is known.

        Less slack is better where there is no such ratio, and below every ratio; a run without a
        verdict is worst.
        """
        verdict = self.verdict
        if self.refuted:
            return inf
        if verdict.verdict is not Ruling.HOLDS:
            return -inf
        if verdict.tightness is not None and isfinite(verdict.tightness):
            return verdict.tightness
        slack = verdict.slack
        return -1e6 if slack is None or not isfinite(slack) else -1.0 - min(max(slack, 0.0), 1e5)


#: Solvers, each with the values that its options may have.
Solvers: TypeAlias = tuple[tuple[SolverRef, dict[str, tuple[str, ...]]], ...]

#: Lengths of runs. A long run checks what a short one does, and costs more.
LENGTHS = (4, 15, 60, 250)
#: Plain ones more often.
GEOMETRIES = (
    *[""] * 8,
    "--multiclass",
    "--kernel linear --normalised",
    "--kernel poly:degree=2,coef0=1",
    "--kernel rbf:gamma=1",
)
#: Data in special position, smallest first; orthogonal rows are nearly extremal for Algorithm 1.
SPECIAL = (
    *(f"rows:{rows}" for rows in ("1", "1;1", "1;-1", "1,-2", "0,1;0,0", "1,2;1,-2", "1,0;-1,1")),
    *(f"degenerate:kind={kind},n=4,d=3" for kind in KINDS),
    "opposed:r=3,copies=3",
    "opposed:r=30,copies=3",
    "crossed:copies=10",
    "centred:n=6,copies=6",
    "duplicated:n=1,d=1,copies=30,gamma=1",
    "duplicated:n=1,d=1,copies=1000,gamma=1",
    "worst-case:n=10",
    "worst-case:n=200",
    "two-lines:r=2,n=6",
    "loss-spike",
    "inseparable:n=6,d=2",
    "planted:n=6,d=2,gamma=0.01",
    "iris:0,1,2:n=9 --multiclass",
    "orthogonal:n=10,p=0.3",
    "orthogonal:n=100,p=0.22",
    "orthogonal:n=1000,p=0.145",
)
#: Families and the ranges of their options; fractions where the lower end is one.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "orthogonal": {"n": (2, 3000), "p": (0.001, 0.999)},
    "worst-case": {"n": (2, 50_000)},
    "opposed": {"r": (1, 1000), "copies": (1, 1000)},
    "crossed": {"copies": (1, 1000)},
    "centred": {"n": (2, 200), "copies": (1, 200)},
    "staggered": {"d": (1, 60), "r": (4, 500), "copies": (1, 1000)},
    "duplicated": {"n": (1, 20), "d": (1, 5), "copies": (1, 2000), "gamma": (0.001, 1)},
    "planted": {"n": (2, 100), "d": (1, 20), "gamma": (0.001, 1)},
    "imbalanced": {"n": (20, 400), "d": (2, 10), "ratio": (1, 100), "gamma": (0.001, 1)},
    "two-lines": {"r": (2, 50), "n": (4, 200)},
}
_STEPS = 200
DIMENSION = 4
#: Kinds of entries of rows; all shrink towards 1.
_ENTRIES = (
    st.sampled_from([*map(Fraction, (1, -1, 0))]),
    st.sampled_from([*map(Fraction, (1, 0, -1, 2, -2, 3, -3))]),
    st.builds(
        lambda k, part: 1 + Fraction(k, part), st.integers(-21, 19), st.sampled_from((1, 2, 4))
    ),
    st.integers(-(2**13), 0).map(lambda k: 1 + Fraction(k, 2**12)),
)


def solvers_of(statement: Statement, chosen: tuple[SolverRef, ...] = ()) -> Solvers:
    """The solvers that are run: the user's choice, or those of the statement with their options.

    A claim of the user's about a solver is about its default options, unless his paper has others.
    """
    if chosen:
        return tuple((solver, {}) for solver in chosen)
    every = {name: options for p in papers().values() for name, options in p.random.items()}
    if opened_from(statement.source) is None:
        return tuple((Registered(name), _texts(every.get(name, {}))) for name in statement.solvers)
    own = papers()[statement.source].random
    return tuple(
        (one, _texts(own.get(one.name, {})))
        if one.plain
        else (one.fixed, _texts({k: every.get(one.name, {}).get(k, ()) for k in one.free}))
        for one in map(Registered, statement.settings)
    )


def _texts(options: Mapping[str, Sequence[Any]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(map(str, values)) for name, values in options.items()}


def strategies(statement: Statement, solvers: Solvers) -> dict[str, SearchStrategy[Run]]:
    """The strategies that search for a refutation of a statement; none if nothing may vary."""
    found: dict[str, SearchStrategy[Run]] = {}
    if statement.inputs:
        found["inputs"] = _inputs(statement.inputs)
    if statement.about_runs or any(statement.problems) or statement.on_data:
        found["rows"] = small_rows(solvers)
        found["families"] = _runs(_families(_plain(solvers)), solvers)
    return found


def small_rows(solvers: Solvers, dimension: int = DIMENSION) -> SearchStrategy[Run]:
    """Runs on a few rows, in at most so many dimensions."""
    return _runs(_rows(_plain(solvers), dimension), solvers)


def _plain(solvers: Solvers) -> bool:
    """Whether only vectors of ℝᵈ are tried: with a kernel a row is not a vector, which a solver of
    the user's must say that it knows."""
    return any(
        not isinstance(solver, Registered)
        or (solver.own and "kernel" not in geometries(solver_class(solver.name)))
        for solver, _ in solvers
    )


def _runs(problems: SearchStrategy[str], solvers: Solvers) -> SearchStrategy[Run]:
    """Runs of a solver with some options."""
    some = st.one_of(*(_optional(*one) for one in solvers)) if solvers else st.none()
    return st.builds(Run, problems, some, st.sampled_from(LENGTHS), st.integers(0, 3))


def _optional(solver: SolverRef, options: dict[str, tuple[str, ...]]) -> SearchStrategy[SolverRef]:
    choices = [
        st.sampled_from(["", *(f"{name}={value}" for value in dict.fromkeys(values))])
        for name, values in options.items()
    ]

    def chosen(parts: tuple[str, ...]) -> SolverRef:
        if not (text := ",".join(filter(None, parts))):
            return solver
        return Registered(f"{solver.text}{',' if ':' in solver.text else ':'}{text}")

    return st.tuples(*choices).map(chosen)


@st.composite
def _rows(draw: DrawFn, plain: bool, dimension: int) -> str:
    """At most five different rows, the last one perhaps repeated."""
    d, entries = draw(st.integers(1, dimension)), draw(st.sampled_from(_ENTRIES))
    rows = draw(st.lists(st.tuples(*[entries] * d), min_size=1, max_size=5))
    copies = draw(st.one_of(st.just(1), st.just(1), st.integers(1, 200)))
    more = "" if plain else draw(st.sampled_from(GEOMETRIES))
    return f"{text_of_rows(rows + rows[-1:] * (copies - 1))} {more}".strip()


def _families(plain: bool) -> SearchStrategy[str]:
    """Data in special position, and random problems of every family."""
    found = st.one_of(
        st.sampled_from(SPECIAL),
        st.sampled_from(sorted(RANGES)).flatmap(_family),
        _seeded(special_problem),
        _seeded(random_problem),
    )
    return found.filter(lambda text: " --" not in text) if plain else found


def _family(name: str) -> SearchStrategy[str]:
    """A family with options from logarithmic scales."""

    def on_scale(option: str, low: float, high: float) -> SearchStrategy[str]:
        def text(k: int) -> str:
            value = low * (high / low) ** (k / _STEPS)
            return f"{option}={value:.3g}" if low < 1 else f"{option}={round(value)}"

        return st.integers(0, _STEPS).map(text)

    options = [on_scale(option, *ends) for option, ends in RANGES[name].items()]
    return st.tuples(*options).map(lambda texts: f"{name}:{','.join(texts)}")


def _seeded(problem: Callable[[np.random.Generator], str]) -> SearchStrategy[str]:
    return st.integers(0, 2**31).map(lambda seed: problem(np.random.default_rng(seed)))


# Inputs that a statement with data of its own declares


@st.composite
def _inputs(draw: DrawFn, declared: Inputs) -> Run:
    """A choice of inputs: sizes, and each number or word."""
    sizes = {name: draw(st.integers(1, of.MOST)) for name in of.names(declared)}
    values = {
        name: of.shaped(entry, sizes, partial(draw, _number(entry)))
        for name, entry in declared.items()
    }
    return Run(of.text_of(values))


def _number(entry: Entry) -> SearchStrategy[Any]:
    if entry.words:
        return st.sampled_from(entry.words)
    if entry.whole and entry.low is not None and entry.high is not None:
        every = st.integers(int(entry.low), int(entry.high))
        return st.one_of(st.sampled_from(_special(entry)), every)
    fractions = st.builds(Fraction, st.integers(-40, 40), st.sampled_from((1, 2, 3, 4, 10)))
    return st.one_of(
        st.sampled_from(_special(entry)),
        fractions.map(lambda value: _inside(entry, value)),
        st.integers(-(2**14), 2**14).map(lambda k: _inside(entry, Fraction(k, 2**10))),
    )


def _special(entry: Entry) -> list[Any]:
    """Values that are tried first: small ones, and the ends of the range."""
    plain = [Fraction(v) for v in (1, 0, -1, 2, 3, 10)] + [Fraction(1, 2), Fraction(1, 10)]
    ends = [end for end in (entry.low, entry.high) if end is not None]
    found = [v for v in dict.fromkeys([*plain, *ends]) if entry.allows(v)]
    return [int(v) for v in found] if entry.whole else found


def _inside(entry: Entry, value: Fraction) -> Any:
    """The number, brought into the range."""
    value = value if entry.low is None else max(value, entry.low)
    value = value if entry.high is None else min(value, entry.high)
    if entry.positive and value <= 0:
        value = min(Fraction(1), entry.high or Fraction(1))
    return round(value) if entry.whole else value
