"""The source code that a part of an artefact depends on: as long as it is the same, so is the part.

Of the part's own module these are the definitions that its function reaches by name, so that
another colour in a picture does not make training begin again. Of other modules it is all of them,
and what they import in turn. Packages of the project hand on names of their modules (by imports in
``__init__``, or by a table ``_HOME``); who imports such a name depends on the module that it comes
from and not on all others of the package. A module that imports others by names that only a run
knows, such as the registry of solvers, depends on all of its folder.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from gammabar.harness.run.provenance import Import, imports, path_of

#: Imports packages of others by name, and nothing of the project.
_OUTSIDE = {"gammabar.problems.environment"}
_BY_NAME = {"import_module", "__import__"}
#: Decorators that put what they decorate nowhere else: such a definition counts if it is reached.
_PURE = {"cache", "contextmanager", "dataclass", "lru_cache", "njit", "wraps"}


def source_of(make: Callable[[], Any]) -> str:
    """The hash of all source code that a part depends on."""
    found = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts(make).items()}
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def texts(make: Callable[[], Any]) -> dict[str, str]:
    """The source code that a part depends on, by module; of its own module, a piece of it."""
    first, *others = _functions(make)
    own = _package(first)
    roots = [first, *(one for one in others if _package(one) in ("gammabar", own))]
    modules = _modules(own)
    found: dict[str, str] = {}
    todo: list[Import] = []
    for function in roots:
        name = str(function.__module__)
        text, asked = _reached(modules, name, function.__qualname__.partition(".")[0])
        found[f"{name}:{function.__qualname__}"] = text
        todo += asked
    while todo:
        for name in modules.homes(todo.pop()):
            if name not in found:
                found[name], asked = modules.whole(name)
                todo += asked
    return found


def _package(function: Any) -> str:
    """The package that a function comes from, by the first part of its name."""
    return str(function.__module__).partition(".")[0]


def _functions(make: Callable[[], Any]) -> Iterator[Any]:
    """The function of a part, and functions among its arguments."""
    if isinstance(make, partial):
        for one in (make.func, *make.args, *make.keywords.values()):
            if callable(one):
                yield from _functions(one)
    else:
        one = inspect.unwrap(make)
        yield one if hasattr(one, "__qualname__") else type(one)


@cache
def _modules(*packages: str) -> _Modules:
    """Modules are read once: they do not change while a command runs."""
    return _Modules({"gammabar", *packages})


class _Modules:
    """Modules of the project, and of the package of a part if that is another."""

    def __init__(self, packages: set[str]) -> None:
        self.packages = packages
        self._whole: dict[str, tuple[str, list[Import]]] = {}
        self._homes: dict[Import, tuple[str, ...]] = {}

    def file(self, name: str) -> Path | None:
        """The file of a module; None if it is none, or one of others."""
        if name.partition(".")[0] not in self.packages:
            return None
        found = getattr(sys.modules.get(name), "__file__", None)
        return path_of(name) or (Path(found) if found else None)

    def text(self, name: str) -> str:
        """The source of a module, be it in memory alone."""
        file = self.file(name)
        if file is not None and file.is_file() and file.suffix == ".py":
            return file.read_text(encoding="utf-8")
        try:
            return inspect.getsource(sys.modules[name])
        except (OSError, TypeError, KeyError, UnicodeError):
            return ""  # compiled

    def whole(self, name: str) -> tuple[str, list[Import]]:
        """A module, and what it imports anywhere in it."""
        if name not in self._whole:
            self._whole[name] = self._parsed(name)
        return self._whole[name]

    def _parsed(self, name: str) -> tuple[str, list[Import]]:
        text = self.text(name)
        tree = ast.parse(text)
        found = list(imports(tree, name, self.is_package(name)))
        by_name = any(isinstance(node, ast.Name) and node.id in _BY_NAME for node in ast.walk(tree))
        if by_name and name not in _OUTSIDE and not self.is_package(name):
            folder, package = Path(str(self.file(name))).parent, name.rpartition(".")[0]
            found += [(f"{package}.{path.stem}", None) for path in sorted(folder.glob("*.py"))]
        return text, found

    def homes(self, asked: Import) -> tuple[str, ...]:
        """The modules on which it depends what ``from module import name`` is."""
        if asked not in self._homes:
            self._homes[asked] = tuple(self._found(*asked))
        return self._homes[asked]

    def _found(self, module: str, name: str | None) -> Iterator[str]:
        if name is not None and self.file(f"{module}.{name}") is not None:
            yield from self._found(f"{module}.{name}", None)
        elif self.file(module) is None:
            return  # of others
        elif not self.is_package(module):
            yield module
        elif name is None:  # all that the package has
            yield module
            for one in getattr(import_module(module), "_HOME", ()):
                yield from self._found(module, one)
        else:
            yield from self._handed_on(module, name)

    def _handed_on(self, package: str, name: str) -> Iterator[str]:
        home = str(getattr(import_module(package), "_HOME", {}).get(name, ""))
        for prefix in (f"{package}.", "", "gammabar.") if home else ():
            if self.file(prefix + home) is not None:
                yield from self._found(prefix + home, name)
                return
        for node in ast.parse(self.text(package)).body:
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                if (alias.asname or alias.name) == name:
                    for module, _ in imports(ast.Module([node], []), package, True):
                        yield from self._found(module, alias.name)
                        return
        yield package  # it is made there

    def is_package(self, name: str) -> bool:
        file = self.file(name)
        return file is not None and file.name == "__init__.py"


def _reached(modules: _Modules, name: str, start: str) -> tuple[str, list[Import]]:
    """What a definition reaches by name within its module: the text of that, and its imports."""
    tree = ast.parse(modules.text(name))
    bound: dict[str, list[ast.stmt]] = {}
    kept: list[ast.stmt] = []
    for node in tree.body:
        names = list(_binds(node))
        for one in names:
            bound.setdefault(one, []).append(node)
        if not _is_text(node) and (not names or _registers(node)):
            kept.append(node)  # it does something when the module is imported
    if start not in bound:  # a function without a name
        kept = list(tree.body)
    todo = [*kept, *bound.get(start, [])]
    seen: dict[int, ast.stmt] = {}
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen[id(node)] = node
            words = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            todo += [other for word in words for other in bound.get(word, ())]
    body = sorted(seen.values(), key=lambda node: node.lineno)
    package = modules.is_package(name)
    asked = [one for node in body for one in imports(ast.Module([node], []), name, package)]
    return "\n".join(ast.unparse(node) for node in body), asked


def _binds(node: ast.stmt) -> Iterable[str]:
    """The names that a statement of a module gives."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Import):
        return ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (alias.asname or alias.name for alias in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return (
            one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)
        )
    return ()


def _is_text(node: ast.stmt) -> bool:
    """Whether it is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _registers(node: ast.stmt) -> bool:
    """Whether a definition may be known elsewhere than by its name."""
    decorators = getattr(node, "decorator_list", ())
    words = ({one.id for one in ast.walk(d) if isinstance(one, ast.Name)} for d in decorators)
    return any(not found & _PURE for found in words)
