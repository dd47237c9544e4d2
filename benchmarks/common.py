"""What the asv suites share.

The suites of this commit also run on older ones, so no name of the project is taken for granted:
`need` finds it or skips the benchmark.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

# asv imports the suites once and forks for every benchmark: what is imported here is paid for once.
for _module in ("numba", "gammabar.oracle.maximum_margin", "gammabar.solvers.ji_srebro_telgarsky"):
    with suppress(ImportError):
        import_module(_module)

#: Fractions of the maximum margin that runs are counted to.
FRACTIONS = (0.9, 0.99, 0.999, 0.9999)
#: A problem and its maximum margin, which is known by construction.
KNOWN, GAMMA = "imbalanced:n=200,d=10,ratio=10,gamma=0.1,seed=0", 0.1
#: Real data on which no method has an easy time, but all end.
REAL = "digits:3,8"
#: No run is longer: what takes more iterations is reported as this many.
MOST = 20_000
#: A stepper starts again after so many iterations.
RESTART = 20


def need(module: str, name: str) -> Any:
    """An attribute of a module of the project; a commit that lacks it skips the benchmark."""
    try:
        return getattr(_module_of(module), name)
    except (ImportError, AttributeError) as error:
        raise NotImplementedError(f"{module}.{name} is not in this commit") from error


def _module_of(name: str) -> Any:
    """A module of the project, which older commits have without the name of the package."""
    try:
        return import_module(f"gammabar.{name}")
    except ModuleNotFoundError:
        return import_module(name)


def use_threads(count: int) -> None:
    """Let passes over the data use so many threads, in commits that can be told."""
    for module in ("problems.points", "problems.stripes", "problems._stripes"):  # now, and before
        with suppress(NotImplementedError):
            need(module, "threads")
            _module_of(module).threads = lambda: count
            return
    raise NotImplementedError("threads cannot be told in this commit")


def dense(n: int, d: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Points on both sides of a hyperplane, with a gap, and their labels."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    side = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += side
    return X.astype(dtype), side


@cache  # asv sets up anew before every sample
def problem_of(geometry: str, n: int, d: int) -> Any:
    """A generated problem of some geometry, with rows of norm at most one."""
    from_arrays = need("problems", "from_arrays")
    X, y = dense(n, d, np.float32 if geometry == "float32" else np.float64)
    if geometry == "sparse":
        import scipy.sparse

        keep = np.random.default_rng(1).random(X.shape) < 0.1
        keep[:, 0] = True
        return from_arrays(scipy.sparse.csr_array(X * keep), y).unit()
    if geometry == "kernel":
        return from_arrays(X, y, kernel="rbf:gamma=0.1").unit()
    if geometry == "multiclass":
        labels = (y > 0) + 2 * (np.arange(n) % 2)
        return from_arrays(X, labels, multiclass=True).unit()
    if geometry == "inseparable":  # a perceptron is never done
        y = np.random.default_rng(2).permutation(y)
    return from_arrays(X, y).unit()


@cache
def loaded(text: str) -> Any:
    """A problem by its name."""
    return need("problems", "load")(text)


def known_problem() -> Any:
    """The problem whose maximum margin is `GAMMA`."""
    return loaded(KNOWN).unit()


def stepper(solver: Any, problem: Any) -> Callable[[], Any]:
    """A function that does one iteration, for ever.

    Later iterations may cost less (weights that underflow are skipped), so the run starts again
    after a few: otherwise the time of an iteration would depend on how many were timed before.
    """

    def run() -> Iterator[Any]:
        while True:
            yield from islice(solver.iterates(problem, np.random.default_rng(0)), RESTART)

    endless = run()
    for _ in islice(endless, 3):
        pass
    return lambda: next(endless)


def iterations_until(solver: Any, problem: Any, goal: Callable[[Any], bool]) -> int:
    """How many iterations a solver needs to reach a goal (`MOST` if more)."""
    t = 0
    for it in islice(solver.iterates(problem, np.random.default_rng(0)), MOST + 1):
        t = it.t
        if goal(it):
            break
    return t


def never(it: object) -> bool:
    """The goal of methods that end by themselves."""
    return False


def within(fraction: float) -> Callable[[Any], bool]:
    """The goal of a margin within a proved gap: the largest one is known."""
    return lambda it: it.margin >= fraction * GAMMA


class Counter:
    """A problem that counts the passes over its data: `problem` is to be given to a solver."""

    def __init__(self, problem: Any) -> None:
        self.passes = 0
        self.problem = copy.copy(problem)
        for name in ("softmin", "scores", "combine"):
            setattr(self.problem, name, self._counted(getattr(problem, name)))

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.passes += 1
            return method(*arguments, **options)

        return call
