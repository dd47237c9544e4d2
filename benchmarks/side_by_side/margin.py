"""Time to a given part of the maximum margin: our solvers, and the linear classifiers people use.

Each contestant gets more and more time, or iterations, until its margin γ(w) is 99.9 % of the exact
γ̄, or its time is over. `MaxMarginClassifier` has to prove by itself how close it is, and the
oracle that there is nothing more to be had; all others are told from outside, for free.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from side_by_side import peers
from side_by_side.contest import Entry, Field, Score, race
from side_by_side.data import EMBEDDED, FASHION, MNIST, available, shown
from side_by_side.table import Table, duration, named, percent, ratio

from gammabar import MaxMarginClassifier
from gammabar.harness.screen import Stage
from gammabar.oracle import solve
from gammabar.problems import Problem, load
from gammabar.solvers import DualAcceleration

TITLE = "Time to a given margin"
FRACTIONS = (0.9, 0.99, 0.999)
#: Seconds that a contestant has, with the full data; the second problem is beyond all but one.
LIMITS = {MNIST: 20.0, FASHION: 8.0}
LIMIT = 5.0
#: The iterative classifier, which proves its own gap.
CERTIFIED = "MaxMarginClassifier(solver='dual-acceleration')"

Floats = NDArray[np.float64]


@dataclass
class Trace:
    """How a contestant came closer: (seconds, part of γ̄ reached) for a number of budgets."""

    points: list[tuple[float, float]] = field(default_factory=list)
    ended: str = ""

    def add(self, seconds: float, part: float) -> bool:
        """Take down a point; whether the contestant is there."""
        self.points.append((seconds, part))
        return part >= FRACTIONS[-1]

    def facts(self) -> dict[str, Any]:
        """For JSON. A contestant that never separates the data has failed."""
        best = max((part for _, part in self.points), default=0.0)
        facts: dict[str, Any] = {"points": self.points, "best": best, "ended": self.ended}
        if best <= 0:
            facts["failure"] = f"does not separate the data {self.ended}"
        return facts


def measure(
    quick: bool, say: Stage, *, names: tuple[str, ...] = (), repeat: int = 3
) -> list[dict[str, Any]]:
    """One contest per problem."""
    full = available(*LIMITS, otherwise=EMBEDDED)
    results = []
    for name in names or (EMBEDDED[:2] if quick else full):
        limit = 1.0 if quick else LIMITS.get(name, LIMIT)
        # A ladder of budgets takes several times its last rung.
        about, scores = race(contestants, name, limit, repeat=repeat, limit=60 + 5 * limit, say=say)
        results.append(about | {"limit": limit, "rows": [_row(score) for score in scores]})
    return results


def _row(score: Score) -> dict[str, Any]:
    """The time to each part of γ̄: the best of all turns; the points are those of the last."""
    row = score.as_dict()
    row["reached"] = {
        str(fraction): min(
            (
                seconds
                for facts in score.facts
                for seconds, part in facts["points"]
                if part >= fraction
            ),
            default=None,
        )
        for fraction in FRACTIONS
    }
    return row


def contestants(name: str, limit: float) -> Field:
    """The field, for one linear problem and so many seconds each."""
    problem = load(name)
    truth = solve(problem)
    unit, gamma = problem.unit(), truth.gamma
    X = np.asarray(problem.X, dtype=np.float64) / problem.radius
    y = np.asarray(problem.y)

    def part(w: Floats) -> float:
        return unit.margin(w) / gamma

    def entry(name: str, trace: Callable[[], Trace], proves: str = "nothing") -> Entry:
        return Entry(name, trace, Trace.facts, proves, ("sklearn.svm", "sklearn.linear_model"))

    def epochs(name: str, make: Callable[[], Any]) -> Entry:
        return entry(name, lambda: follow(_epochs(make(), X, y), part, limit))

    entries = [
        entry(CERTIFIED, partial(_certified, problem, gamma, limit), "its own gap"),
        entry("DualAcceleration", lambda: _accelerated(unit, gamma, limit), "gap ≤ ln n/‖w‖"),
        entry("gammabar oracle", lambda: _oracle(problem), "γ̄², q̄ exact"),
        entry("LIBLINEAR (hinge, C = 1e6)", lambda: _liblinear(X, y, part, limit)),
        epochs("Perceptron", _perceptron),
        epochs("SGDClassifier (hinge, α = 1e-4)", partial(_sgd, 1e-4)),
        epochs("SGDClassifier (hinge, α = 1e-6)", partial(_sgd, 1e-6)),
    ]
    about = {"data": name, "n": problem.n, "d": X.shape[1], "gamma": shown(truth)}
    return Field(entries, about)


def follow(steps: Iterator[Any], part: Callable[[Any], float], limit: float) -> Trace:
    """Let a method go on until it is there, at rest, or its time is over.

    The clock stands still while `part` looks at an iterate. It looks at the first twenty, and then
    whenever a twentieth has been added.
    """
    trace, spent, look, last = Trace(), 0.0, 1, None
    for t in range(1, 10**9):
        start = perf_counter()
        w = next(steps)
        spent += perf_counter() - start
        if t >= look or spent >= limit:
            look = t + 1 + t // 20
            if trace.add(spent, part(w)):
                break
        if isinstance(w, np.ndarray):
            # An epoch that changes nothing is one without mistakes: so will be all that follow.
            if last is not None and np.array_equal(w, last):
                trace.ended = f"and is at rest after {t} epochs"
                trace.add(spent, part(w))
                break
            last = w.copy()
        if spent >= limit:
            trace.ended = f"within {limit:g} s"
            break
    return trace


def _accelerated(unit: Problem, gamma: float, limit: float) -> Trace:
    return follow(DualAcceleration().iterates(unit), lambda it: it.margin / gamma, limit)


def _oracle(problem: Problem) -> Trace:
    start = perf_counter()
    solve(problem)
    return Trace([(perf_counter() - start, 1.0)])


def _certified(problem: Problem, gamma: float, limit: float) -> Trace:
    """Fits to ever smaller gaps; a fit counts for the part of γ̄ that it has proved itself."""

    def fit(tol: float, most: int) -> tuple[float, Any]:
        model = MaxMarginClassifier(
            solver="dual-acceleration", tol=tol, max_iter=most, fit_intercept=False
        )
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it got there is seen from the gap
            model.fit(problem.X, problem.y)
        return perf_counter() - start, model

    # What iterations cost, without what a fit costs besides.
    short, long = (min(fit(1e-9, count)[0] for _ in range(2)) for count in (20, 120))
    affordable = int(limit / max((long - short) / 100, 1e-6))
    trace = Trace()
    for fraction in FRACTIONS:
        seconds, model = fit(1 - fraction, affordable)
        best = model.margin_ + model.margin_gap_
        if model.margin_gap_ > (1 - fraction) * best:
            trace.add(seconds, min(model.margin_ / best, fraction - 1e-9))
            trace.ended = f"within {max(limit, seconds):.2g} s"
            break
        # The proved part, which is at least the fraction asked for, and less than the true one.
        trace.add(seconds, max(model.margin_ / best, fraction))
    return trace


def _liblinear(X: Floats, y: Any, part: Callable[[Any], float], limit: float) -> Trace:
    """Fresh fits with more and more iterations, as there is no way to go on with one."""
    trace, most = Trace(), 1
    while True:
        model = peers.liblinear(max_iter=most)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the limit is the budget
            model.fit(X, y)
        seconds = perf_counter() - start
        if trace.add(seconds, part(model.coef_[0])):
            break
        if model.n_iter_ < most:
            trace.ended = f"and stops by itself after {model.n_iter_} iterations"
            break
        if 1.5 * seconds > limit:
            trace.ended = f"within {limit:g} s"
            break
        most += 1 + most // 2
    return trace


def _epochs(model: Any, X: Floats, y: Any) -> Iterator[Floats]:
    """The weights of a model of scikit-learn after one epoch, two epochs, …."""
    from sklearn import config_context

    while True:
        # Looking for NaN takes as long as an epoch, and `fit` looks only once.
        with config_context(assume_finite=True):
            model.partial_fit(X, y, classes=(-1, 1))
        yield model.coef_[0]


def _perceptron() -> Any:
    from sklearn.linear_model import Perceptron

    return Perceptron(fit_intercept=False, random_state=0)


def _sgd(alpha: float) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=alpha, fit_intercept=False, random_state=0)


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table per problem."""
    goals = tuple(f"{100 * fraction:g} % of γ̄" for fraction in FRACTIONS)
    columns = ("program", *goals, "largest margin, proved or measured", "proves")
    out = []
    for result in results:
        title = f"{result['data']}: {result['n']:,} × {result['d']:,}, γ̄ = {result['gamma']}"
        ours = result["rows"][0]["reached"]
        rows = [
            (
                row["name"],
                *(_cell(row, ours, str(fraction)) for fraction in FRACTIONS),
                _outcome(row),
                row["proves"],
            )
            for row in result["rows"]
            if not row["absent"]
        ]
        out.append(Table(title, columns, rows, named(result["rows"])))
    return out


def _cell(row: dict[str, Any], ours: dict[str, float | None], fraction: str) -> str:
    """Seconds and ratio to our classifier."""
    seconds, reference = row["reached"][fraction], ours[fraction]
    if seconds is None:
        return "never"
    return duration(seconds) + (f" ({ratio(seconds / reference)})" if reference else "")


def _outcome(row: dict[str, Any]) -> str:
    if row["failure"]:
        return f"**fails**: {row['failure']}"
    return " ".join(filter(None, (f"{percent(row['best'])} of γ̄", row["ended"])))
