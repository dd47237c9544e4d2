"""Problems written out in a DATA string: ``rows:1,0;1/2,-3*4`` is five rows in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.options import MOST_CHARACTERS, integer, rational

_ANY = rational(Fraction(-(10**2000)), None)
_MOST = 10_000  # numbers; more belong in a file
_COUNT = integer(1, _MOST)


def written_rows(text: str) -> tuple[Array, Array]:
    """Points and labels whose rows y_i x_i are those of a text; labels alternate.

    ``*4`` after a row: four times.

    Examples
    --------
    >>> X, y = written_rows("1,0;1/2,-3")
    >>> (X * y[:, None]).tolist()
    [[1.0, 0.0], [0.5, -3.0]]
    """
    written = [_times(part) for part in text.split(";")]
    if sum((row.count(",") + 1) * times for row, times in written) > _MOST:
        raise ProblemError(f"rows: more than {_MOST} numbers; write them to a file")
    parts = [row.split(",") for row, times in written for _ in range(times)]
    wide = len(parts[0])
    for i, part in enumerate(parts):
        if len(part) != wide:
            raise ProblemError(f"rows: row {i} has {len(part)} numbers, and row 0 has {wide}")
    values = [[_number(i, number.strip()) for number in part] for i, part in enumerate(parts)]
    y = np.where(np.arange(len(values)) % 2, -1, 1)
    signed = [[int(s) * v for v in row] for s, row in zip(y, values, strict=True)]
    if all(v.denominator == 1 and abs(v) < 2**62 for row in signed for v in row):
        return np.array([[int(v) for v in row] for row in signed], dtype=np.int64), y
    for i, row in enumerate(values):
        for v in row:
            if not _is_double(v):
                raise ProblemError(
                    f"rows: {v} in row {i} is not a double; multiply all rows by a number such"
                    " that they become integers"
                )
    return np.array([[float(v) for v in row] for row in signed], dtype=np.float64), y


def _times(part: str) -> tuple[str, int]:
    row, star, times = part.partition("*")
    if not star:
        return row, 1
    try:
        return row, _COUNT(times.strip())
    except ValueError as error:
        raise ProblemError(f"rows: {times[:20]!r} after * {error}") from None


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def _number(i: int, text: str) -> Fraction:
    digits = text.removeprefix("-") if "/" in text else text
    try:
        value = _ANY(digits)
    except ValueError as error:
        shown = text if len(text) <= MOST_CHARACTERS else text[:20] + "…"
        raise ProblemError(f"rows: {shown!r} in row {i} {error}") from None
    return -value if digits != text else value


def text_of_rows(rows: Sequence[Sequence[Fraction | int]]) -> str:
    """The DATA string of some rows.

    Examples
    --------
    >>> text_of_rows([[1, 0], [Fraction(1, 2), -3], [Fraction(1, 2), -3]])
    'rows:1,0;1/2,-3*2'
    """
    texts = (",".join(str(value) for value in row) for row in rows)
    parts = [(text, len(list(same))) for text, same in groupby(texts)]
    return "rows:" + ";".join(text if n == 1 else f"{text}*{n}" for text, n in parts)
