"""The methods of the figures and of Table 1, side by side: one product an iteration for all.

All methods move w by a combination of rows, so scores change by those of the combination: with G
the Gram matrix of the rows a_i (which are y_i a_i in the paper),

    w_{t+1} = w_t + Σ_i c_i a_i,      scores_{t+1} = scores_t + G c,

and the columns c of all methods are multiplied at once. That is several times faster than one run
after the other, which read the data anew for each; a test holds both against each other.

Pixels p become (2p − 255)/255, between −1 and 1: the paper does not say how they are scaled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gammabar.problems import Problem, ProblemError

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
