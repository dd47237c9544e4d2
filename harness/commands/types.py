"""Types of options: files that will be written, and times."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click


class _Written(click.Path):
    """A file to be written at the end: that it cannot be is said at the beginning."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.name or "\0" in str(path):
            self.fail(f"{str(path)!r} is no name of a file", param, ctx)
        try:
            inside = path.parent.is_dir()
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)
        if not inside:
            self.fail(f"{path}: there is no folder {path.parent}", param, ctx)
        if not path.exists() and not os.access(path.parent, os.W_OK):
            self.fail(f"{path}: the folder {path.parent} cannot be written to", param, ctx)
        return path


class _Seconds(click.FloatRange):
    """A positive number of seconds. NaN lies in every range of click's, as it does in none."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(0, 1e9, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds


WRITTEN = _Written()
SECONDS = _Seconds()
