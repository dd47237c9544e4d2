"""Stripes of rows for several threads.

How the rows are cut depends on the data alone, never on the number of threads, and partial sums
are added in the order of the stripes: the result is the same on every machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

# Below this many values the time to wake a thread is not won back.
_WORTH_THREADS = 1 << 21
# A stripe is small, for the threads to end together; but it has a sum of its own, as long as w,
# and many rows to put into it.
_STRIPE_VALUES = 1 << 18
_STRIPE_ROWS = 64
_MOST_STRIPES = 64


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
    helpers = [pool().submit(drain) for _ in range(min(threads(), len(parts)) - 1)]
    drain()
    for helper in helpers:
        helper.result()
    return [results[place] for place in range(len(parts))]


@cache
def threads() -> int:
    """Threads to use: the processors this process may run on, or OMP_NUM_THREADS if smaller."""
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    few = re.fullmatch(r"0*([0-9]{1,9})", wanted)
    return max(1, min(available, int(few[1]))) if few else available


@cache
def pool() -> ThreadPoolExecutor:
    """The threads beside the calling one; they live as long as the process."""
    return ThreadPoolExecutor(max_workers=max(1, threads() - 1), thread_name_prefix="gammabar")


# The threads of a pool do not survive a fork: a child makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
