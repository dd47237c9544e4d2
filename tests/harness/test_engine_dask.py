"""Runs on a Dask cluster: a real one, with two processes that work."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gammabar.harness.run import engine, pool as cluster
from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import InFile, PaperRef, Registered, Run, Task
from gammabar.problems import ProblemError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

QUITS = """
import os
from gammabar.solvers import Iterate
class Mine:
    def iterates(self, problem, rng):
        yield Iterate(0, problem.origin())
        os._exit(9)
"""


@pytest.fixture(scope="module")
def address():
    """The scheduler of a cluster with two worker processes of one thread each."""
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
    ):
        yield local.scheduler_address


def plain(results):
    """Everything but the time it took."""
    return [{**result.as_dict(), "seconds": 0} for result in results]


@pytest.mark.full
def test_a_cluster_finds_what_this_process_finds(address, tmp_path):
    tasks = [
        Task(
            Run(f"planted:n=20,d=3,seed={seed}", Registered("dual-acceleration"), 30, unit=True),
            ("gb.sharp", "gb.selfcert"),
            ("holds", "holds"),
        )
        for seed in range(6)
    ]
    told = []
    with Store(tmp_path / "s.sqlite") as store:
        results = engine.run(tasks, dask=address, store=store, tell=told.append)
        assert len(store.results()) == 12
    assert len(told) == 6
    assert plain(results) == plain(engine.run(tasks))
    assert {r.verdict.verdict for r in results} == {"holds"}
    with distributed.Client(address) as client:
        crews = client.run(lambda: len(cluster._pool()._idle))
    assert len(crews) == 2
    assert all(crews.values())  # both have worked

    run = dataclasses.replace(tasks[0].run, solver=InFile("my.py:Mine", QUITS))
    bad = dataclasses.replace(tasks[0], run=run, planned=False)
    *results, good, _ = engine.run([bad, tasks[0]], dask=address)
    assert {r.verdict.failure for r in results} == {"crashed"}
    assert "exit code 9" in results[0].verdict.reason
    assert good.verdict.verdict == "holds"


def test_workers_with_other_code_are_refused(address, monkeypatch):
    monkeypatch.setattr(distributed.Client, "run", lambda *_: {"tcp://one": "other"})
    with pytest.raises(ProblemError, match="the worker tcp://one has another gammabar"):
        list(cluster.stream([], address))


def test_no_cluster_is_one_sentence(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1)
    for wrong in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(ProblemError) as refused:
            list(cluster.stream([], wrong))
        assert wrong in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.full
def test_a_paper_of_ones_own_travels_to_the_cluster(address):
    """Novikoff's theorem and its false sister: workers get the text of the file with the task."""
    path = Path(__file__).resolve().parents[2] / "docs" / "examples" / "novikoff.py"
    paper = PaperRef.read(str(path))
    run = Run("mnist-sample:0,1", Registered("perceptron"), 200)
    task = Task(run, ("novikoff.mistakes", "novikoff.root"), ("holds", "holds"), papers=(paper,))
    results = engine.run([task], dask=address)
    assert [r.verdict.verdict for r in results] == ["holds", "refuted"]
