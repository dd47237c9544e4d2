"""Runs behind the figures and Table 1: methods side by side, one product an iteration for all.

All methods move w by a combination of rows, so scores change by those of the combination: with G
the Gram matrix of the rows a_i (which are y_i a_i in the paper),

    w_{t+1} = w_t + Σ_i c_i a_i,      scores_{t+1} = scores_t + G c,

and the columns c of all methods are multiplied at once.

Classes, sizes and the making of imbalanced data are those of Appendix E; how pixels are scaled,
which points were drawn and how long runs were are not said. Here a pixel p becomes (2p − 255)/255,
between −1 and 1, and a subsample is that of seed 0.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gammabar.harness.reproduce import logarithmic
from gammabar.papers.tyurin_2024 import reference
from gammabar.problems import Problem, ProblemError, from_arrays, load

Array = NDArray[np.float64]
#: Columns of a matrix of pixels that are multiplied together.
_BLOCK = 1024
#: Above this many rows their Gram matrix takes too much memory.
_MOST = 6000


class Method(NamedTuple):
    """A method of the paper, by its name in the registry of solvers; perceptrons have no step."""

    kind: str
    step: float = 1.0

    def __str__(self) -> str:
        return f"{self.kind}:step={self.step:g}" if self.kind.endswith("lr-gd") else self.kind

    def weights(self, t: int, scores: Array, times: Any) -> Array:
        """w_{t+1} − w_t as a combination of the rows, each as often as it is there."""
        rule = getattr(reference, self.kind.replace("-", "_"))
        if self.kind.endswith("perceptron"):
            return np.asarray(rule(t, scores, times))
        return np.asarray(rule(t, scores, self.step, times, lambda s: expit(-s)))


class _Rows:
    """Signed rows of bytes, each some times, and products with their Gram matrix."""

    def __init__(self, pixels: Any, y: Any, times: Any) -> None:
        k, d = pixels.shape
        self.times = np.asarray(times, dtype=np.float64)
        self.n = int(self.times.sum())
        y = np.asarray(y, dtype=np.float64)[:, None]
        if k > min(_MOST, 2 * d):
            A = scaled(pixels) * y
            self._factors: tuple[Array, ...] = (A.T, A)
            return
        G = np.zeros((k, k))
        for first in range(0, d, _BLOCK):
            part = scaled(pixels[:, first : first + _BLOCK]) * y
            G += part @ part.T
        self._factors = (G,)

    def products(self, C: Array) -> Array:
        """G C, for columns of coefficients: by A and Aᵀ where rows are short, or too many."""
        for factor in self._factors:
            C = factor @ C
        return C


def scaled(pixels: Any) -> Array:
    """Bytes as numbers between −1 and 1."""
    if np.asarray(pixels).dtype != np.uint8:
        raise ProblemError("pixels are bytes")
    return (2 * pixels.astype(np.float64) - 255) / 255


def rows_of(problem: Problem) -> _Rows:
    """The rows of a problem with bytes; equal ones are taken together."""
    X, y = np.asarray(problem.X), np.asarray(problem.y)
    keyed = np.column_stack([X, (y > 0).astype(np.uint8)])
    _, first, times = np.unique(keyed, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return _Rows(X[first[order]], y[first[order]], times[order])


def _lockstep(
    rows: _Rows, methods: list[Method]
) -> Iterator[tuple[int, Array, Array, Array, Array]]:
    """t, scores and coefficients of w_t, and those of the step from it: a column for a method."""
    scores = sums = np.zeros((len(rows.times), len(methods)))
    for t in count():
        pairs = zip(methods, scores.T, strict=True)
        C = np.stack([method.weights(t, s, rows.times) for method, s in pairs], axis=1)
        change = rows.products(C)
        yield t, scores, sums, C, change
        scores, sums = scores + change, sums + C


def _accuracy(rows: _Rows, scores: Array) -> Array:
    return np.asarray(1 - rows.times @ (scores <= 0) / rows.n)


def curves(rows: _Rows, methods: list[Method], times: list[int]) -> dict[str, dict[str, Any]]:
    """What methods do up to the last of some times, and in detail then, by their names.

    For LR+GD also ‖∇f(w_t)‖ and the distance ‖w_t/γ − v_t‖/‖v_t‖ to the iterate v_t of Batch
    Perceptron, which runs beside it.
    """
    losses, right = [], []
    slopes, apart = [], []
    batch = [method.kind for method in methods].index("batch-perceptron")
    steps = np.array([method.step for method in methods])
    for t, scores, sums, C, change in islice(_lockstep(rows, methods), max(times) + 1):
        losses.append(rows.times @ np.logaddexp(0, -scores) / rows.n)
        right.append(_accuracy(rows, scores))
        if t in times:
            slopes.append(_root((C * change).sum(axis=0)) / steps)
            by, far = (v / steps - v[:, [batch]] for v in (sums, scores))
            length = sums[:, batch] @ scores[:, batch]
            apart += [_root((by * far).sum(axis=0) / length)] if t else []
    found = {}
    for j, method in enumerate(methods):
        loss, accuracy, slope, far = (np.array(v)[:, j] for v in (losses, right, slopes, apart))
        found[str(method)] = _course(loss, accuracy, times)
        if method.kind == "lr-gd":
            found[str(method)] |= {"gradient": slope.tolist(), "apart": far.tolist()}
    return found


def _root(squares: Array) -> Array:
    return np.sqrt(np.maximum(squares, 0.0))


def _course(loss: Array, accuracy: Array, times: list[int]) -> dict[str, Any]:
    """Accuracy and loss at some times; the first t at which the data are separated; and until then,
    how often the loss rose, and the highest loss after w_0."""
    solved = np.flatnonzero(accuracy == 1)
    first = int(solved[0]) if solved.size else None
    until = loss[: None if first is None else first + 1]
    return {
        "t": times,
        "accuracy": accuracy[times].tolist(),
        "loss": loss[times].tolist(),
        "first": first,
        "rises": int((np.diff(until) > 0).sum()),
        "highest": float(until[1:].max(initial=0.0)),
    }


def counts(rows: _Rows, methods: list[Method], most: int) -> list[int]:
    """Iterations that methods need to separate the data; `most` + 1 for more."""
    first = np.full(len(methods), most + 1)
    for t, scores, *_ in islice(_lockstep(rows, methods), most + 1):
        first[(_accuracy(rows, scores) == 1) & (first > most)] = t
        if (first <= most).all():
            break
    return first.tolist()


# Subsamples

#: "we vary the step size from 0.001 to 100" (Section 3).
STEPS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
LR_GD = tuple(Method("lr-gd", step) for step in STEPS)
BATCH, NORMALISED = Method("batch-perceptron"), Method("normalized-batch-perceptron")
#: Seconds for the exact margin of a subsample; then what is proved so far counts.
_LIMIT = 900
_NAMES = {"cifar": "CIFAR-10", "fashion": "FashionMNIST", "eurosat": "EuroSAT", "mnist": "MNIST"}
_CLASSES = {"cifar": "0,1", "fashion": "0,4", "eurosat": "0,1", "mnist": "7,8"}


class Sample(NamedTuple):
    """A subsample of a data set: its size (0 for a tenth of all points, those of one class ten
    times each), and how many iterations are run."""

    dataset: str
    size: int
    last: int

    def spec(self, quick: bool, seed: int = 0) -> str:
        """As ``gammabar`` takes it; with `quick`, a few embedded digits."""
        chosen = f"n={self.size}" if self.size else "keep=0.1,repeat=10"
        if quick:
            chosen = "n=200" if self.size else "keep=0.15,repeat=10"
            return f"mnist-sample:7,8:{chosen},seed={seed}"
        return f"{self.dataset}:{_CLASSES[self.dataset]}:{chosen},seed={seed}"

    def name(self) -> str:
        """For people."""
        return f"{_NAMES[self.dataset]}, " + (
            f"{self.size:,} samples" if self.size else "imbalanced"
        )

    def run(self, quick: bool) -> tuple[str, Callable[[], Any]]:
        """The part with LR+GD of every step beside both batch perceptrons, by its name."""
        spec, last = self.spec(quick), min(self.last, 150) if quick else self.last
        return f"LR+GD and perceptrons, {spec}, t ≤ {last}", partial(_curves, spec, last)

    def truth(self, quick: bool) -> tuple[str, Callable[[], Any]]:
        """The part with the exact margin, or the proof that there is none."""
        spec = self.spec(quick)
        return f"γ̄ of {spec}, pixels in [−1, 1], within {_LIMIT} s", partial(_truth, spec)


def _curves(spec: str, last: int) -> dict[str, Any]:
    rows = rows_of(load(spec))
    methods = [*LR_GD, BATCH, NORMALISED]
    return {"n": rows.n, "last": last, "courses": curves(rows, methods, logarithmic(last, 60))}


def _truth(spec: str) -> dict[str, Any]:
    """Separable or not, and γ̄ in the unit ball (rows divided by the longest)."""
    from gammabar.oracle import solve

    problem: Any = load(spec)
    whole = 2 * np.asarray(problem.X).astype(np.int16) - 255  # integers: pixels times 255
    found = solve(from_arrays(whole, problem.y), time_limit=_LIMIT)
    names = ("separable", "gamma", "gamma_lo", "gamma_hi", "exact")
    return {name: getattr(found, name) for name in names}


# Table 1

Table = dict[tuple[str, float], int]


def sizes_that_fit(table: Table, largest: int) -> dict[str, Any]:
    """Every n ≤ `largest` for which all methods need the printed numbers of iterations.

    On the data of Theorem 5.1 there are two rows that differ, (½, −1) once and (½, 1) n − 1 times,
    so that all n are run side by side with two scores each.
    """
    n = np.arange(2, largest + 1, dtype=np.float64)
    fits, each = np.ones(len(n), dtype=bool), {}
    for (kind, step), printed in table.items():
        same = _first(Method(kind, step), n, printed + 1) == printed
        if same.any():
            each[f"{kind}:step={step:g}"] = [int(n[same][0]), int(n[same][-1])]
        fits &= same
    return {"largest": largest, "n": [int(v) for v in n[fits]], "each": each}


def _first(method: Method, n: Any, most: int) -> Any:
    """The first t ≤ most with both scores positive, for each n; most + 1 if there is none."""
    gram = np.array([[1.25, -0.75], [-0.75, 1.25]])
    times, scores = np.stack([np.ones(len(n)), n - 1]), np.zeros((2, len(n)))
    first = np.full(len(n), most + 1)
    for t in range(most + 1):
        first[(scores.min(axis=0) > 0) & (first > most)] = t
        scores = scores + gram @ method.weights(t, scores, times)
    return first


def subsample(spec: str, table: Table, most: int) -> list[int]:
    """Iterations that the methods of a part of the table need on a subsample, in its order."""
    return counts(rows_of(load(spec)), [Method(kind, step) for kind, step in table], most)
