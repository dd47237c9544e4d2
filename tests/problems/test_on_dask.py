"""A local cluster: data larger than the memory of a worker, and a worker that is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import gammabar as gb
from gammabar.problems import ScatteredProblem, load
from gammabar.problems.chunked import _DaskChunks

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WORKER = 300_000_000  # of which libraries take 190
#: Nothing goes to disk, and a worker that wants more than its memory is killed.
MEMORY = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.98,
    "distributed.admin.low-level-log-length": 0,
}


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(MEMORY),
        distributed.LocalCluster(
            2, threads_per_worker=1, memory_limit=WORKER, dashboard_address=None
        ) as made,
    ):
        yield made


def _table(path, n, d, group):
    """Rows on either side of a gap, in the order of their labels; the points as an array."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    columns = {"y": y.astype(np.int8)} | {f"x{j}": X[:, j] for j in range(d)}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=group)
    return X, y


@contextmanager
def _killed_in_pass(number, cluster, monkeypatch):
    """Kills a worker in the middle of this pass over the chunks; yields the passes, as they go."""
    each, passes, pid = _DaskChunks.each, [], next(iter(cluster.workers.values())).pid

    def counting(self, *args):
        passes.append(args[0].__name__)
        if len(passes) == number:
            killer.start()
        return each(self, *args)

    def kill():
        time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with monkeypatch.context() as patch:
        patch.setattr(_DaskChunks, "each", counting)
        yield passes
    killer.join()
    assert len(passes) > number
    assert pid not in {worker.pid for worker in cluster.workers.values()}


def _peaks(cluster):
    """The most memory that each worker has held, in bytes."""
    lines = [
        line
        for worker in cluster.workers.values()
        for line in Path(f"/proc/{worker.pid}/status").read_text(encoding="utf-8").splitlines()
    ]
    return [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")]


@pytest.mark.slow
def test_a_worker_is_killed_in_the_middle(cluster, tmp_path, monkeypatch):
    X, y = _table(tmp_path / "t.parquet", 20_000, 24, 2_000)
    plain = gb.from_arrays(X, y)
    with distributed.Client(cluster, set_as_default=False) as client:
        problem = load(tmp_path / "t.parquet", dask=client)
        assert isinstance(problem, ScatteredProblem)
        assert "kept by 2 workers" in problem.where
        solver = gb.solvers.DualAcceleration()
        before = [it.w for it in islice(solver.iterates(problem.unit()), 40)]
        with _killed_in_pass(3, cluster, monkeypatch):
            truth = gb.solve(problem)
        with _killed_in_pass(20, cluster, monkeypatch):
            after = [it.w for it in islice(solver.iterates(problem.unit()), 40)]
    assert truth.gamma_squared == gb.solve(plain).gamma_squared
    assert truth.w.tolist() == gb.solve(plain).w.tolist()
    for one, other in zip(before, after, strict=True):
        assert (one == other).all()


@pytest.mark.slow
def test_data_larger_than_a_worker(cluster, tmp_path, monkeypatch):
    X, y = _table(tmp_path / "t.parquet", 650_000, 60, 20_000)
    assert X.nbytes > WORKER  # 312 MB
    with distributed.Client(cluster, set_as_default=False) as client:
        problem = load(tmp_path / "t.parquet", dask=client)
        assert "read in every pass by 2 workers" in problem.where
        with _killed_in_pass(3, cluster, monkeypatch) as passes:
            truth = gb.solve(problem)
        peaks = _peaks(cluster)
    print(f"peaks {peaks}, passes {passes}")
    # One that wants more is killed, so that this is no news; but nobody came near.
    assert len(peaks) == 2
    assert max(peaks) < 0.9 * WORKER
    plain = gb.solve(X, y)
    assert truth.gamma_squared == plain.gamma_squared
    assert truth.w.tolist() == plain.w.tolist()
