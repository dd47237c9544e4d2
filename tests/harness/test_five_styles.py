"""Right solvers of five methods, in several styles, on random data: none is refuted."""

from __future__ import annotations

from itertools import count, islice, product
from pathlib import Path

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness.run.tasks import TRAJECTORY, Recorded
from gammabar.solvers import Iterate


class Matrix:
    """A w and Aᵀq by NumPy."""

    dtype = np.float64

    def __init__(self, problem):
        self.A = np.array([problem.row(i) for i in range(problem.n)]).astype(self.dtype)
        self.n, self.zero = problem.n, np.zeros(self.A.shape[1], self.dtype)

    def scores(self, w):
        return self.A @ w

    def combine(self, q):
        return self.A.T @ q.astype(self.dtype)


class Single(Matrix):
    """The same in float32, as a network is trained."""

    dtype = np.float32


class Tensors(Single):
    """Products of PyTorch tensors."""

    def __init__(self, problem):
        super().__init__(problem)
        self.tensor = pytest.importorskip("torch").from_numpy

    def scores(self, w):
        return (self.tensor(self.A) @ self.tensor(w)).numpy()

    def combine(self, q):
        return (self.tensor(self.A).T @ self.tensor(q.astype(np.float32))).numpy()


class Loops(Matrix):
    """The same in loops, summed from the last to the first."""

    def scores(self, w):
        return np.array(
            [sum(a * b for a, b in zip(row[::-1], w[::-1], strict=True)) for row in self.A]
        )

    def combine(self, q):
        return np.array(
            [sum(a * b for a, b in zip(col[::-1], q[::-1], strict=True)) for col in self.A.T]
        )


def accelerated(ops, step):
    w = g = ops.zero
    for t in count():
        yield w
        q = np.exp(ops.scores(w).min() - ops.scores(w))
        pull = ops.combine(q / q.sum())
        g = t / (t + 1) * (g + pull)
        w = (w + step * (g + pull)).astype(ops.dtype)


def normalized(ops, step):
    w = ops.zero
    while True:
        yield w
        q = np.exp(ops.scores(w).min() - ops.scores(w))
        w = (w + step * ops.combine(q / q.sum())).astype(ops.dtype)


def sigmoid(scores):
    return np.where(scores > 0, np.exp(-np.abs(scores)), 1) / (1 + np.exp(-np.abs(scores)))


def logistic(ops, step):
    w = ops.zero
    while True:
        yield w
        w = (w + step * ops.combine(sigmoid(ops.scores(w))) / ops.n).astype(ops.dtype)


def batch_perceptron(ops, step):
    w = ops.zero
    for t in count():
        yield w
        wrong = (ops.scores(w) <= 0).astype(float)
        w = (w + ops.combine(wrong) / ops.n / (1 if t else 2)).astype(ops.dtype)


def perceptron(ops, step):
    w = ops.zero
    while True:
        yield w
        wrong = np.flatnonzero(ops.scores(w) <= 0)
        w = w + ops.A[wrong[0]] if wrong.size else w


#: Name → the loop, whether rows are divided by the radius, and whether any step will do.
METHODS = {
    "dual-acceleration": (accelerated, True, False),
    "normalized-gradient-descent": (normalized, True, True),
    "lr-gd": (logistic, False, True),
    "batch-perceptron": (batch_perceptron, False, False),
    "perceptron": (perceptron, False, False),
}
STYLES = ("matrix", "loops", "float32", "csv", "class", "pytorch")


def written(style, method, problem, step, length, folder: Path):
    """The solver in a style."""
    loop, unit, _ = METHODS[method]
    kind = {"loops": Loops, "float32": Single, "pytorch": Tensors}.get(style, Matrix)

    def run(given):
        ops = kind(given)
        return map(ops.tensor, loop(ops, step)) if style == "pytorch" else loop(ops, step)

    class Written:
        def iterates(self, given, rng):
            return (Iterate(t, w) for t, w in enumerate(run(given)))

    if style == "class":
        return Written()
    if style != "csv":
        return run
    kept = list(islice(run(problem.unit() if unit else problem), length + 1))
    form = ("%.17g", "%.8e", "%.6f")[length % (3 if step > 1e-3 else 2)]  # else all are 0
    np.savetxt(folder / "w.csv", kept, fmt=form, delimiter=",")
    return Recorded(f"{TRAJECTORY}{folder / 'w.csv'}").open()


def random_problem(rng):
    n, d = int(rng.integers(4, 25)), int(rng.integers(2, 7))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-2, 2)
    plane = X @ rng.normal(size=d)
    y = np.where(plane > np.median(plane) if rng.random() < 0.7 else rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    return gb.from_arrays(np.round(X) if rng.random() < 0.2 else X, y)


def verdicts(style, method, wanted, folder):
    """So many verdicts and a few more, those that do not apply left out."""
    free = METHODS[method][2]
    place = STYLES.index(style) * len(METHODS) + list(METHODS).index(method)
    rng, found = np.random.default_rng(place), []
    while len(found) < wanted:
        problem, length = random_problem(rng), int(rng.integers(4, 40))
        step = 10 ** rng.uniform(-12, 12) if free else 1.0
        solver = written(style, method, problem, step, length, folder)
        like = f"{method}:step={step!r}" if free else method
        heard = gb.verify(solver, problem, like=like, iterations=length)
        found += [verdict for verdict in heard if verdict.verdict != "inapplicable"]
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # steps of 10¹² overflow in float32
@pytest.mark.parametrize("wanted", [2, pytest.param(80, marks=pytest.mark.full)])
@pytest.mark.parametrize(("style", "method"), list(product(STYLES, METHODS)))
def test_no_right_solver_is_refuted(style, method, wanted, tmp_path):
    """With `full` at least 25 × 80 = 2,000 verdicts, and 400 more where PyTorch is installed."""
    found = verdicts(style, method, wanted, tmp_path)
    assert [str(verdict) for verdict in found if verdict.verdict == "refuted"] == []
    if style not in ("float32", "csv", "pytorch"):
        assert sum(verdict.verdict == "holds" for verdict in found) > len(found) / 2
