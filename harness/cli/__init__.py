"""The command ``gammabar``."""

from gammabar.harness.cli.dispatch import COMMANDS, cli, main

__all__ = ["COMMANDS", "cli", "main"]
