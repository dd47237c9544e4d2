"""The command ``gammabar``: one module for each group of commands; `command` runs them."""

from gammabar.harness.cli.command import COMMANDS, cli, main

__all__ = ["COMMANDS", "cli", "main"]
