"""Optional packages and memory.

Packages that only some uses need are imported when they are, or one sentence says what to install.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gammabar.problems.problem import ProblemError


def has_module(name: str) -> bool:
    """Whether a package is installed."""
    return find_spec(name) is not None


def missing(what: str, module: str, extra: str) -> ProblemError:
    """The sentence for a package that is not installed."""
    return ProblemError(
        f"{what} needs {module}, which is not installed: python -m pip install 'gammabar[{extra}]'"
    )


def extra_module(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of the optional dependency that an extra of gammabar installs.

    Where it is not there, a ProblemError says what needs it and how to install it.
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


_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_memory() -> int:
    """The most bytes that this process has held, since `forget_peak` where that is possible."""
    if _STATUS.exists():  # what `getrusage` says here includes the process that started this one
        lines = _STATUS.read_text("ascii", "replace").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def forget_peak() -> None:
    """Let the peak begin anew from what is held now; does nothing but on Linux."""
    with suppress(OSError):  # `peak_memory` is then that of the whole process, which is no less
        _CLEAR.write_text("5", encoding="ascii")
