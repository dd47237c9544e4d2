"""What a claim about numbers, functions or matrices may be put to, declared beside it.

A statement that brings its own data says with ``inputs`` what else these may be::

    @direct("mine.sum", …, problems=("",),
            inputs={"a": rationals(0, None, shape=("n",)), "T": wholes(1, 50)})
    def claim(case):
        for a, T in case.instances([([1, 2], 3)]):
            yield at_most(…)

The plan checks it at the instances that it lists; a search (``gammabar falsify``) draws others, and
``--problem 'inputs:a=1,2&T=3'`` names one. Sizes are names, so that what must have the same length
has: "n" above is any number from 1 to 4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from gammabar.problems import ProblemError

PREFIX = "inputs:"
#: The largest size that is searched, and the longest text of a number.
MOST, LONGEST = 4, 200

_NUMBER = re.compile(
    r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[+-]?[0-9]+/[0-9]+"
).fullmatch
#: A number or a word, or tuples of them, or tuples of tuples.
_Value: TypeAlias = Any


@dataclass(frozen=True)
class Entry:
    """One input: numbers (or words) of a range, in some shape."""

    #: Ends of the range; None: there is none.
    low: Fraction | None = None
    high: Fraction | None = None
    #: Whole numbers alone; only what is above zero.
    whole: bool = False
    positive: bool = False
    #: If not empty, the values that it may have.
    words: tuple[Any, ...] = ()
    #: Sizes: a name, the same for all inputs, or a number. () is a single one.
    shape: tuple[str | int, ...] = ()

    def allows(self, value: Any) -> bool:
        """Whether one number or word is in the range."""
        if self.words:
            return value in self.words
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and not (self.positive and value <= 0)
            and not (self.whole and value.denominator != 1)
        )

    def written(self, text: str) -> Any:
        """One number or word from its text."""
        if self.words:
            found = [word for word in self.words if str(word) == text]
        else:
            try:
                found = [Fraction(text)] if len(text) <= LONGEST and _NUMBER(text) else []
            except ZeroDivisionError:
                found = []
        if not found or not self.allows(found[0]):
            raise ValueError(f"{text[:40]!r} is not {self}")
        return int(found[0]) if self.whole else found[0]

    def __str__(self) -> str:
        if self.words:
            return "one of " + ", ".join(map(str, self.words))
        kind = "a whole number" if self.whole else "a rational number"
        low = "" if self.low is None else f", at least {self.low}"
        high = "" if self.high is None else f", at most {self.high}"
        return kind + low + high + ", positive" * self.positive


Inputs: TypeAlias = Mapping[str, Entry]


def rationals(
    low: Fraction | int | None = None,
    high: Fraction | int | None = None,
    *,
    positive: bool = False,
    shape: tuple[str | int, ...] = (),
) -> Entry:
    """Rational numbers from `low` to `high`."""
    below, above = (None if end is None else Fraction(end) for end in (low, high))
    return Entry(below, above, positive=positive, shape=shape)


def wholes(low: int, high: int, *, shape: tuple[str | int, ...] = ()) -> Entry:
    """Whole numbers from `low` to `high`."""
    return Entry(Fraction(low), Fraction(high), whole=True, shape=shape)


def choices(*words: Any, shape: tuple[str | int, ...] = ()) -> Entry:
    """One of some numbers or words."""
    return Entry(words=words, shape=shape)


def names(inputs: Inputs) -> list[str]:
    """The names of sizes."""
    found = (size for entry in inputs.values() for size in entry.shape if isinstance(size, str))
    return list(dict.fromkeys(found))


def shaped(entry: Entry, sizes: Mapping[str, int], draw: Callable[[], Any]) -> _Value:
    """Numbers that are drawn one after the other, in the shape of an entry."""

    def filled(shape: tuple[str | int, ...]) -> _Value:
        if not shape:
            return draw()
        size = shape[0] if isinstance(shape[0], int) else sizes[shape[0]]
        return tuple(filled(shape[1:]) for _ in range(size))

    return filled(entry.shape)


def _check_sizes(inputs: Inputs, values: Mapping[str, _Value]) -> None:
    """Refuse values of which two sizes of the same name differ."""
    found: dict[str | int, int] = {}
    for name, entry in inputs.items():
        value = values[name]
        for size in entry.shape:
            needed = found.setdefault(size, size if isinstance(size, int) else len(value))
            if needed != len(value):
                raise ValueError(f"{name} has {len(value)} where {needed} are needed")
            value = value[0]


def text_of(values: Mapping[str, _Value]) -> str:
    """``inputs:a=1,2&T=3``, as `read` takes it."""
    return PREFIX + "&".join(f"{name}={_text(value)}" for name, value in values.items())


def read(inputs: Inputs, text: str) -> dict[str, _Value]:
    """The values that a text names, or `ProblemError` if one is missing or not what it must be."""
    if not inputs:
        raise ProblemError(f"{text[:60]}: the statement declares no inputs")
    parts = [part.partition("=") for part in text.removeprefix(PREFIX).split("&")]
    given = {name: value for name, _, value in parts}
    unknown = [name for name in given if name not in inputs]
    missing = [name for name in inputs if name not in given]
    if unknown or missing or len(given) < len(parts):
        needed = "&".join(f"{name}=…" for name in inputs)
        raise ProblemError(f"{text[:60]}: write inputs:{needed}")
    try:
        found = {name: _value(name, entry, given[name]) for name, entry in inputs.items()}
        _check_sizes(inputs, found)
    except ValueError as error:
        raise ProblemError(f"inputs: {error}") from None
    return found


def _value(name: str, entry: Entry, text: str) -> _Value:
    rows = text.split(";") if len(entry.shape) == 2 else [text]
    parts = [row.split(",") if entry.shape else [row] for row in rows]
    if len(set(map(len, parts))) > 1:
        raise ValueError(f"{name}: its rows have different lengths")
    try:
        values = tuple(tuple(entry.written(part.strip()) for part in row) for row in parts)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return values if len(entry.shape) == 2 else values[0] if entry.shape else values[0][0]


def _text(value: _Value) -> str:
    if not isinstance(value, tuple):
        return str(value)
    between = ";" if value and isinstance(value[0], tuple) else ","
    return between.join(_text(part) for part in value)
