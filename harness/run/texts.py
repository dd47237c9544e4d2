"""Problems and solvers as texts, as they stand in plans, stores, results and on the command line.

A problem is DATA and what may follow it: ``iris:0,1 --kernel rbf:gamma=1 --normalised``,
``iris:0,1,2 --multiclass``, ``points.csv --label class``. A solver is a name of the registry with
options: ``dual-acceleration:loss=logistic,step=0.5``.
"""

from __future__ import annotations

import difflib
import shlex
import types
import typing
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from gammabar.problems import Problem, ProblemError, load

_SWITCHES = ("multiclass", "normalised")
_VALUES = ("kernel", "label")


def open_problem(text: str) -> Problem:
    """The problem that a text names.

    Examples
    --------
    >>> open_problem("iris:0,1 --kernel rbf:gamma=1").n
    100
    """
    data, options = split_problem(text)
    if options.get("normalised") and not options.get("kernel"):
        raise ProblemError(f"{text}: --normalised needs --kernel")
    if options.get("kernel") and options.get("multiclass"):
        raise ProblemError(f"{text}: --kernel and --multiclass cannot be combined")
    return load(data, **options)


def split_problem(text: str) -> tuple[str, dict[str, Any]]:
    """DATA and the options that follow it."""
    try:
        data, *rest = shlex.split(text) or [""]
    except ValueError as error:
        raise ProblemError(f"{text}: {str(error).lower()} in the name of a problem") from None
    options: dict[str, Any] = {}
    words = iter(rest)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in _SWITCHES + _VALUES:
            allowed = ", ".join(f"--{n}" for n in _VALUES + _SWITCHES)
            raise ProblemError(f"{text}: {word!r} may not follow {data} (only {allowed})")
        if name in _SWITCHES:
            options[name] = True
            continue
        found = value if equals else next(words, None)
        if found is None:
            raise ProblemError(f"{text}: --{name} needs a value")
        options[name] = found
    return data, options


def problem_text(
    data: str,
    *,
    kernel: str | None = None,
    normalised: bool = False,
    multiclass: bool = False,
    label: str | None = None,
) -> str:
    """The text of a problem whose parts were given as options of their own.

    DATA may be such a text itself, but for a file, whose name may have blanks.
    """
    text = shlex.quote(data) if Path(data).exists() else data
    if kernel:
        text += f" --kernel {shlex.quote(kernel)}"
    if label is not None:
        text += f" --label {shlex.quote(label)}"
    return text + " --normalised" * normalised + " --multiclass" * multiclass


def solver_name(text: str) -> str:
    """The name in the registry: what stands before the options."""
    return text.partition(":")[0].strip()


def open_solver(text: str) -> Any:
    """The solver that a text names, with its options.

    Examples
    --------
    >>> open_solver("dual-acceleration:loss=logistic,step=0.5").step
    0.5
    """
    from gammabar.solvers.registry import solver

    name, _, rest = text.partition(":")
    made = solver(name.strip())
    known = {field.name: field for field in fields(made)}
    hints = typing.get_type_hints(made)
    values = {
        option: _typed(name, known[option], hints[option], value)
        for option, value in _options(name, rest, known).items()
    }
    try:
        return made(**values)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{text}: {error}") from None


def _options(name: str, text: str, known: dict[str, Field[Any]]) -> dict[str, str]:
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
    close = difflib.get_close_matches(option, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    return f"there is no option {option!r} ({hint})"


def _typed(name: str, field: Field[Any], hint: Any, text: str) -> Any:
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
        raise ProblemError(f"{name}: {field.name} cannot be given as a text")
    raise ProblemError(f"{name}: {field.name}={text} is not {' or '.join(words)}")


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
    int: lambda text, _: int(text),
    float: lambda text, _: float(text),
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
