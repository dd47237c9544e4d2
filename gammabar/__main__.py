"""The command ``gammabar``, and ``python -m gammabar``."""

import sys


def main() -> None:
    """Import the command line and run it; an interrupt meanwhile is one sentence as well."""
    try:
        from gammabar.harness.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("gammabar: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
