"""What an iteration costs, against reading the data once and against the obvious NumPy step.

"One read" is the faster of two ways to look at every entry with all threads: summing the words of
the matrix, and one BLAS product with a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from side_by_side.contest import Entry, Field, interleaved, race
from side_by_side.data import MNIST, SAMPLE, available
from side_by_side.table import Table, digits, duration

from gammabar.harness.screen import Stage
from gammabar.problems import DenseProblem, KernelProblem, Problem, SparseProblem, load
from gammabar.problems.environment import peak_memory
from gammabar.problems.kernels import Kernel
from gammabar.problems.points import threads
from gammabar.solvers import AdaptiveSampling, DualAcceleration

TITLE = "The cost of an iteration"
#: A run starts again after so many iterations: later ones may cost less, as weights that underflow
#: are skipped, and the time of an iteration would depend on how many were timed before.
RESTART = 20

Array = NDArray[Any]


def measure(quick: bool, say: Stage, *, repeat: int = 9) -> list[dict[str, Any]]:
    """Every comparison; `quick` uses embedded data and smaller sizes."""
    name = SAMPLE if quick else available(MNIST, otherwise=(SAMPLE,))[0]
    say(f"iterations on {name}")
    results = [dense(name, load(name), repeat)]
    n = 20_000 if quick else 200_000
    say(f"iterations on {n:,} generated rows")
    results.append(dense("generated", _bytes(n), repeat))
    say("iterations on sparse data")
    results.append(sparse(20_000 if quick else 200_000, repeat))
    say("iterations in a kernel space")
    results.append(kernel(2_000 if quick else 20_000, repeat))
    say("memory of iterations")
    results.append(memory(5_000 if quick else 20_000, 1000, say))
    return results


def _bytes(n: int) -> DenseProblem:
    X = np.random.default_rng(0).integers(0, 256, (n, 784), dtype=np.uint8)
    return DenseProblem(X, np.where(X[:, 0] > 127, 1, -1))


def stepper(problem: Problem) -> Callable[[], Any]:
    """One iteration of Algorithm 1 a call, for ever."""

    def steps() -> Iterator[Any]:
        while True:
            run = DualAcceleration().iterates(problem.unit())
            next(run)  # the first step of a run is taken together with the start
            yield from islice(run, RESTART)

    endless = steps()
    next(endless)
    return lambda: next(endless)


def one_read(X: Array) -> Callable[[], Any]:
    """Touch every byte of a matrix once, with all threads."""
    words = X.reshape(-1).view(np.uint8)
    words = words[: len(words) // 8 * 8].view(np.int64)
    parts = np.array_split(words, threads())
    pool = ThreadPoolExecutor(threads())
    return lambda: list(pool.map(np.add.reduce, parts))


def numpy_step(A: Array) -> Callable[[], Any]:
    """The step as one would write it: scores, softmax, Aᵀq, on a float64 matrix."""
    w = np.zeros(A.shape[1])

    def step() -> Array:
        scores = A @ w
        q = np.exp(scores.min() - scores)
        return np.asarray(A.T @ (q / q.sum()))

    return step


def dense(name: str, problem: Problem, repeat: int) -> dict[str, Any]:
    """Ratios for a dense problem in its own dtype and in float64 and float32."""
    X = np.asarray(problem.X)
    double, single = X.astype(np.float64), X.astype(np.float32)
    w = np.ones(X.shape[1])
    w32 = w.astype(np.float32)
    middle = interleaved(
        {
            "read": one_read(double),
            "product": lambda: double @ w,
            "read32": one_read(single),
            "product32": lambda: single @ w32,
            "numpy": numpy_step(double * problem.y[:, None]),
            "float64": stepper(DenseProblem(double, problem.y)),
            "float32": stepper(DenseProblem(single, problem.y)),
            "native": stepper(problem),
        },
        repeat,
    )
    read, read32 = (
        min(middle["read"], middle["product"]),
        min(middle["read32"], middle["product32"]),
    )
    title = f"{name}: Algorithm 1 on {X.shape[0]:,} × {X.shape[1]:,}"
    ratios = {
        "float64 iteration / one read": middle["float64"] / read,
        "float32 iteration / one read": middle["float32"] / read32,
        "NumPy step / float64 iteration": middle["numpy"] / middle["float64"],
        "NumPy step / float32 iteration": middle["numpy"] / middle["float32"],
    }
    if X.dtype not in (np.float64, np.float32):
        ratios[f"NumPy step / {X.dtype} iteration"] = middle["numpy"] / middle["native"]
    return {
        "title": title,
        "data": name,
        "seconds": middle["float64"],
        "times": middle,
        "ratios": ratios,
    }


def sparse(n: int, repeat: int) -> dict[str, Any]:
    """CSR against one scipy product with the same matrix."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(n, 5000, density=0.01, format="csr", random_state=rng)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    w = np.zeros(5000)
    middle = interleaved({"scipy": lambda: X @ w, "step": stepper(SparseProblem(X, y))}, repeat)
    return {
        "title": f"CSR: Algorithm 1 on {n:,} × 5,000 with {X.nnz:,} entries",
        "data": "sparse",
        "seconds": middle["step"],
        "times": middle,
        "ratios": {"iteration / one scipy product": middle["step"] / middle["scipy"]},
    }


def kernel(n: int, repeat: int) -> dict[str, Any]:
    """Algorithm 2 on an RBF kernel against one kernel row of scikit-learn."""
    from sklearn.metrics.pairwise import pairwise_kernels

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50))
    y = np.where(X[:, 0] > 0, 1, -1)
    problem = KernelProblem(X, y, Kernel.parse("rbf:gamma=0.02"))
    run = AdaptiveSampling().iterates(problem, np.random.default_rng(1))
    for _ in islice(run, 3):
        pass
    middle = interleaved(
        {
            "row": lambda: pairwise_kernels(X[:1], X, metric="rbf", gamma=0.02),
            "step": lambda: next(run),
        },
        3 * repeat,
    )
    return {
        "title": f"RBF kernel: Algorithm 2 on n = {n:,}",
        "data": "kernel",
        "seconds": middle["step"],
        "times": middle,
        "ratios": {"iteration / one row of pairwise_kernels": middle["step"] / middle["row"]},
    }


def memory(n: int, iterations: int, say: Stage) -> dict[str, Any]:
    """Peak memory of many iterations beyond the data, in a process of its own."""
    _, (score,) = race(_memory, n, iterations, repeat=1, limit=600, say=say)
    row = score.as_dict()
    return {
        "title": f"Memory of {iterations:,} iterations on {n:,} × 784",
        "data": "memory",
        "seconds": None,
        "failure": row["failure"],
        "ratios": {} if row["failure"] else {"extra peak memory / data": row["extra"]},
    }


def _memory(n: int, iterations: int) -> Field:
    X = np.random.default_rng(0).standard_normal((n, 784))
    run = DualAcceleration().iterates(DenseProblem(X, np.where(X[:, 0] > 0, 1, -1)).unit())
    next(run)
    before = peak_memory()

    def go() -> None:
        for _ in islice(run, iterations):
            pass

    def judge(_: object) -> dict[str, Any]:
        return {"extra": (peak_memory() - before) / X.nbytes}

    return Field([Entry("Algorithm 1", go, judge)], {})


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table: a row for every ratio."""
    rows = []
    for result in results:
        took = duration(result["seconds"])
        if result.get("failure"):
            rows.append((result["title"], f"**fails**: {result['failure']}", "", took))
        for name, value in result["ratios"].items():
            rows.append((result["title"], name, digits(value), took))
    return [Table("Iterations", ("on", "what", "ratio", "an iteration takes"), rows)]
