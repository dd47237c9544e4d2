"""One side of the gate: a process that runs asv benchmarks of one source tree on demand.

It is started as a file, with the tree on PYTHONPATH, reads one JSON command a line and answers with
one JSON line. It imports nothing of the project itself: the benchmarks do.

    {"list": true}        answers {"benchmarks": [[name, type, parameters as text, …], …]}
    {"open": NAME, "parameters": […]}
                          set up a benchmark; answers {"kind": …} or {"skip": reason}; "number"
                          in place of "parameters" is the place of a combination of them
    {"slice": SECONDS}    answers {"time": seconds per call, "reference": seconds per call}
    {"value": true}       runs a track or peakmem benchmark; answers {"value": number}
"""

from __future__ import annotations

import gc
import json
import sys
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any


def reference_work() -> float:
    """A fixed mixture of interpreter, arithmetic and memory, about half a millisecond long."""
    import numpy as np

    total = 0.0
    for k in range(4000):
        total += k * k
    block = _block(np)
    return total + float((block @ block[0]).sum())


_KEPT: list[Any] = []


def _block(np: Any) -> Any:
    if not _KEPT:
        _KEPT.append(np.random.default_rng(0).standard_normal((2000, 128)))
    return _KEPT[0]


def timed(function: Any, seconds: float) -> float:
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


def peak() -> int | None:
    """Most bytes this process has held so far, where Linux says so.

    asv's own number is `ru_maxrss`, which begins with that of the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.is_file() else []
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(found[0]) if found else None


class Worker:
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
            before = timed(reference_work, seconds / 8)
            time = timed(lambda: self.benchmark.func(*parameters), seconds)
            return {"time": time, "reference": min(before, timed(reference_work, seconds / 8))}
        finally:
            gc.enable()

    def value(self) -> dict[str, Any]:
        """A number that does not depend on the clock."""
        value = self.benchmark.do_run()
        if self.benchmark.type == "peakmemory":
            value = peak() or value
        return {"value": value}


def main() -> None:
    worker = Worker(sys.argv[1])
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever a benchmark prints must not disturb the conversation
    for line in sys.stdin:
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
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
