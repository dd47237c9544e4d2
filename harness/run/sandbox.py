"""Sandbox: a user's solver in a process of its own.

The process gets a solver and a problem, and sends iterates as lines of JSON. When a line is read,
nothing in it can become more than a number, a text or an array, because the sender is not trusted.
The harness has the data, computes everything from w itself, and shares no memory with the solver;
the pipe on which verdicts travel is not inherited by the solver's process. Whatever the solver does
there, to the data, to this package or to the pipe, can only change its own iterates.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import re
import signal
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from itertools import islice
from operator import index
from typing import Any, BinaryIO

import numpy as np

from gammabar.harness.run.processes import (
    START,
    Crashed,
    Limit,
    OutOfTime,
    Process,
    crashed,
    die_with_parent,
    end_orphans,
    serving,
    started,
)
from gammabar.harness.run.tasks import InFile, Run
from gammabar.harness.verify.iterate import Fault, taken_vector
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_once
from gammabar.solvers import Iterate
from gammabar.solvers.base import Card, OtherGeometry, counted, geometries, with_rows

#: Names of what JSON has no form for.
_ARRAY, _FRACTION = "\0array", "\0fraction"
#: Booleans, integers, floats and complex numbers, as NumPy writes them.
_KIND = re.compile(r"[<>|][biufc][0-9]{1,2}")
#: What a value raises that cannot be sent: no type of JSON, too many digits, too deep, a circle.
_UNSENDABLE = (TypeError, ValueError, RecursionError)


class _NoMessage(Exception):
    """A line that is no message."""


def _encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, default=_pack, skipkeys=True).encode() + b"\n"


def _pack(value: Any) -> Any:
    """What JSON has no form for, in one that it has."""
    if isinstance(value, Fraction):
        return {_FRACTION: [value.numerator, value.denominator]}
    if isinstance(value, np.ma.MaskedArray):
        raise Fault("a masked array was given; yield a plain one, without a mask")
    if isinstance(value, np.integer | np.bool_ | np.float16 | np.float32):
        return value.item()
    if isinstance(value, type) or not hasattr(value, "__array__"):
        raise TypeError(f"a {type(value).__name__} cannot be sent")
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        return array.tolist()
    return {_ARRAY: [array.dtype.str, array.shape, b64encode(array.tobytes()).decode()]}


def _decode(line: bytes) -> dict[str, Any]:
    """A message from its line, or `_NoMessage`."""
    try:
        found = json.loads(line, object_hook=_unpack)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise _NoMessage from error
    if not isinstance(found, dict):
        raise _NoMessage
    return found


def _unpack(found: dict[str, Any]) -> Any:
    if _FRACTION in found:
        numerator, denominator = found[_FRACTION]
        return Fraction(index(numerator), index(denominator))
    if _ARRAY in found:
        kind, shape, entries = found[_ARRAY]
        # No other text gets to NumPy's parser, which evaluates some of them.
        if not _KIND.fullmatch(kind) or min(shape, default=0) < 0:
            raise _NoMessage
        return np.frombuffer(b64decode(entries), np.dtype(kind)).reshape(tuple(map(index, shape)))
    return found


#: What is sent of an iterate.
_ITERATE = ("t", "w", "dual", "momentum", "extra")
#: Seconds after which the process of a solver that does not stop is ended.
PATIENCE = 1.0


class _RemoteSolver:
    """A solver in another process; it has the options that the solver says it has."""

    def __init__(self, process: _SolverProcess, options: dict[str, Any]) -> None:
        self._process = process
        vars(self).update({name: value for name, value in options.items() if name[:1] != "_"})

    def iterates(self, problem: Any = None, rng: Any = None) -> Iterator[Iterate]:
        """The iterates of the run for which it was opened."""
        return self._process.iterates()


class _SolverProcess(Process):
    """The process of a user's solver; one for all runs of a solver, as long as it is well.

    It sends iterates until it is told to stop, and waits where the pipe is full.
    """

    def __init__(self) -> None:
        # As many threads as the process beside it: it has the same environment.
        super().__init__(*started(f"{__name__}:_serve", single=False))
        self._solver: InFile | None = None
        self._limit = Limit(START)
        self._running = False
        self._number = 0
        try:
            self._ask({})
            self._next()  # it has imported everything
        except Fault as error:
            raise RuntimeError(
                f"a process that is to run a solver did not start: {error}"
            ) from None

    def takes(self, solver: InFile) -> bool:
        """Whether it can be used for a solver: another one may have left something behind."""
        return not self.closed and self._solver in (None, solver)

    def open(self, solver: InFile, limit: float, run: Run | None = None) -> _RemoteSolver:
        """Load the solver, and get ready for a run; raises `ProblemError` or a `Fault`."""
        self._solver, self._limit = solver, Limit(limit)
        self._number += 1
        request: dict[str, Any] = {"solver": asdict(solver), "number": self._number}
        if run is not None:
            request |= {"problem": run.problem, "unit": run.unit, "seed": run.seed}
        self._ask(request)
        found = self._next()
        if "error" in found:
            raise ProblemError(str(found["error"]))
        self._running = run is not None
        options, card = found.get("opened"), found.get("card")
        if not isinstance(options, dict):
            raise self._nonsense()
        more = {"card": Card(str(card), "", ())} if card is not None else {}
        # Statements look at the card of the class.
        return type(str(found.get("made")), (_RemoteSolver,), more)(self, options)

    def iterates(self) -> Iterator[Iterate]:
        """What the solver yields; what goes wrong there is a `Fault`."""
        number = self._number
        try:
            while True:
                found = self._received()
                if "crashed" in found:
                    raise Crashed(str(found["crashed"]))
                if "unfit" in found:
                    raise OtherGeometry(str(found["unfit"]))
                if "end" in found:
                    return
                if "w" not in found or not isinstance(found.get("extra"), dict):
                    raise self._nonsense()
                # As it was sent: what doubles do not hold is refused later.
                given: Any = {name: found.get(name) for name in _ITERATE}
                yield Iterate(**given)
        finally:
            if number == self._number:  # closed late, this must not end the next run
                self.stop()

    def _received(self) -> dict[str, Any]:
        assert self._solver is not None
        try:
            return self._next()
        except OutOfTime:
            if self.closed:
                raise
            where = self.where(self._solver.file)  # our own alarm, while we waited for the solver
        raise self._limit.passed(where)

    def stop(self) -> None:
        """End the run, if there is one, and whatever it has left behind."""
        if self._running and not self.closed:
            self._running = False
            try:
                self._ask({"stop": True})
                self._limit = Limit(PATIENCE)
                while self._next().get("stopped") != self._number:
                    pass
            except Fault:
                self.close()
        end_orphans(keep=() if self.closed else (self.pid,))

    def close(self) -> None:
        """End the process, and all that it has started."""
        super().close()
        end_orphans(keep=())

    def _ask(self, request: dict[str, Any]) -> None:
        self.send(json.dumps(request).encode())

    def _next(self) -> dict[str, Any]:
        if self.closed:
            raise Crashed("its process is gone")
        try:
            return _decode(self.line(self._limit, self._solver.file if self._solver else ""))
        except _NoMessage:
            raise self._nonsense() from None

    def _nonsense(self) -> Crashed:
        self.close()
        return Crashed("its process sent something that is no iterate")


_PROCESS: _SolverProcess | None = None


def process_for(solver: InFile) -> _SolverProcess:
    """A process for a solver, which has imported everything."""
    global _PROCESS
    if _PROCESS is None or not _PROCESS.takes(solver):
        _dismiss()
        _PROCESS = _SolverProcess()
    return _PROCESS


def settle() -> None:
    """The task is done: no run goes on, and nothing that a solver has started is left."""
    if _PROCESS is not None:
        _PROCESS.stop()


@atexit.register
def _dismiss() -> None:
    if _PROCESS is not None:
        _PROCESS.close()


def _prepare(solver: dict[str, str] | None) -> None:
    """Import what tasks need, and start a process for a solver, given as the fields of `InFile`."""
    import gammabar.oracle

    _ = gammabar.oracle.solve
    if solver is not None:
        process_for(InFile(**solver))


def _probe(solver: dict[str, str], limit: float, resembling: bool = False) -> dict[str, Any]:
    """Load a solver: {"error": sentence}, or the solver it stands for, and its geometries.

    And the methods that it resembles on a small problem, if that is asked.
    """
    reference = InFile(**solver)
    try:
        opened = process_for(reference).open(reference, limit)
    except ProblemError as error:
        return {"error": str(error)}
    except Fault as error:
        return {"error": f"{reference.file}: cannot be imported: {error}"}
    name = getattr(getattr(opened, "card", None), "name", None)
    resembles = _resembles(reference, limit) if resembling else ""
    return {"name": name, "geometries": list(geometries(opened)), "resembles": resembles}


def _resembles(solver: InFile, limit: float, problem: str = "iris:0,1") -> str:
    from gammabar.harness.run.diagnosis import resembling

    def run(unit: bool) -> list[Any]:
        opened = process_for(solver).open(solver, limit, Run(problem, solver, unit=unit))
        with contextlib.suppress(Fault, ProblemError):
            return [taken_vector(it.w, "w") for it in islice(opened.iterates(), 6)]
        return []

    return resembling(run, open_once(problem))


# --- in the process of the solver ------------------------------------------------------------


def _serve() -> None:
    """Answer requests until the parent closes the pipe; what was started here ends with it."""
    die_with_parent()
    server = _Server(*serving(lambda: os.killpg(0, signal.SIGKILL)))
    while True:
        server.answer()


class _Server:
    def __init__(self, requests: queue.SimpleQueue[dict[str, Any]], replies: BinaryIO) -> None:
        self._requests, self._replies = requests, replies
        self._folder = os.getcwd()  # a solver may change it, and DATA may be relative to it

    def _send(self, **message: Any) -> None:
        self._replies.write(_encode(message))
        self._replies.flush()

    def answer(self) -> None:
        """Load a solver, and run it if there is a problem to run it on."""
        request = self._requests.get()
        if "solver" not in request:
            self._send(ready=True)
            return
        reference = InFile(**request["solver"])
        try:
            solver = reference.open()
        except ProblemError as error:
            self._send(error=str(error))
            return
        except BaseException as error:  # it is the solver's own process
            self._send(error=str(crashed(error, reference.file)))
            return
        card = getattr(getattr(solver, "card", None), "name", None)
        self._send(opened=_options(solver), made=type(solver).__name__, card=card)
        if "problem" in request:
            self._run(solver, reference.file, request)

    def _run(self, solver: Any, file: str, request: dict[str, Any]) -> None:
        try:
            with contextlib.chdir(self._folder):
                problem = open_once(request["problem"])
            rng = np.random.default_rng([request["seed"]])
            problem = problem.unit() if request["unit"] else problem
            for iterate in counted(solver.iterates(with_rows(problem, solver), rng)):
                if not self._requests.empty():  # we are told to stop
                    break
                self._send(**_told(iterate))
            self._send(end=True)
        except OtherGeometry as error:
            self._send(unfit=str(error))
        except Fault as error:
            self._send(crashed=str(error))
        except BaseException as error:  # it is the solver's own process
            self._send(crashed=str(crashed(error, file)))
        self._requests.get()
        self._send(stopped=request["number"])


def _told(iterate: Iterate) -> dict[str, Any]:
    """What is sent of an iterate; claims that cannot be sent are left out."""
    w, t = iterate.w, iterate.t
    # An array of objects cannot be sent as such; whatever else is sent is looked at there.
    plain = isinstance(w, np.ndarray) and not isinstance(w, np.ma.MaskedArray)
    if not _sendable(w) or (plain and w.dtype.kind not in "biufc"):
        w = taken_vector(w, f"w_{t}")
    claims = {"dual": iterate.dual, "momentum": iterate.momentum}
    extra = {name: value for name, value in dict(iterate.extra).items() if _sendable(value)}
    return {"t": t, "w": w, "extra": extra} | {n: v for n, v in claims.items() if _sendable(v)}


def _sendable(value: Any) -> bool:
    if value is None or (type(value) is np.ndarray and value.dtype == np.float64):
        return True
    try:
        return bool(_encode({"": value}))
    except _UNSENDABLE:
        return False


def _options(solver: Any) -> dict[str, Any]:
    """What a solver says of itself: its public attributes that are numbers, texts or arrays."""
    found = {}
    for name in dir(solver):
        if not name.startswith("_"):
            with contextlib.suppress(Exception, Fault):
                value = getattr(solver, name)
                if isinstance(value, _TOLD) and _sendable(value):
                    found[name] = value
    return found


_TOLD = (bool, int, float, str, type(None), list, tuple, np.ndarray, np.generic)
