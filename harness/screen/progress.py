"""How far something is, on stderr: a bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from gammabar.harness.screen.output import now_and_then, visible


@contextmanager
def bar(total: int, what: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yields a function to be called with a word about each finished piece of work."""
    if not (quiet or sys.stderr.isatty()):
        tell, done = now_and_then(), count(1)
        yield lambda text: tell(f"{next(done)} of {total} {what}: {text}")
        return
    from rich.markup import escape
    from rich.progress import Progress

    from gammabar.harness.screen.console import Console

    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task(what, total=total)
        yield lambda text: progress.update(task, advance=1, description=escape(visible(text)))
