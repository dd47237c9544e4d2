"""SGD as the lecture prints it (Algorithms 1 and 2), and what is claimed of its steps and draws.

    w_{t+1} = w_t − η∇ℓ_i(w_t),  i uniform,  η = B/(ρ√T),  w̄ = (1/T) Σ_t w_t

The court sets horizon, loss and B itself and brings its generator of random numbers; so the method
is run when it asks, and what was delivered is kept for the judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise, product
from typing import Any

import numpy as np
from flint import arb, ctx

import gammabar as gb
from gammabar.solvers import Iterate

from .data import Data, Unfit, bits, to_double
from .descent import PART, length
from .facts import Trit
from .hearing import FINE, as_own, counted, hear, known
from .methods import Vector, add, times, zero

#: T and B of `gb.lec.sgd.step`.
HORIZON, DISTANCE = 25, 1.5
#: Of an estimate on a problem: T = 4ρ²/γ̄² and B = 1/γ̄, so that the bound is ½, in 500 runs.
RUNS = 500


def slope(loss: str, score: arb) -> arb:
    """ℓ′; the hinge has the subgradient 0 at its kink."""
    if loss == "logistic":
        return -1 / (1 + score.exp())
    return arb(-1) if score < 1 else arb(0)


@dataclass
class Wrong:
    """What somebody gets wrong of Algorithm 1; nothing, as it stands."""

    step: float = 1.0
    sign: int = -1
    stale: bool = False
    #: Probabilities of the terms; None: uniform.
    weights: tuple[float, ...] | None = None
    #: The next term is the one after the last, whatever is drawn.
    turns: bool = False
    index: int = 0
    average: float = 1.0
    stuck: bool = False


@as_own
@dataclass(frozen=True)
class Solver:
    """SGD with the options that the court sets, in balls or in plain doubles."""

    data: Any
    wrong: Wrong
    kept: dict[str, list[Any]]
    horizon: int = 100
    distance: float = 1.0
    lipschitz: float | None = None
    loss: str = "logistic"
    indices: tuple[int, ...] | None = None
    precision: int = 6000
    rows: Any = field(default=None, compare=False)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        """As doubles; the first run of each loss is kept."""
        run = self._plain(rng) if self.rows is not None else self._exact(rng)
        first = self.loss not in self.kept
        mine = self.kept.setdefault(self.loss, [])
        for t, (w, average, index) in enumerate(run):
            said = None if index is None else (index + self.wrong.index) % self._terms
            if first:
                mine.append((w, average, said))
            yield Iterate(t, w.copy(), extra={"average": average.copy(), "index": said})

    @property
    def _terms(self) -> int:
        return len(self.rows) if self.rows is not None else self.data.n

    def _draws(self, rng: Any) -> Iterator[int]:
        if self.indices is not None:
            yield from self.indices
            return
        n, last = self._terms, 0
        while True:
            last = (last + 1) % n if self.wrong.turns else int(rng.choice(n, p=self.wrong.weights))
            yield last

    def _exact(self, rng: Any) -> Iterator[tuple[Any, Any, int | None]]:
        """Algorithm 2 in balls; what is delivered is each w_t and w̄, rounded once."""
        with ctx.workprec(self.precision):
            data, wrong = self.data, self.wrong
            rho = arb(data.radius_squared).sqrt()
            eta = arb(self.distance) / (rho * arb(self.horizon).sqrt()) * arb(wrong.step)
            w = before = total = zero(data)
            index: int | None = None
        for t, drawn in enumerate(_chain(self._draws(rng))):
            with ctx.workprec(self.precision):
                total = add(total, w)
                average = times(arb(wrong.average) / (t + 1), total)
                delivered = _doubles(w), _doubles(average), index
            yield delivered
            if drawn is None:
                return
            with ctx.workprec(self.precision):
                index = drawn
                at = before if wrong.stale else w
                row = data.combine([int(i == index) for i in range(data.n)], False)
                pull = slope(self.loss, data.scores(at, False)[index])
                before = w
                w = w if wrong.stuck else add(w, row, wrong.sign * eta * pull)

    def _plain(self, rng: Any) -> Iterator[tuple[Any, Any, int | None]]:
        """The same in doubles on rows that are given, by somebody who knows no error bounds."""
        rows, wrong = self.rows, self.wrong
        rho = max(float(np.linalg.norm(row)) for row in rows)
        eta = wrong.step * self.distance / (rho * self.horizon**0.5)
        w, total = np.zeros(len(rows[0])), np.zeros(len(rows[0]))
        index: int | None = None
        for t, drawn in enumerate(_chain(self._draws(rng))):
            total = total + w
            yield w, wrong.average * total / (t + 1), index
            if drawn is None:
                return
            index = drawn
            score = float(rows[index] @ w)
            pull = (
                (-1.0 if score < 1 else 0.0) if self.loss == "hinge" else -1 / (1 + np.exp(score))
            )
            w = w if wrong.stuck else w + wrong.sign * eta * pull * rows[index]


def _chain(draws: Iterator[int]) -> Iterator[int | None]:
    """The draws, and a None where they end."""
    yield from draws
    yield None


def _doubles(v: Vector) -> Any:
    return np.array([to_double(x) for x in v])


def step(data: Data, kept: dict[str, list[Any]]) -> Trit:
    """Each w_{t+1} is the step from w_t along the term that is said, and w̄ the average."""
    for loss in ("hinge", "logistic"):
        if loss in kept and _wrong_run(data, loss, kept[loss]):
            return False
    return None


def _wrong_run(data: Data, loss: str, run: list[Any]) -> bool:
    rho = arb(data.radius_squared).sqrt()
    eta = arb(DISTANCE) / (rho * arb(HORIZON).sqrt())
    ws = [[arb(v) for v in w.tolist()] for w, *_ in run]
    if any(v != 0 for v in ws[0]):
        return True
    total, sizes = ws[0], arb(0)
    for t, (w, after) in enumerate(pairwise(ws)):
        _, average, index = run[t + 1]
        row = data.combine([int(i == index) for i in range(data.n)], False)
        score = data.scores(w, False)[index]
        # What doubles make of the score may be on either side of it, and of a kink.
        blur = FINE * (1 + rho * size(data, w))
        pulls = [slope(loss, score - blur), slope(loss, score), slope(loss, score + blur)]
        gaps = [_off(w, after, times(-eta * pull, row), eta * length(row)) for pull in pulls]
        if pulls[2] - pulls[0] > PART:
            gaps = [False] if loss == "logistic" else gaps
        total, sizes = add(total, after), sizes + length(after)
        mean = times(arb(1) / (t + 2), total)
        gap = length(add([arb(v) for v in average.tolist()], mean, -1))
        if all(gaps) or gap > FINE * sizes / (t + 2):
            return True
    return False


def size(data: Data, w: Vector) -> arb:
    """What rounding of w is relative to: of coefficients of rows the sum, for these may cancel."""
    if data.linear:
        return length(w)
    return sum((abs(v) for v in w), arb(0)) * arb(data.radius_squared).sqrt()


def _off(w: Vector, after: Vector, step: Vector, reach: arb) -> bool:
    gap = length(add(after, add(w, step), -1))
    return bool(gap > PART * length(step) + FINE * (length(w) + reach))


#: Mistakes in a step, or in what is said beside it.
STEPS: dict[str, Wrong] = {
    "step doubled": Wrong(step=2.0),
    "step a little more": Wrong(step=1 + 2.0**-7),
    "uphill": Wrong(sign=1),
    "stale": Wrong(stale=True),
    "another index": Wrong(index=1),
    "average doubled": Wrong(average=2.0),
    "average a little more": Wrong(average=1 + 1e-3),
    "stuck": Wrong(stuck=True),
}


def one(seed: int, number: int, tally: Any) -> None:
    """Steps of SGD on a drawn problem, and every few numbers its draws and expectations."""
    rng = np.random.default_rng([seed, number, 5])
    with bits():
        try:
            with counted(tally, f"{seed}.{number}"):
                data = Data(rng)
                if not data.radius_squared > 0:
                    raise Unfit("all rows are zero")
                _steps(data, rng, f"{seed}.{number} {data.name}: SGD", tally)
        except Unfit as reason:
            tally.refused[str(reason)[:60]] += 1
    if number % 3 == 0:
        draws(rng, f"{seed}.{number}: draws of SGD", tally)
        expectations(rng, f"{seed}.{number}: expectation of SGD", tally)


def _steps(data: Data, rng: np.random.Generator, where: str, tally: Any) -> None:
    probe = Solver(data, Wrong(), {}, HORIZON, DISTANCE, loss="hinge")
    run = [w for w, *_ in islice(probe._exact(np.random.default_rng(0)), 3)]
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are no doubles")
    tally.trials += 1
    tally.kinds["SGD"] += 1
    runs = {"right": Wrong()} | {
        str(k): STEPS[str(k)] for k in rng.choice([*STEPS], 3, replace=False)
    }
    for how, wrong in runs.items():
        kept: dict[str, list[Any]] = {}
        solver = Solver(data, wrong, kept)
        judges: dict[str, Callable[[], Trit]] = {"gb.lec.sgd.step": partial(step, data, kept)}
        hear(solver, data.problem, judges, how == "right", f"{where}, {how}", tally)


# Chance

#: Draws that are not uniform and independent: the probability of a pair of four rows is off by
#: more than twice what Hoeffding's inequality allows 4,000 pairs, √(ln(32·10⁴)/8000) = 0.04.
DRAWS: dict[str, Wrong] = {
    "one row more often": Wrong(weights=(0.55, 0.15, 0.15, 0.15)),
    "one row never": Wrong(weights=(0.5, 0.5, 0.0, 0.0)),
    "in turn": Wrong(turns=True),
    "another index": Wrong(index=1),
}


def draws(rng: np.random.Generator, where: str, tally: Any) -> None:
    """The court has rows of its own for this, so the solver gets them: e_1, …, e_4."""
    problem = gb.from_arrays(np.eye(2), [1, -1])
    how = str(rng.choice(["right", *DRAWS]))
    solver = Solver(None, DRAWS.get(how, Wrong()), {}, rows=list(np.eye(4)))
    truth: Trit = None if how == "right" else False
    judges: dict[str, Callable[[], Trit]] = {"gb.lec.sgd.draws": partial(known, truth)}
    hear(solver, problem, judges, how == "right", f"{where}, {how}", tally)


def expected(rows: Any, wrong: Wrong, T: int, B: float) -> float:
    """E f(w̄) of the hinge loss, over all n^(T−1) paths with their probabilities."""
    n = len(rows)
    chances = wrong.weights or (1 / n,) * n
    total = 0.0
    for path in product(range(n), repeat=T - 1):
        solver = Solver(None, wrong, {}, T, B, loss="hinge", indices=path, rows=rows)
        *_, (_, average, _) = solver._plain(None)
        value = float(np.mean([max(0.0, 1 - float(row @ average)) for row in rows]))
        total += value * float(np.prod([chances[i] for i in path]))
    return total


#: Mistakes that may cost more than the bound.
LOSSES: dict[str, Wrong] = {
    "stuck": Wrong(stuck=True),
    "uphill": Wrong(sign=1),
    "one row only": Wrong(weights=(1.0, 0.0)),
    "one row mostly": Wrong(weights=(0.95, 0.05)),
    "steps of a tenth": Wrong(step=0.1),
    "steps of ten": Wrong(step=10.0),
}


def expectations(rng: np.random.Generator, where: str, tally: Any) -> None:
    """Theorem 3 and Corollary 4 with the hinge loss on two rows: E f(w̄) ≤ ½, all paths tried."""
    a, b = float(rng.uniform(0.4, 1)), float(rng.uniform(0.5, 2))
    rows = [np.array([b, b * a]), np.array([b, -b * a])]  # γ̄ = b, ρ² = b²(1 + a²)
    problem = gb.from_arrays(np.array([rows[0], -rows[1]]), [1, -1])
    gamma, rho_squared = b, b * b * (1 + a * a)
    T = int(np.ceil(4 * rho_squared / gamma**2 - 1e-9))
    how = str(rng.choice(["right", *LOSSES]))
    wrong = LOSSES.get(how, Wrong())
    mean = expected(rows, wrong, T, 1 / gamma)
    # Beyond the bound by far more than T may be off here.
    false = mean > (rho_squared / gamma**2 / T) ** 0.5 * 1.05 and mean > 0.53
    solver = Solver(None, wrong, {}, rows=rows)
    truth: Trit = False if false else None
    judges: dict[str, Callable[[], Trit]] = {
        name: partial(known, truth) for name in ("lec.thm3", "lec.cor4")
    }
    hear(solver, problem, judges, how == "right", f"{where}, {how}, E = {mean:.3f}", tally)
