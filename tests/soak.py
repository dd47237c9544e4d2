"""The long tier: searches that run for hours, one after the other: ``make soak HOURS=1``.

Each search prints its seed and keeps what it finds. The exit code is 1 if one found a fault.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BALLS = "tests/harness/verify/test_balls.py"


def call(*arguments: str) -> bool:
    """Run a search; whether it found nothing."""
    print("===", *arguments, flush=True)
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode == 0


def attack(seconds: float, seed: int) -> bool:
    """Attack with one seed after the other until the time is over."""
    end, good = time.monotonic() + seconds, True
    while time.monotonic() < end and good:
        good = call("-m", "tests.attack", "--trials", "300", "--seed", str(seed))
        seed += 1
    return good


def main() -> int:
    """Run every search; the hours are divided between the attack, the fuzzer and slow tests."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    seconds, seed = 3600 * options.hours, options.seed
    print(f"seed {seed}")
    results = {
        "attack": attack(seconds / 3, seed),
        "fuzz": call("-m", "tests.fuzz", "--seconds", str(seconds / 3), "--seed", str(seed)),
        "balls": call(BALLS, str(int(1_000_000 * min(1.0, options.hours)))),
        "blur": call("-m", "tests.blur"),
        "kills": call("-m", "tests.kills", "--seed", str(seed)),
        "slow tests": call("-m", "pytest", "-m", "slow", "-q", f"--hypothesis-seed={seed}"),
        "gate on equal code": call("benchmarks/gate_power.py", "--runs", "3"),
    }
    for name, good in results.items():
        print(f"{name}: {'nothing found' if good else 'FAILED'}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
