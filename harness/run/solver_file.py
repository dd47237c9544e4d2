"""A user's own solver: ``my.py:MySolver``, loaded with errors that a person can act on."""

from __future__ import annotations

import difflib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from gammabar.problems import ProblemError


def split(text: str) -> tuple[str, str]:
    """File and class of ``my.py:MySolver``."""
    path, colon, name = text.rpartition(":")
    if not colon or not path or not name.isidentifier():
        raise ProblemError(f"{text}: name a file and a class in it, as in my.py:MySolver")
    return path, name


def read(text: str) -> str:
    """The text of the file, for `load`."""
    path, _ = split(text)
    if not Path(path).exists():
        raise ProblemError(f"{path}: no such file")
    if not Path(path).is_file():
        raise ProblemError(f"{path}: is no file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ProblemError(f"{path}: is no text in UTF-8") from None


def load(text: str, code: str | None = None) -> Any:
    """An instance of the class, with its default options.

    Parameters
    ----------
    text : str
        "my.py:MySolver".
    code : str, optional
        The text of the file, if it is known already: it need not be on this machine.
    """
    path, name = split(text)
    module = _module(path, read(text) if code is None else code)
    return _instance(path, name, _class(path, name, module))


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


def _instance(path: str, name: str, found: Any) -> Any:
    if not callable(getattr(found, "iterates", None)):
        raise ProblemError(f"{path}: {name} has no method iterates(self, problem, rng)")
    try:
        made = found()
    except (Exception, SystemExit) as error:
        raise ProblemError(
            f"{path}{_line(error, path)}: {name}() must work without arguments: {_last(error)}"
        ) from None
    try:
        inspect.signature(made.iterates).bind(None, None)
    except (TypeError, ValueError):
        raise ProblemError(
            f"{path}: {name}.iterates must take a problem and a random generator:"
            " def iterates(self, problem, rng)"
        ) from None
    return made
