"""Options of a DATA string: ``n=200,d=10,gamma=0.1`` with defaults, ranges and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gammabar.problems.files import gigabytes, memory_budget
from gammabar.problems.problem import ProblemError
from gammabar.problems.suggest import did_you_mean

MOST_CHARACTERS = 500  # of a number; Python converts those of at least 640 digits
MAX_NUMBERS = 2_000_000_000  # no problem has more numbers than this, whatever the machine


@dataclass(frozen=True)
class Option:
    """One option: its name, default (as text; None if there is none), meaning and parser."""

    name: str
    default: str | None
    what: str
    parse: Callable[[str], Any]


def integer(low: int, high: int = 10**12) -> Callable[[str], int]:
    """Parser of an integer between low and high."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
            raise ValueError("is not an integer")
        if int(text) < low:
            raise ValueError(f"must be at least {low}")
        if int(text) > high:
            raise ValueError(f"must be at most {high}")
        return int(text)

    return parse


def rational(
    low: Fraction | int, high: Fraction | int | None, *, open_low: bool = True
) -> Callable[[str], Fraction]:
    """Parser of a number taken exactly as written: ``0.1`` is one tenth, ``1/7`` a seventh."""

    def parse(text: str) -> Fraction:
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"has {len(text)} characters, more than {MOST_CHARACTERS}")
        if not re.fullmatch(
            r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[0-9]+/[0-9]+", text
        ):
            raise ValueError("is not a number")
        try:
            value = Fraction(text)
        except ZeroDivisionError:
            raise ValueError("is not a number") from None
        if value < low or (open_low and value == low):
            raise ValueError(f"must be {'above' if open_low else 'at least'} {low}")
        if high is not None and value > high:
            raise ValueError(f"must be at most {high}")
        return value

    return parse


def choice(*names: str) -> Callable[[str], str]:
    """Parser of one of several words."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    return parse


def switch(text: str) -> bool:
    """Parser of 0 (no) or 1 (yes)."""
    return choice("0", "1")(text) == "1"


SEED = Option("seed", "0", "seed of the random draws", integer(0, 2**64 - 1))


def parse_options(owner: str, text: str, options: Sequence[Option]) -> dict[str, Any]:
    """The values of all options: those written in `text`, and the defaults of the others.

    Parameters
    ----------
    owner : str
        What the options belong to, for error messages.
    text : str
        ``name=value`` pairs separated by commas; may be empty.
    options : sequence of Option
    """
    known = {option.name: option for option in options}
    given: dict[str, str] = {}
    for item in text.split(",") if text.strip() else []:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ProblemError(f"{owner}: {item.strip()!r} is not of the form option=value")
        if name not in known:
            raise ProblemError(f"{owner}: {_unknown(name, list(known))}")
        if name in given:
            raise ProblemError(f"{owner}: the option {name} is given twice")
        given[name] = value
    return {name: _value(owner, option, given.get(name)) for name, option in known.items()}


def _value(owner: str, option: Option, text: str | None) -> Any:
    if text is None:
        return None if option.default is None else option.parse(option.default)
    try:
        return option.parse(text)
    except ValueError as error:
        raise ProblemError(f"{owner}: {option.name}={text} {error}") from None


def _unknown(name: str, known: list[str]) -> str:
    if not known:
        return f"there is no option {name!r} (it takes none)"
    return f"there is no option {name!r} ({did_you_mean(name, known)})"


def check_size(owner: str, n: int, d: int) -> None:
    """Refuse n points of dimension d that this machine cannot hold."""
    # Building a problem needs a few arrays of its size at the same time.
    if n * d > MAX_NUMBERS or 8 * n * d * 4 > 2 * memory_budget():
        raise ProblemError(
            f"{owner}: n={n} and d={d} would need {gigabytes(8 * n * d)} and is more than this "
            "machine can work with (choose a smaller n or d)"
        )
