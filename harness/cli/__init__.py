"""The command ``gammabar``."""

from gammabar.harness.cli.command import COMMANDS, cli, main

__all__ = ["COMMANDS", "cli", "main"]
