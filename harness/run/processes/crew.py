"""Processes that carry out tasks, and are replaced when a task brings them down.

A run may take too long, also within compiled code that no signal reaches, use up the memory, or end
its process. So the processes are ours: each does one task at a time, is asked for an answer within
a time limit, and is ended if there is none. Nobody else's task is lost by that. A user's solver is
not even in there, but in a process beside it (`gammabar.harness.run.processes.remote`).
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from time import monotonic
from typing import Any, Self

from gammabar.harness.run.limits import GRACE, out_of_time
from gammabar.harness.run.processes.process import START, Died, Hung, Process
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.run.task import Outcome, Task


class Child(Process):
    """One process of `gammabar.harness.run.processes.child`.

    Parameters
    ----------
    single : bool
        Whether its libraries are to use one thread each, because it is not alone.
    """

    gentle = True

    def __init__(self, single: bool) -> None:
        super().__init__("gammabar.harness.run.processes.child", single)
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
        self.send(json.dumps(request).encode())
        answer = json.loads(self.line(monotonic() + limit, file))
        assert isinstance(answer, dict)
        return answer

    def start(self, request: str) -> None:
        """Wait until the process is "ready", or "warm": has imported what solvers need."""
        if request not in self._started:
            self._prepare({request: True})
            self._started.add(request)

    def invite(self, solver: InFile) -> None:
        """Wait until the process has another one beside it for a user's solver."""
        self._prepare({"invite": asdict(solver)})

    def _prepare(self, request: dict[str, Any]) -> None:
        try:
            self.ask(request, START)
        except (Died, Hung) as error:
            raise RuntimeError(f"a process that is to run solvers did not start: {error}") from None


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
        solver = task.run.solver
        start = monotonic()
        try:
            guest = solver if isinstance(solver, InFile) else None
            return Outcome.from_dict(self._ask(task.as_dict(), task.limit + GRACE, "warm", guest))
        except Hung:
            reason = out_of_time(task.limit, ", its process was killed")
            return Outcome.failure(task, "timeout", reason, round(monotonic() - start, 6))
        except Died as error:
            return Outcome.failure(task, "crashed", str(error), round(monotonic() - start, 6))

    def probe(self, solver: InFile, limit: float) -> dict[str, Any]:
        """Load a user's solver: {"error": sentence}, or {"name": of the one it stands for}."""
        try:
            request = {"probe": asdict(solver), "limit": limit}
            return self._ask(request, limit + GRACE, "ready", solver)
        except (Died, Hung) as error:
            return {"error": f"{solver.file}: cannot be imported: {error}"}

    def _ask(
        self, request: dict[str, Any], limit: float, start: str, guest: InFile | None
    ) -> dict[str, Any]:
        with self._lock:
            if self._closed:
                raise Died("the run was interrupted")
            child = self._idle.pop() if self._idle else Child(self._single)
            self._all.add(child)
        try:
            child.start(start)
            if guest is not None:
                child.invite(guest)
            answer = child.ask(request, limit)
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
            idle, busy = list(self._idle), self._all.difference(self._idle)
            self._idle, self._all = [], set()
        for child in busy | set(idle):
            child.dismiss()  # they end at once, and end what they have started
        for child in idle:
            child.close()
