"""A local cluster: data larger than the memory of a worker, and a worker that is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import islice

import numpy as np
import pytest

import gammabar as gb
from gammabar.problems import ScatteredProblem, load

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WORKER = 420_000_000
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


def _killer(cluster, after):
    """Kills a worker in the middle of what follows."""
    pid = next(iter(cluster.workers.values())).pid

    def kill():
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return pid, thread


@pytest.mark.slow
def test_a_worker_is_killed_in_the_middle(cluster, tmp_path):
    X, y = _table(tmp_path / "t.parquet", 20_000, 24, 2_000)
    plain = gb.from_arrays(X, y)
    with distributed.Client(cluster, set_as_default=False) as client:
        problem = load(tmp_path / "t.parquet", dask=client)
        assert isinstance(problem, ScatteredProblem)
        assert "kept by 2 workers" in problem.where
        solver = gb.solvers.DualAcceleration()
        before = [it.w for it in islice(solver.iterates(problem.unit()), 40)]
        pid, thread = _killer(cluster, 0.3)
        truth = gb.solve(problem)
        after = [it.w for it in islice(solver.iterates(problem.unit()), 40)]
        thread.join()
        assert pid not in {worker.pid for worker in cluster.workers.values()}
    assert truth.gamma_squared == gb.solve(plain).gamma_squared
    assert truth.w.tolist() == gb.solve(plain).w.tolist()
    for one, other in zip(before, after, strict=True):
        assert (one == other).all()


@pytest.mark.slow
def test_data_larger_than_a_worker(cluster, tmp_path):
    n, d = 400_000, 140  # 448 MB; a worker has 420 MB, of which libraries take 150
    X, y = _table(tmp_path / "t.parquet", n, d, 3_500)
    assert X.nbytes > WORKER
    with distributed.Client(cluster, set_as_default=False) as client:
        problem = load(tmp_path / "t.parquet", dask=client)
        assert "read in every pass by 2 workers" in problem.where
        truth = gb.solve(problem)
    assert truth.gamma_squared == gb.solve(X, y).gamma_squared
