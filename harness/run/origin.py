"""With what results are computed: versions, machine, commit; nothing about who or where."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_LIBRARIES = ("numpy", "scipy", "numba", "python-flint", "scikit-learn")


def origin() -> dict[str, Any]:
    """Versions of gammabar, Python and libraries; kind of machine; commit, if it is a clone."""
    return {
        "gammabar": _version("gammabar"),
        "commit": commit(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: _version(name) for name in _LIBRARIES},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def commit() -> str:
    """The commit of the clone that this is, and whether files of it have changed; "" if none."""
    if not (_ROOT / ".git").exists():
        return ""
    found = _git("rev-parse", "HEAD")
    return found and found + (", changed" if _git("status", "--porcelain", "-uno") else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
