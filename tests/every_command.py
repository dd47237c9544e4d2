"""Every command of the command line."""

from __future__ import annotations

import click

from gammabar.harness.cli import COMMANDS, cli


def every_command() -> dict[str, click.Command]:
    """The commands by the words that call them, as in "data export"."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{name} {part}": leaf for part, leaf in parts.items()} or {name: command}
    return found
