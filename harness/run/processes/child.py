"""A process that carries out tasks, started by `gammabar.harness.run.processes.crew`.

Lines of JSON come in on stdin and go out on what was stdout; what a solver prints goes to stderr.
It ends as soon as its parent does, in whatever way, and with it all that it or a user's solver has
started.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from gammabar.harness.run.limits import GRACE
from gammabar.harness.run.processes.family import adopt, end_orphans


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
        from gammabar.harness.run.processes.remote import guest_for
        from gammabar.harness.run.solver_ref import InFile

        guest_for(InFile(**request["invite"]))
        return {}
    from gammabar.harness.run.processes.remote import settle
    from gammabar.harness.run.task import Task
    from gammabar.harness.run.worker import perform, warm_up

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
    from gammabar.harness.run.limits import Crashed, out_of_time
    from gammabar.harness.run.processes.process import Died, Hung
    from gammabar.harness.run.processes.remote import guest_for
    from gammabar.harness.run.solver_ref import InFile
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
