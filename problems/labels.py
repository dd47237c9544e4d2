"""How labels are written, whatever they were read from, and the classes they name."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MISSING = {"", "nan"}


def label_text(label: object) -> str:
    """The text of a label: "1" for 1, 1.0, True, "+1" and " 1 "; "0.5"; or the stripped text."""
    if isinstance(label, bytes):
        label = label.decode(errors="replace")
    text = str(int(label)) if isinstance(label, (bool, np.bool_)) else str(label).strip()
    if len(text) <= 300 and _INTEGER.fullmatch(text):
        return str(int(text))
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def is_missing(text: str) -> bool:
    """Whether the text stands for no label at all: nothing, or not a number."""
    return text.strip().lower() in _MISSING


def order_classes(texts: set[str]) -> tuple[str, ...]:
    """Label texts in the order of the classes: as numbers if all are numbers, else as texts."""
    numbers = {text: _number(text) for text in texts}
    if any(number is None for number in numbers.values()):
        return tuple(sorted(texts))
    return tuple(sorted(texts, key=lambda text: numbers[text] or 0))


def encode_labels(y: Any, n: int) -> tuple[Array, tuple[str, ...]]:
    """The index of the class of each of n labels, and the texts of the classes in order."""
    if y is None:
        raise ProblemError("y is missing; give one label for each row of X")
    try:
        values = np.asarray(y)
    except (ValueError, TypeError):
        raise ProblemError("y is ragged; give one label for each row of X") from None
    if values.ndim != 1:
        hint = "; use y.ravel()" if values.size == n else ""
        raise ProblemError(f"y must be one-dimensional, not of shape {values.shape}{hint}")
    if len(values) != n:
        raise ProblemError(f"y has {len(values)} labels but X has {n} rows; give one label per row")
    if values.dtype.kind == "O":
        texts = [_text(label, i) for i, label in enumerate(values)]
    else:
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        # Complaints come in the order of the rows, names in the order of the distinct values.
        named = {place: _text(values[place], place) for place in np.sort(first).tolist()}
        names = [named[place] for place in first.tolist()]
        texts = [names[i] for i in inverse.tolist()]
    classes = order_classes(set(texts))
    index = {text: i for i, text in enumerate(classes)}
    return np.array([index[text] for text in texts], dtype=np.int64), classes


def _text(label: Any, row: int) -> str:
    """The text of the label of a row, which must be a finite number or a text."""
    if isinstance(label, (float, np.floating)):
        if math.isfinite(label):
            return label_text(float(label))
    elif isinstance(label, (bool, np.bool_, int, np.integer)):
        return label_text(int(label))
    elif isinstance(label, (str, bytes)) and label.strip():
        return label_text(label)
    shown = label.item() if isinstance(label, np.generic) else label
    raise ProblemError(f"y has {shown!r} in row {row}, which is no label; use numbers or texts")


def _number(text: str) -> int | float | None:
    """The number that a label text is, exactly, or None."""
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and label_text(number) == text else None
