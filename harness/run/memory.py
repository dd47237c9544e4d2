"""The most memory that this process has held."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

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
