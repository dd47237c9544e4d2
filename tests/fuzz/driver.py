"""Runs targets for a time or a number of inputs, and tells what came of it."""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .target import Fault, Target, targets

_POOL = 2000  # inputs that are kept to be spoilt further
_LONG = 4096  # bytes of an input that is not kept: the next ones would be longer still, and slow
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where there is a disk in memory
_SHAPE = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9]+")


@dataclass
class Tally:
    """What came of the inputs of one target."""

    target: Target
    tried: int = 0
    read: int = 0
    seconds: float = 0.0
    reasons: set[str] = field(default_factory=set)
    faults: dict[str, Path] = field(default_factory=dict)

    def __str__(self) -> str:
        faults = f", {len(self.faults)} FAULTS" if self.faults else ""
        return (
            f"{self.target.name:12} {self.tried:>9,} inputs in {self.seconds:.0f} s: "
            f"{self.read:,} read, {self.tried - self.read:,} refused for "
            f"{len(self.reasons)} kinds of reasons{faults}"
        )


class Fuzzer:
    """Tries one target, input after input.

    An input is one of the pool, spoilt a few times. The pool starts with the seeds; an input that
    is refused for a kind of reason not seen before joins it, and so do some of those that are
    read, so that mutations build on one another.
    """

    def __init__(self, target: Target, seed: int, work: Path, keep: Path) -> None:
        self.target, self.keep = target, keep
        self.path = work / target.file_name
        self.rng = Random(f"{target.name} {seed}")
        self.seeds = list(target.seeds())
        self.pool = list(self.seeds)
        self.tally = Tally(target)

    def run(self, seconds: float = float("inf"), inputs: float = float("inf")) -> Tally:
        """Go on for so many seconds, or until so many inputs have been tried."""
        began = now = time.monotonic()
        for data in self.seeds if not self.tally.tried else ():
            if said := self._try(data):
                self._fault(data, Fault(f"a valid input is refused: {said}"))
        while now - began < seconds and self.tally.tried < inputs:
            data = self._next()
            said = self._try(data)
            kind = "" if said is None else _SHAPE.sub("", said)
            if said is not None and (kind not in self.tally.reasons or self.rng.random() < 0.01):
                self._remember(data)
            if kind:
                self.tally.reasons.add(kind)
            now = time.monotonic()
        self.tally.seconds += now - began
        return self.tally

    def _next(self) -> bytes:
        data = self.rng.choice(self.pool if self.rng.random() < 0.5 else self.seeds)
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3, 5])):
            data = self.target.spoil(data, self.rng)
        return data

    def _remember(self, data: bytes) -> None:
        if len(data) > _LONG:
            return
        if len(self.pool) < _POOL:
            self.pool.append(data)
        else:
            self.pool[self.rng.randrange(len(self.seeds), _POOL)] = data

    def _try(self, data: bytes) -> str | None:
        """The reason of a refusal, "" if the input was read, None if it was a fault."""
        self.path.write_bytes(data)
        self.tally.tried += 1
        try:
            said = self.target.attempt(self.path)
        except Fault as fault:
            self._fault(data, fault)
            return None
        self.tally.read += not said
        return said

    def _fault(self, data: bytes, fault: Fault) -> None:
        """Save the input, unless the same fault has been seen."""
        origin = fault.__cause__ or fault
        frames = traceback.extract_tb(origin.__traceback__)
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        kind = f"{_SHAPE.sub('', str(fault))[:200]} {where}"
        if kind in self.tally.faults:
            return
        name = hashlib.sha256(data).hexdigest()[:12]
        self.keep.mkdir(parents=True, exist_ok=True)
        path = self.keep / f"{self.target.name}-{name}{self.target.suffix}"
        path.write_bytes(data)
        self.tally.faults[kind] = path
        command = shlex.join(["python", "-m", "tests.fuzz", self.target.name, "--input", str(path)])
        print(f"FAULT {self.target.name}: {str(fault)[:300]!r}\n  again: {command}", flush=True)


def quick(target: Target, inputs: int, seed: int, folder: Path) -> Tally:
    """A fixed number of inputs, for the test suite."""
    return Fuzzer(target, seed, folder, folder / "faults").run(inputs=inputs)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"of {', '.join(targets())}; all by default")
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--inputs", type=float, default=float("inf"), help="at most, per target")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="by default the time")
    parser.add_argument("--input", type=Path, help="try this file again, on one target")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="folder for faults")
    options = parser.parse_args(arguments)
    if unknown := set(options.target) - set(targets()):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(targets())}")
    chosen = [targets()[name] for name in options.target or targets()]
    if options.input is not None:
        return _again(chosen, options.input)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="gammabar-fuzz-", dir=_MEMORY) as work:
        share = options.seconds / len(chosen)
        fuzzers = [Fuzzer(target, options.seed, Path(work), options.keep) for target in chosen]
        tallies = [_told(fuzzer.run(share, options.inputs)) for fuzzer in fuzzers]
    tried, faults = sum(t.tried for t in tallies), sum(len(t.faults) for t in tallies)
    seconds = sum(t.seconds for t in tallies)
    print(f"{tried:,} inputs in {seconds:.0f} s, {tried / max(seconds, 1):,.0f} a second")
    print(f"{faults} faults" if faults else "no fault")
    return 1 if faults else 0


def _told(tally: Tally) -> Tally:
    print(tally, flush=True)
    return tally


def _again(chosen: list[Target], path: Path) -> int:
    if len(chosen) != 1:
        print("name the one target that the input is for", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gammabar-fuzz-", dir=_MEMORY) as work:
        copy = Path(work) / chosen[0].file_name
        copy.write_bytes(path.read_bytes())
        try:
            said = chosen[0].attempt(copy)
        except Fault as fault:
            traceback.print_exception(fault.__cause__ or fault)
            return 1
    print(f"refused: {said}" if said else "read")
    return 0
