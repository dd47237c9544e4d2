"""``python -m gammabar`` is the command ``gammabar``."""

from gammabar.harness.cli import main

if __name__ == "__main__":
    main()
