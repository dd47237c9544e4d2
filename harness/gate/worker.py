"""One side of the gate: a process that runs asv benchmarks of one source tree on demand.

It is started as a file, with the tree on PYTHONPATH, reads one JSON command a line and answers with
one JSON line. It imports nothing of the project itself: the benchmarks do. What these write, and
what they read, has nothing to do with the conversation, which is held over descriptors of its own.

    {"list": true}        answers {"benchmarks": [[name, type, parameters as text, …], …]}
    {"open": NAME, "parameters": […]}
                          set up a benchmark; answers {"kind": …} or {"skip": reason}; "number"
                          in place of "parameters" is the place of a combination of them
    {"slice": SECONDS}    answers {"time": seconds per call, "reference": seconds per call}
    {"value": true}       runs a track or peakmem benchmark; answers {"value": number}

Where something fails it answers {"error": reason}.
"""

from __future__ import annotations

import gc
import json
import operator
import os
import reprlib
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any


def _reference_work() -> float:
    """A fixed mixture of interpreter, arithmetic and memory, about half a millisecond long."""
    import numpy as np

    total = 0.0
    for k in range(4000):
        total += k * k
    if not _KEPT:
        _KEPT.append(np.random.default_rng(0).standard_normal((2000, 128)))
    return total + float((_KEPT[0] @ _KEPT[0][0]).sum())


_KEPT: list[Any] = []


def _timed(function: Any, seconds: float) -> float:
    """Seconds per call: the best of at least three, within the time given.

    The best, since other processes can only make a call slower.
    """
    best, end, runs = float("inf"), perf_counter() + seconds, 0
    while runs < 3 or perf_counter() < end:
        start = perf_counter()
        function()
        best = min(best, perf_counter() - start)
        runs += 1
    return best


def _peak() -> int | None:
    """Most bytes this process has held so far, where Linux says so.

    asv's own number is `ru_maxrss`, which begins with that of the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.is_file() else []
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(found[0]) if found else None


def _number(value: Any) -> float | None:
    """What a benchmark returned: an integer as it is, others as a float; None if it is no number.

    Rounded, two counts beyond 2⁵³ might look equal. What no float can hold counts as no number.
    """
    if isinstance(value, str | bytes | bytearray):  # float() reads some of them
        return None
    try:
        rounded = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    with suppress(TypeError):
        return int(operator.index(value))
    return rounded


def _told(error: BaseException, root: str) -> str:
    """An exception in one line, and where in the suites it came from."""
    said = " ".join(str(error).split())[:300]
    line = f"{type(error).__name__}: {said}" if said else type(error).__name__
    place, trace = "", error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if Path(root) in file.parents:
            place = f"{file.relative_to(Path(root).parent)}, line {trace.tb_lineno}: "
        trace = trace.tb_next
    return place + line


class _Worker:
    """Answers commands about one benchmark at a time."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.benchmark: Any = None

    def survey(self) -> dict[str, Any]:
        """Every benchmark of the suites, once for each combination of parameters."""
        from asv_runner.discovery import disc_benchmarks, update_sys_path

        update_sys_path(self.root)
        found = {benchmark.name: benchmark for benchmark in disc_benchmarks(self.root)}
        return {
            "benchmarks": [
                [one.name, one.type, [str(value) for value in values]]
                for one in found.values()
                for values in product(*one._params)
            ]
        }

    def open(self, name: str, parameters: list[Any], number: int | None) -> dict[str, Any]:
        """Set a benchmark up."""
        from asv_runner.discovery import get_benchmark_from_name

        self.benchmark = get_benchmark_from_name(self.root, name)
        if number is not None and self.benchmark._params:
            self.benchmark.set_param_idx(number)
        elif parameters:
            # Through JSON, tuples have become lists.
            choices = json.loads(json.dumps(list(product(*self.benchmark._params))))
            self.benchmark.set_param_idx(choices.index(parameters))
        if self.benchmark.setup_cache_key is not None:
            self.benchmark.set_cache(self.benchmark.do_setup_cache())
        if self.benchmark.do_setup():
            return {"skip": "not in this commit, or not for these parameters"}
        return {"kind": self.benchmark.type}

    def slice(self, seconds: float) -> dict[str, float]:
        """One turn."""
        gc.disable()
        try:
            parameters = self.benchmark._build_params()
            before = _timed(_reference_work, seconds / 8)
            time = _timed(lambda: self.benchmark.func(*parameters), seconds)
            return {"time": time, "reference": min(before, _timed(_reference_work, seconds / 8))}
        finally:
            gc.enable()

    def value(self) -> dict[str, Any]:
        """A number that does not depend on the clock."""
        value = self.benchmark.do_run()
        if self.benchmark.type == "peakmemory":
            value = _peak() or value
        found = _number(value)
        if found is None:
            return {"error": f"it returned {reprlib.repr(value)}, which is no number"}
        return {"value": found}


def _main() -> None:
    worker = _Worker(sys.argv[1])
    commands = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a benchmark, or a program that it starts, prints or asks for.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for line in commands:
        command = json.loads(line)
        try:
            if "open" in command:
                number = command.get("number")
                answer = worker.open(command["open"], command["parameters"], number)
            elif "list" in command:
                answer = worker.survey()
            elif "slice" in command:
                answer = worker.slice(command["slice"])
            else:
                answer = worker.value()
        except (Exception, SystemExit) as error:
            answer = {"error": _told(error, worker.root)}
        print(json.dumps(answer), file=answers, flush=True)


def _hide_the_other_tree() -> None:
    """Find no package in the folders of the other side, which may be installed as editable."""
    hidden = os.environ.get("GAMMABAR_GATE_HIDDEN", "").split(os.pathsep)
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) not in hidden]


if __name__ == "__main__":
    _hide_the_other_tree()
    _main()
