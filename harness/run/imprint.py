"""Hashes of the arrays of a problem, to see whether somebody has written into them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gammabar.problems import Problem

Imprint = dict[str, str]
#: How deep arrays may be inside a problem: problem → points → matrix → data.
_DEPTH = 4


def imprint(problem: Problem) -> Imprint:
    """Hashes of all arrays that a problem has now, by where they are."""
    return {place: _hash(array) for place, array in _arrays(problem, "", _DEPTH)}


def changed(problem: Problem, before: Imprint) -> bool:
    """Whether one of the arrays is another now; what was computed since does not count."""
    now = imprint(problem)
    return any(now.get(place) != digest for place, digest in before.items())


def _arrays(thing: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, np.ndarray):
        yield place, thing
    elif depth and hasattr(thing, "__dict__"):
        for name, value in vars(thing).items():
            yield from _arrays(value, f"{place}.{name}", depth - 1)


def _hash(array: Any) -> str:
    digest = hashlib.blake2b(f"{array.dtype.str} {array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
