"""Options that say how a file of data is read, the same for every command that takes DATA."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Bytes(click.ParamType):
    """A size in memory: 500MB, 2GB, or a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([kmgt]?)b?", value.strip().lower())
        size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
        if size < 1:
            self.fail(f"{value!r} is no size such as 500MB or 2GB", param, ctx)
        return size


LABEL = click.option(
    "--label", metavar="NAME", help="Label column of a table: name or number from 0."
)
LABELS = click.option(
    "--labels", metavar="FILE", help="Labels of an .npy or a SciPy .npz file: another .npy file."
)
DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="A column of a table that is no feature (repeatable).",
)
MEMORY = click.option(
    "--memory",
    type=Bytes(),
    metavar="SIZE",
    help="Most memory for the points of .npy, .parquet or .arrow files: else they are read in "
    "chunks, again for every pass (default: half of what there is).",
)


def reading_options(function: F) -> F:
    """Add ``--label``, ``--labels``, ``--drop`` and ``--memory`` to a command."""
    for option in (MEMORY, DROP, LABELS, LABEL):
        function = option(function)
    return function
