"""The other doors: what comes in by files, chunks and Dask, and what goes out and comes back.

A few points of any type and scale are written by hand into every format that holds them, read by
the project and solved; γ̄², the squared radius and the kind of separation are compared with an
enumeration in rationals of the values that were written. A run that is handed over as a file, a
recorder or an array is judged as the run itself is.
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

from .data import INTEGERS, SCALES, entries, exact, inner, nearest_point
from .spoils import RIGHT, WRONG

TYPES = ("float64",) * 8 + ("float32", "float16", "bool", *INTEGERS)
Opened = Callable[[Path, Any, Any], Any]


def number(value: Any) -> str:
    """A number as a text that means it and nothing else."""
    return repr(value.item()) if value.dtype.kind == "f" else str(int(value))


def _lines(X: Any, y: Any, between: str) -> str:
    rows = zip(y.tolist(), X, strict=True)
    return "".join(between.join([str(s), *map(number, row)]) + "\n" for s, row in rows)


def csv(folder: Path, X: Any, y: Any) -> Any:
    (folder / "x.csv").write_text(_lines(X, y, ","))
    return gb.load(folder / "x.csv")


def packed(folder: Path, X: Any, y: Any) -> Any:
    (folder / "x.tsv.gz").write_bytes(gzip.compress(_lines(X, y, "\t").encode()))
    return gb.load(folder / "x.tsv.gz")


def svmlight(folder: Path, X: Any, y: Any) -> Any:
    lines = []
    for s, row in zip(y.tolist(), X, strict=True):
        parts = [f"{j + 1}:{number(v)}" for j, v in enumerate(row) if v != 0]
        lines.append(" ".join([str(s), *parts]) + "\n")
    (folder / "x.svm").write_text("".join(lines))
    return gb.load(folder / "x.svm")


def npz(folder: Path, X: Any, y: Any) -> Any:
    np.savez(folder / "x.npz", X=X, y=y)
    return gb.load(folder / "x.npz")


def npz_turned(folder: Path, X: Any, y: Any) -> Any:
    """Columns first, and the bytes of every number in the other order."""
    other = np.asfortranarray(X.astype(X.dtype.newbyteorder()))
    np.savez_compressed(folder / "t.npz", X=other, y=y)
    return gb.load(folder / "t.npz")


def npy(folder: Path, X: Any, y: Any) -> Any:
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", y)
    return gb.load(folder / "x.npy", labels=folder / "y.npy")


def chunks(folder: Path, X: Any, y: Any) -> Any:
    """More than the memory that is allowed: read in pieces."""
    np.save(folder / "c.npy", X)
    np.save(folder / "y.npy", y)
    return gb.load(folder / "c.npy", labels=folder / "y.npy", memory=1)


def sparse(folder: Path, X: Any, y: Any) -> Any:
    scipy.sparse.save_npz(folder / "s.npz", scipy.sparse.csr_matrix(X))
    np.save(folder / "y.npy", y)
    return gb.load(folder / "s.npz", labels=folder / "y.npy")


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


def columns(folder: Path, X: Any, y: Any) -> Any:
    return gb.from_arrays(scipy.sparse.csc_matrix(X), y)


def dask(folder: Path, X: Any, y: Any) -> Any:
    import dask
    import dask.array

    dask.config.set(scheduler="synchronous")
    return gb.from_dask(dask.array.from_array(X, chunks=(2, X.shape[1])), y)


DOORS: dict[str, Opened] = {
    door.__name__: door
    for door in (csv, packed, svmlight, npz, npz_turned, npy, chunks, sparse, parquet, array)
}
DOORS |= {"columns": columns, "dask": dask}
#: SciPy has no sparse matrices of float16.
NARROW = ("sparse", "columns")


def drawn(rng: np.random.Generator) -> tuple[Any, Any, str]:
    """A few points of some type and scale, their labels, and what they are."""
    dtype, scale = str(rng.choice(TYPES)), str(rng.choice([*SCALES]))
    X = entries(rng, (int(rng.integers(2, 5)), int(rng.integers(1, 4))), scale, dtype)
    y = rng.choice([-1, 1], len(X))
    y[:2] = 1, -1
    return X, y, f"{dtype} {scale}"


def signed(X: Any, y: Any) -> list[list[fmpq]]:
    """y_i x_i as the rationals that they are."""
    values = X.tolist() if X.dtype.kind != "f" else [[float(v) for v in row] for row in X]
    return [[exact(v) * int(s) for v in row] for row, s in zip(values, y, strict=True)]


def kind_of(rows: list[list[fmpq]]) -> str:
    """Complete, quasi-complete or overlap, by all minimal dependences with positive weights.

    Aw ≥ 0 implies Aw = 0 if and only if some p > 0 has Aᵀp = 0 (Stiemke), and such a p is a sum of
    ones with minimal supports.
    """
    covered: set[int] = set()
    for size in range(1, len(rows) + 1):
        for support in combinations(range(len(rows)), size):
            weights = _dependence([rows[i] for i in support])
            if weights is not None and (all(v > 0 for v in weights) or all(v < 0 for v in weights)):
                covered |= set(support)
    if not covered:
        return "complete"
    return "overlap" if len(covered) == len(rows) else "quasi-complete"


def _dependence(rows: list[list[fmpq]]) -> list[fmpq] | None:
    """The weights of rows whose combination is 0, if there is one up to a factor."""
    d, size = len(rows[0]), len(rows)
    reduced, rank = fmpq_mat(d, size, [row[k] for k in range(d) for row in rows]).rref()
    if size - rank != 1:
        return None
    pivots = [next(j for j in range(size) if reduced[r, j] != 0) for r in range(rank)]
    free = next(j for j in range(size) if j not in pivots)
    weights = [fmpq(0)] * size
    weights[free] = fmpq(1)
    for r, j in enumerate(pivots):
        weights[j] = -reduced[r, free]
    return weights


def solved(rng: np.random.Generator, folder: Path) -> Iterator[tuple[str, str]]:
    """(door, what is wrong with its answer, or "" or why it was refused) for every door."""
    X, y, name = drawn(rng)
    rows = signed(X, y)
    square, _ = nearest_point(inner(rows))
    radius = max(sum((v * v for v in row), fmpq(0)) for row in rows)
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
        table = [[*row, fmpq(int(s))] for row, s in zip(rows, y, strict=True)]
        wanted = kind_of(table if intercept else rows)
        found = gb.separation(X, y, intercept=intercept).kind
        wrong = f"FAULT {name}: {found} separation, and it is {wanted}"
        yield "separation", "" if found == wanted else wrong


def judged(
    rng: np.random.Generator, folder: Path, problem: Any, run: Any, asked: list[str]
) -> Iterator[tuple[str, str]]:
    """A run that is handed over in other ways, right or spoilt: the same verdicts and digits."""
    spoil = str(rng.choice([*RIGHT, *WRONG]))
    run = (RIGHT | WRONG)[spoil](run, rng)
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
        yield way, "" if same else f"FAULT {spoil} by {way}: other verdicts than of the array"


def _verdicts(given: Any, problem: Any, asked: list[str], iterations: int | None) -> Any:
    found = gb.verify(given, problem, asked, iterations=iterations)
    return [(v.statement, str(v.verdict), v.left, v.right, v.worst_t, v.checked) for v in found]
