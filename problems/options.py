"""Options of data, kernels and solvers: ``n=200,d=10,gamma=0.1``.

Those of DATA strings have defaults and ranges; those of kernels and solvers have types.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gammabar.problems.files import MOST_CHARACTERS, gigabytes, memory_budget
from gammabar.problems.problem import ProblemError
from gammabar.problems.suggest import did_you_mean

_MAX_NUMBERS = 2_000_000_000  # no problem has more numbers than this, whatever the machine


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


def split_options(owner: str, text: str, known: Collection[str]) -> dict[str, str]:
    """The values of ``option=value,…`` as texts, by option.

    A comma within a value, as of a list or of options of a kernel, belongs to it.
    """
    found: dict[str, str] = {}
    last = ""
    for item in text.split(",") if text.strip() else []:
        name, equals, value = (part.strip() for part in item.partition("="))
        if last and name not in known and (not equals or ":" in found[last]):
            found[last] += f",{item.strip()}"
        elif not equals:
            raise ProblemError(f"{owner}: {item.strip()!r} is not of the form option=value")
        elif name not in known:
            hint = did_you_mean(name, list(known)) if known else "it takes none"
            raise ProblemError(f"{owner}: there is no option {name!r} ({hint})")
        elif name in found:
            raise ProblemError(f"{owner}: the option {name} is given twice")
        else:
            found[name], last = value, name
    return found


def parse_options(owner: str, text: str, options: Sequence[Option]) -> dict[str, Any]:
    """The values of all options: those written in `text`, and the defaults of the others."""
    given = split_options(owner, text, [option.name for option in options])
    values: dict[str, Any] = {}
    for option in options:
        value = given.get(option.name, option.default)
        try:
            values[option.name] = None if value is None else option.parse(value)
        except ValueError as error:
            raise ProblemError(f"{owner}: {option.name}={value} {error}") from None
    return values


def typed_options(owner: str, text: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the options that are written in `text`, each of the type that it has."""
    found = split_options(owner, text, kinds)
    return {name: _typed(owner, name, kinds[name], value) for name, value in found.items()}


def check_size(owner: str, n: int, d: int) -> None:
    """Refuse n points of dimension d that this machine cannot hold."""
    # Building a problem needs a few arrays of its size at the same time.
    if n * d > _MAX_NUMBERS or 8 * n * d * 4 > 2 * memory_budget():
        raise ProblemError(
            f"{owner}: n={n} and d={d} would need {gigabytes(8 * n * d)} and is more than this "
            "machine can work with (choose a smaller n or d)"
        )


def _typed(name: str, option: str, hint: Any, text: str) -> Any:
    """The value of an option, of the first of its types that takes the text."""
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    words = []
    for kind in typing.get_args(hint) if union else (hint,):
        parse, what = _KINDS.get(typing.get_origin(kind) or kind, (None, ""))
        if parse is None:
            continue
        try:
            return parse(text, kind)
        except ValueError:
            words.append(what)
    if not words:
        raise ProblemError(f"{name}: {option} cannot be given as a text")
    raise ProblemError(f"{name}: {option}={text} is not {' or '.join(words)}")


def _plain(text: str) -> str:
    """The text of a number: Python would take digits of other scripts, and 1_0 for 10."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return text


def _one_of(values: dict[str, Any]) -> Callable[[str, Any], Any]:
    def parse(text: str, kind: Any) -> Any:
        if text.lower() not in values:
            raise ValueError
        return values[text.lower()]

    return parse


def _tuple(text: str, kind: Any) -> tuple[Any, ...]:
    item = typing.get_args(kind)[0]
    return tuple(_KINDS[item][0](part, item) for part in text.split(","))


#: How a text becomes a value of a type, and what the type is called.
_KINDS: dict[Any, tuple[Callable[[str, Any], Any], str]] = {
    types.NoneType: (_one_of({"none": None}), "none"),
    bool: (_one_of({"true": True, "1": True, "false": False, "0": False}), "true or false"),
    int: (lambda text, _: int(_plain(text)), "an integer"),
    float: (lambda text, _: float(_plain(text)), "a number"),
    tuple: (_tuple, "a list of numbers"),
    str: (lambda text, _: text, "a text"),
}
