"""Points in chunks, of files and of Dask: the same answers as in memory."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.problems import ProblemError, ScatteredProblem, from_arrays, from_dask, load
from gammabar.problems.binary_readers import Table
from gammabar.problems.chunked import FileChunks, _read_there, _tidy, npy_chunks
from gammabar.problems.problem import INTERCEPTS

EXTREME = st.sampled_from([-(2**63), 2**63 - 1, -1, 0, 1, 2**62])
NUMBERS = {
    "bool": st.booleans(),
    "int8": st.sampled_from([-128, 127]) | st.integers(-3, 3),
    "uint16": st.integers(0, 5),
    "int64": st.integers(-5, 5) | EXTREME,
    "float16": st.integers(-4, 4).map(float),
    "float32": st.integers(-4, 4).map(float) | st.sampled_from([1e30, 0.1]),
    "float64": st.integers(-4, 4).map(float)
    | st.sampled_from([5e-324, -1e-310, 1e-300, 1e300, -1e300, 0.1]),
}


@st.composite
def points(draw):
    dtype = draw(st.sampled_from(list(NUMBERS)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    row = st.lists(NUMBERS[dtype], min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=dtype)
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = -1, 1
    return X, y, draw(st.integers(1, n))


def _on_disk(folder: Path, X, rows: int) -> FileChunks:
    path = folder / "X.npy"
    np.save(path, X)
    wide = max(X.dtype.itemsize, 8 if X.dtype == np.float16 else 1)
    return npy_chunks(path, rows * X.shape[1] * wide)


def _on_dask(X, rows: int, sparse: bool):
    array = da.from_array(X, chunks=(rows, X.shape[1]))
    if sparse and X.dtype != np.float16:
        array = array.map_blocks(scipy.sparse.csr_array, dtype=X.dtype)
    return array


def _same(one, other):
    assert (one.gamma_squared, one.separable) == (other.gamma_squared, other.separable)
    assert one.radius_squared == other.radius_squared
    assert one.problem.plain.digest() == other.problem.plain.digest()
    if one.separable:  # w̄ is unique, and computed from integers: to the last bit
        assert one.w.tolist() == other.w.tolist()
        assert one.b == other.b


@settings(max_examples=40, deadline=None)
@given(points(), st.sampled_from(INTERCEPTS), st.booleans())
def test_the_oracle_says_the_same(tmp_path_factory, data, intercept, sparse):
    X, y, rows = data
    here = gb.solve(X, y, intercept=intercept)
    chunks = _on_disk(tmp_path_factory.mktemp("chunks"), X, rows)
    assert chunks.lengths[0] == min(rows, len(X))
    _same(gb.solve(from_arrays(chunks, y, intercept=intercept)), here)
    with dask.config.set(scheduler="synchronous"):
        there = from_dask(_on_dask(X, rows, sparse), y, intercept=intercept)
        _same(gb.solve(there), here)


SOLVERS = [gb.solvers.DualAcceleration(), gb.solvers.Perceptron(), gb.solvers.BatchPerceptron()]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_solvers_run_on_chunks(tmp_path, solver):
    plain = load("planted:n=300,d=8,gamma=0.2,seed=1")
    chunks = from_arrays(_on_disk(tmp_path, np.asarray(plain.X), 37), plain.y)
    with dask.config.set(scheduler="synchronous"):
        there = from_dask(_on_dask(np.asarray(plain.X), 37, False), plain.y)
        runs = [
            list(islice(solver.iterates(p.unit(), np.random.default_rng(0)), 30))
            for p in (plain, chunks, there)
        ]
    for here, file, cluster in zip(*runs, strict=True):
        np.testing.assert_allclose(file.w, here.w, rtol=1e-10, atol=1e-12)
        assert (file.w == cluster.w).all()  # the same chunks, the same sums


def test_files_larger_than_the_memory_given(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, (400, 3)).astype(np.int16)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 400)]
    X[:, 0] += 200 * (y == "b")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    columns = {"kind": y, "id": np.arange(400)} | {f"f{j}": X[:, j] for j in range(3)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet", row_group_size=90)
    (tmp_path / "t.csv").write_text(
        "\n".join(f"{k},{','.join(map(str, x))}" for k, x in zip(y, X.tolist(), strict=True))
    )
    inside = gb.solve(load(f"{tmp_path}/t.csv:a,b"), intercept="free")
    npy = load(f"{tmp_path}/X.npy:a,b", labels=tmp_path / "y.npy", memory=100)
    table = load(f"{tmp_path}/t.parquet:a,b", drop=["id"], memory=100)
    assert inside.separable
    for problem in (npy, table):
        assert isinstance(problem, ScatteredProblem)
        _same(gb.solve(problem, intercept="free"), inside)
    certificate = tmp_path / "c.json"
    gb.solve(table).save(certificate)
    assert "'a' (class -1)" in gb.check(certificate)
    gb.solve(npy).save(certificate)
    assert "'a' (class -1)" in gb.check(certificate)


def test_what_chunks_do_not_do_is_said(tmp_path):
    X = np.eye(4)
    X[3, 1] = np.nan
    chunks = _on_disk(tmp_path, X, 2)
    with pytest.raises(ProblemError, match="nan in row 3, column 1"):
        from_arrays(chunks, [0, 1, 0, 1])
    fine = _on_disk(tmp_path, np.eye(4), 2)
    for words, call in {
        "have no kernel": lambda: from_arrays(fine, [0, 1, 0, 1], kernel="linear"),
        "two classes": lambda: from_arrays(fine, [0, 1, 0, 1], multiclass=True),
        "fit into memory": lambda: gb.solve(from_arrays(fine, [0, 1, 0, 1]), norm="l1"),
        "in memory": lambda: gb.separation(from_arrays(fine, [0, 1, 0, 1])),
        "takes a Dask array, not ndarray": lambda: from_dask(np.eye(2), [0, 1]),
        "has 3 labels but X has 4 rows": lambda: from_arrays(fine, [0, 1, 0]),
        "must be two-dimensional": lambda: from_dask(da.ones(3, chunks=2), [0, 1, 0]),
    }.items():
        with pytest.raises(ProblemError, match=words):
            call()
    assert from_arrays(fine.divided(3), [0, 1, 0, 1]).radius == 0.125


def test_where_a_chunk_begins_in_memory_does_not_matter():
    rng = np.random.default_rng(0)
    X, q = rng.standard_normal((200, 8)), rng.standard_normal(200)
    raw = np.zeros(X.nbytes + 8, np.uint8)
    odd = raw[1 : 1 + X.nbytes].view(np.float64).reshape(X.shape)
    odd[...] = X
    assert (odd.T @ q != X.T @ q).any(), "NumPy has changed: this test says nothing now"
    assert (_tidy(odd).T @ q == X.T @ q).all()


LIMITED = """
import resource, sys
import gammabar as gb
from gammabar.oracle import solve
import gammabar.oracle._wolfe, gammabar.problems.compiled, flint, scipy.sparse
problem = gb.load("planted:n=20000,d=8,gamma=0.2,seed=1"); solve(problem)  # all that is loaded
base = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = base + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
problem = gb.load(sys.argv[1], labels=sys.argv[2], memory=int(sys.argv[4]))
truth = solve(problem)
print(type(problem).__name__, *map(hex, truth.gamma_squared.as_integer_ratio()))
"""


def _limited(*arguments):
    command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_a_file_larger_than_the_memory_that_is_allowed(tmp_path):
    """The process may have 48 MB more than the libraries take; the file has 102 MB."""
    n, d, size = 100_000, 128, 48 << 20
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y.astype(np.int8))
    assert (tmp_path / "X.npy").stat().st_size > 2 * size
    arguments = [tmp_path / "X.npy", tmp_path / "y.npy", size]
    done = _limited(*arguments, size // 4)
    square = gb.solve(X, y).gamma_squared.as_integer_ratio()  # too many digits for decimals
    assert done.stdout.split() == ["ScatteredProblem", *map(hex, square)], done.stderr
    refused = _limited(*arguments, 1 << 40)  # whoever wants all of it at once gets nothing
    assert refused.returncode != 0
    assert refused.stdout == ""


@pytest.mark.full
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_between_passes_the_oracle_looks_at_rows_that_are_here(
    tmp_path, sparse, intercept, monkeypatch
):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8_000, 30)) * (rng.random((8_000, 30)) < 0.5)
    X[:, 0] = rng.choice([-1, 1], 8_000) * (0.2 + rng.random(8_000))
    y = np.sign(X[:, 0]).astype(int)
    X[:, 1] += 0.1 * y
    here = gb.solve(X, y, intercept=intercept)
    if sparse:
        _same(gb.solve(scipy.sparse.csr_array(X), y, intercept=intercept), here)
        blocks = _on_dask(X, 900, sparse=True)
        with dask.config.set(scheduler="synchronous"):
            _same(gb.solve(from_dask(blocks, y, intercept=intercept)), here)
        return
    passes, each = [], FileChunks.each

    def counted(chunks, work, *args):
        passes.append(work.__name__)
        return each(chunks, work, *args)

    monkeypatch.setattr(FileChunks, "each", counted)
    _same(gb.solve(from_arrays(_on_disk(tmp_path, X, 900), y, intercept=intercept)), here)
    scores = [name for name in passes if "take" not in name]
    assert 3 <= len(scores) <= 12  # were 50 when the rows of the working set were asked for anew


@pytest.mark.parametrize("name", ["points.npy", "points.parquet"])
def test_chunks_of_a_file_are_found_from_another_folder(name, tmp_path, monkeypatch):
    """A worker is not where the command was called, and the name of the file may be relative."""
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    X = np.array([[3.0, 1.0], [1.0, 3.0]])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", X)
    parquet.write_table(table({"y": [0, 1], "a": X[:, 0], "b": X[:, 1]}), "points.parquet")
    load = npy_chunks(Path(name)).load if name == "points.npy" else Table(Path(name)).points
    sent = pickle.dumps(partial(_read_there, load, 0))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(sent)().tolist() == X.tolist()
    (tmp_path / name).unlink()
    with pytest.raises(ProblemError, match=f"{name}: a worker of the cluster does not find it"):
        pickle.loads(sent)()
