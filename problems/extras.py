"""Packages that only some uses need, imported when they are; a sentence if they are missing."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gammabar.problems.base import ProblemError


def has_module(name: str) -> bool:
    """Whether a package is installed."""
    return find_spec(name) is not None


def missing(what: str, module: str, extra: str) -> ProblemError:
    """The sentence for a package that is not installed."""
    return ProblemError(
        f"{what} needs {module}, which is not installed: python -m pip install 'gammabar[{extra}]'"
    )


def extra_module(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional dependency.

    Parameters
    ----------
    module : str
        Such as "matplotlib.figure".
    extra : str
        The extra of gammabar that installs it.
    what : str
        What needs it, for the sentence.

    Raises
    ------
    ProblemError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing(what, module.partition(".")[0], extra) from None


def for_arrow(path: Path) -> Any:
    """A file as pyarrow opens it: by its name, or, where that is not UTF-8, opened already."""
    try:
        os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError:
        return path.open("rb")
    return str(path)
