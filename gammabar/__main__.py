"""The command ``gammabar``, and ``python -m gammabar``."""

import sys

try:
    from gammabar.harness.cli import main
except KeyboardInterrupt:  # as `main` says it later
    sys.stderr.write("gammabar: interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
