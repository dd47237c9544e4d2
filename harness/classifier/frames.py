"""What is wrong with a DataFrame, by the names of its columns: one sentence instead of a riddle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def named_faults(X: Any, y: Any = None) -> Iterator[None]:
    """Where something fails because of a value in a DataFrame, or of a missing label, say where."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words = _points(X) or _labels(y)
        if words is None:
            raise
        raise ValueError(words) from error


def _points(X: Any) -> str | None:
    """The first value of a pandas DataFrame that is missing, infinite or no number."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return None
    for k, name in enumerate(X.columns):
        column = X.iloc[:, k]
        row = _first(column.isna())
        if row is not None:
            where = f"column {name!r} has no value in row {row}"
            return f"Input X contains NaN: {where}; fill it, or leave the row out"
        if column.dtype.kind in "mM":
            return f"column {name!r} of X has dates ({column.dtype}), not numbers"
        for row, value in enumerate(column):
            number = _number(value)
            if number is None:
                return f"column {name!r} of X has {value!r} in row {row}, not a number"
            if not math.isfinite(number):
                return f"Input X contains infinity: column {name!r}, row {row}"
    return None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return math.inf


def _labels(y: Any) -> str | None:
    """The first label that is missing."""
    if y is None or getattr(y, "ndim", 1) != 1 or isinstance(y, str):
        return None
    for row, label in enumerate(y):
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")
        if missing or (isinstance(label, float | np.floating) and np.isnan(label)):
            return f"Input y contains NaN: there is no label in row {row}"
    return None


def _first(mask: Any) -> int | None:
    """The place of the first one that is true."""
    found = np.flatnonzero(np.asarray(mask))
    return int(found[0]) if len(found) else None
