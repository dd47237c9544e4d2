"""Tasks on a Dask cluster: every thread of a worker hands them to a process beside it.

Arithmetic with balls has one precision for a whole process, so tasks cannot share one; and a solver
that hangs or dies takes its own process with it, not the worker.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from gammabar.harness.run.keys import whole
from gammabar.harness.run.processes.crew import Crew
from gammabar.harness.run.task import Outcome, Task
from gammabar.problems import ProblemError
from gammabar.problems.environment import extra_module

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
