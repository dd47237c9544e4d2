"""Sandbox: a user's solver in a process of its own.

The process gets a solver and a problem, and sends iterates. A message is a line of JSON: nothing in
it can do more than be a number, a text or an array when it is read, because the sender is not
trusted. The harness has the data, computes
everything from w itself, and shares no memory with the solver; the pipe on which verdicts travel is
not inherited by the solver's process. Whatever the solver does there, to the data, to this package
or to the pipe, can only change its own iterates.
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
from time import monotonic
from typing import Any, BinaryIO

import numpy as np

from gammabar.harness.run.processes import (
    START,
    Crashed,
    Died,
    Hung,
    OutOfTime,
    Process,
    crashed,
    die_with_parent,
    end_orphans,
    out_of_time,
    serving,
    started,
)
from gammabar.harness.run.tasks import InFile, Run, open_once
from gammabar.harness.verify.iterate import Fault, taken_vector
from gammabar.problems import ProblemError
from gammabar.solvers import Iterate
from gammabar.solvers.adapters import OtherGeometry, counted, geometries, with_rows
from gammabar.solvers.base import Card

#: Bits of the largest integer: Python refuses to read much longer ones.
_BITS = 10_000
#: Booleans, integers, floats and complex numbers, as NumPy writes them.
_KIND = re.compile(r"[<>|][biufc][0-9]{1,2}")


class _NoMessage(Exception):
    """What came is none."""


class _Untold:
    """Stands for a value that cannot be sent."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"a {self.kind}"


def _encode(message: dict[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps({name: _pack(value) for name, value in message.items()}).encode() + b"\n"


def _decode(line: bytes) -> dict[str, Any]:
    """A message from its line.

    Raises
    ------
    NoMessage
    """
    try:
        return {str(name): _unpack(value) for name, value in json.loads(line).items()}
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise _NoMessage from error
    except RecursionError as error:  # brackets in brackets in brackets
        raise _NoMessage from error


def _pack(value: Any, depth: int = 8) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        return _plain(value)
    if isinstance(value, Fraction):
        return {"fraction": [_plain(value.numerator), _plain(value.denominator)]}
    if isinstance(value, list | tuple) and depth:
        return {"list": [_pack(item, depth - 1) for item in value]}
    if isinstance(value, dict) and depth:
        return {"dict": {str(name): _pack(item, depth - 1) for name, item in value.items()}}
    if isinstance(value, np.ma.MaskedArray):
        return {"masked": [_array(value.data), _array(np.ma.getmaskarray(value))]}
    if hasattr(value, "__array__") and not isinstance(value, type):
        value = np.asarray(value)
        if value.dtype.kind in "biufc":
            return {"array": _array(value)}
        if depth:
            return _pack(value.tolist(), depth - 1)
    return {"other": type(value).__name__}


def _plain(value: int | float | str) -> Any:
    """A value without the class of its own that it may have."""
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _BITS else {"other": "int"}
    return float(value) if isinstance(value, float) else str(value)


def _array(value: Any) -> list[Any]:
    return [value.dtype.str, list(value.shape), b64encode(value.tobytes()).decode()]


def _unpack(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "array":
        return _unpacked_array(*inner)
    if kind == "masked":
        data, mask = (_unpacked_array(*one) for one in inner)
        if data.shape != mask.shape:
            raise _NoMessage
        return np.ma.MaskedArray(data, mask)
    if kind == "list":
        return [_unpack(item) for item in inner]
    if kind == "dict":
        return {str(name): _unpack(item) for name, item in inner.items()}
    if kind == "fraction":
        numerator, denominator = inner
        return Fraction(index(numerator), index(denominator))
    if kind == "other":
        return _Untold(str(inner)[:100])
    raise _NoMessage


def _unpacked_array(kind: str, shape: list[int], entries: str) -> Any:
    """An array of numbers; no other text gets to NumPy's parser, which evaluates some of them."""
    if not _KIND.fullmatch(kind) or min(shape, default=0) < 0:
        raise _NoMessage
    return np.frombuffer(b64decode(entries), dtype=np.dtype(kind)).reshape(tuple(map(index, shape)))


#: Iterates that the solver may be ahead of their evaluation.
AHEAD = 8
#: Seconds after which the process of a solver that does not stop is ended.
PATIENCE = 1.0


class _RemoteSolver:
    """A solver in another process; it has the options that the solver says it has."""

    def __init__(self, process: _SolverProcess, run: Run, options: dict[str, Any]) -> None:
        self._process, self._run = process, run
        vars(self).update({name: value for name, value in options.items() if name[:1] != "_"})

    def iterates(self, problem: Any = None, rng: Any = None) -> Iterator[Iterate]:
        """The iterates of the run for which it was opened."""
        return self._process.iterates()


class _SolverProcess:
    """The process of a user's solver; one for all runs of a solver, as long as it is well."""

    def __init__(self) -> None:
        # As many threads as the process beside it: it has the same environment.
        self._process = Process(*started(f"{__name__}:_serve", single=False))
        self._solver: InFile | None = None
        self._deadline, self._limit = 0.0, 0.0
        self._running = False
        self._number = 0
        self._end = "its process is gone"
        self.lost = False
        self._ask({})
        try:
            self._next(monotonic() + START)  # it has imported everything
        except (Died, Hung) as error:
            raise RuntimeError(
                f"a process that is to run a solver did not start: {error}"
            ) from None

    def takes(self, solver: InFile) -> bool:
        """Whether it can be used for a solver: another one may have left something behind."""
        return not self.lost and self._solver in (None, solver)

    def open(self, solver: InFile, limit: float, run: Run | None = None) -> _RemoteSolver:
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
        kind = type(made, (_RemoteSolver,), more)  # statements look at the card of the class
        return kind(self, run or Run(), options)

    def iterates(self) -> Iterator[Iterate]:
        """What the solver yields; what goes wrong there is a `Fault`."""
        number = self._number
        for _ in range(AHEAD):
            self._ask({"more": 1})
        try:
            while True:
                found = self._received()
                if "crashed" in found:
                    raise Crashed(str(found["crashed"]))
                if "unfit" in found:
                    raise OtherGeometry(str(found["unfit"]))
                if "end" in found:
                    return
                yield self._iterate(found)
                self._ask({"more": 1})
        finally:
            if number == self._number:  # closed late, this must not end the next run
                self.stop()

    def _received(self) -> dict[str, Any]:
        assert self._solver is not None
        try:
            return self._next(self._deadline)
        except Died as error:
            raise Crashed(str(error)) from None
        except Hung as error:
            raise OutOfTime(out_of_time(self._limit, str(error))) from None
        except OutOfTime:  # our own, while we waited for the solver
            self.lost = True
            raise OutOfTime(
                out_of_time(self._limit, self._process.where(self._solver.file))
            ) from None

    def _iterate(self, found: dict[str, Any]) -> Iterate:
        t, extra = found.get("t"), found.get("extra")
        w: Any = found.get("w")
        if "w" not in found or not isinstance(extra, dict):
            raise self._nonsense()
        if isinstance(w, _Untold):
            raise Crashed(f"w_{t} is no vector of numbers: it is {w!r}")
        # As it was sent: what doubles do not hold is refused later.
        told = {name: value for name, value in extra.items() if not isinstance(value, _Untold)}
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
            self.lost, self._end = True, str(error)  # raised where the answer is waited for

    def _next(self, deadline: float) -> dict[str, Any]:
        file = "" if self._solver is None else self._solver.file
        process = self._process
        if self.lost:
            raise Died(self._end)
        try:
            return _decode(process.line(deadline, file))
        except (Died, Hung):
            self.lost = True
            raise
        except _NoMessage:
            raise self._nonsense() from None

    def _nonsense(self) -> Crashed:
        self.close()
        return Crashed("its process sent something that is no iterate")


def _claim(value: Any) -> Any:
    """What a solver claims besides w."""
    return None if isinstance(value, _Untold) else value


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
    """End the process, if there is one."""
    global _PROCESS
    if _PROCESS is not None:
        _PROCESS.close()
        _PROCESS = None


def _invite(solver: dict[str, str]) -> None:
    """Start a process for a solver, given as the fields of `InFile`."""
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
    except Hung as error:
        why = out_of_time(limit, str(error))
    except (Died, Crashed) as error:
        why = str(error)
    else:
        name = getattr(getattr(opened, "card", None), "name", None)
        found = {"name": name, "geometries": list(geometries(opened))}
        return found | {"resembles": _resembles(reference, limit) if resembling else ""}
    return {"error": f"{reference.file}: cannot be imported: {why}"}


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
    received, replies = serving(lambda: os.killpg(0, signal.SIGKILL))
    server = _Server(received, replies)
    while True:
        server.answer(received.get())


class _Server:
    def __init__(self, requests: queue.SimpleQueue[dict[str, Any]], replies: BinaryIO) -> None:
        self._requests, self._replies = requests, replies
        self._folder = os.getcwd()  # a solver may change it, and DATA may be relative to it

    def _send(self, **message: Any) -> None:
        self._replies.write(_encode(message))
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
            with contextlib.chdir(self._folder):
                problem = open_once(request["problem"])
            rng = np.random.default_rng([request["seed"]])
            problem = problem.unit() if request["unit"] else problem
            iterates = solver.iterates(with_rows(problem, solver), rng)
            for iterate in self._granted(counted(iterates)):
                self._send(**_told(iterate))
            self._send(end=True)
        except OtherGeometry as error:
            self._send(unfit=str(error))
        except Fault as error:
            self._send(crashed=str(error))
        except BaseException as error:  # it is the solver's own process
            self._send(crashed=str(crashed(error, file)))
        # Whatever else was granted, until we are told to stop.
        while not self._requests.get().get("stop"):
            pass
        self._send(stopped=request["number"])

    def _granted(self, iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        """As many iterates as are asked for."""
        for iterate in iterates:
            request = self._requests.get()
            if request.get("stop"):
                self._requests.put(request)
                return
            yield iterate


def _told(iterate: Iterate) -> dict[str, Any]:
    # An array of objects cannot be sent as such; whatever else is sent is looked at there.
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
