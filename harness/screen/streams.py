"""Standard streams that somebody has closed, or that nobody reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def open_streams() -> None:
    """Open what is closed of the standard streams, so that no file gets their numbers.

    What is written there is lost, which is what whoever closes them wants.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            place = os.open(os.devnull, os.O_RDWR)
            if place != number:
                os.dup2(place, number)
                os.close(place)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


class _Unfailing:
    """Standard error that takes everything: words on the side must not end what is being done."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text) or 0)
        except (OSError, ValueError):  # full, or closed, or at the other end nobody listens
            return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            # What it still holds would be tried again at the end, and change the exit code.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


@contextmanager
def unfailing_stderr() -> Iterator[None]:
    """Let standard error take everything for a while."""
    before = sys.stderr
    sys.stderr = _Unfailing(before)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = before
