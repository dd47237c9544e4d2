"""The process of a user's solver, started by `gammabar.harness.run.processes.remote`.

It is told a solver and a problem, and sends iterates, as frames on what was stdout. Whatever the
solver does here, to the data, to this package or to the pipe, can only change its own iterates.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np

from gammabar.harness.run.limits import crashed
from gammabar.harness.run.processes.family import die_with_parent
from gammabar.harness.run.processes.frames import encode
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.run.texts import open_problem
from gammabar.harness.verify.iterate import Fault, taken_vector
from gammabar.problems import Problem, ProblemError
from gammabar.solvers import Iterate
from gammabar.solvers.adapters import counted


def main(dump: int) -> None:
    """Answer requests until the parent closes the pipe.

    Parameters
    ----------
    dump : int
        File descriptor for the stack, should the parent ask where this process hangs.
    """
    die_with_parent()
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a solver prints goes to stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started us all
    faulthandler.register(signal.SIGUSR1, file=dump)
    wishes: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, wishes), daemon=True).start()
    _warm_up()
    guest = _Guest(wishes, replies)
    while True:
        guest.answer(wishes.get())


def _listen(requests: BinaryIO, wishes: queue.SimpleQueue[dict[str, Any]]) -> None:
    with contextlib.suppress(Exception):
        for line in requests:
            wishes.put(json.loads(line))
    os.killpg(0, signal.SIGKILL)  # the parent is gone: so is this process, and what it has started


def _warm_up() -> None:
    problem = open_problem("loss-spike")
    problem.softmin(problem.origin())


@lru_cache(maxsize=4)
def _problem(text: str) -> Problem:
    return open_problem(text)


class _Guest:
    def __init__(self, wishes: queue.SimpleQueue[dict[str, Any]], replies: BinaryIO) -> None:
        self._wishes, self._replies = wishes, replies

    def _send(self, **message: Any) -> None:
        self._replies.write(encode(message))
        self._replies.flush()

    def answer(self, request: dict[str, Any]) -> None:
        """Load a solver, and run it if there is a problem to run it on."""
        if "solver" not in request:
            self._send(ready=True)
            return
        solver = self._open(InFile(**request["solver"]))
        if solver is not None and "problem" in request:
            self._run(solver, request)

    def _open(self, reference: InFile) -> Any:
        try:
            solver = reference.open()
        except ProblemError as error:
            self._send(error=str(error))
            return None
        except BaseException as error:  # it is the solver's own process
            self._send(error=str(crashed(error, reference.file)))
            return None
        card = getattr(getattr(solver, "card", None), "name", None)
        self._send(opened=_options(solver), made=type(solver).__name__, card=card)
        return solver

    def _run(self, solver: Any, request: dict[str, Any]) -> None:
        file = InFile(**request["solver"]).file
        try:
            problem, rng = _problem(request["problem"]), np.random.default_rng([request["seed"]])
            problem = problem.unit() if request["unit"] else problem
            for iterate in self._granted(counted(solver.iterates(problem, rng))):
                self._send(**_told(iterate))
            self._send(end=True)
        except Fault as error:
            self._send(crashed=str(error))
        except BaseException as error:  # it is the solver's own process
            self._send(crashed=str(crashed(error, file)))
        # Whatever else was granted, until we are told to stop.
        while not self._wishes.get().get("stop"):
            pass
        self._send(stopped=request["number"])

    def _granted(self, iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        """As many iterates as are asked for."""
        for iterate in iterates:
            wish = self._wishes.get()
            if wish.get("stop"):
                self._wishes.put(wish)
                return
            yield iterate


def _told(iterate: Iterate) -> dict[str, Any]:
    # An array of objects has no frame of its own; the court looks at whatever else is sent.
    w = iterate.w
    if isinstance(w, np.ndarray) and w.dtype.kind not in "biufc":
        w = taken_vector(w, f"w_{iterate.t}")
    claims = {"dual": iterate.dual, "momentum": iterate.momentum, "extra": dict(iterate.extra)}
    return {"t": iterate.t, "w": w, **claims}


def _options(solver: Any) -> dict[str, Any]:
    """What a solver says of itself: its public attributes that are numbers, texts or arrays."""
    found = {}
    for name in dir(solver):
        if not name.startswith("_"):
            with contextlib.suppress(Exception):
                value = getattr(solver, name)
                if isinstance(value, _TOLD):
                    found[name] = value
    return found


_TOLD = (bool, int, float, str, type(None), list, tuple, np.ndarray, np.generic)

if __name__ == "__main__":
    main(int(sys.argv[1]))
