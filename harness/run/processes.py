"""Processes that can be asked, timed and ended, whatever they do.

A solver may fork, and what it forks may leave its session and its parent (a daemon). Where the
system has a way to keep such orphans in the family, as Linux does, none is left behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import io
import json
import os
import queue
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any, BinaryIO

import gammabar
from gammabar.harness.verify.iterate import Fault
from gammabar.problems import ProblemError

#: Seconds in which a process must have imported everything.
START = 300.0
#: Seconds in which a process that is told to end must have done so.
END = 3.0
#: Bytes of the longest line that is read.
LONGEST = 1 << 28
#: What must be on the path for `import gammabar`.
_ROOT = Path(gammabar.__file__).resolve().parent.parent
#: Every library that would start threads of its own.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)


def started(function: str, single: bool) -> tuple[list[str], dict[str, str]]:
    """The command and the environment in which a function runs: "gammabar.harness.run.pool:serve".

    With `single`, libraries use one thread each, because the process is not alone.
    """
    module, _, name = function.partition(":")
    # -P: a folder that happens to be called `gammabar` in the user's own must not be found.
    command = [sys.executable, "-P", "-c", f"from {module} import {name}; {name}()"]
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return command, environment | (dict.fromkeys(_THREADS, "1") if single else {})


#: Seconds between the limit, at which a run is interrupted, and the end of its process.
GRACE = 5.0


class Crashed(Fault):
    """The solver raised an exception or yielded no iterate, or its process ended."""


class OutOfTime(Fault):
    """The time limit has passed."""

    failure = "timeout"


class Unfit(Exception):
    """The solver says that it cannot run on this problem."""


class Limit:
    """A time limit, which runs from now on; what hangs is ended `grace` seconds later."""

    def __init__(self, seconds: float, grace: float = 0.0) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds + grace

    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - monotonic())

    def passed(self, where: str) -> OutOfTime:
        """What is raised when it has passed."""
        return OutOfTime(f"no end within {self.seconds:g} s{where}")


class Process:
    """A program in a process of its own, with a pipe to and from it.

    One more argument follows the command: a file descriptor to which the program writes its stack
    on SIGUSR1. `errors` is its stderr, by default ours.
    """

    #: Whether it gets a moment to end by itself what it has started.
    gentle = False

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None = None,
        errors: IO[bytes] | None = None,
    ) -> None:
        self._dump = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        # Nothing but these descriptors is inherited, least of all the way of our verdicts.
        self._process = subprocess.Popen(
            [*command, str(self._dump.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            cwd=folder,
            pass_fds=(self._dump.fileno(),),
            start_new_session=True,  # it and what it starts can be ended together
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._rest = bytearray()
        self.pid = self._process.pid

    @property
    def closed(self) -> bool:
        """Whether it was ended and forgotten."""
        return self._output.closed

    def send(self, line: bytes) -> None:
        """Send a line, or raise `Crashed`."""
        try:
            self._input.write(line + b"\n")
            self._input.flush()
        except BrokenPipeError:
            raise Crashed(self.ended()) from None

    def line(self, limit: Limit, file: str = "") -> bytes:
        """The next line that it sends within a limit.

        Raises `Crashed` or `OutOfTime`, after which the process is gone; `file` is where to look
        for the place at which it hangs.
        """
        seen = 0
        while (end := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            if seen > LONGEST:
                self.close()
                raise Crashed("its process sent a line without end")
            if not self._selector.select(limit.left()):
                raise limit.passed(self.where(file))
            more = os.read(self._output.fileno(), 1 << 20)
            if not more:
                raise Crashed(self.ended())
            self._rest += more
        found = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return found

    def ended(self) -> str:
        """How the process ended, for people; if it has only closed its pipe, it is ended now."""
        try:
            code = self._process.wait(END)
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        if code is None:
            return "its process closed the pipe to us"
        if code >= 0:
            return f"its process ended with exit code {code}"
        hint = ": out of memory?" if -code == signal.SIGKILL else ""
        return f"its process was ended by {signal.Signals(-code).name}{hint}"

    def where(self, file: str) -> str:
        """End the process, and say which line of the file it was at, if that is known."""
        # The handler writes the stack whatever the interpreter is doing: at once, but for the load.
        self._process.send_signal(signal.SIGUSR1)
        before = 0
        for _ in range(15):
            sleep(0.2)
            size = os.fstat(self._dump.fileno()).st_size
            if size and size == before:
                break
            before = size
        self._dump.seek(0)
        stack = self._dump.read().decode(errors="replace").splitlines()
        self.close()
        # faulthandler writes: File "my.py", line 7 in iterates
        pattern = rf'\s*File "({re.escape(file)})", line (\d+) in (.*)'
        found = (re.fullmatch(pattern, line) for line in stack if file)
        places = (f" ({one[1]}, line {one[2]}, in {one[3]})" for one in found if one)
        return next(places, ", its process was killed")

    def dismiss(self) -> None:
        """Tell the process to end, as it does when there is nobody to answer any more."""
        with contextlib.suppress(OSError, ValueError):
            self._input.close()

    def close(self) -> None:
        """End the process and its group, and forget it."""
        if self.closed:
            return
        self.dismiss()
        if self.gentle:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # its session is its own, so the group is as well
        self._process.kill()
        self._process.wait()
        self._selector.close()
        for stream in (self._input, self._output, self._dump):
            with contextlib.suppress(BrokenPipeError):  # a request that nobody will read
                stream.close()


def serving(leave: Callable[[], Any]) -> tuple[queue.SimpleQueue[Any], BinaryIO]:
    """In the process itself: the requests, as they come, and the pipe for the answers.

    What it prints goes to stderr, its stdin is empty, Ctrl-C is for its parent, and SIGUSR1 writes
    its stack. `leave` is called when the parent is gone, even if something is under way.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # the process may be ended at any time
        sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1, file=int(sys.argv[1]))
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen() -> None:
        with contextlib.suppress(Exception):
            for line in requests:
                received.put(json.loads(line))
        leave()

    threading.Thread(target=listen, daemon=True).start()
    return received, answers


#: Options of Linux's prctl.
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_adopting = False


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def adopt() -> None:
    """From now on, whatever descends from this process and loses its parent becomes its child."""
    global _adopting
    _adopting = _prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """This process ends with the thread that has started it."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)


def end_orphans(keep: Collection[int]) -> None:
    """End all that descends from this process but some, if it has adopted them.

    What those have started that stay is ended as well: a daemon in the making is still theirs, and
    would be ours a moment later.
    """
    if _adopting:
        # Whoever forks while he is looked for is found the next time: until there is nobody left.
        for _ in range(100):
            orphans = [pid for pid in _descendants() if pid not in keep]
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
            if not orphans:
                return


def _descendants() -> list[int]:
    """Children of this process, their children and so on; of the dead only those to be buried."""
    mine = os.getpid()
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # pid (name) state ppid …, and a name may have anything in it
                status = (entry / "stat").read_text(errors="replace")
                state, parent = status.rpartition(")")[2].split()[:2]
                if state not in "ZX" or int(parent) == mine:
                    parents.setdefault(int(parent), []).append(int(entry.name))
    found = list(parents.get(mine, ()))
    for pid in found:  # it grows
        found += parents.get(pid, ())
    return found


def place_in(stack: traceback.StackSummary, file: str) -> str:
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
    frames = traceback.walk_tb(error.__traceback__)
    stack = traceback.StackSummary.extract(frames, lookup_lines=False)
    return Crashed(last + place_in(stack, file))
