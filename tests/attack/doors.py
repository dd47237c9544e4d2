"""Every way in: what comes by files, chunks and Dask, and runs that are handed over.

A few points of any type and scale are written by hand into every format that holds them, read by
the project and solved; γ̄², the squared radius and the kind of separation are compared with an
enumeration in rationals of the values that were written. A run that is handed over as a file, a
recorder or an array gets the verdicts of the run itself.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from flint import fmpq, fmpq_mat

import gammabar as gb
from gammabar.harness.run.user_files import read_trajectory

from .arithmetic import exact, exact_rows, vec
from .changes import RIGHT, WRONG
from .data import INTEGERS, SCALES, entries, nearest_point, two_labels

TYPES = ("float64",) * 8 + ("float32", "float16", "bool", *INTEGERS)


def number(value: Any) -> str:
    """A number as a text that means it and nothing else."""
    return repr(value.item()) if value.dtype.kind == "f" else str(int(value))


def _lines(X: Any, y: Any, between: str) -> bytes:
    rows = zip(y.tolist(), X, strict=True)
    return "".join(between.join([str(s), *map(number, row)]) + "\n" for s, row in rows).encode()


def _sparse_lines(X: Any, y: Any) -> bytes:
    lines = []
    for s, row in zip(y.tolist(), X, strict=True):
        parts = [f"{j + 1}:{number(v)}" for j, v in enumerate(row) if v != 0]
        lines.append(" ".join([str(s), *parts]) + "\n")
    return "".join(lines).encode()


def _written(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return gb.load(path)


def _saved(path: Path, save: Callable[..., None], *arrays: Any, **named: Any) -> Path:
    save(path, *arrays, **named)
    return path


def _labelled(folder: Path, name: str, save: Callable[..., None], X: Any, y: Any, **more: Any):
    labels = _saved(folder / "y.npy", np.save, y)
    return gb.load(_saved(folder / name, save, X), labels=labels, **more)


def parquet(folder: Path, X: Any, y: Any) -> Any:
    import pyarrow
    import pyarrow.parquet

    columns = {"label": y} | {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "x.parquet")
    return gb.load(folder / "x.parquet", label="label")


def array(folder: Path, X: Any, y: Any) -> Any:
    """A view with steps: every second row of a larger array, backwards."""
    wide = np.zeros((2 * X.shape[0], X.shape[1]), dtype=X.dtype)
    wide[::2] = X[::-1]
    return gb.from_arrays(wide[::2][::-1], y)


def dask(folder: Path, X: Any, y: Any) -> Any:
    import dask
    import dask.array

    dask.config.set(scheduler="synchronous")
    return gb.from_dask(dask.array.from_array(X, chunks=(2, X.shape[1])), y)


def turned(X: Any) -> Any:
    """Columns first, and the bytes of every number in the other order."""
    return np.asfortranarray(X.astype(X.dtype.newbyteorder()))


DOORS: dict[str, Callable[[Path, Any, Any], Any]] = {
    "csv": lambda folder, X, y: _written(folder / "x.csv", _lines(X, y, ",")),
    "packed": lambda folder, X, y: _written(folder / "x.tsv.gz", gzip.compress(_lines(X, y, "\t"))),
    "svmlight": lambda folder, X, y: _written(folder / "x.svm", _sparse_lines(X, y)),
    "npz": lambda folder, X, y: gb.load(_saved(folder / "x.npz", np.savez, X=X, y=y)),
    "npz_turned": lambda folder, X, y: gb.load(
        _saved(folder / "t.npz", np.savez_compressed, X=turned(X), y=y)
    ),
    "npy": lambda folder, X, y: _labelled(folder, "x.npy", np.save, X, y),
    # More than the memory that is allowed: read in pieces.
    "chunks": lambda folder, X, y: _labelled(folder, "c.npy", np.save, X, y, memory=1),
    "sparse": lambda folder, X, y: _labelled(
        folder, "s.npz", scipy.sparse.save_npz, scipy.sparse.csr_matrix(X), y
    ),
    "parquet": parquet,
    "array": array,
    "columns": lambda folder, X, y: gb.from_arrays(scipy.sparse.csc_matrix(X), y),
    "dask": dask,
}
#: SciPy has no sparse matrices of float16.
NARROW = ("sparse", "columns")


def drawn(rng: np.random.Generator) -> tuple[Any, Any, str]:
    """A few points of some type and scale, their labels, and what they are."""
    dtype, scale = str(rng.choice(TYPES)), str(rng.choice([*SCALES]))
    X = entries(rng, (int(rng.integers(2, 5)), int(rng.integers(1, 4))), scale, dtype)
    return X, two_labels(rng, len(X)), f"{dtype} {scale}"


def kind_of(rows: Any) -> str:
    """Complete, quasi-complete or overlap, by all minimal dependences with positive weights.

    Aw ≥ 0 implies Aw = 0 if and only if some p > 0 has Aᵀp = 0 (Stiemke), and such a p is a sum of
    ones with minimal supports.
    """
    covered: set[int] = set()
    for size in range(1, len(rows) + 1):
        for support in map(list, combinations(range(len(rows)), size)):
            weights = _dependence(rows[support])
            if weights is not None and (all(v > 0 for v in weights) or all(v < 0 for v in weights)):
                covered |= set(support)
    if not covered:
        return "complete"
    return "overlap" if len(covered) == len(rows) else "quasi-complete"


def _dependence(rows: Any) -> list[fmpq] | None:
    """The weights of rows whose combination is 0, if there is one up to a factor."""
    size, d = rows.shape
    reduced, rank = fmpq_mat(d, size, list(rows.T.ravel())).rref()
    if size - rank != 1:
        return None
    pivots = [next(j for j in range(size) if reduced[r, j] != 0) for r in range(rank)]
    free = next(j for j in range(size) if j not in pivots)
    weights = [fmpq(int(j == free)) for j in range(size)]
    for r, j in enumerate(pivots):
        weights[j] = -reduced[r, free]
    return weights


def solved(rng: np.random.Generator, folder: Path) -> Iterator[tuple[str, str]]:
    """(door, what is wrong with its answer, or "" or why it was refused) for every door."""
    X, y, name = drawn(rng)
    signs = vec(int(s) for s in y)[:, None]
    rows = vec(exact_rows(X)) * signs
    gram = rows @ rows.T
    (square, _), radius = nearest_point(gram), max(gram.diagonal())
    for door, opened in DOORS.items():
        if X.dtype == np.float16 and door in NARROW:
            continue
        try:
            truth = gb.solve(opened(folder, X, y))
            same = exact(truth.gamma_squared) == square
            right = same and exact(truth.radius_squared_lo) == radius
            yield door, "" if right else f"FAULT {name}, {door}: γ̄² = {truth.gamma_squared}"
        except gb.ProblemError as reason:
            yield door, f"refused: {reason}"
    for intercept in (False, True):
        wanted = kind_of(np.hstack([rows, signs * fmpq(1)]) if intercept else rows)
        found = gb.separation(X, y, intercept=intercept).kind
        wrong = f"FAULT {name}: {found} separation, and it is {wanted}"
        yield "separation", "" if found == wanted else wrong


def judged(
    rng: np.random.Generator, folder: Path, problem: Any, run: Any, asked: list[str]
) -> Iterator[tuple[str, str]]:
    """A run that is handed over in other ways, right or wrong: the same verdicts and digits."""
    change = str(rng.choice([*RIGHT, *WRONG]))
    run = (RIGHT | WRONG)[change](run, rng)
    if not np.isfinite(run).all():
        return
    direct = _verdicts(run, problem, asked, len(run) - 1)
    np.save(folder / "w.npy", run)
    (folder / "w.csv").write_text("".join(",".join(map(repr, w)) + "\n" for w in run.tolist()))
    gb.Recorder(run).save(folder / "r.npy")
    ways = {
        "trajectory .npy": lambda: read_trajectory(str(folder / "w.npy")),
        "trajectory .csv": lambda: read_trajectory(str(folder / "w.csv")),
        "recorder": lambda: gb.Recorder(run),
        "recorder, saved": lambda: read_trajectory(str(folder / "r.npy")),
    }
    for way, made in ways.items():
        same = _verdicts(made(), problem, asked, None) == direct
        yield way, "" if same else f"FAULT {change} by {way}: other verdicts than of the array"


def _verdicts(given: Any, problem: Any, asked: list[str], iterations: int | None) -> Any:
    found = gb.verify(given, problem, asked, iterations=iterations)
    return [(v.statement, str(v.verdict), v.left, v.right, v.worst_t, v.checked) for v in found]
