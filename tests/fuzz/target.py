"""What a target is, and what is demanded of the thing that it tries."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.problems import ProblemError

# Characters that a terminal obeys instead of showing them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Fault(AssertionError):
    """What is wrong with the answer to an input."""


class TooSlow(BaseException):
    """Raised in the middle of a run that has used up its time; nothing may catch it."""


@dataclass(frozen=True)
class Target:
    """Something that takes inputs from outside.

    Attributes
    ----------
    name : str
        As on the command line.
    seeds : callable
        Valid inputs, made by the project's own writers; called once.
    spoil : callable
        One mutation of an input.
    run : callable
        Tries the file of the input. It returns what was read (anything), or raises one of
        `refusals`, or `Fault` if the answer is wrong.
    refusals : tuple of exception types
        How an input may be refused. The message must be one sentence: a line, not empty, without
        characters that a terminal obeys, and not a page long.
    suffix : str
        Of the file of an input.
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

    @property
    def file_name(self) -> str:
        return f"{self.name}{self.suffix}"

    def attempt(self, path: Path) -> str:
        """Try the input in a file: "" if it was read, else the sentence; `Fault` otherwise."""
        began = time.process_time()
        try:
            with _limit(self.seconds), warnings.catch_warnings():
                warnings.simplefilter("error")  # a warning is no answer
                self.run(path)
            said = ""
        except self.refusals as refusal:
            said = str(refusal)
            _check_sentence(said)
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


def _check_sentence(text: str) -> None:
    if not text.strip():
        raise Fault("refused without a reason")
    if found := _CONTROL.search(text):
        raise Fault(f"the reason has the control character {found.group()!r}: {text!r}")
    if len(text) > 2000:
        raise Fault(f"the reason has {len(text)} characters: {text[:200]}...")


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
    found = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name.startswith("fuzz_"):
            listed = importlib.import_module(f".{module.name}", __package__).TARGETS
            found |= {target.name: target for target in listed}
    return dict(sorted(found.items()))


def choice_of(data: bytes, options: Sequence[Any]) -> Any:
    """One of several ways to read an input, which depends on the input alone."""
    return options[zlib.crc32(data) % len(options)]
