"""Taking over what a solver yields: real numbers, exactly, in memory that it does not have.

A solver may go on with its arrays, and statements look back: so everything is copied when it is
yielded. What is no array of real numbers that doubles hold exactly is refused, for a conversion
would judge something else than was delivered.
"""

from __future__ import annotations

from array import array as buffer
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import islice
from math import isfinite
from numbers import Number
from operator import index
from threading import local
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.problems.validate import rounded

Floats = NDArray[np.float64]
_DOUBLE = np.dtype(np.float64)
#: Every whole number up to this is a double.
_EXACT = 2**53
_NOT_FINITE = "has entries that are no finite numbers"


class Fault(BaseException):
    """Ends a run before its time. No `Exception`, so that no solver can swallow it by accident.

    ``failure`` is what `gammabar.harness.court.verdict.Verdict` says of the solver.
    """

    failure = "crashed"


class NotFinite(Fault):
    """An iterate with entries that are infinite or no numbers."""

    failure = "not finite"


class _Noticed(local):
    """What was noticed of the run that is heard in this thread."""

    narrow = ""


_NOTICED = _Noticed()


def begin_run() -> None:
    """Nothing has been noticed of the run that begins."""
    _NOTICED.narrow = ""


def narrow() -> str:
    """The type of the iterates of this run, if it rounds more than doubles do; "" otherwise.

    What holds of them holds of the numbers that they are. But bounds on the rounding of a right
    run are those of doubles, so nothing refutes such a run.
    """
    return _NOTICED.narrow


def taken_vector(value: Any, name: str) -> Floats:
    """A copy in doubles of what a solver yields as a vector."""
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        return value.copy()
    array = _numbers(value, name)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        _NOTICED.narrow = str(array.dtype)
    return _doubles(array, name)


def claimed(value: Any, name: str) -> Any:
    """A copy of what a solver claims beside w: arrays, also in lists, tuples and dictionaries."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        return value.copy()
    if isinstance(value, np.ndarray):
        array = _numbers(value, name)
        doubles = _doubles(array, name)  # whole numbers stay such: they may be indices
        return doubles if array.dtype.kind == "f" else np.array(array)
    if isinstance(value, Mapping):
        return {key: claimed(one, f"{name}[{key!r}]") for key, one in value.items()}
    if isinstance(value, list | tuple):
        parts = [claimed(one, f"{name}[{k}]") for k, one in enumerate(value)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, complex | np.complexfloating):
        raise Fault(f"{name} is complex")
    if isinstance(value, np.floating):
        return float(_doubles(np.asarray(value), name))
    if isinstance(value, np.integer | np.bool_ | Number | str | bytes):
        return value
    if hasattr(value, "__array__") or isinstance(value, buffer | memoryview | bytearray):
        return claimed(np.asarray(value), name)  # a tensor, or a buffer: the solver's own memory
    try:
        return deepcopy(value)
    except Exception as error:
        raise Fault(
            f"{name} is {type(value).__name__}, which cannot be taken over: {error}"
        ) from None


def finite_square(array: Floats) -> float | None:
    """The sum of the squares of a vector in doubles; None where some entry is not finite."""
    square = float(array.dot(array))
    # A finite sum of squares has finite terms; an infinite one may have them, too.
    return square if isfinite(square) or np.isfinite(array).all() else None


def claimed_numbers(value: Any, shape: tuple[int, ...]) -> Floats | str:
    """A claim as doubles of this shape, or what keeps it from being that.

    The answer of a text goes on with the name of the claim: "μ_t" + " has shape (3,), not (4,)".
    """
    found = _shaped(value, shape)
    return found if isinstance(found, str) or np.isfinite(found).all() else _NOT_FINITE


def claimed_entries(value: Any, size: int) -> tuple[Floats, float] | str:
    """A claim as a vector of so many doubles with the sum of their squares, or what is wrong."""
    found = _shaped(value, (size,))
    if isinstance(found, str):
        return found
    square = finite_square(found)
    return _NOT_FINITE if square is None else (found, square)


def _shaped(value: Any, shape: tuple[int, ...]) -> Floats | str:
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        array: Floats = value
    else:
        try:
            array = _doubles(_numbers(value, "it"), "it")
        except Fault:
            return "is no array of numbers"
    if array.shape != shape:
        return f"has shape {array.shape}, not {shape}"
    return array


def claimed_number(value: Any) -> float | None:
    """A claim as one number; None if it is none, or not finite."""
    found = None if isinstance(value, bool) else claimed_numbers(value, ())
    return None if found is None or isinstance(found, str) else float(found)


def claimed_row(value: Any, n: int) -> int | None:
    """A claim as the number of a row; None if it is none of 0, …, n − 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(value) if 0 <= value < n else None


def delivered(it: Any) -> SimpleNamespace:
    """An iterate with everything that it carries, taken over: for statements that run a solver."""
    try:
        carried = {**vars(it)}
        t, w = index(carried.pop("t")), carried.pop("w")
    except (TypeError, KeyError):
        raise Fault(f"iterates yields {type(it).__name__}, which has no t and w") from None
    carried.pop("problem", None)  # the court has its own
    taken = {name: claimed(value, f"{name} of t = {t}") for name, value in carried.items()}
    return SimpleNamespace(t=t, w=taken_vector(w, f"w_{t}"), **taken)


def taken_run(iterates: Iterator[Any], length: int) -> list[SimpleNamespace]:
    """So many iterates, taken over one by one."""
    return [delivered(it) for it in islice(iterates, length)]


def _numbers(value: Any, name: str) -> NDArray[Any]:
    """What is given as an array of real numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise Fault(f"{name} is a masked array; yield a plain one, without a mask")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise Fault(f"{name} is no vector of numbers: {error}") from None
    if array.dtype.kind == "c":
        raise Fault(f"{name} is complex")
    if array.dtype.kind not in "biuf":
        raise Fault(f"{name} is no vector of numbers: it has entries of dtype {array.dtype}")
    if not isinstance(value, np.ndarray) and rounded(value, array) is not None:
        raise Fault(f"{name} has whole numbers that are no doubles; yield float64")
    return array


def _doubles(array: NDArray[Any], name: str) -> Floats:
    """Real numbers as doubles, refused where a double does not hold them."""
    with np.errstate(over="ignore"):
        doubles = np.array(array, dtype=np.float64)
    if array.dtype.kind in "iu":
        beyond = (array > _EXACT) | (array < -_EXACT) if array.dtype.itemsize == 8 else False
        wrong = np.any(beyond) and any(
            int(d) != int(v) for d, v in zip(doubles.ravel().tolist(), array.ravel(), strict=True)
        )
    else:
        wrong = array.dtype.itemsize > 8 and bool(np.any((doubles != array) & ~np.isnan(array)))
    if wrong:
        raise Fault(f"{name} has {array.dtype} numbers that are no doubles; yield float64")
    return doubles
