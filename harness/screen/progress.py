"""A progress bar on stderr, where there is a terminal to draw it on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gammabar.harness.screen.output import visible


@contextmanager
def bar(total: int, what: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yields a function to be called with a word about each finished piece of work."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    hidden = quiet or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=hidden) as progress:
        task = progress.add_task(what, total=total)
        yield lambda text: progress.update(task, advance=1, description=escape(visible(text)))
