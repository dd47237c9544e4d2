"""Pool of worker processes, and tasks on a Dask cluster.

A run may take too long, also within compiled code that no signal reaches, use up the memory, or end
its process. So each worker does one thing at a time, has to answer within a time limit, and is
ended and replaced if it does not. A worker calls functions of this package by their names:
requests and answers are lines of JSON. It ends as soon as its parent does, in whatever way, and
with it all that it has started. A user's solver runs in a further process beside it
(`gammabar.harness.run.sandbox`).
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any, Self

from gammabar.harness.run.processes import (
    GRACE,
    START,
    Crashed,
    Limit,
    Process,
    adopt,
    end_orphans,
    serving,
    started,
)
from gammabar.harness.run.tasks import InFile, Outcome, Task
from gammabar.harness.verify.iterate import Fault
from gammabar.problems import ProblemError
from gammabar.problems.environment import extra_module

#: Exceptions that users can do something about, which travel.
_RAISED = {"ProblemError": ProblemError, "OSError": OSError, "MemoryError": MemoryError}
_PERFORM = "gammabar.harness.run.engine:_perform_values"
_SANDBOX = "gammabar.harness.run.sandbox"
#: Seconds to wait for the scheduler of a cluster.
CONNECT = 10


class _Worker(Process):
    gentle = True

    def __init__(self, single: bool) -> None:
        super().__init__(*started(f"{__name__}:serve", single))

    def call(
        self, function: str, arguments: dict[str, Any], seconds: float, grace: float = 0.0
    ) -> Any:
        """What a function returns; exceptions that users can do something about are raised here."""
        request = {"call": function, "arguments": arguments, "limit": seconds + grace}
        self.send(json.dumps(request).encode())
        answer = json.loads(self.line(Limit(seconds, grace)))
        if "result" in answer:
            return answer["result"]
        raise _RAISED[answer["raised"]](*answer["arguments"])

    def prepare(self, solver: Any) -> None:
        """Import what tasks need, and start the process of a user's solver: none of its time."""
        mine = asdict(solver) if isinstance(solver, InFile) else None
        try:
            self.call(f"{_SANDBOX}:_prepare", {"solver": mine}, START)
        except Fault as error:
            raise RuntimeError(f"a process that is to run solvers did not start: {error}") from None


class Pool:
    """As many worker processes as are asked to work at once.

    Its methods may be called by several threads; each call has a process for itself. With `single`,
    libraries use one thread in each process, because there are several.
    """

    def __init__(self, single: bool = True) -> None:
        self._single = single
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def perform(self, task: Task) -> Outcome:
        """Carry out a task, as `gammabar.harness.run.engine.perform` does, whatever happens."""
        start = perf_counter()
        try:
            with self._worker() as worker:
                worker.prepare(task.run.solver)
                found = worker.call(_PERFORM, {"values": task.as_dict()}, task.limit, GRACE)
                outcome = Outcome.from_dict(found)
                if any(verdict.failure == "timeout" for verdict in outcome.verdicts):
                    worker.close()  # it was interrupted in the midst of who knows what
                return outcome
        except Fault as fault:
            return task.failed(fault.failure, str(fault), round(perf_counter() - start, 6))

    def probe(self, solver: InFile, limit: float, resembling: bool = False) -> dict[str, Any]:
        """Load a user's solver, see `gammabar.harness.run.sandbox`."""
        try:
            with self._worker() as worker:
                worker.prepare(solver)
                arguments = {"solver": asdict(solver), "limit": limit, "resembling": resembling}
                found: dict[str, Any] = worker.call(f"{_SANDBOX}:_probe", arguments, limit, GRACE)
                return found
        except Fault as error:
            return {"error": f"{solver.file}: cannot be imported: {error}"}

    def map(
        self, function: str, requests: Mapping[str, dict[str, Any]], jobs: int
    ) -> Iterator[tuple[str, Any]]:
        """Call a function with the arguments of each request; their names and results, as done."""

        def call(name: str) -> Any:
            try:
                with self._worker() as worker:
                    return worker.call(function, requests[name], _FOREVER)
            except Fault as error:
                raise ProblemError(f"{name}: {error}") from None

        names = list(requests)
        for place, found in self.in_threads(call, names, jobs):
            yield names[place], found

    def in_threads(
        self, call: Callable[[Any], Any], requests: Sequence[Any], jobs: int
    ) -> Iterator[tuple[int, Any]]:
        """Numbers of requests and answers to them, as done; then the pool is closed."""
        threads, futures = ThreadPoolExecutor(jobs), {}
        try:
            futures = {threads.submit(call, one): place for place, one in enumerate(requests)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()
            self.close()  # so that nobody waits any more
            threads.shutdown()

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        with self._lock:
            if self._closed:
                raise Crashed("the run was interrupted")
            worker = self._idle.pop() if self._idle else _Worker(self._single)
            self._busy.add(worker)
        well = False
        try:
            yield worker
            well = not worker.closed
        except ProblemError:  # which is an answer
            well = True
            raise
        finally:
            with self._lock:
                self._busy.discard(worker)
                well = well and not self._closed
                if well:
                    self._idle.append(worker)
            if not well:
                worker.close()

    def close(self) -> None:
        """End all processes, also those at work."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for worker in (*self._busy, *idle):
                worker.dismiss()  # they end at once, and end what they have started
        for worker in idle:
            worker.close()


#: Seconds that are waited for what has no limit.
_FOREVER = 10.0**6


# --- in a worker -----------------------------------------------------------------------------


def serve() -> None:
    """Answer requests until the parent closes the pipe."""
    adopt()
    requests, channel = serving(_leave)
    while True:
        request = requests.get()
        # Should the parent be gone while compiled code keeps the interpreter, nothing else ends us.
        late = request["limit"] + GRACE
        faulthandler.dump_traceback_later(late, exit=True, file=int(sys.argv[1]))
        answer = _answer(request)
        faulthandler.cancel_dump_traceback_later()
        try:
            channel.write(json.dumps(answer).encode() + b"\n")
            channel.flush()
        except BrokenPipeError:  # the parent was interrupted a moment ago, and nobody listens
            _leave()


def _leave() -> None:
    end_orphans(keep=())
    os._exit(0)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    module, _, name = request["call"].partition(":")
    try:
        return {"result": getattr(import_module(module), name)(**request["arguments"])}
    except ProblemError as error:
        return {"raised": "ProblemError", "arguments": [str(error)]}
    except OSError as error:
        return {"raised": "OSError", "arguments": [error.errno, error.strerror, error.filename]}
    except MemoryError:
        return {"raised": "MemoryError", "arguments": []}


# --- on a cluster ----------------------------------------------------------------------------


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the Dask cluster at an address, whose workers run this very code."""
    distributed = extra_module("distributed", "dask", "--dask")
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ProblemError(f"--dask {address}: no Dask scheduler answers there ({error})") from None
    # Dask logs tracebacks when a connection is lost; the sentence below says the same.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            _greet(client, address)
            yield client
        except (CancelledError, distributed.comm.core.CommClosedError):
            raise ProblemError(
                f"--dask {address}: the scheduler does not answer any more"
            ) from None


def stream(tasks: Sequence[Task], address: str) -> Iterator[tuple[int, Outcome]]:
    """Carry out tasks on the cluster at an address; their numbers and outcomes, as done.

    Arithmetic with balls has one precision for a whole process, so tasks cannot share one: every
    thread of a cluster's worker hands them to a process beside it.
    """
    distributed = extra_module("distributed", "dask", "--dask")
    with connected(address) as client:
        futures = {
            client.submit(_perform, task.as_dict(), pure=False, retries=1): place
            for place, task in enumerate(tasks)
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                if future.status == "cancelled" and client.status != "running":
                    raise CancelledError
                place = futures[future]
                yield place, _outcome(future, tasks[place])
        finally:
            client.cancel(list(futures))


def _greet(client: Any, address: str) -> None:
    """Workers must run the same code: else their verdicts would be stored under a false key."""
    from gammabar.harness.run.provenance import source

    try:
        there = dict(client.run(source))
    except Exception as error:
        if client.status != "running":
            raise CancelledError from None
        last = traceback.format_exception_only(error)[-1].strip()
        reason = f"workers cannot run gammabar ({last})"
        if isinstance(error, OSError):
            reason = "the connection to the cluster was lost before the run began; start again"
        raise ProblemError(f"--dask {address}: {reason}") from None
    if not there:
        raise ProblemError(f"--dask {address}: the cluster has no workers")
    for worker, found in there.items():
        if found != source():
            raise ProblemError(f"--dask {address}: the worker {worker} has another gammabar")


def _outcome(future: Any, task: Task) -> Outcome:
    if future.status == "finished":
        return Outcome.from_dict(future.result())
    if future.status == "cancelled":
        return task.failed("crashed", "the cluster has cancelled it")
    last = traceback.format_exception_only(future.exception())[-1].strip()
    return task.failed("crashed", f"the cluster could not run it: {last}")


@cache
def _pool() -> Pool:
    return Pool()


def _perform(values: dict[str, Any]) -> dict[str, Any]:
    return _pool().perform(Task.from_dict(values)).as_dict()
