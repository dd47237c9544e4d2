"""Passes over the data in compiled code, for integer, single-precision and sparse points.

No float64 copy of the data is made: values become doubles one by one, in registers, and sums are
taken in doubles.

=================  =============================================================================
`jit`              how a function is compiled, and when compiled code on disk is out of date
`dense`, `sparse`  products with the rows of a matrix, and `softmin` over a stripe of them
`softmax`          what the two share: running minimum, weights, and putting stripes together
`instructions`     written in the terms of LLVM: vectors, prefetching, atomic operations
`plain`            the vectors of `instructions` as ordinary loops
`team`             the threads of a pass and how they share it
`sums`             sums of a few multiples of vectors, for the court
=================  =============================================================================

**Two ways, one result.** With `GAMMABAR_PLAIN=1` in the environment, or where `instructions`
cannot be imported, nothing but ordinary Numba is used: no vectors by hand, no prefetching, and
threads that Python starts and joins instead of a `team`. Every sum of `softmin` has its order
written down and is compiled without leave to change it, so the two ways agree to the last bit.
(`dense.dot` and `dense.add`, whose order the compiler chooses, are the same code in both.)

This package imports nothing heavy; its modules import Numba, which takes a moment: import them
only when there are such data.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Literal

VARIABLE = "GAMMABAR_PLAIN"


def plain_way() -> Literal[True] | None:
    """True for ordinary loops, None for those with instructions written by hand.

    Two values of different types, because Numba compiles a function for every combination of
    types and drops the branch that a None rules out: neither version contains the other.
    """
    if os.environ.get(VARIABLE, "") not in ("", "0") or not _has_instructions():
        return True
    return None


@cache
def _has_instructions() -> bool:
    try:
        from gammabar.problems.compiled import instructions  # noqa: F401
    except ImportError:
        return False
    return True
