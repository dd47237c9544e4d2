"""Types of options: files that will be written, and times."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click

#: `my.py:Mine:step=1`, and names of files that hold colons themselves.
_COLONS = 8


class _Written(click.Path):
    """A file to be written at the end: that it cannot be is said at the beginning.

    One that is kept, and read again by the next run, must be a file; others may be a pipe, too.
    """

    def __init__(self, kept: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.kept = kept

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
        if self.kept and path.exists() and not path.is_file():
            self.fail(f"{path}: no file, so nothing can be kept in it", param, ctx)
        return path


def keep_apart(ctx: click.Context) -> None:
    """Refuse a file to be written that is also named as something else: one of them would be lost.

    Raises
    ------
    click.UsageError
        It names both.
    """
    given = [(p, one) for p in ctx.command.params for one in _several(ctx.params.get(p.name or ""))]
    if not any(isinstance(param.type, _Written) for param, _ in given):
        return
    from gammabar.problems.writing import is_file

    for param, path in given:
        if not isinstance(param.type, _Written) or not is_file(path):
            continue
        real = os.path.realpath(path)
        for other, value in given:
            if other is not param and real in map(os.path.realpath, _names(value)):
                both = f"{_called(param)} and {_called(other)}"
                raise click.UsageError(f"{path} is {both} at once: name another file", ctx)


def _several(value: Any) -> tuple[Any, ...]:
    found = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in found if isinstance(one, str | Path) and "\0" not in str(one))


def _names(value: str | Path) -> list[str]:
    """What a value may name: a file, or one with something after a colon (classes, a solver)."""
    text = str(value)
    places = [place for place, letter in enumerate(text) if letter == ":"]
    return [text, *(text[:place] for place in places[:_COLONS])]


def _called(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


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


WRITTEN, KEPT = _Written(), _Written(kept=True)
SECONDS = _Seconds()
