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
from typing import Any, TypeVar

T = TypeVar("T")

# Below this many values the time to wake a thread is not won back.
_STRIPE_VALUES = 1 << 21
_MOST_STRIPES = 16

# A helper looks for work about a millisecond long before it goes to sleep: iterations follow one
# another faster than that, and to wake a thread takes a good part of an iteration.
_HELPER_LOOKS = 1 << 21
_LEADER_LOOKS = 1 << 18


def stripes(n: int, values: int) -> list[tuple[int, int]]:
    """Cut n rows that hold so many values altogether into stripes (lo, hi) worth a thread."""
    count = max(1, min(_MOST_STRIPES, n, values // _STRIPE_VALUES))
    cuts = [n * s // count for s in range(count + 1)]
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
        work(control, looks) takes stripes with `_kernels.take` until there are none.
    count : int
        How many stripes there are.

    Attributes
    ----------
    whole : bool
        False after a pass that was interrupted: a helper may still be at work, so no other pass
        may follow.
    """

    def __init__(self, work: Callable[[Any, int], None], count: int) -> None:
        from problems import _kernels

        self.whole = True
        self._work = work
        self._control = _kernels.control_block(count)
        self._helpers = min(threads(), count) - 1

    def run(self) -> None:
        """Do every stripe once."""
        from problems import _kernels

        self.whole = False
        control = self._control
        for _ in range(_kernels.post(control), self._helpers):
            _kernels.join(control)
            _pool().submit(self._work, control, _HELPER_LOOKS)
        self._work(control, 0)
        while not _kernels.finished(control, _LEADER_LOOKS):
            sleep(1e-4)  # the processor may be needed by the helper
        self.whole = True


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
