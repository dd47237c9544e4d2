"""The command ``gammabar``."""

from gammabar.harness.cli.options import COMMANDS, cli, main

__all__ = ["COMMANDS", "cli", "main"]
