"""Carries out a plan: trajectory by trajectory, in parallel, each result as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from gammabar.harness.run.processes.crew import Crew
from gammabar.harness.run.results import Result, results_of, settle
from gammabar.harness.run.solver_ref import InFile
from gammabar.harness.run.store import Store
from gammabar.harness.run.task import Outcome, Task

#: Told of every trajectory when it is done.
Tell = Callable[[list[Result]], None]


def run(
    tasks: list[Task],
    *,
    jobs: int = 1,
    dask: str | None = None,
    store: Store | None = None,
    resume: bool = False,
    tell: Tell = lambda results: None,
) -> list[Result]:
    """Carry out tasks.

    Parameters
    ----------
    tasks : list of Task
    jobs : int
        How many at once. One: in this process, but for solvers of users.
    dask : str, optional
        Address of the scheduler of a Dask cluster, which then does the work.
    store : Store, optional
        Where results are written, in one transaction per task.
    resume : bool
        Whether what is in the store already is not done again.
    tell : callable
        Gets the results of every task, as soon as they are there.

    Returns
    -------
    list of Result
        In the order of the tasks.
    """
    keys = _keys(tasks) if store is not None else []
    done: dict[int, list[Result]] = {}

    def finish(place: int, outcome: Outcome) -> None:
        done[place] = results_of(tasks[place], outcome)
        tell(done[place])

    if store is not None and resume:
        for place, key in enumerate(keys):
            known = store.get(key)
            if known is not None:
                finish(place, known)
    todo = [(place, task) for place, task in enumerate(tasks) if place not in done]
    with closing(_stream(todo, jobs, dask)) as outcomes:
        for place, outcome in outcomes:
            if store is not None:
                store.put(keys[place], tasks[place], outcome)
            finish(place, outcome)
    return settle([result for place in range(len(tasks)) for result in done[place]])


def _keys(tasks: list[Task]) -> list[str]:
    from gammabar.harness.run.keys import key

    return [key(task) for task in tasks]


def _stream(
    todo: list[tuple[int, Task]], jobs: int, dask: str | None
) -> Generator[tuple[int, Outcome], None, None]:
    if dask is not None:
        from gammabar.harness.run.processes.cluster import stream

        yield from stream(todo, dask)
    elif jobs == 1 and not any(_foreign(task) for _, task in todo):
        from gammabar.harness.run.worker import perform, warm_up

        warm_up()
        for place, task in todo:
            yield place, perform(task)
    elif todo:
        yield from _parallel(todo, min(jobs, len(todo)))


def _foreign(task: Task) -> bool:
    """Whether it runs a user's code; a trajectory is mere numbers."""
    return isinstance(task.run.solver, InFile)


def _parallel(todo: list[tuple[int, Task]], jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Threads that only wait, each for a process of its own that works."""
    from joblib import Parallel, delayed

    with Crew(single=jobs > 1) as crew:

        def conduct(place: int, task: Task) -> tuple[int, Outcome]:
            return place, crew.perform(task)

        parallel: Any = Parallel(
            n_jobs=jobs,
            backend="threading",
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
        )
        yield from parallel(delayed(conduct)(place, task) for place, task in todo)
