"""A user's solver as the court sees it: iterates that come from another process.

The court has the data, computes everything from w itself, and shares no memory with the solver.
The pipe on which verdicts travel is not inherited by the solver's process.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterator
from dataclasses import asdict
from time import monotonic
from typing import Any

from gammabar.harness.run.limits import Crashed, OutOfTime, out_of_time
from gammabar.harness.run.processes.family import end_orphans
from gammabar.harness.run.processes.frames import NoFrame, Untold, decode
from gammabar.harness.run.processes.process import START, Died, Hung, Process
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.run.task import Run
from gammabar.problems import ProblemError
from gammabar.solvers import Iterate
from gammabar.solvers.base import Card

#: Iterates that the solver may be ahead of the court.
AHEAD = 8
#: Seconds in which a solver must have stopped, lest its process be ended.
PATIENCE = 1.0


class RemoteSolver:
    """A solver in another process; it has the options that the solver says it has."""

    def __init__(self, guest: Guest, run: Run, options: dict[str, Any]) -> None:
        self._guest, self._run = guest, run
        vars(self).update({name: value for name, value in options.items() if name[:1] != "_"})

    def iterates(self, problem: Any = None, rng: Any = None) -> Iterator[Iterate]:
        """The iterates of the run for which it was opened."""
        return self._guest.iterates()


class Guest:
    """The process of a user's solver; one for all runs of a solver, as long as it is well."""

    def __init__(self) -> None:
        # As many threads as the process beside it: it has the same environment.
        self._process = Process("gammabar.harness.run.processes.guest", single=False)
        self._solver: InFile | None = None
        self._deadline, self._limit = 0.0, 0.0
        self._running = False
        self._number = 0
        self._end = "its process is gone"
        self.lost = False
        self._ask({})

    def ready(self) -> None:
        """Wait until it has imported everything."""
        try:
            self._next(monotonic() + START)
        except (Died, Hung) as error:
            raise RuntimeError(
                f"a process that is to run a solver did not start: {error}"
            ) from None

    def takes(self, solver: InFile) -> bool:
        """Whether it can be used for a solver: another one may have left something behind."""
        return not self.lost and self._solver in (None, solver)

    def open(self, solver: InFile, limit: float, run: Run | None = None) -> RemoteSolver:
        """Load the solver, and get ready for a run.

        Raises
        ------
        ProblemError
            If it cannot be loaded; the message says why.
        Died, Hung
        """
        self._solver, self._limit = solver, limit
        self._deadline = monotonic() + limit
        self._number += 1
        request: dict[str, Any] = {"solver": asdict(solver), "number": self._number}
        if run is not None:
            request |= {"problem": run.problem, "unit": run.unit, "seed": run.seed}
        self._ask(request)
        found = self._next(self._deadline)
        if "error" in found:
            raise ProblemError(str(found["error"]))
        self._running = run is not None
        options, made, card = found.get("opened"), str(found.get("made")), found.get("card")
        if not isinstance(options, dict):
            raise self._nonsense()
        more = {"card": Card(str(card), "", ())} if card is not None else {}
        kind = type(made, (RemoteSolver,), more)  # statements look at the card of the class
        return kind(self, run or Run(), options)

    def iterates(self) -> Iterator[Iterate]:
        """What the solver yields; what goes wrong there is a `Fault`."""
        number = self._number
        for _ in range(AHEAD):
            self._ask({"more": 1})
        try:
            while True:
                found = self._heard()
                if "crashed" in found:
                    raise Crashed(str(found["crashed"]))
                if "end" in found:
                    return
                yield self._iterate(found)
                self._ask({"more": 1})
        finally:
            if number == self._number:  # whoever closes this late must not end the next run
                self.stop()

    def _heard(self) -> dict[str, Any]:
        assert self._solver is not None
        try:
            return self._next(self._deadline)
        except Died as error:
            raise Crashed(str(error)) from None
        except Hung as error:
            raise OutOfTime(out_of_time(self._limit, str(error))) from None
        except OutOfTime:  # of the court, which has waited for the solver
            self.lost = True
            raise OutOfTime(
                out_of_time(self._limit, self._process.where(self._solver.file))
            ) from None

    def _iterate(self, found: dict[str, Any]) -> Iterate:
        t, extra = found.get("t"), found.get("extra")
        w: Any = found.get("w")
        if "w" not in found or not isinstance(extra, dict):
            raise self._nonsense()
        if isinstance(w, Untold):
            raise Crashed(f"w_{t} is no vector of numbers: it is {w!r}")
        # As it was sent: the court takes it over, and refuses what doubles do not hold.
        told = {name: value for name, value in extra.items() if not isinstance(value, Untold)}
        dual, momentum = _claim(found.get("dual")), _claim(found.get("momentum"))
        return Iterate(t, w, dual=dual, momentum=momentum, extra=told)  # type: ignore[arg-type]

    def stop(self) -> None:
        """End the run, if there is one, and whatever it has left behind."""
        if self._running and not self.lost:
            self._running = False
            try:
                self._ask({"stop": True})
                until = monotonic() + PATIENCE
                while self._next(until).get("stopped") != self._number:
                    pass
            except (Died, Hung, Crashed):
                self.close()
        end_orphans(keep=() if self.lost else (self._process.pid,))

    def close(self) -> None:
        """End the process, and all that it has started."""
        self.lost = True
        self._process.close()
        end_orphans(keep=())

    def _ask(self, request: dict[str, Any]) -> None:
        if self.lost:
            return
        try:
            self._process.send(json.dumps(request).encode())
        except Died as error:
            self.lost, self._end = True, str(error)  # whoever waits for the answer will hear of it

    def _next(self, deadline: float) -> dict[str, Any]:
        file = "" if self._solver is None else self._solver.file
        process = self._process
        if self.lost:
            raise Died(self._end)
        try:
            line = process.line(deadline, file)
            return decode(line, lambda size: process.receive(size, deadline, file))
        except (Died, Hung):
            self.lost = True
            raise
        except NoFrame:
            raise self._nonsense() from None

    def _nonsense(self) -> Crashed:
        self.close()
        return Crashed("its process sent something that is no iterate")


def _claim(value: Any) -> Any:
    """What a solver claims besides w."""
    return None if isinstance(value, Untold) else value


_GUEST: Guest | None = None


def guest_for(solver: InFile) -> Guest:
    """A process for a solver, which has imported everything."""
    global _GUEST
    if _GUEST is None or not _GUEST.takes(solver):
        dismiss()
        _GUEST = Guest()
        _GUEST.ready()
    return _GUEST


def settle() -> None:
    """The task is done: no run goes on, and nothing that a solver has started is left."""
    if _GUEST is not None:
        _GUEST.stop()


@atexit.register
def dismiss() -> None:
    """End the process, if there is one."""
    global _GUEST
    if _GUEST is not None:
        _GUEST.close()
        _GUEST = None
