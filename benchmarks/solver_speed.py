"""What an iteration costs, against reading the data once and against the obvious NumPy step.

    python benchmarks/solver_speed.py [--quick] [--repeat 7] [--json FILE]

All contestants of a problem are interleaved in one run and the best of several rounds counts, so
that the ratios mean something on a shared machine. "One read" is the faster of two ways to look at
every entry with all threads: summing the words of the matrix, and one BLAS product with a vector.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from time import perf_counter, sleep
from typing import Any

import numpy as np
import scipy.sparse

from problems import DenseProblem, KernelProblem, Problem, SparseProblem, load
from problems._stripes import threads
from problems.kernels import Kernel
from solvers import AdaptiveSampling, DualAcceleration


def interleaved(work: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Best time of each piece of work, taken in turns of a few runs each.

    Threads of a BLAS spin for a while after a product; the pause lets them go to sleep, lest a
    contestant shares its cores with the leftovers of the one before. The first run of a turn
    wakes threads up; the others are the steady state that iterations are in.
    """
    best = dict.fromkeys(work, float("inf"))
    for _ in range(repeat):
        for name, run in work.items():
            sleep(0.2)
            for _ in range(5):
                start = perf_counter()
                run()
                best[name] = min(best[name], perf_counter() - start)
    return best


def one_read(X: np.ndarray) -> Callable[[], Any]:
    """Touch every byte of a matrix once, with all threads."""
    words = X.reshape(-1).view(np.uint8)
    words = words[: len(words) // 8 * 8].view(np.float64)
    parts = np.array_split(words, threads())
    pool = ThreadPoolExecutor(threads())

    def read() -> list[float]:
        return list(pool.map(lambda part: float(np.add.reduce(part.view(np.int64))), parts))

    return read


def numpy_two_passes(A: np.ndarray) -> Callable[[], Any]:
    """The step as one would write it: scores, softmax, Aᵀq, on a float64 matrix."""
    w = np.zeros(A.shape[1])

    def step() -> np.ndarray:
        scores = A @ w
        q = np.exp(scores.min() - scores)
        return A.T @ (q / q.sum())

    return step


def iterations(problem: Problem, count: int) -> Callable[[], Any]:
    """So many steps of Algorithm 1, from where the last call stopped."""
    run = DualAcceleration().iterates(problem.unit())
    next(run)
    return lambda: [next(run) for _ in range(count)][-1]


def dense(name: str, problem: DenseProblem, repeat: int) -> dict[str, float]:
    """Ratios for a dense problem in its own dtype and in float64 and float32."""
    X = np.asarray(problem.X)
    floats = X.astype(np.float64)
    A = floats * problem.y[:, None]
    single = X.astype(np.float32)
    w = np.ones(X.shape[1])
    w32 = w.astype(np.float32)
    best = interleaved(
        {
            "read": one_read(floats),
            "product": lambda: floats @ w,
            "read32": one_read(single),
            "product32": lambda: single @ w32,
            "numpy": numpy_two_passes(A),
            "float64": iterations(DenseProblem(floats, problem.y), 1),
            "float32": iterations(DenseProblem(single, problem.y), 1),
            "native": iterations(problem, 1),
        },
        repeat,
    )
    read, read32 = min(best["read"], best["product"]), min(best["read32"], best["product32"])
    ratios = {
        "float64 iteration / one read": best["float64"] / read,
        "float32 iteration / one read": best["float32"] / read32,
        "NumPy step / float64 iteration": best["numpy"] / best["float64"],
        f"NumPy step / {X.dtype} iteration": best["numpy"] / best["native"],
        "seconds per float64 iteration": best["float64"],
    }
    return report(f"{name}: Algorithm 1, {X.shape[0]:,} × {X.shape[1]}", ratios)


def growth(repeat: int, sizes: tuple[int, ...], d: int = 50) -> dict[str, float]:
    """Time per row as n grows: constant when the time is linear."""
    rng = np.random.default_rng(0)
    out = {}
    for n in sizes:
        X = rng.standard_normal((n, d))
        problem = DenseProblem(X, np.where(X[:, 0] > 0, 1, -1))
        best = interleaved({"step": iterations(problem, 1)}, repeat)["step"]
        out[f"n = {n:,}: nanoseconds per row"] = best / n * 1e9
    return report(f"growth with n, d = {d}", out)


def sparse(repeat: int, n: int) -> dict[str, float]:
    """CSR against one scipy product with the same matrix."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(n, 5000, density=0.01, format="csr", random_state=rng)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    w = np.zeros(5000)
    best = interleaved({"scipy": lambda: X @ w, "step": iterations(SparseProblem(X, y), 1)}, repeat)
    return report(
        f"CSR, {n:,} × 5,000, {X.nnz:,} entries",
        {"iteration / one scipy product": best["step"] / best["scipy"]},
    )


def kernel(repeat: int, n: int) -> dict[str, float]:
    """Algorithm 2 on an RBF kernel against one kernel row of scikit-learn."""
    from sklearn.metrics.pairwise import pairwise_kernels

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50))
    y = np.where(X[:, 0] > 0, 1, -1)
    problem = KernelProblem(X, y, Kernel.parse("rbf:gamma=0.02"))
    run = AdaptiveSampling().iterates(problem, np.random.default_rng(1))
    list(islice(run, 3))
    best = interleaved(
        {
            "row": lambda: pairwise_kernels(X[:1], X, metric="rbf", gamma=0.02),
            "step": lambda: next(run),
        },
        10 * repeat,
    )
    return report(
        f"Algorithm 2, RBF kernel, n = {n:,}",
        {"iteration / one row of pairwise_kernels": best["step"] / best["row"]},
    )


def memory(n: int) -> dict[str, float]:
    """Peak memory of a thousand iterations, in multiples of the data (in a child process)."""
    child = os.fork()
    if child == 0:
        X = np.random.default_rng(0).standard_normal((n, 784))
        problem = DenseProblem(X, np.where(X[:, 0] > 0, 1, -1))
        run = DualAcceleration().iterates(problem.unit())
        next(run)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in islice(run, 1000):
            pass
        extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        print(f"  {'extra peak memory / data':<42}{extra / X.nbytes:>8.3f}", flush=True)
        os._exit(int(extra > 0.1 * X.nbytes))
    _, status = os.waitpid(child, 0)
    return {"within 1.1 times the data": float(status == 0)}


def report(title: str, ratios: dict[str, float]) -> dict[str, float]:
    """Print one group of figures."""
    print(f"\n{title}")
    for name, value in ratios.items():
        print(f"  {name:<42}{value:>8.3g}")
    return ratios


def main() -> None:
    """Run every comparison; --quick uses embedded data and smaller sizes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="embedded data, smaller sizes")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    quick, repeat = options.quick, options.repeat
    figures = {}
    name = "mnist-sample:0,1" if quick else "mnist:0,1"
    figures[name] = dense(name, load(name), repeat)  # type: ignore[arg-type]
    n = 20_000 if quick else 200_000
    X = np.random.default_rng(0).integers(0, 256, (n, 784), dtype=np.uint8)
    generated = DenseProblem(X, np.where(X[:, 0] > 127, 1, -1))
    figures["generated"] = dense("generated", generated, repeat)
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    figures["growth"] = growth(repeat, sizes)
    figures["sparse"] = sparse(repeat, 20_000 if quick else 200_000)
    figures["kernel"] = kernel(repeat, 2_000 if quick else 20_000)
    print("\nmemory of 1,000 iterations")
    figures["memory"] = memory(5_000 if quick else 20_000)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(figures, stream, indent=1)


if __name__ == "__main__":
    main()
