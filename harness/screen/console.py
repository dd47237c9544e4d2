"""Rich's console, but for what it does when nobody reads: it would leave with the exit code 1."""

from __future__ import annotations

from rich.console import Console as RichConsole


class Console(RichConsole):
    """Tables, colours and progress."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
