"""Iterates as bytes, from the process of a user's solver to the one that judges them.

A frame is a line of JSON and the entries of the arrays that it speaks of. Nothing in it can do
more than be a number, a text or an array when it is read: the sender is not trusted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np

#: Bytes that one frame may have.
LARGEST = 1 << 30
#: Bits of the largest integer: Python refuses to read much longer ones.
_BITS = 10_000
#: Booleans, integers, floats and complex numbers, as NumPy writes them.
_KIND = re.compile(r"[<>|][biufc][0-9]{1,2}")


class NoFrame(Exception):
    """What came is none."""


class Untold:
    """Stands for a value that cannot be sent."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"a {self.kind}"


def encode(message: dict[str, Any]) -> bytes:
    """A message as bytes."""
    arrays: list[Any] = []
    body = {name: _pack(value, arrays) for name, value in message.items()}
    shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
    head = json.dumps({"body": body, "arrays": shapes}).encode()
    return b"".join((head, b"\n", *(array.tobytes() for array in arrays)))


def decode(line: bytes, receive: Callable[[int], bytes]) -> dict[str, Any]:
    """A message from its line, and a function that gives the bytes that follow.

    Raises
    ------
    NoFrame
    """
    try:
        head = json.loads(line)
        kinds = [(_kind(kind), tuple(map(index, shape))) for kind, shape in head["arrays"]]
        sizes = [math.prod(shape) * kind.itemsize for kind, shape in kinds]
        fits = all(min(shape, default=0) >= 0 for _, shape in kinds)
        if not fits or sum(sizes) > LARGEST:
            raise NoFrame
        arrays = [
            np.frombuffer(receive(size), dtype=kind).reshape(shape)
            for size, (kind, shape) in zip(sizes, kinds, strict=True)
        ]
        return {str(name): _unpack(value, arrays) for name, value in head["body"].items()}
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise NoFrame from error
    except RecursionError as error:  # brackets in brackets in brackets
        raise NoFrame from error


def _kind(text: str) -> np.dtype[Any]:
    """A kind of numbers; no other text gets to NumPy's parser, which evaluates some of them."""
    if not _KIND.fullmatch(text):
        raise NoFrame
    return np.dtype(text)


def _pack(value: Any, arrays: list[Any], depth: int = 8) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        return _plain(value)
    if isinstance(value, Fraction):
        return {"fraction": [_plain(value.numerator), _plain(value.denominator)]}
    if isinstance(value, list | tuple) and depth:
        return {"list": [_pack(item, arrays, depth - 1) for item in value]}
    if isinstance(value, dict) and depth:
        return {"dict": {str(n): _pack(item, arrays, depth - 1) for n, item in value.items()}}
    if isinstance(value, np.ma.MaskedArray):
        return {"masked": [_array(value.data, arrays), _array(np.ma.getmaskarray(value), arrays)]}
    if hasattr(value, "__array__") and not isinstance(value, type):
        value = np.asarray(value)
        if value.dtype.kind in "biufc":
            return {"array": _array(value, arrays)}
        if depth:
            return _pack(value.tolist(), arrays, depth - 1)
    return {"other": type(value).__name__}


def _plain(value: int | float | str) -> Any:
    """A value without the class of its own that it may have."""
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _BITS else {"other": "int"}
    return float(value) if isinstance(value, float) else str(value)


def _array(value: Any, arrays: list[Any]) -> int:
    arrays.append(np.ascontiguousarray(value).reshape(np.shape(value)))
    return len(arrays) - 1


def _unpack(value: Any, arrays: list[Any]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "array":
        return arrays[index(inner)]
    if kind == "masked":
        data, mask = (arrays[index(place)] for place in inner)
        if data.shape != mask.shape:
            raise NoFrame
        return np.ma.MaskedArray(data, mask)
    if kind == "list":
        return [_unpack(item, arrays) for item in inner]
    if kind == "dict":
        return {str(name): _unpack(item, arrays) for name, item in inner.items()}
    if kind == "fraction":
        numerator, denominator = inner
        return Fraction(index(numerator), index(denominator))
    if kind == "other":
        return Untold(str(inner)[:100])
    raise NoFrame
