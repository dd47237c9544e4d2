"""Random draws that are the same on every machine and for every version of NumPy.

The streams of NumPy's *bit generators* are guaranteed not to change; those of the distributions
on top of them are not. So everything here is integer arithmetic on the raw output of PCG64.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt
from numpy.random import PCG64

Integers = npt.NDArray[np.int64]


class Draws:
    """A stream of random integers, determined by its seed."""

    def __init__(self, seed: int) -> None:
        self._bits = PCG64(seed)

    def integers(self, low: int, high: int, shape: int | tuple[int, ...]) -> Integers:
        """Integers from low to high, both included (a range of at most 2**32).

        The upper 32 bits of each output are scaled down; the bias, below (high - low) / 2**32, is
        of no concern for test data.
        """
        if not 0 <= high - low < 2**32:  # the product below is then less than 2^64
            raise ValueError(f"draws are from a range of at most 2^32, not {low} to {high}")
        size = prod(shape) if isinstance(shape, tuple) else shape
        raw = self._bits.random_raw(size) >> np.uint64(32)
        scaled = raw * np.uint64(high - low + 1) >> np.uint64(32)
        return (scaled.astype(np.int64) + low).reshape(shape)

    def signs(self, size: int) -> Integers:
        """-1 or 1, each as likely."""
        return 2 * self.integers(0, 1, size) - 1

    def permutation(self, size: int) -> Integers:
        """The numbers from 0 to size - 1 in random order."""
        return np.argsort(self._bits.random_raw(size), kind="stable").astype(np.int64)

    def sample(self, population: int, size: int) -> Integers:
        """`size` different numbers below `population`, ascending."""
        return np.sort(self.permutation(population)[:size])

    def bell(self, shape: tuple[int, ...], bits: int) -> Integers:
        """Nearly standard normal numbers times 2**bits: sums of twelve uniform ones (Irwin-Hall).

        Mean zero, variance one (nearly) and no value beyond six: no logarithm or cosine,
        whose last digit differs between machines, is needed.
        """
        total = np.zeros(shape, dtype=np.int64)
        for _ in range(12):
            total += self.integers(-(1 << bits - 1), 1 << bits - 1, shape)
        return total
