"""Options of solvers as texts: ``loss=logistic,step=0.5`` and the values that they stand for."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any

from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean


def parse_options(name: str, text: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Values by option.

    Parameters
    ----------
    name : str
        What the options belong to, for messages.
    text : str
        ``option=value,…``
    kinds : mapping of str to type
        The options that there are.
    """
    found = _split(name, text, kinds)
    return {option: _typed(name, option, kinds[option], value) for option, value in found.items()}


def _split(name: str, text: str, known: Mapping[str, Any]) -> dict[str, str]:
    """option=value pairs; commas within a value (a list, options of a kernel) belong to it."""
    found: dict[str, str] = {}
    last = ""
    for item in text.split(",") if text.strip() else []:
        option, equals, value = (part.strip() for part in item.partition("="))
        if last and option not in known and (not equals or ":" in found[last]):
            found[last] += f",{item.strip()}"
        elif not equals:
            raise ProblemError(f"{name}: {item.strip()!r} is not of the form option=value")
        elif option not in known:
            raise ProblemError(f"{name}: {_unknown(option, list(known))}")
        elif option in found:
            raise ProblemError(f"{name}: {option} is given twice")
        else:
            found[option], last = value, option
    return found


def _unknown(option: str, known: list[str]) -> str:
    if not known:
        return f"there is no option {option!r}, nor any other"
    return f"there is no option {option!r} ({did_you_mean(option, known)})"


def _typed(name: str, option: str, hint: Any, text: str) -> Any:
    """The value of an option, of the first of its types that takes the text."""
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kinds = typing.get_args(hint) if union else (hint,)
    for kind in kinds:
        parse = _PARSERS.get(typing.get_origin(kind) or kind)
        try:
            if parse is not None:
                return parse(text, kind)
        except ValueError:
            continue
    plain = [typing.get_origin(kind) or kind for kind in kinds]
    words = [_NAMES[kind] for kind in plain if kind in _NAMES]
    if not words:
        raise ProblemError(f"{name}: {option} cannot be given as a text")
    raise ProblemError(f"{name}: {option}={text} is not {' or '.join(words)}")


def _plain(text: str) -> str:
    """The text of a number: Python would take digits of other scripts, and 1_0 for 10."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return text


def _none(text: str, _: Any) -> None:
    if text.lower() != "none":
        raise ValueError


def _bool(text: str, _: Any) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise ValueError
    return text.lower() in ("true", "1")


def _tuple(text: str, kind: Any) -> tuple[Any, ...]:
    item = typing.get_args(kind)[0]
    return tuple(_PARSERS[item](part, item) for part in text.split(","))


_PARSERS: dict[Any, Any] = {
    types.NoneType: _none,
    bool: _bool,
    int: lambda text, _: int(_plain(text)),
    float: lambda text, _: float(_plain(text)),
    tuple: _tuple,
    str: lambda text, _: text,
}
_NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    tuple: "a list of numbers",
    types.NoneType: "none",
}
