"""Processes that carry out tasks, and are replaced when a task brings them down.

A solver may loop without end, also within compiled code that no signal reaches, use up the memory,
or end its process. So the processes are ours: each does one task at a time, is asked for an answer
within a time limit, and is killed if there is none. Nobody else's task is lost by that.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

import gammabar
from gammabar.harness.run.limits import GRACE, out_of_time
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.run.task import Outcome, Task

#: Seconds in which a process must have imported everything.
START = 300.0
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


class Child:
    """One process of `gammabar.harness.run.child`.

    Parameters
    ----------
    single : bool
        Whether its libraries are to use one thread each, because it is not alone.
    """

    def __init__(self, single: bool) -> None:
        self._dump = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        if single:
            environment |= dict.fromkeys(_THREADS, "1")
        # -P: a folder that happens to be called `problems` in the user's own must not be found.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gammabar.harness.run.child", str(self._dump.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            pass_fds=(self._dump.fileno(),),
        )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._rest = b""
        self._started: set[str] = set()

    def ask(self, request: dict[str, Any], limit: float, file: str = "") -> dict[str, Any]:
        """The answer to a request.

        Parameters
        ----------
        request : dict
        limit : float
            Seconds.
        file : str
            The file in which to look for the place where it hangs.

        Raises
        ------
        Died, Hung
            After which the process is gone.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Died(self._end()) from None
        return self._read(limit, file)

    def start(self, request: str) -> None:
        """Wait until the process is "ready", or "warm": has imported what solvers need."""
        if request in self._started:
            return
        try:
            self.ask({request: True}, START)
        except (Died, Hung) as error:
            raise RuntimeError(f"a process that is to run solvers did not start: {error}") from None
        self._started.add(request)

    def _read(self, limit: float, file: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = monotonic() + limit
        while b"\n" not in self._rest:
            if not self._selector.select(max(0.0, deadline - monotonic())):
                raise Hung(self._where(file))
            more = os.read(self._process.stdout.fileno(), 1 << 20)
            if not more:
                raise Died(self._end())
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def _end(self) -> str:
        """How the process ended, for people."""
        code = self._process.wait()
        self.close()
        if code >= 0:
            return f"its process ended with exit code {code}"
        name = signal.Signals(-code).name
        hint = ": out of memory?" if -code == signal.SIGKILL else ""
        return f"its process was ended by {name}{hint}"

    def _where(self, file: str) -> str:
        """Kill the process, and say which line of the file it was at."""
        # The handler writes the stack whatever the interpreter is doing: at once, but for the load.
        self._process.send_signal(signal.SIGUSR1)
        before = 0
        for _ in range(25):
            sleep(0.2)
            size = os.fstat(self._dump.fileno()).st_size
            if size and size == before:
                break
            before = size
        self._process.kill()
        self._process.wait()
        self._dump.seek(0)
        stack = self._dump.read().decode(errors="replace").splitlines()
        self.close()
        return next(
            (
                f" ({line.strip().removeprefix('File ').replace(chr(34), '')})"
                for line in stack
                if file and f'"{file}"' in line
            ),
            "",
        )

    def kill(self) -> None:
        """End the process, at once; whoever waits for its answer gets `Died`."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self._process.kill()
        self._process.wait()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._dump):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # a request that nobody will read
                    stream.close()


class Crew:
    """As many processes as are asked to work at once.

    Its methods may be called by several threads; each call has a process for itself.
    """

    def __init__(self, single: bool = True) -> None:
        self._single = single
        self._idle: list[Child] = []
        self._all: set[Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def perform(self, task: Task) -> Outcome:
        """Carry out a task, as `gammabar.harness.run.worker.perform` does, whatever happens."""
        file = task.run.solver.file if task.run.solver is not None else ""
        start = monotonic()
        try:
            answer = self._ask(task.as_dict(), task.limit + GRACE, file, "warm")
            return Outcome.from_dict(answer)
        except Hung as error:
            reason = out_of_time(task.limit, f"{error}, its process was killed")
            return Outcome.failure(task, "timeout", reason, round(monotonic() - start, 6))
        except Died as error:
            return Outcome.failure(task, "crashed", str(error), round(monotonic() - start, 6))

    def probe(self, solver: InFile, limit: float) -> dict[str, Any]:
        """Load a user's solver: {"error": sentence}, or {"name": of the one it stands for}."""
        file = solver.file
        try:
            return self._ask({"probe": asdict(solver)}, limit, file, "ready")
        except Hung as error:
            return {"error": f"{file}: cannot be imported: {out_of_time(limit, str(error))}"}
        except Died as error:
            return {"error": f"{file}: cannot be imported: {error}"}

    def _ask(self, request: dict[str, Any], limit: float, file: str, start: str) -> dict[str, Any]:
        with self._lock:
            if self._closed:
                raise Died("the run was interrupted")
            child = self._idle.pop() if self._idle else Child(self._single)
            self._all.add(child)
        try:
            child.start(start)
            answer = child.ask(request, limit, file)
        except BaseException:
            with self._lock:
                self._all.discard(child)
            child.close()
            raise
        # What was interrupted may have been an import, and has left who knows what half done.
        whole = not any(v["failure"] == "timeout" for v in answer.get("verdicts", ()))
        with self._lock:
            if whole and not self._closed:
                self._idle.append(child)
                return answer
            self._all.discard(child)
        child.close()
        return answer

    def close(self) -> None:
        """End all processes, also those at work."""
        with self._lock:
            self._closed = True
            idle, busy = self._idle, self._all.difference(self._idle)
            self._idle, self._all = [], set()
        for child in busy:
            child.kill()
        for child in idle:
            child.close()
