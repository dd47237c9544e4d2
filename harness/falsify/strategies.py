"""Ways to search. Each proposes candidates without end, and learns from what is found.

A strategy is a function ``(ask, space, rng)``: ``ask(candidate)`` has it judged, and raises `Over`
when the time is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from gammabar.harness.falsify.candidate import Ask, Candidate, Finding, Rows
from gammabar.harness.run.plan import KINDS, random_problem, special_problem
from gammabar.harness.run.specs import Registered, SolverRef


class Over(BaseException):
    """The time is up, or it was found. No `Exception`: no library may take it for a failure."""


#: Lengths of runs that are tried; a longer one hears what a shorter one does, and costs more.
LENGTHS = (4, 15, 60, 250)
#: Coordinates of the continuous search are multiples of this part of the unit.
GRID = 2**12


@dataclass(frozen=True)
class Space:
    """What may vary besides the data.

    Attributes
    ----------
    solvers : tuple of (SolverRef, options)
        Whom the statement is about, each with the values that its options may have; empty for a
        statement about data alone.
    kernels : bool
        Whether kernels may be tried.
    """

    solvers: tuple[tuple[SolverRef, dict[str, tuple[str, ...]]], ...]
    kernels: bool = True

    def each(self) -> Iterator[Candidate]:
        """Every solver without options, then with every value of one of them; on no data yet."""
        if not self.solvers:
            yield Candidate("")
        for solver, _ in self.solvers:
            yield Candidate("", solver=solver)
        for solver, options in self.solvers:
            for name, values in options.items():
                for value in dict.fromkeys(values):
                    yield Candidate("", solver=Registered(f"{solver.name}:{name}={value}"))

    def any(self, rng: np.random.Generator) -> Candidate:
        """A solver with some options, on no data yet."""
        solver: SolverRef | None = None
        if self.solvers:
            solver, options = self.solvers[int(rng.integers(len(self.solvers)))]
            chosen = [f"{k}={rng.choice(v)}" for k, v in options.items() if rng.random() < 0.7]
            if chosen:
                solver = Registered(f"{solver.name}:{','.join(chosen)}")
        more = ""
        if self.kernels and rng.random() < 0.1:
            more = "--kernel " + str(rng.choice(("linear", "poly:degree=2,coef0=1", "rbf:gamma=1")))
            more += " --normalised" * int(rng.random() < 0.5)
        elif rng.random() < 0.1:
            more = "--multiclass"
        length, seed = int(rng.choice(LENGTHS)), int(rng.integers(4))
        return Candidate("", more, solver, length, seed)


def _rows(values: Any) -> Rows:
    return tuple(tuple(Fraction(int(v)) for v in row) for row in values)


#: Nearly extremal for Algorithm 1: p about 1/ln n.
ORTHOGONAL = ((2, "0.5"), (3, "0.1"), (10, "0.3"), (100, "0.22"), (1000, "0.145"))
#: Data in special position, smallest first.
SPECIAL = (
    "rows:1",
    "rows:1;1",
    "rows:1,0;0,1",
    "rows:1,0;0,-1;1,1",
    "rows:1;-1",
    "rows:1;-1;1",
    "rows:1,-2",
    "rows:0,1;0,0",
    "rows:2,0;1,1",
    "rows:1,2;1,-2",
    "rows:1,0;1,0;0,1",
    "rows:3,4;0,1;-4,3",
    "rows:1,0;-1,1",
    *(f"degenerate:kind={kind},n=4,d=3" for kind in KINDS),
    *(f"orthogonal:n={n},p={p}" for n, p in ORTHOGONAL),
    "opposed:r=3,copies=3",
    "opposed:r=30,copies=3",
    "crossed:copies=10",
    "centred:n=6,copies=6",
    "duplicated:n=1,d=1,copies=30,gamma=1",
    "duplicated:n=1,d=1,copies=1000,gamma=1",
    "worst-case:n=10",
    "worst-case:n=200",
    "two-lines:r=2,n=6",
    "two-lines:r=4,n=20",
    "loss-spike",
    "inseparable:n=6,d=2",
    "duplicated:n=4,d=2,copies=5",
    "planted:n=6,d=2,gamma=0.01",
    "iris:0,1,2:n=9 --multiclass",
    "rows:1;1 --multiclass",
    "rows:1,0;0,1 --multiclass",
)


def families(ask: Ask, space: Space, rng: np.random.Generator) -> None:
    """Data in special position, then random problems of every family."""
    # Options and data side by side, so that no option has to wait until all data were tried.
    pairs = product(enumerate(space.each()), enumerate(SPECIAL))
    for (_, first), (_, data) in sorted(pairs, key=lambda pair: 2 * pair[0][0] + pair[1][0]):
        # Orthogonal rows are extremal for a rate, which takes long to show.
        length = 250 if data.startswith("orthogonal") else 15
        ask(replace(first, data=data, iterations=length))
    while True:
        drawn = rng.random()
        if drawn < 0.4:
            text = str(rng.choice(SPECIAL))
        else:
            text = special_problem(rng) if drawn < 0.7 else random_problem(rng)
        ask(replace(space.any(rng), data=text, more=""))


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
_LONGEST = 2000


def parameters(ask: Ask, space: Space, rng: np.random.Generator) -> None:
    """The options of a family and the length of the run, changed as long as that helps."""
    tops: dict[str, tuple[Finding, dict[str, float]]] = {}
    while True:
        name = str(rng.choice(list(RANGES)))
        if tops and rng.random() < 0.5:  # the most promising one so far
            name = max(tops, key=lambda family: tops[family][0].score)
        if name in tops and rng.random() < 0.7:
            best, values = tops[name]
        else:
            values = {
                k: float(np.exp(rng.uniform(*np.log(ends)))) for k, ends in RANGES[name].items()
            }
            best = ask(replace(space.any(rng), data=_text(name, values), more=""))
        failures = 0
        while failures < 12:
            other, candidate = dict(values), best.candidate
            if rng.random() < 0.25:
                length = int(candidate.iterations * float(rng.choice((0.5, 1.5, 3))))
                candidate = replace(candidate, iterations=min(max(length, 2), _LONGEST))
            else:
                option = str(rng.choice(list(values)))
                low, high = RANGES[name][option]
                step = float(np.exp(rng.normal(0, 0.5)))
                other[option] = min(max(values[option] * step, low), high)
            found = ask(replace(candidate, data=_text(name, other)))
            failures = 0 if found.score > best.score else failures + 1
            if found.score >= best.score:
                best, values = found, other
        if name not in tops or best.score > tops[name][0].score:
            tops[name] = best, values


def _text(name: str, values: dict[str, float]) -> str:
    options = (
        f"{option}={value:.3g}" if RANGES[name][option][0] < 1 else f"{option}={round(value)}"
        for option, value in values.items()
    )
    return f"{name}:{','.join(options)}"


def integers(ask: Ask, space: Space, rng: np.random.Generator) -> None:
    """Small integers, changed here and there as long as that brings the claim nearer to failing."""
    while True:
        shape = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        best = ask(replace(space.any(rng), data=_rows(rng.integers(-3, 4, shape))))
        failures = 0
        while failures < 25:
            found = ask(_changed(best.candidate, space, rng))
            failures = 0 if found.score > best.score else failures + 1
            best = found if found.score >= best.score else best


def _changed(candidate: Candidate, space: Space, rng: np.random.Generator) -> Candidate:
    assert isinstance(candidate.data, tuple)
    rows = [list(row) for row in candidate.data]
    i, j = int(rng.integers(len(rows))), int(rng.integers(len(rows[0])))
    way = int(rng.integers(8))
    if way <= 2:
        rows[i][j] += int(rng.choice((-2, -1, 1, 2)))
    elif way == 3:
        rows[i] = [v * int(rng.choice((-1, 2, 3))) for v in rows[i]]
    elif way == 4 and len(rows) < 8:
        rows.append(list(rows[i]))
    elif way == 5 and len(rows) > 1:
        del rows[i]
    elif way == 6 and len(rows[0]) < 6:
        rows = [[*row, Fraction(int(rng.integers(-1, 2)))] for row in rows]
    else:
        other = space.any(rng)
        return replace(other, data=candidate.data)
    return replace(candidate, data=tuple(tuple(row) for row in rows))


def continuous(ask: Ask, space: Space, rng: np.random.Generator) -> None:
    """Coordinates by differential evolution, for one shape and one solver after the other."""
    from scipy.optimize import differential_evolution

    while True:
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        first = space.any(rng)

        def cost(x: Any, n: int = n, d: int = d, first: Candidate = first) -> float:
            grid = np.rint(np.asarray(x).reshape(n, d) * GRID)
            rows = tuple(tuple(Fraction(int(v), GRID) for v in row) for row in grid)
            return float(-np.clip(ask(replace(first, data=rows)).score, -1e6, 1e6))

        differential_evolution(
            cost,
            [(-1.0, 1.0)] * (n * d),
            maxiter=8,
            popsize=6,
            polish=False,
            rng=np.random.default_rng(rng.integers(2**32)),
        )


def hypothesis(ask: Ask, space: Space, rng: np.random.Generator) -> None:
    """Hypothesis, which is told how near each example came to failing."""
    from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st, target

    number = st.builds(Fraction, st.integers(-20, 20), st.sampled_from((1, 1, 2, 4)))
    rows = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
        lambda shape: st.tuples(*[st.tuples(*[number] * shape[1])] * shape[0])
    )

    while True:

        @settings(
            max_examples=300,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.target),
            suppress_health_check=list(HealthCheck),
        )
        @seed(int(rng.integers(2**32)))
        @given(rows, st.integers(0, 2**31))
        def search(data: Rows, draw: int) -> None:
            first = space.any(np.random.default_rng(draw))
            target(float(np.clip(ask(replace(first, data=data)).score, -1e6, 1e6)))

        search()


STRATEGIES: dict[str, Callable[[Ask, Space, np.random.Generator], None]] = {
    "families": families,
    "parameters": parameters,
    "integers": integers,
    "continuous": continuous,
    "hypothesis": hypothesis,
}
