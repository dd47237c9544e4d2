"""Hashes of the arrays of a problem, to see whether somebody has written into them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gammabar.problems import Problem, ProblemError

Imprint = dict[str, str]
#: How deep arrays may be inside a problem: problem → points → matrix → data.
_DEPTH = 4
#: The arrays of problems when they were asked about first.
_FIRST: WeakKeyDictionary[Problem, Imprint] = WeakKeyDictionary()


def imprint(problem: Problem) -> Imprint:
    """Hashes of all arrays that a problem has now, by where they are."""
    return {place: _hash(array) for place, array in _arrays(problem, "", _DEPTH)}


def changed(problem: Problem, before: Imprint) -> bool:
    """Whether one of the arrays is another now; what was computed since does not count."""
    now = imprint(problem)
    return any(now.get(place) != digest for place, digest in before.items())


def same_as_ever(problem: Problem, now: Imprint) -> None:
    """Refuse a problem whose arrays are not those that it had when it was asked about first.

    Radius, norms and digest are kept from then; whoever still owns the arrays can change them.
    """
    first = _FIRST.setdefault(problem, now)
    if any(place in now and now[place] != digest for place, digest in first.items()):
        raise ProblemError(
            "the arrays of this problem have changed since it was made: make the problem anew"
        )


def _arrays(thing: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, np.ndarray):
        if thing.size:  # an empty one stands for what has not been worked out yet
            yield place, thing
    elif depth and hasattr(thing, "__dict__"):
        for name, value in vars(thing).items():
            yield from _arrays(value, f"{place}.{name}", depth - 1)


def _hash(array: Any) -> str:
    digest = hashlib.blake2b(f"{array.dtype.str} {array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
