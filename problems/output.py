"""Atomic files: written whole or not at all; and JSON without NaN and infinities.

What is there stays until the new one is complete: whoever is killed in between, or finds the disk
full, still has the old one. That is done by renaming, and a name may stand for more than a file:

- a device, a pipe or a socket is written into, and never replaced (as root, that would put a file
  in the place of ``/dev/null``);
- a link goes on pointing to where it did, and what it points to is replaced;
- a file keeps its permissions and its owner; one in a folder that takes no new files is written
  into, since there is no other way;
- the unfinished file has a name that nobody else has, in the same folder.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

#: Names of what is open already, which may be a file that others write into as well.
_OPEN = ("/dev/fd/", "/dev/std", "/proc/")


@contextmanager
def whole(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A stream for all that a file shall hold; the file has it at the end, or stays as it was.

    The mode is "w" (UTF-8, with line ends as they are written) or "wb". An OSError has the name of
    the file, whatever could not be done.
    """
    # What is no UTF-8 in the name of a file becomes \udcff, which JSON reads as the same.
    codec = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    text: dict[str, Any] = {} if "b" in mode else codec
    unfinished = None
    try:
        there = _status(path)
        if there is not None and not _replaceable(path, there):
            with open(path, mode, **text) as stream:
                yield stream
            return
        target = os.path.realpath(path)
        unfinished, handle = _beside(target, path)
        with os.fdopen(handle, mode, **text) as stream:
            if there is not None:
                _take_over(handle, there)
            yield stream
            stream.flush()
            os.fsync(handle)
        os.replace(unfinished, target)
        unfinished = None
    except OSError as error:
        if error.filename is None or error.filename == unfinished:  # a full disk has no name
            error.filename = str(path)
        raise
    finally:
        if unfinished is not None:
            with suppress(OSError):
                os.unlink(unfinished)


def write_whole(path: str | Path, contents: str | bytes) -> None:
    """Write a text (as UTF-8) or bytes, whole or not at all."""
    with whole(path, "w" if isinstance(contents, str) else "wb") as stream:
        stream.write(contents)


def check_writable(path: str | Path) -> None:
    """Raise the OSError that `whole` would, as far as that is known before; nothing is changed."""
    there = _status(path)
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if there is None or _replaceable(path, there):
        unfinished, handle = _beside(os.path.realpath(path), path)
        os.close(handle)
        os.unlink(unfinished)


def is_file(path: str | Path) -> bool:
    """Whether a file is there or could be made, so that writing it replaces what it held."""
    with suppress(OSError):
        there = _status(path)
        return there is None or stat.S_ISREG(there.st_mode)
    return False


def _status(path: str | Path) -> os.stat_result | None:
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "")
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _replaceable(path: str | Path, there: os.stat_result) -> bool:
    """Whether it is a file that may be written, in a folder that takes another one, and nothing
    that somebody has open under a number."""
    if not stat.S_ISREG(there.st_mode) or os.path.abspath(path).startswith(_OPEN):
        return False
    folder = os.path.dirname(os.path.realpath(path))
    return os.access(path, os.W_OK) and os.access(folder, os.W_OK | os.X_OK)


def _beside(target: str, path: str | Path) -> tuple[str, int]:
    """A new file in the folder of the target, which the user knows as `path`.

    Its name is short, so that whatever is no too long name has one.
    """
    name = os.path.join(os.path.dirname(target), f".gammabar-{token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return name, os.open(name, flags, 0o666)
    except OSError as error:
        error.filename = str(path)
        raise


def _take_over(handle: int, there: os.stat_result) -> None:
    """Owner and permissions of the file that was there, where the system lets us."""
    if not hasattr(os, "fchmod"):
        return
    with suppress(OSError):
        if (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(handle, there.st_uid, there.st_gid)
        os.fchmod(handle, stat.S_IMODE(there.st_mode))


def finite(value: Any) -> Any:
    """A document with null in the place of every number in it that is infinite or none.

    >>> finite({"ratio": float("inf"), "rounds": [1.5, float("nan")]})
    {'ratio': None, 'rounds': [1.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return value
