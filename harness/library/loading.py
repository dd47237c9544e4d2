"""A user's Python file or folder, imported with errors that a person can act on.

Modules get names of their own, so that a file called ``problems.py`` is in nobody's way.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from gammabar.problems import ProblemError
from gammabar.problems.suggest import no_file

#: Relative names and texts.
Files = tuple[tuple[str, str], ...]


def read_files(path: str) -> Files:
    """The Python files of a paper: one, or those of a package with ``__init__.py``."""
    place = Path(path)
    if "\0" in path or not place.exists():
        raise ProblemError(f"{path!r}: there is no such file" if "\0" in path else no_file(path))
    if place.is_dir():
        if not (place / "__init__.py").is_file():
            raise ProblemError(f"{path}: is a folder without __init__.py: name a package or a file")
        files = sorted(place.rglob("*.py"))
        return tuple((str(file.relative_to(place)), text_of(file)) for file in files)
    return (("__init__.py", text_of(place)),)


def text_of(path: Path) -> str:
    """The text of a Python file."""
    if not path.is_file():
        raise ProblemError(f"{path}: is no file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ProblemError(f"{path}: is no text in UTF-8") from None


def load_files(path: str, files: Files, name: str) -> tuple[ModuleType, ...]:
    """Import files under a name, anew each time, the first module being the package itself.

    Parameters
    ----------
    path : str
        Where they come from: for messages and tracebacks.
    files : Files
    name : str
        Of the package; modules of a folder are below it.
    """
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # it may import its neighbours
    forget(name)
    finder = _Finder(path, dict(files), name)
    sys.meta_path.insert(0, finder)
    try:
        return tuple(_imported(one, path) for one in finder.names())
    except BaseException:
        forget(name)
        raise


def forget(name: str) -> None:
    """Undo `load_files`."""
    sys.meta_path[:] = [f for f in sys.meta_path if not (isinstance(f, _Finder) and f.name == name)]
    for loaded in [n for n in sys.modules if n.partition(".")[0] == name]:
        del sys.modules[loaded]


def _imported(name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ProblemError:
        raise
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""  # a null byte has none
        raise ProblemError(f"{error.filename or path}{where}: {error.msg}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ProblemError(f"{path}{line_of(error, path)}: {last_line(error)}") from None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in texts rather than in files, which need not be on this machine."""

    def __init__(self, path: str, files: dict[str, str], name: str) -> None:
        self.path, self.name = Path(path), name
        self.files = {self._module(file): (file, text) for file, text in files.items()}

    def _module(self, file: str) -> str:
        parts = [part for part in Path(file).with_suffix("").parts if part != "__init__"]
        return ".".join((self.name, *parts))

    def names(self) -> Iterator[str]:
        """Every module, packages first; refuters are left to whoever checks a witness."""
        return (name for name in sorted(self.files) if not name.endswith(".refuters"))

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.files:
            return None
        file, _ = self.files[name]
        package = Path(file).name == "__init__.py"
        origin = self._origin(file)
        spec = importlib.util.spec_from_loader(name, self, origin=origin, is_package=package)
        if spec is not None:
            spec.has_location = True
        return spec

    def _origin(self, file: str) -> str:
        return str(self.path / file) if self.path.suffix != ".py" else str(self.path)

    def exec_module(self, module: ModuleType) -> None:
        file, text = self.files[module.__name__]
        exec(compile(text, self._origin(file), "exec"), vars(module))


def line_of(error: BaseException, path: str) -> str:
    """The last line of the user's files that was executed before an exception."""
    line, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == path or Path(path) in Path(file).parents:
            within = "" if file == path else f" ({Path(file).name})"
            line = f", line {trace.tb_lineno}{within}"
        trace = trace.tb_next
    return line


def last_line(error: BaseException) -> str:
    """An exception in one line."""
    text = str(error).strip().replace("\n", " ")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
