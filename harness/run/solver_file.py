"""A user's own solver: ``my.py:MySolver``, loaded with errors that a person can act on."""

from __future__ import annotations

import difflib
import inspect
import sys
import typing
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from gammabar.harness.run.options import parse_options
from gammabar.harness.run.solver_ref import InFile
from gammabar.problems import ProblemError


def read(text: str) -> InFile:
    """The reference with the text of its file.

    Parameters
    ----------
    text : str
        "my.py:MySolver", with options perhaps.
    """
    path = Path(InFile(text).file)
    if not path.exists():
        raise ProblemError(f"{path}: no such file")
    if not path.is_file():
        raise ProblemError(f"{path}: is no file")
    try:
        return InFile(text, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ProblemError(f"{path}: is no text in UTF-8") from None


def load(reference: InFile) -> Any:
    """An instance of the class, with the options of the reference.

    The file need not be on this machine: the reference has its text.
    """
    assert reference.code is not None
    path, name = reference.file, reference.made
    module = _module(path, reference.code)
    return _instance(path, name, _class(path, name, module), reference.options)


def _module(path: str, code: str) -> ModuleType:
    try:
        compiled = compile(code, path, "exec")
    except SyntaxError as error:
        raise ProblemError(f"{path}, line {error.lineno}: {error.msg}") from None
    except ValueError as error:  # a null character
        raise ProblemError(f"{path}: {error}") from None
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # it may import its neighbours
    module = ModuleType(f"solver_file_{Path(path).stem}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compiled, vars(module))
    except (Exception, SystemExit) as error:
        raise ProblemError(f"{path}{_line(error, path)}: {_last(error)}") from None
    return module


def _line(error: BaseException, path: str) -> str:
    """The last line of the file that was executed before an exception."""
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = f", line {trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _last(error: BaseException) -> str:
    text = str(error).strip().replace("\n", " ")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _class(path: str, name: str, module: ModuleType) -> Any:
    found = getattr(module, name, None)
    if inspect.isclass(found):
        return found
    own = [
        n
        for n, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    close = difflib.get_close_matches(name, own, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(own) or 'none'}"
    raise ProblemError(f"{path}: there is no class {name} ({hint})")


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
            f"{path}{_line(error, path)}: {name}() must work {how}: {_last(error)}"
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
