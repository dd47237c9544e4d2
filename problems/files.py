"""Opening files for the readers: compression, memory, and errors that a person can act on."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gammabar.problems.base import ProblemError
from gammabar.problems.spelling import no_file

_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}

COMPRESSED = tuple(_OPENERS)

# Control characters other than tabs and ends of lines: no text file of numbers has any.
_CONTROL = bytes([*range(9), 11, 12, *range(14, 32), 127])
_CONTROL_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def memory_budget() -> int:
    """Bytes that one array may take: half of the memory of this machine, or of what is allowed."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        whole = 8 << 30  # Where the system does not tell: what any present machine can hold.
    return min(whole, *_limits(), whole) // 2


def _limits() -> list[int]:
    """What this process may have: its own limit (ulimit -v) and that of its control group."""
    found = []
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        found += [soft] if soft != resource.RLIM_INFINITY else []
    except (ImportError, OSError, ValueError):
        pass
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        found += [int(text)] if text.isdigit() else []
    except (OSError, ValueError):
        pass
    return found


def gigabytes(size: int) -> str:
    """A number of bytes for an error message."""
    return f"{size / 1e9:,.1f} GB"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong on opening and unpacking a file into a ProblemError with its name."""
    try:
        yield
    except ProblemError:
        raise
    except FileNotFoundError:
        raise ProblemError(no_file(path)) from None
    except IsADirectoryError:
        raise ProblemError(f"{path}: this is a folder, not a file") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile):
        raise ProblemError(f"{path}: the compressed file is damaged or truncated") from None
    except ValueError as error:  # a zero byte in the name
        raise ProblemError(f"{str(path)!r}: cannot be a file ({error})") from None
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise ProblemError(f"{path}: cannot be read ({reason})") from None
    except MemoryError:
        raise ProblemError(f"{path}: does not fit into the memory of this machine") from None


def _plain(path: Path) -> IO[bytes]:
    return path.open("rb")


def read_bytes(path: Path, budget: int | None = None) -> bytes:
    """The contents of a file, decompressed as its last suffix says.

    A small file that unpacks to more than the budget (a decompression bomb) is refused before
    it has filled the memory.
    """
    limit = memory_budget() // 4 if budget is None else budget
    opener = _OPENERS.get(path.suffix.lower(), _plain)
    out = io.BytesIO()
    with readable(path), opener(path) as stream:
        while chunk := stream.read(1 << 22):
            out.write(chunk)
            if out.tell() > limit:
                raise ProblemError(
                    f"{path}: holds more than {gigabytes(limit)}, too much for this machine"
                )
    return out.getvalue()


def read_text(path: Path) -> str:
    """The contents of a text file in UTF-8; binary and empty files are refused."""
    raw = read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ProblemError(
            f"{path}, line {line}: not text (byte 0x{raw[error.start]:02x} is no UTF-8)"
        ) from None
    # Most files are settled by the first look, which is fast: those beyond ASCII begin with 0xc2.
    suspect = len(raw.translate(None, _CONTROL)) < len(raw) or b"\xc2" in raw
    if suspect and (found := _CONTROL_TEXT.search(text)):
        line, code = text.count("\n", 0, found.start()) + 1, ord(found.group())
        raise ProblemError(
            f"{path}, line {line}: not text (it holds the control character 0x{code:02x})"
        )
    if not text.strip(" \t\r\n"):
        raise ProblemError(f"{path}: the file is empty")
    return text
