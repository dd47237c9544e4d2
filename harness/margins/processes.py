"""Pairs that are computed side by side, in processes that end with the run, however it ends.

Each is a `gammabar.harness.run.processes.process.Process`: in a session of its own, so that Ctrl-C
does not reach it, and gone without a word as soon as there is nobody to answer any more.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from gammabar.harness.run.processes.child import main
from gammabar.harness.run.processes.process import Died, Process
from gammabar.problems import ProblemError

if TYPE_CHECKING:
    from gammabar.harness.margins.work import Pair

#: Seconds that are waited for a pair: what limit there is, the oracle keeps by itself.
FOREVER = 10.0**6


def carried_out(
    pairs: Sequence[Pair], more: tuple[Path, bool, float | None], jobs: int
) -> Generator[tuple[Pair, dict[str, Any]], None, None]:
    """Pairs and what `gammabar.harness.margins.work.margin_of` says of them, as they are done.

    Parameters
    ----------
    pairs : sequence of Pair
    more : tuple
        Its further arguments.
    jobs : int
        Processes, each with one thread for its libraries: together they fill the cores.
    """
    todo: queue.SimpleQueue[Pair] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Pair, dict[str, Any]] | BaseException] = queue.SimpleQueue()
    for pair in pairs:
        todo.put(pair)
    processes: list[Process] = []
    threads: list[threading.Thread] = []
    try:
        for _ in range(jobs):
            processes.append(Process(__name__, single=True))
            arguments = (processes[-1], todo, done, more)
            threads.append(threading.Thread(target=_supply, args=arguments, daemon=True))
            threads[-1].start()
        for _ in pairs:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join()
        for process in processes:
            process.close()


def _supply(process: Process, todo: Any, done: Any, more: tuple[Path, bool, float | None]) -> None:
    """Have a process do one pair after the other, until there is none left."""
    try:
        while True:
            pair = todo.get_nowait()
            done.put((pair, _asked(process, pair, *more)))
    except queue.Empty:
        pass
    except BaseException as error:  # it is raised where the results are waited for
        done.put(error)


def _asked(
    process: Process, pair: Pair, folder: Path, check: bool, limit: float | None
) -> dict[str, Any]:
    request = {"pair": asdict(pair), "folder": str(folder), "check": check, "limit": limit}
    try:
        process.send(json.dumps(request).encode())
        answer = json.loads(process.line(monotonic() + FOREVER))
    except Died as error:
        raise ProblemError(f"{pair.spec}: {error}") from None
    if "memory" in answer:
        raise MemoryError
    if "file" in answer:
        raise OSError(*answer["file"])
    if "error" in answer:
        raise ProblemError(answer["error"])
    found: dict[str, Any] = answer["result"]
    return found


def _handle(request: dict[str, Any], dump: int) -> dict[str, Any]:
    """In the process: a pair, or what is wrong with it."""
    from gammabar.harness.margins.work import Pair, margin_of

    data, *texts = (request["pair"][name] for name in ("data", "classes", "names"))
    classes, names = map(tuple, texts)
    try:
        pair = Pair(data, classes, names)
        return {
            "result": margin_of(pair, Path(request["folder"]), request["check"], request["limit"])
        }
    except ProblemError as error:
        return {"error": str(error)}
    except OSError as error:
        return {"file": [error.errno, error.strerror, error.filename]}
    except MemoryError:
        return {"memory": True}


if __name__ == "__main__":
    main(int(sys.argv[1]), _handle)
