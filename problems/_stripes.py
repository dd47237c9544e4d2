"""Stripes of rows for several threads.

How the rows are cut depends on the data alone, never on the number of threads, and partial sums
are added in the order of the stripes: the result is the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from time import sleep
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Work: TypeAlias = Callable[..., tuple[int, float, float]]

# Below this many values the time to wake a thread is not won back.
_WORTH_THREADS = 1 << 21
# A stripe is small, for the threads to end together; but it has a sum of its own, as long as w,
# and many rows to put into it.
_STRIPE_VALUES = 1 << 18
_STRIPE_ROWS = 64
_MOST_STRIPES = 64

# A helper looks for work about a millisecond long before it goes to sleep: iterations follow one
# another faster than that, and to wake a thread takes a good part of an iteration.
_HELPER_LOOKS = 1 << 21


def stripes(n: int, values: int, width: int) -> list[tuple[int, int]]:
    """Cut n rows of a matrix with so many values and columns into stripes (lo, hi)."""
    count = 1
    if values >= _WORTH_THREADS:
        count = min(_MOST_STRIPES, n, values // _STRIPE_VALUES, values // (_STRIPE_ROWS * width))
    cuts = [n * s // max(1, count) for s in range(max(1, count) + 1)]
    return list(pairwise(cuts))


def run(work: Callable[[int, int], T], parts: list[tuple[int, int]]) -> list[T]:
    """work(lo, hi) for every stripe, in threads where there are several; results in order."""
    if len(parts) == 1 or threads() == 1:
        return [work(lo, hi) for lo, hi in parts]
    results: dict[int, T] = {}
    todo = iter(enumerate(parts))

    def drain() -> None:
        for place, (lo, hi) in todo:  # shared: each thread takes the next stripe
            results[place] = work(lo, hi)

    # The calling thread works too: waking one thread fewer matters when a pass takes milliseconds.
    helpers = [_pool().submit(drain) for _ in range(min(threads(), len(parts)) - 1)]
    drain()
    for helper in helpers:
        helper.result()
    return [results[place] for place in range(len(parts))]


class Team:
    """Threads that do one pass after another over the same stripes, in compiled code.

    Between passes the helpers stay in the compiled loop for a moment and look for stripes, so a
    pass that follows soon neither wakes a thread nor waits for the interpreter lock. One pass at a
    time.

    Parameters
    ----------
    work : callable
        work(control, role, number, *rest) is `_kernels.dense_team` or `sparse_team`.
    count : int
        How many stripes there are.
    rest : tuple
        What a helper needs.

    Attributes
    ----------
    whole : bool
        False after a pass that was interrupted: a helper may still be at work, so no other pass
        may follow.
    """

    def __init__(self, work: Work, count: int, rest: tuple[Any, ...]) -> None:
        from gammabar.problems import _kernels

        self.whole = True
        self._work, self._rest = work, rest
        self._control, self._join = _kernels.control_block(count), _kernels.join
        self._post, self._open = _kernels.POST, _kernels.OPEN
        self._go_on, self._aid = _kernels.GO_ON, _kernels.HELP
        self._helpers = min(threads(), count) - 1

    def run(self, meanwhile: Callable[[], None] | None, *args: Any) -> tuple[float, float]:
        """Do every stripe once; the two numbers that `work` found, which gets these arguments.

        With `meanwhile` the helpers begin alone, while this thread does that.
        """
        self.whole = False
        control, helpers = self._control, self._helpers
        role = self._post if meanwhile is None else self._open
        missing, smallest, logsumexp = self._work(control, role, helpers, *args)
        while missing or meanwhile is not None:
            for _ in range(missing):
                self._join(control)
                _pool().submit(self._work, control, self._aid, _HELPER_LOOKS, *self._rest)
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            elif missing < 0:
                sleep(1e-4)  # the processor may be needed by the helper
            missing, smallest, logsumexp = self._work(control, self._go_on, helpers, *args)
        self.whole = True
        return smallest, logsumexp


@cache
def threads() -> int:
    """Threads to use: the processors this process may run on, or OMP_NUM_THREADS if smaller."""
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(available, int(wanted))) if wanted.isdecimal() else available


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(1, threads() - 1), thread_name_prefix="gammabar")


# The threads of a pool do not survive a fork: a child makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
