"""The processes that a process has started, and those that they have started, to be ended.

A solver may fork, and what it forks may leave its session and its parent (a daemon). Where the
system has a way to keep such orphans in the family, as Linux does, none is left behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

#: Options of Linux's prctl.
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_adopting = False


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def adopt() -> None:
    """From now on, whatever descends from this process and loses its parent becomes its child."""
    global _adopting
    _adopting = _prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """This process ends with the thread that has started it."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)


def end_orphans(keep: Collection[int]) -> None:
    """End all that descends from this process but some, if it has adopted them.

    What those have started that stay is ended as well: a daemon in the making is still theirs, and
    would be ours a moment later.
    """
    if _adopting:
        # Whoever forks while he is looked for is found the next time: until there is nobody left.
        for _ in range(100):
            orphans = [pid for pid in _descendants() if pid not in keep]
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
            if not orphans:
                return


def _descendants() -> list[int]:
    """Children of this process, their children and so on; of the dead only those to be buried."""
    mine = os.getpid()
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # pid (name) state ppid …, and a name may have anything in it
                status = (entry / "stat").read_text(errors="replace")
                state, parent = status.rpartition(")")[2].split()[:2]
                if state not in "ZX" or int(parent) == mine:
                    parents.setdefault(int(parent), []).append(int(entry.name))
    found = list(parents.get(mine, ()))
    for pid in found:  # it grows
        found += parents.get(pid, ())
    return found
