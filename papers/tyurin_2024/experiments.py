"""The runs behind the figures and Table 1: which data, which methods, how long.

Classes, sizes and the making of imbalanced data are those of Appendix E; how pixels are scaled,
which points were drawn and how long runs were are not said. A subsample is that of seed 0 here.

The runs behind Table 1: every n for the first part, twenty subsamples for the other two.

The methods of the figures and of Table 1, side by side: one product an iteration for all.

All methods move w by a combination of rows, so scores change by those of the combination: with G
the Gram matrix of the rows a_i (which are y_i a_i in the paper),

    w_{t+1} = w_t + Σ_i c_i a_i,      scores_{t+1} = scores_t + G c,

and the columns c of all methods are multiplied at once. That is several times faster than one run
after the other, which read the data anew for each; a test holds both against each other.

Pixels p become (2p − 255)/255, between −1 and 1: the paper does not say how they are scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gammabar.harness.reproduce import logarithmic
from gammabar.problems import Problem, ProblemError, from_arrays, load

Array = NDArray[np.float64]
Kind = Literal["lr-gd", "normalized-lr-gd", "batch-perceptron", "normalized-batch-perceptron"]
#: Columns of a matrix of pixels that are multiplied together.
_BLOCK = 1024
#: Above this many rows their Gram matrix takes too much memory.
_MOST = 6000
_TINY = 2.0**-60


class Method(NamedTuple):
    """A method of the paper, by its name in the registry of solvers; perceptrons have no step."""

    kind: Kind
    step: float = 1.0

    def __str__(self) -> str:
        return f"{self.kind}:step={self.step:g}" if self.kind.endswith("lr-gd") else self.kind


class Rows:
    """Signed rows a_i, each of them some times, and their products.

    Parameters
    ----------
    pixels : array of bytes, (k, d)
        Rows that differ.
    y : array of −1 and +1
    times : array of integers
        How often each row is in the data.
    """

    def __init__(self, pixels: Any, y: Any, times: Any) -> None:
        k, d = pixels.shape
        self.times = np.asarray(times, dtype=np.float64)
        self.n = int(self.times.sum())
        y = np.asarray(y, dtype=np.float64)
        self._A = self._G = np.empty((0, 0))
        if k > min(_MOST, 2 * d):
            self._A = scaled(pixels) * y[:, None]
        if k <= _MOST:
            self._G = np.zeros((k, k))
            for first in range(0, d, _BLOCK):
                part = scaled(pixels[:, first : first + _BLOCK]) * y[:, None]
                self._G += part @ part.T

    def products(self, C: Array) -> Array:
        """G C, for columns of coefficients.

        With large steps few rows count at a time. Entries below 2⁻⁶⁰ of the largest of a column are
        left out: all of them together are less than what a sum of doubles is rounded by.
        """
        counts = np.abs(C) > _TINY * np.abs(C).max(axis=0)
        many = counts.sum(axis=0) > len(C) // 4
        result = np.empty_like(C)
        for chosen, few in ((many, False), (~many, True)):
            if chosen.any():
                rows = np.flatnonzero(counts[:, chosen].any(axis=1)) if few else slice(None)
                result[:, chosen] = self._products(C[rows][:, chosen], rows, few)
        return result

    def _products(self, C: Array, rows: Any, few: bool) -> Array:
        """By the Gram matrix if few rows count, or if the rows are long."""
        if len(self._G) and (few or not len(self._A)):
            return np.asarray((C.T @ self._G[rows]).T)  # it is symmetric, and its rows lie together
        return np.asarray(self._A @ (self._A[rows].T @ C))


def scaled(pixels: Any) -> Array:
    """Bytes as numbers between −1 and 1."""
    if np.asarray(pixels).dtype != np.uint8:
        raise ProblemError("pixels are bytes")
    return (2 * pixels.astype(np.float64) - 255) / 255


def rows_of(problem: Problem) -> Rows:
    """The rows of a problem with bytes; equal ones are taken together."""
    X, y = np.asarray(problem.X), np.asarray(problem.y)
    keyed = np.column_stack([X, (y > 0).astype(np.uint8)])
    _, first, times = np.unique(keyed, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return Rows(X[first[order]], y[first[order]], times[order])


@dataclass
class Course:
    """What a method did.

    Attributes
    ----------
    t : list of int
        When it was looked at.
    accuracy, loss : lists of float
        Then.
    gradient : list of float
        ‖∇f(w_t)‖ then (gradient methods).
    apart : list of float
        ‖w_t/γ − v_t‖/‖v_t‖ then, with v_t the iterate of Batch Perceptron (LR+GD beside it).
    first : int or None
        The first t at which w_t separates the data.
    rises, drops : int
        How often the loss rose, and the accuracy fell, from one iterate to the next, up to then.
    highest : float
        The highest loss up to then, w_0 left out.
    """

    t: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    gradient: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    first: int | None = None
    rises: int = 0
    drops: int = 0
    highest: float = 0.0

    def follow(self, t: int, loss: float, accuracy: float, before: tuple[float, float]) -> None:
        """Take notice of w_t; `before` are loss and accuracy of w_{t−1}."""
        if self.first is not None:
            return
        if t:
            self.rises += loss > before[0]
            self.drops += accuracy < before[1]
            self.highest = max(self.highest, loss)
        if accuracy == 1:
            self.first = t


class Lockstep:
    """Methods that run side by side from w_0 = 0."""

    def __init__(self, rows: Rows, methods: list[Method]) -> None:
        self.rows, self.methods = rows, methods
        self.courses = [Course() for _ in methods]
        self.scores = np.zeros((len(rows.times), len(methods)))
        self.sums = np.zeros_like(self.scores)  # w_t is this combination of the rows
        self.loss, self.accuracy = np.zeros(len(methods)), np.zeros(len(methods))

    def look(self, t: int) -> None:
        """Loss and accuracy of all methods at t."""
        before = list(zip(self.loss.tolist(), self.accuracy.tolist(), strict=True))
        rows = self.rows
        self.loss = rows.times @ np.logaddexp(0, -self.scores) / rows.n
        self.accuracy = 1 - rows.times @ (self.scores <= 0) / rows.n
        for j, course in enumerate(self.courses):
            course.follow(t, float(self.loss[j]), float(self.accuracy[j]), before[j])

    def move(self, t: int, noted: bool) -> None:
        """From t to t + 1."""
        C = np.column_stack([self._weights(j, t) for j in range(len(self.methods))])
        change = self.rows.products(C)
        if noted:
            for j in range(len(self.methods)):
                self._note(j, t, float(C[:, j] @ change[:, j]))
        self.scores += change
        self.sums += C

    def _weights(self, j: int, t: int) -> Array:
        """w_{t+1} − w_t as a combination of the rows, each as often as it is there."""
        scores, times, n = self.scores[:, j], self.rows.times, self.rows.n
        kind, step = self.methods[j]
        if kind == "batch-perceptron":
            return times * (np.full(len(scores), 0.5) if t == 0 else scores <= 0) / n
        if kind == "normalized-batch-perceptron":
            wrong = times * (scores <= 0)
            return np.asarray(wrong / max(float(wrong.sum()), 1.0))
        sigma = times * expit(-scores)
        return np.asarray(step * sigma / (n if kind == "lr-gd" else sigma.sum()))

    def _note(self, j: int, t: int, squared: float) -> None:
        course, (kind, step) = self.courses[j], self.methods[j]
        course.t.append(t)
        course.accuracy.append(float(self.accuracy[j]))
        course.loss.append(float(self.loss[j]))
        if kind != "lr-gd":
            return
        course.gradient.append(max(squared, 0.0) ** 0.5 / step)
        beside = [m.kind for m in self.methods].index("batch-perceptron") if t else None
        if beside is not None:
            by, scores = self.sums[:, j] / step, self.scores[:, j] / step
            other, others = self.sums[:, beside], self.scores[:, beside]
            apart = max(float((by - other) @ (scores - others)), 0.0)
            course.apart.append((apart / float(other @ others)) ** 0.5)

    def drop(self) -> None:
        """Leave out the methods that are done; their courses are kept by who asked for them."""
        stay = [j for j, course in enumerate(self.courses) if course.first is None]
        if len(stay) == len(self.courses):
            return
        self.methods = [self.methods[j] for j in stay]
        self.courses = [self.courses[j] for j in stay]
        self.scores, self.sums = self.scores[:, stay], self.sums[:, stay]
        self.loss, self.accuracy = self.loss[stay], self.accuracy[stay]


def curves(rows: Rows, methods: list[Method], times: list[int]) -> dict[str, dict[str, Any]]:
    """What methods do up to the last of some times, noted then, by their names."""
    side = Lockstep(rows, methods)
    wanted = set(times)
    for t in range(max(times) + 1):
        side.look(t)
        side.move(t, t in wanted)
    return {str(m): vars(c) for m, c in zip(methods, side.courses, strict=True)}


def counts(rows: Rows, methods: list[Method], most: int) -> list[int]:
    """Iterations that methods need to separate the data; `most` + 1 for more."""
    side = Lockstep(rows, methods)
    courses = list(side.courses)
    for t in range(most + 1):
        side.look(t)
        side.drop()
        if not side.methods:
            break
        side.move(t, False)
    return [most + 1 if course.first is None else course.first for course in courses]


#: "we vary the step size from 0.001 to 100" (Section 3).
STEPS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
LR_GD = tuple(Method("lr-gd", step) for step in STEPS)
BATCH, NORMALISED = Method("batch-perceptron"), Method("normalized-batch-perceptron")
#: Seconds for the exact margin of a subsample; then what is proved so far counts.
LIMIT = 900
NAMES = {"cifar": "CIFAR-10", "fashion": "FashionMNIST", "eurosat": "EuroSAT", "mnist": "MNIST"}
CLASSES = {"cifar": "0,1", "fashion": "0,4", "eurosat": "0,1", "mnist": "7,8"}


@dataclass(frozen=True)
class Sample:
    """A subsample of a data set.

    Attributes
    ----------
    dataset : str
    size : int
        Number of points; 0 for a tenth of all, those of one class ten times each.
    last : int
        How many iterations are run.
    """

    dataset: str
    size: int
    last: int

    def spec(self, quick: bool, seed: int = 0) -> str:
        """As ``gammabar`` takes it; with `quick`, a few embedded digits."""
        chosen = f"n={self.size}" if self.size else "keep=0.1,repeat=10"
        if quick:
            chosen = "n=200" if self.size else "keep=0.15,repeat=10"
            return f"mnist-sample:7,8:{chosen},seed={seed}"
        return f"{self.dataset}:{CLASSES[self.dataset]}:{chosen},seed={seed}"

    def name(self) -> str:
        """For people."""
        size = f"{self.size:,} samples" if self.size else "imbalanced"
        return f"{NAMES[self.dataset]}, {size}"

    def steps(self, quick: bool) -> int:
        return min(self.last, 150) if quick else self.last


def run(sample: Sample, quick: bool) -> tuple[str, Callable[[], Any]]:
    """The part with LR+GD of every step beside both batch perceptrons, by its name."""
    spec, last = sample.spec(quick), sample.steps(quick)
    return f"LR+GD and perceptrons, {spec}, t ≤ {last}", partial(_curves, spec, last)


def _curves(spec: str, last: int) -> dict[str, Any]:
    rows = rows_of(load(spec))
    methods = [*LR_GD, BATCH, NORMALISED]
    return {"n": rows.n, "last": last, "courses": curves(rows, methods, logarithmic(last, 60))}


def truth(sample: Sample, quick: bool) -> tuple[str, Callable[[], Any]]:
    """The part with the exact margin, or the proof that there is none."""
    spec = sample.spec(quick)
    return f"γ̄ of {spec}, pixels in [−1, 1], within {LIMIT} s", partial(_truth, spec)


def _truth(spec: str) -> dict[str, Any]:
    """Separable or not, and γ̄ in the unit ball (rows divided by the longest)."""
    from gammabar.oracle import solve

    problem: Any = load(spec)
    whole = 2 * np.asarray(problem.X).astype(np.int16) - 255  # integers: pixels times 255
    found = solve(from_arrays(whole, problem.y), time_limit=LIMIT)
    return {
        "separable": found.separable,
        "gamma": found.gamma,
        "gamma_lo": found.gamma_lo,
        "gamma_hi": found.gamma_hi,
        "exact": found.exact,
    }


def sizes_that_fit(table: dict[tuple[str, float], int], largest: int) -> dict[str, Any]:
    """Every n ≤ `largest` for which all methods need the printed numbers of iterations.

    On the data of Theorem 5.1 there are two rows that differ, (½, −1) once and (½, 1) n − 1 times,
    so that all n are run side by side with two scores each.
    """
    n = np.arange(2, largest + 1, dtype=np.float64)
    fits = np.ones(len(n), dtype=bool)
    found: dict[str, list[int]] = {}
    for (kind, step), printed in table.items():
        first = _first(kind, step, n, printed + 1)
        found[f"{kind}:step={step:g}"] = [int(v) for v in n[first == printed]]
        fits &= first == printed
    every = {name: [values[0], values[-1]] for name, values in found.items() if values}
    return {"largest": largest, "n": [int(v) for v in n[fits]], "each": every}


def _first(kind: str, step: float, n: Any, most: int) -> Any:
    """The first t ≤ most with both scores positive, for each n; most + 1 if there is none."""
    gram = np.array([[1.25, -0.75], [-0.75, 1.25]])
    times = np.stack([np.ones(len(n)), n - 1])
    scores = np.zeros((2, len(n)))
    first = np.full(len(n), most + 1)
    for t in range(most + 1):
        solved = (scores.min(axis=0) > 0) & (first > most)
        first[solved] = t
        sigma = times * expit(-scores)
        scores = scores + gram @ (step * sigma / (n if kind == "lr-gd" else sigma.sum(axis=0)))
    return first


def subsample(spec: str, table: dict[tuple[str, float], int], most: int) -> list[int]:
    """Iterations that the methods of a part of the table need on a subsample, in its order."""
    methods = [Method(kind, step) for kind, step in table]  # type: ignore[arg-type]
    return counts(rows_of(load(spec)), methods, most)
