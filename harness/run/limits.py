"""What ends a run before its time: an exception of the solver, or the time limit."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from gammabar.harness.verify.iterate import Fault
from gammabar.problems import ProblemError

#: Seconds between the limit, at which a run is interrupted, and the end of its process.
GRACE = 5.0
#: The package that calls Python from within compiled code while Numba compiles.
COMPILER = "llvmlite"


class Crashed(Fault):
    """The solver raised an exception, or yielded what is no iterate."""


class OutOfTime(Fault):
    """The time limit has passed."""

    failure = "timeout"


class Unfit(Exception):
    """The solver says that it cannot run on this problem."""


def place(stack: traceback.StackSummary, file: str) -> str:
    """Where in a file the innermost call is that is in it: " (my.py, line 7, in iterates)"."""
    for frame in reversed(stack):
        if frame.filename == file:
            return f" ({file}, line {frame.lineno}, in {frame.name})"
    return ""


def crashed(error: BaseException, file: str) -> Crashed:
    """What a solver raised: the last line of the traceback, and where in its file."""
    plain = isinstance(error, ProblemError)  # a sentence for people already
    last = str(error) if plain else traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, SyntaxError):
        return Crashed(f"{last} ({error.filename}, line {error.lineno})")
    stack = traceback.StackSummary.extract(_walk(error.__traceback__), lookup_lines=False)
    return Crashed(last + place(stack, file))


def _walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


@contextmanager
def time_limit(seconds: float, file: str) -> Iterator[None]:
    """Raise `OutOfTime` in this thread after so many seconds, wherever it then is.

    It works in the main thread alone, and not while compiled code keeps the interpreter: for that,
    solvers of users run in processes of their own (`gammabar.harness.run.processes.crew`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_: int, frame: FrameType | None) -> None:
        stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
        stack.reverse()
        if any(COMPILER in Path(step.filename).parts for step in stack):
            return  # its callbacks would print and swallow an exception; the next alarm comes soon
        raise OutOfTime(out_of_time(seconds, place(stack, file)))

    before: Any = signal.signal(signal.SIGALRM, late)
    # Again and again, should a solver swallow the first or another statement go on.
    signal.setitimer(signal.ITIMER_REAL, seconds, GRACE / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def out_of_time(seconds: float, where: str) -> str:
    """The sentence for a run that did not end."""
    return f"no end within {seconds:g} s{where}"
