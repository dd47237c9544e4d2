"""A user's own solver: ``my.py:MySolver``, loaded with errors that a person can act on.

It is a class with ``iterates(problem, rng)``, a function that yields iterates, or one that records
them (`gammabar.solvers.adapters`).
"""

from __future__ import annotations

import hashlib
import inspect
import os
import typing
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from gammabar.harness.library.loading import last_line, line_of, load_files, text_of
from gammabar.harness.run.options import parse_options
from gammabar.harness.run.solver_ref import InFile
from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean, no_file
from gammabar.solvers.adapters import arguments_of, from_function


def read(text: str) -> InFile:
    """The reference with the text of its file.

    Parameters
    ----------
    text : str
        "my.py:MySolver", with options perhaps.
    """
    path = Path(InFile(text).file)
    try:
        there = path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null character
        raise ProblemError(f"{str(path)[:100]}: {getattr(error, 'strerror', error)}") from None
    if not there:
        raise ProblemError(no_file(path))
    return InFile(text, text_of(path))


def load(reference: InFile) -> Any:
    """The solver, with the options of the reference.

    The file need not be on this machine: the reference has its text.
    """
    assert reference.code is not None
    path, name = reference.file, reference.made
    name_of_module = f"gammabar_solver_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    (module,) = load_files(path, (("__init__.py", reference.code),), name_of_module)
    found = _found(path, name, module)
    if inspect.isclass(found):
        return _instance(path, name, found, reference.options)
    return _function(path, name, found, reference.options)


def _found(path: str, name: str, module: ModuleType) -> Any:
    found = getattr(module, name, None)
    if inspect.isclass(found) or inspect.isroutine(found):
        return found
    own = [
        n
        for n, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isroutine(value))
        and value.__module__ == module.__name__
    ]
    hint = did_you_mean(name, own)
    raise ProblemError(f"{path}: there is no class or function {name} ({hint})")


def _function(path: str, name: str, found: Any, options: str) -> Any:
    try:
        named = arguments_of(found)[1]
        hints = _hints(found)
        kinds = {n: hints.get(n, _kind_of(p.default)) for n, p in named.items()}
        return from_function(found, **parse_options(f"{path}: {name}", options, kinds))
    except ProblemError as error:
        text = str(error)
        raise ProblemError(text if text.startswith(path) else f"{path}: {text}") from None


def _instance(path: str, name: str, found: Any, options: str) -> Any:
    if not callable(getattr(found, "iterates", None)):
        raise ProblemError(f"{path}: {name} has no method iterates(self, problem, rng)")
    arguments, kinds = _kinds(found)
    values = parse_options(f"{path}: {name}", options, kinds)
    given = {option: values.pop(option) for option in arguments if option in values}
    try:
        made = found(**given)
        for option, value in values.items():
            setattr(made, option, value)
    except (Exception, SystemExit) as error:
        how = f"with {options}" if options else "without arguments"
        raise ProblemError(
            f"{path}{line_of(error, path)}: {name}() must work {how}: {last_line(error)}"
        ) from None
    try:
        inspect.signature(made.iterates).bind(None, None)
    except (TypeError, ValueError):
        raise ProblemError(
            f"{path}: {name}.iterates must take a problem and a random generator:"
            " def iterates(self, problem, rng)"
        ) from None
    return made


def _kinds(found: Any) -> tuple[list[str], dict[str, Any]]:
    """The arguments with which a class is made; and their types, with those of its attributes."""
    hints = {n: h for n, h in _hints(found).items() if typing.get_origin(h) is not ClassVar}
    hints |= {n: h for n, h in _hints(found.__init__).items() if n != "return"}
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return [], hints
    named = [p for p in signature.parameters.values() if p.kind in _NAMED]
    return [p.name for p in named], {p.name: _kind_of(p.default) for p in named} | hints


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _hints(found: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(found)
    except Exception:  # names that only a type checker knows
        return {}


def _kind_of(default: Any) -> Any:
    """The type of an argument without annotation, by its default."""
    plain = type(default)
    return plain if plain in (bool, float, str) else int | float | str
