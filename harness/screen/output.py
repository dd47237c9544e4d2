"""Tables for people, JSON for programs, progress on stderr when it is a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol


class Stage(Protocol):
    """Told what is going on now."""

    def __call__(self, text: str) -> None: ...


def print_json(document: Any) -> None:
    """One JSON document on stdout and nothing else."""
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A table; long cells are folded, never cut, and the first column is neither."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A pipe has no width: let the table be as wide as its contents instead of folding it at 80.
    Console(width=None if sys.stdout.isatty() else 160).print(table)


@contextmanager
def stages(quiet: bool = False) -> Iterator[Stage]:
    """A spinner with the current stage on stderr; silent where stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)
