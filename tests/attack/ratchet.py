"""The statements that a fixed, short run of the attack never decides: a list that may only shrink.

python -m tests.attack.ratchet      writes the list anew
"""

from __future__ import annotations

from pathlib import Path

from gammabar.harness.registry import load_statements

from . import further
from .trial import Tally, of_nothing, one

LIST = Path(__file__).with_name("undecided.txt")
SEED, PROBLEMS = 2026, 150


def never_decided() -> set[str]:
    """What is left of all statements after the run."""
    tally, number = Tally(), 0
    of_nothing(tally)
    while tally.trials < PROBLEMS:
        one(SEED, number, tally)
        further.one(SEED, number, tally)
        number += 1
    return set(load_statements()) - tally.decided()


def listed() -> set[str]:
    """What is known not to be decided."""
    return set(LIST.read_text().split())


if __name__ == "__main__":
    LIST.write_text("".join(f"{name}\n" for name in sorted(never_decided())))
