"""Processes that carry out tasks, and are replaced when a task brings them down.

A run may take too long, also within compiled code that no signal reaches, use up the memory, or end
its process. So the processes are ours: each does one task at a time, is asked for an answer within
a time limit, and is ended if there is none. Nobody else's task is lost by that. A user's solver is
not even in there, but in a process beside it (`gammabar.harness.run.sandbox`).

A process that carries out tasks, started by `gammabar.harness.run.pool`.

Lines of JSON come in on stdin and go out on what was stdout; what a solver prints goes to stderr.
It ends as soon as its parent does, in whatever way, and with it all that it or a user's solver has
started.

Tasks on a Dask cluster: every thread of a worker hands them to a process beside it.

Arithmetic with balls has one precision for a whole process, so tasks cannot share one; and a solver
that hangs or dies takes its own process with it, not the worker.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from time import monotonic
from typing import Any, Self

from gammabar.harness.run.processes import (
    GRACE,
    START,
    Died,
    Hung,
    Process,
    adopt,
    end_orphans,
    out_of_time,
)
from gammabar.harness.run.provenance import whole
from gammabar.harness.run.results import Outcome, Task
from gammabar.harness.run.specs import InFile
from gammabar.problems import ProblemError
from gammabar.problems.environment import extra_module


class Child(Process):
    """One process of `gammabar.harness.run.pool`.

    Parameters
    ----------
    single : bool
        Whether its libraries are to use one thread each, because it is not alone.
    """

    gentle = True

    def __init__(self, single: bool) -> None:
        super().__init__("gammabar.harness.run.pool", single)
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
        """Carry out a task, as `gammabar.harness.run.engine.perform` does, whatever happens."""
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


def main(dump: int, handle: Callable[[dict[str, Any], int], dict[str, Any]] | None = None) -> None:
    """Answer requests until the parent closes the pipe.

    Parameters
    ----------
    dump : int
        File descriptor for the stack, should the parent ask where this process hangs.
    handle : callable, optional
        What answers a request, given it and the descriptor. By default it carries out tasks.
    """
    handle = _handle if handle is None else handle
    adopt()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    faulthandler.register(signal.SIGUSR1, file=dump)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()

    while True:
        _answer(channel, handle(json.loads(requests.get()), dump))


def _listen(requests: queue.SimpleQueue[str]) -> None:
    try:
        for line in sys.stdin.buffer:
            requests.put(line.decode("utf-8"))
    finally:  # the parent is gone, or not to be understood, even if a task is under way
        end_orphans(keep=())
        os._exit(0)


def _answer(channel: Any, message: dict[str, Any]) -> None:
    try:
        channel.write(json.dumps(message) + "\n")
        channel.flush()
    except BrokenPipeError:  # the parent was interrupted a moment ago, and nobody listens
        end_orphans(keep=())
        os._exit(0)


def _handle(request: dict[str, Any], dump: int) -> dict[str, Any]:
    if "ready" in request:
        return {}
    if "probe" in request:
        return _probe(request["probe"], request["limit"])
    if "invite" in request:
        from gammabar.harness.run.sandbox import guest_for
        from gammabar.harness.run.specs import InFile

        guest_for(InFile(**request["invite"]))
        return {}
    from gammabar.harness.run.engine import perform, warm_up
    from gammabar.harness.run.results import Task
    from gammabar.harness.run.sandbox import settle

    if "warm" in request:  # the heavy imports, which no time limit should count
        warm_up()
        return {"warm": True}
    task = Task.from_dict(request)
    # Should the parent be gone while compiled code keeps the interpreter, nothing else ends us.
    faulthandler.dump_traceback_later(task.limit + 2 * GRACE, exit=True, file=dump)
    try:
        return perform(task).as_dict()
    finally:
        settle()
        faulthandler.cancel_dump_traceback_later()


def _probe(values: dict[str, str], limit: float) -> dict[str, Any]:
    """Whether a user's solver can be loaded, and which one of the registry it stands for."""
    from gammabar.harness.run.processes import Crashed, Died, Hung, out_of_time
    from gammabar.harness.run.sandbox import guest_for
    from gammabar.harness.run.specs import InFile
    from gammabar.problems import ProblemError

    solver = InFile(**values)
    try:
        opened = guest_for(solver).open(solver, limit)
    except ProblemError as error:
        return {"error": str(error)}
    except Hung as error:
        why = out_of_time(limit, str(error))
    except (Died, Crashed) as error:
        why = str(error)
    else:
        return {"name": getattr(getattr(opened, "card", None), "name", None)}
    return {"error": f"{solver.file}: cannot be imported: {why}"}


if __name__ == "__main__":
    main(int(sys.argv[1]))


#: Seconds to wait for the scheduler.
CONNECT = 10


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster at an address, whose workers run this very code."""
    distributed = extra_module("distributed", "dask", "--dask")
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ProblemError(f"--dask {address}: no Dask scheduler answers there ({error})") from None
    with client:
        _greet(client, address)
        yield client


def stream(todo: list[tuple[int, Task]], address: str) -> Iterator[tuple[int, Outcome]]:
    """Carry out tasks on the cluster at an address, in any order."""
    distributed = extra_module("distributed", "dask", "--dask")
    with connected(address) as client:
        futures = {
            client.submit(perform, task.as_dict(), pure=False, retries=1): (place, task)
            for place, task in todo
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                place, task = futures[future]
                yield place, _outcome(future, task)
        finally:
            client.cancel(list(futures))


def _greet(client: Any, address: str) -> None:
    """Workers must run the same code: else their verdicts would be stored under a false key."""
    here = whole()
    try:
        there = _there(client)
    except Exception as error:
        last = traceback.format_exception_only(error)[-1].strip()
        raise ProblemError(f"--dask {address}: workers cannot run gammabar ({last})") from None
    if not there:
        raise ProblemError(f"--dask {address}: the cluster has no workers")
    for worker, found in there.items():
        if found != here:
            raise ProblemError(f"--dask {address}: the worker {worker} has another gammabar")


def _there(client: Any) -> dict[str, str]:
    return dict(client.run(whole))


def _outcome(future: Any, task: Task) -> Outcome:
    if future.status == "finished":
        return Outcome.from_dict(future.result())
    if future.status == "cancelled":
        return Outcome.failure(task, "crashed", "the cluster has cancelled it")
    last = traceback.format_exception_only(future.exception())[-1].strip()
    return Outcome.failure(task, "crashed", f"the cluster could not run it: {last}")


@cache
def _crew() -> Crew:
    return Crew()


def perform(values: dict[str, Any]) -> dict[str, Any]:
    """Carry out a task on a worker."""
    return _crew().perform(Task.from_dict(values)).as_dict()
