"""How the functions of this package are compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def _sources() -> str:
    """A sum over the text of every module of this package."""
    texts = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


_SOURCES = _sources()


def _compile(function: F, liberties: set[str]) -> F:
    """Compiled without the interpreter lock; kept on disk until any module here changes.

    Numba keeps code until the file of the function itself changes, but the code also holds what
    is called from other files. So the sum over all of them is added to what it compares; should a
    later Numba keep it elsewhere, nothing is kept on disk.
    """
    made: Any = numba.njit(nogil=True, fastmath=liberties, error_model="numpy")(function)
    made.enable_caching()
    index: Any = getattr(made._cache, "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, _SOURCES)
    else:
        made._cache = numba.core.caching.NullCache()
    return cast(F, made)


def in_order(function: F) -> F:
    """Sums are taken in the order that is written, a product and its sum perhaps in one rounding.

    Also for loops over scattered entries, where vectors that gather are slower than plain loads.
    """
    return _compile(function, {"contract"})


def reordered(function: F) -> F:
    """Sums may be taken in any order, which is what makes them vectors.

    The usual error bounds hold for every order. No other liberty of fast-math is taken, so
    infinities and NaN behave.
    """
    return _compile(function, {"reassoc", "contract"})
