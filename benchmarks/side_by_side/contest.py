"""Contests: all contestants of a table in turns, in one run.

Two kinds. `interleaved` times short pieces of work in this process. `race` is for contestants that
may fail: they run in a worker process that has the data in memory, so that one that hangs or
crashes ends its worker and nothing else, and its failure is a result like any other.

Of a race the best of several turns counts, as other work on the machine can only make it slower; of
short work the median. Every turn has an order of its own: what one contestant leaves behind in
caches and threads hits them all.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any, Self

from gammabar.harness.screen import Stage
from gammabar.problems import ProblemError

#: Threads of a BLAS spin for a while after a product; in a pause they go to sleep, so that no
#: contestant shares its cores with the leftovers of the one before.
PAUSE = 0.2
#: What takes longer than this many seconds is not run again.
LONG = 5.0


@dataclass(frozen=True)
class Entry:
    """A contestant.

    Attributes
    ----------
    name : str
    run : callable
        What is timed.
    judge : callable
        Facts about what `run` returned, for JSON, found after the clock has stopped; the fact
        ``failure`` says that it did not do its part, and why.
    proves : str
        What a user knows for certain about the result.
    needs : tuple of str
        Packages without which it is left out; they are imported before the clock starts.
    """

    name: str
    run: Callable[[], Any]
    judge: Callable[[Any], dict[str, Any]] = field(default=lambda _: {})
    proves: str = "nothing"
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """The contestants, ours first, and what is to be known about the data."""

    entries: list[Entry]
    about: dict[str, Any]


@dataclass
class Score:
    """How a contestant did: one element of `seconds` and `facts` for every run that ended well."""

    name: str
    proves: str
    seconds: list[float] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""
    absent: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The best time, and the facts of the last run, for JSON."""
        row: dict[str, Any] = {"name": self.name, "proves": self.proves, "absent": self.absent}
        row["seconds"] = min(self.seconds, default=None)
        row["runs"] = len(self.seconds)
        row |= self.facts[-1] if self.facts else {}
        return row | {"failure": self.failure}

    def add(self, answer: dict[str, Any]) -> None:
        """Take down one run."""
        self.failure = answer["failure"]
        if answer["seconds"] is not None:
            self.seconds.append(answer["seconds"])
            self.facts.append(answer["facts"])

    @property
    def again(self) -> bool:
        """Whether another run is worth its while."""
        return not self.absent and bool(self.seconds) and max(self.seconds) <= LONG


def race(
    setup: Callable[..., Field],
    *arguments: Any,
    repeat: int,
    limit: float,
    say: Stage,
    pause: float = PAUSE,
) -> tuple[dict[str, Any], list[Score]]:
    """Let contestants run in turns.

    Parameters
    ----------
    setup : callable
        ``setup(*arguments)`` makes the field, in the worker: a function of a module.
    repeat : int
        Number of turns.
    limit : float
        Seconds after which a contestant is stopped.
    say : callable
        Told who runs.
    pause : float
        Seconds before each run.

    Returns
    -------
    about : dict
        What the field says about the data.
    scores : list of Score
        In the order of the field.
    """
    order = random.Random(0)
    with Worker(setup, arguments, limit, pause) as worker:
        scores = [Score(name, proves, absent=absent) for name, proves, absent in worker.roster]
        for turn in range(repeat):
            for score in order.sample(scores, len(scores)):
                if score.again if turn else not score.absent:
                    say(f"{worker.about.get('data', '')}: {score.name}, turn {turn + 1}")
                    score.add(worker.run(score.name))
        return worker.about, scores


class Worker:
    """A process that has made a field and runs its contestants on demand."""

    def __init__(
        self,
        setup: Callable[..., Field],
        arguments: tuple[Any, ...],
        limit: float,
        pause: float = PAUSE,
    ) -> None:
        self._work = (setup, arguments)
        self._limit, self._pause = limit, pause
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, name: str) -> dict[str, Any]:
        """One run of a contestant: its seconds (None if it did not end), facts and failure."""
        if not self._process.is_alive():
            self._start()
        sleep(self._pause)
        self._pipe.send(name)
        if not self._pipe.poll(self._limit):
            self._end()
            return _failed(f"no answer within {self._limit:g} s")
        try:
            answer: dict[str, Any] = self._pipe.recv()
        except EOFError:
            self._end()
            return _failed(f"crashed its process (exit code {self._process.exitcode})")
        return answer

    def _start(self) -> None:
        # A fork would inherit the locks of threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._work), daemon=True)
        self._process.start()
        theirs.close()
        try:
            said = self._pipe.recv()
        except EOFError:
            said = ProblemError("the process for the contestants ended before it had the data")
        if isinstance(said, Exception):
            self._end()
            raise said
        self.about, self.roster = said

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _failed(why: str) -> dict[str, Any]:
    return {"seconds": None, "facts": {}, "failure": why}


def _serve(pipe: Any, setup: Callable[..., Field], arguments: tuple[Any, ...]) -> None:
    """The worker: makes the field, then answers names with runs until it is killed."""
    # Some solvers print to the file descriptors, where nobody wants to read it.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _limit_memory()
    try:
        made = setup(*arguments)
        missing = {e.name: not all(map(find_spec, e.needs)) for e in made.entries}
        for entry in made.entries:
            for package in () if missing[entry.name] else entry.needs:
                import_module(package)
    except Exception as error:
        pipe.send(error)
        return
    pipe.send((made.about, [(e.name, e.proves, missing[e.name]) for e in made.entries]))
    entries = {entry.name: entry for entry in made.entries}
    while True:
        try:
            name = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(attempt(entries[name]))


def _limit_memory() -> None:
    """Most of the free memory, so that other programs on the machine keep theirs."""
    try:
        import resource

        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        resource.setrlimit(resource.RLIMIT_AS, (int(0.9 * 1024 * free), resource.RLIM_INFINITY))
    except (ImportError, ValueError, OSError, StopIteration):  # not on this system
        pass


def attempt(entry: Entry) -> dict[str, Any]:
    """Run a contestant once; whatever it does wrong is an answer."""
    start, used = perf_counter(), process_time()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = entry.run()
            seconds, used = perf_counter() - start, process_time() - used
        facts = {"computing": used} | entry.judge(result)
    except MemoryError:
        return _failed("not enough memory")
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return _failed(words if len(words) <= 100 else words[:99] + "…")
    failures = [facts.pop("failure", "")]
    if any(w.category.__name__ == "ConvergenceWarning" for w in caught):
        failures.append("iteration limit reached")
    failure = ", ".join(filter(None, failures))
    return {"seconds": seconds, "facts": facts, "failure": failure}


def interleaved(work: dict[str, Callable[[], Any]], repeat: int, runs: int = 6) -> dict[str, float]:
    """Median seconds of each piece of work, taken in turns of a few runs each.

    The first run of a turn wakes threads up and does not count; the others are the steady state
    that iterations are in. Medians, because the quickest of many runs of something that takes
    milliseconds tells how lucky it was with caches that are shared with other machines.
    """
    seconds: dict[str, list[float]] = {name: [] for name in work}
    order = random.Random(0)
    for _ in range(repeat):
        for name in order.sample(list(work), len(work)):
            sleep(PAUSE)
            seconds[name] += [seconds_of(work[name]) for _ in range(runs)][min(1, runs - 1) :]
    return {name: median(all_) for name, all_ in seconds.items()}


def seconds_of(run: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    start = perf_counter()
    run()
    return perf_counter() - start
