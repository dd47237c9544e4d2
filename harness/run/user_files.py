"""Files of users: papers and solvers in Python, and recorded iterates.

Modules get names of their own, so that a file called ``problems.py`` is in nobody's way. A solver
is a class with ``iterates(problem, rng)``, a function that yields iterates, or one that records
them (`gammabar.solvers.base`). Recorded iterates are a table whose row t is w_t, as NPY, CSV,
TSV or Parquet.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import inspect
import os
import sys
import typing
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gammabar.harness.run.tasks import InFile
from gammabar.harness.verify.statement import STATEMENTS
from gammabar.problems import ProblemError
from gammabar.problems.binary_readers import read_array
from gammabar.problems.environment import extra_module, for_arrow
from gammabar.problems.files import COMPRESSED, readable
from gammabar.problems.options import typed_options
from gammabar.problems.problem import Array
from gammabar.problems.suggest import did_you_mean, no_file
from gammabar.problems.text_readers import read_numbers
from gammabar.solvers.base import (
    Card,
    Recorder,
    arguments_of,
    counted,
    from_function,
    geometries,
    has_iterates,
    with_rows,
)

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
        return tuple((str(file.relative_to(place)), _text_of(file)) for file in files)
    return (("__init__.py", _text_of(place)),)


def _text_of(path: Path) -> str:
    if not path.is_file():
        raise ProblemError(f"{path}: is no file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ProblemError(f"{path}: is no text in UTF-8") from None


def load_files(path: str, files: Files, name: str) -> tuple[ModuleType, ...]:
    """Import files under the name of a package, anew each time: the package, and what is below it.

    `path` is where they come from, for messages and tracebacks.
    """
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # it may import its neighbours
    forget(name)
    finder = _Finder(path, files, name)
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
    except (ProblemError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""  # a null byte has none
        raise ProblemError(f"{error.filename or path}{where}: {error.msg}") from None
    except BaseException as error:
        raise ProblemError(f"{path}{_line_of(error, path)}: {_last_line(error)}") from None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in texts rather than in files, which need not be on this machine."""

    def __init__(self, path: str, files: Files, name: str) -> None:
        self.name = name
        #: Where each module comes from, and its text.
        self.files: dict[str, tuple[Path, str]] = {}
        for file, text in files:
            parts = [part for part in Path(file).with_suffix("").parts if part != "__init__"]
            place = Path(path) if path.endswith(".py") else Path(path, file)
            self.files[".".join((name, *parts))] = place, text

    def names(self) -> Iterator[str]:
        """Every module, packages first; refuters are left to whoever checks a witness."""
        return (name for name in sorted(self.files) if not name.endswith(".refuters"))

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.files:
            return None
        origin = self.files[name][0]
        package = name == self.name or origin.name == "__init__.py"
        spec = ModuleSpec(name, self, origin=str(origin), is_package=package)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        origin, text = self.files[module.__name__]
        exec(compile(text, str(origin), "exec"), vars(module))


def _line_of(error: BaseException, path: str) -> str:
    """The last line of the user's files that was executed before an exception."""
    line, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == path or Path(path) in Path(file).parents:
            within = "" if file == path else f" ({Path(file).name})"
            line = f", line {trace.tb_lineno}{within}"
        trace = trace.tb_next
    return line


def _last_line(error: BaseException) -> str:
    text = str(error).strip().replace("\n", " ")
    return type(error).__name__ + (f": {text}" if text else "")


def read_solver(text: str) -> InFile:
    """The reference "my.py:MySolver", with options perhaps, and with the text of its file."""
    path = Path(InFile(text).file)
    try:
        there = path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null character
        raise ProblemError(f"{str(path)[:100]}: {getattr(error, 'strerror', error)}") from None
    if not there:
        raise ProblemError(no_file(path))
    return InFile(text, _text_of(path))


def load(reference: InFile) -> Any:
    """The solver, with the options of the reference.

    The file need not be on this machine: the reference has its text.
    """
    assert reference.code is not None
    path, name, options = reference.parts
    name_of_module = f"gammabar_solver_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    # A file may hold a paper as well, whose statements are none of the solver's business.
    known = dict(STATEMENTS)
    STATEMENTS.clear()
    try:
        (module,) = load_files(path, (("__init__.py", reference.code),), name_of_module)
    finally:
        STATEMENTS.clear()
        STATEMENTS.update(known)
    found = _found(path, name, module)
    make = _instance if inspect.isclass(found) else _function
    return make(path, name, found, options)


def as_solver_class(name: str, path: str, found: Any) -> Any:
    """A class or generator function of a user's paper, as a class like those of the registry.

    `name` is the one under which it is registered, `path` its file, for messages.
    """
    if inspect.isclass(found):
        arguments, kinds = _kinds(found)
        parameters = inspect.signature(found).parameters if arguments else {}
        defaults = {n: parameters[n].default for n in arguments}
    else:
        defaults = {n: p.default for n, p in arguments_of(found)[1].items()}
        kinds = _kinds_of(found)
    needed = [n for n, default in defaults.items() if default is inspect.Parameter.empty]
    if needed:
        raise ProblemError(f"{path}: {found.__name__} needs a default for {needed[0]}")
    options = [(n, kinds[n], field(default=default)) for n, default in defaults.items()]

    def made(self: Any) -> Any:
        values = {n: getattr(self, n) for n in defaults}
        return found(**values) if inspect.isclass(found) else from_function(found, **values)

    body = {
        "card": Card(name, path, geometries(found)),
        "ends": (),
        "iterates": lambda self, problem, rng: counted(
            made(self).iterates(with_rows(problem, found), rng)
        ),
        "__doc__": inspect.getdoc(found) or "",
        "__module__": found.__module__,
    }
    return make_dataclass(found.__name__, options, namespace=body, frozen=True)


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
        return from_function(found, **typed_options(f"{path}: {name}", options, _kinds_of(found)))
    except ProblemError as error:
        text = str(error)
        raise ProblemError(text if text.startswith(path) else f"{path}: {text}") from None


def _kinds_of(function: Any) -> dict[str, Any]:
    named = arguments_of(function)[1]
    return {n: _kind_of(p.default) for n, p in named.items()} | _hints(function)


def _instance(path: str, name: str, found: Any, options: str) -> Any:
    arguments, kinds = _kinds(found)
    values = typed_options(f"{path}: {name}", options, kinds)
    given = {option: values.pop(option) for option in arguments if option in values}
    try:
        made = found(**given)
        for option, value in values.items():
            setattr(made, option, value)
    except (Exception, SystemExit) as error:
        how = f"with {options}" if options else "without arguments"
        raise ProblemError(
            f"{path}{_line_of(error, path)}: {name}() must work {how}: {_last_line(error)}"
        ) from None
    return has_iterates(made, f"{path}: {name}")


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


class _Trajectory(Recorder):
    """What a file holds, as a solver."""


def read_trajectory(path: str, options: str = "") -> _Trajectory:
    """The iterates in a file; `options` are those of its solver: "step=0.5"."""
    # The solver is not known, so any option may be one of it.
    named = [part.partition("=")[0].strip() for part in options.split(",") if "=" in part]
    wrong = [name for name in named if name.startswith("_") or hasattr(_Trajectory, name)]
    if wrong:
        raise ProblemError(f"{path}: {wrong[0]} is no option that a solver can have")
    values = typed_options(path, options, dict.fromkeys(named, int | float | str))
    found = _Trajectory()
    found._kept = _rows(path)
    vars(found).update(values)
    return found


def _rows(path: str) -> list[Array]:
    file = Path(path)
    table = _table(file)
    if table.dtype.kind not in "biuf":
        raise ProblemError(f"{file}: holds {table.dtype}, but numbers are needed")
    if table.ndim != 2 or 0 in table.shape:
        raise ProblemError(
            f"{file}: has shape {table.shape}, but a trajectory is a table: row t is w_t"
        )
    if len(table) < 2:
        raise ProblemError(f"{file}: one row is the start w_0 alone, and nothing to judge")
    bad = np.argwhere(~np.isfinite(table)).tolist() if table.dtype.kind == "f" else []
    if bad:
        t, place = bad[0]
        raise ProblemError(f"{file}: entry {place} of w_{t} is {table[t, place]}, no finite number")
    return list(table)


def _table(file: Path) -> Any:
    name = file.name.lower()
    for packed in COMPRESSED:
        name = name.removesuffix(packed)
    suffix = Path(name).suffix
    if suffix in (".csv", ".tsv", ".txt"):
        return read_numbers(file)
    if suffix == ".npy":
        return read_array(file)
    if suffix == ".parquet":
        return _parquet(file)
    raise ProblemError(f"{file}: a trajectory is a .npy, .csv, .tsv or .parquet file")


def _parquet(file: Path) -> Any:
    arrow = extra_module("pyarrow", "parquet", str(file))
    parquet = extra_module("pyarrow.parquet", "parquet", str(file))
    with readable(file):
        try:
            table = parquet.ParquetFile(for_arrow(file)).read()
        except arrow.ArrowException as error:
            raise ProblemError(f"{file}: not a Parquet file ({str(error)[:80]})") from None
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (arrow.types.is_floating(kind) or arrow.types.is_integer(kind)):
            raise ProblemError(f"{file}: column {name} holds {kind}, but numbers are needed")
        if column.null_count:
            raise ProblemError(f"{file}: column {name} has {column.null_count} missing values")
        columns.append(column.to_numpy())
    return np.column_stack(columns) if columns else np.empty((0, 0))
