"""Processes that are started, asked, and ended whatever they are doing."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import gammabar

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


class Died(Exception):
    """The process ended without an answer; the message says how."""


class Hung(Exception):
    """The process gave no answer in time; the message says where it was."""


class Process:
    """A module of the project that runs in a process of its own, with a pipe to and from it.

    Parameters
    ----------
    module : str
        Its only argument is a file descriptor, to which it writes its stack on SIGUSR1.
    single : bool
        Whether its libraries are to use one thread each, because it is not alone.
    """

    #: Whether it gets a moment to end by itself what it has started.
    gentle = False

    def __init__(self, module: str, single: bool) -> None:
        self._dump = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        if single:
            environment |= dict.fromkeys(_THREADS, "1")
        # -P: a folder that happens to be called `gammabar` in the user's own must not be found.
        # Nothing but these three descriptors is inherited, least of all the way of our verdicts.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(self._dump.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            pass_fds=(self._dump.fileno(),),
            start_new_session=True,  # it and what it starts can be ended together
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._rest = bytearray()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, line: bytes) -> None:
        """Send a line.

        Raises
        ------
        Died
            After which the process is gone.
        """
        try:
            self._input.write(line + b"\n")
            self._input.flush()
        except BrokenPipeError:
            raise Died(self.ended()) from None

    def line(self, deadline: float, file: str = "") -> bytes:
        """The next line that it sends; see `receive`."""
        seen = 0
        while (end := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            if seen > LONGEST:
                self.close()
                raise Died("its process sent a line without end")
            self._more(deadline, file)
        found = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return found

    def receive(self, size: int, deadline: float, file: str = "") -> bytes:
        """The next bytes that it sends.

        Parameters
        ----------
        size : int
        deadline : float
            On the clock of `time.monotonic`.
        file : str
            The file in which to look for the place where it hangs.

        Raises
        ------
        Died, Hung
            After which the process is gone.
        """
        while len(self._rest) < size:
            self._more(deadline, file)
        found = bytes(self._rest[:size])
        del self._rest[:size]
        return found

    def _more(self, deadline: float, file: str) -> None:
        if not self._selector.select(max(0.0, deadline - monotonic())):
            raise Hung(self.where(file))
        more = os.read(self._output.fileno(), 1 << 20)
        if not more:
            raise Died(self.ended())
        self._rest += more

    def ended(self) -> str:
        """How the process ended, for people; if it has only closed its pipe, it is ended now."""
        try:
            code = self._process.wait(END)
        except subprocess.TimeoutExpired:
            self.close()
            return "its process closed the pipe to us"
        self.close()
        if code >= 0:
            return f"its process ended with exit code {code}"
        name = signal.Signals(-code).name
        hint = ": out of memory?" if -code == signal.SIGKILL else ""
        return f"its process was ended by {name}{hint}"

    def where(self, file: str) -> str:
        """End the process, and say which line of the file it was at."""
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
        lines = (line.strip() for line in stack if file and f'"{file}"' in line)
        found = (re.fullmatch(r'File "(.*)", line (\d+) in (.*)', line) for line in lines)
        places = (f" ({one[1]}, line {one[2]}, in {one[3]})" for one in found if one)
        return next(places, "")

    def kill(self) -> None:
        """End the process and its group, at once; whoever waits for its answer gets `Died`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # its session is its own, so the group is as well
        self._process.kill()

    def dismiss(self) -> None:
        """Tell the process to end, as it does when there is nobody to answer any more."""
        with contextlib.suppress(OSError, ValueError):
            self._input.close()

    def close(self) -> None:
        """End the process and forget it."""
        if not self._output.closed:
            self.dismiss()
            if self.gentle:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(END)
            self.kill()
            self._process.wait()
            self._selector.close()
            for stream in (self._input, self._output, self._dump):
                with contextlib.suppress(BrokenPipeError):  # a request that nobody will read
                    stream.close()
