"""What a target is, what is demanded of it, and the search for inputs that break it."""

from __future__ import annotations

import argparse
import atexit
import hashlib
import re
import shlex
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from gammabar.problems import ProblemError

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a terminal obeys these instead of showing them
_POOL = 2000  # inputs that are kept to be spoilt further
_LONG = 4096  # bytes of an input that is not kept: the next ones would be longer still, and slow
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where there is a disk in memory
_SHAPE = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9]+")


class Fault(AssertionError):
    """What is wrong with the answer to an input."""


class TooSlow(BaseException):
    """Raised in the middle of a run that has used up its time; nothing may catch it."""


@dataclass(frozen=True)
class Target:
    """Something that takes inputs from outside.

    Attributes
    ----------
    seeds : callable
        Valid inputs, made by the project's own writers; called once.
    spoil : callable
        One mutation of an input.
    run : callable
        Tries the file of the input. It returns what was read (anything), or raises one of
        `refusals`, or `Fault` if the answer is wrong.
    refusals : tuple of exception types
        How an input may be refused. The message must be one sentence: a line, not empty, without
        control characters, and not a page long.
    seconds : float
        Processor time that one input may take.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    spoil: Callable[[bytes, Random], bytes]
    run: Callable[[Path], Any]
    refusals: tuple[type[Exception], ...] = (ProblemError,)
    suffix: str = ".txt"
    seconds: float = 2.0

    def attempt(self, path: Path) -> str:
        """Try the input in a file: "" if it was read, else the sentence; `Fault` otherwise."""
        began, said = time.process_time(), ""
        try:
            with _limit(self.seconds), warnings.catch_warnings():
                warnings.simplefilter("error")  # a warning is not an answer
                self.run(path)
        except self.refusals as refusal:
            said = str(refusal)
            if not said.strip() or len(said) > 2000:
                raise Fault(f"the reason has {len(said)} characters: {said[:200]}") from None
            if found := _CONTROL.search(said):
                reason = f"the reason has the control character {found.group()!r}: {said!r}"
                raise Fault(reason) from None
        except Fault:
            raise
        except TooSlow:
            raise Fault(f"not done after {self.seconds} s of processor time") from None
        except (Exception, SystemExit) as error:
            raise Fault(f"{type(error).__name__}: {error}") from error
        spent = time.process_time() - began
        if spent > self.seconds:
            raise Fault(f"took {spent:.1f} s of processor time, more than {self.seconds}")
        return said


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Stop what runs too long. One call into C is not interrupted, only measured afterwards."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def targets() -> dict[str, Target]:
    """Every target of this folder by its name."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("fuzz_*.py"))
    listed = [t for name in modules for t in import_module(f".{name}", __package__).TARGETS]
    return {target.name: target for target in sorted(listed, key=lambda target: target.name)}


def choice_of(data: bytes, options: Sequence[Any]) -> Any:
    """One of several ways to read an input, which depends on the input alone."""
    return options[zlib.crc32(data) % len(options)]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def lasting_folder(files: dict[str, bytes]) -> Path:
    """A folder with these files, which lasts as long as the process."""
    holder = tempfile.TemporaryDirectory(prefix="gammabar-fuzz-")
    atexit.register(holder.cleanup)
    for name, content in files.items():
        (Path(holder.name) / name).write_bytes(content)
    return Path(holder.name)


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
        self.path = work / f"{target.name}{target.suffix}"
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
            data = self.rng.choice(self.pool if self.rng.random() < 0.5 else self.seeds)
            for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3, 5])):
                data = self.target.spoil(data, self.rng)
            said = self._try(data)
            if said is not None:
                kind = _SHAPE.sub("", said)
                if kind not in self.tally.reasons or self.rng.random() < 0.01:
                    self._remember(data)
                self.tally.reasons |= {kind} - {""}
            now = time.monotonic()
        self.tally.seconds += now - began
        return self.tally

    def _remember(self, data: bytes) -> None:
        if len(data) <= _LONG and len(self.pool) < _POOL:
            self.pool.append(data)
        elif len(data) <= _LONG:
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
        frames = traceback.extract_tb((fault.__cause__ or fault).__traceback__)
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        kind = f"{_SHAPE.sub('', str(fault))[:200]} {where}"
        if kind in self.tally.faults:
            return
        self.keep.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(data).hexdigest()[:12]
        path = self.keep / f"{self.target.name}-{name}{self.target.suffix}"
        path.write_bytes(data)
        self.tally.faults[kind] = path
        command = shlex.join(["python", "-m", "tests.fuzz", self.target.name, "--input", str(path)])
        print(f"FAULT {self.target.name}: {str(fault)[:300]!r}\n  again: {command}", flush=True)


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
    tallies = []
    with tempfile.TemporaryDirectory(prefix="gammabar-fuzz-", dir=_MEMORY) as work:
        for target in chosen:
            fuzzer = Fuzzer(target, options.seed, Path(work), options.keep)
            tallies.append(fuzzer.run(options.seconds / len(chosen), options.inputs))
            print(tallies[-1], flush=True)
    tried, faults = sum(t.tried for t in tallies), sum(len(t.faults) for t in tallies)
    seconds = sum(t.seconds for t in tallies)
    print(f"{tried:,} inputs in {seconds:.0f} s, {tried / max(seconds, 1):,.0f} a second")
    print(f"{faults} faults" if faults else "no fault")
    return 1 if faults else 0


def _again(chosen: list[Target], path: Path) -> int:
    if len(chosen) != 1:
        print("name the one target that the input is for", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gammabar-fuzz-", dir=_MEMORY) as work:
        copy = Path(work) / f"{chosen[0].name}{chosen[0].suffix}"
        copy.write_bytes(path.read_bytes())
        try:
            said = chosen[0].attempt(copy)
        except Fault as fault:
            traceback.print_exception(fault.__cause__ or fault)
            return 1
    print(f"refused: {said}" if said else "read")
    return 0
