"""Names of a package that are imported when first asked for, as its stub file lists them.

A package says ``__getattr__, __dir__, __all__ = attach(__name__, __file__)`` and lists its names in
``__init__.pyi``, which type checkers read as well. Only the standard library is imported here.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub."""
    with open(file + "i", encoding="utf-8") as stub:
        imports = [node for node in ast.parse(stub.read()).body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: _home(package, node) for node in imports for alias in node.names}

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home is None:  # a package
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: sorted(homes), sorted(homes)


def _home(package: str, node: ast.ImportFrom) -> str | None:
    """The module that a line of a stub imports from; None for the package itself."""
    return f"{package}.{node.module}" if node.level and node.module else node.module
