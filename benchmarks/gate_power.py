"""Does the gate stay quiet on identical code, and does it catch what it is there for?

    python benchmarks/gate_power.py [--runs 10] [--load 4] [--bench TEXT] [FAULT ...]

Clones the last commit into a temporary folder and runs ``gammabar gate HEAD`` there: as it is
("same", the default), or with a fault planted in the working files. ``--load`` keeps so many other
processes busy meanwhile. Exit code 1 if there is a false alarm or a miss.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

HOG = """
import os
block, parent = bytearray(1 << 24), os.getppid()
while os.getppid() == parent:
    for _ in range(100_000): pass
    copied = bytes(block)
"""

SLOW_KERNEL = '''

_whole = dense_softmin


@_in_order
def dense_softmin(X, y, w, factors, scores, pull, lo, hi, block):
    """Three tenths of the rows twice."""
    again = np.zeros(len(pull))
    some = lo + 3 * (hi - lo) // 10
    _whole(X, y, w, factors, scores, again, lo, some, block)
    return _whole(X, y, w, factors, scores, pull, lo, hi, block)
'''


@dataclass(frozen=True)
class Fault:
    """A line of a file and what stands there instead; or, without a line, what is appended."""

    file: str
    line: str
    instead: str
    bench: str

    def plant(self, tree: Path) -> None:
        path = tree / self.file
        text = path.read_text(encoding="utf-8")
        if self.line and text.count(self.line) != 1:
            sys.exit(f"{self.file}: {self.line!r} is not there exactly once: adapt this script")
        new = text.replace(self.line, self.instead) if self.line else text + self.instead
        path.write_text(new, encoding="utf-8")


_METHOD = "solvers/ji_srebro_telgarsky.py"
_PASS = "soft = problem.softmin(w)  # one pass over the data\n"
_INDENT = " " * 16

FAULTS = {
    "slow-kernel": Fault("problems/compiled.py", "", SLOW_KERNEL, "bench_jst.Iteration.time_step"),
    "extra-pass": Fault(
        _METHOD, _PASS, f"{_PASS}{_INDENT}problem.scores(w)\n", "bench_jst.Convergence"
    ),
    "extra-iteration": Fault(
        _METHOD,
        "yield Iterate(t, w, problem, soft,",
        f"if t == 0:\n{_INDENT}yield Iterate(0, w, problem)\n{_INDENT[4:]}"
        "yield Iterate(t + 1, w, problem, soft,",
        "bench_jst.Convergence",
    ),
    "leak": Fault(
        _METHOD,
        _PASS,
        f"{_PASS}{_INDENT}globals().setdefault('_KEPT', []).append(soft)\n",
        "bench_jst.Memory",
    ),
}


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Other processes that use the processors and the memory."""
    hogs = [subprocess.Popen([sys.executable, "-c", HOG]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def gate(tree: Path, bench: str | None) -> dict[str, Any]:
    """What ``gammabar gate HEAD`` says in a tree."""
    command = [sys.executable, "-P", "-m", "gammabar", "gate", "HEAD", "--json"]
    done = subprocess.run(
        command + (["--bench", bench] if bench else []),
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"the gate failed: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def describe(result: dict[str, Any]) -> str:
    rounds = " ".join(f"{r:.2f}" for r in result["rounds"])
    return f"{result['name']}: {result['verdict']} {rounds or result['ratio'] or ''}".strip()


def trial(name: str, runs: int, bench: str | None) -> int:
    """Run the gate so often with one fault, or none; returns how often it was right."""
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True)
        if name != "same":
            FAULTS[name].plant(tree)
            bench = bench or FAULTS[name].bench
        for number in range(1, runs + 1):
            start = perf_counter()
            answer = gate(tree, bench)
            bad = [r for r in answer["results"] if r["verdict"] in ("worse", "failed")]
            right += bool(bad) == (name != "same")
            seconds, load = perf_counter() - start, os.getloadavg()[1]
            print(
                f"{name} {number}/{runs}: {len(bad)} regressions, {seconds:.0f} s, "
                f"load average {load:.1f}",
                flush=True,
            )
            repeated = [r for r in answer["results"] if r in bad or len(r["rounds"]) > 1]
            for result in repeated:
                print(f"    {describe(result)}", flush=True)
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("fault", nargs="*", metavar="FAULT", help=f"same, {', '.join(FAULTS)}")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--load", type=int, default=0, help="other busy processes")
    parser.add_argument("--bench", help="only benchmarks whose name contains this")
    options = parser.parse_args()
    names = options.fault or ["same"]
    if unknown := [name for name in names if name != "same" and name not in FAULTS]:
        parser.error(f"{unknown[0]} is no fault; there are same, {', '.join(FAULTS)}")
    with busy(options.load):
        right = {name: trial(name, options.runs, options.bench) for name in names}
    for name, count in right.items():
        what = "quiet" if name == "same" else "caught"
        print(f"{name}: {what} in {count} of {options.runs} runs, load {options.load}")
    sys.exit(any(count < options.runs for count in right.values()))


if __name__ == "__main__":
    main()
