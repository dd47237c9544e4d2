"""Time and memory against size, as far as this machine goes: the oracle beside LIBLINEAR.

Every contestant is alone in a process of its own, which makes the data (they are drawn block by
block, the same for all) and then measures itself: processor time and peak memory. A process that
wants more memory than there is, or more time than it is given, has failed, and that is shown.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from side_by_side import peers
from side_by_side.contest import Entry, Field, race
from side_by_side.table import Table, digits, duration

from gammabar.harness.screen import Stage
from gammabar.problems.environment import forget_peak, peak_memory
from gammabar.problems.files import memory_budget
from gammabar.problems.problem import Array

TITLE = "Size"
ORACLE, LIBLINEAR = "exact oracle", "LIBLINEAR (hinge, C = 1e6)"
CHUNKED = "exact oracle, from disk in chunks"
#: Columns of the dense data; entries of a sparse row, each in one of two columns of its own.
WIDTH, ENTRIES = 20, 100
#: Rows that are drawn at a time.
BLOCK = 100_000
#: Rows (of sparse data: times `WIDTH`, entries) from which on all that is compiled is used.
WARM = 30_000
#: Seconds for one contestant.
LIMIT = 1800.0
#: Of the memory, which part data may take: the oracle needs little more than the data.
ROOM = 0.7


@dataclass(frozen=True)
class Kind:
    """A family of data: what grows, the sizes, and how many bytes one of a size takes."""

    axis: str
    fixed: str
    each: int
    contestants: tuple[str, ...]


DENSE, SPARSE = "dense", "sparse"
KINDS = {
    DENSE: Kind("n", f"d = {WIDTH}, doubles", 8 * WIDTH, (ORACLE, CHUNKED, LIBLINEAR)),
    SPARSE: Kind(
        "nnz",
        f"{ENTRIES} float32 entries in a row, d = {2 * ENTRIES}",
        8,
        (ORACLE, LIBLINEAR),
    ),
}
FULL = {DENSE: (10**4, 10**5, 10**6, 10**7), SPARSE: (10**6, 10**7, 10**8, 10**9)}
QUICK = {DENSE: (10**3, 10**4), SPARSE: (10**4, 10**5)}


def measure(
    quick: bool,
    say: Stage,
    *,
    sizes: dict[str, tuple[int, ...]] | None = None,
    limit: float = LIMIT,
) -> list[dict[str, Any]]:
    """One result per kind of data, with a list for each contestant."""
    results = []
    for name, all_sizes in (sizes or (QUICK if quick else FULL)).items():
        kind = KINDS[name]
        fitting = [size for size in all_sizes if kind.each * size <= ROOM * memory_budget()]
        curves: dict[str, list[dict[str, Any]]] = {who: [] for who in kind.contestants}
        for size in fitting:
            for who in kind.contestants:
                say(f"{name}, {kind.axis} = {size:,}: {who}")
                last = curves[who][-1] if curves[who] else None
                failed = last is not None and last["failure"]
                found = _given_up(failed) if failed else _alone(name, size, who, limit)
                curves[who].append(found)
            _compare([curves[who][-1] for who in kind.contestants])
        results.append(
            {
                "kind": name,
                "axis": kind.axis,
                "fixed": kind.fixed,
                "sizes": fitting,
                "left_out": [size for size in all_sizes if size not in fitting],
                "bytes": [kind.each * size for size in fitting],
                "curves": curves,
            }
        )
    return results


def _given_up(failed: str) -> dict[str, Any]:
    return {"failure": failed if "smaller" in failed else f"{failed} (smaller data)"}


def _compare(found: list[dict[str, Any]]) -> None:
    """Of each contestant, which part of the largest margin it lacks; ours is the first."""
    for one in found:
        if not one["failure"] and not found[0]["failure"]:
            one["missing"] = 1 - one["margin"] / found[0]["margin"]


def _alone(kind: str, size: int, who: str, limit: float) -> dict[str, Any]:
    """What a contestant needs, in a process of its own."""
    run = partial(_contest, kind, size, who)
    _, (score,) = race(_one, run, repeat=1, limit=limit, say=lambda _: None)
    return (score.facts[-1] if score.facts else {}) | {"failure": score.failure}


def _one(run: Callable[[], dict[str, Any]]) -> Field:
    return Field([Entry("contestant", run, dict)], {})


def blocks(kind: str, size: int) -> Iterator[tuple[Any, Array]]:
    """Rows on either side of a gap and their labels, block by block; sparse ones as parts of CSR.

    An entry of a sparse row is in one of two columns that no other entry of the row may have, so
    that columns ascend. The gap is in the first column, or the first two.
    """
    n = size if kind == DENSE else size // ENTRIES
    for number, lo in enumerate(range(0, n, BLOCK)):
        rng = np.random.default_rng([size, number])
        rows = min(BLOCK, n - lo)
        width, dtype = (WIDTH, np.float64) if kind == DENSE else (ENTRIES, np.float32)
        values: Array = rng.standard_normal((rows, width), dtype=dtype)
        values[values == 0] = 1  # a zero that is stored would be a reason for a copy without it
        y = np.where(values[:, 0] > 0, 1, -1).astype(np.int8)
        values[:, 0] += y
        if kind == DENSE:
            yield values, y
            continue
        columns = rng.integers(0, 2, (rows, ENTRIES), dtype=np.int32)
        columns += 2 * np.arange(ENTRIES, dtype=np.int32)
        yield (values, columns), y


def drawn(kind: str, size: int) -> tuple[Any, Array]:
    """All of them in memory, without a second copy."""
    n = size if kind == DENSE else size // ENTRIES
    y = np.empty(n, np.int8)
    values: Array = np.empty((n, WIDTH)) if kind == DENSE else np.empty((n, ENTRIES), np.float32)
    columns = np.empty((n, ENTRIES) if kind == SPARSE else 0, np.int32)
    lo = 0
    for found, labels in blocks(kind, size):
        part = slice(lo, lo + len(labels))
        y[part] = labels
        if kind == DENSE:
            values[part] = found
        else:
            values[part], columns[part] = found
        lo += len(labels)
    if kind == DENSE:
        return values, y
    from scipy.sparse import csr_array

    ends = np.arange(n + 1, dtype=np.int32) * ENTRIES
    shape = (n, 2 * ENTRIES)
    return csr_array((values.ravel(), columns.ravel(), ends), shape=shape), y


def _contest(kind: str, size: int, who: str) -> dict[str, Any]:
    """What a contestant needs, measured in the process that it has for itself."""
    for warm in (True, False):  # imports and compiled code are loaded before the clock starts
        some = (WARM if kind == DENSE else WARM * WIDTH) if warm else size
        if who == CHUNKED:
            found = _from_disk(kind, some)
        else:
            found = _in_memory(kind, some, _oracle if who == ORACLE else _liblinear)
    return found


def _in_memory(kind: str, size: int, run: Callable[[Any, Array], Any]) -> dict[str, Any]:
    X, y = drawn(kind, size)
    found, w = _timed(lambda: run(X, y))
    norm = float(np.linalg.norm(w))
    return found | {"margin": float((y * (X @ w)).min()) / norm if norm else 0.0}


def _from_disk(kind: str, size: int) -> dict[str, Any]:
    import gammabar as gb

    with TemporaryDirectory(prefix="gammabar-bench-") as folder:
        points, labels = Path(folder, "X.npy"), Path(folder, "y.npy")
        mapped = np.lib.format.open_memmap(points, "w+", np.float64, (size, WIDTH))
        ys, lo = [], 0
        for found, y in blocks(kind, size):
            mapped[lo : lo + len(y)] = found
            mapped.flush()
            ys.append(y)
            lo += len(y)
        del mapped
        np.save(labels, np.concatenate(ys))
        ys.clear()

        def run() -> Any:
            problem = gb.load(points, labels=labels, memory=points.stat().st_size // 4)
            return gb.solve(problem)

        found, truth = _timed(run)
        return found | {"margin": truth.gamma_raw}


def _timed(run: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    forget_peak()
    clock, used = perf_counter(), process_time()
    result = run()
    seconds, used = perf_counter() - clock, process_time() - used
    found = {"seconds": round(seconds, 4), "computing": round(used, 4), "peak": peak_memory()}
    return found, result


def _oracle(X: Any, y: Array) -> Array:
    from gammabar.oracle import solve

    return np.asarray(solve(X, y).w)


def _liblinear(X: Any, y: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it lacks of the margin is shown
        return np.asarray(peers.liblinear().fit(X, y).coef_[0])


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table per kind."""
    return [_table(result) for result in results]


def _table(result: dict[str, Any]) -> Table:
    columns = ("", *(f"{result['axis']} = {size:,}" for size in result["sizes"]), "exponent")
    rows = [("data", *map(_bytes, result["bytes"]), "")]
    for who, found in result["curves"].items():
        rows.append((who, *(_cell(one) for one in found), _slope(result["sizes"], found)))
    notes = [f"Too large for this machine: {size:,}." for size in result["left_out"]]
    return Table(f"Time and memory with {result['axis']}, {result['fixed']}", columns, rows, notes)


def _cell(found: dict[str, Any]) -> str:
    if found["failure"]:
        return f"**fails**: {found['failure']}"
    words = f"{duration(found['computing'])}, {_bytes(found['peak'])}"
    lacking = found.get("missing", 0.0)
    return words if lacking < 1e-9 else f"{words}, lacks {digits(100 * lacking, 2)} %"


def _bytes(size: int) -> str:
    return f"{digits(size / 1e9, 2)} GB" if size >= 1e9 else f"{digits(size / 1e6, 2)} MB"


def _slope(sizes: list[int], found: list[dict[str, Any]]) -> str:
    times = [one["computing"] for one in found if not one["failure"]]
    return digits(exponent(sizes[: len(times)], times), 2) if len(times) > 1 else ""


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope between the two largest sizes, on logarithmic axes."""
    return math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2])
