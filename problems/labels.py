"""How labels are written, whatever they were read from, and the classes they name."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError

MOST_CHARACTERS = 500  # of a label; Python converts numbers of at least 640 digits

_INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_MISSING = {"", "nan", "+nan", "-nan"}
_WRITTEN = re.compile(r"0|-?[1-9][0-9]{0,18}").fullmatch


def label_text(label: object) -> str:
    """The text of a label: "1" for 1, 1.0, True, "+1" and " 1 "; "0.5"; or the stripped text.

    An integer keeps all its digits; any other number is the double nearest to it.
    """
    if isinstance(label, bytes):
        label = label.decode(errors="replace")
    text = str(int(label)) if isinstance(label, (bool, np.bool_)) else str(label).strip(" \t")
    if _INTEGER(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        return f"-{digits}" if text[0] == "-" and digits != "0" else digits
    if _NUMBER(text) and math.isfinite(float(text)):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def integer_of(text: str) -> int | None:
    """The integer of 64 bits that is written just so; None of any other text.

    Python takes more for integers: digits of other scripts, blanks, signs and underscores, which
    are texts of their own as labels are.
    """
    number = int(text) if _WRITTEN(text) else None
    return None if number is None or not -(2**63) <= number < 2**63 else number


def is_missing(text: str) -> bool:
    """Whether the text stands for no label at all: nothing, or not a number."""
    return text.strip(" \t").lower() in _MISSING


def label_fault(text: str) -> str | None:
    """What is wrong with the text of a label, if anything, as the end of a sentence."""
    if is_missing(text):
        return "is missing"
    if len(text) > MOST_CHARACTERS:
        return f"has {len(text)} characters, more than {MOST_CHARACTERS}"
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text if not c.isprintable()):
        return f"has a control character: {text!r}"
    return None


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
    if np.ma.is_masked(y):
        raise ProblemError("y has masked labels; fill them or drop their rows")
    try:
        # In a list NumPy makes one type of all: of integers doubles, of numbers texts.
        values = np.asarray(y, dtype=None if hasattr(y, "dtype") else object)
    except (ValueError, TypeError):
        raise ProblemError("y is ragged; give one label for each row of X") from None
    if values.dtype.kind == "O" and any(isinstance(v, list | tuple) for v in values.ravel()):
        raise ProblemError("y is ragged; give one label for each row of X")
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
        if math.isfinite(label) and float(label) == label:  # a longer float may be no double
            return label_text(float(label))
    elif isinstance(label, (bool, np.bool_, int, np.integer)):
        if int(label).bit_length() > 3 * MOST_CHARACTERS:
            raise ProblemError(f"y has an integer of more than 450 digits in row {row}")
        return label_text(int(label))
    elif isinstance(label, (str, bytes)):
        try:
            text = label_text(label if isinstance(label, str) else label.decode())
        except UnicodeDecodeError:
            raise ProblemError(f"y has {label!r} in row {row}, which is no UTF-8") from None
        fault = label_fault(text)
        if fault is None:
            return text
        if text:
            raise ProblemError(f"y has a label in row {row} that {fault}")
    shown = label.item() if isinstance(label, np.generic) else label
    raise ProblemError(f"y has {shown!r} in row {row}, which is no label; use numbers or texts")


def _number(text: str) -> int | float | None:
    """The number that a label text is, exactly, or None."""
    if _INTEGER(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and label_text(number) == text else None
